/* Methods of str, bytes, int and float. Case and character classes are those of ASCII. A text
 * with other characters is refused where Unicode's tables would decide, instead of giving a
 * wrong answer. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "interp/big.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/iter.h"
#include "interp/operator.h"
#include "interp/state.h"
#include "interp/val_text.h"

/* Makes the collected text the result and frees the buffer. */
static int give(struct bind *b, struct buf *t)
{
	int rc = t->failed ? host_fatal(b->h, REASON_out_of_memory, "the machine is out of memory") :
		val_str(b->h, buf_str(t), &b->out);
	buf_release(t);
	return rc;
}

/* The text of the receiver, borrowed. */
static struct str self(const struct bind *b) { return val_text(b->a[0]); }

/* Refuses text beyond ASCII: which of its characters are letters or spaces is in Unicode's
 * tables. */
static int only_ascii(struct bind *b, struct str s)
{
	for (size_t i = 0; i < s.n && !b->h->o.may_vary; i++)
		if ((unsigned char)s.p[i] > 127)
			return bind_unsupported(b, "this method on non-ASCII text is not supported");
	return 0;
}

/* Characters that Python takes for a space, the ASCII separators 0x1c to 0x1f included. */
static int is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f); }

/* --- case ------------------------------------------------------------------------------------------- */

/* lower(), upper() and swapcase(), character by character. */
static int map_case(struct bind *b, int (*fn)(int))
{
	struct buf t = BUF_INIT;
	struct str s = self(b);
	if (only_ascii(b, s))
		return -1;
	for (size_t i = 0; i < s.n; i++)
		buf_addc(&t, (char)fn((unsigned char)s.p[i]));
	return give(b, &t);
}

static int swap_case(int c) { return islower(c) ? toupper(c) : tolower(c); }
static int s_lower(struct bind *b) { return map_case(b, tolower); }
static int s_upper(struct bind *b) { return map_case(b, toupper); }
static int s_swapcase(struct bind *b) { return map_case(b, swap_case); }

/* The first character in upper case, all others in lower case. */
static int s_capitalize(struct bind *b)
{
	struct buf t = BUF_INIT;
	struct str s = self(b);
	if (only_ascii(b, s))
		return -1;
	for (size_t i = 0; i < s.n; i++)
		buf_addc(&t, (char)(i ? tolower((unsigned char)s.p[i]) : toupper((unsigned char)s.p[i])));
	return give(b, &t);
}

/* A letter is upper case after anything that is not a letter: "it's" becomes "It'S". */
static int s_title(struct bind *b)
{
	struct buf t = BUF_INIT;
	struct str s = self(b);
	int in_word = 0;
	if (only_ascii(b, s))
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		buf_addc(&t, (char)(in_word ? tolower(c) : toupper(c)));
		in_word = isalpha(c);
	}
	return give(b, &t);
}

/* isdigit() and the like: true if there is a character and all pass. */
static int test_all(struct bind *b, int (*fn)(int))
{
	struct str s = self(b);
	int yes = s.n > 0;
	if (only_ascii(b, s))
		return -1;
	for (size_t i = 0; i < s.n && yes; i++)
		yes = fn((unsigned char)s.p[i]) != 0;
	b->out = val_bool(yes);
	return 0;
}

static int s_isdigit(struct bind *b) { return test_all(b, isdigit); }
static int s_isalpha(struct bind *b) { return test_all(b, isalpha); }
static int s_isalnum(struct bind *b) { return test_all(b, isalnum); }
static int s_isspace(struct bind *b) { return test_all(b, is_space); }

/* isupper(): at least one upper-case letter and no lower-case one. */
static int s_has_case(struct bind *b, int upper)
{
	struct str s = self(b);
	int any = 0, bad = 0;
	if (only_ascii(b, s))
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		any |= upper ? isupper((unsigned char)s.p[i]) : islower((unsigned char)s.p[i]);
		bad |= upper ? islower((unsigned char)s.p[i]) : isupper((unsigned char)s.p[i]);
	}
	b->out = val_bool(any && !bad);
	return 0;
}

