/* Operations on whole tiles: shapes, reductions, scans, sorting, products, against loops. */
#include "tile_rig.h"

#include <math.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "tile/machine/dot.h"

static struct tile_type tile2(enum dtype dt, int32_t m, int32_t n) { return tile_shaped(tile_scalar(dt), 2, (int32_t[]){ m, n }); }
static struct tile_type tile3(enum dtype dt, int32_t a, int32_t b, int32_t c) { return tile_shaped(tile_scalar(dt), 3, (int32_t[]){ a, b, c }); }

static void random_f32(float *x, int n, uint64_t seed)
{
	struct rng g;
	rng_init(&g, seed, "whole");
	for (int i = 0; i < n; i++)
		x[i] = (float)(rng_f64(&g) * 4 - 2);
}

static void ramp_i32(int32_t *x, int n)
{
	for (int i = 0; i < n; i++)
		x[i] = i * 7 % 101 - 50;
}

/* --- shapes ------------------------------------------------------------------------- */

static void test_permute(void **state)
{
	struct rig r;
	int32_t *a, *o;
	tile_reg x, y;

	(void)state;
	rig_open(&r);
	x = rig_input(&r, tile3(DT_I32, 4, 8, 2), (void **)&a);
	y = tile_build(&r.b, TOP_PERMUTE, tile3(DT_I32, 2, 4, 8), 1, x);
	memcpy(tile_build_last(&r.b)->attr, (int32_t[]){ 2, 0, 1 }, 12);
	rig_output(&r, y, (void **)&o);
	ramp_i32(a, 64);
	rig_run(&r);
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 4; j++)
			for (int k = 0; k < 8; k++)
				assert_int_equal(o[(i * 4 + j) * 8 + k], a[(j * 8 + k) * 2 + i]);
	rig_close(&r);
}

/* The same through short forms: pointers and offsets that were permuted and broadcast. */
static void test_short_forms(void **state)
{
	struct rig r;
	int32_t *a, *o, *box;
	tile_reg m1, src, m2, p, rows, cols, m, r2, c2, rb, cb, eight, off, offt;
	struct tile_type pt;

	(void)state;
	rig_open(&r);
	src = rig_tensor(&r, DT_I32, 16 * 8, (void **)&a);
	rows = tile_build(&r.b, TOP_ARANGE, rig_tile(DT_I32, 16), 0);
	cols = tile_build(&r.b, TOP_ARANGE, rig_tile(DT_I32, 8), 0);
	r2 = tile_build_imm(&r.b, TOP_EXPAND_DIMS, tile2(DT_I32, 16, 1), 1, 1, rows);
	c2 = tile_build_imm(&r.b, TOP_EXPAND_DIMS, tile2(DT_I32, 1, 8), 0, 1, cols);
	rb = tile_build(&r.b, TOP_BROADCAST, tile2(DT_I32, 16, 8), 1, r2);
	cb = tile_build(&r.b, TOP_BROADCAST, tile2(DT_I32, 16, 8), 1, c2);
	eight = tile_build_int(&r.b, tile2(DT_I32, 16, 8), 8);
	off = tile_build(&r.b, TOP_ADD, tile2(DT_I32, 16, 8), 2, tile_build(&r.b, TOP_MUL, tile2(DT_I32, 16, 8), 2, rb, eight), cb);
	offt = tile_build(&r.b, TOP_PERMUTE, tile2(DT_I32, 8, 16), 1, off);
	memcpy(tile_build_last(&r.b)->attr, (int32_t[]){ 1, 0 }, 8);
	pt = tile_shaped(tile_pointer(DT_I32), 2, (int32_t[]){ 8, 16 });
	p = tile_build(&r.b, TOP_ADDPTR, pt, 2, tile_build(&r.b, TOP_SPLAT, pt, 1, src), offt);
	rig_output(&r, tile_build(&r.b, TOP_LOAD, tile2(DT_I32, 8, 16), 1, p), (void **)&o);
	/* row < 5 and col >= 2, as a box */
	m1 = tile_build(&r.b, TOP_LT, tile2(DT_BOOL, 16, 8), 2, rb, tile_build_int(&r.b, tile2(DT_I32, 16, 8), 5));
	m2 = tile_build(&r.b, TOP_GE, tile2(DT_BOOL, 16, 8), 2, cb, tile_build_int(&r.b, tile2(DT_I32, 16, 8), 2));
	m = tile_build(&r.b, TOP_AND, tile2(DT_BOOL, 16, 8), 2, m1, m2);
	rig_output(&r, tile_build(&r.b, TOP_CAST, tile2(DT_I32, 16, 8), 1, m), (void **)&box);
	ramp_i32(a, 128);
	rig_run(&r);
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 16; j++) {
			assert_int_equal(o[i * 16 + j], a[j * 8 + i]);
			assert_int_equal(box[j * 8 + i], j < 5 && i >= 2);
		}
	rig_close(&r);
}

