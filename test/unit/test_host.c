/* The host engine: values and limits through its own interface. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "host/host.h"
#include "host/shrink.h"

struct program { struct py_module m; struct host *h; struct val ns; int rc; struct err e; };

static void load_with(struct program *p, const char *source, const struct host_options *o)
{
	*p = (struct program){ .e = ERR_INIT };
	assert_int_equal(py_parse(&p->m, str_of(source), "test", 0, &p->e), 0);
	p->h = host_new(o, &p->e);
	assert_non_null(p->h);
	p->rc = host_load(p->h, &p->m, NULL, 0, &p->ns, &p->e);
}

static void load(struct program *p, const char *source)
{
	struct host_options o = { .fuel = 10000000, .memory = (size_t)64 << 20 };
	load_with(p, source, &o);
}

static void done(struct program *p)
{
	host_free(p->h);
	py_release(&p->m);
}

static int64_t int_of(struct program *p, const char *name)
{
	struct val v;
	assert_int_equal(host_get(p->h, p->ns, name, &v), 1);
	assert_int_equal(v.kind, V_INT);
	return v.u.i;
}

static void fails(const char *source, const char *reason, int line, const char *part)
{
	struct program p;
	const struct diag *d;

	load(&p, source);
	d = host_diag(p.h);
	assert_int_equal(p.rc, 1);
	assert_string_equal(reason_code(d->reason), reason);
	if (line)
		assert_int_equal(d->line, line);
	if (!strstr(d->text, part))
		fail_msg("'%s' is not in '%s'", part, d->text);
	done(&p);
}

static void test_values(void **state)
{
	struct program p;
	struct val f, out, args[2] = { val_int(20), val_int(22) };
	(void)state;
	load(&p, "x = 2 ** 10\ndef f(a, b):\n    return a + b\nprint(x, [1, 2])\n");
	assert_int_equal(p.rc, 0);
	assert_int_equal(int_of(&p, "x"), 1024);
	assert_int_equal(host_get(p.h, p.ns, "f", &f), 1);
	assert_int_equal(host_call(p.h, f, args, 2, &out, &p.e), 0);
	assert_int_equal(out.u.i, 42);
	assert_true(str_is(host_printed(p.h), "1024 [1, 2]\n"));
	assert_int_equal(host_get(p.h, p.ns, "missing", &out), 0);
	done(&p);
}

static void test_reasons(void **state)
{
	(void)state;
	fails("x = 1\ny = zz\n", "name_error", 2, "name 'zz' is not defined");
	fails("x = 1 + 'a'\n", "type_error", 1, "unsupported operand");
	fails("x = [1][3]\n", "index_error", 1, "list index out of range");
	fails("x = {}['k']\n", "key_error", 1, "'k'");
	fails("x = (1).foo\n", "attribute_error", 1, "no attribute 'foo'");
	fails("x = int('q')\n", "value_error", 1, "invalid literal");
	fails("\nassert 1 == 2, 'no'\n", "assertion_failed", 2, "no");
	fails("raise RuntimeError('boom')\n", "raised", 1, "boom");
	fails("import subprocess\n", "forbidden_name", 1, "subprocess");
	fails("import os\nos.system('ls')\n", "forbidden_name", 2, "os.system");
	fails("import time\ntime.time()\n", "forbidden_name", 2, "time.time");
	fails("import re\nre.compile('a')\n", "unsupported", 2, "re.compile");
	fails("import os\nos.environ.get('PATH')\n", "unstable", 2, "PATH");
	fails("import os\nos.environ['TRITON_INTERPRET'] = '1'\n", "unstable", 2, "TRITON_INTERPRET");
	fails("x = 1\nopen('f')\n", "forbidden_name", 2, "open");
	fails("def f():\n    return (lambda: 0).__globals__\nf()\n", "forbidden_name", 2, "__globals__");
	fails("import nothing_like_this\n", "import_error", 1, "nothing_like_this");
	fails("x = 3j\n", "unsupported", 1, "complex");
	fails("import torch\ntorch.manual_seed = 1\n", "forbidden_name", 2, "cannot be replaced");
	/* Windows whose products are no numbers of 64 bits. */
	fails("import torch\ntorch.nn.functional.fold(torch.ones(1, 4, 4), 2, 2**62)\n", "shape_error", 2, "too large");
	fails("import torch\nx = torch.arange(6).reshape(2, 3)\ntorch.nn.functional.scaled_dot_product_attention(x, x, x)\n", "shape_error", 3, "not implemented for 'Long'");
	fails("import torch\ntorch.addmm(torch.ones(2, 3, 4), torch.tensor(1.0), torch.ones(3, 4))\n", "shape_error", 2, "");
	/* One row of boundaries for each row of values, not fewer. */
	fails("import torch\ntorch.searchsorted(torch.ones(1, 3), torch.ones(2000, 3))\n", "shape_error", 2, "[1, 3] and input value tensor [2000, 3]");
	fails("import torch\ntorch.bucketize(torch.ones(2000, 3), torch.ones(1, 3))\n", "raised", 2, "1 dimension, but got dim(2)");
	/* What goes with a tensor has a length of its own. */
	fails("import torch\ntorch.bincount(torch.arange(3000), torch.ones(1))\n", "shape_error", 2, "same length as input");
	fails("import torch\ntorch.nn.functional.layer_norm(torch.ones(2000), (2000,), torch.ones(2000), torch.ones(3))\n", "shape_error", 2, "Expected bias to be");
	fails("import torch\ntorch.nn.functional.instance_norm(torch.ones(2, 300, 4), torch.zeros(1), torch.ones(1))\n", "shape_error", 2, "running_mean should contain 600");
	fails("import torch\ntorch.nn.functional.cross_entropy(torch.ones(2, 300), torch.ones(2, 300), weight=torch.ones(1))\n", "shape_error", 2, "all 300 classes");
	fails("import torch\ntorch.einsum('...i,...i->...', torch.ones(2, 3), torch.ones(3, 3))\n", "shape_error", 2, "subscript . has size 3");
	fails("import torch\ntorch.nn.functional.nll_loss(torch.ones(3), torch.zeros(0).long())\n", "shape_error", 2, "must have size 1");
	fails("import torch\ntorch.zeros(3).scatter_(0, torch.tensor(0), torch.zeros(0))\n", "shape_error", 2, "no larger size than src [0]");
	fails("import torch\nimport torch.nn.functional as F\nF.bilinear(torch.ones(2, 2, 2), torch.ones(2, 2), torch.ones(1, 2, 2))\n",
	      "raised", 3, "input dimensions do not match: got 3 and 2");
	fails("import torch\nimport torch.nn.functional as F\nF.bilinear(torch.ones(3, 2), torch.ones(4, 2), torch.ones(1, 2, 2))\n",
	      "raised", 3, "do not match at dim 0: got 3 and 4");
	fails("import torch\ntorch.einsum('i,i->i', torch.zeros(0), torch.ones(5000))\n", "shape_error", 2, "does not broadcast");
	fails("import torch\nq = torch.ones(2, 3, 4)\ntorch.nn.functional.scaled_dot_product_attention(q, q[0], q[0], enable_gqa=True)\n", "index_error", 3, "Dimension out of range");
	/* Lists among numbers have no shape. */
	fails("import torch\ntorch.tensor([1] * 1000 + [[]])\n", "value_error", 2, "expected sequence of length");
	fails("import torch\ntorch.ones(3)[[1] * 1000 + [[]]]\n", "index_error", 2, "only integers, slices");
	/* More dimensions than a tensor has. */
	fails("import torch\ntorch.einsum('...,abcdef->...abcdef', torch.ones([1] * 12), torch.ones([1] * 6))\n", "unsupported", 2, "more than 12 dimensions");
	fails("import torch\nm = torch.tensor(True)\ntorch.ones([1] * 12)[..., m, m, m]\n", "unsupported", 3, "more than 12 items");
	/* What an embedding is asked for beyond its rows. */
	fails("import torch\ntorch.nn.Embedding(4, 2, max_norm=1.0)(torch.tensor([1]))\n", "unsupported", 2, "max_norm");
	fails("import torch\ntorch.nn.EmbeddingBag(4, 2, padding_idx=0)\n", "unsupported", 2, "padding of its own");
	fails("import torch\nb = torch.nn.EmbeddingBag(4, 2, mode='sum')\nb(torch.tensor([[1]]), None, torch.ones(1, 1))\n", "unsupported", 3, "for each sample");
	/* Sums and products that are no numbers of 64 bits. */
	fails("import torch\ntorch.ones(5).narrow(0, 1, 2**63 - 1)\n", "shape_error", 2, "exceeds dimension size");
	fails("import torch\ntorch.ones(5).split([2**63 - 1, 2**63 - 1, 7])\n", "shape_error", 2, "sum exactly to 5");
	fails("import torch\ntorch.ones(5).split([-1, 6])\n", "shape_error", 2, "non-negative entries");
	fails("import torch\ntorch.ones(2, 2).permute(2**32, 1)\n", "index_error", 2, "Dimension out of range");
	fails("import torch\ntorch.empty_strided((2, 3), (-1, 5))\n", "shape_error", 2, "overflowed with sizes");
	fails("import torch\ntorch.zeros(4).as_strided((1, 1), (2**63 - 1, 2**63 - 1))\n", "unsupported", 2, "a stride of");
	fails("import torch\nx = torch.ones(1).expand(2**31)\ntorch.meshgrid(x, x, x)\n", "shape_error", 3, "overflow");
	fails("import torch\ntorch.nn.functional.conv1d(torch.ones(1, 4, 3), torch.ones(4, 4, 3), groups=2**62)\n", "shape_error", 2, "to be at least");
	fails("import torch\ntorch.nn.functional.interpolate(torch.ones(1, 1, 4), scale_factor=1e300)\n", "shape_error", 2, "without overflow");
	/* What is needed on the way counts, too. */
	fails("import torch\ntorch.zeros(2**31, 0).sum(1)\n", "out_of_memory", 2, "");
	fails("import torch\ntorch.zeros(3, 3)[torch.zeros(2**16, 1).long(), torch.zeros(1, 2**16).long()]\n", "out_of_memory", 2, "");
	fails("import torch\ntorch.nn.functional.group_norm(torch.zeros(2**30, 2, 0), 2)\n", "out_of_memory", 2, "");
	fails("import torch\ntorch.zeros(2**28, 0).unbind(0)\n", "out_of_memory", 2, "");
	fails("import torch\ntorch.zeros(2**40, 0).repeat_interleave(torch.tensor(1), dim=0)\n", "out_of_memory", 2, "");
	fails("import torch\ntorch.nn.functional.pixel_shuffle(torch.ones(1, 4, 4), 2**62)\n", "shape_error", 2, "too large");
	fails("import torch\ntorch.nn.functional.max_pool3d(torch.ones(1, 4, 4, 4), 2**40, padding=2**39)\n", "shape_error", 2, "too large");
}

