/* The sequences of a run, either from files (read once, permuted in each epoch) or from a source
 * that draws rows as training goes. feed.h is the manual.
 *
 * Invariant: the sequences of step k are a function of (data or source, seed, k). A resumed run
 * asks for step k and gets what the interrupted one would have had. */
#include "train/feed.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/thread.h"

/* How many replacements are tried for a row that has nothing to learn in it. */
enum { SPARE_ROWS = 1000 };

/* Row k is replaced by row k + i * NEXT_ROW while there is nothing in it to learn. No run has that
 * many. */
static const uint64_t NEXT_ROW = 1ull << 40;

/* The sequences of one step, made by several threads: thread t makes numbers t, t + threads, ... */
struct batch {
	int64_t step;                  /* -1: nothing */
	struct dataset *part;          /* [threads] */
	struct err *err;               /* [threads] */
};

/* A feed of sequences from files or from a source. A source needs time for its rows, so one thread
 * makes the batch of the next step while the caller trains on the present one. `lock` guards
 * `wanted` and the batches' `step`. */
struct feed {
	struct feed_opts o;
	const struct tok *tok;
	struct dataset d;              /* of files */
	uint32_t *order;
	int64_t order_epoch;

	struct pool *pool;             /* of a source */
	struct batch batch[2];         /* the one in use, and the next */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t wanted;                /* step to make next; -1: none */
	int started, ending;
};

/* --- files -------------------------------------------------------------------------------- */

/* Loads all data files. No row at all is an error. */
static int open_files(struct feed *f, struct err *e)
{
	for (size_t i = 0; i < f->o.data.n; i++)
		if (dataset_load(&f->d, f->tok, f->o.data.v[i], f->o.max_length, e))
			return -1;
	if (!f->d.seqs.n)
		return err_set(e, ERR_FORMAT, "the data has no row to train on");
	f->order_epoch = -1;
	f->order = mem_array(f->d.seqs.n, sizeof *f->order);
	return f->order ? 0 : err_nomem(e);
}

/* Sequence i of a dataset, borrowed. */
static struct train_seq seq_of(const struct dataset *d, size_t i)
{
	const struct dataset_seq *q = &d->seqs.v[i];

	return (struct train_seq){ .tokens = d->tokens.v + q->at, .weight = d->weights.v + q->at, .n = q->n };
}

/* Sequence number k of the whole run: with n sequences it is element k % n of the permutation of
 * epoch k / n. */
static int pick(struct feed *f, int64_t k, struct train_seq *out)
{
	int64_t n = (int64_t)f->d.seqs.n;

	if (k / n != f->order_epoch) {
		f->order_epoch = k / n;
		if (dataset_order(&f->d, f->o.seed, f->order_epoch, f->o.shuffle, f->order))
			return -1;
	}
	*out = seq_of(&f->d, f->order[k % n]);
	return 0;
}

/* --- a source ----------------------------------------------------------------------------- */

/* Draws row k. A row without anything to learn (cut before its completion begins, for example) is
 * replaced by row k + NEXT_ROW, k + 2 NEXT_ROW and so on. */
static int make_row(struct feed *f, uint64_t k, struct dataset *d, struct dataset_rows *rows,
		    struct buf *line, struct err *e)
{
	size_t before = d->seqs.n;

	for (int i = 0; i < SPARE_ROWS; i++) {
		buf_clear(line);
		if (f->o.row(f->o.ctx, k + (uint64_t)i * NEXT_ROW, line, e) || dataset_rows_add(rows, buf_str(line), e))
			return -1;
		if (d->seqs.n > before)
			return 0;
	}
	return err_set(e, ERR_RANGE, "%d consecutive rows of the source have nothing to learn in %d tokens", SPARE_ROWS,
		       f->o.max_length);
}

/* The context of make_part. */
struct making { struct feed *f; struct batch *b; };

/* Thread `me` of `count` makes the rows me, me + count, me + 2 count, ... of the batch, so the
 * result does not depend on which thread is faster. */
static void make_part(void *ctx, int me, int count)
{
	struct making *m = ctx;
	struct dataset *d = &m->b->part[me];
	struct err *e = &m->b->err[me];
	struct dataset_rows *rows;
	struct buf line = BUF_INIT;
	uint64_t first = (uint64_t)m->b->step * (uint64_t)m->f->o.per_step;
	int rc;

	dataset_clear(d);
	*e = (struct err)ERR_INIT;
	rows = dataset_rows_new(d, m->f->tok, m->f->o.max_length, e);
	rc = rows ? 0 : -1;
	for (int i = me; i < m->f->o.per_step && !rc; i += count)
		rc = make_row(m->f, first + (uint64_t)i, d, rows, &line, e);
	dataset_rows_free(rows);
	buf_release(&line);
}

