/* Measurements of one judge for `ablate`: see ablate_judge.h.
 *
 * This file reads the candidates and their headers, submits them to a pool and counts verdicts. It does
 * not know which extensions of the judge are off: the caller has set them in judge_args. */
#include "run/ablate_judge.h"

#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"

/* --- the cheat suite ---------------------------------------------------------------------------------- */

struct cheat {
	char name[128];                /* path below the suite: "race/no_acquire.py" */
	char task[64];                 /* the task's name: the file is tasks/NAME.py */
	int hybrid;                    /* judged on the hybrid track; else on the strict one */
	int general;                   /* judged by the general contract; else by the task's */
	int honest;                    /* a control that must pass */
};

struct suite {
	const char *dir;
	struct { struct cheat *v; size_t n, cap; } list;
	struct cheat_count *count;
	struct err *e;
};

/* Copies VALUE of the line "# KEY: VALUE" among the comment lines that open the file. Returns 1 if
 * the line exists; otherwise returns 0 and leaves `out` unchanged. */
static int header(struct str source, const char *key, char *out, size_t cap)
{
	char mark[32];

	snprintf(mark, sizeof mark, "# %s: ", key);
	while (source.n && source.p[0] == '#') {
		struct str line = str_cut(&source, '\n');

		if (str_starts(line, mark)) {
			snprintf(out, cap, "%.*s", (int)(line.n - strlen(mark)), line.p + strlen(mark));
			return 1;
		}
	}
	return 0;
}

/* Adds one file to the list. A file without `task` and `expect` lines is not a candidate and is skipped. */
static int read_cheat(struct suite *s, const char *name)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	struct cheat c = { .hybrid = 0 };
	char track[16] = "", contract[16] = "", expect[64] = "";
	int rc;

	path_join(&path, s->dir, name);
	rc = file_read(buf_cstr(&path), 16u << 20, &text, s->e);
	if (!rc && header(buf_str(&text), "task", c.task, sizeof c.task) &&
	    header(buf_str(&text), "expect", expect, sizeof expect)) {
		header(buf_str(&text), "track", track, sizeof track);
		header(buf_str(&text), "contract", contract, sizeof contract);
		snprintf(c.name, sizeof c.name, "%s", name);
		c.hybrid = !strcmp(track, "hybrid");
		c.general = !strcmp(contract, "general");
		c.honest = str_ends(str_of(expect), " ok");
		rc = vec_push(&s->list, c) ? err_nomem(s->e) : 0;
	}
	buf_release(&path);
	buf_release(&text);
	return rc;
}

/* Reads the candidates in `folder`, a path below the suite; "" is the suite itself, whose folders
 * hold one class of candidates each. The folder of the tasks holds no candidates. */
static int list_folder(struct suite *s, const char *folder)
{
	struct file_list names;
	struct buf path = BUF_INIT, name = BUF_INIT;
	int rc = file_list_open(&names, path_join(&path, s->dir, folder), s->e);

	for (size_t i = 0; !rc && i < names.n; i++) {
		buf_clear(&name);
		buf_addf(&name, "%s%s%s", folder, *folder ? "/" : "", names.v[i]);
		path_join(&path, s->dir, buf_cstr(&name));
		if (str_ends(buf_str(&name), ".py"))
			rc = read_cheat(s, buf_cstr(&name));
		else if (!*folder && strcmp(names.v[i], "tasks") && file_is_dir(buf_cstr(&path)))
			rc = list_folder(s, buf_cstr(&name));
	}
	file_list_close(&names);
	buf_release(&path);
	buf_release(&name);
	return rc;
}

static int list_suite(struct suite *s)
{
	if (list_folder(s, ""))
		return -1;
	return s->list.n ? 0 : err_set(s->e, ERR_FORMAT, "'%s' holds no candidate that names its task", s->dir);
}

/* Submits one candidate with its task. Both files are read again, so that no text stays in
 * memory. */
static int submit_cheat(struct suite *s, struct judge_pool *pool, size_t i)
{
	struct buf path = BUF_INIT, task = BUF_INIT, code = BUF_INIT;
	int rc;

	buf_addf(&path, "%s/tasks/%s.py", s->dir, s->list.v[i].task);
	rc = file_read(buf_cstr(&path), 16u << 20, &task, s->e);
	path_join(&path, s->dir, s->list.v[i].name);
	if (!rc)
		rc = file_read(buf_cstr(&path), 16u << 20, &code, s->e) || judge_pool_submit(pool, i,
				buf_str(&task), buf_str(&code), s->e) ? -1 : 0;
	buf_release(&path);
	buf_release(&task);
	buf_release(&code);
	return rc;
}

