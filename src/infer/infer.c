/* The engine's loop: admit, decode, draw, finish. See infer.h.
 *
 * Slots 0..slots-1 hold samples. The next INFER_PROMPTS slots hold prompts whose samples are being
 * started; prompts for all free slots are computed together.
 *
 * Invariant: memory is reserved before a sample starts. `promised` counts the blocks that all
 * live samples and prompts can come to need, so decoding never runs out. */
#include "infer/infer.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "infer/text.h"

const char *infer_finish_name(enum infer_finish f)
{
	static const char *const names[] = {
		[INFER_STOP] = "stop", [INFER_LENGTH] = "length", [INFER_INTERRUPTED] = "interrupted",
		[INFER_REFUSED] = "refused",
	};

	return names[f];
}

/* A request under way; owned by its samples together. */
struct live {
	struct infer_request r;
	int started, done;             /* samples */
	int holder;                    /* prompt slot that holds its prompt while samples are started */
	int limit;                     /* most new tokens per sample */
	int64_t blocks;                /* promised for the prompt */
};

/* A sample under way. */
struct slot {
	struct live *live;             /* NULL: free */
	int sample;
	uint64_t key;                  /* of its random stream */
	struct { int32_t *v; size_t n, cap; } tokens;
	struct { float *v; size_t n, cap; } logprobs;
	struct infer_text text;
	/* bit per token of prompt and answer, for the repetition penalty; NULL: none */
	uint32_t *seen;
	int64_t blocks;                /* promised */
};

/* Owned, except m and tok. */
struct infer {
	const struct model *m;
	const struct tok *tok;
	struct model_session *s;
	int slots, V;
	int64_t blocks, promised;      /* blocks of the cache; blocks that are promised */
	struct slot *slot;
	float *prompt_logits;          /* [INFER_PROMPTS, V] after each held prompt, in device memory */
	struct live *held[INFER_PROMPTS];    /* requests whose samples are being started, in order */
	int nheld;
	struct model_draw *draw;       /* [slots] rows of the current step */
	int *row;                      /* [slots] row of each slot in the step */
	int32_t *tokens;               /* [MODEL_BURST, slots] drawn by the step */
	float *logprobs;
	/* of the run */
	const struct infer_calls *calls;
	struct infer_stats *stats;
};

/* --- making ---------------------------------------------------------------------------------- */

static int64_t blocks_for(int64_t tokens)
{
	return (tokens + MODEL_KV_BLOCK - 1) / MODEL_KV_BLOCK;
}

static size_t prompt_logits_bytes(const struct infer *x)
{
	return INFER_PROMPTS * (size_t)x->V * sizeof *x->prompt_logits;
}

static int make_buffers(struct infer *x, struct err *e)
{
	size_t n = (size_t)x->slots;

	x->slot = mem_array(n, sizeof *x->slot);
	x->draw = mem_array(n, sizeof *x->draw);
	x->row = mem_array(n, sizeof *x->row);
	x->tokens = mem_array(MODEL_BURST * n, sizeof *x->tokens);
	x->logprobs = mem_array(MODEL_BURST * n, sizeof *x->logprobs);
	if (!x->slot || !x->draw || !x->row || !x->tokens || !x->logprobs)
		return err_nomem(e);
	x->prompt_logits = dev_alloc(model_dev(x->m), prompt_logits_bytes(x), e);
	return x->prompt_logits ? 0 : -1;
}

struct infer *infer_new(const struct model *m, const struct adapter *a, const struct tok *tok,
			const struct infer_opts *o, struct err *e)
{
	struct infer *x = mem_zalloc(sizeof *x);
	int64_t length = o && o->length ? o->length : 2048;

	if (!x) {
		err_nomem(e);
		return NULL;
	}
	x->m = m;
	x->tok = tok;
	x->slots = o && o->slots ? o->slots : 32;
	x->V = model_config(m)->V;
	length = MIN(length, model_config(m)->max_position);
	x->blocks = blocks_for(length) * (x->slots + 1);
	x->s = model_session_new(m, a, &(struct model_session_opts) {
		.slots = x->slots + INFER_PROMPTS, .kv_tokens = x->blocks * MODEL_KV_BLOCK, .kv8 = o && o->kv8 }, e);
	if (!x->s || make_buffers(x, e)) {
		infer_free(x);
		return NULL;
	}
	return x;
}

