/* A whole run from its configuration to its end, with a copy in a bucket and a watch over machine
 * and budget. */
#ifndef RUN_WHOLE_RUN_H
#define RUN_WHOLE_RUN_H

#include "run/safeguard.h"
#include "run/pipeline.h"

struct whole_run {
	struct pipeline_source source;     /* with `again` and config NULL: the configuration in the folder */
	const struct safeguard_args *keep;
	struct par *par;                   /* processes that run it together; NULL: one */
	int again;                         /* continue the run of the folder or bucket; it must exist */
	int dry;                           /* short stages, from the start, without a bucket */
};

/* *done is 0 if the run was stopped on request; stop_reason() says why. */
int whole_run(const struct whole_run *g, int *done, struct err *e);

#endif
