/* Evaluation: see eval.h. */
#include "rl/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Does a group of this name hold the task? */
static int belongs(const struct task_row *t, const char *group)
{
	if (!strncmp(group, "level ", 6))
		return t->level == group[6] - '0';
	if (!strncmp(group, "op ", 3))
		return has_op(t->ops, str_of(group + 3));
	return 1;
}

static int add_named(struct eval *ev, const struct eval_opts *o, const char *name, struct member *m, double *work, struct err *e)
{
	m->n = 0;
	for (size_t i = 0; i < ev->tasks->rows.n; i++)
		if (belongs(&ev->tasks->rows.v[i], name))
			m->v[m->n++] = i;
	return m->n ? add_group(ev, o, name, m, work, e) : 0;
}

static int add_levels(struct eval *ev, const struct eval_opts *o, struct member *m, double *work, struct err *e)
{
	for (int level = 1; level <= 4; level++) {
		char name[48];

		snprintf(name, sizeof name, "level %d", level);
		if (add_named(ev, o, name, m, work, e))
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
			size_t before = seen.n;
			char name[48];

			if (!map_put(&seen, op))
				rc = err_nomem(e);
			snprintf(name, sizeof name, "op %.*s", STR_ARG(op));
			if (!rc && seen.n > before)
				rc = add_named(ev, o, name, m, work, e);
		}
	}
	map_release(&seen);
	return rc;
}

static int make_groups(struct eval *ev, const struct eval_opts *o, struct err *e)
{
	size_t n = ev->tasks->rows.n;
	struct member m = { .v = mem_array(n, sizeof *m.v), .n = 0 };
	double *work = mem_array(n, sizeof *work);
	int rc = m.v && work ? 0 : err_nomem(e);

	if (!rc)
		rc = add_named(ev, o, "all", &m, work, e) || add_levels(ev, o, &m, work, e) || add_ops(ev, o, &m, work, e) ? -1 : 0;
	mem_free(m.v);
	mem_free(work);
	return rc;
}

/* --- running ------------------------------------------------------------------------------------------ */

/* What counts of one answer. */
struct scored { int valid, compiled, correct; double reward, speedup; };

static void count_sample(struct eval_task *t, const struct eval_opts *o, struct scored s)
{
	t->n++;
	t->valid += s.valid;
	t->compiled += s.compiled;
	t->correct += s.correct;
	t->reward += s.reward / o->rollout.n;
	for (int i = 0; i < o->n_fast; i++)
		t->fast[i] += s.correct && s.speedup > o->fast[i];
}

static struct scored scored_verdict(const struct verdict *v)
{
	return (struct scored){ .valid = v->stages[STAGE_ast].passed, .compiled = v->stages[STAGE_compile].passed, .correct = v->correct,
				.reward = v->reward, .speedup = v->speedup };
}

static struct scored scored_json(const struct json *j)
{
	return (struct scored){ .valid = json_bool(json_get(j, "valid"), 0), .compiled = json_bool(json_get(j, "compiled"), 0),
				.correct = json_bool(json_get(j, "correct"), 0), .reward = json_real(json_get(j, "reward"), 0),
				.speedup = json_real(json_get(j, "speedup"), 0) };
}

int eval_load(struct eval *ev, const struct taskset *tasks, const struct json *j, const struct eval_opts *o, struct err *e)
{
	const struct json *rows = json_get(j, "detailed_results");
	size_t n = tasks->rows.n, each = (size_t)o->rollout.n;
	int rc = 0;

	*ev = (struct eval){ .tasks = tasks, .task = mem_array(n, sizeof *ev->task) };
	if (!ev->task)
		return err_nomem(e);
	if (json_count(rows) != n * each)
		rc = err_set(e, ERR_FORMAT, "%zu answers for %zu tasks of %zu each", json_count(rows), n, each);
	for (size_t i = 0; i < n * each && !rc; i++) {
		const struct json *row = json_at(rows, i);

		if (str_is(json_str(json_get(row, "id"), ""), tasks->rows.v[i / each].id))
			count_sample(&ev->task[i / each], o, scored_json(row));
		else
			rc = err_set(e, ERR_FORMAT, "answer %zu is not of task '%s'", i, tasks->rows.v[i / each].id);
	}
	if (!rc)
		rc = make_groups(ev, o, e);
	if (rc)
		eval_release(ev);
	return rc;
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
		count_sample(&ev->task[ev->rollout.samples.v[i].task], o, scored_verdict(&ev->rollout.samples.v[i].verdict));
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

/* --- comparing -------------------------------------------------------------------------------------------- */

static double difference(const struct eval *a, const struct eval *b, size_t i)
{
	return measure(&b->task[i], WHAT_CORRECT, 0) - measure(&a->task[i], WHAT_CORRECT, 0);
}

struct eval_difference eval_compare(const struct eval *a, const struct eval *b, const char *group)
{
	struct eval_difference out = { .p = 1.0 };
	size_t n = MIN(a->tasks->rows.n, b->tasks->rows.n);
	double sum = 0.0;
	int64_t as_far = 0;
	struct rng r;

	for (size_t i = 0; i < n; i++)
		if (belongs(&a->tasks->rows.v[i], group)) {
			sum += difference(a, b, i);
			out.tasks++;
		}
	rng_init(&r, n, "sign flips");
	for (int f = 0; f < FLIPS && out.tasks; f++) {
		double s = 0.0;

		for (size_t i = 0; i < n; i++)
			if (belongs(&a->tasks->rows.v[i], group))
				s += rng_u32(&r) & 1 ? difference(a, b, i) : -difference(a, b, i);
		as_far += fabs(s) >= fabs(sum) - 1e-12;
	}
	if (out.tasks) {
		out.points = 100.0 * sum / (double)out.tasks;
		out.p = (double)(as_far + 1) / (double)(FLIPS + 1);
	}
	return out;
}
