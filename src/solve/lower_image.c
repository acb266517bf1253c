/* Lowering of interpolation and grid_sample. The sizes of an interpolation are known, so its source positions are
 * exact quotients of integers; those of grid_sample are read from memory. */
#include <math.h>

#include "interp/bind.h"
#include "solve/lower.h"

enum { SPACE = 3 };

/* Linear interpolation along one dimension: two neighbours and the weight of the second. */
struct between {
	const struct ix *a, *b;
	const struct sx *w;
};

/* The scale of the source position: by scale_factor if it is given, else by the sizes. Returns 1 if it
 * is not the quotient of the sizes. */
static int odd_scale(const struct lower *l, int64_t from, int64_t to, int k)
{
	struct val v = l->c->n > 2 ? l->c->a[2] : val_none();
	double f = 0.0;

	if (!lower_given(l, 2) || lower_flag(l, 5))
		return 0;
	if (v.kind == V_TUPLE || v.kind == V_LIST)
		v = (size_t)k < v.u.seq->n ? v.u.seq->v[k] : val_none();
	f = v.kind == V_FLOAT ? v.u.f : v.kind == V_INT ? (double)v.u.i : 0.0;
	return f * (double)from != (double)to;
}

/* (2 o + 1) * from - to over 2 * to is the source position of pixel centres; with aligned corners it is
 * o * (from - 1) / (to - 1). Positions before the first pixel are the first pixel. */
static struct between linear_at(struct lower *l, const struct ix *o, int64_t from, int64_t to, int corners)
{
	int64_t by = corners ? MAX(to - 1, 1) : 2 * to;
	const struct ix *num = corners ? ix_mul(l->p, o, to > 1 ? from - 1 : 0) :
		ix_addc(l->p, ix_mul(l->p, o, 2 * from), from - to), *q, *m;
	const struct sx *x, *next, *w;
	struct between r;

	if (num->lo < 0)
		num = ix_value(l->p, sx_op2(l->p, SX_MAX, sx_index(l->p, num), sx_num(l->p, 0.0, DT_I32)), 0, num->hi);
	q = ix_div(l->p, num, by);
	m = ix_mod(l->p, num, by);
	r.a = q;
	x = sx_index(l->p, ix_addc(l->p, q, 1));
	next = q->hi + 1 < from ? x : sx_op2(l->p, SX_MIN, x, sx_num(l->p, (double)(from - 1), DT_I32));
	r.b = q->hi + 1 < from ? ix_addc(l->p, q, 1) : ix_value(l->p, next, 0, from - 1);
	w = sx_cast(l->p, sx_index(l->p, m), DT_F32);
	r.w = sx_op2(l->p, SX_MUL, w, sx_num(l->p, 1.0 / (double)by, DT_F32));
	return r;
}

/* The element between 2^n neighbours. */
static const struct sx *blend(struct lower *l, const struct view *x, const struct between *b, int n, int k,
			      const struct ix **i)
{
	int d = x->rank - n + k;
	const struct sx *p, *q, *w;

	if (k == n)
		return lower_load(l, x, i);
	i[d] = b[k].a;
	p = blend(l, x, b, n, k + 1, i);
	i[d] = b[k].b;
	q = blend(l, x, b, n, k + 1, i);
	w = sx_cast(l->p, b[k].w, p->dt);
	return sx_op2(l->p, SX_ADD, sx_op2(l->p, SX_MUL, p, sx_op2(l->p, SX_SUB, sx_num(l->p, 1.0, p->dt), w)),
		      sx_op2(l->p, SX_MUL, q, w));
}

int lower_interpolate(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	struct str mode = lower_text(l, 3, "nearest");
	int nearest = str_is(mode, "nearest"), linear = str_ends(mode, "linear"), corners = lower_flag(l, 4), n;
	struct between b[SPACE];
	const struct ix *i[GRAPH_RANK];
	struct view x;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || x.rank < 3 || x.rank > 5 ||
	    (!nearest && !linear) || lower_flag(l, 6))
		return 1;
	n = x.rank - 2;
	lower_coords(l, out->ndim, out->shape, i);
	for (int k = 0; k < n; k++) {
		int64_t from = x.size[2 + k], to = out->shape[2 + k];

		if (!corners && odd_scale(l, from, to, k))
			return 1;
		if (nearest)
			i[2 + k] = ix_div(l->p, ix_mul(l->p, i[2 + k], from), to);
		else
			b[k] = linear_at(l, i[2 + k], from, to, corners);
	}
	return lower_map(l, l->c->out, nearest ? lower_load(l, &x, i) : blend(l, &x, b, n, 0, i));
}

