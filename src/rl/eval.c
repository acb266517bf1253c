/* Evaluation: see eval.h. */
#include "rl/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"

enum { RESAMPLES = 1000, FLIPS = 10000 };

double pass_at_k(int n, int c, int k)
{
	double miss = 1.0;

	if (k > n)
		k = n;
	if (n - c < k)
		return c > 0 ? 1.0 : 0.0;
	for (int i = 0; i < k; i++)
		miss *= (double)(n - c - i) / (double)(n - i);
	return 1.0 - miss;
}

/* --- rates with intervals ----------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Mean of v[n] in percent; the interval from means of tasks drawn with replacement. */
static struct rate rate_of(const double *v, size_t n)
{
	struct rate r = { .value = 0 };
	double *means = n ? mem_array(RESAMPLES, sizeof *means) : NULL;
	struct rng rng;

	for (size_t i = 0; i < n; i++)
		r.value += 100.0 * v[i] / (double)n;
	r.low = r.high = r.value;
	if (!means)
		return r;
	rng_init(&rng, n, "bootstrap");
	for (int b = 0; b < RESAMPLES; b++)
		for (size_t i = 0; i < n; i++)
			means[b] += 100.0 * v[rng_below(&rng, n)] / (double)n;
	qsort(means, RESAMPLES, sizeof *means, by_value);
	r.low = means[RESAMPLES * 25 / 1000];
	r.high = means[RESAMPLES * 975 / 1000];
	mem_free(means);
	return r;
}

enum what { WHAT_VALID, WHAT_COMPILED, WHAT_CORRECT, WHAT_REWARD, WHAT_PASS, WHAT_FAST };

static double measure(const struct eval_task *t, enum what w, int arg)
{
	switch (w) {
	case WHAT_VALID: return (double)t->valid / t->n;
	case WHAT_COMPILED: return (double)t->compiled / t->n;
	case WHAT_CORRECT: return (double)t->correct / t->n;
	case WHAT_REWARD: return t->reward;
	case WHAT_PASS: return pass_at_k(t->n, t->correct, arg);
	default: return (double)t->fast[arg] / t->n;
	}
}

struct member { size_t *v, n; };

static struct rate group_rate(const struct eval *ev, const struct member *m, double *work, enum what w, int arg)
{
	for (size_t i = 0; i < m->n; i++)
		work[i] = measure(&ev->task[m->v[i]], w, arg);
	return rate_of(work, m->n);
}

static int add_group(struct eval *ev, const struct eval_opts *o, const char *name, const struct member *m, double *work, struct err *e)
{
	struct eval_group g = { .tasks = m->n };

	snprintf(g.name, sizeof g.name, "%s", name);
	g.valid = group_rate(ev, m, work, WHAT_VALID, 0);
	g.compiled = group_rate(ev, m, work, WHAT_COMPILED, 0);
	g.correct = group_rate(ev, m, work, WHAT_CORRECT, 0);
	g.reward = group_rate(ev, m, work, WHAT_REWARD, 0);
	for (int i = 0; i < o->n_k; i++)
		g.pass[i] = group_rate(ev, m, work, WHAT_PASS, o->k[i]);
	for (int i = 0; i < o->n_fast; i++)
		g.fast[i] = group_rate(ev, m, work, WHAT_FAST, i);
	return vec_push(&ev->groups, g) ? err_nomem(e) : 0;
}

/* --- groups ---------------------------------------------------------------------------------------- */

/* Is `op` one of "a,b,c"? */
static int has_op(const char *ops, struct str op)
{
	struct str rest = str_of(ops);

	while (rest.n)
		if (str_eq(str_cut(&rest, ','), op))
			return 1;
	return 0;
}

static int add_levels(struct eval *ev, const struct eval_opts *o, struct member *m, double *work, struct err *e)
{
	for (int level = 1; level <= 4; level++) {
		char name[48];

		m->n = 0;
		for (size_t i = 0; i < ev->tasks->rows.n; i++)
			if (ev->tasks->rows.v[i].level == level)
				m->v[m->n++] = i;
		snprintf(name, sizeof name, "level %d", level);
		if (m->n && add_group(ev, o, name, m, work, e))
			return -1;
	}
	return 0;
}

