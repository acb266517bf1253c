/* Tensors: views and their errors, copies, loops, budgets, memory never written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tensor/tensor.h"

static struct tensor iota(int ndim, const int64_t *shape)
{
	struct tensor t;
	float *p;

	assert_int_equal(tensor_new(&t, DT_F32, ndim, shape, NULL), 0);
	p = tensor_data(&t);
	for (int64_t i = 0; i < tensor_numel(&t); i++)
		p[i] = (float)i;
	return t;
}

static void check_shape(const struct tensor *t, const char *shape, const char *stride)
{
	assert_string_equal(SHAPE_TEXT(t->ndim, t->shape), shape);
	assert_string_equal(SHAPE_TEXT(t->ndim, t->stride), stride);
}

static void test_view(void **state)
{
	struct tensor t = iota(3, (int64_t[]){ 2, 3, 4 }), v, p;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(tensor_view(&v, &t, 2, (int64_t[]){ 6, -1 }, NULL), 0);
	check_shape(&v, "[6, 4]", "[4, 1]");
	tensor_release(&v);
	assert_int_equal(tensor_permute(&p, &t, (int[]){ 2, 0, 1 }, NULL), 0);
	check_shape(&p, "[4, 2, 3]", "[1, 12, 4]");
	assert_int_equal(tensor_view(&v, &p, 2, (int64_t[]){ 4, 6 }, NULL), 0);
	check_shape(&v, "[4, 6]", "[1, 4]");
	tensor_release(&v);
	assert_int_equal(tensor_view(&v, &p, 1, (int64_t[]){ 24 }, &e), -1);
	assert_non_null(strstr(e.text, "Use .reshape(...) instead."));
	err_clear(&e);
	assert_int_equal(tensor_contiguous(&v, &p, NULL), 0);
	assert_true(((float *)tensor_data(&v))[1] == 4);
	assert_true(((float *)tensor_data(&v))[6] == 1);
	tensor_release(&v);
	assert_int_equal(tensor_view(&v, &t, 2, (int64_t[]){ 5, -1 }, &e), -1);
	assert_string_equal(e.text, "shape '[5, -1]' is invalid for input of size 24");
	tensor_release(&p);
	tensor_release(&t);
}

static void test_expand_slice_select(void **state)
{
	struct tensor t = iota(2, (int64_t[]){ 3, 1 }), v, w;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(tensor_expand(&v, &t, 3, (int64_t[]){ 2, -1, 4 }, NULL), 0);
	check_shape(&v, "[2, 3, 4]", "[0, 1, 0]");
	assert_int_equal(tensor_check_writable(&v, &e), -1);
	err_clear(&e);
	assert_int_equal(tensor_expand(&w, &v, 3, (int64_t[]){ 2, 5, 4 }, &e), -1);
	assert_string_equal(e.text, "The expanded size of the tensor (5) must match the existing size (3) at non-singleton "
				    "dimension 1.  Target sizes: [2, 5, 4].  Tensor sizes: [2, 3, 4]");
	err_clear(&e);
	assert_int_equal(tensor_slice(&w, &t, 0, -2, INT64_MAX, 2, NULL), 0);
	check_shape(&w, "[1, 1]", "[2, 1]");
	assert_int_equal(w.offset, 1);
	tensor_release(&w);
	assert_int_equal(tensor_slice(&w, &t, 0, 0, INT64_MAX, INT64_MAX, NULL), 0);
	assert_int_equal(w.shape[0], 1);
	tensor_release(&w);
	t.stride[0] = 4;
	assert_int_equal(tensor_slice(&w, &t, 0, 0, INT64_MAX, INT64_MAX, NULL), 0);
	assert_int_equal(w.shape[0], 1);
	t.stride[0] = 1;
	tensor_release(&w);
	assert_int_equal(tensor_select(&w, &t, 0, 3, &e), -1);
	assert_string_equal(e.text, "index 3 is out of bounds for dimension 0 with size 3");
	err_clear(&e);
	assert_int_equal(tensor_select(&w, &t, -2, -1, NULL), 0);
	assert_int_equal(w.offset, 2);
	tensor_release(&w);
	assert_int_equal(tensor_squeeze(&w, &t, 5, &e), -1);
	assert_string_equal(e.text, "Dimension out of range (expected to be in range of [-2, 1], but got 5)");
	tensor_release(&v);
	tensor_release(&t);
}

static void test_copy(void **state)
{
	struct tensor t = iota(3, (int64_t[]){ 5, 33, 18 }), p, c, h;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(tensor_transpose(&p, &t, 0, 2, NULL), 0);
	assert_int_equal(tensor_contiguous(&c, &p, NULL), 0);
	for (int64_t i = 0; i < 18; i++)
		for (int64_t j = 0; j < 33; j++)
			for (int64_t k = 0; k < 5; k++)
				assert_true(((float *)tensor_data(&c))[(i * 33 + j) * 5 + k] == (float)((k * 33 + j) * 18 + i));
	assert_int_equal(tensor_to(&h, &p, DT_F16, NULL), 0);
	assert_int_equal(((uint16_t *)tensor_data(&h))[1], f32_to_f16(33 * 18));
	/* A copy onto its own transpose: the source must be read as it was. */
	tensor_release(&h);
	h = iota(2, (int64_t[]){ 2, 2 });
	tensor_release(&p);
	assert_int_equal(tensor_transpose(&p, &h, 0, 1, NULL), 0);
	assert_int_equal(tensor_copy(&h, &p, NULL), 0);
	assert_true(((float *)tensor_data(&h))[1] == 2 && ((float *)tensor_data(&h))[2] == 1);
	assert_int_equal(tensor_copy(&h, &t, &e), -1);
	assert_string_equal(e.text, "The size of tensor a (2) must match the size of tensor b (18) at non-singleton dimension 2");
	tensor_release(&h);
	tensor_release(&c);
	tensor_release(&p);
	tensor_release(&t);
}

