/* The tile machine against the same loops in C (-O3, this compiler) and against OpenBLAS, in
 * one run on one thread. Kernels are tile code as the front end makes it.
 *
 *     bench_tile [seconds per measurement]                                              */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cpu.h"
#include "tile/code/build.h"
#include "tile/machine/decode.h"
#include "tile/machine/execute.h"

extern void openblas_set_num_threads(int n);

/* CPU time of this thread: what other processes take does not count. */
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double budget = 0.3;

/* --- building ------------------------------------------------------------------------- */

struct kernel {
	struct tile_builder b;
	struct tile_val args[8];
	size_t n;
	struct tile_code *code;
	int64_t grid;
	struct shadow_pool shadows;
};

static void begin(struct kernel *k)
{
	memset(k, 0, sizeof *k);
	tile_build_init(&k->b, STR("bench"));
}

static tile_reg tensor_arg(struct kernel *k, int64_t n, float **data)
{
	struct err e = ERR_INIT;
	struct tile_val *a = &k->args[k->n];
	a->kind = TILE_V_TENSOR;
	if (tensor_new_zero(&a->t, DT_F32, 1, &n, &e))
		exit(2);
	*data = tensor_data(&a->t);
	for (int64_t i = 0; i < n; i++)
		(*data)[i] = (float)((double)rand() / RAND_MAX * 2 - 1);
	return tile_build_param(&k->b, tile_pointer(DT_F32), &(struct tile_param){ .name = STR("x"), .arg = (int)k->n++ });
}

static tile_reg int_arg(struct kernel *k, int64_t v)
{
	k->args[k->n] = (struct tile_val){ .kind = TILE_V_INT, .i = v };
	return tile_build_param(&k->b, tile_scalar(DT_I32), &(struct tile_param){ .name = STR("n"), .arg = (int)k->n++ });
}

static void end(struct kernel *k)
{
	struct err e = ERR_INIT;
	if (tile_build_finish(&k->b, &k->code, &e) || tile_decode(k->code, &e)) {
		fprintf(stderr, "%s\n", e.text);
		exit(2);
	}
}

static void release(struct kernel *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->args[i].kind == TILE_V_TENSOR)
			tensor_release(&k->args[i].t);
	tile_code_free(k->code);
	shadow_pool_release(&k->shadows);
}

static void launch(struct kernel *k, enum tile_mode mode)
{
	struct err e = ERR_INIT;
	struct diag d = { .reason = REASON_ok };
	struct tile_launch l = { .args = k->args, .n_args = k->n, .grid = { k->grid, 1, 1 } };
	struct tile_run_options o = { .mode = mode };
	struct tile_runner runner = { .shadows = &k->shadows };
	if (tile_execute(&runner, k->code, &l, &o, NULL, &d, &e)) {
		fprintf(stderr, "%s%s\n", e.text, d.text);
		exit(2);
	}
}

static double seconds(void (*f)(void *), void *ctx)
{
	double best = 1e9, stop = now() + budget;
	f(ctx);
	do {
		double t = now();
		f(ctx);
		t = now() - t;
		best = t < best ? t : best;
	} while (now() < stop);
	return best;
}

static void run_fast(void *k) { launch(k, TILE_FAST); }
static void run_checked(void *k) { launch(k, TILE_CHECKED); }

/* --- shorthands ---------------------------------------------------------------------- */

static struct tile_type vec_t(enum dtype dt, int32_t n) { return tile_shaped(tile_scalar(dt), 1, &n); }
static struct tile_type mat_t(enum dtype dt, int32_t m, int32_t n) { return tile_shaped(tile_scalar(dt), 2, (int32_t[]){ m, n }); }
static struct tile_type like(struct tile_type t, struct tile_type elem) { return tile_shaped(elem, t.ndim, t.shape); }

