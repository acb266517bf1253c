/* Beyond the machine: see keep.h. */
#include "run/keep.h"

#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"

const struct opt keep_args_table[] = {
	OPT_INCLUDE(struct keep_args, mirror, mirror_args_table, "Copy in a bucket"),
	OPT_INCLUDE(struct keep_args, watch, watch_args_table, "Spot machines and budget"),
	OPT_END
};

/* 1: there is a run in the folder. */
static int has_run(const char *run, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = path_join(&path, run, "run.db") ? file_exists(path.p) : err_nomem(e);

	buf_release(&path);
	return rc;
}

static int fill_folder(const struct keep_args *a, const char *run, struct err *e)
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

static int open_mirror(struct keep *k, const struct keep_args *a, const char *run, struct err *e)
{
	struct err why = ERR_INIT;
	int rc = fill_folder(a, run, &why) || file_mkdirs(run, &why) ? -1 : 0;

	if (!rc && !(k->mirror = mirror_start(&a->mirror, run, &why)))
		rc = -1;
	if (!rc || why.code != ERR_NOT_FOUND)
		return rc ? err_set(e, why.code, "%s", why.text) : 0;
	log_warn("the run is not kept in '%s': %s; it goes on, on this machine alone", a->mirror.bucket, why.text);
	return 0;
}

static int open_first(struct keep *k, const struct keep_args *a, const char *run, struct err *e)
{
	struct watch_args w = a->watch;

	*k = (struct keep)KEEP_INIT;
	w.metadata = a->mirror.metadata;
	if ((a->mirror.bucket && open_mirror(k, a, run, e)) || file_mkdirs(run, e))
		return -1;
	k->watch = watch_start(&w, run, e);
	if (k->watch)
		return 0;
	keep_close(k);
	return -1;
}

/* For a process that works on a run which another one keeps. */
static int open_notices(struct keep *k, const struct keep_args *a, struct err *e)
{
	struct watch_args w = { .spot = a->watch.spot, .poll = a->watch.poll, .metadata = a->mirror.metadata };

	*k = (struct keep)KEEP_INIT;
	k->watch = watch_start(&w, NULL, e);
	return k->watch ? 0 : -1;
}

int keep_open(struct keep *k, const struct keep_args *a, const char *run, struct par *par, struct err *e)
{
	int rc = 0;

	*k = (struct keep)KEEP_INIT;
	if (par_first(par))
		rc = open_first(k, a, run, e);
	else if (!par_local_rank(par))
		rc = open_notices(k, a, e);
	/* A budget that was spent before this began stops it here. */
	return rc || stop_requested() ? rc : par_barrier(par, e);
}

void keep_close(struct keep *k)
{
	struct err e = ERR_INIT;

	watch_finish(k->watch);
	if (mirror_finish(k->mirror, &e))
		log_warn("the last state of this run is on this machine only: %s", e.text);
	*k = (struct keep)KEEP_INIT;
}
