/* Block pointers and tensor descriptors, lowered to ordinary masked accesses. Example: a load
 * through a block pointer of block shape (16, 32) with boundary_check=(0,) becomes
 *
 *     rows = offset0 + arange(16), as [16, 1]        cols = offset1 + arange(32), as [1, 32]
 *     mask = 0 <= rows < shape0
 *     load(base + rows * stride0 + cols * stride1, mask)
 *
 * The value of a block pointer is an index into f->block_ptrs, whose registers are all scalars: the
 * base, and for each dimension shape and stride (i64) and offset (i32). A descriptor is the same
 * with every dimension checked. Addresses are computed in i64. */
#include "tile/front/sem.h"

/* A tuple; a single value counts as a tuple of one. */
static struct lang_tuple listed(const struct lang_val *v)
{
	if (v->kind == LANG_TUPLE)
		return v->u.tup;
	return (struct lang_tuple){ .v = v, .n = 1 };
}

/* A shape or stride (`wide`: i64) or an offset (i32) as a register, with Triton's checks of its
 * type and range. */
static struct tv index_value(struct front *f, const struct lang_val *v, int wide)
{
	const struct ty *t = ty_sc(wide ? SC_INT64 : SC_INT32);
	struct tv x;

	if (lang_is_int(v)) {
		pyint lim = (pyint)1 << (wide ? 63 : 31);
		if (v->u.i < -lim || v->u.i >= lim) {
			struct lang_val bare = lang_raw(*v);
			front_fail(f, REASON_block_pointer,
				   "Block pointers only support %d bit `%s`, got a value %s which is out of the range",
				   wide ? 64 : 32, wide ? "shape/strides" : "offsets/block_shape", front_str(f, &bare));
		}
		return sem_constant(f, v, t);
	}
	if (v->kind != LANG_TENSOR)
		front_fail(f, REASON_block_pointer,
			   "Unsupported element type in shape/strides/offsets: <class '%s'>", lang_type_name(v));
	x = tv_of(v);
	if (x.ty->numel != 1 || ty_is_block(x.ty))
		front_fail(f, REASON_block_pointer, "Expected a scalar in shape/strides/offsets");
	if (!ty_is_int(x.ty))
		front_fail(f, REASON_block_pointer, "Expected an integer scalar type in shape/strides/offsets");
	if (!wide && ty_is(x.ty, SC_INT64))
		front_fail(f, REASON_block_pointer, "Block pointers only support 32 bit `offsets/block_shape`, "
			   "add a `.to(tl.int32)` or use regular indexing for 64 bit support");
	return sem_cast(f, x, t);
}

/* The block shape must be constant. */
static void static_dims(struct front *f, struct lang_tuple t, int64_t *out)
{
	for (size_t i = 0; i < t.n; i++) {
		if (!lang_is_int(&t.v[i]))
			front_fail(f, REASON_not_constexpr,
				   "Expected a list of constant integers (`int32_t` range) in `block_shape`");
		out[i] = (int64_t)t.v[i].u.i;
	}
}

/* `order` only tells Triton how to lay out registers; it must still be a permutation. */
static void check_order(struct front *f, struct lang_tuple order)
{
	unsigned seen = 0;
	for (size_t i = 0; i < order.n; i++) {
		const struct lang_val *v = &order.v[i];
		if (!lang_is_int(v) || v->u.i < 0 || v->u.i >= (pyint)order.n || (seen & 1u << (int)v->u.i))
			front_fail(f, REASON_block_pointer,
				   "Expected a permutation of (0, 1, ..., len(order)-1) in order");
		seen |= 1u << (int)v->u.i;
	}
}

/* Stores the parts. Block pointers are immutable: tl.advance makes a new one. */
static struct tv new_block_ptr(struct front *f, const struct block_ptr *p)
{
	if (vec_push(&f->block_ptrs, *p))
		front_fail(f, REASON_out_of_memory, "out of memory");
	return (struct tv){ p->ty, (tile_reg)(f->block_ptrs.n - 1) };
}

/* The checks are in Triton's order, so that a kernel with several errors gets the same one. A
 * pointer to bool reads bytes. */
struct tv sem_make_block_ptr(struct front *f, struct tv base, struct lang_val shape_, struct lang_val strides_,
			     struct lang_val offsets_, struct lang_val block_shape, struct lang_val order_)
{
	struct lang_tuple shape = listed(&shape_), strides = listed(&strides_), offsets = listed(&offsets_);
	struct lang_tuple block = listed(&block_shape), order = listed(&order_);
	struct block_ptr p = { 0 };
	size_t most = MAX(MAX(shape.n, strides.n), offsets.n);
	int64_t dims[TY_MAX_RANK];
	const struct ty *elem;

