/* The task generator: tasks written as KernelBench writes them, each with a Triton solution.
 *
 * A task is a composition: a chain of steps (operators of gen_op.def) over tensors of known shapes.
 * `gen_plan_draw` draws one, `gen_plan_key` names it, `gen_plan_split` says which split that
 * name belongs to, and `gen_emit` writes the PyTorch task, a plan in words, and a solution whose
 * schedules, blocks and grids are chosen for the task's own sizes. Nothing here judges: the
 * caller verifies each pair before it is used. Same seed and index, same text. */
#ifndef GEN_GEN_H
#define GEN_GEN_H

#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "base/str.h"

enum gen_family {
	GEN_UNARY,      /* pointwise, no operand */
	GEN_CONST,      /* pointwise with one or two scalar constants */
	GEN_VECTOR,     /* pointwise with a tensor that varies along one axis */
	GEN_TENSOR,     /* pointwise with a second input of the same shape */
	GEN_KEPT,       /* keeps the value, or uses the kept value: residuals */
	GEN_REDUCE,     /* axes go away or become 1 */
	GEN_NORM,       /* same shape, one statistic per slice: softmax, norms */
	GEN_SCAN,       /* cumulative along one axis */
	GEN_GLOBAL,     /* same shape, one statistic of the whole tensor */
	GEN_BATCH,      /* batch norm: statistics of a channel over the batch */
	GEN_GEMM,       /* matrix products */
	GEN_CONV,       /* convolutions and their transposes, 1 to 3 dimensions of space */
	GEN_POOL,       /* windows */
	GEN_LOSS,       /* elements of two inputs to one number */
	GEN_ROW_LOSS,   /* rows of two or three inputs to one number */
	GEN_ATTENTION
};

enum gen_op_id {
#define GEN_OP(id, family, flags, c0, c1, torch, triton) GEN_OP_##id,
#include "gen/gen_op.def"
#undef GEN_OP
	GEN_OPS
};

/* Plain tasks are drawn from the first ones alone. */
enum { GEN_PLAIN_OPS = GEN_OP_attention + 1 };

/* What an operator wants of its input's values and leaves behind, so that every step of a chain
 * changes something (relu after sigmoid would not); and what its kernel needs. */
enum gen_flags {
	GEN_WANTS_NEG = 1,     /* does nothing (or too little) unless values can be negative */
	GEN_MAKES_POS = 2,     /* result is never negative */
	GEN_KEEPS_SIGN = 4,    /* sign of the input decides sign of the result */
	GEN_BOUNDS = 8,        /* result is bounded by about one */
	GEN_WANTS_BOUND = 16,  /* only after something bounded (exp) */
	GEN_WANTS_FREE = 32,   /* not after something bounded (clamp) */
	GEN_GROWS = 64,        /* at most one of these in a chain */
	GEN_PAD_NINF = 128,    /* lanes outside the slice count as -inf, inf or 1; else as 0 */
	GEN_PAD_INF = 256,
	GEN_PAD_ONE = 512,
	GEN_AFFINE = 1024,     /* a weight and a bias per channel or column */
	GEN_ALONE = 2048,      /* only as the single operator of a task */
	GEN_INT = 4096,        /* result is int64: nothing can follow */
	GEN_SHIFTS = 8192,     /* values may lie off zero behind it */
	GEN_FAR = 16384,       /* values may lie far off zero behind it */
	GEN_NEEDS_CENTER = 32768,    /* flat on one side of zero: constant where values lie off it */
	GEN_LINEAR = 65536,    /* tells values apart however far off zero they lie */
	GEN_SMALL = 131072,    /* slices of the result add up to about one: single values are small */
	GEN_FLAT = 262144      /* flat at zero: of small values nothing shows */
};

struct gen_op {
	const char *name;
	enum gen_family family;
	int flags;
	const char *c0, *c1;          /* choices of constants, "0.5|2.0" */
	const char *const *torch;     /* spellings, NULL-terminated */
	const char *const *triton;    /* pointwise: spellings; others: see gen_op.def */
};

const struct gen_op *gen_op(enum gen_op_id id);

enum { GEN_STEPS = 12, GEN_RANK = 5, GEN_SECOND = 3 };

/* Of the option that sets `plain`. */
#define GEN_STYLE_CHOICES "varied|plain"
#define GEN_STYLE_HELP "tasks of real sizes in many styles and schedules, or small ones in one style with short names: for small models"

struct gen_shape { int rank; int64_t d[GEN_RANK]; };

struct gen_step {
	enum gen_op_id op;
	int form;                     /* which torch spelling */
	int tile_form;                /* which Triton spelling */
	char c[2][12];                /* constants as written */
	int attr;                     /* constants or the axis come through __init__ as attributes */
	int axis, axis_end;           /* the axes reduced, normalised, scanned; the one an operand varies along */
	int keepdim;
	int far;                      /* a value that is kept for a later kernel */
	int nd, groups, bias;         /* windows: dimensions of space */
	int window[3], stride[3], pad[3], dilation[3], out_pad[3];
	int square;                   /* windows: one number for all dimensions */
	int64_t out;                  /* out features or channels */
	struct gen_shape in, shape;   /* before and after */
};

struct gen_plan {
	int level;
	int signed_input;             /* torch.randn, else torch.rand */
	int channels_first;           /* (B, C, ...): features are axis 1, else the last */
	struct gen_shape input;
	int n;
	struct gen_step step[GEN_STEPS];
	uint64_t style;               /* drives naming, spelling of host code, comments */
	int plain;                    /* small sizes, one style, one schedule an operator */
	int hybrid;                   /* the library does the products, kernels the rest */
};

/* Levels to draw from in turn; one that stands twice weighs twice. */
struct gen_levels { int v[16], n; };
int gen_levels_parse(struct gen_levels *l, const char *const *words, size_t n, struct err *e);

enum gen_split { GEN_TRAIN, GEN_VALIDATION, GEN_TEST, GEN_SPLITS };

/* Draws a composition of the level (1: one operator, 2: a chain that fuses, 3: several anchors). Plain
 * ones have small sizes and the usual windows, and are written in one style: for small models. */
void gen_plan_draw(struct gen_plan *p, int level, int plain, struct rng *r);
/* The composition's name: operators and layout, no constants: "4d conv2d relu scale". */
void gen_plan_key(const struct gen_plan *p, struct buf *out);
/* By the composition; that of a single operator at real sizes has its sizes as well. */
enum gen_split gen_plan_split(const struct gen_plan *p);
const char *gen_split_name(enum gen_split s);

struct gen_texts {
	struct buf ops;               /* "linear,relu,scale" */
	struct buf task, plan, solution;
};
/* Appends to the buffers (clear them first). -1 only when memory ended. */
int gen_emit(const struct gen_plan *p, struct gen_texts *t, struct err *e);
void gen_texts_clear(struct gen_texts *t);
void gen_texts_release(struct gen_texts *t);

#endif
