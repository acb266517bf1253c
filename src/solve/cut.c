/* Cutting a graph into kernels: see cut.h. Values are numbered in the order of computation, so a
 * value reads only values with smaller numbers, and one walk in that order decides everything. */
#include "solve/cut_impl.h"

#include <stdio.h>

/* A map is folded into several consumers if it has at most FOLD_SHARED operators, and into one if the
 * result has at most FOLD_MOST. Into a product, where it is computed once per tile of the other
 * operand, at most FOLD_PRODUCT. */
enum { FOLD_SHARED = 12, FOLD_MOST = 160, FOLD_PRODUCT = 10 };

/* --- what is read by whom ---------------------------------------------------------------------- */

struct reader {
	struct graph *g;
	int by;                        /* the value that reads */
};

static int note_load(void *ctx, const struct sx *load)
{
	struct reader *r = ctx;
	struct value *v = graph_value(r->g, load->value);
	const struct value *by = graph_value(r->g, r->by);

	v->live = 1;
	/* x * sigmoid(x) loads x once */
	if (v->last_load == load && v->last_reader == r->by)
		return 0;
	v->last_load = load;
	v->last_reader = r->by;
	v->uses++;
	v->in_product += cut_is_product(by);
	v->in_reduce += by->kind == VALUE_REDUCE;
	return 0;
}

/* Loads inside index values cannot be folded: the value is needed in memory. */
static void note_index(struct graph *g, const struct ix *a);

static void note_indices(struct graph *g, const struct sx *a)
{
	if (a->at)
		note_index(g, a->at);
	for (int i = 0; i < SX_ARGS && a->a[i]; i++)
		note_indices(g, a->a[i]);
}

static int must_store(void *ctx, const struct sx *load)
{
	graph_value(ctx, load->value)->must_store = 1;
	return 0;
}

static void note_index(struct graph *g, const struct ix *a)
{
	for (int i = 0; i < a->n; i++)
		if (a->t[i].kind == IX_VALUE)
			sx_loads(a->t[i].value, must_store, g);
		else if (a->t[i].of)
			note_index(g, a->t[i].of);
}

/* Marks what the results depend on, from the last value to the first. */
static void mark_live(struct graph *g)
{
	for (size_t i = g->values.n; i-- > 0;) {
		struct value *v = &g->values.v[i];
		struct reader r = { .g = g, .by = (int)i };

		if (v->rank_out >= 0 || v->into >= 0)
			v->live = v->must_store = 1;
		if (!v->live || v->kind == VALUE_ARG)
			continue;
		sx_loads(v->body, note_load, &r);
		note_indices(g, v->body);
	}
}

/* --- folding maps ------------------------------------------------------------------------------- */

struct folding {
	struct cut *p;
	int by;
};

/* The words of a folded value go before those of its consumer, each once. */
static void add_title(struct cut *p, int to, const char *more)
{
	struct arena *a = &p->g->pool->arena;
	const char *own = p->title[to];

	if (strlen(own) + strlen(more) < 48 && !strstr(own, more))
		p->title[to] = arena_printf(a, "%s_%s", more, own);
}

static const struct sx *fold_load(void *ctx, const struct sx *old, const struct ix *at, const struct sx *mask)
{
	struct folding *f = ctx;
	struct graph *g = f->p->g;
	const struct value *v = graph_value(g, old->value);
	const struct ix *to[GRAPH_VARS];
	const struct sx *in;

	if (v->kind != VALUE_MAP || v->must_store)
		return NULL;
	graph_coords(g, v, at, to);
	in = graph_guard(g, f->p->full[old->value], to, mask, 0);
	add_title(f->p, f->by, f->p->title[old->value]);
	return mask ? sx_where(g->pool, mask, in, sx_num(g->pool, old->num, in->dt)) : in;
}

struct epilogue {
	struct graph *g;
	int64_t numel;
};

static int reads_product(void *ctx, const struct sx *load)
{
	struct epilogue *e = ctx;
	const struct value *v = graph_value(e->g, load->value);

	return v->kind == VALUE_REDUCE && v->numel == e->numel && !v->must_store &&
		(cut_is_product(v) || v->n_red > 1) && !load->a[0];
}

/* Whether a map can end a product: it reads one element of the product for each of its own. The map is
 * then stored instead of the product, and no reader computes it again. */
static int is_epilogue(struct cut *p, int id)
{
	struct epilogue e = { .g = p->g, .numel = graph_value(p->g, id)->numel };

	return sx_loads(p->full[id], reads_product, &e);
}

