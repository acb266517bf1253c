/* Marks the definitions that a solution keeps: see prune.h. */
#include "solve/prune.h"

#include <stdio.h>

#include "base/mem.h"

/* Members that Python or the library calls although no source names them. */
static const char *const called_by_others[] = {
	"__init__", "__new__", "__post_init__", "__init_subclass__", "__setattr__", "__getattr__", "__len__",
	"__getitem__", "__iter__", "__missing__", "reset_parameters", "_reset_parameters", "reset_running_stats",
};

struct collect {
	struct prune *p;
	int failed;
};

static int is_statement(const struct py_node *n)
{
	return py_kind_info(n->kind)->category == PY_IN_STMT;
}

/* Whether a function ran. */
static int was_called(const struct prune *p, const struct py_node *n)
{
	return ptr_map_get(p->ran, n->u.FunctionDef.body.v[0]) != NULL;
}

static void use(struct collect *c, struct str name)
{
	c->failed |= !map_put(&c->p->names, name);
}

/* Finds introspection, such as m.__class__.__name__ or type(m). */
static void find_introspection(void *ctx, struct py_node *n)
{
	int *found = ctx;

	if (!n || *found)
		return;
	if (n->kind == PY_Name)
		*found = str_is(n->u.Name.id, "type");
	if (n->kind == PY_Attribute)
		*found = str_starts(n->u.Attribute.attr, "__") && str_ends(n->u.Attribute.attr, "__") &&
			!str_is(n->u.Attribute.attr, "__init__");
	py_children(n, find_introspection, ctx);
}

/* Whether a statement is self.layers.apply(init_weights) for a function that chooses modules by the names of
 * their classes. It sets weights only, and a candidate gets the weights of the reference. */
static int is_hidden_init(const struct prune *p, const struct py_node *n)
{
	const struct py_node *call = n->kind == PY_Expr ? n->u.Expr.value : NULL, *arg;
	int found = 0;

	if (!call || call->kind != PY_Call || call->u.Call.func->kind != PY_Attribute || call->u.Call.args.n != 1 ||
	    !str_is(call->u.Call.func->u.Attribute.attr, "apply"))
		return 0;
	arg = call->u.Call.args.v[0];
	for (size_t i = 0; i < p->parts.n && arg->kind == PY_Name; i++)
		if (p->parts.v[i].owner < 0 && p->parts.v[i].node->kind == PY_FunctionDef &&
		    str_eq(p->parts.v[i].name, arg->u.Name.id))
			py_children(p->parts.v[i].node, find_introspection, &found);
	return found;
}

/* Names, attributes and words in quotes: getattr(self, "conv1") uses conv1. */
static void collect_names(void *ctx, struct py_node *n)
{
	struct collect *c = ctx;

	if (!n || (is_statement(n) && (!ptr_map_get(c->p->ran, n) || is_hidden_init(c->p, n))))
		return;
	if (n->kind == PY_Name)
		use(c, n->u.Name.id);
	else if (n->kind == PY_Attribute)
		use(c, n->u.Attribute.attr);
	else if (n->kind == PY_Constant && n->u.Constant.value.kind == PY_C_STR && n->u.Constant.value.s.n < 64)
		use(c, n->u.Constant.value.s);
	py_children(n, collect_names, ctx);
}

static void collect_list(struct collect *c, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		collect_names(c, l->v[i]);
}

static int is_definition(const struct py_node *n)
{
	return n->kind == PY_FunctionDef || n->kind == PY_AsyncFunctionDef || n->kind == PY_ClassDef;
}

/* The name that a statement defines; empty: it defines none and is kept. */
static struct str defined_name(const struct py_node *n)
{
	if (n->kind == PY_FunctionDef || n->kind == PY_AsyncFunctionDef)
		return n->u.FunctionDef.name;
	if (n->kind == PY_ClassDef)
		return n->u.ClassDef.name;
	if (n->kind == PY_Assign && n->u.Assign.targets.n == 1 && n->u.Assign.targets.v[0]->kind == PY_Name)
		return n->u.Assign.targets.v[0]->u.Name.id;
	return STR("");
}

static int is_called_by_others(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(called_by_others); i++)
		if (str_is(name, called_by_others[i]))
			return 1;
	return 0;
}

