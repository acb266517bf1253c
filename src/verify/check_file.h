/* Checks of a whole file without running its kernels: kernels that the file launches are
 * compiled as they are launched, by running its host code with launches that only compile; the
 * others under the types of their signature comment or of their use. Beyond Triton's own rules:
 * what a launch needs of the GPU, kernels nobody uses, results nobody writes. */
#ifndef VERIFY_CHECK_FILE_H
#define VERIFY_CHECK_FILE_H

#include "host/host.h"
#include "tile/resource.h"

enum severity { SEVERITY_ERROR, SEVERITY_WARNING };

struct check_options {
	struct tile_engine *engine;
	const struct tile_gpu *gpu;
	const struct py_module *task;      /* gives get_inputs and get_init_inputs; NULL: the file itself */
	void (*report)(void *ctx, enum severity how, const struct diag *d);
	void *ctx;
};

/* Reports what is wrong with the module, kernels in the order of the source. *kernels gets how
 * many were checked. -1: *e. */
int check_file(const struct py_module *m, const struct check_options *o, int64_t *kernels, struct err *e);

#endif
