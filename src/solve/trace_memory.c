/* The value that each memory of the recorded program holds: see trace.h. */
#include "solve/trace.h"

struct trace_memory *trace_find(struct trace *t, const struct storage *st)
{
	for (size_t i = t->memory.n; i-- > 0;)
		if (t->memory.v[i].id == st->id)
			return &t->memory.v[i];
	return NULL;
}

void trace_put(struct trace *t, struct storage *st, int value, int arg, int64_t base)
{
	struct trace_memory *m = trace_find(t, st);

	if (m) {
		m->value = value;
		return;
	}
	if (vec_push(&t->memory, ((struct trace_memory){ .id = st->id, .value = value, .arg = arg, .base = base,
							  .st = st })))
		longjmp(*t->g.pool->arena.trap, 1);
	tensor_retain(&(struct tensor){ .st = st });
}

/* self.conv.weight, getattr(self.layers, "0-1").bias; not an input that is called self_mask. */
static int is_member(const char *code)
{
	while (!strncmp(code, "getattr(", 8))
		code += 8;
	return !strncmp(code, "self", 4) && (code[4] == '.' || code[4] == '[' || code[4] == ',');
}

/* The memory of an argument is what its tensor covers, counted from its first element. */
void trace_arg(struct trace *t, const struct tensor_obj *o, const char *name)
{
	const struct tensor *x = &o->t;
	struct value v = { .kind = VALUE_ARG, .dt = x->dt, .rank = x->ndim, .name = name, .numel = 1, .into = -1,
			   .rank_out = -1, .on_cpu = o->device == HOST_CPU, .of_model = is_member(name) };
	int id;

	if (trace_find(t, x->st) || x->ndim > GRAPH_RANK)
		return;
	for (int d = 0; d < x->ndim; d++) {
		v.size[d] = x->shape[d];
		v.stride[d] = x->stride[d];
		v.numel += (x->shape[d] - 1) * x->stride[d];
	}
	id = graph_add(&t->g, &v);
	trace_put(t, x->st, id, id, x->offset);
}
