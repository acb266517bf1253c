/* Divides the sequences of a step into micro-batches.
 *
 * Several processes compute micro-batches in parallel, in rounds of one per process (gradsum.h),
 * and a round takes as long as its longest. So micro-batches get about the same length, their
 * number is a multiple of four if there is more than one, and they are ordered by length. The
 * division depends only on the lengths: the number of processes changes nothing. */
#ifndef TRAIN_MICRO_H
#define TRAIN_MICRO_H

#include "base/err.h"

/* The smallest piece of work: a sequence, or neighbours that share a prompt. */
struct micro_unit {
	size_t first, n;           /* sequences */
	int rows;                  /* tokens to compute */
	double cost;               /* time to compute them, in any measure */
	size_t micro;              /* the result: its micro-batch */
};

struct micro_opts {
	int max;                   /* rows of a micro-batch; no unit has more */
	int apart;                 /* each unit is a micro-batch of its own */
	int alone;                 /* one process only: as few micro-batches as possible */
};

/* Sets `micro` and sorts the units by it, and by `first` in each. */
int micro_divide(struct micro_unit *u, size_t n, const struct micro_opts *o, struct err *e);

#endif
