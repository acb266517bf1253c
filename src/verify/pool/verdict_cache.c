/* The cache of verdicts: see verdict_cache.h.
 *
 * A verdict is stored as the compressed bytes of its struct, which is plain and mostly empty. That
 * is safe because the key contains the build: only the build that wrote an entry ever finds it. */
#include "verify/pool/verdict_cache.h"

#include <elf.h>
#include <link.h>
#include <zlib.h>

#include "base/hash.h"
#include "base/mem.h"

/* Adds the program's build id, a hash of its content that the linker wrote. The first listed object
 * is the program itself; the return value 1 stops there. */
static int add_build(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		const char *p = (const char *)info->dlpi_addr + h->p_vaddr, *end = p + h->p_memsz;

		while (h->p_type == PT_NOTE && p + sizeof (ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *n = (const void *)p;
			const char *data = p + sizeof *n + ((n->n_namesz + 3) & ~3u);

			if (n->n_type == NT_GNU_BUILD_ID)
				sha256_add(ctx, data, n->n_descsz);
			p = data + ((n->n_descsz + 3) & ~3u);
		}
	}
	return 1;
}

/* Fails when an option is added: verdict_key must then include it in `parts`. */
_Static_assert(sizeof (struct judge_options) == 80, "verdict_key must know every option");

/* Hashes whatever a verdict depends on. The lengths of both texts are included, so that no byte can
 * move from one text to the other without changing the key. */
void verdict_key(const struct judge_options *o, struct str task, struct str candidate, char hex[65])
{
	int64_t parts[] = { o->track, o->last, o->ext_off, o->rules_off, (int64_t)o->seed, o->reward,
			    o->contract, o->skip_general, o->precision, o->identity,
			    o->fuel, (int64_t)o->memory, o->elements, (int64_t)task.n, (int64_t)candidate.n };
	struct sha256 h;
	unsigned char digest[32];

	sha256_init(&h);
	sha256_add(&h, TRITONRL_VERSION, sizeof TRITONRL_VERSION);
	dl_iterate_phdr(add_build, &h);
	sha256_add(&h, parts, sizeof parts);
	sha256_add(&h, o->gpu, strlen(o->gpu) + 1);
	sha256_add(&h, task.p, task.n);
	sha256_add(&h, candidate.p, candidate.n);
	sha256_end(&h, digest);
	hash_hex(digest, sizeof digest, hex);
}

/* The key of two empty texts, shortened: it changes with build and options only. */
void verdict_fingerprint(const struct judge_options *o, char out[17])
{
	char hex[65];

	verdict_key(o, STR(""), STR(""), hex);
	memcpy(out, hex, 16);
	out[16] = 0;
}

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

/* Verdicts about a worker's time or crash are not kept: another machine may give another one. */
int verdict_cache_put(struct store *s, const char *key, const struct verdict *v, struct err *e)
{
	struct verdict timeless = *v;
	unsigned char packed[sizeof timeless + 1024];
	uLongf n = sizeof packed;

	if (v->diag.reason == REASON_worker_timeout || v->diag.reason == REASON_worker_crashed)
		return 0;
	verdict_forget_times(&timeless);
	if (compress2(packed, &n, (const Bytef *)&timeless, sizeof timeless, 1) != Z_OK)
		BUG("a verdict did not compress");
	return store_cache_put(s, str_of(key), packed, n, e);
}