/* Transposed copies of every element size, whole blocks and edges: the bytes that belong there. */
static void test_transposed(void **state)
{
	static const enum dtype dts[] = { DT_U8, DT_F16, DT_F32, DT_F64 };
	static const int64_t shapes[][2] = { { 4, 5 }, { 8, 8 }, { 16, 64 }, { 19, 37 }, { 7, 130 }, { 65, 24 } };

	(void)state;
	for (size_t k = 0; k < COUNT_OF(dts); k++)
		for (size_t n = 0; n < COUNT_OF(shapes); n++) {
			int64_t r = shapes[n][0], c = shapes[n][1], size = dtype_size(dts[k]);
			struct tensor t, p, y;
			char *x, *d;

			assert_int_equal(tensor_new(&t, dts[k], 2, (int64_t[]){ r, c }, NULL), 0);
			x = tensor_data(&t);
			for (int64_t i = 0; i < r * c * size; i++)
				x[i] = (char)(i * 167 + i / 256);
			assert_int_equal(tensor_transpose(&p, &t, 0, 1, NULL), 0);
			assert_int_equal(tensor_contiguous(&y, &p, NULL), 0);
			d = tensor_data(&y);
			for (int64_t i = 0; i < r; i++)
				for (int64_t j = 0; j < c; j++)
					assert_memory_equal(d + (j * r + i) * size, x + (i * c + j) * size, (size_t)size);
			tensor_release(&y);
			tensor_release(&p);
			tensor_release(&t);
		}
}

