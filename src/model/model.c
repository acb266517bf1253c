/* Models: finds the tensors of a checkpoint and packs them for the device. See model.h.
 *
 * Every tensor has one `struct raw` that says where its values are (mapped file or parameter
 * slab). The packed weights and the fp32 vectors are made from those: once for a frozen model,
 * after every update for one that is trained.
 *
 * A Qwen3 layer has 11 tensors in the checkpoint and 4 packed matrices: q, k and v stacked, o,
 * gate and up stacked, down. */
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/int8_block.h"
#include "model/model_impl.h"

/* Names inside model.layers.N, from tensor.def. */
static const char *const layer_names[LAYER_TENSORS] = {
#define TENSOR(id, name, rows, cols, present) name,
#include "model/tensor.def"
#undef TENSOR
};

/* Shapes and names of all tensors, in the order of the checkpoint. A tensor that the model does
 * not have gets 0 rows. */
static void describe(struct model *m)
{
	const struct model_config *c = &m->c;
	const struct { int rows, cols, present; } of[LAYER_TENSORS] = {
#define TENSOR(id, name, rows, cols, present) { rows, cols, present },
#include "model/tensor.def"
#undef TENSOR
	};

	m->raw[MT_EMBED] = (struct raw){ .rows = c->V, .cols = c->C, .param = -1, .name = "model.embed_tokens.weight" };
	m->raw[MT_NORM] = (struct raw){ .rows = c->C, .param = -1, .name = "model.norm.weight" };
	m->raw[MT_HEAD] = (struct raw){ .rows = c->tied ? 0 : c->V, .cols = c->C, .param = -1,
					.name = "lm_head.weight" };
	for (int l = 0; l < c->L; l++)
		for (int t = 0; t < LAYER_TENSORS; t++) {
			struct raw *r = &m->layer[l].raw[t];

			*r = (struct raw){ .rows = of[t].present ? of[t].rows : 0, .cols = of[t].cols, .param = -1 };
			snprintf(r->name, sizeof r->name, "model.layers.%d.%s", l, layer_names[t]);
		}
}

/* Calls fn on every tensor that the model has: embedding, layers, norm, head. */
static int each_raw(struct model *m, int (*fn)(struct model *, struct raw *, struct err *), struct err *e)
{
	if (fn(m, &m->raw[MT_EMBED], e))
		return -1;
	for (int l = 0; l < m->c.L; l++)
		for (int t = 0; t < LAYER_TENSORS; t++)
			if (m->layer[l].raw[t].rows && fn(m, &m->layer[l].raw[t], e))
				return -1;
	if (fn(m, &m->raw[MT_NORM], e))
		return -1;
	return m->raw[MT_HEAD].rows ? fn(m, &m->raw[MT_HEAD], e) : 0;
}

/* Lists a trained tensor in the parameter slab. */
static int add_param(struct model *m, struct raw *r, struct err *e)
{
	int64_t shape[2] = { r->rows, r->cols };

	r->param = slab_add(&m->params, DT_F32, r->cols ? 2 : 1, shape, e, "%s", r->name);
	return r->param < 0 ? -1 : 0;
}

/* The values are in the parameter slab. */
static int point_param(struct model *m, struct raw *r, struct err *e)
{
	(void)e;
	r->data = slab_at(&m->params, r->param);
	r->dt = DT_F32;
	return 0;
}

/* Unpacks a matrix that the file holds in 8 bits (int8_block.h) to bf16 in memory of the model. */
static int unpack_file(struct model *m, struct raw *r, const struct st_tensor *t, struct err *e)
{
	int scales = int8_block_scales(r->cols, m->c.block);
	int64_t shape[2] = { r->rows, scales };
	char name[SLAB_NAME + sizeof INT8_BLOCK_SCALE];
	const struct st_tensor *scale;
	uint16_t *w;

	snprintf(name, sizeof name, "%s" INT8_BLOCK_SCALE, r->name);
	scale = st_need(m->file, name, 2, shape, e);
	if (!scale)
		return -1;
	if (scale->dt != DT_BF16)
		return err_set(e, ERR_UNSUPPORTED, "tensor '%s' is %s, not bf16", name, dtype_info(scale->dt)->torch);
	w = arena_alloc(&m->unpacked, (size_t)r->rows * (size_t)r->cols * sizeof *w);
	if (!w)
		return err_nomem(e);
	for (int i = 0; i < r->rows; i++)
		int8_block_unpack((const int8_t *)t->data + (size_t)i * (size_t)r->cols,
				  (const uint16_t *)scale->data + (size_t)i * (size_t)scales, r->cols, m->c.block,
				  w + (size_t)i * (size_t)r->cols);
	r->data = w;
	r->dt = DT_BF16;
	return 0;
}

