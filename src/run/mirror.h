/* A copy of a run folder in a bucket, updated while the run continues (net/depot.h describes the
 * layout there).
 *
 * A state is taken from the run without stopping it: complete checkpoints are linked, the store is
 * copied, then growing files are copied. In this order the copied store is never older than the
 * copied checkpoints. The state is then uploaded, the newest checkpoint first. `run` can continue a
 * folder that was downloaded. */
#ifndef RUN_MIRROR_H
#define RUN_MIRROR_H

#include <stdatomic.h>

#include "base/opt.h"
#include "net/depot.h"

struct mirror_args {
	const char *bucket, *endpoint, *region, *profile, *style, *ca_file, *metadata;
	double every, mb_per_second;      /* seconds between states; limit of the upload, 0: none */
	int64_t keep;                     /* states that stay in the bucket */
	int64_t parallel, attempts;       /* parts of a file at the same time; tries of a call */
};
extern const struct opt mirror_args_table[];

/* Opens the bucket that the options name. `stop` ends its calls; NULL: nothing does. */
struct s3 *mirror_bucket(const struct mirror_args *a, const atomic_int *stop, struct err *e);

/* Checks that the bucket exists and that this machine may list, write and delete there. */
int mirror_check(const struct mirror_args *a, struct err *e);

/* Uploads one state, after claiming the run as its writer. */
int mirror_push(const struct mirror_args *a, const char *run, struct depot_pushed *out, struct err *e);
/* Downloads the newest state. Returns S3_ABSENT if the bucket has none. */
int mirror_pull(const struct mirror_args *a, const char *run, struct depot_pulled *out, struct err *e);

/* --- in the background -------------------------------------------------------------------------- */

struct mirror;

/* Claims the run and starts a thread that uploads a state every `every` seconds. */
struct mirror *mirror_start(const struct mirror_args *a, const char *run, struct err *e);
/* Uploads a last state, waits for it, and ends the thread. Returns -1 if that state was not uploaded (*e says
 * why). NULL is allowed. */
int mirror_finish(struct mirror *m, struct err *e);

struct mirror_status {
	int64_t tries;                /* attempts to upload a state */
	int64_t states;               /* successful ones */
	int64_t failures;             /* failed ones since the last success */
	double age;                   /* seconds since the last success; -1: none yet */
	int64_t bytes_sent;
	int lost;                     /* another machine has claimed the run: nothing is uploaded any more */
};
struct mirror_status mirror_status(struct mirror *m);

#endif
