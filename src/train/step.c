/* Training steps: sequences are divided into micro-batches, packed, run forward and backward, and
 * their gradients summed. step.h is the manual.
 *
 * A pack is one row of tokens that holds several sequences; attention does not cross their
 * borders. Sequences with the same prompt can share its rows: the prompt is computed once and each
 * answer continues it. */
#include "train/step.h"

#include <string.h>

#include "base/mem.h"
#include "train/gradsum.h"
#include "train/micro.h"

enum { COUNT_MICRO };          /* of the optimizer's spare counters: micro-batches so far */

/* A trainer: the tape, the optimizer, the sum of gradients, and the pack being built. */
struct trainer {
	struct model *m;
	struct tape *tape;
	struct optim *optim;
	struct gradsum sum;
	int64_t before;            /* micro-batches when the step began */
	int max;                   /* tokens of a micro-batch */
	int apart, share;
	void (*reader_done)(void *ctx);
	void *reader;
	/* of the step, by micro-batch; the next one's first */
	struct { struct micro_unit *v; size_t n, cap, at; } units;
	/* the pack being built: [max] each */
	int32_t *tokens, *target, *start, *prefix;
	float *coef, *logp, *entropy, *shift;
	struct step_part {
		size_t seq;            /* its sequence; NO_SEQ: a prompt that the next parts share */
		int from;              /* the token of its first row */
	} *part;
	int T, parts;
	int prompt;                /* the part that is the prompt shared last; -1: none */
};

static const size_t NO_SEQ = (size_t)-1;

struct trainer *trainer_new(struct model *m, struct adapter *a, const struct trainer_opts *o, struct err *e)
{
	struct trainer *t = mem_zalloc(sizeof *t);
	size_t n = (size_t)MAX(o->tape.max_tokens, 1);

	if (!t) {
		err_nomem(e);
		return NULL;
	}
	t->m = m;
	t->max = o->tape.max_tokens;
	t->apart = o->apart;
	t->share = !o->apart && (o->share == TRAINER_SHARE_ALWAYS || (o->share == TRAINER_SHARE_GPU &&
								      model_dev(m)->kind != DEV_CPU));
	t->tokens = mem_array(n, sizeof *t->tokens);
	t->target = mem_array(n, sizeof *t->target);
	t->start = mem_array(n + 1, sizeof *t->start);
	t->prefix = mem_array(n, sizeof *t->prefix);
	t->part = mem_array(n, sizeof *t->part);
	t->coef = mem_array(n, sizeof *t->coef);
	t->logp = mem_array(n, sizeof *t->logp);
	t->entropy = mem_array(n, sizeof *t->entropy);
	t->shift = mem_array(3 * (n + 1), sizeof *t->shift);
	if (!t->tokens || !t->target || !t->start || !t->prefix || !t->part || !t->coef || !t->logp ||
	    !t->entropy || !t->shift)
		err_nomem(e);
	else if ((t->tape = tape_new(m, a, &o->tape, e)) && (t->optim = optim_new(t->tape, &o->optim, e)) &&
		 !gradsum_init(&t->sum, t->tape, o->par, o->nccl, e))
		return t;
	trainer_free(t);
	return NULL;
}

void trainer_free(struct trainer *t)
{
	if (!t)
		return;
	gradsum_release(&t->sum);
	optim_free(t->optim);
	tape_free(t->tape);
	vec_free(&t->units);
	mem_free(t->tokens), mem_free(t->target), mem_free(t->start), mem_free(t->prefix), mem_free(t->part);
	mem_free(t->coef), mem_free(t->logp), mem_free(t->entropy), mem_free(t->shift);
	mem_free(t);
}

/* --- packing ------------------------------------------------------------------------------ */

/* The weight of token i. The first token is not predicted, so it has none. */
static float weight_of(const struct train_seq *s, int i)
{
	return i == 0 ? 0 : s->weight ? s->weight[i] : 1;
}

/* The length up to the last token that has a weight; 0 if nothing is trained. Later tokens need not
 * be computed. */
static int useful(const struct train_seq *s)
{
	int n = s->n;

	while (n > 0 && weight_of(s, n - 1) == 0)
		n--;
	return n;
}

/* The weight of token i in this trainer: a shared prompt is not predicted. */
static float counted(const struct trainer *t, const struct train_seq *s, int i)
{
	return t->share && i < s->prompt ? 0 : weight_of(s, i);
}

