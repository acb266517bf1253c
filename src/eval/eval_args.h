/* Options of evaluation, shared by eval, run and ablate. */
#ifndef EVAL_EVAL_ARGS_H
#define EVAL_EVAL_ARGS_H

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

#endif
