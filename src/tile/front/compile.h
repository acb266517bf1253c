/* Compilation without the cache, for checks and tests that want to observe it; and specialisation. */
#ifndef TILE_FRONT_COMPILE_H
#define TILE_FRONT_COMPILE_H

#include "tile/front/engine.h"

/* The wishes of an observer. */
struct compile_watch {
	/* Called for every stored value ("store") and every operand of tl.dot ("dot"). */
	void (*trace)(void *ctx, const char *what, const struct ty *ty, int line);
	void *ctx;
	/* A type for an argument whose value cannot express it ("u32", "*kfp16"), NULL: by value. */
	const char *const *types;
};

/* Compiles a launch. Returns 0 and sets *code, which the caller frees. *code is NULL if
 * `unsupported` is set: Triton accepts the kernel, the machine cannot run it. Returns 1 if Triton
 * refuses it (*d), -1 on our own failure (*e). */
int compile_kernel(struct tile_engine *g, const struct tile_launch *l, const struct compile_watch *w,
		   struct tile_code **code, struct diag *d, struct diag *unsupported, struct err *e);

/* --- specialisation (spec.c) ------------------------------------------------------------------- */

/* The declaration of a parameter. */
struct spec_param {
	struct str name;
	int is_constexpr, is_const, no_specialize;
	char type[24];              /* from an annotation: "i64", "*fp32"; empty: the value decides */
};
void spec_param(const struct tile_fn *fn, size_t i, struct spec_param *out);
/* Appends the key of the specialisation: two launches with the same key share their code. */
void spec_key(const struct tile_launch *l, struct buf *out);
/* Binds the arguments of the launch to the parameters of the kernel, as registers or constants. */
void spec_bind(struct front *f, const struct tile_launch *l, const char *const *types);

#endif