static int s_isupper(struct bind *b) { return s_has_case(b, 1); }
static int s_islower(struct bind *b) { return s_has_case(b, 0); }

/* Letters, digits and underscores, no digit first. Keywords count as identifiers, as in Python. */
static int s_isidentifier(struct bind *b)
{
	struct str s = self(b);
	int yes = s.n && !isdigit((unsigned char)s.p[0]);
	if (only_ascii(b, s))
		return -1;
	for (size_t i = 0; i < s.n && yes; i++)
		yes = isalnum((unsigned char)s.p[i]) || s.p[i] == '_';
	b->out = val_bool(yes);
	return 0;
}

/* --- stripping and padding ------------------------------------------------------------------------------ */

/* Is c among the given characters, or a space by default? */
static int is_stripped(char c, const struct val *chars)
{
	if (chars->kind == V_STR)
		return memchr(chars->u.s->p, c, chars->u.s->n) != NULL;
	return is_space((unsigned char)c);
}

/* strip(), lstrip(), rstrip(). */
static int strip(struct bind *b, int left, int right)
{
	struct str s = self(b);
	if (only_ascii(b, b->a[1].kind == V_STR ? val_text(b->a[1]) : s))
		return -1;
	while (left && s.n && is_stripped(s.p[0], &b->a[1]))
		s.p++, s.n--;
	while (right && s.n && is_stripped(s.p[s.n - 1], &b->a[1]))
		s.n--;
	return val_str(b->h, s, &b->out);
}

static int s_strip(struct bind *b) { return strip(b, 1, 1); }
static int s_lstrip(struct bind *b) { return strip(b, 1, 0); }
static int s_rstrip(struct bind *b) { return strip(b, 0, 1); }

/* ljust(), rjust(), center(). CPython's center() puts an odd space on the left if the width is
 * odd: "ab".center(5) is "  ab ". */
static int justify(struct bind *b, char align)
{
	struct buf t = BUF_INIT;
	struct str fill = STR(" ");
	int64_t width, left, more;

	if (bind_int(b, 1, &width) || (b->a[2].kind != V_UNSET && bind_string(b, 2, &fill)))
		return -1;
	if (utf8_count(fill) != 1)
		return bind_raise(b, EXC_TypeError, "The fill character must be exactly one character long");
	if (width > 1 << 20)
		return bind_unsupported(b, "a width of more than 2**20 characters is not supported");
	more = MAX(width - (int64_t)utf8_count(self(b)), 0);
	left = align == '<' ? 0 : align == '>' ? more : more / 2 + (more & width & 1);
	for (int64_t i = 0; i < left; i++)
		buf_addstr(&t, fill);
	buf_addstr(&t, self(b));
	for (int64_t i = left; i < more; i++)
		buf_addstr(&t, fill);
	return give(b, &t);
}

static int s_ljust(struct bind *b) { return justify(b, '<'); }
static int s_rjust(struct bind *b) { return justify(b, '>'); }
static int s_center(struct bind *b) { return justify(b, '^'); }

/* Zeros go after the sign: "-5".zfill(4) is "-005". */
static int s_zfill(struct bind *b)
{
	struct buf t = BUF_INIT;
	struct str s = self(b);
	int64_t width;
	if (bind_int(b, 1, &width))
		return -1;
	if (width > 1 << 20)
		return bind_raise(b, EXC_ValueError, "width too big");
	if (s.n && (s.p[0] == '-' || s.p[0] == '+')) {
		buf_addc(&t, s.p[0]);
		s.p++, s.n--;
	}
	if (width > (int64_t)(s.n + t.n))
		buf_pad(&t, '0', (size_t)width - s.n - t.n);
	buf_addstr(&t, s);
	return give(b, &t);
}

/* --- searching -------------------------------------------------------------------------------------------- */

