/* One request to the model: what was asked, what was sampled, and how it is answered. */
#ifndef SERVE_COMPLETION_H
#define SERVE_COMPLETION_H

#include "infer/infer.h"
#include "net/httpd.h"

enum { COMPLETION_SAMPLES_MOST = 128, COMPLETION_STOPS_MOST = 16 };

/* One sample of a request. */
struct completion_choice {
	struct buf text;
	int32_t *tokens;
	float *logprobs;                  /* of the tokens, n of them */
	int n;
	enum infer_finish finish;
	int done;
};

struct completion {
	struct httpd_call *call;
	int chat;                         /* a conversation; else a plain prompt */
	int stream;                       /* send text as it is sampled */
	int logprobs, usage;              /* parts of the answer that were requested */
	struct tok_ids prompt;
	struct infer_request r;
	const char *stops[COMPLETION_STOPS_MOST + 1];     /* NULL-terminated, borrowed from stop_text */
	char *stop_text[COMPLETION_STOPS_MOST];
	struct completion_choice *choice;     /* r.n of them */
	int left;                         /* samples that are not complete */
	char id[40];
	int64_t created;
	const char *model;                /* name in the answer; borrowed */
	struct completion *next;
};

/* Reads a request's body. Returns NULL if it is invalid (*e says why). */
struct completion *completion_read(struct str body, int chat, const struct tok *t, struct err *e);
void completion_free(struct completion *s);

/* Begins the reply of a stream; sends a piece of text of a sample; ends a sample. The end of the last sample
 * sends the answer and frees the request. */
void completion_begin(struct completion *s);
void completion_piece(struct completion *s, int sample, struct str text);
void completion_done(struct completion *s, const struct infer_result *r, const struct tok *t);

#endif
