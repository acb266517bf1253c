/* Who did the work: the share of the reference's operations and bytes that the kernels did. */
#ifndef VERIFY_FUNNEL_WORK_SHARE_H
#define VERIFY_FUNNEL_WORK_SHARE_H

#include "verify/funnel/funnel.h"

/* Notes kernel_share in the verdict, from a run at the size that the reference's work was counted
 * at. 0: the kernels do their part. 1: the host does the reference's work, the verdict says so. */
int work_share_judge(struct funnel *f, const struct outcome *o, const struct results *expected,
		     const struct results *got);

#endif
