/* The statements of forward: see body.h. */
#include "write/body.h"

#include "base/mem.h"
#include "data/module.h"

enum { TEXT_MOST = 1 << 28 };

static const struct py_node *statement(const struct body *b, size_t i)
{
	return b->forward->u.FunctionDef.body.v[b->first + i];
}

/* Does a statement hold a return, other than being one? */
struct finding { enum py_kind kind; int found; };

static void find_kind(void *ctx, struct py_node *n)
{
	struct finding *f = ctx;

	f->found |= n->kind == f->kind;
	if (n->kind != PY_FunctionDef && n->kind != PY_Lambda)
		py_children(n, find_kind, f);
}

static int holds(const struct py_node *n, enum py_kind kind)
{
	struct finding f = { .kind = kind };

	py_children(n, find_kind, &f);
	return f.found;
}

/* Only names as arguments, and one return, at the end. */
static int is_plain(const struct body *b)
{
	const struct py_arguments *a = &b->forward->u.FunctionDef.args->u.arguments;

	if (a->posonlyargs.n || a->kwonlyargs.n || a->vararg || a->kwarg || a->args.n < 2 || !b->n)
		return 0;
	for (size_t i = 0; i < b->n; i++)
		if ((statement(b, i)->kind == PY_Return) != (i + 1 == b->n) || holds(statement(b, i), PY_Return))
			return 0;
	return statement(b, b->n - 1)->u.Return.value != NULL;
}

int body_open(struct body *b, struct str source, struct err *e)
{
	const struct py_list *list;

	*b = (struct body){ .n = 0 };
	if (py_parse(&b->m, source, "module", TEXT_MOST, e))
		return -1;
	edits_init(&b->at, &b->m);
	if (b->at.failed)
		return err_nomem(e);
	b->class = module_class(&b->m, STR("Model"));
	for (size_t i = 0; b->class && i < b->class->u.ClassDef.body.n; i++) {
		const struct py_node *n = b->class->u.ClassDef.body.v[i];

		if (n->kind == PY_FunctionDef && str_is(n->u.FunctionDef.name, "forward"))
			b->forward = n;
	}
	if (!b->forward)
		return 1;
	list = &b->forward->u.FunctionDef.body;
	b->first = list->v[0]->kind == PY_Expr && list->v[0]->u.Expr.value->kind == PY_Constant;
	b->n = list->n - b->first;
	return !is_plain(b);
}

void body_close(struct body *b)
{
	edits_release(&b->at);
	if (b->m.root)
		py_release(&b->m);
}

/* --- one call for each statement ---------------------------------------------------------------------- */

static const struct py_node *inner_call(const struct py_node *n, int root);

static const struct py_node *inner_of(const struct py_list *l)
{
	const struct py_node *found = NULL;

	for (size_t i = 0; i < l->n && !found; i++)
		found = inner_call(l->v[i], 0);
	return found;
}

/* The first innermost call of an expression, the expression itself left out. Conditional parts and
 * comprehensions are not entered: their calls may not happen. */
static const struct py_node *inner_call(const struct py_node *n, int root)
{
	const struct py_node *found = NULL;

	switch (n->kind) {
	case PY_Call:
		if (n->u.Call.func->kind == PY_Attribute)
			found = inner_call(n->u.Call.func->u.Attribute.value, 0);
		found = found ? found : inner_of(&n->u.Call.args);
		for (size_t i = 0; i < n->u.Call.keywords.n && !found; i++)
			found = inner_call(n->u.Call.keywords.v[i]->u.keyword.value, 0);
		return found || root ? found : n;
	case PY_BinOp:
		found = inner_call(n->u.BinOp.left, 0);
		return found ? found : inner_call(n->u.BinOp.right, 0);
	case PY_UnaryOp: return inner_call(n->u.UnaryOp.operand, 0);
	case PY_Attribute: return inner_call(n->u.Attribute.value, 0);
	case PY_Subscript: return inner_call(n->u.Subscript.value, 0);
	case PY_Tuple: return inner_of(&n->u.Tuple.elts);
	case PY_List: return inner_of(&n->u.List.elts);
	default: return NULL;
	}
}

static const struct py_node *value_of(const struct py_node *s)
{
	return s->kind == PY_Assign ? s->u.Assign.value : s->kind == PY_AugAssign ? s->u.AugAssign.value :
		s->kind == PY_Return ? s->u.Return.value : NULL;
}

