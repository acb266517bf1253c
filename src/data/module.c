/* Looking things up in a parsed module, without running it. module.h is the manual. */
#include "data/module.h"

#include "base/mem.h"

/* The first class or function of that name in a body, or NULL. */
static const struct py_node *find(const struct py_list *body, enum py_kind kind, struct str name)
{
	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *n = body->v[i];

		if (n->kind == kind && str_eq(kind == PY_ClassDef ? n->u.ClassDef.name : n->u.FunctionDef.name, name))
			return n;
	}
	return NULL;
}

/* The class of that name at the top level of the module, or NULL. */
const struct py_node *module_class(const struct py_module *m, struct str name)
{
	return find(&m->root->u.Module.body, PY_ClassDef, name);
}

/* The function of that name at the top level of the module, or NULL. */
const struct py_node *module_function(const struct py_module *m, struct str name)
{
	return find(&m->root->u.Module.body, PY_FunctionDef, name);
}

/* The last name of a dotted path: "relu" for torch.nn.functional.relu. Empty for other
 * expressions. */
struct str module_last_name(const struct py_node *n)
{
	return n->kind == PY_Attribute ? n->u.Attribute.attr : n->kind == PY_Name ? n->u.Name.id : STR("");
}

/* Classes above a class that are looked through; a class that inherits from itself ends there. */
enum { DEPTH_MOST = 8 };

/* The method of a class or of its bases in this file, from left to right. */
static const struct py_node *method_above(const struct py_module *m, const struct py_node *class, struct str name,
					  int depth)
{
	const struct py_node *f = class && depth < DEPTH_MOST ?
		find(&class->u.ClassDef.body, PY_FunctionDef, name) : NULL;

	for (size_t i = 0; class && depth < DEPTH_MOST && !f && i < class->u.ClassDef.bases.n; i++)
		f = method_above(m, module_class(m, module_last_name(class->u.ClassDef.bases.v[i])), name, depth + 1);
	return f;
}

/* The method of a class, or of the first base class in this file that has it. */
const struct py_node *module_method(const struct py_module *m, const struct py_node *class, struct str name)
{
	return method_above(m, class, name, 0);
}

/* Does a class inherit from a library's class that brings its own forward, such as nn.Conv2d?
 * nn.Module, object and ABC have none. */
static int library_base(const struct py_module *m, const struct py_node *class, int depth)
{
	static const char *const without[] = { "Module", "object", "ABC", "Function", "Enum", "NamedTuple" };

	for (size_t i = 0; depth < DEPTH_MOST && i < class->u.ClassDef.bases.n; i++) {
		struct str name = module_last_name(class->u.ClassDef.bases.v[i]);
		const struct py_node *base = module_class(m, name);
		int known = !name.n;

		for (size_t k = 0; k < COUNT_OF(without); k++)
			known |= str_is(name, without[k]);
		if (base ? library_base(m, base, depth + 1) :
		    !known && class->u.ClassDef.bases.v[i]->kind == PY_Attribute)
			return 1;
	}
	return 0;
}

int module_has_forward(const struct py_module *m, const struct py_node *class)
{
	return class && (module_method(m, class, STR("forward")) || library_base(m, class, 0));
}

/* The number of functions with a decorator that ends in `jit`. */
int module_kernels(const struct py_module *m)
{
	const struct py_list *body = &m->root->u.Module.body;
	int count = 0;

	for (size_t i = 0; i < body->n; i++) {
		const struct py_list *d = &body->v[i]->u.FunctionDef.decorator_list;

		for (size_t k = 0; body->v[i]->kind == PY_FunctionDef && k < d->n; k++) {
			const struct py_node *f = d->v[k]->kind == PY_Call ? d->v[k]->u.Call.func : d->v[k];

			if (str_is(module_last_name(f), "jit")) {
				count++;
				break;
			}
		}
	}
	return count;
}
