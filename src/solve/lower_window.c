/* Lowering of windows: convolutions, transposed convolutions, pools. The coordinate of the input is
 * affine in those of the result and the window; padding is a mask. */
#include <math.h>

#include "solve/lower.h"

enum { SPACE = 3 };

/* The numbers of a window: one for each dimension of space. */
struct window {
	int n;                       /* dimensions of space */
	int first;                   /* the first of them in the tensor */
	int64_t size[SPACE], stride[SPACE], pad[SPACE], dilation[SPACE];
};

/* Padding of convolutions may be a word. */
static int read_padding(struct lower *l, size_t slot, struct window *w)
{
	struct str word = lower_text(l, slot, "");

	if (str_is(word, "valid"))
		return lower_ints(l, 99, w->n, 0, w->pad);
	if (!str_is(word, "same"))
		return word.n ? 1 : lower_ints(l, slot, w->n, 0, w->pad);
	for (int k = 0; k < w->n; k++)
		w->pad[k] = w->dilation[k] * (w->size[k] - 1) / 2;
	return 0;
}

/* The coordinates of the input under tap r of the window at o, and whether they are inside. */
static const struct sx *window_at(struct lower *l, const struct window *w, const struct view *x,
				  const struct ix *const *o, const struct ix *const *r, const struct ix **i)
{
	const struct sx *in = NULL;

	for (int k = 0; k < w->n; k++) {
		const struct ix *at = ix_addc(l->p, ix_mul(l->p, o[k], w->stride[k]), -w->pad[k]);

		at = ix_add(l->p, at, ix_mul(l->p, r[k], w->dilation[k]));
		in = sx_both(l->p, in, sx_inside(l->p, at, 0, x->size[w->first + k]));
		i[w->first + k] = ix_within(l->p, at, x->size[w->first + k]);
	}
	return in;
}

/* A tensor without a batch gets one of size 1. */
static void add_batch(struct view *x, int want)
{
	if (x->rank == want)
		return;
	memmove(x->size + 1, x->size, (size_t)x->rank * sizeof x->size[0]);
	memmove(x->stride + 1, x->stride, (size_t)x->rank * sizeof x->stride[0]);
	x->size[0] = 1;
	x->stride[0] = 0;
	x->rank = want;
}

/* The result of a convolution has loops (N, G, C / G, space...). Each dimension of space is two loops, o / phase
 * and o % phase; the latter is 1 for most convolutions. With a bias, a map adds it. */
static int conv_result(struct lower *l, struct value *v, int64_t g, int64_t per, int n, const int64_t *phase)
{
	const struct tensor *out = &l->c->out.u.t->t;
	int batch = out->ndim == n + 2, id;
	const struct ix *i[GRAPH_RANK];
	struct value s = { .kind = VALUE_MAP };
	struct view b;

	v->kind = VALUE_REDUCE;
	for (int k = 0; k < v->n_red; k++)
		if (!v->red[k]) {
			v->kind = VALUE_MAP;
			v->body = sx_num(l->p, 0.0, out->dt);
		}
	if (v->kind == VALUE_MAP)
		v->n_red = 0;
	v->rank = s.rank = 3 + 2 * n;
	for (int d = 0; d < 3; d++) {
		int from = (d < 2 ? d : d - 1) - !batch;

		s.size[d] = d == 1 ? g : d == 2 ? per : from < 0 ? 1 : out->shape[from];
		s.stride[d] = from < 0 ? 0 : out->stride[from] * (d == 1 ? per : 1);
	}
	for (int d = 0; d < n; d++) {
		int from = out->ndim - n + d;

		s.size[3 + 2 * d] = out->shape[from] / phase[d];
		s.stride[3 + 2 * d] = out->stride[from] * phase[d];
		s.size[4 + 2 * d] = phase[d];
		s.stride[4 + 2 * d] = out->stride[from];
	}
	memcpy(v->size, s.size, sizeof v->size);
	memcpy(v->stride, s.stride, sizeof v->stride);
	v->dt = out->dt;
	lower_split_product(l, v);
	if (!lower_given(l, 2))
		return lower_result(l, l->c->out, v);
	tensor_dense_strides(v->rank, v->size, v->stride);
	v->dt = sx_dtype(out->dt);
	v->op = l->c->name;
	v->name = l->name;
	v->into = v->rank_out = -1;
	v->tf32 = l->c->tf32 != 0;
	v->numel = tensor_numel(out);
	id = graph_add(l->g, v);
	if (lower_arg(l, 2, &b) || b.value < 0)
		return 1;
	lower_coords(l, s.rank, s.size, i);
	s.body = sx_load(l->p, id, v->dt, graph_at(l->g, v->rank, v->stride, i), NULL, 0.0);
	s.body = sx_op2(l->p, SX_ADD, s.body,
			sx_load(l->p, b.value, b.dt, ix_addc(l->p, ix_mul(l->p, ix_add(l->p, ix_mul(l->p, i[1], per),
									i[2]), b.stride[0]), b.offset), NULL, 0.0));
	return lower_result(l, l->c->out, &s);
}

