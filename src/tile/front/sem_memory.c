/* Loads, stores and atomics through pointers (semantic.py: _load_legacy, _store_legacy,
 * atom_red_typechecking_impl). Block pointers and descriptors are in sem_block.c. Example:
 * tl.store(p, v, m) broadcasts the three operands to one shape, converts v to the element type of p
 * and emits `store %p, %v, %m`. */
#include "tile/front/sem.h"

/* Tests compare these types with those that Triton infers. */
void sem_trace(struct front *f, const char *what, const struct ty *ty)
{
	if (f->trace)
		f->trace(f->trace_ctx, what, ty, front_line(f));
}

/* Triton reads and writes bool memory as bytes. */
static struct tv bytes_for_bool(struct front *f, struct tv ptr)
{
	const struct ty *p = ty_scalar(ptr.ty);
	if (!ty_is_bool(p->elem))
		return ptr;
	return sem_cast(f, ptr, ty_ptr(f->a, ty_sc(SC_INT8), 0));
}

/* A mask is of bools; a mask of integers is an error in Triton. */
static void check_mask(struct front *f, const struct ty *mask)
{
	if (!ty_is_bool(ty_scalar(mask)))
		front_fail_hint(f, REASON_bad_mask, "compare to make a mask: mask = value != 0",
				"Mask must have boolean scalar type");
}

/* Mostly a kernel that passes a value where an address is needed. */
_Noreturn static void not_a_pointer(struct front *f, const struct ty *t, const char *fn)
{
	front_fail_hint(f, REASON_not_a_pointer, "the address must come from a tensor argument: ptr + offsets",
			"Unsupported ptr type %s in `%s`", front_ty_repr(f, t), fn);
}

/* The operand must be a pointer, or a tile of pointers, to values that the machine can load. */
static void check_pointee(struct front *f, struct tv ptr, const char *fn)
{
	const struct ty *p = ty_scalar(ptr.ty);
	if (!ty_is_ptr(p))
		not_a_pointer(f, ptr.ty, fn);
	if (p->elem->kind == TY_PTR)
		front_unsupported(f, "this engine does not support pointers to pointers");
}

/* A scalar pointer takes a scalar mask. With a tile of pointers everything is broadcast to its
 * shape, the mask twice, as Triton does: `other` may have grown the pointers in between. */
struct tv sem_load(struct front *f, struct tv ptr, const struct sem_access *a)
{
	const struct ty *t, *elem;
	int is_bool, has_mask, has_other;
	struct tv mask, other, r;

	if (ty_is_block_ptr(ptr.ty))
		return sem_load_block(f, ptr, a);
	check_pointee(f, ptr, "tl.load");
	has_mask = a->mask.kind == LANG_TENSOR;
	has_other = a->other.kind == LANG_TENSOR;
	if (!has_mask && has_other)
		front_fail(f, REASON_bad_mask, "`other` cannot be provided without `mask`");
	if (a->padding.n || lang_truth(&a->boundary))
		front_fail(f, REASON_block_pointer,
			   "`padding_option` or `boundary_check` argument is not supported for loading a tensor of"
			   "pointers or loading a scalar. Because the compiler does not know the boundary; please "
			   "use block pointers (defined by `make_block_ptr`) instead");
	mask = (struct tv){ 0 };
	other = (struct tv){ 0 };
	if (has_mask)
		mask = tv_of(&a->mask);
	if (has_other)
		other = tv_of(&a->other);
	if (!ty_is_block(ptr.ty)) {
		if (has_mask && ty_is_block(mask.ty))
			front_fail(f, REASON_bad_mask,
				   "Mask argument cannot be block type if pointer argument is not a block");
		if (has_other && ty_is_block(other.ty))
			front_fail(f, REASON_bad_mask,
				   "Other argument cannot be block type if pointer argument is not a block");
	} else {
		if (has_mask)
			sem_broadcast(f, &ptr, &mask);
		if (has_other)
			sem_broadcast(f, &ptr, &other);
		if (has_mask)
			sem_broadcast(f, &ptr, &mask);
	}
	/* Bool tensors are loaded as bytes and compared with 0 afterwards. */
	is_bool = ty_is_bool(ty_scalar(ptr.ty)->elem);
	ptr = bytes_for_bool(f, ptr);
	elem = ty_scalar(ptr.ty)->elem;
	if (has_other)
		other = sem_cast(f, other, elem);
	if (has_mask && !ty_is_bool(ty_scalar(mask.ty)))
		front_late(f, REASON_bad_mask, "compare to make a mask: mask = value != 0",
			   "a mask must be of bools, not of type %s", front_ty(f, mask.ty));
	t = ty_with(f->a, ptr.ty, elem);
	/* Lanes that are masked off without `other` are undefined. */
	r = !has_mask ? emit(f, TOP_LOAD, t, 1, ptr.id)
		: !has_other ? emit(f, TOP_LOAD, t, 2, ptr.id, mask.id)
		: emit(f, TOP_LOAD, t, 3, ptr.id, mask.id, other.id);
	return is_bool ? sem_cast(f, r, ty_sc(SC_INT1)) : r;
}

