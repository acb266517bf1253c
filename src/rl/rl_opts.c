/* Options of sampling and of the reinforcement stage, into the structs that they are about. */
#include "rl/rl.h"

static const struct rollout_opts no_rollout = { .n = 0 };

const struct opt rollout_opt_table[] = {
	OPT_START(struct rollout_opts, &no_rollout),
	OPT_INT(struct rollout_opts, n, "n", 1, 1024, 10, "samples a task"),
	OPT_INT(struct rollout_opts, turns, "turns", 1, 16, 1,
		"answers to a task: the model sees the judge's feedback and tries again until it is correct"),
	OPT_REAL(struct rollout_opts, sample.temperature, "temperature", 0, 10, 0.8, "of sampling; 0 is greedy"),
	OPT_INT(struct rollout_opts, sample.top_k, "top-k", 0, 1 << 20, 0,
		"sample from the k most likely tokens; 0: all"),
	OPT_REAL(struct rollout_opts, sample.top_p, "top-p", 0, 1, 1,
		 "sample from the smallest set of tokens with this probability"),
	OPT_INT(struct rollout_opts, max_new_tokens, "max-new-tokens", 1, 1 << 20, 2048, "longest answer"),
	OPT_INT(struct rollout_opts, slots, "slots", 0, 65536, 0, "samples at a time; 0: chosen"),
	OPT_FLAG(struct rollout_opts, kv8, "kv8", 0,
		 "on a GPU, keep keys and values of sampling in 8 bits: half the memory"),
	OPT_ENUM(struct rollout_opts, style, "prompt-style", PROMPT_STYLES_OR_AUTO, "auto", PROMPT_STYLE_HELP),
	OPT_END
};

static const char methods[] =
#define M(id, name) "|" name
	RL_METHODS(M);
#undef M
static const struct rl_opts unset = { .start = CURRICULUM_DEFAULTS };

const struct opt rl_opt_table[] = {
	OPT_START(struct rl_opts, &unset),
	OPT_STR(struct rl_opts, tasks, "tasks", "FILE_OR_FOLDER", NULL, "tasks to sample for"),
	OPT_ENUM(struct rl_opts, advantage.method, "method", methods + 1, "best-of-n", "how rewards become gradients"),
	OPT_INT(struct rl_opts, advantage.keep, "keep", 1, 1024, 3, "best-of-n: samples of a task that are imitated"),
	OPT_REAL(struct rl_opts, advantage.threshold, "threshold", 0, 10, 0.3,
		 "best-of-n, rwsft: only rewards above it"),
	OPT_INT(struct rl_opts, steps, "rl-steps", 0, 1000000000, 0, "optimiser steps; 0: as the epochs give"),
	OPT_INT(struct rl_opts, epochs, "rl-epochs", 1, 100000, 2, "times through the tasks"),
	OPT_INT(struct rl_opts, tasks_per_step, "tasks-per-step", 1, 65536, 16, "tasks sampled for one step"),
	OPT_INT(struct rl_opts, inner, "inner", 1, 100, 1, "passes over a step's samples"),
	OPT_REAL(struct rl_opts, lr, "rl-lr", 0, 10, 5e-6, "learning rate of the stage"),
	OPT_REAL(struct rl_opts, clip, "ratio-clip", 0, 10, 0.2,
		 "reinforce, grpo: how far the probability ratio may move"),
	OPT_REAL(struct rl_opts, advantage.alpha, "alpha", 0, 100, 0.1, "grpo: weight of plan tokens"),
	OPT_FLAG(struct rl_opts, alpha_decay, "alpha-decay", 0, "grpo: alpha falls by a cosine to 0 at the last step"),
	OPT_FLAG(struct rl_opts, advantage.classes, "token-classes", 1,
		 "grpo: plan tokens get speed, code tokens correctness"),
	OPT_FLAG(struct rl_opts, advantage.normalise, "normalise", 0, "grpo: divide by the group's standard deviation"),
	OPT_REAL(struct rl_opts, beta, "beta", -1, 1, -1,
		 "uniform reward: beta correct + (1 - beta) speed; below 0: --reward"),
	OPT_FLAG(struct rl_opts, rank_speed, "rank-speed", 0, "speed by rank within the task instead of the ratio"),
	OPT_INT(struct rl_opts, kl_every, "kl-every", 0, 1000000, 10,
		"steps between measurements of how far the policy is from its start; 0: none"),
	OPT_ENUM(struct rl_opts, rollout.texts, "keep-texts", ROLLOUT_TEXTS, "first",
		 "samples whose answer, code and verdict run.db keeps: all, the first of a task, correct "
		 "ones; numbers are kept of all"),
	OPT_FLAG(struct rl_opts, curriculum, "curriculum", 1,
		 "begin with level 1, more of level 2 when that goes well"),
	OPT_REAL(struct rl_opts, start.share, "share-first", 0, 1, 0.1, "curriculum: share of level 2 at first"),
	OPT_REAL(struct rl_opts, start.last, "share-last", 0, 1, 0.5, "curriculum: largest share of level 2"),
	OPT_REAL(struct rl_opts, start.rise, "share-rise", 0, 1, 0.05, "curriculum: rise of the share"),
	OPT_REAL(struct rl_opts, start.wanted, "share-wanted", 0, 1, 0.4,
		 "curriculum: level-1 correctness that earns a rise"),
	OPT_END
};
