/* Between the parts of the verifier. */
#ifndef TILE_CODE_VERIFIER_H
#define TILE_CODE_VERIFIER_H

#include "tile/code/ir.h"

/* What is wrong with the types and attributes of an instruction whose operand counts are
 * right and whose registers exist; NULL: nothing. */
const char *tile_verify_rule(const struct tile_code *code, const struct tile_insn *in);

#endif
