/* Statements: assignment, control flow, try and with, definitions. Owns the execution of every
 * statement kind, dispatched by `table`. Expressions are in expr.c, calls in call.c, match in
 * match.c.
 *
 * Invariants: each statement drops the temporaries it made (exec_block). `return` hands its value
 * over in f->ret, which holds its own reference. A statement reports by enum flow how execution
 * continues; FLOW_FAIL means that an exception or a fatal failure is pending. */
#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/import.h"
#include "interp/iter.h"
#include "interp/operator.h"
#include "interp/scope.h"
#include "interp/state.h"
#include "interp/work.h"

typedef enum flow exec_fn(struct host *h, struct host_frame *f, const struct py_node *n);

/* --- assignment ---------------------------------------------------------------------------- */

/* `a, *b, c = v`. The values are fixed before the first target is assigned: `x[0], x[1] = x[1],
 * x[0]` swaps. The starred target takes what the others leave, as a list. */
static int assign_sequence(struct host *h, struct host_frame *f, const struct py_list *targets, struct val v)
{
	struct val items, part;
	size_t star = targets->n, n;
	size_t fixed;

	for (size_t i = 0; i < targets->n; i++)
		if (targets->v[i]->kind == PY_Starred)
			star = i;
	if ((v.kind == V_TUPLE || v.kind == V_LIST) && star == targets->n) {
		items = v;
		/* A list is copied, because a target such as v[0] may change it in the course
		 * of the assignment. */
		if (v.kind == V_LIST && val_tuple(h, v.u.seq->v, v.u.seq->n, &items))
			return -1;
	} else if (host_iter(h, v, &part)) {
		if (!host_exc_is(h, EXC_TypeError))
			return -1;
		host_exc_clear(h);
		return host_raise(h, EXC_TypeError, "cannot unpack non-iterable %s object", val_type_name(h, v));
	} else if (host_to_list(h, part, &items)) {
		return -1;
	}
	n = items.u.seq->n;
	fixed = star < targets->n ? targets->n - 1 : targets->n;
	if (n < fixed)
		return host_raise(h, EXC_ValueError, "not enough values to unpack (expected %s%zu, got %zu)",
				  star < targets->n ? "at least " : "", fixed, n);
	if (star == targets->n && n > fixed)
		return host_raise(h, EXC_ValueError, "too many values to unpack (expected %zu)", fixed);
	for (size_t i = 0, at = 0; i < targets->n; i++) {
		if (i == star) {
			if (val_list(h, items.u.seq->v + at, n - fixed, &part) ||
			    exec_assign(h, f, targets->v[i]->u.Starred.value, part))
				return -1;
			at += n - fixed;
		} else if (exec_assign(h, f, targets->v[i], host_hold(h, items.u.seq->v[at++]))) {
			return -1;
		}
	}
	return 0;
}

/* Assigns v to a target of any form. Keeps references through the target only. */
int exec_assign(struct host *h, struct host_frame *f, const struct py_node *t, struct val v)
{
	struct val o, i;
	switch (t->kind) {
	case PY_Name: return name_store(h, f, t->u.Name.id, v);
	case PY_Tuple: return assign_sequence(h, f, &t->u.Tuple.elts, v);
	case PY_List: return assign_sequence(h, f, &t->u.List.elts, v);
	case PY_Attribute: {
		struct str_obj *name = attr_ident(h, f, t->u.Attribute.attr);
		if (!name || eval_expr(h, f, t->u.Attribute.value, &o))
			return -1;
		f->node = t;
		return attr_set(h, o, name, v);
	}
	case PY_Subscript:
		if (eval_expr(h, f, t->u.Subscript.value, &o) || eval_expr(h, f, t->u.Subscript.slice, &i))
			return -1;
		f->node = t;
		return item_set(h, o, i, v);
	case PY_Starred: return host_raise(h, EXC_SyntaxError, "starred assignment target must be in a list or tuple");
	default: return host_fatal(h, REASON_unsupported, "assignment to %s is not supported",
				   py_kind_info(t->kind)->name);
	}
}

/* A tuple of ints with its largest members replaced: an overridden shape. Example: SHAPE = (4,
 * 1024, 1024) with value 64 becomes (4, 64, 64). */
