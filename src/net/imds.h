/* The metadata service of a cloud instance (IMDSv2): a token first, then plain GETs with it.
 *
 * Every call takes a second at most and is one attempt: callers ask again later. An instance's own
 * service has a link-local address; tests pass another. Correctness never depends on an answer: a
 * notice only makes the end cheaper. */
#ifndef NET_IMDS_H
#define NET_IMDS_H

#include "net/http.h"

struct imds;

/* NULL: AWS_EC2_METADATA_SERVICE_ENDPOINT, else Amazon's address. */
struct imds *imds_open(const char *base, struct err *e);
void imds_close(struct imds *m);
/* GET /latest/meta-data/PATH. Returns 1 with the body in *out, 0 if the service answers 404, -1 if
 * there is no service or its answer makes no sense. */
int imds_get(struct imds *m, const char *path, struct buf *out, struct err *e);

enum imds_notice { IMDS_NONE, IMDS_REBALANCE, IMDS_STOP };

/* Asks whether this machine will be taken away. *when gets the time that the notice names
 * ("2026-01-01T00:00:00Z"), or "". Returns -1 if the service did not answer. */
int imds_notice(struct imds *m, enum imds_notice *out, char when[32], struct err *e);

#endif
