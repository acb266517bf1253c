/* A candidate that fails at its first test sizes is judged again at others, if its failure may come
 * from the sizes. It passes if it passes at any of them.
 *
 * Each retry judges into a verdict of its own. That verdict replaces the candidate's, unless the
 * retry only reached a limit. */
#include "verify/funnel/retry.h"

#include "verify/funnel/retry_sizes.h"

/* --- which failures may come from the sizes ----------------------------------------------- */

static int took_too_long(const struct funnel *f)
{
	return f->v->diag.reason == REASON_kernel_timeout;
}

static int failed_after_ast(const struct funnel *f)
{
	return f->v->stage > STAGE_ast;
}

/* No affordable sizes have the path of full size, so the candidate ran on another path. */
static int took_another_path(const struct funnel *f)
{
	return f->v->stage > STAGE_ast && f->v->size == SIZE_SAMPLED;
}

/* The compiler cannot leave anything unwritten, so only runs count. */
static int left_unwritten(const struct funnel *f)
{
	return f->v->stage > STAGE_compile && f->v->diag.reason == REASON_uninitialised;
}

/* An error that tf32 explains is no matter of sizes: it would be the same at all of them. */
static int is_a_little_off(const struct funnel *f)
{
	enum reason why = f->v->diag.reason;

	return f->v->stage > STAGE_compile && ((why == REASON_precision && f->unexplained) ||
					       (why == REASON_wrong_value && f->near));
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

/* The retries, in this order, as long as the candidate fails:
 * - A candidate that takes too long runs at smaller sizes; without smaller sizes it gets more time.
 * - A kernel may be written for multiples of its blocks: larger sizes.
 * - The part of the result that an instance writes may follow from the size of the grid: the grids
 *   of full size.
 * - Kernels that have sizes as constants never compile to the same code at smaller sizes: sizes at
 *   which loops and grids that iterate several times at full size still do.
 * - A kernel for the task's sizes may have them as literal numbers: these sizes stay at full size,
 *   all together and one by one.
 * - A kernel may need a multiple of many blocks, as a product in groups of 8 blocks does, or the very
 *   grid of full size: full size itself if it is cheap, then each size in turn as at full size
 *   modulo 1024.
 * - A candidate may assert full size. An assert that holds there changes nothing else, so it is
 *   passed over at smaller sizes.
 * - An approximation may only be good for the values that occur at full size. Example: a sum over
 *   thousands of terms drives a sigmoid into saturation. Each size in turn stays at full size. */
static const struct retry {
	int (*when)(const struct funnel *f);
	enum retry_sizes_change change;
} retries[] = {
	{ took_too_long, RETRY_SMALLER }, { took_too_long, RETRY_SAME },
	{ failed_after_ast, RETRY_LARGER }, { left_unwritten, RETRY_SAME_GRID },
	{ took_another_path, RETRY_SAME_TRIPS }, { failed_after_ast, RETRY_NAMED },
	{ misses_a_multiple, RETRY_ALIGNED }, { asserts_size, RETRY_UNASSERTED },
	{ is_a_little_off, RETRY_FULL_SIZE },
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
static enum step retry(struct funnel *f, enum retry_sizes_change change, size_t i)
{
	struct test_sizes other;
	enum step step = funnel_switch_task(f, f->base);
	int tried;

	/* At the same sizes the candidate now gets the fuel that it would have got without a limit
	 * on the first try. */
	f->slow = change == RETRY_SMALLER || (f->slow && change != RETRY_SAME);
	f->skip_asserts = change == RETRY_UNASSERTED;
	if (step == STEP_PASSED)
		step = retry_sizes_find(f, &f->sizes, change, i, &other);
	if (step != STEP_PASSED)
		return step;
	/* The base task was the fall-back already, and has nothing new to say, unless it is full size itself and
	 * the candidate ran at smaller sizes so far. */
	tried = !other.t->is_fixed && (other.kind != SIZE_FULL || f->sizes.kind == SIZE_FULL);
	return tried && change >= RETRY_SAME_GRID ? STEP_FAILED : judge_again(f, &other);
}

/* How often a change is tried: those that hold one size fixed have a try for each size. */
static size_t tries_of(const struct funnel *f, enum retry_sizes_change change)
{
	switch (change) {
	case RETRY_FULL_SIZE: return f->base->image.n_all;
	case RETRY_NAMED: case RETRY_ALIGNED: return f->base->image.n_all + 1;
	default: return 1;
	}
}

/* The conditions look at the verdict of the last retry, so one retry can lead to another: a
 * candidate that is too slow and then wrong is also tried at larger sizes. */
enum step funnel_retry(struct funnel *f)
{
	enum step step = STEP_FAILED;

	for (size_t k = 0; k < COUNT_OF(retries); k++) {
		size_t tries = tries_of(f, retries[k].change);

		for (size_t i = 0; i < tries && step == STEP_FAILED && f->lost == LOST_NOT && retries[k].when(f); i++)
			step = retry(f, retries[k].change, i);
	}
	return step;
}
