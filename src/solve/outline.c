/* Writes the outline of a graph: see outline.h. */
#include "solve/outline.h"

#include "solve/emit.h"

/* Outlines longer than this are not worth their place in a prompt. */
enum { OUTLINE_BYTES = 6000 };

struct outline {
	struct cut *cut, plain;
	struct buf *out;
	unsigned char *shown;    /* [values]: its size is written already */
	unsigned char *read;     /* [values]: listed as an operand of the present line */
	int n_read;
};

/* "conv2d_9 4 4 2 2 (16 4 2 1 of 64)"; "conv2d_9" if an earlier line has its size. */
static void write_value(struct outline *o, int id)
{
	const struct value *v = graph_value(o->cut->g, id);

	buf_adds(o->out, v->kind == VALUE_ARG ? v->name : emit_value_name(o->cut, id));
	if (o->shown[id])
		return;
	o->shown[id] = 1;
	for (int d = 0; d < v->rank; d++)
		buf_addf(o->out, " %lld", (long long)v->size[d]);
	for (int d = 0; d < v->rank; d++)
		buf_addf(o->out, "%s%lld", d ? " " : " (", (long long)v->stride[d]);
	if (v->rank)
		buf_addf(o->out, " of %lld)", (long long)v->numel);
}

/* "conv2d" of "torch.nn.functional.conv2d". */
static const char *last_name(const char *op)
{
	const char *dot = strrchr(op, '.');

	return dot ? dot + 1 : op;
}

static int add_operand(void *ctx, const struct sx *load)
{
	struct outline *o = ctx;

	if (o->read[load->value])
		return 0;
	o->read[load->value] = 1;
	buf_adds(o->out, o->n_read++ ? ", " : "");
	write_value(o, load->value);
	return 0;
}

/* The kernel that computes a value, from 1; 0: it is folded into its readers. */
static int kernel_of(const struct cut *cut, int id)
{
	for (size_t k = 0; k < cut->kernels.n; k++)
		for (int i = 0; i < cut->kernels.v[k].n_passes; i++)
			if (cut->kernels.v[k].pass[i].value == id)
				return (int)k + 1;
	return 0;
}

static void write_line(struct outline *o, int id, int planned)
{
	const struct value *v = graph_value(o->cut->g, id);
	int kernel = planned ? kernel_of(o->cut, id) : 0;

	buf_adds(o->out, "# ");
	write_value(o, id);
	buf_addf(o->out, " = %s(", last_name(v->op ? v->op : v->name));
	memset(o->read, 0, o->cut->g->values.n);
	o->n_read = 0;
	if (v->body)
		sx_loads(v->body, add_operand, o);
	buf_addc(o->out, ')');
	if (kernel)
		buf_addf(o->out, " in kernel %d", kernel);
	buf_addc(o->out, '\n');
}

void outline_write(struct graph *g, struct cut *cut, struct buf *out)
{
	struct arena *a = &g->pool->arena;
	struct outline o = { .out = out, .plain = { .g = g } };
	size_t begin = out->n;

	o.cut = cut ? cut : &o.plain;
	o.shown = arena_array(a, g->values.n + 1, 1);
	o.read = arena_array(a, g->values.n + 1, 1);
	memset(o.shown, 0, g->values.n);
	for (size_t i = 0; i < g->values.n && out->n - begin < OUTLINE_BYTES; i++)
		if (g->values.v[i].kind != VALUE_ARG && (!cut || g->values.v[i].live))
			write_line(&o, (int)i, cut != NULL);
}
