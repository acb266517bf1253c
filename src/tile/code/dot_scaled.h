/* The operand shapes of tl.dot_scaled: one set of rules for the verifier, which rejects an instruction
 * that breaks them, and for the machine, which computes with them. */
#ifndef TILE_CODE_DOT_SCALED_H
#define TILE_CODE_DOT_SCALED_H

#include "tile/code/ir.h"

/* The product of dot_scaled: C[M,N] += A[M,K] B[K,N], where groups of elements along K share a
 * scale. */
struct dot_scaled {
	int64_t M, N, K;
	int a_scale, b_scale;  /* source index of each operand's scales, or -1 */
	int64_t a_group, b_group;       /* elements along K that share one scale */
};
/* Works out the shapes of a dot_scaled instruction. Returns nonzero if they do not fit together.
 * `out` may be NULL. */
int tile_dot_scaled_shape(const struct tile_code *code, const struct tile_insn *in, struct dot_scaled *out);

#endif
