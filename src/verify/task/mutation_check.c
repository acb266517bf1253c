/* The mutation check of a task: can its trials tell the reference from a program that is nearly
 * it?
 *
 * Mutants are the reference's tree with one thing changed (mutant.h), and its weights with one
 * part without effect (a bias of zeros, a norm's weight of ones). A mutant that gives the expected
 * results on every trial survives. It gets a stronger trial, which stays in the task if it helps;
 * else the survivor is named in the verdict: it may do the same as the reference, or the task is
 * weak there. */
#include <stdio.h>

#include "base/mem.h"
#include "verify/task/mutant.h"
#include "verify/task/task_build.h"

/* Trials that are tried on survivors, each kept if it tells one apart. */
static const struct { enum trial_kind kind; enum trial_change change; } stronger[] = {
	{ TRIAL_wide, CHANGE_WIDE }, { TRIAL_small, CHANGE_SMALL },
};

/* A mutant on trial. */
struct subject {
	struct task *t;
	struct task_build *b;
	struct val cls;           /* the class to run as; V_UNSET: the reference's own */
	int rebuilt;              /* of the world that the class was loaded in */
	const struct task_weight *part;   /* the weight without effect; NULL: none */
	double neutral;           /* the value that has no effect: zero, or one for a norm */
	int *passed;              /* the first trials did not tell it apart, and are not asked again: how many */
	struct err *e;
};

/* --- running ------------------------------------------------------------------------------ */

/* The context of blank_weight. */
struct blank { const struct subject *s; };

/* Fills the weight with the value that has no effect. */
static int blank_weight(void *ctx, struct str name, struct tensor_obj *obj)
{
	const struct subject *s = ((struct blank *)ctx)->s;
	int64_t n = tensor_numel(&obj->t);
	char *p = tensor_data(&obj->t);

	if (!str_is(name, s->part->name) || !tensor_is_contiguous(&obj->t))
		return 0;
	for (int64_t i = 0; i < n; i++, p += dtype_size(obj->t.dt))
		dtype_store(obj->t.dt, p, s->neutral);
	return 0;
}

/* Did a limit end the host, or was it opened again since the mutant's class was loaded? */
static int is_gone(const struct subject *s)
{
	const struct world *w = &s->b->own;

	return !w->h || host_is_lost(w->h) || (s->cls.kind != V_UNSET && w->rebuilt != s->rebuilt);
}

/* Runs the model with the mutant's class or weight in place of its own. */
static int run_subject(const struct subject *s, const struct trial *tr, struct results *out)
{
	struct world *w = &s->b->own;
	struct class_obj *own = w->model.u.o->cls;
	struct blank b = { .s = s };
	int rc;

	if (s->cls.kind != V_UNSET)
		w->model.u.o->cls = s->cls.u.c;
	if (s->part)
		host_state(w->h, w->model, blank_weight, &b);
	rc = task_call_reference(s->b, tr, out, s->e);
	w->model.u.o->cls = own;
	if (s->part)
		w->set = WEIGHT_SETS;
	return rc;
}

/* Returns 1 if the mutant fails or gives other results than expected, 0 if it gives these, -1 on
 * our own failure (*e). */
static int told_apart(const struct subject *s, const struct trial *tr)
{
	struct results got = { .n = 0 };
	int same, rc = s->cls.kind != V_UNSET && is_gone(s) ? 1 : task_prepare_reference(s->b, tr, RUN_OWN, s->e);

	if (!rc)
		rc = run_subject(s, tr, &got);
	if (rc)
		return rc < 0 ? -1 : 1;
	same = results_match(&task_expectation(s->t, tr)->expected, &got);
	results_release(&got);
	return !same;
}

/* Does the mutant give the expected results on all trials? Those of the tiny size come first,
 * since most mutants end there. Half precision comes last in the list and is not asked. */
static int survives(const struct subject *s)
{
	struct task *t = s->t;
	int n = t->image.n_trials;

	while (n && t->image.trial[n - 1].dt != DT_F32)
		n--;
	for (int pass = 0; pass < 2; pass++)
		for (int i = *s->passed; i < n; i++) {
			const struct trial *tr = &t->image.trial[i];
			int other = memcmp(tr->ov, t->image.trial[0].ov, tr->n_ov * sizeof *tr->ov) != 0;
			int rc = other == pass ? told_apart(s, tr) : 0;

			if (rc)
				return rc < 0 ? -1 : 0;
		}
	*s->passed = n;
	return 1;
}

