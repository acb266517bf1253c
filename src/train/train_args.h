/* Options of training, shared by train, run and ablate. */
#ifndef TRAIN_TRAIN_ARGS_H
#define TRAIN_TRAIN_ARGS_H

#include "base/opt.h"
#include "train/sft.h"

/* Where the policy comes from and how it is trained: both stages. */
struct policy_args {
	const char *model, *adapter, *init, *tokenizer, *lora_targets, *schedule, *store, *device;
	int64_t lora_r, warmup, micro_tokens, threads;
	double lora_alpha, lora_dropout, lr, weight_decay, clip, lr_floor;
	int full, recompute, exact;
};
extern const struct opt policy_args_table[];
int policy_args_options(const struct policy_args *a, uint64_t seed, struct policy_opts *o, struct err *e);

#endif
