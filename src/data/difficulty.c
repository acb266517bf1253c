/* The difficulty of a task: a walk over the syntax tree of Model.forward that counts operators.
 * difficulty.h is the manual. The walk follows the text and runs nothing: a branch counts as
 * taken, a loop's body counts once. Depth and work are bounded, so that any program gets a
 * label. */
#include "data/difficulty.h"

#include <ctype.h>
#include <stdio.h>

#include "base/mem.h"
#include "data/module.h"
#include "data/spelling.h"

/* The meaning of a torch name for difficulty: an anchor (a product, a convolution), a whole network
 * (an LSTM), a plain operator, or something without cost (a view). */
enum op_class { OP_NONE, OP_ANCHOR, OP_NETWORK, OP_CALL, OP_FREE };

static const struct { const char *name; enum op_class class; } ops[] = {
#define OP(name, class) { #name, OP_##class },
#include "data/torch_op.def"
#undef OP
};

/* Limits of the walk: nested calls, and nodes in all. */
enum { DEPTH_MOST = 12, WORK_MOST = 20000 };

/* The state of one walk. */
struct study {
	struct difficulty *d;
	const struct py_module *m;
	const struct py_node *class;        /* the class of the method being read */
	const struct py_node *maker;        /* the function that makes modules: its locals may name them */
	int depth, work;
	size_t used;                        /* of d->names */
	struct op_spelling spelling;
};

/* --- names -------------------------------------------------------------------------------- */

/* The name in lower case without '_', at most 39 characters: "leaky_relu" and "LeakyReLU" become
 * one. */
static size_t plain_name(struct str s, char out[40])
{
	size_t n = 0;

	for (size_t i = 0; i < s.n && n < 39; i++)
		if (s.p[i] != '_')
			out[n++] = (char)tolower((unsigned char)s.p[i]);
	out[n] = 0;
	return n;
}

/* The class of an operator's plain name ("conv2d", "relu"), or OP_NONE if the name is no
 * operator. */
static enum op_class class_of(const char *plain)
{
	for (size_t i = 0; i < COUNT_OF(ops); i++)
		if (!strcmp(ops[i].name, plain))
			return ops[i].class;
	return OP_NONE;
}

/* Appends an operator to the list of names; a list that is full ends with "...". */
static void add_name(struct study *s, const char *name)
{
	size_t n = strlen(name), room = sizeof s->d->names - s->used;

	spelling_add(&s->spelling, name);
	if (room < 8)
		return;
	if (n + 8 > room)
		name = "...";
	s->used += (size_t)snprintf(s->d->names + s->used, room, "%s%s", s->used ? "," : "", name);
	if (n + 8 > room)
		s->used = sizeof s->d->names;
}

/* Counts an operator by its name; names that the table does not know count for nothing. */
static void add_op(struct study *s, struct str name)
{
	char plain[40];
	enum op_class c;

	plain_name(name, plain);
	c = class_of(plain);
	s->d->anchors += c == OP_ANCHOR;
	s->d->networks += c == OP_NETWORK;
	s->d->calls += c == OP_CALL;
	if (c != OP_NONE && c != OP_FREE)
		add_name(s, plain);
}

/* Is the node self.NAME? */
static int is_self(const struct py_node *n)
{
	return n->kind == PY_Attribute && n->u.Attribute.value->kind == PY_Name &&
		str_is(n->u.Attribute.value->u.Name.id, "self");
}

/* The expression that a body assigns to self.NAME last, in branches too; NULL if no statement
 * does. */
static const struct py_node *member_in(const struct py_list *body, struct str name, int depth)
{
	const struct py_node *found = NULL;

	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *n = body->v[i], *in = NULL;

		if (n->kind == PY_Assign && is_self(n->u.Assign.targets.v[0]) &&
		    str_eq(n->u.Assign.targets.v[0]->u.Attribute.attr, name))
			found = n->u.Assign.value;
		if (n->kind == PY_If && depth < DEPTH_MOST) {
			in = member_in(&n->u.If.body, name, depth + 1);
			in = in ? in : member_in(&n->u.If.orelse, name, depth + 1);
		}
		found = in ? in : found;
	}
	return found;
}

