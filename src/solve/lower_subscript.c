/* Lowering of subscripts that are no views: x[.., tensor, ..] and x[..] = y. Index tensors are read from
 * memory, so their values are kept there. As in PyTorch, ints are taken first and drop their dimension; index
 * tensors that are next to each other put their dimensions in their place, others put them in front. */
#include "interp/bind.h"
#include "solve/lower.h"
#include "solve/trace.h"

enum { PICKS = 2 * GRAPH_RANK };

enum pick_kind { PICK_SLICE, PICK_INT, PICK_NEW, PICK_INDEX, PICK_MASK };

/* One part of a subscript. `dim` is the first dimension of the tensor that it is for. */
struct pick {
	enum pick_kind kind;
	int dim;
	int64_t start, step, size;
	struct view index;
};

/* All parts, one for each dimension of the tensor, None, and mask (which is for several dimensions). */
struct picks {
	struct pick v[PICKS];
	int n, n_index, n_mask;
	int rank_index;                      /* the common shape of the index tensors */
	int64_t shape_index[GRAPH_RANK];
	int first;                           /* of the dimensions of index tensors in the result */
	int rank_out;
};

static int64_t bound(struct val v, int64_t otherwise, int64_t n)
{
	int64_t i = v.kind == V_INT ? v.u.i : otherwise;

	i += i < 0 ? n : 0;
	return MAX(0, MIN(i, n));
}

static struct pick whole(const struct view *x, int d)
{
	return (struct pick){ .kind = PICK_SLICE, .dim = d, .step = 1, .size = x->size[d] };
}

static int is_mask(struct val s)
{
	return s.kind == V_TENSOR && s.u.t->t.dt == DT_BOOL;
}

/* Dimensions of the tensor that a part of a subscript is for. */
static int dims_of(struct val s)
{
	return s.kind == V_NONE || s.kind == V_ELLIPSIS ? 0 : is_mask(s) ? s.u.t->t.ndim : 1;
}

/* A list of ints as an index tensor. */
static int read_list(struct lower *l, struct val s, struct view *out)
{
	enum { ITEMS = 64 };
	double v[ITEMS];
	int64_t n = (int64_t)s.u.seq->n;

	if (n > ITEMS)
		return 1;
	for (int64_t k = 0; k < n; k++) {
		if (s.u.seq->v[k].kind != V_INT)
			return 1;
		v[k] = (double)s.u.seq->v[k].u.i;
	}
	return lower_table(l, v, 1, &n, DT_I64, out);
}

/* One part at dimension d. Returns 1 if it is not supported. */
static int read_pick(struct lower *l, const struct view *x, struct val s, int d, struct pick *p)
{
	*p = (struct pick){ .dim = d, .step = 1, .size = 1 };
	if (s.kind == V_INT) {
		p->kind = PICK_INT;
		p->start = s.u.i + (s.u.i < 0 ? x->size[d] : 0);
		return 0;
	}
	if (s.kind == V_NONE) {
		p->kind = PICK_NEW;
		return 0;
	}
	if (s.kind == V_SLICE) {
		int64_t stop = bound(s.u.slice->stop, x->size[d], x->size[d]);

		p->step = s.u.slice->step.kind == V_INT ? MAX(s.u.slice->step.u.i, 1) : 1;
		p->start = bound(s.u.slice->start, 0, x->size[d]);
		p->size = MAX(0, (stop - p->start + p->step - 1) / p->step);
		return 0;
	}
	p->kind = is_mask(s) ? PICK_MASK : PICK_INDEX;
	if (s.kind == V_LIST || s.kind == V_TUPLE)
		return read_list(l, s, &p->index);
	return s.kind != V_TENSOR || dtype_is_float(s.u.t->t.dt) || lower_view(l, s, &p->index) ||
		(is_mask(s) && p->index.value < 0);
}

