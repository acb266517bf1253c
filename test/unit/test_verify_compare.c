/* The comparison of results: form before values, the rule of compare.h at its very edge, NaN,
 * overflow, results that are zero, and which reason a difference gets. */
#include "check.h"

#include <math.h>

#include "base/mem.h"
#include "verify/verdict/compare.h"

/* Results of one tensor of these values, of shape [n]. */
static struct results made(const double *v, int64_t n, double rel)
{
	struct results r = { .n = 1 };
	struct result *x = &r.r[0];
	struct err e = ERR_INIT;

	*x = (struct result){ .name = "0", .dt = DT_F64, .ndim = 1, .shape = { n }, .n = n, .rel = rel };
	assert_int_equal(result_fill(x, v, &e), 0);
	x->dt = DT_F32;
	return r;
}

static enum reason compared(struct results *a, struct results *b)
{
	struct comparison c;

	results_compare(a, b, &c);
	assert_int_equal(results_match(a, b), c.reason == REASON_ok);
	return c.reason;
}

static enum reason one_against(double expected, double other, double got, double rel)
{
	double x[] = { expected, other }, y[] = { got, other };
	struct results a = made(x, 2, rel), b = made(y, 2, 0);
	enum reason why = compared(&a, &b);

	results_release(&a);
	results_release(&b);
	return why;
}

/* |got - expected| <= rel (|expected| + rms), and rms(error) <= rel rms: with two elements of size
 * 1, rms is 1, so the second rule allows an error of rel sqrt(2) in one of them. */
static void test_edge(void **state)
{
	double rel = 0x1p-6, edge = rel * sqrt(2.0);

	(void)state;
	assert_int_equal(one_against(1, 1, 1, rel), REASON_ok);
	assert_int_equal(one_against(1, 1, 1 + 0.999 * edge, rel), REASON_ok);
	assert_int_not_equal(one_against(1, 1, 1 + 1.001 * edge, rel), REASON_ok);
	assert_int_equal(one_against(0, 100, 50 * rel, rel), REASON_ok);            /* small beside a large one */
	assert_int_not_equal(one_against(0, 100, 100 * rel, rel), REASON_ok);
}

/* Wherever in a long result an element is off, infinite or NaN, it is found, and the distance is its. */
static void test_every_element(void **state)
{
	const double odd[] = { 1.5, INFINITY, NAN };
	double x[71], y[71];

	(void)state;
	for (int64_t n = 1; n <= 71; n += 7)
		for (int64_t at = 0; at < n; at++)
			for (size_t i = 0; i < COUNT_OF(odd); i++) {
				struct results a, b;

				for (int64_t k = 0; k < n; k++)
					x[k] = y[k] = 1.0;
				y[at] = odd[i];
				a = made(x, n, 1e-3);
				b = made(y, n, 0);
				assert_int_not_equal(compared(&a, &b), REASON_ok);
				assert_int_equal(result_is_finite(&b.r[0]), i == 0);
				assert_true(results_distance(&b, &a, DISTANCE_ALL) == (i ? INFINITY : 0.25));
				results_release(&a);
				results_release(&b);
			}
}

/* rel_close is taken where it is more than rel, but for no more than 1e-4 (1 + |expected|). */
static void test_close(void **state)
{
	double x[] = { 1, 1 }, near[] = { 1 + 1.9e-4, 1 }, far[] = { 1 + 2.9e-4, 1 };
	struct results a = made(x, 2, 1e-6), b = made(near, 2, 0), c = made(far, 2, 0);

	(void)state;
	assert_int_equal(compared(&a, &b), REASON_precision);
	a.r[0].rel_close = 1e-4;
	assert_int_equal(compared(&a, &b), REASON_precision);
	a.r[0].rel_close = 1e-2;
	assert_int_equal(compared(&a, &b), REASON_ok);
	assert_int_equal(compared(&a, &c), REASON_precision);
	results_release(&a);
	results_release(&b);
	results_release(&c);
}

static void test_not_finite(void **state)
{
	(void)state;
	assert_int_equal(one_against(1, 1, NAN, 0.5), REASON_not_finite);
	assert_int_equal(one_against(1, 1, INFINITY, 0.5), REASON_not_finite);
	assert_int_equal(one_against(INFINITY, 1, INFINITY, 0), REASON_ok);
	assert_int_equal(one_against(INFINITY, 1, -INFINITY, 0.5), REASON_wrong_value);
	assert_int_equal(one_against(NAN, 1, NAN, 0.5), REASON_wrong_value);
	assert_int_equal(one_against(INFINITY, 1, 3, 0.5), REASON_wrong_value);
}

