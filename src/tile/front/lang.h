/* Values of the front end: everything that a Python expression inside a kernel can be.
 *
 * Triton distinguishes run-time tensors from compile-time values, and among the latter constexpr
 * objects from bare Python objects: `wrapped` is that difference. It decides whether static_range,
 * multiple_of or isinstance see a constexpr, and nothing else; arithmetic treats both alike.
 * Example: in `BLOCK * 2 + x` the product is the wrapped INT 128, the sum is a TENSOR.
 *
 * Values are small and copied. The memory that they point to lives in the arena of the compilation,
 * or in the host (functions, strings of the source). */
#ifndef TILE_FRONT_LANG_H
#define TILE_FRONT_LANG_H

#include <stdint.h>

#include "base/mem.h"
#include "base/str.h"
#include "tile/tile.h"
#include "tile/code/types.h"

typedef __int128 pyint;

enum lang_kind {
	LANG_UNBOUND,      /* the variable or attribute does not exist */
	LANG_NONE, LANG_BOOL, LANG_INT, LANG_FLOAT, LANG_STR,
	LANG_TYPE,         /* a triton.language dtype, pointer type or block type */
	LANG_TENSOR,       /* run time: type and tile code register */
	LANG_TUPLE,        /* triton.language.tuple, Python tuples and lists */
	LANG_SLICE,
	LANG_DESC,         /* tensor descriptor */
	LANG_FN,           /* a jit function */
	LANG_BUILTIN,      /* a function of triton.language or Python that C code implements */
	LANG_METHOD,       /* a function bound to a value: x.sum */
	LANG_MODULE,
	LANG_CLASS,        /* a Python class for isinstance, by name */
	LANG_RANGE,        /* the result of range, tl.range, tl.static_range */
	LANG_CONDITION,    /* the result of tl.condition */
	LANG_OTHER         /* an object of the host that a kernel cannot use */
};

struct lang_val;
struct builtin;

/* A tuple; `fields` names the elements of a named tuple, else NULL. */
struct lang_tuple { const struct lang_val *v; size_t n; const struct str *fields; };

/* A tensor descriptor. Shape and strides are run-time values from the kernel or the launch. */
struct lang_desc {
	int id;                     /* index into front.block_ptrs */
	const struct ty *block;
	const struct lang_val *shape, *strides;   /* block->rank each */
};

struct lang_method;
struct lang_range;

struct lang_val {
	enum lang_kind kind;
	unsigned char wrapped;
	union {
		pyint i;            /* BOOL, INT */
		double f;
		struct str s;       /* STR, MODULE (dotted name), CLASS, OTHER */
		const struct ty *ty;/* TYPE */
		struct { const struct ty *ty; int id; } t;
		struct lang_tuple tup;
		const struct lang_val *slice;             /* lower, upper, step */
		const struct lang_desc *desc;
		const struct tile_fn *fn;
		const struct builtin *b;
		const struct lang_method *m;
		const struct lang_range *r;
		const struct lang_val *cond;
	} u;
};

/* x.load: either a builtin or a library function, with x as its first argument. */
struct lang_method { struct lang_val self; const struct builtin *b; const struct tile_fn *fn; };

enum range_kind { RANGE_PY, RANGE_TL, RANGE_STATIC };
/* The iterator of a loop; num_stages of tl.range asks for a pipeline. */
struct lang_range { enum range_kind kind; struct lang_val start, end, step, num_stages; };

static inline struct lang_val lang_none(void)
{
	return (struct lang_val){ .kind = LANG_NONE, .wrapped = 1 };
}

static inline struct lang_val lang_bool(int b)
{
	return (struct lang_val){ .kind = LANG_BOOL, .wrapped = 1, .u.i = !!b };
}

static inline struct lang_val lang_int(pyint i)
{
	return (struct lang_val){ .kind = LANG_INT, .wrapped = 1, .u.i = i };
}

static inline struct lang_val lang_float(double f)
{
	return (struct lang_val){ .kind = LANG_FLOAT, .wrapped = 1, .u.f = f };
}

static inline struct lang_val lang_str(struct str s)
{
	return (struct lang_val){ .kind = LANG_STR, .wrapped = 1, .u.s = s };
}

static inline struct lang_val lang_type(const struct ty *t)
{
	return (struct lang_val){ .kind = LANG_TYPE, .u.ty = t };
}

static inline struct lang_val lang_tensor(const struct ty *t, int id)
{
	return (struct lang_val){ .kind = LANG_TENSOR, .u.t = { t, id } };
}

static inline struct lang_val lang_tuple(const struct lang_val *v, size_t n)
{
	return (struct lang_val){ .kind = LANG_TUPLE, .u.tup = { v, n, NULL } };
}

static inline struct lang_val lang_module(struct str s)
{
	return (struct lang_val){ .kind = LANG_MODULE, .u.s = s };
}

/* The same value as a bare Python object. */
static inline struct lang_val lang_raw(struct lang_val v)
{
	v.wrapped = 0;
	return v;
}

static inline int lang_is_tensor(const struct lang_val *v) { return v->kind == LANG_TENSOR; }
static inline int lang_is_int(const struct lang_val *v) { return v->kind == LANG_BOOL || v->kind == LANG_INT; }
static inline int lang_is_number(const struct lang_val *v) { return lang_is_int(v) || v->kind == LANG_FLOAT; }

static inline double lang_as_double(const struct lang_val *v)
{
	return v->kind == LANG_FLOAT ? v->u.f : (double)v->u.i;
}

/* Python's truth value; -1 for a tensor, which has none at compile time. */
int lang_truth(const struct lang_val *v);
/* Python's ==, on compile-time values. */
int lang_equal(const struct lang_val *a, const struct lang_val *b);
/* type(v).__name__ as Python names it. */
const char *lang_type_name(const struct lang_val *v);
/* str(v), repr(v) as Python prints them. */
void lang_str_to(const struct lang_val *v, struct buf *out);
void lang_repr_to(const struct lang_val *v, struct buf *out);
/* repr of a float, and decimal digits of a wide integer. */
void lang_float_repr(double f, struct buf *out);
void lang_int_repr(pyint i, struct buf *out);

#endif
