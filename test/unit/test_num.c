/* The numeric library: promotion, errors in PyTorch's words, products, convolutions and pools
 * against plain loops, draws, limits, and results that do not depend on threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/random.h"
#include "num/reduce.h"
#include "num/shape.h"

static struct num_ctx ctx(void)
{
	return (struct num_ctx)NUM_CTX_INIT;
}

static struct tensor draw(struct num_rng *r, int ndim, const int64_t *shape)
{
	struct tensor t;

	assert_int_equal(tensor_new(&t, DT_F32, ndim, shape, NULL), 0);
	assert_int_equal(num_uniform(r, &t, DT_F32, -1, 1, NULL), 0);
	return t;
}

static float at(const struct tensor *t, int64_t i)
{
	return ((float *)tensor_data(t))[i];
}

static void test_promotion(void **state)
{
	struct num_ctx c = ctx();
	struct tensor i = { .dt = DT_I32, .ndim = 1 }, h = { .dt = DT_F16, .ndim = 1 }, z = { .dt = DT_F64, .ndim = 0 };

	(void)state;
	assert_int_equal(num_promote_types(DT_F16, DT_BF16), DT_F32);
	assert_int_equal(num_promote_types(DT_U8, DT_I8), DT_I16);
	assert_int_equal(num_promote_types(DT_BOOL, DT_U8), DT_U8);
	assert_int_equal(num_promote_types(DT_I64, DT_F16), DT_F16);
	assert_int_equal(num_result_type(&c, (struct num_arg[]){ num_t(&i), num_f(1) }, 2), DT_F32);
	assert_int_equal(num_result_type(&c, (struct num_arg[]){ num_t(&i), num_i(1) }, 2), DT_I32);
	assert_int_equal(num_result_type(&c, (struct num_arg[]){ num_t(&h), num_f(1) }, 2), DT_F16);
	assert_int_equal(num_result_type(&c, (struct num_arg[]){ num_t(&h), num_t(&z) }, 2), DT_F16);
	assert_int_equal(num_result_type(&c, (struct num_arg[]){ num_t(&i), num_t(&z) }, 2), DT_F64);
	assert_int_equal(num_result_type(&c, (struct num_arg[]){ num_i(1), num_f(1) }, 2), DT_F32);
}

static void check_text(struct err *e, const char *text)
{
	assert_string_equal(e->text, text);
	err_clear(e);
}

static void test_errors(void **state)
{
	struct num_ctx c = ctx();
	struct num_rng r;
	struct tensor a, b, y;
	struct err e = ERR_INIT;

	(void)state;
	num_rng_seed(&r, 1);
	a = draw(&r, 2, (int64_t[]){ 2, 3 });
	b = draw(&r, 2, (int64_t[]){ 4, 5 });
	assert_int_equal(num_op2(&c, &y, NUM_plus, num_t(&a), num_t(&b), &e), -1);
	check_text(&e, "The size of tensor a (3) must match the size of tensor b (5) at non-singleton dimension 1");
	assert_int_equal(num_mm(&c, &y, &a, &b, &e), -1);
	check_text(&e, "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
	assert_int_equal(num_cat(&c, &y, (const struct tensor *[]){ &a, &b }, 2, 0, &e), -1);
	check_text(&e, "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 5 for tensor number 1 in the list.");
	assert_int_equal(num_apply_into(&c, &a, NUM_plus, (struct num_arg[]){ num_t(&a), num_t(&b) }, NULL, &e), -1);
	err_clear(&e);
	assert_int_equal(num_layer_norm(&c, &y, &a, 1, (int64_t[]){ 4 }, NULL, NULL, 1e-5, 0, &e), -1);
	check_text(&e, "Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[2, 3]");
	assert_int_equal(num_as(&c, &y, &a, DT_BOOL, &e), 0);
	assert_int_equal(num_group_norm(&c, &b, &y, 1, NULL, NULL, 1e-5, &e), -1);
	check_text(&e, "\"GroupNormKernelImpl\" not implemented for 'Bool'");
	tensor_release(&y);
	assert_int_equal(num_extreme(&c, &y, NULL, &a, 0, 0, 1, NULL), 0);
	tensor_release(&y);
	tensor_release(&a);
	tensor_release(&b);
}

static void test_conv_against_loops(void **state)
{
	static const struct { int64_t N, C, O, H, W, kh, kw, s, p, d, g; } cases[] = {
		{ 2, 3, 5, 9, 11, 3, 3, 1, 1, 1, 1 }, { 1, 4, 6, 12, 7, 2, 3, 2, 0, 1, 2 }, { 2, 6, 6, 8, 8, 3, 3, 1, 2, 2, 6 },
		{ 1, 8, 17, 30, 50, 5, 1, 3, 2, 1, 1 }, { 3, 2, 3, 5, 5, 1, 1, 1, 0, 1, 1 }, { 1, 70, 9, 6, 6, 3, 3, 1, 1, 1, 1 },
	};
	struct num_ctx c = ctx();
	struct num_rng r;

	(void)state;
	num_init();
	num_rng_seed(&r, 2);
	for (size_t k = 0; k < COUNT_OF(cases); k++) {
		int64_t N = cases[k].N, C = cases[k].C, O = cases[k].O, H = cases[k].H, W = cases[k].W, g = cases[k].g, s = cases[k].s;
		int64_t p = cases[k].p, d = cases[k].d, kh = cases[k].kh, kw = cases[k].kw, Cg = C / g;
		struct tensor x = draw(&r, 4, (int64_t[]){ N, C, H, W }), w = draw(&r, 4, (int64_t[]){ O, Cg, kh, kw }), b = draw(&r, 1, &O), y;
		struct num_conv cv = { .nd = 2, .stride = { s, s }, .lo = { p, p }, .hi = { p, p }, .dilation = { d, d }, .groups = g };

		assert_int_equal(num_conv(&c, &y, &x, &w, &b, &cv, NULL), 0);
		for (int64_t i = 0; i < tensor_numel(&y); i++) {
			int64_t ow = i % y.shape[3], oh = i / y.shape[3] % y.shape[2], o = i / y.shape[3] / y.shape[2] % O, n = i / y.stride[0];
			double sum = at(&b, o);

			for (int64_t ch = 0; ch < Cg; ch++)
				for (int64_t t = 0; t < kh * kw; t++) {
					int64_t ih = oh * s + t / kw * d - p, iw = ow * s + t % kw * d - p;

					if (ih >= 0 && ih < H && iw >= 0 && iw < W)
						sum += (double)at(&x, ((n * C + o / (O / g) * Cg + ch) * H + ih) * W + iw) *
						       (double)at(&w, (o * Cg + ch) * kh * kw + t);
				}
			assert_true(fabs(at(&y, i) - sum) < 1e-4);
		}
		tensor_release(&x);
		tensor_release(&w);
		tensor_release(&b);
		tensor_release(&y);
	}
}

/* Transposed convolution is the adjoint: <conv(x, w), y> = <x, conv_t(y, w)>. */
static void test_transposed_is_adjoint(void **state)
{
	struct num_ctx c = ctx();
	struct num_rng r;

	(void)state;
	num_rng_seed(&r, 3);
	for (int64_t s = 1; s <= 3; s++)
		for (int64_t d = 1; d <= 2; d++) {
			struct num_conv p = { .nd = 3, .stride = { s, 1, s }, .lo = { 1, 0, 1 }, .hi = { 1, 0, 1 }, .dilation = { 1, d, d }, .groups = 2 };
			struct tensor x = draw(&r, 5, (int64_t[]){ 2, 4, 7, 6, 9 }), w = draw(&r, 5, (int64_t[]){ 6, 2, 3, 2, 3 }), y, z, back;
			double left = 0, right = 0;

			assert_int_equal(num_conv(&c, &y, &x, &w, NULL, &p, NULL), 0);
			z = draw(&r, 5, y.shape);
			for (int i = 0; i < 3; i++) {
				int64_t full = (y.shape[2 + i] - 1) * p.stride[i] - 2 * p.lo[i] + p.dilation[i] * (w.shape[2 + i] - 1) + 1;

				p.extra[i] = x.shape[2 + i] - full;
			}
			assert_int_equal(num_conv_transpose(&c, &back, &z, &w, NULL, &p, NULL), 0);
			assert_true(tensor_same_shape(&back, &x));
			for (int64_t i = 0; i < tensor_numel(&y); i++)
				left += (double)at(&y, i) * (double)at(&z, i);
			for (int64_t i = 0; i < tensor_numel(&x); i++)
				right += (double)at(&x, i) * (double)at(&back, i);
			assert_true(fabs(left - right) < 1e-3);
			tensor_release(&x);
			tensor_release(&w);
			tensor_release(&y);
			tensor_release(&z);
			tensor_release(&back);
		}
}

