/* Names of variants: see vary_name.h. A name that is used in a way that tokens do not explain (its text in
 * a string, a member of something other than self) keeps its text. */
#include "data/vary_name.h"

#include <ctype.h>
#include <stdio.h>

/* --- roles ----------------------------------------------------------------------------------------- */

/* " = " follows: the module assigns the name. Keyword arguments have no blanks. */
static int is_assigned(const struct vary_tokens *t, size_t i)
{
	return vary_kind(t, i + 1) == ' ' && vary_kind(t, i + 2) == '=' && vary_kind(t, i + 3) == ' ';
}

static int follows_self(const struct vary_tokens *t, size_t i)
{
	return i >= 2 && t->v[i - 1].kind == '.' && vary_token_is(t, i - 2, "self");
}

static int is_keyword_argument(const struct vary_tokens *t, size_t i)
{
	return vary_kind(t, i + 1) == '=' && vary_kind(t, i + 2) != '=';
}

/* The name before the bracket around token i: what is called or defined there; t->n: nothing. */
static size_t callee_of(const struct vary_tokens *t, size_t i)
{
	int depth = 0;

	while (i-- > 0) {
		char k = t->v[i].kind;

		if (k == ')' || k == ']' || k == '}')
			depth++;
		else if ((k == '(' || k == '[' || k == '{') && depth-- == 0)
			return k == '(' && i && t->v[i - 1].kind == 'n' ? i - 1 : t->n;
	}
	return t->n;
}

static int is_defined_at(const struct vary_tokens *t, size_t i)
{
	return i >= 2 && (vary_token_is(t, i - 2, "def") || vary_token_is(t, i - 2, "class"));
}

/* "name" of "def f(name, other=1)". */
static int is_parameter(const struct vary_tokens *t, size_t i)
{
	size_t before = i, f;

	while (before > 0 && (t->v[before - 1].kind == ' ' || t->v[before - 1].kind == '\n' ||
			      t->v[before - 1].kind == '*'))
		before--;
	if (!before || (t->v[before - 1].kind != '(' && t->v[before - 1].kind != ','))
		return 0;
	f = callee_of(t, i);
	return f < t->n && f >= 2 && vary_token_is(t, f - 2, "def");
}

static enum vary_role role_at(const struct vary_tokens *t, size_t i)
{
	static const char *const fixed[] = { "Model", "self", "cls", "forward", "get_inputs", "get_init_inputs",
					     "torch", "nn", "F", "np", "math" };

	if (t->v[i].kind != 'n' || t->v[i].text.p[0] == '_')
		return VARY_NONE;
	for (size_t k = 0; k < COUNT_OF(fixed); k++)
		if (str_is(t->v[i].text, fixed[k]))
			return VARY_NONE;
	if (follows_self(t, i))
		return is_assigned(t, i) ? VARY_ATTRIBUTE : VARY_NONE;
	if (is_defined_at(t, i))
		return vary_token_is(t, i - 2, "class") ? VARY_CLASS : VARY_LOCAL;
	if (i >= 2 && vary_token_is(t, i - 2, "for"))
		return VARY_LOCAL;
	return (vary_begins_line(t, i) && is_assigned(t, i)) || is_parameter(t, i) ? VARY_LOCAL : VARY_NONE;
}

/* Whether another use of the word forbids to rename it. */
static int is_fixed(const struct vary_tokens *t, struct str word)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->v[i].kind == 's' && !vary_is_docstring(t, i) && str_find(t->v[i].text, word) >= 0)
			return 1;
		if (t->v[i].kind == 'n' && i && t->v[i - 1].kind == '.' && !follows_self(t, i) &&
		    str_eq(t->v[i].text, word))
			return 1;
	}
	return 0;
}

static int has_word(const struct vary_tokens *t, struct str word)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].kind == 'n' && str_eq(t->v[i].text, word))
			return 1;
	return 0;
}

/* --- words ------------------------------------------------------------------------------------------ */

int vary_words_add(struct vary_words *w, const struct vary_tokens *t)
{
	for (size_t i = 0; i < t->n; i++) {
		enum vary_role role = role_at(t, i);

		if (role && t->v[i].text.n > 1 && t->v[i].text.n < 32 && vec_push(&w->list[role], t->v[i].text))
			return -1;
	}
	return 0;
}

void vary_words_release(struct vary_words *w)
{
	for (int role = 0; role < VARY_ROLES; role++)
		vec_free(&w->list[role]);
}

/* Appends a part of a word: of a name of the set, or of syllables. */
static void add_part(const struct vary_words *w, enum vary_role role, struct buf *out, struct rng *rng)
{
	static const char consonants[] = "bcdfghklmnprstvwxz", vowels[] = "aeiou";
	struct str s;
	size_t from = 0, n;

	if (!w->list[role].n || rng_below(rng, 3) == 0) {
		for (n = rng_below(rng, 3) + 1; n; n--) {
			buf_addc(out, consonants[rng_below(rng, sizeof consonants - 1)]);
			buf_addc(out, vowels[rng_below(rng, sizeof vowels - 1)]);
			if (rng_below(rng, 3) == 0)
				buf_addc(out, consonants[rng_below(rng, sizeof consonants - 1)]);
		}
		return;
	}
	s = w->list[role].v[rng_below(rng, w->list[role].n)];
	while (from < s.n && (s.p[from] == '_' || isdigit((unsigned char)s.p[from])))
		from++;
	for (n = from; n < s.n && s.p[n] != '_' && (n == from || !isupper((unsigned char)s.p[n])); n++)
		;
	if (n > from + 4 && rng_below(rng, 3) == 0)
		n = from + 2 + rng_below(rng, 3);            /* an abbreviation */
	for (; from < n; from++)
		buf_addc(out, (char)tolower((unsigned char)s.p[from]));
}

