/* The Mersenne twister (mt19937) and the distributions that PyTorch's CPU kernels draw from
 * it.
 *
 * Results reproduce PyTorch's bits (random.h says which): the number, width and order of the
 * draws is part of the behaviour. Each function follows its PyTorch kernel; a "simpler" order
 * of draws would change every later value of a program. */
#include "num/random.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/mem.h"
#include "num/shape.h"

enum { N = 624 };                       /* words of the generator's state */

SIMD_DECLARE(void, mt_next, (uint32_t *s))
SIMD_DECLARE(void, mt_temper, (uint32_t *out, const uint32_t *s, size_t n))
SIMD_DECLARE(void, mt_uniform, (float *out, const uint32_t *w, size_t n, float from, float range))
SIMD_DECLARE(void, box_muller, (float *d, size_t blocks, float mean, float std))

/* Only the seed is noted. The state is computed at the first draw, because most generators
 * that are seeded are never drawn from. */
void num_rng_seed(struct num_rng *r, uint64_t seed)
{
	r->seed = seed;
	r->seeded = r->left = 1;
	r->next = r->has_normal = r->ends = 0;
	r->normal = 0.0;
}

/* The initialisation of mt19937 from 32 bits of the seed. */
static void first_state(struct num_rng *r)
{
	r->seeded = 0;
	r->state[0] = (uint32_t)r->seed;
	for (uint32_t j = 1; j < N; j++)
		r->state[j] = 1812433253u * (r->state[j - 1] ^ r->state[j - 1] >> 30) + j;
}

/* The next 624 words. */
static void next_state(struct num_rng *r)
{
	if (r->seeded)
		first_state(r);
	SIMD_PICK(mt_next)(r->state);
	r->left = N;
	r->next = 0;
}

/* One tempered word. `left` counts the words up to and including the one that needs a new
 * state. */
uint32_t num_rng_u32(struct num_rng *r)
{
	uint32_t y;

	if (--r->left == 0)
		next_state(r);
	y = r->state[r->next++];
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680u;
	y ^= y << 15 & 0xefc60000u;
	return y ^ y >> 18;
}

/* Several words at once: at most `most` and at most the rest of the current state. Returns
 * how many. */
static size_t next_words(struct num_rng *r, uint32_t *out, size_t most)
{
	size_t n;

	if (r->left == 1) {
		next_state(r);
		r->left++;
	}
	n = MIN(most, (size_t)r->left - 1);
	SIMD_PICK(mt_temper)(out, r->state + r->next, n);
	r->left -= (int)n;
	r->next += (int)n;
	return n;
}

/* n dense floats: from + range * u, with u a multiple of 2^-24 from 24 bits of one word. */
static void uniform_f32(struct num_rng *r, float *out, size_t n, float from, float range)
{
	uint32_t words[N];

	while (n) {
		size_t m = next_words(r, words, n);

		SIMD_PICK(mt_uniform)(out, words, m, from, range);
		out += m;
		n -= m;
	}
}

/* Two words; the first is the high half, as in PyTorch. */
uint64_t num_rng_u64(struct num_rng *r)
{
	uint64_t hi = num_rng_u32(r);

	return hi << 32 | num_rng_u32(r);
}

/* A uniform double in [0, 1) from 53 bits of two words. */
static double draw_f64(struct num_rng *r)
{
	return (double)(num_rng_u64(r) & ((1ull << 53) - 1)) * 0x1p-53;
}

/* A uniform float in [0, 1) from 24 bits of one word. */
static float draw_f32(struct num_rng *r)
{
	return (float)(num_rng_u32(r) & ((1u << 24) - 1)) * 0x1p-24f;
}

/* --- filling in element order ------------------------------------------------------------------- */

/* A distribution over the elements of a tensor.
 *
 * Draws follow the logical index for any strides, except that PyTorch's iterator walks a dense
 * permuted tensor in memory order. tensor_loop does the same. */
