/* Values and their layout: see graph.h. */
#include "solve/graph.h"

struct value *graph_value(struct graph *g, int id)
{
	return &g->values.v[id];
}

int graph_choose(struct graph *g, int wanted)
{
	struct graph_choices *c = g->choices;

	if (!c)
		return wanted;
	if (c->next == c->n && vec_push(c, (signed char)wanted))
		longjmp(*g->pool->arena.trap, 1);
	return c->v[c->next++];
}

int graph_add(struct graph *g, const struct value *like)
{
	if (vec_push(&g->values, *like))
		longjmp(*g->pool->arena.trap, 1);
	return (int)g->values.n - 1;
}

const struct ix *graph_at(struct graph *g, int rank, const int64_t *stride, const struct ix *const *i)
{
	const struct ix *at = ix_num(g->pool, 0);

	for (int d = 0; d < rank; d++)
		at = ix_add(g->pool, at, ix_mul(g->pool, i[d], stride[d]));
	return at;
}

/* The layout is dense, so the dimension of the next larger stride ends where this one is full. */
void graph_coords(struct graph *g, const struct value *v, const struct ix *at, const struct ix **out)
{
	for (int d = 0; d < v->rank; d++) {
		const struct ix *q = v->size[d] <= 1 ? ix_num(g->pool, 0) : ix_div(g->pool, at, v->stride[d]);

		out[d] = v->size[d] <= 1 || (q->lo >= 0 && q->hi < v->size[d]) ? q : ix_mod(g->pool, q, v->size[d]);
	}
}

struct guard {
	struct graph *g;
	const struct sx *mask;
	int always;
};

static const struct sx *guard_load(void *ctx, const struct sx *old, const struct ix *at, const struct sx *mask)
{
	struct guard *g = ctx;
	struct expr_pool *p = g->g->pool;
	int64_t lo, hi;

	ix_bounds(at, &lo, &hi);
	if (!g->always && lo >= 0 && hi < graph_value(g->g, old->value)->numel)
		return NULL;
	return sx_load(p, old->value, old->dt, at, sx_both(p, g->mask, mask), mask ? old->num : 0.0);
}

const struct sx *graph_guard(struct graph *g, const struct sx *body, const struct ix *const *to, const struct sx *mask,
			     int always)
{
	struct guard guard = { .g = g, .mask = mask, .always = always };
	struct sx_rewrite r = { .to = to, .load = mask ? guard_load : NULL, .ctx = &guard };

	return sx_rebuild(g->pool, body, &r);
}
