/* Rules about the tensors of one call of a bound function. */
#ifndef INTERP_BIND_CHECK_H
#define INTERP_BIND_CHECK_H

#include "interp/sig.h"
#include "interp/state.h"

/* What the call does to values, as enum bind_flag: its row's kind, and what its arguments make of it. */
unsigned bind_kind(const struct bind_row *row, const struct sig *s, const struct val *a);
/* Before the function runs: 0, or -1 with PyTorch's error or the judge's refusal pending. Notes
 * the device and gradients of its results. */
int bind_check(struct host *h, const struct bind_row *row, unsigned flags, const struct sig *s, const struct val *a);
/* After it ran. */
int bind_check_result(struct host *h, const struct bind_row *row, unsigned flags, const struct sig *s,
		      const struct val *a, struct val out);

#endif
