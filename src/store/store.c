/* The run store: the only SQL of the program. store.h is the manual, schema.sql the tables.
 * Statements are prepared at their first use and kept until the store is closed. */
#include "store/store.h"

#include <math.h>
#include <sqlite3.h>

#include "base/mem.h"

__asm__(".pushsection .rodata\n"
	".globl store_schema\n"
	"store_schema:\n"
	".incbin \"src/store/schema.sql\"\n"
	".byte 0\n"
	".popsection\n");
extern const char store_schema[];

#define WHOLE_SAMPLE \
	"SELECT stage, step, task, number, answer, code, tokens, logprob, finish, correct, reached, reason, " \
	"reward, speedup, verdict " \
	"FROM sample "

/* STATEMENT(id, SQL) */
#define STATEMENTS(S) \
	S(put_meta, "INSERT OR REPLACE INTO meta VALUES (?, ?)") \
	S(get_meta, "SELECT value FROM meta WHERE key = ?") \
	S(put_task, "INSERT OR REPLACE INTO task VALUES (?, ?, ?, ?, ?)") \
	S(get_source, "SELECT source FROM task WHERE id = ?") \
	S(put_step, "INSERT OR REPLACE INTO step VALUES (?, ?, ?, ?, ?, ?, ?)") \
	S(put_sample, "INSERT INTO sample (stage, step, task, number, answer, code, tokens, logprob, finish, " \
		      "correct, reached, reason, reward, speedup, verdict) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, " \
			      "?, ?, ?, ?, ?, ?)") \
	S(put_eval, "INSERT OR REPLACE INTO eval VALUES (?, ?)") \
	S(get_eval, "SELECT result FROM eval WHERE name = ?") \
	S(drop_steps, "DELETE FROM step WHERE stage = ? AND step > ?") \
	S(drop_samples, "DELETE FROM sample WHERE stage = ? AND step > ?") \
	S(put_pending, "INSERT OR REPLACE INTO pending VALUES (?, ?, ?, ?, ?)") \
	S(get_pending, "SELECT sample FROM pending WHERE stage = ? AND step = ? AND place = ? AND number = ?") \
	S(drop_pending, "DELETE FROM pending WHERE (stage = ?1 OR substr(stage, 1, length(?1) + 1) = ?1 || '.') " \
			"AND step <= ?2") \
	S(get_cache, "SELECT verdict FROM cache WHERE key = ?") \
	S(put_cache, "INSERT OR REPLACE INTO cache VALUES (?, ?)") \
	S(all_steps, "SELECT stage, step, loss, lr, grad_norm, tokens, extra FROM step ORDER BY stage, step") \
	S(all_samples, WHOLE_SAMPLE "WHERE ?1 IS NULL OR stage = ?1 ORDER BY stage, step, task, number") \
	S(task_samples, WHOLE_SAMPLE "WHERE task = ?1 ORDER BY stage, step, number") \
	S(first_samples, WHOLE_SAMPLE "WHERE stage = ?1 AND step % ?2 = 0 AND answer != '' AND id IN " \
			 "(SELECT min(id) FROM sample WHERE stage = ?1 AND answer != '' GROUP BY step) ORDER BY step") \
	S(brief_samples, "SELECT stage, step, task, number, '', '', tokens, logprob, finish, correct, reached, " \
			 "reason, reward, speedup, '' FROM sample") \
	S(sampled_tasks, "SELECT task, max(stage LIKE 'eval%') AS evaluated FROM sample WHERE answer != '' " \
			 "GROUP BY task ORDER BY evaluated DESC, task") \
	S(all_tasks, "SELECT id, level, split, ops, source FROM task ORDER BY id") \
	S(all_evals, "SELECT name, result FROM eval ORDER BY name")

/* Milliseconds that a sync waits for another one. */
enum { SYNC_MOST_MS = 10000 };      /* as long as a statement waits for a lock */

