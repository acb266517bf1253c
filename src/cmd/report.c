/* tritonrl report: one self-contained HTML page about a run. */
#include <stdio.h>

#include "base/file.h"
#include "cmd/cmd.h"
#include "web/report.h"

struct args {
	const char *out, *title;
	int64_t candidates;
};

static const struct opt opts[] = {
	OPT_STR(struct args, out, "out", "FILE", NULL, "the page; RUN/report.html unless given"),
	OPT_STR(struct args, title, "title", "TEXT", NULL, "heading of the page"),
	OPT_INT(struct args, candidates, "candidates", 0, 100000000, 0, "most candidates shown in full; 0: all"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "RUN",
	.about = "Write one HTML page about a run folder: tables, learning curves, the funnel, every candidate with its source and verdict. "
		 "It opens without a network.",
	.opts = opts,
};

static int run(const struct args *a, const struct opt_parsed *p, struct err *e)
{
	struct buf path = BUF_INIT, page = BUF_INIT, out = BUF_INIT;
	struct store *s = NULL;
	int rc = -1;

	if (p->n != 1)
		return err_set(e, ERR_USAGE, "name one run folder");
	struct report_opts o = { .title = a->title ? a->title : p->args[0], .candidates = (size_t)a->candidates };

	path_join(&path, p->args[0], "run.db");
	if (!file_exists(buf_cstr(&path)))
		err_set(e, ERR_NOT_FOUND, "'%s' is not a run folder: it has no run.db", p->args[0]);
	else if (!store_open(&s, buf_cstr(&path), e) && !report_write(s, &o, &page, e)) {
		path_join(&out, p->args[0], "report.html");
		rc = file_replace(a->out ? a->out : buf_cstr(&out), buf_str(&page), e);
		if (!rc)
			printf("%s\n", a->out ? a->out : buf_cstr(&out));
	}
	store_close(s);
	buf_release(&path);
	buf_release(&page);
	buf_release(&out);
	return rc;
}

int cmd_report(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	rc = run(&a, &p, &e);
	opt_release(&p);
	return rc ? cmd_fail("report", &e) : CMD_OK;
}
