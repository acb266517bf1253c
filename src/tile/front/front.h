/* The working state of the front end: one compilation of one kernel under one specialisation.
 *
 * A compilation walks the syntax tree once, in the order and with the rules of Triton's own code
 * generator, and emits tile code as it goes. Example: the statement
 *
 *     y = tl.load(x + i, mask=i < n)
 *
 * becomes, with x in %0, n in %1 and the tile i in %5 (keywords are evaluated first, as in Triton),
 *
 *     %6 = splat %1
 *     %7 = lt %5, %6
 *     %8 = splat %0        the pointer, once for each lane
 *     %9 = addptr %8, %5
 *     %10 = load %9, %7    the value of the variable y
 *
 * Variables do not exist in tile code: a frame maps each name to a value, which is a register or a
 * compile-time constant. Control flow that depends on run-time values joins variables by moves into
 * common registers (front_if.c, front_loop.c). Calls of jit functions are inlined (front_call.c).
 *
 * Everything that Triton refuses ends in front_fail, which records the diagnostic and leaves by
 * longjmp; memory comes from arenas, so nothing needs unwinding. Code that Triton accepts but the
 * machine cannot run is recorded by front_unsupported: typing continues, emission stops.
 *
 * Files: front_*.c walk the tree (names, expressions, statements, calls), sem_*.c are Triton's
 * semantics over typed registers, builtin_*.c bind the functions of triton.language to them,
 * compile.c specialises and caches. */
#ifndef TILE_FRONT_FRONT_H
#define TILE_FRONT_FRONT_H

#include <setjmp.h>

#include "tile/code/build.h"
#include "tile/front/lang.h"

/* Limits: depth of inlined calls, and syntax nodes visited in one compilation. */
enum { FRONT_MAX_DEPTH = 64, FRONT_MAX_NODES = 1000000 };

struct tile_engine;

/* A function that is being compiled: the kernel, or a helper that is inlined into it. */
struct front_frame {
	struct front_frame *up;     /* the caller, NULL for the kernel */
	const struct tile_fn *fn;
	/* innermost node that is being visited: the location of an error */
	const struct py_node *cur;
	/* the function belongs to triton.language: errors are reported at its call */
	int in_prelude;
	int in_default;                 /* a default value is being visited: it may name any global */

	/* Local variables. A slot is an index into these arrays; names are interned, so that they compare by
	 * address. */
	const char **names;
	unsigned *lengths;              /* of the names, in bytes */
	size_t n_names, cap_names;
	struct lang_val *vars;               /* value of each variable (lscope in Triton) */
	unsigned char *defs;  /* variables assigned in the current region (local_defs in Triton) */

	int loops;  /* enclosing run-time loops: Triton refuses `return` in them */
	int regions;                    /* enclosing run-time ifs and loops of this frame */
	int block_depth;  /* nesting depth of the block that a `return` leaves; -1: none */
	int has_ret;                    /* a return was compiled: the type of the result is known */
	int ret_void;
	int returned;                   /* a return outside any run-time branch was reached */
	struct lang_val ret;            /* the result of the call */
	int ret_regs;                   /* `ret` is registers that every return moves its value into */
	int32_t loc;                    /* source location of the call that entered this frame */
	const struct lang_val *args;    /* of the call, to recognise recursion */
	size_t n_args;
};

/* The parts of a block pointer or descriptor, all scalar registers. */
struct block_ptr {
	const struct ty *ty;
	tile_reg base;
	tile_reg shape[TILE_DIMS], stride[TILE_DIMS], offset[TILE_DIMS];
	enum tile_pad pad;              /* descriptors: the value of elements outside the tensor */
	int is_desc;                    /* a descriptor: it has no offset, each access gives one */
};

/* One compilation. */
struct front {
	struct tile_engine *g;
	struct arena *a;                /* scratch of this compilation */
	struct tile_builder *b;
	struct front_frame *frame;
	struct diag *d;
	jmp_buf trap;
	int version;                    /* of Triton: 306 for 3.6 */
	int capability;                 /* of the GPU: 90 for 9.0 */
	int mute;                       /* above 0: nothing is emitted, only types are checked */
	int unsupported;                /* emission has stopped for good; *du says why */
	struct diag *du;
	struct diag late;               /* the first error of front_late */
	int depth;                      /* open block, loop and if constructs of the tile code */
	int in_func;  /* inside a combine or map function: branches become selects */
	int calls;                      /* depth of inlined calls */
	int64_t nodes;                  /* syntax nodes visited so far, at most FRONT_MAX_NODES */
	struct { struct block_ptr *v; size_t n, cap; } block_ptrs;
	struct tile_insn scratch;  /* receives the attributes of instructions that are not emitted */
	const struct tile_launch *launch;
	/* for tests: called for stored values and operands of dots */
	void (*trace)(void *ctx, const char *what, const struct ty *ty, int line);
	void *trace_ctx;
};

/* --- failing (front.c) --------------------------------------------------------------- */

