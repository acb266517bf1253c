/* Sizes that belong to the inputs alone, and values that go from one host to another. */
#include "check.h"

#include <stdio.h>

#include "host/host.h"
#include "host/shrink.h"

static size_t find(const char *source, struct shrink_const *c, size_t cap)
{
	struct py_module m;
	struct err e = ERR_INIT;
	static char names[8][32];
	size_t n;

	assert_int_equal(py_parse(&m, str_of(source), "task", 0, &e), 0);
	n = shrink_find(&m, c, cap);
	for (size_t i = 0; i < n && i < cap; i++) {
		snprintf(names[i], sizeof names[i], "%.*s", STR_ARG(c[i].name));
		c[i].name = str_of(names[i]);
	}
	py_release(&m);
	return n;
}

static void test_chained(void **state)
{
	struct shrink_const c[8];

	(void)state;
	assert_int_equal(find("batch = 4\nheight = width = 64\ndim = 8\ndef get_inputs():\n    return [torch.rand(batch, dim, height, width)]\n"
			      "def get_init_inputs():\n    return [dim]\n", c, 8), 2);
	assert_true(str_is(c[0].name, "batch"));
	assert_true(str_is(c[1].name, "height"));
	assert_int_equal(c[1].value, 64);
}

static void test_sizes_of_the_model(void **state)
{
	struct shrink_const c[8];
	struct py_module m;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(py_parse(&m, STR("batch = 4\nwide = 64 * 2\nscale = 0.5\ndef get_inputs():\n    return [torch.rand(batch, wide)]\n"
					  "def get_init_inputs():\n    return [wide, scale]\n"), "task", 0, &e), 0);
	assert_int_equal(shrink_find_model(&m, c, 8), 1);
	assert_true(str_is(c[0].name, "wide"));
	assert_int_equal(c[0].value, 128);
	py_release(&m);
}

static void test_repeated_list(void **state)
{
	struct shrink_const c[8];
	struct py_module m;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(py_parse(&m, STR("widths = [1024] * 16\ndef get_inputs():\n    return [torch.rand(4)]\n"
					  "def get_init_inputs():\n    return [widths]\n"), "task", 0, &e), 0);
	assert_int_equal(shrink_find_model(&m, c, 8), 1);
	assert_int_equal(c[0].value, 1024);
	py_release(&m);
}

/* Numbers become names, equal ones one name; small ones, and those of other functions, stay. */
static void test_literals(void **state)
{
	static const char *const sources[] = {
		"def get_inputs():\n    return [torch.rand(512, 4, 128), torch.rand([128, 512])]\ndef get_init_inputs():\n    return [128]",
		"def get_inputs():\n    return [torch.rand(4, 4)]\ndef get_init_inputs():\n    return []",
		"n = 512\ndef width():\n    return 128\ndef get_inputs():\n    return [torch.rand(n, width())]\ndef get_init_inputs():\n    return []" };
	static const char named[] =
		"def get_inputs():\n    return [torch.rand(size_of_512, 4, size_of_128), torch.rand([size_of_128, size_of_512])]\n"
		"def get_init_inputs():\n    return [size_of_128]\nsize_of_512 = 512\nsize_of_128 = 128\n";
	static const size_t counts[] = { 5, 0, 0 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct py_module m;
		struct buf out = BUF_INIT;
		struct err e = ERR_INIT;

		assert_int_equal(py_parse(&m, str_of(sources[i]), "task", 0, &e), 0);
		assert_int_equal(shrink_name_literals(&m, 0, &out), counts[i]);
		if (!i)
			assert_string_equal(buf_cstr(&out), named);
		buf_release(&out);
		py_release(&m);
	}
}

/* With batches the small first sizes of inputs get names, too; other small numbers stay. */
static void test_batches(void **state)
{
	static const char source[] =
		"def get_inputs():\n    return [torch.rand(4, 8), torch.rand([4, 4]), torch.randint(0, 9, (3, 5)), torch.rand(1, 7), torch.rand(6)]\n"
		"def get_init_inputs():\n    return [4, [2, 3]]\n";
	static const char named[] =
		"def get_inputs():\n    return [torch.rand(size_of_4, 8), torch.rand([size_of_4, 4]), torch.randint(0, 9, (size_of_3, 5)), "
		"torch.rand(1, 7), torch.rand(6)]\n"
		"def get_init_inputs():\n    return [4, [2, 3]]\nsize_of_4 = 4\nsize_of_3 = 3\n";
	struct py_module m;
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(py_parse(&m, STR(source), "task", 0, &e), 0);
	assert_int_equal(shrink_name_literals(&m, 0, &out), 0);
	buf_clear(&out);
	assert_int_equal(shrink_name_literals(&m, 1, &out), 3);
	assert_string_equal(buf_cstr(&out), named);
	buf_release(&out);
	py_release(&m);
}

/* One name of the chain belongs to the model: so does the size. */
static void test_chain_of_the_model(void **state)
{
	struct shrink_const c[8];

	(void)state;
	assert_int_equal(find("a = b = 64\ndef get_inputs():\n    return [torch.rand(a)]\ndef get_init_inputs():\n    return [b]\n", c, 8), 0);
}

