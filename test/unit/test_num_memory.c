/* The k-th allocation fails, for every k: each operator must say so and give everything back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/sys.h"
#include "num/nn.h"
#include "num/random.h"
#include "num/reduce.h"
#include "num/shape.h"

static long countdown, live;

static void *failing_alloc(size_t n)
{
	void *p = countdown-- == 0 ? NULL : sys_real()->alloc(n);

	live += p != NULL;
	return p;
}

static void counting_release(void *p)
{
	live -= p != NULL;
	sys_real()->release(p);
}

struct inputs { struct tensor x, y, m, img, w, w1, v, ix, rows, b; };

typedef int op_fn(struct num_ctx *c, const struct inputs *in, struct tensor *out, struct err *e);

#define OP(name, expr) \
	static int op_##name(struct num_ctx *c, const struct inputs *in, struct tensor *out, struct err *e) \
	{ \
		(void)c; \
		return expr; \
	}
#define DIMS(...) &(struct num_dims){ .v = { __VA_ARGS__ }, .n = 1 }

static const struct num_conv conv = { .nd = 2, .stride = { 1, 2 }, .lo = { 1, 1 }, .hi = { 1, 1 }, .dilation = { 1, 1 }, .groups = 1 };
static const struct num_pool window = { .nd = 2, .kernel = { 2, 2 }, .stride = { 2, 2 }, .dilation = { 1, 1, 1 } };
static const struct num_nll nll = { .how = REDUCE_MEAN, .ignore = -100 };
static const struct num_unfold unfold = { { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 } };

OP(add, num_op2(c, out, NUM_plus, num_t(&in->x), num_t(&in->y), e))
OP(pow, num_pow(c, out, num_t(&in->x), num_f(1.5), e))
OP(sum, num_sum(c, out, &in->x, DIMS(0), 0, -1, e))
OP(var, num_var(c, out, NULL, &in->x, DIMS(1), 0, 1, 1, e))
OP(norm, num_norm(c, out, &in->x, 3, DIMS(1), 0, e))
OP(logsumexp, num_logsumexp(c, out, &in->x, DIMS(1), 0, e))
OP(extreme, num_extreme(c, out, NULL, &in->x, 1, 0, 1, e))
OP(scan, num_scan(c, out, NULL, SCAN_SUM, &in->x, 1, -1, e))
OP(softmax, num_softmax(c, out, &in->v, 1, -1, 0, e))
OP(matmul, num_matmul(c, out, &in->x, &in->m, e))
OP(linear, num_linear(c, out, &in->x, &in->y, NULL, e))
OP(addmm, num_addmm(c, out, &in->b, &in->x, &in->m, 2, 3, e))
OP(einsum, num_einsum(c, out, STR("ij,jk,k->i"), (const struct tensor *[]){ &in->x, &in->m, &in->rows }, 3, e))
OP(qr, (out->st = NULL, ({ struct tensor r; int rc = num_qr(c, out, &r, &in->x, e); if (!rc) tensor_release(&r); rc; })))
OP(conv, num_conv(c, out, &in->img, &in->w, NULL, &conv, e))
OP(conv1, num_conv(c, out, &in->img, &in->w1, NULL, &(struct num_conv){ .nd = 2, .stride = { 1, 1 }, .dilation = { 1, 1 }, .groups = 1 }, e))
OP(convt, num_conv_transpose(c, out, &in->img, &in->w, NULL, &conv, e))
OP(max_pool, num_max_pool(c, out, NULL, &in->img, &window, e))
OP(adaptive, num_adaptive_pool(c, out, NULL, &in->img, 2, (int64_t[]){ 3, 3 }, 0, e))
OP(batch_norm, num_batch_norm(c, out, &in->img, &(struct num_batch_norm){ .training = 1, .eps = 1e-5 }, e))
OP(group_norm, num_group_norm(c, out, &in->img, 2, NULL, NULL, 1e-5, e))
OP(layer_norm, num_layer_norm(c, out, &in->v, 1, &in->v.shape[1], NULL, NULL, 1e-5, 0, e))
OP(lrn, num_local_response_norm(c, out, &in->img, 3, 1e-4, 0.75, 1, e))
OP(normalize, num_normalize(c, out, &in->x, 2, 1, 1e-12, e))
OP(attention, num_attention(c, out, &in->x, &in->x, &in->x, &(struct num_attention){ .causal = 1 }, e))
OP(cross_entropy, num_cross_entropy(c, out, &in->x, &in->ix, &nll, e))
OP(index, num_index(c, out, &in->x, &(struct num_index){ .v = { &in->ix }, .n = 1 }, e))
OP(gather, num_index_select(c, out, &in->x, 0, &in->ix, e))
OP(nonzero, num_nonzero(c, out, &in->x, e))
OP(cat, num_cat(c, out, (const struct tensor *[]){ &in->x, &in->x }, 2, 1, e))
OP(stack, num_stack(c, out, (const struct tensor *[]){ &in->x, &in->x }, 2, 1, e))
OP(roll, num_roll(c, out, &in->x, 2, (int64_t[]){ 1, 2 }, (int[]){ 0, 1 }, e))
OP(repeat, num_repeat(c, out, &in->x, 2, (int64_t[]){ 2, 2 }, e))
OP(interleave, num_repeat_interleave(c, out, &in->x, &in->ix, 0, e))
OP(tri, num_tri(c, out, &in->v, 0, 1, e))
OP(diag, num_diag(c, out, &in->rows, 1, e))
OP(pad, num_pad(c, out, &in->img, 2, (int64_t[]){ 1, 2, 2, 1 }, PAD_REFLECT, 0, e))
OP(pad0, num_pad(c, out, &in->img, 2, (int64_t[]){ 1, 2, 2, 1 }, PAD_CONSTANT, 0, e))
OP(unfold, num_unfold(c, out, &in->img, &unfold, e))
OP(kth, (out->st = NULL, ({ struct tensor k; int rc = num_kth(c, out, &k, &in->x, 2, 1, 0, e); if (!rc) tensor_release(&k); rc; })))
OP(unique, num_unique(c, out, NULL, NULL, &in->ix, e))
OP(one_hot, num_one_hot(c, out, &in->ix, -1, e))
OP(cdist, num_cdist(c, out, &in->x, &in->y, 2, e))
OP(interpolate, num_interpolate(c, out, &in->img, 2, (int64_t[]){ 9, 9 }, NULL, INTERP_LINEAR, 0, e))
OP(reshape, num_reshape(c, out, &in->v, 1, (int64_t[]){ -1 }, e))

static op_fn *const list[] = {
	op_add, op_pow, op_sum, op_var, op_norm, op_logsumexp, op_extreme, op_scan, op_softmax, op_matmul, op_linear, op_addmm,
	op_einsum, op_qr, op_conv, op_conv1, op_convt, op_max_pool, op_adaptive, op_batch_norm, op_group_norm, op_layer_norm, op_lrn,
	op_normalize, op_attention, op_cross_entropy, op_index, op_gather, op_nonzero, op_cat, op_stack, op_roll, op_repeat,
	op_interleave, op_tri, op_diag, op_pad, op_pad0, op_unfold, op_kth, op_unique, op_one_hot, op_cdist, op_interpolate, op_reshape,
};

static void make(struct tensor *t, struct num_rng *r, enum dtype dt, int ndim, const int64_t *shape)
{
	assert_int_equal(tensor_new(t, dt, ndim, shape, NULL), 0);
	assert_int_equal(dt == DT_I64 ? num_randint(r, t, 0, 5, NULL) : num_uniform(r, t, dt, -1, 1, NULL), 0);
}

static void test_every_allocation(void **state)
{
	struct inputs in;
	struct num_rng r;

	(void)state;
	num_init();
	num_rng_seed(&r, 1);
	make(&in.x, &r, DT_F32, 2, (int64_t[]){ 5, 6 });
	make(&in.y, &r, DT_F32, 2, (int64_t[]){ 5, 6 });
	make(&in.m, &r, DT_F32, 2, (int64_t[]){ 6, 4 });
	make(&in.b, &r, DT_F32, 1, (int64_t[]){ 4 });
	make(&in.rows, &r, DT_F32, 1, (int64_t[]){ 4 });
	make(&in.img, &r, DT_F32, 4, (int64_t[]){ 2, 4, 7, 8 });
	make(&in.w, &r, DT_F32, 4, (int64_t[]){ 4, 4, 3, 3 });
	make(&in.w1, &r, DT_F32, 4, (int64_t[]){ 3, 4, 1, 1 });
	make(&in.ix, &r, DT_I64, 1, (int64_t[]){ 5 });
	assert_int_equal(tensor_transpose(&in.v, &in.m, 0, 1, NULL), 0);       /* not dense */
	sys.alloc = failing_alloc;
	sys.release = counting_release;
	for (size_t k = 0; k < COUNT_OF(list); k++) {
		int rc = -1;

		for (long fail = 0; rc; fail++) {
			struct num_ctx c = NUM_CTX_INIT;
			struct tensor out;
			struct err e = ERR_INIT;

			countdown = fail;
			live = 0;
			rc = list[k](&c, &in, &out, &e);
			if (!rc)
				tensor_release(&out);
			else if (e.code != ERR_NOMEM)
				fail_msg("operator %zu, allocation %ld: error %d '%s'", k, fail, (int)e.code, e.text);
			if (live)
				fail_msg("operator %zu, allocation %ld: %ld pieces of memory left", k, fail, live);
			assert_true(fail < 200);
		}
	}
	sys.alloc = sys_real()->alloc;
	sys.release = sys_real()->release;
	for (struct tensor *t = &in.x; t <= &in.b; t++)
		tensor_release(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_allocation) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
