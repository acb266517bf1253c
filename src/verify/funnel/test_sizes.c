/* Sizes for a candidate: see choice.h. */
#include "verify/funnel/test_sizes.h"

#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "verify/candidate/dry_run.h"
#include "verify/task/sized_tasks.h"

/* WORK_*: what the reference may cost (follow.c counts it) at the first sizes that are tried, and at any.
 * MODULUS_*: a size shrinks to its remainder by a power of two; the first and the larger power that are
 * tried, and the least for the batch, for other sizes of the inputs, and for sizes of the model. */
enum { WORK_FIRST = 1 << 21, WORK_MOST = 1 << 27, MODULUS_FIRST = 256, MODULUS_LARGER = 1024,
       MODULUS_BATCH = 2, MODULUS_INPUT = 8, MODULUS_MODEL = 16, QUOTIENT = 4 };
/* A size that is a number of the candidate's own: smaller ones are windows, or anything else. */
enum { NAMED_LEAST = 32 };
/* FEW_*: how many rows stand for all of them along a size that only counts (rows.c): fewer where a
 * run costs more, none where even TASK_REDUCED_LEAST cost too much work, or a tensor has too many
 * bytes that is given to the reference, kept or made by it; larger weights than inputs may be are
 * made of a part of them. PROBE_*: the small sizes at which rows.c looks, and the most that a run
 * may cost there: where it costs more, it does not. */
enum { REDUCED_MOST = 16, REDUCED_WORK = 1 << 27, REDUCED_GIVEN = 1 << 25, REDUCED_KEPT = 1 << 29, REDUCED_PART = 1024,
       REDUCED_MADE = 1 << 23, PROBE_MODULUS = 16, PROBE_WORK = 1 << 17, PROBE_WORK_MOST = 1 << 26, PROBE_LEAST = 3 };

/* Work that grows with less than this power of a size does not depend on it. */
static const double workless = 0.1;

/* --- sizes ---------------------------------------------------------------------------------------- */

/* A smaller size with the same remainder. */
static int64_t reduced(int64_t own, int64_t modulus)
{
	return own < 2 * modulus ? own : modulus + own % modulus;
}

/* The least that a size is brought to. The first size of the inputs is mostly the batch. */
static int64_t floor_of(const struct task *t, size_t i)
{
	return t->image.size[i].of_model ? MODULUS_MODEL : i ? MODULUS_INPUT : MODULUS_BATCH;
}

static double work_at(const struct task *t, const int64_t *size)
{
	const struct sized_tasks *c = t->sized_tasks;
	double work = c->k.full_size_work;

	for (size_t i = 0; i < t->image.n_all; i++)
		work *= pow((double)size[i] / (double)t->image.size[i].full, c->k.degree[i]);
	return work;
}

/* The size to make smaller next: the batch where that may come first, then the largest; n_all: none is left. */
static size_t next_size(const struct task *t, const int64_t *size, int batch_first)
{
	size_t best = t->image.n_all;

	for (size_t i = 0; i < t->image.n_all; i++) {
		if (reduced(t->image.size[i].full, floor_of(t, i)) >= size[i])
			continue;
		if (batch_first && !i && !t->image.size[i].of_model)
			return 0;
		if (best == t->image.n_all || size[i] > size[best])
			best = i;
	}
	return best;
}

/* A size that others are divided by and that no work depends on (groups of channels) goes down with
 * them: groups of one element would say nothing about a norm. */
static void keep_quotients(const struct task *t, int64_t *size)
{
	const struct sized_tasks *c = t->sized_tasks;

	for (size_t i = 0; i < t->image.n_all; i++)
		for (size_t k = 0; k < t->image.n_all; k++) {
			int64_t own = MAX(t->image.size[k].full, 1), quotient = t->image.size[i].full / own;

			if (!t->image.size[i].of_model || !t->image.size[k].of_model || c->k.degree[k] > workless ||
			    quotient < 2 || t->image.size[i].full % own)
				continue;
			for (int64_t m = size[k]; m >= floor_of(t, k) && size[i] < size[k] * MIN(quotient,
					QUOTIENT); m /= 2)
				size[k] = MIN(size[k], reduced(own, m));
		}
}

/* A bit for the i-th size and each that goes with it: sizes of the model that are equal here and at
 * the task's own (keep_equal). */
static unsigned equals_of(const struct task *t, const int64_t *size, size_t i)
{
	unsigned set = 1u << i;

	for (size_t k = 0; k < t->image.n_all; k++)
		if (t->image.size[i].of_model && t->image.size[k].of_model && t->image.size[k].full == t->image.size[i].full &&
		    size[k] == size[i])
			set |= 1u << k;
	return set;
}

static void put_sizes(const struct task *t, unsigned set, int64_t value, int64_t *size)
{
	for (size_t k = 0; k < t->image.n_all; k++)
		size[k] = set >> k & 1 ? value : size[k];
}

