/* Helpers that reductions and scans share. */
#ifndef TILE_MACHINE_EXEC_REDUCE_H
#define TILE_MACHINE_EXEC_REDUCE_H

#include "tile/machine/machine.h"

/* A tile seen along an axis: outer x len x inner lanes. Axis 1 of [4, 8, 2] is 4 x 8 x 2. */
struct tile_along {
	int64_t outer, len, inner;
};
struct tile_along along_axis(const struct mval *v, int64_t axis);

/* Applies the elementwise kernel of p to dense operands of dtype dt (exec_elem.c). */
void elem_apply(const struct decoded_insn *p, enum dtype dt, void *out, const void *a, const void *b, size_t n);

/* Calls function `func` over n lanes, one at a time if it has branches. */
int apply_func(struct machine *m, const struct tile_insn *in, int func, int64_t n, unsigned char *const *args,
	       unsigned char *const *results);

/* Hands out room from m->combine. The caller gives it back by restoring m->combine_used. */
unsigned char *combine_room(struct machine *m, size_t bytes);

/* Reduces rows of fp32 (exec_row.simd.c): o[r] from the L elements at a + r * L. */
typedef void row_fn(float *o, const float *a, int64_t rows, int64_t L);
/* NULL: no row function for this combiner. */
row_fn *row_reduce_f32(enum tile_combine k);

#endif
