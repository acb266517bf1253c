/* Compilers of kernels: processes that turn requests (candidate/kernel_request.h) into machine code.
 *
 * A worker is Python with Triton imported (python/tritonrl/compile_worker.py), in a sandbox: it can
 * write to one folder only, has no network, and limits of time and memory. Answers are cached by
 * the content of the request, so equal kernels of all candidates are compiled once. Any number of
 * threads may ask at the same time. */
#ifndef VERIFY_GPU_KERNEL_COMPILER_H
#define VERIFY_GPU_KERNEL_COMPILER_H

#include "base/str.h"
#include "verify/gpu/gpu_device.h"

struct kernel_compiler_options {
	const char *command;        /* a program of the same protocol in place of Python; NULL: Python */
	const char *python;         /* NULL: python3 */
	int workers;                /* 0: one for each core */
	int capability;             /* of the GPU: 90 */
	double seconds;             /* that one kernel may take */
	size_t memory;              /* bytes of address space of a worker */
	int no_sandbox;
};

enum compiled_status { COMPILED_OK, COMPILED_REFUSED, COMPILED_UNAVAILABLE };

/* The answer to a request. It belongs to the compiler and lives as long as that. */
struct compiled_kernel {
	enum compiled_status status;
	char message[320];          /* why there is no code */
	struct kernel_meta meta;
	struct buf code;
};

struct kernel_compiler;

/* Starts nothing yet: workers start with the first requests. Returns NULL on failure (*e). */
struct kernel_compiler *kernel_compiler_new(const struct kernel_compiler_options *o, struct err *e);
void kernel_compiler_free(struct kernel_compiler *c);
/* The answer to a request, from the cache or from a worker. Waits for it. Returns NULL only when
 * memory ended. */
const struct compiled_kernel *kernel_compiler_ask(struct kernel_compiler *c, struct str request);
/* The version that the workers reported, "3.6.0"; "" if none has started. */
const char *kernel_compiler_version(const struct kernel_compiler *c);

/* Counts for reports: requests, answers that were in the cache, workers that were lost. */
struct kernel_compiler_stats { int64_t asked, cached, lost; };
struct kernel_compiler_stats kernel_compiler_stats(struct kernel_compiler *c);

#endif
