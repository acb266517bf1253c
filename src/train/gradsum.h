/* The gradient of a step: the sum over its micro-batches, in their order, whichever rank computed
 * which.
 *
 * Micro-batch k is computed by rank k mod N. Its gradient is formed by itself, from zero, and added
 * to the sum of those before it: ((g0 + g1) + g2) + ... So one process and many form the same sum,
 * to the bit, on the CPU. Ranks compute N micro-batches at a time; then each adds up one N-th of
 * the parameters, in the order of the ranks, and after the last all get the whole.
 *
 * Gradients of GPUs are added up in their own memory where NCCL moves them (par/nccl.h), else in
 * the host's, over MPI: the same additions in the same order.
 *
 * A GPU with one process adds in its own memory, as the ops do: there the order is the ops' own. */
#ifndef TRAIN_GRADSUM_H
#define TRAIN_GRADSUM_H

#include "model/tape.h"
#include "par/nccl.h"

struct gradsum {
	struct tape *tape;
	struct par *par;
	struct nccl *nccl;         /* NULL: over MPI */
	int in_place;
	size_t n;                  /* floats of the gradient */
	float *host;               /* copy of a GPU's gradient; NULL on the CPU */
	float *acc;                /* the sum so far of what this rank adds up; with NCCL the device's, as `in` */
	float *in;                 /* the other ranks' slices for `acc` */
	int64_t done;              /* micro-batches so far */
	int64_t folded;            /* of those in the sum */
	struct { double *v; size_t n, cap; } notes;   /* of this rank's micro-batches */
};

/* `n` may be NULL; both are borrowed. */
int gradsum_init(struct gradsum *s, struct tape *t, struct par *p, struct nccl *n, struct err *e);
void gradsum_release(struct gradsum *s);

/* Before each micro-batch: 1, it is this rank's to compute; 0: another's; -1. */
int gradsum_turn(struct gradsum *s, struct err *e);
/* After each. `note`, of the rank that computed it, is added up like the gradient. */
int gradsum_add(struct gradsum *s, double note, struct err *e);
/* The whole sum is in the tape's gradients then, and the sum of the notes in *notes. */
int gradsum_finish(struct gradsum *s, double *notes, struct err *e);
/* After a failure in between: as if nothing had been computed. */
void gradsum_drop(struct gradsum *s);

#endif
