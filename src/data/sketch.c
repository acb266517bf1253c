/* Sketches of programs: min-hashes of runs of syntax features, for finding programs that differ
 * only in names and constants. sketch.h is the manual. */
#include "data/sketch.h"

#include "base/hash.h"
#include "base/mem.h"

/* Features of a run; imported names that are noted; items below which all are compared; hashes of
 * a band. */
enum { RUN = 8, NAMES = 64, SMALL = 1000, ROWS = SKETCH_N / SKETCH_BANDS };

/* Kinds of features, mixed into their hashes so that a name never equals a node kind. */
enum mark { M_NAME = 1, M_SELF, M_CONST, M_OP, M_KIND, M_END };

/* The state of a walk over a syntax tree. */
struct walk {
	struct sketch *s;
	uint64_t run[RUN];           /* the last features, newest last */
	int n;
	struct str imported[NAMES];
	int n_imported;
};

/* One number from two, well mixed (the finisher of a 64-bit hash). */
static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9E3779B97F4A7C15u ^ b;

	x ^= x >> 32;
	x *= 0xD6E8FEB86659FD93u;
	x ^= x >> 29;
	return x;
}

/* Updates the minimum of every hash function with one run. The functions are h * a + b with
 * odd a. */
static void add_run(struct sketch *s, uint32_t h)
{
	uint32_t a = 0x9E3779B1u, b = 0x7F4A7C15u;

	for (int i = 0; i < SKETCH_N; i++) {
		uint32_t v = h * a + b;

		s->v[i] = v < s->v[i] ? v : s->v[i];
		a = a * 5u + 0x3C6EF36Cu;          /* stays odd */
		b = b * 0x00010DCDu + 0x3039u;
	}
}

/* Adds a feature; the last RUN features together are one run. */
static void add(struct walk *w, uint64_t feature)
{
	uint64_t h = 0;

	w->s->whole = mix(w->s->whole, feature);
	memmove(w->run, w->run + 1, (RUN - 1) * sizeof *w->run);
	w->run[RUN - 1] = feature;
	if (++w->n < RUN)
		return;
	for (int i = 0; i < RUN; i++)
		h = mix(h, w->run[i]);
	add_run(w->s, (uint32_t)(h >> 16));
}

/* Adds a name as a feature. */
static void add_word(struct walk *w, struct str word)
{
	add(w, hash_xxh64(word.p, word.n, M_NAME));
}

/* --- the features of a tree --------------------------------------------------------------- */

/* Notes the names that an import binds: they keep their spelling, all others are forgotten. */
static void remember(struct walk *w, const struct py_node *stmt)
{
	const struct py_list *names = stmt->kind == PY_Import ? &stmt->u.Import.names :
				      stmt->kind == PY_ImportFrom ? &stmt->u.ImportFrom.names : NULL;

	for (size_t i = 0; names && i < names->n && w->n_imported < NAMES; i++) {
		const struct py_alias *a = &names->v[i]->u.alias;
		struct str rest = a->name;

		w->imported[w->n_imported++] = a->asname.p ? a->asname : str_cut(&rest, '.');
	}
}

/* Is the name bound by an import? */
static int is_imported(const struct walk *w, struct str name)
{
	for (int i = 0; i < w->n_imported; i++)
		if (str_eq(w->imported[i], name))
			return 1;
	return 0;
}

/* The name at the bottom of a.b.c, or NULL. */
static const struct py_node *root_name(const struct py_node *n)
{
	while (n->kind == PY_Attribute)
		n = n->u.Attribute.value;
	return n->kind == PY_Name ? n : NULL;
}

static void walk(void *ctx, struct py_node *n);

/* Walks a list and marks its end, so that f(a)(b) and f(a, b) differ. */
static void walk_list(struct walk *w, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i])
			walk(w, l->v[i]);
	add(w, M_END);
}