/* Is another size, which is not equal to it at the task's own, equal to the i-th? */
static int has_twin(const struct task *t, const int64_t *size, size_t i)
{
	for (size_t k = 0; k < t->image.n_all; k++)
		if (size[k] == size[i] && t->image.size[k].full != t->image.size[i].full)
			return 1;
	return 0;
}

/* Raises the i-th size and its equals to the next that it may have, with `alone` to one that no
 * other size has. 0: that is more work than `most`, and they are as they were. */
static int raise_size(const struct task *t, size_t i, int alone, double most, int64_t *size)
{
	int64_t was = size[i], own = t->image.size[i].full;
	unsigned equals = equals_of(t, size, i);

	for (int64_t m = MODULUS_BATCH; size[i] < own && (size[i] <= was || (alone && has_twin(t, size, i))); m *= 2)
		put_sizes(t, equals, MAX(was, reduced(own, m)), size);
	if (work_at(t, size) <= most)
		return 1;
	put_sizes(t, equals, was, size);
	return 0;
}

/* Sizes that differ stay different, the larger of them a little larger, where that is not much more
 * work: a program that takes a height for a width is right where both are the same. */
static void keep_apart(const struct task *t, double limit, int64_t *size)
{
	for (size_t i = 0; i < t->image.n_all; i++)
		for (size_t k = 0; k < t->image.n_all; k++) {
			double most = fmax(4.0 * limit, 2.0 * work_at(t, size));

			if (size[i] == size[k] && t->image.size[i].full > t->image.size[k].full && !raise_size(t, i, 1, most, size))
				raise_size(t, i, 0, most, size);
		}
}

/* Sizes of the model that are equal stay so, at the larger of them, where that is not much more work: where as many
 * channels come in as go out, a program may take either for both. */
static void keep_equal(const struct task *t, double limit, int64_t *size)
{
	for (size_t i = 0; i < t->image.n_all; i++)
		for (size_t k = 0; k < t->image.n_all; k++) {
			int64_t was = size[k];

			if (!t->image.size[i].of_model || !t->image.size[k].of_model || t->image.size[i].full != t->image.size[k].full ||
			    size[k] >= size[i])
				continue;
			size[k] = size[i];
			if (work_at(t, size) > 4.0 * limit)
				size[k] = was;
		}
}

/* Lowers the modulus until the work is within the limit, or no size can get smaller. The first sizes have a
 * small batch. The larger ones are about equal: a kernel without masks wants each of them to hold a block. */
static void fit_once(const struct task *t, int64_t modulus, double limit, int64_t *size)
{
	int64_t m[TASK_SIZES];
	size_t i;

	for (i = 0; i < t->image.n_all; i++) {
		m[i] = modulus;
		size[i] = reduced(t->image.size[i].full, modulus);
	}
	while (work_at(t, size) > limit && (i = next_size(t, size, modulus == MODULUS_FIRST)) < t->image.n_all) {
		int64_t was = size[i];

		while (size[i] >= was && m[i] > floor_of(t, i)) {
			m[i] /= 2;
			size[i] = reduced(t->image.size[i].full, m[i]);
		}
	}
	keep_equal(t, limit, size);
	keep_apart(t, limit, size);
	keep_quotients(t, size);
}

/* What is kept equal or apart may be more work than the limit: then the others have to be smaller, where that is less. */
static void fit(const struct task *t, int64_t modulus, double limit, int64_t *size)
{
	int64_t less[TASK_SIZES];

	fit_once(t, modulus, limit, size);
	if (work_at(t, size) <= limit)
		return;
	fit_once(t, modulus, limit / 4.0, less);
	if (work_at(t, less) < work_at(t, size))
		memcpy(size, less, sizeof less);
}

static int is_own(const struct task *t, const int64_t *size)
{
	for (size_t i = 0; i < t->image.n_all; i++)
		if (size[i] != t->image.size[i].full)
			return 0;
	return 1;
}

/* --- following -------------------------------------------------------------------------------------- */

static void order(struct funnel *f, enum dry_run what, const int64_t *size)
{
	struct run_order o = { .dry_run = what, .tune = 1, .estimate = is_own(f->t, size), .marks = f->marks };

	memcpy(o.size, size, f->t->image.n_all * sizeof *size);
	attempt_order(f, &f->t->image.trial[0], &o);
}

static void own_sizes(const struct task *t, int64_t *size)
{
	for (size_t i = 0; i < t->image.n_all; i++)
		size[i] = t->image.size[i].full;
}

/* Takes the answer to the i-th order: 0; 1: the program fails at those sizes, f->report says why; -1. */
static int followed(struct funnel *f, int i)
{
	struct results none;
	int rc = shmem_report(f->link->shmem, &f->orders, i, &f->report, &none, f->e);

	if (rc < 0)
		return -1;
	return rc || f->report.state != RUN_GAVE;
}

/* The reference alone, at these sizes: where the task is made ready, so that no candidate has a
 * part in it. 0, 1: it fails, -1. */
