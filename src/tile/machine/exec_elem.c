/* Elementwise operations: finds the form of each operand and calls the kernel once over all
 * lanes. Narrow floats are widened to fp32 block by block and rounded after every operation.
 *
 * The ways from cheap to general: scalars, dense lanes, short forms (exec_lazy.c), rows and
 * columns, everything written out. */
#include "tile/machine/exec_reduce.h"
#include "tile/machine/machine.h"
#include "tile/machine/math_special.h"
#include "tile/machine/math_table.h"

/* Lanes that are widened at once; the buffers of a block stay in the first-level cache. */
enum { BLOCK = 512 };

/* Operands as a kernel takes them. */
struct operands {
	const void *p[3];
	unsigned uniform;           /* bit k: p[k] is one element */
};

/* Narrow floats: widen a block, compute, round. If `back` is 0 the results are bools and are not
 * rounded. */
static void run_narrow(const struct decoded_insn *pi, int back, const struct operands *s, int n_src,
		       enum dtype dt, void *out, size_t n)
{
	float in[3][BLOCK], result[BLOCK];
	size_t esize = (size_t)dtype_size(dt);
	for (int k = 0; k < n_src; k++)
		if (s->uniform >> k & 1)
			dtype_convert(DT_F32, in[k], dt, s->p[k], 1);
	for (size_t at = 0; at < n; at += BLOCK) {
		size_t count = MIN(n - at, (size_t)BLOCK);
		for (int k = 0; k < n_src; k++)
			if (!(s->uniform >> k & 1))
				dtype_convert(DT_F32, in[k], dt, (const char *)s->p[k] + at * esize, count);
		if (!back) {
			pi->kernel((char *)out + at, in[0], in[1], in[2], count, s->uniform);
			continue;
		}
		pi->kernel(result, in[0], in[1], in[2], count, s->uniform);
		dtype_convert(dt, (char *)out + at * esize, DT_F32, result, count);
	}
}

/* The general way. If all sources are UNIFORM, the result is computed once and is UNIFORM. */
static int run(struct machine *m, const struct tile_insn *in, const struct decoded_insn *pi, int n_src)
{
	struct mval *d = mval_dst(m, in, 0), *s[3] = { NULL };
	struct operands ops = { .uniform = 0 };
	int all = 1;
	size_t n = 1;
	enum dtype dt;
	void *out;

	for (int k = 0; k < n_src; k++) {
		s[k] = mval_src(m, in, k);
		all &= s[k]->kind == MVAL_UNIFORM;
	}
	out = &d->u;
	if (!all) {
		n = (size_t)d->n;
		out = d->data;
	}
	for (int k = 0; k < n_src; k++) {
		int u = s[k]->kind == MVAL_UNIFORM;
		if (all || (u && !pi->spread)) {
			ops.p[k] = &s[k]->u;
			ops.uniform |= all ? 0u : 1u << k;
		} else {
			ops.p[k] = mval_dense(s[k]);
		}
	}
	dt = (enum dtype)s[0]->dt;
	if (pi->narrow)
		run_narrow(pi, dtype_is_float((enum dtype)d->dt), &ops, n_src, dt, out, n);
	else
		pi->kernel(out, ops.p[0], ops.p[1], ops.p[2], n, ops.uniform);
	d->kind = all ? MVAL_UNIFORM : MVAL_DENSE;
	return 0;
}

/* Used by reductions and scans: both operands are dense. */
void elem_apply(const struct decoded_insn *p, enum dtype dt, void *out, const void *a, const void *b, size_t n)
{
	struct operands ops = { .p = { a, b, NULL } };
	if (p->narrow)
		run_narrow(p, 1, &ops, 2, dt, out, n);
	else
		p->kernel(out, a, b, NULL, n, 0);
}

int exec_elem1(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	return run(m, in, p, 1);
}

/* An operand as the rows of a result see it. */
struct by_row {
	const char *p;
	size_t step;                /* bytes from row to row */
	unsigned one;               /* one element for the whole row */
};

static struct by_row rows_of(const struct mval *v)
{
	switch (v->kind) {
	case MVAL_UNIFORM: return (struct by_row){ .p = (const char *)&v->u, .one = 1 };
	case MVAL_ROW: return (struct by_row){ .p = v->data };
	case MVAL_COLUMN: return (struct by_row){ .p = mval_column(v), .step = v->esize, .one = 1 };
	default: return (struct by_row){ .p = v->data, .step = (size_t)v->shape[1] * v->esize };
	}
}

/* Row by row, so that a ROW or COLUMN need not be written out. The result may share its slot with
 * an operand that ends here (decode_slot.c). If that is a ROW, rows go from last to first, so
 * that the operand's only row is overwritten last. A COLUMN's elements lie behind the rows before
 * theirs. */
static void run_rows(const struct decoded_insn *p, struct mval *d, const struct mval *a, const struct mval *b)
{
	struct by_row x = rows_of(a), y = rows_of(b);
	size_t row = (size_t)d->shape[1];
	int down = (a->kind == MVAL_ROW && a->data == d->data) || (b->kind == MVAL_ROW && b->data == d->data);

	for (int32_t k = 0; k < d->shape[0]; k++) {
		size_t i = (size_t)(down ? d->shape[0] - 1 - k : k);
		p->kernel((char *)d->data + i * row * d->esize, x.p + i * x.step, y.p + i * y.step, NULL,
			  row, x.one | y.one << 1);
	}
	d->kind = MVAL_DENSE;
}

