/* What reductions and scans share. */
#ifndef TILE_MACHINE_EXEC_REDUCE_H
#define TILE_MACHINE_EXEC_REDUCE_H

#include "tile/machine/machine.h"

/* A tile seen along an axis: outer x len x inner lanes. */
struct tile_along {
	int64_t outer, len, inner;
};
struct tile_along along_axis(const struct mval *v, int64_t axis);

/* The elementwise kernel of p on dense operands of dtype dt (exec_elem.c). */
void elem_apply(const struct decoded_insn *p, enum dtype dt, void *out, const void *a, const void *b, size_t n);

/* Function `func` over n lanes, one at a time if it branches. */
int apply_func(struct machine *m, const struct tile_insn *in, int func, int64_t n, unsigned char *const *args,
	       unsigned char *const *results);

/* Room for combine functions, handed out from m->combine and taken back by the caller. */
unsigned char *combine_room(struct machine *m, size_t bytes);

/* Rows of fp32 (exec_row.simd.c): o[r] from L elements at a + r * L. */
typedef void row_fn(float *o, const float *a, int64_t rows, int64_t L);
row_fn *row_reduce_f32(enum tile_combine k);     /* NULL: none */

#endif
