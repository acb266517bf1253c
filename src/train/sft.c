/* Supervised fine-tuning: sft.h is the manual. The position in the data is a function of the step,
 * so a checkpoint holds nothing but parameters, optimizer state and the step's number. */
#include "train/sft.h"

#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "train/checkpoint.h"
#include "train/metrics.h"
#include "train/saver.h"

/* The state of one run of the SFT stage. */
struct sft {
	const struct sft_opts *o;
	struct policy p;
	struct tok *tok;
	struct feed *feed;
	struct metrics m;
	struct progress bar;
	char *checkpoints;
	struct saver *saver;
	int64_t step, total;
	int64_t saved;                 /* step of the newest checkpoint, there or being written; -1: none */
	int torn;                      /* the parameters are ahead of the step that was written last: not to be saved */
	int per_step;
	struct train_seq *seq;
	struct dataset validation;     /* rows that are not trained on */
	struct store *store;           /* of the process that writes; NULL: another one does */
	struct par *par;
	int64_t tokens, started_ns;    /* of this process, for the rate shown */
};

/* The state that goes into a checkpoint's manifest. */
static struct str state_of(const struct sft *s, char *text, size_t n)
{
	snprintf(text, n, "{\"stage\": \"sft\", \"step\": %lld}", (long long)s->step);
	return str_of(text);
}

/* Saves a checkpoint of the current step, unless it is saved already or the parameters are ahead of
 * the last written step. */
static int save_step(struct sft *s, struct err *e)
{
	char state[80];

	if (s->saved == s->step || !s->store || s->torn)
		return 0;
	if (saver_save(s->saver, s->step, state_of(s, state, sizeof state), e))
		return -1;
	s->saved = s->step;
	return 0;
}

/* Saves before the stage ends early, and waits until the checkpoint is on disk. */
static int save_last(struct sft *s, struct err *e)
{
	return save_step(s, e) || (s->store && saver_wait(s->saver, e)) ? -1 : 0;
}

/* --- looks -------------------------------------------------------------------------------- */

/* Metrics that an evaluation adds at most; validation rows that are used at most. */
enum { LOOKS = 3, VALIDATION_MOST = 256 };

/* Is an evaluation due after this step? Only the rank that writes evaluates. */
static int is_look(const struct sft *s)
{
	int64_t every = s->o->look.every;

	return s->store && every && (s->step % every == 0 || s->step == s->total);
}

/* The mean loss of a token over the validation rows, weighted as in training, without dropout. */
static int validation_loss(struct sft *s, double *loss, struct err *e)
{
	const struct dataset *d = &s->validation;
	float *logp = mem_array((size_t)s->o->max_length + 1, sizeof *logp);
	double sum = 0.0, weight = 0.0;
	int rc = logp ? 0 : err_nomem(e);

	for (size_t i = 0; i < d->seqs.n && i < VALIDATION_MOST && !rc; i++) {
		const struct dataset_seq *q = &d->seqs.v[i];
		const float *w = d->weights.v + q->at;
		struct train_seq seq = { .tokens = d->tokens.v + q->at, .weight = w, .n = q->n };

		rc = trainer_logprobs(s->p.trainer, &seq, 1, &logp, NULL, e);
		for (int k = 1; k < q->n && !rc; k++) {
			sum -= (double)w[k] * logp[k];
			weight += w[k];
		}
	}
	*loss = weight > 0 ? sum / weight : 0.0;
	mem_free(logp);
	return rc;
}

/* Evaluates: loss on validation rows, and the caller's evaluation by sampling if there is one. */
static int look(struct sft *s, struct metric *out, size_t *n, struct err *e)
{
	double loss, correct, reward;

	if (s->validation.seqs.n) {
		if (validation_loss(s, &loss, e))
			return -1;
		out[(*n)++] = (struct metric){ .name = "validation_loss", .value = loss };
	}
	if (s->o->look.eval) {
		if (s->o->look.eval(s->o->look.ctx, &s->p, &correct, &reward, e))
			return -1;
		out[(*n)++] = (struct metric){ .name = "eval_correct", .value = correct };
		out[(*n)++] = (struct metric){ .name = "eval_reward", .value = reward };
	}
	return 0;
}

