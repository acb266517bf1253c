/* Branches. A static `if` chooses one side at compile time. A dynamic `if` compiles both sides and
 * joins the variables that they assigned:
 *
 *     if n > 0:           if %c
 *         y = x + 1         %7 = add %5, %6; mov %9, %7
 *     else:               else
 *         y = x             mov %9, %5
 *                         end                 y is %9
 *
 * A variable survives a dynamic `if` if it existed before and keeps its type, or if both sides
 * assign it with the same type; every other variable is undefined after it. Tile code has no phi:
 * each joined variable gets registers that both sides move their value into. */
#include "tile/front/front_flow.h"

/* A copy of the variables and of the marks which of them were assigned. */
struct saved_scope { struct lang_val *vars; unsigned char *defs; };

/* Copies the variables of the current frame. */
static struct saved_scope scope_save(struct front *f)
{
	struct front_frame *fr = f->frame;
	struct saved_scope s = {
		.vars = arena_array(f->a, fr->n_names + 1, sizeof *s.vars),
		.defs = arena_alloc(f->a, fr->n_names + 1),
	};
	memcpy(s.vars, fr->vars, fr->n_names * sizeof *s.vars);
	memcpy(s.defs, fr->defs, fr->n_names);
	return s;
}

/* Only the variables: the caller sets the marks. */
static void scope_restore(struct front *f, const struct saved_scope *s)
{
	memcpy(f->frame->vars, s->vars, f->frame->n_names * sizeof *s->vars);
}

/* Copies the values of the candidates into registers of their own, while still inside the branch. A
 * branch that returned copies nothing, but the other side still needs the registers: they are
 * allocated unmuted. */
static void copy_candidates(struct front *f, const unsigned char *candidate, struct lang_val *home, int mute_before)
{
	struct front_frame *fr = f->frame;
	int mute = f->mute;
	for (size_t i = 0; i < fr->n_names; i++)
		if (candidate[i] && fr->vars[i].kind != LANG_UNBOUND && flow_count(f, &fr->vars[i])) {
			f->mute = f->unsupported ? mute : mute_before;
			home[i] = flow_alloc(f, &fr->vars[i]);
			f->mute = mute;
			flow_assign(f, &home[i], &fr->vars[i]);
		}
}

/* The block ("then" or "else") gives the variable another type than it had before. */
_Noreturn static void bad_redefinition(struct front *f, size_t slot, const struct lang_val *before,
				       const char *block, const struct lang_val *now)
{
	front_fail_hint(f, REASON_branch_type_mismatch,
			"convert so that the variable keeps the type it had before the `if`",
			"AssertionError('initial value for `%s` is of type %s, but the %s block redefines it as %s')",
			arena_strndup(f->a, f->frame->names[slot], front_name_length(f->frame, slot)),
			front_str(f, before), block, front_str(f, now));
}

/* Triton's checks of a variable that existed before the `if`. Returns nonzero if the variable is
 * joined. */
static int joins_livein(struct front *f, size_t slot, const struct lang_val *before, const struct lang_val *t,
			const struct lang_val *e)
{
	if (!flow_is_triton(before))
		return 0;
	if (!flow_is_triton(t) || !flow_is_triton(e)) {
		const struct lang_val *bad = flow_is_triton(t) ? e : t;
		front_fail(f, REASON_branch_type_mismatch,
			   "AttributeError(\"'%s' object has no attribute '_flatten_ir'\")", lang_type_name(bad));
	}
	if (!flow_count(f, t) && !flow_count(f, e))
		return 0;
	if (flow_same(f, t, e))
		return 0;
	if (!flow_same_type(t, before))
		bad_redefinition(f, slot, before, "then", t);
	if (!flow_same_type(e, before))
		bad_redefinition(f, slot, before, "else", e);
	return 1;
}

/* Triton's checks of a variable that only exists because both sides assign it. */
static void check_both(struct front *f, size_t slot, const struct lang_val *t, const struct lang_val *e)
{
	if (!flow_is_triton(t) || !flow_is_triton(e))
		front_fail(f, REASON_branch_type_mismatch,
			   "AttributeError(\"'%s' object has no attribute 'type'\")",
			   lang_type_name(flow_is_triton(t) ? e : t));
	if (flow_same_type(t, e))
		return;
	front_fail_hint(f, REASON_branch_type_mismatch, "give the variable one type on both sides",
			"AssertionError('Mismatched type for %s between then block (%s) and else block (%s)')",
			arena_strndup(f->a, f->frame->names[slot], front_name_length(f->frame, slot)),
			flow_type_str(f, t), flow_type_str(f, e));
}

/* The state of one dynamic `if`. */
struct branch {
	struct saved_scope before, then, otherwise;  /* variables before it and after each side */
	struct lang_val *home;  /* by slot: the registers of a joined variable; UNBOUND: none */
	unsigned char *candidate;   /* by slot: the variable may be joined */
};

