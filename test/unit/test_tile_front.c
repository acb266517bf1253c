/* The front end and the machine together: small kernels from source to numbers, and the
 * diagnostics of kernels that are wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tile/lint/check_kernel.h"
#include "tile/front/compile.h"
#include "tile/estimate/resource.h"

#define HEAD "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n\n@triton.jit\n"

struct fixture {
	struct tile_engine *g;
	struct py_module m;
	struct check_env env;
	struct err e;
	struct diag d;
};

static void open_source(struct fixture *x, const char *source)
{
	*x = (struct fixture){ 0 };
	x->g = tile_engine_new(&(struct tile_options){ .triton_version = 306, .capability = 90 }, &x->e);
	assert_non_null(x->g);
	assert_int_equal(py_parse(&x->m, str_of(source), "test.py", 0, &x->e), 0);
	assert_int_equal(check_env_init(&x->env, &x->m, NULL, &x->e), 0);
}

static void close_source(struct fixture *x)
{
	check_env_release(&x->env);
	py_release(&x->m);
	tile_engine_free(x->g);
}

static struct tile_val tensor_arg(struct tensor *t, enum dtype dt, int64_t n)
{
	struct err e = ERR_INIT;
	assert_int_equal(tensor_new_zero(t, dt, 1, &n, &e), 0);
	return (struct tile_val){ .kind = TILE_V_TENSOR, .t = *t };
}

static struct tile_val int_arg(int64_t i) { return (struct tile_val){ .kind = TILE_V_INT, .i = i }; }

/* Compiles and runs the first kernel of the source. */
static void run(struct fixture *x, struct tile_val *args, size_t n, int64_t grid)
{
	struct tile_launch l = { .fn = &x->env.fns[x->env.n_fns - 1], .args = args, .n_args = n, .grid = { grid, 1, 1 },
				 .num_warps = 4, .num_stages = 3, .num_ctas = 1 };
	const struct tile_code *code, *again;
	struct tile_cost cost = { 0 };
	int rc = tile_compile(x->g, &l, &code, &x->d, &x->e);

	if (rc)
		fail_msg("compile: %d %s %s", rc, x->d.text, x->e.text);
	rc = tile_run(x->g, code, &l, &(struct tile_run_options){ .mode = TILE_CHECKED }, &cost, &x->d, &x->e);
	if (rc)
		fail_msg("run: %d %s %s", rc, x->d.text, x->e.text);
	assert_int_equal(tile_compile(x->g, &l, &again, &x->d, &x->e), 0);
	assert_ptr_equal(code, again);
}

static void adds_vectors(void **state)
{
	struct tensor a, b, c;
	struct fixture x;
	struct tile_val args[5];

	(void)state;
	open_source(&x, HEAD
		"def add(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):\n"
		"    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
		"    mask = offs < n\n"
		"    a = tl.load(a_ptr + offs, mask=mask, other=0.0)\n"
		"    b = tl.load(b_ptr + offs, mask=mask, other=0.0)\n"
		"    tl.store(c_ptr + offs, a + b, mask=mask)\n");
	args[0] = tensor_arg(&a, DT_F32, 100);
	args[1] = tensor_arg(&b, DT_F32, 100);
	args[2] = tensor_arg(&c, DT_F32, 100);
	args[3] = int_arg(100);
	args[4] = int_arg(32);
	for (int i = 0; i < 100; i++) {
		((float *)tensor_data(&a))[i] = (float)i;
		((float *)tensor_data(&b))[i] = 0.5f;
	}
	run(&x, args, 5, 4);
	for (int i = 0; i < 100; i++)
		assert_true(((float *)tensor_data(&c))[i] == (float)i + 0.5f);
	tensor_release(&a), tensor_release(&b), tensor_release(&c);
	close_source(&x);
}

