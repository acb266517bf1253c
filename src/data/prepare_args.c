/* Options of prepare: see prepare_args.h. */
#include "data/prepare_args.h"

#include "gen/gen.h"

const struct opt prepare_opts[] = {
	{ .type = OPT_T_LIST, .name = "source", .arg = PREP_SOURCE_CHOICES,
	  .offset = offsetof(struct prepare_args, source), .split_commas = 1,
	  .def_str = "builtin", .help = "where rows come from, in this order; may be repeated" },
	OPT_LIST(struct prepare_args, input, "input", "FILE_OR_FOLDER", 0,
		 "a file or folder for each source but builtin, in the same order"),
	OPT_STR(struct prepare_args, out, "out", "DIR", NULL,
		"gets sft_train.jsonl, tasks_train.jsonl, their validation and test parts, "
		"difficulty_labels.jsonl, dropped.jsonl with the reasons, prepare.json"),
	OPT_INT(struct prepare_args, limit, "limit", 0, 1e15, 0,
		"training rows kept of each file, the first ones; 0: all"),
	OPT_INT(struct prepare_args, seed, "seed", 0, 9e15, 1, "same seed, same bytes"),
	OPT_REAL(struct prepare_args, validation, "validation", 0, 0.9, 0.02,
		 "share of compositions or rows for validation"),
	OPT_REAL(struct prepare_args, test, "test", 0, 0.9, 0, "share of compositions or rows for test"),
	OPT_CHOICE(struct prepare_args, prompt, "prompt-style", PROMPT_STYLES, "instruct",
		   "full: with a worked example; instruct: the job in a few sentences; compact: the task alone"),
	OPT_INT(struct prepare_args, threads, "threads", 0, 1024, 0, "threads; 0: one a core"),
	{ .type = OPT_T_STR, .name = "model", .arg = "DIR", .offset = offsetof(struct prepare_args, model),
	  .group = "Cleaning",
	  .help = "the model to be trained: its tokenizer measures the rows" },
	OPT_STR(struct prepare_args, tokenizer, "tokenizer", "DIR", NULL,
		"folder of the tokenizer, where it is not the model's"),
	OPT_INT(struct prepare_args, max_length, "max-length", 0, 1 << 20, 8192, "drop rows of more tokens; 0: none"),
	OPT_INT(struct prepare_args, max_bytes, "max-bytes", 256, 1 << 30, 65536,
		"drop tasks and solutions of more bytes"),
	OPT_REAL(struct prepare_args, near, "near", 0, 1, 0.9,
		 "similarity from which two rows count as the same; 0: only equal texts do"),
	OPT_LIST(struct prepare_args, decontaminate, "decontaminate", "FILE_OR_FOLDER", 0,
		 "evaluation tasks to keep out of training; a kernelbench source is kept out anyway"),
	OPT_REAL(struct prepare_args, near_eval, "near-eval", 0, 1, 0.7,
		 "similarity with an evaluation task from which a row is left out; 0: only equal ones"),
	{ .type = OPT_T_INT, .name = "count", .arg = "N", .lo = 1, .hi = 1e8, .def_int = 1000,
	  .offset = offsetof(struct prepare_args, count),
	  .group = "The built-in generator", .help = "pairs for training" },
	OPT_LIST(struct prepare_args, level, "level", "1,2,3", 1,
		 "levels in turn; repeat one to weigh it (default 1,2)"),
	OPT_INT(struct prepare_args, rl_count, "rl-count", 0, 1e8, 0,
		"further tasks, for reinforcement alone; 0: the same tasks"),
	OPT_LIST(struct prepare_args, rl_level, "rl-level", "1,2,3", 1, "their levels (default: those of --level)"),
	OPT_FLAG(struct prepare_args, rising, "rising", 0,
		 "the lowest of the levels at first, all of them from half way on: a curriculum for rows "
		 "that are not shuffled"),
	OPT_CHOICE(struct prepare_args, style, "style", GEN_STYLE_CHOICES, "varied", GEN_STYLE_HELP),
	{ .type = OPT_T_FLAG, .name = "verify", .offset = offsetof(struct prepare_args, verify), .group = "The judge",
	  .help = "judge every pair and keep only correct ones" },
	OPT_REAL(struct prepare_args, min_speedup, "min-speedup", 0, 1000, 0,
		 "leave out pairs whose speed-up against eager is estimated below this, by --verify or in "
		 "the row (tasks writes it); 0: none"),
	OPT_INCLUDE(struct prepare_args, judge, judge_args_table, "The judge"),
	OPT_END
};

static struct prep_words words(const struct opt_list *l)
{
	return (struct prep_words){ .v = l->v, .n = l->n };
}

/* Opens the judge if the pairs are verified. skip_general saves the trials of the general contract:
 * under the task contract they do not decide the verdict. */
static int open_judge(const struct prepare_args *a, struct judge_pool **pool, struct err *e)
{
	struct judge_options o;
	struct judge_pool_options po;

	if (!a->verify)
		return 0;
	if (judge_args_options(&a->judge, &o, &po, e))
		return -1;
	o.skip_general = 1;
	*pool = judge_pool_open(&o, &po, e);
	return *pool ? 0 : -1;
}

int prepare_args_run(const struct prepare_args *a, struct prep_report *r, struct err *e)
{
	struct prep_opts o = { .source = words(&a->source), .input = words(&a->input), .out = a->out, .limit = a->limit,
			       .max_length = a->max_length, .max_bytes = a->max_bytes,
			       .validation = a->validation, .test = a->test,
			       .near = a->near, .near_eval = a->near_eval, .decontaminate = words(&a->decontaminate),
			       .min_speedup = a->min_speedup,
			       .count = a->count, .rl_count = a->rl_count, .level = words(&a->level),
			       .rl_level = words(&a->rl_level), .rising = a->rising,
			       .plain = !strcmp(a->style, "plain"), .seed = (uint64_t)a->seed,
				       .threads = (int)a->threads };
	int rc;

	if (!a->out)
		return err_set(e, ERR_USAGE, "name the output folder: --out DIR");
	o.tokenizer = a->tokenizer ? a->tokenizer : a->model;
	o.style = prompt_style_by_name(str_of(a->prompt));
	o.strict = a->judge.judge.track == TRACK_STRICT;
	if (open_judge(a, &o.judge, e))
		return -1;
	rc = prep_run(&o, r, e);
	judge_pool_close(o.judge);
	return rc;
}
