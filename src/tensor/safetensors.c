/* Reads safetensors: see safetensors.h.
 *
 * This file owns the checks on a header. Invariant: a `struct st_tensor` is handed out only after
 * its offsets were proved to lie inside the data and to fit dtype and shape exactly, and after
 * the tensors of a file were proved to tile its data without hole or overlap. */
#include "tensor/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"

/* The limit of Hugging Face's reader. */
enum { ST_HEADER_MAX = 100 * 1000 * 1000 };

/* One string of "__metadata__"; in the arena. */
struct st_meta {
	const char *key, *value;
};

/* An open file, or all shards of a folder. Owns everything. */
struct st_file {
	struct arena arena;                     /* names, metadata */
	struct { struct st_tensor *v; size_t n, cap; } tensors;
	struct { struct st_meta *v; size_t n, cap; } meta;
	struct { struct file_map *v; size_t n, cap; } maps;
	struct { void **v; size_t n, cap; } copies;   /* data of misaligned tensors */
	size_t bytes;                           /* of all tensors */
};

/* Little-endian, at any alignment. */
static uint64_t read_u64(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;
	uint64_t x = 0;

	for (int i = 7; i >= 0; i--)
		x = x << 8 | u[i];
	return x;
}

/* --- one entry ----------------------------------------------------------------------- */

/* Dimensions are whole numbers whose product fits 64 bits. */
static int parse_shape(const struct json *j, struct st_tensor *t, struct err *e)
{
	size_t n = json_count(j);

	if (!j || json_kind(j) != JSON_ARRAY)
		return err_set(e, ERR_FORMAT, "tensor '%s': \"shape\" is not a list", t->name);
	if (n > TENSOR_DIMS)
		return err_set(e, ERR_UNSUPPORTED, "tensor '%s': %zu dimensions, at most %d are supported",
			       t->name, n, TENSOR_DIMS);
	t->ndim = (int)n;
	t->numel = 1;
	for (size_t i = 0; i < n; i++) {
		const struct json *d = json_at(j, i);

		t->shape[i] = json_kind(d) == JSON_INT ? json_int(d, -1) : -1;
		if (t->shape[i] < 0)
			return err_set(e, ERR_FORMAT, "tensor '%s': dimension %zu is not a whole number", t->name, i);
		if (ck_mul64(t->numel, t->shape[i], &t->numel))
			return err_set(e, ERR_RANGE, "tensor '%s': the shape overflows", t->name);
	}
	return 0;
}

/* Reads one tensor of the header. span gets its data_offsets, which must match dtype and shape. */
static int parse_entry(const struct json *j, struct st_tensor *t, int64_t span[2], struct err *e)
{
	const struct json *offsets = json_get(j, "data_offsets");
	struct str dt;
	int64_t want;
	int known;

	if (json_kind(j) != JSON_OBJECT)
		return err_set(e, ERR_FORMAT, "tensor '%s': not an object", t->name);
	if (json_need_str(j, "dtype", &dt, e))
		return err_wrap(e, "tensor '%s'", t->name);
	known = dtype_by_safetensors(dt);
	if (known < 0)
		return err_set(e, ERR_UNSUPPORTED, "tensor '%s': dtype '%.*s' is not supported", t->name, STR_ARG(dt));
	t->dt = (enum dtype)known;
	if (parse_shape(json_get(j, "shape"), t, e))
		return -1;
	if (!offsets || json_kind(offsets) != JSON_ARRAY || json_count(offsets) != 2)
		return err_set(e, ERR_FORMAT, "tensor '%s': \"data_offsets\" is not a pair", t->name);
	for (size_t i = 0; i < 2; i++) {
		const struct json *o = json_at(offsets, i);

		span[i] = json_kind(o) == JSON_INT ? json_int(o, -1) : -1;
	}
	if (span[0] < 0 || span[1] < span[0])
		return err_set(e, ERR_FORMAT, "tensor '%s': bad data_offsets", t->name);
	if (ck_mul64(t->numel, dtype_size(t->dt), &want))
		return err_set(e, ERR_RANGE, "tensor '%s': the size overflows", t->name);
	/* The offsets must hold exactly the elements: no padding inside a tensor. */
	if (want != span[1] - span[0])
		return err_set(e, ERR_FORMAT, "tensor '%s': %lld bytes in the file, its dtype and shape need %lld",
			       t->name, (long long)(span[1] - span[0]), (long long)want);
	t->bytes = (size_t)want;
	return 0;
}

