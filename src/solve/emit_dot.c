/* The dot schedule: the first passes are sums of products, computed by tl.dot over tiles of rows, columns
 * and K; the other passes are maps over the same tiles. Convolutions are implicit products: rows are
 * positions of the result, columns are channels, K runs over input channels and the window. */
#include <stdio.h>

#include "solve/emit_impl.h"

/* Variables of the kernel: rows, columns, batch, and K as it lies in each operand. */
enum { DOT_M, DOT_N, DOT_B, DOT_KA, DOT_KB };

/* The side of a variable of X: rows are in the first factor (swap: in the second), columns in the other, the batch in
 * both. */
static int side_of(const struct sx *body, int x, int swap)
{
	int in_a = sx_vars(body->a[swap]) >> x & 1, in_b = sx_vars(body->a[!swap]) >> x & 1;

	return in_a == in_b ? DOT_B : in_a ? DOT_M : DOT_N;
}

static int is_along(void *ctx, const struct sx *load)
{
	const int *var = ctx;

	for (int i = 0; i < load->at->n; i++)
		if (load->at->t[i].kind == IX_VAR && load->at->t[i].var == *var && load->at->t[i].c == 1)
			return 1;
	return 0;
}

/* Tensor cores take tf32 of the second factor only along the sum; a compiler would transpose every tile of it. So the
 * factor that lies along the sum is the second one. */
static int wants_swap(const struct kernel *k)
{
	const struct pass *s = &k->pass[0];
	int last = k->n_x + s->n_r - 1;

	return sx_loads(s->body->a[0], is_along, &last) && !sx_loads(s->body->a[1], is_along, &last);
}

/* Whether pass i is a product of the same rows, columns and K as the first one, whose sides are known. */
static int is_product_too(const struct kernel *k, int i, const struct dot_axes *d)
{
	const struct sx *body = k->pass[i].body;
	int64_t n = 1;

	if (body->op != SX_MUL || body->dt != k->pass[0].body->dt)
		return 0;
	for (int r = 0; r < k->pass[i].n_r; r++)
		n *= k->pass[i].r[r];
	for (int x = 0; x < k->n_x; x++)
		if (side_of(body, x, d->swap) != d->side[x])
			return 0;
	return n == d->k && sx_vars(body->a[0]) >> k->n_x && sx_vars(body->a[1]) >> k->n_x;
}

int dot_split(const struct kernel *k, struct dot_axes *d)
{
	const struct pass *s = &k->pass[0];

	*d = (struct dot_axes){ .m = 1, .n = 1, .batch = 1, .k = 1, .products = 1 };
	if (!s->is_reduce || s->body->op != SX_MUL || !dtype_is_float(s->body->dt) || s->body->dt == DT_F64)
		return 0;
	d->swap = wants_swap(k);
	for (int i = 0; i < k->n_x; i++) {
		d->side[i] = side_of(s->body, i, d->swap);
		*(d->side[i] == DOT_B ? &d->batch : d->side[i] == DOT_M ? &d->m : &d->n) *= k->x[i];
	}
	for (int i = 0; i < s->n_r; i++)
		d->k *= s->r[i];
	while (d->products < k->n_passes && k->pass[d->products].is_reduce)
		if (!is_product_too(k, d->products++, d))
			return 0;
	for (int i = d->products; i < k->n_passes; i++)
		if (k->pass[i].n_r || k->pass[i].is_reduce)
			return 0;
	return sx_vars(s->body->a[0]) >> k->n_x && sx_vars(s->body->a[1]) >> k->n_x && d->m > 1 && d->n > 1;
}

/* The variables of X on one side, as one flat variable. */
static void flatten_side(struct emitter *pr, const struct dot_axes *d, int side, int64_t all, const struct ix **to)
{
	int64_t inner = 1;

	for (int i = pr->k->n_x; i-- > 0;) {
		if (d->side[i] != side)
			continue;
		to[i] = ix_mod(pr->p, ix_div(pr->p, ix_var(pr->p, side, all), inner), pr->k->x[i]);
		inner *= pr->k->x[i];
	}
}

static void bind_tile(struct emitter *pr, int var, const char *name, int level, int64_t n, int block)
{
	pr->var[var] = name;
	pr->var_level[var] = level;
	pr->mask[var] = n % block || pr->s.general > 1 ? arena_printf(pr->a, "(%s < %lld)", name, (long long)n) : NULL;
	pr->tile |= (uint64_t)1 << var;
}

/* An operand as a tile. Outside of K it is zero: a load is by its mask, other elements by tl.where. */
static const char *operand(struct emitter *pr, const struct sx *x, int k)
{
	const char *s;

	emitter_count(pr, x);
	s = emit_sx(pr, x).s;
	return !pr->mask[k] || x->op == SX_LOAD ? s : arena_printf(pr->a, "tl.where(%s, %s, 0.0)", pr->mask[k], s);
}

