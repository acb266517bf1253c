/* Owns the table of scalar types and the creation, comparison and printing of front-end types. Does
 * not own the rules of conversion between them: front/sem_cast.c does. */
#include "tile/code/types.h"

/* One row for each scalar type, from types.def. */
const struct sc_info sc_table[SCALARS] = {
#define SCALAR(id, nm, sg, mod, b, cls, mant) \
	[SC_##id] = { .name = nm, .sig = sg, .module = mod, .bits = b, .class = SCC_##cls, .mantissa = mant },
#include "tile/code/types.def"
#undef SCALAR
};

/* Scalar types are static, so that no arena is needed for them. */
static const struct ty scalars[SCALARS] = {
#define SCALAR(id, nm, sg, mod, b, cls, mant) [SC_##id] = { .kind = TY_SCALAR, .sc = SC_##id, .numel = 1 },
#include "tile/code/types.def"
#undef SCALAR
};

const struct ty *ty_sc(enum sc sc) { return &scalars[sc]; }

const struct ty *ty_ptr(struct arena *a, const struct ty *elem, int is_const)
{
	struct ty *t = arena_zalloc(a, sizeof *t);
	t->kind = TY_PTR;
	t->elem = elem;
	t->is_const = is_const;
	t->numel = 1;
	return t;
}

/* The shape is part of the allocation. */
const struct ty *ty_block(struct arena *a, const struct ty *elem, int rank, const int64_t *shape)
{
	struct ty *t;

	BUG_ON(rank < 1 || rank > TY_MAX_RANK);
	t = arena_zalloc(a, sizeof *t + (size_t)rank * sizeof *shape);
	t->kind = TY_BLOCK;
	t->elem = elem;
	t->rank = rank;
	t->numel = 1;
	for (int i = 0; i < rank; i++) {
		t->shape[i] = shape[i];
		t->numel *= shape[i];
	}
	return t;
}

/* x.to(tl.float16) of <['128'], fp32> gives <['128'], fp16>. */
const struct ty *ty_with(struct arena *a, const struct ty *t, const struct ty *elem)
{
	return t->kind == TY_BLOCK ? ty_block(a, elem, t->rank, t->shape) : elem;
}

/* Structural: types are not interned. */
int ty_eq(const struct ty *a, const struct ty *b)
{
	if (a == b)
		return 1;
	if (a->kind != b->kind)
		return 0;
	if (a->kind == TY_SCALAR)
		return a->sc == b->sc;
	if (a->kind == TY_PTR)
		return a->is_const == b->is_const && ty_eq(a->elem, b->elem);
	return a->rank == b->rank && !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape)
		&& ty_eq(a->elem, b->elem);
}

int ty_is_fp8(const struct ty *t) { return ty_is_float(t) && ty_bits(t) == 8; }
int ty_is_std_float(const struct ty *t) { return ty_is_float(t) && ty_bits(t) > 8; }

int sc_by_name(struct str name)
{
	for (int i = 0; i < SCALARS; i++)
		if (str_is(name, sc_table[i].name))
			return i;
	return -1;
}

int sc_by_module(struct str name)
{
	for (int i = 0; i < SCALARS; i++)
		if (str_is(name, sc_table[i].module))
			return i;
	return -1;
}

/* A signature writes booleans as "u1"; the table has Triton's own "i1". */
int sc_by_sig(struct str name)
{
	if (str_is(name, "u1"))
		return SC_INT1;
	for (int i = 0; i < SCALARS; i++)
		if (str_is(name, sc_table[i].sig))
			return i;
	return -1;
}

/* The other names are those of Triton's type aliases and of PyTorch's fp8 types. */
int sc_by_alias(struct str name)
{
	int sc;

	static const struct { const char *alias; enum sc sc; } extra[] = {
		{ "bool", SC_INT1 }, { "uint1", SC_INT1 }, { "u1", SC_INT1 },
		{ "half", SC_FP16 }, { "float", SC_FP32 }, { "double", SC_FP64 }, { "int", SC_INT32 },
		{ "float8_e4m3fn", SC_FP8E4NV }, { "float8_e5m2", SC_FP8E5 },
		{ "float8_e4m3fnuz", SC_FP8E4B8 }, { "float8_e5m2fnuz", SC_FP8E5B16 },
	};
	for (size_t i = 0; i < COUNT_OF(extra); i++)
		if (str_is(name, extra[i].alias))
			return extra[i].sc;
	sc = sc_by_sig(name);
	if (sc < 0)
		sc = sc_by_name(name);
	return sc < 0 ? sc_by_module(name) : sc;
}

/* Triton keeps the dimensions in type names as strings: ['128', '64']. */
static void shape_str(const struct ty *t, struct buf *out)
{
	buf_addc(out, '[');
	for (int i = 0; i < t->rank; i++)
		buf_addf(out, "%s'%lld'", i ? ", " : "", (long long)t->shape[i]);
	buf_addc(out, ']');
}

void ty_str(const struct ty *t, struct buf *out)
{
	if (t->kind == TY_SCALAR) {
		buf_adds(out, sc_table[t->sc].name);
	} else if (t->kind == TY_PTR) {
		buf_adds(out, t->is_const ? "const_pointer<" : "pointer<");
		ty_str(t->elem, out);
		buf_addc(out, '>');
	} else {
		buf_addc(out, '<');
		shape_str(t, out);
		buf_adds(out, ", ");
		ty_str(t->elem, out);
		buf_addc(out, '>');
	}
}

/* Only scalars have another repr() than str(). */
void ty_repr(const struct ty *t, struct buf *out)
{
	if (t->kind == TY_SCALAR)
		buf_addf(out, "triton.language.%s", sc_table[t->sc].module);
	else
		ty_str(t, out);
}

/* MLIR has no signs on integers and no fp8e4b15, which Triton passes as i8. */
void ty_mlir(const struct ty *t, struct buf *out)
{
	static const char *const floats[SCALARS] = {
		[SC_FP8E5] = "f8E5M2", [SC_FP8E5B16] = "f8E5M2FNUZ", [SC_FP8E4NV] = "f8E4M3FN",
		[SC_FP8E4B8] = "f8E4M3FNUZ", [SC_FP8E4B15] = "i8", [SC_FP16] = "f16",
		[SC_BF16] = "bf16", [SC_FP32] = "f32", [SC_FP64] = "f64",
	};
	if (t->kind == TY_SCALAR) {
		if (floats[t->sc])
			buf_adds(out, floats[t->sc]);
		else
			buf_addf(out, "i%d", sc_table[t->sc].bits);
	} else if (t->kind == TY_PTR) {
		buf_adds(out, "!tt.ptr<");
		ty_mlir(t->elem, out);
		buf_addc(out, '>');
	} else {
		buf_adds(out, "tensor<");
		for (int i = 0; i < t->rank; i++)
			buf_addf(out, "%lldx", (long long)t->shape[i]);
		ty_mlir(t->elem, out);
		buf_addc(out, '>');
	}
}
