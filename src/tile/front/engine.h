/* The engine: the state that all compilations and runs share. One thread at a time uses an engine.
 * Code that it gave out is immutable and lives as long as the engine. */
#ifndef TILE_FRONT_ENGINE_H
#define TILE_FRONT_ENGINE_H

#include "tile/front/builtin.h"
#include "tile/machine/execute.h"
#include "tile/machine/replay.h"
#include "tile/machine/checked_launches.h"
#include "tile/tile.h"

/* Everything that compilations and runs share. */
struct tile_engine {
	struct tile_options o;
	struct builtin_table builtins;
	/* The part of triton.language that is written in Triton (lang_library.c). */
	struct py_module library;
	struct tile_fn *lib_fns;
	size_t n_lib_fns;
	struct map lib_by_name;         /* name -> index into lib_fns, plus 1 */
	struct map cache;               /* specialisation -> struct compiled * */
	struct arena mem;           /* the library's functions */
	struct arena scratch;           /* of the current compilation */
	struct shadow_pool shadows;     /* shadow memory of checked runs */
	struct replay_store replays;    /* records of launches of the code in `cache` */
	struct checked_launches checked;   /* launches that went through a checked run */
};

/* Parses the part of triton.language that is written in Triton. */
int lang_library_open(struct tile_engine *g, struct err *e);
/* Returns the library function of that name, or NULL. `exported` excludes names that start with
 * '_'. */
const struct tile_fn *lang_library_get(const struct tile_engine *g, struct str name, int exported);
int lang_is_library(const struct tile_engine *g, const struct tile_fn *fn);
/* Whether the library function is also a method of tensors: x.sum(0). */
int lang_library_method(struct str name);

#endif