/* The values are in the mapped file. */
static int point_file(struct model *m, struct raw *r, struct err *e)
{
	int64_t shape[2] = { r->rows, r->cols };
	const struct st_tensor *t = st_need(m->file, r->name, r->cols ? 2 : 1, shape, e);

	if (!t)
		return -1;
	if (t->dt == DT_I8 && r->cols && m->c.block)
		return unpack_file(m, r, t, e);
	if (t->dt != DT_F32 && t->dt != DT_BF16 && t->dt != DT_F16)
		return err_set(e, ERR_UNSUPPORTED, "tensor '%s' is %s: only fp32, bf16 and fp16", r->name,
			       dtype_info(t->dt)->torch);
	r->data = t->data;
	r->dt = t->dt;
	return 0;
}

/* Converts the file's values to fp32 master weights. */
static int copy_param(struct model *m, struct raw *r, struct err *e)
{
	size_t n = m->params.v[r->param].numel;
	float *w;

	if (point_file(m, r, e))
		return -1;
	if (!(w = mem_array(n, sizeof *w)))
		return err_nomem(e);
	dtype_convert(DT_F32, w, r->dt, r->data, n);
	slab_put(&m->params, r->param, w);
	mem_free(w);
	return point_param(m, r, e);
}

/* --- packed form ------------------------------------------------------------------------ */

static const struct {
	const char *name;
	enum dtype dt;
	int fast;
} stores[STORES] = {
#define STORE(id, name, dt, fast) { name, dt, fast },
#include "model/store.def"
#undef STORE
};

/* The name of a store as an option gives it. */
int model_store_parse(struct str name, enum model_store *out, struct err *e)
{
	for (int i = 0; i < STORES; i++)
		if (str_is(name, stores[i].name)) {
			*out = (enum model_store)i;
			return 0;
		}
	return err_set(e, ERR_USAGE, "'%.*s' is not one of " MODEL_STORE_CHOICES, STR_ARG(name));
}

/* A checkpoint tensor as a part of a packed matrix. A frozen one is mapped, so that the device
 * may read the file with all threads. */
static struct weight_part part(const struct raw *r)
{
	return (struct weight_part){ .data = r->data, .dt = r->dt, .n = r->rows, .mapped = r->param < 0 };
}

/* Packs every matrix; q, k, v and gate, up are stacked into one each. */
static void pack(struct model *m)
{
	struct weight_part head;

	for (int l = 0; l < m->c.L; l++) {
		struct layer *y = &m->layer[l];
		struct weight_part qkv[3] = { part(&y->raw[LT_Q]), part(&y->raw[LT_K]), part(&y->raw[LT_V]) };
		struct weight_part gu[2] = { part(&y->raw[LT_GATE]), part(&y->raw[LT_UP]) };
		struct weight_part o = part(&y->raw[LT_O]), down = part(&y->raw[LT_DOWN]);

		m->ops->weight_pack(m->dev, &y->qkv, qkv, 3);
		m->ops->weight_pack(m->dev, &y->o, &o, 1);
		m->ops->weight_pack(m->dev, &y->gu, gu, 2);
		m->ops->weight_pack(m->dev, &y->down, &down, 1);
	}
	head = part(&m->raw[m->c.tied ? MT_EMBED : MT_HEAD]);

	m->ops->weight_pack(m->dev, &m->head, &head, 1);
}

/* The head keeps at least 16 bits: its errors go straight into the probabilities. */
static int alloc_packed(struct model *m, struct err *e)
{
	const struct model_config *c = &m->c;
	enum dtype dt = stores[m->o.store].dt;

	for (int l = 0; l < c->L; l++) {
		struct layer *y = &m->layer[l];

		if (weight_init(m->dev, &y->qkv, dt, (c->H + 2 * c->HKV) * c->D, c->C, e) ||
		    weight_init(m->dev, &y->o, dt, c->C, c->H * c->D, e) ||
		    weight_init(m->dev, &y->gu, dt, 2 * c->F, c->C, e) ||
		    weight_init(m->dev, &y->down, dt, c->C, c->F, e))
			return -1;
		y->qkv.fast = y->o.fast = y->gu.fast = y->down.fast = m->fast;
	}
	if (weight_init(m->dev, &m->head, dtype_size(dt) == 1 ? DT_BF16 : dt, c->V, c->C, e))
		return -1;
	m->head.fast = m->fast;
	return 0;
}

