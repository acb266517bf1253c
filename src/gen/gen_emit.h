/* Inside the generator: names and shapes of a plan's parts, shared by the writer of the task
 * (gen_task.c) and the writers of the solution (gen_solution.c, gen_kernel.c). */
#ifndef GEN_GEN_EMIT_H
#define GEN_GEN_EMIT_H

#include "gen/gen.h"

enum { GEN_NAME = 40, GEN_PARAMS = 3 * GEN_STEPS + 2 };    /* a size and two constants a step, the first sizes */

/* What a step owns: the names by which task and solution reach it. Empty: it has none. */
struct gen_names {
	char module[GEN_NAME];        /* self.NAME of an nn module */
	char vec[GEN_NAME];           /* self.NAME of a parameter */
	char input[GEN_NAME];         /* extra argument of forward */
	char konst[2][GEN_NAME];      /* attribute of a constant that comes through __init__ */
	char feat_in[GEN_NAME], feat_out[GEN_NAME];   /* symbol of the feature or channel axis */
};

struct gen_emit {
	const struct gen_plan *p;
	struct gen_names name[GEN_STEPS];
	char input[GEN_INPUTS][GEN_NAME];     /* forward's arguments */
	int input_step[GEN_INPUTS];           /* the step that wants it; -1: the first */
	int inputs;
	char params[GEN_PARAMS][GEN_NAME];            /* __init__'s arguments, also module constants */
	char values[GEN_PARAMS][24];
	int n_params;
	const char *batch, *time, *first_feat;        /* symbols */
	const char *kx, *kout, *kn, *koffs, *kmask, *kblock, *kval;   /* names inside kernels */
};

void gen_emit_init(struct gen_emit *em, const struct gen_plan *p);
/* A stable choice of `n` for purpose `what`, from the plan's style. */
unsigned gen_choice(const struct gen_plan *p, unsigned what, unsigned n);
/* The same for what only the solution shows: always the first where solutions are plain. */
unsigned gen_solution_choice(const struct gen_plan *p, unsigned what, unsigned n);
/* Number of pixels is divided by `window`^2 before step i; nonzero once space is gone. */
int gen_space_gone(const struct gen_plan *p, int before);

/* Writes `text` with $-variables replaced: vars is {"x", "acc", "0", "2.0", NULL}. Lines after
 * the first are indented by `indent` tabs of four spaces. */
void gen_expand(struct buf *out, const char *text, const char *const *vars, int indent);

void gen_write_task(const struct gen_emit *em, struct buf *out);
void gen_write_solution(const struct gen_emit *em, struct buf *out);
void gen_write_plan(const struct gen_emit *em, struct buf *out);
/* The class line, __init__ with its modules and parameters: the same in both. */
void gen_write_init(const struct gen_emit *em, const char *class, struct buf *out);

/* --- kernels of a solution ---------------------------------------------------------- */

enum gen_kernel_kind { GEN_K_FLAT, GEN_K_ROW, GEN_K_GEMM, GEN_K_CONV, GEN_K_POOL, GEN_K_SPACE, GEN_K_CHANNEL, GEN_K_LOSS };

struct gen_kernel {
	enum gen_kernel_kind kind;
	int first, end;               /* steps [first, end) */
	int head;                     /* the step that is not pointwise; -1: none */
	char name[96];
};

/* Cuts the chain into kernels; returns how many. */
int gen_cut(const struct gen_emit *em, struct gen_kernel *k);
void gen_write_kernel(const struct gen_emit *em, const struct gen_kernel *k, struct buf *out);
/* The host lines that allocate and launch: reads variable `from`, writes variable `to`. */
void gen_write_launch(const struct gen_emit *em, const struct gen_kernel *k, const char *from,
		      const char *to, struct buf *out);

#endif
