/* One attempt of a candidate at a trial: see funnel.h. */
#include "verify/funnel.h"

#include <stdio.h>

#include "base/mem.h"
#include "interp/bind.h"

/* Bytes of parameters above which they are copied when other ones are due, not before each run. */
enum { LARGE_WEIGHTS = 32 << 20 };

/* Failures of the host code that are decided before any number is: the wrong name, the wrong
 * call. They count as not compiling. */
static int is_front_end(enum reason r)
{
	return r == REASON_name_error || r == REASON_forbidden_name || r == REASON_unsupported || r == REASON_import_error ||
	       r == REASON_torch_compute || r == REASON_attribute_error || r == REASON_type_error || r == REASON_key_error;
}

static int run_failed(struct funnel *f, enum judge_stage s)
{
	const struct diag *d = f->launch.refused || f->launch.faulted ? &f->launch.diag : host_diag(f->w.h);
	enum judge_stage at = f->launch.refused || (!f->launch.faulted && !f->v->stages[STAGE_compile].passed && is_front_end(d->reason)) ? STAGE_compile : s;

	return funnel_fail(f, at, d);
}

static int refuse_compute(void *ctx, const char *name, int line, struct diag *d)
{
	(void)ctx;
	diag_set(d, REASON_torch_compute, line, 0, "%s computes on the host", name);
	return 1;
}

/* torch.flip, Tensor.flip and Tensor.flip_ are one operator. */
static int same_op(const char *a, const char *b)
{
	const char *da = strrchr(a, '.'), *db = strrchr(b, '.');
	size_t na, nb;

	a = da ? da + 1 : a;
	b = db ? db + 1 : b;
	na = strlen(a);
	nb = strlen(b);
	na -= na && a[na - 1] == '_' && a[0] != '_';
	nb -= nb && b[nb - 1] == '_' && b[0] != '_';
	return na == nb && !memcmp(a, b, na);
}

/* Does the host do everything the reference does, and launch a kernel on the side? */
static int covers_reference(const struct task *t, struct host *h)
{
	struct host_ops ops = host_ops(h);
	int covered = t->n_ops > 0;

	for (int i = 0; i < t->n_ops && covered; i++) {
		int64_t n = 0;

		for (size_t k = 0; k < ops.n; k++)
			n += same_op(ops.v[k].name, t->op[i].name) ? ops.v[k].count : 0;
		covered = n >= t->op[i].count;
	}
	return covered;
}

struct pristine {
	struct tensor copy[RESULTS_MOST];
	int n, at, changed;
	struct err *e;
};

static int copy_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct pristine *k = ctx;

	(void)name;
	if (k->n == RESULTS_MOST)
		return 0;
	if (tensor_to(&k->copy[k->n], &obj->t, obj->t.dt, k->e))
		return -1;
	k->n++;
	return 0;
}

static int compare_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct pristine *k = ctx;
	struct tensor now;

	(void)name;
	if (k->at >= k->n || tensor_contiguous(&now, &obj->t, k->e))
		return 0;
	if (tensor_numel(&now) != tensor_numel(&k->copy[k->at]) ||
	    memcmp(tensor_data(&now), tensor_data(&k->copy[k->at]), (size_t)(tensor_numel(&now) * dtype_size(now.dt))))
		k->changed = 1;
	k->at++;
	tensor_release(&now);
	return 0;
}

static void drop_pristine(struct pristine *k)
{
	for (int i = 0; i < k->n; i++)
		tensor_release(&k->copy[i]);
}

static int is_strict(const struct funnel *f)
{
	return f->o->track == TRACK_STRICT && !f->o->identity && !(f->o->rules_off >> RULE_compute & 1);
}

/* What forward leaves behind may only be what the reference's does. */
static int is_stateless(const struct funnel *f)
{
	return !f->o->identity && !f->t->keeps_state && !(f->o->rules_off >> RULE_state & 1);
}

/* Only forward is watched: the task's own get_inputs may compute what it likes. */
static int call_forward(struct funnel *f, struct val inputs, struct val *result)
{
	int rc;

	f->launch.cost = (struct tile_cost){ .launches = 0 };
	host_launches_clear(f->w.h);
	host_tuned_clear(f->w.h);
	host_ops_clear(f->w.h);
	host_set_compute(f->w.h, is_strict(f) ? refuse_compute : NULL, f);
	f->launch.may_keep = !is_stateless(f);
	host_guard(f->w.h, is_stateless(f));
	rc = host_forward(f->w.h, f->w.model, inputs, result, f->e);
	host_guard(f->w.h, 0);
	host_set_compute(f->w.h, NULL, NULL);
	return rc;
}

/* Calls forward on inputs that are watched: a candidate that writes to them fails. */
static int call_watched(struct funnel *f, struct val inputs, const struct trial *tr, struct outcome *out)
{
	struct pristine k = { .e = f->e };
	struct host *h = f->w.h;
	struct val result;
	int rc = host_tensors(h, inputs, copy_input, &k) ? -1 : call_forward(f, inputs, &result);

	if (rc > 0) {
		run_failed(f, tr->stage);
	} else if (!rc) {
		rc = results_take(&out->got, h, result, f->e);
		world_drop(&f->w, result);
	}
	if (!rc) {
		out->cost = f->launch.cost;
		out->host_seconds = ops_seconds(host_ops(h), f->o->gpu);
		out->launches = (int)host_launches(h).n;
		out->covers = covers_reference(f->t, h);
		host_tensors(h, inputs, compare_input, &k);
		if (k.changed)
			rc = funnel_failf(f, tr->stage, REASON_input_modified, "forward changed one of its inputs");
		if (rc)
			results_release(&out->got);
	}
	drop_pristine(&k);
	return rc;
}

