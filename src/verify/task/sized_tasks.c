/* The task at other sizes: see sized_tasks.h. This file owns only the memory; funnel/test_sizes.c
 * decides what is opened. */
#include "verify/task/sized_tasks.h"

#include "base/mem.h"

struct sized_tasks *sized_tasks_new(void)
{
	return mem_zalloc(sizeof (struct sized_tasks));
}

/* Tasks at other sizes have none of their own, so that this ends. */
void sized_tasks_free(struct sized_tasks *c)
{
	for (int i = 0; c && i < c->n; i++)
		task_free(c->at[i].t);
	if (c) {
		task_free(c->reduced);
		task_free(c->whole);
	}
	mem_free(c);
}

/* Facts that could not be found count as unknown. */
double sized_tasks_least_read(const struct sized_tasks *c)
{
	return c->k.known > 0 ? c->k.least_read : 0.0;
}

/* A task at chosen sizes has no sized_tasks. */
double sized_tasks_seconds(const struct sized_tasks *c)
{
	return c ? c->k.full_size_seconds : 0.0;
}

/* Counts what the task holds at other sizes: a worker that keeps tasks must know. */
size_t sized_tasks_bytes(const struct sized_tasks *c)
{
	size_t n = sizeof *c;

	for (int i = 0; c && i < c->n; i++)
		n += task_bytes(c->at[i].t);
	return !c ? 0 : n + (c->reduced ? task_bytes(c->reduced) : 0) + (c->whole ? task_bytes(c->whole) : 0);
}
