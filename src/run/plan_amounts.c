/* How much a run has to do: see plan_args.h.
 *
 * Amounts come from the user, else from files, else from a few rows of the generator, else from
 * defaults. Everything that is drawn here goes to temporary folders. */
#include <stdlib.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "data/taskset.h"
#include "run/plan_args.h"

/* Defaults, measured roughly on KernelBook and our prompts with Qwen2.5's tokenizer: bytes of a token times 10,
 * tokens of a row of KernelBook and of the generator; rows drawn for lengths, and rows judged for times. */
enum { BYTES_A_TOKEN_X10 = 35, ROW_TOKENS = 2700, BUILTIN_TOKENS = 600, DRAWS = 48, JUDGED = 12 };
static const double prompt_tokens[] = { [PROMPT_COMPACT] = 300, [PROMPT_INSTRUCT] = 450, [PROMPT_FULL] = 1100,
					[PROMPT_AUTO] = 1100 };

/* Number of lines of a file that are not empty; 0 if it cannot be read. */
static int64_t count_lines(const char *path)
{
	struct line_reader r;
	struct str line;
	int64_t n = 0;

	if (!path || !file_exists(path) || file_is_dir(path) || lines_open(&r, path, NULL))
		return 0;
	while (lines_next(&r, &line, NULL) > 0)
		n += str_trim(line).n > 0;
	lines_close(&r);
	return n;
}

/* Number of tasks of a file or folder; 0 if it cannot be read. */
static int64_t count_tasks(const char *path)
{
	struct taskset t;
	int64_t n;

	if (!path || !file_exists(path) || taskset_open(&t, path, NULL))
		return 0;
	n = (int64_t)t.rows.n;
	taskset_close(&t);
	return n;
}

/* Tells whether prepare reads this source. */
static int uses(const struct prepare_args *p, const char *source)
{
	for (size_t i = 0; i < p->source.n; i++)
		if (!strcmp(p->source.v[i], source))
			return 1;
	return 0;
}

/* Rows that prepare will write. */
static int64_t prepared_rows(const struct prepare_args *p)
{
	int64_t n = uses(p, "builtin") ? p->count : 0;

	return n + (uses(p, "kernelbook") || uses(p, "jsonl") ? (p->limit ? p->limit : 13923) : 0);
}

/* --- a few rows of the generator --------------------------------------------------------------------- */

/* Mean tokens of a training row, and the part of them that is the prompt. */
struct lengths {
	double row, prompt_share;
};

/* Adds the bytes of a conversation: [0] all messages but the last, which are the prompt, [1] the
 * answer. */
static int add_row(struct str line, double bytes[2], struct err *e)
{
	struct json *j = json_parse(line, e);
	const struct json *m = j ? json_get(j, "messages") : NULL;
	size_t n = m ? json_count(m) : 0;

	for (size_t i = 0; i < n; i++)
		bytes[i + 1 == n] += (double)json_str(json_get(json_at(m, i), "content"), "").n;
	json_free(j);
	return j ? 0 : -1;
}

/* Computes the mean lengths of the rows that prepare wrote to `dir`. */
static int read_lengths(const char *dir, const struct prep_report *r, struct lengths *out, struct err *e)
{
	struct buf path = BUF_INIT;
	struct line_reader lines;
	struct str line;
	double bytes[2] = { 0 };
	int rc = lines_open(&lines, path_join(&path, dir, prep_file_name(PREP_OUT_sft_train)), e);

	while (!rc && (rc = lines_next(&lines, &line, e)) > 0)
		rc = add_row(line, bytes, e);
	if (!rc && r->rows[PREP_OUT_sft_train] && bytes[0] + bytes[1] > 0) {
		out->row = (double)r->tokens / (double)r->rows[PREP_OUT_sft_train];
		out->prompt_share = bytes[0] / (bytes[0] + bytes[1]);
	}
	lines_close(&lines);
	buf_release(&path);
	return rc;
}

/* Tells whether the model's folder has a tokenizer. */
static int has_tokenizer(const char *dir)
{
	struct buf path = BUF_INIT;
	int yes = dir && path_join(&path, dir, "tokenizer.json") && file_exists(path.p);

	buf_release(&path);
	return yes;
}

/* Options of prepare for a few rows of the generator, without judging. */
static struct prepare_args few_rows(const struct prepare_args *given, int64_t count, const char *dir)
{
	static const char *const builtin[] = { "builtin" };
	struct prepare_args a = *given;

	a.source = (struct opt_list){ .v = (const char **)builtin, .n = 1 };
	a.input = a.decontaminate = (struct opt_list){ .v = NULL };
	a.count = count;
	a.rl_count = 0;
	a.validation = a.test = 0;
	a.verify = 0;
	a.out = dir;
	a.model = a.tokenizer = NULL;
	return a;
}