static void test_join_split_cat_flip(void **state)
{
	struct rig r;
	int32_t *a, *b, *j, *s0, *s1, *c, *f;
	tile_reg x, y, joined, halves[2];

	(void)state;
	rig_open(&r);
	x = rig_input(&r, tile2(DT_I32, 4, 8), (void **)&a);
	y = rig_input(&r, tile2(DT_I32, 4, 8), (void **)&b);
	joined = tile_build(&r.b, TOP_JOIN, tile3(DT_I32, 4, 8, 2), 2, x, y);
	rig_output(&r, joined, (void **)&j);
	halves[0] = tile_build_reg(&r.b, tile2(DT_I32, 4, 8));
	halves[1] = tile_build_reg(&r.b, tile2(DT_I32, 4, 8));
	tile_build_insn(&r.b, TOP_SPLIT, 2, halves, 1, &joined);
	rig_output(&r, halves[0], (void **)&s0);
	rig_output(&r, halves[1], (void **)&s1);
	rig_output(&r, tile_build_imm(&r.b, TOP_CAT, tile2(DT_I32, 4, 16), 1, 2, x, y), (void **)&c);
	rig_output(&r, tile_build_imm(&r.b, TOP_FLIP, tile2(DT_I32, 4, 8), 0, 1, x), (void **)&f);
	ramp_i32(a, 32);
	for (int i = 0; i < 32; i++)
		b[i] = 1000 + i;
	rig_run(&r);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 8; k++) {
			int at = i * 8 + k;
			assert_int_equal(j[at * 2], a[at]);
			assert_int_equal(j[at * 2 + 1], b[at]);
			assert_int_equal(s0[at], a[at]);
			assert_int_equal(s1[at], b[at]);
			assert_int_equal(c[i * 16 + k], a[at]);
			assert_int_equal(c[i * 16 + 8 + k], b[at]);
			assert_int_equal(f[at], a[(3 - i) * 8 + k]);
		}
	rig_close(&r);
}

/* --- reductions ------------------------------------------------------------------------ */

