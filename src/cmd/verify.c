/* tritonrl verify: judges candidates from files, folders or JSON lines. This file reads candidates
 * and gives them to a stream (verify/pool/stream.h), which judges, orders, caches and prints. Exit
 * code: 0 all correct, 1 some are not, 2 some could not be judged: the task is at fault, or this engine
 * does not support what the candidate uses. */
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "data/extract.h"
#include "data/function_task.h"
#include "data/second_look.h"
#include "verify/pool/judge_args.h"
#include "verify/pool/stream.h"

struct args {
	const char *task, *jsonl, *out, *cache, *dump, *device;   /* files and folders, or NULL */
	const char *fn, *ref;                            /* plain functions in place of a task and ModelNew, or NULL */
	struct opt_list input;
	int json, explain, identity, answers, unordered;
	struct judge_args judge;
};

static const struct opt opts[] = {
	OPT_STR(struct args, task, "task", "FILE", NULL,
		"task file that defines Model, get_inputs and get_init_inputs; with --identity "
		"also a folder"),
	OPT_STR(struct args, fn, "fn", "NAME", NULL,
		"judge this function of the candidate instead of ModelNew; with --ref and --input"),
	OPT_STR(struct args, ref, "ref", "FUNCTION", NULL,
		"the function that --fn must equal: torch.softmax, an expression of x, y, z, or "
		"FILE.py:NAME"),
	OPT_LIST(struct args, input, "input", "SHAPE[:DTYPE]", 0,
		 "an input of --fn, such as 4096x3000:f32, or =VALUE; once for each, in order"),
	OPT_STR(struct args, jsonl, "jsonl", "FILE", NULL,
		"judge the candidates of a JSON lines file with id, task and candidate (source "
		"texts); - is standard input"),
	OPT_STR(struct args, out, "out", "FILE", NULL,
		"append verdicts as JSON lines; a stopped run continues at the end of this file"),
	OPT_FLAG(struct args, unordered, "unordered", 0,
		 "give each verdict when it is there; a stopped run cannot be continued"),
	OPT_STR(struct args, cache, "cache", "FILE", NULL,
		"cache verdicts in this file, keyed by candidate, task, options and build"),
	OPT_STR(struct args, dump, "dump", "DIR", NULL,
		"write the tensors of each candidate and input set to DIR/CANDIDATE/INPUT"),
	OPT_FLAG(struct args, json, "json", 0, "print one JSON object per candidate"),
	OPT_FLAG(struct args, explain, "explain", 0,
		 "show the failing input, element, source line and likely mistake, and the "
		 "estimated speed of each kernel"),
	OPT_FLAG(struct args, identity, "identity", 0,
		 "judge the Model of each task as its own candidate"),
	OPT_FLAG(struct args, answers, "answers", 0,
		 "candidates are model answers: extract the code first"),
	OPT_STR(struct args, device, "device", "cpu|cuda|cuda:N", NULL, "the same as --judge-device"),
	OPT_INCLUDE(struct args, judge, judge_args_table, "The judge"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "[CANDIDATE...]",
	.about = "Judge Triton candidates against a task. Candidate code never runs as Python: it "
		 "is parsed, its host code is interpreted and its kernels run on the tile "
		 "machine, in sandboxed processes. Exit code 0: all correct, 1: some are not, 2: "
		 "could not judge.",
	.shown = "task fn ref input jsonl out json explain identity track contract precision gpu device workers "
		"timeout",
	.opts = opts,
};

/* The state of one call. */
struct session {
	const struct args *a;
	struct stream stream;          /* judges, orders, caches and prints */
	const struct buf *task;        /* the task of all candidates, for a second look; NULL: not known */
	struct judge_pool *looks;      /* judges second looks; NULL: none was needed yet */
	struct err *e;
};

/* Wrong values get a second look (data/second_look.h): a few changed references, judged up to stage full by a
 * pool of their own. A failure costs only the hint. */
static void look_again(void *ctx, struct str candidate, struct buf *out)
{
	struct session *s = ctx;
	struct judge_options o = s->stream.o.judge;

	if (!s->task)
		return;
	o.last = STAGE_full;
	o.skip_general = 1;
	if (!s->looks)
		s->looks = judge_pool_open(&o, &s->stream.o.pool, NULL);
	if (s->looks)
		second_look(s->looks, buf_str(s->task), candidate, out, NULL);
}

/* --- candidates in a file of JSON lines -------------------------------------------------------- */

/* With --answers the candidate is a model's answer, and the code is extracted from it first. */
static int add(struct session *s, struct str id, const char *path, struct str task, struct str candidate)
{
	struct buf code = BUF_INIT;
	struct extract x;
	int rc;

	if (s->a->answers) {
		if (extract_code(candidate, &x, &code, s->e)) {
			buf_release(&code);
			return -1;
		}
		candidate = buf_str(&code);
	}
	rc = stream_add(&s->stream, id, path, task, candidate, s->e);
	buf_release(&code);
	return rc;
}

/* An invalid line gets an error row in its position, and the following lines are judged: one bad
 * row must not cost the verdicts of a million others. A row without id is named line-N. */
static int submit_line(struct session *s, struct str line, int64_t number)
{
	struct err bad = ERR_INIT;
	struct json *j = json_parse(line, &bad);
	struct str id, task, candidate = STR("");
	char name[64];
	int rc;

	if (json_kind(json_get(j, "id")) == JSON_INT)
		snprintf(name, sizeof name, "%lld", (long long)json_int(json_get(j, "id"), 0));
	else
		snprintf(name, sizeof name, "line-%lld", (long long)number);
	id = json_str(json_get(j, "id"), name);
	if (!j || json_need_str(j, "task", &task, &bad) ||
	    (!s->a->identity && json_need_str(j, "candidate", &candidate, &bad))) {
		err_wrap(&bad, "line %lld", (long long)number);
		rc = stream_add_failed(&s->stream, id, bad.text, s->e);
	} else {
		rc = add(s, id, NULL, task, candidate);
	}
	json_free(j);
	return rc;
}

/* The number of lines, for the progress bar; 0 if it is unknown. A pipe cannot be counted, because
 * counting would consume it. */
static int64_t count_lines(const char *path)
{
	struct file_map m;
	int64_t n = 0;

	if (!strcmp(path, "-") || file_size(path, NULL) <= 0 || file_map_open(&m, path, NULL))
		return 0;
	for (const char *p = m.p, *end = m.p + m.n; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
		n++;
	file_map_close(&m);
	return n;
}

/* Reading waits for the judge, so memory does not grow with the file. */
static int judge_jsonl(struct session *s)
{
	struct line_reader r;
	struct str line;
	int rc;

	if (lines_open(&r, s->a->jsonl, s->e))
		return -1;
	for (;;) {
		/* The writer on standard input may wait for a verdict before it sends the next line. */
		if (r.fd == 0 && !lines_ready(&r) && stream_wait(&s->stream, r.fd, s->e)) {
			rc = -1;
			break;
		}
		rc = stop_requested() ? 0 : lines_next(&r, &line, s->e);
		if (rc <= 0)
			break;
		if (str_trim(line).n && submit_line(s, line, r.number)) {
			rc = -1;
			break;
		}
	}
	lines_close(&r);
	if (!rc && !stop_requested() && !s->stream.added && !s->stream.skipped)
		rc = err_set(s->e, ERR_NOT_FOUND, "there is no candidate in '%s'", s->a->jsonl);
	return rc < 0 ? -1 : stream_finish(&s->stream, s->e);
}

/* --- candidates in files ------------------------------------------------------------------------ */

static int is_python(const char *name)
{
	return str_ends(str_of(name), ".py");
}

/* One file, or every .py file below a folder. If `task` is NULL, each file is its own task
 * (--identity). */
static int judge_path(struct session *s, const char *path, const struct buf *task)
{
	struct buf text = BUF_INIT, child = BUF_INIT;
	struct file_list names;
	int rc = 0;

	if (!file_is_dir(path)) {
		rc = file_read(path, 16u << 20, &text, s->e);
		if (!rc && s->a->fn)
			rc = function_candidate(s->a->fn, s->a->input.n, &text, s->e);
		if (!rc)
			rc = add(s, str_of(path), path, task ? buf_str(task) : buf_str(&text), buf_str(&text));
		buf_release(&text);
		return rc;
	}
	if (file_list_open(&names, path, s->e))
		return -1;
	for (size_t i = 0; i < names.n && !rc; i++) {
		path_join(&child, path, names.v[i]);
		if (is_python(names.v[i]) || file_is_dir(buf_cstr(&child)))
			rc = judge_path(s, buf_cstr(&child), task);
	}
	buf_release(&child);
	file_list_close(&names);
	return rc;
}

/* The number of candidates, for the progress bar; 0 if a folder is among them, whose files are not
 * counted yet. */
static int64_t count_files(const struct args *a, const struct opt_parsed *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (file_is_dir(p->args[i]))
			return 0;
	return a->identity ? 0 : (int64_t)p->n;
}

/* All candidates are judged against the one task of --task. */
static int judge_files(struct session *s, const struct opt_parsed *p)
{
	struct buf task = BUF_INIT;
	int rc = 0;

	if (s->a->identity) {
		rc = judge_path(s, s->a->task, NULL);
	} else {
		rc = s->a->fn ? function_task(s->a->ref, &s->a->input, &task, s->e) :
				file_read(s->a->task, 16u << 20, &task, s->e);
		s->task = &task;
		for (size_t i = 0; i < p->n && !rc; i++)
			rc = judge_path(s, p->args[i], &task);
	}
	if (!rc && !s->stream.added && !s->stream.skipped)
		rc = err_set(s->e, ERR_NOT_FOUND, "there is no .py file in '%s'",
			     s->a->identity ? s->a->task : p->args[0]);
	rc = rc ? rc : stream_finish(&s->stream, s->e);
	s->task = NULL;
	buf_release(&task);
	return rc;
}

/* Combinations that make no sense are refused with the option to use instead. */
static int check_usage(const struct args *a, const struct opt_parsed *p, const struct par *par, struct err *e)
{
	int plain = a->fn || a->ref || a->input.n;

	if (a->jsonl && (p->n || (a->task && !a->identity)))
		return err_set(e, ERR_USAGE, "--jsonl contains tasks and candidates; do not name others");
	if (plain && (!a->fn || !a->ref || !a->input.n || a->task || a->jsonl || a->identity))
		return err_set(e, ERR_USAGE, "a function is judged by --fn NAME --ref FUNCTION --input SHAPE, without "
			       "--task, --jsonl and --identity");
	if (!a->jsonl && !a->task && !a->fn)
		return err_set(e, ERR_USAGE, "name the task: --task FILE, --jsonl FILE, or --fn with --ref and "
			       "--input");
	if (!a->jsonl && !a->identity && !p->n)
		return err_set(e, ERR_USAGE, "name at least one candidate");
	return a->dump && par ? err_set(e, ERR_USAGE, "--dump works in a single process only, not under mpirun") : 0;
}

/* All ranks except the first: they judge the candidates that the first rank hands out, and print
 * nothing. */
static int serve(const struct stream_options *o, struct par *par, struct err *e)
{
	struct judge_pool *pool = judge_pool_open(&o->judge, &o->pool, e);
	struct rank_pool ranks;
	int rc;

	if (!pool)
		return -1;
	rc = rank_pool_init(&ranks, pool, par, e) || rank_pool_serve(&ranks, e) ? -1 : 0;
	rank_pool_release(&ranks);
	judge_pool_close(pool);
	return rc;
}

/* --identity judges the reference itself, which has no kernels, so it needs the hybrid track. */
static int judge_all(const struct args *a, const struct opt_parsed *p, struct par *par, struct session *s)
{
	struct stream_options o = { .par = par, .out = a->out, .cache = a->cache, .dump = a->dump,
				    .json = a->json, .explain = a->explain, .unordered = a->unordered,
				    .look = look_again, .look_ctx = s };

	struct judge_args judge = a->judge;

	judge.pool.gpu.counters |= a->explain;
	judge.device = a->device ? a->device : judge.device;
	if (check_usage(a, p, par, s->e) || judge_args_options(&judge, &o.judge, &o.pool, s->e))
		return -1;
	o.judge.identity = a->identity;             /* the reference is its own candidate */
	if (a->identity)
		o.judge.track = TRACK_HYBRID;
	if (!par_first(par))
		return serve(&o, par, s->e);
	if (stream_open(&s->stream, &o, a->jsonl ? count_lines(a->jsonl) : count_files(a, p), s->e))
		return -1;
	return a->jsonl ? judge_jsonl(s) : judge_files(s, p);
}

int cmd_verify(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct par *par = NULL;
	struct err e = ERR_INIT;
	struct session s = { .a = &a, .e = &e };
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	/* A candidate that could not be judged outweighs one that is wrong: exit code 2 before 1. */
	rc = cmd_join(&par, &e) || judge_all(&a, &p, par, &s) ? -1 : 0;
	stream_close(&s.stream);
	judge_pool_close(s.looks);
	opt_release(&p);
	return cmd_part(par, "verify", rc, s.stream.failed || s.stream.unsupported ? CMD_FAILED :
			s.stream.wrong ? CMD_NO : CMD_OK, &e);
}
