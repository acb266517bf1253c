/* Lowering of elementwise operators, copies and conversions. Most operators are formulas of
 * point.def; the functions here are for those whose arguments decide the formula. */
#include <math.h>
#include <stdio.h>

#include "interp/bind.h"
#include "solve/lower.h"

/* The dtype in which a call computes: that of its result. Comparisons compute in the wider of their
 * operands. */
static enum dtype compute_dtype(const struct lower *l, const struct view *v, int n, enum dtype out)
{
	int is_float = 0, is_wide = 0, is_int = 0;

	if (out != DT_BOOL)
		return sx_dtype(out);
	for (int i = 0; i < n; i++) {
		is_float |= dtype_is_float(v[i].dt);
		is_wide |= v[i].dt == DT_F64 && v[i].value >= 0;
		is_int |= v[i].dt != DT_BOOL;
	}
	if (!is_int && (strstr(l->name, "and") || strstr(l->name, "or")) && !strstr(l->name, "logical"))
		return DT_BOOL;
	return is_float ? (is_wide ? DT_F64 : DT_F32) : DT_I64;
}

/* The operands that a formula names, as elements at the coordinates of the result. */
static int operands(struct lower *l, const char *formula, const struct tensor *out, const struct sx **arg,
		    enum dtype *dt)
{
	const struct ix *i[GRAPH_RANK];
	struct view v[6], wide;
	int slot[6], n = 0;

	for (int k = 0; k < 6; k++) {
		char name[3] = { '$', (char)('0' + k), 0 };

		arg[k] = NULL;
		if (!strstr(formula, name) || !lower_given(l, (size_t)k))
			continue;
		if (lower_arg(l, (size_t)k, &v[n]))
			return 1;
		slot[n++] = k;
	}
	*dt = compute_dtype(l, v, n, out->dt);
	lower_coords(l, out->ndim, out->shape, i);
	for (int k = 0; k < n; k++) {
		if (lower_expand(&v[k], out->ndim, out->shape, &wide))
			return 1;
		arg[slot[k]] = sx_cast(l->p, lower_load(l, &wide, i), *dt);
	}
	return 0;
}

int lower_point(struct lower *l, const char *formula)
{
	const struct sx *arg[6], *swap;
	enum dtype dt;

	if (l->c->out.kind != V_TENSOR || l->c->out.u.t->t.ndim > GRAPH_RANK ||
	    operands(l, formula, &l->c->out.u.t->t, arg, &dt))
		return 1;
	if (l->reflected) {
		swap = arg[0];
		arg[0] = arg[1];
		arg[1] = swap;
	}
	return lower_map(l, l->c->out, formula_build(l, formula, arg, 6, dt));
}

int lower_clamp(struct lower *l)
{
	int lo = lower_given(l, 1), hi = lower_given(l, 2);

	return lower_point(l, lo && hi ? "min(max($0, $1), $2)" : lo ? "max($0, $1)" : "min($0, $2)");
}

/* Powers with small whole exponents are products, as PyTorch computes them. */
int lower_pow(struct lower *l)
{
	static const struct { double e; const char *formula; } known[] = {
		{ 0.0, "$0 * 0 + 1" }, { 1.0, "$0" }, { 2.0, "$0 * $0" }, { 3.0, "$0 * $0 * $0" },
		{ 4.0, "($0 * $0) * ($0 * $0)" }, { 0.5, "sqrt($0)" }, { -0.5, "rsqrt($0)" },
		{ -1.0, "1 / $0" }, { -2.0, "1 / ($0 * $0)" },
	};
	const struct sx *arg[6];
	struct view e;
	enum dtype dt;

	if (lower_arg(l, 1, &e) || l->c->out.kind != V_TENSOR)
		return 1;
	for (size_t i = 0; i < COUNT_OF(known) && e.value < 0 && !l->reflected; i++)
		if (e.num == known[i].e)
			return lower_point(l, known[i].formula);
	if (operands(l, "$0 $1", &l->c->out.u.t->t, arg, &dt) || !dtype_is_float(dt))
		return 1;
	return lower_map(l, l->c->out, sx_op2(l->p, SX_POW, arg[l->reflected], arg[!l->reflected]));
}

