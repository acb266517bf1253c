/* Lowering of normalisations: mean and variance over some dimensions, then scale and shift. */
#include <math.h>

#include "solve/lower.h"

/* The normalised tensor: x as a view with its loop sizes, the dimensions of its statistics. */
struct norm {
	struct view x;
	struct axes a;
	int sum, square;         /* values: sum, and sum of squared deviations (of squares for RMS norm) */
	double eps;
	int rms;
};

/* The statistics of the view. */
static int norm_stats(struct lower *l, struct norm *n, unsigned mask)
{
	const struct sx *x, *d;

	if (lower_axes(l, n->x.rank, n->x.size, mask, &n->a) || !dtype_is_float(n->x.dt))
		return 1;
	d = x = lower_load(l, &n->x, n->a.i);
	if (!n->rms) {
		n->sum = lower_temp_reduce(l, &n->a, COMBINE_SUM, x->dt, x);
		d = sx_op2(l->p, SX_SUB, x, sx_op2(l->p, SX_DIV, lower_stat(l, n->sum, &n->a, n->a.i),
						   sx_num(l->p, (double)n->a.count, x->dt)));
	}
	n->square = lower_temp_reduce(l, &n->a, COMBINE_SUM, x->dt, sx_op2(l->p, SX_MUL, d, d));
	return 0;
}

/* The element with mean 0 and variance 1, at coordinates of the view. */
static const struct sx *norm_elem(struct lower *l, const struct norm *n, const struct ix *const *i)
{
	const struct sx *arg[5];

	arg[0] = lower_load(l, &n->x, i);
	arg[1] = n->rms ? NULL : lower_stat(l, n->sum, &n->a, i);
	arg[2] = lower_stat(l, n->square, &n->a, i);
	arg[3] = sx_num(l->p, (double)n->a.count, n->x.dt);
	arg[4] = sx_num(l->p, n->eps, n->x.dt);
	return formula_build(l, n->rms ? "$0 * rsqrt($2 / $3 + $4)" : "($0 - $1 / $3) * rsqrt($2 / $3 + $4)", arg, 5,
			     n->x.dt);
}

/* x * weight + bias, if given in these slots; `at` is the position in both. */
static int affine(struct lower *l, const struct sx **x, size_t weight, size_t bias, const struct ix *at)
{
	for (int k = 0; k < 2; k++) {
		size_t slot = k ? bias : weight;
		struct view v;
		const struct sx *s;
		const struct ix *own;

		if (!lower_given(l, slot))
			continue;
		if (lower_arg(l, slot, &v) || v.value < 0)
			return 1;
		own = ix_mul(l->p, at, v.rank == 1 ? v.stride[0] : 1);
		s = sx_load(l->p, v.value, v.dt, ix_addc(l->p, own, v.offset), NULL, 0.0);
		*x = sx_op2(l->p, k ? SX_ADD : SX_MUL, *x, sx_cast(l->p, s, (*x)->dt));
	}
	return 0;
}

/* A running statistic in slot `slot`: old * (1 - momentum) + momentum * (value / count). The count stays a number
 * of its own, because it depends on the sizes and the momentum does not. */
static int update(struct lower *l, size_t slot, int value, double count)
{
	const struct ix *c;
	const struct sx *arg[4];
	struct view v;
	double m = lower_float(l, 6, 0.1);

	if (lower_arg(l, slot, &v) || v.value < 0 || v.rank != 1)
		return 1;
	c = ix_var(l->p, 0, v.size[0]);
	arg[0] = lower_load(l, &v, &c);
	arg[1] = sx_load(l->p, value, DT_F32, c, NULL, 0.0);
	arg[1] = sx_op2(l->p, SX_DIV, arg[1], sx_num(l->p, count, arg[1]->dt));
	arg[2] = sx_num(l->p, 1.0 - m, v.dt);
	arg[3] = sx_num(l->p, m, v.dt);
	return lower_map(l, l->c->a[slot], formula_build(l, "$0 * $2 + $1 * $3", arg, 4, v.dt));
}

