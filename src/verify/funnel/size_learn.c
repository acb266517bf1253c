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
	REDUCED_WORK = 1 << 27,       /* the limit of work at the least value, TASK_REDUCED_LEAST */
	REDUCED_GIVEN = 1 << 25,      /* bytes of the largest tensor that the reference is given, */
	REDUCED_KEPT = 1 << 29,       /* that its model holds, */
	REDUCED_MADE = 1 << 23,       /* and that it computes */
	REDUCED_PART = 1024           /* larger weights are made of this many elements along each dimension */
};

/* The small sizes at which independent axes are found (independent_axes.c). */
enum {
	PROBE_MODULUS = 16,
	PROBE_WORK = 1 << 17,         /* the aim for the work of a run */
	PROBE_WORK_MOST = 1 << 26,    /* the limit: above it no axes are looked for */
	PROBE_LEAST = 3               /* no size becomes smaller */
};

/* A dry run of the reference at these sizes. */
static enum step dry_run_task(struct funnel *f, const int64_t *size, struct dry_run_cost *out)
{
	const struct task *t = f->base;
	struct host_override ov[TASK_SIZES];

	for (size_t i = 0; i < t->image.n_all; i++)
		ov[i] = (struct host_override){ .name = t->image.size[i].name, .value = size[i] };
	return (enum step)dry_run_reference(f->j, &t->image.reference, ov, t->image.n_all, out, f->e);
}

/* Some sizes depend on each other (channels and groups), and a reference may refuse sizes
 * itself. */
enum step size_learn_runs_at(struct funnel *f, const int64_t *size)
{
	struct dry_run_cost cost;

	return dry_run_task(f, size, &cost);
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
	step = small == full ? STEP_FAILED : dry_run_task(f, size, &cost);
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
	step = dry_run_task(f, size, &cost);
	k->full_size_work = (double)MAX(cost.work, 1);
	k->full_size_seconds = cost.seconds;
	k->least_read = step == STEP_PASSED ? cost.least_read : 0.0;
	for (size_t i = 0; i < t->image.n_all && step == STEP_PASSED; i++)
		step = learn_degree(f, i);
	return step;
}

/* Sizes for an amount of work at which the reference runs. If it does not run, the sizes of the
 * model go back to full size: they may depend on each other. */
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
	return size_learn_runs_at(f, size);
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

/* Full size, with the axes of the bits set to a small value. */
static void reduced_sizes(const struct task *t, unsigned axes, int64_t reduced, int64_t *size)
{
	size_model_full(t, size);
	for (size_t i = 0; i < t->image.n_all; i++)
		size[i] = axes >> i & 1 ? MIN(reduced, size[i]) : size[i];
}

/* The value that these independent axes get; 0: a run is too much work even at the least value. */
static int64_t reduced_value(const struct task *t, unsigned axes)
{
	for (int64_t reduced = REDUCED_MOST; reduced >= TASK_REDUCED_LEAST; reduced /= 2) {
		int64_t size[TASK_SIZES];

		reduced_sizes(t, axes, reduced, size);
		if (size_model_work(t, size) <= (reduced == TASK_REDUCED_LEAST ? REDUCED_WORK : SIZE_WORK_FIRST))
			return reduced;
	}
	return 0;
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

/* Sizes of the model are probed only if those of the inputs do not make a run small enough. */
static enum step find_axes(struct funnel *f, const int64_t *small, unsigned *axes)
{
	const struct task *t = f->base;
	unsigned more;

	if (task_find_axes(t, small, sizes_to_probe(t, 0), axes, f->e))
		return STEP_BROKE;
	if (*axes && reduced_value(t, *axes) == REDUCED_MOST)
		return STEP_PASSED;
	if (task_find_axes(t, small, sizes_to_probe(t, 1), &more, f->e))
		return STEP_BROKE;
	*axes |= more;
	return STEP_PASSED;
}

/* Does a run of the reduced task fit into memory? *part is set if large weights must be made of a
 * part. */
static enum step reduced_fits(struct funnel *f, unsigned axes, int64_t reduced, int64_t *part)
{
	int64_t size[TASK_SIZES];
	struct dry_run_cost cost;
	enum step step;

	reduced_sizes(f->base, axes, reduced, size);
	step = dry_run_task(f, size, &cost);
	*part = cost.kept > REDUCED_GIVEN ? REDUCED_PART : 0;
	if (step != STEP_PASSED)
		return step;
	/* Buffers that forward changes cannot be made of a part. */
	return cost.largest <= REDUCED_MADE && cost.given <= REDUCED_GIVEN && cost.kept <= REDUCED_KEPT &&
		!(*part && f->base->image.keeps_state) ? STEP_PASSED : STEP_FAILED;
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

/* Finds the independent axes at small sizes. No axes if the reference does not run at small
 * sizes. */
static enum step probe_axes(struct funnel *f, unsigned *axes)
{
	int64_t small[TASK_SIZES];
	enum step step = legal_fit(f, PROBE_MODULUS, PROBE_WORK, small);

	*axes = 0;
	if (step == STEP_PASSED)
		step = halve_sizes(f, small);
	if (step == STEP_PASSED && size_model_work(f->base, small) <= PROBE_WORK_MOST)
		step = find_axes(f, small, axes);
	return step == STEP_BROKE ? STEP_BROKE : STEP_PASSED;
}

/* An axis that is not larger than the value is left alone: reducing it would change nothing. */
enum step size_learn_reduced(struct funnel *f)
{
	const struct task *t = f->base;
	struct size_facts *k = &t->sized_tasks->k;
	enum step step;
	unsigned axes;

	if (k->reduced_known)
		return STEP_PASSED;
	if (probe_axes(f, &axes) == STEP_BROKE)
		return STEP_BROKE;
	k->reduced = axes ? reduced_value(t, axes) : 0;
	for (size_t i = 0; i < t->image.n_all; i++)
		axes &= t->image.size[i].full <= k->reduced ? ~(1u << i) : ~0u;
	k->axes = axes;
	step = k->reduced ? reduced_fits(f, axes, k->reduced, &k->part) : STEP_FAILED;
	if (step == STEP_BROKE)
		return STEP_BROKE;
	k->reduced = step == STEP_PASSED ? k->reduced : 0;
	k->reduced_known = 1;
	size_facts_put(t, k);
	return STEP_PASSED;
}
