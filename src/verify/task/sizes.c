/* The trials of a task: which sizes, seeds, dtypes and changes of the inputs.
 *
 * Sizes come from the task's own constants (host/shrink.h). The tiny trial has the smallest sizes
 * that the reference accepts: 4096 x 1024 becomes 3 x 3 for a ReLU, 8 x 8 for a norm of 8 groups.
 * The original is shrunk only as far as the limit on elements asks. The trial `shape` is odd, and
 * larger than any block that fits the original.
 *
 * Invariant: each trial of the list has sizes at which the reference was seen to run. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "host/shrink.h"
#include "verify/candidate/input_change.h"
#include "verify/candidate/dry_run.h"
#include "verify/task/task_build.h"

/* A run of more work than this (about nanoseconds) even at the smallest size, or with a tensor of
 * more bytes, is large: the task gets as few trials as possible, and sizes are tried by dry
 * runs. */
enum { LARGE_WORK = 1 << 26, LARGE_TENSOR = 1 << 24 };
/* A run of no more work than the first is made at full size; of no more than the second, on every
 * trial. Between the two, relations and half precision use the smallest sizes. */
enum { FULL_SIZE_WORK = 1 << 21, FULL_SIZE_WORK_ALL = 1 << 18 };

/* A trial at which the reference computes a tensor of more bytes, or does more work, is shrunk
 * further. */
enum { TENSOR_MOST = 1 << 25, WORK_MOST = 1 << 30 };

/* A search for sizes. */
struct sizes {
	struct task *t;               /* b->t */
	struct task_build *b;
	struct shrink_const c[TASK_SIZES];
	size_t n;
	int64_t v[TASK_SIZES];        /* the sizes that are being tried */
	struct dry_run_cost cost;     /* cost of the reference's last run or dry run */
	int64_t at[TASK_SIZES];       /* sizes of that run */
	int64_t got;                  /* the value that try_sizes returned for it; 0: no run yet */
	int64_t tiny[TRIAL_SIZES];    /* the smallest sizes, */
	struct dry_run_cost least;    /* and the cost of a run there */
	int large;                    /* some run was large: dry runs are made from then on */
	struct err *e;
};

/* Gives a trial these sizes, followed by those of a shrunk model. A task at chosen sizes already
 * lists the sizes of its model. */
static void put_sizes(struct trial *tr, const struct sizes *s, const int64_t *v)
{
	const struct program *p = &s->t->image.reference;

	for (size_t i = 0; i < s->n; i++)
		tr->ov[i] = (struct host_override){ .name = s->c[i].name, .value = v[i] };
	for (size_t i = 0; i < p->n_ov && !s->t->is_fixed; i++)
		tr->ov[s->n + i] = p->ov[i];
	tr->n_ov = s->n + (s->t->is_fixed ? 0 : p->n_ov);
}

/* The elements of the inputs. */
struct count {
	int64_t elements, integers;   /* of all inputs; of those that hold integers */
	int can_choose;               /* some of them hold integers or are masks */
};

/* Adds one input. */
static int count_elements(void *ctx, struct str name, struct tensor_obj *obj)
{
	(void)name;
	((struct count *)ctx)->elements += tensor_numel(&obj->t);
	((struct count *)ctx)->integers += dtype_is_float(obj->t.dt) ? 0 : tensor_numel(&obj->t);
	((struct count *)ctx)->can_choose |= change_can_choose(&obj->t);
	return 0;
}

/* The cost of the reference's last run, in about nanoseconds: its steps in the interpreter and its
 * work on tensors. */
static int64_t work_done(const struct task_build *b)
{
	return 64 * host_usage(b->own.h).steps + host_ops_work(b->own.h);
}

/* Is a run of this cost large? Work and memory both count. */
static int is_large(const struct dry_run_cost *c)
{
	return c->work > LARGE_WORK || c->largest > LARGE_TENSOR;
}

/* Does the reference return the index of its largest or smallest value? If several values are
 * equal, the result is the first of them; and at full size, with millions of values, some are
 * equal. (The order of equal values in a sort is not defined.) */
