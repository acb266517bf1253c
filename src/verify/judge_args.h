/* Options of the judge, shared by every command that judges: verify, eval, train, tasks, run. */
#ifndef VERIFY_JUDGE_ARGS_H
#define VERIFY_JUDGE_ARGS_H

#include "base/opt.h"
#include "verify/pool.h"

struct judge_args {
	const char *track, *contract, *precision, *stage_limit, *gpu, *reward, *without_rule;
	int64_t workers, seed, elements, memory_mb;
	double timeout;
	int ext[EXTS];
	int allow_tf32, no_sandbox;
};

extern const struct opt judge_args_table[];

int judge_args_options(const struct judge_args *a, struct judge_options *o, struct judge_pool_options *p, struct err *e);

#endif
