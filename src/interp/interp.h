/* Inside of the interpreter: what its files share with each other, with the bindings of torch
 * and with src/host. Nobody else includes this.
 *
 * Failing: functions return -1 (or NULL) with either an exception pending in h->exc, which
 * program code may catch, or h->fatal set (a limit, a forbidden or unsupported name, a fault
 * of ours), which nothing catches.
 *
 * Temporaries: every value a C function hands back is immediate or held by h->temps. A statement
 * and a call drain what they added. A value read from a variable, attribute or container is
 * held as well (host_hold), because running code may drop the original meanwhile. */
#ifndef INTERP_INTERP_H
#define INTERP_INTERP_H

#include "interp/bind.h"
#include "interp/lib.h"
#include "interp/program.h"

/* --- scopes (scope.c) ------------------------------------------------------------------- */

enum scope_kind { SCOPE_MODULE, SCOPE_CLASS, SCOPE_FUNCTION };
enum var_kind { VAR_GLOBAL, VAR_LOCAL, VAR_CELL, VAR_FREE, VAR_NAME };   /* CELL: a local that closures share */

struct var { const char *id; enum var_kind kind; int index; };
struct capture { int from_free; int index; };     /* where the enclosing frame keeps the cell */

struct scope {
	enum scope_kind kind;
	const struct py_node *node;
	struct scope *parent;
	struct var *vars;              /* open addressing by id pointer */
	size_t mask, n_vars;
	int n_slots, n_params;
	struct capture *captures;      /* free variables, in index order */
	int n_free;
	struct str private_name;       /* of the class whose body this stands in: __x is _C__x */
	int is_generator;
};

/* A source with its scopes; prelude units belong to the lib, others to the host. */
struct ptr_map { const void **key; void **val; size_t n, slots; };
void *ptr_map_get(const struct ptr_map *m, const void *key);
int ptr_map_put(struct ptr_map *m, const void *key, void *val);
void ptr_map_release(struct ptr_map *m);

struct unit {
	const struct py_module *ast;
	struct py_module own;          /* prelude: parsed here */
	struct arena arena;
	struct ptr_map scopes;         /* node -> struct scope */
	struct map defs;               /* prelude: name -> top-level statement */
	struct unit *next;
};
/* The scope of a module, function, lambda, comprehension or class; NULL: no memory. */
struct scope *scope_of(struct unit *u, const struct py_node *node);
const struct var *scope_find(const struct scope *s, const char *id);

/* --- objects that only the engine looks into ----------------------------------------------- */

struct func_obj {
	struct obj h;
	const struct py_node *node;    /* FunctionDef or Lambda */
	struct scope *scope;
	struct unit *unit;
	struct module_obj *mod;
	struct str_obj *name, *qualname;
	struct val *defaults;          /* of the last positional parameters */
	size_t n_defaults;
	struct val *kw_defaults;       /* one per keyword-only parameter, V_UNSET without */
	size_t n_kw;
	struct val *cells;             /* V_CELL each, as scope->captures */
	size_t n_cells;
	struct val class_cell;         /* for super() */
};

struct class_obj {
	struct obj h;                  /* attrs: the class's namespace */
	struct str_obj *name;
	const char *native;            /* dotted name of a built-in type, or NULL */
	enum val_kind kind;            /* of instances: V_OBJECT unless derived from a built-in type */
	struct class_obj **bases;
	size_t n_bases;
	struct class_obj **mro;        /* itself first */
	size_t n_mro;
	int is_exc;                    /* enum host_exc + 1 of a built-in exception */
	struct module_obj *mod;
};

#define CELL_VALUE(v) ((v).u.m->self)       /* of a V_CELL */

struct host_frame {
	struct host_frame *up;
	struct scope *scope;
	struct unit *unit;
	struct module_obj *mod;
	struct val *slots;
	struct val *cells;             /* of the function: its free variables */
	struct dict_obj *names;        /* module or class namespace */
	struct func_obj *fn;
	struct val class_cell;
	const struct py_node *node;    /* what is being evaluated, for messages */
	struct val ret;
	struct val handled;            /* the exception an except clause is handling */
	int handled_line, handled_col;
	struct val yields;             /* list of a generator's values */
	const struct host_override *ov;
	size_t n_ov;
};

enum flow { FLOW_FAIL = -1, FLOW_NEXT, FLOW_RETURN, FLOW_BREAK, FLOW_CONTINUE };

/* --- the lib and the host -------------------------------------------------------------------- */

