/* Kernels of a solution: cutting a chain into kernels, and the text of each kernel.
 *
 * Pointwise steps ride along with the anchor before them, or with the row operator after
 * them; every kernel reads its tensors once. A schedule differs only in how it forms the
 * address of an element, the index of a per-feature operand and the mask: `struct place`. */
#include "gen/gen_kernel.h"

#include <stdio.h>

#include "base/mem.h"

static int pointwise(const struct gen_emit *em, int i)
{
	return gen_op(em->p->step[i].op)->family <= GEN_TENSOR;
}

static enum gen_kernel_kind kind_of(const struct gen_emit *em, int i)
{
	enum gen_op_id op = em->p->step[i].op;

	switch (gen_op(op)->family) {
	case GEN_ROW: case GEN_REDUCE: return GEN_K_ROW;
	case GEN_GEMM: return GEN_K_GEMM;
	case GEN_CONV: return GEN_K_CONV;
	case GEN_POOL: return op == GEN_OP_global_avg_pool || op == GEN_OP_global_max_pool ? GEN_K_SPACE : GEN_K_POOL;
	case GEN_CHANNEL: return GEN_K_CHANNEL;
	case GEN_LOSS: return GEN_K_LOSS;
	default: return GEN_K_FLAT;
	}
}

/* Kernels of these kinds can take the pointwise steps before their head along. */
static int takes_before(enum gen_kernel_kind k)
{
	return k == GEN_K_ROW || k == GEN_K_SPACE || k == GEN_K_CHANNEL || k == GEN_K_LOSS;
}

static void name_kernel(const struct gen_emit *em, int number, struct gen_kernel *k)
{
	struct buf b = BUF_INIT;
	int shown = 0;

	if (em->p->plain) {
		snprintf(k->name, sizeof k->name, "kernel%d", number);
		return;
	}
	if (gen_choice(em->p, 9, 4) == 0)
		buf_adds(&b, "fused_");
	for (int i = k->first; i < k->end && shown < 4; i++, shown++)
		buf_addf(&b, "%s_", gen_op(em->p->step[i].op)->name);
	buf_adds(&b, "kernel");
	snprintf(k->name, sizeof k->name, "%s", buf_cstr(&b));
	buf_release(&b);
}

int gen_cut(const struct gen_emit *em, struct gen_kernel *k)
{
	int n = 0, i = 0;

	while (i < em->p->n) {
		int head = i;
		struct gen_kernel *c = &k[n++];

		while (head < em->p->n && pointwise(em, head))
			head++;
		*c = (struct gen_kernel){ .kind = GEN_K_FLAT, .first = i, .head = -1 };
		if (head < em->p->n && (head == i || takes_before(kind_of(em, head)))) {
			c->kind = kind_of(em, head);
			c->head = head;
			i = head + 1;
		}
		while (i < em->p->n && pointwise(em, i))
			i++;
		c->end = i;
		name_kernel(em, n, c);
		for (int j = 0; j < n - 1; j++)
			if (!strcmp(k[j].name, c->name))
				snprintf(c->name + strlen(c->name), sizeof c->name - strlen(c->name), "_%d", n);
	}
	return n;
}

/* --- arguments ---------------------------------------------------------------------- */

void gen_arg(struct gen_args *a, const char *param, const char *value)
{
	for (int i = 0; i < a->n; i++)
		if (!strcmp(a->param[i], param))
			BUG("two kernel parameters named '%s'", param);
	if (a->n == GEN_ARGS)
		BUG("more than %d kernel arguments", GEN_ARGS);
	snprintf(a->param[a->n], sizeof a->param[0], "%s", param);
	snprintf(a->value[a->n++], sizeof a->value[0], "%s", value);
}

static void arg_suffix(struct gen_args *a, const char *stem, const char *suffix, const char *prefix)
{
	char param[2 * GEN_NAME], value[2 * GEN_NAME];

	snprintf(param, sizeof param, "%s%s", stem, suffix);
	snprintf(value, sizeof value, "%s%s", prefix, stem);
	gen_arg(a, param, value);
}

