/* Options of `plan` (section `machine` of a configuration), and the job that they and a configuration
 * describe. */
#ifndef RUN_PLAN_ARGS_H
#define RUN_PLAN_ARGS_H

#include "base/opt.h"
#include "run/pipeline.h"
#include "run/plan.h"

/* 0 means unknown for all amounts: plan_amounts finds a value. rows and eval_tasks are used only if the files
 * of the configuration are missing here. */
struct plan_args {
	const char *model, *gpu, *run;
	struct opt_list set, stages;
	int64_t count, rows, eval_tasks, judge_cores;
	double price, spot_price, row_tokens, prompt_tokens, answer_tokens, judge_ms, train_share, prefill_share,
	       read_share;
	int json, dry_run;
};
extern const struct opt plan_opts[];

/* Describes the job: the model, and the amount of work by plan_amounts. */
int plan_job_of(struct plan_job *j, const struct plan_args *a, const struct pipeline *p, struct err *e);
/* Finds the amount of work: rows, tasks and their lengths, from the options of the stages. */
int plan_amounts(struct plan_job *j, const struct plan_args *a, const struct pipeline *p, struct err *e);

#endif
