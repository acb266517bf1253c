/* The search for test sizes on the path of full size: see test_sizes.h.
 *
 * Owns the dry runs of the candidate and the comparison of their paths. Results of such runs never
 * reach the verdict, except that the candidate fails at full size. */
#include "verify/funnel/test_sizes.h"

#include <stdio.h>

#include "base/mem.h"
#include "verify/funnel/path_marks.h"
#include "verify/funnel/size_learn.h"
#include "verify/funnel/size_model.h"
#include "verify/funnel/sized_cache.h"

/* --- dry runs ----------------------------------------------------------------------------- */

/* Only the run at full size asks for an estimate of the GPU time: the speed-up is reported for full
 * size. */
void test_sizes_order(struct funnel *f, enum dry_run what, const int64_t *size)
{
	struct run_order o = { .dry_run = what, .tune = 1, .estimate = size_model_is_full(f->t, size),
			       .marks = f->marks };

	memcpy(o.size, size, f->t->image.n_all * sizeof *size);
	attempt_order(f, &f->t->image.trial[0], &o);
}

/* A malformed report counts as a failed run here: the stages that follow will meet it again and
 * judge it. */
enum step test_sizes_take(struct funnel *f, int i)
{
	struct results none;
	int rc = shmem_report(f->link->shmem, &f->orders, i, &f->report, &none, f->e);

	if (rc < 0)
		return STEP_BROKE;
	return rc || f->report.state != RUN_GAVE ? STEP_FAILED : STEP_PASSED;
}

/* Runs the batch. A lost runner is no failure of the candidate yet: the result of the batch is
 * dropped. */
static enum step ask(struct funnel *f)
{
	struct trial_result dropped = TRIAL_RESULT_INIT;

	return attempt_ask(f, &dropped);
}

/* --- from below: climb -------------------------------------------------------------------- */

/* Larger sizes to try, and how many marks of full size are missing there. */
struct raised {
	int64_t size[TASK_SIZES];
	int left;
};

enum { RAISED_MOST = 3 + 2 * TASK_SIZES };

/* Makes a dry run at each of the raised sizes. If the candidate fails there, all marks are missing.
 * Returns STEP_FAILED if the runner is lost. */
static enum step try_raised(struct funnel *f, const struct host_path *full, struct raised *r, int n)
{
	enum step step;

	f->orders.n = 0;
	for (int i = 0; i < n; i++)
		test_sizes_order(f, DRY_RUN_CANDIDATE, r[i].size);
	step = ask(f);
	for (int i = 0; i < n && step == STEP_PASSED; i++) {
		enum step run = test_sizes_take(f, i);

		if (run == STEP_BROKE)
			return STEP_BROKE;
		r[i].left = run == STEP_FAILED ? full->n + 1 : path_lacking(full, &f->report.path);
	}
	return step;
}

/* Lists larger sizes to try: first all sizes raised together, in three steps; then each size by
 * itself, larger and at full size. Returns their number. */
static int raise_sizes(const struct task *t, const int64_t *from, struct raised *out)
{
	static const int64_t moduli[] = { 512, 1024, 4096 };
	int n = 0;

	for (size_t k = 0; k < COUNT_OF(moduli); k++, n++) {
		for (size_t i = 0; i < t->image.n_all; i++)
			out[n].size[i] = MAX(from[i], size_model_shrink(t->image.size[i].full, moduli[k]));
		size_model_keep_apart(t, SIZE_WORK_MOST / 32.0, out[n].size);
	}
	for (size_t i = 0; i < t->image.n_all; i++)
		for (int k = 0; k < 2 && from[i] < t->image.size[i].full; k++, n++) {
			int64_t full = t->image.size[i].full;

			memcpy(out[n].size, from, t->image.n_all * sizeof *from);
			out[n].size[i] = k ? full : MAX(from[i], size_model_shrink(full, MODULUS_LARGER));
		}
	return n;
}

/* Raises *size to the sizes at which the fewest marks are missing, and among those to the least
 * work. Sizes at which marks are missing must be cheap, unless the candidate has not run at any
 * sizes so far. Fails if marks are still missing, or if the runner is lost. */
