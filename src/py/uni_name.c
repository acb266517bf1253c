/* Characters by name, for \N{...}.
 *
 * The table holds no names but 36 bits of a hash of each, in 4096 buckets. `sizes` has the size
 * of each bucket as one digit, `marks` the number of entries before every 64th bucket. Each entry
 * has four digits of hash and three of the character, base 64. So a name that does not exist is
 * mistaken for one with a chance of about one in two million; the names themselves would take 900
 * KB. */
#include "py/unicode.h"

#include "base/mem.h"

enum { BUCKETS = 4096, MARKED = 64, ENTRY = 7, LONGEST_NAME = 100 }; /* entry size and name length in bytes */

static const char sizes[] =
#include "py/uni_name_size.def"
;
static const uint16_t marks[BUCKETS / MARKED] = {
#include "py/uni_name_mark.def"
};
static const char entries[] =
#include "py/uni_name.def"
;

/* The value of a base-64 digit. */
static uint32_t digit(char c)
{
	if (c <= '9')
		return c == '+' ? 62 : c == '-' ? 63 : (uint32_t)(c - '0');
	return c <= 'Z' ? (uint32_t)(c - 'A' + 10) : (uint32_t)(c - 'a' + 36);
}

/* The value of n digits. */
static uint32_t number(const char *s, int n)
{
	uint32_t v = 0;

	while (n--)
		v = v << 6 | digit(*s++);
	return v;
}

/* FNV-1a of the name: the low bits choose the bucket, the next 24 are compared. Characters from
 * U+E0000 on are stored from 0x30000 on. */
static int32_t by_hash(struct str name)
{
	uint64_t h = 0xCBF29CE484222325u;
	uint32_t bucket, rest, before;

	for (size_t i = 0; i < name.n; i++)
		h = (h ^ (unsigned char)name.p[i]) * 0x100000001B3u;
	h ^= h >> 32;
	bucket = h & (BUCKETS - 1);
	rest = (uint32_t)(h >> 12) & 0xFFFFFF;
	before = marks[bucket / MARKED];
	for (uint32_t i = bucket / MARKED * MARKED; i < bucket; i++)
		before += digit(sizes[i]);
	for (uint32_t i = 0; i < digit(sizes[bucket]); i++) {
		const char *e = entries + (size_t)(before + i) * ENTRY;
		uint32_t c;

		if (number(e, 4) != rest)
			continue;
		c = number(e + 4, 3);
		return (int32_t)(c < 0x30000 ? c : c - 0x30000 + 0xE0000);
	}
	return -1;
}

/* CJK UNIFIED IDEOGRAPH-4E00 */
static int32_t ideograph(struct str hex)
{
	static const struct { int32_t from, to; } ranges[] = {
		{ 0x3400, 0x4DBF }, { 0x4E00, 0x9FFF }, { 0x20000, 0x2A6DF }, { 0x2A700, 0x2B738 },
		{ 0x2B740, 0x2B81D }, { 0x2B820, 0x2CEA1 }, { 0x2CEB0, 0x2EBE0 }, { 0x30000, 0x3134A },
	};
	int32_t c = 0;

	if (hex.n != 4 && hex.n != 5)
		return -1;
	for (size_t i = 0; i < hex.n; i++) {
		char d = hex.p[i];

		if (!((d >= '0' && d <= '9') || (d >= 'A' && d <= 'F')))
			return -1;
		c = c * 16 + (d <= '9' ? d - '0' : d - 'A' + 10);
	}
	for (size_t i = 0; i < COUNT_OF(ranges); i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return c;
	return -1;
}

/* The longest entry of `list` that begins *s, which is passed. The empty entry is the default. */
static int jamo(struct str *s, const char *const *list, int n)
{
	int best = -1;
	size_t length = 0;

	for (int i = 0; i < n; i++) {
		size_t k = strlen(list[i]);

		if (str_starts(*s, list[i]) && (best < 0 || k > length)) {
			best = i;
			length = k;
		}
	}
	s->p += length;
	s->n -= length;
	return best;
}

/* HANGUL SYLLABLE GAG: a leading consonant, a vowel and an optional final consonant. */
static int32_t syllable(struct str s)
{
	static const char *const l[] = {
		"G", "GG", "N", "D", "DD", "R", "M", "B", "BB", "S", "SS", "", "J", "JJ", "C", "K", "T", "P", "H",
	};
	static const char *const v[] = {
		"A", "AE", "YA", "YAE", "EO", "E", "YEO", "YE", "O", "WA", "WAE", "OE", "YO", "U", "WEO", "WE", "WI",
		"YU", "EU", "YI", "I",
	};
	static const char *const t[] = {
		"", "G", "GG", "GS", "N", "NJ", "NH", "D", "L", "LG", "LM", "LB", "LS", "LT", "LP", "LH",
		"M", "B", "BS", "S", "SS", "NG", "J", "C", "K", "T", "P", "H",
	};
	int a = jamo(&s, l, COUNT_OF(l)), b = jamo(&s, v, COUNT_OF(v)), c = jamo(&s, t, COUNT_OF(t));

	if (a < 0 || b < 0 || c < 0 || s.n)
		return -1;
	return 0xAC00 + (a * 21 + b) * 28 + c;
}

/* Names are found in any case. */
int32_t py_uni_by_name(struct str name)
{
	char upper[LONGEST_NAME];
	struct str u = { .p = upper, .n = name.n };
	static const char cjk[] = "CJK UNIFIED IDEOGRAPH-", hangul[] = "HANGUL SYLLABLE ";

	/* Names that follow a rule are found in upper case only, as in CPython. */
	if (str_starts(name, cjk))
		return ideograph((struct str){ .p = name.p + sizeof cjk - 1, .n = name.n - (sizeof cjk - 1) });
	if (str_starts(name, hangul))
		return syllable((struct str){ .p = name.p + sizeof hangul - 1, .n = name.n - (sizeof hangul - 1) });
	if (name.n >= sizeof upper)
		return -1;
	for (size_t i = 0; i < name.n; i++)
		upper[i] = name.p[i] >= 'a' && name.p[i] <= 'z' ? (char)(name.p[i] - 32) : name.p[i];
	return by_hash(u);
}
