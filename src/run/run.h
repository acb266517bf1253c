/* The stages of a run as commands start them: options in, one call of the library, one line of
 * result out. The commands train, eval, report, run and ablate use these functions. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "par/nccl.h"
#include "run/stage_args.h"
#include "store/store.h"

/* An open run folder with its store, lock and device. One process may have it, or several that work together
 * (par/par.h). The first of them has the store and writes; the others only read. */
struct run_env {
	const char *out;
	uint64_t seed;
	struct par *par;               /* borrowed; NULL: one process */
	struct store *store;           /* NULL in all processes but the first */
	struct dev *dev;
	struct nccl *nccl;             /* connects the GPUs of several processes; NULL: none */
	int lock;                      /* descriptor; closing it unlocks */
};
#define RUN_ENV_INIT { .lock = -1 }

int run_open(struct run_env *v, struct par *par, const char *out, uint64_t seed, const struct policy_opts *p,
	     struct err *e);
void run_close(struct run_env *v);

/* A run folder belongs to the options it was started with. Writes them to out/NAME, or compares them with that
 * file; options of the machine (threads, workers) may differ. `kept` gets the file's text. */
int run_keep_config(const char *out, const char *name, struct str text, struct buf *kept, struct err *e);

/* Each stage sets *done to 0 if it was stopped on request; the same call continues it. */
int run_sft_check(const struct train_args *a, struct err *e);      /* checks that the options name training data */
int run_sft(const struct run_env *v, const struct train_args *a, int *done, struct err *e);

struct run_rl_args {
	const struct policy_opts *policy;
	const struct sft_opts *sft;    /* its max_length, save_every and save_keep are used by rl as well */
	const struct rl_opts *rl;
	const struct rollout_opts *sample;
	const struct judge_args *judge;
	const struct periodic_eval_args *look;
	const char *sft_run;           /* run folder whose sft result is the start; NULL: the model is */
};
/* Reports options of stage rl that were chosen but have no effect together with the others. */
int run_rl_check(const struct train_args *a, const struct opt_parsed *p, struct err *e);
int run_rl(const struct run_env *v, const struct run_rl_args *a, int *done, struct err *e);

/* Returns 1, and logs it, if the final checkpoint of stage "sft" or "rl" is complete; -1 on failure. The first
 * process decides for all, because the others may see the file system with a delay. */
int run_is_trained(const struct run_env *v, const char *stage, struct err *e);

/* Returns 1 if the run has this final checkpoint, complete. `path` gets its path in any case. */
int run_final(const char *out, const char *name, struct buf *path);
/* Opens the device of one of several processes. "cuda" means the GPU with the process's number on its machine. */
struct dev *run_device(struct par *par, const char *name, int64_t threads, struct err *e);

/* --- evaluation ---------------------------------------------------------------------------------- */

struct eval_bench;

struct eval_bench_args {
	const struct eval_args *eval;
	const struct rollout_opts *sample;
	const struct judge_args *judge;
	enum model_store store;        /* dtype of the weights in memory */
	uint64_t seed;
	struct par *par;               /* borrowed; NULL: one process */
};

/* Opens tasks, judge and options for several evaluations. `store` (may be NULL) keeps verdicts, and the samples
 * of an interrupted evaluation. */
struct eval_bench *eval_bench_open(const struct eval_bench_args *a, struct dev *dev, struct store *store,
				   struct err *e);
void eval_bench_close(struct eval_bench *b);
const struct eval_opts *eval_bench_opts(const struct eval_bench *b);

/* Evaluates a model, or an adapter on it (NULL: none), under the name `name`. */
int eval_bench_run(struct eval_bench *b, const char *name, const char *model, const char *adapter,
		   struct eval *ev, struct err *e);
/* Loads an evaluation from the store. Returns 1 and *ev without its samples, 0 if it does not
 * exist, -1 on failure. */
int eval_bench_load(struct eval_bench *b, const char *name, struct eval *ev, struct err *e);
/* Writes the finished evaluation as JSON. */
void eval_bench_json(const struct eval_bench *b, const struct eval *ev, struct buf *out);
/* Writes the evaluation to the run folder: outputs/eval_NAME.json, and a row with its samples in the store. */
int eval_bench_keep(const struct eval_bench *b, const struct eval *ev, const char *out, struct store *s,
		    const char *name, struct err *e);

/* --- report ------------------------------------------------------------------------------------------ */

/* Writes the page about runs to `file` (NULL: report.html of the first run), and a folder for Weights & Biases of
 * the first run if the options ask for it. `path` gets the page's path. */
int run_report(const struct report_run *runs, size_t n, const struct report_opts *a, const char *file,
	       struct buf *path, struct err *e);

#endif
