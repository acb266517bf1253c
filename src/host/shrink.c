/* Sizes of a task that may be changed: see shrink.h. */
#include "host/shrink.h"

#include "base/mem.h"

enum { NAMES_MOST = 256 };

/* A set of names; identifiers are interned per module, so pointers tell them apart. */
struct names {
	const char *p[NAMES_MOST];
	struct str s[NAMES_MOST];
	size_t n, followed;
};

static void add_name(struct names *u, struct str s)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->p[i] == s.p)
			return;
	if (u->n < NAMES_MOST) {
		u->p[u->n] = s.p;
		u->s[u->n++] = s;
	}
}

static void collect(void *ctx, struct py_node *n)
{
	if (n->kind == PY_Name && n->u.Name.ctx == PY_LOAD)
		add_name(ctx, n->u.Name.id);
	py_children(n, collect, ctx);
}

/* `NAME = value` at module level: its value, else NULL. */
static struct py_node *assigned(const struct py_node *s, struct str name)
{
	const struct py_node *t;

	if (s->kind != PY_Assign || s->u.Assign.targets.n != 1)
		return NULL;
	t = s->u.Assign.targets.v[0];
	return t->kind == PY_Name && str_eq(t->u.Name.id, name) ? s->u.Assign.value : NULL;
}

/* Adds the names that the module-level definition of `name` uses. */
static void follow(const struct py_module *m, struct names *u, struct str name)
{
	for (size_t i = 0; i < m->root->u.Module.body.n; i++) {
		struct py_node *s = m->root->u.Module.body.v[i], *v = assigned(s, name);

		if (v)
			collect(u, v);
		else if (s->kind == PY_FunctionDef && str_eq(s->u.FunctionDef.name, name))
			collect(u, s);
	}
}

static void used_by(const struct py_module *m, const char *function, struct names *u)
{
	for (size_t i = 0; i < m->root->u.Module.body.n; i++) {
		struct py_node *s = m->root->u.Module.body.v[i];

		if (s->kind == PY_FunctionDef && str_is(s->u.FunctionDef.name, function))
			collect(u, s);
	}
	while (u->followed < u->n)
		follow(m, u, u->s[u->followed++]);
}

static int holds(const struct names *u, const char *p)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->p[i] == p)
			return 1;
	return 0;
}

/* The value of an integer expression of literals: 2048 * 2, 1 << 12. Nonzero: it is not one. */
static int fold(const struct py_node *n, int64_t *out)
{
	int64_t a, b;

	if (n->kind == PY_Constant && n->u.Constant.value.kind == PY_C_INT) {
		*out = n->u.Constant.value.i;
		return 0;
	}
	if (n->kind != PY_BinOp || fold(n->u.BinOp.left, &a) || fold(n->u.BinOp.right, &b))
		return -1;
	switch (n->u.BinOp.op) {
	case PY_OP_Add: return ck_add64(a, b, out);
	case PY_OP_Sub: return ck_sub64(a, b, out);
	case PY_OP_Mult: return ck_mul64(a, b, out);
	case PY_OP_FloorDiv:
		if (a < 0 || b <= 0)
			return -1;
		*out = a / b;
		return 0;
	case PY_OP_LShift:
		if (a < 0 || b < 0 || b > 40 || a > INT32_MAX / 1024)
			return -1;
		*out = a << b;
		return 0;
	case PY_OP_Pow:
		*out = 1;
		for (; b > 0; b--)
			if (ck_mul64(*out, a, out))
				return -1;
		return b < 0;
	default: return -1;
	}
}

/* The value that sizes a constant: an integer, or the largest member of a tuple of them. */
static int size_of(const struct py_node *n, int64_t *out)
{
	const struct py_list *l = n->kind == PY_Tuple ? &n->u.Tuple.elts : n->kind == PY_List ? &n->u.List.elts : NULL;
	int64_t v;

	if (!l)
		return fold(n, out);
	*out = 0;
	for (size_t i = 0; i < l->n; i++) {
		if (fold(l->v[i], &v))
			return -1;
		*out = MAX(*out, v);
	}
	return *out > 0 ? 0 : -1;
}

size_t shrink_find(const struct py_module *m, struct shrink_const *out, size_t cap)
{
	struct names inputs = { .n = 0 }, init = { .n = 0 };
	size_t n = 0;

	used_by(m, "get_inputs", &inputs);
	used_by(m, "get_init_inputs", &init);
	for (size_t i = 0; i < m->root->u.Module.body.n; i++) {
		const struct py_node *s = m->root->u.Module.body.v[i], *t;

		int64_t value;

		if (s->kind != PY_Assign || s->u.Assign.targets.n != 1 || size_of(s->u.Assign.value, &value))
			continue;
		t = s->u.Assign.targets.v[0];
		if (t->kind != PY_Name || !holds(&inputs, t->u.Name.id.p) || holds(&init, t->u.Name.id.p))
			continue;
		if (n < cap)
			out[n] = (struct shrink_const){ .name = t->u.Name.id, .value = value };
		n++;
	}
	return n;
}
