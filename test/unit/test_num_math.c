/* Elementary functions of the vector kernels: accuracy against libm's double, and the same
 * bits on every instruction set this machine has. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "num/ew.h"
#include "num/reduce.h"
#include "num/rows.h"

enum { N = 1000 };

static double ulps(float got, double want)
{
	float w = (float)want, u;

	if ((isnan(got) && isnan(w)) || got == w)
		return 0;
	if (!isfinite(got) || !isfinite(w))
		return 1e9;
	u = nextafterf(fabsf(w), INFINITY) - fabsf(w);
	return fabs((double)got - want) / (double)u;
}

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

/* Floats of all sizes: every 4,999th bit pattern. */
static double worst(enum num_op op, double (*exact)(double), double least)
{
	const struct num_kernel *k = &SIMD_PICK(num_kernels)()[op];
	double p[3] = { 0 }, most = 0;
	float x[N], y[N];
	uint64_t bits = 0;

	while (bits < 1ull << 32) {
		size_t n = 0;

		for (; n < N && bits < 1ull << 32; bits += 4999, n++) {
			uint32_t u = (uint32_t)bits;

			memcpy(&x[n], &u, sizeof u);
		}
		k->f32(y, x, x, x, n, p);
		for (size_t i = 0; i < n; i++) {
			double want = exact(x[i]);

			if (fabs(want) >= least || want == 0)
				most = fmax(most, ulps(y[i], want));
		}
	}
	return most;
}

/* Against x (1 + erf(x / sqrt 2)) / 2: two ulp, and a quarter of what rounding 1 + erf to float costs. */
static void test_gelu(void **state)
{
	const struct num_kernel *k = &SIMD_PICK(num_kernels)()[NUM_gelu];
	double p[3] = { 0 };
	float y;

	(void)state;
	for (uint64_t bits = 0; bits < 1ull << 32; bits += 9973) {
		uint32_t u = (uint32_t)bits;
		double want, ulp;
		float x;

		memcpy(&x, &u, sizeof x);
		k->f32(&y, &x, &x, &x, 1, p);
		want = (double)x * 0.5 * erfc(-(double)x * M_SQRT1_2);
		if (!isfinite(x)) {
			assert_true(x > 0 ? y == x : isnan(y));
			continue;
		}
		ulp = (double)nextafterf(fabsf((float)want), INFINITY) - (double)fabsf((float)want);
		if (fabs((double)y - want) > 2 * ulp + 1.5e-8 * fabs((double)x))
			fail_msg("gelu(%.9g) is %.9g, not %.9g", (double)x, (double)y, want);
	}
}

static void test_power(void **state)
{
	const struct num_kernel *k = &SIMD_PICK(num_kernels)()[NUM_float_power];
	double p[3] = { 0 }, most = 0;
	float a[N], b[N], y[N];
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 300; round++) {
		for (int i = 0; i < N; i++) {
			uint32_t u = ((seed = seed * 1664525u + 1013904223u) >> 1) % 0x7f800000u;

			memcpy(&a[i], &u, sizeof u);
			b[i] = ((float)(seed = seed * 1664525u + 1013904223u) / 4294967296.0f - 0.5f) * (float)(round + 1);
			if (round % 3 == 0)
				a[i] = 1 + a[i] / 3.4e38f;
			if (round % 5 == 0) {
				a[i] = i % 7 ? -a[i] : i % 2 ? -0.0f : 0.0f;
				b[i] = i % 3 ? truncf(b[i]) : b[i];
			}
		}
		a[round] = round % 2 ? NAN : -INFINITY;
		b[round + 1] = INFINITY;
		k->f32(y, a, b, b, N, p);
		for (int i = 0; i < N; i++) {
			double want = pow((double)a[i], (double)b[i]);

			most = fmax(most, ulps(y[i], want));
			assert_true(isnan(want) || !signbit(y[i]) == !signbit(want));
		}
	}
	assert_true(most < 0.51);
}

/* One unusual element in a run does not change its neighbours. */
static void test_neighbours(void **state)
{
	double p[3] = { 0.7, 1.3, 0.9 };
	float x[N], y[N], z[N];

	(void)state;
	for (int i = 0; i < N; i++)
		x[i] = (float)i * 0.01f + 0.5f;
	for (int op = 0; op < NUM_OPS; op++) {
		const struct num_kernel *k = &SIMD_PICK(num_kernels)()[op];

		if (!k->f32 || num_op_info((enum num_op)op)->result == NUM_BOOL_OUT)
			continue;
		k->f32(y, x, x, x, N, p);
		x[77] = -1e9f;
		k->f32(z, x, x, x, N, p);
		x[77] = 77 * 0.01f + 0.5f;
		z[77] = y[77];
		if (memcmp(y, z, sizeof y))
			fail_msg("%s: an element depends on its neighbours", num_op_info((enum num_op)op)->name);
	}
}

