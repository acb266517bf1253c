/* Values of the host engine: what a Python variable holds.
 *
 * A `struct val` has 16 bytes. Small values are stored in it; all others are reference-counted
 * heap objects of the `struct host` that made them. Ownership:
 *   - Every function here and every binding returns *borrowed* values. A new object is held by the host's
 *     list of temporaries until the statement (or the enclosing call) that made it ends.
 *   - Containers, variables and attributes hold their own reference.
 *   - C code that keeps a value beyond its own call uses val_keep and val_drop.
 * So bindings neither retain nor release. After a failure the same rule frees everything that was
 * made. Objects in reference cycles live until host_free. */
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
	V_BOOL, V_INT, V_FLOAT,     /* INT, FLOAT: aux marks a numpy scalar (scalar.h) */
	V_DTYPE,       /* torch.float32: i is an enum dtype */
	V_DEVICE,      /* aux: enum host_device; i: index or -1 */
	/* from here on: heap objects */
	V_BIG,         /* an int outside int64 */
	V_STR, V_BYTES,
	V_TUPLE,       /* also torch.Size and named tuples: the class tells */
	V_LIST, V_DICT, V_SET,
	V_SLICE, V_RANGE, V_ITER,
	V_FUNC, V_BUILTIN, V_METHOD, V_CLASS, V_OBJECT, V_MODULE,
	V_PROPERTY, V_STATICMETHOD, V_CLASSMETHOD, V_SUPER, V_CELL,
	V_VIEW,        /* keys, values or items of a dictionary (dict_view.h) */
	V_TENSOR,      /* nn.Parameter too */
	V_TL,          /* a name of triton.language (float32, load): s is its dotted name */
	V_KINDS
};

enum host_device { HOST_CPU, HOST_CUDA, HOST_META };

struct val {
	enum val_kind kind;
	int aux;                       /* DEVICE: enum host_device; numbers: numpy scalar */
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

/* The head of every heap object. */
struct obj {
	int refs;                     /* number of holders; 0: freed */
	enum val_kind kind;
	int young;                    /* made after host_seal, so it may be changed */
	int counted;                  /* seen by the last census (host/census.h) */
	struct class_obj *cls;        /* type(x) */
	struct dict_obj *attrs;       /* x.__dict__, or NULL */
	struct obj *prev, *next;      /* list of all objects of the host */
};

/* hash: xxh64 of the bytes; chars: code points, -1 until counted; p ends with a NUL */
struct str_obj { struct obj h; uint64_t hash; size_t n; int64_t chars; int interned; char p[]; };
struct big_obj { struct obj h; int neg; size_t n; uint32_t d[]; };     /* least digit first */
struct seq_obj { struct obj h; struct val *v; size_t n, cap; };
struct slice_obj { struct obj h; struct val start, stop, step; };
struct range_obj { struct obj h; int64_t start, stop, step; };
struct method_obj { struct obj h; struct val self, fn, extra; };

/* Insertion-ordered hash table (dict.c). A removed entry has a V_UNSET key. */
struct dict_entry { struct val key, val; uint64_t hash; };
struct dict_obj {
	struct obj h;
	struct dict_entry *e;
	size_t n, cap;                /* used and allocated entries, removed ones included */
	size_t live;                  /* entries that are not removed */
	uint32_t *slot;               /* hash table of entry index + 1; 0: empty */
	size_t slots;                 /* size of slot, a power of two */
	uint64_t version;             /* raised whenever the set of keys changes */
};

/* An iterator. next returns 1 with the element in *out, 0 at the end, -1 with an exception
 * pending. */
struct iter_obj {
	struct obj h;
	int (*next)(struct host *h, struct iter_obj *it, struct val *out);
	struct val src, a, b;         /* the value walked, and state */
	int64_t i, n;                 /* position and size, as `next` uses them */
	struct unit *unit;            /* generator expression: its source and node */
	const struct py_node *node;
};

struct bind_row;
/* A bound function; sig is the struct sig of its row. */
struct builtin_obj { struct obj h; const struct bind_row *row; void *sig; struct val self; };

struct module_obj {
	struct obj h;                 /* attrs: the namespace */
	struct str_obj *name;         /* "torch.nn.functional" */
	const struct py_module *ast;  /* NULL: bindings only */
	void *lazy;                   /* library: definitions not evaluated yet */
	struct module_obj *of;        /* module whose second name this is, or NULL */
	struct str known;             /* names of the real module (lib_line); empty: not listed */
	int trusted;                  /* part of our library, not of a task or candidate */
	/* a program may import the module, but using a name that it lacks here ends the program for
	 * this enum reason; REASON_ok: a missing name raises */
	int closed;
};

/* The end of a gradient path. OWN: the program set requires_grad itself; VIEW: a view of an OWN
 * tensor. */
enum tensor_leaf { LEAF_NOT, LEAF_OWN, LEAF_VIEW };

/* A tensor as the program sees it. */
struct tensor_obj {
	struct obj h;
	struct tensor t;              /* holds a reference to its storage */
	enum host_device device;      /* the device that the program believes it is on */
	unsigned char requires_grad;
	unsigned char is_param;
	unsigned char leaf;           /* enum tensor_leaf */
	unsigned char made_empty;     /* torch.empty and the like: contents undefined */
	unsigned char computed;       /* by a torch operator, not by a kernel or a draw */
	unsigned char transposed;     /* transposed weight of the reference; the judge sets it */
	struct val grad;              /* x.grad */
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

/* Constructors. Each returns 0, or -1 with an exception or out_of_memory pending. Results are
 * temporaries. */
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
/* Returns 1 with *out set, 0 if the key is absent, -1 if it is unhashable. */
int dict_get(struct host *h, struct val dict, struct val key, struct val *out);
struct val *dict_find(struct val dict, const char *key);                      /* NULL: absent */
int dict_del(struct host *h, struct val dict, struct val key);                /* returns as dict_get */
static inline struct str val_text(struct val v) { return (struct str){ .p = v.u.s->p, .n = v.u.s->n }; }

void val_keep(struct val v);                      /* adds a reference */
void val_drop(struct host *h, struct val v);      /* gives one up */

/* --- asking -------------------------------------------------------------------------- */

struct class_obj *val_class(struct host *h, struct val v);
const char *val_type_name(struct host *h, struct val v);      /* "int", "Tensor", "Model" */
int val_is_number(struct val v);                              /* bool, int, big, float */
int val_truth(struct host *h, struct val v);                  /* bool(v): 0, 1 or -1 */
int val_equal(struct host *h, struct val a, struct val b);    /* a == b: 0, 1 or -1 */
int val_repr(struct host *h, struct val v, struct buf *out);
int val_to_str(struct host *h, struct val v, struct buf *out);
int val_isinstance(struct host *h, struct val v, const char *class_name); /* by full name: "torch.nn.Module" */

#endif
