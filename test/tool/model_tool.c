/* Runs a model folder on token files and prints numbers, for comparison with transformers.
 *
 *   model_tool logits DIR TOKENS OUT.f32 [STORE]     all logits of a sequence, by decode
 *   model_tool prefill DIR TOKENS OUT.f32 [STORE]    log-probabilities by prefill
 *   model_tool grads DIR BATCH OUT.safetensors [r alpha targets adapter_dir] full or LoRA gradients
 *   model_tool train ...                              see below
 *
 * TOKENS: int32 file. BATCH: int32 file: T, sequences, start[sequences + 1], tokens[T],
 * target[T], then float coef[T]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "model/tape.h"

static struct err e;

static void die(void)
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

static enum model_store store_of(const char *s)
{
	return !s || !strcmp(s, "f32") ? STORE_F32 : !strcmp(s, "bf16") ? STORE_BF16 : STORE_I8;
}

static int cmd_logits(struct dev *d, int argc, char **argv)
{
	struct model *m = model_open(d, argv[0], &(struct model_opts){ .store = store_of(argc > 3 ? argv[3] : NULL) }, &e);
	struct buf tokens = slurp(argv[1]), out = BUF_INIT;
	const int32_t *t = (const int32_t *)(const void *)tokens.p;
	int n = (int)(tokens.n / 4), slot = 0;
	struct model_session *s;
	float *logits;

	if (!m || !(s = model_session_new(m, NULL, &(struct model_session_opts){ .slots = 1, .kv_tokens = n }, &e)))
		die();
	logits = mem_array((size_t)model_config(m)->V, sizeof *logits);
	for (int i = 0; i < n; i++) {
		if (model_decode(s, t + i, &slot, 1, logits, &e))
			die();
		buf_add(&out, logits, (size_t)model_config(m)->V * sizeof *logits);
	}
	if (file_replace(argv[2], buf_str(&out), &e))
		die();
	model_session_free(s);
	model_free(m);
	mem_free(logits);
	buf_release(&tokens);
	buf_release(&out);
	return 0;
}

static int cmd_prefill(struct dev *d, int argc, char **argv)
{
	struct model *m = model_open(d, argv[0], &(struct model_opts){ .store = store_of(argc > 3 ? argv[3] : NULL) }, &e);
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

int main(int argc, char **argv)
{
	struct dev *d = dev_open("cpu", 0, &e);
	int rc = 2;

	if (!d)
		die();
	if (argc >= 5 && !strcmp(argv[1], "logits"))
		rc = cmd_logits(d, argc - 2, argv + 2);
	else if (argc >= 5 && !strcmp(argv[1], "prefill"))
		rc = cmd_prefill(d, argc - 2, argv + 2);
	else if (argc >= 5 && !strcmp(argv[1], "grads"))
		rc = cmd_grads(d, argc - 2, argv + 2);
	else
		fprintf(stderr, "usage: model_tool logits|prefill|grads ...\n");
	dev_close(d);
	return rc;
}
