/* Options of a whole run: see run_args.h. */
#include "cmd/run_args.h"

#include "base/mem.h"

const struct opt run_args_table[] = {
	OPT_STR(struct run_args, out, "out", "DIR", "runs/run", "run folder; an interrupted run in it is continued"),
	OPT_INT(struct run_args, seed, "seed", 0, 9e15, 1, "same seed, same machine: same bits"),
	OPT_INCLUDE(struct run_args, policy, policy_args_model, "Model"),
	OPT_SECTION(struct run_args, policy, policy_args_machine, "machine", "Machine"),
	OPT_SECTION(struct run_args, policy, policy_args_optim, "sft", "Supervised stage (adapter and optimiser: both stages)"),
	OPT_SECTION(struct run_args, sft, sft_args_table, "sft", "Supervised stage (adapter and optimiser: both stages)"),
	OPT_SECTION(struct run_args, rl, rl_args_table, "rl", "Reinforcement stage"),
	OPT_SECTION(struct run_args, rl_sample, sample_args_table, "rl", "Reinforcement stage"),
	OPT_SECTION(struct run_args, eval, eval_args_table, "eval", "Evaluation"),
	OPT_SECTION(struct run_args, eval_sample, sample_args_table, "eval", "Evaluation"),
	OPT_SECTION(struct run_args, judge, judge_args_table, "judge", "The judge"),
	OPT_SECTION(struct run_args, report, report_args_table, "report", "Report"),
	OPT_END
};

int run_args_parse(const struct cmd_usage *u, void *into, int argc, char **argv, struct opt_parsed *p)
{
	char **words;
	int rc = cmd_parse(u, into, argc, argv, p), at = 1;

	if (rc >= 0 || p->n != 1)
		return rc;
	words = mem_array((size_t)argc + 2, sizeof *words);
	if (!words)
		BUG("no memory for %d words", argc);
	while (argv[at] != p->args[0])
		at++;
	words[0] = argv[0];
	words[1] = "--config";
	words[2] = argv[at];
	for (int i = 1, k = 3; i < argc; i++)
		if (i != at)
			words[k++] = argv[i];
	opt_release(p);
	rc = cmd_parse(u, into, argc + 1, words, p);
	mem_free(words);
	return rc;
}