static void test_reduce_builtin(void **state)
{
	static const enum tile_combine kinds[] = { TILE_SUM, TILE_PROD, TILE_MAX, TILE_MIN, TILE_XOR, TILE_AND, TILE_OR };
	static const enum dtype types[] = { DT_I32, DT_U8, DT_F32, DT_F64, DT_F16, DT_BF16 };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(kinds); k++)
		for (size_t t = 0; t < COUNT_OF(types); t++)
			for (int axis = 0; axis < 3; axis++) {
				enum dtype dt = types[t];
				static const int32_t shape[] = { 4, 8, 16 };
				int32_t rest[2] = { shape[axis == 0 ? 1 : 0], shape[axis == 2 ? 1 : 2] };
				struct rig r;
				char *a, *o;
				int inner, len, size;
				tile_reg x, y;

				if (dtype_is_float(dt) && kinds[k] >= TILE_AND)
					continue;
				rig_open(&r);
				x = rig_input(&r, tile3(dt, 4, 8, 16), (void **)&a);
				y = tile_build_imm(&r.b, TOP_REDUCE, tile2(dt, rest[0], rest[1]), axis, 1, x);
				tile_build_last(&r.b)->attr[0] = (int)kinds[k];
				rig_output(&r, y, (void **)&o);
				size = dtype_size(dt);
				for (int i = 0; i < 512; i++)           /* small powers of two: exact in any order */
					dtype_store(dt, a + i * size, kinds[k] == TILE_PROD ? (i % 3 ? 1 : 2) : i * 5 % 7);
				rig_run(&r);
				inner = axis == 0 ? 128 : axis == 1 ? 16 : 1;
				len = shape[axis];
				for (int i = 0; i < 512 / len; i++) {
					int base = i / inner * inner * len + i % inner;
					double acc = dtype_load(dt, a + base * size);
					for (int j = 1; j < len; j++) {
						double v = dtype_load(dt, a + (base + j * inner) * size);
						switch (kinds[k]) {
						case TILE_SUM: acc += v; break;
						case TILE_PROD: acc *= v; break;
						case TILE_MAX: acc = fmax(acc, v); break;
						case TILE_MIN: acc = fmin(acc, v); break;
						case TILE_XOR: acc = (int)acc ^ (int)v; break;
						case TILE_AND: acc = (int)acc & (int)v; break;
						default: acc = (int)acc | (int)v;
						}
					}
					if (dt == DT_U8)
						acc = (uint8_t)(int64_t)acc;
					assert_true(dtype_load(dt, o + i * size) == acc);
				}
				rig_close(&r);
			}
}

static void test_reduce_rows(void **state)
{
	(void)state;
	for (int32_t L = 1; L <= 2048; L *= 2) {
		struct rig r;
		float *a, *o, *x, best;
		tile_reg in, y;

		rig_open(&r);
		in = rig_input(&r, tile2(DT_F32, 4, L), (void **)&a);
		y = tile_build_imm(&r.b, TOP_REDUCE, rig_tile(DT_F32, 4), 1, 1, in);
		tile_build_last(&r.b)->attr[0] = TILE_SUM;
		rig_output(&r, y, (void **)&o);
		y = tile_build_imm(&r.b, TOP_REDUCE, rig_tile(DT_F32, 4), 1, 1, in);
		tile_build_last(&r.b)->attr[0] = TILE_MAX;
		rig_output(&r, y, (void **)&x);
		random_f32(a, 4 * L, (uint64_t)L);
		a[L / 2] = NAN;                         /* max skips it, unless it is alone */
		rig_run(&r);
		for (int i = 1; i < 4; i++) {
			double sum = 0, abs = 0;
			for (int j = 0; j < L; j++)
				sum += a[i * L + j], abs += fabsf(a[i * L + j]);
			assert_true(fabs(o[i] - sum) <= abs * 1e-6 + 1e-9);
		}
		best = NAN;
		for (int j = 0; j < L; j++)
			best = fmaxf(best, a[j]);
		assert_true(isnan(o[0]));
		assert_true(L == 1 ? isnan(x[0]) : x[0] == best);
		rig_close(&r);
	}
}

