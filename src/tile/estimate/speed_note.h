/* Notes about the estimated speed of kernels, for people: how long each kernel takes, what bounds it, and how
 * much of the GPU's peak it reaches. Plain data without pointers, so that processes can exchange it. */
#ifndef TILE_ESTIMATE_SPEED_NOTE_H
#define TILE_ESTIMATE_SPEED_NOTE_H

#include "base/str.h"
#include "tile/estimate/speed.h"

/* The largest part of a kernel's time: bytes of memory, arithmetic, instances that wait (too few or too long),
 * or the overhead of launches, which is longer than the kernel. */
enum speed_bound { SPEED_MEMORY, SPEED_COMPUTE, SPEED_LATENCY, SPEED_LAUNCHES, SPEED_BOUNDS };
const char *speed_bound_name(enum speed_bound b);

enum { SPEED_NOTES = 6, SPEED_NAME = 40 };

struct speed_note {
	char name[SPEED_NAME];      /* of the kernel */
	int launches;
	double seconds;             /* of all launches, without their overhead */
	double peak;                /* seconds that the bytes or operations would take at the GPU's peak rate */
	double products;            /* seconds that its matrix products would take at that rate */
	int bound;                  /* enum speed_bound of its longest launch */
	double longest;             /* seconds of that launch */
};

struct speed_notes {
	int n, more;                /* kernels noted; kernels beyond SPEED_NOTES */
	struct speed_note v[SPEED_NOTES];
};

/* Adds a launch that was estimated to take `seconds`. */
void speed_notes_add(struct speed_notes *s, struct str kernel, const struct probe *p, const struct tile_gpu *g,
		     double seconds);
/* Are the values possible? They may come from a process that is not trusted. */
int speed_notes_sane(const struct speed_notes *s);

#endif