/* An fp32 vector made of up to three checkpoint vectors, one behind the other. */
struct stack {
	const float **to;
	const struct raw *from[3];
};

enum { STACKS = 9 };

/* The vectors of layer l, and those of the model with layer 0. Returns how many. */
static int stacks(struct model *m, int l, struct stack s[STACKS])
{
	struct layer *y = &m->layer[l];
	const struct raw *r = y->raw;
	int n = 0;

	s[n++] = (struct stack){ .to = &y->norm1, .from = { &r[LT_NORM1] } };
	s[n++] = (struct stack){ .to = &y->norm2, .from = { &r[LT_NORM2] } };
	s[n++] = (struct stack){ .to = &y->qn, .from = { &r[LT_QN] } };
	s[n++] = (struct stack){ .to = &y->kn, .from = { &r[LT_KN] } };
	s[n++] = (struct stack){ .to = &y->qkv_bias, .from = { &r[LT_QB], &r[LT_KB], &r[LT_VB] } };
	s[n++] = (struct stack){ .to = &y->o_bias, .from = { &r[LT_OB] } };
	s[n++] = (struct stack){ .to = &y->gu_bias, .from = { &r[LT_GATEB], &r[LT_UPB] } };
	s[n++] = (struct stack){ .to = &y->down_bias, .from = { &r[LT_DOWNB] } };
	if (!l)
		s[n++] = (struct stack){ .to = &m->norm, .from = { &m->raw[MT_NORM] } };
	return n;
}

/* Lists the vectors that exist; fill_vectors goes through them in the same order. */
static int add_vectors(struct model *m, struct err *e)
{
	struct stack s[STACKS];

	for (int l = 0; l < m->c.L; l++)
		for (int i = 0, n = stacks(m, l, s); i < n; i++) {
			int64_t rows = 0;

			for (int j = 0; j < 3 && s[i].from[j]; j++)
				rows += s[i].from[j]->rows;
			if (rows && slab_add(&m->vectors, DT_F32, 1, &rows, e, "%s", s[i].from[0]->name) < 0)
				return -1;
		}
	return slab_alloc(&m->vectors, e);
}

/* Copies a vector as fp32 to the device. A trained one is already there. */
static void fill_vector(struct model *m, float *to, const struct raw *r)
{
	size_t n = (size_t)r->rows;
	float *w;

	if (r->param >= 0) {
		dev_copy(m->dev, to, r->data, n * sizeof *to);
		return;
	}
	if (!(w = mem_array(n, sizeof *w)))
		BUG("no memory for a vector of %zu", n);
	dtype_convert(DT_F32, w, r->dt, r->data, n);
	dev_put(m->dev, to, w, n * sizeof *to);
	mem_free(w);
}

/* The same order as add_vectors, so that entry `at` is the vector listed there. */
static void fill_vectors(struct model *m)
{
	struct stack s[STACKS];
	int at = 0;

	for (int l = 0; l < m->c.L; l++)
		for (int i = 0, n = stacks(m, l, s); i < n; i++) {
			float *to;

			if (!s[i].from[0]->rows)
				continue;
			to = slab_f32(&m->vectors, at++);
			*s[i].to = to;
			for (int j = 0; j < 3 && s[i].from[j]; to += s[i].from[j++]->rows)
				fill_vector(m, to, s[i].from[j]);
		}
}

void model_updated(struct model *m)
{
	pack(m);
	fill_vectors(m);
}

/* --- life ---------------------------------------------------------------------------------- */

/* A model without values. */
static struct model *start(struct dev *d, const struct model_config *c, const struct model_opts *o, struct err *e)
{
	struct model *m = mem_zalloc(sizeof *m);

	if (!m || !(m->layer = mem_array((size_t)c->L, sizeof *m->layer))) {
		mem_free(m);
		err_nomem(e);
		return NULL;
	}
	m->dev = d;
	m->ops = ops_of(d);
	m->c = *c;
	m->o = *o;
	m->fast = stores[o->store].fast;
	slab_init(&m->params, d, "parameters");
	slab_init(&m->vectors, d, "norms and biases");
	describe(m);
	return m;
}