	if (most > TILE_DIMS || block.n > TILE_DIMS) {
		front_unsupported(f, "this engine does not support block pointers of more than %d dimensions",
				  TILE_DIMS);
		most = 0;
	}
	for (size_t i = 0; i < MIN(shape.n, most); i++)
		p.shape[i] = index_value(f, &shape.v[i], 1).id;
	for (size_t i = 0; i < MIN(strides.n, most); i++)
		p.stride[i] = index_value(f, &strides.v[i], 1).id;
	for (size_t i = 0; i < MIN(offsets.n, most); i++)
		p.offset[i] = index_value(f, &offsets.v[i], 0).id;
	if (!ty_is_ptr(base.ty) || ty_is_block_ptr(base.ty))
		front_fail(f, REASON_block_pointer,
			   "Expected `base` to be a pointer type (but not a block pointer type or others)");
	elem = base.ty->elem;
	if (ty_is_bool(elem)) {
		/* Bool memory is bytes. */
		elem = ty_sc(SC_INT8);
		base = sem_cast(f, base, ty_ptr(f->a, elem, 0));
	}
	static_dims(f, block, dims);
	check_order(f, order);
	if (shape.n != block.n || strides.n != block.n || offsets.n != block.n || order.n != block.n)
		front_fail(f, REASON_block_pointer,
			   "Expected shape/strides/offsets/block_shape to have the same length");
	p.ty = ty_ptr(f->a, sem_block_ty(f, elem, (int)block.n, dims), 0);
	p.base = base.id;
	return new_block_ptr(f, &p);
}

/* A new block pointer with other offsets; the rest is shared. */
struct tv sem_advance(struct front *f, struct tv ptr, struct lang_val offsets_)
{
	struct lang_tuple offsets = listed(&offsets_);
	struct tv by[TILE_DIMS];
	struct block_ptr p;

	for (size_t i = 0; i < offsets.n && i < TILE_DIMS; i++)
		/* Triton converts the offsets before it checks the pointer. */
		by[i] = index_value(f, &offsets.v[i], 0);
	if (!ty_is_block_ptr(ptr.ty))
		front_fail(f, REASON_block_pointer, "tl.advance takes a block pointer made by tl.make_block_ptr");
	p = f->block_ptrs.v[ptr.id];
	if ((int)offsets.n != p.ty->elem->rank)
		front_fail(f, REASON_block_pointer, "tl.advance needs one offset for each of the %d dimensions",
			   p.ty->elem->rank);
	for (size_t i = 0; i < offsets.n && i < TILE_DIMS; i++)
		p.offset[i] = emit(f, TOP_ADD, ty_sc(SC_INT32), 2, p.offset[i], by[i].id).id;
	return new_block_ptr(f, &p);
}

/* --- addresses and masks ---------------------------------------------------------------- */

/* A vector along dimension d as a tile of the block's rank whose other dimensions are 1. */
static struct tv along(struct front *f, struct tv v, int d, int rank)
{
	for (int i = 0; i < rank; i++)
		if (i != d)
			v = sem_expand_dims(f, v, i < d ? 0 : v.ty->rank);
	return v;
}

/* 0, 1, ..., n - 1 in i64. */
static struct tv arange64(struct front *f, int64_t n)
{
	return emit_imm(f, TOP_ARANGE, ty_block(f->a, ty_sc(SC_INT64), 1, &n), 0, 0);
}

/* An operation on two tiles after broadcasting. */
static struct tv both(struct front *f, enum tile_op op, struct tv a, struct tv b)
{
	sem_broadcast(f, &a, &b);
	return emit(f, op, a.ty, 2, a.id, b.id);
}

/* 0 <= index < size, lane by lane. */
static struct tv within(struct front *f, struct tv index, tile_reg size)
{
	const struct ty *i64 = ty_sc(SC_INT64);
	struct tv lo = sem_splat(f, emit_int(f, i64, 0), index.ty->rank, index.ty->shape);
	struct tv hi = sem_splat(f, (struct tv){ i64, size }, index.ty->rank, index.ty->shape);
	const struct ty *t = ty_with(f->a, index.ty, ty_sc(SC_INT1));
	struct tv a = emit(f, TOP_GE, t, 2, index.id, lo.id), b = emit(f, TOP_LT, t, 2, index.id, hi.id);
	return emit(f, TOP_AND, t, 2, a.id, b.id);
}

