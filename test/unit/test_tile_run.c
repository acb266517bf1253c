/* Running over a grid: memory in all forms, threads, atomics, fuel, cost, and that fast mode
 * never leaves an allocation. */
#include "tile_rig.h"

#include <math.h>

#include "base/rng.h"

enum { BLOCK = 64 };

static struct tile_type tile2(enum dtype dt, int32_t m, int32_t n) { return tile_shaped(tile_scalar(dt), 2, (int32_t[]){ m, n }); }
static tile_reg op2(struct rig *r, enum tile_op op, tile_reg a, tile_reg b) { return tile_build(&r->b, op, tile_build_type(&r->b, a), 2, a, b); }
static tile_reg splat(struct rig *r, tile_reg s, struct tile_type like)
{
	return tile_build(&r->b, TOP_SPLAT, tile_shaped(tile_build_type(&r->b, s), like.ndim, like.shape), 1, s);
}

/* pid * BLOCK + arange(BLOCK) */
static tile_reg block_offsets(struct rig *r)
{
	tile_reg pid = tile_build(&r->b, TOP_PROGRAM_ID, tile_scalar(DT_I32), 0);
	tile_reg at = op2(r, TOP_MUL, pid, tile_build_int(&r->b, tile_scalar(DT_I32), BLOCK));
	return op2(r, TOP_ADD, splat(r, at, rig_tile(DT_I32, BLOCK)), tile_build(&r->b, TOP_ARANGE, rig_tile(DT_I32, BLOCK), 0));
}

static tile_reg at(struct rig *r, tile_reg base, tile_reg off) { return op2(r, TOP_ADDPTR, splat(r, base, tile_build_type(&r->b, off)), off); }

/* --- memory forms --------------------------------------------------------------------- */

/* Loads a 16 x 32 window of a matrix with strides and a two-sided mask, both by short forms and
 * by pointers and masks that were made dense, and stores it shifted; all four must agree. */
static void window(int dense_ptr, int dense_mask, enum tile_mode mode, int32_t rs, int32_t cs, int32_t out[512])
{
	struct rig r;
	int32_t *a, *o;
	struct tile_type t = tile2(DT_I32, 16, 32);
	tile_reg more, v, src, dst, lin, m1, m2, ri, mask, ci, row, col, off;
	struct tile_type b;

	rig_open(&r);
	r.o.mode = mode;
	src = rig_tensor(&r, DT_I32, 4096, (void **)&a);
	dst = rig_tensor(&r, DT_I32, 4096, (void **)&o);
	ri = tile_build_imm(&r.b, TOP_EXPAND_DIMS, tile2(DT_I32, 16, 1), 1, 1, tile_build(&r.b, TOP_ARANGE, rig_tile(DT_I32, 16), 0));
	ci = tile_build_imm(&r.b, TOP_EXPAND_DIMS, tile2(DT_I32, 1, 32), 0, 1, tile_build(&r.b, TOP_ARANGE, rig_tile(DT_I32, 32), 0));
	row = tile_build(&r.b, TOP_BROADCAST, t, 1, ri);
	col = tile_build(&r.b, TOP_BROADCAST, t, 1, ci);
	off = op2(&r, TOP_ADD, op2(&r, TOP_MUL, row, tile_build_int(&r.b, t, rs)), op2(&r, TOP_MUL, col, tile_build_int(&r.b, t, cs)));
	if (dense_ptr)          /* xor with a zero that the machine does not see through */
		off = op2(&r, TOP_XOR, off, op2(&r, TOP_XOR, col, col));
	b = tile2(DT_BOOL, 16, 32);
	m1 = tile_build(&r.b, TOP_GE, b, 2, row, tile_build_int(&r.b, t, 3));
	m2 = tile_build(&r.b, TOP_LT, b, 2, col, tile_build_int(&r.b, t, 29));
	mask = op2(&r, TOP_AND, m1, m2);
	if (dense_mask)
		mask = op2(&r, TOP_XOR, mask, op2(&r, TOP_XOR, mask, mask));
	v = tile_build(&r.b, TOP_LOAD, t, 3, at(&r, src, off), mask, tile_build_int(&r.b, t, -7));
	lin = op2(&r, TOP_ADD, op2(&r, TOP_MUL, row, tile_build_int(&r.b, t, 32)), col);
	tile_build_do(&r.b, TOP_STORE, 2, at(&r, dst, lin), v);
	more = op2(&r, TOP_ADD, lin, tile_build_int(&r.b, t, 1024));
	tile_build_do(&r.b, TOP_STORE, 3, at(&r, dst, more), op2(&r, TOP_ADD, v, v), mask);
	for (int i = 0; i < 4096; i++)
		a[i] = i * 3, o[i] = -1;
	rig_run(&r);
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 32; j++) {
			int on = i >= 3 && j < 29, want = on ? a[i * rs + j * cs] : -7;
			assert_int_equal(o[i * 32 + j], want);
			assert_int_equal(o[1024 + i * 32 + j], on ? 2 * want : -1);
		}
	memcpy(out, o, 512 * sizeof *out);
	rig_close(&r);
}

