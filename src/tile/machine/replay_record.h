/* A record under way: what replay_record.c and replay_tap.c share. */
#ifndef TILE_MACHINE_REPLAY_RECORD_H
#define TILE_MACHINE_REPLAY_RECORD_H

#include "tile/machine/replay.h"

/* Open addressing, from the hash of an item to its index. */
struct lookup {
	struct { uint64_t hash; int32_t index; } *v;
	size_t n, cap;
};

/* The four instructions before an addition with which it was a tap the last time, as far as these
 * say; 0 first: it never was. */
struct replay_ends {
	int32_t pc[4];
};

struct replay_record {
	struct replay_store *store;
	struct replay *out;
	const uint8_t *roles;
	int32_t *last_footprint;            /* by instruction */
	int32_t *last_value;            /* by register */
	struct replay_ends *ends;       /* by instruction */
	int32_t *held;                  /* value that a replay of this program has in a register by now, -1: none */
	int32_t *offsets;               /* of the largest tile */
	int n_regs;
	struct lookup footprints, values;
	size_t bytes;
	int64_t id;
	int failed;
};

/* Is the instruction that comes next no step of its own? Then it was put into the steps before it, or does nothing. */
int replay_spares(struct machine *m, const struct tile_insn *in, int pc);

#endif