static tile_reg op2(struct kernel *k, enum tile_op op, tile_reg a, tile_reg b) { return tile_build(&k->b, op, tile_build_type(&k->b, a), 2, a, b); }
static tile_reg op1(struct kernel *k, enum tile_op op, tile_reg a) { return tile_build(&k->b, op, tile_build_type(&k->b, a), 1, a); }
static tile_reg splat(struct kernel *k, tile_reg s, struct tile_type t) { return tile_build(&k->b, TOP_SPLAT, like(t, tile_build_type(&k->b, s)), 1, s); }
static tile_reg scale(struct kernel *k, tile_reg a, double c) { return op2(k, TOP_MUL, a, tile_build_float(&k->b, tile_build_type(&k->b, a), c)); }
static tile_reg offset(struct kernel *k, tile_reg base, tile_reg off)
{
	tile_reg p = splat(k, base, tile_build_type(&k->b, off));
	return op2(k, TOP_ADDPTR, p, off);
}

/* pid * BLOCK + arange(BLOCK), and the mask below n */
static tile_reg block_offsets(struct kernel *k, int32_t block, tile_reg n, tile_reg *mask)
{
	tile_reg pid = tile_build(&k->b, TOP_PROGRAM_ID, tile_scalar(DT_I32), 0);
	tile_reg at = op2(k, TOP_MUL, pid, tile_build_int(&k->b, tile_scalar(DT_I32), block));
	tile_reg lanes = tile_build(&k->b, TOP_ARANGE, vec_t(DT_I32, block), 0);
	tile_reg off = op2(k, TOP_ADD, splat(k, at, vec_t(DT_I32, block)), lanes);
	*mask = tile_build(&k->b, TOP_LT, vec_t(DT_BOOL, block), 2, off, splat(k, n, vec_t(DT_I32, block)));
	return off;
}

/* --- pointwise ----------------------------------------------------------------------- */

struct data {
	float *x, *y, *z, *o;
	int64_t n, cols;
};

static __attribute__((noinline)) void c_add(void *ctx)
{
	struct data *d = ctx;
	const float *restrict x = d->x, *restrict y = d->y;
	float *restrict o = d->o;
	for (int64_t i = 0; i < d->n; i++)
		o[i] = x[i] + y[i];
}

static __attribute__((noinline)) void c_gelu(void *ctx)
{
	struct data *d = ctx;
	const float *restrict x = d->x, *restrict y = d->y, *restrict z = d->z;
	float *restrict o = d->o;
	for (int64_t i = 0; i < d->n; i++) {
		float v = x[i] + y[i];
		o[i] = 0.5f * v * (1 + erff(v * 0.70710678f)) + z[i];
	}
}

static __attribute__((noinline)) void c_chain(void *ctx)
{
	struct data *d = ctx;
	const float *restrict x = d->x, *restrict y = d->y;
	float *restrict o = d->o;
	for (int64_t i = 0; i < d->n; i++) {
		float v = x[i] * 2 + y[i];
		v = v > 0 ? v : 0;
		o[i] = v * v - x[i];
	}
}

enum { BLOCK = 1024 };

static void report(const char *name, double bytes, double fast, double checked, double c)
{
	printf("%-28s fast %7.2f GB/s  checked %7.2f GB/s  C %7.2f GB/s  fast/C time ratio %.2f\n", name, bytes / fast * 1e-9, bytes / checked * 1e-9,
		bytes / c * 1e-9, fast / c);
}

enum shape { ADD, GELU, CHAIN };

