/* Loading CUDA's driver: see cuda_driver.h. */
#include "verify/gpu/cuda_driver.h"

#include <dlfcn.h>
#include <string.h>

#include "base/mem.h"

/* POSIX gives symbols as object pointers; copying the bytes turns one into a function pointer. */
static int find(void *library, const char *symbol, void *out, struct err *e)
{
	void *at = dlsym(library, symbol);

	if (!at)
		return err_set(e, ERR_UNSUPPORTED, "CUDA's driver has no function %s; it is too old", symbol);
	memcpy(out, &at, sizeof at);
	return 0;
}

int cuda_driver_load(struct cuda_driver *d, const char *path, struct err *e)
{
	*d = (struct cuda_driver){ .library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL) };
	if (!d->library)
		return err_set(e, ERR_NOT_FOUND, "CUDA's driver cannot be loaded: %s", dlerror());
#define CU(name, symbol, params) if (find(d->library, #symbol, &d->name, e)) return -1;
#include "verify/gpu/cuda_driver.def"
#undef CU
	return 0;
}

const char *cuda_driver_error(const struct cuda_driver *d, int code)
{
	const char *name = NULL;

	return d->error_name(code, &name) || !name ? "unknown error" : name;
}

/* Errors of running kernels have numbers from 700 on; all but a launch that was refused for its
 * resources leave the context unusable. */
int cuda_driver_is_sticky(int code)
{
	return (code >= CU_STICKY_FIRST && code < CU_STICKY_LAST && code != CU_OUT_OF_RESOURCES) || code == CU_UNKNOWN;
}
