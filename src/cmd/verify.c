/* tritonrl verify: judge candidates. Files, folders, JSONL of candidates; results come in the
 * order the candidates were given, whatever worker judged them first. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "cmd/judge_args.h"
#include "data/extract.h"
#include "verify/dump.h"

struct args {
	const char *task, *jsonl, *out, *dump;
	int json, explain, identity, answers;
	struct judge_args judge;
};

static const struct opt opts[] = {
	OPT_STR(struct args, task, "task", "FILE", NULL, "the task: a file that defines Model, get_inputs and get_init_inputs; with --identity a folder too"),
	OPT_STR(struct args, jsonl, "jsonl", "FILE", NULL, "candidates as JSON lines with id, task and candidate (source texts); - for standard input"),
	OPT_STR(struct args, out, "out", "FILE", NULL, "append verdicts as JSON lines; candidates already in it are skipped"),
	OPT_STR(struct args, dump, "dump", "DIR", NULL, "for each candidate and input set write a folder DIR/CANDIDATE/INPUT with task.py, the task as it was run, and tensors.safetensors: input.N, state.NAME, expected.N, got.N"),
	OPT_FLAG(struct args, json, "json", 0, "print one JSON object per candidate"),
	OPT_FLAG(struct args, explain, "explain", 0, "say which input, which element, expected and got"),
	OPT_FLAG(struct args, identity, "identity", 0, "judge each task's own Model as its candidate"),
	OPT_FLAG(struct args, answers, "answers", 0, "candidates are answers of a model: extract the code first"),
	OPT_INCLUDE(struct args, judge, judge_args_table, "The judge"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "[CANDIDATE...]",
	.about = "Judge Triton candidates against a task. No candidate code runs as Python: it is parsed, its host code is interpreted "
		 "and its kernels run on the tile machine, in sandboxed processes. Exit code 0: all correct, 1: some are not, 2: could not judge.",
	.opts = opts,
};

struct item {
	char *id;
	char *path;               /* of the candidate, for messages; NULL in JSONL */
	struct judged *result;    /* until it is printed */
};

struct session {
	const struct args *a;
	struct judge_pool *pool;
	struct { struct item *v; size_t n, cap; } items;
	size_t printed;
	struct map done;          /* ids already in --out */
	struct progress bar;
	int64_t wrong, failed;
	struct err *e;
};

/* --- reporting ------------------------------------------------------------------------------- */

static void print_plain(const struct session *s, const struct item *it)
{
	const struct verdict *v = &it->result->verdict;
	const char *name = it->path ? it->path : it->id;

	if (it->result->rc) {
		printf("%s: could not judge: %s\n", name, it->result->err.code ? it->result->err.text : v->diag.text);
	} else if (v->correct) {
		printf("%s: correct, reward %.3f", name, v->reward);
		if (v->speedup > 0)
			printf(", speedup %.2f (%s)", v->speedup, v->timed);
		putchar('\n');
	} else {
		printf("%s:%d:%d: error[%s]: %s (stage %s, reward %.3f)\n", name, v->diag.line, v->diag.col, reason_code(v->diag.reason),
		       v->diag.text, stage_name(v->stage), v->reward);
		if (v->diag.hint[0])
			printf("  hint: %s\n", v->diag.hint);
	}
	if (!s->a->explain)
		return;
	if (v->explain[0])
		printf("  %s\n", v->explain);
	for (int i = 0; i < v->n_inputs; i++)
		printf("  input %-12s %-16s %s, error %.3g, allowed %.3g\n", v->inputs[i].kind, v->inputs[i].shape,
		       v->inputs[i].passed ? "passed" : "failed", v->inputs[i].max_error, v->inputs[i].tolerance);
	if (v->weights[0])
		printf("  weights matched by %s%s\n", v->weights, v->eval_mode ? "; judged in eval mode" : "");
}

