/* Checks of a finished tree: what CPython 3.11 refuses after its parser has accepted a file.
 * They run in CPython's order (future statements, symbol table, code), so that of several
 * faults the same one is reported. Each leaves by py_fail with CPython's words. */
#ifndef PY_TREE_CHECK_H
#define PY_TREE_CHECK_H

#include "py/parse.h"

/* All of them, on p->m->root. */
void py_check(struct parser *p);

/* symbols.c */
void py_check_symbols(struct parser *p, int future_annotations);
/* check_pattern.c: the pattern of one case; only the last may leave nothing for the next. */
void py_check_case(struct parser *p, const struct py_match_case *m, int last);
/* tree_check.c: a name that nothing may be bound to. */
void py_check_bindable(struct parser *p, struct str id, const struct py_node *at);

#endif
