/* The functions of libdevice that the machine can compute: the front end looks them up by name. */
#ifndef TILE_MACHINE_MATH_LIB_H
#define TILE_MACHINE_MATH_LIB_H

#include "tile/code/ir.h"

/* libdevice by name and argument dtypes: 0 and what to emit, or -1; then *known says whether
 * the name exists for other types. Emit `before` (if not -1) on the argument, `op` with
 * `rounding` giving dtype `gives`, and a bitcast to `result` where that differs. */
struct tile_libdevice {
	int before;                 /* enum tile_op or -1 */
	enum tile_op op;
	enum tile_round rounding;
	enum dtype gives, result;
};
int tile_libdevice(struct str name, int n_args, const enum dtype *args, struct tile_libdevice *out, int *known);
/* The i-th overload of `name` for messages and for conversions: its number of arguments and
 * their dtypes; -1 past the last. */
int tile_libdevice_overload(struct str name, int i, enum dtype args[4]);

#endif
