/* Tracking of memory that was never written, through torch operators. unwritten.h has the
 * rules. */
#include "interp/unwritten.h"

#include "interp/fail.h"
#include "interp/state.h"

enum { DEEPEST = 2 }; /* nesting of lists that is searched */

/* Only runs with contents that were told to track, and only calls that read elements. */
static int is_tracked(const struct bind *b, unsigned kind)
{
	return b->h->o.track_undef && !b->h->o.hollow && kind & (BIND_COMPUTE | BIND_COPY | BIND_MOVE);
}

/* Is no byte of the storage written? */
static int never_written(const struct tensor *t)
{
	return t->st->undef && tensor_numel(t) && !memchr(t->st->undef, 0, t->st->bytes);
}

/* Could the list hold tensors? Its first element decides: a list of numbers may be long and is
 * not searched. */
static int holds_tensors(struct val v)
{
	enum val_kind first = (v.kind == V_LIST || v.kind == V_TUPLE) && v.u.seq->n ? v.u.seq->v[0].kind : V_NONE;

	return first == V_TENSOR || first == V_LIST || first == V_TUPLE;
}

/* Notes in *b whether an argument has unwritten elements, or none that is written. */
static void look_at(struct bind *b, struct val v, int depth)
{
	if (v.kind == V_TENSOR && v.u.t->t.st) {
		b->unwritten |= tensor_any_undef(&v.u.t->t);
		b->empty |= never_written(&v.u.t->t);
	} else if (holds_tensors(v) && depth < DEEPEST)
		for (size_t i = 0; i < v.u.seq->n; i++)
			look_at(b, v.u.seq->v[i], depth + 1);
}

static int is_zero(struct val v)
{
	return v.kind == V_FLOAT ? v.u.f == 0.0 : v.kind == V_INT && v.u.i == 0;
}

/* Does the call read this slot? `out` and the target of a plain copy are only written; addmm
 * with beta=0 ignores its input. */
static int is_read(const struct bind *b, unsigned kind, const struct sig *s, size_t slot)
{
	if (str_is(s->p[slot].name, "out") || (slot == 0 && kind & BIND_INPLACE && !(kind & BIND_COMPUTE)))
		return 0;
	for (size_t i = 0; i < s->n && slot == 0; i++)
		if (str_is(s->p[i].name, "beta") && is_zero(b->a[i]))
			return 0;
	return 1;
}

void unwritten_before(struct bind *b, unsigned kind, const struct sig *s)
{
	for (size_t i = 0; i < b->n && is_tracked(b, kind); i++)
		if (is_read(b, kind, s, i))
			look_at(b, b->a[i], 0);
}

/* Has the operator marked the elements of the result itself? A preceding step may have marked
 * its own result, so the storage needs a map of marks. */
static int is_marked(const struct bind *b, const struct tensor *t)
{
	return !t->st || tensor_any_undef(t) || (b->carried && t->st->undef);
}

/* Marks all elements of the result as never written. */
static int mark(struct bind *b, struct val v, int depth)
{
	int rc = 0;

	if (v.kind == V_TENSOR && !is_marked(b, &v.u.t->t)) {
		rc = tensor_want_marks(&v.u.t->t, bind_e(b)) ? bind_fail(b) : 0;
		if (!rc)
			tensor_mark_undef(&v.u.t->t);
	}
	for (size_t i = 0; (v.kind == V_LIST || v.kind == V_TUPLE) && depth < DEEPEST && i < v.u.seq->n && !rc; i++)
		rc = mark(b, v.u.seq->v[i], depth + 1);
	return rc;
}

/* See unwritten.h. A Python number computed from unwritten memory ends the program. */
int unwritten_after(struct bind *b, unsigned kind)
{
	struct val to = b->row->flags & BIND_INPLACE ? b->a[0] : b->out;
	int computes = (kind & BIND_COMPUTE) != 0;

	if (!b->unwritten || b->row->flags & BIND_VIEW || (!computes && !b->empty))
		return 0;
	if (to.kind == V_BOOL || to.kind == V_INT || to.kind == V_FLOAT)
		return host_fatal(b->h, REASON_uninitialised, "the program reads a value that was never written");
	return mark(b, to, 0);
}
