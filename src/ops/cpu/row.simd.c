/* Row kernels: see row.h. Each is one loop over a row in vectors with a masked tail, sums in a
 * fixed order. */
#include "ops/cpu/row.h"

#include <math.h>

#include "ops/cpu/vec.h"

/* LOOP walks the whole vectors of a row; TAIL handles the last `left` elements, fewer than VW. */
#define LOOP(i, n) for (int i = 0; i + VW <= (n); i += VW)
#define TAIL(i, n) for (int i = (n) / VW * VW, left = (n) - i; left > 0; left = 0)

/* y = x rstd w; returns rstd = 1 / sqrt(mean(x^2) + eps). */
static float rms(float *y, const float *x, const float *w, int n, float eps)
{
	vf s = vf_zero();
	float rstd;
	vf r;

	LOOP(i, n) {
		vf v = vf_load(x + i);

		s = vf_fma(v, v, s);
	}
	TAIL(i, n) {
		vf v = vf_load_n(x + i, left);

		s = vf_fma(v, v, s);
	}
	rstd = 1.0f / sqrtf(vf_sum(s) / (float)n + eps);
	r = vf_set1(rstd);
	LOOP(i, n)
		vf_store(y + i, vf_load(x + i) * r * vf_load(w + i));
	TAIL(i, n)
		vf_store_n(y + i, vf_load_n(x + i, left) * r * vf_load_n(w + i, left), left);
	return rstd;
}

/* dx (+)= rstd (dy w - x rstd^2 mean(dy w x)). */
static void rms_grad(float *dx, const float *dy, const float *x, const float *w, float rstd, int n, int add)
{
	vf s = vf_zero(), r = vf_set1(rstd), k, old = vf_zero();

	LOOP(i, n)
		s = vf_fma(vf_load(dy + i) * vf_load(w + i), vf_load(x + i), s);
	TAIL(i, n)
		s = vf_fma(vf_load_n(dy + i, left) * vf_load_n(w + i, left), vf_load_n(x + i, left), s);
	k = vf_set1(vf_sum(s) * rstd * rstd / (float)n);
	LOOP(i, n) {
		vf g = vf_load(dy + i) * vf_load(w + i) - vf_load(x + i) * k;

		if (add)
			old = vf_load(dx + i);
		vf_store(dx + i, vf_fma(g, r, old));
	}
	TAIL(i, n) {
		vf g = vf_load_n(dy + i, left) * vf_load_n(w + i, left) - vf_load_n(x + i, left) * k;

		if (add)
			old = vf_load_n(dx + i, left);
		vf_store_n(dx + i, vf_fma(g, r, old), left);
	}
}

/* out += a b s. */
static void mul3_add(float *out, const float *a, const float *b, float s, int n)
{
	vf k = vf_set1(s);

	LOOP(i, n)
		vf_store(out + i, vf_fma(vf_load(a + i) * vf_load(b + i), k, vf_load(out + i)));
	TAIL(i, n)
		vf_store_n(out + i, vf_fma(vf_load_n(a + i, left) * vf_load_n(b + i, left), k,
					   vf_load_n(out + i, left)), left);
}

static void add(float *y, const float *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] += x[i];
}

static void scale(float *x, size_t n, float s)
{
	for (size_t i = 0; i < n; i++)
		x[i] *= s;
}

static vf sigmoid(vf x)
{
	return vf_set1(1.0f) / (vf_set1(1.0f) + vf_exp(-x));
}

/* h = g sigmoid(g) u. */
static void swiglu(float *h, const float *g, const float *u, int n)
{
	LOOP(i, n) {
		vf x = vf_load(g + i);

		vf_store(h + i, x * sigmoid(x) * vf_load(u + i));
	}
	TAIL(i, n) {
		vf x = vf_load_n(g + i, left);

		vf_store_n(h + i, x * sigmoid(x) * vf_load_n(u + i, left), left);
	}
}

static void swiglu_grad(float *dg, float *du, const float *dh, const float *g, const float *u, int n)
{
	const vf one = vf_set1(1.0f);

	LOOP(i, n) {
		vf x = vf_load(g + i), s = sigmoid(x), d = vf_load(dh + i), v = vf_load(u + i);

		vf_store(du + i, d * x * s);
		vf_store(dg + i, d * v * s * vf_fma(x, one - s, one));
	}
	TAIL(i, n) {
		vf x = vf_load_n(g + i, left), s = sigmoid(x), d = vf_load_n(dh + i, left), v = vf_load_n(u + i, left);

		vf_store_n(du + i, d * x * s, left);
		vf_store_n(dg + i, d * v * s * vf_fma(x, one - s, one), left);
	}
}

/* Rotates the pairs (x[i], x[i + half]); sign -1 rotates back. */
static void rotate(float *x, const float *cos, const float *sin, int half, float sign)
{
	vf k = vf_set1(sign);

	LOOP(i, half) {
		vf a = vf_load(x + i), b = vf_load(x + half + i), c = vf_load(cos + i), s = vf_load(sin + i) * k;

		vf_store(x + i, a * c - b * s);
		vf_store(x + half + i, b * c + a * s);
	}
	TAIL(i, half) {
		vf a = vf_load_n(x + i, left), b = vf_load_n(x + half + i, left);
		vf c = vf_load_n(cos + i, left), s = vf_load_n(sin + i, left) * k;

		vf_store_n(x + i, a * c - b * s, left);
		vf_store_n(x + half + i, b * c + a * s, left);
	}
}

