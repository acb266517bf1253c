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
 * - A kernel may need a multiple of many blocks, as a product in groups of 8 blocks does, or the very
 *   grid of full size: full size itself if it is cheap, then each size in turn as at full size
 *   modulo 1024.
 * - A candidate may assert full size. An assert that holds there changes nothing else, so it is
 *   passed over at smaller sizes. */
static const struct retry {
	int (*when)(const struct funnel *f);
	enum retry_sizes_change change;
} retries[] = {
	{ took_too_long, RETRY_SMALLER }, { took_too_long, RETRY_SAME },
	{ failed_after_ast, RETRY_LARGER }, { misses_a_multiple, RETRY_ALIGNED },
	{ asserts_size, RETRY_UNASSERTED },
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

	/* At the same sizes the candidate now gets the fuel that it would have got without a limit
	 * on the first try. */
	f->slow = change == RETRY_SMALLER || (f->slow && change != RETRY_SAME);
	f->skip_asserts = change == RETRY_UNASSERTED;
	if (step == STEP_PASSED)
		step = retry_sizes_find(f, &f->sizes, change, i, &other);
	if (step != STEP_PASSED)
		return step;
	/* The base task itself was the fall-back already: it has nothing new to say. */
	return !other.t->is_fixed && change >= RETRY_ALIGNED ? STEP_FAILED : judge_again(f, &other);
}

/* The conditions look at the verdict of the last retry, so one retry can lead to another: a
 * candidate that is too slow and then wrong is also tried at larger sizes. */
enum step funnel_retry(struct funnel *f)
{
	enum step step = STEP_FAILED;

	for (size_t k = 0; k < COUNT_OF(retries); k++) {
		size_t tries = retries[k].change == RETRY_ALIGNED ? f->base->image.n_all + 1 : 1;

		for (size_t i = 0; i < tries && step == STEP_FAILED && f->lost == LOST_NOT && retries[k].when(f); i++)
			step = retry(f, retries[k].change, i);
	}
	return step;
}