/* Appends rows [from, to) of a sequence to the pack. Row i predicts token i + 1 if that token has a
 * weight; else its target is -1. */
static void add_part(struct trainer *t, const struct train_seq *s, struct step_part p, int to, int prefix)
{
	t->part[t->parts] = p;
	t->prefix[t->parts] = prefix;
	t->start[t->parts++] = t->T;
	for (int i = p.from; i < to; i++, t->T++) {
		t->tokens[t->T] = s->tokens[i];
		t->target[t->T] = counted(t, s, i + 1) != 0 ? s->tokens[i + 1] : -1;
	}
}

/* Do two sequences begin with the same prompt, with at least one row to share? The row of the
 * prompt's last token predicts the first token of the answer, so each sequence has its own. */
static int same_prompt(const struct train_seq *a, const struct train_seq *b)
{
	return a->prompt > 1 && a->prompt == b->prompt && a->n > a->prompt && b->n > b->prompt &&
	       !memcmp(a->tokens, b->tokens, (size_t)a->prompt * sizeof *a->tokens);
}

/* The unit that begins at sequence `first`: this sequence and the next ones that share its prompt
 * and fit into the same micro-batch. The last token of a sequence is not fed. */
static struct micro_unit unit_at(const struct trainer *t, const struct train_seq *seq, size_t first, size_t n)
{
	const struct train_seq *s = &seq[first];
	struct micro_unit u = { .first = first, .n = 1, .rows = useful(s) - 1 };

	for (size_t i = first + 1; t->share && u.rows >= s->prompt && i < n && same_prompt(s, &seq[i]); i++, u.n++) {
		int more = useful(&seq[i]) - s->prompt;

		if (more < 1 || u.rows + more > t->max)
			break;
		u.rows += more;
	}
	return u;
}

/* The cost of a unit in multiplications of a layer, divided by C. A layer has about 12 C^2
 * parameters, and attention costs 2 C for each earlier row, half of them on average. */
static double cost_of(const struct trainer *t, const struct micro_unit *u)
{
	double length = (double)u->rows / (double)u->n;

	return (double)u->rows * (12.0 * model_config(t->m)->C + length);
}

/* Divides a step into micro-batches. */
static int plan(struct trainer *t, const struct train_seq *seq, size_t n, struct err *e)
{
	struct micro_opts o = { .max = t->max, .apart = t->apart, .alone = t->sum.in_place };

	t->units.n = t->units.at = 0;
	for (size_t i = 0; i < n;) {
		struct micro_unit u = unit_at(t, seq, i, n);

		if (u.rows > t->max)
			return err_set(e, ERR_RANGE, "sequence %zu has %d tokens, a micro-batch holds %d",
				       i, u.rows + 1, t->max);
		u.cost = cost_of(t, &u);
		if (u.rows > 0 && vec_push(&t->units, u))
			return err_nomem(e);
		i += u.n;
	}
	return micro_divide(t->units.v, t->units.n, &o, e);
}

/* Appends a unit to the pack: the shared prompt first, then each sequence from there on. */
static void add_unit(struct trainer *t, const struct train_seq *seq, const struct micro_unit *u)
{
	int shared = u->n > 1 ? seq[u->first].prompt - 1 : 0;      /* rows */

	if (shared) {
		t->prompt = t->parts;
		add_part(t, &seq[u->first], (struct step_part){ .seq = NO_SEQ }, shared, -1);
	}
	for (size_t i = u->first; i < u->first + u->n; i++)
		add_part(t, &seq[i], (struct step_part){ .seq = i, .from = shared }, useful(&seq[i]) - 1,
			 shared ? t->prompt : -1);
}

/* Packs the next micro-batch of the step. Returns 0 when none is left. */
static int pack(struct trainer *t, const struct train_seq *seq)
{
	t->T = t->parts = 0;
	for (size_t first = t->units.at; t->units.at < t->units.n && t->units.v[t->units.at].micro ==
	     t->units.v[first].micro; t->units.at++)
		add_unit(t, seq, &t->units.v[t->units.at]);
	t->start[t->parts] = t->T;
	return t->parts > 0;
}

