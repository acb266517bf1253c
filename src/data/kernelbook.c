/* KernelBook to KernelBench: see kernelbook.h. Edits are collected from the tree and applied to
 * the source in one pass. Invariant: edits do not overlap. */
#include "data/kernelbook.h"

#include <stdlib.h>

#include "base/mem.h"
#include "data/module.h"

static const char mock_config[] =
	"class _mock_config:\n"
	"    def __init__(self, **values):\n"
	"        for name, value in values.items():\n"
	"            setattr(self, name, value)\n";

struct edit {
	size_t begin, end;
	const char *text;            /* borrowed until the edits are applied */
	size_t n;
};

struct edits {
	const struct py_module *m;
	struct { struct edit *v; size_t n, cap; } list;
	struct { size_t *v; size_t n, cap; } lines;      /* offset of each line's begin */
	struct str from;             /* the name that changes, and what to */
	const char *to;
	int uses_mock, failed;
	int odd;                     /* the text is not where the tree says (a line continued inside a name's statement) */
};

/* --- edits ---------------------------------------------------------------------------------- */

static void find_lines(struct edits *x)
{
	struct str s = x->m->source;

	x->failed |= vec_push(&x->lines, 0);
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\n')
			x->failed |= vec_push(&x->lines, i + 1);
}

static size_t offset_of(const struct edits *x, int line, int col)
{
	size_t at = (size_t)line <= x->lines.n ? x->lines.v[line - 1] + (size_t)col : x->m->source.n;

	return MIN(at, x->m->source.n);
}

static struct str text_of(const struct edits *x, const struct py_node *n)
{
	size_t begin = offset_of(x, n->line, n->col), end = offset_of(x, n->end_line, n->end_col);

	return (struct str){ .p = x->m->source.p + begin, .n = end > begin ? end - begin : 0 };
}

static void change(struct edits *x, size_t begin, size_t end, const char *text, size_t n)
{
	struct edit one = { .begin = begin, .end = end, .text = text, .n = n };

	x->failed |= vec_push(&x->list, one);
}

static int by_place(const void *a, const void *b)
{
	const struct edit *p = a, *q = b;

	return p->begin < q->begin ? -1 : p->begin > q->begin;
}

static void apply(struct edits *x, struct buf *out)
{
	size_t at = 0;

	if (x->list.n)
		qsort(x->list.v, x->list.n, sizeof *x->list.v, by_place);
	for (size_t i = 0; i < x->list.n; i++) {
		const struct edit *d = &x->list.v[i];

		if (d->begin < at)
			continue;
		buf_add(out, x->m->source.p + at, d->begin - at);
		buf_add(out, d->text, d->n);
		at = d->end;
	}
	buf_add(out, x->m->source.p + at, x->m->source.n - at);
}

static void change_name(struct edits *x, size_t begin)
{
	struct str there = { .p = x->m->source.p + begin, .n = MIN(x->from.n, x->m->source.n - begin) };

	if (!str_eq(there, x->from))
		x->odd = 1;
	else
		change(x, begin, begin + x->from.n, x->to, strlen(x->to));
}

/* Every use of the name, and the class statement that makes it. */
static void rename_in(void *ctx, struct py_node *n)
{
	struct edits *x = ctx;

	if (n->kind == PY_Name) {
		x->uses_mock |= str_is(n->u.Name.id, "_mock_config");
		if (str_eq(n->u.Name.id, x->from))
			change_name(x, offset_of(x, n->line, n->col));
	} else if (n->kind == PY_ClassDef && str_eq(n->u.ClassDef.name, x->from)) {
		size_t at = offset_of(x, n->line, n->col) + strlen("class");

		while (at < x->m->source.n && (x->m->source.p[at] == ' ' || x->m->source.p[at] == '\t'))
			at++;
		change_name(x, at);
	}
	py_children(n, rename_in, x);
}

