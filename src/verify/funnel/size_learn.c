/* Facts about the sizes of a task, from dry runs of its reference: see size_learn.h. */
#include "verify/funnel/size_learn.h"

#include <math.h>

#include "base/log.h"
#include "verify/candidate/dry_run.h"
#include "verify/funnel/size_model.h"

/* The reduced task: full size except for independent axes. */
enum {
	/* the value of its independent axes; it is halved while a run is more work than
	 * SIZE_WORK_FIRST */
	REDUCED_MOST = 16,
	REDUCED_WORK = 1 << 29,       /* the limit of work with up to TASK_REDUCED_LEAST */
	REDUCED_GIVEN = 1 << 25,      /* bytes of the largest tensor that the reference is given, */
	REDUCED_KEPT = 1 << 29,       /* that its model holds, */
	REDUCED_MADE = 1 << 26,       /* and that it computes */
	REDUCED_DRAWN = 512,          /* the value of a size that has positions, while inputs are drawn */
	PERIOD_UNIT = 4,              /* periods of local axes are multiples of it, and of most strides */
	PERIODS_MOST = 255,           /* periods that are taken out of a local axis */
	REDUCED_PART = 1024           /* larger weights are made of this many elements along each dimension */
};

/* The small sizes at which independent axes are found (independent_axes.c). */
enum {
	PROBE_MODULUS = 16,
	PROBE_WORK = 1 << 17,         /* the aim for the work of a run */
	PROBE_WORK_MOST = 1 << 26,    /* the limit: above it no axes are looked for */
	PROBE_LEAST = 3,              /* no size becomes smaller */
	PROBE_WINDOW = 32             /* a size of the model up to this may be that of a window */
};

/* How often the sizes of the inputs are raised until the reference runs. */
enum { RAISES_MOST = 4 };

/* A dry run of the reference at these sizes; `axes` may be NULL. */
static enum step dry_run_task(struct funnel *f, const int64_t *size, const struct input_axes *axes,
			      struct dry_run_cost *out)
{
	const struct task *t = f->base;
	struct program reference = t->image.reference;
	struct host_override ov[TASK_SIZES];

	for (size_t i = 0; i < t->image.n_all; i++)
		ov[i] = (struct host_override){ .name = t->image.size[i].name, .value = size[i] };
	reference.axes = axes;
	return (enum step)dry_run_reference(f->j, &reference, ov, t->image.n_all, out, f->e);
}

/* Some sizes depend on each other (channels and groups), and a reference may refuse sizes
 * itself. */
enum step size_learn_runs_at(struct funnel *f, const int64_t *size)
{
	struct dry_run_cost cost;

	return dry_run_task(f, size, NULL, &cost);
}

/* --- how work grows with sizes ------------------------------------------------------------ */

/* Learns the power of the i-th size that the work grows with, from a dry run with a quarter of the
 * size. A size that cannot be changed by itself has degree 0, so it keeps its value. */
static enum step learn_degree(struct funnel *f, size_t i)
{
	const struct task *t = f->base;
	struct size_facts *k = &t->sized_tasks->k;
	int64_t size[TASK_SIZES], full = t->image.size[i].full, small = size_model_shrink(full, MAX(full / 4, 1));
	struct dry_run_cost cost;
	enum step step;

	size_model_full(t, size);
	size[i] = small;
	step = small == full ? STEP_FAILED : dry_run_task(f, size, NULL, &cost);
	if (step == STEP_BROKE)
		return STEP_BROKE;
	k->degree[i] = step == STEP_FAILED ? 0.0 : fmax(log(k->full_size_work / (double)MAX(cost.work, 1)) /
							log((double)full / (double)small), 0.0);
	return STEP_PASSED;
}

/* Fails if the reference fails at full size. */
static enum step learn_degrees(struct funnel *f)
{
	const struct task *t = f->base;
	struct size_facts *k = &t->sized_tasks->k;
	struct dry_run_cost cost;
	int64_t size[TASK_SIZES];
	enum step step;

	size_model_full(t, size);
	step = dry_run_task(f, size, NULL, &cost);
	k->full_size_work = (double)MAX(cost.work, 1);
	k->full_size_seconds = cost.seconds;
	k->least_read = step == STEP_PASSED ? cost.least_read : 0.0;
	for (size_t i = 0; i < t->image.n_all && step == STEP_PASSED; i++)
		step = learn_degree(f, i);
	return step;
}

/* Sizes for an amount of work at which the reference runs. If it does not run, the sizes of the
 * model go back to full size: they may depend on each other. Then those of the inputs rise: an
 * image must be larger than a window of 9 x 9. */
static enum step legal_fit(struct funnel *f, int64_t modulus, double limit, int64_t *size)
{
	const struct task *t = f->base;
	enum step step;