/* y[n, g, c, o] = sum over ci, r of x[n, g * CI + ci, o * stride + r * dilation - pad] * w[g * C + c, ci, r] */
int lower_conv(struct lower *l)
{
	struct window w = { .n = l->param, .first = 2 };
	const struct ix *o[SPACE], *r[SPACE], *xi[GRAPH_RANK], *wi[GRAPH_RANK];
	const struct sx *in;
	struct view x, k;
	struct value v = { .how = COMBINE_SUM };
	static const int64_t one[SPACE] = { 1, 1, 1 };
	int64_t g = lower_int(l, 6, 1), per, ci;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || lower_arg(l, 1, &k) || x.value < 0 || k.value < 0)
		return 1;
	add_batch(&x, w.n + 2);
	memcpy(w.size, k.size + 2, sizeof w.size);
	if (x.rank != w.n + 2 || k.rank != w.n + 2 || lower_ints(l, 3, w.n, 1, w.stride) ||
	    lower_ints(l, 5, w.n, 1, w.dilation) || read_padding(l, 4, &w))
		return 1;
	per = k.size[0] / g;
	ci = k.size[1];
	v.n_red = w.n + 1;
	v.red[0] = ci;
	memcpy(v.red + 1, w.size, (size_t)w.n * sizeof w.size[0]);
	for (int d = 0; d < w.n; d++) {
		const struct tensor *out = &l->c->out.u.t->t;

		o[d] = ix_var(l->p, 3 + 2 * d, out->shape[out->ndim - w.n + d]);
		r[d] = wi[2 + d] = ix_var(l->p, 2 * w.n + 4 + d, w.size[d]);
	}
	in = window_at(l, &w, &x, o, r, xi);
	xi[0] = ix_var(l->p, 0, x.size[0]);
	wi[1] = ix_var(l->p, 2 * w.n + 3, ci);
	xi[1] = ix_add(l->p, ix_mul(l->p, ix_var(l->p, 1, g), ci), wi[1]);
	wi[0] = ix_add(l->p, ix_mul(l->p, ix_var(l->p, 1, g), per), ix_var(l->p, 2, per));
	v.body = sx_op2(l->p, SX_MUL, lower_masked(l, &x, xi, in, 0.0), lower_load(l, &k, wi));
	return conv_result(l, &v, g, per, w.n, one);
}

/* Dimension d of a transposed convolution with stride s: o = s * q + f meets the taps r with
 * (f + pad - r) % s = 0, which are r = (f + pad) % s + s * t, at x[q + (f + pad) / s - t]. So no tap is
 * in vain. Sets the coordinates of input and weight; *in and *tap are their masks. Returns the number of t. */
