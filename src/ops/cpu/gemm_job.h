/* One matrix product C (+)= A B as the driver (gemm.c) and the packing (gemm_pack.c) see it. */
#ifndef OPS_CPU_GEMM_JOB_H
#define OPS_CPU_GEMM_JOB_H

#include "ops/cpu/gemm.h"
#include "ops/ops.h"

struct gemm_job {
	struct dev *d;
	const struct gemm_kernels *k;
	int M, N, K;
	const float *a;        /* element (m, k) at a[m * a_m + k * a_k]; one of the two is 1 */
	size_t a_m, a_k;
	const struct weight *w;
	int transposed;        /* B is w as [n, k] */
	const float *rows;     /* or B is rows [K, N] */
	size_t ldrows;
	float *c;
	size_t ldc;
	int accumulate;
	int fast;              /* operands as bf16 pairs */
	const struct linear *tail;   /* bias and add, or NULL */
};

size_t gemm_panel_bytes(const struct weight *w, int nr);
/* Rows [k0, k0 + kc) of panel p of the weight, widened to floats: borrowed or in `tmp`. k0 is
 * even. */
const float *gemm_panel_f32(const struct gemm_job *j, int p, size_t k0, size_t kc, float *tmp);
/* Packs rows [k0, k0 + kc) of panel p into `out` (floats or pairs), for a B that is packed during
 * the product. `tmp` has room for kc + nr rows of nr floats. */
void gemm_pack_b(const struct gemm_job *j, int p, size_t k0, size_t kc, void *out, float *tmp);
/* Rows [m0, m0 + rows) of A as tiles of mr rows, each [kc][height] (floats or pairs). */
void gemm_pack_a(const struct gemm_job *j, size_t m0, size_t rows, size_t k0, size_t kc, void *out);

#endif
