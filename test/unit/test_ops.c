/* Every op of ops.def: forward against the formula in double, gradient against central
 * differences of that formula. The table at the end is checked against ops.def: an op without
 * a row does not compile away silently, it fails. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "ops/cpu/gemm.h"
#include "ops/ops.h"

static struct dev *dev;
static const struct ops *ops;
static struct rng rng;

static float *draw(size_t n)
{
	float *p = mem_array(n + 1, sizeof *p);

	for (size_t i = 0; i < n; i++)
		p[i] = 2 * rng_f32(&rng) - 1;
	return p;
}

static void near(const char *what, const float *got, const double *want, size_t n, double tolerance)
{
	double top = 1e-9;

	for (size_t i = 0; i < n; i++)
		top = fmax(top, fabs(want[i]));
	for (size_t i = 0; i < n; i++)
		if (!(fabs((double)got[i] - want[i]) <= tolerance * top))
			fail_msg("%s[%zu]: %.9g, want %.9g (largest %.3g)", what, i, (double)got[i], want[i], top);
}

/* --- central differences ------------------------------------------------------------------ */

/* y[m] = f(x[n]) in double; the gradient of sum(g y) is compared with `got`. */
struct formula {
	void (*f)(const double *x, double *y, const void *ctx);
	const void *ctx;
	size_t n, m;
};

static void check_forward(const char *what, const struct formula *q, const float *x, const float *got, double tolerance)
{
	double *in = mem_array(q->n, sizeof *in), *out = mem_array(q->m, sizeof *out);

	for (size_t i = 0; i < q->n; i++)
		in[i] = (double)x[i];
	q->f(in, out, q->ctx);
	near(what, got, out, q->m, tolerance);
	mem_free(in), mem_free(out);
}

static void check_grad(const char *what, const struct formula *q, const float *x, const float *g, const float *got, double tolerance)
{
	double *in = mem_array(q->n, sizeof *in), *a = mem_array(q->m, sizeof *a), *b = mem_array(q->m, sizeof *b);
	double *want = mem_array(q->n, sizeof *want), h = 1e-5;

	for (size_t i = 0; i < q->n; i++)
		in[i] = (double)x[i];
	for (size_t i = 0; i < q->n; i++) {
		double keep = in[i];

		in[i] = keep + h;
		q->f(in, a, q->ctx);
		in[i] = keep - h;
		q->f(in, b, q->ctx);
		in[i] = keep;
		for (size_t j = 0; j < q->m; j++)
			want[i] += (double)g[j] * (a[j] - b[j]) / (2 * h);
	}
	near(what, got, want, q->n, tolerance);
	mem_free(in), mem_free(a), mem_free(b), mem_free(want);
}

/* --- matrix products ------------------------------------------------------------------------ */

struct product { int M, n, k; };

static struct weight pack(const float *w, enum dtype dt, int n, int k)
{
	struct weight out;
	int first = n > 3 ? n / 3 : n;
	struct weight_part parts[2] = { { .data = w, .dt = DT_F32, .n = first }, { .data = w + (size_t)first * (size_t)k, .dt = DT_F32, .n = n - first } };

	assert_int_equal(weight_init(dev, &out, dt, n, k, NULL), 0);
	ops->weight_pack(dev, &out, parts, 2);
	return out;
}

/* What the packed weight stands for. */
static float *unpack(const struct weight *w)
{
	float *p = mem_array((size_t)w->n * (size_t)w->k, sizeof *p);

	for (int i = 0; i < w->n; i++)
		ops->weight_row(dev, w, i, p + (size_t)i * (size_t)w->k);
	return p;
}

static void product_one(int M, int n, int k, enum dtype dt)
{
	size_t sm = (size_t)M, sn = (size_t)n, sk = (size_t)k;
	float *x = draw(sm * sk), *raw = draw(sn * sk), *y = draw(sm * sn), *dy = draw(sm * sn), *bias = draw(sn), *add = draw(sm * sn);
	float *dx = draw(sm * sk), *dw = draw(sn * sk), *db = draw(sn);
	struct weight p = pack(raw, dt, n, k);
	float *w = unpack(&p);
	double *wy = mem_array(sm * sn, 8), *wdx = mem_array(sm * sk, 8), *wdw = mem_array(sn * sk, 8), *wdb = mem_array(sn, 8);

	for (size_t j = 0; j < sn; j++)
		wdb[j] = (double)db[j];
	for (size_t i = 0; i < sn * sk; i++) {
		wdw[i] = (double)dw[i];
		if (dt == DT_F32)
			assert_true(w[i] == raw[i]);
		else
			assert_true(fabsf(w[i] - raw[i]) <= (dt == DT_BF16 ? 0.004f : 0.0041f));
	}
	for (size_t m = 0; m < sm; m++)
		for (size_t j = 0; j < sn; j++) {
			wy[m * sn + j] = (double)bias[j] + (double)add[m * sn + j];
			wdb[j] += (double)dy[m * sn + j];
			for (size_t i = 0; i < sk; i++) {
				wy[m * sn + j] += (double)x[m * sk + i] * (double)w[j * sk + i];
				wdx[m * sk + i] += (double)dy[m * sn + j] * (double)w[j * sk + i];
				wdw[j * sk + i] += (double)dy[m * sn + j] * (double)x[m * sk + i];
			}
		}
	ops->linear(dev, &p, &(struct linear){ .M = M, .x = x, .ldx = sk, .y = y, .ldy = sn, .bias = bias, .add = add, .ldadd = sn });
	near("linear", y, wy, sm * sn, 2e-6);
	ops->linear_dx(dev, &p, &(struct linear){ .M = M, .x = dy, .ldx = sn, .y = dx, .ldy = sk });
	near("linear_dx", dx, wdx, sm * sk, 2e-6);
	ops->linear_dw(dev, dw, n, k, dy, sn, x, sk, M, 0);
	near("linear_dw", dw, wdw, sn * sk, 2e-6);
	ops->bias_grad(dev, db, dy, sn, M, n);
	near("bias_grad", db, wdb, sn, 2e-6);
	weight_release(dev, &p);
	mem_free(x), mem_free(raw), mem_free(y), mem_free(dy), mem_free(bias), mem_free(add), mem_free(dx), mem_free(dw), mem_free(db);
	mem_free(w), mem_free(wy), mem_free(wdx), mem_free(wdw), mem_free(wdb);
}

