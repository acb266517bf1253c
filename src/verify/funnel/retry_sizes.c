/* Other test sizes for a failed candidate: see retry_sizes.h. */
#include "verify/funnel/retry_sizes.h"

#include "base/mem.h"
#include "verify/funnel/path_marks.h"
#include "verify/funnel/size_model.h"
#include "verify/funnel/sized_cache.h"
#include "verify/funnel/test_sizes.h"

/* Literal numbers below this are windows, tile widths and the like, not sizes of the task. */
enum { NAMED_LEAST = 32 };

/* Settles on *size if the search passed. A runner that was lost in the search is not held against
 * the candidate: its first failure stands. */
static enum step settle_found(struct funnel *f, enum step search, const int64_t *size, const struct test_sizes *c,
			      struct test_sizes *out)
{
	f->lost = LOST_NOT;
	return search == STEP_PASSED ? sized_cache_settle(f, c->kind, size, out) : search;
}

/* Are there other sizes at all? */
static int may_change(const struct funnel *f, const struct test_sizes *c)
{
	return f->t->sized_tasks->k.known > 0 && c->kind != SIZE_FULL;
}

/* The same for a search that needs the path of the candidate at full size. */
static int may_search(const struct funnel *f, const struct test_sizes *c)
{
	return may_change(f, c) && c->full_size_path.n;
}

/* Keeps the i-th size at full size. */
static enum step full_size(struct funnel *f, const struct test_sizes *c, size_t i, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	enum step step = STEP_PASSED;

	if (!may_change(f, c) || c->size[i] == f->t->image.size[i].full)
		return STEP_FAILED;
	memcpy(size, c->size, sizeof size);
	size[i] = f->t->image.size[i].full;
	/* If the other sizes make too much work, they are searched again, beginning at full
	 * size. */
	if (size_model_work(f->t, size) > SIZE_WORK_MOST && c->full_size_path.n)
		step = test_sizes_descend(f, &c->full_size_path, 1u << i, SIZE_WORK_MOST / 8, MODULUS_MODEL, size);
	if (size_model_work(f->t, size) > SIZE_WORK_MOST)
		return STEP_FAILED;
	return settle_found(f, step, size, c, out);
}

/* Sizes with less than half the work. */
static enum step smaller(struct funnel *f, const struct test_sizes *c, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	enum step step;

	if (!may_search(f, c))
		return STEP_FAILED;
	step = test_sizes_descend(f, &c->full_size_path, 0, SIZE_WORK_FIRST / 64, MODULUS_BATCH, size);
	if (step == STEP_PASSED && size_model_work(f->t, size) * 2.0 > size_model_work(f->t, c->size))
		return STEP_FAILED;
	return settle_found(f, step, size, c, out);
}

/* A dry run at full size with other marks (f->marks), then the smallest sizes that meet them; with
 * `floors` none below its floor. */
static enum step lower_by_marks(struct funnel *f, const int64_t *floors, int64_t *size)
{
	struct trial_result dropped = TRIAL_RESULT_INIT;
	struct host_path path;
	enum step step;

	f->orders.n = 0;
	size_model_full(f->t, size);
	test_sizes_order(f, DRY_RUN_CANDIDATE, size);
	step = attempt_ask(f, &dropped);
	if (step == STEP_PASSED)
		step = test_sizes_take(f, 0);
	if (step != STEP_PASSED)
		return step;
	path = f->report.path;
	return floors ? test_sizes_descend_above(f, &path, floors, size) :
		test_sizes_descend_far(f, &path, MODULUS_MODEL, size);
}

/* Searches with other marks than the code of kernels: with the grids, or with the names of kernels
 * only. */
static enum step other_marks(struct funnel *f, const struct test_sizes *c, enum path_marks marks,
			     struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	enum step step;

	if (!may_search(f, c))
		return STEP_FAILED;
	f->marks = marks;
	step = lower_by_marks(f, NULL, size);
	f->marks = MARKS_CODE;
	return settle_found(f, step, size, c, out);
}

/* A bit for each size whose full size is a literal number in the text of the candidate. */
static unsigned named_sizes(const struct funnel *f)
{
	unsigned set = 0;

	for (size_t i = 0; i < f->t->image.n_all; i++) {
		int64_t full = f->t->image.size[i].full;

		if (full >= NAMED_LEAST && size_facts_named(f->source, full))
			set |= 1u << i;
	}
	return set;
}

/* Example: a kernel has `4096` in its text and a size of the task is 4096. That size stays, and
 * the others are lowered. */
static enum step named(struct funnel *f, const struct test_sizes *c, size_t i, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	unsigned all = named_sizes(f), keep = i ? 1u << (i - 1) : all;
	enum step step;

	/* A single named size was tried as all of them. */
	if (!may_search(f, c) || !(all & keep) || (i && all == keep))
		return STEP_FAILED;
	step = test_sizes_descend(f, &c->full_size_path, keep, SIZE_WORK_MOST / 8, MODULUS_MODEL, size);
	return settle_found(f, step, size, c, out);
}

/* Does the candidate launch the same grids at its test sizes as at full size? Then it has the sizes as
 * numbers, and a run at smaller sizes says nothing about it. Example: a convolution whose kernel counts 64 to
 * 128 channels in its source reads past the end of weights that the test sizes cut to 32. */
