/* Evaluation: rates with intervals over groups of tasks, and paired comparisons. eval.h is the
 * manual. All random draws have fixed seeds, so that the same answers give the same intervals. */
#include "eval/eval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"

/* Bootstrap resamples of an interval; sign flips of a paired test. */
enum { RESAMPLES = 1000, FLIPS = 10000 };

/* The unbiased estimate of pass@k from c correct of n samples:
 *   1 - C(n - c, k) / C(n, k)  =  1 - prod_{i<k} (n - c - i) / (n - i) */
double eval_pass_at_k(int n, int c, int k)
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

/* --- rates with intervals ----------------------------------------------------------------- */

/* Orders doubles for qsort. */
static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Wilson's 95 % interval for a share p of n tasks. A bootstrap over tasks that are all equal has no
 * spread: three tasks without a correct answer would give 0 to 0, where 0 to 56 % is known. */
static void wilson(struct rate *r, size_t n)
{
	const double z2 = 1.959964 * 1.959964;
	double p = r->value / 100.0, d = 1.0 + z2 / (double)n;
	double half = sqrt(z2 * (p * (1.0 - p) + z2 / (4.0 * (double)n)) / (double)n) / d;

	r->low = 100.0 * fmax((p + z2 / (2.0 * (double)n)) / d - half, 0.0);
	r->high = 100.0 * fmin((p + z2 / (2.0 * (double)n)) / d + half, 1.0);
}

/* The mean of v[n] in per cent, with a 95 % interval by bootstrap over tasks. */
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
	if (r.high - r.low < 1e-9 && r.value >= 0 && r.value <= 100)
		wilson(&r, n);
	return r;
}

/* The figures that a rate can count. */
enum what { WHAT_VALID, WHAT_COMPILED, WHAT_CORRECT, WHAT_REWARD, WHAT_PASS, WHAT_FAST, WHAT_AFTER };

/* One figure of one task, in [0, 1]; `arg` is k, or the index of a speed-up or a turn. */
static double measure(const struct eval_task *t, enum what w, int arg)
{
	switch (w) {
	case WHAT_VALID: return (double)t->valid / t->n;
	case WHAT_COMPILED: return (double)t->compiled / t->n;
	case WHAT_CORRECT: return (double)t->correct / t->n;
	case WHAT_REWARD: return t->reward;
	case WHAT_PASS: return eval_pass_at_k(t->n, t->correct, arg);
	case WHAT_AFTER: return (double)t->after[arg] / t->n;
	default: return (double)t->fast[arg] / t->n;
	}
}

/* Indices of the tasks of a group, and the track whose verdicts count. */
struct member { size_t *v, n; int track; };

/* One figure over the tasks of a group. */
static struct rate group_rate(const struct eval *ev, const struct member *m, double *work, enum what w, int arg)
{
	for (size_t i = 0; i < m->n; i++)
		work[i] = measure(&ev->task[m->track][m->v[i]], w, arg);
	return rate_of(work, m->n);
}

/* All figures of a group. Groups by the other track's rules carry its name in front. */
static int add_group(struct eval *ev, const struct eval_opts *o, const char *name, const struct member *m,
		     double *work, struct err *e)
{
	struct eval_group g = { .tasks = m->n };

	snprintf(g.name, sizeof g.name, "%s%s%s", m->track == EVAL_OTHER ? ev->other_track : "",
		 m->track == EVAL_OTHER ? " " : "", name);
	for (size_t i = 0; i < m->n; i++)
		g.unsupported += ev->task[m->track][m->v[i]].unsupported;
	g.valid = group_rate(ev, m, work, WHAT_VALID, 0);
	g.compiled = group_rate(ev, m, work, WHAT_COMPILED, 0);
	g.correct = group_rate(ev, m, work, WHAT_CORRECT, 0);
	g.reward = group_rate(ev, m, work, WHAT_REWARD, 0);
	for (int i = 0; i < o->n_k; i++)
		g.pass[i] = group_rate(ev, m, work, WHAT_PASS, o->k[i]);
	for (int i = 0; i < o->n_fast; i++)
		g.fast[i] = group_rate(ev, m, work, WHAT_FAST, i);
	for (int i = 0; i < o->rollout.turns; i++)
		g.after[i] = group_rate(ev, m, work, WHAT_AFTER, i);
	return vec_push(&ev->groups, g) ? err_nomem(e) : 0;
}

/* --- groups ------------------------------------------------------------------------------- */

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

/* The group of this name, if any task belongs to it. */
static int add_named(struct eval *ev, const struct eval_opts *o, const char *name, struct member *m,
		     double *work, struct err *e)
{
	m->n = 0;
	for (size_t i = 0; i < ev->tasks->rows.n; i++)
		if (belongs(&ev->tasks->rows.v[i], name))
			m->v[m->n++] = i;
	return m->n ? add_group(ev, o, name, m, work, e) : 0;
}

