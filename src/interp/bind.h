/* Binding C functions to Python names: one row per function, method or property.
 *
 *     static int f_relu(struct bind *b)
 *     {
 *             struct tensor *x, y;
 *             if (bind_tensor(b, 0, &x) || num_relu(&y, x, bind_e(b)))
 *                     return bind_fail(b);
 *             return bind_result(b, &y);
 *     }
 *     const struct bind_row torch_activation_rows[] = {
 *             { "torch.nn.functional.relu", "input, inplace=False", f_relu, BIND_COMPUTE },
 *             { "torch.Tensor.relu", "self", f_relu, BIND_COMPUTE },
 *             { "torch.Tensor.shape", "self", t_shape, BIND_PROPERTY },
 *             { "torch.nn.functional.sigmoid", "=torch.sigmoid" },
 *             { NULL }
 *     };
 * and one line BIND_TABLE(torch_activation_rows) in bind.def.
 *
 * Signatures are Python's: "input, dim=None, keepdim=False, *, dtype=None", "a, /, b",
 * "*size", "**kw". A default is None, True, False, a number, a 'string', () or "?", which means
 * left out (V_UNSET). Arguments arrive in the order of the signature, one slot each; a *star
 * slot holds a tuple, a **star slot a dict. A wrong call raises Python's error before the
 * function runs.
 *
 * A slot may name its types: "name: str", "seq: list | tuple", "data: torch.Tensor | None=None".
 * The names are those of native.def. The first slot of a member of a built-in type
 * ("list.append") has that type even if the signature does not say so. A slot without a type may
 * hold any value: the function checks its kind, or reads it by one of the bind_ functions below,
 * before it looks into the value. */
#ifndef INTERP_BIND_H
#define INTERP_BIND_H

#include "interp/value.h"

enum bind_flag {
	BIND_COMPUTE = 1,    /* computes elements: counts against the strict track */
	BIND_VIEW = 2,       /* shares storage with an argument */
	BIND_ALLOC = 4,      /* makes a tensor: zeros, empty, tensor */
	BIND_RANDOM = 8,     /* draws from the generator */
	BIND_INPLACE = 16,   /* changes slot 0 and returns it */
	BIND_PROPERTY = 32,  /* read without a call */
	BIND_CONST = 64,     /* a constant of a module: fn runs at first use */
	BIND_COPY = 128,     /* moves or converts elements without arithmetic: contiguous, to, cat */
	BIND_ANY_DEVICE = 256,   /* arguments need not be on one device */
	BIND_CLASSMETHOD = 512,  /* bound to the class */
	BIND_STATIC = 1024,      /* bound to nothing */
	BIND_CHANGES = 2048,     /* changes slot 0, which is not a tensor */
	BIND_INTERNAL = 4096,    /* for the prelude only; invisible to programs */
	BIND_MOVE = 8192,        /* a copy whose elements change position: flip, gather, cat */
	BIND_SIZED = 16384,      /* sizes of the result depend on values: masked_select */
	BIND_WINDOW = 32768      /* works on windows; a rest may be left over: conv2d */
};

struct bind;
typedef int bind_fn(struct bind *b);

struct bind_row {
	const char *name;          /* dotted; a type's member: "torch.Tensor.add", "str.join" */
	const char *sig;           /* or "=other.name": the same function under another name */
	bind_fn *fn;               /* NULL for an alias */
	unsigned flags;            /* enum bind_flag */
};

/* One call of a bound function. Returning 0 without setting `out` returns None. */
struct bind {
	struct host *h;
	const struct bind_row *row;
	struct val *a;             /* arguments by slot, borrowed */
	size_t n;
	struct val out;            /* the result */
	struct err e;              /* for functions that report a struct err */
	int unwritten, empty;      /* arguments have unwritten elements; one has no other */
	int carried;               /* the operator marked each element of its result itself */
};

/* --- failing: each returns -1 ---------------------------------------------------------- */

enum host_exc {
#define EXC(name, base, reason) EXC_##name,
#include "interp/exc.def"
#undef EXC
	EXCS
};

