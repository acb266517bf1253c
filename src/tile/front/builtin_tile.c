/* triton.language: dot, reductions, scans, sorting, and the functions that only the library's own
 * source calls. Examples, with x in %5 of fp32[16x64]:
 *
 *     tl.sum(x, 1)            the library calls tl.reduce, which becomes %6:fp32[16] = reduce %5 imm=1 attr=1
 *     tl.sort(x)              the library calls _sorted, which becomes %6:fp32[16x64] = sort %5
 *     tl.dot(a, b)            %9:fp32[16x32] = dot %7, %8 */
#include "tile/front/builtin.h"

#include <stdio.h>

/* allow_tf32 is the old spelling of input_precision. */
struct lang_val bi_dot(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct sem_dot d;

	(void)b;
	if (a[3].kind != LANG_NONE && a[4].kind != LANG_NONE)
		front_fail(f, REASON_dot_rules, "Only one of input_precision and allow_tf32 can be specified");
	d = (struct sem_dot){ .a = arg_tensor(f, &a[0]), .b = arg_tensor(f, &a[1]), .acc = a[2],
			      .max_imprecise = a[5], .out = arg_dtype(f, &a[6]) };
	d.precision = a[3].kind != LANG_NONE ? arg_str(f, &a[3], "input_precision")
		: a[4].kind == LANG_NONE || lang_truth(&a[4]) ? STR("tf32") : STR("ieee");
	return lang_of(sem_dot(f, &d));
}

/* The formats of dot_scaled: name, type of the elements, and the integer type that may replace
 * it. */
static const struct { const char *name; enum tile_fmt fmt; enum sc type, bits; } formats[] = {
	{ "e2m1", TILE_FMT_E2M1, SC_UINT8, SC_UINT8 }, { "e4m3", TILE_FMT_E4M3, SC_FP8E4NV, SC_UINT8 },
	{ "e5m2", TILE_FMT_E5M2, SC_FP8E5, SC_UINT8 }, { "bf16", TILE_FMT_BF16, SC_BF16, SC_UINT16 },
	{ "fp16", TILE_FMT_FP16, SC_FP16, SC_UINT16 },
};

/* The row of a format by its name. */
static size_t scaled_format(struct front *f, const struct lang_val *v)
{
	struct str s = arg_str(f, v, "float format");
	for (size_t i = 0; i < COUNT_OF(formats); i++)
		if (str_is(s, formats[i].name))
			return i;
	front_fail(f, REASON_bad_value, "Invalid float format: %.*s.", STR_ARG(s));
}

/* An operand in the type of its format; an integer tensor is reinterpreted. */
static struct tv scaled_operand(struct front *f, const struct lang_val *v, size_t fmt)
{
	struct tv x = arg_tensor(f, v);
	if (!ty_is_block(x.ty) || x.ty->rank < 2 || x.ty->rank > 3)
		front_fail(f, REASON_dot_rules, "Both inputs must be either 2D or 3D");
	if (ty_is(x.ty->elem, formats[fmt].type))
		return x;
	if (!ty_is(x.ty->elem, formats[fmt].bits))
		front_fail(f, REASON_dot_rules, "Unexpected dtype for %s. Got %s", formats[fmt].name,
			   front_ty(f, x.ty->elem));
	return sem_bitcast(f, x, ty_sc(formats[fmt].type));
}

/* One scale for each group of 32 elements along K (16 for fp8 scales). */
static void check_scale(struct front *f, const struct lang_val *v, const char *side, int64_t rows, int64_t k)
{
	struct tv s;
	int64_t group;
	int rank;

	if (v->kind == LANG_NONE)
		return;
	s = arg_tensor(f, v);
	group = ty_is(ty_scalar(s.ty), SC_FP8E4NV) ? 16 : 32;
	rank = s.ty->rank;
	if (rank < 2 || s.ty->shape[rank - 2] != rows || s.ty->shape[rank - 1] != k / group)
		front_fail(f, REASON_dot_rules, "%s_scale must be a tensor of shape [%lld, %lld]. Got %s",
			   side, (long long)rows,
			   (long long)(k / group), front_shape(f, s.ty));
}

/* m, n and k count elements. e2m1 packs two of them in a byte, along K or along the other
 * dimension. */
