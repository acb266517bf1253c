/* The sequences of a run, either from files (read once, permuted in each epoch) or from a source
 * that draws rows as training goes. feed.h is the manual.
 *
 * Invariant: the sequences of step k are a function of (data or source, seed, k). A resumed run
 * asks for step k and gets what the interrupted one would have had. */
#include "train/feed.h"

#include <pthread.h>

#include "base/cpu.h"
#include "base/mem.h"

/* How many replacements are tried for a row that has nothing to learn in it. */
enum { SPARE_ROWS = 1000 };

/* Row k is replaced by row k + i * NEXT_ROW while there is nothing in it to learn. No run has that
 * many. */
static const uint64_t NEXT_ROW = 1ull << 40;

/* Steps of a source that are made ahead of the one in use. Rows cost from 0.3 to 30 ms; eight steps even that out. */
enum { AHEAD = 8 };

/* A row of a source, in the ring at place number % window. */
struct made {
	struct dataset d;              /* one sequence */
	struct err err;
	uint64_t next;                 /* its number + 1 once it is made; 0: nothing */
};

/* A feed of sequences from files or from a source. A source needs time for its rows: threads make the rows of the
 * next steps while the caller trains on the present one. Each thread takes the next number, so that a slow row holds
 * up no other thread. `lock` guards the numbers; a row belongs to the thread that took its number until
 * `made.next` is set. */
struct feed {
	struct feed_opts o;
	const struct tok *tok;
	struct dataset d;              /* of files */
	uint32_t *order;
	int64_t order_epoch;

	struct made *ring;             /* of a source, [window] */
	uint64_t window;               /* rows of AHEAD + 1 steps */
	uint64_t first, taken;         /* the first row of the step in use; the next row that a thread takes */
	int64_t step;                  /* in use; -1: none, and no row is made */
	int busy;                      /* threads that make a row */
	pthread_t *thread;
	int threads;                   /* started */
	pthread_mutex_t lock;
	pthread_cond_t room, ready;    /* for the threads; for the caller */
	int ending;
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

/* Draws row k into `d`. A row without anything to learn (cut before its completion begins, for example) is
 * replaced by row k + NEXT_ROW, k + 2 NEXT_ROW and so on. */
static int draw_row(const struct feed *f, uint64_t k, struct dataset *d, struct dataset_rows *rows,
		    struct buf *line, struct err *e)
{
	dataset_clear(d);
	dataset_rows_into(rows, d);
	for (int i = 0; i < SPARE_ROWS; i++) {
		buf_clear(line);
		if (f->o.row(f->o.ctx, k + (uint64_t)i * NEXT_ROW, line, e) || dataset_rows_add(rows, buf_str(line), e))
			return -1;
		if (d->seqs.n)
			return 0;
	}
	return err_set(e, ERR_RANGE, "%d consecutive rows of the source have nothing to learn in %d tokens", SPARE_ROWS,
		       f->o.max_length);
}

/* Makes one row into its place. Without `rows` memory is short. */
static void make_row(struct made *m, const struct feed *f, uint64_t k, struct dataset_rows *rows, struct buf *line)
{
	m->err = (struct err)ERR_INIT;
	if (rows)
		draw_row(f, k, &m->d, rows, line, &m->err);
	else
		err_nomem(&m->err);
}

/* A thread of a source: takes the next row while there is room for it, and makes the row without the lock. */
static void *keep_making(void *ctx)
{
	struct feed *f = ctx;
	struct dataset none = { .cut = 0 };
	struct dataset_rows *rows = dataset_rows_new(&none, f->tok, f->o.max_length, NULL);
	struct buf line = BUF_INIT;

	pthread_mutex_lock(&f->lock);
	while (!f->ending) {
		uint64_t k = f->taken;

		if (f->step < 0 || k >= f->first + f->window) {
			pthread_cond_wait(&f->room, &f->lock);
			continue;
		}
		f->taken++;
		f->busy++;
		pthread_mutex_unlock(&f->lock);
		make_row(&f->ring[k % f->window], f, k, rows, &line);
		pthread_mutex_lock(&f->lock);
		f->busy--;
		f->ring[k % f->window].next = k + 1;
		pthread_cond_signal(&f->ready);
	}
	pthread_mutex_unlock(&f->lock);
	dataset_rows_free(rows);
	buf_release(&line);
	return NULL;
}

/* Starts the threads of a source. One core is left to the thread that trains. */
static int open_source(struct feed *f, struct err *e)
{
	int threads = MAX(1, cpu_info()->cores - 1);

	f->window = (uint64_t)f->o.per_step * (AHEAD + 1);
	f->step = -1;
	f->ring = mem_array(f->window, sizeof *f->ring);
	f->thread = mem_array((size_t)threads, sizeof *f->thread);
	if (!f->ring || !f->thread)
		return err_nomem(e);
	for (; f->threads < threads; f->threads++)
		if (pthread_create(&f->thread[f->threads], NULL, keep_making, f))
			return err_set(e, ERR_IO, "cannot start a thread");
	return 0;
}

/* Restarts at row `first`: forgets all rows, also those that threads make at the moment. Needs the lock. */
static void begin_at(struct feed *f, uint64_t first)
{
	f->step = -1;
	while (f->busy)
		pthread_cond_wait(&f->ready, &f->lock);
	for (uint64_t i = 0; i < f->window; i++)
		f->ring[i].next = 0;
	f->taken = first;
}

/* Waits for the rows of a step and hands out their sequences. The first row that failed is the error. The rows of
 * the step before leave the ring. */
static int take_rows(struct feed *f, int64_t step, struct train_seq *out, struct err *e)
{
	uint64_t first = (uint64_t)step * (uint64_t)f->o.per_step;
	int rc = 0;

	pthread_mutex_lock(&f->lock);
	if (f->step < 0 || step != f->step + 1)
		begin_at(f, first);
	f->first = first;
	f->step = step;
	pthread_cond_broadcast(&f->room);
	for (int i = 0; i < f->o.per_step && !rc; i++) {
		const struct made *m = &f->ring[(first + (uint64_t)i) % f->window];

		while (m->next != first + (uint64_t)i + 1)
			pthread_cond_wait(&f->ready, &f->lock);
		if (m->err.code)
			rc = err_set(e, m->err.code, "%s", m->err.text);
		else
			out[i] = seq_of(&m->d, 0);
	}
	if (rc)
		f->step = -1;
	pthread_mutex_unlock(&f->lock);
	return rc;
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
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->room, NULL);
	pthread_cond_init(&f->ready, NULL);
	if (o->row ? open_source(f, e) : open_files(f, e)) {
		feed_close(f);
		return NULL;
	}
	return f;
}

/* Ends the threads after the rows that they are making. */
static void end_threads(struct feed *f)
{
	pthread_mutex_lock(&f->lock);
	f->ending = 1;
	pthread_cond_broadcast(&f->room);
	pthread_mutex_unlock(&f->lock);
	for (int i = 0; i < f->threads; i++)
		pthread_join(f->thread[i], NULL);
}

void feed_close(struct feed *f)
{
	if (!f)
		return;
	end_threads(f);
	for (uint64_t i = 0; f->ring && i < f->window; i++)
		dataset_release(&f->ring[i].d);
	mem_free(f->ring);
	mem_free(f->thread);
	pthread_cond_destroy(&f->room);
	pthread_cond_destroy(&f->ready);
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
		return take_rows(f, step, out, e);
	for (int i = 0; i < f->o.per_step; i++)
		if (pick(f, step * f->o.per_step + i, &out[i]))
			return -1;
	return 0;
}