/* Sizes of 2^40 with nothing in them: an answer at once, as long as there is nothing to do. */
static void test_nothing(void **state)
{
	static const char *const calls[] = {
		"F.fold(z(2**40, 0, 4), (3, 3), 2)", "o(1, 1).expand(2**34, 1)[:, z(0).long()]",
		"F.nll_loss(z(2**40, 3, 0), z(2**40, 0).long())", "F.scaled_dot_product_attention(z(2**30, 0), z(1, 0), z(1, 0))",
		"z(2**40, 0, 1) @ z(2**40, 1, 0)", "z(2**40, 0, 1).long() @ z(2**40, 1, 0).long()", "F.grid_sample(z(2**40, 1, 0, 0), z(2**40, 0, 0, 2))",
		"z(2**40, 0).repeat_interleave(torch.tensor(0), dim=0)", "F.interpolate(z(0, 1, 4), size=2**28)", "o(5).split(2**63 - 1)", "o(5).chunk(2**63 - 1)",
		"F.scaled_dot_product_attention(o(2, 4), z(0, 4), z(0, 4), attn_mask=z(2, 0))", "torch.arange(-2**63, 2**63 - 1, 2**62)",
		"F.conv1d(o(1, 1, 3), o(1, 1, 3), padding=2**28, dilation=2**28)", "F.conv_transpose1d(o(1, 8, 3), o(8, 8, 3), padding=2**27, stride=2**27)",
		"F.max_pool2d(o(1, 1, 3, 3), 2**28, padding=2**27)", "F.avg_pool3d(o(1, 1, 3, 3, 3), 2**19, padding=2**18)",
		"torch.tril_indices(3, 3, 2**63 - 1)",
	};
	char source[512];

	(void)state;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		struct program p;

		snprintf(source, sizeof source, "import torch\nF, z, o = torch.nn.functional, torch.zeros, torch.ones\n%s\n", calls[i]);
		load(&p, source);
		if (p.rc)
			fail_msg("%s: %s", calls[i], host_diag(p.h)->text);
		done(&p);
	}
}

