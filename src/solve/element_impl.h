/* Shared by the files that build expressions (position.c, element.c): the tables of unique expressions. */
#ifndef SOLVE_ELEMENT_IMPL_H
#define SOLVE_ELEMENT_IMPL_H

#include "solve/element.h"

/* Most terms of an index expression. An attempt that needs more is given up. */
enum { IX_TERMS = 24 };

/* The expression of the pool that equals *x, or x itself, which then belongs to the pool. */
const struct ix *expr_unique_ix(struct expr_pool *p, const struct ix *x);
const struct sx *expr_unique_sx(struct expr_pool *p, const struct sx *x);
/* Ends the attempt through the arena's trap. */
_Noreturn void expr_give_up(struct expr_pool *p);

#endif
