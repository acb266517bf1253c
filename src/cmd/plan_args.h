/* Options of plan: the `machine` section of a configuration. */
#ifndef CMD_PLAN_ARGS_H
#define CMD_PLAN_ARGS_H

#include "base/opt.h"

struct plan_args {
	const char *model, *gpu;
	int64_t count, rows, rl_tasks, eval_tasks, judge_cores;
	double price, row_tokens, prompt_tokens, answer_tokens, judge_ms, train_share, prefill_share, read_share;
	int json;
};
extern const struct opt plan_opts[];

#endif
