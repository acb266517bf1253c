/* The figures of a step that are shown and stored: means over samples, rates, and the distance of
 * the policy from its start. gauge.h is the manual, gauge.def the list. */
#include "rl/gauge.h"

#include <math.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"
#include "data/extract.h"

static const struct {
	const char *name;
	int clock;
} gauges[] = {
#define GAUGE(id, clk) { .name = #id, .clock = clk },
#include "rl/gauge.def"
#undef GAUGE
};

/* Adds the outcome of one sample to the sums. */
static void add_verdict(double *v, const struct verdict *x)
{
	v[GAUGE_unsupported] += verdict_is_unsupported(x);
	v[GAUGE_reward] += verdict_is_unsupported(x) ? 0.0 : x->reward;
	v[GAUGE_correct] += x->correct;
	v[GAUGE_speedup] += x->correct ? x->speedup : 0.0;
	v[GAUGE_passed_ast] += x->stages[STAGE_ast].ran && x->stages[STAGE_ast].passed;
	v[GAUGE_passed_compile] += x->stages[STAGE_compile].ran && x->stages[STAGE_compile].passed;
	v[GAUGE_passed_tiny] += x->stages[STAGE_tiny].ran && x->stages[STAGE_tiny].passed;
}

/* Gauges that are summed over samples and then divided by their number. */
static const enum gauge of_samples[] = { GAUGE_reward, GAUGE_correct, GAUGE_passed_ast, GAUGE_passed_compile,
					 GAUGE_passed_tiny, GAUGE_unsupported,
					 GAUGE_level2_share, GAUGE_length, GAUGE_cut_share, GAUGE_turns };

/* One figure for the queue between sampling, judging and training: the share of moments at which the judge had
 * candidates while samples were drawn, times the share of the rollout in which training did not wait for verdicts
 * only. Example: the judge is idle at one moment in ten, and a fifth of the time passes after the last sample:
 * 0.9 * 0.8 = 0.72. */
static double queue_health(const struct rollout *ro)
{
	double idle = ro->looks ? (double)ro->idle / (double)ro->looks : 0.0;
	double waited = ro->seconds > 0 ? MIN(ro->wait_seconds / ro->seconds, 1.0) : 0.0;

	return (1.0 - idle) * (1.0 - waited);
}

void gauges_init(struct gauges *g, const struct rollout *ro, const struct taskset *tasks)
{
	double n = (double)ro->samples.n, *v = g->v;

	for (int i = 0; i < GAUGES; i++)
		v[i] = NAN;
	v[GAUGE_speedup] = 0;
	for (size_t i = 0; i < COUNT_OF(of_samples); i++)
		v[of_samples[i]] = 0;
	for (size_t i = 0; i < ro->samples.n; i++) {
		const struct rolled *s = &ro->samples.v[i];

		add_verdict(v, &s->verdict);
		v[GAUGE_level2_share] += tasks->rows.v[s->task].level >= 2;
		v[GAUGE_length] += rolled_tokens(s);
		v[GAUGE_cut_share] += s->finish == INFER_LENGTH;
		v[GAUGE_turns] += s->turns;
	}
	v[GAUGE_speedup] = v[GAUGE_correct] > 0 ? v[GAUGE_speedup] / v[GAUGE_correct] : 0.0;
	for (size_t i = 0; i < COUNT_OF(of_samples); i++)
		v[of_samples[i]] /= n;
	/* The mean is over the samples that have a reward. */
	v[GAUGE_reward] = v[GAUGE_unsupported] < 1.0 ? v[GAUGE_reward] / (1.0 - v[GAUGE_unsupported]) : 0.0;
	v[GAUGE_tokens_per_s] = (double)ro->stats.tokens / MAX(ro->seconds, 1e-9);
	v[GAUGE_candidates_per_s] = n / MAX(ro->seconds, 1e-9);
	v[GAUGE_judge_queue] = ro->looks ? (double)ro->waiting / (double)ro->looks : 0.0;
	v[GAUGE_judge_idle] = ro->looks ? (double)ro->idle / (double)ro->looks : 0.0;
	v[GAUGE_judge_wait_s] = ro->wait_seconds;
	v[GAUGE_queue_health] = queue_health(ro);
	if (ro->given >= 0)
		v[GAUGE_judge_given] = (double)ro->given;
}

