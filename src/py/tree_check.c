/* The faults that CPython's compiler reports in a tree whose names are in order: statements out
 * of place, targets and keywords that cannot be compiled, late future statements.
 *
 * The walk keeps the kind of the current scope and the blocks around it in that scope. It follows
 * the order of CPython's compile.c where that decides which fault comes first. */
#include "py/tree_check.h"

/* Kinds of scopes and, below, of blocks. BLOCKS_MOST and STAR_MOST are CPython's limits on
 * nested blocks and on targets before a starred one. */
enum code_kind { CODE_MODULE, CODE_CLASS, CODE_FUNCTION, CODE_ASYNC, CODE_LAMBDA, CODE_COMPREHENSION };
enum block_kind { BLOCK_LOOP, BLOCK_OTHER, BLOCK_EXCEPT_STAR };
enum { BLOCKS_MOST = 20, STAR_MOST = 256 };

/* A loop, with or try around the current statement, in the same scope. On the C stack. */
struct block { const struct block *up; enum block_kind kind; int depth; };

/* The scope that is walked. */
struct code {
	struct parser *p;
	enum code_kind kind;
	const struct py_node *fn;        /* the function whose body this is, or NULL */
	const struct block *block;       /* innermost block */
	int future_line;                 /* line of the last future statement that is allowed */
	int future_annotations;
};

static struct pos pos_of(const struct py_node *n)
{
	return (struct pos){ .line = n->line, .col = n->col };
}

#define FAIL(c, n, ...) py_fail((c)->p, pos_of(n), __VA_ARGS__)

static void visit(void *ctx, struct py_node *n);

static void visit_list(struct code *c, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i])
			visit(c, l->v[i]);
}

static void visit_opt(struct code *c, struct py_node *n)
{
	if (n)
		visit(c, n);
}

/* __debug__ is the only name that cannot be bound. */
void py_check_bindable(struct parser *p, struct str id, const struct py_node *at)
{
	if (id.p && str_is(id, "__debug__"))
		py_fail(p, pos_of(at), "cannot assign to __debug__");
}

/* --- future statements ------------------------------------------------------------------------ */

/* Is it `from __future__ import ...`? */
static int is_future(const struct py_node *n)
{
	return n->kind == PY_ImportFrom && n->u.ImportFrom.module.p && str_is(n->u.ImportFrom.module, "__future__");
}

/* Unknown features are refused; only `annotations` has an effect. */
static void check_features(struct code *c, const struct py_node *n)
{
	static const char *const features[] = {
		"nested_scopes", "generators", "division", "absolute_import", "with_statement", "print_function",
		"unicode_literals", "barry_as_FLUFL", "generator_stop", "annotations",
	};

	for (size_t i = 0; i < n->u.ImportFrom.names.n; i++) {
		struct str name = n->u.ImportFrom.names.v[i]->u.alias.name;
		size_t k = 0;

		while (k < COUNT_OF(features) && !str_is(name, features[k]))
			k++;
		if (str_is(name, "braces"))
			FAIL(c, n, "not a chance");
		if (k == COUNT_OF(features))
			FAIL(c, n, "future feature %.*s is not defined", STR_ARG(name));
		c->future_annotations |= str_is(name, "annotations");
	}
}

/* Is it a string statement, such as a docstring? */
static int is_text(const struct py_node *n)
{
	return n->kind == PY_Expr && n->u.Expr.value->kind == PY_Constant &&
		n->u.Expr.value->u.Constant.value.kind == PY_C_STR;
}

/* Only the docstring and other future statements may precede a future statement. CPython
 * decides by lines: `import a; from __future__ import b` on one line fails here. */
static void check_futures(struct code *c, const struct py_list *body)
{
	int done = 0, line = 0;

	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *n = body->v[i];

		if (done && n->line > line)
			return;
		line = n->line;
		if (is_future(n)) {
			if (done)
				FAIL(c, n, "from __future__ imports must occur at the beginning of the file");
			check_features(c, n);
			c->future_line = n->line;
		} else if (i || !is_text(n)) {
			done = 1;
		}
	}
}

/* --- scopes ------------------------------------------------------------------------------------ */

/* Walks the body of a new scope, which has no blocks yet. */
static void run_code(const struct code *c, enum code_kind kind, const struct py_node *fn, const struct py_list *body)
{
	struct code in = *c;

	in.kind = kind;
	in.fn = fn;
	in.block = NULL;
	visit_list(&in, body);
}

/* No parameter may be __debug__. */
static void check_params(struct code *c, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		py_check_bindable(c->p, l->v[i]->u.arg.arg, l->v[i]);
}

