/* A module of a user: mutated by words (module_mutator.c), then loaded, built and called, with contents, in fp64,
 * and without contents. No module may end the process. */
#include "base/str.h"
#include "host/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Calls forward once as a judge would: on the GPU, in training mode. */
static void run(const struct py_module *m, struct host_options o)
{
	struct err e = ERR_INIT;
	struct host *h = host_new(&o, &e);
	struct val ns, model, inputs, out;

	if (h && !host_load(h, m, NULL, 0, &ns, &e) && !host_build(h, ns, ns, "Model", 1, &model, &e) &&
	    !host_to_device(h, model, HOST_CUDA, &e) && !host_inputs(h, ns, 1, 0, &inputs, &e))
		host_forward(h, model, inputs, &out, &e);
	host_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct py_module m;
	struct err e = ERR_INIT;
	static struct host_lib *lib;
	struct host_options o;

	if (!lib)
		lib = host_lib_new(&e);
	o = (struct host_options){ .lib = lib, .fuel = 100000, .memory = (size_t)32 << 20, .recursion = 100,
				   .is_reference = 1, .may_mix = 1 };
	if (py_parse(&m, (struct str){ .p = (const char *)data, .n = size }, "fuzz", (size_t)16 << 20, &e))
		return 0;
	run(&m, o);
	o.oracle = 1;
	run(&m, o);
	o.oracle = 0;
	o.hollow = 1;
	run(&m, o);
	py_release(&m);
	return 0;
}
