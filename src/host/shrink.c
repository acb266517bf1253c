/* Sizes of a task that may be changed: see shrink.h. Example: with `N = 4096`, `rows = N // 2` and
 * torch.rand(rows) in get_inputs, N may be changed; `rows` is no integer constant and follows. */
#include "host/shrink.h"

#include "base/mem.h"

/* More names than any task uses; further ones are ignored. */
enum { NAMES_MOST = 256 };

/* A set of names. Identifiers are interned for each module, so that pointers distinguish them. */
struct names {
	const char *p[NAMES_MOST];
	struct str s[NAMES_MOST];
	size_t n, followed;   /* followed: names whose definitions were added */
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

/* Adds every name that is read below a node. */
static void collect(void *ctx, struct py_node *n)
{
	if (n->kind == PY_Name && n->u.Name.ctx == PY_LOAD)
		add_name(ctx, n->u.Name.id);
	py_children(n, collect, ctx);
}

/* Adds the names that a function binds itself: parameters and assigned names. */
static void collect_bound(void *ctx, struct py_node *n)
{
	if (n->kind == PY_Name && n->u.Name.ctx != PY_LOAD)
		add_name(ctx, n->u.Name.id);
	if (n->kind == PY_arg)
		add_name(ctx, n->u.arg.arg);
	py_children(n, collect_bound, ctx);
}

static int holds(const struct names *u, const char *p)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->p[i] == p)
			return 1;
	return 0;
}

/* Adds the names that a class takes from the module. A size that the model itself reads does not
 * belong only to the inputs. */
static void collect_class(void *ctx, struct py_node *n)
{
	struct names used = { .n = 0 }, bound = { .n = 0 };

	if (n->kind != PY_FunctionDef) {
		if (n->kind == PY_Name && n->u.Name.ctx == PY_LOAD)
			add_name(ctx, n->u.Name.id);
		py_children(n, collect_class, ctx);
		return;
	}
	collect(&used, n);
	collect_bound(&bound, n);
	for (size_t i = 0; i < used.n; i++)
		if (!holds(&bound, used.p[i]))
			add_name(ctx, used.s[i]);
}

/* The i-th `NAME = value` of a module-level statement, its name in *name; NULL: there are no more.
 * `a, b = 2, 3` has two of them. `a = b = 2` has one: a, which represents both. */
static struct py_node *constant_at(const struct py_node *s, size_t i, struct str *name)
{
	const struct py_node *t;
	struct py_node *v;

	if (s->kind != PY_Assign)
		return NULL;
	t = s->u.Assign.targets.v[0];
	v = s->u.Assign.value;
	if (t->kind == PY_Tuple && v->kind == PY_Tuple && t->u.Tuple.elts.n == v->u.Tuple.elts.n &&
	    i < v->u.Tuple.elts.n) {
		/* `a, b = 2, 3` pairs names and values by index. */
		t = t->u.Tuple.elts.v[i];
		v = v->u.Tuple.elts.v[i];
	} else if (i) {
		return NULL;
	}
	if (t->kind != PY_Name)
		return NULL;
	*name = t->u.Name.id;
	return v;
}

/* Adds the names that the module-level definition of `name` uses. */
static void follow(const struct py_module *m, struct names *u, struct str name)
{
	for (size_t i = 0; i < m->root->u.Module.body.n; i++) {
		struct py_node *s = m->root->u.Module.body.v[i], *v;
		struct str id;

		for (size_t k = 0; (v = constant_at(s, k, &id)); k++)
			if (str_eq(id, name))
				collect(u, v);
		if (s->kind == PY_FunctionDef && str_eq(s->u.FunctionDef.name, name))
			collect(u, s);
	}
}

/* Adds definitions until no name is left: N // 2 of `rows` adds N. */
static void follow_all(const struct py_module *m, struct names *u)
{
	while (u->followed < u->n)
		follow(m, u, u->s[u->followed++]);
}

/* All names that a function uses, directly or through other names. */
static void used_by(const struct py_module *m, const char *function, struct names *u)
{
	for (size_t i = 0; i < m->root->u.Module.body.n; i++) {
		struct py_node *s = m->root->u.Module.body.v[i];

		if (s->kind == PY_FunctionDef && str_is(s->u.FunctionDef.name, function))
			collect(u, s);
	}
	follow_all(m, u);
}

/* All names of the module that its classes use. */
static void used_by_classes(const struct py_module *m, struct names *u)
{
	for (size_t i = 0; i < m->root->u.Module.body.n; i++)
		if (m->root->u.Module.body.v[i]->kind == PY_ClassDef)
			collect_class(u, m->root->u.Module.body.v[i]);
	follow_all(m, u);
}

