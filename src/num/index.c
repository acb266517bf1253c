/* Indexing with tensors: t[i, j], t[mask], and assignment to them.
 *
 * The indexed tensor is seen as [before, indexed, after]. The index tensors broadcast to one
 * shape of `count` positions; each position m has an offset into t, and blocks of `after` are
 * copied from or to there. Example: t [4, 5, 6] indexed by t[:, i] with i [7] has before [4],
 * count 7, after [6] and the result [4, 7, 6]. If indexed dimensions are not adjacent, the
 * result starts with the index shape, as in numpy. */
#include <string.h>

#include "base/mem.h"
#include "num/shape.h"

/* Coordinates of the nonzero elements in row-major order: [n, ndim]. The result's size
 * depends on the contents, so callers handle dry runs. */
int num_nonzero(struct num_ctx *c, struct tensor *out, const struct tensor *t, struct err *e)
{
	struct tensor b;
	int64_t n = 0, count = tensor_numel(t), *p;
	const uint8_t *v;

	if (num_as(c, &b, t, DT_BOOL, e))
		return -1;
	v = tensor_data(&b);
	for (int64_t i = 0; i < count; i++)
		n += v[i] != 0;
	if (num_new(c, out, DT_I64, 2, (int64_t[]){ n, t->ndim }, e)) {
		tensor_release(&b);
		return -1;
	}
	p = tensor_data(out);
	for (int64_t i = 0; i < count; i++) {
		int64_t rest = i;

		if (!v[i])
			continue;
		for (int d = t->ndim - 1; d >= 0; d--) {
			p[d] = rest % t->shape[d];
			rest /= t->shape[d];
		}
		p += t->ndim;
	}
	tensor_release(&b);
	return 0;
}

/* --- the call ----------------------------------------------------------------------------------- */

/* A call after the masks are turned into indices and all indices are broadcast. */
struct index_call {
	struct tensor index[TENSOR_DIMS];    /* one per indexed dimension, i64; owns the references */
	int dim[TENSOR_DIMS], n;                /* the indexed dimensions of t */
	int ndim;                               /* rank of the broadcast index shape */
	int64_t shape[TENSOR_DIMS], count;      /* that shape and its number of positions */
	int64_t *offset;                        /* [count] offsets into t, in elements */
	/* shapes and strides of the other dimensions of t; no storage */
	struct tensor before, after;
	int in_place;                           /* unused */
};

static void call_release(struct index_call *p)
{
	for (int i = 0; i < p->n; i++)
		tensor_release(&p->index[i]);
	mem_free(p->offset);
}

/* A bool mask of k dimensions is k index vectors, one for each dimension: the columns of
 * nonzero(). */
static int add_mask(struct num_ctx *c, struct index_call *p, const struct tensor *t,
		    const struct tensor *mask, int dim, struct err *e)
{
	struct tensor positions, col;

	for (int i = 0; i < mask->ndim; i++)
		if (dim + i >= t->ndim || mask->shape[i] != t->shape[dim + i])
			return err_set(e, ERR_RANGE,
				       "The shape of the mask %s at index %d does not match the "
				       "shape of the indexed tensor %s at index %d",
				       SHAPE_TEXT(mask->ndim, mask->shape), i,
				       SHAPE_TEXT(t->ndim, t->shape), dim + i);
	if (num_nonzero(c, &positions, mask, e))
		return -1;
	for (int i = 0; i < mask->ndim; i++) {
		if (tensor_select(&col, &positions, 1, i, e))
			break;
		p->index[p->n] = col;
		p->dim[p->n++] = dim + i;
	}
	tensor_release(&positions);
	return 0;
}

/* Collects the indices. NULL is a full slice, uint8 counts as a mask, float tensors are an
 * error. */
