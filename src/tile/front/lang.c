/* Owns the Python behaviour of front-end values: truth, equality, names of types, str() and repr().
 * The text must match Python's and Triton's, because error messages quote it. */
#include "tile/front/lang.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The truth of a tensor is not known at compile time. */
int lang_truth(const struct lang_val *v)
{
	switch (v->kind) {
	case LANG_NONE: return 0;
	case LANG_BOOL: case LANG_INT: return v->u.i != 0;
	case LANG_FLOAT: return v->u.f != 0;
	case LANG_STR: return v->u.s.n != 0;
	case LANG_TUPLE: return v->u.tup.n != 0;
	case LANG_TENSOR: return -1;
	default: return 1;
	}
}

/* Element by element, as Python does. */
static int tuples_equal(const struct lang_val *a, const struct lang_val *b)
{
	if (a->u.tup.n != b->u.tup.n)
		return 0;
	for (size_t i = 0; i < a->u.tup.n; i++)
		if (!lang_equal(&a->u.tup.v[i], &b->u.tup.v[i]))
			return 0;
	return 1;
}

/* 1 == 1.0 and True == 1 hold, as in Python. */
int lang_equal(const struct lang_val *a, const struct lang_val *b)
{
	if (lang_is_number(a) && lang_is_number(b)) {
		if (lang_is_int(a) && lang_is_int(b))
			return a->u.i == b->u.i;
		return lang_as_double(a) == lang_as_double(b);
	}
	if (a->kind != b->kind)
		return 0;
	switch (a->kind) {
	case LANG_NONE: return 1;
	case LANG_STR: case LANG_CLASS: case LANG_MODULE: case LANG_OTHER: return str_eq(a->u.s, b->u.s);
	case LANG_TYPE: return ty_eq(a->u.ty, b->u.ty);
	case LANG_TUPLE: return tuples_equal(a, b);
	case LANG_FN: return a->u.fn == b->u.fn;
	case LANG_BUILTIN: return a->u.b == b->u.b;
	case LANG_TENSOR: return a->u.t.id == b->u.t.id;
	case LANG_DESC: return a->u.desc->id == b->u.desc->id;
	default: return 0;
	}
}

/* type(v).__name__. */
const char *lang_type_name(const struct lang_val *v)
{
	switch (v->kind) {
	case LANG_NONE: return "NoneType";
	case LANG_BOOL: return "bool";
	case LANG_INT: return "int";
	case LANG_FLOAT: return "float";
	case LANG_STR: return "str";
	case LANG_TYPE: return v->u.ty->kind == TY_PTR ? "pointer_type" : v->u.ty->kind == TY_BLOCK ?
		"block_type" : "dtype";
	case LANG_TENSOR: return "tensor";
	case LANG_TUPLE: return "tuple";
	case LANG_SLICE: return "slice";
	case LANG_DESC: return "tensor_descriptor";
	case LANG_FN: return "JITFunction";
	case LANG_BUILTIN: return "function";
	case LANG_METHOD: return "method";
	case LANG_MODULE: return "module";
	case LANG_CLASS: return "type";
	case LANG_RANGE: return v->u.r->kind == RANGE_STATIC ? "static_range" : "range";
	case LANG_CONDITION: return "condition";
	default: return "object";
	}
}

/* printf has no conversion for 128-bit integers. */
void lang_int_repr(pyint i, struct buf *out)
{
	char digits[48];
	size_t n = sizeof digits;
	unsigned __int128 u = i < 0 ? -(unsigned __int128)i : (unsigned __int128)i;
	do
		digits[--n] = (char)('0' + (int)(u % 10));
	while (u /= 10);
	if (i < 0)
		buf_addc(out, '-');
	buf_add(out, digits + n, sizeof digits - n);
}

/* The shortest decimal text that reads back as the same double, as Python's repr: 0.1, not
 * 0.10000000000000001. A whole number gets ".0". */
void lang_float_repr(double f, struct buf *out)
{
	char text[40];

	if (isnan(f) || isinf(f)) {
		buf_adds(out, isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
		return;
	}
	/* 17 digits always suffice for a double. */
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, f);
		if (strtod(text, NULL) == f)
			break;
	}
	buf_adds(out, text);
	if (!strpbrk(text, ".en"))
		buf_adds(out, ".0");
}

/* Elements are written by repr(), as Python does. */
static void tuple_str(const struct lang_val *v, struct buf *out, char open, char close)
{
	buf_addc(out, open);
	for (size_t i = 0; i < v->u.tup.n; i++) {
		if (i)
			buf_adds(out, ", ");
		lang_repr_to(&v->u.tup.v[i], out);
	}
	buf_addc(out, close);
}

/* str() of a tensor in Triton: "fp32[constexpr[64]]". */
static void tensor_str(const struct lang_val *v, struct buf *out)
{
	const struct ty *t = v->u.t.ty;
	ty_str(ty_scalar(t), out);
	buf_addc(out, '[');
	for (int i = 0; i < t->rank; i++)
		buf_addf(out, "%sconstexpr[%lld]", i ? ", " : "", (long long)t->shape[i]);
	buf_addc(out, ']');
}

/* str() of the value without its constexpr wrapper. */
static void bare_str(const struct lang_val *v, struct buf *out)
{
	switch (v->kind) {
	case LANG_NONE: buf_adds(out, "None"); break;
	case LANG_BOOL: buf_adds(out, v->u.i ? "True" : "False"); break;
	case LANG_INT: lang_int_repr(v->u.i, out); break;
	case LANG_FLOAT: lang_float_repr(v->u.f, out); break;
	case LANG_STR: buf_addstr(out, v->u.s); break;
	case LANG_TYPE: ty_str(v->u.ty, out); break;
	case LANG_TENSOR: tensor_str(v, out); break;
	case LANG_TUPLE: tuple_str(v, out, '(', ')'); break;
	case LANG_FN: buf_addf(out, "JITFunction(%.*s)", STR_ARG(v->u.fn->name)); break;
	case LANG_MODULE: case LANG_CLASS: case LANG_OTHER:
		buf_addf(out, "<%s '%.*s'>", lang_type_name(v), STR_ARG(v->u.s)); break;
	default: buf_addf(out, "<%s object>", lang_type_name(v));
	}
}

/* A constexpr prints as constexpr[64]. */
void lang_str_to(const struct lang_val *v, struct buf *out)
{
	int constexpr = v->wrapped && v->kind != LANG_UNBOUND;
	if (constexpr)
		buf_adds(out, "constexpr[");
	bare_str(v, out);
	if (constexpr)
		buf_addc(out, ']');
}

/* repr() differs from str() only for strings and types. */
void lang_repr_to(const struct lang_val *v, struct buf *out)
{
	if (v->kind == LANG_STR && !v->wrapped)
		buf_addf(out, "'%.*s'", STR_ARG(v->u.s));
	else if (v->kind == LANG_TYPE && !v->wrapped)
		ty_repr(v->u.ty, out);
	else
		lang_str_to(v, out);
}
