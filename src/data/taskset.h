/* A set of tasks to sample for: .py files (KernelBench's form), folders of what is named here, or JSON
 * lines with at least `task`, and `id`, `level`, `ops` where known. */
#ifndef DATA_TASKSET_H
#define DATA_TASKSET_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

struct task_row {
	char *id, *ops, *source;
	int level;                 /* 0: not known */
};

struct taskset {
	struct { struct task_row *v; size_t n, cap; } rows;
};

int taskset_open(struct taskset *t, const char *path, struct err *e);
void taskset_cut(struct taskset *t, size_t n);   /* keeps the first n */
void taskset_close(struct taskset *t);

#endif
