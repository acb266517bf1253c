/* Byte-pair encoding of one word. Owns the merge table and the two ways to apply it.
 *
 * The result is defined by: of all adjacent pairs that can be joined, join the one of lowest
 * rank, the leftmost of equals, until none can be joined. Example with merges (h, e) and (l, l)
 * before (he, ll): h e l l o -> he l l o -> he ll o -> hell o. Words of up to 96 symbols scan for
 * the best pair. Longer ones keep a heap, so that a megabyte without a space costs n log n. */
#include <stdlib.h>

#include "tok/tok_impl.h"

enum { BPE_SCAN_MAX = 96 }; /* longest word that is scanned */
#define BPE_EMPTY UINT64_MAX

/* An empty table with room for `merges`, at most half full. Keys hash by multiplication, and
 * the top bits are the slot. */
int bpe_init(struct bpe *b, size_t merges, struct err *e)
{
	size_t slots = 16;
	int bits = 4;

	while (slots < merges * 2) {
		slots *= 2;
		bits++;
	}
	b->key = mem_alloc(slots * sizeof *b->key);
	b->value = mem_alloc(slots * sizeof *b->value);
	if (!b->key || !b->value)
		return err_nomem(e);
	memset(b->key, 0xFF, slots * sizeof *b->key);
	b->mask = slots - 1;
	b->shift = 64 - bits;
	return 0;
}

void bpe_release(struct bpe *b)
{
	mem_free(b->key);
	mem_free(b->value);
	map_release(&b->whole);
}

/* The slot of a key, or the free slot where it belongs. */
static size_t slot_of(const struct bpe *b, uint64_t key)
{
	size_t i = (size_t)(key * 0x9E3779B97F4A7C15u >> b->shift);

	while (b->key[i] != key && b->key[i] != BPE_EMPTY)
		i = (i + 1) & b->mask;
	return i;
}

