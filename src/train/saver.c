/* Saves checkpoints in a thread while training continues. saver.h is the manual.
 *
 * Ownership: from its start to its end the thread owns the copy and the job; everything else
 * belongs to the caller. Both look at `copied` only, under the lock. */
#include "train/saver.h"

#include <pthread.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "train/checkpoint.h"

struct saver {
	struct saver_opts o;
	struct policy_copy copy;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	int running;
	int copied;                /* parameters may change */
	int64_t step, down;
	char name[64];
	struct buf state;
	struct err err;            /* of the thread */
	struct saver_stats stats;
};

/* Adds the time since `since` to what saving has cost the training. */
static void count_wait(struct saver *s, int64_t since)
{
	s->stats.seconds += (double)(clock_ns() - since) / 1e9;
}

/* Sets `copied` and wakes the trainer if it waits. */
static void set_copied(struct saver *s, int copied)
{
	pthread_mutex_lock(&s->lock);
	s->copied = copied;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

/* The trainer calls this before it changes parameters. It waits only if a step is shorter than
 * copying the parameters. */
static void wait_copied(void *ctx)
{
	struct saver *s = ctx;
	int64_t start = clock_ns();

	pthread_mutex_lock(&s->lock);
	while (!s->copied)
		pthread_cond_wait(&s->wake, &s->lock);
	pthread_mutex_unlock(&s->lock);
	count_wait(s, start);
}

struct saver *saver_new(const struct saver_opts *o, struct err *e)
{
	struct saver *s = mem_zalloc(sizeof *s);

	if (!s) {
		err_nomem(e);
		return NULL;
	}
	s->o = *o;
	s->down = -1;
	s->copied = 1;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	trainer_set_reader(o->policy->trainer, wait_copied, s);
	return s;
}

/* Writes the checkpoint. The store is synced first: samples and metrics of the step are on disk
 * before the checkpoint that relies on them gets its name. */
static int write_down(struct saver *s)
{
	return (s->o.store && store_sync(s->o.store, &s->err)) ||
	       policy_save_copy(s->o.policy, &s->copy, s->o.parent, s->name, buf_str(&s->state), &s->err) ||
	       checkpoint_prune(s->o.parent, s->o.prefix, s->o.keep, &s->err) ? -1 : 0;
}

/* The thread: copies the parameters (on a CPU; a GPU's were copied before), lets training continue,
 * and writes. */
static void *work(void *ctx)
{
	struct saver *s = ctx;
	int rc = policy_shares_memory(s->o.policy) ? policy_copy(s->o.policy, &s->copy, &s->err) : 0;

	set_copied(s, 1);
	if (!rc)
		write_down(s);
	return NULL;
}

int saver_wait(struct saver *s, struct err *e)
{
	if (!s->running)
		return 0;
	pthread_join(s->thread, NULL);
	s->running = 0;
	if (s->err.code)
		return err_set(e, s->err.code, "%s", s->err.text);
	s->down = s->step;
	return 0;
}

/* Starts the thread for one checkpoint. The name is "PREFIX-STEP" with six digits, so that names
 * sort. */
static int begin(struct saver *s, int64_t step, struct str state, struct err *e)
{
	buf_clear(&s->state);
	buf_addstr(&s->state, state);
	snprintf(s->name, sizeof s->name, "%s-%06lld", s->o.prefix, (long long)step);
	s->step = step;
	policy_freeze(s->o.policy);
	if (buf_check(&s->state, e) || (!policy_shares_memory(s->o.policy) && policy_copy(s->o.policy, &s->copy, e)))
		return -1;
	set_copied(s, 0);
	s->running = !pthread_create(&s->thread, NULL, work, s);
	if (s->running)
		return 0;
	set_copied(s, 1);
	return err_set(e, ERR_IO, "cannot start a thread");
}

int saver_save(struct saver *s, int64_t step, struct str state, struct err *e)
{
	int64_t start = clock_ns();
	int rc = saver_wait(s, e) || begin(s, step, state, e) ? -1 : 0;

	count_wait(s, start);
	s->stats.saves++;
	return rc;
}

int64_t saver_down(const struct saver *s) { return s->down; }
struct saver_stats saver_stats(const struct saver *s) { return s->stats; }

void saver_free(struct saver *s)
{
	struct err e = ERR_INIT;

	if (!s)
		return;
	if (saver_wait(s, &e))
		log_warn("the last checkpoint was not written: %s", e.text);
	if (s->stats.saves)
		log_info("%lld checkpoints delayed training by %.3f ms each", (long long)s->stats.saves,
			 1e3 * s->stats.seconds / (double)s->stats.saves);
	trainer_set_reader(s->o.policy->trainer, NULL, NULL);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->wake);
	policy_copy_release(&s->copy);
	buf_release(&s->state);
	mem_free(s);
}