static void test_products(void **state)
{
	static const int sizes[][3] = { { 1, 1, 1 }, { 1, 40, 7 }, { 2, 33, 64 }, { 5, 96, 300 },
					{ 13, 31, 257 }, { 25, 70, 513 }, { 100, 65, 33 }, { 200, 16, 90 } };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes); i++)
		for (int t = 0; t < 3; t++)
			product_one(sizes[i][0], sizes[i][1], sizes[i][2], t == 0 ? DT_F32 : t == 1 ? DT_BF16 : DT_I8);
}

static float *rounded(const float *x, size_t n)
{
	float *p = mem_array(n, 4);

	for (size_t i = 0; i < n; i++)
		p[i] = bf16_to_f32(f32_to_bf16(x[i]));
	return p;
}

/* Fast products: as exact ones of operands rounded to bf16, or (without the instruction)
 * closer to the exact ones. */
static void test_fast_products(void **state)
{
	static const int sizes[][3] = { { 1, 32, 7 }, { 3, 33, 64 }, { 30, 70, 513 }, { 100, 64, 32 } };
	double tolerance = cpu_info()->avx512_bf16 ? 3e-6 : 1e-2;

	(void)state;
	for (size_t z = 0; z < COUNT_OF(sizes); z++) {
		size_t M = (size_t)sizes[z][0], n = (size_t)sizes[z][1], k = (size_t)sizes[z][2];
		float *x = draw(M * k), *raw = draw(n * k), *dy = draw(M * n), *y = draw(M * n), *dx = draw(M * k), *dw = mem_array(n * k, 4);
		float *rx = rounded(x, M * k), *rw = rounded(raw, n * k), *rdy = rounded(dy, M * n);
		double *wy = mem_array(M * n, 8), *wdx = mem_array(M * k, 8), *wdw = mem_array(n * k, 8);
		struct weight p = pack(raw, DT_BF16, (int)n, (int)k);

		for (size_t m = 0; m < M; m++)
			for (size_t j = 0; j < n; j++)
				for (size_t i = 0; i < k; i++) {
					wy[m * n + j] += (double)rx[m * k + i] * (double)rw[j * k + i];
					wdx[m * k + i] += (double)rdy[m * n + j] * (double)rw[j * k + i];
					wdw[j * k + i] += (double)rdy[m * n + j] * (double)rx[m * k + i];
				}
		p.fast = 1;
		ops->linear(dev, &p, &(struct linear){ .M = (int)M, .x = x, .ldx = k, .y = y, .ldy = n });
		near("fast linear", y, wy, M * n, tolerance);
		ops->linear_dx(dev, &p, &(struct linear){ .M = (int)M, .x = dy, .ldx = n, .y = dx, .ldy = k });
		near("fast linear_dx", dx, wdx, M * k, tolerance);
		ops->linear_dw(dev, dw, (int)n, (int)k, dy, n, x, k, (int)M, 1);
		near("fast linear_dw", dw, wdw, n * k, tolerance);
		weight_release(dev, &p);
		mem_free(x), mem_free(raw), mem_free(dy), mem_free(y), mem_free(dx), mem_free(dw), mem_free(rx), mem_free(rw), mem_free(rdy);
		mem_free(wy), mem_free(wdx), mem_free(wdw);
	}
}

/* A row's bits do not depend on the other rows: 1..40 rows against each alone. */
static void test_rows_alone(void **state)
{
	enum { M = 40, N = 77, K = 530 };
	float *x = draw(M * K), *raw = draw(N * K), *all = draw(M * N), one[N];

	(void)state;
	for (int t = 0; t < 4; t++) {
		struct weight p = pack(raw, t == 0 ? DT_F32 : t == 1 ? DT_I8 : DT_BF16, N, K);

		p.fast = t == 3;
		for (int m = 1; m <= M; m++) {
			ops->linear(dev, &p, &(struct linear){ .M = m, .x = x, .ldx = K, .y = all, .ldy = N });
			ops->linear(dev, &p, &(struct linear){ .M = 1, .x = x + (m - 1) * K, .ldx = K, .y = one, .ldy = N });
			assert_memory_equal(all + (m - 1) * N, one, sizeof one);
		}
		weight_release(dev, &p);
	}
	mem_free(x), mem_free(raw), mem_free(all);
}

