/* A candidate that is right at smaller sizes, looked at where it counts: some programs of each kernel at
 * the task's own sizes (sample.h), first, last and drawn ones. They must stay within their tensors, whose
 * sizes are those of the task, and what they write must be right, where a few rows of the task say what
 * is right for all. So a test on the size, in host code or in a kernel, decides nothing unseen. */
#ifndef VERIFY_FUNNEL_FULL_SIZE_H
#define VERIFY_FUNNEL_FULL_SIZE_H

#include "verify/funnel/funnel.h"

/* What the programs and the order of the rows are drawn by, never 0: the seed alone is known to who
 * reads the default of an option, so the candidate's own text is part of it, and a test that a
 * candidate makes on its programs changes which are drawn. */
uint64_t full_size_draw(uint64_t seed, struct str source, int trial);
/* Has the batch run. 0, 1: the runner crashed, the verdict says so; 2: it took too long, which says
 * nothing of one that was right wherever it was compared; -1. */
int full_size_ask(struct funnel *f);
/* Takes the i-th report of the batch, which gives parts alone. 0, 1: it is nonsense, the verdict says so; -1. */
int full_size_take(struct funnel *f, int i);
/* 0, 1: it is wrong there, the verdict says how; -1. */
int full_size_judge(struct funnel *f);

#endif
