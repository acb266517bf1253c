/* Drawing compositions: which operators, in which order, with which windows and axes.
 *
 * Invariant: in a chain every step changes its input's values. The draw keeps a small summary of
 * the values so far (can they be negative, are they bounded, has something grown already) and
 * takes only operators that fit it; a task in which a step is invisible teaches nothing. */
#include "gen/draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

static const struct gen_op ops[] = {
#define GEN_OP(id, fam, fl, k0, k1, th, tr) { .name = #id, .family = fam, .flags = fl, .c0 = k0, .c1 = k1, .torch = th, .triton = tr },
#include "gen/gen_op.def"
#undef GEN_OP
};

const struct gen_op *gen_op(enum gen_op_id id)
{
	return &ops[id];
}

int gen_chance(struct gen_draw *d, int percent)
{
	return (int)rng_below(d->r, 100) < percent;
}

int64_t gen_pick(struct gen_draw *d, const int *choices)
{
	size_t n = 0;

	while (choices[n])
		n++;
	return choices[rng_below(d->r, n)];
}

/* Whether nothing would be seen of the input behind the operator. */
static int hides(const struct gen_values *v, const struct gen_op *op)
{
	return v->high && op->flags & (GEN_BOUNDS | GEN_NEEDS_CENTER);
}

static int fits(const struct gen_draw *d, const struct gen_op *op)
{
	const struct gen_values *v = &d->v;

	return !((op->flags & GEN_WANTS_NEG && !v->negative) || (op->flags & GEN_WANTS_BOUND && !v->bounded) ||
		 (op->flags & GEN_WANTS_FREE && v->bounded) || (op->flags & GEN_NEEDS_CENTER && v->off) ||
		 (!(op->flags & GEN_LINEAR) && op->family <= GEN_KEPT && v->far) ||
		 (op->flags & GEN_GROWS && v->grown) || (op->flags & GEN_FLAT && v->small) ||
		 op->flags & GEN_ALONE || hides(v, op) ||
		 (op->family == GEN_VECTOR && d->feature < 0) ||
		 (op->family == GEN_TENSOR && (d->second_inputs >= GEN_SECOND || d->sized)) ||
		 (op == gen_op(GEN_OP_dropout) && (v->dropped || v->batch_normed)));
}

static void note_values(struct gen_values *v, const struct gen_op *op)
{
	if (op == gen_op(GEN_OP_keep) || op == gen_op(GEN_OP_dropout)) {
		v->dropped |= op == gen_op(GEN_OP_dropout);
		return;
	}
	if (op->flags & GEN_MAKES_POS)
		v->negative = 0;
	else if (!(op->flags & GEN_KEEPS_SIGN) && op->family != GEN_REDUCE && op->family != GEN_POOL)
		v->negative = 1;
	v->bounded = (op->flags & GEN_BOUNDS) != 0;
	if (op->family == GEN_NORM || op->family == GEN_BATCH || op->family == GEN_GEMM || op->family == GEN_CONV)
		v->off = v->far = 0;
	if (op->family == GEN_NORM || op->family == GEN_BATCH) {
		v->normed = 1;
		v->small = (op->flags & GEN_SMALL) != 0;
	} else if (!(op->flags & GEN_LINEAR) || op->family == GEN_VECTOR || op->family == GEN_TENSOR) {
		v->normed = 0;
	}
	v->off |= (op->flags & (GEN_SHIFTS | GEN_FAR)) != 0;
	v->far |= (op->flags & GEN_FAR) != 0;
	v->grown |= (op->flags & GEN_GROWS) != 0;
	v->batch_normed |= op->family == GEN_BATCH;
}

static int is_op(const struct gen_op *op, enum gen_op_id id)
{
	return op == gen_op(id);
}

