/* One request to the model on its way: what was asked, what was sampled, how it is answered. */
#ifndef SERVE_SPEECH_H
#define SERVE_SPEECH_H

#include "infer/infer.h"
#include "net/httpd.h"

enum { SPEECH_N = 128, SPEECH_STOPS = 16 };

struct speech_choice {
	struct buf text;
	int32_t *tokens;
	float *logprobs;
	int n;
	enum infer_finish finish;
	int done;
};

struct speech {
	struct httpd_call *call;
	int chat, stream, logprobs, usage;
	struct tok_ids prompt;
	struct infer_request r;
	const char *stops[SPEECH_STOPS + 1];
	char *stop_text[SPEECH_STOPS];
	struct speech_choice *choice;     /* r.n of them */
	int left;
	char id[40];
	int64_t created;
	const char *model;
	struct speech *next;
};

/* Reads a request's body. NULL: *e says what is wrong with it. */
struct speech *speech_read(struct str body, int chat, const struct tok *t, struct err *e);
void speech_free(struct speech *s);

/* The head of a stream; a piece of text of a sample; a sample that is done. The last one of them answers. */
void speech_begin(struct speech *s);
void speech_piece(struct speech *s, int sample, struct str text);
void speech_done(struct speech *s, const struct infer_result *r, const struct tok *t);

#endif
