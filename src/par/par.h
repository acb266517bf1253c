/* Several processes that work on one thing together, on one machine or many: the ranks of MPI.
 *
 * MPI is loaded at run time, and only in a process that mpirun or srun started: nothing of it is
 * linked. A NULL `struct par` stands for a process alone, in every call here.
 *
 * A wait for other ranks never hangs on one that stops. Whoever leaves tells the others, whether it
 * was asked to stop (base/progress.h), failed, or finished early; every wait looks for that word and
 * for a stop asked of this process, and then gives up with ERR_INTERRUPTED. What was being exchanged is
 * lost then, and nothing more can be exchanged: the caller saves what it has and closes. All calls
 * come from one thread. */
#ifndef PAR_PAR_H
#define PAR_PAR_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct par;

/* *p is NULL in a process that nobody started as one of several. */
int par_open(struct par **p, struct err *e);
/* `failed`: the others are told to give up. Waits until all are here. */
void par_close(struct par *p, int failed);

int par_rank(const struct par *p);
int par_size(const struct par *p);
/* Which of the processes on its own machine this is, where the launcher says; else 0. */
int par_local_rank(const struct par *p);
static inline int par_first(const struct par *p) { return par_rank(p) == 0; }

/* 1: this process, or another one, was asked to stop. Cheap: for loops. */
int par_stopping(struct par *p);

/* Waits until `done` says 1, for what does not come over MPI. */
int par_wait(struct par *p, int (*done)(void *ctx), void *ctx, struct err *e);

/* --- together: every rank makes the same calls in the same order -------------------------------- */

/* One way of an exchange: `n` bytes at `p` to, or from, a rank. */
struct par_move { int rank, send; void *p; size_t n; };
static inline struct par_move par_to(int rank, const void *p, size_t n) { return (struct par_move){ rank,
		1, (void *)p, n }; }
static inline struct par_move par_from(int rank, void *p, size_t n) { return (struct par_move){ rank, 0, p, n }; }
/* Does all of them; each send has its receive of the same size in the other's list, in the same order. */
int par_exchange(struct par *p, const struct par_move *v, size_t n, struct err *e);

/* Rank 0's bytes to all. */
int par_bcast(struct par *p, void *data, size_t n, struct err *e);
int par_bcast_buf(struct par *p, struct buf *text, struct err *e);
/* Rank 0's number to all. */
int par_agree(struct par *p, int64_t *value, struct err *e);
/* The largest. */
int par_max(struct par *p, double *value, struct err *e);
/* Everyone's bytes to everyone: all[r] is rank r's. The caller has `all` cleared, and releases it. */
int par_gather(struct par *p, struct str mine, struct buf *all, struct err *e);
/* Everyone has come here. */
int par_barrier(struct par *p, struct err *e);

/* --- by mail: from one to one, whenever they like --------------------------------------------------- */

/* Copies the bytes and does not wait. */
int par_post(struct par *p, int to, struct str data, struct err *e);
/* 1 and a letter from `from` in `out`; 0: there is none. */
int par_take(struct par *p, int from, struct buf *out, struct err *e);

#endif
