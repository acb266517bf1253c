/* dot and dot_scaled: brings the operands to the requested precision and calls the product.
 *
 * Formula: D[b,M,N] = A[b,M,K] B[b,K,N] + C[b,M,N], batch b = 1 for tiles of two dimensions. */
#include "tile/machine/machine.h"

#include <math.h>

#include "tile/code/dot_scaled.h"
#include "tile/machine/dot.h"

struct product {
	int64_t batch, M, N, K;
};

/* K comes from A, the other sizes from the result. */
static struct product shape_of(const struct mval *a, const struct mval *d)
{
	int n = d->ndim;
	return (struct product){ .batch = n == 3 ? d->shape[0] : 1, .M = d->shape[n - 2], .N = d->shape[n - 1],
				 .K = a->shape[n - 1] };
}

/* --- fp32 and narrower ------------------------------------------------------------------ */

/* The operand in fp32: borrowed if it already is, else widened into `room`. */
static const float *as_f32(struct mval *v, float *room)
{
	const void *x = mval_dense(v);
	if (v->dt == DT_F32)
		return x;
	dtype_convert(DT_F32, room, (enum dtype)v->dt, x, (size_t)v->n);
	return room;
}

/* One product per batch element. */
static void batched(float *c, const float *a, const float *b, struct product p)
{
	for (int64_t i = 0; i < p.batch; i++)
		dot_f32(c + i * p.M * p.N, a + i * p.M * p.K, b + i * p.K * p.N, p.M, p.N, p.K);
}

/* NaN becomes 0. */
static void zero_nans(float *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		c[i] = c[i] != c[i] ? 0 : c[i];
}

/* Emulated precisions (tf32x3, bf16x3, bf16x6): each operand is split into a large and one or two
 * small parts. Small products come first, so that the large terms are added last. A NaN of inf -
 * inf in the corrections must not spoil the main product, so it becomes 0. The sum is added to C
 * at the end. */
static void split_product(struct machine *m, float *c, const float *a, const float *b, struct product p,
			  enum tile_prec prec)
{
	size_t na = (size_t)(p.batch * p.M * p.K), nb = (size_t)(p.batch * p.K * p.N),
		nc = (size_t)(p.batch * p.M * p.N);
	float *ah = (float *)m->scratch[0], *am = ah + na, *bh = (float *)m->scratch[1], *bm = bh + nb;
	float *sum = (float *)m->scratch[2], *al = (float *)m->scratch[3], *bl = al + na;
	memset(sum, 0, nc * sizeof *sum);
	if (prec == TILE_PREC_TF32X3) {
		dot_split_tf32(ah, am, a, na);
		dot_split_tf32(bh, bm, b, nb);
	} else {
		int six = prec == TILE_PREC_BF16X6;
		dot_split_bf16(ah, am, six ? al : NULL, a, na);
		dot_split_bf16(bh, bm, six ? bl : NULL, b, nb);
		if (six) {
			batched(sum, am, bm, p);
			batched(sum, al, bh, p);
			batched(sum, ah, bl, p);
		}
	}
	batched(sum, am, bh, p);
	batched(sum, ah, bm, p);
	zero_nans(sum, nc);
	batched(sum, ah, bh, p);
	for (size_t i = 0; i < nc; i++)
		c[i] += sum[i];
}

/* Operands narrower than fp32 are exact in fp32. fp32 operands are truncated to tf32 or split,
 * unless input_precision is "ieee". */
static void float_product(struct machine *m, const struct tile_insn *in, struct mval *d, struct mval *a,
			  struct mval *b, struct product p)
{
	enum tile_prec prec = (enum tile_prec)in->attr[0];
	const float *x = as_f32(a, (float *)m->scratch[0]), *y = as_f32(b, (float *)m->scratch[1]);
	float *c = d->dt == DT_F32 ? d->data : (float *)m->scratch[2];
	if (d->dt != DT_F32)
		dtype_convert(DT_F32, c, (enum dtype)d->dt, d->data, (size_t)d->n);
	if (a->dt == DT_F32 && b->dt == DT_F32 && prec != TILE_PREC_IEEE) {
		if (prec != TILE_PREC_TF32) {
			split_product(m, c, x, y, p, prec);     /* fp32 result: nothing to convert */
			return;
		}
		dot_split_tf32((float *)m->scratch[0], NULL, x, (size_t)a->n);
		dot_split_tf32((float *)m->scratch[1], NULL, y, (size_t)b->n);
		x = (float *)m->scratch[0];
		y = (float *)m->scratch[1];
	}
	batched(c, x, y, p);
	if (d->dt != DT_F32)
		dtype_convert((enum dtype)d->dt, d->data, DT_F32, c, (size_t)d->n);
}

