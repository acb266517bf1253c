/* Scopes: which variable a name means, decided once per function by CPython's rules. Owns the
 * symbol analysis. name.c reads the result; parse errors such as "name 'x' is parameter and
 * global" were reported by the parser.
 *
 * Three passes over a statement and everything nested in it:
 * 1. walk: what each scope binds, declares (global, nonlocal) and uses;
 * 2. resolve: from the inside out, which uses reach a variable of an enclosing function. The variable
 *    becomes a cell there, and every scope in between passes it on as a free variable;
 * 3. finish_all: slot numbers, the hash table of each scope, and where its captured cells come from.
 *
 * Class bodies and modules keep their names in a dictionary. A method does not see the names of
 * its class body, only those of enclosing functions. Identifiers are unique pointers within a
 * source, so they are compared by address. Out of memory jumps to the trap of scope_of. */
#include "interp/ptrmap.h"
#include "interp/scope.h"

/* Facts about one name in one scope. CELL: a nested function uses this local. FREE: the
 * variable belongs to an enclosing function. */
enum { SYM_BOUND = 1, SYM_GLOBAL = 2, SYM_NONLOCAL = 4, SYM_USED = 8, SYM_CELL = 16, SYM_FREE = 32, SYM_PARAM = 64 };

struct sym { struct str id; unsigned flags; int index; }; /* index: slot or free variable, or -1 */

/* A scope under construction, with the tree of scopes around it. Lives in the unit's arena,
 * except for `index`. */
struct builder {
	struct unit *u;                           /* the source that the scope belongs to */
	struct builder *parent, *child, *sibling; /* the tree of nested scopes */
	struct scope *s;               /* the result; NULL for a statement's surroundings */
	struct sym *v;                 /* the names of this scope */
	size_t n, cap;
	struct ptr_map index;          /* id -> position + 1 */
	struct str *dotted;            /* "a" of each `import a.b` here, which binds "a" */
	size_t n_dotted, cap_dotted;
	int is_comp;                   /* a comprehension: := binds outside of it */
	jmp_buf *trap;                 /* jump target when out of memory */
};

static void walk(struct builder *b, const struct py_node *n);

/* The entry of a name, added if it is new. The returned pointer is valid until the next call. */
static struct sym *sym_of(struct builder *b, struct str id)
{
	size_t at = (size_t)(uintptr_t)ptr_map_get(&b->index, id.p);
	if (at)
		return &b->v[at - 1];
	if (b->n == b->cap) {
		size_t cap = b->cap ? b->cap * 2 : 16;
		struct sym *v = arena_array(&b->u->arena, cap, sizeof *v);
		if (b->n)
			memcpy(v, b->v, b->n * sizeof *v);
		b->v = v;
		b->cap = cap;
	}
	b->v[b->n] = (struct sym){ .id = id, .index = -1 };
	if (ptr_map_put(&b->index, id.p, (void *)(uintptr_t)(b->n + 1)))
		longjmp(*b->trap, 1);
	return &b->v[b->n++];
}

static void note(struct builder *b, struct str id, unsigned flags)
{
	sym_of(b, id)->flags |= flags;
}

/* A name is bound. := inside a comprehension binds in the function around it: `[y := f(x) for x
 * in v]` leaves y behind, so the comprehension treats y as nonlocal. */
static void bind_name(struct builder *b, struct str id, int walrus)
{
	if (walrus && b->is_comp) {
		note(b, id, SYM_USED);
		sym_of(b, id)->flags |= SYM_NONLOCAL;
		bind_name(b->parent, id, 1);
		return;
	}
	note(b, id, SYM_BOUND);
}

/* A scope nested in `parent`. It inherits the class name for mangling. */
static struct builder *open_scope(struct builder *parent, const struct py_node *n, enum scope_kind kind)
{
	struct builder *b = arena_zalloc(&parent->u->arena, sizeof *b);
	b->u = parent->u;
	b->trap = parent->trap;
	b->parent = parent;
	b->sibling = parent->child;
	parent->child = b;
	b->s = arena_zalloc(&b->u->arena, sizeof *b->s);
	b->s->kind = kind;
	b->s->node = n;
	b->s->parent = parent->s;
	if (parent->s)
		b->s->private_name = parent->s->private_name;
	return b;
}

static void walk_list(struct builder *b, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i])
			walk(b, l->v[i]);
}

static void walk_opt(struct builder *b, const struct py_node *n)
{
	if (n)
		walk(b, n);
}

/* Parameters get the first slots, in the order of params(): call_function fills them so. */
static void param(struct builder *b, const struct py_node *a)
{
	struct sym *s;

	if (!a)
		return;
	s = sym_of(b, a->u.arg.arg);
	s->flags |= SYM_BOUND | SYM_PARAM;
	s->index = b->s->n_params++;
}