static int add_indices(struct num_ctx *c, struct index_call *p, const struct tensor *t,
		       const struct num_index *ix, struct err *e)
{
	int dim = 0;

	for (int i = 0; i < ix->n; i++) {
		const struct tensor *v = ix->v[i];

		if (v && (v->dt == DT_BOOL || v->dt == DT_U8)) {
			if (add_mask(c, p, t, v, dim, e))
				return -1;
			dim += v->ndim;
			continue;
		}
		if (dim >= t->ndim)
			return err_set(e, ERR_RANGE, "too many indices for tensor of dimension %d",
				       t->ndim);
		if (v && dtype_is_float(v->dt))
			return err_set(e, ERR_RANGE, "tensors used as indices must be long, int, byte or bool tensors");
		if (v) {
			if (num_to(c, &p->index[p->n], v, DT_I64, e))
				return -1;
			p->dim[p->n++] = dim;
		}
		dim++;
	}
	return 0;
}

/* Expands all indices to their common shape. */
static int broadcast_indices(struct index_call *p, struct err *e)
{
	struct err why = ERR_INIT;

	p->ndim = 0;
	for (int i = 0; i < p->n; i++)
		if (tensor_broadcast_shape(&p->ndim, p->shape, p->index[i].ndim, p->index[i].shape,
					   &why))
			return err_set(e, ERR_RANGE,
				       "shape mismatch: indexing tensors could not be broadcast "
				       "together with shapes %s, %s",
				       SHAPE_TEXT(p->index[0].ndim, p->index[0].shape),
				       SHAPE_TEXT(p->index[i].ndim, p->index[i].shape));
	for (int i = 0; i < p->n; i++) {
		struct tensor full;

		if (tensor_expand(&full, &p->index[i], p->ndim, p->shape, e))
			return -1;
		tensor_release(&p->index[i]);
		p->index[i] = full;
	}
	p->count = 1;
	for (int i = 0; i < p->ndim; i++)
		p->count *= p->shape[i];
	return 0;
}

/* Element number `flat` of t in row-major order. */
static int64_t index_at(const struct tensor *t, int64_t flat)
{
	int64_t off = 0;

	for (int d = t->ndim - 1; d >= 0; d--) {
		off += flat % t->shape[d] * t->stride[d];
		flat /= t->shape[d];
	}
	return ((int64_t *)tensor_data(t))[off];
}

/* offset[m] = sum over indexed dimensions of index * stride. Negative indices count from the
 * end. */
static int fill_offsets(struct num_ctx *c, struct index_call *p, const struct tensor *t,
			struct err *e)
{
	if (c->hollow)
		return 0;
	if (!(p->offset = num_array(c, p->count, sizeof *p->offset, e)))
		return -1;
	for (int i = 0; i < p->n; i++) {
		int64_t size = t->shape[p->dim[i]], stride = t->stride[p->dim[i]];

		for (int64_t m = 0; m < p->count; m++) {
			int64_t v = index_at(&p->index[i], m);

			if (v < -size || v >= size)
				return err_set(e, ERR_RANGE,
					       "index %lld is out of bounds for dimension %d with size %lld",
					       (long long)v, p->dim[i], (long long)size);
			p->offset[m] += (v < 0 ? v + size : v) * stride;
		}
	}
	return 0;
}

/* Appends a dimension to a view. */
static void add_dim(struct tensor *t, int64_t size, int64_t stride)
{
	t->shape[t->ndim] = size;
	t->stride[t->ndim++] = stride;
}

/* On success the caller must call call_release. */
static int call_prepare(struct num_ctx *c, struct index_call *p, const struct tensor *t,
		     const struct num_index *ix, struct err *e)
{
	unsigned used = 0;
	int neighbours = 1;

	memset(p, 0, sizeof *p);
	if (add_indices(c, p, t, ix, e) || broadcast_indices(p, e) || fill_offsets(c, p, t, e)) {
		call_release(p);
		return -1;
	}
	for (int i = 0; i < p->n; i++) {
		used |= 1u << p->dim[i];
		neighbours &= i == 0 || p->dim[i] == p->dim[i - 1] + 1;
	}
	for (int d = 0; d < t->ndim; d++)
		if (!(used >> d & 1))
			add_dim(neighbours && p->n && d < p->dim[0] ? &p->before : &p->after,
				t->shape[d], t->stride[d]);
	return 0;
}

