/* Comprehensions. [..], {..} and {k: v} run to the end in a frame of their own, with their own
 * variables. A generator expression keeps its frame in a list between one element and the next.
 *
 * `[f(x) for y in v if p(y) for x in y]` has two levels. The iterable of the first level is
 * evaluated in the enclosing frame, all else inside. */
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/iter.h"
#include "interp/scope.h"
#include "interp/state.h"

/* A running comprehension. */
struct comp {
	struct host_frame f;        /* its frame; slots and cells are one array */
	const struct py_node *n;
	const struct py_list *gens; /* the levels: `for ... in ... if ...` */
	struct val into; /* the list, set or dictionary that is filled */
};

/* Evaluates the element expression and adds it to the result. */
static int add_element(struct host *h, struct comp *c)
{
	const struct py_node *n = c->n;
	struct val k, v;
	if (n->kind == PY_DictComp) {
		if (eval_expr(h, &c->f, n->u.DictComp.key, &k) || eval_expr(h, &c->f, n->u.DictComp.value, &v))
			return -1;
		return dict_set(h, c->into, k, v);
	}
	if (eval_expr(h, &c->f, n->u.ListComp.elt, &v))
		return -1;
	return n->kind == PY_SetComp ? dict_set(h, c->into, v, val_none()) : list_append(h, c->into, v);
}

/* Runs one `for` of the comprehension and, inside, the next one. Returns 0 or -1. */
static int run_level(struct host *h, struct comp *c, size_t level, struct val iterable)
{
	const struct py_comprehension *g = &c->gens->v[level]->u.comprehension;
	struct val it, item;
	int more;
	size_t mark;

	c->f.node = g->iter;
	if (g->is_async)
		return host_fatal(h, REASON_unsupported, "asynchronous comprehensions are not supported");
	if (host_iter(h, iterable, &it))
		return -1;
	mark = temps_mark(h);
	while ((more = host_next(h, it, &item)) > 0) {
		int pass = 1;
		if (host_step(h) || exec_assign(h, &c->f, g->target, item))
			return -1;
		for (size_t i = 0; i < g->ifs.n && pass; i++) {
			struct val t;
			if (eval_expr(h, &c->f, g->ifs.v[i], &t) || (pass = val_truth(h, t)) < 0)
				return -1;
		}
		if (pass && level + 1 < c->gens->n) {
			struct val inner;
			if (eval_expr(h, &c->f, c->gens->v[level + 1]->u.comprehension.iter, &inner) ||
			    run_level(h, c, level + 1, inner))
				return -1;
		} else if (pass && add_element(h, c)) {
			return -1;
		}
		temps_drain(h, mark);
		c->f.node = g->iter;
	}
	return more;
}

/* Copies the cells that the scope captures, without a reference: the enclosing frame outlives a
 * comprehension. A generator expression adds references of its own. */
static void borrow_cells(const struct host_frame *f, const struct scope *s, struct val *cells)
{
	for (int i = 0; i < s->n_free; i++)
		cells[i] = s->captures[i].from_free ? f->cells[s->captures[i].index] : f->slots[s->captures[i].index];
}

/* A variable that a nested lambda captures needs a cell from the start. */
static int init_slots(struct host *h, struct scope *s, struct val *slots)
{
	for (size_t i = 0; i <= s->mask; i++)
		if (s->vars[i].id && s->vars[i].kind == VAR_CELL) {
			struct val cell, unset = { .kind = V_UNSET };
			if (val_pair(h, V_CELL, unset, unset, &cell))
				return -1;
			val_assign(h, &slots[s->vars[i].index], cell);
		}
	return 0;
}

/* Makes the frame, runs all levels and drops the variables. */
static int run_comp(struct host *h, struct host_frame *f, struct scope *s, const struct py_node *n,
		    struct val first, struct val into)
{
	size_t count = (size_t)s->n_slots + (size_t)s->n_free;
	struct val *slots = host_alloc(h, (count + 1) * sizeof *slots);
	int rc;
	struct comp c;

	if (!slots)
		return -1;
	c = (struct comp) {
		.f = { .up = f, .scope = s, .unit = f->unit, .mod = f->mod, .slots = slots, .cells = slots + s->n_slots,
		       .fn = f->fn, .class_cell = f->class_cell, .node = n, .yields = f->yields },
		.n = n, .into = into,
		.gens = n->kind == PY_DictComp ? &n->u.DictComp.generators : &n->u.ListComp.generators,
	};
	borrow_cells(f, s, c.f.cells);
	h->frame = &c.f;
	rc = init_slots(h, s, slots) || run_level(h, &c, 0, first) ? -1 : 0;
	h->frame = f;
	for (int i = 0; i < s->n_slots; i++)
		val_drop(h, slots[i]);
	host_release(h, slots, (count + 1) * sizeof *slots);
	return rc;
}

/* --- generator expressions ------------------------------------------------------------------
 *
 * The state of a generator is a list, it->src: three fixed entries (GEN_FUNCTION, GEN_CLASS,
 * GEN_MODULE), then the variables, the cells, and one iterator per level. The list holds the
 * references, so freeing the iterator frees the frame. */

enum { GEN_READY, GEN_RUNS, GEN_ENDED };        /* iter_obj.n; .i is the innermost level with an iterator */
enum { GEN_FUNCTION, GEN_CLASS, GEN_MODULE, GEN_SLOTS };

/* The iterators of the levels, after variables and cells. */
static struct val *gen_levels(const struct iter_obj *it, const struct scope *s)
{
	return it->src.u.seq->v + GEN_SLOTS + s->n_slots + s->n_free;
}

