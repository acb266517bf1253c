/* reduce: builtin combiners by halving the axis, argmax and argmin by one pass, any other
 * function by combining neighbours until one is left, which keeps their order.
 *
 * Invariant: the order of additions is fixed, so that a sum has the same bits on every CPU. */
#include "tile/machine/exec_reduce.h"

#include "base/cpu.h"
#include "tile/machine/math_table.h"

#if defined(__x86_64__)
extern row_fn *const tile_row_fns_base[TILE_COMBINES], *const tile_row_fns_v3[TILE_COMBINES],
	*const tile_row_fns_v4[TILE_COMBINES];
#else
extern row_fn *const tile_row_fns_base[TILE_COMBINES];
#endif

row_fn *row_reduce_f32(enum tile_combine k)
{
	return SIMD_PICK(tile_row_fns)[k];
}

struct tile_along along_axis(const struct mval *v, int64_t axis)
{
	struct tile_along a = { .outer = 1, .len = v->shape[axis], .inner = 1 };
	for (int i = 0; i < v->ndim; i++)
		*(i < axis ? &a.outer : &a.inner) *= i == axis ? 1 : v->shape[i];
	return a;
}

/* size_calls (decode.c) has sized the room, so running out of it is our bug. */
unsigned char *combine_room(struct machine *m, size_t bytes)
{
	unsigned char *p = m->combine + m->combine_used;
	bytes = (bytes + 63) & ~(size_t)63;
	if (m->combine_used + bytes > (size_t)m->decoded->combine_bytes)
		BUG("combine room: %zu of %lld", m->combine_used + bytes, (long long)m->decoded->combine_bytes);
	m->combine_used += bytes;
	return p;
}

/* A function with branches runs one lane at a time, because lanes may take different paths. */
int apply_func(struct machine *m, const struct tile_insn *in, int func, int64_t n, unsigned char *const *args,
	       unsigned char *const *results)
{
	const struct tile_func *f = &m->code->funcs[func];
	unsigned char *a[TILE_FUNC_PARAMS], *r[TILE_FUNC_PARAMS];
	if (!m->decoded->divergent[func])
		return call_func(m, in, func, (int)n, args, results);
	for (int64_t i = 0; i < n; i++) {
		for (int k = 0; k < f->n_params; k++)
			a[k] = args[k] + i * m->vals[f->params[k]].esize;
		for (int k = 0; k < f->n_results; k++)
			r[k] = results[k] + i * m->vals[f->results[k]].esize;
		if (call_func(m, in, func, 1, a, r))
			return -1;
	}
	return 0;
}

/* --- builtin combiners ---------------------------------------------------------------- */

/* Adds the second half of the axis to the first until one element is left: of 8 lanes, 0+4 1+5
 * 2+6 3+7, then two sums, then one. */
static void halve(const struct decoded_insn *p, struct mval *d, const struct mval *s, struct tile_along v,
		  unsigned char *buf)
{
	const unsigned char *from = s->data;
	size_t esize = s->esize;
	for (int64_t len = v.len / 2; len >= 1; len /= 2) {
		size_t part = (size_t)(len * v.inner);
		for (int64_t o = 0; o < v.outer; o++) {
			const unsigned char *x = from + (size_t)o * 2 * part * esize;
			elem_apply(p, (enum dtype)s->dt, buf + (size_t)o * part * esize, x, x + part * esize, part);
		}
		from = buf;
	}
	memcpy(mval_result(d), from, (size_t)d->n * esize);
}

/* --- argmax, argmin ------------------------------------------------------------------- */

/* One argmax or argmin under way. */
struct arg_scan {
	int min, fast;              /* argmin; ties may go to any lane */
	struct tile_along v;
	const int64_t *index;       /* of every lane */
	int64_t *best;              /* lane chosen for each result */
};

/* One pass along the axis for each result. Ties keep the lower index unless `fast`. Comparisons
 * with NaN are false, so a NaN lane is taken and left again at the next lane. */
