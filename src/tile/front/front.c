/* Owns failing: the location of an error, its text, and how the compilation is left. An error
 * inside a library function is reported at the call in the user's source that led there. Does not
 * own the messages: the callers pass them. */
#include "tile/front/front.h"

#include <stdio.h>

#include "tile/front/engine.h"

/* The innermost frame of the user's own code: the frame itself, or the caller of the library
 * function. */
static const struct front_frame *user_frame(const struct front *f)
{
	const struct front_frame *fr = f->frame;
	while (fr && fr->in_prelude)
		fr = fr->up;
	return fr;
}

/* For traces of tests. */
int front_line(const struct front *f)
{
	const struct front_frame *fr = user_frame(f);
	return fr && fr->cur ? fr->cur->line : 0;
}

/* Fills a diagnostic with the location in the user's code and the name of the kernel, which is the
 * outermost frame. */
static void fail_at(const struct front *f, struct diag *d, enum reason r, const char *fmt, va_list ap)
{
	const struct front_frame *fr = user_frame(f);
	char text[sizeof d->text];
	const struct front_frame *kernel;
	int line, col;

	vsnprintf(text, sizeof text, fmt, ap);
	line = fr && fr->cur ? fr->cur->line : 0;
	col = fr && fr->cur ? fr->cur->col + 1 : 0;
	diag_set(d, r, line, col, "%s", text);
	kernel = f->frame;
	while (kernel && kernel->up)
		kernel = kernel->up;
	if (kernel && !d->kernel[0])
		snprintf(d->kernel, sizeof d->kernel, "%.*s", STR_ARG(kernel->fn->name));
}

/* The trap is set in compile_kernel. */
_Noreturn void front_fail(struct front *f, enum reason r, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fail_at(f, f->d, r, fmt, ap);
	va_end(ap);
	longjmp(f->trap, 1);
}

_Noreturn void front_fail_hint(struct front *f, enum reason r, const char *hint, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fail_at(f, f->d, r, fmt, ap);
	va_end(ap);
	if (hint)
		diag_hint(f->d, "%s", hint);
	longjmp(f->trap, 1);
}

/* The first reason is kept: later ones often follow from it. */
void front_unsupported(struct front *f, const char *fmt, ...)
{
	va_list ap;

	if (f->unsupported)
		return;
	f->unsupported = 1;
	f->mute++;
	va_start(ap, fmt);
	fail_at(f, f->du, REASON_unsupported, fmt, ap);
	va_end(ap);
}

/* Triton's verifier runs after its front end, so an ordinary error in a later statement takes
 * precedence. */
void front_late(struct front *f, enum reason r, const char *hint, const char *fmt, ...)
{
	va_list ap;

	if (f->g->o.may_exceed)
		return;
	va_start(ap, fmt);
	fail_at(f, &f->late, r, fmt, ap);
	va_end(ap);
	if (hint && !f->late.hint[0])
		diag_hint(&f->late, "%s", hint);
	front_unsupported(f, "refused by the verifier");
}

/* Moves the text of a buffer into the arena, so that the caller may leave by longjmp. */
static const char *taken(struct front *f, struct buf *b)
{
	const char *s = arena_strndup(f->a, buf_cstr(b), b->n);
	buf_release(b);
	return s;
}

const char *front_str(struct front *f, const struct lang_val *v)
{
	struct buf b = BUF_INIT;
	lang_str_to(v, &b);
	return taken(f, &b);
}

const char *front_ty(struct front *f, const struct ty *t)
{
	struct buf b = BUF_INIT;
	ty_str(t, &b);
	return taken(f, &b);
}

const char *front_ty_repr(struct front *f, const struct ty *t)
{
	struct buf b = BUF_INIT;
	ty_repr(t, &b);
	return taken(f, &b);
}

/* The shape as Triton prints it: ['16', '32']. */
const char *front_shape(struct front *f, const struct ty *t)
{
	struct buf b = BUF_INIT;
	buf_addc(&b, '[');
	for (int i = 0; i < t->rank; i++)
		buf_addf(&b, "%s'%lld'", i ? ", " : "", (long long)t->shape[i]);
	buf_addc(&b, ']');
	return taken(f, &b);
}