/* The pointers of the whole block, and the mask of the dimensions in the bit set `checked`. Without
 * any, *mask stays empty. */
static struct tv addresses(struct front *f, const struct block_ptr *p, unsigned checked, struct tv *mask)
{
	const struct ty *block = p->ty->elem, *i64 = ty_sc(SC_INT64);
	struct tv offset = { 0 }, on = { 0 };
	const struct ty *pt;
	struct tv base;

	for (int d = 0; d < block->rank && d < TILE_DIMS; d++) {
		struct tv start = sem_cast(f, (struct tv){ ty_sc(SC_INT32), p->offset[d] }, i64);
		struct tv index = both(f, TOP_ADD, arange64(f, block->shape[d]), start);
		struct tv part;

		if (checked & 1u << d) {
			struct tv m = along(f, within(f, index, p->shape[d]), d, block->rank);
			on = on.ty ? both(f, TOP_AND, on, m) : m;
		}
		/* This dimension contributes index * stride to the offset of each element. */
		part = both(f, TOP_MUL, index, (struct tv){ i64, p->stride[d] });
		part = along(f, part, d, block->rank);
		offset = offset.ty ? both(f, TOP_ADD, offset, part) : part;
	}
	if (on.ty)
		*mask = sem_broadcast_to(f, on, block->rank, block->shape);
	offset = sem_broadcast_to(f, offset, block->rank, block->shape);
	pt = ty_ptr(f->a, block->elem, 0);
	base = sem_splat(f, (struct tv){ pt, p->base }, block->rank, block->shape);
	return emit(f, TOP_ADDPTR, base.ty, 2, base.id, offset.id);
}

/* boundary_check as a bit set of dimensions. */
static unsigned boundary_dims(struct front *f, const struct lang_val *v, int rank)
{
	unsigned set = 0;
	struct lang_tuple t;

	if (!lang_truth(v))
		return 0;
	t = listed(v);
	for (size_t i = 0; i < t.n; i++) {
		if (!lang_is_int(&t.v[i]) || t.v[i].u.i < 0 || t.v[i].u.i >= rank)
			front_fail(f, REASON_block_pointer,
				   "boundary_check names a dimension that the block does not have");
		if (set & 1u << (int)t.v[i].u.i)
			front_fail(f, REASON_block_pointer, "Duplicate dimension in `boundary_check`");
		set |= 1u << (int)t.v[i].u.i;
	}
	return set;
}

/* The value of lanes outside the tensor. Integers have no NaN. */
static enum tile_pad padding_of(struct front *f, struct str s, const struct ty *elem, const char *what)
{
	if (!s.n)
		return TILE_PAD_NONE;
	if (str_is(s, "zero"))
		return TILE_PAD_ZERO;
	if (!str_is(s, "nan"))
		front_fail(f, REASON_bad_value, "Padding option %.*s not supported", STR_ARG(s));
	if (ty_is_int(elem))
		front_fail(f, REASON_block_pointer, "Padding option `nan` is not supported for integer %s", what);
	return TILE_PAD_NAN;
}

/* A masked load of the whole block. */
static struct tv load_at(struct front *f, const struct block_ptr *p, unsigned checked, enum tile_pad pad)
{
	struct tv mask = { 0 }, ptr = addresses(f, p, checked, &mask);
	struct tv r = mask.ty ? emit(f, TOP_LOAD, p->ty->elem, 2, ptr.id, mask.id) :
		emit(f, TOP_LOAD, p->ty->elem, 1, ptr.id);
	emit_last(f)->attr[0] = pad;
	return r;
}

/* A masked store of the whole block. */
static void store_at(struct front *f, const struct block_ptr *p, unsigned checked, struct tv value)
{
	struct tv mask = { 0 }, ptr = addresses(f, p, checked, &mask);
	if (mask.ty)
		emit_do(f, TOP_STORE, 3, ptr.id, value.id, mask.id);
	else
		emit_do(f, TOP_STORE, 2, ptr.id, value.id);
}

/* Muted code has no entry in block_ptrs: only the type of the result is needed. */
struct tv sem_load_block(struct front *f, struct tv ptr, const struct sem_access *a)
{
	struct block_ptr p;
	const struct ty *block;
	enum tile_pad pad;
	unsigned checked;

