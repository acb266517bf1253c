/* The device a model lives on: memory and the threads or streams that work on it.
 *
 * This is the only folder that chooses between CPU and CUDA. Everything above passes a `struct
 * dev *` along and calls the ops bound to it (ops/ops.h). A device outlives every object made on
 * it. Device memory is 64-byte aligned and, for large sizes, on huge pages.
 *
 * On a GPU, ops and copies are only started: they run in order, and an error is reported by the
 * next call that waits (dev_get, dev_check). A device that failed once stays failed. */
#ifndef DEV_DEV_H
#define DEV_DEV_H

#include <stddef.h>

#include "base/err.h"
#include "base/thread.h"
#include "dev/cuda.h"
#include "tensor/tensor.h"

enum dev_kind { DEV_CPU, DEV_CUDA };

/* One device. Owns everything but the ops' functions in `launch`. */
struct dev {
	enum dev_kind kind;
	enum dtype act;         /* of activations: DT_F32 on the CPU, DT_BF16 on a GPU */
	/* Each row has the same bits with any other rows in the call. This is always true on the
	 * CPU. */
	int exact;
	struct pool *pool;      /* the CPU's threads */
	int threads;
	size_t held;            /* bytes that dev_alloc has given out and not got back */
	size_t peak;            /* most bytes ever held */
	char *scratch;          /* [threads] blocks of scratch_each, then scratch_shared */
	size_t scratch_each, scratch_shared;
	/* of a GPU */
	struct cuda *gpu;
	struct cuda_dev call;   /* functions of the shared object */
	void *library;
	struct cuda_info info;
	struct err fault;       /* the first error */
	void *launch;           /* functions of ops/cuda, put here by src/ops */
	char *choices;          /* file of measured algorithm choices; NULL: they are not kept */
	void *stage;            /* pinned memory that files are read through */
	struct dev_times *times;    /* NULL: times are not measured */
};

#define DEV_CHOICES "auto, cpu, cuda or cuda:N"

/* `name` is "cpu", "cuda", "cuda:N" or "auto": the first GPU, or the CPU if no GPU can be used
 * (the reason is logged if there is a driver). `threads` 0 means one per usable core. */
struct dev *dev_open(const char *name, int threads, struct err *e);
void dev_close(struct dev *d);
/* "cpu, 2 threads" or "NVIDIA H200, 139 GiB, ...". */
void dev_describe(const struct dev *d, struct buf *out);

/* Zeroed memory of the device; NULL and ERR_NOMEM if memory ran out. dev_free needs the same
 * `n`. */
void *dev_alloc(struct dev *d, size_t n, struct err *e);
void dev_free(struct dev *d, void *p, size_t n);
/* Bytes that dev_alloc can still give on a GPU; SIZE_MAX on the CPU, where it is not known. */
size_t dev_available(struct dev *d);
/* Host memory for fast copies to and from the device; zeroed. */
void *dev_host_alloc(struct dev *d, size_t n, struct err *e);
void dev_host_free(struct dev *d, void *p, size_t n);

/* Host to device. `from` may be reused at once, unless it is from dev_host_alloc: then after a
 * wait. */
void dev_put(struct dev *d, void *to, const void *from, size_t n);
/* The same for a large file that is mapped into memory, read by all threads. */
void dev_put_file(struct dev *d, void *to, const void *from, size_t n);
/* Device to host. Waits, and reports any error up to here. */
int dev_get(struct dev *d, void *to, const void *from, size_t n, struct err *e);
void dev_copy(struct dev *d, void *to, const void *from, size_t n);
void dev_zero(struct dev *d, void *p, size_t n);
/* Waits for everything that was started. Returns -1 and *e if something went wrong. */
int dev_check(struct dev *d, struct err *e);
/* 1 if everything that was started has ended, successfully or not. */
int dev_idle(struct dev *d);
/* The stream of a GPU, for other CUDA libraries; NULL on the CPU. */
void *dev_stream(struct dev *d);
/* Loads a CUDA library from the folders where it may be; it stays loaded. NULL: not found. */
void *dev_library(const char *name);
/* Saves the algorithm choices that a GPU has measured so far, so that a run that continues makes
 * the same ones. */
void dev_keep_choices(const struct dev *d);
/* Notes that a GPU call returned `code` (0: nothing happens) and what was being done. */
void dev_note(struct dev *d, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Whether the device can record ops and run them again as one graph. Calls between begin and end
 * are recorded and not run. The graph runs them with the same addresses and counts. */
int dev_records(const struct dev *d);
void dev_graph_begin(struct dev *d);
void *dev_graph_end(struct dev *d);
void dev_graph_run(struct dev *d, void *graph);
void dev_graph_free(struct dev *d, void *graph);
/* The table of times. Between start and print every mark of an op (on a GPU) is a point in the
 * stream, and the time until the next mark is the op's. A shape of 0 is left out of the name. */
int dev_times_start(struct dev *d, int marks, struct err *e);
void dev_mark_shape(struct dev *d, const char *op, int n, int k);
static inline void dev_mark(struct dev *d, const char *op)
{
	if (d->times)
		dev_mark_shape(d, op, 0, 0);
}
/* Appends lines "op  calls  ms  share", the longest first, and ends the measuring. */
int dev_times_print(struct dev *d, struct buf *out, struct err *e);
/* A function of the shared object by name; NULL: it has none. */
void *dev_symbol(const struct dev *d, const char *name);

/* Working memory of the ops. An object that runs ops reserves the most it will need when it is
 * made; an op that finds less is a bug. One caller runs ops on a device at a time. */
int dev_reserve(struct dev *d, size_t each, size_t shared, struct err *e);
void *dev_scratch(const struct dev *d, int thread, size_t need);
void *dev_shared(const struct dev *d, size_t need);

#endif