/* The order of slots: positional-only, positional, keyword-only, *args, **kwargs. */
static void params(struct builder *b, const struct py_arguments *a)
{
	for (size_t i = 0; i < a->posonlyargs.n; i++)
		param(b, a->posonlyargs.v[i]);
	for (size_t i = 0; i < a->args.n; i++)
		param(b, a->args.v[i]);
	for (size_t i = 0; i < a->kwonlyargs.n; i++)
		param(b, a->kwonlyargs.v[i]);
	param(b, a->vararg);
	param(b, a->kwarg);
}

/* Defaults and decorators are evaluated in the enclosing scope, the body in its own. */
static void walk_function(struct builder *b, const struct py_node *n)
{
	int lambda = n->kind == PY_Lambda;
	const struct py_arguments *a = lambda ? &n->u.Lambda.args->u.arguments : &n->u.FunctionDef.args->u.arguments;
	struct builder *in;

	walk_list(b, &a->defaults);
	walk_list(b, &a->kw_defaults);
	if (!lambda) {
		walk_list(b, &n->u.FunctionDef.decorator_list);
		bind_name(b, n->u.FunctionDef.name, 0);
	}
	in = open_scope(b, n, SCOPE_FUNCTION);
	params(in, a);
	if (lambda)
		walk(in, n->u.Lambda.body);
	else
		walk_list(in, &n->u.FunctionDef.body);
}

/* Bases and decorators belong to the enclosing scope, the body to its own. */
static void walk_class(struct builder *b, const struct py_node *n)
{
	struct builder *in;

	walk_list(b, &n->u.ClassDef.decorator_list);
	walk_list(b, &n->u.ClassDef.bases);
	walk_list(b, &n->u.ClassDef.keywords);
	bind_name(b, n->u.ClassDef.name, 0);
	in = open_scope(b, n, SCOPE_CLASS);
	in->s->private_name = n->u.ClassDef.name;
	walk_list(in, &n->u.ClassDef.body);
}

/* A comprehension is a scope of its own. Only the first iterable is evaluated outside of it. */
static void walk_comp(struct builder *b, const struct py_node *n)
{
	int dict = n->kind == PY_DictComp;
	const struct py_list *gens = dict ? &n->u.DictComp.generators : &n->u.ListComp.generators;
	struct builder *in;

	if (!gens->n)
		return;
	walk(b, gens->v[0]->u.comprehension.iter);
	in = open_scope(b, n, SCOPE_FUNCTION);
	in->is_comp = 1;
	for (size_t i = 0; i < gens->n; i++) {
		const struct py_comprehension *c = &gens->v[i]->u.comprehension;
		if (i)
			walk(in, c->iter);
		walk(in, c->target);
		walk_list(in, &c->ifs);
	}
	if (dict)
		walk(in, n->u.DictComp.key), walk(in, n->u.DictComp.value);
	else
		walk(in, n->u.ListComp.elt);
}

/* `import a`, `import a as b` and `from m import a` bind one name. `import a.b` binds "a",
 * whose identifier the tree does not hold by itself: it is kept as text until resolve_dotted. */
static void walk_alias(struct builder *b, const struct py_node *n)
{
	const struct py_alias *a = &n->u.alias;
	struct str rest;

	if (a->asname.p) {
		note(b, a->asname, SYM_BOUND);
		return;
	}
	if (str_is(a->name, "*"))
		return;
	if (!memchr(a->name.p, '.', a->name.n)) {
		note(b, a->name, SYM_BOUND);
		return;
	}
	if (b->n_dotted == b->cap_dotted) {
		size_t cap = b->cap_dotted ? b->cap_dotted * 2 : 4;
		struct str *v = arena_array(&b->u->arena, cap, sizeof *v);
		if (b->n_dotted)
			memcpy(v, b->dotted, b->n_dotted * sizeof *v);
		b->dotted = v;
		b->cap_dotted = cap;
	}
	rest = a->name;
	b->dotted[b->n_dotted++] = str_cut(&rest, '.');
}

static void walk_child(void *ctx, struct py_node *child)
{
	walk(ctx, child);
}

