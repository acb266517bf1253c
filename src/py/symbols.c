/* The faults that CPython's symbol table reports: names that a scope may not bind as it does.
 *
 * One walk over the finished tree enters every name into the table of its scope, in the order of
 * CPython's Python/symtable.c, because the first fault found is the one reported. When all scopes
 * are complete, a second look at the nonlocal statements asks for the binding that each one
 * needs. The tree is not changed. Private names are taken as written: __x of two classes is one
 * name here. */
#include "py/tree_check.h"

enum scope_type { SYM_MODULE, SYM_CLASS, SYM_FUNCTION, SYM_ANNOTATION };

/* How a scope uses a name; flags. */
enum use {
	USE_READ = 1, USE_LOCAL = 2, USE_PARAM = 4, USE_GLOBAL = 8, USE_NONLOCAL = 16, USE_IMPORT = 32,
	USE_ANNOTATED = 64,
	USE_LOOP = 128,          /* target of a comprehension's `for` */
	USE_BOUND = USE_LOCAL | USE_PARAM | USE_IMPORT
};

struct symbol { const char *id; unsigned use; }; /* id: pointer of the interned name */

/* One scope, in the parser's arena. */
struct sym_scope {
	struct sym_scope *up;            /* the enclosing scope */
	enum scope_type type;
	const char *comprehension;       /* "list comprehension" and the like, or NULL */
	int in_target, in_iterable;      /* walking that part of a comprehension's `for` */
	struct symbol *v;                /* hash table by the address of the name */
	size_t n, slots;
};

/* A global or nonlocal declaration of one name, checked at the end. */
struct directive { struct directive *next; struct sym_scope *in; struct str id; struct pos at; };

/* The walk. */
struct table {
	struct parser *p;
	struct sym_scope *now, *module;  /* the current scope; the outermost */
	int future_annotations;          /* from __future__ import annotations */
	struct directive *first, **last; /* declared names, in order */
};

static struct pos pos_of(const struct py_node *n)
{
	return (struct pos){ .line = n->line, .col = n->col };
}

/* --- symbols of a scope -------------------------------------------------------------------- */

/* The slot of a name, or the free slot where it belongs. */
static struct symbol *slot_of(struct symbol *v, size_t slots, const char *id)
{
	size_t i = ((uintptr_t)id >> 3) & (slots - 1);

	while (v[i].id && v[i].id != id)
		i = (i + 1) & (slots - 1);
	return &v[i];
}

/* Doubles the table of a scope. The old one stays in the arena. */
static void grow(struct table *t, struct sym_scope *s)
{
	size_t slots = s->slots ? 2 * s->slots : 16;
	struct symbol *v = arena_zalloc(t->p->arena, slots * sizeof *v);

	for (size_t i = 0; i < s->slots; i++)
		if (s->v[i].id)
			*slot_of(v, slots, s->v[i].id) = s->v[i];
	s->v = v;
	s->slots = slots;
}

/* How the scope uses the name so far; 0 if it does not. */
static unsigned use_of(const struct sym_scope *s, struct str id)
{
	return s->slots ? slot_of(s->v, s->slots, id.p)->use : 0;
}

/* Notes a use and reports what contradicts it. A global declaration is noted in the module as
 * well. */
static void add(struct table *t, struct sym_scope *s, struct str id, unsigned use, struct pos at)
{
	struct symbol *sym;

	if (2 * (s->n + 1) > s->slots)
		grow(t, s);
	sym = slot_of(s->v, s->slots, id.p);
	s->n += !sym->id;
	sym->id = id.p;
	if (use & sym->use & USE_PARAM)
		py_fail(t->p, at, "duplicate argument '%.*s' in function definition", STR_ARG(id));
	sym->use |= use;
	if (s->in_target) {
		if (sym->use & (USE_GLOBAL | USE_NONLOCAL))
			py_fail(t->p, at,
				"comprehension inner loop cannot rebind assignment expression target '%.*s'",
				STR_ARG(id));
		sym->use |= USE_LOOP;
	}
	if (use & USE_GLOBAL && s != t->module)
		add(t, t->module, id, use, at);
}

