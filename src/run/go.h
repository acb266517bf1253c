/* A whole run from its configuration to its end, kept beyond the machine it is on. */
#ifndef RUN_GO_H
#define RUN_GO_H

#include "run/keep.h"
#include "run/pipeline.h"

struct go {
	struct pipeline_source source;     /* config NULL and `again`: the folder's own */
	const struct keep_args *keep;
	struct par *par;                   /* processes that run it together; NULL: one */
	/* continue what the folder, or the bucket, holds; nothing there is an error */
	int again;
	int dry;                           /* a few rows, steps and tokens of everything, from nothing, kept nowhere */
};

/* *done 0: stopped on request; base/progress.h knows by whom. */
int go_run(const struct go *g, int *done, struct err *e);

#endif
