/* The server: verification, checks and sampling for other programs over HTTP, the live page, and
 * metrics. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "serve/check_service.h"
#include "serve/verify_service.h"
#include "serve/completion_service.h"
#include "serve/live.h"
#include "serve/write_service.h"

struct serve_options {
	struct httpd_options http;    /* host, port, token, limits; the server sets routes and ctx */
	struct verify_service_options verify;
	struct completion_service_options completion;     /* model NULL: no model is served */
	struct opt_list runs;         /* folders shown by the live page; empty: none */
	int no_judge;                 /* only show runs, for `tritonrl run`, which has judges of its own */
};

struct serve;
/* Refuses to listen on an address other than loopback without a token. */
struct serve *serve_open(const struct serve_options *o, struct err *e);
int serve_port(const struct serve *s);
/* Lets requests in progress finish, for at most `seconds`. */
void serve_close(struct serve *s, double seconds);

#endif
