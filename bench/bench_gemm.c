/* Speed of the matrix products against this machine's FMA peak and OpenBLAS, in one run.
 *
 *   bench_gemm [threads]
 *
 * Peak: independent fused multiply-adds in registers on every thread at once. OpenBLAS runs
 * one call a thread over a cut of the rows. Each figure is the best of several repetitions. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "ops/ops.h"

void openblas_set_num_threads(int n);

enum { REPEAT = 5 };

struct shape { const char *what; int M, n, k; };

static const struct shape shapes[] = {
	{ "small model qkv", 4096, 512, 256 }, { "small model gate+up", 4096, 1536, 256 },
	{ "small model down", 4096, 256, 768 }, { "small model head", 1024, 2048, 256 },
	{ "135 M qkv", 1024, 960, 576 }, { "135 M gate+up", 1024, 3072, 576 }, { "135 M down", 1024, 576, 1536 },
	{ "7 B o", 512, 3584, 3584 }, { "square", 2048, 2048, 2048 },
	{ "decode 128", 128, 1536, 256 }, { "decode 32", 32, 1536, 256 }, { "decode 1", 1, 1536, 256 },
};

static double seconds(int64_t since) { return (double)(clock_ns() - since) * 1e-9; }

#if defined(__x86_64__)
static void peak_run(void *ctx, int me, int count)
{
	long n = *(long *)ctx;

	(void)me;
	(void)count;
	for (long i = 0; i < n; i++) {
#define F(r) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #r "\n\t"
		__asm__ volatile(F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
				 ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11");
#undef F
	}
}

/* GFLOP/s of 12 independent chains of 8 lanes; twice that where AVX-512 has two full units. */
static double peak(struct dev *d)
{
	long n = 20000000;
	double best = 0;

	for (int r = 0; r < REPEAT; r++) {
		int64_t t = clock_ns();
		double s;

		pool_run(d->pool, peak_run, &n);
		s = seconds(t);
		best = MAX(best, (double)n * 12 * 16 * d->threads / s * 1e-9);
	}
	return best;
}
#else
static double peak(struct dev *d) { (void)d; return 0; }
#endif

struct mats { float *x, *w, *y; const struct shape *s; };

static void blas_rows(void *ctx, int me, int count)
{
	struct mats *m = ctx;
	int b = m->s->M * me / count, f = m->s->M * (me + 1) / count, n = m->s->n, k = m->s->k;

	if (f > b)
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, f - b, n, k, 1, m->x + (size_t)b * (size_t)k, k,
			    m->w, k, 0, m->y + (size_t)b * (size_t)n, n);
}

static double rate(const struct shape *s, double sec) { return 2.0 * s->M * s->n * s->k / sec * 1e-9; }

static void fill(float *p, size_t n, struct rng *r)
{
	for (size_t i = 0; i < n; i++)
		p[i] = rng_f32(r) - 0.5f;
}

static void bench(struct dev *d, const struct shape *s, double top)
{
	size_t M = (size_t)s->M, n = (size_t)s->n, k = (size_t)s->k;
	struct mats m = { .x = mem_array(M * k, 4), .w = mem_array(n * k, 4), .y = mem_array(M * n, 4), .s = s };
	float *dw = mem_array(n * k, 4);
	double ours = 0, dx = 0, dwr = 0, blas = 0;
	struct weight w;
	struct rng r;
	int inner = (int)MAX(1, 4e8 / (2.0 * s->M * s->n * s->k));

	rng_init(&r, 1, "bench");
	fill(m.x, M * k, &r);
	fill(m.w, n * k, &r);
	if (weight_init(d, &w, DT_F32, s->n, s->k, NULL))
		exit(2);
	ops_of(d)->weight_pack(d, &w, &(struct weight_part){ .data = m.w, .dt = DT_F32, .n = s->n }, 1);
	for (int i = 0; i < REPEAT; i++) {
		struct linear fwd = { .M = s->M, .x = m.x, .ldx = k, .y = m.y, .ldy = n };
		struct linear bwd = { .M = s->M, .x = m.y, .ldx = n, .y = m.x, .ldy = k };
		int64_t t = clock_ns();

		for (int j = 0; j < inner; j++)
			pool_run(d->pool, blas_rows, &m);
		blas = MAX(blas, rate(s, seconds(t) / inner));
		t = clock_ns();
		for (int j = 0; j < inner; j++)
			ops_of(d)->linear(d, &w, &fwd);
		ours = MAX(ours, rate(s, seconds(t) / inner));
		t = clock_ns();
		for (int j = 0; j < inner; j++)
			ops_of(d)->linear_dw(d, dw, s->n, s->k, m.y, n, m.x, k, s->M, 0);
		dwr = MAX(dwr, rate(s, seconds(t) / inner));
		t = clock_ns();
		for (int j = 0; j < inner; j++)
			ops_of(d)->linear_dx(d, &w, &bwd);
		dx = MAX(dx, rate(s, seconds(t) / inner));
		fill(m.x, M * k, &r);
	}
	printf("%-20s %5d %5d %5d  %6.1f %4.0f%%  %6.1f  %6.1f  %6.1f\n", s->what, s->M, s->n, s->k,
	       ours, 100 * ours / top, dx, dwr, blas);
	weight_release(d, &w);
	mem_free(m.x), mem_free(m.w), mem_free(m.y), mem_free(dw);
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct dev *d = dev_open("cpu", argc > 1 ? atoi(argv[1]) : 0, &e);
	double top;

	if (!d || ops_reserve(d, &(struct ops_sizes){ .widest = 8192, .longest = 64, .D = 64 }, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 2;
	}
	openblas_set_num_threads(1);
	top = peak(d);
	printf("%d threads, FMA peak %.1f GFLOP/s\n", d->threads, top);
	printf("%-20s %5s %5s %5s  %6s %5s  %6s  %6s  %6s\n", "product", "M", "n", "k", "linear", "peak", "dx", "dw", "OpenBLAS");
	for (size_t i = 0; i < COUNT_OF(shapes); i++)
		bench(d, &shapes[i], top);
	dev_close(d);
	return 0;
}
