/* The facts that the machine derives from verified code before it runs the code: jump targets,
 * elementwise kernels, slots of registers. Immutable once made; lives in the arena of the code.
 * Private to src/tile. */
#ifndef TILE_MACHINE_DECODE_H
#define TILE_MACHINE_DECODE_H

#include "tile/code/ir.h"

struct machine;
struct decoded_insn;

/* An elementwise kernel over n lanes: o[i] = f(a[i], b[i], c[i]). If bit k of `uniform` is set,
 * operand k is one element for all lanes. */
typedef void tile_kernel(void *o, const void *a, const void *b, const void *c, size_t n, unsigned uniform);

/* How an operation carries poison from its sources to its results. OWN: its exec function does
 * it. LANES: lane by lane. SELECT, AND, OR: only the operand that matters. INT_DIV: lane by lane,
 * and a zero divisor adds poison. */
enum poison_rule { POISON_OWN, POISON_LANES, POISON_SELECT, POISON_AND, POISON_OR, POISON_INT_DIV };

/* When a barrier of the block is part of an operation: never; after it; after it if there are
 * several warps; before and after it. */
enum sync_rule { SYNC_NONE, SYNC_ALWAYS, SYNC_WARPS, SYNC_AROUND };

/* One instruction, ready to run. */
struct decoded_insn {
	const struct tile_insn *in;
	/* of a fused store: the instruction that computes the stored value */
	const struct decoded_insn *maker;
	/* NULL: control flow */
	int (*exec)(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p);
	tile_kernel *kernel;        /* of elementwise operations, reductions and scans; else NULL */
	int32_t jump;               /* control flow: index of the instruction to go to */
	int32_t fuel;               /* 1, and one more for each 1024 lanes */
	int32_t lanes;              /* increment of `counter`: lanes, or operations of a product */
	uint8_t counter;            /* index into struct tile_cost as an array of counters; 0xff: none */
	uint8_t narrow;             /* the operands are fp16, bf16 or fp8 and the kernel works in fp32 */
	uint8_t spread;             /* the kernel takes no uniform operands */
	uint8_t watch;              /* int32 result that reaches an address: report wrap-around */
	uint8_t poison;             /* enum poison_rule */
	uint8_t sync;               /* enum sync_rule */
	uint8_t borrow;             /* a load that may leave its lanes in the tensor's memory */
	uint8_t replayed;           /* a replay does this instruction again (replay.h) */
};

/* The instructions of one function. */
struct decoded_code {
	struct decoded_insn *v;
	int n;
};

/* All that is known about a kernel's code. Arrays are in the arena of the code. */
struct tile_decoded {
	/* by function; 0 is the kernel, the others are combine and map functions */
	struct decoded_code *funcs;
	/* instructions whose results are the same in every instance; run once per machine */
	struct decoded_code prologue;
	int64_t *slot;              /* by register: byte offset in the slab, or -1 for a scalar */
	int64_t slab_bytes;         /* all slots */
	/* of one scratch area: the largest tile in 8-byte elements, or the operands of a dot */
	int64_t scratch_bytes;
	int64_t combine_bytes;      /* room for the arrays of combine and map functions */
	tile_reg *func_regs;        /* registers by function: [first_reg[f], last_reg[f]) */
	int *first_reg, *last_reg;
	int32_t *func_lanes;        /* by function: most lanes of one call */
	uint8_t *divergent;         /* by function: it has control flow, so it runs one lane at a time */
	int has_atomics, has_prints;
	int replayable;             /* launches may be recorded (replay.h) */
	int by_contents;            /* a branch, an address or a mask depends on the contents of memory */
	uint64_t mark;              /* hash of the code (checked_launches.h) */
	uint8_t *replay_roles;      /* by register: enum replay_role */
	uint8_t *passed_on;         /* by register: written by one instruction and read by one */
	int64_t max_lanes;          /* of the largest tile */
	int *owner;                 /* by register: the function that uses it */
};

/* Decodes verified code and sets code->decoded. Returns 0, or -1 and *e. */
int tile_decode(struct tile_code *code, struct err *e);

#endif
