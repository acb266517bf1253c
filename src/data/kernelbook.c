/* Rewrites a row of KernelBook in KernelBench's form: kernelbook.h has the differences. Edits are
 * collected from the syntax tree and applied to the source in one pass, so comments and layout
 * stay. */
#include "data/kernelbook.h"

#include "base/mem.h"
#include "data/edit.h"
#include "data/module.h"

/* KernelBook's rows import this class from a helper that users do not have. */
static const char mock_config[] =
	"class _mock_config:\n"
	"    def __init__(self, **values):\n"
	"        for name, value in values.items():\n"
	"            setattr(self, name, value)\n";

enum { IMPORTS_MOST = 64 };

/* A name that an import binds. */
struct import {
	const struct py_node *stmt;
	struct str name;             /* bound: the alias, or what is before the first dot */
	struct str path;             /* "torch.utils.data" where it was imported without an alias */
	int used;
};

/* The state of one conversion. */
struct conversion {
	struct edits edits;
	struct arena texts;          /* of edits */
	const struct py_module *m;
	struct str from;             /* the name that changes, and what to */
	const char *to;
	struct import import[IMPORTS_MOST];
	int n_imports;
	int uses_mock;
	/* the text is not where the tree says: a line that is continued, two statements on one */
	int odd;
};

/* --- imports ------------------------------------------------------------------------------ */

/* Is it the import of KernelBook's helper? */
static int is_mock(const struct py_node *n)
{
	return n->kind == PY_ImportFrom && n->u.ImportFrom.module.p && str_is(n->u.ImportFrom.module,
			"_paritybench_helpers");
}

/* Notes a name that an import statement binds. */
static void add_import(struct conversion *x, const struct py_node *stmt, const struct py_alias *a)
{
	struct str rest = a->name, root = str_cut(&rest, '.');
	struct import one = { .stmt = stmt, .name = a->asname.p ? a->asname : root };

	if (!a->asname.p && rest.n)
		one.path = a->name;
	one.used = str_is(a->name, "*");
	x->import[x->n_imports++] = one;
}

/* Notes the imports of the module, up to a fixed number. Further imports are not changed. */
static void find_imports(struct conversion *x)
{
	const struct py_list *body = &x->m->root->u.Module.body;

	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *n = body->v[i];
		const struct py_list *names = n->kind == PY_Import ? &n->u.Import.names :
			n->kind == PY_ImportFrom ? &n->u.ImportFrom.names : NULL;

		if (!names || is_mock(n) || (n->kind == PY_ImportFrom && n->u.ImportFrom.module.p &&
					     str_is(n->u.ImportFrom.module, "__future__")))
			continue;
		if (x->n_imports + names->n > IMPORTS_MOST)
			return;
		for (size_t k = 0; k < names->n; k++)
			add_import(x, n, &names->v[k]->u.alias);
	}
}

/* Marks the imports that bind this name as used. */
static void note_use(struct conversion *x, struct str name)
{
	for (int i = 0; i < x->n_imports; i++)
		x->import[i].used |= str_eq(x->import[i].name, name);
}

/* How often a text occurs in another. */
static int count_in(struct str text, struct str what)
{
	ptrdiff_t at;
	int n = 0;

	while ((at = str_find(text, what)) >= 0) {
		size_t step = (size_t)at + what.n;

		text = (struct str){ .p = text.p + step, .n = text.n - step };
		n++;
	}
	return n;
}

/* `import a.b.c` is needed if a.b.c occurs elsewhere, or if no other import binds a. */
static int path_is_used(const struct conversion *x, const struct import *one)
{
	const struct py_node *last = NULL;
	int uses = count_in(x->m->source, one->path), bound = 0;

	for (int i = 0; i < x->n_imports; i++) {
		const struct import *other = &x->import[i];

		if (other->stmt != last)
			uses -= count_in(edit_text(&x->edits, other->stmt), one->path);
		bound |= !other->path.n && str_eq(other->name, one->name);
		last = other->stmt;
	}
	return uses > 0 || !bound;
}

