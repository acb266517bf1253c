/* Loops of elementwise kernels, for the math_*.simd.c files. A kernel may be called with its
 * result exactly on one of its operands. LANES tells the compiler that lanes do not depend on
 * each other, which also lets the loops vectorise. */
#ifndef TILE_MACHINE_MATH_KERNEL_H
#define TILE_MACHINE_MATH_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"
#include "tile/machine/decode.h"

#if defined(__clang__)
#define LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES _Pragma("GCC ivdep")
#endif

#define KERNEL_ARGS void *o_, const void *a_, const void *b_, const void *c_, size_t n, unsigned u
#define UNUSED_ARGS (void)a_, (void)b_, (void)c_, (void)u

/* o[i] = EXPR of x = a[i] */
#define KERNEL1(name, TO, TI, EXPR) \
	static void name(KERNEL_ARGS) \
	{ \
		TO *o = o_; const TI *a = a_; UNUSED_ARGS; \
		LANES for (size_t i = 0; i < n; i++) { TI x = a[i]; o[i] = (TO)(EXPR); } \
	}

/* o[i] = EXPR of x = a[i], y = b[i]; either may be one element (u = 1: a, u = 2: b). */
#define KERNEL2(name, TO, TA, TB, EXPR) \
	static void name(KERNEL_ARGS) \
	{ \
		TO *o = o_; const TA *a = a_; const TB *b = b_; UNUSED_ARGS; \
		if (u == 0) { \
			LANES for (size_t i = 0; i < n; i++) { TA x = a[i]; TB y = b[i]; o[i] = (TO)(EXPR); } \
		} else if (u == 1) { \
			TA x = *a; \
			LANES for (size_t i = 0; i < n; i++) { TB y = b[i]; o[i] = (TO)(EXPR); } \
		} else { \
			TB y = *b; \
			LANES for (size_t i = 0; i < n; i++) { TA x = a[i]; o[i] = (TO)(EXPR); } \
		} \
	}

/* Three operands, none of them uniform. */
#define KERNEL3(name, TO, TA, TB, TC, EXPR) \
	static void name(KERNEL_ARGS) \
	{ \
		TO *o = o_; const TA *a = a_; const TB *b = b_; const TC *c = c_; UNUSED_ARGS; \
		LANES for (size_t i = 0; i < n; i++) { TA x = a[i]; TB y = b[i]; TC z = c[i]; o[i] = (TO)(EXPR); } \
	}

typedef tile_kernel *const kernel_table[TILE_OPS][DTYPES];

#endif
