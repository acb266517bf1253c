/* Safeguards of a run against the loss of its machine: a mirror in a bucket, and a watch over
 * notices of the cloud and over budgets. The commands run and train open them around their stages. */
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

/* NULL: without a mirror; without a watch. */
struct safeguard { struct mirror *mirror; struct watch *watch; };
#define SAFEGUARD_INIT { .mirror = NULL }

/* Fills a run folder without a store from the bucket first, if the bucket has the run. If a bucket is named and
 * there are no credentials, a warning says so and the run stays local.
 *
 * All processes that work on a run call it (`par` NULL: there is one). The first process mirrors the run. The
 * others wait until the folder is filled; one on each machine listens for the notice of that machine. */
int safeguard_open(struct safeguard *k, const struct safeguard_args *a, const char *run, struct par *par,
		   struct err *e);
/* Brings the bucket up to date. A failure there is a warning and does not fail the run. */
void safeguard_close(struct safeguard *k);

#endif
