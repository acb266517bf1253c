/* Parses templates to trees: expressions and statements. Tokens come from jinja_lex.c.
 *
 * Invariant: nesting is counted, so that a hostile template cannot use up the stack. */
#include "jinja/jinja_lex.h"

enum { JINJA_NESTING = 150 };

static struct jinja_node *expression(struct jinja_lex *x);
static struct jinja_node *statements(struct jinja_lex *x, const char *const *until);

/* A node of the present line. */
static struct jinja_node *node(struct jinja_lex *x, enum jinja_kind kind)
{
	struct jinja_node *n = arena_zalloc(&x->j->arena, sizeof *n);

	n->kind = kind;
	n->line = x->line;
	return n;
}

/* Counts one level of nesting. */
static void enter(struct jinja_lex *x)
{
	if (++x->nesting > JINJA_NESTING)
		jinja_fail(x->j, ERR_RANGE, "nested too deeply");
}

/* Appends `item` to the chain at *list. */
static void chain(struct jinja_node **list, struct jinja_node *item)
{
	while (*list)
		list = &(*list)->next;
	*list = item;
}

/* --- primaries ---------------------------------------------------------------------------- */

/* Items up to `close`; each may be `name=value`. */
static struct jinja_node *arguments(struct jinja_lex *x, const char *close)
{
	struct jinja_node *list = NULL, **tail = &list;

	while (!jinja_lex_take(x, close)) {
		struct jinja_node *value = expression(x);

		if (value->kind == JN_NAME && jinja_lex_take(x, "=")) {
			struct jinja_node *kw = node(x, JN_KEYWORD);

			kw->name = value->name;
			kw->a = expression(x);
			value = kw;
		}
		*tail = value;
		tail = &value->next;
		if (!jinja_lex_take(x, ",")) {
			jinja_lex_need(x, close);
			break;
		}
	}
	return list;
}

/* {key: value, ...}, as a chain of keys and values in turn. */
static struct jinja_node *dict_literal(struct jinja_lex *x)
{
	struct jinja_node *n = node(x, JN_DICT);      /* a: key, value, key, value, ... */

	while (!jinja_lex_take(x, "}")) {
		chain(&n->a, expression(x));
		jinja_lex_need(x, ":");
		chain(&n->a, expression(x));
		if (!jinja_lex_take(x, ",")) {
			jinja_lex_need(x, "}");
			break;
		}
	}
	return n;
}

/* A constant. */
static struct jinja_node *constant(struct jinja_lex *x, struct jv v)
{
	struct jinja_node *n = node(x, JN_CONST);

	n->value = v;
	return n;
}

/* "a" "b" is one string. */
static struct jinja_node *string(struct jinja_lex *x)
{
	struct buf *b = jinja_text(x->j);

	while (x->kind == LEX_STRING) {
		buf_addstr(b, x->text);
		jinja_lex_next(x);
	}
	return constant(x, jv_take(x->j, b));
}

/* (a) is a, (a, b) is a tuple, which is a list here. */
static struct jinja_node *parenthesis(struct jinja_lex *x)
{
	struct jinja_node *first, *tuple;

	if (jinja_lex_take(x, ")"))
		return node(x, JN_LIST);
	first = expression(x);
	if (jinja_lex_take(x, ")"))
		return first;
	jinja_lex_need(x, ",");
	tuple = node(x, JN_LIST);
	first->next = arguments(x, ")");
	tuple->a = first;
	return tuple;
}

/* A name, or true, false, none in either spelling. */
static struct jinja_node *name_or_constant(struct jinja_lex *x)
{
	static const struct { const char *name; struct jv value; } constants[] = {
		{ "true", { .kind = JV_BOOL, .i = 1 } }, { "True", { .kind = JV_BOOL, .i = 1 } },
		{ "false", { .kind = JV_BOOL } }, { "False", { .kind = JV_BOOL } },
		{ "none", { .kind = JV_NONE } }, { "None", { .kind = JV_NONE } },
	};
	struct jinja_node *n;