/* Pass 1 for one node. Kinds without a case only have children. */
static void walk(struct builder *b, const struct py_node *n)
{
	switch (n->kind) {
	case PY_FunctionDef: case PY_AsyncFunctionDef: case PY_Lambda: walk_function(b, n); return;
	case PY_ClassDef: walk_class(b, n); return;
	case PY_ListComp: case PY_SetComp: case PY_DictComp: case PY_GeneratorExp: walk_comp(b, n); return;
	case PY_Name:
		if (n->u.Name.ctx == PY_LOAD)
			note(b, n->u.Name.id, SYM_USED);
		else
			bind_name(b, n->u.Name.id, 0);
		return;
	case PY_NamedExpr:
		bind_name(b, n->u.NamedExpr.target->u.Name.id, 1);
		walk(b, n->u.NamedExpr.value);
		return;
	case PY_Global:
		for (size_t i = 0; i < n->u.Global.names.n; i++)
			note(b, n->u.Global.names.v[i], SYM_GLOBAL);
		return;
	case PY_Nonlocal:
		for (size_t i = 0; i < n->u.Nonlocal.names.n; i++)
			note(b, n->u.Nonlocal.names.v[i], SYM_NONLOCAL | SYM_USED);
		return;
	case PY_alias: walk_alias(b, n); return;
	case PY_AnnAssign:                       /* annotations of locals are not evaluated */
		walk(b, n->u.AnnAssign.target);
		walk_opt(b, n->u.AnnAssign.value);
		return;
	case PY_ExceptHandler:
		if (n->u.ExceptHandler.name.p)
			note(b, n->u.ExceptHandler.name, SYM_BOUND);
		break;
	case PY_MatchAs:
		if (n->u.MatchAs.name.p)
			note(b, n->u.MatchAs.name, SYM_BOUND);
		break;
	case PY_MatchStar:
		if (n->u.MatchStar.name.p)
			note(b, n->u.MatchStar.name, SYM_BOUND);
		break;
	case PY_MatchMapping:
		if (n->u.MatchMapping.rest.p)
			note(b, n->u.MatchMapping.rest, SYM_BOUND);
		break;
	case PY_Yield: case PY_YieldFrom:
		if (b->s)
			b->s->is_generator = 1;
		break;
	default: break;
	}
	py_children(n, walk_child, b);
}

/* Finds the identifier whose text is `text` in this scope or one inside it. Used for `import
 * a.b`: if no code uses "a" there is nothing to bind. */
static int find_text(struct builder *b, struct str text, struct str *id)
{
	for (size_t i = 0; i < b->n; i++)
		if (str_eq(b->v[i].id, text)) {
			*id = b->v[i].id;
			return 1;
		}
	for (struct builder *c = b->child; c; c = c->sibling)
		if (find_text(c, text, id))
			return 1;
	return 0;
}

/* Binds the first part of every dotted import to the identifier that code uses. */
static void resolve_dotted(struct builder *b)
{
	struct str id;
	for (size_t i = 0; i < b->n_dotted; i++)
		if (find_text(b, b->dotted[i], &id))
			note(b, id, SYM_BOUND);
	for (struct builder *c = b->child; c; c = c->sibling)
		resolve_dotted(c);
}

/* Does an enclosing function bind `id`? Then the variable becomes a cell there, and every scope in
 * between marks it as free. A `global` declaration in between ends the search. Class scopes are
 * passed over: methods do not see the names of a class body. */
static int reach(struct builder *b, struct str id)
{
	if (!b || !b->s || b->s->kind == SCOPE_MODULE)
		return 0;
	if (b->s->kind == SCOPE_FUNCTION) {
		size_t at = (size_t)(uintptr_t)ptr_map_get(&b->index, id.p);
		struct sym *s = at ? &b->v[at - 1] : NULL;
		if (s && (s->flags & SYM_GLOBAL))
			return 0;
		if (s && (s->flags & SYM_BOUND) && !(s->flags & SYM_NONLOCAL)) {
			s->flags |= SYM_CELL;
			return 1;
		}
	}
	if (!reach(b->parent, id))
		return 0;
	note(b, id, SYM_FREE);
	return 1;
}

/* Pass 2, innermost scopes first: names that a scope uses but does not bind. */
static void resolve(struct builder *b)
{
	for (struct builder *c = b->child; c; c = c->sibling)
		resolve(c);
	if (!b->s || b->s->kind == SCOPE_MODULE)
		return;
	for (size_t i = 0; i < b->n; i++) {
		unsigned f = b->v[i].flags;
		if (f & (SYM_GLOBAL | SYM_FREE))
			continue;
		if ((f & SYM_BOUND) && !(f & SYM_NONLOCAL))
			continue;
		if (reach(b->parent, b->v[i].id))
			b->v[i].flags |= SYM_FREE;
	}
}

