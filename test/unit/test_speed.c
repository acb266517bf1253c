/* The estimate of time, part by part: what the probe counts of kernels, what speed.c and op_speed.c make
 * of counts and calls. Tensors have no contents, so the sizes are those of real tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "host/host.h"
#include "num/num.h"
#include "tile/estimate/speed.h"
#include "host/estimate.h"
#include "host/op_speed.h"

/* --- a program that is followed ----------------------------------------------------------------------------- */

struct watched {
	struct tile_engine *engine;
	struct probe p;             /* of the last launch */
	struct op_speed op;         /* of the last call */
	struct estimate estimate;
};

static int launched(void *ctx, const struct tile_launch *l, struct diag *d, struct err *e)
{
	struct watched *w = ctx;
	const struct tile_code *code;
	int rc = tile_compile(w->engine, l, &code, d, e);

	if (rc)
		return rc;
	assert_int_equal(estimate_launch(&w->estimate, code, l, e), 0);
	return probe_launch(code, l, 90, &w->p, e);
}

static void called(void *ctx, const struct host_op_call *c)
{
	struct watched *w = ctx;

	w->op = op_speed(c, w->estimate.gpu, w->estimate.tf32);
	estimate_call(&w->estimate, c);
}

static const char head[] =
	"import torch\nimport triton\nimport triton.language as tl\nimport torch.nn.functional as F\n"
	"def cuda(*s): return torch.empty(s, device='cuda')\n";

static struct watched follow_tuned(const char *text, unsigned tf32, int tune)
{
	struct watched w = { .engine = NULL };
	struct host_options o = { .memory = (size_t)1 << 42, .hollow = 1, .tune = tune, .gpu = "H200", .launch = launched, .launch_ctx = &w, .called = called,
				  .called_ctx = &w };
	struct buf source = BUF_INIT;
	struct py_module m;
	struct host *h;
	struct val ns;
	struct err e = ERR_INIT;
	int rc;

	buf_addf(&source, "%s%s", head, text);
	assert_int_equal(py_parse(&m, buf_str(&source), "test", 0, &e), 0);
	w.engine = tile_engine_new(&(struct tile_options){ .triton_version = 306, .capability = 90 }, &e);
	assert_non_null(w.engine);
	estimate_begin(&w.estimate, tile_gpu_find(STR("H200")), tf32, tune);
	h = host_new(&o, &e);
	assert_non_null(h);
	rc = host_load(h, &m, NULL, 0, &ns, &e);
	if (rc)
		fail_msg("line %d: %s", host_diag(h)->line, host_diag(h)->text);
	host_free(h);
	tile_engine_free(w.engine);
	py_release(&m);
	buf_release(&source);
	return w;
}

static struct watched follow(const char *text, unsigned tf32)
{
	return follow_tuned(text, tf32, 1);
}

static struct probe probe_of(const char *text)
{
	return follow(text, 0).p;
}

static void near(double got, double want)
{
	if (fabs(got - want) > 0.02 * fabs(want) + 1e-9)
		fail_msg("%g, not %g", got, want);
}

/* --- requests -------------------------------------------------------------------------------------------------- */

#define COPY "@triton.jit\ndef k(x, y, n, s, B: tl.constexpr):\n" \
	"    i = tl.program_id(0) * B + tl.arange(0, B)\n    tl.store(y + i, tl.load(x + i * s, mask=i < n), mask=i < n)\n"

static void test_sectors(void **state)
{
	struct probe along = probe_of(COPY "k[(1024,)](cuda(1 << 20), cuda(1 << 20), 1 << 20, 1, B=1024)\n");
	struct probe apart = probe_of(COPY "k[(1024,)](cuda(1 << 25), cuda(1 << 20), 1 << 20, 32, B=1024)\n");

	(void)state;
	near(along.memory.sectors, 2 * 1024 * 4 / 32);
	near(along.memory.lines, 2 * 1024 * 4 / 128);
	near(along.memory.requests, 2 * 1024 / (32 * 4));       /* 16 bytes a thread */
	near(apart.memory.sectors, 1024 + 1024 * 4 / 32);
	near(apart.param[0].unique, 1024);
	near(along.memory.load_bytes, 4096);
	near(along.programs, 1024);
}

