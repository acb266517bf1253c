/* Launches that are run again with other contents of memory.
 *
 * The judge runs a correct kernel some ten times with the same grid, the same numbers and tensors
 * of the same sizes. Most of what a program computes, above all addresses and masks, is then the
 * same every time. Of a launch's first run a record is kept: for each program, the operations that
 * depend on the contents of memory, in the order in which they were done, with the operands that do
 * not. A later run of the same launch in fast mode does only these. Loads and stores go to the
 * places that were checked when they were recorded; sizes are the same, so they are good.
 *
 * A kernel is not recorded if its path, an address or a mask depends on contents, or if it has
 * atomics or prints or looks at addresses (replay_dependence.c). A replay gives the same bytes as the
 * machine would and counts the same cost.
 *
 * A record belongs to one store, which must go before the code of the launches that are in it. */
#ifndef TILE_MACHINE_REPLAY_H
#define TILE_MACHINE_REPLAY_H

#include "tile/machine/machine.h"

/* What a register is to a replay. */
enum replay_role {
	REPLAY_FIXED,           /* the same in every run of a launch */
	REPLAY_KEPT,            /* and in every program: the prologue or an argument gives it */
	REPLAY_CONTENTS         /* computed anew */
};

/* Sets `replayed` of each instruction, the roles of registers, whether the kernel may be recorded
 * at all, and whether it goes where contents say. */
int replay_dependence(struct tile_code *c, struct tile_decoded *decoded, struct decoded_insn *p, const int *role,
		struct err *e);

/* One step of a program. */
struct replay_event {
	/* instruction to be done; below 0: register ~pc is given a value; or a tap, see below */
	int32_t pc;
	int32_t what;           /* index of its place, -1: none; of that value */
	int64_t base;           /* the place begins so many bytes behind that of the tensor's memory */
};

/* sum += load(place) * load(scalar), the inside of most convolutions, is one step of two events.
 * The first has the register of the sum and the place of the tile, the second that of what lanes
 * have that are off, as REPLAY_NOTHING if none is, and the place of the scalar; both have this bit. */
enum { REPLAY_TAP = 1 << 30, REPLAY_NOTHING = REPLAY_TAP - 1 };

/* `count` lanes from `lane` on, side by side in memory, `offset` bytes behind the place's
 * beginning. No row crosses a multiple of REPLAY_BLOCK lanes. */
enum { REPLAY_BLOCK = 16 };
struct replay_row {
	int32_t lane, count, offset;
};

#define REPLAY_OFF INT32_MIN    /* offset of a lane that is off */

/* Lanes of a load or store, relative to a beginning: the address of its pointer if boxed, else of
 * the first lane that is on. */
struct replay_footprint {
	int16_t param;          /* whose tensor it is in, -1: no lane is on */
	uint8_t boxed, kind;    /* as struct access and the pointer have them */
	int32_t lanes;
	int64_t active;
	int64_t stride[TILE_DIMS];
	int32_t lo[TILE_DIMS], hi[TILE_DIMS];
	/* Not boxed: offset of each lane. Its rows, where there are few; of a box, if it is one line. */
	const int32_t *offset;
	const struct replay_row *rows;
	int32_t n_rows;
};

/* A value that is the same in every run; `data` has its lanes unless it is a scalar. */
struct replay_value {
	int64_t kind;
	union { int64_t i; unsigned char raw[8]; } u;
	int64_t more[TILE_DIMS];    /* strides or box */
	const void *data;
	size_t bytes;
};

/* A launch that was met in fast mode alone is recorded when it comes again: many never do. One in
 * checked mode is recorded at once, for others will follow if it is right. */
enum replay_state { REPLAY_MET, REPLAY_READY, REPLAY_FAILED };

struct replay {
	const struct tile_code *code;       /* or one that is the same */
	int64_t *key;
	size_t n_key;
	enum replay_state state;
	struct tile_cost cost;
	int64_t fuel;                       /* that the launch took */
	struct { struct replay_event *v; size_t n, cap; } events;
	struct { int64_t first, last; } *programs;
	struct { struct replay_footprint *v; size_t n, cap; } footprints;
	struct { struct replay_value *v; size_t n, cap; } values;
	struct arena mem;                   /* of the data of places and values */
};

enum { REPLAY_LEAST = 2000 };           /* what an engine takes for `least` */

struct replay_store {
	struct { struct replay **v; size_t n, cap; } known;
	size_t bytes;
	int64_t least;                      /* operations below which a launch is not worth a record */
};
void replay_store_release(struct replay_store *s);

/* --- what a launch is known by ------------------------------------------------------------ */

struct replay_launch {
	const struct tile_code *code;
	const struct allocation *allocs;
	const struct mval *bound;
	const int64_t *grid;
	int trust_hints;
};

/* What the i-th parameter adds: a number, or where a tensor is in which memory, and how large. */
enum { REPLAY_KEY_PARAM = 5 };
void replay_key_param(const struct replay_launch *l, int i, int64_t key[REPLAY_KEY_PARAM]);

/* What is known of the same launch; it is met now if it was not before. NULL: too many are, or memory ended. */
struct replay *replay_find(struct replay_store *s, const struct replay_launch *l, int *met);
/* Gives back what was recorded. */
void replay_empty(struct replay *r);

/* --- recording (replay_record.c) ------------------------------------------------------------ */

struct replay_record;
/* Of a launch that is known and not ready. NULL: it is too large or memory ended, and the launch just runs. */
struct replay_record *replay_record_new(struct replay_store *s, struct replay *of);
/* Ends it. With a cost the launch ran through and is kept; without, it is not. */
void replay_record_free(struct replay_record *r, const struct tile_cost *cost, int64_t fuel);
void replay_record_program(struct replay_record *r, int64_t id);
/* Instruction pc is about to be done. */
void replay_record_insn(struct machine *m, const struct decoded_insn *p, int pc);

struct access;
/* It is about to touch what `a`, just opened, says. */
void replay_record_access(const struct access *a);

/* --- replaying (replay.c) ------------------------------------------------------------------- */

/* Does the events of one program. 0, or -1 after a fault. */
int replay_program(struct machine *m, int64_t id);
/* Opens `a` at the place of the event under way. */
void replay_open(struct access *a);
/* The lanes of a place that is no box into a register. */
void replay_gather(const struct access *a, char *out);
struct access_row;
/* Their next row; 0: no more. */
int replay_next(struct access *a, struct access_row *r);

#endif
