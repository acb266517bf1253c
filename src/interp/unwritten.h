/* Memory that was never written, tracked through torch operators.
 *
 * A result computed or copied from unwritten elements counts as unwritten itself, so that no
 * program sees what lies in freed memory. Elementwise operators, copies, and operators that pick
 * elements mark each element themselves (tensor_carry_undef, num_ctx.carried). For any other
 * operator the whole result is marked: if it computes, when any element of its arguments is
 * unwritten; if it moves, when all are. */
#ifndef INTERP_UNWRITTEN_H
#define INTERP_UNWRITTEN_H

#include "interp/sig.h"

/* Before a call: notes in *b whether its arguments have unwritten elements. */
void unwritten_before(struct bind *b, unsigned kind, const struct sig *s);
/* After it: marks the result. Returns 0 or -1. */
int unwritten_after(struct bind *b, unsigned kind);

#endif
