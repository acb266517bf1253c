/* Memory: heap calls, checked arithmetic, arenas, growable arrays.
 *
 * Heap calls return NULL on failure; the caller turns that into err_nomem(e).
 * Arenas either return NULL or, if a trap is set, jump to it: a parser or interpreter
 * sets one trap at its entry point and needs no check at each node. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Does the address sanitizer watch over every object? clang says it so, gcc with a macro of its own. */
#ifdef __has_feature
#define MEM_WATCHED __has_feature(address_sanitizer)
#elif defined __SANITIZE_ADDRESS__
#define MEM_WATCHED 1
#else
#define MEM_WATCHED 0
#endif

void *mem_alloc(size_t n);            /* n == 0 gives a valid pointer */
void *mem_zalloc(size_t n);
void *mem_array(size_t count, size_t size);     /* NULL on overflow; zeroed */
void *mem_resize(void *p, size_t n);
void mem_free(void *p);
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t n);
/* `align` a power of two (at least pointer size); release with mem_free_aligned. */
void *mem_alloc_aligned(size_t n, size_t align);
void mem_free_aligned(void *p);

/* Checked arithmetic for sizes that come from outside: nonzero on overflow. */
static inline int ck_add(size_t a, size_t b, size_t *out) { return __builtin_add_overflow(a, b, out); }
static inline int ck_mul(size_t a, size_t b, size_t *out) { return __builtin_mul_overflow(a, b, out); }
static inline int ck_add64(int64_t a, int64_t b, int64_t *out) { return __builtin_add_overflow(a, b, out); }
static inline int ck_sub64(int64_t a, int64_t b, int64_t *out) { return __builtin_sub_overflow(a, b, out); }
static inline int ck_mul64(int64_t a, int64_t b, int64_t *out) { return __builtin_mul_overflow(a, b, out); }

#define COUNT_OF(a) (sizeof (a) / sizeof *(a))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* --- arenas ----------------------------------------------------------------------- */

struct arena_block;

struct arena {
	struct arena_block *head;   /* newest block */
	char *at, *end;             /* free space of the newest block */
	size_t used;                /* bytes handed out */
	size_t limit;               /* most bytes to take from the heap; 0: no limit */
	size_t held;                /* bytes taken from the heap */
	jmp_buf *trap;              /* jump target of a failed allocation; NULL: return NULL */
};

#define ARENA_INIT { .head = NULL }

/* 16-byte aligned, not zeroed / zeroed. Lives until arena_release or arena_clear. */
void *arena_alloc(struct arena *a, size_t n);
void *arena_zalloc(struct arena *a, size_t n);
void *arena_array(struct arena *a, size_t count, size_t size);  /* zeroed, overflow checked */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_strdup(struct arena *a, const char *s);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_clear(struct arena *a);    /* forgets everything, keeps one block */
void arena_release(struct arena *a);  /* gives all memory back */

/* A point to go back to: everything allocated after it is forgotten. */
struct arena_mark {
	struct arena_block *head;
	char *at;
	size_t used;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_reset(struct arena *a, struct arena_mark m);

/* --- growable arrays --------------------------------------------------------------- */

/* A growable array of T is any struct with `T *v; size_t n, cap;`:
 *     struct { int *v; size_t n, cap; } xs = {0};
 *     if (vec_grow(&xs, 1)) return err_nomem(e);
 *     xs.v[xs.n++] = 3;
 *     vec_free(&xs);                                                                    */
int vec_grow_raw(void **v, size_t n, size_t *cap, size_t more, size_t size);
#define vec_grow(x, more) \
	((size_t)(more) <= (x)->cap - (x)->n ? 0 : vec_grow_raw((void **)&(x)->v, (x)->n, &(x)->cap, \
								(more), sizeof *(x)->v))
/* Appends; nonzero when memory ended. */
#define vec_push(x, item) (vec_grow((x), 1) ? -1 : ((x)->v[(x)->n++] = (item), 0))
#define vec_free(x) (mem_free((x)->v), (x)->v = NULL, (x)->n = (x)->cap = 0)

#endif
