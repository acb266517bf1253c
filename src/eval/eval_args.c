/* Options of evaluation: see eval_args.h. */
#include "eval/eval_args.h"

#include "base/mem.h"

const struct opt eval_args_table[] = {
	OPT_STR(struct eval_args, tasks, "tasks", "FILE_OR_FOLDER", NULL,
		"evaluation tasks: JSON lines, a .py file, or a folder of either"),
	OPT_LIST(struct eval_args, k, "k", "1,10", 1,
		 "values of k for pass@k (default: 1 and --n)"),
	OPT_INT(struct eval_args, limit, "limit", 0, 1 << 30, 0,
		"use only the first N tasks; 0: all"),
	OPT_FLAG(struct eval_args, per_op, "per-op", 0, "print one row per operator"),
	OPT_FLAG(struct eval_args, both_tracks, "both-tracks", 1,
		 "also judge each answer by the rules of the other track and report it separately"),
	OPT_END
};

/* Turns the command line's options into eval_opts: limits the turns to EVAL_TURNS, sets fast_1, fast_1.2
 * and fast_2, and checks each k. Without --k, pass@1 and pass@N are reported for N samples. */
int eval_args_options(const struct eval_args *a, struct eval_opts *o, struct err *e)
{
	o->n_k = 0;
	o->rollout.turns = MAX(1, MIN(o->rollout.turns, EVAL_TURNS));
	o->n_fast = 3;
	o->fast[0] = 1.0;
	o->fast[1] = 1.2;
	o->fast[2] = 2.0;
	for (size_t i = 0; i < a->k.n && o->n_k < EVAL_KS; i++) {
		int64_t v;

		if (str_to_i64(str_of(a->k.v[i]), &v) || v < 1 || v > o->rollout.n)
			return err_set(e, ERR_USAGE, "k takes numbers from 1 to %d (samples per task), not '%s'",
				       o->rollout.n, a->k.v[i]);
		o->k[o->n_k++] = (int)v;
	}
	if (!o->n_k) {
		o->k[o->n_k++] = 1;
		if (o->rollout.n > 1)
			o->k[o->n_k++] = o->rollout.n;
	}
	return 0;
}