/* Does s begin (or, with `end`, end) with `what`? */
static int has_affix(struct str s, struct str what, int end)
{
	return s.n >= what.n && !memcmp(end ? s.p + s.n - what.n : s.p, what.p, what.n);
}

/* startswith() and endswith(): a string, or a tuple of strings with at least one that fits. */
static int affix(struct bind *b, int end)
{
	struct val one = b->a[1];
	struct val *v = one.kind == V_TUPLE ? one.u.seq->v : &one;
	size_t n = one.kind == V_TUPLE ? one.u.seq->n : 1;
	b->out = val_bool(0);
	for (size_t i = 0; i < n; i++) {
		if (v[i].kind != V_STR)
			return bind_raise(b, EXC_TypeError,
					  "%s first arg must be str or a tuple of str, not %s",
					  end ? "endswith" : "startswith", val_type_name(b->h, v[i]));
		if (has_affix(self(b), val_text(v[i]), end))
			b->out = val_bool(1);
	}
	return 0;
}

static int s_startswith(struct bind *b) { return affix(b, 0); }
static int s_endswith(struct bind *b) { return affix(b, 1); }

/* A start or end of a search; None counts as missing. */
static int bound_given(const struct bind *b, int i)
{
	return b->a[i].kind != V_UNSET && b->a[i].kind != V_NONE;
}

/* The byte offset of `what`, or -1. A search from the right compares at each position and pays
 * fuel for that. */
static int64_t find_at(struct bind *b, struct str s, struct str what, int last)
{
	if (!last)
		return str_find(s, what);
	if (host_burn(b->h, (int64_t)(s.n / 64 + 1) * (int64_t)(what.n / 64 + 1) / 4))
		return -1;
	for (int64_t i = (int64_t)s.n - (int64_t)what.n; i >= 0; i--)
		if (!memcmp(s.p + i, what.p, what.n))
			return i;
	return -1;
}

/* find(), rfind() and index(). Bounds and results are code points, the search is in bytes. */
static int find_in(struct bind *b, int last, int must)
{
	struct str what, s = self(b);
	int64_t chars = (int64_t)utf8_count(s), start = 0, end = chars;
	int64_t at;

	if (bind_string(b, 1, &what) || (bound_given(b, 2) && bind_int(b, 2, &start)) ||
	    (bound_given(b, 3) && bind_int(b, 3, &end)))
		return -1;
	start = start < 0 ? MAX(start + chars, 0) : MIN(start, chars + 1);
	end = end < 0 ? MAX(end + chars, 0) : MIN(end, chars);
	if (start <= end) {
		start = (int64_t)utf8_offset(s, (size_t)start);
		end = (int64_t)utf8_offset(s, (size_t)end);
	}
	at = start <= end ? find_at(b, (struct str){ .p = s.p + start, .n = (size_t)(end - start) }, what, last) : -1;
	if (at < 0 && must)
		return bind_raise(b, EXC_ValueError, "substring not found");
	b->out = val_int(at < 0 ? -1 : (int64_t)utf8_count((struct str){ .p = s.p, .n = (size_t)(at + start) }));
	return 0;
}

static int s_find(struct bind *b) { return find_in(b, 0, 0); }
static int s_rfind(struct bind *b) { return find_in(b, 1, 0); }
static int s_index(struct bind *b) { return find_in(b, 0, 1); }

/* Occurrences that do not overlap. The empty string occurs between all characters. */
static int s_count(struct bind *b)
{
	struct str what, s = self(b);
	int64_t n = 0;
	if (bind_string(b, 1, &what))
		return -1;
	if (!what.n) {
		b->out = val_int((int64_t)utf8_count(s) + 1);
		return 0;
	}
	for (ptrdiff_t at; (at = str_find(s, what)) >= 0; n++) {
		s.p += at + (ptrdiff_t)what.n;
		s.n -= (size_t)at + what.n;
	}
	b->out = val_int(n);
	return 0;
}