static void test_arg(void **state)
{
	(void)state;
	for (int k = TILE_ARGMAX; k <= TILE_ARGMIN; k++) {
		struct rig r;
		float *a, *v;
		int32_t *o;
		tile_reg x, ix, out[2];
		struct tile_insn *in;

		rig_open(&r);
		x = rig_input(&r, tile2(DT_F32, 8, 32), (void **)&a);
		ix = tile_build(&r.b, TOP_ARANGE, rig_tile(DT_I32, 32), 0);
		ix = tile_build_imm(&r.b, TOP_EXPAND_DIMS, tile2(DT_I32, 1, 32), 0, 1, ix);
		ix = tile_build(&r.b, TOP_BROADCAST, tile2(DT_I32, 8, 32), 1, ix);
		out[0] = tile_build_reg(&r.b, rig_tile(DT_F32, 8));
		out[1] = tile_build_reg(&r.b, rig_tile(DT_I32, 8));
		in = tile_build_insn(&r.b, TOP_REDUCE, 2, out, 2, (tile_reg[]){ x, ix });
		in->imm = 1;
		in->attr[0] = k;
		rig_output(&r, out[0], (void **)&v);
		rig_output(&r, out[1], (void **)&o);
		random_f32(a, 256, 9);
		for (int i = 0; i < 256; i++)
			a[i] = roundf(a[i]);                /* ties */
		rig_run(&r);
		for (int i = 0; i < 8; i++) {
			int best = 0;
			for (int j = 1; j < 32; j++)
				if (k == TILE_ARGMAX ? a[i * 32 + j] > a[i * 32 + best] : a[i * 32 + j] < a[i * 32 + best])
					best = j;
			assert_int_equal(o[i], best);
			assert_true(v[i] == a[i * 32 + best]);
		}
		rig_close(&r);
	}
}

/* The linear recurrence h = a h' + b: associative, not commutative, two operands. */
static int recurrence(struct rig *r)
{
	struct tile_type f = tile_scalar(DT_F64);
	tile_reg p[4];
	int index = tile_build_func_begin(&r->b, STR("recurrence"), 4, (struct tile_type[]){ f, f, f, f }, p);
	tile_reg a = tile_build(&r->b, TOP_MUL, f, 2, p[0], p[2]);
	tile_reg b = tile_build(&r->b, TOP_ADD, f, 2, tile_build(&r->b, TOP_MUL, f, 2, p[2], p[1]), p[3]);
	tile_build_func_end(&r->b, 2, (tile_reg[]){ a, b });
	return index;
}

static void test_custom(void **state)
{
	enum { L = 64 };
	(void)state;
	for (int reverse = 0; reverse < 2; reverse++)
		for (int axis = 0; axis < 2; axis++) {
			struct rig r;
			double *a, *b, *sa, *sb, *ra, *rb;
			struct tile_type t = axis ? tile2(DT_F64, 2, L) : tile2(DT_F64, L, 2);
			int step, fn;
			tile_reg red[2], src[2], out[2];
			struct tile_insn *in;

			rig_open(&r);
			fn = recurrence(&r);
			src[0] = rig_input(&r, t, (void **)&a);
			src[1] = rig_input(&r, t, (void **)&b);
			out[0] = tile_build_reg(&r.b, t);
			out[1] = tile_build_reg(&r.b, t);
			in = tile_build_insn(&r.b, TOP_SCAN, 2, out, 2, src);
			in->imm = axis, in->attr[1] = fn, in->attr[2] = reverse;
			rig_output(&r, out[0], (void **)&sa);
			rig_output(&r, out[1], (void **)&sb);
			red[0] = tile_build_reg(&r.b, rig_tile(DT_F64, 2));
			red[1] = tile_build_reg(&r.b, rig_tile(DT_F64, 2));
			in = tile_build_insn(&r.b, TOP_REDUCE, 2, red, 2, src);
			in->imm = axis, in->attr[1] = fn;
			rig_output(&r, red[0], (void **)&ra);
			rig_output(&r, red[1], (void **)&rb);
			for (int i = 0; i < 2 * L; i++)
				a[i] = 0.5 + i % 5 * 0.2, b[i] = i % 11 - 5;
			rig_run(&r);
			step = axis ? 1 : 2;
			for (int row = 0; row < 2; row++) {
				int first = axis ? row * L : row;
				double h = 0, g = 0, p = 1;
				for (int j = 0; j < L; j++) {
					int at = first + (reverse ? L - 1 - j : j) * step, fwd = first + j * step;
					h = a[at] * h + b[at];
					g = a[fwd] * g + b[fwd];
					p *= a[fwd];
					assert_true(fabs(sb[at] - h) < 1e-9 * (1 + fabs(h)));
				}
				assert_true(fabs(rb[row] - g) < 1e-9 * (1 + fabs(g)));
				assert_true(fabs(ra[row] - p) < 1e-9);
			}
			rig_close(&r);
		}
}