static int asked_for_indices(struct host *h, struct val result)
{
	struct host_ops ops = host_ops(h);
	struct count c = { .elements = 0 };
	int asked = 0, may_ask = 0;

	host_tensors(h, result, count_elements, &c);
	for (size_t i = 0; i < ops.n; i++) {
		const char *dot = strrchr(ops.v[i].name, '.'), *word = dot ? dot + 1 : ops.v[i].name;

		asked |= !strcmp(word, "argmax") || !strcmp(word, "argmin");
		may_ask |= !strcmp(word, "max") || !strcmp(word, "min");
	}
	return asked || (may_ask && c.integers);
}

/* Does the reference run on these inputs? A large one is tried by a dry run, unless it needs
 * values. Returns 0 on success, 1 if it does not, -1 on our own failure (*e). */
static int try_forward(struct sizes *s, const struct trial *tr, struct val inputs)
{
	struct world *w = &s->b->own;
	struct val out;
	int rc = 0;

	s->cost = (struct dry_run_cost){ .guessed = 1 };
	if (s->large)
		rc = dry_run_reference(s->t->judge, &s->t->image.reference, tr->ov, tr->n_ov, &s->cost, s->e);
	if (rc < 0 || !s->cost.guessed)
		return rc;
	host_ops_clear(w->h);
	rc = host_forward(w->h, w->model, inputs, &out, s->e);
	if (!rc) {
		s->t->asks_for_indices |= asked_for_indices(w->h, out);
		world_drop(w, out);
	}
	s->cost.work = work_done(s->b);
	s->cost.largest = host_usage(w->h).largest;
	s->large |= is_large(&s->cost);
	return rc;
}

/* Draws the inputs at these sizes, and with `forward` runs the reference on them. Returns as
 * try_sizes. */
static int64_t draw_at(struct sizes *s, const int64_t *v, int forward)
{
	struct trial tr = { .stage = STAGE_tiny, .seed = 1, .dt = DT_F32 };
	struct world *w = &s->b->own;
	struct count c = { .elements = 0 };
	struct val inputs;
	int rc;

	put_sizes(&tr, s, v);
	rc = world_renew(w, &tr, RUN_OWN, s->e);
	if (!rc)
		rc = world_draw(w, &tr, tr.seed, &inputs, s->e);
	if (!rc) {
		host_tensors(w->h, inputs, count_elements, &c);
		s->t->has_choices = c.can_choose;
		if (forward)
			rc = try_forward(s, &tr, inputs);
		world_drop(w, inputs);
	}
	if (rc > 0 && s->t->problem.reason == REASON_ok)
		snprintf(s->t->problem.hint, sizeof s->t->problem.hint, "%.190s",
			 s->cost.why[0] ? s->cost.why : host_diag(w->h)->text);
	return rc < 0 ? -2 : rc > 0 ? -1 : c.elements;
}

/* The number of input elements at these sizes; -1: the task does not run at them; -2: our own
 * failure. With `forward` the reference must run, too; a run at the same sizes as the last one is
 * not repeated. Without it the inputs are only drawn, which is much cheaper. */
static int64_t try_sizes(struct sizes *s, const int64_t *v, int forward)
{
	if (s->got > 0 && !memcmp(s->at, v, s->n * sizeof *v))
		return s->got;
	if (!forward)
		return draw_at(s, v, 0);
	s->got = draw_at(s, v, 1);
	memcpy(s->at, v, s->n * sizeof *v);
	return s->got;
}

/* Shrinks constant i to the smallest of a few values at which the reference runs. Returns 0 on
 * success, -1 on failure. */
static int shrink_one(struct sizes *s, size_t i)
{
	static const int64_t small[] = { 3, 5, 8, 12, 16, 24, 32, 48, 64 };
	int64_t was = s->v[i];

	for (size_t k = 0; k < COUNT_OF(small) && small[k] < was; k++) {
		int64_t got;

		s->v[i] = small[k];
		got = try_sizes(s, s->v, 1);
		if (got == -2)
			return -1;
		if (got >= 0)
			return 0;
	}
	s->v[i] = was;
	return 0;
}