/* Do all conditions of a level hold? Returns 1, 0 or -1. */
static int all_true(struct host *h, struct host_frame *f, const struct py_list *ifs)
{
	int pass = 1;

	for (size_t i = 0; i < ifs->n && pass > 0; i++) {
		struct val t;
		pass = eval_expr(h, f, ifs->v[i], &t) ? -1 : val_truth(h, t);
	}
	return pass;
}

/* Advances to the next element. Returns 1 with it in *out, 0 at the end, -1 on failure. An
 * exhausted level hands over to the level around it. */
static int gen_run(struct host *h, struct host_frame *f, struct iter_obj *it, struct val *out)
{
	const struct py_list *gens = &it->node->u.ListComp.generators;
	struct val *levels = gen_levels(it, f->scope);

	while (it->i >= 0) {
		const struct py_comprehension *g = &gens->v[it->i]->u.comprehension;
		struct val item;
		size_t mark = temps_mark(h);
		int more, pass;

		f->node = g->iter;
		more = host_step(h) ? -1 : host_next(h, levels[it->i], &item);
		if (more < 0)
			return -1;
		if (!more) {
			val_assign(h, &levels[it->i--], val_none());
			continue;
		}
		if (exec_assign(h, f, g->target, item) || (pass = all_true(h, f, &g->ifs)) < 0)
			return -1;
		if (pass && (size_t)it->i + 1 == gens->n)
			return eval_expr(h, f, it->node->u.ListComp.elt, out) ? -1 : 1;
		if (pass) {
			if (eval_expr(h, f, gens->v[it->i + 1]->u.comprehension.iter, &item) ||
			    host_iter(h, item, &item))
				return -1;
			val_assign(h, &levels[++it->i], item);
		}
		temps_drain(h, mark);
	}
	return 0;
}

/* Restores the frame from the list and runs up to the next element. The iterator is held
 * meanwhile, as the running code may drop the last variable that refers to it. A generator that
 * failed has ended. */
static int next_gen(struct host *h, struct iter_obj *it, struct val *out)
{
	struct val *v = it->src.u.seq->v, self = host_hold(h, val_obj(&it->h));
	struct scope *s = scope_of(it->unit, it->node);
	struct host_frame f;
	int rc;

	(void)self;
	if (it->n == GEN_ENDED)
		return 0;
	if (it->n == GEN_RUNS)
		return host_raise(h, EXC_ValueError, "generator already executing");
	if (host_enter(h))
		return -1;
	f = (struct host_frame) {
		.up = h->frame, .scope = s, .unit = it->unit, .mod = v[GEN_MODULE].u.mod,
		.slots = v + GEN_SLOTS, .cells = v + GEN_SLOTS + s->n_slots,
		.fn = v[GEN_FUNCTION].kind == V_FUNC ? v[GEN_FUNCTION].u.fn : NULL,
		.class_cell = v[GEN_CLASS], .node = it->node };
	it->n = GEN_RUNS;
	h->frame = &f;
	rc = gen_run(h, &f, it, out);
	h->frame = f.up;
	it->n = rc > 0 ? GEN_READY : GEN_ENDED;
	host_leave(h);
	return rc;
}

/* Makes a generator. As in Python the first iterable is evaluated, and its iterator made, at
 * once; all else runs when elements are asked for. */
static int eval_gen(struct host *h, struct host_frame *f, struct scope *s, const struct py_node *n,
		    struct val first, struct val *out)
{
	size_t levels = n->u.ListComp.generators.n, count = GEN_SLOTS + (size_t)s->n_slots + (size_t)s->n_free + levels;
	struct val state, it, *v, unset = { .kind = V_UNSET };

	for (size_t i = 0; i < levels; i++)
		if (n->u.ListComp.generators.v[i]->u.comprehension.is_async)
			return host_fatal(h, REASON_unsupported, "asynchronous comprehensions are not supported");
	if (host_iter(h, first, &it) || val_list(h, NULL, 0, &state))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (list_append(h, state, unset))
			return -1;
	v = state.u.seq->v;
	if (f->fn)
		val_assign(h, &v[GEN_FUNCTION], val_obj(&f->fn->h));
	val_assign(h, &v[GEN_CLASS], f->class_cell);
	val_assign(h, &v[GEN_MODULE], val_obj(&f->mod->h));
	borrow_cells(f, s, v + GEN_SLOTS + s->n_slots);
	for (int i = 0; i < s->n_free; i++)
		val_keep(v[GEN_SLOTS + s->n_slots + i]);
	if (init_slots(h, s, v + GEN_SLOTS) || val_iter(h, state, next_gen, out))
		return -1;
	out->u.iter->unit = f->unit;
	out->u.iter->node = n;
	val_assign(h, &gen_levels(out->u.iter, s)[0], it);
	return 0;
}

/* Any comprehension. A list, set or dictionary counts as one call for the recursion limit. */
int eval_comp(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	const struct py_list *gens = n->kind == PY_DictComp ? &n->u.DictComp.generators : &n->u.ListComp.generators;
	struct scope *s = scope_of(f->unit, n);
	struct val first, into;
	int rc;

	if (!s)
		return host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
	if (eval_expr(h, f, gens->v[0]->u.comprehension.iter, &first))
		return -1;
	if (n->kind == PY_GeneratorExp)
		return eval_gen(h, f, s, n, first, out);
	rc = n->kind == PY_DictComp ? val_dict(h, &into) : n->kind == PY_SetComp ? val_set(h, &into) :
		val_list(h, NULL, 0, &into);
	if (rc || host_enter(h))
		return -1;
	rc = run_comp(h, f, s, n, first, into);
	host_leave(h);
	if (rc)
		return -1;
	*out = into;
	return 0;
}