static int dry_run_task(struct funnel *f, const int64_t *size, struct dry_run_cost *out)
{
	const struct task *t = f->base;
	struct host_override ov[TASK_SIZES];

	for (size_t i = 0; i < t->image.n_all; i++)
		ov[i] = (struct host_override){ .name = t->image.size[i].name, .value = size[i] };
	return dry_run_reference(f->j, &t->image.reference, ov, t->image.n_all, out, f->e);
}

/* How the reference's work grows with each size. 0, 1: it fails at its own, -1. */
static int learn_degrees(struct funnel *f)
{
	const struct task *t = f->base;
	struct size_facts *k = &t->sized_tasks->k;
	struct dry_run_cost cost;
	int64_t size[TASK_SIZES];
	int rc;

	own_sizes(t, size);
	rc = dry_run_task(f, size, &cost);
	k->full_size_work = (double)MAX(cost.work, 1);
	k->full_size_seconds = cost.seconds;
	k->least_read = rc ? 0.0 : cost.least_read;
	for (size_t i = 0; i < t->image.n_all && !rc; i++) {
		int64_t own = t->image.size[i].full, small = reduced(own, MAX(own / 4, 1));
		int fails;

		own_sizes(t, size);
		size[i] = small;
		fails = small == own ? 1 : dry_run_task(f, size, &cost);
		if (fails < 0)
			return -1;
		/* A size that cannot be another alone stays as it is. */
		k->degree[i] = fails ? 0.0 : fmax(log(k->full_size_work / (double)MAX(cost.work, 1)) /
						  log((double)own / (double)small), 0.0);
	}
	return rc;
}

/* Does the reference run at these sizes? 1: yes, -1. */
static int runs_at(struct funnel *f, const int64_t *size)
{
	struct dry_run_cost cost;
	int rc = dry_run_task(f, size, &cost);

	return rc < 0 ? -1 : !rc;
}

/* Sizes as `fit` finds them; those of the model as they are where they do not go with the others. */
static int legal_fit(struct funnel *f, int64_t modulus, double limit, int64_t *size)
{
	int rc;

	fit(f->base, modulus, limit, size);
	rc = runs_at(f, size);
	for (size_t i = 0; i < f->base->image.n_all && !rc; i++)
		if (f->base->image.size[i].of_model)
			size[i] = f->base->image.size[i].full;
	return rc ? rc : runs_at(f, size);
}

/* Clears the verdict: a runner that was lost while we asked for sizes is not the candidate's failure yet. */
static void test_sizes_forget(struct funnel *f)
{
	f->lost = LOST_NOT;
	f->v->diag = (struct diag){ .reason = REASON_ok };
	f->v->stages[STAGE_tiny] = (struct verdict_stage){ .ran = 0 };
	f->v->stage = STAGE_ast;
}

static int learn(struct funnel *f)
{
	struct size_facts *k = &f->base->sized_tasks->k;
	int rc = learn_degrees(f), legal = !rc;

	if (legal)
		legal = legal_fit(f, MODULUS_FIRST, WORK_FIRST, k->first);
	if (legal > 0)
		legal = legal_fit(f, MODULUS_LARGER, WORK_MOST / 4, k->larger);
	if (rc < 0 || legal < 0)
		return -1;
	k->known = legal ? 1 : -1;
	return 0;
}

int test_sizes_learn(struct funnel *f)
{
	const struct task *t = f->base;
	int64_t start = clock_ns();
	int rc;

	if (t->sized_tasks->k.known || !t->image.n_all || !ext_on(f->o, EXT_full_size) ||
	    !size_facts_get(t, &t->sized_tasks->k))
		return 0;
	rc = learn(f);
	if (!rc)
		size_facts_put(t, &t->sized_tasks->k);
	f->v->prepare_ms += (double)(clock_ns() - start) / 1e6;
	return rc;
}

/* --- marks -------------------------------------------------------------------------------------------- */

static int has_mark(const struct host_path *p, uint64_t mark)
{
	for (int i = 0; i < p->n; i++)
		if (p->mark[i] == mark)
			return 1;
	return 0;
}

/* How many marks of the path at the own sizes are missing on the other path. */
static int lacking(const struct host_path *own, const struct host_path *other)
{
	int n = own->full || other->full;

	for (int i = 0; i < own->n; i++)
		n += !has_mark(other, own->mark[i]);
	return n;
}

/* Larger sizes to try, and how many marks of the own path are missing there. */
struct raised {
	int64_t size[TASK_SIZES];
	int left;
};

enum { RAISED_MOST = 3 + 2 * TASK_SIZES };

/* Follows the candidate at each of them; where it does not run, all marks are missing. 0; 1: the runner is lost; -1. */
static int try_raised(struct funnel *f, const struct host_path *own, struct raised *r, int n)
{
	int rc;

	f->orders.n = 0;
	for (int i = 0; i < n; i++)
		order(f, DRY_RUN_CANDIDATE, r[i].size);
	rc = attempt_ask(f);
	for (int i = 0; i < n && !rc; i++) {
		int failed = followed(f, i);

		if (failed < 0)
			return -1;
		r[i].left = failed ? own->n + 1 : lacking(own, &f->report.path);
	}
	return rc;
}

