/* Choosing one token from a row of logits.
 *
 * Order of operations as in Hugging Face: repetition penalty, temperature, top-k, top-p, min-p,
 * draw. Each token takes one uniform number from the caller, so that a sample depends only on its
 * own stream. */
#ifndef OPS_SAMPLE_H
#define OPS_SAMPLE_H

#include <stdint.h>

struct err;

struct sample_opts {
	float temperature;         /* 0: the most probable token */
	int top_k;                 /* 0: off */
	float top_p;               /* 0 or 1: off */
	float min_p;               /* 0: off */
	float repetition;          /* penalty on tokens of the text so far; 0 or 1: off */
};

/* A row's options and its stream: draw n is number n of struct rng's with that key. */
struct sample_row {
	struct sample_opts o;
	uint64_t key;
};

/* Scratch of one thread, for rows of V logits. */
struct sample_candidate { float p; int32_t id; };
struct sample_work {
	int V;
	float *x;                  /* [V] */
	struct sample_candidate *c;        /* [V] */
};

int sample_work_init(struct sample_work *w, int V, struct err *e);
void sample_work_release(struct sample_work *w);

/* The token for `u` in [0, 1). `seen` is a bit per token of the text so far (NULL without
 * repetition penalty). *logprob gets log p(token) under the model itself: temperature 1, no
 * penalty, nothing cut off. `logits` is not changed. */
int32_t sample_token(const struct sample_opts *o, const float *logits, const uint32_t *seen, double u,
		     struct sample_work *w, float *logprob);

#endif