/* Whether the set contains the constant under any name that its statement gives it. */
static int holds_constant(const struct names *u, const struct py_node *s, struct str name)
{
	for (size_t i = 1; i < s->u.Assign.targets.n; i++)
		if (s->u.Assign.targets.v[i]->kind == PY_Name && holds(u, s->u.Assign.targets.v[i]->u.Name.id.p))
			return 1;
	return holds(u, name.p);
}

/* The value of an integer expression of literals: 2048 * 2, 1 << 12. Returns nonzero if it is
 * none. */
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

/* The elements of a tuple or list as written, or of a repeated one ([1024] * 16); NULL: it is
 * none. */
static const struct py_list *members_of(const struct py_node *n)
{
	if (n->kind == PY_BinOp && n->u.BinOp.op == PY_OP_Mult)
		n = n->u.BinOp.left;
	return n->kind == PY_Tuple ? &n->u.Tuple.elts : n->kind == PY_List ? &n->u.List.elts : NULL;
}

/* The value by which a constant is scaled: an integer, or the largest element of a tuple of them. */
static int size_of(const struct py_node *n, int64_t *out)
{
	const struct py_list *l = members_of(n);
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

/* Constants that are in the set `in` and not in `out_of`. */
static size_t find(const struct py_module *m, const struct names *in, const struct names *out_of,
		   struct shrink_const *out, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < m->root->u.Module.body.n; i++) {
		const struct py_node *s = m->root->u.Module.body.v[i], *v;
		struct shrink_const c;

		for (size_t k = 0; (v = constant_at(s, k, &c.name)); k++) {
			if (size_of(v, &c.value) || !holds_constant(in, s, c.name) || holds_constant(out_of, s, c.name))
				continue;
			if (n < cap)
				out[n] = c;
			n++;
		}
	}
	return n;
}

/* Constants of get_inputs, without those that the model depends on. */
size_t shrink_find(const struct py_module *m, struct shrink_const *out, size_t cap)
{
	struct names inputs = { .n = 0 }, init = { .n = 0 };

	used_by(m, "get_inputs", &inputs);
	used_by(m, "get_init_inputs", &init);
	used_by_classes(m, &init);
	return find(m, &inputs, &init, out, cap);
}

/* Constants of get_init_inputs, without those that a class reads itself. */
size_t shrink_find_model(const struct py_module *m, struct shrink_const *out, size_t cap)
{
	struct names init = { .n = 0 }, classes = { .n = 0 };

	used_by(m, "get_init_inputs", &init);
	used_by_classes(m, &classes);
	return find(m, &init, &classes, out, cap);
}

/* --- the source at other sizes ---------------------------------------------------------------- */

/* The byte offset in the source of a line and column of the tree. */
static size_t offset_of(struct str source, int line, int col)
{
	size_t at = 0;

	for (int i = 1; i < line && at < source.n; at++)
		i += source.p[at] == '\n';
	return MIN(at + (size_t)col, source.n);
}

/* A copy of the source with replacements. */
struct rewrite {
	struct str source;
	size_t done;          /* bytes of the source that are in `out` already */
	struct buf *out;
};

/* Replaces the text of a node by a number. */
static void write_value(struct rewrite *w, const struct py_node *n, int64_t value)
{
	size_t from = offset_of(w->source, n->line, n->col);

	buf_add(w->out, w->source.p + w->done, from - w->done);
	buf_addf(w->out, "%lld", (long long)value);
	w->done = offset_of(w->source, n->end_line, n->end_col);
}

/* Replaces an integer, or the largest elements of a tuple or list, as apply_override of the
 * interpreter does. */
static void write_sizes(struct rewrite *w, const struct py_node *n, int64_t value)
{
	const struct py_list *l = members_of(n);
	int64_t most, v;

	if (!l) {
		write_value(w, n, value);
		return;
	}
	if (size_of(n, &most))
		return;
	for (size_t i = 0; i < l->n; i++)
		if (!fold(l->v[i], &v) && v == most)
			write_value(w, l->v[i], value);
}

