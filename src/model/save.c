/* Writes a model as a Hugging Face folder, with an adapter merged into it. Values come from the
 * checkpoint or the master weights, not from the packed form, so nothing is lost that the chosen
 * dtype can hold. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "model/int8_block.h"
#include "model/model_impl.h"

/* One save under way. Buffers are owned. */
struct save {
	const struct model *m;
	const struct slab *params; /* values of trained tensors */
	const struct adapter *a;
	enum dtype dt;
	struct st_entry *entry;
	struct source {
		const struct raw *raw;
		const struct lora *lora;   /* NULL: nothing to merge */
		int scales;                /* the scales of 8-bit blocks, not the weights */
		char name[SLAB_NAME + sizeof INT8_BLOCK_SCALE];
	} *source;
	size_t n;
	float *row;                /* one row in fp32 */
	void *out;                 /* the same row in dt */
	uint16_t *scale;           /* of the row, if dt is DT_I8 */
	char *copy;                /* a trained tensor in host memory */
	float *A, *B;              /* an adapter's matrices in host memory */
};

/* The dtype of a tensor in the file. Vectors of an 8-bit model are bf16. */
static enum dtype stored_as(const struct save *s, const struct raw *r)
{
	return s->dt == DT_I8 && !r->cols ? DT_BF16 : s->dt;
}

/* Adds a tensor to the list, and its scales if it is stored in 8 bits. One that the model does not have is
 * skipped. */
static void add(struct save *s, const struct raw *r, const struct lora *l)
{
	struct source *x;

	if (!r->rows)
		return;
	s->source[s->n] = (struct source){ .raw = r, .lora = l && l->a.n ? l : NULL };
	s->entry[s->n++] = (struct st_entry){ .name = r->name, .dt = stored_as(s, r), .ndim = r->cols ? 2 : 1,
					      .shape = { r->rows, r->cols } };
	if (s->dt != DT_I8 || !r->cols)
		return;
	x = &s->source[s->n];
	*x = s->source[s->n - 1];
	x->scales = 1;
	snprintf(x->name, sizeof x->name, "%s" INT8_BLOCK_SCALE, r->name);
	s->entry[s->n++] = (struct st_entry){ .name = x->name, .dt = DT_BF16, .ndim = 2,
					      .shape = { r->rows, int8_block_scales(r->cols, INT8_BLOCK) } };
}

static const struct lora *lora_of(const struct save *s, int l, int tensor)
{
	for (int t = 0; s->a && t < LORA_TARGETS; t++)
		if ((int)lora_target_info[t].weight == tensor)
			return &s->a->layer[l][t];
	return NULL;
}

/* All tensors in the order of the checkpoint, each with the adapter that is merged into it. */
static void list(struct save *s)
{
	add(s, &s->m->raw[MT_EMBED], NULL);
	for (int l = 0; l < s->m->c.L; l++)
		for (int t = 0; t < LAYER_TENSORS; t++)
			add(s, &s->m->layer[l].raw[t], lora_of(s, l, t));
	add(s, &s->m->raw[MT_NORM], NULL);
	add(s, &s->m->raw[MT_HEAD], NULL);
}

/* row += (alpha / r) B[i, :] A, in fp32. */
static void merge_row(const struct save *s, int i, int cols)
{
	int r = s->a->o.r;
	float scale = s->a->o.alpha / (float)r;

	for (int j = 0; j < r; j++) {
		float b = s->B[(size_t)i * (size_t)r + (size_t)j] * scale;
		const float *a = s->A + (size_t)j * (size_t)cols;

		for (int k = 0; k < cols; k++)
			s->row[k] += b * a[k];
	}
}

/* Copies an entry of a slab to host memory; *to is freed and allocated again. */
static int fetch(float **to, const struct slab *s, int i, struct err *e)
{
	mem_free(*to);
	*to = mem_alloc(s->v[i].bytes);
	return !*to ? err_nomem(e) : slab_get(s, i, *to, e);
}

/* The values of a tensor in host memory: the file's own, or a copy of what is trained. */
static const char *values(struct save *s, const struct source *from, struct err *e)
{
	const struct raw *r = from->raw;

	if (from->lora && (fetch(&s->A, &s->a->params, from->lora->pa, e) || fetch(&s->B, &s->a->params,
			from->lora->pb, e)))
		return NULL;
	if (r->param < 0)
		return r->data;
	mem_free(s->copy);
	if (!(s->copy = mem_alloc(s->params->v[r->param].bytes)))
		err_nomem(e);
	else if (!slab_get(s->params, r->param, s->copy, e))
		return s->copy;
	return NULL;
}