static enum step climb(struct funnel *f, const struct host_path *full, int lack, int64_t *size)
{
	const struct task *t = f->t;
	struct raised r[RAISED_MOST];
	int n = raise_sizes(t, size, r);
	enum step step = try_raised(f, full, r, n);

	for (int i = 0; i < n && step == STEP_PASSED; i++) {
		double work = size_model_work(t, r[i].size);
		double most = r[i].left && lack <= full->n ? SIZE_WORK_MOST / 8 : SIZE_WORK_MOST;

		if (r[i].left > lack || work > most || (r[i].left == lack && work >= size_model_work(t, size)))
			continue;
		lack = r[i].left;
		memcpy(size, r[i].size, t->image.n_all * sizeof *size);
	}
	return step != STEP_PASSED ? step : lack > 0 ? STEP_FAILED : STEP_PASSED;
}

/* --- from above: descend ------------------------------------------------------------------ */

/* How far one descent may go. */
struct descent {
	const struct host_path *full;       /* the marks that must be met */
	unsigned keep;                      /* a bit for each size that stays */
	double limit;                       /* the work that is aimed at */
	int64_t least;                      /* the smallest modulus, where size_model_floor would stop earlier */
	const int64_t *from;                /* no size goes below its value here; NULL: no such values */
};

/* Takes the pairs of dry runs of a batch, candidate and reference, from the smallest size on. Sets
 * the sizes of `equals` to the first value at which both run and no mark is missing. */
static enum step take_lowest(struct funnel *f, const struct descent *d, unsigned equals, const int64_t *low, int n,
			     int64_t *size)
{
	for (int k = 0; k < n; k++) {
		enum step step = test_sizes_take(f, 2 * k);

		if (step == STEP_PASSED)
			step = path_lacking(d->full, &f->report.path) ? STEP_FAILED : test_sizes_take(f, 2 * k + 1);
		if (step == STEP_BROKE)
			return STEP_BROKE;
		if (step == STEP_PASSED) {
			size_model_put(f->t, equals, low[k], size);
			break;
		}
	}
	return STEP_PASSED;
}

/* Lowers the i-th size and its `equals` as far as possible. It skips values of another size that
 * differs from this one at full size, unless the least modulus is that of the batch. Passes also if
 * the size does not change. Fails if the runner is lost. */
static enum step lower_size(struct funnel *f, const struct descent *d, unsigned equals, size_t i, int64_t *size)
{
	int64_t tried[TASK_SIZES], low[SHMEM_ORDERS / 2], from = d->from ? d->from[i] : 0;
	int64_t full = f->t->image.size[i].full, m = MIN(size_model_floor(f->t, i), d->least);
	int n = 0, any = d->least <= MODULUS_BATCH;
	enum step step;

	memcpy(tried, size, sizeof tried);
	f->orders.n = 0;
	while (m < from && size_model_shrink(full, m) < from)
		m *= 2;
	while (size_model_shrink(full, m) < size[i] && n < SHMEM_ORDERS / 2) {
		int twin;

		size_model_put(f->t, equals, size_model_shrink(full, m), tried);
		twin = !any && size_model_has_twin(f->t, tried, i);
		if (!twin) {
			low[n++] = tried[i];
			test_sizes_order(f, DRY_RUN_CANDIDATE, tried);
			test_sizes_order(f, DRY_RUN_REFERENCE, tried);
		}
		m *= from || twin ? 2 : 4;
	}
	step = n ? ask(f) : STEP_PASSED;
	return step == STEP_PASSED ? take_lowest(f, d, equals, low, n, size) : step;
}

/* A small size of the model that no work depends on, such as the window of a pool: candidates may
 * have it as a number, and lowering it gains nothing. */
static int is_window(const struct task *t, size_t i)
{
	return t->image.size[i].of_model && t->image.size[i].full < 2 * MODULUS_MODEL && size_model_is_workless(t, i);
}

/* The size to lower next: the batch first, then the largest; n_all: none is left. */
static size_t next_to_lower(const struct task *t, const int64_t *size, unsigned keep)
{
	size_t next = t->image.n_all;

	for (size_t i = 0; i < t->image.n_all; i++)
		if (!(keep >> i & 1) && !is_window(t, i) && (next == t->image.n_all || (next && size[i] > size[next])))
			next = i;
	return next;
}