enum statement {
#define S(id, sql) ST_##id,
	STATEMENTS(S)
#undef S
	ST_COUNT
};

static const char *const sql_of[] = {
#define S(id, sql) sql,
	STATEMENTS(S)
#undef S
};

struct store {
	sqlite3 *db;
	sqlite3_stmt *st[ST_COUNT];
};

/* Sets *e to SQLite's message about the last failure. */
static int db_error(struct store *s, struct err *e)
{
	return err_set(e, ERR_IO, "run store: %s", sqlite3_errmsg(s->db));
}

/* Runs SQL without results. */
static int run_sql(struct store *s, const char *sql, struct err *e)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : db_error(s, e);
}

/* Opens or creates a store. WAL lets the live page read while a run writes; synchronous = NORMAL
 * loses no consistency at a crash, and store_sync makes the last commits durable where that
 * matters. */
int store_open(struct store **out, const char *path, struct err *e)
{
	struct store *s = mem_zalloc(sizeof *s);

	*out = NULL;
	if (!s)
		return err_nomem(e);
	if (sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK) {
		err_set(e, ERR_IO, "cannot open run store '%s': %s", path, s->db ? sqlite3_errmsg(s->db) :
			"out of memory");
		store_close(s);
		return -1;
	}
	sqlite3_busy_timeout(s->db, 10000);
	if (run_sql(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;", e) || run_sql(s, store_schema, e)) {
		err_wrap(e, "'%s'", path);
		store_close(s);
		return -1;
	}
	*out = s;
	return 0;
}

/* Finalizes the statements that were prepared, then closes the database. Accepts NULL and a store
 * that store_open could not finish opening. */
void store_close(struct store *s)
{
	if (!s)
		return;
	for (int i = 0; i < ST_COUNT; i++)
		sqlite3_finalize(s->st[i]);
	sqlite3_close(s->db);
	mem_free(s);
}

int store_begin(struct store *s, struct err *e) { return run_sql(s, "BEGIN", e); }
int store_commit(struct store *s, struct err *e) { return run_sql(s, "COMMIT", e); }
void store_rollback(struct store *s) { run_sql(s, "ROLLBACK", NULL); }

/* --- binding ------------------------------------------------------------------------------ */

/* The statement, reset and without bindings, prepared at its first use. NULL on failure (*e). */
static sqlite3_stmt *statement(struct store *s, enum statement id, struct err *e)
{
	if (!s->st[id] && sqlite3_prepare_v3(s->db, sql_of[id], -1, SQLITE_PREPARE_PERSISTENT, &s->st[id],
					     NULL) != SQLITE_OK) {
		db_error(s, e);
		return NULL;
	}
	sqlite3_reset(s->st[id]);
	sqlite3_clear_bindings(s->st[id]);
	return s->st[id];
}

/* Binds a text that lives until the statement is reset. */
static void bind_str(sqlite3_stmt *st, int i, struct str v)
{
	sqlite3_bind_text(st, i, v.p ? v.p : "", (int)v.n, SQLITE_STATIC);
}

/* Binds a string; NULL binds SQL's NULL. */
static void bind_cstr(sqlite3_stmt *st, int i, const char *v)
{
	if (v)
		sqlite3_bind_text(st, i, v, -1, SQLITE_STATIC);
}

/* Binds a number; one that is not finite becomes SQL's NULL. */
static void bind_real(sqlite3_stmt *st, int i, double v)
{
	if (isfinite(v))
		sqlite3_bind_double(st, i, v);
}

/* Runs a statement that has no results. */
static int execute(struct store *s, sqlite3_stmt *st, struct err *e)
{
	int rc = sqlite3_step(st) == SQLITE_DONE ? 0 : db_error(s, e);

	sqlite3_reset(st);
	return rc;
}

/* A text column of the present row, borrowed until the next step. */
static struct str column(sqlite3_stmt *st, int i)
{
	const char *p = (const char *)sqlite3_column_text(st, i);

	return (struct str){ .p = p ? p : "", .n = (size_t)sqlite3_column_bytes(st, i) };
}

/* --- writing ------------------------------------------------------------------------------ */

/* Writes one value of the meta table (such as "config"); an older value is replaced. */
int store_put_meta(struct store *s, const char *key, struct str value, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_put_meta, e);

	if (!st)
		return -1;
	bind_cstr(st, 1, key);
	bind_str(st, 2, value);
	return execute(s, st, e);
}