/* All sizes larger together, by three steps; then each alone: larger, and as the task has it. */
static int raise_sizes(const struct task *t, const int64_t *from, struct raised *out)
{
	static const int64_t moduli[] = { 512, 1024, 4096 };
	int n = 0;

	for (size_t k = 0; k < COUNT_OF(moduli); k++, n++) {
		for (size_t i = 0; i < t->image.n_all; i++)
			out[n].size[i] = MAX(from[i], reduced(t->image.size[i].full, moduli[k]));
		keep_apart(t, WORK_MOST / 32.0, out[n].size);
	}
	for (size_t i = 0; i < t->image.n_all; i++)
		for (int k = 0; k < 2 && from[i] < t->image.size[i].full; k++, n++) {
			memcpy(out[n].size, from, t->image.n_all * sizeof *from);
			out[n].size[i] = k ? t->image.size[i].full : MAX(from[i], reduced(t->image.size[i].full, MODULUS_LARGER));
		}
	return n;
}

/* Raises *size to where the fewest marks are missing, and among those to the least work. Sizes at which some
 * are still missing must be cheap to be worth it, unless the candidate does not run at any others so far.
 * 0: none is missing; 1: some are, or the runner is lost; -1. */
static int climb(struct funnel *f, const struct host_path *own, int lack, int64_t *size)
{
	const struct task *t = f->t;
	struct raised r[RAISED_MOST];
	int n = raise_sizes(t, size, r), rc = try_raised(f, own, r, n);

	for (int i = 0; i < n && !rc; i++) {
		double work = work_at(t, r[i].size), most = r[i].left && lack <= own->n ? WORK_MOST / 8 : WORK_MOST;

		if (r[i].left > lack || work > most || (r[i].left == lack && work >= work_at(t, size)))
			continue;
		lack = r[i].left;
		memcpy(size, r[i].size, t->image.n_all * sizeof *size);
	}
	return rc ? rc : lack > 0;
}

/* Lowers the i-th size and those of its equals that may be lowered, but not below `from`, as far as
 * the candidate still meets every mark and the reference still runs, and, unless the least will do,
 * to none that another size has which it differs from. 0, also where the size stays as it was; 1:
 * the runner was lost; -1. */
static int lower_size(struct funnel *f, const struct host_path *own, unsigned equals, size_t i,
		      int64_t least, int64_t from, int64_t *size)
{
	int64_t tried[TASK_SIZES], low[SHMEM_ORDERS / 2];
	int64_t at = MIN(floor_of(f->t, i), least);
	int n = 0, any = least <= MODULUS_BATCH, rc;

	memcpy(tried, size, sizeof tried);
	f->orders.n = 0;
	while (at < from && reduced(f->t->image.size[i].full, at) < from)
		at *= 2;
	for (; reduced(f->t->image.size[i].full, at) < size[i] && n < SHMEM_ORDERS / 2; at *= from ||
	     (!any && has_twin(f->t, tried, i)) ? 2 : 4) {
		put_sizes(f->t, equals, reduced(f->t->image.size[i].full, at), tried);
		if (!any && has_twin(f->t, tried, i))
			continue;
		low[n++] = tried[i];
		order(f, DRY_RUN_CANDIDATE, tried);
		order(f, DRY_RUN_REFERENCE, tried);
	}
	rc = n ? attempt_ask(f) : 0;
	for (int k = 0; k < n && !rc; k++) {
		int fails = followed(f, 2 * k);

		if (!fails)
			fails = lacking(own, &f->report.path) ? 1 : followed(f, 2 * k + 1);
		if (fails < 0)
			return -1;
		if (!fails) {
			put_sizes(f->t, equals, low[k], size);
			break;
		}
	}
	return rc;
}

/* A small size of the model that no work depends on: programs may have it as a number. */
static int is_window(const struct task *t, size_t i)
{
	return t->image.size[i].of_model && t->image.size[i].full < 2 * MODULUS_MODEL && t->sized_tasks->k.degree[i] <= workless;
}

/* Lowers one size after another, the batch first and then the largest, until the work is within the
 * limit; with `together` each with its equals. A window of a pool would be lowered for nothing.
 * Sizes whose bit is in `keep` stay; none goes below its value in `from`, if that is given. `least`
 * is the smallest modulus where floor_of would stop earlier. */
