/* The memory of a task's copies at other sizes: see sized_tasks.h. */
#include "verify/task/sized_tasks.h"

#include "base/mem.h"

struct sized_tasks *sized_tasks_new(void)
{
	return mem_zalloc(sizeof (struct sized_tasks));
}

void sized_tasks_free(struct sized_tasks *c)
{
	if (!c)
		return;
	for (int i = 0; i < c->n; i++)
		task_free(c->at[i].t);
	task_free(c->reduced);
	task_free(c->whole);
	mem_free(c);
}

double sized_tasks_least_read(const struct sized_tasks *c)
{
	return c->facts.known > 0 ? c->facts.least_read : 0.0;
}

double sized_tasks_seconds(const struct sized_tasks *c)
{
	return c ? c->facts.full_size_seconds : 0.0;
}

size_t sized_tasks_bytes(const struct sized_tasks *c)
{
	size_t n = sizeof *c;

	if (!c)
		return 0;
	for (int i = 0; i < c->n; i++)
		n += task_bytes(c->at[i].t);
	return n + (c->reduced ? task_bytes(c->reduced) : 0) + (c->whole ? task_bytes(c->whole) : 0);
}