/* Looks one text up by a key. Returns 1 and the text, 0 if the key is absent, -1 on failure. */
static int get_text(struct store *s, enum statement id, struct str key, struct buf *out, struct err *e)
{
	sqlite3_stmt *st = statement(s, id, e);
	int rc;

	if (!st)
		return -1;
	bind_str(st, 1, key);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		buf_addstr(out, column(st, 0));
	sqlite3_reset(st);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return db_error(s, e);
	return buf_check(out, e) ? -1 : rc == SQLITE_ROW;
}

int store_get_meta(struct store *s, const char *key, struct buf *out, struct err *e)
{
	return get_text(s, ST_get_meta, str_of(key), out, e);
}

/* Writes one task. A task with the same id is replaced, so that a resumed run may write its tasks
 * again. */
int store_put_task(struct store *s, const struct store_task *t, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_put_task, e);

	if (!st)
		return -1;
	bind_str(st, 1, t->id);
	sqlite3_bind_int(st, 2, t->level);
	bind_str(st, 3, t->split);
	bind_str(st, 4, t->ops);
	bind_str(st, 5, t->source);
	return execute(s, st, e);
}

/* Writes the metrics of one optimiser step. A step that is already stored is replaced. */
int store_put_step(struct store *s, const struct store_step *t, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_put_step, e);

	if (!st)
		return -1;
	bind_cstr(st, 1, t->stage);
	sqlite3_bind_int64(st, 2, t->step);
	bind_real(st, 3, t->loss);
	bind_real(st, 4, t->lr);
	bind_real(st, 5, t->grad_norm);
	sqlite3_bind_int64(st, 6, t->tokens);
	bind_str(st, 7, t->extra.n ? t->extra : STR("{}"));
	return execute(s, st, e);
}

/* Adds one sample. The columns of the verdict stay NULL while the sample is not judged; row_sample
 * reads `judged` from that. */
int store_put_sample(struct store *s, const struct store_sample *t, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_put_sample, e);

	if (!st)
		return -1;
	bind_cstr(st, 1, t->stage);
	sqlite3_bind_int64(st, 2, t->step);
	bind_str(st, 3, t->task);
	sqlite3_bind_int64(st, 4, t->number);
	bind_str(st, 5, t->answer);
	bind_str(st, 6, t->code);
	sqlite3_bind_int64(st, 7, t->tokens);
	bind_real(st, 8, t->logprob);
	bind_cstr(st, 9, t->finish);
	if (t->judged) {
		sqlite3_bind_int(st, 10, t->correct);
		bind_cstr(st, 11, t->reached);
		bind_cstr(st, 12, t->reason);
		bind_real(st, 13, t->reward);
		bind_real(st, 14, t->speedup);
		bind_str(st, 15, t->verdict);
	}
	return execute(s, st, e);
}

/* Writes the result of an evaluation under its name, as the JSON of eval_json. */
int store_put_eval(struct store *s, const char *name, struct str json, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_put_eval, e);

	if (!st)
		return -1;
	bind_cstr(st, 1, name);
	bind_str(st, 2, json);
	return execute(s, st, e);
}

int store_get_eval(struct store *s, const char *name, struct buf *json, struct err *e)
{
	return get_text(s, ST_get_eval, str_of(name), json, e);
}