/* The middle of a row in memory is not seen by the compiler behind a quotient that it does not know. */
static void test_order(void **state)
{
	static const char image[] = "@triton.jit\ndef k(x, y, W, S, B: tl.constexpr, C: tl.constexpr):\n"
		"    i = tl.arange(0, B)\n    c = tl.arange(0, C)\n    at = (i // W * W + i %% W)[:, None] + c[None, :] * S\n"
		"    tl.store(y + at, tl.load(x + at))\n"
		"k[(64,)](cuda(1 << 20), cuda(1 << 20), %d, 4096, B=64, C=32)\n";
	char text[600];
	struct probe hidden, known;

	(void)state;
	snprintf(text, sizeof text, image, 62);
	hidden = probe_of(text);
	snprintf(text, sizeof text, image, 64);
	known = probe_of(text);
	near(hidden.memory.sectors, 2 * 64 * 32);               /* a lane each */
	near(known.memory.sectors, 2 * 64 * 32 / 8);
}

/* --- loops -------------------------------------------------------------------------------------------------------- */

static void test_loops(void **state)
{
	static const char sum[] = "@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n    acc = tl.zeros((B,), tl.float32)\n%s"
		"    tl.store(y, tl.sum(acc))\nk[(1,)](cuda(1 << 22), cuda(1), 1 << 22, B=1024)\n";
	static const char *const loops[] = {
		"    for i in range(0, n, B):\n        acc += tl.load(x + i + tl.arange(0, B))\n",
		"    i = 0\n    while i < n:\n        acc += tl.load(x + i + tl.arange(0, B))\n        i += B\n",
		"    for j in range(0, 4096, 64):\n        for i in range(0, 64):\n            acc += tl.load(x + (i + j) * B + tl.arange(0, B))\n",
	};
	char text[800];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(loops); i++) {
		struct probe p;

		snprintf(text, sizeof text, sum, loops[i]);
		p = probe_of(text);

		near(p.memory.load_bytes, 4.0 * (1 << 22));
		near(p.load_waits, 4096);
		near(p.param[0].unique, (1 << 22) / 8);
		near(p.syncs, 1);
	}
}

/* A loop that is longer the further back its program is. */
static void test_triangle(void **state)
{
	struct probe p = probe_of("@triton.jit\ndef k(x, y, B: tl.constexpr):\n    acc = tl.zeros((B,), tl.float32)\n"
		"    for i in range(0, tl.program_id(0)):\n        acc += tl.load(x + i * B + tl.arange(0, B))\n    tl.store(y + tl.arange(0, B), acc)\n"
		"k[(1000,)](cuda(1 << 20), cuda(1024), B=1024)\n");

	(void)state;
	near(p.memory.load_bytes, 500 * 4096.0);
}

/* However many turns loops in loops have, the estimate is a number, and soon there. */
static void test_endless(void **state)
{
	struct watched w = follow("@triton.jit\ndef k(x, n):\n    s = 0.0\n    for a in range(-n, n):\n        for b in range(-n, n):\n"
		"            for c in range(-n, n):\n                for d in range(-n, n):\n                    for e in range(-n, n):\n"
		"                        for f in range(-n, n):\n                            s += tl.load(x + f % 7)\n    tl.store(x, s)\n"
		"k[(1,)](cuda(8), (1 << 63) - 1)\n", 0);

	(void)state;
	assert_true(w.estimate.busy > 1e5 && w.estimate.busy < 1e7);
}

/* What was loaded a turn before is not missed again. */
static void test_reuse(void **state)
{
	struct probe p = probe_of("@triton.jit\ndef k(x, y, n, B: tl.constexpr):\n    acc = tl.zeros((B,), tl.float32)\n"
		"    for i in range(0, n):\n        acc += tl.load(x + i // 8 * B + tl.arange(0, B))\n    tl.store(y + tl.arange(0, B), acc)\n"
		"k[(1,)](cuda(1 << 20), cuda(1024), 4, B=1024)\n");

	(void)state;
	near(p.memory.sectors, (4 + 1) * 128);
	near(p.memory.missed, 128);
}

/* --- products ----------------------------------------------------------------------------------------------------- */

