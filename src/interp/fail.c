/* Failures: exceptions, fatal ends, limits, and how they become a diagnostic. Owns h->fail and
 * the counters of fuel and depth. Does not own try statements (exec.c).
 *
 * Two kinds of failure, see state.h: an exception is pending in h->fail.exc and program code may
 * catch it. A fatal failure (limit, forbidden name, unsupported function) ends the program and is
 * not catchable: `except: pass` cannot hide it. The first fatal failure is kept.
 *
 * The position of a failure is that of the innermost frame of the program's own source, not of the
 * prelude: a message about nn.Linear points at the line that called it.
 *
 * Fuel: each statement, expression and iteration costs one step (host_step); functions that work
 * in a C loop pay by its length (host_burn). A run out of fuel is fatal. So no program runs for
 * ever, and the limit does not depend on the machine's speed. */
#include <stdio.h>

#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/object.h"
#include "interp/state.h"

/* The reason code of each built-in exception: KeyError is key_error. */
static const enum reason exc_reason[EXCS] = {
#define EXC(name, base, reason) REASON_##reason,
#include "interp/exc.def"
#undef EXC
};

/* Line and column (from 1) of the program's own code that is being evaluated; 0, 0 if no such code
 * runs. */
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

/* Ends the program with reason r. Returns -1. A second call changes nothing: the first failure
 * is the cause. */
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

/* The program cannot read the text of print, so print(id(x)) is allowed. A reference may ask for
 * anything: nobody gains by an answer. */
int host_varies(struct host *h, const char *what)
{
	if (!host_serves_program(h) || h->did.printing || h->o.is_reference)
		return 0;
	return host_fatal(h, REASON_unstable, "%s varies between Python runs and may not be used", what);
}

/* The guard between calls of forward. Objects older than host_seal (weights, module attributes,
 * globals) must not change, or a candidate could return a result it kept from an earlier call.
 * Storages have rising ids: a tensor is old if its storage is. */
int host_may_change(struct host *h, struct val v)
{
	int old;

	if (!h->heap.guarded || !V_IS_HEAP(v) || (h->frame && h->frame->mod->trusted))
		return 0;
	old = v.kind == V_TENSOR ? v.u.t->t.st && v.u.t->t.st->id <= h->heap.sealed_storage : !v.u.o->young;
	return old ? host_fatal(h, REASON_state_kept, "the program changes a %s that outlives the call",
				val_type_name(h, v)) : 0;
}

/* The same guard for attributes. Attributes of nn.Module are guarded against our own prelude as
 * well, because program code reaches the prelude by methods such as ParameterList.append. A
 * class of the prelude with _forgets throws away what is set, so setting is harmless. */
int host_may_set(struct host *h, struct val v)
{
	int module;

	if (!h->heap.guarded || !V_IS_HEAP(v) || v.u.o->young)
		return 0;
	if (v.kind == V_OBJECT && v.u.o->cls->mod && v.u.o->cls->mod->trusted && has_special(h, v, NM__forgets))
		return 0;                     /* the stored value cannot be read back */
	module = v.kind == V_OBJECT && h->type.nn_module && class_is_sub(v.u.o->cls, h->type.nn_module);
	if (!module && h->frame && h->frame->mod->trusted)
		return 0;
	return host_fatal(h, REASON_state_kept, "the program sets an attribute of a %s that outlives the call",
			  val_type_name(h, v));
}

/* Makes `exc` the pending exception and notes its position. Returns -1. */
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

/* Raises a built-in exception with a text as its only argument. `r` overrides the reason code
 * of the class unless it is REASON_ok. The instance is built by hand: calling the class could
 * run program code. */
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

/* Raises a built-in exception; the reason code is that of its class. */
int host_raise(struct host *h, enum host_exc x, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	host_vraise(h, x, REASON_ok, fmt, ap);
	va_end(ap);
	return -1;
}