/* An attribute: self.NAME is one feature for any name; torch.NAME keeps its name. */
static void walk_attribute(struct walk *w, const struct py_node *n)
{
	const struct py_node *root = root_name(n);
	const struct py_node *value = n->u.Attribute.value;

	if (value->kind == PY_Name && str_is(value->u.Name.id, "self")) {
		add(w, M_SELF);
		return;
	}
	add_word(w, n->u.Attribute.attr);
	if (!root || !is_imported(w, root->u.Name.id))
		walk(w, n->u.Attribute.value);
}

/* A function: its own name counts only if it is forward or __init__, as does its number of
 * parameters. */
static void walk_function(struct walk *w, const struct py_FunctionDef *f)
{
	const struct py_arguments *a = &f->args->u.arguments;

	if (str_is(f->name, "forward") || str_is(f->name, "__init__"))
		add_word(w, f->name);
	add(w, a->posonlyargs.n + a->args.n + a->kwonlyargs.n);
	walk_list(w, &f->body);
}

/* Is the statement a docstring? */
static int is_text(const struct py_node *n)
{
	return n->kind == PY_Expr && n->u.Expr.value->kind == PY_Constant &&
		n->u.Expr.value->u.Constant.value.kind == PY_C_STR;
}

/* Adds an operator as a feature. */
static void add_op(struct walk *w, enum py_op op)
{
	add(w, mix(M_OP, (uint64_t)op));
}

/* Adds the features of a node that are not its children. Returns 1 if it has walked the children,
 * too. */
static int walk_special(struct walk *w, struct py_node *n)
{
	switch (n->kind) {
	case PY_Attribute: walk_attribute(w, n); return 1;
	case PY_FunctionDef: walk_function(w, &n->u.FunctionDef); return 1;
	case PY_ClassDef: walk_list(w, &n->u.ClassDef.bases), walk_list(w, &n->u.ClassDef.body); return 1;
	case PY_AnnAssign:
		walk(w, n->u.AnnAssign.target);
		if (n->u.AnnAssign.value)
			walk(w, n->u.AnnAssign.value);
		return 1;
	case PY_Name:
		if (is_imported(w, n->u.Name.id))
			add_word(w, n->u.Name.id);
		return 1;
	case PY_Constant: add(w, mix(M_CONST, (uint64_t)n->u.Constant.value.kind)); return 1;
	case PY_keyword: add_word(w, n->u.keyword.arg.p ? n->u.keyword.arg : STR("**")); return 0;
	case PY_BinOp: add_op(w, n->u.BinOp.op); return 0;
	case PY_UnaryOp: add_op(w, n->u.UnaryOp.op); return 0;
	case PY_BoolOp: add_op(w, n->u.BoolOp.op); return 0;
	case PY_AugAssign: add_op(w, n->u.AugAssign.op); return 0;
	case PY_Compare:
		for (size_t i = 0; i < n->u.Compare.ops.n; i++)
			add_op(w, n->u.Compare.ops.v[i]);
		return 0;
	default: return 0;
	}
}

static void walk(void *ctx, struct py_node *n)
{
	struct walk *w = ctx;

	if (is_text(n) || n->kind == PY_Import || n->kind == PY_ImportFrom)
		return;
	add(w, mix(M_KIND, (uint64_t)n->kind));
	if (!walk_special(w, n))
		py_children(n, walk, w);
}

/* get_inputs and get_init_inputs hold sizes and do not count. */
static int is_input_function(const struct py_node *n)
{
	return n->kind == PY_FunctionDef &&
	       (str_is(n->u.FunctionDef.name, "get_inputs") || str_is(n->u.FunctionDef.name, "get_init_inputs"));
}

/* A module constant holds a size and does not count. */
static int is_setting(const struct py_node *n)
{
	return n->kind == PY_Assign && n->u.Assign.value->kind == PY_Constant;
}

