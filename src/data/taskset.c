/* Sets of tasks, from a file, a folder, or JSON lines. taskset.h is the manual. */
#include "data/taskset.h"

#include <stdio.h>

#include "base/file.h"
#include "base/json.h"

static char *copy_of(struct str s)
{
	return mem_strndup(s.p, s.n);
}

/* Appends a task; all texts are copied. */
static int add_row(struct taskset *t, struct str id, struct str ops, struct str source, int level, struct err *e)
{
	struct task_row r = { .id = copy_of(id), .ops = copy_of(ops), .source = copy_of(source), .level = level };

	if (r.id && r.ops && r.source && !vec_push(&t->rows, r))
		return 0;
	task_row_release(&r);
	return err_nomem(e);
}

/* One line of JSON; a task without an id is named by its line. */
static int add_line(struct taskset *t, struct str line, int64_t number, struct err *e)
{
	struct json *j = json_parse(line, e);
	struct str source;
	char id[32];
	int rc;

	if (!j)
		return -1;
	snprintf(id, sizeof id, "task-%lld", (long long)number);
	rc = json_need_str(j, "task", &source, e);
	if (!rc)
		rc = add_row(t, json_str(json_get(j, "id"), id), json_str(json_get(j, "ops"), ""), source,
			     (int)json_int(json_get(j, "level"), 0), e);
	json_free(j);
	return rc;
}

/* All tasks of a JSON lines file. */
static int add_jsonl(struct taskset *t, const char *path, struct err *e)
{
	struct line_reader r;
	struct str line;
	int rc;

	if (lines_open(&r, path, e))
		return -1;
	while ((rc = lines_next(&r, &line, e)) > 0)
		if (str_trim(line).n && add_line(t, line, r.number, e)) {
			rc = err_wrap(e, "'%s' line %lld", path, (long long)r.number);
			break;
		}
	lines_close(&r);
	return rc;
}

/* KernelBench's folders are level1, level2, ...; the digit of the nearest such name counts. */
static int level_of(const char *path)
{
	const char *at = NULL;

	for (const char *p = path; (p = strstr(p, "level")); p += 5)
		at = p;
	return at && at[5] >= '1' && at[5] <= '9' ? at[5] - '0' : 0;
}

/* A .py file is one task, a folder is walked in the order of names, anything else is JSON lines. */
static int add_path(struct taskset *t, const char *path, struct err *e)
{
	struct buf child = BUF_INIT, text = BUF_INIT;
	struct file_list names;
	int rc = 0;

	if (!file_is_dir(path)) {
		struct str base = path_base(path);

		if (!str_ends(base, ".py"))
			return add_jsonl(t, path, e);
		base.n -= 3;
		rc = file_read(path, 16u << 20, &text, e) ? -1 : add_row(t, base, STR(""), buf_str(&text),
				level_of(path), e);
		buf_release(&text);
		return rc;
	}
	if (file_list_open(&names, path, e))
		return -1;
	for (size_t i = 0; i < names.n && !rc; i++) {
		path_join(&child, path, names.v[i]);
		if (str_ends(str_of(names.v[i]), ".py") || str_ends(str_of(names.v[i]), ".jsonl") ||
		    file_is_dir(buf_cstr(&child)))
			rc = add_path(t, buf_cstr(&child), e);
	}
	buf_release(&child);
	file_list_close(&names);
	return rc;
}

int taskset_open(struct taskset *t, const char *path, struct err *e)
{
	*t = (struct taskset){ .rows = { .v = NULL } };
	if (!add_path(t, path, e) && t->rows.n)
		return 0;
	if (!t->rows.n)
		err_set(e, ERR_FORMAT, "'%s' contains no task", path);
	taskset_close(t);
	return -1;
}

void task_row_release(struct task_row *r)
{
	mem_free(r->id);
	mem_free(r->ops);
	mem_free(r->source);
}

void taskset_cut(struct taskset *t, size_t n)
{
	for (; t->rows.n > n; t->rows.n--)
		task_row_release(&t->rows.v[t->rows.n - 1]);
}

void taskset_close(struct taskset *t)
{
	taskset_cut(t, 0);
	vec_free(&t->rows);
}
