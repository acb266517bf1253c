/* The Python syntax tree: the nodes of CPython 3.11's `ast`, in an arena.
 *
 * A node is `struct py_node` followed by its fields: node->u.BinOp.left. The lists of kinds and
 * fields come only from ast.def. A tree is immutable once parsed and lives as long as the arena of
 * its `struct py_module`. Identifiers are interned per module: equal names have equal .p, so
 * comparing pointers is enough within one module. */
#ifndef PY_AST_H
#define PY_AST_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum py_kind {
	PY_NONE,
#define PY_NODE(name, cat, fields) PY_##name,
#include "py/ast.def"
#undef PY_NODE
	PY_KINDS
};

enum py_op {
#define PY_OP(name, text, cat) PY_OP_##name,
#include "py/op.def"
#undef PY_OP
	PY_OPS
};

enum py_ctx { PY_LOAD, PY_STORE, PY_DEL };

/* Literal values. An int that does not fit int64 keeps its digits: decimal, or with its 0x, 0o
 * or 0b prefix, underscores removed. */
enum py_const_kind { PY_C_NONE, PY_C_TRUE, PY_C_FALSE, PY_C_ELLIPSIS, PY_C_INT, PY_C_BIGINT, PY_C_FLOAT,
		     PY_C_IMAG, PY_C_STR, PY_C_BYTES };

struct py_const {
	enum py_const_kind kind;
	int64_t i;
	double f;
	struct str s;          /* STR (UTF-8; lone surrogates as WTF-8), BYTES, digits of BIGINT */
};

struct py_node;

struct py_list { struct py_node **v; size_t n; };
struct py_ids { struct str *v; size_t n; };
struct py_oplist { enum py_op *v; size_t n; };

#define F_NODE(f) struct py_node *f;
#define F_OPT(f) struct py_node *f;
#define F_LIST(f) struct py_list f;
#define F_LISTO(f) struct py_list f;
#define F_ID(f) struct str f;
#define F_IDO(f) struct str f;
#define F_IDS(f) struct py_ids f;
#define F_INT(f) int f;
#define F_OP(f) enum py_op f;
#define F_OPS(f) struct py_oplist f;
#define F_CTX(f) enum py_ctx f;
#define F_CONST(f) struct py_const f;

#define PY_NODE(name, cat, fields) struct py_##name { fields };
#include "py/ast.def"
#undef PY_NODE

/* A node is allocated at the size of its kind, not of the union, so it is never copied whole. */
struct py_node {
	enum py_kind kind;
	int line, col;            /* as in ast: line from 1, column from 0 in UTF-8 bytes */
	int end_line, end_col;
	union {
#define PY_NODE(name, cat, fields) struct py_##name name;
#include "py/ast.def"
#undef PY_NODE
	} u;
};

#undef F_NODE
#undef F_OPT
#undef F_LIST
#undef F_LISTO
#undef F_ID
#undef F_IDO
#undef F_IDS
#undef F_INT
#undef F_OP
#undef F_OPS
#undef F_CTX
#undef F_CONST

/* The field table, by which dump, printer and comparison walk any node. */
enum py_field_kind {
	PY_F_NODE, PY_F_OPT, PY_F_LIST, PY_F_LISTO, PY_F_ID, PY_F_IDO, PY_F_IDS, PY_F_INT, PY_F_OP,
		PY_F_OPS, PY_F_CTX, PY_F_CONST
};
struct py_field { const char *name; enum py_field_kind kind; size_t offset; };   /* offset into u */
enum py_category { PY_IN_MOD, PY_IN_STMT, PY_IN_EXPR, PY_IN_AUX, PY_IN_PAT };
struct py_kind_info { const char *name; const struct py_field *fields; size_t n; enum py_category category; };
const struct py_kind_info *py_kind_info(enum py_kind kind);
const char *py_op_name(enum py_op op);       /* "Add" */
const char *py_op_text(enum py_op op);       /* "+" */

/* A parsed source file. `source` is the module's own copy as it was lexed: UTF-8 for every encoding
 * of the file, without byte order mark, newlines as \n. */
struct py_module {
	struct arena arena;
	struct str source;
	const char *path;          /* for messages */
	struct py_node *root;      /* Module */
};

/* Parses a whole file. On a syntax error returns -1 with e->line and e->column (from 1) set and
 * the text in CPython's words where practical; there is nothing to release then. The depth of
 * the tree is limited. Memory is limited to `limit` bytes (0: no limit). */
int py_parse(struct py_module *m, struct str source, const char *path, size_t limit, struct err *e);
/* The same without the checks that CPython's compiler makes on the finished tree. */
int py_parse_tree(struct py_module *m, struct str source, const char *path, size_t limit, struct err *e);
void py_release(struct py_module *m);

/* The source line `line` (from 1), without its newline, for carets. */
struct str py_line(const struct py_module *m, int line);

/* ast.dump(tree, include_attributes=True) as CPython prints it. */
void py_dump(const struct py_node *n, struct buf *out);
/* Source text that parses to the same tree (one statement or a whole module). */
void py_print(const struct py_node *n, struct buf *out);
/* Are both trees equal, except for positions? */
int py_equal(const struct py_node *a, const struct py_node *b);
/* Calls fn on every child node, in field order. */
void py_children(const struct py_node *n, void (*fn)(void *ctx, struct py_node *child), void *ctx);
/* The name that `import a.b`, `import a.b as c` or `from a import b` binds: a, c, b. */
struct str py_alias_name(const struct py_alias *a);

#endif