static void loops_and_branches(void **state)
{
	struct tensor o;
	struct fixture x;
	const int32_t *r, want[8] = { 55, 10 + 7 + 4 + 1, 5, -1, 0, 1, 0, 99 };
	struct tile_val args[3];

	(void)state;
	open_source(&x, HEAD
		"def pick(v, n):\n"
		"    if n > 2:\n"
		"        return v + 1\n"
		"    return v - 1\n"
		"\n@triton.jit\n"
		"def fib(out_ptr, n, K: tl.constexpr):\n"
		"    a = 0\n"
		"    b = 1\n"
		"    for i in range(n):\n"
		"        a, b = b, a + b\n"
		"    tl.store(out_ptr, a)\n"
		"    s = 0\n"
		"    for i in range(n, 0, -3):\n"
		"        s += i\n"
		"    tl.store(out_ptr + 1, s)\n"
		"    i = 0\n"
		"    while i * i < n:\n"
		"        i += 1\n"
		"    tl.store(out_ptr + 2, pick(i, n))\n"
		"    for k in tl.static_range(K):\n"
		"        if k % 2 == 0:\n"
		"            tl.store(out_ptr + 3 + k, pick(k, k))\n"
		"    if n == 11:\n"
		"        return\n"
		"    tl.store(out_ptr + 7, 99)\n");
	args[0] = tensor_arg(&o, DT_I32, 8);
	args[1] = int_arg(10);
	args[2] = int_arg(4);
	run(&x, args, 3, 1);
	r = tensor_data(&o);
	for (int i = 0; i < 8; i++)
		assert_int_equal(r[i], want[i]);
	args[1] = int_arg(11);
	memset(tensor_data(&o), 0, 32);
	run(&x, args, 3, 1);
	assert_int_equal(r[7], 0);
	tensor_release(&o);
	close_source(&x);
}

static void reduces_and_dots(void **state)
{
	enum { N = 16 };
	struct tile_val args[3];
	const float *r;
	float *p;
	struct tensor a, o;
	struct fixture x;

	(void)state;
	open_source(&x, HEAD
		"def k(a_ptr, o_ptr, N: tl.constexpr):\n"
		"    r = tl.arange(0, N)\n"
		"    a = tl.load(a_ptr + r[:, None] * N + r[None, :])\n"
		"    d = tl.dot(a, a.T, input_precision='ieee')\n"
		"    s = tl.softmax(d * 0.001, dim=1, keep_dims=True)\n"
		"    tl.store(o_ptr + r, tl.sum(d, axis=1))\n"
		"    tl.store(o_ptr + N + r, tl.sum(s, axis=1))\n"
		"    tl.store(o_ptr + 2 * N + r, tl.argmax(d, axis=1).to(tl.float32))\n"
		"    tl.store(o_ptr + 3 * N + r, tl.sort(d * -1.0, 1).max(axis=1))\n");
	args[0] = tensor_arg(&a, DT_F32, N * N);
	args[1] = tensor_arg(&o, DT_F32, 4 * N);
	args[2] = int_arg(N);
	p = tensor_data(&a);
	for (int i = 0; i < N * N; i++)
		p[i] = (float)((i * 7) % 11 - 4);
	run(&x, args, 3, 1);
	r = tensor_data(&o);
	for (int i = 0; i < N; i++) {
		double sum = 0, best = -1e30, low = 1e30;
		int at = 0;
		for (int j = 0; j < N; j++) {
			double dot = 0;
			for (int k = 0; k < N; k++)
				dot += (double)p[i * N + k] * p[j * N + k];
			sum += dot;
			if (dot > best)
				best = dot, at = j;
			low = fmin(low, dot);
		}
		assert_true(fabs(r[i] - sum) < 1e-3);
		assert_true(fabs(r[N + i] - 1) < 1e-5);
		assert_int_equal((int)r[2 * N + i], at);
		assert_true(fabs(r[3 * N + i] + low) < 1e-3);
	}
	tensor_release(&a), tensor_release(&o);
	close_source(&x);
}

