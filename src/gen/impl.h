/* Inside the generator: what the writers of task and solution share. */
#ifndef GEN_IMPL_H
#define GEN_IMPL_H

#include "gen/gen.h"

/* --- templates ------------------------------------------------------------------------
 * Python text with $names. A line "?name|text" stands only if the name's value is not empty,
 * "!name|text" only if it is. A line that is nothing but "$name" becomes the lines of its value,
 * each at the line's indentation, or nothing. */

enum { GEN_VARS = 96, GEN_VAR_BYTES = 24576 };

struct gen_vars {
	struct { const char *name, *value; } v[GEN_VARS];
	int n;
	size_t used;
	char bytes[GEN_VAR_BYTES];
};

void gen_vars_init(struct gen_vars *v);
/* Names are literals; values are copied. The last one of a name wins. */
void gen_set(struct gen_vars *v, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);
const char *gen_get(const struct gen_vars *v, const char *name);
void gen_text(struct buf *out, const char *text, const struct gen_vars *v);

/* --- names ----------------------------------------------------------------------------- */

enum { GEN_NAME = 48, GEN_PARAMS = 64, GEN_INPUTS = 6 };

/* What a step owns: the names by which task and solution reach it. Empty: it has none. */
struct gen_names {
	char module[GEN_NAME];        /* self.NAME of an nn module */
	char vec[GEN_NAME];           /* self.NAME of a parameter, or the kept value */
	char input[2][GEN_NAME];      /* extra arguments of forward */
	char konst[2][GEN_NAME];      /* attribute of a constant that comes through __init__ */
	int konst_attr[2];            /* the task itself keeps the constant as an attribute */
	char axis[GEN_NAME];          /* the axes as forward writes them */
	char window[4 * GEN_NAME];    /* arguments of a window */
	char ctor[8 * GEN_NAME];      /* the module's or parameter's constructor */
};

enum gen_fill { GEN_FILL_VALUES, GEN_FILL_CLASSES, GEN_FILL_MASK, GEN_FILL_SIGNS, GEN_FILL_ROWS_OF_ONE, GEN_FILL_TRIU, GEN_FILL_TRIL,
		GEN_FILL_SYMMETRIC, GEN_FILL_NEAR_ONE };

struct gen_input {
	char name[GEN_NAME];
	struct gen_shape shape;
	char sym[GEN_RANK][GEN_NAME]; /* the dimensions as get_inputs writes them */
	enum gen_fill fill;
	char bound[GEN_NAME];         /* classes */
};

/* A constant of the module. `init`: also an argument of __init__, with the default `preset` where that is not empty. */
struct gen_param { char name[GEN_NAME], value[GEN_NAME], preset[GEN_NAME]; int init; };

struct gen_emit {
	const struct gen_plan *p;
	struct gen_names name[GEN_STEPS];
	struct gen_input input[GEN_INPUTS];
	int inputs;
	struct gen_param param[GEN_PARAMS];           /* those with a preset come last */
	int params;
	char sym[GEN_STEPS + 1][GEN_RANK][GEN_NAME];  /* dimensions before each step as symbols; empty: none */
};

void gen_emit_init(struct gen_emit *em, const struct gen_plan *p);
/* A stable choice of `n` for purpose `what`, from the plan's style. */
unsigned gen_choice(const struct gen_plan *p, unsigned what, unsigned n);
/* The same for what only the solution shows: always the first where solutions are plain. */
unsigned gen_solution_choice(const struct gen_plan *p, unsigned what, unsigned n);

int gen_pointwise(const struct gen_step *s);
int64_t gen_numel(const struct gen_shape *s);
int64_t gen_product(const struct gen_shape *s, int from, int to);
/* The shape after the step; `s->in` is set. */
void gen_step_shape(struct gen_step *s);
int64_t gen_window_out(const struct gen_step *s, int i, int64_t in);

void gen_write_task(const struct gen_emit *em, struct buf *out);
void gen_write_solution(const struct gen_emit *em, struct buf *plan, struct buf *out);
/* The class line, __init__ with its modules and parameters: the same in both. */
void gen_write_init(const struct gen_emit *em, const char *class, int doc, struct buf *out);
void gen_forward_line(const struct gen_emit *em, int i, const char *from, const char *to, struct buf *out);
/* The form that was drawn for the step; '@': a module. */
const char *gen_form(const struct gen_step *s);
/* How the task writes the step: that form, or another where it does not fit. */
const char *gen_spelling(const struct gen_step *s);
int gen_uses(const struct gen_emit *em, const char *word);

#endif
