/* The services that all operators share: making results, plain copies, charging work and
 * memory. It owns the rules of a dry run for allocation: a hollow context makes tensors
 * without contents. */
#include "num/num.h"

#include <cblas.h>
#include <malloc.h>
#include <math.h>

#include "base/mem.h"

/* One-time settings of the process; see num.h. */
void num_init(void)
{
	float a[64 * 64] = { 0 }, c[64 * 64];
	double b[64 * 64] = { 0 }, d[64 * 64];

	/* The call is skipped if the setting is already 1. In a forked process it would start the
	 * library's threads, which wait by spinning. */
	if (openblas_get_num_threads() != 1)
		openblas_set_num_threads(1);
	/* The first product makes the library allocate memory and start its threads. A process must
	 * do this before it enters a sandbox. */
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 64, 64, 64, 1.0f, a, 64, a, 64, 0.0f,
		    c, 64);
	cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 64, 64, 64, 1.0, b, 64, b, 64, 0.0,
		    d, 64);
	/* Results of a few megabytes come and go with every operator. If free() returned them
	 * to the kernel, each result would be faulted in again page by page. */
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

/* A dry run charges nothing: it does no work. */
int num_charge(struct num_ctx *c, uint64_t work, struct err *e)
{
	if (c->charge && !c->hollow && c->charge(c->arg, work))
		return err_set(e, ERR_INTERRUPTED, "more work than allowed: %llu operations",
			       (unsigned long long)work);
	return 0;
}

/* Asks for scratch memory. The limit also applies in a dry run, because the real run needs
 * the memory. */
int num_scratch(struct num_ctx *c, int64_t bytes, struct err *e)
{
	if (c->scratch && c->scratch(c->arg, bytes))
		return err_set(e, ERR_NOMEM, "out of memory: tried to allocate %lld bytes",
			       (long long)bytes);
	return 0;
}

/* A product n * size beyond 64 bits asks for INT64_MAX bytes, which any limit refuses. */
void *num_array(struct num_ctx *c, int64_t n, size_t size, struct err *e)
{
	int64_t bytes;
	void *p;

	if (ck_mul64(n, (int64_t)size, &bytes))
		bytes = INT64_MAX;
	if (num_scratch(c, bytes, e))
		return NULL;
	p = mem_array((size_t)n, size);
	if (!p)
		err_set(e, ERR_NOMEM, "out of memory: tried to allocate %lld bytes",
			(long long)bytes);
	return p;
}

/* Asks the host for the memory of a result. Bytes are counted in double because a program's
 * sizes may overflow. */
static int ask_room(struct num_ctx *c, enum dtype dt, int ndim, const int64_t *shape, struct err *e)
{
	double bytes = dtype_size(dt);

	if (!c->room)
		return 0;
	for (int i = 0; i < ndim; i++)
		bytes *= (double)(shape[i] > 0 ? shape[i] : 0);
	if (c->room(c->arg, bytes < 9e18 ? (int64_t)bytes : INT64_MAX))
		return err_set(e, ERR_NOMEM, "out of memory: tried to allocate %.0f bytes", bytes);
	return 0;
}

int num_new_strided(struct num_ctx *c, struct tensor *t, enum dtype dt, int ndim,
		    const int64_t *shape, const int64_t *stride, struct err *e)
{
	if (ask_room(c, dt, ndim, shape, e))
		return -1;
	if (c->hollow)
		return tensor_new_hollow(t, dt, ndim, shape, stride, e);
	return tensor_new_strided_in(c->budget, t, dt, ndim, shape, stride, e);
}

int num_new(struct num_ctx *c, struct tensor *t, enum dtype dt, int ndim, const int64_t *shape,
	    struct err *e)
{
	int64_t stride[TENSOR_DIMS];

