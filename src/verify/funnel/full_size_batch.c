/* Batches of runs at full size: see full_size_batch.h. */
#include "verify/funnel/full_size_batch.h"

#include "base/hash.h"

/* | 1 keeps the seed from being 0, which would mean that no instances are drawn. */
uint64_t full_size_draw(uint64_t seed, struct str source, int trial)
{
	return hash_xxh64(source.p, source.n, seed * 1000003u + (uint64_t)trial) | 1;
}

/* A killed runner is treated like a late one: the system kills when memory is short, and tensors
 * of full size need much. */
enum step full_size_ask(struct funnel *f, int *late)
{
	struct trial_result r = TRIAL_RESULT_INIT;
	enum step step = attempt_ask(f, &r);

	*late = step == STEP_FAILED && f->lost != LOST_CRASHED;
	if (!*late)
		return funnel_commit(f, &r);
	f->lost = LOST_NOT;
	return STEP_PASSED;
}

enum step full_size_malformed(struct funnel *f)
{
	return funnel_failf(f, STAGE_full, REASON_worker_crashed, "%s", reason_text(REASON_worker_crashed));
}

/* Runs at full size give parts of results only, so there are no whole results to take. */
enum step full_size_take(struct funnel *f, int i)
{
	struct results none;
	int rc = shmem_report(f->link->shmem, &f->orders, i, &f->report, &none, f->e);

	return rc > 0 ? full_size_malformed(f) : rc ? STEP_BROKE : STEP_PASSED;
}
