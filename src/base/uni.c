/* UTF-8 and NFC: see uni.h. Invariant: every loop advances at least one byte, and the appended text
 * is valid UTF-8 for any input. */
#include "base/uni.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

/* --- UTF-8 ---------------------------------------------------------------------------- */

/* Returns the length of the run of ASCII bytes at p. 32 bytes are tested at a time, because almost
 * all text is ASCII. */
static size_t ascii_run(const unsigned char *p, size_t n)
{
	size_t i = 0;

	for (; i + 32 <= n; i += 32) {
		uint64_t w[4];

		memcpy(w, p + i, 32);
		if ((w[0] | w[1] | w[2] | w[3]) & 0x8080808080808080u)
			break;
	}
	while (i < n && p[i] < 0x80)
		i++;
	return i;
}

/* Tells in one pass whether the text needs repair or normalisation; most texts need neither. */
unsigned uni_scan(struct str text)
{
	const unsigned char *p = (const unsigned char *)text.p;
	unsigned what = 0;

	for (size_t i = 0; i < text.n;) {
		uint32_t cp;
		int bad;

		if (p[i] < 0x80) {
			i += ascii_run(p + i, text.n - i);
			continue;
		}
		i += utf8_decode(text.p + i, text.n - i, &cp, &bad);
		if (bad)
			what |= UNI_HAS_INVALID;
		else if (uni_bits(cp) & UNI_NFC_UNSAFE)
			what |= UNI_MAYBE_NOT_NFC;
	}
	return what;
}

/* Replaces invalid bytes by U+FFFD, as Python's errors="replace" does. */
void uni_lossy(struct str text, struct buf *out)
{
	const unsigned char *p = (const unsigned char *)text.p;
	size_t from = 0, i = 0;

	while (i < text.n) {
		size_t k = ascii_run(p + i, text.n - i);
		uint32_t cp;
		int bad = 0;

		if (!k)
			k = utf8_decode(text.p + i, text.n - i, &cp, &bad);
		if (bad) {
			buf_add(out, text.p + from, i - from);
			buf_add(out, "\xEF\xBF\xBD", 3);
			from = i + k;
		}
		i += k;
	}
	buf_add(out, text.p + from, text.n - from);
}

/* --- NFC ------------------------------------------------------------------------------ */

/* Hangul syllables are composed by arithmetic (Unicode, section 3.12), not by the table. */
enum { HANGUL_S = 0xAC00, HANGUL_L = 0x1100, HANGUL_V = 0x1161, HANGUL_T = 0x11A7,
       HANGUL_LS = 19, HANGUL_VS = 21, HANGUL_TS = 28, HANGUL_SS = HANGUL_LS * HANGUL_VS * HANGUL_TS };

struct uni_char {
	uint32_t cp;
	unsigned char ccc;          /* canonical combining class */
};

/* The decomposed stretch that is being normalised. */
struct nfc {
	struct uni_char *v;
	size_t n, cap;
};

/* Canonical combining class: 0 for a starter, otherwise the order of the mark. */
static unsigned char ccc_of(uint32_t cp)
{
	size_t lo = 0, hi = UNI_CCCS;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (cp > uni_ccc[mid].last)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < UNI_CCCS && cp >= uni_ccc[lo].first ? uni_ccc[lo].ccc : 0;
}

/* Binary search in the table of decompositions, which is sorted by code point. */
static const struct uni_decomp *decomp_of(uint32_t cp)
{
	size_t lo = 0, hi = UNI_DECOMPS;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (cp > uni_decomp[mid].cp)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < UNI_DECOMPS && uni_decomp[lo].cp == cp ? &uni_decomp[lo] : NULL;
}

/* Appends the full canonical decomposition of a code point. Decompositions nest, hence the
 * recursion. */
static int push_decomposed(struct nfc *s, uint32_t cp)
{
	const struct uni_decomp *d;

	if (cp >= HANGUL_S && cp < HANGUL_S + HANGUL_SS) {
		uint32_t k = cp - HANGUL_S, t = k % HANGUL_TS;
		struct uni_char c[3] = {
			{ .cp = HANGUL_L + k / (HANGUL_VS * HANGUL_TS) },
			{ .cp = HANGUL_V + k % (HANGUL_VS * HANGUL_TS) / HANGUL_TS },
			{ .cp = HANGUL_T + t },
		};

		return vec_push(s, c[0]) || vec_push(s, c[1]) || (t && vec_push(s, c[2]));
	}
	d = decomp_of(cp);
	if (!d)
		return vec_push(s, ((struct uni_char){ .cp = cp, .ccc = ccc_of(cp) }));
	return push_decomposed(s, d->a) || (d->b && push_decomposed(s, d->b));
}

