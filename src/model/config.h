/* The description of a model from its config.json: sizes, RoPE, biases, norms.
 *
 * The three families differ only in flags, so nothing above this file asks for the family. */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

enum model_arch {
#define ARCH(id, type, class, qkv_bias, qk_norm) ARCH_##id,
#include "model/arch.def"
#undef ARCH
	ARCHES
};

/* How RoPE frequencies are scaled for long contexts. */
enum rope_kind { ROPE_DEFAULT, ROPE_LINEAR, ROPE_LLAMA3 };

/* Sizes and flags of a model; plain data. */
struct model_config {
	enum model_arch arch;
	/* vocabulary, width, layers, heads, key heads, head width, feed-forward */
	int V, C, L, H, HKV, D, F;
	int max_position;                 /* positions the model was made for */
	float eps;                        /* epsilon of RMSNorm */
	double rope_theta;
	enum rope_kind rope;
	double rope_factor;               /* linear and llama3 */
	double rope_low, rope_high;       /* llama3: low_freq_factor, high_freq_factor */
	int rope_original;                /* llama3: original_max_position_embeddings */
	int tied;                         /* the output projection is the embedding */
	int qkv_bias, o_bias, mlp_bias, qk_norm; /* existing biases; norms of query and key heads */
	int bos, eos;                     /* token ids or -1 */
	int block;                        /* columns that share a scale in 8-bit files (int8_block.h); 0: others */
};

/* Reads a parsed config.json. Sizes are checked: every count is positive, H is a multiple of HKV,
 * D is even. */
int model_config_parse(struct model_config *c, const struct json *j, struct err *e);
int model_config_open(struct model_config *c, const char *dir, struct err *e);
/* Writes config.json as transformers reads it; `dtype` is "float32" or "bfloat16". */
void model_config_write(const struct model_config *c, const char *dtype, struct buf *out);
int64_t model_config_parameters(const struct model_config *c);
/* D/2 inverse frequencies with the scaling applied. */
void model_config_rope(const struct model_config *c, float *inv_freq);

#endif