static void slot_clear(struct slot *t)
{
	vec_free(&t->tokens);
	vec_free(&t->logprobs);
	infer_text_release(&t->text);
	mem_free(t->seen);
	*t = (struct slot){ .live = NULL };
}

void infer_free(struct infer *x)
{
	if (!x)
		return;
	for (int i = 0; x->slot && i < x->slots; i++)
		slot_clear(&x->slot[i]);
	model_session_free(x->s);
	mem_free(x->slot);
	if (x->prompt_logits)
		dev_free(model_dev(x->m), x->prompt_logits, prompt_logits_bytes(x));
	mem_free(x->draw);
	mem_free(x->row);
	mem_free(x->tokens);
	mem_free(x->logprobs);
	mem_free(x);
}

int infer_set_adapter(struct infer *x, const struct adapter *a, struct err *e)
{
	return model_session_adapter(x->s, a, e);
}

/* --- finishing --------------------------------------------------------------------------------- */

static void report(struct infer *x, struct live *l, int sample, const struct slot *t, enum infer_finish finish)
{
	struct infer_result r = { .request = &l->r, .sample = l->r.first + sample, .finish = finish, .text = STR("") };

	if (t) {
		r.tokens = t->tokens.v;
		r.logprobs = t->logprobs.v;
		r.n = (int)t->tokens.n;
		r.text = infer_text_get(&t->text);
	}
	x->stats->samples++;
	x->calls->done(x->calls->ctx, &r);
}

/* One sample of a request is done. After the last one the blocks of its prompt are free again. */
static void live_done(struct infer *x, struct live *l)
{
	if (++l->done < l->r.n)
		return;
	x->promised -= l->blocks;
	mem_free(l);
}

/* Passes on the text that can no longer become part of a stop string. */
static void emit(struct infer *x, struct slot *t, int at_end)
{
	struct str piece = infer_text_emit(&t->text, at_end);

	if (piece.n && x->calls->text)
		x->calls->text(x->calls->ctx, &t->live->r, t->live->r.first + t->sample, piece);
}

/* Reports the sample in slot i and frees the slot. */
static void finish(struct infer *x, int i, enum infer_finish how)
{
	struct slot *t = &x->slot[i];
	struct live *l = t->live;

	infer_text_end(&t->text);
	emit(x, t, 1);
	report(x, l, t->sample, t, how);
	model_drop(x->s, i);
	x->promised -= t->blocks;
	slot_clear(t);
	live_done(x, l);
}

/* --- drawing ------------------------------------------------------------------------------------ */

static int is_stop_token(const struct infer_request *r, int32_t id)
{
	for (size_t i = 0; i < r->nstop_tokens; i++)
		if (r->stop_tokens[i] == id)
			return 1;
	return 0;
}

/* Takes a token drawn for slot i: appends it, and finishes the sample if it ends there. */
static int accept(struct infer *x, int i, int32_t token, float logprob, struct err *e)
{
	struct slot *t = &x->slot[i];
	const struct infer_request *r = &t->live->r;

	if (vec_push(&t->tokens, token) || vec_push(&t->logprobs, logprob))
		return err_nomem(e);
	x->stats->tokens++;
	if (t->seen)
		t->seen[token / 32] |= (uint32_t)1 << token % 32;
	if (is_stop_token(r, token)) {
		finish(x, i, INFER_STOP);
		return 0;
	}
	if (infer_text_add(&t->text, token, e))
		return -1;
	if (t->text.stopped)
		finish(x, i, INFER_STOP);
	else if ((int)t->tokens.n >= t->live->limit)
		finish(x, i, INFER_LENGTH);
	else if (x->calls->unwanted && x->calls->unwanted(x->calls->ctx, r))
		finish(x, i, INFER_INTERRUPTED);
	else
		emit(x, t, 0);
	return 0;
}

/* Returns the arguments for the next draw of slot i. */
static struct model_draw draw_of(const struct infer *x, int i)
{
	const struct slot *t = &x->slot[i];
	int n = (int)t->tokens.n;

