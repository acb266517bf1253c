/* Storage and dense tensors: see tensor.h.
 *
 * Every size that comes from a program is checked here (needed_bytes) before memory is allocated.
 * A storage is freed with its last reference; counts are not atomic, because a tensor belongs to
 * one thread. */
#include "tensor/tensor.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/mem.h"
#include "tensor/sparse.h"

/* A cache line and the widest vector. */
enum { ALIGN = 64 };

/* Ids of storages are unique in the process; this is the only counter. */
static _Atomic uint64_t last_id;

/* Frees the data of a storage that owns aligned memory. */
static void release_heap(struct storage *s)
{
	mem_free_aligned(s->data);
}

/* Counts bytes against a budget, or fails as a GPU that is out of memory does. */
static int budget_take(struct tensor_budget *b, size_t bytes, struct err *e)
{
	if (!b)
		return 0;
	if (b->limit && (bytes > b->limit || b->live > b->limit - bytes))
		return err_set(e, ERR_NOMEM, "out of memory: tried to allocate %zu bytes with %zu of %zu in use", bytes,
			       b->live, b->limit);
	b->live += bytes;
	b->peak = MAX(b->peak, b->live);
	return 0;
}

/* An empty storage still gets an address of its own. */
static struct storage *storage_new(struct tensor_budget *b, size_t bytes, struct err *e)
{
	struct storage *s;

	if (budget_take(b, bytes, e))
		return NULL;
	s = mem_zalloc(sizeof *s);
	if (!s || bytes > SIZE_MAX - ALIGN || !(s->data = mem_alloc_aligned(bytes ? bytes : 1, ALIGN))) {
		mem_free(s);
		if (b)
			b->live -= bytes;
		err_set(e, ERR_NOMEM, "out of memory: tried to allocate %zu bytes", bytes);
		return NULL;
	}
	s->bytes = bytes;
	s->refs = 1;
	s->budget = b;
	s->id = atomic_fetch_add(&last_id, 1) + 1;
	s->release = release_heap;
	return s;
}

/* Sparse contents go first: they unmap memory at the storage's addresses. */
static void storage_free(struct storage *s)
{
	if (s->budget)
		s->budget->live -= s->bytes;
	sparse_free(s);
	if (s->release)
		s->release(s);
	mem_free(s->undef);
	mem_free(s);
}

/* A hollow storage has no memory to fill. */
void storage_fill(struct storage *s, int byte)
{
	if (!s->hollow)
		memset(s->data, byte, s->bytes);
}

/* Storages made after a point in time have larger ids. */
uint64_t storage_newest(void)
{
	return atomic_load(&last_id);
}

/* One mark per byte; they start as "never written". */
int storage_track_undef(struct storage *s, struct err *e)
{
	if (!s->undef && !(s->undef = mem_alloc(s->bytes)))
		return err_nomem(e);
	memset(s->undef, 1, s->bytes);
	return 0;
}

/* Each copy of the view that is kept needs a reference of its own. */
void tensor_retain(const struct tensor *t)
{
	t->st->refs++;
}

/* The view is cleared, so that releasing it twice does nothing. */
void tensor_release(struct tensor *t)
{
	if (t->st && --t->st->refs == 0)
		storage_free(t->st);
	t->st = NULL;
}

/* Zeros are left out: [0, 2^40, 2^40] has no elements, but its other sizes may still be
 * multiplied. */
int tensor_check_sizes(int ndim, const int64_t *shape, struct err *e)
{
	int64_t n = 1;

	for (int i = 0; i < ndim; i++)
		if (shape[i] && ck_mul64(n, shape[i], &n))
			return err_set(e, ERR_STATE, "numel: integer multiplication overflow");
	return 0;
}

/* PyTorch has no negative strides. Strides of 2^56 elements and more would overflow sums of
 * offsets. */
int tensor_check_strides(int ndim, const int64_t *stride, struct err *e)
{
	const int64_t far = (int64_t)1 << 56;

	for (int i = 0; i < ndim; i++) {
		if (stride[i] < 0)
			return err_set(e, ERR_STATE,
				       "as_strided: Negative strides are not supported at the moment, got strides: %s",
				       SHAPE_TEXT(ndim, stride));
		if (stride[i] > far)
			return err_set(e, ERR_UNSUPPORTED, "a stride of %lld", (long long)stride[i]);
	}
	return 0;
}

/* Bytes that a tensor with these strides needs, with every product and sum checked. */
static int needed_bytes(enum dtype dt, int ndim, const int64_t *shape, const int64_t *stride, size_t *bytes,
			struct err *e)
{
	int64_t last = 1, span, n;
	int empty = 0, negative = 0;

