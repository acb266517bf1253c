/* Speed of the numeric kernels against what this machine can do in the same run: elementwise,
 * reductions and row kernels against a copy of the same bytes, products against BLAS alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/reduce.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

typedef int bench_fn(struct num_ctx *c, struct tensor *out, const struct tensor *x, struct err *e);

#define UNARY(name) \
	static int b_##name(struct num_ctx *c, struct tensor *out, const struct tensor *x, struct err *e) \
	{ \
		return num_op1(c, out, NUM_##name, x, e); \
	}
UNARY(relu) UNARY(exp) UNARY(log) UNARY(tanh) UNARY(sigmoid) UNARY(gelu) UNARY(silu) UNARY(erf) UNARY(sin) UNARY(sqrt)

static int b_add(struct num_ctx *c, struct tensor *out, const struct tensor *x, struct err *e)
{
	return num_op2(c, out, NUM_plus, num_t(x), num_t(x), e);
}

static int b_sum_rows(struct num_ctx *c, struct tensor *out, const struct tensor *x, struct err *e)
{
	return num_sum(c, out, x, &(struct num_dims){ .v = { 1 }, .n = 1 }, 0, -1, e);
}

static int b_sum_cols(struct num_ctx *c, struct tensor *out, const struct tensor *x, struct err *e)
{
	return num_sum(c, out, x, &(struct num_dims){ .v = { 0 }, .n = 1 }, 0, -1, e);
}

static int b_argmax(struct num_ctx *c, struct tensor *out, const struct tensor *x, struct err *e)
{
	return num_extreme(c, NULL, out, x, 1, 0, 1, e);
}

static int b_softmax(struct num_ctx *c, struct tensor *out, const struct tensor *x, struct err *e)
{
	return num_softmax(c, out, x, 1, -1, 0, e);
}

static int b_layer_norm(struct num_ctx *c, struct tensor *out, const struct tensor *x, struct err *e)
{
	return num_layer_norm(c, out, x, 1, &x->shape[1], NULL, NULL, 1e-5, 0, e);
}

static int b_cumsum(struct num_ctx *c, struct tensor *out, const struct tensor *x, struct err *e)
{
	return num_scan(c, out, NULL, SCAN_SUM, x, 1, -1, e);
}

static const struct { const char *name; bench_fn *fn; } list[] = {
	{ "relu", b_relu }, { "add", b_add }, { "sqrt", b_sqrt }, { "exp", b_exp }, { "log", b_log }, { "tanh", b_tanh },
	{ "sigmoid", b_sigmoid }, { "gelu", b_gelu }, { "silu", b_silu }, { "erf", b_erf }, { "sin", b_sin },
	{ "sum rows", b_sum_rows }, { "sum columns", b_sum_cols }, { "argmax", b_argmax }, { "softmax", b_softmax },
	{ "layer norm", b_layer_norm }, { "cumsum", b_cumsum },
};

static double best_of(struct num_ctx *c, bench_fn *fn, const struct tensor *x)
{
	double best = 1e30, begin = now();
	struct err e = ERR_INIT;

	for (int i = 0; i < 3 || now() - begin < 50e3; i++) {
		struct tensor y;
		double t = now();

		if (fn(c, &y, x, &e)) {
			fprintf(stderr, "bench_num: %s\n", e.text);
			exit(1);
		}
		t = now() - t;
		best = t < best ? t : best;
		tensor_release(&y);
	}
	return best;
}

int main(void)
{
	struct num_ctx c = NUM_CTX_INIT;
	struct tensor x, copy;
	double base = 1e30;
	size_t n = 64 * 4096;

	num_init();
	if (tensor_new(&x, DT_F32, 2, (int64_t[]){ 64, 4096 }, NULL) || tensor_new(&copy, DT_F32, 2, (int64_t[]){ 64, 4096 }, NULL))
		return 1;
	for (size_t i = 0; i < n; i++)
		((float *)tensor_data(&x))[i] = (float)(i * 2654435761u % 100003) / 25000.0f - 2.0f;
	for (int i = 0; i < 200; i++) {
		double t = now();

		memcpy(tensor_data(&copy), tensor_data(&x), n * 4);
		t = now() - t;
		base = t < base ? t : base;
	}
	printf("%-12s %8.1f us  %6.2f ns/element\n", "copy", base, base * 1e3 / (double)n);
	for (size_t i = 0; i < COUNT_OF(list); i++) {
		double t = best_of(&c, list[i].fn, &x);

		printf("%-12s %8.1f us  %6.2f ns/element  %5.1f x copy\n", list[i].name, t, t * 1e3 / (double)n, t / base);
	}
	tensor_release(&x);
	tensor_release(&copy);
	return 0;
}