	for (size_t i = 0; i < COUNT_OF(constants); i++)
		if (jinja_lex_take(x, constants[i].name))
			return constant(x, constants[i].value);
	n = node(x, JN_NAME);
	n->name = x->text;
	jinja_lex_next(x);
	return n;
}

/* The smallest expression: a literal, a name, something in brackets. */
static struct jinja_node *primary(struct jinja_lex *x)
{
	struct jinja_node *n;

	if (x->kind == LEX_STRING)
		return string(x);
	if (x->kind == LEX_NUMBER) {
		n = constant(x, x->number);
		jinja_lex_next(x);
		return n;
	}
	if (x->kind == LEX_NAME)
		return name_or_constant(x);
	if (jinja_lex_take(x, "("))
		return parenthesis(x);
	if (jinja_lex_take(x, "[")) {
		n = node(x, JN_LIST);
		n->a = arguments(x, "]");
		return n;
	}
	if (jinja_lex_take(x, "{"))
		return dict_literal(x);
	jinja_lex_unexpected(x);
}

/* --- what follows a primary --------------------------------------------------------------- */

/* x[a:b:c] has a, b, c in b, c, d; each may be missing. */
static struct jinja_node *subscript(struct jinja_lex *x, struct jinja_node *of)
{
	struct jinja_node *n = node(x, JN_ITEM), *part[3] = { NULL };
	int k = 0, colons = 0;

	n->a = of;
	for (; !jinja_lex_is(x, "]"); ) {
		if (jinja_lex_take(x, ":")) {
			colons++;
			if (++k > 2)
				jinja_lex_unexpected(x);
		} else {
			if (part[k])
				jinja_lex_unexpected(x);
			part[k] = expression(x);
		}
	}
	jinja_lex_need(x, "]");
	if (!colons && !part[0])
		jinja_lex_unexpected(x);
	n->kind = colons ? JN_SLICE : JN_ITEM;
	n->b = part[0];
	n->c = part[1];
	n->d = part[2];
	return n;
}

/* Attributes, subscripts and calls that follow a primary, from left to right. */
static struct jinja_node *postfix(struct jinja_lex *x, struct jinja_node *of)
{
	for (;;) {
		struct jinja_node *n;

		if (jinja_lex_take(x, ".")) {
			n = node(x, JN_ATTR);
			n->a = of;
			if (x->kind == LEX_NUMBER) {
				n->kind = JN_ITEM;
				n->b = constant(x, x->number);
			} else if (x->kind != LEX_NAME) {
				jinja_lex_unexpected(x);
			}
			n->name = x->text;
			jinja_lex_next(x);
		} else if (jinja_lex_take(x, "[")) {
			n = subscript(x, of);
		} else if (jinja_lex_take(x, "(")) {
			n = node(x, JN_CALL);             /* a: what, b: arguments */
			n->a = of;
			n->b = arguments(x, ")");
		} else {
			return of;
		}
		of = n;
	}
}

/* Can an operand of a test begin here? `x is divisibleby 3` has one, `x is defined and y` has
 * not. */
static int starts_operand(const struct jinja_lex *x)
{
	static const char *const not_operands[] = { "else", "or", "and", "is", "if", "in", "not" };

	if (x->kind == LEX_NAME) {
		for (size_t i = 0; i < COUNT_OF(not_operands); i++)
			if (jinja_lex_is(x, not_operands[i]))
				return 0;
		return 1;
	}
	return x->kind == LEX_STRING || x->kind == LEX_NUMBER || jinja_lex_is(x, "[") || jinja_lex_is(x, "{");
}

/* value | name(args), value is [not] name(args) or name operand: a: value, b: arguments. */
static struct jinja_node *filters(struct jinja_lex *x, struct jinja_node *of)
{
	for (;;) {
		int is_filter = jinja_lex_take(x, "|");
		struct jinja_node *n;

		if (!is_filter && !jinja_lex_take(x, "is"))
			return of;
		n = node(x, is_filter ? JN_FILTER : JN_TEST);
		n->a = of;
		n->negated = !is_filter && jinja_lex_take(x, "not");
		if (x->kind != LEX_NAME)
			jinja_lex_unexpected(x);
		n->name = x->text;
		jinja_lex_next(x);
		if (jinja_lex_take(x, "("))
			n->b = arguments(x, ")");
		else if (!is_filter && starts_operand(x))
			n->b = postfix(x, primary(x));
		of = n;
	}
}