/* All products in one loop: a tile of a factor that several of them read is loaded once. */
static void product_passes(struct emitter *pr, const struct dot_axes *d, const struct ix **to)
{
	for (int i = 0; i < d->products; i++) {
		pr->reduced[i] = d->products > 1 ? emitter_name(pr, "acc") : "acc";
		emitter_line(pr, 0, "%s = tl.zeros([BM, BN], dtype=tl.float32)", pr->reduced[i]);
	}
	emitter_line(pr, 1, "ka = (start + tl.arange(0, BK))[None, :]");
	emitter_line(pr, 1, "kb = (start + tl.arange(0, BK))[:, None]");
	for (int i = 0; i < d->products; i++) {
		const struct pass *s = &pr->k->pass[i];
		const struct ix *tb[GRAPH_VARS];
		const char *a, *b;

		memcpy(tb, to, sizeof tb);
		flatten_vars(pr, pr->k->n_x, s->n_r, s->r, DOT_KA, to);
		flatten_vars(pr, pr->k->n_x, s->n_r, s->r, DOT_KB, tb);
		a = operand(pr, sx_rebuild(pr->p, s->body->a[d->swap], &(struct sx_rewrite){ .to = to }), DOT_KA);
		b = operand(pr, sx_rebuild(pr->p, s->body->a[!d->swap], &(struct sx_rewrite){ .to = tb }), DOT_KB);
		emitter_line(pr, 1, "%s += tl.dot(%s, %s, input_precision=\"%s\")", pr->reduced[i], a, b,
			     pr->s.precision);
	}
	buf_addstr(&pr->out, buf_str(&pr->level[0]));
	buf_addf(&pr->out, "    for start in range(0, %lld, BK):\n", (long long)d->k);
	buf_addstr(&pr->out, buf_str(&pr->level[1]));
	buf_clear(&pr->level[0]);
	buf_clear(&pr->level[1]);
	emitter_leave(pr);
}

int emit_dot(struct emitter *pr)
{
	const struct ix *to[GRAPH_VARS];
	struct dot_axes d;

	if (!dot_split(pr->k, &d))
		return 1;
	bind_tile(pr, DOT_M, "offs_m", 0, d.m, pr->s.bm);
	if (pr->s.general)
		pr->mask[DOT_M] = arena_printf(pr->a, "(offs_m < %lld)", (long long)d.m);
	bind_tile(pr, DOT_N, "offs_n", 0, d.n, pr->s.bn);
	bind_tile(pr, DOT_KA, "ka", 1, d.k, pr->s.bk);
	bind_tile(pr, DOT_KB, "kb", 1, d.k, pr->s.bk);
	pr->var[DOT_B] = "batch";
	pr->var[GRAPH_INSTANCE] = "(tl.program_id(0) + tl.program_id(1) + tl.program_id(2))";
	emitter_line(pr, 0, "offs_m = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]");
	emitter_line(pr, 0, "offs_n = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]");
	if (d.batch > 1)
		emitter_line(pr, 0, "batch = tl.program_id(2)");
	flatten_vars(pr, 0, 0, NULL, 0, to);
	flatten_side(pr, &d, DOT_M, d.m, to);
	flatten_side(pr, &d, DOT_N, d.n, to);
	flatten_side(pr, &d, DOT_B, d.batch, to);
	product_passes(pr, &d, to);
	for (int n = 0; n < pr->k->n_passes; n++) {
		const struct pass *s = &pr->k->pass[n];
		struct pass flat = *s;
		int is_map = n >= d.products;
		const char *value = pr->reduced[n];

		flat.at = ix_replace(pr->p, s->at, to);
		if (is_map) {
			flat.body = sx_rebuild(pr->p, s->body, &(struct sx_rewrite){ .to = to });
			emitter_count(pr, flat.body);
			value = emit_sx(pr, flat.body).s;
		}
		if (is_map && !s->only && s->store) {
			pr->reduced[n] = emitter_name(pr, "y");
			emitter_line(pr, 0, "%s = %s", pr->reduced[n], value);
			value = pr->reduced[n];
		}
		if (s->store)
			emit_store(pr, &flat, flat.at, value, 0);
	}
	buf_addstr(&pr->out, buf_str(&pr->level[0]));
	snprintf(pr->to->grid, sizeof pr->to->grid, "(triton.cdiv(%lld, %d), triton.cdiv(%lld, %d), %lld)",
		 (long long)d.m, pr->s.bm, (long long)d.n, pr->s.bn, (long long)d.batch);
	snprintf(pr->to->consts, sizeof pr->to->consts, ", BM=%d, BN=%d, BK=%d", pr->s.bm, pr->s.bn, pr->s.bk);
	return 0;
}
