/* Values of the front end: what a Python expression inside a kernel can be.
 *
 * Triton distinguishes run-time tensors from compile-time values, and among the latter
 * constexpr objects from bare Python objects: `wrapped` is that difference. It decides what
 * is a constexpr for static_range, multiple_of or isinstance, and nothing else; arithmetic
 * treats both alike. Values are small and copied; what they point to lives in the arena of
 * the compilation, or in the host (functions, strings of the source). */
#ifndef TILE_LANG_H
#define TILE_LANG_H

#include <stdint.h>

#include "base/mem.h"
#include "base/str.h"
#include "tile/tile.h"
#include "tile/types.h"

typedef __int128 pyint;

enum val_kind {
	V_UNBOUND,      /* no such name */
	V_NONE, V_BOOL, V_INT, V_FLOAT, V_STR,
	V_TYPE,         /* a triton.language dtype, pointer type or block type */
	V_TENSOR,       /* run time: type and tile code register */
	V_TUPLE,        /* triton.language.tuple, Python tuples and lists */
	V_SLICE,
	V_DESC,         /* tensor descriptor */
	V_FN,           /* a jit function */
	V_BUILTIN,      /* a function of triton.language or Python that is implemented here */
	V_METHOD,       /* one of these bound to a value */
	V_MODULE,
	V_CLASS,        /* a Python class that isinstance may ask for, by name */
	V_RANGE,        /* range, tl.range, tl.static_range called */
	V_CONDITION,    /* tl.condition called */
	V_OTHER         /* some object of the host that a kernel cannot use */
};

struct val;
struct builtin;

struct val_tuple { const struct val *v; size_t n; const struct str *fields; };

/* Shape and strides are the run-time values that the kernel gave or the launch carries. */
struct val_desc {
	int id;                     /* register of the descriptor */
	const struct ty *block;
	const struct val *shape, *strides;   /* block->rank each */
};

struct val_method;
struct val_range;

struct val {
	enum val_kind kind;
	unsigned char wrapped;
	union {
		pyint i;            /* BOOL, INT */
		double f;
		struct str s;       /* STR, MODULE (dotted name), CLASS, OTHER */
		const struct ty *ty;/* TYPE */
		struct { const struct ty *ty; int id; } t;
		struct val_tuple tup;
		const struct val *slice;             /* lower, upper, step */
		const struct val_desc *desc;
		const struct tile_fn *fn;
		const struct builtin *b;
		const struct val_method *m;
		const struct val_range *r;
		const struct val *cond;
	} u;
};

struct val_method { struct val self; const struct builtin *b; const struct tile_fn *fn; };

enum range_kind { RANGE_PY, RANGE_TL, RANGE_STATIC };
struct val_range { enum range_kind kind; struct val start, end, step, num_stages; };

static inline struct val val_none(void) { return (struct val){ .kind = V_NONE, .wrapped = 1 }; }
static inline struct val val_bool(int b) { return (struct val){ .kind = V_BOOL, .wrapped = 1, .u.i = !!b }; }
static inline struct val val_int(pyint i) { return (struct val){ .kind = V_INT, .wrapped = 1, .u.i = i }; }
static inline struct val val_float(double f) { return (struct val){ .kind = V_FLOAT, .wrapped = 1, .u.f = f }; }
static inline struct val val_str(struct str s) { return (struct val){ .kind = V_STR, .wrapped = 1, .u.s = s }; }
static inline struct val val_type(const struct ty *t) { return (struct val){ .kind = V_TYPE, .u.ty = t }; }
static inline struct val val_tensor(const struct ty *t, int id) { return (struct val){ .kind = V_TENSOR, .u.t = { t, id } }; }
static inline struct val val_tuple(const struct val *v, size_t n) { return (struct val){ .kind = V_TUPLE, .u.tup = { v, n, NULL } }; }
static inline struct val val_module(struct str s) { return (struct val){ .kind = V_MODULE, .u.s = s }; }
static inline struct val val_raw(struct val v) { v.wrapped = 0; return v; }

static inline int val_is_tensor(const struct val *v) { return v->kind == V_TENSOR; }
static inline int val_is_number(const struct val *v) { return v->kind == V_BOOL || v->kind == V_INT || v->kind == V_FLOAT; }
static inline int val_is_int(const struct val *v) { return v->kind == V_BOOL || v->kind == V_INT; }
static inline double val_as_double(const struct val *v) { return v->kind == V_FLOAT ? v->u.f : (double)v->u.i; }

/* Python's truth value; -1 where it has none here (tensors). */
int lang_truth(const struct val *v);
/* Python's ==, on compile-time values. */
int lang_equal(const struct val *a, const struct val *b);
/* type(v).__name__ as Python names it. */
const char *lang_type_name(const struct val *v);
/* str(v), repr(v) as Python prints them. */
void lang_str_to(const struct val *v, struct buf *out);
void lang_repr_to(const struct val *v, struct buf *out);
/* repr of a float, and decimal digits of a wide integer. */
void lang_float_repr(double f, struct buf *out);
void lang_int_repr(pyint i, struct buf *out);

#endif