#define ARG_PASS(name, T) \
	static void name(const struct arg_scan *s, const T *x) \
	{ \
		for (int64_t o = 0; o < s->v.outer; o++) \
			for (int64_t i = 0; i < s->v.inner; i++) { \
				int64_t at = o * s->v.len * s->v.inner + i, best = at; \
				for (int64_t j = 1; j < s->v.len; j++) { \
					int keep; \
					at += s->v.inner; \
					keep = s->min ? x[best] < x[at] : x[best] > x[at]; \
					keep |= !s->fast && x[best] == x[at] && s->index[best] < s->index[at]; \
					best = keep ? best : at; \
				} \
				s->best[o * s->v.inner + i] = best; \
			} \
	}
ARG_PASS(arg_f32, float)
ARG_PASS(arg_f64, double)
ARG_PASS(arg_i64, int64_t)
ARG_PASS(arg_u64, uint64_t)

/* result[i] = source[best[i]]. */
static void pick_lanes(struct mval *d, const struct mval *s, const int64_t *best)
{
	const char *from = s->data;
	char *out = mval_result(d);
	for (int32_t i = 0; i < d->n; i++)
		memcpy(out + (size_t)i * d->esize, from + (size_t)best[i] * d->esize, d->esize);
}

/* Results are the best values and their indices. Narrow floats are compared in fp32, integers in
 * 64 bits. */
static void reduce_arg(struct machine *m, const struct tile_insn *in, struct tile_along v)
{
	struct mval *x = mval_src(m, in, 0), *ix = mval_src(m, in, 1);
	enum dtype dt = (enum dtype)x->dt;
	int64_t *index = (int64_t *)m->scratch[0], *best = (int64_t *)m->scratch[1];
	void *wide = m->scratch[2];
	int kind = in->attr[0];
	struct arg_scan s = {
		.min = kind == TILE_ARGMIN || kind == TILE_ARGMIN_FAST, .fast = kind == TILE_ARGMAX_FAST ||
		kind == TILE_ARGMIN_FAST,
		.v = v, .index = index, .best = best,
	};
	mval_dense(x);
	tile_kernel_cast((enum dtype)ix->dt, DT_I64)(index, mval_dense(ix), NULL, NULL, (size_t)ix->n, 0);
	if (dt == DT_F64) {
		arg_f64(&s, x->data);
	} else if (dtype_is_float(dt)) {
		dtype_convert(DT_F32, wide, dt, x->data, (size_t)x->n);
		arg_f32(&s, wide);
	} else {
		tile_kernel_cast(dt, DT_I64)(wide, x->data, NULL, NULL, (size_t)x->n, 0);
		if (dt == DT_U64)
			arg_u64(&s, wide);
		else
			arg_i64(&s, wide);
	}
	pick_lanes(mval_dst(m, in, 0), x, best);
	pick_lanes(mval_dst(m, in, 1), ix, best);
}

/* --- any function --------------------------------------------------------------------- */

/* Most operands of a custom combine function. */
enum { MAX_COMBINED = 16 };

/* Every second block, from the first (odd 0) or the second (odd 1) on. */
static void take_half(unsigned char *out, const unsigned char *src, int64_t pairs, size_t block, int odd)
{
	for (int64_t i = 0; i < pairs; i++)
		memcpy(out + (size_t)i * block, src + ((size_t)i * 2 + (size_t)odd) * block, block);
}

/* Combines neighbours: (0,1) (2,3) ... in one call over all pairs, then pairs of the results.
 * This keeps the order, which a function that is not commutative needs. */
static int reduce_custom(struct machine *m, const struct tile_insn *in, struct tile_along v)
{
	int n = in->n_src;
	unsigned char *cur[MAX_COMBINED], *args[2 * MAX_COMBINED];
	size_t used = m->combine_used;
	int64_t lanes = v.outer * v.len * v.inner;
	for (int k = 0; k < n; k++) {
		size_t bytes = (size_t)lanes * mval_src(m, in, k)->esize;
		cur[k] = combine_room(m, bytes);
		args[k] = combine_room(m, bytes / 2 + 8);
		args[n + k] = combine_room(m, bytes / 2 + 8);
		memcpy(cur[k], mval_dense(mval_src(m, in, k)), bytes);
	}
	for (int64_t len = v.len / 2; len >= 1; len /= 2) {
		int64_t pairs = v.outer * len;
		for (int k = 0; k < n; k++) {
			size_t block = (size_t)v.inner * mval_src(m, in, k)->esize;
			take_half(args[k], cur[k], pairs, block, 0);
			take_half(args[n + k], cur[k], pairs, block, 1);
		}
		if (apply_func(m, in, in->attr[1], pairs * v.inner, args, cur))
			return -1;
	}
	for (int k = 0; k < n; k++) {
		struct mval *d = mval_dst(m, in, k);
		memcpy(mval_result(d), cur[k], (size_t)d->n * d->esize);
	}
	m->combine_used = used;
	return 0;
}

