/* The sampling engine: many samples of many prompts at once.
 *
 * A request is a prompt and how many samples of it are wanted. The prompt is computed once and
 * shared by its samples; a slot that finishes is refilled at once. Results come by callback, in
 * the order they finish, so that judging can overlap with sampling. A sample is a function of
 * (weights, prompt, options, seed, prompt number, sample number) and of nothing else: not of
 * the slots, the batch it ran in, or the order of requests. */
#ifndef INFER_INFER_H
#define INFER_INFER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "ops/sample.h"
#include "model/model.h"
#include "tok/tok.h"

struct infer;

enum { INFER_PROMPTS = 8 };      /* prompts computed in one pass, at most */

struct infer_opts {
	int slots;                     /* samples at a time; 0: 32 */
	int64_t length;                /* prompt and answer together, for memory: 0: 2048; each
					* sample may be longer as long as all fit */
	int kv8;                       /* see struct model_session_opts */
};

struct infer_request {
	const int32_t *prompt;         /* borrowed until the last sample of it is done */
	int prompt_n;
	int n;                         /* samples */
	int first;                     /* number of the first sample, for a seed continued later */
	uint64_t seed, number;         /* the run's seed and this prompt's number in it */
	struct sample_opts sample;
	int max_new_tokens;
	const int32_t *stop_tokens;    /* end a sample, and are part of it */
	size_t nstop_tokens;
	const char *const *stop_strings;   /* NULL-terminated or NULL: end a sample, not part of its text */
	void *ctx;                     /* the caller's */
};

enum infer_finish {
	INFER_STOP,                    /* a stop token or string */
	INFER_LENGTH,                  /* max_new_tokens, or the model's positions ended */
	INFER_INTERRUPTED,             /* the run was told to end */
	INFER_REFUSED                  /* the prompt does not fit; no tokens */
};
const char *infer_finish_name(enum infer_finish f);   /* "stop", "length", ... */

/* Everything borrowed until the callback returns. */
struct infer_result {
	const struct infer_request *request;
	int sample;                    /* request->first and on */
	const int32_t *tokens;         /* all that was drawn, a stop token included */
	const float *logprobs;         /* log p of each under the model (temperature 1) */
	int n;
	struct str text;               /* without special tokens, cut before a stop string */
	enum infer_finish finish;
};

struct infer_calls {
	/* The next request into *out: 1, or 0 for none now. Called when there is room; while others are being
	 * sampled, again before every step. */
	int (*next)(void *ctx, struct infer_request *out);
	void (*done)(void *ctx, const struct infer_result *r);
	/* Text as it comes, never part of a stop string; may be NULL. */
	void (*text)(void *ctx, const struct infer_request *request, int sample, struct str piece);
	/* Asked after each of its tokens; nonzero ends that sample as interrupted. May be NULL. */
	int (*unwanted)(void *ctx, const struct infer_request *request);
	/* Asked between steps; nonzero ends the run. May be NULL. */
	int (*stop)(void *ctx);
	void *ctx;
};

/* What a run did. */
struct infer_stats {
	int64_t prompts, prompt_tokens, samples, tokens, steps;
	int64_t prefill_ns, decode_ns, sample_ns;
};

/* `tok` may be NULL: then there is no text and there are no stop strings. */
struct infer *infer_new(const struct model *m, const struct adapter *a, const struct tok *tok,
			const struct infer_opts *o, struct err *e);
void infer_free(struct infer *x);
/* Between runs: another adapter, or the same one after its weights changed. */
int infer_set_adapter(struct infer *x, const struct adapter *a, struct err *e);

/* Runs until `next` has none and every sample is done. */
int infer_run(struct infer *x, const struct infer_calls *calls, struct infer_stats *stats, struct err *e);

/* Over a list: the same with requests[0..n) as the source. */
int infer_run_list(struct infer *x, const struct infer_request *requests, size_t n,
		   const struct infer_calls *calls, struct infer_stats *stats, struct err *e);

#endif