/* The thread that makes batches: waits until the caller asks for a step, makes its batch without
 * the lock, and tells the caller. */
static void *keep_making(void *ctx)
{
	struct feed *f = ctx;

	pthread_mutex_lock(&f->lock);
	while (!f->ending) {
		struct making m = { .f = f, .b = &f->batch[MAX(f->wanted, 0) & 1] };

		if (f->wanted < 0) {
			pthread_cond_wait(&f->changed, &f->lock);
			continue;
		}
		m.b->step = f->wanted;
		pthread_mutex_unlock(&f->lock);
		pool_run(f->pool, make_part, &m);
		pthread_mutex_lock(&f->lock);
		f->wanted = -1;
		pthread_cond_broadcast(&f->changed);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

/* Starts the thread and the pool that make batches. */
static int open_source(struct feed *f, struct err *e)
{
	f->pool = pool_new(0, e);
	if (!f->pool)
		return -1;
	for (int i = 0; i < 2; i++) {
		f->batch[i].step = -1;
		f->batch[i].part = mem_array((size_t)pool_size(f->pool), sizeof *f->batch[i].part);
		f->batch[i].err = mem_array((size_t)pool_size(f->pool), sizeof *f->batch[i].err);
		if (!f->batch[i].part || !f->batch[i].err)
			return err_nomem(e);
	}
	f->started = !pthread_create(&f->thread, NULL, keep_making, f);
	return f->started ? 0 : err_set(e, ERR_IO, "cannot start a thread");
}

/* Waits until the batch of the step is there, and asks for the one after it. */
static const struct batch *next_batch(struct feed *f, int64_t step)
{
	struct batch *b = &f->batch[step & 1];

	pthread_mutex_lock(&f->lock);
	while (f->wanted >= 0)
		pthread_cond_wait(&f->changed, &f->lock);
	if (b->step != step) {
		f->wanted = step;
		pthread_cond_broadcast(&f->changed);
		while (f->wanted >= 0)
			pthread_cond_wait(&f->changed, &f->lock);
	}
	f->wanted = step + 1;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	return b;
}

/* Hands out the sequences of a step in their order, whichever thread made them. */
static int take_batch(struct feed *f, int64_t step, struct train_seq *out, struct err *e)
{
	const struct batch *b = next_batch(f, step);
	int threads = pool_size(f->pool);

	for (int i = 0; i < threads; i++)
		if (b->err[i].code)
			return err_set(e, b->err[i].code, "%s", b->err[i].text);
	for (int i = 0; i < f->o.per_step; i++)
		out[i] = seq_of(&b->part[i % threads], (size_t)(i / threads));
	return 0;
}

/* --- both --------------------------------------------------------------------------------- */

struct feed *feed_open(const struct feed_opts *o, const struct tok *t, struct err *e)
{
	struct feed *f = mem_zalloc(sizeof *f);

	if (!f) {
		err_nomem(e);
		return NULL;
	}
	f->o = *o;
	f->tok = t;
	f->wanted = -1;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	if (o->row ? open_source(f, e) : open_files(f, e)) {
		feed_close(f);
		return NULL;
	}
	return f;
}

/* Ends the thread after the batch that it is making. */
static void end_thread(struct feed *f)
{
	pthread_mutex_lock(&f->lock);
	f->ending = 1;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
}

void feed_close(struct feed *f)
{
	if (!f)
		return;
	if (f->started)
		end_thread(f);
	for (int i = 0; i < 2; i++) {
		for (int k = 0; f->batch[i].part && k < pool_size(f->pool); k++)
			dataset_release(&f->batch[i].part[k]);
		mem_free(f->batch[i].part);
		mem_free(f->batch[i].err);
	}
	pool_free(f->pool);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	dataset_release(&f->d);
	mem_free(f->order);
	mem_free(f);
}

int64_t feed_epoch(const struct feed *f)
{
	return f->o.row ? 0 : (int64_t)f->d.seqs.n;
}

void feed_describe(const struct feed *f, struct buf *out)
{
	if (f->o.row)
		buf_addf(out, "sequences drawn as the training goes, at most %d tokens each", f->o.max_length);
	else
		buf_addf(out, "%zu sequences, %zu tokens, %lld cut to %d, %lld without anything to learn",
			 f->d.seqs.n, f->d.tokens.n,
			 (long long)f->d.cut, f->o.max_length, (long long)f->d.empty);
}

int feed_step(struct feed *f, int64_t step, struct train_seq *out, struct err *e)
{
	if (f->o.row)
		return take_batch(f, step, out, e);
	for (int i = 0; i < f->o.per_step; i++)
		if (pick(f, step * f->o.per_step + i, &out[i]))
			return -1;
	return 0;
}
