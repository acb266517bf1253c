/* Values of the host engine: what a Python variable holds.
 *
 * A `struct val` is 16 bytes: small things are in it, the rest is a reference counted heap
 * object of the `struct host` it was made in. Who holds what:
 *   - every function here and every binding returns *borrowed* values: a new object is held
 *     by the host's list of temporaries until the statement (or the enclosing call) that made it ends;
 *   - containers, variables and attributes hold their own reference;
 *   - C code that keeps a value longer than its own call uses val_keep and val_drop.
 * So bindings neither retain nor release. On failure everything made is dropped by the same
 * rule. Objects in cycles live until host_free. */
#ifndef INTERP_VALUE_H
#define INTERP_VALUE_H

#include <stdint.h>

#include "base/str.h"
#include "py/ast.h"
#include "tensor/tensor.h"

struct host;
struct unit;

enum val_kind {
	V_UNSET,       /* no value: an unbound variable, an optional argument left out */
	V_NONE, V_ELLIPSIS, V_NOTIMPL,
	V_BOOL, V_INT, V_FLOAT,     /* INT, FLOAT: aux marks a scalar of numpy, a number with more methods (scalar.h) */
	V_DTYPE,       /* torch.float32: i is an enum dtype */
	V_DEVICE,      /* aux: enum host_device; i: index or -1 */
	/* from here on: heap objects */
	V_BIG,         /* an int outside int64 */
	V_STR, V_BYTES,
	V_TUPLE,       /* torch.Size and named tuples too: see their class */
	V_LIST, V_DICT, V_SET,
	V_SLICE, V_RANGE, V_ITER,
	V_FUNC, V_BUILTIN, V_METHOD, V_CLASS, V_OBJECT, V_MODULE,
	V_PROPERTY, V_STATICMETHOD, V_CLASSMETHOD, V_SUPER, V_CELL,
	V_VIEW,        /* keys, values or items of a dictionary, as its class says: dict_view.h */
	V_TENSOR,      /* nn.Parameter too */
	V_TL,          /* a name of triton.language (float32, load, ...): s is its dotted name */
	V_KINDS
};

enum host_device { HOST_CPU, HOST_CUDA, HOST_META };

struct val {
	enum val_kind kind;
	int aux;
	union {
		int64_t i;             /* BOOL, INT, DTYPE, DEVICE */
		double f;
		struct obj *o;
		struct str_obj *s;     /* STR, BYTES, TL */
		struct big_obj *big;
		struct seq_obj *seq;   /* TUPLE, LIST */
		struct dict_obj *d;    /* DICT, SET (values None) */
		struct slice_obj *slice;
		struct range_obj *range;
		struct iter_obj *iter;
		struct func_obj *fn;
		struct builtin_obj *b;
		struct method_obj *m;  /* METHOD; PROPERTY, STATICMETHOD, CLASSMETHOD, SUPER, CELL, VIEW: pair */
		struct class_obj *c;
		struct module_obj *mod;
		struct tensor_obj *t;
	} u;
};

#define V_IS_HEAP(v) ((v).kind >= V_BIG)

/* --- objects ------------------------------------------------------------------------ */

struct obj {
	int refs;
	enum val_kind kind;
	int young;                    /* made after host_seal */
	int counted;                  /* in the last census (host/census.h) */
	struct class_obj *cls;        /* type(x) */
	struct dict_obj *attrs;       /* x.__dict__, or NULL */
	struct obj *prev, *next;      /* all objects of the host */
};

struct str_obj { struct obj h; uint64_t hash; size_t n; int64_t chars; int interned; char p[]; };
struct big_obj { struct obj h; int neg; size_t n; uint32_t d[]; };     /* least digit first */
struct seq_obj { struct obj h; struct val *v; size_t n, cap; };
struct slice_obj { struct obj h; struct val start, stop, step; };
struct range_obj { struct obj h; int64_t start, stop, step; };
struct method_obj { struct obj h; struct val self, fn, extra; };

/* Insertion-ordered hash table; a removed entry has a V_UNSET key. */
struct dict_entry { struct val key, val; uint64_t hash; };
struct dict_obj {
	struct obj h;
	struct dict_entry *e;
	size_t n, cap;                /* entries, removed ones included */
	size_t live;
	uint32_t *slot;               /* index + 1 into e */
	size_t slots;
	uint64_t version;             /* bumped on every change of keys */
};

