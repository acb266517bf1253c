/* Reports of a search: see write_report.h. */
#include "write/write_report.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* --- for people ------------------------------------------------------------------------------------ */

/* Example: "written by the model (sample 3 of 16)". */
static void say_author(const struct write_search *s, const struct proposal *a, struct buf *out)
{
	static const char *const unit[AUTHORS] = { "draw", "sample", "answer", "version", "version" };

	buf_addf(out, "written by %s%s%s (%s %d of %d%s%s)\n", author_text(a->origin),
		 a->origin == a->author ? "" : ", then ", a->origin == a->author ? "" : author_text(a->author),
		 unit[a->author], a->number, s->by_author[a->author], a->note[0] ? ": " : "", a->note);
}

static void say_verified(const struct verdict *v, int robust, struct buf *out)
{
	struct buf beyond = BUF_INIT;

	buf_addf(out, "verified: %s track, contract %s, evidence at full size: %s, precision %s\n",
		 track_name(v->track), contract_name(v->contract), verdict_evidence_name(verdict_evidence(v)),
		 precision_name(v->precision));
	verdict_robustness(v, &beyond);
	if (robust)
		buf_adds(out, "robust: also correct for other shapes, outliers and dtypes\n");
	else if (beyond.n)
		buf_addf(out, "%s\n", buf_cstr(&beyond));
	buf_release(&beyond);
	if (v->track == TRACK_HYBRID && v->kernel_share >= 0)
		buf_addf(out, "kernels do %.0f %% of the work, torch operators the rest\n", 100.0 * v->kernel_share);
}

/* The first baseline decides the speed-up. */
static void say_measured(const struct writer *w, const struct verdict *v, struct buf *out)
{
	buf_addf(out, "speed: %.2f x PyTorch %s, measured on %s: %.1f us\n", v->speedup,
		 baseline_name(w->baseline), v->gpu.device, v->gpu.time.mean * 1e6);
	for (int i = 0; i < BASELINES; i++)
		if (v->gpu.baseline[i].mean > 0)
			buf_addf(out, "  PyTorch %s: %.1f us\n", baseline_name((enum baseline)i),
				 v->gpu.baseline[i].mean * 1e6);
}

static void say_speed(const struct writer *w, const struct verdict *v, struct buf *out)
{
	if (v->gpu.measured)
		say_measured(w, v, out);
	else if (v->gpu.asked)
		buf_addf(out, "not measured: %s\n", v->gpu.note);
	if (!v->gpu.measured && v->speedup > 0)
		buf_addf(out, "speed: %.2f x eager PyTorch, estimated for %s, not measured\n", v->speedup,
			 v->estimate_gpu);
	verdict_speed(v, out);
}

static void say_counts(const struct write_search *s, double seconds, struct buf *out)
{
	buf_addf(out, "%zu candidates judged, %zu passed, in %.1f s", s->judged, s->passed, seconds);
	for (int i = 0; i < AUTHORS; i++)
		if (s->by_author[i])
			buf_addf(out, "; %s %d of %d", author_name((enum author)i), s->passed_by[i], s->by_author[i]);
	buf_addc(out, '\n');
}

static void say_miss(const struct write_search *s, struct buf *out)
{
	const struct proposal *a = search_nearest(s);

	buf_adds(out, "nothing passed\n");
	if (!a)
		return;
	buf_adds(out, "nearest miss: ");
	say_author(s, a, out);
	if (a->failed)
		buf_addf(out, "could not be judged: %s\n", a->verdict.diag.text);
	else
		buf_addf(out, "stopped in stage %s: %s: %s\n", judge_stage_name(a->verdict.stage),
			 reason_code(a->verdict.diag.reason), a->verdict.diag.text);
}

void write_report_text(const struct writer *w, const struct write_search *s, double seconds, struct buf *out)
{
	if (s->best) {
		say_author(s, s->best, out);
		say_verified(&s->best->verdict, proposal_is_robust(s->best), out);
		say_speed(w, &s->best->verdict, out);
	} else {
		say_miss(s, out);
	}
	if (w->without_model[0])
		buf_addf(out, "without the model: %s\n", w->without_model);
	if (w->without_solver[0])
		buf_addf(out, "without the solver: %s\n", w->without_solver);
	say_counts(s, seconds, out);
}

/* --- as JSON -------------------------------------------------------------------------------------------- */

static void put_proposal(struct jw *w, const struct proposal *a, struct str id)
{
	struct buf verdict = BUF_INIT;

	jw_begin(w, '{');
	jw_key(w, "by"), jw_cstr(w, author_name(a->author));
	jw_key(w, "origin"), jw_cstr(w, author_name(a->origin));
	jw_key(w, "number"), jw_int(w, a->number);
	jw_key(w, "note"), jw_cstr(w, a->note);
	jw_key(w, "robust"), jw_bool(w, proposal_is_robust(a));
	jw_key(w, "stage"), jw_cstr(w, judge_stage_name(a->verdict.stage));
	jw_key(w, "reason"), jw_cstr(w, a->failed ? "not_judged" : reason_code(a->verdict.diag.reason));
	jw_key(w, "message"), jw_cstr(w, a->verdict.diag.text);
	jw_key(w, "solution"), jw_str(w, buf_str(&a->text));
	if (!a->failed) {
		verdict_json(&a->verdict, id, &verdict);
		jw_key(w, "verdict"), jw_raw(w, str_trim(buf_str(&verdict)));
	}
	jw_end(w, '}');
	buf_release(&verdict);
}

static void put_counts(struct jw *w, const struct write_search *s)
{
	jw_key(w, "counts"), jw_begin(w, '{');
	for (int i = 0; i < AUTHORS; i++) {
		jw_key(w, author_name((enum author)i)), jw_begin(w, '{');
		jw_key(w, "candidates"), jw_int(w, s->by_author[i]);
		jw_key(w, "passed"), jw_int(w, s->passed_by[i]);
		jw_end(w, '}');
	}
	jw_end(w, '}');
}

void write_report_json(const struct writer *w, const struct write_search *s, double seconds, struct str id,
		       struct buf *out)
{
	struct jw j = { .out = out };
	const struct proposal *miss = s->best ? NULL : search_nearest(s);

	jw_begin(&j, '{');
	jw_key(&j, "id"), jw_str(&j, id);
	jw_key(&j, "found"), jw_bool(&j, s->best != NULL);
	jw_key(&j, "solution"), s->best ? jw_str(&j, buf_str(&s->best->text)) : jw_null(&j);
	jw_key(&j, "speedup"), s->best && s->best->verdict.speedup > 0 ? jw_real(&j, s->best->verdict.speedup) :
		jw_null(&j);
	jw_key(&j, "best"), s->best ? put_proposal(&j, s->best, id) : jw_null(&j);
	jw_key(&j, "nearest"), miss ? put_proposal(&j, miss, id) : jw_null(&j);
	put_counts(&j, s);
	jw_key(&j, "without_model"), jw_cstr(&j, w->without_model);
	jw_key(&j, "without_solver"), jw_cstr(&j, w->without_solver);
	jw_key(&j, "task"), jw_str(&j, s->task);
	jw_key(&j, "seconds"), jw_real(&j, seconds);
	jw_end(&j, '}');
	buf_addc(out, '\n');
}
