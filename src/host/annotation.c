/* Annotations that run code: see annotation.h. `x: int` and `x: tl.constexpr` are harmless; `x:
 * f()` is not, because CPython would call f. */
#include "host/annotation.h"

#include "base/str.h"
#include "interp/fail.h"

/* The walk over a module. */
struct search {
	const struct py_module *module;
	/* the two maps are filled; this is done when an annotation first needs them */
	int collected;
	struct map modules, others;  /* names that imports bind anywhere, and all other bound names */
	int failed;                    /* an allocation failed */
	int inside;                    /* inside an annotation */
	const struct py_node *found;  /* the first annotation that runs code */
};

static void add(struct search *s, struct map *to, struct str name)
{
	if (name.n && !map_put(to, name))
		s->failed = 1;
}

/* Collects the bound names below a node. */
static void collect(void *ctx, struct py_node *n)
{
	struct search *s = ctx;

	if (n->kind == PY_Assign && n->u.Assign.value->kind == PY_Constant)
		return;                /* `tl = None` after a failed import does not count */
	switch (n->kind) {
	case PY_alias: add(s, &s->modules, py_alias_name(&n->u.alias)); break;
	case PY_ClassDef: add(s, &s->others, n->u.ClassDef.name); break;
	case PY_FunctionDef: add(s, &s->others, n->u.FunctionDef.name); break;
	case PY_arg: add(s, &s->others, n->u.arg.arg); break;
	case PY_ExceptHandler: add(s, &s->others, n->u.ExceptHandler.name); break;
	case PY_Name:
		if (n->u.Name.ctx != PY_LOAD)
			add(s, &s->others, n->u.Name.id);
		break;
	default: break;
	}
	py_children(n, collect, s);
}

/* Whether the name is bound by imports only, or is a built-in container. Then no code of the
 * program runs for its attributes and items. */
static int is_library(struct search *s, struct str name)
{
	static const char *const types[] = { "list", "tuple", "dict", "set", "frozenset", "type" };
	int yes;

	if (!s->collected)
		collect(s, s->module->root);
	s->collected = 1;
	yes = map_get(&s->modules, name) != NULL;
	for (size_t i = 0; i < COUNT_OF(types); i++)
		yes |= str_is(name, types[i]);
	return yes && !map_get(&s->others, name);
}

/* Whether the node may run code: a call, or an attribute or item of an object of the program. */
static int computes(struct search *s, const struct py_node *n)
{
	int part = n->kind == PY_Attribute || n->kind == PY_Subscript;

	if (n->kind == PY_Call || n->kind == PY_NamedExpr || n->kind == PY_ListComp || n->kind == PY_SetComp ||
	    n->kind == PY_DictComp)
		return 1;
	while (n->kind == PY_Attribute || n->kind == PY_Subscript)
		n = n->kind == PY_Attribute ? n->u.Attribute.value : n->u.Subscript.value;
	return part && (n->kind != PY_Name || !is_library(s, n->u.Name.id));
}

/* `q.v.w: int` without a value evaluates q.v and stores nothing; `q.v: int` evaluates q, which is
 * harmless. */
static int declares(const struct py_node *n)
{
	const struct py_node *t = n->kind == PY_AnnAssign && !n->u.AnnAssign.value ? n->u.AnnAssign.target : NULL;

	return t && t->kind != PY_Name && (t->kind != PY_Attribute || t->u.Attribute.value->kind != PY_Name);
}

/* Annotations occur in statements and their parameters; expressions, lambdas included, have none. */
static int is_expression(const struct py_node *n)
{
	return py_kind_info(n->kind)->category == PY_IN_EXPR;
}

/* Searches a node for annotations, and annotations for code. */
static void find(void *ctx, struct py_node *n)
{
	struct search *s = ctx;
	struct py_node *note = n->kind == PY_AnnAssign ? n->u.AnnAssign.annotation
		: n->kind == PY_arg ? n->u.arg.annotation
		: n->kind == PY_FunctionDef ? n->u.FunctionDef.returns : NULL;

	if (!s->found && ((s->inside && computes(s, n)) || declares(n)))
		s->found = n;
	if (note && !s->inside) {
		s->inside = 1;
		find(s, note);
		s->inside = 0;
	}
	if (!s->found && (s->inside || !is_expression(n)))
		py_children(n, find, s);
}

/* The message names the line of the first such annotation. */
int annotation_refuse(struct host *h, const struct py_module *m)
{
	struct search s = { .module = m };
	int rc = 0;

	find(&s, m->root);
	if (s.failed)
		rc = host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
	else if (s.found)
		rc = host_fatal(h, REASON_unsupported,
				"the annotation in line %d runs code, which this engine does not support",
				s.found->line);
	map_release(&s.modules);
	map_release(&s.others);
	return rc;
}