/* The expression that __init__ assigns to self.NAME, or NULL. */
static const struct py_node *find_member(const struct study *s, struct str name)
{
	const struct py_node *init = s->class ? module_method(s->m, s->class, STR("__init__")) : NULL;

	return init ? member_in(&init->u.FunctionDef.body, name, 0) : NULL;
}

/* --- what is applied ---------------------------------------------------------------------- */

static void read_node(void *ctx, struct py_node *n);

/* Reads the statements of a body in order. */
static void read_body(struct study *s, const struct py_list *body)
{
	for (size_t i = 0; i < body->n; i++)
		read_node(s, body->v[i]);
}

/* Reads the forward method of a class as if it were called. */
static void read_class(struct study *s, const struct py_node *class)
{
	const struct py_node *before = s->class, *f = module_method(s->m, class, STR("forward"));

	if (!f || s->depth == DEPTH_MOST)
		return;
	s->depth++;
	s->class = class;
	read_body(s, &f->u.FunctionDef.body);
	s->class = before;
	s->depth--;
}

static void apply_module(struct study *s, const struct py_node *made);

/* A function that builds a module: the value of its last return is applied, with its own local
 * names. */
static void apply_maker(struct study *s, const struct py_node *f)
{
	const struct py_list *body = &f->u.FunctionDef.body;
	const struct py_node *before = s->maker, *last = body->n ? body->v[body->n - 1] : NULL;

	s->maker = f;
	if (last && last->kind == PY_Return && last->u.Return.value)
		apply_module(s, last->u.Return.value);
	s->maker = before;
}

/* A local list of layers, such as `layers = []` with `layers.append(nn.ReLU())` in a loop:
 * everything that is assigned or added to the name is applied. */
static void apply_local(struct study *s, const struct py_list *body, struct str name, int depth)
{
	for (size_t i = 0; i < body->n && depth < DEPTH_MOST; i++) {
		const struct py_node *n = body->v[i];
		const struct py_node *call = n->kind == PY_Expr && n->u.Expr.value->kind == PY_Call ?
			n->u.Expr.value : NULL;
		const struct py_node *f = call ? call->u.Call.func : NULL;

		if (n->kind == PY_Assign && n->u.Assign.targets.v[0]->kind == PY_Name &&
		    str_eq(n->u.Assign.targets.v[0]->u.Name.id, name))
			apply_module(s, n->u.Assign.value);
		else if (n->kind == PY_AugAssign && n->u.AugAssign.target->kind == PY_Name &&
			 str_eq(n->u.AugAssign.target->u.Name.id, name))
			apply_module(s, n->u.AugAssign.value);
		else if (f && f->kind == PY_Attribute && call->u.Call.args.n &&
			 str_eq(module_last_name(f->u.Attribute.value), name))
			apply_module(s, call->u.Call.args.v[0]);
		if (n->kind == PY_For)
			s->d->loops++, apply_local(s, &n->u.For.body, name, depth + 1);
		else if (n->kind == PY_If)
			apply_local(s, &n->u.If.body, name, depth + 1);
	}
}

/* A call that makes a module: of a class in this file, of a method or function that returns a
 * module, of a container, or of torch itself. */
static void apply_made(struct study *s, const struct py_Call *c)
{
	struct str name = module_last_name(c->func);
	const struct py_node *class = module_class(s->m, name), *f = NULL;

	if (is_self(c->func))
		f = s->class ? module_method(s->m, s->class, name) : NULL;
	else if (c->func->kind == PY_Name && !class)
		f = module_function(s->m, name);
	for (size_t i = 0; !f && !class && s->maker && c->func->kind == PY_Name &&
	     i < s->maker->u.FunctionDef.body.n; i++) {
		const struct py_node *local = s->maker->u.FunctionDef.body.v[i];

		if (local->kind == PY_FunctionDef && str_eq(local->u.FunctionDef.name, name))
			f = local;
	}
	if (f) {
		apply_maker(s, f);
	} else if (class) {
		s->d->blocks++;
		read_class(s, class);
	} else if (str_is(name, "Sequential") || str_is(name, "ModuleList")) {
		s->d->loops += str_is(name, "ModuleList");
		for (size_t i = 0; i < c->args.n; i++)
			apply_module(s, c->args.v[i]);
	} else {
		add_op(s, name);
	}
}