int body_split(const struct body *b, int number, struct buf *out)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct py_node *s = statement(b, i), *v = value_of(s), *call = v ? inner_call(v, 1) : NULL;
		size_t at = edit_offset(&b->at, s->line, s->col), from, to;

		if (!call)
			continue;
		from = edit_offset(&b->at, call->line, call->col);
		to = edit_offset(&b->at, call->end_line, call->end_col);
		buf_add(out, b->m.source.p, at);
		buf_addf(out, "part_%d = (%.*s)\n%*s", number, STR_ARG(edit_text(&b->at, call)), body_indent(b), "");
		buf_add(out, b->m.source.p + at, from - at);
		buf_addf(out, "part_%d", number);
		buf_add(out, b->m.source.p + to, b->m.source.n - to);
		return 0;
	}
	return 1;
}

/* --- text ------------------------------------------------------------------------------------------------- */

int body_indent(const struct body *b)
{
	return b->forward->u.FunctionDef.body.v[0]->col;
}

void body_statement(const struct body *b, size_t i, struct buf *out)
{
	buf_addf(out, "%*s%.*s\n", body_indent(b), "", STR_ARG(edit_text(&b->at, statement(b, i))));
}

void body_replace(const struct body *b, struct str arguments, struct str text, struct buf *out)
{
	const struct py_node *f = b->forward;
	const struct py_arg *self = &f->u.FunctionDef.args->u.arguments.args.v[0]->u.arg;
	size_t from = edit_offset(&b->at, f->line, 0), to = edit_offset(&b->at, f->end_line, f->end_col);

	for (size_t i = 0; i < f->u.FunctionDef.decorator_list.n; i++)
		from = MIN(from, edit_offset(&b->at, f->u.FunctionDef.decorator_list.v[i]->line, 0));
	buf_add(out, b->m.source.p, from);
	buf_addf(out, "%*sdef forward(%.*s%s%.*s):\n%.*s", f->col, "", STR_ARG(self->arg), arguments.n ? ", " : "",
		 STR_ARG(arguments), STR_ARG(text));
	buf_add(out, b->m.source.p + to, b->m.source.n - to);
}

/* --- variables ---------------------------------------------------------------------------------------------- */

int names_have(const struct body_names *n, struct str name)
{
	for (int i = 0; i < n->n; i++)
		if (str_eq(n->v[i], name))
			return 1;
	return 0;
}

static void add_name(struct body_names *n, struct str name)
{
	if (names_have(n, name))
		return;
	if (n->n == BODY_NAMES)
		n->too_many = 1;
	else
		n->v[n->n++] = name;
}

void names_text(const struct body_names *n, struct buf *out)
{
	for (int i = 0; i < n->n; i++)
		buf_addf(out, "%s%.*s", i ? ", " : "", STR_ARG(n->v[i]));
}

/* Collects names below a node: those that are set, or all. */
struct collect { struct body_names *out; int set; };

static void collect_names(void *ctx, struct py_node *n)
{
	struct collect *c = ctx;

	if (n->kind == PY_Name && (!c->set || n->u.Name.ctx == PY_STORE))
		add_name(c->out, n->u.Name.id);
	py_children(n, collect_names, c);
}

static void names_in(const struct body *b, size_t from, size_t to, int set, struct body_names *out)
{
	struct collect c = { .out = out, .set = set };

	for (size_t i = from; i < to; i++)
		py_children(statement(b, i), collect_names, &c);
}

/* The arguments and the variables that statements before i set. */
static void names_before(const struct body *b, size_t i, struct body_names *out)
{
	const struct py_list *args = &b->forward->u.FunctionDef.args->u.arguments.args;

	*out = (struct body_names){ .n = 0 };
	for (size_t k = 1; k < args->n; k++)
		add_name(out, args->v[k]->u.arg.arg);
	names_in(b, 0, i, 1, out);
}

static void common(const struct body_names *a, const struct body_names *b, struct body_names *out)
{
	*out = (struct body_names){ .too_many = a->too_many | b->too_many };
	for (int i = 0; i < a->n; i++)
		if (names_have(b, a->v[i]))
			add_name(out, a->v[i]);
}

void body_live(const struct body *b, size_t i, struct body_names *out)
{
	body_reads(b, i, b->n, out);
}

void body_reads(const struct body *b, size_t from, size_t to, struct body_names *out)
{
	struct body_names before, used = { .n = 0 };

	names_before(b, from, &before);
	names_in(b, from, to, 0, &used);
	common(&before, &used, out);
}

void body_sets(const struct body *b, size_t from, size_t to, struct body_names *out)
{
	struct body_names set = { .n = 0 }, live;

	names_in(b, from, to, 1, &set);
	body_live(b, to, &live);
	common(&set, &live, out);
}
