/* POST /v1/check: the front end's diagnostics over HTTP.
 *
 * No text is parsed in the server. A process that was started before the server had threads or weights forks
 * another for every text; that one enters the judge's sandbox, checks, writes its answer and ends. A text that
 * crashes it, or takes too long, is answered so, and costs nobody else anything.
 *
 * The body: {"source": TEXT}, and where wanted "task": TEXT (gives get_inputs), "gpu", "triton_version". The answer is
 * what `tritonrl check --json` prints. */
#ifndef SERVE_CHECK_SERVICE_H
#define SERVE_CHECK_SERVICE_H

#include "base/str.h"
#include "net/httpd.h"

struct check_service;

/* Before there are threads. A sandbox that cannot be set up is found at the first request, and answered. */
struct check_service *check_service_open(struct err *e);
void check_service_close(struct check_service *c);
void check_service_check(struct check_service *c, struct httpd_call *call);

/* What goes to the process that checks: this, and behind it the source and the task, of so many bytes. */
struct check_request { uint32_t source, task, triton_version; char gpu[16]; };

/* Reads a body; `texts` gets the two texts. */
int check_request_read(struct check_request *r, struct buf *texts, struct str body, struct err *e);

#endif