/* -x and +x, which bind tighter than filters. */
static struct jinja_node *unary(struct jinja_lex *x, int with_filters)
{
	struct jinja_node *n;

	enter(x);
	if (jinja_lex_take(x, "-")) {
		n = node(x, JN_NEG);
		n->a = unary(x, 0);
	} else if (jinja_lex_take(x, "+")) {
		n = unary(x, 0);
	} else {
		n = postfix(x, primary(x));
	}
	x->nesting--;
	return with_filters ? filters(x, n) : n;
}

/* --- operators ---------------------------------------------------------------------------- */

/* Binary operators by level, the loosest first; all group to the left. */
static const char *const levels[][5] = {
	{ "+", "-" }, { "~" }, { "*", "/", "//", "%" }, { "**" },
};

/* Binary operators of one level, with those of the next level as operands. */
static struct jinja_node *binary(struct jinja_lex *x, size_t level)
{
	struct jinja_node *left;

	if (level == COUNT_OF(levels))
		return unary(x, 1);
	left = binary(x, level + 1);
	for (size_t i = 0; i < COUNT_OF(levels[0]) && levels[level][i];) {
		struct jinja_node *n;

		if (!jinja_lex_take(x, levels[level][i])) {
			i++;
			continue;
		}
		n = node(x, JN_BINARY);
		n->name = str_of(levels[level][i]);
		n->a = left;
		n->b = binary(x, level + 1);
		left = n;
		i = 0;
	}
	return left;
}

/* a < b < c: a is the first operand, b the chain of (operator, operand) as JN_COMPARE nodes. */
static struct jinja_node *comparison(struct jinja_lex *x)
{
	static const char *const ops[] = { "==", "!=", "<=", ">=", "<", ">", "in" };
	struct jinja_node *first = binary(x, 0), *links = NULL, *n;

	for (size_t i = 0; i < COUNT_OF(ops);) {
		int negated = jinja_lex_is(x, "not") && jinja_lex_peek_is(x, "in") && jinja_lex_take(x, "not");

		if (!jinja_lex_take(x, negated ? "in" : ops[i])) {
			i++;
			continue;
		}
		n = node(x, JN_COMPARE);
		n->name = str_of(negated ? "in" : ops[i]);
		n->negated = negated;
		n->a = binary(x, 0);
		chain(&links, n);
		i = 0;
	}
	if (!links)
		return first;
	n = node(x, JN_COMPARE);
	n->a = first;
	n->b = links;
	return n;
}

/* not x, of a comparison. */
static struct jinja_node *not_test(struct jinja_lex *x)
{
	struct jinja_node *n;

	if (!jinja_lex_is(x, "not"))
		return comparison(x);
	enter(x);
	jinja_lex_next(x);
	n = node(x, JN_NOT);
	n->a = not_test(x);
	x->nesting--;
	return n;
}

/* `and` and `or`; `and` binds tighter. */
static struct jinja_node *logical(struct jinja_lex *x, int is_or)
{
	struct jinja_node *left = is_or ? logical(x, 0) : not_test(x);

	while (jinja_lex_take(x, is_or ? "or" : "and")) {
		struct jinja_node *n = node(x, is_or ? JN_OR : JN_AND);

		n->a = left;
		n->b = is_or ? logical(x, 0) : not_test(x);
		left = n;
	}
	return left;
}

/* a if b else c: a: value, b: condition, c: otherwise. */
static struct jinja_node *expression(struct jinja_lex *x)
{
	struct jinja_node *value;

	enter(x);
	value = logical(x, 1);
	while (jinja_lex_take(x, "if")) {
		struct jinja_node *n = node(x, JN_TERNARY);

		n->a = value;
		n->b = logical(x, 1);
		n->c = jinja_lex_take(x, "else") ? expression(x) : NULL;
		value = n;
	}
	x->nesting--;
	return value;
}