static void test_reductions(void **state)
{
	struct num_ctx c = ctx();
	struct num_rng r;
	struct tensor x, y, ix;
	double sum = 0;

	(void)state;
	num_rng_seed(&r, 4);
	x = draw(&r, 2, (int64_t[]){ 37, 1001 });
	for (int64_t i = 0; i < tensor_numel(&x); i++)
		sum += at(&x, i);
	assert_int_equal(num_sum(&c, &y, &x, NULL, 0, -1, NULL), 0);
	assert_true(at(&y, 0) == (float)sum || fabs(at(&y, 0) - sum) < 1e-5 * fabs(sum));
	tensor_release(&y);
	((float *)tensor_data(&x))[1001 * 3 + 77] = NAN;
	((float *)tensor_data(&x))[1001 * 4 + 500] = 9;
	((float *)tensor_data(&x))[1001 * 4 + 900] = 9;
	assert_int_equal(num_extreme(&c, &y, &ix, &x, 1, 0, 1, NULL), 0);
	assert_true(isnan(at(&y, 3)));
	assert_int_equal(((int64_t *)tensor_data(&ix))[3], 77);
	assert_int_equal(((int64_t *)tensor_data(&ix))[4], 500);
	tensor_release(&y);
	tensor_release(&ix);
	tensor_release(&x);
}

