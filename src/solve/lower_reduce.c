/* Lowering of reductions: sums, extremes, variances, norms, softmax, scans. A reduction is a value over
 * the dimensions that stay; a map brings it into the shape of the result. */
#include <math.h>

#include "interp/bind.h"
#include "solve/lower.h"

/* Coordinates of the kept dimensions, from those of a result with or without the reduced ones. */
static const struct sx *stat_of(struct lower *l, const struct tensor *out, int value, const struct axes *a)
{
	const struct ix *i[GRAPH_RANK], *all[GRAPH_RANK];
	int same = out->ndim == a->rank;

	lower_coords(l, out->ndim, out->shape, i);
	for (int d = 0, k = 0; d < a->rank; d++)
		all[d] = a->mask >> d & 1 ? ix_num(l->p, 0) : same ? i[d] : i[k++];
	return lower_stat(l, value, a, all);
}

int lower_reduced(struct lower *l, struct val out, int value, const struct axes *a, const char *formula, double n)
{
	const struct sx *arg[2];

	if (out.kind != V_TENSOR)
		return 1;
	arg[0] = stat_of(l, &out.u.t->t, value, a);
	arg[1] = sx_num(l->p, n, arg[0]->dt);
	return lower_map(l, out, formula_build(l, formula, arg, 2, arg[0]->dt));
}

/* The argument, its dimensions to reduce (slot 1), and its element. */
static int begin(struct lower *l, struct view *x, struct axes *a, const struct sx **elem)
{
	unsigned mask;

	if (lower_arg(l, 0, x) || x->value < 0 || lower_dims(l, 1, x->rank, &mask) ||
	    lower_axes(l, x->rank, x->size, mask, a))
		return 1;
	*elem = lower_load(l, x, a->i);
	return 0;
}

int lower_sum(struct lower *l)
{
	const struct sx *x;
	struct view v;
	struct axes a;
	enum dtype dt;

	if (l->c->out.kind != V_TENSOR || begin(l, &v, &a, &x))
		return 1;
	dt = sx_dtype(l->c->out.u.t->t.dt);
	return lower_reduced(l, l->c->out, lower_temp_reduce(l, &a, COMBINE_SUM, dt, sx_cast(l->p, x, dt)), &a,
		      l->param ? "$0 / $1" : "$0", (double)a.count);
}

int lower_reduce(struct lower *l)
{
	const struct sx *x;
	struct view v;
	struct axes a;

	if (begin(l, &v, &a, &x))
		return 1;
	return lower_reduced(l, l->c->out, lower_temp_reduce(l, &a, (enum combine)l->param, x->dt, x), &a, "$0", 0);
}

/* The sum of the diagonal of a matrix. */
int lower_trace(struct lower *l)
{
	const struct ix *i[2];
	const struct sx *x;
	struct view v;
	struct axes a = { .n_red = 1 };

	if (lower_arg(l, 0, &v) || v.value < 0 || v.rank != 2)
		return 1;
	a.count = a.red[0] = MIN(v.size[0], v.size[1]);
	i[0] = i[1] = ix_var(l->p, 0, a.red[0]);
	x = lower_load(l, &v, i);
	return lower_reduced(l, l->c->out, lower_temp_reduce(l, &a, COMBINE_SUM, x->dt, x), &a, "$0", 0);
}

/* any and all: the extreme of x != 0. */
int lower_truth(struct lower *l)
{
	const struct sx *x;
	struct view v;
	struct axes a;
	int id;

	if (begin(l, &v, &a, &x))
		return 1;
	if (x->dt != DT_BOOL)
		x = sx_op2(l->p, SX_NE, x, sx_num(l->p, 0.0, x->dt));
	id = lower_temp_reduce(l, &a, (enum combine)l->param, DT_I32, sx_cast(l->p, x, DT_I32));
	return lower_reduced(l, l->c->out, id, &a, "$0 != 0", 0);
}

/* One dimension, for operators that name the place of the extreme. */
static int arg_reduce(struct lower *l, struct val out, enum combine how)
{
	const struct sx *x;
	struct view v;
	struct axes a;

	if (begin(l, &v, &a, &x))
		return 1;
	if (x->dt == DT_BOOL)
		x = sx_cast(l->p, x, DT_I32);
	return lower_reduced(l, out, lower_temp_reduce(l, &a, how, DT_I32, x), &a, "$0", 0);
}

int lower_arg_extreme(struct lower *l)
{
	return arg_reduce(l, l->c->out, (enum combine)l->param);
}