static void test_windows(void **state)
{
	static const int32_t strides[][2] = { { 32, 1 }, { 64, 1 }, { 1, 16 }, { 2, 64 }, { 0, 1 }, { 1, 0 }, { 100, 3 } };
	int32_t got[512];
	(void)state;
	for (size_t s = 0; s < COUNT_OF(strides); s++)
		for (int k = 0; k < 8; k++)
			window(k & 1, k >> 1 & 1, k >> 2 ? TILE_FAST : TILE_CHECKED, strides[s][0], strides[s][1], got);
}

/* A store that goes half over what a load in the same program still holds. */
static void test_overlap(void **state)
{
	(void)state;
	for (int shift = -3; shift <= 3; shift++)
		for (int fused = 0; fused < 2; fused++) {
			struct rig r;
			int32_t *a, before[256];
			tile_reg x, i, v, w;

			rig_open(&r);
			r.o.mode = TILE_FAST;
			x = rig_tensor(&r, DT_I32, 256, (void **)&a);
			i = tile_build_imm(&r.b, TOP_ARANGE, rig_tile(DT_I32, 128), 16, 0);
			v = tile_build(&r.b, TOP_LOAD, rig_tile(DT_I32, 128), 1, at(&r, x, i));
			w = fused ? op2(&r, TOP_ADD, v, tile_build_int(&r.b, rig_tile(DT_I32, 128), 1000)) : v;
			tile_build_do(&r.b, TOP_STORE, 2, at(&r, x, op2(&r, TOP_ADD, i, tile_build_int(&r.b, rig_tile(DT_I32, 128), shift))), w);
			for (int k = 0; k < 256; k++)
				a[k] = before[k] = k * k;
			rig_run(&r);
			for (int k = 0; k < 128; k++)
				assert_int_equal(a[16 + k + shift], before[16 + k] + 1000 * fused);
			rig_close(&r);
		}
}

/* A loaded tile that is then accumulated into must not be the memory it came from. */
static void test_accumulate(void **state)
{
	(void)state;
	for (int mode = TILE_FAST; mode <= TILE_CHECKED; mode++) {
		struct rig r;
		int32_t *a, *o;
		struct tile_type t = rig_tile(DT_I32, 64), i32 = tile_scalar(DT_I32);
		tile_reg acc, k;

		rig_open(&r);
		r.o.mode = (enum tile_mode)mode;
		acc = rig_input(&r, t, (void **)&a);
		k = tile_build_reg(&r.b, i32);
		tile_build_mov(&r.b, k, tile_build_int(&r.b, i32, 0));
		tile_build_block(&r.b);
		tile_build_loop(&r.b);
		tile_build_br_if(&r.b, tile_build(&r.b, TOP_GE, tile_scalar(DT_BOOL), 2, k, tile_build_int(&r.b, i32, 3)), 1);
		tile_build_mov(&r.b, acc, op2(&r, TOP_ADD, acc, tile_build_int(&r.b, t, 100)));
		tile_build_mov(&r.b, k, op2(&r, TOP_ADD, k, tile_build_int(&r.b, i32, 1)));
		tile_build_br(&r.b, 0);
		tile_build_end(&r.b);
		tile_build_end(&r.b);
		rig_output(&r, acc, (void **)&o);
		for (int i = 0; i < 64; i++)
			a[i] = i;
		rig_run(&r);
		for (int i = 0; i < 64; i++) {
			assert_int_equal(a[i], i);
			assert_int_equal(o[i], i + 300);
		}
		rig_close(&r);
	}
}

