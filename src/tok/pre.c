/* Cutting text into words. Owns the hand-written cutter for the pattern of Qwen2 and Llama 3.
 * The general cutter (pre_regex.c) gives the same result for that pattern; tests compare them. */
#include "base/uni.h"
#include "tok/tok_impl.h"

/* The pattern that pre_llm_next implements. %s is the repeat of \p{N}: "" or "{1,3}". */
const char pre_llm_pattern[] =
	"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}%s|"
	" ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/* C_HIGH: a byte beyond ASCII; the whole character must be looked up. */
enum { C_OTHER = UNI_OTHER, C_LETTER = UNI_LETTER, C_NUMBER = UNI_NUMBER, C_SPACE = UNI_SPACE, C_HIGH = 4 };

#define R4(x) x, x, x, x
#define R16(x) R4(x), R4(x), R4(x), R4(x)
#define R128(x) R16(x), R16(x), R16(x), R16(x), R16(x), R16(x), R16(x), R16(x)
#define LETTERS C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER, \
	C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER, \
	C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER, C_LETTER

/* The class of each ASCII character; only others need Unicode's tables. */
static const unsigned char byte_class[256] = {
	0, 0, 0, 0, 0, 0, 0, 0, 0, C_SPACE, C_SPACE, C_SPACE, C_SPACE, C_SPACE, 0, 0,   /* \t to \r */
	R16(0),
	C_SPACE, 0, 0, 0, R4(0), R4(0), R4(0),
	R4(C_NUMBER), R4(C_NUMBER), C_NUMBER, C_NUMBER, 0, 0, 0, 0, 0, 0,
	0, LETTERS, 0, 0, 0, 0, 0,
	0, LETTERS, 0, 0, 0, 0, 0,
	R128(C_HIGH),
};

/* The class of the character at p; its length goes to *k. */
static inline unsigned class_at(const unsigned char *p, size_t *k)
{
	unsigned c = byte_class[*p];

	*k = 1;
	return c == C_HIGH ? uni_class(uni_at(p, k)) : c;
}

/* The end of the run of characters of class `c` that starts at `i`. */
static inline size_t run_end(const unsigned char *p, size_t n, size_t i, unsigned c)
{
	size_t k;

	for (;;) {
		while (i < n && byte_class[p[i]] == c)
			i++;
		if (i >= n || p[i] < 0x80 || class_at(p + i, &k) != c)
			return i;
		i += k;
	}
}

static int is_newline(unsigned char c)
{
	return c == '\n' || c == '\r';
}

static unsigned char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c | 32 : c;
}

/* The length of a contraction at the apostrophe `at`: 's 't 're 've 'm 'll 'd in any case, or
 * 0. The long s (U+017F) counts as an s when case is ignored. */
static size_t contraction(const unsigned char *p, size_t n, size_t at)
{
	unsigned char a, b;

	if (at + 1 >= n)
		return 0;
	a = lower(p[at + 1]);
	b = at + 2 < n ? lower(p[at + 2]) : 0;
	if (a == 's' || a == 't' || a == 'm' || a == 'd')
		return 2;
	if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l'))
		return 3;
	return p[at + 1] == 0xC5 && at + 2 < n && p[at + 2] == 0xBF ? 3 : 0;
}

/* At most `most` digits: 1234 becomes 123 and 4 with 3. */
static size_t digits_end(const unsigned char *p, size_t n, size_t i, int most)
{
	size_t k;

	for (int d = 0; d < most && i < n && class_at(p + i, &k) == C_NUMBER; d++)
		i += k;
	return i;
}

/* A run of characters that are neither space, letter nor number, and the line ends after it. */
static size_t symbols_end(const unsigned char *p, size_t n, size_t i)
{
	i = run_end(p, n, i, C_OTHER);
	while (i < n && is_newline(p[i]))
		i++;
	return i;
}

/* The end of white space: up to its last line end if it has one. Otherwise all but the last
 * character, which belongs to the word after it. Otherwise that one character. */
static size_t spaces_end(const unsigned char *p, size_t n, size_t at)
{
	size_t i = at, k, line = 0, last = at;

	while (i < n && class_at(p + i, &k) == C_SPACE) {
		last = i;
		if (is_newline(p[i]))
			line = i + 1;
		i += k;
	}
	if (line)
		return line;
	return i == n || last == at ? i : last;
}

/* The end of the word that starts at `at`. The alternatives of the pattern in its order: a
 * contraction, letters with one other character before them, digits, symbols, spaces. */
size_t pre_llm_next(const unsigned char *p, size_t n, size_t at, int digits)
{
	size_t k, k2;
	unsigned c = class_at(p + at, &k);

	if (c == C_LETTER)
		return run_end(p, n, at + k, C_LETTER);
	if (c == C_NUMBER)
		return digits_end(p, n, at, digits);
	if (p[at] == '\'' && (k2 = contraction(p, n, at)))
		return at + k2;
	if (!is_newline(p[at]) && at + k < n) {
		unsigned next = class_at(p + at + k, &k2);

		if (next == C_LETTER)
			return run_end(p, n, at + k + k2, C_LETTER);
		if (p[at] == ' ' && next == C_OTHER)
			return symbols_end(p, n, at + k);
	}
	return c == C_SPACE ? spaces_end(p, n, at) : symbols_end(p, n, at);
}
