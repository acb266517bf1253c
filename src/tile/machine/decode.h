/* What the machine works out about verified code before it runs it: jump targets, kernels,
 * slots of registers. Immutable once made; lives in the code's arena. Private to src/tile. */
#ifndef TILE_MACHINE_DECODE_H
#define TILE_MACHINE_DECODE_H

#include "tile/code/ir.h"

struct machine;
struct decoded_insn;

/* An elementwise kernel over n lanes. Bit k of `uniform`: operand k is one element. */
typedef void tile_kernel(void *o, const void *a, const void *b, const void *c, size_t n, unsigned uniform);

/* Who carries poison from sources to results. */
enum poison_rule { POISON_OWN, POISON_LANES, POISON_SELECT, POISON_AND, POISON_OR, POISON_INT_DIV };

/* When a barrier of the block is part of an operation: never, after it, after it if there are
 * several warps, before and after it. */
enum sync_rule { SYNC_NONE, SYNC_ALWAYS, SYNC_WARPS, SYNC_AROUND };

struct decoded_insn {
	const struct tile_insn *in;
	const struct decoded_insn *maker;  /* of a fused store: what makes its value */
	int (*exec)(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p);
	tile_kernel *kernel;        /* of elementwise operations */
	int32_t jump;               /* control flow: where to go */
	int32_t fuel;               /* 1, and more for large tiles */
	int32_t lanes;              /* what `counter` grows by */
	uint8_t counter;            /* index into struct tile_cost as counters; 0xff: none */
	uint8_t narrow;             /* kernel works in fp32, operands are narrower floats */
	uint8_t spread;             /* kernel takes no uniform operands */
	uint8_t watch;              /* 32-bit result that reaches an address: watch for wrap-around */
	uint8_t poison;             /* enum poison_rule */
	uint8_t sync;               /* enum sync_rule */
	uint8_t borrow;             /* a load whose lanes may stay where they are in memory */
	uint8_t replayed;           /* done again in a replay (replay.h) */
};

struct decoded_code {
	struct decoded_insn *v;
	int n;
};

struct tile_decoded {
	struct decoded_code *funcs;    /* by function */
	struct decoded_code prologue;  /* what is the same in every program, done once per machine */
	int64_t *slot;              /* byte offset of each register's slot in the slab, -1: scalar */
	int64_t slab_bytes;
	int64_t scratch_bytes;      /* of the largest tile, in 8-byte elements, and of dot's operands */
	int64_t combine_bytes;      /* room for the arrays of combine and map functions */
	tile_reg *func_regs;        /* registers by function: [first_reg[f], last_reg[f]) */
	int *first_reg, *last_reg;
	int32_t *func_lanes;        /* lanes a function of each index may be called with */
	uint8_t *divergent;         /* functions with control flow: one lane at a time */
	int has_atomics, has_prints;
	int replayable;             /* launches may be recorded (replay.h) */
	int by_contents;            /* a path, an address or a mask depends on the contents of memory */
	uint64_t mark;              /* of the code (vetted.h) */
	uint8_t *replay_roles;      /* by register: enum replay_role */
	uint8_t *passed_on;         /* by register: written in one place and read in one */
	int64_t max_lanes;          /* of the largest tile */
	int *owner;                 /* function of each register */
};

int tile_plan_make(struct tile_code *code, struct err *e);

#endif