static void block_pointers(void **state)
{
	struct tensor a, o;
	struct fixture x;
	struct tile_val args[6];
	float *p, want[40] = { 0 };

	(void)state;
	open_source(&x, HEAD
		"def k(a_ptr, o_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):\n"
		"    p = tl.make_block_ptr(a_ptr, (M, N), (N, 1), (0, 0), (BM, BN), (1, 0))\n"
		"    acc = tl.zeros((BM, BN), tl.float32)\n"
		"    for j in range(0, N, BN):\n"
		"        acc += tl.load(p, boundary_check=(0, 1), padding_option='zero')\n"
		"        p = tl.advance(p, (0, BN))\n"
		"    d = tl.make_tensor_descriptor(o_ptr, [M, BN], [BN, 1], [BM, BN])\n"
		"    d.store([0, 0], acc)\n");
	args[0] = tensor_arg(&a, DT_F32, 5 * 20);
	args[1] = tensor_arg(&o, DT_F32, 5 * 8);
	args[2] = int_arg(5);
	args[3] = int_arg(20);
	args[4] = int_arg(8);
	args[5] = int_arg(8);
	p = tensor_data(&a);
	for (int i = 0; i < 100; i++) {
		p[i] = (float)i;
		want[i / 20 * 8 + i % 20 % 8] += (float)i;
	}
	run(&x, args, 6, 1);
	for (int i = 0; i < 40; i++)
		assert_true(((float *)tensor_data(&o))[i] == want[i]);
	tensor_release(&a), tensor_release(&o);
	close_source(&x);
}

static const struct { const char *body; const char *reason; int line; } wrong[] = {
	{ "    y = tl.tanh(tl.load(p))\n", "unknown_tl_name", 7 },
	{ "    x = tl.arange(0, N)\n    y = x[0]\n", "tensor_index", 8 },
	{ "    x = tl.arange(0, N)\n    x[0] = 1\n", "tensor_index", 8 },
	{ "    x = tl.arange(0, n)\n", "not_constexpr", 7 },
	{ "    x = tl.arange(0, 100)\n", "not_power_of_two", 7 },
	{ "    x = tl.program_id(3)\n", "bad_axis", 7 },
	{ "    x = tl.load(n)\n", "not_a_pointer", 7 },
	{ "    for i in range(n):\n        break\n", "unsupported_syntax", 8 },
	{ "    a = 0\n    for i in range(n):\n        a = a * 0.5\n", "loop_type_change", 8 },
	{ "    if n > 1:\n        q = 1\n    tl.store(p, q)\n", "undefined_name", 9 },
	{ "    if n > 1:\n        q = 1\n    else:\n        q = 1.0\n", "branch_type_mismatch", 7 },
	{ "    x = tl.arange(0, 16)[:, None] + tl.arange(0, 8)\n    y = x + tl.arange(0, 4)\n", "shape_mismatch", 8 },
	{ "    x = tl.zeros((16, 16), tl.float32)\n    y = tl.dot(x, x.to(tl.float16))\n", "dot_rules", 8 },
	{ "    x = tl.exp(tl.load(p).to(tl.float16))\n", "bad_dtype", 7 },
	{ "    tl.static_assert(N == 3, 'no')\n", "static_assert", 7 },
	{ "    tl.store(p, tl.arange(0, N))\n", "bad_shape", 7 },
	{ "    while True:\n        pass\n", "bad_condition", 7 },
	{ "    x = 0 < n < 3\n", "unsupported_syntax", 7 },
	{ "    x = tl.sum(tl.arange(0, N), keepdim=True)\n", "bad_argument", 7 },
	{ "    x = undefined\n", "undefined_name", 7 },
	{ "    x = tl.load(p).to(tl.float16)\n    tl.store(p, tl.fdiv(x, x))\n", "bad_dtype", 8 },
	{ "    x = tl.arange(0, N).to(tl.int64)\n    tl.store(p + tl.arange(0, N), tl.histogram(x, N))\n", "bad_dtype", 8 },
	{ "    tl.store(p, tl.load(p, cache_modifier='.cg', eviction_policy='evict_last'))\n", "bad_value", 7 },
	{ "    tl.store(p, 1.0, cache_modifier='.wb', eviction_policy='evict_first')\n", "bad_value", 7 },
	{ "    x = tl.histogram(tl.arange(0, N), -9223372036854775808)\n", "not_power_of_two", 7 },
	{ "    x: tl.constexpr = -((-2) ** 127)\n", "unsupported", 7 },
	{ "    x: tl.constexpr = -(((1 << 126) - 1 + (1 << 126)) ^ -1)\n", "unsupported", 7 },
};

