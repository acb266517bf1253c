/* Calls on number tensors in a dry run; solid.h explains what they are.
 *
 * A storage knows whether it was made only of numbers (`numbers`), in hollow runs and in others. In
 * a hollow run a call whose tensors all are number tensors is run twice: without contents, which
 * gives the size of the result, and then with contents if the result is at most BYTES_MOST. For the
 * second call the storages are lent: they act as ordinary storages until take_back.
 *
 * A number tensor that meets a tensor of data may be a factor. Then the kinds of its elements are
 * recorded like those of Python numbers (work.c). */
#include "interp/solid.h"

#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/state.h"
#include "interp/work.h"
#include "tensor/sparse.h"

/* Limits: storages of one call, values looked at, bytes of a result with contents, elements
 * whose kinds are recorded, nesting of lists. */
enum { STORAGES_MOST = 16, LOOKS_MOST = 4096, BYTES_MOST = 4 << 20, NOTED_MOST = 16, DEPTH_MOST = 6 };

/* The kinds of calls that involve tensors. */
static const unsigned makes = BIND_COMPUTE | BIND_VIEW | BIND_ALLOC | BIND_RANDOM | BIND_INPLACE | BIND_COPY;

/* The storages of number tensors among a call's arguments. */
struct solid {
	struct storage *st[STORAGES_MOST];        /* borrowed from the arguments */
	struct sparse *sparse[STORAGES_MOST];     /* kept here while the storages are lent */
	size_t n;
	int looks;                                /* values looked at so far */
	int others;                               /* an argument is, or may be, something else */
};

static int has_storage(const struct solid *s, const struct storage *st)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->st[i] == st)
			return 1;
	return 0;
}

/* Collects the storages of an argument, through lists and tuples. Anything that cannot be
 * decided sets `others`. */
static void look_at(struct solid *s, struct val v, int depth)
{
	struct storage *st = v.kind == V_TENSOR ? v.u.t->t.st : NULL;

	if ((v.kind == V_LIST || v.kind == V_TUPLE) && depth < DEPTH_MOST)
		for (size_t i = 0; i < v.u.seq->n && !s->others; i++)
			look_at(s, v.u.seq->v[i], depth + 1);
	if (++s->looks > LOOKS_MOST || v.kind == V_OBJECT || v.kind == V_DICT || depth > DEPTH_MOST ||
	    (v.kind == V_TENSOR && (!st || !st->numbers)))
		s->others = 1;
	else if (st && !has_storage(s, st) && s->n == STORAGES_MOST)
		s->others = 1;
	else if (st && !has_storage(s, st))
		s->st[s->n++] = st;
}

/* --- lending ------------------------------------------------------------------------------------ */

/* Are the contents known, and small enough? */
static int can_lend(struct storage *st)
{
	return st->bytes && st->bytes <= BYTES_MOST &&
		(!st->hollow || (st->sparse && sparse_is_made(st) && !sparse_touch(st, 0, st->bytes)));
}

/* Turns the storages into ordinary ones for one call. Returns 0 and changes nothing if one of
 * them is too large or not known. */
static int lend(struct solid *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!can_lend(s->st[i]))
			return 0;
	for (size_t i = 0; i < s->n; i++) {
		s->sparse[i] = s->st[i]->sparse;
		s->st[i]->sparse = NULL;
		s->st[i]->hollow = 0;
	}
	return 1;
}

/* Makes the lent storages hollow again. */
static void take_back(const struct solid *s)
{
	for (size_t i = 0; i < s->n; i++) {
		s->st[i]->sparse = s->sparse[i];
		s->st[i]->hollow = 1;
	}
}

/* --- results ------------------------------------------------------------------------------------- */

typedef int result_fn(struct host *h, const struct solid *s, struct tensor_obj *t, int yes);

/* Calls fn for each tensor of a result until one returns nonzero. */
static int each_result(struct host *h, const struct solid *s, struct val v, int yes, result_fn *fn)
{
	int rc = 0;

	if (v.kind == V_TENSOR)
		return fn(h, s, v.u.t, yes);
	if (v.kind == V_TUPLE || v.kind == V_LIST)
		for (size_t i = 0; i < v.u.seq->n && !rc; i++)
			rc = v.u.seq->v[i].kind == V_TENSOR ? fn(h, s, v.u.seq->v[i].u.t, yes) : 0;
	return rc;
}

/* Says of each result whether it is made of numbers. A storage that the call was given keeps
 * its mark unless the call mixed it with something else. */
static int tell_result(struct host *h, const struct solid *s, struct tensor_obj *t, int yes)
{
	(void)h;
	if (t->t.st && (!yes || !has_storage(s, t->t.st)))
		t->t.st->numbers = yes;
	return 0;
}

/* Returns nonzero if the result needs contents and is small enough for them. */
static int wants_contents(struct host *h, const struct solid *s, struct tensor_obj *t, int yes)
{
	const struct storage *st = t->t.st;

	(void)h;
	(void)yes;
	return st && st->bytes && st->bytes <= BYTES_MOST && !has_storage(s, st) && !t->made_empty &&
		!sparse_is_zero(st);
}

