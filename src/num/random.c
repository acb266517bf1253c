/* The Mersenne twister and the draws that PyTorch's CPU kernels make from it: see random.h. */
#include "num/random.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/mem.h"
#include "num/shape.h"

enum { N = 624 };

SIMD_DECLARE(void, mt_next, (uint32_t *s))
SIMD_DECLARE(void, mt_temper, (uint32_t *out, const uint32_t *s, size_t n))
SIMD_DECLARE(void, mt_uniform, (float *out, const uint32_t *w, size_t n, float from, float range))
SIMD_DECLARE(void, box_muller, (float *d, size_t blocks, float mean, float std))

/* The state is made at the first draw: most generators that are seeded are never drawn from. */
void num_rng_seed(struct num_rng *r, uint64_t seed)
{
	r->seed = seed;
	r->seeded = r->left = 1;
	r->next = r->has_normal = r->ends = 0;
	r->normal = 0.0;
}

static void first_state(struct num_rng *r)
{
	r->seeded = 0;
	r->state[0] = (uint32_t)r->seed;
	for (uint32_t j = 1; j < N; j++)
		r->state[j] = 1812433253u * (r->state[j - 1] ^ r->state[j - 1] >> 30) + j;
}

static void next_state(struct num_rng *r)
{
	if (r->seeded)
		first_state(r);
	SIMD_PICK(mt_next)(r->state);
	r->left = N;
	r->next = 0;
}

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

/* The next words of the stream that lie in one state, at most `most` of them. */
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

/* n uniform floats, dense. */
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

/* The first draw is the high half. */
uint64_t num_rng_u64(struct num_rng *r)
{
	uint64_t hi = num_rng_u32(r);

	return hi << 32 | num_rng_u32(r);
}

static double draw_f64(struct num_rng *r)
{
	return (double)(num_rng_u64(r) & ((1ull << 53) - 1)) * 0x1p-53;
}

static float draw_f32(struct num_rng *r)
{
	return (float)(num_rng_u32(r) & ((1u << 24) - 1)) * 0x1p-24f;
}

/* --- filling in element order ------------------------------------------------------------------- */

/* Draws happen in the order of the logical index, whatever the strides... except that
 * PyTorch's iterator walks dense permuted tensors in memory order. */
struct fill {
	struct num_rng *r;
	char *data;
	enum dtype dt, draws;
	int64_t stride;
	double a, b;
	int64_t from;
	uint64_t range;
	const struct tensor *p;
	const char *pdata;
	int64_t pstride;
	void (*one)(struct fill *f, char *p, const char *q);
};

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
 * compiled with fused multiply-add. */

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

/* Half types: as many random bits as the mantissa holds, arithmetic in float, bounds rounded. */
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

static double rounded(enum dtype dt, double v)
{
	char h[8];

	dtype_store(dt, h, v);
	return dtype_load(dt, h);
}

