/* Checks of a whole file without running its kernels: kernels that the file launches are
 * compiled as they are launched, by running its host code with launches that only compile; the
 * others under the types of their signature comment or of their use. Beyond Triton's own rules:
 * what a launch needs of the GPU, kernels nobody uses, results nobody writes. */
#ifndef VERIFY_LINT_CHECK_FILE_H
#define VERIFY_LINT_CHECK_FILE_H

#include "host/host.h"
#include "tile/lint/check_kernel.h"
#include "tile/estimate/resource.h"

/* UNSURE: it did not compile, but under types that were only guessed. */
enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_UNSURE };

struct check_count {
	int64_t kernels, helpers;       /* functions that are launched, that others call */
	int64_t compiled, unsure;       /* of the kernels */
};

struct check_options {
	struct tile_engine *engine;
	const struct tile_gpu *gpu;
	const struct check_importer *importer;  /* NULL: imports are not followed */
	const struct py_module *task;      /* gives get_inputs and get_init_inputs; NULL: the file itself */
	void (*report)(void *ctx, enum severity how, const struct diag *d);
	void *ctx;
};

/* Reports what is wrong with the module, kernels in the order of the source. *count grows by what
 * was looked at. -1: *e. */
int check_file(const struct py_module *m, const struct check_options *o, struct check_count *count, struct err *e);

#endif
