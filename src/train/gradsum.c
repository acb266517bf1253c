/* Sums of gradients in one order, for any number of ranks: gradsum.h is the manual.
 *
 * Each rank owns a slice of the gradient. After every round of micro-batches (one per rank) the
 * ranks exchange slices, and each adds up its own slice in the order of the micro-batches.
 * Floating-point addition is not associative; a fixed order gives the same bits for 1, 2 or 8
 * ranks. */
#include "train/gradsum.h"

#include "base/mem.h"
#include "ops/ops.h"

/* The gradient of the tape, as one block. */
static struct slab *grads(const struct gradsum *s)
{
	return tape_grads(s->tape);
}

/* The first float of rank r's slice. Example: 10 floats on 3 ranks are slices of 3, 3 and 4. */
static size_t slice_begin(const struct gradsum *s, int r)
{
	return s->n / (size_t)par_size(s->par) * (size_t)r;
}

/* The floats of rank r's slice; the last rank has the remainder. */
static size_t slice_size(const struct gradsum *s, int r)
{
	size_t end = r + 1 < par_size(s->par) ? slice_begin(s, r + 1) : s->n;

	return end - slice_begin(s, r);
}

/* The largest slice, for which buffers have room. */
static size_t slice_most(const struct gradsum *s)
{
	return slice_size(s, par_size(s->par) - 1);
}

/* Bytes of `acc`, the sum: a slice with several ranks, else the whole gradient. */
static size_t acc_bytes(const struct gradsum *s)
{
	return s->par ? slice_most(s) * sizeof(float) + 64 : grads(s)->bytes + 64;
}

/* Bytes of `in`, the slices that arrive from the other ranks. */
static size_t in_bytes(const struct gradsum *s)
{
	return (size_t)(par_size(s->par) - 1) * slice_most(s) * sizeof(float) + 64;
}

/* Allocates where the sums are formed: on the GPU with NCCL, else in host memory. */
static float *room(struct gradsum *s, size_t n, struct err *e)
{
	float *p = s->nccl ? dev_alloc(grads(s)->dev, n, e) : mem_alloc_aligned(n, 64);

	if (!p && !s->nccl)
		err_nomem(e);
	return p;
}

static void room_free(struct gradsum *s, float *p, size_t n)
{
	if (s->nccl)
		dev_free(grads(s)->dev, p, n);
	else
		mem_free_aligned(p);
}

int gradsum_init(struct gradsum *s, struct tape *t, struct par *p, struct nccl *n, struct err *e)
{
	struct dev *d = model_dev(tape_model(t));

	*s = (struct gradsum){ .tape = t, .par = p, .nccl = p ? n : NULL, .in_place = d->kind != DEV_CPU && !p };
	s->n = grads(s)->bytes / sizeof(float);
	if (p && (!(s->in = room(s, in_bytes(s), e)) || !(s->acc = room(s, acc_bytes(s), e))))
		return -1;
	if (d->kind != DEV_CPU && p && !s->nccl && !(s->host = mem_alloc_aligned(grads(s)->bytes + 64, 64)))
		return err_nomem(e);
	return 0;
}

void gradsum_release(struct gradsum *s)
{
	mem_free_aligned(s->host);
	if (s->tape) {
		room_free(s, s->acc, acc_bytes(s));
		room_free(s, s->in, in_bytes(s));
	}
	vec_free(&s->notes);
}

/* --- where sums are formed ---------------------------------------------------------------- */

/* The gradient where sums are formed; copied from the GPU if MPI moves it. NULL: *e. */
static float *fetch(struct gradsum *s, struct err *e)
{
	if (!s->host)
		return (float *)(void *)grads(s)->data;
	return dev_get(grads(s)->dev, s->host, grads(s)->data, grads(s)->bytes, e) ? NULL : s->host;
}

/* to = from, where sums are formed. */
static void copy(struct gradsum *s, float *to, const float *from, size_t n)
{
	if (s->nccl)
		dev_copy(grads(s)->dev, to, from, n * sizeof *to);
	else
		memcpy(to, from, n * sizeof *to);
}

/* to += from, where sums are formed. */
static void add(struct gradsum *s, float *to, const float *from, size_t n)
{
	if (s->nccl)
		ops_of(grads(s)->dev)->add(grads(s)->dev, to, from, n);
	else
		for (size_t i = 0; i < n; i++)
			to[i] += from[i];
}

static int device_idle(void *d)
{
	return dev_idle(d);
}

/* Moves slices between ranks. A GPU that waits for a lost rank cannot be interrupted from within.
 * So the host waits for the GPU with a time limit and aborts NCCL when the limit is reached. */
static int exchange(struct gradsum *s, const struct par_move *v, size_t n, struct err *e)
{
	struct dev *d = grads(s)->dev;

	if (!s->nccl)
		return par_exchange(s->par, v, n, e);
	if (nccl_exchange(s->nccl, v, n, dev_stream(d), e))
		return -1;
	if (par_wait(s->par, device_idle, d, e)) {
		nccl_give_up(s->nccl);
		return -1;
	}
	return dev_check(d, e);
}

/* --- adding up ---------------------------------------------------------------------------- */

/* Adds the next micro-batch to the sum; the first one is copied. */
static void fold_in(struct gradsum *s, const float *from, size_t n, int first)
{
	if (first)
		copy(s, s->acc, from, n);
	else
		add(s, s->acc, from, n);
}