/* Prepares a few rows in a temporary folder and measures their lengths. */
static int draw_lengths(const struct prepare_args *given, const char *model, struct lengths *out, struct err *e)
{
	char dir[] = "/tmp/tritonrl-plan-XXXXXX";
	struct prepare_args a = few_rows(given, DRAWS, dir);
	struct prep_report r;
	int rc;

	if (!has_tokenizer(model))
		return 0;
	if (!mkdtemp(dir))
		return err_errno(e, "cannot make '%s'", dir);
	a.model = model;
	rc = prepare_args_run(&a, &r, e) || read_lengths(dir, &r, out, e) ? -1 : 0;
	return file_remove_tree(dir, rc ? NULL : e) || rc ? -1 : 0;
}

/* --- a few verdicts -------------------------------------------------------------------------------------- */

/* CPU seconds of all child processes that have ended. */
static double children_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec +
			u.ru_stime.tv_usec) * 1e-6;
}

/* Measures the time of a verdict on correct pairs of the generator. These pass every stage, so most
 * candidates take less. If nothing can be judged, the default of 20 ms stays. */
static void measure_judge(struct plan_job *j, const struct prepare_args *given)
{
	char dir[] = "/tmp/tritonrl-plan-XXXXXX";
	struct prepare_args a = few_rows(given, JUDGED, dir);
	double before = children_seconds();
	struct prep_report r;

	j->judge_ms = 20;
	if (!mkdtemp(dir))
		return;
	a.verify = 1;
	a.judge.pool.workers = 1;
	if (!prepare_args_run(&a, &r, NULL) && r.n && r.source[0].read) {
		j->judge_ms = MAX(0.1, (children_seconds() - before) * 1000.0 / (double)r.source[0].read);
		j->judge_measured = 1;
	}
	file_remove_tree(dir, NULL);
}

/* --- amounts --------------------------------------------------------------------------------------------- */

/* Sets the amounts of the supervised stage. */
static void set_sft(struct plan_job *j, const struct plan_args *a, const struct plan_stages *s, double usual)
{
	const struct sft_opts *t = &s->sft.sft;
	double bytes = 0;

	for (size_t i = 0; i < t->data.n; i++) {
		j->sft.rows += count_lines(t->data.v[i]);
		bytes += (double)MAX(0, file_exists(t->data.v[i]) ? file_size(t->data.v[i], NULL) : 0);
	}
	j->sft.row_tokens = j->sft.rows ? bytes * 10 / BYTES_A_TOKEN_X10 / (double)j->sft.rows : usual;
	if (!j->sft.rows)
		j->sft.rows = prepared_rows(&s->prepare);
	if (a->rows)
		j->sft.rows = a->rows;
	if (a->row_tokens > 0)
		j->sft.row_tokens = a->row_tokens;
	j->sft.epochs = t->epochs;
	j->sft.steps = t->steps;
	j->sft.batch = t->batch;
	j->sft.accumulate = t->accumulate;
	j->sft.max_length = t->max_length;
}

/* Sets the amounts of reinforcement stage and evaluation. */
static void set_rl(struct plan_job *j, const struct plan_args *a, const struct plan_stages *s)
{
	const struct train_args *t = &s->rl;

	j->rl.tasks = a->rl_tasks ? a->rl_tasks : count_tasks(t->rl.tasks);
	if (!j->rl.tasks)
		j->rl.tasks = s->prepare.rl_count ? s->prepare.rl_count : 100;
	j->rl.epochs = t->rl.epochs;
	j->rl.steps = t->rl.steps;
	j->rl.tasks_per_step = t->rl.tasks_per_step;
	j->rl.n = t->sample.n;
	j->rl.keep = t->rl.advantage.method == RL_best_of_n ? t->rl.advantage.keep : 0;
	j->rl.inner = t->rl.inner;
	j->rl.max_new = t->sample.max_new_tokens;
	j->eval.tasks = a->eval_tasks ? a->eval_tasks : count_tasks(s->eval.eval.tasks);
	if (!j->eval.tasks)
		j->eval.tasks = 100;
	if (s->eval.eval.limit)
		j->eval.tasks = MIN(j->eval.tasks, s->eval.eval.limit);
	j->eval.n = s->eval.sample.n;
	j->eval.max_new = s->eval.sample.max_new_tokens;
}

/* The lengths are drawn first, because the prompt's and the answer's lengths follow from them. A
 * judging time that the user gave is not measured. */
int plan_amounts(struct plan_job *j, const struct plan_args *a, const struct plan_stages *s, struct err *e)
{
	int builtin = uses(&s->prepare, "builtin");
	struct lengths drawn = { .row = builtin ? BUILTIN_TOKENS : ROW_TOKENS };

	if (builtin && draw_lengths(&s->prepare, j->model, &drawn, e))
		return -1;
	if (j->judge_ms <= 0)
		measure_judge(j, &s->prepare);
	set_sft(j, a, s, drawn.row);
	set_rl(j, a, s);
	if (j->prompt_tokens <= 0)
		j->prompt_tokens = drawn.prompt_share > 0 ? drawn.row * drawn.prompt_share :
							   prompt_tokens[s->rl.sample.style];
	j->answer_tokens = a->answer_tokens > 0 ? a->answer_tokens :
			   drawn.prompt_share > 0 ? drawn.row * (1 - drawn.prompt_share) : (double)j->rl.max_new / 2;
	return 0;
}