/* What is wrong by about as much as half precision is, everywhere, is told apart. */
static void test_reasons(void **state)
{
	double x[64], close[64], far[64];
	struct results a, b, c;

	(void)state;
	for (int i = 0; i < 64; i++) {
		x[i] = 1.0 + i % 7;
		close[i] = x[i] * (1 + (i % 2 ? 1e-3 : -1e-3));
		far[i] = -x[i];
	}
	a = made(x, 64, 1e-6), b = made(close, 64, 0), c = made(far, 64, 0);
	assert_int_equal(compared(&a, &b), REASON_precision);
	assert_int_equal(compared(&a, &c), REASON_wrong_value);
	results_release(&a), results_release(&b), results_release(&c);
}

static void test_form(void **state)
{
	double v[6] = { 1, 2, 3, 4, 5, 6 };
	struct results a = made(v, 6, 1), b = made(v, 6, 0), none = { .n = 0 };
	struct comparison c;

	(void)state;
	assert_int_equal(compared(&a, &none), REASON_wrong_count);
	b.r[0].ndim = 2, b.r[0].shape[0] = 2, b.r[0].shape[1] = 3;
	results_compare(&a, &b, &c);
	assert_int_equal(c.reason, REASON_wrong_shape);
	assert_contains(c.text, "[2, 3], expected [6]");
	b.r[0].ndim = 1, b.r[0].shape[0] = 6, b.r[0].dt = DT_F16;
	assert_int_equal(compared(&a, &b), REASON_wrong_dtype);
	b.r[0].dt = DT_F32, b.r[0].overlapping = 1;
	assert_int_equal(compared(&a, &b), REASON_wrong_layout);
	b.r[0].overlapping = 0, b.r[0].undefined = 1;
	assert_int_equal(compared(&a, &b), REASON_uninitialised);
	b.r[0].undefined = 0;
	assert_int_equal(compared(&a, &b), REASON_ok);
	results_release(&a), results_release(&b);
}

/* An element that the reference's own dtype does not hold may be infinite in a candidate, too; a
 * number there must still be right, and it says nothing about the size of the others. */
static void test_overflow(void **state)
{
	double exact[] = { 1e6, 1, 2 }, run[] = { INFINITY, 1, 2 }, wrong[] = { 7, 1, 2 };
	struct results a = made(exact, 3, 1e-3), b = made(run, 3, 0), c = made(wrong, 3, 0);
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(compared(&a, &b), REASON_not_finite);
	assert_int_equal(results_note_overflow(&a, &b, &e), 0);
	assert_true(a.r[0].rms < 2);
	assert_int_equal(compared(&a, &b), REASON_ok);
	assert_int_equal(compared(&a, &c), REASON_wrong_value);
	assert_true(results_distance(&b, &a, DISTANCE_ALL) == 0.0);
	results_release(&a), results_release(&b), results_release(&c);
}

/* Where the result is zero everywhere nothing is relative. */
static void test_zero(void **state)
{
	double zero[] = { 0, 0 }, noise[] = { 1e-9, -2e-9 }, more[] = { 1e-8, 0 }, most[] = { 2e-8, 0 };
	struct results a = made(zero, 2, 1e-3), b = made(noise, 2, 0), c = made(more, 2, 0), d = made(most, 2, 0);

	(void)state;
	assert_int_not_equal(compared(&a, &b), REASON_ok);
	results_allow_zero(&a, &b);
	assert_int_equal(compared(&a, &b), REASON_ok);
	assert_int_equal(compared(&a, &c), REASON_ok);          /* eight times over: 1.6e-8 */
	assert_int_not_equal(compared(&a, &d), REASON_ok);
	results_release(&a), results_release(&b), results_release(&c), results_release(&d);
}

