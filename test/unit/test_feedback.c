/* Patterns of wrong elements, and the paragraph made of a verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "verify/verdict/pattern.h"

enum { ROWS = 8, COLUMNS = 8, N = ROWS * COLUMNS };

static double expected[N], got[N];

static void fill(void)
{
	for (int i = 0; i < N; i++)
		got[i] = expected[i] = 1.0 + (double)((i * 37) % 64) / 7.0;
}

static const char *pattern(void)
{
	static char text[VERDICT_PATTERN];
	struct result e = { .ndim = 2, .shape = { ROWS, COLUMNS }, .n = N, .v = expected, .rms = 1.0, .rel = 1e-6 };
	struct result g = e;

	g.v = got;
	pattern_text(&e, &g, text, sizeof text);
	return text;
}

static void test_where(void **state)
{
	(void)state;
	fill();
	assert_string_equal(pattern(), "");
	for (int i = 0; i < N; i++)
		got[i] = i % COLUMNS >= 6 ? 0.0 : expected[i];
	assert_string_equal(pattern(), "all from index 6 on of dimension 1 (of 8); all of them are 0, as if nothing had been stored there");
	fill();
	for (int i = 0; i < COLUMNS; i++)
		got[3 * COLUMNS + i] += 1.0 + i;
	assert_string_equal(pattern(), "all at index 3 of dimension 0 (of 8)");
	fill();
	for (int i = 0; i < N; i++)
		got[i] += i / COLUMNS % 2 ? 1.0 + i : 0.0;
	assert_string_equal(pattern(), "all at every 2nd index of dimension 0, from 1 on");
}

static void test_what(void **state)
{
	(void)state;
	fill();
	for (int i = 0; i < N; i++)
		got[i] = 2.0 * expected[i];
	assert_string_equal(pattern(), "every element; each is 2 times what it should be");
	for (int i = 0; i < N; i++)
		got[i] = expected[i] + 0.25;
	assert_string_equal(pattern(), "every element; each is off by the same 0.25");
	for (int i = 0; i < N; i++)
		got[i] = NAN;
	assert_string_equal(pattern(), "every element; all of them are NaN");
	for (int i = 0; i < N; i++)
		got[i] = expected[i % COLUMNS * COLUMNS + i / COLUMNS];
	assert_non_null(strstr(pattern(), "the last two dimensions look transposed"));
	for (int i = 0; i < N; i++)
		got[i] = expected[(i + 1) % N];
	assert_non_null(strstr(pattern(), "the value that is expected at the next index"));
}

static void test_paragraph(void **state)
{
	struct verdict v = { .stage = STAGE_full, .n_inputs = 1, .n_elements = 1 };
	struct buf text = BUF_INIT;

	(void)state;
	diag_set(&v.diag, REASON_out_of_bounds, 12, 4, "a load outside x");
	strcpy(v.source_line, "x = tl.load(p + offs)");
	strcpy(v.inputs[0].kind, "original");
	strcpy(v.inputs[0].shape, "16x64");
	v.elements[0] = (struct verdict_element){ .at = "[1, 2]", .expected = 1.5, .got = 0.0 };
	verdict_feedback(&v, &text);
	assert_string_equal(buf_cstr(&text), "Not correct (out_of_bounds, at stage full): a load outside x. See line 12: `x = tl.load(p + offs)`. "
			    "It fails on the input set 'original' (first input 16x64). [1, 2] should be 1.5 and is 0. "
			    "To fix it: give the load or store a mask that compares the offsets with the size.");
	buf_clear(&text);
	v.correct = 1;
	verdict_feedback(&v, &text);
	assert_int_equal(text.n, 0);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_where), cmocka_unit_test(test_what), cmocka_unit_test(test_paragraph) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
