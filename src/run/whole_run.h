/* A whole run from its configuration to its end, kept beyond the machine it is on. */
#ifndef RUN_WHOLE_RUN_H
#define RUN_WHOLE_RUN_H

#include "run/safeguard.h"
#include "run/pipeline.h"

struct whole_run {
	struct pipeline_source source;     /* config NULL and `again`: the folder's own */
	const struct safeguard_args *keep;
	struct par *par;                   /* processes that run it together; NULL: one */
	/* continue what the folder, or the bucket, holds; nothing there is an error */
	int again;
	int dry;                           /* a few rows, steps and tokens of everything, from nothing, kept nowhere */
};

/* *done 0: stopped on request; base/progress.h knows by whom. */
int whole_run(const struct whole_run *g, int *done, struct err *e);

#endif