/* replace(old, new[, count]). The result is checked against the memory limit as it grows. */
static int s_replace(struct bind *b)
{
	struct str s = self(b), from, to;
	struct buf t = BUF_INIT;
	int64_t max = -1;
	if (bind_string(b, 1, &from) || bind_string(b, 2, &to) || (b->a[3].kind != V_UNSET && bind_int(b, 3, &max)))
		return -1;
	if (!from.n)
		return bind_unsupported(b, "str.replace() of the empty string is not supported");
	max = max < 0 ? INT64_MAX : max;
	for (ptrdiff_t at; max > 0 && (at = str_find(s, from)) >= 0; max--) {
		buf_add(&t, s.p, (size_t)at);
		buf_addstr(&t, to);
		s.p += at + (ptrdiff_t)from.n;
		s.n -= (size_t)at + from.n;
		if (host_burn(b->h, 1 + (int64_t)to.n / 64) || t.n > b->h->o.memory) {
			buf_release(&t);
			return host_fatal(b->h, REASON_out_of_memory, "a string exceeds the memory limit");
		}
	}
	buf_addstr(&t, s);
	return give(b, &t);
}

/* removeprefix() and removesuffix(): unchanged if the text does not have it. */
static int remove_affix(struct bind *b, int end)
{
	struct str s = self(b), a;
	if (bind_string(b, 1, &a))
		return -1;
	if (a.n && a.n <= s.n && !memcmp(end ? s.p + s.n - a.n : s.p, a.p, a.n)) {
		s.n -= a.n;
		s.p += end ? 0 : a.n;
	}
	return val_str(b->h, s, &b->out);
}

static int s_removeprefix(struct bind *b) { return remove_affix(b, 0); }
static int s_removesuffix(struct bind *b) { return remove_affix(b, 1); }

/* --- splitting and joining ------------------------------------------------------------------------------------ */

/* Appends one piece to the list in b->out. */
static int add_part(struct bind *b, struct str s)
{
	struct val v;
	return val_str(b->h, s, &v) || list_append(b->h, b->out, v) ? -1 : 0;
}

/* split() without separator: runs of spaces separate, and those at the ends are dropped. */
static int split_space(struct bind *b, struct str s, int64_t max)
{
	if (only_ascii(b, s))
		return -1;
	for (;;) {
		size_t n;

		while (s.n && is_space((unsigned char)s.p[0]))
			s.p++, s.n--;
		if (!s.n)
			return 0;
		if (!max)
			return add_part(b, s);
		max -= max > 0;
		n = 0;
		while (n < s.n && !is_space((unsigned char)s.p[n]))
			n++;
		if (add_part(b, (struct str){ .p = s.p, .n = n }))
			return -1;
		s.p += n, s.n -= n;
	}
}

/* split(sep, maxsplit): two adjacent separators have an empty piece between them. */
static int s_split(struct bind *b)
{
	struct str s = self(b), sep;
	int64_t max;
	if (bind_int(b, 2, &max) || val_list(b->h, NULL, 0, &b->out))
		return -1;
	if (b->a[1].kind == V_NONE)
		return split_space(b, s, max);
	if (bind_string(b, 1, &sep))
		return -1;
	if (!sep.n)
		return bind_raise(b, EXC_ValueError, "empty separator");
	for (ptrdiff_t at; max != 0 && (at = str_find(s, sep)) >= 0; max -= max > 0) {
		if (host_step(b->h) || add_part(b, (struct str){ .p = s.p, .n = (size_t)at }))
			return -1;
		s.p += at + (ptrdiff_t)sep.n;
		s.n -= (size_t)at + sep.n;
	}
	return add_part(b, s);
}

