/* Time from source text to runnable tile code, for kernels of the usual kinds: parse of the
 * file with that one kernel, and compile under one specialisation, nothing cached. CPU time,
 * median of many repetitions; the limit is 200 microseconds for both together. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tile/lint/check_kernel.h"
#include "tile/front/compile.h"

enum { REPEAT = 301 };

#define HEAD "import torch\nimport triton\nimport triton.language as tl\n\n@triton.jit\n"

static const struct { const char *name, *signature, *source; } kernels[] = {
	{ "pointwise", "x_ptr=*fp32, b_ptr=*fp32, o_ptr=*fp32, n=i32, cols=i32, BLOCK=1024", HEAD
		"def gelu(x_ptr, b_ptr, o_ptr, n, cols, BLOCK: tl.constexpr):\n"
		"    pid = tl.program_id(0)\n"
		"    offs = pid * BLOCK + tl.arange(0, BLOCK)\n"
		"    mask = offs < n\n"
		"    x = tl.load(x_ptr + offs, mask=mask, other=0.0)\n"
		"    b = tl.load(b_ptr + offs % cols, mask=mask, other=0.0)\n"
		"    y = x + b\n"
		"    y = 0.5 * y * (1.0 + tl.erf(y * 0.7071067811865476))\n"
		"    tl.store(o_ptr + offs, y, mask=mask)\n" },
	{ "softmax", "x_ptr=*fp32, o_ptr=*fp32, stride=i32, n=i32, BLOCK=1024", HEAD
		"def softmax(x_ptr, o_ptr, stride, n, BLOCK: tl.constexpr):\n"
		"    row = tl.program_id(0)\n"
		"    cols = tl.arange(0, BLOCK)\n"
		"    x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=-float('inf'))\n"
		"    x = x - tl.max(x, axis=0)\n"
		"    e = tl.exp(x)\n"
		"    tl.store(o_ptr + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n)\n" },
	{ "layer norm", "x_ptr=*fp16, w_ptr=*fp16, b_ptr=*fp16, o_ptr=*fp16, n=i32, eps=fp32, BLOCK=512", HEAD
		"def norm(x_ptr, w_ptr, b_ptr, o_ptr, n, eps, BLOCK: tl.constexpr):\n"
		"    row = tl.program_id(0)\n"
		"    x_ptr += row * n\n"
		"    o_ptr += row * n\n"
		"    mean = tl.zeros((BLOCK,), dtype=tl.float32)\n"
		"    for off in range(0, n, BLOCK):\n"
		"        cols = off + tl.arange(0, BLOCK)\n"
		"        mean += tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)\n"
		"    m = tl.sum(mean, axis=0) / n\n"
		"    var = tl.zeros((BLOCK,), dtype=tl.float32)\n"
		"    for off in range(0, n, BLOCK):\n"
		"        cols = off + tl.arange(0, BLOCK)\n"
		"        x = tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)\n"
		"        x = tl.where(cols < n, x - m, 0.0)\n"
		"        var += x * x\n"
		"    r = 1 / tl.sqrt(tl.sum(var, axis=0) / n + eps)\n"
		"    for off in range(0, n, BLOCK):\n"
		"        cols = off + tl.arange(0, BLOCK)\n"
		"        mask = cols < n\n"
		"        w = tl.load(w_ptr + cols, mask=mask)\n"
		"        b = tl.load(b_ptr + cols, mask=mask)\n"
		"        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)\n"
		"        tl.store(o_ptr + cols, (x - m) * r * w + b, mask=mask)\n" },
	{ "matmul", "a=*fp16, b=*fp16, c=*fp16, M=i32, N=i32, K=i32, sa=i32, sb=i32, sc=i32, BM=64, BN=64, BK=32, G=8", HEAD
		"def matmul(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):\n"
		"    pid = tl.program_id(axis=0)\n"
		"    num_m = tl.cdiv(M, BM)\n"
		"    num_n = tl.cdiv(N, BN)\n"
		"    width = G * num_n\n"
		"    first = pid // width * G\n"
		"    size = min(num_m - first, G)\n"
		"    pid_m = first + (pid % width) % size\n"
		"    pid_n = (pid % width) // size\n"
		"    rm = (pid_m * BM + tl.arange(0, BM)) % M\n"
		"    rn = (pid_n * BN + tl.arange(0, BN)) % N\n"
		"    rk = tl.arange(0, BK)\n"
		"    ap = a + rm[:, None] * sa + rk[None, :]\n"
		"    bp = b + rk[:, None] * sb + rn[None, :]\n"
		"    acc = tl.zeros((BM, BN), dtype=tl.float32)\n"
		"    for k in range(0, tl.cdiv(K, BK)):\n"
		"        x = tl.load(ap, mask=rk[None, :] < K - k * BK, other=0.0)\n"
		"        y = tl.load(bp, mask=rk[:, None] < K - k * BK, other=0.0)\n"
		"        acc = tl.dot(x, y, acc)\n"
		"        ap += BK\n"
		"        bp += BK * sb\n"
		"    om = pid_m * BM + tl.arange(0, BM)\n"
		"    on = pid_n * BN + tl.arange(0, BN)\n"
		"    cp = c + sc * om[:, None] + on[None, :]\n"
		"    tl.store(cp, acc.to(tl.float16), mask=(om[:, None] < M) & (on[None, :] < N))\n" },
};

static double cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* One repetition: microseconds of the parse and of the compile. */
static int once(struct tile_engine *g, size_t k, double *parse, double *compile, struct err *e)
{
	struct py_module m;
	struct check_env env;
	struct check_launch c;
	struct tile_code *code = NULL;
	struct diag d, unsupported;
	double t0 = cpu_us();
	double t1, t2;
	int rc;

	if (py_parse(&m, str_of(kernels[k].source), "bench.py", 0, e))
		return -1;
	t1 = cpu_us();
	rc = check_env_init(&env, &m, NULL, e) || check_launch_parse(&c, &env, &env.fns[0], str_of(kernels[k].signature), e);
	t2 = cpu_us();
	if (!rc)
		rc = compile_kernel(g, &c.l, &(struct compile_watch){ .types = c.types }, &code, &d, &unsupported, e);
	*parse = t1 - t0;
	*compile = cpu_us() - t2;
	if (rc > 0)
		rc = err_set(e, ERR_STATE, "%s", d.text);
	tile_code_free(code);
	check_launch_release(&c);
	check_env_release(&env);
	py_release(&m);
	return rc;
}

int main(void)
{
	struct err e = ERR_INIT;
	struct tile_engine *g = tile_engine_new(&(struct tile_options){ .triton_version = 306, .capability = 90 }, &e);
	double parse[REPEAT], compile[REPEAT];
	int slow = 0;
	for (size_t k = 0; g && k < sizeof kernels / sizeof *kernels; k++) {
		double both;

		for (int i = 0; i < REPEAT; i++)
			if (once(g, k, &parse[i], &compile[i], &e)) {
				fprintf(stderr, "bench_tile_front: %s\n", e.text);
				return 1;
			}
		qsort(parse, REPEAT, sizeof *parse, ascending);
		qsort(compile, REPEAT, sizeof *compile, ascending);
		both = parse[REPEAT / 2] + compile[REPEAT / 2];
		printf("%-12s parse %6.1f us   compile %6.1f us   together %6.1f us\n", kernels[k].name, parse[REPEAT / 2], compile[REPEAT / 2], both);
		slow |= both > 200;
	}
	tile_engine_free(g);
	return !g || slow;
}
