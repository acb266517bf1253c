/* Options of prepare, shared by prepare, run and ablate. */
#ifndef DATA_PREPARE_ARGS_H
#define DATA_PREPARE_ARGS_H

#include "base/opt.h"
#include "data/prep.h"
#include "verify/pool/judge_args.h"

struct prepare_args {
	const char *out, *model, *tokenizer, *prompt, *style;
	struct opt_list source, input, level, rl_level, decontaminate;
	int64_t limit, count, rl_count, max_length, max_bytes, seed, threads;
	double validation, test, near, near_eval, min_speedup;
	int rising, verify, by_repository, solve;
	struct judge_args judge;
};

extern const struct opt prepare_opts[];

/* Prepares; with a judge where --verify asks for one. Sets no progress mode. */
int prepare_args_run(const struct prepare_args *a, struct prep_report *r, struct err *e);

#endif
