/* Ranks over MPI: see par.h.
 *
 * Every operation is started without blocking and polled until it is done. So a wait can be given
 * up, and a waiting process sleeps instead of using a core. Invariant: memory that MPI may still
 * write to is never freed or reused after a wait was given up. */
#include "par/par.h"

#include <limits.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "par/mpi.h"

enum {
	TAG_DATA = 1, TAG_STOP, TAG_MAIL,
	FUNNELED = 1,                    /* MPI_THREAD_FUNNELED */
	SPINS = 200,                     /* polls before a wait starts to sleep */
	NAP_MOST_US = 500,               /* longest sleep between two polls, in microseconds */
	GRACE_SECONDS = 20,              /* how long a rank waits for the others to end after one of them died */
};
static const size_t piece_most = 1u << 30;     /* bytes of one MPI message, whose count is an int */

/* A message being sent. MPI owns `n` and `data` until both requests are done. */
struct letter { struct letter *next; void *request[2]; int64_t n; char data[]; };

struct par {
	struct mpi mpi;
	int rank, size;
	int32_t word;                    /* enum stop_reason, the message to the others */
	int told, left;                  /* the others were told; a wait was given up */
	struct letter *letters;
};

int par_rank(const struct par *p) { return p ? p->rank : 0; }
int par_size(const struct par *p) { return p ? p->size : 1; }
int par_local_rank(const struct par *p) { return p ? mpi_local_rank() : 0; }

/* Errors of MPI are returned instead of ending the process, so that a dead rank can be handled. */
int par_open(struct par **out, struct err *e)
{
	struct par *p;
	int got = 0;

	*out = NULL;
	if (!mpi_launched())
		return 0;
	if (!(p = mem_zalloc(sizeof *p)))
		return err_nomem(e);
	if (mpi_load(&p->mpi, e)) {
		mem_free(p);
		return -1;
	}
	if (p->mpi.Init_thread(NULL, NULL, FUNNELED, &got) ||
	    p->mpi.Comm_set_errhandler(p->mpi.world, p->mpi.errors_return) ||
	    p->mpi.Comm_rank(p->mpi.world, &p->rank) || p->mpi.Comm_size(p->mpi.world, &p->size)) {
		mem_free(p);
		return err_set(e, ERR_STATE, "cannot start MPI");
	}
	log_info("rank %d of %d, %s", p->rank, p->size, p->mpi.family);
	*out = p;
	return 0;
}

/* --- stopping ---------------------------------------------------------------------------------- */

/* Tells all other ranks that this one stops. Nobody waits for these messages to be read; small ones
 * are sent when the call returns. */
static void tell_stop(struct par *p, enum stop_reason why)
{
	void *request;

	if (p->told)
		return;
	p->told = 1;
	p->word = (int32_t)why;
	for (int r = 0; r < p->size; r++)
		if (r != p->rank)
			p->mpi.Isend(&p->word, sizeof p->word, p->mpi.byte, r, TAG_STOP, p->mpi.world, &request);
}

/* Checks whether another rank has sent a stop message, and then requests a stop of this process. */
static void hear_stop(struct par *p)
{
	int found = 0, done = 0;
	int32_t why = STOP_SIGNAL;
	void *request;

	if (p->mpi.Iprobe(p->mpi.any_source, TAG_STOP, p->mpi.world, &found, p->mpi.no_status) || !found)
		return;
	p->mpi.Irecv(&why, sizeof why, p->mpi.byte, p->mpi.any_source, TAG_STOP, p->mpi.world, &request);
	while (!done && !p->mpi.Test(&request, &done, p->mpi.no_status))
		;
	stop_request(why > STOP_NOT && why <= STOP_BUDGET ? (enum stop_reason)why : STOP_SIGNAL);
}

/* Checks the own process first, which is cheap, and then the other ranks. */
int par_stopping(struct par *p)
{
	if (p && !stop_requested())
		hear_stop(p);
	return stop_requested();
}

/* Gives up a wait. From now on this rank exchanges nothing. */
static int leave(struct par *p, struct err *e)
{
	p->left = 1;
	if (!stop_requested())
		stop_request(STOP_SIGNAL);
	tell_stop(p, stop_reason());
	return err_set(e, ERR_INTERRUPTED, "interrupted");
}

