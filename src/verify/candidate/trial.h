/* Trials: the runs that a candidate must survive, and how a program is run for one.
 *
 * A trial fixes sizes (overrides of module constants), the seed of the inputs, what is done
 * to them, the dtype, and whether weights are re-drawn. The reference is run for it in the ways of
 * enum run_mode; what it must give is kept here, with the weights it ran with. */
#ifndef VERIFY_CANDIDATE_TRIAL_H
#define VERIFY_CANDIDATE_TRIAL_H

#include "host/census.h"
#include "host/host.h"
#include "py/ast.h"
#include "tile/tile.h"
#include "verify/candidate/judge.h"
#include "verify/candidate/result_form.h"

/* trial.def: which input set it is. */
enum trial_kind {
#define TRIAL(id, name, contract, text) TRIAL_##id,
#include "verify/candidate/trial.def"
#undef TRIAL
	TRIAL_KINDS
};

const char *trial_name(enum trial_kind k);
enum contract trial_contract(enum trial_kind k);

/* Sizes of a task that may be changed: of its inputs, and of its model. */
enum { TASK_SIZES = 16 };

enum { TRIAL_SIZES = 8, TRIAL_OVERRIDES = 2 * TRIAL_SIZES, TRIALS_MOST = 26, WEIGHTS_SEED = 42 };

enum trial_change { CHANGE_NONE, CHANGE_SCALE, CHANGE_NEGATE, CHANGE_SHIFT, CHANGE_REVERSE_BATCH,
		    CHANGE_FIRST_ROW, CHANGE_ADD, CHANGE_SPREAD, CHANGE_SIGNED,
		    CHANGE_WIDE, CHANGE_SMALL, CHANGE_LARGE, CHANGE_HALVES_FAINT, CHANGE_HALVES_FAINT_ONLY,
		    CHANGE_FAINT, CHANGE_FAINT_ONLY,
		    CHANGE_HALVES, CHANGE_OFFSET, CHANGE_EQUAL,
		    CHANGE_INTEGERS, CHANGE_GAPS, CHANGE_ENDS, CHANGE_ENDS_ONLY, CHANGE_ENDS_PLAIN, CHANGE_EMPTY };

/* What forward of the reference does to a weight; COUNT: it counts its calls there, and goes by that in nothing. */
enum weight_kept { KEPT_NOT, KEPT_VALUES, KEPT_COUNT };

struct task_weight {
	char name[96];
	struct tensor t;
	/* its shape at the sizes that models get it at: the same, or more along what the task
	 * only counts */
	int64_t own[TENSOR_DIMS];
	int param;                    /* a parameter, not a buffer */
	int moved;                    /* one value throughout as constructed, and drawn anew in this set */
	enum weight_kept kept;              /* forward of the reference changes it */
};

struct task_weights {
	struct task_weight *v;
	size_t n, cap;
	/* of large ones there is but a part, which all of it is made of by this (sparse_spread);
	 * 0: there is all */
	uint64_t spread;
};

/* Weights of the reference: as its constructor makes them; all drawn anew; only those anew that
 * are constants as constructed (a bias of zeros), so that who does without them shows even where
 * a candidate does not take the others over. */
enum weight_set { WEIGHTS_BUILT, WEIGHTS_DRAWN, WEIGHTS_MOVED, WEIGHT_SETS };

/* What a call of an operator gave, and which call that was: made.h. */
struct intermediate {
	uint64_t how;
	struct tensor t;
	int unclear;                  /* something else that the reference makes is the same here */
};

/* Which arguments of which launches of a candidate are what operators of the reference make. */
enum { INTERMEDIATE_MATCHES = 8 };
struct intermediate_matches {
	int launches;                 /* of the call; one that a tuner tried first is none */
	uint64_t last;                /* the last of them: its kernel and its arguments */
	int n;
	struct { int launch, arg; uint64_t kernel, how; } v[INTERMEDIATE_MATCHES];
};

struct trial {
	enum trial_kind kind;
	enum judge_stage stage;       /* tiny or full */
	int ext;                      /* the extension it belongs to; EXTS: none, always run */
	struct host_override ov[TRIAL_OVERRIDES];
	size_t n_ov;
	uint64_t seed;                /* of the inputs */
	enum weight_set set;
	uint64_t state;               /* what those of them that forward changes are before it: weights_begin */
	enum trial_change change;
	int first;                    /* of all inputs only the first is changed */
	enum dtype dt;                /* DT_F32: as the task makes them */
	/* as get_inputs draws it at the sizes that stand for the task's: its cost is the candidate's */
	int is_original;
	int repeat;                   /* call on other contents in the same tensors first */

