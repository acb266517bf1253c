/* The solver's planner: index expressions that simplify by range, and graphs cut into kernels. */
#include "check.h"

#include "solve/any_size.h"
#include "solve/cut.h"

static struct expr_pool pool;
static jmp_buf trap;

static int begin(void **state)
{
	(void)state;
	expr_pool_init(&pool, &trap);
	return setjmp(trap) != 0;
}

static int end(void **state)
{
	(void)state;
	expr_pool_release(&pool);
	return 0;
}

/* (8 h + w) / 8 is h and (8 h + w) % 8 is w, if w < 8. */
static void test_views_fold(void **state)
{
	const struct ix *h = ix_var(&pool, 0, 5), *w = ix_var(&pool, 1, 8);
	const struct ix *at = ix_add(&pool, ix_mul(&pool, h, 8), w);

	(void)state;
	assert_ptr_equal(ix_div(&pool, at, 8), h);
	assert_ptr_equal(ix_mod(&pool, at, 8), w);
	assert_int_equal(ix_div(&pool, at, 4)->hi, 9);
	assert_ptr_not_equal(ix_div(&pool, ix_addc(&pool, at, 1), 8), h);
	assert_ptr_equal(ix_div(&pool, at, 24), ix_div(&pool, h, 3));      /* w < 8, and 24 is 3 * 8 */
	assert_ptr_not_equal(ix_div(&pool, at, 12), ix_div(&pool, h, 1));
}

/* A flipped coordinate: no quotient or remainder of it has a negative number, which Triton rounds up. */
static void test_flipped(void **state)
{
	const struct ix *at = ix_addc(&pool, ix_mul(&pool, ix_var(&pool, 0, 1024), -1), 1023);

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct ix *q = i ? ix_mod(&pool, at, 256) : ix_div(&pool, at, 256);

		assert_int_equal(q->n, 1);
		assert_true(q->t[0].of->lo >= 0);
		assert_int_equal(q->lo, 0);
		assert_int_equal(q->hi, i ? 255 : 3);
	}
}

/* Coordinates taken from a flat index and put together again are the flat index. */
static void test_coordinates_join(void **state)
{
	const struct ix *flat = ix_var(&pool, 0, 2 * 3 * 4), *n, *c, *x, *at;

	(void)state;
	n = ix_div(&pool, flat, 12);
	c = ix_mod(&pool, ix_div(&pool, flat, 4), 3);
	x = ix_mod(&pool, flat, 4);
	at = ix_add(&pool, ix_mul(&pool, n, 12), ix_add(&pool, ix_mul(&pool, c, 4), x));
	assert_ptr_equal(at, flat);
}

/* A padded coordinate counts as inside behind its mask, and as it is for bounds. */
static void test_within(void **state)
{
	const struct ix *at = ix_addc(&pool, ix_var(&pool, 0, 6), -1), *in = ix_within(&pool, at, 4);
	int64_t lo, hi;

	(void)state;
	assert_int_equal(in->lo, 0);
	assert_int_equal(in->hi, 3);
	ix_bounds(in, &lo, &hi);
	assert_int_equal(lo, -1);
	assert_int_equal(hi, 4);
	assert_null(sx_inside(&pool, ix_var(&pool, 0, 4), 0, 4));
	assert_non_null(sx_inside(&pool, at, 0, 4));
}

/* A value with two loops of 4 x 8. */
static struct value loops(enum value_kind kind, const struct sx *body)
{
	return (struct value){ .kind = kind, .dt = DT_F32, .rank = 2, .size = { 4, 8 }, .stride = { 8, 1 }, .numel = 32,
			       .body = body, .name = "x", .op = "x", .into = -1, .rank_out = -1 };
}

static const struct sx *elem(int value)
{
	const struct ix *at = ix_add(&pool, ix_mul(&pool, ix_var(&pool, 0, 4), 8), ix_var(&pool, 1, 8));

	return sx_load(&pool, value, DT_F32, at, NULL, 0.0);
}

