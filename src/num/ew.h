/* The interface between the elementwise engine (ew.c) and its kernels (ew.simd.c). */
#ifndef NUM_EW_H
#define NUM_EW_H

#include "base/cpu.h"
#include "num/num.h"

/* One operation over n dense elements of one carrier. An operand that the operation does not
 * have points at readable memory all the same. p has three elements. The result has the type
 * of the carrier, or uint8_t for operations that give bool. ew.c never passes an `o` that
 * overlaps an operand. */
typedef void num_kernel_fn(void *o, const void *a, const void *b, const void *c, size_t n,
			   const double *p);

struct num_kernel { num_kernel_fn *f32, *f64, *i64; };

SIMD_DECLARE(const struct num_kernel *, num_kernels, (void))

#endif
