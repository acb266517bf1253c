/* Candidates in, verdicts out, in the order they came in, whatever worker was first.
 *
 * Memory is bounded: at most STREAM_WINDOW candidates are in work or wait for one before them.
 * With `out` every verdict is a line at the end of that file as soon as those before it are, so
 * that the file always holds the verdicts of the first so many candidates: one that is there
 * when the stream opens is continued, its candidates must come again in the same order and
 * are not judged again. */
#ifndef VERIFY_POOL_STREAM_H
#define VERIFY_POOL_STREAM_H

#include "base/file.h"
#include "base/progress.h"
#include "verify/pool/batch.h"

enum { STREAM_WINDOW = 4096 };

struct stream_options {
	const char *out, *cache, *dump;
	int json, explain;
	struct judge_options judge;
	struct judge_pool_options pool;
	struct par *par;             /* ranks that judge with this one, the first; NULL: none */
};

struct stream_item {
	char *id, *path;             /* path: of the candidate's file, or NULL */
	char *candidate;             /* kept for carets */
	int done, failed, wrong;
	struct buf json, plain;      /* once done */
};

struct stream {
	struct stream_options o;
	struct judge_pool *pool;
	struct judge_batch batch;
	struct store *cache;
	struct stream_item *ring;    /* STREAM_WINDOW of them, by number modulo that */
	uint64_t added, printed;
	struct line_reader old;      /* verdicts that were there, read along */
	int resuming;
	struct progress bar;
	int64_t correct, wrong, failed, skipped;
};

/* `total` candidates to come, for the progress; 0: not known. */
int stream_open(struct stream *s, const struct stream_options *o, int64_t total, struct err *e);
int stream_add(struct stream *s, struct str id, const char *path, struct str task, struct str candidate, struct err *e);
/* A candidate that could not even be read. */
int stream_add_failed(struct stream *s, struct str id, const char *why, struct err *e);
/* Hands out verdicts as they come until `fd` has something to read or a stop is asked for: for a source that
 * waits for its answers before it goes on. */
int stream_wait(struct stream *s, int fd, struct err *e);
int stream_finish(struct stream *s, struct err *e);
void stream_close(struct stream *s);

#endif
