/* Added tokens: texts that are one token wherever they occur, found before the text is cut into
 * words. Among matches that start at the same position the longest counts. The search then
 * continues after it. Owns the trie and the rules on white space and word borders.
 *
 * The trie is an array of nodes. Siblings are linked by `next`, the first node of each byte is in
 * root[]. */
#include "base/uni.h"
#include "tok/tok_impl.h"

/* An empty set. `tokens` is borrowed and must outlive it. */
void added_set_init(struct added_set *s, const struct added *tokens)
{
	*s = (struct added_set){ .tokens = tokens };
	memset(s->root, 0xFF, sizeof s->root);
}

void added_set_release(struct added_set *s)
{
	vec_free(&s->nodes);
}

/* The node of `byte` in a list of siblings, or -1. */
static int32_t find_node(const struct added_set *s, int32_t list, unsigned char byte)
{
	while (list >= 0 && s->nodes.v[list].byte != byte)
		list = s->nodes.v[list].next;
	return list;
}

/* Enters one text. The bytes that tokens start with are listed as long as there are at most
 * four, which makes next_start fast. */
int added_set_add(struct added_set *s, struct str text, int32_t index)
{
	int32_t at = -1;

	if (!text.n)
		return 0;
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		int32_t head = at < 0 ? s->root[c] : s->nodes.v[at].child, found = find_node(s, head, c);

		if (found < 0) {
			if (vec_push(&s->nodes, ((struct added_node){ .child = -1, .next = head, .id = -1,
								      .byte = c })))
				return -1;
			found = (int32_t)s->nodes.n - 1;
			if (at < 0) {
				s->root[c] = found;
				if (s->nstarts < (int)sizeof s->starts)
					s->starts[s->nstarts] = c;
				s->nstarts++;
			} else {
				s->nodes.v[at].child = found;
			}
		}
		at = found;
	}
	s->nodes.v[at].id = index;
	return 0;
}

/* The next index from `i` on whose byte begins some token. With one start byte ('<' in most
 * models) this is a memchr. */
static size_t next_start(const struct added_set *s, struct str text, size_t i)
{
	if (s->nstarts == 1) {
		const char *p = memchr(text.p + i, s->starts[0], text.n - i);

		return p ? (size_t)(p - text.p) : text.n;
	}
	while (i < text.n && s->root[(unsigned char)text.p[i]] < 0)
		i++;
	return i;
}

/* Finds the longest token that starts at i. Returns 1 and the token in *m, or 0 if no token starts
 * there. */
static int longest_at(const struct added_set *s, struct str text, size_t i, struct added_match *m)
{
	int32_t at = s->root[(unsigned char)text.p[i]];
	int found = 0;

	for (size_t k = i; at >= 0;) {
		k++;
		if (s->nodes.v[at].id >= 0) {
			*m = (struct added_match){ .a = i, .b = k, .token = s->nodes.v[at].id };
			found = 1;
		}
		if (k == text.n)
			break;
		at = find_node(s, s->nodes.v[at].child, (unsigned char)text.p[k]);
	}
	return found;
}

/* Is the character at i a word character (Rust's \w)? Few tokens ask, so the pattern is
 * compiled when it is needed. Returns 1, 0, or -1 if memory ran out. */
static int is_word_at(struct str text, size_t i)
{
	int code, found = -1;
	pcre2_code *re = re_compile(STR("\\G[\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}"
					"\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}\\x{200C}\\x{200D}]"), &code);
	pcre2_match_data *md = re_match_data();

	if (re && md) {
		code = pcre2_match(re, (PCRE2_SPTR)text.p, text.n, i, PCRE2_NO_UTF_CHECK, md, NULL);
		found = code > 0 ? 1 : code == PCRE2_ERROR_NOMATCH ? 0 : -1;
	}
	pcre2_match_data_free(md);
	pcre2_code_free(re);
	return found;
}

/* The start of the character before i. */
static size_t char_before(struct str text, size_t i)
{
	do
		i--;
	while (i && ((unsigned char)text.p[i] & 0xC0) == 0x80);
	return i;
}

/* Is the character at i white space? *k: its length in bytes. */
static int is_space_at(struct str text, size_t i, size_t *k)
{
	return uni_class(uni_at((const unsigned char *)text.p + i, k)) == UNI_SPACE;
}

/* Does no word continue at either side of the match? Returns 1, 0, or -1 if memory ran out. */
static int borders_ok(struct str text, const struct added_match *m)
{
	int left = m->a ? is_word_at(text, char_before(text, m->a)) : 0;
	int right = m->b < text.n ? is_word_at(text, m->b) : 0;

	return left < 0 || right < 0 ? -1 : !left && !right;
}

/* See tok_impl.h. *scan remembers how far the text was searched, so that a text is scanned only
 * once. */
int added_next(const struct added_set *s, struct str text, size_t from, size_t *scan, int plain,
	       struct added_match *m)
{
	if (!s->nodes.n)
		return 0;
	for (size_t i = *scan; (i = next_start(s, text, i)) < text.n;) {
		const struct added *t;
		size_t k;

		if (!longest_at(s, text, i, m)) {
			i++;
			continue;
		}
		*scan = i = m->b;
		t = &s->tokens[m->token];
		if (plain && t->special)
			continue;
		if (t->single_word) {
			int ok = borders_ok(text, m);

			if (ok < 0)
				return -1;
			if (!ok)
				continue;
		}
		while (t->lstrip && m->a > from && is_space_at(text, char_before(text, m->a), &k))
			m->a = char_before(text, m->a);
		while (t->rstrip && m->b < text.n && is_space_at(text, m->b, &k))
			m->b += k;
		return 1;
	}
	*scan = text.n;
	return 0;
}
