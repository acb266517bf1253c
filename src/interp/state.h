/* The state of a program's run: what its files share with each other, with the bindings of torch
 * and with src/host. Nobody else includes this.
 *
 * Failing: functions return -1 (or NULL) with either an exception pending in h->fail.exc, which
 * program code may catch, or h->fail.fatal set (a limit, a forbidden or unsupported name, a fault
 * of ours), which nothing catches.
 *
 * Temporaries: every value a C function hands back is immediate or held by h->heap.temps. A statement
 * and a call drain what they added. A value read from a variable, attribute or container is
 * held as well (host_hold), because running code may drop the original meanwhile. */
#ifndef INTERP_STATE_H
#define INTERP_STATE_H

#include "interp/bind.h"
#include "interp/lib.h"
#include "interp/program.h"
#include "interp/ptrmap.h"

/* Names that the engine itself looks for, interned once. */
enum name_id {
#define NAME(id) NM_##id,
#include "interp/name.def"
#undef NAME
	NM_COUNT
};

/* What a run may use, and has used. */
struct host_limits {
	int64_t fuel, fuel_start;
	size_t bytes, tensor_bytes, peak;
	int64_t largest;            /* tensor that was asked for, in bytes */
	uint64_t work;              /* that was done and not paid for */
	int depth;
	const char *stack_top, *stack_floor;
	size_t stack_limit;
};

/* How a run fails. */
struct host_failure {
	int fatal;
	struct diag diag;
	struct err err;                /* ours: reported as -1 */
	int failed;
	struct val exc;                /* pending */
	enum reason exc_reason;        /* ok: from the class */
	int exc_line, exc_col;
	int exc_sure;                  /* it is raised wherever Python runs: by the program, or for what is nowhere */
};

enum { HEAP_STEP = 16, HEAP_SMALL = 16 };     /* sizes of small objects (heap.c) */

/* Every object there is. */
struct host_heap {
	struct obj *objects;
	struct arena blocks;           /* that small ones are cut from */
	struct spare *spares[HEAP_SMALL];     /* those that are gone, by size */
	struct { struct obj **v; size_t n, cap; } temps, dead;
	int freeing;
	struct dict_obj *interned;     /* str -> itself */
	struct ptr_map idents;         /* identifier of a tree -> interned str */
	int sealed, guarded;           /* host_seal, host_guard */
	int64_t entries;               /* calls from outside so far */
	uint64_t sealed_storage;       /* the newest storage then */
};

/* The built-in classes. */
struct host_types {
	struct dict_obj *natives;      /* dotted name -> built-in class */
	struct class_obj *exc_class[EXCS];    /* NULL: nobody has asked for it (host_exc_class) */
	struct class_obj *kind_class[V_KINDS];
	struct class_obj *scalar_class[2];    /* of numpy's int and float scalars, once there are any */
	struct class_obj *type_class, *object_class, *size_class, *param_class, *nn_module;
};

/* What the program did: host.h gives it out. */
struct host_record {
	struct buf printed;
	int printing;                  /* inside print: nobody reads the text */
	struct { struct host_op *v; size_t n, cap; } ops;
	struct { struct host_launch *v; size_t n, cap; } launches;
	int64_t reads;                 /* values of tensors that became Python numbers, a float as many integers */
	int guessed;                   /* a float was asked for that a hollow tensor does not have */
	int tuned_most;                /* programs that an autotuner chose from */
	int tuners;                    /* autotuners that were asked, ever */
	int tuned_place, tuned_several;   /* the last that had a choice, counted from 1; another had one, too */
	struct buf tuned, trying;
};

struct host_random { uint32_t mt[624]; int at, ready; double spare; };    /* of the random modules */

/* Of torch's generator: forward seeded it in this call, in any, drew from it in a call before it seeded it. */
struct host_seeds { int now, ever, unseeded; };

enum { HOST_SETTINGS = 32 };    /* there are fewer */

/* What the bindings keep: the call under way, settings of torch, generators, jit functions. */
struct host_torch {
	const struct bind *call;       /* the binding now running */
	enum host_device call_device;
	int call_grad;
	int grad_enabled;
	enum dtype default_dtype;
	unsigned tf32;                 /* enum num_products: asked for by the program */
	/* settings that are not what they were, by a hash of their names */
	struct { uint64_t v[HOST_SETTINGS]; size_t n; } changed;
	uint64_t noise;
	struct host_ext ext;
	struct host_random random, numpy_random;
	enum host_judged judged;
	struct host_seeds seeds;
	struct ptr_map jits;           /* function -> its struct jit (triton_launch.c) */
	int allocator;                 /* triton.set_allocator was called with one that gives memory */
	struct arena jit_arena, launch_arena;
	int launching;                 /* launch_arena is in use: no code of the program runs meanwhile */
	struct { struct tensor *v; size_t n, cap; } launched;       /* what the launch holds */
};

struct host {
	struct host_options o;
	struct host_lib *lib;
	int own_lib;
	struct host_limits lim;
	struct host_failure fail;
	struct host_heap heap;
	struct host_types type;
	struct host_record did;
	struct host_torch torch;
	struct host_frame *frame;      /* innermost */
	int tries;                     /* try statements around it that catch something */
	struct unit *units;
	struct dict_obj *modules;      /* dotted name -> module */
	struct module_obj *builtins;
	struct str_obj *nm[NM_COUNT];
	/* __add__, __radd__, __iadd__; comparisons: the first, and the mirrored one */
	struct str_obj *op_name[PY_OPS][3];
};

#endif