/* Deletes the rows of a stage after a step. */
static int drop_after(struct store *s, enum statement id, const char *stage, int64_t step, struct err *e)
{
	sqlite3_stmt *st = statement(s, id, e);

	if (!st)
		return -1;
	bind_cstr(st, 1, stage);
	sqlite3_bind_int64(st, 2, step);
	return execute(s, st, e);
}

/* Deletes steps and samples of a stage after a step: a resumed run writes them again. */
int store_rewind(struct store *s, const char *stage, int64_t step, struct err *e)
{
	return drop_after(s, ST_drop_steps, stage, step, e) || drop_after(s, ST_drop_samples, stage, step, e) ? -1 : 0;
}

/* Binds the key of a pending sample. */
static void bind_pending(sqlite3_stmt *st, const struct store_pending *at)
{
	bind_cstr(st, 1, at->stage);
	sqlite3_bind_int64(st, 2, at->step);
	sqlite3_bind_int64(st, 3, at->place);
	sqlite3_bind_int64(st, 4, at->number);
}

/* Keeps a finished sample of an unfinished step. After a crash the rollout reads it back instead of
 * sampling again. */
int store_put_pending(struct store *s, const struct store_pending *at, struct str sample, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_put_pending, e);

	if (!st)
		return -1;
	bind_pending(st, at);
	sqlite3_bind_blob(st, 5, sample.p, (int)sample.n, SQLITE_STATIC);
	return execute(s, st, e);
}

/* Reads a pending sample. Returns 1 if it was found (appended to `out`), 0 if it is absent, -1 on
 * failure. get_text cannot do this: the key has four columns and the value is a blob. */
int store_get_pending(struct store *s, const struct store_pending *at, struct buf *out, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_get_pending, e);
	int rc;

	if (!st)
		return -1;
	bind_pending(st, at);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		buf_add(out, sqlite3_column_blob(st, 0), (size_t)sqlite3_column_bytes(st, 0));
	sqlite3_reset(st);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return db_error(s, e);
	return buf_check(out, e) ? -1 : rc == SQLITE_ROW;
}

/* Deletes the pending samples of a stage up to and including a step: the step is complete now. The
 * stages "rl.2", "rl.3" of further turns are deleted with "rl". */
int store_drop_pending(struct store *s, const char *stage, int64_t last_step, struct err *e)
{
	return drop_after(s, ST_drop_pending, stage, last_step, e);
}

/* Makes all commits durable: moves the log into the database file. It uses a connection of its
 * own, because one that another thread uses would be locked meanwhile. That connection must read
 * something first, else it does not know of the log. A checkpoint that is under way may have begun
 * before the last commit, so it is waited for and repeated. */
int store_sync(struct store *s, struct err *e)
{
	sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(sqlite3_db_filename(s->db, "main"), &db, SQLITE_OPEN_READWRITE, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(db, SYNC_MOST_MS);
		rc = sqlite3_exec(db, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
	}
	if (rc == SQLITE_OK)
		rc = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	for (int ms = 0; rc == SQLITE_BUSY && ms < SYNC_MOST_MS; ms++) {
		sqlite3_sleep(1);
		rc = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	}
	if (rc != SQLITE_OK)
		err_set(e, ERR_IO, "cannot sync the run store: %s", sqlite3_errstr(rc));
	sqlite3_close(db);
	return rc == SQLITE_OK ? 0 : -1;
}

/* The single number that a query returns. */
static int read_number(struct store *s, const char *sql, int64_t *out, struct err *e)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW ?
		0 : db_error(s, e);

	if (!rc)
		*out = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return rc;
}

/* Shrinks the file if more than a quarter of it is free. */
int store_compact(struct store *s, struct err *e)
{
	int64_t free_pages, pages;

	if (read_number(s, "PRAGMA freelist_count", &free_pages, e) || read_number(s, "PRAGMA page_count", &pages, e))
		return -1;
	return free_pages > pages / 4 ? run_sql(s, "VACUUM", e) : 0;
}