/* Tries the stronger trials. Returns 1 if one tells the mutant apart; that trial stays. */
static int strengthen(const struct subject *s)
{
	for (size_t i = 0; i < COUNT_OF(stronger); i++) {
		struct trial *tr = task_insert_trial(s->t, &s->t->image.trial[0], stronger[i].kind, EXT_mutation);
		int rc;

		if (!tr)
			return 0;
		tr->change = stronger[i].change;
		rc = task_expect(s->b, tr, task_expectation_of(s->t, tr), s->e);
		s->t->problem = (struct diag){ .reason = REASON_ok };   /* it was this trial's, not the task's */
		if (!rc)
			rc = !is_gone(s) && told_apart(s, tr) > 0 ? 0 : 1;
		if (rc && is_gone(s)) {
			task_remove_trial(s->t, tr);
			return rc < 0 ? -1 : 0;
		}
		if (!rc) {
			buf_addf(&s->t->notes, "input set '%s' added: it tells a mutant apart that the others do not\n",
				 trial_name(tr->kind));
			return 1;
		}
		task_remove_trial(s->t, tr);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* Result of check_subject, in addition to 0 and -1: the mutant survives the trials that are
 * prepared, and other trials are still to be prepared. */
enum { WAITS = 1 };

/* Checks one mutant. `order`: it swaps two steps. Steps whose order makes no difference are no
 * weakness of the inputs, and are counted apart. */
static int check_subject(const struct subject *s, const char *text, int order)
{
	struct task *t = s->t;
	int rc = survives(s);

	if (rc > 0 && s->b->has_due)
		return WAITS;
	t->check.mutants++;
	if (rc > 0) {
		rc = strengthen(s);
		rc = rc < 0 ? -1 : !rc;
	}
	if (rc <= 0)
		return rc;
	if (!order && !t->check.survivors++)
		snprintf(t->check.survivor, sizeof t->check.survivor, "%s", text);
	t->check.equal += order;
	buf_addf(&t->notes, "mutant that no input set tells from the reference: %s\n", text);
	return 0;
}

/* --- the two kinds of mutants ------------------------------------------------------------- */

/* Loads the mutated tree and checks its class Model. */
static int try_tree(struct task_build *b, struct py_module *m, struct mutant *x, int *passed, struct err *e)
{
	struct task *t = b->t;
	struct subject s = { .t = t, .b = b, .rebuilt = b->own.rebuilt, .passed = passed, .e = e };
	struct val ns;
	int rc, fails;

	mutant_apply(x);
	fails = host_load(b->own.h, m, NULL, 0, &ns, e);
	rc = fails < 0 ? -1 : 0;
	if (!fails && host_get(b->own.h, ns, "Model", &s.cls) && s.cls.kind == V_CLASS)
		rc = check_subject(&s, x->text, x->other != NULL);
	mutant_undo(x);
	if (!fails && !is_gone(&s))
		val_drop(b->own.h, ns);
	return rc;
}

/* Checks a mutant, and prepares due trials as long as it survives. The mutant is loaded again
 * then: preparing a trial may end the host that it was loaded in. */
static int check_tree(struct task_build *b, struct py_module *m, struct mutant *x, struct err *e)
{
	int passed = 0, rc;

	while ((rc = try_tree(b, m, x, &passed, e)) == WAITS)
		if (task_expect_next(b, e))
			return -1;
	return rc;
}

/* Checks the mutants of the tree. One that reaches a limit ends the check: the host is gone. */
static int check_trees(struct task_build *b, struct py_module *m, struct err *e)
{
	struct task *t = b->t;
	struct mutant x[MUTANTS_MOST];
	int n = mutants_find(m, x, MUTANTS_MOST);

	if (n < 0)
		return err_nomem(e);
	for (int i = 0; i < n; i++) {
		if (check_tree(b, m, &x[i], e))
			return -1;
		if (host_is_lost(b->own.h)) {
			buf_addf(&t->notes, "mutants: stopped after one that hits a limit: %s\n", x[i].text);
			return 0;
		}
	}
	return 0;
}

/* Checks weights without effect: a bias of zeros, the weight of a norm (one axis only) of ones. */
static int check_weights(struct task_build *b, struct err *e)
{
	struct task *t = b->t;

	for (size_t i = 0; i < t->image.set[WEIGHTS_BUILT].n && i < MUTANTS_MOST; i++) {
		const struct task_weight *w = &t->image.set[WEIGHTS_BUILT].v[i];
		int bias = str_ends(str_of(w->name), "bias"), norm = str_ends(str_of(w->name), "weight") &&
			w->t.ndim == 1;
		int passed = 0, rc;
		struct subject s = { .t = t, .b = b, .part = w, .neutral = norm ? 1.0 : 0.0,
				     .passed = &passed, .e = e };
		char text[80];

		if (!bias && !norm)
			continue;
		snprintf(text, sizeof text, "%.60s without effect", w->name);
		while ((rc = check_subject(&s, text, 0)) == WAITS)
			if (task_expect_next(b, e))
				return -1;
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* The tree is parsed again for this check: mutants change it in place. Large tasks are not checked,
 * since each mutant costs a run for each trial. */
int task_check_mutants(struct task_build *b, struct err *e)
{
	struct task *t = b->t;
	struct err pe = ERR_INIT;
	int rc;

	if (!ext_on(judge_options(t->judge), EXT_mutation) || t->large)
		return 0;
	if (py_parse(&b->mutable, str_of(t->image.source), t->name, 64u << 20, &pe))
		return err_set(e, pe.code, "%s", pe.text);
	b->has_mutable = 1;
	rc = check_trees(b, &b->mutable, e) || check_weights(b, e) ? -1 : 0;
	if (t->check.mutants)
		buf_addf(&t->notes, "mutants: %d of %d told apart\n",
			 t->check.mutants - t->check.survivors - t->check.equal, t->check.mutants);
	return rc;
}
