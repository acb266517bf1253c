/* Which names a candidate's functions bind themselves: a variable called `id` is no builtin. */
#ifndef VERIFY_RULES_BOUND_H
#define VERIFY_RULES_BOUND_H

#include "py/ast.h"

/* A function, lambda or comprehension whose own names a node sees, and those around it. */
struct bound_scope { const struct bound_scope *up; const struct py_node *node; };

/* Does one of the scopes bind the name? Then it never means the builtin there. */
int bound_name(const struct bound_scope *s, struct str name);

#endif