/* Free variables are numbered apart from slots. Parameters have theirs already. */
static void number_vars(struct builder *b)
{
	struct scope *s = b->s;
	s->n_slots = s->n_params;
	for (size_t i = 0; i < b->n; i++) {
		struct sym *y = &b->v[i];
		if (y->flags & SYM_FREE)
			y->index = s->n_free++;
		else if (s->kind == SCOPE_FUNCTION && (y->flags & SYM_BOUND) && !(y->flags & (SYM_PARAM | SYM_GLOBAL)))
			y->index = s->n_slots++;
	}
}

/* How name.c reaches the variable. */
static enum var_kind kind_of(const struct scope *s, const struct sym *y)
{
	if (y->flags & SYM_GLOBAL)
		return VAR_GLOBAL;
	if (s->kind == SCOPE_CLASS && (y->flags & SYM_BOUND) && !(y->flags & SYM_NONLOCAL))
		return VAR_NAME;         /* even if a method uses an outer variable of that name */
	if (y->flags & SYM_FREE)
		return VAR_FREE;
	if (s->kind != SCOPE_FUNCTION)
		return VAR_NAME;
	if (!(y->flags & SYM_BOUND) || (y->flags & SYM_NONLOCAL))
		return VAR_GLOBAL;
	return y->flags & SYM_CELL ? VAR_CELL : VAR_LOCAL;
}

/* Builds the lookup table of a scope and its captures. A capture says where the enclosing frame
 * keeps the cell when the function is made: in its own free variables or in a slot. */
static void finish(struct builder *b)
{
	struct scope *s = b->s;
	size_t slots = 8;
	while (slots < b->n * 2)
		slots *= 2;
	s->vars = arena_array(&b->u->arena, slots, sizeof *s->vars);
	s->mask = slots - 1;
	s->n_vars = b->n;
	s->captures = arena_array(&b->u->arena, (size_t)s->n_free + 1, sizeof *s->captures);
	for (size_t i = 0; i < b->n; i++) {
		struct sym *y = &b->v[i];
		size_t at = ((uintptr_t)y->id.p >> 4) & s->mask;
		while (s->vars[at].id)
			at = (at + 1) & s->mask;
		s->vars[at] = (struct var){ .id = y->id.p, .kind = kind_of(s, y), .index = y->index };
		if (y->flags & SYM_FREE && b->parent && b->parent->s) {
			size_t p = (size_t)(uintptr_t)ptr_map_get(&b->parent->index, y->id.p);
			const struct sym *up = &b->parent->v[p - 1];
			s->captures[y->index] = (struct capture){ .from_free = (up->flags & SYM_FREE) != 0,
								  .index = up->index };
		}
	}
	if (ptr_map_put(&b->u->scopes, s->node, s))
		longjmp(*b->trap, 1);
}

/* Parents are numbered first, because captures refer to the parent's numbers. */
static void finish_all(struct builder *b)
{
	if (b->s)
		number_vars(b);
	for (struct builder *c = b->child; c; c = c->sibling)
		finish_all(c);
	if (b->s)
		finish(b);
}

static void release_all(struct builder *b)
{
	ptr_map_release(&b->index);
	for (struct builder *c = b->child; c; c = c->sibling)
		release_all(c);
}

/* NULL if the scope does not mention the name. */
const struct var *scope_find(const struct scope *s, const char *id)
{
	for (size_t at = ((uintptr_t)id >> 4) & s->mask; s->vars[at].id; at = (at + 1) & s->mask)
		if (s->vars[at].id == id)
			return &s->vars[at];
	return NULL;
}

/* Analyses `node` unless a former call did: a module, or one top-level statement of a prelude
 * module, which is evaluated separately. All nested scopes are entered in u->scopes as well.
 * Returns NULL if there is no memory. */
struct scope *scope_of(struct unit *u, const struct py_node *node)
{
	struct scope *s = ptr_map_get(&u->scopes, node);
	struct builder *volatile root = NULL;
	struct builder *r;
	jmp_buf trap;

	if (s)
		return s;
	u->arena.trap = &trap;
	if (setjmp(trap)) {
		u->arena.trap = NULL;
		if (root)
			release_all(root);
		return NULL;
	}
	r = arena_zalloc(&u->arena, sizeof *r);
	root = r;
	r->u = u;
	r->trap = &trap;
	r->s = arena_zalloc(&u->arena, sizeof *r->s);
	r->s->kind = SCOPE_MODULE;
	r->s->node = node->kind == PY_Module ? node : NULL;
	if (node->kind == PY_Module)
		walk_list(r, &node->u.Module.body);
	else
		walk(r, node);
	resolve_dotted(r);
	resolve(r);
	if (!r->s->node)
		r->s = NULL;
	finish_all(r);
	release_all(r);
	u->arena.trap = NULL;
	return ptr_map_get(&u->scopes, node);
}
