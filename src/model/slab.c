/* Slabs: see slab.h. Every entry begins at a multiple of 64 bytes; the padding between entries is
 * zero, so that sums over the whole slab need no list. */
#include "model/slab.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "tensor/safetensors.h"

void slab_init(struct slab *s, struct dev *d, const char *what)
{
	*s = (struct slab){ .dev = d, .what = what };
}

/* Adds an entry at the end. Returns its index, or -1 and *e. */
static int append(struct slab *s, struct slab_item *it, struct err *e)
{
	size_t end;

	if (ck_mul(it->numel, (size_t)dtype_size(it->dt), &it->bytes) || ck_add(s->bytes, it->bytes, &end) ||
	    ck_add(end, 63, &end))
		return err_set(e, ERR_RANGE, "tensor '%s' is too large", it->name);
	it->offset = s->bytes;
	if (vec_push(s, *it))
		return err_nomem(e);
	s->bytes = end & ~(size_t)63;
	return (int)s->n - 1;
}

/* Adding after slab_alloc would move entries: our bug. */
int slab_add(struct slab *s, enum dtype dt, int ndim, const int64_t *shape, struct err *e, const char *fmt, ...)
{
	struct slab_item it = { .dt = dt, .ndim = ndim, .numel = 1 };
	va_list ap;

	if (s->data || ndim > SLAB_DIMS)
		BUG("slab_add to '%s'", s->what);
	va_start(ap, fmt);
	vsnprintf(it.name, sizeof it.name, fmt, ap);
	va_end(ap);
	for (int i = 0; i < ndim; i++) {
		it.shape[i] = shape[i];
		if (shape[i] < 0 || ck_mul(it.numel, (size_t)shape[i], &it.numel))
			return err_set(e, ERR_RANGE, "tensor '%s' is too large", it.name);
	}
	return append(s, &it, e);
}

/* Zeroed; the error names the slab. */
int slab_alloc(struct slab *s, struct err *e)
{
	if (!(s->data = dev_alloc(s->dev, s->bytes, e)))
		return err_wrap(e, "%s", s->what);
	return 0;
}

/* Same names and shapes, so entry i is the same tensor; offsets differ with the dtype. */
int slab_like(struct slab *s, const struct slab *of, enum dtype dt, const char *what, struct err *e)
{
	slab_init(s, of->dev, what);
	for (size_t i = 0; i < of->n; i++) {
		struct slab_item it = of->v[i];

		it.dt = dt;
		if (append(s, &it, e) < 0)
			return -1;
	}
	return slab_alloc(s, e);
}

/* Entries keep their dtypes and offsets, so one copy moves everything. */
int slab_copy(struct slab *to, const struct slab *from, struct dev *host, struct err *e)
{
	if (!to->data) {
		slab_init(to, host, "copy");
		for (size_t i = 0; i < from->n; i++)
			if (append(to, &from->v[i], e) < 0)
				return -1;
		if (slab_alloc(to, e))
			return -1;
	}
	return dev_get(from->dev, to->data, from->data, from->bytes, e);
}

/* The list is freed too; the slab may be filled again. */
void slab_release(struct slab *s)
{
	if (s->data)
		dev_free(s->dev, s->data, s->bytes);
	vec_free(s);
	*s = (struct slab){ .what = s->what };
}

/* Values come through host memory, so that CPU and GPU give the same hash for the same bits. */
uint64_t slab_hash(const struct slab *s)
{
	char *copy = mem_alloc(s->bytes);
	uint64_t h = 0;

	for (size_t i = 0; copy && i < s->n; i++) {
		if (slab_get(s, (int)i, copy, NULL))
			break;
		h = hash_xxh64(s->v[i].name, strlen(s->v[i].name), h);
		h = hash_xxh64(copy, s->v[i].bytes, h);
	}
	mem_free(copy);
	return h;
}

void slab_zero(struct slab *s)
{
	dev_zero(s->dev, s->data, s->bytes);
}

/* On a GPU the copy is queued; `from` may be reused at once. */
void slab_put(struct slab *s, int i, const void *from)
{
	dev_put(s->dev, slab_at(s, i), from, s->v[i].bytes);
}