static void test_draws(void **state)
{
	/* torch.manual_seed(0); torch.rand(3) and, again seeded, torch.randint(0, 10, (5,)) */
	static const float rand3[] = { 0.49625658988952637f, 0.7682217955589294f, 0.08847743272781372f };
	static const int64_t ints[] = { 4, 9, 3, 0, 3 };
	struct num_rng r;
	struct tensor t, i;

	(void)state;
	assert_int_equal(tensor_new(&t, DT_F32, 1, (int64_t[]){ 3 }, NULL), 0);
	assert_int_equal(tensor_new(&i, DT_I64, 1, (int64_t[]){ 5 }, NULL), 0);
	num_rng_seed(&r, 0);
	assert_int_equal(num_uniform(&r, &t, DT_F32, 0, 1, NULL), 0);
	for (int k = 0; k < 3; k++)
		assert_true(at(&t, k) == rand3[k]);
	num_rng_seed(&r, 0);
	assert_int_equal(num_randint(&r, &i, 0, 10, NULL), 0);
	assert_memory_equal(tensor_data(&i), ints, sizeof ints);
	tensor_release(&t);
	tensor_release(&i);
}

static int no_room(void *arg, int64_t bytes)
{
	return bytes > *(int64_t *)arg;
}

static int no_work(void *arg, uint64_t work)
{
	return no_room(arg, (int64_t)work);
}

static void test_limits(void **state)
{
	int64_t most = 4000;
	struct num_ctx c = { .default_float = DT_F32, .room = no_room, .scratch = no_room, .charge = no_work, .arg = &most };
	struct num_rng r;
	struct tensor x, y;
	struct err e = ERR_INIT;

	(void)state;
	num_rng_seed(&r, 5);
	x = draw(&r, 2, (int64_t[]){ 10, 10 });
	assert_int_equal(num_repeat(&c, &y, &x, 2, (int64_t[]){ 100000, 100000 }, &e), -1);
	assert_int_equal(e.code, ERR_NOMEM);
	err_clear(&e);
	assert_int_equal(num_mm(&c, &y, &x, &x, NULL), 0);
	tensor_release(&y);
	most = 999;
	assert_int_equal(num_mm(&c, &y, &x, &x, &e), -1);
	assert_int_equal(e.code, ERR_INTERRUPTED);
	tensor_release(&x);
}

