/* Plateaus: in a constant-tensor test, fills in the values of instances that were not run.
 *
 * Over constant tensors most kernels write one value everywhere. A kernel that
 * leaves something out beyond an index does not: its instances write one value up to some instance,
 * and another value after it. Each instance must write one value to a part of its own, instance i
 * to the bytes [i * part, (i + 1) * part). If two instances that ran differ, instances between them
 * are run until the step is found. If two instances have the same value, two instances between them
 * are run as well. If these agree, all instances in between are taken to have that value. */
#ifndef VERIFY_CANDIDATE_PLATEAU_H
#define VERIFY_CANDIDATE_PLATEAU_H

#include "tensor/tensor.h"

enum { PLATEAU_RUNS = 80 };              /* instances that are run for it at the most */

struct plateau {
	struct storage *st;
	size_t size, part;             /* bytes of an element, and of the part of each instance */
	int64_t programs;              /* instances of the launch */
	int (*run)(void *ctx, int64_t program);        /* Returns 0, 1 if it tells nothing, or -1 on our failure */
	void *ctx;
};

/* After the n instances `ran` were run. Returns 0 whether the storage is filled or cannot be; else
 * what `run` gave. */
int plateau_fill(const struct plateau *l, const int64_t *ran, int n);

#endif
