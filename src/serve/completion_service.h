/* The model over HTTP, with the interface of OpenAI's clients.
 *
 * One thread samples for all requests. A request joins the batch at the next step, and its samples
 * do not depend on what else is in the batch. If a client disconnects, its samples end at the next
 * token. */
#ifndef SERVE_COMPLETION_SERVICE_H
#define SERVE_COMPLETION_SERVICE_H

#include "model/model.h"
#include "net/httpd.h"

struct completion_service;

struct completion_service_options {
	const char *model, *adapter;  /* folders; adapter NULL: none */
	const char *name;             /* the model's name for clients; NULL: the last part of the folder */
	const char *device;           /* "cpu", "cuda:0", "auto"; NULL: "auto" */
	enum model_store store;       /* dtype of the weights in memory */
	int threads;
	int slots;                    /* samples in the batch at the same time; 0: 32 */
	int64_t length;               /* tokens of prompt and answer that memory is reserved for; 0: 2048 */
	int waiting;                  /* requests that may wait; 0: 256 */
};

struct completion_service *completion_service_open(const struct completion_service_options *o, struct err *e);
/* Samples in progress end at their next token; their clients get the text so far. */
void completion_service_close(struct completion_service *t);

/* POST /v1/chat/completions, POST /v1/completions, GET /v1/models */
void completion_service_chat(struct completion_service *t, struct httpd_call *c);
void completion_service_completion(struct completion_service *t, struct httpd_call *c);
void completion_service_models(struct completion_service *t, struct httpd_call *c);

/* Requests since the start, waiting and being sampled; tokens of prompts and of samples since the start. */
struct completion_service_stats { int64_t requests, waiting, sampling, prompt_tokens, tokens; };
struct completion_service_stats completion_service_stats(struct completion_service *t);

#endif
