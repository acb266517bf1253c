/* A kernel without the statements that an error concerns: see check_kernel.h.
 *
 * A compiler stops at the first error. To find the next one, the statement with the error is taken
 * out, with every statement that reads a name which a removed statement assigns. The rest does not
 * depend on the error, so its own errors are real. Example: without `y = tl.tanh(x)` the store of y
 * goes too, and `z = tl.load(q)` stays. The tree of the file is not changed: changed nodes are new. */
#include "tile/lint/check_kernel.h"

/* Names and positions beyond these are not recorded; then fewer statements are removed, and the
 * search for errors ends. */
enum { CUT_NAMES = 256 };

/* The statements that are taken out so far. */
struct error_cut {
	const struct check_errors *at;
	struct str names[CUT_NAMES];     /* assigned by removed statements */
	size_t n;
	int grown, removed;              /* in this pass: a name was added; statements were removed */
	int is_store;                    /* the walk below collects names, else it searches for them */
	int found;
	struct arena *mem;
	int failed;
};

static int is_cut(const struct error_cut *c, struct str name)
{
	for (size_t i = 0; i < c->n; i++)
		if (str_eq(c->names[i], name))
			return 1;
	return 0;
}

/* Is one of the errors inside this node? */
static int has_error(const struct error_cut *c, const struct py_node *n)
{
	for (size_t i = 0; i < c->at->n; i++) {
		int line = c->at->v[i].line, col = c->at->v[i].col - 1;

		if ((line > n->line || (line == n->line && col >= n->col)) &&
		    (line < n->end_line || (line == n->end_line && col < n->end_col)))
			return 1;
	}
	return 0;
}

/* Searches for a removed name that is read, or collects the names that are assigned. */
static void walk(void *ctx, struct py_node *n)
{
	struct error_cut *c = ctx;

	if (n->kind == PY_Name && c->is_store && n->u.Name.ctx != PY_LOAD && !is_cut(c, n->u.Name.id)) {
		c->grown = 1;
		if (c->n < CUT_NAMES)
			c->names[c->n++] = n->u.Name.id;
		else
			c->failed = 1;
	}
	if (n->kind == PY_Name && !c->is_store && n->u.Name.ctx == PY_LOAD && is_cut(c, n->u.Name.id))
		c->found = 1;
	if (n->kind == PY_AugAssign && !c->is_store && n->u.AugAssign.target->kind == PY_Name &&
	    is_cut(c, n->u.AugAssign.target->u.Name.id))
		c->found = 1;
	py_children(n, walk, ctx);
}

/* Does the node have an error, or read a removed name? */
static int concerns(struct error_cut *c, struct py_node *n)
{
	if (!n)
		return 0;
	c->is_store = c->found = 0;
	walk(c, n);
	return c->found || has_error(c, n);
}

/* The expression that decides about a block of statements, and its blocks; 0: a simple statement. */
static int blocks_of(struct py_node *n, struct py_node **head, struct py_list **body, struct py_list **orelse)
{
	*orelse = NULL;
	switch (n->kind) {
	case PY_If: *head = n->u.If.test; *body = &n->u.If.body; *orelse = &n->u.If.orelse; return 1;
	case PY_While: *head = n->u.While.test; *body = &n->u.While.body; *orelse = &n->u.While.orelse; return 1;
	case PY_For: *head = n->u.For.iter; *body = &n->u.For.body; *orelse = &n->u.For.orelse; return 1;
	default: return 0;
	}
}

/* Is the statement taken out? A block goes as a whole if its head is concerned. */
static int goes(struct error_cut *c, struct py_node *n)
{
	struct py_node *head;
	struct py_list *body, *orelse;

	return concerns(c, blocks_of(n, &head, &body, &orelse) ? head : n);
}

/* One pass over a block: the names that removed statements assign are removed names. */
static void spread(struct error_cut *c, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct py_node *head;
		struct py_list *body, *orelse;

		if (goes(c, l->v[i])) {
			c->is_store = 1;
			c->removed++;
			walk(c, l->v[i]);
		} else if (blocks_of(l->v[i], &head, &body, &orelse)) {
			spread(c, body);
			spread(c, orelse);
		}
	}
}

/* A new node at the place of another. */
static struct py_node *node_like(struct error_cut *c, const struct py_node *n, enum py_kind kind)
{
	struct py_node *m = arena_zalloc(c->mem, sizeof *m);

	if (!m) {
		c->failed = 1;
		return NULL;
	}
	m->kind = kind;
	m->line = n->line, m->col = n->col, m->end_line = n->end_line, m->end_col = n->end_col;
	return m;
}

static struct py_list keep(struct error_cut *c, const struct py_list *l, const struct py_node *owner);

/* A block with the rest of its statements. */
static struct py_node *keep_block(struct error_cut *c, struct py_node *n)
{
	struct py_node *m = node_like(c, n, n->kind), *head;
	struct py_list *body = NULL, *orelse = NULL;

	if (!m)
		return n;
	if (n->kind == PY_If)
		m->u.If = n->u.If;
	else if (n->kind == PY_While)
		m->u.While = n->u.While;
	else
		m->u.For = n->u.For;
	if (!blocks_of(m, &head, &body, &orelse))
		BUG("a block of kind %d", (int)m->kind);
	*body = keep(c, body, n);
	if (orelse->n)
		*orelse = keep(c, orelse, n);
	return m;
}

/* The statements that stay; `pass` if none does. */
static struct py_list keep(struct error_cut *c, const struct py_list *l, const struct py_node *owner)
{
	struct py_list out = { .v = arena_array(c->mem, l->n + 1, sizeof *out.v) };
	struct py_node *head;
	struct py_list *body, *orelse;

	if (!out.v) {
		c->failed = 1;
		return *l;
	}
	for (size_t i = 0; i < l->n; i++)
		if (!goes(c, l->v[i]))
			out.v[out.n++] = blocks_of(l->v[i], &head, &body, &orelse) ? keep_block(c, l->v[i]) : l->v[i];
	if (!out.n) {
		out.v[0] = node_like(c, owner, PY_Pass);
		out.n = out.v[0] != NULL;
	}
	return out;
}

/* Names spread until a pass adds none: a loop reads what a later statement of it assigns. */
const struct tile_fn *check_cut(const struct tile_fn *fn, const struct check_errors *at, struct arena *mem)
{
	struct error_cut c = { .at = at, .grown = 1, .mem = mem };
	struct tile_fn *out = arena_zalloc(mem, sizeof *out);
	struct py_node *def = node_like(&c, fn->def, PY_FunctionDef);

	while (c.grown && !c.failed) {
		c.grown = c.removed = 0;
		spread(&c, &fn->def->u.FunctionDef.body);
	}
	if (!out || !def || c.failed || !c.removed)
		return NULL;
	def->u.FunctionDef = fn->def->u.FunctionDef;
	def->u.FunctionDef.body = keep(&c, &fn->def->u.FunctionDef.body, fn->def);
	*out = *fn;
	out->def = def;
	return c.failed ? NULL : out;
}
