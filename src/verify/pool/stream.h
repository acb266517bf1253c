/* A stream of candidates: verdicts come out in the order in which candidates went in, whichever
 * worker is first.
 *
 * Memory is bounded: at most STREAM_WINDOW candidates are being judged or wait for an earlier one.
 * With `out` each verdict is appended to that file as soon as all earlier ones are there. So the
 * file always holds the verdicts of the first candidates. A file that exists already is continued:
 * the same candidates must come again in the same order, and are not judged again. `unordered` gives that
 * up: each verdict is printed or appended when it is there, so that a slow candidate holds back no other. */
#ifndef VERIFY_POOL_STREAM_H
#define VERIFY_POOL_STREAM_H

#include "base/file.h"
#include "base/progress.h"
#include "verify/pool/batch.h"

enum { STREAM_WINDOW = 4096 };

struct stream_options {
	const char *out;             /* file for the verdicts, one JSON line each; NULL: standard output */
	const char *cache;           /* database of verdicts by content; NULL: none */
	const char *dump;            /* folder for the input sets; NULL: none */
	int json, explain;           /* JSON lines in place of text; text with source line and inputs */
	int unordered;               /* print verdicts as they come */
	/* Called with --explain for a candidate with wrong values; may append lines about the cause. NULL: none. */
	void (*look)(void *ctx, struct str candidate, struct buf *out);
	void *look_ctx;
	struct judge_options judge;
	struct judge_pool_options pool;
	struct par *par;             /* the ranks that judge together; this is the first. NULL: one process */
};

struct stream_item {
	char *id, *path;             /* path of the candidate's file; NULL: it has none */
	char *candidate;             /* its source, to show a line of it; NULL: not needed */
	int done;                    /* the rest is set */
	int printed;                 /* out of order */
	int failed, wrong;           /* could not be judged; was judged not to be correct */
	int unsupported;             /* neither: it needs what this engine lacks */
	struct buf json, plain;      /* the output */
};

struct stream {
	struct stream_options o;
	struct judge_pool *pool;
	struct judge_batch batch;
	struct store *cache;
	struct stream_item *ring;    /* STREAM_WINDOW items, indexed by number modulo STREAM_WINDOW */
	uint64_t added, printed;     /* numbers of candidates; those between them are in the ring */
	struct line_reader old;      /* the verdicts of an earlier run in `out` */
	int resuming;                /* `old` may have more of them */
	struct progress bar;
	int64_t correct, wrong, unsupported, failed, skipped;
};

/* `total` is the number of candidates for the progress bar; 0: unknown. */
int stream_open(struct stream *s, const struct stream_options *o, int64_t total, struct err *e);
/* Adds a candidate. Waits while the workers have enough to do. */
int stream_add(struct stream *s, struct str id, const char *path, struct str task, struct str candidate, struct err *e);
/* Adds a candidate that could not be read; `why` becomes its message. */
int stream_add_failed(struct stream *s, struct str id, const char *why, struct err *e);
/* Prints verdicts as they come until `fd` is readable or a stop is requested. For a source that
 * waits for its answers before it sends more. */
int stream_wait(struct stream *s, int fd, struct err *e);
/* Waits for all verdicts. ERR_INTERRUPTED if a stop was requested before. */
int stream_finish(struct stream *s, struct err *e);
void stream_close(struct stream *s);

#endif