static void test_budget_and_sizes(void **state)
{
	const int64_t huge = (int64_t)1 << 62;
	struct tensor_budget b = { .limit = 1000 };
	struct tensor t, u;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(tensor_new_in(&b, &t, DT_F32, 1, (int64_t[]){ 200 }, NULL), 0);
	assert_int_equal(tensor_new_in(&b, &u, DT_F32, 1, (int64_t[]){ 200 }, &e), -1);
	assert_int_equal(e.code, ERR_NOMEM);
	err_clear(&e);
	tensor_release(&t);
	assert_int_equal(b.live, 0);
	assert_int_equal(b.peak, 800);
	assert_int_equal(tensor_new(&t, DT_F64, 3, (int64_t[]){ INT64_MAX, INT64_MAX, 2 }, &e), -1);
	assert_int_equal(e.code, ERR_NOMEM);
	err_clear(&e);
	assert_int_equal(tensor_new(&t, DT_F64, 2, (int64_t[]){ INT64_MAX, 0 }, NULL), 0);
	assert_int_equal(tensor_numel(&t), 0);
	tensor_release(&t);
	assert_int_equal(tensor_new(&t, DT_F64, 1, (int64_t[]){ -1 }, &e), -1);
	t = iota(1, (int64_t[]){ 4 });
	err_clear(&e);
	assert_int_equal(tensor_as_strided(&u, &t, 1, (int64_t[]){ 3 }, (int64_t[]){ 2 }, 0, &e), -1);
	assert_int_equal(tensor_as_strided(&u, &t, 1, (int64_t[]){ 2 }, (int64_t[]){ 2 }, 1, NULL), 0);
	tensor_release(&u);
	tensor_release(&t);
	/* Sizes that cannot be multiplied, hidden behind a zero or without memory of their own. */
	err_clear(&e);
	assert_int_equal(tensor_new(&t, DT_F32, 3, (int64_t[]){ 0, 5, huge }, &e), -1);
	assert_int_equal(tensor_new(&t, DT_F32, 2, (int64_t[]){ 0, 1 }, NULL), 0);
	assert_int_equal(tensor_view(&u, &t, 3, (int64_t[]){ 5, huge, 0 }, &e), -1);
	assert_int_equal(tensor_expand(&u, &t, 4, (int64_t[]){ 5, huge, 0, 1 }, &e), -1);
	assert_int_equal(tensor_as_strided(&u, &t, 3, (int64_t[]){ 5, huge, 0 }, (int64_t[]){ 0, 0, 0 }, 0, &e), -1);
	tensor_release(&t);
	t = iota(1, (int64_t[]){ 1 });
	assert_int_equal(tensor_expand(&u, &t, 2, (int64_t[]){ 5, huge }, &e), -1);
	assert_int_equal(tensor_expand(&u, &t, 1, (int64_t[]){ huge }, NULL), 0);
	tensor_release(&t);
	assert_int_equal(tensor_unfold(&t, &u, 0, huge / 2, 1, &e), -1);
	tensor_release(&u);
}

/* In any order, but neither a part nor one element many times. */
static void test_is_whole(void **state)
{
	struct tensor t = iota(2, (int64_t[]){ 4, 3 }), part, turned, same;

	(void)state;
	assert_true(tensor_is_whole(&t));
	assert_int_equal(tensor_transpose(&turned, &t, 0, 1, NULL), 0);
	assert_true(tensor_is_whole(&turned));
	assert_int_equal(tensor_slice(&part, &t, 0, 1, 4, 1, NULL), 0);
	assert_false(tensor_is_whole(&part));
	assert_int_equal(tensor_as_strided(&same, &t, 2, (int64_t[]){ 4, 3 }, (int64_t[]){ 0, 1 }, 3, NULL), 0);
	assert_false(tensor_is_whole(&same));
	tensor_release(&same);
	tensor_release(&part);
	tensor_release(&turned);
	tensor_release(&t);
}

