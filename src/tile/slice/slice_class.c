/* Classes of instances: see slice_class.h. */
#include "tile/slice/slice_class.h"

#include "base/err.h"

/* --- the instructions ---------------------------------------------------------------------- */

/* Operations that only combine bools, or move a value. */
static int passes_on(const struct tile_insn *in)
{
	switch (in->op) {
	case TOP_AND: case TOP_OR: case TOP_NOT: case TOP_XOR: case TOP_MOV: case TOP_SPLAT: case TOP_BROADCAST:
	case TOP_EXPAND_DIMS: case TOP_RESHAPE: case TOP_PERMUTE:
		return 1;
	default: return 0;
	}
}

/* Operands that say where an access goes, or how long a loop runs. */
static int is_where(const struct tile_insn *in, int k)
{
	switch (in->op) {
	case TOP_LOAD: return k < 2;
	case TOP_STORE: case TOP_ATOMIC: return k != 1;
	case TOP_CAS: return k == 0;
	case TOP_BR_IF: case TOP_ASSUME: case TOP_HINT: case TOP_ASSERT: return 1;
	default: return 0;
	}
}

/* Comparisons, and numbers that become floats. */
static int asks(const struct tile_code *code, const struct tile_insn *in)
{
	struct tile_type to, from;

	if (in->n_dst != 1 || !in->n_src)
		return 0;
	to = code->regs[tile_dst(in, 0)];
	from = code->regs[tile_src(in, 0)];
	if (in->op == TOP_CAST || in->op == TOP_BITCAST)
		return !from.ptr && dtype_is_float((enum dtype)to.dt) && !dtype_is_float((enum dtype)from.dt);
	if (in->op == TOP_SPLAT)
		return dtype_is_float((enum dtype)to.dt) && !to.ptr;
	return in->op >= TOP_EQ && in->op <= TOP_GE;
}

/* Marks registers that the data depends on, from uses to sources, until nothing changes. */
int class_find(const struct tile_code *code, uint8_t *marked, struct err *e)
{
	const struct tile_func *f = &code->funcs[0];
	uint8_t *used = mem_zalloc((size_t)code->n_regs + 1);

	if (!used)
		return err_nomem(e);
	for (int more = 1; more;) {
		more = 0;
		for (int i = f->n_insns - 1; i >= 0; i--) {
			const struct tile_insn *in = &f->insns[i];

			for (int k = 0; k < in->n_src; k++) {
				tile_reg r = tile_src(in, k);

				if (used[r] || is_where(in, k) || (passes_on(in) && !used[tile_dst(in, 0)]))
					continue;
				used[r] = 1;
				more = 1;
			}
		}
	}
	for (int i = 0; i < f->n_insns; i++)
		marked[i] = asks(code, &f->insns[i]) && used[tile_dst(&f->insns[i], 0)];
	mem_free(used);
	return 0;
}

/* --- signatures ---------------------------------------------------------------------------- */

int class_differs(const struct form *f)
{
	int differs = f->many || (f->kind == FORM_FLOAT && f->loose);

	if (f->kind == FORM_NONE)
		return f->why == FORM_UNDECIDED;
	for (int k = FORM_PID; k < FORM_LOOSE; k++)
		differs |= f->coef[k] != 0;
	for (int c = 0; c < f->n_conds; c++)
		differs |= class_differs(&f->cond[c]);
	return differs;
}

/* The kind of a number: negative, 0, 1, other. */
static unsigned kind_of(double v)
{
	return v < 0.0 ? 1 : v == 0.0 ? 2 : v == 1.0 ? 3 : 4;
}

/* A bool over the lanes and iterations of an instance: nowhere, everywhere, in some. */
static unsigned bool_answer(const struct form_batch *b, const struct form *f, int i)
{
	unsigned everywhere = 1;

	for (int c = 0; c < f->n_conds; c++) {
		int64_t lo, hi;

		form_range_at(b, &f->cond[c], i, &lo, &hi);
		if (lo >= 0)
			return 1;
		everywhere &= hi < 0;
	}
	return everywhere ? 2 : 3;
}

static unsigned answer_of(const struct form_batch *b, const struct form *f, int i)
{
	int64_t lo, hi;

	switch (f->kind) {
	case FORM_BOOL: return bool_answer(b, f, i);
	case FORM_FLOAT: return f->loose ? 0 : kind_of(form_float(f, i));
	case FORM_INT:
		form_range_at(b, f, i, &lo, &hi);
		return 5 * kind_of((double)lo) + kind_of((double)hi);
	default: return 0;
	}
}

void class_note(const struct form_batch *b, const struct form *f, uint64_t *signature)
{
	for (int i = 0; i < b->n; i++)
		signature[i] = (signature[i] + answer_of(b, f, i) + 1) * 0x9e3779b97f4a7c15u;
}

/* --- classes ------------------------------------------------------------------------------- */

/* The class of a signature; NULL: it is new and the table is full. */
static struct slice_class *find(struct slice_classes *c, uint64_t signature, int64_t instance)
{
	for (int i = 0; i < c->n; i++)
		if (c->v[i].signature == signature)
			return &c->v[i];
	if (c->n == SLICE_CLASSES)
		return NULL;
	c->v[c->n] = (struct slice_class){ .signature = signature, .first = instance };
	return &c->v[c->n++];
}

/* `some` is drawn by reservoir sampling with a fixed sequence: the n-th instance replaces it with probability
 * 1 / n. */
void class_add(struct slice_classes *c, const uint64_t *signature, int64_t first, int n)
{
	struct slice_class *at = NULL;

	for (int i = 0; i < n; i++) {
		if (!at || at->signature != signature[i])
			at = find(c, signature[i], first + i);
		if (!at) {
			c->left_out++;
			continue;
		}
		at->last = first + i;
		at->n++;
		if (((uint64_t)(first + i) * 0xd1342543de82ef95u >> 20) % (uint64_t)at->n == 0)
			at->some = first + i;
	}
}

/* Adds an instance once. */
static void pick(int64_t *v, int *n, int64_t instance)
{
	for (int i = 0; i < *n; i++)
		if (v[i] == instance)
			return;
	if (*n < SLICE_PICKS)
		v[(*n)++] = instance;
}

int class_picks(const struct slice_classes *c, int64_t v[SLICE_PICKS])
{
	int order[SLICE_CLASSES], n = 0;

	for (int i = 0; i < c->n; i++) {
		int at = i;

		for (; at > 0 && c->v[order[at - 1]].n > c->v[i].n; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (int i = 0; i < c->n; i++)
		pick(v, &n, c->v[order[i]].some);
	for (int i = 0; i < c->n; i++) {
		pick(v, &n, c->v[order[i]].first);
		pick(v, &n, c->v[order[i]].last);
	}
	return n;
}
