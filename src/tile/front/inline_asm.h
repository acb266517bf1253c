/* The parts of tl.inline_asm_elementwise: inline_asm.c reads the text, statement by statement, and
 * inline_asm_insn.c turns one instruction into tile code. Example: for "{ .reg .f32 t; neg.f32 t, $1;
 * mov.f32 $0, t; }" inline_asm.c declares t, then calls ptx_instruction for "neg.f32 t, $1", which
 * emits `%6 = neg %5` and makes %6 the value of t. */
#ifndef TILE_FRONT_INLINE_ASM_H
#define TILE_FRONT_INLINE_ASM_H

#include "tile/front/sem.h"

/* A call: the text, the types of the results, and the arguments, brought to one shape. */
struct inline_asm {
	struct str text, constraints;
	const struct ty *shape;         /* a type with the shape of the arguments */
	const struct ty *const *out;    /* scalar types */
	const struct tv *in;
	size_t n_out, n_in;
	int64_t pack;
};

/* Emits the text as tile code; result[0..n_out). Nonzero: it was recorded as unsupported. */
int inline_asm(struct front *f, const struct inline_asm *c, struct tv *result);

/* --- shared by inline_asm*.c ----------------------------------------------------------------- */

enum { PTX_MOST_OPERANDS = 5 };

/* A type suffix; kind as in inline_asm.def. */
struct ptx_type { const char *name; char kind; enum sc sc; };

/* A register: an operand of the constraints ("$0") or a declared one. */
struct ptx_reg {
	struct str name;
	char kind;              /* as in inline_asm.def; operands of the constraints are 'b' */
	int bits;
	int input, written;
	struct tv v;            /* the value, if written */
};

/* A translation. Functions of it that return int return nonzero
 * after they recorded a message. */
struct ptx {
	struct front *f;
	const struct ty *shape;         /* a type with the shape of every value */
	struct ptx_reg *reg;
	size_t n_reg, n_operands;       /* declared registers follow the operands of the constraints */
	int in_braces;
	struct str insn;                /* the instruction that is being translated */
	struct str arg[PTX_MOST_OPERANDS];
	size_t n_args;
};

/* Records why p->insn is not translated. Returns 1. */
int ptx_refuse(struct ptx *p, const char *why);
/* The type of a suffix such as "f32"; NULL if the name is unknown. */
const struct ptx_type *ptx_find_type(struct str name);
/* Translates one instruction, without its semicolon. */
int ptx_instruction(struct ptx *p, struct str s);

#endif
