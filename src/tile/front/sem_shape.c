/* Shapes: broadcasting, and the operations that move lanes without computing (semantic.py: splat,
 * reshape, expand_dims, join, split, permute, broadcast_impl_*). Example: x[:, None] + y[None, :]
 * with 16 and 32 lanes broadcasts [16, 1] and [1, 32] to [16, 32]. */
#include "tile/front/sem.h"

/* Every dimension of a tile is a power of two, and a tile has at most 2^20 elements. */
const struct ty *sem_block_ty(struct front *f, const struct ty *elem, int rank, const int64_t *shape)
{
	int64_t numel;

	if (rank < 1)
		front_fail(f, REASON_bad_shape, "0d block_type is forbidden");
	if (rank > TY_MAX_RANK)
		front_fail(f, REASON_unsupported, "this engine does not support a tile of %d dimensions", rank);
	numel = 1;
	for (int i = 0; i < rank; i++) {
		if (shape[i] < 0 || (shape[i] & (shape[i] - 1)))
			front_fail_hint(f, REASON_not_power_of_two,
					"round it up with triton.next_power_of_2 and mask the rest",
					"Shape element %d must be a power of 2", i);
		if (ck_mul64(numel, shape[i], &numel))
			numel = INT64_MAX / 2;
	}
	if (numel > TY_MAX_NUMEL)
		front_fail(f, REASON_tile_too_large, "numel (%lld) exceeds triton maximum tensor numel (%d)",
			   (long long)numel, TY_MAX_NUMEL);
	if (!numel)
		front_unsupported(f, "this engine does not support a tile without elements");
	return ty_block(f->a, elem, rank, shape);
}

/* A scalar as a tile of the given shape. Rank 0 keeps the scalar. */
struct tv sem_splat(struct front *f, struct tv x, int rank, const int64_t *shape)
{
	if (ty_is_block(x.ty))
		front_fail(f, REASON_bad_shape, "Cannot splat a block tensor");
	if (!rank)
		return x;
	return emit(f, TOP_SPLAT, sem_block_ty(f, x.ty, rank, shape), 1, x.id);
}

/* Inserts dimensions of 1 in front, as NumPy does. */
static struct tv pad_rank(struct front *f, struct tv x, int rank)
{
	while (x.ty->rank < rank)
		x = sem_expand_dims(f, x, 0);
	return x;
}

/* Repeats the dimensions of 1 up to `shape`. */
static struct tv grow(struct front *f, struct tv x, int rank, const int64_t *shape)
{
	if (!memcmp(x.ty->shape, shape, (size_t)rank * sizeof *shape))
		return x;
	return emit(f, TOP_BROADCAST, sem_block_ty(f, x.ty->elem, rank, shape), 1, x.id);
}

/* Broadcasts two tiles to a common shape. */
static void broadcast_blocks(struct front *f, struct tv *a, struct tv *b)
{
	int rank = MAX(a->ty->rank, b->ty->rank);
	int64_t shape[TY_MAX_RANK];

	*a = pad_rank(f, *a, rank);
	*b = pad_rank(f, *b, rank);
	for (int i = 0; i < rank; i++) {
		int64_t x = a->ty->shape[i], y = b->ty->shape[i];
		if (x != 1 && y != 1 && x != y)
			front_fail(f, REASON_shape_mismatch,
				   "Cannot make_shape_compatible: incompatible dimensions at index %d: %lld and %lld",
				   i, (long long)x, (long long)y);
		/* A dimension of 1 takes the size of the other. */
		shape[i] = x == 1 ? y : x;
	}
	*a = grow(f, *a, rank, shape);
	*b = grow(f, *b, rank, shape);
}

/* Broadcasts a pair: scalars are repeated, tiles grow in both directions. */
void sem_broadcast(struct front *f, struct tv *a, struct tv *b)
{
	int ba = ty_is_block(a->ty), bb = ty_is_block(b->ty);
	if (ba && bb) {
		if (a->ty->rank != b->ty->rank || memcmp(a->ty->shape, b->ty->shape,
							 (size_t)a->ty->rank * sizeof *a->ty->shape))
			broadcast_blocks(f, a, b);
	} else if (ba) {
		*b = sem_splat(f, *b, a->ty->rank, a->ty->shape);
	} else if (bb) {
		*a = sem_splat(f, *a, b->ty->rank, b->ty->shape);
	}
}

/* A shape for messages: [16, 32]. */
static const char *dims(struct front *f, int rank, const int64_t *shape)
{
	struct buf b = BUF_INIT;
	const char *s;

	for (int i = 0; i < rank; i++)
		buf_addf(&b, "%s%lld", i ? ", " : "[", (long long)shape[i]);
	buf_adds(&b, rank ? "]" : "[]");
	s = arena_strndup(f->a, buf_cstr(&b), b.n);
	buf_release(&b);
	return s;
}

