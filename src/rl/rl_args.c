/* Options of the reinforcement stage: see rl_args.h. */
#include "rl/rl_args.h"

const struct opt rl_args_table[] = {
	OPT_STR(struct rl_args, tasks, "tasks", "FILE_OR_FOLDER", NULL, "tasks to sample for"),
	OPT_CHOICE(struct rl_args, method, "method", "best-of-n|reinforce|rwsft|grpo", "best-of-n", "how rewards become gradients"),
	OPT_INT(struct rl_args, keep, "keep", 1, 1024, 3, "best-of-n: samples of a task that are imitated"),
	OPT_REAL(struct rl_args, threshold, "threshold", 0, 10, 0.3, "best-of-n, rwsft: only rewards above it"),
	OPT_INT(struct rl_args, steps, "rl-steps", 0, 1000000000, 0, "optimiser steps; 0: as the epochs give"),
	OPT_INT(struct rl_args, epochs, "rl-epochs", 1, 100000, 2, "times through the tasks"),
	OPT_INT(struct rl_args, tasks_per_step, "tasks-per-step", 1, 65536, 16, "tasks sampled for one step"),
	OPT_INT(struct rl_args, inner, "inner", 1, 100, 1, "passes over a step's samples"),
	OPT_REAL(struct rl_args, lr, "rl-lr", 0, 10, 5e-6, "learning rate of the stage"),
	OPT_REAL(struct rl_args, ratio_clip, "ratio-clip", 0, 10, 0.2, "reinforce, grpo: how far the probability ratio may move"),
	OPT_REAL(struct rl_args, alpha, "alpha", 0, 100, 0.1, "grpo: weight of plan tokens"),
	OPT_FLAG(struct rl_args, alpha_decay, "alpha-decay", 0, "grpo: alpha falls by a cosine to 0 at the last step"),
	OPT_FLAG(struct rl_args, token_classes, "token-classes", 1, "grpo: plan tokens get speed, code tokens correctness"),
	OPT_FLAG(struct rl_args, normalise, "normalise", 0, "grpo: divide by the group's standard deviation"),
	OPT_REAL(struct rl_args, beta, "beta", -1, 1, -1, "uniform reward: beta correct + (1 - beta) speed; below 0: --reward"),
	OPT_FLAG(struct rl_args, rank_speed, "rank-speed", 0, "speed by rank within the task instead of the ratio"),
	OPT_FLAG(struct rl_args, curriculum, "curriculum", 1, "begin with level 1, more of level 2 when that goes well"),
	OPT_REAL(struct rl_args, share_first, "share-first", 0, 1, 0.1, "curriculum: share of level 2 at first"),
	OPT_REAL(struct rl_args, share_last, "share-last", 0, 1, 0.5, "curriculum: largest share of level 2"),
	OPT_REAL(struct rl_args, share_rise, "share-rise", 0, 1, 0.05, "curriculum: rise of the share"),
	OPT_REAL(struct rl_args, share_wanted, "share-wanted", 0, 1, 0.4, "curriculum: level-1 correctness that earns a rise"),
	OPT_END
};

int rl_args_options(const struct rl_args *a, const struct sample_args *s, const struct judge_args *j, uint64_t seed,
		    struct rl_opts *o, struct err *e)
{
	*o = (struct rl_opts){ .tasks = a->tasks, .steps = a->steps, .epochs = a->epochs, .tasks_per_step = (int)a->tasks_per_step,
			       .inner = (int)a->inner, .clip = a->ratio_clip, .beta = a->beta, .rank_speed = a->rank_speed,
			       .alpha_decay = a->alpha_decay,
			       .curriculum = a->curriculum, .start = CURRICULUM_DEFAULTS, .slots = (int)s->slots, .seed = seed };
	o->advantage = (struct advantage_opts){ .method = rl_method_by_name(str_of(a->method)), .keep = (int)a->keep,
						.threshold = a->threshold, .alpha = a->alpha, .classes = a->token_classes,
						.normalise = a->normalise };
	o->start.share = a->share_first;
	o->start.last = a->share_last;
	o->start.rise = a->share_rise;
	o->start.wanted = a->share_wanted;
	if (!a->tasks)
		return err_set(e, ERR_USAGE, "say which tasks to learn from: --tasks FILE_OR_FOLDER");
	if (judge_args_options(j, &o->judge, &o->pool, e))
		return -1;
	sample_args_options(s, o->judge.track == TRACK_STRICT, seed, &o->rollout);
	return 0;
}
