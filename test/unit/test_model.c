/* Models as a whole: goldens of transformers, the same bits alone and in a batch, gradients
 * against differences along a direction, files, refusals. Run from the top of the tree. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/int8_block.h"
#include "model/tape.h"
#include "tensor/safetensors.h"

static struct dev *dev;
static char tmp[64];

static const struct model_config tiny[] = {
	{ .arch = ARCH_QWEN2, .V = 61, .C = 32, .L = 2, .H = 4, .HKV = 2, .D = 8, .F = 48, .max_position = 512, .eps = 1e-6f,
	  .rope_theta = 10000, .rope_factor = 1, .tied = 1, .qkv_bias = 1, .bos = -1, .eos = 3 },
	{ .arch = ARCH_QWEN3, .V = 61, .C = 32, .L = 2, .H = 4, .HKV = 1, .D = 12, .F = 40, .max_position = 512, .eps = 1e-6f,
	  .rope_theta = 10000, .rope_factor = 1, .qk_norm = 1, .bos = -1, .eos = -1 },
	{ .arch = ARCH_LLAMA, .V = 61, .C = 36, .L = 2, .H = 3, .HKV = 3, .D = 12, .F = 50, .max_position = 512, .eps = 1e-5f,
	  .rope_theta = 10000, .rope = ROPE_LINEAR, .rope_factor = 2, .qkv_bias = 1, .o_bias = 1, .mlp_bias = 1, .bos = 1, .eos = 2 },
};

#define OK(x) do { struct err e_ = ERR_INIT, *e = &e_; if (x) fail_msg("%s: %s", #x, e_.text); } while (0)

static struct model *new_model(const struct model_config *c, int trainable, enum model_store store)
{
	struct err e = ERR_INIT;
	struct model *m = model_new(dev, c, &(struct model_opts){ .trainable = trainable, .store = store, .seed = 5, .init_std = 0.3f }, &e);

	if (!m)
		fail_msg("%s", e.text);
	return m;
}

static struct model_session *session(const struct model *m, const struct adapter *a, int slots, int chunk)
{
	struct err e = ERR_INIT;
	struct model_session *s = model_session_new(m, a, &(struct model_session_opts){ .slots = slots, .kv_tokens = slots * 320, .chunk = chunk }, &e);

	if (!s)
		fail_msg("%s", e.text);
	return s;
}

static void tokens_of(int32_t *t, int n, int V, uint64_t seed)
{
	struct rng r;

	rng_init(&r, seed, "tokens");
	for (int i = 0; i < n; i++)
		t[i] = (int32_t)rng_below(&r, (uint64_t)V);
}

static const char *in_tmp(const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", tmp, name);
	return path;
}

/* --- goldens ------------------------------------------------------------------------------- */

static const void *golden(const struct st_file *f, const char *name)
{
	const struct st_tensor *t = st_find(f, name);

	assert_non_null(t);
	return t->data;
}

static double worst(const float *a, const float *b, size_t n)
{
	double w = 0;

	for (size_t i = 0; i < n; i++)
		w = fmax(w, fabs((double)a[i] - (double)b[i]));
	return w;
}

static void golden_decode(const struct model *m, const int32_t *tokens, const int32_t *lengths, const float *want)
{
	struct model_session *s = session(m, NULL, 2, 0);
	int V = model_config(m)->V, at = 0;
	float *logits = mem_array((size_t)V, 4);

	for (int q = 0; q < 2; q++)
		for (int i = 0; i < lengths[q]; i++, at++) {
			OK(model_decode(s, tokens + at, &q, 1, logits, e));
			assert_true(worst(logits, want + at * V, (size_t)V) < 2e-5);
		}
	model_session_free(s);
	mem_free(logits);
}

