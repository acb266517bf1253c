/* Lowering of operators that write where a tensor says: scatter, index_add, index_copy, index_fill. Each element
 * of the result asks which sources are for it: a reduction over the indices. So no two program instances write
 * one element, at the price of a comparison for each element and index. */
#include <math.h>

#include "solve/lower.h"

/* The position in a is the coordinates of the result, then the variables of the sources. */
static void all_vars(struct lower *l, const struct axes *a, const struct ix **to)
{
	for (int d = 0; d < a->kept; d++)
		to[d] = ix_var(l->p, d, a->size[d]);
	for (int d = 0; d < a->n_red; d++)
		to[a->kept + d] = ix_var(l->p, a->kept + d, a->red[d]);
}

/* The last source that hits wins, as it does in PyTorch on a CPU: its number plus one, or 0. */
static const struct sx *set_by_last(struct lower *l, const struct axes *a, const struct sx *hit, const struct sx *src,
				    const struct sx *old)
{
	const struct ix *to[GRAPH_VARS], *number = ix_num(l->p, 0), *at;
	const struct sx *last, *found;
	int64_t n = 1, inner = 1;
	int id;

	all_vars(l, a, to);
	for (int d = 0; d < a->n_red; d++) {
		number = ix_add(l->p, ix_mul(l->p, number, a->red[d]), to[a->kept + d]);
		n *= a->red[d];
	}
	last = sx_where(l->p, hit, sx_index(l->p, ix_addc(l->p, number, 1)), sx_num(l->p, 0.0, DT_I32));
	id = lower_temp_reduce(l, a, COMBINE_MAX, DT_I32, last);
	last = sx_load(l->p, id, DT_I32, graph_at(l->g, a->kept, graph_value(l->g, id)->stride, to), NULL, 0.0);
	found = sx_op2(l->p, SX_GT, last, sx_num(l->p, 0.0, DT_I32));
	if (sx_vars(src) >> a->kept) {
		/* never negative, because an index that is read at this place is not masked */
		at = ix_value(l->p, sx_op2(l->p, SX_MAX, sx_op2(l->p, SX_SUB, last, sx_num(l->p, 1.0, DT_I32)),
					   sx_num(l->p, 0.0, DT_I32)), 0, n - 1);
		for (int d = a->n_red; d-- > 0;) {
			to[a->kept + d] = ix_mod(l->p, ix_div(l->p, at, inner), a->red[d]);
			inner *= a->red[d];
		}
	}
	return sx_where(l->p, found, graph_guard(l->g, src, to, found, 1), old);
}

int lower_scatter_into(struct lower *l, struct val out, const struct axes *a, enum lower_write how,
		       const struct sx *hit, const struct sx *src)
{
	static const struct { enum combine combine; enum sx_op op; double neutral; } info[] = {
		[LOWER_SUM] = { COMBINE_SUM, SX_ADD, 0.0 }, [LOWER_PROD] = { COMBINE_PROD, SX_MUL, 1.0 },
		[LOWER_MAX] = { COMBINE_MAX, SX_MAX, -INFINITY }, [LOWER_MIN] = { COMBINE_MIN, SX_MIN, INFINITY },
	};
	const struct ix *to[GRAPH_VARS];
	const struct sx *old, *more;
	struct view x;
	enum dtype dt;
	int id;

	if (out.kind != V_TENSOR || lower_arg(l, 0, &x) || x.value < 0 || x.rank != a->kept)
		return 1;
	all_vars(l, a, to);
	dt = sx_dtype(x.dt);
	src = sx_cast(l->p, src, dt);
	old = lower_load(l, &x, to);
	if (how == LOWER_SET && !a->n_red)
		return lower_map(l, out, sx_where(l->p, hit, graph_guard(l->g, src, to, hit, 0), old));
	if (how == LOWER_SET)
		return lower_map(l, out, set_by_last(l, a, hit, src, old));
	if (!dtype_is_float(dt) && isinf(info[how].neutral))
		return 1;
	src = sx_where(l->p, hit, src, sx_num(l->p, info[how].neutral, dt));
	id = lower_temp_reduce(l, a, info[how].combine, dt, src);
	more = sx_load(l->p, id, dt, graph_at(l->g, a->kept, graph_value(l->g, id)->stride, to), NULL, 0.0);
	return lower_map(l, out, sx_op2(l->p, info[how].op, old, more));
}

