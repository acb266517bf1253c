/* Exchange between the memories of GPUs by NCCL, from the installed library.
 *
 * NCCL is used together with MPI, which starts the ranks and introduces them to each other. It does
 * what par_exchange does, with addresses in GPU memory. A move is put on a stream and runs there.
 * Nothing is added up, so the order of sums is the caller's. NCCL needs a GPU for each rank. */
#ifndef PAR_NCCL_H
#define PAR_NCCL_H

#include "par/par.h"

struct nccl;

/* Every rank calls it, with its GPU open. `library` is the handle of libnccl.so.2, or NULL. If one rank cannot use
 * NCCL, none does: *out is NULL and the log says why. */
int nccl_open(struct nccl **out, struct par *p, void *library, struct err *e);
void nccl_close(struct nccl *n);

/* Starts all moves on `stream`. Each send needs a receive of the same size in the other rank's list, in the same
 * order. */
int nccl_exchange(struct nccl *n, const struct par_move *v, size_t count, void *stream, struct err *e);
/* Aborts the moves in progress, after a wait for them was given up. No further exchange is possible. */
void nccl_give_up(struct nccl *n);

#endif
