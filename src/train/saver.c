/* Saving beside training: see saver.h. The thread has the copy and the job from its start to its end;
 * everything else belongs to the caller. */
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
	int running;
	int64_t step, down;
	char name[64];
	struct buf state;
	struct err err;            /* of the thread */
	struct saver_stats stats;
};

struct saver *saver_new(const struct saver_opts *o, struct err *e)
{
	struct saver *s = mem_zalloc(sizeof *s);

	if (!s) {
		err_nomem(e);
		return NULL;
	}
	s->o = *o;
	s->down = -1;
	return s;
}

static void *write_copy(void *ctx)
{
	struct saver *s = ctx;

	if (!policy_save_copy(s->o.policy, &s->copy, s->o.parent, s->name, buf_str(&s->state), &s->err))
		checkpoint_prune(s->o.parent, s->o.prefix, s->o.keep, &s->err);
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

static int begin(struct saver *s, int64_t step, struct str state, struct err *e)
{
	buf_clear(&s->state);
	buf_addstr(&s->state, state);
	snprintf(s->name, sizeof s->name, "%s-%06lld", s->o.prefix, (long long)step);
	s->step = step;
	if (buf_check(&s->state, e) || policy_copy(s->o.policy, &s->copy, e))
		return -1;
	s->running = !pthread_create(&s->thread, NULL, write_copy, s);
	return s->running ? 0 : err_set(e, ERR_IO, "cannot start a thread");
}

int saver_save(struct saver *s, int64_t step, struct str state, struct err *e)
{
	int64_t start = clock_ns();
	int rc = saver_wait(s, e) || begin(s, step, state, e) ? -1 : 0;

	s->stats.seconds += (double)(clock_ns() - start) / 1e9;
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
		log_info("%lld checkpoints held training up for %.1f ms each", (long long)s->stats.saves, 1e3 * s->stats.seconds / (double)s->stats.saves);
	policy_copy_release(&s->copy);
	buf_release(&s->state);
	mem_free(s);
}
