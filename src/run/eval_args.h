/* Options of evaluation and of the report, shared by eval, report, run and ablate. */
#ifndef RUN_EVAL_ARGS_H
#define RUN_EVAL_ARGS_H

#include "base/opt.h"
#include "eval/eval.h"

struct eval_args {
	const char *tasks;
	struct opt_list k;
	int64_t limit;
	int per_op, both_tracks;
};
extern const struct opt eval_args_table[];
/* `o->rollout` is set already: k is checked against its samples. */
int eval_args_options(const struct eval_args *a, struct eval_opts *o, struct err *e);

struct report_args {
	const char *title;
	int64_t candidates;
};
extern const struct opt report_args_table[];

#endif