/* max(x), max(x, other), or max(x, dim), which gives values and indices. */
int lower_extreme(struct lower *l)
{
	struct val out = l->c->out;
	const struct sx *x;
	struct view v;
	struct axes a;

	if (lower_given(l, 1) && l->c->a[1].kind == V_TENSOR)
		return lower_point(l, l->param == COMBINE_MAX ? "max($0, $1)" : "min($0, $1)");
	if (out.kind == V_TENSOR)
		return lower_reduce(l);
	if (out.kind != V_TUPLE || out.u.seq->n != 2 || begin(l, &v, &a, &x) ||
	    lower_reduced(l, out.u.seq->v[0], lower_temp_reduce(l, &a, (enum combine)l->param, x->dt, x), &a, "$0", 0))
		return 1;
	return arg_reduce(l, out.u.seq->v[1], l->param == COMBINE_MAX ? COMBINE_ARGMAX : COMBINE_ARGMIN);
}

/* The mean over the reduced dimensions as an element at coordinates of the whole tensor. */
static const struct sx *mean_at(struct lower *l, int sum, const struct axes *a, const struct ix *const *i)
{
	const struct sx *s = lower_stat(l, sum, a, i);

	return sx_op2(l->p, SX_DIV, s, sx_num(l->p, (double)a->count, s->dt));
}

/* Sum and sum of squared deviations of the argument. */
static int moments(struct lower *l, struct axes *a, int *sum, int *square)
{
	const struct sx *x, *d;
	struct view v;

	if (begin(l, &v, a, &x) || !dtype_is_float(x->dt))
		return 1;
	*sum = lower_temp_reduce(l, a, COMBINE_SUM, x->dt, x);
	d = sx_op2(l->p, SX_SUB, x, mean_at(l, *sum, a, a->i));
	*square = lower_temp_reduce(l, a, COMBINE_SUM, x->dt, sx_op2(l->p, SX_MUL, d, d));
	return 0;
}

/* param: 1 takes the root, 2 gives the mean as well. */
int lower_var(struct lower *l)
{
	double minus = lower_given(l, 2) ? lower_flag(l, 2) : 1.0;
	struct val out = l->c->out, first = out;
	struct axes a;
	int sum, square;

	minus = lower_float(l, 4, minus);
	if (moments(l, &a, &sum, &square))
		return 1;
	if (l->param & 2) {
		if (out.kind != V_TUPLE || out.u.seq->n != 2 ||
		    lower_reduced(l, out.u.seq->v[1], sum, &a, "$0 / $1", (double)a.count))
			return 1;
		first = out.u.seq->v[0];
	}
	return lower_reduced(l, first, square, &a, l->param & 1 ? "sqrt($0 / $1)" : "$0 / $1", (double)a.count - minus);
}

/* p in slot 1 (a number, inf, or the name of the Frobenius norm), dimensions in slot 2. */
int lower_norm(struct lower *l)
{
	double p = lower_given(l, 1) ? lower_float(l, 1, 2.0) : 2.0;
	const struct sx *x, *term;
	struct view v;
	struct axes a;
	unsigned mask;
	int id;

	if (lower_given(l, 1) && l->c->a[1].kind == V_STR && !str_is(lower_text(l, 1, ""), "fro"))
		return 1;
	if (lower_arg(l, 0, &v) || v.value < 0 || lower_dims(l, 2, v.rank, &mask) ||
	    lower_axes(l, v.rank, v.size, mask, &a) || !dtype_is_float(v.dt))
		return 1;
	x = lower_load(l, &v, a.i);
	if (isinf(p)) {
		id = lower_temp_reduce(l, &a, p > 0 ? COMBINE_MAX : COMBINE_MIN, x->dt, sx_op1(l->p, SX_ABS, x));
		return lower_reduced(l, l->c->out, id, &a, "$0", 0);
	}
	if (p == 2.0)
		term = sx_op2(l->p, SX_MUL, x, x);
	else if (p == 1.0)
		term = sx_op1(l->p, SX_ABS, x);
	else if (p == 0.0)
		term = sx_cast(l->p, sx_op2(l->p, SX_NE, x, sx_num(l->p, 0.0, x->dt)), x->dt);
	else
		term = sx_op2(l->p, SX_POW, sx_op1(l->p, SX_ABS, x), sx_num(l->p, p, x->dt));
	id = lower_temp_reduce(l, &a, COMBINE_SUM, x->dt, term);
	return lower_reduced(l, l->c->out, id, &a, p == 2.0 ? "sqrt($0)" : p == 1.0 || p == 0.0 ? "$0" :
			     "pow($0, 1 / $1)", p);
}

