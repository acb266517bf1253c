/* Lowering of operators that move elements: the element of the result is an element of an argument at
 * another position. */
#include "solve/lower.h"

/* The dimension along which tensors are joined. param 1: hstack, 2: vstack. */
static int join_dim(struct lower *l, int rank)
{
	if (l->param)
		return l->param == 2 ? 0 : rank > 1;
	return lower_dim(l, 1, 0, rank);
}

int lower_cat(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	struct val all = l->c->n ? l->c->a[0] : val_none();
	const struct ix *i[GRAPH_RANK], *at;
	const struct sx *body = NULL;
	int64_t end;
	int d;

	if (l->c->out.kind != V_TENSOR || (all.kind != V_LIST && all.kind != V_TUPLE) || out->ndim > GRAPH_RANK ||
	    (d = join_dim(l, out->ndim)) < 0)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	at = i[d];
	end = out->shape[d];
	for (size_t k = all.u.seq->n; k-- > 0;) {
		const struct sx *in, *x;
		struct view v;

		if (lower_view(l, all.u.seq->v[k], &v))
			return 1;
		if (v.rank != out->ndim) {
			if (v.rank == 1 && v.size[0] == 0)
				continue;
			return 1;
		}
		end -= v.size[d];
		in = sx_inside(l->p, at, end, end + v.size[d]);
		i[d] = ix_within(l->p, ix_addc(l->p, at, -end), v.size[d]);
		x = sx_cast(l->p, lower_masked(l, &v, i, in, 0.0), out->dt);
		body = body ? sx_where(l->p, in, x, body) : x;
	}
	return body ? lower_map(l, l->c->out, body) : 1;
}

int lower_stack(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	struct val all = l->c->n ? l->c->a[0] : val_none();
	const struct ix *i[GRAPH_RANK], *rest[GRAPH_RANK];
	const struct sx *body = NULL;
	int d;

	if (l->c->out.kind != V_TENSOR || (all.kind != V_LIST && all.kind != V_TUPLE) || out->ndim > GRAPH_RANK ||
	    (d = lower_dim(l, 1, 0, out->ndim)) < 0)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	for (int k = 0, n = 0; k < out->ndim; k++)
		if (k != d)
			rest[n++] = i[k];
	for (size_t k = all.u.seq->n; k-- > 0;) {
		const struct sx *in = sx_inside(l->p, i[d], (int64_t)k, (int64_t)k + 1), *x;
		struct view v;

		if (lower_view(l, all.u.seq->v[k], &v))
			return 1;
		x = sx_cast(l->p, lower_masked(l, &v, rest, in, 0.0), out->dt);
		body = body ? sx_where(l->p, in, x, body) : x;
	}
	return body ? lower_map(l, l->c->out, body) : 1;
}

/* --- padding -------------------------------------------------------------------------------------- */

/* min(max(at, 0), n - 1), or the reflection of `at` at both ends, as an index. */
static const struct ix *bounded(struct lower *l, const struct ix *at, int64_t n, int reflect)
{
	const struct sx *x = sx_index(l->p, at);

	if (at->lo >= 0 && at->hi < n)
		return at;
	if (reflect) {
		if (at->lo < 0)
			x = sx_op1(l->p, SX_ABS, x);
		if (at->hi >= n) {
			/* n - 1 - |n - 1 - x| */
			x = sx_op2(l->p, SX_SUB, sx_num(l->p, (double)(n - 1), DT_I32), x);
			x = sx_op1(l->p, SX_ABS, x);
			x = sx_op2(l->p, SX_SUB, sx_num(l->p, (double)(n - 1), DT_I32), x);
		}
	} else {
		x = at->lo < 0 ? sx_op2(l->p, SX_MAX, x, sx_num(l->p, 0.0, DT_I32)) : x;
		x = at->hi >= n ? sx_op2(l->p, SX_MIN, x, sx_num(l->p, (double)(n - 1), DT_I32)) : x;
	}
	return ix_value(l->p, x, 0, n - 1);
}

int lower_pad(struct lower *l)
{
	struct str mode = lower_text(l, 2, "constant");
	int reflect = str_is(mode, "reflect"), edge = str_is(mode, "replicate"), wrap = str_is(mode, "circular");
	const struct tensor *out = &l->c->out.u.t->t;
	struct val p = l->c->n > 1 ? l->c->a[1] : val_none();
	const struct ix *i[GRAPH_RANK];
	const struct sx *in = NULL;
	struct view x;

	if (l->c->out.kind != V_TENSOR || (p.kind != V_LIST && p.kind != V_TUPLE) || lower_arg(l, 0, &x) ||
	    x.value < 0 || (int)p.u.seq->n > 2 * x.rank)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	for (size_t k = 0; k + 1 < p.u.seq->n; k += 2) {
		int d = x.rank - 1 - (int)k / 2;
		int64_t n = x.size[d];
		const struct ix *at;

		if (p.u.seq->v[k].kind != V_INT)
			return 1;
		at = ix_addc(l->p, i[d], -p.u.seq->v[k].u.i);
		if (wrap) {
			i[d] = ix_mod(l->p, ix_addc(l->p, at, n), n);
		} else if (reflect || edge) {
			i[d] = bounded(l, at, n, reflect);
		} else {
			in = sx_both(l->p, in, sx_inside(l->p, at, 0, n));
			i[d] = ix_within(l->p, at, n);
		}
	}
	return lower_map(l, l->c->out, lower_masked(l, &x, i, in, lower_float(l, 3, 0.0)));
}