/* Parameters are checked before defaults are walked: CPython's order. */
static void check_arguments(struct code *c, const struct py_arguments *a)
{
	check_params(c, &a->posonlyargs);
	check_params(c, &a->args);
	if (a->vararg)
		py_check_bindable(c->p, a->vararg->u.arg.arg, a->vararg);
	check_params(c, &a->kwonlyargs);
	if (a->kwarg)
		py_check_bindable(c->p, a->kwarg->u.arg.arg, a->kwarg);
	visit_list(c, &a->defaults);
	visit_list(c, &a->kw_defaults);
}

/* Walks an annotation unless annotations are postponed. That of *args may be starred itself. */
static void visit_annotation(struct code *c, const struct py_node *arg)
{
	struct py_node *n = arg ? arg->u.arg.annotation : NULL;

	if (n && !c->future_annotations)
		visit(c, n->kind == PY_Starred ? n->u.Starred.value : n);
}

static void annotations_of(struct code *c, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		visit_annotation(c, l->v[i]);
}

/* Decorators, parameters, defaults, annotations, body, name: CPython's order. */
static void visit_function(struct code *c, struct py_node *n)
{
	const struct py_FunctionDef *f = &n->u.FunctionDef;
	const struct py_arguments *a = &f->args->u.arguments;

	visit_list(c, &f->decorator_list);
	check_arguments(c, a);
	annotations_of(c, &a->posonlyargs);
	annotations_of(c, &a->args);
	visit_annotation(c, a->vararg);
	annotations_of(c, &a->kwonlyargs);
	visit_annotation(c, a->kwarg);
	if (f->returns && !c->future_annotations)
		visit(c, f->returns);
	run_code(c, n->kind == PY_AsyncFunctionDef ? CODE_ASYNC : CODE_FUNCTION, n, &f->body);
	py_check_bindable(c->p, f->name, n);
}

/* The body is one expression, walked as a scope of its own. */
static void visit_lambda(struct code *c, struct py_node *n)
{
	struct py_list body = { .v = &n->u.Lambda.body, .n = 1 };

	check_arguments(c, &n->u.Lambda.args->u.arguments);
	run_code(c, CODE_LAMBDA, n, &body);
}

/* f(a=1, a=2) is refused. */
static void check_keywords(struct code *c, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct str id = l->v[i]->u.keyword.arg;

		py_check_bindable(c->p, id, l->v[i]);
		for (size_t k = i + 1; id.p && k < l->n; k++)
			if (l->v[k]->u.keyword.arg.p == id.p)
				FAIL(c, l->v[k], "keyword argument repeated: %.*s", STR_ARG(id));
	}
}

/* Elements that may be starred: of displays and of calls. */
static void visit_elements(struct code *c, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		visit(c, l->v[i]->kind == PY_Starred ? l->v[i]->u.Starred.value : l->v[i]);
}

/* The body is compiled before bases and keywords. */
static void visit_class(struct code *c, struct py_node *n)
{
	visit_list(c, &n->u.ClassDef.decorator_list);
	run_code(c, CODE_CLASS, NULL, &n->u.ClassDef.body);
	check_keywords(c, &n->u.ClassDef.keywords);
	visit_elements(c, &n->u.ClassDef.bases);
	visit_list(c, &n->u.ClassDef.keywords);
	py_check_bindable(c->p, n->u.ClassDef.name, n);
}

/* --- comprehensions --------------------------------------------------------------------------- */

/* The clauses of a comprehension, NULL for other nodes. */
static const struct py_list *generators_of(const struct py_node *n)
{
	switch (n->kind) {
	case PY_ListComp: return &n->u.ListComp.generators;
	case PY_SetComp: return &n->u.SetComp.generators;
	case PY_DictComp: return &n->u.DictComp.generators;
	case PY_GeneratorExp: return &n->u.GeneratorExp.generators;
	default: return NULL;
	}
}

/* A search for await inside a comprehension; outer_iter belongs to the enclosing scope. */
struct wait_search { const struct py_node *outer_iter; int found; };

static int waits(const struct py_node *n);

/* Searches for await and `async for` in the same scope: lambdas and generator expressions
 * inside have their own. */
static void look_for_wait(void *ctx, struct py_node *n)
{
	struct wait_search *s = ctx;
	const struct py_list *inner = generators_of(n);

	if (s->found || n->kind == PY_Lambda || n == s->outer_iter)
		return;
	s->found = n->kind == PY_Await || (n->kind == PY_comprehension && n->u.comprehension.is_async);
	if (!inner) {
		py_children(n, look_for_wait, s);
		return;
	}
	s->found |= n->kind != PY_GeneratorExp && waits(n);
	look_for_wait(s, inner->v[0]->u.comprehension.iter);
}