/* a, b is a list; `in` ends a for's targets. */
static struct jinja_node *expression_list(struct jinja_lex *x)
{
	struct jinja_node *first = expression(x), *n;

	if (!jinja_lex_is(x, ","))
		return first;
	n = node(x, JN_LIST);
	n->a = first;
	while (jinja_lex_take(x, ",") && x->kind != LEX_END_TAG)
		chain(&n->a, expression(x));
	return n;
}

/* --- statements --------------------------------------------------------------------------- */

/* One name or several, with commas, for `for` and `set`. */
static struct jinja_node *names(struct jinja_lex *x)
{
	struct jinja_node *list = NULL;
	int closed = jinja_lex_take(x, "(");

	do {
		struct jinja_node *n = node(x, JN_NAME);

		if (x->kind != LEX_NAME)
			jinja_lex_unexpected(x);
		n->name = x->text;
		jinja_lex_next(x);
		chain(&list, n);
	} while (jinja_lex_take(x, ","));
	if (closed)
		jinja_lex_need(x, ")");
	return list;
}

/* The end of the tag must be here. */
static void end_tag(struct jinja_lex *x)
{
	if (x->kind != LEX_END_TAG)
		jinja_lex_unexpected(x);
	jinja_lex_text(x);
}

/* a: condition, b: then, c: else. */
static struct jinja_node *if_statement(struct jinja_lex *x)
{
	static const char *const ends[] = { "elif", "else", "endif", NULL };
	struct jinja_node *n = node(x, JN_IF);

	n->a = expression(x);
	end_tag(x);
	n->b = statements(x, ends);
	if (jinja_lex_take(x, "elif")) {
		enter(x);
		n->c = if_statement(x);
		x->nesting--;
		return n;
	}
	if (jinja_lex_take(x, "else")) {
		end_tag(x);
		n->c = statements(x, ends + 2);
	}
	jinja_lex_need(x, "endif");
	end_tag(x);
	return n;
}

/* a: targets, b: what, c: body, d: a block of (if condition, else branch). */
static struct jinja_node *for_statement(struct jinja_lex *x)
{
	static const char *const ends[] = { "else", "endfor", NULL };
	struct jinja_node *n = node(x, JN_FOR), *more = node(x, JN_BLOCK);

	n->a = names(x);
	jinja_lex_need(x, "in");
	n->b = logical(x, 1);
	n->d = more;
	if (jinja_lex_take(x, "if"))
		more->a = expression(x);
	jinja_lex_take(x, "recursive");
	end_tag(x);
	n->c = statements(x, ends);
	if (jinja_lex_take(x, "else")) {
		end_tag(x);
		more->b = statements(x, ends + 1);
	}
	jinja_lex_need(x, "endfor");
	end_tag(x);
	return n;
}

/* a: names, b: value or body; for an attribute: name is the namespace, a its attribute. */
static struct jinja_node *set_statement(struct jinja_lex *x)
{
	static const char *const ends[] = { "endset", NULL };
	struct jinja_node *n = node(x, JN_SET);

	n->a = names(x);
	if (jinja_lex_take(x, ".")) {
		n->kind = JN_SET_ATTR;
		n->name = n->a->name;
		n->a = names(x);
	}
	if (jinja_lex_take(x, "=")) {
		n->b = expression_list(x);
		end_tag(x);
		return n;
	}
	n->kind = JN_SET_BLOCK;
	end_tag(x);
	n->b = statements(x, ends);
	jinja_lex_need(x, "endset");
	end_tag(x);
	return n;
}

/* name; a: parameters (their defaults in a), b: body. */
static struct jinja_node *macro_statement(struct jinja_lex *x)
{
	static const char *const ends[] = { "endmacro", NULL };
	struct jinja_node *n = node(x, JN_MACRO);

