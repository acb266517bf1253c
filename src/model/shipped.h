/* The model that ships with the program: models/writer, next to the program (a source tree, a wheel) or in
 * the share folder of an installation. */
#ifndef MODEL_SHIPPED_H
#define MODEL_SHIPPED_H

#include "base/str.h"

/* Says where the folder should be, and how it is replaced. */
#define MODEL_SHIPPED_MISSING "models/writer is not there: it should be next to the program or in " \
	"share/tritonrl; name a model with --model DIR"

/* Finds the folder and writes its path. Returns 0 if no folder of that name holds a model. */
int model_shipped(struct buf *path);

#endif
