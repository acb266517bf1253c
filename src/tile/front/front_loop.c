/* Loops. A variable that existed before the loop and that the loop assigns is carried: it gets
 * registers that the body moves its new values into. `for i in range(0, n): acc += i` becomes
 *
 *     mov %acc, %init; mov %i, %zero
 *     block; loop
 *       %done = ge %i, %n; br_if %done 1
 *       %t = add %acc, %i; mov %acc, %t
 *       %next = add %i, %one; mov %i, %next
 *       br 0
 *     end; end
 *
 * Triton finds carried variables by compiling the body twice. Here every variable that the text of
 * the body assigns is carried, which gives the same program. */
#include "tile/front/front_flow.h"

/* The state of one run-time loop. */
struct loop {
	unsigned char *assigned;        /* by slot: the text of the body assigns the variable */
	struct lang_val *before;             /* by slot: the value before the loop */
	struct lang_val *carried;  /* by slot: the carried registers; UNBOUND: not carried */
	unsigned char *defs;        /* the marks of assigned variables before the loop */
	int skip;                       /* slot of the loop variable, or -1 for a while loop */
};

/* Copies the carried variables into registers of their own, in front of the loop. */
static void loop_enter(struct front *f, struct loop *l, const struct py_list *body, int skip)
{
	struct front_frame *fr = f->frame;
	size_t n = fr->n_names;
	*l = (struct loop) {
		.assigned = arena_zalloc(f->a, n + 1), .before = arena_array(f->a, n + 1, sizeof *l->before),
		.carried = arena_array(f->a, n + 1, sizeof *l->carried), .defs = arena_alloc(f->a, n + 1), .skip = skip,
	};
	front_assigned(fr, body, l->assigned);
	memcpy(l->before, fr->vars, n * sizeof *l->before);
	memcpy(l->defs, fr->defs, n);
	/* Only assignments of the body count from here on. */
	memset(fr->defs, 0, n);
	for (size_t i = 0; i < n; i++)
		if (l->assigned[i] && (int)i != skip && fr->vars[i].kind != LANG_UNBOUND && flow_count(f, &fr->vars[i]))
			fr->vars[i] = l->carried[i] = flow_copy(f, &fr->vars[i]);
	fr->loops++;
	fr->regions++;
}

/* The name of a variable, for messages. */
static const char *slot_name(struct front *f, size_t slot)
{
	return arena_strndup(f->a, f->frame->names[slot], front_name_length(f->frame, slot));
}

/* The Python class of a value as Triton's message prints it. */
static const char *class_of(const struct lang_val *v)
{
	return v->kind == LANG_TENSOR && !v->wrapped ? "<class 'triton.language.core.tensor'>"
		: v->kind == LANG_TUPLE ? "<class 'triton.language.core.tuple'>"
		: "<class 'triton.language.core.constexpr'>";
}

/* Triton's rules about a variable that the body changed: it must stay a tensor of the same type. */
static void check_carried(struct front *f, const struct loop *l, size_t i)
{
	const struct lang_val *was = &l->before[i], *now = &f->frame->vars[i];
	int was_const, now_const;

	if (was->kind == LANG_UNBOUND || (int)i == l->skip)
		return;
	if (!flow_is_triton(was)) {
		if (f->frame->defs[i])
			front_fail_hint(f, REASON_loop_type_change,
					"give it a tensor value of its final type before the loop",
					"AssertionError('Loop carried variable %s is not a triton value')",
					slot_name(f, i));
		return;
	}
	if (!flow_is_triton(now))
		front_fail(f, REASON_loop_type_change,
			   "AssertionError('cannot reassign constexpr %s in the loop')", slot_name(f, i));
	/* A constexpr that stays a constexpr is no carried variable. */
	was_const = !flow_count(f, was) && was->kind != LANG_TUPLE;
	now_const = !flow_count(f, now) && now->kind != LANG_TUPLE;
	if (was_const != now_const || was->kind != now->kind) {
		if (was_const && now_const)
			return;
		front_fail_hint(f, REASON_loop_type_change, "give it a tensor value of its final type before the loop",
				"AssertionError('Loop carried variable %s changed type, was %s but is now %s')",
				slot_name(f, i), class_of(now), class_of(was));
	}
	if (!was_const && !flow_same_type(was, now))
		front_fail_hint(f, REASON_loop_type_change,
				"initialise it with the type and shape that the loop gives it",
				"AssertionError('Loop-carried variable %s has initial type %s but is "
				"re-assigned to %s in loop! "
				"Please make sure that the type stays consistent.')",
				slot_name(f, i), flow_type_str(f, was), flow_type_str(f, now));
}

/* After the body: checks the carried variables, then moves all new values into the carried
 * registers. */
