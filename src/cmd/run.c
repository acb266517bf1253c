/* tritonrl run: the whole pipeline in one command that can be killed and repeated. run/whole_run.h owns
 * the pipeline, the bucket and the budget; this file finds the configuration and the run folder. */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "dev/dev.h"
#include "run/whole_run.h"
#include "serve/serve.h"

struct args {
	const char *out, *device;
	struct opt_list set, stages;
	int dry_run;
	int64_t port;                  /* of the live page; 0: none */
	struct safeguard_args keep;         /* bucket, spot notices, budget */
};

static const struct opt opts[] = {
	OPT_STR(struct args, out, "out", "DIR", NULL,
		"run folder (default: runs/NAME for NAME.yaml); an interrupted run in it is "
		"continued"),
	OPT_LIST(struct args, set, "set", "[STAGE.]KEY=VALUE", 0,
		 "set an option of a stage, over the configuration; may be repeated"),
	OPT_LIST(struct args, stages, "stages", "LIST", 1,
		 "run only these of prepare,sft,rl,eval,report (default: all)"),
	OPT_STR(struct args, device, "device", "NAME", NULL,
		"where the model runs, over the configuration: " DEV_CHOICES),
	OPT_INT(struct args, port, "serve", 0, 65535, 0,
		"show the running pipeline as a page on this port of 127.0.0.1; 0: no page"),
	OPT_FLAG(struct args, dry_run, "dry-run", 0,
		 "try every stage on a few rows, steps and tokens, in OUT/dry_run"),
	OPT_INCLUDE(struct args, keep, safeguard_args_table, NULL),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "[CONFIG]",
	.about = "Run the whole pipeline: prepare data, fine-tune, train against the judge, "
		 "evaluate, report. CONFIG is a YAML file with a section per stage; a section "
		 "takes the options of that stage's command (prepare, train, eval, report), and "
		 "section `keep` takes the options for the bucket, spot notices and budget. If "
		 "the run is killed, the same command continues it and ends with the same bits; "
		 "with --bucket also on another machine. Exit codes other than 0 and 2: 130 "
		 "stopped by a signal, 3 spot notice, 4 budget spent.",
	.shown = "out set stages device serve dry-run bucket spot budget-hours budget-money "
		"price-per-hour",
	.opts = opts,
	.sections = "keep",
};

/* The run folder of configs/NAME.yaml is runs/NAME. */
static void default_out(const char *config, struct buf *out)
{
	struct str name = config ? path_base(config) : STR("run");

	if (str_ends(name, ".yaml"))
		name.n -= 5;
	else if (str_ends(name, ".yml"))
		name.n -= 4;
	buf_addf(out, "runs/%.*s", STR_ARG(name));
}

/* Prints the exact command that continues the run, with the options that change its results. */
static void how_to_continue(const struct args *a, const char *config, const char *out)
{
	fprintf(stderr, "stopped; finished work is saved. To continue: tritonrl run%s%s --out %s",
		config ? " " : "", config ? config : "", out);
	if (a->device)
		fprintf(stderr, " --device %s", a->device);
	for (size_t i = 0; i < a->set.n; i++)
		fprintf(stderr, " --set %s", a->set.v[i]);
	for (size_t i = 0; i < a->stages.n; i++)
		fprintf(stderr, "%s%s", i ? "," : " --stages ", a->stages.v[i]);
	cmd_print_bucket(&a->keep.mirror);
	fputc('\n', stderr);
}

/* --device is an option of every stage that has one, so it becomes the assignment device=VALUE in
 * front of those of --set. A later --set rl.device=cpu thus overrides it. */
static int all_set(const struct args *a, struct opt_list *to, struct buf *text, struct err *e)
{
	to->v = mem_array(a->set.n + 1, sizeof *to->v);
	if (!to->v)
		return err_nomem(e);
	if (a->device) {
		buf_addf(text, "device=%s", a->device);
		to->v[to->n++] = buf_cstr(text);
	}
	for (size_t i = 0; i < a->set.n; i++)
		to->v[to->n++] = a->set.v[i];
	return buf_check(text, e);
}

