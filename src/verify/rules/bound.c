/* Names that functions bind: see bound.h.
 *
 * A name that is bound anywhere in a function is local everywhere in it. This is Python's own rule,
 * and it makes the answer safe. Example: after `id = 3` anywhere in f, no use of `id` in f can be
 * the builtin.
 *
 * Names of modules and classes are not considered: they may be read before they are bound, and then
 * they mean the builtin. */
#include "verify/rules/bound.h"

/* The name searched for, and whether a binding was found. */
struct search { struct str name; int found; };

/* Tells whether a node has local names of its own, which its surroundings do not see. */
static int is_scope(const struct py_node *n)
{
	switch (n->kind) {
	case PY_FunctionDef: case PY_AsyncFunctionDef: case PY_Lambda: case PY_ClassDef:
	case PY_ListComp: case PY_SetComp: case PY_DictComp: case PY_GeneratorExp:
		return 1;
	default:
		return 0;
	}
}

/* Searches a statement or expression for a binding of the name. Enters no inner scope: its bindings
 * are its own. The name of an inner function or class is a binding, however. */
static void look(void *ctx, struct py_node *n)
{
	struct search *s = ctx;
	struct str id = { .p = NULL };

	if (s->found)
		return;
	switch (n->kind) {
	case PY_Name: id = n->u.Name.ctx == PY_STORE ? n->u.Name.id : id; break;
	case PY_FunctionDef: case PY_AsyncFunctionDef: id = n->u.FunctionDef.name; break;
	case PY_ClassDef: id = n->u.ClassDef.name; break;
	case PY_ExceptHandler: id = n->u.ExceptHandler.name; break;
	case PY_arg: id = n->u.arg.arg; break;
	default: break;
	}
	s->found = id.p && str_eq(id, s->name);
	if (!is_scope(n))
		py_children(n, look, s);
}

/* Searches a list of statements. */
static void look_list(struct search *s, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		look(s, l->v[i]);
}

/* Searches the targets of a comprehension: `x` in [... for x in xs]. */
static void look_generators(struct search *s, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		look(s, l->v[i]->u.comprehension.target);
}

/* Tells whether this one scope binds the name: as a parameter, a target of assignment, a loop
 * variable, an exception's name, or a nested definition. */
static int binds(const struct py_node *n, struct str name)
{
	struct search s = { .name = name };

	switch (n->kind) {
	case PY_FunctionDef: case PY_AsyncFunctionDef:
		py_children(n->u.FunctionDef.args, look, &s);
		look_list(&s, &n->u.FunctionDef.body);
		break;
	case PY_Lambda: py_children(n->u.Lambda.args, look, &s); break;
	case PY_ListComp: look_generators(&s, &n->u.ListComp.generators); break;
	case PY_SetComp: look_generators(&s, &n->u.SetComp.generators); break;
	case PY_DictComp: look_generators(&s, &n->u.DictComp.generators); break;
	case PY_GeneratorExp: look_generators(&s, &n->u.GeneratorExp.generators); break;
	default: break;
	}
	return s.found;
}

int bound_name(const struct bound_scope *s, struct str name)
{
	for (; s; s = s->up)
		if (binds(s->node, name))
			return 1;
	return 0;
}