/* --- waiting ------------------------------------------------------------------------------------- */

/* Yields at first, then sleeps for 1 to 500 microseconds, one more each time. Short waits stay
 * fast, and long ones cost no core. */
static void nap(int *looks)
{
	int us = MIN(++*looks - SPINS, NAP_MOST_US);

	if (us <= 0)
		sched_yield();
	else
		nanosleep(&(struct timespec){ .tv_nsec = us * 1000L }, NULL);
}

/* Returns 1 if all requests are done, 0 if not, -1 if a rank has died. */
static int test_all(struct par *p, void **request, size_t n)
{
	int all = 1;

	for (size_t i = 0; i < n; i++) {
		int done = 0;

		if (p->mpi.Test(&request[i], &done, p->mpi.no_status))
			return -1;
		all &= done;
	}
	return all;
}

/* Waits for requests. MPI sets a finished request to null, and a null request counts as done, so
 * asking again costs nothing. */
static int wait_all(struct par *p, void **request, size_t n, struct err *e)
{
	int looks = 0, rc;

	while ((rc = test_all(p, request, n)) == 0) {
		if (par_stopping(p))
			return leave(p, e);
		nap(&looks);
	}
	return rc < 0 ? leave(p, e) : 0;
}

int par_wait(struct par *p, int (*done)(void *ctx), void *ctx, struct err *e)
{
	int looks = 0;

	while (!done(ctx)) {
		if (p && par_stopping(p))
			return leave(p, e);
		nap(&looks);
	}
	return 0;
}

/* Number of MPI messages for n bytes. */
static size_t pieces_of(size_t n)
{
	return (n + piece_most - 1) / piece_most;
}

/* Starts one move, in pieces. `room` is the copy that MPI reads or writes. */
static int start(struct par *p, const struct par_move *m, char *room, void **request)
{
	int rc = 0;

	if (m->send)
		memcpy(room, m->p, m->n);
	for (size_t at = 0; at < m->n && !rc; at += piece_most, request++) {
		int n = (int)MIN(m->n - at, piece_most);

		rc = m->send ? p->mpi.Isend(room + at, n, p->mpi.byte, m->rank, TAG_DATA, p->mpi.world, request)
			     : p->mpi.Irecv(room + at, n, p->mpi.byte, m->rank, TAG_DATA, p->mpi.world, request);
	}
	return rc;
}

/* Starts all moves, waits for them, and copies what was received. */
static int move_all(struct par *p, const struct par_move *v, size_t n, char *room, void **request, struct err *e)
{
	size_t pieces = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		if (start(p, &v[i], room + at, request + pieces))
			return leave(p, e);
		pieces += pieces_of(v[i].n);
		at += v[i].n;
	}
	if (wait_all(p, request, pieces, e))
		return -1;
	for (size_t i = 0, from = 0; i < n; from += v[i++].n)
		if (!v[i].send)
			memcpy(v[i].p, room + from, v[i].n);
	return 0;
}

/* MPI works on copies. After an exchange that was given up, the copies are left to MPI for ever,
 * and the caller's memory is free to use. */
int par_exchange(struct par *p, const struct par_move *v, size_t n, struct err *e)
{
	size_t pieces = 0, bytes = 0;
	void **request;
	char *room;
	int rc;

	if (!p)
		return 0;
	if (p->left || par_stopping(p))
		return leave(p, e);
	for (size_t i = 0; i < n; i++) {
		pieces += pieces_of(v[i].n);
		bytes += v[i].n;
	}
	request = mem_array(pieces + 1, sizeof *request);
	room = mem_alloc(bytes + 1);
	rc = request && room ? move_all(p, v, n, room, request, e) : err_nomem(e);
	if (!p->left) {
		mem_free(request);
		mem_free(room);
	}
	return rc;
}

/* --- together --------------------------------------------------------------------------------------- */

