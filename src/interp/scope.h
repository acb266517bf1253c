/* Scopes: which variable a name means, decided once per function; and the source they belong
 * to. */
#ifndef INTERP_SCOPE_H
#define INTERP_SCOPE_H

#include "interp/ptrmap.h"
#include "py/ast.h"

enum scope_kind { SCOPE_MODULE, SCOPE_CLASS, SCOPE_FUNCTION };
/* CELL: a local that closures share. FREE: a variable of an enclosing function. NAME: in a
 * dictionary. */
enum var_kind { VAR_GLOBAL, VAR_LOCAL, VAR_CELL, VAR_FREE, VAR_NAME };

/* A variable; id is the pointer of its identifier, which is unique in its source. */
struct var { const char *id; enum var_kind kind; int index; };
/* The location of the cell in the enclosing frame: a free variable or a slot. */
struct capture { int from_free; int index; };

/* The variables of a module, class body, function or comprehension. Owned by its unit. */
struct scope {
	enum scope_kind kind;
	const struct py_node *node;
	struct scope *parent;
	struct var *vars;              /* hash table by the id pointer, open addressing */
	size_t mask, n_vars;           /* table size - 1; number of variables */
	int n_slots, n_params;         /* locals with parameters; parameters, which come first */
	struct capture *captures;      /* one per free variable, in index order */
	int n_free;
	struct str private_name;       /* class around it: __x means _C__x */
	int is_generator;              /* its body has a yield */
};

/* A source with its scopes. Prelude units belong to the library, all others to the host. */
struct unit {
	const struct py_module *ast;
	struct py_module own;          /* prelude: the tree, parsed here */
	struct arena arena;            /* memory of the scopes */
	struct ptr_map scopes;         /* node -> struct scope */
	struct map defs;               /* prelude: name -> top-level statement */
	struct unit *next;
};
/* The scope of a module, function, lambda, comprehension or class. NULL: out of memory. */
struct scope *scope_of(struct unit *u, const struct py_node *node);
const struct var *scope_find(const struct scope *s, const char *id);

#endif