/* Every instruction set's tiles give the product (to the machine's own level). */
static void level_one(const struct gemm_kernels *g)
{
	enum { K = 19 };
	float *a = draw(GEMM_MR_MAX * K), *b = draw(K * GEMM_NR_MAX), *c = draw(GEMM_MR_MAX * GEMM_NR_MAX);

	for (int h = 1; h <= g->mr; h++) {
		double want[GEMM_MR_MAX * GEMM_NR_MAX] = { 0 };

		for (int i = 0; i < h; i++)
			for (int j = 0; j < g->nr; j++) {
				want[i * g->nr + j] = (double)c[i * g->nr + j];
				for (int k = 0; k < K; k++)
					want[i * g->nr + j] += (double)a[k * h + i] * (double)b[k * g->nr + j];
			}
		g->tile[h](K, a, (size_t)h, b, (size_t)g->nr, c, (size_t)g->nr, 1);
		near("tile", c, want, (size_t)(h * g->nr), 1e-6);
	}
	mem_free(a), mem_free(b), mem_free(c);
}

static void test_levels(void **state)
{
	(void)state;
	level_one(gemm_kernels_base());
#if defined(__x86_64__)
	if (cpu_info()->level >= CPU_V3)
		level_one(gemm_kernels_v3());
	if (cpu_info()->level >= CPU_V4)
		level_one(gemm_kernels_v4());
#endif
}

/* y += scale (x A^T) B^T for two adapters that write different columns. */
static void test_lora(void **state)
{
	enum { M = 29, K = 300, RANK = 5, N0 = 40, N1 = 33, N = N0 + N1 };
	float *x = draw(M * K), *y = draw(M * N), *u = draw(2 * M * RANK), *wa[2] = { draw(RANK * K), draw(RANK * K) };
	float *wb[2] = { draw(N0 * RANK), draw(N1 * RANK) };
	struct weight a[2], b[2];
	double *want = mem_array(M * N, 8), *wu = mem_array(2 * M * RANK, 8);
	struct lora_pass l = { .M = M, .parts = 2, .x = x, .ldx = K, .ldy = N, .ldu = 2 * RANK, .scale = 1.5f, .u = u };

	(void)state;
	for (int i = 0; i < M * N; i++)
		want[i] = (double)y[i];
	for (int p = 0; p < 2; p++) {
		a[p] = pack(wa[p], DT_F32, RANK, K), b[p] = pack(wb[p], DT_F32, p ? N1 : N0, RANK);
		l.part[p] = (struct lora_part){ .a = &a[p], .b = &b[p], .at = (size_t)p * RANK, .y = y + p * N0 };
		for (int m = 0; m < M; m++)
			for (int r = 0; r < RANK; r++) {
				double *v = &wu[(m * 2 + p) * RANK + r];

				for (int k = 0; k < K; k++)
					*v += 1.5 * (double)x[m * K + k] * (double)wa[p][r * K + k];
				for (int n = 0; n < (p ? N1 : N0); n++)
					want[m * N + p * N0 + n] += *v * (double)wb[p][n * RANK + r];
			}
	}
	ops->lora(dev, &l);
	near("lora u", u, wu, 2 * M * RANK, 3e-6);
	near("lora y", y, want, M * N, 3e-6);
	for (int p = 0; p < 2; p++) {
		weight_release(dev, &a[p]), weight_release(dev, &b[p]);
		mem_free(wa[p]), mem_free(wb[p]);
	}
	mem_free(x), mem_free(y), mem_free(u), mem_free(want), mem_free(wu);
}

