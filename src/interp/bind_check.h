/* Rules about the tensors of one call: PyTorch's and the judge's. */
#ifndef INTERP_BIND_CHECK_H
#define INTERP_BIND_CHECK_H

#include "interp/sig.h"
#include "interp/state.h"

/* The effect of the call, as enum bind_flag: the flags of its row, and more that its arguments
 * imply. */
unsigned bind_kind(const struct bind_row *row, const struct sig *s, const struct val *a);
/* Before the function runs. Returns 0, or -1 with PyTorch's error or the judge's refusal
 * pending. Notes device and gradient flag of the results in h->torch. */
int bind_check(struct host *h, const struct bind_row *row, unsigned flags, const struct sig *s, const struct val *a);
/* After it ran: a conversion of floats to integers counts as computing. */
int bind_check_result(struct host *h, const struct bind_row *row, unsigned flags, const struct sig *s,
		      const struct val *a, struct val out);

#endif
