/* Contiguity, constancy and divisibility of values, by the rules of Triton's axis analysis. These
 * decide how a tile is laid out over threads, and so which lanes form a request.
 *
 * Invariant: what the compiler cannot see must not be seen here. A run that is contiguous only
 * because a quotient happens to stay the same is not contiguous. */
#include "tile/estimate/probe_axis.h"

static int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;

		a = b;
		b = r;
	}
	return a < 0 ? -a : a;
}

/* Triton stops counting powers of two somewhere; a larger divisor has no effect. */
enum { DIVISIBLE_MOST = 1 << 20 };

/* The largest power of two that divides x. */
static int64_t power_of(int64_t x)
{
	return x ? MIN(x & -x, DIVISIBLE_MOST) : DIVISIBLE_MOST;
}

/* The same information for every dimension of the tile. */
static void set_all(struct axis_info *d, struct tile_type t, int contiguous, int constant, int64_t divisible)
{
	d->divisible = divisible;
	for (int k = 0; k < TILE_DIMS; k++) {
		d->contiguous[k] = k < t.ndim ? contiguous : 1;
		d->constant[k] = k < t.ndim ? constant : 1;
	}
}

/* Every lane has the same value. */
static void set_splat(struct axis_info *d, struct tile_type t, int64_t divisible)
{
	set_all(d, t, 1, 1, divisible);
	for (int k = 0; k < t.ndim; k++)
		d->constant[k] = t.shape[k];
}

void axis_param(struct axis_info *info, int pointer, int64_t value, int size)
{
	struct tile_type scalar = { .ndim = 0 };

	/* Triton specialises arguments by divisibility by 16 and sees no other divisor. A pointer counts
	 * elements: an address that is a multiple of 16 bytes is divisible by 4 for fp32. */
	set_all(info, scalar, 1, 1, value % 16 ? 1 : pointer ? MAX(16 / size, 1) : 16);
}

/* A sum is contiguous where one side is and the other is constant: arange(0, 128) + splat(64). */
static void add(struct axis_info *d, const struct axis_info *a, const struct axis_info *b, int subtract)
{
	struct axis_info r = { .divisible = MAX(gcd(a->divisible, b->divisible), 1) };

	for (int k = 0; k < TILE_DIMS; k++) {
		int64_t left = gcd(a->contiguous[k], b->constant[k]), right = subtract ? 1 :
			gcd(a->constant[k], b->contiguous[k]);

		r.contiguous[k] = (int32_t)MAX(left, right);
		r.constant[k] = (int32_t)gcd(a->constant[k], b->constant[k]);
	}
	*d = r;
}

/* Whether a register holds the integer 1; Triton folds that product away. */
static int is_one(const struct machine *m, tile_reg r)
{
	const struct mval *v = &m->vals[r];

	return v->kind == MVAL_UNIFORM && !v->ptr && !dtype_is_float((enum dtype)v->dt) && mval_int(v) == 1;
}

/* A product is never contiguous, except by 1. Divisibilities multiply. */
static void mul(const struct machine *m, const struct tile_insn *in, struct axis_info *info)
{
	const struct axis_info *a = &info[tile_src(in, 0)], *b = &info[tile_src(in, 1)];
	struct axis_info r = { .divisible = MIN(a->divisible * b->divisible, DIVISIBLE_MOST) };

	if (is_one(m, tile_src(in, 1)) || is_one(m, tile_src(in, 0))) {
		info[tile_dst(in, 0)] = is_one(m, tile_src(in, 1)) ? *a : *b;
		return;
	}
	for (int k = 0; k < TILE_DIMS; k++) {
		r.contiguous[k] = 1;
		r.constant[k] = (int32_t)gcd(a->constant[k], b->constant[k]);
	}
	info[tile_dst(in, 0)] = r;
}

/* A quotient is constant while the dividend stays within one multiple of the divisor; a remainder
 * is contiguous there. arange(0, 128) // 16 is constant in runs of 16. */
static void divide(const struct tile_insn *in, struct axis_info *info, int remainder)
{
	const struct axis_info *a = &info[tile_src(in, 0)], *b = &info[tile_src(in, 1)];
	struct axis_info r = { .divisible = remainder ? gcd(a->divisible, b->divisible) : 1 };

	for (int k = 0; k < TILE_DIMS; k++) {
		int64_t run = b->constant[k] > 1 ? gcd(a->contiguous[k], gcd(a->divisible, b->divisible)) :
			1, same = gcd(a->constant[k], b->constant[k]);

		r.contiguous[k] = (int32_t)(remainder ? run : 1);
		r.constant[k] = (int32_t)(remainder ? same : MAX(same, run));
	}
	info[tile_dst(in, 0)] = r;
}

