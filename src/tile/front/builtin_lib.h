/* libdevice: functions that are known only by their name and overloads (machine/math.def). */
#ifndef TILE_FRONT_BUILTIN_LIB_H
#define TILE_FRONT_BUILTIN_LIB_H

#include "tile/front/front.h"

/* Whether some overload of the function exists. */
int lang_libdevice_exists(struct str name);
/* Calls the overload that fits the arguments, after Triton's conversions. */
struct lang_val lang_libdevice_call(struct front *f, struct str name, const struct front_args *args);

#endif