/* Rank 0 sends to each rank in turn. The number of ranks is small, and so are the data. */
int par_bcast(struct par *p, void *data, size_t n, struct err *e)
{
	struct par_move *v;
	size_t count = 0;
	int rc;

	if (!p)
		return 0;
	if (!(v = mem_array((size_t)p->size, sizeof *v)))
		return err_nomem(e);
	for (int r = p->rank ? 0 : 1; r < (p->rank ? 1 : p->size); r++)
		v[count++] = p->rank ? par_from(r, data, n) : par_to(r, data, n);
	rc = par_exchange(p, v, count, e);
	mem_free(v);
	return rc;
}

int par_agree(struct par *p, int64_t *value, struct err *e)
{
	return par_bcast(p, value, sizeof *value, e);
}

/* Sends the length first. Other ranks' buffers are replaced. */
int par_bcast_buf(struct par *p, struct buf *text, struct err *e)
{
	int64_t n = (int64_t)text->n;

	if (!p)
		return 0;
	if (par_agree(p, &n, e))
		return -1;
	if (p->rank) {
		buf_clear(text);
		if (buf_reserve(text, (size_t)n))
			return err_nomem(e);
		text->n = (size_t)n;
		text->p[n] = '\0';
	}
	return par_bcast(p, text->p, (size_t)n, e);
}

/* Sends `mine` to all others and receives theirs: size[r] bytes of rank r go to from[r]. */
static int to_all(struct par *p, struct str mine, char *const *from, const int64_t *size, struct err *e)
{
	struct par_move *v = mem_array(2 * (size_t)p->size, sizeof *v);
	size_t n = 0;
	int rc;

	if (!v)
		return err_nomem(e);
	for (int r = 0; r < p->size; r++)
		if (r != p->rank) {
			v[n++] = par_from(r, from[r], (size_t)size[r]);
			v[n++] = par_to(r, mine.p, mine.n);
		}
	rc = par_exchange(p, v, n, e);
	mem_free(v);
	return rc;
}

/* Gathers n bytes of each rank. Those of rank r go to all + r * n. */
static int gather_equal(struct par *p, const void *mine, void *all, size_t n, struct err *e)
{
	char **from = mem_array((size_t)p->size, sizeof *from);
	int64_t *size = mem_array((size_t)p->size, sizeof *size);
	int rc = from && size ? 0 : err_nomem(e);

	for (int r = 0; r < p->size && !rc; r++) {
		from[r] = (char *)all + (size_t)r * n;
		size[r] = (int64_t)n;
	}
	if (!rc)
		rc = to_all(p, (struct str){ .p = mine, .n = n }, from, size, e);
	if (!rc)
		memcpy(from[p->rank], mine, n);
	mem_free(from);
	mem_free(size);
	return rc;
}

/* Every rank computes the maximum of all values by itself, so that all get the same bits. */
int par_max(struct par *p, double *value, struct err *e)
{
	double *all;
	int rc;

	if (!p)
		return 0;
	if (!(all = mem_array((size_t)p->size, sizeof *all)))
		return err_nomem(e);
	rc = gather_equal(p, value, all, sizeof *all, e);
	for (int r = 0; r < p->size && !rc; r++)
		*value = MAX(*value, all[r]);
	mem_free(all);
	return rc;
}

/* Gathers a different number of bytes of each rank. */
static int gather_sized(struct par *p, struct str mine, const int64_t *size, struct buf *all, struct err *e)
{
	char **from = mem_array((size_t)p->size, sizeof *from);
	int rc = from ? 0 : err_nomem(e);

	for (int r = 0; r < p->size && !rc; r++) {
		if (buf_reserve(&all[r], (size_t)size[r] + 1))
			rc = err_nomem(e);
		else
			from[r] = all[r].p, all[r].n = (size_t)size[r];
	}
	if (!rc)
		rc = to_all(p, mine, from, size, e);
	if (!rc && mine.n)
		memcpy(from[p->rank], mine.p, mine.n);
	mem_free(from);
	return rc;
}

