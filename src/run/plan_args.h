/* Options of `plan` (section `machine` of a configuration), and the parts of other sections that it
 * reads. */
#ifndef RUN_PLAN_ARGS_H
#define RUN_PLAN_ARGS_H

#include "base/opt.h"
#include "data/prepare_args.h"
#include "run/plan.h"
#include "run/stage_args.h"

/* 0 means unknown for all amounts: plan_amounts finds a value. */
struct plan_args {
	const char *model, *gpu, *run;
	int64_t count, rows, rl_tasks, eval_tasks, judge_cores;
	double price, row_tokens, prompt_tokens, answer_tokens, judge_ms, train_share, prefill_share, read_share;
	int json;
};
extern const struct opt plan_opts[];

/* The configuration as the stages will read it. */
struct plan_stages {
	struct prepare_args prepare;
	struct train_args sft, rl;
	struct eval_cmd_args eval;
	struct opt_parsed parsed[4];
};

/* Finds the amount of work: rows, tasks and their lengths. Values of `a` come first, then files, then a few rows
 * of the generator, then defaults. */
int plan_amounts(struct plan_job *j, const struct plan_args *a, const struct plan_stages *s, struct err *e);

#endif
