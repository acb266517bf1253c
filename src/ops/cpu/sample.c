/* Sampling: see ops/sample.h. Invariant: the result is a function of the arguments; sums run in a
 * fixed order, ties go to the lower id. */
#include "ops/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "ops/cpu/cpu_ops.h"
#include "ops/cpu/row.h"

/* log(sum(exp(x))) in the order the loss has. */
static float logsumexp(const float *x, int n)
{
	struct row_stats r = row_cpu()->exp_stats(x, n);

	return r.max + logf(r.sum);
}

int sample_work_init(struct sample_work *w, int V, struct err *e)
{
	*w = (struct sample_work){ .V = V };
	w->x = mem_array((size_t)V, sizeof *w->x);
	w->c = mem_array((size_t)V, sizeof *w->c);
	if (w->x && w->c)
		return 0;
	sample_work_release(w);
	return err_nomem(e);
}

void sample_work_release(struct sample_work *w)
{
	mem_free(w->x);
	mem_free(w->c);
	*w = (struct sample_work){ .V = 0 };
}

/* The index of the largest value; of equal ones the lowest. */
static int32_t argmax(const float *x, int n)
{
	int32_t best = 0;

	for (int32_t i = 1; i < n; i++)
		if (x[i] > x[best])
			best = i;
	return best;
}

/* Logits of tokens already in the text move towards improbable. */
static void penalise(float *x, int n, const uint32_t *seen, float penalty)
{
	for (int word = 0; word * 32 < n; word++)
		for (uint32_t bits = seen[word]; bits; bits &= bits - 1) {
			int i = word * 32 + __builtin_ctz(bits);

			x[i] = x[i] < 0 ? x[i] * penalty : x[i] / penalty;
		}
}

/* The token at which the running sum of the probabilities passes u. Blocks of 64 are summed
 * first, so that most of the row is not walked one by one. */
static int32_t draw_row(const float *p, int n, double u)
{
	enum { BLOCK = 64 };
	double at = 0;
	int32_t last = 0;

	for (int b = 0; b < n; b += BLOCK) {
		int end = MIN(b + BLOCK, n);
		double part[4] = { 0 }, sum;
		int i = b;

		for (; i + 4 <= end; i += 4)
			for (int k = 0; k < 4; k++)
				part[k] += p[i + k];
		for (; i < end; i++)
			part[0] += p[i];
		sum = (part[0] + part[1]) + (part[2] + part[3]);
		if (at + sum <= u) {
			at += sum;
			last = sum > 0 ? b : last;
			continue;
		}
		for (i = b; i < end; i++) {
			at += p[i];
			if (at > u)
				return i;
		}
		last = b;
	}
	/* Rounding has left u past the end: the most probable token of the last block that has
	 * any. */
	for (int32_t i = last, end = MIN(last + BLOCK, n); i < end; i++)
		if (p[i] > p[last])
			last = i;
	return last;
}

/* --- with something cut off --------------------------------------------------------------- */

/* Whether a comes before b: the more probable first, the lower id of equals. */
static int comes_before(const struct sample_candidate *a, const struct sample_candidate *b)
{
	return a->p != b->p ? a->p > b->p : a->id < b->id;
}

static void swap(float *a, float *b)
{
	float t = *a;

	*a = *b;
	*b = t;
}

/* The k-th largest of n values (k from 1), which are reordered: quickselect, median of three. */
static float kth_largest(float *x, int n, int k)
{
	int lo = 0, hi = n - 1;

	while (lo < hi) {
		int mid = lo + (hi - lo) / 2, i = lo, j = hi;
		float pivot;

		if (x[mid] > x[lo])
			swap(&x[mid], &x[lo]);
		if (x[hi] > x[lo])
			swap(&x[hi], &x[lo]);
		if (x[hi] > x[mid])
			swap(&x[hi], &x[mid]);
		pivot = x[mid];
		while (i <= j) {
			while (x[i] > pivot)
				i++;
			while (x[j] < pivot)
				j--;
			if (i <= j)
				swap(&x[i++], &x[j--]);
		}
		if (k - 1 <= j)
			hi = j;
		else if (k - 1 >= i)
			lo = i;
		else
			break;
	}
	return x[k - 1];
}

