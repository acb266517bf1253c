/* Which sequences of a step are computed together: its micro-batches.
 *
 * Several processes compute micro-batches side by side, in rounds of one each (gradsum.h), and a
 * round takes as long as its longest. So micro-batches are made equally long, their number is a
 * multiple of four where there is more than one, and they stand in order of length. All of it
 * follows from the lengths alone: how many processes there are changes nothing. */
#ifndef TRAIN_MICRO_H
#define TRAIN_MICRO_H

#include "base/err.h"

/* What cannot be cut: a sequence, or neighbours that share a prompt. */
struct micro_unit {
	size_t first, n;           /* sequences */
	int rows;                  /* tokens to compute */
	double cost;               /* time to compute them, in any measure */
	size_t micro;              /* the result: its micro-batch */
};

struct micro_opts {
	int max;                   /* rows of a micro-batch; no unit has more */
	int apart;                 /* each unit is a micro-batch of its own */
	int alone;                 /* one process, which need not be like several: as few micro-batches as will do */
};

/* Sets `micro` and sorts the units by it, and by `first` in each. */
int micro_divide(struct micro_unit *u, size_t n, const struct micro_opts *o, struct err *e);

#endif
