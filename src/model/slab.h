/* One block of memory cut into named tensors.
 *
 * The list is written first (slab_add), then the memory is taken once (slab_alloc). The same
 * list names the tensors of a checkpoint and prints the memory table. Parameters, gradients
 * and each optimizer moment share one list: entry i of each is the same tensor. */
#ifndef MODEL_SLAB_H
#define MODEL_SLAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "dev/dev.h"
#include "tensor/tensor.h"

enum { SLAB_NAME = 96, SLAB_DIMS = 4 };

struct slab_item {
	char name[SLAB_NAME];
	enum dtype dt;
	int ndim;
	int64_t shape[SLAB_DIMS];
	size_t offset, bytes;         /* offset is a multiple of 64 */
	size_t numel;
};

struct slab {
	const char *what;             /* heading in the memory table */
	struct dev *dev;
	struct slab_item *v;
	size_t n, cap;
	size_t bytes;
	char *data;                   /* NULL until slab_alloc */
};

void slab_init(struct slab *s, struct dev *d, const char *what);
/* Index of the new entry, or -1. Only before slab_alloc. */
int slab_add(struct slab *s, enum dtype dt, int ndim, const int64_t *shape, struct err *e,
	     const char *fmt, ...) PRINTF_LIKE(6, 7);
int slab_alloc(struct slab *s, struct err *e);               /* zeroed */
/* A second slab over the same list, every entry of `dt`, allocated. */
int slab_like(struct slab *s, const struct slab *of, enum dtype dt, const char *what, struct err *e);
/* A copy in host memory, on the CPU's device `host`; `to` is made by the first call and filled again by others. */
int slab_copy(struct slab *to, const struct slab *from, struct dev *host, struct err *e);
void slab_release(struct slab *s);
static inline void *slab_at(const struct slab *s, int i) { return s->data + s->v[i].offset; }
static inline float *slab_f32(const struct slab *s, int i) { return (float *)(void *)slab_at(s, i); }
void slab_zero(struct slab *s);
/* Entry i from and to host memory. */
void slab_put(struct slab *s, int i, const void *from);
int slab_get(const struct slab *s, int i, void *to, struct err *e);
/* A safetensors file of the entries, each name behind `prefix`; and back, every entry
 * required with its shape, converted to its dtype. */
int slab_save(const struct slab *s, const char *path, const char *prefix, struct err *e);
int slab_load(struct slab *s, const char *path, const char *prefix, struct err *e);
/* Of names and values: equal for equal bits. 0 when memory ended. */
uint64_t slab_hash(const struct slab *s);
/* A row per slab: what, tensors, bytes. */
void slab_table(struct buf *out, const struct slab *const *slabs, size_t n);

#endif