/* Moves the candidates that come before c[lo + (hi - lo) / 2] to its left, the rest to its right,
 * and returns its new index. */
static int partition(struct sample_candidate *c, int lo, int hi)
{
	struct sample_candidate pivot = c[lo + (hi - lo) / 2], t;
	int to = lo;

	c[lo + (hi - lo) / 2] = c[hi - 1];
	for (int i = lo; i < hi - 1; i++)
		if (comes_before(&c[i], &pivot)) {
			t = c[to];
			c[to++] = c[i];
			c[i] = t;
		}
	c[hi - 1] = c[to];
	c[to] = pivot;
	return to;
}

/* Moves the fewest candidates that together reach `mass` to the front and returns their number:
 * quickselect by weight, so that a flat distribution costs no sort. */
static int fewest_with(struct sample_candidate *c, int n, double mass)
{
	int lo = 0, hi = n;
	double before = 0;             /* mass of c[0..lo) */

	while (lo < hi) {
		int at = partition(c, lo, hi);
		double left = 0;

		for (int i = lo; i < at; i++)
			left += c[i].p;
		if (before + left >= mass) {
			hi = at;
		} else if (before + left + c[at].p >= mass) {
			return at + 1;
		} else {
			before += left + c[at].p;
			lo = at + 1;
		}
	}
	return lo;
}

/* Collects the tokens that may survive top-k, top-p or min-p, with their probabilities: among all
 * tokens, or among those that top-k left. */
static int gather(const struct sample_opts *o, float *x, int n, struct sample_work *w)
{
	struct row_stats st = row_cpu()->exp_stats(x, n);
	float least = -INFINITY, lse = st.max + logf(st.sum);
	int k = 0, top_k = o->top_k > 0 && o->top_k < n;
	double total = 0;

	if (top_k) {
		float *copy = (float *)(void *)w->c;

		memcpy(copy, x, (size_t)n * sizeof *copy);
		least = kth_largest(copy, n, o->top_k);
	} else if (o->top_p > 0 && o->top_p < 1) {
		/* All tokens less probable than (1 - top_p) / n together weigh less than 1 - top_p,
		 * so top-p drops every one of them. */
		least = lse + logf((1 - o->top_p) / (float)n);
	} else if (o->min_p > 0) {
		least = st.max + logf(o->min_p) - 0.01f;      /* drop_rare decides on the rest */
	}
	for (int32_t i = 0; i < n; i++)
		if (x[i] >= least)
			w->c[k++].id = i;
	row_cpu()->xent_grad(x, n, lse, -1);     /* x = exp(x - lse) */
	for (int i = 0; i < k; i++)
		total += w->c[i].p = x[w->c[i].id];
	for (int i = 0; i < k && top_k; i++)     /* top-p looks at what top-k left as a whole */
		w->c[i].p = (float)(w->c[i].p / total);
	return k;
}

/* Drops tokens that are less probable than min_p times the most probable one. */
static int drop_rare(struct sample_candidate *c, int n, float min_p)
{
	float most = 0;
	int k = 0;

	for (int i = 0; i < n; i++)
		most = MAX(most, c[i].p);
	for (int i = 0; i < n; i++)
		if (c[i].p >= min_p * most)
			c[k++] = c[i];
	return k;
}

/* Draws from the tokens that remain after the cuts. u is in [0, 1). */
static int32_t draw_cut(const struct sample_opts *o, float *x, int n, double u, struct sample_work *w)
{
	int k = gather(o, x, n, w);
	double sum = 0, at = 0;

	if (o->top_p > 0 && o->top_p < 1)
		k = fewest_with(w->c, k, (double)o->top_p);
	if (o->min_p > 0)
		k = drop_rare(w->c, k, o->min_p);
	for (int i = 0; i < k; i++)
		sum += w->c[i].p;
	for (int i = 0; i < k; i++) {
		at += w->c[i].p;
		if (at > u * sum)
			return w->c[i].id;
	}
	return w->c[MAX(k - 1, 0)].id;
}

