/* Scalars of numpy: numbers whose aux says so. What is made of a float64 or an int64 is one again;
 * others compute in their own width, which numbers here do not have, so nothing may be computed
 * with them. */
#ifndef INTERP_SCALAR_H
#define INTERP_SCALAR_H

#include "interp/state.h"

enum { SCALAR_WIDE = 1, SCALAR_NARROW };     /* val.aux; a bool is wide */

static inline int scalar_is(struct val v) { return v.aux && (v.kind == V_BOOL || v.kind == V_INT ||
							     v.kind == V_FLOAT); }

int scalar_may_compute(struct host *h, struct val v);                 /* 0, -1: a narrow one, or a bool */
int scalar_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);
/* out: the answer, made a scalar */
int scalar_compare(struct host *h, struct val a, struct val b, struct val *out);
int scalar_repr(struct host *h, struct val v, struct buf *out);       /* np.float64(0.5) */
/* As numpy has it an int64 is no int: 1 where the class cannot be one of the scalar's. */
int scalar_is_no(struct host *h, struct val v, const struct class_obj *c);

#endif
