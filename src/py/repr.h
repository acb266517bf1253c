/* How Python writes values: repr() of floats, integers, strings and bytes. */
#ifndef PY_REPR_H
#define PY_REPR_H

#include "base/str.h"
#include "py/ast.h"

/* The shortest decimal that reads back as `v`, as repr(float) prints it: "1.0", "1e+16", "inf".
 * Without `point`, ".0" is left out (as in complex numbers). */
enum { PY_FLOAT_TEXT = 48 };
const char *py_float_text(double v, int point, char out[PY_FLOAT_TEXT]);
void py_repr_float(double v, struct buf *out);
void py_repr_str(struct str s, struct buf *out);        /* UTF-8 in, lone surrogates escaped */
void py_repr_bytes(struct str s, struct buf *out);
void py_repr_const(const struct py_const *c, struct buf *out);
/* The decimal digits of an integer literal of any size, given as py_const keeps it. */
void py_decimal(struct str digits, struct buf *out);

#endif