/* The condition is a tensor of its own dtype; the branches have the result's. */
static int choose(struct lower *l, size_t cond, size_t yes, size_t no)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	struct view c, a, b, w;
	const struct sx *cs, *as, *bs;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, cond, &c) || lower_arg(l, yes, &a) || lower_arg(l, no, &b))
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	if (lower_expand(&c, out->ndim, out->shape, &w))
		return 1;
	cs = lower_load(l, &w, i);
	if (cs->dt != DT_BOOL)
		cs = sx_op2(l->p, SX_NE, cs, sx_num(l->p, 0.0, cs->dt));
	if (lower_expand(&a, out->ndim, out->shape, &w))
		return 1;
	as = sx_cast(l->p, lower_load(l, &w, i), out->dt);
	if (lower_expand(&b, out->ndim, out->shape, &w))
		return 1;
	bs = sx_cast(l->p, lower_load(l, &w, i), out->dt);
	return lower_map(l, l->c->out, sx_where(l->p, cs, as, bs));
}

int lower_where(struct lower *l)
{
	return strstr(l->c->name, "Tensor.") ? choose(l, 1, 0, 2) : choose(l, 0, 1, 2);
}

int lower_masked_fill(struct lower *l)
{
	return choose(l, 1, 2, 0);
}

int lower_gelu(struct lower *l)
{
	if (str_is(lower_text(l, 1, "none"), "tanh"))
		return lower_point(l, "0.5 * $0 * (1 + tanh(0.7978845608028654 * ($0 + 0.044715 * $0 * $0 * $0)))");
	return lower_point(l, "0.5 * $0 * (1 + erf($0 * 0.7071067811865476))");
}

/* The weight has one element, or one for each channel (dimension 1). */
int lower_prelu(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK], *c;
	struct view x, w;
	const struct sx *xs, *ws;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || lower_arg(l, 1, &w) || w.value < 0)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	xs = lower_load(l, &x, i);
	c = w.rank && w.size[0] > 1 && x.rank > 1 ? ix_mul(l->p, i[1], w.stride[0]) : ix_num(l->p, 0);
	ws = sx_load(l->p, w.value, w.dt, ix_addc(l->p, c, w.offset), NULL, 0.0);
	return lower_map(l, l->c->out, sx_where(l->p, sx_op2(l->p, SX_GT, xs, sx_num(l->p, 0.0, xs->dt)), xs,
						sx_op2(l->p, SX_MUL, xs, ws)));
}

int lower_glu(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	const struct sx *arg[2];
	struct view x;
	int d;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || (d = lower_dim(l, 1, -1, x.rank)) < 0)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	arg[0] = lower_load(l, &x, i);
	i[d] = ix_addc(l->p, i[d], out->shape[d]);
	arg[1] = lower_load(l, &x, i);
	return lower_map(l, l->c->out, formula_build(l, "$0 * sigmoid($1)", arg, 2, out->dt));
}

int lower_div(struct lower *l)
{
	struct str mode = lower_text(l, 2, "");

	if (str_is(mode, "floor"))
		return lower_floordiv(l);
	if (!str_is(mode, "trunc"))
		return mode.n ? 1 : lower_point(l, "$0 / $1");
	/* Triton divides whole numbers as C does. */
	return l->c->out.kind == V_TENSOR && dtype_is_float(l->c->out.u.t->t.dt) ? lower_point(l, "trunc($0 / $1)") :
		lower_floordiv(l);
}

/* Whole numbers that are not negative divide alike in Python and Triton; floats are rounded down. */
int lower_floordiv(struct lower *l)
{
	const struct sx *arg[6];
	enum dtype dt;

	if (l->c->out.kind != V_TENSOR || operands(l, "$0 $1", &l->c->out.u.t->t, arg, &dt))
		return 1;
	if (dtype_is_float(dt))
		return lower_point(l, "floor($0 / $1)");
	return lower_map(l, l->c->out, sx_op2(l->p, SX_IDIV, arg[l->reflected], arg[!l->reflected]));
}

