/* Compiling without the cache, for checks and tests that want to watch. */
#ifndef TILE_FRONT_COMPILE_H
#define TILE_FRONT_COMPILE_H

#include "tile/front/engine.h"

struct compile_watch {
	/* Called for every stored value ("store") and every operand of tl.dot ("dot"). */
	void (*trace)(void *ctx, const char *what, const struct ty *ty, int line);
	void *ctx;
	/* A type for an argument whose value cannot express it ("u32", "*kfp16"), NULL: by value. */
	const char *const *types;
};

/* 0: compiled, *code is the caller's (NULL when `unsupported` is set: Triton accepts it, the
 * machine cannot run it). 1: refused, *d. -1: *e. */
int compile_kernel(struct tile_engine *g, const struct tile_launch *l, const struct compile_watch *w,
		   struct tile_code **code, struct diag *d, struct diag *unsupported, struct err *e);

/* --- specialisation (spec.c) ------------------------------------------------------------------- */

/* How a parameter is declared. */
struct spec_param {
	struct str name;
	int is_constexpr, is_const, no_specialize;
	char type[24];              /* forced by an annotation: "i64", "*fp32"; empty: by the value */
};
void spec_param(const struct tile_fn *fn, size_t i, struct spec_param *out);
/* Appends what makes two launches the same specialisation. */
void spec_key(const struct tile_launch *l, struct buf *out);
/* Binds the launch's arguments to the kernel's parameters: registers and constants. */
void spec_bind(struct front *f, const struct tile_launch *l, const char *const *types);

#endif
