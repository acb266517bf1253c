/* Identifiers that are not ASCII: which characters they may have, and their normal form NFKC,
 * by which CPython unifies several spellings of a name.
 *
 * Normalisation has three steps: decompose every character, order the combining marks by class,
 * compose again. Example: "ﬁ" becomes "fi", and "e" with a combining acute accent becomes "é". */
#include "py/unicode.h"

#include <stdlib.h>

#include "py/parse.h"

struct decomposition { uint32_t c; const char *s; }; /* c decomposes to the characters of s */
struct composition { uint32_t first, second, c; }; /* first followed by second composes to c */
struct class_range { uint32_t from, to, class; }; /* combining class of a range */

static const struct decomposition decompositions[] = {
#define D(c, s) { c, s },
#include "py/uni_decompose.def"
#undef D
};

static const struct composition compositions[] = {
#define C(first, second, c) { first, second, c },
#include "py/uni_compose.def"
#undef C
};

static const struct class_range class_ranges[] = {
#define R(from, to, class) { from, to, class },
#include "py/uni_class.def"
#undef R
};

/* Hangul syllables follow a rule instead of a table: a syllable is computed from its letters. */
enum { S_BASE = 0xAC00, L_BASE = 0x1100, V_BASE = 0x1161, T_BASE = 0x11A7, L_COUNT = 19, V_COUNT = 21, T_COUNT = 28,
       S_COUNT = L_COUNT * V_COUNT * T_COUNT };

struct chars { uint32_t *v; size_t n; }; /* code points */

/* The combining class; 0 for a starter. Binary search in sorted ranges. */
static uint32_t class_of(uint32_t c)
{
	size_t lo = 0, hi = COUNT_OF(class_ranges);

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c > class_ranges[mid].to)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < COUNT_OF(class_ranges) && c >= class_ranges[lo].from ? class_ranges[lo].class : 0;
}

static int by_character(const void *a, const void *b)
{
	uint32_t c = *(const uint32_t *)a, d = ((const struct decomposition *)b)->c;

	return c < d ? -1 : c > d;
}

/* The decomposition from the table, NULL if c has none. */
static const char *decomposition_of(uint32_t c)
{
	const struct decomposition *d = bsearch(&c, decompositions, COUNT_OF(decompositions), sizeof *d, by_character);

	return d ? d->s : NULL;
}

/* Appends the full compatibility decomposition of c. */
static void decompose(uint32_t c, struct chars *out)
{
	const char *s = decomposition_of(c);
	uint32_t k = c - S_BASE;

	if (s) {
		while (*s)
			out->v[out->n++] = py_uni_decode(&s);
	} else if (k < S_COUNT) {
		out->v[out->n++] = L_BASE + k / (V_COUNT * T_COUNT);
		out->v[out->n++] = V_BASE + k % (V_COUNT * T_COUNT) / T_COUNT;
		if (k % T_COUNT)
			out->v[out->n++] = T_BASE + k % T_COUNT;
	} else {
		out->v[out->n++] = c;
	}
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Orders consecutive marks by class, stably: the low half of the key is the index. */
static void order_run(struct parser *p, uint32_t *v, size_t n)
{
	uint64_t *keys = arena_array(p->arena, n, sizeof *keys);
	uint32_t *copy = arena_array(p->arena, n, sizeof *copy);

	for (size_t i = 0; i < n; i++) {
		keys[i] = (uint64_t)class_of(v[i]) << 32 | i;
		copy[i] = v[i];
	}
	qsort(keys, n, sizeof *keys, by_key);
	for (size_t i = 0; i < n; i++)
		v[i] = copy[keys[i] & 0xFFFFFFFF];
}

/* Every run of marks between two starters. */
static void order(struct parser *p, struct chars *s)
{
	for (size_t i = 0; i < s->n; ) {
		size_t from = i;

		while (i < s->n && class_of(s->v[i]))
			i++;
		if (i - from > 1)
			order_run(p, s->v + from, i - from);
		i += i == from;
	}
}

/* Order of the compositions table: by first character, then by second. */
static int by_pair(const void *a, const void *b)
{
	const struct composition *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->second < y->second ? -1 : x->second > y->second;
}

/* The composition of `a` followed by `b`, or 0. */
static uint32_t compose_pair(uint32_t a, uint32_t b)
{
	struct composition key = { .first = a, .second = b };
	const struct composition *found;

	if (a - L_BASE < L_COUNT && b - V_BASE < V_COUNT)
		return S_BASE + ((a - L_BASE) * V_COUNT + (b - V_BASE)) * T_COUNT;
	if (a - S_BASE < S_COUNT && (a - S_BASE) % T_COUNT == 0 && b - T_BASE - 1 < T_COUNT - 1)
		return a + (b - T_BASE);
	found = bsearch(&key, compositions, COUNT_OF(compositions), sizeof key, by_pair);
	return found ? found->c : 0;
}

/* A mark composes with the last starter unless a mark of the same or a higher class is between
 * them. */
static void compose(struct chars *s)
{
	size_t w = 0, starter = SIZE_MAX;
	uint32_t last_class = 0;

	for (size_t i = 0; i < s->n; i++) {
		uint32_t c = s->v[i], class = class_of(c), both = 0;

		if (starter != SIZE_MAX && (w == starter + 1 || last_class < class) && (class || w == starter + 1))
			both = compose_pair(s->v[starter], c);
		if (both) {
			s->v[starter] = both;
			continue;
		}
		if (!class)
			starter = w;
		last_class = class;
		s->v[w++] = c;
	}
	s->n = w;
}

/* NFKC of an identifier. `most` bounds the decomposed length in advance. */
static struct str normalise(struct parser *p, const char *s, size_t n)
{
	struct chars c = { .n = 0 };
	size_t most = 0;
	char *text, *w;

	for (const char *at = s; at < s + n; ) {
		const char *d = decomposition_of(py_uni_decode(&at));

		most += d ? strlen(d) : 3;
	}
	c.v = arena_array(p->arena, most, sizeof *c.v);
	for (const char *at = s; at < s + n; )
		decompose(py_uni_decode(&at), &c);
	order(p, &c);
	compose(&c);
	text = w = arena_array(p->arena, c.n * 4 + 8, 1);
	for (size_t i = 0; i < c.n; i++)
		w = py_uni_encode(w, c.v[i]);
	return (struct str){ .p = text, .n = (size_t)(w - text) };
}

/* CPython's message about a character that no identifier may have. */
static _Noreturn void fail(struct parser *p, const char *from, const char *to, uint32_t c)
{
	struct pos at = { .line = p->lx.line, .col = (int)(from - p->lx.line_start) };

	if (py_uni_is_printable(c))
		py_fail_lex(p, at, "invalid character '%.*s' (U+%04X)", (int)(to - from), from, c);
	py_fail_lex(p, at, "invalid non-printable character U+%04X", c);
}

/* See unicode.h. Most identifiers contain nothing to normalise and are returned unchanged. */
struct str py_uni_identifier(struct parser *p, const char *s, size_t n)
{
	const char *at = s;
	int plain = 1;

	while (at < s + n) {
		const char *from = at;
		uint32_t c = py_uni_decode(&at);

		if (!(from == s ? py_uni_is_id_start(c) : py_uni_is_id_continue(c)))
			fail(p, from, at, c);
		if (c >= 128 && plain)
			plain = !decomposition_of(c) && !class_of(c) && !(c >= 0x1100 && c < 0x1200);
	}
	return plain ? (struct str){ .p = s, .n = n } : normalise(p, s, n);
}