static void refuses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char source[2048];
		struct fixture x;
		struct compile_watch w;
		struct check_launch c;
		struct tile_code *code;
		struct diag unsupported;
		int rc;

		snprintf(source, sizeof source, "%sdef k(p, n, N: tl.constexpr):\n%s", HEAD, wrong[i].body);
		open_source(&x, source);
		assert_int_equal(check_launch_parse(&c, &x.env, &x.env.fns[0], STR("p=*fp32, n=i32, N=16"), &x.e), 0);
		w = (struct compile_watch){ .types = c.types };
		rc = compile_kernel(x.g, &c.l, &w, &code, &x.d, &unsupported, &x.e);
		if (rc != 1 || strcmp(reason_code(x.d.reason), wrong[i].reason) || x.d.line != wrong[i].line)
			fail_msg("case %zu: %d %s line %d: %s%s", i, rc, reason_code(x.d.reason), x.d.line, x.d.text, x.e.text);
		check_launch_release(&c);
		close_source(&x);
	}
}

/* What a combine or map function does beyond numbers is refused or said to be not run. None of it is our failure. */
static const struct { const char *function, *use; int refused; } combined[] = {
	{ "c(a, b):\n    return a + b + tl.program_id(0)", "tl.reduce(x, 0, c)", 0 },
	{ "c(a, b):\n    return a + b + tl.sum(tl.arange(0, 4))", "tl.reduce(x, 0, c)", 0 },
	{ "c(a, b):\n    return a + b + tl.sum(tl.zeros([4], tl.float32))", "tl.reduce(x, 0, c)", 0 },
	{ "c(a, b):\n    tl.device_print('a', a)\n    return a + b", "tl.associative_scan(x, 0, c)", 0 },
	{ "c(a, b):\n    return a", "tl.reduce(p + i, 0, c)", 0 },
	{ "c(a, b):\n    return a + b", "tl.reduce(x, 0, c)", -1 },
	{ "c():\n    return 1.0 + tl.program_id(0)", "tl.map_elementwise(c, x, pack=0)", 1 },
	{ "c(a, b, d, e):\n    return a", "tl.map_elementwise(c, x, pack=4)", 1 },
	{ "c(a, b):\n    return a, b", "tl.map_elementwise(c, tl.sum(x), pack=2)", 1 },
};

static void combines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof combined / sizeof *combined; i++) {
		char source[2048];
		struct fixture x;
		struct compile_watch w;
		struct check_launch c;
		struct tile_code *code = NULL;
		struct diag unsupported = { .reason = REASON_ok };
		int rc;

		snprintf(source, sizeof source, "%sdef %s\n\n@triton.jit\ndef k(p, N: tl.constexpr):\n    i = tl.arange(0, N)\n    x = tl.load(p + i)\n    y = %s\n",
			 HEAD, combined[i].function, combined[i].use);
		open_source(&x, source);
		assert_int_equal(check_launch_parse(&c, &x.env, &x.env.fns[1], STR("p=*fp32, N=16"), &x.e), 0);
		w = (struct compile_watch){ .types = c.types };
		rc = compile_kernel(x.g, &c.l, &w, &code, &x.d, &unsupported, &x.e);
		if (rc != (combined[i].refused > 0) || (unsupported.reason != REASON_ok) != !combined[i].refused)
			fail_msg("case %zu: %d %s%s%s", i, rc, x.d.text, x.e.text, unsupported.text);
		if (!rc && code)
			tile_code_free(code);
		check_launch_release(&c);
		close_source(&x);
	}
}