static void test_resize(void **state)
{
	struct host_options o = { .fuel = 10000000, .memory = (size_t)64 << 20, .hollow = 1 };
	struct program p;

	(void)state;
	load_with(&p, "import torch\nx = torch.ones(100)\nx.resize_(200)\n", &o);
	assert_int_equal(p.rc, 1);
	assert_string_equal(reason_code(host_diag(p.h)->reason), "unsupported");
	done(&p);
}

/* Large tensors without contents have no memory, either. */
static void test_hollow_large(void **state)
{
	static const char *const calls[] = {
		"torch.searchsorted(torch.rand(100000), torch.rand(100000))", "torch.ones(100000).repeat_interleave(3)",
		"torch.nn.functional.pad(torch.ones(1, 3, 100000), (2, 2), mode='reflect')", "torch.tril_indices(1000, 1000)",
		"torch.Tensor([1.0] * 100000)", "torch.ones(100000)[[1] * 100000]",
		"torch.ones(2**12, 1).expand(2**12, 2**20).T.reshape(-1)", "torch.ones(100000).repeat_interleave(torch.full((100000,), 2))",
	};
	char source[512];

	(void)state;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		struct host_options o = { .fuel = 10000000, .memory = (size_t)64 << 20, .hollow = 1 };
		struct program p;

		snprintf(source, sizeof source, "import torch\n%s\n", calls[i]);
		load_with(&p, source, &o);
		if (p.rc)
			fail_msg("%s: %s", calls[i], host_diag(p.h)->text);
		done(&p);
	}
}

