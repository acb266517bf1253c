/* One typing rule for each value of the column `rule` in tileop.def. Each returns a description of
 * the error, or NULL. Does not own operand counts and assignment: verifier.c does. Invariant: the
 * machine relies on every condition here and does not check it again. */
#include "tile/code/verifier.h"

#include "tile/code/dot_scaled.h"

/* The instruction that a rule checks. */
struct ctx {
	const struct tile_code *code;
	const struct tile_insn *in;
};

static struct tile_type dst(const struct ctx *c, int k) { return c->code->regs[tile_dst(c->in, k)]; }
static struct tile_type src(const struct ctx *c, int k) { return c->code->regs[tile_src(c->in, k)]; }
static int is_float(struct tile_type t) { return !t.ptr && dtype_is_float(t.dt); }
static int is_int(struct tile_type t) { return !t.ptr && !dtype_is_float(t.dt); }
static int is_bool(struct tile_type t) { return !t.ptr && t.dt == DT_BOOL; }
static int same_elem(struct tile_type a, struct tile_type b) { return a.dt == b.dt && a.ptr == b.ptr; }

/* All sources have the type of the result. */
static int all_same(const struct ctx *c)
{
	for (int k = 0; k < c->in->n_src; k++)
		if (!tile_type_eq(src(c, k), dst(c, 0)))
			return 0;
	return 1;
}

static const char *rule_CTL(const struct ctx *c) { (void)c; return NULL; }
static const char *rule_NULLARY(const struct ctx *c) { (void)c; return NULL; }

/* [N]: imm, imm + 1, ..., imm + N - 1. */
static const char *rule_ARANGE(const struct ctx *c)
{
	struct tile_type t = dst(c, 0);
	if (t.ndim != 1 || !is_int(t) || is_bool(t))
		return "needs a one-dimensional integer result";
	return c->in->imm < INT32_MIN || c->in->imm + t.shape[0] > INT32_MAX ? "range outside i32" : NULL;
}

/* program_id and num_programs of axis imm. */
static const char *rule_PROGRAM(const struct ctx *c)
{
	if (!tile_type_eq(dst(c, 0), tile_scalar(DT_I32)))
		return "needs a scalar i32 result";
	return c->in->imm < 0 || c->in->imm > 2 ? "axis is not 0, 1 or 2" : NULL;
}

static const char *rule_MOV(const struct ctx *c)
{
	return all_same(c) ? NULL : "types differ";
}

/* A scalar to any shape. */
static const char *rule_SPLAT(const struct ctx *c)
{
	return src(c, 0).ndim || !same_elem(src(c, 0), dst(c, 0)) ? "needs a scalar of the same element" : NULL;
}

/* [16, 1] to [16, 32]: only dimensions of 1 grow. */
static const char *rule_BROADCAST(const struct ctx *c)
{
	struct tile_type s = src(c, 0), d = dst(c, 0);
	if (!same_elem(s, d) || s.ndim != d.ndim)
		return "element or rank differs";
	for (int i = 0; i < s.ndim; i++)
		if (s.shape[i] != d.shape[i] && s.shape[i] != 1)
			return "a dimension neither equal nor 1";
	return NULL;
}

/* The result has one dimension more, a 1 at index imm. */
static const char *rule_EXPAND(const struct ctx *c)
{
	struct tile_type s = src(c, 0), d = dst(c, 0);
	int at = (int)c->in->imm;
	if (!same_elem(s, d) || d.ndim != s.ndim + 1 || c->in->imm < 0 || c->in->imm >= d.ndim || d.shape[at] != 1)
		return "shape does not follow";
	for (int i = 0; i < s.ndim; i++)
		if (s.shape[i] != d.shape[i + (i >= at)])
			return "shape does not follow";
	return NULL;
}

/* Any shape with the same number of elements. */
static const char *rule_RESHAPE(const struct ctx *c)
{
	return same_elem(src(c, 0), dst(c, 0)) && tile_numel(src(c, 0)) == tile_numel(dst(c, 0)) ? NULL :
		"element or count differs";
}

/* attr[i] names the source dimension of result dimension i; each is used once. */
static const char *rule_PERMUTE(const struct ctx *c)
{
	struct tile_type s = src(c, 0), d = dst(c, 0);
	unsigned seen = 0;
	if (!same_elem(s, d) || s.ndim != d.ndim || !s.ndim)
		return "element or rank differs";
	for (int i = 0; i < s.ndim; i++) {
		int from = c->in->attr[i];
		if (from < 0 || from >= s.ndim || s.shape[from] != d.shape[i])
			return "not a permutation of the shape";
		seen |= 1u << from;
	}
	return seen == (1u << s.ndim) - 1 ? NULL : "not a permutation";
}