/* Which ends of the values are bounds behind the operator. What may turn values round makes one end both. */
static int clips(int before, const struct gen_op *op)
{
	static const struct { enum gen_op_id op; int ends; } ends[] = {
		{ GEN_OP_clamp, GEN_LOW | GEN_HIGH }, { GEN_OP_hardtanh, GEN_LOW | GEN_HIGH }, { GEN_OP_hardtanh_const, GEN_LOW | GEN_HIGH },
		{ GEN_OP_hardsigmoid, GEN_LOW | GEN_HIGH }, { GEN_OP_relu6, GEN_LOW | GEN_HIGH }, { GEN_OP_relu, GEN_LOW }, { GEN_OP_clamp_min, GEN_LOW },
		{ GEN_OP_max_const, GEN_LOW }, { GEN_OP_threshold, GEN_LOW }, { GEN_OP_relu_squared, GEN_LOW }, { GEN_OP_clamp_max, GEN_HIGH },
		{ GEN_OP_min_const, GEN_HIGH }, { GEN_OP_sub_max, GEN_HIGH },
	};

	for (size_t i = 0; i < COUNT_OF(ends); i++)
		if (is_op(op, ends[i].op))
			return before | ends[i].ends;
	if (op->family == GEN_NORM && op->flags & GEN_KEEPS_SIGN)
		return before;
	if (op->family > GEN_KEPT)
		return op->family == GEN_REDUCE && !is_op(op, GEN_OP_mean) && !is_op(op, GEN_OP_global_avg_pool) ? before : 0;
	return before && (op->family > GEN_CONST || !(op->flags & GEN_LINEAR) || op->flags & GEN_MAKES_POS || is_op(op, GEN_OP_neg) ||
			  is_op(op, GEN_OP_rsub_const)) ?
	       GEN_LOW | GEN_HIGH : before;
}

/* What varied chains need beside that: they are long, and more of them end flat. */
static void note_varied(struct gen_values *v, const struct gen_op *op)
{
	int fresh = op->family == GEN_NORM || op->family == GEN_BATCH || op->family == GEN_GEMM || op->family == GEN_CONV;

	if (fresh)
		v->high = v->drowned = 0;      /* but what a product makes of small values is small */
	v->clipped = clips(v->clipped, op);
	v->jumped = is_op(op, GEN_OP_threshold) || (v->jumped && !fresh);
	v->drowned |= v->small && op->family == GEN_VECTOR;
	v->small |= is_op(op, GEN_OP_mean) || is_op(op, GEN_OP_global_avg_pool) || is_op(op, GEN_OP_tanhshrink) || is_op(op, GEN_OP_var);
	v->off |= is_op(op, GEN_OP_rsqrt1p) || is_op(op, GEN_OP_cos) || is_op(op, GEN_OP_sigmoid) || is_op(op, GEN_OP_hardsigmoid) ||
		  is_op(op, GEN_OP_gaussian);
	v->high |= is_op(op, GEN_OP_logsumexp) || is_op(op, GEN_OP_sum_square) || is_op(op, GEN_OP_norm2) ||
		   (v->drowned && (is_op(op, GEN_OP_amax) || is_op(op, GEN_OP_amin) || is_op(op, GEN_OP_global_max_pool)));
}

/* One of "a|b|c" as text. */
static void pick_constant(struct rng *r, const char *choices, char out[12])
{
	struct str rest = str_of(choices), c = { .p = "", .n = 0 };
	size_t n = 1, at;

	for (size_t i = 0; i < rest.n; i++)
		n += rest.p[i] == '|';
	at = rng_below(r, n);
	for (size_t i = 0; i <= at; i++)
		c = str_cut(&rest, '|');
	memcpy(out, c.p, MIN(c.n, (size_t)11));
	out[MIN(c.n, (size_t)11)] = 0;
}

/* Now and then another number of the same sign and size, or the same one written otherwise. Powers of ten stay. */
static void vary_constant(struct rng *r, char out[12])
{
	double v = strtod(out, NULL);

	if (strchr(out, 'e') || v == 0 || rng_below(r, 100) < 55)
		return;
	if (rng_below(r, 100) < 12 && v == (int)v)
		snprintf(out, 12, rng_below(r, 2) ? "%d." : "%d", (int)v);
	else
		snprintf(out, 12, "%.*f", fabs(v) < 0.1 ? 3 : (int)rng_between(r, 1, 2), v * (0.8 + 0.1 * (double)rng_below(r, 6)));
}

static size_t count_forms(const char *const *forms, int plain)
{
	size_t n = 0;

	while (forms[n] && !(plain && forms[n][0] == '%'))
		n++;
	return n;
}

/* The larger or smaller of a value and a parameter: one number for all may be the result everywhere. */
static int is_bound(const struct gen_op *op)
{
	return is_op(op, GEN_OP_max_vec) || is_op(op, GEN_OP_min_vec);
}

