/* Products of a few rows with a matrix that is stored transposed: see skinny.simd.c. */
#ifndef NUM_SKINNY_H
#define NUM_SKINNY_H

#include "base/cpu.h"
#include "num/nn.h"

/* Columns [begin, end) of c; float only, a not transposed, b transposed. */
SIMD_DECLARE(void, num_skinny, (const struct num_gemm *g, int64_t begin, int64_t end))

#endif
