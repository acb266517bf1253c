/* tritonrl train: fine-tuning. Stage sft: supervised; stage rl: against the judge. */
#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "cmd/rl_args.h"
#include "cmd/train_args.h"
#include "train/checkpoint.h"

struct args {
	const char *stage, *out;
	int64_t seed;
	struct policy_args policy;
	struct sft_args sft;
	struct rl_args rl;
	struct sample_args sample;
	struct judge_args judge;
};

static const struct opt opts[] = {
	OPT_CHOICE(struct args, stage, "stage", "sft|rl|all", "sft", "supervised, against the judge, or one after the other"),
	OPT_STR(struct args, out, "out", "DIR", NULL, "run folder; an interrupted run in it is continued"),
	OPT_INT(struct args, seed, "seed", 0, 9e15, 1, "same seed, same machine: same bits"),
	OPT_INCLUDE(struct args, policy, policy_args_table, "Model and optimiser"),
	OPT_INCLUDE(struct args, sft, sft_args_table, "Supervised stage"),
	OPT_INCLUDE(struct args, rl, rl_args_table, "Reinforcement stage"),
	OPT_INCLUDE(struct args, sample, sample_args_table, "Sampling"),
	OPT_INCLUDE(struct args, judge, judge_args_table, "The judge"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "",
	.about = "Train a model. The run folder gets metrics.jsonl, run.db, checkpoints/ and config.yaml; killed at any moment, the same "
		 "command continues and ends with the same bits.",
	.opts = opts,
};

static int train_sft(const struct args *a, struct dev *dev, struct store *store, struct err *e)
{
	struct sft_opts o = { .data = a->sft.data.v, .n_data = a->sft.data.n, .out = a->out, .epochs = a->sft.epochs,
			      .steps = a->sft.steps, .batch = (int)a->sft.batch,
			      .accumulate = (int)a->sft.accumulate, .max_length = (int)a->sft.max_length, .shuffle = a->sft.shuffle,
			      .save_every = a->sft.save_every, .seed = (uint64_t)a->seed };
	struct sft_result r;

	if (!a->sft.data.n)
		return err_set(e, ERR_USAGE, "say what to train on: --data FILE.jsonl");
	if (policy_args_options(&a->policy, o.seed, &o.policy, e))
		return -1;
	if (!o.policy.trainer.tape.max_tokens)
		o.policy.trainer.tape.max_tokens = o.max_length * (a->sft.pack ? 2 : 1);
	if (sft_run(dev, store, &o, &r, e))
		return -1;
	if (r.done)
		printf("sft: %lld steps, loss %.4f, %s/checkpoints/sft_final\n", (long long)r.steps, r.loss, a->out);
	else
		printf("sft: stopped at step %lld; the same command continues\n", (long long)r.steps);
	return 0;
}

/* After stage sft of the same run, rl starts from what it made. */
static int train_rl(const struct args *a, struct dev *dev, struct store *store, struct err *e)
{
	struct buf from = BUF_INIT;
	struct rl_opts o;
	struct rl_result r;
	int rc;

	if (rl_args_options(&a->rl, &a->sample, &a->judge, (uint64_t)a->seed, &o, e) ||
	    policy_args_options(&a->policy, (uint64_t)a->seed, &o.policy, e))
		return -1;
	o.out = a->out;
	o.policy.trainer.optim.lr = a->rl.lr;
	o.max_length = (int)a->sft.max_length;
	o.save_every = a->sft.save_every;
	if (!strcmp(a->stage, "all")) {
		buf_addf(&from, "%s/checkpoints/sft_final", a->out);
		if (a->policy.full)
			o.policy.model = buf_cstr(&from);
		else
			o.policy.adapter = buf_cstr(&from);
		o.policy.init = NULL;
	}
	if (!o.policy.trainer.tape.max_tokens)
		o.policy.trainer.tape.max_tokens = o.max_length;
	rc = rl_run(dev, store, &o, &r, e);
	if (!rc && r.done)
		printf("rl: %lld steps, reward %.3f, %.1f%% correct, %lld of %lld groups without signal, %s/checkpoints/rl_final\n",
		       (long long)r.steps, r.reward, 100.0 * r.correct, (long long)r.skipped_groups, (long long)r.groups, a->out);
	else if (!rc)
		printf("rl: stopped at step %lld; the same command continues\n", (long long)r.steps);
	buf_release(&from);
	return rc;
}

static int train_stages(const struct args *a, struct dev *dev, struct store *store, struct err *e)
{
	struct buf done = BUF_INIT;
	int has_sft;

	buf_addf(&done, "%s/checkpoints/sft_final", a->out);
	has_sft = !strcmp(a->stage, "all") && file_exists(buf_cstr(&done)) && !checkpoint_verify(buf_cstr(&done), NULL, NULL);
	buf_release(&done);
	if (strcmp(a->stage, "rl") && !has_sft && train_sft(a, dev, store, e))
		return -1;
	return strcmp(a->stage, "sft") && !stop_requested() ? train_rl(a, dev, store, e) : 0;
}

static int run(const struct args *a, const struct opt_parsed *p, struct err *e)
{
	struct buf path = BUF_INIT;
	struct store *store = NULL;
	struct dev *dev = NULL;
	int rc = -1;

	if (!a->out)
		return err_set(e, ERR_USAGE, "say where the run goes: --out DIR");
	if (file_mkdirs(a->out, e) || !path_join(&path, a->out, "config.yaml") || file_replace(path.p, buf_str(&p->resolved), e))
		goto out;
	if (!path_join(&path, a->out, "run.db") || store_open(&store, path.p, e))
		goto out;
	dev = dev_open("auto", (int)a->policy.threads, e);
	rc = dev ? train_stages(a, dev, store, e) : -1;
out:
	dev_close(dev);
	store_close(store);
	buf_release(&path);
	return rc;
}

int cmd_train(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	rc = run(&a, &p, &e);
	opt_release(&p);
	return rc ? cmd_fail("train", &e) : CMD_OK;
}
