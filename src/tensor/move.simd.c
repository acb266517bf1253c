/* Moves elements of any size without conversion: strided runs and transposed matrices. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"
#include "base/mem.h"

void SIMD_FN(vec_move)(int size, void *d, int64_t ds, const void *s, int64_t ss, int64_t n);
void SIMD_FN(vec_transpose)(int size, void *d, int64_t dr, const void *s, int64_t sc, int64_t r, int64_t c);

/* d[i * ds] = s[i * ss] for i < n. Repeating one value and gathering into dense memory have loops
 * of their own, which vectorise. */
#define MOVE(T)                                                                                             \
	static void T##_move(T *d, int64_t ds, const T *s, int64_t ss, int64_t n)                           \
	{                                                                                                   \
		const T v = *s;                                                                             \
		if (ss == 0 && ds == 1)                                                                     \
			for (int64_t i = 0; i < n; i++)                                                     \
				d[i] = v;                                                                   \
		else if (ds == 1)                                                                           \
			for (int64_t i = 0; i < n; i++)                                                     \
				d[i] = s[i * ss];                                                           \
		else                                                                                        \
			for (int64_t i = 0; i < n; i++)                                                     \
				d[i * ds] = s[i * ss];                                                      \
	}
MOVE(uint8_t)
MOVE(uint16_t)
MOVE(uint32_t)
MOVE(uint64_t)

/* d[i * dr + j] = s[i + j * sc] for i < r, j < c. Blocks of eight by eight elements pass through
 * registers. A whole cache line of the source is used before the next block of its rows. Three passes
 * that interleave rows j and j + 4 carry row j to column j. */
#define T uint8_t
#include "tensor/move_transpose.inc"
#define T uint16_t
#include "tensor/move_transpose.inc"
#define T uint32_t
#include "tensor/move_transpose.inc"
#define T uint64_t
#include "tensor/move_transpose.inc"

void SIMD_FN(vec_move)(int size, void *d, int64_t ds, const void *s, int64_t ss, int64_t n)
{
	if (n <= 0)
		return;
	if (ds == 1 && ss == 1)
		memcpy(d, s, (size_t)(n * size));
	else if (size == 4)
		uint32_t_move(d, ds, s, ss, n);
	else if (size == 2)
		uint16_t_move(d, ds, s, ss, n);
	else if (size == 8)
		uint64_t_move(d, ds, s, ss, n);
	else
		uint8_t_move(d, ds, s, ss, n);
}

void SIMD_FN(vec_transpose)(int size, void *d, int64_t dr, const void *s, int64_t sc, int64_t r, int64_t c)
{
	if (size == 4)
		uint32_t_transpose(d, dr, s, sc, r, c);
	else if (size == 8)
		uint64_t_transpose(d, dr, s, sc, r, c);
	else if (size == 2)
		uint16_t_transpose(d, dr, s, sc, r, c);
	else
		uint8_t_transpose(d, dr, s, sc, r, c);
}
