/* tritonrl sync: uploads the state of a run folder to a bucket once, or downloads it. `run
 * --bucket` does the same periodically; run/mirror.h owns the protocol. */
#include <stdio.h>

#include "cmd/cmd.h"
#include "run/mirror.h"

struct args {
	struct mirror_args mirror;
	int pull;
};

static const struct opt opts[] = {
	OPT_FLAG(struct args, pull, "pull", 0,
		 "download the newest complete state from the bucket into RUN"),
	OPT_INCLUDE(struct args, mirror, mirror_args_table, "The bucket"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "RUN",
	.about = "Upload the state of a run folder to a bucket, or download it. Objects are named "
		 "by their content, so only new content is transferred. A state becomes visible "
		 "once it is complete; after that, uploads of an older copy of the run are "
		 "refused. `run --bucket` does this automatically.",
	.shown = "pull bucket endpoint region profile sync-mb",
	.opts = opts,
};

/* Prints how much of the state was new: objects that the bucket already has are not sent. */
static int push(const struct args *a, const char *run, struct err *e)
{
	struct depot_pushed p;
	int rc = mirror_push(&a->mirror, run, &p, e);

	if (!rc)
		printf("%s: %lld files, %lld bytes; sent %lld files, %lld bytes\n", a->mirror.bucket,
		       (long long)p.files, (long long)p.bytes,
		       (long long)p.files_sent, (long long)p.bytes_sent);
	return rc;
}

/* An empty bucket is an error here, because the user named a run that should be in it. */
static int pull(const struct args *a, const char *run, struct err *e)
{
	struct depot_pulled p;
	int rc = mirror_pull(&a->mirror, run, &p, e);

	if (rc == S3_ABSENT)
		return err_set(e, ERR_NOT_FOUND, "'%s' holds no run", a->mirror.bucket);
	if (!rc)
		printf("%s: state %s, %lld files, %lld bytes; fetched %lld files, %lld bytes\n", run,
		       p.state, (long long)p.files, (long long)p.bytes,
		       (long long)p.files_fetched, (long long)p.bytes_fetched);
	return rc;
}

/* One folder per call: a bucket prefix belongs to one run. */
int cmd_sync(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	if (p.n != 1)
		rc = err_set(&e, ERR_USAGE, "name one run folder");
	else
		rc = a.pull ? pull(&a, p.args[0], &e) : push(&a, p.args[0], &e);
	opt_release(&p);
	return rc ? cmd_fail("sync", &e) : CMD_OK;
}
