/* Memory pages of judging processes: see pages.h.
 *
 * Everything here is an optimisation: a step that fails is logged for debugging and nothing depends
 * on it. */
#include "verify/pool/pages.h"

#include <cblas.h>
#include <link.h>
#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

enum { PAGE = 4096, HUGE = 2 << 20 };

/* n rounded up to a multiple of `to`. */
static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

/* Replaces the pages from `from` to `end` by a private copy of themselves. Nothing is unmapped
 * before the copy is complete. */
static void move_pages(char *from, const char *end, int prot)
{
	size_t n = (size_t)(end - from), room = round_up(n, HUGE) + HUGE;
	char *p = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *copy;

	if (p == MAP_FAILED)
		return;
	copy = (char *)round_up((uintptr_t)p, HUGE);
	if (!madvise(copy, round_up(n, HUGE), MADV_HUGEPAGE)) {
		memcpy(copy, from, n);
		if (mprotect(copy, n, prot) || mremap(copy, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, from) == MAP_FAILED)
			log_debug("%zu bytes of a program stay where they are", n);
	}
	munmap(p, room);
}

/* Tells whether a loaded object contains one of these functions. */
static int has_one_of(const struct dl_phdr_info *object, const uintptr_t *some, size_t n)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &object->dlpi_phdr[i];

		for (size_t k = 0; k < n && h->p_type == PT_LOAD; k++)
			if (some[k] - object->dlpi_addr - h->p_vaddr < h->p_memsz)
				return 1;
	}
	return 0;
}

/* Tells whether a loaded object is the program, the C library or the mathematics library. They are
 * recognised by a function in each. */
static int is_called_most(const struct dl_phdr_info *object)
{
	const uintptr_t some[] = { (uintptr_t)pages_move_text, (uintptr_t)malloc, (uintptr_t)(double (*)(double))exp };

	return has_one_of(object, some, COUNT_OF(some));
}

/* Tells whether a loaded object is the BLAS. */
static int is_blas(const struct dl_phdr_info *object)
{
	const uintptr_t one = (uintptr_t)cblas_sgemm;

	return has_one_of(object, &one, 1);
}

/* Moves the read-only segments of an object. The first segment is left out because only the linker
 * reads it; writable ones cannot be moved. */
static int move_object(struct dl_phdr_info *object, size_t size, void *ctx)
{
	(void)size, (void)ctx;
	for (int i = 0; i < object->dlpi_phnum && is_called_most(object); i++) {
		const ElfW(Phdr) *h = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + h->p_vaddr, end = round_up(start + h->p_memsz, PAGE);

		if (h->p_type == PT_LOAD && h->p_offset && !(h->p_flags & PF_W))
			move_pages((char *)(start / PAGE * PAGE), (char *)end,
				   PROT_READ | (h->p_flags & PF_X ? PROT_EXEC : 0));
	}
	return 0;
}

/* Sanitizers are left out: they have libraries of their own and would report reads of their markers
 * between constants. */
void pages_move_text(void)
{
	if (!MEM_WATCHED)
		dl_iterate_phdr(move_object, NULL);
}

/* --- libraries that forks do not need ----------------------------------------------------- */

/* A loaded object, as its dynamic section describes it. */
struct object {
	struct dl_phdr_info at;
	const ElfW(Dyn) *dyn;
	const char *names;            /* string table of that section */
	const char *name;             /* its own name in it; NULL for the program */
	int kept;                     /* runners need it */
};

struct objects {
	struct object v[128];
	size_t n;
};

/* Records one loaded object. The return value 1 stops the listing when the table is full. */
static int add_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct objects *all = ctx;
	struct object *o = &all->v[all->n];

	(void)size;
	if (all->n == COUNT_OF(all->v))
		return 1;
	*o = (struct object){ .at = *info, .kept = is_called_most(info) || is_blas(info) };
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			o->dyn = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (const ElfW(Dyn) *d = o->dyn; d && d->d_tag; d++)
		if (d->d_tag == DT_STRTAB && d->d_un.d_ptr > info->dlpi_addr)
			o->names = (const void *)d->d_un.d_ptr;
	for (const ElfW(Dyn) *d = o->dyn; o->names && d->d_tag; d++)
		if (d->d_tag == DT_SONAME)
			o->name = o->names + d->d_un.d_val;
	all->n++;
	return 0;
}

/* Marks the libraries that `by` depends on as kept. Returns 1 if one of them was not marked before.
 * The program itself depends on all libraries, so its dependencies do not count. */