/* Parameters that are annotated as const may not be stored to. */
static void check_writable(struct front *f, struct tv ptr)
{
	const struct ty *p = ty_scalar(ptr.ty);
	if (ty_is_ptr(p) && p->is_const)
		front_fail(f, REASON_not_a_pointer, "Cannot store to a constant pointer");
}

/* Brings ptr, value and mask to one shape, in Triton's order. The pointers must have that shape
 * already: otherwise several lanes would store to the same address. */
static void broadcast_store(struct front *f, struct tv *ptr, struct tv *value, struct tv *mask)
{
	const struct ty *before = ptr->ty;
	sem_broadcast(f, ptr, value);
	if (mask) {
		sem_broadcast(f, ptr, mask);
		sem_broadcast(f, ptr, value);
	}
	if (before->rank != ptr->ty->rank || memcmp(before->shape, ptr->ty->shape,
						    (size_t)before->rank * sizeof *before->shape))
		front_fail(f, REASON_shape_mismatch, "Expected pointer argument to have shape %s but got %s",
			   front_shape(f, ptr->ty), front_shape(f, before));
}

/* A scalar pointer stores a scalar; a tile of pointers stores a tile of the same shape. */
void sem_store(struct front *f, struct tv ptr, struct tv value, const struct sem_access *a)
{
	int has_mask;
	struct tv mask;

	check_writable(f, ptr);
	if (ty_is_block_ptr(ptr.ty)) {
		sem_store_block(f, ptr, value, a);
		return;
	}
	check_pointee(f, ptr, "tl.store");
	if (lang_truth(&a->boundary))
		front_fail(f, REASON_block_pointer,
			   "`boundary_check` argument is not supported for storing a tensor of pointers or storing a "
			   "scalar. Because the compiler does not know the boundary; please use block pointers "
			   "(defined by `make_block_ptr`) instead");
	has_mask = a->mask.kind == LANG_TENSOR;
	mask = (struct tv){ 0 };
	if (has_mask)
		mask = tv_of(&a->mask);
	if (!ty_is_block(ptr.ty)) {
		if (ty_is_block(value.ty))
			front_fail_hint(f, REASON_bad_shape,
					"reduce the value to a scalar, or add offsets to the pointer",
					"Value argument cannot be block type if pointer argument is not a block");
		if (has_mask && ty_is_block(mask.ty))
			front_fail(f, REASON_bad_mask,
				   "Mask argument cannot be block type if pointer argument is not a block");
	} else {
		broadcast_store(f, &ptr, &value, has_mask ? &mask : NULL);
	}
	ptr = bytes_for_bool(f, ptr);
	/* A store converts its value to the element type: an fp32 result is rounded to an fp16
	 * tensor here. */
	value = sem_cast(f, value, ty_scalar(ptr.ty)->elem);
	if (has_mask)
		check_mask(f, mask.ty);
	sem_trace(f, "store", value.ty);
	if (has_mask)
		emit_do(f, TOP_STORE, 3, ptr.id, value.id, mask.id);
	else
		emit_do(f, TOP_STORE, 2, ptr.id, value.id);
}

/* The element types for which GPUs have atomics. */
static void check_atomic_type(struct front *f, const struct ty *elem, const char *name)
{
	if (ty_is(elem, SC_FP16) && strcmp(name, "add"))
		front_fail(f, REASON_bad_dtype, "atomic_%s does not support fp16", name);
	if (ty_is(elem, SC_BF16) && strcmp(name, "add"))
		front_fail(f, REASON_bad_dtype, "atomic_%s does not support bf16", name);
	if (ty_is(elem, SC_INT16) || ty_is(elem, SC_UINT16) || ty_bits(elem) < 16)
		front_fail(f, REASON_bad_dtype, "atomic_%s does not support %s", name, front_ty(f, elem));
}

/* A tensor operand; anything else fails with Python's message. */
static struct tv need_tensor(struct front *f, const struct lang_val *v)
{
	if (v->kind != LANG_TENSOR)
		front_fail(f, REASON_bad_types, "'%s' object has no attribute 'type'", lang_type_name(v));
	return tv_of(v);
}

/* Bitwise atomics need integers. Triton builds max and min of floats from integer atomics, for 32
 * and 64 bits only. */