static int add_ops(struct eval *ev, const struct eval_opts *o, struct member *m, double *work, struct err *e)
{
	struct map seen = MAP_INIT;
	int rc = 0;

	for (size_t i = 0; i < ev->tasks->rows.n && !rc; i++) {
		struct str rest = str_of(ev->tasks->rows.v[i].ops);

		while (rest.n && !rc) {
			struct str op = str_cut(&rest, ',');
			char name[48];

			if (map_get(&seen, op))
				continue;
			if (!map_put(&seen, op)) {
				rc = err_nomem(e);
				break;
			}
			m->n = 0;
			for (size_t k = 0; k < ev->tasks->rows.n; k++)
				if (has_op(ev->tasks->rows.v[k].ops, op))
					m->v[m->n++] = k;
			snprintf(name, sizeof name, "op %.*s", STR_ARG(op));
			rc = add_group(ev, o, name, m, work, e);
		}
	}
	map_release(&seen);
	return rc;
}

static int make_groups(struct eval *ev, const struct eval_opts *o, struct err *e)
{
	size_t n = ev->tasks->rows.n;
	struct member m = { .v = mem_array(n, sizeof *m.v), .n = n };
	double *work = mem_array(n, sizeof *work);
	int rc = m.v && work ? 0 : err_nomem(e);

	for (size_t i = 0; i < n && !rc; i++)
		m.v[i] = i;
	if (!rc)
		rc = add_group(ev, o, "all", &m, work, e) || add_levels(ev, o, &m, work, e) || add_ops(ev, o, &m, work, e) ? -1 : 0;
	mem_free(m.v);
	mem_free(work);
	return rc;
}

/* --- running ------------------------------------------------------------------------------------------ */

static void count_sample(struct eval_task *t, const struct eval_opts *o, const struct verdict *v)
{
	t->n++;
	t->valid += v->stages[STAGE_ast].passed;
	t->compiled += v->stages[STAGE_compile].passed;
	t->correct += v->correct;
	t->reward += v->reward / o->rollout.n;
	for (int i = 0; i < o->n_fast; i++)
		t->fast[i] += v->correct && v->speedup > o->fast[i];
}

int eval_run(struct eval *ev, struct rollout_env *env, const struct taskset *tasks, const struct eval_opts *o, struct err *e)
{
	size_t n = tasks->rows.n, *which = mem_array(n, sizeof *which);
	int rc;

	*ev = (struct eval){ .tasks = tasks, .task = mem_array(n, sizeof *ev->task) };
	for (size_t i = 0; which && i < n; i++)
		which[i] = i;
	rc = which && ev->task ? rollout_run(&ev->rollout, env, tasks, which, n, 0, &o->rollout, e) : err_nomem(e);
	for (size_t i = 0; i < ev->rollout.samples.n && !rc; i++)
		count_sample(&ev->task[ev->rollout.samples.v[i].task], o, &ev->rollout.samples.v[i].verdict);
	if (!rc)
		rc = make_groups(ev, o, e);
	mem_free(which);
	if (rc)
		eval_release(ev);
	return rc;
}

void eval_release(struct eval *ev)
{
	rollout_release(&ev->rollout);
	mem_free(ev->task);
	vec_free(&ev->groups);
	ev->task = NULL;
}

/* --- reporting ------------------------------------------------------------------------------------------ */

static void json_rate(struct jw *w, const char *key, struct rate r)
{
	jw_key(w, key);
	jw_real(w, r.value);
}

static void json_interval(struct jw *w, const char *key, struct rate r)
{
	jw_key(w, key);
	jw_begin(w, '[');
	jw_real(w, r.low);
	jw_real(w, r.high);
	jw_end(w, ']');
}

static void json_group(struct jw *w, const struct eval_group *g, const struct eval_opts *o)
{
	char key[40];

	jw_begin(w, '{');
	jw_key(w, "name"), jw_cstr(w, g->name);
	jw_key(w, "tasks"), jw_int(w, (int64_t)g->tasks);
	json_rate(w, "valid_rate", g->valid);
	json_rate(w, "compiled_rate", g->compiled);
	json_rate(w, "correct_rate", g->correct);
	json_interval(w, "correct_interval", g->correct);
	json_rate(w, "reward", g->reward);
	for (int i = 0; i < o->n_k; i++) {
		snprintf(key, sizeof key, "pass@%d", o->k[i]);
		json_rate(w, key, g->pass[i]);
		snprintf(key, sizeof key, "pass@%d_interval", o->k[i]);
		json_interval(w, key, g->pass[i]);
	}
	for (int i = 0; i < o->n_fast; i++) {
		snprintf(key, sizeof key, "fast_%g", o->fast[i]);
		json_rate(w, key, g->fast[i]);
	}
	jw_end(w, '}');
}

