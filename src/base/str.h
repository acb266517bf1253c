/* Strings: borrowed slices, a growable byte buffer, a string-keyed hash map. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

/* --- slices ------------------------------------------------------------------------ */

/* Bytes borrowed from somewhere else; not NUL-terminated. Print with "%.*s", STR_ARG(s). */
struct str {
	const char *p;
	size_t n;
};

#define STR(lit) ((struct str){ .p = (lit), .n = sizeof (lit) - 1 })
#define STR_ARG(s) (int)(s).n, (s).p

static inline struct str str_of(const char *s) { return (struct str){ .p = s, .n = strlen(s) }; }
static inline int str_eq(struct str a, struct str b) { return a.n == b.n && (a.n == 0 || !memcmp(a.p, b.p, a.n)); }
/* Lists of words are searched with it: most differ in their first letter. */
/* Equal except for the case of ASCII letters. */
int str_is_any_case(struct str a, const char *b);
static inline int str_is(struct str a, const char *b) { return (a.n ? a.p[0] == b[0] : !b[0]) && str_eq(a, str_of(b)); }
int str_starts(struct str s, const char *prefix);
/* Writes "a.b" to `out`. Returns its length, or -1 without writing if it does not fit. */
int str_dotted(char *out, size_t cap, struct str a, struct str b);
int str_ends(struct str s, const char *suffix);
struct str str_trim(struct str s);                       /* ASCII white space at both ends */
/* Cuts `s` at the first `sep`: returns what is before it and leaves the rest in *s;
 * without `sep` returns all and leaves *s empty. */
struct str str_cut(struct str *s, char sep);
ptrdiff_t str_find(struct str s, struct str what);       /* offset or -1 */
/* Whole-string numbers: nonzero if `s` is not exactly a number that fits. */
int str_to_i64(struct str s, int64_t *out);
int str_to_f64(struct str s, double *out);
/* Damerau-Levenshtein distance, for "did you mean". */
size_t str_distance(struct str a, struct str b);

/* --- buffers ----------------------------------------------------------------------- */

/* Growable bytes, always NUL-terminated once something was added. A failed allocation is
 * remembered in `failed` and further additions do nothing, so that a writer checks once. */
struct buf {
	char *p;
	size_t n, cap;
	int failed;
};

#define BUF_INIT { .p = NULL }

void buf_add(struct buf *b, const void *p, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addstr(struct buf *b, struct str s);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vaddf(struct buf *b, const char *fmt, va_list ap);
void buf_pad(struct buf *b, char c, size_t count);
int buf_reserve(struct buf *b, size_t more);             /* nonzero when memory ended */
void buf_clear(struct buf *b);
void buf_release(struct buf *b);
static inline struct str buf_str(const struct buf *b) { return (struct str){ .p = b->p ? b->p : "", .n = b->n }; }
static inline const char *buf_cstr(const struct buf *b) { return b->p ? b->p : ""; }
/* Hands over the heap string (never NULL unless failed) and empties the buffer. */
char *buf_take(struct buf *b);
/* -1 and ERR_NOMEM if an addition had failed. */
int buf_check(const struct buf *b, struct err *e);

/* --- maps -------------------------------------------------------------------------- */

/* Open addressing, insertion order kept: iterate over `e[0..n)`. Keys are copied. */
struct map_entry {
	struct str key;
	uint64_t hash;
	union { void *ptr; int64_t i64; } val;
};

struct map {
	struct map_entry *e;
	size_t n, cap;
	uint32_t *slot;          /* index + 1 into e, 0 empty */
	size_t slots;
};

#define MAP_INIT { .e = NULL }

struct map_entry *map_get(const struct map *m, struct str key);   /* NULL: absent */
/* The entry of `key`, made with value 0 if absent; NULL when memory ended. */
struct map_entry *map_put(struct map *m, struct str key);
void map_release(struct map *m);                                  /* values are the caller's */

#endif
