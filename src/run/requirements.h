/* Requirements of a run that are missing on this machine, found before the run starts. */
#ifndef RUN_REQUIREMENTS_H
#define RUN_REQUIREMENTS_H

#include "data/prepare_args.h"
#include "run/stage_args.h"

/* The options whose files and devices are checked; NULL: that part is not checked. */
struct requirements {
	const struct prepare_args *prepare;
	const struct policy_opts *policy;
	const struct eval_args *eval;
};

/* Appends a line for each missing thing, with a way to provide it. Returns their number. */
int requirements_missing(const struct requirements *n, struct buf *out);

#endif