/* Copies a store that may be in use, by SQLite's backup. */
int store_copy(const char *path, const char *to, struct err *e)
{
	sqlite3 *from = NULL, *into = NULL;
	sqlite3_backup *b = NULL;
	int rc = sqlite3_open_v2(path, &from, SQLITE_OPEN_READONLY, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_open_v2(to, &into, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(from, 10000);
		b = sqlite3_backup_init(into, "main", from, "main");
		rc = b ? sqlite3_backup_step(b, -1) : sqlite3_errcode(into);
		if (b)
			sqlite3_backup_finish(b);
		rc = rc == SQLITE_DONE ? SQLITE_OK : rc;
	}
	if (rc != SQLITE_OK)
		err_set(e, ERR_IO, "cannot copy run store '%s': %s", path, sqlite3_errstr(rc));
	sqlite3_close(from);
	sqlite3_close(into);
	return rc == SQLITE_OK ? 0 : -1;
}

int store_get_source(struct store *s, struct str task, struct buf *out, struct err *e)
{
	return get_text(s, ST_get_source, task, out, e);
}

int store_cache_get(struct store *s, struct str key, struct buf *out, struct err *e)
{
	return get_text(s, ST_get_cache, key, out, e);
}

/* Remembers a verdict under the digest of task, candidate and judge. `verdict` is an opaque
 * blob. */
int store_cache_put(struct store *s, struct str key, const void *verdict, size_t n, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_put_cache, e);

	if (!st)
		return -1;
	bind_str(st, 1, key);
	sqlite3_bind_blob(st, 2, verdict, (int)n, SQLITE_STATIC);
	return execute(s, st, e);
}

/* --- reading ------------------------------------------------------------------------------ */

/* Calls row(st) for every row; its nonzero result ends the walk. */
static int each(struct store *s, sqlite3_stmt *st, int (*row)(sqlite3_stmt *st, void *fn, void *ctx),
		void *fn, void *ctx, struct err *e)
{
	int rc = SQLITE_DONE, out = 0;

	while (!out && (rc = sqlite3_step(st)) == SQLITE_ROW)
		out = row(st, fn, ctx);
	sqlite3_reset(st);
	return out ? out : rc == SQLITE_DONE ? 0 : db_error(s, e);
}

/* The caller's function; only the member that fits the kind of rows is set. */
struct callbacks {
	int (*step)(void *ctx, const struct store_step *t);
	int (*sample)(void *ctx, const struct store_sample *t);
	int (*task)(void *ctx, const struct store_task *t);
	int (*eval)(void *ctx, const char *name, struct str json);
	int (*id)(void *ctx, struct str task);
};

/* Hands one step to the caller; texts are borrowed until it returns. */
static int row_step(sqlite3_stmt *st, void *fn, void *ctx)
{
	struct store_step t = { .stage = column(st, 0).p, .step = sqlite3_column_int64(st, 1),
				.loss = sqlite3_column_double(st, 2),
				.lr = sqlite3_column_double(st, 3), .grad_norm = sqlite3_column_double(st, 4),
				.tokens = sqlite3_column_int64(st, 5), .extra = column(st, 6) };

	return ((struct callbacks *)fn)->step(ctx, &t);
}

/* Hands one sample to the caller. */
static int row_sample(sqlite3_stmt *st, void *fn, void *ctx)
{
	struct store_sample t = { .stage = column(st, 0).p, .step = sqlite3_column_int64(st, 1), .task = column(st, 2),
				  .number = sqlite3_column_int64(st, 3), .answer = column(st, 4), .code = column(st, 5),
				  .tokens = sqlite3_column_int64(st, 6),
				  .logprob = sqlite3_column_double(st, 7), .finish = column(st, 8).p,
				  .judged = sqlite3_column_type(st, 9) != SQLITE_NULL,
				  .correct = sqlite3_column_int(st, 9),
				  .reached = column(st, 10).p, .reason = column(st, 11).p,
				  .reward = sqlite3_column_type(st, 12) == SQLITE_NULL ? (double)NAN :
					sqlite3_column_double(st, 12),
				  .speedup = sqlite3_column_double(st, 13), .verdict = column(st, 14) };

	return ((struct callbacks *)fn)->sample(ctx, &t);
}

