/* What keeps a run alive beyond its machine: its mirror in a bucket, and the watch over notices
 * and budgets. Opened around the stages by run and train. */
#ifndef RUN_KEEP_H
#define RUN_KEEP_H

#include "run/mirror.h"
#include "run/watch.h"

struct keep_args {
	struct mirror_args mirror;
	struct watch_args watch;
};
extern const struct opt keep_args_table[];

struct keep { struct mirror *mirror; struct watch *watch; };
#define KEEP_INIT { .mirror = NULL }

/* A run folder without a store is first filled from the bucket, if that has the run. Where a bucket is
 * named and cannot be reached for want of credentials, one sentence says so and the run stays local. */
int keep_open(struct keep *k, const struct keep_args *a, const char *run, struct err *e);
/* For a process that works on a run which another one keeps: heeds the notice of its own machine. */
int keep_open_other(struct keep *k, const struct keep_args *a, struct err *e);
/* Brings the bucket up to date; what goes wrong there is said and does not fail the run. */
void keep_close(struct keep *k);

#endif
