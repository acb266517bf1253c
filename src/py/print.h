/* Internals of the printer: from a tree back to source that parses to the same tree.
 *
 * An expression is printed for a context that takes a certain precedence; an expression that
 * binds less tightly gets parentheses. Inside the braces of an f-string there are no backslashes
 * and not every quote may be used: `banned` says which delimiters the surrounding f-strings have. */
#ifndef PY_PRINT_H
#define PY_PRINT_H

#include "py/ast.h"

/* Precedences from loosest to tightest. */
enum prec {
	P_TUPLE, P_YIELD, P_TEST, P_OR, P_AND, P_NOT, P_CMP, P_BIT_OR, P_BIT_XOR, P_BIT_AND, P_SHIFT,
	P_ARITH, P_TERM, P_FACTOR, P_POWER, P_AWAIT, P_ATOM
};

struct py_printer {
	struct buf *out;
	int indent;              /* of the current block, in levels */
	int depth;               /* number of surrounding f-strings */
	unsigned banned;         /* one bit per delimiter, see print_string.c */
	int failed;              /* a string could not be written inside its f-string */
};

void py_print_expr(struct py_printer *p, const struct py_node *n, enum prec prec);
void py_print_bare(struct py_printer *p, const struct py_node *n);      /* a tuple without parentheses */
void py_print_value(struct py_printer *p, const struct py_node *n);     /* the same, or a yield */
void py_print_list(struct py_printer *p, const struct py_list *l, enum prec prec);
void py_print_params(struct py_printer *p, const struct py_arguments *a);
void py_print_call_arguments(struct py_printer *p, const struct py_list *args, const struct py_list *keywords);
void py_print_string(struct py_printer *p, const struct py_const *c, struct str kind);
void py_print_docstring(struct py_printer *p, const struct py_const *c);
void py_print_joined(struct py_printer *p, const struct py_node *n);
void py_print_stmt(struct py_printer *p, const struct py_node *n);
void py_print_pattern(struct py_printer *p, const struct py_node *n);

#endif
