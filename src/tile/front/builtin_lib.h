/* libdevice: functions known only by name and overloads (math.def). */
#ifndef TILE_FRONT_BUILTIN_LIB_H
#define TILE_FRONT_BUILTIN_LIB_H

#include "tile/front/front.h"

int lang_libdevice_exists(struct str name);
struct lang_val lang_libdevice_call(struct front *f, struct str name, const struct front_args *args);

#endif
