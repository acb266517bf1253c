/* Joins solutions: see join.h. The kernels of each part get its number in their names, its forward becomes a
 * method of the joined class, and the constructor is the module's own: so all parameters keep their names. */
#include "write/join.h"

#include <stdio.h>

#include "base/mem.h"
#include "data/module.h"

enum { TEXT_MOST = 1 << 28 };

/* The text under construction. */
struct joining {
	const struct body *b;
	struct buf imports, kernels, forward, methods;
	struct body_names own;        /* names of the part in work that get its number */
	struct edits edits;           /* of the part in work */
	struct arena names;
	int number;
};

/* --- names of a part ------------------------------------------------------------------------------------ */

static int is_for_task(struct str name)
{
	return str_is(name, "get_inputs") || str_is(name, "get_init_inputs");
}

/* The name that a statement of a part defines, for the joined text; empty: it is left out. */
static struct str defines(const struct joining *j, const struct py_node *n)
{
	const struct py_list *targets = n->kind == PY_Assign ? &n->u.Assign.targets : NULL;
	const struct py_node *target = targets && targets->n == 1 ? targets->v[0] : NULL;

	if (n->kind == PY_FunctionDef && !is_for_task(n->u.FunctionDef.name))
		return n->u.FunctionDef.name;
	if (n->kind == PY_ClassDef && !str_is(n->u.ClassDef.name, "ModelNew") && !str_is(n->u.ClassDef.name, "Model") &&
	    !module_class(&j->b->m, n->u.ClassDef.name))
		return n->u.ClassDef.name;
	return target && target->kind == PY_Name ? target->u.Name.id : STR("");
}

static void rename_at(struct joining *j, size_t at, struct str name)
{
	const char *text = arena_printf(&j->names, "part%d_%.*s", j->number, STR_ARG(name));

	if (!text || at + name.n > j->edits.m->source.n || memcmp(j->edits.m->source.p + at, name.p, name.n))
		j->edits.failed |= !text;
	else
		edit_change(&j->edits, at, at + name.n, text, strlen(text));
}

static void rename_in(void *ctx, struct py_node *n)
{
	struct joining *j = ctx;
	size_t at = edit_offset(&j->edits, n->line, n->col);

	if (n->kind == PY_Name && names_have(&j->own, n->u.Name.id))
		rename_at(j, at, n->u.Name.id);
	else if (n->kind == PY_FunctionDef && !n->col && names_have(&j->own, n->u.FunctionDef.name))
		rename_at(j, at + strlen("def "), n->u.FunctionDef.name);
	else if (n->kind == PY_ClassDef && names_have(&j->own, n->u.ClassDef.name))
		rename_at(j, at + strlen("class "), n->u.ClassDef.name);
	py_children(n, rename_in, j);
}

/* The solution with the part's number in the names that it defines. */
static int rename_part(struct joining *j, struct str solution, struct buf *out, struct err *e)
{
	struct py_module m;
	int rc;

	if (py_parse(&m, solution, "part", TEXT_MOST, e))
		return -1;
	edits_init(&j->edits, &m);
	j->own = (struct body_names){ .n = 0 };
	for (size_t i = 0; i < m.root->u.Module.body.n; i++) {
		struct str name = defines(j, m.root->u.Module.body.v[i]);

		if (name.n && !names_have(&j->own, name) && j->own.n < BODY_NAMES)
			j->own.v[j->own.n++] = name;
	}
	rename_in(j, m.root);
	if (!j->edits.failed)
		edits_apply(&j->edits, out);
	rc = j->edits.failed || buf_check(out, e) ? err_nomem(e) : 0;
	edits_release(&j->edits);
	py_release(&m);
	return rc;
}

/* --- parts ------------------------------------------------------------------------------------------------- */

/* Appends a statement with its decorators. */
static void add_whole(const struct edits *x, const struct py_node *n, struct buf *out)
{
	int line = n->line;
	size_t from, to = edit_offset(x, n->end_line, n->end_col);

	if (n->kind == PY_FunctionDef && n->u.FunctionDef.decorator_list.n)
		line = n->u.FunctionDef.decorator_list.v[0]->line;
	from = edit_offset(x, line, 0);
	buf_addf(out, "%.*s\n\n\n", (int)(to - from), x->m->source.p + from);
}

/* Each import once. */
static void add_import(struct joining *j, struct str text)
{
	struct buf line = BUF_INIT;

	buf_addf(&line, "%.*s\n", STR_ARG(text));
	if (str_find(buf_str(&j->imports), buf_str(&line)) < 0)
		buf_addstr(&j->imports, buf_str(&line));
	buf_release(&line);
}

/* The forward of a part becomes a method. Returns 1 if it is not indented as the module's own. */
static int add_method(struct joining *j, const struct edits *x, const struct py_node *class)
{
	for (size_t i = 0; class && i < class->u.ClassDef.body.n; i++) {
		const struct py_node *f = class->u.ClassDef.body.v[i];
		struct str text = edit_text(x, f);

		if (f->kind != PY_FunctionDef || !str_is(f->u.FunctionDef.name, "forward"))
			continue;
		if (f->col != j->b->forward->col || !str_starts(text, "def forward"))
			return 1;
		text.p += strlen("def forward");
		text.n -= strlen("def forward");
		buf_addf(&j->methods, "\n%*sdef part%d%.*s\n", f->col, "", j->number, STR_ARG(text));
		return 0;
	}
	return 1;
}