static int resized(struct host *h, struct val *v, int64_t value)
{
	int64_t most = INT64_MIN;
	struct val t;
	for (size_t i = 0; i < v->u.seq->n; i++)
		if (v->u.seq->v[i].kind == V_INT)
			most = MAX(most, v->u.seq->v[i].u.i);
	if ((v->kind == V_LIST ? val_list : val_tuple)(h, v->u.seq->v, v->u.seq->n, &t))
		return -1;
	for (size_t i = 0; i < t.u.seq->n; i++)
		if (t.u.seq->v[i].kind == V_INT && t.u.seq->v[i].u.i == most)
			t.u.seq->v[i] = val_int(value);
	*v = t;
	return 0;
}

static int apply_override(struct host *h, struct host_frame *f, const struct py_node *target, struct val *v);

/* `a, b = 2, 3`: replaces the members whose names are overridden. */
static int override_members(struct host *h, struct host_frame *f, const struct py_list *targets, struct val *v)
{
	struct val t;
	if ((v->kind != V_TUPLE && v->kind != V_LIST) || v->u.seq->n != targets->n)
		return 0;                    /* the assignment itself reports the mismatch */
	if (val_tuple(h, v->u.seq->v, v->u.seq->n, &t))
		return -1;
	for (size_t i = 0; i < targets->n; i++) {
		struct val x = t.u.seq->v[i];
		if (apply_override(h, f, targets->v[i], &x))
			return -1;
		val_assign(h, &t.u.seq->v[i], x);
	}
	*v = t;
	return 0;
}

/* While a module loads, an overridden NAME = expr gives NAME another value: so a task runs at
 * test sizes. See struct host_override. */
static int apply_override(struct host *h, struct host_frame *f, const struct py_node *target, struct val *v)
{
	if (!f->n_ov || f->names != f->mod->h.attrs)
		return 0;
	if (target->kind == PY_Tuple)
		return override_members(h, f, &target->u.Tuple.elts, v);
	for (size_t i = 0; i < f->n_ov && target->kind == PY_Name; i++) {
		if (!str_eq(f->ov[i].name, target->u.Name.id))
			continue;
		if (v->kind == V_TUPLE || v->kind == V_LIST)
			return resized(h, v, f->ov[i].value);
		*v = val_int(f->ov[i].value);
	}
	return 0;
}

/* a = b = value: the value is evaluated once and assigned from left to right. */
static enum flow exec_assign_stmt(struct host *h, struct host_frame *f, const struct py_node *n)
{
	struct val v;
	if (eval_expr(h, f, n->u.Assign.value, &v))
		return FLOW_FAIL;
	if (apply_override(h, f, n->u.Assign.targets.v[0], &v))      /* `a = b = 2` gives both the value */
		return FLOW_FAIL;
	for (size_t i = 0; i < n->u.Assign.targets.n; i++) {
		f->node = n;
		if (exec_assign(h, f, n->u.Assign.targets.v[i], v))
			return FLOW_FAIL;
	}
	return FLOW_NEXT;
}

/* `x: int = 1`. Class and module bodies note the name in __annotations__, in order, which
 * dataclasses read. Annotations of locals are not evaluated. */
static enum flow exec_annassign(struct host *h, struct host_frame *f, const struct py_node *n)
{
	struct val v;
	const struct py_node *t = n->u.AnnAssign.target;
	if (f->names && t->kind == PY_Name) {       /* noted for dataclasses */
		struct val *ann = attrs_get(f->names, h->nm[NM___annotations__]), d, type;
		struct str_obj *id = host_ident(h, t->u.Name.id);
		if (ann && ann->kind != V_DICT) {
			host_fatal(h, REASON_unsupported, "__annotations__ that is not a dictionary is not supported");
			return FLOW_FAIL;
		}
		if (!id || (!ann && (val_dict(h, &d) || attrs_set(h, f->names, h->nm[NM___annotations__], d))))
			return FLOW_FAIL;
		type = val_of_str(id);
		if (f->scope && f->scope->kind == SCOPE_CLASS && attrs_set(h, (ann ? *ann : d).u.d, id, type))
			return FLOW_FAIL;
	}
	if (!n->u.AnnAssign.value)
		return FLOW_NEXT;
	if (eval_expr(h, f, n->u.AnnAssign.value, &v))
		return FLOW_FAIL;
	return apply_override(h, f, t, &v) || exec_assign(h, f, t, v) ? FLOW_FAIL : FLOW_NEXT;
}

/* `x += v`. The target's parts are evaluated once: `a[f()] += 1` calls f once. The result of
 * the operator is stored even if it was in place, as Python does. */
