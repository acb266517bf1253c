/* Drawing compositions: which operators, in which order, at which sizes.
 *
 * Invariant: every step changes its input's values. The draw keeps a small summary of the
 * values so far (can they be negative, are they bounded, has something grown already) and
 * takes only operators that fit it; a task in which a step is invisible teaches nothing and
 * would be flagged by the judge. */
#include "gen/gen.h"

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

/* What is known of the values at a point of the chain. */
struct values {
	int negative, bounded, grown, reduced, flat_space;
};

struct draw {
	struct gen_plan *p;
	struct rng *r;
	struct values v;
	int second_inputs;
};

static int chance(struct draw *d, int percent)
{
	return (int)rng_below(d->r, 100) < percent;
}

static int fits(const struct draw *d, const struct gen_op *op)
{
	const struct values *v = &d->v;

	return !((op->flags & GEN_WANTS_NEG && !v->negative) || (op->flags & GEN_WANTS_BOUND && !v->bounded) ||
		 (op->flags & GEN_WANTS_FREE && v->bounded) || (op->flags & GEN_GROWS && v->grown) ||
		 ((op->family == GEN_VECTOR || op->family == GEN_TENSOR) && v->reduced) ||
		 (op->family == GEN_TENSOR && d->second_inputs >= GEN_SECOND));
}

