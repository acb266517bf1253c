/* Options of the reinforcement stage, shared by train, run and ablate. */
#ifndef RL_RL_ARGS_H
#define RL_RL_ARGS_H

#include "rl/rl.h"
#include "rl/sample_args.h"
#include "verify/judge_args.h"

struct rl_args {
	const char *tasks, *method;
	int64_t keep, steps, epochs, tasks_per_step, inner;
	double threshold, alpha, ratio_clip, beta, share_first, share_last, share_rise, share_wanted, lr;
	int token_classes, normalise, curriculum, rank_speed, alpha_decay;
};
extern const struct opt rl_args_table[];
int rl_args_options(const struct rl_args *a, const struct sample_args *s, const struct judge_args *j, uint64_t seed,
		    struct rl_opts *o, struct err *e);

#endif
