/* A solution for any sizes of the inputs, from solutions for a few sizes (see size_fit.h).
 *
 * The texts must be equal except for numbers. A number that differs is expressed by the sizes: in
 * host code in place, in a kernel as a parameter of its own. 256 for a batch of 4 and 192 for one of 3 is
 * batch_size * 64. */
#ifndef SOLVE_ANY_SIZE_H
#define SOLVE_ANY_SIZE_H

#include "base/err.h"
#include "base/str.h"
#include "solve/size_fit.h"

/* texts[size_samples(v)], one for each sample. Returns 0, 1 if they differ otherwise, -1 on failure. */
int any_size_make(const struct size_vars *v, const struct str *texts, struct buf *out, struct err *e);

#endif
