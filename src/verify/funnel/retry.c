/* A candidate that fails at its first test sizes is judged again at others, if its failure may come
 * from the sizes. It passes if it passes at any of them.
 *
 * Each retry judges into a verdict of its own. That verdict replaces the candidate's, unless the
 * retry only reached a limit. */
#include "verify/funnel/retry.h"

#include "base/mem.h"
#include "verify/funnel/size_model.h"
#include "verify/funnel/sized_cache.h"
#include "verify/funnel/test_sizes.h"

/* --- which failures may come from the sizes ----------------------------------------------- */

static int took_too_long(const struct funnel *f)
{
	return f->v->diag.reason == REASON_kernel_timeout;
}

static int failed_after_ast(const struct funnel *f)
{
	return f->v->stage > STAGE_ast;
}

/* A kernel that is exact for the blocks of full size leaves elements out, or runs past the end, if
 * the sizes are no multiple of them. */
static int misses_a_multiple(const struct funnel *f)
{
	enum reason why = f->v->diag.reason;

	return f->v->stage > STAGE_compile && (why == REASON_uninitialised || why == REASON_out_of_bounds);
}

/* The candidate runs at full size, but asserts that it does not run elsewhere. */
static int asserts_size(const struct funnel *f)
{
	return f->v->stage > STAGE_ast && f->v->diag.reason == REASON_assertion_failed && f->sizes.full_size_path.n;
}

/* --- other sizes -------------------------------------------------------------------------- */

/* Settles on *size if the search passed. A runner that was lost in the search is not held against
 * the candidate: its first failure stands. */
static enum step settle_found(struct funnel *f, enum step search, enum size_kind kind, const int64_t *size,
			      struct test_sizes *out)
{
	f->lost = LOST_NOT;
	return search == STEP_PASSED ? sized_cache_settle(f, kind, size, out) : search;
}

/* Are there other sizes at all? */
static int may_change(const struct funnel *f)
{
	return f->t->sized_tasks->k.known > 0 && f->sizes.kind != SIZE_FULL;
}

/* The same for a search that needs the path of the candidate at full size. */
static int may_search(const struct funnel *f)
{
	return may_change(f) && f->sizes.full_size_path.n;
}

/* Sizes with less than half the work. The candidate gets no more fuel there than at first. */
static enum step smaller(struct funnel *f, size_t i, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	enum step step;

	(void)i;
	f->slow = 1;
	if (!may_search(f))
		return STEP_FAILED;
	step = test_sizes_descend(f, &f->sizes.full_size_path, SIZE_WORK_FIRST / 64, MODULUS_BATCH, size);
	if (step == STEP_PASSED && size_model_work(f->t, size) * 2.0 > size_model_work(f->t, f->sizes.size))
		return STEP_FAILED;
	return settle_found(f, step, f->sizes.kind, size, out);
}

/* The same sizes with the fuel that the candidate would have got without a limit on the first try. */
static enum step same(struct funnel *f, size_t i, struct test_sizes *out)
{
	(void)i;
	f->slow = 0;
	*out = f->sizes;
	return STEP_PASSED;
}

/* The larger sizes depend only on the reference (size_learn), so no dry run of the candidate is
 * needed. */
static enum step larger(struct funnel *f, size_t i, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	int all_same = 1;

	(void)i;
	if (!may_change(f))
		return STEP_FAILED;
	for (size_t k = 0; k < f->t->image.n_all; k++) {
		size[k] = MAX(f->t->sized_tasks->k.larger[k], f->sizes.size[k]);
		all_same &= size[k] == f->sizes.size[k];
	}
	if (all_same || size_model_work(f->t, size) > SIZE_WORK_MOST)
		return STEP_FAILED;
	return sized_cache_settle(f, f->sizes.kind, size, out);
}

/* Full size itself, if a run there is cheap. Example: a grid of 256 instances of 1024 elements, written
 * as a number, is exact for 64 x 4096 elements only. */
static enum step full(struct funnel *f, size_t i, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];

	(void)i;
	size_model_full(f->t, size);
	if (!may_change(f) || size_model_work(f->t, size) > SIZE_WORK_MOST / 16)
		return STEP_FAILED;
	return sized_cache_settle(f, SIZE_FULL, size, out);
}

/* The path of full size with launches that are marked by the names of kernels. */
static enum step path_by_name(struct funnel *f, struct host_path *path)
{
	struct trial_result dropped = TRIAL_RESULT_INIT;
	int64_t size[TASK_SIZES];
	enum step step;

	f->orders.n = 0;
	size_model_full(f->t, size);
	test_sizes_order(f, DRY_RUN_CANDIDATE, size);
	step = attempt_ask(f, &dropped);
	if (step == STEP_PASSED)
		step = test_sizes_take(f, 0);
	*path = f->report.path;
	return step;
}

/* Example: a grouped product whose groups have 8 blocks of 128 rows is exact if 1024 divides the rows.
 * The rows stay at 1024 + full % 1024, and the other sizes are lowered. A kernel that has sizes as
 * constants is recognised by its name. */
