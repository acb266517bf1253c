/* A batch of candidates: see batch.h.
 *
 * Owns the detection of equal candidates and the verdict cache's use. With options, a job is an
 * index into `jobs`, and the pool's ids are these indices. Without options there are no jobs, and
 * the pool's ids are the caller's. */
#include "verify/pool/batch.h"

#include "base/mem.h"
#include "base/progress.h"
#include "verify/pool/verdict_cache.h"

enum { AHEAD = 4 };     /* candidates for each worker that are being judged or wait for it */

/* A job is unused, at a worker, waiting for an equal job, or kept for its answer. */
enum job_state { JOB_FREE, JOB_WITH_WORKER, JOB_WAITS, JOB_ANSWERED };

struct batch_job {
	uint64_t id;               /* the caller's */
	enum job_state state;
	char key[65];              /* verdict_key: equal candidates have equal keys */
	size_t next;               /* 1 + index of the next job that waits for the same verdict; 0: none */
	struct judged *answer;     /* kept for later equal candidates if there is no cache. Owned */
};

int judge_batch_init(struct judge_batch *b, struct judge_pool *pool, struct par *par,
		     const struct judge_options *options, struct store *cache,
		     struct err *e)
{
	*b = (struct judge_batch){ .options = options, .cache = cache };
	return rank_pool_init(&b->rank_pool, pool, par, e);
}

void judge_batch_release(struct judge_batch *b)
{
	rank_pool_release(&b->rank_pool);
	steal_release(&b->stealing);
	for (size_t i = 0; i < b->jobs.n; i++)
		mem_free(b->jobs.v[i].answer);
	vec_free(&b->jobs);
}

/* The rank pool stays initialised, but candidates go to work stealing from now on. */
int judge_batch_steal(struct judge_batch *b, struct par *par, struct err *e)
{
	return par ? steal_init(&b->stealing, b->rank_pool.pool, par, e) : 0;
}

int judge_batch_finish(struct judge_batch *b, struct err *e)
{
	return b->stealing.par ? steal_finish(&b->stealing, e) : 0;
}

/* Work stealing counts this rank's candidates only; those of other ranks do not delay the end. */
size_t judge_batch_pending(const struct judge_batch *b)
{
	return (b->stealing.par ? b->stealing.own : rank_pool_pending(&b->rank_pool)) + b->waiting;
}

/* Counts only candidates in the pool. Those that wait for an equal one cost no worker. */
int judge_batch_full(const struct judge_batch *b)
{
	return rank_pool_pending(&b->rank_pool) > (size_t)rank_pool_workers(&b->rank_pool) * AHEAD;
}

/* --- asking ------------------------------------------------------------------------------- */

/* Sends a candidate to whichever pool this batch uses. */
static int submit(struct judge_batch *b, uint64_t id, struct str task, struct str candidate, struct err *e)
{
	return b->stealing.par ? steal_submit(&b->stealing, id, task, candidate, e) :
		rank_pool_submit(&b->rank_pool, id, task, candidate, e);
}

/* Finds a job with the same key. A linear search is enough: a batch holds the candidates in work,
 * or the samples of one training step. */
static struct batch_job *find_equal(struct judge_batch *b, const char *key)
{
	for (size_t i = 0; i < b->jobs.n && !b->always; i++) {
		struct batch_job *j = &b->jobs.v[i];

		if ((j->state == JOB_WITH_WORKER || j->state == JOB_ANSWERED) && !strcmp(j->key, key))
			return j;
	}
	return NULL;
}

/* Returns a free job. Its index stays valid when the array grows; pointers to jobs do not. */
static struct batch_job *new_job(struct judge_batch *b, struct err *e)
{
	for (size_t i = 0; i < b->jobs.n; i++)
		if (b->jobs.v[i].state == JOB_FREE)
			return &b->jobs.v[i];
	if (vec_push(&b->jobs, (struct batch_job){ .state = JOB_FREE })) {
		err_nomem(e);
		return NULL;
	}
	return &b->jobs.v[b->jobs.n - 1];
}

/* Sends a candidate to a worker as a new job. */
static int ask_worker(struct judge_batch *b, uint64_t id, const char *key, struct str task,
		      struct str candidate, struct err *e)
{
	struct batch_job *j = new_job(b, e);

	if (!j || submit(b, (uint64_t)(j - b->jobs.v), task, candidate, e))
		return -1;
	*j = (struct batch_job){ .id = id, .state = JOB_WITH_WORKER };
	memcpy(j->key, key, sizeof j->key);
	return 0;
}

