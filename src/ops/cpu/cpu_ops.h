/* The CPU's versions of the ops, and what its files share. */
#ifndef OPS_CPU_CPU_OPS_H
#define OPS_CPU_CPU_OPS_H

#include "ops/ops.h"

#define OP(name, params) void cpu_##name params;
#include "ops/ops.def"
#undef OP

/* Scratch of one thread of a matrix product, and the shared panels of one k block over
 * `columns` columns; see gemm.c. */
size_t gemm_scratch(void);
size_t gemm_shared(int columns);
size_t attention_scratch(const struct ops_sizes *s);
size_t attention_grad_scratch(int longest, int D);
size_t sample_scratch(int V);
size_t cpu_kv_bytes(int HKV, int D, int fast);
void cpu_weight_plan(struct weight *w);
void cpu_weight_place(struct weight *w);

/* [begin, end) of [0, n) for thread `me` of `count`, cut at multiples of `unit`. */
static inline void cpu_cut(size_t n, size_t unit, int me, int count, size_t *begin, size_t *end)
{
	size_t units = (n + unit - 1) / unit, b = units * (size_t)me / (size_t)count * unit;
	size_t f = units * ((size_t)me + 1) / (size_t)count * unit;

	*begin = b < n ? b : n;
	*end = f < n ? f : n;
}

#endif