/* --- bounds in fast mode ------------------------------------------------------------------- */

static void test_fast_bounds(void **state)
{
	(void)state;
	for (int dense = 0; dense < 2; dense++)
		for (int store = 0; store < 2; store++)
			for (int64_t first = -2; first <= 2; first += 2) {
				struct rig r;
				float *a;
				tile_reg x, i;

				rig_open(&r);
				r.o.mode = TILE_FAST;
				x = rig_tensor(&r, DT_F32, 64, (void **)&a);
				i = tile_build_imm(&r.b, TOP_ARANGE, rig_tile(DT_I32, 64), first, 0);
				if (dense)
					i = op2(&r, TOP_XOR, i, op2(&r, TOP_XOR, i, i));
				rig_line(&r, 7);
				if (store)
					tile_build_do(&r.b, TOP_STORE, 2, at(&r, x, i), tile_build_float(&r.b, rig_tile(DT_F32, 64), 1));
				else
					rig_output(&r, tile_build(&r.b, TOP_LOAD, rig_tile(DT_F32, 64), 1, at(&r, x, i)), NULL);
				assert_int_equal(rig_finish(&r), 0);
				assert_int_equal(rig_execute(&r), first != 0);
				if (first) {
					assert_int_equal(r.d.reason, REASON_out_of_bounds);
					assert_int_equal(r.d.line, 7);
					assert_non_null(strstr(r.d.text, "a0["));
					assert_non_null(strstr(r.d.text, first < 0 ? "[-2]" : dense ? "[64]" : "[65]"));
				}
				rig_close(&r);
			}
}

/* --- grids ------------------------------------------------------------------------- */

/* out[i] = x[i] * 2 + pid over a large grid: same bits for any number of threads. */
static void build_scale(struct rig *r, int64_t n, float **x, float **o)
{
	tile_reg px, po, off, v, pid;

	rig_open(r);
	r->o.mode = TILE_FAST;
	px = rig_tensor(r, DT_F32, n, (void **)x);
	po = rig_tensor(r, DT_F32, n, (void **)o);
	off = block_offsets(r);
	v = tile_build(&r->b, TOP_LOAD, rig_tile(DT_F32, BLOCK), 1, at(r, px, off));
	pid = tile_build(&r->b, TOP_CAST, tile_scalar(DT_F32), 1, tile_build(&r->b, TOP_PROGRAM_ID, tile_scalar(DT_I32), 0));
	v = op2(r, TOP_ADD, op2(r, TOP_ADD, v, v), splat(r, pid, rig_tile(DT_F32, BLOCK)));
	tile_build_do(&r->b, TOP_STORE, 2, at(r, po, off), v);
	for (int64_t i = 0; i < n; i++)
		(*x)[i] = (float)(i % 1000);
}

