/* tritonrl prepare: reads data from several sources and writes labelled, split data. The steps are
 * in src/data; this file only parses, calls and prints the table of kept and dropped rows. */
#include <stdio.h>

#include "base/progress.h"
#include "cmd/cmd.h"
#include "data/prepare_args.h"
#include "run/sections.h"

static const struct cmd_usage usage = {
	.args = "",
	.about = "Prepare training data: read, clean, deduplicate, label and split it, and keep "
		 "evaluation tasks out. Writes the files that train and eval read. Memory stays "
		 "constant for files of any size.",
	.shown = "source input out limit seed prompt-style model max-length decontaminate count "
		"level verify track",
	.opts = prepare_opts,
	.sections = "prepare",
};

/* The table of rows is the result of the command, so it goes to stdout; --quiet omits it. */
int cmd_prepare(int argc, char **argv)
{
	struct opt_parsed p;
	struct prepare_args a;
	struct prep_report r;
	struct buf table = BUF_INIT;
	struct err e = ERR_INIT;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	rc = prepare_args_run(&a, &r, &e);
	if (!rc && !p.quiet) {
		prep_table(&r, &table);
		fputs(buf_cstr(&table), stdout);
	}
	buf_release(&table);
	opt_release(&p);
	return rc ? cmd_fail("prepare", &e) : CMD_OK;
}
