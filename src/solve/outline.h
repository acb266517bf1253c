/* The outline of a module: the operators that it records, a line each, as a prompt shows them to a model.
 *
 *   # mul_2 4 3 (3 1 of 12) = mul(x 4 3 (3 1 of 12), self.scale 3 (1 of 3)) in kernel 1
 *   # relu_3 4 3 (3 1 of 12) = relu(mul_2) in kernel 1
 *
 * Names are those of the solver's solutions. The sizes, strides and number of elements of a value follow its
 * first occurrence; kernels contain them as numbers. */
#ifndef SOLVE_OUTLINE_H
#define SOLVE_OUTLINE_H

#include "solve/cut.h"

/* Appends the outline of a graph. Without `cut` (a recording that was stopped) it has every operator so
 * far, and no kernels. */
void outline_write(struct graph *g, struct cut *cut, struct buf *out);

#endif
