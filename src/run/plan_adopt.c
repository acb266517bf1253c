/* Options that a run takes from its plan: see plan_adopt.h.
 *
 * Only memory decides here, so nothing is measured. On a CPU the defaults stay unless they do not
 * fit; on a GPU the plan's larger micro-batches and numbers of samples are used. */
#include "run/plan_adopt.h"

#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/plan_args.h"
#include "tile/estimate/gpu.h"

static const char choice_key[] = "plan.choice";

/* Tells whether an option of a stage was left open. */
static int is_open(const struct pipeline *p, enum pipeline_stage s, const char *name)
{
	return !opt_was_given(&p->parsed[s], name);
}

/* --- the choice -------------------------------------------------------------------------------------- */

/* The job, with lengths at their limits instead of measured ones: what is chosen must hold for the
 * longest rows and answers. */
static int job_of(const struct pipeline *p, struct plan_job *j, struct err *e)
{
	const struct plan_args a = { .row_tokens = (double)p->sft.sft.max_length, .prompt_tokens = 1100,
				     .answer_tokens = (double)p->rl.sample.max_new_tokens, .judge_ms = 1 };

	if (plan_job_of(j, &a, p, e))
		return -1;
	j->fixed_store = !is_open(p, PIPELINE_sft, "weights") || j->store == STORE_I8;
	return 0;
}

/* Tokens at a time that a training stage has by default: run_sft and run_rl. */
static int64_t usual_micro(const struct pipeline *p, enum pipeline_stage s)
{
	return s == PIPELINE_sft ? p->sft.sft.max_length * (p->sft.sft.pack ? 2 : 1) : p->rl.sft.max_length;
}

/* Returns `chosen`, or 0 if the default should stay: on a CPU if it is not larger. */
static int64_t unless_usual(int cpu, int64_t chosen, int64_t usual)
{
	return cpu && chosen >= usual ? 0 : chosen;
}

int plan_adopt_find(const struct pipeline *p, const struct plan_machine *m, struct plan_adopted *out,
		    struct buf *text, int *fits, struct err *e)
{
	enum { SLOTS_USUAL = 32 };
	struct run_plan plan;
	struct plan_job j;
	const struct plan_choice *c = &plan.choice;

	*out = (struct plan_adopted){ .int8 = 0 };
	*fits = 0;
	if (job_of(p, &j, e) || plan_make(&plan, &j, m, e))
		return -1;
	*fits = c->fits;
	if (!c->fits)
		return 0;
	out->int8 = c->store == STORE_I8 && j.store != STORE_I8;
	out->recompute = c->recompute && !j.recompute;
	if (!j.sft.micro_tokens)
		out->sft_micro = unless_usual(m->cpu, c->micro * c->max_length, usual_micro(p, PIPELINE_sft));
	if (!j.rl.micro_tokens)
		out->rl_micro = unless_usual(m->cpu, c->rl_micro, usual_micro(p, PIPELINE_rl));
	if (!j.rl.slots)
		out->slots = unless_usual(m->cpu, c->slots, MIN(SLOTS_USUAL, j.rl.tasks_per_step * j.rl.n));
	if (!j.eval.slots)
		out->eval_slots = unless_usual(m->cpu, c->eval_slots, MIN(SLOTS_USUAL, j.eval.tasks * j.eval.n));
	buf_addf(text, "weights %s, activations %s; sft %lld sequences a step, %lld x %lld tokens at a time, "
		 "accumulated %lld times; ",
		 c->store == STORE_F32 ? "32-bit" : c->store == STORE_I8 ? "8-bit" : "16-bit",
		 c->recompute ? "recomputed" : "kept", (long long)(j.sft.batch * j.sft.accumulate), (long long)c->micro,
		 (long long)c->max_length, (long long)c->accumulate);
	buf_addf(text, "rl %lld tokens and %lld samples at a time", (long long)c->rl_micro, (long long)c->slots);
	if (c->max_length < j.sft.max_length)
		log_warn("plan: sequences of %lld tokens may not fit into the memory; `max_length: %lld` does",
			 (long long)j.sft.max_length, (long long)c->max_length);
	return buf_check(text, e);
}

/* --- setting options --------------------------------------------------------------------------------- */

/* Replaces the value of a key in the resolved text of a stage. */
static int set_text(struct pipeline *p, enum pipeline_stage s, const char *key, const char *value, struct err *e)
{
	struct buf *b = &p->parsed[s].resolved, out = BUF_INIT;
	struct str rest = buf_str(b);

	while (rest.n) {
		struct str line = str_cut(&rest, '\n'), after = line;

		if (str_is(str_cut(&after, ':'), key))
			buf_addf(&out, "%s: %s\n", key, value);
		else
			buf_addf(&out, "%.*s\n", STR_ARG(line));
	}
	if (buf_check(&out, e)) {
		buf_release(&out);
		return -1;
	}
	buf_release(b);
	*b = out;
	return 0;
}

/* Sets a number and its text if it was chosen (not 0) and the option was left open. */
static int set_number(struct pipeline *p, enum pipeline_stage s, const char *option, const char *key, int64_t value,
		      int *member, struct err *e)
{
	char text[32];

	if (!value || !is_open(p, s, option))
		return 0;
	*member = (int)value;
	snprintf(text, sizeof text, "%lld", (long long)value);
	return set_text(p, s, key, text, e);
}