/* A map function that branches: collatz steps, lane by lane. */
static void test_map(void **state)
{
	struct rig r;
	int32_t *a, *o;
	struct tile_type i = tile_scalar(DT_I32), b = tile_scalar(DT_BOOL);
	tile_reg p[1], x, y, odd, one, two, three, n, steps;
	int fn;

	(void)state;
	rig_open(&r);
	fn = tile_build_func_begin(&r.b, STR("collatz"), 1, &i, p);
	one = tile_build_int(&r.b, i, 1);
	two = tile_build_int(&r.b, i, 2);
	three = tile_build_int(&r.b, i, 3);
	n = tile_build_reg(&r.b, i);
	steps = tile_build_reg(&r.b, i);
	tile_build_mov(&r.b, n, p[0]);
	tile_build_mov(&r.b, steps, tile_build_int(&r.b, i, 0));
	tile_build_block(&r.b);
	tile_build_loop(&r.b);
	tile_build_br_if(&r.b, tile_build(&r.b, TOP_LE, b, 2, n, one), 1);
	odd = tile_build(&r.b, TOP_EQ, b, 2, tile_build(&r.b, TOP_AND, i, 2, n, one), one);
	tile_build_if(&r.b, odd);
	tile_build_mov(&r.b, n, tile_build(&r.b, TOP_ADD, i, 2, tile_build(&r.b, TOP_MUL, i, 2, n, three), one));
	tile_build_else(&r.b);
	tile_build_mov(&r.b, n, tile_build(&r.b, TOP_DIV, i, 2, n, two));
	tile_build_end(&r.b);
	tile_build_mov(&r.b, steps, tile_build(&r.b, TOP_ADD, i, 2, steps, one));
	tile_build_br(&r.b, 0);
	tile_build_end(&r.b);
	tile_build_end(&r.b);
	tile_build_func_end(&r.b, 1, &steps);
	x = rig_input(&r, rig_tile(DT_I32, 32), (void **)&a);
	y = tile_build(&r.b, TOP_MAP, rig_tile(DT_I32, 32), 1, x);
	tile_build_last(&r.b)->attr[0] = 1;
	tile_build_last(&r.b)->attr[1] = fn;
	rig_output(&r, y, (void **)&o);
	for (int k = 0; k < 32; k++)
		a[k] = k;
	rig_run(&r);
	for (int k = 0; k < 32; k++) {
		int want = 0;
		for (int v = k; v > 1; v = v & 1 ? 3 * v + 1 : v / 2)
			want++;
		assert_int_equal(o[k], want);
	}
	rig_close(&r);
}

