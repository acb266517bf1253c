/* The task generator: every composition can be written, plain or varied, and its split depends on the
 * composition alone. That solutions are right is the judge's to say (tasks --verify). */
#include "check.h"

#include "base/mem.h"
#include "gen/gen.h"
#include "py/ast.h"

static struct gen_plan chain(const enum gen_op_id *ops, int n)
{
	struct gen_plan p = { .level = 2, .layout = GEN_2D, .batch = 4, .width = 16, .height = 16, .channels = 3, .signed_input = 1, .n = n };

	for (int i = 0; i < n; i++)
		p.step[i] = (struct gen_step){ .op = ops[i], .size = { 16 }, .c = { "0.5", "1.0" } };
	return p;
}

static void assert_parses(struct str source)
{
	struct py_module m;
	struct err e = ERR_INIT;

	assert_int_equal(py_parse(&m, source, "generated.py", 0, &e), 0);
	py_release(&m);
}

static void assert_written(const struct gen_plan *p)
{
	struct gen_texts t = { .ops = BUF_INIT };
	struct err e = ERR_INIT;

	assert_int_equal(gen_emit(p, &t, &e), 0);
	assert_parses(buf_str(&t.task));
	assert_parses(buf_str(&t.solution));
	gen_texts_release(&t);
}

/* As many inputs as a chain can have: an operand for three steps, and a target. */
static void test_most_inputs(void **state)
{
	static const enum gen_op_id ops[] = { GEN_OP_residual, GEN_OP_mul_tensor, GEN_OP_sub_tensor, GEN_OP_mse_loss };
	struct gen_plan p = chain(ops, COUNT_OF(ops));
	struct gen_texts t = { .ops = BUF_INIT };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(gen_emit(&p, &t, &e), 0);
	assert_non_null(strstr(buf_cstr(&t.task), "def forward(self, x, "));
	assert_non_null(strstr(buf_cstr(&t.task), ", target):"));
	gen_texts_release(&t);
}

/* As many constants as a chain can have. */
static void test_most_constants(void **state)
{
	enum gen_op_id ops[GEN_STEPS];
	struct gen_plan p;

	(void)state;
	for (int i = 0; i < GEN_STEPS; i++)
		ops[i] = GEN_OP_clamp;
	p = chain(ops, GEN_STEPS);
	for (int i = 0; i < GEN_STEPS; i++)
		p.step[i].attr = 1;
	assert_written(&p);
}

static void test_drawn(void **state)
{
	struct rng r;
	struct gen_plan p;

	(void)state;
	rng_init(&r, 7, "test");
	for (int i = 0; i < 3000; i++) {
		gen_plan_draw(&p, i % 3 + 1, &r);
		p.plain = i & 1;
		assert_written(&p);
	}
}

/* Constants, sizes and style do not move a composition into another split. */
static void test_split(void **state)
{
	static const enum gen_op_id ops[] = { GEN_OP_linear, GEN_OP_relu, GEN_OP_scale };
	struct gen_plan a = chain(ops, COUNT_OF(ops)), b = a;

	(void)state;
	b.batch = 64, b.style = 99, b.plain = 1, b.step[1].form = 1;
	assert_int_equal(gen_plan_split(&a), gen_plan_split(&b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_most_inputs), cmocka_unit_test(test_most_constants), cmocka_unit_test(test_drawn),
		cmocka_unit_test(test_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