/* Does a comprehension await something in its own scope? Its first iterable is outside of it. */
static int waits(const struct py_node *n)
{
	struct wait_search s = { .outer_iter = generators_of(n)->v[0]->u.comprehension.iter };

	py_children(n, look_for_wait, &s);
	return s.found;
}

/* An asynchronous comprehension needs an async function around it. */
static void visit_comprehension(struct code *c, struct py_node *n)
{
	const struct py_list *generators = generators_of(n);
	struct py_node *first = generators->v[0]->u.comprehension.iter;
	struct code in = *c;

	if (n->kind != PY_GeneratorExp && c->kind != CODE_ASYNC && c->kind != CODE_COMPREHENSION && waits(n))
		FAIL(c, n, "asynchronous comprehension outside of an asynchronous function");
	in.kind = CODE_COMPREHENSION;
	in.fn = n;
	in.block = NULL;
	for (size_t i = 0; i < generators->n; i++) {
		const struct py_comprehension *g = &generators->v[i]->u.comprehension;

		if (g->iter != first)
			visit(&in, g->iter);
		visit(&in, g->target);
		visit_list(&in, &g->ifs);
	}
	if (n->kind == PY_DictComp) {
		visit(&in, n->u.DictComp.key);
		visit(&in, n->u.DictComp.value);
	} else {
		visit(&in, n->u.ListComp.elt);
	}
	visit(c, first);
}

/* --- blocks ------------------------------------------------------------------------------------- */

/* Walks a block one level deeper; CPython allows 20 levels. */
static void run_block(struct code *c, enum block_kind kind, const struct py_node *at, const struct py_list *body)
{
	const struct block *up = c->block;
	struct block b = { .up = up, .kind = kind, .depth = up ? up->depth + 1 : 1 };

	if (b.depth > BLOCKS_MOST)
		FAIL(c, at, "too many statically nested blocks");
	c->block = &b;
	visit_list(c, body);
	c->block = up;
}

/* The loop that break or continue belongs to, NULL without one; a return (loop 0) leaves all
 * blocks. None of them may leave an except* block. */
static const struct block *leave_blocks(struct code *c, const struct py_node *n, int loop)
{
	const struct block *b = c->block;

	for (; b && !(loop && b->kind == BLOCK_LOOP); b = b->up)
		if (b->kind == BLOCK_EXCEPT_STAR)
			FAIL(c, n, "'break', 'continue' and 'return' cannot appear in an except* block");
	return b;
}

/* The iterable is compiled before the target. */
static void visit_for(struct code *c, struct py_node *n)
{
	if (n->kind == PY_AsyncFor && c->kind != CODE_ASYNC)
		FAIL(c, n, "'async for' outside async function");
	visit(c, n->u.For.iter);
	visit(c, n->u.For.target);
	run_block(c, BLOCK_LOOP, n, &n->u.For.body);
	visit_list(c, &n->u.For.orelse);
}

/* The else block is outside the loop: break there belongs to an outer loop. */
static void visit_while(struct code *c, struct py_node *n)
{
	visit(c, n->u.While.test);
	run_block(c, BLOCK_LOOP, n, &n->u.While.body);
	visit_list(c, &n->u.While.orelse);
}

/* Each item of a with statement is a block inside the one before it. */
static void visit_with_from(struct code *c, struct py_node *n, size_t i)
{
	const struct block *up = c->block;
	struct block b = { .up = up, .kind = BLOCK_OTHER, .depth = up ? up->depth + 1 : 1 };

	visit(c, n->u.With.items.v[i]->u.withitem.context_expr);
	if (b.depth > BLOCKS_MOST)
		FAIL(c, n, "too many statically nested blocks");
	c->block = &b;
	visit_opt(c, n->u.With.items.v[i]->u.withitem.optional_vars);
	if (i + 1 < n->u.With.items.n)
		visit_with_from(c, n, i + 1);
	else
		visit_list(c, &n->u.With.body);
	c->block = up;
}

/* A bare `except:` must be the last clause. */
static void visit_handlers(struct code *c, struct py_node *n)
{
	for (size_t i = 0; i < n->u.Try.handlers.n; i++) {
		struct py_node *h = n->u.Try.handlers.v[i];

		if (!h->u.ExceptHandler.type && i + 1 < n->u.Try.handlers.n)
			FAIL(c, h, "default 'except:' must be last");
		visit_opt(c, h->u.ExceptHandler.type);
		py_check_bindable(c->p, h->u.ExceptHandler.name, h);
		run_block(c, n->kind == PY_TryStar ? BLOCK_EXCEPT_STAR : BLOCK_OTHER, h, &h->u.ExceptHandler.body);
	}
}

