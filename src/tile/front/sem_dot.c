/* tl.dot: the operands it accepts and the type of its result (semantic.py: dot; core.py: dot;
 * nvidia/compiler.py: min_dot_size). Example: fp16[64x32] by fp16[32x128] with out_dtype fp32
 * becomes `%9:fp32[64x128] = dot %7, %8`. tl.dot_scaled is in builtin_tile.c. */
#include "tile/front/sem.h"

/* Whether n dimensions of a and b are equal, from the given indices on. */
static int same_dims(const struct ty *a, const struct ty *b, int from_a, int from_b, int n)
{
	return !memcmp(a->shape + from_a, b->shape + from_b, (size_t)n * sizeof *a->shape);
}

/* input_precision, by enum tile_prec. */
static const char *precision_names[] = {
	[TILE_PREC_IEEE] = "ieee", [TILE_PREC_TF32] = "tf32", [TILE_PREC_TF32X3] = "tf32x3",
	[TILE_PREC_BF16X3] = "bf16x3", [TILE_PREC_BF16X6] = "bf16x6",
};

/* The bf16 precisions exist since Triton 3.6. */
static int precision(struct front *f, struct str s)
{
	for (size_t i = 0; i < COUNT_OF(precision_names); i++)
		if (strlen(precision_names[i]) == s.n && !strncasecmp(precision_names[i], s.p, s.n)
		    && (f->version >= 306 || i <= TILE_PREC_TF32X3))
			return (int)i;
	front_fail(f, REASON_bad_value,
		   "input_precision must be one of ('tf32', 'tf32x3', 'ieee', 'bf16x3', 'bf16x6'). Got %.*s",
		   STR_ARG(s));
}

/* Two fp8 operands may differ in format; all others must have the same type. */
static void check_types(struct front *f, const struct ty *a, const struct ty *b)
{
	static const enum sc allowed[] = { SC_INT8, SC_UINT8, SC_FP16, SC_BF16, SC_FP32, SC_FP64 };
	const struct ty *t[2];

	if (ty_is_fp8(a) && ty_is_fp8(b))
		return;
	t[0] = a;
	t[1] = b;
	for (int side = 0; side < 2; side++) {
		int ok = 0;
		for (size_t i = 0; i < COUNT_OF(allowed); i++)
			ok |= ty_is(t[side], allowed[i]);
		if (!ok)
			front_fail_hint(f, REASON_dot_rules, "convert the operand first: x.to(tl.float16)",
					"Unsupported %s dtype %s", side ? "rhs" : "lhs", front_ty(f, t[side]));
	}
	if (!ty_eq(a, b))
		front_fail_hint(f, REASON_dot_rules, "convert one operand: tl.dot(a, b.to(a.dtype))",
				"Both operands must be same dtype. Got %s and %s", front_ty(f, a), front_ty(f, b));
}

/* The smallest tiles that the tensor cores of each version's back end accept. */
static void check_sizes(struct front *f, const struct ty *a, const struct ty *b)
{
	int bits = ty_bits(a->elem);
	int least_m = f->version >= 305 ? 1 : 16, least_n = f->version == 302 && ty_is(a->elem, SC_INT8) ? 32 : least_m;
	int least_k = bits == 8 && f->version > 302 ? 32
		: f->version >= 308 && bits == 64 ? 4
		: f->version >= 308 && bits == 32 ? 8 : 16;
	int64_t m = a->shape[a->rank - 2], k = a->shape[a->rank - 1], n = b->shape[b->rank - 1];
	if (m < least_m || n < least_n || k < least_k)
		front_fail(f, REASON_dot_rules, "Input shapes should have M >= %d, N >= %d and K >= %d",
			   least_m, least_n, least_k);
}

/* The element type of the result: int8 gives int32, fp32 and bf16 give fp32, fp64 gives fp64, fp16
 * and fp8 give out_dtype. */
static const struct ty *result_scalar(struct front *f, const struct ty *a, const struct ty *out)
{
	if (ty_is_int(a)) {
		if (!ty_is(a, SC_INT8))
			front_fail(f, REASON_dot_rules, "only int8 supported!");
		return ty_sc(SC_INT32);
	}
	if (ty_is(out, SC_BF16))
		front_fail(f, REASON_dot_rules,
			   "out_dtype=bfloat16 is unsupported. Please use out_dtype=float32/float16 and "
			   "cast with `.to(tl.bfloat16)`");
	if (ty_is(a, SC_FP32) || ty_is(a, SC_BF16))
		return ty_sc(SC_FP32);
	return ty_is(a, SC_FP64) ? ty_sc(SC_FP64) : out;
}

