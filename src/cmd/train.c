/* tritonrl train: one stage of training in a run folder, or sft and rl after each other.
 * run/train_run.h owns the stages and the folder; this file parses the options. */
#include "base/progress.h"
#include "cmd/cmd.h"
#include "run/train_run.h"

static const struct cmd_usage usage = {
	.args = "",
	.about = "Train a model: supervised fine-tuning (sft), reinforcement learning against the "
		 "judge (rl), or both. The run folder gets metrics.jsonl, run.db, checkpoints/ "
		 "and config.yaml. If training is killed, the same command continues it and ends "
		 "with the same bits; with --bucket also on another machine. Exit codes are those "
		 "of run.",
	.shown = "stage out model adapter full lr device data steps batch max-length tasks method "
		"n track",
	.opts = train_run_opts,
	.sections = TRAIN_RUN_SECTIONS,
	.select = TRAIN_RUN_SELECT,
};

/* Errors in the arguments are found before the bucket is opened, which may download gigabytes. */
static int run(const struct train_run_args *a, const struct opt_parsed *p, struct par *par, struct err *e)
{
	struct safeguard k = SAFEGUARD_INIT;
	int done, rc;

	if (train_run_check(&a->train, p, e))
		return -1;
	rc = safeguard_open(&k, &a->keep, a->train.out, par, e);
	if (!rc && !stop_requested())
		rc = train_run(&a->train, p, par, &done, e);
	safeguard_close(&k);
	return rc;
}

/* A stopped training ends with the exit code of the stop, like run. */
int cmd_train(int argc, char **argv)
{
	struct opt_parsed p;
	struct train_run_args a;
	struct par *par = NULL;
	struct err e = ERR_INIT;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	rc = cmd_join(&par, &e) || run(&a, &p, par, &e) ? -1 : 0;
	opt_release(&p);
	return cmd_part(par, "train", rc, stop_requested() ? cmd_stopped() : CMD_OK, &e);
}
