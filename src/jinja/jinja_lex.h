/* Tokens of a template: text, the two kinds of tags, and the tokens inside tags. */
#ifndef JINJA_JINJA_LEX_H
#define JINJA_JINJA_LEX_H

#include "jinja/jinja.h"

enum lex_kind { LEX_EOF, LEX_TEXT, LEX_PRINT, LEX_TAG, LEX_END_TAG, LEX_NAME, LEX_STRING, LEX_NUMBER, LEX_OP };

struct jinja_lex {
	struct jinja *j;
	struct str source;
	size_t at;
	int line;
	int in_tag;                /* 0 outside, else the closing character: '}' or '%' */
	int trim_next;             /* the tag just closed: '-' white space, '\n' one newline, 0 nothing */
	int braces;                /* open { inside the tag: their } is not the tag's */
	int nesting;
	/* the token at hand */
	enum lex_kind kind;
	struct str text;           /* of text, names, operators, strings with escapes resolved */
	struct jv number;
};

void jinja_lex_next(struct jinja_lex *x);
void jinja_lex_text(struct jinja_lex *x);                /* after the end of a tag: on with text */
int jinja_lex_is(const struct jinja_lex *x, const char *word);
int jinja_lex_take(struct jinja_lex *x, const char *word);   /* next if it is; says whether it was */
void jinja_lex_need(struct jinja_lex *x, const char *word);
int jinja_lex_peek_is(const struct jinja_lex *x, const char *name);   /* the name after this token */
_Noreturn void jinja_lex_unexpected(struct jinja_lex *x);

#endif
