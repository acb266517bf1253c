/* The rows schedule: one instance for one x or for a tile of them; a tile runs over R. If R fits one tile, all passes
 * share what they load; else every pass loops over tiles. With several rows, row is a column of the tile, [XB, 1], so
 * that what belongs to a row combines with all of it. */
#include <stdio.h>

#include "solve/emit_impl.h"

/* The variable of a pass's R: passes of one size share it where there are no loops. */
struct row_tile {
	int64_t n;                /* elements */
	int var, loop;
	int block;
};

static int64_t count_r(const struct pass *s)
{
	int64_t n = 1;

	for (int i = 0; i < s->n_r; i++)
		n *= s->r[i];
	return n;
}

/* The shape of a tile of one or several rows. */
static const char *shape_of(struct emitter *pr, int block)
{
	return pr->s.xb > 1 ? arena_printf(pr->a, "[%d, %d]", pr->s.xb, block) : arena_printf(pr->a, "[%d]", block);
}

static const char *axis(const struct emitter *pr)
{
	return pr->s.xb > 1 ? "axis=1, keep_dims=True" : "axis=0";
}

static int64_t pow2(int64_t n)
{
	int64_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* Variable 1 + k is the tile of the k-th size of R. The first use of a size defines it. */
static struct row_tile tile_of(struct emitter *pr, const struct pass *s, int64_t *sizes, int *n_sizes)
{
	struct row_tile t = { .n = count_r(s) };
	int k = 0;

	while (k < *n_sizes && sizes[k] != t.n)
		k++;
	t.var = 1 + k;
	t.loop = t.n > pr->s.rb || pr->s.general;
	t.block = pr->s.general ? pr->s.rb : (int)MIN(pow2(t.n), pr->s.rb);
	if (k < *n_sizes && !t.loop)
		return t;
	if (k == *n_sizes)
		sizes[(*n_sizes)++] = t.n;
	pr->var[t.var] = arena_printf(pr->a, k ? "cols%d" : "cols", k);
	pr->mask[t.var] = t.n % t.block || pr->s.general ? arena_printf(pr->a, k ? "mask%d" : "mask", k) : NULL;
	pr->var_level[t.var] = t.loop;
	if (pr->s.xb > 1)
		emitter_line(pr, t.loop, "%s = (%stl.arange(0, %d))[None, :]", pr->var[t.var],
			     t.loop ? "start + " : "", t.block);
	else
		emitter_line(pr, t.loop, "%s = %stl.arange(0, %d)", pr->var[t.var], t.loop ? "start + " : "", t.block);
	if (pr->mask[t.var])
		emitter_line(pr, t.loop, "%s = %s < %lld", pr->mask[t.var], pr->var[t.var], (long long)t.n);
	return t;
}

/* The term of a reduction, neutral outside of R. */
static const char *masked_term(struct emitter *pr, const struct sx *body, enum combine how, const struct row_tile *t)
{
	const char *term = emit_sx(pr, body).s, *mask = pr->mask[t->var];

	if (!(sx_vars(body) >> t->var & 1))
		term = arena_printf(pr->a, "tl.full(%s, 1, %s) * (%s)", shape_of(pr, t->block), emit_dtype(body->dt),
				    term);
	if (!mask || (body->op == SX_LOAD && how == COMBINE_SUM && sx_vars(body) >> t->var & 1))
		return term;
	return arena_printf(pr->a, "tl.where(%s, %s, %s)", mask, term, reduce_neutral(how, body->dt));
}

/* Ends a pass: statements before its loop, then the loop. */
static void close_pass(struct emitter *pr, const struct row_tile *t)
{
	buf_addstr(&pr->out, buf_str(&pr->level[0]));
	buf_clear(&pr->level[0]);
	if (t->loop) {
		buf_pad(&pr->out, ' ', (size_t)pr->indent);
		buf_addf(&pr->out, "for start in range(0, %lld, %d):\n", (long long)t->n, t->block);
		buf_addstr(&pr->out, buf_str(&pr->level[1]));
		buf_clear(&pr->level[1]);
	}
	emitter_leave(pr);
}

/* The part of a reduction in its loop, or all of it without one. Returns its name. */
static const char *add_terms(struct emitter *pr, const struct pass *s, const struct row_tile *t)
{
	enum combine how = graph_value(pr->g, s->value)->how;
	const char *acc = emitter_name(pr, "acc");

	if (!t->loop) {
		emitter_line(pr, 0, "%s = %s(%s, %s)", acc, reduce_tile(how), masked_term(pr, s->body, how, t),
			     axis(pr));
		return acc;
	}
	emitter_line(pr, 0, "%s = tl.full(%s, %s, %s)", acc, shape_of(pr, t->block),
		     reduce_neutral(how, s->body->dt), emit_dtype(s->body->dt));
	reduce_serial(pr, s, acc, masked_term(pr, s->body, how, t), "0", 1);
	return acc;
}

/* Reductions first .. end - 1, in one loop. */
static void reduce_passes(struct emitter *pr, const struct pass *flat, int first, int end, const struct row_tile *t)
{
	const char *acc[CUT_PASSES];

	for (int n = first; n < end; n++)
		acc[n] = add_terms(pr, &flat[n], t);
	close_pass(pr, t);
	for (int n = first; n < end; n++) {
		if (t->loop)
			emitter_line(pr, 0, "%s = %s(%s, %s)", acc[n],
				     reduce_tile(graph_value(pr->g, flat[n].value)->how), acc[n], axis(pr));
		pr->reduced[n] = acc[n];
		if (flat[n].store)
			emit_store(pr, &flat[n], flat[n].at, acc[n], 0);
	}
}

/* A single element of a row is known to later passes. */
static void map_pass(struct emitter *pr, const struct pass *s, int n, const struct row_tile *t)
{
	const char *value = emit_sx(pr, s->body).s;

	if (!s->n_r && !s->only && s->store) {
		pr->reduced[n] = emitter_name(pr, "y");
		emitter_line(pr, 0, "%s = %s", pr->reduced[n], value);
		value = pr->reduced[n];
	}
	if (s->store)
		emit_store(pr, s, s->at, value, t->loop);
	close_pass(pr, t);
}

/* A tile of a scan: what came before it is carried over, and the last element of the tile is carried on. Elements
 * behind the row do not matter, since they come last. */
static void scan_pass(struct emitter *pr, const struct pass *s, const struct row_tile *t)
{
	int product = graph_value(pr->g, s->value)->how == COMBINE_PROD;
	const char *term = emit_sx(pr, s->body).s, *y = emitter_name(pr, "y");

	if (!(sx_vars(s->body) >> t->var & 1))
		term = arena_printf(pr->a, "tl.full(%s, 1, %s) * (%s)", shape_of(pr, t->block), emit_dtype(s->body->dt),
				    term);
	if (t->loop)
		emitter_line(pr, 0, "carry = tl.full(%s, %d, %s)", pr->s.xb > 1 ? shape_of(pr, 1) : "[1]", product,
			     emit_dtype(s->body->dt));
	emitter_line(pr, t->loop, "%s = %stl.%s(%s, axis=%d)", y, !t->loop ? "" : product ? "carry * " : "carry + ",
		     product ? "cumprod" : "cumsum", term, pr->s.xb > 1);
	emit_store(pr, s, s->at, y, t->loop);
	if (t->loop)
		emitter_line(pr, 1, "carry = tl.sum(tl.where(%s == start + %d, %s, 0), axis=%d, keep_dims=True)",
			     pr->var[t->var], t->block - 1, y, pr->s.xb > 1);
	close_pass(pr, t);
}

struct run { const struct kernel *k; int first, end; };

static int reads_run(void *ctx, const struct sx *load)
{
	const struct run *r = ctx;

	for (int n = r->first; n < r->end; n++)
		if (r->k->pass[n].value == load->value)
			return 1;
	return 0;
}

/* The end of the reductions from pass n on that have one length and do not read each other: they share a loop. */
static int run_end(const struct kernel *k, int n)
{
	struct run r = { .k = k, .first = n, .end = n + 1 };

	while (r.end < k->n_passes && k->pass[n].is_reduce && k->pass[r.end].is_reduce && k->pass[n].n_r &&
	       k->pass[r.end].n_r && count_r(&k->pass[r.end]) == count_r(&k->pass[n]) &&
	       !sx_loads(k->pass[r.end].body, reads_run, &r))
		r.end++;
	return r.end;
}

static void begin_rows(struct emitter *pr, int64_t all)
{
	pr->var[0] = "row";
	if (pr->s.xb == 1) {
		emitter_line(pr, 0, "row = tl.program_id(0)");
		return;
	}
	emitter_line(pr, 0, "row = (tl.program_id(0) * %d + tl.arange(0, %d))[:, None]", pr->s.xb, pr->s.xb);
	if (all % pr->s.xb || pr->s.general)
		pr->mask[0] = arena_printf(pr->a, "(row < %lld)", (long long)all);
	pr->tile = 1;
}

int emit_rows(struct emitter *pr)
{
	int64_t all = 1, sizes[CUT_PASSES];
	struct pass flat[CUT_PASSES];
	int n_sizes = 0;

	for (int i = 0; i < pr->k->n_x; i++)
		all *= pr->k->x[i];
	begin_rows(pr, all);
	for (int n = 0, end; n < pr->k->n_passes; n = end) {
		const struct pass *s = &pr->k->pass[n];
		struct row_tile t = { .n = 1 };

		end = run_end(pr->k, n);
		if (s->n_r) {
			t = tile_of(pr, s, sizes, &n_sizes);
			pr->tile = (uint64_t)1 << t.var | (pr->s.xb > 1);
		}
		for (int i = n; i < end; i++) {
			const struct ix *to[GRAPH_VARS];

			flat[i] = pr->k->pass[i];
			flatten_vars(pr, 0, pr->k->n_x, pr->k->x, 0, to);
			if (s->n_r)
				flatten_vars(pr, pr->k->n_x, flat[i].n_r, flat[i].r, t.var, to);
			flat[i].body = sx_rebuild(pr->p, flat[i].body, &(struct sx_rewrite){ .to = to });
			flat[i].at = ix_replace(pr->p, flat[i].at, to);
			emitter_count(pr, flat[i].body);
		}
		if (s->is_reduce)
			reduce_passes(pr, flat, n, end, &t);
		else if (s->is_scan)
			scan_pass(pr, &flat[n], &t);
		else
			map_pass(pr, &flat[n], n, &t);
	}
	buf_addstr(&pr->out, buf_str(&pr->level[0]));
	if (pr->s.xb > 1)
		snprintf(pr->to->grid, sizeof pr->to->grid, "(triton.cdiv(%lld, %d),)", (long long)all, pr->s.xb);
	else
		snprintf(pr->to->grid, sizeof pr->to->grid, "(%lld,)", (long long)all);
	return 0;
}