int lower_mod(struct lower *l)
{
	const struct sx *arg[6];
	enum dtype dt;

	if (l->c->out.kind != V_TENSOR || operands(l, "$0 $1", &l->c->out.u.t->t, arg, &dt))
		return 1;
	if (dtype_is_float(dt))
		return lower_point(l, "$0 - $1 * floor($0 / $1)");
	return lower_map(l, l->c->out, sx_op2(l->p, SX_IMOD, arg[l->reflected], arg[!l->reflected]));
}

int lower_bitwise_not(struct lower *l)
{
	const struct sx *arg[6];
	enum dtype dt;

	if (l->c->out.kind != V_TENSOR || operands(l, "$0", &l->c->out.u.t->t, arg, &dt))
		return 1;
	if (l->c->out.u.t->t.dt == DT_BOOL)
		return lower_point(l, "$0 == 0");
	return lower_map(l, l->c->out, sx_op1(l->p, SX_NOT, arg[0]));
}

/* Without training, or with p = 0, dropout is the identity. Else it draws random numbers. */
int lower_dropout(struct lower *l)
{
	if (!lower_flag(l, 2) || lower_float(l, 1, 0.5) == 0.0)
		return lower_copy_of(l);
	l->why = "the operator draws random numbers";
	return 1;
}

/* In evaluation the slope is the middle of its range. */
int lower_rrelu(struct lower *l)
{
	return lower_flag(l, 3) ? 1 : lower_point(l, "where($0 > 0, $0, $0 * ($1 + $2) / 2)");
}

/* --- copies ----------------------------------------------------------------------------------- */

int lower_copy_of(struct lower *l)
{
	struct view v;

	return lower_arg(l, 0, &v) || lower_copy(l, l->c->out, &v);
}

int lower_copy_into(struct lower *l)
{
	struct view v;

	return lower_arg(l, 1, &v) || lower_copy(l, l->c->out, &v);
}

/* A reshape that had to copy: element k in row-major order stays element k. */
int lower_reshape(struct lower *l)
{
	const struct ix *i[GRAPH_RANK], *from[GRAPH_RANK], *at;
	const struct tensor *out = &l->c->out.u.t->t;
	struct value order = { .rank = 0 };
	int64_t stride[GRAPH_RANK];
	struct view v;

	if (l->c->out.kind != V_TENSOR || out->ndim > GRAPH_RANK || lower_arg(l, 0, &v))
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	tensor_dense_strides(out->ndim, out->shape, stride);
	at = graph_at(l->g, out->ndim, stride, i);
	order.rank = v.rank;
	memcpy(order.size, v.size, sizeof order.size);
	tensor_dense_strides(v.rank, v.size, order.stride);
	graph_coords(l->g, &order, at, from);
	return lower_map(l, l->c->out, lower_load(l, &v, from));
}

/* --- tensors made of numbers --------------------------------------------------------------------- */

int lower_fill(struct lower *l)
{
	return l->c->out.kind != V_TENSOR ? 1 :
		lower_map(l, l->c->out, sx_num(l->p, l->param, l->c->out.u.t->t.dt));
}

int lower_full(struct lower *l)
{
	struct view v;

	return lower_arg(l, (size_t)l->param, &v) || lower_copy(l, l->c->out, &v);
}

int lower_arange(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	double start = lower_given(l, 1) ? lower_float(l, 0, 0.0) : 0.0, step = lower_float(l, 2, 1.0);
	const struct sx *i;

	if (l->c->out.kind != V_TENSOR || out->ndim != 1)
		return 1;
	i = sx_index(l->p, ix_var(l->p, 0, out->shape[0]));
	i = sx_op2(l->p, SX_MUL, sx_cast(l->p, i, out->dt), sx_num(l->p, step, out->dt));
	return lower_map(l, l->c->out, sx_op2(l->p, SX_ADD, i, sx_num(l->p, start, out->dt)));
}

