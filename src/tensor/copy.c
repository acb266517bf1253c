/* Copies between strided tensors, with conversion and broadcasting, and the marks of memory that
 * was never written, which follow their elements.
 *
 * Invariant: a copy moves the marks with the elements, so that a clone of torch.empty is still
 * unwritten. */
#include <string.h>

#include "base/cpu.h"
#include "base/mem.h"
#include "tensor/sparse.h"
#include "tensor/tensor.h"

SIMD_DECLARE(void, vec_move, (int size, void *d, int64_t ds, const void *s, int64_t ss, int64_t n))
SIMD_DECLARE(void, vec_transpose, (int size, void *d, int64_t dr, const void *s, int64_t sc, int64_t r, int64_t c))

/* Elements that pass through a dense block when both strides and dtypes differ. */
enum { BLOCK = 512 };

/* --- strided runs with conversion --------------------------------------------------------- */

/* Contiguous runs convert directly, equal dtypes only move, and the rest goes through a block. */
void tensor_gather(enum dtype to, void *dst, enum dtype from, const void *src, int64_t stride, int64_t n)
{
	char block[BLOCK * 8];
	int ts = dtype_size(to), fs = dtype_size(from);

	if (stride == 1) {
		dtype_convert(to, dst, from, src, (size_t)n);
		return;
	}
	if (to == from) {
		SIMD_PICK(vec_move)(ts, dst, 1, src, stride, n);
		return;
	}
	for (int64_t done = 0; done < n; done += BLOCK) {
		int64_t m = MIN(n - done, (int64_t)BLOCK);

		SIMD_PICK(vec_move)(fs, block, 1, (const char *)src + done * stride * fs, stride, m);
		dtype_convert(to, (char *)dst + done * ts, from, block, (size_t)m);
	}
}

/* Converts a dense block, then moves it to strided memory. */
void tensor_scatter(enum dtype to, void *dst, int64_t stride, enum dtype from, const void *src, int64_t n)
{
	char block[BLOCK * 8];
	int ts = dtype_size(to), fs = dtype_size(from);

	if (stride == 1) {
		dtype_convert(to, dst, from, src, (size_t)n);
		return;
	}
	for (int64_t done = 0; done < n; done += BLOCK) {
		int64_t m = MIN(n - done, (int64_t)BLOCK);

		dtype_convert(to, block, from, (const char *)src + done * fs, (size_t)m);
		SIMD_PICK(vec_move)(ts, (char *)dst + done * stride * ts, stride, block, 1, m);
	}
}

/* --- whole tensors --------------------------------------------------------------------- */

/* One copy, as the loop over the outer dimensions sees it. */
struct copy_job {
	char *dst;
	const char *src;
	enum dtype to, from;
	int64_t ds, ss;             /* inner strides in elements */
	int size;                   /* bytes of an element, if nothing is converted */
	void (*move)(int size, void *d, int64_t ds, const void *s, int64_t ss, int64_t n);
};

/* A run without conversion. */
static void copy_same(void *ctx, const int64_t *off, int64_t n)
{
	struct copy_job *j = ctx;

	j->move(j->size, j->dst + off[0] * j->size, j->ds, j->src + off[1] * j->size, j->ss, n);
}

/* A run with conversion: gathered into a dense block, converted, scattered. */
static void copy_run(void *ctx, const int64_t *off, int64_t n)
{
	struct copy_job *j = ctx;
	char *d = j->dst + off[0] * dtype_size(j->to);
	const char *s = j->src + off[1] * dtype_size(j->from);
	char block[BLOCK * 8];

	if (j->ds == 1) {
		tensor_gather(j->to, d, j->from, s, j->ss, n);
		return;
	}
	for (int64_t done = 0; done < n; done += BLOCK) {
		int64_t m = MIN(n - done, (int64_t)BLOCK);

		tensor_gather(j->from, block, j->from, s + done * j->ss * dtype_size(j->from), j->ss, m);
		tensor_scatter(j->to, d + done * j->ds * dtype_size(j->to), j->ds, j->from, block, m);
	}
}

/* Returns an outer dimension of the loop along which the source is contiguous, or -1. */
static int source_dim(const struct tensor_loop *l)
{
	for (int d = l->ndim - 2; d >= 0; d--)
		if (l->stride[1][d] == 1 && l->shape[d] >= 4)
			return d;
	return -1;
}

/* r x c elements: the target is contiguous along c, the source along r. */
struct transpose_job {
	char *dst;
	const char *src;
	int size;
	int64_t dr, sc, r, c;
};