struct host_lib {
	const struct lib_source *source;
	struct map rows;               /* dotted name -> struct bind_row */
	struct map modules;            /* names that are modules because something is in them */
	struct map prelude;            /* "module.name" -> struct unit that defines it */
	struct ptr_map sigs;           /* row -> struct sig */
	struct unit *units;            /* parsed prelude, by index in source->files */
	struct arena arena;
};

enum name_id {
#define NAME(id) NM_##id,
#include "interp/name.def"
#undef NAME
	NM_COUNT
};

struct host_random { uint32_t mt[624]; int at, ready; double spare; };    /* of the random modules */

struct host {
	struct host_options o;
	struct host_lib *lib;
	int own_lib;
	int64_t fuel, fuel_start;
	size_t bytes, tensor_bytes, peak;
	int depth;
	const char *stack_top, *stack_floor;
	size_t stack_limit;
	int fatal;
	int sealed, guarded;           /* host_seal, host_guard */
	uint64_t sealed_storage;       /* the newest storage then */
	struct diag diag;
	struct err err;                /* ours: reported as -1 */
	int failed;
	struct val exc;                /* pending */
	enum reason exc_reason;        /* ok: from the class */
	int exc_line, exc_col;
	struct obj *objects;
	struct { struct obj **v; size_t n, cap; } temps, dead;
	int freeing;
	struct host_frame *frame;
	struct dict_obj *interned;     /* str -> itself */
	struct ptr_map idents;         /* identifier of a tree -> interned str */
	struct str_obj *nm[NM_COUNT];
	struct str_obj *op_name[PY_OPS][3];   /* __add__, __radd__, __iadd__; comparisons: the first, and the mirrored one */
	struct dict_obj *modules;      /* dotted name -> module */
	struct dict_obj *natives;      /* dotted name -> built-in class */
	struct module_obj *builtins;
	struct class_obj *exc_class[EXCS];
	struct class_obj *kind_class[V_KINDS];
	struct class_obj *scalar_class[2];    /* of numpy's int and float scalars, once there are any */
	struct class_obj *type_class, *object_class, *size_class, *param_class, *nn_module;
	struct unit *units;
	struct buf printed;
	struct { struct host_op *v; size_t n, cap; } ops;
	struct { struct host_launch *v; size_t n, cap; } launches;
	int64_t reads;                 /* values of tensors that became Python numbers, weighted, where compute is watched */
	int tuned_most;
	struct buf tuned, trying;
	const struct bind *call;       /* the binding now running */
	enum host_device call_device;
	int call_grad;
	int grad_enabled;
	enum dtype default_dtype;
	uint64_t noise;
	struct host_ext ext;
	struct host_random random, numpy_random;
	struct ptr_map jits;           /* function -> its struct jit (launch.c) */
	struct arena jit_arena, launch_arena;
	struct val kept;               /* list of values that callers hold */
};

/* --- heap (heap.c) ------------------------------------------------------------------------------ */

/* A new object of at least sizeof(struct obj), zeroed, held as a temporary; NULL: failed. */
void *host_obj(struct host *h, enum val_kind kind, size_t size, struct class_obj *cls);
int host_charge(struct host *h, size_t bytes);           /* -1: out of memory */
void host_uncharge(struct host *h, size_t bytes);
void *host_alloc(struct host *h, size_t bytes);          /* charged, zeroed; NULL: failed */
void host_release(struct host *h, void *p, size_t bytes);
struct val host_hold(struct host *h, struct val v);      /* as a temporary */
size_t temps_mark(const struct host *h);
void temps_drain(struct host *h, size_t mark);
struct val temps_drain_to(struct host *h, size_t mark, struct val keep);
void val_assign(struct host *h, struct val *slot, struct val v);   /* keeps v, drops what was there */
void host_free_objects(struct host *h);
struct str_obj *host_intern(struct host *h, struct str s);         /* NULL: failed */
struct str_obj *host_ident(struct host *h, struct str id);         /* of a tree's identifier */
static inline struct val val_of_str(struct str_obj *s) { return (struct val){ .kind = V_STR, .u.s = s }; }
int val_bytes(struct host *h, struct str s, struct val *out);
int val_pair(struct host *h, enum val_kind kind, struct val self, struct val fn, struct val *out);
int val_slice(struct host *h, struct val a, struct val b, struct val c, struct val *out);
int val_iter(struct host *h, struct val src, int (*next)(struct host *, struct iter_obj *, struct val *), struct val *out);
int seq_reserve(struct host *h, struct seq_obj *s, size_t more);
int host_module(struct host *h, struct str name, struct module_obj **out);