/* Gathers the lengths first, then the bytes. */
int par_gather(struct par *p, struct str mine, struct buf *all, struct err *e)
{
	int64_t n = (int64_t)mine.n, *size;
	int rc;

	if (!p) {
		buf_addstr(&all[0], mine);
		return buf_check(&all[0], e);
	}
	if (!(size = mem_array((size_t)p->size, sizeof *size)))
		return err_nomem(e);
	rc = gather_equal(p, &n, size, sizeof n, e) || gather_sized(p, mine, size, all, e) ? -1 : 0;
	mem_free(size);
	return rc;
}

/* Any exchange among all ranks is a barrier. */
int par_barrier(struct par *p, struct err *e)
{
	double none = 0.0;

	return par_max(p, &none, e);
}

/* --- messages ------------------------------------------------------------------------------------------ */

/* Frees the messages that were sent completely. */
static int sort_mail(struct par *p)
{
	for (struct letter **at = &p->letters; *at;) {
		struct letter *l = *at;
		int rc = test_all(p, l->request, COUNT_OF(l->request));

		if (rc < 0)
			return -1;
		if (rc) {
			*at = l->next;
			mem_free(l);
		} else {
			at = &l->next;
		}
	}
	return 0;
}

/* Sends the length first and the bytes after it, so that the receiver knows how much to expect. */
int par_post(struct par *p, int to, struct str data, struct err *e)
{
	struct letter *l;

	if (p->left || sort_mail(p) || data.n > INT_MAX)
		return p->left ? err_set(e, ERR_INTERRUPTED, "interrupted") : leave(p, e);
	if (!(l = mem_alloc(sizeof *l + data.n)))
		return err_nomem(e);
	l->n = (int64_t)data.n;
	memcpy(l->data, data.p, data.n);
	if (p->mpi.Isend(&l->n, sizeof l->n, p->mpi.byte, to, TAG_MAIL, p->mpi.world, &l->request[0]) ||
	    p->mpi.Isend(l->data, (int)l->n, p->mpi.byte, to, TAG_MAIL, p->mpi.world, &l->request[1]))
		return leave(p, e);
	l->next = p->letters;
	p->letters = l;
	return 0;
}

/* Receives n bytes into `out`, through memory that belongs to MPI until they have arrived. */
static int receive(struct par *p, int from, size_t n, struct buf *out, struct err *e)
{
	char *room = mem_alloc(n + 1);
	void **request = mem_array(1, sizeof *request);
	int rc = room && request ? 0 : err_nomem(e);

	if (!rc)
		rc = p->mpi.Irecv(room, (int)n, p->mpi.byte, from, TAG_MAIL, p->mpi.world, request) ?
			leave(p, e) : wait_all(p, request, 1, e);
	if (!rc)
		buf_add(out, room, n);
	if (!p->left) {
		mem_free(room);
		mem_free(request);
	}
	return rc || buf_check(out, e) ? -1 : 0;
}

/* Receives the length and then the bytes. MPI keeps the order of messages between two ranks. */
int par_take(struct par *p, int from, struct buf *out, struct err *e)
{
	struct buf head = BUF_INIT;
	int64_t n = 0;
	int found = 0, rc;

	if (p->mpi.Iprobe(from, TAG_MAIL, p->mpi.world, &found, p->mpi.no_status))
		return leave(p, e);
	if (!found)
		return 0;
	rc = receive(p, from, sizeof n, &head, e);
	if (!rc)
		memcpy(&n, head.p, sizeof n);
	buf_clear(out);
	if (!rc)
		rc = n < 0 || n > INT_MAX ? err_nomem(e) : receive(p, from, (size_t)n, out, e);
	buf_release(&head);
	return rc ? -1 : 1;
}

/* A rank that died never reaches the end of MPI. A rank that has saved its data waits for it for a
 * short time only; its launcher ends the others. */
void par_close(struct par *p, int failed)
{
	if (!p)
		return;
	if (failed || stop_requested())
		tell_stop(p, stop_requested() ? stop_reason() : STOP_SIGNAL);
	if (p->told && par_first(p))
		alarm(GRACE_SECONDS);
	p->mpi.Finalize();
	alarm(0);
	while (p->letters) {
		struct letter *l = p->letters;

		p->letters = l->next;
		mem_free(l);
	}
	mem_free(p);
}