/* Shape of the result: before, index shape, after. Returns its rank. */
static int call_shape(const struct index_call *p, int64_t *shape)
{
	int n = 0;

	for (int i = 0; i < p->before.ndim; i++)
		shape[n++] = p->before.shape[i];
	for (int i = 0; i < p->ndim; i++)
		shape[n++] = p->shape[i];
	for (int i = 0; i < p->after.ndim; i++)
		shape[n++] = p->after.shape[i];
	return n;
}

/* --- moving blocks --------------------------------------------------------------------------------- */

enum move { READ, WRITE, ADD };         /* result = t[ix]; t[ix] = value; t[ix] += value */

/* The copy of one block of `after` at one position. */
struct block {
	const struct index_call *p;
	char *dense, *strided;          /* in the dense array [before, count, after]; in t */
	int size;
	enum dtype dt;
	enum move how;
	int64_t run;                    /* elements of `after` */
	struct tensor_loop loop;        /* over after */
	int64_t done;                   /* elements of this block that are copied */
};

/* t[i * stride] += v[i], each sum rounded to t's dtype. */
static void add_elements(const struct block *b, char *t, int64_t stride, const char *v, int64_t n)
{
	enum dtype carrier = dtype_carrier(b->dt);

	for (int64_t i = 0; i < n; i++, t += stride * b->size, v += b->size)
		if (carrier == DT_I64)
			dtype_store_int(b->dt, t, (int64_t)((uint64_t)dtype_load_int(b->dt, t) +
								    (uint64_t)dtype_load_int(b->dt, v)));
		else
			dtype_store(b->dt, t, dtype_load(b->dt, t) + dtype_load(b->dt, v));
}

/* One innermost run of `after`. */
static void move_run(void *ctx, const int64_t *off, int64_t n)
{
	struct block *b = ctx;
	int64_t stride = b->loop.stride[0][b->loop.ndim - 1];
	char *t = b->strided + off[0] * b->size, *d = b->dense + b->done * b->size;

	if (b->how == READ)
		tensor_gather(b->dt, d, b->dt, t, stride, n);
	else if (b->how == WRITE)
		tensor_scatter(b->dt, t, stride, b->dt, d, n);
	else
		add_elements(b, t, stride, d, n);
	b->done += n;
}

/* A loop over `after` in the order of its dimensions, because the dense side lies in that
 * order. The tensor's own loop would follow memory. Dimensions that continue each other are
 * merged. */
static void loop_in_order(struct tensor_loop *l, const struct tensor *after)
{
	l->nops = 1;
	l->ndim = 0;
	l->outer = 1;
	for (int i = 0; i < after->ndim; i++) {
		if (l->ndim && l->stride[0][l->ndim - 1] == after->stride[i] * after->shape[i]) {
			l->shape[l->ndim - 1] *= after->shape[i];
			l->stride[0][l->ndim - 1] = after->stride[i];
			continue;
		}
		l->shape[l->ndim] = after->shape[i];
		l->stride[0][l->ndim++] = after->stride[i];
	}
	if (l->ndim == 0) {
		l->ndim = 1;
		l->shape[0] = l->stride[0][0] = 1;
	}
	for (int i = 0; i < l->ndim - 1; i++)
		l->outer *= l->shape[i];
}

/* Every position of `before`, every index position, every element of `after`, on one thread:
 * if indices repeat, the last write wins. */
static void move_all(const struct num_ctx *c, const struct index_call *p, const struct tensor *t,
		     const struct tensor *dense, enum move how)
{
	struct block b = { .p = p, .size = dtype_size(t->dt), .dt = t->dt, .how = how,
			   .run = tensor_numel(&p->after) };
	int64_t rows = tensor_numel(&p->before);

	loop_in_order(&b.loop, &p->after);
	if (b.run == 0 || p->count == 0 || c->hollow)
		return;
	for (int64_t r = 0; r < rows; r++) {
		int64_t base = 0, rest = r;

		for (int d = p->before.ndim - 1; d >= 0; d--) {
			base += rest % p->before.shape[d] * p->before.stride[d];
			rest /= p->before.shape[d];
		}
		for (int64_t m = 0; m < p->count; m++) {
			b.strided = (char *)tensor_data(t) + (base + p->offset[m]) * b.size;
			b.dense = (char *)tensor_data(dense) + (r * p->count + m) * b.run * b.size;
			b.done = 0;
			tensor_loop_run(&b.loop, 0, b.loop.outer, move_run, &b);
		}
	}
}

