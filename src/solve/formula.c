/* Formulas of elementwise operators (point.def): a small recursive-descent reader that builds
 * element expressions. The texts are ours, so a mistake in one is a bug. */
#include <stdlib.h>

#include "solve/lower.h"

struct formula {
	struct expr_pool *p;
	const char *at;
	const struct sx *const *arg;
	int n;
	enum dtype dt;           /* of numbers and arguments */
};

static const struct { const char *name, *formula; } points[] = {
#define POINT(name, formula) { name, formula },
#include "solve/point.def"
#undef POINT
};

const char *point_formula(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(points); i++)
		if (!strcmp(points[i].name, name))
			return points[i].formula;
	return NULL;
}

static const struct { const char *name; enum sx_op op; } functions[] = {
	{ "max", SX_MAX }, { "min", SX_MIN }, { "abs", SX_ABS }, { "exp", SX_EXP }, { "exp2", SX_EXP2 },
	{ "log", SX_LOG }, { "log2", SX_LOG2 }, { "sqrt", SX_SQRT }, { "rsqrt", SX_RSQRT }, { "sin", SX_SIN },
	{ "cos", SX_COS }, { "erf", SX_ERF }, { "sigmoid", SX_SIGMOID }, { "floor", SX_FLOOR }, { "ceil", SX_CEIL },
	{ "tanh", SX_TANH }, { "log1p", SX_LOG1P }, { "expm1", SX_EXPM1 }, { "tan", SX_TAN }, { "asin", SX_ASIN },
	{ "acos", SX_ACOS }, { "atan", SX_ATAN }, { "atan2", SX_ATAN2 }, { "sinh", SX_SINH }, { "cosh", SX_COSH },
	{ "erfc", SX_ERFC }, { "round", SX_ROUND }, { "trunc", SX_TRUNC }, { "where", SX_WHERE },
	{ "fmod", SX_FMOD }, { "pow", SX_POW },
};

static const struct sx *read_or(struct formula *f);

static void skip(struct formula *f)
{
	while (*f->at == ' ')
		f->at++;
}

/* Whether the next characters are `s`; takes them. */
static int take(struct formula *f, const char *s)
{
	skip(f);
	if (strncmp(f->at, s, strlen(s)))
		return 0;
	f->at += strlen(s);
	return 1;
}

static const struct sx *read_call(struct formula *f)
{
	const struct sx *a[SX_ARGS] = { NULL };
	size_t len = strcspn(f->at, "(");
	int n = 0;

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		if (strlen(functions[i].name) != len || strncmp(f->at, functions[i].name, len))
			continue;
		f->at += len;
		do {
			f->at++;
			a[n++] = read_or(f);
			skip(f);
		} while (*f->at == ',' && n < SX_ARGS);
		if (!take(f, ")"))
			BUG("a formula lacks ')' at '%s'", f->at);
		return n == 1 ? sx_op1(f->p, functions[i].op, a[0]) : n == 2 ?
			sx_op2(f->p, functions[i].op, a[0], a[1]) : sx_where(f->p, a[0], a[1], a[2]);
	}
	BUG("a formula has no function '%s'", f->at);
}

static const struct sx *read_primary(struct formula *f)
{
	const struct sx *x;
	char *end;
	double v;

	skip(f);
	if (take(f, "-"))
		return sx_op1(f->p, SX_NEG, read_primary(f));
	if (take(f, "(")) {
		x = read_or(f);
		if (!take(f, ")"))
			BUG("a formula lacks ')' at '%s'", f->at);
		return x;
	}
	if (take(f, "$")) {
		int i = *f->at++ - '0';

		return i < f->n && f->arg[i] ? f->arg[i] : sx_num(f->p, 1.0, f->dt);
	}
	v = strtod(f->at, &end);
	if (end == f->at)
		return read_call(f);
	f->at = end;
	return sx_num(f->p, v, f->dt);
}

static const struct sx *read_product(struct formula *f)
{
	const struct sx *a = read_primary(f);

	for (;;) {
		if (take(f, "*"))
			a = sx_op2(f->p, SX_MUL, a, read_primary(f));
		else if (take(f, "/"))
			a = sx_op2(f->p, SX_DIV, a, read_primary(f));
		else
			return a;
	}
}

static const struct sx *read_sum(struct formula *f)
{
	const struct sx *a = read_product(f);

	for (;;) {
		if (take(f, "+"))
			a = sx_op2(f->p, SX_ADD, a, read_product(f));
		else if (take(f, "-"))
			a = sx_op2(f->p, SX_SUB, a, read_product(f));
		else
			return a;
	}
}

static const struct sx *read_compare(struct formula *f)
{
	static const struct { const char *text; enum sx_op op; } ops[] = {
		{ "==", SX_EQ }, { "!=", SX_NE }, { "<=", SX_LE }, { ">=", SX_GE }, { "<", SX_LT }, { ">", SX_GT },
	};
	const struct sx *a = read_sum(f);

	for (size_t i = 0; i < COUNT_OF(ops); i++)
		if (take(f, ops[i].text))
			return sx_op2(f->p, ops[i].op, a, read_sum(f));
	return a;
}

static const struct sx *read_or(struct formula *f)
{
	const struct sx *a = read_compare(f);

	for (;;) {
		if (take(f, "&"))
			a = sx_op2(f->p, SX_AND, a, read_compare(f));
		else if (take(f, "|"))
			a = sx_op2(f->p, SX_OR, a, read_compare(f));
		else if (take(f, "^"))
			a = sx_op2(f->p, SX_XOR, a, read_compare(f));
		else
			return a;
	}
}

const struct sx *formula_build(struct lower *l, const char *text, const struct sx *const *arg, int n, enum dtype dt)
{
	struct formula f = { .p = l->p, .at = text, .arg = arg, .n = n, .dt = sx_dtype(dt) };
	const struct sx *x = read_or(&f);

	skip(&f);
	if (*f.at)
		BUG("a formula ends at '%s'", f.at);
	return x;
}