/* Nothing but white space beside the statement on its lines. */
static int is_alone(const struct edits *x, const struct py_node *n)
{
	struct str s = x->m->source;
	size_t begin = offset_of(x, n->line, n->col), end = offset_of(x, n->end_line, n->end_col);

	while (begin && (s.p[begin - 1] == ' ' || s.p[begin - 1] == '\t'))
		begin--;
	while (end < s.n && (s.p[end] == ' ' || s.p[end] == '\t'))
		end++;
	return (!begin || s.p[begin - 1] == '\n') && (end == s.n || s.p[end] == '\n');
}

static void replace_mock(struct edits *x)
{
	const struct py_list *body = &x->m->root->u.Module.body;

	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *n = body->v[i];

		if (n->kind != PY_ImportFrom || !n->u.ImportFrom.module.p || !str_is(n->u.ImportFrom.module, "_paritybench_helpers"))
			continue;
		x->odd |= !is_alone(x, n);
		change(x, offset_of(x, n->line, n->col), offset_of(x, n->end_line, n->end_col), mock_config,
		       x->uses_mock ? sizeof mock_config - 1 : 0);
	}
}

static int is_clear(const struct py_node *n)
{
	const struct py_node *call = n->kind == PY_Expr ? n->u.Expr.value : NULL;
	const struct py_node *f = call && call->kind == PY_Call ? call->u.Call.func : NULL;

	return f && f->kind == PY_Attribute && str_is(f->u.Attribute.attr, "clear") && f->u.Attribute.value->kind == PY_Name &&
	       str_is(f->u.Attribute.value->u.Name.id, "args");
}

/* Inductor's `args.clear()` gives memory back early. To the judge it is a change of what the
 * caller holds, so it goes, with its line. */
static void drop_clear(struct edits *x)
{
	const struct py_node *f = module_function(x->m, STR("call"));

	for (size_t i = 0; f && f->u.FunctionDef.body.n > 1 && i < f->u.FunctionDef.body.n; i++) {
		const struct py_node *n = f->u.FunctionDef.body.v[i];

		if (is_clear(n) && is_alone(x, n) && n->line == n->end_line && (size_t)n->line < x->lines.n) {
			change(x, x->lines.v[n->line - 1], x->lines.v[n->line], "", 0);
			return;
		}
	}
}

static void edits_release(struct edits *x)
{
	vec_free(&x->list);
	vec_free(&x->lines);
}

/* --- get_init_inputs ------------------------------------------------------------------------- */

/* The expression that the function returns, where its body is that alone. */
static const struct py_node *returned(const struct py_node *f)
{
	const struct py_list *b = &f->u.FunctionDef.body;
	const struct py_node *last = b->n ? b->v[b->n - 1] : NULL;

	return last && b->n == 1 && last->kind == PY_Return ? last->u.Return.value : NULL;
}

/* The value that kwargs give to a parameter, or NULL. */
static const struct py_node *given(const struct py_Dict *d, struct str name)
{
	for (size_t i = 0; i < d->keys.n; i++)
		if (str_eq(d->keys.v[i]->u.Constant.value.s, name))
			return d->values.v[i];
	return NULL;
}

static int all_words(const struct py_Dict *d)
{
	for (size_t i = 0; i < d->keys.n; i++)
		if (!d->keys.v[i] || d->keys.v[i]->kind != PY_Constant || d->keys.v[i]->u.Constant.value.kind != PY_C_STR)
			return 0;
	return 1;
}

static int is_nested(const struct py_node *v)
{
	return v && v->kind == PY_List && v->u.List.elts.n == 2 && v->u.List.elts.v[0]->kind == PY_List &&
	       v->u.List.elts.v[1]->kind == PY_Dict && all_words(&v->u.List.elts.v[1]->u.Dict);
}

static void add_item(struct buf *out, struct str text)
{
	buf_adds(out, out->n > 1 ? ", " : "");
	buf_addstr(out, text);
}

/* [args, then kwargs in the order of the constructor's parameters] into `out`; 0 when there is
 * no such order: a default in between that is not a plain value, keyword-only parameters. */
