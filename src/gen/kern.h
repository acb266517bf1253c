/* Inside the generator's solution writer: kernels with their arguments, host lines, and the place
 * where pointwise steps ride along. */
#ifndef GEN_KERN_H
#define GEN_KERN_H

#include "gen/impl.h"

/* Steps [first, end) in one kernel or a few; the head is the step that is not pointwise (-1: none). */
struct gen_kernel { int first, head, end; };

struct gen_solution {
	const struct gen_emit *em;
	struct buf kernels, host, plan;
	int number;                   /* kernels written */
	int multiplies;               /* the helper of tl.reduce is needed */
	char kept[GEN_NAME];          /* the host variable of a value that a later kernel reads */
};

enum { GEN_ARGS = 40, GEN_ARG = 128 };
struct gen_args { struct { char param[GEN_NAME], value[GEN_ARG]; } v[GEN_ARGS]; int n; };

/* A kernel while it is written: parameters in the order pointers, sizes, constants of the compiler. */
struct gen_kern {
	struct gen_solution *sol;
	const struct gen_emit *em;
	const struct gen_kernel *k;
	const char *from, *to;        /* host variables read and written */
	char name[2 * GEN_NAME];
	struct gen_args ptr, size, meta;
	int warps, stages;            /* 0: Triton's own */
	char tune[4 * GEN_ARG];       /* configurations of the autotuner; empty: none */
	char key[GEN_NAME];
	struct gen_vars v;
};

void gen_kern_init(struct gen_kern *kn, struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to, const char *what);
void gen_ptr(struct gen_kern *kn, const char *param, const char *fmt, ...) PRINTF_LIKE(3, 4);
void gen_size(struct gen_kern *kn, const char *param, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* A size; where another parameter has the value already, that one's name is returned. */
const char *gen_shared_size(struct gen_kern *kn, const char *stem, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Constant c of step i in the kernel: a parameter where the module keeps it, else the number. */
const char *gen_constant(struct gen_kern *kn, int i, int c);
void gen_meta(struct gen_kern *kn, const char *param, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The bias of the head's module, which the host calls `module`; the weight stands there already. A body has its line behind
 * ?bias, or where the module is asked whether it has one behind ?asked. */
void gen_bias(struct gen_kern *kn, const char *module, int there);
/* The kernel from its body, and its launch. A grid may use the names of the constants of the compiler. */
void gen_kern_write(struct gen_kern *kn, const char *body, const char *grid);
void gen_host(struct gen_solution *sol, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* "x.shape[1] * x.shape[2]", or "1". */
const char *gen_dims(const char *of, int from, int to, char *out, size_t n);
/* The product of the dimensions from one on; in varied solutions the same text for any rank. */
const char *gen_rest(const struct gen_emit *em, const char *of, int from, int rank, char *out, size_t n);
/* `to` as an empty tensor of the head's result, or like `from` where the shape stays. */
void gen_alloc(struct gen_kern *kn, const struct gen_shape *before, const struct gen_shape *after, const char *dtype);
/* ".to(tl.int64)" where 32 bits may not do for the tensors of the kernel. */
const char *gen_wide(const struct gen_kern *kn);
int64_t gen_pow2(int64_t n);
/* Whether values near a threshold go far apart: rounding would decide which way. */
int gen_has_jump(const struct gen_plan *p);

/* Where a pointwise step stands: how to name the value and find its operands. */
struct gen_place {
	const char *val;              /* the tile */
	const char *at;               /* offset of the element in tensors of the same shape */
	const char *mask;             /* NULL: a scalar, no mask */
	const char *shape_of;         /* host variable that has the tensor's shape */
	int axis;                     /* an operand along this axis is at: */
	const char *axis_at, *axis_mask, *axis_expand;
};

/* The text of steps [from, to) at a place; adds the parameters they need. */
void gen_points(struct gen_kern *kn, int from, int to, const struct gen_place *pl, struct buf *out);
/* The same as value `var` of the kernel's template. */
void gen_set_points(struct gen_kern *kn, const char *var, int from, int to, const struct gen_place *pl);

/* --- writers: each writes the kernels of one stretch and their launches --------------------- */

typedef void gen_writer(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to);
gen_writer gen_write_flat, gen_write_slice, gen_write_scan, gen_write_global, gen_write_batch, gen_write_gemm, gen_write_conv, gen_write_pool,
	gen_write_loss, gen_write_row_loss, gen_write_attention;

/* One program sums the vector `part` of `count` partial results and stores their sum over `over`. */
void gen_write_last_sum(struct gen_solution *sol, const struct gen_kernel *k, const char *part, const char *count, const char *over, const char *to);

#endif
