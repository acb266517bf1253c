/* Options of training: see train_args.h. */
#include "train/train_args.h"

const struct opt policy_args_table[] = {
	OPT_STR(struct policy_args, model, "model", "DIR", NULL, "Hugging Face folder: config.json, safetensors, tokenizer.json"),
	OPT_STR(struct policy_args, adapter, "adapter", "DIR", NULL, "start from this LoRA adapter (PEFT's form)"),
	OPT_STR(struct policy_args, init, "init", "CONFIG", NULL, "a config.json: train a new model from random weights (with --full)"),
	OPT_STR(struct policy_args, tokenizer, "tokenizer", "DIR", NULL, "folder of the tokenizer; the model's own unless given"),
	OPT_FLAG(struct policy_args, full, "full", 0, "train all parameters instead of an adapter"),
	OPT_INT(struct policy_args, lora_r, "lora-r", 1, 4096, 16, "rank of the adapter"),
	OPT_REAL(struct policy_args, lora_alpha, "lora-alpha", 0, 1e6, 32, "scale of the adapter: alpha / r"),
	OPT_REAL(struct policy_args, lora_dropout, "lora-dropout", 0, 0.99, 0.05, "dropout in front of the adapter"),
	OPT_STR(struct policy_args, lora_targets, "lora-targets", "LIST", "q,k,v,o,gate,up,down", "projections that get an adapter"),
	OPT_REAL(struct policy_args, lr, "lr", 0, 10, 2e-4, "highest learning rate"),
	OPT_CHOICE(struct policy_args, schedule, "schedule", "cosine|linear|constant", "cosine", "how the learning rate falls"),
	OPT_INT(struct policy_args, warmup, "warmup", 0, 1000000, 0, "steps until the learning rate is reached"),
	OPT_REAL(struct policy_args, lr_floor, "lr-floor", 0, 1, 0, "share of the learning rate that is left at the end"),
	OPT_REAL(struct policy_args, weight_decay, "weight-decay", 0, 10, 0, "decoupled decay of matrices"),
	OPT_REAL(struct policy_args, clip, "clip", 0, 1e6, 1, "largest norm of the gradient; 0: none"),
	OPT_CHOICE(struct policy_args, store, "weights", MODEL_STORE_CHOICES, "f32", "how weights are kept for computing"),
	OPT_INT(struct policy_args, micro_tokens, "micro-tokens", 0, 1 << 24, 0, "tokens computed at a time; 0: one sequence of the greatest length"),
	OPT_FLAG(struct policy_args, recompute, "recompute", 0, "keep only the input of each layer and compute the rest again"),
	OPT_STR(struct policy_args, device, "device", "NAME", "auto", "where the model runs: " DEV_CHOICES),
	OPT_FLAG(struct policy_args, exact, "exact", 0, "on a GPU too, sampling and training agree in every bit; slower"),
	OPT_INT(struct policy_args, threads, "threads", 0, 1024, 0, "threads of the model; 0: one a core"),
	OPT_END
};

static const struct sft_opts no_sft = { .epochs = 0 };

const struct opt sft_opt_table[] = {
	OPT_START(struct sft_opts, &no_sft),
	OPT_LIST(struct sft_opts, data, "data", "FILE", 0, "JSON lines: messages, prompt and completion, or text; may be repeated"),
	OPT_INT(struct sft_opts, epochs, "epochs", 1, 100000, 1, "times through the data"),
	OPT_INT(struct sft_opts, steps, "steps", 0, 1000000000, 0, "optimiser steps; 0: as the epochs give"),
	OPT_INT(struct sft_opts, batch, "batch", 1, 1 << 20, 8, "sequences a micro-batch group"),
	OPT_INT(struct sft_opts, accumulate, "accumulate", 1, 1 << 20, 1, "groups a step: batch times this many sequences"),
	OPT_INT(struct sft_opts, max_length, "max-length", 8, 1 << 20, 2048, "tokens of a sequence; longer ones are cut"),
	OPT_FLAG(struct sft_opts, pack, "pack", 1, "several sequences behind each other in one pack"),
	OPT_FLAG(struct sft_opts, shuffle, "shuffle", 1, "another order in every epoch"),
	OPT_STR(struct sft_opts, validation, "validation", "FILE", NULL, "rows that are not trained on: their loss, every --eval-every steps"),
	OPT_INT(struct sft_opts, save_every, "save-every", 0, 1000000000, 50, "steps between checkpoints; 0: only at the end"),
	OPT_INT(struct sft_opts, save_keep, "save-keep", 1, 1000000, 2, "checkpoints of a stage that stay while it runs"),
	OPT_END
};

int policy_args_options(const struct policy_args *a, uint64_t seed, struct policy_opts *o, struct err *e)
{
	struct optim_opts optim = OPTIM_DEFAULTS;

	*o = (struct policy_opts){ .model = a->model, .adapter = a->adapter, .init = a->init, .tokenizer = a->tokenizer, .full = a->full,
				   .seed = seed };
	o->lora = (struct adapter_opts){ .r = (int)a->lora_r, .alpha = (float)a->lora_alpha, .dropout = (float)a->lora_dropout, .seed = seed };
	optim.lr = a->lr;
	optim.decay = (float)a->weight_decay;
	optim.clip = a->clip;
	optim.warmup = a->warmup;
	optim.floor = a->lr_floor;
	o->trainer.tape = (struct tape_opts){ .max_tokens = (int)a->micro_tokens, .recompute = a->recompute, .seed = seed };
	if (model_store_parse(str_of(a->store), &o->store, e) || schedule_parse(str_of(a->schedule), &optim.schedule, e) ||
	    lora_targets_parse(str_of(a->lora_targets), &o->lora.targets, e))
		return -1;
	o->trainer.optim = optim;
	return 0;
}