/* Records a refusal of Triton at the current node and leaves the compilation. */
_Noreturn void front_fail(struct front *f, enum reason r, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The same with a hint: the code to write instead. */
_Noreturn void front_fail_hint(struct front *f, enum reason r, const char *hint, const char *fmt,
			       ...) PRINTF_LIKE(4, 5);
/* Records that Triton accepts the kernel but the machine cannot run it. Typing continues without
 * emission, so that errors further on are still found. */
void front_unsupported(struct front *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Records an error that only the verifier of Triton's IR finds, after everything was compiled: the
 * first of these is the diagnostic if nothing else is wrong. Emission stops. */
void front_late(struct front *f, enum reason r, const char *hint, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Text in the arena, for messages: str() of a value, repr() of a type, and so on. */
const char *front_str(struct front *f, const struct lang_val *v);
const char *front_ty(struct front *f, const struct ty *t);
const char *front_ty_repr(struct front *f, const struct ty *t);
const char *front_shape(struct front *f, const struct ty *t);       /* "['16', '32']" */
/* The line that a diagnostic at this point would name. */
int front_line(const struct front *f);

/* --- walking (front_expr.c, front_stmt.c, front_name.c, front_call.c) ------------------- */

struct lang_val front_expr(struct front *f, const struct py_node *n);
/* The iterator of a for loop: a call that must give a range. Returns NONE for any other function. */
struct lang_val front_iterator(struct front *f, const struct py_node *call);
void front_block(struct front *f, const struct py_list *body);
void front_return(struct front *f, const struct py_node *n);
/* A call as a statement of its own. */
struct lang_val front_call_unused(struct front *f, const struct py_node *n);
/* Counts a visited node; fails when a kernel unrolls without end. */
void front_count(struct front *f);
/* The value of a variable, a global or a builtin. Fails if the name is not defined. */
struct lang_val front_name(struct front *f, struct str id);
/* The attribute of a value: x.shape, tl.load, dtype.is_floating. front_attr fails if the value has
 * no such attribute. */
struct lang_val front_attr(struct front *f, struct lang_val self, struct str attr);
int front_has_attr(struct front *f, struct lang_val self, struct str attr);
struct lang_val front_module_attr(struct front *f, struct str module, struct str attr);
/* A value of the host program (a global or an argument) as a value of the front end. */
struct lang_val front_from_host(struct front *f, const struct tile_val *v);
/* Returns the slot of a local variable, or -1 if the function does not assign or take this name. */
int front_slot(struct front_frame *fr, const char *id);                    /* -1: none */
static inline size_t front_name_length(const struct front_frame *fr, size_t slot) { return fr->lengths[slot]; }
/* Assigns a local variable. */
void front_set(struct front *f, struct str id, struct lang_val v);
/* Python's binary operator `op` on any two values. */
struct lang_val front_binary(struct front *f, enum py_op op, struct lang_val a, struct lang_val b);
struct lang_val front_compare(struct front *f, enum py_op op, struct lang_val a, struct lang_val b);
struct lang_val front_subscript(struct front *f, struct lang_val self, struct lang_val index);

/* The arguments of a call, already evaluated. */
struct front_args {
	struct lang_val *v;
	size_t n;
	struct str *names;          /* keyword arguments: names[i] belongs to kw[i] */
	struct lang_val *kw;
	size_t n_kw;
};
/* Calls any value. `unused`: the call is a statement of its own. */
struct lang_val front_call(struct front *f, struct lang_val fn, const struct front_args *args, int unused);
/* Inlines a jit function. front_call_with passes positional values only, for combine functions. */
struct lang_val front_call_fn(struct front *f, const struct tile_fn *fn, const struct front_args *args);
struct lang_val front_call_with(struct front *f, const struct tile_fn *fn, size_t n, const struct lang_val *v);
/* Compiles the body of the kernel; arguments are bound already. */
void front_kernel(struct front *f);
/* Visits the parameters' annotations. */
void front_signature(struct front *f);
/* Prepares the frame of a function: one slot for each parameter and each name that the body
 * assigns. */
void front_frame_init(struct front *f, struct front_frame *fr, const struct tile_fn *fn);
void front_add_name(struct front *f, struct front_frame *fr, struct str id);
void front_scan_names(struct front *f, struct front_frame *fr, const struct py_list *body);
/* Sets mark[slot] for each variable that a statement of `body` assigns. */
void front_assigned(const struct front_frame *fr, const struct py_list *body, unsigned char *mark);
/* Whether a statement of `body`, or of a branch or loop in it, is a return. */
int front_has_return(const struct py_list *body);
/* The checks that Triton makes before it compiles: attributes of modules that do not exist,
 * anywhere in the source, and calls of plain functions. */
void front_check_names(struct front *f, const struct tile_fn *fn);

/* --- compile-time arithmetic (front_const.c) ------------------------------------------ */

/* Python's operators on constants. Errors have Python's messages. */
struct lang_val front_const_binary(struct front *f, enum py_op op, struct lang_val a, struct lang_val b);
struct lang_val front_const_compare(struct front *f, enum py_op op, struct lang_val a, struct lang_val b);
struct lang_val front_const_unary(struct front *f, enum py_op op, struct lang_val a);
/* Python's math module, on constants. */
int front_math_known(struct str name);
struct lang_val front_math(struct front *f, struct str name, const struct front_args *args);

#endif
