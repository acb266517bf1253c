/* Matrix products on the CPU: the packed formats and the tile kernels they feed.
 *
 * Every product is cut into tiles of at most MR rows and NR columns, computed in registers
 * as a sum of outer products in the order of k: element (m, n) is
 *     fma(a[m, K-1], b[K-1, n], ... fma(a[m, 0], b[0, n], start))
 * whatever the tile's height, so a row does not depend on the rows beside it, on threads, or
 * on where the k loop is cut (a cut stores and reloads the fp32 sum).
 *
 * Packed B ("panels"): panel p holds columns [p NR, (p+1) NR), k-major: [K][NR], columns past
 * the end zero. F32: floats. BF16: [K/2][NR][2], pairs of k side by side, K padded to even
 * with zero. I8: [K][NR] with a scale per column.
 *
 * Fast products (both operands rounded to bf16, sums in fp32) take A as pairs too: [K/2][mr]
 * words of two bf16. They exist where the CPU has the dot instruction; elsewhere the operands
 * are left as they are. */
#ifndef OPS_CPU_GEMM_H
#define OPS_CPU_GEMM_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "tensor/tensor.h"

enum { GEMM_MR_MAX = 12, GEMM_NR_MAX = 32, GEMM_KC = 256, GEMM_MC = 96 };

/* C[mr, NR] (+)= A B: a[k*as + i], b[k*bs + j], c[i*ldc + j]; `load` starts from C. */
typedef void gemm_tile_fn(size_t k, const float *a, size_t as, const float *b, size_t bs,
			  float *c, size_t ldc, int load);
/* The same with B straight from a packed bf16 or int8 panel (no scale applied). */
typedef void gemm_tile16_fn(size_t k, const float *a, size_t as, const uint16_t *b, float *c, size_t ldc, int load);
typedef void gemm_tile8_fn(size_t k, const float *a, size_t as, const int8_t *b, float *c, size_t ldc, int load);

typedef void gemm_tiledp_fn(size_t pairs, const uint32_t *a, const uint32_t *b, float *c, size_t ldc, int load);

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