/* A step over the last integer ends a loop. */
static void long_steps(void **state)
{
	struct fixture x;
	struct tensor o;
	struct tile_val args[1];

	(void)state;
	open_source(&x, HEAD "def k(o):\n    n = 0\n    for i in tl.static_range(0, (1 << 126) - 1 + (1 << 126), 1 << 126):\n        n += 1\n    tl.store(o, n)\n");
	args[0] = tensor_arg(&o, DT_I32, 1);
	run(&x, args, 1, 1);
	assert_int_equal(((int32_t *)tensor_data(&o))[0], 2);
	tensor_release(&o);
	close_source(&x);
}

static const char matmul[] = HEAD
	"def mm(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):\n"
	"    rm = tl.arange(0, M)\n"
	"    rn = tl.arange(0, N)\n"
	"    rk = tl.arange(0, BK)\n"
	"    acc = tl.zeros((M, N), tl.float32)\n"
	"    for k in range(0, K, BK):\n"
	"        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])\n"
	"        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])\n"
	"        acc = tl.dot(x, y, acc)\n"
	"    tl.store(c + rm[:, None] * N + rn[None, :], acc)\n";

/* What Triton 3.6 reported for the same loop ("shared" of its metadata). */
static const struct { const char *signature; int stages, capability; int64_t shared; } measured[] = {
	{ "a=*fp16, b=*fp16, c=*fp16, K=i32, M=128, N=256, BK=64", 3, 90, 147456 },
	{ "a=*fp16, b=*fp16, c=*fp16, K=i32, M=128, N=256, BK=64", 3, 80, 98304 },
	{ "a=*fp32, b=*fp32, c=*fp32, K=i32, M=128, N=128, BK=32", 4, 90, 131072 },
	{ "a=*fp32, b=*fp32, c=*fp32, K=i32, M=64, N=64, BK=32", 2, 80, 16384 },
	{ "a=*bf16, b=*bf16, c=*bf16, K=i32, M=128, N=128, BK=64", 5, 90, 163840 },
	{ "a=*fp16, b=*fp16, c=*fp16, K=i32, M=64, N=64, BK=32", 1, 90, 8192 },
};

static const char attention[] = HEAD
	"def attn(q, k, v, o, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):\n"
	"    rm = tl.program_id(0) * BM + tl.arange(0, BM)\n"
	"    rn = tl.arange(0, BN)\n"
	"    rd = tl.arange(0, D)\n"
	"    x = tl.load(q + rm[:, None] * D + rd[None, :])\n"
	"    m = tl.full((BM,), -float('inf'), tl.float32)\n"
	"    l = tl.zeros((BM,), tl.float32)\n"
	"    acc = tl.zeros((BM, D), tl.float32)\n"
	"    for s in range(0, n, BN):\n"
	"        kk = tl.load(k + (s + rn)[None, :] * D + rd[:, None])\n"
	"        qk = tl.dot(x, kk) * scale\n"
	"        mn = tl.maximum(m, tl.max(qk, 1))\n"
	"        p = tl.exp(qk - mn[:, None])\n"
	"        a = tl.exp(m - mn)\n"
	"        l = l * a + tl.sum(p, 1)\n"
	"        vv = tl.load(v + (s + rn)[:, None] * D + rd[None, :])\n"
	"        acc = acc * a[:, None] + tl.dot(p.to(vv.dtype), vv)\n"
	"        m = mn\n"
	"    tl.store(o + rm[:, None] * D + rd[None, :], acc / l[:, None])\n";

/* Three loops, one after another. */
static const char taps[] = HEAD
	"def taps(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):\n"
	"    m = tl.arange(0, M)\n"
	"    n = tl.arange(0, N)\n"
	"    acc = tl.zeros((M, N), tl.float32)\n"
	"    for t in tl.static_range(3):\n"
	"        for k in range(0, K, BK):\n"
	"            r = k + tl.arange(0, BK)\n"
	"            x = tl.load(a + t + m[:, None] * K + r[None, :])\n"
	"            y = tl.load(b + t + r[:, None] * N + n[None, :])\n"
	"            acc += tl.dot(x, y)\n"
	"    tl.store(c + m[:, None] * N + n[None, :], acc)\n";

