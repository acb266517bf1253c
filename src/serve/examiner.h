/* POST /v1/check: the front end's diagnostics over HTTP.
 *
 * No text is parsed in the server. A process that was started before the server had threads or weights forks
 * another for every text; that one enters the judge's sandbox, checks, writes its answer and ends. A text that
 * crashes it, or takes too long, is answered so, and costs nobody else anything.
 *
 * The body: {"source": TEXT}, and where wanted "task": TEXT (gives get_inputs), "gpu", "triton_version". The answer is
 * what `tritonrl check --json` prints. */
#ifndef SERVE_EXAMINER_H
#define SERVE_EXAMINER_H

#include "base/str.h"
#include "net/httpd.h"

struct examiner;

/* Before there are threads. A sandbox that cannot be set up is found at the first request, and answered. */
struct examiner *examiner_open(struct err *e);
void examiner_close(struct examiner *c);
void examiner_check(struct examiner *c, struct httpd_call *call);

/* What goes to the process that checks: this, and behind it the source and the task, of so many bytes. */
struct examiner_request { uint32_t source, task, triton_version; char gpu[16]; };

/* Reads a body; `texts` gets the two texts. */
int examiner_read(struct examiner_request *r, struct buf *texts, struct str body, struct err *e);

#endif
