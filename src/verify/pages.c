/* Pages of judging processes: see pages.h. */
#include "verify/pages.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/mem.h"

/* Pages that are given back are paid for again at every run. */
void pages_keep(void)
{
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, 512 << 20);
}

/* Takes what is free between blocks, for good. A runner would fill it bit by bit, and each bit is a page that it shares with the
 * zygote and has to copy; so it takes new memory only. What is free is joined first, here and not in every runner, and its pages go:
 * the fewer there are, the less there is for a fork to share. */
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

/* The first huge page is not even touched by the header of a block: in a zygote, runners would copy it bit by bit. */
void pages_grow_huge(void)
{
	enum { HUGE = 2 << 20, BYTES = 64 << 20, HEADER = sizeof (size_t) };
	char *p = mem_alloc(BYTES);
	size_t before = p ? HUGE - (uintptr_t)p % HUGE : 0;

	if (!p)
		return;
	madvise(p + before, BYTES - HUGE, MADV_HUGEPAGE);
	mem_free(p);
	/* What lies before it stays taken. */
	if (!mem_alloc(before - HEADER))
		log_debug("the heap does not begin at a huge page");
}

/* A page at its first touch costs ten times as much. One huge page costs a fifth of that many small ones. */
void pages_fetch(void)
{
	enum { PAGE = 4096, BYTES = 1 << 20 };
	char *p = malloc(BYTES);

	if (p)
		madvise((void *)(((uintptr_t)p + PAGE - 1) / PAGE * PAGE), BYTES - PAGE, MADV_POPULATE_WRITE);
	free(p);
}