/* A scan along the rows' axis: warps pass on their sums through shared memory. */
static const char scan[] = HEAD
	"def scan(x, y, C, M: tl.constexpr, N: tl.constexpr):\n"
	"    r = tl.arange(0, M)[:, None]\n"
	"    c = tl.program_id(0) * N + tl.arange(0, N)[None, :]\n"
	"    m = (r < C) & (c < C)\n"
	"    tl.store(y + r * C + c, tl.cumsum(tl.load(x + r * C + c, mask=m, other=0.0), 0), mask=m)\n";

/* What real Triton allots on each capability. */
static const struct { const char *source, *signature; int64_t on_90, on_80; } allotted[] = {
	{ attention, "q=*fp16, k=*fp16, v=*fp16, o=*fp16, n=i32, scale=fp32, BM=128, BN=64, D=64", 65536, 49152 },
	{ taps, "a=*fp32, b=*fp32, c=*fp32, K=i32, M=128, N=64, BK=32", 73728, 49152 },
	{ scan, "x=*fp32, y=*fp32, C=i32, M=64, N=256", 65536, 65536 },
	{ scan, "x=*fp16, y=*fp16, C=i32, M=32, N=64", 1024, 1024 },
	{ scan, "x=*fp32, y=*fp32, C=i32, M=16, N=2048", 0, 0 },
};

static void estimates_shared_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof allotted / sizeof *allotted; i++) {
		struct fixture x;
		struct check_launch c;
		struct tile_code *code;
		struct diag unsupported;
		struct resources r;

		open_source(&x, allotted[i].source);
		assert_int_equal(check_launch_parse(&c, &x.env, &x.env.fns[0], str_of(allotted[i].signature), &x.e), 0);
		/* numbers that Triton knows to be multiples of 16 */
		for (size_t k = 0; k < c.l.n_args; k++)
			if (c.l.args[k].kind == TILE_V_INT && !c.l.args[k].is_constexpr)
				((struct tile_val *)c.l.args)[k].i = 4096;
		assert_int_equal(compile_kernel(x.g, &c.l, &(struct compile_watch){ .types = c.types }, &code, &x.d, &unsupported, &x.e), 0);
		resource_estimate(code, &c.l, 90, &r);
		assert_int_equal(r.shared_bytes, allotted[i].on_90);
		resource_estimate(code, &c.l, 80, &r);
		assert_int_equal(r.shared_bytes, allotted[i].on_80);
		tile_code_free(code);
		check_launch_release(&c);
		close_source(&x);
	}
}

static void estimates_resources(void **state)
{
	struct fixture x;

	(void)state;
	open_source(&x, matmul);
	for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
		struct check_launch c;
		struct tile_code *code;
		struct diag unsupported, d;
		struct resources r;
		struct touched t;
		struct compile_watch w;
		int over;

		assert_int_equal(check_launch_parse(&c, &x.env, &x.env.fns[0], str_of(measured[i].signature), &x.e), 0);
		w = (struct compile_watch){ .types = c.types };
		c.l.num_stages = measured[i].stages;
		assert_int_equal(compile_kernel(x.g, &c.l, &w, &code, &x.d, &unsupported, &x.e), 0);
		resource_estimate(code, &c.l, measured[i].capability, &r);
		assert_int_equal(r.shared_bytes, measured[i].shared);
		assert_int_equal(resource_touched(code, &t, &x.e), 0);
		assert_int_equal(t.read[0], 3);
		assert_int_equal(t.written[0], 4);
		c.l.num_stages = 8;
		d = (struct diag){ 0 };
		over = measured[i].shared / measured[i].stages * 8 > 232448;
		if (measured[i].capability == 90)
			assert_int_equal(resource_check(code, &c.l, tile_gpu_find(STR("H100")), &d), over);
		c.l.grid[1] = 70000;
		d = (struct diag){ 0 };
		assert_int_equal(resource_check(code, &c.l, tile_gpu_find(STR("A100")), &d), 1);
		assert_int_equal(d.reason, REASON_bad_grid);
		tile_code_free(code);
		check_launch_release(&c);
	}
	assert_null(tile_gpu_find(STR("Voodoo")));
	close_source(&x);
}

