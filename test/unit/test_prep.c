/* Preparing data: rows cut out of large files, KernelBook's form to KernelBench's, sketches,
 * difficulty. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json_rows.h"
#include "base/mem.h"
#include "data/difficulty.h"
#include "data/kernelbook.h"
#include "data/sketch.h"

/* --- rows ----------------------------------------------------------------------------------------- */

static char *file_with(const char *text, size_t n)
{
	char *path = strdup("/tmp/test_prep.XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), (ssize_t)n);
	close(fd);
	return path;
}

/* Rows joined by '|', then " end" or the error. */
static char *rows_of(const char *text, size_t n, size_t most)
{
	char *path = file_with(text, n);
	struct json_rows r;
	struct err e = ERR_INIT;
	struct buf out = BUF_INIT;
	struct str row;
	int rc;

	assert_int_equal(json_rows_open(&r, path, most, &e), 0);
	while ((rc = json_rows_next(&r, &row, &e)) > 0) {
		buf_adds(&out, out.n ? "|" : "");
		buf_addstr(&out, row);
	}
	buf_adds(&out, rc ? " " : " end");
	buf_adds(&out, e.text);
	json_rows_close(&r);
	unlink(path);
	free(path);
	return buf_take(&out);
}

static const struct {
	const char *text, *rows;
} row_cases[] = {
	{ "[{\"a\": 1}, {\"b\": [2, {}]}]", "{\"a\": 1}|{\"b\": [2, {}]} end" },
	{ " [ ]\n", " end" },
	{ "", " end" },
	{ "{\"a\": 1}\n{\"b\": 2}\n\n", "{\"a\": 1}|{\"b\": 2} end" },
	{ "[{\"s\": \"}]\\\"{\\\\\"}]", "{\"s\": \"}]\\\"{\\\\\"} end" },
	{ "\xef\xbb\xbf[{}]", "{} end" },
	{ "[{}, {\"a\": 1", "{} byte 5: the file ends inside this row" },
	{ "[{}", "{} byte 3: the file ends inside its array" },
	{ "[{},", "{} byte 4: the file ends inside its array" },
	{ "[{} {}]", "{} byte 4: expected ',' or ']' between rows" },
	{ "[{}] x", "{} byte 5: text behind the array" },
	{ "[1]", " byte 1: expected a row: '{'" },
	{ "{\"s\": \"\\", "{\"s\": \"\\ end" },
	{ "{\"a\": ]}\r\n  nonsense \n{}", "{\"a\": ]}|nonsense|{} end" },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(row_cases); i++) {
		char *got = rows_of(row_cases[i].text, strlen(row_cases[i].text), 0);

		assert_string_equal(got, row_cases[i].rows);
		mem_free(got);
	}
}

/* Rows longer than a read, with the boundary of a read at every kind of place. */
static void test_rows_large(void **state)
{
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;
	struct json_rows r;
	struct str row;
	char *path, *got;
	int64_t n = 0;

	(void)state;
	buf_addc(&text, '[');
	for (int i = 0; i < 3000; i++) {
		buf_addf(&text, "%s{\"n\": %d, \"t\": \"", i ? "," : "", i);
		for (int k = 0; k < i % 97; k++)
			buf_adds(&text, "}\\\"{");
		buf_pad(&text, 'x', i % 1000 == 7 ? 700000 : (size_t)(i % 13));
		buf_adds(&text, "\"}");
	}
	buf_addc(&text, ']');
	path = file_with(text.p, text.n);
	assert_int_equal(json_rows_open(&r, path, 0, &e), 0);
	for (; json_rows_next(&r, &row, &e) > 0; n++) {
		char head[32];

		snprintf(head, sizeof head, "{\"n\": %lld,", (long long)n);
		assert_memory_equal(row.p, head, strlen(head));
		assert_memory_equal(row.p + row.n - 2, "\"}", 2);
	}
	assert_int_equal(n, 3000);
	assert_string_equal(e.text, "");
	assert_int_equal(json_rows_offset(&r), (int64_t)text.n);
	json_rows_close(&r);
	unlink(path);
	free(path);
	got = rows_of(text.p, text.n, 100000);
	assert_contains(got, "a row of more than 100000 bytes");
	mem_free(got);
	buf_release(&text);
}