static void golden_grads(struct model *m, const int32_t *tokens, const int32_t *lengths, double loss, double norm)
{
	int T = lengths[0] + lengths[1];
	int32_t start[3] = { 0, lengths[0], T }, target[128];
	float logp[128], coef[128];
	struct tape *t;
	double sum = 0;

	for (int i = 0; i < T; i++) {
		target[i] = i + 1 < T ? tokens[i + 1] : -1;
		coef[i] = 1;
	}
	target[lengths[0] - 1] = -1;
	OK(!(t = tape_new(m, NULL, &(struct tape_opts){ .max_tokens = 128 }, e)));
	OK(tape_forward(t, &(struct model_batch){ .T = T, .tokens = tokens, .target = target, .sequences = 2, .start = start }, coef, logp, NULL, e));
	OK(tape_backward(t, NULL, e));
	for (int i = 0; i < T; i++)
		sum += (double)logp[i];
	assert_true(fabs(sum - loss) < 1e-5 * fabs(loss));
	assert_true(fabs(tape_grad_norm(t) - norm) < 1e-5 * norm);
	tape_free(t);
}

static void test_goldens(void **state)
{
	static const char *const names[] = { "test/golden/model_qwen2", "test/golden/model_qwen3", "test/golden/model_llama" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		struct st_file *f;
		struct model *m;
		const int32_t *tokens, *lengths;

		OK(!(f = st_open(names[i], e)));
		OK(!(m = model_open(dev, names[i], &(struct model_opts){ .trainable = 1 }, e)));
		tokens = golden(f, "golden.tokens"), lengths = golden(f, "golden.lengths");
		golden_decode(m, tokens, lengths, golden(f, "golden.logits"));
		golden_grads(m, tokens, lengths, (double)*(const float *)golden(f, "golden.loss"), (double)*(const float *)golden(f, "golden.grad_norm"));
		model_free(m);
		st_close(f);
	}
}

/* --- exactness ---------------------------------------------------------------------------------- */

/* One sequence: decoded alone; beside others; prefilled in chunks; forked from a prefix. The
 * logits after its last token have the same bits, in every storage. */
static void same_bits(const struct model *m, const struct adapter *a)
{
	enum { N = 150, OTHERS = 6 };
	int V = model_config(m)->V, slots[OTHERS];
	struct model_session *s = session(m, a, OTHERS, 41);
	float *want = mem_array((size_t)V, 4), *got = mem_array((size_t)V * OTHERS, 4);
	int32_t t[N], many[OTHERS];
	int slot = 0;

	tokens_of(t, N, V, 3);
	for (int i = 0; i < N; i++)
		OK(model_decode(s, t + i, &slot, 1, want, e));
	model_drop(s, 0);
	for (int i = 0; i < OTHERS; i++)
		OK(model_prefill(s, i, t + i, N - 1 - i, NULL, NULL, e));
	model_drop(s, 2);
	OK(model_fork(s, 0, 2, e));
	for (int i = 0; i < OTHERS; i++)
		slots[i] = OTHERS - 1 - i, many[i] = t[N - 1];
	OK(model_decode(s, many, slots, OTHERS, got, e));
	assert_memory_equal(got + (OTHERS - 1) * V, want, (size_t)V * 4);      /* slot 0 */
	assert_memory_equal(got + (OTHERS - 3) * V, want, (size_t)V * 4);      /* slot 2 */
	assert_memory_not_equal(got, want, (size_t)V * 4);
	assert_int_equal(model_length(s, 2), N);
	model_drop(s, 5);
	OK(model_prefill(s, 5, t, N, got, NULL, e));
	assert_memory_equal(got, want, (size_t)V * 4);
	model_trim(s, 5, N - 1);
	slot = 5;
	OK(model_decode(s, t + N - 1, &slot, 1, got, e));
	assert_memory_equal(got, want, (size_t)V * 4);
	model_session_free(s);
	mem_free(want), mem_free(got);
}

