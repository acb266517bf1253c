/* Products whose sums are taken in parts. A product with few rows and columns and a long K keeps few
 * multiprocessors busy: 256 rows by 256 columns are 16 tiles of 64 x 64, each with a long loop. Part s of S sums
 * its own stretch of K; a further reduction adds the parts, with the bias and activation that follow. */
#include "solve/lower.h"

/* A GPU has about WANTED multiprocessors. A part has at least PART_LEAST terms. A loop over LONG terms takes longer
 * than a further launch. */
enum { WANTED = 128, PART_LEAST = 256, PARTS_MOST = 16, LONG = 4096, TILE = 64 };

/* The number of parts that suits the sizes of a product; 1: none. */
static int parts_wanted(const struct value *v)
{
	uint64_t a = sx_vars(v->body->a[0]), b = sx_vars(v->body->a[1]);
	int64_t m = 1, n = 1, batch = 1, k = 1, tiles, parts = 1;

	for (int d = 0; d < v->rank; d++) {
		int in_a = a >> d & 1, in_b = b >> d & 1;

		*(in_a == in_b ? &batch : in_a ? &m : &n) *= v->size[d];
	}
	for (int d = 0; d < v->n_red; d++)
		k *= v->red[d];
	if (m <= 1 || n <= 1 || m * n * k * batch < GRAPH_DOT_LEAST)
		return 1;
	tiles = (m + TILE - 1) / TILE * ((n + TILE - 1) / TILE) * batch;
	while (parts < PARTS_MOST && tiles * parts < WANTED && v->red[0] % (2 * parts) == 0 &&
	       k / (2 * parts) >= PART_LEAST)
		parts *= 2;
	return (int)parts;
}

int lower_split_product(struct lower *l, struct value *v)
{
	const struct ix *to[GRAPH_VARS], *i[GRAPH_RANK];
	struct value part = *v;
	int64_t parts = 1, numel = 1, k = 1;
	int id;

	if (v->kind != VALUE_REDUCE || v->body->op != SX_MUL || v->rank + 1 > GRAPH_RANK || !dtype_is_float(v->dt) ||
	    v->how != COMBINE_SUM)
		return 0;
	parts = graph_choose(l->g, parts_wanted(v));
	if (parts <= 1 || v->red[0] % parts)
		return 0;
	l->g->may_split = 1;
	for (int d = 0; d < v->n_red; d++)
		k *= v->red[d];
	if (!l->g->split && k < LONG)
		return 0;
	for (int d = 0; d < v->rank; d++)
		numel *= v->size[d];
	tensor_dense_strides(v->rank, v->size, part.stride);
	part.size[part.rank] = parts;
	part.stride[part.rank++] = numel;
	part.numel = numel * parts;
	part.red[0] /= parts;
	part.dt = sx_dtype(v->dt);
	part.op = l->c->name;
	part.name = l->name;
	part.into = part.rank_out = -1;
	part.tf32 = l->c->tf32 != 0;
	lower_coords(l, v->rank, v->size, to);
	for (int d = 0; d < v->n_red; d++)
		to[v->rank + d] = ix_var(l->p, part.rank + d, part.red[d]);
	to[v->rank] = ix_add(l->p, ix_mul(l->p, ix_var(l->p, v->rank, parts), part.red[0]), to[v->rank]);
	part.body = sx_rebuild(l->p, v->body, &(struct sx_rewrite){ .to = to });
	id = graph_add(l->g, &part);
	lower_coords(l, part.rank, part.size, i);
	v->n_red = 1;
	v->red[0] = parts;
	v->in_parts = 1;
	v->body = sx_load(l->p, id, part.dt, graph_at(l->g, part.rank, part.stride, i), NULL, 0.0);
	return 1;
}
