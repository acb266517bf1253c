/* Results of a module: tensors become values that kernels store, in the tensor's own shape. */
#include <stdio.h>

#include "solve/origin.h"
#include "solve/write.h"

/* Whether a view is all of a computed value, in row-major order: then its memory is the result. */
static int is_whole(const struct value *v, const struct view *x)
{
	int64_t stride[GRAPH_RANK], n = 1;

	tensor_dense_strides(x->rank, x->size, stride);
	for (int d = 0; d < x->rank; d++) {
		n *= x->size[d];
		if (x->size[d] > 1 && x->stride[d] != stride[d])
			return 0;
	}
	return x->offset == 0 && n == v->numel;
}

static int same_shape(const struct value *v, const struct view *x)
{
	return v->rank_out < 0 || (v->rank_out == x->rank && !memcmp(v->shape_out, x->size,
								      (size_t)x->rank * sizeof x->size[0]));
}

/* The result is a copy of the view, in memory of its own. */
static int add_copy(struct trace *t, const struct view *x)
{
	struct value v = { .kind = VALUE_MAP, .dt = x->dt, .rank = x->rank, .numel = 1, .name = "copy", .op = "result",
			   .into = -1, .rank_out = -1 };
	const struct ix *i[GRAPH_RANK];

	memcpy(v.size, x->size, sizeof v.size);
	tensor_dense_strides(x->rank, x->size, v.stride);
	for (int d = 0; d < x->rank; d++) {
		i[d] = ix_var(t->g.pool, d, x->size[d]);
		v.numel *= x->size[d];
	}
	v.body = sx_load(t->g.pool, x->value, x->dt,
			 ix_addc(t->g.pool, graph_at(&t->g, x->rank, x->stride, i), x->offset), NULL, 0.0);
	return graph_add(&t->g, &v);
}

/* The value that a tensor of the result is. Memory of an argument is copied. */
static int result_value(struct trace *t, const struct tensor_obj *o, const struct view *x)
{
	const struct trace_memory *m = trace_find(t, o->t.st);
	int id = x->value;

	if (m->arg >= 0 && (m->value == m->arg || graph_value(&t->g, m->value)->into >= 0))
		return add_copy(t, x);
	if (!is_whole(graph_value(&t->g, id), x) || !same_shape(graph_value(&t->g, id), x))
		id = add_copy(t, x);
	return id;
}

struct result_walk {
	struct trace *t;
	char *why;
	size_t cap;
};

static int mark(struct result_walk *r, struct val v)
{
	struct lower l = { .t = r->t, .g = &r->t->g, .p = r->t->g.pool };
	struct value *to;
	struct view x;
	int id, rc = 0;

	if (v.kind == V_TENSOR) {
		if (lower_view(&l, v, &x) || x.value < 0) {
			snprintf(r->why, r->cap, "a result is a tensor that no operator made");
			return 1;
		}
		id = result_value(r->t, v.u.t, &x);
		to = graph_value(&r->t->g, id);
		if (to->kind != VALUE_ARG) {
			to->rank_out = x.rank;
			memcpy(to->shape_out, x.size, sizeof to->shape_out);
		}
		if (vec_push(&r->t->results, id))
			longjmp(*l.p->arena.trap, 1);
		return 0;
	}
	if (v.kind == V_TUPLE || v.kind == V_LIST)
		for (size_t i = 0; i < v.u.seq->n && !rc; i++)
			rc = mark(r, v.u.seq->v[i]);
	else if (v.kind == V_DICT)
		for (size_t i = 0; i < v.u.d->n && !rc; i++)
			rc = v.u.d->e[i].key.kind == V_UNSET ? 0 : mark(r, v.u.d->e[i].val);
	else if (v.kind == V_OBJECT) {
		snprintf(r->why, r->cap, "a result is an object");
		rc = 1;
	}
	return rc;
}

/* The argument that Python code denoted before forward, or -1. */
static int argument_named(const struct trace *t, const char *code)
{
	for (size_t i = 0; i < t->g.values.n; i++)
		if (t->g.values.v[i].kind == VALUE_ARG && !strcmp(t->g.values.v[i].name, code))
			return (int)i;
	return -1;
}

/* Forward may give a buffer another tensor, as in self.mean = 0.9 * self.mean + 0.1 * now: the new elements are
 * written to the memory of the old one. Returns 1 with the reason if they do not fit. */
static int write_member(void *ctx, struct val v, const char *code)
{
	struct result_walk *r = ctx;
	struct lower l = { .t = r->t, .g = &r->t->g, .p = r->t->g.pool };
	const struct trace_memory *m = trace_find(r->t, v.u.t->t.st);
	int arg = argument_named(r->t, code), id;
	const struct value *was;
	struct view x;

	if (arg < 0 || (m && m->arg == arg))
		return 0;
	was = graph_value(&r->t->g, arg);
	if (lower_view(&l, v, &x) || x.value < 0 || x.dt != was->dt || x.rank != was->rank ||
	    memcmp(x.size, was->size, (size_t)x.rank * sizeof x.size[0]) || was->numel != tensor_numel(&v.u.t->t)) {
		snprintf(r->why, r->cap, "forward replaces %.80s by a tensor of another kind", code);
		return 1;
	}
	id = add_copy(r->t, &x);
	was = graph_value(&r->t->g, arg);
	memcpy(graph_value(&r->t->g, id)->stride, was->stride, sizeof was->stride);
	graph_value(&r->t->g, id)->into = arg;
	return 0;
}

int write_state(struct trace *t, struct host *h, struct val model, const char *code, char *why, size_t cap)
{
	struct result_walk r = { .t = t, .why = why, .cap = cap };

	return origin_walk(&t->g.pool->arena, h, model, code, write_member, &r);
}

int write_results(struct trace *t, struct val result, char *why, size_t cap)
{
	struct result_walk r = { .t = t, .why = why, .cap = cap };

	for (size_t i = 0; i < t->memory.n; i++) {
		const struct trace_memory *m = &t->memory.v[i];

		/* Buffers are written back; inputs are not changed. */
		if (m->arg >= 0 && m->value != m->arg && graph_value(&t->g, m->arg)->of_model)
			graph_value(&t->g, m->value)->into = m->arg;
	}
	return mark(&r, result);
}
