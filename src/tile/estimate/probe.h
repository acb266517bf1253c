/* Counts what a launch would do on a GPU, without its memory. A few of its program instances are
 * walked through: integers and addresses are computed, everything that depends on contents is left
 * out. Loads give zeros, comparisons of floats are true, and a long loop is walked at three of its
 * iterations, which represent the others.
 *
 * A probe works at any size, on tensors without contents, in about the time that a handful of
 * instances take. The counts are for estimates of time only (speed.h). Nothing is checked, and an
 * instance that fails is counted up to its failure. */
#ifndef TILE_ESTIMATE_PROBE_H
#define TILE_ESTIMATE_PROBE_H

#include "tile/tile.h"

enum { PROBE_PARAMS = 128 };                /* no launch has more arguments (torch/triton_launch.c) */

/* Instructions of one instance, counted in lanes. A tile with fewer elements than the instance
 * has threads is computed by all of them. */
struct probe_ops {
	double f32, f16, f64, integer;
	double divided, int_divided;        /* quotients and remainders of floats; of integers */
	/* Instructions of the special unit (exp2, rsqrt); functions of many instructions (erf, pow). */
	double special, heavy;
	double reduced;                     /* lanes that reductions, scans and sorts take */
};

/* Matrix products of one instance, in operations (multiply-adds times two). */
struct probe_dots {
	double tf32, f16, f8, int8, f64, f32;
	double count;
	/* operations, counted once for each operand whose K dimension is not contiguous in memory */
	double transposed;
	int m, n, k;                        /* shape of the largest product */
};

/* Loads and stores of one instance. A request is what the 32 threads of a warp ask for at once.
 * It takes as many lines of 128 bytes and sectors of 32 bytes as its lanes touch. */
struct probe_memory {
	double load_bytes, store_bytes;
	double requests, lines, sectors;    /* of loads, stores and atomics */
	/* sectors of loads that the instance has not touched shortly before */
	double missed;
	double atomics, atomic_sectors;
};

/* Accesses through one pointer parameter. */
struct probe_param {
	double bytes;                       /* of the allocation */
	double loaded, stored, atomics;     /* sectors, sectors and lanes of one instance */
	double unique;                      /* different sectors that one instance touches */
};

/* The counts of one launch. Counts are averages over the instances that were walked. */
struct probe {
	double programs;                    /* instances of the grid */
	int warps, stages;
	double shared_bytes, registers;     /* of an instance; of a thread: estimates of resource.h */
	struct probe_ops ops;
	struct probe_dots dots;
	struct probe_memory memory;
	/* How often an instance waits for loads; the same in loops that load ahead (pipelined). */
	double load_waits, piped_waits;
	double syncs;                       /* how often it waits for its other warps */
	/* how often a loaded vector goes through shared memory to become a side of a tile */
	double converts;
	int n_params;
	struct probe_param param[PROBE_PARAMS];
};

/* Returns 0 and fills *out, or -1 and *e. */
int probe_launch(const struct tile_code *code, const struct tile_launch *l, int capability, struct probe *out,
		 struct err *e);

#endif
