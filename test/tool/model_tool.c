/* Runs a model folder on token files and prints numbers, for comparison with transformers.
 *
 *   model_tool logits DIR TOKENS OUT.f32 [STORE]     all logits of a sequence, by decode
 *   model_tool prefill DIR TOKENS OUT.f32 [STORE]    log-probabilities by prefill
 *   model_tool grads DIR BATCH OUT.safetensors [ADAPTER]   full or LoRA gradients
 *   model_tool adapter DIR ADAPTER OUT                loads an adapter and saves it again
 *   model_tool merge DIR ADAPTER OUT                  a folder with the adapter merged
 *   model_tool greedy DIR TOKENS N                    prints N greedy tokens
 *   model_tool train DIR BATCHES COUNT STEPS OUT LR   AdamW on BATCHES0.., two a step
 *
 * TOKENS: int32 file. BATCH: int32 file: T, sequences, start[sequences + 1], tokens[T],
 * target[T], then float coef[T]. MODEL_DEVICE: cpu unless given; MODEL_THREADS: how many threads;
 * RECOMPUTE: activations are computed again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "model/tape.h"
#include "train/step.h"

static struct err e;

_Noreturn static void die(void)
{
	fprintf(stderr, "model_tool: %s\n", e.text);
	exit(2);
}

static struct buf slurp(const char *path)
{
	struct buf b = BUF_INIT;

	if (file_read(path, 0, &b, &e))
		die();
	return b;
}

static struct model_opts store_of(const char *s)
{
	struct model_opts o = { .store = STORE_F32 };

	if (s && model_store_parse(str_of(s), &o.store, &e))
		die();
	return o;
}

/* A row of logits in the device's memory and in the host's. */
struct row {
	float *dev, *host;
	size_t bytes;
};

static struct row row_of(const struct model *m, struct dev *d)
{
	struct row r = { .bytes = (size_t)model_config(m)->V * sizeof *r.host };

	if (!(r.dev = dev_alloc(d, r.bytes, &e)) || !(r.host = mem_alloc(r.bytes)))
		die();
	return r;
}

static void row_release(struct row *r, struct dev *d)
{
	dev_free(d, r->dev, r->bytes);
	mem_free(r->host);
}

static int cmd_logits(struct dev *d, int argc, char **argv)
{
	struct model_opts o = store_of(argc > 3 ? argv[3] : NULL);
	struct model *m = model_open(d, argv[0], &o, &e);
	struct buf tokens = slurp(argv[1]), out = BUF_INIT;
	const int32_t *t = (const int32_t *)(const void *)tokens.p;
	int n = (int)(tokens.n / 4), slot = 0;
	struct model_session *s;
	struct row r;

	if (!m || !(s = model_session_new(m, NULL, &(struct model_session_opts){ .slots = 1, .kv_tokens = n }, &e)))
		die();
	r = row_of(m, d);
	for (int i = 0; i < n; i++) {
		if (model_decode(s, t + i, &slot, 1, r.dev, &e) || dev_get(d, r.host, r.dev, r.bytes, &e))
			die();
		buf_add(&out, r.host, r.bytes);
	}
	if (file_replace(argv[2], buf_str(&out), &e))
		die();
	model_session_free(s);
	model_free(m);
	row_release(&r, d);
	buf_release(&tokens);
	buf_release(&out);
	return 0;
}

static int cmd_prefill(struct dev *d, int argc, char **argv)
{
	struct model_opts o = store_of(argc > 3 ? argv[3] : NULL);
	struct model *m = model_open(d, argv[0], &o, &e);
	struct buf tokens = slurp(argv[1]);
	int n = (int)(tokens.n / 4);
	float *logp = mem_array((size_t)n, sizeof *logp);
	struct model_session *s;

	if (!m || !(s = model_session_new(m, NULL, &(struct model_session_opts){ .slots = 1, .kv_tokens = n, .chunk = 37 }, &e)) ||
	    model_prefill(s, 0, (const int32_t *)(const void *)tokens.p, n, NULL, logp, &e) ||
	    file_replace(argv[2], (struct str){ .p = (const char *)logp, .n = (size_t)n * sizeof *logp }, &e))
		die();
	model_session_free(s);
	model_free(m);
	mem_free(logp);
	buf_release(&tokens);
	return 0;
}