struct lang_val bi_dot_scaled(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tv out, x, y, acc;
	int64_t m, k, n, k2, shape[3];
	int r, pa, pb, ka, kb, count = 3, bits = 0;
	tile_reg src[5];
	size_t fa, fb;
	struct tile_insn *in;
	int32_t attrs[5];
	const struct ty *t;

	(void)b;
	if (!ty_is(arg_dtype(f, &a[10]), SC_FP32))
		front_fail(f, REASON_dot_rules, "Only float32 is supported for out_dtype at the moment");
	fa = scaled_format(f, &a[2]);
	fb = scaled_format(f, &a[5]);
	x = scaled_operand(f, &a[0], fa);
	y = scaled_operand(f, &a[3], fb);
	ka = lang_truth(&a[8]);
	kb = lang_truth(&a[9]);
	if ((!ka && formats[fa].fmt != TILE_FMT_E2M1) || (!kb && formats[fb].fmt != TILE_FMT_E2M1))
		front_fail(f, REASON_dot_rules, "only mxfp4 inputs can be packed along a dimension different than K");
	r = x.ty->rank;
	pa = formats[fa].fmt == TILE_FMT_E2M1 ? 2 : 1;
	pb = formats[fb].fmt == TILE_FMT_E2M1 ? 2 : 1;
	if (r != y.ty->rank)
		front_fail(f, REASON_dot_rules, "Both inputs must be either 2D or 3D; (lhs: %s vs rhs: %s)",
			   front_shape(f, x.ty), front_shape(f, y.ty));
	/* C[m, n] = A[m, k] B[k, n], in elements: a packed dimension counts twice. */
	m = x.ty->shape[r - 2] * (ka ? 1 : pa);
	k = x.ty->shape[r - 1] * (ka ? pa : 1);
	n = y.ty->shape[r - 1] * (kb ? 1 : pb);
	k2 = y.ty->shape[r - 2] * (kb ? pb : 1);
	if (k != k2)
		front_fail(f, REASON_dot_rules,
			   "Reduction dimension should pack the same number of elements; (lhs: %s vs rhs: %s)",
			   front_shape(f, x.ty), front_shape(f, y.ty));
	shape[0] = x.ty->shape[0];
	shape[1] = m;
	shape[2] = n;
	t = sem_block_ty(f, ty_sc(SC_FP32), r, r == 3 ? shape : shape + 1);
	acc = a[6].kind == LANG_NONE ? emit_float(f, t, 0) : arg_tensor(f, &a[6]);
	if (!ty_eq(acc.ty, t))
		front_fail(f, REASON_dot_rules, "the accumulator is %s, but the result is %s",
			   front_ty(f, acc.ty), front_ty(f, t));
	check_scale(f, &a[1], "lhs", m, k);
	check_scale(f, &a[4], "rhs", n, k);
	/* The order of the sources is that of tileop.def: operands, accumulator, then the scales
	 * that exist. */
	src[0] = x.id;
	src[1] = y.id;
	src[2] = acc.id;
	if (a[1].kind != LANG_NONE)
		src[count++] = tv_of(&a[1]).id, bits |= 1;
	if (a[4].kind != LANG_NONE)
		src[count++] = tv_of(&a[4]).id, bits |= 2;
	out = (struct tv){ t, emit_reg(f, t) };
	in = emit_insn(f, TOP_DOT_SCALED, 1, &out.id, count, src);
	attrs[0] = formats[fa].fmt;
	attrs[1] = formats[fb].fmt;
	attrs[2] = bits;
	attrs[3] = ka;
	attrs[4] = kb;
	memcpy(in->attr, attrs, sizeof attrs);
	return lang_of(out);
}

/* --- reductions ------------------------------------------------------------------------------ */

/* One tensor gives one result, a tuple gives a tuple. */
struct lang_val bi_reduce(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	int single;
	struct lang_val r;

	(void)b;
	r = sem_reduce(f, a[0], a[1], arg_fn(f, &a[2]), lang_truth(&a[3]), &single);
	return single ? r.u.tup.v[0] : r;
}

