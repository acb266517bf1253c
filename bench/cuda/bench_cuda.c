/* The model engine on a GPU: agreement with the CPU, speed of training and decoding, and where the time goes.
 *
 *   bench_cuda parity CONFIG                    loss and gradients of a small model on both devices
 *   bench_cuda train MODEL|CONFIG [key=value]   tokens a second; MODEL is a folder, CONFIG a .json: a new model
 *   bench_cuda decode MODEL [key=value]         tokens a second of decoding
 *
 * Keys: exact=0|1 store=bf16|fp8|int8 full=0|1 r=16 batch=4 length=2048 steps=5 warm=2 times=0|1 context=512 recompute=0|1
 *   shared=N   decode: samples of one prompt, half of the context. train: the same, each sequence half prompt; share=0|1 computes
 *              the prompt once
 *   sample=1   decode: tokens are drawn on the GPU and come back every few steps, as the sampler does
 *   kv8=1      decode: keys and values in 8 bits */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/model.h"
#include "model/tape.h"
#include "train/step.h"

struct args {
	const char *model, *store, *device;
	int full, r, batch, length, steps, warm, times, context, shared, recompute, exact, share, sample, kv8;
};

static _Noreturn void die(const struct err *e)
{
	fprintf(stderr, "bench_cuda: %s\n", e->text);
	exit(1);
}

static void read_args(struct args *a, int argc, char **argv)
{
	const struct { const char *key; int *to; } ints[] = {
		{ "full", &a->full }, { "r", &a->r }, { "batch", &a->batch }, { "length", &a->length }, { "steps", &a->steps }, { "warm", &a->warm },
		{ "times", &a->times }, { "context", &a->context }, { "shared", &a->shared }, { "recompute", &a->recompute }, { "exact", &a->exact },
		{ "share", &a->share }, { "sample", &a->sample }, { "kv8", &a->kv8 },
	};

	*a = (struct args){ .model = argv[0], .store = "bf16", .device = "cuda", .r = 16, .batch = 4, .length = 2048, .steps = 5, .warm = 2, .context = 512,
			    .share = 1 };
	for (int i = 1; i < argc; i++) {
		char *eq = strchr(argv[i], '=');
		size_t k = 0;

		if (!eq)
			continue;
		*eq++ = '\0';
		if (!strcmp(argv[i], "store"))
			a->store = eq;
		else if (!strcmp(argv[i], "device"))
			a->device = eq;
		while (k < COUNT_OF(ints) && strcmp(ints[k].key, argv[i]))
			k++;
		if (k < COUNT_OF(ints))
			*ints[k].to = atoi(eq);
	}
}

static struct model *open_model(struct dev *d, const struct args *a, struct err *e)
{
	struct model_opts o = { .trainable = a->full, .seed = 1 };
	struct model_config c;
	size_t n = strlen(a->model);
	struct json *j;

	d->exact = a->exact;
	if (model_store_parse(str_of(a->store), &o.store, e))
		die(e);
	if (n < 5 || strcmp(a->model + n - 5, ".json"))
		return model_open(d, a->model, &o, e);
	o.trainable = 1;
	if (!(j = json_parse_file(a->model, e)) || model_config_parse(&c, j, e))
		die(e);
	json_free(j);
	return model_new(d, &c, &o, e);
}

static struct adapter *new_adapter(struct model *m, const struct args *a, struct err *e)
{
	struct adapter *x;

	if (a->full)
		return NULL;
	x = adapter_new(m, &(struct adapter_opts){ .r = a->r, .alpha = (float)(2 * a->r), .targets = LORA_ALL, .seed = 2 }, e);
	if (!x)
		die(e);
	return x;
}

static struct train_seq *draw(const struct model *m, const struct args *a, struct rng *r)
{
	struct train_seq *s = mem_array((size_t)a->batch, sizeof *s);

	for (int i = 0; i < a->batch; i++) {
		int32_t *t = mem_array((size_t)a->length + 1, sizeof *t);

		for (int k = 0; k <= a->length; k++)
			t[k] = (int32_t)rng_below(r, (uint64_t)model_config(m)->V);
		s[i] = (struct train_seq){ .tokens = t, .n = a->length + 1, .prompt = a->shared > 1 ? a->length / 2 : 0 };
		if (a->shared > 1 && i % a->shared)
			memcpy(t, s[i - 1].tokens, (size_t)s[i].prompt * sizeof *t);
	}
	return s;
}