/* Lowers one size after another until the work is within the limit; with `together` each with its
 * equals. */
static enum step lower_sizes(struct funnel *f, const struct descent *d, int together, int64_t *size)
{
	unsigned keep = d->keep;
	enum step step = STEP_PASSED;

	while (step == STEP_PASSED && size_model_work(f->t, size) > d->limit) {
		size_t next = next_to_lower(f->t, size, keep);
		unsigned equals;
		int64_t was;

		if (next == f->t->image.n_all)
			break;
		was = size[next];
		equals = together ? size_model_equals(f->t, size, next) & ~keep : 1u << next;
		step = lower_size(f, d, equals, next, size);
		/* One of the equal sizes may need its value: then only this size is lowered. */
		if (step == STEP_PASSED && size[next] == was && equals != 1u << next) {
			equals = 1u << next;
			step = lower_size(f, d, equals, next, size);
		}
		keep |= equals;
	}
	return step;
}

/* Equal sizes stay equal if the work gets small enough that way. */
static enum step descend(struct funnel *f, const struct descent *d, int64_t *size)
{
	enum step step;

	size_model_full(f->t, size);
	step = lower_sizes(f, d, 1, size);
	if (step == STEP_PASSED && size_model_work(f->t, size) > SIZE_WORK_MOST)
		step = lower_sizes(f, d, 0, size);
	return step != STEP_PASSED ? step : size_model_work(f->t, size) > SIZE_WORK_MOST ? STEP_FAILED : STEP_PASSED;
}

enum step test_sizes_descend(struct funnel *f, const struct host_path *path, unsigned keep, double limit,
			     int64_t least, int64_t *size)
{
	return descend(f, &(struct descent){ .full = path, .keep = keep, .limit = limit, .least = least }, size);
}

enum step test_sizes_descend_above(struct funnel *f, const struct host_path *path, const int64_t *floors,
				   int64_t *size)
{
	return descend(f, &(struct descent){ .full = path, .limit = SIZE_WORK_FIRST, .least = MODULUS_MODEL,
					     .from = floors }, size);
}

enum step test_sizes_descend_far(struct funnel *f, const struct host_path *path, int64_t least, int64_t *size)
{
	enum step step = test_sizes_descend(f, path, 0, SIZE_WORK_FIRST, least, size);

	if (step != STEP_FAILED || f->lost != LOST_NOT)
		return step;
	return size_model_work(f->t, size) > 2.0 * SIZE_WORK_MOST ? STEP_FAILED : STEP_PASSED;
}

/* --- the search --------------------------------------------------------------------------- */

/* Searches from below. If that fails or is expensive, it also searches from above and takes the
 * cheaper sizes. Fails if no affordable sizes meet every mark (*size meets most of them), or if the
 * runner is lost. */
static enum step cover(struct funnel *f, const struct host_path *full, int lack, int64_t *size)
{
	const struct descent d = { .full = full, .limit = SIZE_WORK_FIRST, .least = MODULUS_MODEL,
				   .from = f->t->sized_tasks->k.first };
	int64_t low[TASK_SIZES];
	enum step up = climb(f, full, lack, size), down;

	if (up == STEP_BROKE || f->lost != LOST_NOT)
		return up;
	if (up == STEP_PASSED && size_model_work(f->t, size) <= 16.0 * SIZE_WORK_FIRST)
		return up;
	down = descend(f, &d, low);
	/* A batch below that of the first sizes, and twice the work, are better than another
	 * path. */
	if (down == STEP_FAILED && up == STEP_FAILED && f->lost == LOST_NOT)
		down = test_sizes_descend_far(f, full, MODULUS_BATCH, low);
	if (down == STEP_BROKE)
		return STEP_BROKE;
	if (down == STEP_FAILED || (up == STEP_PASSED && size_model_work(f->t, low) >= size_model_work(f->t, size)))
		return up;
	memcpy(size, low, sizeof low);
	return STEP_PASSED;
}

/* The candidate failed in the dry run at full size. The failure is its verdict if it does not
 * compile, does not fit the GPU, lets torch compute, raises, or takes more steps than a program may. A dry run has no
 * contents, so host code that reads a tensor gets a made-up value. Its errors after that prove
 * nothing. */
