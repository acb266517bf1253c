/* Speed of the model engine: training, prefill and decode of a small and a 135 M model.
 *
 *   bench_model [small|large|all] [threads] [f32|bf16|i8]
 *
 * One line per figure, `name value unit`; bench_model.py runs this beside transformers and
 * prints the ratios. Models have random weights; sizes are those of transformers' own run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/tape.h"
#include "train/step.h"

static struct err e;

static const struct model_config small = {
	.arch = ARCH_QWEN2, .V = 2048, .C = 256, .L = 4, .H = 4, .HKV = 2, .D = 64, .F = 512, .max_position = 2048,
	.eps = 1e-6f, .rope_theta = 10000, .rope_factor = 1, .tied = 1, .qkv_bias = 1, .bos = -1, .eos = -1,
};
/* SmolLM2-135M's shape */
static const struct model_config large = {
	.arch = ARCH_LLAMA, .V = 49152, .C = 576, .L = 30, .H = 9, .HKV = 3, .D = 64, .F = 1536, .max_position = 2048,
	.eps = 1e-5f, .rope_theta = 10000, .rope_factor = 1, .tied = 1, .bos = -1, .eos = -1,
};

static void die(void)
{
	fprintf(stderr, "bench_model: %s\n", e.text);
	exit(2);
}

static double seconds(int64_t since) { return (double)(clock_ns() - since) * 1e-9; }

struct data {
	int32_t *tokens;
	struct train_seq *seq;
	int n;
};

static struct data make_data(int V, int sequences, int length)
{
	struct data d = { .tokens = mem_array((size_t)sequences * (size_t)length, 4),
			  .seq = mem_array((size_t)sequences, sizeof *d.seq), .n = sequences };
	struct rng r;

	rng_init(&r, 1, "bench");
	for (int i = 0; i < sequences * length; i++)
		d.tokens[i] = (int32_t)rng_below(&r, (uint64_t)V);
	for (int i = 0; i < sequences; i++)
		d.seq[i] = (struct train_seq){ .tokens = d.tokens + (size_t)i * (size_t)length, .n = length };
	return d;
}

static void train(struct dev *d, const struct model_config *c, const char *name, int lora, int sequences, int length, int steps)
{
	struct model *m = model_new(d, c, &(struct model_opts){ .trainable = !lora }, &e);
	struct adapter *a = NULL;
	struct trainer_opts o = { .tape = { .max_tokens = sequences * length }, .optim = OPTIM_DEFAULTS };
	struct data data = make_data(c->V, sequences, length + 1);
	struct train_report r;
	struct trainer *t;
	double best = 1e30;

	if (!m || (lora && !(a = adapter_new(m, &(struct adapter_opts){ .r = 16, .alpha = 32, .targets = LORA_ALL }, &e))) ||
	    !(t = trainer_new(m, a, &o, &e)))
		die();
	for (int i = 0; i <= steps; i++) {
		int64_t at = clock_ns();

		if (trainer_step(t, data.seq, (size_t)data.n, &r, &e))
			die();
		if (i)
			best = MIN(best, seconds(at));
	}
	printf("%s_train_%s %.0f tok/s\n", name, lora ? "lora" : "full", (double)r.tokens / best);
	trainer_free(t);
	adapter_free(a);
	model_free(m);
	mem_free(data.tokens);
	mem_free(data.seq);
}

static void decode(struct model *m, const char *name, int batch, int prompt, int steps)
{
	const struct model_config *c = model_config(m);
	struct data data = make_data(c->V, batch, prompt);
	struct model_session *s = model_session_new(m, NULL, &(struct model_session_opts){ .slots = batch,
			.kv_tokens = (int64_t)batch * (prompt + steps + 64) }, &e);
	float *logits = mem_array((size_t)batch * (size_t)c->V, 4);
	int32_t *tokens = mem_array((size_t)batch, 4);
	int *slots = mem_array((size_t)batch, sizeof *slots);
	int64_t at = clock_ns();

	if (!s)
		die();
	for (int i = 0; i < batch; i++) {
		slots[i] = i;
		if (model_prefill(s, i, data.seq[i].tokens, prompt, logits + (size_t)i * (size_t)c->V, NULL, &e))
			die();
	}
	printf("%s_prefill_%d %.0f tok/s\n", name, batch, batch * prompt / seconds(at));
	at = clock_ns();
	for (int k = 0; k < steps; k++) {
		for (int i = 0; i < batch; i++) {
			const float *l = logits + (size_t)i * (size_t)c->V;
			int best = 0;

			for (int v = 1; v < c->V; v++)
				best = l[v] > l[best] ? v : best;
			tokens[i] = best;
		}
		if (model_decode(s, tokens, slots, batch, logits, &e))
			die();
	}
	printf("%s_decode_%d %.0f tok/s\n", name, batch, batch * steps / seconds(at));
	model_session_free(s);
	mem_free(data.tokens), mem_free(data.seq), mem_free(logits), mem_free(tokens), mem_free(slots);
}

static void infer(struct dev *d, const struct model_config *c, const char *name, enum model_store store, const int *steps)
{
	struct model *m = model_new(d, c, &(struct model_opts){ .store = store }, &e);

	if (!m)
		die();
	decode(m, name, 1, 128, steps[0]);
	decode(m, name, 32, 128, steps[1]);
	decode(m, name, 128, 128, steps[2]);
	model_free(m);
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "small", *st = argc > 3 ? argv[3] : "f32";
	enum model_store store = !strcmp(st, "bf16") ? STORE_BF16 : !strcmp(st, "i8") ? STORE_I8 : STORE_F32;
	struct dev *d = dev_open("cpu", argc > 2 ? atoi(argv[2]) : 0, &e);

	if (!d)
		die();
	printf("threads %d\n", d->threads);
	if (strcmp(which, "large")) {
		train(d, &small, "small", 0, 8, 512, 4);
		train(d, &small, "small", 1, 8, 512, 4);
		infer(d, &small, "small", store, (const int[]){ 400, 100, 60 });
	}
	if (strcmp(which, "small")) {
		train(d, &large, "large", 0, 2, 512, 1);
		train(d, &large, "large", 1, 2, 512, 1);
		infer(d, &large, "large", store, (const int[]){ 30, 8, 4 });
	}
	dev_close(d);
	return 0;
}
