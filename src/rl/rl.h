/* Reinforcement learning against the judge: sample, judge, turn rewards into advantages, step.
 * In a run folder; continues where it stopped, with the same bits. */
#ifndef RL_RL_H
#define RL_RL_H

#include "rl/advantage.h"
#include "rl/rollout.h"
#include "train/policy.h"

struct rl_opts {
	const char *tasks, *out;
	struct opt_list levels;         /* of the tasks that are learned from; empty: all */
	int64_t limit;                  /* the first of them; 0: all */
	struct policy_opts policy;
	struct rollout_opts rollout;
	struct advantage_opts advantage;
	struct judge_options judge;
	struct judge_pool_options pool;
	int64_t steps, epochs;          /* steps 0: epochs * tasks / tasks_per_step */
	int tasks_per_step;
	int inner;                      /* passes over each step's samples */
	double clip;                    /* of the probability ratio, grpo */
	double beta;                    /* weight of correctness in a uniform reward; < 0: `judge.reward` */
	int rank_speed;                 /* speed by rank within the task */
	int speed_gate;                 /* speed counts in a group only if at least half of its samples are correct */
	int refill;                     /* groups without signal are replaced by groups of other tasks */
	int alpha_decay;                /* alpha falls by a cosine to 0 at the last step */
	int curriculum;
	struct curriculum start;
	int max_length;
	double lr;                      /* of this stage */
	int64_t save_every, save_keep;
	int kl_every;                   /* steps between measurements of the divergence from the start; 0: none */
	struct train_look look;
	uint64_t seed;
};
extern const struct opt rl_opt_table[];

struct rl_result {
	int64_t steps;
	double reward, correct;         /* means over the last tenth of the steps */
	int64_t skipped_groups, groups;
	int64_t too_long;               /* samples with a say that were longer than a sequence may be */
	double mismatch;                /* largest |log p trained - log p sampled| seen before an update */
	int done;
};

/* Trains; the finished policy is out/checkpoints/rl_final. With several processes
 * (policy.trainer.par) only the first has a store and writes; the others pass NULL. */
int rl_run(struct dev *dev, struct store *store, const struct rl_opts *o, struct rl_result *r, struct err *e);

#endif
