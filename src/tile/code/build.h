/* Building tile code, one instruction at a time.
 *
 *     struct tile_builder b;
 *     tile_build_init(&b, STR("add_kernel"));
 *     tile_reg x = tile_build_param(&b, tile_pointer(DT_F32), &(struct tile_param){ .name = STR("x") });
 *     tile_build_at(&b, tile_build_loc(&b, 12, 4, -1, STR("add_kernel")));
 *     tile_reg pid = tile_build(&b, TOP_PROGRAM_ID, tile_scalar(DT_I32), 0);
 *     ...
 *     if (tile_build_finish(&b, &code, e)) ...
 *
 * Nothing here checks types: tile_build_finish verifies the whole. A failed allocation is remembered
 * and reported by tile_build_finish, so no call needs a check. The machine runs the result after
 * tile_decode (machine/decode.h). */
#ifndef TILE_CODE_BUILD_H
#define TILE_CODE_BUILD_H

#include "tile/code/ir.h"

struct tile_func_build;

struct tile_builder {
	struct tile_code *code;
	struct { struct tile_type *v; size_t n, cap; } regs;
	struct { struct tile_loc *v; size_t n, cap; } locs;
	struct { struct tile_param *v; size_t n, cap; } params;
	struct { struct tile_func_build *v; size_t n, cap; } funcs;
	int current;                /* index of the function that is being built; 0 is the kernel */
	int32_t at;                 /* source location of the next instruction, an index into locs */
	int failed;                 /* an allocation failed; tile_build_finish reports it */
	struct tile_insn scratch;   /* receives writes after a failed allocation */
	tile_reg scratch_r[16];
};

/* Starts the code of one kernel. tile_build_finish or tile_build_release ends it. */
void tile_build_init(struct tile_builder *b, struct str kernel);
void tile_build_release(struct tile_builder *b);        /* abandons the code; harmless after finish */
/* Hands over verified code; *code is NULL after a failure. ERR_STATE: the code was not well-formed. */
int tile_build_finish(struct tile_builder *b, struct tile_code **code, struct err *e);
/* The arena of the code under construction: strings of attributes are copied there. */
struct arena *tile_build_arena(struct tile_builder *b);

/* A new register of type t. It needs an instruction that assigns it before it is read. */
tile_reg tile_build_reg(struct tile_builder *b, struct tile_type t);
struct tile_type tile_build_type(const struct tile_builder *b, tile_reg r);
/* A new register that holds an argument of the launch: `p` says which one (reg and name are set
 * here). */
tile_reg tile_build_param(struct tile_builder *b, struct tile_type t, const struct tile_param *p);
/* Whether r is the register of a kernel parameter. */
int tile_build_is_param(const struct tile_builder *b, tile_reg r);
/* The source location (line, col) in function `fn`, inlined through the call at `parent` (-1: not
 * inlined). The same line, column, parent and function give the same location. */
int32_t tile_build_loc(struct tile_builder *b, int line, int col, int32_t parent, struct str fn);
/* Sets the source location of the instructions that follow. */
void tile_build_at(struct tile_builder *b, int32_t loc);

/* Appends an instruction with one result of type t in a new register, which is returned. The
 * sources follow as arguments. */
tile_reg tile_build(struct tile_builder *b, enum tile_op op, struct tile_type t, int n_src, ...);
/* Appends an instruction without a result. */
void tile_build_do(struct tile_builder *b, enum tile_op op, int n_src, ...);
/* Appends any instruction: results and sources are given. Returns the instruction so that the
 * caller can set its attributes. The pointer is never NULL and is valid until the next instruction
 * is built. */
struct tile_insn *tile_build_insn(struct tile_builder *b, enum tile_op op, int n_dst, const tile_reg *dst,
				  int n_src, const tile_reg *src);
/* The last instruction, so that the caller can set imm, attr, text or rounding. */
struct tile_insn *tile_build_last(struct tile_builder *b);

/* A constant in a new register. */
tile_reg tile_build_int(struct tile_builder *b, struct tile_type t, int64_t v);    /* const */
tile_reg tile_build_float(struct tile_builder *b, struct tile_type t, double v);
void tile_build_mov(struct tile_builder *b, tile_reg dst, tile_reg src);
/* An instruction with an integer immediate: arange, program_id, expand_dims, flip, ... */
tile_reg tile_build_imm(struct tile_builder *b, enum tile_op op, struct tile_type t, int64_t imm, int n_src, ...);

/* Control flow. `depth` of a branch counts enclosing constructs outwards; 0 is the innermost. */
void tile_build_if(struct tile_builder *b, tile_reg cond);
void tile_build_else(struct tile_builder *b);
void tile_build_block(struct tile_builder *b);
void tile_build_loop(struct tile_builder *b);
void tile_build_end(struct tile_builder *b);
void tile_build_br(struct tile_builder *b, int depth);
void tile_build_br_if(struct tile_builder *b, tile_reg cond, int depth);

/* A combine or map function over scalars. func_begin returns its index, makes it the current function and
 * fills `params` with its parameter registers. func_end names its results and returns to the function that
 * was current before. */
int tile_build_func_begin(struct tile_builder *b, struct str name, int n_params, const struct tile_type *types,
			  tile_reg *params);
void tile_build_func_end(struct tile_builder *b, int n_results, const tile_reg *results);

#endif
