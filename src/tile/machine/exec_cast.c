/* cast and bitcast. Conversions to nearest go through kernels. The rare directed roundings are
 * done lane by lane from the exact value. */
#include "tile/machine/machine.h"

#include <math.h>

#include "tile/machine/math_table.h"

enum { BLOCK = 512 };

/* fp16, bf16 and the fp8 types. */
static int is_narrow(enum dtype dt)
{
	return dtype_is_float(dt) && dt != DT_F32 && dt != DT_F64;
}

/* A narrow float on one side or both: converts through fp32. Between floats dtype_convert does it
 * in one step, so that fp64 to narrow rounds once. */
static void through_f32(enum dtype to, char *out, enum dtype from, const char *src, size_t n)
{
	float mid[BLOCK];
	if ((dtype_is_float(from) && dtype_is_float(to)) || from == DT_F32) {
		if (dtype_is_float(to)) {
			dtype_convert(to, out, from, src, n);
			return;
		}
	}
	for (size_t at = 0; at < n; at += BLOCK) {
		size_t count = MIN(n - at, (size_t)BLOCK);
		const char *s = src + at * (size_t)dtype_size(from);
		char *o = out + at * (size_t)dtype_size(to);
		if (is_narrow(from)) {
			dtype_convert(DT_F32, mid, from, s, count);
			tile_kernel_cast(DT_F32, to)(o, mid, NULL, NULL, count, 0);
		} else {
			tile_kernel_cast(from, DT_F32)(mid, s, NULL, NULL, count, 0);
			dtype_convert(to, o, DT_F32, mid, count);
		}
	}
}

/* Returns `near` (x rounded to nearest in dtype `to`), or its neighbour if the mode asks for the
 * other side of x. Neighbours differ by 1 as integers: 1.1 in fp16 is 0x3c66 (1.0996), rounded up
 * it is 0x3c67 (1.1006). */
static double directed(enum dtype to, double near, long double x, enum tile_round r)
{
	int down = r == TILE_RD || (r == TILE_RZ && x > 0);
	int width, negative;
	int64_t bits;
	unsigned char b[8] = { 0 };

	if (near == x || isnan(near) || (down ? near < x : near > x))
		return near;
	dtype_store(to, b, near);
	bits = 0;
	memcpy(&bits, b, (size_t)dtype_size(to));
	width = dtype_size(to) * 8;
	negative = (int)(bits >> (width - 1) & 1);
	if (near == 0)
		bits = ((int64_t)down << (width - 1)) | 1;
	else
		bits += negative == down ? 1 : -1;
	memcpy(b, &bits, (size_t)dtype_size(to));
	return dtype_load(to, b);
}

/* The value of a lane without loss: long double holds all 64-bit integers. */
static long double exact(enum dtype dt, const void *p)
{
	if (dt == DT_U64)
		return (long double)*(const uint64_t *)p;
	return dtype_is_float(dt) ? (long double)dtype_load(dt, p) : (long double)dtype_load_int(dt, p);
}

/* Rounds to nearest first and then moves to the neighbour if that was the wrong direction. */
static void cast_directed(enum dtype to, char *out, enum dtype from, const char *src, size_t n, enum tile_round r)
{
	for (size_t i = 0; i < n; i++) {
		long double x = exact(from, src + i * (size_t)dtype_size(from));
		unsigned char b[8];
		dtype_store(to, b, (double)x);
		dtype_store(to, out + i * (size_t)dtype_size(to), directed(to, dtype_load(to, b), x, r));
	}
}

/* Conversions to fp8 stop at the largest finite value (cvt.satfinite); NaN stays NaN. */
static void saturate_f8(enum dtype to, unsigned char *out, enum dtype from, const char *src, size_t n)
{
	unsigned char over = to == DT_F8E4M3 ? 0x7f : 0x7c;
	for (size_t i = 0; i < n; i++)
		if ((out[i] & 0x7f) == over && !isnan(dtype_load(from, src + i * (size_t)dtype_size(from))))
			out[i]--;
}

static void cast_lanes(const struct tile_insn *in, enum dtype to, void *out, enum dtype from, const void *src, size_t n)
{
	if (in->rounding && dtype_is_float(to))
		cast_directed(to, out, from, src, n, (enum tile_round)in->rounding);
	else if (is_narrow(from) || is_narrow(to))
		through_f32(to, out, from, src, n);
	else
		tile_kernel_cast(from, to)(out, src, NULL, NULL, n, 0);
	if (to == DT_F8E4M3 || to == DT_F8E5M2)
		saturate_f8(to, out, from, src, n);
}

/* An AFFINE integer stays AFFINE if its lanes fit the new type. A cast pointer keeps its
 * provenance; an integer that becomes a pointer has none. */
int exec_cast(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *a = mval_src(m, in, 0);
	enum dtype to = d->ptr ? DT_I64 : (enum dtype)d->dt, from = a->ptr ? DT_I64 : (enum dtype)a->dt;
	int prov = a->ptr ? a->prov : -1;
	(void)p;
	if (a->kind == MVAL_AFFINE && !dtype_is_float(to) && to != DT_BOOL && lazy_cast(d, a)) {
		d->prov = (int16_t)prov;
		return 0;
	}
	if (a->kind == MVAL_UNIFORM) {
		union { int64_t i; unsigned char raw[8]; } r = { .i = 0 };
		cast_lanes(in, to, r.raw, from, &a->u, 1);
		d->u.i = r.i;
		d->kind = MVAL_UNIFORM;
	} else {
		const void *src = mval_dense(a);
		d->kind = MVAL_DENSE;
		cast_lanes(in, to, d->data, from, src, (size_t)d->n);
	}
	d->prov = (int16_t)prov;
	return 0;
}

/* Arithmetic on a GPU gives the NaN 0x7fffffff. CPUs give 0x7fc00000 instead, which a bitcast
 * makes visible. */
static void gpu_nans(uint32_t *bits, int64_t n)
{
	enum { QUIET = 0x7fc00000, GPU_NAN = 0x7fffffff };

	for (int64_t i = 0; i < n; i++)
		bits[i] = (bits[i] & GPU_NAN) == QUIET ? GPU_NAN : bits[i];
}

/* The bits are copied unchanged. AFFINE integers are written out, because the new type may not be
 * one that AFFINE can hold. */
int exec_bitcast(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *a = mval_src(m, in, 0);
	int prov = a->ptr ? a->prov : -1;
	(void)p;
	if (a->kind == MVAL_AFFINE && !(a->ptr && d->ptr)) {
		memmove(d->data, mval_dense(a), (size_t)d->n * d->esize);
		d->kind = MVAL_DENSE;
	} else {
		mval_copy(d, a);
	}
	if (a->dt == DT_F32 && !a->ptr && !d->ptr && d->dt != DT_F32)
		gpu_nans(d->kind == MVAL_UNIFORM ? (uint32_t *)&d->u : (uint32_t *)d->data,
			 d->kind == MVAL_UNIFORM ? 1 : d->n);
	d->prov = (int16_t)prov;
	return 0;
}