static void test_undef(void **state)
{
	struct tensor t = iota(2, (int64_t[]){ 4, 4 }), row, copy, one = iota(1, (int64_t[]){ 4 });

	(void)state;
	assert_int_equal(storage_track_undef(t.st, NULL), 0);
	assert_int_equal(tensor_select(&row, &t, 1, 2, NULL), 0);
	assert_int_equal(tensor_copy(&row, &one, NULL), 0);
	assert_false(tensor_any_undef(&row));
	assert_true(tensor_any_undef(&t));
	assert_int_equal(tensor_to(&copy, &t, DT_F64, NULL), 0);
	assert_true(tensor_any_undef(&copy));
	tensor_release(&row);
	assert_int_equal(tensor_select(&row, &copy, 1, 2, NULL), 0);
	assert_false(tensor_any_undef(&row));
	tensor_mark_defined(&copy);
	assert_false(tensor_any_undef(&copy));
	tensor_release(&row);
	tensor_release(&copy);
	tensor_release(&one);
	tensor_release(&t);
}

/* Which elements of a vector of four count as never written. */
static int marks(const struct tensor *t)
{
	int found = 0;

	for (int64_t i = 0; i < 4; i++) {
		struct tensor x;

		assert_int_equal(tensor_select(&x, t, 0, i, NULL), 0);
		found |= tensor_any_undef(&x) << i;
		tensor_release(&x);
	}
	return found;
}

/* What is made of an element that was never written was not, either; with a condition only of the one that is taken. */
static void test_carry_undef(void **state)
{
	struct tensor in[3], out = iota(1, (int64_t[]){ 4 }), first;

	(void)state;
	for (int i = 0; i < 3; i++)
		in[i] = iota(1, (int64_t[]){ 4 });
	assert_int_equal(tensor_carry_undef(&out, in, 3, 0, NULL), 0);
	assert_null(out.st->undef);
	assert_int_equal(storage_track_undef(in[1].st, NULL), 0);
	assert_int_equal(tensor_select(&first, &in[1], 0, 0, NULL), 0);
	tensor_mark_defined(&first);
	assert_int_equal(tensor_carry_undef(&out, in, 3, 0, NULL), 1);
	assert_int_equal(marks(&out), 14);
	assert_int_equal(tensor_carry_undef(&out, in, 3, 1, NULL), 1);         /* of 0, 1, 2, 3 the first is no */
	assert_int_equal(marks(&out), 14);
	tensor_mark_undef(&first);
	assert_int_equal(tensor_carry_undef(&out, in, 3, 1, NULL), 1);
	assert_int_equal(marks(&out), 14);
	assert_int_equal(tensor_carry_undef(&in[1], &in[1], 1, 0, NULL), 1);   /* in place */
	assert_int_equal(marks(&in[1]), 15);
	tensor_release(&first);
	tensor_release(&out);
	for (int i = 0; i < 3; i++)
		tensor_release(&in[i]);
}

static void test_round_trips(void **state)
{
	(void)state;
	for (uint32_t h = 0; h < 65536; h++) {
		float f = f16_to_f32((uint16_t)h), g = bf16_to_f32((uint16_t)h);

		if (f == f)
			assert_int_equal(f32_to_f16(f), h);
		if (g == g)
			assert_int_equal(f32_to_bf16(g), h);
	}
	for (uint32_t h = 0; h < 256; h++) {
		float f = f8e4m3_to_f32((uint8_t)h), g = f8e5m2_to_f32((uint8_t)h);

		if (f == f)
			assert_int_equal(f32_to_f8e4m3(f), h);
		if (g == g)
			assert_int_equal(f32_to_f8e5m2(g), h);
	}
	assert_true(f32_to_tf32(1.0f + 0x1p-11f) == 1.0f + 0x1p-10f);   /* ties go away */
	assert_true(f32_to_tf32(1.0f + 0x1p-12f) == 1.0f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_view),
		cmocka_unit_test(test_expand_slice_select),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_transposed),
		cmocka_unit_test(test_budget_and_sizes),
		cmocka_unit_test(test_is_whole),
		cmocka_unit_test(test_undef),
		cmocka_unit_test(test_carry_undef),
		cmocka_unit_test(test_round_trips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
