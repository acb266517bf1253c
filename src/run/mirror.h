/* A run folder kept in a bucket while the run goes on (net/depot.h has the layout there).
 *
 * A state is taken from the run without stopping it: complete checkpoints are linked, the store is
 * copied, what grows is copied, in that order, so that the store is never older than the
 * checkpoints beside it. Then it goes up, the newest checkpoint first. A folder that comes back down is one that
 * `run` continues. */
#ifndef RUN_MIRROR_H
#define RUN_MIRROR_H

#include <stdatomic.h>

#include "base/opt.h"
#include "net/depot.h"

struct mirror_args {
	const char *bucket, *endpoint, *region, *profile, *style, *ca_file, *metadata;
	double every, mb_per_second;
	int64_t keep, parallel, attempts;
};
extern const struct opt mirror_args_table[];

/* The bucket that the options name; `stop` ends its calls (NULL: nothing does). */
struct s3 *mirror_bucket(const struct mirror_args *a, const atomic_int *stop, struct err *e);

/* One state up, claimed as a writer of its own. */
int mirror_push(const struct mirror_args *a, const char *run, struct depot_pushed *out, struct err *e);
/* The newest state down. S3_ABSENT: the bucket has none. */
int mirror_pull(const struct mirror_args *a, const char *run, struct depot_pulled *out, struct err *e);

/* --- in the background -------------------------------------------------------------------------- */

struct mirror;

/* Claims the run and starts a thread that puts up a state every `every` seconds. */
struct mirror *mirror_start(const struct mirror_args *a, const char *run, struct err *e);
/* A last state, waited for; then the thread ends. -1: that state did not get there, *e says why. NULL is fine. */
int mirror_finish(struct mirror *m, struct err *e);

struct mirror_status {
	int64_t tries;                /* to bring a state there */
	int64_t states;               /* that got there */
	int64_t failures;             /* since the last one that did */
	double age;                   /* seconds since then; -1: none yet */
	int64_t bytes_sent;
	int lost;                     /* another machine took over: nothing goes up any more */
};
struct mirror_status mirror_status(struct mirror *m);

#endif
