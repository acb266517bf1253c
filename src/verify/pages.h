/* The pages that judging processes take. A runner lives for a few milliseconds, and a fifth of what it costs the machine would be its
 * memory: pages that it shares with the process it came from are copied when it writes to them, new ones are cleared at their first
 * touch. */
#ifndef VERIFY_PAGES_H
#define VERIFY_PAGES_H

/* At the beginning of a process that large tensors come and go in. */
void pages_keep(void);

/* Leaves a process that others are forked from no free memory but what was never used, so that they write to few of its pages.
 * To be called last before it forks. */
void pages_use_up(void);

/* What the heap grows by next are huge pages, where the machine has them. None is touched here. */
void pages_grow_huge(void);

/* The memory that most runners come to need, at once. */
void pages_fetch(void);

#endif