/* Gradients of two adapters against the sums of ops.h. */
static void test_lora_grad(void **state)
{
	enum { M = 21, K = 50, R = 3, N = 40 };
	float *x = draw(M * K), *dy = draw(M * N), *u = draw(2 * M * R), *du = draw(2 * M * R), *dx = draw(M * K);
	struct lora_pass l = { .M = M, .parts = 2, .x = x, .ldx = K, .ldy = N, .ldu = 2 * R, .scale = 0.5f, .u = u, .du = du, .dx = dx, .add = 1 };
	double *wdx = mem_array(M * K, 8), *wda = mem_array(2 * R * K, 8), *wdb = mem_array(N * R, 8);
	float *da = mem_array(2 * R * K, 4), *db = mem_array(N * R, 4), *wa = draw(2 * R * K), *wb = draw(N * R);
	struct weight a[2], b[2];

	(void)state;
	for (int i = 0; i < M * K; i++)
		wdx[i] = (double)dx[i];
	for (int p = 0; p < 2; p++) {
		a[p] = pack(wa + p * R * K, DT_F32, R, K), b[p] = pack(wb + p * N / 2 * R, DT_F32, N / 2, R);
		l.part[p] = (struct lora_part){ .a = &a[p], .b = &b[p], .at = (size_t)p * R, .y = dy + p * N / 2,
						.da = da + p * R * K, .db = db + p * N / 2 * R };
		for (int m = 0; m < M; m++)
			for (int r = 0; r < R; r++) {
				double d = 0;

				for (int n = p * N / 2; n < (p + 1) * N / 2; n++) {
					d += 0.5 * (double)dy[m * N + n] * (double)wb[n * R + r];
					wdb[n * R + r] += (double)dy[m * N + n] * (double)u[m * 2 * R + p * R + r];
				}
				for (int k = 0; k < K; k++) {
					wda[(p * R + r) * K + k] += d * (double)x[m * K + k];
					wdx[m * K + k] += d * (double)wa[(p * R + r) * K + k];
				}
			}
	}
	ops->lora_grad(dev, &l);
	near("lora_grad dx", dx, wdx, M * K, 3e-6);
	near("lora_grad da", da, wda, 2 * R * K, 3e-6);
	near("lora_grad db", db, wdb, N * R, 3e-6);
	for (int p = 0; p < 2; p++)
		weight_release(dev, &a[p]), weight_release(dev, &b[p]);
	mem_free(x), mem_free(dy), mem_free(u), mem_free(du), mem_free(dx), mem_free(wdx), mem_free(wda), mem_free(wdb);
	mem_free(da), mem_free(db), mem_free(wa), mem_free(wb);
}

/* Rows taken out and put back are where they were. */
static void test_move(void **state)
{
	enum { ROWS = 7, W = 19 };
	static const int32_t row[ROWS] = { 3, 0, 9, 4, 8, 1, 6 };
	float *from = draw(10 * W), *some = draw(ROWS * W), *back = draw(10 * W);

	(void)state;
	ops->gather(dev, some, from, row, ROWS, W);
	ops->scatter(dev, back, some, row, ROWS, W);
	for (int i = 0; i < ROWS; i++) {
		assert_memory_equal(some + i * W, from + row[i] * W, W * sizeof *from);
		assert_memory_equal(back + row[i] * W, from + row[i] * W, W * sizeof *from);
	}
	mem_free(from), mem_free(some), mem_free(back);
}

/* --- norms, rope, embedding -------------------------------------------------------------------- */

enum { T = 5, C = 37 };

/* x[T C] then w[C] */
static void f_rms(const double *x, double *y, const void *ctx)
{
	const double *w = x + T * C;

	(void)ctx;
	for (int t = 0; t < T; t++) {
		double s = 0;

		for (int i = 0; i < C; i++)
			s += x[t * C + i] * x[t * C + i];
		s = 1 / sqrt(s / C + 1e-5);
		for (int i = 0; i < C; i++)
			y[t * C + i] = x[t * C + i] * s * w[i];
	}
}

static void test_rmsnorm(void **state)
{
	struct formula q = { .f = f_rms, .n = T * C + C, .m = T * C };
	float *x = draw(q.n), *y = draw(q.m), *g = draw(q.m), *d = mem_array(q.n, 4), rstd[T];

	(void)state;
	ops->rmsnorm(dev, y, rstd, x, x + T * C, T, C, 1e-5f);
	check_forward("rmsnorm", &q, x, y, 2e-6);
	ops->rmsnorm_grad(dev, d, d, d + T * C, g, x, rstd, x + T * C, T, C);
	check_grad("rmsnorm_grad", &q, x, g, d, 2e-5);
	mem_free(x), mem_free(y), mem_free(g), mem_free(d);
}

enum { H = 3, HKV = 1, D = 12, ROW = (H + 2 * HKV) * D };

struct rope_ctx { const float *cos, *sin; const int32_t *pos; int norm; };

/* qkv[T ROW] then qw[D], kw[D] */
static void f_rope(const double *x, double *y, const void *ctx)
{
	const struct rope_ctx *r = ctx;

	memcpy(y, x, T * ROW * sizeof *y);
	for (int t = 0; t < T; t++)
		for (int h = 0; h < H + HKV; h++) {
			double *v = y + t * ROW + h * D, s = 0;
			const double *w = x + T * ROW + (h < H ? 0 : D);

			for (int i = 0; i < D; i++)
				s += v[i] * v[i];
			for (int i = 0; r->norm && i < D; i++)
				v[i] = v[i] / sqrt(s / D + 1e-5) * w[i];
			for (int i = 0; i < D / 2; i++) {
				double a = v[i], b = v[i + D / 2], c = (double)r->cos[r->pos[t] * D / 2 + i], sn = (double)r->sin[r->pos[t] * D / 2 + i];

				v[i] = a * c - b * sn;
				v[i + D / 2] = b * c + a * sn;
			}
		}
}

