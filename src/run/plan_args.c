/* Options of `plan`: see plan_args.h. The GPUs to choose from come from gpu.def. */
#include "run/plan_args.h"

static const char gpu_choices[] = "cpu"
#define GPU(name, ...) "|" name
#include "tile/estimate/gpu.def"
#undef GPU
	"|all";

const struct opt plan_opts[] = {
	OPT_STR(struct plan_args, model, "model", "DIR_OR_NAME", NULL,
		"model folder, config.json, or a known name such as qwen2.5-coder-7b (default: the "
		"configuration's)"),
	OPT_CHOICE(struct plan_args, gpu, "gpu", gpu_choices, "cpu",
		   "GPU to plan for; cpu: this machine; all: compare all"),
	OPT_INT(struct plan_args, count, "count", 1, 1024, 1, "number of GPUs"),
	OPT_REAL(struct plan_args, price, "price-per-hour", 0, 1e6, 0,
		 "price of one GPU (or of the CPU machine) for an hour; 0: a usual price"),
	OPT_INT(struct plan_args, rows, "rows", 0, 1e12, 0,
		"training rows; 0: those of the data file, or those that prepare will write"),
	OPT_REAL(struct plan_args, row_tokens, "row-tokens", 0, 1e6, 0,
		 "mean tokens of a row; 0: from the data file, or a usual value"),
	OPT_INT(struct plan_args, rl_tasks, "rl-tasks", 0, 1e9, 0,
		"tasks of stage rl; 0: those of the tasks file, those that prepare will write, or 100"),
	OPT_INT(struct plan_args, eval_tasks, "eval-tasks", 0, 1e9, 0,
		"tasks of eval; 0: those of the tasks file, or 100"),
	OPT_REAL(struct plan_args, prompt_tokens, "prompt-tokens", 0, 1e6, 0,
		 "mean tokens of a prompt; 0: by the prompt style"),
	OPT_REAL(struct plan_args, answer_tokens, "answer-tokens", 0, 1e6, 0,
		 "mean tokens of an answer; 0: half of the longest allowed"),
	OPT_REAL(struct plan_args, judge_ms, "judge-ms", 0, 1e6, 0,
		 "CPU milliseconds to judge a candidate; 0: measured here on a few pairs of the generator"),
	OPT_INT(struct plan_args, judge_cores, "judge-cores", 0, 65536, 0,
		"cores that judge; 0: 8 for each GPU, or all cores of the CPU"),
	OPT_REAL(struct plan_args, train_share, "train-share", 0, 1, 0,
		 "share of peak that the products of training reach; 0: 0.55, on a CPU 0.5"),
	OPT_REAL(struct plan_args, prefill_share, "prefill-share", 0, 1, 0, "share of peak that prompts reach; 0: 0.5"),
	OPT_REAL(struct plan_args, read_share, "read-share", 0, 1, 0,
		 "share of bandwidth that sampling reaches; 0: 0.5, on a CPU 0.6"),
	OPT_STR(struct plan_args, run, "run", "DIR", NULL,
		"run folder: also print what it has spent, and what is left of the budget in section keep"),
	OPT_FLAG(struct plan_args, json, "json", 0, "print JSON"),
	OPT_END
};