static enum flow exec_augassign(struct host *h, struct host_frame *f, const struct py_node *n)
{
	const struct py_node *t = n->u.AugAssign.target;
	struct val o = val_none(), i = val_none(), old, v, r;
	struct str_obj *name = NULL;
	int rc = -1;
	if (t->kind == PY_Name) {
		f->node = t;
		rc = name_load(h, f, t->u.Name.id, &old);
	} else if (t->kind == PY_Attribute) {
		name = attr_ident(h, f, t->u.Attribute.attr);
		rc = !name || eval_expr(h, f, t->u.Attribute.value, &o) || attr_load(h, o, name, &old) ? -1 : 0;
	} else if (t->kind == PY_Subscript) {
		rc = eval_expr(h, f, t->u.Subscript.value, &o) || eval_expr(h, f, t->u.Subscript.slice, &i) ||
			item_get(h, o, i, &old) ? -1 : 0;
	}
	if (rc || eval_expr(h, f, n->u.AugAssign.value, &v))
		return FLOW_FAIL;
	f->node = n;
	if (op_inplace(h, n->u.AugAssign.op, old, v, &r))
		return FLOW_FAIL;
	if (h->o.path)
		host_note_kind(h, n, r);
	if (t->kind == PY_Name)
		rc = name_store(h, f, t->u.Name.id, r);
	else
		rc = name ? attr_set(h, o, name, r) : item_set(h, o, i, r);
	return rc ? FLOW_FAIL : FLOW_NEXT;
}

/* del of a name, attribute, subscript, or several of them. */
static int delete_target(struct host *h, struct host_frame *f, const struct py_node *t)
{
	struct val o, i;
	f->node = t;
	switch (t->kind) {
	case PY_Name: return name_delete(h, f, t->u.Name.id);
	case PY_Attribute: {
		struct str_obj *name = attr_ident(h, f, t->u.Attribute.attr);
		return !name || eval_expr(h, f, t->u.Attribute.value, &o) ? -1 : attr_del(h, o, name);
	}
	case PY_Subscript:
		if (eval_expr(h, f, t->u.Subscript.value, &o) || eval_expr(h, f, t->u.Subscript.slice, &i))
			return -1;
		return item_del(h, o, i);
	case PY_Tuple: case PY_List:
		for (size_t k = 0; k < t->u.Tuple.elts.n; k++)
			if (delete_target(h, f, t->u.Tuple.elts.v[k]))
				return -1;
		return 0;
	default: return host_fatal(h, REASON_unsupported, "deletion of %s is not supported",
				   py_kind_info(t->kind)->name);
	}
}

/* Targets are deleted from left to right. */
static enum flow exec_delete(struct host *h, struct host_frame *f, const struct py_node *n)
{
	for (size_t i = 0; i < n->u.Delete.targets.n; i++)
		if (delete_target(h, f, n->u.Delete.targets.v[i]))
			return FLOW_FAIL;
	return FLOW_NEXT;
}

/* --- control flow ----------------------------------------------------------------------------- */

/* The truth of a condition. Its outcome is recorded for the dry run (work.c). */
static int test_of(struct host *h, struct host_frame *f, const struct py_node *n)
{
	struct val t;
	size_t mark = temps_mark(h);
	int yes;

	if (eval_expr(h, f, n, &t))
		return -1;
	f->node = n;
	yes = val_truth(h, t);
	temps_drain(h, mark);
	host_note_branch(h, n, yes);
	return yes;
}

/* Adds to the record of what ran, if there is one. */
static int note_ran(struct host *h, const struct py_node *n)
{
	return h->ran && ptr_map_put(h->ran, n, h->ran) &&
		host_fatal(h, REASON_out_of_memory, "the program needs more memory than there is");
}

/* Records the outcome through test_of. */
static enum flow exec_if(struct host *h, struct host_frame *f, const struct py_node *n)
{
	int yes = test_of(h, f, n->u.If.test);
	if (yes < 0 || (!yes && note_ran(h, n->u.If.test)))
		return FLOW_FAIL;
	return exec_block(h, f, yes ? &n->u.If.body : &n->u.If.orelse);
}

