/* Inside the generator's solution writer: argument lists, places, and line helpers shared by
 * the schedules. */
#ifndef GEN_GEN_KERNEL_H
#define GEN_GEN_KERNEL_H

#include "gen/gen_emit.h"

enum { GEN_ARGS = 32 };

/* Parameters of a kernel and, beside each, what the launch passes for it. */
struct gen_args {
	char param[GEN_ARGS][2 * GEN_NAME];
	char value[GEN_ARGS][2 * GEN_NAME];
	int n, first_constexpr;
};

/* Where a pointwise step stands: how to name the value and find its operands. */
struct gen_place {
	const char *val;              /* the tile */
	const char *at;               /* offset of the element in tensors of the same shape */
	const char *mask;             /* NULL: a scalar, no mask */
	const char *vec_at;           /* index of a per-feature operand */
	const char *vec_mask;         /* NULL: scalar index */
	const char *vec_expand;       /* "[None, :]" in a 2-D tile */
	const char *count;            /* length of the row, for means */
	int depth;                    /* indentation */
};

void gen_arg(struct gen_args *a, const char *param, const char *value);
void gen_args_steps(const struct gen_emit *em, const struct gen_kernel *k, struct gen_args *a);
void gen_args_consts(const struct gen_emit *em, const struct gen_kernel *k, struct gen_args *a);
int gen_has_vector(const struct gen_emit *em, const struct gen_kernel *k);
void gen_line(struct buf *out, int depth, const char *fmt, ...) PRINTF_LIKE(3, 4);
void gen_body_step(const struct gen_emit *em, int i, const struct gen_place *pl, struct buf *out);
void gen_body_steps(const struct gen_emit *em, int from, int to, const struct gen_place *pl, struct buf *out);
void gen_kernel_head(const struct gen_kernel *k, const struct gen_args *a, struct buf *out);

/* A schedule: which arguments, which body, which host lines before the launch. `from` is the
 * host variable it reads. */
struct gen_schedule {
	void (*args)(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct gen_args *a);
	void (*body)(const struct gen_emit *em, const struct gen_kernel *k, struct buf *out);
	/* Shape of the result and grid, as host expressions. */
	void (*host)(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct buf *shape, struct buf *grid);
};

const struct gen_schedule *gen_schedule(const struct gen_emit *em, const struct gen_kernel *k);
extern const struct gen_schedule gen_sched_gemm, gen_sched_conv, gen_sched_conv_gemm;

#endif
