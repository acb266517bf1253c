/* An estimate of the time that one call of a program takes on a GPU: its kernels by
 * tile/estimate/speed.h, its torch operators by op_speed.h, and Python around them. It is never
 * mixed with measured times: a verdict that has an estimate says "model". */
#ifndef HOST_ESTIMATE_H
#define HOST_ESTIMATE_H

#include "host/host.h"
#include "tile/estimate/speed_note.h"
#include "tile/tile.h"

enum { ESTIMATE_TUNED = 16 };

/* A kernel with an autotuner: the best configuration that it tries is the one that it will run. */
struct estimate_tuned {
	const struct tile_fn *fn;
	double best;                /* seconds */
	int timing;                 /* the next launch is the autotuner's own, and does not count */
};

struct estimate {
	const struct tile_gpu *gpu;
	unsigned tf32;              /* enum num_products counted as tf32, even if the program says otherwise */
	int tunes;                  /* an autotuner launches its choice once more (host_options.tune) */
	double busy, host;          /* seconds of the GPU, of Python */
	struct speed_notes kernels; /* the launches that count, by kernel */
	struct estimate_tuned tuned[ESTIMATE_TUNED];
	int n_tuned;
};

void estimate_begin(struct estimate *s, const struct tile_gpu *g, unsigned tf32, int tunes);
/* Adds a call of an operator: for host_set_called, with the estimate as its context. */
void estimate_call(void *estimate, const struct host_op_call *c);
/* Adds a launch, or notes one that is only compiled because an autotuner tries it. Returns 0 on
 * success, -1 on failure (*e). */
int estimate_launch(struct estimate *s, const struct tile_code *code, const struct tile_launch *l, struct err *e);
/* Seconds of the whole call; 0: nothing of it was on the GPU. */
double estimate_seconds(const struct estimate *s);

#endif