/* --- training ---------------------------------------------------------------------------------------- */

static void run_train(const struct args *a)
{
	struct err e = ERR_INIT;
	struct dev *d = dev_open(a->device, 0, &e);
	int64_t start = clock_ns();
	double opened;
	struct model *m = d ? open_model(d, a, &e) : NULL;
	struct adapter *x = m ? new_adapter(m, a, &e) : NULL;
	struct trainer_opts o = { .tape = { .max_tokens = a->batch * a->length, .recompute = a->recompute, .seed = 3 }, .optim = OPTIM_DEFAULTS,
				  .share = a->share ? TRAINER_SHARE_GPU : TRAINER_SHARE_NEVER };
	struct buf text = BUF_INIT;
	struct train_report r;
	struct trainer *t;
	struct rng rng;
	double tokens = 0;

	if (!m)
		die(&e);
	dev_check(d, NULL);
	opened = (double)(clock_ns() - start) / 1e9;
	o.optim.lr = 1e-4, o.optim.total = a->steps + a->warm;
	if (!(t = trainer_new(m, x, &o, &e)))
		die(&e);
	rng_init(&rng, 4, "bench");
	for (int i = 0; i < a->warm + a->steps; i++) {
		struct train_seq *s = draw(m, a, &rng);

		if (i == a->warm)
			dev_check(d, NULL), start = clock_ns();
		if (a->times && i + 1 == a->warm + a->steps && dev_times_start(d, 200000, &e))
			die(&e);
		if (trainer_step(t, s, (size_t)a->batch, &r, &e))
			die(&e);
		if (i >= a->warm)
			tokens += (double)a->batch * a->length;
		if (i < 3 || i + 1 == a->warm + a->steps)
			printf("step %d loss %.4f grad norm %.4f\n", i + 1, r.loss, r.optim.grad_norm);
	}
	if (dev_check(d, &e))
		die(&e);
	printf("RESULT train %s store=%s %s batch=%d length=%d%s: %.0f tok/s, %.1f GiB (opened in %.1f s)\n", a->model, a->store, a->full ? "full" : "lora",
	       a->batch, a->length, a->shared < 2 ? "" : a->share ? " prompts shared" : " prompts repeated", tokens / ((double)(clock_ns() - start) / 1e9), (double)d->peak / (1 << 30), opened);
	if (a->times) {
		dev_times_print(d, &text, &e);
		fputs(buf_cstr(&text), stdout);
	}
	printf("parameters after %d steps: hash %016llx\n", a->warm + a->steps, (unsigned long long)slab_hash(tape_params(trainer_tape(t))));
	trainer_free(t);
	adapter_free(x);
	model_free(m);
	dev_close(d);
}

/* --- decoding ------------------------------------------------------------------------------------------ */

static void fill_slots(struct model_session *s, const struct model *m, const struct args *a, float *logits, struct rng *rng)
{
	int group = a->shared > 1 ? a->shared : 1, prompt = a->shared > 1 ? a->context / 2 : a->context - a->steps - a->warm;
	int32_t *tokens = mem_array((size_t)a->context, sizeof *tokens);
	struct err e = ERR_INIT;

	for (int i = 0; i < a->batch; i++) {
		for (int k = 0; k < a->context; k++)
			tokens[k] = (int32_t)rng_below(rng, (uint64_t)model_config(m)->V);
		if (i % group ? model_fork(s, i - i % group, i, &e) : model_prefill(s, i, tokens, prompt, logits, NULL, &e))
			die(&e);
	}
	/* each sample's own tokens, after all of its group have the prompt */
	for (int i = 0; group > 1 && i < a->batch; i++)
		if (model_prefill(s, i, tokens, a->context - prompt - a->steps - a->warm, NULL, NULL, &e))
			die(&e);
	mem_free(tokens);
}

/* Some steps with draws at temperature 1; every row goes on from any token. */
static void burst(struct model_session *s, const struct args *a, int steps)
{
	struct model_draw *d = mem_array((size_t)a->batch, sizeof *d);
	int32_t *tokens = mem_array((size_t)(a->batch * steps), sizeof *tokens);
	float *logprobs = mem_array((size_t)(a->batch * steps), sizeof *logprobs);
	struct err e = ERR_INIT;

	for (int i = 0; i < a->batch; i++)
		d[i] = (struct model_draw){ .slot = i, .token = i + 1, .most = steps, .sample = { .o.temperature = 1, .key = (uint64_t)i } };
	if (model_burst(s, d, a->batch, steps, tokens, logprobs, &e))
		die(&e);
	mem_free(d), mem_free(tokens), mem_free(logprobs);
}

