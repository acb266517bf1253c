/* Lowering of indexing by tensors: gather, index_select, embedding. Indices that are tensors are read from
 * memory, so their values are kept there. */
#include "solve/lower.h"

/* An element of an index tensor as an index into n elements; negative ones count from the end. */
const struct sx *lower_index(struct lower *l, const struct view *v, const struct ix *const *i, int64_t n)
{
	const struct sx *x = lower_load(l, v, i);

	if (v->value < 0)
		return sx_num(l->p, v->num + (v->num < 0 ? (double)n : 0.0), DT_I64);
	return sx_where(l->p, sx_op2(l->p, SX_LT, x, sx_num(l->p, 0.0, x->dt)),
			sx_op2(l->p, SX_ADD, x, sx_num(l->p, (double)n, x->dt)), x);
}

const struct ix *lower_index_at(struct lower *l, const struct sx *x, int64_t n)
{
	int64_t whole;

	return x->op == SX_NUM && sx_is_whole(x->num, &whole) ? ix_num(l->p, whole) : ix_value(l->p, x, 0, n - 1);
}

static const struct ix *index_of(struct lower *l, const struct view *v, const struct ix *const *i, int64_t n)
{
	return lower_index_at(l, lower_index(l, v, i, n), n);
}

int lower_index_select(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	struct view x, k;
	int d;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || lower_arg(l, 2, &k) || x.value < 0 || k.rank > 1 ||
	    (d = lower_dim(l, 1, 0, x.rank)) < 0)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	i[d] = index_of(l, &k, &i[d], x.size[d]);
	return lower_map(l, l->c->out, lower_load(l, &x, i));
}

int lower_gather(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	struct view x, k;
	int d;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || lower_arg(l, 2, &k) || x.value < 0 ||
	    k.rank != x.rank || (d = lower_dim(l, 1, 0, x.rank)) < 0)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	i[d] = index_of(l, &k, i, x.size[d]);
	return lower_map(l, l->c->out, lower_load(l, &x, i));
}

int lower_embedding(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK], *at[2];
	struct view k, w;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &k) || lower_arg(l, 1, &w) || w.value < 0 || w.rank != 2 ||
	    out->ndim != k.rank + 1 || lower_given(l, 3))
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	at[0] = index_of(l, &k, i, w.size[0]);
	at[1] = i[k.rank];
	return lower_map(l, l->c->out, lower_load(l, &w, at));
}

int lower_one_hot(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	const struct sx *x;
	struct view k;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &k) || out->ndim != k.rank + 1)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	x = lower_load(l, &k, i);
	x = sx_op2(l->p, SX_EQ, x, sx_cast(l->p, sx_index(l->p, i[k.rank]), x->dt));
	return lower_map(l, l->c->out, x);
}

/* x / max(norm(x, p) along dim, eps) */
int lower_normalize(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	double p = lower_float(l, 1, 2.0);
	const struct ix *i[GRAPH_RANK];
	const struct sx *x, *arg[3];
	struct view v;
	struct axes a;
	int d, id;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &v) || v.value < 0 || (p != 2.0 && p != 1.0) ||
	    (d = lower_dim(l, 2, 1, v.rank)) < 0 || lower_axes(l, v.rank, v.size, 1u << d, &a))
		return 1;
	x = lower_load(l, &v, a.i);
	x = p == 2.0 ? sx_op2(l->p, SX_MUL, x, x) : sx_op1(l->p, SX_ABS, x);
	id = lower_temp_reduce(l, &a, COMBINE_SUM, x->dt, x);
	lower_coords(l, out->ndim, out->shape, i);
	arg[0] = lower_load(l, &v, i);
	arg[1] = lower_stat(l, id, &a, i);
	arg[2] = sx_num(l->p, lower_float(l, 3, 1e-12), v.dt);
	x = formula_build(l, p == 2.0 ? "$0 / max(sqrt($1), $2)" : "$0 / max($1, $2)", arg, 3, v.dt);
	return lower_map(l, l->c->out, x);
}
