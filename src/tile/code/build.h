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
	int current;                /* function being written */
	int32_t at;                 /* loc of the next instruction */
	int failed;
	struct tile_insn scratch;   /* where writes go once memory ended */
	tile_reg scratch_r[16];
};

void tile_build_init(struct tile_builder *b, struct str kernel);
void tile_build_release(struct tile_builder *b);        /* gives up; harmless after finish */
/* Hands over verified code; *code is NULL after a failure. ERR_STATE: the code was not well-formed. */
int tile_build_finish(struct tile_builder *b, struct tile_code **code, struct err *e);
/* The arena of the code under construction: strings of attributes are copied there. */
struct arena *tile_build_arena(struct tile_builder *b);

tile_reg tile_build_reg(struct tile_builder *b, struct tile_type t);
struct tile_type tile_build_type(const struct tile_builder *b, tile_reg r);
tile_reg tile_build_param(struct tile_builder *b, struct tile_type t, const struct tile_param *p);
int tile_build_is_param(const struct tile_builder *b, tile_reg r);
/* The same line, col, parent gives the same loc. */
int32_t tile_build_loc(struct tile_builder *b, int line, int col, int32_t parent, struct str fn);
void tile_build_at(struct tile_builder *b, int32_t loc);

/* One result of type t in a new register; sources as the remaining arguments. */
tile_reg tile_build(struct tile_builder *b, enum tile_op op, struct tile_type t, int n_src, ...);
/* No result. */
void tile_build_do(struct tile_builder *b, enum tile_op op, int n_src, ...);
/* Anything else: results and sources given; returns the instruction to set attributes of
 * (valid until the next one is built; never NULL). */
struct tile_insn *tile_build_insn(struct tile_builder *b, enum tile_op op, int n_dst, const tile_reg *dst,
				  int n_src, const tile_reg *src);
/* The instruction made last, to set imm, attr, text, rounding. */
struct tile_insn *tile_build_last(struct tile_builder *b);

tile_reg tile_build_int(struct tile_builder *b, struct tile_type t, int64_t v);    /* const */
tile_reg tile_build_float(struct tile_builder *b, struct tile_type t, double v);
void tile_build_mov(struct tile_builder *b, tile_reg dst, tile_reg src);
/* With an integer immediate: arange, program_id, expand_dims, flip, ... */
tile_reg tile_build_imm(struct tile_builder *b, enum tile_op op, struct tile_type t, int64_t imm, int n_src, ...);

/* Control: br to an enclosing construct, 0 the innermost. */
void tile_build_if(struct tile_builder *b, tile_reg cond);
void tile_build_else(struct tile_builder *b);
void tile_build_block(struct tile_builder *b);
void tile_build_loop(struct tile_builder *b);
void tile_build_end(struct tile_builder *b);
void tile_build_br(struct tile_builder *b, int depth);
void tile_build_br_if(struct tile_builder *b, tile_reg cond, int depth);

/* A combine or map function over scalars: begin gives its index, makes it current and hands
 * out its parameter registers; end names its results and goes back to the function before. */
int tile_build_func_begin(struct tile_builder *b, struct str name, int n_params, const struct tile_type *types,
			  tile_reg *params);
void tile_build_func_end(struct tile_builder *b, int n_results, const tile_reg *results);

#endif