/* Programs that ask for more than there is end at once. */
static void test_too_much(void **state)
{
	static const struct { int hollow; const char *source, *reason; } rows[] = {
		{ 0, "torch.zeros(2**40, 1, 0) + torch.zeros(1, 2**40, 0)", "shape_error" },
		{ 0, "torch.multinomial(torch.ones(1).expand(2**20), 2**20, True)", "ok" },
		{ 0, "torch.multinomial(torch.zeros(0), 5, True)", "shape_error" },
		{ 0, "torch.ones(2**12, 1).expand(2**12, 2**20).T.reshape(-1)", "out_of_memory" },
		{ 0, "import triton\n@triton.jit\ndef k(x): pass\nt = (0,) * 1000\nt = (t,) * 1000\nt = (t,) * 1000\nk[(1,)](t)", "out_of_fuel" },
		{ 1, "torch.zeros(2**28, 0).unbind(0)", "out_of_memory" }, { 1, "torch.zeros(2**31, 0).split(1)", "out_of_memory" },
		{ 1, "torch.empty(2**42)", "out_of_memory" },
		{ 1, "torch.ones(100000).repeat_interleave(torch.rand(100000).long())", "contents_needed" },
		{ 1, "x = torch.zeros(3)\ntorch.nn.functional.threshold(x, 5.0, 7.0, inplace=True)\nx[0].item()", "out_of_fuel" },
	};
	char source[512];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct host_options o = { .fuel = 10000000, .memory = (size_t)64 << 20, .hollow = rows[i].hollow };
		struct program p;

		snprintf(source, sizeof source, "import torch\n%s\n", rows[i].source);
		load_with(&p, source, &o);
		if (strcmp(p.rc ? reason_code(host_diag(p.h)->reason) : "ok", rows[i].reason))
			fail_msg("%s: %s", rows[i].source, p.rc ? host_diag(p.h)->text : "ok");
		done(&p);
	}
}