static const struct { int version; const char *body; int refused; } history[] = {
	{ 306, "    b = tl.make_block_ptr(p, (n,), (1,), (0,), (N,), (0,))\n    tl.store(b, tl.load(b))\n", 0 },
	{ 308, "    b = tl.make_block_ptr(p, (n,), (1,), (0,), (N,), (0,))\n    tl.store(b, tl.load(b))\n", 1 },
	{ 303, "    tl.store(p, (n > 1) or (n < 3) or (n == 7))\n", 1 },
	{ 304, "    tl.store(p, (n > 1) or (n < 3) or (n == 7))\n", 0 },
	{ 304, "    if N == 3:\n        tl.nowhere(n)\n", 1 },
	{ 305, "    if N == 3:\n        tl.nowhere(n)\n", 0 },
	{ 304, "    tl.store(p, tl.sum(tl.dot(tl.zeros((8, 16), tl.float16), tl.zeros((16, 8), tl.float16))))\n", 1 },
	{ 306, "    tl.store(p, tl.sum(tl.dot(tl.zeros((8, 16), tl.float16), tl.zeros((16, 8), tl.float16))))\n", 0 },
	{ 303, "    d = tl.make_tensor_descriptor(p, [n], [1], [N])\n", 1 },
	{ 304, "    d = tl.make_tensor_descriptor(p, [n], [1], [N])\n", 0 },
	{ 304, "    d = tl.make_tensor_descriptor(p, [n], [1], [N], padding_option='nan')\n", 1 },
	{ 305, "    d = tl.make_tensor_descriptor(p, [n], [1], [N], padding_option='nan')\n", 0 },
	{ 302, "    i = tl.arange(0, N)\n    tl.store(p + i, tl.gather(i, i, 0))\n", 1 },
	{ 303, "    i = tl.arange(0, N)\n    tl.store(p + i, tl.gather(i, i, 0))\n", 0 },
	{ 302, "    tl.store(p, tl.sum(tl.arange(0, N), 0, dtype=tl.int64))\n", 1 },
	{ 303, "    tl.store(p, tl.sum(tl.arange(0, N), 0, dtype=tl.int64))\n", 0 },
	{ 302, "    tl.store(p, tl.arange(0, N).sum(0, dtype=tl.int64))\n", 1 },
	{ 303, "    i = tl.arange(0, N)\n    tl.store(p + i, tl.cumsum(i, 0, dtype=tl.int64))\n", 1 },
	{ 304, "    i = tl.arange(0, N)\n    tl.store(p + i, tl.cumsum(i, 0, dtype=tl.int64))\n", 0 },
	{ 303, "    i = tl.arange(0, 8)\n    tl.store(p + i, tl.topk(tl.arange(0, N), 8))\n", 1 },
	{ 304, "    i = tl.arange(0, 8)\n    tl.store(p + i, tl.topk(tl.arange(0, N), 8))\n", 0 },
	{ 303, "    i = tl.arange(0, N)\n    tl.store(p + i, tl.histogram(i, N, mask=i < n))\n", 1 },
	{ 304, "    i = tl.arange(0, N)\n    tl.store(p + i, tl.histogram(i, N, mask=i < n))\n", 0 },
	{ 303, "    tl.store(p, tl.reduce_or(tl.arange(0, N), 0))\n", 1 },
	{ 304, "    tl.store(p, tl.reduce_or(tl.arange(0, N), 0))\n", 0 },
	{ 302, "    for i in tl.range(0, n, flatten=True):\n        tl.store(p + i, 1)\n", 1 },
	{ 303, "    for i in tl.range(0, n, flatten=True):\n        tl.store(p + i, 1)\n", 0 },
	{ 304, "    for i in tl.range(0, n, disable_licm=True):\n        tl.store(p + i, 1)\n", 1 },
	{ 305, "    for i in tl.range(0, n, disable_licm=True):\n        tl.store(p + i, 1)\n", 0 },
	{ 305, "    x = tl.zeros((N, N), tl.float32)\n    tl.store(p, tl.sum(tl.dot(x, x, input_precision='bf16x3')))\n", 1 },
	{ 306, "    x = tl.zeros((N, N), tl.float32)\n    tl.store(p, tl.sum(tl.dot(x, x, input_precision='bf16x3')))\n", 0 },
	{ 305, "    tl.store(p, tl.sub(n, 1))\n", 1 },
	{ 306, "    tl.store(p, tl.sub(n, 1))\n", 0 },
	{ 302, "    tl.store(p, tl.rand(n, 3 + tl.program_id(0)))\n", 0 },
	{ 306, "    i = tl.arange(0, N)\n    tl.store(p + i, tl.squeeze(tl.unsqueeze(i, 0), 0))\n", 1 },
	{ 307, "    i = tl.arange(0, N)\n    tl.store(p + i, tl.squeeze(tl.unsqueeze(i, 0), 0))\n", 0 },
	{ 306, "    i = tl.arange(0, N)\n    tl.store(p + tl.arange(0, 32), tl.cat(i, i))\n", 1 },
	{ 307, "    i = tl.arange(0, N)\n    tl.store(p + tl.arange(0, 32), tl.cat(i, i, dim=0))\n", 0 },
	{ 307, "    i = tl.arange(0, 8)\n    tl.store(p + i, tl.topk(tl.arange(0, N), 8, descending=False))\n", 1 },
	{ 308, "    i = tl.arange(0, 8)\n    tl.store(p + i, tl.topk(tl.arange(0, N), 8, descending=False))\n", 0 },
	{ 307, "    x = tl.zeros((N, 8), tl.float32)\n    tl.store(p, tl.sum(tl.dot(x, tl.trans(x))))\n", 1 },
	{ 308, "    x = tl.zeros((N, 8), tl.float32)\n    tl.store(p, tl.sum(tl.dot(x, tl.trans(x))))\n", 0 },
	{ 308, "    q = p.to(tl.pointer_type(tl.int32))\n    tl.store(p, tl.atomic_poll(q, 3))\n", 0 },
};

