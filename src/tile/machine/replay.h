/* Launches that run again with other contents of memory.
 *
 * The judge runs a correct kernel some ten times with the same grid, the same scalars and tensors
 * of the same sizes. Most of what an instance computes, above all addresses and masks, is then
 * the same every time. The first run of a launch is recorded: for each instance, the operations
 * that depend on the contents of memory, in order, with the operands that do not. A later run of
 * the same launch in fast mode does only these. Loads and stores go to the addresses that were
 * checked when they were recorded; sizes are the same, so they are valid.
 *
 * Example: y = x * 2 over 4096 elements in blocks of 1024 has about 12 operations per instance.
 * Two of them are left in a record: the load, and the store that multiplies (decode_role.c).
 *
 * A kernel is not recorded if a branch, an address or a mask depends on contents, or if it has
 * atomics, prints or looks at addresses (replay_dependence.c). A replay gives the same bytes as
 * the machine would and counts the same cost.
 *
 * A record belongs to one store. The store must be released before the code of its launches. */
#ifndef TILE_MACHINE_REPLAY_H
#define TILE_MACHINE_REPLAY_H

#include "tile/machine/machine.h"

/* How a register's value varies from run to run. */
enum replay_role {
	REPLAY_FIXED,           /* the same in every run of a launch */
	REPLAY_KEPT,            /* also the same in every instance: an argument or the prologue gives it */
	REPLAY_CONTENTS         /* depends on contents: computed again */
};

/* Sets `replayed` of each instruction, the roles of registers, whether the kernel may be recorded
 * at all (replayable), and whether contents decide where it goes (by_contents). */
int replay_dependence(struct tile_code *c, struct tile_decoded *decoded, struct decoded_insn *p, const int *role,
		struct err *e);

/* One step of an instance. */
struct replay_event {
	/* Instruction to do; below 0: register ~pc gets a value; or a tap, see below. */
	int32_t pc;
	int32_t what;           /* index of the footprint (-1: none) or of the value */
	int64_t base;           /* byte offset of the footprint's origin in the tensor's memory */
};

/* A tap: sum += load(tile) * load(scalar), the inner step of most convolutions, as one step of two
 * events, both with the bit REPLAY_TAP. The first has the register of the sum and the footprint of
 * the tile. The second has the footprint of the scalar and the register of `other`, or
 * REPLAY_NOTHING if every lane is on. */
enum { REPLAY_TAP = 1 << 30, REPLAY_NOTHING = REPLAY_TAP - 1 };

/* `count` lanes from `lane` on, neighbours in memory, `offset` bytes behind the footprint's
 * origin. No row crosses a multiple of REPLAY_BLOCK lanes. */
enum { REPLAY_BLOCK = 16 };
struct replay_row {
	int32_t lane, count, offset;
};

#define REPLAY_OFF INT32_MIN    /* offset of a lane that is off */

/* The lanes of a load or store relative to an origin: the address of its pointer if boxed, else
 * the first lane that is on. Instances mostly share a footprint and differ in the origin: block 3
 * of a vector add touches the same lanes as block 0, 3 * 4096 bytes further on. */
struct replay_footprint {
	int16_t param;          /* parameter whose tensor it is in, or -1 if no lane is on */
	uint8_t boxed, kind;    /* as in struct access, and the form of the pointer */
	int32_t lanes;
	int64_t active;
	int64_t stride[TILE_DIMS];
	int32_t lo[TILE_DIMS], hi[TILE_DIMS];
	/* Not boxed: the offset of each lane, and its rows if they are long enough. Boxed: rows if the
	 * box is one contiguous line. Else NULL. */
	const int32_t *offset;
	const struct replay_row *rows;
	int32_t n_rows;
};

/* A value that is the same in every run. `data` has its lanes unless it is a scalar. */
struct replay_value {
	int64_t kind;
	union { int64_t i; unsigned char raw[8]; } u;
	int64_t more[TILE_DIMS];    /* strides or box */
	const void *data;
	size_t bytes;
};

/* MET: seen in fast mode and not recorded yet, because many launches never come again. READY:
 * recorded. FAILED: too large to record. A launch in checked mode is recorded at once, because more
 * runs follow if the check passes. */
enum replay_state { REPLAY_MET, REPLAY_READY, REPLAY_FAILED };

/* The record of one launch. */
struct replay {
	const struct tile_code *code;       /* the code of the launch, or equal code */
	int64_t *key;                       /* grid, hints and parameters, see make_key */
	size_t n_key;
	enum replay_state state;
	struct tile_cost cost;              /* cost of the launch, counted again by each replay */
	int64_t fuel;                       /* operations that the launch took */
	struct { struct replay_event *v; size_t n, cap; } events;
	struct { int64_t first, last; } *programs; /* by instance: its events [first, last) */
	struct { struct replay_footprint *v; size_t n, cap; } footprints;
	struct { struct replay_value *v; size_t n, cap; } values;
	struct arena mem;                   /* data of footprints and values */
};

enum { REPLAY_LEAST = 2000 };           /* value of `least` for an engine */

struct replay_store {
	struct { struct replay **v; size_t n, cap; } known;
	size_t bytes;                       /* of all records */
	int64_t least;                      /* launches with fewer operations are not recorded */
};
void replay_store_release(struct replay_store *s);

/* --- what a launch is known by ------------------------------------------------------------ */

/* The identity of a launch; all borrowed. */
struct replay_launch {
	const struct tile_code *code;
	const struct allocation *allocs;
	const struct mval *bound;
	const int64_t *grid;
	int trust_hints;
};

/* Computes the part of the key for parameter i: the value of a scalar, or offset, size, dtype,
 * storage and alignment of a tensor. */
enum { REPLAY_KEY_PARAM = 5 };
void replay_key_param(const struct replay_launch *l, int i, int64_t key[REPLAY_KEY_PARAM]);

/* Finds what is known of the same launch, or enters it as MET. *met says whether it was known.
 * NULL: out of memory, or too many are known. */
struct replay *replay_find(struct replay_store *s, const struct replay_launch *l, int *met);
/* Frees what was recorded; the launch stays known. */
void replay_empty(struct replay *r);

/* --- recording (replay_record.c) ------------------------------------------------------------ */

struct replay_record;
/* Begins the record of a launch that is known and not ready. NULL: the launch is too large or memory
 * ran out; it then runs without a record. */
struct replay_record *replay_record_new(struct replay_store *s, struct replay *of);
/* Ends a record. With a cost the launch went through and the record is kept; without, it is
 * dropped. */
void replay_record_free(struct replay_record *r, const struct tile_cost *cost, int64_t fuel);
/* The events that follow belong to instance `id`. */
void replay_record_program(struct replay_record *r, int64_t id);
/* Called before instruction pc runs. */
void replay_record_insn(struct machine *m, const struct decoded_insn *p, int pc);

struct access;
/* Called when the instruction has opened its access `a`, before it touches memory. */
void replay_record_access(const struct access *a);

/* --- replaying (replay.c) ------------------------------------------------------------------- */

/* Does the events of one instance. Returns 0, or -1 after a fault. */
int replay_program(struct machine *m, int64_t id);
/* Opens `a` at the footprint of the current event. */
void replay_open(struct access *a);
/* Loads the lanes of a footprint that is not boxed into a register. */
void replay_gather(const struct access *a, char *out);
struct access_row;
/* Sets *r to the next row of a footprint that is not boxed. Returns 0 after the last row. */
int replay_next(struct access *a, struct access_row *r);

#endif
