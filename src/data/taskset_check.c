/* Leaves tasks out that cannot be judged, before any sample is drawn for them. taskset.h is the
 * manual. */
#include "base/log.h"
#include "data/taskset.h"
#include "verify/pool/batch.h"

/* The tasks, and which of them cannot be judged. */
struct checking {
	const struct taskset *t;
	size_t asked;
	unsigned char *bad;     /* [rows] */
};

/* The next task, with an empty candidate: the verdict then tells only whether the task can be
 * judged. */
static int next_task(void *ctx, uint64_t *id, struct str *task, struct str *candidate)
{
	struct checking *c = ctx;

	if (c->asked >= c->t->rows.n)
		return 0;
	*id = c->asked++;
	*task = str_of(c->t->rows.v[*id].source);
	*candidate = STR("");
	return 1;
}

/* Notes the verdict. A judge that fails for another reason than the task is an error. */
static int note_task(void *ctx, const struct judged *j, struct err *e)
{
	struct checking *c = ctx;
	const char *name = c->t->rows.v[j->id].id;

	c->bad[j->id] = j->verdict.diag.reason == REASON_bad_task;
	if (c->bad[j->id])
		log_warn("task '%s' is left out: %s", name, j->verdict.diag.text);
	return j->rc && !c->bad[j->id] ? err_set(e, ERR_STATE, "task '%s' cannot be judged: %s", name, j->err.text) : 0;
}

/* Removes the marked tasks. */
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

/* Removes tasks that cannot be judged. The first rank judges them, and all ranks remove the same
 * ones. */
int taskset_keep_good(struct taskset *t, struct judge_pool *pool, struct par *par, struct err *e)
{
	size_t n = t->rows.n;
	unsigned char *bad = mem_zalloc(n);
	struct checking c = { .t = t, .bad = bad };
	const struct batch_source tasks = { .next = next_task, .told = note_task, .ctx = &c };
	int rc = bad ? 0 : err_nomem(e);

	if (!rc && par_first(par))
		rc = judge_pool_run(pool, &tasks, e);
	if (!rc)
		rc = par_bcast(par, bad, n, e);
	if (!rc)
		drop(t, bad);
	mem_free(bad);
	if (!rc && t->rows.n < n && par_first(par))
		log_warn("%zu of %zu tasks cannot be judged and are left out", n - t->rows.n, n);
	return !rc && !t->rows.n ? err_set(e, ERR_STATE, "none of the tasks can be judged") : rc;
}