/* The try body and its handlers are blocks of their own. */
static void visit_try_body(struct code *c, struct py_node *n)
{
	const struct block *up = c->block;
	struct block handlers = { .up = up, .kind = BLOCK_OTHER, .depth = up ? up->depth + 1 : 1 };

	if (!n->u.Try.handlers.n) {
		visit_list(c, &n->u.Try.body);
		return;
	}
	run_block(c, BLOCK_OTHER, n, &n->u.Try.body);
	c->block = &handlers;
	visit_handlers(c, n);
	c->block = up;
	visit_list(c, &n->u.Try.orelse);
}

/* With `finally` there is one more block around all. */
static void visit_try(struct code *c, struct py_node *n)
{
	const struct block *up = c->block;
	struct block b = { .up = up, .kind = BLOCK_OTHER, .depth = up ? up->depth + 1 : 1 };

	if (!n->u.Try.finalbody.n) {
		visit_try_body(c, n);
		return;
	}
	if (b.depth > BLOCKS_MOST)
		FAIL(c, n, "too many statically nested blocks");
	c->block = &b;
	visit_try_body(c, n);
	c->block = up;
	run_block(c, BLOCK_OTHER, n, &n->u.Try.finalbody);
}

/* Only the last case may match everything without a guard. */
static void visit_match(struct code *c, struct py_node *n)
{
	visit(c, n->u.Match.subject);
	for (size_t i = 0; i < n->u.Match.cases.n; i++) {
		const struct py_match_case *m = &n->u.Match.cases.v[i]->u.match_case;

		py_check_case(c->p, m, i + 1 == n->u.Match.cases.n);
		visit_opt(c, m->guard);
		visit_list(c, &m->body);
	}
}

/* --- statements and expressions out of place ------------------------------------------------------ */

/* Lambdas and comprehensions count as functions. */
static int is_function(const struct code *c)
{
	return c->kind != CODE_MODULE && c->kind != CODE_CLASS;
}

struct yield_search { int found; }; /* does a function have a yield of its own? */

/* py_children callback; nested functions and classes have their own yields. */
static void look_for_yield(void *ctx, struct py_node *n)
{
	struct yield_search *s = ctx;

	s->found |= n->kind == PY_Yield;
	if (!s->found && n->kind != PY_FunctionDef && n->kind != PY_AsyncFunctionDef && n->kind != PY_Lambda &&
	    n->kind != PY_ClassDef)
		py_children(n, look_for_yield, s);
}

/* An async generator may not return a value. */
static void visit_return(struct code *c, struct py_node *n)
{
	struct yield_search s = { .found = 0 };

	if (!is_function(c))
		FAIL(c, n, "'return' outside function");
	if (n->u.Return.value && c->kind == CODE_ASYNC) {
		py_children(c->fn, look_for_yield, &s);
		if (s.found)
			FAIL(c, n, "'return' with value in async generator");
	}
	visit_opt(c, n->u.Return.value);
	leave_blocks(c, n, 0);
}

/* yield needs a function; yield from cannot be in an async one. */
static void visit_yield(struct code *c, struct py_node *n)
{
	if (!is_function(c))
		FAIL(c, n, "'yield' outside function");
	if (n->kind == PY_YieldFrom && c->kind == CODE_ASYNC)
		FAIL(c, n, "'yield from' inside async function");
	py_children(n, visit, c);
}

/* A comprehension inherits the permission of the function around it. */
static void visit_await(struct code *c, struct py_node *n)
{
	if (!is_function(c))
		FAIL(c, n, "'await' outside function");
	if (c->kind != CODE_ASYNC && c->kind != CODE_COMPREHENSION)
		FAIL(c, n, "'await' outside async function");
	visit(c, n->u.Await.value);
}

/* `x: int` without a value binds nothing, but x must be bindable. */
static void visit_annotated(struct code *c, struct py_node *n)
{
	const struct py_AnnAssign *a = &n->u.AnnAssign;

	visit_opt(c, a->value);
	if (a->value || a->target->kind != PY_Name)
		visit(c, a->target);
	else
		py_check_bindable(c->p, a->target->u.Name.id, a->target);
	/* Functions do not evaluate annotations, and no code does after the future statement. */
	if (!is_function(c) && !c->future_annotations)
		visit(c, a->annotation);
}