/* Counts a verdict. A candidate that could not be judged counts as rejected. */
static void count_cheat(struct suite *s, const struct judged *j)
{
	const struct cheat *c = &s->list.v[j->id];
	int correct = !j->rc && j->verdict.correct;

	if (c->honest) {
		s->count->honest++;
		s->count->refused += !correct;
		return;
	}
	s->count->cheats++;
	s->count->accepted += correct;
	if (correct && !s->count->first[0])
		snprintf(s->count->first, sizeof s->count->first, "%s", c->name);
}

/* Is there a candidate of this track and contract? */
static int has_kind(const struct suite *s, int hybrid, int general)
{
	for (size_t i = 0; i < s->list.n; i++)
		if (s->list.v[i].hybrid == hybrid && s->list.v[i].general == general)
			return 1;
	return 0;
}

/* Judges all candidates of one track and contract. Both are options of the judge, so each pair needs a pool of
 * its own. */
static int judge_kind(struct suite *s, const struct judge_args *a, int hybrid, int general)
{
	struct judge_args mine = *a;
	struct judge_options o;
	struct judge_pool_options po;
	struct judge_pool *pool;
	struct judged j;
	int rc;

	if (!has_kind(s, hybrid, general))
		return 0;
	mine.judge.track = hybrid ? TRACK_HYBRID : TRACK_STRICT;
	mine.judge.contract = general ? CONTRACT_GENERAL : CONTRACT_TASK;
	if (judge_args_options(&mine, &o, &po, s->e) || !(pool = judge_pool_open(&o, &po, s->e)))
		return -1;
	rc = 0;
	for (size_t i = 0; i < s->list.n && !rc; i++)
		if (s->list.v[i].hybrid == hybrid && s->list.v[i].general == general)
			rc = submit_cheat(s, pool, i);
	while (!rc && !stop_requested() && (rc = judge_pool_next(pool, 1, &j, s->e)) > 0) {
		count_cheat(s, &j);
		rc = 0;
	}
	judge_pool_close(pool);
	if (!rc && stop_requested())
		rc = err_set(s->e, ERR_INTERRUPTED, "interrupted");
	return rc;
}

/* Judges the candidates with a pool for each track and contract, one after the other. */
int ablate_cheats(const struct judge_args *a, const char *dir, struct cheat_count *out, struct err *e)
{
	struct suite s = { .dir = dir, .count = out, .e = e };
	int rc;

	*out = (struct cheat_count){ .cheats = 0 };
	rc = list_suite(&s);
	for (int kind = 0; kind < 4 && !rc; kind++)
		rc = judge_kind(&s, a, kind & 1, kind >> 1);
	vec_free(&s.list);
	return rc;
}

/* --- time ------------------------------------------------------------------------------------------------ */

struct timing {
	const struct taskset *tasks;
	struct judge_pool *pool;
	int64_t n;                     /* answers submitted in this pass */
	struct err *e;
};

/* Submits one stored answer. An answer to a task that is no longer in the task set is skipped. */
static int submit_answer(void *ctx, const struct store_sample *t)
{
	struct timing *m = ctx;

	for (size_t i = 0; i < m->tasks->rows.n; i++)
		if (str_is(t->task, m->tasks->rows.v[i].id))
			return judge_pool_submit(m->pool, (uint64_t)m->n++, str_of(m->tasks->rows.v[i].source),
						 t->code, m->e);
	return 0;
}

/* Judges all answers once in a new pool, so that each task is prepared within the measured time. *ms gets
 * the milliseconds for one answer. */
static int time_once(const struct judge_options *o, const struct judge_pool_options *po, struct timing *m,
		     struct store *store, const char *stage,
		     double *ms)
{
	struct judged j;
	int64_t start;
	int rc;

	m->n = 0;
	m->pool = judge_pool_open(o, po, m->e);
	start = clock_ns();
	rc = m->pool && !store_each_sample(store, stage, submit_answer, m, m->e) ? 0 : -1;
	while (!rc && (rc = judge_pool_next(m->pool, 1, &j, m->e)) > 0)
		rc = 0;
	*ms = m->n ? (double)(clock_ns() - start) / 1e6 / (double)m->n : 0.0;
	judge_pool_close(m->pool);
	return rc;
}

/* The best of three passes counts: a busy machine makes a pass slower, never faster. */
int ablate_time(const struct judge_args *a, const struct taskset *tasks, struct store *store,
		const char *stage, int64_t *n, double *ms,
		struct err *e)
{
	enum { TIMES = 3 };
	struct timing m = { .tasks = tasks, .e = e };
	struct judge_options o;
	struct judge_pool_options po;

	if (judge_args_options(a, &o, &po, e))
		return -1;
	po.workers = 1;
	for (int i = 0; i < TIMES; i++) {
		double once;

		if (time_once(&o, &po, &m, store, stage, &once))
			return -1;
		*ms = i == 0 || once < *ms ? once : *ms;
	}
	*n = m.n;
	return m.n ? 0 : err_set(e, ERR_STATE,
				 "no answer stored under '%s' belongs to one of the tasks; the task file has "
				 "changed since that run", stage);
}
