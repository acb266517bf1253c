/* Memory that was never written, through the operators of torch.
 *
 * What is computed of elements that nobody has written, or moved out of them, counts as never
 * written, so that no program finds out what lies in memory that was given back. Operators that
 * work element by element, copies, and those that pick elements say it of each element themselves
 * (tensor_carry_undef, num_ctx.carried). Of all others that compute, the whole result is, where any
 * element that they were given is; of others that move, where all are. */
#ifndef INTERP_UNWRITTEN_H
#define INTERP_UNWRITTEN_H

#include "interp/sig.h"

/* Before a call of this kind: which elements of its arguments were written? Notes it in *b. */
void unwritten_before(struct bind *b, unsigned kind, const struct sig *s);
/* After it: marks what it gave. 0, -1. */
int unwritten_after(struct bind *b, unsigned kind);

#endif