	return (struct model_draw){ .slot = i, .token = n ? t->tokens.v[n - 1] : -1, .most = t->live->limit - n,
				    .from = t->live->holder,
				    .sample = { .o = t->live->r.sample, .key = t->key }, .drawn = n, .seen = t->seen };
}

/* --- starting ------------------------------------------------------------------------------------ */

/* The key of a random stream that depends on seed, prompt and sample only. */
static uint64_t sample_key(const struct infer_request *q, int sample)
{
	struct rng run, prompt, own;

	rng_init(&run, q->seed, "infer");
	rng_fork(&prompt, &run, q->number);
	rng_fork(&own, &prompt, (uint64_t)(q->first + sample));
	return own.key;
}

/* Only a sample with a repetition penalty needs the bits. */
static int mark_seen(struct infer *x, struct slot *t, const struct infer_request *q, struct err *e)
{
	if (q->sample.repetition <= 0 || q->sample.repetition == 1)
		return 0;
	t->seen = mem_array((size_t)x->V / 32 + 1, sizeof *t->seen);
	if (!t->seen)
		return err_nomem(e);
	for (int i = 0; i < q->prompt_n; i++)
		t->seen[q->prompt[i] / 32] |= (uint32_t)1 << q->prompt[i] % 32;
	return 0;
}

/* Blocks that a sample can need in addition to the full blocks of the prompt, which it shares. */
static int64_t sample_blocks(const struct live *l)
{
	return blocks_for((int64_t)l->r.prompt_n + l->limit) - l->r.prompt_n / MODEL_KV_BLOCK;
}

/* Starts the next sample of the first held request in slot i. After its last sample the prompt's
 * slot is free. */
static int start_sample(struct infer *x, int i, struct err *e)
{
	struct live *l = x->held[0];
	int holder = l->holder;
	struct slot *t = &x->slot[i];

	*t = (struct slot){ .live = l, .sample = l->started++, .blocks = sample_blocks(l) };
	infer_text_init(&t->text, x->tok, l->r.stop_strings);
	x->promised += t->blocks;
	if (mark_seen(x, t, &l->r, e) || model_fork(x->s, x->slots + holder, i, e))
		return -1;
	t->key = sample_key(&l->r, t->sample);
	if (l->started == l->r.n) {
		model_drop(x->s, x->slots + holder);
		memmove(x->held, x->held + 1, (size_t)--x->nheld * sizeof *x->held);
	}
	return 0;
}

/* A prompt that does not fit: all its samples end at once, without tokens. */
static void refuse(struct infer *x, struct live *l)
{
	int n = l->r.n;

	log_warn("a prompt of %d tokens does not fit (the model has %d positions, the cache %lld)", l->r.prompt_n,
		 model_config(x->m)->max_position, (long long)x->blocks * MODEL_KV_BLOCK);
	l->blocks = 0;
	for (int i = 0; i < n; i++) {
		report(x, l, i, NULL, INFER_REFUSED);
		live_done(x, l);
	}
}

/* The next request, if there is one. */
static int take_request(struct infer *x, struct live **out, struct err *e)
{
	struct infer_request r;
	struct live *l;

	*out = NULL;
	if (!x->calls->next(x->calls->ctx, &r))
		return 0;
	l = mem_zalloc(sizeof *l);
	if (!l)
		return err_nomem(e);
	l->r = r;
	if (l->r.prompt_n < 1 || l->r.n < 1 || l->r.max_new_tokens < 1)
		BUG("a request for %d samples of %d tokens after %d", l->r.n, l->r.max_new_tokens, l->r.prompt_n);
	l->limit = MIN(l->r.max_new_tokens, model_config(x->m)->max_position - l->r.prompt_n);
	l->blocks = blocks_for(l->r.prompt_n);
	if (l->limit > 0) {
		/* If even one full sample would not fit the cache, answers are as long as it allows. */
		int64_t room = (x->blocks - l->blocks + l->r.prompt_n / MODEL_KV_BLOCK) * MODEL_KV_BLOCK -
			l->r.prompt_n;

		if (room > 0 && room < l->limit)
			log_warn("answers to a prompt of %d tokens are cut at %lld: the cache is no larger",
				 l->r.prompt_n, (long long)room);
		l->limit = (int)MIN((int64_t)l->limit, room);
	}
	*out = l;
	return 0;
}