/* Drops imports that nothing uses. Rows of KernelBook keep the imports of the file they were cut
 * from, and many name modules that neither the task nor the judge knows. */
static void drop_imports(struct conversion *x)
{
	for (int i = 0, k; i < x->n_imports; i = k) {
		int used = 0;

		for (k = i; k < x->n_imports && x->import[k].stmt == x->import[i].stmt; k++)
			used |= x->import[k].used && (!x->import[k].path.n || path_is_used(x, &x->import[k]));
		if (!used)
			edit_drop_lines(&x->edits, x->import[i].stmt);
	}
}

/* --- names -------------------------------------------------------------------------------- */

/* Replaces the class name at an offset. If the text there is another, the tree and the text
 * disagree (a continued line) and the row is given up. */
static void change_name(struct conversion *x, size_t begin)
{
	struct str there = { .p = x->m->source.p + begin, .n = MIN(x->from.n, x->m->source.n - begin) };

	if (!str_eq(there, x->from))
		x->odd = 1;
	else
		edit_change(&x->edits, begin, begin + x->from.n, x->to, strlen(x->to));
}

/* Renames every use of the class and the class statement itself. */
static void rename_in(void *ctx, struct py_node *n)
{
	struct conversion *x = ctx;

	if (n->kind == PY_Name) {
		x->uses_mock |= str_is(n->u.Name.id, "_mock_config");
		note_use(x, n->u.Name.id);
		if (str_eq(n->u.Name.id, x->from))
			change_name(x, edit_offset(&x->edits, n->line, n->col));
	} else if (n->kind == PY_ClassDef && str_eq(n->u.ClassDef.name, x->from)) {
		size_t at = edit_offset(&x->edits, n->line, n->col) + strlen("class");

		while (at < x->m->source.n && (x->m->source.p[at] == ' ' || x->m->source.p[at] == '\t'))
			at++;
		change_name(x, at);
	}
	py_children(n, rename_in, x);
}

/* Replaces the import of the helper by the class itself, or by nothing if it is not used. */
static void replace_mock(struct conversion *x)
{
	const struct py_list *body = &x->m->root->u.Module.body;

	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *n = body->v[i];

		if (!is_mock(n))
			continue;
		x->odd |= !edit_is_alone(&x->edits, n);
		edit_change(&x->edits, edit_offset(&x->edits, n->line, n->col),
			    edit_offset(&x->edits, n->end_line, n->end_col),
			    mock_config, x->uses_mock ? sizeof mock_config - 1 : 0);
	}
}

/* The changes that task and solution both need. */
static void convert(struct conversion *x)
{
	find_imports(x);
	rename_in(x, x->m->root);
	replace_mock(x);
	drop_imports(x);
}

/* Is the statement `args.clear()`? */
static int is_clear(const struct py_node *n)
{
	const struct py_node *call = n->kind == PY_Expr ? n->u.Expr.value : NULL;
	const struct py_node *f = call && call->kind == PY_Call ? call->u.Call.func : NULL;

	return f && f->kind == PY_Attribute && str_is(f->u.Attribute.attr, "clear") &&
		f->u.Attribute.value->kind == PY_Name &&
	       str_is(f->u.Attribute.value->u.Name.id, "args");
}

/* Inductor's `args.clear()` frees memory early. The judge would see it as a change of the caller's
 * list, so the line is deleted. */
static void drop_clear(struct conversion *x)
{
	const struct py_node *f = module_function(x->m, STR("call"));

	for (size_t i = 0; f && f->u.FunctionDef.body.n > 1 && i < f->u.FunctionDef.body.n; i++) {
		const struct py_node *n = f->u.FunctionDef.body.v[i];

		if (is_clear(n) && edit_drop_lines(&x->edits, n))
			return;
	}
}

/* --- get_init_inputs and get_inputs ------------------------------------------------------- */