/* Batch dimensions must agree, and K of both operands. */
static void check_ranks(struct front *f, const struct sem_dot *d)
{
	const struct ty *a = d->a.ty, *b = d->b.ty;
	if (a->rank != b->rank || a->rank < 2)
		front_fail(f, REASON_dot_rules, "input and other must have equal ranks >= 2");
	if (!same_dims(a, b, 0, 0, a->rank - 2))
		front_fail(f, REASON_dot_rules, "input and other must have equal batch shapes");
	if (a->shape[a->rank - 1] != b->shape[b->rank - 2])
		front_fail(f, REASON_dot_rules, "input and other must have equal reduction dimensions");
}

/* Folds the batch dimensions of a rank above 3 into one: the machine multiplies rank 2 and 3. */
static struct tv fold(struct front *f, struct tv x)
{
	int64_t shape[3];

	if (x.ty->rank < 4)
		return x;
	shape[0] = 1;
	shape[1] = x.ty->shape[x.ty->rank - 2];
	shape[2] = x.ty->shape[x.ty->rank - 1];
	for (int i = 0; i < x.ty->rank - 2; i++)
		shape[0] *= x.ty->shape[i];
	return sem_reshape(f, x, 3, shape);
}

/* fp8e4b15 is a storage format only. */
static struct tv upcast_fp8(struct front *f, struct tv x)
{
	return ty_is(x.ty->elem, SC_FP8E4B15) ? sem_cast(f, x, ty_sc(SC_FP16)) : x;
}

/* The precision matters for fp32 operands only; the others have one way to be multiplied. */
struct tv sem_dot(struct front *f, const struct sem_dot *d)
{
	struct tv r, a, b, acc;
	const struct ty *elem, *t;
	int rank, prec;
	int64_t shape[TY_MAX_RANK], inner[3];

	check_ranks(f, d);
	rank = d->a.ty->rank;
	memcpy(shape, d->a.ty->shape, (size_t)rank * sizeof *shape);
	/* The result has the shape of a with the last dimension of b: [.., M, K] by [.., K, N]
	 * gives [.., M, N]. */
	shape[rank - 1] = d->b.ty->shape[rank - 1];
	acc = (struct tv){ 0 };
	if (d->acc.kind == LANG_TENSOR) {
		acc = tv_of(&d->acc);
		if (acc.ty->rank != rank || memcmp(acc.ty->shape, shape, (size_t)rank * sizeof *shape))
			front_fail(f, REASON_dot_rules, "accumulator shape is incompatible");
	} else if (d->acc.kind != LANG_NONE) {
		front_fail(f, REASON_dot_rules, "'%s' object has no attribute 'shape'", lang_type_name(&d->acc));
	}
	check_types(f, d->a.ty->elem, d->b.ty->elem);
	a = upcast_fp8(f, fold(f, d->a));
	b = upcast_fp8(f, fold(f, d->b));
	prec = precision(f, d->precision);
	check_sizes(f, a.ty, b.ty);
	elem = result_scalar(f, a.ty->elem, d->out);
	/* The shape after folding: [batch, M, N] or [M, N]. */
	inner[0] = a.ty->shape[0];
	inner[1] = a.ty->shape[a.ty->rank - 2];
	inner[2] = b.ty->shape[b.ty->rank - 1];
	t = a.ty->rank == 3 ? sem_block_ty(f, elem, 3, inner) : sem_block_ty(f, elem, 2, inner + 1);
	if (acc.ty) {
		acc = fold(f, acc);
		/* Triton asserts this in its front end and leaves the next check to its verifier. */
		if (!ty_eq(acc.ty->elem, d->out))
			front_fail_hint(f, REASON_dot_rules,
					"the accumulator must have the type of out_dtype (fp32 by default)",
					"AssertionError: accumulator of type %s with out_dtype %s",
					front_ty(f, acc.ty->elem), front_ty(f, d->out));
		if (!ty_eq(acc.ty->elem, elem))
			front_late(f, REASON_dot_rules,
				   "give the accumulator the type of the result, and out_dtype with it",
				   "the accumulator is %s, but the result is %s",
				   front_ty(f, acc.ty->elem), front_ty(f, elem));
	}
	if (d->max_imprecise.kind == LANG_INT && ty_is_fp8(a.ty->elem) && d->max_imprecise.u.i >
	    a.ty->shape[a.ty->rank - 1])
		front_fail(f, REASON_dot_rules, "max_num_imprecise_acc (%lld) must be <= K (%lld)",
			   (long long)d->max_imprecise.u.i,
			   (long long)a.ty->shape[a.ty->rank - 1]);
	sem_trace(f, "dot", a.ty);
	sem_trace(f, "dot", b.ty);
	r = acc.ty ? emit(f, TOP_DOT, t, 3, a.id, b.id, acc.id) : emit(f, TOP_DOT, t, 2, a.id, b.id);
	emit_last(f)->attr[0] = ty_is(a.ty->elem, SC_FP32) ? prec : TILE_PREC_IEEE;
	return rank >= 4 ? sem_reshape(f, r, rank, shape) : r;
}
