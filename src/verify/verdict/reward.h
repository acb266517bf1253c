/* Rewards: pure functions of a verdict. The rank-based reward also depends on the other verdicts of
 * a task. */
#ifndef VERIFY_VERDICT_REWARD_H
#define VERIFY_VERDICT_REWARD_H

#include "verify/verdict/verdict.h"

/* The speed-up at which the reward stops growing. */
double reward_full_speed(enum reward_form f);
/* The reward of a verdict in one form (enum reward_form). */
double reward_of(const struct verdict *v, enum reward_form f);
/* Separate rewards for classes of tokens: plan tokens get the reward for speed, code tokens that
 * for correctness. */
void reward_classes(const struct verdict *v, double *plan, double *code);
/* beta * correct + (1 - beta) * speed for all tokens alike: the control experiment for
 * reward_classes. */
double reward_uniform(const struct verdict *v, double beta);
/* The speed of each candidate as its rank among the correct candidates of one task. Each pair is
 * compared; it is a tie if the speed-ups differ by less than `noise` (relative). out[i] is the
 * share of wins, clipped at the 10th and 90th percentile, in [0, 1]; 0 for an incorrect
 * candidate. */
void reward_rank_speed(const struct verdict *const *v, size_t n, double noise, double *out);

#endif