/* Opens a scope inside the current one. */
static struct sym_scope *enter(struct table *t, enum scope_type type)
{
	struct sym_scope *s = arena_zalloc(t->p->arena, sizeof *s);

	*s = (struct sym_scope){ .up = t->now, .type = type, .in_iterable = t->now ? t->now->in_iterable : 0 };
	return t->now = s;
}

static void leave(struct table *t)
{
	t->now = t->now->up;
}

static void visit(void *ctx, struct py_node *n);

static void visit_list(struct table *t, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i])
			visit(t, l->v[i]);
}

static void visit_opt(struct table *t, struct py_node *n)
{
	if (n)
		visit(t, n);
}

/* --- functions and classes ------------------------------------------------------------------ */

static void add_params(struct table *t, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		add(t, t->now, l->v[i]->u.arg.arg, USE_PARAM, pos_of(l->v[i]));
}

static void add_param(struct table *t, const struct py_node *arg)
{
	if (arg)
		add(t, t->now, arg->u.arg.arg, USE_PARAM, pos_of(arg));
}

/* In the order in which CPython finds duplicate arguments. */
static void visit_params(struct table *t, const struct py_arguments *a)
{
	add_params(t, &a->posonlyargs);
	add_params(t, &a->args);
	add_params(t, &a->kwonlyargs);
	add_param(t, a->vararg);
	add_param(t, a->kwarg);
}

/* Under `from __future__ import annotations` an annotation is a text and has a scope of its
 * own. */
static void visit_annotation(struct table *t, struct py_node *n)
{
	if (!n)
		return;
	if (t->future_annotations)
		enter(t, SYM_ANNOTATION);
	visit(t, n);
	if (t->future_annotations)
		leave(t);
}

/* The annotations of all parameters of a list. */
static void annotations_of(struct table *t, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		visit_annotation(t, l->v[i]->u.arg.annotation);
}

/* Defaults, annotations and decorators belong to the enclosing scope. */
static void visit_function(struct table *t, struct py_node *n)
{
	const struct py_FunctionDef *f = &n->u.FunctionDef;
	const struct py_arguments *a = &f->args->u.arguments;

	add(t, t->now, f->name, USE_LOCAL, pos_of(n));
	visit_list(t, &a->defaults);
	visit_list(t, &a->kw_defaults);
	annotations_of(t, &a->posonlyargs);
	annotations_of(t, &a->args);
	visit_annotation(t, a->vararg ? a->vararg->u.arg.annotation : NULL);
	visit_annotation(t, a->kwarg ? a->kwarg->u.arg.annotation : NULL);
	annotations_of(t, &a->kwonlyargs);
	visit_annotation(t, f->returns);
	visit_list(t, &f->decorator_list);
	enter(t, SYM_FUNCTION);
	visit_params(t, a);
	visit_list(t, &f->body);
	leave(t);
}

/* Defaults belong to the enclosing scope, parameters and body to the lambda's own. */
static void visit_lambda(struct table *t, struct py_node *n)
{
	const struct py_arguments *a = &n->u.Lambda.args->u.arguments;

	visit_list(t, &a->defaults);
	visit_list(t, &a->kw_defaults);
	enter(t, SYM_FUNCTION);
	visit_params(t, a);
	visit(t, n->u.Lambda.body);
	leave(t);
}

/* Bases, keywords and decorators belong to the enclosing scope. */
static void visit_class(struct table *t, struct py_node *n)
{
	const struct py_ClassDef *c = &n->u.ClassDef;

	add(t, t->now, c->name, USE_LOCAL, pos_of(n));
	visit_list(t, &c->bases);
	visit_list(t, &c->keywords);
	visit_list(t, &c->decorator_list);
	enter(t, SYM_CLASS);
	visit_list(t, &c->body);
	leave(t);
}