static void test_threads(void **state)
{
	enum { N = BLOCK * 1000 };
	(void)state;
	for (int threads = 0; threads <= 4; threads += 2) {
		struct rig r;
		float *x, *o;
		build_scale(&r, N, &x, &o);
		r.grid[0] = 1000;
		r.pool = threads ? pool_new(threads, &r.e) : NULL;
		rig_run(&r);
		for (int i = 0; i < N; i++)
			assert_true(o[i] == x[i] * 2 + (float)(i / BLOCK));
		assert_int_equal(r.cost.programs, 1000);
		assert_int_equal(r.cost.launches, 1);
		assert_int_equal(r.cost.bytes_loaded, N * 4);
		assert_int_equal(r.cost.bytes_stored, N * 4);
		assert_int_equal(r.cost.ops_f32, 2 * N);
		if (r.pool)
			pool_free(r.pool);
		rig_close(&r);
	}
}

/* Whichever thread meets it first, the lowest program's fault is reported. */
static void test_first_fault(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		struct rig r;
		float *x, *o;
		build_scale(&r, BLOCK * 100, &x, &o);
		r.grid[0] = 1000;
		r.pool = pool_new(4, &r.e);
		assert_int_equal(rig_finish(&r), 0);
		assert_int_equal(rig_execute(&r), 1);
		assert_non_null(strstr(r.d.text, "program instance (100,0,0)"));
		pool_free(r.pool);
		rig_close(&r);
	}
}

static void test_grid_order(void **state)
{
	struct rig r;
	int32_t *o;
	struct tile_type i32 = tile_scalar(DT_I32);
	tile_reg lin, po, p[3], n[3];

	(void)state;
	rig_open(&r);
	po = rig_tensor(&r, DT_I32, 24, (void **)&o);
	for (int k = 0; k < 3; k++) {
		p[k] = tile_build_imm(&r.b, TOP_PROGRAM_ID, i32, k, 0);
		n[k] = tile_build_imm(&r.b, TOP_NUM_PROGRAMS, i32, k, 0);
	}
	lin = op2(&r, TOP_ADD, op2(&r, TOP_MUL, op2(&r, TOP_ADD, op2(&r, TOP_MUL, p[2], n[1]), p[1]), n[0]), p[0]);
	tile_build_do(&r.b, TOP_STORE, 2, op2(&r, TOP_ADDPTR, po, lin), op2(&r, TOP_ADD, lin, tile_build_int(&r.b, i32, 1)));
	r.grid[0] = 4, r.grid[1] = 3, r.grid[2] = 2;
	r.o.order_seed = 5;
	rig_run(&r);
	for (int k = 0; k < 24; k++)
		assert_int_equal(o[k], k + 1);
	r.grid[1] = 0;
	assert_int_equal(rig_execute(&r), 0);           /* an empty grid launches nothing */
	r.grid[1] = (int64_t)1 << 40;
	assert_int_equal(rig_execute(&r), 1);      /* known without running them */
	assert_int_equal(r.d.reason, REASON_kernel_timeout);
	rig_close(&r);
}

static void test_atomics(void **state)
{
	static const struct { enum tile_rmw kind; enum dtype dt; double want[2]; } cases[] = {
		{ TILE_RMW_ADD, DT_I32, { 10, 10 } }, { TILE_RMW_MAX, DT_I32, { 4, 5 } }, { TILE_RMW_MIN, DT_I32, { 0, 0 } },
		{ TILE_RMW_OR, DT_I32, { 7, 5 | 7 } }, { TILE_RMW_XCHG, DT_I32, { 4, 4 } }, { TILE_RMW_ADD, DT_F32, { 10, 10 } },
		{ TILE_RMW_ADD, DT_F16, { 10, 10 } }, { TILE_RMW_MAX, DT_F32, { 4, 5 } }, { TILE_RMW_XOR, DT_U32, { 4, 5 ^ 4 } },
	};
	(void)state;
	for (size_t c = 0; c < COUNT_OF(cases); c++)
		for (int pool = 0; pool < 2; pool++) {
			struct rig r;
			void *a;
			tile_reg x, pid;

			rig_open(&r);
			r.o.mode = pool ? TILE_FAST : TILE_CHECKED;
			x = rig_tensor(&r, cases[c].dt, 4, &a);
			pid = tile_build(&r.b, TOP_CAST, tile_scalar(cases[c].dt), 1, tile_build(&r.b, TOP_PROGRAM_ID, tile_scalar(DT_I32), 0));
			tile_build(&r.b, TOP_ATOMIC, tile_scalar(cases[c].dt), 2, x, pid);
			tile_build_last(&r.b)->attr[0] = (int)cases[c].kind;
			r.grid[0] = 5;
			r.pool = pool ? pool_new(3, &r.e) : NULL;
			assert_int_equal(rig_finish(&r), 0);
			dtype_store(cases[c].dt, a, 0);
			assert_int_equal(rig_execute(&r), 0);
			assert_true(dtype_load(cases[c].dt, a) == cases[c].want[0]);
			assert_int_equal(r.cost.atomics, 5);
			if (r.pool)
				pool_free(r.pool);
			rig_close(&r);
		}
}

