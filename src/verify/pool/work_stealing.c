/* Work stealing between ranks: see work_stealing.h.
 *
 * A message is a struct note and a body: two texts for an order, a struct judged for a verdict, the
 * caller's bytes for NOTE_TELL. Invariant: a rank leaves only after it has received BYE from all
 * others, so no message is lost. */
#include "verify/pool/work_stealing.h"

#include <time.h>

#include "base/mem.h"

/* ASK for work; an ORDER to judge; its VERDICT; TELL: data of the caller; DONE and BYE: see the
 * header. */
enum note_kind { NOTE_ASK, NOTE_ORDER, NOTE_VERDICT, NOTE_TELL, NOTE_DONE, NOTE_BYE };

struct note { uint64_t kind, id, task; };       /* task: length of the first text */

/* The state of another rank. */
struct steal_rank {
	int hungry;                   /* it asked for work and was sent none since */
	int asked;                    /* we asked it for work and got none since */
	int done, gone;               /* it said DONE; it said BYE */
};

/* A waiting candidate with copies of its texts. */
struct steal_job { uint64_t id; char *task, *candidate; size_t task_n, candidate_n; };

/* The upper bits of an id in the pool say whose candidate it is: 0 for this rank, else 1 + the
 * rank. */
enum { OWNER_SHIFT = 48 };
static const long nap_ns = 200000;

int steal_init(struct work_stealing *r, struct judge_pool *pool, struct par *par, struct err *e)
{
	*r = (struct work_stealing){ .pool = pool, .par = par, .rank = mem_array((size_t)par_size(par),
			sizeof *r->rank) };
	return r->rank ? 0 : err_nomem(e);
}

/* Frees the texts of a candidate that was sent or dropped. */
static void job_release(struct steal_job *j)
{
	mem_free(j->task);
	mem_free(j->candidate);
}

void steal_release(struct work_stealing *r)
{
	for (size_t i = r->waiting.at; i < r->waiting.n; i++)
		job_release(&r->waiting.v[i]);
	vec_free(&r->waiting);
	mem_free(r->rank);
	buf_release(&r->letter);
}

/* --- messages ----------------------------------------------------------------------------- */

/* Sends a note with a body of two parts. */
static int post(struct work_stealing *r, int to, struct note n, struct str a, struct str b, struct err *e)
{
	buf_clear(&r->letter);
	buf_add(&r->letter, &n, sizeof n);
	buf_addstr(&r->letter, a);
	buf_addstr(&r->letter, b);
	return buf_check(&r->letter, e) || par_post(r->par, to, buf_str(&r->letter), e) ? -1 : 0;
}

/* Sends a note without a body. */
static int post_word(struct work_stealing *r, int to, enum note_kind kind, struct err *e)
{
	return post(r, to, (struct note){ .kind = kind }, STR(""), STR(""), e);
}

/* Sends a note without a body to all other ranks. */
static int post_all(struct work_stealing *r, enum note_kind kind, struct err *e)
{
	for (int i = 0; i < par_size(r->par); i++)
		if (i != par_rank(r->par) && post_word(r, i, kind, e))
			return -1;
	return 0;
}

/* The message may arrive at any time; `heard` of the other rank receives it in its next poll. */
int steal_tell(struct work_stealing *r, int to, struct str data, struct err *e)
{
	return post(r, to, (struct note){ .kind = NOTE_TELL }, data, STR(""), e);
}

/* Submits another rank's candidate to this rank's pool, marked with its owner. */
static int take_order(struct work_stealing *r, int from, const struct note *n, struct str texts, struct err *e)
{
	struct str task = { .p = texts.p, .n = (size_t)n->task };

	if (n->task > texts.n)
		return err_set(e, ERR_FORMAT, "rank %d sent a truncated candidate", from);
	r->rank[from].asked = 0;
	return judge_pool_submit(r->pool, n->id | (uint64_t)(from + 1) << OWNER_SHIFT, task,
				 (struct str){ .p = texts.p + task.n, .n = texts.n - task.n }, e);
}

/* Takes the verdict of a candidate of this rank that another rank judged. */
static int take_verdict(struct work_stealing *r, int from, struct str body, struct judged *out, struct err *e)
{
	if (body.n != sizeof *out || !r->own)
		return err_set(e, ERR_FORMAT, "rank %d sent a message that is not a verdict", from);
	memcpy(out, body.p, sizeof *out);
	r->own--;
	r->given++;
	return 1;
}

/* Handles one message. Returns 1 if it was the verdict of a candidate of this rank. */
static int read_letter(struct work_stealing *r, int from, struct judged *out, struct err *e)
{
	struct str body = buf_str(&r->letter);
	struct note n;

	if (body.n < sizeof n)
		return err_set(e, ERR_FORMAT, "rank %d sent a truncated message", from);
	memcpy(&n, body.p, sizeof n);
	body = (struct str){ .p = body.p + sizeof n, .n = body.n - sizeof n };
	switch (n.kind) {
	case NOTE_ORDER:
		return take_order(r, from, &n, body, e);
	case NOTE_VERDICT:
		return take_verdict(r, from, body, out, e);
	case NOTE_TELL:
		return r->heard ? r->heard(r->heard_ctx, body, e) : 0;
	case NOTE_ASK:
		r->rank[from].hungry = 1;
		return 0;
	default:
		r->rank[from].done = 1;
		r->rank[from].gone = n.kind == NOTE_BYE;
		return 0;
	}
}

/* Handles all waiting messages, up to the first verdict for this rank. Returns 1 if there was
 * one. */
