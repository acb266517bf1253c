/* What a launch would do on a GPU, counted without its memory: a few of its programs are walked through,
 * with integers and addresses computed and everything that hangs on contents left out. Loads give zeros,
 * comparisons of floats hold, long loops are walked at three of their turns which stand for the others.
 *
 * So it works at any size, on tensors without contents, in about the time that a handful of programs
 * take. What it finds is for estimates of time only (speed.h); nothing is checked, and a program that
 * goes astray in it is counted as far as it came. */
#ifndef TILE_ESTIMATE_PROBE_H
#define TILE_ESTIMATE_PROBE_H

#include "tile/tile.h"

enum { PROBE_PARAMS = 128 };                /* no launch has more arguments (torch/triton_launch.c) */

/* The instructions of one program, counted in lanes; a tile of fewer elements than the program has
 * threads is computed by all of them. */
struct probe_ops {
	double f32, f16, f64, integer;
	double divided, int_divided;        /* quotients and remainders: of floats, of integers */
	/* exp2, rsqrt and the like; functions of many instructions (erf, tanh, pow) */
	double special, heavy;
	double reduced;                     /* lanes that reductions, scans and sorts take */
};

/* Products of one program, in operations (multiply-adds times two). */
struct probe_dots {
	double tf32, f16, f8, int8, f64, f32;
	double count;
	double transposed;                     /* operations times operands whose sums do not run along memory */
	int m, n, k;                        /* of the largest */
};

/* Loads and stores of one program. Warps ask for lanes; a request takes as many lines of 128 bytes
 * and sectors of 32 as its lanes lie in. */
struct probe_memory {
	double load_bytes, store_bytes;
	double requests, lines, sectors;    /* of loads, stores and atomics */
	double missed;                      /* sectors of loads that the program has not touched shortly before */
	double atomics, atomic_sectors;
};

/* Through one pointer. */
struct probe_param {
	double bytes;                       /* of the allocation */
	double loaded, stored, atomics;     /* sectors and, last, lanes of one program */
	double unique;                      /* different sectors of one program */
};

struct probe {
	double programs;
	int warps, stages;
	double shared_bytes, registers;     /* of a program, of a thread: estimates of resource.h */
	struct probe_ops ops;
	struct probe_dots dots;
	struct probe_memory memory;
	/* times that a program waits for loads; in loops whose loads are made ahead */
	double load_waits, piped_waits;
	double syncs;                       /* and for its other warps */
	double converts;                    /* and for a loaded vector to become a side of a tile */
	int n_params;
	struct probe_param param[PROBE_PARAMS];
};

/* 0 and *out; -1: *e. */
int probe_launch(const struct tile_code *code, const struct tile_launch *l, int capability, struct probe *out,
		 struct err *e);

#endif
