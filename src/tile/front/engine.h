/* The engine: what every compilation and run of a process shares. One thread at a time uses
 * an engine; code it gave out is immutable and lives as long as the engine. */
#ifndef TILE_FRONT_ENGINE_H
#define TILE_FRONT_ENGINE_H

#include "tile/front/builtin.h"
#include "tile/machine/execute.h"
#include "tile/machine/replay.h"
#include "tile/machine/checked_launches.h"
#include "tile/tile.h"

struct tile_engine {
	struct tile_options o;
	struct builtin_table builtins;
	/* The part of triton.language that is written in Triton (lang_library.c). */
	struct py_module library;
	struct tile_fn *lib_fns;
	size_t n_lib_fns;
	struct map lib_by_name;         /* -> index + 1 */
	struct map cache;               /* specialisation -> struct compiled * */
	struct arena mem;
	struct arena scratch;           /* of the compilation under way */
	struct shadow_pool shadows;     /* of runs in checked mode, one after another */
	struct replay_store replays;    /* of the launches of the code in `cache` */
	struct checked_launches checked;   /* which of these were checked */
};

int lang_library_open(struct tile_engine *g, struct err *e);
/* A library function by name; `exported` leaves out what starts with '_'. NULL: none. */
const struct tile_fn *lang_library_get(const struct tile_engine *g, struct str name, int exported);
int lang_is_library(const struct tile_engine *g, const struct tile_fn *fn);
/* Is it a method of tensors too? */
int lang_library_method(struct str name);

#endif
