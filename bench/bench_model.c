/* Speed of the model engine: training, prefill and decode of a small and a 135 M model.
 *
 *   bench_model [small|large|all] [threads] [f32|bf16|fast|int8]
 *
 * One line per figure: name, tokens per second of wall time, tokens per second of CPU time
 * (which other work on the machine hardly changes). Two more are not tokens: `bandwidth` is
 * GB/s of reading memory on all threads, and `decode_1_of_bandwidth` the share of it, in
 * per cent, at which decode of one sequence reads its weights. bench_model.py runs this beside
 * transformers and prints the ratios. Weights are random. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "infer/infer.h"
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

_Noreturn static void die(void)
{
	fprintf(stderr, "bench_model: %s\n", e.text);
	exit(2);
}

struct stopwatch { double wall, cpu; };

static struct stopwatch now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (struct stopwatch){ (double)clock_ns() * 1e-9, (double)t.tv_sec + (double)t.tv_nsec * 1e-9 };
}

static void least(struct stopwatch *best, struct stopwatch since)
{
	struct stopwatch t = now();

	best->wall = MIN(best->wall, t.wall - since.wall);
	best->cpu = MIN(best->cpu, t.cpu - since.cpu);
}

static void show(const char *name, const char *what, int batch, double tokens, struct stopwatch t)
{
	printf("%s_%s", name, what);
	if (batch)
		printf("_%d", batch);
	printf(" %.0f %.0f\n", tokens / t.wall, tokens / t.cpu);
	fflush(stdout);
}

/* --- memory --------------------------------------------------------------------------------- */

enum { STREAM_WORDS = 1 << 25, STREAM_TIMES = 4 };   /* 256 MB: past every cache */

struct stream {
	const uint64_t *words;
	_Atomic uint64_t sum;      /* so that the reads are for something */
};

static void stream_run(void *ctx, size_t begin, size_t end)
{
	struct stream *s = ctx;
	uint64_t sum[8] = { 0 };

	for (size_t i = begin; i + 8 <= end; i += 8)
		for (int j = 0; j < 8; j++)
			sum[j] += s->words[i + (size_t)j];
	for (int j = 0; j < 8; j++)
		s->sum += sum[j];
}

/* Seconds that reading one GB takes. */
static struct stopwatch bandwidth(struct dev *d)
{
	double gb = STREAM_WORDS * 8e-9;
	struct stopwatch best = { 1e30, 1e30 };
	uint64_t *words = dev_alloc(d, STREAM_WORDS * sizeof *words, &e);
	struct stream s = { .words = words };

	if (!words)
		die();
	for (size_t i = 0; i < STREAM_WORDS; i++)
		words[i] = i;
	for (int i = 0; i < STREAM_TIMES; i++) {
		struct stopwatch at = now();

		pool_for(d->pool, STREAM_WORDS, STREAM_WORDS / 1024, stream_run, &s);
		least(&best, at);
	}
	dev_free(d, words, STREAM_WORDS * sizeof *words);
	best.wall /= gb;
	best.cpu /= gb;
	printf("bandwidth %.1f %.1f\n", 1 / best.wall, 1 / best.cpu);
	return best;
}

/* GB of weights that a token of one sequence passes through. */
static double weights_gb(const struct model_config *c, enum model_store store)
{
	double C = c->C, qkv = (double)(c->H + 2 * c->HKV) * c->D, layer = C * qkv + C * c->H * c->D + 3 * C * c->F;
	int bytes = store == STORE_F32 ? 4 : store == STORE_I8 ? 1 : 2;

	return (c->L * layer + C * c->V) * bytes * 1e-9;
}

/* --- work ------------------------------------------------------------------------------------- */

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

static void train(struct dev *d, const struct model_config *c, const char *name, const struct model_opts *mo, int lora,
		  int sequences, int length, int steps)
{
	struct model_opts o = *mo;
	struct trainer_opts to = { .tape = { .max_tokens = sequences * length }, .optim = OPTIM_DEFAULTS };
	struct data data = make_data(c->V, sequences, length + 1);
	struct stopwatch best = { 1e30, 1e30 };
	struct adapter *a = NULL;
	struct train_report r;
	struct trainer *t;
	struct model *m;

	o.trainable = !lora;
	if (!(m = model_new(d, c, &o, &e)) ||
	    (lora && !(a = adapter_new(m, &(struct adapter_opts){ .r = 16, .alpha = 32, .dropout = 0.05f, .targets = LORA_ALL }, &e))) ||
	    !(t = trainer_new(m, a, &to, &e)))
		die();
	for (int i = 0; i <= steps; i++) {
		struct stopwatch at = now();

		if (trainer_step(t, data.seq, (size_t)data.n, &r, &e))
			die();
		if (i)
			least(&best, at);
	}
	show(name, lora ? "train_lora" : "train_full", 0, (double)r.tokens, best);
	trainer_free(t);
	adapter_free(a);
	model_free(m);
	mem_free(data.tokens);
	mem_free(data.seq);
}

