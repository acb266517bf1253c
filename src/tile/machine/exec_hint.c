/* Promises of a kernel to the compiler: tl.multiple_of, tl.max_contiguous, tl.max_constancy,
 * tl.assume. The compiler relies on it without a check, so here a broken promise is a fault.
 * Barriers do nothing but order lanes in checked mode (check_poison.c). */
#include "tile/machine/machine.h"

/* An argument that the kernel was specialised for as a multiple of imm (16). */
int exec_aligned(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	const struct mval *v = mval_src(m, in, 0);
	int64_t x = mval_int(v);
	(void)p;
	if (x % in->imm == 0)
		return 0;
	return fault_at(m, in->loc, REASON_misaligned, "%.*s must be a multiple of %lld", STR_ARG(in->text),
			(long long)in->imm);
}

/* A barrier matters only in checked mode, through its enum sync_rule. */
int exec_barrier(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	(void)m, (void)in, (void)p;
	return 0;
}

int exec_assume(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	(void)p;
	if (m->trust_hints || mval_src(m, in, 0)->u.raw[0])
		return 0;
	return fault_at(m, in->loc, REASON_false_hint, "tl.assume is given a condition that is false");
}

/* Lane i of dense integers or addresses. */
static int64_t lane_int(const struct mval *v, int64_t i)
{
	const char *at = (const char *)v->data + i * v->esize;
	int64_t x;
	if (!v->ptr)
		return dtype_load_int((enum dtype)v->dt, at);
	memcpy(&x, at, sizeof x);
	return x;
}

/* Lanes along one dimension: from lane `at` on, `step` lanes apart. */
struct line {
	const struct mval *v;
	int64_t at, step, count;
	int64_t unit;               /* difference of neighbours: 1, for pointers the bytes of an element */
};

static int64_t line_int(const struct line *l, int64_t i)
{
	return lane_int(l->v, l->at + i * l->step);
}

/* tl.multiple_of(x, n): the first element of each run of neighbours is a multiple of n. Returns the
 * first lane that breaks the promise, or -1. For n = 4, 8 9 10 12 13 is fine: the runs begin at 8
 * and 12. */
static int64_t not_multiple(const struct line *l, int64_t n)
{
	for (int64_t i = 0; i < l->count; i++)
		if ((!i || line_int(l, i) != line_int(l, i - 1) + l->unit) && line_int(l, i) % n)
			return i;
	return -1;
}

/* tl.max_contiguous(x, n): each group of n lanes is a run of neighbours. A run may restart at 0,
 * because `offs % n` is commonly promised to be contiguous. If n ends within a group, its rows
 * are not aligned, so the compiler builds nothing on it. */
static int64_t not_contiguous(const struct line *l, int64_t n)
{
	for (int64_t i = 1; i < l->count; i++)
		if (i % n && line_int(l, i) != line_int(l, i - 1) + l->unit && (line_int(l, i) || l->v->ptr))
			return i;
	return -1;
}

/* tl.max_constancy(x, n): each group of n lanes has one value. */
static int64_t not_constant(const struct line *l, int64_t n)
{
	for (int64_t i = 1; i < l->count; i++)
		if (i % n && line_int(l, i) != line_int(l, i - 1))
			return i;
	return -1;
}

/* Reports the first lane of the line that breaks the hint. */
static int check_line(struct machine *m, const struct tile_insn *in, const struct line *l, int64_t n)
{
	int64_t bad = in->attr[0] == TILE_HINT_MULTIPLE ? not_multiple(l, n) :
		in->attr[0] == TILE_HINT_CONTIGUOUS ? not_contiguous(l, n)
		: not_constant(l, n);
	if (bad < 0)
		return 0;
	/* Addresses differ in every run, so the message must not print them. */
	if (l->v->ptr)
		return fault_at(m, in->loc, REASON_false_hint,
				"%.*s(..., %lld) is false for the address in lane %lld", STR_ARG(in->text),
				(long long)n, (long long)(l->at + bad * l->step));
	return fault_at(m, in->loc, REASON_false_hint, "%.*s(..., %lld) is false: lane %lld holds %lld",
			STR_ARG(in->text), (long long)n, (long long)(l->at + bad * l->step),
			(long long)line_int(l, bad));
}

/* The distance of neighbours along a dimension, if one number says it; else 0. */
static int64_t stride_of(const struct mval *v, int d)
{
	return v->kind == MVAL_AFFINE && v->shape[d] > 1 ? v->stride[d] : 0;
}

/* Whether the form of the value, a base and strides, proves the promise along dimension d. This
 * saves writing out the lanes: base 256 with strides { 1024, 1 } is a multiple of 16 along
 * dimension 1. */
static int shows(const struct mval *v, int hint, int d, int64_t n, int64_t unit)
{
	int run = stride_of(v, d) == unit;

	if (hint != TILE_HINT_MULTIPLE)
		return v->shape[d] == 1 || (hint == TILE_HINT_CONTIGUOUS ? run : !stride_of(v, d));
	for (int k = 0; k < v->ndim; k++)
		if ((k != d || !run) && stride_of(v, k) % n)
			return 0;
	return v->u.i % n == 0;
}

/* Whether the form is enough to prove the hint for every dimension; a hint of 1 says nothing. */
static int shows_all(const struct mval *v, const struct tile_insn *in, int64_t unit)
{
	int all = v->kind == MVAL_AFFINE && v->ndim;

	for (int d = 0; d < v->ndim && all; d++)
		all = in->attr[1 + d] <= 1 || shows(v, in->attr[0], d, in->attr[1 + d], unit);
	return all;
}

/* Every line along a dimension whose neighbours are l->step lanes apart. */
static int check_lines(struct machine *m, const struct tile_insn *in, struct line *l, int64_t n)
{
	for (int64_t first = 0; first < l->v->n; first += l->step * l->count)
		for (int64_t i = 0; i < l->step; i++) {
			l->at = first + i;
			if (check_line(m, in, l, n))
				return -1;
		}
	return 0;
}

/* Goes from the last dimension to the first; `step` grows to the lanes of one index of each. */
int exec_hint(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *v = mval_src(m, in, 0);
	struct line l = { .v = v, .step = 1, .count = 1, .unit = v->ptr ? dtype_size((enum dtype)v->dt) : 1 };

	(void)p;
	if (m->trust_hints || shows_all(v, in, l.unit))
		return 0;
	mval_dense(v);
	if (!v->ndim)
		return check_line(m, in, &l, in->attr[1]);
	for (int d = v->ndim - 1; d >= 0; d--) {
		l.count = v->shape[d];
		if (in->attr[1 + d] > 1 && check_lines(m, in, &l, in->attr[1 + d]))
			return -1;
		l.step *= l.count;
	}
	return 0;
}
