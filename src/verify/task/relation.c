/* Metamorphic relations: how the reference's result changes when its inputs are changed in some
 * way.
 *
 * Runs of the reference in fp64 show which relations hold. Each of these becomes a trial on the
 * inputs of the tiny one, and its expected result is made from the tiny one's by the relation. A
 * candidate that passes the tiny trial and fails this one contradicts itself. */
#include <math.h>

#include "base/mem.h"
#include "verify/task/task_build.h"

/* The results that a relation computes its expected result from: that on the unchanged inputs and,
 * for sums, that on the inputs which are added. */
struct related {
	const struct result *base, *more;
	int64_t batch;
};

/* Forms of a relation. Each fills *out by form k (a degree, a sign) and returns nonzero if there
 * is no such form. Doubled inputs: the result times 1, 2, 4 or 8. */
static int by_degree(const struct related *x, int k, struct result *out)
{
	for (int64_t i = 0; i < out->n; i++)
		out->v[i] = ldexp(x->base->v[i], k);
	return k > 3;
}

/* Negated inputs: the same result, or the negated one. */
static int by_sign(const struct related *x, int k, struct result *out)
{
	for (int64_t i = 0; i < out->n; i++)
		out->v[i] = k ? -x->base->v[i] : x->base->v[i];
	return k > 1;
}

/* The same result. */
static int unchanged(const struct related *x, int k, struct result *out)
{
	memcpy(out->v, x->base->v, (size_t)out->n * sizeof *out->v);
	return k > 0;
}

/* A reversed batch: the rows reversed, or (form 1) the same result. */
static int reversed(const struct related *x, int k, struct result *out)
{
	int64_t rows = x->base->ndim ? x->base->shape[0] : 1, row = rows ? out->n / rows : 0;

	if (k == 1)
		return unchanged(x, 0, out);
	for (int64_t i = 0; i < rows; i++)
		memcpy(out->v + i * row, x->base->v + (rows - 1 - i) * row, (size_t)row * sizeof *out->v);
	return k > 1 || rows != x->batch;
}

/* The first row of the batch: the first row of the result. */
static int first_row(const struct related *x, int k, struct result *out)
{
	if (k || !x->base->ndim || x->base->shape[0] != x->batch)
		return 1;
	out->shape[0] = 1;
	out->n = x->base->n / x->batch;
	memcpy(out->v, x->base->v, (size_t)out->n * sizeof *out->v);
	return 0;
}

/* The sum of two inputs: the sum of the results. */
static int summed(const struct related *x, int k, struct result *out)
{
	for (int64_t i = 0; i < out->n; i++)
		out->v[i] = x->base->v[i] + x->more->v[i];
	return k > 0;
}

/* A relation that references may satisfy: the change of the inputs, and the forms that the result
 * may take. */
struct relation {
	enum trial_kind kind;
	enum trial_change change;
	int (*form)(const struct related *x, int k, struct result *out);
	double slack;             /* relative distance that rounding of the changed inputs may cause */
	const char *text;
};

/* Relations in the order in which they are tried; the text goes to the notes of the task. */
static const struct relation relations[] = {
	{ TRIAL_slice, CHANGE_FIRST_ROW, first_row, 1e-9,
	  "the first row of a batch gives the first row of the result" },
	{ TRIAL_permute, CHANGE_REVERSE_BATCH, reversed, 1e-9,
	  "a permuted batch gives the permuted (or the same) result" },
	{ TRIAL_negate, CHANGE_NEGATE, by_sign, 1e-9, "negated inputs give the same or the negated result" },
	{ TRIAL_shift, CHANGE_SHIFT, unchanged, 1e-5, "inputs moved by a constant give the same result" },
	{ TRIAL_double, CHANGE_SCALE, by_degree, 1e-9, "doubled inputs give the result times a power of two" },
	{ TRIAL_add, CHANGE_ADD, summed, 1e-5, "the sum of two inputs gives the sum of the results" },
};

/* Makes form k of the relation. Returns 0 and *want, 1 if there is no such form, -1 on our own
 * failure (*e). */
static int make_form(const struct relation *rel, int k, const struct results *base, const struct results *more,
		     int64_t batch,
		     struct results *want, struct err *e)
{
	if (results_alike(want, base, e))
		return -1;
	for (int i = 0; i < base->n; i++) {
		struct related x = { .base = &base->r[i], .more = more ? &more->r[i] : NULL, .batch = batch };

		if (rel->form(&x, k, &want->r[i])) {
			results_release(want);
			return 1;
		}
	}
	return 0;
}

/* Finds the form that the reference's result has. Returns 0 and *want, 1 if it has none, -1 on our
 * own failure (*e). */
static int find_form(const struct relation *rel, const struct results *base, const struct results *more, int64_t batch,
		     const struct results *got, struct results *want, struct err *e)
{
	int rc;

	for (int k = 0; !(rc = make_form(rel, k, base, more, batch, want, e)) || k < 2; k++) {
		if (rc < 0)
			return -1;
		if (rc)
			continue;
		if (results_distance(want, got, DISTANCE_ALL) <= rel->slack)
			return 0;
		results_release(want);
	}
	return rc;
}

/* The first size of the first input. */
static int64_t batch_of(const struct trial *tr)
{
	return tr->ndim ? tr->shape[0] : 0;
}

/* The trial whose inputs relations change, and its expected results. */
struct base_trial {
	const struct trial *tr;
	const struct expectation *x;
};