/* --- comprehensions and := ------------------------------------------------------------------ */

/* Names in it are marked USE_LOOP: a walrus may not rebind them. */
static void visit_loop_target(struct table *t, struct py_node *target)
{
	t->now->in_target = 1;
	visit(t, target);
	t->now->in_target = 0;
}

/* A walrus is not allowed in an iterable of a comprehension. */
static void visit_iterable(struct table *t, struct py_node *iter)
{
	t->now->in_iterable++;
	visit(t, iter);
	t->now->in_iterable--;
}

/* The first iterable belongs to the enclosing scope, all else to the comprehension's own. */
static void visit_comprehension(struct table *t, const char *name, const struct py_list *generators,
				struct py_node *value, struct py_node *elt)
{
	const struct py_comprehension *first = &generators->v[0]->u.comprehension;

	visit_iterable(t, first->iter);
	enter(t, SYM_FUNCTION)->comprehension = name;
	visit_loop_target(t, first->target);
	visit_list(t, &first->ifs);
	for (size_t i = 1; i < generators->n; i++) {
		const struct py_comprehension *c = &generators->v[i]->u.comprehension;

		visit_loop_target(t, c->target);
		visit_iterable(t, c->iter);
		visit_list(t, &c->ifs);
	}
	visit_opt(t, value);
	visit(t, elt);
	leave(t);
}

/* A := inside a comprehension binds in the function or module around it. In a class body that
 * is refused. */
static void bind_outside(struct table *t, const struct py_node *target)
{
	struct str id = target->u.Name.id;
	struct pos at = pos_of(target);

	for (struct sym_scope *s = t->now; s; s = s->up) {
		unsigned use = use_of(s, id);

		if (s->comprehension) {
			if (use & USE_LOOP && use & (USE_LOCAL | USE_GLOBAL))
				py_fail(t->p, at, "assignment expression cannot rebind comprehension "
						  "iteration variable '%.*s'", STR_ARG(id));
		} else if (s->type == SYM_CLASS) {
			py_fail(t->p, at,
				"assignment expression within a comprehension cannot be used in a class body");
		} else if (s->type == SYM_FUNCTION || s->type == SYM_MODULE) {
			int global = s->type == SYM_MODULE || use & USE_GLOBAL;

			add(t, t->now, id, global ? USE_GLOBAL : USE_NONLOCAL, at);
			add(t, s, id, s->type == SYM_MODULE ? USE_GLOBAL : USE_LOCAL, at);
			return;
		}
	}
}

/* yield, await and := are refused in a postponed annotation. */
static void not_in_annotation(struct table *t, const struct py_node *n, const char *what)
{
	if (t->now->type == SYM_ANNOTATION)
		py_fail(t->p, pos_of(n), "'%s' can not be used within an annotation", what);
}

/* A walrus: its value is visited before its target. */
static void visit_named(struct table *t, struct py_node *n)
{
	not_in_annotation(t, n, "named expression");
	if (t->now->in_iterable)
		py_fail(t->p, pos_of(n), "assignment expression cannot be used in a comprehension iterable expression");
	if (t->now->comprehension)
		bind_outside(t, n->u.NamedExpr.target);
	visit(t, n->u.NamedExpr.value);
	visit(t, n->u.NamedExpr.target);
}

/* yield is refused inside a comprehension. */
static void visit_yield(struct table *t, struct py_node *n)
{
	not_in_annotation(t, n, "yield expression");
	py_children(n, visit, t);
	if (t->now->comprehension)
		py_fail(t->p, pos_of(n), "'yield' inside %s", t->now->comprehension);
}

/* --- statements that bind ------------------------------------------------------------------- */

