/* The sequences of a run in their order, a step at a time: those of files, in another order every
 * epoch, or those of a source, made while the step before is computed. Sequence number k is a
 * function of the options and of k, so that a run continues at any step. */
#ifndef TRAIN_FEED_H
#define TRAIN_FEED_H

#include "base/opt.h"
#include "train/dataset.h"
#include "train/step.h"

/* Appends row k as JSON (dataset.h). The same k must produce the same row. Several threads call it
 * at once. */
typedef int feed_row_fn(void *ctx, uint64_t k, struct buf *line, struct err *e);

struct feed_opts {
	struct opt_list data;          /* files of JSON lines */
	feed_row_fn *row;              /* NULL: files only */
	void *ctx;
	int max_length, shuffle;
	uint64_t seed;
	int per_step;
};

struct feed;

/* The tokenizer must stay until the feed is closed. */
struct feed *feed_open(const struct feed_opts *o, const struct tok *t, struct err *e);
void feed_close(struct feed *f);
/* Sequences of one epoch; 0: there is no end. */
int64_t feed_epoch(const struct feed *f);
/* Describes the data in words, for the log. */
void feed_describe(const struct feed *f, struct buf *out);
/* The sequences of a step, out[per_step]; they are valid until the next call. */
int feed_step(struct feed *f, int64_t step, struct train_seq *out, struct err *e);

#endif
