/* From rewards to advantages, one function for each method; advantage.h has the formulas. Nothing
 * here knows tokens or models: n scored samples of one task go in, n weights come out. */
#include "rl/advantage.h"

#include <math.h>

static const char *const method_names[] = {
#define M(id, name) name,
	RL_METHODS(M)
#undef M
};

const char *rl_method_name(enum rl_method m)
{
	return method_names[m];
}

/* Is sample j better than sample i? The reward decides. A reward stops rising at some speedup, so
 * equal rewards are ordered by `speed`, and after that the earlier sample counts as better. */
static int is_better(const struct rl_scored *s, size_t j, size_t i)
{
	if (s[j].reward != s[i].reward)
		return s[j].reward > s[i].reward;
	return s[j].speed > s[i].speed || (s[j].speed == s[i].speed && j < i);
}

/* The number of samples that are better than sample i. */
static size_t better(const struct rl_scored *s, size_t n, size_t i)
{
	size_t k = 0;

	for (size_t j = 0; j < n; j++)
		k += is_better(s, j, i);
	return k;
}

/* Best-of-n: the `keep` best samples above the threshold are imitated with weight 1. */
static void best_of_n(const struct advantage_opts *o, const struct rl_scored *s, size_t n, struct advantage *out)
{
	for (size_t i = 0; i < n; i++) {
		double w = s[i].reward > o->threshold && better(s, n, i) < (size_t)o->keep ? 1.0 : 0.0;

		out[i] = (struct advantage){ .plan = w, .code = w };
	}
}

/* Reward-weighted SFT: w_i = (r_i - threshold) * kept / sum_j (r_j - threshold), so the weights of
 * the kept samples have mean 1. Samples at or below the threshold get 0. */
static void reward_weighted(const struct advantage_opts *o, const struct rl_scored *s, size_t n, struct advantage *out)
{
	double sum = 0.0;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (s[i].reward > o->threshold) {
			sum += s[i].reward - o->threshold;
			kept++;
		}
	for (size_t i = 0; i < n; i++) {
		double w = s[i].reward > o->threshold ? (s[i].reward - o->threshold) * (double)kept / sum : 0.0;

		out[i] = (struct advantage){ .plan = w, .code = w };
	}
}

/* REINFORCE with the mean reward of the other n - 1 samples as the baseline:
 * a_i = r_i - (sum_j r_j - r_i) / (n - 1). A single sample has no baseline and gets 0. */
static void leave_one_out(const struct rl_scored *s, size_t n, struct advantage *out)
{
	double sum = 0.0;

	for (size_t i = 0; i < n; i++)
		sum += s[i].reward;
	for (size_t i = 0; i < n; i++) {
		double a = n > 1 ? s[i].reward - (sum - s[i].reward) / (double)(n - 1) : 0.0;

		out[i] = (struct advantage){ .plan = a, .code = a };
	}
}

/* Values minus their mean, over their standard deviation if asked. */
static void centre(double *v, size_t n, int normalise)
{
	double mean = 0.0, var = 0.0;

	for (size_t i = 0; i < n; i++)
		mean += v[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		v[i] -= mean;
		var += v[i] * v[i] / (double)n;
	}
	for (size_t i = 0; i < n && normalise; i++)
		v[i] /= sqrt(var) + 1e-6;
}

/* Samples of a group that group_relative has room for. */
enum { GROUP_MOST = 1024 };

/* GRPO: a_i = (r_i - mean) / std over the group. With token classes the plan tokens get the speed
 * reward, scaled by alpha, and the code tokens the correctness reward, each centred by itself. */
static void group_relative(const struct advantage_opts *o, const struct rl_scored *s, size_t n, struct advantage *out)
{
	double plan[GROUP_MOST], code[GROUP_MOST];

	n = n < GROUP_MOST ? n : GROUP_MOST;
	for (size_t i = 0; i < n; i++) {
		plan[i] = o->classes ? s[i].plan : s[i].reward;
		code[i] = o->classes ? s[i].code : s[i].reward;
	}
	centre(plan, n, o->normalise);
	centre(code, n, o->normalise);
	for (size_t i = 0; i < n; i++)
		out[i] = (struct advantage){ .plan = (o->classes ? o->alpha : 1.0) * plan[i], .code = code[i] };
}

/* The scores of the samples that are present move to the front of s[]; the absent flags stay where
 * they are. Returns how many are present. */
static size_t close_ranks(struct rl_scored *s, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (!s[i].absent) {
			int absent = s[k].absent;

			s[k] = s[i];
			s[k++].absent = absent;
		}
	return k;
}

/* Dispatches to the method and clears weights that are zero up to rounding. A group whose samples
 * all have the same reward ends with n zeros. */
size_t advantages(const struct advantage_opts *o, struct rl_scored *s, size_t n, struct advantage *out)
{
	size_t alive = 0, k = close_ranks(s, n);

	switch (o->method) {
	case RL_best_of_n: best_of_n(o, s, k, out); break;
	case RL_rwsft: reward_weighted(o, s, k, out); break;
	case RL_reinforce: leave_one_out(s, k, out); break;
	default: group_relative(o, s, k, out); break;
	}
	/* From the end, so that no advantage is overwritten before it has moved to its sample. */
	for (size_t i = n; i-- > 0;) {
		if (s[i].absent)
			out[i] = (struct advantage){ .plan = 0.0 };
		else
			out[i] = out[--k];
	}
	for (size_t i = 0; i < n; i++) {
		if (fabs(out[i].plan) < 1e-12)
			out[i].plan = 0.0;
		if (fabs(out[i].code) < 1e-12)
			out[i].code = 0.0;
		alive += !advantage_none(&out[i]);
	}
	return alive;
}

int advantage_none(const struct advantage *a)
{
	return a->plan == 0.0 && a->code == 0.0;
}

/* Adds the advantages of equal answers to the first of them, which is then computed once. */
void advantage_fold(struct advantage *a, const size_t *first, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (first[i] == i)
			continue;
		a[first[i]].plan += a[i].plan;
		a[first[i]].code += a[i].code;
		a[i] = (struct advantage){ .plan = 0.0 };
	}
}

/* Counts the outcome of a level-1 task. After `window` samples the share of hard tasks rises by
 * `rise`, up to `last`, if more than `wanted` of them were correct. */
void curriculum_note(struct curriculum *c, int level, int correct)
{
	if (level != 1)
		return;
	c->seen++;
	c->correct += correct;
	if (c->seen < c->window)
		return;
	if ((double)c->correct > c->wanted * (double)c->seen)
		c->share = fmin(c->share + c->rise, c->last);
	c->seen = c->correct = 0;
}
