/* Floats in closed form: indices that a kernel computes in floating point.
 *
 * A float keeps the form of an integer (closed_form.h) as long as its type holds every value of it: pid * 1024 +
 * lane in fp32 below 16777216. Beyond that the type rounds, lanes coincide, and only bounds are known, together with
 * the digits that the type keeps: fp32 has 75 million whole numbers below 1.6 billion, so stores to such places
 * write 75 million elements at most. */
#ifndef TILE_SLICE_FLOAT_OP_H
#define TILE_SLICE_FLOAT_OP_H

#include "tile/slice/closed_form.h"

/* An operation with a result of type `dt`. Operands are floats. */
struct form float_op(struct form_batch *b, enum tile_op op, const struct form *src, int n_src, enum dtype dt);
/* A comparison of two floats. */
struct form float_compare(struct form_batch *b, enum tile_op op, const struct form *x, const struct form *y);
/* An integer or float as a float of this type, and a float as an integer. A value out of range becomes the nearest
 * one of the integer's type. */
struct form float_from(struct form_batch *b, const struct form *x, enum dtype dt);
struct form float_to_int(struct form_batch *b, const struct form *x, enum dtype dt);
/* Either of two floats. */
struct form float_either(struct form_batch *b, const struct form *x, const struct form *y);
/* A value as the type holds it. */
double float_rounded(enum dtype dt, double v);

#endif