/* The pack as the model takes it. */
static struct model_batch batch(const struct trainer *t)
{
	return (struct model_batch){ .T = t->T, .tokens = t->tokens, .target = t->target,
				     .sequences = t->parts, .start = t->start,
				     .prefix = t->share ? t->prefix : NULL };
}

/* Begins a micro-batch and returns 1 if this rank computes it. Dropout depends on the micro-batch's
 * number, not on the rank. */
static int next_micro(struct trainer *t, struct err *e)
{
	tape_set_training(t->tape, 1);
	tape_set_step(t->tape, (uint64_t)optim_counters(t->optim)[COUNT_MICRO]++);
	return gradsum_turn(&t->sum, e);
}

/* Notes the present counters, for settle(). */
static void begin(struct trainer *t)
{
	t->before = optim_counters(t->optim)[COUNT_MICRO];
}

/* Ends what begin() began: the gradient is complete, or the trainer is as it was before the
 * step. */
static int settle(struct trainer *t, int rc, double *loss, struct err *e)
{
	if (!rc)
		rc = gradsum_finish(&t->sum, loss, e);
	if (rc) {
		optim_counters(t->optim)[COUNT_MICRO] = t->before;
		gradsum_drop(&t->sum);
	}
	return rc;
}

/* --- supervised --------------------------------------------------------------------------- */

/* The sum of all weights of a step, by which the loss is divided. */
static double total_weight(const struct trainer *t, const struct train_seq *seq, size_t n)
{
	double w = 0;

	for (size_t s = 0; s < n; s++)
		for (int i = 1; i < seq[s].n; i++)
			w += (double)counted(t, &seq[s], i);
	return w;
}

/* Forward and backward of one micro-batch. loss = -sum_i w_i log p_i / total, so the coefficient of
 * row i is -w_i / total. */
static int compute_micro(struct trainer *t, const struct train_seq *seq, double total, double *loss, struct err *e)
{
	struct model_batch b = batch(t);

	for (int p = 0; p < t->parts; p++)
		for (int i = t->start[p]; i < t->start[p + 1]; i++)
			t->coef[i] = t->target[i] < 0 ? 0 :
				-(float)((double)weight_of(&seq[t->part[p].seq],
							   t->part[p].from + i - t->start[p] + 1) / total);
	if (tape_forward(t->tape, &b, t->coef, t->logp, NULL, e) || tape_backward(t->tape, NULL, e))
		return -1;
	for (int i = 0; i < t->T; i++)
		*loss += (double)t->logp[i] * (double)t->coef[i];
	return 0;
}

/* One micro-batch of a supervised step, computed by the rank whose turn it is. */
static int step_micro(struct trainer *t, const struct train_seq *seq, double total, struct err *e)
{
	double loss = 0.0;
	int mine = next_micro(t, e);

	return mine < 0 || (mine && compute_micro(t, seq, total, &loss, e)) || gradsum_add(&t->sum, loss, e) ? -1 : 0;
}

int trainer_step(struct trainer *t, const struct train_seq *seq, size_t n, struct train_report *r, struct err *e)
{
	double total = total_weight(t, seq, n);
	int rc;

	*r = (struct train_report){ .weight = total };
	if (!(total > 0))
		return err_set(e, ERR_RANGE, "no token of the %zu sequences of this step is trained", n);
	begin(t);
	rc = plan(t, seq, n, e);
	while (!rc && pack(t, seq)) {
		rc = step_micro(t, seq, total, e);
		r->micro++;
		r->tokens += t->T;
	}
	if (settle(t, rc, &r->loss, e))
		return -1;
	trainer_apply(t, &r->optim);
	return 0;
}

/* --- other objectives --------------------------------------------------------------------- */

/* Moves row values of part p to the tokens they predict: out[k] belongs to tokens[k]. Returns the
 * number of tokens. */
static int to_tokens(const struct trainer *t, int p, const float *rows, float *out)
{
	int from = t->part[p].from, len = t->start[p + 1] - t->start[p];

	memset(out, 0, ((size_t)from + 1) * sizeof *out);
	memcpy(out + from + 1, rows + t->start[p], (size_t)len * sizeof *out);
	return from + 1 + len;
}