/* argmax and argmin: reduces the pair of values and their indices along the axis. */
struct lang_val bi_reduce_with_indices(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	int single, axis, rank;
	struct lang_val *pair;
	struct tv x, index;

	(void)b;
	x = arg_tensor(f, &a[0]);
	if (!lang_is_int(&a[1]))
		front_fail_hint(f, REASON_bad_axis, "name the axis",
				"argmax and argmin need an axis known at compile time");
	rank = x.ty->rank;
	if (a[1].u.i < -rank || a[1].u.i >= rank)
		front_fail(f, REASON_bad_axis, "list index out of range");
	axis = (int)(a[1].u.i < 0 ? a[1].u.i + rank : a[1].u.i);
	/* 0, 1, 2, ... along the axis, repeated along the other dimensions. */
	index = sem_arange(f, 0, x.ty->shape[axis]);
	for (int d = 0; d < rank; d++)
		if (d != axis)
			index = sem_expand_dims(f, index, d);
	index = sem_broadcast_to(f, index, rank, x.ty->shape);
	pair = arena_array(f->a, 2, sizeof *pair);
	pair[0] = lang_of(x), pair[1] = lang_of(index);
	return sem_reduce(f, lang_tuple(pair, 2), a[1], arg_fn(f, &a[2]), lang_truth(&a[3]), &single);
}

/* tl.associative_scan(x, axis, f): lane i is f applied to lanes 0 .. i in order. */
struct lang_val bi_associative_scan(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_val r;

	(void)b;
	r = sem_scan(f, a[0], arg_int(f, &a[1], "the axis of a scan"), arg_fn(f, &a[2]), lang_truth(&a[3]));
	return a[0].kind == LANG_TUPLE ? r : r.u.tup.v[0];
}

/* tl.histogram(x, bins): the number of lanes with each value 0 .. bins - 1. */
struct lang_val bi_histogram(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_of(sem_histogram(f, arg_tensor(f, &a[0]), arg_int(f, &a[1], "num_bins"), a[2]));
}

/* tl.map_elementwise(f, *tiles): f of the scalars of each lane. */
struct lang_val bi_map_elementwise(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return sem_map(f, arg_fn(f, &a[0]), a[1].u.tup.n, a[1].u.tup.v, arg_int(f, &a[2], "pack"));
}

/* The first k lanes of x, sorted along its last dimension; k None: all of them. */
struct lang_val bi_sorted(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	int64_t shape[TY_MAX_RANK], n, k;
	struct tv x;
	int descending;

	(void)b;
	x = arg_tensor(f, &a[0]);
	descending = lang_truth(&a[2]);
	if (!ty_is_block(x.ty))
		front_fail(f, REASON_bad_shape, "sort takes a tensor of at least one dimension");
	n = x.ty->shape[x.ty->rank - 1];
	k = a[1].kind == LANG_NONE ? n : arg_int(f, &a[1], "k");
	if (k >= n)
		return lang_of(emit_imm(f, TOP_SORT, x.ty, descending, 1, x.id));
	memcpy(shape, x.ty->shape, (size_t)x.ty->rank * sizeof *shape);
	shape[x.ty->rank - 1] = k;
	return lang_of(emit_imm(f, TOP_TOPK, sem_block_ty(f, x.ty->elem, x.ty->rank, shape), descending, 1, x.id));
}

/* The lanes in reverse order along one dimension. */
struct lang_val bi_flipped(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tv x;

	(void)b;
	x = arg_tensor(f, &a[0]);
	return lang_of(emit_imm(f, TOP_FLIP, x.ty, arg_int(f, &a[1], "dim"), 1, x.id));
}

/* The logarithm of a constant, rounded down. */
struct lang_val bi_log2_int(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	int64_t n, r;

	(void)b;
	n = arg_int(f, &a[0], "the argument of log2");
	r = 0;
	while (n > 1)
		n >>= 1, r++;
	return lang_int(r);
}

/* For the library's checks of sizes. */
struct lang_val bi_is_power_of_two(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	int64_t n;

	(void)b;
	n = arg_int(f, &a[0], "the argument");
	return lang_bool(n && !(n & (n - 1)));
}

/* tl.core.get_int_dtype: an integer type by width and sign. */
struct lang_val bi_int_dtype(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	int sc;
	int64_t bits;
	char name[24];

	(void)b;
	bits = arg_int(f, &a[0], "bitwidth");
	if (bits == 1)
		return lang_type(ty_sc(SC_INT1));
	snprintf(name, sizeof name, "%sint%lld", lang_truth(&a[1]) ? "" : "u", (long long)bits);
	sc = sc_by_name(str_of(name));
	if (sc < 0)
		front_fail(f, REASON_bad_dtype, "Unsupported bitwidth %lld and signedness %s",
			   (long long)bits, lang_truth(&a[1]) ? "True" : "False");
	return lang_type(ty_sc((enum sc)sc));
}
