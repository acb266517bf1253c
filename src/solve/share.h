/* Kernels that differ in names and numbers only become one kernel.
 *
 * A network repeats its layers: two convolutions of different sizes give two kernels with the same
 * statements. Each number that differs becomes a constant parameter (N0: tl.constexpr), and the one kernel is
 * launched with the numbers of each place. */
#ifndef SOLVE_SHARE_H
#define SOLVE_SHARE_H

#include "base/err.h"
#include "base/str.h"

/* Rewrites a solution. *kernels is the number of its kernels. */
int share_kernels(struct buf *solution, int *kernels, struct err *e);

#endif