/* The tolerance follows the rounding that was seen, and never goes below the dtype's own. */
static void test_tolerance(void **state)
{
	struct rounding r = { .dt = DT_F32 };
	double least = rounding_tolerance(&r);

	(void)state;
	assert_true(least >= 0x1p-23 && least < 1e-5);
	r.plain = 1e-3;
	assert_true(fabs(rounding_tolerance(&r) - 8e-3) < 1e-12);
	r.products = 1e-2;
	assert_true(fabs(rounding_tolerance(&r) - 4e-2) < 1e-12);
	r = (struct rounding){ .dt = DT_F16 };
	assert_true(rounding_tolerance(&r) > 100 * least);
	r = (struct rounding){ .dt = DT_F32, .sum = 1 << 20 };
	assert_true(rounding_tolerance(&r) > 10 * least);
}

static void test_allclose(void **state)
{
	double x[] = { 1, 1000 }, near[] = { 1.00005, 1000.05 }, far[] = { 1.001, 1000 };
	struct results a = made(x, 2, 0), b = made(near, 2, 0), c = made(far, 2, 0);

	(void)state;
	assert_true(results_allclose(&a, &b));
	assert_false(results_allclose(&a, &c));
	a.r[0].dt = DT_F16;
	assert_true(results_allclose(&a, &c));                 /* 1e-2 for 16 bits */
	mem_free(b.r[0].v);
	b.r[0].v = NULL;
	assert_false(results_allclose(&a, &b));                /* there was no room for its values */
	results_release(&a), results_release(&b), results_release(&c);
}

static struct results state_of(const double *v, const double *unit)
{
	int64_t n = 3;
	struct results r = { .n = 0 };
	struct tensor a, b;
	struct err e = ERR_INIT;

	assert_int_equal(tensor_new(&a, DT_F64, 1, &n, &e), 0);
	assert_int_equal(tensor_new(&b, DT_F64, 1, &n, &e), 0);
	memcpy(tensor_data(&a), v, 3 * sizeof *v);
	memcpy(tensor_data(&b), unit, 3 * sizeof *unit);
	assert_int_equal(results_add_state(&r, &a, &b, &e), 0);
	tensor_release(&a), tensor_release(&b);
	return r;
}

/* A mean near zero, a variance and a count of a million calls: each is measured by its own buffer, the count exactly; NaN: it is not there. */
static void test_state(void **state)
{
	const double x[] = { 0.001, 2, 1e6 }, unit[] = { 0.001, 2, RESULT_EXACT };
	const struct { double v[3]; int right; } cases[] = {
		{ { 0.00101, 2.03, 1e6 }, 1 }, { { 0, 2, 1e6 }, 0 }, { { 0.001, 2.1, 1e6 }, 0 }, { { 0.001, 2, 1e6 + 1 }, 0 }, { { NAN, 2, 1e6 }, 1 },
		{ { 0.001, 2, NAN }, 1 } };
	const struct rounding by = { .dt = DT_F32 };
	struct results a = state_of(x, unit);

	(void)state;
	results_set_tolerance(&a, &by, &by);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct results b = state_of(cases[i].v, unit);

		assert_int_equal(compared(&a, &b) == REASON_ok, cases[i].right);
		assert_true(results_distance(&b, &a, DISTANCE_RESULTS) == 0.0);
		results_release(&b);
	}
	results_release(&a);
}

/* A count that the reference's own runs do not agree in is anybody's. */
static void test_state_inexact(void **state)
{
	const double x[] = { 1, 2, 10 }, other[] = { 1, 2, 11 }, unit[] = { 1, 2, RESULT_EXACT };
	const struct rounding by = { .dt = DT_F32 };
	struct results a = state_of(x, unit), b = state_of(other, unit);

	(void)state;
	assert_true(results_distance(&b, &a, DISTANCE_STATE) == INFINITY);
	results_set_tolerance(&a, &by, &by);
	assert_int_equal(compared(&a, &b), REASON_wrong_value);
	results_note_inexact(&a, &b);
	assert_int_equal(compared(&a, &b), REASON_ok);
	results_release(&a), results_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edge), cmocka_unit_test(test_every_element), cmocka_unit_test(test_close),
		cmocka_unit_test(test_not_finite), cmocka_unit_test(test_reasons), cmocka_unit_test(test_form),
		cmocka_unit_test(test_overflow), cmocka_unit_test(test_zero), cmocka_unit_test(test_tolerance), cmocka_unit_test(test_allclose),
		cmocka_unit_test(test_state), cmocka_unit_test(test_state_inexact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
