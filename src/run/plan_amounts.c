/* How much a run has to do: see plan_args.h.
 *
 * Amounts come from the configuration and its files. A file that is missing here is replaced by the
 * user's number, by what section prepare will write, or by a default; lengths come from a few rows
 * of the generator. */
#include "base/file.h"
#include "base/mem.h"
#include "data/taskset.h"
#include "run/plan_args.h"
#include "run/plan_measure.h"

/* Defaults, measured roughly on KernelBook and our prompts with Qwen2.5's tokenizer: bytes of a token times 10,
 * tokens of a row of KernelBook and of the generator; rows of KernelBook, rows that are read per second, and
 * tasks of an evaluation whose file is missing. */
enum { BYTES_A_TOKEN_X10 = 35, ROW_TOKENS = 2700, BUILTIN_TOKENS = 600, BOOK_ROWS = 13923, ROWS_A_SECOND = 3000,
       TASKS = 100 };
static const double prompt_tokens[] = { [PROMPT_COMPACT] = 300, [PROMPT_INSTRUCT] = 450, [PROMPT_FULL] = 1100,
					[PROMPT_AUTO] = 1100 };

/* Number of lines of a file that are not empty; 0 if it cannot be read. Adds their bytes and squared bytes. */
static int64_t count_lines(const char *path, double *bytes, double *squares)
{
	struct line_reader r;
	struct str line;
	int64_t n = 0;

	if (!path || !file_exists(path) || file_is_dir(path) || lines_open(&r, path, NULL))
		return 0;
	while (lines_next(&r, &line, NULL) > 0) {
		n += str_trim(line).n > 0;
		*bytes += (double)line.n;
		*squares += (double)line.n * (double)line.n;
	}
	lines_close(&r);
	return n;
}

/* Number of tasks of a file or folder with these levels; 0 if it cannot be read. */
static int64_t count_tasks(const char *path, const struct opt_list *levels)
{
	static const struct opt_list all = { .v = NULL };
	struct taskset t;
	int64_t n;

	if (!path || !file_exists(path) || taskset_open(&t, path, NULL))
		return 0;
	n = taskset_select(&t, levels ? levels : &all, 0, NULL) ? 0 : (int64_t)t.rows.n;
	taskset_close(&t);
	return n;
}

/* Lowers n to a limit; a limit of 0 means none. */
static int64_t at_most(int64_t n, int64_t limit)
{
	return limit ? MIN(n, limit) : n;
}

/* Tells whether prepare reads this source. */
static int uses(const struct prepare_args *p, const char *source)
{
	for (size_t i = 0; i < p->source.n; i++)
		if (!strcmp(p->source.v[i], source))
			return 1;
	return 0;
}

/* Rows that prepare reads from files. */
static int64_t file_rows(const struct prepare_args *p)
{
	int64_t files = uses(p, "kernelbook") + uses(p, "jsonl") + uses(p, "modules");

	return files * at_most(BOOK_ROWS, p->limit);
}

/* Pairs that prepare writes, and tasks for stage rl. */
static int64_t prepared_rows(const struct prepare_args *p)
{
	return (uses(p, "builtin") ? p->count : 0) + file_rows(p);
}

static int64_t prepared_tasks(const struct prepare_args *p)
{
	return uses(p, "builtin") && p->rl_count ? p->rl_count + file_rows(p) : prepared_rows(p);
}

/* --- the stages -------------------------------------------------------------------------------------- */

/* Rows that prepare draws or reads, and how fast. */
static void set_prepare(struct plan_job *j, const struct pipeline *p, const struct plan_lengths *drawn)
{
	j->prepare.rows = prepared_rows(&p->prepare) + (uses(&p->prepare, "builtin") ? p->prepare.rl_count : 0);
	j->prepare.verify = p->prepare.verify;
	j->prepare.rows_per_s = drawn->rows_per_s > 0 ? drawn->rows_per_s : ROWS_A_SECOND;
}

