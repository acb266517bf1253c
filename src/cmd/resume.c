/* tritonrl resume: continues a run from its folder, or from its bucket. The options come from the
 * folder's config.yaml, so only the options of the bucket and the budget are taken here. */
#include <stdio.h>

#include "base/progress.h"
#include "cmd/cmd.h"
#include "run/whole_run.h"

struct args {
	struct safeguard_args keep;
};

static const struct opt opts[] = {
	OPT_INCLUDE(struct args, keep, safeguard_args_table, NULL),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "RUN",
	.about = "Continue what run or train began in a folder, with the options it was started with. With "
		 "--bucket, an empty or missing folder is first filled with the newest complete "
		 "state from the bucket. Exit codes are those of run.",
	.shown = "bucket endpoint region profile sync-every budget-hours budget-money "
		"price-per-hour",
	.opts = opts,
};

/* Prints the command that continues the run, on another machine too if the run is in a bucket. */
static void how_to_continue(const struct args *a, const char *run)
{
	fprintf(stderr, "stopped; finished work is saved. To continue: tritonrl resume %s", run);
	cmd_print_bucket(&a->keep.mirror);
	fputc('\n', stderr);
}

/* `again` tells the pipeline to read its configuration from the run folder. */
int cmd_resume(int argc, char **argv)
{
	struct opt_list none = { .n = 0 };
	struct opt_parsed p;
	struct args a;
	struct par *par = NULL;
	struct err e = ERR_INIT;
	int done = 0, rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	if (p.n != 1) {
		rc = err_set(&e, ERR_USAGE, "name one run folder");
	} else if (!(rc = cmd_join(&par, &e))) {
		struct whole_run g = { .source = { .set = &none, .stages = &none, .out = p.args[0] },
				.keep = &a.keep, .par = par, .again = 1 };

		rc = whole_run(&g, &done, &e);
	}
	if (!rc && !done && par_first(par))
		how_to_continue(&a, p.args[0]);
	opt_release(&p);
	return cmd_part(par, "resume", rc, done ? CMD_OK : cmd_stopped(), &e);
}