/* Pointers and constants that the pointwise steps of a kernel need. */
void gen_args_steps(const struct gen_emit *em, const struct gen_kernel *k, struct gen_args *a)
{
	for (int i = k->first; i < k->end; i++) {
		const struct gen_names *n = &em->name[i];

		if (gen_op(em->p->step[i].op)->family == GEN_VECTOR)
			arg_suffix(a, n->vec, "_ptr", "self.");
		if (n->input[0])
			arg_suffix(a, n->input, "_ptr", "");
	}
}

void gen_args_consts(const struct gen_emit *em, const struct gen_kernel *k, struct gen_args *a)
{
	for (int i = k->first; i < k->end; i++)
		for (int c = 0; c < 2; c++)
			if (em->name[i].konst[c][0])
				arg_suffix(a, em->name[i].konst[c], "", "self.");
}

int gen_has_vector(const struct gen_emit *em, const struct gen_kernel *k)
{
	for (int i = k->first; i < k->end; i++)
		if (gen_op(em->p->step[i].op)->family == GEN_VECTOR)
			return 1;
	return 0;
}

/* --- bodies ------------------------------------------------------------------------- */

static void indent(struct buf *out, int depth)
{
	buf_pad(out, ' ', (size_t)depth * 4);
}

void gen_line(struct buf *out, int depth, const char *fmt, ...)
{
	va_list ap;

	indent(out, depth);
	va_start(ap, fmt);
	buf_vaddf(out, fmt, ap);
	va_end(ap);
	buf_addc(out, '\n');
}

/* One load into `var`; a scalar place has no mask. */
static void load_operand(struct buf *out, int depth, const char *var, const char *stem, const char *at, const char *mask)
{
	if (mask)
		gen_line(out, depth, "%s = tl.load(%s_ptr + %s, mask=%s, other=0.0).to(tl.float32)", var, stem, at, mask);
	else
		gen_line(out, depth, "%s = tl.load(%s_ptr + %s).to(tl.float32)", var, stem, at);
}

void gen_body_step(const struct gen_emit *em, int i, const struct gen_place *pl, struct buf *out)
{
	const struct gen_step *s = &em->p->step[i];
	const struct gen_names *n = &em->name[i];
	const struct gen_op *op = gen_op(s->op);
	char vec[GEN_NAME + 16];
	const char *vars[] = { "x", pl->val, "0", n->konst[0][0] ? n->konst[0] : s->c[0],
			       "1", n->konst[1][0] ? n->konst[1] : s->c[1], "v", vec, "y", n->input,
			       "m", pl->mask ? pl->mask : "True", "n", pl->count ? pl->count : "1", "r", "r",
			       "w", "w", "b", "b", NULL };

	snprintf(vec, sizeof vec, "%s%s", n->vec, pl->vec_expand ? pl->vec_expand : "");
	if (op->family == GEN_VECTOR)
		load_operand(out, pl->depth, n->vec, n->vec, pl->vec_at, pl->vec_mask);
	if (n->input[0])
		load_operand(out, pl->depth, n->input, n->input, pl->at, pl->mask);
	if (s->op == GEN_OP_layer_norm) {
		load_operand(out, pl->depth, "w", "w", pl->vec_at, pl->mask);
		load_operand(out, pl->depth, "b", "b", pl->vec_at, pl->mask);
	}
	indent(out, pl->depth);
	gen_expand(out, op->triton[em->p->plain ? 0 : s->tile_form], vars, pl->depth);
	buf_addc(out, '\n');
}

void gen_body_steps(const struct gen_emit *em, int from, int to, const struct gen_place *pl, struct buf *out)
{
	for (int i = from; i < to; i++)
		gen_body_step(em, i, pl, out);
}

void gen_kernel_head(const struct gen_kernel *k, const struct gen_args *a, struct buf *out)
{
	buf_addf(out, "@triton.jit\ndef %s(", k->name);
	for (int i = 0; i < a->n; i++)
		buf_addf(out, "%s%s%s", i ? ", " : "", a->param[i], i >= a->first_constexpr ? ": tl.constexpr" : "");
	buf_adds(out, "):\n");
}
