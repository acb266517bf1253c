/* NCCL, loaded at run time: see nccl.h.
 *
 * The few calls are declared here as in nccl.h of version 2. Invariant: all ranks use NCCL or none
 * does. */
#include "par/nccl.h"

#include <dlfcn.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

enum { BYTES = 0 };                    /* ncclInt8 */

/* ncclUniqueId: rank 0 makes it, and all ranks join by it. */
struct nccl_id { char bytes[128]; };

#define NCCL_CALLS(F) \
	F(int, GetUniqueId, (struct nccl_id *id)) \
	F(int, CommInitRank, (void **comm, int ranks, struct nccl_id id, int rank)) \
	F(int, CommAbort, (void *comm)) \
	F(int, GroupStart, (void)) \
	F(int, GroupEnd, (void)) \
	F(int, Send, (const void *p, size_t n, int type, int to, void *comm, void *stream)) \
	F(int, Recv, (void *p, size_t n, int type, int from, void *comm, void *stream)) \
	F(const char *, GetErrorString, (int code))

/* The communicator of all ranks, and the functions of the library. */
struct nccl {
	void *comm;
#define F(type, name, parameters) type (*name) parameters;
	NCCL_CALLS(F)
#undef F
};

/* --- opening --------------------------------------------------------------------------------------- */

/* Finds all functions in the library. */
static int find_calls(struct nccl *n, void *library, struct err *e)
{
	const struct { const char *name; void *to; } calls[] = {
#define F(type, name, parameters) { "nccl" #name, &n->name },
		NCCL_CALLS(F)
#undef F
	};

	if (!library)
		return err_set(e, ERR_NOT_FOUND, "libnccl.so.2 was not found");
	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		void *p = dlsym(library, calls[i].name);

		if (!p)
			return err_set(e, ERR_UNSUPPORTED, "libnccl.so.2 has no %s", calls[i].name);
		memcpy(calls[i].to, &p, sizeof p);
	}
	return 0;
}

/* Converts a result code of NCCL to an error. */
static int try(const struct nccl *n, int code, const char *what, struct err *e)
{
	return code ? err_set(e, ERR_STATE, "NCCL cannot %s: %s", what, n->GetErrorString(code)) : 0;
}

/* Sets *bad if it is set on any rank. Returns -1 if the ranks cannot be reached. */
static int agree(struct par *p, int *bad, struct err *e)
{
	double worst = *bad != 0;

	if (par_max(p, &worst, e))
		return -1;
	*bad = worst > 0;
	return 0;
}

/* Connects the ranks. All of them call it together, because NCCL waits for all. */
static int join(struct nccl *n, struct par *p, int *bad, struct err *why, struct err *e)
{
	struct nccl_id id = { .bytes = { 0 } };

	*bad = par_first(p) ? try(n, n->GetUniqueId(&id), "begin", why) : 0;
	if (agree(p, bad, e))
		return -1;
	if (*bad)
		return 0;
	if (par_bcast(p, &id, sizeof id, e))
		return -1;
	*bad = try(n, n->CommInitRank(&n->comm, par_size(p), id, par_rank(p)), "join the ranks", why);
	return agree(p, bad, e);
}

/* The ranks agree after each step: a rank that failed must not let the others wait for it in NCCL. */
int nccl_open(struct nccl **out, struct par *p, void *library, struct err *e)
{
	struct nccl *n = mem_zalloc(sizeof *n);
	struct err why = ERR_INIT;
	int bad = n ? find_calls(n, library, &why) : err_nomem(&why), rc;

	*out = NULL;
	rc = agree(p, &bad, e);
	if (!rc && !bad)
		rc = join(n, p, &bad, &why, e);
	if (!rc && !bad) {
		*out = n;
		return 0;
	}
	if (!rc && (why.code || par_first(p)))
		log_warn("gradients pass through host memory: %s", why.code ? why.text :
			 "NCCL does not work on another rank");
	nccl_give_up(n);
	mem_free(n);
	return rc;
}

void nccl_give_up(struct nccl *n)
{
	if (n && n->comm)
		n->CommAbort(n->comm);
	if (n)
		n->comm = NULL;
}

/* Aborts instead of destroying the communicator: that would wait for all ranks, and one of them may
 * have died. */
void nccl_close(struct nccl *n)
{
	nccl_give_up(n);
	mem_free(n);
}

/* --- moving ------------------------------------------------------------------------------------------- */

/* Starts one move. NCCL's sends and receives have the same form. */
static int start(struct nccl *n, const struct par_move *m, void *stream)
{
	return m->send ? n->Send(m->p, m->n, BYTES, m->rank, n->comm, stream) : n->Recv(m->p, m->n, BYTES,
			m->rank, n->comm, stream);
}

/* A group starts all moves at the same time, so that their order cannot cause a deadlock. */
int nccl_exchange(struct nccl *n, const struct par_move *v, size_t count, void *stream, struct err *e)
{
	int code, end;

	if (!n->comm)
		return err_set(e, ERR_INTERRUPTED, "interrupted");
	code = n->GroupStart();
	for (size_t i = 0; i < count && !code; i++)
		code = v[i].n ? start(n, &v[i], stream) : 0;
	end = n->GroupEnd();
	return try(n, code ? code : end, "move gradients", e);
}
