/* Declarations shared by the files of src/model: the inside of models and adapters, and one layer's
 * forward and backward pass. */
#ifndef MODEL_MODEL_IMPL_H
#define MODEL_MODEL_IMPL_H

#include "base/mem.h"
#include "model/model.h"
#include "ops/ops.h"
#include "tensor/safetensors.h"

/* --- weights ------------------------------------------------------------------------ */

/* The tensors of a layer, from tensor.def. */
enum layer_tensor {
#define TENSOR(id, name, rows, cols, present) LT_##id,
#include "model/tensor.def"
#undef TENSOR
	LAYER_TENSORS
};

enum model_tensor { MT_EMBED, MT_NORM, MT_HEAD, MODEL_TENSORS };

/* The location of a checkpoint tensor: in the parameter slab or in the mapped file. */
struct raw {
	const void *data;          /* NULL: the model has no such tensor */
	enum dtype dt;
	int rows, cols;            /* cols 0: a vector */
	int param;                 /* index in params, or -1 if not trained */
	char name[SLAB_NAME];
};

/* One layer: its checkpoint tensors and their packed form. */
struct layer {
	struct raw raw[LAYER_TENSORS];
	struct weight qkv, o, gu, down;      /* q, k and v stacked; gate and up stacked */
	/* in model.vectors; NULL: the model has none */
	const float *norm1, *norm2, *qn, *kn;
	const float *qkv_bias, *o_bias, *gu_bias, *down_bias;
};

/* Owned, except dev and ops. */
struct model {
	struct dev *dev;
	const struct ops *ops;
	struct model_config c;
	struct model_opts o;
	int fast;                  /* products take bf16 operands */
	struct st_file *file;      /* NULL if all weights are in params */
	struct arena unpacked;     /* bf16 weights of a file in 8 bits */
	struct slab params;        /* empty unless trainable or new */
	struct slab vectors;       /* norms and stacked biases in fp32 */
	struct layer *layer;       /* [L] */
	struct raw raw[MODEL_TENSORS];
	struct weight head;
	const float *norm;
	const void *embed;         /* the embedding table in device memory */
	size_t embed_bytes;        /* nonzero: embed is our copy of the file's table */
};

/* --- adapters ------------------------------------------------------------------------- */

enum { LORA_TARGETS = 7 };

/* The two matrices of an adapted projection. */
struct lora {
	struct weight a, b;        /* [r, in], [out, r]; n == 0: not a target */
	int pa, pb;                /* indices in the slab */
};

struct adapter {
	const struct model *m;
	struct adapter_opts o;
	struct slab params;
	struct lora (*layer)[LORA_TARGETS];  /* [L] */
	char *packed;                        /* memory of all packed matrices */
	size_t packed_bytes;
};

/* The rows that projections read. Projections of one site read the same rows and share a dropout
 * mask. */
enum site { SITE_ATTN, SITE_O, SITE_MLP, SITE_DOWN, SITES };

struct target_info {
	const char *name, *module;
	enum layer_tensor weight;
	enum site site;
};
extern const struct target_info lora_target_info[LORA_TARGETS];
/* Sum of the ranks of the adapters of a site; 0: it has none. */
int lora_site_rank(const struct adapter *a, int l, enum site s);

/* --- one layer ------------------------------------------------------------------------- */

/* Buffers of a layer's pass. Forward writes them; backward reads what forward left. */
struct layer_buf {
	float *x;                  /* [T, C] input */
	float *mid;                /* [T, C] after attention */
	float *rstd1, *rstd2;      /* [T] */
	act *qkv;                  /* [T, (H + 2 HKV) D] after RoPE */
	act *qk_raw;               /* Qwen3: query and key heads before their norm */
	float *qk_rstd;
	act *att;                  /* [T, H D] */
	float *lse;                /* [T, H] log of the softmax's denominator */
	act *gu;                   /* [T, 2F] */
	act *u[SITES];             /* [T, ranks of the site] scaled x A^T */
};

/* One pass of T rows through the layers; all borrowed. */
struct model_pass {
	const struct model *m;
	const struct adapter *a;
	int T;
	const int32_t *pos;        /* [T] position of each row in its sequence */
	const float *cos, *sin;
	/* attention over cached keys and values; NULL: over the pack */
	const struct attention_cached *cached;
	int sequences, longest;
	const int32_t *start, *prefix;
	/* working rows */
	act *xn, *h, *drop;        /* [T, C], [T, F], [T, widest] */
	/* dropout of adapters; p 0: none */
	float dropout;
	uint64_t seed;
	/* gradients; grads NULL: not wanted */
	struct slab *grads;
	float *dx;                 /* [T, C] gradient of the residual rows */
	act *dxa;                  /* dx as activations; dx itself if those are fp32 */
	act *dxn, *dwide, *datt, *du, *dh;   /* [T, C], [T, (H + 2 HKV) D], [T, H D], [T, ranks], [T, F] */
};

/* out[T, C] from b->x. */
void layer_forward(const struct model_pass *p, int l, struct layer_buf *b, float *out);
/* p->dx is the gradient of the output on entry and of the input on return (unchanged if
 * !want_dx). Overwrites b->gu. */
void layer_backward(const struct model_pass *p, int l, struct layer_buf *b, int want_dx);

/* Fills the tables cos and sin [positions, D / 2] on the device. */
int model_put_rope(const struct model *m, float *cos, float *sin, int positions, struct err *e);
/* Reserves scratch of the ops for passes of `rows` rows: over packs with sequences up to
 * `longest`, over cached sequences up to `positions`. */
int model_reserve(const struct model *m, int rows, int longest, int positions, int ranks, struct err *e);
int model_head_rows(const struct model *m);       /* rows of logits computed at a time */

#endif