/* One rank: memory for the sum is taken only when a step has a second micro-batch. */
static int fold_alone(struct gradsum *s, struct err *e)
{
	if (!s->acc && !(s->acc = room(s, acc_bytes(s), e)))
		return -1;
	fold_in(s, (const float *)(const void *)grads(s)->data, s->n, s->folded == 0);
	return 0;
}

/* Sends the slices of this round's gradients to the ranks that own them. `count` ranks have
 * computed one; in the last round of a step that may be fewer than there are. */
static int trade(struct gradsum *s, float *mine, int count, struct err *e)
{
	int me = par_rank(s->par), ranks = par_size(s->par);
	struct par_move *v = mem_array(2 * (size_t)ranks, sizeof *v);
	size_t n = 0, k = 0;
	int rc;

	if (!v)
		return err_nomem(e);
	for (int r = 0; r < ranks; r++) {
		if (r == me)
			continue;
		if (r < count)
			v[n++] = par_from(r, s->in + k++ * slice_most(s), slice_size(s, me) * sizeof(float));
		if (me < count)
			v[n++] = par_to(r, mine + slice_begin(s, r), slice_size(s, r) * sizeof(float));
	}
	rc = exchange(s, v, n, e);
	mem_free(v);
	return rc;
}

/* Adds this rank's slices of the round in the order of the ranks, which is the order of the
 * micro-batches. */
static int fold_ranks(struct gradsum *s, int count, struct err *e)
{
	int me = par_rank(s->par);
	float *mine = me < count ? fetch(s, e) : NULL;
	size_t k = 0;

	if ((me < count && !mine) || trade(s, mine, count, e))
		return -1;
	for (int r = 0; r < count; r++)
		fold_in(s, r == me ? mine + slice_begin(s, me) : s->in + k++ * slice_most(s),
			slice_size(s, me), s->folded == 0 && r == 0);
	return 0;
}

/* Adds up the micro-batches of the round that has ended, and clears the gradient for the next. */
static int fold(struct gradsum *s, struct err *e)
{
	int count = (int)(s->done - s->folded);

	if (s->in_place || !count)
		return 0;
	if (s->par ? fold_ranks(s, count, e) : fold_alone(s, e))
		return -1;
	s->folded = s->done;
	tape_zero_grads(s->tape);
	return 0;
}

int gradsum_turn(struct gradsum *s, struct err *e)
{
	int ranks = par_size(s->par);

	if (s->done - s->folded == ranks && fold(s, e))
		return -1;
	return s->done % ranks == par_rank(s->par);
}

int gradsum_add(struct gradsum *s, double note, struct err *e)
{
	int mine = s->done++ % par_size(s->par) == par_rank(s->par);

	return mine && vec_push(&s->notes, note) ? err_nomem(e) : 0;
}

/* --- the end of a step -------------------------------------------------------------------- */

/* The end of a step: every rank sends its summed slice to all others and gets theirs, so that all
 * have the whole gradient. */
static int share(struct gradsum *s, struct err *e)
{
	float *whole = s->host ? s->host : (float *)(void *)grads(s)->data;
	int me = par_rank(s->par), ranks = par_size(s->par), rc;
	struct par_move *v = mem_array(2 * (size_t)ranks, sizeof *v);
	size_t n = 0;

	if (!v)
		return err_nomem(e);
	for (int r = 0; r < ranks; r++)
		if (r != me) {
			v[n++] = par_from(r, whole + slice_begin(s, r), slice_size(s, r) * sizeof(float));
			v[n++] = par_to(r, s->acc, slice_size(s, me) * sizeof(float));
		}
	rc = exchange(s, v, n, e);
	if (!rc)
		copy(s, whole + slice_begin(s, me), s->acc, slice_size(s, me));
	if (!rc && s->host)
		dev_put(grads(s)->dev, grads(s)->data, s->host, grads(s)->bytes);
	mem_free(v);
	return rc;
}

/* Sums the numbers that came with the micro-batches (their losses), also in one order. */
static int add_notes(struct gradsum *s, double *sum, struct err *e)
{
	int ranks = par_size(s->par), rc;
	struct buf *all = mem_array((size_t)ranks, sizeof *all);

	if (!all)
		return err_nomem(e);
	rc = par_gather(s->par, (struct str){ .p = (const char *)s->notes.v,
					      .n = s->notes.n * sizeof *s->notes.v }, all, e);
	*sum = 0.0;
	for (int64_t k = 0; k < s->done && !rc; k++) {
		double note;

		memcpy(&note, all[k % ranks].p + (size_t)(k / ranks) * sizeof note, sizeof note);
		*sum += note;
	}
	for (int r = 0; r < ranks; r++)
		buf_release(&all[r]);
	mem_free(all);
	return rc;
}

int gradsum_finish(struct gradsum *s, double *notes, struct err *e)
{
	int one = s->done == 1 && !s->par;      /* one micro-batch is the sum */

	if (s->done && !one && !s->in_place) {
		if (fold(s, e))
			return -1;
		if (!s->par)
			memcpy(grads(s)->data, s->acc, grads(s)->bytes);
		else if (share(s, e))
			return -1;
	}
	if (add_notes(s, notes, e))
		return -1;
	s->done = s->folded = 0;
	s->notes.n = 0;
	return 0;
}

void gradsum_drop(struct gradsum *s)
{
	s->done = s->folded = 0;
	s->notes.n = 0;
	tape_zero_grads(s->tape);
}
