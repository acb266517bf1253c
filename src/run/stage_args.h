/* Options of the commands that `run` starts as its stages. `run` fills the same structs as the
 * commands do. */
#ifndef RUN_STAGE_ARGS_H
#define RUN_STAGE_ARGS_H

#include "data/draws.h"
#include "eval/eval_args.h"
#include "rl/rl.h"
#include "run/periodic_eval.h"
#include "train/sft.h"
#include "verify/pool/judge_args.h"
#include "web/report.h"

struct train_args {
	const char *stage, *out;
	int64_t seed;
	struct policy_opts policy;
	struct sft_opts sft;
	struct draws_opts draws;
	struct rl_opts rl;
	struct rollout_opts sample;
	struct periodic_eval_args look;
	struct judge_args judge;
};

extern const struct opt train_opts[];

struct eval_cmd_args {
	const char *model, *adapter, *out, *answers, *device, *run, *name;
	enum model_store store;
	struct opt_list compare;
	int64_t seed, threads;
	int json;
	struct eval_args eval;
	struct rollout_opts sample;
	struct judge_args judge;
};

extern const struct opt eval_opts[];

struct report_cmd_args {
	const char *out;
	struct report_opts report;
};

extern const struct opt report_opts[];

#endif
