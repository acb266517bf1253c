/* Hollow storages that have contents where they are touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tensor/sparse.h"

/* A hollow matrix, of more bytes than this machine has. */
static struct tensor hollow(int64_t rows, int64_t cols)
{
	struct tensor t;
	int64_t shape[] = { rows, cols }, stride[] = { cols, 1 };

	assert_int_equal(tensor_new_hollow(&t, DT_F32, 2, shape, stride, NULL), 0);
	return t;
}

static float *at(const struct tensor *t, int64_t row, int64_t col)
{
	size_t off = (size_t)(row * t->shape[1] + col) * 4;

	assert_int_equal(sparse_touch(t->st, off, off + 4), 0);
	return (float *)((char *)t->st->data + off);
}

static void rows_repeat_a_few(void **state)
{
	enum { COLS = 1 << 20, FEW = 3 };
	struct tensor t = hollow(1 << 20, COLS);
	struct tensor from;
	float *few;

	(void)state;
	assert_int_equal(tensor_new(&from, DT_F32, 2, (int64_t[]){ FEW, COLS }, NULL), 0);
	few = tensor_data(&from);
	for (int64_t i = 0; i < (int64_t)FEW * COLS; i++)
		few[i] = (float)(i % 65521);
	assert_int_equal(sparse_few(&t, &from, &(struct sparse_map){ .few = FEW, .seed = 77 }), 0);
	for (int64_t row = 0; row < 1 << 20; row += 104729)
		for (int64_t col = 0; col < COLS; col += 523487)
			assert_true(*at(&t, row, col) == few[sparse_index(row, FEW, 77) * COLS + col]);
	assert_true(sparse_is_known(t.st, 0, 4));
	tensor_release(&t);
	tensor_release(&from);
}

/* Along both dimensions there are fewer, and the smaller one lies the other way round. */
static void any_axis_repeats(void **state)
{
	enum { FEW = 4 };
	struct tensor t = hollow(1 << 17, 1 << 16), from, turned;

	(void)state;
	assert_int_equal(tensor_new(&from, DT_F32, 2, (int64_t[]){ FEW, FEW }, NULL), 0);
	for (int i = 0; i < FEW * FEW; i++)
		((float *)tensor_data(&from))[i] = (float)i;
	assert_int_equal(tensor_transpose(&turned, &from, 0, 1, NULL), 0);
	assert_int_equal(sparse_few(&t, &turned, &(struct sparse_map){ .few = FEW, .seed = 5 }), 0);
	for (int64_t row = 1; row < 1 << 17; row += 52361)
		for (int64_t col = 1; col < 1 << 16; col += 26177)
			assert_true(*at(&t, row, col) == (float)(sparse_index(col, FEW, 5) * FEW + sparse_index(row, FEW, 5)));
	tensor_release(&turned);
	tensor_release(&from);
	tensor_release(&t);
}

/* Both ends stay, and the middle repeats what is before it. */
static void periods_are_put_back(void **state)
{
	static const int64_t want[] = { 0, 1, 2, 3, 4, 3, 4, 3, 4, 3, 4, 5, 6, 7, 8, 9 };
	struct sparse_map map = { .few = 4, .periods = 3 };

	(void)state;
	for (int64_t i = 0; i < 16; i++) {
		assert_int_equal(sparse_fold(i, 16, 10, 3), want[i]);
		assert_int_equal(sparse_map_index(&map, i, 16, 10), want[i]);
		assert_int_equal(sparse_map_index(&map, i, 16, 4), sparse_index(i, 4, 0));
	}
	assert_true(sparse_map_fits(&map, 16, 10) && sparse_map_fits(&map, 15, 4) && sparse_map_fits(&map, 9, 9));
	/* no whole number of periods; more in a period than half of what is left; either kind */
	assert_false(sparse_map_fits(&map, 17, 10) || sparse_map_fits(&map, 32, 8) || sparse_map_fits(&map, 10, 4));
}

/* Shapes that do not go together leave the contents unknown. */
static void other_shapes_say_nothing(void **state)
{
	struct tensor t = hollow(1 << 10, 1 << 10), from;

	(void)state;
	assert_int_equal(tensor_new_zero(&from, DT_F32, 2, (int64_t[]){ 4, 1 << 9 }, NULL), 0);
	assert_int_equal(sparse_few(&t, &from, &(struct sparse_map){ .few = 4, .seed = 5 }), 0);
	at(&t, 0, 0);
	assert_false(sparse_is_known(t.st, 0, 4));
	tensor_release(&from);
	tensor_release(&t);
}

static void a_number_fills(void **state)
{
	struct tensor t = hollow(1 << 16, 1 << 16);
	float one = 1.5f;

	(void)state;
	assert_int_equal(sparse_value(t.st, &one, 4), 0);
	assert_true(*at(&t, 40000, 3) == 1.5f);
	assert_true(*at(&t, 65535, 65535) == 1.5f);
	tensor_release(&t);
}