static int add_parts(struct prune *p, const struct py_list *body, int owner, const struct signature *sig)
{
	for (size_t i = 0; i < body->n; i++) {
		struct prune_part part = { .node = body->v[i], .name = defined_name(body->v[i]), .owner = owner };
		int import = body->v[i]->kind == PY_Import || body->v[i]->kind == PY_ImportFrom;
		int self = (int)p->parts.n;

		part.is_root = (!part.name.n && !import) || body->v[i] == sig->cls ||
			(owner >= 0 && body->v[i]->kind == PY_FunctionDef && is_called_by_others(part.name) &&
			 was_called(p, body->v[i]));
		if (vec_push(&p->parts, part))
			return -1;
		if (body->v[i]->kind == PY_ClassDef && add_parts(p, &body->v[i]->u.ClassDef.body, self, sig))
			return -1;
	}
	return 0;
}

/* `import a.b.c` is used by the name c, or by a if it is a single name; others by what they bind. */
static int import_used(const struct prune *p, const struct py_node *n)
{
	const struct py_list *names = n->kind == PY_Import ? &n->u.Import.names : &n->u.ImportFrom.names;

	if (n->kind == PY_ImportFrom && str_is(n->u.ImportFrom.module, "__future__"))
		return 1;
	for (size_t i = 0; i < names->n; i++) {
		const struct py_alias *a = &names->v[i]->u.alias;
		struct str name = a->asname.n ? a->asname : a->name;

		for (size_t k = name.n; !a->asname.n && k-- > 0;)
			if (name.p[k] == '.') {
				name = (struct str){ .p = name.p + k + 1, .n = name.n - k - 1 };
				break;
			}
		if (str_is(name, "*") || map_get(&p->names, name))
			return 1;
	}
	return 0;
}

static int is_wanted(const struct prune *p, const struct prune_part *part)
{
	if (part->owner >= 0 && !p->parts.v[part->owner].live)
		return 0;
	if (part->is_root)
		return 1;
	if (part->node->kind == PY_Import || part->node->kind == PY_ImportFrom)
		return import_used(p, part->node);
	return map_get(&p->names, part->name) != NULL;
}

/* A class uses its bases and decorators; its members are parts of their own. */
static void collect_part(struct collect *c, const struct prune_part *part)
{
	const struct py_node *n = part->node;

	if (n->kind != PY_ClassDef) {
		py_children(n, collect_names, c);
		return;
	}
	collect_list(c, &n->u.ClassDef.bases);
	collect_list(c, &n->u.ClassDef.keywords);
	collect_list(c, &n->u.ClassDef.decorator_list);
}

/* --- imports that repeat others -------------------------------------------------------------------- */

/* "torch.nn nn" for `from torch import nn` and `import torch.nn as nn`; empty for other imports. */
static void import_key(const struct py_node *n, char *key, size_t cap)
{
	const struct py_list *names = n->kind == PY_Import ? &n->u.Import.names : &n->u.ImportFrom.names;
	const struct py_alias *a = &names->v[0]->u.alias;
	struct str name = a->asname.n ? a->asname : a->name;

	*key = 0;
	if (names->n != 1 || (n->kind == PY_ImportFrom && n->u.ImportFrom.level))
		return;
	if (n->kind == PY_Import)
		snprintf(key, cap, "%.*s %.*s", STR_ARG(a->name), STR_ARG(name));
	else
		snprintf(key, cap, "%.*s.%.*s %.*s", STR_ARG(n->u.ImportFrom.module), STR_ARG(a->name), STR_ARG(name));
}

static int is_import(const struct py_node *n)
{
	return n->kind == PY_Import || n->kind == PY_ImportFrom;
}

/* The solution begins with `import torch`. */
static int drop_repeated(struct prune *p)
{
	struct map seen = MAP_INIT;
	int rc = map_put(&seen, STR("torch torch")) ? 0 : -1;

	for (size_t i = 0; i < p->parts.n && !rc; i++) {
		struct prune_part *part = &p->parts.v[i];
		char key[256];

		if (!part->live || part->owner >= 0 || !is_import(part->node))
			continue;
		import_key(part->node, key, sizeof key);
		if (*key && map_get(&seen, str_of(key)))
			part->live = 0, part->again = 1;
		else if (*key && !map_put(&seen, str_of(key)))
			rc = -1;
	}
	map_release(&seen);
	return rc;
}