/* A group for each level. */
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

/* A group for each operator that a task names. */
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

/* All tasks, by level and by operator; the first two by either track's rules. */
static int make_groups(struct eval *ev, const struct eval_opts *o, struct err *e)
{
	size_t n = ev->tasks->rows.n;
	struct member m = { .v = mem_array(n, sizeof *m.v), .n = 0 };
	double *work = mem_array(n, sizeof *work);
	int rc = m.v && work ? 0 : err_nomem(e);

	for (m.track = 0; m.track < EVAL_TRACKS && !rc; m.track++)
		if (ev->task[m.track])
			rc = add_named(ev, o, "all", &m, work, e) || add_levels(ev, o, &m, work, e) ? -1 : 0;
	m.track = EVAL_OWN;
	if (!rc)
		rc = add_ops(ev, o, &m, work, e);
	mem_free(m.v);
	mem_free(work);
	return rc;
}

/* --- running ------------------------------------------------------------------------------ */

/* Adds one answer to the counts of its task. */
static void count_answer(struct eval_task *t, const struct eval_opts *o, const struct eval_answer *a)
{
	t->n++;
	t->valid += a->valid;
	t->compiled += a->compiled;
	t->correct += a->correct;
	t->unsupported += a->unsupported;
	t->reward += a->reward / o->rollout.n;
	for (int i = 0; i < o->n_fast; i++)
		t->fast[i] += a->correct && a->speedup > o->fast[i];
	for (int i = 0; i < o->rollout.turns; i++)
		t->after[i] += a->correct && a->turns <= i + 1;
}

/* The part of a verdict that evaluation counts. */
static struct eval_answer answer_of(const struct verdict *v, int turns)
{
	return (struct eval_answer){ .valid = v->stages[STAGE_ast].passed,
				     .compiled = v->stages[STAGE_compile].passed, .correct = v->correct,
				     .unsupported = verdict_is_unsupported(v), .turns = turns,
				     .reward = verdict_is_unsupported(v) ? 0.0 : v->reward, .speedup = v->speedup };
}

/* The same, from the JSON of an earlier evaluation. */
static struct eval_answer answer_from_json(const struct json *j)
{
	return (struct eval_answer){ .valid = json_bool(json_get(j, "valid"), 0),
				     .compiled = json_bool(json_get(j, "compiled"), 0),
				     .correct = json_bool(json_get(j, "correct"), 0),
				     .unsupported = json_bool(json_get(j, "unsupported"), 0),
				     .turns = (int)json_int(json_get(j, "turns"), 1),
				     .reward = json_real(json_get(j, "reward"), 0),
				     .speedup = json_real(json_get(j, "speedup"), 0) };
}

/* Allocates the answers and counts of one or two tracks. */
static int init(struct eval *ev, const struct taskset *tasks, const struct eval_opts *o, int tracks, struct err *e)
{
	size_t n = tasks->rows.n;

	*ev = (struct eval){ .tasks = tasks, .other_track = o->other_track };
	for (int t = 0; t < tracks; t++) {
		ev->task[t] = mem_array(n, sizeof *ev->task[t]);
		ev->answer[t] = mem_array(n * (size_t)o->rollout.n, sizeof *ev->answer[t]);
		if (!ev->task[t] || !ev->answer[t])
			return err_nomem(e);
	}
	return 0;
}

/* Counts the answers and computes the groups. */
static int finish(struct eval *ev, const struct eval_opts *o, struct err *e)
{
	size_t n = ev->tasks->rows.n, each = (size_t)o->rollout.n;

	for (int t = 0; t < EVAL_TRACKS && ev->task[t]; t++)
		for (size_t i = 0; i < n * each; i++)
			count_answer(&ev->task[t][i / each], o, &ev->answer[t][i]);
	return make_groups(ev, o, e);
}

/* Rebuilds an evaluation from its JSON. The rows must be in the order of the tasks with `rollout.n`
 * rows each: 200 tasks of 10 samples need 2000 rows, and row 57 belongs to task 5. */
int eval_load(struct eval *ev, const struct taskset *tasks, const struct json *j, const struct eval_opts *o,
	      struct err *e)
{
	const struct json *rows = json_get(j, "detailed_results");
	size_t n = tasks->rows.n, each = (size_t)o->rollout.n;
	int rc = init(ev, tasks, o, o->other_track ? 2 : 1, e);

