/* The model over HTTP, in the form that OpenAI's clients speak.
 *
 * One thread samples for everybody: a request joins the batch at the next step, and its samples are the same
 * whatever else is in the batch. A client that goes away ends its samples at the next token. */
#ifndef SERVE_COMPLETION_SERVICE_H
#define SERVE_COMPLETION_SERVICE_H

#include "model/model.h"
#include "net/httpd.h"

struct completion_service;

struct completion_service_options {
	const char *model, *adapter;  /* folders; adapter NULL: none */
	const char *name;             /* what clients call it; NULL: the folder's last name */
	const char *device;
	enum model_store store;
	int threads;
	int slots;                    /* samples at a time; 0: 32 */
	int64_t length;               /* tokens of prompt and answer, for memory; 0: 2048 */
	int waiting;                  /* requests that may wait; 0: 256 */
};

struct completion_service *completion_service_open(const struct completion_service_options *o, struct err *e);
/* What is being sampled ends at its next token and is answered so. */
void completion_service_close(struct completion_service *t);

void completion_service_chat(struct completion_service *t, struct httpd_call *c);          /* POST /v1/chat/completions */
void completion_service_completion(struct completion_service *t, struct httpd_call *c);    /* POST /v1/completions */
void completion_service_models(struct completion_service *t, struct httpd_call *c);        /* GET /v1/models */

struct completion_service_stats { int64_t requests, waiting, sampling, prompt_tokens, tokens; };
struct completion_service_stats completion_service_stats(struct completion_service *t);

#endif
