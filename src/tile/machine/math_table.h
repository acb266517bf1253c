/* Kernels by operation and type, for the CPU that this runs on. */
#ifndef TILE_MACHINE_MATH_TABLE_H
#define TILE_MACHINE_MATH_TABLE_H

#include "tile/machine/decode.h"

/* These functions return NULL if no kernel exists. Narrow floats have no kernels of their own: ask
 * for fp32. */
tile_kernel *tile_kernel_for(enum tile_op op, enum dtype dt);
tile_kernel *tile_kernel_rounded(enum tile_op op, enum dtype dt, enum tile_round r);
tile_kernel *tile_kernel_select(int esize);
tile_kernel *tile_kernel_cast(enum dtype from, enum dtype to);

#endif