static void test_cas(void **state)
{
	struct rig r;
	int32_t *a, *old;
	struct tile_type i32 = tile_scalar(DT_I32);
	tile_reg x, o, pid, was;

	(void)state;
	rig_open(&r);
	x = rig_tensor(&r, DT_I32, 1, (void **)&a);
	o = rig_tensor(&r, DT_I32, 4, (void **)&old);
	pid = tile_build(&r.b, TOP_PROGRAM_ID, i32, 0);
	was = tile_build(&r.b, TOP_CAS, i32, 3, x, tile_build_int(&r.b, i32, 0), op2(&r, TOP_ADD, pid, tile_build_int(&r.b, i32, 5)));
	tile_build_do(&r.b, TOP_STORE, 2, op2(&r, TOP_ADDPTR, o, pid), was);
	r.grid[0] = 4;
	rig_run(&r);
	assert_int_equal(a[0], 5);
	assert_int_equal(old[0], 0);
	assert_int_equal(old[3], 5);
	rig_close(&r);
}

static void test_fuel(void **state)
{
	struct rig r;
	(void)state;
	for (int pool = 0; pool < 2; pool++) {
		rig_open(&r);
		r.o.mode = TILE_FAST;
		rig_tensor(&r, DT_F32, 1, NULL);
		rig_line(&r, 3);
		tile_build_loop(&r.b);
		tile_build_br(&r.b, 0);
		tile_build_end(&r.b);
		r.o.fuel = 100000;
		r.grid[0] = 8;
		r.pool = pool ? pool_new(2, &r.e) : NULL;
		assert_int_equal(rig_finish(&r), 0);
		assert_int_equal(rig_execute(&r), 1);
		assert_int_equal(r.d.reason, REASON_kernel_timeout);
		assert_int_equal(r.d.line, 3);
		if (r.pool)
			pool_free(r.pool);
		rig_close(&r);
	}
}

/* --- rows and columns -------------------------------------------------------------------- */

enum { SUMS = 12 };

/* A value of m x n lanes: its register, and what its lanes are. */
struct lanes { tile_reg reg; float v[8 * 32]; };

/* One of `x` for each row, one row of `x` for all, or all of `x`. */
static struct lanes spread(struct rig *r, tile_reg base, const float *x, int m, int n, int kind)
{
	struct tile_type from = tile2(DT_F32, kind == 1 ? 1 : m, kind == 0 ? 1 : n);
	struct lanes l = { .reg = tile_build(&r->b, TOP_LOAD, from, 1, rig_pointers(r, base, from)) };

	if (kind < 2)
		l.reg = tile_build(&r->b, TOP_BROADCAST, tile2(DT_F32, m, n), 1, l.reg);
	for (int i = 0; i < m * n; i++)
		l.v[i] = x[kind == 0 ? i / n : kind == 1 ? i % n : i];
	return l;
}