int bind_raise(struct bind *b, enum host_exc x, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* RuntimeError whose reason code is shape_error: sizes or types that do not fit. */
int bind_shape_error(struct bind *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Exists in torch, but not in this engine: ends the program with `unsupported`. */
int bind_unsupported(struct bind *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Passes a failure on: the pending exception, else b->e. Out of memory ends the program;
 * ERR_RANGE with a text about an index or dimension is an IndexError; all else is a
 * RuntimeError. */
int bind_fail(struct bind *b);
static inline struct err *bind_e(struct bind *b) { return &b->e; }

/* --- arguments: slot i as a C value; wrong types get torch's TypeError ------------------- */

static inline int bind_given(const struct bind *b, size_t i)
{
	return b->a[i].kind != V_UNSET && b->a[i].kind != V_NONE;
}
int bind_tensor(struct bind *b, size_t i, struct tensor **t);           /* borrowed */
int bind_opt_tensor(struct bind *b, size_t i, struct tensor **t);       /* NULL: None or left out */
int bind_int(struct bind *b, size_t i, int64_t *v);                     /* also 0-d integer tensors */
int bind_float(struct bind *b, size_t i, double *v);                    /* also ints, 0-d tensors */
/* An object with __array__ (numpy's ndarray) becomes its tensor; other values stay. */
int bind_unwrap(struct bind *b, struct val *v);
int bind_bool(struct bind *b, size_t i, int *v);
int bind_string(struct bind *b, size_t i, struct str *v);
int bind_dtype(struct bind *b, size_t i, enum dtype otherwise, enum dtype *v);
int bind_device(struct bind *b, size_t i, enum host_device *v); /* None: device of the call's tensors */

/* A Python number, or a tensor: the operand of add, mul, clamp, where, ... */
struct bind_num {
	struct tensor *t;          /* not NULL: a tensor */
	int is_float, is_bool;     /* kind of the number */
	int64_t i;
	double f;                  /* always set for a number */
};
int bind_num(struct bind *b, size_t i, struct bind_num *v);

struct bind_ints { int64_t v[TENSOR_DIMS]; int n; };
/* An int (n = 1) or a sequence of ints. */
int bind_ints(struct bind *b, size_t i, struct bind_ints *v);
/* An int repeated `want` times, or a sequence of 1 (repeated) or `want` ints: strides, kernels. */
int bind_ints_n(struct bind *b, size_t i, int want, struct bind_ints *v);
/* A *size slot: f(2, 3), f((2, 3)), f([2, 3]), f(torch.Size). */
int bind_shape(struct bind *b, size_t i, struct bind_ints *v);
/* A dimension of a tensor of `ndim` dimensions, made non-negative. */
int bind_dim(struct bind *b, size_t i, int ndim, int *dim);
/* None: all (n = 0); else an int or several, made non-negative and checked for repeats. */
int bind_dims(struct bind *b, size_t i, int ndim, struct bind_ints *v);
/* A list or tuple of tensors; *v points to storage of this call. */
int bind_tensors(struct bind *b, size_t i, struct tensor ***v, size_t *n);

/* --- results: every tensor passes through one of these ------------------------------------ */

/* A new tensor; takes over t's reference and sets b->out. Device and requires_grad follow from
 * the arguments. Oracle mode widens floats, noisy mode perturbs the results of BIND_COMPUTE
 * rows. The memory limit is checked and the operator recorded. */
int bind_result(struct bind *b, struct tensor *t);
/* The same for a second or third result: gives the value for a tuple or list. */
int bind_wrap(struct bind *b, struct tensor *t, struct val *v);
/* torch.return_types.NAME(fields...): a tuple with named members. Takes over the references. */
int bind_named(struct bind *b, const char *name, const char *const *fields, struct tensor *t, size_t n);
int bind_tuple(struct bind *b, struct tensor *t, size_t n);
/* Slot 0 was changed in place: applies noise and makes it the result. */
int bind_self(struct bind *b);

/* --- the host as bindings see it ------------------------------------------------------------ */

/* The dtype that an explicit dtype (x.to, dtype=) gets: in oracle mode every float becomes
 * fp64. */
enum dtype host_dtype(struct host *h, enum dtype asked);
/* The dtype that a tensor of storage type `dt` represents: in oracle mode fp64 represents the dtype
 * that the program believes in. Draws and constants follow it. */
enum dtype host_nominal(struct host *h, enum dtype dt);
/* Fills the tensor with poison or zero, so that a program does not see old memory. The bytes
 * count as never written if the host tracks that. */
void host_forget(struct host *h, const struct tensor *t);
enum dtype host_default_dtype(struct host *h);
struct pool *host_pool(struct host *h);
int host_is_hollow(struct host *h);               /* dry run: tensors have no contents */
unsigned host_tf32(struct host *h);               /* enum num_products */
/* Is there room for `bytes` more of tensors? Returns 0, or -1 with out_of_memory pending. Ask
 * before a large allocation whose size the program chose. */
int host_room(struct host *h, int64_t bytes);
/* The same for scratch memory, which a dry run needs and pays for as well. */
int host_scratch(struct host *h, int64_t bytes);
/* Announces that many multiply-adds or elements of work. Returns 0, or -1 with out_of_fuel
 * pending. The call pays for them when it ends. */
int host_spend(struct host *h, uint64_t work);
/* State that the torch bindings keep per host (the generator); freed with the host. */
struct host_ext { void *p; void (*release)(void *p); };
struct host_ext *host_ext(struct host *h);

/* Arguments of a call, all borrowed. For bindings that call functions or look into objects. */
struct call_args {
	const struct val *a;
	size_t n;
	const struct val *kw_names, *kw_vals;      /* names are STR */
	size_t n_kw;
};
int host_callv(struct host *h, struct val fn, const struct call_args *args, struct val *out);
/* Returns 1 if found, 0 if the attribute is missing, -1 on failure. */
int host_getattr(struct host *h, struct val v, const char *name, struct val *out);
/* Calls fn for each element of any iterable. A nonzero result stops and is returned. */
int host_each(struct host *h, struct val v, int (*fn)(void *ctx, struct val item), void *ctx);
int host_raise(struct host *h, enum host_exc x, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Asks host_options.compute: before an operator computes, and before n elements become Python
 * numbers. Returns 0, or -1 if it is refused. */
int host_may_compute(struct host *h, const char *name);
int host_may_read(struct host *h, enum dtype dt, int64_t n);
/* The only element of a tensor as a Python number. The only way from one to the other; it is
 * counted. */
int host_read(struct host *h, const struct tensor *t, struct val *out);
/* Nonzero, with the failure pending: the tensor has elements that were never written. Freed
 * memory still holds the results of earlier calls, so reading it is refused. */
int host_is_unwritten(struct host *h, const struct tensor *t);

#endif
