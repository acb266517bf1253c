/* From rewards to what each token of each sample is pushed by. Pure functions over one group:
 * the samples of one task at one step.
 *
 *   best-of-n   the K samples with the highest rewards above a threshold get 1, the rest 0: they
 *               are imitated.
 *   rwsft       weight in proportion to the reward above the threshold, mean 1 over those kept.
 *   reinforce   reward minus the mean of the others' (leave-one-out baseline).
 *   grpo        per token class: plan tokens get alpha (R_speed - mean), code tokens
 *               R_correct - mean; without classes one reward for all tokens.
 *
 * A group whose rewards are all equal carries no signal in reinforce and grpo. */
#ifndef RL_ADVANTAGE_H
#define RL_ADVANTAGE_H

#include <stddef.h>

#include "base/str.h"

#define RL_METHODS(M) \
	M(best_of_n, "best-of-n") \
	M(reinforce, "reinforce") \
	M(rwsft, "rwsft") \
	M(grpo, "grpo")

enum rl_method {
#define M(id, name) RL_##id,
	RL_METHODS(M)
#undef M
	RL_METHOD_COUNT
};

const char *rl_method_name(enum rl_method m);

struct rl_scored {
	double reward;            /* by the chosen form */
	double speed;             /* speedup of a correct sample: orders equal rewards in best-of-n */
	double plan, code;        /* R_speed and R_correct: the two classes */
	int absent;               /* the judge's engine does not support it: it has no reward */
};

struct advantage_opts {
	enum rl_method method;
	int keep;                 /* best-of-n: K */
	double threshold;         /* best-of-n, rwsft: only rewards above it */
	double alpha;             /* grpo: weight of the plan */
	int classes;              /* grpo: two classes, else `reward` on all tokens */
	int normalise;            /* grpo: divide by the group's standard deviation */
};

struct advantage { double plan, code; };

/* Fills out[n]; returns how many of them are not zero. Absent samples leave the group: the others are
 * compared among themselves, and the advantage of an absent one is 0. Moves the scores in s[]. */
size_t advantages(const struct advantage_opts *o, struct rl_scored *s, size_t n, struct advantage *out);

int advantage_none(const struct advantage *a);

/* Equal samples need computing only once, since the gradient is linear in the advantage: the first
 * of them (first[i] for sample i) gets the sum and the rest nothing. A model that has learnt
 * something repeats itself, so this halves the work of a step. */
void advantage_fold(struct advantage *a, const size_t *first, size_t n);

/* --- curriculum --------------------------------------------------------------------------- */

/* The share of level-2 tasks rises whenever level 1 goes well. */
struct curriculum {
	double share, last, rise, wanted;    /* now, at most, per rise, level-1 correctness that earns one */
	int window;                          /* level-1 samples counted so far */
	int seen, correct;
};

#define CURRICULUM_DEFAULTS { .share = 0.1, .last = 0.5, .rise = 0.05, .wanted = 0.4, .window = 64 }

void curriculum_note(struct curriculum *c, int level, int correct);

#endif