/* Constants are visited in the order of the source, so that `done` only grows. */
void shrink_source(const struct py_module *m, const struct host_override *ov, size_t n_ov, struct buf *out)
{
	struct rewrite w = { .source = m->source, .out = out };

	for (size_t i = 0; i < m->root->u.Module.body.n; i++) {
		const struct py_node *s = m->root->u.Module.body.v[i], *v;
		struct str name;

		for (size_t k = 0; (v = constant_at(s, k, &name)); k++)
			for (size_t o = 0; o < n_ov; o++)
				if (str_eq(name, ov[o].name))
					write_sizes(&w, v, ov[o].value);
	}
	buf_add(out, w.source.p + w.done, w.source.n - w.done);
}

/* --- sizes that have no name -------------------------------------------------------------------- */

/* Numbers below 64 are rather options (a kernel size, a number of heads) than sizes. */
enum { LITERAL_LEAST = 64, LITERALS_MOST = 64 };

/* Integer literals, in the order of the source. */
struct literals {
	const struct py_node *v[LITERALS_MOST];
	size_t n;
};

static int is_before(const struct py_node *a, const struct py_node *b)
{
	return a->line < b->line || (a->line == b->line && a->col < b->col);
}

static int is_at_least(const struct py_node *n, int64_t least)
{
	return n->kind == PY_Constant && n->u.Constant.value.kind == PY_C_INT && n->u.Constant.value.i >= least;
}

/* Inserts a literal at its position in the source: the tree is not visited in that order. */
static void insert_literal(struct literals *l, const struct py_node *n)
{
	size_t i;

	if (l->n == LITERALS_MOST)
		return;
	for (i = l->n++; i > 0 && is_before(n, l->v[i - 1]); i--)
		l->v[i] = l->v[i - 1];
	l->v[i] = n;
}

static void collect_literals(void *ctx, struct py_node *n)
{
	if (is_at_least(n, LITERAL_LEAST))
		insert_literal(ctx, n);
	py_children(n, collect_literals, ctx);
}

/* The small first size of the tensors that get_inputs makes: the 4 of torch.rand(4, 8), torch.rand([4, 8]) and
 * torch.randint(0, 10, (4, 8)). */
static void collect_batches(void *ctx, struct py_node *n)
{
	if (n->kind == PY_Call) {
		const struct py_list *args = &n->u.Call.args, *shape = args;

		for (size_t i = 0; i < args->n; i++)
			if (args->v[i]->kind == PY_List)
				shape = &args->v[i]->u.List.elts;
			else if (args->v[i]->kind == PY_Tuple)
				shape = &args->v[i]->u.Tuple.elts;
		if (shape->n > 1 && is_at_least(shape->v[0], 2) && !is_at_least(shape->v[0], LITERAL_LEAST) &&
		    is_at_least(shape->v[1], 1))
			insert_literal(ctx, shape->v[0]);
	}
	py_children(n, collect_batches, ctx);
}

/* Whether the i-th literal is the first one with its value. */
static int is_first(const struct literals *l, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (l->v[k]->u.Constant.value.i == l->v[i]->u.Constant.value.i)
			return 0;
	return 1;
}

/* A source that already contains "size_of_" is left alone: a name could clash. */
size_t shrink_name_literals(const struct py_module *m, int batches, struct buf *out)
{
	struct rewrite w = { .source = m->source, .out = out };
	struct literals l = { .n = 0 };

	if (str_find(m->source, STR("size_of_")) >= 0)
		return 0;
	for (size_t i = 0; i < m->root->u.Module.body.n; i++) {
		struct py_node *s = m->root->u.Module.body.v[i];
		int inputs = s->kind == PY_FunctionDef && str_is(s->u.FunctionDef.name, "get_inputs");

		if (inputs || (s->kind == PY_FunctionDef && str_is(s->u.FunctionDef.name, "get_init_inputs")))
			collect_literals(&l, s);
		if (inputs && batches)
			collect_batches(&l, s);
	}
	for (size_t i = 0; i < l.n; i++) {
		size_t from = offset_of(w.source, l.v[i]->line, l.v[i]->col);

		buf_add(out, w.source.p + w.done, from - w.done);
		buf_addf(out, "size_of_%lld", (long long)l.v[i]->u.Constant.value.i);
		w.done = offset_of(w.source, l.v[i]->end_line, l.v[i]->end_col);
	}
	buf_add(out, w.source.p + w.done, w.source.n - w.done);
	buf_adds(out, str_ends(w.source, "\n") ? "" : "\n");
	for (size_t i = 0; i < l.n; i++)
		if (is_first(&l, i))
			buf_addf(out, "size_of_%lld = %lld\n", (long long)l.v[i]->u.Constant.value.i,
				 (long long)l.v[i]->u.Constant.value.i);
	return l.n;
}