/* Notes a global or nonlocal name. It must not have been used in the scope before. */
static void declare_one(struct table *t, struct py_node *n, struct str id, unsigned use)
{
	const char *word = use == USE_GLOBAL ? "global" : "nonlocal";
	unsigned was = use_of(t->now, id);
	struct pos at = pos_of(n);
	struct directive *d;

	if (was & USE_PARAM)
		py_fail(t->p, at, "name '%.*s' is parameter and %s", STR_ARG(id), word);
	if (was & USE_READ)
		py_fail(t->p, at, "name '%.*s' is used prior to %s declaration", STR_ARG(id), word);
	if (was & USE_ANNOTATED)
		py_fail(t->p, at, "annotated name '%.*s' can't be %s", STR_ARG(id), word);
	if (was & USE_LOCAL)
		py_fail(t->p, at, "name '%.*s' is assigned to before %s declaration", STR_ARG(id), word);
	add(t, t->now, id, use, at);
	d = arena_zalloc(t->p->arena, sizeof *d);
	*d = (struct directive){ .in = t->now, .id = id, .at = at };
	*t->last = d;
	t->last = &d->next;
}

/* All names of one global or nonlocal statement. */
static void declare(struct table *t, struct py_node *n)
{
	int global = n->kind == PY_Global;
	const struct py_ids *ids = global ? &n->u.Global.names : &n->u.Nonlocal.names;

	for (size_t i = 0; i < ids->n; i++)
		declare_one(t, n, ids->v[i], global ? USE_GLOBAL : USE_NONLOCAL);
}

/* `x: int` makes x local even without a value; (x): int does not. */
static void visit_annotated(struct table *t, struct py_node *n)
{
	const struct py_AnnAssign *a = &n->u.AnnAssign;

	if (a->target->kind == PY_Name) {
		struct str id = a->target->u.Name.id;
		unsigned was = use_of(t->now, id);

		if (was & (USE_GLOBAL | USE_NONLOCAL) && t->now != t->module && a->simple)
			py_fail(t->p, pos_of(n), "annotated name '%.*s' can't be %s", STR_ARG(id),
				was & USE_GLOBAL ? "global" : "nonlocal");
		if (a->simple)
			add(t, t->now, id, USE_ANNOTATED | USE_LOCAL, pos_of(a->target));
		else if (a->value)
			add(t, t->now, id, USE_LOCAL, pos_of(a->target));
	} else {
		visit(t, a->target);
	}
	visit_annotation(t, a->annotation);
	visit_opt(t, a->value);
}

/* `import a.b` binds a. `import *` is allowed only in a module. */
static void visit_alias(struct table *t, struct py_node *n)
{
	struct str id = n->u.alias.asname.p ? n->u.alias.asname : n->u.alias.name;

	if (str_is(n->u.alias.name, "*")) {
		if (t->now->type != SYM_MODULE)
			py_fail(t->p, pos_of(n), "import * only allowed at module level");
		return;
	}
	if (!n->u.alias.asname.p && memchr(id.p, '.', id.n)) {
		struct str rest = id, head = str_cut(&rest, '.');

		id = (struct str){ .p = py_intern(t->p, head.p, head.n)->p, .n = head.n };
	}
	add(t, t->now, id, USE_IMPORT, pos_of(n));
}

/* CPython visits else before the handlers. */
static void visit_try(struct table *t, const struct py_Try *n)
{
	visit_list(t, &n->body);
	visit_list(t, &n->orelse);
	visit_list(t, &n->handlers);
	visit_list(t, &n->finalbody);
}

/* A name that a pattern or except clause binds. */
static void capture(struct table *t, const struct py_node *n, struct str id)
{
	if (id.p)
		add(t, t->now, id, USE_LOCAL, pos_of(n));
}

/* --- the walk --------------------------------------------------------------------------------- */