/* Finds the smallest sizes: first all constants at once, then one by one. */
static int find_tiny(struct sizes *s)
{
	int64_t trial[TRIAL_SIZES], got;
	static const int64_t together[] = { 3, 5, 8, 16 };

	for (size_t k = 0; k < COUNT_OF(together); k++) {
		for (size_t i = 0; i < s->n; i++)
			trial[i] = MIN(together[k], s->c[i].value);
		got = try_sizes(s, trial, 1);
		if (got == -2)
			return -1;
		if (got >= 0) {
			memcpy(s->v, trial, sizeof trial);
			return 0;
		}
	}
	for (size_t i = 0; i < s->n; i++)
		s->v[i] = s->c[i].value;
	for (size_t i = 0; i < s->n; i++)
		if (shrink_one(s, i))
			return -1;
	return 0;
}

/* Finds the power with which the number of input elements grows with each constant: 2 for one that
 * is two axes. It is found by doubling the constant at small sizes, since drawing the original
 * inputs just to count them may take gigabytes. */
static int find_degrees(struct sizes *s, const int64_t *tiny, double base, double *degree)
{
	int64_t v[TRIAL_SIZES];

	for (size_t i = 0; i < s->n; i++) {
		int64_t got;

		memcpy(v, tiny, sizeof v);
		v[i] *= 2;
		got = try_sizes(s, v, 0);
		if (got == -2)
			return -1;
		degree[i] = got > 0 && base > 0 ? fmax(log2((double)got / base), 0.0) : 2.0;
	}
	return 0;
}

/* Can a run be too large there, if tensors grow at most with the square of the sizes, and work
 * with their third power? */
static int may_be_too_large(const struct sizes *s, const int64_t *v)
{
	double more = 1.0;

	for (size_t i = 0; i < s->n; i++)
		more *= (double)v[i] / (double)s->tiny[i];
	return (double)s->least.largest * more * more > TENSOR_MOST || (double)s->least.work * more *
		more * more > WORK_MOST;
}

/* Does the reference compute tensors there that are too large to be held several times, or work too
 * long? If it may, a dry run tells: small inputs may have results of gigabytes. Returns 1 if so, -1
 * on our own failure (*e). */
static int is_too_large(struct sizes *s, const int64_t *v)
{
	struct trial tr = { .dt = DT_F32 };
	struct dry_run_cost cost;
	int rc;

	if (!may_be_too_large(s, v))
		return 0;
	put_sizes(&tr, s, v);
	rc = dry_run_reference(s->t->judge, &s->t->image.reference, tr.ov, tr.n_ov, &cost, s->e);
	return rc < 0 ? -1 : !rc && (cost.largest > TENSOR_MOST || cost.work > WORK_MOST);
}

/* Halves the constant that is largest relative to its tiny value, until the inputs fit the limit
 * and the reference runs. With a limit of 131072 elements, 4096 x 1024 becomes 256 x 512. */
static int find_original(struct sizes *s, const int64_t *tiny, int64_t *v)
{
	double limit = (double)judge_options(s->t->judge)->elements, base = (double)try_sizes(s, tiny, 0);
	double degree[TRIAL_SIZES];

	if (base < 0 || find_degrees(s, tiny, base, degree))
		return -1;
	for (size_t i = 0; i < s->n; i++)
		v[i] = MAX(s->c[i].value, tiny[i]);
	for (int tries = 0; tries < 200; tries++) {
		size_t big = s->n;
		double elements = base;

		for (size_t i = 0; i < s->n; i++) {
			elements *= pow((double)v[i] / (double)tiny[i], degree[i]);
			if (v[i] > tiny[i] && (big == s->n || v[i] * tiny[big] > v[big] * tiny[i]))
				big = i;
		}
		if (elements <= limit || big == s->n) {
			int large = big == s->n ? 0 : is_too_large(s, v);
			int64_t got = large ? -1 : try_sizes(s, v, 1);

			if (large < 0)
				return -1;
			if (got != -1 || big == s->n)
				return got == -2 ? -1 : 0;
		}
		v[big] = MAX(tiny[big], v[big] / 2);
	}
	memcpy(v, tiny, s->n * sizeof *v);
	return 0;
}