static int print_item(struct session *s, struct item *it)
{
	struct buf line = BUF_INIT;
	int rc = 0;

	if (it->result->rc)
		s->failed++;
	else if (!it->result->verdict.correct)
		s->wrong++;
	if (s->a->json || s->a->out) {
		if (it->result->rc && it->result->verdict.diag.reason == REASON_ok)
			diag_set(&it->result->verdict.diag, REASON_bad_task, 0, 0, "%s", it->result->err.text);
		verdict_json(&it->result->verdict, str_of(it->id), &line);
	}
	if (s->a->out)
		rc = file_append(s->a->out, buf_str(&line), 0, s->e);
	else if (s->a->json)
		fputs(buf_cstr(&line), stdout);
	if (!s->a->json)
		print_plain(s, it);
	buf_release(&line);
	return rc;
}

static void free_item(struct item *it)
{
	mem_free(it->id);
	mem_free(it->path);
	mem_free(it->result);
	*it = (struct item){ .id = NULL };
}

/* Prints what is finished, in order. */
static int flush_items(struct session *s)
{
	int rc = 0;

	while (!rc && s->printed < s->items.n && s->items.v[s->printed].result) {
		struct item *it = &s->items.v[s->printed++];

		rc = print_item(s, it);
		free_item(it);
	}
	return rc;
}

static int collect(struct session *s, int wait)
{
	struct judged j;
	int rc = judge_pool_next(s->pool, wait, &j, s->e);

	if (rc <= 0)
		return rc;
	s->items.v[j.id].result = mem_alloc(sizeof j);
	if (!s->items.v[j.id].result)
		return err_nomem(s->e);
	*s->items.v[j.id].result = j;
	progress_add(&s->bar, 1);
	return flush_items(s) ? -1 : 1;
}

/* --- submitting ------------------------------------------------------------------------------- */

/* Keeps a few jobs per worker in flight, so that a file of any size streams. */
static int submit(struct session *s, const char *id, const char *path, struct str task, struct str candidate)
{
	struct buf code = BUF_INIT;
	struct extract x;
	struct item it = { .id = mem_strdup(id), .path = path ? mem_strdup(path) : NULL };
	int rc;

	if (!it.id || (path && !it.path) || vec_push(&s->items, it))
		return err_nomem(s->e);
	if (s->a->answers) {
		if (extract_code(candidate, &x, &code, s->e))
			return -1;
		candidate = buf_str(&code);
	}
	rc = judge_pool_submit(s->pool, s->items.n - 1, task, candidate, s->e);
	buf_release(&code);
	while (!rc && judge_pool_pending(s->pool) > (size_t)judge_pool_workers(s->pool) * 4 && !stop_requested())
		rc = collect(s, 1) < 0 ? -1 : 0;
	return rc;
}

static int finish_all(struct session *s)
{
	while (judge_pool_pending(s->pool) && !stop_requested())
		if (collect(s, 1) < 0)
			return -1;
	return stop_requested() ? err_set(s->e, ERR_INTERRUPTED, "interrupted after %zu candidates", s->printed) : 0;
}

static int load_done(struct session *s)
{
	struct line_reader r;
	struct str line;
	int rc;

	if (!s->a->out || !file_exists(s->a->out))
		return 0;
	if (lines_open(&r, s->a->out, s->e))
		return -1;
	while ((rc = lines_next(&r, &line, s->e)) > 0) {
		struct json *j = json_parse(line, NULL);

		if (j && !map_put(&s->done, json_str(json_get(j, "id"), "")))
			rc = err_nomem(s->e);
		json_free(j);
		if (rc < 0)
			break;
	}
	lines_close(&r);
	return rc < 0 ? -1 : 0;
}

static int submit_line(struct session *s, struct str line, int64_t number)
{
	struct json *j = json_parse(line, s->e);
	struct str id, task, candidate = STR("");
	char name[64];
	int rc = -1;

	if (!j)
		return err_wrap(s->e, "line %lld", (long long)number);
	if (json_kind(json_get(j, "id")) == JSON_INT)
		snprintf(name, sizeof name, "%lld", (long long)json_int(json_get(j, "id"), 0));
	else
		snprintf(name, sizeof name, "line-%lld", (long long)number);
	id = json_str(json_get(j, "id"), name);
	if (!json_need_str(j, "task", &task, s->e) && (s->a->identity || !json_need_str(j, "candidate", &candidate, s->e))) {
		char *key = mem_strndup(id.p, id.n);

		rc = !key ? err_nomem(s->e) : map_get(&s->done, id) ? 0 : submit(s, key, NULL, task, candidate);
		mem_free(key);
	} else {
		err_wrap(s->e, "line %lld", (long long)number);
	}
	json_free(j);
	return rc;
}

