/* The form of an instruction's result, from the forms of its operands. */
#ifndef TILE_SLICE_FORM_OP_H
#define TILE_SLICE_FORM_OP_H

#include "tile/slice/closed_form.h"

/* For instructions that read no memory and are no control flow. `src` holds the operands' forms. */
struct form form_op(struct form_batch *b, const struct tile_code *code, const struct tile_insn *in,
		    const struct form *src);
/* A choice between two values of any kind by a bool. */
struct form form_select(struct form_batch *b, const struct form *c, const struct form *x, const struct form *y);
/* A comparison of two values of one kind. */
struct form form_compare(struct form_batch *b, enum tile_op op, const struct form *x, const struct form *y);
/* The quotient of an integer by a number above zero, or the remainder. */
struct form form_quotient(struct form_batch *b, const struct form *x, int rem, int64_t by);

#endif