/* --- order ------------------------------------------------------------------------------------------- */

int lower_flip(struct lower *l)
{
	struct val v = l->c->n > 1 ? l->c->a[1] : val_none();
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	struct view x;

	if (v.kind == V_TUPLE && v.u.seq->n == 1 && (v.u.seq->v[0].kind == V_TUPLE || v.u.seq->v[0].kind == V_LIST))
		v = v.u.seq->v[0];
	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || (v.kind != V_TUPLE && v.kind != V_LIST))
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	for (size_t k = 0; k < v.u.seq->n; k++) {
		int64_t d = v.u.seq->v[k].kind == V_INT ? v.u.seq->v[k].u.i : x.rank;

		d += d < 0 ? x.rank : 0;
		if (d < 0 || d >= x.rank)
			return 1;
		i[d] = ix_addc(l->p, ix_mul(l->p, i[d], -1), x.size[d] - 1);
	}
	return lower_map(l, l->c->out, lower_load(l, &x, i));
}

int lower_roll(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	int64_t shift[GRAPH_RANK], dims[GRAPH_RANK];
	struct view x;
	int n;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || !lower_given(l, 2))
		return 1;
	n = l->c->a[1].kind == V_INT ? 1 : l->c->a[1].kind == V_TUPLE || l->c->a[1].kind == V_LIST ?
		(int)l->c->a[1].u.seq->n : 0;
	if (!n || n > x.rank || lower_ints(l, 1, n, 0, shift) || lower_ints(l, 2, n, 0, dims))
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	for (int k = 0; k < n; k++) {
		int64_t d = dims[k] + (dims[k] < 0 ? x.rank : 0), by;

		if (d < 0 || d >= x.rank)
			return 1;
		by = ((-shift[k]) % x.size[d] + x.size[d]) % x.size[d];
		i[d] = ix_mod(l->p, ix_addc(l->p, i[d], by), x.size[d]);
	}
	return lower_map(l, l->c->out, lower_load(l, &x, i));
}

/* Leading dimensions of the result that the argument lacks are repeats only. */
int lower_repeat(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	struct view x;
	int more;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || x.rank > out->ndim)
		return 1;
	more = out->ndim - x.rank;
	lower_coords(l, out->ndim, out->shape, i);
	for (int d = 0; d < x.rank; d++)
		i[d] = x.size[d] <= 1 ? ix_num(l->p, 0) : ix_mod(l->p, i[d + more], x.size[d]);
	return lower_map(l, l->c->out, lower_load(l, &x, i));
}

int lower_repeat_interleave(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	int64_t n = lower_int(l, 1, 0);
	struct view x;
	int d;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || n < 1 || !lower_given(l, 2) ||
	    (d = lower_dim(l, 2, 0, x.rank)) < 0)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	i[d] = ix_div(l->p, i[d], n);
	return lower_map(l, l->c->out, lower_load(l, &x, i));
}

int lower_triangle(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK], *d;
	const struct sx *in, *x;
	struct view v;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &v) || out->ndim < 2)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	d = ix_add(l->p, i[out->ndim - 1], ix_mul(l->p, i[out->ndim - 2], -1));
	in = sx_op2(l->p, l->param ? SX_GE : SX_LE, sx_index(l->p, d),
		    sx_num(l->p, (double)lower_int(l, 1, 0), DT_I32));
	x = lower_load(l, &v, i);
	return lower_map(l, l->c->out, sx_where(l->p, in, x, sx_num(l->p, 0.0, x->dt)));
}

int lower_diag_embed(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	const struct sx *in, *x;
	struct view v;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &v) || v.value < 0 || out->ndim != v.rank + 1)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	in = sx_op2(l->p, SX_EQ, sx_index(l->p, ix_add(l->p, i[v.rank], ix_mul(l->p, i[v.rank - 1], -1))),
		    sx_num(l->p, 0.0, DT_I32));
	x = lower_load(l, &v, i);
	return lower_map(l, l->c->out, sx_where(l->p, in, x, sx_num(l->p, 0.0, x->dt)));
}