/* The variables that may be joined: those that existed before and one side assigns, and those that
 * both sides assign. */
static void find_candidates(struct front *f, struct branch *b, const struct py_node *n)
{
	struct front_frame *fr = f->frame;
	unsigned char *in_then = arena_zalloc(f->a, fr->n_names + 1), *in_else = arena_zalloc(f->a, fr->n_names + 1);
	front_assigned(fr, &n->u.If.body, in_then);
	front_assigned(fr, &n->u.If.orelse, in_else);
	for (size_t i = 0; i < fr->n_names; i++)
		b->candidate[i] = fr->vars[i].kind != LANG_UNBOUND ? in_then[i] || in_else[i] :
			in_then[i] && in_else[i];
}

/* Compiles one side and moves its values into the joined registers. Returns nonzero if the side
 * returned, so that its end is never reached. */
static int visit_side(struct front *f, const struct py_list *body, struct branch *b, struct saved_scope *out,
		      int is_else)
{
	struct front_frame *fr = f->frame;
	int mute = f->mute, unsupported = f->unsupported;
	int live, returned;

	memset(fr->defs, 0, fr->n_names);
	fr->regions++;
	front_block(f, body);
	if (!is_else) {
		/* The then side creates the registers, the else side moves its values into them. */
		copy_candidates(f, b->candidate, b->home, mute);
	} else {
		for (size_t i = 0; i < fr->n_names; i++)
			if (b->home[i].kind != LANG_UNBOUND && fr->vars[i].kind != LANG_UNBOUND &&
			    flow_same_type(&b->home[i], &fr->vars[i]))
				flow_assign(f, &b->home[i], &fr->vars[i]);
	}
	fr->regions--;
	/* A return raised `mute`; the end of the side restores it, unless emission stopped for
	 * good. */
	live = mute + (f->unsupported && !unsupported);
	returned = f->mute > live;
	f->mute = live;
	*out = scope_save(f);
	return returned;
}

/* Checks the variables and gives each its value after the `if`. The registers of a variable that
 * only the else side changed were made in the then side, from the value before. A joined variable
 * without registers is a constant on both sides. */
static void join(struct front *f, struct branch *b)
{
	struct front_frame *fr = f->frame;
	unsigned char *joined = arena_zalloc(f->a, fr->n_names + 1);
	for (size_t i = 0; i < fr->n_names; i++)
		if (b->before.vars[i].kind != LANG_UNBOUND)
			joined[i] = (unsigned char)joins_livein(f, i, &b->before.vars[i], &b->then.vars[i],
								&b->otherwise.vars[i]);
	for (size_t i = 0; i < fr->n_names; i++) {
		if (joined[i] || !b->then.defs[i] || !b->otherwise.defs[i])
			continue;
		check_both(f, i, &b->then.vars[i], &b->otherwise.vars[i]);
		joined[i] = 1;
	}
	scope_restore(f, &b->before);
	memcpy(fr->defs, b->before.defs, fr->n_names);
	for (size_t i = 0; i < fr->n_names; i++)
		if (joined[i]) {
			fr->vars[i] = b->home[i].kind != LANG_UNBOUND ? b->home[i] : b->then.vars[i];
			fr->defs[i] = 1;
		}
}

/* Saves the variables before the `if` and finds the candidates. */
static void branch_init(struct front *f, struct branch *b, const struct py_node *n)
{
	*b = (struct branch) {
		.before = scope_save(f),
		.home = arena_array(f->a, f->frame->n_names + 1, sizeof *b->home),
		.candidate = arena_zalloc(f->a, f->frame->n_names + 1),
	};
	find_candidates(f, b, n);
}

/* An `if` on a run-time scalar. */
static void dynamic_if(struct front *f, const struct py_node *n, struct tv cond)
{
	struct branch b;
	int returned;

	branch_init(f, &b, n);
	emit_if(f, cond.id);
	returned = visit_side(f, &n->u.If.body, &b, &b.then, 0);
	emit_else(f);
	scope_restore(f, &b.before);
	returned &= visit_side(f, &n->u.If.orelse, &b, &b.otherwise, 1);
	emit_end(f);
	join(f, &b);
	if (returned)
		f->mute++;      /* both sides returned; the end of the enclosing region resets it */
}

/* An `if` in a combine or map function, which the machine runs over many lanes at once: both sides
 * are computed, and a select joins each variable. */
