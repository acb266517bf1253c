/* Values as bytes of this machine, for memory that two processes of one program share: what
 * bytes_put wrote, bytes_get takes from the front, in the same order. Not a file format. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdint.h>

#include "base/str.h"

#define bytes_put(b, x) buf_add((b), &(x), sizeof (x))
void bytes_put_str(struct buf *b, struct str s);
void bytes_put_int(struct buf *b, int64_t v);
/* So that the next byte has an address that is a multiple of `to` where the first one has. */
void bytes_align(struct buf *b, size_t to);

/* Bytes not read yet; `start` is where reading began. */
struct bytes {
	const char *at, *end, *start;
};

static inline struct bytes bytes_of(struct str s)
{
	return (struct bytes){ .at = s.p, .end = s.p + s.n, .start = s.p };
}

/* Each 0, or -1 where too few are left. */
int bytes_get_raw(struct bytes *b, void *p, size_t n);
#define bytes_get(b, x) bytes_get_raw((b), (x), sizeof *(x))
int bytes_get_int(struct bytes *b, int64_t *v);
int bytes_get_str(struct bytes *b, struct str *s);     /* borrowed */
int bytes_get_aligned(struct bytes *b, size_t to);
/* The next n themselves, borrowed; NULL: too few. */
const void *bytes_take(struct bytes *b, size_t n);

#endif