/* Writes s->row in the form of the file. */
static int put_row(struct save *s, const struct source *from, size_t cols, struct st_writer *w, struct err *e)
{
	enum dtype dt = stored_as(s, from->raw);

	if (dt != DT_I8) {
		dtype_convert(dt, s->out, DT_F32, s->row, cols);
		return st_put(w, s->out, cols * (size_t)dtype_size(dt), e);
	}
	if (int8_block_pack(s->row, (int)cols, INT8_BLOCK, s->out, s->scale))
		return err_set(e, ERR_RANGE, "tensor '%s' has a weight that is not finite", from->raw->name);
	if (!from->scales)
		return st_put(w, s->out, cols, e);
	return st_put(w, s->scale, (size_t)int8_block_scales((int)cols, INT8_BLOCK) * sizeof *s->scale, e);
}

/* Writes one tensor row by row, so that only one row is held in fp32. */
static int fill(void *ctx, size_t index, struct st_writer *w, struct err *e)
{
	struct save *s = ctx;
	const struct source *from = &s->source[index];
	const struct raw *r = from->raw;
	size_t rows = r->cols ? (size_t)r->rows : 1, cols = r->cols ? (size_t)r->cols : (size_t)r->rows;
	size_t size = (size_t)dtype_size(r->dt);
	const char *data = values(s, from, e);

	if (!data)
		return -1;
	for (size_t i = 0; i < rows; i++) {
		dtype_convert(DT_F32, s->row, r->dt, data + i * cols * size, cols);
		if (from->lora)
			merge_row(s, (int)i, (int)cols);
		if (put_row(s, from, cols, w, e))
			return -1;
	}
	return 0;
}

static int write_config(const struct save *s, const char *dir, struct err *e)
{
	struct model_config c = s->m->c;
	struct buf path = BUF_INIT, text = BUF_INIT;
	int rc;

	c.block = s->dt == DT_I8 ? INT8_BLOCK : 0;
	model_config_write(&c, s->dt == DT_F32 ? "float32" : "bfloat16", &text);
	rc = buf_check(&text, e) || file_replace(path_join(&path, dir, "config.json"), buf_str(&text), e) ? -1 : 0;
	buf_release(&path);
	buf_release(&text);
	return rc;
}

/* The buffers fit the widest row of any tensor. */
static int write_model(struct save *s, const char *dir, struct err *e)
{
	const struct model_config *c = &s->m->c;
	size_t most = 2 * ((size_t)c->L * LAYER_TENSORS + MODEL_TENSORS), widest = (size_t)MAX(MAX(c->C, 2 * c->F),
			(c->H + 2 * c->HKV) * c->D);
	int rc = -1;

	s->entry = mem_array(most, sizeof *s->entry);
	s->source = mem_array(most, sizeof *s->source);
	s->row = mem_array(widest, sizeof(float));
	s->out = mem_array(widest, sizeof(float));
	s->scale = mem_array(widest, sizeof *s->scale);
	if (!s->entry || !s->source || !s->row || !s->out || !s->scale) {
		err_nomem(e);
		goto out;
	}
	list(s);
	if (!file_mkdirs(dir, e) && !write_config(s, dir, e) &&
	    !st_write_folder(dir, &(struct st_write){ .entries = s->entry, .n = s->n, .fill = fill, .ctx = s }, e))
		rc = 0;
out:
	if (rc)
		err_wrap(e, "saving model '%s'", dir);
	mem_free(s->entry);
	mem_free(s->source);
	mem_free(s->row);
	mem_free(s->out);
	mem_free(s->scale);
	mem_free(s->copy);
	mem_free(s->A);
	mem_free(s->B);
	return rc;
}

int model_save(const struct model *m, const struct adapter *a, const char *dir, enum dtype dt, struct err *e)
{
	return write_model(&(struct save){ .m = m, .params = &m->params, .a = a, .dt = dt }, dir, e);
}

int model_save_copy(const struct model *m, const struct slab *params, const char *dir, enum dtype dt, struct err *e)
{
	return write_model(&(struct save){ .m = m, .params = params, .dt = dt }, dir, e);
}
