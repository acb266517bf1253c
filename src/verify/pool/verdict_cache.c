/* The cache of verdicts: see verdict_cache.h.
 *
 * A verdict is stored as the compressed bytes of its struct, which is plain and mostly empty.
 * Storing raw bytes is safe because the key contains the build: only the build that wrote an entry
 * ever finds it. */
#include "verify/pool/verdict_cache.h"

#include <zlib.h>

#include "base/mem.h"

/* Times are the only part of a verdict that differs between two runs. */
void verdict_forget_times(struct verdict *v)
{
	for (int i = 0; i < STAGES; i++)
		v->stages[i].ms = 0.0;
	v->prepare_ms = 0.0;
}

/* An entry that does not unpack to exactly one verdict counts as missing. */
int verdict_cache_get(struct store *s, const char *key, struct verdict *v, struct err *e)
{
	struct buf packed = BUF_INIT;
	uLongf n = sizeof *v;
	int rc = store_cache_get(s, str_of(key), &packed, e);

	if (rc > 0 && (uncompress((Bytef *)v, &n, (const Bytef *)packed.p, packed.n) != Z_OK || n != sizeof *v))
		rc = 0;
	buf_release(&packed);
	return rc;
}

/* Verdicts about a worker's time or crash are not kept: another machine may give another one. Neither
 * are those that a GPU had a part in: its times are of that GPU and of that day. */
int verdict_cache_put(struct store *s, const char *key, const struct verdict *v, struct err *e)
{
	struct verdict timeless = *v;
	unsigned char packed[sizeof timeless + 1024];
	uLongf n = sizeof packed;

	if (v->diag.reason == REASON_worker_timeout || v->diag.reason == REASON_worker_crashed || v->gpu.asked)
		return 0;
	verdict_forget_times(&timeless);
	if (compress2(packed, &n, (const Bytef *)&timeless, sizeof timeless, 1) != Z_OK)
		BUG("a verdict did not compress");
	return store_cache_put(s, str_of(key), packed, n, e);
}
