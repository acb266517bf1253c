/* Reads tile code from the text that tile_print writes:
 *
 *     kernel "add"
 *     param %0:*fp32 "x" 0
 *     param %1:i32 "n" 1
 *     body
 *     %2:i32[64] = arange
 *     %3:i32[64] = splat %1
 *     %4:i1[64] = lt %2, %3 @3:8
 *     ...
 *
 * A line that starts with '#' is a comment. Attributes: imm=, f=, attr=a,b,.., round=, text="..",
 * @line:col or @#loc. The result is verified. */
#ifndef TILE_CODE_PARSE_TEXT_H
#define TILE_CODE_PARSE_TEXT_H

#include "tile/code/ir.h"

/* Returns 0 and code that the caller frees with tile_code_free, or -1: *e has the line of the
 * text. */
int tile_parse_text(struct str text, struct tile_code **code, struct err *e);

extern const char *const tile_round_names[];   /* by enum tile_round, NULL-ended */

#endif