/* Raises an exception that every Python would raise at this point, such as an attribute that no
 * torch has. With catch_sure a program may catch only those. */
int host_raise_sure(struct host *h, enum host_exc x, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	host_vraise(h, x, REASON_ok, fmt, ap);
	va_end(ap);
	h->fail.exc_sure = 1;
	return -1;
}

/* host_raise with a reason code of its own. */
static int raise_as(struct host *h, enum host_exc x, enum reason r, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	host_vraise(h, x, r, fmt, ap);
	va_end(ap);
	return -1;
}

/* Raises the error of a tensor function. The message is PyTorch's; its code and wording decide
 * the class, as PyTorch has it: "Dimension out of range" is an IndexError. */
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

/* Is the pending exception an instance of class x? A fatal failure never is. */
int host_exc_is(struct host *h, enum host_exc x)
{
	return !h->fail.fatal && h->fail.exc.kind == V_OBJECT &&
		class_is_sub(h->fail.exc.u.o->cls, h->type.exc_class[x]);
}

/* Forgets the pending exception. */
void host_exc_clear(struct host *h)
{
	val_assign(h, &h->fail.exc, (struct val){ .kind = V_UNSET });
	h->fail.exc_reason = REASON_ok;
}

/* Takes the pending exception, for an except clause. Returns -1 if no exception is pending or the
 * failure is fatal. */
int host_catch(struct host *h, struct host_caught *c)
{
	if (h->fail.fatal || h->fail.exc.kind == V_UNSET)
		return -1;
	*c = (struct host_caught){ .exc = host_hold(h, h->fail.exc), .reason = h->fail.exc_reason,
				   .line = h->fail.exc_line, .col = h->fail.exc_col, .sure = h->fail.exc_sure };
	host_exc_clear(h);
	return 0;
}

/* Makes a caught exception pending again with its original position. */
void host_rethrow(struct host *h, const struct host_caught *c)
{
	host_raise_val(h, c->exc);
	h->fail.exc_reason = c->reason;
	h->fail.exc_line = c->line;
	h->fail.exc_col = c->col;
	h->fail.exc_sure = c->sure;
}

/* The reason code of an exception class: that of its nearest built-in base. */
static enum reason class_reason(struct host *h, const struct class_obj *c)
{
	for (size_t i = 0; i < c->n_mro; i++)
		if (c->mro[i]->is_exc)
			return exc_reason[c->mro[i]->is_exc - 1];
	(void)h;
	return REASON_raised;
}

/* Turns the pending exception into h->fail.diag: "ValueError: too large". Returns 1. If __str__
 * of the exception fails, the text ends after the class name. */
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
	/* No text: "ValueError" instead of "ValueError: ". */
	if (b.n == at && b.n > 2)
		b.n -= 2;
	h->fail.diag = (struct diag){ .reason = REASON_ok };
	diag_set(&h->fail.diag, r, line, col, "%.*s", (int)b.n, b.p ? b.p : "");
	buf_release(&b);
	return 1;
}

/* Enters a call. The limit is the recursion depth or the C stack, whichever comes first.
 * RecursionError can be caught; a handler that recurses further ends the program. */
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

/* Checks the C stack only, for recursion over a syntax tree without calls: ((((...)))) of a
 * source. */
int host_deep(struct host *h)
{
	char here;

	return &here < h->lim.stack_floor ?
		host_fatal(h, REASON_recursion_limit, "maximum recursion depth exceeded") : 0;
}

/* Fuel stays negative, so every later step fails too. */
int host_out_of_fuel(struct host *h)
{
	h->lim.fuel = -1;
	return host_fatal(h, REASON_out_of_fuel, "the program took more than %lld steps", (long long)h->lim.fuel_start);
}

/* Pays for `steps` at once, before a C loop of that length. */
int host_burn(struct host *h, int64_t steps)
{
	h->lim.fuel -= steps;
	return h->lim.fuel < 0 ? host_out_of_fuel(h) : 0;
}
