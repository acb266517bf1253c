/* tritonrl solve: writes a Triton solution for a module by rule and judges it. Exit code: 0 all
 * solved, 1 some are not, 2 could not. */
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "solve/solve.h"
#include "verify/pool/batch.h"
#include "verify/pool/judge_args.h"

struct args {
	const char *jsonl, *out;
	int64_t variants, seed;
	int json, verify, any_size;
	struct judge_args judge;
};

static const struct opt opts[] = {
	OPT_STR(struct args, jsonl, "jsonl", "FILE", NULL,
		"solve the modules of a JSON lines file with id and task (source texts); - is standard input"),
	OPT_INT(struct args, variants, "variants", 1, 10000, 1,
		"solutions per module, with other schedules and block sizes"),
	OPT_INT(struct args, seed, "seed", 0, 9e15, 0,
		"random seed of the variants; 0 begins with the usual schedules"),
	OPT_STR(struct args, out, "out", "FILE", "-", "output file; - is standard output"),
	OPT_FLAG(struct args, json, "json", 0, "print one JSON object per solution"),
	OPT_FLAG(struct args, any_size, "any-size", 0,
		 "prefer kernels for any sizes of the inputs; modules of much work get them in any case"),
	OPT_FLAG(struct args, verify, "verify", 1, "judge every solution"),
	OPT_INCLUDE(struct args, judge, judge_args_table, "The judge"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "[MODULE...]",
	.about = "Write a Triton solution for a module in KernelBench's form by rule: record the operators of "
		 "Model.forward, cut their graph into kernels, write ModelNew and judge it. A module that is not "
		 "solved is reported with the operator that stopped the solver. Exit code 0: all solved, 1: some "
		 "are not, 2: could not.",
	.shown = "jsonl variants any-size seed out json verify track precision gpu workers timeout",
	.opts = opts,
};

/* One solution of one module. */
struct job {
	char *id;
	struct buf task;
	struct solve_answer answer;
	struct judged judged;
	int ended;               /* judged, or not to be judged */
};

struct solver {
	const struct args *a;
	struct host_lib *lib;
	struct judge_pool *judges;
	struct { struct job *v; size_t n, cap; } jobs;
	size_t asked, shown;
	int64_t solved, unsolved, failed;
	int out;                 /* a file; -1: not open */
	struct progress bar;
	struct err *e;
};

static void job_release(struct job *j)
{
	mem_free(j->id);
	buf_release(&j->task);
	solve_answer_release(&j->answer);
}

/* --- reports ------------------------------------------------------------------------------------ */

static int is_solved(const struct solver *s, const struct job *j)
{
	return j->answer.solution.n && (!s->a->verify || (!j->judged.rc && j->judged.verdict.correct));
}

/* Why there is no accepted solution: the solver's reason, or the judge's. */
static const char *why_not(const struct job *j)
{
	if (!j->answer.solution.n)
		return j->answer.why;
	return j->judged.rc ? j->judged.err.text : j->judged.verdict.diag.text;
}

static int show_json(struct solver *s, const struct job *j)
{
	struct buf line = BUF_INIT;
	struct jw w = { .out = &line };
	int judged = s->a->verify && j->answer.solution.n && !j->judged.rc, rc;

	jw_begin(&w, '{');
	jw_key(&w, "id"), jw_cstr(&w, j->id);
	jw_key(&w, "solved"), jw_bool(&w, is_solved(s, j));
	jw_key(&w, "verdict"), jw_cstr(&w, judged ? verdict_name(&j->judged.verdict) :
				       j->answer.solution.n ? NULL : "unsolved");
	jw_key(&w, "reason"), jw_cstr(&w, is_solved(s, j) ? "" : judged ?
				      reason_code(j->judged.verdict.diag.reason) : "unsolved");
	jw_key(&w, "message"), jw_cstr(&w, is_solved(s, j) ? "" : why_not(j));
	jw_key(&w, "operator"), jw_cstr(&w, j->answer.op);
	jw_key(&w, "operators"), jw_int(&w, j->answer.ops);
	jw_key(&w, "kernels"), jw_int(&w, j->answer.kernels);
	jw_key(&w, "speedup"), judged && j->judged.verdict.speedup > 0.0 ?
		jw_real(&w, j->judged.verdict.speedup) : jw_null(&w);
	jw_key(&w, "solution"), jw_str(&w, buf_str(&j->answer.solution));
	jw_end(&w, '}');
	buf_addc(&line, '\n');
	rc = buf_check(&line, s->e) || cmd_put(s->out, s->a->out, buf_str(&line), s->e) ? -1 : 0;
	buf_release(&line);
	return rc;
}

static int show_text(struct solver *s, const struct job *j)
{
	if (is_solved(s, j)) {
		if (cmd_put(s->out, s->a->out, buf_str(&j->answer.solution), s->e))
			return -1;
		log_info("%s: solved, %d operators in %d kernels%s", j->id, j->answer.ops, j->answer.kernels,
			 s->a->verify ? "" : ", not judged");
		if (s->a->verify && j->judged.verdict.speedup > 0.0)
			log_info("%s: estimated speed-up against eager PyTorch %.2f", j->id,
				 j->judged.verdict.speedup);
		return 0;
	}
	if (j->answer.solution.n && !s->a->json)
		log_warn("%s: the judge rejects the solution: %s", j->id, why_not(j));
	else
		log_warn("%s: unsolved: %s", j->id, why_not(j));
	return 0;
}

/* Shows finished jobs in the order of the modules. */
static int show(struct solver *s)
{
	int rc = 0;

	for (; !rc && s->shown < s->jobs.n && s->jobs.v[s->shown].ended; s->shown++) {
		struct job *j = &s->jobs.v[s->shown];

		if (s->a->json || s->a->jsonl)
			rc = show_json(s, j);
		else
			rc = show_text(s, j);
		s->solved += is_solved(s, j);
		s->unsolved += !is_solved(s, j);
		s->failed += j->judged.rc != 0;
		progress_add(&s->bar, 1);
		job_release(j);
		*j = (struct job){ .ended = 1 };
	}
	return rc;
}

/* --- judging ------------------------------------------------------------------------------------- */

static int take_verdicts(struct solver *s, int wait)
{
	struct judged got;
	int rc;

	while ((rc = judge_pool_next(s->judges, wait, &got, s->e)) > 0) {
		struct job *j = &s->jobs.v[got.id];

		j->judged = got;
		j->ended = 1;
		if (show(s))
			return -1;
		if (stop_requested())
			break;
	}
	return rc < 0 ? -1 : 0;
}

/* Solves one module and gives the solution to the judges. */
static int solve_one(struct solver *s, const char *id, struct str task, uint64_t draw)
{
	struct solve_options o = { .lib = s->lib, .draw = draw, .any_size = s->a->any_size };
	struct job *j;

	if (vec_grow(&s->jobs, 1))
		return err_nomem(s->e);
	j = &s->jobs.v[s->jobs.n];
	*j = (struct job){ .id = mem_strdup(id) };
	s->jobs.n++;
	buf_addstr(&j->task, task);
	o.tf32 = s->a->judge.judge.precision == PRECISION_TF32;
	o.ieee = s->a->judge.judge.precision == PRECISION_IEEE;
	if (solve_module(&o, task, &j->answer, s->e))
		return -1;
	j->ended = !j->answer.solution.n || !s->a->verify;
	if (!j->ended && judge_pool_submit(s->judges, s->jobs.n - 1, task, buf_str(&j->answer.solution), s->e))
		return -1;
	if (show(s))
		return -1;
	return s->judges && judge_pool_pending(s->judges) ? take_verdicts(s, 0) : 0;
}

static int solve_variants(struct solver *s, const char *id, struct str task)
{
	int rc = 0;

	for (int64_t i = 0; i < s->a->variants && !rc && !stop_requested(); i++)
		rc = solve_one(s, id, task, (uint64_t)(s->a->seed + i));
	return rc;
}

/* --- modules ------------------------------------------------------------------------------------- */

static int solve_line(struct solver *s, struct str line, int64_t number)
{
	struct err bad = ERR_INIT;
	struct json *row = json_parse(line, &bad);
	struct buf id = BUF_INIT;
	struct str task;
	int rc;

	if (!row || json_need_str(row, "task", &task, &bad)) {
		log_warn("line %lld: %s", (long long)number, bad.text);
		s->failed++;
		json_free(row);
		return 0;
	}
	buf_addf(&id, "line-%lld", (long long)number);
	if (json_kind(json_get(row, "id")) == JSON_INT) {
		buf_clear(&id);
		buf_addf(&id, "%lld", (long long)json_int(json_get(row, "id"), 0));
	} else if (json_get(row, "id")) {
		struct str text = json_str(json_get(row, "id"), "");

		buf_clear(&id);
		buf_addstr(&id, text);
	}
	rc = solve_variants(s, buf_cstr(&id), task);
	buf_release(&id);
	json_free(row);
	return rc;
}

static int solve_jsonl(struct solver *s)
{
	struct line_reader r;
	struct str line;
	int rc;

	if (lines_open(&r, s->a->jsonl, s->e))
		return -1;
	while ((rc = stop_requested() ? 0 : lines_next(&r, &line, s->e)) > 0)
		if (str_trim(line).n && solve_line(s, line, r.number)) {
			rc = -1;
			break;
		}
	lines_close(&r);
	return rc;
}

static int solve_files(struct solver *s, const struct opt_parsed *p)
{
	struct buf text = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < p->n && !rc; i++) {
		buf_clear(&text);
		rc = file_read(p->args[i], 16u << 20, &text, s->e);
		if (!rc)
			rc = solve_variants(s, p->args[i], buf_str(&text));
	}
	buf_release(&text);
	return rc;
}

