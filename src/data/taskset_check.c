/* Tasks that cannot be judged are left out before anyone is asked about them: see taskset.h. */
#include "base/log.h"
#include "data/taskset.h"
#include "verify/pool.h"

/* A candidate without code: its verdict is about the task, or that there is no code. */
static int submit_all(const struct taskset *t, struct judge_pool *pool, struct err *e)
{
	for (size_t i = 0; i < t->rows.n; i++)
		if (judge_pool_submit(pool, i, str_of(t->rows.v[i].source), STR(""), e))
			return -1;
	return 0;
}

static int find_bad(const struct taskset *t, struct judge_pool *pool, unsigned char *bad, struct err *e)
{
	struct judged j;
	int rc = submit_all(t, pool, e);

	while (!rc && (rc = judge_pool_next(pool, 1, &j, e)) > 0) {
		bad[j.id] = j.verdict.diag.reason == REASON_bad_task;
		if (bad[j.id])
			log_warn("task '%s' is left out: %s", t->rows.v[j.id].id, j.verdict.diag.text);
		rc = j.rc && !bad[j.id] ? err_set(e, ERR_STATE, "task '%s' cannot be judged: %s", t->rows.v[j.id].id, j.err.text) : 0;
	}
	return rc;
}

static void drop(struct taskset *t, const unsigned char *bad)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->rows.n; i++)
		if (bad[i])
			task_row_release(&t->rows.v[i]);
		else
			t->rows.v[kept++] = t->rows.v[i];
	t->rows.n = kept;
}

int taskset_keep_good(struct taskset *t, struct judge_pool *pool, struct par *par, struct err *e)
{
	size_t n = t->rows.n;
	unsigned char *bad = mem_zalloc(n);
	int rc = bad ? 0 : err_nomem(e);

	if (!rc && par_first(par))
		rc = find_bad(t, pool, bad, e);
	if (!rc)
		rc = par_bcast(par, bad, n, e);
	if (!rc)
		drop(t, bad);
	mem_free(bad);
	if (!rc && t->rows.n < n && par_first(par))
		log_warn("%zu of %zu tasks cannot be judged and are left out", n - t->rows.n, n);
	return !rc && !t->rows.n ? err_set(e, ERR_STATE, "none of the tasks can be judged") : rc;
}
