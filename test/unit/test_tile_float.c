/* Floating operations: IEEE arithmetic in every width, functions within 2 ulp of long double,
 * the same bits at every instruction set, casts. */
#include "tile_rig.h"

#include <math.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "tile/machine/math_special.h"
#include "tile/machine/math_table.h"

enum { N = 4096 };

static double lane(enum dtype dt, const void *p, int i) { return dtype_load(dt, (const char *)p + i * dtype_size(dt)); }

/* Random floats of all sizes, with the special ones among them. */
static void fill(enum dtype dt, void *p, int n, uint64_t seed, double lo, double hi)
{
	static const double special[] = { 0, -0.0, 1, -1, 0.5, INFINITY, -INFINITY, NAN, 1e-40, -1e-40, 65504, 448 };
	struct rng g;
	rng_init(&g, seed, "tile float");
	for (int i = 0; i < n; i++) {
		double v = lo + (hi - lo) * rng_f64(&g);
		if (i % 3 == 1)
			v = copysign(exp2(rng_f64(&g) * 40 - 20), v);
		if (lo < 0 && i % 16 == 0)
			v = special[rng_below(&g, COUNT_OF(special))];
		if (v < lo || v > hi)
			v = i % 16 == 0 && lo == -1e4 ? v : lo + (hi - lo) * rng_f64(&g);
		dtype_store(dt, (char *)p + i * dtype_size(dt), v);
	}
}

static double ref2(enum tile_op op, double x, double y)
{
	switch (op) {
	case TOP_ADD: return x + y;
	case TOP_SUB: return x - y;
	case TOP_MUL: return x * y;
	case TOP_DIV: return x / y;
	case TOP_REM: return fmod(x, y);
	case TOP_MAX: return isnan(x) ? y : isnan(y) ? x : x > y ? x : y;
	case TOP_MIN: return isnan(x) ? y : isnan(y) ? x : x < y ? x : y;
	case TOP_MAX_NAN: return isnan(x) || isnan(y) ? NAN : x > y ? x : y;
	case TOP_MIN_NAN: return isnan(x) || isnan(y) ? NAN : x < y ? x : y;
	case TOP_LT: return x < y;
	case TOP_GE: return x >= y;
	case TOP_NE: return x != y;
	default: return 0;
	}
}

/* fp64 references round once more in fp32 and narrower, which is exact for these operations. */
static void test_arithmetic(void **state)
{
	static const enum tile_op ops[] = { TOP_ADD, TOP_SUB, TOP_MUL, TOP_DIV, TOP_REM, TOP_MAX, TOP_MIN, TOP_MAX_NAN, TOP_MIN_NAN, TOP_LT, TOP_GE, TOP_NE };
	static const enum dtype types[] = { DT_F64, DT_F32, DT_F16, DT_BF16, DT_F8E4M3, DT_F8E5M2 };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(ops); k++)
		for (size_t t = 0; t < COUNT_OF(types); t++) {
			enum dtype dt = types[t], to = ops[k] >= TOP_EQ && ops[k] <= TOP_GE ? DT_BOOL : dt;
			struct rig r;
			void *a, *b, *o;
			unsigned char want[8];
			tile_reg x, y;

			rig_open(&r);
			x = rig_input(&r, rig_tile(dt, N), &a);
			y = rig_input(&r, rig_tile(dt, N), &b);
			rig_output(&r, tile_build(&r.b, ops[k], rig_tile(to, N), 2, x, y), &o);
			fill(dt, a, N, 1, -1e4, 1e4);
			fill(dt, b, N, 2, -1e4, 1e4);
			rig_run(&r);
			for (int i = 0; i < N; i++) {
				double w, got;

				dtype_store(to, want, ref2(ops[k], lane(dt, a, i), lane(dt, b, i)));
				w = lane(to, want, 0);
				got = lane(to, o, i);
				if (!(w == got || (isnan(w) && isnan(got))))
					fail_msg("%s %s: %g, %g gave %g, not %g", tile_op_info(ops[k])->name, dtype_info(dt)->triton,
						lane(dt, a, i), lane(dt, b, i), got, w);
			}
			rig_close(&r);
		}
}

/* --- functions ----------------------------------------------------------------------- */

static long double rsqrt_l(long double x) { return 1 / sqrtl(x); }
static long double rcp_l(long double x) { return 1 / x; }
static long double rcbrt_l(long double x) { return 1 / cbrtl(x); }
static long double i0_l(long double x) { return special_bessel_i(0, x); }