static struct model_batch batch_of(const struct buf *b, const float **coef)
{
	const int32_t *v = (const int32_t *)(const void *)b->p;
	struct model_batch r = { .T = v[0], .sequences = v[1], .start = v + 2 };

	r.tokens = r.start + r.sequences + 1;
	r.target = r.tokens + r.T;
	*coef = (const float *)(const void *)(r.target + r.T);
	return r;
}

static int cmd_grads(struct dev *d, int argc, char **argv)
{
	int lora = argc > 3;
	struct model *m = model_open(d, argv[0], &(struct model_opts){ .trainable = !lora }, &e);
	struct adapter *a = NULL;
	struct buf in = slurp(argv[1]);
	const float *coef;
	struct model_batch b = batch_of(&in, &coef);
	float *logp = mem_array((size_t)b.T, sizeof *logp);
	double sum = 0;
	struct tape *t;

	if (!m || (lora && !(a = adapter_open(m, argv[3], &e))))
		die();
	if (!(t = tape_new(m, a, &(struct tape_opts){ .max_tokens = b.T, .recompute = getenv("RECOMPUTE") != NULL }, &e)))
		die();
	tape_set_training(t, 0);
	if (tape_forward(t, &b, coef, logp, NULL, &e) || tape_backward(t, NULL, &e) || slab_save(tape_grads(t), argv[2], "", &e))
		die();
	for (int i = 0; i < b.T; i++)
		sum += (double)logp[i] * (double)coef[i];
	printf("%.9g %.9g\n", sum, tape_grad_norm(t));
	tape_free(t);
	adapter_free(a);
	model_free(m);
	mem_free(logp);
	buf_release(&in);
	return 0;
}

static int cmd_adapter(struct dev *d, int argc, char **argv)
{
	struct model *m = model_open(d, argv[0], &(struct model_opts){ .store = STORE_BF16 }, &e);
	struct adapter *a;

	(void)argc;
	if (!m || !(a = adapter_open(m, argv[1], &e)) || adapter_save(a, argv[2], argv[0], &e))
		die();
	adapter_free(a);
	model_free(m);
	return 0;
}

static int cmd_merge(struct dev *d, int argc, char **argv)
{
	struct model *m = model_open(d, argv[0], &(struct model_opts){ .store = STORE_I8 }, &e);
	struct adapter *a;

	(void)argc;
	if (!m || !(a = adapter_open(m, argv[1], &e)) || model_save(m, a, argv[2], DT_F32, &e))
		die();
	adapter_free(a);
	model_free(m);
	return 0;
}

static int32_t argmax(const float *x, int n)
{
	int best = 0;

	for (int i = 1; i < n; i++)
		if (x[i] > x[best])
			best = i;
	return best;
}

static int cmd_greedy(struct dev *d, int argc, char **argv)
{
	struct model *m = model_open(d, argv[0], &(struct model_opts){ .store = STORE_F32 }, &e);
	struct buf tokens = slurp(argv[1]);
	int n = (int)(tokens.n / 4), steps = atoi(argv[2]), slot = 0, V;
	struct model_session *s;
	struct row r;

	(void)argc;
	if (!m || !(s = model_session_new(m, NULL, &(struct model_session_opts){ .slots = 1, .kv_tokens = n + steps }, &e)))
		die();
	V = model_config(m)->V;
	r = row_of(m, d);
	if (model_prefill(s, 0, (const int32_t *)(const void *)tokens.p, n, r.dev, NULL, &e))
		die();
	for (int i = 0; i < steps; i++) {
		int32_t t;

		if (dev_get(d, r.host, r.dev, r.bytes, &e))
			die();
		t = argmax(r.host, V);
		printf("%d ", t);
		if (i + 1 < steps && model_decode(s, &t, &slot, 1, r.dev, &e))
			die();
	}
	printf("\n");
	model_session_free(s);
	model_free(m);
	row_release(&r, d);
	buf_release(&tokens);
	return 0;
}

