/* The flat schedule: a tile of X; every pass loops over its R one element at a time. It writes any
 * kernel, and suits maps and short reductions such as windows. */
#include <stdio.h>

#include "solve/emit_impl.h"

/* Ends a pass: statements before the loops, then each loop with its own. */
static void close_pass(struct emitter *pr, const struct pass *s)
{
	buf_addstr(&pr->out, buf_str(&pr->level[0]));
	buf_clear(&pr->level[0]);
	for (int i = 0; i < s->n_r; i++) {
		buf_pad(&pr->out, ' ', (size_t)(pr->indent + 4 * i));
		buf_addf(&pr->out, "for %s in range(%lld):\n", pr->var[1 + i], (long long)s->r[i]);
		buf_addstr(&pr->out, buf_str(&pr->level[1 + i]));
		buf_clear(&pr->level[1 + i]);
	}
	emitter_leave(pr);
}

/* Variables of a pass: X is variable 0, flat; each R is a loop. */
static void bind(struct emitter *pr, const struct pass *s, const struct ix **to)
{
	flatten_vars(pr, 0, pr->k->n_x, pr->k->x, 0, to);
	for (int i = 0; i < s->n_r; i++) {
		to[pr->k->n_x + i] = ix_var(pr->p, 1 + i, s->r[i]);
		pr->var[1 + i] = arena_printf(pr->a, "r%d", i);
		pr->var_level[1 + i] = 1 + i;
	}
}

/* The position of a term among all terms, for arg reductions. */
static const char *term_index(struct emitter *pr, const struct pass *s)
{
	const struct ix *at = ix_num(pr->p, 0);

	for (int i = 0; i < s->n_r; i++)
		at = ix_add(pr->p, ix_mul(pr->p, at, s->r[i]), ix_var(pr->p, 1 + i, s->r[i]));
	return emit_ix(pr, at).s;
}

static void reduce_pass(struct emitter *pr, const struct pass *s, int n, const struct sx *body)
{
	enum combine how = graph_value(pr->g, s->value)->how;
	const char *acc = emitter_name(pr, "acc"), *term;
	int arg = how == COMBINE_ARGMAX || how == COMBINE_ARGMIN;

	emitter_line(pr, 0, "%s = tl.full([BLOCK], %s, %s)", acc, reduce_neutral(how, body->dt), emit_dtype(body->dt));
	if (arg)
		emitter_line(pr, 0, "%s_at = tl.zeros([BLOCK], tl.int32)", acc);
	term = emit_sx(pr, body).s;
	reduce_serial(pr, s, acc, term, term_index(pr, s), s->n_r);
	pr->reduced[n] = arg ? arena_printf(pr->a, "%s_at", acc) : acc;
}

/* Later passes use the element itself instead of its memory. */
static void map_pass(struct emitter *pr, const struct pass *s, int n)
{
	const char *value = emit_sx(pr, s->body).s;

	if (!s->n_r && !s->only && s->store) {
		pr->reduced[n] = emitter_name(pr, "y");
		emitter_line(pr, 0, "%s = %s", pr->reduced[n], value);
		value = pr->reduced[n];
	}
	if (s->store)
		emit_store(pr, s, s->at, value, s->n_r);
}

int emit_flat(struct emitter *pr)
{
	int64_t all = 1;

	for (int i = 0; i < pr->k->n_x; i++)
		all *= pr->k->x[i];
	pr->var[0] = "offs";
	pr->tile = 1;
	pr->mask[0] = all % pr->s.xb || pr->s.general ? "mask" : NULL;
	emitter_line(pr, 0, "offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)");
	if (pr->mask[0])
		emitter_line(pr, 0, "mask = offs < %lld", (long long)all);
	for (int n = 0; n < pr->k->n_passes; n++) {
		const struct pass *s = &pr->k->pass[n];
		const struct ix *to[GRAPH_VARS];
		struct pass flat = *s;

		bind(pr, s, to);
		flat.body = sx_rebuild(pr->p, s->body, &(struct sx_rewrite){ .to = to });
		flat.at = ix_replace(pr->p, s->at, to);
		flat.only = s->only ? sx_rebuild(pr->p, s->only, &(struct sx_rewrite){ .to = to }) : NULL;
		emitter_count(pr, flat.body);
		if (s->is_reduce)
			reduce_pass(pr, &flat, n, flat.body);
		else
			map_pass(pr, &flat, n);
		close_pass(pr, s);
		if (s->is_reduce && s->store)
			emit_store(pr, &flat, flat.at, pr->reduced[n], 0);
	}
	buf_addstr(&pr->out, buf_str(&pr->level[0]));
	snprintf(pr->to->grid, sizeof pr->to->grid, "(triton.cdiv(%lld, %d),)", (long long)all, pr->s.xb);
	snprintf(pr->to->consts, sizeof pr->to->consts, ", BLOCK=%d", pr->s.xb);
	return 0;
}