/* Every iteration costs a step, so an endless loop runs out of fuel. */
static enum flow exec_while(struct host *h, struct host_frame *f, const struct py_node *n)
{
	for (;;) {
		int yes = test_of(h, f, n->u.While.test);
		enum flow w;

		if (yes < 0 || host_step(h))
			return FLOW_FAIL;
		if (!yes)
			return exec_block(h, f, &n->u.While.orelse);
		w = exec_block(h, f, &n->u.While.body);
		if (w == FLOW_BREAK)
			return FLOW_NEXT;
		if (w == FLOW_FAIL || w == FLOW_RETURN)
			return w;
	}
}

/* The iterator is a temporary of the whole statement; what one iteration makes is dropped with
 * it. `else` runs when the loop ended without break. */
static enum flow exec_for(struct host *h, struct host_frame *f, const struct py_node *n)
{
	struct val v, it, item;
	int more;
	size_t mark;

	if (eval_expr(h, f, n->u.For.iter, &v))
		return FLOW_FAIL;
	f->node = n->u.For.iter;
	if (host_iter(h, v, &it))
		return FLOW_FAIL;
	mark = temps_mark(h);
	while ((more = host_next(h, it, &item)) > 0) {
		enum flow w;

		f->node = n->u.For.target;
		if (host_step(h) || exec_assign(h, f, n->u.For.target, item))
			return FLOW_FAIL;
		temps_drain(h, mark);
		w = exec_block(h, f, &n->u.For.body);
		if (w == FLOW_BREAK)
			return FLOW_NEXT;
		if (w == FLOW_FAIL || w == FLOW_RETURN)
			return w;
		f->node = n->u.For.iter;
	}
	return more < 0 ? FLOW_FAIL : exec_block(h, f, &n->u.For.orelse);
}

/* Keeps the value in the frame until call_function hands it to the caller. */
static enum flow exec_return(struct host *h, struct host_frame *f, const struct py_node *n)
{
	struct val v = val_none();
	if (n->u.Return.value && eval_expr(h, f, n->u.Return.value, &v))
		return FLOW_FAIL;
	val_assign(h, &f->ret, v);
	return FLOW_RETURN;
}

/* The value is dropped with the temporaries of the statement. */
static enum flow exec_expr(struct host *h, struct host_frame *f, const struct py_node *n)
{
	struct val v;
	return eval_expr(h, f, n->u.Expr.value, &v) ? FLOW_FAIL : FLOW_NEXT;
}

/* A failed assert is certain (exc_sure): every Python raises it. */
static enum flow exec_assert(struct host *h, struct host_frame *f, const struct py_node *n)
{
	int64_t read = h->did.reads;
	int yes = test_of(h, f, n->u.Assert.test);
	struct class_obj *cls;
	struct val msg, e;
	struct call_args args;

	if (yes)
		return yes < 0 ? FLOW_FAIL : FLOW_NEXT;
	if (h->o.skip_asserts && h->did.reads == read && !f->mod->trusted)
		return FLOW_NEXT;
	cls = host_exc_class(h, EXC_AssertionError);
	if (!cls)
		return FLOW_FAIL;
	args = (struct call_args){ .a = &msg };
	if (n->u.Assert.msg) {
		if (eval_expr(h, f, n->u.Assert.msg, &msg))
			return FLOW_FAIL;
		args.n = 1;
	}
	f->node = n;
	if (!host_callv(h, val_obj(&cls->h), &args, &e)) {
		host_raise_val(h, e);
		h->fail.exc_sure = 1;
	}
	return FLOW_FAIL;
}

/* `raise X` calls the class without arguments; `raise X(...)` raises the instance. */
static void raise_value(struct host *h, const struct host_frame *f, struct val v)
{
	struct val e = v;
	struct call_args none = { .n = 0 };
	if (v.kind == V_CLASS && class_is_sub(v.u.c, h->type.exc_class[EXC_BaseException]) &&
	    host_callv(h, v, &none, &e))
		return;
	if (e.kind != V_OBJECT || !class_is_sub(e.u.o->cls, h->type.exc_class[EXC_BaseException])) {
		host_raise(h, EXC_TypeError, "exceptions must derive from BaseException");
		return;
	}
	host_raise_val(h, e);
	h->fail.exc_sure = !f->mod->trusted;
}

