/* Internals of the parser: tokens, lexer state, the parser, and functions its files share.
 *
 * The parser looks one token ahead (p->tok). If the grammar needs more, the lexer state is saved
 * and restored (py_save, py_restore), which works as long as no NEWLINE is passed. Errors leave
 * by longjmp to p->trap, and so does the arena when memory runs out. So no function here returns
 * a failure, and only the scratch arrays of `struct parser` are on the heap.
 *
 * The lexed text is the parser's own copy (in the arena): UTF-8, newlines as \n, the last line
 * ended, followed by at least PY_PAD zero bytes. A zero byte is the end. */
#ifndef PY_PARSE_H
#define PY_PARSE_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include "py/ast.h"

enum { PY_PAD = 32, PY_MAX_PARENS = 200, PY_MAX_INDENTS = 100, PY_MAX_NESTING = 1000 };

enum py_tok {
#define TOK(name, text) T_##name,
#define BIN(name, text, prec, op) T_##name,
#define AUG(name, text, op) T_##name,
#define CMP(name, text, op) T_##name,
#define KW(name, text) T_##name,
#include "py/token.def"
#undef TOK
#undef BIN
#undef AUG
#undef CMP
#undef KW
	TOKS
};

struct token_info {
	const char *text;
	uint8_t prec;            /* of binary operators; 0: none */
	uint8_t op;              /* enum py_op of BIN, AUG and CMP tokens */
	uint8_t is_aug, is_cmp, is_kw;
	uint8_t starts;          /* can begin an expression */
};
extern const struct token_info py_tokens[TOKS];

struct pos { int line, col; };           /* line from 1, column from 0 */

struct token {
	enum py_tok kind;
	struct pos start, end;
	const char *p;           /* names: the interned text; else into the source */
	size_t n;
};

/* The lexer's state: all that is needed to lex again from a point. */
struct lexer {
	const char *at;
	const char *line_start;  /* start of the current line */
	int line;
	int depth;               /* open brackets */
	int indents;             /* open blocks */
	int dents;               /* pending INDENT (1) or DEDENTs (negative) */
	int bol;                 /* at the beginning of a logical line */
	int fragment;            /* inside an f-string: the end of the text is no error */
};

/* An entry of the table of interned names. */
struct name_slot {
	const char *p;           /* NULL: free */
	uint32_t n, hash;
	uint32_t kind;           /* T_NAME or a keyword */
};

struct string_part {                     /* one STRING token of a concatenation */
	const char *p;           /* first character of the body */
	size_t n;
	struct pos start;        /* of the token */
	const char *token;       /* start of the whole token, prefix included */
	uint8_t raw, bytes, fmt, u; /* prefix letters: r, b, f, u */
};

struct parser {
	struct py_module *m;
	struct arena *arena;
	struct err err;
	int tree_only;           /* py_parse_tree: skip the checks */
	jmp_buf trap;            /* errors leave py_parse here */
	jmp_buf *now;            /* target of lexical errors: trap, or lex_rest's own */
	int rest_line;           /* line of the error after which the rest is lexed; 0: none */
	struct lexer lx;
	struct token tok;
	struct pos end;          /* end of the last token that is not layout */
	int nesting, max_nesting, max_chain; /* recursion now and at most; longest chain */
	struct { char open; struct pos at; } parens[PY_MAX_PARENS]; /* open brackets and their positions */
	struct { int col, alt; } indents[PY_MAX_INDENTS]; /* open blocks: columns with tab stops of 8 and of 1 */
	struct { struct name_slot *v; uint32_t mask, n; } names;        /* hash table of interned names */
	const char *id_match, *id_case, *id_under, *id_print, *id_exec; /* interned soft keywords and such */
	struct { struct py_node **v; size_t n, cap; } stack;      /* lists under construction */
	struct { struct str *v; size_t n, cap; } ids;
	struct { struct string_part *v; size_t n, cap; } parts;
};

/* source.c: the text to lex, from the bytes of a file. */
void py_source_load(struct parser *p, struct str bytes);

/* lex.c */
void py_lex(struct parser *p);                        /* the next token into p->tok */
void py_names_init(struct parser *p);
struct name_slot *py_intern(struct parser *p, const char *s, size_t n);
/* lex_literal.c: scan one literal that begins at p->tok.p. */
const char *py_lex_number(struct parser *p, const char *s);
const char *py_lex_string(struct parser *p, const char *quote);

/* number.c, string.c, fstring.c: values of literals. */
void py_number_value(struct parser *p, struct str text, struct pos at, struct py_const *out);
struct py_node *py_parse_strings(struct parser *p);
/* Decodes the escapes of `s` to `w` and returns the end. Never writes more than it reads, so
 * `w` may be the text itself. */
char *py_unescape(struct parser *p, const char *s, const char *end, int bytes, struct pos at, char *w);
/* Appends the values of one f-string part to the list being built. */
struct fbuild { char *w, *lit; struct pos start, end; int u; };
void py_fstring_part(struct parser *p, const struct string_part *s, struct fbuild *b);
void py_fstring_flush(struct parser *p, struct fbuild *b);

