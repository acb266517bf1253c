/* The text of one sample as its tokens come: decoding, stop strings, and what may be shown. */
#ifndef INFER_TEXT_H
#define INFER_TEXT_H

#include "base/err.h"
#include "base/str.h"
#include "tok/tok.h"

/* Owns its buffer; borrows the stop strings. */
struct infer_text {
	struct tok_stream stream;
	const char *const *stops;
	size_t longest;              /* longest stop string, bytes */
	struct buf b;
	size_t shown;                /* bytes that infer_text_emit has given out */
	int stopped;                 /* a stop string was found; the text is cut before it */
};

/* `tok` NULL: no text. `stops` is NULL-terminated or NULL. */
void infer_text_init(struct infer_text *t, const struct tok *tok, const char *const *stops);
void infer_text_release(struct infer_text *t);
int infer_text_add(struct infer_text *t, int32_t token, struct err *e);
void infer_text_end(struct infer_text *t);
struct str infer_text_get(const struct infer_text *t);
/* The next piece to show: up to what could still become a stop string, or everything at the end. */
struct str infer_text_emit(struct infer_text *t, int at_end);

#endif
