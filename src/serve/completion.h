/* One request to the model on its way: what was asked, what was sampled, how it is answered. */
#ifndef SERVE_COMPLETION_H
#define SERVE_COMPLETION_H

#include "infer/infer.h"
#include "net/httpd.h"

enum { COMPLETION_SAMPLES_MOST = 128, COMPLETION_STOPS_MOST = 16 };

struct completion_choice {
	struct buf text;
	int32_t *tokens;
	float *logprobs;
	int n;
	enum infer_finish finish;
	int done;
};

struct completion {
	struct httpd_call *call;
	int chat, stream, logprobs, usage;
	struct tok_ids prompt;
	struct infer_request r;
	const char *stops[COMPLETION_STOPS_MOST + 1];
	char *stop_text[COMPLETION_STOPS_MOST];
	struct completion_choice *choice;     /* r.n of them */
	int left;
	char id[40];
	int64_t created;
	const char *model;
	struct completion *next;
};

/* Reads a request's body. NULL: *e says what is wrong with it. */
struct completion *completion_read(struct str body, int chat, const struct tok *t, struct err *e);
void completion_free(struct completion *s);

/* The head of a stream; a piece of text of a sample; a sample that is done. The last one of them answers. */
void completion_begin(struct completion *s);
void completion_piece(struct completion *s, int sample, struct str text);
void completion_done(struct completion *s, const struct infer_result *r, const struct tok *t);

#endif
