/* Integers beyond 64 bits. Operands may be V_INT too; results that fit are V_INT. */
#ifndef INTERP_BIG_H
#define INTERP_BIG_H

#include "interp/state.h"

int big_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);
int big_parse(struct host *h, struct str digits, int base, struct val *out);
int big_compare(struct val a, struct val b);
int big_compare_double(struct val v, double whole);      /* whole: an integer of at least 2^53 */
double big_to_double(struct val v);
/* a / b of any integers, b not zero, rounded once. */
int big_true_div(struct host *h, struct val a, struct val b, struct val *out);
int big_from_double(struct host *h, double f, struct val *out);
void big_format(struct host *h, struct val v, int base, struct buf *out);
int big_neg(struct host *h, struct val v, struct val *out);
int64_t big_bit_length(struct val v);

#endif