static void test_thin(void **state)
{
	static const char *const cases[][2] = {
		{ "{\"a\": 1, \"k\": \"x\\\"}\", \"b\": 2}", "{\"a\": 1, \"k\": null, \"b\": 2}" },
		{ "{\"k\": [1, {\"k\": \"]\"}], \"b\": {\"k\": 3}}", "{\"k\": null, \"b\": {\"k\": 3}}" },
		{ "{\"k\":12}", "{\"k\":null}" },
		{ "{\"k\" : \"\\\\\" }", "{\"k\" : null }" },
		{ "{\"kk\": 1, \"ak\": 2}", "{\"kk\": 1, \"ak\": 2}" },
		{ "{}", "{}" }, { "", "" }, { "nonsense", "nonsense" }, { "{\"k\": \"open", "{\"k\": null" }, { "{\"k\"", "{\"k\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf out = BUF_INIT;

		json_row_thin(str_of(cases[i][0]), "k", &out);
		assert_string_equal(buf_cstr(&out), cases[i][1]);
		buf_release(&out);
	}
}

/* --- programs ------------------------------------------------------------------------------------ */

static struct py_module parsed(const char *text)
{
	struct py_module m;
	struct err e = ERR_INIT;

	if (py_parse(&m, str_of(text), "t", 0, &e))
		fail_msg("%s: line %d", e.text, e.line);
	return m;
}

#define HEAD "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
#define USED "import torch\nimport torch.nn as nn\n"
#define INPUTS "def get_inputs():\n    return [torch.rand([4, 4])]\n"

static void check_task(const char *text, const char *entry, const char *expected)
{
	struct py_module m = parsed(text);
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;
	enum prep_drop drop;

	assert_int_equal(kernelbook_task(&m, str_of(entry), &out, &drop, &e), 0);
	assert_string_equal(drop == PREP_KEPT ? buf_cstr(&out) : prep_drop_name(drop), expected);
	buf_release(&out);
	py_release(&m);
}

#define CLASS(name, params) "class " name "(nn.Module):\n    def __init__(self" params "):\n        super(" name ", self).__init__()\n" \
	"    def forward(self, x):\n        return x\n"
#define INIT(value) "def get_init_inputs():\n    return " value "\n"

static void test_task(void **state)
{
	(void)state;
	check_task(HEAD CLASS("Deep", ", a, b=2, c=3") INPUTS INIT("[[1], {'c': 5}]"), "Deep",
		   USED CLASS("Model", ", a, b=2, c=3") INPUTS INIT("[1, 2, 5]"));
	check_task(HEAD CLASS("Deep", "") INPUTS INIT("[[], {}]"), "Deep", USED CLASS("Model", "") INPUTS INIT("[]"));
	/* No flat form: a default that is computed, a keyword-only or unknown parameter. */
	check_task(HEAD CLASS("Deep", ", a, b=[1], c=3") INPUTS INIT("[[1], {'c': 5}]"), "Deep",
		   USED CLASS("Model", ", a, b=[1], c=3") INPUTS INIT("[[1], {'c': 5}]"));
	check_task(HEAD CLASS("Deep", ", *, a=1") INPUTS INIT("[[], {'a': 5}]"), "Deep",
		   USED CLASS("Model", ", *, a=1") INPUTS INIT("[[], {'a': 5}]"));
	check_task(HEAD CLASS("Deep", ", **kw") INPUTS INIT("[[], {'a': 5}]"), "Deep",
		   USED CLASS("Model", ", **kw") INPUTS INIT("[[], {'a': 5}]"));
	/* Names inside other names and in strings stay. */
	check_task(HEAD "DeepX = 'Deep'\n" CLASS("Deep", "") INPUTS INIT("[]"), "Deep",
		   USED "DeepX = 'Deep'\n" CLASS("Model", "") INPUTS INIT("[]"));
	/* Imports: of no use, of use by another name, by a path, several in one statement. */
	check_task("import os\nimport torch.utils.data\nimport torch\nfrom a import b, c\nfrom torch import nn\nimport torch.nn.init\n"
		   CLASS("Deep", "") "init = torch.nn.init.zeros_, c\n" INPUTS INIT("[]"), "Deep",
		   "import torch\nfrom a import b, c\nfrom torch import nn\nimport torch.nn.init\n" CLASS("Model", "")
		   "init = torch.nn.init.zeros_, c\n" INPUTS INIT("[]"));
	check_task("import torch.nn\nfrom torch import nn\nimport os; x = 1\n" CLASS("Deep", "") INPUTS INIT("[]"), "Deep",
		   "import torch.nn\nfrom torch import nn\nimport os; x = 1\n" CLASS("Model", "") INPUTS INIT("[]"));
	check_task(HEAD CLASS("Deep", "") INPUTS INIT("[]"), "Other", "no_entry");
	check_task(HEAD CLASS("Deep", "") INIT("[]"), "Deep", "no_inputs");
	check_task(HEAD CLASS("Deep", "") "class Model: pass\n" INPUTS INIT("[]"), "Deep", "name_taken");
}

static void test_mock_config(void **state)
{
	struct py_module m = parsed("from _paritybench_helpers import _mock_config\n" HEAD CLASS("Deep", ", config") INPUTS
				    INIT("[[], {'config': _mock_config(hidden=4)}]"));
	struct buf out = BUF_INIT;
	enum prep_drop drop;

	(void)state;
	assert_int_equal(kernelbook_task(&m, STR("Deep"), &out, &drop, NULL), 0);
	assert_contains(buf_cstr(&out), "class _mock_config:");
	assert_contains(buf_cstr(&out), "return [_mock_config(hidden=4)]");
	assert_null(strstr(buf_cstr(&out), "_paritybench_helpers"));
	buf_release(&out);
	py_release(&m);
}

static void check_solution(const char *text, const char *expected)
{
	struct py_module m = parsed(text);
	struct buf out = BUF_INIT;
	enum prep_drop drop;

	assert_int_equal(kernelbook_solution(&m, STR("Deep"), &out, &drop, NULL), 0);
	assert_string_equal(drop == PREP_KEPT ? buf_cstr(&out) : prep_drop_name(drop), expected);
	buf_release(&out);
	py_release(&m);
}

static void test_solution(void **state)
{
	(void)state;
	check_solution("@triton.jit\ndef k(p):\n    pass\ndef call(args):\n    a, = args\n    args.clear()\n    return a\n" CLASS("DeepNew", ""),
		       "@triton.jit\ndef k(p):\n    pass\ndef call(args):\n    a, = args\n    return a\n" CLASS("ModelNew", ""));
	check_solution("def k(p):\n    pass\n" CLASS("DeepNew", ""), "no_kernel");
	check_solution("@triton.jit\ndef k(p):\n    pass\n" CLASS("Deep", ""), "no_solution");
}

/* --- sketches --------------------------------------------------------------------------------------- */

static struct sketch sketch_of(const char *text)
{
	struct py_module m = parsed(text);
	struct sketch s;

	sketch_module(&m, &s);
	py_release(&m);
	return s;
}

static const char base_text[] = HEAD
	"class Model(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.fc = nn.Linear(n, 64)\n"
	"        self.norm = nn.LayerNorm(64)\n"
	"    def forward(self, x):\n        y = self.fc(x)\n        y = torch.relu(y) * 0.5\n        y = self.norm(y)\n        return y.sum(dim=1)\n"
	"n = 32\n" INPUTS INIT("[n]");
static const char same_text[] = HEAD
	"class Net(nn.Module):\n    \"\"\"Another name.\"\"\"\n    def __init__(self, width: int):\n        super().__init__()\n"
	"        self.lin = nn.Linear(width, 128)\n        self.ln = nn.LayerNorm(128)  # a comment\n"
	"    def forward(self, inp):\n        out = self.lin(inp)\n        out = F.relu(out) * 2.0\n        out = self.ln(out)\n        return out.sum(dim=3)\n"
	"def get_inputs():\n    return []\n";
static const char near_text[] = HEAD
	"class Net(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.fc = nn.Linear(n, 64)\n"
	"        self.norm = nn.LayerNorm(64)\n"
	"    def forward(self, x):\n        y = self.fc(x)\n        y = torch.relu(y) * 0.5\n        y = self.norm(y)\n        return y.sum(dim=1) + 1\n";
static const char other_text[] = HEAD
	"class Model(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.conv = nn.Conv2d(n, 8, 3, padding=1)\n"
	"    def forward(self, x):\n        return F.max_pool2d(torch.sigmoid(self.conv(x)), 2).mean()\n";

static void test_sketch(void **state)
{
	struct sketch a = sketch_of(base_text), same = sketch_of(same_text), near = sketch_of(near_text), other = sketch_of(other_text);

	(void)state;
	assert_true(sketch_similarity(&a, &same) == 1.0);
	assert_true(a.whole == same.whole);
	assert_true(a.whole != near.whole);
	assert_true(sketch_similarity(&a, &near) > 0.7);
	assert_true(sketch_similarity(&a, &other) < 0.4);
}

static void test_index(void **state)
{
	struct sketch_index x = { .slots = 0 };
	struct sketch a = sketch_of(base_text), near = sketch_of(near_text), other = sketch_of(other_text);
	struct err e = ERR_INIT;

	(void)state;
	assert_true(sketch_index_nearest(&x, &a, 1.0) == 0.0);
	for (int i = 0; i < 5000; i++) {
		struct buf text = BUF_INIT;
		struct sketch s;

		buf_adds(&text, HEAD "class Model(nn.Module):\n    def forward(self, x):\n");
		for (int k = 0, bits = i; k < 8; k++, bits /= 3)
			buf_addf(&text, "        x = torch.%s(x)\n", (const char *const[]){ "exp", "sin", "tanh" }[bits % 3]);
		s = sketch_of(buf_cstr(&text));
		assert_int_equal(sketch_index_add(&x, &s, &e), 0);
		assert_true(sketch_index_nearest(&x, &s, 1.0) == 1.0);
		buf_release(&text);
	}
	assert_true(sketch_index_nearest(&x, &a, 1.0) < 0.5);
	assert_int_equal(sketch_index_add(&x, &a, &e), 0);
	assert_true(sketch_index_nearest(&x, &near, 1.0) > 0.7);
	assert_true(sketch_index_nearest(&x, &other, 1.0) < 0.6);
	sketch_index_release(&x);
}

/* --- difficulty -------------------------------------------------------------------------------------- */

#define MODEL(init, forward) HEAD "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n" init \
	"    def forward(self, x, y=None):\n" forward

static const struct {
	const char *text;
	int level;
	const char *ops;
} level_cases[] = {
	{ MODEL("", "        return torch.relu(x)\n"), 1, "relu" },
	{ MODEL("", "        return x @ y\n"), 1, "matmul" },
	{ MODEL("        self.c = nn.Conv2d(3, 4, 3)\n", "        return self.c(x).view(-1, x.size(0) * 2)\n"), 1, "conv2d" },
	{ MODEL("", "        return x * torch.sigmoid(x)\n"), 1, "sigmoid" },
	{ MODEL("        self.l = nn.Linear(3, 4)\n", "        return F.gelu(self.l(x))\n"), 2, "linear,gelu" },
	{ MODEL("        self.l = nn.Linear(3, 4)\n", "        return self.l(x) + y\n"), 2, "linear" },
	{ MODEL("        self.s = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())\n", "        return self.s(x)\n"), 2,
	  "conv2d,batchnorm2d,relu" },
	{ MODEL("", "        return self.act(x).softmax(-1)\n    def act(self, x):\n        return x.tanh()\n"), 2, "tanh,softmax" },
	{ MODEL("        self.r = nn.LSTM(3, 4)\n", "        return self.r(x)\n"), 3, "lstm" },
	{ MODEL("        layers = []\n        for i in range(4):\n            layers.append(nn.Linear(4, 4))\n            layers.append(nn.ReLU())\n"
		"        layers += [nn.Linear(4, 4)]\n        self.net = nn.Sequential(*layers)\n", "        return self.net(x)\n"), 3, "linear,relu,linear" },
	{ MODEL("        self.b = nn.ModuleList([Block() for _ in range(3)])\n", "        for b in self.b:\n            x = b(x)\n        return x\n")
	  "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.p = nn.Linear(3, 3)\n        self.q = nn.Linear(3, 3)\n"
	  "    def forward(self, x):\n        return self.q(torch.relu(self.p(x)))\n", 3, "linear,relu,linear" },
	{ MODEL("        self.loop = self\n", "        return self.forward(x)\n"), 1, "" },
};

static void test_difficulty(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(level_cases); i++) {
		struct py_module m = parsed(level_cases[i].text);
		struct difficulty d;

		difficulty_of(&m, STR("Model"), &d);
		if (d.level != level_cases[i].level)
			fail_msg("case %zu: level %d (%s)", i, d.level, d.names);
		assert_string_equal(d.names, level_cases[i].ops);
		py_release(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows), cmocka_unit_test(test_rows_large), cmocka_unit_test(test_thin), cmocka_unit_test(test_task),
		cmocka_unit_test(test_mock_config), cmocka_unit_test(test_solution), cmocka_unit_test(test_sketch),
		cmocka_unit_test(test_index), cmocka_unit_test(test_difficulty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