/* The expression that a function of one statement returns, or NULL. */
static const struct py_node *returned(const struct py_node *f)
{
	const struct py_list *b = &f->u.FunctionDef.body;
	const struct py_node *last = b->n ? b->v[b->n - 1] : NULL;

	return last && b->n == 1 && last->kind == PY_Return ? last->u.Return.value : NULL;
}

/* The value that the keyword arguments have for a parameter, or NULL. */
static const struct py_node *given(const struct py_Dict *d, struct str name)
{
	for (size_t i = 0; i < d->keys.n; i++)
		if (str_eq(d->keys.v[i]->u.Constant.value.s, name))
			return d->values.v[i];
	return NULL;
}

/* Are all keys of the dict strings? */
static int all_words(const struct py_Dict *d)
{
	for (size_t i = 0; i < d->keys.n; i++)
		if (!d->keys.v[i] || d->keys.v[i]->kind != PY_Constant ||
		    d->keys.v[i]->u.Constant.value.kind != PY_C_STR)
			return 0;
	return 1;
}

/* Is it KernelBook's form, [[positional arguments], {keyword arguments}]? */
static int is_nested(const struct py_node *v)
{
	return v && v->kind == PY_List && v->u.List.elts.n == 2 && v->u.List.elts.v[0]->kind == PY_List &&
	       v->u.List.elts.v[1]->kind == PY_Dict && all_words(&v->u.List.elts.v[1]->u.Dict);
}

/* Appends an element to a list in the text. */
static void add_item(struct buf *out, struct str text)
{
	buf_adds(out, out->n > 1 ? ", " : "");
	buf_addstr(out, text);
}

/* Writes KernelBench's form: positional arguments, then the keyword arguments in the order of the
 * constructor's parameters. Example: [[], {'dim': 4, 'p': 2}] for __init__(self, dim, p) becomes
 * [4, 2]. Returns 0 if there is no such order: a parameter in between has no plain default, or
 * there are keyword-only parameters. */
static int flatten(const struct conversion *x, const struct py_node *nested, const struct py_node *init,
		   struct buf *out)
{
	const struct py_List *args = &nested->u.List.elts.v[0]->u.List;
	const struct py_Dict *kw = &nested->u.List.elts.v[1]->u.Dict;
	const struct py_arguments *p = init ? &init->u.FunctionDef.args->u.arguments : NULL;
	size_t placed = 0;

	buf_addc(out, '[');
	for (size_t i = 0; i < args->elts.n; i++)
		add_item(out, edit_text(&x->edits, args->elts.v[i]));
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
		add_item(out, edit_text(&x->edits, v));
	}
	buf_addc(out, ']');
	return placed == kw->keys.n;
}

/* The nested list that a function of this name returns, or NULL. */
static const struct py_node *nested_in(const struct py_module *m, const char *function)
{
	const struct py_node *f = module_function(m, str_of(function));
	const struct py_node *v = f ? returned(f) : NULL;

	return is_nested(v) ? v : NULL;
}

/* Number of parameters without a default that a method has after self. */
static size_t needed(const struct py_node *method)
{
	const struct py_arguments *a = &method->u.FunctionDef.args->u.arguments;

	return a->args.n - MIN(a->args.n, a->defaults.n + 1);
}

/* get_inputs may really return a list and a dict. Keyword arguments name parameters, which flatten
 * checks; an empty dict holds keyword arguments if the list has as many values as
 * forward needs. */
static int are_arguments(const struct py_node *nested, const struct py_node *forward)
{
	return nested->u.List.elts.v[1]->u.Dict.keys.n ||
	       (forward && needed(forward) == nested->u.List.elts.v[0]->u.List.elts.n && needed(forward) != 2);
}

int kernelbook_is_nested(const struct py_module *m)
{
	return nested_in(m, "get_init_inputs") || nested_in(m, "get_inputs");
}

