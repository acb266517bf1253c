/* Moves between the memories of GPUs: NCCL, from the library that is there.
 *
 * It stands beside MPI, which starts the ranks and tells them of each other, and does what
 * par_exchange does with addresses of GPUs. A move is put on a stream and runs there; nothing is
 * added up, so the order of sums is the caller's. NCCL wants a GPU for each rank. */
#ifndef PAR_NCCL_H
#define PAR_NCCL_H

#include "par/par.h"

struct nccl;

/* Every rank calls it, with its GPU open. `library` is libnccl.so.2 or NULL. *out is NULL, and the
 * log says why, where one of the ranks cannot: then none does. */
int nccl_open(struct nccl **out, struct par *p, void *library, struct err *e);
void nccl_close(struct nccl *n);

/* Starts all of them on `stream`; each send has its receive of the same size in the other's list, in the same order. */
int nccl_exchange(struct nccl *n, const struct par_move *v, size_t count, void *stream, struct err *e);
/* Ends what is on the way, after a wait for it was given up. Nothing more can be exchanged. */
void nccl_give_up(struct nccl *n);

#endif