/* Samples of one prompt, forked and decoded together, then each alone: the same bits. */
static void test_forks(void **state)
{
	enum { N = 140, SAMPLES = 9, STEPS = 70 };
	struct model *m = new_model(&tiny[1], 0, *(const enum model_store *)*state);
	struct model_session *s = session(m, NULL, SAMPLES + 1, 0);
	float *got = mem_array(SAMPLES * 61, 4), want[61];
	int32_t t[N], next[STEPS][SAMPLES];
	int slots[SAMPLES];

	tokens_of(t, N, 61, 3);
	tokens_of(next[0], STEPS * SAMPLES, 61, 4);
	OK(model_prefill(s, SAMPLES, t, N, NULL, NULL, e));
	for (int i = 0; i < SAMPLES; i++) {
		slots[i] = i;
		OK(model_fork(s, SAMPLES, i, e));
	}
	for (int k = 0; k < STEPS; k++)       /* the last samples stop earlier: lengths differ */
		OK(model_decode(s, next[k], slots, SAMPLES - k / 10, got, e));
	for (int i = 0; i < SAMPLES - (STEPS - 1) / 10; i++) {
		model_drop(s, SAMPLES);
		OK(model_prefill(s, SAMPLES, t, N, NULL, NULL, e));
		for (int k = 0; k < STEPS; k++)
			OK(model_decode(s, &next[k][i], (const int[]){ SAMPLES }, 1, want, e));
		assert_memory_equal(got + i * 61, want, sizeof want);
	}
	model_session_free(s);
	model_free(m);
	mem_free(got);
}

/* Prompts prefilled together, one of them longer than a pass: each as if alone. Where memory does not
 * suffice for all, no slot has changed. */
static void test_prefill_all(void **state)
{
	enum { PROMPTS = 5, CHUNK = 41 };
	static const int length[PROMPTS] = { 17, 20, 90, 1, 40 };
	struct model *m = new_model(&tiny[1], 0, *(const enum model_store *)*state);
	struct model_session *s = session(m, NULL, PROMPTS + 1, CHUNK);
	struct model_prompt p[PROMPTS];
	struct err full = ERR_INIT;
	float got[PROMPTS][61], want[61];
	int32_t t[200];

	tokens_of(t, 200, 61, 5);
	for (int i = 0; i < PROMPTS; i++)
		p[i] = (struct model_prompt){ .slot = PROMPTS - i, .tokens = t + 20 * i, .n = length[i] };
	OK(model_prefill(s, PROMPTS, t, 3, NULL, NULL, e));          /* the first goes on behind three tokens */
	OK(model_prefill_all(s, p, PROMPTS, got[0], e));
	for (int i = 0; i < PROMPTS; i++) {
		if (!i)
			OK(model_prefill(s, 0, t, 3, NULL, NULL, e));
		OK(model_prefill(s, 0, p[i].tokens, p[i].n, want, NULL, e));
		assert_memory_equal(got[i], want, sizeof want);
		assert_int_equal(model_length(s, p[i].slot), model_length(s, 0));
		model_drop(s, 0);
	}
	model_session_free(s);
	OK(!(s = model_session_new(m, NULL, &(struct model_session_opts){ .slots = 3, .kv_tokens = 2 * MODEL_KV_BLOCK }, e)));
	for (int i = 0; i < 3; i++)
		p[i].slot = i;
	assert_int_equal(model_prefill_all(s, p, 3, got[0], &full), -1);
	assert_int_equal(full.code, ERR_NOMEM);
	assert_int_equal(model_kv_free(s), 2 * MODEL_KV_BLOCK);
	OK(model_prefill_all(s, p, 2, got[0], e));
	model_session_free(s);
	model_free(m);
}

static struct adapter *random_adapter(const struct model *m, unsigned targets, float dropout)
{
	struct adapter *a;
	struct slab *p;
	struct rng r;

	OK(!(a = adapter_new(m, &(struct adapter_opts){ .r = 4, .alpha = 8, .dropout = dropout, .targets = targets, .seed = 2 }, e)));
	p = adapter_params(a);
	rng_init(&r, 4, "b");
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->v[i].numel; k++)
			slab_f32(p, (int)i)[k] += 0.1f * (rng_f32(&r) - 0.5f);
	adapter_updated(a);
	return a;
}

static void test_store_names(void **state)
{
	struct str rest = STR(MODEL_STORE_CHOICES);
	enum model_store s;
	int n = 0;

	(void)state;
	for (; rest.n; n++) {
		struct str name = str_cut(&rest, '|');

		OK(model_store_parse(name, &s, e));
		assert_int_equal(s, n);
	}
	assert_int_equal(n, STORES);
}

