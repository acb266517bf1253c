/* Row kernels: the vectorised inner loops of everything that is not a matrix product.
 * Formulas are with the ops that call them (norm.c, act.c, loss.c). */
#ifndef OPS_CPU_ROW_H
#define OPS_CPU_ROW_H

#include "base/cpu.h"
#include "ops/ops.h"

struct row_stats { float max, sum, weighted; };   /* of exp(x - max): sum, and sum of x times it */

/* Dropout by a hash of the element's index under two keys: y = or += x / (1 - p) or 0. */
struct row_drop {
	float *y;
	const float *x;
	uint32_t k0, k1, below;    /* dropped where the hash is below p 2^32 */
	float keep;                /* 1 / (1 - p) */
	int add;
};

struct row_kernels {
	float (*rms)(float *y, const float *x, const float *w, int n, float eps);          /* returns rstd */
	void (*rms_grad)(float *dx, const float *dy, const float *x, const float *w, float rstd, int n, int add);
	void (*mul3_add)(float *out, const float *a, const float *b, float s, int n);      /* out += a b s */
	void (*add)(float *y, const float *x, size_t n);
	void (*scale)(float *x, size_t n, float s);
	void (*swiglu)(float *h, const float *g, const float *u, int n);
	void (*swiglu_grad)(float *dg, float *du, const float *dh, const float *g, const float *u, int n);
	void (*rotate)(float *x, const float *cos, const float *sin, int half, float sign);
	struct row_stats (*exp_stats)(const float *x, int n);
	void (*xent_grad)(float *x, int n, float lse, float coef);                         /* x = -coef exp(x - lse) */
	void (*dropout)(const struct row_drop *o, size_t begin, size_t end);
	double (*sumsq)(const float *x, size_t n);
	void (*adamw)(float *w, float *m, float *v, const float *g, size_t n, const struct adamw *o);
};

SIMD_DECLARE(const struct row_kernels *, row_kernels, (void))

const struct row_kernels *row_cpu(void);

#endif