/* --- the list of trials ------------------------------------------------------------------- */

/* Adds a trial to the list. Its seed is made of the secret seed and its kind. */
static struct trial *add(struct sizes *s, enum trial_kind kind, enum judge_stage stage, const int64_t *v)
{
	struct task *t = s->t;
	struct trial *tr = &t->image.trial[t->image.n_trials++];

	*tr = (struct trial){ .kind = kind, .stage = stage, .dt = DT_F32, .ext = kind <= TRIAL_original ?
			      EXTS : EXT_multi_input };
	put_sizes(tr, s, v);
	tr->seed = judge_options(t->judge)->seed * 1000003u + (uint64_t)kind + 1;
	return tr;
}

/* Adds the original. If the first trial has the same sizes, it is the original itself: a checked
 * run shows all that another one would. */
static void add_original(struct sizes *s, const int64_t *v)
{
	struct task *t = s->t;
	int same = t->image.n_trials && ext_on(judge_options(t->judge), EXT_funnel);

	for (size_t i = 0; i < s->n && same; i++)
		same = t->image.trial[0].ov[i].value == v[i];
	(same ? &t->image.trial[0] : add(s, TRIAL_original, STAGE_full, v))->is_original = 1;
}

/* One more than the power of two that a block for the original would have: 1000 becomes 1025. The
 * first size, mostly the batch, pays for it with three, which is neither one nor a multiple of a
 * block. */
static void odd_shape(const struct sizes *s, const int64_t *v, int64_t *out)
{
	for (size_t i = 0; i < s->n; i++) {
		int64_t block = 1;

		while (block < v[i])
			block *= 2;
		out[i] = i == 0 && s->n > 1 ? 3 : block + 1;
	}
}

/* Finds another shape that the reference accepts: an odd one, else twice the first size. Returns 0
 * on success, 1 if the reference accepts neither, -1 on our own failure (*s->e). */
static int other_shape(struct sizes *s, const int64_t *v, int64_t *out)
{
	int64_t got;
	int large;

	if (!s->n)
		return 1;
	odd_shape(s, v, out);
	large = is_too_large(s, out);
	if (large < 0)
		return -1;
	got = large ? -1 : try_sizes(s, out, 1);
	if (got == -1) {
		memcpy(out, v, s->n * sizeof *out);
		out[0] *= 2;
		got = try_sizes(s, out, 1);
	}
	return got == -2 ? -1 : got < 0;
}

/* Does the constructor fill some weight with one value? Only then is there a trial with moved
 * constants. */
static int any_moved(const struct task_weights *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].moved)
			return 1;
	return 0;
}

/* Values that get_inputs does not draw, but that a program for any input must take. */
static void add_values(struct sizes *s, const int64_t *v)
{
	static const struct { enum trial_kind kind; enum trial_change change; } sets[] = {
		{ TRIAL_spread, CHANGE_SPREAD }, { TRIAL_large, CHANGE_LARGE },
		{ TRIAL_halves, CHANGE_HALVES_FAINT }, { TRIAL_offset, CHANGE_OFFSET } };

	for (size_t i = 0; i < COUNT_OF(sets); i++)
		add(s, sets[i].kind, STAGE_full, v)->change = sets[i].change;
	if (!s->t->has_choices)
		return;
	add(s, TRIAL_integers, STAGE_full, v)->change = CHANGE_INTEGERS;
	add(s, TRIAL_ends, STAGE_full, v)->change = CHANGE_ENDS;
	add(s, TRIAL_empty, STAGE_full, v)->change = CHANGE_EMPTY;
}

/* For large runs: outliers in one block of several, which the smallest sizes do not have. */
static void add_outliers(struct sizes *s, const int64_t *v)
{
	add(s, TRIAL_spread, STAGE_full, v)->change = CHANGE_SPREAD;
	add(s, TRIAL_offset, STAGE_full, v)->change = CHANGE_OFFSET;
}

