/* Options of sampling and of the reinforcement stage, into the structs that they are about. */
#include "rl/rl.h"

static const struct rollout_opts no_rollout = { .n = 0 };

const struct opt rollout_opt_table[] = {
	OPT_START(struct rollout_opts, &no_rollout),
	OPT_INT(struct rollout_opts, n, "n", 1, 1024, 10, "samples per task"),
	OPT_INT(struct rollout_opts, turns, "turns", 1, 16, 1,
		"attempts per sample: after a failure the model reads the feedback and tries "
		"again"),
	OPT_REAL(struct rollout_opts, sample.temperature, "temperature", 0, 10, 0.8,
		 "sampling temperature; 0: greedy"),
	OPT_INT(struct rollout_opts, sample.top_k, "top-k", 0, 1 << 20, 0,
		"sample from the k most likely tokens; 0: all"),
	OPT_REAL(struct rollout_opts, sample.top_p, "top-p", 0, 1, 1,
		 "sample from the smallest set of tokens with this total probability; 1: all"),
	OPT_INT(struct rollout_opts, max_new_tokens, "max-new-tokens", 1, 1 << 20, 2048,
		"maximum tokens per answer"),
	OPT_INT(struct rollout_opts, slots, "slots", 0, 65536, 0,
		"samples decoded at the same time; 0: 32"),
	OPT_FLAG(struct rollout_opts, kv8, "kv8", 0,
		 "store the KV cache in 8 bits on a GPU: half the memory"),
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
	OPT_STR(struct rl_opts, tasks, "tasks", "FILE_OR_FOLDER", NULL,
		"training tasks: JSON lines, a .py file, or a folder of either"),
	OPT_INT(struct rl_opts, limit, "rl-limit", 0, 1e9, 0,
		"train only on the first N of these tasks; 0: all"),
	OPT_LIST(struct rl_opts, levels, "rl-level", "1,2,3", 1,
		 "train only on tasks of these levels (default: all)"),
	OPT_ENUM(struct rl_opts, advantage.method, "method", methods + 1, "best-of-n",
		 "reinforcement learning method"),
	OPT_INT(struct rl_opts, advantage.keep, "keep", 1, 1024, 3,
		"best-of-n: samples per task to train on"),
	OPT_REAL(struct rl_opts, advantage.threshold, "threshold", 0, 10, 0.3,
		 "best-of-n, rwsft: train only on samples with a reward above this"),
	OPT_INT(struct rl_opts, steps, "rl-steps", 0, 1000000000, 0,
		"optimiser steps; 0: derived from --rl-epochs"),
	OPT_INT(struct rl_opts, epochs, "rl-epochs", 1, 100000, 2, "passes over the tasks"),
	OPT_INT(struct rl_opts, tasks_per_step, "tasks-per-step", 1, 65536, 16,
		"tasks sampled for each optimiser step"),
	OPT_INT(struct rl_opts, inner, "inner", 1, 100, 1,
		"training passes over the samples of a step"),
	OPT_REAL(struct rl_opts, lr, "rl-lr", 0, 10, 5e-6,
		 "learning rate of this stage; with --stage rl, --lr, --steps and --epochs mean this stage too"),
	OPT_REAL(struct rl_opts, clip, "ratio-clip", 0, 10, 0.2,
		 "reinforce, grpo: clip the probability ratio to 1 +- this"),
	OPT_REAL(struct rl_opts, advantage.alpha, "alpha", 0, 100, 0.1,
		 "grpo: weight of plan tokens"),
	OPT_FLAG(struct rl_opts, alpha_decay, "alpha-decay", 0,
		 "grpo: decay --alpha to 0 by a cosine over the run"),
	OPT_FLAG(struct rl_opts, advantage.classes, "token-classes", 1,
		 "grpo: plan tokens get the speed reward, code tokens the correctness reward"),
	OPT_FLAG(struct rl_opts, advantage.normalise, "normalise", 0,
		 "grpo: divide advantages by the standard deviation of the group"),
	OPT_REAL(struct rl_opts, beta, "beta", -1, 1, -1,
		 "one reward for all tokens: beta * correct + (1 - beta) * speed; below 0: use "
		 "--reward"),
	OPT_FLAG(struct rl_opts, rank_speed, "rank-speed", 0,
		 "use the rank of the speed within a task instead of the speed-up"),
	OPT_FLAG(struct rl_opts, speed_gate, "speed-gate", 0,
		 "count speed only for tasks with at least half of their samples correct"),
	OPT_FLAG(struct rl_opts, refill, "refill", 0,
		 "replace groups without signal by samples of other tasks before the step, up to "
		 "three times"),
	OPT_INT(struct rl_opts, kl_every, "kl-every", 0, 1000000, 10,
		"steps between measurements of the KL divergence from the initial policy; 0: "
		"never"),
	OPT_ENUM(struct rl_opts, rollout.texts, "keep-texts", ROLLOUT_TEXTS, "first",
		 "which samples keep their text, code and verdict in run.db; numbers are kept "
		 "for all"),
	OPT_FLAG(struct rl_opts, curriculum, "curriculum", 1,
		 "start with level 1 and add level 2 as correctness rises"),
	OPT_REAL(struct rl_opts, start.share, "share-first", 0, 1, 0.1,
		 "curriculum: initial share of level-2 tasks"),
	OPT_REAL(struct rl_opts, start.last, "share-last", 0, 1, 0.5,
		 "curriculum: maximum share of level-2 tasks"),
	OPT_REAL(struct rl_opts, start.rise, "share-rise", 0, 1, 0.05,
		 "curriculum: how much the share rises at a time"),
	OPT_REAL(struct rl_opts, start.wanted, "share-wanted", 0, 1, 0.4,
		 "curriculum: level-1 correctness that triggers a rise"),
	OPT_END
};
