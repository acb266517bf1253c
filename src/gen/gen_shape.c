/* Shapes of a chain: what each step makes of its input's. */
#include "base/mem.h"
#include "gen/impl.h"

int gen_pointwise(const struct gen_step *s)
{
	return gen_op(s->op)->family <= GEN_KEPT;
}

int64_t gen_product(const struct gen_shape *s, int from, int to)
{
	int64_t n = 1;

	for (int i = from; i < to; i++)
		n *= s->d[i];
	return n;
}

int64_t gen_numel(const struct gen_shape *s)
{
	return gen_product(s, 0, s->rank);
}

int64_t gen_window_out(const struct gen_step *s, int i, int64_t in)
{
	int64_t reach = (int64_t)s->dilation[i] * (s->window[i] - 1);

	if (s->op == GEN_OP_conv_transpose)
		return (in - 1) * s->stride[i] - 2 * s->pad[i] + reach + s->out_pad[i] + 1;
	if (in + 2 * s->pad[i] <= reach)
		return 0;
	return (in + 2 * s->pad[i] - reach - 1) / s->stride[i] + 1;
}

static void reduce(struct gen_step *s)
{
	int removed = s->axis_end - s->axis;

	if (s->keepdim) {
		for (int i = s->axis; i < s->axis_end; i++)
			s->shape.d[i] = 1;
		return;
	}
	for (int i = s->axis_end; i < s->in.rank; i++)
		s->shape.d[i - removed] = s->in.d[i];
	s->shape.rank -= removed;
}

static void product(struct gen_step *s)
{
	struct gen_shape *o = &s->shape;

	if (s->op == GEN_OP_matmul_ta || s->op == GEN_OP_matmul_tab)
		o->d[0] = s->in.d[1];
	o->d[o->rank - 1] = s->out;
}

static void windows(struct gen_step *s)
{
	int first = s->shape.rank - s->nd;

	if (gen_op(s->op)->family == GEN_CONV)
		s->shape.d[1] = s->out;
	for (int i = 0; i < s->nd; i++)
		s->shape.d[first + i] = gen_window_out(s, i, s->in.d[first + i]);
}

void gen_step_shape(struct gen_step *s)
{
	s->shape = s->in;
	switch (gen_op(s->op)->family) {
	case GEN_REDUCE: reduce(s); break;
	case GEN_GEMM: product(s); break;
	case GEN_CONV: case GEN_POOL: windows(s); break;
	case GEN_LOSS: case GEN_ROW_LOSS: s->shape.rank = 0; break;
	default: break;
	}
}