/* Finds the place of the index tensors' dimensions in the result, and the number of its dimensions. */
static void place_indices(struct picks *p)
{
	int at = 0, last = -1, apart = 0;

	for (int k = 0, place = 0; k < p->n; k++) {
		if (p->v[k].kind == PICK_INDEX) {
			apart |= last >= 0 && place != last + 1;
			if (last < 0)
				p->first = at;
			last = place;
		}
		at += p->v[k].kind != PICK_INDEX && p->v[k].kind != PICK_INT;
		place += p->v[k].kind != PICK_INT;
	}
	if (apart)
		p->first = 0;
	p->rank_out = at + (p->n_index ? p->rank_index : 0);
}

/* Reads x[v]: ints, slices with positive steps, None, integer tensors, masks. */
static int read_picks(struct lower *l, const struct view *x, struct val v, struct picks *p)
{
	size_t n = v.kind == V_TUPLE ? v.u.seq->n : 1;
	int d = 0, taken = 0;

	*p = (struct picks){ .n = 0 };
	for (size_t k = 0; k < n; k++)
		taken += dims_of(lower_unwrap(v.kind == V_TUPLE ? v.u.seq->v[k] : v));
	for (size_t k = 0; k < n; k++) {
		struct val s = lower_unwrap(v.kind == V_TUPLE ? v.u.seq->v[k] : v);

		if (p->n + x->rank >= PICKS || d + dims_of(s) > x->rank)
			return 1;
		if (s.kind == V_ELLIPSIS) {
			for (int more = x->rank - taken; more > 0; more--, d++)
				p->v[p->n++] = whole(x, d);
			continue;
		}
		if (read_pick(l, x, s, d, &p->v[p->n]))
			return 1;
		p->n_index += p->v[p->n].kind == PICK_INDEX;
		p->n_mask += p->v[p->n].kind == PICK_MASK;
		if (p->v[p->n].kind == PICK_INDEX &&
		    tensor_broadcast_shape(&p->rank_index, p->shape_index, p->v[p->n].index.rank,
					   p->v[p->n].index.size, NULL))
			return 1;
		p->n++;
		d += dims_of(s);
	}
	for (; d < x->rank; d++)
		p->v[p->n++] = whole(x, d);
	place_indices(p);
	return p->rank_out > GRAPH_RANK;
}

/* The next dimension of the result that is not one of index tensors. */
static int next_dim(const struct picks *p, int *at)
{
	if (p->n_index && *at == p->first)
		*at += p->rank_index;
	return (*at)++;
}

int lower_getitem(struct lower *l)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK], *from[GRAPH_RANK];
	struct view x, w;
	struct picks p;
	int at = 0;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || read_picks(l, &x, l->c->a[1], &p) ||
	    !p.n_index || p.n_mask || p.rank_out != out->ndim)
		return 1;
	lower_coords(l, out->ndim, out->shape, i);
	for (int k = 0; k < p.n; k++) {
		const struct pick *s = &p.v[k];

		if (s->kind == PICK_NEW) {
			next_dim(&p, &at);
		} else if (s->kind == PICK_SLICE) {
			from[s->dim] = ix_addc(l->p, ix_mul(l->p, i[next_dim(&p, &at)], s->step), s->start);
		} else if (s->kind == PICK_INT) {
			from[s->dim] = ix_num(l->p, s->start);
		} else {
			const struct sx *at_index;

			if (lower_expand(&s->index, p.rank_index, p.shape_index, &w))
				return 1;
			at_index = lower_index(l, &w, i + p.first, x.size[s->dim]);
			from[s->dim] = lower_index_at(l, at_index, x.size[s->dim]);
		}
	}
	return lower_map(l, l->c->out, lower_load(l, &x, from));
}

/* --- x[..] = value --------------------------------------------------------------------------------------- */

/* x[ints and slices] = value: the part is a view of x, which is written. */
static int set_part(struct lower *l, const struct picks *p, const struct view *v)
{
	struct tensor_obj part = *l->c->a[0].u.t;
	int n = 0;

	for (int k = 0; k < p->n; k++) {
		const struct pick *s = &p->v[k];
		int64_t stride = s->kind == PICK_NEW ? 0 : l->c->a[0].u.t->t.stride[s->dim];

		part.t.offset += s->start * stride;
		if (s->kind == PICK_INT)
			continue;
		if (n == TENSOR_DIMS)
			return 1;
		part.t.shape[n] = s->size;
		part.t.stride[n++] = stride * s->step;
	}
	part.t.ndim = n;
	return lower_copy(l, (struct val){ .kind = V_TENSOR, .u.t = &part }, v);
}

