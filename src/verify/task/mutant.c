/* Mutants of a reference's tree: see mutant.h. They imitate the mistakes of real candidates: a step
 * left out, two steps swapped, the wrong axis. */
#include "verify/task/mutant.h"

#include <stdio.h>

#include "verify/rules/call_graph.h"

/* The mutants that were found so far. */
struct finder {
	struct py_module *m;
	struct mutant *out;
	int n, cap, failed;
};

/* Adds a mutant that puts `instead` in the slot of a node. Returns NULL if there is no room. */
static struct mutant *add(struct finder *f, struct py_node **slot, struct py_node *instead)
{
	struct mutant *x = f->n < f->cap ? &f->out[f->n++] : NULL;

	if (x)
		*x = (struct mutant){ .slot = slot, .was = *slot, .instead = instead };
	return x;
}

/* Calls that change nothing that is computed: dropping them makes no difference, and the mutant
 * would survive for no fault of the task. */
static int is_formal(struct str name)
{
	static const char *const names[] = { "contiguous", "clone", "detach", "to", "float", "cuda",
					     "type_as", "size", "item", "dim",
					     "super", "len", "int", "range", "tuple", "list", "print", "isinstance",
					     "format" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (str_is(name, names[i]))
			return 1;
	return 0;
}

/* --- operators ---------------------------------------------------------------------------- */

/* Is the function named by a path (torch.relu, F.relu, self.conv)? Then its operand is the first
 * argument; else it is the object before the dot. */
static int is_path(const struct py_node *func)
{
	char path[120];

	return call_graph_dotted(func, path, sizeof path) && (!strncmp(path, "torch.", 6) || !strncmp(path, "F.", 2) ||
							 !strncmp(path, "nn.", 3) || !strncmp(path, "self.", 5));
}

/* Replaces a call by its operand: relu(x) becomes x. */
static void drop_call(struct finder *f, struct py_node **slot)
{
	struct py_node *call = *slot, *func = call->u.Call.func, *operand;
	struct str name = func->kind == PY_Attribute ? func->u.Attribute.attr : func->kind == PY_Name ?
		func->u.Name.id : STR("");
	struct mutant *x;

	if (!name.n || is_formal(name))
		return;
	if (func->kind == PY_Attribute && !is_path(func))
		operand = func->u.Attribute.value;
	else if (call->u.Call.args.n && call->u.Call.args.v[0]->kind != PY_Starred)
		operand = call->u.Call.args.v[0];
	else
		return;
	if ((x = add(f, slot, operand)))
		snprintf(x->text, sizeof x->text, "line %d: %.*s dropped", call->line, (int)MIN(name.n, 40), name.p);
}

/* Replaces an operation by one of its operands that is not a constant: x + y becomes x. This is the
 * mutant of a candidate that forgets a residual connection. */
static void drop_binary(struct finder *f, struct py_node **slot)
{
	struct py_node *n = *slot, *keep = n->u.BinOp.left->kind == PY_Constant ? n->u.BinOp.right : n->u.BinOp.left;
	struct mutant *x = keep->kind == PY_Constant ? NULL : add(f, slot, keep);

	if (x)
		snprintf(x->text, sizeof x->text, "line %d: one side of %s dropped", n->line,
			 py_op_text(n->u.BinOp.op));
}

/* --- axes --------------------------------------------------------------------------------- */

/* Replaces an axis: dim=-1 and dim=1 become 0, dim=0 becomes 1. */
static void change_axis(struct finder *f, struct py_node *keyword)
{
	struct py_node *v = keyword->u.keyword.value, *other;
	const struct py_node *digit = v->kind == PY_UnaryOp ? v->u.UnaryOp.operand : v;
	struct mutant *x;

	if (!(str_is(keyword->u.keyword.arg, "dim") || str_is(keyword->u.keyword.arg, "axis")) ||
	    digit->kind != PY_Constant ||
	    digit->u.Constant.value.kind != PY_C_INT)
		return;
	other = arena_zalloc(&f->m->arena, sizeof *other);
	if (!other) {
		f->failed = 1;
		return;
	}
	other->kind = PY_Constant;
	other->line = v->line, other->col = v->col, other->end_line = v->end_line, other->end_col = v->end_col;
	other->u.Constant.value = (struct py_const){ .kind = PY_C_INT, .i = digit->u.Constant.value.i == 0 };
	if ((x = add(f, &keyword->u.keyword.value, other)))
		snprintf(x->text, sizeof x->text, "line %d: another axis", v->line);
}

/* --- the walk ----------------------------------------------------------------------------- */

/* Walks the tree and adds the mutants of each node. The table py_kind_info lists the fields of a
 * node that hold other nodes. */
static void walk(struct finder *f, struct py_node **slot)
{
	struct py_node *n = *slot;
	const struct py_kind_info *k;

	if (!n)
		return;
	if (n->kind == PY_Call)
		drop_call(f, slot);
	else if (n->kind == PY_BinOp)
		drop_binary(f, slot);
	else if (n->kind == PY_keyword)
		change_axis(f, n);
	k = py_kind_info(n->kind);
	for (size_t i = 0; i < k->n; i++) {
		char *field = (char *)&n->u + k->fields[i].offset;

		if (k->fields[i].kind == PY_F_NODE || k->fields[i].kind == PY_F_OPT) {
			walk(f, (struct py_node **)field);
		} else if (k->fields[i].kind == PY_F_LIST || k->fields[i].kind == PY_F_LISTO) {
			struct py_list *l = (struct py_list *)field;

			for (size_t c = 0; c < l->n; c++)
				walk(f, &l->v[c]);
		}
	}
}

/* Do two neighbouring statements assign to the same name? x = f(x) and x = g(x) do. */
static int is_step(const struct py_node *s, const struct py_node *next)
{
	return s->kind == PY_Assign && next->kind == PY_Assign && s->u.Assign.targets.n == 1 &&
		next->u.Assign.targets.n == 1 &&
	       s->u.Assign.targets.v[0]->kind == PY_Name && next->u.Assign.targets.v[0]->kind == PY_Name &&
	       str_eq(s->u.Assign.targets.v[0]->u.Name.id, next->u.Assign.targets.v[0]->u.Name.id);
}

/* Swaps such statements. The order of a norm and an activation is a mistake that candidates
 * make. */
static void swap_steps(struct finder *f, struct py_list *body)
{
	for (size_t i = 0; i + 1 < body->n; i++) {
		struct mutant *x = is_step(body->v[i], body->v[i + 1]) ? add(f, &body->v[i], body->v[i + 1]) : NULL;

		if (!x)
			continue;
		x->other = &body->v[i + 1];
		snprintf(x->text, sizeof x->text, "lines %d and %d swapped", body->v[i]->line, body->v[i + 1]->line);
	}
}

/* Only forward is mutated: a change of the constructor would often fail, and prove nothing. */
int mutants_find(struct py_module *m, struct mutant *out, int cap)
{
	struct finder f = { .m = m, .out = out, .cap = cap };
	const struct py_node *cls = call_graph_class(m, "Model");
	struct py_node *forward = cls ? (struct py_node *)call_graph_method(cls, "forward") : NULL;
	struct py_list *body = forward ? &forward->u.FunctionDef.body : NULL;

	for (size_t i = 0; body && i < body->n; i++)
		walk(&f, &body->v[i]);
	if (body)
		swap_steps(&f, body);
	return f.failed ? -1 : f.n;
}

/* Applies the mutant to the tree. Only one may be applied at a time. */
void mutant_apply(struct mutant *x)
{
	*x->slot = x->instead;
	if (x->other)
		*x->other = x->was;
}

/* Restores the tree. */
void mutant_undo(struct mutant *x)
{
	*x->slot = x->was;
	if (x->other)
		*x->other = x->instead;
}
