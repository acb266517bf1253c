/* Writes safetensors: see safetensors.h.
 *
 * This file owns layout and shards. Invariant: a file appears under its name only when it is
 * complete and synced, and an index only after every shard it names. */
#include "tensor/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/sys.h"

/* The file under way and the tensor that is being written. */
struct st_writer {
	struct file_out out;
	const char *name;    /* of the current tensor */
	size_t left;         /* bytes of it that are still to come */
};

/* Hugging Face's order of dtypes in a file: the widest first, so that data stays aligned. */
static const unsigned char file_rank[DTYPES] = {
	[DT_U64] = 0, [DT_I64] = 1, [DT_F64] = 2, [DT_F32] = 3, [DT_U32] = 4, [DT_I32] = 5, [DT_BF16] = 6,
	[DT_F16] = 7, [DT_U16] = 8, [DT_I16] = 9, [DT_F8E4M3] = 10, [DT_F8E5M2] = 11, [DT_I8] = 12,
	[DT_U8] = 13, [DT_BOOL] = 14,
};

/* An entry in the order of the file. */
struct st_slot {
	const struct st_entry *entry;
	size_t index;          /* position in the caller's list */
	size_t bytes;
	size_t shard;
};

/* By rank of the dtype, then by name. */
static int by_file_order(const void *pa, const void *pb)
{
	const struct st_entry *a = ((const struct st_slot *)pa)->entry, *b = ((const struct st_slot *)pb)->entry;
	int ra = file_rank[a->dt], rb = file_rank[b->dt];

	return ra != rb ? ra - rb : strcmp(a->name, b->name);
}

/* Bytes of a tensor; a wrong rank is our bug, a wrong size an error. */
static int entry_bytes(const struct st_entry *t, size_t *out, struct err *e)
{
	size_t n = (size_t)dtype_size(t->dt);

	if (t->ndim < 0 || t->ndim > TENSOR_DIMS)
		BUG("tensor '%s' with %d dimensions", t->name, t->ndim);
	for (int i = 0; i < t->ndim; i++)
		if (t->shape[i] < 0 || ck_mul(n, (size_t)t->shape[i], &n))
			return err_set(e, ERR_RANGE, "tensor '%s': bad shape", t->name);
	*out = n;
	return 0;
}

/* All entries in file order. Writing a name twice is our bug. */
static struct st_slot *make_slots(const struct st_write *w, struct err *e)
{
	struct st_slot *s = mem_array(w->n ? w->n : 1, sizeof *s);

	if (!s) {
		err_nomem(e);
		return NULL;
	}
	for (size_t i = 0; i < w->n; i++) {
		s[i] = (struct st_slot){ .entry = &w->entries[i], .index = i };
		if (entry_bytes(s[i].entry, &s[i].bytes, e)) {
			mem_free(s);
			return NULL;
		}
	}
	qsort(s, w->n, sizeof *s, by_file_order);
	for (size_t i = 1; i < w->n; i++)
		if (!strcmp(s[i - 1].entry->name, s[i].entry->name))
			BUG("tensor '%s' is to be written twice", s[i].entry->name);
	return s;
}

/* --- one file ------------------------------------------------------------------------ */

/* transformers refuses files without {"format": "pt"}. */
static void add_metadata(struct jw *w, const char *const *kv)
{
	static const char *const standard[] = { "format", "pt", NULL };

	jw_key(w, "__metadata__");
	jw_begin(w, '{');
	for (kv = kv ? kv : standard; *kv; kv += 2) {
		jw_key(w, kv[0]);
		jw_cstr(w, kv[1]);
	}
	jw_end(w, '}');
}

