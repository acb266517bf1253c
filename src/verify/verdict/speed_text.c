/* The speed of a candidate in words, estimated and counted: see verdict.h. */
#include "verify/verdict/verdict.h"

#include <string.h>

/* One kernel: its time, what bounds it, and the share of the peak rate that it reaches. */
static void say_kernel(const struct speed_note *x, struct buf *out)
{
	const char *peak = x->bound == SPEED_COMPUTE ? "arithmetic" : "bandwidth";

	buf_addf(out, "  kernel %s: %.1f us in %d launch%s, bound by %s", x->name, x->seconds * 1e6, x->launches,
		 x->launches == 1 ? "" : "es", speed_bound_name(x->bound));
	if (x->seconds > 0 && x->bound <= SPEED_COMPUTE)
		buf_addf(out, ", %.0f %% of peak %s", 100.0 * x->peak / x->seconds, peak);
	else if (x->seconds > 0)
		buf_addf(out, ", %.0f %% of peak", 100.0 * x->peak / x->seconds);
	buf_adds(out, x->bound == SPEED_LAUNCHES ? ": it is shorter than its launch; fuse kernels\n" :
		 x->bound == SPEED_LATENCY ? ": too few instances hide the waits for memory\n" : "\n");
}

/* The rest of the time is the overhead of launches, Python and torch operators. */
void verdict_speed(const struct verdict *v, struct buf *out)
{
	double kernels = 0;

	if (v->seconds <= 0 || v->reference_seconds <= 0 || strcmp(v->timed, "model"))
		return;
	for (int i = 0; i < v->kernels.n; i++)
		kernels += v->kernels.v[i].seconds;
	buf_addf(out, "  speed: %.1f us, PyTorch %.1f us (estimated for %s); kernels %.1f us, launches and host "
		      "%.1f us\n",
		 v->seconds * 1e6, v->reference_seconds * 1e6, v->estimate_gpu, kernels * 1e6,
		 kernels < v->seconds ? (v->seconds - kernels) * 1e6 : 0.0);
	for (int i = 0; i < v->kernels.n; i++)
		say_kernel(&v->kernels.v[i], out);
	if (v->kernels.more)
		buf_addf(out, "  and %d launches of other kernels\n", v->kernels.more);
}

/* Bytes are shown in MB, shares in per cent. A counter that this GPU lacks is left out, so that nobody reads a 0
 * as "none". */
void verdict_counters_text(const struct verdict_counters *c, struct buf *out)
{
	const char *between = "";

#define COUNTER(id, key, metric, text) \
	if (c->v[COUNTER_##id] >= 0) { \
		buf_addf(out, "%s" text, between, c->v[COUNTER_##id] * (strstr(key, "bytes") ? 1e-6 : 1.0)); \
		between = ", "; \
	}
#include "verify/verdict/counter.def"
#undef COUNTER
}