/* An iterator: next gives 1 and *out, 0 at the end, -1 with an exception pending. */
struct iter_obj {
	struct obj h;
	int (*next)(struct host *h, struct iter_obj *it, struct val *out);
	struct val src, a, b;         /* what it walks, and its state */
	int64_t i, n;
	struct unit *unit;            /* a generator expression: where it stands */
	const struct py_node *node;
};

struct bind_row;
struct builtin_obj { struct obj h; const struct bind_row *row; void *sig; struct val self; };

struct module_obj {
	struct obj h;                 /* attrs: the namespace */
	struct str_obj *name;         /* "torch.nn.functional" */
	const struct py_module *ast;  /* NULL: bindings only */
	void *lazy;                   /* definitions not evaluated yet */
	struct module_obj *of;        /* the module whose second name this is, or NULL */
	struct str known;             /* what the real one has (lib_line); empty: not said */
	int trusted;                  /* part of this program, not of a task or candidate */
};

/* Where gradients end: what a program asked them for itself, and views of that. */
enum tensor_leaf { LEAF_NOT, LEAF_OWN, LEAF_VIEW };

struct tensor_obj {
	struct obj h;
	struct tensor t;
	enum host_device device;
	unsigned char requires_grad;
	unsigned char is_param;
	unsigned char leaf;           /* enum tensor_leaf */
	unsigned char made_empty;     /* torch.empty and the like: contents undefined */
	unsigned char computed;       /* by a host compute operation, not a kernel or a draw */
	unsigned char transposed;     /* a weight of the reference, transposed: the judge's, who found it so */
	struct val grad;
};

/* --- making values ------------------------------------------------------------------- */

static inline struct val val_none(void) { return (struct val){ .kind = V_NONE }; }
static inline struct val val_bool(int b) { return (struct val){ .kind = V_BOOL, .u.i = b != 0 }; }
static inline struct val val_int(int64_t i) { return (struct val){ .kind = V_INT, .u.i = i }; }
static inline struct val val_float(double f) { return (struct val){ .kind = V_FLOAT, .u.f = f }; }
static inline struct val val_dtype(enum dtype d) { return (struct val){ .kind = V_DTYPE, .u.i = d }; }
static inline struct val val_device(enum host_device d, int index)
{
	return (struct val){ .kind = V_DEVICE, .aux = (int)d, .u.i = index };
}
static inline struct val val_obj(struct obj *o) { return (struct val){ .kind = o->kind, .u.o = o }; }

/* Each returns 0, or -1 with an exception (or the end of memory) pending in the host. */
int val_str(struct host *h, struct str s, struct val *out);
int val_strf(struct host *h, struct val *out, const char *fmt, ...) PRINTF_LIKE(3, 4);
int val_joined(struct host *h, struct str a, struct str between, struct str b, struct val *out);
int val_tuple(struct host *h, const struct val *v, size_t n, struct val *out);
int val_list(struct host *h, const struct val *v, size_t n, struct val *out);
int val_dict(struct host *h, struct val *out);
int val_set(struct host *h, struct val *out);
int val_size(struct host *h, const int64_t *v, int n, struct val *out);      /* torch.Size */
/* Takes over the reference that `t` holds; the tensor's memory is charged to the host. */
int val_tensor(struct host *h, struct tensor *t, enum host_device dev, struct val *out);

int list_append(struct host *h, struct val list, struct val v);
int dict_set(struct host *h, struct val dict, struct val key, struct val v);
/* 1: found, *out set; 0: absent; -1: unhashable key. */
int dict_get(struct host *h, struct val dict, struct val key, struct val *out);
struct val *dict_find(struct val dict, const char *key);                      /* NULL: absent */
int dict_del(struct host *h, struct val dict, struct val key);                /* as dict_get */
static inline struct str val_text(struct val v) { return (struct str){ .p = v.u.s->p, .n = v.u.s->n }; }

void val_keep(struct val v);
void val_drop(struct host *h, struct val v);

/* --- asking -------------------------------------------------------------------------- */

struct class_obj *val_class(struct host *h, struct val v);
const char *val_type_name(struct host *h, struct val v);      /* "int", "Tensor", "Model" */
int val_is_number(struct val v);                              /* bool, int, big, float */
int val_truth(struct host *h, struct val v);                  /* 0, 1, -1 */
int val_equal(struct host *h, struct val a, struct val b);    /* 0, 1, -1 */
int val_repr(struct host *h, struct val v, struct buf *out);
int val_to_str(struct host *h, struct val v, struct buf *out);
int val_isinstance(struct host *h, struct val v, const char *class_name);    /* "nn.Module"'s full name */

#endif
