/* The library that programs can import: the tables of bound names (bind.def) and the embedded
 * Python sources (prelude.def). */
#ifndef TORCH_PRELUDE_H
#define TORCH_PRELUDE_H

#include "interp/lib.h"

extern const struct lib_source torch_library;

#endif
