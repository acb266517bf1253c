/* Language models of the Qwen2, Qwen3 and Llama families: weights, adapters, sampling state.
 *
 * `struct model` holds configuration and weights and does not change while others use it.
 * Everything mutable is in sessions (sampling) and tapes (training, model/tape.h). Only a trainer
 * changes weights: it writes to model_params or adapter_params and then calls model_updated or
 * adapter_updated, between uses.
 *
 * Exactness: every row (token) is computed by the same operations in the same order. Other rows of
 * the batch and the split of the work do not matter. So a sequence has the same bits as a single
 * sequence, in any batch, decoded token by token, prefilled at once, or in a training pack. */
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

/* How weights are stored. f32: exact for fp32 files. bf16: two bytes per weight, fp32 arithmetic.
 * fast: as bf16, with activations rounded to bf16 in products (sums in fp32); twice the speed if
 * the CPU has the instruction, else as bf16. int8: one byte, one scale per output channel; the
 * head stays bf16. Norms, biases and the embedding are as in the file. On a GPU every 16- or
 * 32-bit store is bf16; fp8 (e4m3, compute capability 9.0) has faster products, int8 only saves
 * memory. */
enum model_store {
#define STORE(id, name, dt, fast) STORE_##id,
#include "model/store.def"
#undef STORE
	STORES
};
#define MODEL_STORE_CHOICES "f32|bf16|fast|int8|fp8"
int model_store_parse(struct str name, enum model_store *out, struct err *e);

struct model_opts {
	enum model_store store;    /* of the matrices; STORE_F32 unless set */
	/* keep fp32 master copies in one slab (full fine-tuning); not with int8 or fp8 */
	int trainable;
	uint64_t seed;             /* model_new: seed of the initial weights */
	float init_std;            /* model_new: standard deviation of the initial weights, 0 means 0.02 */
};

/* A Hugging Face folder: config.json and model.safetensors or its sharded form. A folder in 8 bits
 * (int8_block.h) gives the model of its unpacked bf16 weights. */
struct model *model_open(struct dev *d, const char *dir, const struct model_opts *o, struct err *e);
/* A new model with random weights. */
struct model *model_new(struct dev *d, const struct model_config *c, const struct model_opts *o, struct err *e);
void model_free(struct model *m);
const struct model_config *model_config(const struct model *m);
struct dev *model_dev(const struct model *m);
void model_updated(struct model *m);          /* call after writing the master weights */
/* Writes a folder that transformers loads: config.json and model.safetensors, with `a` (may be
 * NULL) merged into the weights. `dt` is DT_F32, DT_BF16, or DT_I8 for 8 bits in blocks (int8_block.h), which
 * only this program reads. */
int model_save(const struct model *m, const struct adapter *a, const char *dir, enum dtype dt, struct err *e);
/* The same with the values of a copy of the trained parameters (slab_copy). */
int model_save_copy(const struct model *m, const struct slab *params, const char *dir, enum dtype dt, struct err *e);
/* Appends a line per group of weights with its memory. */
void model_table(const struct model *m, struct buf *out);

/* --- adapters ------------------------------------------------------------------------ */

/* The projections that LoRA can adapt, one bit each: LORA_Q | LORA_V ... */
enum lora_target {
#define TARGET(id, bit, name, module, site) LORA_##id = 1 << bit,
#include "model/target.def"
#undef TARGET
	LORA_ALL = 127
};

struct adapter_opts {
	int r;                     /* rank */
	float alpha;               /* the update is (alpha / r) B A x */
	float dropout;             /* on x, in training only */
	unsigned targets;          /* LORA_* bits */
	/* of the initial values: A uniform as in PEFT (kaiming, a = sqrt 5), B zero */
	uint64_t seed;
};

struct adapter *adapter_new(const struct model *m, const struct adapter_opts *o, struct err *e);
/* PEFT's folder: adapter_config.json, adapter_model.safetensors. */
struct adapter *adapter_open(const struct model *m, const char *dir, struct err *e);
/* Reads only the options from the folder: rank, alpha, dropout, targets. */
int adapter_read_opts(struct adapter_opts *o, const char *dir, struct err *e);
/* If *model is the folder of an adapter and *adapter is NULL, *adapter becomes that folder and *model the base
 * model that the adapter names; `base` keeps its path. A base model that is not here is an error. */