/* Nodes that open a scope. */
static void visit_scope(struct table *t, struct py_node *n)
{
	switch (n->kind) {
	case PY_FunctionDef: case PY_AsyncFunctionDef: visit_function(t, n); break;
	case PY_Lambda: visit_lambda(t, n); break;
	case PY_ClassDef: visit_class(t, n); break;
	case PY_ListComp:
		visit_comprehension(t, "list comprehension", &n->u.ListComp.generators, NULL, n->u.ListComp.elt); break;
	case PY_SetComp:
		visit_comprehension(t, "set comprehension", &n->u.SetComp.generators, NULL, n->u.SetComp.elt); break;
	case PY_DictComp:
		visit_comprehension(t, "dict comprehension", &n->u.DictComp.generators, n->u.DictComp.value,
				    n->u.DictComp.key);
		break;
	default:
		visit_comprehension(t, "generator expression", &n->u.GeneratorExp.generators, NULL,
				    n->u.GeneratorExp.elt);
	}
}

/* One node; kinds without a case only have children. */
static void visit(void *ctx, struct py_node *n)
{
	struct table *t = ctx;

	switch (n->kind) {
	case PY_FunctionDef: case PY_AsyncFunctionDef: case PY_Lambda: case PY_ClassDef:
	case PY_ListComp: case PY_SetComp: case PY_DictComp: case PY_GeneratorExp:
		visit_scope(t, n);
		return;
	case PY_NamedExpr: visit_named(t, n); return;
	case PY_Yield: case PY_YieldFrom: visit_yield(t, n); return;
	case PY_Await: not_in_annotation(t, n, "await expression"); break;
	case PY_Global: case PY_Nonlocal: declare(t, n); return;
	case PY_AnnAssign: visit_annotated(t, n); return;
	case PY_alias: visit_alias(t, n); return;
	case PY_Try: case PY_TryStar: visit_try(t, &n->u.Try); return;
	case PY_Name: add(t, t->now, n->u.Name.id, n->u.Name.ctx == PY_LOAD ? USE_READ : USE_LOCAL, pos_of(n)); return;
	case PY_ExceptHandler:
		visit_opt(t, n->u.ExceptHandler.type);
		capture(t, n, n->u.ExceptHandler.name);
		visit_list(t, &n->u.ExceptHandler.body);
		return;
	case PY_MatchAs: capture(t, n, n->u.MatchAs.name); break;
	case PY_MatchStar: capture(t, n, n->u.MatchStar.name); break;
	case PY_MatchMapping: capture(t, n, n->u.MatchMapping.rest); break;
	default: break;
	}
	py_children(n, visit, t);
}

/* --- nonlocal --------------------------------------------------------------------------------- */

/* Does a function around `in` bind the name? A class binds nothing for inner scopes but
 * __class__. */
static int bound_around(const struct sym_scope *in, struct str id)
{
	for (const struct sym_scope *s = in->up; s; s = s->up) {
		unsigned use = use_of(s, id);

		if (s->type == SYM_CLASS && str_is(id, "__class__"))
			return 1;
		if (s->type != SYM_FUNCTION)
			continue;
		if (use & USE_GLOBAL)
			return 0;
		if (use & USE_BOUND && !(use & USE_NONLOCAL))
			return 1;
	}
	return 0;
}

/* The final check of one declaration. */
static void check_directive(struct table *t, const struct directive *d)
{
	unsigned use = use_of(d->in, d->id);

	if (use & USE_GLOBAL && use & USE_NONLOCAL)
		py_fail(t->p, d->at, "name '%.*s' is nonlocal and global", STR_ARG(d->id));
	if (!(use & USE_NONLOCAL))
		return;
	if (d->in == t->module)
		py_fail(t->p, d->at, "nonlocal declaration not allowed at module level");
	if (!bound_around(d->in, d->id))
		py_fail(t->p, d->at, "no binding for nonlocal '%.*s' found", STR_ARG(d->id));
}

/* Runs the walk, then the declarations in the order of the source. */
void py_check_symbols(struct parser *p, int future_annotations)
{
	struct table t = { .p = p, .future_annotations = future_annotations };

	t.last = &t.first;
	t.module = enter(&t, SYM_MODULE);
	visit_list(&t, &p->m->root->u.Module.body);
	for (const struct directive *d = t.first; d; d = d->next)
		check_directive(&t, d);
}
