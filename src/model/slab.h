/* One block of memory divided into named tensors.
 *
 * The list is written first (slab_add), then the memory is allocated once (slab_alloc). The same
 * list names the tensors of a checkpoint and prints the memory table. Parameters, gradients and
 * each optimizer moment share one list: entry i of each is the same tensor. */
#ifndef MODEL_SLAB_H
#define MODEL_SLAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "dev/dev.h"
#include "tensor/tensor.h"

enum { SLAB_NAME = 96, SLAB_DIMS = 4 };

/* One tensor of the list. */
struct slab_item {
	char name[SLAB_NAME];
	enum dtype dt;
	int ndim;
	int64_t shape[SLAB_DIMS];
	size_t offset, bytes;         /* offset is a multiple of 64 */
	size_t numel;
};

/* Owns the list and the memory. */
struct slab {
	const char *what;             /* heading in the memory table */
	struct dev *dev;
	struct slab_item *v;
	size_t n, cap;
	size_t bytes;
	char *data;                   /* NULL until slab_alloc */
};

void slab_init(struct slab *s, struct dev *d, const char *what);
/* Adds an entry and returns its index, or -1 and *e. Only before slab_alloc. */
int slab_add(struct slab *s, enum dtype dt, int ndim, const int64_t *shape, struct err *e,
	     const char *fmt, ...) PRINTF_LIKE(6, 7);
int slab_alloc(struct slab *s, struct err *e);               /* zeroed */
/* Makes and allocates a second slab with the same list, every entry in dtype dt. */
int slab_like(struct slab *s, const struct slab *of, enum dtype dt, const char *what, struct err *e);
/* A copy in host memory, on the CPU device `host`. The first call makes `to`; later calls fill it
 * again. */
int slab_copy(struct slab *to, const struct slab *from, struct dev *host, struct err *e);
void slab_release(struct slab *s);
static inline void *slab_at(const struct slab *s, int i) { return s->data + s->v[i].offset; }
static inline float *slab_f32(const struct slab *s, int i) { return (float *)(void *)slab_at(s, i); }
void slab_zero(struct slab *s);
/* Copies entry i from host memory, and back. */
void slab_put(struct slab *s, int i, const void *from);
int slab_get(const struct slab *s, int i, void *to, struct err *e);
/* Writes the entries to a safetensors file, each name behind `prefix`. slab_load reads it back:
 * every entry must be there with its shape and is converted to its dtype. */
int slab_save(const struct slab *s, const char *path, const char *prefix, struct err *e);
int slab_load(struct slab *s, const char *path, const char *prefix, struct err *e);
/* Hash of names and values: equal for equal bits. 0 when out of memory. */
uint64_t slab_hash(const struct slab *s);
/* Appends a row per slab: what, tensors, bytes. */
void slab_table(struct buf *out, const struct slab *const *slabs, size_t n);

#endif
