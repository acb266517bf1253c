/* The sampling engine: many samples of many prompts at once.
 *
 * A request is a prompt and the number of samples wanted. The prompt is computed once and shared
 * by its samples. A slot whose sample finishes is refilled at once. Results come by callback, in
 * the order they finish, so that judging can overlap with sampling. A sample is a function of
 * (weights, prompt, options, seed, prompt number, sample number) and of nothing else: not of the
 * slots, the batch it ran in, or the order of requests. */
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

enum { INFER_PROMPTS = 8 };      /* most prompts computed in one pass */

struct infer_opts {
	int slots;                     /* samples at a time; 0: 32 */
	int64_t length;                /* prompt and answer together, for memory: 0: 2048; each
					* sample may be longer as long as all fit */
	int kv8;                       /* see struct model_session_opts */
};

/* A prompt, the number of samples to draw for it, and how to draw them. */
struct infer_request {
	const int32_t *prompt;         /* borrowed until its last sample is done */
	int prompt_n;
	int n;                         /* samples */
	int first;                     /* number of the first sample, to continue a seed later */
	uint64_t seed, number;         /* the run's seed and this prompt's number in it */
	struct sample_opts sample;
	int max_new_tokens;
	const int32_t *stop_tokens;    /* they end a sample and are part of it */
	size_t nstop_tokens;
	/* NULL-terminated or NULL: they end a sample and are not part of its text */
	const char *const *stop_strings;
	void *ctx;                     /* the caller's */
};

/* Why a sample ended. */
enum infer_finish {
	INFER_STOP,                    /* a stop token or string */
	INFER_LENGTH,                  /* max_new_tokens or the model's positions are used up */
	INFER_INTERRUPTED,             /* the run was asked to end */
	INFER_REFUSED                  /* the prompt does not fit; no tokens */
};
const char *infer_finish_name(enum infer_finish f);   /* "stop", "length", ... */

/* A finished sample. Everything is borrowed until the callback returns. */
struct infer_result {
	const struct infer_request *request;
	int sample;                    /* from request->first on */
	const int32_t *tokens;         /* all drawn tokens, a stop token included */
	const float *logprobs;         /* log p of each under the model (temperature 1) */
	int n;
	struct str text;               /* without special tokens, cut before a stop string */
	enum infer_finish finish;
};

/* The caller's side of a run. */
struct infer_calls {
	/* Puts the next request into *out and returns 1, or returns 0 if no request waits. Called
	 * when there is room; while others are being sampled, again before every step. */
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

/* Statistics of a run: counts, and times in nanoseconds. */
struct infer_stats {
	int64_t prompts, prompt_tokens, samples, tokens, steps;
	int64_t prefill_ns, decode_ns, sample_ns;
};

/* `tok` may be NULL: there is no text then, and there are no stop strings. */
struct infer *infer_new(const struct model *m, const struct adapter *a, const struct tok *tok,
			const struct infer_opts *o, struct err *e);
void infer_free(struct infer *x);
/* Between runs: sets another adapter, or the same one after its weights changed. */
int infer_set_adapter(struct infer *x, const struct adapter *a, struct err *e);

/* Runs until `next` has no request and every sample is done. */
int infer_run(struct infer *x, const struct infer_calls *calls, struct infer_stats *stats, struct err *e);

/* The same over requests[0..n). */
int infer_run_list(struct infer *x, const struct infer_request *requests, size_t n,
		   const struct infer_calls *calls, struct infer_stats *stats, struct err *e);

#endif