/* A bare `raise` raises the exception again that the innermost except clause handles. */
static enum flow exec_raise(struct host *h, struct host_frame *f, const struct py_node *n)
{
	struct val v;
	if (n->u.Raise.exc) {
		if (eval_expr(h, f, n->u.Raise.exc, &v))
			return FLOW_FAIL;
		f->node = n;
		raise_value(h, f, v);
		return FLOW_FAIL;
	}
	for (struct host_frame *g = f; g; g = g->up)
		if (g->handled.exc.kind != V_UNSET) {
			host_rethrow(h, &g->handled);
			return FLOW_FAIL;
		}
	f->node = n;
	host_raise(h, EXC_RuntimeError, "No active exception to reraise");
	return FLOW_FAIL;
}

/* --- try and with ------------------------------------------------------------------------------- */

/* Does `except T` catch exc? A bare `except` always does. Returns 1, 0, or -1 on failure. */
static int clause_takes(struct host *h, struct host_frame *f, const struct py_node *c, struct val exc)
{
	struct val type;
	if (!c->u.ExceptHandler.type)
		return 1;
	if (eval_expr(h, f, c->u.ExceptHandler.type, &type))
		return -1;
	f->node = c;
	if (type.kind != V_CLASS && type.kind != V_TUPLE)
		return host_raise(h, EXC_TypeError,
				  "catching classes that do not inherit from BaseException is not allowed");
	return isinstance_of(h, exc, type);
}

/* Runs an except clause. Its name is deleted afterwards, as in Python 3: `except E as e` leaves
 * no e behind. */
static enum flow run_handler(struct host *h, struct host_frame *f, const struct py_node *c,
			     const struct host_caught *caught)
{
	struct host_caught outer = f->handled;
	enum flow w;

	val_keep(caught->exc);
	f->handled = *caught;
	w = FLOW_NEXT;
	if (c->u.ExceptHandler.name.p && name_store(h, f, c->u.ExceptHandler.name, caught->exc))
		w = FLOW_FAIL;
	if (w == FLOW_NEXT)
		w = exec_block(h, f, &c->u.ExceptHandler.body);
	f->handled = outer;
	val_drop(h, caught->exc);
	if (c->u.ExceptHandler.name.p && !h->fail.fatal && w != FLOW_FAIL) {
		if (name_store(h, f, c->u.ExceptHandler.name, val_none()) || name_delete(h, f, c->u.ExceptHandler.name))
			return FLOW_FAIL;
	}
	return w;
}

/* May a program continue after this exception? While forward runs (sealed) nothing may be caught,
 * because a handler could hide a failing kernel and compute the result in another way. Before that,
 * with catch_sure, only exceptions count that every Python raises: a program must not branch on a
 * failure that only this engine has. A reference may catch anything. */
static int refuse_catch(struct host *h, const struct host_frame *f, const struct host_caught *c)
{
	if (f->mod->trusted || h->o.is_reference)
		return 0;
	if (h->heap.sealed)
		return host_fatal(h, REASON_try_forbidden, "forward catches a %s", val_type_name(h, c->exc));
	if (h->o.catch_sure && !c->sure)
		return host_fatal(h, REASON_unstable,
				  "the program catches a %s that another Python might not raise",
				  val_type_name(h, c->exc));
	return 0;
}

/* Offers the pending exception to the clauses in order; if none takes it, it stays pending. */
static enum flow exec_handlers(struct host *h, struct host_frame *f, const struct py_node *n)
{
	struct host_caught caught;

	if (host_catch(h, &caught) || (n->u.Try.handlers.n && refuse_catch(h, f, &caught)))
		return FLOW_FAIL;
	for (size_t i = 0; i < n->u.Try.handlers.n; i++) {
		const struct py_node *c = n->u.Try.handlers.v[i];
		int takes = clause_takes(h, f, c, caught.exc);
		if (takes < 0)
			return FLOW_FAIL;
		if (takes)
			return run_handler(h, f, c, &caught);
	}
	host_rethrow(h, &caught);
	return FLOW_FAIL;
}

/* Runs `finally` however the body ended. A return or exception of its own replaces the earlier
 * outcome; that swallows an exception, so refuse_catch is asked. A fatal failure skips it. */
static enum flow exec_finally(struct host *h, struct host_frame *f, const struct py_list *body, enum flow w)
{
	struct host_caught caught;
	struct val ret = f->ret;
	enum flow own;

	if (!body->n || h->fail.fatal)
		return w;
	if (w == FLOW_FAIL && host_catch(h, &caught))
		return FLOW_FAIL;
	f->ret = (struct val){ .kind = V_UNSET };
	own = exec_block(h, f, body);
	if (own != FLOW_NEXT) {
		val_drop(h, ret);
		return w == FLOW_FAIL && !h->fail.fatal && refuse_catch(h, f, &caught) ? FLOW_FAIL : own;
	}
	val_drop(h, f->ret);
	f->ret = ret;
	if (w == FLOW_FAIL)
		host_rethrow(h, &caught);
	return w;
}

