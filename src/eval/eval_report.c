/* Evaluations as JSON and as tables. eval.h is the manual. The JSON's names are a
 * contract: users' scripts read them. */
#include <stdio.h>

#include "base/json.h"
#include "eval/eval.h"
#include "tile/estimate/speed.h"

/* A rate without its interval. */
static void json_rate(struct jw *w, const char *key, struct rate r)
{
	jw_key(w, key);
	jw_real(w, r.value);
}

/* The two ends of an interval. */
static void json_interval(struct jw *w, const char *key, struct rate r)
{
	jw_key(w, key);
	jw_begin(w, '[');
	jw_real(w, r.low);
	jw_real(w, r.high);
	jw_end(w, ']');
}

/* All figures of a group. */
static void json_group(struct jw *w, const struct eval_group *g, const struct eval_opts *o)
{
	char key[40];

	jw_begin(w, '{');
	jw_key(w, "name"), jw_cstr(w, g->name);
	jw_key(w, "tasks"), jw_int(w, (int64_t)g->tasks);
	jw_key(w, "unsupported"), jw_int(w, g->unsupported);
	json_rate(w, "valid_rate", g->valid);
	json_rate(w, "compiled_rate", g->compiled);
	json_rate(w, "correct_rate", g->correct);
	json_interval(w, "correct_interval", g->correct);
	jw_key(w, "reward"), jw_real(w, g->reward.value / 100.0);     /* the judge's unit, not percent */
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
	for (int i = 0; i < o->rollout.turns && o->rollout.turns > 1; i++) {
		snprintf(key, sizeof key, "correct_after_%d", i + 1);
		json_rate(w, key, g->after[i]);
	}
	jw_end(w, '}');
}

/* The reward of an answer. One that the judge's engine does not support has none, and says so. */
static void json_reward(struct jw *w, const struct eval_answer *a)
{
	jw_key(w, "reward");
	if (a->unsupported)
		jw_null(w);
	else
		jw_real(w, a->reward);
	if (a->unsupported)
		jw_key(w, "unsupported"), jw_bool(w, 1);
}

/* The same answer by the rules of the other track. */
static void json_other(struct jw *w, const char *track, const struct eval_answer *a)
{
	jw_key(w, track);
	jw_begin(w, '{');
	jw_key(w, "valid"), jw_bool(w, a->valid);
	jw_key(w, "compiled"), jw_bool(w, a->compiled);
	jw_key(w, "correct"), jw_bool(w, a->correct);
	json_reward(w, a);
	jw_key(w, "speedup"), jw_real(w, a->speedup);
	jw_end(w, '}');
}