/* rsplit(sep, maxsplit): collected from the right, then reversed. */
static int s_rsplit(struct bind *b)
{
	struct str s = self(b), sep;
	int64_t max;
	struct val parts;
	if (bind_int(b, 2, &max))
		return -1;
	if (b->a[1].kind == V_NONE && max >= 0)
		return bind_unsupported(b, "rsplit() at spaces with a maximum is not supported");
	if (max < 0)
		return s_split(b);
	if (bind_string(b, 1, &sep) || val_list(b->h, NULL, 0, &b->out))
		return -1;
	if (!sep.n)
		return bind_raise(b, EXC_ValueError, "empty separator");
	for (int64_t at; max != 0 && (at = find_at(b, s, sep, 1)) >= 0; max -= max > 0) {
		if (add_part(b, (struct str){ .p = s.p + at + (int64_t)sep.n, .n = s.n - (size_t)at - sep.n }))
			return -1;
		s.n = (size_t)at;
	}
	if (add_part(b, s))
		return -1;
	parts = b->out;
	for (size_t i = 0, n = parts.u.seq->n; i < n / 2; i++) {
		struct val t = parts.u.seq->v[i];
		parts.u.seq->v[i] = parts.u.seq->v[n - 1 - i];
		parts.u.seq->v[n - 1 - i] = t;
	}
	return 0;
}

/* Line ends of splitlines() within ASCII; "\r\n" counts as one. */
static int ends_line(char c) { return (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e); }

/* The line ends themselves are not part of the pieces. */
static int s_splitlines(struct bind *b)
{
	struct str s = self(b);
	if (only_ascii(b, s) || val_list(b->h, NULL, 0, &b->out))
		return -1;
	while (s.n) {
		size_t n = 0;
		while (n < s.n && !ends_line(s.p[n]))
			n++;
		if (host_step(b->h) || add_part(b, (struct str){ .p = s.p, .n = n }))
			return -1;
		n += n < s.n ? 1 + (s.p[n] == '\r' && n + 1 < s.n && s.p[n + 1] == '\n') : 0;
		s.p += n, s.n -= n;
	}
	return 0;
}

/* "a=b".partition("=") is ("a", "=", "b"). Without a match the text is first, or last for
 * rpartition. */
static int partition(struct bind *b, int last)
{
	struct str s = self(b), sep;
	struct val v[3];
	int64_t at;
	struct str head, tail;

	if (bind_string(b, 1, &sep))
		return -1;
	at = find_at(b, s, sep, last);
	if (b->h->fail.fatal)
		return -1;
	head = (struct str){ .p = s.p, .n = at < 0 ? (last ? 0 : s.n) : (size_t)at };
	tail = at < 0 ? (last ? s : STR("")) : (struct str){ .p = s.p + at + (int64_t)sep.n,
							     .n = s.n - (size_t)at - sep.n };
	if (val_str(b->h, head, &v[0]) || val_str(b->h, at < 0 ? STR("") : sep, &v[1]) || val_str(b->h, tail, &v[2]))
		return -1;
	return val_tuple(b->h, v, 3, &b->out);
}

static int s_partition(struct bind *b) { return partition(b, 0); }
static int s_rpartition(struct bind *b) { return partition(b, 1); }

/* sep.join(iterable of strings). */
static int s_join(struct bind *b)
{
	struct val list;
	struct buf t = BUF_INIT;
	if (host_to_list(b->h, b->a[1], &list))
		return -1;
	for (size_t i = 0; i < list.u.seq->n; i++) {
		struct val v = list.u.seq->v[i];
		if (v.kind != V_STR) {
			buf_release(&t);
			return bind_raise(b, EXC_TypeError,
					  "sequence item %zu: expected str instance, %s found", i,
					  val_type_name(b->h, v));
		}
		if (i)
			buf_addstr(&t, self(b));
		buf_addstr(&t, val_text(v));
		if (text_room(b->h, &t)) {
			buf_release(&t);
			return -1;
		}
	}
	return give(b, &t);
}

static int s_format(struct bind *b)
{
	return host_str_format(b->h, self(b), b->a[1].u.seq->v, b->a[1].u.seq->n, b->a[2], &b->out);
}

/* Is the encoding one whose bytes are those of our UTF-8 text? UTF-8 always is, ASCII and
 * Latin-1 for pure ASCII text. Others are refused. */
