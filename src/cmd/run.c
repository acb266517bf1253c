/* tritonrl run: the whole pipeline in one resumable command. */
#include <stdio.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "run/pipeline.h"

struct args {
	const char *out;
	struct opt_list set, stages;
	int dry_run;
};

static const struct opt opts[] = {
	OPT_STR(struct args, out, "out", "DIR", NULL, "run folder (default runs/NAME after CONFIG); an interrupted run in it is continued"),
	OPT_LIST(struct args, set, "set", "[STAGE.]KEY=VALUE", 0, "an option of a stage's command, over the configuration; may be repeated"),
	OPT_LIST(struct args, stages, "stages", "LIST", 1, "which of prepare,sft,rl,eval,report (default all)"),
	OPT_FLAG(struct args, dry_run, "dry-run", 0, "every stage for real on a few rows, steps and tokens, in OUT/dry_run"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "[CONFIG]",
	.about = "Prepare data, fine-tune, train against the judge, evaluate and report. CONFIG is YAML with a section for each stage; "
		 "what may stand there is what the stage's own command takes (tritonrl help prepare, train, eval, report). Killed at any "
		 "moment, the same command continues and ends with the same bits.",
	.opts = opts,
};

/* runs/NAME for configs/NAME.yaml. */
static void default_out(const char *config, struct buf *out)
{
	struct str name = config ? path_base(config) : STR("run");

	if (str_ends(name, ".yaml"))
		name.n -= 5;
	else if (str_ends(name, ".yml"))
		name.n -= 4;
	buf_addf(out, "runs/%.*s", STR_ARG(name));
}

/* A dry run starts afresh: it is over in seconds, and what it made is of no use. */
static int go_dry(struct pipeline *p, struct err *e)
{
	pipeline_shrink(p);
	return file_remove_tree(p->out, e);
}

static void how_to_continue(const struct args *a, const char *config, const char *out)
{
	fprintf(stderr, "stopped; what is done is kept. To continue: tritonrl run%s%s --out %s", config ? " " : "", config ? config : "", out);
	for (size_t i = 0; i < a->set.n; i++)
		fprintf(stderr, " --set %s", a->set.v[i]);
	fputc('\n', stderr);
}

static int run(const struct args *a, const struct opt_parsed *parsed, int *done, struct err *e)
{
	struct buf out = BUF_INIT;
	struct pipeline_source src = { .config = parsed->n ? parsed->args[0] : NULL, .set = &a->set, .stages = &a->stages };
	struct pipeline p;
	int rc;

	if (parsed->n > 1)
		return err_set(e, ERR_USAGE, "name at most one configuration");
	if (a->out)
		buf_adds(&out, a->out);
	else
		default_out(src.config, &out);
	if (a->dry_run)
		buf_adds(&out, "/dry_run");
	src.out = buf_cstr(&out);
	rc = buf_check(&out, e) || pipeline_open(&p, &src, e) ? -1 : 0;
	if (!rc) {
		rc = (a->dry_run && go_dry(&p, e)) || pipeline_run(&p, done, e) ? -1 : 0;
		if (!rc && !*done)
			how_to_continue(a, src.config, src.out);
		pipeline_close(&p);
	}
	buf_release(&out);
	return rc;
}

int cmd_run(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	int done = 0, rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	rc = run(&a, &p, &done, &e);
	opt_release(&p);
	return rc ? cmd_fail("run", &e) : done ? CMD_OK : CMD_NO;
}