/* One element for each row. */
static int is_one(const struct mval *v)
{
	return v->kind == MVAL_UNIFORM || v->kind == MVAL_COLUMN;
}

/* Whether an operand is a ROW or COLUMN, the other one is in lanes or uniform, and not both have
 * one element for each row (that would make every call a single lane's work). */
static int has_rows(const struct mval *a, const struct mval *b)
{
	int lanes = (is_one(a) || a->kind >= MVAL_DENSE) && (is_one(b) || b->kind >= MVAL_DENSE);

	return lanes && !a->ptr && !b->ptr && (a->kind > MVAL_DENSE || b->kind > MVAL_DENSE) &&
		!(is_one(a) && is_one(b));
}

/* Tries the ways in order of cost. */
int exec_elem2(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *a = mval_src(m, in, 0), *b = mval_src(m, in, 1);
	if (a->kind == MVAL_UNIFORM && b->kind == MVAL_UNIFORM && !p->narrow) {
		p->kernel(&d->u, &a->u, &b->u, NULL, 1, 0);
		d->kind = MVAL_UNIFORM;
		return 0;
	}
	/* Dense lanes, or one element for all: nothing to prepare. */
	if (!p->narrow && !p->spread && (a->kind == MVAL_DENSE || a->kind == MVAL_UNIFORM) &&
	    (b->kind == MVAL_DENSE || b->kind == MVAL_UNIFORM)) {
		p->kernel(d->data, mval_lanes(a), mval_lanes(b), NULL, (size_t)d->n,
			  (a->kind == MVAL_UNIFORM ? 1u : 0) | (b->kind == MVAL_UNIFORM ? 2u : 0));
		d->kind = MVAL_DENSE;
		return 0;
	}
	if (a->kind != MVAL_DENSE && b->kind != MVAL_DENSE && !dtype_is_float((enum dtype)a->dt) &&
	    lazy_binary(in, d, a, b))
		return 0;
	if (!p->narrow && !p->spread && has_rows(a, b)) {
		run_rows(p, d, a, b);
		return 0;
	}
	return run(m, in, p, 2);
}

/* fma, clamp and the like take dense operands only. */
int exec_elem3(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	return run(m, in, p, 3);
}

/* sqrt(a^2 + b^2 + c^2 + d^2) or its reciprocal, lane by lane in long double. */
int exec_norm4d(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0);
	const char *s[4];
	enum dtype dt = (enum dtype)d->dt;
	char *out;

	(void)p;
	for (int k = 0; k < 4; k++)
		s[k] = mval_dense(mval_src(m, in, k));
	out = mval_result(d);
	for (int32_t i = 0; i < d->n; i++) {
		double x[4];
		long double r;

		for (int k = 0; k < 4; k++)
			x[k] = dtype_load(dt, s[k] + (size_t)i * d->esize);
		r = special_norm(x[0], x[1], x[2], x[3]);
		dtype_store(dt, out + (size_t)i * d->esize, (double)(in->op == TOP_RNORM4D ? 1 / r : r));
	}
	return 0;
}

/* A UNIFORM condition copies one side, whose provenance the result keeps. Else the provenance is
 * known only if both sides have the same. */
int exec_select(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *c = mval_src(m, in, 0), *a = mval_src(m, in, 1), *b = mval_src(m, in, 2);
	int prov = a->prov == b->prov ? a->prov : -1;
	if (c->kind == MVAL_UNIFORM) {
		struct mval *from = c->u.raw[0] ? a : b;
		prov = from->prov;
		mval_copy(d, from);
	} else {
		const void *pa = a->kind == MVAL_UNIFORM ? (void *)&a->u : mval_dense(a);
		const void *pb = b->kind == MVAL_UNIFORM ? (void *)&b->u : mval_dense(b);
		unsigned u = (a->kind == MVAL_UNIFORM ? 2u : 0) | (b->kind == MVAL_UNIFORM ? 4u : 0);
		const void *pc = mval_dense(c);
		d->kind = MVAL_DENSE;
		p->kernel(d->data, pc, pa, pb, (size_t)d->n, u);
	}
	d->prov = (int16_t)prov;
	return 0;
}

/* The kernel gives int64, which is narrowed to the type of the result. */
int exec_float_to_int(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *a = mval_src(m, in, 0);
	int one = a->kind == MVAL_UNIFORM;
	const char *s = one ? (const char *)&a->u : mval_dense(a);
	char *out = one ? (char *)&d->u : d->data;
	tile_kernel *narrow = tile_kernel_cast(DT_I64, (enum dtype)d->dt);
	enum dtype dt = (enum dtype)a->dt;
	size_t n = one ? 1 : (size_t)d->n;
	for (size_t at = 0; at < n; at += BLOCK) {
		size_t count = MIN(n - at, (size_t)BLOCK);
		float wide[BLOCK];
		int64_t r[BLOCK];
		const void *src = s + at * a->esize;
		if (p->narrow)
			dtype_convert(DT_F32, wide, dt, src, count);
		p->kernel(r, p->narrow ? wide : src, NULL, NULL, count, 0);
		narrow(out + at * d->esize, r, NULL, NULL, count, 0);
	}
	d->kind = one ? MVAL_UNIFORM : MVAL_DENSE;
	return 0;
}
