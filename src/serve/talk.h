/* The model over HTTP, in the form that OpenAI's clients speak.
 *
 * One thread samples for everybody: a request joins the batch at the next step, and its samples are the same
 * whatever else is in the batch. A client that goes away ends its samples at the next token. */
#ifndef SERVE_TALK_H
#define SERVE_TALK_H

#include "model/model.h"
#include "net/httpd.h"

struct talk;

struct talk_options {
	const char *model, *adapter;  /* folders; adapter NULL: none */
	const char *name;             /* what clients call it; NULL: the folder's last name */
	const char *device;
	enum model_store store;
	int threads;
	int slots;                    /* samples at a time; 0: 32 */
	int64_t length;               /* tokens of prompt and answer, for memory; 0: 2048 */
	int waiting;                  /* requests that may wait; 0: 256 */
};

struct talk *talk_open(const struct talk_options *o, struct err *e);
/* What is being sampled ends at its next token and is answered so. */
void talk_close(struct talk *t);

void talk_chat(struct talk *t, struct httpd_call *c);          /* POST /v1/chat/completions */
void talk_completion(struct talk *t, struct httpd_call *c);    /* POST /v1/completions */
void talk_models(struct talk *t, struct httpd_call *c);        /* GET /v1/models */

struct talk_stats { int64_t requests, waiting, sampling, prompt_tokens, tokens; };
struct talk_stats talk_stats(struct talk *t);

#endif
