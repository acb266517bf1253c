/* Trials: the runs that a candidate must survive, and how a program is run for one.
 *
 * A trial fixes sizes (overrides of module constants), the seed of the inputs, what is done
 * to them, the dtype, and whether weights are re-drawn. The reference is run for it in three
 * ways (own dtype, fp64 oracle, one ulp of noise per operation); what it must give is kept
 * here, with the weights it ran with. */
#ifndef VERIFY_TRIAL_H
#define VERIFY_TRIAL_H

#include "host/host.h"
#include "verify/compare.h"
#include "verify/judge.h"

enum { TRIAL_OVERRIDES = 8, TRIALS_MOST = 16, WEIGHTS_SEED = 42 };

enum trial_change { CHANGE_NONE, CHANGE_SCALE, CHANGE_NEGATE, CHANGE_SHIFT, CHANGE_REVERSE_BATCH, CHANGE_FIRST_ROW, CHANGE_SPREAD };

struct weight {
	char name[96];
	struct tensor t;
};

struct weights {
	struct weight *v;
	size_t n, cap;
};

struct trial {
	char kind[24];
	enum stage stage;             /* tiny or full */
	struct host_override ov[TRIAL_OVERRIDES];
	size_t n_ov;
	uint64_t seed;                /* of the inputs */
	uint64_t weight_seed;         /* 0: as constructed */
	enum trial_change change;
	enum dtype dt;                /* DT_F32: as the task makes them */
	int repeat;                   /* call once on other contents in the same tensors first */

	struct results expected;
	struct weights weights;
	char shape[96];
};

void trial_release(struct trial *t);
void weights_release(struct weights *w);

/* Who watches is told of each input set that a candidate was run on, with what it gave; NULL:
 * it gave nothing. Nonzero: we failed. */
typedef int judge_seen_fn(void *ctx, const struct task *t, const struct trial *tr, const struct results *got, struct err *e);
void judge_watch(struct judge *j, judge_seen_fn *fn, void *ctx);
int judge_seen(struct judge *j, const struct task *t, const struct trial *tr, const struct results *got, struct err *e);

/* How one run of a program is made. */
enum run_mode { RUN_OWN, RUN_ORACLE, RUN_NOISY };

struct launch_ctx;

struct program {
	const struct py_module *task;       /* gives get_inputs and get_init_inputs */
	const struct py_module *source;     /* gives the class; the task itself for the reference */
	const char *class_name;
	int eval_mode;
};

/* One prepared run: a host with the model built, weights set, inputs drawn and changed. */
struct run {
	struct host *h;
	struct val model, inputs;
	struct host_options opts;
};

int run_open(struct run *r, struct judge *j, const struct program *p, const struct trial *t, enum run_mode mode,
	     struct launch_ctx *launch, struct err *e);
void run_close(struct run *r);
/* Draws the trial's inputs again from another seed, into the same tensors. */
int run_refill(struct run *r, const struct program *p, const struct trial *t, uint64_t seed, struct err *e);

/* Weights of a model as fp32 (or as they are, if not floating). */
int weights_take(struct weights *w, struct host *h, struct val model, struct err *e);
/* New values, from a distribution that hides nothing: no zeros, no ones, positive variances. */
int weights_redraw(struct weights *w, uint64_t seed);
/* Copies by name and shape, else by order; *how gets "name", "order" or "seed" (nothing copied). */
int weights_put(const struct weights *w, struct host *h, struct val model, char how[16], struct err *e);

/* --- launches ----------------------------------------------------------------------------- */

struct launch_ctx {
	struct tile_engine *engine;
	struct tile_run_options run;
	int idle;                      /* compile, but do not run */
	int refused, faulted;          /* what ended the last run */
	struct tile_cost cost;
	struct diag diag;
	int64_t fuel_left;
};

struct host_lib *judge_lib(struct judge *j);
/* The tile machine's engine lives as long as the candidate: its cache knows functions by
 * address. */
int launch_open(struct launch_ctx *c, struct err *e);
void launch_close(struct launch_ctx *c);
int launch_kernel(void *ctx, const struct tile_launch *l, struct diag *d, struct err *e);

#endif
