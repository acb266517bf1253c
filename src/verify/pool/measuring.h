/* Candidates that wait for the GPU judge, with the verdicts of the CPU judge. */
#ifndef VERIFY_POOL_MEASURING_H
#define VERIFY_POOL_MEASURING_H

#include "verify/gpu/gpu_judge.h"

struct measuring;

/* Returns NULL if the GPU cannot be used (*e says why). */
struct measuring *measuring_open(const struct gpu_options *o, const struct judge_options *judge, struct err *e);
void measuring_close(struct measuring *m);
/* The descriptor that becomes readable when a candidate was measured; -1: the GPU judge is lost. */
int measuring_fd(const struct measuring *m);
/* Adds a candidate that the CPU judge found correct. Returns 0 on success, -1 on failure (*e). */
int measuring_add(struct measuring *m, uint64_t id, struct str task, const struct buf *plans, int n,
		  const struct verdict *v, struct err *e);
/* The next candidate with its final verdict. Returns 1, or 0 if none is there. If the GPU judge is
 * lost, every candidate that waits is returned with a note; later ones go to a new GPU judge. */
int measuring_next(struct measuring *m, uint64_t *id, struct verdict *v);

#endif