	size_model_fit(t, modulus, limit, size);
	step = size_learn_runs_at(f, size);
	if (step != STEP_FAILED)
		return step;
	for (size_t i = 0; i < t->image.n_all; i++)
		if (t->image.size[i].of_model)
			size[i] = t->image.size[i].full;
	step = size_learn_runs_at(f, size);
	for (int i = 0; i < RAISES_MOST && step == STEP_FAILED; i++) {
		size_model_raise_inputs(t, size);
		step = size_learn_runs_at(f, size);
	}
	return step;
}

/* A reference that fails in a dry run at full size is judged by the base task only (known = -1). */
static enum step learn_sizes(struct funnel *f)
{
	struct size_facts *k = &f->base->sized_tasks->k;
	enum step step = learn_degrees(f);

	if (step == STEP_PASSED)
		step = legal_fit(f, MODULUS_FIRST, SIZE_WORK_FIRST, k->first);
	if (step == STEP_PASSED)
		step = legal_fit(f, MODULUS_LARGER, SIZE_WORK_MOST / 4, k->larger);
	if (step != STEP_BROKE)
		k->known = step == STEP_PASSED ? 1 : -1;
	return step == STEP_BROKE ? STEP_BROKE : STEP_PASSED;
}

/* The facts come from memory, from the task cache, or from dry runs, in this order. */
enum step size_learn(struct funnel *f)
{
	const struct task *t = f->base;
	struct size_facts *k = &t->sized_tasks->k;
	int64_t start = clock_ns();
	enum step step;

	if (k->known || !t->image.n_all || !ext_on(f->o, EXT_full_size) || !size_facts_get(t, k))
		return STEP_PASSED;
	step = learn_sizes(f);
	if (step == STEP_PASSED)
		size_facts_put(t, k);
	f->v->prepare_ms += (double)(clock_ns() - start) / 1e6;
	return step;
}

/* --- independent axes --------------------------------------------------------------------- */

/* The axes that were found: sizes that are independent as a whole, and positions of the others. */
struct found_axes {
	unsigned whole;               /* a bit for each size */
	struct axis_positions at[TASK_SIZES];
	int64_t period[TASK_SIZES];   /* of each local axis; 0: the size is none */
	int64_t periods;              /* that are taken out of each */
};

/* Sets the sizes of the dimensions of inputs that have the i-th size. */
static void place_size(const struct task *t, const struct axis_positions *at, size_t i, struct task_reduction *r)
{
	for (int k = 0; k < INPUT_AXES_MOST; k++)
		for (int d = 0; d < TENSOR_DIMS; d++)
			if (at->all[k] >> d & 1)
				r->inputs.size[k][d] = at->cut[k] >> d & 1 ? r->indices : t->image.size[i].full;
}

/* Takes periods out of a local axis. Its inputs are drawn with one period. */
static void place_periods(const struct task *t, const struct found_axes *x, size_t i, struct task_reduction *r)
{
	int64_t size = t->image.size[i].full - x->periods * x->period[i];

	r->periods = x->periods;
	r->size[i] = x->period[i];
	for (int k = 0; k < INPUT_AXES_MOST; k++)
		for (int d = 0; d < TENSOR_DIMS; d++)
			if (x->at[i].all[k] >> d & 1) {
				r->inputs.size[k][d] = size;
				r->inputs.periodic[k] |= 1u << d;
			}
}

/* Full size, except for independent axes, which keep n indices each. A size with positions is
 * drawn smaller than it is: only symmetric matrices need the very same map of indices along each
 * dimension. */
static void reduce(const struct funnel *f, const struct found_axes *x, int64_t n, struct task_reduction *r)
{
	const struct task *t = f->base;

	*r = (struct task_reduction){ .indices = n, .inputs.seed = (f->o->seed * 7919u + 5) | 1 };
	size_model_full(t, r->size);
	for (size_t i = 0; i < t->image.n_all; i++) {
		const struct axis_positions *at = &x->at[i];
		int64_t full = r->size[i];

		if (x->whole >> i & 1)
			r->size[i] = MIN(n, full);
		if (x->period[i])
			place_periods(t, x, i, r);
		if (at->axes < 1 || full <= n)
			continue;
		r->is_symmetric |= at->is_symmetric;
		r->size[i] = at->is_symmetric ? n : MIN(full, (int64_t)REDUCED_DRAWN);
		place_size(t, at, i, r);
	}
}

/* The work of the reference if each independent axis keeps n indices. */
static double reduced_work(const struct task *t, const struct found_axes *x, int64_t n)
{
	int64_t size[TASK_SIZES];
	double less = 1.0;

	size_model_full(t, size);
	for (size_t i = 0; i < t->image.n_all; i++) {
		if (x->at[i].axes > 0)
			less *= pow((double)MIN(n, size[i]) / (double)size[i], x->at[i].axes);
		size[i] = x->whole >> i & 1 ? MIN(n, size[i]) : size[i] - x->periods * x->period[i];
	}
	return less * size_model_work(t, size);
}

