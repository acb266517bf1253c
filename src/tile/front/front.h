/* The front end's working state: one compilation of one kernel under one specialisation.
 *
 * A compilation walks the syntax tree once, in the order and with the rules of Triton's own
 * code generator, and emits tile code as it goes. Whatever Triton refuses ends in front_fail,
 * which records the diagnostic and leaves by longjmp; memory comes from arenas, so nothing
 * needs unwinding. What Triton accepts but the machine cannot run is noted by
 * front_unsupported: typing goes on, emission stops.
 *
 * Files: front_*.c walk the tree (names, expressions, statements, calls), sem_*.c are
 * Triton's semantics over typed registers, builtin_*.c bind triton.language's functions to
 * them, compile.c specialises and caches. */
#ifndef TILE_FRONT_FRONT_H
#define TILE_FRONT_FRONT_H

#include <setjmp.h>

#include "tile/code/build.h"
#include "tile/front/lang.h"

enum { FRONT_MAX_DEPTH = 64, FRONT_MAX_NODES = 1000000 };

struct tile_engine;

/* A function being compiled: the kernel, or a helper inlined into it. */
struct front_frame {
	struct front_frame *up;
	const struct tile_fn *fn;
	const struct py_node *cur;      /* innermost node being visited: where an error is */
	int in_prelude;                 /* errors belong to the caller */
	int in_default;                 /* visiting a default value: globals are free */

	/* Names: slot of an identifier, and the value in each slot. */
	const char **names;
	unsigned *lengths;              /* of the names */
	size_t n_names, cap_names;
	struct lang_val *vars;               /* lscope */
	unsigned char *defs;            /* assigned in the current region (local_defs) */

	int loops;                      /* enclosing dynamic loops: `return` is refused there */
	int regions;                    /* enclosing dynamic ifs and loops of this frame */
	int block_depth;                /* depth of the block that `return` leaves; -1: none */
	int has_ret;                    /* ret_type is known */
	int ret_void;
	int returned;                   /* a return at the top level was reached */
	struct lang_val ret;                 /* what the call gives; registers when ret_regs */
	int ret_regs;
	int32_t loc;                    /* of the call that this frame came from */
	const struct lang_val *args;         /* key for recursion */
	size_t n_args;
};

/* The parts of a block pointer, all scalar registers. */
struct block_ptr {
	const struct ty *ty;
	tile_reg base;
	tile_reg shape[TILE_DIMS], stride[TILE_DIMS], offset[TILE_DIMS];
	enum tile_pad pad;              /* of a descriptor */
	int is_desc;                    /* offsets are given at each access */
};

struct front {
	struct tile_engine *g;
	struct arena *a;                /* scratch of this compilation */
	struct tile_builder *b;
	struct front_frame *frame;
	struct diag *d;
	jmp_buf trap;
	int version;                    /* 306 */
	int capability;                 /* 90 */
	int mute;                       /* above 0: nothing is emitted */
	int unsupported;                /* emission has stopped for good; *du says why */
	struct diag *du;
	struct diag late;               /* see front_late */
	int depth;                      /* open block, loop, if constructs */
	int in_func;                    /* inside a combine or map function: branches become selects */
	int calls;                      /* inlining depth */
	int64_t nodes;                  /* visited so far */
	struct { struct block_ptr *v; size_t n, cap; } block_ptrs;
	struct tile_insn scratch;       /* takes what muted code would set */
	const struct tile_launch *launch;
	void (*trace)(void *ctx, const char *what, const struct ty *ty, int line);   /* tests: stores, dots */
	void *trace_ctx;
};

/* --- failing (front.c) --------------------------------------------------------------- */