/* One member of the header; `at` is where its data begins. */
static void add_entry(struct jw *w, const struct st_slot *s, size_t at)
{
	const struct st_entry *t = s->entry;

	jw_key(w, t->name);
	jw_begin(w, '{');
	jw_key(w, "dtype");
	jw_cstr(w, dtype_info(t->dt)->safetensors);
	jw_key(w, "shape");
	jw_begin(w, '[');
	for (int i = 0; i < t->ndim; i++)
		jw_int(w, t->shape[i]);
	jw_end(w, ']');
	jw_key(w, "data_offsets");
	jw_begin(w, '[');
	jw_int(w, (int64_t)at);
	jw_int(w, (int64_t)(at + s->bytes));
	jw_end(w, ']');
	jw_end(w, '}');
}

/* Length and JSON, padded with spaces so that the data starts at a multiple of 8. */
static int make_header(struct buf *b, const struct st_slot *s, size_t n, const char *const *metadata,
		       struct err *e)
{
	struct jw w = { .out = b };
	size_t at = 0;
	uint64_t len;

	buf_pad(b, 0, 8);
	jw_begin(&w, '{');
	add_metadata(&w, metadata);
	for (size_t i = 0; i < n; i++) {
		add_entry(&w, &s[i], at);
		at += s[i].bytes;
	}
	jw_end(&w, '}');
	buf_pad(b, ' ', -b->n % 8);
	if (buf_check(b, e))
		return -1;
	len = b->n - 8;
	for (int i = 0; i < 8; i++)
		b->p[i] = (char)(len >> (8 * i));
	return 0;
}

/* Too many bytes, or too few at the end (put_slot), are a bug of the caller's fill function. */
int st_put(struct st_writer *w, const void *p, size_t n, struct err *e)
{
	if (n > w->left)
		BUG("%zu bytes too many for tensor '%s'", n - w->left, w->name);
	w->left -= n;
	return file_out_write(&w->out, p, n, e);
}

/* The data of one tensor: given, or from the caller's fill function, which must give all of it. */
static int put_slot(struct st_writer *w, const struct st_slot *s, const struct st_write *job, struct err *e)
{
	w->name = s->entry->name;
	w->left = s->bytes;
	if (s->entry->data)
		return st_put(w, s->entry->data, s->bytes, e);
	if (!job->fill)
		BUG("tensor '%s' has neither data nor a way to get it", w->name);
	if (job->fill(job->ctx, s->index, w, e))
		return -1;
	if (w->left)
		BUG("%zu bytes too few for tensor '%s'", w->left, w->name);
	return 0;
}

/* Writes header and data to a temporary file and renames it, or removes it on failure. */
static int write_slots(const char *path, const struct st_slot *s, size_t n, const struct st_write *job,
		       struct err *e)
{
	struct st_writer w = { .name = NULL };
	struct buf head = BUF_INIT;
	int rc = -1;

	if (make_header(&head, s, n, job->metadata, e) || file_out_open(&w.out, path, e))
		goto out;
	rc = file_out_write(&w.out, head.p, head.n, e);
	for (size_t i = 0; i < n && !rc; i++)
		rc = put_slot(&w, &s[i], job, e);
	if (rc)
		file_out_abort(&w.out);
	else
		rc = file_out_commit(&w.out, e);
out:
	buf_release(&head);
	return rc;
}

/* One file without a limit of size. */
int st_write_file(const char *path, const struct st_write *w, struct err *e)
{
	struct st_slot *s = make_slots(w, e);
	int rc;

	if (!s)
		return -1;
	rc = write_slots(path, s, w->n, w, e);
	mem_free(s);
	return rc;
}

/* The same header and data as a file, without shards. */
int st_write_bytes(struct buf *out, const struct st_write *w, struct err *e)
{
	struct st_slot *s = make_slots(w, e);
	struct buf head = BUF_INIT;
	int rc;

	if (!s)
		return -1;
	rc = make_header(&head, s, w->n, w->metadata, e);
	buf_add(out, head.p, rc ? 0 : head.n);
	for (size_t i = 0; i < w->n && !rc; i++)
		buf_add(out, s[i].entry->data, s[i].bytes);
	buf_release(&head);
	mem_free(s);
	return rc ? rc : buf_check(out, e);
}

