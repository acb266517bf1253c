/* Lowering of operators that order elements: sort, topk, kthvalue, median. The rank of an element is the
 * number of elements before it, and the result at place r is the element of rank r. Both are reductions over
 * the ordered dimensions, so n elements take n * n comparisons: fine for the short rows that modules sort. */
#include "interp/bind.h"
#include "solve/lower.h"

/* Longer rows would be slow that way. */
enum { ORDER_MOST = 2048 };

struct order {
	struct view x;
	unsigned mask;           /* the ordered dimensions */
	int descending;
	int64_t n;               /* elements that are ordered together */
	int rank;                /* value: the rank of each element, dense over x */
};

/* The row-major number of an element among those that are ordered together. */
static const struct ix *number_of(struct lower *l, const struct order *o, const struct ix *const *i)
{
	const struct ix *at = ix_num(l->p, 0);

	for (int d = 0; d < o->x.rank; d++)
		if (o->mask >> d & 1)
			at = ix_add(l->p, ix_mul(l->p, at, o->x.size[d]), i[d]);
	return at;
}

/* from[]: i[], with variables first, first + 1, ... in the ordered dimensions. Returns their number. */
static int other_element(struct lower *l, const struct order *o, const struct ix *const *i, int first,
			 const struct ix **from, int64_t *red)
{
	int n = 0;

	for (int d = 0; d < o->x.rank; d++) {
		from[d] = i[d];
		if (!(o->mask >> d & 1))
			continue;
		if (n == GRAPH_REDUCED)
			return n + 1;
		from[d] = ix_var(l->p, first + n, o->x.size[d]);
		red[n++] = o->x.size[d];
	}
	return n;
}

/* The element as something that can be compared and added. */
static const struct sx *element(struct lower *l, const struct order *o, const struct ix *const *i)
{
	const struct sx *x = lower_load(l, &o->x, i);

	return x->dt == DT_BOOL ? sx_cast(l->p, x, DT_I32) : x;
}

/* rank = the number of elements that come before: smaller ones (larger ones if descending), and equal ones
 * with a smaller number, as a stable sort has them. */
static int rank_elements(struct lower *l, struct order *o)
{
	const struct ix *i[GRAPH_RANK], *from[GRAPH_RANK];
	const struct sx *x, *y, *before, *same;
	struct axes a = { .kept = o->x.rank, .count = 1 };

	o->n = 1;
	for (int d = 0; d < o->x.rank; d++)
		o->n *= o->mask >> d & 1 ? o->x.size[d] : 1;
	if (o->n > ORDER_MOST)
		return 1;
	memcpy(a.size, o->x.size, sizeof a.size);
	lower_coords(l, o->x.rank, o->x.size, i);
	a.n_red = other_element(l, o, i, o->x.rank, from, a.red);
	if (a.n_red > GRAPH_REDUCED)
		return 1;
	x = element(l, o, i);
	y = element(l, o, from);
	before = sx_op2(l->p, o->descending ? SX_GT : SX_LT, y, x);
	same = sx_index(l->p, ix_add(l->p, number_of(l, o, from), ix_mul(l->p, number_of(l, o, i), -1)));
	same = sx_op2(l->p, SX_AND, sx_op2(l->p, SX_EQ, y, x), sx_op2(l->p, SX_LT, same, sx_num(l->p, 0.0, DT_I32)));
	before = sx_cast(l->p, sx_op2(l->p, SX_OR, before, same), DT_I32);
	o->rank = lower_temp_reduce(l, &a, COMBINE_SUM, DT_I32, before);
	return 0;
}

/* The argument in slot 0 and its ordered dimension (-1: all of them). */
static int begin(struct lower *l, struct order *o, int d)
{
	if (lower_arg(l, 0, &o->x) || o->x.value < 0 || d < -1)
		return 1;
	o->mask = d >= 0 && o->x.rank ? 1u << d : (1u << o->x.rank) - 1;
	return rank_elements(l, o);
}

/* out = the elements of rank `want`, or their numbers. `at` is the coordinates of the result in x, those of
 * the ordered dimensions apart. */
