/* A task as the side that runs candidates may see it: its source, the inputs and weights of its
 * trials, what operators make of these on the way (made.h). No expected result and no tolerance:
 * what image.c does not write, a runner does not have. Where the decider needs to keep something
 * from candidates, it is enough not to add it here. */
#ifndef VERIFY_CANDIDATE_TASK_IMAGE_H
#define VERIFY_CANDIDATE_TASK_IMAGE_H

#include "verify/task/task.h"

int task_image_write(const struct task *t, struct buf *out, struct err *e);
/* A task that trials can be run on and not judged. It borrows the bytes, which are the same machine's
 * and begin on a page. NULL: *e. Give it back with task_free. */
struct task *task_image_open(struct judge *j, struct str bytes, struct err *e);

#endif