/* Broadcasts one tile to a given shape; the rank must agree already. */
struct tv sem_broadcast_to(struct front *f, struct tv x, int rank, const int64_t *shape)
{
	if (!ty_is_block(x.ty))
		return sem_splat(f, x, rank, shape);
	if (x.ty->rank != rank)
		front_fail(f, REASON_shape_mismatch, "Cannot broadcast, rank mismatch: %s, %s",
			   front_shape(f, x.ty), dims(f, rank, shape));
	for (int i = 0; i < rank; i++)
		if (shape[i] != x.ty->shape[i] && x.ty->shape[i] != 1)
			front_fail(f, REASON_shape_mismatch,
				   "Cannot broadcast, the expanded size of the tensor (%lld) must match the "
				   "existing size (%lld)"
				   " at non-singleton dimension %d: %s, %s", (long long)shape[i],
				   (long long)x.ty->shape[i], i,
				   front_shape(f, x.ty), dims(f, rank, shape));
	return grow(f, x, rank, shape);
}

/* Lanes keep their row-major order. */
struct tv sem_reshape(struct front *f, struct tv x, int rank, const int64_t *shape)
{
	int64_t numel;

	if (!ty_is_block(x.ty))
		front_fail(f, REASON_bad_shape, "'dtype' object has no attribute 'numel'");
	numel = 1;
	for (int i = 0; i < rank; i++)
		if (ck_mul64(numel, shape[i], &numel))
			numel = -1;
	if (numel != x.ty->numel)
		front_fail(f, REASON_bad_shape, "reshape() cannot change total number of elements in tensor");
	return emit(f, TOP_RESHAPE, sem_block_ty(f, x.ty->elem, rank, shape), 1, x.id);
}

/* Inserts a dimension of 1 before `axis`. */
struct tv sem_expand_dims(struct front *f, struct tv x, int axis)
{
	int64_t shape[TY_MAX_RANK + 1];
	int rank = x.ty->rank + 1;
	if (rank > TY_MAX_RANK)
		front_fail(f, REASON_unsupported, "this engine does not support a tile of %d dimensions", rank);
	axis = MIN(axis, x.ty->rank);
	for (int i = 0; i < rank; i++)
		/* A scalar becomes a tile of one element. */
		shape[i] = i < axis ? x.ty->shape[i] : i == axis ? 1 : x.ty->shape[i - 1];
	if (!ty_is_block(x.ty))
		return sem_splat(f, x, rank, shape);
	return emit_imm(f, TOP_EXPAND_DIMS, ty_block(f->a, x.ty->elem, rank, shape), axis, 1, x.id);
}

/* dims_[i] is the source dimension of result dimension i; dims (1, 0) transposes. */
struct tv sem_permute(struct front *f, struct tv x, int n, const int64_t *dims_)
{
	struct tv r;
	int64_t shape[TY_MAX_RANK] = { 0 };
	unsigned seen;

	if (x.ty->rank != n)
		front_fail(f, REASON_bad_shape, "permute dims must have the same length as input shape");
	seen = 0;
	for (int i = 0; i < n; i++) {
		if (dims_[i] < 0 || dims_[i] >= n || (seen & 1u << dims_[i]))
			front_fail(f, REASON_bad_axis,
				   "permute dims must be a permutation of 0, 1, ..., n-1, but were %s",
				   dims(f, n, dims_));
		seen |= 1u << dims_[i];
		shape[i] = x.ty->shape[dims_[i]];
	}
	if (!n)
		return x;
	r = emit(f, TOP_PERMUTE, ty_block(f->a, x.ty->elem, n, shape), 1, x.id);
	for (int i = 0; i < n && i < TILE_ATTRS; i++)
		emit_last(f)->attr[i] = (int32_t)dims_[i];
	return r;
}

/* A new last dimension of 2 that holds a and b. Two scalars give a tile of two lanes. */
struct tv sem_join(struct front *f, struct tv a, struct tv b)
{
	struct tv r;
	int64_t shape[TY_MAX_RANK + 1];
	int scalars;

	sem_broadcast(f, &a, &b);
	scalars = !ty_is_block(a.ty);
	if (scalars) {
		a = sem_expand_dims(f, a, 0);
		b = sem_expand_dims(f, b, 0);
	}
	if (!ty_eq(a.ty->elem, b.ty->elem))
		front_fail(f, REASON_bad_types, "tl.join of %s and %s: both must have the same type",
			   front_ty(f, a.ty->elem), front_ty(f, b.ty->elem));
	memcpy(shape, a.ty->shape, (size_t)a.ty->rank * sizeof *shape);
	shape[a.ty->rank] = 2;
	r = emit(f, TOP_JOIN, sem_block_ty(f, a.ty->elem, a.ty->rank + 1, shape), 2, a.id, b.id);
	return scalars ? sem_reshape(f, r, 1, &shape[1]) : r;
}