static int keep_needed(struct objects *all, const struct object *by)
{
	int more = 0;

	for (const ElfW(Dyn) *d = by->dyn; by->name && d->d_tag; d++)
		for (size_t i = 0; i < all->n && d->d_tag == DT_NEEDED; i++)
			if (!all->v[i].kept && all->v[i].name && !strcmp(all->v[i].name, by->names + d->d_un.d_val))
				more = all->v[i].kept = 1;
	return more;
}

/* Returns the end of the part of a segment that the dynamic linker reads. A function is looked up
 * by name in all libraries at its first call, so names, dynamic section and relocated read-only
 * data must stay in forks. */
static uintptr_t end_of_linkers(const struct object *o, uintptr_t start, uintptr_t end)
{
	if ((uintptr_t)o->names >= start && (uintptr_t)o->names < end)
		return end;
	for (int i = 0; i < o->at.dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &o->at.dlpi_phdr[i];
		uintptr_t relro = o->at.dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_GNU_RELRO && relro >= start && relro < end)
			return MIN(round_up(relro + h->p_memsz, PAGE), end);
	}
	return (uintptr_t)o->dyn >= start && (uintptr_t)o->dyn < end ? end : start;
}

/* Marks the segments of a library so that forks do not get them. */
static void leave_out(const struct object *o)
{
	for (int i = 0; i < o->at.dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &o->at.dlpi_phdr[i];
		uintptr_t start = (o->at.dlpi_addr + h->p_vaddr) / PAGE * PAGE,
			end = round_up(o->at.dlpi_addr + h->p_vaddr + h->p_memsz, PAGE);

		start = h->p_type == PT_LOAD ? end_of_linkers(o, start, end) : end;
		if (start < end && madvise((void *)start, end - start, MADV_DONTFORK))
			log_debug("a library cannot be left out of forks");
	}
}

/* First marks the objects that runners need, with all their dependencies, until nothing changes.
 * Everything else that comes from a file is left out of forks. */
void pages_leave_libraries(void)
{
	struct objects all = { .n = 0 };
	int more = 1;

	if (MEM_WATCHED || dl_iterate_phdr(add_object, &all))
		return;
	while (more) {
		more = 0;
		for (size_t i = 0; i < all.n; i++)
			more |= all.v[i].kept && keep_needed(&all, &all.v[i]);
	}
	/* The kernel's vDSO has no path and must stay. */
	for (size_t i = 0; i < all.n; i++)
		if (!all.v[i].kept && all.v[i].names && all.v[i].at.dlpi_name[0] == '/')
			leave_out(&all.v[i]);
}

/* Memory that is returned to the kernel must be cleared again at every use, so malloc keeps it. */
void pages_keep(void)
{
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, 512 << 20);
}

/* A runner would otherwise fill the gaps between blocks piece by piece, and copy a shared page for
 * each. Without gaps it takes new memory only. malloc_trim first joins free blocks, once here
 * instead of in every runner. The loop then allocates blocks of falling sizes until each size lies
 * beyond the old end of the heap. */
void pages_use_up(void)
{
	enum { STEP = 16, MOST = 1 << 20 };
	char *end, *p;

	malloc_trim(0);
	end = p = malloc(MOST);
	for (size_t size = MOST; p && size; size = size > 2048 ? size / 2 : size - STEP)
		while ((p = malloc(size)) && p < end)
			;
}

/* Uses MADV_COLLAPSE of Linux 6.1; older kernels refuse it. */
void pages_join(void)
{
	enum { COLLAPSE = 25 };
	char *end = sbrk(0), *start = end - mallinfo2().arena;

	for (char *p = (char *)round_up((uintptr_t)start, HUGE); p + HUGE <= end; p += HUGE)
		if (madvise(p, HUGE, COLLAPSE))
			log_debug("a part of the heap stays on small pages");
}

/* The block's header is placed so that even it does not touch the first huge page. In a zygote
 * runners would copy that page piece by piece. */
void pages_grow_huge(void)
{
	enum { HEADER = sizeof (size_t) };
	char *p = mem_alloc(PAGES_GROWN);
	size_t before = p ? HUGE - (uintptr_t)p % HUGE : 0;

	if (!p)
		return;
	madvise(p + before, PAGES_GROWN - HUGE, MADV_HUGEPAGE);
	mem_free(p);
	/* The part before the first huge page stays allocated. */
	if (!mem_alloc(before - HEADER))
		log_debug("the heap does not start at a huge page");
}

/* A page fault at first use costs ten times as much as this. One huge page costs a fifth of the
 * small pages it replaces. */
void pages_fetch(void)
{
	enum { BYTES = 1 << 20 };
	char *p = malloc(BYTES);

	if (p)
		madvise((void *)(((uintptr_t)p + PAGE - 1) / PAGE * PAGE), BYTES - PAGE, MADV_POPULATE_WRITE);
	free(p);
}
