/* Printing statements and modules: one function per kind of statement. Each prints its own
 * newline. Indentation is four spaces. */
#include "py/print.h"

static void begin_line(struct py_printer *p)
{
	buf_pad(p->out, ' ', (size_t)p->indent * 4);
}

/* The statements of a block, one level deeper. */
static void print_body(struct py_printer *p, const struct py_list *body)
{
	p->indent++;
	for (size_t i = 0; i < body->n; i++)
		py_print_stmt(p, body->v[i]);
	p->indent--;
}

/* The colon that ends the first line of a compound statement, and its block. */
static void print_block(struct py_printer *p, const struct py_list *body)
{
	buf_adds(p->out, ":\n");
	print_body(p, body);
}

/* else, finally: printed only if there is a body. */
static void print_clause(struct py_printer *p, const char *word, const struct py_list *body)
{
	if (!body->n)
		return;
	begin_line(p);
	buf_adds(p->out, word);
	print_block(p, body);
}

/* global a, b. */
static void print_ids(struct py_printer *p, const char *word, const struct py_ids *ids)
{
	buf_adds(p->out, word);
	for (size_t i = 0; i < ids->n; i++)
		buf_addf(p->out, "%s%.*s", i ? ", " : " ", STR_ARG(ids->v[i]));
	buf_addc(p->out, '\n');
}

/* --- simple statements --------------------------------------------------------------------- */

/* word value second_word second; both values are optional: `raise X from Y`, `assert x, msg`. */
static void print_optional(struct py_printer *p, const char *word, const struct py_node *value,
			   const char *second_word, const struct py_node *second)
{
	buf_adds(p->out, word);
	if (value) {
		buf_addc(p->out, ' ');
		py_print_expr(p, value, P_TEST);
	}
	if (second) {
		buf_adds(p->out, second_word);
		py_print_expr(p, second, P_TEST);
	}
	buf_addc(p->out, '\n');
}

/* return a, b without parentheses. */
static void print_return(struct py_printer *p, const struct py_node *n)
{
	buf_adds(p->out, "return");
	if (n->u.Return.value) {
		buf_addc(p->out, ' ');
		py_print_bare(p, n->u.Return.value);
	}
	buf_addc(p->out, '\n');
}

static void print_delete(struct py_printer *p, const struct py_node *n)
{
	buf_adds(p->out, "del ");
	py_print_list(p, &n->u.Delete.targets, P_TEST);
	buf_addc(p->out, '\n');
}

/* a = b = value, targets as bare tuples. */
static void print_assign(struct py_printer *p, const struct py_node *n)
{
	for (size_t i = 0; i < n->u.Assign.targets.n; i++) {
		py_print_bare(p, n->u.Assign.targets.v[i]);
		buf_adds(p->out, " = ");
	}
	py_print_value(p, n->u.Assign.value);
	buf_addc(p->out, '\n');
}

static void print_augassign(struct py_printer *p, const struct py_node *n)
{
	py_print_expr(p, n->u.AugAssign.target, P_ATOM);
	buf_addf(p->out, " %s= ", py_op_text(n->u.AugAssign.op));
	py_print_value(p, n->u.AugAssign.value);
	buf_addc(p->out, '\n');
}

/* (x): int keeps its parentheses, which make it "not simple". */
static void print_annassign(struct py_printer *p, const struct py_node *n)
{
	int parens = n->u.AnnAssign.target->kind == PY_Name && !n->u.AnnAssign.simple;

	buf_adds(p->out, parens ? "(" : "");
	py_print_expr(p, n->u.AnnAssign.target, P_ATOM);
	buf_adds(p->out, parens ? "): " : ": ");
	py_print_expr(p, n->u.AnnAssign.annotation, P_TEST);
	if (n->u.AnnAssign.value) {
		buf_adds(p->out, " = ");
		py_print_value(p, n->u.AnnAssign.value);
	}
	buf_addc(p->out, '\n');
}

static void print_raise(struct py_printer *p, const struct py_node *n)
{
	print_optional(p, "raise", n->u.Raise.exc, " from ", n->u.Raise.cause);
}

static void print_assert(struct py_printer *p, const struct py_node *n)
{
	print_optional(p, "assert", n->u.Assert.test, ", ", n->u.Assert.msg);
}

static void print_global(struct py_printer *p, const struct py_node *n) { print_ids(p, "global", &n->u.Global.names); }
static void print_nonlocal(struct py_printer *p, const struct py_node *n)
{
	print_ids(p, "nonlocal", &n->u.Nonlocal.names);
}

static void print_pass(struct py_printer *p, const struct py_node *n) { (void)n; buf_adds(p->out, "pass\n"); }
static void print_break(struct py_printer *p, const struct py_node *n) { (void)n; buf_adds(p->out, "break\n"); }
static void print_continue(struct py_printer *p, const struct py_node *n) { (void)n; buf_adds(p->out, "continue\n"); }