_Noreturn void front_fail(struct front *f, enum reason r, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The same with what to write instead. */
_Noreturn void front_fail_hint(struct front *f, enum reason r, const char *hint, const char *fmt,
			       ...) PRINTF_LIKE(4, 5);
void front_unsupported(struct front *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* What only the verifier of Triton's IR refuses, after everything else was compiled: the first
 * of these is the diagnostic if nothing else is wrong. Emission stops. */
void front_late(struct front *f, enum reason r, const char *hint, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Text in the arena, for messages: str() of a value, repr() of a type, and so on. */
const char *front_str(struct front *f, const struct lang_val *v);
const char *front_ty(struct front *f, const struct ty *t);
const char *front_ty_repr(struct front *f, const struct ty *t);
const char *front_shape(struct front *f, const struct ty *t);       /* "['16', '32']" */
/* The line a diagnostic would name now. */
int front_line(const struct front *f);

/* --- walking (front_expr.c, front_stmt.c, front_name.c, front_call.c) ------------------- */

struct lang_val front_expr(struct front *f, const struct py_node *n);
/* The iterator of a for loop: a call whose function must make a range. */
struct lang_val front_iterator(struct front *f, const struct py_node *call);
void front_block(struct front *f, const struct py_list *body);
void front_return(struct front *f, const struct py_node *n);
/* A call that stands alone as a statement. */
struct lang_val front_call_unused(struct front *f, const struct py_node *n);
/* Counts a node; ends a compilation that never ends. */
void front_count(struct front *f);
struct lang_val front_name(struct front *f, struct str id);
struct lang_val front_attr(struct front *f, struct lang_val self, struct str attr);
int front_has_attr(struct front *f, struct lang_val self, struct str attr);
struct lang_val front_module_attr(struct front *f, struct str module, struct str attr);
struct lang_val front_from_host(struct front *f, const struct tile_val *v);
int front_slot(struct front_frame *fr, const char *id);                    /* -1: none */
static inline size_t front_name_length(const struct front_frame *fr, size_t slot) { return fr->lengths[slot]; }
void front_set(struct front *f, struct str id, struct lang_val v);
/* Python's binary operator `op` on any two values. */
struct lang_val front_binary(struct front *f, enum py_op op, struct lang_val a, struct lang_val b);
struct lang_val front_compare(struct front *f, enum py_op op, struct lang_val a, struct lang_val b);
struct lang_val front_subscript(struct front *f, struct lang_val self, struct lang_val index);

struct front_args {
	struct lang_val *v;
	size_t n;
	struct str *names;          /* keyword arguments: names[i] belongs to kw[i] */
	struct lang_val *kw;
	size_t n_kw;
};
struct lang_val front_call(struct front *f, struct lang_val fn, const struct front_args *args, int unused);
struct lang_val front_call_fn(struct front *f, const struct tile_fn *fn, const struct front_args *args);
/* Calls a jit function with positional values only: combine functions. */
struct lang_val front_call_with(struct front *f, const struct tile_fn *fn, size_t n, const struct lang_val *v);
/* Compiles the body of the kernel; arguments are bound already. */
void front_kernel(struct front *f);
/* Visits the parameters' annotations. */
void front_signature(struct front *f);
void front_frame_init(struct front *f, struct front_frame *fr, const struct tile_fn *fn);
void front_add_name(struct front *f, struct front_frame *fr, struct str id);
void front_scan_names(struct front *f, struct front_frame *fr, const struct py_list *body);
/* Slots that any statement of `body` assigns: sets mark[slot]. */
void front_assigned(const struct front_frame *fr, const struct py_list *body, unsigned char *mark);
int front_has_return(const struct py_list *body);
/* What Triton looks at before it compiles: names of modules that do not exist, wherever they
 * stand, and plain functions. */
void front_check_names(struct front *f, const struct tile_fn *fn);

/* --- compile-time arithmetic (front_const.c) ------------------------------------------ */

struct lang_val front_const_binary(struct front *f, enum py_op op, struct lang_val a, struct lang_val b);
struct lang_val front_const_compare(struct front *f, enum py_op op, struct lang_val a, struct lang_val b);
struct lang_val front_const_unary(struct front *f, enum py_op op, struct lang_val a);
/* Python's math module, on constants. */
int front_math_known(struct str name);
struct lang_val front_math(struct front *f, struct str name, const struct front_args *args);

#endif