	if (a->mask.kind != LANG_NONE || a->other.kind != LANG_NONE)
		front_fail(f, REASON_block_pointer,
			   "`mask` and `other` arguments cannot be specified for loading block pointers");
	block = ptr.ty->elem;
	pad = padding_of(f, a->padding, block->elem, "block pointers");
	checked = boundary_dims(f, &a->boundary, block->rank);
	if (f->mute)
		return (struct tv){ block, 0 };
	p = f->block_ptrs.v[ptr.id];
	return load_at(f, &p, checked, pad);
}

/* Unlike a store through pointers, this one does not convert the value. */
void sem_store_block(struct front *f, struct tv ptr, struct tv value, const struct sem_access *a)
{
	struct block_ptr p;
	unsigned checked;
	const struct ty *block;

	if (a->mask.kind != LANG_NONE)
		front_fail(f, REASON_block_pointer,
			   "`mask` and `other` arguments cannot be specified for loading block pointers");
	block = ptr.ty->elem;
	if (!ty_is_block(value.ty))
		/* A scalar is stored to every element of the block. */
		value = sem_broadcast_to(f, value, block->rank, block->shape);
	if (block->rank != value.ty->rank || memcmp(block->shape, value.ty->shape,
						    (size_t)block->rank * sizeof *block->shape))
		front_fail(f, REASON_shape_mismatch, "Block shape(%s) and value shape(%s) mismatch",
			   front_shape(f, block), front_shape(f, value.ty));
	if (!ty_eq(block->elem, value.ty->elem))
		front_fail_hint(f, REASON_bad_types,
				"store to a block pointer does not convert: use value.to(ptr.dtype.element_ty)",
				"Block element type(%s) and value element type(%s) mismatch",
				front_ty(f, block->elem), front_ty(f, value.ty->elem));
	checked = boundary_dims(f, &a->boundary, block->rank);
	sem_trace(f, "store", value.ty);
	if (f->mute)
		return;
	p = f->block_ptrs.v[ptr.id];
	store_at(f, &p, checked, value);
}

/* --- descriptors -------------------------------------------------------------------------- */

/* The third message prints the number of strides where it means the block: this is Triton's own
 * slip. */
static void check_desc_shape(struct front *f, struct lang_tuple shape, struct lang_tuple strides,
			     struct lang_tuple block)
{
	if (shape.n < 1 || shape.n > 5)
		front_fail(f, REASON_block_pointer, "Expected 1 <= ndim <= 5 but got %zu dimensions", shape.n);
	if (strides.n != shape.n)
		front_fail(f, REASON_block_pointer, "Expected %zu strides but got %zu", shape.n, strides.n);
	if (block.n != shape.n)
		front_fail(f, REASON_block_pointer, "Expected block_shape to have %zu dimensions but got %zu",
			   shape.n, strides.n);
}

/* The copy engine moves at least 16 bytes and needs elements that lie side by side in the last
 * dimension. */
static void check_desc_last(struct front *f, const struct lang_val *block, const struct lang_val *stride,
			    const struct ty *elem)
{
	int size = ty_bits(elem) / 8;
	long long n;

	if (!lang_is_int(block))
		front_fail(f, REASON_not_constexpr,
			   "the block shape of a tensor descriptor must be known at compile time");
	n = (long long)block->u.i;
	if (n * size < 16)
		front_fail(f, REASON_block_pointer,
			   "Descriptor block shape must have at least 16 bytes in the last dimension, but "
			   "got %lld * %d = %lld bytes",
			   n, size, n * size);
	if (!lang_is_int(stride) || stride->u.i != 1)
		front_fail(f, REASON_block_pointer, "Tensor descriptor last dim must be 1 but got %s",
			   front_str(f, stride));
}

/* A descriptor that the kernel makes: shape as i32, strides as i64. */
struct lang_val sem_make_desc(struct front *f, struct tv base, struct lang_val shape_, struct lang_val strides_,
			 struct lang_val block_shape, struct str padding)
{
	struct lang_tuple shape = listed(&shape_), strides = listed(&strides_), block = listed(&block_shape);
	struct lang_desc *d;
	const struct ty *bt, *elem;
	struct lang_val *dims;
	struct block_ptr p;
	size_t n;
	int64_t bs[TY_MAX_RANK];

