/* Options of the writer: see writer.h. */
#include "data/prompt.h"
#include "write/writer.h"

const struct opt writer_args_table[] = {
	OPT_LIST(struct writer_args, by, "by", "model,solver", 1,
		 "who writes: model, solver, or both (the default)"),
	OPT_STR(struct writer_args, model, "model", "DIR", NULL,
		"model folder (Hugging Face form), or an adapter folder that names its model; default: the model that "
		"ships with the program"),
	OPT_STR(struct writer_args, adapter, "adapter", "DIR", NULL, "load a LoRA adapter on it (PEFT form)"),
	OPT_CHOICE(struct writer_args, style, "prompt-style", PROMPT_STYLES_OR_AUTO, "auto", PROMPT_STYLE_HELP),
	OPT_INT(struct writer_args, n, "n", 1, 100000, 16, "samples of the model"),
	OPT_INT(struct writer_args, variants, "variants", 1, 10000, 4, "solutions of the solver, each with other "
		"schedules"),
	OPT_REAL(struct writer_args, seconds, "seconds", 0.1, 86400, 60, "time for the search"),
	OPT_REAL(struct writer_args, temperature, "temperature", 0, 100, 0.8,
		 "sampling temperature of the model; 0: greedy, one sample"),
	OPT_INT(struct writer_args, max_new, "max-new-tokens", 1, 1000000, 3072, "maximum tokens per sample"),
	OPT_INT(struct writer_args, seed, "seed", 0, 9007199254740992, 0, "random seed of samples and schedules"),
	OPT_FLAG(struct writer_args, repair, "repair", 1, "ask the model again with the judge's feedback if nothing "
		 "passed"),
	OPT_FLAG(struct writer_args, parts, "parts", 1, "if nothing solved the module whole, cut it into "
		 "parts and join their solutions"),
	OPT_FLAG(struct writer_args, tune, "tune", 1, "try other block sizes and warps in the best solution"),
	OPT_STR(struct writer_args, device, "device", "cpu|cuda|cuda:N", NULL,
		"where the model runs and, on a GPU, where correct candidates are timed; default: the model on a "
		"GPU if there is one, and estimated times"),
	OPT_ENUM(struct writer_args, store, "weights", MODEL_STORE_CHOICES, "f32", "storage format of the weights"),
	OPT_INT(struct writer_args, threads, "threads", 0, 1024, 0, "CPU threads of the model; 0: one per core"),
	OPT_INCLUDE(struct writer_args, judge, judge_args_table, "The judge"),
	OPT_END
};
