/* Safeguards of a run: see safeguard.h.
 *
 * Decides which process of a run has a mirror, a full watch or only a listener for notices. The
 * mirror itself is in mirror.c, the watch in watch.c. */
#include "run/safeguard.h"

#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"

const struct opt safeguard_args_table[] = {
	OPT_INCLUDE(struct safeguard_args, mirror, mirror_args_table, "Copy in a bucket"),
	OPT_INCLUDE(struct safeguard_args, watch, watch_args_table, "Spot machines and budget"),
	OPT_END
};

/* Returns 1 if the folder holds a run, 0 if not, -1 on failure. */
static int has_run(const char *run, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = path_join(&path, run, "run.db") ? file_exists(path.p) : err_nomem(e);

	buf_release(&path);
	return rc;
}

/* Downloads the run from the bucket if the folder has none. A bucket without the run is no error. */
static int fill_folder(const struct safeguard_args *a, const char *run, struct err *e)
{
	struct depot_pulled p;
	int rc = has_run(run, e);

	if (rc)
		return rc < 0 ? -1 : 0;
	rc = mirror_pull(&a->mirror, run, &p, e);
	if (!rc)
		log_info("continuing the run in '%s': state %s, %lld files, %lld bytes fetched",
			 a->mirror.bucket, p.state, (long long)p.files,
			 (long long)p.bytes_fetched);
	return rc == S3_ABSENT ? 0 : rc;
}

/* Fills the folder and starts the mirror. Missing credentials (ERR_NOT_FOUND) leave the run without
 * a mirror; every other failure is an error, because the user asked for a copy. */
static int open_mirror(struct safeguard *k, const struct safeguard_args *a, const char *run, struct err *e)
{
	struct err why = ERR_INIT;
	int rc = fill_folder(a, run, &why) || file_mkdirs(run, &why) ? -1 : 0;

	if (!rc && !(k->mirror = mirror_start(&a->mirror, run, &why)))
		rc = -1;
	if (!rc || why.code != ERR_NOT_FOUND)
		return rc ? err_set(e, why.code, "%s", why.text) : 0;
	log_warn("the run is not copied to '%s': %s; it continues on this machine alone", a->mirror.bucket, why.text);
	return 0;
}

/* Opens mirror and watch for the first process of a run. */
static int open_first(struct safeguard *k, const struct safeguard_args *a, const char *run, struct err *e)
{
	struct watch_args w = a->watch;

	*k = (struct safeguard)SAFEGUARD_INIT;
	w.metadata = a->mirror.metadata;
	if ((a->mirror.bucket && open_mirror(k, a, run, e)) || file_mkdirs(run, e))
		return -1;
	k->watch = watch_start(&w, run, e);
	if (k->watch)
		return 0;
	safeguard_close(k);
	return -1;
}

/* Opens a watch without budget for another process: it only listens for the notice of its machine. */
static int open_notices(struct safeguard *k, const struct safeguard_args *a, struct err *e)
{
	struct watch_args w = { .spot = a->watch.spot, .poll = a->watch.poll, .metadata = a->mirror.metadata };

	*k = (struct safeguard)SAFEGUARD_INIT;
	k->watch = watch_start(&w, NULL, e);
	return k->watch ? 0 : -1;
}

/* The barrier keeps the others from reading a folder that is not filled yet. */
int safeguard_open(struct safeguard *k, const struct safeguard_args *a, const char *run, struct par *par, struct err *e)
{
	int rc = 0;

	*k = (struct safeguard)SAFEGUARD_INIT;
	if (par_first(par))
		rc = open_first(k, a, run, e);
	else if (!par_local_rank(par))
		rc = open_notices(k, a, e);
	/* If the budget was used up before, the watch has requested a stop already: then nobody waits. */
	return rc || stop_requested() ? rc : par_barrier(par, e);
}

void safeguard_close(struct safeguard *k)
{
	struct err e = ERR_INIT;

	watch_finish(k->watch);
	if (mirror_finish(k->mirror, &e))
		log_warn("the last state of this run is not in the bucket, only on this machine: %s", e.text);
	*k = (struct safeguard)SAFEGUARD_INIT;
}