struct fill {
	struct num_rng *r;
	char *data;
	enum dtype dt, draws;   /* dtype of the tensor; dtype whose draws are made */
	int64_t stride;         /* of the innermost loop, in elements */
	double a, b;            /* parameters: from and to, mean and std, p, lambda */
	int64_t from;           /* integers: the least value */
	/* integers: number of values; coins: set to 1 if a probability is invalid */
	uint64_t range;
	const struct tensor *p; /* probabilities, one per element, or NULL */
	const char *pdata;
	int64_t pstride;
	/* stores one draw at p; q: its probability */
	void (*one)(struct fill *f, char *p, const char *q);
};

/* One innermost run. */
static void fill_run(void *ctx, const int64_t *off, int64_t n)
{
	struct fill *f = ctx;
	char *p = f->data + off[0] * dtype_size(f->dt);
	const char *q = f->p ? f->pdata + off[1] * dtype_size(f->p->dt) : NULL;

	for (int64_t i = 0; i < n; i++) {
		f->one(f, p, q);
		p += f->stride * dtype_size(f->dt);
		if (q)
			q += f->pstride * dtype_size(f->p->dt);
	}
}

/* Checks that t is writable, draws every element, and marks t as written. A tensor without
 * contents draws nothing. */
static int fill(struct fill *f, const struct tensor *t, struct err *e)
{
	struct tensor_loop l;

	if (tensor_check_writable(t, e))
		return -1;
	if (t->st->hollow)
		return 0;
	f->data = tensor_data(t);
	f->dt = t->dt;
	tensor_loop_init(&l, t->ndim, t->shape, f->p ? 2 : 1, (const struct tensor *[]){ t, f->p });
	f->stride = l.stride[0][l.ndim - 1];
	f->pstride = f->p ? l.stride[1][l.ndim - 1] : 0;
	if (tensor_numel(t))
		tensor_loop_run(&l, 0, l.outer, fill_run, f);
	tensor_mark_defined(t);
	return 0;
}

/* x * (to - from) + from and z * std + mean round once here, because PyTorch's kernels are
 * compiled to fused multiply-adds. */

/* --- uniform --------------------------------------------------------------------------------------- */

static void one_uniform_f64(struct fill *f, char *p, const char *q)
{
	(void)q;
	dtype_store(f->dt, p, fma(draw_f64(f->r), f->b - f->a, f->a));
}

static void one_uniform_f32(struct fill *f, char *p, const char *q)
{
	float from = (float)f->a, to = (float)f->b, v = fmaf(draw_f32(f->r), to - from, from);

	(void)q;
	if (f->dt == DT_F32)
		*(float *)p = v;
	else
		dtype_store(f->dt, p, v);
}

/* Half types: as many random bits as the mantissa holds, arithmetic in float, bounds rounded
 * to the half type. */
static void one_uniform_half(struct fill *f, char *p, const char *q)
{
	int bits = f->draws == DT_F16 ? 11 : 8;
	float from = (float)f->a, range = (float)f->b;
	float x = (float)(num_rng_u32(f->r) & ((1u << bits) - 1)) * (f->draws == DT_F16 ? 0x1p-11f : 0x1p-8f);
	float v = fmaf(x, range, from);

	(void)q;
	dtype_convert(f->draws, &v, DT_F32, (float[]){ v }, 1);
	dtype_convert(f->dt, p, f->draws, &v, 1);
}

/* v after a conversion to dt and back. */
static double rounded(enum dtype dt, double v)
{
	char h[8];

	dtype_store(dt, h, v);
	return dtype_load(dt, h);
}

/* Dense float tensors take the bulk path; its draws are the same. */
int num_uniform(struct num_rng *r, const struct tensor *t, enum dtype dt, double from, double to,
		struct err *e)
{
	struct fill f = { .r = r, .a = from, .b = to, .draws = dt };