static int judge_jsonl(struct session *s)
{
	struct line_reader r;
	struct str line;
	int rc;

	if (lines_open(&r, s->a->jsonl, s->e))
		return -1;
	while ((rc = lines_next(&r, &line, s->e)) > 0 && !stop_requested())
		if (str_trim(line).n && submit_line(s, line, r.number)) {
			rc = -1;
			break;
		}
	lines_close(&r);
	return rc < 0 ? -1 : finish_all(s);
}

static int is_python(const char *name)
{
	return str_ends(str_of(name), ".py");
}

/* One file, or every .py file below a folder. `task` NULL: the file is its own task. */
static int judge_path(struct session *s, const char *path, const struct buf *task)
{
	struct buf text = BUF_INIT, child = BUF_INIT;
	struct file_list names;
	int rc = 0;

	if (!file_is_dir(path)) {
		rc = file_read(path, 16u << 20, &text, s->e);
		if (!rc && !map_get(&s->done, str_of(path)))
			rc = submit(s, path, path, task ? buf_str(task) : buf_str(&text), buf_str(&text));
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

static int judge_files(struct session *s, const struct opt_parsed *p)
{
	struct buf task = BUF_INIT;
	int rc = 0;

	if (s->a->identity) {
		rc = judge_path(s, s->a->task, NULL);
	} else {
		rc = file_read(s->a->task, 16u << 20, &task, s->e);
		for (size_t i = 0; i < p->n && !rc; i++)
			rc = judge_path(s, p->args[i], &task);
	}
	buf_release(&task);
	return rc ? rc : finish_all(s);
}

static int check_usage(const struct args *a, const struct opt_parsed *p, struct err *e)
{
	if (a->jsonl && (p->n || (a->task && !a->identity)))
		return err_set(e, ERR_USAGE, "--jsonl brings its own tasks and candidates");
	if (!a->jsonl && !a->task)
		return err_set(e, ERR_USAGE, "say which task: --task FILE, or --jsonl FILE");
	if (!a->jsonl && !a->identity && !p->n)
		return err_set(e, ERR_USAGE, "name at least one candidate");
	return 0;
}

static int write_dump(void *ctx, uint64_t id, const char *kind, struct str task_py, struct str tensors, struct err *e)
{
	struct session *s = ctx;

	return dump_write(s->a->dump, s->items.v[id].id, kind, task_py, tensors, e);
}

static int judge_all(const struct args *a, const struct opt_parsed *p, struct session *s)
{
	struct judge_options o;
	struct judge_pool_options po;

	if (check_usage(a, p, s->e) || judge_args_options(&a->judge, &o, &po, s->e))
		return -1;
	o.identity = a->identity;
	if (a->identity)
		o.track = TRACK_HYBRID;
	if (a->dump) {
		po.dump = write_dump;
		po.dump_ctx = s;
	}
	s->pool = judge_pool_open(&o, &po, s->e);
	if (!s->pool || load_done(s))
		return -1;
	progress_begin(&s->bar, "verify", "candidates", a->jsonl ? 0 : (int64_t)p->n);
	return a->jsonl ? judge_jsonl(s) : judge_files(s, p);
}

int cmd_verify(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	struct session s = { .a = &a, .e = &e };
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	rc = judge_all(&a, &p, &s);
	progress_end(&s.bar);
	judge_pool_close(s.pool);
	for (size_t i = s.printed; i < s.items.n; i++)
		free_item(&s.items.v[i]);
	vec_free(&s.items);
	map_release(&s.done);
	opt_release(&p);
	if (rc)
		return cmd_fail("verify", &e);
	return s.failed ? CMD_FAILED : s.wrong ? CMD_NO : CMD_OK;
}