/* Sets the amounts of the supervised stage. */
static void set_sft(struct plan_job *j, const struct plan_args *a, const struct pipeline *p,
		    const struct plan_lengths *drawn)
{
	const struct sft_opts *t = &p->sft.sft;
	double bytes = 0, squares = 0;

	for (size_t i = 0; i < t->data.n; i++)
		j->sft.rows += count_lines(t->data.v[i], &bytes, &squares);
	j->sft.row_tokens = j->sft.rows ? bytes * 10 / BYTES_A_TOKEN_X10 / (double)j->sft.rows : drawn->row;
	if (!j->sft.rows)
		j->sft.rows = a->rows ? a->rows : prepared_rows(&p->prepare);
	if (a->row_tokens > 0)
		j->sft.row_tokens = a->row_tokens;
	j->sft.row_square = bytes > 0 ? j->sft.row_tokens * squares * (double)j->sft.rows / (bytes * bytes) :
		j->sft.row_tokens * drawn->square / MAX(drawn->row, 1);
	j->sft.row_ms = drawn->row_ms;
	j->sft.epochs = t->epochs;
	j->sft.steps = t->steps;
	j->sft.batch = t->batch;
	j->sft.accumulate = t->accumulate;
	j->sft.max_length = t->max_length;
	j->sft.micro_tokens = p->sft.policy.trainer.tape.max_tokens;
}

/* Sets the amounts of the reinforcement stage. */
static void set_rl(struct plan_job *j, const struct pipeline *p)
{
	const struct train_args *t = &p->rl;

	j->rl.tasks = count_tasks(t->rl.tasks, &t->rl.levels);
	if (!j->rl.tasks)
		j->rl.tasks = pipeline_has(p, PIPELINE_prepare) ? prepared_tasks(&p->prepare) : TASKS;
	j->rl.tasks = at_most(j->rl.tasks, t->rl.limit);
	j->rl.epochs = t->rl.epochs;
	j->rl.steps = t->rl.steps;
	j->rl.tasks_per_step = t->rl.tasks_per_step;
	j->rl.n = t->sample.n;
	j->rl.keep = t->rl.advantage.method == RL_best_of_n ? t->rl.advantage.keep : 0;
	j->rl.inner = t->rl.inner;
	j->rl.max_new = t->sample.max_new_tokens;
	j->rl.slots = t->sample.slots;
	j->rl.micro_tokens = t->policy.trainer.tape.max_tokens;
}

/* Sets the amounts of the evaluation. The base model exists unless training starts from random
 * weights. */
static void set_eval(struct plan_job *j, const struct plan_args *a, const struct pipeline *p)
{
	const struct eval_cmd_args *t = &p->eval;

	j->eval.tasks = count_tasks(t->eval.tasks, NULL);
	if (!j->eval.tasks)
		j->eval.tasks = a->eval_tasks ? a->eval_tasks : TASKS;
	j->eval.tasks = at_most(j->eval.tasks, t->eval.limit);
	j->eval.n = t->sample.n;
	j->eval.max_new = t->sample.max_new_tokens;
	j->eval.slots = t->sample.slots;
	j->eval.tracks = 1 + (t->eval.both_tracks != 0);
	j->eval.models = (p->sft.policy.model && !p->sft.policy.init) + pipeline_has(p, PIPELINE_sft) +
		pipeline_has(p, PIPELINE_rl);
}

/* Sets the evaluations during the training stages. */
static void set_looks(struct plan_job *j, const struct pipeline *p)
{
	const struct train_args *t[] = { [PLAN_SFT] = &p->sft, [PLAN_RL] = &p->rl };

	for (size_t i = 0; i < COUNT_OF(t); i++) {
		int64_t n = t[i]->look.every && t[i]->look.tasks ? count_tasks(t[i]->look.tasks, NULL) : 0;

		j->look[i].every = t[i]->look.tasks ? t[i]->look.every : 0;
		j->look[i].tasks = at_most(n ? n : TASKS, t[i]->look.limit);
	}
}

