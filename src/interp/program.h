/* A program that is run: what it is told (options, replaced constants) and what is noted of it
 * (operations, launches). host/host.h is how it is started. */
#ifndef INTERP_PROGRAM_H
#define INTERP_PROGRAM_H

#include "interp/value.h"
#include "py/diag.h"
#include "tile/tile.h"

struct host_lib;

/* An operation on tensors: its binding, what it does (enum bind_flag), arguments by slot, result. */
struct host_op_call {
	const char *name;
	unsigned kind;
	const struct val *a;
	size_t n;
	struct val out;
	unsigned tf32;              /* enum num_products: those of fp32 that PyTorch would compute so here */
};
typedef void host_op_call_fn(void *ctx, const struct host_op_call *c);

/* Does the program that is judged run, and which part of it? */
enum host_judged { JUDGED_NOT, JUDGED_BUILT, JUDGED_CALLED };

struct host_options {
	struct host_lib *lib;
	int64_t fuel;               /* steps of the interpreter; 0: 50 million */
	size_t memory;              /* bytes of tensors and objects; 0: 4 GiB */
	int recursion;              /* calls deep; 0: 900 */
	int oracle;                 /* every float tensor is kept in fp64 */
	enum dtype nominal;         /* oracle mode: what fp64 tensors say they are (0: F32) */
	/* not 0: results of compute operations move by one ulp, of one where a kernel's do */
	uint64_t noise_seed;
	unsigned tf32;              /* enum num_products: products computed as tensor cores do */
	/* Tensors have no contents: a program is followed for the shapes, branches and launches it comes to.
	 * One that asks for a value fails with contents_needed. */
	int hollow;
	struct host_path *path;     /* what it comes to is noted here; NULL: nowhere */
	int track_undef;            /* torch.empty and the like: remember which bytes were written */
	unsigned char poison;       /* and this is what their bytes hold */
	/* Autotuned kernels choose the config-th of their configurations, counting those that are
	 * different programs, compile and fit, modulo their number. With `tune` every one is
	 * compiled, and the chosen one runs as Triton runs it the first time: once more, with hooks. */
	int config, tune;
	/* of tile/estimate/gpu.h: what torch.cuda says it runs on; NULL: TILE_GPU_DEFAULT */
	const char *gpu;
	/* For tests of the judge: programs may ask for what differs with who runs them (host_varies); tensors of two
	 * devices may meet; what PyTorch and Triton refuse by a rule, not for lack of a meaning, is done. */
	int may_vary, may_mix, may_misuse;
	/* a program may catch only what is raised wherever Python runs (host_failure.exc_sure) */
	int catch_sure;
	struct pool *pool;
	/* Executes a kernel launch. 0 ran, 1 the kernel faulted (*d), -1 we failed (*e).
	 * NULL: launches are recorded and nothing runs. */
	int (*launch)(void *ctx, const struct tile_launch *l, struct diag *d, struct err *e);
	void *launch_ctx;
	/* Asked before each host compute operation; nonzero refuses it (strict track): the
	 * program fails with `d`. NULL: everything is allowed. */
	int (*compute)(void *ctx, const char *name, int line, struct diag *d);
	void *compute_ctx;
	/* Told of each operation on tensors once it is done; NULL: nobody is. */
	host_op_call_fn *called;
	void *called_ctx;
};

/* What a program came to: a set of marks, each a test and its outcome, or a kernel and what it was compiled
 * for. The kind of a mark is its last byte; of tests of two integers, in host code or in a kernel, the byte
 * before is the outcome, and the rest is where it stands. */
enum { HOST_PATH = 600, PATH_CHOICE = 1, PATH_HOST_TEST = 5, PATH_KERNEL_TEST = 6 };
struct host_path {
	uint64_t mark[HOST_PATH];
	int n, full;
};

static inline uint64_t host_path_test(int kind, int line, int col, int outcome)
{
	return (uint64_t)line << 40 | (uint64_t)(col & 0xfffff) << 20 | (uint64_t)(outcome & 0xff) << 8 |
		(uint64_t)kind;
}

void host_path_mark(struct host_path *p, uint64_t mark);

/* A module-level constant replaced while loading: NAME = value keeps its place in the
 * source, its right side is evaluated and thrown away. Of a tuple or list of ints the largest
 * members are replaced. */
struct host_override { struct str name; int64_t value; };

/* One row per binding and line; bytes of tensors read and written, operations (those of products
 * twice, and of which are none), and the terms of the longest sum. */
struct host_op { const char *name; int line; unsigned flags; int64_t count, bytes, flops, plain, sum, moved, cut; };
struct host_ops { const struct host_op *v; size_t n; };
/* What operators did: operations (of them those of no product) and bytes of those that compute, bytes that any of
 * them moved to other places, bytes of those that do not compute, but copy or convert. */
struct host_work { int64_t flops, plain, bytes, moved, copied; };
struct host_work host_work(struct host_ops ops);
/* Values of tensors that became Python numbers since operations were cleared; some integers are one. */
struct host;
int64_t host_floats_read(const struct host *h);
int host_has_read(const struct host *h);      /* any of them */
/* One launch of a kernel. */
struct host_launch {
	struct str kernel;
	int line, col;
	int64_t grid[3];
	int num_warps, num_stages;
	uint64_t storages[16];      /* ids of the tensors' storages, in parameter order */
	int n_storages;
};

#endif
