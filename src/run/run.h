/* The stages of a run as commands start them: options in, one call of the library, one line of
 * result out. train, eval, report, run and ablate all go through here. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "par/nccl.h"
#include "run/stage_args.h"
#include "store/store.h"

/* An open run folder: its store, its lock, the device. One process at a time may have it, or several that
 * work together (par/par.h); then the first has the store and writes, the others read. */
struct run_env {
	const char *out;
	uint64_t seed;
	struct par *par;               /* borrowed; NULL: one process */
	struct store *store;           /* NULL in all but the first */
	struct dev *dev;
	struct nccl *nccl;             /* of GPUs of several processes; NULL: none */
	int lock;                      /* descriptor; closing it unlocks */
};
#define RUN_ENV_INIT { .lock = -1 }

int run_open(struct run_env *v, struct par *par, const char *out, uint64_t seed, const struct policy_opts *p,
	     struct err *e);
void run_close(struct run_env *v);

/* A run folder belongs to the options it was begun with. Writes them to out/NAME, or compares them with what is
 * there; options of the machine (threads, workers) may differ. `kept` gets what is there then. */
int run_keep_config(const char *out, const char *name, struct str text, struct buf *kept, struct err *e);

/* Each sets *done to 0 if it was stopped on request: the same call continues. */
int run_sft_check(const struct train_args *a, struct err *e);      /* whether the options say what to train on */
int run_sft(const struct run_env *v, const struct train_args *a, int *done, struct err *e);

struct run_rl_args {
	const struct policy_opts *policy;
	const struct sft_opts *sft;    /* max_length, save_every and save_keep hold for both stages */
	const struct rl_opts *rl;
	const struct rollout_opts *sample;
	const struct judge_args *judge;
	const struct periodic_eval_args *look;
	const char *sft_run;           /* start from what stage sft of this run folder made; NULL: from the model */
};
int run_rl(const struct run_env *v, const struct run_rl_args *a, int *done, struct err *e);

/* A finished checkpoint of the run, complete: 1 and its path in `path`. */
int run_final(const char *out, const char *name, struct buf *path);
/* The device of one of several processes: "cuda" means the GPU of its number on its machine. */
struct dev *run_device(struct par *par, const char *name, int64_t threads, struct err *e);

/* --- evaluation ---------------------------------------------------------------------------------- */

struct eval_bench;

struct eval_bench_args {
	const struct eval_args *eval;
	const struct rollout_opts *sample;
	const struct judge_args *judge;
	enum model_store store;        /* how weights are kept */
	uint64_t seed;
	struct par *par;               /* borrowed; NULL: one process */
};

/* Tasks, judge and options of several evaluations. `store` (may be NULL) keeps verdicts, and the
 * samples of an evaluation that was stopped. */
struct eval_bench *eval_bench_open(const struct eval_bench_args *a, struct dev *dev, struct store *store,
				   struct err *e);
void eval_bench_close(struct eval_bench *b);
const struct eval_opts *eval_bench_opts(const struct eval_bench *b);

/* Evaluates a model, or an adapter on it (NULL: none), under the name `name`. */
int eval_bench_run(struct eval_bench *b, const char *name, const char *model, const char *adapter,
		   struct eval *ev, struct err *e);
/* An evaluation that the store holds already: 1 and *ev without its samples, 0: none. */
int eval_bench_load(struct eval_bench *b, const char *name, struct eval *ev, struct err *e);
/* The finished evaluation as JSON. */
void eval_bench_json(const struct eval_bench *b, const struct eval *ev, struct buf *out);
/* Into the run folder: outputs/eval_NAME.json, the store's row and its samples. */
int eval_bench_keep(const struct eval_bench *b, const struct eval *ev, const char *out, struct store *s,
		    const char *name, struct err *e);

/* --- report ------------------------------------------------------------------------------------------ */

/* Writes the page about runs to `file` (NULL: report.html of the first); its path goes to `path`. */
int run_report(const struct report_run *runs, size_t n, const struct report_opts *a, const char *file,
	       struct buf *path, struct err *e);

#endif
