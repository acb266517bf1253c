/* The statements of Model.forward as text: split so that every statement makes one call, cut into ranges, and
 * put back into the module. */
#ifndef WRITE_BODY_H
#define WRITE_BODY_H

#include "data/edit.h"
#include "py/ast.h"

enum { BODY_NAMES = 48 };

/* Variables of forward that a range of statements reads or leaves. */
struct body_names { struct str v[BODY_NAMES]; int n; int too_many; };

struct body {
	struct py_module m;
	struct edits at;              /* offsets of lines; no edit is applied */
	const struct py_node *class, *forward;
	size_t first, n;              /* first statement after a docstring; number of statements after it */
};

/* Parses a module. Returns 1 if its forward has no form that can be cut: other arguments than names, a return
 * in the middle. */
int body_open(struct body *b, struct str source, struct err *e);
void body_close(struct body *b);
/* Appends the source with one call moved out of a larger expression: y = f(g(x)) becomes t = (g(x)); y = f(t).
 * Returns 1 if no call is left to move. */
int body_split(const struct body *b, int number, struct buf *out);
/* Appends the source with another forward: its arguments after self, and the lines of its body. */
void body_replace(const struct body *b, struct str arguments, struct str text, struct buf *out);
/* Appends statement i, at its indentation. */
void body_statement(const struct body *b, size_t i, struct buf *out);
int body_indent(const struct body *b);
/* The variables that statements from i on read, of those that exist before i. */
void body_live(const struct body *b, size_t i, struct body_names *out);
void names_text(const struct body_names *n, struct buf *out);
int names_have(const struct body_names *n, struct str name);
/* The variables that statements [from, to) read and that exist before them. */
void body_reads(const struct body *b, size_t from, size_t to, struct body_names *out);
/* Those that the statements set and later ones read. */
void body_sets(const struct body *b, size_t from, size_t to, struct body_names *out);

#endif