/* The inverse of join. */
void sem_split(struct front *f, struct tv x, struct tv *a, struct tv *b)
{
	int flat = x.ty->rank == 1;
	const struct ty *t;
	tile_reg r[2];

	if (flat)
		x = sem_expand_dims(f, x, 0);
	if (!ty_is_block(x.ty) || x.ty->shape[x.ty->rank - 1] != 2)
		front_fail_hint(f, REASON_bad_shape, "tl.split needs a last dimension of 2",
				"AssertionError: tl.split");
	t = sem_block_ty(f, x.ty->elem, x.ty->rank - 1, x.ty->shape);
	r[0] = emit_reg(f, t);
	r[1] = emit_reg(f, t);
	emit_insn(f, TOP_SPLIT, 2, r, 1, &x.id);
	*a = (struct tv){ t, r[0] };
	*b = (struct tv){ t, r[1] };
	if (flat) {
		*a = sem_unsplat(f, *a);
		*b = sem_unsplat(f, *b);
	}
}

/* Triton may reorder the lanes of tl.cat; here b follows a. */
struct tv sem_cat(struct front *f, struct tv a, struct tv b)
{
	int64_t n;

	if (a.ty->rank != 1 || b.ty->rank != 1)
		front_fail(f, REASON_bad_shape, "tl.cat takes tensors of one dimension");
	n = a.ty->shape[0] + b.ty->shape[0];
	if (!ty_eq(a.ty, b.ty))
		front_fail(f, REASON_bad_types, "tl.cat of %s and %s: both must have the same type",
			   front_ty(f, a.ty), front_ty(f, b.ty));
	return emit_imm(f, TOP_CAT, sem_block_ty(f, a.ty->elem, 1, &n), 0, 2, a.id, b.id);
}

/* Concatenates in order along `dim`: join gives a new last dimension of 2, which moves in front of
 * `dim` and is merged with it. */
struct tv sem_cat_along(struct front *f, struct tv a, struct tv b, int64_t dim)
{
	int rank = a.ty->rank;
	int64_t order[TY_MAX_RANK], shape[TY_MAX_RANK];
	if (rank != b.ty->rank)
		front_fail(f, REASON_bad_shape, "tensors must have the same rank, got %d and %d", rank, b.ty->rank);
	if (dim < -rank || dim >= rank || rank >= TY_MAX_RANK)
		front_fail(f, REASON_bad_shape, "invalid axis %lld. Expected %d <= axis < %d",
			   (long long)dim, -rank, rank);
	dim = dim < 0 ? dim + rank : dim;
	if (memcmp(a.ty->shape, b.ty->shape, (size_t)rank * sizeof *a.ty->shape))
		front_fail(f, REASON_bad_shape, "tl.cat requires tensors of the same shape, got %s and %s",
			   front_ty(f, a.ty), front_ty(f, b.ty));
	for (int i = 0; i < rank; i++)
		shape[i] = a.ty->shape[i] * (i == dim ? 2 : 1);
	for (int i = 0; i <= rank; i++)
		/* [A, N] and [A, N] along 0: join gives [A, N, 2], the order (2, 0, 1) gives [2, A,
		 * N], the reshape [2 A, N]. */
		order[i] = i < dim ? i : i == dim ? rank : i - 1;
	return sem_reshape(f, sem_permute(f, sem_join(f, a, b), rank + 1, order), rank, shape);
}

/* A tile of one element as a scalar. */
struct tv sem_unsplat(struct front *f, struct tv x)
{
	if (!ty_is_block(x.ty))
		return x;
	if (x.ty->numel != 1)
		front_fail(f, REASON_bad_shape, "can only unsplat single-element tensors");
	return emit(f, TOP_RESHAPE, x.ty->elem, 1, x.id);
}

/* start, start + 1, ..., end - 1 in int32; the count is a power of two. */
struct tv sem_arange(struct front *f, int64_t start, int64_t end)
{
	int64_t n;

	if (start >> 32 || end >> 32)
		front_fail(f, REASON_bad_value, "arange must fit in int32");
	if (end <= start)
		front_fail(f, REASON_bad_value, "arange's end argument must be greater than the start argument");
	n = end - start;
	if (n & (n - 1))
		front_fail_hint(f, REASON_not_power_of_two, "use triton.next_power_of_2 for the size and mask the rest",
				"arange's range must be a power of 2");
	return emit_imm(f, TOP_ARANGE, sem_block_ty(f, ty_sc(SC_INT32), 1, &n), start, 0);
}

/* Negative axes count from the end. */
int sem_wrap_axis(struct front *f, int64_t axis, int rank)
{
	if (axis < -rank || axis >= rank)
		front_fail(f, REASON_bad_axis, "invalid axis %lld. Expected %d <= axis < %d",
			   (long long)axis, -rank, rank);
	return (int)(axis < 0 ? axis + rank : axis);
}