int adapter_split(const char **model, const char **adapter, struct buf *base, struct err *e);
void adapter_set_dropout(struct adapter *a, float p);      /* in [0, 1); before a tape is made for it */
int adapter_save(const struct adapter *a, const char *dir, const char *base_model, struct err *e);
/* The same with the values of a copy of its parameters (slab_copy). */
int adapter_save_copy(const struct adapter *a, const struct slab *params, const char *dir,
		      const char *base_model, struct err *e);
void adapter_free(struct adapter *a);
const struct adapter_opts *adapter_opts(const struct adapter *a);
struct slab *adapter_params(struct adapter *a);
void adapter_updated(struct adapter *a);      /* call after writing adapter_params */
/* Number of parameters of an adapter with options `o` for a model with configuration `c`. */
int64_t adapter_parameters(const struct model_config *c, const struct adapter_opts *o);
/* Parses "q,k,v,o,gate,up,down", "all" or module names (q_proj) into bits. */
int lora_targets_parse(struct str s, unsigned *bits, struct err *e);

/* --- sampling ------------------------------------------------------------------------ */

/* A session holds `slots` sequences. Keys and values live in blocks of MODEL_KV_BLOCK positions.
 * model_fork shares the full blocks, so N samples of one prompt hold it once. */
enum { MODEL_KV_BLOCK = 64 };

struct model_session_opts {
	int slots;                 /* sequences at a time */
	int64_t kv_tokens;         /* positions over all slots; a shared block counts once */
	int chunk;                 /* rows per pass in prefill; 0: 256 on the CPU, 4096 on a GPU */
	int kv8;                   /* GPU only: keys and values in 8 bits (e4m3), half the memory of bf16 */
};

struct model_session *model_session_new(const struct model *m, const struct adapter *a,
					const struct model_session_opts *o, struct err *e);
void model_session_free(struct model_session *s);
/* Uses another adapter (or NULL) from now on. Slots filled with the old one should be dropped. */
int model_session_adapter(struct model_session *s, const struct adapter *a, struct err *e);

/* Appends `n` tokens to slot `slot` and gives the logits [V] after the last one, in device memory
 * (NULL: not wanted). `logprobs` (NULL or [n]) gets log p(tokens[i]) given all before it; [0] is
 * 0 for the first token of the slot. Returns ERR_NOMEM if blocks ran out; the slot is then as
 * before. */
int model_prefill(struct model_session *s, int slot, const int32_t *tokens, int n,
		  float *logits, float *logprobs, struct err *e);
/* The same for `n` different slots at once, which is faster if prompts are short. logits is [n,
 * V]. */
struct model_prompt { int slot; const int32_t *tokens; int n; };
int model_prefill_all(struct model_session *s, const struct model_prompt *p, int n, float *logits, struct err *e);
/* Makes the empty slot `to` a copy of slot `from` that shares its blocks. */
int model_fork(struct model_session *s, int from, int to, struct err *e);
/* Appends one token to each of `n` different slots. logits is [model_decode_rows(n), V], row i
 * for slots[i]. */
int model_decode(struct model_session *s, const int32_t *tokens, const int *slots, int n,
		 float *logits, struct err *e);
int model_decode_rows(const struct model *m, int n);          /* at least n; rows beyond n are padding */

/* A sequence that a token is drawn for. */
struct model_draw {
	int slot;
	int32_t token;             /* model_burst: last token of the sequence, not in the slot yet */
	int most;                  /* model_burst: tokens that are still wanted, at least 1 */
	int from;                  /* model_draw_from: row of its logits */
	struct sample_row sample;
	int32_t drawn;             /* tokens that its random stream has given */
	/* a bit for each token of the text, for the repetition penalty; NULL: no penalty */
	const uint32_t *seen;
};
/* Draws one token for each of `n` rows from `logits` in device memory. */
int model_draw_from(struct model_session *s, const float *logits, const struct model_draw *d, int n,
		    int32_t *tokens, float *logprobs, struct err *e);
/* Repeats `steps` times without the host: appends the token of each row to its slot and draws the next
 * one into tokens[step * n + row]. A row takes at most `most` tokens into its slot; tokens drawn after
 * that are to be ignored. */
enum { MODEL_BURST = 8 };
int model_burst_steps(const struct model *m);      /* most steps of a burst: 1 on the CPU */
int model_burst(struct model_session *s, const struct model_draw *d, int n, int steps, int32_t *tokens,
		float *logprobs, struct err *e);
void model_drop(struct model_session *s, int slot);          /* empties the slot */
void model_trim(struct model_session *s, int slot, int length);   /* forgets positions from `length` on */
int model_length(const struct model_session *s, int slot);
int64_t model_kv_free(const struct model_session *s);        /* positions not in use */

#endif
