/* Feedback for a repair, by a person or by a model: see verdict.h.
 *
 * Says in this order: reason and message, source line, input set, pattern of the wrong elements,
 * values, advice. The advice for each reason is in advice.def. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/verdict/verdict.h"

static const char *const advice[REASONS] = {
#define ADVICE(reason, text) [REASON_##reason] = text,
#include "verify/verdict/advice.def"
#undef ADVICE
};

/* The source line that the message is about. */
static void say_line(const struct verdict *v, struct buf *out)
{
	if (v->diag.line <= 0)
		return;
	buf_addf(out, " See line %d", v->diag.line);
	if (v->source_line[0])
		buf_addf(out, ": `%s`", v->source_line);
	buf_addc(out, '.');
}

/* The input set that failed, and what its wrong elements have in common. */
static void say_input(const struct verdict *v, struct buf *out)
{
	const struct verdict_input *in = v->n_inputs ? &v->inputs[v->n_inputs - 1] : NULL;

	if (in && !in->passed && !in->skipped[0])
		buf_addf(out, " It fails on the input set '%s' (first input %s).", in->kind, in->shape);
	if (v->pattern[0])
		buf_addf(out, " Wrong elements: %s.", v->pattern);
}

/* Drops the sign of a NaN: "-nan" would look meaningful. */
static double plain(double x)
{
	return isnan(x) ? (double)NAN : x;
}

/* Up to five wrong elements with their values. */
static void say_elements(const struct verdict *v, struct buf *out)
{
	for (int i = 0; i < v->n_elements && i < 5; i++)
		buf_addf(out, "%s%s should be %.6g and is %.6g", i ? "; " : " ", v->elements[i].at,
			 plain(v->elements[i].expected),
			 plain(v->elements[i].got));
	if (v->n_elements)
		buf_addc(out, '.');
}

/* Counters of a correct candidate. They tell a model where the time goes: 8 MB read for an input of 4 MB is a
 * second pass over it; busy tensor cores leave less to gain than idle ones. */
static void say_counters(const struct verdict *v, struct buf *out)
{
	const struct verdict_gpu *g = &v->gpu;

	if (!g->counters.read || !g->measured)
		return;
	buf_addf(out, "Correct. On %s one call takes %.4g microseconds", g->device, g->time.mean * 1e6);
	if (!strcmp(v->timed, "gpu"))
		buf_addf(out, ", PyTorch's %.4g", v->reference_seconds * 1e6);
	buf_addf(out, ". The profiler counts in %d kernel%s: ", g->counters.kernels,
		 g->counters.kernels == 1 ? "" : "s");
	verdict_counters_text(&g->counters, out);
	buf_addc(out, '.');
	if (g->floor > 0)
		buf_addf(out, " Memory alone needs %.4g microseconds for the inputs and results.", g->floor * 1e6);
	if (g->product_floor > 0)
		buf_addf(out, " The matrix products need at least %.4g microseconds.", g->product_floor * 1e6);
}

/* A hint of the diagnostic knows the case, so it wins over the general advice for the reason. A
 * task that cannot be judged gets no advice: the candidate is not at fault. */
void verdict_feedback(const struct verdict *v, struct buf *out)
{
	if (v->correct) {
		say_counters(v, out);
		return;
	}
	if (v->diag.reason == REASON_bad_task) {
		buf_addf(out, "Not judged, because the task itself cannot be judged: %s", v->diag.text);
		return;
	}
	buf_addf(out, "%s (%s, at stage %s): %s", verdict_is_unsupported(v) ? "Not judged" : "Not correct",
		 reason_code(v->diag.reason), judge_stage_name(v->stage), v->diag.text);
	/* Messages usually have no full stop, but some quote an exception that has one. */
	if (out->n && out->p[out->n - 1] != '.')
		buf_addc(out, '.');
	say_line(v, out);
	say_input(v, out);
	say_elements(v, out);
	if (v->diag.hint[0])
		buf_addf(out, " To fix it: %s.", v->diag.hint);
	else if (advice[v->diag.reason])
		buf_addf(out, " To fix it: %s.", advice[v->diag.reason]);
}