size_t gauges_metrics(const struct gauges *g, struct metric *out)
{
	size_t n = 0;

	for (int i = 0; i < GAUGES; i++)
		if (!isnan(g->v[i]))
			out[n++] = (struct metric){ .name = gauges[i].name, .value = g->v[i],
						    .clock = gauges[i].clock };
	return n;
}

/* --- how far from the start --------------------------------------------------------------- */

/* The trainable parameters of a policy. */
static struct slab *parameters(const struct policy *p)
{
	return tape_params(trainer_tape(p->trainer));
}

int gauge_start_open(struct gauge_start *s, const struct policy *p, const char *dir, int every, struct err *e)
{
	struct buf path = BUF_INIT;

	*s = (struct gauge_start){ .every = every };
	if (!every)
		return 0;
	if (!path_join(&path, dir, "rl_start.safetensors"))
		return err_nomem(e);
	s->path = buf_take(&path);
	return file_exists(s->path) ? 0 : slab_save(parameters(p), s->path, "", e);
}

void gauge_start_close(struct gauge_start *s)
{
	mem_free(s->path);
}

void gauge_start_drop(const struct gauge_start *s)
{
	if (s->path)
		sys.unlink(s->path);
}

/* Copies all entries of the slab to one block of host memory. */
static int keep_values(const struct slab *s, char *to, struct err *e)
{
	for (size_t i = 0; i < s->n; i++)
		if (slab_get(s, (int)i, to + s->v[i].offset, e))
			return -1;
	return 0;
}

/* Copies them back. */
static void put_values(struct slab *s, const char *from)
{
	for (size_t i = 0; i < s->n; i++)
		slab_put(s, (int)i, from + s->v[i].offset);
}

/* Computes log p of the samples' tokens under the parameters of the start. The start's parameters
 * replace the present ones meanwhile; the present ones are put back, also after a failure. */
static int start_logprobs(const struct gauge_start *s, struct policy *p, const struct train_seq *seq,
			  size_t n, float *const *logp, struct err *e)
{
	struct slab *now = parameters(p);
	char *values = mem_alloc(now->bytes);
	int rc = !values ? err_nomem(e) : keep_values(now, values, e);

	if (!rc) {
		trainer_wait_reader(p->trainer);
		rc = slab_load(now, s->path, "", e);
		tape_updated(trainer_tape(p->trainer));
		rc = rc ? rc : trainer_logprobs(p->trainer, seq, n, logp, NULL, e);
		put_values(now, values);
		tape_updated(trainer_tape(p->trainer));
	}
	mem_free(values);
	return rc;
}

/* The mean of log p_now - log p_start over the tokens that the model drew. The samples come from
 * the present policy, so this is an estimate of KL(now || start). */
static double mean_difference(const struct rolled *const *sample, float *const *logp, size_t n)
{
	double sum = 0.0, tokens = 0.0;

	for (size_t i = 0; i < n; i++)
		for (int k = sample[i]->prompt_n; k < sample[i]->n; k++) {
			int t = k - sample[i]->prompt_n;

			if (sample[i]->classes[t] == EXTRACT_GIVEN)
				continue;
			sum += sample[i]->logprobs[t] - (double)logp[i][k];
			tokens++;
		}
	return tokens > 0 ? sum / tokens : 0.0;
}

int gauge_divergence(const struct gauge_start *s, struct policy *p, const struct rollout *ro, size_t n,
		     int longest, double *kl, struct err *e)
{
	enum { SAMPLES = 16 };
	const struct rolled *sample[SAMPLES];
	struct train_seq seq[SAMPLES];
	float *logp[SAMPLES] = { NULL };
	size_t found = 0;
	int rc = 0;

	for (size_t i = 0; i < ro->samples.n && found < SAMPLES && !rc; i += n) {
		const struct rolled *x = &ro->samples.v[i];

		if (x->n > longest || x->n == x->prompt_n)
			continue;
		sample[found] = x;
		seq[found] = (struct train_seq){ .tokens = x->tokens, .n = x->n };
		logp[found] = mem_array((size_t)x->n, sizeof **logp);
		rc = logp[found++] ? 0 : err_nomem(e);
	}
	if (!rc && found)
		rc = start_logprobs(s, p, seq, found, logp, e);
	if (!rc)
		*kl = mean_difference(sample, logp, found);
	for (size_t i = 0; i < found; i++)
		mem_free(logp[i]);
	return rc;
}