/* out[.., index[.., k, ..], ..] = src[.., k, ..]; the source is in slot `from`, a tensor or a number. */
static int scatter(struct lower *l, enum lower_write how, size_t from)
{
	const struct ix *i[GRAPH_RANK];
	const struct sx *hit = NULL, *at;
	struct axes a = { .n_red = 1 };
	struct view x, k, src;
	int d;

	if (lower_arg(l, 0, &x) || lower_arg(l, 2, &k) || x.value < 0 || k.value < 0 || k.rank != x.rank || !x.rank ||
	    lower_arg(l, from, &src) || (d = lower_dim(l, 1, 0, x.rank)) < 0)
		return 1;
	a.kept = x.rank;
	memcpy(a.size, x.size, sizeof a.size);
	a.red[0] = k.size[d];
	for (int e = 0; e < x.rank; e++) {
		if (e == d) {
			i[e] = ix_var(l->p, x.rank, k.size[d]);
			continue;
		}
		i[e] = ix_var(l->p, e, x.size[e]);
		hit = sx_both(l->p, hit, sx_inside(l->p, i[e], 0, k.size[e]));
		i[e] = ix_within(l->p, i[e], k.size[e]);
	}
	at = lower_masked(l, &k, i, hit, -1.0);
	hit = sx_both(l->p, hit, sx_op2(l->p, SX_EQ, at, sx_cast(l->p, sx_index(l->p, ix_var(l->p, d, x.size[d])),
								  at->dt)));
	return lower_scatter_into(l, l->c->out, &a, how, hit,
				  src.value < 0 || !src.rank ? lower_load(l, &src, NULL) :
				  lower_masked(l, &src, i, hit, 0.0));
}

/* With reduce= ("add", "multiply") old values take part; value= is a number. */
int lower_scatter(struct lower *l)
{
	struct str how = lower_text(l, 4, "");

	return scatter(l, str_is(how, "add") ? LOWER_SUM : str_is(how, "multiply") ? LOWER_PROD : LOWER_SET,
		       lower_given(l, 3) ? 3 : 5);
}

int lower_scatter_add(struct lower *l)
{
	return scatter(l, LOWER_SUM, 3);
}

/* The prelude composes means, and reductions without the old values. */
int lower_scatter_reduce(struct lower *l)
{
	static const struct { const char *name; enum lower_write how; } known[] = {
		{ "sum", LOWER_SUM }, { "prod", LOWER_PROD }, { "amax", LOWER_MAX }, { "amin", LOWER_MIN },
	};

	for (size_t i = 0; i < COUNT_OF(known); i++)
		if (str_is(lower_text(l, 4, ""), known[i].name) && (!lower_given(l, 5) || lower_flag(l, 5)))
			return scatter(l, known[i].how, 3);
	return 1;
}

/* out[.., index[k], ..] = source[.., k, ..]; param: how the source is combined with the old values. */
int lower_index_write(struct lower *l)
{
	const struct ix *i[GRAPH_RANK], *r;
	const struct sx *hit, *from;
	struct axes a = { .n_red = 1 };
	struct view x, k, src;
	int d;

	if (lower_arg(l, 0, &x) || lower_arg(l, 2, &k) || lower_arg(l, 3, &src) || x.value < 0 || k.value < 0 ||
	    k.rank != 1 || !x.rank || (d = lower_dim(l, 1, 0, x.rank)) < 0)
		return 1;
	a.kept = x.rank;
	memcpy(a.size, x.size, sizeof a.size);
	a.red[0] = k.size[0];
	lower_coords(l, x.rank, x.size, i);
	r = ix_var(l->p, x.rank, k.size[0]);
	hit = lower_index(l, &k, &r, x.size[d]);
	hit = sx_op2(l->p, SX_EQ, hit, sx_cast(l->p, sx_index(l->p, i[d]), hit->dt));
	i[d] = r;
	if (src.value >= 0 && src.rank && src.rank != x.rank)
		return 1;
	from = lower_load(l, &src, i);
	if (lower_given(l, 4))
		from = sx_op2(l->p, SX_MUL, from, sx_num(l->p, lower_float(l, 4, 1.0), from->dt));
	return lower_scatter_into(l, l->c->out, &a, (enum lower_write)l->param, hit, from);
}