static void test_scan_builtin(void **state)
{
	(void)state;
	for (int axis = 0; axis < 2; axis++)
		for (int reverse = 0; reverse < 2; reverse++) {
			struct rig r;
			int32_t *a, *o, *m;
			int len, step;
			tile_reg x, y;

			rig_open(&r);
			x = rig_input(&r, tile2(DT_I32, 8, 16), (void **)&a);
			y = tile_build_imm(&r.b, TOP_SCAN, tile2(DT_I32, 8, 16), axis, 1, x);
			tile_build_last(&r.b)->attr[0] = TILE_SUM;
			tile_build_last(&r.b)->attr[2] = reverse;
			rig_output(&r, y, (void **)&o);
			y = tile_build_imm(&r.b, TOP_SCAN, tile2(DT_I32, 8, 16), axis, 1, x);
			tile_build_last(&r.b)->attr[0] = TILE_MAX;
			tile_build_last(&r.b)->attr[2] = reverse;
			rig_output(&r, y, (void **)&m);
			ramp_i32(a, 128);
			rig_run(&r);
			len = axis ? 16 : 8;
			step = axis ? 1 : 16;
			for (int row = 0; row < 128 / len; row++) {
				int32_t sum = 0, max = INT32_MIN;
				for (int j = 0; j < len; j++) {
					int at = (axis ? row * 16 : row) + (reverse ? len - 1 - j : j) * step;
					sum += a[at];
					max = a[at] > max ? a[at] : max;
					assert_int_equal(o[at], sum);
					assert_int_equal(m[at], max);
				}
			}
			rig_close(&r);
		}
}

static int compare_float(const void *a, const void *b) { float x = *(const float *)a, y = *(const float *)b; return (x > y) - (x < y); }

static void test_sort_gather_histogram(void **state)
{
	struct rig r;
	float *a, *s, *k, *g;
	int32_t *ix, *h;
	tile_reg flat, x, i;

	(void)state;
	rig_open(&r);
	x = rig_input(&r, tile2(DT_F32, 4, 64), (void **)&a);
	i = rig_input(&r, tile2(DT_I32, 4, 16), (void **)&ix);
	rig_output(&r, tile_build(&r.b, TOP_SORT, tile2(DT_F32, 4, 64), 1, x), (void **)&s);
	rig_output(&r, tile_build_imm(&r.b, TOP_TOPK, tile2(DT_F32, 4, 8), 1, 1, x), (void **)&k);
	rig_output(&r, tile_build_imm(&r.b, TOP_GATHER, tile2(DT_F32, 4, 16), 1, 2, x, i), (void **)&g);
	flat = tile_build(&r.b, TOP_RESHAPE, rig_tile(DT_I32, 64), 1, i);
	rig_output(&r, tile_build(&r.b, TOP_HISTOGRAM, rig_tile(DT_I32, 32), 1, flat), (void **)&h);
	random_f32(a, 256, 5);
	for (int j = 0; j < 64; j++)
		ix[j] = j * 13 % 64;
	rig_run(&r);
	for (int row = 0; row < 4; row++) {
		float want[64];
		memcpy(want, a + row * 64, sizeof want);
		qsort(want, 64, sizeof *want, compare_float);
		for (int j = 0; j < 64; j++)
			assert_true(s[row * 64 + j] == want[j]);
		for (int j = 0; j < 8; j++)
			assert_true(k[row * 8 + j] == want[63 - j]);
		for (int j = 0; j < 16; j++)
			assert_true(g[row * 16 + j] == a[row * 64 + ix[row * 16 + j]]);
	}
	for (int b = 0; b < 32; b++)
		assert_int_equal(h[b], 1);
	rig_close(&r);
}

/* --- products ------------------------------------------------------------------------ */

/* Operands of plain tf32: the low 13 bits are ignored (as measured on an H200). */
static double cut_tf32(float x)
{
	uint32_t u;
	memcpy(&u, &x, 4);
	u &= ~0x1fffu;
	memcpy(&x, &u, 4);
	return x;
}