	if (!rc && json_count(rows) != n * each)
		rc = err_set(e, ERR_FORMAT, "%zu answers for %zu tasks of %zu each", json_count(rows), n, each);
	for (size_t i = 0; i < n * each && !rc; i++) {
		const struct json *row = json_at(rows, i);

		if (!str_is(json_str(json_get(row, "id"), ""), tasks->rows.v[i / each].id))
			rc = err_set(e, ERR_FORMAT, "answer %zu does not belong to task '%s'", i,
				     tasks->rows.v[i / each].id);
		ev->answer[EVAL_OWN][i] = answer_from_json(row);
		if (o->other_track)
			ev->answer[EVAL_OTHER][i] = answer_from_json(json_get(row, o->other_track));
	}
	if (!rc)
		rc = finish(ev, o, e);
	if (rc)
		eval_release(ev);
	return rc;
}

/* Judges the same answers by the rules of the other track. */
static int judge_other(struct eval *ev, struct rollout_env *env, struct err *e)
{
	size_t n = ev->rollout.samples.n;
	struct verdict *v = mem_array(n, sizeof *v);
	int rc = v ? rollout_judge(&ev->rollout, env, ev->tasks, v, e) : err_nomem(e);

	for (size_t i = 0; i < n && !rc; i++)
		ev->answer[EVAL_OTHER][i] = answer_of(&v[i], ev->rollout.samples.v[i].turns);
	mem_free(v);
	return rc;
}

/* Samples answers to all tasks and judges them. `other` is not NULL if the same answers are also
 * judged by the rules of the other track; nothing is sampled twice. */
int eval_run(struct eval *ev, struct rollout_env *env, struct rollout_env *other, const struct taskset *tasks,
	     const struct eval_opts *o,
	     struct err *e)
{
	size_t n = tasks->rows.n, *which = mem_array(n, sizeof *which);
	int rc = init(ev, tasks, o, other ? 2 : 1, e);

	for (size_t i = 0; which && i < n; i++)
		which[i] = i;
	if (!rc)
		rc = which ? rollout_run(&ev->rollout, env, tasks, which, n, 0, &o->rollout, e) : err_nomem(e);
	for (size_t i = 0; i < ev->rollout.samples.n && !rc; i++)
		ev->answer[EVAL_OWN][i] = answer_of(&ev->rollout.samples.v[i].verdict, ev->rollout.samples.v[i].turns);
	if (!rc && other)
		rc = judge_other(ev, other, e);
	if (!rc)
		rc = finish(ev, o, e);
	mem_free(which);
	if (rc)
		eval_release(ev);
	return rc;
}

/* Frees all but `tasks`, which the caller owns. Safe on an evaluation that init left half
 * allocated. */
void eval_release(struct eval *ev)
{
	rollout_release(&ev->rollout);
	for (int t = 0; t < EVAL_TRACKS; t++) {
		mem_free(ev->task[t]);
		mem_free(ev->answer[t]);
		ev->task[t] = NULL;
		ev->answer[t] = NULL;
	}
	vec_free(&ev->groups);
}

/* --- comparing ---------------------------------------------------------------------------- */

/* How much more often model b solves task i than model a. */
static double difference(const struct eval *a, const struct eval *b, int track, size_t i)
{
	return measure(&b->task[track][i], WHAT_CORRECT, 0) - measure(&a->task[track][i], WHAT_CORRECT, 0);
}

/* Splits a group's name into its track and the rest: "hybrid level 2" is "level 2" of the other
 * track if that is "hybrid". */
static int track_of(const struct eval *ev, const char **group)
{
	size_t n = ev->other_track ? strlen(ev->other_track) : 0;

	if (!n || strncmp(*group, ev->other_track, n) || (*group)[n] != ' ')
		return EVAL_OWN;
	*group += n + 1;
	return EVAL_OTHER;
}

/* The paired comparison of two models over a group: the mean difference, and its p-value by random
 * sign flips. Under the null hypothesis either model could have been the better one on each
 * task. */
struct eval_difference eval_compare(const struct eval *a, const struct eval *b, const char *group)
{
	struct eval_difference out = { .p = 1.0 };
	size_t n = MIN(a->tasks->rows.n, b->tasks->rows.n);
	double sum = 0.0;
	int64_t as_far = 0;
	struct rng r;
	int track = track_of(b, &group);

	if (!a->task[track] || !b->task[track])
		return out;
	for (size_t i = 0; i < n; i++)
		if (belongs(&a->tasks->rows.v[i], group)) {
			sum += difference(a, b, track, i);
			out.tasks++;
		}
	rng_init(&r, n, "sign flips");
	for (int f = 0; f < FLIPS && out.tasks; f++) {
		double s = 0.0;

		for (size_t i = 0; i < n; i++)
			if (belongs(&a->tasks->rows.v[i], group))
				s += rng_u32(&r) & 1 ? difference(a, b, track, i) : -difference(a, b, track, i);
		as_far += fabs(s) >= fabs(sum) - 1e-12;
	}
	if (out.tasks) {
		out.points = 100.0 * sum / (double)out.tasks;
		out.p = (double)(as_far + 1) / (double)(FLIPS + 1);
	}
	return out;
}
