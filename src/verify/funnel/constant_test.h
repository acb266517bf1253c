/* A candidate at the task's own sizes on tensors of one value each, where a result cannot be
 * compared there in another way.
 *
 * What a sum, a mean, a norm or a loss makes of such tensors goes as a power of each size: it is
 * the same, or as the size, its root, its square, one over these. Which of these it is, the
 * candidate shows at smaller sizes, where it is right, each size in turn being another. All
 * programs of a kernel do the same then, so that some stand for all, and later kernels read what
 * all have written. What the kernels read is counted as well (reads.h). */
#ifndef VERIFY_FUNNEL_CONSTANT_TEST_H
#define VERIFY_FUNNEL_CONSTANT_TEST_H

#include "verify/funnel/funnel.h"

/* Of the results that have a bit each. 0, 1: it is wrong there, the verdict says how; -1. The
 * verdict says what was compared, or why something was not (flat.def). */
int constant_test(struct funnel *f, unsigned results);

#endif
