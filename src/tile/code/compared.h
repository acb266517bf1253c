/* An analysis of code: the constants that a kernel compares floating values with. */
#ifndef TILE_CODE_COMPARED_H
#define TILE_CODE_COMPARED_H

#include "tile/code/ir.h"

enum { COMPARED_MOST = 8 };
/* Distinct finite constants. Zero and one, of either sign, count only where a kernel asks whether a
 * value is equal to them, since most kernels ask for the sign. */
struct compared {
	int n;
	double v[COMPARED_MOST];
};
/* Adds the constants of a kernel, as far as there is room. Returns 0 on success, -1 on failure
 * (*e). */
int compared_add(struct compared *c, const struct tile_code *code, struct err *e);

#endif
