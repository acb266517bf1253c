/* The state of one program's run, shared by the files of src/interp, the torch bindings and
 * src/host. No other folder includes this header.
 *
 * Failures: a function returns -1 (or NULL) with one of two things set. Either an exception is
 * pending in h->fail.exc, which program code may catch, or h->fail.fatal is set (a limit, a
 * forbidden or unsupported name, a fault of ours), which nothing catches.
 *
 * Temporaries: every value that a C function hands back is immediate or held by h->heap.temps.
 * Each statement and each call drops the temporaries it added. A value read from a variable,
 * attribute or container is held too (host_hold), because running code may drop the original
 * meanwhile.
 *
 * Limits: fuel counts steps (fail.c), bytes count objects and tensors (heap.c), depth and stack
 * limit recursion. They do not depend on the machine, so a program fails at the same point
 * everywhere.
 *
 * Hollow tensors: in a dry run (o.hollow) tensors have shapes and dtypes but no contents. Operators
 * compute shapes only; kernels are launched on nothing. A program that needs a value fails with
 * contents_needed, unless the value follows only from sizes (solid.h).
 *
 * Sealing: after the module is built everything that exists is old (host_seal). While guarded,
 * code of the program may not change old objects, so it cannot keep results from one call of
 * forward to the next. */
#ifndef INTERP_STATE_H
#define INTERP_STATE_H

#include "interp/bind.h"
#include "interp/lib.h"
#include "interp/program.h"
#include "interp/ptrmap.h"

/* Names that the engine itself looks up, interned once per host: h->nm[NM___init__]. */
enum name_id {
#define NAME(id) NM_##id,
#include "interp/name.def"
#undef NAME
	NM_COUNT
};

/* The limits of a run and what it has used so far. */
struct host_limits {
	int64_t fuel, fuel_start;            /* steps left, and at the start of the run */
	size_t bytes, tensor_bytes, peak;    /* of objects; of tensors; the highest sum of both */
	int64_t largest;            /* largest tensor that was asked for, in bytes */
	uint64_t work;              /* work of operators not yet paid for in fuel */
	int depth;                  /* calls that are active */
	const char *stack_top, *stack_floor; /* C stack at entry; lowest address allowed */
	size_t stack_limit;         /* bytes of C stack that calls may use */
};

/* The failure that is pending, if any. */
struct host_failure {
	int fatal;                     /* ends the program; nothing catches it */
	struct diag diag;              /* the report of a fatal or reported failure */
	struct err err;                /* our own failure: the caller gets -1 */
	int failed;                    /* err is set */
	struct val exc;                /* the pending exception; V_UNSET: none */
	enum reason exc_reason;        /* REASON_ok: follows from its class */
	int exc_line, exc_col;         /* position in the program's own source */
	int exc_sure;                  /* every Python raises it here, so it may be caught */
};

enum { HEAP_STEP = 16, HEAP_SMALL = 16 };     /* size classes of small objects (heap.c) */

/* Every object of the host. */
struct host_heap {
	struct obj *objects;           /* doubly linked list of all objects */
	struct arena blocks;           /* memory that small objects are cut from */
	struct spare *spares[HEAP_SMALL];     /* freed small objects by size class */
	struct { struct obj **v; size_t n, cap; } temps, dead; /* held temporaries; objects to be freed */
	int freeing;                   /* 1 while the dead list is emptied, 2 while all is freed */
	struct dict_obj *interned;     /* str -> itself */
	struct ptr_map idents;         /* identifier of a tree -> interned str */
	int sealed, guarded;           /* set by host_seal and host_guard */
	int64_t entries;               /* calls from outside so far */
	uint64_t sealed_storage;       /* the newest storage at host_seal */
};

/* The built-in classes. */
struct host_types {
	struct dict_obj *natives;      /* dotted name -> built-in class */
	struct class_obj *exc_class[EXCS];    /* NULL until it is first needed (host_exc_class) */
	struct class_obj *kind_class[V_KINDS]; /* the class of plain values of each kind */
	struct class_obj *scalar_class[2];    /* numpy's int and float scalars; NULL until used */
	struct class_obj *type_class, *object_class, *size_class, *param_class, *nn_module;
};

/* Records of what the program did; host.h hands them out. */
struct host_record {
	struct buf printed;            /* text of print, up to a limit */
	int printing;                  /* inside print: the program cannot read the text */
	struct { struct host_op *v; size_t n, cap; } ops;          /* torch operators, one record per line */
	struct { struct host_launch *v; size_t n, cap; } launches; /* kernel launches in order */
	int64_t reads;                 /* elements read by Python; a float counts as 16 integers */
	int64_t guessed;               /* floats of hollow tensors that were taken as 0 */
	int tuned_most;                /* most configurations an autotuner chose from */
	int tuners;                    /* autotuners that were asked, ever */
	int tuned_place, tuned_several;   /* the last one with a choice, from 1; several had one */
	struct buf tuned, trying;         /* texts: chosen configurations; the one compiled now */
};

struct host_random { uint32_t mt[624]; int at, ready; double spare; }; /* Mersenne Twister of a random module */

/* Seeds of torch's generator. now: forward seeded it in this call. ever: in any call. unseeded:
 * forward drew from it in a call before it seeded it. */
struct host_seeds { int now, ever, unseeded; };

enum { HOST_SETTINGS = 32 };    /* there are fewer settings */

/* State of the bindings: the call in progress, torch settings, generators, jit functions. */
struct host_torch {
	const struct bind *call;       /* the binding that runs now */
	enum host_device call_device;  /* device of its results */
	int call_grad;                 /* its results require gradients */
	int grad_enabled;              /* torch.no_grad() clears it */
	enum dtype default_dtype;
	unsigned tf32;                 /* enum num_products, set by the program */
	/* settings that differ from their defaults, by the hash of their names */
	struct { uint64_t v[HOST_SETTINGS]; size_t n; } changed;
	uint64_t noise;                /* counter of noise streams */
	struct host_ext ext;
	struct host_random random, numpy_random;
	enum host_judged judged;       /* part of the judged program that runs */
	struct host_seeds seeds;
	struct ptr_map jits;           /* function -> its struct jit (triton_launch.c) */
	int allocator;                 /* triton.set_allocator was given one that allocates */
	struct arena jit_arena, launch_arena;
	int launching;                 /* launch_arena is in use; no program code runs meanwhile */
	struct { struct tensor *v; size_t n, cap; } launched;       /* tensors that the launch holds */
};

struct host {
	struct host_options o; /* as given to host_new, defaults filled in */
	struct host_lib *lib; /* library; own_lib: freed with the host */
	int own_lib;
	struct host_limits lim;
	struct host_failure fail;
	struct host_heap heap;
	struct host_types type;
	struct host_record did;
	struct host_torch torch;
	struct ptr_map *ran;           /* statements that ran, if they are recorded */
	struct host_frame *frame;      /* the innermost frame */
	int tries;                     /* active try statements that have handlers */
	struct unit *units;            /* sources of the program */
	struct dict_obj *modules;      /* dotted name -> module */
	struct module_obj *builtins;
	struct str_obj *nm[NM_COUNT];
	/* __add__, __radd__, __iadd__; for comparisons the method and its mirror */
	struct str_obj *op_name[PY_OPS][3];
};

#endif
