/* Rewards: see reward.h.
 *
 * Invariant: partial credit inside a stage stays below the credit for passing that stage. So a
 * candidate that gets further never has less reward. */
#include "verify/verdict/reward.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Did the candidate pass the stage? */
static int passed(const struct verdict *v, enum judge_stage s)
{
	return v->stages[s].ran && v->stages[s].passed;
}

/* x within [lo, hi]; lo for a NaN. */
static double clip(double x, double lo, double hi)
{
	return !(x > lo) ? lo : x > hi ? hi : x;
}

/* The speed-up that counts. A verdict that rests on samples only earns nothing for speed: a kernel that leaves work
 * out is fast. */
static double earned_speed(const struct verdict *v)
{
	return verdict_evidence(v) == EVIDENCE_SAMPLED ? 0.0 : v->speedup;
}

/* Did the host do the work of the kernels, or another kernel, or is their time impossible? Then passed stages are no
 * merit of the kernels. */
static int earns_nothing(enum reason r)
{
	return r == REASON_too_fast || r == REASON_stray_kernel || r == REASON_fig_leaf || r == REASON_decoy_kernel ||
	       r == REASON_torch_compute;
}

/* The reward of the funnel: row[] is the credit for having passed a stage. Partial credit moves
 * from one row towards the next and never reaches it. Example: passed tiny (0.5) and half of the
 * trials of full (0.7) give 0.6. */
static double funnel_reward(const struct verdict *v)
{
	static const double row[] = { [STAGE_ast] = 0.0, [STAGE_compile] = 0.3, [STAGE_tiny] = 0.5,
				      [STAGE_full] = 0.7 };
	double got = 0.0;

	if (earns_nothing(v->diag.reason))
		return 0.0;
	/* `got` is the credit so far: it rises with every stage that the candidate passed. */
	for (int s = STAGE_ast; s <= STAGE_full; s++) {
		if (v->correct && !v->stages[s].ran)
			continue;                    /* without the funnel extension stage tiny does not run */
		if (!passed(v, s))
			return got + (row[s] - got) * (v->stages[s].ran ? clip(v->stages[s].share, 0.0, 0.99) : 0.0);
		got = row[s];
	}
	return passed(v, STAGE_timing) ? 0.7 + 0.3 * clip(earned_speed(v) / 2.0, 0.0, 1.0) : got;
}

/* Forms that clip the speed-up at 2 reward more than matching the reference. */
double reward_full_speed(enum reward_form f)
{
	return f == REWARD_funnel || f == REWARD_speed ? 2.0 : 1.0;
}

/* Only the funnel form gives partial credit to a candidate that is not correct. */
double reward_of(const struct verdict *v, enum reward_form f)
{
	double valid = passed(v, STAGE_ast) ? 1.0 : 0.0, correct = v->correct ? 1.0 : 0.0;
	double fast = correct * clip(earned_speed(v), 0.0, 1.0);

	switch (f) {
	case REWARD_funnel: return funnel_reward(v);
	case REWARD_reinforce: return valid * (0.7 * correct + 0.3 * fast);
	case REWARD_rank: return correct + 0.3 * fast;
	case REWARD_correct: return valid * correct;
	case REWARD_speed: return valid * correct * clip(earned_speed(v), 0.0, 2.0);
	default: BUG("reward form %d", (int)f);
	}
}

void reward_classes(const struct verdict *v, double *plan, double *code)
{
	*plan = reward_of(v, REWARD_speed);
	*code = reward_of(v, REWARD_correct);
}

double reward_uniform(const struct verdict *v, double beta)
{
	return beta * reward_of(v, REWARD_correct) + (1.0 - beta) * reward_of(v, REWARD_speed);
}

/* For qsort: ascending. */
static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The share of the other correct candidates that candidate i beats, in [0, 1]. A tie counts half.
 * The only correct candidate gets 0.5. */
static double wins(const struct verdict *const *v, size_t n, size_t i, double noise)
{
	double sum = 0.0;
	size_t pairs = 0;

	for (size_t j = 0; j < n; j++) {
		double a = earned_speed(v[i]), b = earned_speed(v[j]);

		if (j == i || !v[j]->correct)
			continue;
		pairs++;
		sum += fabs(a - b) <= noise * MAX(fabs(a), fabs(b)) ? 0.5 : a > b ? 1.0 : 0.0;
	}
	return pairs ? sum / (double)pairs : 0.5;
}

/* Without memory for the sorted list the shares of wins are not clipped. */
void reward_rank_speed(const struct verdict *const *v, size_t n, double noise, double *out)
{
	double *sorted = mem_array(n + 1, sizeof *sorted);
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		out[i] = v[i]->correct ? wins(v, n, i, noise) : 0.0;
		if (v[i]->correct && sorted)
			sorted[k++] = out[i];
	}
	if (k) {
		/* One outlier among few candidates should not decide the scale of the advantage. */
		qsort(sorted, k, sizeof *sorted, by_value);
		for (size_t i = 0; i < n; i++)
			if (v[i]->correct)
				out[i] = clip(out[i], sorted[k / 10], sorted[k - 1 - k / 10]);
	}
	mem_free(sorted);
}