static void json_samples(struct jw *w, const struct eval *ev)
{
	jw_key(w, "detailed_results");
	jw_begin(w, '[');
	for (size_t i = 0; i < ev->rollout.samples.n; i++) {
		const struct rolled *s = &ev->rollout.samples.v[i];

		jw_begin(w, '{');
		jw_key(w, "id"), jw_cstr(w, ev->tasks->rows.v[s->task].id);
		jw_key(w, "sample"), jw_int(w, s->number);
		jw_key(w, "stage"), jw_cstr(w, stage_name(s->verdict.stage));
		jw_key(w, "reward"), jw_real(w, s->verdict.reward);
		jw_key(w, "correct"), jw_bool(w, s->verdict.correct);
		jw_key(w, "reason"), jw_cstr(w, reason_code(s->verdict.diag.reason));
		jw_key(w, "speedup"), jw_real(w, s->verdict.speedup);
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

void eval_json(const struct eval *ev, const struct eval_opts *o, struct buf *out)
{
	struct jw w = { .out = out, .indent = 1 };

	jw_begin(&w, '{');
	jw_key(&w, "model_path"), jw_cstr(&w, o->model_path);
	jw_key(&w, "num_tasks"), jw_int(&w, (int64_t)ev->tasks->rows.n);
	jw_key(&w, "samples_per_task"), jw_int(&w, o->rollout.n);
	jw_key(&w, "track"), jw_cstr(&w, o->rollout.strict ? "strict" : "hybrid");
	jw_key(&w, "timed"), jw_cstr(&w, "model");
	jw_key(&w, "metrics");
	json_group(&w, &ev->groups.v[0], o);
	jw_key(&w, "groups");
	jw_begin(&w, '[');
	for (size_t i = 1; i < ev->groups.n; i++)
		json_group(&w, &ev->groups.v[i], o);
	jw_end(&w, ']');
	json_samples(&w, ev);
	jw_end(&w, '}');
	buf_addc(out, '\n');
}

void eval_table(const struct eval *ev, const struct eval_opts *o, int per_op, struct buf *out)
{
	buf_addf(out, "%-24s %5s %7s %9s %8s %15s", "", "tasks", "valid", "compiled", "correct", "95% interval");
	for (int i = 0; i < o->n_k; i++)
		buf_addf(out, "  pass@%-3d", o->k[i]);
	for (int i = 0; i < o->n_fast; i++)
		buf_addf(out, "  fast_%-3g", o->fast[i]);
	buf_addc(out, '\n');
	for (size_t i = 0; i < ev->groups.n; i++) {
		const struct eval_group *g = &ev->groups.v[i];

		if (!per_op && str_starts(str_of(g->name), "op "))
			continue;
		buf_addf(out, "%-24s %5zu %6.1f%% %8.1f%% %7.1f%%  %5.1f to %5.1f", g->name, g->tasks, g->valid.value, g->compiled.value,
			 g->correct.value, g->correct.low, g->correct.high);
		for (int k = 0; k < o->n_k; k++)
			buf_addf(out, "  %7.1f%%", g->pass[k].value);
		for (int k = 0; k < o->n_fast; k++)
			buf_addf(out, "  %7.1f%%", g->fast[k].value);
		buf_addc(out, '\n');
	}
}

void eval_compare(const struct eval *a, const struct eval *b, double *difference, double *p)
{
	size_t n = MIN(a->tasks->rows.n, b->tasks->rows.n);
	double sum = 0.0;
	int64_t as_far = 0;
	struct rng r;

	for (size_t i = 0; i < n; i++)
		sum += measure(&b->task[i], WHAT_CORRECT, 0) - measure(&a->task[i], WHAT_CORRECT, 0);
	rng_init(&r, n, "sign flips");
	for (int f = 0; f < FLIPS; f++) {
		double s = 0.0;

		for (size_t i = 0; i < n; i++) {
			double d = measure(&b->task[i], WHAT_CORRECT, 0) - measure(&a->task[i], WHAT_CORRECT, 0);

			s += rng_u32(&r) & 1 ? d : -d;
		}
		as_far += fabs(s) >= fabs(sum) - 1e-12;
	}
	*difference = n ? 100.0 * sum / (double)n : 0.0;
	*p = (double)(as_far + 1) / (double)(FLIPS + 1);
}