static void selected_if(struct front *f, const struct py_node *n, struct tv cond)
{
	struct branch b;
	struct front_frame *fr = f->frame;
	branch_init(f, &b, n);
	memset(fr->defs, 0, fr->n_names);
	front_block(f, &n->u.If.body);
	b.then = scope_save(f);
	scope_restore(f, &b.before);
	memset(fr->defs, 0, fr->n_names);
	front_block(f, &n->u.If.orelse);
	b.otherwise = scope_save(f);
	for (size_t i = 0; i < fr->n_names; i++) {
		const struct lang_val *t = &b.then.vars[i], *e = &b.otherwise.vars[i];
		if (b.candidate[i] && t->kind == LANG_TENSOR && e->kind == LANG_TENSOR && flow_same_type(t, e))
			b.home[i] = lang_of(emit(f, TOP_SELECT, t->u.t.ty, 3, cond.id, (tile_reg)t->u.t.id,
						 (tile_reg)e->u.t.id));
	}
	join(f, &b);
}

/* An `if` on a constant: the other side is not compiled, so that it may contain errors. */
static void static_if(struct front *f, const struct py_node *n, const struct lang_val *cond)
{
	if (cond->kind != LANG_BOOL && cond->kind != LANG_INT && cond->kind != LANG_NONE)
		front_fail(f, REASON_bad_condition,
			   "`if` conditionals can only accept values of type {bool, int, NoneType}, not "
			   "objects of type %s",
			   lang_type_name(cond));
	front_block(f, lang_truth(cond) ? &n->u.If.body : &n->u.If.orelse);
}

/* Triton accepts a tensor of one element as a condition. */
void flow_if(struct front *f, const struct py_node *n)
{
	struct lang_val cond = front_expr(f, n->u.If.test);
	int returns;
	struct tv c;

	if (cond.kind != LANG_TENSOR || cond.wrapped) {
		static_if(f, n, &cond);
		return;
	}
	c = tv_of(&cond);
	if (ty_is_block(c.ty) && c.ty->numel != 1)
		front_fail_hint(f, REASON_bad_condition,
				"choose lane by lane with tl.where, or reduce the condition to a scalar",
				"Boolean value of Tensor with more than one value is ambiguous");
	/* An integer condition is true if it is not 0. */
	c = sem_cast(f, sem_unsplat(f, c), ty_sc(SC_INT1));
	/* Triton cannot leave a loop: its loops are structured regions. */
	returns = front_has_return(&n->u.If.body) || front_has_return(&n->u.If.orelse);
	if (returns && f->frame->loops)
		front_fail_hint(f, REASON_bad_return, "guard the rest of the loop body with the condition instead",
				"Cannot have `return` statements inside `while` or `for` statements in triton.");
	if (f->in_func && !returns)
		selected_if(f, n, c);
	else
		dynamic_if(f, n, c);
}

/* `a if c else b`. A dynamic condition makes both sides tensors; they must have the same type. */
struct lang_val flow_if_exp(struct front *f, const struct py_node *n)
{
	struct lang_val cond = front_expr(f, n->u.IfExp.test);
	struct lang_val other, home;
	struct tv e, t, c;

	if (cond.kind != LANG_TENSOR || cond.wrapped) {
		if (cond.kind != LANG_BOOL && cond.kind != LANG_INT && cond.kind != LANG_NONE)
			front_fail(f, REASON_bad_condition,
				   "`if` conditionals can only accept values of type {bool, int, NoneType}, "
				   "not objects of type %s",
				   lang_type_name(&cond));
		return front_expr(f, lang_truth(&cond) ? n->u.IfExp.body : n->u.IfExp.orelse);
	}
	c = sem_cast(f, tv_of(&cond), ty_sc(SC_INT1));
	if (ty_is_block(c.ty))
		front_fail_hint(f, REASON_bad_condition, "choose lane by lane with tl.where",
				"the condition of a conditional expression must be a scalar, not a tensor of shape %s",
				front_shape(f, c.ty));
	if (!f->in_func)
		emit_if(f, c.id);
	t = sem_to_tensor(f, front_expr(f, n->u.IfExp.body));
	/* In a combine function both sides are computed and selected from; elsewhere each side
	 * moves into `home`. */
	home = f->in_func ? lang_of(t)
		: flow_copy(f, &(struct lang_val){ .kind = LANG_TENSOR, .u.t = { t.ty, (int)t.id } });
	if (!f->in_func)
		emit_else(f);
	e = sem_to_tensor(f, front_expr(f, n->u.IfExp.orelse));
	if (!ty_eq(t.ty, e.ty))
		front_fail_hint(f, REASON_branch_type_mismatch, "convert one side, or use tl.where",
				"AssertionError('Ternary expression with dynamic condition has inconsistent "
				"types %s and %s')", front_ty(f, t.ty), front_ty(f, e.ty));
	if (f->in_func)
		return lang_of(emit(f, TOP_SELECT, t.ty, 3, c.id, t.id, e.id));
	other = lang_of(e);
	flow_assign(f, &home, &other);
	emit_end(f);
	return home;
}