static int add_part(struct joining *j, struct str solution, struct err *e)
{
	struct buf text = BUF_INIT;
	struct py_module m;
	struct edits x;
	int rc = rename_part(j, solution, &text, e) || py_parse(&m, buf_str(&text), "part", TEXT_MOST, e) ? -1 : 0;

	if (!rc) {
		edits_init(&x, &m);
		for (size_t i = 0; i < m.root->u.Module.body.n; i++) {
			const struct py_node *n = m.root->u.Module.body.v[i];

			if (n->kind == PY_Import || n->kind == PY_ImportFrom)
				add_import(j, edit_text(&x, n));
			else if (defines(j, n).n)
				add_whole(&x, n, &j->kernels);
		}
		rc = x.failed ? err_nomem(e) : add_method(j, &x, module_class(&m, STR("ModelNew")));
		edits_release(&x);
		py_release(&m);
	}
	buf_release(&text);
	return rc;
}

/* --- the whole --------------------------------------------------------------------------------------------- */

/* The line of forward that calls a part. */
static void add_call(struct joining *j, const struct forward_piece *p)
{
	struct body_names reads, sets;

	body_reads(j->b, p->from, p->to, &reads);
	body_sets(j->b, p->from, p->to, &sets);
	buf_addf(&j->forward, "%*s", body_indent(j->b), "");
	if (p->to == j->b->n) {
		buf_adds(&j->forward, "return");
	} else {
		names_text(&sets, &j->forward);
		buf_adds(&j->forward, " =");
	}
	buf_addf(&j->forward, " self.part%d(", j->number);
	names_text(&reads, &j->forward);
	buf_adds(&j->forward, ")\n");
}

/* Model becomes ModelNew; the functions of the task are left out. */
static void rename_model(void *ctx, struct py_node *n)
{
	struct edits *x = ctx;
	size_t at = edit_offset(x, n->line, n->col);

	if (n->kind == PY_Name && str_is(n->u.Name.id, "Model"))
		edit_change(x, at, at + strlen("Model"), "ModelNew", strlen("ModelNew"));
	else if (n->kind == PY_ClassDef && str_is(n->u.ClassDef.name, "Model"))
		edit_change(x, at, at + strlen("class Model"), "class ModelNew", strlen("class ModelNew"));
	else if (n->kind == PY_FunctionDef && is_for_task(n->u.FunctionDef.name))
		edit_drop_lines(x, n);
	py_children(n, rename_model, x);
}

static int finish(struct joining *j, struct buf *out, struct err *e)
{
	const struct py_list *args = &j->b->forward->u.FunctionDef.args->u.arguments.args;
	const struct py_arguments *a = &j->b->forward->u.FunctionDef.args->u.arguments;
	struct buf names = BUF_INIT, whole = BUF_INIT;
	struct py_module m;
	struct edits x;
	int rc;

	for (size_t i = 1; i < args->n; i++) {
		size_t first = args->n - a->defaults.n;

		buf_addf(&names, "%s%.*s", i > 1 ? ", " : "", STR_ARG(args->v[i]->u.arg.arg));
		if (i >= first)
			buf_addf(&names, "=%.*s", STR_ARG(edit_text(&j->b->at, a->defaults.v[i - first])));
	}
	buf_addstr(&j->forward, buf_str(&j->methods));
	body_replace(j->b, buf_str(&names), buf_str(&j->forward), &whole);
	rc = py_parse(&m, buf_str(&whole), "joined", TEXT_MOST, e);
	if (!rc) {
		buf_addstr(out, buf_str(&j->imports));
		buf_adds(out, "\n\n");
		buf_addstr(out, buf_str(&j->kernels));
		edits_init(&x, &m);
		rename_model(&x, m.root);
		edits_apply(&x, out);
		rc = x.failed || buf_check(out, e) ? err_nomem(e) : 0;
		edits_release(&x);
		py_release(&m);
	}
	buf_release(&names);
	buf_release(&whole);
	return rc;
}

int join_pieces(const struct body *b, const struct forward_piece *v, size_t n, struct buf *out, struct err *e)
{
	struct joining j = { .b = b };
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		if (v[i].solution.n) {
			j.number++;
			rc = add_part(&j, buf_str(&v[i].solution), e);
			add_call(&j, &v[i]);
			continue;
		}
		for (size_t k = v[i].from; k < v[i].to; k++)
			body_statement(b, k, &j.forward);
	}
	if (!rc)
		rc = finish(&j, out, e);
	arena_release(&j.names);
	buf_release(&j.imports);
	buf_release(&j.kernels);
	buf_release(&j.forward);
	buf_release(&j.methods);
	return rc;
}