int num_uniform(struct num_rng *r, const struct tensor *t, enum dtype dt, double from, double to, struct err *e)
{
	struct fill f = { .r = r, .a = from, .b = to, .draws = dt };

	if (!dtype_is_float(t->dt))
		return err_set(e, ERR_STATE, "\"check_uniform_bounds\" not implemented for '%s'", num_type_name(t->dt));
	if (from > to)
		return err_set(e, ERR_STATE,
			       "uniform_ expects to return a [from, to) range, but found from=%g > to=%g", from, to);
	f.one = dt == DT_F64 ? one_uniform_f64 : dt == DT_F32 ? one_uniform_f32 : one_uniform_half;
	if (dt == DT_F32 && t->dt == DT_F32 && tensor_is_contiguous(t) && !t->st->hollow) {
		uniform_f32(r, tensor_data(t), (size_t)tensor_numel(t), (float)from, (float)to - (float)from);
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

static void one_normal(struct fill *f, char *p, const char *q)
{
	double v = fma(draw_normal(f->r), f->b, f->a);
	char h[8];

	(void)q;
	dtype_store(f->draws, h, v);
	dtype_convert(f->dt, p, f->draws, h, 1);
}

/* Sixteen uniform draws become sixteen normals: eight radii with eight angles. */
static void box_muller_f64(double *d, double mean, double std)
{
	for (int j = 0; j < 8; j++) {
		double u1 = 1 - d[j], u2 = d[j + 8], rad = sqrt(-2 * log(u1)), theta = 2.0f * M_PI * u2;

		d[j] = fma(rad * cos(theta), std, mean);
		d[j + 8] = fma(rad * sin(theta), std, mean);
	}
}

/* Every operation of the half types rounds. */
static float rh(enum dtype dt, float v)
{
	char h[2];

	dtype_convert(dt, h, DT_F32, &v, 1);
	dtype_convert(DT_F32, &v, dt, h, 1);
	return v;
}

static void box_muller_half(enum dtype dt, float *d, float mean, float std)
{
	for (int j = 0; j < 8; j++) {
		float u1 = rh(dt, 1 - d[j]), u2 = d[j + 8], rad = rh(dt, sqrtf(rh(dt, -2 * rh(dt, logf(u1)))));
		float theta = rh(dt, (float)(2.0 * M_PI * (double)u2));

		d[j] = rh(dt, rh(dt, rh(dt, rad * rh(dt, cosf(theta))) * std) + mean);
		d[j + 8] = rh(dt, rh(dt, rh(dt, rad * rh(dt, sinf(theta))) * std) + mean);
	}
}

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
			((float *)d)[i] = (float)(num_rng_u32(r) & ((1u << bits) - 1)) * (dt == DT_F16 ?
					0x1p-11f : 0x1p-8f);
}

/* `blocks` times sixteen draws, in place. */
static void transform_16(enum dtype dt, void *d, int64_t blocks, double mean, double std)
{
	if (dt == DT_F32)
		SIMD_PICK(box_muller)(d, (size_t)blocks, (float)mean, (float)std);
	for (int64_t i = 0; i < blocks && dt != DT_F32; i++)
		if (dt == DT_F64)
			box_muller_f64((double *)d + 16 * i, mean, std);
		else
			box_muller_half(dt, (float *)d + 16 * i, rh(dt, (float)mean), rh(dt, (float)std));
}

/* Contiguous tensors of 16 or more: all uniforms first, then blocks; a rest is drawn anew as
 * the last sixteen. */
static int normal_blocks(struct num_rng *r, const struct tensor *t, enum dtype dt, double mean, double std,
			 struct err *e)
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

int num_normal(struct num_rng *r, const struct tensor *t, enum dtype dt, double mean, double std, struct err *e)
{
	struct fill f = { .r = r, .a = mean, .b = std, .draws = dt, .one = one_normal };

	if (!(std >= 0))
		return err_set(e, ERR_STATE, "normal expects std >= 0.0, but found std %g", std);
	if (!dtype_is_float(t->dt))
		return err_set(e, ERR_STATE, "\"normal_kernel_cpu\" not implemented for '%s'", num_type_name(t->dt));
	if (tensor_numel(t) >= 16 && tensor_is_contiguous(t) && !t->st->hollow)
		return normal_blocks(r, t, dt, mean, std, e);
	return fill(&f, t, e);
}

/* --- integers, coins, orders ------------------------------------------------------------------------ */

static void one_int(struct fill *f, char *p, const char *q)
{
	uint64_t v = f->range >= 1ull << 28 ? num_rng_u64(f->r) : num_rng_u32(f->r);

	(void)q;
	dtype_store_int(f->dt, p, (int64_t)(v % f->range + (uint64_t)f->from));
}

/* Whatever was drawn: both ends of the range are among it. */
static void store_ends(const struct tensor *t, int64_t from, int64_t to)
{
	int64_t n = tensor_numel(t);
	char *p = tensor_data(t);

	if (n < 2 || t->st->hollow || !tensor_is_contiguous(t))
		return;
	dtype_store_int(t->dt, p, from);
	dtype_store_int(t->dt, p + (size_t)(n - 1) * (size_t)dtype_size(t->dt), to - 1);
}

int num_randint(struct num_rng *r, const struct tensor *t, int64_t from, int64_t to, struct err *e)
{
	struct fill f = { .r = r, .from = from, .range = (uint64_t)to - (uint64_t)from, .one = one_int };

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

/* Dense f32 tensors, as masks of dropout are: 0 or 1 from 53-bit draws. */
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

static void one_coin_each(struct fill *f, char *p, const char *q)
{
	double prob = dtype_load(f->p->dt, q);

	if (!(prob >= 0 && prob <= 1))
		f->range = 1;
	dtype_store_int(f->dt, p, f->draws == DT_F64 ? draw_f64(f->r) < prob : draw_f32(f->r) < (float)prob);
}

int num_bernoulli_tensor(struct num_rng *r, const struct tensor *t, const struct tensor *p, enum dtype dt,
			 struct err *e)
{
	struct fill f = { .r = r, .pdata = tensor_data(p), .draws = dt, .one = one_coin_each };
	struct tensor each;
	int rc;

	/* A probability for each element: the loop below takes strides as they are. */
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

/* Fisher-Yates from the front; 32-bit draws below the point where they would be biased. */
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

/* The weights of one row: none is negative or endless, and some are left. */
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

int num_check_multinomial(struct num_ctx *c, const struct tensor *p, int64_t n, int replacement, struct err *e)
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

/* Where u falls among sums that grow. */
static int64_t place_of(const double *cum, int64_t n, double u)
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

int num_multinomial(struct num_rng *r, struct num_ctx *c, struct tensor *out, const struct tensor *p,
		    int64_t n, struct err *e)
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
			to[k] = place_of(cum, C, draw_f64(r) * cum[C - 1]);
	}
	tensor_release(&d);
	return 0;
}
