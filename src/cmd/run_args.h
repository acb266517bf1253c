/* Options of a whole run, shared by run, plan and ablate: those of each stage's own command, in
 * sections. A configuration reads
 *
 *     model: models/base
 *     sft: { lora: { r: 16 }, lr: 2e-4, batch: 8 }
 *     rl: { method: grpo, n: 8, temperature: 0.8, lr: 5e-6 }
 *     eval: { n: 4, k: [1, 4] }
 *     judge: { track: strict }
 *
 * and the same on the command line is --model, --sft-lora-r, --rl-method and so on. */
#ifndef CMD_RUN_ARGS_H
#define CMD_RUN_ARGS_H

#include "cmd/cmd.h"
#include "cmd/eval_args.h"
#include "cmd/rl_args.h"
#include "cmd/train_args.h"

struct run_args {
	const char *out;
	int64_t seed;
	struct policy_args policy;
	struct sft_args sft;
	struct rl_args rl;
	struct sample_args rl_sample, eval_sample;
	struct judge_args judge;
	struct eval_args eval;
	struct report_args report;
};
extern const struct opt run_args_table[];

/* As cmd_parse, but one argument that is no option is the configuration file. */
int run_args_parse(const struct cmd_usage *u, void *into, int argc, char **argv, struct opt_parsed *p);

#endif