	if (ndim > TENSOR_DIMS)
		return err_set(e, ERR_UNSUPPORTED, "tensors of %d dimensions", ndim);
	if (ask_room(c, dt, ndim, shape, e))
		return -1;
	if (c->hollow) {
		tensor_dense_strides(ndim, shape, stride);
		return tensor_new_hollow(t, dt, ndim, shape, stride, e);
	}
	return tensor_new_in(c->budget, t, dt, ndim, shape, e);
}

/* A dense tensor keeps its strides, any other gives a contiguous result, as torch.empty_like
 * does. */
int num_new_like(struct num_ctx *c, struct tensor *t, enum dtype dt, const struct tensor *like,
		 struct err *e)
{
	if (tensor_is_dense(like))
		return num_new_strided(c, t, dt, like->ndim, like->shape, like->stride, e);
	return num_new(c, t, dt, like->ndim, like->shape, e);
}

/* Copies t to out and releases out if that fails. */
static int copied(struct tensor *out, const struct tensor *t, struct err *e)
{
	if (!tensor_copy(out, t, e))
		return 0;
	tensor_release(out);
	return -1;
}

int num_to(struct num_ctx *c, struct tensor *out, const struct tensor *t, enum dtype dt,
	   struct err *e)
{
	return num_new(c, out, dt, t->ndim, t->shape, e) || copied(out, t, e) ? -1 : 0;
}

int num_clone(struct num_ctx *c, struct tensor *out, const struct tensor *t, struct err *e)
{
	return num_new_like(c, out, t->dt, t, e) || copied(out, t, e) ? -1 : 0;
}

/* A reference if t already is dense and of the dtype, else a copy. The caller releases it
 * either way and must not write to it. */
int num_as(struct num_ctx *c, struct tensor *out, const struct tensor *t, enum dtype dt,
	   struct err *e)
{
	if (t->dt != dt || !tensor_is_contiguous(t))
		return num_to(c, out, t, dt, e);
	*out = *t;
	tensor_retain(out);
	return 0;
}

/* tensor_view gets no error here: its failure means that the strides need a copy. */
int num_reshape(struct num_ctx *c, struct tensor *out, const struct tensor *t, int ndim,
		const int64_t *shape, struct err *e)
{
	int64_t full[TENSOR_DIMS];
	struct tensor dense;
	int rc;

	if (ndim > TENSOR_DIMS)
		return err_set(e, ERR_UNSUPPORTED, "tensors of %d dimensions", ndim);
	if (tensor_infer_shape(full, ndim, shape, tensor_numel(t), e))
		return -1;
	if (!tensor_view(out, t, ndim, full, NULL))
		return 0;
	if (num_to(c, &dense, t, t->dt, e))
		return -1;
	rc = tensor_view(out, &dense, ndim, full, e);
	tensor_release(&dense);
	return rc;
}

/* TF32 has 10 mantissa bits of float's 23; tensor cores ignore the lower 13. */
int num_cut_tf32(struct num_ctx *c, struct tensor *out, const struct tensor *t, struct err *e)
{
	enum { LOST = 0x1fff };
	uint32_t *v;

	if (num_to(c, out, t, DT_F32, e))
		return -1;
	v = tensor_data(out);
	for (int64_t i = 0, n = c->hollow ? 0 : tensor_numel(out); i < n; i++)
		v[i] &= ~(uint32_t)LOST;
	return 0;
}

/* The value is converted to t's dtype once and broadcast. A dry run is handled by
 * tensor_copy. */
int num_fill(struct num_ctx *c, const struct tensor *t, struct num_arg v, struct err *e)
{
	int64_t value;
	struct storage st = { .data = &value, .bytes = 8, .refs = 1 };
	struct tensor one = { .st = &st, .dt = t->dt };

	(void)c;
	if (v.kind == NUM_FLOAT)
		dtype_store(t->dt, &value, v.f);
	else
		dtype_store_int(t->dt, &value, v.i);
	return tensor_copy(t, &one, e);
}