static void pointwise(const char *name, enum shape what, int64_t n)
{
	struct kernel k;
	struct data d = { .n = n };
	tile_reg mask, z = 0;
	double bytes, fast, checked, c;
	tile_reg v, px, py, pz, po, off, x, y;
	struct tile_type t;

	begin(&k);
	px = tensor_arg(&k, n, &d.x);
	py = tensor_arg(&k, n, &d.y);
	pz = tensor_arg(&k, n, &d.z);
	po = tensor_arg(&k, n, &d.o);
	off = block_offsets(&k, BLOCK, int_arg(&k, n), &mask);
	t = vec_t(DT_F32, BLOCK);
	x = tile_build(&k.b, TOP_LOAD, t, 2, offset(&k, px, off), mask);
	y = tile_build(&k.b, TOP_LOAD, t, 2, offset(&k, py, off), mask);
	if (what == GELU)
		z = tile_build(&k.b, TOP_LOAD, t, 2, offset(&k, pz, off), mask);
	v = op2(&k, TOP_ADD, x, y);
	if (what == GELU) {
		tile_reg e = op1(&k, TOP_ERF, scale(&k, v, 0.70710678));
		e = op2(&k, TOP_ADD, tile_build_float(&k.b, t, 1), e);
		v = op2(&k, TOP_ADD, op2(&k, TOP_MUL, scale(&k, v, 0.5), e), z);
	} else if (what == CHAIN) {
		v = op2(&k, TOP_ADD, scale(&k, x, 2), y);
		v = op2(&k, TOP_MAX, v, tile_build_float(&k.b, t, 0));
		v = op2(&k, TOP_SUB, op2(&k, TOP_MUL, v, v), x);
	}
	tile_build_do(&k.b, TOP_STORE, 3, offset(&k, po, off), v, mask);
	end(&k);
	k.grid = (n + BLOCK - 1) / BLOCK;
	bytes = (double)n * 4 * (what == GELU ? 4 : 3);
	fast = seconds(run_fast, &k);
	checked = seconds(run_checked, &k);
	c = seconds(what == ADD ? c_add : what == GELU ? c_gelu : c_chain, &d);
	report(name, bytes, fast, checked, c);
	release(&k);
}

/* --- rows: softmax, layer normalisation ---------------------------------------------- */

static __attribute__((noinline)) void c_layer_norm(void *ctx)
{
	struct data *d = ctx;
	for (int64_t r = 0; r < d->n; r++) {
		float scale_by, mean;

		const float *restrict x = d->x + r * d->cols, *restrict w = d->y, *restrict b = d->z;
		float *restrict o = d->o + r * d->cols;
		float sum = 0, squares = 0;
		for (int64_t i = 0; i < d->cols; i++)
			sum += x[i];
		mean = sum / (float)d->cols;
		for (int64_t i = 0; i < d->cols; i++)
			squares += (x[i] - mean) * (x[i] - mean);
		scale_by = 1 / sqrtf(squares / (float)d->cols + 1e-5f);
		for (int64_t i = 0; i < d->cols; i++)
			o[i] = (x[i] - mean) * scale_by * w[i] + b[i];
	}
}

static __attribute__((noinline)) void c_softmax(void *ctx)
{
	struct data *d = ctx;
	for (int64_t r = 0; r < d->n; r++) {
		const float *restrict x = d->x + r * d->cols;
		float *restrict o = d->o + r * d->cols;
		float max = -INFINITY, sum = 0;
		for (int64_t i = 0; i < d->cols; i++)
			max = x[i] > max ? x[i] : max;
		for (int64_t i = 0; i < d->cols; i++)
			sum += o[i] = expf(x[i] - max);
		for (int64_t i = 0; i < d->cols; i++)
			o[i] /= sum;
	}
}

static tile_reg reduce(struct kernel *k, tile_reg x, enum tile_combine c)
{
	tile_reg r = tile_build(&k->b, TOP_REDUCE, tile_scalar(DT_F32), 1, x);
	tile_build_last(&k->b)->attr[0] = (int)c;
	return r;
}

/* The values of softmax and of layer normalisation, x a row of tile type t. */
static tile_reg softmax_of(struct kernel *k, tile_reg x, struct tile_type t)
{
	tile_reg e = op1(k, TOP_EXP, op2(k, TOP_SUB, x, splat(k, reduce(k, x, TILE_MAX), t)));
	return op2(k, TOP_DIV, e, splat(k, reduce(k, e, TILE_SUM), t));
}