static void test_same_bits(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(tiny); i++)
		for (int store = 0; store < STORE_F8; store++) {
			struct model *m = new_model(&tiny[i], 0, (enum model_store)store);
			struct adapter *a = random_adapter(m, LORA_ALL, 0);

			same_bits(m, NULL);
			same_bits(m, a);
			adapter_free(a);
			model_free(m);
		}
}

/* --- training ------------------------------------------------------------------------------------- */

enum { PACK = 90 };
static const int32_t starts[] = { 0, 30, 31, PACK };

static struct model_batch pack_of(int32_t *tokens, int32_t *target, float *coef, int V)
{
	tokens_of(tokens, PACK, V, 8);
	for (int i = 0; i < PACK; i++) {
		target[i] = i % 4 == 2 || i == 29 || i == 30 || i == PACK - 1 ? -1 : tokens[i + 1];
		coef[i] = (float)(i % 7) / 7 - 0.3f;
	}
	return (struct model_batch){ .T = PACK, .tokens = tokens, .target = target, .sequences = 3, .start = starts };
}

/* Log-probabilities in a pack against those of sampling. */
static void test_train_against_sampling(void **state)
{
	for (size_t i = 0; i < COUNT_OF(tiny); i++) {
		struct model *m = new_model(&tiny[i], 1, *(const enum model_store *)*state);
		struct model_session *s = session(m, NULL, 1, 16);
		int32_t tokens[PACK], target[PACK];
		float coef[PACK], logp[PACK], pre[PACK], entropy[PACK];
		struct model_batch b = pack_of(tokens, target, coef, m ? tiny[i].V : 0);
		struct tape *t;

		OK(!(t = tape_new(m, NULL, &(struct tape_opts){ .max_tokens = PACK }, e)));
		OK(tape_forward(t, &b, NULL, logp, entropy, e));
		for (int q = 0; q < b.sequences; q++) {
			OK(model_prefill(s, 0, tokens + starts[q], starts[q + 1] - starts[q], NULL, pre + starts[q], e));
			model_drop(s, 0);
		}
		for (int k = 0; k + 1 < PACK; k++)
			assert_true(target[k] < 0 ? logp[k] == 0 : logp[k] == pre[k + 1] && entropy[k] > 0);
		tape_free(t);
		model_session_free(s);
		model_free(m);
	}
}

static double loss_at(struct tape *t, const struct model_batch *b, const float *coef)
{
	float logp[PACK];
	double sum = 0;

	tape_updated(t);
	OK(tape_forward(t, b, NULL, logp, NULL, e));
	for (int i = 0; i < PACK; i++)
		sum += (double)logp[i] * (double)coef[i];
	return sum;
}

/* For each parameter tensor: the loss's change along a random direction in it. */
static void directions(struct tape *t, const struct model_batch *b, const float *coef)
{
	struct slab *p = tape_params(t), *g = tape_grads(t);
	struct rng r;

	rng_init(&r, 6, "direction");
	tape_zero_grads(t);
	OK(tape_forward(t, b, coef, NULL, NULL, e));
	OK(tape_backward(t, NULL, e));
	for (int i = 0; i < (int)p->n; i++) {
		size_t n = p->v[i].numel;
		float *w = slab_f32(p, i), *keep = mem_array(n, 4), *d = mem_array(n, 4), h = 4e-3f;
		double want = 0, size = 0, up, down;

		memcpy(keep, w, n * 4);
		for (size_t k = 0; k < n; k++) {
			d[k] = (float)rng_normal(&r) / sqrtf((float)n);
			want += (double)d[k] * (double)slab_f32(g, i)[k];
			size += (double)slab_f32(g, i)[k] * (double)slab_f32(g, i)[k];
		}
		for (size_t k = 0; k < n; k++)
			w[k] = keep[k] + h * d[k];
		up = loss_at(t, b, coef);
		for (size_t k = 0; k < n; k++)
			w[k] = keep[k] - h * d[k];
		down = loss_at(t, b, coef);
		memcpy(w, keep, n * 4);
		tape_updated(t);
		size = sqrt(size / (double)n);
		if (fabs((up - down) / (2 * (double)h) - want) > 2e-2 * (size + fabs(want)) + 2e-3)
			fail_msg("%s: %g along a direction, gradient says %g", p->v[i].name, (up - down) / (2 * (double)h), want);
		mem_free(keep), mem_free(d);
	}
}

