/* Tests on sizes that go one way at the task's sizes, and the other way beyond them.
 *
 * A kernel that is made for the task's sizes is a good kernel. But who asks for the size, in host code or
 * in a kernel, says what is to happen at larger ones: that must be right as well, or be refused by the
 * candidate itself (raise, assert). So a candidate that compares integers is followed at larger sizes until
 * a comparison goes another way, and is run there, where that is not too large. */
#ifndef VERIFY_FUNNEL_SIZE_BRANCH_H
#define VERIFY_FUNNEL_SIZE_BRANCH_H

#include "verify/funnel/funnel.h"

/* Does the path hold a comparison of integers? */
int size_branch_any(const struct host_path *p);
/* 0, 1: the candidate is wrong behind one, the verdict says how; -1. */
int size_branch_judge(struct funnel *f);

#endif