/* "__metadata__" maps strings to strings. */
static int parse_metadata(struct st_file *f, const struct json *j, struct err *e)
{
	if (json_kind(j) != JSON_OBJECT)
		return err_set(e, ERR_FORMAT, "\"__metadata__\" is not an object");
	for (size_t i = 0; i < json_count(j); i++) {
		const char *key;
		const struct json *v = json_member(j, i, &key);
		struct str s = json_str(v, "");
		struct st_meta m = { .key = arena_strdup(&f->arena, key), .value = arena_strndup(&f->arena, s.p, s.n) };

		if (json_kind(v) != JSON_STRING)
			return err_set(e, ERR_FORMAT, "metadata '%s' is not a string", key);
		if (!m.key || !m.value || vec_push(&f->meta, m))
			return err_nomem(e);
	}
	return 0;
}

/* --- one file ------------------------------------------------------------------------ */

/* The bytes [begin, end) of a tensor in the data. */
struct st_span {
	int64_t begin, end;
	size_t tensor;
};

/* Empty tensors share their offset with the next one and come first. */
static int by_begin(const void *pa, const void *pb)
{
	const struct st_span *a = pa, *b = pb;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

/* The tensors, in order of offset, must follow one another from 0 to the end of the data. */
static int check_tiling(const struct st_file *f, struct st_span *s, size_t n, size_t data, struct err *e)
{
	int64_t at = 0;

	if (n)
		qsort(s, n, sizeof *s, by_begin);
	for (size_t i = 0; i < n; i++) {
		const char *name = f->tensors.v[s[i].tensor].name;

		if (s[i].begin < at)
			return err_set(e, ERR_FORMAT, "tensor '%s' overlaps another one", name);
		if (s[i].begin > at)
			return err_set(e, ERR_FORMAT, "a hole of %lld bytes before tensor '%s'",
				       (long long)(s[i].begin - at), name);
		at = s[i].end;
	}
	if ((uint64_t)at != data)
		return err_set(e, ERR_FORMAT, "the header describes %lld bytes of data, the file has %zu",
			       (long long)at, data);
	return 0;
}

/* Points the tensors at their data and copies those that are not aligned for their dtype. */
static int point_at_data(struct st_file *f, const struct st_span *s, size_t n, const char *data, struct err *e)
{
	size_t copied = 0;

	for (size_t i = 0; i < n; i++) {
		struct st_tensor *t = &f->tensors.v[s[i].tensor];

		t->data = data + s[i].begin;
		if ((uintptr_t)t->data % (size_t)dtype_size(t->dt) && t->bytes) {
			void *p = mem_alloc(t->bytes);

			if (!p || vec_push(&f->copies, p)) {
				mem_free(p);
				return err_nomem(e);
			}
			memcpy(p, t->data, t->bytes);
			t->data = p;
			copied += t->bytes;
		}
		f->bytes += t->bytes;
	}
	if (copied)
		log_warn("safetensors: %zu bytes of misaligned tensors were copied", copied);
	return 0;
}

/* All entries are read before any data pointer is set. */
static int parse_tensors(struct st_file *f, const struct json *head, struct str data, struct err *e)
{
	struct { struct st_span *v; size_t n, cap; } spans = { .v = NULL };
	int rc = 0;

	for (size_t i = 0; i < json_count(head) && !rc; i++) {
		const char *key;
		const struct json *j = json_member(head, i, &key);
		struct st_tensor t = { .name = arena_strdup(&f->arena, key) };
		struct st_span s = { .tensor = f->tensors.n };
		int64_t at[2];

		if (!strcmp(key, "__metadata__")) {
			rc = parse_metadata(f, j, e);
		} else if (!t.name) {
			rc = err_nomem(e);
		} else if (!(rc = parse_entry(j, &t, at, e))) {
			s.begin = at[0];
			s.end = at[1];
			if (vec_push(&f->tensors, t) || vec_push(&spans, s))
				rc = err_nomem(e);
		}
	}
	if (!rc)
		rc = check_tiling(f, spans.v, spans.n, data.n, e);
	if (!rc)
		rc = point_at_data(f, spans.v, spans.n, data.p, e);
	vec_free(&spans);
	return rc;
}

/* Adds the tensors of one file image: header length, header, data. */
static int add_image(struct st_file *f, struct str bytes, struct err *e)
{
	struct json *head;
	struct str data;
	uint64_t n;
	int rc;

	if (bytes.n < 8)
		return err_set(e, ERR_FORMAT, "%zu bytes are too few for a safetensors file", bytes.n);
	n = read_u64(bytes.p);
	if (n > ST_HEADER_MAX)
		return err_set(e, ERR_FORMAT, "the header claims %llu bytes; at most %d are allowed",
			       (unsigned long long)n, ST_HEADER_MAX);
	if (n > bytes.n - 8)
		return err_set(e, ERR_FORMAT, "truncated: the header needs %llu bytes, %zu are there",
			       (unsigned long long)n, bytes.n - 8);
	head = json_parse((struct str){ .p = bytes.p + 8, .n = (size_t)n }, e);
	if (!head)
		return err_wrap(e, "header");
	data = (struct str){ .p = bytes.p + 8 + n, .n = bytes.n - 8 - (size_t)n };
	rc = json_kind(head) == JSON_OBJECT ? parse_tensors(f, head, data, e) :
		err_set(e, ERR_FORMAT, "the header is not an object");
	json_free(head);
	return rc;
}

/* The map belongs to f as soon as it is in the list, so that st_close unmaps it on failure too. */
static int add_file(struct st_file *f, const char *path, struct err *e)
{
	struct file_map m;

	if (file_map_open(&m, path, e))
		return -1;
	if (vec_push(&f->maps, m)) {
		file_map_close(&m);
		return err_nomem(e);
	}
	return add_image(f, (struct str){ .p = m.p, .n = m.n }, e) ? err_wrap(e, "'%s'", path) : 0;
}

/* --- folders ------------------------------------------------------------------------- */

/* An index must not lead out of its folder: no slash, no leading dot, no NUL. */
static int shard_name_ok(struct str s)
{
	return s.n && s.n < 256 && !memchr(s.p, '/', s.n) && s.p[0] != '.' && !memchr(s.p, 0, s.n);
}

/* Opens every shard once and checks that each tensor of the index is in its shard and in no
 * other. */
static int add_shards(struct st_file *f, const char *dir, const struct json *map, struct err *e)
{
	struct map shard = MAP_INIT, found = MAP_INIT;
	struct buf path = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < json_count(map) && !rc; i++) {
		const char *name;
		struct str file = json_str(json_member(map, i, &name), "");
		struct map_entry *m;
		size_t before = f->tensors.n;

		if (!shard_name_ok(file))
			rc = err_set(e, ERR_FORMAT, "tensor '%s': bad shard name '%.*s'", name, STR_ARG(file));
		else if (!map_get(&shard, file)) {
			m = map_put(&shard, file);
			if (!m || !path_join(&path, dir, m->key.p))
				rc = err_nomem(e);
			else
				rc = add_file(f, path.p, e);
			/* A name in two shards would make the result depend on their order. */
			for (size_t k = before; k < f->tensors.n && !rc; k++)
				if (!(m = map_put(&found, str_of(f->tensors.v[k].name))))
					rc = err_nomem(e);
				else if (m->val.i64++)
					rc = err_set(e, ERR_FORMAT, "tensor '%s' is in two shards",
						     f->tensors.v[k].name);
		}
		if (!rc && !map_get(&found, str_of(name)))
			rc = err_set(e, ERR_FORMAT, "tensor '%s' is not in its shard '%.*s'", name, STR_ARG(file));
	}
	buf_release(&path);
	map_release(&shard);
	map_release(&found);
	return rc;
}

