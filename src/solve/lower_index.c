/* Lowering of indexing: x[...], x[...] = y, gather, embedding. Indices that are tensors are read from
 * memory, so their values are kept there. */
#include "interp/bind.h"
#include "solve/lower.h"
#include "solve/trace.h"

/* An element of an index tensor as an index into n elements; negative ones count from the end. */
static const struct ix *index_of(struct lower *l, const struct view *v, const struct ix *const *i, int64_t n)
{
	const struct sx *x = lower_load(l, v, i);

	if (v->value < 0)
		return ix_num(l->p, (int64_t)v->num + (v->num < 0 ? n : 0));
	x = sx_where(l->p, sx_op2(l->p, SX_LT, x, sx_num(l->p, 0.0, x->dt)),
		     sx_op2(l->p, SX_ADD, x, sx_num(l->p, (double)n, x->dt)), x);
	return ix_value(l->p, x, 0, n - 1);
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

/* --- subscripts -------------------------------------------------------------------------------------- */

enum { PICKS = GRAPH_RANK };

/* One part of a subscript for each dimension of the tensor. */
struct picks {
	struct { int64_t start, step, size; int is_int; const struct view *index; } v[PICKS];
	struct view index[PICKS];
	int n, n_index, rank_index;
	int64_t shape_index[GRAPH_RANK];
};

static int64_t bound(struct val v, int64_t otherwise, int64_t n)
{
	int64_t i = v.kind == V_INT ? v.u.i : otherwise;

	i += i < 0 ? n : 0;
	return MAX(0, MIN(i, n));
}

/* Reads x[picks] for ints, slices with positive steps and integer tensors; None and bool masks are not
 * supported here, since basic subscripts are views and never come here. */
static int read_picks(struct lower *l, const struct view *x, struct val v, struct picks *p)
{
	size_t n = v.kind == V_TUPLE ? v.u.seq->n : 1;
	int d = 0;

	*p = (struct picks){ .n = x->rank };
	for (int k = 0; k < x->rank; k++) {
		p->v[k].step = 1;
		p->v[k].size = x->size[k];
	}
	for (size_t k = 0; k < n; k++) {
		struct val s = v.kind == V_TUPLE ? v.u.seq->v[k] : v;

		if (s.kind == V_ELLIPSIS) {
			d = x->rank - (int)(n - k - 1);
			continue;
		}
		if (d >= x->rank || d < 0)
			return 1;
		if (s.kind == V_INT) {
			p->v[d].start = s.u.i + (s.u.i < 0 ? x->size[d] : 0);
			p->v[d++].is_int = 1;
		} else if (s.kind == V_SLICE) {
			int64_t step = s.u.slice->step.kind == V_INT ? MAX(s.u.slice->step.u.i, 1) : 1;
			int64_t stop = bound(s.u.slice->stop, x->size[d], x->size[d]);

			p->v[d].start = bound(s.u.slice->start, 0, x->size[d]);
			p->v[d].step = step;
			p->v[d].size = MAX(0, (stop - p->v[d].start + step - 1) / step);
			d++;
		} else if (s.kind == V_TENSOR && s.u.t->t.dt == DT_I64) {
			struct view *to = &p->index[p->n_index];

			if (lower_view(l, s, to))
				return 1;
			p->v[d++].index = to;
			p->n_index++;
		} else {
			return 1;
		}
	}
	return 0;
}

/* The shape that index tensors broadcast to. */
static int broadcast_indices(struct picks *p)
{
	for (int k = 0; k < p->n_index; k++)
		if (tensor_broadcast_shape(&p->rank_index, p->shape_index, p->index[k].rank, p->index[k].size, NULL))
			return 1;
	return 0;
}

/* x[.., tensor, ..]: dimensions with tensors must be next to each other, their places are taken by the
 * dimensions of the tensors. */
int lower_getitem(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK], *from[GRAPH_RANK], *own[GRAPH_RANK];
	int at = 0, first = -1, last = -1;
	struct view x, w;
	struct picks p;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || read_picks(l, &x, l->c->a[1], &p) ||
	    !p.n_index || broadcast_indices(&p))
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	for (int d = 0; d < x.rank; d++) {
		if (p.v[d].index || p.v[d].is_int) {
			if (last >= 0 && last != d - 1)
				return 1;
			first = first < 0 ? at : first;
			last = d;
			if (first == at)
				at += p.rank_index;
		} else {
			from[d] = ix_addc(l->p, ix_mul(l->p, i[at++], p.v[d].step), p.v[d].start);
		}
	}
	if (at != out->ndim)
		return 1;
	for (int k = 0; k < p.rank_index; k++)
		own[k] = i[first + k];
	for (int d = 0; d < x.rank; d++) {
		if (p.v[d].is_int)
			from[d] = ix_num(l->p, p.v[d].start);
		if (!p.v[d].index)
			continue;
		if (lower_expand(p.v[d].index, p.rank_index, p.shape_index, &w))
			return 1;
		from[d] = index_of(l, &w, own, x.size[d]);
	}
	return lower_map(l, l->c->out, lower_load(l, &x, from));
}

/* x[picks] = value, for ints and slices: the part is a view of x, which is written. */
int lower_setitem(struct lower *l)
{
	struct val self = l->c->n > 2 ? l->c->a[0] : val_none();
	struct tensor_obj part;
	struct picks p;
	struct view x, v;
	int n = 0;

	if (self.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || lower_arg(l, 2, &v) ||
	    read_picks(l, &x, l->c->a[1], &p) || p.n_index)
		return 1;
	part = *self.u.t;
	for (int d = 0; d < x.rank; d++) {
		part.t.offset += p.v[d].start * self.u.t->t.stride[d];
		if (p.v[d].is_int)
			continue;
		part.t.shape[n] = p.v[d].size;
		part.t.stride[n++] = self.u.t->t.stride[d] * p.v[d].step;
	}
	part.t.ndim = n;
	return lower_copy(l, (struct val){ .kind = V_TENSOR, .u.t = &part }, &v);
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
