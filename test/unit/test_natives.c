/* Every native with every kind of value in every place. A native either works, raises or is
 * refused; it never looks into a value that is not what it takes it for. The test shows it by
 * not crashing, which says most under the sanitizers (make test BUILD=asan). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host/entry.h"
#include "interp/import.h"
#include "interp/sig.h"
#include "interp/state.h"

static const char values_source[] =
	"import math, copy\n"
	"import torch, torch.nn as nn\n"
	"import triton, triton.language as tl\n"
	"import numpy as np\n"
	"class C:\n"
	"    def m(self): return 1\n"
	"class L(list): pass\n"
	"class T(tuple): pass\n"
	"class S(str): pass\n"
	"class I(int): pass\n"
	"class Z(torch.Size): pass\n"
	"@triton.jit\n"
	"def k(x, N: tl.constexpr):\n"
	"    tl.store(x, N)\n"
	"ring = [1]\n"
	"ring.append(ring)\n"
	"values = [None, ..., NotImplemented, True, 0, -1, 3, 2**62, -2**63, 2**80, -2**80, 1.5, -0.0, math.inf, math.nan, '', 'abc',\n"
	"    'mean', '\\u00e9\\ud800', b'', b'xyz', (), (2, 3), (1, 'a'), ((1, 2), (3,)), (-1, 2**40), torch.Size([2, 3]), T((1, 2)), Z((2, 2)),\n"
	"    [], [1, 2, 3], ['a', None], [[1.5, 2], [3, 4]], L([2, 1]), ring, {}, {'a': 1, 'b': [2]}, {1: 2}, set(), {1, 'a'}, frozenset((1, 2)),\n"
	"    slice(1, None, 2), range(5), range(3, -3, -1), iter([1, 2]), zip([1], [2]), lambda *a, **k: 1, len, [].append, torch.add, int, list,\n"
	"    torch.Tensor, torch.Size, C, C(), C().m, ValueError, ValueError('x'), math, torch, property(len), staticmethod(len),\n"
	"    classmethod(len), S('text'), I(7), np.float32(2), np.zeros(3), torch.float32, torch.int64, torch.bool, torch.device('cuda'),\n"
	"    torch.device('cpu'), tl.float32, tl.load, tl.constexpr(4), k, nn.Linear(2, 3), nn.Module(), nn.Parameter(torch.ones(3)),\n"
	"    torch.ones(2, 3), torch.zeros(0), torch.tensor(2.0), torch.tensor(5), torch.arange(6).reshape(2, 3), torch.tensor([True, False]),\n"
	"    torch.ones(3, 3, device='cuda'), torch.ones(2, 1, 4, 4), torch.ones(2, 3).t(), torch.ones(1).expand(4), torch.ones(2, 3, dtype=torch.float16),\n"
	"    torch.tensor([-1, 9]), (torch.ones(2), torch.ones(2)), [torch.ones(2, 2), 1]]\n";

enum { OTHERS = 6, SECONDS_MOST = 3 };

/* A program with the values above, made anew for every native: some change what they get. */
struct world { struct host *h; struct val ns, values; };

static struct host_lib *lib;
static struct py_module source;

static void world_init(struct world *w)
{
	struct host_options o = { .lib = lib, .fuel = 400000, .memory = (size_t)48 << 20, .recursion = 60 };
	struct err e = ERR_INIT;

	w->h = host_new(&o, &e);
	assert_non_null(w->h);
	if (host_load(w->h, &source, NULL, 0, &w->ns, &e))
		fail_msg("the values: %s%s", host_diag(w->h)->text, e.text);
	assert_int_equal(host_get(w->h, w->ns, "values", &w->values), 1);
}

static void call(struct world *w, const struct bind_row *row, const struct val *a, size_t n)
{
	struct host_entry en;
	struct err e = ERR_INIT;
	struct val fn, out = { .kind = V_UNSET };
	struct call_args args = { .a = a, .n = n };
	clock_t start = clock();
	int rc;

	host_begin(w->h, &en);
	rc = builtin_get_row(w->h, row, &fn) || builtin_call(w->h, fn.u.b, &args, &out) ? -1 : 0;
	rc = host_end(w->h, &en, rc, &out, &e);
	if (rc < 0)
		fail_msg("%s: %s", row->name, e.text);
	if (!rc)
		val_drop(w->h, out);
	if (clock() - start > SECONDS_MOST * CLOCKS_PER_SEC)
		fail_msg("%s takes longer than %d seconds", row->name, SECONDS_MOST);
	if (rc > 0 && host_diag(w->h)->reason == REASON_internal)
		fail_msg("%s: %s", row->name, host_diag(w->h)->text);
}