/* parse.c: functions that all grammar files use. */
_Noreturn void py_fail(struct parser *p, struct pos at, const char *fmt, ...) PRINTF_LIKE(3, 4);
_Noreturn void py_fail_token(struct parser *p);       /* "invalid syntax" at p->tok */
/* From the lexer: a lexical error, and a layout error (indentation, end of the text). A layout
 * error does not replace a grammatical error that came before it. */
_Noreturn void py_fail_lex(struct parser *p, struct pos at, const char *fmt, ...) PRINTF_LIKE(3, 4);
_Noreturn void py_fail_layout(struct parser *p, struct pos at, const char *fmt, ...) PRINTF_LIKE(3, 4);
_Noreturn void py_fail_nomem(struct parser *p);
struct py_node *py_node(struct parser *p, enum py_kind kind, struct pos start);
struct py_node *py_name(struct parser *p, struct str id, struct pos start);
void py_nest(struct parser *p);                       /* counts recursion; pair with py_unnest */
void py_next(struct parser *p);
void py_expect(struct parser *p, enum py_tok kind);      /* consumes it or fails */
void py_colon(struct parser *p);                      /* the colon of a compound statement */
struct str py_identifier(struct parser *p);           /* consumes a NAME */
struct py_list py_list_end(struct parser *p, size_t base);
struct py_list py_list_of(struct parser *p, struct py_node *n);
void py_push_id(struct parser *p, struct str id);
struct py_ids py_ids_end(struct parser *p, size_t base);
void py_push_slow(struct parser *p, struct py_node *n);

static inline void py_unnest(struct parser *p) { p->nesting--; }
static inline int py_at(const struct parser *p, enum py_tok kind) { return p->tok.kind == kind; }
static inline int py_accept(struct parser *p, enum py_tok kind)
{
	if (p->tok.kind != kind)
		return 0;
	py_next(p);
	return 1;
}
static inline int py_starts_expr(const struct parser *p) { return py_tokens[p->tok.kind].starts; }
static inline struct py_node *py_done(struct parser *p, struct py_node *n)
{
	n->end_line = p->end.line;
	n->end_col = p->end.col;
	return n;
}
static inline void py_push(struct parser *p, struct py_node *n)
{
	if (p->stack.n == p->stack.cap)
		py_push_slow(p, n);
	else
		p->stack.v[p->stack.n++] = n;
}
/* A left-nested chain (a + b + c, a.b.c, elif) makes the tree deeper than the recursion that
 * built it. */
static inline void py_chain(struct parser *p, int length)
{
	if (length > p->max_chain)
		p->max_chain = length;
}

struct py_saved { struct lexer lx; struct token tok; struct pos end; };
static inline struct py_saved py_save(const struct parser *p)
{
	return (struct py_saved){ .lx = p->lx, .tok = p->tok, .end = p->end };
}
static inline void py_restore(struct parser *p, const struct py_saved *s)
{
	p->lx = s->lx;
	p->tok = s->tok;
	p->end = s->end;
}

/* parse_expr.c, parse_atom.c, parse_call.c, parse_params.c */
struct py_node *py_expression(struct parser *p);
struct py_node *py_named_expression(struct parser *p);
struct py_node *py_assignment_expression(struct parser *p);
struct py_node *py_disjunction(struct parser *p);
struct py_node *py_bitwise_or(struct parser *p);
struct py_node *py_primary(struct parser *p);
struct py_node *py_atom(struct parser *p);
struct py_node *py_star_expressions(struct parser *p);
struct py_node *py_star_named_expression(struct parser *p);
struct py_node *py_yield_or_star_expressions(struct parser *p);
struct py_node *py_yield(struct parser *p);
struct py_node *py_starred(struct parser *p, struct py_node *(*operand)(struct parser *));
struct py_node *py_call(struct parser *p, struct py_node *func, struct pos start);
struct py_node *py_subscript(struct parser *p, struct py_node *value, struct pos start);
struct py_node *py_paren_content(struct parser *p, struct pos start, enum py_tok close);
void py_arguments(struct parser *p, struct py_list *args, struct py_list *keywords, int allow_genexp, struct pos open);
struct py_list py_for_if_clauses(struct parser *p);
struct py_node *py_params(struct parser *p, enum py_tok close);

/* target.c: expressions that become targets of an assignment or del. */
enum target_use { FOR_STORE, FOR_DEL };
void py_to_target(struct parser *p, struct py_node *n, enum target_use use);
const struct py_node *py_invalid_target(const struct py_node *n, enum target_use use);
int py_is_operand(const struct py_node *n);
struct py_node *py_star_target(struct parser *p);
struct py_node *py_star_targets(struct parser *p);
const char *py_expr_name(const struct py_node *n);

/* parse_stmt.c, parse_compound.c, parse_pattern.c */
void py_statement(struct parser *p);                  /* pushes one or more statements */
void py_simple_statements(struct parser *p);
struct py_node *py_compound(struct parser *p);        /* NULL: the line is no compound statement */
struct py_list py_block(struct parser *p, const char *after, int line);
struct py_node *py_match(struct parser *p);
struct py_node *py_patterns(struct parser *p);

#endif