/* Whether `whole` is `part` with a new last dimension of 2. */
static int joined(struct tile_type part, struct tile_type whole)
{
	if (!same_elem(part, whole) || whole.ndim != part.ndim + 1 || whole.shape[part.ndim] != 2)
		return 0;
	whole.ndim--;
	return tile_same_shape(part, whole);
}

/* Two tiles [.., N] to [.., N, 2]. */
static const char *rule_JOIN(const struct ctx *c)
{
	return tile_type_eq(src(c, 0), src(c, 1)) && joined(src(c, 0), dst(c, 0)) ? NULL : "shape does not follow";
}

/* [.., N, 2] to two tiles [.., N]. */
static const char *rule_SPLIT(const struct ctx *c)
{
	return tile_type_eq(dst(c, 0), dst(c, 1)) && joined(dst(c, 0), src(c, 0)) ? NULL : "shape does not follow";
}

/* imm is an axis of t. */
static int axis_ok(const struct ctx *c, struct tile_type t) { return c->in->imm >= 0 && c->in->imm < t.ndim; }

/* [A, N] and [B, N] along axis 0 to [A + B, N]. */
static const char *rule_CAT(const struct ctx *c)
{
	struct tile_type a = src(c, 0), b = src(c, 1), d = dst(c, 0);
	if (!axis_ok(c, d) || a.ndim != d.ndim || b.ndim != d.ndim || !same_elem(a, d) || !same_elem(b, d))
		return "element or rank differs";
	for (int i = 0; i < d.ndim; i++)
		if (i == c->in->imm ? a.shape[i] + b.shape[i] != d.shape[i] : a.shape[i] != d.shape[i] ||
		    b.shape[i] != d.shape[i])
			return "shape does not follow";
	return NULL;
}

static const char *rule_SAME_SHAPE(const struct ctx *c)
{
	return axis_ok(c, dst(c, 0)) && all_same(c) ? NULL : "types differ";
}

/* Source and result agree in every dimension except the gathered one. */
static const char *rule_GATHER(const struct ctx *c)
{
	struct tile_type s = src(c, 0), ix = src(c, 1), d = dst(c, 0);
	if (!same_elem(s, d) || s.ptr || !is_int(ix) || !tile_same_shape(ix, d) || s.ndim != d.ndim || !axis_ok(c, d))
		return "types do not fit";
	for (int i = 0; i < d.ndim; i++)
		if (i != c->in->imm && s.shape[i] != d.shape[i])
			return "shape does not follow";
	return NULL;
}

/* [N] integers to [bins] counts. */
static const char *rule_HISTOGRAM(const struct ctx *c)
{
	if (src(c, 0).ndim != 1 || !is_int(src(c, 0)) || dst(c, 0).ndim != 1 || dst(c, 0).ptr || dst(c, 0).dt != DT_I32)
		return "needs one dimension of integers and i32 counts";
	if (c->in->n_src == 2 && (!is_bool(src(c, 1)) || !tile_same_shape(src(c, 0), src(c, 1))))
		return "mask does not fit";
	return NULL;
}

/* Along the last dimension, so a scalar is not allowed. */
static const char *rule_SORT(const struct ctx *c)
{
	return all_same(c) && dst(c, 0).ndim && !dst(c, 0).ptr ? NULL : "types differ";
}

/* [.., N] to [.., k] with k at most N. */
static const char *rule_TOPK(const struct ctx *c)
{
	struct tile_type s = src(c, 0), d = dst(c, 0);
	if (!same_elem(s, d) || s.ptr || s.ndim != d.ndim || !s.ndim || d.shape[d.ndim - 1] > s.shape[s.ndim - 1])
		return "shape does not follow";
	for (int i = 0; i + 1 < s.ndim; i++)
		if (s.shape[i] != d.shape[i])
			return "shape does not follow";
	return NULL;
}

/* Any element type to any other, except between pointers and floats. */
static const char *rule_CAST(const struct ctx *c)
{
	struct tile_type s = src(c, 0), d = dst(c, 0);
	if (!tile_same_shape(s, d))
		return "shape differs";
	if ((s.ptr && is_float(d)) || (d.ptr && is_float(s)))
		return "between pointer and float";
	return NULL;
}

