/* Between the elementwise engine (ew.c) and its kernels (ew.simd.c). */
#ifndef NUM_EW_H
#define NUM_EW_H

#include "base/cpu.h"
#include "num/num.h"

/* n dense elements of one carrier; operands an operation does not have point at readable
 * memory all the same; p has three elements. The result is of the carrier, or uint8_t for
 * operations that give bool. `o` may be one of the operands. */
typedef void num_kernel_fn(void *o, const void *a, const void *b, const void *c, size_t n, const double *p);

struct num_kernel { num_kernel_fn *f32, *f64, *i64; };

SIMD_DECLARE(const struct num_kernel *, num_kernels, (void))

#endif