/* Value `v` in place `at` of n, the others filled from `base` on; a native may end its world. */
static void try_place(struct world *w, const struct bind_row *row, size_t n, size_t at, size_t v, size_t base)
{
	static const size_t others[OTHERS] = { 79, 6, 16, 22, 30, 11 };      /* a tensor, an int, a text, a shape, a list, a float */
	struct val a[SIG_SLOTS];

	for (size_t i = 0; i < n; i++)
		a[i] = w->values.u.seq->v[i == at ? v : others[(base + (i > at)) % OTHERS]];
	call(w, row, a, n);
	if (host_is_lost(w->h)) {
		host_free(w->h);
		world_init(w);
	}
}

static void try_row(const struct bind_row *row)
{
	struct world w;
	struct sig s;
	size_t most;

	sig_parse(&s, row);
	world_init(&w);
	most = MIN(s.n, 4) + (s.star >= 0);
	for (size_t n = 0; n <= most; n++)
		for (size_t at = 0; at < MAX(n, 1); at++)
			for (size_t v = 0; v < (n ? w.values.u.seq->n : 1); v++)
				try_place(&w, row, n, at, v, v % OTHERS);
	host_free(w.h);
}

static void test_every_native(void **state)
{
	const struct lib_source *all = lib->source;

	(void)state;
	for (size_t t = 0; t < all->n_tables; t++)
		for (const struct bind_row *row = all->tables[t]; row->name; row++)
			if (row->fn && !(row->flags & BIND_CONST))
				try_row(row);
}

/* What CPython says of a method called with another type's object. */
static void test_words(void **state)
{
	static const struct { const char *source, *text; } cases[] = {
		{ "list.append(range(3), 1)", "TypeError: descriptor 'append' for 'list' objects doesn't apply to a 'range' object" },
		{ "torch.Size.numel(5)", "TypeError: descriptor 'numel' for 'Size' objects doesn't apply to a 'int' object" },
		{ "torch.Size.numel((1, 2))", "TypeError: descriptor 'numel' for 'Size' objects doesn't apply to a 'tuple' object" },
		{ "str.encode(3)", "TypeError: descriptor 'encode' for 'str' objects doesn't apply to a 'int' object" },
		{ "dict.get([], 1)", "TypeError: descriptor 'get' for 'dict' objects doesn't apply to a 'list' object" },
		{ "set.add(frozenset(), 1)", "TypeError: descriptor 'add' for 'set' objects doesn't apply to a 'frozenset' object" },
		{ "object.__new__(list)", "TypeError: object.__new__(list) is not safe, use list.__new__()" },
		{ "tuple.__new__(torch.Size, ['a'])", "TypeError: tuple.__new__(Size) is not safe, use Size.__new__()" },
		{ "tuple.__new__(list)", "TypeError: tuple.__new__(list): list is not a subtype of tuple" },
		{ "tuple.__new__(5)", "TypeError: tuple.__new__(X): X is not a type object (int)" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct host_options o = { .lib = lib, .fuel = 100000, .memory = (size_t)16 << 20 };
		struct buf text = BUF_INIT;
		struct py_module m;
		struct err e = ERR_INIT;
		struct val ns;
		struct host *h = host_new(&o, &e);

		buf_addf(&text, "import torch\n%s\n", cases[i].source);
		assert_int_equal(py_parse(&m, buf_str(&text), "test", 0, &e), 0);
		assert_int_equal(host_load(h, &m, NULL, 0, &ns, &e), 1);
		assert_string_equal(host_diag(h)->text, cases[i].text);
		host_free(h);
		py_release(&m);
		buf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_words), cmocka_unit_test(test_every_native) };
	struct err e = ERR_INIT;
	int rc;

	if (!(lib = host_lib_new(&e)) || py_parse(&source, str_of(values_source), "values", 0, &e))
		return 2;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	py_release(&source);
	host_lib_free(lib);
	return rc;
}
