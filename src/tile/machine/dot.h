/* Matrix products of dense row-major tiles. */
#ifndef TILE_MACHINE_DOT_H
#define TILE_MACHINE_DOT_H

#include "tile/code/ir.h"

/* C[M,N] += A[M,K] B[K,N]. Each element of C is one chain of fused multiply-adds over k in
 * order, starting from C: the result does not depend on the instruction set. */
void dot_f32(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K);
void dot_f64(double *c, const double *a, const double *b, int64_t M, int64_t N, int64_t K);
void dot_i32(int32_t *c, const int32_t *a, const int32_t *b, int64_t M, int64_t N, int64_t K);

/* Operands of 10 mantissa bits. Without lo x is cut off, as tensor cores take what is given to
 * them; with lo it is rounded, ties away, and lo gets what is left, rounded too. */
void dot_split_tf32(float *hi, float *lo, const float *x, size_t n);
/* To 7 mantissa bits, ties to even: hi, mid, lo (mid and lo may be NULL). */
void dot_split_bf16(float *hi, float *mid, float *lo, const float *x, size_t n);

/* Operand shapes of dot_scaled. */
struct dot_scaled {
	int64_t M, N, K;
	int a_scale, b_scale;           /* index of the source, -1: none */
	int64_t a_group, b_group;       /* elements of K per scale */
};
/* Nonzero if the shapes do not fit; `out` may be NULL. */
int tile_dot_scaled_shape(const struct tile_code *code, const struct tile_insn *in, struct dot_scaled *out);

#endif
