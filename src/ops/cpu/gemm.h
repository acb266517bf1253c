/* Matrix products on the CPU: the packed formats and the tile kernels they feed.
 *
 * Every product is cut into tiles of at most MR rows and NR columns, computed in registers as a sum
 * of outer products in the order of k. Element (m, n) is the sum over blocks of GEMM_KC of k, in
 * their order, of
 *     fma(a[m, last], b[last, n], ... fma(a[m, first], b[first, n], 0))
 * The chains are short because the error of a sum grows with the length of its chain. The formula
 * does not depend on the tile's height. So a row does not depend on its neighbours, on threads, or
 * on the number of blocks done at a time. A product that accumulates into C is one chain that
 * starts with C, so that gradients do not depend on where a batch was cut.
 *
 * Packed B ("panels"): panel p holds columns [p NR, (p+1) NR), k-major: [K][NR], columns past the
 * end zero. F32: floats. BF16: [K/2][NR][2], pairs of k side by side, K padded to even with zero.
 * I8: [K][NR] with a scale per column.
 *
 * Fast products (both operands rounded to bf16, sums in fp32) take A as pairs too: [K/2][mr] words
 * of two bf16. They exist on CPUs with the dot instruction; other CPUs do not round the
 * operands. */
#ifndef OPS_CPU_GEMM_H
#define OPS_CPU_GEMM_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "tensor/tensor.h"

enum { GEMM_MR_MAX = 12, GEMM_NR_MAX = 32, GEMM_KC = 256, GEMM_MC = 96 };

/* How a tile treats the C in memory: overwrite it, start the chain of sums from it, or compute a
 * new sum and add that to it. */
enum gemm_sum { GEMM_SET, GEMM_GO_ON, GEMM_ADD };

/* C[mr, NR] (+)= A B: a[k*as + i], b[k*bs + j], c[i*ldc + j]. */
typedef void gemm_tile_fn(size_t k, const float *a, size_t as, const float *b, size_t bs,
			  float *c, size_t ldc, enum gemm_sum sum);
/* The same with B straight from a packed bf16 or int8 panel (no scale applied). */
typedef void gemm_tile16_fn(size_t k, const float *a, size_t as, const uint16_t *b, float *c, size_t ldc,
			    enum gemm_sum sum);
typedef void gemm_tile8_fn(size_t k, const float *a, size_t as, const int8_t *b, float *c, size_t ldc,
			   enum gemm_sum sum);

typedef void gemm_tiledp_fn(size_t pairs, const uint32_t *a, const uint32_t *b, float *c, size_t ldc,
			    enum gemm_sum sum);

struct gemm_kernels {
	int mr, nr;
	gemm_tile_fn *tile[GEMM_MR_MAX + 1];       /* by number of rows, 1.. */
	gemm_tile16_fn *tile16[GEMM_MR_MAX + 1];
	gemm_tile8_fn *tile8[GEMM_MR_MAX + 1];
	gemm_tiledp_fn *tiledp[GEMM_MR_MAX + 1];   /* NULL: this level has no such instruction */
	/* out[k/2][n] words (n <= NR, a line of them every ldo), each of two lines k and k + 1; a
	 * last odd line is paired with zero. */
	void (*pair_lines)(uint32_t *out, size_t ldo, const float *in, size_t ldi, int n, size_t kc);
	/* out[k/2][h] words from h <= NR rows of kc floats; the last of an odd kc with zero. */
	void (*pair_rows)(uint32_t *out, size_t ldo, const float *in, size_t ldi, int h, size_t kc);
	/* out[k][nr] from k rows of a packed panel, widened. */
	void (*widen16)(float *out, const uint16_t *panel, size_t k);
	void (*widen8)(float *out, const int8_t *panel, size_t k);
	/* out[j][i] = in[i][j] for i < rows, j < cols. */
	void (*transpose)(float *out, size_t ldo, const float *in, size_t ldi, int rows, size_t cols);
};

SIMD_DECLARE(const struct gemm_kernels *, gemm_kernels, (void))

/* The kernels of this machine; has it fast products? */
const struct gemm_kernels *gemm_cpu(void);
int gemm_has_fast(void);

#endif