static int64_t phase_taps(struct lower *l, const struct window *w, int d, int64_t out, int64_t size,
			  const struct ix **x, const struct ix **r, const struct sx **in, const struct sx **tap)
{
	int64_t s = w->stride[d], taps = (w->size[d] + s - 1) / s;
	const struct ix *f = ix_addc(l->p, ix_var(l->p, 4 + 2 * d, s), w->pad[d]);
	const struct ix *q = ix_var(l->p, 3 + 2 * d, out / s);
	const struct ix *t = ix_var(l->p, 2 * w->n + 4 + d, taps), *at;

	*r = ix_add(l->p, ix_mod(l->p, f, s), ix_mul(l->p, t, s));
	if (w->size[d] % s)
		*tap = sx_both(l->p, *tap, sx_inside(l->p, *r, 0, w->size[d]));
	*r = ix_within(l->p, *r, w->size[d]);
	at = ix_add(l->p, ix_add(l->p, q, ix_div(l->p, f, s)), ix_mul(l->p, t, -1));
	*in = sx_both(l->p, *in, sx_inside(l->p, at, 0, size));
	*x = ix_within(l->p, at, size);
	return taps;
}

/* Other strides, or with dilation: tap r meets x[(o + pad - r * dilation) / stride] where the quotient is whole. */
static void divided_taps(struct lower *l, const struct window *w, int d, int64_t out, int64_t size, const struct ix **x,
			 const struct ix **r, const struct sx **in)
{
	int64_t span = (size - 1) * w->stride[d] + 1;
	const struct ix *num;

	*r = ix_var(l->p, 2 * w->n + 4 + d, w->size[d]);
	num = ix_add(l->p, ix_var(l->p, 3 + 2 * d, out), ix_mul(l->p, *r, -w->dilation[d]));
	num = ix_addc(l->p, num, w->pad[d]);
	*in = sx_both(l->p, *in, sx_inside(l->p, num, 0, span));
	if (w->stride[d] > 1)
		*in = sx_both(l->p, *in, sx_op2(l->p, SX_EQ, sx_index(l->p, ix_mod(l->p, ix_within(l->p, num, span),
							      w->stride[d])), sx_num(l->p, 0.0, DT_I32)));
	*x = ix_div(l->p, ix_within(l->p, num, span), w->stride[d]);
}

/* y[n, g, c, o] = sum over ci, r of x[n, g * CI + ci, (o + pad - r * dilation) / stride] * w[g * CI + ci, c, r],
 * where the quotient is whole. */
int lower_conv_transpose(struct lower *l)
{
	struct window w = { .n = l->param, .first = 2 };
	const struct ix *xi[GRAPH_RANK], *wi[GRAPH_RANK];
	const struct sx *in = NULL, *tap = NULL;
	const struct tensor *out = &l->c->out.u.t->t;
	struct view x, k;
	struct value v = { .how = COMBINE_SUM };
	int64_t g = lower_int(l, 6, 1), ci, phase[SPACE] = { 1, 1, 1 };

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || lower_arg(l, 1, &k) || x.value < 0 || k.value < 0)
		return 1;
	add_batch(&x, w.n + 2);
	memcpy(w.size, k.size + 2, sizeof w.size);
	if (x.rank != w.n + 2 || k.rank != w.n + 2 || lower_ints(l, 3, w.n, 1, w.stride) ||
	    lower_ints(l, 7, w.n, 1, w.dilation) || lower_ints(l, 4, w.n, 0, w.pad))
		return 1;
	ci = x.size[1] / g;
	v.n_red = w.n + 1;
	v.red[0] = ci;
	memcpy(v.red + 1, w.size, (size_t)w.n * sizeof w.size[0]);
	for (int d = 0; d < w.n; d++) {
		int64_t n = out->shape[out->ndim - w.n + d];

		if (w.stride[d] > 1 && w.dilation[d] == 1 && n % w.stride[d] == 0 && n) {
			phase[d] = w.stride[d];
			v.red[1 + d] = phase_taps(l, &w, d, n, x.size[2 + d], &xi[2 + d], &wi[2 + d], &in, &tap);
		} else {
			divided_taps(l, &w, d, n, x.size[2 + d], &xi[2 + d], &wi[2 + d], &in);
		}
	}
	xi[0] = ix_var(l->p, 0, x.size[0]);
	wi[1] = ix_var(l->p, 2, k.size[1]);
	wi[0] = xi[1] = ix_add(l->p, ix_mul(l->p, ix_var(l->p, 1, g), ci), ix_var(l->p, 2 * w.n + 3, ci));
	v.body = sx_op2(l->p, SX_MUL, lower_masked(l, &x, xi, in, 0.0), lower_masked(l, &k, wi, tap, 0.0));
	return conv_result(l, &v, g, k.size[1], w.n, phase);
}