static tile_reg norm_of(struct kernel *k, tile_reg x, tile_reg w, tile_reg b, struct tile_type t)
{
	tile_reg d = op2(k, TOP_SUB, x, splat(k, scale(k, reduce(k, x, TILE_SUM), 1.0 / t.shape[0]), t));
	tile_reg var = scale(k, reduce(k, op2(k, TOP_MUL, d, d), TILE_SUM), 1.0 / t.shape[0]);
	tile_reg r = op1(k, TOP_RSQRT, op2(k, TOP_ADD, var, tile_build_float(&k->b, tile_scalar(DT_F32), 1e-5)));
	return op2(k, TOP_ADD, op2(k, TOP_MUL, op2(k, TOP_MUL, d, splat(k, r, t)), w), b);
}

static void rows(const char *name, int norm, int64_t n_rows, int32_t cols)
{
	struct kernel k;
	struct data d = { .n = n_rows, .cols = cols };
	struct tile_type t = vec_t(DT_F32, cols);
	tile_reg px, po, pw, pb, n, pid, at, lanes, mask, row, out, other, x, y;

	begin(&k);
	px = tensor_arg(&k, n_rows * cols, &d.x);
	po = tensor_arg(&k, n_rows * cols, &d.o);
	pw = tensor_arg(&k, cols, &d.y);
	pb = tensor_arg(&k, cols, &d.z);
	n = int_arg(&k, cols);
	pid = tile_build(&k.b, TOP_PROGRAM_ID, tile_scalar(DT_I32), 0);
	at = op2(&k, TOP_MUL, pid, n);
	lanes = tile_build(&k.b, TOP_ARANGE, vec_t(DT_I32, cols), 0);
	mask = tile_build(&k.b, TOP_LT, vec_t(DT_BOOL, cols), 2, lanes, splat(&k, n, vec_t(DT_I32, cols)));
	row = op2(&k, TOP_ADDPTR, px, at);
	out = op2(&k, TOP_ADDPTR, po, at);
	other = tile_build_float(&k.b, t, norm ? 0 : -INFINITY);
	x = tile_build(&k.b, TOP_LOAD, t, 3, offset(&k, row, lanes), mask, other);
	if (norm) {
		tile_reg w = tile_build(&k.b, TOP_LOAD, t, 2, offset(&k, pw, lanes), mask), b = tile_build(&k.b, TOP_LOAD, t, 2, offset(&k, pb, lanes), mask);
		y = norm_of(&k, x, w, b, t);
	} else {
		y = softmax_of(&k, x, t);
	}
	tile_build_do(&k.b, TOP_STORE, 3, offset(&k, out, lanes), y, mask);
	end(&k);
	k.grid = n_rows;
	report(name, (double)n_rows * cols * 8, seconds(run_fast, &k), seconds(run_checked, &k), seconds(norm ? c_layer_norm : c_softmax, &d));
	release(&k);
}

/* --- matrix product ------------------------------------------------------------------- */

struct gemm {
	float *a, *b, *c;
	int n;
};

static void blas(void *ctx)
{
	struct gemm *g = ctx;
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, g->n, g->n, g->n, 1, g->a, g->n, g->b, g->n, 0, g->c, g->n);
}

static tile_reg grid_offsets(struct kernel *k, tile_reg rows, tile_reg cols, tile_reg stride, int32_t m, int32_t n)
{
	struct tile_type t = mat_t(DT_I32, m, n);
	tile_reg r = tile_build_imm(&k->b, TOP_EXPAND_DIMS, mat_t(DT_I32, m, 1), 1, 1, rows);
	tile_reg c = tile_build_imm(&k->b, TOP_EXPAND_DIMS, mat_t(DT_I32, 1, n), 0, 1, cols);
	r = op2(k, TOP_MUL, r, splat(k, stride, mat_t(DT_I32, m, 1)));
	return op2(k, TOP_ADD, tile_build(&k->b, TOP_BROADCAST, t, 1, r), tile_build(&k->b, TOP_BROADCAST, t, 1, c));
}

