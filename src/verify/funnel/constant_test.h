/* The constant-tensor test: the candidate at full size with every input filled with one value, for
 * results that cannot be compared there in another way.
 *
 * On constant tensors a sum, a mean, a norm or a loss is a power of each size: constant, or
 * proportional to the size, to its root, to its square, or to one over these. The candidate shows
 * the power at smaller sizes, where it was found correct: each size in turn is changed there. All
 * instances of a kernel do the same on constant tensors, so running a few of them is enough. */
#ifndef VERIFY_FUNNEL_CONSTANT_TEST_H
#define VERIFY_FUNNEL_CONSTANT_TEST_H

#include "verify/funnel/funnel.h"

/* Tests the results whose bits are set. Fails if the candidate is wrong at full size. The verdict
 * gets what was compared, or why it could not be (constant_test.def). */
enum step constant_test(struct funnel *f, unsigned results);
/* The sizes at which results were compared: those of the original input set of f->judged. */
void constant_test_judged_sizes(const struct funnel *f, int64_t *size);

#endif
