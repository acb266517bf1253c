/* One engine: log-probabilities that sampling gave against those that training computes for the same tokens.
 * With --exact they are the same bits; without, the difference is shown.
 *
 *   test_exact [DEVICE]      a small model and one of the 7B model's widths with two layers */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "infer/infer.h"
#include "model/tape.h"

enum { PROMPTS = 5, SAMPLES = 4, NEW = 40, LONGEST = 700 };

static const struct model_config shapes[] = {
	{ .arch = ARCH_QWEN3, .V = 4096, .C = 512, .L = 4, .H = 8, .HKV = 4, .D = 64, .F = 1408, .max_position = 2048, .eps = 1e-6f,
	  .rope_theta = 10000, .rope_factor = 1, .tied = 1, .qk_norm = 1, .bos = -1, .eos = -1 },
	{ .arch = ARCH_QWEN2, .V = 16384, .C = 3584, .L = 2, .H = 28, .HKV = 4, .D = 128, .F = 18944, .max_position = 2048, .eps = 1e-6f,
	  .rope_theta = 1e6, .rope_factor = 1, .qkv_bias = 1, .bos = -1, .eos = -1 },
};

static const int prompt_length[PROMPTS] = { 1, 5, 64, 513, LONGEST };

struct found {
	int n;
	int32_t tokens[LONGEST + NEW];
	float logprobs[NEW];
	int prompt, sample;
};

struct state {
	struct found v[PROMPTS * SAMPLES];
	int n;
	int32_t prompt[PROMPTS][LONGEST];
	struct infer_request request[PROMPTS];
};

static _Noreturn void die(const struct err *e)
{
	fprintf(stderr, "test_exact: %s\n", e->text);
	exit(2);
}

static void on_done(void *ctx, const struct infer_result *r)
{
	struct state *s = ctx;
	struct found *f = &s->v[s->n++];

	f->prompt = (int)r->request->number;
	f->sample = r->sample;
	f->n = r->n;
	memcpy(f->tokens, r->request->prompt, (size_t)r->request->prompt_n * sizeof *f->tokens);
	memcpy(f->tokens + r->request->prompt_n, r->tokens, (size_t)r->n * sizeof *f->tokens);
	memcpy(f->logprobs, r->logprobs, (size_t)r->n * sizeof *f->logprobs);
}

static void sample_all(struct state *s, struct model *m, struct adapter *a, int slots)
{
	struct err e = ERR_INIT;
	struct infer *x = infer_new(m, a, NULL, &(struct infer_opts){ .slots = slots, .length = LONGEST + NEW }, &e);
	struct rng r;

	rng_init(&r, 11, "prompts");
	s->n = 0;
	for (int i = 0; i < PROMPTS; i++) {
		for (int k = 0; k < prompt_length[i]; k++)
			s->prompt[i][k] = (int32_t)rng_below(&r, (uint64_t)model_config(m)->V);
		s->request[i] = (struct infer_request){ .prompt = s->prompt[i], .prompt_n = prompt_length[i], .n = SAMPLES, .seed = 3, .number = (uint64_t)i,
							.sample = { .temperature = 1 }, .max_new_tokens = NEW - i };
	}
	if (!x || infer_run_list(x, s->request, PROMPTS, &(struct infer_calls){ .done = on_done, .ctx = s }, NULL, &e))
		die(&e);
	infer_free(x);
}

struct difference { double sum, most; int n, unequal; };

/* A sequence by itself in a pack of training, or `both` in one. */
static void train_one(struct tape *t, const struct found *f, const struct found *other, struct difference *d)
{
	static int32_t tokens[2 * (LONGEST + NEW)], target[2 * (LONGEST + NEW)];
	static float logp[2 * (LONGEST + NEW)];
	const struct found *part[2] = { f, other };
	int32_t start[3] = { 0 };
	int n = other ? 2 : 1, T = 0;
	struct err e = ERR_INIT;

	for (int i = 0; i < n; i++) {
		int all = prompt_length[part[i]->prompt] + part[i]->n;

		memcpy(tokens + T, part[i]->tokens, (size_t)all * sizeof *tokens);
		for (int k = 0; k < all; k++)
			target[T + k] = k + 1 < all && k + 1 >= prompt_length[part[i]->prompt] ? part[i]->tokens[k + 1] : -1;
		T += all;
		start[i + 1] = T;
	}
	if (tape_forward(t, &(struct model_batch){ .T = T, .tokens = tokens, .target = target, .sequences = n, .start = start }, NULL, logp, NULL, &e))
		die(&e);
	for (int k = 0; k < f->n; k++) {
		float got = logp[prompt_length[f->prompt] - 1 + k];
		double gap = fabs((double)got - (double)f->logprobs[k]);

		d->n++;
		d->sum += gap;
		d->most = gap <= d->most ? d->most : gap;
		d->unequal += memcmp(&got, &f->logprobs[k], sizeof got) != 0;
	}
}

static int compare_shape(struct dev *dev, const struct model_config *c, struct state *s, int exact)
{
	struct err e = ERR_INIT;
	struct difference alone = { 0 }, packed = { 0 };
	struct model *m;
	struct adapter *a;
	struct tape *t;

	dev->exact = exact;
	m = model_new(dev, c, &(struct model_opts){ .store = STORE_BF16, .seed = 5, .init_std = 0.05f }, &e);
	if (!m || !(a = adapter_new(m, &(struct adapter_opts){ .r = 16, .alpha = 32, .targets = LORA_ALL, .seed = 9 }, &e)) ||
	    !(t = tape_new(m, a, &(struct tape_opts){ .max_tokens = 2 * (LONGEST + NEW) }, &e)))
		die(&e);
	tape_set_training(t, 0);
	sample_all(s, m, a, 7);
	for (int i = 0; i < s->n; i++) {
		train_one(t, &s->v[i], NULL, &alone);
		train_one(t, &s->v[i], &s->v[(i + 7) % s->n], &packed);
	}
	printf("%s C=%d %s: %d log-probabilities, mean difference %.3g, most %.3g, %d unequal; in a pack mean %.3g, most %.3g, %d unequal\n",
	       exact && alone.unequal + packed.unequal ? "FAIL" : "ok  ", c->C, exact ? "exact" : "fast", alone.n, alone.sum / alone.n, alone.most,
	       alone.unequal, packed.sum / packed.n, packed.most, packed.unequal);
	tape_free(t);
	adapter_free(a);
	model_free(m);
	return (exact && alone.unequal + packed.unequal) || alone.n != packed.n || alone.n < PROMPTS * SAMPLES;
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct dev *dev = dev_open(argc > 1 ? argv[1] : "cuda", 0, &e);
	struct state *s = mem_zalloc(sizeof *s);
	int bad = 0, shapes_n = argc > 2 ? atoi(argv[2]) : (int)COUNT_OF(shapes);

	if (!dev || !s)
		die(&e);
	for (int i = 0; i < shapes_n; i++)
		for (int exact = 0; exact < 2; exact++)
			bad |= compare_shape(dev, &shapes[i], s, exact);
	mem_free(s);
	dev_close(dev);
	printf("%s\n", bad ? "failed" : "all as they should be");
	return bad;
}
