/* Training pairs from modules: outlines, variants, and rows that depend on their number only. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "data/draws.h"

static char folder[] = "/tmp/test_pairs_XXXXXX";

static int write_file(const char *name, const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "w");
	return !f || fputs(text, f) < 0 || fclose(f) ? -1 : 0;
}

static const char scaled[] =
	"import torch\n"
	"import torch.optim\n"
	"from torch import nn\n\n\n"
	"class Model(nn.Module):\n"
	"    \"\"\"Scales and clips.\"\"\"\n\n"
	"    def __init__(self, width):\n"
	"        super().__init__()\n"
	"        self.gain = nn.Parameter(torch.ones(width))\n\n"
	"    def forward(self, signal):\n"
	"        scaled = signal * self.gain\n"
	"        return torch.relu(scaled)\n\n\n"
	"def get_inputs():\n"
	"    return [torch.rand([4, 3])]\n\n\n"
	"def get_init_inputs():\n"
	"    return [3]\n";
static const char shifted[] =
	"import torch\n"
	"from torch import nn\n\n\n"
	"class Shift(nn.Module):\n"
	"    def __init__(self, size):\n"
	"        super().__init__()\n"
	"        self.offset = nn.Parameter(torch.zeros(size))\n\n"
	"    def forward(self, x):\n"
	"        moved = x + self.offset\n"
	"        return torch.tanh(moved)\n\n\n"
	"class Model(nn.Module):\n"
	"    def __init__(self, size):\n"
	"        super().__init__()\n"
	"        self.shift = Shift(size)\n\n"
	"    def forward(self, x):\n"
	"        return self.shift(x)\n\n\n"
	"def get_inputs():\n"
	"    return [torch.rand([4, 4, 4, 3])]\n\n\n"
	"def get_init_inputs():\n"
	"    return [3]\n";

static int begin(void **state)
{
	(void)state;
	return !mkdtemp(folder) || write_file("scaled.py", scaled) || write_file("shifted.py", shifted);
}

static int end(void **state)
{
	(void)state;
	return file_remove_tree(folder, NULL);
}

/* Sizes, strides and elements stand where a value occurs first. */
static void test_outline(void **state)
{
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(solve_outline(NULL, str_of(scaled), &out, &e), 0);
	assert_string_equal(buf_cstr(&out),
			    "# mul_2 4 3 (3 1 of 12) = __rmul__(signal 4 3 (3 1 of 12), self.gain 3 (1 of 3))\n"
			    "# relu_3 4 3 (3 1 of 12) = relu(mul_2) in kernel 1\n");
	buf_release(&out);
}

/* A module that does not run has no outline, and that is no error. */
static void test_no_outline(void **state)
{
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(solve_outline(NULL, STR("class Model: pass\n"), &out, &e), 0);
	assert_int_equal(solve_outline(NULL, STR("def broken(:\n"), &out, &e), 0);
	assert_int_equal(out.n, 0);
}

static void test_variants_differ(void **state)
{
	struct buf a = BUF_INIT, b = BUF_INIT;
	struct err e = ERR_INIT;
	struct vary x;
	struct rng rng;
	int same = 0, old_names = 0, old_sizes = 0, docs = 0;

	(void)state;
	assert_int_equal(vary_open(&x, folder, &e), 0);
	for (uint64_t k = 0; k < 60; k++) {
		rng_init(&rng, k, "test");
		assert_int_equal(vary_draw(&x, rng, &rng, &a, &e), 0);
		rng_init(&rng, k, "test");
		assert_int_equal(vary_draw(&x, rng, &rng, &b, &e), 0);
		assert_true(str_eq(buf_str(&a), buf_str(&b)));
		same += str_is(buf_str(&a), scaled) || str_is(buf_str(&a), shifted);
		old_sizes += str_find(buf_str(&a), STR("[4, 3]")) >= 0 || str_find(buf_str(&a), STR("4, 4, 3]")) >= 0;
		old_names += str_find(buf_str(&a), STR("self.gain")) >= 0 || str_find(buf_str(&a), STR("self.offset")) >= 0;
		docs += str_find(buf_str(&a), STR("clips")) >= 0;
	}
	assert_in_range(same, 0, 20);
	assert_in_range(old_sizes, 5, 50);
	assert_in_range(old_names, 5, 59);
	assert_in_range(docs, 5, 50);
	vary_close(&x);
	buf_release(&a);
	buf_release(&b);
}