/* Bounds that people like: from zero, to zero where values are below it, to one; as whole numbers too. Behind them values lie off zero. */
static void usual_bounds(struct gen_draw *d, struct gen_step *s, int negative)
{
	static const struct { enum gen_op_id op; const char *c[2]; } usual[] = {
		{ GEN_OP_clamp, { "0.0", "1.0" } }, { GEN_OP_clamp, { "-1", "1" } }, { GEN_OP_clamp, { "0", "1" } }, { GEN_OP_clamp, { "-1.0", "1.0" } },
		{ GEN_OP_hardtanh_const, { "-1", "1" } }, { GEN_OP_hardtanh_const, { "-1.0", "1.0" } }, { GEN_OP_hardtanh_const, { "0.0", "1.0" } },
		{ GEN_OP_hardtanh_const, { "-2", "2" } }, { GEN_OP_min_const, { "0.0" } }, { GEN_OP_min_const, { "0" } }, { GEN_OP_max_const, { "0.0" } },
		{ GEN_OP_clamp_min, { "0.0" } }, { GEN_OP_clamp_min, { "0" } }, { GEN_OP_clamp_min, { "-1" } }, { GEN_OP_clamp_max, { "1" } },
	};
	size_t at = rng_below(d->r, COUNT_OF(usual));

	if (!gen_chance(d, 40) || (s->op == GEN_OP_min_const && !negative))
		return;
	for (size_t i = 0; i < COUNT_OF(usual); i++, at = (at + 1) % COUNT_OF(usual))
		if (usual[at].op == s->op) {
			for (int c = 0; c < 2 && usual[at].c[c]; c++)
				snprintf(s->c[c], sizeof s->c[c], "%s", usual[at].c[c]);
			if (s->c[0][0] != '-' && s->c[1][0])
				d->v.negative = 0, d->v.off = 1;
			return;
		}
}

struct gen_step *gen_push(struct gen_draw *d, enum gen_op_id id)
{
	const struct gen_op *op = gen_op(id);
	struct gen_step *s = &d->p->step[d->p->n++];
	int negative = d->v.negative;

	*s = (struct gen_step){ .op = id, .in = d->shape, .groups = 1, .bias = 1 };
	s->form = (int)rng_below(d->r, count_forms(op->torch, d->p->plain));
	if (op->family <= GEN_KEPT)
		s->tile_form = (int)rng_below(d->r, count_forms(op->triton, 0));
	if (op->c0)
		pick_constant(d->r, op->c0, s->c[0]);
	if (op->c1)
		pick_constant(d->r, op->c1, s->c[1]);
	for (int c = 0; c < 2 && !d->p->plain; c++)
		if (s->c[c][0])
			vary_constant(d->r, s->c[c]);
	s->attr = gen_chance(d, 40);
	s->axis = op->family == GEN_VECTOR ? (gen_chance(d, 15) && !(is_bound(op) && !d->p->plain) ? -1 : d->feature) : 0;
	d->second_inputs += op->family == GEN_TENSOR || op->family == GEN_LOSS;
	note_values(&d->v, op);
	if (!d->p->plain) {
		note_varied(&d->v, op);
		usual_bounds(d, s, negative);
	}
	d->v.off |= op->family == GEN_VECTOR && s->axis < 0;     /* one number for all */
	return s;
}

void gen_pushed(struct gen_draw *d, struct gen_step *s)
{
	gen_step_shape(s);
	d->shape = s->shape;
}

/* Whether the operator may follow itself: where the second time still changes something. */
static int repeats(struct gen_draw *d, const struct gen_op *op)
{
	return !d->p->plain && op->family <= GEN_CONST &&
	       !(op->flags & (GEN_WANTS_NEG | GEN_WANTS_FREE | GEN_NEEDS_CENTER | GEN_GROWS | GEN_FLAT)) && gen_chance(d, 30);
}

int gen_push_family(struct gen_draw *d, unsigned families)
{
	enum gen_op_id fit[GEN_OPS];
	size_t n = 0;

	if (d->p->n >= GEN_STEPS)
		return 0;
	for (int i = 0; i < (d->p->plain ? (int)GEN_PLAIN_OPS : (int)GEN_OPS); i++)
		if (families >> gen_op(i)->family & 1 && fits(d, gen_op(i)) &&
		    !(d->p->n && d->p->step[d->p->n - 1].op == (enum gen_op_id)i && !repeats(d, gen_op(i))))
			fit[n++] = (enum gen_op_id)i;
	if (!n)
		return 0;
	gen_pushed(d, gen_push(d, fit[rng_below(d->r, n)]));
	return 1;
}

