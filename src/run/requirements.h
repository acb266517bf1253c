/* What a run needs and is not on this machine, before any of it has begun. */
#ifndef RUN_REQUIREMENTS_H
#define RUN_REQUIREMENTS_H

#include "data/prepare_args.h"
#include "run/stage_args.h"

/* What is looked for; what is NULL is not. */
struct requirements {
	const struct prepare_args *prepare;
	const struct policy_opts *policy;
	const struct eval_args *eval;
};

/* Appends a line for each thing that is not there, with what would help; returns how many. */
int requirements_missing(const struct requirements *n, struct buf *out);

#endif
