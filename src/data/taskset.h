/* A set of tasks to sample for: .py files (KernelBench's form), JSON lines with at least `task`,
 * and `id`, `level`, `ops` if known, or folders of both. */
#ifndef DATA_TASKSET_H
#define DATA_TASKSET_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "par/par.h"

struct task_row {
	char *id, *ops, *source;
	int level;                 /* 0: not known */
};

struct taskset {
	struct { struct task_row *v; size_t n, cap; } rows;
};

struct judge_pool;

int taskset_open(struct taskset *t, const char *path, struct err *e);
/* Leaves out what cannot be judged (no Python, no Model, a reference that does not run or that any
 * answer passes), with a line for each; nothing left is an error. Every rank calls it, the first
 * one asks its pool. */
int taskset_keep_good(struct taskset *t, struct judge_pool *pool, struct par *par, struct err *e);
/* Keeps the tasks of these levels ("1", "2", "3"; none: all), and of them the first `limit` (0: all).
 * A task without a level gets the one that data/difficulty.h finds. Nothing left is an error. */
struct opt_list;
int taskset_select(struct taskset *t, const struct opt_list *levels, int64_t limit, struct err *e);
void taskset_cut(struct taskset *t, size_t n);   /* keeps the first n */
void taskset_close(struct taskset *t);
void task_row_release(struct task_row *r);

#endif