static void test_qk_rope(void **state)
{
	static const int32_t pos[T] = { 0, 1, 2, 0, 3 };
	float cs[4 * D / 2], sn[4 * D / 2];

	(void)state;
	for (int i = 0; i < 4 * D / 2; i++)
		cs[i] = cosf((float)i), sn[i] = sinf((float)i);
	for (int norm = 0; norm < 2; norm++) {
		struct rope_ctx c = { cs, sn, pos, norm };
		struct formula q = { .f = f_rope, .ctx = &c, .n = T * ROW + 2 * D, .m = T * ROW };
		float *x = draw(q.n), *y = mem_array(q.m, 4), *g = draw(q.m), *d = mem_array(q.n, 4), raw[T * (H + HKV) * D], rstd[T * (H + HKV)];
		struct qk a = { .T = T, .H = H, .HKV = HKV, .D = D, .qkv = y, .raw = raw, .rstd = rstd, .eps = 1e-5f, .cos = cs, .sin = sn, .pos = pos,
				.dqw = d + q.m, .dkw = d + q.m + D };

		if (norm)
			a.qw = x + q.m, a.kw = x + q.m + D;
		memcpy(y, x, q.m * 4);
		memcpy(d, g, q.m * 4);
		ops->qk_rope(dev, &a);
		check_forward("qk_rope", &q, x, y, 2e-6);
		ops->qk_rope_grad(dev, &a, d);
		check_grad("qk_rope_grad", &q, x, g, d, 2e-5);
		mem_free(x), mem_free(y), mem_free(g), mem_free(d);
	}
}

static void test_embed(void **state)
{
	enum { V = 4 };
	static const int32_t tokens[T] = { 1, 3, 1, 0, 1 };
	float *table = draw(V * C), *y = draw(T * C), *dy = draw(T * C), *dt = mem_array(V * C, 4);
	uint16_t half[V * C];
	double want[V * C] = { 0 };

	(void)state;
	ops->embed(dev, y, table, DT_F32, C, tokens, T);
	for (int t = 0; t < T; t++) {
		assert_memory_equal(y + t * C, table + tokens[t] * C, C * 4);
		for (int i = 0; i < C; i++)
			want[tokens[t] * C + i] += (double)dy[t * C + i];
	}
	for (int i = 0; i < V * C; i++)
		half[i] = f32_to_bf16(table[i]);
	ops->embed(dev, y, half, DT_BF16, C, tokens, T);
	for (int i = 0; i < C; i++)
		assert_true(y[C + i] == bf16_to_f32(half[3 * C + i]));
	ops->embed_grad(dev, dt, dy, C, tokens, T);
	near("embed_grad", dt, want, V * C, 1e-6);
	mem_free(table), mem_free(y), mem_free(dy), mem_free(dt);
}

/* --- activations ----------------------------------------------------------------------------------- */

static void f_swiglu(const double *x, double *y, const void *ctx)
{
	(void)ctx;
	for (int t = 0; t < T; t++)
		for (int i = 0; i < C; i++) {
			double g = x[t * 2 * C + i];

			y[t * C + i] = g / (1 + exp(-g)) * x[t * 2 * C + C + i];
		}
}

static void test_swiglu(void **state)
{
	struct formula q = { .f = f_swiglu, .n = T * 2 * C, .m = T * C };
	float *x = draw(q.n), *y = draw(q.m), *g = draw(q.m), *d;

	(void)state;
	for (size_t i = 0; i < q.n; i++)
		x[i] *= 6;
	ops->swiglu(dev, &(struct swiglu){ .T = T, .F = C, .h = y, .gu = x });
	check_forward("swiglu", &q, x, y, 2e-6);
	d = mem_array(q.n, 4);
	memcpy(d, x, q.n * 4);
	ops->swiglu_grad(dev, &(struct swiglu){ .T = T, .F = C, .dgu = d, .dh = g, .gu = d });   /* in place, as the model calls it */
	check_grad("swiglu_grad", &q, x, g, d, 2e-5);
	mem_free(x), mem_free(y), mem_free(g), mem_free(d);
}

static void test_dropout(void **state)
{
	enum { N = 40000 };
	struct dropout o = { .seed = 3, .place = 9, .p = 0.3f };
	float *x = draw(N), *y = draw(N), *z = draw(N), *d = mem_array(N, 4);
	int zero = 0, differ = 0;

	(void)state;
	ops->dropout(dev, y, x, N, &o);
	ops->dropout_grad(dev, d, x, N, &o);
	for (int i = 0; i < N; i++) {
		zero += y[i] == 0;
		assert_true(y[i] == 0 || fabsf(y[i] - x[i] / 0.7f) < 1e-5f);
	}
	assert_memory_equal(d, y, N * 4);        /* the same mask */
	assert_in_range(zero, N * 0.28, N * 0.32);
	o.place++;
	ops->dropout(dev, z, x, N, &o);
	for (int i = 0; i < N; i++)
		differ += (y[i] == 0) != (z[i] == 0);
	assert_in_range(differ, N * 0.38, N * 0.46);
	mem_free(x), mem_free(y), mem_free(z), mem_free(d);
}

/* The op draws what sample_token does with the numbers of the row's stream, from the logits it is told, and
 * marks the token; advance keeps it and makes it the next input. */
