/* Rewards: pure functions of a verdict (and, for rank-based speed, of a task's other
 * verdicts). Partial credit inside a stage stays below the next row of the funnel's table. */
#ifndef VERIFY_VERDICT_REWARD_H
#define VERIFY_VERDICT_REWARD_H

#include "verify/verdict/verdict.h"

/* The speedup at which a form stops rising. */
double reward_full_speed(enum reward_form f);
double reward_of(const struct verdict *v, enum reward_form f);
/* The hierarchical decomposition: plan tokens get speed, code tokens get correctness. */
void reward_classes(const struct verdict *v, double *plan, double *code);
/* beta * correct + (1 - beta) * speed on all tokens: the control of the above. */
double reward_uniform(const struct verdict *v, double beta);
/* Speed by rank among the correct candidates of one task instead of the ratio: each pair is
 * compared (a tie if the speedups differ by less than `noise`, relative), wins are averaged
 * and winsorised at the 10th and 90th percentile. out[i] in [0, 1], 0 for incorrect ones. */
void reward_rank_speed(const struct verdict *const *v, size_t n, double noise, double *out);

#endif
