/* Slices, buffers and maps: see str.h. Invariants: a buffer is always NUL-terminated; after a
 * failed allocation it ignores further appends and reports the failure once, in buf_check. */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

/* Most prefixes differ in their first letters, so the length of the prefix is not computed. */
int str_starts(struct str s, const char *prefix)
{
	size_t i = 0;

	while (i < s.n && prefix[i] && s.p[i] == prefix[i])
		i++;
	return !prefix[i];
}

/* Joins a module and a name, "torch.nn", without allocation: the interpreter does it on every
 * lookup. */
int str_dotted(char *out, size_t cap, struct str a, struct str b)
{
	if (a.n >= cap || b.n >= cap || a.n + b.n + 2 > cap)
		return -1;
	memcpy(out, a.p, a.n);
	out[a.n] = '.';
	memcpy(out + a.n + 1, b.p, b.n);
	out[a.n + 1 + b.n] = 0;
	return (int)(a.n + 1 + b.n);
}

int str_ends(struct str s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.n >= n && !memcmp(s.p + s.n - n, suffix, n);
}

struct str str_trim(struct str s)
{
	while (s.n && isspace((unsigned char)s.p[0]))
		s.p++, s.n--;
	while (s.n && isspace((unsigned char)s.p[s.n - 1]))
		s.n--;
	return s;
}

/* Without a separator the whole rest is returned and *s becomes empty. */
struct str str_cut(struct str *s, char sep)
{
	const char *at = s->n ? memchr(s->p, sep, s->n) : NULL;
	struct str head = { .p = s->p, .n = at ? (size_t)(at - s->p) : s->n };
	size_t skip = head.n + (at ? 1 : 0);

	s->p += skip;
	s->n -= skip;
	return head;
}

/* memmem is linear and handles NUL bytes. */
ptrdiff_t str_find(struct str s, struct str what)
{
	const char *at = what.n <= s.n ? memmem(s.p, s.n, what.p, what.n) : NULL;

	return at ? at - s.p : -1;
}

/* strtoll and strtod need a terminated string and would skip leading white space, which is
 * refused. */
static int number_text(struct str s, char *out, size_t cap)
{
	if (s.n == 0 || s.n >= cap || isspace((unsigned char)s.p[0]))
		return -1;
	memcpy(out, s.p, s.n);
	out[s.n] = 0;
	return 0;
}

/* Decimal only, the whole text, within 64 bits. */
int str_to_i64(struct str s, int64_t *out)
{
	char text[32], *end;
	long long v;

	if (number_text(s, text, sizeof text))
		return -1;
	errno = 0;
	v = strtoll(text, &end, 10);
	if (errno || *end)
		return -1;
	*out = v;
	return 0;
}

/* 400 bytes hold every double written in full. */
int str_to_f64(struct str s, double *out)
{
	char text[400], *end;
	double v;

	if (number_text(s, text, sizeof text))
		return -1;
	v = strtod(text, &end);
	if (*end)
		return -1;
	*out = v;
	return 0;
}

static int lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

int str_is_any_case(struct str a, const char *b)
{
	for (size_t i = 0; i < a.n; i++)
		if (!b[i] || lower(a.p[i]) != lower(b[i]))
			return 0;
	return !b[a.n];
}

/* Edit distance with exchanged neighbours as one edit (optimal string alignment), for suggestions:
 * 'verfiy' is one edit from 'verify'. Three rows are kept, because an exchange looks two rows
 * back. */
size_t str_distance(struct str a, struct str b)
{
	enum { MOST = 64 };
	size_t row[3][MOST + 1], *pp = row[0], *p = row[1], *c = row[2];

	if (a.n > MOST || b.n > MOST)
		return MAX(a.n, b.n);
	for (size_t j = 0; j <= b.n; j++)
		p[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *t = pp;

		c[0] = i;                           /* rows: pp is i - 2, p is i - 1, c is i */
		for (size_t j = 1; j <= b.n; j++) {
			size_t best = p[j - 1] + (a.p[i - 1] != b.p[j - 1]);

			best = MIN(best, MIN(p[j], c[j - 1]) + 1);
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
				best = MIN(best, pp[j - 2] + 1);
			c[j] = best;
		}
		pp = p, p = c, c = t;
	}
	return p[b.n];
}

/* --- buffers ----------------------------------------------------------------------- */