/* The new dimension has one lane. */
static void expand(const struct tile_insn *in, const struct axis_info *a, struct axis_info *d)
{
	struct axis_info r = { .divisible = a->divisible };

	for (int k = 0; k < TILE_DIMS; k++) {
		int from = k < in->imm ? k : k - 1;

		r.contiguous[k] = k == in->imm ? 1 : a->contiguous[from];
		r.constant[k] = k == in->imm ? 1 : a->constant[from];
	}
	*d = r;
}

/* A grown dimension is constant. */
static void broadcast(struct tile_type from, struct tile_type to, const struct axis_info *a, struct axis_info *d)
{
	struct axis_info r = *a;

	for (int k = 0; k < to.ndim; k++)
		if (from.shape[k] == 1 && to.shape[k] != 1) {
			r.contiguous[k] = 1;
			r.constant[k] = to.shape[k];
		}
	*d = r;
}

static void permute(const struct tile_insn *in, struct tile_type t, const struct axis_info *a, struct axis_info *d)
{
	struct axis_info r = *a;

	for (int k = 0; k < t.ndim; k++) {
		r.contiguous[k] = a->contiguous[in->attr[k]];
		r.constant[k] = a->constant[in->attr[k]];
	}
	*d = r;
}

/* tl.multiple_of and the like: the compiler believes them. */
static void hint(const struct tile_insn *in, struct tile_type t, struct axis_info *d)
{
	for (int k = 0; k < MAX(t.ndim, 1) && k + 1 < TILE_ATTRS; k++) {
		int32_t v = in->attr[k + 1];

		if (in->attr[0] == TILE_HINT_MULTIPLE)
			d->divisible = MAX(d->divisible, power_of(v));
		else if (in->attr[0] == TILE_HINT_CONTIGUOUS)
			d->contiguous[k] = MAX(d->contiguous[k], v);
		else
			d->constant[k] = MAX(d->constant[k], v);
	}
}

/* Any other elementwise operation: constant where all sources are. */
static void lanewise(const struct tile_insn *in, struct tile_type t, struct axis_info *info)
{
	struct axis_info r;

	set_all(&r, t, 1, 1, 1);
	for (int k = 0; k < t.ndim; k++) {
		int64_t same = 0;

		for (int s = 0; s < in->n_src; s++)
			same = gcd(same, info[tile_src(in, s)].constant[k]);
		r.constant[k] = (int32_t)MAX(same, 1);
	}
	info[tile_dst(in, 0)] = r;
}

void axis_step(const struct machine *m, const struct tile_insn *in, struct axis_info *info)
{
	struct tile_type t;
	struct axis_info *d;

	if (in->op == TOP_HINT)
		hint(in, m->code->regs[tile_src(in, 0)], &info[tile_src(in, 0)]);
	if (!in->n_dst)
		return;
	t = m->code->regs[tile_dst(in, 0)];
	d = &info[tile_dst(in, 0)];
	switch (in->op) {
	case TOP_CONST: set_splat(d, t, power_of(in->imm)); break;
	case TOP_ARANGE: set_all(d, t, t.shape[0], 1, power_of(in->imm)); break;
	case TOP_SPLAT: set_splat(d, t, info[tile_src(in, 0)].divisible); break;
	case TOP_MOV: case TOP_CAST: *d = info[tile_src(in, 0)]; break;
	case TOP_EXPAND_DIMS: expand(in, &info[tile_src(in, 0)], d); break;
	case TOP_BROADCAST: broadcast(m->code->regs[tile_src(in, 0)], t, &info[tile_src(in, 0)], d); break;
	case TOP_PERMUTE: permute(in, t, &info[tile_src(in, 0)], d); break;
	case TOP_ADD: case TOP_ADDPTR: add(d, &info[tile_src(in, 0)], &info[tile_src(in, 1)], 0); break;
	case TOP_SUB: add(d, &info[tile_src(in, 0)], &info[tile_src(in, 1)], 1); break;
	case TOP_MUL: mul(m, in, info); break;
	case TOP_DIV: divide(in, info, 0); break;
	case TOP_REM: divide(in, info, 1); break;
	default:
		if (tile_op_info(in->op)->flags & TOF_L)
			lanewise(in, t, info);
		else
			set_all(d, t, 1, 1, 1);
	}
}