/* The table of a frozen model is in its file: the CPU reads it there, a GPU gets a copy. */
static int place_embedding(struct model *m, struct err *e)
{
	const struct raw *r = &m->raw[MT_EMBED];
	void *copy;

	m->embed = r->data;
	if (r->param >= 0 || m->dev->kind == DEV_CPU)
		return 0;
	m->embed_bytes = (size_t)r->rows * (size_t)r->cols * (size_t)dtype_size(r->dt);
	m->embed = copy = dev_alloc(m->dev, m->embed_bytes, e);
	if (!copy)
		return -1;
	dev_put_file(m->dev, copy, r->data, m->embed_bytes);
	return 0;
}

/* Allocates and fills the packed form. dev_check waits for copies and reports what failed. */
static int finish(struct model *m, struct err *e)
{
	if (alloc_packed(m, e) || add_vectors(m, e) || place_embedding(m, e))
		return -1;
	model_updated(m);
	return dev_check(m->dev, e);
}

/* 8-bit stores have no master copies, and fp8 needs Hopper's tensor cores. */
static int check_opts(const struct dev *d, const struct model_opts *o, struct err *e)
{
	enum dtype dt = stores[o->store].dt;

	if (o->trainable && dtype_size(dt) == 1)
		return err_set(e, ERR_USAGE, "a model that is trained whole cannot be stored in %s",
			       stores[o->store].name);
	if (dt == DT_F8E4M3 && (d->kind != DEV_CUDA || d->info.major < 9))
		return err_set(e, ERR_UNSUPPORTED,
			       "fp8 needs a GPU of compute capability 9.0 or later; int8 works everywhere");
	return 0;
}

/* Kernels of the GPU load sixteen bytes at a time. */
static int check_shape(const struct dev *d, const struct model_config *c, struct err *e)
{
	int heads = (c->D == 32 || c->D == 64 || c->D == 128) && c->H / c->HKV <= 8;

	if (d->kind == DEV_CUDA && (c->C % 8 || c->F % 8 || c->V % 8 || c->C > 8192 || !heads))
		return err_set(e, ERR_UNSUPPORTED,
			       "the GPU's kernels take widths that are multiples of 8 (up to 8192), heads "
			       "of 32, 64 or 128 and "
			       "at most 8 of them for a key head");
	return 0;
}

/* A trainable model copies its weights and closes the file; a frozen one keeps it mapped. */
struct model *model_open(struct dev *d, const char *dir, const struct model_opts *o, struct err *e)
{
	struct model_config c;
	struct model *m;

	if (check_opts(d, o, e) || model_config_open(&c, dir, e) || check_shape(d, &c, e) || !(m = start(d, &c, o, e)))
		return NULL;
	if (!(m->file = st_open(dir, e)))
		goto fail;
	if (o->trainable) {
		if (each_raw(m, add_param, e) || slab_alloc(&m->params, e) || each_raw(m, copy_param, e))
			goto fail;
		st_close(m->file);
		m->file = NULL;
		arena_release(&m->unpacked);
	} else if (each_raw(m, point_file, e))
		goto fail;
	if (finish(m, e))
		goto fail;
	return m;
fail:
	err_wrap(e, "model '%s'", dir);
	model_free(m);
	return NULL;
}

/* Matrices are normal with init_std, biases 0, norms 1. Each tensor has a random stream of its
 * own name. */
static int init_param(struct model *m, struct raw *r, struct err *e)
{
	float *w, std = m->o.init_std > 0 ? m->o.init_std : 0.02f;
	size_t n = m->params.v[r->param].numel;
	struct rng rng;

	if (!(w = mem_array(n, sizeof *w)))
		return err_nomem(e);
	rng_init(&rng, m->o.seed, r->name);
	for (size_t i = 0; i < n; i++)
		w[i] = r->cols ? (float)rng_normal(&rng) * std : strstr(r->name, ".bias") ? 0.0f : 1.0f;
	slab_put(&m->params, r->param, w);
	mem_free(w);
	return point_param(m, r, e);
}

/* A new model has all its weights in params, like a trainable one. */
struct model *model_new(struct dev *d, const struct model_config *c, const struct model_opts *o, struct err *e)
{
	struct model *m;