static enum step aligned(struct funnel *f, size_t i, struct test_sizes *out)
{
	struct host_path path = f->sizes.full_size_path;
	int64_t size[TASK_SIZES], floors[TASK_SIZES] = { 0 };
	enum step step = STEP_PASSED;

	if (!may_search(f) || f->sizes.size[i] >= size_model_shrink(f->t->image.size[i].full, MODULUS_LARGER))
		return STEP_FAILED;
	floors[i] = size_model_shrink(f->t->image.size[i].full, MODULUS_LARGER);
	f->by_name = f->sizes.kind == SIZE_SAMPLED;
	if (f->by_name)
		step = path_by_name(f, &path);
	if (step == STEP_PASSED)
		step = test_sizes_descend_above(f, &path, floors, size);
	f->by_name = 0;
	return settle_found(f, step, f->sizes.kind, size, out);
}

/* Sizes on the path of full size if asserts are passed over; else the same sizes again. */
static enum step unasserted(struct funnel *f, size_t i, struct test_sizes *out)
{
	int64_t size[TASK_SIZES];
	enum step step;

	(void)i;
	f->skip_asserts = 1;
	*out = f->sizes;
	if (!may_search(f))
		return STEP_FAILED;
	step = test_sizes_descend_far(f, &f->sizes.full_size_path, MODULUS_MODEL, size);
	return step == STEP_FAILED ? STEP_PASSED : settle_found(f, step, SIZE_SHRUNK, size, out);
}

/* --- the table ---------------------------------------------------------------------------- */

/* The retries, in this order, as long as the candidate fails:
 * - A candidate that takes too long runs at smaller sizes; without smaller sizes it gets more time.
 * - A kernel may be written for multiples of its blocks: larger sizes.
 * - A kernel may need a multiple of many blocks, as a product in groups of 8 blocks does, or the very
 *   grid of full size: full size itself if it is cheap, then each size in turn as at full size
 *   modulo 1024.
 * - A candidate may assert full size. An assert that holds there changes nothing else, so it is
 *   passed over at smaller sizes. */
static const struct retry {
	int (*when)(const struct funnel *f);
	/* Finds other sizes than f->sizes. Fails if there are none, or if they are too much work. The
	 * runner has the base task. */
	enum step (*find)(struct funnel *f, size_t i, struct test_sizes *out);
	int each;                           /* it is tried for each size i */
	int chosen;                         /* only at chosen sizes: the base task has nothing new to say */
} retries[] = {
	{ .when = took_too_long, .find = smaller },
	{ .when = took_too_long, .find = same },
	{ .when = failed_after_ast, .find = larger },
	{ .when = misses_a_multiple, .find = full, .chosen = 1 },
	{ .when = misses_a_multiple, .find = aligned, .each = 1, .chosen = 1 },
	{ .when = asserts_size, .find = unasserted, .chosen = 1 },
};

/* --- judging again ------------------------------------------------------------------------ */

/* Judges at other sizes. *out is the verdict there; it begins with what is known of the
 * candidate. */
static enum step judge_at(struct funnel *f, const struct test_sizes *c, struct verdict *out)
{
	struct verdict *candidate = f->v;
	enum reason why = candidate->diag.reason;
	enum step step;

	*out = *candidate;
	out->diag = (struct diag){ .reason = REASON_ok };
	out->n_inputs = out->n_elements = 0;
	out->explain[0] = 0;
	f->v = out;
	f->t = NULL;
	f->again = why == REASON_wrong_value || why == REASON_precision;
	step = funnel_use_sizes(f, c);
	if (step == STEP_PASSED)
		step = funnel_run_stages(f, STAGE_tiny, STAGE_timing);
	f->again = 0;
	f->v = candidate;
	return step;
}

/* Judges at other sizes and takes over the verdict. A limit that is reached there says nothing
 * about the candidate: the failure that was found before stands. */
static enum step judge_again(struct funnel *f, const struct test_sizes *c)
{
	struct verdict again;
	enum step step = judge_at(f, c, &again);

	for (int s = STAGE_tiny; s <= STAGE_full; s++)
		again.stages[s].ms += f->v->stages[s].ms;
	if (step != STEP_FAILED || strcmp(reason_class(again.diag.reason), "limit"))
		*f->v = again;
	return step;
}

/* Fails as well if there are no such sizes. */
static enum step retry(struct funnel *f, const struct retry *r, size_t i)
{
	struct test_sizes other;
	enum step step = funnel_switch_task(f, f->base);

	if (step == STEP_PASSED)
		step = r->find(f, i, &other);
	if (step != STEP_PASSED)
		return step;
	return r->chosen && !other.t->is_fixed ? STEP_FAILED : judge_again(f, &other);
}

/* The conditions look at the verdict of the last retry, so one retry can lead to another: a
 * candidate that is too slow and then wrong is also tried at larger sizes. */
enum step funnel_retry(struct funnel *f)
{
	enum step step = STEP_FAILED;

	for (size_t k = 0; k < COUNT_OF(retries); k++) {
		const struct retry *r = &retries[k];
		size_t tries = r->each ? f->base->image.n_all : 1;

		for (size_t i = 0; i < tries && step == STEP_FAILED && f->lost == LOST_NOT && r->when(f); i++)
			step = retry(f, r, i);
	}
	return step;
}