/* Lists the trials of a task in the order in which they are run. Half precision comes last: it
 * leaves the model in that dtype. */
static void list_trials(struct sizes *s, const int64_t *least, const int64_t *tiny, const int64_t *original,
			const int64_t *other)
{
	struct trial *tr;

	add(s, TRIAL_tiny, STAGE_tiny, tiny);
	add_original(s, original);
	add(s, TRIAL_scaled, STAGE_full, tiny)->change = CHANGE_SCALE;
	add(s, TRIAL_signed, STAGE_full, tiny)->change = CHANGE_SIGNED;
	tr = add(s, TRIAL_reseeded, STAGE_full, tiny);
	tr->repeat = 1;
	tr->set = WEIGHTS_DRAWN;
	if (any_moved(&s->t->image.set[WEIGHTS_MOVED]))
		add(s, TRIAL_constants, STAGE_full, tiny)->set = WEIGHTS_MOVED;
	if (s->t->asks_for_indices)
		add(s, TRIAL_equal, STAGE_full, tiny)->change = CHANGE_EQUAL;
	add_values(s, tiny);
	if (other)
		add(s, TRIAL_shape, STAGE_full, other);
	add(s, TRIAL_dtype, STAGE_full, least)->dt = DT_F16;
	for (size_t i = 0; i < s->n; i++)
		s->b->least[i] = least[i];
}

/* The fewest trials: in the third one all weights and every other sign are new. */
static void list_large(struct sizes *s, const int64_t *v)
{
	struct trial *tr;

	add(s, TRIAL_tiny, STAGE_tiny, v);
	add_original(s, v);
	tr = add(s, TRIAL_reseeded, STAGE_full, v);
	tr->change = CHANGE_SIGNED;
	tr->set = WEIGHTS_DRAWN;
	if (any_moved(&s->t->image.set[WEIGHTS_MOVED]))
		add(s, TRIAL_constants, STAGE_full, v)->set = WEIGHTS_MOVED;
}

/* A trial whose inputs hold a value that get_inputs seldom draws. */
static void add_rare(struct sizes *s, double value)
{
	struct trial *tr = add(s, TRIAL_rare, STAGE_full, s->t->fixed);

	tr->ext = EXT_rare_values;
	tr->change = CHANGE_RARE;
	tr->rare = value;
}

/* Lists the trials of a task at chosen sizes, all of them at these sizes. If a run is large, one
 * trial covers several kinds of changes. The smallest reduced task has one trial, with all weights
 * and signs new, so that the trial shows any part that a candidate leaves out. */
static void list_fixed(struct sizes *s)
{
	struct task *t = s->t;
	struct trial *tr;

	for (size_t i = 0; i < t->image.n_all; i++)
		s->c[i].name = t->image.size[i].name;
	if (!t->reduced.indices)
		add(s, TRIAL_tiny, STAGE_tiny, t->fixed);
	add_original(s, t->fixed);
	for (int i = 0; i < s->b->n_rare; i++)
		add_rare(s, s->b->rare[i]);
	if (s->b->n_rare)
		return;
	if (!t->large) {
		add(s, TRIAL_scaled, STAGE_full, t->fixed)->change = CHANGE_SCALE;
		add(s, TRIAL_signed, STAGE_full, t->fixed)->change = CHANGE_SIGNED;
	}
	if (t->reduced.indices && t->reduced.indices <= TASK_REDUCED_LEAST) {
		tr = &t->image.trial[t->image.n_trials - 1];
		tr->change = CHANGE_SIGNED;
		tr->set = WEIGHTS_DRAWN;
		return;
	}
	tr = add(s, TRIAL_reseeded, STAGE_full, t->fixed);
	tr->repeat = !t->large;
	tr->change = t->large ? CHANGE_SIGNED : CHANGE_NONE;
	tr->set = WEIGHTS_DRAWN;
	if (any_moved(&t->image.set[WEIGHTS_MOVED]) && !t->reduced.indices)
		add(s, TRIAL_constants, STAGE_full, t->fixed)->set = WEIGHTS_MOVED;
	if (t->asks_for_indices)
		add(s, TRIAL_equal, STAGE_full, t->fixed)->change = CHANGE_EQUAL;
	if (!t->large)
		add_values(s, t->fixed);
	else if (!t->reduced.indices)
		add_outliers(s, t->fixed);
}

