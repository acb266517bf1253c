/* The roofline model of operators that run on the host side of a program: what eager PyTorch
 * would launch for them. Always labelled "model", never mixed with measured times. */
#include "interp/bind.h"
#include "verify/task.h"

double ops_seconds(struct host_ops ops, const char *gpu)
{
	double sum = 0.0;

	for (size_t i = 0; i < ops.n; i++) {
		const struct host_op *o = &ops.v[i];
		struct tile_cost c = { .launches = o->count, .bytes_loaded = o->bytes, .ops_f32 = o->flops };

		if (o->flags & (BIND_COMPUTE | BIND_COPY))
			sum += tile_cost_seconds(&c, gpu);
	}
	return sum;
}