/* Would an independent axis with n indices look like a local one (sparse_map_fits)? */
static int is_ambiguous(const struct task *t, const struct found_axes *x, int64_t periods, int64_t n)
{
	for (size_t i = 0; i < t->image.n_all; i++) {
		int64_t more = t->image.size[i].full - n;

		if ((x->whole >> i & 1 || x->at[i].axes > 0) && more > 0 && !(more % periods))
			return 1;
	}
	return 0;
}

/* Does a run of the reduced task fit into memory, and is it little work? r->part is set if large
 * weights must be made of a part. */
static enum step reduced_fits(struct funnel *f, const struct found_axes *x, int64_t n, struct task_reduction *r)
{
	struct dry_run_cost cost;
	enum step step;

	reduce(f, x, n, r);
	if (x->periods && is_ambiguous(f->base, x, x->periods, n))
		return STEP_FAILED;
	if (reduced_work(f->base, x, n) > (n <= TASK_REDUCED_LEAST ? REDUCED_WORK : SIZE_WORK_FIRST))
		return STEP_FAILED;
	step = dry_run_task(f, r->size, &r->inputs, &cost);
	if (step != STEP_PASSED)
		return step;
	r->part = cost.kept > REDUCED_GIVEN ? REDUCED_PART : 0;
	/* Buffers that forward changes cannot be made of a part. */
	return cost.largest <= REDUCED_MADE && cost.given <= REDUCED_GIVEN && cost.kept <= REDUCED_KEPT &&
		!(r->part && f->base->image.keeps_state) ? STEP_PASSED : STEP_FAILED;
}

/* The most indices that fit; none of them if a run does not fit with the least number either. A task without any
 * axis that can be reduced is taken as it is, if its reference is little work. */
static enum step choose_reduction(struct funnel *f, const struct found_axes *x, struct task_reduction *r)
{
	static const int64_t indices[] = { REDUCED_MOST, 8, 4, TASK_REDUCED_LEAST, 2 };
	enum step step = STEP_FAILED;

	for (size_t i = 0; i < COUNT_OF(indices) && step == STEP_FAILED; i++)
		step = reduced_fits(f, x, indices[i], r);
	if (step == STEP_FAILED)
		r->indices = 0;
	return step;
}

/* The sizes, of the inputs or of the model, that are worth reducing: large enough, and with work
 * that depends on them. */
static unsigned sizes_to_probe(const struct task *t, int of_model)
{
	unsigned set = 0;

	for (size_t i = 0; i < t->image.n_all; i++)
		if (t->image.size[i].of_model == of_model && t->image.size[i].full > TASK_REDUCED_LEAST &&
		    (!of_model || !size_model_is_workless(t, i)))
			set |= 1u << i;
	return set;
}

/* Chooses a period of an axis of n indices, so that `periods` of them can be taken out of its
 * middle and a period and two margins are left at the ends: of 512 indices, 59 periods of 8 leave
 * 40. Returns 0 if no period fits. */
static int64_t choose_period(int64_t n, int64_t periods, int64_t margin)
{
	return (n - 2 * margin) / (periods + 2) / PERIOD_UNIT * PERIOD_UNIT;
}

/* Chooses the number of periods that leaves the least work. */
static int64_t choose_periods(const struct task *t, const struct found_axes *x, unsigned among, int64_t margin)
{
	double least = 1.0;
	int64_t best = 0;

	for (int64_t k = 3; k <= PERIODS_MOST; k++) {
		double left = 1.0;

		for (size_t i = 0; i < t->image.n_all; i++) {
			double n = (double)t->image.size[i].full;

			if (among >> i & 1)
				left *= 1.0 - (double)(k * choose_period((int64_t)n, k, margin)) / n;
		}
		if (left < least && (!is_ambiguous(t, x, k, TASK_REDUCED_LEAST) || !is_ambiguous(t, x, k, 2))) {
			least = left;
			best = k;
		}
	}
	return best;
}

/* The sizes at which local axes are found: small ones, but windows, strides and dilations are those
 * of the task, and each axis that may be local has room for them. */
static void probe_sizes(const struct task *t, const struct found_axes *x, const int64_t *small, int64_t *size)
{
	for (size_t i = 0; i < t->image.n_all; i++) {
		int64_t full = t->image.size[i].full;

		size[i] = x->period[i] ? full - x->periods * x->period[i] : small[i];
		if (t->image.size[i].of_model && full <= PROBE_WINDOW)
			size[i] = full;
	}
}

