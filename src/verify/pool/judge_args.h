/* Options of the judge, shared by every command that judges: verify, eval, train, tasks, run,
 * serve. */
#ifndef VERIFY_POOL_JUDGE_ARGS_H
#define VERIFY_POOL_JUDGE_ARGS_H

#include "base/opt.h"
#include "verify/pool/pool.h"

struct judge_args {
	struct judge_options judge;          /* filled by the table; judge_args_options completes it */
	struct judge_pool_options pool;
	const char *without_rule;            /* name of a rule to switch off; NULL: none */
	int64_t memory_mb;                   /* MiB that a run of a candidate may take */
	int64_t task_cache_mb;               /* MiB of the task cache on disk */
	int general;                         /* also run the input sets of the general contract */
	int strict_inputs;                   /* the general contract decides */
	int ext[EXTS];                       /* extensions of the judge (ext.def); 0: switched off */
	int allow_tf32;
	const char *device;                  /* "cpu", "cuda" or "cuda:N": where correct candidates are measured */
	const char *baselines;               /* names of baseline.def, separated by commas; the first decides */
};

extern const struct opt judge_args_table[];

/* Converts the options as given into those of judge and pool. */
int judge_args_options(const struct judge_args *a, struct judge_options *o, struct judge_pool_options *p,
		       struct err *e);

#endif