/* Every pair has a solution; pair k is the same text each time. */
static void test_pairs(void **state)
{
	struct keepout keepout;
	struct module_pairs m;
	struct module_pair a, b;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(keepout_init(&keepout, &e), 0);
	assert_int_equal(module_pairs_open(&m, folder, 7, &keepout, &e), 0);
	for (uint64_t k = 0; k < 20; k++) {
		assert_int_equal(module_pairs_draw(&m, k, &a, &e), 0);
		assert_int_equal(module_pairs_draw(&m, k, &b, &e), 0);
		assert_true(str_find(buf_str(&a.answer.solution), STR("class ModelNew")) >= 0);
		assert_true(str_eq(buf_str(&a.answer.solution), buf_str(&b.answer.solution)));
		assert_true(str_eq(buf_str(&a.task), buf_str(&b.task)) && a.answer.outline.n > 0);
		module_pair_release(&a);
		module_pair_release(&b);
	}
	module_pairs_close(&m);
	keepout_release(&keepout);
}

/* Rows of a stream in style outline: modules and generated tasks, with and without an outline. */
static void test_rows(void **state)
{
	const char *levels[] = { "1", "2" };
	struct draws_opts o = { .levels = { .v = levels, .n = 2 }, .modules = folder, .share = 0.5 };
	struct draws_rows r = { .style = PROMPT_OUTLINE };
	struct buf row = BUF_INIT, again = BUF_INIT;
	struct err e = ERR_INIT;
	int modules = 0, outlines = 0, tf32 = 0;

	(void)state;
	assert_int_equal(draws_rows_init(&r, &o, 3, 100, &e), 0);
	for (uint64_t k = 0; k < 80; k++) {
		buf_clear(&row);
		buf_clear(&again);
		assert_int_equal(draws_row(&r, k, &row, &e), 0);
		assert_int_equal(draws_row(&r, k, &again, &e), 0);
		assert_true(str_eq(buf_str(&row), buf_str(&again)));
		modules += str_find(buf_str(&row), STR("torch.rand([")) >= 0;
		outlines += str_find(buf_str(&row), STR("\\n# ")) >= 0 && str_find(buf_str(&row), STR(" in kernel 1\\n")) >= 0;
		tf32 += str_find(buf_str(&row), STR("# precision: tf32")) >= 0;
	}
	assert_in_range(modules, 20, 60);
	assert_in_range(outlines, 25, 70);
	assert_in_range(tf32, 1, 30);
	draws_rows_release(&r);
	buf_release(&row);
	buf_release(&again);
}

/* A prompt that does not name the precision has no answer in tf32. */
static void test_unnamed_precision(void **state)
{
	const char *levels[] = { "1" };
	struct draws_opts o = { .levels = { .v = levels, .n = 1 }, .modules = folder, .share = 1.0 };
	struct draws_rows outline = { .style = PROMPT_OUTLINE }, compact = { .style = PROMPT_COMPACT };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(draws_rows_init(&outline, &o, 3, 100, &e), 0);
	assert_int_equal(draws_rows_init(&compact, &o, 3, 100, &e), 0);
	assert_true(outline.modules.tf32 > 0.0);
	assert_true(compact.modules.tf32 == 0.0);
	draws_rows_release(&outline);
	draws_rows_release(&compact);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outline),
		cmocka_unit_test(test_no_outline),
		cmocka_unit_test(test_variants_differ),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_unnamed_precision),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
