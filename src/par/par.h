/* Several processes that work together, on one machine or many: the ranks of MPI.
 *
 * MPI is loaded at run time, and only in a process that mpirun or srun started; nothing of it is
 * linked. In every call here a NULL `struct par` means a single process.
 *
 * A wait for other ranks never hangs on a rank that stops. A rank that leaves tells the others,
 * whether it was asked to stop (base/progress.h), failed, or finished early. Every wait checks for
 * that message, and for a stop requested of its own process; it then gives up with ERR_INTERRUPTED.
 * The data being exchanged is lost then, and no further exchange is possible: the caller saves what
 * it has and closes. All calls come from one thread. */
#ifndef PAR_PAR_H
#define PAR_PAR_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct par;

/* *p is NULL if this process was not started as one of several. */
int par_open(struct par **p, struct err *e);
/* Waits until all ranks are here. With `failed` the others are told to give up. */
void par_close(struct par *p, int failed);

int par_rank(const struct par *p);
int par_size(const struct par *p);
/* The number of this process among those on its machine; 0 if the launcher does not tell. */
int par_local_rank(const struct par *p);
static inline int par_first(const struct par *p) { return par_rank(p) == 0; }

/* Returns 1 if this process or another one was asked to stop. Cheap enough for loops. */
int par_stopping(struct par *p);

/* Waits until `done` returns 1, for events that do not come over MPI. */
int par_wait(struct par *p, int (*done)(void *ctx), void *ctx, struct err *e);

/* --- together: every rank makes the same calls in the same order -------------------------------- */

/* One direction of an exchange: `n` bytes at `p` are sent to, or received from, a rank. */
struct par_move { int rank, send; void *p; size_t n; };
static inline struct par_move par_to(int rank, const void *p, size_t n) { return (struct par_move){ rank,
		1, (void *)p, n }; }
static inline struct par_move par_from(int rank, void *p, size_t n) { return (struct par_move){ rank, 0, p, n }; }
/* Makes all moves. Each send needs a receive of the same size in the other rank's list, in the same order. */
int par_exchange(struct par *p, const struct par_move *v, size_t n, struct err *e);

/* Sends rank 0's bytes to all. */
int par_bcast(struct par *p, void *data, size_t n, struct err *e);
int par_bcast_buf(struct par *p, struct buf *text, struct err *e);
/* Sends rank 0's number to all. */
int par_agree(struct par *p, int64_t *value, struct err *e);
/* *value becomes the largest value of all ranks. */
int par_max(struct par *p, double *value, struct err *e);
/* Sends everyone's bytes to everyone: all[r] gets those of rank r. The caller passes cleared buffers, and releases
 * them. */
int par_gather(struct par *p, struct str mine, struct buf *all, struct err *e);
/* Waits until all ranks have called it. */
int par_barrier(struct par *p, struct err *e);

/* --- messages: from one rank to another, at any time ------------------------------------------------ */

/* Copies the bytes and does not wait. */
int par_post(struct par *p, int to, struct str data, struct err *e);
/* Returns 1 and a message of rank `from` in `out`, 0 if no message waits, -1 on failure. */
int par_take(struct par *p, int from, struct buf *out, struct err *e);

#endif