static void check_atomic_op(struct front *f, enum tile_rmw rmw, const char *name, const struct ty *elem)
{
	int bits = rmw == TILE_RMW_AND || rmw == TILE_RMW_OR || rmw == TILE_RMW_XOR;
	if (bits && !ty_is_int(elem))
		front_unsupported(f, "this engine does not support atomic_%s of %s", name, front_ty(f, elem));
	if ((rmw == TILE_RMW_MAX || rmw == TILE_RMW_MIN) && ty_is_float(elem) && !ty_is(elem, SC_FP32) &&
	    !ty_is(elem, SC_FP64))
		front_fail(f, REASON_bad_dtype, "atomic_%s not supported for dtype %s", name, front_ty(f, elem));
}

/* A read-modify-write; returns the old values. `name` is the function without "atomic_", for
 * messages. */
struct tv sem_atomic(struct front *f, enum tile_rmw rmw, const char *name, struct lang_val ptr_,
		     struct lang_val value_, struct lang_val mask_)
{
	struct tv ptr = need_tensor(f, &ptr_), value = sem_to_tensor(f, value_);
	const struct ty *p = ty_scalar(ptr.ty);
	const struct ty *t;
	int has_mask;
	struct tv r, mask;

	if (!ty_is_ptr(p))
		front_fail(f, REASON_not_a_pointer, "Pointer argument of store instruction is %s",
			   front_ty_repr(f, ptr.ty));
	if (ty_is_block_ptr(p))
		front_fail(f, REASON_block_pointer, "atomic_%s does not take a block pointer", name);
	check_writable(f, ptr);
	check_atomic_type(f, p->elem, name);
	has_mask = mask_.kind != LANG_NONE;
	mask = (struct tv){ 0 };
	if (has_mask)
		mask = need_tensor(f, &mask_);
	if (ty_is_block(ptr.ty)) {
		if (has_mask)
			mask = sem_broadcast_to(f, mask, ptr.ty->rank, ptr.ty->shape);
		value = sem_broadcast_to(f, value, ptr.ty->rank, ptr.ty->shape);
	} else if (ty_is_block(value.ty) || (has_mask && ty_is_block(mask.ty))) {
		front_late(f, REASON_bad_shape, "add offsets to the pointer",
			   "atomic_%s cannot write a block through a scalar pointer", name);
	}
	value = sem_cast(f, value, p->elem);
	check_atomic_op(f, rmw, name, p->elem);
	if (has_mask && !ty_is_bool(ty_scalar(mask.ty)))
		front_late(f, REASON_bad_mask, "compare to make a mask: mask = value != 0",
			   "a mask must be of bools, not of type %s", front_ty(f, mask.ty));
	t = ty_with(f->a, ptr.ty, p->elem);
	r = has_mask ? emit(f, TOP_ATOMIC, t, 3, ptr.id, value.id, mask.id)
		: emit(f, TOP_ATOMIC, t, 2, ptr.id, value.id);
	emit_last(f)->attr[0] = rmw;
	return r;
}

/* Compare and swap; returns the old values in the type of `value`, as Triton does. */
struct tv sem_cas(struct front *f, struct lang_val ptr_, struct tv cmp, struct tv value, struct tile_order order)
{
	struct tv ptr = need_tensor(f, &ptr_);
	const struct ty *p = ty_scalar(ptr.ty);
	struct tv c, v, r;
	const struct ty *t;
	int bits;

	if (!ty_is_ptr(p) || ty_is_block_ptr(p))
		front_fail(f, REASON_not_a_pointer, "'dtype' object has no attribute 'element_ty'");
	bits = ty_bits(p->elem);
	if (bits != 16 && bits != 32 && bits != 64)
		front_fail(f, REASON_bad_dtype, "atomic_cas only supports elements with width {16, 32, 64}");
	/* Triton does not convert here: its verifier refuses operands that do not match the pointer. */
	t = ty_with(f->a, ptr.ty, p->elem);
	if (ty_bits(ty_scalar(cmp.ty)) != bits || ty_bits(ty_scalar(value.ty)) != bits
	    || ty_is_float(ty_scalar(cmp.ty)) != ty_is_float(p->elem)
	    || ty_is_float(ty_scalar(value.ty)) != ty_is_float(p->elem))
		front_late(f, REASON_bad_types, "convert cmp and val to the pointer's element type",
			   "atomic_cas cannot exchange %s and %s through %s",
			   front_ty(f, cmp.ty), front_ty(f, value.ty), front_ty(f, ptr.ty));
	if (cmp.ty->rank != ptr.ty->rank || value.ty->rank != ptr.ty->rank)
		front_late(f, REASON_shape_mismatch, "broadcast cmp and val to the pointer's shape",
			   "atomic_cas: pointer, cmp and val must have the same shape");
	if (f->mute)
		return (struct tv){ value.ty, 0 };
	c = sem_cast(f, cmp, p->elem);
	v = sem_cast(f, value, p->elem);
	r = emit(f, TOP_CAS, t, 3, ptr.id, c.id, v.id);
	emit_order(f, order);
	return (struct tv){ value.ty, sem_cast(f, r, ty_scalar(value.ty)).id };
}