static void test_sample(void **state)
{
	enum { ROWS = 5, V = 70, STEPS = 2, WORDS = (V + 31) / 32 };
	float logits[2 * V], logprob[ROWS], logprobs[STEPS * ROWS], expected;
	int32_t from[ROWS] = { 0, 1, 1, 0, 1 }, drawn[ROWS] = { 0, 1, 2, 3, 8 }, token[ROWS], next[ROWS], pos[ROWS] = { 3 }, length[ROWS] = { 4 };
	int32_t step = 0, tokens[STEPS * ROWS];
	uint32_t seen[ROWS * WORDS] = { 0 }, before[WORDS] = { 0 };
	struct sample_row row[ROWS];
	struct sample_work w;

	(void)state;
	assert_int_equal(sample_work_init(&w, V, NULL), 0);
	for (int i = 0; i < 2 * V; i++)
		logits[i] = (float)rng_normal(&rng);
	for (int i = 0; i < ROWS; i++)
		row[i] = (struct sample_row){ .o = { .temperature = 1, .top_k = i == 2 ? 5 : 0, .repetition = i == 4 ? 2 : 0 }, .key = 99 + (uint64_t)i };
	ops->sample(dev, &(struct sample){ .rows = ROWS, .V = V, .logits = logits, .from = from, .row = row, .drawn = drawn, .seen = seen,
					   .token = token, .logprob = logprob });
	for (int i = 0; i < ROWS; i++) {
		struct rng r = { .key = row[i].key };
		double u = 0;

		for (int k = 0; k <= drawn[i]; k++)
			u = rng_f64(&r);
		assert_int_equal(token[i], sample_token(&row[i].o, logits + from[i] * V, i == 4 ? before : NULL, u, &w, &expected));
		assert_true(logprob[i] == expected);
		assert_int_equal(seen[i * WORDS + token[i] / 32], i == 4 ? 1u << token[i] % 32 : 0);
	}
	for (int k = 0; k < STEPS; k++)
		ops->advance(dev, &(struct advance){ .rows = ROWS, .token = token, .logprob = logprob, .next = next, .pos = pos, .length = length,
						     .drawn = drawn, .step = &step, .tokens = tokens, .logprobs = logprobs });
	assert_true(step == STEPS && pos[0] == 3 + STEPS && length[0] == 4 + STEPS && drawn[4] == 8 + STEPS);
	for (int i = 0; i < ROWS; i++)
		assert_true(next[i] == token[i] && tokens[ROWS + i] == token[i] && logprobs[ROWS + i] == logprob[i]);
	sample_work_release(&w);
}

static void test_sums(void **state)
{
	enum { N = 200001 };
	float *x = draw(N), *y = draw(N), *z = mem_array(N, 4);
	double s = 0, got;

	(void)state;
	for (int i = 0; i < N; i++)
		s += (double)x[i] * (double)x[i];
	ops->sumsq(dev, &got, x, N);
	assert_true(fabs(got - s) <= 1e-11 * s);
	memcpy(z, y, N * 4);
	ops->add(dev, z, x, N);
	for (int i = 0; i < N; i++)
		assert_true(z[i] == y[i] + x[i]);
	mem_free(x), mem_free(y), mem_free(z);
}

static void test_adamw(void **state)
{
	enum { N = 77 };
	struct adamw o = { .lr = 1e-2f, .beta1 = 0.9f, .beta2 = 0.95f, .eps = 1e-8f, .decay = 0.1f, .scale = 0.5f };
	float *w = draw(N), *m = mem_array(N, 4), *v = mem_array(N, 4);
	double dw[N], dm[N] = { 0 }, dv[N] = { 0 };

	(void)state;
	for (int i = 0; i < N; i++)
		dw[i] = (double)w[i];
	for (int step = 1; step <= 5; step++) {
		float *g = draw(N);

		o.correct1 = 1 - powf(o.beta1, (float)step);
		o.correct2 = 1 - powf(o.beta2, (float)step);
		ops->adamw(dev, w, m, v, g, N, &o);
		for (int i = 0; i < N; i++) {
			double x = 0.5 * (double)g[i];

			dm[i] = 0.9 * dm[i] + 0.1 * x;
			dv[i] = 0.95 * dv[i] + 0.05 * x * x;
			dw[i] = dw[i] * (1 - 1e-3) - 1e-2 * (dm[i] / (1 - pow(0.9, step))) / (sqrt(dv[i] / (1 - pow(0.95, step))) + 1e-8);
		}
		mem_free(g);
	}
	near("adamw", w, dw, N, 1e-5);
	mem_free(w), mem_free(m), mem_free(v);
}

/* --- loss -------------------------------------------------------------------------------------------- */

enum { ROWS = 3, V = 53 };
static const int32_t targets[ROWS] = { 0, 52, 17 };

static void f_logp(const double *x, double *y, const void *ctx)
{
	(void)ctx;
	for (int r = 0; r < ROWS; r++) {
		double s = 0;

		for (int i = 0; i < V; i++)
			s += exp(x[r * V + i]);
		y[r] = x[r * V + targets[r]] - log(s);
		y[ROWS + r] = log(s);
		for (int i = 0; i < V; i++)
			y[ROWS + r] -= exp(x[r * V + i]) / s * x[r * V + i];
	}
}