/* Maximum and sum of exp(x - maximum), of x or -x. */
static int exp_sum(struct lower *l, const struct view *v, unsigned mask, int negate, struct axes *a, int *top,
		   int *sum)
{
	const struct sx *x, *d;

	if (lower_axes(l, v->rank, v->size, mask, a) || !dtype_is_float(v->dt))
		return 1;
	x = lower_load(l, v, a->i);
	x = negate ? sx_op1(l->p, SX_NEG, x) : x;
	*top = lower_temp_reduce(l, a, COMBINE_MAX, x->dt, x);
	d = sx_op2(l->p, SX_SUB, x, lower_stat(l, *top, a, a->i));
	*sum = lower_temp_reduce(l, a, COMBINE_SUM, x->dt, sx_op1(l->p, SX_EXP, d));
	return 0;
}

/* The dimension that F.softmax takes where none is given. */
static int64_t implicit_dim(int rank)
{
	return rank == 0 || rank == 1 || rank == 3 ? 0 : 1;
}

int lower_softmax(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	const struct sx *arg[3];
	struct view v;
	struct axes a;
	int d, top, sum;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &v) || v.value < 0)
		return 1;
	d = lower_dim(l, 1, implicit_dim(v.rank), MAX(v.rank, 1));
	if (d < 0 || !v.rank || exp_sum(l, &v, 1u << d, l->param == 2, &a, &top, &sum))
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	arg[0] = lower_load(l, &v, i);
	arg[0] = l->param == 2 ? sx_op1(l->p, SX_NEG, arg[0]) : arg[0];
	arg[1] = lower_stat(l, top, &a, i);
	arg[2] = lower_stat(l, sum, &a, i);
	arg[0] = formula_build(l, l->param == 1 ? "$0 - $1 - log($2)" : "exp($0 - $1) / $2", arg, 3, v.dt);
	return lower_map(l, l->c->out, arg[0]);
}

int lower_logsumexp(struct lower *l)
{
	const struct sx *arg[2];
	struct view v;
	struct axes a;
	unsigned mask;
	int top, sum;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &v) || v.value < 0 || lower_dims(l, 1, v.rank, &mask) ||
	    exp_sum(l, &v, mask, 0, &a, &top, &sum))
		return 1;
	arg[0] = stat_of(l, &l->c->out.u.t->t, top, &a);
	arg[1] = stat_of(l, &l->c->out.u.t->t, sum, &a);
	return lower_map(l, l->c->out, formula_build(l, "$0 + log($1)", arg, 2, v.dt));
}

/* The terms up to element i[d] of a short scan, as a reduction over one more variable. Variables of v are those of its
 * loops. */
static void scan_terms(struct lower *l, struct value *v, const struct view *x, const struct ix *const *i, int d)
{
	const struct ix *at[GRAPH_RANK], *r = ix_var(l->p, v->rank, x->size[d]);
	const struct sx *in, *term;

	memcpy(at, i, sizeof at);
	at[d] = r;
	in = sx_op2(l->p, SX_LE, sx_index(l->p, ix_add(l->p, r, ix_mul(l->p, i[d], -1))), sx_num(l->p, 0.0, DT_I32));
	term = sx_cast(l->p, lower_load(l, x, at), v->dt);
	v->body = sx_where(l->p, in, term, sx_num(l->p, v->how == COMBINE_PROD, term->dt));
	v->n_red = 1;
	v->red[0] = x->size[d];
}

/* Each element of a short scan is a reduction of those up to it, which may be part of another kernel. */
int lower_cumsum(struct lower *l)
{
	enum { SHORT = 32 };
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	struct value s = { .kind = VALUE_REDUCE, .how = (enum combine)l->param };
	struct view v;
	int d;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &v) || v.value < 0 || !v.rank ||
	    (d = lower_dim(l, 1, 0, v.rank)) < 0)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	s.rank = out->ndim;
	s.dt = sx_dtype(out->dt);
	memcpy(s.size, out->shape, sizeof s.size);
	memcpy(s.stride, out->stride, sizeof s.stride);
	if (graph_choose(l->g, v.size[d] <= SHORT)) {
		scan_terms(l, &s, &v, i, d);
	} else {
		s.kind = VALUE_SCAN;
		s.along = d;
		s.body = sx_cast(l->p, lower_load(l, &v, i), s.dt);
	}
	return lower_result(l, l->c->out, &s);
}

