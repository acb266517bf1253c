/* The work share: the part of the reference's work that the kernels do. */
#ifndef VERIFY_FUNNEL_WORK_SHARE_H
#define VERIFY_FUNNEL_WORK_SHARE_H

#include "verify/funnel/funnel.h"

/* Writes kernel_share of the verdict, from a run at the sizes that the reference's work was counted
 * at. Fails if operators of the host do the reference's work. */
enum step work_share_judge(struct funnel *f, const struct outcome *o, const struct results *expected,
			   const struct results *got, struct trial_result *r);

#endif