int slab_get(const struct slab *s, int i, void *to, struct err *e)
{
	return dev_get(s->dev, to, slab_at(s, i), s->v[i].bytes, e);
}

/* --- files ---------------------------------------------------------------------------- */

/* Entries for the safetensors writer, with their prefixed names. */
struct names {
	struct st_entry *entry;
	char (*name)[2 * SLAB_NAME];
};

/* Entry i of the writer is entry i of the slab. */
static int name_entries(struct names *n, const struct slab *s, const char *prefix, struct err *e)
{
	n->entry = mem_array(s->n + 1, sizeof *n->entry);
	n->name = mem_array(s->n + 1, sizeof *n->name);
	if (!n->entry || !n->name)
		return err_nomem(e);
	for (size_t i = 0; i < s->n; i++) {
		const struct slab_item *it = &s->v[i];

		snprintf(n->name[i], sizeof n->name[i], "%s%s", prefix, it->name);
		n->entry[i] = (struct st_entry){ .name = n->name[i], .dt = it->dt, .ndim = it->ndim };
		memcpy(n->entry[i].shape, it->shape, sizeof it->shape);
	}
	return 0;
}

static void names_release(struct names *n)
{
	mem_free(n->entry);
	mem_free(n->name);
}

/* Host memory that any entry of the slab fits into. */
static void *entry_alloc(const struct slab *s, struct err *e)
{
	size_t most = 0;
	void *p;

	for (size_t i = 0; i < s->n; i++)
		most = MAX(most, s->v[i].bytes);
	if (!(p = mem_alloc(most)))
		err_nomem(e);
	return p;
}

/* A save under way: one entry at a time goes through `copy`. */
struct save {
	const struct slab *s;
	void *copy;
};

/* One entry from the device to the file. */
static int fill_entry(void *ctx, size_t index, struct st_writer *w, struct err *e)
{
	const struct save *o = ctx;

	return slab_get(o->s, (int)index, o->copy, e) || st_put(w, o->copy, o->s->v[index].bytes, e) ? -1 : 0;
}

/* Only the largest entry is held in host memory at a time. */
int slab_save(const struct slab *s, const char *path, const char *prefix, struct err *e)
{
	struct names n = { .entry = NULL };
	struct save o = { .s = s, .copy = entry_alloc(s, e) };
	int rc = !o.copy || name_entries(&n, s, prefix, e) ? -1 : 0;

	if (!rc)
		rc = st_write_file(path, &(struct st_write){ .entries = n.entry, .n = s->n,
							     .fill = fill_entry, .ctx = &o }, e);
	names_release(&n);
	mem_free(o.copy);
	return rc;
}

/* Every entry must be in the file with its shape; other tensors of the file are ignored. */
static int load_entries(struct slab *s, const struct st_file *f, const struct names *n, void *copy, struct err *e)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct st_tensor *t = st_need(f, n->entry[i].name, s->v[i].ndim, s->v[i].shape, e);

		if (!t)
			return -1;
		dtype_convert(s->v[i].dt, copy, t->dt, t->data, s->v[i].numel);
		slab_put(s, (int)i, copy);
	}
	return 0;
}

/* st_need reports a missing tensor or a wrong shape by name. */
int slab_load(struct slab *s, const char *path, const char *prefix, struct err *e)
{
	struct names n = { .entry = NULL };
	struct st_file *f = st_open(path, e);
	void *copy = entry_alloc(s, e);
	int rc = -1;

	if (f && copy && !name_entries(&n, s, prefix, e))
		rc = load_entries(s, f, &n, copy, e);
	mem_free(copy);
	names_release(&n);
	st_close(f);
	return rc;
}

/* MiB with one decimal, and a last row with the sum. */
void slab_table(struct buf *out, const struct slab *const *slabs, size_t n)
{
	size_t all = 0;

	for (size_t i = 0; i < n; i++) {
		buf_addf(out, "%-24s %6zu tensors %12.1f MiB\n", slabs[i]->what, slabs[i]->n,
			 (double)slabs[i]->bytes / 1048576);
		all += slabs[i]->bytes;
	}
	buf_addf(out, "%-24s %6s         %12.1f MiB\n", "together", "", (double)all / 1048576);
}
