/* Memory pages of judging processes. A runner lives for a few milliseconds, and a fifth of its cost
 * would be its memory: pages shared with the zygote are copied when the runner writes to them, and
 * new pages are cleared at their first use. These functions avoid most of that cost. */
#ifndef VERIFY_POOL_PAGES_H
#define VERIFY_POOL_PAGES_H

/* Copies the code and constants of this program, and of the libraries it calls most, to huge pages
 * of private memory. A fork shares those at once; pages mapped from a file would cause faults in
 * every runner. Call it while there is one thread. If the machine does not allow it, nothing is
 * moved. Profilers that look up functions by the mapped file find none afterwards. */
void pages_move_text(void);

/* Keeps libraries that only the rest of the program uses, such as network and database, out of
 * every fork of this process. A fork takes a microsecond for each of their segments, and a
 * candidate that takes over a runner should not find them. */
void pages_leave_libraries(void);

/* Configures malloc to keep freed memory; call it first in a process that uses large tensors. */
void pages_keep(void);

/* Allocates all free memory between blocks of the heap, so that forked processes write to few
 * shared pages. Call it last before forking. */
void pages_use_up(void);

/* Puts the present heap onto huge pages if the machine has them. A fork shares each at once; a huge
 * page that is written to is copied in small pages as before. Call it when only forked processes
 * will write to the heap. */
void pages_join(void);

/* Makes the next PAGES_GROWN bytes of the heap huge pages if the machine has them. None is touched
 * here, but malloc counts these bytes as free. */
enum { PAGES_GROWN = 64 << 20 };
void pages_grow_huge(void);

/* Allocates at once the memory that most runners need. */
void pages_fetch(void);

#endif
