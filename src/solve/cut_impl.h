/* Shared by cut.c, which decides the order, and cut_join.c, which joins a value to a kernel. */
#ifndef SOLVE_CUT_IMPL_H
#define SOLVE_CUT_IMPL_H

#include "solve/cut.h"

/* A sum of products of two different factors, or of the parts of one. */
int cut_is_product(const struct value *v);
/* to[]: the variables of a value stay themselves. */
void cut_same_vars(struct graph *g, const struct value *v, const struct ix **to);
/* The last kernel that the value reads from; -1: none. */
int cut_last_group(struct cut *p, int id);
/* The pass that computes a value; NULL: another kernel does. */
struct pass *cut_pass_of(struct kernel *k, int value);
/* Adds the value as a pass: variables with a place in to[] are X, the others R. */
void cut_add_pass(struct cut *p, int id, struct kernel *k, const struct ix **to);
/* The value joins the last kernel that it reads from. Returns 0 if it cannot. */
int cut_join(struct cut *p, int id);
/* Sums of the same data, such as the two means of a loss, are one kernel. The value may only read kernels
 * before that one. Returns 0 if no kernel is found. */
int cut_join_sibling(struct cut *p, int id);

#endif