/* Applies a module, given the expression that made it: `self.net = nn.Sequential(*layers)` applies
 * each layer. */
static void apply_module(struct study *s, const struct py_node *made)
{
	if (++s->work > WORK_MOST || s->depth == DEPTH_MOST)
		return;
	s->depth++;
	if (made->kind == PY_Starred)
		made = made->u.Starred.value;
	if (made->kind == PY_IfExp)
		made = made->u.IfExp.body;
	if (made->kind == PY_ListComp || made->kind == PY_GeneratorExp) {
		s->d->loops++;
		apply_module(s, made->kind == PY_ListComp ? made->u.ListComp.elt : made->u.GeneratorExp.elt);
	} else if (made->kind == PY_List) {
		for (size_t i = 0; i < made->u.List.elts.n; i++)
			apply_module(s, made->u.List.elts.v[i]);
	} else if (made->kind == PY_Name && s->maker) {
		apply_local(s, &s->maker->u.FunctionDef.body, made->u.Name.id, 0);
	} else if (made->kind == PY_Call) {
		apply_made(s, &made->u.Call);
	}
	s->depth--;
}

/* self.NAME(...): applies the member module, or reads the method. Returns 1 if it was one of
 * them. */
static int apply_member(struct study *s, struct str name)
{
	const struct py_node *made = find_member(s, name), *before = s->maker, *f;

	if (made) {
		s->maker = module_method(s->m, s->class, STR("__init__"));
		apply_module(s, made);
		s->maker = before;
		return 1;
	}
	f = s->class ? module_method(s->m, s->class, name) : NULL;
	if (f && s->depth < DEPTH_MOST) {
		s->depth++;
		read_body(s, &f->u.FunctionDef.body);
		s->depth--;
	}
	return f != NULL;
}

/* A call in forward. Arguments are read first, so that f(g(x)) and x = g(x); x = f(x) give the
 * same order of operators. */
static void read_call(struct study *s, struct py_node *n)
{
	const struct py_Call *c = &n->u.Call;
	struct str name = module_last_name(c->func);
	const struct py_node *f = c->func->kind == PY_Name ? module_function(s->m, name) : NULL;
	char plain[40];

	plain_name(name, plain);
	if (c->func->kind == PY_Attribute)
		read_node(s, c->func->u.Attribute.value);
	for (size_t i = 0; i < c->args.n; i++)
		if (class_of(plain) != OP_FREE || c->args.v[i]->kind != PY_BinOp)     /* sizes are computed there */
			read_node(s, c->args.v[i]);
	if (c->func->kind == PY_Call) {
		apply_module(s, c->func);
	} else if (f && s->depth < DEPTH_MOST) {
		s->depth++;
		read_body(s, &f->u.FunctionDef.body);
		s->depth--;
	} else if (!is_self(c->func) || !apply_member(s, name)) {
		add_op(s, name);
	}
}

/* Is the node a number, with a sign or without? */
static int is_number(const struct py_node *n)
{
	return n->kind == PY_Constant || (n->kind == PY_UnaryOp && n->u.UnaryOp.operand->kind == PY_Constant);
}

/* Counts an arithmetic operator of tensors; `@` counts as a product. */
static void count_arithmetic(struct study *s, enum py_op op)
{
	if (op == PY_OP_MatMult) {
		s->d->anchors++;
		add_name(s, "matmul");
	} else if (op == PY_OP_Add || op == PY_OP_Sub || op == PY_OP_Mult || op == PY_OP_Div || op == PY_OP_Pow) {
		s->d->arithmetic++;
		spelling_add(&s->spelling, op == PY_OP_Add ? "+" : op == PY_OP_Sub ? "-" : op == PY_OP_Mult ?
			     "*" : op == PY_OP_Div ? "/" : "**");
	}
}

