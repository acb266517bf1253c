/* The prepared copies of a task at other sizes, with the facts about its sizes. The base task owns one
 * such cache and frees it.
 *
 * The funnel decides which sizes it needs and fills the cache (funnel/sized_cache.h). This file only
 * holds the memory. */
#ifndef VERIFY_TASK_SIZED_TASKS_H
#define VERIFY_TASK_SIZED_TASKS_H

#include "verify/task/size_facts.h"

/* Copies that are kept; the oldest one goes first. */
enum { SIZED_TASKS_MOST = 12 };

struct sized_tasks {
	struct size_facts facts;
	struct { int64_t size[TASK_SIZES]; struct task *t; } at[SIZED_TASKS_MOST];    /* oldest first */
	int n;
	int reduced_known;                /* `reduced` was looked for */
	struct task *reduced;             /* full size except for independent axes; NULL: there is none */
	struct task *whole;               /* all input sets of a base task that is an outline; NULL: not needed yet */
};

struct sized_tasks *sized_tasks_new(void);
void sized_tasks_free(struct sized_tasks *c);
/* About the bytes that the copies hold; 0 for NULL. */
size_t sized_tasks_bytes(const struct sized_tasks *c);
/* Estimated GPU time of the reference at full size, in seconds; 0: not known. */
double sized_tasks_seconds(const struct sized_tasks *c);
/* The least share of its inputs that the reference reads (reads_least); 0: not known. */
double sized_tasks_least_read(const struct sized_tasks *c);

#endif