/* --- pools ---------------------------------------------------------------------------------------------- */

/* The pooled tensor: the result, or the first of two. */
static const struct tensor *pool_out(const struct lower *l)
{
	struct val out = l->c->out;

	out = out.kind == V_TUPLE && out.u.seq->n ? out.u.seq->v[0] : out;
	return out.kind == V_TENSOR ? &out.u.t->t : NULL;
}

/* The input with its window numbers: size in slot 1, stride in slot 2 (the size by default). */
static int pool_args(struct lower *l, struct window *w, struct view *x)
{
	w->n = l->param;
	if (!pool_out(l) || lower_arg(l, 0, x) || x->value < 0 || x->rank < w->n || lower_ints(l, 1, w->n, 1, w->size))
		return 1;
	w->first = x->rank - w->n;
	for (int k = 0; k < w->n; k++)
		w->dilation[k] = 1;
	memcpy(w->stride, w->size, sizeof w->stride);
	if (lower_given(l, 2) && !((l->c->a[2].kind == V_LIST || l->c->a[2].kind == V_TUPLE) && !l->c->a[2].u.seq->n))
		return lower_ints(l, 2, w->n, 1, w->stride);
	return 0;
}

/* Variables: coordinates of the result, then the taps of the window. */
static void pool_vars(struct lower *l, const struct window *w, int rank, struct value *v, const struct ix **i,
		      const struct ix **r)
{
	const struct tensor *out = pool_out(l);

	v->kind = VALUE_REDUCE;
	v->rank = rank;
	v->n_red = w->n;
	memcpy(v->size, out->shape, sizeof v->size);
	memcpy(v->stride, out->stride, sizeof v->stride);
	memcpy(v->red, w->size, sizeof w->size);
	lower_coords(l, rank, out->shape, i);
	for (int k = 0; k < w->n; k++)
		r[k] = ix_var(l->p, rank + k, w->size[k]);
}

/* The index of the largest element of each window in its plane: the tap of the window as a number is a reduction
 * of its own, and a map makes a position of it. start[k] is the first position of the window along k. */
static int max_indices(struct lower *l, struct val out, struct value v, const struct view *x, const struct window *w,
		       const struct sx *const *start)
{
	const struct tensor *t = out.kind == V_TENSOR ? &out.u.t->t : NULL;
	const struct ix *i[GRAPH_RANK];
	const struct sx *tap, *at = NULL;
	int64_t inner = 1;
	int id;

	if (!t)
		return 1;
	v.how = COMBINE_ARGMAX;
	v.dt = DT_I32;
	v.op = l->c->name;
	v.name = l->name;
	v.into = v.rank_out = -1;
	v.numel = MAX(tensor_numel(t), 1);
	tensor_dense_strides(v.rank, v.size, v.stride);
	id = graph_add(l->g, &v);
	lower_coords(l, v.rank, v.size, i);
	tap = sx_load(l->p, id, DT_I32, graph_at(l->g, v.rank, v.stride, i), NULL, 0.0);
	for (int k = 0; k < w->n; k++)
		inner *= v.red[k];
	for (int k = 0; k < w->n; k++) {
		const struct sx *own;

		inner /= v.red[k];
		own = sx_op2(l->p, SX_IDIV, tap, sx_num(l->p, (double)inner, DT_I32));
		if (k)
			own = sx_op2(l->p, SX_IMOD, own, sx_num(l->p, (double)v.red[k], DT_I32));
		own = sx_op2(l->p, SX_MUL, own, sx_num(l->p, (double)w->dilation[k], DT_I32));
		own = sx_op2(l->p, SX_ADD, own, start[k]);
		at = at ? sx_op2(l->p, SX_MUL, at, sx_num(l->p, (double)x->size[w->first + k], DT_I32)) : NULL;
		at = at ? sx_op2(l->p, SX_ADD, at, own) : own;
	}
	return lower_map(l, out, sx_cast(l->p, at, t->dt));
}

