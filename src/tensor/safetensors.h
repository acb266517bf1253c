/* safetensors: tensors by name in mapped files, and an atomic streaming writer.
 *
 * Format: 8 bytes little-endian header length, a JSON header {name: {dtype, shape,
 * data_offsets}}, raw data. Reading maps the file and borrows: pointers live until st_close.
 * Everything in the header is checked before anything is handed out (lengths, shapes against
 * offsets, holes, overlaps, duplicate names), so a caller may trust every field of a `struct
 * st_tensor`. A tensor that is not aligned for its dtype is copied once at open.
 *
 * Writing is all or nothing: data goes to a temporary file, is synced, and is renamed. */
#ifndef TENSOR_SAFETENSORS_H
#define TENSOR_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "tensor/tensor.h"

/* A tensor of an open file; borrowed from it. */
struct st_tensor {
	const char *name;
	enum dtype dt;
	int ndim;
	int64_t shape[TENSOR_DIMS];
	int64_t numel;
	size_t bytes;
	const void *data;            /* dense, row-major, aligned for dt */
};

struct st_file;

/* `path` is a .safetensors file, or a folder with model.safetensors.index.json or
 * model.safetensors. NULL on error. */
struct st_file *st_open(const char *path, struct err *e);
/* The same over bytes in memory that outlive the result (no file is touched). */
struct st_file *st_open_bytes(struct str bytes, const char *what, struct err *e);
void st_close(struct st_file *f);

size_t st_count(const struct st_file *f);
const struct st_tensor *st_at(const struct st_file *f, size_t i);    /* sorted by name */
const struct st_tensor *st_find(const struct st_file *f, const char *name);   /* NULL: absent */
/* The tensor with this name and shape, or NULL and an error that names the difference. */
const struct st_tensor *st_need(const struct st_file *f, const char *name, int ndim,
				const int64_t *shape, struct err *e);
const char *st_metadata(const struct st_file *f, const char *key);   /* NULL: absent */
size_t st_bytes(const struct st_file *f);                            /* of all tensors */

/* --- writing ------------------------------------------------------------------------ */

/* One tensor to be written. If `data` is NULL, `fill` is asked for its bytes. */
struct st_entry {
	const char *name;
	enum dtype dt;
	int ndim;
	int64_t shape[TENSOR_DIMS];
	const void *data;
};

struct st_writer;
/* Gives the bytes of entries[index] in any number of st_put calls that add up exactly. */
typedef int st_fill(void *ctx, size_t index, struct st_writer *w, struct err *e);
int st_put(struct st_writer *w, const void *p, size_t n, struct err *e);

struct st_write {
	const struct st_entry *entries;
	size_t n;
	const char *const *metadata; /* key, value, ..., NULL; a NULL list means "format", "pt" */
	st_fill *fill;
	void *ctx;
	size_t shard_bytes;          /* st_write_folder: largest shard; 0: 5 GB */
};

/* Writes one file. Tensors are laid out as Hugging Face's writer does: wider dtypes first, then
 * by name. */
int st_write_file(const char *path, const struct st_write *w, struct err *e);
/* Appends the same bytes to a buffer; every entry must have its data. */
int st_write_bytes(struct buf *out, const struct st_write *w, struct err *e);
/* Writes model.safetensors, or model-0000i-of-0000n.safetensors and their index, the index last. */
int st_write_folder(const char *dir, const struct st_write *w, struct err *e);

#endif
