/* A solution for any batch size, from two solutions for two of them.
 *
 * The texts must be equal except for numbers. A number that differs is expressed by the batch size: in
 * host code in place, in a kernel as a parameter of its own. 256 for a batch of 4 and 192 for one of 3 is
 * x.shape[0] * 64. */
#ifndef SOLVE_ANY_BATCH_H
#define SOLVE_ANY_BATCH_H

#include "base/err.h"
#include "base/str.h"

struct batch_text { struct str text; int64_t batch; };

/* `size` is the batch size as Python code. Returns 0, 1 if the texts differ otherwise, -1 on failure. */
int any_batch_make(const struct batch_text *a, const struct batch_text *b, const char *size, struct buf *out,
		 struct err *e);

#endif
