/* What keeps a run alive beyond its machine: its mirror in a bucket, and the watch over notices
 * and budgets. Opened around the stages by run and train. */
#ifndef RUN_SAFEGUARD_H
#define RUN_SAFEGUARD_H

#include "par/par.h"
#include "run/mirror.h"
#include "run/watch.h"

struct safeguard_args {
	struct mirror_args mirror;
	struct watch_args watch;
};
extern const struct opt safeguard_args_table[];

struct safeguard { struct mirror *mirror; struct watch *watch; };
#define SAFEGUARD_INIT { .mirror = NULL }

/* A run folder without a store is first filled from the bucket, if that has the run. Where a bucket is
 * named and cannot be reached for want of credentials, one sentence says so and the run stays local.
 *
 * All processes that work on a run call it (`par` NULL: there is one). The first keeps the run, the
 * others wait until the folder is filled, and one a machine heeds the notice of that machine. */
int safeguard_open(struct safeguard *k, const struct safeguard_args *a, const char *run, struct par *par, struct err *e);
/* Brings the bucket up to date; what goes wrong there is said and does not fail the run. */
void safeguard_close(struct safeguard *k);

#endif
