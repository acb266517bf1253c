/* Evaluates a template's tree. This file owns scopes and limits.
 *
 * Invariant: evaluation leaves only through jinja_render, by its end or by jinja_fail, and all its
 * memory is the arena and `out`. So an error at any depth needs no clean-up in between. */
#include <math.h>
#include <stdio.h>

#include "jinja/jinja.h"

/* Limits of a rendering: nesting, bytes of output (256 MB), and below them steps and memory (1 GB).
 * A hostile template ends at one of them instead of stopping the server. */
enum { JINJA_DEPTH = 200, JINJA_OUT_MAX = 1 << 28 };
static const int64_t JINJA_FUEL = 4 * 1000 * 1000;   /* a hundred times a long conversation */
static const size_t JINJA_MEMORY = (size_t)1 << 30;

/* Ends the rendering with an error that names the template's line. */
void jinja_fail(struct jinja *j, enum err_code code, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_set_at(j->e, code, j->line, 0, "template line %d: %s", j->line, text);
	longjmp(j->trap, 1);
}

/* Counts one level of nesting and one step. A hostile template runs out of one of them. */
void jinja_enter(struct jinja *j)
{
	if (++j->depth > JINJA_DEPTH)
		jinja_fail(j, ERR_RANGE, "nested too deeply");
	if (--j->fuel < 0)
		jinja_fail(j, ERR_RANGE, "too many steps");
}

/* Ends a level that jinja_enter counted. Fuel is not refunded: it counts steps, not depth. An error
 * skips this call, which is harmless because the rendering ends then. */
void jinja_leave(struct jinja *j)
{
	j->depth--;
}

/* --- names -------------------------------------------------------------------------------- */

/* Sets a name in the innermost scope. */
void jinja_set(struct jinja *j, struct str name, struct jv v)
{
	jv_put(j, &j->frame->vars, JV(JV_STR, s, name), v);
}

/* Looks a name up: scopes from the inside out, then global functions, else undefined. */
static struct jv name(struct jinja *j, const struct jinja_node *n)
{
	const struct jinja_func *f;

	for (struct jinja_frame *at = j->frame; at; at = at->outer) {
		const struct jv *v = jv_get(&at->vars, JV(JV_STR, s, n->name));

		if (v)
			return *v;
	}
	f = jinja_global(n->name);
	return f ? JV(JV_FUNC, func, f) : JV(JV_UNDEFINED, s, n->name);
}

/* Opens a scope; the caller puts the old one back. */
static struct jinja_frame *push_frame(struct jinja *j, struct jinja_frame *outer)
{
	struct jinja_frame *f = arena_zalloc(&j->arena, sizeof *f);

	f->outer = outer;
	return j->frame = f;
}

/* --- calls -------------------------------------------------------------------------------- */

/* Evaluates the arguments of a call, positional and by keyword. */
static void arguments(struct jinja *j, const struct jinja_node *list, struct jinja_args *a)
{
	*a = (struct jinja_args){ .n = 0 };
	for (const struct jinja_node *n = list; n; n = n->next) {
		if (a->n == JINJA_ARGS || a->nkw == JINJA_ARGS)
			jinja_fail(j, ERR_RANGE, "more than %d arguments", JINJA_ARGS);
		if (n->kind == JN_KEYWORD) {
			a->kw[a->nkw].name = n->name;
			a->kw[a->nkw++].value = jinja_eval(j, n->a);
		} else {
			a->v[a->n++] = jinja_eval(j, n);
		}
	}
}

/* Calls a built-in function after checking the number of its arguments. */
struct jv jinja_apply(struct jinja *j, const struct jinja_func *f, struct jv self, const struct jinja_args *a)
{
	if (a->n + a->nkw < f->lo || a->n > f->hi)
		jinja_fail(j, ERR_FORMAT, "'%s' does not take %d arguments", f->name, a->n + a->nkw);
	return f->run(j, self, a);
}

/* Calls a macro: its parameters get arguments, keywords or defaults, its scope is inside the global
 * one, and its output is its value. */
static struct jv call_macro(struct jinja *j, const struct jinja_node *m, const struct jinja_args *a)
{
	struct jinja_frame *caller = j->frame, *global = caller;
	struct buf *out = j->out;
	struct jv result;
	int i = 0;