/* A matrix with x on a diagonal, or the diagonal of a matrix. */
int lower_diag(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	int64_t k = lower_int(l, 1, 0), down = MAX(-k, 0), right = MAX(k, 0);
	const struct ix *i[GRAPH_RANK], *at[2];
	const struct sx *in, *x;
	struct view v;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &v) || v.value < 0)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	if (v.rank == 2) {
		at[0] = ix_addc(l->p, i[0], down);
		at[1] = ix_addc(l->p, i[0], right);
		return lower_map(l, l->c->out, lower_load(l, &v, at));
	}
	at[0] = ix_addc(l->p, i[0], -down);
	in = sx_op2(l->p, SX_EQ, sx_index(l->p, ix_add(l->p, ix_addc(l->p, i[1], -right), ix_mul(l->p, at[0], -1))),
		    sx_num(l->p, 0.0, DT_I32));
	in = sx_both(l->p, in, sx_inside(l->p, at[0], 0, v.size[0]));
	at[0] = ix_within(l->p, at[0], v.size[0]);
	x = lower_masked(l, &v, at, in, 0.0);
	return lower_map(l, l->c->out, sx_where(l->p, in, x, sx_num(l->p, 0.0, x->dt)));
}

/* out[.., c, h, w] = x[.., c * r * r + (h % r) * r + w % r, h / r, w / r] */
int lower_pixel_shuffle(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK], *c;
	int64_t r = lower_int(l, 1, 1);
	struct view x;
	int n;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || x.rank < 3 || r < 1)
		return 1;
	n = x.rank;
	lower_coords(l, out->ndim, out->shape, i);
	c = ix_add(l->p, ix_mul(l->p, i[n - 3], r * r), ix_mul(l->p, ix_mod(l->p, i[n - 2], r), r));
	i[n - 3] = ix_add(l->p, c, ix_mod(l->p, i[n - 1], r));
	i[n - 2] = ix_div(l->p, i[n - 2], r);
	i[n - 1] = ix_div(l->p, i[n - 1], r);
	return lower_map(l, l->c->out, lower_load(l, &x, i));
}

/* out[.., c * r * r + a * r + b, h, w] = x[.., c, h * r + a, w * r + b] */
int lower_pixel_unshuffle(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK], *c;
	int64_t r = lower_int(l, 1, 1);
	struct view x;
	int n;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || x.rank < 3 || r < 1)
		return 1;
	n = x.rank;
	lower_coords(l, out->ndim, out->shape, i);
	c = i[n - 3];
	i[n - 2] = ix_add(l->p, ix_mul(l->p, i[n - 2], r), ix_mod(l->p, ix_div(l->p, c, r), r));
	i[n - 1] = ix_add(l->p, ix_mul(l->p, i[n - 1], r), ix_mod(l->p, c, r));
	i[n - 3] = ix_div(l->p, c, r * r);
	return lower_map(l, l->c->out, lower_load(l, &x, i));
}

int lower_channel_shuffle(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	int64_t g = lower_int(l, 1, 1), per;
	struct view x;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || x.rank < 2 || g < 1 || x.size[1] % g)
		return 1;
	per = x.size[1] / g;
	lower_coords(l, out->ndim, out->shape, i);
	i[1] = ix_add(l->p, ix_mul(l->p, ix_mod(l->p, i[1], g), per), ix_div(l->p, i[1], g));
	return lower_map(l, l->c->out, lower_load(l, &x, i));
}

/* F.unfold: columns of a matrix are windows. out[n, (c * KH + a) * KW + b, l] */
int lower_unfold(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK], *to[4], *k, *at;
	int64_t size[2], dilation[2], pad[2], stride[2], across;
	const struct sx *in = NULL;
	struct view x;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || x.rank != 4 || out->ndim != 3 ||
	    lower_ints(l, 1, 2, 1, size) || lower_ints(l, 2, 2, 1, dilation) || lower_ints(l, 3, 2, 0, pad) ||
	    lower_ints(l, 4, 2, 1, stride))
		return 1;
	lower_coords(l, 3, out->shape, i);
	across = (x.size[3] + 2 * pad[1] - dilation[1] * (size[1] - 1) - 1) / stride[1] + 1;
	to[0] = i[0];
	to[1] = ix_div(l->p, i[1], size[0] * size[1]);
	for (int d = 0; d < 2; d++) {
		k = d ? ix_mod(l->p, i[1], size[1]) : ix_mod(l->p, ix_div(l->p, i[1], size[1]), size[0]);
		at = d ? ix_mod(l->p, i[2], across) : ix_div(l->p, i[2], across);
		at = ix_add(l->p, ix_mul(l->p, at, stride[d]), ix_mul(l->p, k, dilation[d]));
		at = ix_addc(l->p, at, -pad[d]);
		in = sx_both(l->p, in, sx_inside(l->p, at, 0, x.size[2 + d]));
		to[2 + d] = ix_within(l->p, at, x.size[2 + d]);
	}
	return lower_map(l, l->c->out, lower_masked(l, &x, to, in, 0.0));
}