static void test_xent(void **state)
{
	struct formula q = { .f = f_logp, .n = ROWS * V, .m = 2 * ROWS };
	float *x = draw(q.n), *d = draw(q.n), *coef = draw(2 * ROWS), out[2 * ROWS];

	(void)state;
	for (size_t i = 0; i < q.n; i++)
		d[i] = x[i] *= 8;
	ops->xent(dev, &(struct xent){ .rows = ROWS, .V = V, .logits = d, .target = targets, .coef = coef, .logp = out, .entropy = out + ROWS });
	check_forward("xent", &q, x, out, 2e-6);
	memset(coef + ROWS, 0, ROWS * 4);        /* the entropy has no gradient */
	check_grad("xent", &q, x, coef, d, 2e-5);
	mem_free(x), mem_free(d), mem_free(coef);
}

/* --- attention ------------------------------------------------------------------------------------------ */

struct att_ctx { int H, HKV, D, sequences; const int32_t *start, *prefix; };

/* The rows that row t of sequence s sees, in order. */
static int rows_seen(const struct att_ctx *a, int s, int t, int *row)
{
	int n = 0, p = a->prefix ? a->prefix[s] : -1;

	for (int u = p < 0 ? 0 : a->start[p]; p >= 0 && u < a->start[p + 1]; u++)
		row[n++] = u;
	for (int u = a->start[s]; u <= t; u++)
		row[n++] = u;
	return n;
}

static void f_attention(const double *x, double *y, const void *ctx)
{
	const struct att_ctx *a = ctx;
	int row = (a->H + 2 * a->HKV) * a->D, G = a->H / a->HKV;
	double p[512];
	int seen[512];

	for (int s = 0; s < a->sequences; s++)
		for (int t = a->start[s]; t < a->start[s + 1]; t++)
			for (int h = 0; h < a->H; h++) {
				double sum = 0, *o = y + (t * a->H + h) * a->D;
				int n = rows_seen(a, s, t, seen);

				memset(o, 0, (size_t)a->D * sizeof *o);
				for (int u = 0; u < n; u++) {
					const double *q = x + t * row + h * a->D, *k = x + seen[u] * row + (a->H + h / G) * a->D;
					double dot = 0;

					for (int i = 0; i < a->D; i++)
						dot += q[i] * k[i];
					sum += p[u] = exp(dot / sqrt(a->D));
				}
				for (int u = 0; u < n; u++)
					for (int i = 0; i < a->D; i++)
						o[i] += p[u] / sum * x[seen[u] * row + (a->H + a->HKV + h / G) * a->D + i];
			}
}

/* With `prefix` the second and third sequence go on from the first. */
static void attention_grad(const int32_t *prefix)
{
	static const int32_t start[] = { 0, 9, 10, 26 };
	struct att_ctx c = { 4, 2, 6, 3, start, prefix };
	struct formula q = { .f = f_attention, .ctx = &c, .n = 26 * 8 * 6, .m = 26 * 4 * 6 };
	float *x = draw(q.n), *y = draw(q.m), *g = draw(q.m), *d = draw(q.n), lse[26 * 4];
	struct attention a = { .H = 4, .HKV = 2, .D = 6, .sequences = 3, .start = start, .prefix = prefix, .qkv = x, .out = y, .lse = lse,
			       .dout = g, .dqkv = d };

	for (size_t i = 0; i < q.n; i++)
		x[i] *= 2;
	for (a.fast = 0; a.fast < 2; a.fast++) {
		ops->attention(dev, &a);
		check_forward("attention", &q, x, y, a.fast ? 1e-2 : 2e-6);
		ops->attention_grad(dev, &a);
		check_grad("attention_grad", &q, x, g, d, a.fast ? 2e-2 : 2e-5);
	}
	mem_free(x), mem_free(y), mem_free(g), mem_free(d);
}

static void test_attention_grad(void **state)
{
	static const int32_t prefix[] = { -1, 0, 0 };

	(void)state;
	attention_grad(NULL);
	attention_grad(prefix);
}

/* A sequence that goes on from another has the bits that it has with those rows in front of it. */
static void test_attention_prefix(void **state)
{
	enum { N = 205, CUT = 70, H2 = 6, K2 = 2, W = 40, R = (H2 + 2 * K2) * W, O = H2 * W };
	static const int32_t whole[] = { 0, N }, cut[] = { 0, CUT, N }, prefix[] = { -1, 0 };
	float *x = draw(N * R), *y = draw(N * O), *z = draw(N * O);

	(void)state;
	for (int fast = 0; fast < 2; fast++) {
		struct attention a = { .H = H2, .HKV = K2, .D = W, .fast = fast, .sequences = 1, .start = whole, .qkv = x, .out = y };

		ops->attention(dev, &a);
		a.sequences = 2, a.start = cut, a.prefix = prefix, a.out = z;
		ops->attention(dev, &a);
		assert_memory_equal(y, z, N * O * sizeof *y);
	}
	mem_free(x), mem_free(y), mem_free(z);
}

/* Several key blocks and query tiles; the cached form, in pieces, has the same bits; and the
 * fast form's gradient is near the exact one's. */
