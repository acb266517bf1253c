/* A record under way: what replay_record.c and replay_tap.c share. */
#ifndef TILE_MACHINE_REPLAY_RECORD_H
#define TILE_MACHINE_REPLAY_RECORD_H

#include "tile/machine/replay.h"

/* Open addressing, from the hash of an item to its index; index -1: free. */
struct lookup {
	struct { uint64_t hash; int32_t index; } *v;
	size_t n, cap;
};

/* The four instructions before an addition that formed a tap with it last time; 0 first: never.
 * Checked again only if they differ. */
struct replay_ends {
	int32_t pc[4];
};

/* All arrays are owned. */
struct replay_record {
	struct replay_store *store;
	struct replay *out;         /* the record; borrowed from the store */
	const uint8_t *roles;       /* decoded->replay_roles */
	int32_t *last_footprint;    /* by instruction: index of its last footprint, or -1 */
	int32_t *last_value;        /* by register: index of its last recorded value, or -1 */
	struct replay_ends *ends;   /* by instruction */
	/* by register: the value that a replay of this instance has in it by now, or -1 */
	int32_t *held;
	int32_t *offsets;           /* room for the lanes of the largest tile */
	int n_regs;
	struct lookup footprints, values;
	size_t bytes;               /* so far */
	int64_t id;                 /* current instance, or -1 before the first */
	int failed;
};

/* Nonzero if the next instruction needs no step of its own: it was merged into the steps before
 * it, or it does nothing. */
int replay_spares(struct machine *m, const struct tile_insn *in, int pc);

#endif