/* The reference's result on the inputs that are added, which are those of the next seed. Returns 1
 * if it has another form than the base's. */
static int run_more(struct task_build *b, const struct base_trial *base, struct results *more, struct err *e)
{
	struct trial next = *base->tr;
	int rc;

	next.seed++;
	next.inputs = (struct val){ .kind = V_UNSET };
	rc = task_run_reference(b, &next, RUN_ORACLE, more, e);
	if (!rc && results_distance(more, &base->x->expected, DISTANCE_ALL) == INFINITY) {
		results_release(more);
		rc = 1;
	}
	return rc;
}

/* Does the relation hold? Then the trial is prepared, with the result that the relation gives.
 * Returns 0 on success, 1 if it does not hold, -1 on our own failure (*e). */
static int try_relation(struct task_build *b, const struct relation *rel, const struct base_trial *base,
			struct trial *tr, struct err *e)
{
	struct expectation *x;
	struct results got = { .n = 0 }, more = { .n = 0 }, want;
	int rc = task_store_inputs(b, tr, e);

	if (!rc && rel->change == CHANGE_ADD)
		rc = run_more(b, base, &more, e);
	if (!rc)
		rc = task_run_reference(b, tr, RUN_ORACLE, &got, e);
	if (!rc)
		rc = find_form(rel, &base->x->expected, more.n ? &more : NULL, batch_of(base->tr), &got, &want, e);
	results_release(&got);
	results_release(&more);
	if (rc)
		return rc;
	x = task_expectation_of(b->t, tr);
	rc = task_expect(b, tr, x, e);
	for (int i = 0; !rc && i < want.n; i++)
		memcpy(x->expected.r[i].v, want.r[i].v, (size_t)want.r[i].n * sizeof *want.r[i].v);
	results_release(&want);
	return rc;
}

/* Adds a trial for the relation, and removes it again if the relation does not hold. With `first`
 * only the first input is changed. */
static int add_relation(struct task_build *b, const struct relation *rel, const struct base_trial *base, int first,
			struct err *e)
{
	struct task *t = b->t;
	struct trial *tr = task_insert_trial(t, base->tr, rel->kind, EXT_metamorphic);
	int rc;

	if (!tr)
		return 1;
	tr->change = rel->change;
	tr->first = first;
	rc = try_relation(b, rel, base, tr, e);
	if (rc)
		task_remove_trial(t, tr);
	else
		buf_addf(&t->notes, "relation: %s%s\n", rel->text, first ? " (first input alone)" : "");
	return rc;
}

/* Counts the tensors of the inputs. */
static int count_tensor(void *ctx, struct str name, struct tensor_obj *obj)
{
	(void)name, (void)obj;
	++*(int *)ctx;
	return 0;
}

/* Tries each relation, on all inputs and then on the first input only. A shorter batch is legal
 * only if a size of the task sets the length of the batch. */
static int find_relations(struct task_build *b, const struct base_trial *base, struct err *e)
{
	struct task *t = b->t;
	int inputs = 0;

	host_tensors(t->image.vault, base->tr->inputs, count_tensor, &inputs);
	for (size_t i = 0; i < COUNT_OF(relations); i++) {
		int rc = relations[i].change == CHANGE_FIRST_ROW && !t->n_sizes ? 1 :
			add_relation(b, &relations[i], base, 0, e);

		if (rc > 0 && inputs > 1 && relations[i].change != CHANGE_ADD &&
		    relations[i].change != CHANGE_FIRST_ROW)
			rc = add_relation(b, &relations[i], base, 1, e);
		if (rc < 0)
			return -1;
		if (t->problem.reason != REASON_ok)
			t->problem = (struct diag){ .reason = REASON_ok };   /* it was this trial's, not the task's */
	}
	return 0;
}

/* Makes the first trial at the sizes at which relations are found. Returns 1 if the first trial has
 * these sizes already. */
static int make_base(const struct task_build *b, struct trial *base)
{
	const struct task *t = b->t;
	const struct trial *first = &t->image.trial[0];
	int same = 1;

	*base = (struct trial){ .kind = first->kind, .stage = first->stage, .ext = first->ext,
				.n_ov = first->n_ov, .seed = first->seed,
				.set = first->set, .state = first->state, .dt = first->dt };
	memcpy(base->ov, first->ov, sizeof base->ov);
	for (size_t i = 0; i < t->n_sizes; i++) {
		same &= base->ov[i].value == b->least[i];
		base->ov[i].value = b->least[i];
	}
	return same;
}

/* Relations are found at the smallest sizes: if the first trial has other sizes, a trial at the
 * smallest ones is prepared for the search and dropped again. */
int task_find_relations(struct task_build *b, struct err *e)
{
	struct task *t = b->t;
	struct trial base;
	struct expectation x = { .rounding = 0.0 };
	struct base_trial of = { .tr = &base, .x = &x };
	int rc = 0;

	if (!ext_on(judge_options(t->judge), EXT_metamorphic) || t->is_fixed || t->large)
		return 0;
	if (make_base(b, &base))
		of = (struct base_trial){ .tr = &t->image.trial[0], .x = &t->expect[0] };
	else
		rc = task_expect(b, &base, &x, e);
	t->problem = (struct diag){ .reason = REASON_ok };   /* it was the base's, not the task's */
	if (!rc && of.tr->inputs.kind != V_UNSET)
		rc = find_relations(b, &of, e);
	trial_release(&base);
	expectation_release(&x);
	return rc < 0 ? -1 : 0;
}
