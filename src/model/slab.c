/* Slabs: see slab.h. */
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

int slab_alloc(struct slab *s, struct err *e)
{
	if (!(s->data = dev_alloc(s->dev, s->bytes, e)))
		return err_wrap(e, "%s", s->what);
	return 0;
}

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

void slab_release(struct slab *s)
{
	if (s->data)
		dev_free(s->dev, s->data, s->bytes);
	vec_free(s);
	*s = (struct slab){ .what = s->what };
}

uint64_t slab_hash(const struct slab *s)
{
	uint64_t h = 0;

	for (size_t i = 0; i < s->n; i++) {
		h = hash_xxh64(s->v[i].name, strlen(s->v[i].name), h);
		h = hash_xxh64(s->data + s->v[i].offset, s->v[i].bytes, h);
	}
	return h;
}

void slab_zero(struct slab *s)
{
	memset(s->data, 0, s->bytes);
}

/* --- files ---------------------------------------------------------------------------- */

struct names {
	struct st_entry *entry;
	char (*name)[2 * SLAB_NAME];
};

static int name_entries(struct names *n, const struct slab *s, const char *prefix, struct err *e)
{
	n->entry = mem_array(s->n + 1, sizeof *n->entry);
	n->name = mem_array(s->n + 1, sizeof *n->name);
	if (!n->entry || !n->name)
		return err_nomem(e);
	for (size_t i = 0; i < s->n; i++) {
		const struct slab_item *it = &s->v[i];

		snprintf(n->name[i], sizeof n->name[i], "%s%s", prefix, it->name);
		n->entry[i] = (struct st_entry){ .name = n->name[i], .dt = it->dt, .ndim = it->ndim,
						 .data = slab_at(s, (int)i) };
		memcpy(n->entry[i].shape, it->shape, sizeof it->shape);
	}
	return 0;
}

static void names_release(struct names *n)
{
	mem_free(n->entry);
	mem_free(n->name);
}

int slab_save(const struct slab *s, const char *path, const char *prefix, struct err *e)
{
	struct names n = { .entry = NULL };
	int rc = name_entries(&n, s, prefix, e);

	if (!rc)
		rc = st_write_file(path, &(struct st_write){ .entries = n.entry, .n = s->n }, e);
	names_release(&n);
	return rc;
}

static int load_entries(struct slab *s, const struct st_file *f, const struct names *n, struct err *e)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct st_tensor *t = st_need(f, n->entry[i].name, s->v[i].ndim, s->v[i].shape, e);

		if (!t)
			return -1;
		dtype_convert(s->v[i].dt, slab_at(s, (int)i), t->dt, t->data, s->v[i].numel);
	}
	return 0;
}

int slab_load(struct slab *s, const char *path, const char *prefix, struct err *e)
{
	struct names n = { .entry = NULL };
	struct st_file *f = st_open(path, e);
	int rc = -1;

	if (f && !name_entries(&n, s, prefix, e))
		rc = load_entries(s, f, &n, e);
	names_release(&n);
	st_close(f);
	return rc;
}

void slab_table(struct buf *out, const struct slab *const *slabs, size_t n)
{
	size_t all = 0;

	for (size_t i = 0; i < n; i++) {
		buf_addf(out, "%-24s %6zu tensors %12.1f MiB\n", slabs[i]->what, slabs[i]->n, (double)slabs[i]->bytes / 1048576);
		all += slabs[i]->bytes;
	}
	buf_addf(out, "%-24s %6s         %12.1f MiB\n", "together", "", (double)all / 1048576);
}