/* A loop. `for layer in self.layers` applies the member; the body is read once. */
static void read_for(struct study *s, struct py_node *n)
{
	struct py_node *over = n->u.For.iter;

	if (is_self(over))
		apply_member(s, over->u.Attribute.attr);
	else
		read_node(s, over);
	s->d->loops++;
	read_body(s, &n->u.For.body);
}

/* Reads one node. Subscripts, asserts and raises hold sizes and messages, not operators. */
static void read_node(void *ctx, struct py_node *n)
{
	struct study *s = ctx;

	if (++s->work > WORK_MOST)
		return;
	switch (n->kind) {
	case PY_Call: read_call(s, n); return;
	case PY_For: read_for(s, n); return;
	case PY_Subscript: read_node(s, n->u.Subscript.value); return;
	case PY_Assert:
	case PY_Raise: return;
	case PY_BinOp:
		py_children(n, read_node, s);
		if (!is_number(n->u.BinOp.left) || !is_number(n->u.BinOp.right))
			count_arithmetic(s, n->u.BinOp.op);
		return;
	case PY_AugAssign:
		py_children(n, read_node, s);
		count_arithmetic(s, n->u.AugAssign.op);
		return;
	default: break;
	}
	py_children(n, read_node, s);
}

/* --- labels ------------------------------------------------------------------------------- */

/* The level as KernelBench means it: 1 is one operator, 2 a fused chain with at most one or two
 * products, 3 a network. */
static int level_of(const struct difficulty *d)
{
	int named = d->anchors + d->calls;

	if (d->networks || d->anchors > 2 || (d->anchors > 1 && (d->blocks || d->loops)) || named > 14)
		return 3;
	if (!d->anchors)
		return d->calls + (d->calls == 1 && d->arithmetic > 8) <= 1 ? 1 : 2;
	return d->anchors == 1 && !d->calls && !d->arithmetic ? 1 : 2;
}

/* Does the text contain the word? Most words of heuristic() lack their first letter, so that
 * "igmoid" finds both Sigmoid and sigmoid. */
static int has_word(struct str text, const char *word)
{
	return str_find(text, str_of(word)) >= 0;
}

/* Labels a text by counting words, as KernelBook does. The report shows this label next to ours for
 * comparison. */
static void heuristic(struct str text, struct difficulty *d)
{
	static const char *const words[] = { "Conv", "Linear", "matmul", "Norm", "elu", "igmoid", "anh",
					     "oftmax", "Pool", "ropout", "sum", "mean" };
	int space = 1;

	for (size_t i = 0; i < COUNT_OF(words); i++)
		d->heuristic.mix += has_word(text, words[i]);
	d->heuristic.fused = has_word(text, "fused") || has_word(text, "fusion") || has_word(text, "ombined");
	for (size_t i = 0; i < text.n; i++) {
		int s = isspace((unsigned char)text.p[i]) != 0;

		d->heuristic.words += space && !s;
		space = s;
	}
	d->heuristic.level = d->heuristic.mix > 5 ? 3 : d->heuristic.fused ||
		(d->heuristic.mix > 1 && d->heuristic.words > 50) ? 2 : 1;
}

/* Labels a module by the operators that its model class applies, and hashes them (`computes`). A
 * text without that class still gets a label: level_of sees no operators then. */
void difficulty_of(const struct py_module *m, struct str model, struct difficulty *d)
{
	struct study s = { .d = d, .m = m };
	const struct py_node *class;

	*d = (struct difficulty){ .level = 0 };
	spelling_init(&s.spelling);
	class = module_class(m, model);
	if (class)
		read_class(&s, class);
	d->level = level_of(d);
	d->computes = spelling_hash(&s.spelling);
	heuristic(m->source, d);
}