/* --- poison -------------------------------------------------------------------------- */

/* A result depends on every lane along the axis. */
static int reduce_poison(struct machine *m, const struct tile_insn *in, struct tile_along v)
{
	unsigned char bits = 0;
	int32_t at = 0;
	for (int k = 0; k < in->n_src; k++) {
		struct mval *s = mval_src(m, in, k);
		bits |= s->poison;
		at = s->poison ? s->poison_at : at;
		if (poison_map(m, s))
			return -1;
	}
	for (int k = 0; k < in->n_dst; k++) {
		struct mval *d = mval_dst(m, in, k);
		unsigned char *map = poison_room(m, d);
		if (!map)
			return -1;
		memset(map, 0, (size_t)d->n);
		for (int j = 0; j < in->n_src; j++)
			for (int64_t o = 0; o < v.outer; o++)
				for (int64_t i = 0; i < v.len * v.inner; i++)
					map[o * v.inner + i % v.inner] |= mval_src(m, in,
							j)->pmap[o * v.len * v.inner + i];
		d->pmap_on = 1;
		d->poison = bits;
		d->poison_at = at;
	}
	return 0;
}

int exec_reduce(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *s = mval_src(m, in, 0), *d = mval_dst(m, in, 0);
	struct tile_along v = along_axis(s, in->imm);
	int kind = in->attr[0];
	if (kind == TILE_CUSTOM) {
		if (reduce_custom(m, in, v))
			return -1;
	} else if (kind >= TILE_ARGMAX && kind <= TILE_ARGMIN_FAST) {
		reduce_arg(m, in, v);
	} else {
		row_fn *row = s->dt == DT_F32 && v.inner == 1 ? row_reduce_f32((enum tile_combine)kind) : NULL;
		const float *x = mval_dense(s);
		if (row)
			row(mval_result(d), x, v.outer, v.len);
		else
			halve(p, d, s, v, m->scratch[0]);
	}
	return m->check && any_poison(m, in) ? reduce_poison(m, in, v) : 0;
}

/* tl.map_elementwise: `pack` neighbouring lanes of each source are separate parameters of the
 * function. */
int exec_map(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	unsigned char *args[TILE_FUNC_PARAMS], *results[TILE_FUNC_PARAMS];
	int64_t pack = in->attr[0], n = mval_src(m, in, 0)->n / pack;
	size_t used = m->combine_used;
	const struct tile_func *f = &m->code->funcs[in->attr[1]];
	(void)p;
	for (int k = 0; k < f->n_params; k++) {
		struct mval *s = mval_src(m, in, k / (int)pack);
		const unsigned char *x = mval_dense(s);
		args[k] = combine_room(m, (size_t)n * s->esize);
		for (int64_t i = 0; i < n; i++)
			memcpy(args[k] + i * s->esize, x + (i * pack + k % pack) * s->esize, s->esize);
	}
	for (int k = 0; k < f->n_results; k++)
		results[k] = combine_room(m, (size_t)n * mval_dst(m, in, k / (int)pack)->esize);
	if (apply_func(m, in, in->attr[1], n, args, results))
		return -1;
	for (int k = 0; k < f->n_results; k++) {
		struct mval *d = mval_dst(m, in, k / (int)pack);
		unsigned char *out = mval_result(d);
		for (int64_t i = 0; i < n; i++)
			memcpy(out + (i * pack + k % pack) * d->esize, results[k] + i * d->esize, d->esize);
	}
	m->combine_used = used;
	return m->check && any_poison(m, in) ? poison_all(m, in) : 0;
}