	const struct task_weights *weights;    /* of the task */
	struct val inputs, others;    /* in the task's vault: those of `seed`, and with `repeat` those of
				       * seed + 1. V_UNSET: they cannot leave their host, draw them there */
	/* what operators of the reference gave, where candidates meet it at the task's own sizes */
	struct { struct intermediate *v; size_t n, cap; } made;
	int ndim;                     /* of the first input */
	int64_t shape[TENSOR_DIMS];
	struct str packed[2];         /* where there is no vault (image.h): the same two, packed */
};

void trial_release(struct trial *t);
/* The shape of its first input: "16x64". */
void trial_shape_text(const struct trial *t, char *out, size_t n);
void weights_release(struct task_weights *w);

/* How one run of a program is made. */
/* Own dtype; fp64; own with an ulp of noise after every operation; own with the products that the
 * precision allows, or that PyTorch computes so by default, or all, in tf32. */
enum run_mode { RUN_OWN, RUN_ORACLE, RUN_NOISY, RUN_ALLOWED, RUN_TORCH, RUN_CLOSE };

struct launcher;

struct program {
	const struct py_module *task;       /* gives get_inputs and get_init_inputs */
	const struct py_module *source;     /* gives the class; the task itself for the reference */
	const char *class_name;
	int eval_mode;
	int hollow;                         /* without contents */
	const struct host_override *ov;     /* of the task, whatever the trial: a smaller model */
	size_t n_ov;
};

/* A program in a host of its own: modules loaded, the model built. Every run of it copies its
 * inputs and gets its weights anew, so runs do not see each other unless the program keeps
 * something, which is what some of them are there to find out. */
struct world {
	struct host *h;
	struct judge *judge;
	const struct program *p;
	struct host_options opts;
	struct launcher *launch;
	struct val task_ns, model;
	enum dtype dt;                      /* of the model's floats */
	enum weight_set set;                /* what was put last; WEIGHT_SETS: none */
	int rebuilt;                        /* so many times: what an earlier host held is gone */
};

int world_open(struct world *w, struct judge *j, const struct program *p, int oracle, struct launcher *launch,
	       struct err *e);
void world_close(struct world *w);
/* Before a run of the trial: limits, noise and dtype; built again if a limit had ended it. */
int world_renew(struct world *w, const struct trial *t, enum run_mode mode, struct err *e);
/* The oracle's weights, once put, as the dtype holds them. */
int world_round_state(struct world *w);
/* get_inputs of the trial under a seed, changed as it says. */
int world_draw(struct world *w, const struct trial *t, uint64_t seed, struct val *inputs, struct err *e);
/* The trial's inputs (or its others): copied from the vault, or drawn. */
int world_inputs(struct world *w, const struct trial *t, int others, struct val *inputs, struct err *e);
/* Do two values hold as many tensors, of the same shapes and dtypes? */
int world_alike(struct world *w, struct val a, struct val b);
/* Overwrites tensors with those of another value of the same form. */
int world_refill(struct world *w, struct val inputs, struct val with, struct err *e);
void world_drop(struct world *w, struct val v);

/* Weights of a model as fp32 (or as they are, if not floating). */
int weights_take(struct task_weights *w, struct host *h, struct val model, struct err *e);
/* The same, with no more than so many along any dimension, which are spread by a number that is not 0. */
int weights_take_part(struct task_weights *w, int64_t most, uint64_t spread, struct host *h, struct val model,
		      struct err *e);
/* New values, from a distribution that hides nothing: no zeros, no ones, positive variances. */
int weights_redraw(struct task_weights *w, uint64_t seed, struct err *e);
/* `from` with new values for those that have one value throughout; the others are shared. */
int weights_move(struct task_weights *to, const struct task_weights *from, uint64_t seed, struct err *e);
size_t weights_bytes(const struct task_weights *w);
/* What a run begins with: a weight that is kept gets drawn values, as if forward had been called
 * before, one of WEIGHTS_STATES kinds (how often, how large they are) by the remainder of `state`;
 * 0 and all others: as it is. *out is the caller's to release. */
enum { WEIGHTS_STATES = 4 };
/* Is it a count? */
int weights_is_count(const struct task_weight *w);
int weights_begin(struct task_weight *out, const struct task_weight *w, uint64_t state, struct err *e);
/* Copies each into the tensor of the model that stands for it: the one of its name and shape (sizes
 * of one aside), else of the end of its name, else the next of its shape, or of its shape turned,
 * else one of its name and number of elements; *how gets the last of these that was needed: "name",
 * "suffix", "order", "transposed", "folded", or "seed": some have no such tensor. Those that are
 * kept get what weights_begin says of the state. */
int weights_put(const struct task_weights *w, uint64_t state, struct host *h, struct val model, char how[16],
		struct err *e);
