/* Options of training: of the policy (policy.h) and of the supervised stage (sft.h). */
#include "train/sft.h"

static const struct policy_opts no_policy = { .trainer.optim = OPTIM_DEFAULTS };

const struct opt policy_opt_table[] = {
	OPT_START(struct policy_opts, &no_policy),
	OPT_STR(struct policy_opts, model, "model", "DIR", NULL,
		"Hugging Face folder: config.json, safetensors, tokenizer.json"),
	OPT_STR(struct policy_opts, adapter, "adapter", "DIR", NULL, "start from this LoRA adapter (PEFT's form)"),
	OPT_STR(struct policy_opts, init, "init", "CONFIG", NULL,
		"a config.json: train a new model from random weights (with --full)"),
	OPT_STR(struct policy_opts, tokenizer, "tokenizer", "DIR", NULL,
		"folder of the tokenizer; the model's own unless given"),
	OPT_FLAG(struct policy_opts, full, "full", 0, "train all parameters instead of an adapter"),
	OPT_INT(struct policy_opts, lora.r, "lora-r", 1, 4096, 16, "rank of the adapter"),
	OPT_REAL(struct policy_opts, lora.alpha, "lora-alpha", 0, 1e6, 32, "scale of the adapter: alpha / r"),
	OPT_REAL(struct policy_opts, lora.dropout, "lora-dropout", 0, 0.99, 0.05, "dropout in front of the adapter"),
	OPT_STR(struct policy_opts, lora_targets, "lora-targets", "LIST", "q,k,v,o,gate,up,down",
		"projections that get an adapter"),
	OPT_REAL(struct policy_opts, trainer.optim.lr, "lr", 0, 10, 2e-4, "highest learning rate"),
	OPT_ENUM(struct policy_opts, trainer.optim.schedule, "schedule", SCHEDULE_CHOICES, "cosine",
		 "how the learning rate falls"),
	OPT_INT(struct policy_opts, trainer.optim.warmup, "warmup", 0, 1000000, 0,
		"steps until the learning rate is reached"),
	OPT_REAL(struct policy_opts, trainer.optim.floor, "lr-floor", 0, 1, 0,
		 "share of the learning rate that is left at the end"),
	OPT_REAL(struct policy_opts, trainer.optim.decay, "weight-decay", 0, 10, 0, "decoupled decay of matrices"),
	OPT_REAL(struct policy_opts, trainer.optim.clip, "clip", 0, 1e6, 1, "largest norm of the gradient; 0: none"),
	OPT_ENUM(struct policy_opts, store, "weights", MODEL_STORE_CHOICES, "f32",
		 "how weights are kept for computing"),
	OPT_INT(struct policy_opts, trainer.tape.max_tokens, "micro-tokens", 0, 1 << 24, 0,
		"tokens computed at a time; 0: one sequence of the greatest length"),
	OPT_FLAG(struct policy_opts, trainer.tape.recompute, "recompute", 0,
		 "keep only the input of each layer and compute the rest again"),
	OPT_STR(struct policy_opts, device, "device", "NAME", "auto", "where the model runs: " DEV_CHOICES),
	OPT_FLAG(struct policy_opts, exact, "exact", 0,
		 "on a GPU too, sampling and training agree in every bit; slower"),
	OPT_INT(struct policy_opts, threads, "threads", 0, 1024, 0, "threads of the model; 0: one a core"),
	OPT_END
};

static const struct sft_opts no_sft = { .epochs = 0 };

const struct opt sft_opt_table[] = {
	OPT_START(struct sft_opts, &no_sft),
	OPT_LIST(struct sft_opts, data, "data", "FILE", 0,
		 "JSON lines: messages, prompt and completion, or text; may be repeated"),
	OPT_INT(struct sft_opts, epochs, "epochs", 1, 100000, 1, "times through the data"),
	OPT_INT(struct sft_opts, steps, "steps", 0, 1000000000, 0, "optimiser steps; 0: as the epochs give"),
	OPT_INT(struct sft_opts, batch, "batch", 1, 1 << 20, 8, "sequences a micro-batch group"),
	OPT_INT(struct sft_opts, accumulate, "accumulate", 1, 1 << 20, 1,
		"groups a step: batch times this many sequences"),
	OPT_INT(struct sft_opts, max_length, "max-length", 8, 1 << 20, 2048,
		"tokens of a sequence; longer ones are cut"),
	OPT_FLAG(struct sft_opts, pack, "pack", 1, "several sequences behind each other in one pack"),
	OPT_FLAG(struct sft_opts, shuffle, "shuffle", 1, "another order in every epoch"),
	OPT_STR(struct sft_opts, validation, "validation", "FILE", NULL,
		"rows that are not trained on: their loss, every --eval-every steps"),
	OPT_INT(struct sft_opts, save_every, "save-every", 0, 1000000000, 50,
		"steps between checkpoints; 0: only at the end"),
	OPT_INT(struct sft_opts, save_keep, "save-keep", 1, 1000000, 2,
		"checkpoints of a stage that stay while it runs"),
	OPT_END
};

int policy_settle(struct policy_opts *o, uint64_t seed, struct err *e)
{
	o->seed = o->lora.seed = o->trainer.tape.seed = seed;
	return lora_targets_parse(str_of(o->lora_targets), &o->lora.targets, e);
}