	if (!dtype_is_float(t->dt))
		return err_set(e, ERR_STATE, "\"check_uniform_bounds\" not implemented for '%s'",
			       num_type_name(t->dt));
	if (from > to)
		return err_set(e, ERR_STATE,
			       "uniform_ expects to return a [from, to) range, but found from=%g > to=%g", from, to);
	f.one = dt == DT_F64 ? one_uniform_f64 : dt == DT_F32 ? one_uniform_f32 : one_uniform_half;
	if (dt == DT_F32 && t->dt == DT_F32 && tensor_is_contiguous(t) && !t->st->hollow) {
		uniform_f32(r, tensor_data(t), (size_t)tensor_numel(t), (float)from,
			    (float)to - (float)from);
		tensor_mark_defined(t);
		return 0;
	}
	if (dt == DT_F16 || dt == DT_BF16) {
		f.a = rounded(dt, from);
		f.b = rounded(dt, rounded(dt, to) - f.a);       /* to - from is rounded to the half type */
	}
	return fill(&f, t, e);
}

/* --- normal ------------------------------------------------------------------------------------------ */

/* Box-Muller in double, one pair per two calls: PyTorch's path for small or strided tensors.
 * The second value waits in the generator. */
static double draw_normal(struct num_rng *r)
{
	double u1, u2, rad, theta;

	if (r->has_normal) {
		r->has_normal = 0;
		return r->normal;
	}
	u1 = draw_f64(r);
	u2 = draw_f64(r);
	rad = sqrt(-2 * log1p(-u2));
	theta = 2 * M_PI * u1;
	r->normal = rad * sin(theta);
	r->has_normal = 1;
	return rad * cos(theta);
}

/* Rounds to the dtype of the draws first, then to the tensor's: the double-precision oracle
 * gets the float values. */
static void one_normal(struct fill *f, char *p, const char *q)
{
	double v = fma(draw_normal(f->r), f->b, f->a);
	char h[8];

	(void)q;
	dtype_store(f->draws, h, v);
	dtype_convert(f->dt, p, f->draws, h, 1);
}

/* Sixteen uniforms become sixteen normals: element j is a radius, element j + 8 its angle.
 * 2.0f * M_PI is PyTorch's expression. */
static void box_muller_f64(double *d, double mean, double std)
{
	for (int j = 0; j < 8; j++) {
		double u1 = 1 - d[j], u2 = d[j + 8], rad = sqrt(-2 * log(u1)), theta = 2.0f * M_PI * u2;

		d[j] = fma(rad * cos(theta), std, mean);
		d[j + 8] = fma(rad * sin(theta), std, mean);
	}
}

/* v rounded to the half type dt: every operation of a half kernel rounds. */
static float rh(enum dtype dt, float v)
{
	char h[2];

	dtype_convert(dt, h, DT_F32, &v, 1);
	dtype_convert(DT_F32, &v, dt, h, 1);
	return v;
}

/* The same with the roundings of PyTorch's half types after each operation. */
static void box_muller_half(enum dtype dt, float *d, float mean, float std)
{
	for (int j = 0; j < 8; j++) {
		float u1 = rh(dt, 1 - d[j]), u2 = d[j + 8], rad = rh(dt, sqrtf(rh(dt, -2 * rh(dt, logf(u1)))));
		float theta = rh(dt, (float)(2.0 * M_PI * (double)u2));

		d[j] = rh(dt, rh(dt, rh(dt, rad * rh(dt, cosf(theta))) * std) + mean);
		d[j + 8] = rh(dt, rh(dt, rh(dt, rad * rh(dt, sinf(theta))) * std) + mean);
	}
}

