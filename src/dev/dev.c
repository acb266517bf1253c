/* Devices: see dev.h. The CPU's memory comes from anonymous maps when large, so that it is
 * zeroed by the kernel and sits on huge pages; small blocks come from the heap. */
#include "dev/dev.h"

#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/sys.h"

enum { MAP_FROM = 1 << 21 };

struct dev *dev_open(const char *name, int threads, struct err *e)
{
	struct dev *d;

	if (strcmp(name, "cpu") && strcmp(name, "auto")) {
		err_set(e, ERR_UNSUPPORTED, "there is no device '%s': this program was built with 'cpu'", name);
		return NULL;
	}
	if (!(d = mem_zalloc(sizeof *d))) {
		err_nomem(e);
		return NULL;
	}
	d->kind = DEV_CPU;
	if (!(d->pool = pool_new(threads, e))) {
		mem_free(d);
		return NULL;
	}
	d->threads = pool_size(d->pool);
	return d;
}

static size_t scratch_bytes(const struct dev *d)
{
	return (size_t)d->threads * d->scratch_each + d->scratch_shared;
}

void dev_close(struct dev *d)
{
	if (!d)
		return;
	pool_free(d->pool);
	dev_free(d, d->scratch, scratch_bytes(d));
	mem_free(d);
}

void *dev_alloc(struct dev *d, size_t n, struct err *e)
{
	void *p;

	if (n >= MAP_FROM) {
		p = sys.mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			p = NULL;
		else
			madvise(p, n, MADV_HUGEPAGE);   /* an optimisation: refusal changes nothing */
	} else if ((p = mem_alloc_aligned(n ? n : 1, 64)))
		memset(p, 0, n);
	if (!p) {
		err_set(e, ERR_NOMEM, "cannot allocate %zu bytes on the device", n);
		return NULL;
	}
	d->held += n;
	return p;
}

void dev_free(struct dev *d, void *p, size_t n)
{
	if (!p)
		return;
	d->held -= n;
	if (n >= MAP_FROM)
		sys.munmap(p, n);
	else
		mem_free_aligned(p);
}

int dev_reserve(struct dev *d, size_t each, size_t shared, struct err *e)
{
	struct dev want = { .threads = d->threads };
	char *p;

	want.scratch_each = MAX(d->scratch_each, (each + 4095) & ~(size_t)4095);
	want.scratch_shared = MAX(d->scratch_shared, (shared + 4095) & ~(size_t)4095);
	if (want.scratch_each == d->scratch_each && want.scratch_shared == d->scratch_shared)
		return 0;
	if (!(p = dev_alloc(d, scratch_bytes(&want), e)))
		return -1;
	dev_free(d, d->scratch, scratch_bytes(d));
	d->scratch = p;
	d->scratch_each = want.scratch_each;
	d->scratch_shared = want.scratch_shared;
	return 0;
}

void *dev_scratch(const struct dev *d, int thread, size_t need)
{
	if (need > d->scratch_each)
		BUG("an op needs %zu bytes a thread, %zu are reserved", need, d->scratch_each);
	return d->scratch + (size_t)thread * d->scratch_each;
}

void *dev_shared(const struct dev *d, size_t need)
{
	if (need > d->scratch_shared)
		BUG("an op needs %zu shared bytes, %zu are reserved", need, d->scratch_shared);
	return d->scratch + (size_t)d->threads * d->scratch_each;
}