static void test_accuracy(void **state)
{
	(void)state;
	assert_true(worst(NUM_exp, exp, 0) < 1.5);
	assert_true(worst(NUM_expm1, expm1, 0) < 2);
	assert_true(worst(NUM_log, log, 0) < 1.5);
	assert_true(worst(NUM_log1p, log1p, 0) < 2);
	assert_true(worst(NUM_tanh, tanh, 0) < 3);
	assert_true(worst(NUM_erf, erf, 0) < 2);
	assert_true(worst(NUM_sin, sin, 1e-3) < 2);       /* near its zeros the argument is what is inexact */
	assert_true(worst(NUM_cos, cos, 1e-3) < 2);
	assert_true(worst(NUM_sigmoid, sigmoid, 1e-37) < 3);
}

struct level { const struct num_kernel *ew; const struct num_red_kernel *red; const struct num_rows *f32, *f64; };

static size_t levels(struct level *l)
{
	size_t n = 0;

	l[n++] = (struct level){ num_kernels_base(), num_red_kernels_base(), num_rows_base(DT_F32), num_rows_base(DT_F64) };
#if defined(__x86_64__)
	if (cpu_info()->level >= CPU_V3)
		l[n++] = (struct level){ num_kernels_v3(), num_red_kernels_v3(), num_rows_v3(DT_F32), num_rows_v3(DT_F64) };
	if (cpu_info()->level >= CPU_V4)
		l[n++] = (struct level){ num_kernels_v4(), num_red_kernels_v4(), num_rows_v4(DT_F32), num_rows_v4(DT_F64) };
#endif
	return n;
}

static void fill(float *x, double *d, int64_t *i, uint32_t seed)
{
	for (int k = 0; k < N; k++) {
		seed = seed * 1664525u + 1013904223u;
		d[k] = ((double)seed / 4294967296.0 - 0.5) * 20;
		x[k] = (float)d[k];
		i[k] = (int64_t)d[k];
	}
}

static void test_same_bits_on_every_level(void **state)
{
	struct level l[3];
	size_t n = levels(l);
	float x[3][N], y[2][N];
	double d[3][N], z[2][N], p[3] = { 0.7, 1.3, 0.9 };
	int64_t i[3][N], w[2][N];

	(void)state;
	for (uint32_t k = 0; k < 3; k++)
		fill(x[k], d[k], i[k], k + 1);
	for (size_t v = 1; v < n; v++)
		for (int op = 0; op < NUM_OPS; op++)
			for (size_t s = 0; s < 2; s++) {
				const struct num_kernel *k = &l[s ? v : 0].ew[op];

				memset(y[s], 0, sizeof y[s]);
				memset(z[s], 0, sizeof z[s]);
				memset(w[s], 0, sizeof w[s]);
				if (k->f32)
					k->f32(y[s], x[0], x[1], x[2], N, p);
				if (k->f64)
					k->f64(z[s], d[0], d[1], d[2], N, p);
				if (k->i64)
					k->i64(w[s], i[0], i[1], i[2], N, p);
				if (s && (memcmp(y[0], y[1], sizeof y[0]) || memcmp(z[0], z[1], sizeof z[0]) || memcmp(w[0], w[1], sizeof w[0])))
					fail_msg("%s differs between instruction sets", num_op_info((enum num_op)op)->name);
			}
	for (size_t v = 1; v < n; v++)
		for (int op = 0; op < NUM_REDS; op++) {
			union num_acc a = l[0].red[op].start[0], b = a;

			l[0].red[op].row[0](&a, x[0], N, 0.5);
			l[v].red[op].row[0](&b, x[0], N, 0.5);
			assert_memory_equal(&a, &b, sizeof a);
		}
	for (size_t v = 1; v < n; v++) {
		l[0].f32->softmax(y[0], x[0], N, 1, 1, 0);
		l[v].f32->softmax(y[1], x[0], N, 1, 1, 0);
		assert_memory_equal(y[0], y[1], sizeof y[0]);
		l[0].f32->layer_norm(y[0], x[0], N, x[1], x[2], 1e-5, 0);
		l[v].f32->layer_norm(y[1], x[0], N, x[1], x[2], 1e-5, 0);
		assert_memory_equal(y[0], y[1], sizeof y[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accuracy),
		cmocka_unit_test(test_gelu),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_same_bits_on_every_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
