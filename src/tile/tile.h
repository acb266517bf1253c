/* Triton kernels: compile to tile code, run on the CPU tile machine.
 *
 * The host engine hands over a jit function (its syntax tree and a way to look up the names
 * around it) and a launch (grid and bound arguments). tile_compile specialises by Triton's
 * rules and gives immutable tile code or a diagnostic in Triton's wording; tile_run executes
 * it over tensors in the caller's memory. There is no global state: everything belongs to a
 * `struct tile_engine`. */
#ifndef TILE_TILE_H
#define TILE_TILE_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/thread.h"
#include "py/ast.h"
#include "py/diag.h"
#include "tensor/tensor.h"

struct tile_fn;

/* A value of the host program: an argument, or a global that a kernel names. */
enum tile_val_kind {
	TILE_V_NONE, TILE_V_BOOL, TILE_V_INT, TILE_V_FLOAT, TILE_V_STR, TILE_V_DTYPE,
	TILE_V_TENSOR,      /* becomes a pointer to its elements */
	TILE_V_DESC,        /* host-side TensorDescriptor */
	TILE_V_FN,          /* another jit function */
	TILE_V_MODULE,      /* by dotted name: "triton.language", "triton.language.extra.libdevice" */
	TILE_V_BUILTIN,     /* a member of one, by dotted name: "triton.language.load" */
	TILE_V_TUPLE,
	TILE_V_OTHER        /* an object that a kernel cannot use; `s` describes it in messages */
};

struct tile_val {
	enum tile_val_kind kind;
	int is_constexpr;           /* wrapped in tl.constexpr on the host */
	int64_t i;
	double f;
	struct str s;               /* STR, MODULE, BUILTIN, OTHER; DTYPE: Triton's name ("fp32") */
	struct tensor t;            /* TENSOR, DESC (borrowed) */
	const struct tile_fn *fn;
	const struct tile_val *items;   /* TUPLE; DESC: block shape as INTs */
	size_t n;
};

/* A function under @triton.jit. */
struct tile_fn {
	struct str name;
	/* from tile_fn_id: caches use it as the key, because another function may be allocated at the
	 * same address later, with other globals */
	uint64_t id;
	const struct py_node *def;          /* FunctionDef */
	const struct py_module *module;
	/* Looks up a global or builtin that the body names. Returns 1 and sets *out, or 0 if the
	 * name is unknown. */
	int (*lookup)(void *ctx, struct str name, struct tile_val *out);
	void *lookup_ctx;
	const struct str *no_specialize;    /* parameters of do_not_specialize */
	size_t n_no_specialize;
	int noinline;
};

/* kernel[grid](args...) with everything bound: one value per parameter, defaults filled in,
 * autotune and heuristics already applied by the host. */
struct tile_launch {
	const struct tile_fn *fn;
	const struct tile_val *args;        /* one per parameter of fn, in order */
	size_t n_args;
	int64_t grid[3];
	int num_warps, num_stages, num_ctas;
	int no_registers;                   /* maxnreg was given and is not positive */
	int line, col;                      /* of the launch in the host source */
	/* the host has called triton.set_allocator with a function that returns memory */
	int allocator;
	/* an autotuner only asks whether this configuration compiles; it is not run */
	int compile_only;
};

struct tile_engine;
struct tile_code;

/* The launches that are recorded, so that a repeat with other tensor contents skips the address arithmetic
 * (machine/replay.h). For small launches recording costs as much as it saves: the default is LARGE. */
enum tile_replay { TILE_REPLAY_LARGE, TILE_REPLAY_ALL, TILE_REPLAY_NONE };

struct tile_options {
	int triton_version;                 /* 306 for 3.6 */
	int capability;                     /* 90 for sm_90: dot sizes, fp8, shared memory */
	struct pool *pool;                  /* NULL: one thread */
	/* For tests of the judge. may_vary: kernels may query how they were launched. may_exceed: code that
	 * only Triton's back end refuses is accepted. */
	int may_vary, may_exceed;
	enum tile_replay replay;            /* selects the launches to record and replay */
};

/* A new number for tile_fn.id, unique in this process. */
uint64_t tile_fn_id(void);

struct tile_engine *tile_engine_new(const struct tile_options *o, struct err *e);
void tile_engine_free(struct tile_engine *g);
/* Frees all compiled code. Afterwards the caller may free the syntax trees it was compiled from. */
void tile_engine_clear(struct tile_engine *g);

/* Compiles a launch, with a cache by function and specialisation. The code lives as long as the engine.
 * Returns 0 and sets *code, 1 if the kernel is refused (*d says why), -1 on our own failure (*e). */
int tile_compile(struct tile_engine *g, const struct tile_launch *l, const struct tile_code **code,
		 struct diag *d, struct err *e);

/* --- running ------------------------------------------------------------------------ */

/* FAST checks bounds and fuel only; CHECKED also finds races and undefined values */
enum tile_mode { TILE_FAST, TILE_CHECKED };

struct tile_run_options {
	enum tile_mode mode;
	int64_t fuel;               /* tile operations of all instances together; 0: no limit */
	unsigned char poison;       /* byte pattern for undefined lanes and memory */
	/* lanes that are masked off in a load without `other` get zero, as on GPUs; else they are undefined */
	int zero_off;
	/* a fast run becomes a checked run if this launch was never checked, or if its path, addresses or
	 * masks depend on tensor contents (machine/checked_launches.h) */
	int check_new;
	uint64_t order_seed;        /* 0: program instances run in order, else in a permuted order */
	int trust_hints;  /* do not check tl.multiple_of, tl.max_contiguous and tl.max_constancy */
	/* Sampled instances: run only these instances, by their linear number in the grid. Hollow tensors get
	 * contents where the instances touch them. A fault is ignored in an instance that has read unknown
	 * memory. NULL: run all. */
	const int64_t *only;
	int n_only;
	/* With `only`: called for each comparison of two integers, unless one comes from unknown memory. */
	void (*test)(void *ctx, int line, int col, int outcome);
	void *test_ctx;
};

/* The work that launches did, counted while they ran. All fields are int64_t: tile_cost_add relies on it. */
struct tile_cost {
	int64_t launches, programs;
	int64_t bytes_loaded, bytes_stored;        /* of lanes that are not masked off */
	int64_t ops_f64, ops_f32, ops_f16, ops_int, ops_special;   /* special: exp, sin, sqrt, ... */
	int64_t dot_tf32, dot_f16, dot_f8, dot_int8, dot_f64, dot_f32; /* multiply-adds times two */
	int64_t atomics;
	int64_t undefined;                         /* lanes masked off in loads without `other` */
};

/* Runs compiled code over the grid of the launch. Returns 0 after a complete run, 1 if the kernel faulted
 * (*d names kernel, line, program id, argument and index), -1 on our own failure (*e). `cost` may be
 * NULL, else the work is added to it. */
int tile_run(struct tile_engine *g, const struct tile_code *code, const struct tile_launch *l,
	     const struct tile_run_options *o, struct tile_cost *cost, struct diag *d, struct err *e);

void tile_cost_add(struct tile_cost *into, const struct tile_cost *more);

/* Appends tile code as text, for tests and --dump. code/parse_text.h reads it back. */
void tile_print(const struct tile_code *code, struct buf *out);

#endif