/* A folder has an index and shards, or one model.safetensors. */
static int add_folder(struct st_file *f, const char *dir, struct err *e)
{
	struct buf path = BUF_INIT;
	struct json *index = NULL;
	const struct json *map;
	int rc = -1;

	if (!path_join(&path, dir, "model.safetensors.index.json")) {
		err_nomem(e);
		goto out;
	}
	if (!file_exists(path.p)) {
		rc = path_join(&path, dir, "model.safetensors") ? add_file(f, path.p, e) : err_nomem(e);
		goto out;
	}
	index = json_parse_file(path.p, e);
	if (!index)
		goto out;
	map = json_get(index, "weight_map");
	if (!map || json_kind(map) != JSON_OBJECT || !json_count(map))
		err_set(e, ERR_FORMAT, "'%s' has no \"weight_map\"", path.p);
	else
		rc = add_shards(f, dir, map, e) ? err_wrap(e, "'%s'", path.p) : 0;
out:
	json_free(index);
	buf_release(&path);
	return rc;
}

/* --- the public face ----------------------------------------------------------------- */

/* Byte order, as st_find expects it. */
static int by_tensor_name(const void *a, const void *b)
{
	return strcmp(((const struct st_tensor *)a)->name, ((const struct st_tensor *)b)->name);
}