/* One byte more than asked for: the NUL after the contents. */
int buf_reserve(struct buf *b, size_t more)
{
	size_t need, want;
	char *p;

	if (b->failed || ck_add(b->n, more, &need) || ck_add(need, 1, &need)) {
		b->failed = 1;
		return -1;
	}
	if (need <= b->cap)
		return 0;
	want = MAX(need, MAX((size_t)64, b->cap + b->cap / 2));   /* grows by half: appends cost O(1) */
	p = mem_resize(b->p, want);
	if (!p) {
		b->failed = 1;
		return -1;
	}
	b->p = p;
	b->cap = want;
	return 0;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	if (buf_reserve(b, n))
		return;
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
	b->p[b->n] = 0;
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addstr(struct buf *b, struct str s)
{
	buf_add(b, s.p, s.n);
}

void buf_addc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

/* Formats twice: once to learn the length, once into the buffer. */
void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		BUG("buf_addf: bad format '%s'", fmt);
	if (buf_reserve(b, (size_t)n))
		return;
	vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap);
	b->n += (size_t)n;
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
}

void buf_pad(struct buf *b, char c, size_t count)
{
	if (buf_reserve(b, count))
		return;
	memset(b->p + b->n, c, count);
	b->n += count;
	b->p[b->n] = 0;
}

/* A failed buffer becomes usable again. */
void buf_clear(struct buf *b)
{
	b->n = 0;
	b->failed = 0;
	if (b->p)
		b->p[0] = 0;
}

void buf_release(struct buf *b)
{
	mem_free(b->p);
	*b = (struct buf)BUF_INIT;
}

/* An empty buffer gives an empty string: NULL only means that memory ended. */
char *buf_take(struct buf *b)
{
	char *p;

	buf_add(b, "", 0);
	p = b->failed ? NULL : b->p;
	if (!p)
		mem_free(b->p);
	*b = (struct buf)BUF_INIT;
	return p;
}

int buf_check(const struct buf *b, struct err *e)
{
	return b->failed ? err_nomem(e) : 0;
}

/* --- maps -------------------------------------------------------------------------- */

/* Open addressing over slots that hold index + 1 of an entry. Entries stay in order of insertion,
 * so iteration is repeatable. */
struct map_entry *map_get(const struct map *m, struct str key)
{
	uint64_t h = hash_xxh64(key.p, key.n, 0);

	for (size_t i = h; m->slots; i++) {
		uint32_t s = m->slot[i & (m->slots - 1)];

		if (!s)
			return NULL;
		if (m->e[s - 1].hash == h && str_eq(m->e[s - 1].key, key))
			return &m->e[s - 1];
	}
	return NULL;
}

/* Puts an entry into the first free slot after its hash. */
static void map_link(struct map *m, size_t index)
{
	size_t i = m->e[index].hash;

	while (m->slot[i & (m->slots - 1)])
		i++;
	m->slot[i & (m->slots - 1)] = (uint32_t)index + 1;
}

/* Entries keep their order; only the slots are rebuilt. */
static int map_rehash(struct map *m)
{
	size_t slots = m->slots ? m->slots * 2 : 16;
	uint32_t *slot = mem_array(slots, sizeof *slot);

	if (!slot)
		return -1;
	mem_free(m->slot);
	m->slot = slot;
	m->slots = slots;
	for (size_t i = 0; i < m->n; i++)
		map_link(m, i);
	return 0;
}

/* At most half of the slots are in use. The key is copied; on a failed allocation the map has its
 * old entries. */
struct map_entry *map_put(struct map *m, struct str key)
{
	struct map_entry *e = map_get(m, key);
	char *copy;

	if (e)
		return e;
	if ((m->n + 1) * 2 > m->slots && map_rehash(m))
		return NULL;
	if (vec_grow_raw((void **)&m->e, m->n, &m->cap, 1, sizeof *m->e))
		return NULL;
	copy = mem_strndup(key.p ? key.p : "", key.n);
	if (!copy)
		return NULL;
	e = &m->e[m->n++];
	*e = (struct map_entry){ .key = { .p = copy, .n = key.n },
				 .hash = hash_xxh64(key.p, key.n, 0) };
	map_link(m, m->n - 1);
	return e;
}

void map_release(struct map *m)
{
	for (size_t i = 0; i < m->n; i++)
		mem_free((char *)m->e[i].key.p);
	mem_free(m->e);
	mem_free(m->slot);
	*m = (struct map)MAP_INIT;
}