/* int8 operands with int32 sums that wrap around. */
static void int_product(struct machine *m, struct mval *d, struct mval *a, struct mval *b, struct product p)
{
	int32_t *x = (int32_t *)m->scratch[0], *y = (int32_t *)m->scratch[1], *c = d->data;
	dtype_convert(DT_I32, x, (enum dtype)a->dt, mval_dense(a), (size_t)a->n);
	dtype_convert(DT_I32, y, (enum dtype)b->dt, mval_dense(b), (size_t)b->n);
	for (int64_t i = 0; i < p.batch; i++)
		dot_i32(c + i * p.M * p.N, x + i * p.M * p.K, y + i * p.K * p.N, p.M, p.N, p.K);
}

/* --- poison -------------------------------------------------------------------------- */

/* A lane of the result depends on a row of A, a column of B and its lane of the accumulator. */
static int dot_poison(struct machine *m, const struct tile_insn *in, struct product p)
{
	struct mval *d = mval_dst(m, in, 0), *a = mval_src(m, in, 0), *b = mval_src(m, in, 1);
	struct mval *acc = in->n_src > 2 ? mval_src(m, in, 2) : NULL;
	unsigned char bits = a->poison | b->poison | (acc ? acc->poison : 0);
	int32_t at = a->poison ? a->poison_at : b->poison ? b->poison_at : acc ? acc->poison_at : 0;
	unsigned char *map;

	if (poison_map(m, a) || poison_map(m, b) || (acc && poison_map(m, acc)))
		return -1;
	map = poison_room(m, d);
	if (!map)
		return -1;
	if (!acc)
		memset(map, 0, (size_t)d->n);
	else if (acc != d)
		memcpy(map, acc->pmap, (size_t)d->n);
	for (int64_t o = 0; o < p.batch; o++)
		for (int64_t i = 0; i < p.M; i++)
			for (int64_t k = 0; k < p.K; k++) {
				unsigned char x = a->pmap[(o * p.M + i) * p.K + k];
				unsigned char *out = map + (o * p.M + i) * p.N;
				const unsigned char *y = b->pmap + (o * p.K + k) * p.N;
				for (int64_t j = 0; j < p.N; j++)
					out[j] |= x | y[j];
			}
	d->pmap_on = 1;
	d->poison = bits;
	d->poison_at = at;
	return 0;
}

/* The lanes of the accumulator, or zero, in d's slot. */
static void start_from(struct mval *d, struct mval *acc)
{
	if (!acc) {
		memset(d->data, 0, (size_t)d->n * d->esize);
	} else if (acc != d) {
		const void *x = mval_dense(acc);
		memcpy(d->data, x, (size_t)d->n * d->esize);
	} else {
		mval_dense(d);
	}
}

/* The accumulator is copied into the result first, unless both are one register. Poison comes
 * before that, because the result may overwrite the accumulator's map. */
int exec_dot(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *a = mval_src(m, in, 0), *b = mval_src(m, in, 1);
	struct mval *acc = in->n_src > 2 ? mval_src(m, in, 2) : NULL;
	struct product s = shape_of(a, d);
	int poison = m->check && any_poison(m, in);
	(void)p;
	if (poison && dot_poison(m, in, s))
		return -1;
	start_from(d, acc);
	d->kind = MVAL_DENSE;
	if (!poison)
		mval_clear_poison(d);
	if (d->dt == DT_F64) {
		const double *x = mval_dense(a), *y = mval_dense(b);
		for (int64_t i = 0; i < s.batch; i++)
			dot_f64((double *)d->data + i * s.M * s.N, x + i * s.M * s.K, y + i * s.K * s.N, s.M, s.N, s.K);
	} else if (dtype_is_float((enum dtype)d->dt)) {
		float_product(m, in, d, a, b, s);
	} else {
		int_product(m, d, a, b, s);
	}
	return 0;
}