/* Runs to its end, and `ok` is 1 in it. */
static void runs(const char *source)
{
	struct program p;

	load(&p, source);
	if (p.rc)
		fail_msg("%s: %s", source, host_diag(p.h)->text);
	assert_int_equal(int_of(&p, "ok"), 1);
	done(&p);
}

/* Modules and names that only the real libraries have: naming them is free, using them is not. */
static void test_absent(void **state)
{
	(void)state;
	runs("import torch.optim\nimport torch.utils.data.distributed as d\nfrom torch.optim import Adam, SGD\n"
	     "class A(Adam):\n    def step(self): pass\nok = 1 if not isinstance(3, SGD) and issubclass(A, Adam) else 0\n");
	fails("from torch.optim import Adam\nAdam([])\n", "unsupported", 2, "torch.optim.Adam is not supported here");
	fails("from torch.optim import Adam\nclass A(Adam): pass\nA()\n", "unsupported", 3, "torch.optim.Adam");
	fails("import torch.optim as o\no.SGD.step\n", "unsupported", 2, "torch.optim.SGD");
	fails("import torch.optim as o\no.lr_scheduler.StepLR(1, 2)\n", "unsupported", 2, "torch.optim.lr_scheduler.StepLR");
	fails("import torch.optim.nothing\n", "import_error", 1, "torch.optim.nothing");
	fails("from torch import nothing_like_this\n", "import_error", 1, "nothing_like_this");
	fails("import torch.nn.utils.weight_norm as w\nw(3)\n", "attribute_error", 0, "weight");
}

/* Introspection belongs to references: a judged program may not use it. */
static void test_reference_only(void **state)
{
	(void)state;
	fails("def f(a):\n    return locals()\nf(1)\n", "forbidden_name", 2, "locals");
	fails("class A: pass\nvars(A())\n", "forbidden_name", 2, "vars");
	fails("import torch\nx = hasattr(torch.nn.Linear(2, 2), 'anything')\n", "unstable", 2, "attribute");
	fails("def f(x: print(1)): pass\n", "unsupported", 0, "annotation");
	fails("import random\nx = getattr(f, '__name__') if (f := len) else 0\n", "forbidden_name", 2, "__name__");
}

/* Code of the program runs in the middle of an operation and changes what it works on. */
static void test_changed_meanwhile(void **state)
{
	(void)state;
	runs("L = []\nclass E:\n    def __eq__(self, o):\n        L.clear()\n        return True\nL.extend([E(), 1, 2, 'a' * 99])\n"
	     "match L:\n    case [5, b, c, *d]: ok = b\n");
	runs("class T:\n    def __bool__(self):\n        d.clear()\n        return False\nd = {i: [i] for i in range(20)}\n"
	     "try: d.popitem(last=T())\nexcept KeyError: ok = 1\n");
	runs("class I(str):\n    def __index__(self):\n        L.clear()\n        return 0\nL = ['a' * 99] * 9\n"
	     "try: L[I()]\nexcept IndexError: ok = 1\n");
	runs("class I(list):\n    def __index__(self):\n        L.clear()\n        return 0\nL = ['a' * 99] * 9\nL[I():] = [1]\nok = L[0]\n");
	runs("import torch\nclass I:\n    def __index__(self):\n        L.clear()\n        return 1\nL = [I(), I(), I()]\nok = torch.zeros(L).numel()\n");
	runs("import copy\nclass K:\n    def __hash__(self):\n        if go: L.clear()\n        return 1\n    def __eq__(self, o): return True\n"
	     "go = False\nL = [[{K(): 1}, 'x' * 99, [2]], 2]\ngo = True\nok = len(copy.deepcopy(L))\n");
	runs("import copy\nclass K:\n    def __hash__(self):\n        if go: o.__dict__.clear()\n        return 1\n    def __eq__(self, o): return True\n"
	     "class O: pass\ngo = False\no = O()\no.a = {K(): [5]}\no.b = [6]\ngo = True\ncopy.deepcopy(o)\nok = 1\n");
	/* The comparison raises while a copy is made. */
	fails("class K:\n    def __hash__(self): return 1\n    def __eq__(self, o):\n        if go: raise ValueError('no')\n        return self is o\n"
	      "go = False\nd = {K(): 1, K(): 2}\ngo = True\nmatch d:\n    case {'a': 1}: pass\n", "value_error", 4, "no");
	fails("class M:\n    def __enter__(self): del M.__exit__\n    def __exit__(self, *a): pass\nwith M():\n    raise ValueError('x')\n",
	      "unsupported", 5, "loses its __exit__");
}