/* Adds a job that waits for the verdict of job `first`, at the head of that job's list. */
static int wait_for(struct judge_batch *b, uint64_t id, size_t first, struct err *e)
{
	struct batch_job *j = new_job(b, e);

	if (!j)
		return -1;
	*j = (struct batch_job){ .id = id, .state = JOB_WAITS, .next = b->jobs.v[first].next };
	b->jobs.v[first].next = 1 + (size_t)(j - b->jobs.v);
	b->waiting++;
	return 0;
}

/* The order of the sources: the cache (another run may have judged it), a job of this batch with
 * the same key, a worker. */
int judge_batch_ask(struct judge_batch *b, uint64_t id, struct str task, struct str candidate,
		    struct judged *now, struct err *e)
{
	struct batch_job *same;
	char key[65];
	int rc;

	if (!b->options)
		return submit(b, id, task, candidate, e);
	*now = (struct judged){ .id = id };
	verdict_key(b->options, task, candidate, key);
	rc = b->cache && !b->always ? verdict_cache_get(b->cache, key, &now->verdict, e) : 0;
	b->hits += rc > 0;
	if (rc)
		return rc;
	same = find_equal(b, key);
	if (!same)
		return ask_worker(b, id, key, task, candidate, e);
	if (same->state == JOB_WITH_WORKER)
		return wait_for(b, id, (size_t)(same - b->jobs.v), e);
	*now = *same->answer;
	now->id = id;
	return 1;
}

/* --- answers ------------------------------------------------------------------------------ */

/* Keeps a verdict for later equal candidates, in the cache or in the job itself. A failure to judge
 * is not kept: another attempt may succeed. */
static int keep(struct judge_batch *b, struct batch_job *j, const struct judged *said, struct err *e)
{
	j->state = JOB_FREE;
	if (said->rc)
		return 0;
	if (b->cache) {
		b->kept++;
		return verdict_cache_put(b->cache, j->key, &said->verdict, e);
	}
	j->answer = mem_alloc(sizeof *j->answer);
	if (!j->answer)
		return err_nomem(e);
	*j->answer = *said;
	verdict_forget_times(&j->answer->verdict);
	j->state = JOB_ANSWERED;
	return 0;
}

/* Gives the last verdict to the next job that waits for it. Times are cleared, because no time was
 * spent for this job. */
static void tell_next(struct judge_batch *b, struct judged *out)
{
	struct batch_job *j = &b->jobs.v[b->telling - 1];

	*out = b->said;
	out->id = j->id;
	verdict_forget_times(&out->verdict);
	b->telling = j->next;
	j->state = JOB_FREE;
	b->waiting--;
}

/* Jobs that wait for the last verdict come first; they need no worker. Then the pool is asked. */
int judge_batch_next(struct judge_batch *b, int wait, struct judged *out, struct err *e)
{
	struct batch_job *j;
	int rc;

	if (b->telling) {
		tell_next(b, out);
		return 1;
	}
	rc = b->stealing.par ? steal_next(&b->stealing, wait, out, e) : rank_pool_next(&b->rank_pool, wait, out, e);
	if (rc <= 0 || !b->options)
		return rc;
	j = &b->jobs.v[out->id];
	out->id = j->id;
	b->telling = j->next;
	if (b->telling)
		b->said = *out;
	return keep(b, j, out, e) ? -1 : 1;
}

/* --- a whole source ----------------------------------------------------------------------- */

/* Waits for one verdict and passes it to the receiver. */
static int hear(struct judge_batch *b, const struct batch_source *s, struct err *e)
{
	struct judged j;
	int rc = judge_batch_next(b, 1, &j, e);

	return rc <= 0 ? rc : s->told(s->ctx, &j, e) ? -1 : 1;
}

/* Alternates between submitting and waiting, so that the workers always have AHEAD candidates each
 * and the rest of the source stays unread. */
int judge_batch_run(struct judge_batch *b, const struct batch_source *s, struct err *e)
{
	struct str task, candidate;
	struct judged now;
	uint64_t id;
	int rc = 0, more = 1;

	while (rc >= 0 && (more || judge_batch_pending(b))) {
		if (stop_requested())
			return err_set(e, ERR_INTERRUPTED, "interrupted");
		if (!more || judge_batch_full(b)) {
			rc = hear(b, s, e);
		} else if ((more = s->next(s->ctx, &id, &task, &candidate))) {
			rc = judge_batch_ask(b, id, task, candidate, &now, e);
			if (rc > 0)
				rc = s->told(s->ctx, &now, e);
		}
	}
	return rc < 0 ? -1 : 0;
}

/* Without options no keys are computed, so that equal candidates are judged again. */
int judge_pool_run(struct judge_pool *pool, const struct batch_source *s, struct err *e)
{
	struct judge_batch b;
	int rc = judge_batch_init(&b, pool, NULL, NULL, NULL, e) || judge_batch_run(&b, s, e) ? -1 : 0;

	judge_batch_release(&b);
	return rc;
}