/* A number copied into a hollow tensor is its contents; anything else copied there is not known. */
static void copies_are_remembered(void **state)
{
	struct tensor t = hollow(1 << 16, 1 << 16), one, view;

	(void)state;
	assert_int_equal(tensor_new_zero(&one, DT_F64, 0, NULL, NULL), 0);
	*(double *)tensor_data(&one) = 0.25;
	assert_int_equal(tensor_copy(&t, &one, NULL), 0);
	assert_true(*at(&t, 7, 7) == 0.25f);
	assert_int_equal(tensor_slice(&view, &t, 0, 3, 4, 1, NULL), 0);
	assert_int_equal(tensor_copy(&view, &one, NULL), 0);
	at(&t, 7, 7);
	assert_false(sparse_is_known(t.st, 0x1c001c, 0x1c0020));
	tensor_release(&view);
	tensor_release(&one);
	tensor_release(&t);
}

struct found {
	size_t lo[8], hi[8];
	int n;
};

static int note(void *ctx, size_t lo, size_t hi)
{
	struct found *f = ctx;

	assert_true(f->n < 8);
	f->lo[f->n] = lo;
	f->hi[f->n++] = hi;
	return 0;
}

static void what_was_written_is_found(void **state)
{
	struct tensor t = hollow(1 << 16, 1 << 16);
	struct found f = { .n = 0 };
	size_t far = (size_t)1 << 33;

	(void)state;
	assert_int_equal(sparse_unknown(t.st), 0);
	assert_int_equal(sparse_touch(t.st, 100, 200), 0);
	assert_int_equal(sparse_touch(t.st, far, far + 64), 0);
	assert_false(sparse_is_known(t.st, 100, 104));
	assert_int_equal(sparse_mark(t.st, 100, 200, 1), 0);
	assert_int_equal(sparse_mark(t.st, 120, 124, 0), 0);
	assert_int_equal(sparse_mark(t.st, far, far + 64, 1), 0);
	assert_true(sparse_is_known(t.st, 100, 120));
	assert_false(sparse_is_known(t.st, 116, 124));
	assert_int_equal(sparse_written(t.st, note, &f), 0);
	assert_int_equal(f.n, 3);
	assert_int_equal(f.lo[0], 100);
	assert_int_equal(f.hi[0], 120);
	assert_int_equal(f.lo[1], 124);
	assert_int_equal(f.hi[2], far + 64);
	tensor_release(&t);
}

/* Memory ends: a program that walks over everything gets no more than so many chunks. */
/* Of many writers some are seen: what others wrote before them is known no longer, unless these wrote nothing. */
static void unseen_writers_may_have_changed_it(void **state)
{
	struct tensor t = hollow(1 << 10, 1 << 10);
	float zero = 0.0f;

	(void)state;
	assert_int_equal(sparse_value(t.st, &zero, 4), 0);
	*at(&t, 3, 0) = 1.0f;
	assert_int_equal(sparse_mark(t.st, 3 << 12, (3 << 12) + 4, 1), 0);
	sparse_begin_some(t.st);
	sparse_end_some(t.st);
	assert_true(sparse_is_known(t.st, 3 << 12, (3 << 12) + 8));
	sparse_begin_some(t.st);
	*at(&t, 5, 0) = 2.0f;
	assert_int_equal(sparse_mark(t.st, 5 << 12, (5 << 12) + 4, 1), 0);
	assert_true(sparse_is_known(t.st, 3 << 12, (3 << 12) + 4));
	sparse_end_some(t.st);
	assert_true(sparse_is_known(t.st, 5 << 12, (5 << 12) + 4));
	assert_false(sparse_is_known(t.st, 5 << 12, (5 << 12) + 8));
	assert_false(sparse_is_known(t.st, 3 << 12, (3 << 12) + 4));
	tensor_release(&t);
}

static void touching_has_a_limit(void **state)
{
	struct tensor t = hollow(1 << 20, 1 << 16);
	size_t off = 0;

	(void)state;
	assert_int_equal(sparse_unknown(t.st), 0);
	while (off < t.st->bytes && !sparse_touch(t.st, off, off + 4))
		off += (size_t)1 << 20;
	assert_true(off < t.st->bytes);
	tensor_release(&t);
}

