/* Products of a few rows with a matrix stored by columns: see skinny.simd.c. */
#ifndef HOST_NUM_SKINNY_H
#define HOST_NUM_SKINNY_H

#include "base/cpu.h"
#include "host/num/nn.h"

/* Columns [begin, end) of c, for float, a as it is, b transposed. */
SIMD_DECLARE(void, num_skinny, (const struct num_gemm *g, int64_t begin, int64_t end))

#endif