/* The same for a hollow model of the task's own sizes, where there are but `n` of what the task
 * counts: which of them stands for which is drawn by the seed (sparse_few). */
struct weights_reduced {
	int64_t n;
	uint64_t seed;
	int settled;                  /* of tensors as wide as high it is known which are transposed: */
	uint64_t transposed;              /* weights_note_transposed */
};
int weights_put_reduced(const struct task_weights *w, const struct weights_reduced *reduced, struct host *h,
			struct val model, struct err *e);
/* Weights of a few get the shapes of those of a model at the task's own sizes, which need not have contents. 0, -1. */
int weights_note_own(struct task_weights *w, struct host *h, struct val model);
/* Only what is no parameter: for a model that was given these weights before. */
int weights_restore(const struct task_weights *w, uint64_t state, struct host *h, struct val model, struct err *e);
/* The first parameter, or constant that was moved, that no tensor of the model stands for; NULL: none. */
const struct task_weight *weights_missing(const struct task_weights *w, struct host *h, struct val model);
/* Of a model as it was constructed under the seed of these weights: finds the tensors that hold one
 * of them transposed and are as wide as high, so that only their values tell. *turned has a bit for
 * each of the first 64 that is transposed, by its values or by its shape. */
int weights_note_transposed(const struct task_weights *w, struct host *h, struct val model,
			    uint64_t *transposed, struct err *e);
/* Of a model as its constructor left it: the first parameter that stands for one of these neither
 * by its name nor by a shape that no other has (that it is the next of its shape is a guess), and
 * does not hold its values; *out NULL: none. 0, -1. */
int weights_differ(const struct task_weights *w, struct host *h, struct val model,
		   const struct task_weight **out, struct err *e);
/* Are there any that are kept, in runs of this dtype? */
int weights_are_kept(const struct task_weights *w, enum dtype dt);
/* What a call left in the tensors that stand for weights which are kept: all of them in a row, in
 * fp64. NaN: nothing stands for it, or, where it (or a count) may be left, it is as the state gave
 * it. The storages of those tensors go into *of. */
struct weights_left { uint64_t state; int may, may_count; };
int weights_kept(const struct task_weights *w, struct host *h, struct val model,
		 const struct weights_left *left, struct tensor *flat, struct census_may *of,
		 struct err *e);
int weights_copy(struct task_weights *to, const struct task_weights *from, struct err *e);

/* --- launches ----------------------------------------------------------------------------- */

enum { LAUNCHER_MARKS = 16 };

/* What of a launch belongs to a path: its kernel as it is compiled, and which loops and axes have
 * more than one turn; how many programs there are, too; of the kernel only its name, for sizes of
 * the task may be constants in it. */
enum path_marks { MARKS_CODE, MARKS_GRIDS, MARKS_NAMES };

struct launcher {
	struct tile_engine *engine;
	const struct tile_gpu *gpu;  /* that every launch must fit on */
	uint64_t sealed;               /* storages up to this id outlive the call: no kernel may change them */
	int may_keep;                  /* but this candidate may: its reference does */
	/* kernels may compute with addresses; they need not fit the GPU (both for tests) */
	int may_vary, may_exceed;
	struct tile_run_options run;
	int watch;                     /* run in checked mode what reads memory that it writes */
	int idle;                      /* compile, but do not run */
	/* in place of running: what a kernel writes gets what it reads, of several the copy-th */
	int copy;
	int sources;                   /* of which there were so many, counted up to one more */
	int config, tune;              /* of autotuned kernels, as in host_options */
	int refused, faulted;          /* what ended the last run */
	struct tile_cost cost;
	struct diag diag;
	struct host_path *path;        /* launches are noted here, and not run; NULL: they are run */
	enum path_marks marks;         /* how they are noted */
	/* as they are noted: long kernels take long to print */
	struct { const struct tile_code *code; uint64_t mark; } marked[LAUNCHER_MARKS];
	unsigned next_mark;
	struct estimate *estimate;     /* launches are added to it; NULL: not */
	struct host_path *tests;       /* of launches that are run: whether they test integers is noted here, or NULL */
	struct sampler *sample;        /* but some programs of them are; NULL: none */
	const struct trial *trial;     /* what its launches make is compared with what operators of the reference do, */
	struct intermediate_matches *matches;  /* and noted here; NULL: it is not */
};

/* The judge's engine for one candidate: its code is forgotten at the end, for the cache knows
 * functions by address. */
void launcher_open(struct launcher *c, struct judge *j);
void launcher_close(struct launcher *c);
int launcher_kernel(void *ctx, const struct tile_launch *l, struct diag *d, struct err *e);

#endif