/* a.b as c, d. */
static void print_aliases(struct py_printer *p, const struct py_list *names)
{
	for (size_t i = 0; i < names->n; i++) {
		const struct py_alias *a = &names->v[i]->u.alias;

		buf_addf(p->out, "%s%.*s", i ? ", " : "", STR_ARG(a->name));
		if (a->asname.p)
			buf_addf(p->out, " as %.*s", STR_ARG(a->asname));
	}
	buf_addc(p->out, '\n');
}

static void print_import(struct py_printer *p, const struct py_node *n)
{
	buf_adds(p->out, "import ");
	print_aliases(p, &n->u.Import.names);
}

/* from ..a import b. */
static void print_import_from(struct py_printer *p, const struct py_node *n)
{
	buf_adds(p->out, "from ");
	buf_pad(p->out, '.', (size_t)n->u.ImportFrom.level);
	if (n->u.ImportFrom.module.p)
		buf_addstr(p->out, n->u.ImportFrom.module);
	buf_adds(p->out, " import ");
	print_aliases(p, &n->u.ImportFrom.names);
}

/* A text of several lines is printed as a docstring. */
static void print_expression(struct py_printer *p, const struct py_node *n)
{
	const struct py_node *v = n->u.Expr.value;
	const struct py_const *c = &v->u.Constant.value;

	if (v->kind == PY_Constant && c->kind == PY_C_STR && !v->u.Constant.kind.p && c->s.n &&
	    memchr(c->s.p, '\n', c->s.n))
		py_print_docstring(p, c);
	else
		py_print_value(p, v);
	buf_addc(p->out, '\n');
}

/* --- compound statements --------------------------------------------------------------------- */

/* An else that holds a single if prints as elif. */
static void print_if(struct py_printer *p, const struct py_node *n)
{
	const char *word = "if ";

	for (;;) {
		buf_adds(p->out, word);
		py_print_expr(p, n->u.If.test, P_TEST);
		print_block(p, &n->u.If.body);
		if (n->u.If.orelse.n != 1 || n->u.If.orelse.v[0]->kind != PY_If)
			break;
		n = n->u.If.orelse.v[0];
		word = "elif ";
		begin_line(p);
	}
	print_clause(p, "else", &n->u.If.orelse);
}

/* while, with an else block if there is one. */
static void print_while(struct py_printer *p, const struct py_node *n)
{
	buf_adds(p->out, "while ");
	py_print_expr(p, n->u.While.test, P_TEST);
	print_block(p, &n->u.While.body);
	print_clause(p, "else", &n->u.While.orelse);
}

/* Target and iterable are bare tuples. */
static void print_for(struct py_printer *p, const struct py_node *n)
{
	buf_adds(p->out, n->kind == PY_AsyncFor ? "async for " : "for ");
	py_print_bare(p, n->u.For.target);
	buf_adds(p->out, " in ");
	py_print_bare(p, n->u.For.iter);
	print_block(p, &n->u.For.body);
	print_clause(p, "else", &n->u.For.orelse);
}

/* A single item in parentheses with nothing after it would be read as a list of items, so it
 * gets a second pair of parentheses. */
static void print_with(struct py_printer *p, const struct py_node *n)
{
	size_t at;

	buf_adds(p->out, n->kind == PY_AsyncWith ? "async with " : "with ");
	at = p->out->n;
	for (size_t i = 0; i < n->u.With.items.n; i++) {
		const struct py_withitem *w = &n->u.With.items.v[i]->u.withitem;

		if (i)
			buf_adds(p->out, ", ");
		py_print_expr(p, w->context_expr, P_TEST);
		if (w->optional_vars) {
			buf_adds(p->out, " as ");
			py_print_expr(p, w->optional_vars, P_ATOM);
		}
	}
	if (n->u.With.items.n == 1 && !n->u.With.items.v[0]->u.withitem.optional_vars && !p->out->failed &&
	    p->out->p[at] == '(') {
		buf_adds(p->out, ")");
		if (!buf_reserve(p->out, 1)) {
			memmove(p->out->p + at + 1, p->out->p + at, p->out->n - at);
			p->out->p[at] = '(';
			p->out->n++;
		}
	}
	print_block(p, &n->u.With.body);
}

/* except, except*, else, finally. */
static void print_try(struct py_printer *p, const struct py_node *n)
{
	const struct py_Try *t = &n->u.Try;

	buf_adds(p->out, "try");
	print_block(p, &t->body);
	for (size_t i = 0; i < t->handlers.n; i++) {
		const struct py_ExceptHandler *h = &t->handlers.v[i]->u.ExceptHandler;

		begin_line(p);
		buf_adds(p->out, n->kind == PY_TryStar ? "except*" : "except");
		if (h->type) {
			buf_addc(p->out, ' ');
			py_print_expr(p, h->type, P_TEST);
		}
		if (h->name.p)
			buf_addf(p->out, " as %.*s", STR_ARG(h->name));
		print_block(p, &h->body);
	}
	print_clause(p, "else", &t->orelse);
	print_clause(p, "finally", &t->finalbody);
}