/* h->tries counts the try statements with handlers around the running code. */
static enum flow exec_try(struct host *h, struct host_frame *f, const struct py_node *n)
{
	size_t mark = temps_mark(h);
	int catches = n->u.Try.handlers.n > 0;
	enum flow w;

	h->tries += catches;
	w = exec_block(h, f, &n->u.Try.body);
	h->tries -= catches;
	if (w == FLOW_FAIL && !h->fail.fatal)
		w = exec_handlers(h, f, n);
	else if (w == FLOW_NEXT)
		w = exec_block(h, f, &n->u.Try.orelse);
	w = exec_finally(h, f, &n->u.Try.finalbody, w);
	temps_drain(h, mark);
	return w;
}

static enum flow exec_try_star(struct host *h, struct host_frame *f, const struct py_node *n)
{
	f->node = n;
	host_fatal(h, REASON_unsupported, "except* is not supported");
	return FLOW_FAIL;
}

/* Calls __exit__ after the body with the exception, if any. A true result swallows the
 * exception. */
static enum flow leave_with(struct host *h, struct val manager, enum flow w)
{
	struct host_caught caught;
	struct val r, a[3] = { val_none(), val_none(), val_none() };
	int swallow, found;

	if (h->fail.fatal)
		return FLOW_FAIL;
	if (w == FLOW_FAIL) {
		if (host_catch(h, &caught))
			return FLOW_FAIL;
		a[0] = val_obj(&caught.exc.u.o->cls->h);
		a[1] = caught.exc;
	}
	found = call_special(h, manager, NM___exit__, a, 3, &r);
	if (!found)
		host_fatal(h, REASON_unsupported, "a context manager that loses its __exit__ method is not supported");
	if (found <= 0)
		return FLOW_FAIL;
	if (w != FLOW_FAIL)
		return w;
	swallow = val_truth(h, r);
	if (swallow)
		return swallow < 0 ? FLOW_FAIL : FLOW_NEXT;
	host_rethrow(h, &caught);
	return FLOW_FAIL;
}

/* `with a as x, b as y:` nests: b is entered inside a. i is the item to enter next. */
static enum flow with_item(struct host *h, struct host_frame *f, const struct py_node *n, size_t i)
{
	enum flow w;
	const struct py_withitem *item;
	struct val manager, v;

	if (i == n->u.With.items.n)
		return exec_block(h, f, &n->u.With.body);
	item = &n->u.With.items.v[i]->u.withitem;
	if (eval_expr(h, f, item->context_expr, &manager))
		return FLOW_FAIL;
	f->node = item->context_expr;
	if (!has_special(h, manager, NM___enter__) || !has_special(h, manager, NM___exit__)) {
		if (!h->fail.fatal)
			host_raise(h, EXC_TypeError,
				   "'%s' object does not support the context manager protocol",
				   val_type_name(h, manager));
		return FLOW_FAIL;
	}
	if (call_special(h, manager, NM___enter__, NULL, 0, &v) <= 0)
		return FLOW_FAIL;
	w = FLOW_FAIL;
	if (!item->optional_vars || !exec_assign(h, f, item->optional_vars, v))
		w = with_item(h, f, n, i + 1);
	return leave_with(h, manager, w);
}

static enum flow exec_with(struct host *h, struct host_frame *f, const struct py_node *n)
{
	return with_item(h, f, n, 0);
}

/* --- definitions and the rest ------------------------------------------------------------------------ */

enum { MOST_DECORATORS = 32 };

/* Decorators are evaluated before the defaults of a function and the bases of a class, and
 * applied after the body: CPython's order. */
static int eval_decorators(struct host *h, struct host_frame *f, const struct py_list *decorators, struct val *d)
{
	if (decorators->n > MOST_DECORATORS)
		return host_fatal(h, REASON_unsupported, "more than %d decorators are not supported", MOST_DECORATORS);
	for (size_t i = 0; i < decorators->n; i++)
		if (eval_expr(h, f, decorators->v[i], &d[i]))
			return -1;
	return 0;
}