	if (check_opts(d, o, e) || check_shape(d, c, e) || !(m = start(d, c, o, e)))
		return NULL;
	if (each_raw(m, add_param, e) || slab_alloc(&m->params, e) || each_raw(m, init_param, e) || finish(m, e)) {
		model_free(m);
		return NULL;
	}
	return m;
}

/* NULL is allowed; a model that failed half way is released as far as it came. */
void model_free(struct model *m)
{
	if (!m)
		return;
	for (int l = 0; l < m->c.L; l++) {
		weight_release(m->dev, &m->layer[l].qkv);
		weight_release(m->dev, &m->layer[l].o);
		weight_release(m->dev, &m->layer[l].gu);
		weight_release(m->dev, &m->layer[l].down);
	}
	weight_release(m->dev, &m->head);
	if (m->embed_bytes)
		dev_free(m->dev, (void *)(uintptr_t)m->embed, m->embed_bytes);
	slab_release(&m->params);
	slab_release(&m->vectors);
	st_close(m->file);
	arena_release(&m->unpacked);
	mem_free(m->layer);
	mem_free(m);
}

/* Borrowed: they live as long as the model. */
struct dev *model_dev(const struct model *m) { return m->dev; }
const struct model_config *model_config(const struct model *m) { return &m->c; }

void model_table(const struct model *m, struct buf *out)
{
	size_t packed = m->head.bytes;

	for (int l = 0; l < m->c.L; l++)
		packed += m->layer[l].qkv.bytes + m->layer[l].o.bytes + m->layer[l].gu.bytes + m->layer[l].down.bytes;
	buf_addf(out, "%-24s %6d tensors %12.1f MiB\n", "packed weights", 4 * m->c.L + 1, (double)packed / 1048576);
	buf_addf(out, "%-24s %6zu tensors %12.1f MiB\n", m->vectors.what, m->vectors.n,
		 (double)m->vectors.bytes / 1048576);
	if (m->params.n)
		buf_addf(out, "%-24s %6zu tensors %12.1f MiB\n", m->params.what, m->params.n,
			 (double)m->params.bytes / 1048576);
	if (m->file)
		buf_addf(out, "%-24s %6zu tensors %12.1f MiB mapped\n", "checkpoint", st_count(m->file),
			 (double)st_bytes(m->file) / 1048576);
}

/* --- shared pieces --------------------------------------------------------------------------- */

/* The angle is a product of floats, as transformers computes it. */
static void rope_table(const struct model_config *c, float *cos_to, float *sin_to, int positions)
{
	float inv[512];

	model_config_rope(c, inv);
	for (int t = 0; t < positions; t++)
		for (int i = 0; i < c->D / 2; i++) {
			float angle = (float)t * inv[i];

			*cos_to++ = (float)cos((double)angle);
			*sin_to++ = (float)sin((double)angle);
		}
}

/* Computed on the host in double, so that CPU and GPU have the same table. */
int model_put_rope(const struct model *m, float *cos_to, float *sin_to, int positions, struct err *e)
{
	size_t n = (size_t)positions * (size_t)(m->c.D / 2);
	float *w = mem_array(2 * n, sizeof *w);

	if (!w)
		return err_nomem(e);
	rope_table(&m->c, w, w + n, positions);
	dev_put(m->dev, cos_to, w, n * sizeof *w);
	dev_put(m->dev, sin_to, w + n, n * sizeof *w);
	mem_free(w);
	return 0;
}

/* On a GPU a chunk is as large as products want it and memory allows: 1.25 GiB of logits. */
int model_head_rows(const struct model *m)
{
	if (m->dev->kind == DEV_CUDA)
		return MAX(256, (320 << 20) / m->c.V & ~255);
	return MIN(1024, MAX(192, (1 << 20) / m->c.V));
}

/* The widest activation decides: gate and up, qkv, or the model's width. */
int model_reserve(const struct model *m, int rows, int longest, int positions, int ranks, struct err *e)
{
	const struct model_config *c = &m->c;
	int widest = MAX(MAX(2 * c->F, (c->H + 2 * c->HKV) * c->D), c->C);

	return ops_reserve(m->dev, &(struct ops_sizes){ .rows = rows, .widest = widest, .longest = longest,
							.tokens = rows,
							.positions = positions, .ranks = ranks,
							.H = c->H, .HKV = c->HKV, .D = c->D, .V = c->V }, e);
}
