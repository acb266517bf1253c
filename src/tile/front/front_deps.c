/* The checks that Triton makes before it compiles anything (runtime/jit.py, DependenciesFinder):
 * every attribute of a module that a function, or a helper it names, mentions must exist, even in a
 * branch that is never taken. Triton 3.5 and later exempt triton.language, 3.8 and later exempt
 * everything. */
#include "tile/front/engine.h"

/* The walk over one function. */
struct deps {
	struct front *f;
	const struct tile_fn *fn;
	/* only its list of names is used: the variables that are local so far */
	struct front_frame *names;
	struct seen *seen;          /* functions that were checked already */
};

/* A list of functions; recursion ends at a function that is in it. */
struct seen { const struct tile_fn *fn; struct seen *next; };

static void check_function(struct front *f, const struct tile_fn *fn, struct seen **seen);

/* Adds the names of an assignment target. A local variable hides a global module of the same name. */
static void add_local(struct deps *d, const struct py_node *target)
{
	if (target->kind == PY_Name)
		front_add_name(d->f, d->names, target->u.Name.id);
	else if (target->kind == PY_Tuple)
		for (size_t i = 0; i < target->u.Tuple.elts.n; i++)
			add_local(d, target->u.Tuple.elts.v[i]);
}

/* The dotted name of the module that an expression denotes, or an empty string. A jit function that
 * the expression names is checked too. */
static struct str module_of(struct deps *d, const struct py_node *n)
{
	struct tile_val v;
	struct lang_val a;
	struct str m;

	if (n->kind == PY_Name) {
		if (front_slot(d->names, n->u.Name.id.p) >= 0 || !d->fn->lookup ||
		    !d->fn->lookup(d->fn->lookup_ctx, n->u.Name.id, &v))
			return STR("");
		/* A helper that is only named is checked, too: Triton hashes its source. */
		if (v.kind == TILE_V_FN)
			check_function(d->f, v.fn, &d->seen);
		return v.kind == TILE_V_MODULE ? v.s : STR("");
	}
	if (n->kind != PY_Attribute)
		return STR("");
	m = module_of(d, n->u.Attribute.value);
	if (!m.n || str_is(m, "math") || (d->f->version >= 305 && str_is(m, "triton.language")))
		return STR("");
	d->f->frame->cur = n;
	a = front_module_attr(d->f, m, n->u.Attribute.attr);
	return a.kind == LANG_MODULE ? a.u.s : STR("");
}

/* Triton keeps target names in a set and fails on a tuple inside a tuple: `(a, (b, c)) = x`. */
static void check_flat(struct deps *d, const struct py_list *targets)
{
	for (size_t i = 0; i < targets->n; i++)
		if (targets->v[i]->kind == PY_Tuple)
			front_fail_hint(d->f, REASON_unsupported_syntax, "unpack in two steps",
					"TypeError(\"unhashable type: 'list'\")");
}

/* Visits one node and its children, in the order of Triton's visitor. */
static void check_node(void *ctx, struct py_node *n)
{
	struct deps *d = ctx;
	switch (n->kind) {
	case PY_Constant:
		return;
	case PY_Name:
		if (n->u.Name.ctx == PY_LOAD)
			module_of(d, n);
		return;
	case PY_Attribute: {
		/* To Triton a.b.c is one dotted name if it starts with a name, else an expression. */
		const struct py_node *root = n;
		while (root->kind == PY_Attribute)
			root = root->u.Attribute.value;
		if (root->kind == PY_Name)
			module_of(d, n);
		else
			py_children(n, check_node, ctx);
		return;
	}
	case PY_Assign:
		d->f->frame->cur = n;
		if (n->u.Assign.targets.n == 1 && n->u.Assign.targets.v[0]->kind == PY_Tuple)
			check_flat(d, &n->u.Assign.targets.v[0]->u.Tuple.elts);
		if (n->u.Assign.targets.n == 1)
			add_local(d, n->u.Assign.targets.v[0]);
		break;
	case PY_AnnAssign:
		add_local(d, n->u.AnnAssign.target);
		break;
	case PY_For:
		add_local(d, n->u.For.target);
		break;
	default:
		break;
	}
	py_children(n, check_node, ctx);
}

/* Checks a function once: its parameters are local, then come defaults and annotations, then the
 * body. */
static void check_function(struct front *f, const struct tile_fn *fn, struct seen **seen)
{
	struct front_frame names;
	struct seen *me;
	struct deps d;
	const struct py_FunctionDef *def;
	const struct py_list *args;

	for (const struct seen *s = *seen; s; s = s->next)
		if (s->fn == fn)
			return;
	me = arena_zalloc(f->a, sizeof *me);
	*me = (struct seen){ .fn = fn, .next = *seen };
	*seen = me;
	names = (struct front_frame){ .fn = fn };
	d = (struct deps){ .f = f, .fn = fn, .names = &names, .seen = *seen };
	def = &fn->def->u.FunctionDef;
	args = &def->args->u.arguments.args;
	for (size_t i = 0; i < args->n; i++)
		front_add_name(f, &names, args->v[i]->u.arg.arg);
	py_children(def->args, check_node, &d);
	for (size_t i = 0; i < def->body.n; i++)
		check_node(&d, def->body.v[i]);
	*seen = d.seen;
}

/* Afterwards the location of errors is the kernel again. */
void front_check_names(struct front *f, const struct tile_fn *fn)
{
	struct seen *seen = NULL;
	if (f->version < 308)
		check_function(f, fn, &seen);
	f->frame->cur = fn->def;
}
