/* Writing a solution: the module's own source, with kernels before class Model and a new forward.
 * The class is renamed to ModelNew; get_inputs and get_init_inputs are left out. */
#ifndef SOLVE_WRITE_H
#define SOLVE_WRITE_H

#include "solve/cut.h"
#include "solve/emit.h"
#include "solve/size_fit.h"
#include "solve/solve.h"
#include "solve/trace.h"

enum { SIZE_CODE = 64 };

/* The forward of class Model, in its source. */
struct signature {
	const struct py_node *cls;       /* class Model */
	const struct py_node *forward;   /* its own or an inherited one; NULL: of a class of the library */
	int own;                         /* class Model defines forward itself */
	int is_static;                   /* forward is a staticmethod: it has no parameter self */
	int wrapped;                     /* ModelNew holds a Model, which is no plain nn.Module */
};

/* Returns 0, or 1 if there is no class Model. */
int signature_find(struct signature *s, const struct py_module *m);
/* The i-th input of forward as Python code. */
const char *signature_arg(const struct signature *s, size_t i, struct arena *a);

/* Marks the values that the module returns and those that end in memory of its arguments. Returns 1
 * with the reason in `why` if one cannot be returned. */
int write_results(struct trace *t, struct val result, char *why, size_t cap);
/* Marks what forward assigned to tensors of the model, which `code` denotes. Returns 1 with the reason if a tensor
 * cannot be replaced. */
int write_state(struct trace *t, struct host *h, struct val model, const char *code, char *why, size_t cap);

struct solution_text {
	const struct solve_options *o;
	const struct py_module *module;
	const struct ptr_map *ran;       /* statements that ran until forward */
	const struct signature *sig;
	struct trace *t;
	struct cut *cut;
	struct val result, inputs;
	/* for a solution for any sizes (any_size.h), else NULL: the sizes, and code for each of them; the
	 * schedules to follow, or to fill if the list is empty */
	const struct size_vars *sizes;
	char (*size_code)[SIZE_CODE];
	struct sched_list *scheds;
	int model_sizes;                 /* sizes of the model may vary, too: weights are checked */
	int with_model;                  /* they do vary */
};

/* Returns 0, 1 if a kernel cannot be printed, -1 on our own failure. */
int write_solution(struct solution_text *w, struct buf *out, struct err *e);
/* The lines of forward, without its signature. */
int write_forward(struct solution_text *w, const char *indent, struct buf *kernels, struct buf *body);

#endif
