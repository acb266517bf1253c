/* Whether the kernels are a fig leaf: measured by what the host's operators did, whatever they
 * are called. An operator of torch counts with the bytes it reads and writes and the operations
 * it takes; the reference's own operators are counted the same way. */
#include "verify/funnel/work_share.h"

/* Less than this share is none: a bias, a scale of one, a copy. Beside products a softmax between two of them, or every
 * activation of a deep network, is less, too: so it is asked of the operations outside products as well. */
static const double work_share_least = 0.05;

/* The reference computes nothing: moving elements is the task. */
static int is_movement(const struct host_work *ref)
{
	return !ref->flops && ref->moved;
}

static double left_over(int64_t host, int64_t ref)
{
	return ref > 0 ? 1.0 - (double)host / (double)ref : 0.0;
}

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

/* No operation on floats: the kernels carry elements from one place to another. */
static int only_copies(const struct tile_cost *c)
{
	return !(c->ops_f64 | c->ops_f32 | c->ops_f16 | c->ops_special | c->dot_tf32 | c->dot_f16 |
		 c->dot_f8 | c->dot_f64 | c->dot_f32 | c->dot_int8);
}

/* A view in another order, where the reference's result is in order: nobody moved the elements. */
static int left_in_place(const struct results *expected, const struct results *got)
{
	for (int i = 0; i < MIN(expected->n, got->n); i++)
		if (got->r[i].scattered && !expected->r[i].scattered)
			return 1;
	return 0;
}

/* Python code reads values of tensors: more than steer a program, and more than a small part of what it gives. */
static int python_computes(const struct outcome *o, const struct results *expected)
{
	enum { STEERING = 8 };
	int64_t n = 0;

	for (int i = 0; i < expected->n; i++)
		n += expected->r[i].n;
	return o->floats_read > STEERING && (double)o->floats_read > work_share_least * (double)n;
}

int work_share_judge(struct funnel *f, const struct outcome *o, const struct results *expected,
		     const struct results *got)
{
	const struct host_work *ref = &f->t->work;

	f->v->kernel_share = share_of(ref, &o->host);
	if (f->o->identity || !rule_on(f->o, RULE_work_share))
		return 0;
	if (is_movement(ref) && f->o->track == TRACK_STRICT && left_over(o->host.moved, ref->moved) < 1.0 -
	    work_share_least)
		return funnel_failf(f, STAGE_full, REASON_torch_compute,
				    "torch moves the elements, and moving them is the task");
	if (is_movement(ref) && left_in_place(expected, got))
		return funnel_failf(f, STAGE_full, REASON_wrong_layout,
				    "the result is a view in another order, and moving the elements is the task");
	if (f->v->kernel_share < work_share_least && left_over(o->host.plain, ref->plain) < work_share_least)
		return funnel_failf(f, STAGE_full, REASON_fig_leaf, "the host's operators do the reference's work");
	if (python_computes(o, expected))
		return funnel_failf(f, STAGE_full, REASON_fig_leaf,
				    "Python code reads %lld values of tensors, and computes with them", (long long)o->floats_read);
	if (ref->flops && o->host.flops && only_copies(&o->cost))
		return funnel_failf(f, STAGE_full, REASON_fig_leaf, "the kernels only copy, the host computes");
	return 0;
}