/* The element normalised by the buffers in slots 1 and 2; NULL if they cannot be read. */
static const struct sx *by_buffers(struct lower *l, const struct norm *n, const struct ix *const *i)
{
	const struct sx *arg[4];
	struct view mean, var;

	if (lower_arg(l, 1, &mean) || lower_arg(l, 2, &var) || mean.value < 0 || var.value < 0)
		return NULL;
	arg[0] = lower_load(l, &n->x, i);
	arg[1] = lower_load(l, &mean, &i[1]);
	arg[2] = lower_load(l, &var, &i[1]);
	arg[3] = sx_num(l->p, n->eps, n->x.dt);
	return formula_build(l, "($0 - $1) * rsqrt($2 + $3)", arg, 4, n->x.dt);
}

/* In training, statistics of the batch, and updated buffers; else the buffers are the statistics. */
int lower_batch_norm(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	struct norm n = { .eps = lower_float(l, 7, 1e-5) };
	const struct ix *i[GRAPH_RANK];
	const struct sx *y;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &n.x) || n.x.value < 0 || n.x.rank < 2)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	if (lower_flag(l, 5)) {
		if (norm_stats(l, &n, ((1u << n.x.rank) - 1) & ~2u))
			return 1;
		y = norm_elem(l, &n, i);
		if (lower_given(l, 1) && (update(l, 1, n.sum, (double)n.a.count) ||
					  update(l, 2, n.square, (double)(n.a.count - 1))))
			return 1;
	} else if (!(y = by_buffers(l, &n, i))) {
		return 1;
	}
	return affine(l, &y, 3, 4, i[1]) ? 1 : lower_map(l, l->c->out, y);
}

/* A running statistic of instances is updated by the mean over the batch. */
static int update_by_batch(struct lower *l, size_t slot, const struct norm *n, int value, double count)
{
	struct axes a;
	const struct sx *x;

	if (lower_axes(l, 2, n->x.size, 1u, &a))
		return 1;
	x = sx_load(l->p, value, DT_F32, graph_at(l->g, 2, graph_value(l->g, value)->stride, a.i), NULL, 0.0);
	return update(l, slot, lower_temp_reduce(l, &a, COMBINE_SUM, x->dt, x), (double)n->x.size[0] * count);
}

/* With running statistics, they are updated, or used if slot 5 is false. */
int lower_instance_norm(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	struct norm n = { .eps = lower_float(l, 7, 1e-5) };
	const struct ix *i[GRAPH_RANK];
	const struct sx *y;
	double count;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &n.x) || n.x.value < 0 || n.x.rank < 3)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	if (lower_given(l, 5) && !lower_flag(l, 5)) {
		if (!(y = by_buffers(l, &n, i)))
			return 1;
	} else {
		if (norm_stats(l, &n, ((1u << n.x.rank) - 1) & ~3u))
			return 1;
		y = norm_elem(l, &n, i);
		count = (double)n.a.count;
		if (lower_given(l, 1) && (update_by_batch(l, 1, &n, n.sum, count) ||
					  update_by_batch(l, 2, &n, n.square, count - 1.0)))
			return 1;
	}
	return affine(l, &y, 3, 4, i[1]) ? 1 : lower_map(l, l->c->out, y);
}

/* Loops over (N, G, C / G, ...): the statistics of a group are then over whole loops. */
int lower_group_norm(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	struct norm n = { .eps = lower_float(l, 4, 1e-5) };
	const struct ix *i[GRAPH_RANK];
	struct value v = { .kind = VALUE_MAP };
	int64_t g = lower_int(l, 1, 1), per;
	struct view x;
	const struct sx *y;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || x.rank < 2 || x.rank == GRAPH_RANK ||
	    g < 1 || x.size[1] % g)
		return 1;
	per = x.size[1] / g;
	n.x = x;
	n.x.rank = v.rank = x.rank + 1;
	for (int d = 0; d < v.rank; d++) {
		int from = d < 2 ? d : d - 1;

		n.x.size[d] = v.size[d] = d == 1 ? g : d == 2 ? per : x.size[from];
		n.x.stride[d] = x.stride[from] * (d == 1 ? per : 1);
		v.stride[d] = out->stride[from] * (d == 1 ? per : 1);
	}
	if (norm_stats(l, &n, ((1u << v.rank) - 1) & ~3u))
		return 1;
	lower_coords(l, v.rank, v.size, i);
	y = norm_elem(l, &n, i);
	if (affine(l, &y, 2, 3, ix_add(l->p, ix_mul(l->p, i[1], per), i[2])))
		return 1;
	v.body = y;
	return lower_result(l, l->c->out, &v);
}