/* Largest elements so far, and where the last of them was. param: COMBINE_MAX or COMBINE_MIN. */
int lower_cumextreme(struct lower *l)
{
	enum { SCAN_MOST = 1024 };
	int max = l->param == COMBINE_MAX, d;
	struct val out = l->c->out;
	struct value s = { .kind = VALUE_REDUCE, .how = (enum combine)l->param, .n_red = 1 };
	const struct ix *i[GRAPH_RANK], *at[GRAPH_RANK];
	const struct sx *in, *x, *best;
	struct view v, values;

	if (out.kind != V_TUPLE || out.u.seq->n != 2 || lower_arg(l, 0, &v) || v.value < 0 || !v.rank ||
	    (d = lower_dim(l, 1, 0, v.rank)) < 0 || v.size[d] > SCAN_MOST)
		return 1;
	s.rank = v.rank;
	memcpy(s.size, v.size, sizeof s.size);
	tensor_dense_strides(s.rank, s.size, s.stride);
	lower_coords(l, v.rank, v.size, i);
	memcpy(at, i, sizeof at);
	s.red[0] = v.size[d];
	at[d] = ix_var(l->p, v.rank, v.size[d]);
	in = sx_op2(l->p, SX_LE, sx_index(l->p, ix_add(l->p, at[d], ix_mul(l->p, i[d], -1))),
		    sx_num(l->p, 0.0, DT_I32));
	x = lower_load(l, &v, at);
	if (!dtype_is_float(x->dt))
		return 1;
	s.body = sx_where(l->p, in, x, sx_num(l->p, max ? -INFINITY : INFINITY, x->dt));
	if (lower_result(l, out.u.seq->v[0], &s) || lower_view(l, out.u.seq->v[0], &values))
		return 1;
	best = sx_op2(l->p, SX_EQ, lower_load(l, &values, i), x);
	s.how = COMBINE_MAX;
	s.body = sx_where(l->p, sx_both(l->p, in, best), sx_index(l->p, at[d]), sx_num(l->p, -1.0, DT_I32));
	return lower_result(l, out.u.seq->v[1], &s);
}

/* y[b, p, r] = (sum over m of |x[b, p, m] - z[b, r, m]| ^ p) ^ (1 / p) */
int lower_cdist(struct lower *l)
{
	double p = lower_float(l, 2, 2.0);
	const struct ix *at[GRAPH_RANK];
	const struct sx *d, *term;
	const struct tensor *out;
	int64_t size[GRAPH_RANK];
	struct view x, z;
	struct axes a;
	int r, id;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || lower_arg(l, 1, &z) || x.value < 0 || z.value < 0)
		return 1;
	out = &l->c->out.u.t->t;
	r = out->ndim;
	if (x.rank != r || z.rank != r || r + 1 > GRAPH_RANK || p == 0.0 || !dtype_is_float(x.dt))
		return 1;
	memcpy(size, out->shape, sizeof out->shape[0] * (size_t)r);
	size[r] = x.size[r - 1];
	if (lower_axes(l, r + 1, size, 1u << r, &a))
		return 1;
	for (int k = 0; k < r; k++)
		at[k] = k < r - 2 && x.size[k] == 1 ? ix_num(l->p, 0) : a.i[k == r - 1 ? r : k];
	d = lower_load(l, &x, at);
	for (int k = 0; k < r; k++)
		at[k] = k < r - 2 && z.size[k] == 1 ? ix_num(l->p, 0) : a.i[k == r - 1 ? r : k == r - 2 ? r - 1 : k];
	d = sx_op2(l->p, SX_SUB, d, lower_load(l, &z, at));
	term = p == 2.0 ? sx_op2(l->p, SX_MUL, d, d) : sx_op1(l->p, SX_ABS, d);
	if (p != 1.0 && p != 2.0 && !isinf(p))
		term = sx_op2(l->p, SX_POW, term, sx_num(l->p, p, term->dt));
	id = lower_temp_reduce(l, &a, isinf(p) ? COMBINE_MAX : COMBINE_SUM, term->dt, term);
	return lower_reduced(l, l->c->out, id, &a, p == 2.0 ? "sqrt($0)" : p == 1.0 || isinf(p) ? "$0" :
			     "pow($0, 1 / $1)", p);
}