static void test_directions(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(tiny); i++)
		for (int lora = 0; lora < 3; lora++) {
			struct model *m = new_model(&tiny[i], !lora, lora == 2 ? STORE_BF16 : STORE_F32);
			struct adapter *a = lora ? random_adapter(m, lora == 2 ? LORA_Q | LORA_UP | LORA_DOWN : LORA_ALL, lora == 2 ? 0.2f : 0) : NULL;
			int32_t tokens[PACK], target[PACK];
			float coef[PACK];
			struct model_batch b = pack_of(tokens, target, coef, tiny[i].V);
			struct tape *t;

			OK(!(t = tape_new(m, a, &(struct tape_opts){ .max_tokens = PACK + 7, .recompute = lora == 1, .seed = 9 }, e)));
			directions(t, &b, coef);
			tape_free(t);
			adapter_free(a);
			model_free(m);
		}
}

/* --- files --------------------------------------------------------------------------------------------- */

static void last_logits(const struct model *m, const struct adapter *a, float *out)
{
	struct model_session *s = session(m, a, 1, 0);
	int32_t t[20];

	tokens_of(t, 20, model_config(m)->V, 3);
	OK(model_prefill(s, 0, t, 20, out, NULL, e));
	model_session_free(s);
}

static void test_save(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(tiny); i++) {
		struct model *m = new_model(&tiny[i], 0, STORE_F32), *n, *merged;
		struct adapter *a = random_adapter(m, LORA_ALL & ~(unsigned)LORA_K, 0), *b;
		float x[64], y[64];

		OK(model_save(m, NULL, in_tmp("m"), DT_F32, e));
		OK(!(n = model_open(dev, in_tmp("m"), &(struct model_opts){ .store = STORE_F32 }, e)));
		assert_int_equal(memcmp(model_config(m), model_config(n), sizeof tiny[i]), 0);
		last_logits(m, NULL, x), last_logits(n, NULL, y);
		assert_memory_equal(x, y, (size_t)tiny[i].V * 4);
		OK(adapter_save(a, in_tmp("a"), "base", e));
		OK(!(b = adapter_open(n, in_tmp("a"), e)));
		last_logits(m, a, x), last_logits(n, b, y);
		assert_memory_equal(x, y, (size_t)tiny[i].V * 4);
		OK(model_save(n, b, in_tmp("merged"), DT_F32, e));
		OK(!(merged = model_open(dev, in_tmp("merged"), &(struct model_opts){ .store = STORE_F32 }, e)));
		last_logits(merged, NULL, y);
		assert_true(worst(x, y, (size_t)tiny[i].V) < 2e-4);
		adapter_free(b), adapter_free(a);
		model_free(merged), model_free(n), model_free(m);
	}
}

/* --- 8 bits in blocks ------------------------------------------------------------------------ */

/* A value is within half a step of the weight, and the largest of a block is met; blocks at the end are short. */
static void test_int8_block(void **state)
{
	enum { COLS = 150, BLOCK = 64 };
	float w[COLS];
	int8_t q[COLS];
	uint16_t scale[3], back[COLS];
	struct rng r;

	(void)state;
	rng_init(&r, 1, "weights");
	for (int i = 0; i < COLS; i++)
		w[i] = i < BLOCK ? 0.0f : (float)rng_normal(&r) * 0.05f;
	w[100] = -0.7f;
	assert_int_equal(int8_block_scales(COLS, BLOCK), 3);
	assert_int_equal(int8_block_pack(w, COLS, BLOCK, q, scale), 0);
	int8_block_unpack(q, scale, COLS, BLOCK, back);
	for (int i = 0; i < COLS; i++) {
		float step = bf16_to_f32(scale[i / BLOCK]), got = bf16_to_f32(back[i]);

		assert_true(fabsf((float)q[i] * step - w[i]) <= 0.5001f * step);
		assert_true(fabsf(got - (float)q[i] * step) <= fabsf(got) / 256);
		assert_true(i >= BLOCK || got == 0);
	}
	assert_true(q[100] <= -126 && scale[1] > scale[2]);
	w[149] = NAN;
	assert_int_equal(int8_block_pack(w, COLS, BLOCK, q, scale), -1);
}

