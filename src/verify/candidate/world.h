/* One program in a host of its own: modules loaded, model built, inputs drawn, forward called.
 *
 * Every run copies its inputs and gets its weights again. So runs do not see each other unless the
 * program keeps something, and some runs exist to find that out. */
#ifndef VERIFY_CANDIDATE_WORLD_H
#define VERIFY_CANDIDATE_WORLD_H

#include "py/ast.h"
#include "verify/candidate/input_axes.h"
#include "verify/candidate/judge.h"
#include "verify/candidate/result_form.h"
#include "verify/candidate/trial.h"

/* How the reference is run. RUN_OWN: in its own dtypes. RUN_ORACLE: in fp64. RUN_NOISY: own dtypes
 * with one ulp of noise after every operation. The others: own dtypes with products in tf32;
 * RUN_ALLOWED: those that the option `precision` allows, RUN_TORCH: those of PyTorch's defaults,
 * RUN_CLOSE: all. */
enum run_mode { RUN_OWN, RUN_ORACLE, RUN_NOISY, RUN_ALLOWED, RUN_TORCH, RUN_CLOSE };

struct launcher;

struct program {
	const struct py_module *task;       /* gives get_inputs and get_init_inputs */
	const struct py_module *source;     /* gives the class; for the reference, the task itself */
	const char *class_name;
	int eval_mode;
	int hollow;                         /* a dry run: tensors without contents */
	const struct host_override *ov;     /* of the task's constants in every run: a smaller model */
	size_t n_ov;
	const struct input_axes *axes;      /* of a reduced task: sizes of its inputs by position; or NULL */
};

struct world {
	struct host *h;                     /* owned; NULL: it was closed, or could not be opened */
	struct judge *judge;
	const struct program *p;
	struct host_options opts;
	struct launcher *launch;            /* of a candidate's kernels; NULL for a reference */
	struct val task_ns, model;
	enum dtype dt;                      /* of the model's floats */
	enum weight_set set;                /* the set that was put last; WEIGHT_SETS: none */
	int rebuilt;                        /* how many times it was opened again: values of earlier hosts are gone */
};

/* Opens a host, loads the modules, builds the model. Returns 0 on success, 1 if the program fails
 * there (host_diag), -1 on our own failure (*e). Close it in each case. */
int world_open(struct world *w, struct judge *j, const struct program *p, int oracle, struct launcher *launch,
	       struct err *e);
void world_close(struct world *w);
/* Sets limits, noise and dtype for a run of the trial. Opens the world again if a limit ended its
 * host. */
int world_renew(struct world *w, const struct trial *t, enum run_mode mode, struct err *e);
/* Rounds the oracle's weights, once they are put, to values that the dtype of the trial holds. */
int world_round_state(struct world *w);
/* Calls get_inputs at the trial's sizes under a seed, and changes the inputs as the trial says. */
int world_draw(struct world *w, const struct trial *t, uint64_t seed, struct val *inputs, struct err *e);
/* The trial's inputs, or with `others` the second ones: copied from the vault, unpacked, or
 * drawn. */
int world_inputs(struct world *w, const struct trial *t, int others, struct val *inputs, struct err *e);
/* The first tensors of a value, in order; borrowed. */
struct world_tensors {
	struct tensor v[RESULTS_MOST];
	int n;
};
int world_tensors(struct world *w, struct val v, struct world_tensors *out);
/* Do two values hold the same number of tensors, of the same shapes and dtypes? */
int world_alike(struct world *w, struct val a, struct val b);
/* Overwrites the tensors of `inputs` with the contents of a value of the same form. */
int world_refill(struct world *w, struct val inputs, struct val with, struct err *e);
void world_drop(struct world *w, struct val v);

#endif