static void one_dot(int32_t B, int32_t M, int32_t N, int32_t K, enum dtype in, enum dtype out, enum tile_prec prec, double tolerance)
{
	struct rig r;
	char *a, *b, *c, *o;
	int is_int = !dtype_is_float(in);
	int si, so;
	struct rng g;
	tile_reg x, y, z, d;

	rig_open(&r);
	x = rig_input(&r, B > 1 ? tile3(in, B, M, K) : tile2(in, M, K), (void **)&a);
	y = rig_input(&r, B > 1 ? tile3(in, B, K, N) : tile2(in, K, N), (void **)&b);
	z = rig_input(&r, B > 1 ? tile3(out, B, M, N) : tile2(out, M, N), (void **)&c);
	d = tile_build(&r.b, TOP_DOT, tile_build_type(&r.b, z), 3, x, y, z);
	tile_build_last(&r.b)->attr[0] = (int)prec;
	rig_output(&r, d, (void **)&o);
	rng_init(&g, (uint64_t)(M * 1000 + N * 10 + K), "dot");
	si = dtype_size(in);
	so = dtype_size(out);
	for (int i = 0; i < B * M * K; i++)
		dtype_store(in, a + i * si, is_int ? (double)rng_between(&g, -100, 100) : rng_f64(&g) * 2 - 1);
	for (int i = 0; i < B * K * N; i++)
		dtype_store(in, b + i * si, is_int ? (double)rng_between(&g, -100, 100) : rng_f64(&g) * 2 - 1);
	for (int i = 0; i < B * M * N; i++)
		dtype_store(out, c + i * so, is_int ? (double)i : rng_f64(&g));
	rig_run(&r);
	for (int q = 0; q < B; q++)
		for (int i = 0; i < M; i++)
			for (int j = 0; j < N; j++) {
				double sum = dtype_load(out, c + ((q * M + i) * N + j) * so);
				double got;

				for (int k = 0; k < K; k++) {
					double u = dtype_load(in, a + ((q * M + i) * K + k) * si), v = dtype_load(in, b + ((q * K + k) * N + j) * si);
					if (prec == TILE_PREC_TF32 && in == DT_F32)
						u = cut_tf32((float)u), v = cut_tf32((float)v);
					sum += u * v;
				}
				got = dtype_load(out, o + ((q * M + i) * N + j) * so);
				if (fabs(got - sum) > tolerance * (1 + fabs(sum)))
					fail_msg("dot %dx%dx%d %s: [%d,%d] is %.9g, not %.9g", M, N, K, dtype_info(in)->triton, i, j, got, sum);
			}
	rig_close(&r);
}

static void test_dot(void **state)
{
	static const int32_t shapes[][3] = { { 1, 1, 16 }, { 16, 16, 16 }, { 2, 64, 8 }, { 64, 32, 128 }, { 32, 4, 16 }, { 128, 8, 32 }, { 8, 128, 64 } };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(shapes); i++) {
		int32_t M = shapes[i][0], N = shapes[i][1], K = shapes[i][2];
		one_dot(1, M, N, K, DT_F32, DT_F32, TILE_PREC_IEEE, 1e-5);
		one_dot(1, M, N, K, DT_F32, DT_F32, TILE_PREC_TF32, 1e-5);
		one_dot(1, M, N, K, DT_F32, DT_F32, TILE_PREC_TF32X3, 1e-5);
		one_dot(1, M, N, K, DT_F32, DT_F32, TILE_PREC_BF16X3, 1e-3);
		one_dot(1, M, N, K, DT_F32, DT_F32, TILE_PREC_BF16X6, 1e-5);
		one_dot(1, M, N, K, DT_F16, DT_F32, TILE_PREC_IEEE, 1e-5);
		one_dot(1, M, N, K, DT_BF16, DT_F32, TILE_PREC_IEEE, 1e-5);
		one_dot(1, M, N, K, DT_F16, DT_F16, TILE_PREC_IEEE, 1e-2);
		one_dot(1, M, N, K, DT_F8E4M3, DT_F32, TILE_PREC_IEEE, 1e-5);
		one_dot(1, M, N, K, DT_F64, DT_F64, TILE_PREC_IEEE, 1e-12);
		one_dot(1, M, N, K, DT_I8, DT_I32, TILE_PREC_IEEE, 0);
		one_dot(4, M, N, K, DT_F32, DT_F32, TILE_PREC_IEEE, 1e-5);
	}
}

#if defined(__x86_64__)
SIMD_DECLARE(void, tile_dot_f32, (float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K))