/* [a, *b, *c] = v has two starred targets and is refused. */
static void visit_sequence(struct code *c, struct py_node *n, const struct py_list *elts, enum py_ctx ctx)
{
	int stars = 0;

	for (size_t i = 0; ctx == PY_STORE && i < elts->n; i++) {
		if (elts->v[i]->kind != PY_Starred)
			continue;
		if (stars++)
			FAIL(c, n, "multiple starred expressions in assignment");
		if (i >= STAR_MOST)
			FAIL(c, n, "too many expressions in star-unpacking assignment");
	}
	visit_elements(c, elts);
}

/* A name that is stored or deleted. */
static void check_named(struct code *c, struct py_node *n, struct str id, enum py_ctx ctx)
{
	if (ctx == PY_STORE)
		py_check_bindable(c->p, id, n);
	else if (ctx == PY_DEL && str_is(id, "__debug__"))
		FAIL(c, n, "cannot delete __debug__");
}

/* A future statement after the allowed ones is refused. */
static void visit_import(struct code *c, struct py_node *n)
{
	const struct py_list *names = n->kind == PY_Import ? &n->u.Import.names : &n->u.ImportFrom.names;

	if (is_future(n) && n->line > c->future_line)
		FAIL(c, n, "from __future__ imports must occur at the beginning of the file");
	for (size_t i = 0; i < names->n; i++) {
		const struct py_alias *a = &names->v[i]->u.alias;

		py_check_bindable(c->p, a->asname.p ? a->asname : a->name, n);
	}
}

/* --- the walk -------------------------------------------------------------------------------------- */

/* Expressions, and statements that only have children. */
static void visit_expression(struct code *c, struct py_node *n)
{
	switch (n->kind) {
	case PY_Lambda: visit_lambda(c, n); return;
	case PY_ListComp: case PY_SetComp: case PY_DictComp: case PY_GeneratorExp: visit_comprehension(c, n); return;
	case PY_Yield: case PY_YieldFrom: visit_yield(c, n); return;
	case PY_Await: visit_await(c, n); return;
	case PY_Tuple: visit_sequence(c, n, &n->u.Tuple.elts, n->u.Tuple.ctx); return;
	case PY_List: visit_sequence(c, n, &n->u.List.elts, n->u.List.ctx); return;
	case PY_Set: visit_elements(c, &n->u.Set.elts); return;
	case PY_Call:
		check_keywords(c, &n->u.Call.keywords);
		visit(c, n->u.Call.func);
		visit_elements(c, &n->u.Call.args);
		visit_list(c, &n->u.Call.keywords);
		return;
	case PY_Starred:
		if (n->u.Starred.ctx == PY_STORE)
			FAIL(c, n, "starred assignment target must be in a list or tuple");
		FAIL(c, n, "can't use starred expression here");
	case PY_Name: check_named(c, n, n->u.Name.id, n->u.Name.ctx); return;
	case PY_Attribute: check_named(c, n, n->u.Attribute.attr, n->u.Attribute.ctx); break;
	default: break;
	}
	py_children(n, visit, c);
}

/* One node. */
static void visit(void *ctx, struct py_node *n)
{
	struct code *c = ctx;

	switch (n->kind) {
	case PY_FunctionDef: case PY_AsyncFunctionDef: visit_function(c, n); return;
	case PY_ClassDef: visit_class(c, n); return;
	case PY_Return: visit_return(c, n); return;
	case PY_Break:
		if (!leave_blocks(c, n, 1))
			FAIL(c, n, "'break' outside loop");
		return;
	case PY_Continue:
		if (!leave_blocks(c, n, 1))
			FAIL(c, n, "'continue' not properly in loop");
		return;
	case PY_For: case PY_AsyncFor: visit_for(c, n); return;
	case PY_While: visit_while(c, n); return;
	case PY_AsyncWith:
		if (c->kind != CODE_ASYNC)
			FAIL(c, n, "'async with' outside async function");
		visit_with_from(c, n, 0);
		return;
	case PY_With: visit_with_from(c, n, 0); return;
	case PY_Try: case PY_TryStar: visit_try(c, n); return;
	case PY_Match: visit_match(c, n); return;
	case PY_AnnAssign: visit_annotated(c, n); return;
	case PY_Import: case PY_ImportFrom: visit_import(c, n); return;
	case PY_Assign:
		visit(c, n->u.Assign.value);
		visit_list(c, &n->u.Assign.targets);
		return;
	default: visit_expression(c, n); return;
	}
}

/* All checks, in CPython's order. */
void py_check(struct parser *p)
{
	const struct py_list *body = &p->m->root->u.Module.body;
	struct code c = { .p = p, .kind = CODE_MODULE };

	check_futures(&c, body);
	py_check_symbols(p, c.future_annotations);
	visit_list(&c, body);
}
