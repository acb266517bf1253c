/* Do the kernels do the work, or are they a fig leaf for operators of the host? See work_share.h.
 *
 * The measure is the work that operators did; their names do not matter. Each torch operator counts
 * with the bytes that it reads and writes and with its floating-point operations. The operators of
 * the reference are counted the same way. */
#include "verify/funnel/work_share.h"

/* A smaller share counts as none: a bias, a scale by one, a copy. Compared with matrix products, a
 * softmax, or every activation of a deep network, is less than this too. So operations outside
 * products are checked separately (host_work.plain). In a deep network the kernels may even do a
 * single step, the last pool: host code must then call that operator less often than the
 * reference, and no other one more often (work_kinds.h). */
static const double work_share_least = 0.05;

/* Does the reference compute nothing? Then moving elements is the task. */
static int is_movement(const struct host_work *ref)
{
	return !ref->flops && ref->moved;
}

/* The share of the reference's amount that the host did not do. Negative if the host did more. */
static double left_over(int64_t host, int64_t ref)
{
	return ref > 0 ? 1.0 - (double)host / (double)ref : 0.0;
}

/* The larger of the shares of bytes and of operations, in [0, 1]. */
static double share_of(const struct host_work *ref, const struct host_work *host)
{
	double share;

	if (is_movement(ref))
		share = left_over(host->moved, ref->moved);
	else if (!ref->flops)
		share = 1.0;
	else
		share = MAX(left_over(host->bytes, ref->bytes), left_over(host->flops, ref->flops));
	return MIN(MAX(share, 0.0), 1.0);
}

/* Do the kernels have no operation on floats? Then they only move elements. */
static int only_copies(const struct tile_cost *c)
{
	return !(c->ops_f64 | c->ops_f32 | c->ops_f16 | c->ops_special | c->dot_tf32 | c->dot_f16 |
		 c->dot_f8 | c->dot_f64 | c->dot_f32 | c->dot_int8);
}

/* Is a result a view in another order although the reference's result is contiguous? Then no
 * elements were moved. */
static int left_unmoved(const struct results *expected, const struct results *got)
{
	for (int i = 0; i < MIN(expected->n, got->n); i++)
		if (got->r[i].scattered && !expected->r[i].scattered)
			return 1;
	return 0;
}

/* Does Python code compute with values of tensors? It reads more of them than a program needs for
 * its branches, and more than a small share of the result. */
static int python_computes(const struct outcome *o, const struct results *expected)
{
	enum { BRANCH_VALUES = 8 };
	int64_t n = 0;

	for (int i = 0; i < expected->n; i++)
		n += expected->r[i].n;
	return o->floats_read > BRANCH_VALUES && (double)o->floats_read > work_share_least * (double)n;
}

/* The strict track asks more of tasks that only move elements: torch may not move them at all
 * there. The other rules hold on both tracks. */
enum step work_share_judge(struct funnel *f, const struct outcome *o, const struct results *expected,
			   const struct results *got, struct trial_result *r)
{
	const struct host_work *ref = &f->t->work;

	f->v->kernel_share = share_of(ref, &o->host);
	if (f->o->identity || !rule_on(f->o, RULE_work_share))
		return STEP_PASSED;
	if (is_movement(ref) && f->o->track == TRACK_STRICT &&
	    left_over(o->host.moved, ref->moved) < 1.0 - work_share_least)
		return trial_result_failf(r, f, STAGE_full, REASON_torch_compute,
					  "torch moves the elements, and moving them is the task");
	if (is_movement(ref) && left_unmoved(expected, got))
		return trial_result_failf(r, f, STAGE_full, REASON_wrong_layout,
					  "the result is a view in another order, and moving the elements is the task");
	if (f->v->kernel_share < work_share_least && left_over(o->host.plain, ref->plain) < work_share_least &&
	    !work_kinds_are_fewer(&o->kinds, &f->t->kinds))
		return trial_result_failf(r, f, STAGE_full, REASON_fig_leaf,
					  "torch operators on the host do the reference's work");
	if (python_computes(o, expected))
		return trial_result_failf(r, f, STAGE_full, REASON_fig_leaf,
					  "Python code reads %lld tensor values and computes with them",
					  (long long)o->floats_read);
	if (ref->flops && o->host.flops && only_copies(&o->cost))
		return trial_result_failf(r, f, STAGE_full, REASON_fig_leaf,
					  "the kernels only copy; torch operators on the host compute");
	return STEP_PASSED;
}