/* The values, and the indices if they are asked for. */
static int max_results(struct lower *l, const struct value *v, const struct view *x, const struct window *w,
		       const struct sx *const *start)
{
	struct val out = l->c->out;

	if (out.kind == V_TENSOR)
		return lower_result(l, out, v);
	return out.kind != V_TUPLE || out.u.seq->n != 2 || lower_result(l, out.u.seq->v[0], v) ||
		max_indices(l, out.u.seq->v[1], *v, x, w, start);
}

int lower_max_pool(struct lower *l)
{
	struct window w = { .n = 0 };
	const struct ix *i[GRAPH_RANK], *o[SPACE], *r[SPACE];
	const struct sx *in, *start[SPACE];
	struct view x;
	struct value v = { .how = COMBINE_MAX };

	if (pool_args(l, &w, &x) || lower_ints(l, 3, w.n, 0, w.pad) || lower_ints(l, 4, w.n, 1, w.dilation))
		return 1;
	pool_vars(l, &w, x.rank, &v, i, r);
	memcpy(o, i + w.first, sizeof o);
	for (int k = 0; k < w.n; k++)
		start[k] = sx_index(l->p, ix_addc(l->p, ix_mul(l->p, o[k], w.stride[k]), -w.pad[k]));
	in = window_at(l, &w, &x, o, r, i);
	v.body = lower_masked(l, &x, i, in, -INFINITY);
	return max_results(l, &v, &x, &w, start);
}

/* How many elements a window counts, as an expression: padding counts or not; what lies beyond the
 * padding, with ceil_mode, never does. */
static const struct sx *pool_count(struct lower *l, const struct window *w, const struct view *x,
				   const struct ix *const *o, int with_pad)
{
	const struct sx *n = NULL;

	for (int k = 0; k < w->n; k++) {
		int64_t end = x->size[w->first + k] + (with_pad ? w->pad[k] : 0), low = with_pad ? -w->pad[k] : 0;
		const struct ix *from = ix_addc(l->p, ix_mul(l->p, o[k], w->stride[k]), -w->pad[k]);
		const struct ix *to = ix_addc(l->p, from, w->size[k]);
		const struct sx *a = from->lo >= low ? sx_index(l->p, from) :
			sx_op2(l->p, SX_MAX, sx_index(l->p, from), sx_num(l->p, (double)low, DT_I32));
		const struct sx *b = to->hi <= end ? sx_index(l->p, to) :
			sx_op2(l->p, SX_MIN, sx_index(l->p, to), sx_num(l->p, (double)end, DT_I32));

		b = sx_op2(l->p, SX_SUB, b, a);
		n = n ? sx_op2(l->p, SX_MUL, n, b) : b;
	}
	return n;
}