/* One matrix of the outer dimensions. */
static void transpose_run(void *ctx, const int64_t *off, int64_t n)
{
	struct transpose_job *j = ctx;
	char *d = j->dst + off[0] * j->size;
	const char *s = j->src + off[1] * j->size;

	(void)n;
	SIMD_PICK(vec_transpose)(j->size, d, j->dr, s, j->sc, j->r, j->c);
}

/* Copies without conversion if target and source are contiguous along different dimensions.
 * Blocks of 8 x 8 elements then use whole cache lines of both. Returns 0 if the copy is another
 * one. */
static int copy_transposed(struct tensor_loop *l, const struct tensor *dst, const struct tensor *src)
{
	int in = l->ndim - 1, d = source_dim(l);
	struct transpose_job j = { .dst = tensor_data(dst), .src = tensor_data(src), .size = dtype_size(dst->dt) };

	if (dst->dt != src->dt || d < 0 || l->stride[0][in] != 1 || l->stride[1][in] == 1 || l->shape[in] < 4)
		return 0;
	j.dr = l->stride[0][d];
	j.sc = l->stride[1][in];
	j.r = l->shape[d];
	j.c = l->shape[in];
	/* One call does both dimensions, so the loop keeps the others only. */
	l->outer /= l->shape[d];
	for (int i = d; i + 1 < in; i++) {
		l->shape[i] = l->shape[i + 1];
		for (int k = 0; k < 2; k++)
			l->stride[k][i] = l->stride[k][i + 1];
	}
	l->ndim--;
	l->shape[l->ndim - 1] = 1;
	tensor_loop_run(l, 0, l->outer, transpose_run, &j);
	return 1;
}

/* Copies the elements. The caller has checked shapes and overlap. */
static void copy_values(const struct tensor *dst, const struct tensor *src)
{
	struct tensor_loop l;
	struct copy_job j = { .dst = tensor_data(dst), .src = tensor_data(src), .to = dst->dt, .from = src->dt };

	tensor_loop_init(&l, dst->ndim, dst->shape, 2, (const struct tensor *[]){ dst, src });
	if (copy_transposed(&l, dst, src))
		return;
	j.ds = l.stride[0][l.ndim - 1];
	j.ss = l.stride[1][l.ndim - 1];
	j.size = dtype_size(dst->dt);
	j.move = SIMD_PICK(vec_move);
	tensor_loop_run(&l, 0, l.outer, dst->dt == src->dt ? copy_same : copy_run, &j);
}

/* Whether both name the same elements in the same order; strides of dimensions of 1 do not
 * matter. */
static int same_view(const struct tensor *a, const struct tensor *b)
{
	if (a->st != b->st || a->dt != b->dt || a->offset != b->offset || !tensor_same_shape(a, b))
		return 0;
	for (int i = 0; i < a->ndim; i++)
		if (a->stride[i] != b->stride[i] && a->shape[i] != 1)
			return 0;
	return 1;
}

/* Whether the memory between the first and the last element of both meets. */
static int overlap(const struct tensor *a, const struct tensor *b)
{
	int64_t alo, ahi, blo, bhi;

	if (a->st != b->st)
		return 0;
	tensor_span(a, &alo, &ahi);
	tensor_span(b, &blo, &bhi);
	return alo < bhi && blo < ahi;
}

int tensor_check_writable(const struct tensor *t, struct err *e)
{
	for (int i = 0; i < t->ndim; i++)
		if (t->stride[i] == 0 && t->shape[i] > 1)
			return err_set(e, ERR_STATE,
				       "unsupported operation: more than one element of the written-to "
				       "tensor refers to a "
				       "single memory location. Please clone() the tensor before performing "
				       "the operation.");
	return 0;
}

int tensor_check_overlap(const struct tensor *dst, const struct tensor *src, struct err *e)
{
	int64_t dlo, dhi, slo, shi;

	if (dst->st != src->st || !tensor_numel(dst) || !tensor_numel(src) || !tensor_is_dense(dst) ||
	    !tensor_is_dense(src))
		return 0;
	tensor_span(dst, &dlo, &dhi);
	tensor_span(src, &slo, &shi);
	if (dhi <= slo || shi <= dlo || (dlo == slo && dhi == shi && same_view(dst, src)))
		return 0;
	return err_set(e, ERR_STATE,
		       "unsupported operation: some elements of the input tensor and the written-to tensor "
		       "refer to a single memory location. "
		       "Please clone() the tensor before performing the operation.");
}

/* Whether `src` can be written to dst's shape as it is. */
static int check_copy(const struct tensor *dst, const struct tensor *src, struct err *e)
{
	int64_t shape[TENSOR_DIMS];
	int ndim;

	if (tensor_broadcast(dst, src, &ndim, shape, e))
		return -1;
	for (int i = 0; i < ndim; i++)
		if (ndim != dst->ndim || shape[i] != dst->shape[i])
			return err_set(e, ERR_STATE, "output with shape %s doesn't match the broadcast shape %s",
				       SHAPE_TEXT(dst->ndim, dst->shape), SHAPE_TEXT(ndim, shape));
	return tensor_check_writable(dst, e);
}