/* Once on other contents, then the trial's own in the same tensors: what was kept shows. */
static int call_repeated(struct funnel *f, const struct trial *tr, struct outcome *out)
{
	struct outcome first;
	struct val inputs, own;
	int rc = world_inputs(&f->w, tr, 1, &inputs, f->e);

	if (rc)
		return rc > 0 ? run_failed(f, tr->stage) : -1;
	rc = call_watched(f, inputs, tr, &first);
	if (!rc) {
		results_release(&first.got);
		rc = world_inputs(&f->w, tr, 0, &own, f->e);
	}
	if (!rc) {
		rc = world_refill(&f->w, inputs, own, f->e);
		world_drop(&f->w, own);
	}
	if (!rc)
		rc = call_watched(f, inputs, tr, out);
	world_drop(&f->w, inputs);
	return rc;
}

/* The candidate built and given the trial's weights. One that does not take the reference's
 * weights is built again for every trial: what it starts with is all that is known of it. */
static int make_ready(struct funnel *f, const struct trial *tr)
{
	int rc;

	if (f->w.h && !strcmp(f->v->weights, "seed"))
		world_close(&f->w);
	rc = f->w.h ? 0 : world_open(&f->w, f->j, &f->p, 0, &f->launch, f->e);
	if (!rc)
		rc = world_renew(&f->w, tr, RUN_OWN, f->e);
	if (rc)
		return rc;
	if (f->w.set == tr->set && weights_bytes(tr->weights) > LARGE_WEIGHTS)
		return weights_restore(tr->weights, f->w.h, f->w.model, f->v->weights, f->e);
	f->w.set = tr->set;
	return weights_put(tr->weights, f->w.h, f->w.model, f->v->weights, f->e);
}

/* What the reference learns but starts as a constant must be somewhere in the candidate. */
static int lacks_weights(struct funnel *f, const struct trial *tr)
{
	const struct task_weight *w = strcmp(f->v->weights, "seed") ? NULL : weights_missing(tr->weights, f->w.h, f->w.model);

	return w && funnel_failf(f, tr->stage, REASON_weights_ignored, "the model has no parameter or buffer '%s' of the reference's shape, nor all of "
				 "the reference's in order", w->name);
}

int attempt_run(struct funnel *f, const struct trial *tr, struct outcome *out)
{
	struct val inputs;
	int rc;

	*out = (struct outcome){ .launches = 0 };
	f->launch.refused = f->launch.faulted = 0;
	rc = make_ready(f, tr);
	if (!rc && lacks_weights(f, tr))
		return 1;
	if (!rc && tr->repeat)
		return call_repeated(f, tr, out);
	if (!rc)
		rc = world_inputs(&f->w, tr, 0, &inputs, f->e);
	if (rc)
		return rc > 0 ? run_failed(f, tr->stage) : -1;
	rc = call_watched(f, inputs, tr, out);
	world_drop(&f->w, inputs);
	return rc;
}

static struct verdict_input *note_input(struct funnel *f, const struct trial *tr, const struct comparison *c)
{
	struct verdict_input *in;

	if (f->v->n_inputs == VERDICT_INPUTS)
		return NULL;
	in = &f->v->inputs[f->v->n_inputs++];
	snprintf(in->kind, sizeof in->kind, "%s", tr->kind);
	snprintf(in->shape, sizeof in->shape, "%s", tr->shape);
	in->passed = c->reason == REASON_ok;
	in->max_error = c->max_error;
	in->tolerance = c->reason == REASON_ok && c->allowed == 0.0 ? tr->expected.r[0].rel : c->allowed;
	return in;
}

void attempt_skip(struct funnel *f, const struct trial *tr, const char *why)
{
	struct comparison c = { .reason = REASON_ok };
	struct verdict_input *in = note_input(f, tr, &c);

	if (in)
		snprintf(in->skipped, sizeof in->skipped, "%s", why);
}

/* Right values that stayed in fp32 where the inputs came in half precision: the program is made
 * for fp32, which is what the task asks for. */
static int stayed_wide(const struct trial *tr, const struct results *got)
{
	struct results wide = *got;
	struct comparison c;

	if (tr->dt == DT_F32)
		return 0;
	for (int i = 0; i < wide.n; i++)
		if (wide.r[i].dt == DT_F32)
			wide.r[i].dt = tr->dt;
	results_compare(&tr->expected, &wide, &c);
	return c.reason == REASON_ok;
}

int attempt_judge(struct funnel *f, const struct trial *tr, const struct results *got)
{
	struct comparison c;

	if (judge_seen(f->j, f->t, tr, got, f->e))
		return -1;
	results_compare(&tr->expected, got, &c);
	if (c.reason == REASON_wrong_dtype && stayed_wide(tr, got)) {
		attempt_skip(f, tr, "the result stays in fp32");
		return 0;
	}
	note_input(f, tr, &c);
	if (c.reason == REASON_ok)
		return 0;
	snprintf(f->v->explain, sizeof f->v->explain, "input set '%s' (%s): %s", tr->kind, tr->shape, c.text);
	f->v->n_elements = c.n_shown;
	memcpy(f->v->elements, c.shown, (size_t)c.n_shown * sizeof *c.shown);
	funnel_failf(f, tr->stage, c.reason, "%s", c.text);
	if (c.reason == REASON_precision)
		diag_hint(&f->v->diag, "tl.dot multiplies fp32 in tf32 by default: say input_precision=\"ieee\"");
	return 1;
}