	for (int i = 0; i < ndim; i++) {
		if (shape[i] < 0)
			return err_set(e, ERR_STATE,
				       "Trying to create tensor with negative dimension %lld: %s", (long long)shape[i],
				       SHAPE_TEXT(ndim, shape));
		empty |= shape[i] == 0;
		negative |= stride[i] < 0;
	}
	if (negative)
		return tensor_check_strides(ndim, stride, e);
	if (tensor_check_sizes(ndim, shape, NULL))
		goto too_big;
	/* A tensor without elements needs no memory, with any strides. */
	if (empty) {
		*bytes = 0;
		return 0;
	}
	/* The last element lies sum((shape - 1) * stride) behind the first. */
	for (int i = 0; i < ndim; i++)
		if (ck_mul64(shape[i] - 1, stride[i], &span) || ck_add64(last, span, &last))
			goto too_big;
	if (!ck_mul64(last, dtype_size(dt), &n) && n < INT64_MAX / 2) {
		*bytes = (size_t)n;
		return 0;
	}
too_big:
	return err_set(e, ERR_NOMEM, "out of memory: storage size calculation overflowed with sizes=%s",
		       SHAPE_TEXT(ndim, shape));
}

/* Row-major. Dimensions of 0 or 1 do not move the stride, as in PyTorch. */
void tensor_dense_strides(int ndim, const int64_t *shape, int64_t *stride)
{
	int64_t step = 1;

	for (int i = ndim - 1; i >= 0; i--) {
		stride[i] = step;
		if (shape[i] > 1 && ck_mul64(step, shape[i], &step))
			step = INT64_MAX / 2;   /* refused by needed_bytes */
	}
}

/* Memory for the elements from the first to the last; gaps between them included. */
int tensor_new_strided_in(struct tensor_budget *b, struct tensor *t, enum dtype dt, int ndim, const int64_t *shape,
			  const int64_t *stride, struct err *e)
{
	size_t bytes;

	if (ndim < 0 || ndim > TENSOR_DIMS)
		return err_set(e, ERR_UNSUPPORTED, "tensors of %d dimensions", ndim);
	if (needed_bytes(dt, ndim, shape, stride, &bytes, e))
		return -1;
	*t = (struct tensor){ .dt = dt, .ndim = ndim };
	for (int i = 0; i < ndim; i++) {
		t->shape[i] = shape[i];
		t->stride[i] = stride[i];
	}
	t->st = storage_new(b, bytes, e);
	return t->st ? 0 : -1;
}

/* Hollow storages of up to 64 KiB have zeroed memory. Larger ones get addresses that are not
 * mapped, from 2^45 on, each followed by a gap so that no two are neighbours. */
enum { HOLLOW_REAL = 1 << 16, HOLLOW_GAP = 1 << 16 };
static const uint64_t hollow_base = (uint64_t)1 << 45, hollow_most = (uint64_t)1 << 43;
static _Atomic uint64_t hollow_used;

/* The storage is made empty first and then takes its real size without memory. */
int tensor_new_hollow(struct tensor *t, enum dtype dt, int ndim, const int64_t *shape, const int64_t *stride,
		      struct err *e)
{
	size_t bytes;

	if (needed_bytes(dt, ndim, shape, stride, &bytes, e))
		return -1;
	if (bytes > hollow_most)
		return err_set(e, ERR_NOMEM, "out of memory: tried to allocate %zu bytes", bytes);
	if (tensor_new_strided_in(NULL, t, DT_U8, 0, NULL, NULL, e))
		return -1;
	t->dt = dt;
	t->ndim = ndim;
	for (int i = 0; i < ndim; i++) {
		t->shape[i] = shape[i];
		t->stride[i] = stride[i];
	}
	t->st->release(t->st);
	t->st->hollow = 1;
	t->st->bytes = bytes;
	t->st->release = NULL;
	if (bytes <= HOLLOW_REAL) {
		t->st->data = mem_alloc_aligned(MAX(bytes, 1), ALIGN);
		t->st->release = release_heap;
		if (!t->st->data) {
			tensor_release(t);
			return err_nomem(e);
		}
		memset(t->st->data, 0, bytes);
		return 0;
	}
	t->st->data = (void *)(uintptr_t)(hollow_base + atomic_fetch_add(&hollow_used,
			(bytes + 2 * HOLLOW_GAP - 1) / HOLLOW_GAP * HOLLOW_GAP));
	return 0;
}

/* A dense tensor under a budget. */
int tensor_new_in(struct tensor_budget *b, struct tensor *t, enum dtype dt, int ndim, const int64_t *shape,
		  struct err *e)
{
	int64_t stride[TENSOR_DIMS] = { 0 };

