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
	char var[GEN_NAME];           /* the operand in a kernel */
	char input[2][GEN_NAME];      /* extra arguments of forward */
	char konst[2][GEN_NAME];      /* argument of __init__ that is a constant of the step */
	char attr[2][GEN_NAME];       /* the task keeps it as this attribute */
	char host[2][2 * GEN_NAME];   /* how the solution's forward reads it */
	char axis[GEN_NAME];          /* the axes as forward writes them */
	char axis_arg[GEN_NAME];      /* the argument of __init__ that they come from, kept as axis_attr */
	char axis_attr[GEN_NAME];
	char window[10 * GEN_NAME];   /* arguments of a window */
	char ctor[12 * GEN_NAME];     /* the module's or parameter's constructor */
};

enum gen_fill { GEN_FILL_VALUES, GEN_FILL_CLASSES, GEN_FILL_MASK, GEN_FILL_SIGNS, GEN_FILL_ROWS_OF_ONE, GEN_FILL_TRIU, GEN_FILL_TRIL,
		GEN_FILL_SYMMETRIC, GEN_FILL_NEAR_ONE, GEN_FILL_NUMBER };

struct gen_input {
	char name[GEN_NAME];
	struct gen_shape shape;
	char sym[GEN_RANK][GEN_NAME]; /* the dimensions as get_inputs writes them */
	enum gen_fill fill;
	char bound[GEN_NAME];         /* classes; the value of a number */
};

/* A constant of the module, called `label` there. `init`: also an argument of __init__, called `arg` in it, with the
 * default `preset` where that is not empty; `given`: get_init_inputs gives it, as a number in place or by its label.
 * `name` is what the writers call it until its line is put down. */
struct gen_param {
	char name[GEN_NAME], arg[GEN_NAME], label[GEN_NAME], value[GEN_NAME], preset[GEN_NAME];
	int init, given, in_place;
};

struct gen_emit {
	const struct gen_plan *p;
	struct gen_names name[GEN_STEPS];
	struct gen_input input[GEN_INPUTS];
	int inputs;
	int swapped;                                  /* forward takes the first two inputs the other way round */
	struct gen_param param[GEN_PARAMS];           /* those with a preset come last */
	int params;
	int arg[GEN_PARAMS], args;                    /* the arguments of __init__ in their order, as places in param */
	char sym[GEN_STEPS + 1][GEN_RANK][GEN_NAME];  /* dimensions before each step as symbols; empty: none */
	char spare[GEN_NAME], spare_ctor[4 * GEN_NAME];       /* a parameter that nothing reads; empty: none */
};

/* Which input forward takes at place i. The chain begins with em->input[0], wherever that stands. */
static inline int gen_input_at(const struct gen_emit *em, int i)
{
	return em->swapped && i < 2 ? 1 - i : i;
}

void gen_emit_init(struct gen_emit *em, const struct gen_plan *p);
/* A stable choice of `n` for purpose `what`, from the plan's style. */
unsigned gen_choice(const struct gen_plan *p, unsigned what, unsigned n);
/* The same for what only the solution shows: always the first where solutions are plain. */
unsigned gen_solution_choice(const struct gen_plan *p, unsigned what, unsigned n);

/* A name made from `stem`, or out of nothing; `what` to `what` + 9 are its choices. */
void gen_coin(const struct gen_plan *p, unsigned what, const char *stem, char out[GEN_NAME]);
/* A few words as they stand in remarks; `what` to `what` + 15 are their choices. */
void gen_remark(const struct gen_plan *p, unsigned what, struct buf *out);
/* The text with the names of constants as the side says them: inside __init__, or at module level. Keywords and
 * attributes stay. */
enum gen_side { GEN_ARGUMENTS, GEN_CONSTANTS };
void gen_rename(const struct gen_emit *em, enum gen_side side, const char *text, struct buf *out);
/* Whether the constant stands in the shape of an input or in another constant. */
int gen_is_used(const struct gen_emit *em, const char *name);
/* Names, order and defaults of the arguments of __init__, once all are known. */
void gen_draw_arguments(struct gen_emit *em);
int gen_typed(const struct gen_emit *em);
int gen_is_attribute(const struct gen_emit *em, const char *name);
int gen_args_in_class(const struct gen_emit *em);
void gen_args_doc(const struct gen_emit *em, const char *indent, struct buf *out);

/* The same for how the text is written; `plain` where the task is. */
unsigned gen_style(const struct gen_emit *em, unsigned what, unsigned n, unsigned plain);

int gen_pointwise(const struct gen_step *s);
int64_t gen_numel(const struct gen_shape *s);
int64_t gen_product(const struct gen_shape *s, int from, int to);
/* The shape after the step; `s->in` is set. */
void gen_step_shape(struct gen_step *s);
int64_t gen_window_out(const struct gen_step *s, int i, int64_t in);

void gen_write_task(const struct gen_emit *em, struct buf *out);
void gen_write_solution(const struct gen_emit *em, struct buf *plan, struct buf *out);
/* __init__ with its modules and parameters: the same in both, but for what documents it. */
void gen_write_init(const struct gen_emit *em, const char *class, int doc, struct buf *out);
void gen_forward_line(const struct gen_emit *em, int i, const char *from, const char *to, struct buf *out);
/* The form that was drawn for the step; '@': a module. */
const char *gen_form(const struct gen_step *s);
/* How the task writes the step: that form, or another where it does not fit. */
const char *gen_spelling(const struct gen_step *s);
int gen_uses(const struct gen_emit *em, const char *word);

#endif