static int lower_sizes(struct funnel *f, const struct host_path *own, unsigned keep, int together,
		       double limit, int64_t least, const int64_t *from,
		       int64_t *size)
{
	int rc = 0;

	while (!rc && work_at(f->t, size) > limit) {
		size_t next = f->t->image.n_all;
		int64_t was;
		unsigned equals;

		for (size_t i = 0; i < f->t->image.n_all; i++)
			if (!(keep >> i & 1) && !is_window(f->t, i) && (next == f->t->image.n_all ||
									(next && size[i] > size[next])))
				next = i;
		if (next == f->t->image.n_all)
			break;
		was = size[next];
		equals = together ? equals_of(f->t, size, next) & ~keep : 1u << next;
		rc = lower_size(f, own, equals, next, least, from ? from[next] : 0, size);
		/* One of them may have to stay as it is, and not the others. */
		if (!rc && size[next] == was && equals != 1u << next) {
			equals = 1u << next;
			rc = lower_size(f, own, equals, next, least, from ? from[next] : 0, size);
		}
		keep |= equals;
	}
	return rc;
}

/* The same from the task's own sizes on. Sizes that are equal stay so if that is within reach. */
static int descend(struct funnel *f, const struct host_path *own, unsigned keep, double limit, int64_t least,
		   const int64_t *from, int64_t *size)
{
	int rc;

	own_sizes(f->t, size);
	rc = lower_sizes(f, own, keep, 1, limit, least, from, size);
	if (!rc && work_at(f->t, size) > WORK_MOST)
		rc = lower_sizes(f, own, keep, 0, limit, least, from, size);
	return rc ? rc : work_at(f->t, size) > WORK_MOST;
}

/* The same without such values, and with twice the work within reach: where there is nothing else. */
static int descend_far(struct funnel *f, const struct host_path *own, int64_t least, int64_t *size)
{
	int rc = descend(f, own, 0, WORK_FIRST, least, NULL, size);

	return rc <= 0 || f->lost != LOST_NOT ? rc : work_at(f->t, size) > 2.0 * WORK_MOST;
}

/* Looks from below (climb) and, where that is expensive or fails, from above (descend), and takes the cheaper.
 * 0 and *size; 1: no sizes within reach meet every mark, *size meets most of them; -1. */
static int cover(struct funnel *f, const struct host_path *own, int lack, int64_t *size)
{
	int64_t low[TASK_SIZES];
	int none = climb(f, own, lack, size), rc;

	if (none < 0 || f->lost != LOST_NOT || (!none && work_at(f->t, size) <= 16.0 * WORK_FIRST))
		return none;
	rc = descend(f, own, 0, WORK_FIRST, MODULUS_MODEL, f->t->sized_tasks->k.first, low);
	/* Fewer rows than the first sizes have, and twice the work, are better than another path. */
	if (rc > 0 && none && f->lost == LOST_NOT)
		rc = descend_far(f, own, MODULUS_BATCH, low);
	if (rc || (!none && work_at(f->t, low) >= work_at(f->t, size)))
		return rc < 0 ? -1 : none;
	memcpy(size, low, sizeof low);
	return 0;
}

/* --- the task at other sizes ----------------------------------------------------------------------------- */

/* The i-th size of the task in a trial of it. */
static int64_t size_in(const struct task *t, const struct trial *tr, size_t i)
{
	for (size_t k = 0; k < tr->n_ov; k++)
		if (str_eq(tr->ov[k].name, t->image.size[i].name))
			return tr->ov[k].value;
	return t->image.size[i].full;
}

/* Is a large task made ready at these sizes as it is? To do that again would cost as much once more. */
static int is_ready_at(const struct task *t, const int64_t *size)
{
	for (size_t i = 0; i < t->image.n_all && t->large; i++)
		if (size_in(t, &t->image.trial[0], i) != size[i] || size_in(t, &t->image.trial[1], i) != size[i])
			return 0;
	return t->large && t->image.n_trials > 1;
}

/* NULL: it is not judgeable there, or we failed (*failed). */
static const struct task *task_at(struct funnel *f, const int64_t *size, int *failed)
{
	const struct task *t = f->t;
	struct sized_tasks *c = t->sized_tasks;
	int64_t start = clock_ns();
	struct task *made;
	int i = 0;

	*failed = 0;
	if (is_ready_at(t, size))
		return t;
	while (i < c->n && memcmp(c->at[i].size, size, t->image.n_all * sizeof *size))
		i++;
	if (i == c->n) {
		made = task_open_at(t, size, work_at(t, size) > WORK_FIRST * 8.0, f->e);
		if (!made) {
			*failed = 1;
			return NULL;
		}
		f->v->prepare_ms += (double)(clock_ns() - start) / 1e6;
		if (c->n == SIZED_TASKS_MOST) {
			task_free(c->at[0].t);
			memmove(&c->at[0], &c->at[1], (size_t)--c->n * sizeof c->at[0]);
		}
		i = c->n++;
		memcpy(c->at[i].size, size, t->image.n_all * sizeof *size);
		c->at[i].t = made;
	}
	return task_problem(c->at[i].t)->reason == REASON_ok ? c->at[i].t : NULL;
}

static void reduced_sizes(const struct task *t, unsigned axes, int64_t reduced, int64_t *size)
{
	own_sizes(t, size);
	for (size_t i = 0; i < t->image.n_all; i++)
		size[i] = axes >> i & 1 ? MIN(reduced, size[i]) : size[i];
}