/* --- grid_sample ------------------------------------------------------------------------------------------- */

/* Positions along one dimension of the image: the lower neighbour and the weight of the next one. */
struct sampled {
	const struct ix *at;
	const struct sx *w;
	int64_t size;
};

/* A coordinate in [-1, 1] as a pixel: -1 and 1 are the outer edges of the image, or the centres of its edge
 * pixels with align_corners. Pixels far outside are all alike, and their conversion to integers is defined. */
static struct sampled sampled_at(struct lower *l, const struct sx *v, int64_t n, int corners, int border, int nearest)
{
	const struct sx *arg[4] = { v, sx_num(l->p, (double)n, v->dt), sx_num(l->p, border ? 0.0 : -2.0, v->dt),
				    sx_num(l->p, (double)(border ? n - 1 : n + 1), v->dt) }, *pos, *low;
	struct sampled s = { .size = n };

	pos = formula_build(l, corners ? "min(max(($0 + 1) / 2 * ($1 - 1), $2), $3)" :
			    "min(max((($0 + 1) * $1 - 1) / 2, $2), $3)", arg, 4, v->dt);
	low = sx_op1(l->p, nearest ? SX_ROUND : SX_FLOOR, pos);
	s.at = ix_value(l->p, sx_cast(l->p, low, DT_I32), -2, n + 1);
	s.w = sx_op2(l->p, SX_SUB, pos, low);
	return s;
}

/* The pixel at one corner of the neighbourhood, times its weight. Bit k of `corner`: the next pixel along k. */
static const struct sx *corner_of(struct lower *l, const struct view *x, const struct sampled *s, int n,
				  unsigned corner, int nearest, const struct ix **i)
{
	const struct sx *in = NULL, *w = NULL, *pixel;

	for (int k = 0; k < n; k++) {
		const struct ix *at = ix_addc(l->p, s[k].at, corner >> k & 1);
		const struct sx *own = corner >> k & 1 ? s[k].w :
			sx_op2(l->p, SX_SUB, sx_num(l->p, 1.0, s[k].w->dt), s[k].w);

		in = sx_both(l->p, in, sx_inside(l->p, at, 0, s[k].size));
		i[2 + k] = ix_within(l->p, at, s[k].size);
		w = w ? sx_op2(l->p, SX_MUL, w, own) : own;
	}
	pixel = lower_masked(l, x, i, in, 0.0);
	return nearest ? pixel : sx_op2(l->p, SX_MUL, pixel, sx_cast(l->p, w, pixel->dt));
}

/* x [N, C, space..], grid [N, space'.., n]: the last coordinate of the grid is for the first dimension of space. */
int lower_grid_sample(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	struct str mode = lower_text(l, 2, "bilinear"), pad = lower_text(l, 3, "zeros");
	int nearest = str_is(mode, "nearest"), border = str_is(pad, "border"), n;
	const struct ix *i[GRAPH_RANK], *g[GRAPH_RANK];
	const struct sx *all = NULL;
	struct sampled s[SPACE];
	struct view x, grid;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || lower_arg(l, 1, &grid) || x.value < 0 ||
	    grid.value < 0 || x.rank < 4 || x.rank > 5 || grid.rank != x.rank ||
	    (!nearest && !str_is(mode, "bilinear")) || (!border && !str_is(pad, "zeros")))
		return 1;
	n = x.rank - 2;
	lower_coords(l, out->ndim, out->shape, i);
	g[0] = i[0];
	for (int k = 0; k < n; k++)
		g[1 + k] = i[2 + k];
	for (int k = 0; k < n; k++) {
		g[1 + n] = ix_num(l->p, n - 1 - k);
		s[k] = sampled_at(l, lower_load(l, &grid, g), x.size[2 + k], lower_flag(l, 4), border, nearest);
	}
	for (unsigned corner = 0; corner < (nearest ? 1u : 1u << n); corner++) {
		const struct sx *one = corner_of(l, &x, s, n, corner, nearest, i);

		all = all ? sx_op2(l->p, SX_ADD, all, one) : one;
	}
	return lower_map(l, l->c->out, all);
}