static void test_dot_levels(void **state)
{
	enum { M = 24, N = 72, K = 40 };
	static float a[M * K], b[K * N], c[3][M * N];
	(void)state;
	random_f32(a, M * K, 1);
	random_f32(b, K * N, 2);
	tile_dot_f32_base(c[0], a, b, M, N, K);
	memcpy(c[1], c[0], sizeof c[0]);
	memcpy(c[2], c[0], sizeof c[0]);
	if (cpu_info()->level >= CPU_V3) {
		memset(c[1], 0, sizeof c[1]);
		tile_dot_f32_v3(c[1], a, b, M, N, K);
	}
	if (cpu_info()->level >= CPU_V4) {
		memset(c[2], 0, sizeof c[2]);
		tile_dot_f32_v4(c[2], a, b, M, N, K);
	}
	assert_memory_equal(c[0], c[1], sizeof c[0]);
	assert_memory_equal(c[0], c[2], sizeof c[0]);
}
#else
static void test_dot_levels(void **state) { (void)state; skip(); }
#endif

static void test_dot_scaled(void **state)
{
	struct rng g;
	tile_reg x, y, u, v, acc, d;

	enum { M = 16, N = 16, K = 64 };
	struct rig r;
	uint8_t *a, *b, *sa, *sb;
	float *o;
	static const float e2m1[] = { 0, 0.5, 1, 1.5, 2, 3, 4, 6 };
	(void)state;
	rig_open(&r);
	x = rig_input(&r, tile2(DT_U8, M, K / 2), (void **)&a);
	y = rig_input(&r, tile2(DT_F8E4M3, K, N), (void **)&b);
	u = rig_input(&r, tile2(DT_U8, M, K / 32), (void **)&sa);
	v = rig_input(&r, tile2(DT_U8, N, K / 32), (void **)&sb);
	acc = tile_build_float(&r.b, tile2(DT_F32, M, N), 1);
	d = tile_build(&r.b, TOP_DOT_SCALED, tile2(DT_F32, M, N), 5, x, y, acc, u, v);
	memcpy(tile_build_last(&r.b)->attr, (int32_t[]){ TILE_FMT_E2M1, TILE_FMT_E4M3, 3, 1, 1 }, 20);
	rig_output(&r, d, (void **)&o);
	rng_init(&g, 3, "scaled");
	for (int i = 0; i < M * K / 2; i++)
		a[i] = (uint8_t)rng_u32(&g);
	for (int i = 0; i < K * N; i++)
		b[i] = f32_to_f8e4m3((float)rng_between(&g, -8, 8));
	for (int i = 0; i < M * K / 32; i++)
		sa[i] = (uint8_t)rng_between(&g, 125, 129), sb[i] = (uint8_t)rng_between(&g, 125, 129);
	rig_run(&r);
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			double sum = 1;
			for (int k = 0; k < K; k++) {
				int q = a[i * (K / 2) + k / 2] >> (k % 2 * 4) & 15;
				double p = (q & 8 ? -1 : 1) * e2m1[q & 7] * exp2(sa[i * (K / 32) + k / 32] - 127);
				sum += p * f8e4m3_to_f32(b[k * N + j]) * exp2(sb[j * (K / 32) + k / 32] - 127);
			}
			assert_true(fabs(sum - o[i * N + j]) < 1e-3);
		}
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_permute), cmocka_unit_test(test_short_forms), cmocka_unit_test(test_join_split_cat_flip),
		cmocka_unit_test(test_reduce_builtin), cmocka_unit_test(test_reduce_rows), cmocka_unit_test(test_arg), cmocka_unit_test(test_custom),
		cmocka_unit_test(test_map), cmocka_unit_test(test_scan_builtin), cmocka_unit_test(test_sort_gather_histogram),
		cmocka_unit_test(test_dot), cmocka_unit_test(test_dot_levels), cmocka_unit_test(test_dot_scaled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