static int same_bytes(struct bind *b)
{
	static const char *const wholly[] = { "utf-8", "utf8", "UTF-8", "UTF8", "utf_8", NULL },
		*const ascii[] = { "ascii", "us-ascii", "latin-1", "latin1", "iso-8859-1", NULL };
	struct str name, s = self(b);
	int known = 0;

	if (bind_string(b, 1, &name))
		return -1;
	for (size_t i = 0; wholly[i]; i++)
		known |= str_is(name, wholly[i]);
	for (size_t i = 0; ascii[i]; i++)
		known |= str_is(name, ascii[i]) ? 2 : 0;
	for (size_t i = 0; known == 2 && i < s.n; i++)
		if ((unsigned char)s.p[i] > 127)
			known = 0;
	return known ? 0 : bind_unsupported(b, "this text encoding is not supported");
}

static int s_encode(struct bind *b) { return same_bytes(b) || val_bytes(b->h, self(b), &b->out) ? -1 : 0; }

/* bytes.decode(): the bytes must be valid UTF-8. */
static int by_decode(struct bind *b)
{
	if (same_bytes(b))
		return -1;
	if (!utf8_is_text(self(b)))
		return bind_unsupported(b, "decoding bytes that are not valid UTF-8 is not supported");
	return val_str(b->h, self(b), &b->out);
}

/* Tab stops every eight columns; a line end starts again at column 0. */
static int s_expandtabs(struct bind *b)
{
	struct buf t = BUF_INIT;
	struct str s = self(b);
	size_t col = 0;
	if (only_ascii(b, s))
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\t') {
			buf_pad(&t, ' ', 8 - col % 8);
			col += 8 - col % 8;
			continue;
		}
		buf_addc(&t, s.p[i]);
		col = s.p[i] == '\n' || s.p[i] == '\r' ? 0 : col + 1;
	}
	return give(b, &t);
}

/* --- int and float ---------------------------------------------------------------------------------------------- */

static int i_bit_length(struct bind *b)
{
	b->out = val_int(big_bit_length(b->a[0]));
	return 0;
}

/* The number of ones in the binary form of the absolute value. */
static int i_bit_count(struct bind *b)
{
	if (b->a[0].kind == V_BIG)
		return bind_unsupported(b, "int.bit_count() beyond 64 bits is not supported");
	b->out = val_int(__builtin_popcountll(b->a[0].u.i < 0 ? 0 - (uint64_t)b->a[0].u.i : (uint64_t)b->a[0].u.i));
	return 0;
}

/* (2.0).is_integer() is true; infinities and NaN are no integers. */
static int f_is_integer(struct bind *b)
{
	b->out = val_bool(b->a[0].kind != V_FLOAT || (isfinite(b->a[0].u.f) && b->a[0].u.f == floor(b->a[0].u.f)));
	return 0;
}

/* float.hex(): '0x1.8000000000000p+0'. All 13 hexadecimal digits are written. */
static int f_hex(struct bind *b)
{
	char t[64];
	double f = val_as_double(b->a[0]), m;
	int e = 0;

	if (!isfinite(f) || f == 0) {
		snprintf(t, sizeof t, "%s%s", signbit(f) && !isnan(f) ? "-" : "",
			 isnan(f) ? "nan" : isinf(f) ? "inf" : "0x0.0p+0");
		return val_str(b->h, str_of(t), &b->out);
	}
	m = frexp(fabs(f), &e) * 2;
	e -= 1;
	if (e < -1022) {                       /* a subnormal number: 0x0.…p-1022 */
		m = ldexp(m, e + 1022);
		e = -1022;
	}
	snprintf(t, sizeof t, "%s0x%d.%013llxp%+d", f < 0 ? "-" : "", (int)m,
		 (unsigned long long)ldexp(m - (int)m, 52), e);
	return val_str(b->h, str_of(t), &b->out);
}

/* Attributes of int that are the number itself: real, numerator, conjugate(). */
static int i_self(struct bind *b)
{
	b->out = b->a[0].kind == V_BOOL ? val_int(b->a[0].u.i) : b->a[0];
	return 0;
}

