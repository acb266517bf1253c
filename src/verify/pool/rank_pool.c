/* One pool of several ranks: see rank_pool.h.
 *
 * A message to a rank is a candidate (struct order and two texts); an empty message means the end.
 * A message back is a struct judged. Ranks trust each other: they are the same program. */
#include "verify/pool/rank_pool.h"

#include <time.h>

#include "base/mem.h"

/* Header of a candidate's message; `task` is the length of the task's text, which comes first. */
struct order { uint64_t id, task; };

static const long nap_ns = 200000;     /* between two polls; a verdict takes about a millisecond */

/* MPI offers no wait for messages and the pool's sockets together, so ranks poll. */
static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = nap_ns }, NULL);
}

int rank_pool_init(struct rank_pool *c, struct judge_pool *pool, struct par *par, struct err *e)
{
	*c = (struct rank_pool){ .pool = pool, .par = par, .away = mem_array((size_t)par_size(par), sizeof *c->away) };
	return c->away ? 0 : err_nomem(e);
}

void rank_pool_release(struct rank_pool *c)
{
	mem_free(c->away);
	buf_release(&c->letter);
}

/* --- the first rank ----------------------------------------------------------------------- */

/* The rank with the fewest pending candidates; this rank is number 0 and wins ties. */
static int idlest(const struct rank_pool *c)
{
	size_t least = judge_pool_pending(c->pool);
	int best = 0;

	for (int r = 1; r < par_size(c->par); r++)
		if (c->away[r] < least) {
			least = c->away[r];
			best = r;
		}
	return best;
}

/* A candidate for this rank goes to the pool directly, any other as a message. */
int rank_pool_submit(struct rank_pool *c, uint64_t id, struct str task, struct str candidate, struct err *e)
{
	struct order o = { .id = id, .task = task.n };
	int to = idlest(c);

	if (!to)
		return judge_pool_submit(c->pool, id, task, candidate, e);
	buf_clear(&c->letter);
	buf_add(&c->letter, &o, sizeof o);
	buf_addstr(&c->letter, task);
	buf_addstr(&c->letter, candidate);
	if (buf_check(&c->letter, e) || par_post(c->par, to, buf_str(&c->letter), e))
		return -1;
	c->away[to]++;
	return 0;
}

/* Candidates of all ranks without a verdict. */
size_t rank_pool_pending(const struct rank_pool *c)
{
	size_t n = judge_pool_pending(c->pool);

	for (int r = 1; r < par_size(c->par); r++)
		n += c->away[r];
	return n;
}

/* The number of workers of all ranks. All ranks are assumed to have as many as this one; the number
 * is used for the length of the queue only. */
int rank_pool_workers(const struct rank_pool *c)
{
	return judge_pool_workers(c->pool) * par_size(c->par);
}

/* Takes a verdict from another rank. Returns 1 and *out if there is one. */
static int answer(struct rank_pool *c, struct judged *out, struct err *e)
{
	for (int r = 1; r < par_size(c->par); r++) {
		int rc = c->away[r] ? par_take(c->par, r, &c->letter, e) : 0;

		if (rc < 0)
			return -1;
		if (rc) {
			if (c->letter.n != sizeof *out)
				return err_set(e, ERR_FORMAT, "rank %d sent a message that is not a verdict", r);
			memcpy(out, c->letter.p, sizeof *out);
			c->away[r]--;
			return 1;
		}
	}
	return 0;
}

/* With one process it is judge_pool_next. Otherwise it polls the own pool first and then the other
 * ranks. */
int rank_pool_next(struct rank_pool *c, int wait, struct judged *out, struct err *e)
{
	if (!c->par)
		return judge_pool_next(c->pool, wait, out, e);
	for (;;) {
		int rc = judge_pool_next(c->pool, 0, out, e);

		if (!rc)
			rc = answer(c, out, e);
		if (rc || !wait || !rank_pool_pending(c))
			return rc;
		if (par_stopping(c->par))
			return err_set(e, ERR_INTERRUPTED, "interrupted");
		nap();
	}
}

/* An empty message ends rank_pool_serve. */
int rank_pool_dismiss(struct rank_pool *c, struct err *e)
{
	for (int r = 1; r < par_size(c->par); r++)
		if (par_post(c->par, r, STR(""), e))
			return -1;
	return 0;
}

/* --- the others --------------------------------------------------------------------------- */

/* Submits a candidate from rank 0 to this rank's pool. */
static int take_order(struct rank_pool *c, struct err *e)
{
	struct str text = buf_str(&c->letter), task;
	struct order o;

	if (text.n < sizeof o)
		return err_set(e, ERR_FORMAT, "rank 0 sent a message that is not a candidate");
	memcpy(&o, text.p, sizeof o);
	text = (struct str){ .p = text.p + sizeof o, .n = text.n - sizeof o };
	if (o.task > text.n)
		return err_set(e, ERR_FORMAT, "rank 0 sent a truncated candidate");
	task = (struct str){ .p = text.p, .n = (size_t)o.task };
	return judge_pool_submit(c->pool, o.id, task, (struct str){ .p = text.p + task.n, .n = text.n - task.n }, e);
}

/* Sends a finished verdict to rank 0. Returns 1 if there was one. */
static int give_answer(struct rank_pool *c, struct err *e)
{
	struct judged j;
	int rc = judge_pool_next(c->pool, 0, &j, e);

	return rc > 0 && par_post(c->par, 0, (struct str){ .p = (const char *)&j, .n = sizeof j }, e) ? -1 : rc;
}

/* Takes candidates and sends verdicts until the empty message. Verdicts that are pending then are
 * not sent: the first rank dismisses only when it has all of them. */
int rank_pool_serve(struct rank_pool *c, struct err *e)
{
	for (;;) {
		int got = par_take(c->par, 0, &c->letter, e), gave;

		if (got < 0 || (got && c->letter.n && take_order(c, e)))
			return -1;
		if (got && !c->letter.n)
			return 0;
		gave = give_answer(c, e);
		if (gave < 0)
			return -1;
		if (par_stopping(c->par))
			return err_set(e, ERR_INTERRUPTED, "interrupted");
		if (!got && !gave)
			nap();
	}
}