/* How many rows may stand for all of them along these axes; 0: even the fewest are too much work. */
static int64_t reduced_of(const struct task *t, unsigned axes)
{
	for (int64_t reduced = REDUCED_MOST; reduced >= TASK_REDUCED_LEAST; reduced /= 2) {
		int64_t size[TASK_SIZES];

		reduced_sizes(t, axes, reduced, size);
		if (work_at(t, size) <= (reduced == TASK_REDUCED_LEAST ? REDUCED_WORK : WORK_FIRST))
			return reduced;
	}
	return 0;
}

/* Of inputs or of the model: the sizes that may be enough less to be looked at, and that something depends on. */
static unsigned sizes_to_count(const struct task *t, int of_model)
{
	unsigned set = 0;

	for (size_t i = 0; i < t->image.n_all; i++)
		if (t->image.size[i].of_model == of_model && t->image.size[i].full > TASK_REDUCED_LEAST &&
		    (!of_model || t->sized_tasks->k.degree[i] > workless))
			set |= 1u << i;
	return set;
}

/* Sizes of the model are looked at where those of the inputs alone do not make a run small. */
static int find_axes(struct funnel *f, const int64_t *small, unsigned *axes)
{
	const struct task *t = f->base;
	unsigned more;

	if (task_find_axes(t, small, sizes_to_count(t, 0), axes, f->e))
		return -1;
	if (*axes && reduced_of(t, *axes) == REDUCED_MOST)
		return 0;
	if (task_find_axes(t, small, sizes_to_count(t, 1), &more, f->e))
		return -1;
	*axes |= more;
	return 0;
}

/* Would what a run takes there fit the memory of one? 1: yes, with weights made of *part; -1. */
static int reduced_fits(struct funnel *f, unsigned axes, int64_t reduced, int64_t *part)
{
	int64_t size[TASK_SIZES];
	struct dry_run_cost cost;
	int rc;

	reduced_sizes(f->base, axes, reduced, size);
	rc = dry_run_task(f, size, &cost);
	*part = cost.kept > REDUCED_GIVEN ? REDUCED_PART : 0;
	return rc < 0 ? -1 : !rc && cost.largest <= REDUCED_MADE && cost.given <= REDUCED_GIVEN &&
		cost.kept <= REDUCED_KEPT && !(*part && f->base->image.keeps_state);
}

/* Halves sizes, the largest first, as long as the reference runs and a run costs more than a probe should. 0, -1. */
static int halve_sizes(struct funnel *f, int64_t *size)
{
	const struct task *t = f->base;
	unsigned done = 0;

	while (work_at(t, size) > PROBE_WORK) {
		size_t next = t->image.n_all;
		int64_t was;
		int rc;

		for (size_t i = 0; i < t->image.n_all; i++)
			if (!(done >> i & 1) && size[i] >= 2 * PROBE_LEAST &&
			    (next == t->image.n_all || size[i] > size[next]))
				next = i;
		if (next == t->image.n_all)
			break;
		was = size[next];
		size[next] = was / 2;
		rc = runs_at(f, size);
		if (rc < 0)
			return -1;
		size[next] = rc ? size[next] : was;
		done |= rc ? 0 : 1u << next;
	}
	return 0;
}

/* Which sizes only count, and how many stand for all of them. 0, -1. */
static int learn_reduced(struct funnel *f)
{
	const struct task *t = f->base;
	struct size_facts *k = &t->sized_tasks->k;
	int64_t small[TASK_SIZES];
	unsigned axes = 0;
	int rc = legal_fit(f, PROBE_MODULUS, PROBE_WORK, small), fits;

	if (rc < 0 || (rc && halve_sizes(f, small)) || (rc && work_at(t, small) <= PROBE_WORK_MOST &&
							find_axes(f, small, &axes)))
		return -1;
	k->reduced = axes ? reduced_of(t, axes) : 0;
	for (size_t i = 0; i < t->image.n_all; i++)
		axes &= t->image.size[i].full <= k->reduced ? ~(1u << i) : ~0u;
	k->axes = axes;
	fits = k->reduced ? reduced_fits(f, axes, k->reduced, &k->part) : 0;
	if (fits < 0)
		return -1;
	k->reduced = fits ? k->reduced : 0;
	k->reduced_known = 1;
	size_facts_put(t, k);
	return 0;
}

/* The task at its own sizes, but for what only counts, if there is such. 0, -1. */
static int find_reduced(struct funnel *f)
{
	struct sized_tasks *c = f->base->sized_tasks;

	if (!c->k.reduced_known && learn_reduced(f))
		return -1;
	c->reduced_task = 1;
	if (!c->k.reduced)
		return 0;
	c->reduced = task_open_reduced(f->base, (unsigned)c->k.axes, c->k.reduced, c->k.part, f->e);
	if (!c->reduced)
		return -1;
	if (task_problem(c->reduced)->reason != REASON_ok) {
		task_free(c->reduced);
		c->reduced = NULL;
	}
	return 0;
}