void sketch_module(const struct py_module *m, struct sketch *s)
{
	struct walk w = { .s = s };
	const struct py_list *body = &m->root->u.Module.body;

	s->whole = 0;
	for (int i = 0; i < SKETCH_N; i++)
		s->v[i] = UINT32_MAX;
	for (size_t i = 0; i < body->n; i++)
		remember(&w, body->v[i]);
	for (size_t i = 0; i < body->n; i++)
		if (!is_input_function(body->v[i]) && !is_setting(body->v[i]))
			walk(&w, body->v[i]);
}

/* The estimated Jaccard similarity of two modules: the share of equal minima. 64 equal ones of 128
 * mean 0.5. */
double sketch_similarity(const struct sketch *a, const struct sketch *b)
{
	int same = 0;

	for (int i = 0; i < SKETCH_N; i++)
		same += a->v[i] == b->v[i];
	return a->whole == b->whole ? 1.0 : (double)same / (double)SKETCH_N;
}

/* --- the index ---------------------------------------------------------------------------- */

/* The slot of a band in the index: sketches that agree in all hashes of a band share it. */
static size_t band_slot(const struct sketch_index *x, const struct sketch *s, int band)
{
	return hash_xxh64(s->v + band * ROWS, ROWS * sizeof *s->v, (uint64_t)band) & (x->slots - 1);
}

/* Enters an item into the list of each of its bands. */
static void link_item(struct sketch_index *x, size_t item)
{
	for (int b = 0; b < SKETCH_BANDS; b++) {
		uint32_t *head = &x->head[b][band_slot(x, &x->items.v[item], b)];

		x->next.v[item * SKETCH_BANDS + (size_t)b] = *head;
		*head = (uint32_t)item + 1;
	}
}

/* Doubles the index and enters all items again. */
static int grow(struct sketch_index *x)
{
	size_t slots = x->slots ? x->slots * 2 : 1024;

	for (int b = 0; b < SKETCH_BANDS; b++) {
		mem_free(x->head[b]);
		x->head[b] = mem_array(slots, sizeof *x->head[b]);
		if (!x->head[b])
			return -1;
	}
	x->slots = slots;
	for (size_t i = 0; i < x->items.n; i++)
		link_item(x, i);
	return 0;
}

/* Adds a sketch. The tables have at least one slot for each item, so that lists stay short. */
int sketch_index_add(struct sketch_index *x, const struct sketch *s, struct err *e)
{
	if (x->items.n >= x->slots && grow(x))
		return err_nomem(e);
	if (vec_grow(&x->next, SKETCH_BANDS) || vec_push(&x->items, *s))
		return err_nomem(e);
	x->next.n += SKETCH_BANDS;
	link_item(x, x->items.n - 1);
	return 0;
}

/* Compares with every item: for small indexes that is cheaper and exact. */
static double nearest_of_all(const struct sketch_index *x, const struct sketch *s, double enough)
{
	double best = 0.0;

	for (size_t i = 0; i < x->items.n && best < enough; i++)
		best = MAX(best, sketch_similarity(s, &x->items.v[i]));
	return best;
}

/* The similarity of the most similar item, found through the bands; the search stops at `enough`.
 * An item that shares no band is missed, which is likely only at low similarity. */
double sketch_index_nearest(const struct sketch_index *x, const struct sketch *s, double enough)
{
	double best = 0.0;

	if (x->items.n <= SMALL)
		return nearest_of_all(x, s, enough);
	for (int b = 0; b < SKETCH_BANDS && x->slots && best < enough; b++) {
		uint32_t i = x->head[b][band_slot(x, s, b)];

		for (; i && best < enough; i = x->next.v[(i - 1) * SKETCH_BANDS + (size_t)b])
			best = MAX(best, sketch_similarity(s, &x->items.v[i - 1]));
	}
	return best;
}

void sketch_index_release(struct sketch_index *x)
{
	for (int b = 0; b < SKETCH_BANDS; b++)
		mem_free(x->head[b]);
	vec_free(&x->items);
	vec_free(&x->next);
	*x = (struct sketch_index){ .slots = 0 };
}