static const struct fn {
	enum tile_op op;
	long double (*ref)(long double);
	double lo, hi;
} fns[] = {
	{ TOP_EXP, expl, -110, 90 }, { TOP_EXP2, exp2l, -150, 128 }, { TOP_EXP10, exp10l, -45, 38 }, { TOP_EXPM1, expm1l, -20, 80 },
	{ TOP_LOG, logl, 1e-30, 1e30 }, { TOP_LOG, logl, 0.5, 2 }, { TOP_LOG2, log2l, 1e-30, 1e30 }, { TOP_LOG10, log10l, 1e-30, 1e30 },
	{ TOP_LOG1P, log1pl, -0.99, 100 }, { TOP_SIN, sinl, -1000, 1000 }, { TOP_COS, cosl, -1000, 1000 }, { TOP_TAN, tanl, -1000, 1000 },
	{ TOP_SIN, sinl, -1e9, 1e9 }, { TOP_SINPI, special_sinpi, -100, 100 }, { TOP_COSPI, special_cospi, -100, 100 },
	{ TOP_ASIN, asinl, -1, 1 }, { TOP_ACOS, acosl, -1, 1 }, { TOP_ATAN, atanl, -100, 100 }, { TOP_SINH, sinhl, -80, 80 },
	{ TOP_COSH, coshl, -80, 80 }, { TOP_TANH, tanhl, -10, 10 }, { TOP_ASINH, asinhl, -1000, 1000 }, { TOP_ACOSH, acoshl, 1, 1000 },
	{ TOP_ATANH, atanhl, -0.999, 0.999 }, { TOP_ERF, erfl, -5, 5 }, { TOP_ERFC, erfcl, -3, 9 }, { TOP_RSQRT, rsqrt_l, 1e-20, 1e20 },
	{ TOP_RCP, rcp_l, 1e-20, 1e20 }, { TOP_SQRT, sqrtl, 0, 1e20 }, { TOP_CBRT, cbrtl, -1e6, 1e6 }, { TOP_RCBRT, rcbrt_l, 1e-6, 1e6 },
	{ TOP_TGAMMA, tgammal, 0.1, 30 }, { TOP_LGAMMA, special_lgamma, 3, 1000 }, { TOP_BESSEL_I0, i0_l, -50, 50 },
	{ TOP_FLOOR, floorl, -1e6, 1e6 }, { TOP_CEIL, ceill, -1e6, 1e6 }, { TOP_TRUNC, truncl, -1e6, 1e6 }, { TOP_RINT, rintl, -1e6, 1e6 },
	{ TOP_ROUND, roundl, -1e6, 1e6 },
};

static double ulps(enum dtype dt, double got, long double want)
{
	long double unit;

	if ((isnan(got) && isnan(want)) || got == want)
		return 0;
	unit = dt == DT_F32 ? nextafterf(fabsf((float)want), INFINITY) - fabsf((float)want)
					: nextafter(fabs((double)want), INFINITY) - fabs((double)want);
	if (dt == DT_F32 && fabsl(want) < 0x1p-126L)
		unit = 0x1p-149L;
	if (isinf((float)want) && dt == DT_F32)
		return isinf(got) ? 0 : 99;
	return (double)(fabsl((long double)got - want) / unit);
}

static void test_functions(void **state)
{
	static const enum dtype types[] = { DT_F32, DT_F64 };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(fns); k++)
		for (size_t t = 0; t < COUNT_OF(types); t++) {
			enum dtype dt = types[t];
			struct rig r;
			void *a, *o;
			double worst = 0, at = 0;
			tile_reg x;

			rig_open(&r);
			x = rig_input(&r, rig_tile(dt, N), &a);
			rig_output(&r, tile_build(&r.b, fns[k].op, rig_tile(dt, N), 1, x), &o);
			fill(dt, a, N, k + 7, fns[k].lo, fns[k].hi);
			rig_run(&r);
			for (int i = 0; i < N; i++) {
				double u = ulps(dt, lane(dt, o, i), fns[k].ref(lane(dt, a, i)));
				if (u > worst)
					worst = u, at = lane(dt, a, i);
			}
			if (worst > 2)
				fail_msg("%s %s: %.2f ulp at %.17g", tile_op_info(fns[k].op)->name, dtype_info(dt)->triton, worst, at);
			rig_close(&r);
		}
}

