/* Options of sampling: see sample_args.h. */
#include "rl/sample_args.h"

const struct opt sample_args_table[] = {
	OPT_INT(struct sample_args, n, "n", 1, 1024, 10, "samples a task"),
	OPT_REAL(struct sample_args, temperature, "temperature", 0, 10, 0.8, "of sampling; 0 is greedy"),
	OPT_INT(struct sample_args, top_k, "top-k", 0, 1 << 20, 0, "sample from the k most likely tokens; 0: all"),
	OPT_REAL(struct sample_args, top_p, "top-p", 0, 1, 1, "sample from the smallest set of tokens with this probability"),
	OPT_INT(struct sample_args, max_new_tokens, "max-new-tokens", 1, 1 << 20, 2048, "longest answer"),
	OPT_INT(struct sample_args, slots, "slots", 0, 65536, 0, "samples at a time; 0: chosen"),
	OPT_CHOICE(struct sample_args, prompt, "prompt-style", PROMPT_STYLES, "full",
		   "full explains the job with an example; instruct without; compact is the task alone"),
	OPT_END
};

void sample_args_options(const struct sample_args *a, int strict, uint64_t seed, struct rollout_opts *o)
{
	*o = (struct rollout_opts){ .n = (int)a->n, .max_new_tokens = (int)a->max_new_tokens, .strict = strict, .seed = seed };
	o->sample.temperature = (float)a->temperature;
	o->sample.top_k = (int)a->top_k;
	o->sample.top_p = (float)a->top_p;
	o->style = prompt_style_by_name(str_of(a->prompt));
}