/* softmax: maximum, sum of exponentials, quotient are three passes of one kernel. */
static void test_softmax_is_one_kernel(void **state)
{
	struct graph g = { .pool = &pool };
	struct value v = loops(VALUE_ARG, NULL), row;
	const struct sx *top, *e;
	struct cut cut;

	(void)state;
	graph_add(&g, &v);
	row = (struct value){ .kind = VALUE_REDUCE, .dt = DT_F32, .rank = 1, .size = { 4 }, .stride = { 1 }, .numel = 4,
			      .n_red = 1, .red = { 8 }, .how = COMBINE_MAX, .body = elem(0), .name = "max", .op = "max",
			      .into = -1, .rank_out = -1 };
	graph_add(&g, &row);
	top = sx_load(&pool, 1, DT_F32, ix_var(&pool, 0, 4), NULL, 0.0);
	e = sx_op1(&pool, SX_EXP, sx_op2(&pool, SX_SUB, elem(0), top));
	row.how = COMBINE_SUM;
	row.body = e;
	graph_add(&g, &row);
	v = loops(VALUE_MAP, sx_op2(&pool, SX_DIV, e, sx_load(&pool, 2, DT_F32, ix_var(&pool, 0, 4), NULL, 0.0)));
	v.rank_out = 2;
	graph_add(&g, &v);
	cut_make(&cut, &g);
	assert_int_equal(cut.kernels.n, 1);
	assert_int_equal(cut.kernels.v[0].n_passes, 3);
	assert_int_equal(cut.kernels.v[0].n_x, 1);
	assert_int_equal(cut.kernels.v[0].pass[2].n_r, 1);
	assert_int_equal(cut.kernels.v[0].pass[0].store, 0);
	cut_release(&cut);
	vec_free(&g.values);
}

/* A map that nothing needs is not computed; one that is read once is folded. */
static void test_folding(void **state)
{
	struct graph g = { .pool = &pool };
	struct value v = loops(VALUE_ARG, NULL);
	struct cut cut;

	(void)state;
	graph_add(&g, &v);
	v = loops(VALUE_MAP, sx_op1(&pool, SX_EXP, elem(0)));
	graph_add(&g, &v);
	graph_add(&g, &v);
	v = loops(VALUE_MAP, sx_op1(&pool, SX_SQRT, elem(1)));
	v.rank_out = 2;
	graph_add(&g, &v);
	cut_make(&cut, &g);
	assert_int_equal(cut.kernels.n, 1);
	assert_int_equal(cut.kernels.v[0].n_passes, 1);
	assert_int_equal(g.values.v[2].live, 0);
	assert_int_equal(cut.kernels.v[0].pass[0].body->a[0]->op, SX_EXP);
	cut_release(&cut);
	vec_free(&g.values);
}

/* Two sums of the same elements are one kernel; a sum of others is another one. */
static void test_sums_of_the_same_data(void **state)
{
	struct graph g = { .pool = &pool };
	struct cut cut;
	struct value v = loops(VALUE_ARG, NULL);

	(void)state;
	graph_add(&g, &v);
	graph_add(&g, &v);
	for (int i = 0; i < 3; i++) {
		v = loops(VALUE_REDUCE, i == 1 ? sx_op1(&pool, SX_ABS, elem(0)) : elem(i / 2));
		v.rank = 1;
		v.numel = v.size[0];
		v.stride[0] = 1;
		v.n_red = 1;
		v.red[0] = v.size[1];
		v.rank_out = 1;
		graph_add(&g, &v);
	}
	cut_make(&cut, &g);
	assert_int_equal(cut.kernels.n, 2);
	assert_int_equal(cut.kernels.v[0].n_passes, 2);
	assert_int_equal(cut.kernels.v[1].n_passes, 1);
	cut_release(&cut);
	vec_free(&g.values);
}

/* An index that is read from memory, like a coordinate that is reflected at the edge. */
static const struct ix *reflected(int var, int64_t n)
{
	const struct sx *x = sx_op1(&pool, SX_ABS, sx_index(&pool, ix_addc(&pool, ix_var(&pool, var, n), -1)));

	return ix_value(&pool, x, 0, n - 1);
}

/* The order of terms does not depend on sizes: kernels for other sizes have the same text. */
static void test_order_of_terms(void **state)
{
	(void)state;
	for (int64_t n = 2; n < 40; n++) {
		const struct ix *at = ix_add(&pool, ix_mul(&pool, reflected(1, n), 3 * n), reflected(0, n));

		assert_int_equal(at->n, 2);
		assert_int_equal(sx_vars(at->t[0].value), 1);
		assert_int_equal(sx_vars(at->t[1].value), 2);
	}
}

/* The text of a small solution; `n` elements for a batch, `mean` a factor of its kernel. */
#define TEXT(n, mean) "import triton\n\n@triton.jit\ndef k_kernel(x_ptr, BLOCK: tl.constexpr):\n    mask = offs < " n \
	"\n    y = x * " mean "\n\n\nclass ModelNew:\n    k_kernel[(triton.cdiv(" n ", 64),)](x, BLOCK=64)\n"

