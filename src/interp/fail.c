/* Failing: exceptions, fatal ends, limits, and how they become a diagnostic.
 *
 * The position of a failure is that of the innermost frame of the program's own source, not
 * of the prelude: a message about nn.Linear points at the line that called it. */
#include <stdio.h>

#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/object.h"
#include "interp/state.h"

static const enum reason exc_reason[EXCS] = {
#define EXC(name, base, reason) REASON_##reason,
#include "interp/exc.def"
#undef EXC
};

void host_position(struct host *h, int *line, int *col)
{
	*line = *col = 0;
	for (struct host_frame *f = h->frame; f; f = f->up)
		if (f->node && !f->mod->trusted) {
			*line = f->node->line;
			*col = f->node->col + 1;
			return;
		}
}

int host_fatal(struct host *h, enum reason r, const char *fmt, ...)
{
	char text[600];
	int line, col;
	va_list ap;

	if (h->fail.fatal)
		return -1;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	host_position(h, &line, &col);
	h->fail.diag = (struct diag){ .reason = REASON_ok };
	h->fail.fatal = 1;
	return diag_set(&h->fail.diag, r, line, col, "%s", text);
}

int host_varies(struct host *h, const char *what)
{
	if (!host_serves_program(h) || h->did.printing)
		return 0;
	return host_fatal(h, REASON_unsupported, "%s is not the same wherever Python runs", what);
}

int host_may_change(struct host *h, struct val v)
{
	int old;

	if (!h->heap.guarded || !V_IS_HEAP(v) || (h->frame && h->frame->mod->trusted))
		return 0;
	old = v.kind == V_TENSOR ? v.u.t->t.st && v.u.t->t.st->id <= h->heap.sealed_storage : !v.u.o->young;
	return old ? host_fatal(h, REASON_state_kept, "a %s that outlives the call is changed",
				val_type_name(h, v)) : 0;
}

/* Attributes of modules are guarded against our own code as well: program code reaches it by
 * methods such as ParameterList.append. */
int host_may_set(struct host *h, struct val v)
{
	int module;

	if (!h->heap.guarded || !V_IS_HEAP(v) || v.u.o->young)
		return 0;
	if (v.kind == V_OBJECT && v.u.o->cls->mod && v.u.o->cls->mod->trusted && has_special(h, v, NM__forgets))
		return 0;                     /* what is set there cannot be read */
	module = v.kind == V_OBJECT && h->type.nn_module && class_is_sub(v.u.o->cls, h->type.nn_module);
	if (!module && h->frame && h->frame->mod->trusted)
		return 0;
	return host_fatal(h, REASON_state_kept, "an attribute of a %s that outlives the call is set",
			  val_type_name(h, v));
}

int host_raise_val(struct host *h, struct val exc)
{
	if (h->fail.fatal)
		return -1;
	val_assign(h, &h->fail.exc, exc);
	h->fail.exc_reason = REASON_ok;
	h->fail.exc_sure = 0;
	host_position(h, &h->fail.exc_line, &h->fail.exc_col);
	return -1;
}

int host_vraise(struct host *h, enum host_exc x, enum reason r, const char *fmt, va_list ap)
{
	char text[1200];
	struct class_obj *cls;
	struct val s, arg;
	struct obj *o;
	struct dict_obj *d;

	if (h->fail.fatal)
		return -1;
	vsnprintf(text, sizeof text, fmt, ap);
	cls = host_exc_class(h, x);
	o = cls ? host_obj(h, V_OBJECT, sizeof *o, cls) : NULL;
	d = o ? dict_obj_new(h, V_DICT) : NULL;
	if (!d || val_str(h, str_of(text), &s) || val_tuple(h, &s, 1, &arg))
		return -1;
	val_keep(val_obj(&d->h));
	o->attrs = d;
	if (attrs_set(h, d, h->nm[NM_args], arg))
		return -1;
	host_raise_val(h, val_obj(o));
	h->fail.exc_reason = r;
	return -1;
}

int host_raise(struct host *h, enum host_exc x, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	host_vraise(h, x, REASON_ok, fmt, ap);
	va_end(ap);
	return -1;
}

int host_raise_sure(struct host *h, enum host_exc x, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	host_vraise(h, x, REASON_ok, fmt, ap);
	va_end(ap);
	h->fail.exc_sure = 1;
	return -1;
}

static int raise_as(struct host *h, enum host_exc x, enum reason r, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	host_vraise(h, x, r, fmt, ap);
	va_end(ap);
	return -1;
}