	if (x->kind != LEX_NAME)
		jinja_lex_unexpected(x);
	n->name = x->text;
	jinja_lex_next(x);
	jinja_lex_need(x, "(");
	while (!jinja_lex_take(x, ")")) {
		struct jinja_node *p = node(x, JN_NAME);

		if (x->kind != LEX_NAME)
			jinja_lex_unexpected(x);
		p->name = x->text;
		jinja_lex_next(x);
		if (jinja_lex_take(x, "="))
			p->a = expression(x);
		chain(&n->a, p);
		if (!jinja_lex_take(x, ",") && !jinja_lex_is(x, ")"))
			jinja_lex_unexpected(x);
	}
	end_tag(x);
	n->b = statements(x, ends);
	jinja_lex_need(x, "endmacro");
	if (x->kind == LEX_NAME)
		jinja_lex_next(x);
	end_tag(x);
	return n;
}

/* {% break %}: the extension jinja2.ext.loopcontrols, which transformers enables. */
static struct jinja_node *break_statement(struct jinja_lex *x)
{
	struct jinja_node *n = node(x, JN_BREAK);

	end_tag(x);
	return n;
}

/* {% continue %}: the next iteration of the innermost loop. */
static struct jinja_node *continue_statement(struct jinja_lex *x)
{
	struct jinja_node *n = node(x, JN_CONTINUE);

	end_tag(x);
	return n;
}

/* {% generation %}: transformers marks the assistant's turns with it. Only the text inside
 * matters. */
static struct jinja_node *generation_statement(struct jinja_lex *x)
{
	static const char *const ends[] = { "endgeneration", NULL };
	struct jinja_node *n = node(x, JN_BLOCK);

	end_tag(x);
	n->a = statements(x, ends);
	jinja_lex_need(x, "endgeneration");
	end_tag(x);
	return n;
}

static const struct { const char *name; struct jinja_node *(*parse)(struct jinja_lex *x); } tags[] = {
	{ "if", if_statement }, { "for", for_statement }, { "set", set_statement }, { "macro", macro_statement },
	{ "break", break_statement }, { "continue", continue_statement }, { "generation", generation_statement },
};

/* The statement that a tag's first word names. */
static struct jinja_node *statement(struct jinja_lex *x)
{
	for (size_t i = 0; i < COUNT_OF(tags); i++)
		if (jinja_lex_take(x, tags[i].name)) {
			struct jinja_node *n;

			enter(x);
			n = tags[i].parse(x);
			x->nesting--;
			return n;
		}
	jinja_fail(x->j, ERR_UNSUPPORTED, "unknown tag '%.*s'", STR_ARG(x->text));
}

/* Is the present token one of these words? */
static int is_one_of(const struct jinja_lex *x, const char *const *words)
{
	for (; words && *words; words++)
		if (jinja_lex_is(x, *words))
			return 1;
	return 0;
}

/* Up to a tag that begins with one of `until`, which is left for the caller. */
static struct jinja_node *statements(struct jinja_lex *x, const char *const *until)
{
	struct jinja_node *list = NULL, **tail = &list, *n;

	for (;;) {
		if (x->kind == LEX_TEXT) {
			n = node(x, JN_TEXT);
			n->name = x->text;
			jinja_lex_next(x);
		} else if (x->kind == LEX_PRINT) {
			jinja_lex_next(x);
			n = node(x, JN_PRINT);
			n->a = expression_list(x);
			end_tag(x);
		} else if (x->kind == LEX_TAG) {
			jinja_lex_next(x);
			if (is_one_of(x, until))
				return list;
			n = statement(x);
		} else if (until) {
			jinja_fail(x->j, ERR_FORMAT, "'%s' is missing", *until);
		} else {
			return list;
		}
		*tail = n;
		tail = &n->next;
	}
}

/* Parses a template into a list of statements. The tree points into `source`, so the caller keeps
 * the source until the rendering ends. */
struct jinja_node *jinja_parse(struct jinja *j, struct str source)
{
	struct jinja_lex x = { .j = j, .source = source, .line = 1 };

	/* One newline at the very end is not part of the template. */
	if (source.n && source.p[source.n - 1] == '\n')
		x.source.n--;
	jinja_lex_text(&x);
	return statements(&x, NULL);
}