/* A pair of ids as one number. */
static uint64_t key_of(int32_t left, int32_t right)
{
	return (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
}

/* Adds a merge. A pair given twice keeps its last rank. */
void bpe_add(struct bpe *b, int32_t left, int32_t right, uint32_t rank, int32_t id)
{
	size_t i = slot_of(b, key_of(left, right));

	b->key[i] = key_of(left, right);
	b->value[i] = (uint64_t)rank << 32 | (uint32_t)id;
}

/* Rank and joined id of a pair in one number, so comparing numbers compares ranks. */
uint64_t bpe_pair(const struct bpe *b, int32_t left, int32_t right)
{
	size_t i = slot_of(b, key_of(left, right));

	return b->key[i] == BPE_EMPTY ? BPE_NO_MERGE : b->value[i];
}

/* Frees the scratch memory; the struct can be reused after it is zeroed. */
void bpe_work_release(struct bpe_work *w)
{
	mem_free(w->sym);
	mem_free(w->prev);
	mem_free(w->next);
	mem_free(w->pair);
	vec_free(&w->heap);
}

/* Scratch for n symbols. It grows by doubling and is kept between words; old contents are
 * dropped. */
static int work_reserve(struct bpe_work *w, size_t n)
{
	if (n <= w->cap)
		return 0;
	n = MAX(n, MAX((size_t)256, w->cap * 2));
	bpe_work_release(w);
	*w = (struct bpe_work){ .cap = 0 };
	w->sym = mem_array(n, sizeof *w->sym);
	w->prev = mem_array(n, sizeof *w->prev);
	w->next = mem_array(n, sizeof *w->next);
	w->pair = mem_array(n, sizeof *w->pair);
	if (!w->sym || !w->prev || !w->next || !w->pair)
		return -1;
	w->cap = n;
	return 0;
}

/* The symbols a word starts as: one or two per byte. Unknown bytes become the unknown token,
 * several in a row only one with fuse_unk. */
static size_t start_symbols(const struct bpe *b, const unsigned char *p, size_t n, int32_t *sym)
{
	size_t k = 0;
	int unk_before = 0;

	for (size_t i = 0; i < n; i++) {
		if (b->is_unk[p[i]]) {
			if (b->unk >= 0 && !(unk_before && b->fuse_unk))
				sym[k++] = b->unk;
			unk_before = 1;
			continue;
		}
		unk_before = 0;
		sym[k++] = b->first[p[i]][0];
		if (b->first[p[i]][1] >= 0)
			sym[k++] = b->first[p[i]][1];
	}
	return k;
}

/* Applies the merges by scanning all pairs for the best. pair[i] is the merge of sym[i] and
 * sym[i + 1]. Returns the new number of symbols. */
static size_t merge_scan(const struct bpe *b, int32_t *sym, uint64_t *pair, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		pair[i] = bpe_pair(b, sym[i], sym[i + 1]);
	while (n > 1) {
		size_t at = 0;
		uint64_t best = pair[0];

		/* Equal ranks are equal pairs, so the strict comparison keeps the leftmost. */
		for (size_t i = 1; i + 1 < n; i++)
			if (pair[i] < best) {
				best = pair[i];
				at = i;
			}
		if (best == BPE_NO_MERGE)
			break;
		sym[at] = (int32_t)(uint32_t)best;
		n--;
		memmove(sym + at + 1, sym + at + 2, (n - at - 1) * sizeof *sym);
		if (at + 1 < n) {
			memmove(pair + at + 1, pair + at + 2, (n - at - 2) * sizeof *pair);
			pair[at] = bpe_pair(b, sym[at], sym[at + 1]);
		}
		if (at)
			pair[at - 1] = bpe_pair(b, sym[at - 1], sym[at]);
	}
	return n;
}

/* --- long words: a heap of rank << 32 | position ------------------------------------------
 *
 * Symbols form a linked list (prev, next), so joining two costs O(1). An entry of the heap is
 * stale if the pair at its position has changed since; such entries are skipped. */

/* A binary heap with the smallest entry on top. */
static int heap_push(struct bpe_work *w, uint64_t x)
{
	size_t i = w->heap.n;

	if (vec_push(&w->heap, x))
		return -1;
	for (; i && w->heap.v[(i - 1) / 2] > x; i = (i - 1) / 2)
		w->heap.v[i] = w->heap.v[(i - 1) / 2];
	w->heap.v[i] = x;
	return 0;
}

/* Removes the top; the last entry sinks to its position. */
static uint64_t heap_pop(struct bpe_work *w)
{
	uint64_t top = w->heap.v[0], x = w->heap.v[--w->heap.n];
	size_t i = 0, n = w->heap.n;

	for (size_t k; (k = 2 * i + 1) < n; i = k) {
		if (k + 1 < n && w->heap.v[k + 1] < w->heap.v[k])
			k++;
		if (w->heap.v[k] >= x)
			break;
		w->heap.v[i] = w->heap.v[k];
	}
	if (n)
		w->heap.v[i] = x;
	return top;
}

/* Recomputes the pair at `at` and queues it if it can be merged. */
static int offer(const struct bpe *b, struct bpe_work *w, int32_t at)
{
	w->pair[at] = w->next[at] < 0 ? BPE_NO_MERGE : bpe_pair(b, w->sym[at], w->sym[w->next[at]]);
	if (w->pair[at] == BPE_NO_MERGE)
		return 0;
	return heap_push(w, (w->pair[at] >> 32 << 32) | (uint32_t)at);
}

/* Applies the merges through the heap. Returns 0, or -1 if memory ran out. */
static int merge_heap(const struct bpe *b, struct bpe_work *w, size_t *n)
{
	size_t k = 0;

	w->heap.n = 0;
	for (size_t i = 0; i < *n; i++) {
		w->prev[i] = (int32_t)i - 1;
		w->next[i] = i + 1 < *n ? (int32_t)i + 1 : -1;
	}
	for (size_t i = 0; i < *n; i++)
		if (offer(b, w, (int32_t)i))
			return -1;
	while (w->heap.n) {
		uint64_t top = heap_pop(w);
		int32_t at = (int32_t)(uint32_t)top, gone;

		if (w->pair[at] == BPE_NO_MERGE || w->pair[at] >> 32 != top >> 32)
			continue;   /* stale: a neighbour was joined meanwhile */
		gone = w->next[at];
		w->sym[at] = (int32_t)(uint32_t)w->pair[at];
		w->next[at] = w->next[gone];
		w->pair[gone] = BPE_NO_MERGE;
		if (w->next[at] >= 0)
			w->prev[w->next[at]] = at;
		if (offer(b, w, at) || (w->prev[at] >= 0 && offer(b, w, w->prev[at])))
			return -1;
	}
	for (int32_t i = 0; i >= 0; i = w->next[i])
		w->sym[k++] = w->sym[i];
	*n = k;
	return 0;
}

/* Encodes one word. With ignore_merges a word that is a token itself is taken whole. */
int bpe_word(const struct bpe *b, struct bpe_work *w, const unsigned char *p, size_t n, struct tok_ids *out)
{
	const struct map_entry *whole;
	size_t k;

	if (b->ignore_merges && (whole = map_get(&b->whole, (struct str){ .p = (const char *)p, .n = n })))
		return vec_push(out, (int32_t)whole->val.i64);
	if (n > INT32_MAX / 2 || work_reserve(w, 2 * n))
		return -1;
	k = start_symbols(b, p, n, w->sym);
	if (k <= BPE_SCAN_MAX)
		k = merge_scan(b, w->sym, w->pair, k);
	else if (merge_heap(b, w, &k))
		return -1;
	if (vec_grow(out, k))
		return -1;
	if (k)
		memcpy(out->v + out->n, w->sym, k * sizeof *w->sym);
	out->n += k;
	return 0;
}