/* What a program's methods and attributes give where the engine wants something else. */
static void test_wrong_kinds(void **state)
{
	(void)state;
	fails("class A:\n    __match_args__ = (1, 2)\nmatch A():\n    case A(a, b): pass\n", "type_error", 4, "elements must be strings");
	fails("class A:\n    __match_args__ = ['x']\nmatch A():\n    case A(a): pass\n", "type_error", 4, "must be a tuple");
	fails("class A:\n    __annotations__ = 5\n    x: int = 1\n", "unsupported", 3, "not a dictionary");
	fails("class A:\n    def __format__(self, s): return 5\nf'{A()}'\n", "type_error", 3, "must return a str");
	fails("class D:\n    __get__ = None\nclass A:\n    x = D()\nA().x\n", "type_error", 5, "not callable");
	fails("class A:\n    def __len__(self): return -5\nlen(A())\n", "value_error", 3, ">= 0");
	fails("class A:\n    def __len__(self): return 'a'\nbool(A())\n", "type_error", 3, "integer");
	fails("s = {1}\ns += {2}\n", "type_error", 2, "unsupported operand");
	fails("b'\\xff'.decode()\n", "unsupported", 1, "not valid UTF-8");
	fails("'%d' % float('nan')\n", "value_error", 1, "NaN");
	runs("class S(set):\n    def __and__(self, o): return 5\nok = S([1]).isdisjoint({2}) + 0\n");
	runs("ok = int('{:{}}'.format(1, 5) == '    1')\n");
}

/* Each step of these goes deeper in C, and no function is called. */
static void test_deep(void **state)
{
	(void)state;
	fails("s = None\nfor i in range(300000): s = slice(s)\nrepr(s)\n", "recursion_limit", 3, "");
	fails("it = iter([1])\nfor i in range(100000): it = zip(it)\nnext(it)\n", "recursion_limit", 3, "");
	fails("e = ValueError('x')\ne.args = (e,)\nraise e\n", "value_error", 3, "ValueError");
	fails("import torch, triton\nimport triton.language as tl\n@triton.jit\ndef k(x, C: tl.constexpr): pass\nc = tl.constexpr(1)\nc.value = c\n"
	      "k[(1,)](torch.ones(1, device='cuda'), c)\n", "recursion_limit", 7, "");
	fails("('{:' * 30000 + '}' * 30000).format(*range(5))\n", "value_error", 1, "Max string recursion");
}

static void test_widest_numbers(void **state)
{
	(void)state;
	fails("len(range(-1, 2**63 - 1))\n", "unsupported", 1, "64 bits");
	fails("range(0, 10, 4)[::2**62]\n", "unsupported", 1, "64 bits");
	fails("list(enumerate([1, 2, 3], 2**63 - 2))\n", "unsupported", 1, "64 bits");
	runs("ok = int((2**63 - 1) in range(-2**63 + 1, 2**63 - 1, 2) or range(-2**63, 2**63 - 1, 3)[6148914691236517204] == 2**63 - 4)\n");
}

static void test_limits(void **state)
{
	(void)state;
	fails("while True: pass\n", "out_of_fuel", 1, "steps");
	fails("x = [0] * 10 ** 12\n", "out_of_memory", 1, "");
	fails("x = 'a' * 10 ** 12\n", "out_of_memory", 1, "");
	fails("x = []\nwhile True: x.append('a' * 10000)\n", "out_of_memory", 2, "");
	fails("x = 1 << (10 ** 9)\n", "out_of_memory", 1, "");
	fails("def f(n): return f(n + 1)\nf(0)\n", "recursion_limit", 1, "recursion");
	fails("x = list(range(10 ** 12))\n", "out_of_memory", 1, "");
	fails("sum(range(10 ** 12))\n", "out_of_fuel", 1, "");
	fails("def f(a, b):\n    class A(a, b): pass\n    return A\nclass X: pass\nclass Y: pass\na, b = X, Y\nfor i in range(10000):\n    a, b = f(a, b), f(a, b)\n",
	      "out_of_fuel", 2, "");
	/* A limit cannot be caught. */
	fails("try:\n    while True: pass\nexcept BaseException: pass\n", "out_of_fuel", 2, "");
	fails("try:\n    import ctypes\nexcept Exception: pass\n", "forbidden_name", 2, "");
}

