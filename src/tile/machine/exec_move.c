/* Operations that move lanes: permute, broadcast, join, split, cat, flip.
 *
 * Each is a mover over bytes. run_move calls it once for the elements and, if there is poison,
 * again for the poison maps with elements of one byte, so that poison moves exactly as its lanes. */
#include "tile/machine/exec_move.h"

enum { MOVE_SOURCES = 2 };

/* The provenance of a result is known if all sources agree on it. */
int run_move(struct machine *m, const struct tile_insn *in, move_fn *move)
{
	const void *src[MOVE_SOURCES] = { NULL };
	int poison = m->check && any_poison(m, in);
	int32_t at = 0;
	unsigned char bits = 0;
	for (int k = 0; k < in->n_src && k < MOVE_SOURCES; k++) {
		struct mval *s = mval_src(m, in, k);
		src[k] = mval_dense(s);
		bits |= s->poison;
		at = s->poison ? s->poison_at : at;
	}
	for (int k = 0; k < in->n_dst; k++) {
		struct mval *d = mval_dst(m, in, k);
		d->prov = in->n_src == 2 && mval_src(m, in, 0)->prov != mval_src(m, in, 1)->prov ? -1 :
			mval_src(m, in, 0)->prov;
		move(m, in, k, mval_result(d), src, d->esize);
	}
	if (!poison)
		return 0;
	/* The same again over the poison maps, with elements of one byte. */
	for (int k = 0; k < in->n_src && k < MOVE_SOURCES; k++) {
		if (poison_map(m, mval_src(m, in, k)))
			return -1;
		src[k] = mval_src(m, in, k)->pmap;
	}
	for (int k = 0; k < in->n_dst; k++) {
		struct mval *d = mval_dst(m, in, k);
		unsigned char *map = poison_room(m, d);
		if (!map)
			return -1;
		move(m, in, k, map, src, 1);
		d->pmap_on = 1;
		d->poison = bits;
		d->poison_at = at;
	}
	return 0;
}

/* reshape and expand_dims keep the order of the lanes. */
void move_same(struct machine *m, const struct tile_insn *in, int k, void *out, const void *const *src, int esize)
{
	memcpy(out, src[0], (size_t)mval_dst(m, in, k)->n * (size_t)esize);
}

/* Copies n elements that are `step` elements apart in the source; 0 repeats one element. */
static void copy_strided(char *out, const char *src, int64_t step, int64_t n, int esize)
{
	if (step == 1) {
		memcpy(out, src, (size_t)(n * esize));
		return;
	}
	/* Most broadcasts repeat one value along a row: a separate loop for them vectorises. */
#define STRIDED(T) \
	do { \
		T *o = (T *)out; \
		const T *s = (const T *)src, first = *s; \
		for (int64_t i = 0; i < n && !step; i++) \
			o[i] = first; \
		for (int64_t i = 0; i < n && step; i++) \
			o[i] = s[i * step]; \
	} while (0)
	switch (esize) {
	case 1: STRIDED(uint8_t); break;
	case 2: STRIDED(uint16_t); break;
	case 4: STRIDED(uint32_t); break;
	default: STRIDED(uint64_t);
	}
#undef STRIDED
}

/* Fills the lanes of d from a source that has a stride for each dimension of d. A transposed [4,
 * 8] source has the strides { 1, 8 }. */
static void copy_by_stride(const struct mval *d, const int64_t *stride, char *out, const char *src, int esize)
{
	int32_t index[TILE_DIMS] = { 0 };
	int last = d->ndim - 1;
	int64_t row = d->shape[last], at = 0;
	for (;;) {
		int k;

		/* One row of d, then `at` moves to the source of the next row like an odometer. */
		copy_strided(out, src + at * esize, stride[last], row, esize);
		out += row * esize;
		k = last - 1;
		for (; k >= 0; k--) {
			at += stride[k];
			if (++index[k] < d->shape[k])
				break;
			at -= stride[k] * d->shape[k];
			index[k] = 0;
		}
		if (k < 0)
			return;
	}
}

/* Strides of a contiguous tile, in elements. */
static void row_major(const struct mval *v, int64_t *stride)
{
	int64_t n = 1;
	for (int k = v->ndim - 1; k >= 0; k--) {
		stride[k] = n;
		n *= v->shape[k];
	}
}

