/* Language models of the Qwen2, Qwen3 and Llama families: weights, adapters, sampling state.
 *
 * `struct model` holds configuration and weights and does not change while others use it;
 * everything mutable is in sessions (sampling) and tapes (training, model/tape.h). Only a
 * trainer changes weights: it writes to model_params or adapter_params and then calls
 * model_updated or adapter_updated, between uses.
 *
 * Exactness: every row (token) is computed by the same operations in the same order whatever
 * rows are beside it and however the work was cut. So a sequence has the same bits alone or
 * in any batch, decoded token by token, prefilled at once, or in a training pack. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "dev/dev.h"
#include "model/config.h"
#include "model/slab.h"
#include "ops/sample.h"

struct model;
struct adapter;
struct model_session;

/* --- weights ------------------------------------------------------------------------ */

/* f32: exact for fp32 files. bf16: two bytes a weight, fp32 arithmetic. fast: the same with
 * the activations rounded to bf16 in products (sums in fp32), twice the speed where the CPU has
 * the instruction and as bf16 elsewhere. int8: one byte, one scale per output channel; the head
 * stays bf16. Norms, biases and the embedding are as in the file. On a GPU every 16 or 32-bit store
 * is bf16; fp8 (e4m3, compute capability 9.0) has faster products, int8 saves memory alone. */
enum model_store {
#define STORE(id, name, dt, fast) STORE_##id,
#include "model/store.def"
#undef STORE
	STORES
};
#define MODEL_STORE_CHOICES "f32|bf16|fast|int8|fp8"
int model_store_parse(struct str name, enum model_store *out, struct err *e);

struct model_opts {
	enum model_store store;    /* of the matrices; STORE_F32 unless told */
	int trainable;             /* fp32 master copies in one slab (full fine-tuning); not with STORE_I8 */
	uint64_t seed;             /* model_new: of the initial weights */
	float init_std;            /* model_new: 0 means 0.02 */
};

/* A Hugging Face folder: config.json and model.safetensors or its sharded form. */
struct model *model_open(struct dev *d, const char *dir, const struct model_opts *o, struct err *e);
/* A new model with random weights. */
struct model *model_new(struct dev *d, const struct model_config *c, const struct model_opts *o, struct err *e);
void model_free(struct model *m);
const struct model_config *model_config(const struct model *m);
struct dev *model_dev(const struct model *m);
void model_updated(struct model *m);          /* after its master weights were written */
/* Writes a folder that transformers loads: config.json and model.safetensors, with `a`
 * (may be NULL) merged into the weights. `dt` is DT_F32 or DT_BF16. */
int model_save(const struct model *m, const struct adapter *a, const char *dir, enum dtype dt, struct err *e);
/* With the values of a copy of the trained parameters (slab_copy). */
int model_save_copy(const struct model *m, const struct slab *params, const char *dir, enum dtype dt, struct err *e);
/* What the weights take: a line per group. */
void model_table(const struct model *m, struct buf *out);

/* --- adapters ------------------------------------------------------------------------ */

/* The projections LoRA can be put on, a bit each: LORA_Q | LORA_V ... */
enum lora_target {
#define TARGET(id, bit, name, module, site) LORA_##id = 1 << bit,
#include "model/target.def"
#undef TARGET
	LORA_ALL = 127
};

struct adapter_opts {
	int r;
	float alpha;               /* the update is (alpha / r) B A x */
	float dropout;             /* on x, in training only */
	unsigned targets;          /* LORA_* bits */
	uint64_t seed;             /* A is uniform as PEFT draws it (kaiming, a = sqrt 5), B is zero */
};

struct adapter *adapter_new(const struct model *m, const struct adapter_opts *o, struct err *e);
/* PEFT's folder: adapter_config.json, adapter_model.safetensors. */
struct adapter *adapter_open(const struct model *m, const char *dir, struct err *e);
int adapter_save(const struct adapter *a, const char *dir, const char *base_model, struct err *e);
/* With the values of a copy of its parameters (slab_copy). */
int adapter_save_copy(const struct adapter *a, const struct slab *params, const char *dir,
		      const char *base_model, struct err *e);