	check_desc_shape(f, shape, strides, block);
	if (!ty_is_ptr(base.ty) || ty_is_block_ptr(base.ty))
		front_fail(f, REASON_block_pointer, "tl.make_tensor_descriptor takes a scalar pointer as its base");
	elem = base.ty->elem;
	n = shape.n;
	check_desc_last(f, &block.v[n - 1], &strides.v[n - 1], elem);
	dims = arena_array(f->a, 2 * n, sizeof *dims);
	p = (struct block_ptr){ .base = base.id, .is_desc = 1 };
	/* The GPU's copy engine faults on addresses and strides that are not a multiple of 16 bytes, so
	 * instructions check both where the descriptor is made. */
	if (!f->mute) {
		struct tile_insn *in = emit_insn(f, TOP_ALIGNED, 0, NULL, 1, &base.id);
		in->imm = 16;
		in->text = STR("address of a tensor descriptor");
	}
	for (size_t i = 0; i < n; i++) {
		struct tv s = sem_make_scalar(f, shape.v[i], ty_sc(SC_INT32));
		dims[i] = lang_of(s);
		p.shape[i] = sem_cast(f, s, ty_sc(SC_INT64)).id;
	}
	for (size_t i = 0; i < n; i++) {
		struct tv s = sem_make_scalar(f, strides.v[i], ty_sc(SC_INT64));
		dims[n + i] = lang_of(s);
		p.stride[i] = s.id;
		if (i + 1 < n && !f->mute) {
			struct tile_insn *in = emit_insn(f, TOP_ALIGNED, 0, NULL, 1, &s.id);
			/* In elements: 16 bytes are 8 of fp16. */
			in->imm = MAX(16 / (ty_bits(elem) / 8), 1);
			in->text = STR("stride of a tensor descriptor");
		}
	}
	static_dims(f, block, bs);
	bt = sem_block_ty(f, elem, (int)n, bs);
	padding_of(f, padding, elem, "blocks");
	p.ty = ty_ptr(f->a, bt, 0);
	p.pad = str_is(padding, "nan") ? TILE_PAD_NAN : TILE_PAD_ZERO;
	d = arena_zalloc(f->a, sizeof *d);
	*d = (struct lang_desc){ .id = (int)new_block_ptr(f, &p).id, .block = bt, .shape = dims, .strides = dims + n };
	return (struct lang_val){ .kind = LANG_DESC, .u.desc = d };
}

/* The descriptor as a block pointer at the given offsets. */
static struct block_ptr desc_at(struct front *f, const struct lang_val *desc, struct lang_val offsets_)
{
	struct lang_tuple offsets = listed(&offsets_);
	const struct lang_desc *d = desc->u.desc;
	struct block_ptr p;

	if ((int)offsets.n != d->block->rank)
		front_fail(f, REASON_block_pointer, "expected %d offsets, but got %zu", d->block->rank, offsets.n);
	p = f->block_ptrs.v[d->id];
	for (size_t i = 0; i < offsets.n && i < TILE_DIMS; i++)
		p.offset[i] = index_value(f, &offsets.v[i], 0).id;
	return p;
}

/* A descriptor checks every dimension. */
enum { ALL_DIMS = (1 << TILE_DIMS) - 1 };

/* A load of the block at the given offsets; every dimension is checked. */
struct tv sem_desc_load(struct front *f, const struct lang_val *desc, struct lang_val offsets)
{
	struct block_ptr p = desc_at(f, desc, offsets);
	return load_at(f, &p, ALL_DIMS, p.pad);
}

/* The stored value must have the shape of the block. */
static void check_desc_value(struct front *f, const struct lang_val *desc, struct tv value)
{
	const struct ty *block = desc->u.desc->block;
	if (value.ty->rank != block->rank || memcmp(value.ty->shape, block->shape,
						    (size_t)block->rank * sizeof *block->shape))
		front_fail(f, REASON_shape_mismatch, "the value has shape %s, the descriptor's block %s",
			   front_shape(f, value.ty), front_shape(f, block));
}

/* The value is converted to the element type of the tensor. */
void sem_desc_store(struct front *f, const struct lang_val *desc, struct lang_val offsets, struct tv value)
{
	struct block_ptr p = desc_at(f, desc, offsets);
	check_desc_value(f, desc, value);
	value = sem_cast(f, value, desc->u.desc->block->elem);
	sem_trace(f, "store", value.ty);
	store_at(f, &p, ALL_DIMS, value);
}

/* The copy engine can reduce into memory, but only these combinations of operation and type. */
void sem_desc_atomic(struct front *f, enum tile_rmw rmw, const struct lang_val *desc, struct lang_val offsets,
		     struct tv value)
{
	struct block_ptr p = desc_at(f, desc, offsets);
	struct tv mask, ptr;
	const struct ty *elem;
	int wide, half, ok;

