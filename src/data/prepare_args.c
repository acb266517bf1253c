/* Options of prepare: see prepare_args.h. */
#include "data/prepare_args.h"

#include "gen/gen.h"

const struct opt prepare_opts[] = {
	{ .type = OPT_T_LIST, .name = "source", .arg = PREP_SOURCE_CHOICES,
	  .offset = offsetof(struct prepare_args, source), .split_commas = 1,
	  .def_str = "builtin", .help = "where rows come from; repeat to combine sources" },
	OPT_LIST(struct prepare_args, input, "input", "FILE_OR_FOLDER", 0,
		 "file or folder of each source except builtin, in the order of --source"),
	OPT_STR(struct prepare_args, out, "out", "DIR", NULL,
		"output folder: training, validation and test rows and tasks, dropped rows with "
		"reasons, statistics"),
	OPT_INT(struct prepare_args, limit, "limit", 0, 1e15, 0,
		"keep only the first N training rows of each file; 0: all"),
	OPT_INT(struct prepare_args, seed, "seed", 0, 9e15, 1,
		"random seed; the same seed gives the same files"),
	OPT_REAL(struct prepare_args, validation, "validation", 0, 0.9, 0.02,
		 "share of compositions or rows for validation"),
	OPT_REAL(struct prepare_args, test, "test", 0, 0.9, 0,
		 "share of compositions or rows for the test split"),
	OPT_FLAG(struct prepare_args, by_repository, "by-repository", 0,
		 "split by repository (column repo_name, or an id before its last slash), so that all "
		 "modules of one are on one side"),
	OPT_FLAG(struct prepare_args, solve, "solve", 0,
		 "let the solver answer training tasks without a solution; those that it solves go to "
		 "modules_train.jsonl, for train --stream-modules, the others to tasks_train.jsonl"),
	OPT_CHOICE(struct prepare_args, prompt, "prompt-style", PROMPT_STYLES, "instruct",
		   "full: with a worked example; instruct: a few sentences; compact: the task "
		   "only"),
	OPT_INT(struct prepare_args, threads, "threads", 0, 1024, 0,
		"CPU threads; 0: one per core"),
	{ .type = OPT_T_STR, .name = "model", .arg = "DIR", .offset = offsetof(struct prepare_args, model),
	  .group = "Cleaning",
	  .help = "model to be trained; its tokenizer counts the tokens of each row" },
	OPT_STR(struct prepare_args, tokenizer, "tokenizer", "DIR", NULL,
		"tokenizer folder (default: the model folder)"),
	OPT_INT(struct prepare_args, max_length, "max-length", 0, 1 << 20, 8192,
		"drop rows with more tokens than this; 0: keep all"),
	OPT_INT(struct prepare_args, max_bytes, "max-bytes", 256, 1 << 30, 65536,
		"drop tasks and solutions with more bytes than this"),
	OPT_REAL(struct prepare_args, near, "near", 0, 1, 0.9,
		 "drop a row this similar to an earlier one; 0: only identical texts"),
	OPT_LIST(struct prepare_args, decontaminate, "decontaminate", "FILE_OR_FOLDER", 0,
		 "evaluation tasks to keep out of the training data; a kernelbench source always "
		 "is"),
	OPT_REAL(struct prepare_args, near_eval, "near-eval", 0, 1, 0.7,
		 "drop a row this similar to an evaluation task; 0: only identical ones"),
	{ .type = OPT_T_INT, .name = "count", .arg = "N", .lo = 0, .hi = 1e8, .def_int = 1000,
	  .offset = offsetof(struct prepare_args, count),
	  .group = "The built-in generator", .help = "training pairs to generate" },
	OPT_LIST(struct prepare_args, level, "level", "1,2,3", 1,
		 "generator: levels to draw from in turn, repeat one to give it more weight (default "
		 "1,2); files: keep only rows of these levels (default: all)"),
	OPT_INT(struct prepare_args, rl_count, "rl-count", 0, 1e8, 0,
		"extra tasks for reinforcement learning; 0: reuse the training tasks"),
	OPT_LIST(struct prepare_args, rl_level, "rl-level", "1,2,3", 1,
		 "levels of those extra tasks (default: those of --level)"),
	OPT_FLAG(struct prepare_args, rising, "rising", 0,
		 "start with the lowest level and use all levels from halfway on; for unshuffled "
		 "training"),
	OPT_CHOICE(struct prepare_args, style, "style", GEN_STYLE_CHOICES, "varied", GEN_STYLE_HELP),
	{ .type = OPT_T_FLAG, .name = "verify", .offset = offsetof(struct prepare_args, verify), .group = "The judge",
	  .help = "judge every pair and keep only correct ones" },
	OPT_REAL(struct prepare_args, min_speedup, "min-speedup", 0, 1000, 0,
		 "drop pairs whose estimated speed-up over eager PyTorch is below this; 0: keep "
		 "all"),
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
			       .min_speedup = a->min_speedup, .by_repository = a->by_repository, .solve = a->solve,
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
	o.precision = a->judge.judge.precision;
	if (open_judge(a, &o.judge, e))
		return -1;
	rc = prep_run(&o, r, e);
	judge_pool_close(o.judge);
	return rc;
}