/* Dimension i of the result is dimension attr[i] of the source. */
void move_permute(struct machine *m, const struct tile_insn *in, int k, void *out, const void *const *src, int esize)
{
	const struct mval *d = mval_dst(m, in, k), *s = mval_src(m, in, 0);
	int64_t own[TILE_DIMS], stride[TILE_DIMS];
	row_major(s, own);
	for (int i = 0; i < d->ndim; i++)
		stride[i] = own[in->attr[i]];
	copy_by_stride(d, stride, out, src[0], esize);
}

/* A dimension of 1 that grows has the stride 0. */
void move_broadcast(struct machine *m, const struct tile_insn *in, int k, void *out, const void *const *src, int esize)
{
	const struct mval *d = mval_dst(m, in, k), *s = mval_src(m, in, 0);
	int64_t stride[TILE_DIMS];
	if (!d->ndim) {
		memcpy(out, src[0], (size_t)esize);
		return;
	}
	row_major(s, stride);
	for (int i = 0; i < d->ndim; i++)
		if (s->shape[i] != d->shape[i])
			stride[i] = 0;
	copy_by_stride(d, stride, out, src[0], esize);
}

/* join: lanes of both sources alternate along a new last dimension of 2. */
static void move_join(struct machine *m, const struct tile_insn *in, int k, void *out, const void *const *src,
		      int esize)
{
	int64_t n = mval_src(m, in, 0)->n;
	char *o = out;
	for (int64_t i = 0; i < n; i++) {
		memcpy(o, (const char *)src[0] + i * esize, (size_t)esize);
		memcpy(o + esize, (const char *)src[1] + i * esize, (size_t)esize);
		o += 2 * esize;
	}
	(void)k;
}

/* split: result k takes every second lane, from lane k on. */
static void move_split(struct machine *m, const struct tile_insn *in, int k, void *out, const void *const *src,
		       int esize)
{
	copy_strided(out, (const char *)src[0] + k * esize, 2, mval_dst(m, in, k)->n, esize);
}

/* Products of the dimensions before and after an axis. */
static void around_axis(const struct mval *v, int64_t axis, int64_t *outer, int64_t *inner)
{
	*outer = *inner = 1;
	for (int i = 0; i < v->ndim; i++)
		*(i < axis ? outer : inner) *= i == axis ? 1 : v->shape[i];
}

/* cat along axis imm. */
static void move_cat(struct machine *m, const struct tile_insn *in, int k, void *out, const void *const *src, int esize)
{
	const struct mval *a = mval_src(m, in, 0), *b = mval_src(m, in, 1);
	int64_t outer, inner;
	size_t na, nb;
	char *o;

	around_axis(mval_dst(m, in, k), in->imm, &outer, &inner);
	na = (size_t)(a->shape[in->imm] * inner * esize);
	nb = (size_t)(b->shape[in->imm] * inner * esize);
	o = out;
	for (int64_t i = 0; i < outer; i++) {
		memcpy(o, (const char *)src[0] + (size_t)i * na, na);
		memcpy(o + na, (const char *)src[1] + (size_t)i * nb, nb);
		o += na + nb;
	}
}

/* flip: the blocks along axis imm in reverse order. */
static void move_flip(struct machine *m, const struct tile_insn *in, int k, void *out, const void *const *src,
		      int esize)
{
	const struct mval *d = mval_dst(m, in, k);
	int64_t outer, inner, len = d->shape[in->imm];
	size_t bytes;

	around_axis(d, in->imm, &outer, &inner);
	bytes = (size_t)(inner * esize);
	for (int64_t i = 0; i < outer; i++)
		for (int64_t j = 0; j < len; j++)
			memcpy((char *)out + (size_t)(i * len + j) * bytes,
			       (const char *)src[0] + (size_t)(i * len + len - 1 - j) * bytes, bytes);
}

int exec_join(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	(void)p;
	return run_move(m, in, move_join);
}

int exec_split(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	(void)p;
	return run_move(m, in, move_split);
}

int exec_cat(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	(void)p;
	return run_move(m, in, move_cat);
}

int exec_flip(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	(void)p;
	return run_move(m, in, move_flip);
}