/* Computes the prompts of all held requests in one pass. */
static int prefill(struct infer *x, struct err *e)
{
	struct model_prompt p[INFER_PROMPTS];
	int64_t start = clock_ns();
	int rc;

	for (int i = 0; i < x->nheld; i++) {
		const struct infer_request *r = &x->held[i]->r;

		p[i] = (struct model_prompt){ .slot = x->slots + x->held[i]->holder, .tokens = r->prompt,
					      .n = r->prompt_n };
		x->stats->prompt_tokens += r->prompt_n;
	}
	rc = model_prefill_all(x->s, p, x->nheld, x->prompt_logits, e);
	x->stats->prompts += x->nheld;
	x->stats->prefill_ns += clock_ns() - start;
	return rc;
}

static int free_slot(const struct infer *x)
{
	for (int i = 0; i < x->slots; i++)
		if (!x->slot[i].live)
			return i;
	return -1;
}

/* Takes requests while there are free slots for their samples and memory: for the prompt and for
 * at least one sample of each at a time. */
static int hold(struct infer *x, struct live **waiting, struct err *e)
{
	int64_t samples = 0;
	int want = 0;

	for (int i = 0; i < x->slots; i++)
		want += !x->slot[i].live;
	while (x->nheld < INFER_PROMPTS && want > 0) {
		if (!*waiting && take_request(x, waiting, e))
			return -1;
		if (!*waiting)
			break;
		if ((*waiting)->limit < 1) {
			refuse(x, *waiting);
			*waiting = NULL;
			continue;
		}
		samples += sample_blocks(*waiting);
		if (x->promised + (*waiting)->blocks + samples > x->blocks)
			break;
		x->promised += (*waiting)->blocks;
		want -= (*waiting)->r.n;
		(*waiting)->holder = x->nheld;
		x->held[x->nheld++] = *waiting;
		*waiting = NULL;
	}
	return x->nheld ? prefill(x, e) : 0;
}

/* Starts samples of the held requests, or of the next ones, while there are free slots and
 * memory. Returns their number, or -1 and *e. */
static int start_samples(struct infer *x, struct live **waiting, struct err *e)
{
	int n = 0;

	if (free_slot(x) >= 0 && !x->nheld && hold(x, waiting, e))
		return -1;
	for (int i; (i = free_slot(x)) >= 0 && x->nheld && x->promised + sample_blocks(x->held[0]) <= x->blocks; n++) {
		if (start_sample(x, i, e))
			return -1;
		x->draw[n] = draw_of(x, i);
	}
	return n;
}

/* Starts samples and draws their first tokens from the logits of their prompts, while that is
 * possible. `waiting` is a request whose prompt has no room yet. */
static int refill(struct infer *x, struct live **waiting, struct err *e)
{
	for (int n; (n = start_samples(x, waiting, e)) != 0;) {
		if (n < 0 || model_draw_from(x->s, x->prompt_logits, x->draw, n, x->tokens, x->logprobs, e))
			return -1;
		for (int k = 0; k < n; k++)
			if (accept(x, x->draw[k].slot, x->tokens[k], x->logprobs[k], e))
				return -1;
	}
	return 0;
}

/* --- the loop -------------------------------------------------------------------------------------- */

/* The rows of the next step. Samples of one prompt are neighbours, since they share its keys and
 * values. Returns their number; *most is the most tokens that any of them still wants. */
static int gather_rows(struct infer *x, int *most)
{
	int n = 0;

	*most = 0;
	for (int i = 0; i < x->slots; i++)
		x->row[i] = -1;
	for (int i = 0; i < x->slots; i++)
		for (int k = i; x->slot[i].live && k < x->slots; k++)
			if (x->slot[k].live == x->slot[i].live && x->row[k] < 0) {
				x->draw[n] = draw_of(x, k);
				*most = MAX(*most, x->draw[n].most);
				x->row[k] = n++;
			}
	return n;
}

