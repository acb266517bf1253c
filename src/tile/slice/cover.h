/* A set of bytes of one storage: which of them kernels touch.
 *
 * Accesses arrive as ranges, often in an order in which neighbours follow each other. The set is a
 * list of ranges that is sorted and merged when it grows; a set of very many short ranges becomes a
 * bitmap. Example: 16384 instances that each write 64 rows of 256 bytes add a million ranges, and
 * the finished set is one range.
 *
 * If every box repeats with the same period through the whole storage, as the same pixels of all planes of an image
 * do, one period is kept. */
#ifndef TILE_SLICE_COVER_H
#define TILE_SLICE_COVER_H

#include <stddef.h>
#include <stdint.h>

struct cover_range { int64_t lo, hi; };

struct cover {
	int64_t bytes;              /* of the storage; ranges outside are an error of the caller */
	int64_t unit;               /* all bounds are multiples of it: the bytes of an element */
	struct cover_range *v;      /* unsorted behind `sorted` */
	size_t n, cap, sorted;
	int merges;                 /* how often the list was sorted */
	uint64_t *bits;             /* one for each unit; NULL: the list of ranges is the set */
	int64_t adds;               /* ranges that were added, counted each time */
	struct cover *period;       /* a set that repeats through the storage and is all of this one; NULL: none */
};

/* All zero but `bytes` and `unit` is the empty set. */
void cover_release(struct cover *c);
/* Adds the bytes [lo, hi). Returns 0, or -1 when memory runs out. */
int cover_add(struct cover *c, int64_t lo, int64_t hi);
/* Adds a box: `size` bytes at base + sum of stride[k] * i[k], for 0 <= i[k] < count[k]. Returns 0, 1
 * if it has too many ranges (nothing was added), or -1 when memory runs out. */
int cover_add_box(struct cover *c, int64_t base, int64_t size, int n, const int64_t *stride, const int64_t *count);
/* Bytes of [lo, hi) that are in the set; *gap is the first byte that is not, or `hi`. */
int64_t cover_count(struct cover *c, int64_t lo, int64_t hi, int64_t *gap);
/* The end of the last byte in the set; 0: it is empty. */
int64_t cover_end(const struct cover *c);

#endif
