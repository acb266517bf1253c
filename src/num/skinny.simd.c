/* Products of a few rows with a matrix that is stored transposed: a linear layer on a small
 * batch.
 *
 *     c[i, j] = alpha * sum over p of a[i, p] b[j, p] + beta * c[i, j]
 *
 * Each row of b is read once, which is the whole cost; BLAS would first copy b. A sum is kept
 * in LANES partial sums on every instruction set, which are added in double, so the bits do
 * not depend on the CPU. */
#include <string.h>

#include "base/mem.h"
#include "num/skinny.h"

enum { LANES = 16 };
typedef float vec __attribute__((vector_size(LANES * sizeof(float))));

/* An unaligned load. */
static inline void load(vec *v, const float *p)
{
	memcpy(v, p, sizeof *v);
}

/* Adds the lanes in order to `tail`, in double. */
static inline double total(const vec *v, double tail)
{
	for (int i = 0; i < LANES; i++)
		tail += (double)(*v)[i];
	return tail;
}

/* c[i..i+M, j..j+R]: M rows of a by R rows of b. M and R are constants at each call, so the
 * loops unroll. The last k % LANES products are added in double. */
static inline __attribute__((always_inline)) void block(const struct num_gemm *g, int64_t i,
							int64_t j, const int M, const int R)
{
	const float *a = (const float *)g->a + i * g->lda, *b = (const float *)g->b + j * g->ldb;
	float *c = (float *)g->c + i * g->ldc + j;
	vec sum[4][4];
	int64_t p = 0;

	for (int m = 0; m < M; m++)
		for (int r = 0; r < R; r++)
			sum[m][r] = (vec){ 0 };
	for (; p + LANES <= g->k; p += LANES) {
		vec w[4];

		for (int r = 0; r < R; r++)
			load(&w[r], b + r * g->ldb + p);
		for (int m = 0; m < M; m++) {
			vec x;

			load(&x, a + m * g->lda + p);
			for (int r = 0; r < R; r++)
				sum[m][r] += x * w[r];
		}
	}
	for (int m = 0; m < M; m++)
		for (int r = 0; r < R; r++) {
			double tail = 0;

			for (int64_t q = p; q < g->k; q++)
				tail += (double)a[m * g->lda + q] * (double)b[r * g->ldb + q];
			tail = total(&sum[m][r], tail) * g->alpha;
			c[m * g->ldc + r] = (float)(g->beta == 0 ? tail : tail + g->beta * (double)c[m * g->ldc + r]);
		}
}

/* M rows of a by the rows [begin, end) of b, R at a time. */
static inline __attribute__((always_inline)) void rows(const struct num_gemm *g, int64_t i,
						       int64_t begin,
						       int64_t end, const int M, const int R)
{
	int64_t j = begin;

	for (; j + R <= end; j += R)
		block(g, i, j, M, R);
	for (; j < end; j++)
		block(g, i, j, M, 1);
}

void SIMD_FN(num_skinny)(const struct num_gemm *g, int64_t begin, int64_t end)
{
	/* A stretch of about 64 KiB of b stays in the cache while further rows of a pass over
	 * it. */
	int64_t stretch = MAX(4, 65536 / (MAX(g->k, 1) * (int64_t)sizeof(float)) / 4 * 4);

	for (int64_t j = begin; j < end; j += stretch) {
		int64_t to = MIN(end, j + stretch);

		for (int64_t i = 0; i < g->m; i += 2) {
			if (g->m - i >= 2)
				rows(g, i, j, to, 2, 4);
			else
				rows(g, i, j, to, 1, 4);
		}
	}
}