/* Objects that hold themselves, deep nests, and values that die while they are used. */
static void test_memory(void **state)
{
	struct program p;
	(void)state;
	load(&p, "a = []\na.append(a)\nb = {'self': None}\nb['self'] = b\n"
		 "x = []\nfor i in range(20000): x = [x]\nx = None\n"
		 "class C:\n    pass\nc = C()\nc.me = c\n"
		 "y = [1, 2, 3]\ndef clear(v):\n    y.clear()\n    return v\nz = [clear(v) for v in y]\n"
		 "d = {i: i for i in range(100)}\nok = 0\ntry:\n    for k in d: d[k + 1000] = 1\nexcept RuntimeError: ok = 1\n"
		 "def g():\n    global w\n    w = None\n    return 'b'\nw = 'a' * 100\nv = w + g()\n");
	assert_int_equal(p.rc, 0);
	assert_int_equal(int_of(&p, "ok"), 1);
	done(&p);
}

static void test_overrides(void **state)
{
	struct program p = { .e = ERR_INIT };
	struct host_options o = { .fuel = 100000 };
	struct host_override ov[] = { { STR("N"), 4 }, { STR("shape"), 7 }, { STR("height"), 5 } };
	struct val v;
	(void)state;
	assert_int_equal(py_parse(&p.m, STR("N = 1024\nM = N * 2\nshape = (3, 64, 64)\ndepth, height = 16, 128\narea = depth * height\n"
					    "def f():\n    N = 9\n    return N\nk = f()\n"), "t", 0, &p.e), 0);
	p.h = host_new(&o, &p.e);
	assert_int_equal(host_load(p.h, &p.m, ov, 3, &p.ns, &p.e), 0);
	assert_int_equal(int_of(&p, "area"), 16 * 5);
	assert_int_equal(int_of(&p, "M"), 8);
	assert_int_equal(int_of(&p, "k"), 9);
	assert_int_equal(host_get(p.h, p.ns, "shape", &v), 1);
	assert_int_equal(v.u.seq->v[0].u.i, 3);
	assert_int_equal(v.u.seq->v[2].u.i, 7);
	done(&p);
}

/* Constants of get_inputs alone may be changed, those of unpacked assignments too. */
static void test_shrinkable(void **state)
{
	static const char source[] = "batch = 8 * 2\nwidth, depth = 128, 32\nn = 64\nsize = (n, 4)\nunused = 3\n"
				     "def get_inputs():\n    return make(width, batch, n)\ndef make(*a):\n    return depth\n"
				     "def get_init_inputs():\n    return [size]\n";
	struct err e = ERR_INIT;
	struct py_module m;
	struct shrink_const c[8];
	(void)state;
	assert_int_equal(py_parse(&m, STR(source), "t", 0, &e), 0);
	assert_int_equal(shrink_find(&m, c, 8), 3);
	assert_true(str_is(c[0].name, "batch") && c[0].value == 16);
	assert_true(str_is(c[1].name, "width") && c[1].value == 128);
	assert_true(str_is(c[2].name, "depth") && c[2].value == 32);
	py_release(&m);
}

/* A launch reaches the callback with its arguments bound and its grid computed. */
struct seen { int n; int64_t grid, block; int warps; char name[32]; };

static int on_launch(void *ctx, const struct tile_launch *l, struct diag *d, struct err *e)
{
	struct seen *s = ctx;
	struct tile_val v;

	(void)d, (void)e;
	s->n++;
	s->grid = l->grid[0];
	s->block = l->args[2].i;
	s->warps = l->num_warps;
	snprintf(s->name, sizeof s->name, "%.*s", STR_ARG(l->fn->name));
	assert_int_equal(l->fn->lookup(l->fn->lookup_ctx, STR("K"), &v), 1);
	assert_int_equal(v.i, 5);
	assert_int_equal(v.is_constexpr, 1);
	assert_int_equal(l->fn->lookup(l->fn->lookup_ctx, STR("nothing"), &v), 0);
	return 0;
}

