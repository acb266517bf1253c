/* Numpy scalars: numbers whose aux is not 0. Arithmetic of float64 and int64 gives scalars
 * again. Narrow types compute in their own width, which this engine does not model: computing
 * with them is refused. */
#ifndef INTERP_SCALAR_H
#define INTERP_SCALAR_H

#include "interp/state.h"

enum { SCALAR_WIDE = 1, SCALAR_NARROW };     /* val.aux; a bool is WIDE */

static inline int scalar_is(struct val v)
{
	return v.aux && (v.kind == V_BOOL || v.kind == V_INT || v.kind == V_FLOAT);
}

int scalar_may_compute(struct host *h, struct val v);                 /* -1: a narrow scalar or a bool */
int scalar_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);
/* *out: the answer, which becomes a numpy bool */
int scalar_compare(struct host *h, struct val a, struct val b, struct val *out);
int scalar_repr(struct host *h, struct val v, struct buf *out);       /* np.float64(0.5) */
/* isinstance(np.int64(1), int) is false in numpy: returns 1 if c cannot be the scalar's class. */
int scalar_is_no(struct host *h, struct val v, const struct class_obj *c);

#endif