static void follows_versions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof history / sizeof *history; i++) {
		char source[1024];
		struct fixture x;
		int rc;
		struct check_launch c;
		struct tile_code *code;
		struct diag unsupported;

		snprintf(source, sizeof source, "%sdef k(p, n, N: tl.constexpr):\n%s", HEAD, history[i].body);
		open_source(&x, source);
		tile_engine_free(x.g);
		x.g = tile_engine_new(&(struct tile_options){ .triton_version = history[i].version, .capability = 90 }, &x.e);
		assert_int_equal(check_launch_parse(&c, &x.env, &x.env.fns[0], STR("p=*fp32, n=i32, N=16"), &x.e), 0);
		rc = compile_kernel(x.g, &c.l, &(struct compile_watch){ .types = c.types }, &code, &x.d, &unsupported, &x.e);
		if (rc != history[i].refused)
			fail_msg("case %zu: %d %s%s", i, rc, x.d.text, x.e.text);
		tile_code_free(code);
		check_launch_release(&c);
		close_source(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_vectors), cmocka_unit_test(loops_and_branches), cmocka_unit_test(reduces_and_dots),
		cmocka_unit_test(block_pointers), cmocka_unit_test(refuses), cmocka_unit_test(combines), cmocka_unit_test(long_steps),
		cmocka_unit_test(estimates_resources), cmocka_unit_test(estimates_shared_memory),
		cmocka_unit_test(follows_versions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
