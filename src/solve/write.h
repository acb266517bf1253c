/* Writing a solution: the module's own source, with kernels before class Model and a new forward.
 * The class is renamed to ModelNew; get_inputs and get_init_inputs are left out. */
#ifndef SOLVE_WRITE_H
#define SOLVE_WRITE_H

#include "solve/cut.h"
#include "solve/solve.h"
#include "solve/trace.h"

/* The forward of class Model, in its source. */
struct signature {
	const struct py_node *cls;       /* class Model */
	const struct py_node *forward;   /* its own or an inherited one; NULL: of a class of the library */
	int own;                         /* class Model defines forward itself */
	int wrapped;                     /* ModelNew holds a Model, which is no plain nn.Module */
};

/* Returns 0, or 1 if there is no class Model. */
int signature_find(struct signature *s, const struct py_module *m);
/* The i-th input of forward as Python code. */
const char *signature_arg(const struct signature *s, size_t i, struct arena *a);

/* Marks the values that the module returns and those that end in memory of its arguments. Returns 1
 * with the reason in `why` if one cannot be returned. */
int write_results(struct trace *t, struct val result, char *why, size_t cap);

struct solution_text {
	const struct solve_options *o;
	const struct py_module *module;
	const struct signature *sig;
	struct trace *t;
	struct cut *cut;
	struct val result, inputs;
	int general;                     /* written once more for another batch size (any_batch.h) */
};

/* Returns 0, 1 if a kernel cannot be printed, -1 on our own failure. */
int write_solution(struct solution_text *w, struct buf *out, struct err *e);
/* The lines of forward, without its signature. */
int write_forward(struct solution_text *w, const char *indent, struct buf *kernels, struct buf *body);

#endif
