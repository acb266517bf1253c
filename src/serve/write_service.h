/* Kernels over HTTP: POST /v1/write runs `tritonrl write` as a separate process for each request, so that no
 * module of a client is interpreted in the server. One request runs at a time; others wait. */
#ifndef SERVE_WRITE_SERVICE_H
#define SERVE_WRITE_SERVICE_H

#include "net/httpd.h"

struct write_service;

struct write_service_options {
	const char *model, *adapter;  /* folders; NULL: the model that ships with the program, no adapter */
	int workers;                  /* judging processes; 0: one for each core */
	int no_sandbox;
};

struct write_service *write_service_open(const struct write_service_options *o, struct err *e);
void write_service_close(struct write_service *w);

/* The body is {"module": SOURCE}, with "class", "inputs" and "init" (lists of strings) as the command takes
 * them, and "options": {"seconds": 30, "track": "hybrid", ...}. The reply is the JSON object of `write --json`. */
void write_service_write(struct write_service *w, struct httpd_call *c);

#endif