/* The page runs in a child process. It reads what the run has written and cannot delay the run; it
 * is killed with its parent (PR_SET_PDEATHSIG). */
static int show_page(const char *out, int port, struct err *e)
{
	struct serve_options o = { .http = { .host = "127.0.0.1", .port = port }, .runs = { .v = &out, .n = 1 },
				   .no_judge = 1 };
	pid_t parent = getpid(), child = fork();
	struct err why = ERR_INIT;

	if (child < 0)
		return err_errno(e, "cannot start the page");
	if (child) {
		log_info("the run is shown at http://127.0.0.1:%d", port);
		return 0;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);         /* Ctrl-C stops the run; the page stays until the run has ended */
	/* The parent may have died before prctl took effect. */
	if (getppid() != parent || !serve_open(&o, &why)) {
		log_warn("cannot show the page: %s", why.text);
		_exit(CMD_FAILED);
	}
	for (;;)
		pause();
}

/* A dry run goes to OUT/dry_run, so that its checkpoints never mix with those of the real run. */
static int run(const struct args *a, const char *config, struct par *par, int *done, struct err *e)
{
	struct buf out = BUF_INIT, text = BUF_INIT;
	struct opt_list set = { .v = NULL };
	struct whole_run g = { .source = { .config = config, .set = &set, .stages = &a->stages }, .keep = &a->keep,
			.par = par, .dry = a->dry_run };
	int rc;

	if (a->out)
		buf_adds(&out, a->out);
	else
		default_out(config, &out);
	if (a->dry_run)
		buf_adds(&out, "/dry_run");
	g.source.out = buf_cstr(&out);
	rc = buf_check(&out, e) || all_set(a, &set, &text, e) ? -1 : 0;
	if (!rc && a->port && par_first(par))
		rc = show_page(g.source.out, (int)a->port, e);
	if (!rc)
		rc = whole_run(&g, done, e);
	if (!rc && !*done && par_first(par))
		how_to_continue(a, config, g.source.out);
	buf_release(&out);
	buf_release(&text);
	mem_free(set.v);
	return rc;
}

/* The configuration is named as an argument but also holds options of this command (section keep).
 * So the command line is parsed twice: first to find the file, then with --config FILE in front,
 * over which the command line has priority. */
static int parse(struct args *a, int argc, char **argv, struct opt_parsed *p, const char **config)
{
	char **words;
	int rc = cmd_parse(&usage, a, argc, argv, p);

	*config = NULL;
	if (rc >= 0 || !p->n)
		return rc;
	*config = p->args[0];
	if (p->n > 1) {
		opt_release(p);
		return cmd_fail("run", &(struct err){ .text = "name at most one configuration" });
	}
	words = mem_array((size_t)argc + 2, sizeof *words);
	if (!words)
		return CMD_FAILED;
	words[0] = argv[0];
	words[1] = (char[]){ "--config" };
	words[2] = (char *)*config;
	memcpy(words + 3, argv + 1, (size_t)(argc - 1) * sizeof *words);
	opt_release(p);
	rc = cmd_parse(&usage, a, argc + 2, words, p);
	mem_free(words);
	return rc;
}

/* `done` is 0 if the run was stopped before its end; the exit code then names the cause. */
int cmd_run(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct par *par = NULL;
	struct err e = ERR_INIT;
	const char *config;
	int done = 0, rc = parse(&a, argc, argv, &p, &config);

	if (rc >= 0)
		return rc;
	stop_install();
	rc = cmd_join(&par, &e) || run(&a, config, par, &done, &e) ? -1 : 0;
	opt_release(&p);
	return cmd_part(par, "run", rc, done ? CMD_OK : cmd_stopped(), &e);
}