/* A bool is stored as a byte but has one bit, so it only casts to itself. */
static const char *rule_BITCAST(const struct ctx *c)
{
	struct tile_type s = src(c, 0), d = dst(c, 0);
	if (!tile_same_shape(s, d) || tile_elem_size(s) != tile_elem_size(d) || is_bool(s) != is_bool(d))
		return "width or shape differs";
	return NULL;
}

/* Arithmetic has one type throughout; pointers have addptr instead. */
static const char *rule_ARITH1(const struct ctx *c)
{
	return all_same(c) && !dst(c, 0).ptr ? NULL : "types differ or are pointers";
}
static const char *rule_ARITH2(const struct ctx *c) { return rule_ARITH1(c); }
static const char *rule_ARITH3(const struct ctx *c) { return rule_ARITH1(c); }

/* Bitwise operations: integers and bools of one type. */
static const char *rule_INT1(const struct ctx *c)
{
	return all_same(c) && is_int(dst(c, 0)) ? NULL : "needs integers of one type";
}
static const char *rule_INT2(const struct ctx *c) { return rule_INT1(c); }

/* byte_perm works on 32 bits. */
static const char *rule_INT3(const struct ctx *c)
{
	return rule_INT1(c) || tile_elem_size(dst(c, 0)) != 4 ? "needs 32-bit integers" : NULL;
}

/* Functions of floats: one float type throughout. */
static const char *rule_FLOAT1(const struct ctx *c)
{
	return all_same(c) && is_float(dst(c, 0)) ? NULL : "needs floats of one type";
}
static const char *rule_FLOAT2(const struct ctx *c) { return rule_FLOAT1(c); }
static const char *rule_FLOAT3(const struct ctx *c) { return rule_FLOAT1(c); }
static const char *rule_FLOAT4(const struct ctx *c) { return rule_FLOAT1(c); }

/* A bool for each lane chooses between two values of the result's type. */
static const char *rule_SELECT(const struct ctx *c)
{
	if (!is_bool(src(c, 0)) || !tile_same_shape(src(c, 0), dst(c, 0)))
		return "condition does not fit";
	return tile_type_eq(src(c, 1), dst(c, 0)) && tile_type_eq(src(c, 2), dst(c, 0)) ? NULL : "types differ";
}

/* Two operands of one type to a bool for each lane; pointers compare, too. */
static const char *rule_COMPARE(const struct ctx *c)
{
	if (!is_bool(dst(c, 0)) || !tile_same_shape(src(c, 0), dst(c, 0)))
		return "result does not fit";
	return tile_type_eq(src(c, 0), src(c, 1)) ? NULL : "types differ";
}

/* isnan and its kin: the result is any integer type, bool included. */
static const char *rule_FLOAT_TO_INT(const struct ctx *c)
{
	return is_float(src(c, 0)) && is_int(dst(c, 0)) && tile_same_shape(src(c, 0), dst(c, 0)) ? NULL :
		"types do not fit";
}

static int is_wide_float(struct tile_type t) { return !t.ptr && (t.dt == DT_F32 || t.dt == DT_F64); }

/* ldexp and powi: a wide float and an i32 exponent. */
static const char *rule_FLOAT_INT(const struct ctx *c)
{
	if (!tile_type_eq(src(c, 0), dst(c, 0)) || !is_wide_float(dst(c, 0)))
		return "types do not fit";
	return src(c, 1).dt == DT_I32 && !src(c, 1).ptr && tile_same_shape(src(c, 1), dst(c, 0)) ? NULL :
		"needs an i32";
}

/* jn and yn: an i32 order and a wide float. */
static const char *rule_INT_FLOAT(const struct ctx *c)
{
	if (!tile_type_eq(src(c, 1), dst(c, 0)) || !is_wide_float(dst(c, 0)))
		return "types do not fit";
	return src(c, 0).dt == DT_I32 && !src(c, 0).ptr && tile_same_shape(src(c, 0), dst(c, 0)) ? NULL :
		"needs an i32";
}

/* The halves of a 64-bit value. */
static const char *rule_BITS64(const struct ctx *c)
{
	if (tile_elem_size(src(c, 0)) != 8 || src(c, 0).ptr || dst(c, 0).ptr || dst(c, 0).dt != DT_I32)
		return "needs 64 bits in, i32 out";
	return tile_same_shape(src(c, 0), dst(c, 0)) ? NULL : "shape differs";
}