	while (global->outer)
		global = global->outer;
	push_frame(j, global);
	for (const struct jinja_node *p = m->a; p; p = p->next, i++) {
		struct jv v = i < a->n ? a->v[i] : JV(JV_UNDEFINED, s, p->name);

		for (int k = 0; k < a->nkw; k++)
			if (str_eq(a->kw[k].name, p->name))
				v = a->kw[k].value;
		if (v.kind == JV_UNDEFINED && p->a)
			v = jinja_eval(j, p->a);
		jinja_set(j, p->name, v);
	}
	if (a->n > i)
		jinja_fail(j, ERR_FORMAT, "macro '%.*s' takes %d arguments", STR_ARG(m->name), i);
	j->out = jinja_text(j);
	jinja_run(j, m->b);
	result = jv_take(j, j->out);
	j->out = out;
	j->frame = caller;
	return result;
}

/* A call: a method of the value before the dot, a function, or a macro. */
static struct jv call(struct jinja *j, const struct jinja_node *n)
{
	struct jinja_args a;
	struct jv self = JV_NIL, f;
	const struct jinja_func *method = NULL;

	if (n->a->kind == JN_ATTR) {
		self = jinja_eval(j, n->a->a);
		method = jinja_method(self.kind, n->a->name);
	}
	if (method) {
		arguments(j, n->b, &a);
		return jinja_apply(j, method, self, &a);
	}
	f = jinja_eval(j, n->a);
	arguments(j, n->b, &a);
	if (f.kind == JV_FUNC)
		return jinja_apply(j, f.func, JV_NIL, &a);
	if (f.kind == JV_MACRO)
		return call_macro(j, f.macro, &a);
	if (f.kind == JV_UNDEFINED)
		jinja_fail(j, ERR_FORMAT, "'%.*s' is undefined", STR_ARG(f.s));
	jinja_fail(j, ERR_FORMAT, "'%s' cannot be called", jv_kind_name(f.kind));
}

/* value | name(...) and value is name(...): a filter or a test. */
static struct jv filter(struct jinja *j, const struct jinja_node *n)
{
	const struct jinja_func *f = n->kind == JN_FILTER ? jinja_filter(n->name) : jinja_test(n->name);
	struct jinja_args a;
	struct jv self, v;

	if (!f)
		jinja_fail(j, ERR_UNSUPPORTED, "unknown %s '%.*s'", n->kind == JN_FILTER ? "filter" :
			   "test", STR_ARG(n->name));
	self = jinja_eval(j, n->a);
	arguments(j, n->b, &a);
	v = jinja_apply(j, f, self, &a);
	return n->negated ? JV(JV_BOOL, i, !jv_truth(v)) : v;
}

/* --- attributes and loops ----------------------------------------------------------------- */

/* The number of loops around a loop. */
static int64_t loop_depth(const struct jv_loop *l)
{
	int64_t depth = 0;

	for (const struct jv_loop *o = l->outer; o; o = o->outer)
		depth++;
	return depth;
}

/* loop.index, loop.first, loop.previtem and so on. */
static struct jv loop_attribute(struct jinja *j, const struct jv_loop *l, struct str name_of)
{
	int64_t at = (int64_t)l->at, n = (int64_t)l->items->n, depth = loop_depth(l);
	const struct { const char *name; enum jv_kind kind; int64_t value; } known[] = {
		{ "index", JV_INT, at + 1 }, { "index0", JV_INT, at }, { "first", JV_BOOL, at == 0 },
		{ "last", JV_BOOL, at == n - 1 }, { "length", JV_INT, n }, { "revindex", JV_INT, n - at },
		{ "revindex0", JV_INT, n - at - 1 }, { "depth", JV_INT, depth + 1 }, { "depth0", JV_INT, depth },
	};

	for (size_t i = 0; i < COUNT_OF(known); i++)
		if (str_is(name_of, known[i].name))
			return JV(known[i].kind, i, known[i].value);
	if (str_is(name_of, "previtem"))
		return at ? l->items->v[at - 1] : JV(JV_UNDEFINED, s, name_of);
	if (str_is(name_of, "nextitem"))
		return at + 1 < n ? l->items->v[at + 1] : JV(JV_UNDEFINED, s, name_of);
	(void)j;
	return JV(JV_UNDEFINED, s, name_of);
}

