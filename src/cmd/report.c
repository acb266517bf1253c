/* tritonrl report: writes one self-contained HTML page about a run. The page itself is src/web;
 * this file opens the stores of the run and of the runs it is compared with. */
#include <stdio.h>

#include "base/file.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "run/run.h"

static const struct cmd_usage usage = {
	.args = "RUN [OTHER...]",
	.about = "Write one HTML page about a run folder: training curves (beside those of other "
		 "runs), evaluations, the stages that candidates reached, and one row per task "
		 "with its candidates. The page needs no network. `tritonrl serve --run RUN` "
		 "shows the same page live.",
	.opts = report_opts,
	.sections = "report",
};

/* A folder without run.db is refused: store_open would create an empty store in it. */
static int open_run(struct report_run *r, const char *dir, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = -1;

	r->dir = dir;
	if (!path_join(&path, dir, "run.db"))
		err_nomem(e);
	else if (!file_exists(path.p))
		err_set(e, ERR_NOT_FOUND, "'%s' is not a run folder: it has no run.db", dir);
	else
		rc = store_open(&r->store, path.p, e);
	buf_release(&path);
	return rc;
}

/* The first folder is the run of the page; the page compares its curves with those of the others. */
static int run(const struct report_cmd_args *a, const struct opt_parsed *p, struct err *e)
{
	struct report_run *runs = mem_array(p->n + 1, sizeof *runs);
	struct buf path = BUF_INIT;
	int rc = !runs ? err_nomem(e) : !p->n ? err_set(e, ERR_USAGE, "name a run folder") : 0;

	for (size_t i = 0; i < p->n && !rc; i++)
		rc = open_run(&runs[i], p->args[i], e);
	if (!rc && a->out)
		rc = file_check_output(a->out, e);
	if (!rc)
		rc = run_report(runs, p->n, &a->report, a->out, &path, e);
	if (!rc)
		printf("%s\n", buf_cstr(&path));
	for (size_t i = 0; runs && i < p->n; i++)
		store_close(runs[i].store);
	mem_free(runs);
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
