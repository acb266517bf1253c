/* POST /v1/check: the front end's diagnostics over HTTP.
 *
 * The server itself parses no text. A process that was started before the server had threads or
 * weights forks a child for each text. The child enters the judge's sandbox, checks the text,
 * writes its answer and ends. A text that crashes the child or takes too long gets an error as its
 * answer and affects nobody else.
 *
 * The body is {"source": TEXT} with the optional fields "task": TEXT (it has get_inputs), "gpu" and
 * "triton_version". The reply is what `tritonrl check --json` prints. */
#ifndef SERVE_CHECK_SERVICE_H
#define SERVE_CHECK_SERVICE_H

#include "base/str.h"
#include "net/httpd.h"

struct check_service;

/* Call it before there are threads. A sandbox that cannot be set up is reported by the first request. */
struct check_service *check_service_open(struct err *e);
void check_service_close(struct check_service *c);
void check_service_check(struct check_service *c, struct httpd_call *call);

/* The message to the forking process. The source and the task follow, `source` and `task` bytes long. */
struct check_request { uint32_t source, task, triton_version; char gpu[16]; };

/* Reads a body. `texts` gets source and task, one after the other. */
int check_request_read(struct check_request *r, struct buf *texts, struct str body, struct err *e);

#endif
