/* The call graph of forward: see call_graph.h.
 *
 * A function is reached if forward, or a reached function, names it, calls it through self, names
 * its class, or names a module-level variable whose value names it. The methods of classes that
 * constructors name are reached as well.
 *
 * The graph contains too much rather than too little: names decide, not control flow. Too large a
 * graph is safe for finding launches, and for finding state. If nothing that is
 * reached launches a kernel, launches in functions that build the model count too. */
#include "verify/rules/call_graph.h"

#include <stdio.h>

/* Functions beyond this number are not followed; the runtime checks still see what they do. */
enum { CALL_GRAPH_MOST = 128 };

/* State of the construction. */
struct visit {
	struct call_graph *r;
	const struct py_module *m;
	const struct py_node *cls;                   /* the model's class */
	const struct py_node *fn;                    /* the function being walked */
	const struct py_node *seen[CALL_GRAPH_MOST];      /* reached functions; the first `done` were walked */
	size_t n, done;
	const struct py_node *makers[CALL_GRAPH_MOST];    /* functions called while the model is built */
	size_t n_makers;
	const struct py_node *values[CALL_GRAPH_MOST];    /* assignments of module variables that were named */
	size_t n_values;
};

/* Finds the last definition of a name in a body: a later one replaces an earlier one. */
static const struct py_node *find_def(const struct py_list *body, enum py_kind kind, struct str name)
{
	const struct py_node *found = NULL;

	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *s = body->v[i];

		if (s->kind == kind && str_eq(kind == PY_ClassDef ? s->u.ClassDef.name : s->u.FunctionDef.name, name))
			found = s;
	}
	return found;
}

const struct py_node *call_graph_class(const struct py_module *m, const char *name)
{
	return find_def(&m->root->u.Module.body, PY_ClassDef, str_of(name));
}

const struct py_node *call_graph_method(const struct py_node *cls, const char *name)
{
	return find_def(&cls->u.ClassDef.body, PY_FunctionDef, str_of(name));
}

/* Recursion writes the left part first. A chain that starts with a call, such as f().x, has no
 * dotted name. */
int call_graph_dotted(const struct py_node *n, char *out, size_t cap)
{
	struct str name = n->kind == PY_Name ? n->u.Name.id : n->kind == PY_Attribute ? n->u.Attribute.attr :
		(struct str){ .n = 0 };
	size_t at = 0;

	if (n->kind == PY_Attribute && call_graph_dotted(n->u.Attribute.value, out, cap)) {
		at = strlen(out);
		out[at++] = '.';
	} else if (n->kind != PY_Name) {
		return 0;
	}
	if (name.n >= cap - at)
		return 0;
	memcpy(out + at, name.p, name.n);
	out[at + name.n] = '\0';
	return 1;
}

/* Tells whether a function is decorated with @triton.jit, with or without arguments. */
static int is_jit(const struct py_node *fn)
{
	char path[80];

	for (size_t i = 0; i < fn->u.FunctionDef.decorator_list.n; i++) {
		const struct py_node *dec = fn->u.FunctionDef.decorator_list.v[i];

		if (dec->kind == PY_Call)
			dec = dec->u.Call.func;
		if (call_graph_dotted(dec, path, sizeof path) && (!strcmp(path, "triton.jit") || !strcmp(path, "jit")))
			return 1;
	}
	return 0;
}

/* Adds a function to the reached ones. Kernels are not walked: they run on the device. */
static void call_graph_fn(struct visit *v, const struct py_node *fn)
{
	if (!fn || is_jit(fn) || v->n == CALL_GRAPH_MOST)
		return;
	for (size_t i = 0; i < v->n; i++)
		if (v->seen[i] == fn)
			return;
	v->seen[v->n++] = fn;
}

static void call_graph_object(struct visit *v, const struct py_node *cls);
static void call_graph_maker(struct visit *v, const struct py_node *fn);

