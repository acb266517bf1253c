/* Contents of hollow storages, made where they are touched.
 *
 * A hollow storage is a range of addresses. Here parts of it get memory, a chunk at a time, and what
 * the storage holds from the beginning: one value throughout, or the elements of a smaller tensor, over
 * and over. So some programs of a kernel can run over tensors of any size. What was written is remembered
 * by the byte, with whether the writer knew what it wrote; everything else of a storage whose contents
 * nobody said is unknown. */
#ifndef TENSOR_SPARSE_H
#define TENSOR_SPARSE_H

#include "tensor/tensor.h"

/* Whatever it held, its contents are these from here on. -1: no memory. */
int sparse_unknown(struct storage *s);
int sparse_empty(struct storage *s);                                    /* unknown, for nobody has written any yet */
int sparse_zero(struct storage *s);                                     /* the same, but what nobody writes is zero */
int sparse_value(struct storage *s, const void *value, int bytes);      /* over and over */
int sparse_own(struct storage *s);                                      /* what its memory holds, which it has */
/* Those of a smaller tensor, which must outlive the storage: along dimensions that have `few` there
 * (any number: SPARSE_ANY) and more here, index i holds what index sparse_index(i, n, seed) of the
 * n holds there. Unknown where the shapes do not go together, or the tensor is not all of its
 * storage, in order. */
enum { SPARSE_ANY = -1 };
int sparse_few(const struct tensor *t, const struct tensor *from, int64_t few, uint64_t seed);
int64_t sparse_index(int64_t i, int64_t few, uint64_t seed);
/* The same for a dense tensor that has its memory, from a dense one. -1: no memory. */
int sparse_spread(const struct tensor *t, const struct tensor *from, uint64_t seed);
/* Do the shapes go together so? */
int sparse_goes_with(const struct tensor *t, const struct tensor *from, int64_t few);
/* Those of another hollow storage that nobody wrote to, as a view of all of it, or any of one
 * value, has them in order: `t` is a dense copy. 1: so they are; 0: they are not as here can be
 * said, and nothing was done; -1: no memory. */
int sparse_copy(const struct tensor *t, const struct tensor *view);
/* The elements of the smaller dense tensor that it consists of, dimension by dimension, if nobody
 * wrote to it; NULL: of none. */
const void *sparse_source(const struct tensor *t);

/* Gives memory and contents to bytes [lo, hi). -1: it would be more than one storage may have. */
int sparse_touch(struct storage *s, size_t lo, size_t hi);
/* Of bytes that were touched: does anybody know all of them? */
int sparse_is_known(const struct storage *s, size_t lo, size_t hi);
/* They were written, by somebody who knew what. */
int sparse_mark(struct storage *s, size_t lo, size_t hi, int known);
/* What is loaded is counted from here on, in so many ranges at the most. */
void sparse_count_loads(struct storage *s, int64_t ranges);
/* They are loaded; words are, where a part of one is. -1: that is more than may be counted. */
int sparse_note_load(struct storage *s, size_t lo, size_t hi);
/* Were there more than may be counted? */
int sparse_lost_count(const struct storage *s);
/* Each range that was written and is known, in no order. Nonzero from fn ends it. */
typedef int sparse_fn(void *ctx, size_t lo, size_t hi);
int sparse_written(const struct storage *s, sparse_fn *fn, void *ctx);

/* Some of many writers go next; the others are never seen. If any of the seen ones wrote here, nobody knows what the
 * others left where these did not write. */
void sparse_begin_some(struct storage *s);
void sparse_end_some(struct storage *s);
/* Each of them in turn; and nobody knows what the one that goes now has written, for it was stopped. */
enum { SPARSE_WRITERS = 128 };       /* that go, at the most */
void sparse_next_writer(struct storage *s);
void sparse_drop_writer(struct storage *s);
/* All of them write what these wrote, who were the first here: if that is one value, but for the
 * one whose turn was `apart`, every other element of so many bytes has it. 1: so it is; 0: they
 * wrote several, or something that is not known, and nothing was done. */
int sparse_flatten(struct storage *s, size_t size, int apart);

/* Bytes that were marked so far, each as often as it was. */
size_t sparse_stored(const struct storage *s);
/* Of those that go now: bytes that one wrote where another had. */
size_t sparse_again(const struct storage *s);
/* Where the last of them ends. */
size_t sparse_reached(const struct storage *s);
/* Bytes that were loaded so far, once by each of those that loaded them. Of those that go now:
 * bytes that one loaded where another had. */
size_t sparse_loaded(const struct storage *s);
size_t sparse_loaded_again(const struct storage *s);
/* No more than so many more bytes were written altogether. */
void sparse_cover(struct storage *s, size_t bytes);
/* Those that could have written to it wrote nothing anywhere. */
void sparse_leave_out(struct storage *s);
/* Of one that was empty, and written in part or left out: how many bytes can have been at the most; else all of them. */
size_t sparse_covered(const struct storage *s);
/* Did nobody write to it, and is it what the program said: one value, zeros, its own, or no matter what? */
int sparse_is_made(const struct storage *s);
/* Is what nobody wrote zero, by what the program said? */
int sparse_is_zero(const struct storage *s);

void sparse_free(struct storage *s);

#endif