/* Hands one task to the caller. */
static int row_task(sqlite3_stmt *st, void *fn, void *ctx)
{
	struct store_task t = { .id = column(st, 0), .level = sqlite3_column_int(st, 1),
				.split = column(st, 2), .ops = column(st, 3),
				.source = column(st, 4) };

	return ((struct callbacks *)fn)->task(ctx, &t);
}

/* Hands one evaluation to the caller. */
static int row_eval(sqlite3_stmt *st, void *fn, void *ctx)
{
	return ((struct callbacks *)fn)->eval(ctx, column(st, 0).p, column(st, 1));
}

int store_each_step(struct store *s, int (*fn)(void *ctx, const struct store_step *t), void *ctx, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_all_steps, e);

	return st ? each(s, st, row_step, &(struct callbacks){ .step = fn }, ctx, e) : -1;
}

/* Walks the samples of one stage, or of all stages (`stage` NULL binds SQL's NULL, which the query
 * takes as "any"). */
int store_each_sample(struct store *s, const char *stage, int (*fn)(void *ctx, const struct store_sample *t),
		      void *ctx, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_all_samples, e);

	if (!st)
		return -1;
	bind_cstr(st, 1, stage);
	return each(s, st, row_sample, &(struct callbacks){ .sample = fn }, ctx, e);
}

int store_each_sample_of(struct store *s, struct str task, int (*fn)(void *ctx, const struct store_sample *t),
			 void *ctx, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_task_samples, e);

	if (!st)
		return -1;
	bind_str(st, 1, task);
	return each(s, st, row_sample, &(struct callbacks){ .sample = fn }, ctx, e);
}

/* Walks one sample with a text for each step that is a multiple of `every`. The page shows these as
 * the model's progress: with 4000 steps and `every` 100 there are at most 40 texts. */
int store_each_first(struct store *s, const char *stage, int64_t every,
		     int (*fn)(void *ctx, const struct store_sample *t), void *ctx, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_first_samples, e);

	if (!st)
		return -1;
	bind_cstr(st, 1, stage);
	sqlite3_bind_int64(st, 2, every);
	return each(s, st, row_sample, &(struct callbacks){ .sample = fn }, ctx, e);
}

/* Walks all samples with empty texts. SQLite then need not read the long columns, which makes a
 * count over 100 000 samples cheap. */
int store_each_brief(struct store *s, int (*fn)(void *ctx, const struct store_sample *t), void *ctx, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_brief_samples, e);

	return st ? each(s, st, row_sample, &(struct callbacks){ .sample = fn }, ctx, e) : -1;
}

/* Hands the id of one task to the caller. */
static int row_id(sqlite3_stmt *st, void *fn, void *ctx)
{
	return ((struct callbacks *)fn)->id(ctx, column(st, 0));
}

int store_each_sampled(struct store *s, int (*fn)(void *ctx, struct str task), void *ctx, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_sampled_tasks, e);

	return st ? each(s, st, row_id, &(struct callbacks){ .id = fn }, ctx, e) : -1;
}

int store_each_task(struct store *s, int (*fn)(void *ctx, const struct store_task *t), void *ctx, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_all_tasks, e);

	return st ? each(s, st, row_task, &(struct callbacks){ .task = fn }, ctx, e) : -1;
}

int store_each_eval(struct store *s, int (*fn)(void *ctx, const char *name, struct str json), void *ctx, struct err *e)
{
	sqlite3_stmt *st = statement(s, ST_all_evals, e);

	return st ? each(s, st, row_eval, &(struct callbacks){ .eval = fn }, ctx, e) : -1;
}
