/* Following a program at a choice of the task's sizes without contents: which way its tests go, which
 * kernels it launches with what, whether they compile and fit. It costs what the host code costs,
 * however large the sizes are. On the side that runs candidates. */
#ifndef VERIFY_FOLLOW_H
#define VERIFY_FOLLOW_H

#include "verify/area.h"
#include "verify/task.h"

/* The i-th order of the area. 0, 1: the program fails there, the report says why; -1. */
int follow_program(struct judge *j, const struct task *t, const struct program *candidate, struct launcher *launch, struct area *a, int i, struct err *e);

/* A launch as a mark of the path: what the kernel was compiled to, and along which axes there is
 * more than one program of it; with `grids`, how many there are. */
int follow_launch(struct host_path *path, int grids, const struct tile_code *code, const struct tile_launch *l, struct err *e);

#endif