int lower_avg_pool(struct lower *l)
{
	struct window w = { .n = 0 };
	const struct ix *i[GRAPH_RANK], *o[SPACE], *r[SPACE];
	const struct tensor *out = &l->c->out.u.t->t;
	const struct sx *in, *n, *s;
	struct view x, t;
	struct value v = { .how = COMBINE_SUM, .into = -1, .rank_out = -1, .op = l->c->name, .name = l->name };
	int id;

	if (pool_args(l, &w, &x) || lower_ints(l, 3, w.n, 0, w.pad))
		return 1;
	pool_vars(l, &w, x.rank, &v, i, r);
	memcpy(o, i + w.first, sizeof o);
	n = lower_given(l, 6) ? sx_num(l->p, lower_float(l, 6, 1.0), DT_F32) :
		pool_count(l, &w, &x, o, !lower_given(l, 5) || lower_flag(l, 5));
	in = window_at(l, &w, &x, o, r, i);
	v.body = lower_masked(l, &x, i, in, 0.0);
	v.dt = sx_dtype(out->dt);
	v.numel = tensor_numel(out);
	tensor_dense_strides(v.rank, v.size, v.stride);
	id = graph_add(l->g, &v);
	lower_temp_view(l, id, &t);
	lower_coords(l, v.rank, v.size, i);
	s = lower_load(l, &t, i);
	return lower_map(l, l->c->out, sx_op2(l->p, SX_DIV, s, sx_cast(l->p, n, s->dt)));
}

/* Window k of O over I elements: from k * I / O to ceil((k + 1) * I / O). */
int lower_adaptive_pool(struct lower *l)
{
	int max = l->param > 10, n = l->param % 10, first, id;
	const struct tensor *out = pool_out(l);
	const struct ix *i[GRAPH_RANK], *from, *tap;
	struct value v = { .kind = VALUE_REDUCE, .how = max ? COMBINE_MAX : COMBINE_SUM, .n_red = n, .into = -1,
			   .rank_out = -1, .op = l->c->name, .name = l->name };
	struct window w = { .n = n, .dilation = { 1, 1, 1 } };
	const struct sx *in = NULL, *count = NULL, *s, *begin[SPACE];
	struct view x, t;

	if (!out || (!max && l->c->out.kind != V_TENSOR) || lower_arg(l, 0, &x) || x.value < 0 || x.rank < n)
		return 1;
	first = x.rank - n;
	lower_coords(l, out->ndim, out->shape, i);
	for (int k = 0; k < n; k++) {
		int64_t size = x.size[first + k], o = out->shape[first + k];
		const struct ix *start = ix_div(l->p, ix_mul(l->p, i[first + k], size), o), *len;

		begin[k] = sx_index(l->p, start);
		from = ix_div(l->p, ix_addc(l->p, ix_mul(l->p, ix_addc(l->p, i[first + k], 1), size), o - 1), o);
		len = ix_add(l->p, from, ix_mul(l->p, start, -1));
		v.red[k] = size % o ? size / o + 2 : size / o;
		v.red[k] = MIN(v.red[k], size);
		s = size % o ? sx_index(l->p, len) : sx_num(l->p, (double)(size / o), DT_I32);
		count = count ? sx_op2(l->p, SX_MUL, count, s) : s;
		tap = ix_var(l->p, out->ndim + k, v.red[k]);
		if (size % o)
			in = sx_both(l->p, in, sx_op2(l->p, SX_LT, sx_index(l->p, ix_add(l->p, tap, ix_mul(l->p, len,
					-1))), sx_num(l->p, 0.0, DT_I32)));
		i[first + k] = ix_within(l->p, ix_add(l->p, start, tap), size);
	}
	v.body = lower_masked(l, &x, i, in, max ? -INFINITY : 0.0);
	v.rank = out->ndim;
	memcpy(v.size, out->shape, sizeof v.size);
	v.dt = sx_dtype(out->dt);
	v.numel = MAX(tensor_numel(out), 1);
	tensor_dense_strides(v.rank, v.size, v.stride);
	if (max) {
		memcpy(v.stride, out->stride, sizeof v.stride);
		w.first = first;
		return max_results(l, &v, &x, &w, begin);
	}
	id = graph_add(l->g, &v);
	lower_temp_view(l, id, &t);
	lower_coords(l, v.rank, v.size, i);
	s = lower_load(l, &t, i);
	return lower_map(l, l->c->out, sx_op2(l->p, SX_DIV, s, sx_cast(l->p, count, s->dt)));
}
