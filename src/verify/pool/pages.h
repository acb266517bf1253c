/* The pages that judging processes take. A runner lives for a few milliseconds, and a fifth of what
 * it costs the machine would be its memory: pages that it shares with the process it came from are
 * copied when it writes to them, new ones are cleared at their first touch. */
#ifndef VERIFY_POOL_PAGES_H
#define VERIFY_POOL_PAGES_H

/* Moves text and constants of this program, and of the libraries that it calls most, to huge pages
 * of this process's own memory. A fork shares those at once; what is mapped from a file every
 * runner would have to touch anew, some pages at each fault. To be called where there is one
 * thread. Where the machine does not allow it, nothing is moved. Profilers that name functions by
 * the file behind a page find none. */
void pages_move_text(void);

/* Leaves out of every fork of this process the code and the variables of libraries that only the
 * rest of the program calls, the network's and the database's among them: a fork takes a
 * microsecond for each of their parts, and a runner has no use for them, the owner of one least of
 * all. */
void pages_leave_libraries(void);

/* At the beginning of a process that large tensors come and go in. */
void pages_keep(void);

/* Leaves a process that others are forked from no free memory but what was never used, so that they
 * write to few of its pages. To be called last before it forks. */
void pages_use_up(void);

/* Puts the heap as it is onto huge pages, where the machine has them: a fork shares each at once,
 * and one that is written to is copied in small ones as before. To be called where nobody writes to
 * it any more but those that are forked. */
void pages_join(void);

/* What the heap grows by next are huge pages, where the machine has them. None is touched here, but
 * so many bytes count as free. */
enum { PAGES_GROWN = 64 << 20 };
void pages_grow_huge(void);

/* The memory that most runners come to need, at once. */
void pages_fetch(void);

#endif