/* A dense copy of a transposed view holds what the view does, and says no more what it consists of; a copy as it lies does. */
static void copies_hold_the_same(void **state)
{
	enum { ROWS = 1 << 16, COLS = 1 << 14, FEW = 4 };
	struct tensor t = hollow(ROWS, COLS), from, view, copy = hollow(COLS, ROWS), same = hollow(ROWS, COLS);
	float *few;

	(void)state;
	assert_int_equal(tensor_new(&from, DT_F32, 2, (int64_t[]){ FEW, COLS }, NULL), 0);
	few = tensor_data(&from);
	for (int64_t i = 0; i < (int64_t)FEW * COLS; i++)
		few[i] = (float)i;
	assert_int_equal(sparse_few(&t, &from, &(struct sparse_map){ .few = FEW, .seed = 9 }), 0);
	assert_true(sparse_source(&t) == (void *)few);
	assert_int_equal(tensor_transpose(&view, &t, 0, 1, NULL), 0);
	assert_int_equal(tensor_copy(&copy, &view, NULL), 0);
	assert_int_equal(tensor_copy(&same, &t, NULL), 0);
	for (int64_t col = 0; col < COLS; col += 5231)
		for (int64_t row = 0; row < ROWS; row += 26177) {
			assert_true(*at(&copy, col, row) == few[sparse_index(row, FEW, 9) * COLS + col]);
			assert_true(*at(&same, row, col) == *at(&copy, col, row));
		}
	assert_null(sparse_source(&copy));
	assert_true(sparse_source(&same) == (void *)few);
	/* What was written to says nothing of what it consists of, and a copy of it is unknown. */
	at(&t, 0, 0);
	assert_int_equal(sparse_mark(t.st, 0, 4, 1), 0);
	assert_null(sparse_source(&t));
	assert_int_equal(tensor_copy(&copy, &view, NULL), 0);
	at(&copy, 0, 0);
	assert_false(sparse_is_known(copy.st, 0, 4));
	tensor_release(&view);
	tensor_release(&copy);
	tensor_release(&same);
	tensor_release(&t);
	tensor_release(&from);
}

/* What has its memory is spread as what has none: the same elements at the same places. */
static void spread_as_hollow(void **state)
{
	enum { ROWS = 300, COLS = 500 };
	struct tensor from, t = hollow(ROWS, COLS), wide;

	(void)state;
	assert_int_equal(tensor_new(&from, DT_F32, 2, (int64_t[]){ 7, 11 }, NULL), 0);
	for (int i = 0; i < 77; i++)
		((float *)tensor_data(&from))[i] = (float)i;
	assert_int_equal(tensor_new(&wide, DT_F64, 2, (int64_t[]){ ROWS, COLS }, NULL), 0);
	assert_int_equal(sparse_few(&t, &from, &(struct sparse_map){ .spread = 3 }), 0);
	assert_int_equal(sparse_spread(&wide, &from, 3), 0);
	for (int64_t row = 0; row < ROWS; row += 7)
		for (int64_t col = 0; col < COLS; col += 11)
			assert_true((double)*at(&t, row, col) == ((double *)tensor_data(&wide))[row * COLS + col]);
	tensor_release(&wide);
	tensor_release(&t);
	tensor_release(&from);
}

/* Rows along an independent axis follow the map of all tensors, and what a part repeats follows its own seed. */
static void few_rows_of_a_part(void **state)
{
	enum { ROWS = 300, COLS = 500, FEW_ROWS = 3, PART = 16 };
	struct tensor from, t = hollow(ROWS, COLS);

	(void)state;
	assert_int_equal(tensor_new(&from, DT_F32, 2, (int64_t[]){ FEW_ROWS, PART }, NULL), 0);
	for (int i = 0; i < FEW_ROWS * PART; i++)
		((float *)tensor_data(&from))[i] = (float)i;
	assert_int_equal(sparse_few(&t, &from, &(struct sparse_map){ .few = FEW_ROWS, .seed = 5, .spread = 9 }), 0);
	for (int64_t row = 0; row < ROWS; row += 7)
		for (int64_t col = 0; col < COLS; col += 11)
			assert_true(*at(&t, row, col) == (float)(sparse_index(row, FEW_ROWS, 5) * PART +
								 sparse_index(col, PART, 9)));
	tensor_release(&t);
	tensor_release(&from);
}

static int count_bytes(void *ctx, size_t lo, size_t hi)
{
	*(size_t *)ctx += hi - lo;
	return 0;
}

/* What a writer left who was stopped is unknown, what those before it wrote is not. */
static void one_that_was_stopped_is_unknown(void **state)
{
	struct tensor t = hollow(1 << 10, 1 << 10);
	size_t known = 0;

	(void)state;
	assert_int_equal(sparse_empty(t.st), 0);
	at(&t, 0, 0);
	sparse_begin_some(t.st);
	sparse_next_writer(t.st);
	assert_int_equal(sparse_mark(t.st, 0, 64, 1), 0);
	sparse_next_writer(t.st);
	assert_int_equal(sparse_mark(t.st, 32, 128, 1), 0);
	sparse_drop_writer(t.st);
	sparse_written(t.st, count_bytes, &known);
	assert_int_equal(known, 32);
	tensor_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_repeat_a_few),
		cmocka_unit_test(any_axis_repeats), cmocka_unit_test(periods_are_put_back),
		cmocka_unit_test(other_shapes_say_nothing),
		cmocka_unit_test(a_number_fills),
		cmocka_unit_test(copies_are_remembered),
		cmocka_unit_test(what_was_written_is_found),
		cmocka_unit_test(unseen_writers_may_have_changed_it),
		cmocka_unit_test(touching_has_a_limit),
		cmocka_unit_test(copies_hold_the_same),
		cmocka_unit_test(spread_as_hollow), cmocka_unit_test(few_rows_of_a_part),
		cmocka_unit_test(one_that_was_stopped_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