/* Adds the classes and functions that an expression of a constructor names. */
static void look_for_classes(void *ctx, struct py_node *n)
{
	struct visit *v = ctx;

	if (n->kind == PY_Name && n->u.Name.ctx == PY_LOAD) {
		call_graph_object(v, find_def(&v->m->root->u.Module.body, PY_ClassDef, n->u.Name.id));
		call_graph_maker(v, find_def(&v->m->root->u.Module.body, PY_FunctionDef, n->u.Name.id));
	}
	py_children(n, look_for_classes, v);
}

/* Adds a function that may be called while the model is built. The objects that it constructs may
 * be called later. */
static void call_graph_maker(struct visit *v, const struct py_node *fn)
{
	if (!fn || v->n_makers == CALL_GRAPH_MOST)
		return;
	for (size_t i = 0; i < v->n_makers; i++)
		if (v->makers[i] == fn)
			return;
	v->makers[v->n_makers++] = fn;
	for (size_t i = 0; i < fn->u.FunctionDef.body.n; i++)
		look_for_classes(v, fn->u.FunctionDef.body.v[i]);
}

/* Adds what a class constructs: constructors call other methods (def _make_layer(self)), and
 * assignments in the class body are made with it. */
static void reach_made(struct visit *v, const struct py_node *cls)
{
	for (size_t i = 0; i < cls->u.ClassDef.body.n; i++) {
		struct py_node *s = cls->u.ClassDef.body.v[i];

		if (s->kind == PY_FunctionDef)
			call_graph_maker(v, s);
		else
			look_for_classes(v, s);
	}
}

/* Adds everything that using a class may call. The constructor is not on the path of forward. The
 * `backward` of a torch.autograd.Function is never called. */
static void call_graph_object(struct visit *v, const struct py_node *cls)
{
	size_t before = v->n;

	if (!cls || cls == v->cls)
		return;
	for (size_t i = 0; i < cls->u.ClassDef.body.n; i++) {
		const struct py_node *f = cls->u.ClassDef.body.v[i];

		if (f->kind == PY_FunctionDef && !str_is(f->u.FunctionDef.name, "__init__") &&
		    !str_is(f->u.FunctionDef.name, "backward"))
			call_graph_fn(v, f);
	}
	if (v->n > before)
		reach_made(v, cls);
}

/* Records a finding. The first one stays. */
static void found(struct call_graph_find *f, const struct py_node *at, const char *fmt, ...) PRINTF_LIKE(3, 4);

static void found(struct call_graph_find *f, const struct py_node *at, const char *fmt, ...)
{
	va_list ap;

	if (f->node)
		return;
	f->node = at;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof f->text, fmt, ap);
	va_end(ap);
}

/* --- state ------------------------------------------------------------------------------- */

/* The name searched for, and whether an assignment to it was found. */
struct bound_search { struct str name; int found; };

/* Searches for an assignment to the name. Lambdas have names of their own. */
static void look_for_binding(void *ctx, struct py_node *n)
{
	struct bound_search *b = ctx;

	if (n->kind == PY_Name && n->u.Name.ctx == PY_STORE && str_eq(n->u.Name.id, b->name))
		b->found = 1;
	if (!b->found && n->kind != PY_Lambda)
		py_children(n, look_for_binding, b);
}

/* Tells whether the name is a local variable of the function, not a parameter. The object in a
 * local variable dies with the call. */
static int is_local(const struct py_node *fn, struct str name)
{
	struct bound_search b = { .name = name };

	for (size_t i = 0; i < fn->u.FunctionDef.body.n && !b.found; i++)
		look_for_binding(&b, fn->u.FunctionDef.body.v[i]);
	return b.found;
}

/* The index of a positional parameter, or -1 if no positional parameter has this name. */
static int parameter_index(const struct py_node *fn, struct str name)
{
	const struct py_arguments *a = &fn->u.FunctionDef.args->u.arguments;

	for (size_t i = 0; i < a->args.n; i++)
		if (str_eq(a->args.v[i]->u.arg.arg, name))
			return (int)i;
	return -1;
}

/* Uses of a function: calls whose argument `index` is a list literal, and all other uses. */
struct call_search { struct str fn; int index; int calls, kept; };

/* Counts the uses of a function by name. Each use counts as `kept` first; a call with a list
 * literal takes that back. */