/* The inverse: two halves to an fp64. */
static const char *rule_HILO(const struct ctx *c)
{
	if (!tile_type_eq(src(c, 0), src(c, 1)) || src(c, 0).ptr || src(c, 0).dt != DT_I32 ||
	    dst(c, 0).ptr || dst(c, 0).dt != DT_F64)
		return "needs two i32, fp64 out";
	return tile_same_shape(src(c, 0), dst(c, 0)) ? NULL : "shape differs";
}

/* Bit counts are i32 for every width. */
static const char *rule_INT_COUNT(const struct ctx *c)
{
	return is_int(src(c, 0)) && !dst(c, 0).ptr && dst(c, 0).dt == DT_I32 &&
		tile_same_shape(src(c, 0), dst(c, 0)) ? NULL : "needs an integer, i32 out";
}

/* a - b| + c on 32 bits; c and the result's bits are unsigned. */
static const char *rule_SAD(const struct ctx *c)
{
	struct tile_type d = dst(c, 0);
	if (!is_int(d) || tile_elem_size(d) != 4 || !tile_type_eq(src(c, 0), d) || !tile_type_eq(src(c, 1), d))
		return "needs 32-bit integers";
	return src(c, 2).dt == DT_U32 && !src(c, 2).ptr && tile_same_shape(src(c, 2), d) ? NULL : "needs an u32";
}

/* Pointers and offsets of one shape; a splat comes first where one is a scalar. */
static const char *rule_ADDPTR(const struct ctx *c)
{
	if (!dst(c, 0).ptr || !tile_type_eq(src(c, 0), dst(c, 0)))
		return "needs a pointer of the same type";
	return is_int(src(c, 1)) && tile_same_shape(src(c, 1), dst(c, 0)) ? NULL :
		"needs an integer offset of that shape";
}

/* Source k is absent or is a mask of the shape of the pointers. */
static int mask_ok(const struct ctx *c, int k)
{
	return k >= c->in->n_src || (is_bool(src(c, k)) && tile_same_shape(src(c, k), src(c, 0)));
}

/* The pointers point to elements of the value's type, and shapes agree. */
static int pointee_ok(struct tile_type ptr, struct tile_type val)
{
	return ptr.ptr && !val.ptr && ptr.dt == val.dt && tile_same_shape(ptr, val);
}

/* Pointers, mask and `other` have the shape of the result. */
static const char *rule_LOAD(const struct ctx *c)
{
	if (!pointee_ok(src(c, 0), dst(c, 0)))
		return "pointer and result do not fit";
	if (!mask_ok(c, 1))
		return "mask does not fit";
	if (c->in->attr[0] < TILE_PAD_NONE || c->in->attr[0] > TILE_PAD_NAN)
		return "no such padding";
	return c->in->n_src < 3 || tile_type_eq(src(c, 2), dst(c, 0)) ? NULL : "other does not fit";
}

/* Pointers, value and mask have one shape. */
static const char *rule_STORE(const struct ctx *c)
{
	return pointee_ok(src(c, 0), src(c, 1)) && mask_ok(c, 2) ? NULL : "pointer, value or mask do not fit";
}

/* Atomics take the operands of a store and return the old values. */
static const char *rule_ATOMIC(const struct ctx *c)
{
	int kind = c->in->attr[0];
	if (!tile_type_eq(src(c, 1), dst(c, 0)) || rule_STORE(c))
		return "pointer, value or mask do not fit";
	if (kind < TILE_RMW_ADD || kind > TILE_RMW_XCHG || is_bool(dst(c, 0)))
		return "no such atomic";
	if (is_float(dst(c, 0)) && kind >= TILE_RMW_AND && kind <= TILE_RMW_XOR)
		return "bitwise atomic of a float";
	return NULL;
}

/* Pointer, expected and new value; the result is the old value. */
static const char *rule_CAS(const struct ctx *c)
{
	return pointee_ok(src(c, 0), src(c, 1)) && tile_type_eq(src(c, 1), src(c, 2)) &&
		tile_type_eq(src(c, 1), dst(c, 0)) &&
		!is_bool(dst(c, 0)) ? NULL : "types do not fit";
}

/* The base or a stride of a tensor descriptor. */
static const char *rule_ALIGNED(const struct ctx *c)
{
	return src(c, 0).ndim || is_float(src(c, 0)) || c->in->imm < 1 ? "needs a scalar and an alignment" : NULL;
}

