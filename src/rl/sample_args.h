/* Options of sampling for tasks, shared by train, eval, run and ablate. */
#ifndef RL_SAMPLE_ARGS_H
#define RL_SAMPLE_ARGS_H

#include "base/opt.h"
#include "rl/rollout.h"

struct sample_args {
	int64_t n, max_new_tokens, top_k, slots;
	double temperature, top_p;
	const char *prompt;
};
extern const struct opt sample_args_table[];
void sample_args_options(const struct sample_args *a, int strict, uint64_t seed, struct rollout_opts *o);

#endif
