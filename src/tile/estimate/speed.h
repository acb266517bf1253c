/* How long a kernel would take on a GPU: an estimate from what the probe counted. See
 * doc/speed.md. */
#ifndef TILE_ESTIMATE_SPEED_H
#define TILE_ESTIMATE_SPEED_H

#include "tile/estimate/gpu.h"
#include "tile/estimate/probe.h"

struct speed_rates {
#define SPEED(name, value) double name;
#include "tile/estimate/speed.def"
#undef SPEED
};
extern const struct speed_rates speed_rates;

/* Seconds that each part of the GPU is busy, or that instances wait. */
struct speed_parts {
	double vector, requests, l2, tensor, memory, waiting, atomics;
	int resident;               /* instances that a multiprocessor holds at once */
};

/* Seconds of a launch. `parts` may be NULL. */
double speed_kernel(const struct probe *p, const struct tile_gpu *g, struct speed_parts *parts);
/* Bytes per second that a stream of loads and stores reaches. */
double speed_stream(const struct tile_gpu *g);

#endif
