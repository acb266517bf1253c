/* The table of ops of a device, the scratch they need, and where weights are put: see ops.h. */
#include "ops/ops.h"

#include "base/mem.h"
#include "ops/cpu/cpu_ops.h"
#include "ops/cuda/cuda_ops.h"

static const struct ops cpu_table = {
#define OP(name, params) .name = cpu_##name,
#include "ops/ops.def"
#undef OP
};

static const struct ops cuda_table = {
#define OP(name, params) .name = cuda_op_##name,
#include "ops/ops.def"
#undef OP
};

/* The ops of a device. */
const struct ops *ops_of(struct dev *d)
{
	if (d->kind == DEV_CPU)
		return &cpu_table;
	cuda_ops_bind(d);
	return &cuda_table;
}

/* Reserves the scratch memory that any op may need at these sizes, so that no op allocates. */
int ops_reserve(struct dev *d, const struct ops_sizes *s, struct err *e)
{
	size_t each;

	if (d->kind == DEV_CUDA)
		return dev_reserve(d, 0, cuda_ops_scratch(d, s), e);
	each = MAX(gemm_scratch(), attention_scratch(s));
	if (s->positions)
		each = MAX(each, sample_scratch(s->V));
	return dev_reserve(d, each, MAX(gemm_shared(s->widest), (size_t)1 << 23), e);
}

/* Bytes of a block of cached keys and values. */
size_t kv_bytes(const struct dev *d, int HKV, int D, int fast, int e4m3)
{
	if (e4m3 && d->kind != DEV_CUDA)
		BUG("keys and values of 8 bits on the CPU");
	return d->kind == DEV_CUDA ? cuda_ops_kv_bytes(HKV, D, e4m3) : cpu_kv_bytes(HKV, D, fast);
}

/* Computes how many bytes a packed weight [n, k] takes; weight_place then assigns its memory. */
void weight_plan(const struct dev *d, struct weight *w, enum dtype dt, int n, int k)
{
	*w = (struct weight){ .n = n, .k = k, .dt = dt };
	if (d->kind == DEV_CUDA)
		cuda_ops_weight_plan(w);
	else
		cpu_weight_plan(w);
}

/* Assigns memory of w->bytes bytes to a weight, for callers that place many weights in one
 * block. */
void weight_place(const struct dev *d, struct weight *w, void *p)
{
	w->packed = p;
	if (d->kind == DEV_CUDA)
		cuda_ops_weight_place(w);
	else
		cpu_weight_place(w);
}

int weight_init(struct dev *d, struct weight *w, enum dtype dt, int n, int k, struct err *e)
{
	void *p;

	weight_plan(d, w, dt, n, k);
	if (!(p = dev_alloc(d, w->bytes, e)))
		return -1;
	weight_place(d, w, p);
	return 0;
}

void weight_release(struct dev *d, struct weight *w)
{
	dev_free(d, w->packed, w->bytes);
	*w = (struct weight){ .n = 0 };
}