/* --- dot_scaled ------------------------------------------------------------------------ */

/* Element i of an operand in fp32. e2m1 has two elements in a byte; `nibble` says which. */
static float decode(enum tile_fmt f, const unsigned char *x, int64_t i, int64_t nibble)
{
	static const float e2m1[8] = { 0, 0.5f, 1, 1.5f, 2, 3, 4, 6 };
	uint16_t h;
	switch (f) {
	case TILE_FMT_E2M1: {
		int v = x[i] >> (4 * nibble) & 15;
		return v & 8 ? -e2m1[v & 7] : e2m1[v & 7];
	}
	case TILE_FMT_E4M3: return f8e4m3_to_f32(x[i]);
	case TILE_FMT_E5M2: return f8e5m2_to_f32(x[i]);
	default:
		memcpy(&h, x + 2 * i, 2);
		return f == TILE_FMT_BF16 ? bf16_to_f32(h) : f16_to_f32(h);
	}
}

/* Scales are powers of two (e8m0: 2^(x - 127), 255 is NaN), or fp8 if the tensor has that type. */
static float scale_at(struct mval *s, int64_t i)
{
	const unsigned char *x = s->data;
	if (s->dt == DT_F8E4M3)
		return f8e4m3_to_f32(x[i]);
	return x[i] == 255 ? NAN : ldexpf(1, x[i] - 127);
}

/* One operand of dot_scaled. */
struct scaled_operand {
	struct mval *v, *scale;     /* scale NULL: none; else rows x K/group */
	enum tile_fmt fmt;
	int packed_k;               /* e2m1: the two elements of a byte are neighbours along K */
	int64_t rows, K, group;
	int k_first;                /* the operand is [K, rows] instead of [rows, K] */
};

/* Decodes and scales the operand into fp32, row-major in its own orientation. */
static void decode_operand(const struct scaled_operand *o, float *out)
{
	const unsigned char *x = mval_dense(o->v);
	int four = o->fmt == TILE_FMT_E2M1;
	int64_t width = o->v->shape[1];
	if (o->scale)
		mval_dense(o->scale);
	for (int64_t r = 0; r < o->rows; r++)
		for (int64_t k = 0; k < o->K; k++) {
			int64_t rr = four && !o->packed_k ? r / 2 : r, kk = four && o->packed_k ? k / 2 : k;
			int64_t nibble = o->packed_k ? k & 1 : r & 1;
			int64_t at = o->k_first ? kk * width + rr : rr * width + kk;
			float v = decode(o->fmt, x, at, nibble);
			if (o->scale)
				v *= scale_at(o->scale, r * (o->K / o->group) + k / o->group);
			out[o->k_first ? k * o->rows + r : r * o->K + k] = v;
		}
}

int exec_dot_scaled(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0);
	struct dot_scaled s;
	struct scaled_operand a, b;
	float *x, *y;

	(void)p;
	tile_dot_scaled_shape(m->code, in, &s);
	a = (struct scaled_operand) {
		.v = mval_src(m, in, 0), .scale = s.a_scale < 0 ? NULL : mval_src(m, in, s.a_scale),
		.fmt = (enum tile_fmt)in->attr[0],
		.packed_k = in->attr[3] != 0, .rows = s.M, .K = s.K, .group = s.a_group,
	};
	b = (struct scaled_operand) {
		.v = mval_src(m, in, 1), .scale = s.b_scale < 0 ? NULL : mval_src(m, in, s.b_scale),
		.fmt = (enum tile_fmt)in->attr[1],
		.packed_k = in->attr[4] != 0, .rows = s.N, .K = s.K, .group = s.b_group, .k_first = 1,
	};
	x = (float *)m->scratch[0];
	y = (float *)m->scratch[1];
	decode_operand(&a, x);
	decode_operand(&b, y);
	start_from(d, mval_src(m, in, 2));
	d->kind = MVAL_DENSE;
	mval_clear_poison(d);
	dot_f32(d->data, x, y, s.M, s.N, s.K);
	return m->check && any_poison(m, in) ? poison_all(m, in) : 0;
}
