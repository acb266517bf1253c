/* A program that is run: its options and replaced constants, and records of what it did.
 * host/host.h starts it. */
#ifndef INTERP_PROGRAM_H
#define INTERP_PROGRAM_H

#include "interp/value.h"
#include "py/diag.h"
#include "tile/tile.h"

struct host_lib;
struct sig;

/* One torch operator: its binding, what it does (enum bind_flag), arguments by slot, result. */
struct host_op_call {
	const char *name;
	unsigned kind;
	const struct sig *sig;      /* names and defaults of the slots */
	const struct val *a;
	size_t n;
	struct val out;
	unsigned tf32;              /* fp32 products that PyTorch would compute in tf32 */
};
typedef void host_op_call_fn(void *ctx, const struct host_op_call *c);

/* The part of the judged program that runs: none, its construction, its forward. */
enum host_judged { JUDGED_NOT, JUDGED_BUILT, JUDGED_CALLED };

struct host_options {
	struct host_lib *lib;
	int64_t fuel;               /* steps; 0: 50 million */
	size_t memory;              /* bytes of tensors and objects; 0: 4 GiB */
	int recursion;              /* depth of calls; 0: 900 */
	int oracle;                 /* every float tensor is kept in fp64 */
	enum dtype nominal;         /* oracle mode: dtype that fp64 tensors claim (0: F32) */
	/* not 0: results of compute operators move by one unit in the last place, of 1.0 for
	 * some (bind_result.c) */
	uint64_t noise_seed;
	unsigned tf32;              /* enum num_products: products computed as by tensor cores */
	/* Dry run: tensors have no contents. The program runs for its shapes, branches and
	 * launches; asking for a value fails with contents_needed. */
	int hollow;
	struct host_path *path;     /* marks of the run are collected here; NULL: nowhere */
	int track_undef;            /* torch.empty and the like: track which bytes are written */
	unsigned char poison;       /* the byte that unwritten memory holds */
	/* Autotuned kernels choose configuration number `config`, counting only configurations
	 * that compile, fit and give different programs, modulo their number. With `tune` every
	 * configuration is compiled, and the chosen one runs as on Triton's first call: once
	 * more, with hooks. */
	int config, tune;
	/* GPU that torch.cuda reports, a name of tile/estimate/gpu.h; NULL: TILE_GPU_DEFAULT */
	const char *gpu;
	/* For tests of the judge. may_vary: programs may ask for what differs between
	 * installations (host_varies). may_mix: tensors of two devices may meet. may_misuse:
	 * operations that PyTorch or Triton forbid by a rule, although they have a meaning, are
	 * done. */
	int may_vary, may_mix, may_misuse;
	/* a program may catch only exceptions that every Python raises (host_failure.exc_sure) */
	int catch_sure;
	/* The program is a user's own module, not a judged candidate: it may ask for what varies
	 * between runs of Python, use introspection, and write any annotation. */
	int is_reference;
	/* a failed assert that read no contents of tensors is passed over: the program asserts sizes
	 * that this run does not have */
	int skip_asserts;
	struct pool *pool; /* threads for operators; NULL: one */
	/* Executes a kernel launch. Returns 0 if it ran, 1 if the kernel faulted (*d), -1 on
	 * our failure (*e). NULL: launches are recorded and nothing runs. */
	int (*launch)(void *ctx, const struct tile_launch *l, struct diag *d, struct err *e);
	void *launch_ctx;
	/* Asked before each host compute operator. Nonzero refuses it (strict track): the
	 * program fails with *d. NULL: everything is allowed. */
	int (*compute)(void *ctx, const char *name, int line, struct diag *d);
	void *compute_ctx;
	/* Called after each torch operator; NULL: not called. */
	host_op_call_fn *called;
	void *called_ctx;
};

/* The path of a dry run: a set of marks. A mark is a test with its outcome, or a kernel with
 * what it was compiled for. The last byte of a mark is its kind. For comparisons of two
 * integers, in host code or in a kernel, the byte before is the outcome and the rest is the
 * position in the source. */
enum { HOST_PATH = 600, PATH_BRANCH = 1, PATH_HOST_TEST = 5, PATH_KERNEL_TEST = 6 };
struct host_path {
	uint64_t mark[HOST_PATH];
	int n, full; /* number of marks; full: some were lost */
};

/* The mark of a test: line, column, outcome, kind from high to low bits. */
static inline uint64_t host_path_test(int kind, int line, int col, int outcome)
{
	return (uint64_t)line << 40 | (uint64_t)(col & 0xfffff) << 20 | (uint64_t)(outcome & 0xff) << 8 |
		(uint64_t)kind;
}

void host_path_mark(struct host_path *p, uint64_t mark);

/* A module-level constant that is replaced while the module loads: NAME = expr is evaluated,
 * its value is dropped and `value` stored instead. In a tuple or list of ints the largest
 * members are replaced. */
struct host_override { struct str name; int64_t value; };

/* Cost record of a binding at one source line. bytes: read and written. flops: operations, two
 * per multiply-add. plain: those of flops that belong to no product. sum: terms of the longest
 * sum. moved: bytes that went to other positions. cut: calls that gave a part of their
 * argument. unread: the part of an input that windows leave unread, at most. */
struct host_op {
	const char *name;
	int line;
	unsigned flags;
	int64_t count, bytes, flops, plain, sum, moved, cut;
	double unread;
};
struct host_ops { const struct host_op *v; size_t n; };
/* Totals over all operators. flops, plain, bytes: of those that compute. moved: bytes that any
 * of them moved to other positions. copied: bytes of those that copy or convert without
 * computing. */
struct host_work { int64_t flops, plain, bytes, moved, copied; };
struct host_work host_work(struct host_ops ops);
/* Elements of tensors that Python has read since the records were cleared, in floats: 16
 * integers count as one float. */
struct host;
int64_t host_floats_read(const struct host *h);
int host_has_read(const struct host *h);      /* any element at all */
/* Floats without contents that Python read as 0, in a dry run. */
int64_t host_floats_guessed(const struct host *h);
/* One kernel launch. */
struct host_launch {
	struct str kernel;
	int line, col;              /* of the launch in the host code */
	int64_t grid[3];
	int num_warps, num_stages;
	uint64_t storages[16];      /* storage ids of tensor arguments, in parameter order */
	int n_storages;
};

#endif