/* A row for each answer. */
static void json_samples(struct jw *w, const struct eval *ev)
{
	jw_key(w, "detailed_results");
	jw_begin(w, '[');
	for (size_t i = 0; i < ev->rollout.samples.n; i++) {
		const struct rolled *s = &ev->rollout.samples.v[i];

		jw_begin(w, '{');
		jw_key(w, "id"), jw_cstr(w, ev->tasks->rows.v[s->task].id);
		jw_key(w, "sample"), jw_int(w, s->number);
		jw_key(w, "stage"), jw_cstr(w, judge_stage_name(s->verdict.stage));
		jw_key(w, "valid"), jw_bool(w, s->verdict.stages[STAGE_ast].passed);
		jw_key(w, "compiled"), jw_bool(w, s->verdict.stages[STAGE_compile].passed);
		json_reward(w, &ev->answer[EVAL_OWN][i]);
		jw_key(w, "correct"), jw_bool(w, s->verdict.correct);
		jw_key(w, "reason"), jw_cstr(w, reason_code(s->verdict.diag.reason));
		jw_key(w, "speedup"), jw_real(w, s->verdict.speedup);
		if (s->turns > 1)
			jw_key(w, "turns"), jw_int(w, s->turns);
		if (ev->answer[EVAL_OTHER])
			json_other(w, ev->other_track, &ev->answer[EVAL_OTHER][i]);
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

void eval_answers(const struct eval *ev, const char *suffix, struct buf *out)
{
	struct buf id = BUF_INIT;

	for (size_t i = 0; i < ev->rollout.samples.n; i++) {
		const struct rolled *s = &ev->rollout.samples.v[i];
		const struct task_row *task = &ev->tasks->rows.v[s->task];
		struct jw w = { .out = out };

		buf_clear(&id);
		buf_addf(&id, "%s/%d%s", task->id, s->number, suffix);
		jw_begin(&w, '{');
		jw_key(&w, "id"), jw_str(&w, buf_str(&id));
		jw_key(&w, "task"), jw_cstr(&w, task->source);
		jw_key(&w, "candidate"), jw_cstr(&w, s->code ? s->code : "");
		jw_key(&w, "correct"), jw_bool(&w, s->verdict.correct);
		jw_key(&w, "reason"), jw_cstr(&w, reason_code(s->verdict.diag.reason));
		jw_key(&w, "speedup"), jw_real(&w, s->verdict.speedup);
		jw_end(&w, '}');
		buf_addc(out, '\n');
	}
	buf_release(&id);
}

/* Is a time of this baseline known for the answer? */
static int is_measured(const struct verdict *v, enum baseline b)
{
	return v->correct && v->gpu.measured && v->gpu.baseline[b].mean > 0;
}

/* Answers that were timed against a baseline. */
static size_t count_timed(const struct eval *ev, enum baseline b)
{
	size_t timed = 0;

	for (size_t i = 0; i < ev->rollout.samples.n; i++)
		timed += is_measured(&ev->rollout.samples.v[i].verdict, b);
	return timed;
}

/* Percent of all answers whose measured time is more than p times shorter than a baseline's. */
static double measured_fast(const struct eval *ev, enum baseline b, double p)
{
	const struct rolled *s = ev->rollout.samples.v;
	size_t n = ev->rollout.samples.n, fast = 0;

	for (size_t i = 0; i < n; i++) {
		const struct verdict_gpu *g = &s[i].verdict.gpu;

		fast += is_measured(&s[i].verdict, b) && g->baseline[b].mean / g->time.mean > p;
	}
	return 100.0 * (double)fast / (double)n;
}

/* The same by the estimates. */
static double estimated_fast(const struct eval *ev, double p)
{
	size_t n = ev->rollout.samples.n, fast = 0;

	for (size_t i = 0; i < n; i++) {
		const struct verdict *v = &ev->rollout.samples.v[i].verdict;

		fast += v->correct && (strcmp(v->timed, "gpu") ? v->speedup : v->estimate) > p;
	}
	return 100.0 * (double)fast / (double)n;
}

/* An answer that ran on a GPU; NULL: none did. */
static const struct verdict_gpu *any_run(const struct eval *ev)
{
	for (size_t i = 0; i < ev->rollout.samples.n; i++)
		if (ev->rollout.samples.v[i].verdict.gpu.ran)
			return &ev->rollout.samples.v[i].verdict.gpu;
	return NULL;
}

/* Measured fast_p, next to the estimate: absent if nothing ran on a GPU. */
static void json_measured(struct jw *w, const struct eval *ev, const struct eval_opts *o)
{
	const struct verdict_gpu *g = any_run(ev);
	char key[32];

	if (!g)
		return;
	jw_key(w, "measured");
	jw_begin(w, '{');
	jw_key(w, "device"), jw_cstr(w, g->device);
	jw_key(w, "triton"), jw_cstr(w, g->compiler);
	for (int b = 0; b <= BASELINES; b++) {
		size_t timed = b < BASELINES ? count_timed(ev, (enum baseline)b) : 0;

		if (b < BASELINES && !timed)
			continue;
		jw_key(w, b < BASELINES ? baseline_name((enum baseline)b) : "estimate");
		jw_begin(w, '{');
		if (timed)
			jw_key(w, "timed"), jw_int(w, (int64_t)timed);
		for (int k = 0; k < o->n_fast; k++) {
			snprintf(key, sizeof key, "fast_%g", o->fast[k]);
			jw_key(w, key), jw_real(w, timed ? measured_fast(ev, (enum baseline)b, o->fast[k]) :
						   estimated_fast(ev, o->fast[k]));
		}
		jw_end(w, '}');
	}
	jw_end(w, '}');
}

/* The same as rows of the table. */
static void print_measured(const struct eval *ev, const struct eval_opts *o, struct buf *out)
{
	const struct verdict_gpu *g = any_run(ev);

	for (int b = 0; b < BASELINES && g; b++) {
		size_t timed = count_timed(ev, (enum baseline)b);

		if (!timed)
			continue;
		buf_addf(out, "measured on %s, of %zu answers %zu timed against PyTorch %s:", g->device,
			 ev->rollout.samples.n, timed, baseline_name((enum baseline)b));
		for (int k = 0; k < o->n_fast; k++)
			buf_addf(out, "%s fast_%g %.1f%%", k ? "," : "", o->fast[k],
				 measured_fast(ev, (enum baseline)b, o->fast[k]));
		buf_addc(out, '\n');
	}
	if (!g)
		return;
	buf_adds(out, "the estimate of the same answers:");
	for (int k = 0; k < o->n_fast; k++)
		buf_addf(out, "%s fast_%g %.1f%%", k ? "," : "", o->fast[k], estimated_fast(ev, o->fast[k]));
	buf_addc(out, '\n');
}

/* Were the speed-ups of the answers measured? A single one that was not makes them a mixture, which
 * is reported as an estimate. */
static int is_all_measured(const struct eval *ev)
{
	int any = 0;

	for (size_t i = 0; i < ev->rollout.samples.n; i++) {
		const struct verdict *v = &ev->rollout.samples.v[i].verdict;

		if (v->correct && v->speedup > 0 && strcmp(v->timed, "gpu"))
			return 0;
		any |= v->correct && v->speedup > 0;
	}
	return any;
}

void eval_json_members(struct jw *w, const struct eval *ev, const struct eval_opts *o, const char *model)
{
	jw_key(w, "model_path"), jw_cstr(w, model);
	jw_key(w, "num_tasks"), jw_int(w, (int64_t)ev->tasks->rows.n);
	jw_key(w, "samples_per_task"), jw_int(w, o->rollout.n);
	jw_key(w, "turns"), jw_int(w, o->rollout.turns);
	jw_key(w, "track"), jw_cstr(w, o->rollout.strict ? "strict" : "hybrid");
	jw_key(w, "timed"), jw_cstr(w, is_all_measured(ev) ? "gpu" : "model");
	jw_key(w, "speedup_is"), jw_cstr(w, is_all_measured(ev) ? "measured" : "estimate");
	jw_key(w, "speedup_error"), jw_real(w, speed_rates.error);
	jw_key(w, "metrics");
	json_group(w, &ev->groups.v[0], o);
	jw_key(w, "groups");
	jw_begin(w, '[');
	for (size_t i = 1; i < ev->groups.n; i++)
		json_group(w, &ev->groups.v[i], o);
	jw_end(w, ']');
	json_measured(w, ev, o);
	json_samples(w, ev);
}

/* Writes the whole evaluation as one JSON object, which eval_load reads back. */
void eval_json(const struct eval *ev, const struct eval_opts *o, struct buf *out)
{
	struct jw w = { .out = out, .indent = 1 };

	jw_begin(&w, '{');
	eval_json_members(&w, ev, o, o->model_path);
	jw_end(&w, '}');
	buf_addc(out, '\n');
}

/* Prints a row for each group with rates in percent. Rows of single operators are printed only with
 * `per_op`, because there can be a hundred of them. */
void eval_table(const struct eval *ev, const struct eval_opts *o, int per_op, struct buf *out)
{
	buf_addf(out, "%-24s %5s %7s %9s %8s %15s", "", "tasks", "valid", "compiled", "correct", "95% interval");
	for (int i = 0; i < o->n_k; i++)
		buf_addf(out, "  pass@%-3d", o->k[i]);
	for (int i = 0; i < o->n_fast; i++)
		buf_addf(out, "  fast_%-3g", o->fast[i]);
	for (int i = 0; i < o->rollout.turns && o->rollout.turns > 1; i++)
		buf_addf(out, "  turn %-3d", i + 1);
	buf_addc(out, '\n');
	for (size_t i = 0; i < ev->groups.n; i++) {
		const struct eval_group *g = &ev->groups.v[i];

		if (!per_op && str_starts(str_of(g->name), "op "))
			continue;
		buf_addf(out, "%-24s %5zu %6.1f%% %8.1f%% %7.1f%%  %5.1f to %5.1f", g->name, g->tasks,
			 g->valid.value, g->compiled.value,
			 g->correct.value, g->correct.low, g->correct.high);
		for (int k = 0; k < o->n_k; k++)
			buf_addf(out, "  %7.1f%%", g->pass[k].value);
		for (int k = 0; k < o->n_fast; k++)
			buf_addf(out, "  %7.1f%%", g->fast[k].value);
		for (int k = 0; k < o->rollout.turns && o->rollout.turns > 1; k++)
			buf_addf(out, "  %7.1f%%", g->after[k].value);
		buf_addc(out, '\n');
	}
	if (ev->groups.n && ev->groups.v[0].unsupported)
		buf_addf(out, "%lld answers use what the judge's engine does not support; they count as not correct\n",
			 (long long)ev->groups.v[0].unsupported);
	print_measured(ev, o, out);
	if (o->n_fast && is_all_measured(ev))
		buf_adds(out, "fast_p is by speed-ups that were measured on a GPU\n");
	else if (o->n_fast)
		buf_addf(out, "fast_p is by estimated speed-ups, which are within a factor of %.1f of "
			      "measured ones two times in three\n", speed_rates.error);
}

/* Prints how much better model b is than model a, group by group. Operators are left out: with few
 * tasks each, their p-values would say little. */
void eval_compare_table(const struct eval *a, const struct eval *b, struct buf *out)
{
	for (size_t i = 0; i < b->groups.n; i++) {
		const char *name = b->groups.v[i].name;
		struct eval_difference d;

		if (str_starts(str_of(name), "op "))
			continue;
		d = eval_compare(a, b, name);
		buf_addf(out, "%-24s %5zu %+6.1f points correct, p = %.4f (paired sign-flip test)\n", name,
			 d.tasks, d.points, d.p);
	}
}

/* Adds the rows of eval_compare_table to an open JSON array. */
void eval_compare_json(struct jw *w, const char *from, const struct eval *a, const char *to, const struct eval *b)
{
	for (size_t i = 0; i < b->groups.n; i++) {
		const char *name = b->groups.v[i].name;
		struct eval_difference d;

		if (str_starts(str_of(name), "op "))
			continue;
		d = eval_compare(a, b, name);
		jw_begin(w, '{');
		jw_key(w, "from"), jw_cstr(w, from);
		jw_key(w, "to"), jw_cstr(w, to);
		jw_key(w, "group"), jw_cstr(w, name);
		jw_key(w, "tasks"), jw_int(w, (int64_t)d.tasks);
		jw_key(w, "points"), jw_real(w, d.points);
		jw_key(w, "p"), jw_real(w, d.p);
		jw_end(w, '}');
	}
}