int prune_mark(struct prune *p, const struct py_module *m, const struct signature *sig, const struct ptr_map *ran,
	       struct err *e)
{
	struct collect c = { .p = p };
	int more = 1;

	*p = (struct prune){ .names = MAP_INIT, .ran = ran };
	if (add_parts(p, &m->root->u.Module.body, -1, sig))
		return err_nomem(e);
	use(&c, STR("torch"));
	if (sig->forward)
		collect_names(&c, sig->forward->u.FunctionDef.args);
	if (sig->forward && sig->forward->u.FunctionDef.returns)
		collect_names(&c, sig->forward->u.FunctionDef.returns);
	while (more) {
		more = 0;
		for (size_t i = 0; i < p->parts.n; i++) {
			struct prune_part *part = &p->parts.v[i];

			if (part->live || !is_wanted(p, part) || (sig->own && part->node == sig->forward))
				continue;
			part->live = more = 1;
			collect_part(&c, part);
		}
	}
	for (size_t i = 0; i < p->parts.n; i++)
		if (!is_definition(p->parts.v[i].node) && !p->parts.v[i].name.n &&
		    p->parts.v[i].node->kind != PY_Import && p->parts.v[i].node->kind != PY_ImportFrom)
			p->parts.v[i].live = 1;
	return c.failed || drop_repeated(p) ? err_nomem(e) : 0;
}

/* --- branches that never ran ------------------------------------------------------------------------- */

struct if_walk {
	const struct prune *p;
	prune_if_fn *fn;
	void *ctx;
	int rc, found;
};

/* Whether an import binds a name. */
static int binds(const struct py_node *n, struct str name)
{
	const struct py_list *names = n->kind == PY_Import ? &n->u.Import.names : &n->u.ImportFrom.names;

	for (size_t i = 0; i < names->n; i++)
		if (str_eq(py_alias_name(&names->v[i]->u.alias), name))
			return 1;
	return 0;
}

/* Finds names of definitions that are left out, imports, and introspection. */
static void find_left_out(void *ctx, struct py_node *n)
{
	struct if_walk *w = ctx;

	w->found |= n && is_import(n);
	if (n && n->kind == PY_Name)
		for (size_t i = 0; i < w->p->parts.n && !w->found; i++) {
			const struct prune_part *part = &w->p->parts.v[i];

			if (part->live || part->again || part->owner >= 0)
				continue;
			w->found = is_import(part->node) ? binds(part->node, n->u.Name.id) :
				str_eq(part->name, n->u.Name.id);
		}
	if (n)
		find_introspection(&w->found, n);
	if (n && !w->found)
		py_children(n, find_left_out, ctx);
}

/* Looks at each `if` that ran, the outermost first. */
static void walk_ifs(void *ctx, struct py_node *n)
{
	struct if_walk *w = ctx;

	if (!n || w->rc || (is_statement(n) && !ptr_map_get(w->p->ran, n)))
		return;
	if (is_hidden_init(w->p, n)) {
		w->rc = w->fn(w->ctx, n, &(struct py_list){ .n = 0 });
		return;
	}
	if (n->kind == PY_If) {
		const struct py_list *body = &n->u.If.body, *orelse = &n->u.If.orelse;
		int yes = ptr_map_get(w->p->ran, body->v[0]) != NULL;
		int no = ptr_map_get(w->p->ran, n->u.If.test) != NULL;

		if (!(yes && no)) {
			const struct py_list *dead = yes ? orelse : body;

			w->found = 0;
			find_left_out(w, n->u.If.test);
			for (size_t i = 0; i < dead->n; i++)
				find_left_out(w, dead->v[i]);
			if (w->found) {
				w->rc = w->fn(w->ctx, n, yes ? body : orelse);
				return;
			}
		}
	}
	py_children(n, walk_ifs, ctx);
}

int prune_ifs(const struct prune *p, prune_if_fn *fn, void *ctx)
{
	struct if_walk w = { .p = p, .fn = fn, .ctx = ctx };

	for (size_t i = 0; i < p->parts.n && !w.rc; i++)
		if (p->parts.v[i].live && p->parts.v[i].node->kind == PY_FunctionDef)
			py_children(p->parts.v[i].node, walk_ifs, &w);
	return w.rc;
}

void prune_release(struct prune *p)
{
	vec_free(&p->parts);
	map_release(&p->names);
}