/* A class that reads the constant has its own idea of it; a parameter or local of that name has not. */
static void test_read_by_a_class(void **state)
{
	struct shrink_const c[8];
	static const char inputs[] = "def get_inputs():\n    return [torch.rand(n)]\ndef get_init_inputs():\n    return []\n";
	struct buf b = BUF_INIT;

	(void)state;
	buf_addf(&b, "n = 64\nclass Model:\n    def forward(self, x):\n        return x.view(n)\n%s", inputs);
	assert_int_equal(find(buf_cstr(&b), c, 8), 0);
	buf_clear(&b);
	buf_addf(&b, "n = 64\nclass Model:\n    def forward(self, x):\n        n = x.numel()\n        return x.view(n)\n%s", inputs);
	assert_int_equal(find(buf_cstr(&b), c, 8), 1);
	buf_clear(&b);
	buf_addf(&b, "n = 64\nclass Model:\n    def __init__(self, n):\n        self.n = n\n%s", inputs);
	assert_int_equal(find(buf_cstr(&b), c, 8), 1);
	buf_release(&b);
}

static void test_override_of_a_chain(void **state)
{
	struct py_module m;
	struct err e = ERR_INIT;
	struct host_options o = { .fuel = 100000 };
	struct host *h = host_new(&o, &e);
	struct host_override ov = { .name = STR("a"), .value = 3 };
	struct val ns, v;

	(void)state;
	assert_int_equal(py_parse(&m, STR("a = b = 64\nc = a + b\n"), "task", 0, &e), 0);
	assert_int_equal(host_load(h, &m, &ov, 1, &ns, &e), 0);
	assert_int_equal(host_get(h, ns, "c", &v), 1);
	assert_int_equal(v.u.i, 6);
	host_free(h);
	py_release(&m);
}

/* --- from host to host -------------------------------------------------------------------------- */

struct pair { struct py_module m; struct host *from, *to; struct val ns; };

static void open_pair(struct pair *p, const char *source, int oracle)
{
	struct host_options o = { .fuel = 1000000, .memory = (size_t)64 << 20 }, q = o;
	struct err e = ERR_INIT;

	q.oracle = oracle;
	assert_int_equal(py_parse(&p->m, str_of(source), "task", 0, &e), 0);
	p->from = host_new(&o, &e);
	p->to = host_new(&q, &e);
	assert_int_equal(host_load(p->from, &p->m, NULL, 0, &p->ns, &e), 0);
}

static int import(struct pair *p, const char *name, struct val *out)
{
	struct val v;
	struct err e = ERR_INIT;

	assert_int_equal(host_get(p->from, p->ns, name, &v), 1);
	return host_import(p->to, v, out, &e);
}

static void close_pair(struct pair *p)
{
	host_free(p->to);
	host_free(p->from);
	py_release(&p->m);
}

static void test_import(void **state)
{
	struct pair p;
	struct val v, t, row, *k;

	(void)state;
	open_pair(&p, "import torch\nx = torch.arange(6.0).view(2, 3)\nall = [1, 2.5, 'text', None, (True, {'k': x}), x.t(), x[0]]\n", 0);
	assert_int_equal(import(&p, "all", &v), 0);
	assert_int_equal(v.u.seq->n, 7);
	assert_true(str_is(val_text(v.u.seq->v[2]), "text"));
	t = v.u.seq->v[5];
	row = v.u.seq->v[6];
	k = dict_find(v.u.seq->v[4].u.seq->v[1], "k");
	assert_int_equal(t.u.t->t.stride[0], 1);
	assert_ptr_equal(t.u.t->t.st, row.u.t->t.st);          /* what was shared stays shared */
	assert_ptr_equal(t.u.t->t.st, k->u.t->t.st);
	((float *)tensor_data(&row.u.t->t))[1] = 40.0f;         /* and is a copy */
	assert_int_equal(import(&p, "all", &v), 0);
	assert_true(((float *)tensor_data(&v.u.seq->v[6].u.t->t))[1] == 1.0f);
	close_pair(&p);
}

static void test_import_widens(void **state)
{
	struct pair p;
	struct val v;

	(void)state;
	open_pair(&p, "import torch\nx = torch.full((3,), 0.1).half()\ni = torch.arange(3)\n", 1);
	assert_int_equal(import(&p, "x", &v), 0);
	assert_int_equal(v.u.t->t.dt, DT_F64);
	assert_true(*(double *)tensor_data(&v.u.t->t) == (double)f16_to_f32(f32_to_f16(0.1f)));
	assert_int_equal(import(&p, "i", &v), 0);
	assert_int_equal(v.u.t->t.dt, DT_I64);
	close_pair(&p);
}

static void test_import_refuses(void **state)
{
	struct pair p;
	struct val v;

	(void)state;
	open_pair(&p, "class C:\n    pass\nc = [1, C()]\nf = lambda x: x\ndeep = 1\nfor i in range(60):\n    deep = [deep]\n", 0);
	assert_int_equal(import(&p, "c", &v), 1);
	assert_int_equal(import(&p, "f", &v), 1);
	assert_int_equal(import(&p, "deep", &v), 1);
	assert_false(host_is_lost(p.to));
	close_pair(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chained), cmocka_unit_test(test_chain_of_the_model), cmocka_unit_test(test_sizes_of_the_model),
		cmocka_unit_test(test_literals), cmocka_unit_test(test_batches), cmocka_unit_test(test_repeated_list),
		cmocka_unit_test(test_read_by_a_class), cmocka_unit_test(test_override_of_a_chain), cmocka_unit_test(test_import),
		cmocka_unit_test(test_import_widens), cmocka_unit_test(test_import_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