/* Takes what the step drew for slot i, until its sample ends. */
static int accept_drawn(struct infer *x, int i, int n, int steps, struct err *e)
{
	for (int k = 0; k < steps && x->slot[i].live; k++) {
		size_t at = (size_t)k * (size_t)n + (size_t)x->row[i];

		if (accept(x, i, x->tokens[at], x->logprobs[at], e))
			return -1;
	}
	return 0;
}

/* Decodes one burst for all samples and takes the drawn tokens. */
static int step(struct infer *x, int *active, struct err *e)
{
	int64_t start = clock_ns(), decoded;
	int most, n = gather_rows(x, &most), steps = MIN(most, model_burst_steps(x->m));

	*active = n;
	if (!n)
		return 0;
	if (model_burst(x->s, x->draw, n, steps, x->tokens, x->logprobs, e))
		return -1;
	decoded = clock_ns();
	for (int i = 0; i < x->slots; i++)
		if (accept_drawn(x, i, n, steps, e))
			return -1;
	x->stats->steps += steps;
	x->stats->decode_ns += decoded - start;
	x->stats->sample_ns += clock_ns() - decoded;
	return 0;
}

/* The samples of a request that are in no slot. */
static void abandon_rest(struct infer *x, struct live *l, int tell)
{
	for (int i = l->started, n = l->r.n; i < n; i++) {
		if (tell)
			report(x, l, i, NULL, INFER_INTERRUPTED);
		live_done(x, l);
	}
}

/* Reports every unfinished sample as interrupted, or drops it silently after an error. */
static void abandon(struct infer *x, struct live *waiting, int tell)
{
	/* Held requests first: one whose last sample failed to start is in a slot too and ends with it. */
	for (int i = 0; i < x->nheld; i++) {
		model_drop(x->s, x->slots + x->held[i]->holder);
		abandon_rest(x, x->held[i], tell);
	}
	for (int i = 0; i < x->slots; i++) {
		struct slot *t = &x->slot[i];

		if (t->live && tell) {
			finish(x, i, INFER_INTERRUPTED);
		} else if (t->live) {
			live_done(x, t->live);
			slot_clear(t);
			model_drop(x->s, i);
		}
	}
	if (waiting)
		abandon_rest(x, waiting, tell);
	x->nheld = 0;
	x->promised = 0;
}

int infer_run(struct infer *x, const struct infer_calls *calls, struct infer_stats *stats, struct err *e)
{
	struct infer_stats own = { .prompts = 0 };
	struct live *waiting = NULL;
	int rc = 0, active = 1, stopped = 0;

	x->calls = calls;
	x->stats = stats ? stats : &own;
	while (!rc && !stopped && active) {
		rc = refill(x, &waiting, e) || step(x, &active, e) ? -1 : 0;
		stopped = calls->stop && calls->stop(calls->ctx);
	}
	abandon(x, waiting, !rc);
	x->calls = NULL;
	x->stats = NULL;
	return rc;
}

/* --- lists ------------------------------------------------------------------------------------------- */

/* A list of requests as the source of a run. */
struct list {
	const struct infer_request *v;
	size_t n, at;
	const struct infer_calls *calls;
};

static int list_next(void *ctx, struct infer_request *out)
{
	struct list *l = ctx;

	if (l->at == l->n)
		return 0;
	*out = l->v[l->at++];
	return 1;
}

static void list_done(void *ctx, const struct infer_result *r)
{
	const struct list *l = ctx;

	l->calls->done(l->calls->ctx, r);
}

static void list_text(void *ctx, const struct infer_request *q, int sample, struct str piece)
{
	const struct list *l = ctx;

	if (l->calls->text)
		l->calls->text(l->calls->ctx, q, sample, piece);
}

static int list_stop(void *ctx)
{
	const struct list *l = ctx;

	return l->calls->stop && l->calls->stop(l->calls->ctx);
}

int infer_run_list(struct infer *x, const struct infer_request *requests, size_t n,
		   const struct infer_calls *calls, struct infer_stats *stats, struct err *e)
{
	struct list l = { .v = requests, .n = n, .calls = calls };
	struct infer_calls mine = { .next = list_next, .done = list_done, .text = list_text,
				    .stop = list_stop, .ctx = &l };

	return infer_run(x, &mine, stats, e);
}