	if (ndim >= 0 && ndim <= TENSOR_DIMS)
		tensor_dense_strides(ndim, shape, stride);
	return tensor_new_strided_in(b, t, dt, ndim, shape, stride, e);
}

int tensor_new(struct tensor *t, enum dtype dt, int ndim, const int64_t *shape, struct err *e)
{
	return tensor_new_in(NULL, t, dt, ndim, shape, e);
}

/* The storage does not own `data` (release is NULL) and counts against no budget. */
int tensor_borrow(struct tensor *t, enum dtype dt, int ndim, const int64_t *shape, void *data, size_t bytes,
		  struct err *e)
{
	size_t needed;

	*t = (struct tensor){ .dt = dt, .ndim = ndim };
	if (ndim < 0 || ndim > TENSOR_DIMS)
		return err_set(e, ERR_UNSUPPORTED, "tensors of %d dimensions", ndim);
	memcpy(t->shape, shape, (size_t)ndim * sizeof *shape);
	tensor_dense_strides(ndim, shape, t->stride);
	if (needed_bytes(dt, ndim, shape, t->stride, &needed, e))
		return -1;
	if (needed > bytes)
		return err_set(e, ERR_RANGE, "a tensor of %zu bytes in %zu", needed, bytes);
	t->st = mem_zalloc(sizeof *t->st);
	if (!t->st)
		return err_nomem(e);
	*t->st = (struct storage){ .data = data, .bytes = bytes, .refs = 1, .id = atomic_fetch_add(&last_id, 1) + 1 };
	return 0;
}

int tensor_new_zero(struct tensor *t, enum dtype dt, int ndim, const int64_t *shape, struct err *e)
{
	if (tensor_new(t, dt, ndim, shape, e))
		return -1;
	memset(t->st->data, 0, t->st->bytes);
	return 0;
}

/* tensor_check_sizes has shown that the product fits. */
int64_t tensor_numel(const struct tensor *t)
{
	int64_t n = 1;

	for (int i = 0; i < t->ndim; i++)
		n *= t->shape[i];
	return n;
}

/* A tensor without elements is contiguous; dimensions of 1 may have any stride. */
int tensor_is_contiguous(const struct tensor *t)
{
	int64_t step = 1;

	for (int i = t->ndim - 1; i >= 0; i--) {
		if (t->shape[i] == 0)
			return 1;
		if (t->shape[i] != 1 && t->stride[i] != step)
			return 0;
		step *= t->shape[i];
	}
	return 1;
}

/* Looks for a dimension with each stride that a dense layout needs: 1, then 1 * its size, ... A
 * transposed contiguous matrix is dense. */
int tensor_is_dense(const struct tensor *t)
{
	int64_t step = 1;
	unsigned used = 0;

	if (tensor_is_contiguous(t))
		return 1;
	for (int k = 0; k < t->ndim; k++) {
		int found = -1;

		for (int i = 0; i < t->ndim && found < 0; i++)
			if (!(used >> i & 1) && (t->shape[i] == 1 || t->stride[i] == step))
				found = i;
		if (found < 0)
			return 0;
		used |= 1u << found;
		step *= t->shape[found];
	}
	return 1;
}

/* Dense and as many bytes as the storage: then it covers each byte once. */
int tensor_is_whole(const struct tensor *t)
{
	return (size_t)tensor_numel(t) * (size_t)dtype_size(t->dt) == t->st->bytes && tensor_is_dense(t);
}

/* Negative strides reach below the offset, others above. */
void tensor_span(const struct tensor *t, int64_t *lo, int64_t *hi)
{
	int64_t size = dtype_size(t->dt), first = t->offset, last = t->offset;

	for (int i = 0; i < t->ndim; i++) {
		if (t->shape[i] == 0) {
			*lo = *hi = t->offset * size;
			return;
		}
		if (t->stride[i] < 0)
			first += (t->shape[i] - 1) * t->stride[i];
		else
			last += (t->shape[i] - 1) * t->stride[i];
	}
	*lo = first * size;
	*hi = (last + 1) * size;
}

/* Strides may differ. */
int tensor_same_shape(const struct tensor *a, const struct tensor *b)
{
	if (a->ndim != b->ndim)
		return 0;
	for (int i = 0; i < a->ndim; i++)
		if (a->shape[i] != b->shape[i])
			return 0;
	return 1;
}

/* A text that does not fit is cut off. */
const char *tensor_shape_text(char *out, size_t cap, int ndim, const int64_t *shape)
{
	size_t n = (size_t)snprintf(out, cap, "[");

	for (int i = 0; i < ndim && n < cap; i++)
		n += (size_t)snprintf(out + n, cap - n, "%s%lld", i ? ", " : "", (long long)shape[i]);
	if (n < cap)
		snprintf(out + n, cap - n, "]");
	return out;
}