static struct model *open_in_tmp(const char *name, int trainable, enum model_store store)
{
	struct model *m;

	OK(!(m = model_open(dev, in_tmp(name), &(struct model_opts){ .trainable = trainable, .store = store }, e)));
	return m;
}

/* A folder in 8 bits is the model of its unpacked weights, bit for bit, in every store and when trained. */
static void test_int8_folder(void **state)
{
	enum { N = 20 };
	int32_t tokens[N];
	float got[2][64];
	int64_t size8, size16;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(tiny); i++) {
		struct model *m = new_model(&tiny[i], 0, STORE_F32), *a;

		tokens_of(tokens, N, tiny[i].V, 3);
		OK(model_save(m, NULL, in_tmp("packed"), DT_I8, e));
		a = open_in_tmp("packed", 0, STORE_F32);
		OK(model_save(a, NULL, in_tmp("unpacked"), DT_BF16, e));
		for (int store = 0; store <= STORE_F8; store++) {
			int trainable = store == STORE_F8;       /* fp8 needs a GPU: its turn is training in fp32 */

			for (int k = 0; k < 2; k++) {
				struct model *x = open_in_tmp(k ? "unpacked" : "packed", trainable,
							      trainable ? STORE_F32 : (enum model_store)store);
				struct model_session *s = session(x, NULL, 1, 0);

				OK(model_prefill(s, 0, tokens, N, got[k], NULL, e));
				model_session_free(s);
				model_free(x);
			}
			assert_memory_equal(got[0], got[1], (size_t)tiny[i].V * sizeof(float));
		}
		assert_int_equal(model_config(a)->block, INT8_BLOCK);
		model_free(a);
		model_free(m);
	}
	size8 = file_size(in_tmp("packed/model.safetensors"), NULL);
	size16 = file_size(in_tmp("unpacked/model.safetensors"), NULL);
	assert_true(size8 > 0 && size16 > 0 && size8 < size16);
}

/* A folder in 8 bits whose config.json or scales do not fit is refused by name. */
static void test_int8_refusals(void **state)
{
	static const char *const configs[] = { "\"quant_method\": \"gptq\"", "\"quant_method\": \"int8_block\", \"block\": 0",
					       "\"quant_method\": \"int8_block\", \"block\": 8" };
	static const char *const why[] = { "gptq", "block", "_scale" };
	struct model *m = new_model(&tiny[1], 0, STORE_F32);
	struct buf text = BUF_INIT, now = BUF_INIT;
	ptrdiff_t at;

	(void)state;
	OK(model_save(m, NULL, in_tmp("packed"), DT_I8, e));
	OK(file_read(in_tmp("packed/config.json"), 0, &text, e));
	at = str_find(buf_str(&text), STR("\"quant_method\""));
	assert_true(at > 0);
	for (size_t i = 0; i < COUNT_OF(configs); i++) {
		struct str rest = { .p = text.p + at, .n = text.n - (size_t)at };
		struct err no = ERR_INIT;

		str_cut(&rest, '}');
		buf_clear(&now);
		buf_addf(&now, "%.*s%s}%.*s", (int)at, text.p, configs[i], STR_ARG(rest));
		OK(file_replace(in_tmp("packed/config.json"), buf_str(&now), e));
		assert_null(model_open(dev, in_tmp("packed"), &(struct model_opts){ .store = STORE_F32 }, &no));
		assert_contains(no.text, why[i]);
	}
	buf_release(&text);
	buf_release(&now);
	model_free(m);
}

