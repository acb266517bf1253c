/* Matrix products of dense row-major tiles. */
#ifndef TILE_MACHINE_DOT_H
#define TILE_MACHINE_DOT_H

#include <stddef.h>
#include <stdint.h>

/* C[M,N] += A[M,K] B[K,N]. Each element of C is one chain of fused multiply-adds over k in order,
 * starting from C. So the result does not depend on the instruction set. */
void dot_f32(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K);
void dot_f64(double *c, const double *a, const double *b, int64_t M, int64_t N, int64_t K);
void dot_i32(int32_t *c, const int32_t *a, const int32_t *b, int64_t M, int64_t N, int64_t K);

/* Splits x into operands of 10 mantissa bits. Without `lo` x is truncated, as tensor cores do
 * with the operands they get. With `lo` it is rounded, ties away, and `lo` gets the rounded rest. */
void dot_split_tf32(float *hi, float *lo, const float *x, size_t n);
/* Splits x into operands of 7 mantissa bits, ties to even: x is about hi + mid + lo. mid and lo
 * may be NULL. */
void dot_split_bf16(float *hi, float *mid, float *lo, const float *x, size_t n);

#endif
