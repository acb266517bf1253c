/* scan: builtin combiners by stepping along the axis, any other function by the work-efficient
 * recursion over neighbours, which keeps their order. */
#include "tile/machine/exec_reduce.h"

/* --- builtin combiners ---------------------------------------------------------------- */

/* out[j] = out[j - 1] op x[j], a block of `inner` lanes at a time; from the end if `reverse`. */
static void scan_builtin(const struct decoded_insn *p, struct mval *d, const struct mval *s,
			 struct tile_along v, int reverse)
{
	const char *x = s->data;
	char *out = mval_result(d);
	size_t block = (size_t)v.inner * s->esize;
	for (int64_t o = 0; o < v.outer; o++) {
		int64_t first = o * v.len + (reverse ? v.len - 1 : 0), step = reverse ? -1 : 1;
		memcpy(out + (size_t)first * block, x + (size_t)first * block, block);
		for (int64_t j = 1; j < v.len; j++) {
			size_t at = (size_t)(first + j * step) * block,
				before = (size_t)(first + (j - 1) * step) * block;
			elem_apply(p, (enum dtype)s->dt, out + at, out + before, x + at, (size_t)v.inner);
		}
	}
}

/* Running sums along rows, the common case, without a call per lane. Integer sums wrap in U. */
#define RUNNING(name, T, U) \
	static void name(T *out, const T *x, struct tile_along v, int reverse) \
	{ \
		for (int64_t o = 0; o < v.outer; o++, x += v.len, out += v.len) { \
			U sum = 0; \
			for (int64_t j = 0; j < v.len; j++) { \
				int64_t at = reverse ? v.len - 1 - j : j; \
				sum = j ? sum + (U)x[at] : (U)x[at]; \
				out[at] = (T)sum; \
			} \
		} \
	}
RUNNING(running_f32, float, float)
RUNNING(running_f64, double, double)
RUNNING(running_i32, int32_t, uint32_t)
RUNNING(running_i64, int64_t, uint64_t)

/* Returns 0 if the scan is not a sum along the last dimension of one of these types. */
static int running_sum(struct mval *d, const struct mval *s, struct tile_along v, int reverse)
{
	void *out = d->data;
	if (v.inner != 1)
		return 0;
	switch (s->dt) {
	case DT_F32: running_f32(out, s->data, v, reverse); break;
	case DT_F64: running_f64(out, s->data, v, reverse); break;
	case DT_I32: case DT_U32: running_i32(out, s->data, v, reverse); break;
	case DT_I64: case DT_U64: running_i64(out, s->data, v, reverse); break;
	default: return 0;
	}
	mval_result(d);
	return 1;
}

/* --- any function --------------------------------------------------------------------- */

/* Most operands of a custom combine function. */
enum { MAX_COMBINED = 16 };

/* A scan with a custom function under way. */
struct scanner {
	struct machine *m;
	const struct tile_insn *in;
	int n, func;                /* operands; index of the function */
	int64_t outer, inner;
	int esize[MAX_COMBINED];
};

/* Copies `count` blocks of every outer row: block to_first + j * to_step of rows with to_len
 * blocks takes block from_first + j * from_step of rows with from_len blocks. */
static void copy_blocks(const struct scanner *s, int k, unsigned char *to, int64_t to_len, int64_t to_first,
			int64_t to_step, const unsigned char *from, int64_t from_len, int64_t from_first,
			int64_t from_step, int64_t count)
{
	size_t block = (size_t)(s->inner * s->esize[k]);
	for (int64_t o = 0; o < s->outer; o++)
		for (int64_t j = 0; j < count; j++)
			memcpy(to + (size_t)(o * to_len + to_first + j * to_step) * block,
			       from + (size_t)(o * from_len + from_first + j * from_step) * block, block);
}

/* x[k] (outer x len x inner) becomes its inclusive scan. Neighbours are combined into half as
 * many elements, which are scanned by recursion. They are the odd results; the even ones take one
 * more combination: of a b c d, the pairs ab cd scan to ab abcd, and the third result is ab op c. */