static const char *rule_BARRIER(const struct ctx *c) { (void)c; return NULL; }

/* tl.multiple_of and its kin: attr[1 + d] is the promised value for dimension d. */
static const char *rule_HINT(const struct ctx *c)
{
	const struct tile_insn *in = c->in;
	if (in->attr[0] < TILE_HINT_MULTIPLE || in->attr[0] > TILE_HINT_CONSTANT ||
	    (!src(c, 0).ptr && is_float(src(c, 0))))
		return "needs a hint about integers or pointers";
	for (int d = 0; d < MAX(src(c, 0).ndim, 1); d++)
		if (in->attr[1 + d] < 1)
			return "needs values above 0";
	return NULL;
}

static const char *rule_ASSUME(const struct ctx *c)
{
	return is_bool(src(c, 0)) && !src(c, 0).ndim ? NULL : "needs an i1 scalar";
}

/* Shapes: a[.., M, K], b[.., K, N], result [.., M, N]. The rest are the type combinations that
 * tensor cores, and therefore the machine, implement. */
static const char *rule_DOT(const struct ctx *c)
{
	struct tile_type a = src(c, 0), b = src(c, 1), d = dst(c, 0);
	int n = d.ndim;
	if ((n != 2 && n != 3) || a.ndim != n || b.ndim != n || a.ptr || b.ptr || d.ptr)
		return "needs rank 2 or 3";
	if (n == 3 && (a.shape[0] != d.shape[0] || b.shape[0] != d.shape[0]))
		return "batch differs";
	if (a.shape[n - 2] != d.shape[n - 2] || b.shape[n - 1] != d.shape[n - 1] || a.shape[n - 1] != b.shape[n - 2])
		return "shapes do not chain";
	if (c->in->n_src == 3 && !tile_type_eq(src(c, 2), d))
		return "accumulator differs";
	if (!(d.dt == DT_F32 || d.dt == DT_F16 || d.dt == DT_BF16 || d.dt == DT_F64 || d.dt == DT_I32 ||
	      d.dt == DT_U32))
		return "no product of that type";
	/* The machine multiplies fp64 by itself only, and fp32 into fp32. */
	if ((a.dt == DT_F64 || b.dt == DT_F64) != (d.dt == DT_F64))
		return "fp64 mixed with others";
	if (a.dt == DT_F32 && d.dt != DT_F32)
		return "fp32 operands give fp32";
	if (c->in->attr[0] < TILE_PREC_IEEE || c->in->attr[0] > TILE_PREC_BF16X6)
		return "no such precision";
	if (is_float(a) != is_float(b) || is_float(a) != is_float(d) || is_bool(a) || is_bool(b) || is_bool(d))
		return "operands do not fit the result";
	return NULL;
}

/* attr[2] says which operands have scales; the scales follow the accumulator. */
static const char *rule_DOT_SCALED(const struct ctx *c)
{
	const struct tile_insn *in = c->in;
	struct tile_type d = dst(c, 0);
	int scales = (in->attr[2] & 1) + (in->attr[2] >> 1 & 1);
	if (in->n_src != 3 + scales || in->attr[2] < 0 || in->attr[2] > 3)
		return "scales do not fit";
	if (d.ndim != 2 || d.ptr || d.dt != DT_F32 || !tile_type_eq(src(c, 2), d))
		return "needs an fp32 accumulator of rank 2";
	return tile_dot_scaled_shape(c->code, in, NULL) ? "shapes do not fit" : NULL;
}

/* Whether d is s without the dimension `axis`. */
static int reduced(struct tile_type s, struct tile_type d, int axis)
{
	if (!same_elem(s, d) || d.ndim != s.ndim - 1)
		return 0;
	for (int i = 0; i < d.ndim; i++)
		if (d.shape[i] != s.shape[i + (i >= axis)])
			return 0;
	return 1;
}

/* The operands of reduce and scan: n tiles of one shape. A built-in combiner has one source, or a
 * value and an index; a custom one has a function with 2n parameters and n results. */