/* n uniforms of dtype dt; half types are kept as floats. */
static void draw_16(struct num_rng *r, enum dtype dt, void *d, int64_t n)
{
	int bits = dt == DT_F16 ? 11 : 8;

	if (dt == DT_F32) {
		uniform_f32(r, d, (size_t)n, 0, 1);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		if (dt == DT_F64)
			((double *)d)[i] = draw_f64(r);
		else
			((float *)d)[i] = (float)(num_rng_u32(r) & ((1u << bits) - 1)) *
						  (dt == DT_F16 ? 0x1p-11f : 0x1p-8f);
}

/* Transforms `blocks` groups of sixteen uniforms in place. */
static void transform_16(enum dtype dt, void *d, int64_t blocks, double mean, double std)
{
	if (dt == DT_F32)
		SIMD_PICK(box_muller)(d, (size_t)blocks, (float)mean, (float)std);
	for (int64_t i = 0; i < blocks && dt != DT_F32; i++)
		if (dt == DT_F64)
			box_muller_f64((double *)d + 16 * i, mean, std);
		else
			box_muller_half(dt, (float *)d + 16 * i, rh(dt, (float)mean),
					rh(dt, (float)std));
}

/* Contiguous tensors of at least 16 elements: all uniforms first, then groups of sixteen. If 16
 * does not divide n, the last sixteen elements are drawn again and overwrite part of the group
 * before. */
static int normal_blocks(struct num_rng *r, const struct tensor *t, enum dtype dt, double mean,
			 double std, struct err *e)
{
	int64_t n = tensor_numel(t);
	enum dtype wide = dt == DT_F64 ? DT_F64 : DT_F32;
	int size = dtype_size(wide);
	char *d = mem_alloc((size_t)n * (size_t)size);

	if (!d)
		return err_nomem(e);
	draw_16(r, dt, d, n);
	transform_16(dt, d, n / 16, mean, std);
	if (n % 16) {
		draw_16(r, dt, d + (n - 16) * size, 16);
		transform_16(dt, d + (n - 16) * size, 1, mean, std);
	}
	dtype_convert(t->dt, tensor_data(t), wide, d, (size_t)n);
	tensor_mark_defined(t);
	mem_free(d);
	return 0;
}

/* mean + std * z. The sizes decide the path, as in PyTorch. */
int num_normal(struct num_rng *r, const struct tensor *t, enum dtype dt, double mean, double std,
	       struct err *e)
{
	struct fill f = { .r = r, .a = mean, .b = std, .draws = dt, .one = one_normal };

	if (!(std >= 0))
		return err_set(e, ERR_STATE, "normal expects std >= 0.0, but found std %g", std);
	if (!dtype_is_float(t->dt))
		return err_set(e, ERR_STATE, "\"normal_kernel_cpu\" not implemented for '%s'",
			       num_type_name(t->dt));
	if (tensor_numel(t) >= 16 && tensor_is_contiguous(t) && !t->st->hollow)
		return normal_blocks(r, t, dt, mean, std, e);
	return fill(&f, t, e);
}

/* --- integers, coins, orders ------------------------------------------------------------------------ */

/* PyTorch's modulo of a 32-bit word, or of 64 bits for ranges of 2^28 and more. The bias of
 * the modulo is PyTorch's, too. */
static void one_int(struct fill *f, char *p, const char *q)
{
	uint64_t v = f->range >= 1ull << 28 ? num_rng_u64(f->r) : num_rng_u32(f->r);

	(void)q;
	dtype_store_int(f->dt, p, (int64_t)(v % f->range + (uint64_t)f->from));
}

/* Puts the least and the largest possible value first and last. The judge needs both ends of an
 * index range among the inputs, even if neither was drawn. */
static void store_ends(const struct tensor *t, int64_t from, int64_t to)
{
	int64_t n = tensor_numel(t);
	char *p = tensor_data(t);

	if (n < 2 || t->st->hollow || !tensor_is_contiguous(t))
		return;
	dtype_store_int(t->dt, p, from);
	dtype_store_int(t->dt, p + (size_t)(n - 1) * (size_t)dtype_size(t->dt), to - 1);
}

/* Integers in [from, to). */
int num_randint(struct num_rng *r, const struct tensor *t, int64_t from, int64_t to, struct err *e)
{
	struct fill f = { .r = r, .from = from, .range = (uint64_t)to - (uint64_t)from,
			  .one = one_int };

	if (from >= to)
		return err_set(e, ERR_STATE,
			       "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld",
			       (long long)from, (long long)to);
	if (fill(&f, t, e))
		return -1;
	if (r->ends)
		store_ends(t, from, to);
	return 0;
}

/* 0 or 1 from 53-bit draws: dense f32 tensors, such as dropout masks. */
static void coins_f32(struct num_rng *r, float *out, int64_t n, double p)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = draw_f64(r) < p ? 1.0f : 0.0f;
}