/* Marks the stages that the run leaves out. */
static void set_stages(struct plan_job *j, const struct pipeline *p)
{
	static const enum pipeline_stage of[] = { [PLAN_SFT] = PIPELINE_sft, [PLAN_RL] = PIPELINE_rl,
						  [PLAN_EVAL] = PIPELINE_eval, [PLAN_PREPARE] = PIPELINE_prepare };

	for (int s = 0; s < PLAN_ALL_STAGES; s++)
		j->skip |= pipeline_has(p, of[s]) ? 0u : 1u << s;
}

/* Prompts and answers of sampling: the user's numbers, else those of the drawn rows, else defaults.
 * An answer is never longer than sampling allows. */
static void set_lengths(struct plan_job *j, const struct plan_args *a, const struct pipeline *p,
			const struct plan_lengths *drawn)
{
	if (j->prompt_tokens <= 0)
		j->prompt_tokens = drawn->prompt_share > 0 ? drawn->row * drawn->prompt_share :
							    prompt_tokens[p->rl.sample.style];
	j->answer_tokens = a->answer_tokens > 0 ? a->answer_tokens :
			   drawn->prompt_share > 0 ? drawn->row * (1 - drawn->prompt_share) : (double)j->rl.max_new / 2;
	j->answer_tokens = MIN(j->answer_tokens, (double)MAX(j->rl.max_new, j->eval.max_new));
}

/* The folder with the tokenizer: its own option, or the model. */
static const char *tokenizer_of(const struct pipeline *p, const struct plan_job *j)
{
	return p->sft.policy.tokenizer ? p->sft.policy.tokenizer : p->prepare.tokenizer ? p->prepare.tokenizer :
		j->model;
}

/* The lengths are drawn first, because the prompt's and the answer's lengths follow from them. A
 * judging time that the user gave is not measured. */
int plan_amounts(struct plan_job *j, const struct plan_args *a, const struct pipeline *p, struct err *e)
{
	int streamed = p->sft.draws.levels.n > 0, builtin = uses(&p->prepare, "builtin") || streamed;
	struct plan_lengths drawn = { .row = builtin ? BUILTIN_TOKENS : ROW_TOKENS };
	int given = a->row_tokens > 0 && a->prompt_tokens > 0 && a->answer_tokens > 0;

	if (builtin && !given && plan_measure_lengths(p, tokenizer_of(p, j), &drawn, e))
		return -1;
	if (streamed && plan_measure_rows(p, tokenizer_of(p, j), &drawn, e))
		return -1;
	j->task_ms = j->judge_ms;
	if (j->judge_ms <= 0)
		j->judge_measured = plan_measure_judge(p, &j->judge_ms, &j->task_ms);
	set_stages(j, p);
	set_prepare(j, p, &drawn);
	set_sft(j, a, p, &drawn);
	set_rl(j, p);
	set_eval(j, a, p);
	set_looks(j, p);
	set_lengths(j, a, p, &drawn);
	return 0;
}

/* The model's shape comes from its config.json or from the table of known models; no weights are
 * read. */
int plan_job_of(struct plan_job *j, const struct plan_args *a, const struct pipeline *p, struct err *e)
{
	struct policy_opts o = p->sft.policy;

	*j = (struct plan_job){ .model = o.init ? o.init : o.model, .prompt_tokens = a->prompt_tokens,
				.judge_ms = a->judge_ms, .train_share = a->train_share,
				.prefill_share = a->prefill_share, .read_share = a->read_share };
	if (!j->model)
		return err_set(e, ERR_USAGE, "say which model: --model DIR_OR_NAME, or a configuration");
	if (plan_model_find(&j->c, j->model, e) || policy_settle(&o, 1, e))
		return -1;
	j->full = o.full;
	j->lora = o.lora;
	j->store = o.store;
	j->fixed_store = o.store == STORE_I8;   /* a chosen 8-bit format is kept; others may change to fit */
	j->recompute = o.trainer.tape.recompute;
	return plan_amounts(j, a, p, e);
}
