/* The embedded Python sources. */
#ifndef HOST_PRELUDE_H
#define HOST_PRELUDE_H

#include "base/str.h"

struct prelude { const char *module, *file; struct str text; };
size_t prelude_count(void);
struct prelude prelude_get(size_t i);

/* Does the real torch, triton or standard library have this dotted name? */
int prelude_knows(struct str dotted);

#endif
