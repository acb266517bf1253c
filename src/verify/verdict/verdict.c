/* Verdicts as JSON: see verdict.h.
 *
 * Invariant: names and order of the fields are an interface. doc/ lists them, and trainers read
 * them. A field that is not known is null or absent, never a made-up number. */
#include "verify/verdict/verdict.h"

#include "tile/estimate/speed.h"

/* The class of a reason, such as "compile", "race" or "wrong", is in reason.def. */
const char *verdict_name(const struct verdict *v)
{
	return v->correct ? "correct" : reason_class(v->diag.reason);
}

int verdict_is_unsupported(const struct verdict *v)
{
	return !strcmp(verdict_name(v), "unsupported");
}

/* A line or column, or null if it is not known. */
static void json_int_or_null(struct jw *w, const char *key, int v)
{
	jw_key(w, key);
	if (v > 0)
		jw_int(w, v);
	else
		jw_null(w);
}

/* The cost of one forward on the original input set. */
static void json_cost(struct jw *w, const struct tile_cost *c)
{
	jw_key(w, "cost");
	jw_begin(w, '{');
	jw_key(w, "flops");
	jw_int(w, c->ops_f64 + c->ops_f32 + c->ops_f16 + c->ops_special + c->dot_tf32 + c->dot_f16 + c->dot_f8 +
	       c->dot_f64 + c->dot_f32);
	jw_key(w, "bytes");
	jw_int(w, c->bytes_loaded + c->bytes_stored);
	jw_key(w, "launches");
	jw_int(w, c->launches);
	jw_end(w, '}');
}

