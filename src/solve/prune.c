/* Marks the definitions that a solution keeps: see prune.h. */
#include "solve/prune.h"

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

static void use(struct collect *c, struct str name)
{
	c->failed |= !map_put(&c->p->names, name);
}

/* Names, attributes and words in quotes: getattr(self, "conv1") uses conv1. */
static void collect_names(void *ctx, struct py_node *n)
{
	struct collect *c = ctx;

	if (!n)
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
			(owner >= 0 && is_called_by_others(part.name));
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

int prune_mark(struct prune *p, const struct py_module *m, const struct signature *sig, struct err *e)
{
	struct collect c = { .p = p };
	int more = 1;

	*p = (struct prune){ .names = MAP_INIT };
	if (add_parts(p, &m->root->u.Module.body, -1, sig))
		return err_nomem(e);
	use(&c, STR("torch"));
	if (sig->forward)
		collect_names(&c, sig->forward->u.FunctionDef.args);
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
	return c.failed ? err_nomem(e) : 0;
}

void prune_release(struct prune *p)
{
	vec_free(&p->parts);
	map_release(&p->names);
}
