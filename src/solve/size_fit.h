/* Numbers as functions of sizes: from samples to Python code.
 *
 * A size is sampled at first + k * step; the last of these samples is far from the others, so that
 * size // 16 is not taken for a constant. `fine` samples at first + 1, first + 2, .. show how quotients are
 * rounded; without them a formula holds for every step-th size. Sample 0 has every size at its first value,
 * the next ones raise one size each, and with several sizes a last sample raises all.
 *
 * A number is a product of factors, each linear in one size: the elements of a convolution with stride 2
 * are 128 * ((size + 1) // 2) * ((size + 1) // 2). All samples must agree with it. */
#ifndef SOLVE_SIZE_FIT_H
#define SOLVE_SIZE_FIT_H

#include <stddef.h>
#include <stdint.h>

enum { SIZE_COARSE = 5, SIZE_FINE = 31, SIZE_VARS = 6, SIZE_SAMPLES = 2 + SIZE_VARS * (SIZE_COARSE - 1 + SIZE_FINE) };

struct size_var {
	char name[40];               /* as Python code */
	int64_t first, step;
	int fine;                    /* samples at first + 1, .. first + fine */
};

struct size_vars { struct size_var v[SIZE_VARS]; int n; };

int size_samples(const struct size_vars *v);
/* The value of the i-th size in a sample. */
int64_t size_at(const struct size_vars *v, int i, int sample);
/* Writes the code for a number that has the value y[s] in sample s. Returns 1 if it is no such product. */
int size_fit(const struct size_vars *v, const int64_t *y, char *code, size_t cap);
/* The same for a product less one, times a number: 10 * (4 * h * w - 1). */
int size_fit_less(const struct size_vars *v, const int64_t *y, char *code, size_t cap);

#endif
