/* tritonrl report: one self-contained HTML page about a run. */
#include <stdio.h>

#include "base/file.h"
#include "cmd/cmd.h"
#include "run/run.h"

static const struct cmd_usage usage = {
	.args = "RUN",
	.about = "Write one HTML page about a run folder: tables, learning curves, the funnel, every candidate with its source and verdict. "
		 "It opens without a network.",
	.opts = report_opts,
	.sections = "report",
};

static int run(const struct report_cmd_args *a, const struct opt_parsed *p, struct err *e)
{
	struct buf path = BUF_INIT;
	struct store *s = NULL;
	int rc = -1;

	if (p->n != 1)
		return err_set(e, ERR_USAGE, "name one run folder");
	path_join(&path, p->args[0], "run.db");
	if (!file_exists(buf_cstr(&path)))
		err_set(e, ERR_NOT_FOUND, "'%s' is not a run folder: it has no run.db", p->args[0]);
	else if (!(a->out && file_mkdirs_for(a->out, e)) && !store_open(&s, buf_cstr(&path), e))
		rc = run_report(p->args[0], s, &a->report, a->out, &path, e);
	if (!rc)
		printf("%s\n", buf_cstr(&path));
	store_close(s);
	buf_release(&path);
	return rc;
}

int cmd_report(int argc, char **argv)
{
	struct opt_parsed p;
	struct report_cmd_args a;
	struct err e = ERR_INIT;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	rc = run(&a, &p, &e);
	opt_release(&p);
	return rc ? cmd_fail("report", &e) : CMD_OK;
}