/* The stages that ran, in order. */
static void json_stages(struct jw *w, const struct verdict *v)
{
	jw_key(w, "stages");
	jw_begin(w, '[');
	for (int i = 0; i < STAGES; i++) {
		if (!v->stages[i].ran)
			continue;
		jw_begin(w, '{');
		jw_key(w, "name");
		jw_cstr(w, judge_stage_name((enum judge_stage)i));
		jw_key(w, "passed");
		jw_bool(w, v->stages[i].passed);
		jw_key(w, "ms");
		jw_real(w, v->stages[i].ms);
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

/* The input sets that the candidate was run on, in order. */
static void json_inputs(struct jw *w, const struct verdict *v)
{
	jw_key(w, "inputs");
	jw_begin(w, '[');
	for (int i = 0; i < v->n_inputs; i++) {
		const struct verdict_input *in = &v->inputs[i];

		jw_begin(w, '{');
		jw_key(w, "kind");
		jw_cstr(w, in->kind);
		jw_key(w, "shape");
		jw_cstr(w, in->shape);
		jw_key(w, "passed");
		jw_bool(w, in->passed);
		jw_key(w, "max_error");
		jw_real(w, in->max_error);
		jw_key(w, "tolerance");
		jw_real(w, in->tolerance);
		/* The field is absent, not null, for input sets that count. */
		if (in->skipped[0])
			jw_key(w, "skipped"), jw_cstr(w, in->skipped);
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

/* The mutation check of the task: how much a verdict on it is worth. */
static void json_task(struct jw *w, const struct verdict_task *t)
{
	jw_key(w, "task_check");
	jw_begin(w, '{');
	jw_key(w, "mutants"), jw_int(w, t->mutants);
	jw_key(w, "survivors"), jw_int(w, t->survivors);
	jw_key(w, "order_free"), jw_int(w, t->equal);
	jw_key(w, "model_shrunk"), jw_bool(w, t->model_shrunk);
	if (t->unfit[0])
		jw_key(w, "unfit"), jw_cstr(w, t->unfit);
	jw_key(w, "survivor");
	if (t->survivors)
		jw_cstr(w, t->survivor);
	else
		jw_null(w);
	jw_end(w, '}');
}

/* Elements that are out of tolerance, the worst one first. */
static void json_elements(struct jw *w, const struct verdict *v)
{
	jw_key(w, "elements");
	jw_begin(w, '[');
	for (int i = 0; i < v->n_elements; i++) {
		const struct verdict_element *x = &v->elements[i];

		jw_begin(w, '{');
		jw_key(w, "at"), jw_cstr(w, x->at);
		jw_key(w, "expected"), jw_real(w, x->expected);
		jw_key(w, "got"), jw_real(w, x->got);
		jw_key(w, "allowed"), jw_real(w, x->allowed);
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

/* The general contract; null if the candidate did not get that far. */
static void json_general(struct jw *w, const struct verdict *v)
{
	const struct verdict_general *g = &v->general;
	struct buf text = BUF_INIT;

	jw_key(w, "general");
	if (!g->ran) {
		jw_null(w);
		return;
	}
	jw_begin(w, '{');
	jw_key(w, "correct"), jw_bool(w, g->correct);
	jw_key(w, "failed");
	jw_begin(w, '[');
	for (int i = 0; i < g->n_failed; i++)
		jw_cstr(w, g->failed[i]);
	jw_end(w, ']');
	verdict_robustness(v, &text);
	jw_key(w, "summary"), jw_cstr(w, text.n ? buf_cstr(&text) : NULL);
	buf_release(&text);
	jw_end(w, '}');
}

/* An answer of the constant-tensor test; absent if it was not asked. */
static void json_constant_answer(struct jw *w, const char *key, enum constant_answer a)
{
	if (a == CONSTANT_ANSWER_not_asked)
		return;
	jw_key(w, key);
	jw_cstr(w, constant_answer_name(a));
}

enum evidence verdict_evidence(const struct verdict *v)
{
	if (v->size == SIZE_FULL || v->gpu.ran)
		return EVIDENCE_COMPARED;
	return v->addresses_rounded ? EVIDENCE_SAMPLED : v->full_size_elements ? EVIDENCE_COMPARED :
		v->addresses_decided ? EVIDENCE_ADDRESSES : EVIDENCE_SAMPLED;
}

const char *verdict_evidence_name(enum evidence e)
{
	static const char *const names[] = { "sampled", "addresses", "compared" };

	return names[e];
}

/* The terms of the verdict: contract, sizes, precision, and what KernelBench would say. */
static void json_terms(struct jw *w, const struct verdict *v)
{
	jw_key(w, "contract"), jw_cstr(w, contract_name(v->contract));
	json_general(w, v);
	jw_key(w, "size"), jw_cstr(w, size_name(v->size));
	jw_key(w, "full_size_instances"), jw_int(w, v->full_size_instances);
	jw_key(w, "full_size_elements"), jw_int(w, v->full_size_elements);
	jw_key(w, "evidence"), jw_cstr(w, v->correct ? verdict_evidence_name(verdict_evidence(v)) : NULL);
	json_constant_answer(w, "full_size_reads", v->full_size_reads);
	json_constant_answer(w, "full_size_values", v->full_size_values);
	jw_key(w, "precision"), jw_cstr(w, precision_name(v->precision));
	jw_key(w, "kernelbench");
	if (v->kernelbench < 0)
		jw_null(w);
	else
		jw_bool(w, v->kernelbench);
	jw_key(w, "kernel_share");
	if (v->kernel_share < 0.0)
		jw_null(w);
	else
		jw_real(w, v->kernel_share);
	jw_key(w, "prepare_ms"), jw_real(w, v->prepare_ms);
	jw_key(w, "judge"), jw_cstr(w, v->judge);
}

/* The feedback; null for a correct candidate. */
static void json_feedback(struct jw *w, const struct verdict *v)
{
	struct buf text = BUF_INIT;

	verdict_feedback(v, &text);
	jw_key(w, "feedback");
	jw_cstr(w, text.n ? text.p : NULL);
	buf_release(&text);
}

/* The outcome: what most readers want, so it comes first. */
static void json_outcome(struct jw *w, const struct verdict *v)
{
	jw_key(w, "correct");
	jw_bool(w, v->correct);
	jw_key(w, "verdict");
	jw_cstr(w, verdict_name(v));
	jw_key(w, "stage");
	jw_cstr(w, judge_stage_name(v->stage));
	jw_key(w, "reason");
	jw_cstr(w, reason_code(v->diag.reason));
	jw_key(w, "message");
	jw_cstr(w, v->diag.text);
	json_int_or_null(w, "line", v->diag.line);
	json_int_or_null(w, "column", v->diag.col);
	jw_key(w, "reward");
	if (verdict_is_unsupported(v))
		jw_null(w);
	else
		jw_real(w, v->reward);
	jw_key(w, "speedup");
	jw_real(w, v->speedup);
	jw_key(w, "track");
	jw_cstr(w, track_name(v->track));
}

/* The estimated time of each kernel. */
static void json_kernels(struct jw *w, const struct speed_notes *s)
{
	jw_key(w, "kernels");
	jw_begin(w, '[');
	for (int i = 0; i < s->n; i++) {
		const struct speed_note *x = &s->v[i];

		jw_begin(w, '{');
		jw_key(w, "name"), jw_cstr(w, x->name);
		jw_key(w, "launches"), jw_int(w, x->launches);
		jw_key(w, "seconds"), jw_real(w, x->seconds);
		jw_key(w, "bound"), jw_cstr(w, speed_bound_name(x->bound));
		jw_key(w, "share_of_peak"), jw_real(w, x->seconds > 0 ? x->peak / x->seconds : 0.0);
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

/* A speed-up from the performance model is an estimate: the fields say so, and give its error. */
static void json_timed(struct jw *w, const struct verdict *v)
{
	jw_key(w, "timed"), jw_cstr(w, v->timed[0] ? v->timed : NULL);
	if (!v->timed[0])
		return;
	jw_key(w, "speedup_is"), jw_cstr(w, strcmp(v->timed, "model") ? "measured" : "estimate");
	if (!strcmp(v->timed, "model"))
		jw_key(w, "speedup_error"), jw_real(w, speed_rates.error);
	else
		jw_key(w, "estimated_speedup"), jw_real(w, v->estimate);
	jw_key(w, "seconds"), jw_real(w, v->seconds);
	jw_key(w, "reference_seconds"), jw_real(w, v->reference_seconds);
	json_kernels(w, &v->kernels);
}

/* A time in seconds with its confidence interval. */
static void json_time(struct jw *w, const char *key, const struct verdict_time *t)
{
	jw_key(w, key);
	if (!(t->mean > 0)) {
		jw_null(w);
		return;
	}
	jw_begin(w, '{');
	jw_key(w, "seconds"), jw_real(w, t->mean);
	jw_key(w, "low"), jw_real(w, t->low);
	jw_key(w, "high"), jw_real(w, t->high);
	jw_end(w, '}');
}

/* Counters of the profiler: null if none were read; `counters_note` says why if they were asked for. */
static void json_counters(struct jw *w, const struct verdict_counters *c)
{
	static const char *const key[VERDICT_COUNTERS] = {
#define COUNTER(id, name, metric, text) [COUNTER_##id] = name,
#include "verify/verdict/counter.def"
#undef COUNTER
	};

	jw_key(w, "counters_note"), jw_cstr(w, c->why[0] ? c->why : NULL);
	jw_key(w, "counters");
	if (!c->read) {
		jw_null(w);
		return;
	}
	jw_begin(w, '{');
	for (int i = 0; i < VERDICT_COUNTERS; i++)
		if (c->v[i] >= 0)
			jw_key(w, key[i]), jw_real(w, c->v[i]);
	jw_key(w, "kernels"), jw_int(w, c->kernels);
	jw_end(w, '}');
}

/* The run on a real GPU, with everything that was measured there; absent if none was asked for. */
static void json_gpu(struct jw *w, const struct verdict_gpu *g)
{
	if (!g->asked)
		return;
	jw_key(w, "gpu");
	jw_begin(w, '{');
	jw_key(w, "ran"), jw_bool(w, g->ran);
	jw_key(w, "device"), jw_cstr(w, g->device[0] ? g->device : NULL);
	jw_key(w, "triton"), jw_cstr(w, g->compiler[0] ? g->compiler : NULL);
	jw_key(w, "note"), jw_cstr(w, g->note[0] ? g->note : NULL);
	json_time(w, "time", &g->time);
	jw_key(w, "samples"), jw_int(w, g->samples);
	jw_key(w, "dropped"), jw_int(w, g->dropped);
	jw_key(w, "differing"), jw_int(w, g->differing);
	jw_key(w, "configs"), jw_int(w, g->configs);
	jw_key(w, "configs_left"), jw_int(w, g->configs_left);
	jw_key(w, "floor_seconds"), jw_real(w, g->floor);
	jw_key(w, "product_floor_seconds"), jw_real(w, g->product_floor);
	jw_key(w, "baselines");
	jw_begin(w, '{');
	for (int i = 0; i < BASELINES; i++)
		if (g->baseline[i].mean > 0)
			json_time(w, baseline_name((enum baseline)i), &g->baseline[i]);
	jw_end(w, '}');
	json_counters(w, &g->counters);
	jw_end(w, '}');
}

/* Fields about buffers and configurations are absent for the many candidates that have none. */
void verdict_json(const struct verdict *v, struct str id, struct buf *out)
{
	struct jw w = { .out = out };

	jw_begin(&w, '{');
	jw_key(&w, "id");
	jw_str(&w, id);
	json_outcome(&w, v);
	json_terms(&w, v);
	json_stages(&w, v);
	json_inputs(&w, v);
	json_task(&w, &v->task);
	json_elements(&w, v);
	json_cost(&w, &v->cost);
	json_timed(&w, v);
	json_gpu(&w, &v->gpu);
	jw_key(&w, "weights");
	jw_cstr(&w, v->weights[0] ? v->weights : NULL);
	/* "left": some run left buffers unchanged that the reference changes. */
	if (v->buffers_kept + v->buffers_left) {
		jw_key(&w, "buffers");
		jw_cstr(&w, v->buffers_left ? "left" : "compared");
	}
	/* A single configuration is no choice. */
	if (v->configs > 1) {
		jw_key(&w, "configs");
		jw_begin(&w, '{');
		jw_key(&w, "programs");
		jw_int(&w, v->configs);
		jw_key(&w, "run");
		jw_int(&w, v->configs_run);
		jw_end(&w, '}');
	}
	jw_key(&w, "eval_mode");
	jw_bool(&w, v->eval_mode);
	jw_key(&w, "hint");
	jw_cstr(&w, v->diag.hint[0] ? v->diag.hint : NULL);
	jw_key(&w, "explain");
	jw_cstr(&w, v->explain[0] ? v->explain : NULL);
	json_feedback(&w, v);
	jw_end(&w, '}');
	buf_addc(out, '\n');
}