/* What inverse functions find is checked by going back. */
static void test_inverses(void **state)
{
	(void)state;
	for (double x = -0.999; x < 1; x += 0.037) {
		assert_true(fabsl(erfl(special_erfinv(x)) - x) < 1e-17L);
		assert_true(fabsl(special_normcdf(special_normcdfinv((x + 1) / 2)) - (x + 1) / 2) < 1e-17L);
	}
	for (double x = 1e-30; x < 2; x = x * 3 + 1e-3)
		assert_true(fabsl(erfcl(special_erfcinv(x)) / x - 1) < 1e-15L);
	for (double x = 0; x < 100; x += 0.7) {
		long double direct = expl((long double)x * x) * erfcl(x);
		if (x < 50)
			assert_true(fabsl(special_erfcx(x) / direct - 1) < 1e-14L);
	}
}

/* --- instruction sets ---------------------------------------------------------------- */

#if defined(__x86_64__)
extern tile_kernel *const tile_fn_kernels_base[TILE_OPS][DTYPES], *const tile_fn_kernels_v3[TILE_OPS][DTYPES],
	*const tile_fn_kernels_v4[TILE_OPS][DTYPES];
extern tile_kernel *const tile_float_kernels_base[TILE_OPS][DTYPES], *const tile_float_kernels_v3[TILE_OPS][DTYPES],
	*const tile_float_kernels_v4[TILE_OPS][DTYPES];

static void compare_levels(enum tile_op op, enum dtype dt, tile_kernel *base, tile_kernel *other, const char *level)
{
	static double a[N], b[N], c[N], x[N], y[N];
	size_t size = (size_t)dtype_size(dt);
	fill(dt, a, N, 11, -1e4, 1e4);
	fill(dt, b, N, 12, -1e4, 1e4);
	fill(dt, c, N, 13, -1e4, 1e4);
	memset(x, 0, sizeof x);
	memset(y, 0, sizeof y);
	base(x, a, b, c, N, 0);
	other(y, a, b, c, N, 0);
	if (op >= TOP_EQ && op <= TOP_GE)
		size = 1;
	for (size_t i = 0; i < N; i++) {
		const char *p = (char *)x + i * size, *q = (char *)y + i * size;
		if (memcmp(p, q, size) && size > 1 && !(isnan(lane(dt, x, (int)i)) && isnan(lane(dt, y, (int)i))))
			fail_msg("%s %s differs at %s for %.9g", tile_op_info(op)->name, dtype_info(dt)->triton, level, lane(dt, a, (int)i));
	}
}

static void test_levels(void **state)
{
	enum cpu_level have = cpu_info()->level;
	(void)state;
	for (int op = 0; op < TILE_OPS; op++)
		for (int dt = DT_F32; dt <= DT_F64; dt++) {
			if (have >= CPU_V3 && tile_fn_kernels_base[op][dt])
				compare_levels(op, dt, tile_fn_kernels_base[op][dt], tile_fn_kernels_v3[op][dt], "v3");
			if (have >= CPU_V4 && tile_fn_kernels_base[op][dt])
				compare_levels(op, dt, tile_fn_kernels_base[op][dt], tile_fn_kernels_v4[op][dt], "v4");
			if (have >= CPU_V3 && tile_float_kernels_base[op][dt])
				compare_levels(op, dt, tile_float_kernels_base[op][dt], tile_float_kernels_v3[op][dt], "v3");
			if (have >= CPU_V4 && tile_float_kernels_base[op][dt])
				compare_levels(op, dt, tile_float_kernels_base[op][dt], tile_float_kernels_v4[op][dt], "v4");
		}
}
#else
static void test_levels(void **state) { (void)state; skip(); }
#endif

/* --- casts ------------------------------------------------------------------------- */

static double cast_ref(enum dtype to, double x)
{
	double lo, hi;
	int bits, sint;

	if (to == DT_BOOL)
		return x != 0;
	bits = dtype_size(to) == 1 ? 16 : dtype_size(to) * 8;
	sint = dtype_info(to)->class == DTC_SINT;
	lo = sint ? -exp2(bits - 1) : 0;
	hi = sint ? exp2(bits - 1) : exp2(bits);
	if (isnan(x))
		return 0;
	if (x >= hi)
		x = bits == 64 ? (sint ? 0x1p63 : 0x1p64) : hi - 1;
	if (x < lo)
		x = lo;
	x = trunc(x);
	if (dtype_size(to) == 1)
		x = sint ? (double)(int8_t)(int64_t)x : (double)(uint8_t)(int64_t)x;
	return x;
}