/* --- steps -------------------------------------------------------------------------------- */

/* One optimizer step: sequences, forward and backward, update, metrics. */
static int one_step(struct sft *s, struct sft_result *r, struct err *e)
{
	struct train_report rep;
	struct store_step row;
	struct metric extra[LOOKS + 2];
	size_t n = 0;
	int64_t asked = clock_ns(), got;
	double rate;

	if (feed_step(s->feed, s->step, s->seq, e))
		return -1;
	got = clock_ns();
	if (trainer_step(s->p.trainer, s->seq, (size_t)s->per_step, &rep, e))
		return -1;
	s->step++;
	s->torn = 1;
	if (is_look(s) && look(s, extra, &n, e))
		return -1;
	row = (struct store_step){ .stage = "sft", .step = s->step, .loss = rep.loss, .lr = rep.optim.lr,
				   .grad_norm = rep.optim.grad_norm, .tokens = rep.tokens };
	r->tokens += rep.tokens;
	s->tokens += rep.tokens;
	rate = (double)s->tokens / MAX((double)(clock_ns() - s->started_ns) / 1e9, 1e-9);
	extra[n++] = (struct metric){ .name = "tokens_per_s", .value = rate, .clock = 1 };
	if (s->o->row)
		extra[n++] = (struct metric){ .name = "rows_wait_s", .value = (double)(got - asked) / 1e9, .clock = 1 };
	progress_note(&s->bar, "loss %.4f, lr %.2e, %.0f tokens/s", rep.loss, rep.optim.lr, rate);
	progress_add(&s->bar, 1);
	if (s->store && metrics_step(&s->m, &row, extra, n, e))
		return -1;
	s->torn = 0;
	return 0;
}

/* Reads the step's number from a checkpoint's manifest. */
static int resume_step(const char *path, int64_t *step, struct err *e)
{
	struct buf state = BUF_INIT;
	struct json *j;
	int rc = -1;

	if (!checkpoint_verify(path, &state, e) && (j = json_parse(buf_str(&state), e))) {
		rc = json_need_int(j, "step", step, e);
		json_free(j);
	}
	buf_release(&state);
	return rc;
}

/* Opens the data and computes the number of steps: as given, or epochs * sequences / batch. */
static int open_feed(struct sft *s, struct err *e)
{
	const struct sft_opts *o = s->o;
	struct feed_opts f = { .data = o->data, .row = o->row, .ctx = o->row_ctx, .max_length = o->max_length,
			       .shuffle = o->shuffle,
			       .seed = o->seed, .per_step = o->batch * MAX(o->accumulate, 1) };

	s->per_step = f.per_step;
	s->tok = tok_open(o->policy.tokenizer ? o->policy.tokenizer : o->policy.model, e);
	s->feed = s->tok ? feed_open(&f, s->tok, e) : NULL;
	if (s->feed)
		s->total = o->steps ? o->steps : MAX((int64_t)1, feed_epoch(s->feed) * o->epochs / s->per_step);
	if (!s->feed)
		return -1;
	return o->validation && o->look.every ? dataset_load(&s->validation, s->tok, o->validation,
							     o->max_length, e) : 0;
}

