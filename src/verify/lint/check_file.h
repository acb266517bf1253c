/* Checks of a whole file without running its kernels. Kernels that the file launches are compiled
 * with the arguments of the launch: the host code runs, and a launch only compiles. Other kernels
 * are compiled with the types of their signature comment, or with types inferred from their use.
 *
 * Beyond Triton's own rules the checks cover the GPU's limits at each launch, kernels that nothing
 * uses, and results that nothing writes. */
#ifndef VERIFY_LINT_CHECK_FILE_H
#define VERIFY_LINT_CHECK_FILE_H

#include "host/host.h"
#include "tile/lint/check_kernel.h"
#include "tile/estimate/resource.h"

/* UNSURE: the kernel did not compile, but with types that were only inferred. */
enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_UNSURE };

struct check_count {
	int64_t kernels, helpers;       /* jit functions that are launched, and those that others call */
	int64_t compiled, unsure;       /* kernels that compiled, and those with inferred types that did not */
};

struct check_options {
	struct tile_engine *engine;
	const struct tile_gpu *gpu;
	const struct check_importer *importer;  /* finds imported files; NULL: imports are not followed */
	const struct py_module *task;      /* has get_inputs and get_init_inputs; NULL: the file has them */
	void (*report)(void *ctx, enum severity how, const struct diag *d);
	void *ctx;
};

/* Reports the errors of the module, kernels in the order of the source, and adds to *count. Returns
 * 0, or -1 on our own failure (*e). */
int check_file(const struct py_module *m, const struct check_options *o, struct check_count *count, struct err *e);

#endif