/* A name of one to three parts: conv_gate, convGate, ConvGate for a class, gate2. */
static void invent(const struct vary_words *w, enum vary_role role, struct buf *out, struct rng *rng)
{
	int parts = 1 + (int)rng_below(rng, 3), camel = role == VARY_CLASS || rng_below(rng, 4) == 0;

	buf_clear(out);
	for (int k = 0; k < parts; k++) {
		size_t at = out->n;

		if (k && !camel)
			buf_addc(out, '_'), at++;
		add_part(w, role, out, rng);
		if (at < out->n && camel && (k || role == VARY_CLASS))
			out->p[at] = (char)toupper((unsigned char)out->p[at]);
	}
	if (rng_below(rng, 6) == 0)
		buf_addf(out, "%d", (int)rng_below(rng, 10));
}

static int is_name(struct str s)
{
	static const char *const taken[] = { "as", "if", "in", "is", "or", "and", "def", "del", "for", "not", "try",
					     "from", "else", "elif", "pass", "with", "class", "break", "raise", "while",
					     "yield",
					     "global", "lambda", "return", "import", "except", "assert", "finally",
					     "continue", "nonlocal", "async", "await", "None", "True", "False", "tl" };

	for (size_t k = 0; k < COUNT_OF(taken); k++)
		if (str_is(s, taken[k]))
			return 0;
	return s.n > 0 && s.n < VARY_NAME_BYTES && !isdigit((unsigned char)s.p[0]);
}

static void draw_name(const struct vary_words *w, enum vary_role role, struct buf *out, struct rng *rng)
{
	do {
		buf_clear(out);
		if (w->list[role].n && rng_below(rng, 2))
			buf_addstr(out, w->list[role].v[rng_below(rng, w->list[role].n)]);
		else
			invent(w, role, out, rng);
	} while (!out->failed && !is_name(buf_str(out)));
}

void vary_name_new(const struct vary_words *w, enum vary_role role, struct str text, char out[VARY_NAME_BYTES],
		   struct rng *rng)
{
	struct buf name = BUF_INIT;

	do
		draw_name(w, role, &name, rng);
	while (str_find(text, buf_str(&name)) >= 0 && !name.failed);
	snprintf(out, VARY_NAME_BYTES, "%s", buf_cstr(&name));
	buf_release(&name);
}

/* --- renaming ----------------------------------------------------------------------------------------- */

static const struct vary_rename *find_rename(const struct vary_renames *r, struct str word)
{
	for (int i = 0; i < r->n; i++)
		if (str_eq(r->v[i].from, word))
			return &r->v[i];
	return NULL;
}

static int is_taken(const struct vary_renames *r, struct str word)
{
	for (int i = 0; i < r->n; i++)
		if (str_is(word, r->v[i].to))
			return 1;
	return 0;
}

void vary_names_draw(const struct vary_words *w, const struct vary_tokens *t, double share, struct vary_renames *r,
		     struct rng *rng)
{
	struct buf name = BUF_INIT;

	r->n = 0;
	for (size_t i = 0; i < t->n && r->n < VARY_NAMES; i++) {
		enum vary_role role = role_at(t, i);

		if (!role || rng_f64(rng) >= share || find_rename(r, t->v[i].text) || is_fixed(t, t->v[i].text))
			continue;
		draw_name(w, role, &name, rng);
		if (name.failed || has_word(t, buf_str(&name)) || is_taken(r, buf_str(&name)))
			continue;
		r->v[r->n].from = t->v[i].text;
		snprintf(r->v[r->n++].to, VARY_NAME_BYTES, "%s", buf_cstr(&name));
	}
	buf_release(&name);
}

/* Whether the module itself defines what is called with this keyword. */
static int is_own_keyword(const struct vary_tokens *t, size_t i)
{
	size_t f = callee_of(t, i);

	if (f == t->n)
		return 1;                /* no call */
	if (follows_self(t, f) || vary_token_is(t, f, "__init__"))
		return 1;
	for (size_t k = 2; k < t->n; k++)
		if (is_defined_at(t, k) && str_eq(t->v[k].text, t->v[f].text))
			return 1;
	return 0;
}

const char *vary_name_of(const struct vary_renames *r, const struct vary_tokens *t, size_t i)
{
	const struct vary_rename *found = t->v[i].kind == 'n' ? find_rename(r, t->v[i].text) : NULL;

	if (!found || (is_keyword_argument(t, i) && !is_own_keyword(t, i)))
		return NULL;
	return found->to;
}