/* value.name: of a loop, or an item of a dict. Of undefined it is an error, as in Jinja. */
static struct jv attribute(struct jinja *j, const struct jinja_node *n)
{
	struct jv v = jinja_eval(j, n->a);

	if (v.kind == JV_LOOP)
		return loop_attribute(j, v.loop, n->name);
	if (v.kind == JV_UNDEFINED)
		jinja_fail(j, ERR_FORMAT, "'%.*s' is undefined", STR_ARG(v.s));
	return v.kind == JV_DICT ? jv_item(j, v, JV(JV_STR, s, n->name)) : JV(JV_UNDEFINED, s, n->name);
}

/* value[a:b:c]. */
static struct jv slice(struct jinja *j, const struct jinja_node *n)
{
	struct jv v = jinja_eval(j, n->a);
	struct jv bounds[3] = { n->b ? jinja_eval(j, n->b) : JV_NIL, n->c ? jinja_eval(j, n->c) : JV_NIL,
				n->d ? jinja_eval(j, n->d) : JV_NIL };

	return jv_slice(j, v, bounds);
}

/* --- operators ---------------------------------------------------------------------------- */

/* Is it a number, or a truth value, which counts as one? */
static int is_number(struct jv v)
{
	return v.kind == JV_INT || v.kind == JV_REAL || v.kind == JV_BOOL;
}

/* A number as a double; true counts as 1.0. */
static double real_of(struct jv v)
{
	return v.kind == JV_REAL ? v.f : (double)v.i;
}

/* Joins two strings or two lists: "ab" + "c" is "abc". */
static struct jv join(struct jinja *j, struct jv a, struct jv b)
{
	struct jv l;

	if (a.kind == JV_STR) {
		size_t n = a.s.n + b.s.n;
		char *p = arena_alloc(&j->arena, n + 1);

		memcpy(p, a.s.p, a.s.n);
		memcpy(p + a.s.n, b.s.p, b.s.n);
		return JV(JV_STR, s, ((struct str){ .p = p, .n = n }));
	}
	l = jv_new_list(j, a.list->n + b.list->n);

	memcpy(l.list->v, a.list->v, a.list->n * sizeof *l.list->v);
	memcpy(l.list->v + a.list->n, b.list->v, b.list->n * sizeof *l.list->v);
	return l;
}

/* Integer arithmetic with Python's floor division and remainder. `twice` says that the operator
 * has two characters: // or **. A result that does not fit is an error. */
static struct jv int_operation(struct jinja *j, char op, int twice, int64_t x, int64_t y)
{
	int64_t r = 0;
	int bad = 0;

	if (op == '+')
		bad = ck_add64(x, y, &r);
	else if (op == '-')
		bad = ck_sub64(x, y, &r);
	else if (op == '*' && !twice)
		bad = ck_mul64(x, y, &r);
	else if (op == '*') {
		if (y < 0 || y > 64)
			jinja_fail(j, ERR_RANGE, "exponent %lld is out of range", (long long)y);
		for (r = 1; y && !bad; y--)
			bad = ck_mul64(r, x, &r);
	} else {
		if (y == 0)
			jinja_fail(j, ERR_FORMAT, "division by zero");
		if (x == INT64_MIN && y == -1)
			bad = 1;
		else if (op == '/')
			r = x / y - (x % y != 0 && (x < 0) != (y < 0));
		else
			r = x % y + (x % y != 0 && (x < 0) != (y < 0) ? y : 0);
	}
	if (bad)
		jinja_fail(j, ERR_RANGE, "the number is too large");
	return JV(JV_INT, i, r);
}

/* The same for floats. */
static struct jv real_operation(struct jinja *j, char op, int twice, double x, double y)
{
	double r;

	if ((op == '/' || op == '%') && y == 0)
		jinja_fail(j, ERR_FORMAT, "division by zero");
	r = op == '+' ? x + y : op == '-' ? x - y : op == '*' ? (twice ? pow(x, y) : x * y) :
		op == '/' ? (twice ? floor(x / y) : x / y) : x - floor(x / y) * y;
	return JV(JV_REAL, f, r);
}

/* A binary operator: concatenation of text, of lists, repetition of text, or arithmetic. */
static struct jv binary(struct jinja *j, const struct jinja_node *n)
{
	struct jv a = jinja_eval(j, n->a), b = jinja_eval(j, n->b);
	char op = n->name.p[0];
	int twice = n->name.n == 2;