/* Over the last dimensions, as many as normalized_shape has. param 1: RMS norm, which has no bias. */
int lower_layer_norm(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	struct norm n = { .eps = lower_float(l, l->param ? 3 : 4, l->param ? 1.1920928955078125e-07 : 1e-5),
			  .rms = l->param };
	struct val shape = l->c->n > 1 ? l->c->a[1] : val_none();
	const struct ix *i[GRAPH_RANK];
	int64_t stride[GRAPH_RANK];
	const struct sx *y;
	int last;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &n.x) || n.x.value < 0)
		return 1;
	last = shape.kind == V_INT ? 1 : shape.kind == V_TUPLE || shape.kind == V_LIST ? (int)shape.u.seq->n : 0;
	if (!last || last > n.x.rank || norm_stats(l, &n, ((1u << last) - 1) << (n.x.rank - last)))
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	y = norm_elem(l, &n, i);
	tensor_dense_strides(last, n.x.size + n.x.rank - last, stride);
	if (affine(l, &y, 2, l->param ? 99 : 3, graph_at(l->g, last, stride, i + n.x.rank - last)))
		return 1;
	return lower_map(l, l->c->out, y);
}

/* sum(a * b) / (max(|a|, eps) * max(|b|, eps)) along one dimension. */
int lower_cosine_similarity(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK], *all[GRAPH_RANK];
	const struct sx *a, *b, *arg[4];
	struct view x[2], w[2];
	struct axes ax;
	int rank, d, ids[3];
	int64_t size[GRAPH_RANK];

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x[0]) || lower_arg(l, 1, &x[1]) || x[0].value < 0 ||
	    x[1].value < 0)
		return 1;
	rank = MAX(x[0].rank, x[1].rank);
	for (int k = 0; k < rank; k++) {
		int p = k - rank + x[0].rank, q = k - rank + x[1].rank;

		size[k] = MAX(p >= 0 ? x[0].size[p] : 1, q >= 0 ? x[1].size[q] : 1);
	}
	d = lower_dim(l, 2, 1, rank);
	if (d < 0 || lower_expand(&x[0], rank, size, &w[0]) || lower_expand(&x[1], rank, size, &w[1]) ||
	    lower_axes(l, rank, size, 1u << d, &ax))
		return 1;
	a = lower_load(l, &w[0], ax.i);
	b = lower_load(l, &w[1], ax.i);
	ids[0] = lower_temp_reduce(l, &ax, COMBINE_SUM, a->dt, sx_op2(l->p, SX_MUL, a, b));
	ids[1] = lower_temp_reduce(l, &ax, COMBINE_SUM, a->dt, sx_op2(l->p, SX_MUL, a, a));
	ids[2] = lower_temp_reduce(l, &ax, COMBINE_SUM, a->dt, sx_op2(l->p, SX_MUL, b, b));
	lower_coords(l, out->ndim, out->shape, i);
	for (int k = 0, n = 0; k < rank; k++)
		all[k] = k == d ? ix_num(l->p, 0) : i[n++];
	for (int k = 0; k < 3; k++)
		arg[k] = lower_stat(l, ids[k], &ax, all);
	arg[3] = sx_num(l->p, lower_float(l, 3, 1e-8), a->dt);
	return lower_map(l, l->c->out, formula_build(l, "$0 / (max(sqrt($1), $3) * max(sqrt($2), $3))", arg, 4, a->dt));
}