static int copy_undef(const struct tensor *dst, const struct tensor *src, struct err *e);

/* A copy into a hollow storage. A single number written to all of it is remembered, and so are
 * the contents of another hollow storage. After any other copy the contents are unknown. */
static int copy_hollow(const struct tensor *dst, const struct tensor *src, struct err *e)
{
	unsigned char value[8];
	int copied;

	if (!dst->st->hollow)
		return 0;
	copied = src->st->hollow ? sparse_copy(dst, src) : 0;
	if (copied)
		return copied < 0 ? err_nomem(e) : 0;
	if (!tensor_is_whole(dst) || src->st->hollow || tensor_numel(src) != 1)
		return dst->st->sparse && sparse_unknown(dst->st) ? err_nomem(e) : 0;
	dtype_convert(dst->dt, value, src->dt, tensor_data(src), 1);
	return sparse_value(dst->st, value, dtype_size(dst->dt)) ? err_nomem(e) : 0;
}

/* If source and target overlap, the source is copied to a temporary tensor first. */
int tensor_copy(const struct tensor *dst, const struct tensor *src, struct err *e)
{
	struct tensor whole;
	int rc;

	if (check_copy(dst, src, e))
		return -1;
	if (tensor_numel(dst) == 0 || same_view(dst, src))
		return 0;
	if (dst->st->hollow || src->st->hollow)
		return copy_hollow(dst, src, e);
	if (overlap(dst, src)) {
		if (tensor_new_in(src->st->budget, &whole, src->dt, src->ndim, src->shape, e))
			return -1;
		copy_values(&whole, src);
		copy_values(dst, &whole);
		tensor_release(&whole);
		return copy_undef(dst, src, e);
	}
	copy_values(dst, src);
	rc = src->st->undef || dst->st->undef ? copy_undef(dst, src, e) : 0;
	return rc;
}

/* A hollow tensor gives a hollow copy. */
int tensor_to(struct tensor *out, const struct tensor *t, enum dtype dt, struct err *e)
{
	int64_t stride[TENSOR_DIMS];

	tensor_dense_strides(t->ndim, t->shape, stride);
	if (t->st->hollow ? tensor_new_hollow(out, dt, t->ndim, t->shape, stride, e) :
	    tensor_new_in(t->st->budget, out, dt, t->ndim, t->shape, e))
		return -1;
	if (tensor_copy(out, t, e)) {
		tensor_release(out);
		return -1;
	}
	return 0;
}

/* A contiguous tensor is shared, with another reference. */
int tensor_contiguous(struct tensor *out, const struct tensor *t, struct err *e)
{
	if (!tensor_is_contiguous(t))
		return tensor_to(out, t, t->dt, e);
	*out = *t;
	tensor_retain(out);
	return 0;
}

/* --- never written ---------------------------------------------------------------------- */

/* The marks of a storage as a tensor of bytes, one per element: elements are written whole, so
 * the mark of an element's first byte speaks for all of them. */
static struct tensor undef_map(const struct tensor *t, struct storage *as)
{
	struct tensor m = *t;
	int size = dtype_size(t->dt);

	*as = (struct storage){ .data = t->st->undef, .bytes = t->st->bytes, .refs = 1 };
	m.st = as;
	m.dt = DT_U8;
	m.offset = t->offset * size;
	for (int i = 0; i < t->ndim; i++)
		m.stride[i] = t->stride[i] * size;
	return m;
}

/* A walk over marks: `mark` is set in every element, or `any` collects whether one is set. */
struct mark_job {
	unsigned char *map;
	int64_t stride;
	int size, mark, any;
};

/* Stops at the first mark that is set. */
static void any_run(void *ctx, const int64_t *off, int64_t n)
{
	struct mark_job *j = ctx;

	for (int64_t i = 0; i < n && !j->any; i++)
		j->any = j->map[off[0] + i * j->stride];
}

/* Sets the marks of all bytes of each element. */
static void mark_run(void *ctx, const int64_t *off, int64_t n)
{
	struct mark_job *j = ctx;

	for (int64_t i = 0; i < n; i++)
		memset(j->map + off[0] + i * j->stride, j->mark, (size_t)j->size);
}

