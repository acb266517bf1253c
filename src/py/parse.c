/* The parser's entry point, and functions that all grammar files share: errors, nodes, lists,
 * the depth of the tree. Invariant: a tree that py_parse returns is at most PY_MAX_TREE deep,
 * so a recursive walk over it is safe. */
#include "py/tree_check.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

/* Limits of depth. One level of parser recursion makes at most TREE_PER_NESTING levels of the
 * tree, and at most CHAINS_PER_NESTING chains (a + b + c) hang below it. */
enum { PY_MAX_TREE = 3000, TREE_PER_NESTING = 16, CHAINS_PER_NESTING = 7 };

/* Facts about tokens, from token.def. `starts`: the token can begin an expression. */
const struct token_info py_tokens[TOKS] = {
#define TOK(name, str) [T_##name] = { .text = str, .starts = T_##name == T_NAME || T_##name == T_NUMBER || \
	T_##name == T_STRING || T_##name == T_LPAR || T_##name == T_LSQB || T_##name == T_LBRACE || \
	T_##name == T_ELLIPSIS || T_##name == T_TILDE },
#define BIN(name, str, precedence, o) [T_##name] = { .text = str, .prec = precedence, .op = PY_OP_##o, \
	.starts = T_##name == T_PLUS || T_##name == T_MINUS || T_##name == T_STAR },
#define AUG(name, str, o) [T_##name] = { .text = str, .op = PY_OP_##o, .is_aug = 1 },
#define CMP(name, str, o) [T_##name] = { .text = str, .op = PY_OP_##o, .is_cmp = 1 },
#define KW(name, str) [T_##name] = { .text = str, .is_kw = 1, .is_cmp = T_##name == T_IN || T_##name == T_IS || \
	T_##name == T_NOT, .starts = T_##name == T_FALSE || T_##name == T_TRUE || T_##name == T_NONE || \
	T_##name == T_NOT || T_##name == T_LAMBDA || T_##name == T_AWAIT || T_##name == T_YIELD },
#include "py/token.def"
#undef TOK
#undef BIN
#undef AUG
#undef CMP
#undef KW
};

/* --- errors ------------------------------------------------------------------------- */

/* Replaces the error. Inside an f-string the text is prefixed with "f-string". */
static void set_error(struct parser *p, struct pos at, const char *fmt, va_list ap)
{
	err_clear(&p->err);
	err_vset(&p->err, ERR_FORMAT, fmt, ap);
	if (p->lx.fragment)
		err_wrap(&p->err, "f-string");
	p->err.line = at.line;
	p->err.column = at.col + 1;
}

/* A lexical error further on, or a bracket that is never closed, is the likelier cause of a
 * grammatical error. So the rest of the text is lexed, as CPython does; an error found there
 * replaces the one that is set. */
static void lex_rest(struct parser *p)
{
	jmp_buf end;

	if (p->lx.fragment)
		return;
	p->rest_line = p->tok.start.line;
	p->now = &end;
	if (!setjmp(end))
		while (p->tok.kind != T_END)
			py_lex(p);
	p->now = &p->trap;
}

/* A grammatical error. Does not return. */
void py_fail(struct parser *p, struct pos at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_error(p, at, fmt, ap);
	va_end(ap);
	lex_rest(p);
	longjmp(p->trap, 1);
}

/* A lexical error: leaves the parser, or only lex_rest. */
void py_fail_lex(struct parser *p, struct pos at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_error(p, at, fmt, ap);
	va_end(ap);
	longjmp(*p->now, 1);
}

/* While the rest is lexed, a layout error counts only as a hint at an unclosed bracket from
 * before the grammatical error. */
