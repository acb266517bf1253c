/* The table of ops of a device, and the scratch they need: see ops.h. */
#include "ops/ops.h"

#include "base/mem.h"
#include "ops/cpu/cpu_ops.h"

static const struct ops cpu_ops = {
#define OP(name, params) .name = cpu_##name,
#include "ops/ops.def"
#undef OP
};

const struct ops *ops_of(const struct dev *d)
{
	if (d->kind != DEV_CPU)
		BUG("no ops for device kind %d", (int)d->kind);
	return &cpu_ops;
}

int ops_reserve(struct dev *d, const struct ops_sizes *s, struct err *e)
{
	size_t each = MAX(gemm_scratch(), attention_scratch(s));
	size_t shared = MAX(gemm_shared(s->widest), (size_t)1 << 23);

	return dev_reserve(d, each, shared, e);
}