/* What a tensor function refused. Its message is PyTorch's; the class follows from it. */
int host_raise_err(struct host *h, const struct err *e)
{
	switch (e->code) {
	case ERR_NOMEM: return host_fatal(h, REASON_out_of_memory, "%s", e->text[0] ? e->text : "out of memory");
	case ERR_UNSUPPORTED: return host_fatal(h, REASON_unsupported, "%s", e->text);
	case ERR_RANGE:
		if (strstr(e->text, "index") || strstr(e->text, "Dimension") || strstr(e->text, "out of "))
			return raise_as(h, EXC_IndexError, REASON_ok, "%s", e->text);
		break;
	case ERR_FORMAT: return raise_as(h, EXC_ValueError, REASON_shape_error, "%s", e->text);
	case ERR_USAGE: return raise_as(h, EXC_TypeError, REASON_ok, "%s", e->text);
	default: break;
	}
	if (strstr(e->text, "\" not implemented for '"))
		return raise_as(h, EXC_NotImplementedError, REASON_shape_error, "%s", e->text);
	return raise_as(h, EXC_RuntimeError, REASON_shape_error, "%s", e->text);
}

int host_exc_is(struct host *h, enum host_exc x)
{
	return !h->fail.fatal && h->fail.exc.kind == V_OBJECT && class_is_sub(h->fail.exc.u.o->cls,
			h->type.exc_class[x]);
}

void host_exc_clear(struct host *h)
{
	val_assign(h, &h->fail.exc, (struct val){ .kind = V_UNSET });
	h->fail.exc_reason = REASON_ok;
}

int host_catch(struct host *h, struct host_caught *c)
{
	if (h->fail.fatal || h->fail.exc.kind == V_UNSET)
		return -1;
	*c = (struct host_caught){ .exc = host_hold(h, h->fail.exc), .reason = h->fail.exc_reason,
				   .line = h->fail.exc_line, .col = h->fail.exc_col, .sure = h->fail.exc_sure };
	host_exc_clear(h);
	return 0;
}

void host_rethrow(struct host *h, const struct host_caught *c)
{
	host_raise_val(h, c->exc);
	h->fail.exc_reason = c->reason;
	h->fail.exc_line = c->line;
	h->fail.exc_col = c->col;
	h->fail.exc_sure = c->sure;
}

static enum reason class_reason(struct host *h, const struct class_obj *c)
{
	for (size_t i = 0; i < c->n_mro; i++)
		if (c->mro[i]->is_exc)
			return exc_reason[c->mro[i]->is_exc - 1];
	(void)h;
	return REASON_raised;
}

int host_report(struct host *h)
{
	size_t at;
	struct val exc;
	enum reason r;
	int line, col;
	struct buf b = BUF_INIT;

	if (h->fail.fatal || h->fail.exc.kind == V_UNSET)
		return 1;
	exc = host_hold(h, h->fail.exc);
	r = h->fail.exc_reason ? h->fail.exc_reason : class_reason(h, exc.u.o->cls);
	line = h->fail.exc_line;
	col = h->fail.exc_col;
	host_exc_clear(h);
	buf_adds(&b, val_type_name(h, exc));
	buf_adds(&b, ": ");
	at = b.n;
	if (val_to_str(h, exc, &b) && !h->fail.fatal)
		host_exc_clear(h);
	if (b.n == at && b.n > 2)
		b.n -= 2;
	h->fail.diag = (struct diag){ .reason = REASON_ok };
	diag_set(&h->fail.diag, r, line, col, "%.*s", (int)b.n, b.p ? b.p : "");
	buf_release(&b);
	return 1;
}

int host_enter(struct host *h)
{
	char here;
	size_t used = h->lim.stack_top > &here ? (size_t)(h->lim.stack_top - &here) : 0;
	if (h->lim.depth < h->o.recursion && used < h->lim.stack_limit) {
		h->lim.depth++;
		return 0;
	}
	/* Room for the handler: exceptions raised at the limit need a few calls themselves. */
	if (h->lim.depth > h->o.recursion + 50 || used > h->lim.stack_limit + h->lim.stack_limit / 8)
		return host_fatal(h, REASON_recursion_limit, "maximum recursion depth exceeded");
	return host_raise(h, EXC_RecursionError, "maximum recursion depth exceeded");
}

int host_deep(struct host *h)
{
	char here;

	return &here < h->lim.stack_floor ? host_fatal(h, REASON_recursion_limit,
						       "maximum recursion depth exceeded") : 0;
}

int host_out_of_fuel(struct host *h)
{
	h->lim.fuel = -1;
	return host_fatal(h, REASON_out_of_fuel, "the program took more than %lld steps", (long long)h->lim.fuel_start);
}

int host_burn(struct host *h, int64_t steps)
{
	h->lim.fuel -= steps;
	return h->lim.fuel < 0 ? host_out_of_fuel(h) : 0;
}