static enum step check_full_size(struct funnel *f)
{
	const struct run_report *r = &f->report;
	struct trial_result out = TRIAL_RESULT_INIT;
	struct diag d;

	if (r->state != RUN_FAILED)
		return STEP_PASSED;
	if (r->refused || r->diag.reason == REASON_torch_compute)
		return funnel_fail(f, STAGE_compile, &r->diag);
	if (r->guessed || (strcmp(reason_class(r->diag.reason), "runtime") && r->diag.reason != REASON_out_of_fuel))
		return STEP_PASSED;
	d = r->diag;
	snprintf(d.text, sizeof d.text, "at full size: %.300s", r->diag.text);
	out.compiled = r->compiled;
	trial_result_fail(&out, f, STAGE_full, &d);
	return funnel_commit(f, &out);
}

/* Three cases need no dry run of the candidate: all trials are at full size already, the facts are
 * not known, or the first sizes are full size. */
enum step test_sizes_begin(struct funnel *f, struct test_sizes *out)
{
	const struct size_facts *k;
	enum step step;

	*out = (struct test_sizes){ .t = f->base, .kind = task_size(f->base) };
	if (f->base->at_full_size)
		return STEP_PASSED;
	step = size_learn(f);
	if (step != STEP_PASSED)
		return step;
	k = &f->base->sized_tasks->k;
	if (k->known <= 0)
		return sized_cache_settle_base(f, out);
	if (size_model_is_full(f->base, k->first))
		return sized_cache_settle(f, SIZE_FULL, k->first, out);
	out->t = NULL;
	return STEP_PASSED;
}

/* Looks for sizes at which the candidate meets the marks of full size. The dry runs of the batch
 * are at full size and at the first sizes. */
static enum step search(struct funnel *f, struct test_sizes *out)
{
	const struct host_path *full = &out->full_size_path;
	int64_t size[TASK_SIZES];
	enum step step;
	int lack;

	memcpy(size, f->t->sized_tasks->k.first, sizeof size);
	step = test_sizes_take(f, 1);
	if (step == STEP_BROKE)
		return STEP_BROKE;
	lack = step == STEP_FAILED ? full->n + 1 : path_lacking(full, &f->report.path);
	step = lack ? cover(f, full, lack, size) : STEP_PASSED;
	f->lost = LOST_NOT;
	if (step == STEP_BROKE)
		return STEP_BROKE;
	return sized_cache_settle(f, step == STEP_PASSED ? SIZE_SHRUNK : SIZE_SAMPLED, size, out);
}

/* Example: a product of 4096 x 4096 matrices. Full size has the marks of a K loop with several
 * iterations; the first sizes, say 256, have them too if BLOCK_K is at most 128. If BLOCK_K is
 * 256, the loop has one iteration there, and larger sizes are searched. */
enum step test_sizes_find(struct funnel *f, struct test_sizes *out)
{
	const int64_t *first = f->t->sized_tasks->k.first;
	struct trial_result lost = TRIAL_RESULT_INIT;
	int64_t size[TASK_SIZES];
	enum step step;

	f->orders.n = 0;
	size_model_full(f->t, size);
	test_sizes_order(f, DRY_RUN_CANDIDATE, size);
	test_sizes_order(f, DRY_RUN_CANDIDATE, first);
	step = attempt_ask(f, &lost);
	/* A candidate that takes too long is judged at the first sizes. One that crashes its runner
	 * would hide something that way. */
	if (step == STEP_FAILED && f->lost == LOST_CRASHED)
		return funnel_commit(f, &lost);
	if (step == STEP_FAILED) {
		f->lost = LOST_NOT;
		return sized_cache_settle(f, SIZE_SAMPLED, first, out);
	}
	if (step == STEP_PASSED)
		step = test_sizes_take(f, 0);
	if (step == STEP_FAILED) {
		step = check_full_size(f);
		return step == STEP_PASSED ? sized_cache_settle(f, SIZE_SAMPLED, first, out) : step;
	}
	if (step == STEP_BROKE)
		return STEP_BROKE;
	if (f->report.compiled)
		f->v->stages[STAGE_compile].passed = 1;
	out->full_size_path = f->report.path;
	f->full_size_seconds = f->report.out.seconds;
	f->full_size_kernels = f->report.out.kernels;
	return search(f, out);
}
