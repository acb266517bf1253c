/* tritonrl bucket: creates a bucket with the settings that runs need, or prints its settings.
 * Creating an existing bucket is safe: settings that are already right are kept. */
#include <stdio.h>

#include "cmd/cmd.h"
#include "run/mirror.h"

struct args {
	struct mirror_args mirror;
	int64_t keep_days, abort_days;
	const char *kms_key;
};

static const struct opt opts[] = {
	OPT_INT(struct args, keep_days, "keep-days", 1, 36500, 7,
		"days to keep old versions of objects"),
	OPT_INT(struct args, abort_days, "abort-days", 1, 36500, 1,
		"days after which unfinished uploads are removed"),
	OPT_STR(struct args, kms_key, "kms-key", "ID", NULL,
		"encrypt with this KMS key instead of the service's key"),
	OPT_INCLUDE(struct args, mirror, mirror_args_table, "The bucket"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "create|show [s3://BUCKET]",
	.about = "Create a bucket for runs: encrypted, versioned, with rules that remove "
		 "unfinished uploads and old versions. Running `create` again is safe; existing "
		 "settings are kept. `show` prints the settings of a bucket.",
	.shown = "keep-days abort-days kms-key bucket endpoint region profile",
	.opts = opts,
};

/* The words after the command are `create` or `show` and, optionally, the bucket; --bucket names it
 * otherwise. */
static int run(struct args *a, const struct opt_parsed *p, struct err *e)
{
	struct s3_bucket_options o = { .keep_days = (int)a->keep_days, .abort_days = (int)a->abort_days,
				       .kms_key = a->kms_key };
	int create = p->n && !strcmp(p->args[0], "create"), rc = -1;
	struct buf said = BUF_INIT;
	struct s3 *s;

	if (!create && !(p->n && !strcmp(p->args[0], "show")))
		return err_set(e, ERR_USAGE, "say what to do: bucket create s3://BUCKET, or bucket show s3://BUCKET");
	if (p->n > 1)
		a->mirror.bucket = p->args[1];
	s = mirror_bucket(&a->mirror, NULL, e);
	if (s)
		rc = create ? s3_bucket_create(s, &o, &said, e) : s3_bucket_show(s, &said, e);
	if (rc == S3_ABSENT)
		rc = err_set(e, ERR_NOT_FOUND, "there is no bucket '%s'", s3_bucket(s));
	fputs(buf_cstr(&said), stdout);
	buf_release(&said);
	s3_close(s);
	return rc;
}

/* Options and words may come in any order. */
int cmd_bucket(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	rc = run(&a, &p, &e);
	opt_release(&p);
	return rc ? cmd_fail("bucket", &e) : CMD_OK;
}