/* 64 for a batch of 4, 80 for 5, 96 for 6, .. is batch * 16; 1/64, 1/80, 1/96, .. is its inverse. */
static void test_any_size(void **state)
{
	struct size_vars v = { .n = 1, .v = { { .name = "batch", .first = 4, .step = 1 } } };
	struct str texts[] = { STR(TEXT("64", "0.015625")), STR(TEXT("80", "0.0125")),
			       STR(TEXT("96", "0.010416666666666666")), STR(TEXT("112", "0.008928571428571428")),
			       STR(TEXT("1152", "0.0008680555555555555")) };
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(any_size_make(&v, texts, &out, &e), 0);
	assert_contains(buf_cstr(&out), "def k_kernel(x_ptr, size0: tl.constexpr, size1: tl.constexpr, BLOCK: tl.constexpr):");
	assert_contains(buf_cstr(&out), "mask = offs < size0");
	assert_contains(buf_cstr(&out), "(x, 16 * batch, 1.0 / (16 * batch), BLOCK=64)");
	buf_clear(&out);
	texts[3] = STR("another text");
	assert_int_equal(any_size_make(&v, texts, &out, &e), 1);
	buf_release(&out);
}

/* Code for a number that is n(h, w) at h = 64, 72, .. and w = 48, 56, .., and with `fine` at all between. */
static const char *fitted_at(int64_t (*n)(int64_t h, int64_t w), int64_t step, int fine, int expect)
{
	static char code[128];
	struct size_vars v = { .n = 2, .v = { { .name = "h", .first = 8 * step, .step = step, .fine = fine },
					      { .name = "w", .first = 6 * step, .step = step, .fine = fine } } };
	int64_t y[SIZE_SAMPLES];

	for (int s = 0; s < size_samples(&v); s++)
		y[s] = n(size_at(&v, 0, s), size_at(&v, 1, s));
	assert_int_equal(size_fit(&v, y, code, sizeof code), expect);
	return code;
}

static const char *fitted(int64_t (*n)(int64_t h, int64_t w), int fine, int expect)
{
	return fitted_at(n, 8, fine, expect);
}

static int64_t by_eleven(int64_t h, int64_t w) { (void)w; return h / 11; }
static int64_t halved(int64_t h, int64_t w) { return 3 * ((h - 1) / 2 + 1) * (w - 2); }
static int64_t squared(int64_t h, int64_t w) { (void)w; return (h / 8 + 1) * (h / 8 + 1) * 32; }
static int64_t summed(int64_t h, int64_t w) { return h + w; }
static int64_t padded(int64_t h, int64_t w) { (void)w; return (4 * ((h + 3) / 4) + 6) * 5; }
static int64_t rounded(int64_t h, int64_t w) { return h / 3 * w; }
static int64_t in_steps(int64_t h, int64_t w) { return h / 128 * w; }

/* Strided windows are quotients; sums of two sizes are not expressed. Fine samples tell how quotients are
 * rounded. */
static void test_size_fit(void **state)
{
	(void)state;
	assert_string_equal(fitted(halved, 7, 0), "3 * ((h + 1) // 2) * (w - 2)");
	assert_string_equal(fitted(squared, 7, 0), "32 * ((h + 8) // 8) * ((h + 8) // 8)");
	assert_string_equal(fitted(squared, 0, 0), "(h + 8) * ((h + 8) // 2)");
	assert_string_equal(fitted(padded, 7, 0), "10 * (((h + 3) // 4) * 2 + 3)");
	fitted(summed, 7, 1);
	fitted(rounded, 7, 1);
	fitted(in_steps, 0, 1);
	fitted_at(by_eleven, 32, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_views_fold, begin, end),
		cmocka_unit_test_setup_teardown(test_flipped, begin, end),
		cmocka_unit_test_setup_teardown(test_coordinates_join, begin, end),
		cmocka_unit_test_setup_teardown(test_within, begin, end),
		cmocka_unit_test_setup_teardown(test_softmax_is_one_kernel, begin, end),
		cmocka_unit_test_setup_teardown(test_folding, begin, end),
		cmocka_unit_test_setup_teardown(test_sums_of_the_same_data, begin, end),
		cmocka_unit_test_setup_teardown(test_order_of_terms, begin, end),
		cmocka_unit_test(test_any_size),
		cmocka_unit_test(test_size_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