static void combine(struct rig *r, struct lanes *d, const struct lanes *a, const struct lanes *b, int op, int n)
{
	static const enum tile_op ops[] = { TOP_ADD, TOP_SUB, TOP_MUL };

	d->reg = op2(r, ops[op], a->reg, b->reg);
	for (int i = 0; i < n; i++)
		d->v[i] = op == 0 ? a->v[i] + b->v[i] : op == 1 ? a->v[i] - b->v[i] : a->v[i] * b->v[i];
}

/* Sums and products of rows, columns and whole tiles in any order: results stand in the places of operands that end. */
static void rows_and_columns(uint64_t seed, enum tile_mode mode)
{
	static struct lanes v[3 + 2 * SUMS];
	struct rig r;
	struct rng g;
	float *x, *out;
	int m, n, k = 0;
	tile_reg from, to;

	rng_init(&g, seed, "rows");
	m = 1 << rng_below(&g, 4);
	n = 8 << rng_below(&g, 3);
	rig_open(&r);
	r.o.mode = mode;
	from = rig_tensor(&r, DT_F32, 256, (void **)&x);
	to = rig_tensor(&r, DT_F32, 256 * 2, (void **)&out);
	for (int i = 0; i < 256; i++)
		x[i] = (float)rng_below(&g, 9) - 4.0f;
	for (; k < 3; k++)
		v[k] = spread(&r, from, x, m, n, k);
	for (int i = 0; i < SUMS; i++) {
		v[k++] = spread(&r, from, x, m, n, (int)rng_below(&g, 2));
		combine(&r, &v[k], &v[rng_below(&g, (uint64_t)k)], &v[k - 1 - rng_below(&g, 3)], (int)rng_below(&g, 3), m * n);
		k++;
	}
	tile_build_do(&r.b, TOP_STORE, 2, rig_pointers(&r, to, tile2(DT_F32, m, n)), v[k - 1].reg);
	tile_build_do(&r.b, TOP_STORE, 2, rig_pointers(&r, to, tile2(DT_F32, m, n)), v[k - 1].reg);
	rig_run(&r);
	for (int i = 0; i < m * n; i++)
		if (out[i] != v[k - 1].v[i] && !(isnan(out[i]) && isnan(v[k - 1].v[i])))
			fail_msg("seed %llu: %d x %d, lane %d: %g, not %g", (unsigned long long)seed, m, n, i, (double)out[i], (double)v[k - 1].v[i]);
	rig_close(&r);
}

static void test_rows_and_columns(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 400; seed++)
		rows_and_columns(seed, seed % 2 ? TILE_FAST : TILE_CHECKED);
}

/* A row and a column that are only stored, or read by what has no way with them. */
static void test_rows_written_out(void **state)
{
	struct rig r;
	float *x, *out;
	struct tile_type t = tile2(DT_F32, 4, 16);
	tile_reg from, to;

	(void)state;
	for (int kind = 0; kind < 2; kind++)
		for (int through = 0; through < 2; through++) {
			struct lanes l;

			rig_open(&r);
			from = rig_tensor(&r, DT_F32, 64, (void **)&x);
			to = rig_tensor(&r, DT_F32, 64, (void **)&out);
			for (int i = 0; i < 64; i++)
				x[i] = (float)i + 1.0f;
			l = spread(&r, from, x, 4, 16, kind);
			tile_build_do(&r.b, TOP_STORE, 2, rig_pointers(&r, to, t), through ? tile_build(&r.b, TOP_NEG, t, 1, l.reg) : l.reg);
			rig_run(&r);
			for (int i = 0; i < 64; i++)
				assert_true(out[i] == (through ? -l.v[i] : l.v[i]));
			rig_close(&r);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_and_columns), cmocka_unit_test(test_rows_written_out),
		cmocka_unit_test(test_windows), cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_accumulate), cmocka_unit_test(test_fast_bounds), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_first_fault), cmocka_unit_test(test_grid_order), cmocka_unit_test(test_atomics), cmocka_unit_test(test_cas),
		cmocka_unit_test(test_fuel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