static void loop_carry(struct front *f, struct loop *l)
{
	struct front_frame *fr = f->frame;
	size_t n = 0;
	struct lang_val *dst = arena_array(f->a, fr->n_names + 1, sizeof *dst),
		*src = arena_array(f->a, fr->n_names + 1, sizeof *src);
	struct lang_val d, s;

	for (size_t i = 0; i < fr->n_names; i++) {
		check_carried(f, l, i);
		if (l->carried[i].kind == LANG_UNBOUND)
			continue;
		dst[n] = l->carried[i];
		src[n++] = fr->vars[i];
	}
	d = lang_tuple(dst, n);
	s = lang_tuple(src, n);
	flow_assign(f, &d, &s);
}

/* After the loop the carried variables keep their registers; every other variable has its old
 * value. */
static void loop_leave(struct front *f, struct loop *l)
{
	struct front_frame *fr = f->frame;
	fr->loops--;
	fr->regions--;
	for (size_t i = 0; i < fr->n_names; i++) {
		fr->vars[i] = l->carried[i].kind != LANG_UNBOUND ? l->carried[i] : l->before[i];
		fr->defs[i] = l->defs[i] || l->carried[i].kind != LANG_UNBOUND;
	}
}

/* Compiles the body. A `return` in it was refused, so the muting of unreachable code ends here. */
static void loop_body(struct front *f, struct loop *l, const struct py_list *body)
{
	int mute = f->mute, unsupported = f->unsupported;
	front_block(f, body);
	f->mute = mute + (f->unsupported && !unsupported);
	loop_carry(f, l);
}

/* Triton compiles the loop first and then refuses its else. */
static void refuse_else(struct front *f, const struct py_list *orelse, const char *what)
{
	if (orelse->n)
		front_fail(f, REASON_unsupported_syntax, "AssertionError('%s')", what);
}

/* The condition is evaluated at the start of each iteration. */
void flow_while(struct front *f, const struct py_node *n)
{
	struct loop l;
	struct lang_val cond;

	loop_enter(f, &l, &n->u.While.body, -1);
	emit_block(f);
	emit_loop(f);
	/* The condition is part of the loop body: carried variables have their current values in
	 * it. */
	cond = front_expr(f, n->u.While.test);
	if (cond.kind == LANG_CONDITION)
		cond = *cond.u.cond;
	if (cond.kind != LANG_TENSOR || cond.wrapped)
		front_fail_hint(f, REASON_bad_condition, "loop on a comparison of run-time values",
				"AttributeError(\"'%s' object has no attribute 'handle'\")",
				cond.wrapped ? "constexpr" : lang_type_name(&cond));
	if (!ty_is_bool(cond.u.t.ty))
		front_late(f, REASON_bad_condition, "compare to get a scalar condition: while x > 0",
			   "the condition of a while loop must be a scalar bool, not %s", front_ty(f, cond.u.t.ty));
	emit_br_if(f, emit(f, TOP_NOT, ty_sc(SC_INT1), 1, (tile_reg)cond.u.t.id).id, 1);
	loop_body(f, &l, &n->u.While.body);
	emit_br(f, 0);
	emit_end(f);
	emit_end(f);
	loop_leave(f, &l);
	refuse_else(f, &n->u.While.orelse, "Not implemented");
}

/* --- for ------------------------------------------------------------------------------------ */

/* tl.static_range: compiles the body once for each iteration, with the loop variable as a
 * constant. */
static void static_loop(struct front *f, const struct py_node *n, const struct lang_range *r)
{
	struct front_frame *fr = f->frame;
	int slot = front_slot(fr, n->u.For.target->u.Name.id.p);
	pyint start = r->start.u.i, end = r->end.u.i, step = r->step.u.i;
	if (step == 0)
		front_fail(f, REASON_bad_value, "ValueError('range() arg 3 must not be zero')");
	for (pyint i = start; step > 0 ? i < end : i > end;) {
		/* The loop variable is a constexpr in each copy of the body. */
		fr->vars[slot] = lang_int(i);
		front_block(f, &n->u.For.body);
		front_block(f, &n->u.For.orelse);
		if (__builtin_add_overflow(i, step, &i))
			break;
	}
}

/* The bounds of a range as scalars of one type. `negative`: the step is negative, start and end are
 * swapped. */
struct bounds { struct tv start, end, step; const struct ty *type; int negative; };

/* Bounds are scalars; Triton does not even accept a tensor of one element. */
static void check_bound(struct front *f, struct tv x, const char *what)
{
	if (ty_is_block(x.ty) && x.ty->numel != 1)
		front_fail_hint(f, REASON_bad_iterator, "reduce the bound to a scalar",
				"TypeError(\"For %s must be a scalar, got %s\")", what, front_ty(f, x.ty));
	if (ty_is_block(x.ty))
		front_fail(f, REASON_bad_iterator, "the bounds of a for loop must be scalars, not %s",
			   front_ty(f, x.ty));
}

/* Triton extends a bound by the sign of the loop's type, even a bool: True becomes -1. */
static struct tv bound_cast(struct front *f, struct tv x, const struct ty *type)
{
	struct tv wide = sem_cast(f, x, type);
	return ty_is(ty_scalar(x.ty), SC_INT1) && ty_is_signed(type) ? sem_neg(f, wide) : wide;
}