/* Builds the full body of every live value, and decides which maps are kept in memory. */
static void fold(struct cut *p)
{
	struct graph *g = p->g;

	for (size_t i = 0; i < g->values.n; i++) {
		struct value *v = &g->values.v[i];
		const struct ix *to[GRAPH_VARS];
		struct folding f = { .p = p, .by = (int)i };
		struct sx_rewrite r;
		int size;

		if (!v->live || v->kind == VALUE_ARG)
			continue;
		p->title[i] = v->name;
		cut_same_vars(g, v, to);
		r = (struct sx_rewrite){ .to = to, .load = fold_load, .ctx = &f };
		p->full[i] = sx_rebuild(g->pool, v->body, &r);
		size = p->full[i]->size;
		if (v->kind == VALUE_MAP && ((v->uses > 1 && size > FOLD_SHARED) || size > FOLD_MOST ||
					     (v->in_product && size > FOLD_PRODUCT) ||
					     (v->in_reduce && is_epilogue(p, (int)i))))
			v->must_store = 1;
	}
}

/* --- kernels -------------------------------------------------------------------------------------- */

/* A tensor without elements needs no kernel. */
static int is_empty(const struct value *v)
{
	for (int d = 0; d < v->rank; d++)
		if (!v->size[d])
			return 1;
	return 0;
}

/* Whether a value is computed by a pass of its own: not folded, with elements. */
static int is_pass(const struct value *v)
{
	return v->live && v->kind != VALUE_ARG && (v->kind != VALUE_MAP || v->must_store) && !is_empty(v);
}

/* A single element that nothing else reads, such as the counter of batches. */
static int is_lone(const struct value *v)
{
	return v->kind == VALUE_MAP && v->numel == 1 && !v->uses;
}

/* The kernel that writes back to another tensor of the same module, such as running_mean of a norm that
 * counts its batches; else the last one. */
static int kernel_beside(struct cut *p, const struct value *v)
{
	const char *own = v->into >= 0 ? graph_value(p->g, v->into)->name : "", *dot = strrchr(own, '.');

	for (size_t i = 0; i < p->g->values.n && dot; i++) {
		const struct value *other = &p->g->values.v[i];

		if (other != v && other->into >= 0 && !is_lone(other) && is_pass(other) &&
		    !strncmp(graph_value(p->g, other->into)->name, own, (size_t)(dot - own) + 1))
			return other->group;
	}
	return (int)p->kernels.n - 1;
}

/* A single element that reads nothing of a kernel joins it: instance 0 stores it. */
static int join_lone(struct cut *p, int id)
{
	struct value *v = graph_value(p->g, id);
	const struct ix *to[GRAPH_VARS] = { NULL };
	struct expr_pool *pool = p->g->pool;
	int group = kernel_beside(p, v);
	struct kernel *k = group >= 0 ? &p->kernels.v[group] : NULL;
	struct pass *s;

	if (!k || k->n_passes == CUT_PASSES || cut_last_group(p, id) >= group)
		return 0;
	v->group = group;
	cut_add_pass(p, id, k, to);
	s = &k->pass[k->n_passes - 1];
	s->only = sx_op2(pool, SX_EQ, sx_index(pool, ix_var(pool, GRAPH_INSTANCE, INT32_MAX)),
			 sx_num(pool, 0.0, DT_I32));
	for (int d = 0; d < k->n_x; d++)
		to[d] = ix_var(pool, d, k->x[d]);
	s->body = graph_guard(p->g, s->body, to, s->only, 1);
	return 1;
}

static int begin(struct cut *p, int id)
{
	struct value *v = graph_value(p->g, id);
	struct kernel k = { .n_x = 0 };
	const struct ix *to[GRAPH_VARS] = { NULL };

	for (int d = 0; d < v->rank; d++)
		if (v->size[d] > 1 && (v->kind != VALUE_SCAN || d != v->along)) {
			to[d] = ix_var(p->g->pool, k.n_x, v->size[d]);
			k.x[k.n_x++] = v->size[d];
		}
	v->group = (int)p->kernels.n;
	if (vec_push(&p->kernels, k))
		return 1;
	cut_add_pass(p, id, &p->kernels.v[p->kernels.n - 1], to);
	return 0;
}

/* Gives a value its kernel: one that it joins, or a new one. */
static int place(struct cut *p, int id)
{
	struct value *v = graph_value(p->g, id);

	if (v->kind == VALUE_SCAN) {
		v->must_store = 1;
		return begin(p, id);
	}
	return !cut_join(p, id) && !cut_join_sibling(p, id) && begin(p, id);
}

/* A value that another kernel reads must be in memory. */
static int cross_kernels(void *ctx, const struct sx *load)
{
	struct reader *r = ctx;
	struct value *v = graph_value(r->g, load->value);

	if (v->kind != VALUE_ARG && v->group != graph_value(r->g, r->by)->group)
		v->must_store = 1;
	return 0;
}

static void store_what_crosses(struct cut *p)
{
	for (size_t i = 0; i < p->kernels.n; i++)
		for (int n = 0; n < p->kernels.v[i].n_passes; n++) {
			struct reader r = { .g = p->g, .by = p->kernels.v[i].pass[n].value };

			sx_loads(p->kernels.v[i].pass[n].body, cross_kernels, &r);
		}
	for (size_t i = 0; i < p->kernels.n; i++)
		for (int n = 0; n < p->kernels.v[i].n_passes; n++)
			p->kernels.v[i].pass[n].store = graph_value(p->g, p->kernels.v[i].pass[n].value)->must_store;
}

