/* The operand shapes of tl.dot_scaled: one set of rules for the verifier, which rejects an instruction
 * that breaks them, and for the machine, which computes with them. */
#ifndef TILE_CODE_DOT_SCALED_H
#define TILE_CODE_DOT_SCALED_H

#include "tile/code/ir.h"

/* Operand shapes of dot_scaled. */
struct dot_scaled {
	int64_t M, N, K;
	int a_scale, b_scale;           /* index of the source, -1: none */
	int64_t a_group, b_group;       /* elements of K per scale */
};
/* Nonzero if the shapes do not fit; `out` may be NULL. */
int tile_dot_scaled_shape(const struct tile_code *code, const struct tile_insn *in, struct dot_scaled *out);

#endif