static const char *combine_ok(const struct ctx *c)
{
	const struct tile_insn *in = c->in;
	int kind = in->attr[0], n = in->n_src;
	const struct tile_func *f;

	if (n != in->n_dst || n > 16 || kind < 0 || kind >= TILE_COMBINES)
		return "operands do not fit";
	for (int i = 0; i < n; i++)
		if (src(c, i).ptr || !tile_same_shape(src(c, i), src(c, 0)))
			return "sources differ in shape";
	if (kind != TILE_CUSTOM) {
		int arg = kind >= TILE_ARGMAX && kind <= TILE_ARGMIN_FAST;
		if (n != 1 + arg || (arg && !is_int(src(c, 1))))
			return "sources do not fit the combiner";
		return kind >= TILE_AND && !is_int(src(c, 0)) ? "bitwise combiner of a float" : NULL;
	}
	if (in->attr[1] < 1 || in->attr[1] >= c->code->n_funcs)
		return "no such function";
	f = &c->code->funcs[in->attr[1]];
	if (f->n_params != 2 * n || f->n_results != n)
		return "function does not fit";
	for (int i = 0; i < n; i++)
		if (!same_elem(c->code->regs[f->params[i]], src(c, i)) ||
		    !same_elem(c->code->regs[f->params[n + i]], src(c, i)) ||
		    !same_elem(c->code->regs[f->results[i]], src(c, i)))
			return "function types do not fit";
	return NULL;
}

/* [.., N, ..] to [.., ..]: the axis is removed from every source. */
static const char *rule_REDUCE(const struct ctx *c)
{
	const char *wrong = combine_ok(c);
	if (wrong || !axis_ok(c, src(c, 0)))
		return wrong ? wrong : "no such axis";
	for (int i = 0; i < c->in->n_src; i++)
		if (!reduced(src(c, i), dst(c, i), (int)c->in->imm))
			return "result shape does not follow";
	return NULL;
}

/* argmax and argmin reduce only; Triton has no scan with them. */
static const char *rule_SCAN(const struct ctx *c)
{
	const char *wrong = combine_ok(c);
	if (wrong || !axis_ok(c, src(c, 0)))
		return wrong ? wrong : "no such axis";
	for (int i = 0; i < c->in->n_src; i++)
		if (!tile_type_eq(src(c, i), dst(c, i)) ||
		    (c->in->attr[0] >= TILE_ARGMAX && c->in->attr[0] <= TILE_ARGMIN_FAST))
			return "types differ, or a combiner that scans do not know";
	return NULL;
}

/* The function takes `pack` lanes of each source and returns `pack` lanes of each result. */
static const char *rule_MAP(const struct ctx *c)
{
	const struct tile_insn *in = c->in;
	const struct tile_func *f;
	int64_t pack;

	if (in->attr[1] < 1 || in->attr[1] >= c->code->n_funcs || !in->n_dst)
		return "no such function";
	f = &c->code->funcs[in->attr[1]];
	pack = in->attr[0];
	if (f->n_params > TILE_FUNC_PARAMS || f->n_results > TILE_FUNC_PARAMS)
		return "function has too many parameters";
	if (pack < 1 || pack > 16 || f->n_params != in->n_src * pack || f->n_results != in->n_dst * pack)
		return "function does not fit";
	if (tile_numel(src(c, 0)) % pack)
		return "pack does not divide the tile";
	for (int i = 0; i < in->n_src * pack; i++)
		if (!same_elem(c->code->regs[f->params[i]], src(c, i / (int)pack)) ||
		    !tile_same_shape(src(c, i / (int)pack), src(c, 0)))
			return "sources do not fit";
	for (int i = 0; i < in->n_dst * pack; i++)
		if (!same_elem(c->code->regs[f->results[i]], dst(c, i / (int)pack)) ||
		    !tile_same_shape(dst(c, i / (int)pack), src(c, 0)))
			return "results do not fit";
	return NULL;
}

/* A bool for each lane, and a mask of lanes to check. */
static const char *rule_ASSERT(const struct ctx *c)
{
	return is_bool(src(c, 0)) && mask_ok(c, 1) ? NULL : "needs i1";
}

static const char *rule_PRINT(const struct ctx *c) { (void)c; return NULL; }

typedef const char *rule_fn(const struct ctx *c);
/* The rule of each operation, from tileop.def. */
static rule_fn *const rules[TILE_OPS] = {
#define TILEOP(id, name, rule, d, smin, smax, cost, flags) [TOP_##id] = rule_##rule,
#include "tile/code/tileop.def"
#undef TILEOP
};

const char *tile_verify_rule(const struct tile_code *code, const struct tile_insn *in)
{
	struct ctx c = { .code = code, .in = in };
	return rules[in->op](&c);
}
