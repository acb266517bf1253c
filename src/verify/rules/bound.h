/* Names that a candidate's functions bind themselves. A variable called `id` is not the builtin
 * id(). */
#ifndef VERIFY_RULES_BOUND_H
#define VERIFY_RULES_BOUND_H

#include "py/ast.h"

/* A function, lambda or comprehension around a node; `up` is the next one outwards. */
struct bound_scope { const struct bound_scope *up; const struct py_node *node; };

/* Tells whether one of the scopes binds the name. If so, the name never means the builtin there. */
int bound_name(const struct bound_scope *s, struct str name);

#endif