static void attention_long(int fast)
{
	enum { N = 205, H2 = 6, K2 = 2, W = 40, R = (H2 + 2 * K2) * W };
	static const int32_t start[] = { 0, N };
	static const int32_t blocks[] = { 3, 0, 2, 1 };
	struct att_ctx c = { H2, K2, W, 1, start, NULL };
	struct formula q = { .f = f_attention, .ctx = &c, .n = N * R, .m = N * H2 * W };
	float *x = draw(q.n), *y = draw(q.m), *z = draw(q.m), *lse = draw(N * H2), *d = draw(2 * q.n);
	double *want = mem_array(q.n, 8);
	char *kv = mem_array(4, kv_bytes(dev, K2, W, fast, 0));
	struct attention a = { .H = H2, .HKV = K2, .D = W, .fast = fast, .sequences = 1, .start = start, .qkv = x, .out = y, .lse = lse, .dout = z, .dqkv = d };
	static const int pieces[] = { 1, 1, 70, 60, 1, 72 };
	int at = 0;

	ops->attention(dev, &a);
	check_forward("attention", &q, x, y, fast ? 1e-2 : 3e-6);
	ops->attention_grad(dev, &a);
	a.fast = 0, a.dqkv = d + q.n;
	ops->attention_grad(dev, &a);
	for (size_t i = 0; i < q.n; i++)
		want[i] = (double)d[q.n + i];
	near("attention_grad", d, want, q.n, fast ? 2e-2 : 0);
	for (size_t i = 0; i < COUNT_OF(pieces); at += pieces[i++]) {
		int32_t row[2] = { at, at + pieces[i] };

		ops->attention_cached(dev, &(struct attention_cached){ .H = H2, .HKV = K2, .D = W, .fast = fast, .runs = 1, .row = row, .length = &at,
				.block = blocks, .qkv = x, .out = z, .kv = kv, .stride = kv_bytes(dev, K2, W, fast, 0) });
	}
	assert_int_equal(at, N);
	assert_memory_equal(y, z, q.m * 4);
	mem_free(x), mem_free(y), mem_free(z), mem_free(kv), mem_free(lse), mem_free(d), mem_free(want);
}

static void test_attention_long(void **state)
{
	(void)state;
	attention_long(0);
	attention_long(1);
}

/* --- the list ---------------------------------------------------------------------------------------------- */

/* Which test covers which op. */
static const struct { const char *op; CMUnitTestFunction test; } covered[] = {
	{ "weight_pack", test_products }, { "weight_row", test_products }, { "linear", test_products },
	{ "lora", test_lora }, { "lora_grad", test_lora_grad }, { "linear_dx", test_products }, { "linear_dw", test_products }, { "bias_grad", test_products },
	{ "embed", test_embed }, { "embed_grad", test_embed }, { "rmsnorm", test_rmsnorm }, { "rmsnorm_grad", test_rmsnorm },
	{ "qk_rope", test_qk_rope }, { "qk_rope_grad", test_qk_rope }, { "swiglu", test_swiglu }, { "swiglu_grad", test_swiglu },
	{ "attention", test_attention_grad }, { "attention_grad", test_attention_grad }, { "attention_cached", test_attention_long },
	{ "xent", test_xent }, { "dropout", test_dropout }, { "dropout_grad", test_dropout }, { "gather", test_move },
	{ "scatter", test_move },
	{ "sample", test_sample }, { "advance", test_sample }, { "add", test_sums }, { "sumsq", test_sums }, { "adamw", test_adamw },
};

static void test_every_op(void **state)
{
	static const char *const all[] = {
#define OP(name, params) #name,
#include "ops/ops.def"
#undef OP
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		size_t j = 0;

		while (j < COUNT_OF(covered) && strcmp(covered[j].op, all[i]))
			j++;
		if (j == COUNT_OF(covered))
			fail_msg("op '%s' has no test", all[i]);
	}
	assert_int_equal(COUNT_OF(all), COUNT_OF(covered));
}

static int set_up(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	rng_init(&rng, 7, "test_ops");
	if (!(dev = dev_open("cpu", 3, &e)) || ops_reserve(dev, &(struct ops_sizes){ .widest = 1024, .longest = 512, .positions = 512, .D = 64, .V = 128 }, &e))
		return -1;
	ops = ops_of(dev);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	dev_close(dev);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_op), cmocka_unit_test(test_products),
		cmocka_unit_test(test_rows_alone), cmocka_unit_test(test_fast_products), cmocka_unit_test(test_lora),
		cmocka_unit_test(test_lora_grad), cmocka_unit_test(test_move),
		cmocka_unit_test(test_levels), cmocka_unit_test(test_rmsnorm), cmocka_unit_test(test_qk_rope),
		cmocka_unit_test(test_embed), cmocka_unit_test(test_swiglu), cmocka_unit_test(test_dropout),
		cmocka_unit_test(test_sample), cmocka_unit_test(test_sums), cmocka_unit_test(test_adamw), cmocka_unit_test(test_xent),
		cmocka_unit_test(test_attention_grad), cmocka_unit_test(test_attention_prefix), cmocka_unit_test(test_attention_long),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