/* --- dictionaries (dict.c) --------------------------------------------------------------------- */

int val_hash(struct host *h, struct val v, uint64_t *out);
struct val *attrs_get(const struct dict_obj *d, const struct str_obj *name);
int attrs_set(struct host *h, struct dict_obj *d, struct str_obj *name, struct val v);
int attrs_del(struct host *h, struct dict_obj *d, struct str_obj *name);   /* 1: was there */
struct dict_obj *dict_obj_new(struct host *h, enum val_kind kind);
void dict_obj_clear(struct host *h, struct dict_obj *d);
int dict_update(struct host *h, struct val into, struct val from);
/* The next live entry from *at on; NULL at the end. */
struct dict_entry *dict_next(struct dict_obj *d, size_t *at);

/* --- guarding (fail.c) -------------------------------------------------------------------------- */

/* Before program code changes an object: 0, or -1 where it is sealed. */
int host_may_change(struct host *h, struct val v);
int host_may_set(struct host *h, struct val v);          /* the same for its attributes */

/* --- failing (fail.c) ---------------------------------------------------------------------------- */

int host_fatal(struct host *h, enum reason r, const char *fmt, ...) PRINTF_LIKE(3, 4);
int host_vraise(struct host *h, enum host_exc x, enum reason r, const char *fmt, va_list ap);
int host_raise_val(struct host *h, struct val exc);
int host_raise_err(struct host *h, const struct err *e);
int host_catch(struct host *h, struct val *exc, int *line, int *col);   /* 0: took the pending exception */
int host_exc_is(struct host *h, enum host_exc x);                      /* is the pending one of that class? */
void host_exc_clear(struct host *h);
void host_position(struct host *h, int *line, int *col);
int host_report(struct host *h);                         /* pending exception to h->diag */
int host_enter(struct host *h);                          /* stack and recursion: -1 too deep */
static inline void host_leave(struct host *h) { h->depth--; }
int host_out_of_fuel(struct host *h);
static inline int host_step(struct host *h) { return --h->fuel < 0 ? host_out_of_fuel(h) : 0; }
int host_burn(struct host *h, int64_t steps);

/* --- evaluation (expr.c, exec.c, call.c, class.c, attr.c) --------------------------------------- */

int eval_expr(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);
int eval_comp(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);
int eval_call(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);
int eval_fstring(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);
int eval_subscript_index(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);
enum flow exec_block(struct host *h, struct host_frame *f, const struct py_list *body);
int exec_assign(struct host *h, struct host_frame *f, const struct py_node *target, struct val v);
int exec_match(struct host *h, struct host_frame *f, const struct py_node *n, const struct py_node **body);
int name_load(struct host *h, struct host_frame *f, struct str id, struct val *out);
int name_store(struct host *h, struct host_frame *f, struct str id, struct val v);
/* The name of an attribute as written in f: __x in class C is _C__x. NULL: failed. */
struct str_obj *attr_ident(struct host *h, const struct host_frame *f, struct str id);
int name_delete(struct host *h, struct host_frame *f, struct str id);
int make_function(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);
int make_class(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);
int class_new(struct host *h, struct str_obj *name, struct class_obj **bases, size_t n_bases, struct class_obj **out);
int call_function(struct host *h, struct func_obj *fn, const struct call_args *args, struct val *out);
int call_class(struct host *h, struct class_obj *c, const struct call_args *args, struct val *out);
int host_call1(struct host *h, struct val fn, struct val a, struct val *out);
int host_call_method(struct host *h, struct val self, struct str_obj *name, const struct val *a, size_t n, struct val *out);

struct val *class_lookup(struct host *h, struct class_obj *c, const struct str_obj *name, struct class_obj **where);
int class_is_sub(const struct class_obj *c, const struct class_obj *of);
struct class_obj *host_native_class(struct host *h, const char *native);    /* "torch.Tensor"; NULL: failed */
int host_make_natives(struct host *h);
/* 1 found, 0 absent, -1 failed. */
int attr_get(struct host *h, struct val v, struct str_obj *name, struct val *out);
int attr_load(struct host *h, struct val v, struct str_obj *name, struct val *out);      /* absent: AttributeError */
int attr_generic(struct host *h, struct val v, struct str_obj *name, struct val *out);   /* without __getattr__ */
int attr_set(struct host *h, struct val v, struct str_obj *name, struct val x);
int attr_set_generic(struct host *h, struct val v, struct str_obj *name, struct val x);
int attr_del(struct host *h, struct val v, struct str_obj *name);
int attr_del_generic(struct host *h, struct val v, struct str_obj *name);
/* The type's method `name` applied to v: 1 called, 0 there is none, -1 failed. */
int call_special(struct host *h, struct val v, enum name_id name, const struct val *a, size_t n, struct val *out);
int has_special(struct host *h, struct val v, enum name_id name);
int isinstance_of(struct host *h, struct val v, struct val cls);     /* cls: class, tuple, union; 0, 1, -1 */
int issubclass_of(struct host *h, struct val c, struct val cls);

