/* Checks of a finished tree: sources that CPython 3.11's parser accepts and its compiler
 * refuses. They run in CPython's order (future statements, symbol table, code), so that the
 * same one of several faults is reported. Each leaves by py_fail with CPython's words. */
#ifndef PY_TREE_CHECK_H
#define PY_TREE_CHECK_H

#include "py/parse.h"

/* Runs all checks on p->m->root. */
void py_check(struct parser *p);

/* symbols.c */
void py_check_symbols(struct parser *p, int future_annotations);
/* check_pattern.c: the pattern of one case; only the last case may match everything. */
void py_check_case(struct parser *p, const struct py_match_case *m, int last);
/* tree_check.c: refuses a name that cannot be bound, such as __debug__. */
void py_check_bindable(struct parser *p, struct str id, const struct py_node *at);

#endif