static void one_coin(struct fill *f, char *p, const char *q)
{
	(void)q;
	dtype_store_int(f->dt, p, draw_f64(f->r) < f->a);
}

/* 1 with probability p, from double draws for every dtype, as in PyTorch. */
int num_bernoulli(struct num_rng *r, const struct tensor *t, double p, struct err *e)
{
	struct fill f = { .r = r, .a = p, .one = one_coin };

	if (!(p >= 0 && p <= 1))
		return err_set(e, ERR_STATE, "bernoulli_ expects p to be in [0, 1], but got p=%g", p);
	if (t->dt == DT_F32 && tensor_is_contiguous(t) && !t->st->hollow) {
		coins_f32(r, tensor_data(t), tensor_numel(t), p);
		tensor_mark_defined(t);
		return 0;
	}
	return fill(&f, t, e);
}

/* One probability per element; the precision of the draw follows the dtype of the
 * probabilities. */
static void one_coin_each(struct fill *f, char *p, const char *q)
{
	double prob = dtype_load(f->p->dt, q);

	if (!(prob >= 0 && prob <= 1))
		f->range = 1;
	dtype_store_int(f->dt, p, f->draws == DT_F64 ? draw_f64(f->r) < prob : draw_f32(f->r) < (float)prob);
}

int num_bernoulli_tensor(struct num_rng *r, const struct tensor *t, const struct tensor *p,
			 enum dtype dt, struct err *e)
{
	struct fill f = { .r = r, .pdata = tensor_data(p), .draws = dt, .one = one_coin_each };
	struct tensor each;
	int rc;

	/* The probabilities are expanded to the shape of t; the loop accepts any strides. */
	if (tensor_expand(&each, p, t->ndim, t->shape, e))
		return -1;
	f.p = &each;
	rc = fill(&f, t, e);
	tensor_release(&each);
	if (rc)
		return -1;
	if (f.range)
		return err_set(e, ERR_STATE, "Expected p_in >= 0 && p_in <= 1 to be true, but got false.");
	return 0;
}

/* -log(1 - u) / lambda. */
static void one_exponential(struct fill *f, char *p, const char *q)
{
	(void)q;
	dtype_store(f->dt, p, -1 / f->a * log1p(-draw_f64(f->r)));
}

int num_exponential(struct num_rng *r, const struct tensor *t, double lambda, struct err *e)
{
	struct fill f = { .r = r, .a = lambda, .one = one_exponential };

	return fill(&f, t, e);
}

/* Fisher-Yates from the front. PyTorch uses 32-bit draws for n below 2^32 / 20, where the
 * modulo bias is small. */
int num_randperm(struct num_rng *r, const struct tensor *t, struct err *e)
{
	int64_t n = t->st->hollow ? 0 : tensor_numel(t), *v = mem_array((size_t)n + 1, sizeof *v);

	if (!v)
		return err_nomem(e);
	for (int64_t i = 0; i < n; i++)
		v[i] = i;
	for (int64_t i = 0; i < n - 1; i++) {
		uint64_t z = n < UINT32_MAX / 20 ? num_rng_u32(r) : num_rng_u64(r);
		int64_t j = i + (int64_t)(z % (uint64_t)(n - i)), swap = v[i];

		v[i] = v[j];
		v[j] = swap;
	}
	dtype_convert(t->dt, tensor_data(t), DT_I64, v, (size_t)n);
	mem_free(v);
	return 0;
}

/* Weights of one row: none negative, infinite or NaN, and a positive sum. With and without
 * replacement the messages differ, as in PyTorch. */
