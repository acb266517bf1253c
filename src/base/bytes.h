/* Values as bytes, for memory that two processes of one program share. bytes_get reads from the front
 * what bytes_put wrote, in the same order. Not a file format: numbers are as this machine has them. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdint.h>

#include "base/str.h"

#define bytes_put(b, x) buf_add((b), &(x), sizeof (x))
void bytes_put_str(struct buf *b, struct str s);
void bytes_put_int(struct buf *b, int64_t v);
/* Pads to a multiple of `to`, counted from the first byte. */
void bytes_align(struct buf *b, size_t to);

/* The bytes that are not read yet; `start` is the first byte of all. */
struct bytes {
	const char *at, *end, *start;
};

static inline struct bytes bytes_of(struct str s)
{
	return (struct bytes){ .at = s.p, .end = s.p + s.n, .start = s.p };
}

/* Each returns 0, or -1 if too few bytes are left. */
int bytes_get_raw(struct bytes *b, void *p, size_t n);
#define bytes_get(b, x) bytes_get_raw((b), (x), sizeof *(x))
int bytes_get_int(struct bytes *b, int64_t *v);
int bytes_get_str(struct bytes *b, struct str *s);     /* borrowed */
int bytes_get_aligned(struct bytes *b, size_t to);
/* Returns the next n bytes (borrowed), or NULL if too few are left. */
const void *bytes_take(struct bytes *b, size_t n);

#endif
