/* sort, topk, gather, histogram: operations in which values decide where lanes go. Any poison in
 * a source poisons the whole result. */
#include "tile/machine/machine.h"
#include "tile/machine/math_table.h"

/* Merge sort of a row between x and tmp, stable. NaN counts as the greatest value. */
#define SORT_ROW(name, T, LESS) \
	static void name(void *row, void *room, int64_t n) \
	{ \
		T *x = row, *tmp = room; \
		for (int64_t w = 1; w < n; w *= 2) { \
			T *t = x; \
			for (int64_t lo = 0; lo < n; lo += 2 * w) { \
				int64_t i = lo, mid = lo + w < n ? lo + w : n, j = mid, hi = lo + 2 * w < n ? \
					lo + 2 * w : n; \
				for (int64_t k = lo; k < hi; k++) { \
					int left = i < mid && (j >= hi || !LESS(x[j], x[i])); \
					tmp[k] = left ? x[i++] : x[j++]; \
				} \
			} \
			x = tmp; \
			tmp = t; \
		} \
		if (x != row) \
			memcpy(row, x, (size_t)n * sizeof(T)); \
	}
/* For floats NaN is greater than every number and equal to itself. */
#define LESS_INT(a, b) ((a) < (b))
#define LESS_FLOAT(a, b) ((a) < (b) || ((b) != (b) && (a) == (a)))
SORT_ROW(sort_f32, float, LESS_FLOAT)
SORT_ROW(sort_f64, double, LESS_FLOAT)
SORT_ROW(sort_i64, int64_t, LESS_INT)
SORT_ROW(sort_u64, uint64_t, LESS_INT)

/* Sorts rows of `len` elements in place. Narrow types were widened to a type that orders them
 * alike. */
static void sort_rows(char *x, char *room, int64_t rows, int64_t len, enum dtype wide, int descending)
{
	size_t size = (size_t)dtype_size(wide);
	for (int64_t r = 0; r < rows; r++) {
		char *row = x + (size_t)(r * len) * size;
		switch (wide) {
		case DT_F32: sort_f32(row, room, len); break;
		case DT_F64: sort_f64(row, room, len); break;
		case DT_U64: sort_u64(row, room, len); break;
		default: sort_i64(row, room, len);
		}
		for (int64_t i = 0; descending && i < len / 2; i++) {
			char t[8], *a = row + (size_t)i * size, *b = row + (size_t)(len - 1 - i) * size;
			memcpy(t, a, size);
			memcpy(a, b, size);
			memcpy(b, t, size);
		}
	}
}

/* Sorts along the last dimension; topk keeps the first `keep` elements of each row. */
static int sort_to(struct machine *m, const struct tile_insn *in)
{
	struct mval *d = mval_dst(m, in, 0), *s = mval_src(m, in, 0);
	enum dtype dt = (enum dtype)s->dt;
	enum dtype wide = dt == DT_F64 ? DT_F64 : dtype_is_float(dt) ? DT_F32 : dt == DT_U64 ? DT_U64 : DT_I64;
	int64_t len = s->shape[s->ndim - 1], keep = d->shape[d->ndim - 1], rows = s->n / len;
	char *x = (char *)m->scratch[0];
	size_t wsize = (size_t)dtype_size(wide);
	char *out;

	dtype_convert(wide, x, dt, mval_dense(s), (size_t)s->n);
	sort_rows(x, (char *)m->scratch[1], rows, len, wide, in->imm != 0);
	out = mval_result(d);
	for (int64_t r = 0; r < rows; r++)
		dtype_convert(dt, out + (size_t)(r * keep) * d->esize, wide, x + (size_t)(r * len) * wsize,
			      (size_t)keep);
	return m->check && any_poison(m, in) ? poison_all(m, in) : 0;
}

/* imm: descending. */
int exec_sort(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	(void)p;
	return sort_to(m, in);
}

/* A topk is a descending sort whose result has fewer elements in the last dimension. */
int exec_topk(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	(void)p;
	return sort_to(m, in);
}

/* result[..., i, ...] = source[..., index[..., i, ...], ...] along axis imm. The indices become
 * positions in the whole tile first. */
int exec_gather(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *s = mval_src(m, in, 0), *ix = mval_src(m, in, 1);
	int64_t *index = (int64_t *)m->scratch[0];
	int64_t inner = 1, len = s->shape[in->imm], dlen = d->shape[in->imm];
	const char *x;
	char *out;

	(void)p;
	for (int i = (int)in->imm + 1; i < d->ndim; i++)
		inner *= d->shape[i];
	tile_kernel_cast((enum dtype)ix->dt, DT_I64)(index, mval_dense(ix), NULL, NULL, (size_t)ix->n, 0);
	x = mval_dense(s);
	for (int64_t i = 0; i < d->n; i++) {
		if (index[i] < 0 || index[i] >= len)
			return fault_at(m, in->loc, REASON_out_of_bounds, "gather index %lld is outside 0 to %lld",
					(long long)index[i], (long long)len - 1);
		index[i] = (i / (inner * dlen) * len + index[i]) * inner + i % inner;
	}
	out = mval_result(d);
	for (int64_t i = 0; i < d->n; i++)
		memcpy(out + (size_t)i * d->esize, x + (size_t)index[i] * d->esize, d->esize);
	return m->check && any_poison(m, in) ? poison_all(m, in) : 0;
}

/* Counts the values 0 to bins - 1; others are ignored. */
int exec_histogram(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *s = mval_src(m, in, 0);
	const unsigned char *on = in->n_src > 1 ? mval_dense(mval_src(m, in, 1)) : NULL;
	int64_t *x = (int64_t *)m->scratch[0];
	int32_t *out;

	(void)p;
	tile_kernel_cast((enum dtype)s->dt, DT_I64)(x, mval_dense(s), NULL, NULL, (size_t)s->n, 0);
	out = mval_result(d);
	memset(out, 0, (size_t)d->n * sizeof *out);
	for (int32_t i = 0; i < s->n; i++)
		if ((!on || on[i]) && x[i] >= 0 && x[i] < d->n)
			out[x[i]]++;
	return m->check && any_poison(m, in) ? poison_all(m, in) : 0;
}