/* Rewrites what a function returns as the arguments of `method`, if it can be flattened. */
static void flatten_inputs(struct conversion *x, const char *function, const struct py_node *method)
{
	const struct py_node *v = nested_in(x->m, function);
	struct buf flat = BUF_INIT;
	char *text = NULL;

	/* The name that changes is rare in there, and would need an edit inside an edit. */
	if (v && str_find(edit_text(&x->edits, v), x->from) < 0 && flatten(x, v, method, &flat)) {
		text = arena_strndup(&x->texts, buf_cstr(&flat), flat.n);
		x->edits.failed |= flat.failed || !text;
	}
	if (text)
		edit_change(&x->edits, edit_offset(&x->edits, v->line, v->col),
			    edit_offset(&x->edits, v->end_line, v->end_col), text, flat.n);
	buf_release(&flat);
}

/* Both lists of arguments. get_inputs goes to forward, get_init_inputs to __init__. */
static void flatten_both(struct conversion *x, const struct py_node *class)
{
	const struct py_node *forward = module_method(x->m, class, STR("forward"));
	const struct py_node *v = nested_in(x->m, "get_inputs");

	flatten_inputs(x, "get_init_inputs", module_method(x->m, class, STR("__init__")));
	if (v && are_arguments(v, forward))
		flatten_inputs(x, "get_inputs", forward);
}

/* --- the two texts ------------------------------------------------------------------------ */

/* Does the module use the new name for something else? */
static int is_taken(const struct py_module *m, struct str own, const char *name)
{
	return !str_is(own, name) && (module_class(m, str_of(name)) || module_function(m, str_of(name)));
}

/* Turns a KernelBook module into a task: the class `entry` becomes Model, and nested lists of
 * arguments are flattened. A row that cannot become a task sets *drop to the reason. */
int kernelbook_task(const struct py_module *m, struct str entry, struct buf *out, enum prep_drop *drop, struct err *e)
{
	struct conversion x = { .m = m, .from = entry, .to = "Model" };
	const struct py_node *class = module_class(m, entry);
	int rc;

	*drop = PREP_KEPT;
	if (!module_has_forward(m, class))
		*drop = PREP_DROP_no_entry;
	else if (!module_function(m, STR("get_inputs")) || !module_function(m, STR("get_init_inputs")))
		*drop = PREP_DROP_no_inputs;
	else if (is_taken(m, entry, "Model"))
		*drop = PREP_DROP_name_taken;
	if (*drop != PREP_KEPT)
		return 0;
	edits_init(&x.edits, m);
	if (!x.edits.failed) {
		convert(&x);
		flatten_both(&x, class);
	}
	edits_apply(&x.edits, out);
	if (x.odd)
		*drop = PREP_DROP_not_converted;
	rc = x.edits.failed || buf_check(out, e) ? err_nomem(e) : 0;
	arena_release(&x.texts);
	edits_release(&x.edits);
	return rc;
}

/* Turns the Triton code of a KernelBook row into a solution: the class `entry`New becomes ModelNew.
 * Code without a kernel is dropped, because it teaches a model to call PyTorch. */
int kernelbook_solution(const struct py_module *m, struct str entry, struct buf *out, enum prep_drop *drop,
			struct err *e)
{
	struct buf name = BUF_INIT;
	struct conversion x = { .m = m, .to = "ModelNew" };
	int rc;

	buf_addstr(&name, entry);
	buf_adds(&name, "New");
	x.from = module_class(m, buf_str(&name)) ? buf_str(&name) : STR("ModelNew");
	*drop = !module_class(m, x.from) ? PREP_DROP_no_solution : is_taken(m, x.from, "ModelNew") ?
		PREP_DROP_name_taken :
		!module_kernels(m) ? PREP_DROP_no_kernel : PREP_KEPT;
	if (*drop == PREP_KEPT) {
		edits_init(&x.edits, m);
		if (!x.edits.failed) {
			convert(&x);
			drop_clear(&x);
		}
		edits_apply(&x.edits, out);
		if (x.odd)
			*drop = PREP_DROP_not_converted;
	}
	rc = x.edits.failed || buf_check(&name, e) || buf_check(out, e) ? err_nomem(e) : 0;
	buf_release(&name);
	edits_release(&x.edits);
	return rc;
}