/* Sets the storage of the weights and recomputation of a training stage. */
static int set_policy(struct pipeline *p, enum pipeline_stage s, struct policy_opts *o, const struct plan_adopted *a,
		      struct err *e)
{
	if (a->int8 && is_open(p, s, "weights")) {
		o->store = STORE_I8;
		if (set_text(p, s, "weights", "int8", e))
			return -1;
	}
	if (!a->recompute || !is_open(p, s, "recompute"))
		return 0;
	o->trainer.tape.recompute = 1;
	return set_text(p, s, "recompute", "true", e);
}

int plan_adopt_set(struct pipeline *p, const struct plan_adopted *a, struct err *e)
{
	int *sft = &p->sft.policy.trainer.tape.max_tokens, *rl = &p->rl.policy.trainer.tape.max_tokens;

	if (a->int8 && is_open(p, PIPELINE_eval, "weights")) {
		p->eval.store = STORE_I8;
		if (set_text(p, PIPELINE_eval, "weights", "int8", e))
			return -1;
	}
	return set_policy(p, PIPELINE_sft, &p->sft.policy, a, e) ||
	       set_policy(p, PIPELINE_rl, &p->rl.policy, a, e) ||
	       set_number(p, PIPELINE_sft, "micro-tokens", "micro_tokens", a->sft_micro, sft, e) ||
	       set_number(p, PIPELINE_rl, "micro-tokens", "micro_tokens", a->rl_micro, rl, e) ||
	       set_number(p, PIPELINE_rl, "slots", "slots", a->slots, &p->rl.sample.slots, e) ||
	       set_number(p, PIPELINE_eval, "slots", "slots", a->eval_slots, &p->eval.sample.slots, e) ? -1 : 0;
}

/* --- in a run folder --------------------------------------------------------------------------------- */

/* Describes the open device. A GPU that gpu.def does not know has its own memory and the rates of
 * another; only the memory matters here. */
static void machine_of(const struct run_env *v, struct plan_machine *m)
{
	struct dev *d = v->dev;
	double gib = d->kind == DEV_CPU ? 0 : (double)dev_available(d) / 1073741824.0;
	const struct tile_gpu *g = d->kind == DEV_CPU ? NULL : tile_gpu_of_device(str_of(d->info.name), gib);

	if (d->kind == DEV_CPU) {
		gib = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 1073741824.0 * 0.9;
		*m = (struct plan_machine){ .cpu = 1, .count = 1, .gb_per_s = 1, .tflops = 1, .cores = 1 };
	} else {
		plan_machine_find(m, g ? g->name : TILE_GPU_DEFAULT, par_size(v->par));
	}
	m->gib = gib;
}

/* Writes the choice as JSON for the store. */
static void write_choice(const struct plan_adopted *a, struct buf *out)
{
	struct jw w = { .out = out };

	jw_begin(&w, '{');
	jw_key(&w, "int8"), jw_bool(&w, a->int8);
	jw_key(&w, "recompute"), jw_bool(&w, a->recompute);
	jw_key(&w, "sft_micro"), jw_int(&w, a->sft_micro);
	jw_key(&w, "rl_micro"), jw_int(&w, a->rl_micro);
	jw_key(&w, "slots"), jw_int(&w, a->slots);
	jw_key(&w, "eval_slots"), jw_int(&w, a->eval_slots);
	jw_end(&w, '}');
}

static int read_choice(struct str text, struct plan_adopted *a, struct err *e)
{
	struct json *j = json_parse(text, e);

	if (!j)
		return -1;
	*a = (struct plan_adopted){ .int8 = json_bool(json_get(j, "int8"), 0),
				    .recompute = json_bool(json_get(j, "recompute"), 0),
				    .sft_micro = json_int(json_get(j, "sft_micro"), 0),
				    .rl_micro = json_int(json_get(j, "rl_micro"), 0),
				    .slots = json_int(json_get(j, "slots"), 0),
				    .eval_slots = json_int(json_get(j, "eval_slots"), 0) };
	json_free(j);
	return 0;
}

/* The first process reads the choice of the folder, or makes one and keeps it. */
static int choose(const struct pipeline *p, const struct run_env *v, struct plan_adopted *a, struct err *e)
{
	struct buf text = BUF_INIT;
	struct plan_machine m;
	int fits, rc = store_get_meta(v->store, choice_key, &text, e);

	if (rc > 0) {
		rc = read_choice(buf_str(&text), a, e);
	} else if (!rc) {
		machine_of(v, &m);
		rc = plan_adopt_find(p, &m, a, &text, &fits, e);
		if (!rc && fits)
			log_info("plan: %s", buf_cstr(&text));
		else if (!rc)
			log_warn("plan: this run may not fit into %.1f GiB; see `tritonrl plan`", m.gib);
		buf_clear(&text);
		write_choice(a, &text);
		if (!rc)
			rc = buf_check(&text, e) || store_put_meta(v->store, choice_key, buf_str(&text), e) ? -1 : 0;
	}
	buf_release(&text);
	return rc;
}

/* A run without a model, such as one of prepare only, has nothing to choose. */
int plan_adopt(struct pipeline *p, const struct run_env *v, struct err *e)
{
	const unsigned trains = 1u << PIPELINE_sft | 1u << PIPELINE_rl | 1u << PIPELINE_eval;
	struct plan_adopted a = { .int8 = 0 };

	if (!(p->stages & trains))
		return 0;
	if ((par_first(v->par) && choose(p, v, &a, e)) || par_bcast(v->par, &a, sizeof a, e))
		return -1;
	return plan_adopt_set(p, &a, e);
}