/* Applies decorators from the innermost (last written) to the outermost. */
static int decorate(struct host *h, struct host_frame *f, const struct py_list *decorators,
		    const struct val *d, struct val *v)
{
	for (size_t i = decorators->n; i-- > 0;) {
		struct val r;

		f->node = decorators->v[i];
		if (host_call1(h, d[i], *v, &r))
			return -1;
		*v = r;
	}
	return 0;
}

/* A def or class statement: makes the object, decorates it and binds its name. */
static enum flow define(struct host *h, struct host_frame *f, const struct py_node *n,
			const struct py_list *decorators, struct str name)
{
	struct val d[MOST_DECORATORS], v;

	if (eval_decorators(h, f, decorators, d) ||
	    (n->kind == PY_ClassDef ? make_class(h, f, n, &v) : make_function(h, f, n, &v)))
		return FLOW_FAIL;
	return decorate(h, f, decorators, d, &v) || name_store(h, f, name, v) ? FLOW_FAIL : FLOW_NEXT;
}

static enum flow exec_def(struct host *h, struct host_frame *f, const struct py_node *n)
{
	return define(h, f, n, &n->u.FunctionDef.decorator_list, n->u.FunctionDef.name);
}

static enum flow exec_class(struct host *h, struct host_frame *f, const struct py_node *n)
{
	return define(h, f, n, &n->u.ClassDef.decorator_list, n->u.ClassDef.name);
}

static enum flow exec_import_stmt(struct host *h, struct host_frame *f, const struct py_node *n)
{
	f->node = n;
	return exec_import(h, f, n) ? FLOW_FAIL : FLOW_NEXT;
}

/* Runs the body of the case that matches; without one the statement does nothing. */
static enum flow exec_match_stmt(struct host *h, struct host_frame *f, const struct py_node *n)
{
	const struct py_node *c;
	int found = exec_match(h, f, n, &c);
	if (found < 0)
		return FLOW_FAIL;
	return found ? exec_block(h, f, &c->u.match_case.body) : FLOW_NEXT;
}

/* pass, and declarations that scope.c has already used. */
static enum flow exec_nothing(struct host *h, struct host_frame *f, const struct py_node *n)
{
	(void)h, (void)f, (void)n;
	return FLOW_NEXT;
}

static enum flow exec_break(struct host *h, struct host_frame *f, const struct py_node *n)
{
	(void)h, (void)f, (void)n;
	return FLOW_BREAK;
}

static enum flow exec_continue(struct host *h, struct host_frame *f, const struct py_node *n)
{
	(void)h, (void)f, (void)n;
	return FLOW_CONTINUE;
}

/* One function per statement kind. A kind without an entry is not supported. */
static exec_fn *const table[PY_KINDS] = {
	[PY_Assign] = exec_assign_stmt, [PY_AnnAssign] = exec_annassign, [PY_AugAssign] = exec_augassign,
	[PY_Delete] = exec_delete, [PY_If] = exec_if, [PY_While] = exec_while, [PY_For] = exec_for,
	[PY_Return] = exec_return, [PY_Expr] = exec_expr, [PY_Assert] = exec_assert, [PY_Raise] = exec_raise,
	[PY_Try] = exec_try, [PY_TryStar] = exec_try_star, [PY_With] = exec_with, [PY_FunctionDef] = exec_def,
	[PY_ClassDef] = exec_class, [PY_Import] = exec_import_stmt, [PY_ImportFrom] = exec_import_stmt,
	[PY_Match] = exec_match_stmt, [PY_Global] = exec_nothing, [PY_Nonlocal] = exec_nothing,
	[PY_Pass] = exec_nothing, [PY_Break] = exec_break, [PY_Continue] = exec_continue,
};

/* Runs statements until one returns a flow other than FLOW_NEXT. Each costs one step of fuel. */
enum flow exec_block(struct host *h, struct host_frame *f, const struct py_list *body)
{
	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *n = body->v[i];
		size_t mark;
		enum flow w;

		f->node = n;
		if (host_step(h) || note_ran(h, n))
			return FLOW_FAIL;
		if (!table[n->kind]) {
			host_fatal(h, REASON_unsupported, "%s is not supported here", py_kind_info(n->kind)->name);
			return FLOW_FAIL;
		}
		mark = temps_mark(h);
		w = table[n->kind](h, f, n);
		temps_drain(h, mark);
		if (w != FLOW_NEXT)
			return w;
	}
	return FLOW_NEXT;
}