/* Looks for local axes among the sizes of the inputs that are not independent. */
static enum step find_local(struct funnel *f, const int64_t *small, unsigned among, int64_t margin,
			    struct found_axes *x)
{
	const struct task *t = f->base;
	int64_t size[TASK_SIZES];

	x->periods = choose_periods(t, x, among, margin);
	for (size_t i = 0; i < t->image.n_all && x->periods; i++)
		if (among >> i & 1)
			x->period[i] = choose_period(t->image.size[i].full, x->periods, margin);
	probe_sizes(t, x, small, size);
	for (size_t i = 0; i < t->image.n_all; i++) {
		int local = x->period[i] ? task_is_local(t, size, i, x->period[i], size[i], &x->at[i], f->e) : 0;

		if (local < 0)
			return STEP_BROKE;
		x->period[i] = local ? x->period[i] : 0;
	}
	return STEP_PASSED;
}

/* Looks for local axes, with small margins first: a window of a convolution may be larger. */
static enum step reduce_local(struct funnel *f, const int64_t *small, unsigned among, struct found_axes *x,
			      struct task_reduction *r)
{
	static const int64_t margins[] = { 6, 20, 48 };
	enum step step = STEP_FAILED;

	for (size_t i = 0; i < COUNT_OF(margins) && step == STEP_FAILED && among; i++) {
		struct found_axes with = *x;

		step = find_local(f, small, among, margins[i], &with);
		if (step == STEP_PASSED)
			step = choose_reduction(f, &with, r);
	}
	return step;
}

/* Looks for axes until a run is small enough: sizes of the inputs, then positions of those that are
 * not independent as a whole, then sizes of the model, then local axes. */
static enum step find_axes(struct funnel *f, const int64_t *small, struct task_reduction *r)
{
	const struct task *t = f->base;
	unsigned among = sizes_to_probe(t, 0), more;
	struct found_axes x = { .whole = 0 };
	enum step step;

	if (task_find_axes(t, small, among, &x.whole, f->e))
		return STEP_BROKE;
	step = choose_reduction(f, &x, r);
	if (step == STEP_BROKE || r->indices == REDUCED_MOST)
		return step;
	for (size_t i = 0; i < t->image.n_all; i++)
		if (among >> i & 1 && !(x.whole >> i & 1) && task_find_positions(t, small, i, &x.at[i], f->e))
			return STEP_BROKE;
	if (task_find_axes(t, small, sizes_to_probe(t, 1), &more, f->e))
		return STEP_BROKE;
	x.whole |= more;
	step = choose_reduction(f, &x, r);
	if (step != STEP_FAILED)
		return step;
	for (size_t i = 0; i < t->image.n_all; i++)
		among &= x.whole >> i & 1 || x.at[i].axes > 0 ? ~(1u << i) : ~0u;
	return reduce_local(f, small, among, &x, r);
}

/* The largest size that can still be halved and is not `done`; n_all: none. */
static size_t size_to_halve(const struct task *t, const int64_t *size, unsigned done)
{
	size_t next = t->image.n_all;

	for (size_t i = 0; i < t->image.n_all; i++)
		if (!(done >> i & 1) && size[i] >= 2 * PROBE_LEAST && (next == t->image.n_all || size[i] > size[next]))
			next = i;
	return next;
}

/* Halves sizes, the largest first, while a run is more work than a probe should be and the
 * reference runs. */
static enum step halve_sizes(struct funnel *f, int64_t *size)
{
	const struct task *t = f->base;
	unsigned done = 0;

	while (size_model_work(t, size) > PROBE_WORK) {
		size_t next = size_to_halve(t, size, done);
		int64_t was;
		enum step step;

		if (next == t->image.n_all)
			break;
		was = size[next];
		size[next] = was / 2;
		step = size_learn_runs_at(f, size);
		if (step == STEP_BROKE)
			return STEP_BROKE;
		if (step == STEP_FAILED) {
			size[next] = was;
			done |= 1u << next;
		}
	}
	return STEP_PASSED;
}

/* The axes are found at small sizes. The task is not reduced if the reference does not run at
 * small sizes. */
enum step size_learn_reduced(struct funnel *f)
{
	struct size_facts *k = &f->base->sized_tasks->k;
	int64_t small[TASK_SIZES];
	enum step step;

	if (k->reduced_known)
		return STEP_PASSED;
	k->reduced.indices = 0;
	step = legal_fit(f, PROBE_MODULUS, PROBE_WORK, small);
	if (step == STEP_PASSED)
		step = halve_sizes(f, small);
	if (step == STEP_PASSED && size_model_work(f->base, small) <= PROBE_WORK_MOST)
		step = find_axes(f, small, &k->reduced);
	if (step == STEP_BROKE)
		return STEP_BROKE;
	k->reduced_known = 1;
	size_facts_put(f->base, k);
	return STEP_PASSED;
}