/* Calls fn for each run of marks of t. Returns what any_run found. */
static int walk_map(const struct tensor *t, tensor_loop_fn *fn, int mark)
{
	struct storage as;
	struct tensor m = undef_map(t, &as);
	struct tensor_loop l;
	struct mark_job j = { .map = tensor_data(&m), .size = dtype_size(t->dt), .mark = mark };

	if (tensor_numel(t) == 0)
		return 0;
	tensor_loop_init(&l, m.ndim, m.shape, 1, (const struct tensor *[]){ &m });
	j.stride = l.stride[0][l.ndim - 1];
	tensor_loop_run(&l, 0, l.outer, fn, &j);
	return j.any;
}

/* A storage without marks has nothing unwritten. */
int tensor_any_undef(const struct tensor *t)
{
	return t->st->undef && walk_map(t, any_run, 0);
}

/* After a write through the view. */
void tensor_mark_defined(const struct tensor *t)
{
	if (t->st->undef)
		walk_map(t, mark_run, 0);
}

void tensor_mark_undef(const struct tensor *t)
{
	walk_map(t, mark_run, 1);
}

int tensor_want_marks(const struct tensor *t, struct err *e)
{
	if (t->st->undef)
		return 0;
	if (storage_track_undef(t->st, e))
		return -1;
	memset(t->st->undef, 0, t->st->bytes);
	return 0;
}

/* Only the storage differs: the marks lie byte by byte as the data does. */
struct tensor tensor_marks(const struct tensor *t, struct storage *as)
{
	struct tensor m = *t;

	*as = (struct storage){ .data = t->st->undef, .bytes = t->st->bytes, .refs = 1 };
	m.st = as;
	return m;
}

/* Broadcasts the marks of t to *to; with `values`, what t itself holds. */
static int spread_bytes(const struct tensor *to, const struct tensor *t, int values, struct err *e)
{
	struct storage as;
	struct tensor m;

	if (!values && !t->st->undef) {
		memset(tensor_data(to), 0, (size_t)tensor_numel(to));
		return 0;
	}
	m = values ? *t : undef_map(t, &as);
	return tensor_copy(to, &m, e);
}

/* row[0] collects the marks of the other operands. With `picks` row[3] holds the condition and
 * says whether row[1] or row[2] counts. */
static void join_marks(unsigned char *const *row, int n, int picks, int64_t length)
{
	for (int64_t i = 0; i < length; i++) {
		int other = 0;

		for (int k = 1; k < n && !picks; k++)
			other |= row[k][i];
		row[0][i] |= (unsigned char)(picks ? row[row[3][i] ? 1 : 2][i] : other);
	}
}

/* Sets the marks of all bytes of each element of `out`. */
static void put_marks(const struct tensor *out, const struct tensor *marks)
{
	struct storage as;
	struct tensor d = undef_map(out, &as);

	for (int k = 0; k < dtype_size(out->dt); k++, d.offset++)
		copy_values(&d, marks);
}

/* part[k] are the marks of operand k in the shape of the result, part[n] the condition's values. */
int tensor_carry_undef(const struct tensor *out, const struct tensor *in, int n, int picks, struct err *e)
{
	struct tensor part[4];
	unsigned char *row[4] = { NULL };
	int any = 0, made = 0, rc = 0;

	for (int k = 0; k < n; k++)
		any |= tensor_any_undef(&in[k]);
	/* Nothing unwritten among the operands is by far the most common case. */
	if (!any || tensor_numel(out) == 0 || out->st->hollow)
		return 0;
	for (; made < n + picks && !rc; made += !rc) {
		rc = tensor_new(&part[made], DT_U8, out->ndim, out->shape, e);
		if (rc)
			break;
		row[made] = tensor_data(&part[made]);
		rc = spread_bytes(&part[made], &in[made == n ? 0 : made], made == n, e);
		if (rc)
			tensor_release(&part[made]);
	}
	rc = rc || tensor_want_marks(out, e) ? -1 : 0;
	if (!rc) {
		join_marks(row, n, picks, tensor_numel(out));
		put_marks(out, &part[0]);
	}
	while (made)
		tensor_release(&part[--made]);
	return rc ? -1 : 1;
}

/* Moves the marks of a copy, so that a clone of unwritten memory is unwritten too. */
static int copy_undef(const struct tensor *dst, const struct tensor *src, struct err *e)
{
	struct storage da, sa;
	struct tensor d, s;

	if (!src->st->undef) {
		tensor_mark_defined(dst);
		return 0;
	}
	if (!tensor_any_undef(src)) {
		tensor_mark_defined(dst);
		return 0;
	}
	if (tensor_want_marks(dst, e))
		return -1;
	d = undef_map(dst, &da);
	s = undef_map(src, &sa);
	for (int k = 0; k < dtype_size(dst->dt); k++) {
		copy_values(&d, &s);
		d.offset++;
	}
	return 0;
}
