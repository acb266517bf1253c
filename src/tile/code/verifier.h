/* Between the two files of the verifier: verifier.c walks the code, verifier_rule.c types
 * instructions. */
#ifndef TILE_CODE_VERIFIER_H
#define TILE_CODE_VERIFIER_H

#include "tile/code/ir.h"

/* Checks the types and attributes of an instruction whose operand counts are correct and whose
 * registers exist. Returns a description of the error, or NULL. */
const char *tile_verify_rule(const struct tile_code *code, const struct tile_insn *in);

#endif