static void test_float_to_int(void **state)
{
	static const enum dtype from[] = { DT_F64, DT_F32, DT_F16, DT_BF16 }, to[] = { DT_BOOL, DT_U8, DT_I8, DT_U16, DT_I16, DT_U32, DT_I32, DT_I64, DT_U64 };
	(void)state;
	for (size_t f = 0; f < COUNT_OF(from); f++)
		for (size_t t = 0; t < COUNT_OF(to); t++) {
			struct rig r;
			void *a, *o;
			tile_reg x;

			rig_open(&r);
			x = rig_input(&r, rig_tile(from[f], N), &a);
			rig_output(&r, tile_build(&r.b, TOP_CAST, rig_tile(to[t], N), 1, x), &o);
			fill(from[f], a, N, 5, -1e4, 1e4);
			dtype_store(from[f], a, 3e9);
			dtype_store(from[f], (char *)a + dtype_size(from[f]), -3e9);
			rig_run(&r);
			for (int i = 0; i < N; i++) {
				double want = cast_ref(to[t], lane(from[f], a, i));
				double got = to[t] == DT_U64 ? (double)((uint64_t *)o)[i] : (double)dtype_load_int(to[t], (char *)o + i * dtype_size(to[t]));
				if (want != got)
					fail_msg("%s %.9g to %s gave %.17g, not %.17g", dtype_info(from[f])->triton, lane(from[f], a, i), dtype_info(to[t])->triton, got, want);
			}
			rig_close(&r);
		}
}

static void test_rounding(void **state)
{
	static const enum tile_round modes[] = { TILE_RN, TILE_RZ, TILE_RD, TILE_RU };
	static const enum dtype to[] = { DT_F32, DT_F16, DT_BF16 };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(modes); k++)
		for (size_t t = 0; t < COUNT_OF(to); t++) {
			struct rig r;
			void *a, *o;
			tile_reg x, y;

			rig_open(&r);
			x = rig_input(&r, rig_tile(DT_F64, N), &a);
			y = tile_build(&r.b, TOP_CAST, rig_tile(to[t], N), 1, x);
			tile_build_last(&r.b)->rounding = (uint8_t)modes[k];
			rig_output(&r, y, &o);
			fill(DT_F64, a, N, 6, -100, 100);
			rig_run(&r);
			for (int i = 0; i < N; i++) {
				double v = lane(DT_F64, a, i), got = lane(to[t], o, i);
				double eps = to[t] == DT_F32 ? 0x1p-23 : to[t] == DT_F16 ? 0x1p-10 : 0x1p-7;
				if (isnan(v) || isinf(got))
					continue;
				assert_true(fabs(got - v) <= fabs(v) * eps + 0x1p-24);
				assert_true(modes[k] != TILE_RD || got <= v);
				assert_true(modes[k] != TILE_RU || got >= v);
				assert_true(modes[k] != TILE_RZ || fabs(got) <= fabs(v));
				assert_true(modes[k] != TILE_RN || fabs(got - v) <= fabs(v) * eps / 2 + 0x1p-25);
			}
			rig_close(&r);
		}
}

static void test_fma_and_select(void **state)
{
	struct rig r;
	void *a, *b, *c, *o, *s;
	tile_reg lt, x, y, z;

	(void)state;
	rig_open(&r);
	x = rig_input(&r, rig_tile(DT_F32, N), &a);
	y = rig_input(&r, rig_tile(DT_F32, N), &b);
	z = rig_input(&r, rig_tile(DT_F32, N), &c);
	rig_output(&r, tile_build(&r.b, TOP_FMA, rig_tile(DT_F32, N), 3, x, y, z), &o);
	lt = tile_build(&r.b, TOP_LT, rig_tile(DT_BOOL, N), 2, x, y);
	rig_output(&r, tile_build(&r.b, TOP_SELECT, rig_tile(DT_F32, N), 3, lt, x, z), &s);
	fill(DT_F32, a, N, 21, -100, 100);
	fill(DT_F32, b, N, 22, -100, 100);
	fill(DT_F32, c, N, 23, -100, 100);
	rig_run(&r);
	for (int i = 0; i < N; i++) {
		float u = ((float *)a)[i], v = ((float *)b)[i], w = ((float *)c)[i], f = fmaf(u, v, w), q = u < v ? u : w;
		assert_true(f == ((float *)o)[i] || (isnan(f) && isnan(((float *)o)[i])));
		assert_true(q == ((float *)s)[i] || (isnan(q) && isnan(((float *)s)[i])));
	}
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_functions), cmocka_unit_test(test_inverses),
		cmocka_unit_test(test_levels), cmocka_unit_test(test_float_to_int), cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_fma_and_select),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