int test_sizes_reduced(struct funnel *f, const struct task **out)
{
	struct sized_tasks *c = f->base->sized_tasks;
	int64_t start = clock_ns();
	int rc;

	*out = NULL;
	if (c->k.known <= 0)
		return 0;
	if (!c->reduced_task) {
		rc = find_reduced(f);
		f->v->prepare_ms += (double)(clock_ns() - start) / 1e6;
		if (rc)
			return -1;
	}
	*out = c->reduced;
	return 0;
}

int test_sizes_at(struct funnel *f, const int64_t *size, const struct task **out)
{
	int failed;

	f->t = f->base;
	*out = task_at(f, size, &failed);
	f->t = NULL;
	return failed ? -1 : 0;
}

int test_sizes_are_near(struct funnel *f, const int64_t *size)
{
	const struct sized_tasks *c = f->base->sized_tasks;

	return c->k.known > 0 && work_at(f->base, size) <= WORK_MOST / 8;
}

int test_sizes_are_legal(struct funnel *f, const int64_t *size)
{
	return runs_at(f, size);
}

/* Settles on the sizes that the task itself is made ready at. */
static int settle_base(struct funnel *f, struct test_sizes *out)
{
	struct sized_tasks *c = f->base->sized_tasks;
	int64_t start = clock_ns();

	out->kind = task_size(f->base);
	out->t = f->base;
	if (!f->base->is_outline)
		return 0;
	if (!c->whole) {
		c->whole = task_open_whole(f->base, f->e);
		f->v->prepare_ms += (double)(clock_ns() - start) / 1e6;
	}
	out->t = c->whole;
	if (!c->whole || task_problem(c->whole)->reason == REASON_ok)
		return c->whole ? 0 : -1;
	f->v->diag = *task_problem(c->whole);
	return err_set(f->e, ERR_STATE, "the task cannot be judged: %s", f->v->diag.text);
}

static int settle(struct funnel *f, enum size_kind kind, const int64_t *size, struct test_sizes *out)
{
	const struct task *base = f->t;
	int failed;

	memcpy(out->size, size, base->image.n_all * sizeof *size);
	out->kind = is_own(base, size) ? SIZE_FULL : kind;
	out->t = task_at(f, size, &failed);
	if (failed)
		return -1;
	return out->t && shmem_holds(out->t) ? 0 : settle_base(f, out);
}

/* The candidate fails if at the task's own sizes it does not compile, does not fit the GPU, raises,
 * or takes more steps than a program may. Host code that has read a tensor read a made-up value,
 * since there are no contents: its errors prove nothing. */
static int check_own(struct funnel *f)
{
	const struct run_report *r = &f->report;
	struct diag d;

	if (r->state != RUN_FAILED)
		return 0;
	if (r->refused)
		return funnel_fail(f, STAGE_compile, &r->diag);
	if (r->guessed || (strcmp(reason_class(r->diag.reason), "runtime") && r->diag.reason != REASON_out_of_fuel))
		return 0;
	d = r->diag;
	snprintf(d.text, sizeof d.text, "at the task's own sizes: %.300s", r->diag.text);
	return funnel_fail(f, STAGE_full, &d);
}

int test_sizes_find(struct funnel *f, struct test_sizes *out)
{
	struct sized_tasks *c = f->t->sized_tasks;
	int64_t size[TASK_SIZES];
	int rc, lack;

	*out = (struct test_sizes){ .t = f->t, .kind = task_size(f->t) };
	if (f->t->at_full_size)
		return 0;
	rc = test_sizes_learn(f);
	if (rc || c->k.known <= 0)
		return rc ? rc : settle_base(f, out);
	memcpy(size, c->k.first, sizeof size);
	if (is_own(f->t, size))
		return settle(f, SIZE_FULL, size, out);
	f->orders.n = 0;
	own_sizes(f->t, size);
	order(f, DRY_RUN_CANDIDATE, size);
	order(f, DRY_RUN_CANDIDATE, c->k.first);
	memcpy(size, c->k.first, sizeof size);
	rc = attempt_ask(f);
	/* One that takes too long is judged where it can be; one that crashes would hide so what it does. */
	if (rc > 0 && f->lost == LOST_CRASHED)
		return 1;
	if (rc > 0) {
		test_sizes_forget(f);
		return settle(f, SIZE_SAMPLED, size, out);
	}
	if (!rc)
		rc = funnel_take_ast(f);
	if (!rc)
		rc = followed(f, 0);
	if (rc)
		return rc < 0 ? -1 : check_own(f) ? 1 : f->v->diag.reason != REASON_ok ? 1 :
			settle(f, SIZE_SAMPLED, size, out);
	out->own = f->report.path;
	f->full_size_seconds = f->report.out.seconds;
	rc = followed(f, 1);
	if (rc < 0)
		return -1;
	/* The first sizes do if the candidate meets there all that it meets at its own; else others are looked for. */
	lack = rc ? out->own.n + 1 : lacking(&out->own, &f->report.path);
	rc = lack ? cover(f, &out->own, lack, size) : 0;
	if (f->lost != LOST_NOT)
		test_sizes_forget(f);
	return rc < 0 ? -1 : settle(f, rc ? SIZE_SAMPLED : SIZE_SHRUNK, size, out);
}

