/* Values as bytes: see bytes.h. Numbers are stored as this machine has them: the bytes go between
 * processes of one build or into caches keyed by it, never to another architecture. */
#include "base/bytes.h"

#include <string.h>

void bytes_put_int(struct buf *b, int64_t v)
{
	buf_add(b, &v, sizeof v);
}

void bytes_put_str(struct buf *b, struct str s)
{
	bytes_put_int(b, (int64_t)s.n);
	buf_add(b, s.p, s.n);
}

/* Pads with zeros, so that equal values give equal bytes and hashes. */
void bytes_align(struct buf *b, size_t to)
{
	buf_pad(b, 0, (to - b->n % to) % to);
}

/* Every read goes through here, so no other function can pass the end. */
const void *bytes_take(struct bytes *b, size_t n)
{
	const char *p = b->at;

	if ((size_t)(b->end - b->at) < n)
		return NULL;
	b->at += n;
	return p;
}

int bytes_get_raw(struct bytes *b, void *p, size_t n)
{
	const void *from = bytes_take(b, n);

	if (!from)
		return -1;
	memcpy(p, from, n);
	return 0;
}

int bytes_get_int(struct bytes *b, int64_t *v)
{
	return bytes_get_raw(b, v, sizeof *v);
}

/* A negative length comes from damaged data. It would become a huge size_t, so it is refused
 * first. */
int bytes_get_str(struct bytes *b, struct str *s)
{
	int64_t n;

	if (bytes_get_int(b, &n) || n < 0 || !(s->p = bytes_take(b, (size_t)n)))
		return -1;
	s->n = (size_t)n;
	return 0;
}

/* Alignment counts from the start of the bytes, not from their address, as bytes_align counts
 * it. */
int bytes_get_aligned(struct bytes *b, size_t to)
{
	size_t done = (size_t)(b->at - b->start) % to;

	return done && !bytes_take(b, to - done) ? -1 : 0;
}