#define DOT "@triton.jit\ndef k(a, b, c, K, sk, sn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):\n" \
	"    m = tl.arange(0, BM)\n    n = tl.arange(0, BN)\n    r = tl.arange(0, BK)\n    acc = tl.zeros((BM, BN), tl.float32)\n" \
	"    for i in range(0, K, BK):\n        x = tl.load(a + m[:, None] * K + (i + r)[None, :])\n" \
	"        w = tl.load(b + (i + r)[:, None] * sk + n[None, :] * sn)\n        acc = tl.dot(x, w, acc)\n" \
	"    tl.store(c + m[:, None] * BN + n[None, :], acc)\n"

static void test_dots(void **state)
{
	struct probe transposed = probe_of(DOT "k[(64,)](cuda(128, 4096), cuda(4096, 128), cuda(128, 128), 4096, 128, 1, BM=128, BN=128, BK=32)\n");
	struct probe along = probe_of(DOT "k[(64,)](cuda(128, 4096), cuda(128, 4096), cuda(128, 128), 4096, 1, 4096, BM=128, BN=128, BK=32)\n");
	double flops = 2.0 * 128 * 128 * 4096;
	const struct tile_gpu *g = tile_gpu_find(STR("H200"));
	struct speed_parts fast, slow;

	(void)state;
	near(along.dots.tf32, flops);
	near(along.dots.count, 128);
	near(along.piped_waits, 128);
	near(along.dots.transposed, 0);
	near(transposed.dots.transposed, flops);
	speed_kernel(&along, g, &fast);
	speed_kernel(&transposed, g, &slow);
	assert_true(slow.tensor > 2 * fast.tensor);
}

/* A vector that was loaded and becomes a side of a tile crosses the block; one that is computed does not. */
static void test_converts(void **state)
{
	struct probe p = probe_of("@triton.jit\ndef k(x, w, y, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    acc = tl.zeros((B, B), tl.float32)\n"
		"    for j in range(0, n):\n        acc += tl.load(x + j * B + i)[:, None] * tl.load(w + j * B + i)[None, :]\n"
		"    tl.store(y + i[:, None] * B + i[None, :], acc)\nk[(1,)](cuda(1 << 20), cuda(1 << 20), cuda(4096), 1000, B=64)\n");

	(void)state;
	near(p.converts, 2000);
	near(p.piped_waits, 0);
}

/* --- the GPU ------------------------------------------------------------------------------------------------------- */

static void test_waves(void **state)
{
	const struct tile_gpu *g = tile_gpu_find(STR("H200"));
	struct probe p = { .programs = 132, .warps = 4, .ops = { .f32 = 1e9 } };
	struct speed_parts one, two;

	(void)state;
	speed_kernel(&p, g, &one);
	p.programs = 133;
	speed_kernel(&p, g, &two);
	near(two.vector, 2 * one.vector);
	assert_int_equal(one.resident, 16);
	p.shared_bytes = 100 << 10;
	speed_kernel(&p, g, &two);
	assert_int_equal(two.resident, 2);
	p.warps = 32;
	p.shared_bytes = 0;
	p.registers = 100;
	speed_kernel(&p, g, &two);
	assert_int_equal(two.resident, 1);
}

/* A tensor comes from memory once, however often it is asked for; atomics on one place queue up. */
static void test_memory(void **state)
{
	const struct tile_gpu *g = tile_gpu_find(STR("H200"));
	struct probe p = { .programs = 1000, .warps = 4, .n_params = 1, .param = { { .bytes = 4.2e9, .unique = 1e9 } } };
	struct speed_parts t;

	(void)state;
	speed_kernel(&p, g, &t);
	near(t.memory, 1e-3);
	p.param[0] = (struct probe_param){ .bytes = 4, .atomics = 1000 };
	speed_kernel(&p, g, &t);
	near(t.atomics, 1e6 * speed_rates.atomic_ns * 1e-9);
	p.param[0].bytes = 4e6;
	speed_kernel(&p, g, &t);
	near(t.atomics, speed_rates.atomic_ns * 1e-9);
}