int lower_linspace(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	double start = lower_float(l, 0, NAN), end = lower_float(l, 1, NAN);
	const struct sx *i;

	if (l->c->out.kind != V_TENSOR || out->ndim != 1 || isnan(start) || isnan(end) || !dtype_is_float(out->dt))
		return 1;
	i = sx_cast(l->p, sx_index(l->p, ix_var(l->p, 0, out->shape[0])), out->dt);
	i = sx_op2(l->p, SX_MUL, i, sx_num(l->p, out->shape[0] > 1 ? (end - start) / (double)(out->shape[0] - 1) : 0.0,
					   out->dt));
	return lower_map(l, l->c->out, sx_op2(l->p, SX_ADD, i, sx_num(l->p, start, out->dt)));
}

int lower_eye(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *d;

	if (l->c->out.kind != V_TENSOR || out->ndim != 2)
		return 1;
	d = ix_add(l->p, ix_var(l->p, 0, out->shape[0]), ix_mul(l->p, ix_var(l->p, 1, out->shape[1]), -1));
	return lower_map(l, l->c->out, sx_cast(l->p, sx_op2(l->p, SX_EQ, sx_index(l->p, d),
							    sx_num(l->p, 0.0, DT_I32)), out->dt));
}

/* x.new(2, 3): the arguments are the sizes of memory that is not written yet. */
static int are_sizes(struct val v, const struct tensor *out)
{
	if (v.kind != V_TUPLE || v.u.seq->n != (size_t)out->ndim)
		return 0;
	for (int d = 0; d < out->ndim; d++)
		if (v.u.seq->v[d].kind != V_INT || v.u.seq->v[d].u.i != out->shape[d])
			return 0;
	return 1;
}

/* The numbers of nested lists, at most `cap`. Returns their count, or -1. */
static int64_t flat_numbers(struct val v, double *out, int64_t n, int64_t cap)
{
	if (v.kind == V_LIST || v.kind == V_TUPLE) {
		for (size_t i = 0; i < v.u.seq->n && n >= 0; i++)
			n = flat_numbers(v.u.seq->v[i], out, n, cap);
		return n;
	}
	if (n == cap || (v.kind != V_INT && v.kind != V_BOOL && v.kind != V_FLOAT))
		return -1;
	out[n] = v.kind == V_FLOAT ? v.u.f : (double)v.u.i;
	return n + 1;
}

/* torch.tensor(data): numbers, or a copy of a tensor. Sixteen numbers at most, chosen by position. */
int lower_tensor(struct lower *l)
{
	size_t slot = !strcmp(l->name, "new_tensor") || !strcmp(l->name, "new");
	struct val v = l->c->n > slot ? l->c->a[slot] : val_none();
	const struct tensor *out = &l->c->out.u.t->t;
	const struct sx *body = NULL;
	double numbers[64];
	struct view one;

	if (l->c->out.kind != V_TENSOR)
		return 1;
	if (out->ndim && flat_numbers(v, numbers, 0, COUNT_OF(numbers)) == tensor_numel(out) && strcmp(l->name, "new"))
		return lower_table(l, numbers, out->ndim, out->shape, out->dt, &one) || lower_copy(l, l->c->out, &one);
	if (!strcmp(l->name, "new") && are_sizes(v, out))
		return lower_fill(l);
	if (v.kind != V_LIST && v.kind != V_TUPLE)
		return lower_view(l, v, &one) || lower_copy(l, l->c->out, &one);
	if (out->ndim != 1 || v.u.seq->n > 16)
		return 1;
	for (size_t i = v.u.seq->n; i-- > 0;) {
		const struct sx *x, *here;

		if (lower_view(l, v.u.seq->v[i], &one) || (one.value >= 0 && one.rank))
			return 1;
		x = sx_cast(l->p, lower_load(l, &one, NULL), out->dt);
		here = sx_inside(l->p, ix_var(l->p, 0, out->shape[0]), (int64_t)i, (int64_t)i + 1);
		body = body ? sx_where(l->p, here, x, body) : x;
	}
	return body ? lower_map(l, l->c->out, body) : 1;
}
