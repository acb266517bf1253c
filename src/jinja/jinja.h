/* The part of Jinja that chat templates use: an interpreter over values in one arena.
 *
 * Semantics are those of the environment in which transformers renders chat templates: blocks
 * trimmed (trim_blocks, lstrip_blocks), loop controls, no access to anything outside. A template is
 * an untrusted program: steps, depth and output are limited, and every mistake in it is an error
 * with the template's line. */
#ifndef JINJA_JINJA_H
#define JINJA_JINJA_H

#include <setjmp.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

struct json;

/* --- values ------------------------------------------------------------------------------- */

enum jv_kind { JV_UNDEFINED, JV_NONE, JV_BOOL, JV_INT, JV_REAL, JV_STR, JV_LIST, JV_DICT, JV_LOOP, JV_FUNC, JV_MACRO };

struct jv {
	enum jv_kind kind;
	union {
		int64_t i;                     /* bool and int */
		double f;
		struct str s;                  /* string; the name of an undefined value */
		struct jv_list *list;
		struct jv_dict *dict;
		struct jv_loop *loop;
		const struct jinja_func *func;
		const struct jinja_node *macro;
	};
};

struct jv_list { struct jv *v; size_t n; };
struct jv_pair { struct jv key, value; };
/* In order of insertion. A namespace is a dict that `set ns.x` may change. */
struct jv_dict { struct jv_pair *v; size_t n, cap; int is_namespace; };
struct jv_loop { const struct jv_list *items; size_t at; struct jv_loop *outer; };

#define JV(k, member, value) ((struct jv){ .kind = (k), .member = (value) })
#define JV_NIL ((struct jv){ .kind = JV_NONE })
#define JV_MISSING ((struct jv){ .kind = JV_UNDEFINED })

/* --- the tree ----------------------------------------------------------------------------- */

enum jinja_kind {
	/* statements; a list of them is chained by `next` */
	JN_TEXT, JN_PRINT, JN_IF, JN_FOR, JN_SET, JN_SET_ATTR, JN_SET_BLOCK, JN_MACRO, JN_BREAK, JN_CONTINUE, JN_BLOCK,
	/* expressions; argument lists are chained by `next` */
	JN_CONST, JN_NAME, JN_LIST, JN_DICT, JN_ATTR, JN_ITEM, JN_SLICE, JN_CALL, JN_KEYWORD, JN_FILTER, JN_TEST,
	JN_NOT, JN_NEG, JN_AND, JN_OR, JN_TERNARY, JN_BINARY, JN_COMPARE,
	JINJA_KINDS
};

struct jinja_node {
	enum jinja_kind kind;
	int line;
	struct str name;                       /* identifier, text, operator */
	struct jv value;                       /* constants */
	int negated;                           /* "is not", "not in" */
	struct jinja_node *a, *b, *c, *d;      /* operands, branches: said where each is parsed */
	struct jinja_node *next;
};

/* --- the machine -------------------------------------------------------------------------- */

struct jinja_frame { struct jv_dict vars; struct jinja_frame *outer; struct jv_loop *loop; };

enum jinja_flow { JINJA_ON, JINJA_BREAK, JINJA_CONTINUE };

struct jinja_text { struct buf b; struct jinja_text *next; };

struct jinja {
	struct arena arena;
	jmp_buf trap;                          /* jinja_fail jumps here */
	struct err *e;
	int line;                              /* of the node under way */
	struct jinja_frame *frame;
	struct buf *out;
	struct jinja_text *texts;              /* every buffer of this rendering */
	enum jinja_flow flow;
	int64_t fuel;
	int depth;
};

/* Stops rendering with an error that names the line. */
_Noreturn void jinja_fail(struct jinja *j, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Encloses every recursion: counts a level and a step, and fails if there are too many. */
void jinja_enter(struct jinja *j);
void jinja_leave(struct jinja *j);

/* A buffer that is released with the rendering, however that ends. */
struct buf *jinja_text(struct jinja *j);

/* Parses a template (jinja_parse.c) and returns its statements. */
struct jinja_node *jinja_parse(struct jinja *j, struct str source);
void jinja_run(struct jinja *j, const struct jinja_node *list);
struct jv jinja_eval(struct jinja *j, const struct jinja_node *n);
void jinja_set(struct jinja *j, struct str name, struct jv v);

/* --- values (jinja_value.c) --------------------------------------------------------------- */

struct jv jv_str(struct jinja *j, struct str s);               /* a copy */
struct jv jv_take(struct jinja *j, struct buf *b);             /* a buffer's text; empties it */
struct jv jv_new_list(struct jinja *j, size_t n);
struct jv jv_new_dict(struct jinja *j);
struct jv jv_from_json(struct jinja *j, const struct json *json);
void jv_put(struct jinja *j, struct jv_dict *d, struct jv key, struct jv value);
const struct jv *jv_get(const struct jv_dict *d, struct jv key);       /* NULL: absent */
int jv_truth(struct jv v);
int jv_equal(struct jinja *j, struct jv a, struct jv b);
int jv_compare(struct jinja *j, struct jv a, struct jv b);     /* <0, 0, >0; fails on mixed kinds */
int jv_contains(struct jinja *j, struct jv where, struct jv what);
size_t jv_length(struct jinja *j, struct jv v);
const char *jv_kind_name(enum jv_kind k);
/* The values of a for loop: items of a list, keys of a dict, characters of a string. */
struct jv_list *jv_iterate(struct jinja *j, struct jv v);
/* As Python's str() and repr(). */
void jv_print(struct jinja *j, struct jv v, struct buf *out);
void jv_repr(struct jinja *j, struct jv v, struct buf *out);
void jv_tojson(struct jinja *j, struct jv v, int indent, int level, struct buf *out);
struct jv jv_slice(struct jinja *j, struct jv v, const struct jv bounds[3]);
struct jv jv_item(struct jinja *j, struct jv v, struct jv key);  /* undefined if absent */

/* --- functions (jinja_builtin.c, jinja_filter.c) ------------------------------------------ */

enum { JINJA_ARGS = 8 };

struct jinja_args {
	struct jv v[JINJA_ARGS];
	int n;
	struct { struct str name; struct jv value; } kw[JINJA_ARGS];
	int nkw;
};

/* Filters and methods get their subject as `self`. */
typedef struct jv jinja_fn(struct jinja *j, struct jv self, const struct jinja_args *a);
/* A function takes lo..hi arguments, not counting self. */
struct jinja_func { const char *name; int lo, hi; jinja_fn *run; };

const struct jinja_func *jinja_filter(struct str name);
const struct jinja_func *jinja_test(struct str name);
const struct jinja_func *jinja_global(struct str name);
const struct jinja_func *jinja_method(enum jv_kind kind, struct str name);
struct jv jinja_apply(struct jinja *j, const struct jinja_func *f, struct jv self, const struct jinja_args *a);
/* The i-th argument (-1: none), or the one called `name`, or `otherwise`. */
struct jv jinja_arg(const struct jinja_args *a, int i, const char *name, struct jv otherwise);
struct str jinja_need_str(struct jinja *j, struct jv v, const char *what);
int64_t jinja_need_int(struct jinja *j, struct jv v, const char *what);

/* --- rendering ---------------------------------------------------------------------------- */

/* Renders `source` with variables set up by `prepare` (called with the machine ready). */
int jinja_render(struct str source, void (*prepare)(struct jinja *j, void *ctx), void *ctx,
		 struct buf *out, struct err *e);

#endif