static int argmax(const float *x, int n)
{
	int best = 0;

	for (int i = 1; i < n; i++)
		best = x[i] > x[best] ? i : best;
	return best;
}

/* Each sequence has a prompt of its own: nothing is shared. */
static struct stopwatch decode(struct model *m, const char *name, int batch, int prompt, int steps)
{
	const struct model_config *c = model_config(m);
	struct data data = make_data(c->V, batch, prompt);
	struct model_session *s = model_session_new(m, NULL, &(struct model_session_opts){ .slots = batch,
			.kv_tokens = (int64_t)batch * (prompt + steps + 64) }, &e);
	float *logits = mem_array((size_t)batch * (size_t)c->V, 4);
	int32_t *tokens = mem_array((size_t)batch, 4);
	int *slots = mem_array((size_t)batch, sizeof *slots);
	struct model_prompt *prompts = mem_array((size_t)batch, sizeof *prompts);
	struct stopwatch at = now(), t = { 1e30, 1e30 };

	if (!s)
		die();
	for (int i = 0; i < batch; i++) {
		slots[i] = i;
		prompts[i] = (struct model_prompt){ .slot = i, .tokens = data.seq[i].tokens, .n = prompt };
	}
	for (int i = 0; i < batch; i += INFER_PROMPTS)       /* as sampling does */
		if (model_prefill_all(s, prompts + i, MIN(INFER_PROMPTS, batch - i), logits + (size_t)i * (size_t)c->V, &e))
			die();
	least(&t, at);
	show(name, "prefill", batch, batch * prompt, t);
	at = now();
	t = (struct stopwatch){ 1e30, 1e30 };
	for (int k = 0; k < steps; k++) {
		for (int i = 0; i < batch; i++)
			tokens[i] = argmax(logits + (size_t)i * (size_t)c->V, c->V);
		if (model_decode(s, tokens, slots, batch, logits, &e))
			die();
	}
	least(&t, at);
	show(name, "decode", batch, batch * steps, t);
	model_session_free(s);
	mem_free(data.tokens), mem_free(data.seq), mem_free(logits), mem_free(tokens), mem_free(slots), mem_free(prompts);
	return (struct stopwatch){ t.wall / steps, t.cpu / steps };
}

static void infer(struct dev *d, const struct model_config *c, const char *name, const struct model_opts *o, int prompt, const int *steps)
{
	static const int batches[] = { 1, 32, 128 };
	struct model *m = model_new(d, c, o, &e);

	if (!m)
		die();
	for (int i = 0; i < 3; i++) {
		struct stopwatch step = decode(m, name, batches[i], prompt, steps[i]);

		if (batches[i] == 1 && c == &large) {
			struct stopwatch gb = bandwidth(d);
			double read = weights_gb(c, o->store) * 100;

			printf("%s_decode_1_of_bandwidth %.0f %.0f\n", name, read * gb.wall / step.wall, read * gb.cpu / step.cpu);
		}
	}
	model_free(m);
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "small", *st = argc > 3 ? argv[3] : "f32";
	struct dev *d = dev_open("cpu", argc > 2 ? atoi(argv[2]) : 0, &e);
	struct model_opts o = { .store = STORE_F32 };

	if (!d || model_store_parse(str_of(st), &o.store, &e))
		die();
	printf("threads %d %s\n", d->threads, st);
	if (strcmp(which, "large")) {
		if (o.store != STORE_I8)
			train(d, &small, "small", &o, 0, 8, 512, 4);
		train(d, &small, "small", &o, 1, 8, 512, 4);
		infer(d, &small, "small", &o, 128, (const int[]){ 128, 64, 32 });
	}
	if (strcmp(which, "small")) {
		infer(d, &large, "large", &o, 16, (const int[]){ 24, 8, 4 });
		train(d, &large, "large", &o, 1, 1, 256, 1);
		if (o.store != STORE_I8)
			train(d, &large, "large", &o, 0, 1, 256, 1);
	}
	dev_close(d);
	return 0;
}