void py_fail_layout(struct parser *p, struct pos at, const char *fmt, ...)
{
	va_list ap;
	int d = p->lx.depth;

	if (!p->rest_line) {
		va_start(ap, fmt);
		set_error(p, at, fmt, ap);
		va_end(ap);
	} else if (d && p->parens[d - 1].at.line < p->rest_line) {
		err_clear(&p->err);
		err_set_at(&p->err, ERR_FORMAT, p->parens[d - 1].at.line, p->parens[d - 1].at.col + 1,
			   "'%c' was never closed", p->parens[d - 1].open);
	}
	longjmp(*p->now, 1);
}

/* Out of memory, reported like any other error. */
void py_fail_nomem(struct parser *p)
{
	err_clear(&p->err);
	err_nomem(&p->err);
	longjmp(p->trap, 1);
}

/* The token does not fit the grammar here. */
void py_fail_token(struct parser *p)
{
	if (py_at(p, T_INDENT))
		py_fail_layout(p, p->tok.start, "unexpected indent");
	if (py_at(p, T_DEDENT))
		py_fail_layout(p, p->tok.start, "unexpected unindent");
	py_fail(p, p->tok.start, "invalid syntax");
}

/* Counts the recursion of the parser, whose stack is limited. */
void py_nest(struct parser *p)
{
	if (++p->nesting > PY_MAX_NESTING)
		py_fail(p, p->tok.start, "too many nested expressions or blocks");
	if (p->nesting > p->max_nesting)
		p->max_nesting = p->nesting;
}

/* --- tokens ------------------------------------------------------------------------- */

/* The next token. p->end remembers where the last real token ended. */
void py_next(struct parser *p)
{
	if (p->tok.kind > T_DEDENT)
		p->end = p->tok.end;
	py_lex(p);
}

/* Consumes the token, or fails with "invalid syntax". */
void py_expect(struct parser *p, enum py_tok kind)
{
	if (p->tok.kind != kind)
		py_fail_token(p);
	py_next(p);
}

/* The colon that begins a block; a missing one at the end of the line has its own message. */
void py_colon(struct parser *p)
{
	if (py_at(p, T_NEWLINE))
		py_fail(p, p->tok.start, "expected ':'");
	py_expect(p, T_COLON);
}

/* The NAME at p->tok, consumed. Keywords are no names. */
struct str py_identifier(struct parser *p)
{
	struct str id = { .p = p->tok.p, .n = p->tok.n };

	py_expect(p, T_NAME);
	return id;
}

/* --- nodes and lists ---------------------------------------------------------------- */

/* Bytes of a node of each kind. */
static const size_t node_sizes[PY_KINDS] = {
#define PY_NODE(name, cat, fields) [PY_##name] = offsetof(struct py_node, u) + sizeof (struct py_##name),
#include "py/ast.def"
#undef PY_NODE
};

/* A zeroed node in the arena. */
struct py_node *py_node(struct parser *p, enum py_kind kind, struct pos start)
{
	struct py_node *n = arena_zalloc(p->arena, node_sizes[kind]);

	n->kind = kind;
	n->line = start.line;
	n->col = start.col;
	return n;
}

struct py_node *py_name(struct parser *p, struct str id, struct pos start)
{
	struct py_node *n = py_node(p, PY_Name, start);

	n->u.Name.id = id;
	return py_done(p, n);
}

/* py_push when the stack has to grow. */
void py_push_slow(struct parser *p, struct py_node *n)
{
	if (vec_push(&p->stack, n))
		py_fail_nomem(p);
}

/* Takes the nodes pushed since `base` off the stack and makes a list of them. */
struct py_list py_list_end(struct parser *p, size_t base)
{
	struct py_list l = { .n = p->stack.n - base };

	if (l.n) {
		l.v = arena_alloc(p->arena, l.n * sizeof *l.v);
		memcpy(l.v, p->stack.v + base, l.n * sizeof *l.v);
	}
	p->stack.n = base;
	return l;
}

/* A list of one node. */
struct py_list py_list_of(struct parser *p, struct py_node *n)
{
	struct py_list l = { .v = arena_alloc(p->arena, sizeof *l.v), .n = 1 };

	l.v[0] = n;
	return l;
}