void adapter_free(struct adapter *a);
const struct adapter_opts *adapter_opts(const struct adapter *a);
struct slab *adapter_params(struct adapter *a);
void adapter_updated(struct adapter *a);      /* after adapter_params were written */
/* Parameters of an adapter for such a model. */
int64_t adapter_parameters(const struct model_config *c, const struct adapter_opts *o);
/* "q,k,v,o,gate,up,down", "all" or module names (q_proj) to bits. */
int lora_targets_parse(struct str s, unsigned *bits, struct err *e);

/* --- sampling ------------------------------------------------------------------------ */

/* A session holds `slots` sequences. Keys and values live in blocks of MODEL_KV_BLOCK
 * positions; model_fork shares the full blocks, so N samples of one prompt hold it once. */
enum { MODEL_KV_BLOCK = 64 };

struct model_session_opts {
	int slots;                 /* sequences at a time */
	int64_t kv_tokens;         /* positions over all slots; shared blocks count once */
	int chunk;                 /* rows computed at a time in prefill; 0: 256 on the CPU, 4096 on a GPU */
	int kv8;                   /* a GPU keeps keys and values in 8 bits (e4m3): half the memory of bf16 */
};

struct model_session *model_session_new(const struct model *m, const struct adapter *a,
					const struct model_session_opts *o, struct err *e);
void model_session_free(struct model_session *s);
/* Another adapter (or NULL) from here on; slots filled with the old one should be dropped. */
int model_session_adapter(struct model_session *s, const struct adapter *a, struct err *e);

/* Logits are in the device's memory. Appends `n` tokens to slot `slot` and gives the logits [V]
 * after the last one (NULL: not wanted). `logprobs` (NULL or [n]): log p(tokens[i]) given all
 * before it, [0] is 0 for the first token of the slot. ERR_NOMEM when blocks ran out: the slot is
 * then as before. */
int model_prefill(struct model_session *s, int slot, const int32_t *tokens, int n,
		  float *logits, float *logprobs, struct err *e);
/* The same for `n` different slots at once, which is faster where prompts are short; logits is [n, V]. */
struct model_prompt { int slot; const int32_t *tokens; int n; };
int model_prefill_all(struct model_session *s, const struct model_prompt *p, int n, float *logits, struct err *e);
/* Makes slot `to` (empty) a copy of slot `from`, sharing its blocks. */
int model_fork(struct model_session *s, int from, int to, struct err *e);
/* One more token for each of `n` different slots; logits is [model_decode_rows(n), V], row i for slots[i]. */
int model_decode(struct model_session *s, const int32_t *tokens, const int *slots, int n,
		 float *logits, struct err *e);
int model_decode_rows(const struct model *m, int n);          /* at least n: rows beyond are of no use */

/* A sequence that is drawn from. */
struct model_draw {
	int slot;
	int32_t token;             /* model_burst: the last of the sequence, not in the slot yet */
	int most;                  /* model_burst: tokens that are still wanted, at least 1 */
	int from;                  /* model_draw_from: the row of its logits */
	struct sample_row sample;
	int32_t drawn;             /* tokens that its stream has given */
	const uint32_t *seen;      /* a bit for each token of the text, for the penalty; NULL: there is none */
};
/* One token for each of `n` rows out of `logits`, which are in the device's memory. */
int model_draw_from(struct model_session *s, const float *logits, const struct model_draw *d, int n,
		    int32_t *tokens, float *logprobs, struct err *e);
/* `steps` times without the host: the rows' tokens go into their slots, and the next ones are drawn:
 * tokens[step * n + row]. A row takes at most `most` of the steps into its slot; what is drawn behind is of no use. */
enum { MODEL_BURST = 8 };
int model_burst_steps(const struct model *m);      /* the most: 1 on the CPU */
int model_burst(struct model_session *s, const struct model_draw *d, int n, int steps, int32_t *tokens,
		float *logprobs, struct err *e);
void model_drop(struct model_session *s, int slot);          /* empties the slot */
void model_trim(struct model_session *s, int slot, int length);   /* forgets positions >= length */
int model_length(const struct model_session *s, int slot);
int64_t model_kv_free(const struct model_session *s);        /* positions not in use */

#endif