/* The condition that element `at` of x is in a slice, and its place there. */
static const struct sx *in_slice(struct lower *l, const struct pick *s, const struct ix *at, const struct ix **place)
{
	const struct ix *rel = ix_addc(l->p, at, -s->start);
	const struct sx *in = sx_inside(l->p, rel, 0, MAX(s->step * (s->size - 1) + 1, 0));

	if (s->step > 1)
		in = sx_both(l->p, in, sx_op2(l->p, SX_EQ, sx_index(l->p, ix_mod(l->p, ix_within(l->p, rel,
				s->step * s->size), s->step)), sx_num(l->p, 0.0, DT_I32)));
	*place = ix_within(l->p, ix_div(l->p, ix_within(l->p, rel, s->step * s->size), s->step), s->size);
	return in;
}

/* Element i of x is written where the condition holds. Index tensors make it depend on further variables, those
 * of their elements. at[] is where the value is read, shape[] what it broadcasts to. */
static int written(struct lower *l, const struct view *x, const struct picks *p, const struct ix *const *i,
		   const struct sx **hit, const struct ix **at, int64_t *shape)
{
	const struct ix *own[GRAPH_RANK];
	struct view w;
	int next = 0;

	*hit = NULL;
	for (int k = 0; k < p->rank_index; k++) {
		shape[p->first + k] = p->shape_index[k];
		own[k] = at[p->first + k] = ix_var(l->p, x->rank + k, p->shape_index[k]);
	}
	for (int k = 0; k < p->n; k++) {
		const struct pick *s = &p->v[k];
		const struct sx *in = NULL;
		int d;

		if (s->kind == PICK_INT) {
			in = sx_inside(l->p, i[s->dim], s->start, s->start + 1);
		} else if (s->kind == PICK_INDEX) {
			if (lower_expand(&s->index, p->rank_index, p->shape_index, &w))
				return 1;
			in = lower_index(l, &w, own, x->size[s->dim]);
			in = sx_op2(l->p, SX_EQ, in, sx_cast(l->p, sx_index(l->p, i[s->dim]), in->dt));
		} else {
			d = next_dim(p, &next);
			shape[d] = s->size;
			at[d] = ix_num(l->p, 0);
			if (s->kind == PICK_SLICE)
				in = in_slice(l, s, i[s->dim], &at[d]);
			else if (s->kind == PICK_MASK)
				in = lower_load(l, &s->index, i + s->dim);
		}
		*hit = sx_both(l->p, *hit, in);
	}
	return 0;
}

int lower_setitem(struct lower *l)
{
	const struct ix *i[GRAPH_RANK], *at[GRAPH_RANK];
	const struct sx *hit;
	int64_t shape[GRAPH_RANK];
	struct view x, v, w;
	struct picks p;
	struct axes a;

	if (l->c->n < 3 || l->c->a[0].kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || lower_arg(l, 2, &v) ||
	    read_picks(l, &x, l->c->a[1], &p))
		return 1;
	if (!p.n_index && !p.n_mask)
		return set_part(l, &p, &v);
	if (p.rank_index > GRAPH_REDUCED)
		return 1;
	a = (struct axes){ .kept = x.rank, .n_red = p.rank_index };
	memcpy(a.size, x.size, sizeof a.size);
	memcpy(a.red, p.shape_index, sizeof a.red);
	lower_coords(l, x.rank, x.size, i);
	if (written(l, &x, &p, i, &hit, at, shape))
		return 1;
	while (v.rank > p.rank_out && v.size[0] == 1) {
		v.rank--;
		memmove(v.size, v.size + 1, (size_t)v.rank * sizeof v.size[0]);
		memmove(v.stride, v.stride + 1, (size_t)v.rank * sizeof v.stride[0]);
	}
	if (lower_expand(&v, p.rank_out, shape, &w))
		return 1;
	return lower_scatter_into(l, l->c->a[0], &a, LOWER_SET, hit, lower_load(l, &w, at));
}