/* --- operators (pynum.c, operator.c, order.c, item.c) ------------------------------------------------ */

int op_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);
int op_inplace(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);
int op_unary(struct host *h, enum py_op op, struct val a, struct val *out);
int op_compare(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);
int op_contains(struct host *h, struct val container, struct val item);   /* 0, 1, -1 */
int pynum_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);  /* both numbers */
int pynum_compare(struct val a, struct val b, int *unordered);              /* -1, 0, 1 */
double val_as_double(struct val v);
int val_as_int(struct host *h, struct val v, int64_t *out);               /* __index__ */
int item_get(struct host *h, struct val v, struct val index, struct val *out);
int item_set(struct host *h, struct val v, struct val index, struct val x);
int item_del(struct host *h, struct val v, struct val index);
int host_len(struct host *h, struct val v, int64_t *out);
/* start, stop, step of a slice over n items, as slice.indices; *count of them. */
int slice_indices(struct host *h, const struct slice_obj *s, int64_t n, int64_t *start, int64_t *stop, int64_t *step, int64_t *count);

/* --- iteration (iter.c) --------------------------------------------------------------------------- */

int host_iter(struct host *h, struct val v, struct val *it);
int host_next(struct host *h, struct val it, struct val *out);            /* 1, 0, -1 */
int list_extend(struct host *h, struct val list, struct val from);        /* by any iterable */
int list_sort(struct host *h, struct val list, struct val key, int reverse);
int dict_fill(struct host *h, struct val dict, struct val from);          /* a mapping or pairs */
int host_to_list(struct host *h, struct val v, struct val *out);          /* a fresh list */

/* --- text (val_text.c, format.c) ----------------------------------------------------------------------- */

void float_repr(double f, struct buf *out);
int host_format(struct host *h, struct val v, struct str spec, struct buf *out);
int host_percent(struct host *h, struct str fmt, struct val args, struct val *out);
int host_str_format(struct host *h, struct str fmt, const struct val *args, size_t n, struct val kw, struct val *out);
int text_room(struct host *h, const struct buf *b);     /* -1: more than memory holds */
void str_repr(struct str s, struct buf *out);
size_t utf8_count(struct str s);
size_t utf8_offset(struct str s, size_t chars);

/* --- big integers (big.c) --------------------------------------------------------------------------- */

int big_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);
int big_parse(struct host *h, struct str digits, int base, struct val *out);
int big_compare(struct val a, struct val b);
double big_to_double(struct val v);
int big_from_double(struct host *h, double f, struct val *out);
void big_format(struct host *h, struct val v, int base, struct buf *out);
int big_neg(struct host *h, struct val v, struct val *out);
int64_t big_bit_length(struct val v);

/* A copy of v in which what was shared stays shared (deepcopy.c). */
int copy_deep(struct host *h, struct val v, struct val *out);

/* --- modules and bindings (import.c, bind.c) --------------------------------------------------------- */

struct unit *lib_unit(struct host *h, struct str dotted);   /* that defines it, parsed; NULL: none */
int import_module(struct host *h, struct str name, struct val *out);
int module_attr(struct host *h, struct module_obj *m, struct str_obj *name, struct val *out);   /* 1, 0, -1 */
int builtin_lookup(struct host *h, struct str dotted, struct val *out);                      /* 1, 0, -1 */
int builtin_call(struct host *h, struct builtin_obj *b, const struct call_args *args, struct val *out);
int builtin_get_row(struct host *h, const struct bind_row *row, struct val *out);
int host_native_get(struct host *h, struct class_obj *c, struct str_obj *name, struct val *out);   /* 1, 0, -1 */
int exec_import(struct host *h, struct host_frame *f, const struct py_node *n);
struct host_op *host_record_op(struct host *h, const struct bind_row *row);      /* NULL: not recorded */
/* Adds the bytes and flops of one call to its record (work.c). */
void host_count_work(struct host_op *op, const struct val *a, size_t n, struct val out);

#endif