/* --- a folder of shards -------------------------------------------------------------- */

/* Back to the order of the caller. */
static int by_index(const void *a, const void *b)
{
	size_t x = ((const struct st_slot *)a)->index, y = ((const struct st_slot *)b)->index;

	return (x > y) - (x < y);
}

/* By shard, and inside a shard in file order. */
static int by_shard(const void *pa, const void *pb)
{
	const struct st_slot *a = pa, *b = pb;

	return a->shard != b->shard ? (a->shard > b->shard) - (a->shard < b->shard) : by_file_order(pa, pb);
}

/* Cuts in the caller's order, so that the tensors of a layer stay together. Returns the number of
 * shards. A tensor larger than the limit has a shard of its own. */
static size_t cut_shards(struct st_slot *s, size_t n, size_t limit)
{
	size_t shard = 0, held = 0;

	qsort(s, n, sizeof *s, by_index);
	for (size_t i = 0; i < n; i++) {
		if (held && (s[i].bytes > limit || held > limit - s[i].bytes)) {
			shard++;
			held = 0;
		}
		s[i].shard = shard;
		held += s[i].bytes;
	}
	qsort(s, n, sizeof *s, by_shard);
	return shard + 1;
}

/* Names as transformers writes and expects them, counted from 1. */
static void shard_name(char out[64], size_t i, size_t count)
{
	if (count == 1)
		snprintf(out, 64, "model.safetensors");
	else
		snprintf(out, 64, "model-%05zu-of-%05zu.safetensors", i + 1, count);
}

/* model.safetensors.index.json: the total size, and the shard of each tensor. */
static int write_index(const char *path, const struct st_slot *s, size_t n, size_t count, struct err *e)
{
	struct buf b = BUF_INIT;
	struct jw w = { .out = &b, .indent = 2 };
	size_t total = 0;
	char file[64];
	int rc;

	for (size_t i = 0; i < n; i++)
		total += s[i].bytes;
	jw_begin(&w, '{');
	jw_key(&w, "metadata");
	jw_begin(&w, '{');
	jw_key(&w, "total_size");
	jw_int(&w, (int64_t)total);
	jw_end(&w, '}');
	jw_key(&w, "weight_map");
	jw_begin(&w, '{');
	for (size_t i = 0; i < n; i++) {
		shard_name(file, s[i].shard, count);
		jw_key(&w, s[i].entry->name);
		jw_cstr(&w, file);
	}
	jw_end(&w, '}');
	jw_end(&w, '}');
	buf_addc(&b, '\n');
	rc = buf_check(&b, e) ? -1 : file_replace(path, buf_str(&b), e);
	buf_release(&b);
	return rc;
}

/* Writes the shards in order and the index last. A model that fits one file removes the index of
 * an earlier, larger model, since a reader would prefer it. */
int st_write_folder(const char *dir, const struct st_write *w, struct err *e)
{
	struct st_slot *s = make_slots(w, e);
	size_t count, i = 0;
	struct buf path = BUF_INIT;
	int rc = -1;

	if (!s || file_mkdirs(dir, e))
		goto out;
	count = cut_shards(s, w->n, w->shard_bytes ? w->shard_bytes : (size_t)5000 * 1000 * 1000);
	rc = 0;
	for (size_t k = 0; k < count && !rc; k++) {
		size_t first = i;
		char file[64];

		while (i < w->n && s[i].shard == k)
			i++;
		shard_name(file, k, count);
		rc = path_join(&path, dir, file) ? write_slots(path.p, s + first, i - first, w, e) : err_nomem(e);
	}
	if (!rc && !path_join(&path, dir, "model.safetensors.index.json"))
		rc = err_nomem(e);
	else if (!rc && count > 1)
		rc = write_index(path.p, s, w->n, count, e);
	else if (!rc && file_exists(path.p) && sys.unlink(path.p))
		rc = err_errno(e, "cannot remove '%s'", path.p);
out:
	buf_release(&path);
	mem_free(s);
	return rc;
}