/* The largest element. */
static float row_max(const float *x, int n)
{
	vf m = vf_set1(-INFINITY);
	float top;

	LOOP(i, n)
		m = vf_max(m, vf_load(x + i));
	top = vf_hmax(m);
	for (int i = n / VW * VW; i < n; i++)
		top = x[i] > top ? x[i] : top;
	return top;
}

/* Maximum, sum of exp(x - max), and that sum weighted by x, in one pass after the maximum. */
static struct row_stats exp_stats(const float *x, int n)
{
	struct row_stats r = { .max = row_max(x, n) };
	vf m = vf_set1(r.max), s = vf_zero(), w = vf_zero();

	LOOP(i, n) {
		vf v = vf_load(x + i), e = vf_exp(v - m);

		s = s + e;
		w = vf_fma(e, v, w);
	}
	TAIL(i, n) {
		float t[VW];
		vf v = vf_load_n(x + i, left), e;

		for (int j = 0; j < VW; j++)
			t[j] = j < left ? 0 : -INFINITY;
		e = vf_exp(v - m + vf_load(t));
		s = s + e;
		w = vf_fma(e, v, w);
	}
	r.sum = vf_sum(s);
	r.weighted = vf_sum(w);
	return r;
}

/* x = -coef exp(x - lse). */
static void xent_grad(float *x, int n, float lse, float coef)
{
	vf l = vf_set1(lse), k = vf_set1(-coef);

	LOOP(i, n)
		vf_store(x + i, vf_exp(vf_load(x + i) - l) * k);
	TAIL(i, n)
		vf_store_n(x + i, vf_exp(vf_load_n(x + i, left) - l) * k, left);
}

/* A 32-bit mixer, two multiplies and shifts: the mask is a function of place, not of the order
 * of drawing. */
static inline uint32_t mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

/* Elements [begin, end): y (+)= x keep, or 0 where the hash of the index is below the threshold. */
static void dropout(const struct row_drop *o, size_t begin, size_t end)
{
	const float *x = o->x + begin;
	float *y = o->y + begin, keep = o->keep;
	uint32_t k0 = o->k0, k1 = o->k1, below = o->below, at = (uint32_t)begin, n = (uint32_t)(end - begin);

	if (o->add)
		for (uint32_t i = 0; i < n; i++)
			y[i] += mix(mix((at + i) ^ k0) + k1) < below ? 0.0f : x[i] * keep;
	else
		for (uint32_t i = 0; i < n; i++)
			y[i] = mix(mix((at + i) ^ k0) + k1) < below ? 0.0f : x[i] * keep;
}

/* Sixteen partial sums at every level. */
static double sumsq(const float *x, size_t n)
{
	double part[16] = { 0 }, s = 0;
	size_t i = 0;

	for (; i + 16 <= n; i += 16)
		for (int j = 0; j < 16; j++)
			part[j] += (double)x[i + (size_t)j] * (double)x[i + (size_t)j];
	for (; i < n; i++)
		part[i % 16] += (double)x[i] * (double)x[i];
	for (int j = 0; j < 16; j++)
		s += part[j];
	return s;
}

/* AdamW's constants as vectors. */
struct adamw_vec { vf b1, b2, c1, c2, g, shrink, step, root, eps; };

static void adamw_one(const struct adamw_vec *k, vf *w, vf *m, vf *v, vf g)
{
	g = g * k->g;
	*m = vf_fma(*m, k->b1, g * k->c1);
	*v = vf_fma(*v, k->b2, g * g * k->c2);
	*w = *w * k->shrink - k->step * *m / vf_fma(vf_sqrt(*v), k->root, k->eps);
}

static void adamw(float *w, float *m, float *v, const float *g, size_t n, const struct adamw *o)
{
	const struct adamw_vec k = {
		.b1 = vf_set1(o->beta1), .c1 = vf_set1(1 - o->beta1),
		.b2 = vf_set1(o->beta2), .c2 = vf_set1(1 - o->beta2),
		.g = vf_set1(o->scale), .shrink = vf_set1(1 - o->lr * o->decay),
		.step = vf_set1(o->lr / o->correct1), .root = vf_set1(1 / sqrtf(o->correct2)), .eps = vf_set1(o->eps),
	};
	for (size_t i = 0; i < n; i += VW) {
		int c = n - i < VW ? (int)(n - i) : VW;
		vf a = vf_load_n(w + i, c), b = vf_load_n(m + i, c), d = vf_load_n(v + i, c);

		adamw_one(&k, &a, &b, &d, vf_load_n(g + i, c));
		vf_store_n(w + i, a, c);
		vf_store_n(m + i, b, c);
		vf_store_n(v + i, d, c);
	}
}

const struct row_kernels *SIMD_FN(row_kernels)(void)
{
	static const struct row_kernels k = {
		.rms = rms, .rms_grad = rms_grad, .mul3_add = mul3_add, .add = add, .scale = scale,
		.swiglu = swiglu, .swiglu_grad = swiglu_grad, .rotate = rotate, .exp_stats = exp_stats,
		.xent_grad = xent_grad, .dropout = dropout, .sumsq = sumsq, .adamw = adamw,
	};

	return &k;
}
