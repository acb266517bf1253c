/* Prepared copies of a task at other sizes: see sized_cache.h. */
#include "verify/funnel/sized_cache.h"

#include "base/log.h"
#include "verify/funnel/size_learn.h"
#include "verify/funnel/size_model.h"

static void add_prepare_ms(struct funnel *f, int64_t start)
{
	f->v->prepare_ms += (double)(clock_ns() - start) / 1e6;
}

/* The value of the i-th size in a trial. */
static int64_t size_in(const struct task *t, const struct trial *tr, size_t i)
{
	for (size_t k = 0; k < tr->n_ov; k++)
		if (str_eq(tr->ov[k].name, t->image.size[i].name))
			return tr->ov[k].value;
	return t->image.size[i].full;
}

/* Is the base task itself prepared at these sizes? Always 0 for a task that is not large. Only for
 * a large task would a second preparation be expensive. */
static int is_prepared_at(const struct task *t, const int64_t *size)
{
	for (size_t i = 0; i < t->image.n_all && t->large; i++)
		if (size_in(t, &t->image.trial[0], i) != size[i] || size_in(t, &t->image.trial[1], i) != size[i])
			return 0;
	return t->large && t->image.n_trials > 1;
}

/* Adds a copy to the cache. A full cache gives up its oldest copy. Returns its index, or -1
 * (*f->e). */
static int add_copy(struct funnel *f, const int64_t *size)
{
	const struct task *t = f->base;
	struct sized_tasks *c = t->sized_tasks;
	int64_t start = clock_ns();
	struct task *copy = task_open_at(t, size, size_model_work(t, size) > SIZE_WORK_FIRST * 8.0, f->e);

	if (!copy)
		return -1;
	add_prepare_ms(f, start);
	if (c->n == SIZED_TASKS_MOST) {
		task_free(c->at[0].t);
		memmove(&c->at[0], &c->at[1], (size_t)--c->n * sizeof c->at[0]);
	}
	memcpy(c->at[c->n].size, size, t->image.n_all * sizeof *size);
	c->at[c->n].t = copy;
	return c->n++;
}

/* A copy that cannot be judged stays in the cache as well: the next candidate need not try it
 * again. */
enum step sized_cache_at(struct funnel *f, const int64_t *size, const struct task **out)
{
	const struct task *t = f->base;
	struct sized_tasks *c = t->sized_tasks;
	int i = 0;

	*out = t;
	if (is_prepared_at(t, size))
		return STEP_PASSED;
	while (i < c->n && memcmp(c->at[i].size, size, t->image.n_all * sizeof *size))
		i++;
	if (i == c->n)
		i = add_copy(f, size);
	if (i < 0)
		return STEP_BROKE;
	*out = c->at[i].t;
	return task_problem(*out)->reason == REASON_ok ? STEP_PASSED : STEP_FAILED;
}

/* Looks for the reduced task, once. */
static enum step find_reduced(struct funnel *f)
{
	struct sized_tasks *c = f->base->sized_tasks;
	const struct size_facts *k = &c->k;

	if (size_learn_reduced(f) == STEP_BROKE)
		return STEP_BROKE;
	c->reduced_task = 1;
	if (!k->reduced.indices)
		return STEP_PASSED;
	c->reduced = task_open_reduced(f->base, &k->reduced, f->e);
	if (!c->reduced)
		return STEP_BROKE;
	if (task_problem(c->reduced)->reason != REASON_ok) {
		task_free(c->reduced);
		c->reduced = NULL;
	}
	return STEP_PASSED;
}

/* The reduced task is looked for once per task: its absence is known from then on. */
enum step sized_cache_reduced(struct funnel *f, const struct task **out)
{
	struct sized_tasks *c = f->base->sized_tasks;
	int64_t start = clock_ns();
	enum step step = STEP_PASSED;

	*out = NULL;
	if (c->k.known <= 0)
		return STEP_PASSED;
	if (!c->reduced_task) {
		step = find_reduced(f);
		add_prepare_ms(f, start);
	}
	*out = c->reduced;
	return step;
}

int sized_cache_is_affordable(const struct funnel *f, const int64_t *size)
{
	return f->base->sized_tasks->k.known > 0 && size_model_work(f->base, size) <= SIZE_WORK_MOST / 8;
}

/* --- settling ----------------------------------------------------------------------------- */

/* A base task that is an outline has only its first input set. Its whole is prepared here. */
enum step sized_cache_settle_base(struct funnel *f, struct test_sizes *out)
{
	struct sized_tasks *c = f->base->sized_tasks;
	int64_t start = clock_ns();

	out->kind = task_size(f->base);
	out->t = f->base;
	if (!f->base->is_outline)
		return STEP_PASSED;
	if (!c->whole) {
		c->whole = task_open_whole(f->base, f->e);
		add_prepare_ms(f, start);
	}
	out->t = c->whole;
	if (!c->whole)
		return STEP_BROKE;
	if (task_problem(c->whole)->reason == REASON_ok)
		return STEP_PASSED;
	f->v->diag = *task_problem(c->whole);
	return (enum step)err_set(f->e, ERR_STATE, "the task cannot be judged: %s", f->v->diag.text);
}

/* Results that do not fit into shared memory cannot be compared, so the base task is the fall-
 * back. */
enum step sized_cache_settle(struct funnel *f, enum size_kind kind, const int64_t *size, struct test_sizes *out)
{
	enum step step;

	memcpy(out->size, size, f->base->image.n_all * sizeof *size);
	out->kind = size_model_is_full(f->base, size) ? SIZE_FULL : kind;
	step = sized_cache_at(f, size, &out->t);
	if (step == STEP_BROKE)
		return STEP_BROKE;
	return step == STEP_PASSED && shmem_holds(out->t) ? STEP_PASSED : sized_cache_settle_base(f, out);
}
