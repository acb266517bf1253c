/* Requirements of a run that are missing on this machine, found before the run starts. */
#ifndef RUN_REQUIREMENTS_H
#define RUN_REQUIREMENTS_H

#include "run/pipeline.h"

/* Appends a line for each thing that the stages of this run need and that is missing, with a way to provide it.
 * Tasks that stage prepare will write are not missing. Returns their number. */
int requirements_missing(const struct pipeline *p, struct buf *out);

#endif
