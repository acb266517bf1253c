/* The tokens of a Python text for vary.c: names, numbers, strings with their quotes, comments, and other
 * characters one by one. There is no tree, because a variant that lost its meaning is drawn again. */
#ifndef DATA_VARY_TOKEN_H
#define DATA_VARY_TOKEN_H

#include "base/mem.h"
#include "base/str.h"

/* Its kind: n name, 0 number, s string, c comment, else the character. */
struct vary_token { struct str text; char kind; };

struct vary_tokens { struct vary_token *v; size_t n, cap; };

/* Replaces the tokens of `out`; -1 if memory is short. */
int vary_tokens_split(struct str text, struct vary_tokens *out);
/* The kind of token i; 0 after the last one. */
int vary_kind(const struct vary_tokens *t, size_t i);
int vary_token_is(const struct vary_tokens *t, size_t i, const char *word);
/* Whether the line of token i begins with it, apart from blanks. */
int vary_begins_line(const struct vary_tokens *t, size_t i);
/* Whether the token is a string on a line of its own: a docstring. */
int vary_is_docstring(const struct vary_tokens *t, size_t i);

#endif