/* The best of what an autotuner tries counts, and its own runs do not. */
static void test_tuning(void **state)
{
	static const char tuned[] = "@triton.autotune(configs=[triton.Config({'B': 16}), triton.Config({'B': 1024})], key=['n'])\n" COPY
		"for _ in range(2): k[lambda m: (triton.cdiv(1 << 26, m['B']),)](cuda(1 << 26), cuda(1 << 26), 1 << 26, 1)\n";
	static const char plain[] = COPY "for _ in range(2): k[(1 << 16,)](cuda(1 << 26), cuda(1 << 26), 1 << 26, 1, B=1024)\n";

	(void)state;
	near(follow(tuned, 0).estimate.busy, follow(plain, 0).estimate.busy);
	/* Where nothing is tuned, the first that fits is run, and no more than that. */
	assert_true(follow_tuned(tuned, 0, 0).estimate.busy > 2 * follow(plain, 0).estimate.busy);
}

/* --- operators ------------------------------------------------------------------------------------------------------- */

static double op_ms(const char *call, unsigned tf32)
{
	char text[400];

	snprintf(text, sizeof text, "x = cuda(4096, 4096)\ny = cuda(4096, 4096)\nz = cuda(1, 4096)\ni = cuda(16, 64, 128, 128)\nw = cuda(128, 64, 3, 3)\n"
		 "d = cuda(64, 1, 3, 3)\nr = %s\n", call);
	return follow(text, tf32).op.seconds * 1e3;
}

static void test_operators(void **state)
{
	double pass = 4096.0 * 4096 * 4 / (4.8e12 * 0.875) * 1e3, product;

	(void)state;
	near(op_ms("x + y", 0), 3 * pass);
	near(op_ms("x + z", 0), 2 * pass);
	near(op_ms("x.mul_(2.0)", 0), 2 * pass);
	near(op_ms("x.clone()", 0), 2 * pass);
	near(op_ms("x.t().contiguous()", 0), 3 * pass);
	near(op_ms("x.sum(dim=1)", 0), pass);
	near(op_ms("torch.zeros(4096, 4096, device='cuda')", 0), pass);
	near(op_ms("torch.logsumexp(x, 1)", 0), 6 * pass);
	product = op_ms("x @ y", 0);
	near(product, 2 * pow(4096, 3) / (66.9e12 * 0.75) * 1e3 + 0.25 * 3 * pass);
	assert_true(op_ms("x @ y", NUM_TF32_MATMUL) < product / 6);
	/* A convolution of one channel each does not come to the tensor cores. */
	assert_true(op_ms("F.conv2d(i, d, groups=64)", 0) * 2 > op_ms("F.conv2d(i, w)", 0));
	assert_true(op_ms("F.max_pool2d(i, 4, 1)", 0) > 3 * op_ms("F.max_pool2d(i, 2, 1)", 0));
	/* Attention with heads too wide for the fused kernels writes its scores down. */
	assert_true(op_ms("F.scaled_dot_product_attention(*[cuda(32, 512, 512)] * 3)", 0) >
		    op_ms("F.scaled_dot_product_attention(*[cuda(64, 512, 256)] * 3)", 0));
	/* Few long rows leave most of the GPU idle. */
	assert_true(op_ms("F.layer_norm(i, (64, 128, 128))", 0) > 10 * op_ms("F.layer_norm(i, (128, 128))", 0));
}

static void test_nothing(void **state)
{
	static const char *const calls[] = { "x.contiguous()", "x.float()", "x.to('cuda')", "x.view(-1)", "x.t()", "x[0]", "torch.empty_like(x)", "x.reshape(64, -1)",
					     "x.unsqueeze(0)", "x.to(torch.float32)" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(calls); i++)
		if (op_ms(calls[i], 0) > 0)
			fail_msg("%s costs something", calls[i]);
	assert_true(op_ms("x.half()", 0) > 0);
}

/* Every call of a program costs its host something, however little there is to do. */
static void test_small(void **state)
{
	struct watched w = follow("x = cuda(8)\nfor _ in range(100): x = x + 1\n", 0), none = follow("x = cuda(8)\n", 0);

	(void)state;
	near(estimate_seconds(&w.estimate), 100 * speed_rates.host_op_us * 1e-6);
	assert_true(estimate_seconds(&none.estimate) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sectors), cmocka_unit_test(test_order), cmocka_unit_test(test_loops), cmocka_unit_test(test_triangle),
		cmocka_unit_test(test_endless), cmocka_unit_test(test_reuse), cmocka_unit_test(test_dots), cmocka_unit_test(test_converts),
		cmocka_unit_test(test_waves), cmocka_unit_test(test_memory), cmocka_unit_test(test_tuning), cmocka_unit_test(test_operators),
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_small),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
