/* Finds the kernel of an operation for the CPU that this runs on. */
#include "tile/machine/math_table.h"

#include "tile/machine/math_kernel.h"

extern kernel_table tile_slow_kernels;
#define EVERY_LEVEL(type, name, dims) \
	extern type name##_base dims; \
	LEVELS_ABOVE(type, name, dims)
#if defined(__x86_64__)
#define LEVELS_ABOVE(type, name, dims) extern type name##_v3 dims; extern type name##_v4 dims;
#else
#define LEVELS_ABOVE(type, name, dims)
#endif
EVERY_LEVEL(tile_kernel *const, tile_int_kernels, [TILE_OPS][DTYPES])
EVERY_LEVEL(tile_kernel *const, tile_float_kernels, [TILE_OPS][DTYPES])
EVERY_LEVEL(tile_kernel *const, tile_fn_kernels, [TILE_OPS][DTYPES])
EVERY_LEVEL(tile_kernel *const, tile_select_kernels, [4])
EVERY_LEVEL(tile_kernel *const, tile_cast_kernels, [DTYPES][DTYPES])

/* Integer, float and function tables do not overlap; the slow table has what they lack. */
tile_kernel *tile_kernel_for(enum tile_op op, enum dtype dt)
{
	tile_kernel *k = SIMD_PICK(tile_int_kernels)[op][dt];
	if (!k)
		k = SIMD_PICK(tile_float_kernels)[op][dt];
	if (!k)
		k = SIMD_PICK(tile_fn_kernels)[op][dt];
	return k ? k : tile_slow_kernels[op][dt];
}

/* A select only copies bits, so it depends on the width of an element and not on its type. */
tile_kernel *tile_kernel_select(int esize)
{
	return SIMD_PICK(tile_select_kernels)[esize == 1 ? 0 : esize == 2 ? 1 : esize == 4 ? 2 : 3];
}

tile_kernel *tile_kernel_cast(enum dtype from, enum dtype to)
{
	return SIMD_PICK(tile_cast_kernels)[from][to];
}