static int flatten(const struct edits *x, const struct py_node *nested, const struct py_node *init, struct buf *out)
{
	const struct py_List *args = &nested->u.List.elts.v[0]->u.List;
	const struct py_Dict *kw = &nested->u.List.elts.v[1]->u.Dict;
	const struct py_arguments *p = init ? &init->u.FunctionDef.args->u.arguments : NULL;
	size_t placed = 0;

	buf_addc(out, '[');
	for (size_t i = 0; i < args->elts.n; i++)
		add_item(out, text_of(x, args->elts.v[i]));
	if (kw->keys.n && (!p || p->posonlyargs.n || p->args.n < 1 + args->elts.n))
		return 0;
	for (size_t i = 1 + args->elts.n; placed < kw->keys.n && i < p->args.n; i++) {
		const struct py_node *v = given(kw, p->args.v[i]->u.arg.arg);
		size_t first = p->args.n - p->defaults.n;

		placed += v != NULL;
		if (!v && i >= first && p->defaults.v[i - first]->kind == PY_Constant)
			v = p->defaults.v[i - first];
		if (!v)
			return 0;
		add_item(out, text_of(x, v));
	}
	buf_addc(out, ']');
	return placed == kw->keys.n;
}

static void flatten_inputs(struct edits *x, const struct py_node *class, struct buf *flat)
{
	const struct py_node *f = module_function(x->m, STR("get_init_inputs"));
	const struct py_node *v = f ? returned(f) : NULL;

	/* The name that changes is rare in there, and would need an edit inside an edit. */
	if (is_nested(v) && str_find(text_of(x, v), x->from) < 0 && flatten(x, v, class_method(x->m, class, STR("__init__")), flat))
		change(x, offset_of(x, v->line, v->col), offset_of(x, v->end_line, v->end_col), buf_cstr(flat), flat->n);
}

/* --- the two texts ----------------------------------------------------------------------------- */

static int is_taken(const struct py_module *m, struct str own, const char *name)
{
	return !str_is(own, name) && (module_class(m, str_of(name)) || module_function(m, str_of(name)));
}

int kernelbook_task(const struct py_module *m, struct str entry, struct buf *out, enum prep_drop *drop, struct err *e)
{
	struct edits x = { .m = m, .from = entry, .to = "Model" };
	const struct py_node *class = module_class(m, entry);
	struct buf flat = BUF_INIT;
	int rc;

	*drop = PREP_KEPT;
	if (!class || !class_method(m, class, STR("forward")))
		*drop = PREP_DROP_no_entry;
	else if (!module_function(m, STR("get_inputs")) || !module_function(m, STR("get_init_inputs")))
		*drop = PREP_DROP_no_inputs;
	else if (is_taken(m, entry, "Model"))
		*drop = PREP_DROP_name_taken;
	if (*drop != PREP_KEPT)
		return 0;
	find_lines(&x);
	if (!x.failed) {
		rename_in(&x, m->root);
		replace_mock(&x);
		flatten_inputs(&x, class, &flat);
	}
	apply(&x, out);
	if (x.odd)
		*drop = PREP_DROP_not_converted;
	rc = x.failed || buf_check(&flat, e) || buf_check(out, e) ? err_nomem(e) : 0;
	buf_release(&flat);
	edits_release(&x);
	return rc;
}

int kernelbook_solution(const struct py_module *m, struct str entry, struct buf *out, enum prep_drop *drop, struct err *e)
{
	struct buf name = BUF_INIT;
	struct edits x = { .m = m, .to = "ModelNew" };
	int rc;

	buf_addstr(&name, entry);
	buf_adds(&name, "New");
	x.from = buf_str(&name);
	*drop = !module_class(m, x.from) ? PREP_DROP_no_solution : is_taken(m, x.from, "ModelNew") ? PREP_DROP_name_taken :
		!module_kernels(m) ? PREP_DROP_no_kernel : PREP_KEPT;
	if (*drop == PREP_KEPT) {
		find_lines(&x);
		if (!x.failed) {
			rename_in(&x, m->root);
			replace_mock(&x);
			drop_clear(&x);
		}
		apply(&x, out);
		if (x.odd)
			*drop = PREP_DROP_not_converted;
	}
	rc = x.failed || buf_check(&name, e) || buf_check(out, e) ? err_nomem(e) : 0;
	buf_release(&name);
	edits_release(&x);
	return rc;
}