/* The marks of elements that were never written move like the elements. */
static int move_marks(const struct num_ctx *c, const struct index_call *p, const struct tensor *t,
		      const struct tensor *dense, enum move how, struct err *e)
{
	const struct tensor *from = how == READ ? t : dense;
	struct storage as, of;
	struct tensor a, b;

	if (c->hollow || (!tensor_any_undef(from) && (how == READ || !t->st->undef)))
		return 0;
	if (tensor_want_marks(t, e) || tensor_want_marks(dense, e))
		return -1;
	a = tensor_marks(t, &as);
	b = tensor_marks(dense, &of);
	move_all(c, p, &a, &b, how);
	if (c->carried)
		*c->carried = 1;
	return 0;
}

/* t[ix]: always a copy, never a view. */
int num_index(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	      const struct num_index *ix, struct err *e)
{
	struct index_call p;
	int64_t shape[TENSOR_DIMS * 2];
	int n, rc;

	if (call_prepare(c, &p, t, ix, e))
		return -1;
	n = call_shape(&p, shape);
	rc = num_new(c, out, t->dt, n, shape, e);
	if (!rc) {
		move_all(c, &p, t, out, READ);
		rc = move_marks(c, &p, t, out, READ, e);
		if (rc)
			tensor_release(out);
	}
	call_release(&p);
	return rc;
}

/* t[ix] = value or t[ix] += value (accumulate); the value broadcasts to the shape of t[ix]. */
int num_index_put(struct num_ctx *c, const struct tensor *t, const struct num_index *ix,
		  const struct tensor *value, int accumulate, struct err *e)
{
	struct index_call p;
	struct tensor full, dense;
	struct err why = ERR_INIT;
	int64_t shape[TENSOR_DIMS * 2];
	int n, rc;

	if (tensor_check_writable(t, e) || call_prepare(c, &p, t, ix, e))
		return -1;
	n = call_shape(&p, shape);
	rc = tensor_expand(&full, value, n, shape, &why);
	if (rc) {
		err_set(e, ERR_STATE,
			"shape mismatch: value tensor of shape %s cannot be broadcast to indexing result of shape %s",
			SHAPE_TEXT(value->ndim, value->shape), SHAPE_TEXT(n, shape));
	} else {
		rc = num_to(c, &dense, &full, t->dt, e);
		tensor_release(&full);
	}
	if (!rc) {
		move_all(c, &p, t, &dense, accumulate ? ADD : WRITE);
		rc = accumulate ? 0 : move_marks(c, &p, t, &dense, WRITE, e);
		tensor_release(&dense);
	}
	call_release(&p);
	return rc;
}

/* The elements of t where mask is true, after both broadcast: a vector. */
int num_masked_select(struct num_ctx *c, struct tensor *out, const struct tensor *t,
		      const struct tensor *mask, struct err *e)
{
	int64_t shape[TENSOR_DIMS];
	struct tensor a, b;
	int ndim, rc;

	if (mask->dt != DT_BOOL)
		return err_set(e, ERR_STATE, "masked_select: expected BoolTensor for mask");
	if (tensor_broadcast(t, mask, &ndim, shape, e) || tensor_expand(&a, t, ndim, shape, e))
		return -1;
	rc = tensor_expand(&b, mask, ndim, shape, e);
	if (!rc) {
		rc = num_index(c, out, &a, &(struct num_index){ .v = { &b }, .n = 1 }, e);
		tensor_release(&b);
	}
	tensor_release(&a);
	return rc;
}
