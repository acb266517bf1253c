/* The server: verification and sampling for other programs over HTTP, and what one watches it by. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "serve/check_service.h"
#include "serve/verify_service.h"
#include "serve/completion_service.h"
#include "serve/live.h"

struct serve_options {
	struct httpd_options http;    /* host, port, token, limits; routes and ctx are the server's */
	struct verify_service_options verify;
	struct completion_service_options completion;     /* model NULL: none is served */
	struct opt_list runs;         /* folders shown by the live page; empty: none */
	int no_judge;                /* no judge: the page of a run that judges for itself */
};

struct serve;
/* A token is needed to listen on any but a loopback address. */
struct serve *serve_open(const struct serve_options *o, struct err *e);
int serve_port(const struct serve *s);
/* Lets what is in work finish, at most so long. */
void serve_close(struct serve *s, double seconds);

#endif