static void look_for_calls(void *ctx, struct py_node *n)
{
	struct call_search *c = ctx;

	if (n->kind == PY_Name && n->u.Name.ctx == PY_LOAD && str_eq(n->u.Name.id, c->fn))
		c->kept++;
	if (n->kind == PY_Call && n->u.Call.func->kind == PY_Name && str_eq(n->u.Call.func->u.Name.id, c->fn) &&
	    n->u.Call.args.n > (size_t)c->index && n->u.Call.args.v[c->index]->kind == PY_List) {
		c->calls++;
		c->kept--;
	}
	py_children(n, look_for_calls, c);
}

/* Tells whether a parameter is a new list in every use of the function. A new list dies with the
 * call as well. Compilers of models write such code: call([x, weight]), and then args.clear() in
 * the function. */
static int is_fresh(const struct visit *v, struct str name)
{
	struct call_search c = { .fn = v->fn->u.FunctionDef.name, .index = parameter_index(v->fn, name) };

	if (c.index < 0)
		return 0;
	look_for_calls(&c, v->m->root);
	return c.calls > 0 && c.kept == 0;
}

/* Recognises `ctx`, the first parameter of a torch.autograd.Function's forward. It is made for each
 * call. */
static int is_context(const struct py_node *fn, const struct py_node *base)
{
	return base->kind == PY_Name && str_is(base->u.Name.id, "ctx") && parameter_index(fn, base->u.Name.id) == 0;
}

/* Tells whether a store to an attribute is checked elsewhere. torchenv.c tracks settings of
 * torch.backends. `x.data = y` is checked when it happens. Statistics of a norm are compared after
 * the call. */
static int is_harmless(const struct py_node *t)
{
	static const char *const watched[] = { "data", "running_mean", "running_var", "num_batches_tracked", NULL };
	char path[80];

	for (int i = 0; watched[i]; i++)
		if (str_is(t->u.Attribute.attr, watched[i]))
			return 1;
	return call_graph_dotted(t, path, sizeof path) && !strncmp(path, "torch.backends.", 15);
}

/* Reports a store to an attribute or an element, unless its object dies with the call. */
static void check_store(struct visit *v, const struct py_node *t)
{
	if (t->kind == PY_Tuple || t->kind == PY_List) {
		const struct py_list *e = t->kind == PY_Tuple ? &t->u.Tuple.elts : &t->u.List.elts;

		for (size_t i = 0; i < e->n; i++)
			check_store(v, e->v[i]);
	} else if (t->kind == PY_Attribute && !is_context(v->fn, t->u.Attribute.value) && !is_harmless(t)) {
		const struct py_node *base = t->u.Attribute.value;

		/* The object that a local name refers to is known only at run time, and checked
		 * then. */
		if (base->kind != PY_Name || !is_local(v->fn, base->u.Name.id))
			found(&v->r->state, t,
			      "forward stores to attribute '%.*s', but a call must not leave state to the next: "
			      "compute what depends on weights in each call, the rest in __init__",
			      STR_ARG(t->u.Attribute.attr));
	} else if (t->kind == PY_Subscript) {
		const struct py_node *base = t->u.Subscript.value;

		if (base->kind != PY_Name || !is_local(v->fn, base->u.Name.id))
			found(&v->r->state, t, "forward stores into an object that outlives the call");
	}
}

/* Reports a call of a method that changes an object which outlives the call, such as
 * self.cache.append(x). */
static void check_mutation(struct visit *v, const struct py_node *call)
{
	static const char *const mutators[] = { "append", "extend", "insert", "update", "setdefault",
						"pop", "popitem", "clear",
						"register_buffer", "register_parameter", "add_module", NULL };
	const struct py_node *f = call->u.Call.func, *base;
	int mutates = 0;

	if (f->kind != PY_Attribute)
		return;
	for (int i = 0; mutators[i]; i++)
		mutates |= str_is(f->u.Attribute.attr, mutators[i]);
	base = f->u.Attribute.value;
	if (mutates && (base->kind != PY_Name || (!is_local(v->fn, base->u.Name.id) && !is_fresh(v, base->u.Name.id))))
		found(&v->r->state, call, "forward changes an object that outlives the call, by .%.*s()",
		      STR_ARG(f->u.Attribute.attr));
}

