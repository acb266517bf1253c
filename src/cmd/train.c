/* tritonrl train: one stage of training in a run folder, or sft and rl after each other. The stages
 * are those of the pipeline (run/run.h); this file chooses them and stores the resolved options. */
#include <stdio.h>

#include "base/file.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "run/safeguard.h"
#include "run/run.h"

struct args {
	struct train_args train;
	struct safeguard_args keep;         /* bucket, spot notices, budget */
};

static const struct opt opts[] = {
	OPT_INCLUDE(struct args, train, train_opts, NULL),
	OPT_INCLUDE(struct args, keep, safeguard_args_table, NULL),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "",
	.about = "Train a model: supervised fine-tuning (sft), reinforcement learning against the "
		 "judge (rl), or both. The run folder gets metrics.jsonl, run.db, checkpoints/ "
		 "and config.yaml. If training is killed, the same command continues it and ends "
		 "with the same bits; with --bucket also on another machine. Exit codes are those "
		 "of run.",
	.shown = "stage out model adapter full lr device data steps batch max-length tasks method "
		"n track",
	.opts = opts,
	.sections = "sft|rl|keep",
	.select = "stage",
};

/* With --stage all, rl starts from the supervised model of the same folder. A finished sft stage is
 * not repeated: the first rank looks for its final checkpoint and the ranks agree on the answer. */
static int train_stages(const struct train_args *a, const struct run_env *v, struct err *e)
{
	struct run_rl_args rl = { .policy = &a->policy, .sft = &a->sft, .rl = &a->rl, .sample = &a->sample,
				  .judge = &a->judge, .look = &a->look,
				    .sft_run = strcmp(a->stage, "all") ? NULL : a->out };
	struct buf path = BUF_INIT;
	int64_t there = rl.sft_run && par_first(v->par) && run_final(a->out, "sft_final", &path);
	int done = 0, rc = par_agree(v->par, &there, e);

	buf_release(&path);
	if (!rc && strcmp(a->stage, "rl") && !there)
		rc = run_sft(v, a, &done, e);
	if (!rc && strcmp(a->stage, "sft") && !stop_requested())
		rc = run_rl(v, &rl, &done, e);
	return rc;
}

/* Writes the resolved options as config.yaml. If that file belongs to another stage of the same
 * folder, the options go to config_STAGE.yaml, so that no stage overwrites the record of the
 * other. */
static int keep_config(const struct train_args *a, struct str text, struct err *e)
{
	struct buf path = BUF_INIT, first = BUF_INIT, kept = BUF_INIT;
	char name[32] = "config.yaml", stage[32];
	int rc = path_join(&path, a->out, name) ? 0 : err_nomem(e);

	snprintf(stage, sizeof stage, "stage: \"%s\"\n", a->stage);
	if (!rc && file_exists(path.p) && !file_read(path.p, 1 << 20, &first, e) &&
	    str_find(buf_str(&first), str_of(stage)) < 0)
		snprintf(name, sizeof name, "config_%s.yaml", a->stage);
	if (!rc)
		rc = run_keep_config(a->out, name, text, &kept, e);
	buf_release(&path);
	buf_release(&first);
	buf_release(&kept);
	return rc;
}

/* Only the first rank writes the configuration; all ranks run the stages. */
static int train(const struct train_args *a, const struct opt_parsed *p, struct par *par, struct err *e)
{
	struct run_env v = RUN_ENV_INIT;
	int rc = run_open(&v, par, a->out, (uint64_t)a->seed, &a->policy, e);

	if (!rc)
		rc = (par_first(par) && keep_config(a, buf_str(&p->resolved), e)) || train_stages(a, &v, e) ? -1 : 0;
	run_close(&v);
	return rc;
}

/* Errors in the arguments are found before the bucket is opened, which may download gigabytes. */
static int run(const struct args *a, const struct opt_parsed *p, struct par *par, struct err *e)
{
	struct safeguard k = SAFEGUARD_INIT;
	int rc;

	if (!a->train.out)
		return err_set(e, ERR_USAGE, "name the run folder: --out DIR");
	if (strcmp(a->train.stage, "rl") && run_sft_check(&a->train, e))
		return -1;
	rc = safeguard_open(&k, &a->keep, a->train.out, par, e);
	if (!rc && !stop_requested())
		rc = train(&a->train, p, par, e);
	safeguard_close(&k);
	return rc;
}

/* A stopped training ends with the exit code of the stop, like run. */
int cmd_train(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
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
