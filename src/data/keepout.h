/* Tasks that must never be trained on: evaluation problems, known by hashes of what they compute.
 *
 * A problem of several operators (level 2 and up, by its folder or by its program) is kept out by
 * its composition: the same operators and arithmetic in the same order, with any names,
 * constants and sizes. A problem of one operator is kept out at its sizes only: the same operator
 * with the same set of sizes of 16 and more. The list of keepout.def is KernelBench's; a folder of
 * tasks can be added. Reading by several threads is safe while nobody adds. */
#ifndef DATA_KEEPOUT_H
#define DATA_KEEPOUT_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct keepout { struct map hashes; };

/* Starts with the list that is built in. */
int keepout_init(struct keepout *k, struct err *e);
/* Adds a .py file, a folder of them, or JSON lines. */
int keepout_add(struct keepout *k, const char *path, struct err *e);
void keepout_release(struct keepout *k);
/* Whether the task must be left out. One that does not parse must. */
int keepout_has(const struct keepout *k, struct str task);

struct keepout_hash {
	uint64_t composition;         /* operators and arithmetic in order */
	uint64_t sized;               /* the same, with the sizes */
	int several;                  /* more than one operator: the composition tells */
};
/* -1: the task does not parse. */
int keepout_hash(struct str task, struct keepout_hash *h);
/* Hashes of the tasks at `path` as the lines of keepout.def, sorted. */
int keepout_print(const char *path, struct buf *out, struct err *e);

#endif
