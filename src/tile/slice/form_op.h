/* The form of an instruction's result, from the forms of its operands. */
#ifndef TILE_SLICE_FORM_OP_H
#define TILE_SLICE_FORM_OP_H

#include "tile/slice/closed_form.h"

/* For instructions that read no memory and are no control flow. `src` holds the operands' forms. */
struct form form_op(struct form_batch *b, const struct tile_code *code, const struct tile_insn *in,
		    const struct form *src);
/* A choice between two values of any kind by a bool. */
struct form form_select(struct form_batch *b, const struct form *c, const struct form *x, const struct form *y);

#endif
