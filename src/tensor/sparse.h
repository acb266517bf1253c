/* Contents of hollow storages, made where they are touched.
 *
 * A hollow storage is a range of addresses without memory. Here parts of it get memory, one chunk
 * at a time, and the initial contents of the storage: one value throughout, or the elements of a
 * smaller tensor, repeated. So some instances of a kernel can run over tensors of any size.
 * Example: if 16 instances touch 4 MB of a 40 GB tensor, the tensor takes 4 MB.
 *
 * Writes are remembered by the byte, together with whether the writer knew what it wrote. All
 * other bytes of a storage whose contents nobody gave are unknown. */
#ifndef TENSOR_SPARSE_H
#define TENSOR_SPARSE_H

#include "tensor/tensor.h"

/* The following functions replace the contents of a storage. They return 0, or -1 when out of
 * memory. */
int sparse_unknown(struct storage *s);
int sparse_empty(struct storage *s);                                    /* unknown, because never written */
int sparse_zero(struct storage *s);                                     /* as empty, but unwritten bytes are zero */
int sparse_value(struct storage *s, const void *value, int bytes);      /* one value, repeated */
int sparse_own(struct storage *s);                                      /* its own memory */
/* How indices of a large tensor map to those of a smaller one, dimension by dimension.
 * - A dimension with `few` indices there and more here repeats them in a random order: of 16 rows, row
 *   1000000 may repeat row 11 (sparse_index). With `spread`, a dimension of any other number of indices
 *   does so too, in the order of that seed.
 * - A dimension from which `periods` equal periods were taken out repeats the one before them:
 *   with 7 periods, 512 rows become 64 by taking out 7 times 64. Neighbours stay neighbours, both
 *   ends stay where they are (sparse_fold). */
struct sparse_map {
	int64_t few;
	int64_t periods;           /* 0: no dimension is of the second kind */
	uint64_t seed;
	uint64_t spread;           /* 0: none */
};
int64_t sparse_index(int64_t i, int64_t few, uint64_t seed);
int64_t sparse_fold(int64_t i, int64_t n, int64_t smaller, int64_t periods);
/* Whether a dimension of n indices maps to one of `smaller`, and where its index i does. */
int sparse_map_fits(const struct sparse_map *m, int64_t n, int64_t smaller);
int64_t sparse_map_index(const struct sparse_map *m, int64_t i, int64_t n, int64_t smaller);
/* The contents of a smaller tensor, which must outlive the storage. They are unknown if the shapes
 * do not fit, or if the tensor is not all of its storage in order. */
int sparse_few(const struct tensor *t, const struct tensor *from, const struct sparse_map *m);
/* The same for a dense tensor that has memory, from a dense one. Returns -1 when out of memory. */
int sparse_spread(const struct tensor *t, const struct tensor *from, uint64_t seed);
/* Whether the shapes of both fit as sparse_few needs it. */
int sparse_goes_with(const struct tensor *t, const struct tensor *from, const struct sparse_map *m);
/* Makes t a dense copy of a view of another hollow storage that nobody wrote to. The view must cover
 * all of that storage, or the storage must hold one value. Returns 1 if t has the contents now, 0 if
 * they cannot be described here (nothing was done), -1 when out of memory. */
int sparse_copy(const struct tensor *t, const struct tensor *view);
/* The elements of the smaller dense tensor that t repeats dimension by dimension, if nobody wrote
 * to t; else NULL. */
const void *sparse_source(const struct tensor *t);

/* Gives memory and contents to bytes [lo, hi). Returns -1 if the storage would have too many
 * chunks. */
int sparse_touch(struct storage *s, size_t lo, size_t hi);
/* Whether all of these bytes, which were touched, are known. */
int sparse_is_known(const struct storage *s, size_t lo, size_t hi);
/* Marks bytes as written. `known`: the writer knew what it wrote. */
int sparse_mark(struct storage *s, size_t lo, size_t hi, int known);
/* Calls fn for each range that was written and is known, in no particular order. Nonzero from fn
 * ends the walk. */
typedef int sparse_fn(void *ctx, size_t lo, size_t hi);
int sparse_written(const struct storage *s, sparse_fn *fn, void *ctx);

/* Between these two some of many writers run: the sampled instances of a grid. If any of them wrote to
 * the storage, the instances that do not run may have written anywhere else in it, so the rest becomes
 * unknown. */
void sparse_begin_some(struct storage *s);
void sparse_end_some(struct storage *s);
/* The next writer begins; the current writer was stopped, so what it wrote is unknown. */
enum { SPARSE_WRITERS = 128 };       /* most writers between begin and end */
void sparse_next_writer(struct storage *s);
void sparse_drop_writer(struct storage *s);
/* Bytes that were given contents so far: what touching them costs. */
size_t sparse_filled(const struct storage *s);
/* Bytes that were marked so far, counted each time. */
size_t sparse_stored(const struct storage *s);
/* Whether nobody wrote to the storage and the program gave its contents: one value, zeros, its
 * own memory, or torch.empty. */
int sparse_is_made(const struct storage *s);
/* The contents that a program gave a storage which nobody wrote to: unknown, torch.empty, one value
 * (zeros included; `value` gets its bytes and *bytes their number), or memory of its own. */
enum sparse_made { SPARSE_MADE_NOT, SPARSE_MADE_EMPTY, SPARSE_MADE_VALUE, SPARSE_MADE_OWN };
enum sparse_made sparse_made_of(const struct storage *s, unsigned char value[8], int *bytes);
/* Whether bytes that no kernel wrote were never written: the storage was allocated empty. */
int sparse_is_empty(const struct storage *s);
/* Whether unwritten bytes are zero because the program said so. */
int sparse_is_zero(const struct storage *s);

void sparse_free(struct storage *s);

#endif
