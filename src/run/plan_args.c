/* Options of `plan`: see plan_args.h. The GPUs to choose from come from gpu.def. */
#include "run/plan_args.h"

static const char gpu_choices[] = "cpu"
#define GPU(name, ...) "|" name
#include "tile/estimate/gpu.def"
#undef GPU
	"|all";

const struct opt plan_opts[] = {
	OPT_STR(struct plan_args, model, "model", "DIR_OR_NAME", NULL,
		"model folder, config.json, or a known name such as qwen2.5-coder-7b (default: "
		"the configuration's)"),
	OPT_CHOICE(struct plan_args, gpu, "gpu", gpu_choices, "cpu",
		   "the machine; all: compare every machine"),
	OPT_INT(struct plan_args, count, "count", 1, 1024, 1, "number of GPUs"),
	OPT_LIST(struct plan_args, set, "set", "[STAGE.]KEY=VALUE", 0,
		 "set an option of a stage, as in run; may be repeated"),
	OPT_LIST(struct plan_args, stages, "stages", "LIST", 1,
		 "plan only these of prepare,sft,rl,eval,report (default: all)"),
	OPT_FLAG(struct plan_args, dry_run, "dry-run", 0, "plan `run --dry-run` instead of the whole run"),
	OPT_REAL(struct plan_args, price, "price-per-hour", 0, 1e6, 0,
		 "price of one GPU (or CPU machine) per hour; 0: a typical price"),
	OPT_REAL(struct plan_args, spot_price, "spot-price-per-hour", 0, 1e6, 0,
		 "the same for a spot machine; 0: a typical price"),
	OPT_INT(struct plan_args, rows, "rows", 0, 1e12, 0,
		"training rows if the data file is missing here; 0: as section prepare says"),
	OPT_REAL(struct plan_args, row_tokens, "row-tokens", 0, 1e6, 0,
		 "mean tokens per row; 0: from the data file, or a typical value"),
	OPT_INT(struct plan_args, eval_tasks, "eval-tasks", 0, 1e9, 0,
		"tasks of the evaluation if their file is missing here; 0: 100"),
	OPT_REAL(struct plan_args, prompt_tokens, "prompt-tokens", 0, 1e6, 0,
		 "mean tokens per prompt; 0: by prompt style"),
	OPT_REAL(struct plan_args, answer_tokens, "answer-tokens", 0, 1e6, 0,
		 "mean tokens per answer; 0: half of the maximum"),
	OPT_REAL(struct plan_args, judge_ms, "judge-ms", 0, 1e6, 0,
		 "CPU time per judged candidate, in milliseconds; 0: measured here on a few "
		 "generated pairs"),
	OPT_INT(struct plan_args, judge_cores, "judge-cores", 0, 65536, 0,
		"cores that judge; 0: 8 per GPU, or all"),
	OPT_REAL(struct plan_args, train_share, "train-share", 0, 1, 0,
		 "fraction of peak compute that training reaches; 0: 0.55 on a GPU, 0.85 on a "
		 "CPU"),
	OPT_REAL(struct plan_args, prefill_share, "prefill-share", 0, 1, 0,
		 "fraction of peak compute that prompt processing reaches; 0: 0.5 on a GPU, 0.75 on a CPU"),
	OPT_REAL(struct plan_args, read_share, "read-share", 0, 1, 0,
		 "fraction of memory bandwidth that sampling reaches; 0: 0.5 on a GPU, 0.6 on a "
		 "CPU"),
	OPT_STR(struct plan_args, run, "run", "DIR", NULL,
		"also show what this run folder has spent and what is left of its budget"),
	OPT_FLAG(struct plan_args, json, "json", 0, "print JSON"),
	OPT_END
};