/* Draws one token with the uniform number u. The order of operations is in sample.h. The
 * log-probability is that of the unchanged logits, without temperature or cuts: training needs
 * it. */
int32_t sample_token(const struct sample_opts *o, const float *logits, const uint32_t *seen, double u,
		     struct sample_work *w, float *logprob)
{
	int cut = (o->top_k > 0 && o->top_k < w->V) || (o->top_p > 0 && o->top_p < 1) || o->min_p > 0;
	const struct row_kernels *row = row_cpu();
	int32_t id;

	memcpy(w->x, logits, (size_t)w->V * sizeof *w->x);
	if (seen)
		penalise(w->x, w->V, seen, o->repetition);
	if (o->temperature <= 0) {
		id = argmax(w->x, w->V);
	} else {
		if (o->temperature != 1)
			row->scale(w->x, (size_t)w->V, 1 / o->temperature);
		if (cut) {
			id = draw_cut(o, w->x, w->V, u, w);
		} else {
			/* x = exp(x - logsumexp): the softmax */
			row->xent_grad(w->x, w->V, logsumexp(w->x, w->V), -1);
			id = draw_row(w->x, w->V, u);
		}
	}
	*logprob = logits[id] - logsumexp(logits, w->V);
	return id;
}

/* --- the ops ------------------------------------------------------------------------------ */

size_t sample_scratch(int V)
{
	return (size_t)V * (sizeof(float) + sizeof(struct sample_candidate));
}

/* Number n of the stream: each takes two of the four words of a block. */
static double nth_uniform(uint64_t key, int32_t n)
{
	struct rng r = { .key = key, .counter = (uint64_t)n / 2 };
	double u = rng_f64(&r);

	return n % 2 ? rng_f64(&r) : u;
}

/* A batch of draws. */
struct draw {
	struct dev *d;
	const struct sample *s;
};

/* Draws one token: a function of the row's key and of how many it has drawn before. */
static void draw_one(const struct sample *s, int i, struct sample_work *w)
{
	const struct sample_row *r = &s->row[i];
	size_t from = s->from ? (size_t)s->from[i] : (size_t)i, words = ((size_t)s->V + 31) / 32;
	uint32_t *seen = s->seen && r->o.repetition > 0 && r->o.repetition != 1 ? s->seen + (size_t)i * words : NULL;
	int32_t id = sample_token(&r->o, s->logits + from * (size_t)s->V, seen,
				  nth_uniform(r->key, s->drawn[i]), w, &s->logprob[i]);

	if (seen)
		seen[id / 32] |= (uint32_t)1 << id % 32;
	s->token[i] = id;
}

static void draw_rows(void *ctx, int me, int count)
{
	const struct draw *x = ctx;
	struct sample_work w = { .V = x->s->V, .c = dev_scratch(x->d, me, sample_scratch(x->s->V)) };

	w.x = (float *)(void *)(w.c + w.V);
	for (int i = me; i < x->s->rows; i += count)
		draw_one(x->s, i, &w);
}

void cpu_sample(struct dev *d, const struct sample *s)
{
	pool_run(d->pool, draw_rows, &(struct draw){ .d = d, .s = s });
}

/* After a step of decoding: the drawn tokens become the next inputs, and positions move on. */
void cpu_advance(struct dev *d, const struct advance *a)
{
	size_t at = (size_t)*a->step * (size_t)a->rows;

	(void)d;
	for (int i = 0; i < a->rows; i++) {
		a->tokens[at + (size_t)i] = a->next[i] = a->token[i];
		a->logprobs[at + (size_t)i] = a->logprob[i];
		a->pos[i]++;
		a->length[i]++;
		a->drawn[i]++;
	}
	++*a->step;
}