/* The judges are processes and come before threads. */
static int open_all(struct solver *s)
{
	struct judge_options o;
	struct judge_pool_options po;

	s->out = cmd_open_out(s->a->out, s->e);
	if (s->out < 0)
		return -1;
	if (s->a->verify) {
		if (judge_args_options(&s->a->judge, &o, &po, s->e))
			return -1;
		o.skip_general = 1;
		s->judges = judge_pool_open(&o, &po, s->e);
		if (!s->judges)
			return -1;
	}
	s->lib = host_lib_new(s->e);
	return s->lib ? 0 : -1;
}

static int run(struct solver *s, const struct opt_parsed *p)
{
	if (!s->a->jsonl == !p->n)
		return err_set(s->e, ERR_USAGE, "name modules, or --jsonl FILE");
	if (open_all(s))
		return -1;
	progress_begin(&s->bar, "solve", "solutions", s->a->jsonl ? 0 : (int64_t)p->n * s->a->variants);
	if (s->a->jsonl ? solve_jsonl(s) : solve_files(s, p))
		return -1;
	if (s->judges && take_verdicts(s, 1))
		return -1;
	progress_end(&s->bar);
	if (s->a->jsonl)
		log_info("solved %lld of %lld", (long long)s->solved, (long long)(s->solved + s->unsolved));
	return 0;
}

static void close_all(struct solver *s)
{
	judge_pool_close(s->judges);
	for (size_t i = 0; i < s->jobs.n; i++)
		job_release(&s->jobs.v[i]);
	vec_free(&s->jobs);
	host_lib_free(s->lib);
	cmd_close_out(s->out);
}

int cmd_solve(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	struct solver s = { .a = &a, .out = -1, .e = &e };
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	rc = run(&s, &p);
	close_all(&s);
	opt_release(&p);
	if (rc)
		return cmd_fail("solve", &e);
	return stop_requested() ? cmd_stopped() : s.failed ? CMD_FAILED : s.unsolved ? CMD_NO : CMD_OK;
}
