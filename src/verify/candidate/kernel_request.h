/* A kernel of a candidate as a request to a compiler outside this program (real Triton).
 *
 * The request is JSON. It holds function definitions printed from our syntax tree, without
 * decorators, and for each function the values of the names that it uses, as our engine resolved
 * them: numbers, types, modules, names of triton.language, other functions of the request. So the
 * compiler needs no text of the candidate outside kernels, and executes none of it.
 *
 * Printed source was chosen over TTIR of our own front end. The compiler is there to say what real
 * Triton makes of the kernel; TTIR would skip its front end, whose type and shape rules are a part
 * of that answer, and would tie us to the dialect of one version. */
#ifndef VERIFY_CANDIDATE_KERNEL_REQUEST_H
#define VERIFY_CANDIDATE_KERNEL_REQUEST_H

#include "tile/tile.h"

enum { KERNEL_REQUEST_WHY = 160 };

/* How an argument of a launch reaches the compiled kernel: as a constant of its code, or as a
 * parameter of this type: "*fp32", "i32", "fp32", "u1". */
struct kernel_param_form {
	int constant;
	int divisible;              /* by 16: Triton compiles other code for it */
	char type[24];
};

/* The form of argument i. Returns 0, or 1 if this program cannot pass the argument to a GPU
 * (`why`). */
int kernel_param_form(const struct tile_launch *l, size_t i, struct kernel_param_form *out,
		      char why[KERNEL_REQUEST_WHY]);
/* Appends the request for a launch. Equal requests give equal machine code. Returns 0, or 1 if the
 * kernel cannot be expressed (`why`). */
int kernel_request(const struct tile_launch *l, struct buf *out, char why[KERNEL_REQUEST_WHY]);

#endif
