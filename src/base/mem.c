/* Heap, arenas and growable arrays: see mem.h. Every allocation goes through sys.h, so that torture
 * tests can make each one fail. Invariant: sizes are computed with checked arithmetic. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"
#include "base/sys.h"

/* malloc(0) may return NULL, which callers would take for a failure. */
void *mem_alloc(size_t n)
{
	return sys.alloc(n ? n : 1);
}

void *mem_zalloc(size_t n)
{
	void *p = mem_alloc(n);

	if (p)
		memset(p, 0, n);
	return p;
}

/* Zeroed, because most arrays hold pointers that an early failure would free. */
void *mem_array(size_t count, size_t size)
{
	size_t n;

	return ck_mul(count, size, &n) ? NULL : mem_zalloc(n);
}

void *mem_resize(void *p, size_t n)
{
	return sys.resize(p, n ? n : 1);
}

void mem_free(void *p)
{
	if (p)
		sys.release(p);
}

/* The bytes may contain NUL; the copy has one more at its end. */
char *mem_strndup(const char *s, size_t n)
{
	char *p = n < SIZE_MAX ? mem_alloc(n + 1) : NULL;

	if (!p)
		return NULL;
	memcpy(p, s, n);
	p[n] = 0;
	return p;
}

char *mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

/* The original pointer is stored just below the aligned one, for mem_free_aligned. */
void *mem_alloc_aligned(size_t n, size_t align)
{
	size_t total;
	char *raw, *p;

	if (ck_add(n, align + sizeof (void *), &total) || !(raw = mem_alloc(total)))
		return NULL;
	p = (char *)(((uintptr_t)raw + sizeof (void *) + align - 1) & ~(uintptr_t)(align - 1));
	memcpy(p - sizeof raw, &raw, sizeof raw);
	return p;
}

void mem_free_aligned(void *p)
{
	void *raw;

	if (!p)
		return;
	memcpy(&raw, (char *)p - sizeof raw, sizeof raw);
	mem_free(raw);
}

/* --- arenas ----------------------------------------------------------------------- */

/* Blocks double from ARENA_FIRST to ARENA_MOST: small arenas stay small, large ones need few
 * calls. */
enum { ARENA_ALIGN = 16, ARENA_FIRST = 8 << 10, ARENA_MOST = 1 << 20 };

struct arena_block {
	struct arena_block *older;   /* the block before it, or NULL */
	size_t size;            /* usable bytes that follow */
	_Alignas(16) char data[];
};

/* With a trap the arena jumps out of code that cannot handle a failed allocation (Jansson). */
static void *arena_fail(struct arena *a)
{
	if (a->trap)
		longjmp(*a->trap, 1);
	return NULL;
}

/* A request above the block size gets a block of its own. The limit of the arena counts whole
 * blocks. */
static int arena_add_block(struct arena *a, size_t need)
{
	size_t size = a->head ? MIN(a->head->size * 2, (size_t)ARENA_MOST) : (size_t)ARENA_FIRST;
	size_t total;
	struct arena_block *b;

	size = MAX(size, need);
	if (ck_add(size, sizeof *b, &total) || (a->limit && total > a->limit - MIN(a->held, a->limit)))
		return -1;
	b = mem_alloc(total);
	if (!b)
		return -1;
	b->older = a->head;
	b->size = size;
	a->head = b;
	a->at = b->data;
	a->end = b->data + size;
	a->held += total;
	return 0;
}

/* The usual case is a comparison and an addition. Sizes are rounded up to 16 bytes, which suits
 * vector types. */
void *arena_alloc(struct arena *a, size_t n)
{
	void *p;

	if (n > SIZE_MAX - ARENA_ALIGN)
		return arena_fail(a);
	n = (n + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if ((size_t)(a->end - a->at) < n && arena_add_block(a, n))
		return arena_fail(a);
	p = a->at;
	a->at += n;
	a->used += n;
	return p;
}

void *arena_zalloc(struct arena *a, size_t n)
{
	void *p = arena_alloc(a, n);

	return p ? memset(p, 0, n) : NULL;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
	size_t n;

	return ck_mul(count, size, &n) ? arena_fail(a) : arena_zalloc(a, n);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = n < SIZE_MAX ? arena_alloc(a, n + 1) : arena_fail(a);

	if (!p)
		return NULL;
	memcpy(p, s, n);
	p[n] = 0;
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

/* Formats twice: once to learn the length, once into the arena. */
char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	int n;
	char *p;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		BUG("arena_printf: bad format '%s'", fmt);
	p = arena_alloc(a, (size_t)n + 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

/* Frees the newest block. */
static void arena_pop(struct arena *a)
{
	struct arena_block *b = a->head;

	a->head = b->older;
	a->held -= b->size + sizeof *b;
	mem_free(b);
}

/* Keeps the oldest block, so that an arena in a loop stops allocating after its first use. */
void arena_clear(struct arena *a)
{
	while (a->head && a->head->older)
		arena_pop(a);
	a->at = a->head ? a->head->data : NULL;
	a->end = a->head ? a->head->data + a->head->size : NULL;
	a->used = 0;
}

void arena_release(struct arena *a)
{
	while (a->head)
		arena_pop(a);
	a->at = a->end = NULL;
	a->used = 0;
}

struct arena_mark arena_mark(const struct arena *a)
{
	return (struct arena_mark){ .head = a->head, .at = a->at, .used = a->used };
}

/* Frees everything that was allocated after the mark. */
void arena_reset(struct arena *a, struct arena_mark m)
{
	while (a->head != m.head)
		arena_pop(a);
	a->at = m.at;
	a->end = a->head ? a->head->data + a->head->size : NULL;
	a->used = m.used;
}

/* --- growable arrays --------------------------------------------------------------- */

/* Grows by half, so that n pushes cost O(n) and at most a third of the memory is unused. */
int vec_grow_raw(void **v, size_t n, size_t *cap, size_t more, size_t size)
{
	size_t need, want, bytes;
	void *p;

	if (ck_add(n, more, &need))
		return -1;
	if (need <= *cap)
		return 0;
	want = MAX(need, MAX((size_t)8, *cap + *cap / 2));
	if (ck_mul(want, size, &bytes) || !(p = mem_resize(*v, bytes)))
		return -1;
	*v = p;
	*cap = want;
	return 0;
}
