/* Moving elements of any size without conversion: strided runs and transposed matrices. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"
#include "base/mem.h"

void SIMD_FN(vec_move)(int size, void *d, int64_t ds, const void *s, int64_t ss, int64_t n);
void SIMD_FN(vec_transpose)(int size, void *d, int64_t dr, const void *s, int64_t sc, int64_t r, int64_t c);

/* d[i * ds] = s[i * ss] for i < n. */
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

/* d[i * dr + j] = s[i + j * sc] for i < r, j < c. Blocks of eight by eight pass through
 * registers; of the source a whole cache line is used before the next block of its rows.
 * Three rounds of interleaving rows j and j + 4 carry row j to column j. */
#define TRANSPOSE(T)                                                                                        \
	typedef T T##_8 __attribute__((vector_size(8 * sizeof(T))));                                        \
	static inline void T##_block(T *d, int64_t dr, const T *s, int64_t sc)                              \
	{                                                                                                   \
		T##_8 a[8], b[8];                                                                           \
		for (int j = 0; j < 8; j++)                                                                 \
			memcpy(&a[j], s + j * sc, sizeof *a);                                               \
		for (int round = 0; round < 3; round++) {                                                   \
			for (int j = 0; j < 4; j++) {                                                       \
				b[2 * j] = __builtin_shufflevector(a[j], a[j + 4], 0, 8, 1, 9, 2, 10, 3, 11); \
				b[2 * j + 1] = __builtin_shufflevector(a[j], a[j + 4], 4, 12, 5, 13, 6, 14, 7, 15); \
			}                                                                                   \
			memcpy(a, b, sizeof a);                                                             \
		}                                                                                           \
		for (int j = 0; j < 8; j++)                                                                 \
			memcpy(d + j * dr, &a[j], sizeof *a);                                               \
	}                                                                                                   \
	static void T##_edge(T *d, int64_t dr, const T *s, int64_t sc, int64_t r, int64_t c)                \
	{                                                                                                   \
		for (int64_t i = 0; i < r; i++)                                                             \
			for (int64_t j = 0; j < c; j++)                                                     \
				d[i * dr + j] = s[i + j * sc];                                              \
	}                                                                                                   \
	static void T##_transpose(T *d, int64_t dr, const T *s, int64_t sc, int64_t r, int64_t c)           \
	{                                                                                                   \
		int64_t r8 = r & ~7, c8 = c & ~7, line = MAX(8, 64 / (int64_t)sizeof(T));                   \
		for (int64_t i0 = 0; i0 < r8; i0 += line)                                                   \
			for (int64_t j = 0; j < c8; j += 8)                                                 \
				for (int64_t i = i0; i < MIN(i0 + line, r8); i += 8)                        \
					T##_block(d + i * dr + j, dr, s + i + j * sc, sc);                  \
		T##_edge(d + c8, dr, s + c8 * sc, sc, r8, c - c8);                                          \
		T##_edge(d + r8 * dr, dr, s + r8, sc, r - r8, c);                                           \
	}
TRANSPOSE(uint8_t)
TRANSPOSE(uint16_t)
TRANSPOSE(uint32_t)
TRANSPOSE(uint64_t)

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
