/* Tokens of a Python text: see vary_token.h. */
#include "data/vary_token.h"

#include <ctype.h>

static int is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* The end of a string that begins at s. */
static const char *string_end(const char *s, const char *end)
{
	char q = *s;
	int three = end - s >= 3 && s[1] == q && s[2] == q;

	for (s += three ? 3 : 1; s < end; s++) {
		if (*s == '\\')
			s++;
		else if (*s == q && !three)
			return s + 1;
		else if (*s == q && end - s >= 3 && s[1] == q && s[2] == q)
			return s + 3;
	}
	return end;
}

static const char *token_end(const char *s, const char *end, char *kind)
{
	const char *from = s;

	if (isdigit((unsigned char)*s)) {
		*kind = '0';
		while (s < end && (is_word(*s) || *s == '.' || ((*s == '-' || *s == '+') && (s[-1] | 32) == 'e')))
			s++;
	} else if (is_word(*s)) {
		*kind = 'n';
		while (s < end && is_word(*s))
			s++;
	} else if (*s == '"' || *s == '\'') {
		*kind = 's';
		s = string_end(s, end);
	} else if (*s == '#') {
		*kind = 'c';
		while (s < end && *s != '\n')
			s++;
	} else {
		*kind = *s++;
	}
	return MIN(MAX(s, from + 1), end);
}

int vary_tokens_split(struct str text, struct vary_tokens *out)
{
	const char *s = text.p, *end = text.p + text.n;

	out->n = 0;
	while (s < end) {
		struct vary_token t;
		const char *next = token_end(s, end, &t.kind);

		t.text = (struct str){ .p = s, .n = (size_t)(next - s) };
		if (vec_push(out, t))
			return -1;
		s = next;
	}
	return 0;
}

int vary_kind(const struct vary_tokens *t, size_t i)
{
	return i < t->n ? t->v[i].kind : 0;
}

int vary_token_is(const struct vary_tokens *t, size_t i, const char *word)
{
	return i < t->n && str_is(t->v[i].text, word);
}

int vary_begins_line(const struct vary_tokens *t, size_t i)
{
	while (i > 0 && (t->v[i - 1].kind == ' ' || t->v[i - 1].kind == '\t'))
		i--;
	return !i || t->v[i - 1].kind == '\n';
}

int vary_is_docstring(const struct vary_tokens *t, size_t i)
{
	return vary_kind(t, i) == 's' && vary_begins_line(t, i) && vary_kind(t, i + 1) == '\n';
}