	if (op == '~') {
		struct buf *text = jinja_text(j);

		jv_print(j, a, text);
		jv_print(j, b, text);
		return jv_take(j, text);
	}
	if (op == '+' && a.kind == b.kind && (a.kind == JV_STR || a.kind == JV_LIST))
		return join(j, a, b);
	if (op == '*' && a.kind == JV_STR && b.kind == JV_INT) {
		struct buf *text = jinja_text(j);

		if (b.i > 0 && a.s.n > (size_t)JINJA_OUT_MAX / (size_t)b.i)
			jinja_fail(j, ERR_RANGE, "the string is too long");
		for (int64_t i = 0; i < b.i; i++)
			buf_addstr(text, a.s);
		return jv_take(j, text);
	}
	if (!is_number(a) || !is_number(b))
		jinja_fail(j, ERR_FORMAT, "operator '%.*s' cannot be applied to '%s' and '%s'", STR_ARG(n->name),
			   jv_kind_name(a.kind), jv_kind_name(b.kind));
	if (a.kind == JV_REAL || b.kind == JV_REAL || (op == '/' && !twice))
		return real_operation(j, op, twice, real_of(a), real_of(b));
	return int_operation(j, op, twice, a.i, b.i);
}

/* One link of a chain of comparisons; `in` and `not in` are links too. */
static int compare_once(struct jinja *j, const struct jinja_node *link, struct jv a, struct jv b)
{
	char op = link->name.p[0];
	int or_equal = link->name.n == 2;

	if (op == 'i')
		return jv_contains(j, b, a) != link->negated;
	if (op == '=' || op == '!')
		return jv_equal(j, a, b) == (op == '=');
	if (op == '<')
		return or_equal ? jv_compare(j, a, b) <= 0 : jv_compare(j, a, b) < 0;
	return or_equal ? jv_compare(j, a, b) >= 0 : jv_compare(j, a, b) > 0;
}

/* a < b < c: true if every link holds; each operand is evaluated once. */
static struct jv compare(struct jinja *j, const struct jinja_node *n)
{
	struct jv left = jinja_eval(j, n->a);

	for (const struct jinja_node *link = n->b; link; link = link->next) {
		struct jv right = jinja_eval(j, link->a);

		if (!compare_once(j, link, left, right))
			return JV(JV_BOOL, i, 0);
		left = right;
	}
	return JV(JV_BOOL, i, 1);
}

/* `and` and `or` give one of their operands, as in Python. */
static struct jv logical(struct jinja *j, const struct jinja_node *n)
{
	struct jv a = jinja_eval(j, n->a);

	return jv_truth(a) == (n->kind == JN_OR) ? a : jinja_eval(j, n->b);
}

/* `not x` and `-x`. */
static struct jv negate(struct jinja *j, const struct jinja_node *n)
{
	struct jv v = jinja_eval(j, n->a);

	if (n->kind == JN_NOT)
		return JV(JV_BOOL, i, !jv_truth(v));
	if (!is_number(v) || (v.kind != JV_REAL && v.i == INT64_MIN))
		jinja_fail(j, ERR_FORMAT, "'-' cannot be applied to '%s'", jv_kind_name(v.kind));
	return v.kind == JV_REAL ? JV(JV_REAL, f, -v.f) : JV(JV_INT, i, -v.i);
}

/* a if b else c; without else the value is undefined. */
static struct jv ternary(struct jinja *j, const struct jinja_node *n)
{
	if (jv_truth(jinja_eval(j, n->b)))
		return jinja_eval(j, n->a);
	return n->c ? jinja_eval(j, n->c) : JV(JV_UNDEFINED, s, STR("the value of an if without else"));
}

/* A literal: the parser has stored its value in the node. */
static struct jv constant(struct jinja *j, const struct jinja_node *n)
{
	(void)j;
	return n->value;
}

/* [a, b, c]. */
static struct jv list_literal(struct jinja *j, const struct jinja_node *n)
{
	size_t count = 0;
	struct jv v;

	for (const struct jinja_node *i = n->a; i; i = i->next)
		count++;
	v = jv_new_list(j, count);
	count = 0;
	for (const struct jinja_node *i = n->a; i; i = i->next)
		v.list->v[count++] = jinja_eval(j, i);
	return v;
}