static void test_launch(void **state)
{
	struct program p;
	struct seen s = { .n = 0 };
	struct host_options o = { .fuel = 1000000, .launch = on_launch, .launch_ctx = &s };
	(void)state;
	load_with(&p, "import triton\nimport triton.language as tl\nK = tl.constexpr(5)\n"
		      "@triton.autotune(configs=[triton.Config({'B': 64}, num_warps=8)], key=['n'])\n"
		      "@triton.jit\ndef kernel(x, n, B: tl.constexpr):\n    pass\n"
		      "kernel[lambda m: (triton.cdiv(m['n'], m['B']),)](None, 1000)\n", &o);
	if (p.rc)
		fail_msg("%s", host_diag(p.h)->text);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.grid, 16);
	assert_int_equal(s.block, 64);
	assert_int_equal(s.warps, 8);
	assert_string_equal(s.name, "kernel");
	assert_int_equal(host_launches(p.h).n, 1);
	assert_int_equal(host_launches(p.h).v[0].line, 8);
	done(&p);
}

/* Without contents nothing is read, however it is picked. */
static void test_hollow(void **state)
{
	struct host_options o = { .memory = (size_t)1 << 42, .hollow = 1 };
	struct program p;

	(void)state;
	load_with(&p, "import torch\nx = torch.rand(1 << 20, 64)\ni = torch.zeros(1 << 18, dtype=torch.long)\ny = x[i]\nx[i] = y\n"
		  "n = y.shape[0] + y.shape[1]\n", &o);
	assert_int_equal(p.rc, 0);
	assert_int_equal(int_of(&p, "n"), (1 << 18) + 64);
	done(&p);
}

/* What operations moved and computed: each element of a transposed convolution's input meets each of its weights, however far
 * apart the results lie; and the largest tensor is known where there are no contents, too. */
static void test_work(void **state)
{
	static const char source[] = "import torch\nimport torch.nn.functional as F\n"
				     "x = torch.ones(2, 3, 4, 4, 4)\nw = torch.ones(3, 5, 3, 3, 3)\n"
				     "def near():\n    return F.conv_transpose3d(x, w)\n"
				     "def far():\n    return F.conv_transpose3d(x, w, stride=3, dilation=2)\n";
	static const char *const names[] = { "near", "far" };
	const int64_t side[] = { 6, 14 };

	(void)state;
	for (int hollow = 0; hollow < 2; hollow++) {
		struct host_options o = { .fuel = 1000000, .memory = (size_t)64 << 20, .hollow = hollow };
		struct program p;

		load_with(&p, source, &o);
		assert_int_equal(p.rc, 0);
		for (int i = 0; i < 2; i++) {
			struct val fn, out;
			int64_t bytes = 4 * (2 * 3 * 64 + 3 * 5 * 27), result = 4 * 2 * 5 * side[i] * side[i] * side[i], flops = 2 * 2 * 3 * 64 * 5 * 27;

			assert_int_equal(host_get(p.h, p.ns, names[i], &fn), 1);
			host_ops_clear(p.h);
			assert_int_equal(host_call(p.h, fn, NULL, 0, &out, &p.e), 0);
			assert_int_equal(host_usage(p.h).largest, result);
			assert_int_equal(host_ops_work(p.h), bytes + result + flops / 8);
		}
		done(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values), cmocka_unit_test(test_hollow), cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_hollow_large), cmocka_unit_test(test_resize),
		cmocka_unit_test(test_too_much), cmocka_unit_test(test_limits), cmocka_unit_test(test_absent),
		cmocka_unit_test(test_reference_only),
		cmocka_unit_test(test_changed_meanwhile),
		cmocka_unit_test(test_wrong_kinds), cmocka_unit_test(test_deep), cmocka_unit_test(test_widest_numbers),
		cmocka_unit_test(test_memory), cmocka_unit_test(test_overrides), cmocka_unit_test(test_shrinkable), cmocka_unit_test(test_launch),
		cmocka_unit_test(test_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