/* The sequences of a batch file as training sequences: the last token of each has no row of
 * its own, so it is fed and masked targets get weight 0. */
static size_t sequences_of(const struct model_batch *b, struct train_seq *out, float *weight)
{
	for (int s = 0; s < b->sequences; s++) {
		int first = b->start[s], n = b->start[s + 1] - first;

		for (int i = 1; i < n; i++)
			weight[first + i] = b->target[first + i - 1] >= 0;
		out[s] = (struct train_seq){ .tokens = b->tokens + first, .weight = weight + first, .n = n };
	}
	return (size_t)b->sequences;
}

static int cmd_train(struct dev *d, int argc, char **argv)
{
	struct model *m = model_open(d, argv[0], &(struct model_opts){ .trainable = 1 }, &e);
	int count = atoi(argv[2]), steps = atoi(argv[3]);
	struct trainer_opts o = { .tape = { .max_tokens = 128 }, .optim = OPTIM_DEFAULTS };
	struct trainer *t;

	(void)argc;
	o.optim.lr = atof(argv[5]), o.optim.beta2 = 0.95f, o.optim.decay = 0.1f, o.optim.warmup = 3, o.optim.total = steps;
	if (!m || !(t = trainer_new(m, NULL, &o, &e)))
		die();
	for (int s = 0; s < steps; s++) {
		struct train_seq seq[64];
		struct train_report r;
		struct buf in[2];
		float *weight[2];
		size_t n = 0;

		for (int i = 0; i < 2; i++) {
			char path[4096];
			const float *coef;
			struct model_batch b;

			snprintf(path, sizeof path, "%s%d", argv[1], (2 * s + i) % count);
			in[i] = slurp(path);
			b = batch_of(&in[i], &coef);
			weight[i] = mem_array((size_t)b.T, sizeof(float));
			n += sequences_of(&b, seq + n, weight[i]);
		}
		if (trainer_step(t, seq, n, &r, &e))
			die();
		printf("%.9g %.9g %.12g\n", r.loss, r.optim.grad_norm, r.optim.lr);
		for (int i = 0; i < 2; i++) {
			mem_free(weight[i]);
			buf_release(&in[i]);
		}
	}
	if (model_save(m, NULL, argv[4], DT_F32, &e))
		die();
	trainer_free(t);
	model_free(m);
	return 0;
}

static const struct {
	const char *name;
	int args;
	int (*run)(struct dev *, int, char **);
} commands[] = {
	{ "logits", 3, cmd_logits }, { "prefill", 3, cmd_prefill }, { "grads", 3, cmd_grads },
	{ "adapter", 3, cmd_adapter }, { "merge", 3, cmd_merge }, { "greedy", 3, cmd_greedy }, { "train", 6, cmd_train },
};

int main(int argc, char **argv)
{
	const char *threads = getenv("MODEL_THREADS"), *device = getenv("MODEL_DEVICE");
	struct dev *d = dev_open(device ? device : "cpu", threads ? atoi(threads) : 0, &e);

	if (!d)
		die();
	for (size_t i = 0; argc > 1 && i < COUNT_OF(commands); i++)
		if (!strcmp(argv[1], commands[i].name) && argc - 2 >= commands[i].args) {
			int rc = commands[i].run(d, argc - 2, argv + 2);

			dev_close(d);
			return rc;
		}
	fprintf(stderr, "usage: see the head of test/tool/model_tool.c\n");
	dev_close(d);
	return 2;
}