/* Reports mutable default arguments: Python makes them once, so they outlive the call. */
static void check_defaults(struct visit *v, const struct py_node *fn)
{
	const struct py_arguments *a = &fn->u.FunctionDef.args->u.arguments;

	for (size_t i = 0; i < a->defaults.n + a->kw_defaults.n; i++) {
		const struct py_node *d = i < a->defaults.n ? a->defaults.v[i] : a->kw_defaults.v[i - a->defaults.n];

		if (d && (d->kind == PY_List || d->kind == PY_Dict || d->kind == PY_Set || d->kind == PY_Call))
			found(&v->r->state, d, "a mutable default argument outlives the call");
	}
}

/* --- custom operators --------------------------------------------------------------------- */

/* Tells whether a decorator registers the function as a custom operator "namespace::name". */
static int names_operator(const struct py_node *fn, const char *name)
{
	for (size_t i = 0; i < fn->u.FunctionDef.decorator_list.n; i++) {
		const struct py_node *dec = fn->u.FunctionDef.decorator_list.v[i];
		const struct py_node *first = dec->kind == PY_Call && dec->u.Call.args.n ? dec->u.Call.args.v[0] : NULL;

		if (first && first->kind == PY_Constant && first->u.Constant.value.kind == PY_C_STR &&
		    str_is(first->u.Constant.value.s, name))
			return 1;
	}
	return 0;
}

/* Finds the function behind a custom operator: torch.ops.NAMESPACE.NAME, possibly with .default. */
static const struct py_node *operator_def(const struct py_module *m, const char *path)
{
	const struct py_list *body = &m->root->u.Module.body;
	struct str rest = str_of(path), space, name;
	char full[160];

	if (strncmp(path, "torch.ops.", 10))
		return NULL;
	rest.p += 10;
	rest.n -= 10;
	space = str_cut(&rest, '.');
	name = str_cut(&rest, '.');
	snprintf(full, sizeof full, "%.*s::%.*s", STR_ARG(space), STR_ARG(name));
	for (size_t i = 0; i < body->n; i++)
		if (body->v[i]->kind == PY_FunctionDef && names_operator(body->v[i], full))
			return body->v[i];
	return NULL;
}

/* --- the walk ----------------------------------------------------------------------------- */

static void add_named(struct visit *v, const struct py_node *n);

/* Adds everything that an expression names. */
static void add_all_named(void *ctx, struct py_node *n)
{
	add_named(ctx, n);
	py_children(n, add_all_named, ctx);
}

/* Adds what a module-level variable was made of. Example: relu = ReLU.apply; a function that names
 * relu reaches the class ReLU. */
static void call_graph_values(struct visit *v, struct str name)
{
	const struct py_list *body = &v->m->root->u.Module.body;

	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *s = body->v[i], *t = s->kind == PY_Assign && s->u.Assign.targets.n == 1 ?
			s->u.Assign.targets.v[0] : NULL;
		size_t k = 0;

		if (!t || t->kind != PY_Name || !str_eq(t->u.Name.id, name))
			continue;
		while (k < v->n_values && v->values[k] != s)
			k++;
		if (k < v->n_values || k == CALL_GRAPH_MOST)
			continue;
		v->values[v->n_values++] = s;
		add_all_named(v, s->u.Assign.value);
	}
}

/* Adds the functions, classes and module variables that one node names. */
static void add_named(struct visit *v, const struct py_node *n)
{
	const struct py_list *body = &v->m->root->u.Module.body;
	char path[160];

	if (n->kind == PY_Name && n->u.Name.ctx == PY_LOAD) {
		call_graph_fn(v, find_def(body, PY_FunctionDef, n->u.Name.id));
		call_graph_object(v, find_def(body, PY_ClassDef, n->u.Name.id));
		call_graph_values(v, n->u.Name.id);
	} else if (n->kind == PY_Attribute && n->u.Attribute.value->kind == PY_Name) {
		call_graph_fn(v, find_def(&v->cls->u.ClassDef.body, PY_FunctionDef, n->u.Attribute.attr));
	} else if (n->kind == PY_Attribute && call_graph_dotted(n, path, sizeof path)) {
		call_graph_fn(v, operator_def(v->m, path));
	}
}