static void run_decode(const struct args *a)
{
	struct err e = ERR_INIT;
	struct dev *d = dev_open(a->device, 0, &e);
	struct model *m = d ? open_model(d, a, &e) : NULL;
	size_t rows = m ? (size_t)model_decode_rows(m, a->batch) : 0;
	int64_t start = 0, spent;
	int i, first = 0;
	struct model_session *s;
	struct buf text = BUF_INIT;
	int32_t *tokens = mem_array(rows, sizeof *tokens);
	int *slots = mem_array(rows, sizeof *slots);
	float *logits;
	struct rng rng;

	if (!m)
		die(&e);
	s = model_session_new(m, NULL, &(struct model_session_opts){ .slots = a->batch, .kv_tokens = (int64_t)a->batch * (a->context + 128),
								     .chunk = 2048, .kv8 = a->kv8 }, &e);
	logits = s ? dev_alloc(d, rows * (size_t)model_config(m)->V * sizeof *logits, &e) : NULL;
	if (!logits)
		die(&e);
	rng_init(&rng, 5, "bench");
	fill_slots(s, m, a, logits, &rng);
	for (i = 0; i < a->batch; i++)
		slots[i] = i, tokens[i] = i + 1;
	/* bursts of steps need not end where the warm ones do */
	for (i = 0; !start || i < first + a->steps; i += a->sample ? model_burst_steps(m) : 1) {
		if (!start && i >= a->warm)
			dev_check(d, NULL), start = clock_ns(), first = i;
		if (a->times && start && i + 1 == first + a->steps && dev_times_start(d, 20000, &e))
			die(&e);
		/* as one who samples on the host: a token of the step comes back before the next */
		if (a->sample)
			burst(s, a, model_burst_steps(m));
		else if (model_decode(s, tokens, slots, a->batch, logits, &e) || dev_get(d, tokens + rows - 1, logits, sizeof *tokens, &e))
			die(&e);
		tokens[rows - 1] = 7;
	}
	spent = clock_ns() - start;
	printf("RESULT decode %s store=%s%s%s batch=%d context=%d shared=%d: %.0f tok/s, %.2f ms a step, %.1f GiB\n", a->model, a->store,
	       a->kv8 ? " kv8" : "", a->sample ? " sampled" : "", a->batch, a->context, a->shared, (double)a->batch * (i - first) / ((double)spent / 1e9), (double)spent / 1e6 / (i - first), (double)d->peak / (1 << 30));
	if (a->times) {
		dev_times_print(d, &text, &e);
		fputs(buf_cstr(&text), stdout);
	}
	dev_free(d, logits, rows * (size_t)model_config(m)->V * sizeof *logits);
	model_session_free(s);
	model_free(m);
	dev_close(d);
}

/* --- agreement -------------------------------------------------------------------------------------------- */

struct side {
	struct dev *d;
	struct model *m;
	struct adapter *a;
	struct tape *t;
	float *logp;
};

static void open_side(struct side *s, const char *device, const struct args *a, int lora, const char *store)
{
	struct args own = *a;
	struct err e = ERR_INIT;

	own.full = !lora;
	own.store = store;
	s->d = dev_open(device, 0, &e);
	s->m = s->d ? open_model(s->d, &own, &e) : NULL;
	s->a = s->m && lora ? new_adapter(s->m, &own, &e) : NULL;
	if (!s->m || !(s->t = tape_new(s->m, s->a, &(struct tape_opts){ .max_tokens = 4096 }, &e)))
		die(&e);
	s->logp = mem_array(4096, sizeof(float));
}

/* B of a new adapter is zero, which hides half of the gradients: random values instead, the same everywhere. */
static void stir(struct side *s)
{
	struct slab *p = tape_params(s->t);

	for (size_t i = 0; s->a && i < p->n; i++) {
		float *w = mem_array(p->v[i].numel, sizeof *w);
		struct rng r;

		rng_init(&r, 9, p->v[i].name);
		for (size_t k = 0; k < p->v[i].numel; k++)
			w[k] = 0.1f * (rng_f32(&r) - 0.5f);
		slab_put(p, (int)i, w);
		mem_free(w);
	}
	tape_updated(s->t);
}