/* One line each, above the definition. */
static void print_decorators(struct py_printer *p, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		buf_addc(p->out, '@');
		py_print_expr(p, l->v[i], P_TEST);
		buf_addc(p->out, '\n');
		begin_line(p);
	}
}

/* def or async def, with decorators, parameters and return annotation. */
static void print_function(struct py_printer *p, const struct py_node *n)
{
	const struct py_FunctionDef *f = &n->u.FunctionDef;

	print_decorators(p, &f->decorator_list);
	buf_addf(p->out, "%s %.*s(", n->kind == PY_AsyncFunctionDef ? "async def" : "def", STR_ARG(f->name));
	py_print_params(p, &f->args->u.arguments);
	buf_addc(p->out, ')');
	if (f->returns) {
		buf_adds(p->out, " -> ");
		py_print_expr(p, f->returns, P_TEST);
	}
	print_block(p, &f->body);
}

/* Empty parentheses are not printed. */
static void print_class(struct py_printer *p, const struct py_node *n)
{
	const struct py_ClassDef *c = &n->u.ClassDef;

	print_decorators(p, &c->decorator_list);
	buf_addf(p->out, "class %.*s", STR_ARG(c->name));
	if (c->bases.n || c->keywords.n) {
		buf_addc(p->out, '(');
		py_print_call_arguments(p, &c->bases, &c->keywords);
		buf_addc(p->out, ')');
	}
	print_block(p, &c->body);
}

/* match subject, then its cases one level deeper. */
static void print_match(struct py_printer *p, const struct py_node *n)
{
	buf_adds(p->out, "match ");
	py_print_expr(p, n->u.Match.subject, P_TEST);
	buf_adds(p->out, ":\n");
	p->indent++;
	for (size_t i = 0; i < n->u.Match.cases.n; i++) {
		const struct py_match_case *c = &n->u.Match.cases.v[i]->u.match_case;

		begin_line(p);
		buf_adds(p->out, "case ");
		py_print_pattern(p, c->pattern);
		if (c->guard) {
			buf_adds(p->out, " if ");
			py_print_expr(p, c->guard, P_TEST);
		}
		print_block(p, &c->body);
	}
	p->indent--;
}

/* --- dispatch --------------------------------------------------------------------------------- */

/* One function per kind of statement. */
static void (*const printers[PY_KINDS])(struct py_printer *, const struct py_node *) = {
	[PY_FunctionDef] = print_function, [PY_AsyncFunctionDef] = print_function, [PY_ClassDef] = print_class,
	[PY_Return] = print_return, [PY_Delete] = print_delete, [PY_Assign] = print_assign,
	[PY_AugAssign] = print_augassign, [PY_AnnAssign] = print_annassign, [PY_For] = print_for,
	[PY_AsyncFor] = print_for, [PY_While] = print_while, [PY_If] = print_if, [PY_With] = print_with,
	[PY_AsyncWith] = print_with, [PY_Match] = print_match, [PY_Raise] = print_raise, [PY_Try] = print_try,
	[PY_TryStar] = print_try, [PY_Assert] = print_assert, [PY_Import] = print_import,
	[PY_ImportFrom] = print_import_from, [PY_Global] = print_global, [PY_Nonlocal] = print_nonlocal,
	[PY_Expr] = print_expression, [PY_Pass] = print_pass, [PY_Break] = print_break, [PY_Continue] = print_continue,
};

static int is_definition(const struct py_node *n)
{
	return n->kind == PY_FunctionDef || n->kind == PY_AsyncFunctionDef || n->kind == PY_ClassDef;
}

/* A definition gets an empty line before it unless it opens its block. */
void py_print_stmt(struct py_printer *p, const struct py_node *n)
{
	size_t len = p->out->n;

	if (is_definition(n) && len > 1 && !p->out->failed && memcmp(p->out->p + len - 2, ":\n", 2))
		buf_addc(p->out, '\n');
	begin_line(p);
	printers[n->kind](p, n);
}

/* A module, a statement or an expression. */
void py_print(const struct py_node *n, struct buf *out)
{
	struct py_printer p = { .out = out };

	if (n->kind == PY_Module) {
		for (size_t i = 0; i < n->u.Module.body.n; i++)
			py_print_stmt(&p, n->u.Module.body.v[i]);
	} else if (printers[n->kind]) {
		py_print_stmt(&p, n);
	} else {
		py_print_expr(&p, n, P_TEST);
	}
}
