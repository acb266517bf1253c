/* Size branches: comparisons of sizes that go one way at full size and the other way beyond it.
 *
 * A kernel that is written for the sizes of the task is a good kernel. But a candidate that
 * branches on a size, in host code or in a kernel, defines what happens at other sizes. Its result
 * there must be correct, or the candidate must refuse those sizes itself (raise, assert). So a
 * candidate that compares integers gets dry runs at larger sizes until a comparison goes the other
 * way. It is then run there, if that is affordable. */
#ifndef VERIFY_FUNNEL_SIZE_BRANCH_H
#define VERIFY_FUNNEL_SIZE_BRANCH_H

#include "verify/funnel/funnel.h"

/* Fails if the candidate is wrong at sizes that take the other way of a size branch. */
enum step size_branch_judge(struct funnel *f);

#endif