static int scan_in_place(const struct scanner *s, unsigned char **x, int64_t len)
{
	struct machine *m = s->m;
	size_t used = m->combine_used;
	unsigned char *args[2 * MAX_COMBINED], *half[MAX_COMBINED];
	int64_t h = len / 2;
	if (len == 1)
		return 0;
	for (int k = 0; k < s->n; k++) {
		size_t bytes = (size_t)(s->outer * h * s->inner * s->esize[k]);
		args[k] = combine_room(m, bytes);
		args[s->n + k] = combine_room(m, bytes);
		half[k] = combine_room(m, bytes);
		copy_blocks(s, k, args[k], h, 0, 1, x[k], len, 0, 2, h);
		copy_blocks(s, k, args[s->n + k], h, 0, 1, x[k], len, 1, 2, h);
	}
	if (apply_func(m, s->in, s->func, s->outer * h * s->inner, args, half) || scan_in_place(s, half, h))
		return -1;
	for (int k = 0; k < s->n; k++) {
		copy_blocks(s, k, x[k], len, 1, 2, half[k], h, 0, 1, h);
		copy_blocks(s, k, args[k], h - 1, 0, 1, half[k], h, 0, 1, h - 1);
		copy_blocks(s, k, args[s->n + k], h - 1, 0, 1, x[k], len, 2, 2, h - 1);
	}
	if (h > 1 && apply_func(m, s->in, s->func, s->outer * (h - 1) * s->inner, args, half))
		return -1;
	for (int k = 0; k < s->n && h > 1; k++)
		copy_blocks(s, k, x[k], len, 2, 2, half[k], h - 1, 0, 1, h - 1);
	m->combine_used = used;
	return 0;
}

/* A reverse scan copies the axis in reverse order before and after. */
static int scan_custom(struct machine *m, const struct tile_insn *in, struct tile_along v)
{
	struct scanner s = { .m = m, .in = in, .n = in->n_src, .func = in->attr[1], .outer = v.outer,
			     .inner = v.inner };
	unsigned char *x[MAX_COMBINED];
	size_t used = m->combine_used;
	int reverse = in->attr[2] != 0;
	for (int k = 0; k < s.n; k++) {
		struct mval *a = mval_src(m, in, k);
		s.esize[k] = a->esize;
		x[k] = combine_room(m, (size_t)a->n * a->esize);
		copy_blocks(&s, k, x[k], v.len, 0, 1, mval_dense(a), v.len, reverse ? v.len - 1 : 0,
			    reverse ? -1 : 1, v.len);
	}
	if (scan_in_place(&s, x, v.len))
		return -1;
	for (int k = 0; k < s.n; k++)
		copy_blocks(&s, k, mval_result(mval_dst(m, in, k)), v.len, 0, 1, x[k], v.len, reverse ?
			    v.len - 1 : 0, reverse ? -1 : 1, v.len);
	m->combine_used = used;
	return 0;
}

/* A lane depends on itself and all lanes before it. */
static int scan_poison(struct machine *m, const struct tile_insn *in, struct tile_along v)
{
	for (int k = 0; k < in->n_src; k++)
		if (poison_map(m, mval_src(m, in, k)))
			return -1;
	for (int k = 0; k < in->n_dst; k++) {
		struct mval *d = mval_dst(m, in, k);
		unsigned char *map = poison_room(m, d);
		if (!map)
			return -1;
		memset(map, 0, (size_t)d->n);
		for (int64_t i = 0; i < d->n; i++) {
			int64_t j = i / v.inner % v.len, at = in->attr[2] ? d->n - 1 - i : i;
			int64_t before = in->attr[2] ? at + v.inner : at - v.inner;
			for (int s = 0; s < in->n_src; s++) {
				map[at] |= mval_src(m, in, s)->pmap[at];
				d->poison |= mval_src(m, in, s)->poison;
				d->poison_at = mval_src(m, in, s)->poison ? mval_src(m, in, s)->poison_at :
					d->poison_at;
			}
			map[at] |= j ? map[before] : 0;
		}
		d->pmap_on = 1;
	}
	return 0;
}

/* The custom function sets the results of all operands; a builtin scan has one operand. */
int exec_scan(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *s = mval_src(m, in, 0), *d = mval_dst(m, in, 0);
	struct tile_along v = along_axis(s, in->imm);
	if (in->attr[0] == TILE_CUSTOM) {
		if (scan_custom(m, in, v))
			return -1;
	} else {
		mval_dense(s);
		if (in->attr[0] != TILE_SUM || !running_sum(d, s, v, in->attr[2]))
			scan_builtin(p, d, s, v, in->attr[2]);
	}
	return m->check && any_poison(m, in) ? scan_poison(m, in, v) : 0;
}