void gen_push_pointwise(struct gen_draw *d, int lo, int hi)
{
	int n = (int)rng_between(d->r, lo, hi);

	while (n-- > 0) {
		int roll = (int)rng_below(d->r, 100);

		gen_push_family(d, roll < 48 ? GEN_FAM(GEN_UNARY) : roll < 72 || d->feature < 0 ? GEN_FAM(GEN_CONST) :
				roll < 90 ? GEN_FAM(GEN_VECTOR) : GEN_FAM(GEN_TENSOR) | GEN_FAM(GEN_VECTOR));
	}
}

/* Whether the steps from `from` on may make x a constant less x, so that x added to it leaves the constant. In a varied chain any
 * other step may leave the values as they are: dropout does, and a bound that none of them reaches. */
static int negates(const struct gen_plan *p, int from)
{
	int negative = 0;

	for (int i = from; i < p->n; i++)
		switch (p->step[i].op) {
		case GEN_OP_neg:
		case GEN_OP_rsub_const:
			negative = !negative;
			break;
		case GEN_OP_add_const:
		case GEN_OP_sub_const:
			break;
		default:
			if (p->plain)
				return 0;
		}
	return negative;
}

/* A residual: the value is kept, something is done, the kept value comes back. */
static void push_kept(struct gen_draw *d)
{
	int from = d->p->n + 1;

	if (d->p->n + 4 > GEN_STEPS || d->v.kept)
		return;
	d->v.kept = 1;
	gen_pushed(d, gen_push(d, GEN_OP_keep));
	gen_push_pointwise(d, 1, 2);
	for (int i = gen_chance(d, 25); i >= 0; i--)
		if (d->p->n < GEN_STEPS)
			gen_pushed(d, gen_push(d, gen_chance(d, 50) || negates(d->p, from) ? GEN_OP_mul_kept : GEN_OP_add_kept));
	if (!d->p->plain && d->p->n < GEN_STEPS && gen_chance(d, 25) && !negates(d->p, from))
		gen_pushed(d, gen_push(d, GEN_OP_add_kept));
}

/* A residual around a norm: the kept value comes back in the norm's kernel. */
static void push_far_kept(struct gen_draw *d)
{
	struct gen_values before = d->v;
	int at = d->p->n;

	if (d->p->plain || at + 6 > GEN_STEPS || d->v.kept || d->v.normed)
		return;
	gen_pushed(d, gen_push(d, GEN_OP_keep));
	gen_push_norm(d);
	if (d->p->n < at + 2) {
		d->p->n = at;
		d->v = before;
		return;
	}
	d->v.kept = 1;
	gen_push_pointwise(d, 0, 2);
	gen_pushed(d, gen_push(d, gen_chance(d, 70) && !negates(d->p, at + 2) ? GEN_OP_add_kept : GEN_OP_mul_kept));
	d->p->step[at].far = d->p->step[d->p->n - 1].far = 1;
}

/* --- chains ---------------------------------------------------------------------------- */

static void draw_anchor(struct gen_draw *d)
{
	if (!d->p->channels_first)
		gen_push_gemm(d);
	else
		gen_push_conv(d, gen_chance(d, 40) ? GEN_OP_conv_transpose : gen_chance(d, 8) ? GEN_OP_conv_depthwise : GEN_OP_conv);
}

/* What people write behind a norm or a reduction: a reduction, another norm; behind a pool another pool. */
static int draw_sequel(struct gen_draw *d)
{
	enum gen_family last = d->p->n ? gen_op(d->p->step[d->p->n - 1].op)->family : GEN_UNARY;
	int n = d->p->n, norm = last == GEN_NORM || last == GEN_BATCH;

	if (d->p->plain || d->shape.rank < 2 || !(norm || last == GEN_REDUCE || last == GEN_POOL) || !gen_chance(d, 25))
		return 0;
	if (last == GEN_POOL)
		gen_push_pool(d);
	else if (norm && gen_chance(d, 30))
		gen_push_norm(d);
	else
		gen_push_reduce(d);
	return d->p->n > n;
}