/* {k: v}: the nodes come in pairs. */
static struct jv dict_literal(struct jinja *j, const struct jinja_node *n)
{
	struct jv v = jv_new_dict(j);

	for (const struct jinja_node *i = n->a; i; i = i->next->next)
		jv_put(j, v.dict, jinja_eval(j, i), jinja_eval(j, i->next));
	return v;
}

/* a[b]. A missing key is undefined, not an error, so that `message["tool_calls"] is defined`
 * works. */
static struct jv item(struct jinja *j, const struct jinja_node *n)
{
	struct jv v = jinja_eval(j, n->a);

	return jv_item(j, v, jinja_eval(j, n->b));
}

/* The evaluator of each kind of expression; statements have none (run_one). */
static struct jv (*const evaluators[JINJA_KINDS])(struct jinja *j, const struct jinja_node *n) = {
	[JN_CONST] = constant, [JN_NAME] = name, [JN_LIST] = list_literal, [JN_DICT] = dict_literal,
	[JN_ATTR] = attribute, [JN_ITEM] = item, [JN_SLICE] = slice, [JN_CALL] = call, [JN_FILTER] = filter,
	[JN_TEST] = filter, [JN_NOT] = negate, [JN_NEG] = negate, [JN_AND] = logical, [JN_OR] = logical,
	[JN_TERNARY] = ternary, [JN_BINARY] = binary, [JN_COMPARE] = compare,
};

/* Evaluates an expression through the table of node kinds. */
struct jv jinja_eval(struct jinja *j, const struct jinja_node *n)
{
	struct jv v;

	j->line = n->line;
	if (!evaluators[n->kind])
		jinja_fail(j, ERR_FORMAT, "unexpected keyword argument");
	jinja_enter(j);
	v = evaluators[n->kind](j, n);
	jinja_leave(j);
	return v;
}

/* --- statements --------------------------------------------------------------------------- */

/* Assigns a value to one name, or unpacks it into several. */
static void assign(struct jinja *j, const struct jinja_node *targets, struct jv v)
{
	const struct jv_list *l;
	size_t i = 0;

	if (!targets->next) {
		jinja_set(j, targets->name, v);
		return;
	}
	l = jv_iterate(j, v);
	for (const struct jinja_node *t = targets; t; t = t->next, i++) {
		if (i >= l->n)
			jinja_fail(j, ERR_FORMAT, "not enough values to unpack");
		jinja_set(j, t->name, l->v[i]);
	}
	if (i != l->n)
		jinja_fail(j, ERR_FORMAT, "too many values to unpack");
}

/* {% set ns.name = value %}: only namespaces can be changed. */
static void set_attribute(struct jinja *j, const struct jinja_node *n)
{
	struct jinja_node target = { .kind = JN_NAME, .name = n->name, .line = n->line };
	struct jv ns = name(j, &target);

	if (ns.kind != JV_DICT || !ns.dict->is_namespace)
		jinja_fail(j, ERR_FORMAT, "'%.*s' is not a namespace", STR_ARG(n->name));
	jv_put(j, ns.dict, JV(JV_STR, s, n->a->name), jinja_eval(j, n->b));
}

/* {% set name %}...{% endset %}: the text of the block becomes the value. */
static void set_block(struct jinja *j, const struct jinja_node *n)
{
	struct buf *out = j->out, *text = jinja_text(j);

	j->out = text;
	jinja_run(j, n->b);
	j->out = out;
	assign(j, n->a, jv_take(j, text));
}

/* The items of a for that pass its condition. */
static const struct jv_list *for_items(struct jinja *j, const struct jinja_node *n)
{
	const struct jv_list *all = jv_iterate(j, jinja_eval(j, n->b));
	struct jinja_frame *outer = j->frame;
	struct jv kept;
	size_t k = 0;

	if (!n->d->a)
		return all;
	kept = jv_new_list(j, all->n);
	push_frame(j, outer);
	for (size_t i = 0; i < all->n; i++) {
		assign(j, n->a, all->v[i]);
		if (jv_truth(jinja_eval(j, n->d->a)))
			kept.list->v[k++] = all->v[i];
	}
	kept.list->n = k;
	j->frame = outer;
	return kept.list;
}

/* A for loop. Each iteration has a scope of its own, so that a `set` inside does not outlive the
 * iteration. Templates that need a value afterwards use a namespace. */