/* The same bits with and without threads. */
static void test_threads(void **state)
{
	struct num_ctx one = ctx(), two = ctx();
	struct num_conv cv = { .nd = 2, .stride = { 1, 1 }, .lo = { 1, 1 }, .hi = { 1, 1 }, .dilation = { 1, 1 }, .groups = 1 };
	struct num_rng r;
	struct tensor x, img, w, a[6], b[6];

	(void)state;
	two.pool = pool_new(3, NULL);
	assert_non_null(two.pool);
	num_rng_seed(&r, 6);
	x = draw(&r, 2, (int64_t[]){ 600, 700 });
	img = draw(&r, 4, (int64_t[]){ 5, 8, 20, 20 });
	w = draw(&r, 4, (int64_t[]){ 12, 8, 3, 3 });
	for (int k = 0; k < 2; k++) {
		struct num_ctx *c = k ? &two : &one;
		struct tensor *y = k ? b : a, xt;

		assert_int_equal(num_op1(c, &y[0], NUM_gelu, &x, NULL), 0);
		assert_int_equal(num_softmax(c, &y[1], &x, 0, -1, 0, NULL), 0);
		assert_int_equal(num_sum(c, &y[2], &x, &(struct num_dims){ .v = { 0 }, .n = 1 }, 0, -1, NULL), 0);
		assert_int_equal(tensor_transpose(&xt, &x, 0, 1, NULL), 0);
		assert_int_equal(num_matmul(c, &y[3], &x, &xt, NULL), 0);
		tensor_release(&xt);
		assert_int_equal(num_conv(c, &y[4], &img, &w, NULL, &cv, NULL), 0);
		assert_int_equal(num_layer_norm(c, &y[5], &x, 1, &x.shape[1], NULL, NULL, 1e-5, 0, NULL), 0);
	}
	for (int k = 0; k < 6; k++) {
		assert_int_equal(a[k].st->bytes, b[k].st->bytes);
		assert_memory_equal(a[k].st->data, b[k].st->data, a[k].st->bytes);
		tensor_release(&a[k]);
		tensor_release(&b[k]);
	}
	tensor_release(&x);
	tensor_release(&img);
	tensor_release(&w);
	pool_free(two.pool);
}

/* Of a tensor without contents nothing is computed, however large it is. */
static void test_norm_without_contents(void **state)
{
	struct num_ctx c = { .pool = pool_idle(), .hollow = 1, .default_float = DT_F32 };
	int64_t shape[] = { 1 << 20, 1 << 20 }, stride[] = { 1 << 20, 1 };
	struct tensor x, y;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(tensor_new_hollow(&x, DT_F32, 2, shape, stride, &e), 0);
	assert_int_equal(num_group_norm(&c, &y, &x, 16, NULL, NULL, 1e-5, &e), 0);
	assert_int_equal(tensor_numel(&y), (int64_t)1 << 40);
	tensor_release(&x);
	tensor_release(&y);
}

/* The operators that loop themselves instead of asking the pool for it. */
static void test_loops_without_contents(void **state)
{
	struct num_ctx c = { .pool = pool_idle(), .hollow = 1, .default_float = DT_F32 };
	int64_t rows[] = { 1 << 17, 1 << 9 }, rows_ld[] = { 1 << 9, 1 }, flat[] = { 1 << 30 }, one[] = { 1 };
	int64_t image[] = { 4, 8, 1 << 12, 1 << 12 }, image_ld[] = { 1 << 27, 1 << 24, 1 << 12, 1 };
	int64_t grid[] = { 4, 1 << 12, 1 << 12, 2 }, grid_ld[] = { 1 << 25, 1 << 13, 2, 1 };
	struct tensor x, index, img, where, y, r;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(tensor_new_hollow(&x, DT_F32, 2, rows, rows_ld, &e), 0);
	assert_int_equal(tensor_new_hollow(&index, DT_I64, 1, flat, one, &e), 0);
	assert_int_equal(tensor_new_hollow(&img, DT_F32, 4, image, image_ld, &e), 0);
	assert_int_equal(tensor_new_hollow(&where, DT_F32, 4, grid, grid_ld, &e), 0);
	assert_int_equal(num_cdist(&c, &y, &x, &x, 2, &e), 0);
	assert_int_equal(tensor_numel(&y), (int64_t)1 << 34);
	tensor_release(&y);
	assert_int_equal(num_one_hot(&c, &y, &index, 10, &e), 0);
	assert_int_equal(tensor_numel(&y), (int64_t)10 << 30);
	tensor_release(&y);
	assert_int_equal(num_grid_sample(&c, &y, &img, &where, INTERP_LINEAR, BORDER_ZEROS, 0, &e), 0);
	assert_int_equal(tensor_numel(&y), (int64_t)1 << 29);
	tensor_release(&y);
	assert_int_equal(num_qr(&c, &y, &r, &x, &e), 0);
	assert_int_equal(tensor_numel(&y), (int64_t)1 << 26);
	tensor_release(&y);
	tensor_release(&r);
	tensor_release(&x);
	tensor_release(&index);
	tensor_release(&img);
	tensor_release(&where);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_norm_without_contents),
		cmocka_unit_test(test_loops_without_contents),
		cmocka_unit_test(test_promotion),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_conv_against_loops),
		cmocka_unit_test(test_transposed_is_adjoint),
		cmocka_unit_test(test_reductions),
		cmocka_unit_test(test_draws),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