static int select_rank(struct lower *l, struct val out, const struct order *o, const struct ix *const *at,
		       const struct ix *want, int numbers)
{
	const struct tensor *t = out.kind == V_TENSOR ? &out.u.t->t : NULL;
	struct value v = { .kind = VALUE_REDUCE, .how = COMBINE_SUM };
	const struct value *rank = graph_value(l->g, o->rank);
	const struct ix *from[GRAPH_RANK];
	const struct sx *hit, *x;

	if (!t || t->ndim > GRAPH_RANK)
		return 1;
	v.rank = t->ndim;
	v.n_red = other_element(l, o, at, t->ndim, from, v.red);
	hit = sx_load(l->p, o->rank, DT_I32, graph_at(l->g, o->x.rank, rank->stride, from), NULL, 0.0);
	hit = sx_op2(l->p, SX_EQ, hit, sx_index(l->p, want));
	x = numbers ? sx_index(l->p, number_of(l, o, from)) : element(l, o, from);
	v.body = sx_where(l->p, hit, x, sx_num(l->p, 0.0, x->dt));
	memcpy(v.size, t->shape, (size_t)t->ndim * sizeof v.size[0]);
	memcpy(v.stride, t->stride, (size_t)t->ndim * sizeof v.stride[0]);
	return lower_result(l, out, &v);
}

/* The results of an operator whose place in the ordered dimension d is a place in the order. */
static int ordered(struct lower *l, const struct order *o, int d)
{
	struct val out = l->c->out, first = out.kind == V_TUPLE && out.u.seq->n == 2 ? out.u.seq->v[0] : out;
	const struct ix *i[GRAPH_RANK];

	if (first.kind != V_TENSOR || first.u.t->t.ndim != o->x.rank)
		return 1;
	lower_coords(l, o->x.rank, first.u.t->t.shape, i);
	if (out.kind == V_TENSOR)
		return select_rank(l, out, o, i, o->x.rank ? i[d] : ix_num(l->p, 0), l->param);
	return select_rank(l, out.u.seq->v[0], o, i, o->x.rank ? i[d] : ix_num(l->p, 0), 0) ||
		select_rank(l, out.u.seq->v[1], o, i, o->x.rank ? i[d] : ix_num(l->p, 0), 1);
}

/* sort gives values and numbers; param 1: argsort. */
int lower_sort(struct lower *l)
{
	struct order o = { .descending = lower_flag(l, 2) };
	struct view x;
	int d;

	if (lower_arg(l, 0, &x) || (d = lower_dim(l, 1, -1, MAX(x.rank, 1))) < 0 || begin(l, &o, d))
		return 1;
	return ordered(l, &o, d);
}

int lower_topk(struct lower *l)
{
	struct order o = { .descending = !lower_given(l, 3) || lower_flag(l, 3) };
	struct view x;
	int d;

	if (lower_arg(l, 0, &x) || (d = lower_dim(l, 2, -1, MAX(x.rank, 1))) < 0 || begin(l, &o, d))
		return 1;
	return ordered(l, &o, d);
}

/* The element at one place of the order, for each row. With keepdim the result has the ordered dimension. */
static int at_place(struct lower *l, const struct order *o, int64_t place)
{
	struct val out = l->c->out, first = out.kind == V_TUPLE && out.u.seq->n == 2 ? out.u.seq->v[0] : out;
	const struct ix *own[GRAPH_RANK], *i[GRAPH_RANK];
	const struct tensor *t = first.kind == V_TENSOR ? &first.u.t->t : NULL;

	if (!t || t->ndim > GRAPH_RANK)
		return 1;
	lower_coords(l, t->ndim, t->shape, own);
	for (int d = 0, k = 0; d < o->x.rank; d++)
		i[d] = o->mask >> d & 1 ? ix_num(l->p, 0) : own[t->ndim == o->x.rank ? d : k++];
	if (select_rank(l, first, o, i, ix_num(l->p, place), 0))
		return 1;
	return out.kind == V_TUPLE && select_rank(l, out.u.seq->v[1], o, i, ix_num(l->p, place), 1);
}

int lower_kthvalue(struct lower *l)
{
	struct order o = { .descending = 0 };
	struct view x;
	int d;

	if (lower_arg(l, 0, &x) || (d = lower_dim(l, 2, -1, MAX(x.rank, 1))) < 0 || begin(l, &o, d))
		return 1;
	return at_place(l, &o, lower_int(l, 1, 1) - 1);
}

/* The lower one of two middle elements. */
int lower_median(struct lower *l)
{
	struct order o = { .descending = 0 };
	struct view x;
	int d;

	if (lower_arg(l, 0, &x))
		return 1;
	d = lower_given(l, 1) ? lower_dim(l, 1, -1, MAX(x.rank, 1)) : -1;
	if ((lower_given(l, 1) && d < 0) || begin(l, &o, d))
		return 1;
	return at_place(l, &o, (o.n - 1) / 2);
}