/* Asks the caller for loss and coefficients of one sequence, given its log-probabilities. */
static double ask_part(struct trainer *t, const struct train_seq *seq, int p, trainer_coef_fn *fn, void *ctx)
{
	float *logp = t->shift, *entropy = logp + t->max + 1, *coef = entropy + t->max + 1;
	struct train_seq s = seq[t->part[p].seq];
	double loss;

	s.n = to_tokens(t, p, t->logp, logp);
	to_tokens(t, p, t->entropy, entropy);
	memset(coef, 0, (size_t)s.n * sizeof *coef);
	loss = fn(ctx, t->part[p].seq, &s, logp, entropy, coef);
	for (int i = t->start[p], k = t->part[p].from + 1; i < t->start[p + 1]; i++, k++)
		t->coef[i] = t->target[i] >= 0 ? coef[k] : 0;
	return loss;
}

/* Asks for the coefficients of all sequences of the pack; rows of a shared prompt get 0. */
static double ask_coefs(struct trainer *t, const struct train_seq *seq, trainer_coef_fn *fn, void *ctx)
{
	double loss = 0.0;

	for (int p = 0; p < t->parts; p++)
		if (t->part[p].seq != NO_SEQ)
			loss += ask_part(t, seq, p, fn, ctx);
		else
			memset(t->coef + t->start[p], 0, (size_t)(t->start[p + 1] - t->start[p]) * sizeof *t->coef);
	return loss;
}

/* One micro-batch with the caller's objective: forward, coefficients, backward. */
static int accumulate_micro(struct trainer *t, const struct train_seq *seq, trainer_coef_fn *fn, void *ctx,
			    struct err *e)
{
	struct model_batch b = batch(t);
	double loss = 0.0;
	int mine = next_micro(t, e);

	if (mine < 0 || (mine && tape_forward(t->tape, &b, NULL, t->logp, t->entropy, e)))
		return -1;
	if (mine) {
		loss = ask_coefs(t, seq, fn, ctx);
		if (tape_backward(t->tape, t->coef, e))
			return -1;
	}
	return gradsum_add(&t->sum, loss, e);
}

int trainer_accumulate(struct trainer *t, const struct train_seq *seq, size_t n, trainer_coef_fn *fn,
		       void *ctx, double *loss, struct err *e)
{
	int rc;

	begin(t);
	rc = plan(t, seq, n, e);
	while (!rc && pack(t, seq))
		rc = accumulate_micro(t, seq, fn, ctx, e);
	return settle(t, rc, loss, e);
}

void trainer_apply(struct trainer *t, struct optim_report *r)
{
	trainer_wait_reader(t);
	optim_step(t->optim, r);
}

int trainer_logprobs(struct trainer *t, const struct train_seq *seq, size_t n, float *const *logp,
		     float *const *entropy, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		memset(logp[i], 0, (size_t)seq[i].n * sizeof(float));
		if (entropy)
			memset(entropy[i], 0, (size_t)seq[i].n * sizeof(float));
	}
	if (plan(t, seq, n, e))
		return -1;
	while (pack(t, seq)) {
		struct model_batch b = batch(t);

		tape_set_training(t->tape, 0);
		if (tape_forward(t->tape, &b, NULL, t->logp, entropy ? t->entropy : NULL, e))
			return -1;
		for (int p = 0; p < t->parts; p++) {
			size_t s = t->part[p].seq;

			if (s == NO_SEQ)
				continue;
			to_tokens(t, p, t->logp, logp[s]);
			if (entropy)
				to_tokens(t, p, t->entropy, entropy[s]);
		}
	}
	return 0;
}

/* --- small things ------------------------------------------------------------------------- */

void trainer_set_reader(struct trainer *t, void (*done)(void *ctx), void *ctx)
{
	t->reader_done = done;
	t->reader = ctx;
}

void trainer_wait_reader(struct trainer *t)
{
	if (t->reader_done)
		t->reader_done(t->reader);
}

int trainer_save(const struct trainer *t, const char *path, struct err *e) { return optim_save(t->optim, path, e); }
int trainer_load(struct trainer *t, const char *path, struct err *e) { return optim_load(t->optim, path, e); }
struct tape *trainer_tape(struct trainer *t) { return t->tape; }
struct optim *trainer_optim(struct trainer *t) { return t->optim; }

void trainer_table(const struct trainer *t, struct buf *out)
{
	const struct slab *state = optim_slab(t->optim);

	tape_table(t->tape, out);
	slab_table(out, &state, 1);
}
