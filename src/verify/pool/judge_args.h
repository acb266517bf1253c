/* Options of the judge, shared by every command that judges: verify, eval, train, tasks, run. */
#ifndef VERIFY_POOL_JUDGE_ARGS_H
#define VERIFY_POOL_JUDGE_ARGS_H

#include "base/opt.h"
#include "verify/pool/pool.h"

struct judge_args {
	struct judge_options judge;          /* as the table fills it; judge_args_options finishes it */
	struct judge_pool_options pool;
	const char *without_rule;
	int64_t memory_mb;
	int64_t task_cache_mb;
	int general;
	int ext[EXTS];
	int allow_tf32;
};

extern const struct opt judge_args_table[];

int judge_args_options(const struct judge_args *a, struct judge_options *o, struct judge_pool_options *p,
		       struct err *e);

#endif