/* Turns an ordinary result into a hollow one whose contents stay known. Its memory is no longer
 * charged. */
static int keep_contents(struct host *h, const struct solid *s, struct tensor_obj *t, int yes)
{
	struct storage *st = t->t.st;

	(void)s;
	(void)yes;
	if (!st || st->hollow)
		return 0;
	h->lim.tensor_bytes -= MIN(st->bytes, h->lim.tensor_bytes);
	st->hollow = 1;
	return sparse_own(st) ? host_fatal(h, REASON_out_of_memory, "the machine is out of memory") : 0;
}

/* --- kinds ---------------------------------------------------------------------------------------- */

/* Records the kind of each element of a small number tensor. */
static void note_elements(struct host *h, const struct tensor *t)
{
	int64_t n = tensor_numel(t);

	if (!h->o.path || !h->frame || !h->frame->node || n > NOTED_MOST || !tensor_is_contiguous(t) ||
	    t->dt == DT_BOOL)
		return;
	for (int64_t i = 0; i < n; i++)
		host_note_element(h, h->frame->node, (int)i,
				  dtype_load(t->dt, (const char *)tensor_data(t) + i * dtype_size(t->dt)));
}

/* Records the elements of one number tensor. A hollow one is lent for the time of reading. */
static void note_tensor(struct host *h, const struct tensor *t)
{
	struct solid s = { .n = 0 };

	if (!t->st || !t->st->numbers || !tensor_numel(t))
		return;
	s.st[s.n++] = t->st;
	if (!t->st->hollow)
		note_elements(h, t);
	else if (lend(&s)) {
		note_elements(h, t);
		take_back(&s);
	}
}

/* Records the number tensors of a call that also has other tensors. */
static void note_mixed(struct host *h, const struct bind *b)
{
	for (size_t i = 0; i < b->n && h->o.path; i++)
		if (b->a[i].kind == V_TENSOR)
			note_tensor(h, &b->a[i].u.t->t);
}

/* A kernel may write to the tensor, so it is no longer made of numbers. */
void solid_launch(struct host *h, const struct tensor_obj *t)
{
	note_tensor(h, &t->t);
	if (t->t.st)
		t->t.st->numbers = 0;
}

/* --- calls ---------------------------------------------------------------------------------------- */

/* An in-place change makes the contents of a hollow tensor unknown. */
static int forget_contents(struct host *h, struct val v)
{
	if (v.kind != V_TENSOR || !v.u.t->t.st->sparse || !sparse_unknown(v.u.t->t.st))
		return 0;
	return host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
}

static int plain_call(struct bind *b)
{
	if (b->h->o.hollow && b->row->flags & (BIND_INPLACE | BIND_CHANGES) && forget_contents(b->h, b->a[0]))
		return -1;
	return b->row->fn(b);
}

/* Runs the function with contents while its tensors are lent, then makes everything hollow
 * again. */
static int lent_call(struct bind *b, const struct solid *s)
{
	struct storage *changed = b->row->flags & BIND_INPLACE && b->a[0].kind == V_TENSOR ? b->a[0].u.t->t.st : NULL;
	int rc;

	b->h->o.hollow = 0;
	rc = b->row->fn(b);
	b->h->o.hollow = 1;
	take_back(s);
	if (!rc && changed && sparse_own(changed))
		rc = host_fatal(b->h, REASON_out_of_memory, "the machine is out of memory");
	return rc ? -1 : each_result(b->h, s, b->out, 0, keep_contents);
}

/* A call on number tensors in a hollow run. An in-place call cannot run twice: it runs with
 * contents if possible, else without. */
static int hollow_call(struct bind *b, struct solid *s)
{
	int in_place = b->row->flags & BIND_INPLACE;
	/* A storage whose memory was mapped on first touch cannot keep it when its contents are
	 * replaced. */
	int fits = !in_place || b->a[0].kind != V_TENSOR || b->a[0].u.t->t.st->release;
	int rc = in_place ? 0 : plain_call(b);

	if (rc || (!in_place && !each_result(b->h, s, b->out, 0, wants_contents)))
		return rc;
	if (fits && lend(s))
		return lent_call(b, s);
	return in_place ? plain_call(b) : 0;
}

/* Runs the function of a row. Random results are never number tensors. */
int solid_call(struct bind *b, unsigned kind)
{
	struct solid s = { .n = 0 };
	int rc, yes;

	if (!(kind & makes))
		return plain_call(b);
	for (size_t i = 0; i < b->n; i++)
		look_at(&s, b->a[i], 0);
	yes = !s.others && !(kind & BIND_RANDOM);
	if (s.others && s.n)
		note_mixed(b->h, b);
	rc = yes && b->h->o.hollow ? hollow_call(b, &s) : plain_call(b);
	if (!rc)
		each_result(b->h, &s, b->out, yes, tell_result);
	if (!yes && b->row->flags & BIND_INPLACE && b->a[0].kind == V_TENSOR && b->a[0].u.t->t.st)
		b->a[0].u.t->t.st->numbers = 0;
	return rc;
}