/* --- memory that is written back --------------------------------------------------------------------- */

struct overwritten {
	struct cut *p;
	int arg, group, bad;
	const struct pass *by;         /* the pass that writes */
	int own;                       /* the kernel that reads, and its pass */
	const struct pass *pass;
};

/* In its own kernel the write may follow reads of the same element by the same lane only: other instances may be
 * ahead, and other passes may walk over other tiles. */
static int is_same_place(const struct overwritten *o, const struct sx *load)
{
	const struct pass *a = o->pass, *b = o->by;

	return load->at == b->at && a->n_r == b->n_r && !memcmp(a->r, b->r, (size_t)a->n_r * sizeof a->r[0]);
}

static int note_old_read(void *ctx, const struct sx *load)
{
	struct overwritten *o = ctx;

	o->bad |= load->value == o->arg && (o->own > o->group || (o->own == o->group && !is_same_place(o, load)));
	return 0;
}

/* The value gets memory of its own, and a last kernel copies it to the argument. */
static int copy_last(struct cut *p, int id)
{
	struct graph *g = p->g;
	struct value copy = *graph_value(g, id);
	const struct ix *own[GRAPH_VARS];
	int to;

	cut_same_vars(g, &copy, own);
	copy.kind = VALUE_MAP;
	copy.n_red = 0;
	copy.name = "copy";
	copy.body = sx_load(g->pool, id, copy.dt, graph_at(g, copy.rank, copy.stride, own), NULL, 0.0);
	graph_value(g, id)->into = -1;
	to = graph_add(g, &copy);
	p->full[to] = copy.body;
	p->title[to] = copy.name;
	return begin(p, to);
}

/* No kernel may read the old contents of an argument after another kernel has replaced them. */
static void order_writes(struct cut *p)
{
	size_t n_values = p->g->values.n;

	for (size_t i = 0; i < n_values; i++) {
		const struct value *v = &p->g->values.v[i];
		struct overwritten o = { .p = p, .arg = v->into, .group = v->group };

		if (v->into < 0 || v->group < 0 || !(o.by = cut_pass_of(&p->kernels.v[v->group], (int)i)))
			continue;
		for (size_t n = 0; n < p->kernels.n; n++)
			for (int s = 0; s < p->kernels.v[n].n_passes; s++) {
				o.own = (int)n;
				o.pass = &p->kernels.v[n].pass[s];
				sx_loads(p->kernels.v[n].pass[s].body, note_old_read, &o);
			}
		if (o.bad && copy_last(p, (int)i))
			longjmp(*p->g->pool->arena.trap, 1);
	}
	store_what_crosses(p);
}

static void name_kernels(struct cut *p)
{
	struct arena *a = &p->g->pool->arena;

	for (size_t i = 0; i < p->kernels.n; i++) {
		struct kernel *k = &p->kernels.v[i];
		const char *name = "";

		for (int n = 0; n < k->n_passes; n++) {
			const char *t = p->title[k->pass[n].value];

			if (strlen(name) + strlen(t) < 56 && !strstr(name, t))
				name = *name ? arena_printf(a, "%s_%s", name, t) : t;
		}
		k->name = name;
		for (size_t n = 0, same = 1; n < i; n++)
			if (!strcmp(p->kernels.v[n].name, k->name)) {
				k->name = arena_printf(a, "%s_%zu", name, ++same);
				n = (size_t)-1;
			}
	}
}

void cut_make(struct cut *p, struct graph *g)
{
	struct arena *a = &g->pool->arena;

	*p = (struct cut){ .g = g };
	/* order_writes may add a copy of each */
	p->full = arena_array(a, 2 * g->values.n + 1, sizeof *p->full);
	p->title = arena_array(a, 2 * g->values.n + 1, sizeof *p->title);
	mark_live(g);
	/* a value without elements keeps -1: no kernel computes it */
	for (size_t i = 0; i < g->values.n; i++)
		g->values.v[i].group = -1;
	fold(p);
	for (size_t i = 0; i < g->values.n; i++)
		if (is_pass(&g->values.v[i]) && !is_lone(&g->values.v[i]) && place(p, (int)i))
			longjmp(*a->trap, 1);
	for (size_t i = 0; i < g->values.n; i++)
		if (is_pass(&g->values.v[i]) && is_lone(&g->values.v[i]) && !cut_join(p, (int)i) &&
		    !join_lone(p, (int)i) && begin(p, (int)i))
			longjmp(*a->trap, 1);
	store_what_crosses(p);
	order_writes(p);
	name_kernels(p);
}

void cut_release(struct cut *p)
{
	vec_free(&p->kernels);
}