static tile_reg shifted(struct kernel *k, tile_reg at, int32_t n)
{
	return op2(k, TOP_ADD, splat(k, at, vec_t(DT_I32, n)), tile_build(&k->b, TOP_ARANGE, vec_t(DT_I32, n), 0));
}

static void matmul(int n, int32_t BM, int32_t BN, int32_t BK, enum tile_prec prec)
{
	struct kernel k;
	struct gemm g = { .n = n };
	struct tile_type i32 = tile_scalar(DT_I32);
	double flops, fast, checked, c;
	tile_reg a, b, pa, pb, pc, d, N, pid, per, row, col, kk, ap, bp, acc, step;

	begin(&k);
	pa = tensor_arg(&k, (int64_t)n * n, &g.a);
	pb = tensor_arg(&k, (int64_t)n * n, &g.b);
	pc = tensor_arg(&k, (int64_t)n * n, &g.c);
	N = int_arg(&k, n);
	pid = tile_build(&k.b, TOP_PROGRAM_ID, i32, 0);
	per = tile_build_int(&k.b, i32, n / BN);
	row = op2(&k, TOP_MUL, op2(&k, TOP_DIV, pid, per), tile_build_int(&k.b, i32, BM));
	col = op2(&k, TOP_MUL, op2(&k, TOP_REM, pid, per), tile_build_int(&k.b, i32, BN));
	kk = shifted(&k, tile_build_int(&k.b, i32, 0), BK);
	ap = offset(&k, pa, grid_offsets(&k, shifted(&k, row, BM), kk, N, BM, BK));
	bp = offset(&k, pb, grid_offsets(&k, kk, shifted(&k, col, BN), N, BK, BN));
	acc = tile_build_float(&k.b, mat_t(DT_F32, BM, BN), 0);
	step = tile_build_reg(&k.b, i32);
	tile_build_mov(&k.b, step, tile_build_int(&k.b, i32, 0));
	tile_build_block(&k.b);
	tile_build_loop(&k.b);
	tile_build_br_if(&k.b, tile_build(&k.b, TOP_GE, tile_scalar(DT_BOOL), 2, step, N), 1);
	a = tile_build(&k.b, TOP_LOAD, mat_t(DT_F32, BM, BK), 1, ap);
	b = tile_build(&k.b, TOP_LOAD, mat_t(DT_F32, BK, BN), 1, bp);
	d = tile_build(&k.b, TOP_DOT, mat_t(DT_F32, BM, BN), 3, a, b, acc);
	tile_build_last(&k.b)->attr[0] = (int)prec;
	tile_build_mov(&k.b, acc, d);
	tile_build_mov(&k.b, ap, op2(&k, TOP_ADDPTR, ap, tile_build_int(&k.b, mat_t(DT_I32, BM, BK), BK)));
	tile_build_mov(&k.b, bp, op2(&k, TOP_ADDPTR, bp, tile_build_int(&k.b, mat_t(DT_I32, BK, BN), BK * n)));
	tile_build_mov(&k.b, step, op2(&k, TOP_ADD, step, tile_build_int(&k.b, i32, BK)));
	tile_build_br(&k.b, 0);
	tile_build_end(&k.b);
	tile_build_end(&k.b);
	tile_build_do(&k.b, TOP_STORE, 2, offset(&k, pc, grid_offsets(&k, shifted(&k, row, BM), shifted(&k, col, BN), N, BM, BN)), acc);
	end(&k);
	k.grid = (n / BM) * (n / BN);
	flops = 2.0 * n * n * n;
	fast = seconds(run_fast, &k);
	checked = seconds(run_checked, &k);
	c = seconds(blas, &g);
	printf("matmul %d tiles %dx%dx%d %-5s  fast %6.1f GFLOP/s  checked %6.1f  OpenBLAS %6.1f  fast/OpenBLAS %.2f\n", n, BM, BN, BK,
		prec == TILE_PREC_IEEE ? "ieee" : "tf32", flops / fast * 1e-9, flops / checked * 1e-9, flops / c * 1e-9, c / fast);
	release(&k);
}

