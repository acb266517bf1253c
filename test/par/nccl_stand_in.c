/* The calls of NCCL that par/nccl.c makes, between processes of one machine and in host memory: a message is a file.
 * Sends and receives of a group are done at its end, the sends first; the stream is not looked at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GROUP_MOST = 64, RANKS_MOST = 16, PATIENCE = 60 };
enum { OK = 0, SYSTEM_ERROR = 2, INVALID = 4 };

struct id { char folder[128]; };
struct comm { struct id id; int ranks, rank; unsigned sent[RANKS_MOST], received[RANKS_MOST]; };
struct move { const void *from; void *to; size_t n; int peer; struct comm *comm; };

static struct move group[GROUP_MOST];
static int moves, open_groups;

int ncclGetUniqueId(struct id *id);
int ncclCommInitRank(void **out, int ranks, struct id id, int rank);
int ncclCommAbort(void *comm);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclSend(const void *p, size_t n, int type, int to, void *comm, void *stream);
int ncclRecv(void *p, size_t n, int type, int from, void *comm, void *stream);
const char *ncclGetErrorString(int code);

int ncclGetUniqueId(struct id *id)
{
	snprintf(id->folder, sizeof id->folder, "/dev/shm/nccl-stand-in-XXXXXX");
	return mkdtemp(id->folder) ? OK : SYSTEM_ERROR;
}

/* An environment variable makes one rank fail, as two ranks on one GPU do. */
int ncclCommInitRank(void **out, int ranks, struct id id, int rank)
{
	const char *bad = getenv("STAND_IN_FAILS");
	struct comm *c = calloc(1, sizeof *c);

	if (!c || ranks > RANKS_MOST || (bad && atoi(bad) == rank)) {
		free(c);
		return INVALID;
	}
	*c = (struct comm){ .id = id, .ranks = ranks, .rank = rank };
	*out = c;
	return OK;
}

int ncclCommAbort(void *comm)
{
	struct comm *c = comm;

	rmdir(c->id.folder);      /* the last one finds it empty */
	free(c);
	return OK;
}

static void name(char *path, size_t n, const struct comm *c, int from, int to, unsigned number)
{
	snprintf(path, n, "%s/%d-%d-%u", c->id.folder, from, to, number);
}

static int do_send(const struct move *m)
{
	char path[300], fresh[310];
	FILE *f;
	int bad;

	name(path, sizeof path, m->comm, m->comm->rank, m->peer, m->comm->sent[m->peer]++);
	snprintf(fresh, sizeof fresh, "%s.new", path);
	if (!(f = fopen(fresh, "wb")))
		return SYSTEM_ERROR;
	bad = fwrite(m->from, 1, m->n, f) != m->n;
	return fclose(f) || bad || rename(fresh, path) ? SYSTEM_ERROR : OK;
}

static int do_receive(const struct move *m)
{
	time_t end = time(NULL) + PATIENCE;
	char path[300];
	FILE *f;
	int bad;

	name(path, sizeof path, m->comm, m->peer, m->comm->rank, m->comm->received[m->peer]++);
	while (!(f = fopen(path, "rb")) && time(NULL) < end)
		usleep(200);
	if (!f)
		return SYSTEM_ERROR;
	bad = fread(m->to, 1, m->n, f) != m->n || fgetc(f) != EOF;
	fclose(f);
	unlink(path);
	return bad ? INVALID : OK;
}

int ncclGroupStart(void)
{
	return open_groups++ ? INVALID : OK;
}

int ncclGroupEnd(void)
{
	int rc = OK;

	if (--open_groups)
		return INVALID;
	for (int i = 0; i < moves && !rc; i++)
		rc = group[i].from ? do_send(&group[i]) : OK;
	for (int i = 0; i < moves && !rc; i++)
		rc = group[i].to ? do_receive(&group[i]) : OK;
	moves = 0;
	return rc;
}

static int note(struct move m)
{
	if (!open_groups || moves == GROUP_MOST || m.peer < 0 || m.peer >= m.comm->ranks)
		return INVALID;
	group[moves++] = m;
	return OK;
}

int ncclSend(const void *p, size_t n, int type, int to, void *comm, void *stream)
{
	(void)stream;
	return type ? INVALID : note((struct move){ .from = p, .n = n, .peer = to, .comm = comm });
}

int ncclRecv(void *p, size_t n, int type, int from, void *comm, void *stream)
{
	(void)stream;
	return type ? INVALID : note((struct move){ .to = p, .n = n, .peer = from, .comm = comm });
}

const char *ncclGetErrorString(int code)
{
	return code == SYSTEM_ERROR ? "unhandled system error" : "invalid argument";
}