static int check_weights(const double *w, int64_t C, int replacement, struct err *e)
{
	double sum = 0;

	for (int64_t i = 0; i < C; i++) {
		if (!replacement && (!(w[i] >= 0) || isinf(w[i])))
			return err_set(e, ERR_STATE, "probability tensor contains either `inf`, `nan` or element < 0");
		if (!(w[i] >= 0))
			return err_set(e, ERR_STATE,
				       "invalid multinomial distribution (encountering probability entry < 0)");
		if (isinf(w[i]))
			return err_set(e, ERR_STATE,
				       "invalid multinomial distribution (encountering "
				       "probability entry = infinity or NaN)");
		sum += w[i];
	}
	return sum > 0 ? 0 : err_set(e, ERR_STATE, "invalid multinomial distribution (sum of probabilities <= 0)");
}

/* Checks p [C] or [rows, C] and n; contents are checked only if there are any. */
int num_check_multinomial(struct num_ctx *c, const struct tensor *p, int64_t n, int replacement,
			  struct err *e)
{
	int64_t C = p->ndim ? p->shape[p->ndim - 1] : 0, rows = p->ndim == 2 ? p->shape[0] : 1;
	struct tensor d;
	int rc = 0;

	if (p->ndim < 1 || p->ndim > 2)
		return err_set(e, ERR_STATE, "prob_dist must be 1 or 2 dim");
	if (!dtype_is_float(p->dt))
		return err_set(e, ERR_STATE,
			       "multinomial only supports floating-point dtypes for input, got: %s",
			       num_type_name(p->dt));
	if (n <= 0)
		return err_set(e, ERR_STATE, "cannot sample n_sample <= 0 samples");
	if (!replacement && n > C)
		return err_set(e, ERR_STATE, "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
	if (!C && rows)
		return err_set(e, ERR_STATE,
			       "min(): Expected reduction dim to be specified for input.numel() "
			       "== 0. Specify the reduction dim with the 'dim' argument.");
	if (c->hollow)
		return 0;
	if (num_to(c, &d, p, DT_F64, e))
		return -1;
	for (int64_t i = 0; i < rows && !rc; i++)
		rc = check_weights((double *)tensor_data(&d) + i * C, C, replacement, e);
	tensor_release(&d);
	return rc;
}

/* First index whose cumulative sum reaches u; binary search in cum[0..n). */
static int64_t index_of(const double *cum, int64_t n, double u)
{
	int64_t lo = 0, hi = n - 1;

	while (lo < hi) {
		int64_t mid = lo + (hi - lo) / 2;

		if (cum[mid] < u)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* n draws with replacement from each row of weights, by inversion of the cumulative sum. p
 * [rows, C] gives [rows, n]. */
int num_multinomial(struct num_rng *r, struct num_ctx *c, struct tensor *out,
		    const struct tensor *p, int64_t n, struct err *e)
{
	enum { SUM_WORK = 4, DRAW_WORK = 100 };
	int64_t C = p->ndim ? p->shape[p->ndim - 1] : 0, rows = p->ndim == 2 ? p->shape[0] : 1;
	struct tensor d;

	if (num_check_multinomial(c, p, n, 1, e) ||
	    num_new(c, out, DT_I64, p->ndim, p->ndim == 2 ? (int64_t[]){ rows, n } : (int64_t[]){ n }, e))
		return -1;
	if (num_to(c, &d, p, DT_F64, e)) {
		tensor_release(out);
		return -1;
	}
	if (num_charge(c, (uint64_t)rows * ((uint64_t)C * SUM_WORK + (uint64_t)n * DRAW_WORK), e)) {
		tensor_release(&d);
		tensor_release(out);
		return -1;
	}
	for (int64_t i = 0; i < rows && !c->hollow; i++) {
		double *cum = (double *)tensor_data(&d) + i * C;
		int64_t *to = (int64_t *)tensor_data(out) + i * n;

		for (int64_t j = 1; j < C; j++)
			cum[j] += cum[j - 1];
		for (int64_t k = 0; k < n; k++)
			to[k] = index_of(cum, C, draw_f64(r) * cum[C - 1]);
	}
	tensor_release(&d);
	return 0;
}
