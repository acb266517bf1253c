/* The GPU's versions of the ops, made of the launchers of cuda.h. */
#ifndef OPS_CUDA_CUDA_OPS_H
#define OPS_CUDA_CUDA_OPS_H

#include "ops/cuda/cuda.h"
#include "ops/ops.h"

#define OP(name, params) void cuda_op_##name params;
#include "ops/ops.def"
#undef OP

/* Finds the launchers once for a device. */
void cuda_ops_bind(struct dev *d);
static inline const struct cuda_launch *cuda_of(const struct dev *d) { return d->launch; }

/* Bytes of dev_shared that the ops need. */
size_t cuda_ops_scratch(struct dev *d, const struct ops_sizes *s);
size_t cuda_ops_kv_bytes(int HKV, int D, int e4m3);
void cuda_ops_weight_plan(struct weight *w);
void cuda_ops_weight_place(struct weight *w);

/* Whether the product of a pass with `later` is left to swiglu: cuda_linear.c. */
int cuda_ops_leaves(const struct lora_pass *l);
/* A swiglu with the passes that were left to it; r 0: none was. */
struct cuda_swiglu cuda_swiglu_of(const struct swiglu *s);

/* A launch: its mark for the table of times, then the call; what fails is noted with op and
 * shape. */
#define CUDA_GO(d, call, label, ...) do { \
		dev_mark((d), (label)); \
		dev_note((d), (call), __VA_ARGS__); \
	} while (0)

#endif