static int read_letters(struct work_stealing *r, struct judged *out, struct err *e)
{
	for (int from = 0; from < par_size(r->par); from++) {
		int rc = 0;

		while (from != par_rank(r->par) && !r->rank[from].gone && !rc &&
		       (rc = par_take(r->par, from, &r->letter, e)) > 0)
			rc = read_letter(r, from, out, e);
		if (rc)
			return rc;
	}
	return 0;
}

/* --- distribution ------------------------------------------------------------------------- */

/* Only queues the candidate. steal_next distributes it, so that idle ranks get their part. */
int steal_submit(struct work_stealing *r, uint64_t id, struct str task, struct str candidate, struct err *e)
{
	struct steal_job j = { .id = id, .task = mem_strndup(task.p, task.n), .task_n = task.n,
				.candidate = mem_strndup(candidate.p, candidate.n), .candidate_n = candidate.n };

	if (!j.task || !j.candidate || vec_push(&r->waiting, j)) {
		job_release(&j);
		return err_nomem(e);
	}
	r->own++;
	return 0;
}

/* Sends a candidate to another rank, or submits it to this rank's pool. */
static int send_job(struct work_stealing *r, int to, const struct steal_job *j, struct str task,
		    struct str candidate, struct err *e)
{
	if (to != par_rank(r->par)) {
		r->rank[to].hungry = 0;
		return post(r, to, (struct note){ .kind = NOTE_ORDER, .id = j->id, .task = task.n }, task,
			    candidate, e);
	}
	return judge_pool_submit(r->pool, j->id, task, candidate, e);
}

/* Sends the next waiting candidate to rank `to`, which may be this one. */
static int give(struct work_stealing *r, int to, struct err *e)
{
	struct steal_job *j = &r->waiting.v[r->waiting.at];
	int rc = send_job(r, to, j, (struct str){ .p = j->task, .n = j->task_n },
			  (struct str){ .p = j->candidate, .n = j->candidate_n }, e);

	job_release(j);
	if (++r->waiting.at == r->waiting.n)
		r->waiting.n = r->waiting.at = 0;
	return rc;
}

/* Distributes waiting candidates: first to this rank's pool, then to ranks that asked. Then asks
 * others for work if workers are idle. The pool gets one candidate more than it has workers, so
 * that none is idle until the next poll. */
static int spread(struct work_stealing *r, struct err *e)
{
	size_t workers = (size_t)judge_pool_workers(r->pool);
	int me = par_rank(r->par), ranks = par_size(r->par);

	while (r->waiting.n && judge_pool_pending(r->pool) <= workers)
		if (give(r, me, e))
			return -1;
	for (int i = 0; i < ranks && r->waiting.n; i++)
		if (r->rank[i].hungry && give(r, i, e))
			return -1;
	for (int i = 0; i < ranks && judge_pool_pending(r->pool) < workers; i++)
		if (i != me && !r->rank[i].done && !r->rank[i].asked) {
			r->rank[i].asked = 1;
			if (post_word(r, i, NOTE_ASK, e))
				return -1;
		}
	return 0;
}

/* Takes finished verdicts from the pool. Returns 1 for a verdict of this rank; verdicts for others
 * are sent to them. */
static int ask_pool(struct work_stealing *r, struct judged *out, struct err *e)
{
	int rc;

	while ((rc = judge_pool_next(r->pool, 0, out, e)) > 0) {
		int owner = (int)(out->id >> OWNER_SHIFT) - 1;

		if (owner < 0) {
			r->own--;
			return 1;
		}
		out->id &= ((uint64_t)1 << OWNER_SHIFT) - 1;
		if (post(r, owner, (struct note){ .kind = NOTE_VERDICT },
			 (struct str){ .p = (const char *)out, .n = sizeof *out }, STR(""), e))
			return -1;
	}
	return rc;
}

/* Polls messages and pool once, then distributes work. */
static int look(struct work_stealing *r, struct judged *out, struct err *e)
{
	int rc = read_letters(r, out, e);

	if (!rc)
		rc = ask_pool(r, out, e);
	return rc < 0 || spread(r, e) ? -1 : rc;
}

/* Waits a fifth of a millisecond between two polls. A stop that was requested ends every wait. */
static int nap(struct work_stealing *r, struct err *e)
{
	if (par_stopping(r->par))
		return err_set(e, ERR_INTERRUPTED, "interrupted");
	nanosleep(&(struct timespec){ .tv_nsec = nap_ns }, NULL);
	return 0;
}

/* Returns a verdict of this rank. While it waits, it also serves the requests of other ranks. */
int steal_next(struct work_stealing *r, int wait, struct judged *out, struct err *e)
{
	for (;;) {
		int rc = look(r, out, e);

		if (rc || !wait || !r->own)
			return rc;
		if (nap(r, e))
			return -1;
	}
}

/* --- the end ------------------------------------------------------------------------------ */

/* Tells whether all other ranks have said DONE, or BYE if `gone`. */
static int all_done(const struct work_stealing *r, int gone)
{
	for (int i = 0; i < par_size(r->par); i++)
		if (i != par_rank(r->par) && !(gone ? r->rank[i].gone : r->rank[i].done))
			return 0;
	return 1;
}

/* Judges for others until all have said DONE, or BYE if `gone`. */
static int help_until(struct work_stealing *r, int gone, struct err *e)
{
	struct judged none;

	while (!all_done(r, gone))
		if (look(r, &none, e) || nap(r, e))
			return -1;
	return 0;
}

/* Two rounds: after DONE of all no candidate is open anywhere, so no rank asks again. BYE is then
 * the last message of each rank, and a rank that has received all of them can leave. */
int steal_finish(struct work_stealing *r, struct err *e)
{
	if (r->own)
		BUG("candidates are still to be judged");
	return post_all(r, NOTE_DONE, e) || help_until(r, 0, e) || post_all(r, NOTE_BYE, e) ||
		help_until(r, 1, e) ? -1 : 0;
}
