/* The fusion generator: tasks in KernelBench's form with a Triton solution for each.
 *
 * A task is a composition: a chain of steps (operators of gen_op.def). `gen_plan_draw` draws
 * one, `gen_plan_key` names it, `gen_plan_split` says which split that name belongs to, and
 * `gen_emit` writes the PyTorch task, a one-paragraph plan, and a strict-track Triton solution
 * in one of several styles and schedules. Nothing here judges: the caller verifies each pair
 * before it is used. Same seed and index, same text. */
#ifndef GEN_GEN_H
#define GEN_GEN_H

#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "base/str.h"

enum gen_family {
	GEN_UNARY,      /* pointwise, no operand */
	GEN_CONST,      /* pointwise with one or two scalar constants */
	GEN_VECTOR,     /* pointwise with a parameter along the feature axis */
	GEN_TENSOR,     /* pointwise with a second input of the same shape */
	GEN_ROW,        /* last axis, same shape: softmax, norms */
	GEN_REDUCE,     /* last axis goes away */
	GEN_GEMM,       /* matrix products: changes the last axis */
	GEN_CONV,       /* convolutions on NCHW */
	GEN_POOL,       /* windows on NCHW */
	GEN_CHANNEL,    /* group and instance norms on NCHW */
	GEN_LOSS        /* two inputs to one number */
};

enum gen_op_id {
#define GEN_OP(id, family, flags, c0, c1, torch, triton) GEN_OP_##id,
#include "gen/gen_op.def"
#undef GEN_OP
	GEN_OPS
};

/* What a pointwise operator wants of its input's values and leaves behind, so that every
 * step of a chain changes something (relu after sigmoid would not). */
enum gen_flags {
	GEN_WANTS_NEG = 1,     /* does nothing (or too little) unless values can be negative */
	GEN_MAKES_POS = 2,     /* result is never negative */
	GEN_KEEPS_SIGN = 4,    /* sign of the input decides sign of the result */
	GEN_BOUNDS = 8,        /* result is bounded by about one */
	GEN_WANTS_BOUND = 16,  /* only after something bounded (exp) */
	GEN_WANTS_FREE = 32,   /* not after something bounded (clamp) */
	GEN_GROWS = 64         /* at most one of these in a chain */
};

struct gen_op {
	const char *name;
	enum gen_family family;
	int flags;
	const char *c0, *c1;          /* choices of constants, "0.5|2.0" */
	const char *const *torch;     /* spellings, NULL-terminated */
	const char *const *triton;
};

const struct gen_op *gen_op(enum gen_op_id id);

enum { GEN_STEPS = 10, GEN_SECOND = 3, GEN_INPUTS = GEN_SECOND + 2 };    /* the first, operands of steps, a loss's target */

/* Of the option that sets `plain`. */
#define GEN_STYLE_CHOICES "varied|plain"
#define GEN_STYLE_HELP "solutions in several styles and schedules, or in one with short names: for small models"

struct gen_step {
	enum gen_op_id op;
	int form;                     /* which torch spelling */
	int tile_form;                /* which Triton spelling */
	char c[2][12];                /* constants as written */
	int attr;                     /* constants come through __init__ as attributes */
	int size[3];                  /* GEMM: out features; CONV: out channels, kernel, padding; POOL: window, stride */
};

enum gen_layout { GEN_2D, GEN_3D, GEN_4D };    /* (B, D), (B, T, D), (B, C, H, W) */

struct gen_plan {
	int level;
	enum gen_layout layout;
	int signed_input;             /* torch.randn, else torch.rand */
	int64_t batch, time, width, height;   /* width: D, or W of 4D (height: H) */
	int64_t channels;
	int n;
	struct gen_step step[GEN_STEPS];
	uint64_t style;               /* drives naming, spelling of host code, comments */
	int plain;                    /* solutions in one style: short names, one schedule an operator */
};

/* Levels to draw from in turn; one that stands twice weighs twice. */
struct gen_levels { int v[16], n; };
int gen_levels_parse(struct gen_levels *l, const char *const *words, size_t n, struct err *e);

enum gen_split { GEN_TRAIN, GEN_VALIDATION, GEN_TEST, GEN_SPLITS };

/* Draws a composition of the level (1: one operator, 2: a chain that fuses, 3: several anchors). */
void gen_plan_draw(struct gen_plan *p, int level, struct rng *r);
/* The composition's name: operators and layout, no constants: "4d conv2d relu scale". */
void gen_plan_key(const struct gen_plan *p, struct buf *out);
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