/* Sorts each run of marks by combining class. The sort is stable, as the standard requires. */
static void reorder(struct nfc *s)
{
	for (size_t i = 1; i < s->n; i++) {
		struct uni_char c = s->v[i];
		size_t k = i;

		if (!c.ccc)
			continue;
		for (; k && s->v[k - 1].ccc > c.ccc; k--)
			s->v[k] = s->v[k - 1];
		s->v[k] = c;
	}
}

/* Returns the composition of a and b, or 0. The table is sorted by both. */
static uint32_t compose_pair(uint32_t a, uint32_t b)
{
	size_t lo = 0, hi = UNI_COMPOSES;

	if (a - HANGUL_L < HANGUL_LS && b - HANGUL_V < HANGUL_VS)
		return HANGUL_S + ((a - HANGUL_L) * HANGUL_VS + (b - HANGUL_V)) * HANGUL_TS;
	if (a - HANGUL_S < HANGUL_SS && (a - HANGUL_S) % HANGUL_TS == 0 && b - HANGUL_T - 1 < HANGUL_TS - 1)
		return a + b - HANGUL_T;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct uni_compose *c = &uni_compose[mid];

		if (a > c->a || (a == c->a && b > c->b))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < UNI_COMPOSES && uni_compose[lo].a == a && uni_compose[lo].b == b ? uni_compose[lo].cp : 0;
}

/* Joins each starter with the following marks that are not blocked: a mark is blocked by an earlier
 * one of the same or a higher class. */
static void compose(struct nfc *s)
{
	size_t starter = SIZE_MAX, n = 0;
	int last = -1;            /* class of the mark kept last; -1: next to the starter */

	for (size_t i = 0; i < s->n; i++) {
		struct uni_char c = s->v[i];
		uint32_t joined = 0;

		if (starter != SIZE_MAX && (last < 0 || last < c.ccc))
			joined = compose_pair(s->v[starter].cp, c.cp);
		if (joined) {
			s->v[starter].cp = joined;
			continue;
		}
		if (!c.ccc) {
			starter = n;
			last = -1;
		} else {
			last = c.ccc;
		}
		s->v[n++] = c;
	}
	s->n = n;
}

/* A code point that neither changes under NFC nor combines with its neighbours. */
static int is_safe_starter(uint32_t cp)
{
	return !(uni_bits(cp) & UNI_NFC_UNSAFE) && !ccc_of(cp);
}

/* Normalises and appends the collected code points. */
static void flush(struct nfc *s, struct buf *out)
{
	char u[4];

	reorder(s);
	compose(s);
	for (size_t i = 0; i < s->n; i++)
		buf_add(out, u, utf8_encode(s->v[i].cp, u));
	s->n = 0;
}

/* Text is copied unchanged except for stretches that begin at the starter before an unsafe code
 * point and end at the next safe starter. Nothing outside of a stretch can change. */
void uni_nfc(struct str text, struct buf *out)
{
	const unsigned char *p = (const unsigned char *)text.p;
	struct nfc s = { .v = NULL };
	size_t from = 0, prev = 0, i = 0, k;
	int failed = 0;

	while (i < text.n && !failed) {
		uint32_t cp = uni_at(p + i, &k);

		if (!(uni_bits(cp) & UNI_NFC_UNSAFE)) {
			prev = i;
			i += k;
			continue;
		}
		buf_add(out, text.p + from, prev - from);
		for (i = prev; i < text.n && !failed; i += k) {
			cp = uni_at(p + i, &k);
			if (i > prev && is_safe_starter(cp))
				break;
			failed = push_decomposed(&s, cp);
		}
		flush(&s, out);
		from = prev = i;
	}
	buf_add(out, text.p + from, text.n - from);
	out->failed |= failed;
	vec_free(&s);
}