static enum step grids_are_fixed(struct funnel *f, const struct test_sizes *c, int *fixed)
{
	struct trial_result dropped = TRIAL_RESULT_INIT;
	int64_t full[TASK_SIZES];
	struct host_path path;
	enum step step;

	*fixed = 0;
	size_model_full(f->t, full);
	f->orders.n = 0;
	f->marks = MARKS_GRIDS;
	test_sizes_order(f, DRY_RUN_CANDIDATE, full);
	test_sizes_order(f, DRY_RUN_CANDIDATE, c->size);
	step = attempt_ask(f, &dropped);
	if (step == STEP_PASSED)
		step = test_sizes_take(f, 0);
	if (step == STEP_PASSED) {
		path = f->report.path;
		step = test_sizes_take(f, 1);
		*fixed = step == STEP_PASSED && !path_lacking(&path, &f->report.path);
	}
	f->marks = MARKS_CODE;
	f->lost = LOST_NOT;
	return step;
}

/* Full size itself, if a run there is cheap, or if the candidate has the sizes as numbers. Example: a grid of 256
 * instances of 1024 elements, written as a number, is exact for 64 x 4096 elements only. */
static enum step all_full(struct funnel *f, const struct test_sizes *c, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	enum step step = STEP_PASSED;
	int fixed = 1;
	double work;

	size_model_full(f->t, size);
	work = size_model_work(f->t, size);
	if (!may_change(f, c) || work > SIZE_WORK_MOST)
		return STEP_FAILED;
	if (work > SIZE_WORK_MOST / 16)
		step = c->full_size_path.n ? grids_are_fixed(f, c, &fixed) : STEP_FAILED;
	if (step != STEP_PASSED || !fixed)
		return step == STEP_BROKE ? STEP_BROKE : STEP_FAILED;
	return sized_cache_settle(f, SIZE_FULL, size, out);
}

/* Example: a grouped product whose groups have 8 blocks of 128 rows is exact if 1024 divides the rows.
 * The rows stay at 1024 + full % 1024, and the other sizes are lowered. A kernel that has sizes as
 * constants is recognised by its name. */
static enum step aligned(struct funnel *f, const struct test_sizes *c, size_t i, struct test_sizes *out)
{
	int64_t size[TASK_SIZES], floors[TASK_SIZES] = { 0 };
	enum step step;

	if (!may_search(f, c) || c->size[i] >= size_model_shrink(f->t->image.size[i].full, MODULUS_LARGER))
		return STEP_FAILED;
	floors[i] = size_model_shrink(f->t->image.size[i].full, MODULUS_LARGER);
	f->marks = c->kind == SIZE_SAMPLED ? MARKS_NAMES : MARKS_CODE;
	step = lower_by_marks(f, floors, size);
	f->marks = MARKS_CODE;
	return settle_found(f, step, size, c, out);
}

/* Sizes on the path of full size if asserts are passed over; else the same sizes again. */
static enum step unasserted(struct funnel *f, const struct test_sizes *c, struct test_sizes *out)
{
	struct test_sizes found = *c;
	int64_t size[TASK_SIZES];
	enum step step;

	*out = *c;
	if (!may_search(f, c))
		return STEP_FAILED;
	step = test_sizes_descend_far(f, &c->full_size_path, MODULUS_MODEL, size);
	if (step == STEP_FAILED)
		return STEP_PASSED;
	found.kind = SIZE_SHRUNK;
	return settle_found(f, step, size, &found, out);
}

/* The larger sizes depend only on the reference (size_learn), so no dry run of the candidate is
 * needed. */
static enum step larger(struct funnel *f, const struct test_sizes *c, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	int same = 1;

	if (!may_change(f, c))
		return STEP_FAILED;
	for (size_t i = 0; i < f->t->image.n_all; i++) {
		size[i] = MAX(f->t->sized_tasks->k.larger[i], c->size[i]);
		same &= size[i] == c->size[i];
	}
	if (same || size_model_work(f->t, size) > SIZE_WORK_MOST)
		return STEP_FAILED;
	return sized_cache_settle(f, c->kind, size, out);
}

/* The same sizes again need no search: the retry gives the candidate more fuel there. */
enum step retry_sizes_find(struct funnel *f, const struct test_sizes *c, enum retry_sizes_change change, size_t i,
			   struct test_sizes *out)
{
	switch (change) {
	case RETRY_SMALLER: return smaller(f, c, out);
	case RETRY_SAME: *out = *c; return STEP_PASSED;
	case RETRY_LARGER: return larger(f, c, out);
	case RETRY_SAME_GRID: return other_marks(f, c, MARKS_GRIDS, out);
	case RETRY_SAME_TRIPS: return other_marks(f, c, MARKS_NAMES, out);
	case RETRY_NAMED: return named(f, c, i, out);
	case RETRY_FULL_SIZE: return full_size(f, c, i, out);
	case RETRY_ALIGNED: return i ? aligned(f, c, i - 1, out) : all_full(f, c, out);
	case RETRY_UNASSERTED: return unasserted(f, c, out);
	}
	return STEP_FAILED;
}