	check_desc_value(f, desc, value);
	elem = desc->u.desc->block->elem;
	wide = ty_bits(elem) >= 32 && ty_is_int(elem);
	half = ty_is(elem, SC_FP16) || ty_is(elem, SC_BF16);
	/* The combinations that Triton's descriptor reductions support. */
	ok = rmw == TILE_RMW_ADD ? half || ty_is(elem, SC_FP32) || (wide && !ty_is(elem, SC_INT64))
		: rmw == TILE_RMW_MAX || rmw == TILE_RMW_MIN ? half || wide : wide;
	if (!ok)
		front_fail(f, REASON_bad_dtype, "Unsupported dtype");
	if (!ty_eq(value.ty->elem, elem))
		front_fail(f, REASON_bad_types, "the value is %s, the descriptor holds %s",
			   front_ty(f, value.ty->elem), front_ty(f, elem));
	mask = (struct tv){ 0 };
	ptr = addresses(f, &p, ALL_DIMS, &mask);
	emit(f, TOP_ATOMIC, value.ty, 3, ptr.id, value.id, mask.id);
	emit_last(f)->attr[0] = rmw;
}

/* Addresses and mask of gather and scatter: the rows come from an index vector, the columns are one
 * block row from `col` on. */
static struct tv row_addresses(struct front *f, const struct lang_val *desc, struct tv rows, struct lang_val col,
			       const char *what, const struct ty **block, struct tv *mask)
{
	const struct lang_desc *d = desc->u.desc;
	const struct ty *b = d->block;
	struct tv off, r, base, c;
	const struct ty *i64;
	int least;
	struct block_ptr p;
	int64_t dims[2];

	if (b->rank != 2 || b->shape[0] != 1)
		front_fail(f, REASON_block_pointer, "descriptor block must have 1 row, but got %s", front_shape(f, b));
	if (rows.ty->rank != 1 || rows.ty->shape[0] < 8)
		front_fail(f, REASON_block_pointer, "descriptor %s must have at least 8 rows, but got %s",
			   what, front_shape(f, rows.ty));
	/* 32 bytes in each row. */
	least = 32 / ty_bits(b->elem) * 8;
	if (b->shape[1] < least)
		front_fail(f, REASON_block_pointer,
			   "descriptor %s of %s must have at least %d columns, but got %lld", what,
			   front_ty(f, b->elem), least, (long long)b->shape[1]);
	i64 = ty_sc(SC_INT64);
	p = f->block_ptrs.v[d->id];
	dims[0] = rows.ty->shape[0];
	dims[1] = b->shape[1];
	*block = sem_block_ty(f, b->elem, 2, dims);
	r = sem_cast(f, rows, i64);
	c = both(f, TOP_ADD, arange64(f, dims[1]), sem_cast(f, index_value(f, &col, 0), i64));
	*mask = both(f, TOP_AND, along(f, within(f, r, p.shape[0]), 0, 2), along(f, within(f, c, p.shape[1]), 1, 2));
	/* The stride of the columns is 1, as for every descriptor. */
	r = both(f, TOP_MUL, r, (struct tv){ i64, p.stride[0] });
	off = both(f, TOP_ADD, along(f, r, 0, 2), along(f, c, 1, 2));
	base = sem_splat(f, (struct tv){ ty_ptr(f->a, b->elem, 0), p.base }, 2, dims);
	return emit(f, TOP_ADDPTR, base.ty, 2, base.id, off.id);
}

/* Rows that do not exist give zeros. */
struct tv sem_desc_gather(struct front *f, const struct lang_val *desc, struct tv rows, struct lang_val col)
{
	const struct ty *block;
	struct tv mask, ptr = row_addresses(f, desc, rows, col, "gather", &block, &mask);
	struct tv r = emit(f, TOP_LOAD, block, 2, ptr.id, mask.id);
	emit_last(f)->attr[0] = TILE_PAD_ZERO;
	return r;
}

/* Rows that do not exist are not written. */
void sem_desc_scatter(struct front *f, const struct lang_val *desc, struct tv value, struct tv rows,
		      struct lang_val col)
{
	const struct ty *block;
	struct tv mask, ptr = row_addresses(f, desc, rows, col, "scatter", &block, &mask);
	if (!ty_eq(value.ty, block))
		front_fail(f, REASON_shape_mismatch, "descriptor scatter of %s needs a value of %s",
			   front_ty(f, value.ty), front_ty(f, block));
	emit_do(f, TOP_STORE, 3, ptr.id, value.id, mask.id);
}