static void refuse_model(const char *config, const char *why)
{
	struct err why_not = ERR_INIT;

	OK(file_replace(in_tmp("m/config.json"), str_of(config), e));
	assert_null(model_open(dev, in_tmp("m"), &(struct model_opts){ .store = STORE_F32 }, &why_not));
	assert_contains(why_not.text, why);
}

#define SIZES "\"vocab_size\":61,\"hidden_size\":36,\"num_hidden_layers\":2,\"num_attention_heads\":3,\"head_dim\":12,"

static void test_refusals(void **state)
{
	struct err no = ERR_INIT;
	struct model *m = new_model(&tiny[2], 0, STORE_F32);
	struct model_session *s;
	int32_t bad[] = { 3, 61 }, fine[200] = { 0 };
	int slots[] = { 0, 1 };
	float logits[2 * 64];

	(void)state;
	OK(model_save(m, NULL, in_tmp("m"), DT_BF16, e));
	refuse_model("{\"model_type\":\"gpt2\"}", "gpt2");
	refuse_model("{\"model_type\":\"llama\"}", "vocab_size");
	refuse_model("{\"model_type\":\"llama\"," SIZES "\"intermediate_size\":51}", "mlp.gate_proj.weight");
	refuse_model("{\"model_type\":\"llama\"," SIZES "\"intermediate_size\":50,\"num_key_value_heads\":2}", "multiple");
	refuse_model("{\"model_type\":\"llama\"," SIZES "\"intermediate_size\":50,\"hidden_act\":\"gelu\"}", "gelu");
	refuse_model("{\"model_type\":\"qwen2\"," SIZES "\"intermediate_size\":-1}", "intermediate_size");
	refuse_model("{\"model_type\":\"llama\"," SIZES "\"intermediate_size\":50,\"rope_scaling\":{\"type\":\"yarn\"}}", "yarn");
	assert_null(adapter_open(m, in_tmp("nowhere"), &no));
	assert_int_equal(no.code, ERR_NOT_FOUND);
	err_clear(&no);
	OK(!(s = model_session_new(m, NULL, &(struct model_session_opts){ .slots = 2, .kv_tokens = 128 }, e)));
	assert_int_equal(model_decode(s, bad, slots, 2, logits, &no), -1);
	assert_contains(no.text, "61");
	err_clear(&no);
	assert_int_equal(model_prefill(s, 0, fine, 200, NULL, NULL, &no), -1);
	assert_int_equal(model_length(s, 0), 0);
	OK(model_prefill(s, 0, fine, 100, NULL, NULL, e));
	err_clear(&no);
	assert_int_equal(model_prefill(s, 1, fine, 10, NULL, NULL, &no), -1);
	assert_int_equal(no.code, ERR_NOMEM);
	model_drop(s, 0);
	assert_int_equal(model_kv_free(s), 128);
	model_session_free(s);
	model_free(m);
}

static int set_up(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	snprintf(tmp, sizeof tmp, "/tmp/test_model.XXXXXX");
	return mkdtemp(tmp) && (dev = dev_open("cpu", 3, &e)) ? 0 : -1;
}

static int tear_down(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	dev_close(dev);
	return file_remove_tree(tmp, &e);
}

int main(void)
{
	static enum model_store exact = STORE_F32, fast = STORE_FAST;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goldens), cmocka_unit_test(test_store_names), cmocka_unit_test(test_same_bits),
		cmocka_unit_test_prestate(test_forks, &exact), cmocka_unit_test_prestate(test_forks, &fast),
		cmocka_unit_test_prestate(test_prefill_all, &exact), cmocka_unit_test_prestate(test_prefill_all, &fast),
		cmocka_unit_test_prestate(test_train_against_sampling, &exact),
		cmocka_unit_test_prestate(test_train_against_sampling, &fast),
		cmocka_unit_test(test_directions), cmocka_unit_test(test_save), cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_int8_block), cmocka_unit_test(test_int8_folder), cmocka_unit_test(test_int8_refusals),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