static void note_values(struct values *v, const struct gen_op *op)
{
	int pointwise = op->family <= GEN_TENSOR;

	if (op->flags & GEN_MAKES_POS)
		v->negative = 0;
	else if (!(op->flags & GEN_KEEPS_SIGN) && (pointwise || op->family == GEN_ROW || op->family == GEN_GEMM ||
						   op->family == GEN_CONV || op->family == GEN_CHANNEL))
		v->negative = 1;
	v->bounded = (op->flags & GEN_BOUNDS) != 0;
	v->grown |= (op->flags & GEN_GROWS) != 0;
	v->reduced |= op->family == GEN_REDUCE;
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

static size_t count_forms(const char *const *forms)
{
	size_t n = 0;

	while (forms[n])
		n++;
	return n;
}

static void push(struct draw *d, enum gen_op_id id)
{
	const struct gen_op *op = gen_op(id);
	struct gen_step *s = &d->p->step[d->p->n++];

	*s = (struct gen_step){ .op = id };
	s->form = (int)rng_below(d->r, count_forms(op->torch));
	s->tile_form = (int)rng_below(d->r, count_forms(op->triton));
	if (op->c0)
		pick_constant(d->r, op->c0, s->c[0]);
	if (op->c1)
		pick_constant(d->r, op->c1, s->c[1]);
	s->attr = op->c0 && op->torch[s->form][0] != '@' && chance(d, 30);
	d->second_inputs += op->family == GEN_TENSOR || op->family == GEN_LOSS;
	note_values(&d->v, op);
}

static int push_family(struct draw *d, unsigned families)
{
	enum gen_op_id fit[GEN_OPS];
	size_t n = 0;

	if (d->p->n >= GEN_STEPS)
		return 0;
	for (int i = 0; i < GEN_OPS; i++)
		if (families >> gen_op(i)->family & 1 && fits(d, gen_op(i)) &&
		    !(d->p->n && d->p->step[d->p->n - 1].op == (enum gen_op_id)i))
			fit[n++] = (enum gen_op_id)i;
	if (!n)
		return 0;
	push(d, fit[rng_below(d->r, n)]);
	return 1;
}

#define FAM(f) (1u << (f))
#define POINTWISE (FAM(GEN_UNARY) | FAM(GEN_CONST) | FAM(GEN_VECTOR) | FAM(GEN_TENSOR))

static void push_pointwise(struct draw *d, int lo, int hi)
{
	int n = (int)rng_between(d->r, lo, hi);

	while (n-- > 0) {
		int roll = (int)rng_below(d->r, 100);

		push_family(d, roll < 50 ? FAM(GEN_UNARY) : roll < 72 ? FAM(GEN_CONST) :
			    roll < 88 && !d->v.reduced ? FAM(GEN_VECTOR) : roll < 96 && !d->v.reduced ? FAM(GEN_TENSOR) :
			    FAM(GEN_UNARY) | FAM(GEN_CONST));
	}
}

static void push_gemm(struct draw *d)
{
	static const int outs[] = { 16, 24, 32, 48, 64, 96, 128 };

	push_family(d, FAM(GEN_GEMM));
	d->p->step[d->p->n - 1].size[0] = outs[rng_below(d->r, COUNT_OF(outs))];
}

static void push_conv(struct draw *d)
{
	static const int outs[] = { 4, 6, 8, 12, 16 };
	struct gen_step *s;

	push_family(d, FAM(GEN_CONV));
	s = &d->p->step[d->p->n - 1];
	s->size[1] = chance(d, 70) ? 3 : 1;
	s->size[2] = s->size[1] / 2;
	s->size[0] = outs[rng_below(d->r, COUNT_OF(outs))];
}

static int pools_globally(enum gen_op_id op)
{
	return op == GEN_OP_global_avg_pool || op == GEN_OP_global_max_pool;
}

static void push_pool(struct draw *d)
{
	push_family(d, FAM(GEN_POOL));
	d->p->step[d->p->n - 1].size[0] = 2;
	if (pools_globally(d->p->step[d->p->n - 1].op))
		d->v.flat_space = 1;
}

static void push_channel(struct draw *d)
{
	if (d->v.flat_space)
		return;
	if (push_family(d, FAM(GEN_CHANNEL)) &&
	    (d->p->step[d->p->n - 1].op == GEN_OP_channel_mean || d->p->step[d->p->n - 1].op == GEN_OP_channel_max))
		d->v.reduced = 1;
}

/* --- levels ------------------------------------------------------------------------- */

static void draw_single(struct draw *d)
{
	static const unsigned groups[] = { FAM(GEN_UNARY), FAM(GEN_CONST), FAM(GEN_VECTOR) | FAM(GEN_TENSOR),
					   FAM(GEN_ROW), FAM(GEN_REDUCE), FAM(GEN_LOSS) };

	if (d->p->layout == GEN_4D && chance(d, 75)) {
		int roll = (int)rng_below(d->r, 3);

		(roll == 0 ? push_conv : roll == 1 ? push_pool : push_channel)(d);
	} else if (d->p->layout == GEN_4D) {
		push_family(d, POINTWISE);
	} else if (chance(d, 20)) {
		push_gemm(d);
	} else {
		while (!push_family(d, groups[rng_below(d->r, COUNT_OF(groups) - (d->p->layout == GEN_3D))]))
			;
	}
}

static void draw_chain_rows(struct draw *d)
{
	if (chance(d, 50)) {
		push_gemm(d);
		push_pointwise(d, 1, 3);
	} else {
		push_pointwise(d, chance(d, 50) ? 2 : 1, 3);
	}
	if (chance(d, 45)) {
		push_family(d, chance(d, 55) ? FAM(GEN_ROW) : FAM(GEN_REDUCE));
		push_pointwise(d, 0, 2);
	} else if (d->p->layout == GEN_2D && chance(d, 10)) {
		push_family(d, FAM(GEN_LOSS));
	}
	if (d->p->n < 2)
		push_pointwise(d, 1, 1);
}

static void draw_chain_images(struct draw *d)
{
	int roll = (int)rng_below(d->r, 100);

	if (roll < 60)
		push_conv(d);
	else if (roll < 75)
		push_channel(d);
	push_pointwise(d, 1, 3);
	roll = (int)rng_below(d->r, 100);
	if (roll < 30 && !d->v.reduced)
		push_pool(d);
	else if (roll < 45 && !d->v.reduced)
		push_channel(d);
	push_pointwise(d, d->p->n < 2 ? 1 : 0, 2);
}

static void draw_blocks(struct draw *d)
{
	int images = d->p->layout == GEN_4D;

	for (int i = 0; i < 2; i++) {
		(images ? push_conv : push_gemm)(d);
		push_pointwise(d, 1, 2);
	}
	if (images && chance(d, 60))
		push_pool(d);
	else if (!images && chance(d, 60))
		push_family(d, FAM(GEN_ROW));
}

static void draw_sizes(struct draw *d)
{
	static const int batch[] = { 4, 8, 16, 32, 64 }, width[] = { 16, 24, 32, 48, 64, 96, 128, 200, 256 };
	static const int times[] = { 4, 8, 10, 16 }, sides[] = { 8, 10, 12, 16, 20 }, chans[] = { 3, 4, 6, 8 };
	struct gen_plan *p = d->p;

	p->batch = batch[rng_below(d->r, COUNT_OF(batch))];
	p->time = times[rng_below(d->r, COUNT_OF(times))];
	p->width = width[rng_below(d->r, COUNT_OF(width))];
	p->height = p->width;
	p->channels = chans[rng_below(d->r, COUNT_OF(chans))];
	if (p->layout == GEN_4D) {
		p->batch = MIN(p->batch, 16);
		p->height = p->width = sides[rng_below(d->r, COUNT_OF(sides))];
	}
}

void gen_plan_draw(struct gen_plan *p, int level, struct rng *r)
{
	struct draw d = { .p = p, .r = r };
	int roll;

	*p = (struct gen_plan){ .level = level };
	roll = (int)rng_below(r, 100);
	p->layout = roll < 50 ? GEN_2D : roll < 65 ? GEN_3D : GEN_4D;
	p->signed_input = rng_below(r, 100) < 85;
	d.v.negative = p->signed_input;
	draw_sizes(&d);
	if (level == 1)
		draw_single(&d);
	else if (level == 2)
		(p->layout == GEN_4D ? draw_chain_images : draw_chain_rows)(&d);
	else
		draw_blocks(&d);
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
	static const char *const layouts[] = { "2d", "3d", "4d" };

	buf_adds(out, layouts[p->layout]);
	for (int i = 0; i < p->n; i++)
		buf_addf(out, " %s", gen_op(p->step[i].op)->name);
}

/* Eight of ten compositions train, one validates, one tests: decided by the name alone, so
 * that no composition is ever in two splits. */
enum gen_split gen_plan_split(const struct gen_plan *p)
{
	struct buf key = BUF_INIT;
	uint64_t h;

	gen_plan_key(p, &key);
	h = hash_xxh64(key.p, key.n, 0x73706c6974) % 10;
	buf_release(&key);
	return h < 8 ? GEN_TRAIN : h == 8 ? GEN_VALIDATION : GEN_TEST;
}

const char *gen_split_name(enum gen_split s)
{
	static const char *const names[] = { "train", "validation", "test" };

	return names[s];
}