/* --- threads ------------------------------------------------------------------------- */

static double wall(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void once(struct kernel *k, struct pool *pool)
{
	struct err e = ERR_INIT;
	struct diag d = { .reason = REASON_ok };
	struct tile_launch l = { .args = k->args, .n_args = k->n, .grid = { k->grid, 1, 1 } };
	struct tile_run_options o = { .mode = TILE_FAST };
	struct tile_runner runner = { .pool = pool };
	if (tile_execute(&runner, k->code, &l, &o, NULL, &d, &e))
		exit(2);
}

static double best_wall(struct kernel *k, struct pool *pool)
{
	double best = 1e9, stop = wall() + 4 * budget;
	do {
		double t = wall();
		once(k, pool);
		t = wall() - t;
		best = t < best ? t : best;
	} while (wall() < stop);
	return best;
}

/* CPU time of all threads: what sharing the work costs, also on a busy machine. */
static double cpu_of(struct kernel *k, struct pool *pool)
{
	struct timespec t;
	double begin_s, runs, stop;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	begin_s = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
	runs = 0;
	stop = wall() + 2 * budget;
	while (runs == 0 || wall() < stop) {
		once(k, pool);
		runs++;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec - begin_s) / runs;
}

/* Rows that compute much and load little, by wall time: needs an idle machine. */
static void scaling(void)
{
	struct err e = ERR_INIT;
	struct kernel k;
	float *x, *y;
	int64_t n = 1 << 20;
	int cores = cpu_info()->cores;
	tile_reg mask, px, po, off, v;
	double one, all, cpu_one, cpu_all;
	struct pool *pool;

	begin(&k);
	px = tensor_arg(&k, n, &x);
	po = tensor_arg(&k, n, &y);
	off = block_offsets(&k, BLOCK, int_arg(&k, n), &mask);
	v = tile_build(&k.b, TOP_LOAD, vec_t(DT_F32, BLOCK), 2, offset(&k, px, off), mask);
	for (int i = 0; i < 8; i++)
		v = op1(&k, i & 1 ? TOP_ERF : TOP_EXP, v);
	tile_build_do(&k.b, TOP_STORE, 3, offset(&k, po, off), v, mask);
	end(&k);
	k.grid = n / BLOCK;
	pool = pool_new(cores, &e);
	if (!pool)
		exit(2);
	one = best_wall(&k, NULL);
	all = best_wall(&k, pool);
	cpu_one = cpu_of(&k, NULL);
	cpu_all = cpu_of(&k, pool);
	printf("%d threads: %.2f times one thread, %.0f %% of ideal (wall time); CPU time of one thread / of all %.0f %%\n", cores, one / all,
		100 * one / all / cores, 100 * cpu_one / cpu_all);
	pool_free(pool);
	release(&k);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		budget = atof(argv[1]);
	openblas_set_num_threads(1);
	pointwise("add, 4 M elements", ADD, 1 << 22);
	pointwise("add, 64 K elements", ADD, 1 << 16);
	pointwise("mul add relu square sub", CHAIN, 1 << 22);
	pointwise("bias + gelu + add", GELU, 1 << 22);
	rows("softmax rows of 1024", 0, 4096, 1024);
	rows("layer norm rows of 1024", 1, 4096, 1024);
	matmul(512, 64, 64, 32, TILE_PREC_IEEE);
	matmul(512, 128, 128, 64, TILE_PREC_IEEE);
	matmul(512, 64, 64, 32, TILE_PREC_TF32);
	matmul(512, 16, 16, 16, TILE_PREC_IEEE);
	scaling();
	return 0;
}
