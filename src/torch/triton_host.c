/* Host functions of triton: the arithmetic of grids, and the channel between the autotuner of
 * the prelude and the judge, which tells it the configuration to choose and hears what it
 * chose.
 *
 * The internal names serve the autotuner only. A program must not learn which run of the
 * judge this is, so a call from other code fails as if the name did not exist. */
#include "interp/frame.h"
#include "interp/operator.h"
#include "interp/state.h"
#include "interp/work.h"

/* Is the caller the autotuner's own code? A trusted frame is not enough, because a decorator of the
 * prelude may call a function of the program. So the names of the functions are compared too. */
static int is_ours(struct bind *b)
{
	static const char *const callers[] = { "recall", "_choose", "_tune", "_programs" };
	const struct host_frame *f = b->h->frame;
	if (!f || !f->mod->trusted || !f->fn)
		return 0;
	for (size_t i = 0; i < COUNT_OF(callers); i++)
		if (!strcmp(f->fn->name->p, callers[i]))
			return 1;
	return 0;
}

/* _tuning(): (number of the configuration to choose, whether this is the first call). */
static int t_tuning(struct bind *b)
{
	struct val v[2] = { val_int(b->h->o.config), val_bool(b->h->o.tune) };
	if (!is_ours(b))
		return bind_raise(b, EXC_AttributeError, "module 'triton' has no attribute '_tuning'");
	return val_tuple(b->h, v, 2, &b->out);
}

/* Does the buffer contain the text? */
static int has_text(const struct buf *b, struct str text)
{
	return b->n && text.n && memmem(b->p, b->n, text.p, text.n) != NULL;
}

/* _place(): the number of autotuners that were asked before this one. */
static int t_place(struct bind *b)
{
	if (!is_ours(b))
		return bind_raise(b, EXC_AttributeError, "module 'triton' has no attribute '_place'");
	b->out = val_int(b->h->did.tuners++);
	return 0;
}

/* _tuned(programs, text, place): the autotuner at `place` has that many configurations and
 * chose the one that `text` describes. A choice that was made because there are fewer
 * configurations than runs is not reported: it ran before. */
static int t_tuned(struct bind *b)
{
	struct host *h = b->h;
	struct str text;
	int64_t n, place;
	if (!is_ours(b))
		return bind_raise(b, EXC_AttributeError, "module 'triton' has no attribute '_tuned'");
	if (bind_int(b, 0, &n) || bind_string(b, 1, &text) || bind_int(b, 2, &place))
		return -1;
	h->did.tuned_most = (int)MAX(h->did.tuned_most, n);
	/* Several autotuners with a real choice: a report must not name one of them as the
	 * only one. */
	h->did.tuned_several |= n > 1 && h->did.tuned_place && h->did.tuned_place != place + 1;
	h->did.tuned_place = n > 1 ? (int)place + 1 : h->did.tuned_place;
	if (n > 1 && h->o.config < 2 * n && h->did.tuned.n < 1000 && !has_text(&h->did.tuned, text))
		buf_addf(&h->did.tuned, "%s%.*s", h->did.tuned.n ? "; " : "", STR_ARG(text));
	return 0;
}

/* _trying(text): the configuration that is compiled now, for messages; "" for none. */
static int t_trying(struct bind *b)
{
	struct str text;
	if (!is_ours(b))
		return bind_raise(b, EXC_AttributeError, "module 'triton' has no attribute '_trying'");
	if (bind_string(b, 0, &text))
		return -1;
	buf_clear(&b->h->did.trying);
	buf_add(&b->h->did.trying, text.p, text.n);
	return 0;
}

/* Replaces a tl.constexpr in slot i by its value: host helpers accept both. */
static int unbox(struct bind *b, size_t i)
{
	struct val v;

	if (b->a[i].kind != V_OBJECT || !val_isinstance(b->h, b->a[i], "triton.language.constexpr"))
		return 0;
	if (host_getattr(b->h, b->a[i], "value", &v) <= 0)
		return -1;
	b->a[i] = v;
	return 0;
}

/* triton.cdiv(x, y) = (x + y - 1) // y. The host notes whether the quotient is one or more:
 * with a single block a loop over blocks is not exercised. */
static int t_cdiv(struct bind *b)
{
	struct val t;
	if (unbox(b, 0) || unbox(b, 1))
		return -1;
	if (op_binary(b->h, PY_OP_Add, b->a[0], b->a[1], &t) || op_binary(b->h, PY_OP_Sub, t, val_int(1), &t))
		return -1;
	if (op_binary(b->h, PY_OP_FloorDiv, t, b->a[1], &b->out))
		return -1;
	host_note_quotient(b->h, b->h->frame ? b->h->frame->node : NULL, b->out);
	return 0;
}

/* tl.cdiv is for kernels, triton.cdiv for the host. Triton refuses the first on the host. */
static int t_kernel_only(struct bind *b)
{
	if (b->h->o.may_misuse)
		return t_cdiv(b);
	return bind_raise(b, EXC_RuntimeError, "Cannot call @triton.jit'd outside of the scope of a kernel");
}

/* Triton's bit trick, including its results for 0 and below: all bits under the highest are
 * set, then 1 is added. */
static int t_next_power_of_2(struct bind *b)
{
	int64_t n;
	if (unbox(b, 0) || bind_int(b, 0, &n))
		return -1;
	if (n < -INT32_MAX)
		return bind_unsupported(b, "next_power_of_2 of a number below -2147483647");
	n--;                            /* for n < 1 the shifts give all ones: 0 */
	for (int s = 1; s < 64; s *= 2)
		n |= n >> s;
	return op_binary(b->h, PY_OP_Add, val_int(n), val_int(1), &b->out);
}

/* The names with an underscore are for the autotuner of the prelude; see is_ours(). */
const struct bind_row triton_host_rows[] = {
	{ "triton._tuning", "", t_tuning, BIND_INTERNAL },
	{ "triton._place", "", t_place, BIND_INTERNAL },
	{ "triton._tuned", "programs, text, place", t_tuned, BIND_INTERNAL },
	{ "triton._trying", "text", t_trying, BIND_INTERNAL },
	{ "triton.cdiv", "x, y", t_cdiv, 0 },
	{ "triton.language.cdiv", "x, div", t_kernel_only, 0 },
	{ "triton.next_power_of_2", "n", t_next_power_of_2, 0 },
	{ NULL, NULL, NULL, 0 }
};
