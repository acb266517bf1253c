/* Any bytes as a program: parsed if they parse, then run within small limits. */
#include "base/str.h"
#include "host/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct py_module m;
	struct err e = ERR_INIT;
	struct val ns;
	static struct host_lib *lib;
	struct host *h;
	struct host_options o;

	if (!lib)
		lib = host_lib_new(&e);
	o = (struct host_options){ .lib = lib, .fuel = 20000, .memory = (size_t)16 << 20, .recursion = 100 };
	if (py_parse(&m, (struct str){ .p = (const char *)data, .n = size }, "fuzz", (size_t)16 << 20, &e))
		return 0;
	h = host_new(&o, &e);
	if (h)
		host_load(h, &m, NULL, 0, &ns, &e);
	host_free(h);
	py_release(&m);
	return 0;
}
