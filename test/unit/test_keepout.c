/* What is kept out of training: compositions, and single operators at their own sizes. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "data/keepout.h"

#define TASK(body, sizes, inputs) \
	"import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def forward(self, x):\n" body \
	"        return x\n" sizes "def get_inputs():\n    return [" inputs "]\ndef get_init_inputs():\n    return []\n"

static const char chain[] = TASK("        x = torch.sin(x)\n        x = torch.erf(x)\n        x = x.cos()\n", "n = 64\n", "torch.rand(n, 32)");
/* The same in other words, at other sizes. */
static const char chain_again[] = TASK("        x = torch.cos(torch.erf(torch.sin(x)))\n", "rows = 512\ncols = 77\n", "torch.randn(rows, cols)");
static const char other_order[] = TASK("        x = torch.sin(torch.erf(torch.cos(x)))\n", "n = 64\n", "torch.rand(n, 32)");
static const char single[] = TASK("        x = torch.relu(x)\n", "a = 1024 * 4\nb = 393\n", "torch.rand(a, b)");
static const char single_again[] = TASK("        x = nn.functional.relu(x)\n", "n = (393,)\n", "torch.rand(4096, *n)");
static const char single_other[] = TASK("        x = torch.relu(x)\n", "a = 4096\nb = 394\n", "torch.rand(a, b)");

/* A size may hide in a default. */
#define LINEAR(head, tail) \
	"import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def __init__(self, " head "):\n        super().__init__()\n" \
	"        self.fc = nn.Linear(n, m)\n    def forward(self, x):\n        return self.fc(x)\n" tail \
	"def get_inputs():\n    return [torch.rand(64, 128)]\n"
static const char in_default[] = LINEAR("n, m=512", "def get_init_inputs():\n    return [128]\n");
static const char in_constant[] = LINEAR("n, m", "k = 512\ndef get_init_inputs():\n    return [128, k]\n");

/* One composition in several spellings: a linear layer's sum by itself, silu, mish, the greatest value. */
#define REST "        x = torch.sin(x)\n        x = torch.cos(x)\n"
static const char *const spelled[][3] = {
	{ TASK("        x = F.silu(x)\n" REST, "", ""), TASK("        x = x * torch.sigmoid(x)\n" REST, "", ""), TASK("        x = torch.sigmoid(x) * x\n" REST, "", "") },
	{ TASK("        x = F.mish(x)\n" REST, "", ""), TASK("        x = x * torch.tanh(F.softplus(x))\n" REST, "", ""),
	  TASK("        x = torch.multiply(torch.tanh(F.softplus(x)), x)\n" REST, "", "") },
	{ TASK(REST "        x = x.max(dim=1)[0]\n", "", ""), TASK(REST "        x = torch.amax(x, 1)\n", "", ""), TASK(REST "        x = torch.max(x, 1).values\n", "", "") },
	{ TASK(REST "        x = F.hardswish(x)\n", "", ""), TASK(REST "        x = x * F.relu6(x + 3) / 6\n", "", ""),
	  TASK(REST "        x = x * torch.clamp(x + 3, 0, 6) / 6\n", "", "") },
};

static void hash(const char *task, struct keepout_hash *h)
{
	assert_int_equal(keepout_hash(str_of(task), h), 0);
}

static void test_hashes(void **state)
{
	struct keepout_hash a, b, c;

	(void)state;
	hash(chain, &a), hash(chain_again, &b), hash(other_order, &c);
	assert_true(a.several && a.composition == b.composition && a.composition != c.composition && a.sized != b.sized);
	hash(single, &a), hash(single_again, &b), hash(single_other, &c);
	assert_true(!a.several && a.sized == b.sized && a.sized != c.sized && a.composition == c.composition);
	hash(in_default, &a), hash(in_constant, &b);
	assert_int_equal(a.sized, b.sized);
	assert_int_equal(keepout_hash(STR("def ("), &a), -1);
}

static void test_spellings(void **state)
{
	struct keepout_hash a, b;

	(void)state;
	for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++) {
		hash(spelled[i][0], &a);
		for (int k = 1; k < 3; k++) {
			hash(spelled[i][k], &b);
			assert_int_equal(a.composition, b.composition);
		}
	}
	hash(spelled[0][0], &a), hash(spelled[1][0], &b);
	assert_true(a.composition != b.composition);
}

/* The list that is built in holds numbers of this function: it must not drift. */
static void test_fixed(void **state)
{
	struct keepout_hash h;

	(void)state;
	hash(single, &h);
	assert_int_equal(h.sized, 0x5111eea6a95eeaef);
}

static void add(struct keepout *k, const char *task)
{
	char path[] = "/tmp/keepout-XXXXXX.py";
	int fd = mkstemps(path, 3);
	struct err e = ERR_INIT;
	FILE *f = fdopen(fd, "w");

	assert_non_null(f);
	fputs(task, f);
	fclose(f);
	assert_int_equal(keepout_add(k, path, &e), 0);
	unlink(path);
}

static void test_set(void **state)
{
	struct keepout k;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(keepout_init(&k, &e), 0);
	assert_true(k.hashes.n > 200);
	assert_false(keepout_has(&k, str_of(chain)));
	assert_false(keepout_has(&k, str_of(single)));
	add(&k, chain), add(&k, single);
	assert_true(keepout_has(&k, str_of(chain_again)) && !keepout_has(&k, str_of(other_order)));
	assert_true(keepout_has(&k, str_of(single_again)) && !keepout_has(&k, str_of(single_other)));
	assert_true(keepout_has(&k, STR("def (")));
	keepout_release(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_hashes), cmocka_unit_test(test_spellings),
					    cmocka_unit_test(test_fixed), cmocka_unit_test(test_set) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
