/* Options of training: of the policy (policy.h) and of the supervised stage (sft.h). */
#include "train/sft.h"

#include "base/file.h"

static const struct policy_opts no_policy = { .trainer.optim = OPTIM_DEFAULTS };

const struct opt policy_opt_table[] = {
	OPT_START(struct policy_opts, &no_policy),
	OPT_STR(struct policy_opts, model, "model", "DIR", NULL,
		"model folder in Hugging Face form: config.json, safetensors, tokenizer.json"),
	OPT_STR(struct policy_opts, adapter, "adapter", "DIR", NULL,
		"start from this LoRA adapter (PEFT form)"),
	OPT_STR(struct policy_opts, init, "init", "CONFIG", NULL,
		"train a new model from random weights, described by this config.json (with "
		"--full)"),
	OPT_STR(struct policy_opts, tokenizer, "tokenizer", "DIR", NULL,
		"tokenizer folder (default: the model folder)"),
	OPT_FLAG(struct policy_opts, full, "full", 0,
		 "train all parameters instead of a LoRA adapter"),
	OPT_INT(struct policy_opts, lora.r, "lora-r", 0, 4096, 0,
		"rank of a new adapter; 0: 16, or the rank of --adapter"),
	OPT_REAL(struct policy_opts, lora.alpha, "lora-alpha", 0, 1e6, 0,
		 "scale of a new adapter: its output is multiplied by alpha / r; 0: 32, or that of "
		 "--adapter"),
	OPT_REAL(struct policy_opts, lora.dropout, "lora-dropout", -1, 0.99, -1,
		 "dropout on the input of the adapter; below 0: 0.05 in stage sft, none in stage rl"),
	OPT_STR(struct policy_opts, lora_targets, "lora-targets", "LIST", NULL,
		"projections that get a new adapter (default: q,k,v,o,gate,up,down, or those of "
		"--adapter)"),
	OPT_REAL(struct policy_opts, trainer.optim.lr, "lr", 0, 10, 2e-4, "peak learning rate"),
	OPT_ENUM(struct policy_opts, trainer.optim.schedule, "schedule", SCHEDULE_CHOICES, "cosine",
		 "shape of the learning-rate decay"),
	OPT_INT(struct policy_opts, trainer.optim.warmup, "warmup", 0, 1000000, 0,
		"steps of linear warm-up to the peak learning rate"),
	OPT_REAL(struct policy_opts, trainer.optim.floor, "lr-floor", 0, 1, 0,
		 "final learning rate as a fraction of the peak"),
	OPT_REAL(struct policy_opts, trainer.optim.decay, "weight-decay", 0, 10, 0,
		 "AdamW weight decay, on matrices only"),
	OPT_REAL(struct policy_opts, trainer.optim.clip, "clip", 0, 1e6, 1,
		 "clip the gradient to this norm; 0: no clipping"),
	OPT_ENUM(struct policy_opts, store, "weights", MODEL_STORE_CHOICES, "f32",
		 "storage format of the weights"),
	OPT_INT(struct policy_opts, trainer.tape.max_tokens, "micro-tokens", 0, 1 << 24, 0,
		"tokens per forward and backward pass; 0: one sequence of maximum length"),
	OPT_FLAG(struct policy_opts, trainer.tape.recompute, "recompute", 0,
		 "save memory: keep each layer's input only and recompute the rest in the "
		 "backward pass"),
	OPT_STR(struct policy_opts, device, "device", "NAME", "auto",
		"where the model runs: " DEV_CHOICES),
	OPT_FLAG(struct policy_opts, exact, "exact", 0,
		 "sampling and training agree in every bit on a GPU too; slower"),
	OPT_INT(struct policy_opts, threads, "threads", 0, 1024, 0,
		"CPU threads of the model; 0: one per core"),
	OPT_END
};

static const struct sft_opts no_sft = { .epochs = 0 };

const struct opt sft_opt_table[] = {
	OPT_START(struct sft_opts, &no_sft),
	OPT_LIST(struct sft_opts, data, "data", "FILE", 0,
		 "training rows as JSON lines: messages, prompt and completion, or text; may be "
		 "repeated"),
	OPT_INT(struct sft_opts, epochs, "epochs", 1, 100000, 1, "passes over the data"),
	OPT_INT(struct sft_opts, steps, "steps", 0, 1000000000, 0,
		"optimiser steps; 0: derived from --epochs"),
	OPT_INT(struct sft_opts, batch, "batch", 1, 1 << 20, 8, "sequences per accumulation step"),
	OPT_INT(struct sft_opts, accumulate, "accumulate", 1, 1 << 20, 1,
		"accumulation steps per optimiser step"),
	OPT_INT(struct sft_opts, max_length, "max-length", 8, 1 << 20, 2048,
		"maximum tokens per sequence; longer ones are truncated"),
	OPT_FLAG(struct sft_opts, pack, "pack", 1, "pack several sequences into one row"),
	OPT_FLAG(struct sft_opts, shuffle, "shuffle", 1, "shuffle the data in every epoch"),
	OPT_STR(struct sft_opts, validation, "validation", "FILE", NULL,
		"held-out rows; their loss is computed every --eval-every steps"),
	OPT_INT(struct sft_opts, save_every, "save-every", 0, 1000000000, 50,
		"steps between checkpoints; 0: only at the end"),
	OPT_INT(struct sft_opts, save_keep, "save-keep", 1, 1000000, 2,
		"checkpoints that a stage keeps while it runs"),
	OPT_END
};

/* The shape of an adapter is fixed when it is made. A chosen option that contradicts it would have no
 * effect, so it is an error. */
static int same_shape(const struct policy_opts *o, const struct adapter_opts *has, struct err *e)
{
	static const char how[] = "leave the option out, or train a new adapter without --adapter";

	if (o->lora.r && o->lora.r != has->r)
		return err_set(e, ERR_USAGE, "--lora-r %d, but adapter '%s' has rank %d: %s", o->lora.r, o->adapter,
			       has->r, how);
	if (o->lora.alpha > 0 && o->lora.alpha != has->alpha)
		return err_set(e, ERR_USAGE, "--lora-alpha %g, but adapter '%s' has alpha %g: %s",
			       (double)o->lora.alpha, o->adapter, (double)has->alpha, how);
	if (o->lora_targets && o->lora.targets != has->targets)
		return err_set(e, ERR_USAGE, "--lora-targets %s, but adapter '%s' has other targets: %s",
			       o->lora_targets, o->adapter, how);
	return 0;
}

/* A missing adapter is reported when it is opened; `plan` does without it. */
static int settle_adapter(struct policy_opts *o, struct err *e)
{
	struct adapter_opts has = { .r = 16, .alpha = 32, .targets = LORA_ALL };

	if (o->lora_targets && lora_targets_parse(str_of(o->lora_targets), &o->lora.targets, e))
		return -1;
	if (o->adapter && file_is_dir(o->adapter) && (adapter_read_opts(&has, o->adapter, e) || same_shape(o, &has, e)))
		return -1;
	o->lora.r = o->lora.r ? o->lora.r : has.r;
	o->lora.alpha = o->lora.alpha > 0 ? o->lora.alpha : has.alpha;
	o->lora.targets = o->lora_targets ? o->lora.targets : has.targets;
	o->lora.dropout = o->lora.dropout < 0 ? 0.05f : o->lora.dropout;
	return 0;
}

int policy_settle(struct policy_opts *o, uint64_t seed, struct err *e)
{
	o->seed = o->lora.seed = o->trainer.tape.seed = seed;
	return settle_adapter(o, e);
}
