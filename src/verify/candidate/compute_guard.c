/* The guard against torch operators that compute: see compute_guard.h. */
#include "verify/candidate/compute_guard.h"

/* An operator of torch that computes is a failure, under any name. */
static int refuse_compute(void *ctx, const char *name, int line, struct diag *d)
{
	(void)ctx;
	diag_set(d, REASON_torch_compute, line, 0, "%s computes on the host", name);
	return 1;
}

/* The reference as its own candidate consists of torch operators. */
void compute_guard_set(struct host *h, const struct judge_options *o)
{
	int strict = o->track == TRACK_STRICT && !o->identity && rule_on(o, RULE_compute);

	host_set_compute(h, strict ? refuse_compute : NULL, NULL);
}

void compute_guard_clear(struct host *h)
{
	host_set_compute(h, NULL, NULL);
}
