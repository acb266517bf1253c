/* Keys by content: see key.h.
 *
 * The build is part of every key: another build may judge differently and lay out structs
 * differently. The linker's build id identifies the build, since it is a hash of the program's
 * content. */
#include "verify/config/key.h"

#include <elf.h>
#include <link.h>

#include "base/hash.h"
#include "base/mem.h"

/* Adds the linker's hash of the program's content (its build id). dl_iterate_phdr visits the
 * program itself first, and the walk ends there. */
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

/* A member that is added to the options must be added to the key, too. */
_Static_assert(sizeof (struct judge_options) == 80, "verdict_key must know every option");

/* The lengths of both texts are part of the key, so that no text can be moved from one to the
 * other. */
void verdict_key(const struct judge_options *o, struct str task, struct str candidate, char hex[65])
{
	int64_t parts[] = { o->track, o->last, o->ext_off, o->rules_off, (int64_t)o->seed, o->reward,
			    o->contract, o->skip_general, o->precision, o->identity, o->plan,
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

/* Sixteen digits are enough to tell builds and options apart in reports. */
void verdict_fingerprint(const struct judge_options *o, char out[17])
{
	char hex[65];

	verdict_key(o, STR(""), STR(""), hex);
	memcpy(out, hex, 16);
	out[16] = 0;
}
