/* The live page: runs in progress, over HTTP.
 *
 * GET / is the page (web/app.html), GET /v1/run the data of all runs, GET /v1/run/task/ID a task
 * with its candidates. One thread reads the runs' stores for all clients. Its data is reused for a
 * second or two, so that many viewers cost as much as one. A run that has not started yet is shown
 * empty. */
#ifndef SERVE_LIVE_H
#define SERVE_LIVE_H

#include "base/opt.h"
#include "net/httpd.h"

struct live;

/* `runs` are folders; the list is borrowed. */
struct live *live_open(const struct opt_list *runs, struct err *e);
/* Answers all waiting requests first. */
void live_close(struct live *v);

void live_page(struct live *v, struct httpd_call *c);      /* GET / */
void live_data(struct live *v, struct httpd_call *c);      /* GET /v1/run */
void live_task(struct live *v, struct httpd_call *c);      /* GET /v1/run/task/ID */

#endif