void py_push_id(struct parser *p, struct str id)
{
	if (vec_push(&p->ids, id))
		py_fail_nomem(p);
}

/* The same for identifiers. */
struct py_ids py_ids_end(struct parser *p, size_t base)
{
	struct py_ids out = { .n = p->ids.n - base };

	if (out.n) {
		out.v = arena_alloc(p->arena, out.n * sizeof *out.v);
		memcpy(out.v, p->ids.v + base, out.n * sizeof *out.v);
	}
	p->ids.n = base;
	return out;
}

/* --- entry -------------------------------------------------------------------------- */

/* The depth of a walk now and at most, and a node that is too deep. */
struct depth { int now, most; const struct py_node *at; };

/* py_children callback: notes the greatest depth and stops at the limit. */
static void measure(void *ctx, struct py_node *n)
{
	struct depth *d = ctx;

	if (d->now == PY_MAX_TREE) {
		d->most = PY_MAX_TREE + 1;
		d->at = n;
	} else if (d->most <= PY_MAX_TREE) {
		d->now++;
		py_children(n, measure, d);
		d->now--;
	}
}

/* Recursion and chains bound the depth from above. Only a source that could be too deep is
 * walked to find out. */
static void check_depth(struct parser *p)
{
	struct depth d = { .now = 0 };

	if ((p->max_nesting + 2) * ((size_t)p->max_chain * CHAINS_PER_NESTING + TREE_PER_NESTING) < PY_MAX_TREE)
		return;
	measure(&d, p->m->root);
	if (d.most > PY_MAX_TREE)
		py_fail(p, (struct pos){ .line = d.at->line, .col = d.at->col }, "too deeply nested");
}

/* The whole work, without error handling: load, lex, parse, check. */
static void parse_file(struct parser *p, struct str source)
{
	struct py_node *root;

	if (source.n > INT_MAX - PY_PAD)
		py_fail(p, (struct pos){ .line = 1 }, "the source is too large");
	py_source_load(p, source);
	py_names_init(p);
	py_lex(p);
	root = py_node(p, PY_Module, (struct pos){ .line = 0 });
	while (!py_at(p, T_END))
		py_statement(p);
	root->u.Module.body = py_list_end(p, 0);
	p->m->root = root;
	check_depth(p);
	if (!p->tree_only)
		py_check(p);
}

/* The one function to which errors and lack of memory come back. */
static int run(struct parser *p, struct str source)
{
	if (setjmp(p->trap)) {
		if (p->err.code == ERR_NONE)
			err_nomem(&p->err);
		return -1;
	}
	p->now = p->arena->trap = &p->trap;
	parse_file(p, source);
	p->arena->trap = NULL;
	return 0;
}

/* Allocates the parser, which is too large for the stack, and frees its scratch arrays. */
static int parse(struct py_module *m, struct str source, const char *path, size_t limit, int tree_only, struct err *e)
{
	struct parser *p = mem_zalloc(sizeof *p);
	int rc;

	*m = (struct py_module){ .path = path, .arena = { .limit = limit } };
	if (!p)
		return err_nomem(e);
	p->m = m;
	p->arena = &m->arena;
	p->tree_only = tree_only;
	rc = run(p, source);
	if (rc) {
		if (e && e->code == ERR_NONE)
			*e = p->err;
		py_release(m);
	}
	vec_free(&p->stack);
	vec_free(&p->ids);
	vec_free(&p->parts);
	mem_free(p);
	return rc;
}

int py_parse(struct py_module *m, struct str source, const char *path, size_t limit, struct err *e)
{
	return parse(m, source, path, limit, 0, e);
}

int py_parse_tree(struct py_module *m, struct str source, const char *path, size_t limit, struct err *e)
{
	return parse(m, source, path, limit, 1, e);
}

/* Frees the tree and the copy of the source. */
void py_release(struct py_module *m)
{
	arena_release(&m->arena);
	*m = (struct py_module){ .root = NULL };
}