/* One more part of a chain. */
static void draw_part(struct gen_draw *d)
{
	int roll = (int)rng_below(d->r, 100);

	if (draw_sequel(d))
		return;
	if (roll < 55 || d->shape.rank < 2)
		gen_push_pointwise(d, 1, 2);
	else if (roll < 68)
		gen_push_norm(d);
	else if (roll < 78)
		gen_push_reduce(d);
	else if (roll < 88)
		gen_push_pool(d);
	else if (roll < 94)
		gen_push_softmax(d);
	else if (d->p->plain || gen_chance(d, 60))
		push_kept(d);
	else
		push_far_kept(d);
}

static int heads(const struct gen_plan *p)
{
	int n = 0;

	for (int i = 0; i < p->n; i++)
		n += !gen_pointwise(&p->step[i]);
	return n;
}

static void draw_chain(struct gen_draw *d)
{
	int parts = (int)rng_between(d->r, 1, d->p->plain ? 2 : 4);

	if (!d->p->plain && d->p->channels_first && gen_chance(d, 6))
		gen_push_window(d);
	if (gen_chance(d, 88))
		draw_anchor(d);
	else
		gen_push_pointwise(d, 1, 2);
	for (int i = 0; (i < parts || d->p->n < 2) && i < 20 && d->p->n < GEN_STEPS - 2 && heads(d->p) < 4; i++)
		draw_part(d);
	if (d->p->n < 2)
		gen_push_pointwise(d, 1, 1);
	if (!d->p->channels_first && d->shape.rank == 2 && d->feature == 1 && gen_chance(d, 3) && !d->sized)
		gen_push_family(d, GEN_FAM(GEN_LOSS));
}

static void draw_blocks(struct gen_draw *d)
{
	for (int i = 0; i < 2; i++) {
		draw_anchor(d);
		gen_push_pointwise(d, 1, 2);
		if (gen_chance(d, 25))
			gen_push_norm(d);
	}
	if (gen_chance(d, 50))
		draw_part(d);
}

void gen_plan_draw(struct gen_plan *p, int level, int plain, struct rng *r)
{
	struct gen_draw d = { .p = p, .r = r };

	*p = (struct gen_plan){ .level = level, .plain = plain };
	p->signed_input = rng_below(r, 100) < 40;
	d.v.negative = p->signed_input;
	if (level == 1) {
		gen_draw_single(&d);
	} else {
		p->channels_first = rng_below(r, 100) < 58;
		gen_draw_input(&d);
		(level == 2 ? draw_chain : draw_blocks)(&d);
	}
	p->style = rng_u64(r);
}

int gen_levels_parse(struct gen_levels *l, const char *const *words, size_t n, struct err *e)
{
	l->n = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t v;

		if (str_to_i64(str_of(words[i]), &v) || v < 1 || v > 3 || l->n == COUNT_OF(l->v))
			return err_set(e, ERR_USAGE, "levels are 1, 2 and 3, at most %zu of them, not '%s'", COUNT_OF(l->v), words[i]);
		l->v[l->n++] = (int)v;
	}
	return 0;
}

void gen_plan_key(const struct gen_plan *p, struct buf *out)
{
	buf_addf(out, "%dd", p->input.rank);
	for (int i = 0; i < p->n; i++) {
		const struct gen_step *s = &p->step[i];

		buf_addf(out, " %s", gen_op(s->op)->name);
		if (s->nd)
			buf_addf(out, "%dd", s->nd);
		if (gen_op(s->op)->family == GEN_REDUCE || s->op == GEN_OP_softmax)
			buf_addf(out, "@%d", s->axis);
	}
}

/* Eight of ten compositions train, one validates, one tests: decided by the name alone, so that no
 * composition is ever in two splits. Of a single operator at real sizes the sizes count as part of the
 * name: it is a composition of its own at each. */
enum gen_split gen_plan_split(const struct gen_plan *p)
{
	struct buf key = BUF_INIT;
	uint64_t h;

	gen_plan_key(p, &key);
	for (int i = 0; p->level == 1 && !p->plain && i < p->input.rank; i++)
		buf_addf(&key, " %lld", (long long)p->input.d[i]);
	h = hash_xxh64(key.p, key.n, 0x73706c6974) % 10;
	buf_release(&key);
	return h < 8 ? GEN_TRAIN : h == 8 ? GEN_VALIDATION : GEN_TEST;
}

const char *gen_split_name(enum gen_split s)
{
	static const char *const names[] = { "train", "validation", "test" };

	return names[s];
}
