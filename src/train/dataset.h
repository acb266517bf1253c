/* Training data: JSONL rows to token sequences with loss weights.
 *
 * Rows: {"messages": [...]} (the chat template's text, loss on the assistant's turns),
 * {"prompt", "completion"} (each tokenised by itself, the end token appended, loss on the
 * completion and the end token), {"text"} (loss everywhere, the end token appended).
 * Sequences longer than max_length are cut at the end and counted. */
#ifndef TRAIN_DATASET_H
#define TRAIN_DATASET_H

#include "base/err.h"
#include "tok/tok.h"

struct dataset_seq {
	size_t at;                   /* of its tokens in `tokens` and `weights` */
	int n;
};

struct dataset {
	struct { int32_t *v; size_t n, cap; } tokens;
	struct { float *v; size_t n, cap; } weights;
	struct { struct dataset_seq *v; size_t n, cap; } seqs;
	int64_t cut, empty;          /* rows that were cut, and that were left out */
};

/* Appends the rows of a file. */
int dataset_load(struct dataset *d, const struct tok *t, const char *path, int max_length, struct err *e);
void dataset_release(struct dataset *d);
void dataset_clear(struct dataset *d);         /* no sequence is left; the memory is kept */

/* Row after row. A row in which nothing is trained counts as empty and adds no sequence. */
struct dataset_rows;
struct dataset_rows *dataset_rows_new(struct dataset *d, const struct tok *t, int max_length, struct err *e);
/* The next rows go into another dataset. */
void dataset_rows_into(struct dataset_rows *r, struct dataset *d);
int dataset_rows_add(struct dataset_rows *r, struct str json, struct err *e);
void dataset_rows_free(struct dataset_rows *r);

/* The text of a conversation so far, ready for the model to answer. */
int dataset_chat_prompt(const struct tok *t, struct str system, struct str user, struct buf *out, struct err *e);
/* The text that follows an answer when the user replies to it and asks for another one. */
int dataset_chat_reply(const struct tok *t, struct str user, struct buf *out, struct err *e);

/* The order of epoch `epoch`: a permutation that depends only on seed and epoch. */
int dataset_order(const struct dataset *d, uint64_t seed, int64_t epoch, int shuffle, uint32_t *order);

#endif