/* Tells whether a name is a kernel, in the module or in one of its classes. */
static int is_kernel(const struct py_module *m, struct str id)
{
	const struct py_list *body = &m->root->u.Module.body;
	const struct py_node *def = find_def(body, PY_FunctionDef, id);

	for (size_t i = 0; i < body->n && !def; i++)
		def = body->v[i]->kind == PY_ClassDef ? find_def(&body->v[i]->u.ClassDef.body,
								 PY_FunctionDef, id) : NULL;
	return def && is_jit(def);
}

/* Recognises kernel[grid](...) for any kernel, and a kernel that is named: kernel[grid] and
 * kernel.run may be called later. */
static int may_launch(const struct visit *v, const struct py_node *n)
{
	if (n->kind == PY_Call)
		return n->u.Call.func->kind == PY_Subscript;
	return (n->kind == PY_Name && is_kernel(v->m, n->u.Name.id)) || (n->kind == PY_Attribute &&
			is_kernel(v->m, n->u.Attribute.attr));
}

/* Counts the possible launches below a node. */
static void count_launches(void *ctx, struct py_node *n)
{
	struct visit *v = ctx;

	v->r->launches += may_launch(v, n);
	py_children(n, count_launches, v);
}

/* Counts launches in functions that build the model. Example: self.op = partial(launch, block=64);
 * forward calls it by a name that tells nothing. Only the run shows whether the launch happens, and
 * what the function stores or computes. */
static void count_kept(struct visit *v)
{
	for (size_t i = 0; i < v->n_makers; i++)
		for (size_t k = 0; k < v->makers[i]->u.FunctionDef.body.n; k++)
			count_launches(v, v->makers[i]->u.FunctionDef.body.v[k]);
}

/* Applies all checks to a node of a reached function and to everything below it. */
static void walk(void *ctx, struct py_node *n)
{
	struct visit *v = ctx;

	add_named(v, n);
	v->r->launches += may_launch(v, n);
	switch (n->kind) {
	case PY_Call:
		check_mutation(v, n);
		break;
	case PY_Assign:
		for (size_t i = 0; i < n->u.Assign.targets.n; i++)
			check_store(v, n->u.Assign.targets.v[i]);
		break;
	case PY_AugAssign:
		/* x.y += z updates a tensor in place, as running statistics need. Anything else
		 * that it may do is checked at run time. */
		if (n->u.AugAssign.target->kind != PY_Attribute)
			check_store(v, n->u.AugAssign.target);
		break;
	case PY_AnnAssign:
		check_store(v, n->u.AnnAssign.target);
		break;
	case PY_NamedExpr:
		check_store(v, n->u.NamedExpr.target);
		break;
	default:
		break;
	}
	py_children(n, walk, v);
}

/* Counts the kernels of the module. */
static void count_jit(void *ctx, struct py_node *n)
{
	struct call_graph *r = ctx;

	if (n->kind == PY_FunctionDef && is_jit(n))
		r->jit_functions++;
	py_children(n, count_jit, r);
}

/* The list of reached functions is a work list: walking one function may add others. The loop ends
 * because a function is added once, and at most CALL_GRAPH_MOST are. */
void call_graph_from(struct call_graph *r, const struct py_module *m, const char *class_name)
{
	struct visit v = { .r = r, .m = m, .cls = call_graph_class(m, class_name) };

	*r = (struct call_graph){ .launches = 0 };
	count_jit(r, m->root);
	if (!v.cls)
		return;
	call_graph_fn(&v, call_graph_method(v.cls, "forward"));
	reach_made(&v, v.cls);
	while (v.done < v.n) {
		v.fn = v.seen[v.done++];
		check_defaults(&v, v.fn);
		for (size_t i = 0; i < v.fn->u.FunctionDef.body.n; i++)
			walk(&v, v.fn->u.FunctionDef.body.v[i]);
	}
	if (!r->launches)
		count_kept(&v);
}