static int i_zero(struct bind *b)
{
	b->out = val_int(0);
	return 0;
}

static int i_one(struct bind *b)
{
	b->out = val_int(1);
	return 0;
}

const struct bind_row str_rows[] = {
	{ "str.lower", "self", s_lower, 0 },
	{ "str.casefold", "self", s_lower, 0 },
	{ "str.upper", "self", s_upper, 0 },
	{ "str.swapcase", "self", s_swapcase, 0 },
	{ "str.capitalize", "self", s_capitalize, 0 },
	{ "str.title", "self", s_title, 0 },
	{ "str.isdigit", "self", s_isdigit, 0 },
	{ "str.isnumeric", "self", s_isdigit, 0 },
	{ "str.isdecimal", "self", s_isdigit, 0 },
	{ "str.isalpha", "self", s_isalpha, 0 },
	{ "str.isalnum", "self", s_isalnum, 0 },
	{ "str.isspace", "self", s_isspace, 0 },
	{ "str.isupper", "self", s_isupper, 0 },
	{ "str.islower", "self", s_islower, 0 },
	{ "str.isidentifier", "self", s_isidentifier, 0 },
	{ "str.strip", "self, chars=None, /", s_strip, 0 },
	{ "str.lstrip", "self, chars=None, /", s_lstrip, 0 },
	{ "str.rstrip", "self, chars=None, /", s_rstrip, 0 },
	{ "str.ljust", "self, width, fillchar=?, /", s_ljust, 0 },
	{ "str.rjust", "self, width, fillchar=?, /", s_rjust, 0 },
	{ "str.center", "self, width, fillchar=?, /", s_center, 0 },
	{ "str.zfill", "self, width, /", s_zfill, 0 },
	{ "str.startswith", "self, prefix, /", s_startswith, 0 },
	{ "str.endswith", "self, suffix, /", s_endswith, 0 },
	{ "str.find", "self, sub, start=None, end=None, /", s_find, 0 },
	{ "str.rfind", "self, sub, start=None, end=None, /", s_rfind, 0 },
	{ "str.index", "self, sub, start=None, end=None, /", s_index, 0 },
	{ "str.count", "self, sub, /", s_count, 0 },
	{ "str.replace", "self, old, new, count=?, /", s_replace, 0 },
	{ "str.removeprefix", "self, prefix, /", s_removeprefix, 0 },
	{ "str.removesuffix", "self, suffix, /", s_removesuffix, 0 },
	{ "str.split", "self, sep=None, maxsplit=-1", s_split, 0 },
	{ "str.rsplit", "self, sep=None, maxsplit=-1", s_rsplit, 0 },
	{ "str.splitlines", "self", s_splitlines, 0 },
	{ "str.partition", "self, sep, /", s_partition, 0 },
	{ "str.rpartition", "self, sep, /", s_rpartition, 0 },
	{ "str.join", "self, iterable, /", s_join, 0 },
	{ "str.format", "self, *args, **kwargs", s_format, 0 },
	{ "str.encode", "self, encoding='utf-8', errors='strict'", s_encode, 0 },
	{ "str.expandtabs", "self", s_expandtabs, 0 },
	{ "bytes.decode", "self, encoding='utf-8', errors='strict'", by_decode, 0 },
	{ "int.bit_length", "self", i_bit_length, 0 },
	{ "int.bit_count", "self", i_bit_count, 0 },
	{ "int.conjugate", "self", i_self, 0 },
	{ "int.real", "self", i_self, BIND_PROPERTY },
	{ "int.numerator", "self", i_self, BIND_PROPERTY },
	{ "int.imag", "self", i_zero, BIND_PROPERTY },
	{ "int.denominator", "self", i_one, BIND_PROPERTY },
	{ "int.__index__", "self", i_self, 0 },
	{ "float.is_integer", "self", f_is_integer, 0 },
	{ "float.hex", "self", f_hex, 0 },
	{ NULL, NULL, NULL, 0 }
};
