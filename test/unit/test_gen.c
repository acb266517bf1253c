/* The task generator: every composition can be written, plain or varied, and its split depends on the
 * composition alone. That solutions are right is the judge's to say (tasks --verify). */
#include "check.h"

#include <stdlib.h>

#include "base/mem.h"
#include "gen/impl.h"
#include "py/ast.h"

static void assert_parses(struct str source)
{
	struct py_module m;
	struct err e = ERR_INIT;

	if (py_parse(&m, source, "generated.py", 0, &e))
		fail_msg("%s\n%.*s", e.text, (int)source.n, source.p);
	py_release(&m);
}

/* A constant of the module must not have the name of an input: get_inputs assigns to that. */
static void assert_names_apart(const struct gen_plan *p)
{
	struct gen_emit em;

	gen_emit_init(&em, p);
	for (int i = 0; i < em.params; i++)
		for (int k = 0; k < em.inputs; k++)
			if (!strcmp(em.param[i].label, em.input[k].name))
				fail_msg("constant and input are both called '%s'", em.param[i].label);
}

static void assert_written(const struct gen_plan *p)
{
	struct gen_texts t = { .ops = BUF_INIT };
	struct err e = ERR_INIT;

	assert_int_equal(gen_emit(p, &t, &e), 0);
	assert_parses(buf_str(&t.task));
	assert_parses(buf_str(&t.solution));
	gen_texts_release(&t);
	assert_names_apart(p);
}

/* All operators occur, on both tracks, and every text parses. */
static void test_drawn(void **state)
{
	struct rng r;
	struct gen_plan p;
	int seen[GEN_OPS] = { 0 };

	(void)state;
	rng_init(&r, 7, "test");
	for (int i = 0; i < 15000; i++) {
		gen_plan_draw(&p, i % 3 + 1, i % 4 == 3, &r);
		p.hybrid = i % 5 == 4;
		assert_written(&p);
		for (int s = 0; s < p.n; s++)
			seen[p.step[s].op]++;
	}
	for (int i = 0; i < GEN_OPS; i++)
		if (!seen[i])
			fail_msg("'%s' is never drawn", gen_op(i)->name);
}

/* Whether what is added at step s may have been taken away since it was kept. */
static int takes_away(const struct gen_plan *p, int s)
{
	int turns = 0;

	while (p->step[--s].op != GEN_OP_keep)
		turns += p->step[s].op == GEN_OP_neg || p->step[s].op == GEN_OP_rsub_const;
	return turns % 2;
}

/* Steps that leave one number whatever comes in: the largest of what its largest was taken from, nothing above zero of what is never
 * below, a value added to what it was taken from, the smallest of many that end at zero, a square of a variance beside one. */
static int is_constant(const struct gen_plan *p, int s)
{
	enum gen_op_id before = p->step[s - 1].op, op = p->step[s].op;

	if (op == GEN_OP_amin && before == GEN_OP_log1p_abs && s > 1 && p->step[s - 2].op == GEN_OP_sub_max)
		return 1;
	if (op == GEN_OP_amin && before == GEN_OP_rms_norm && s > 1 && (p->step[s - 2].op == GEN_OP_relu || p->step[s - 2].op == GEN_OP_relu6))
		return 1;
	if (before == GEN_OP_var && (op == GEN_OP_sqrt1p || op == GEN_OP_rsqrt1p || op == GEN_OP_cos))
		return 1;
	return (op == GEN_OP_add_kept && takes_away(p, s)) || (before == GEN_OP_sub_max && op == GEN_OP_amax) ||
	       (before == GEN_OP_relu && op == GEN_OP_min_const && atof(p->step[s].c[0]) <= 0.0);
}

static void test_constant(void **state)
{
	struct rng r;
	struct gen_plan p;

	(void)state;
	rng_init(&r, 81, "test");
	for (int i = 0; i < 60000; i++) {
		gen_plan_draw(&p, i % 2 + 2, 0, &r);
		for (int s = 1; s < p.n; s++)
			if (is_constant(&p, s))
				fail_msg("plan %d: %s behind %s", i, gen_op(p.step[s].op)->name, gen_op(p.step[s - 1].op)->name);
	}
}

/* The kernels of the plan's solution. */
static void kernels_of(const struct gen_plan *p, struct buf *out)
{
	struct gen_texts t = { .ops = BUF_INIT };
	struct err e = ERR_INIT;
	const char *text;

	assert_int_equal(gen_emit(p, &t, &e), 0);
	text = buf_cstr(&t.solution);
	buf_add(out, text, (size_t)(strstr(text, "class ModelNew") - text));
	gen_texts_release(&t);
}

/* The kernel of a convolution holds whether there is a bias or not. */
static void test_bias(void **state)
{
	struct rng r;
	struct gen_plan p;

	(void)state;
	rng_init(&r, 5, "test");
	for (int i = 0; i < 400; i++) {
		struct buf with = BUF_INIT, without = BUF_INIT;

		gen_plan_draw(&p, 1, 0, &r);
		if (gen_op(p.step[0].op)->family != GEN_CONV)
			continue;
		p.step[0].bias = 1;
		kernels_of(&p, &with);
		p.step[0].bias = 0;
		kernels_of(&p, &without);
		assert_string_equal(buf_cstr(&with), buf_cstr(&without));
		buf_release(&with);
		buf_release(&without);
	}
}

/* As many inputs and constants as a chain can have. */
static void test_most_operands(void **state)
{
	static const enum gen_op_id ops[] = { GEN_OP_residual, GEN_OP_mul_tensor, GEN_OP_sub_tensor };
	struct gen_plan p = { .level = 2, .n = GEN_STEPS, .input = { .rank = 2, .d = { 4, 16 } } };

	(void)state;
	for (int i = 0; i < GEN_STEPS; i++)
		p.step[i] = (struct gen_step){ .op = i < 3 ? ops[i] : GEN_OP_clamp, .in = p.input, .shape = p.input, .attr = 1, .c = { "-0.5", "1.0" } };
	assert_written(&p);
}

/* Constants, sizes and style do not move a composition into another split. */
static void test_split(void **state)
{
	struct rng r;
	struct gen_plan a, b;

	(void)state;
	rng_init(&r, 9, "test");
	gen_plan_draw(&a, 2, 0, &r);
	b = a;
	b.input.d[0] = 77, b.style = 99, b.plain = 1, b.step[1].form = 0;
	assert_int_equal(gen_plan_split(&a), gen_plan_split(&b));
}

/* Lines with conditions, lines of several lines, values inside a line. */
static void test_template(void **state)
{
	struct gen_vars v;
	struct buf out = BUF_INIT;

	(void)state;
	gen_vars_init(&v);
	gen_set(&v, "x", "acc");
	gen_set(&v, "on", "yes");
	gen_set(&v, "off", "%s", "");
	gen_set(&v, "body", "$x = 1\nif $x:\n    pass\n");
	gen_text(&out, "a = $x.b\n?on|    $body\n?off|no\n!off|    $off\n!off|end", &v);
	assert_string_equal(buf_cstr(&out), "a = acc.b\n    acc = 1\n    if acc:\n        pass\nend\n");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drawn), cmocka_unit_test(test_constant), cmocka_unit_test(test_bias), cmocka_unit_test(test_most_operands),
		cmocka_unit_test(test_split), cmocka_unit_test(test_template),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