/* Settles on *size where rc is 0. 1: there are no such sizes, or the runner was lost; -1. */
static int settle_found(struct funnel *f, int rc, const int64_t *size, const struct test_sizes *c,
			struct test_sizes *out)
{
	if (f->lost != LOST_NOT)
		test_sizes_forget(f);
	return rc ? rc : settle(f, c->kind, size, out);
}

static int own_size(struct funnel *f, const struct test_sizes *c, size_t i, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	int rc = 0;

	if (f->t->sized_tasks->k.known <= 0 || c->kind == SIZE_FULL || c->size[i] == f->t->image.size[i].full)
		return 1;
	memcpy(size, c->size, sizeof size);
	size[i] = f->t->image.size[i].full;
	if (work_at(f->t, size) > WORK_MOST && c->own.n)
		rc = descend(f, &c->own, 1u << i, WORK_MOST / 8, MODULUS_MODEL, NULL, size);
	return work_at(f->t, size) > WORK_MOST ? 1 : settle_found(f, rc, size, c, out);
}

static int smaller(struct funnel *f, const struct test_sizes *c, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	int rc;

	if (f->t->sized_tasks->k.known <= 0 || c->kind == SIZE_FULL || !c->own.n)
		return 1;
	rc = descend(f, &c->own, 0, WORK_FIRST / 64, MODULUS_BATCH, NULL, size);
	return !rc && work_at(f->t, size) * 2.0 > work_at(f->t, c->size) ? 1 : settle_found(f, rc, size, c, out);
}

/* Follows the candidate at the task's own sizes with other marks, and lowers the sizes under these. */
static int lower_by_marks(struct funnel *f, int64_t *size)
{
	struct host_path own;
	int rc;

	f->orders.n = 0;
	own_sizes(f->t, size);
	order(f, DRY_RUN_CANDIDATE, size);
	rc = attempt_ask(f);
	rc = rc ? rc : followed(f, 0);
	if (rc)
		return rc;
	own = f->report.path;
	return descend_far(f, &own, MODULUS_MODEL, size);
}

static int other_marks(struct funnel *f, const struct test_sizes *c, enum path_marks marks, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	int rc;

	if (f->t->sized_tasks->k.known <= 0 || c->kind == SIZE_FULL || !c->own.n)
		return 1;
	f->marks = marks;
	rc = lower_by_marks(f, size);
	f->marks = MARKS_CODE;
	return settle_found(f, rc, size, c, out);
}

static unsigned named_sizes(const struct funnel *f)
{
	unsigned set = 0;

	for (size_t i = 0; i < f->t->image.n_all; i++)
		set |= (unsigned)(f->t->image.size[i].full >= NAMED_LEAST && size_facts_named(f->source,
				f->t->image.size[i].full)) << i;
	return set;
}

/* A kernel that is made for the task's sizes has them as numbers. */
static int named(struct funnel *f, const struct test_sizes *c, size_t i, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	unsigned keep = named_sizes(f), only = i ? 1u << (i - 1) : keep;

	if (f->t->sized_tasks->k.known <= 0 || c->kind == SIZE_FULL || !c->own.n || !(keep & only) ||
	    (i && keep == only))
		return 1;
	return settle_found(f, descend(f, &c->own, only, WORK_MOST / 8, MODULUS_MODEL, NULL, size), size, c, out);
}

static int larger(struct funnel *f, const struct test_sizes *c, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	int same = 1;

	if (f->t->sized_tasks->k.known <= 0 || c->kind == SIZE_FULL)
		return 1;
	for (size_t i = 0; i < f->t->image.n_all; i++) {
		size[i] = MAX(f->t->sized_tasks->k.larger[i], c->size[i]);
		same &= size[i] == c->size[i];
	}
	return same || work_at(f->t, size) > WORK_MOST ? 1 : settle(f, c->kind, size, out);
}

int test_sizes_other(struct funnel *f, const struct test_sizes *c, enum test_sizes_change change, size_t i,
		     struct test_sizes *out)
{
	switch (change) {
	case TEST_SIZES_SMALLER: return smaller(f, c, out);
	case TEST_SIZES_SAME: *out = *c; return 0;
	case TEST_SIZES_LARGER: return larger(f, c, out);
	case TEST_SIZES_SAME_GRID: return other_marks(f, c, MARKS_GRIDS, out);
	case TEST_SIZES_SAME_TRIPS: return other_marks(f, c, MARKS_NAMES, out);
	case TEST_SIZES_NAMED: return named(f, c, i, out);
	case TEST_SIZES_FULL_SIZE: return own_size(f, c, i, out);
	}
	return 1;
}