static void run_for(struct jinja *j, const struct jinja_node *n)
{
	struct jinja_frame *outer = j->frame;
	const struct jv_list *items = for_items(j, n);
	struct jv_loop *loop = arena_zalloc(&j->arena, sizeof *loop);

	*loop = (struct jv_loop){ .items = items, .outer = outer->loop };
	for (size_t i = 0; i < items->n && j->flow != JINJA_BREAK; i++) {
		struct jinja_frame *f = push_frame(j, outer);

		loop->at = i;
		f->loop = loop;
		jinja_set(j, STR("loop"), JV(JV_LOOP, loop, loop));
		assign(j, n->a, items->v[i]);
		jinja_run(j, n->c);
		if (j->flow == JINJA_CONTINUE)
			j->flow = JINJA_ON;
	}
	j->flow = JINJA_ON;
	j->frame = outer;
	if (!items->n)
		jinja_run(j, n->d->b);
}

/* Runs one statement. */
static void run_one(struct jinja *j, const struct jinja_node *n)
{
	switch (n->kind) {
	case JN_TEXT:
		buf_addstr(j->out, n->name);
		break;
	case JN_PRINT:
		jv_print(j, jinja_eval(j, n->a), j->out);
		break;
	case JN_IF:
		jinja_run(j, jv_truth(jinja_eval(j, n->a)) ? n->b : n->c);
		break;
	case JN_FOR:
		run_for(j, n);
		break;
	case JN_SET:
		assign(j, n->a, jinja_eval(j, n->b));
		break;
	case JN_SET_ATTR:
		set_attribute(j, n);
		break;
	case JN_SET_BLOCK:
		set_block(j, n);
		break;
	case JN_MACRO:
		jinja_set(j, n->name, JV(JV_MACRO, macro, n));
		break;
	case JN_BREAK:
	case JN_CONTINUE:
		j->flow = n->kind == JN_BREAK ? JINJA_BREAK : JINJA_CONTINUE;
		break;
	default:
		jinja_run(j, n->a);
	}
}

/* Runs a list of statements until its end or until break or continue sets j->flow. The loop that
 * break or continue belongs to resets j->flow. The limits on steps and output are checked at each
 * statement. */
void jinja_run(struct jinja *j, const struct jinja_node *list)
{
	jinja_enter(j);
	for (const struct jinja_node *n = list; n && j->flow == JINJA_ON; n = n->next) {
		j->line = n->line;
		if (--j->fuel < 0)
			jinja_fail(j, ERR_RANGE, "too many steps");
		run_one(j, n);
		if (j->out->failed)
			jinja_fail(j, ERR_NOMEM, "out of memory");
		if (j->out->n > JINJA_OUT_MAX)
			jinja_fail(j, ERR_RANGE, "the output is too long");
	}
	jinja_leave(j);
}

/* --- rendering ---------------------------------------------------------------------------- */

/* A buffer that lives until the rendering ends. */
struct buf *jinja_text(struct jinja *j)
{
	struct jinja_text *t = arena_zalloc(&j->arena, sizeof *t);

	t->next = j->texts;
	j->texts = t;
	return &t->b;
}

/* Frees everything that a rendering has used. */
static void release(struct jinja *j)
{
	for (struct jinja_text *t = j->texts; t; t = t->next)
		buf_release(&t->b);
	arena_release(&j->arena);
}

/* Renders a template. `prepare` sets the names that it may use. On failure *out is as it was
 * before. */
int jinja_render(struct str source, void (*prepare)(struct jinja *j, void *ctx), void *ctx,
		 struct buf *out, struct err *e)
{
	struct err why = ERR_INIT;
	struct jinja j = { .e = &why, .out = out, .fuel = JINJA_FUEL, .line = 1 };
	size_t start = out->n;

	j.arena.limit = JINJA_MEMORY;
	j.arena.trap = &j.trap;
	if (setjmp(j.trap)) {              /* jinja_fail, or the arena's memory ended */
		out->n = start;
		release(&j);
		return why.code ? err_set_at(e, why.code, why.line, 0, "%s", why.text) : err_nomem(e);
	}
	push_frame(&j, NULL);
	prepare(&j, ctx);
	jinja_run(&j, jinja_parse(&j, source));
	release(&j);
	return 0;
}
