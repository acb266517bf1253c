/* Scopes: which variable a name means, decided once per function; and the source they belong to. */
#ifndef INTERP_SCOPE_H
#define INTERP_SCOPE_H

#include "interp/ptrmap.h"
#include "py/ast.h"

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

#endif
