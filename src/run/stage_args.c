/* Options of train, eval and report: see stage_args.h. A table includes the tables of the modules
 * that it uses, so that an option is described once. */
#include "run/stage_args.h"

const struct opt train_opts[] = {
	OPT_CHOICE(struct train_args, stage, "stage", "sft|rl|all", "sft",
		   "sft: supervised; rl: against the judge; all: one after the other"),
	OPT_STR(struct train_args, out, "out", "DIR", NULL,
		"run folder; an interrupted run in it is continued"),
	OPT_INT(struct train_args, seed, "seed", 0, 9e15, 1,
		"random seed; the same seed on the same machine gives the same bits"),
	OPT_INCLUDE(struct train_args, policy, policy_opt_table, "Model and optimiser"),
	OPT_INCLUDE(struct train_args, sft, sft_opt_table, "Supervised stage"),
	OPT_INCLUDE(struct train_args, draws, draws_opt_table, NULL),
	OPT_INCLUDE(struct train_args, rl, rl_opt_table, "Reinforcement stage"),
	OPT_INCLUDE(struct train_args, sample, rollout_opt_table, "Sampling"),
	OPT_INCLUDE(struct train_args, look, periodic_eval_args_table, "Evaluation during training"),
	OPT_INCLUDE(struct train_args, judge, judge_args_table, "The judge"),
	OPT_END
};

const struct opt eval_opts[] = {
	OPT_STR(struct eval_cmd_args, model, "model", "DIR", NULL,
		"model folder (Hugging Face form), or an adapter folder that names its model"),
	OPT_STR(struct eval_cmd_args, adapter, "adapter", "DIR", NULL,
		"LoRA adapter to load on the model; a training checkpoint must be complete"),
	OPT_LIST(struct eval_cmd_args, compare, "compare", "DIR", 0,
		 "also evaluate this adapter or model on the same tasks; may be repeated"),
	OPT_INCLUDE(struct eval_cmd_args, eval, eval_args_table, NULL),
	OPT_STR(struct eval_cmd_args, out, "out", "FILE", NULL,
		"write the result as one JSON object, with --compare too"),
	OPT_STR(struct eval_cmd_args, answers, "answers", "FILE", NULL,
		"write every answer's code as JSON lines that verify --jsonl reads"),
	OPT_STR(struct eval_cmd_args, run, "run", "DIR", NULL,
		"store the result in this run folder, for its report"),
	OPT_STR(struct eval_cmd_args, name, "name", "NAME", "eval",
		"name of the result there: outputs/eval_NAME.json"),
	OPT_STR(struct eval_cmd_args, device, "device", "NAME", "auto", "where the model runs: " DEV_CHOICES),
	OPT_ENUM(struct eval_cmd_args, store, "weights", MODEL_STORE_CHOICES, "f32",
		 "storage format of the weights"),
	OPT_INT(struct eval_cmd_args, threads, "threads", 0, 1024, 0,
		"CPU threads of the model; 0: one per core"),
	OPT_INT(struct eval_cmd_args, seed, "seed", 0, 9e15, 1, "same seed, same samples"),
	OPT_FLAG(struct eval_cmd_args, json, "json", 0, "print JSON instead of a table"),
	OPT_INCLUDE(struct eval_cmd_args, sample, rollout_opt_table, "Sampling"),
	OPT_INCLUDE(struct eval_cmd_args, judge, judge_args_table, "The judge"),
	OPT_END
};

const struct opt report_opts[] = {
	OPT_STR(struct report_cmd_args, out, "out", "FILE", NULL, "output file (default: RUN/report.html)"),
	OPT_INCLUDE(struct report_cmd_args, report, report_opt_table, NULL),
	OPT_END
};