/* A negative step runs the loop upwards from `end` to `start`, as Triton does; the body sees end -
 * counter + start. */
static struct bounds loop_bounds(struct front *f, const struct lang_range *r)
{
	struct bounds b = { 0 };
	struct lang_val start = r->start, end = r->end, step = r->step;
	const struct ty *ts, *te, *tp;

	if (lang_is_int(&step) && step.u.i < 0) {
		struct lang_val swap = start;
		/* range(10, 0, -2) runs a counter from 0 to 10 by 2. */
		start = end, end = swap;
		step = lang_int(-step.u.i);
		b.negative = 1;
	}
	b.start = sem_to_tensor(f, start);
	b.end = sem_to_tensor(f, end);
	b.step = sem_to_tensor(f, step);
	ts = ty_scalar(b.start.ty);
	te = ty_scalar(b.end.ty);
	tp = ty_scalar(b.step.ty);
	if (!ty_is_int(ts) || !ty_is_int(te) || !ty_is_int(tp))
		front_fail_hint(f, REASON_bad_iterator, "use // for whole numbers",
				"TypeError('For loop bounds and step must all be ints, are (%s, %s, %s)')",
				front_ty(f, ts), front_ty(f, te), front_ty(f, tp));
	check_bound(f, b.start, "lower bound");
	check_bound(f, b.end, "upper bound");
	check_bound(f, b.step, "step");
	b.type = sem_int_promote(sem_int_promote(ts, te), tp);
	b.start = bound_cast(f, b.start, b.type);
	b.end = bound_cast(f, b.end, b.type);
	b.step = bound_cast(f, b.step, b.type);
	return b;
}

/* range and tl.range: the counter is a register of its own, so that the body may assign the loop
 * variable. */
static void dynamic_loop(struct front *f, const struct py_node *n, const struct lang_range *r)
{
	struct bounds b = loop_bounds(f, r);
	struct str target = n->u.For.target->u.Name.id;
	int slot = front_slot(f->frame, target.p);
	struct tv next, i, done;
	tile_reg counter;
	struct loop l;

	/* After the loop its variable is undefined. */
	front_set(f, target, lang_of(emit(f, TOP_UNDEF, b.type, 0)));
	loop_enter(f, &l, &n->u.For.body, slot);
	/* The loop: leave if counter >= end, run the body, add the step. */
	counter = emit_reg(f, b.type);
	emit_mov(f, counter, b.start.id);
	emit_block(f);
	emit_loop(f);
	/* num_stages for the estimate of shared memory: Triton keeps one buffer for each stage. */
	emit_last(f)->attr[0] = 1 + (lang_is_int(&r->num_stages) && r->num_stages.u.i > 0 ?
				     (int)MIN(r->num_stages.u.i, 64) : 0);
	done = emit(f, TOP_GE, ty_sc(SC_INT1), 2, counter, b.end.id);
	emit_br_if(f, done.id, 1);
	i = (struct tv){ b.type, counter };
	/* The counter runs upwards; the body sees it from the other end. */
	if (b.negative) {
		i = emit(f, TOP_SUB, b.type, 2, b.end.id, counter);
		i = emit(f, TOP_ADD, b.type, 2, i.id, b.start.id);
	}
	f->frame->vars[slot] = lang_of(i);
	loop_body(f, &l, &n->u.For.body);
	next = emit(f, TOP_ADD, b.type, 2, counter, b.step.id);
	emit_mov(f, counter, next.id);
	emit_br(f, 0);
	emit_end(f);
	emit_end(f);
	loop_leave(f, &l);
	refuse_else(f, &n->u.For.orelse, "Don\\'t know what to do with else after for");
}

/* for loops run over range, tl.range or tl.static_range, and over nothing else. */
void flow_for(struct front *f, const struct py_node *n)
{
	const struct py_node *it = n->u.For.iter;
	struct lang_val r;

	if (it->kind != PY_Call)
		front_fail_hint(f, REASON_bad_iterator, "loop over range, tl.range or tl.static_range",
				"AttributeError(\"'%s' object has no attribute 'func'\")",
				py_kind_info(it->kind)->name);
	r = front_iterator(f, it);
	if (r.kind != LANG_RANGE)
		front_fail_hint(f, REASON_bad_iterator, "loop over range, tl.range or tl.static_range",
				"RuntimeError('Only `range` and `static_range` iterators are currently supported')");
	if (n->u.For.target->kind != PY_Name)
		front_fail(f, REASON_bad_iterator, "AttributeError(\"'%s' object has no attribute 'id'\")",
			   py_kind_info(n->u.For.target->kind)->name);
	if (r.u.r->kind == RANGE_STATIC)
		static_loop(f, n, r.u.r);
	else
		dynamic_loop(f, n, r.u.r);
}