/* Sorts the tensors by name and refuses duplicates. Closes f if anything failed. */
static struct st_file *finish(struct st_file *f, int rc, struct err *e)
{
	if (!rc && f->tensors.n) {
		qsort(f->tensors.v, f->tensors.n, sizeof *f->tensors.v, by_tensor_name);
		for (size_t i = 1; i < f->tensors.n && !rc; i++)
			if (!strcmp(f->tensors.v[i - 1].name, f->tensors.v[i].name))
				rc = err_set(e, ERR_FORMAT, "tensor '%s' appears twice", f->tensors.v[i].name);
	}
	if (rc) {
		st_close(f);
		return NULL;
	}
	return f;
}

/* A folder is opened by its index or its only file. */
struct st_file *st_open(const char *path, struct err *e)
{
	struct st_file *f = mem_zalloc(sizeof *f);

	if (!f) {
		err_nomem(e);
		return NULL;
	}
	return finish(f, file_is_dir(path) ? add_folder(f, path, e) : add_file(f, path, e), e);
}

/* `what` names the bytes in errors, in place of a path. */
struct st_file *st_open_bytes(struct str bytes, const char *what, struct err *e)
{
	struct st_file *f = mem_zalloc(sizeof *f);

	if (!f) {
		err_nomem(e);
		return NULL;
	}
	return finish(f, add_image(f, bytes, e) ? err_wrap(e, "'%s'", what) : 0, e);
}

/* Closes maps and frees copies; all borrowed pointers end here. */
void st_close(struct st_file *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->maps.n; i++)
		file_map_close(&f->maps.v[i]);
	for (size_t i = 0; i < f->copies.n; i++)
		mem_free(f->copies.v[i]);
	vec_free(&f->maps);
	vec_free(&f->copies);
	vec_free(&f->tensors);
	vec_free(&f->meta);
	arena_release(&f->arena);
	mem_free(f);
}

/* Tensors are counted over all shards. */
size_t st_count(const struct st_file *f) { return f->tensors.n; }
size_t st_bytes(const struct st_file *f) { return f->bytes; }
const struct st_tensor *st_at(const struct st_file *f, size_t i) { return &f->tensors.v[i]; }

/* Binary search; finish has sorted the tensors. */
const struct st_tensor *st_find(const struct st_file *f, const char *name)
{
	struct st_tensor key = { .name = name };

	return f->tensors.n ? bsearch(&key, f->tensors.v, f->tensors.n, sizeof key, by_tensor_name) : NULL;
}

/* A shape for a message: "[4096, 1024]". */
static void add_shape(struct buf *b, int ndim, const int64_t *shape)
{
	buf_addc(b, '[');
	for (int i = 0; i < ndim; i++)
		buf_addf(b, "%s%lld", i ? ", " : "", (long long)shape[i]);
	buf_addc(b, ']');
}

/* The error quotes both shapes. */
const struct st_tensor *st_need(const struct st_file *f, const char *name, int ndim,
				const int64_t *shape, struct err *e)
{
	const struct st_tensor *t = st_find(f, name);
	struct buf b = BUF_INIT;

	if (!t) {
		err_set(e, ERR_NOT_FOUND, "tensor '%s' is missing", name);
		return NULL;
	}
	if (t->ndim == ndim && !memcmp(t->shape, shape, (size_t)ndim * sizeof *shape))
		return t;
	add_shape(&b, t->ndim, t->shape);
	buf_adds(&b, ", expected ");
	add_shape(&b, ndim, shape);
	err_set(e, ERR_FORMAT, "tensor '%s' has shape %s", name, buf_cstr(&b));
	buf_release(&b);
	return NULL;
}

/* Few entries: linear search. */
const char *st_metadata(const struct st_file *f, const char *key)
{
	for (size_t i = 0; i < f->meta.n; i++)
		if (!strcmp(f->meta.v[i].key, key))
			return f->meta.v[i].value;
	return NULL;
}
