/* The run store: SQLite behind typed calls; the only SQL in the program.
 *
 * Writes are grouped by store_begin and store_commit (a crash in between leaves nothing of
 * the group). Texts passed in are copied; texts given to callbacks live during the call. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct store;

int store_open(struct store **s, const char *path, struct err *e);   /* made if absent */
void store_close(struct store *s);
int store_begin(struct store *s, struct err *e);
int store_commit(struct store *s, struct err *e);
void store_rollback(struct store *s);

int store_put_meta(struct store *s, const char *key, struct str value, struct err *e);
/* Returns 1 if the key was found (its value is appended to `out`), 0 if it is absent, -1 on failure
 * (*e). */
int store_get_meta(struct store *s, const char *key, struct buf *out, struct err *e);

struct store_task { struct str id; int level; struct str split, ops, source; };
int store_put_task(struct store *s, const struct store_task *t, struct err *e);
int store_get_source(struct store *s, struct str task, struct buf *out, struct err *e);    /* 1, 0 */

struct store_step {
	const char *stage;
	int64_t step;
	double loss, lr, grad_norm;
	int64_t tokens;
	struct str extra;             /* a JSON object, or empty */
};
int store_put_step(struct store *s, const struct store_step *t, struct err *e);

struct store_sample {
	const char *stage;
	int64_t step;
	struct str task;
	int64_t number;
	struct str answer, code;
	int64_t tokens;
	double logprob;
	const char *finish;
	int judged;                   /* the following are set */
	int correct;
	const char *reached, *reason;
	double reward, speedup;
	struct str verdict;           /* JSON */
};
int store_put_sample(struct store *s, const struct store_sample *t, struct err *e);

int store_put_eval(struct store *s, const char *name, struct str json, struct err *e);
int store_get_eval(struct store *s, const char *name, struct buf *json, struct err *e);   /* 1, 0 */

/* Deletes steps and samples of `stage` after `step` (-1: all of them). */
int store_rewind(struct store *s, const char *stage, int64_t step, struct err *e);

/* Samples of unfinished steps. get: 1 and appended to `out`, 0 absent. */
struct store_pending { const char *stage; int64_t step, place, number; };
int store_put_pending(struct store *s, const struct store_pending *at, struct str sample, struct err *e);
int store_get_pending(struct store *s, const struct store_pending *at, struct buf *out, struct err *e);
/* Up to and with a step, those of STAGE.2 and so on too: its further turns. */
int store_drop_pending(struct store *s, const char *stage, int64_t last_step, struct err *e);

/* Makes every commit so far durable: when this returns, a power failure cannot lose it. Any thread
 * may call it; writers are not blocked meanwhile. */
int store_sync(struct store *s, struct err *e);

/* Returns the room of deleted rows to the file system if that is more than a quarter of the
 * file. */
int store_compact(struct store *s, struct err *e);

/* Copies the present state of a store into a file of its own. Other processes may have the store
 * open. */
int store_copy(const char *path, const char *to, struct err *e);

/* Verdict cache. get: 1 and the bytes appended to `out`, 0 absent. */
int store_cache_get(struct store *s, struct str key, struct buf *out, struct err *e);
int store_cache_put(struct store *s, struct str key, const void *verdict, size_t n, struct err *e);

/* --- reading, in order; nonzero from fn stops and is returned ----------------------------- */

int store_each_step(struct store *s, int (*fn)(void *ctx, const struct store_step *t), void *ctx, struct err *e);
/* stage NULL: all. */
int store_each_sample(struct store *s, const char *stage, int (*fn)(void *ctx, const struct store_sample *t),
		      void *ctx, struct err *e);
/* store_each_sample_of: the samples of one task. store_each_first: of each `every`-th step the
 * first sample with a text. store_each_brief: all samples without their texts, in any order. */
int store_each_sample_of(struct store *s, struct str task, int (*fn)(void *ctx, const struct store_sample *t),
			 void *ctx, struct err *e);
int store_each_first(struct store *s, const char *stage, int64_t every,
		     int (*fn)(void *ctx, const struct store_sample *t), void *ctx, struct err *e);
int store_each_brief(struct store *s, int (*fn)(void *ctx, const struct store_sample *t), void *ctx, struct err *e);
/* Tasks with samples whose texts were kept, those of evaluations first. */
int store_each_sampled(struct store *s, int (*fn)(void *ctx, struct str task), void *ctx, struct err *e);
int store_each_task(struct store *s, int (*fn)(void *ctx, const struct store_task *t), void *ctx, struct err *e);
int store_each_eval(struct store *s, int (*fn)(void *ctx, const char *name, struct str json), void *ctx, struct err *e);

#endif