static void close_side(struct side *s)
{
	tape_free(s->t);
	adapter_free(s->a);
	model_free(s->m);
	dev_close(s->d);
	mem_free(s->logp);
}

static double pass(struct side *s, const struct model_batch *b, const float *coef)
{
	struct err e = ERR_INIT;
	double loss = 0;

	stir(s);
	if (tape_forward(s->t, b, coef, s->logp, NULL, &e) || tape_backward(s->t, NULL, &e) || dev_check(s->d, &e))
		die(&e);
	for (int i = 0; i < b->T; i++)
		loss += (double)s->logp[i] * (double)coef[i];
	return loss;
}

/* The worst tensor by norm of the difference, and the lowest cosine. */
static void compare(struct side *x, struct side *y, const char *what)
{
	struct slab *p = tape_grads(x->t), *q = tape_grads(y->t);
	double worst = 0, least = 1, dd = 0, ss = 0;
	const char *where = "";

	for (size_t i = 0; i < p->n; i++) {
		size_t n = p->v[i].numel;
		float *a = mem_array(n, 4), *b = mem_array(n, 4);
		double d = 0, s = 0, t = 0, ab = 0;

		slab_get(p, (int)i, a, NULL);
		slab_get(q, (int)i, b, NULL);
		for (size_t k = 0; k < n; k++) {
			d += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
			s += (double)a[k] * (double)a[k], t += (double)b[k] * (double)b[k], ab += (double)a[k] * (double)b[k];
		}
		dd += d, ss += s;
		if (s > 0 && sqrt(d / s) > worst)
			worst = sqrt(d / s), where = p->v[i].name;
		if (s > 0 && ab / sqrt(s * t) < least)
			least = ab / sqrt(s * t);
		mem_free(a), mem_free(b);
	}
	printf("%-22s gradient: all %.2e, worst tensor %.2e (%s), least cosine %.6f\n", what, sqrt(dd / ss), worst, where, least);
}

static void parity(const struct args *a, int lora, int T)
{
	int32_t *tokens = mem_array((size_t)T, 4), *target = mem_array((size_t)T, 4), start[4] = { 0, T / 3, T / 2 + 5, T };
	float *coef = mem_array((size_t)T, 4);
	struct model_batch b = { .T = T, .tokens = tokens, .target = target, .sequences = 3, .start = start };
	struct side c, g, f;
	double lc, lg, lf, most = 0, mean = 0;
	struct rng r;

	open_side(&c, "cpu", a, lora, "f32");
	open_side(&f, "cpu", a, lora, "fast");
	open_side(&g, "cuda", a, lora, "bf16");
	rng_init(&r, 6, "parity");
	for (int i = 0; i < T; i++) {
		tokens[i] = (int32_t)rng_below(&r, (uint64_t)model_config(c.m)->V);
		target[i] = i % 5 == 4 ? -1 : (int32_t)rng_below(&r, (uint64_t)model_config(c.m)->V);
		coef[i] = -1.0f / (float)T;
	}
	lc = pass(&c, &b, coef), lf = pass(&f, &b, coef), lg = pass(&g, &b, coef);
	for (int i = 0; i < T; i++) {
		mean += fabs((double)c.logp[i] - (double)g.logp[i]) / T;
		most = fmax(most, fabs((double)c.logp[i] - (double)g.logp[i]));
	}
	printf("%s %s T=%d: loss cpu %.6f, cpu fast %.6f, gpu %.6f; logp differs by %.2e (mean), %.2e (most)\n", a->model, lora ? "lora" : "full", T, lc, lf, lg, mean, most);
	compare(&c, &g, "gpu against cpu f32");
	compare(&c, &f, "cpu fast against f32");
	close_side(&c), close_side(&f), close_side(&g);
	mem_free(tokens), mem_free(target), mem_free(coef);
}

int main(int argc, char **argv)
{
	struct args a;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_cuda parity|train|decode MODEL [key=value ...]\n");
		return 2;
	}
	read_args(&a, argc - 2, argv + 2);
	if (!strcmp(argv[1], "parity")) {
		parity(&a, 0, 300);
		parity(&a, 1, 300);
	} else if (!strcmp(argv[1], "train"))
		run_train(&a);
	else
		run_decode(&a);
	return 0;
}