/* If a run at full size is little work, there is no reason for smaller sizes: *tiny becomes full
 * size, and *least too if the run is smaller still. */
static int use_full_size(struct sizes *s, const int64_t *original, int64_t *tiny, int64_t *least)
{
	struct task *t = s->t;

	for (size_t i = 0; i < s->n; i++)
		if (original[i] != s->c[i].value)
			return 0;
	if (try_sizes(s, original, 1) == -2)
		return -1;
	t->at_full_size = s->cost.work <= FULL_SIZE_WORK;
	if (t->at_full_size)
		memcpy(tiny, original, s->n * sizeof *tiny);
	if (s->cost.work <= FULL_SIZE_WORK_ALL)
		memcpy(least, tiny, s->n * sizeof *least);
	return 0;
}

/* If a run is large even at the smallest sizes, a batch of more than two becomes a batch of two. */
static int halve_batch(struct sizes *s, int64_t *tiny)
{
	int64_t was = tiny[0], got;

	if (!s->n || was <= 2)
		return 0;
	tiny[0] = 2;
	got = try_sizes(s, tiny, 1);
	tiny[0] = got >= 0 ? tiny[0] : was;
	return got == -2 ? -1 : 0;
}

/* Finds the smallest sizes and the cost of a run there. Returns 0 on success, 1 if the reference
 * does not run at all, -1 on our own failure (*e). */
static int smallest(struct sizes *s, int64_t *tiny)
{
	struct task *t = s->t;
	int64_t got;

	for (size_t i = 0; i < s->n; i++)
		s->v[i] = s->c[i].value;
	if (s->n && find_tiny(s))
		return -1;
	if (!s->n)
		buf_adds(&t->notes, "no module-level size belongs to get_inputs alone: run at full size only\n");
	memcpy(tiny, s->v, TRIAL_SIZES * sizeof *tiny);
	got = try_sizes(s, tiny, 1);
	if (got == -1)
		diag_set(&t->problem, REASON_bad_task, 0, 0, "the reference does not run: %.300s", t->problem.hint);
	if (got < 0)
		return got == -2 ? -1 : 1;
	memcpy(s->tiny, tiny, sizeof s->tiny);
	s->least = s->cost;
	t->large = s->large = is_large(&s->cost);
	if (t->large)
		buf_adds(&t->notes, "a run is large even at the smallest size: fewer input sets\n");
	return t->large ? halve_batch(s, tiny) : 0;
}

/* Finds the sizes and lists the trials; expect.c prepares them. */
int task_draw_trials(struct task_build *b, struct err *e)
{
	struct task *t = b->t;
	struct sizes s = { .t = t, .b = b, .e = e };
	int64_t least[TRIAL_SIZES], tiny[TRIAL_SIZES], original[TRIAL_SIZES], other[TRIAL_SIZES];
	int none;

	if (t->is_fixed) {
		s.n = t->image.n_all;
		list_fixed(&s);
		return 0;
	}
	s.n = MIN(shrink_find(&t->image.module, s.c, TRIAL_SIZES), (size_t)TRIAL_SIZES);
	t->n_sizes = s.n;
	none = smallest(&s, tiny);
	if (none)
		return none < 0 ? -1 : 0;
	if (t->large) {
		list_large(&s, tiny);
		return 0;
	}
	memcpy(least, tiny, sizeof least);
	if (find_original(&s, tiny, original))
		return -1;
	if (use_full_size(&s, original, tiny, least))
		return -1;
	/* An odd shape, for the general contract: kernels that only fit their blocks by luck fail
	 * there. */
	none = other_shape(&s, original, other);
	if (none < 0)
		return -1;
	list_trials(&s, least, tiny, original, none ? NULL : other);
	return 0;
}
