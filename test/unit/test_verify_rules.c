/* The static rules: one candidate that keeps them all, and for each rule the smallest changes that
 * break it. Each change is refused by its rule, and passes when the rule is off. */
#include "check.h"

#include "base/mem.h"
#include "verify/rules/rules.h"

static const char task[] =
	"import torch\n"
	"import torch.nn as nn\n"
	"class Model(nn.Module):\n"
	"    def __init__(self, n):\n"
	"        super().__init__()\n"
	"        self.n = n\n"
	"    def forward(self, x):\n"
	"        return x + self.n\n"
	"def get_inputs():\n"
	"    return [torch.rand(8)]\n"
	"def get_init_inputs():\n"
	"    return [3]\n";

/* The @ marks are replaced by text: before everything, in __init__, at the head of forward, in place of the
 * result. */
static const char candidate[] =
	"import torch\n"
	"import torch.nn as nn\n"
	"import triton\n"
	"import triton.language as tl\n"
	"@0"
	"@triton.jit\n"
	"def add(x_ptr, y_ptr, c, n, B: tl.constexpr):\n"
	"    i = tl.program_id(0) * B + tl.arange(0, B)\n"
	"    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + c, mask=i < n)\n"
	"class ModelNew(nn.Module):\n"
	"    def __init__(self, n):\n"
	"        super().__init__()\n"
	"        self.n = n\n"
	"@1"
	"    def forward(self, x):\n"
	"@2"
	"        y = torch.empty_like(x)\n"
	"        add[(1,)](x, y, self.n, x.numel(), B=64)\n"
	"        return @3\n";

struct change { int at; const char *text; enum rule rule; };

static void write_candidate(const struct change *c, struct buf *out)
{
	for (const char *p = candidate; *p; p++) {
		int at;

		if (*p != '@' || p[1] < '0' || p[1] > '3') {
			buf_addc(out, *p);
			continue;
		}
		at = *++p - '0';
		buf_adds(out, c && c->at == at ? c->text : at == 3 ? "y" : "");
	}
}

static int check(struct str source, unsigned off, struct diag *d)
{
	struct py_module m, t;
	struct err e = ERR_INIT;
	struct rules_options o = { .off = off, .class_name = "ModelNew" };
	int rc;

	if (py_parse(&t, str_of(task), "task.py", 0, &e) || py_parse(&m, source, "candidate.py", 0, &e))
		fail_msg("%s", e.text);
	rc = rules_check(&m, &t, &o, d);
	py_release(&m);
	py_release(&t);
	return rc;
}

static const struct change changes[] = {
	{ 0, "import ctypes\n", RULE_imports },
	{ 0, "from subprocess import run\n", RULE_imports },
	{ 0, "if __name__ != \"__main__\":\n    import socket\n", RULE_imports },
	{ 0, "f = open\n", RULE_names },
	{ 0, "e = eval\n", RULE_names },
	{ 0, "if __name__ != \"__main__\":\n    e = eval\n", RULE_names },
	{ 0, "if __name__ == \"__main__\":\n    pass\nelse:\n    e = eval\n", RULE_names },
	{ 0, "import math as __name__\n", RULE_names },
	{ 0, "from math import pi as __name__\n", RULE_names },
	{ 0, "class __name__:\n    pass\n", RULE_names },
	{ 0, "def f(*__name__):\n    pass\n", RULE_names },
	{ 0, "try:\n    raise ImportError\nexcept ImportError as __name__:\n    pass\n", RULE_names },
	{ 0, "from torch import *\n", RULE_imports },
	{ 1, "        self.k = self.__class__\n", RULE_names },
	{ 2, "        try:\n            x.contiguous()\n        except* Exception:\n            pass\n", RULE_syntax },
	{ 2, "        global z\n", RULE_syntax },
	{ 2, "        self.seen = 1\n", RULE_state },
};

static void test_honest(void **state)
{
	struct buf b = BUF_INIT;
	struct diag d = { .reason = REASON_ok };

	(void)state;
	write_candidate(NULL, &b);
	if (check(buf_str(&b), 0, &d))
		fail_msg("refused: %s", d.text);
	buf_release(&b);
}

static void test_each(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(changes); i++) {
		struct buf b = BUF_INIT;
		struct diag d = { .reason = REASON_ok }, off = { .reason = REASON_ok };

		write_candidate(&changes[i], &b);
		if (!check(buf_str(&b), 0, &d))
			fail_msg("not refused: %s", changes[i].text);
		assert_int_not_equal(d.reason, REASON_ok);
		assert_true(d.line > 0);
		if (check(buf_str(&b), 1u << changes[i].rule, &off))
			fail_msg("%s is refused without the rule '%s' too: %s", changes[i].text, rule_name(changes[i].rule), off.text);
		buf_release(&b);
	}
}

/* What the candidate computes with, imports and matches shows when it runs: no static rule refuses it. */
static void test_unrefused(void **state)
{
	static const struct change fine[] = {
		{ .at = 3, .text = "torch.relu(y)" }, { .at = 3, .text = "y @ y" },
		{ .at = 0, .text = "import os, sys, time\nfrom re import compile as c\n" },
		{ .at = 2, .text = "        if not x.is_cuda:\n            return torch.relu(x)\n" },
		{ .at = 2, .text = "        match x.dtype:\n            case torch.float32:\n                pass\n" },
		{ .at = 0, .text = "V = torch.__version__\nclass F:\n    def __call__(self, x):\n        return x\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(fine); i++) {
		struct buf b = BUF_INIT;
		struct diag d = { .reason = REASON_ok };

		write_candidate(&fine[i], &b);
		if (check(buf_str(&b), 0, &d))
			fail_msg("refused: %s", d.text);
		buf_release(&b);
	}
}

static void test_model(void **state)
{
	static const char *const wrong[] = {
		"x = 1\n",
		"import torch.nn as nn\nclass ModelNew:\n    def forward(self, x):\n        return x\n",
		"import torch.nn as nn\nclass ModelNew(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n    def forward(self, x, y):\n        return x\n",
		"import torch.nn as nn\nclass ModelNew(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n    def forward(self, x):\n        return x\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		struct diag d = { .reason = REASON_ok };

		if (!check(str_of(wrong[i]), 0, &d))
			fail_msg("accepted: %s", wrong[i]);
	}
}

static void test_names(void **state)
{
	(void)state;
	for (int r = 0; r < RULES; r++) {
		assert_int_equal(rule_by_name(str_of(rule_name(r))), r);
		assert_true(strlen(rule_text(r)) > 10);
	}
	assert_int_equal(rule_by_name(STR("nonsense")), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_honest), cmocka_unit_test(test_each), cmocka_unit_test(test_unrefused), cmocka_unit_test(test_model),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