/* Opens everything, at the newest checkpoint if there is one. */
static int open_all(struct sft *s, struct dev *dev, struct err *e)
{
	const struct sft_opts *o = s->o;
	struct policy_opts po = o->policy;
	struct buf path = BUF_INIT, latest = BUF_INIT;
	int rc, found;

	path_join(&path, o->out, "checkpoints");
	s->checkpoints = buf_take(&path);
	found = s->checkpoints ? checkpoint_newest(s->par, s->checkpoints, "sft", &latest, e) : err_nomem(e);
	rc = found < 0 || (found && resume_step(buf_cstr(&latest), &s->step, e)) ? -1 : 0;
	s->saved = found > 0 ? s->step : -1;
	if (!rc)
		rc = open_feed(s, e);
	if (!rc) {
		po.trainer.optim.total = s->total;
		rc = policy_open(&s->p, dev, &po, found ? buf_cstr(&latest) : NULL, e);
	}
	if (!rc && found)
		log_info("sft continues at step %lld of %lld", (long long)s->step, (long long)s->total);
	if (!rc)
		rc = policy_same(&s->p, s->par, e);
	if (!rc && !(s->saver = saver_new(&(struct saver_opts){ .policy = &s->p, .store = s->store,
					.parent = s->checkpoints, .prefix = "sft", .keep = (int)o->save_keep }, e)))
		rc = -1;
	if (!rc && s->store)
		rc = metrics_open(&s->m, o->out, s->store, "sft", s->step, e);
	buf_release(&latest);
	return rc;
}

/* Logs the data and the memory table before the first step. */
static void print_tables(struct sft *s)
{
	struct buf data = BUF_INIT, b = BUF_INIT;

	feed_describe(s->feed, &data);
	trainer_table(s->p.trainer, &b);
	log_info("sft: %s\n%s", buf_cstr(&data), buf_cstr(&b));
	buf_release(&data);
	buf_release(&b);
}

/* Ends the stage: mean loss of the last tenth of the steps, the final adapter, one checkpoint
 * kept. */
static int finish(struct sft *s, struct sft_result *r, struct err *e)
{
	char state[80];

	return metrics_mean(s->store, "sft", s->total - MAX((int64_t)1, s->total / 10), "loss", &r->loss, e) ||
		store_sync(s->store, e) ||
	       saver_wait(s->saver, e) || policy_save(&s->p, s->checkpoints, "sft_final",
						      state_of(s, state, sizeof state), e) ||
	       checkpoint_prune(s->checkpoints, "sft", 1, e) ? -1 : 0;
}

/* Runs steps until the total is reached or a stop is requested. A stop saves a checkpoint and is
 * not an error. */
static int train(struct sft *s, struct sft_result *r, struct err *e)
{
	s->seq = mem_array((size_t)s->per_step, sizeof *s->seq);
	if (!s->seq)
		return err_nomem(e);
	print_tables(s);
	progress_begin(&s->bar, "sft", "steps", s->total);
	s->bar.done = s->bar.done_at_start = s->step;
	s->started_ns = clock_ns();
	while (s->step < s->total) {
		struct err why = ERR_INIT;

		if (one_step(s, r, &why))
			return why.code == ERR_INTERRUPTED ? save_last(s, e) : err_set(e, why.code, "%s", why.text);
		if (par_stopping(s->par))
			return save_last(s, e);
		if (s->o->save_every && s->step % s->o->save_every == 0 && s->step < s->total && save_step(s, e))
			return -1;
	}
	progress_end(&s->bar);
	r->done = 1;
	if (s->store && finish(s, r, e))
		return -1;
	/* The other ranks read the files of the first. A wait that was abandoned counts as a
	 * stop. */
	par_barrier(s->par, NULL);
	return 0;
}

int sft_run(struct dev *dev, struct store *store, const struct sft_opts *o, struct sft_result *r, struct err *e)
{
	struct sft s = { .o = o, .store = store, .par = o->policy.trainer.par };
	int rc;

	*r = (struct sft_result){ .steps = 0 };
	rc = policy_check(&o->policy, e) || file_mkdirs(o->out, e) || open_all(&s, dev, e) || train(&s, r, e) ? -1 : 0;
	r->steps = s.step;
	metrics_close(&s.m);
	saver_free(s.saver);
	feed_close(s.feed);
	dataset_release(&s.validation);
	tok_free(s.tok);
	policy_close(&s.p);
	mem_free(s.checkpoints);
	mem_free(s.seq);
	return rc;
}
