/* Learning a byte-level BPE from text. Owns counting and the choice of merges. The next merge is
 * always the adjacent pair with the highest count; among equals the smaller pair of ids. So the
 * result depends only on the text. tok_train_write.c writes the files.
 *
 * Counts of pairs are kept up to date as merges are applied. The queue may hold outdated counts,
 * which can only be too high: a candidate whose count has fallen is queued again when it comes
 * up. */
#include "tok/tok_train.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/uni.h"
#include "tok/tok_impl.h"

/* --- words of the text ------------------------------------------------------------------------- */

/* The index after the line that starts at `at`. */
static size_t line_end(struct str text, size_t at)
{
	const char *nl = memchr(text.p + at, '\n', text.n - at);

	return nl ? (size_t)(nl - text.p) + 1 : text.n;
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Whether a number begins at i: not the 2 of x2. */
static int number_begins(struct str text, size_t i)
{
	char before = i ? text.p[i - 1] : ' ';

	return is_digit(text.p[i]) && !is_digit(before) && before != '_' &&
		!((before | 32) >= 'a' && (before | 32) <= 'z');
}

/* The index after the piece of code at `at`: a number, or the rest of the line up to the next number. */
static size_t code_end(struct str text, size_t at)
{
	size_t end = line_end(text, at), i = at + 1;

	if (number_begins(text, at)) {
		while (i < end && is_digit(text.p[i]))
			i++;
		return i;
	}
	while (i < end && !number_begins(text, i))
		i++;
	return i;
}

/* The index after the piece at `at`. */
static size_t piece_end(struct str text, size_t at, const struct tok_train *job)
{
	if (job->pieces == TOK_WORDS)
		return pre_llm_next((const unsigned char *)text.p, text.n, at, job->digits);
	return job->pieces == TOK_LINES ? line_end(text, at) : code_end(text, at);
}

/* Counts the pieces of a text. */
static int count_words(struct map *words, struct str text, const struct tok_train *job)
{
	for (size_t i = 0, end; i < text.n; i = end) {
		struct map_entry *m;

		end = piece_end(text, i, job);
		m = map_put(words, (struct str){ .p = text.p + i, .n = end - i });
		if (!m)
			return -1;
		m->val.i64++;
	}
	return 0;
}

/* Counts the words of a file, made valid UTF-8 and NFC as the tokenizer will see them. */
static int count_file(struct map *words, const char *path, const struct tok_train *job, struct err *e)
{
	struct buf raw = BUF_INIT, clean = BUF_INIT, nfc = BUF_INIT;
	int rc = -1;

	if (file_read(path, 0, &raw, e))
		goto out;
	uni_lossy(buf_str(&raw), &clean);
	uni_nfc(buf_str(&clean), &nfc);
	if (buf_check(&nfc, e) || buf_check(&clean, e))
		goto out;
	rc = count_words(words, buf_str(&nfc), job) ? err_nomem(e) : 0;
out:
	buf_release(&raw);
	buf_release(&clean);
	buf_release(&nfc);
	return rc;
}

/* --- the corpus as symbols ----------------------------------------------------------------------- */

/* A distinct word of the corpus. */
struct word {
	size_t at, n;                /* its symbols in trainer.sym */
	int64_t count;               /* occurrences in the text */
};

/* A pair that waits to be merged, with the words it was in when it was queued. */
struct candidate {
	int32_t a, b;
	int64_t count;
	struct { uint32_t *v; size_t n, cap; } words;
};

/* The state of learning. */
struct trainer {
	int32_t *sym; /* symbols of all words, one array */
	struct { struct word *v; size_t n, cap; } words;
	struct { uint64_t *key; int64_t *count; size_t n, mask; } pairs; /* hash table: pair -> count */
	struct { struct candidate **v; size_t n, cap; } heap;  /* queue, best candidate on top */
	struct { struct candidate **v; size_t n, cap; } fresh; /* candidates made by the merge in progress */
	struct map text;             /* bytes of a token -> id + 1 */
	struct train_result *out;    /* the vocabulary so far; borrowed */
};

/* The slot of a pair, or the free slot where it belongs. */
static size_t pair_slot(const struct trainer *t, uint64_t key)
{
	size_t i = (size_t)((key * 0x9E3779B97F4A7C15u) >> 20) & t->pairs.mask;

	while (t->pairs.key[i] != key && t->pairs.key[i] != UINT64_MAX)
		i = (i + 1) & t->pairs.mask;
	return i;
}

/* Rehashes the table of counts. The old one is freed in any case. */
static int pairs_resize(struct trainer *t, size_t slots)
{
	uint64_t *key = t->pairs.key;
	int64_t *count = t->pairs.count;
	size_t old = key ? t->pairs.mask + 1 : 0;

	t->pairs.key = mem_array(slots, sizeof *key);
	t->pairs.count = mem_array(slots, sizeof *count);
	if (t->pairs.key && t->pairs.count) {
		memset(t->pairs.key, 0xFF, slots * sizeof *key);
		t->pairs.mask = slots - 1;
		for (size_t i = 0; i < old; i++)
			if (key[i] != UINT64_MAX) {
				size_t k = pair_slot(t, key[i]);

				t->pairs.key[k] = key[i];
				t->pairs.count[k] = count[i];
			}
	}
	mem_free(key);
	mem_free(count);
	return t->pairs.key && t->pairs.count ? 0 : -1;
}

static uint64_t pair_key(int32_t a, int32_t b)
{
	return (uint64_t)(uint32_t)a << 32 | (uint32_t)b;
}

/* The count of a pair, 0 if it is new; NULL if memory ran out. Valid until the next call. */
static int64_t *pair_count(struct trainer *t, int32_t a, int32_t b)
{
	size_t i;

	if (t->pairs.n * 2 > t->pairs.mask && pairs_resize(t, (t->pairs.mask + 1) * 2))
		return NULL;
	i = pair_slot(t, pair_key(a, b));
	if (t->pairs.key[i] == UINT64_MAX) {
		t->pairs.key[i] = pair_key(a, b);
		t->pairs.n++;
	}
	return &t->pairs.count[i];
}

/* --- the queue -------------------------------------------------------------------------------------- */

/* Is x the better candidate? A total order, so the result is reproducible. */
static int before(const struct candidate *x, const struct candidate *y)
{
	if (x->count != y->count)
		return x->count > y->count;
	return x->a != y->a ? x->a < y->a : x->b < y->b;
}

/* A binary heap with the best candidate on top. */
static int heap_push(struct trainer *t, struct candidate *c)
{
	size_t i = t->heap.n;

	if (vec_push(&t->heap, c))
		return -1;
	for (; i && before(c, t->heap.v[(i - 1) / 2]); i = (i - 1) / 2)
		t->heap.v[i] = t->heap.v[(i - 1) / 2];
	t->heap.v[i] = c;
	return 0;
}

/* Removes the best candidate, which then belongs to the caller. */
static struct candidate *heap_pop(struct trainer *t)
{
	struct candidate *top = t->heap.v[0], *c = t->heap.v[--t->heap.n];
	size_t i = 0, n = t->heap.n;

	for (size_t k; (k = 2 * i + 1) < n; i = k) {
		if (k + 1 < n && before(t->heap.v[k + 1], t->heap.v[k]))
			k++;
		if (!before(t->heap.v[k], c))
			break;
		t->heap.v[i] = t->heap.v[k];
	}
	if (n)
		t->heap.v[i] = c;
	return top;
}

static void candidate_free(struct candidate *c)
{
	if (c)
		vec_free(&c->words);
	mem_free(c);
}

/* The candidate of a pair among those made by the current merge, added if it is new. `index`
 * maps the pair to its position + 1. They are few: a merge touches only the neighbours of one
 * new token. */
static struct candidate *fresh_candidate(struct trainer *t, struct map *index, int32_t a, int32_t b)
{
	int32_t pair[2] = { a, b };
	struct map_entry *m = map_put(index, (struct str){ .p = (const char *)pair, .n = sizeof pair });
	struct candidate *c;

	if (!m)
		return NULL;
	if (m->val.i64)
		return t->fresh.v[m->val.i64 - 1];
	c = mem_zalloc(sizeof *c);
	if (!c || vec_push(&t->fresh, c)) {
		mem_free(c);
		return NULL;
	}
	*c = (struct candidate){ .a = a, .b = b };
	m->val.i64 = (int64_t)t->fresh.n;
	return c;
}

/* Notes a word once; words come in rising order. */
static int seen_in(struct candidate *c, uint32_t word)
{
	if (c->words.n && c->words.v[c->words.n - 1] == word)
		return 0;
	return vec_push(&c->words, word);
}

/* Moves the fresh candidates with their counts into the queue. Pairs that vanished again are
 * dropped. */
static int queue_fresh(struct trainer *t)
{
	int rc = 0;

	for (size_t i = 0; i < t->fresh.n; i++) {
		struct candidate *c = t->fresh.v[i];
		int64_t *count = pair_count(t, c->a, c->b);

		t->fresh.v[i] = NULL;
		c->count = count ? *count : 0;
		if (c->count > 0 && !heap_push(t, c))
			continue;
		rc |= c->count > 0;
		candidate_free(c);
	}
	t->fresh.n = 0;
	return rc ? -1 : 0;
}

/* --- learning --------------------------------------------------------------------------------------- */

/* Counts all pairs of the corpus and queues them. */
static int count_pairs(struct trainer *t)
{
	struct map index = MAP_INIT;
	int rc = 0;

	for (size_t w = 0; w < t->words.n && !rc; w++) {
		const int32_t *s = t->sym + t->words.v[w].at;

		for (size_t i = 0; i + 1 < t->words.v[w].n && !rc; i++) {
			int64_t *count = pair_count(t, s[i], s[i + 1]);
			struct candidate *c = fresh_candidate(t, &index, s[i], s[i + 1]);

			if (!count || !c || seen_in(c, (uint32_t)w))
				rc = -1;
			else
				*count += t->words.v[w].count;
		}
	}
	map_release(&index);
	return rc ? rc : queue_fresh(t);
}

/* Raises or lowers the count of a pair by the occurrences of a word. A pair that gains is
 * queued. */
static int change(struct trainer *t, struct map *index, int32_t a, int32_t b, uint32_t word, int sign)
{
	int64_t *count = pair_count(t, a, b);
	struct candidate *c = sign > 0 ? fresh_candidate(t, index, a, b) : NULL;

	if (!count || (sign > 0 && (!c || seen_in(c, word))))
		return -1;
	*count += sign * t->words.v[word].count;
	return 0;
}

/* Joins every a b of a word and adjusts the counts of the neighbouring pairs: x a b y becomes x
 * ab y, so (x, a) and (b, y) lose, (x, ab) and (ab, y) gain. */
static int merge_word(struct trainer *t, struct map *index, uint32_t word, int32_t a, int32_t b, int32_t id)
{
	struct word *w = &t->words.v[word];
	int32_t *s = t->sym + w->at;
	int rc = 0;

	for (size_t i = 0; i + 1 < w->n && !rc; i++) {
		if (s[i] != a || s[i + 1] != b)
			continue;
		if (i)
			rc = change(t, index, s[i - 1], a, word, -1) || change(t, index, s[i - 1], id, word, 1);
		if (i + 2 < w->n && !rc)
			rc = change(t, index, b, s[i + 2], word, -1) || change(t, index, id, s[i + 2], word, 1);
		s[i] = id;
		memmove(s + i + 1, s + i + 2, (w->n - i - 2) * sizeof *s);
		w->n--;
	}
	return rc ? -1 : 0;
}

/* The id of the joined token: a new one, unless another merge made the same text. */
static int32_t joined_id(struct trainer *t, int32_t a, int32_t b)
{
	struct str x = t->out->tokens.v[a], y = t->out->tokens.v[b], joined = { .n = x.n + y.n };
	struct map_entry *m;
	char *p = arena_alloc(&t->out->arena, x.n + y.n);

	if (!p)
		return -1;
	memcpy(p, x.p, x.n);
	memcpy(p + x.n, y.p, y.n);
	joined.p = p;
	m = map_put(&t->text, joined);
	if (!m)
		return -1;
	if (!m->val.i64) {
		if (vec_push(&t->out->tokens, joined))
			return -1;
		m->val.i64 = (int64_t)t->out->tokens.n;
	}
	return (int32_t)m->val.i64 - 1;
}

/* Applies one merge to all words that may contain it. */
static int apply(struct trainer *t, const struct candidate *c)
{
	struct map index = MAP_INIT;
	int32_t id = joined_id(t, c->a, c->b);
	int rc = id < 0 || vec_push(&t->out->merges, ((struct train_merge){ .a = c->a, .b = c->b }));

	for (size_t i = 0; i < c->words.n && !rc; i++)
		rc = merge_word(t, &index, c->words.v[i], c->a, c->b, id);
	map_release(&index);
	return rc ? -1 : queue_fresh(t);
}

/* Merges until there are enough tokens or the best pair is too rare. */
static int learn(struct trainer *t, size_t tokens, int64_t min_count)
{
	while (t->out->tokens.n < tokens && t->heap.n) {
		struct candidate *c = heap_pop(t);
		const int64_t *now = pair_count(t, c->a, c->b);
		int rc = !now;

		if (now && *now != c->count) {          /* the count fell since it was queued */
			c->count = *now;
			if (!heap_push(t, c))
				continue;
			rc = -1;
		} else if (now && c->count < min_count) {
			candidate_free(c);
			break;
		} else if (now) {
			rc = apply(t, c);
		}
		candidate_free(c);
		if (rc)
			return -1;
	}
	return 0;
}

/* --- the whole ---------------------------------------------------------------------------------------- */

/* The 256 bytes in the order of their printable characters, as every such vocabulary has them. */
static int start_alphabet(struct trainer *t, int32_t id_of[256])
{
	struct tok_alphabet a;

	alphabet_init(&a);
	for (size_t cp = 0; cp < COUNT_OF(a.byte); cp++) {
		char byte = (char)a.byte[cp];
		struct map_entry *m;
		struct str s = { .n = 1 };

		if (a.byte[cp] < 0)
			continue;
		s.p = arena_strndup(&t->out->arena, &byte, 1);
		if (!s.p || !(m = map_put(&t->text, s)) || vec_push(&t->out->tokens, s))
			return -1;
		m->val.i64 = (int64_t)t->out->tokens.n;
		id_of[a.byte[cp]] = (int32_t)t->out->tokens.n - 1;
	}
	return 0;
}

/* Lays out all words as symbols, one per byte. */
static int start_words(struct trainer *t, const struct map *counts, const int32_t id_of[256])
{
	size_t total = 0, at = 0;

	for (size_t i = 0; i < counts->n; i++)
		total += counts->e[i].key.n;
	t->sym = mem_array(total ? total : 1, sizeof *t->sym);
	if (!t->sym)
		return -1;
	for (size_t i = 0; i < counts->n; i++) {
		const struct map_entry *m = &counts->e[i];

		if (vec_push(&t->words, ((struct word){ .at = at, .n = m->key.n, .count = m->val.i64 })))
			return -1;
		for (size_t k = 0; k < m->key.n; k++)
			t->sym[at++] = id_of[(unsigned char)m->key.p[k]];
	}
	return 0;
}

/* Candidates that are still queued are freed with the trainer. */
static void trainer_release(struct trainer *t)
{
	for (size_t i = 0; i < t->heap.n; i++)
		candidate_free(t->heap.v[i]);
	for (size_t i = 0; i < t->fresh.n; i++)
		candidate_free(t->fresh.v[i]);
	vec_free(&t->heap);
	vec_free(&t->fresh);
	vec_free(&t->words);
	mem_free(t->sym);
	mem_free(t->pairs.key);
	mem_free(t->pairs.count);
	map_release(&t->text);
}

/* Counts the files and learns `tokens` tokens. */
static int run(struct train_result *out, const struct tok_train *job, size_t tokens, struct err *e)
{
	struct trainer t = { .out = out };
	struct map counts = MAP_INIT;
	int32_t id_of[256];
	int rc = 0;

	for (size_t i = 0; i < job->nfiles && !rc; i++)
		rc = count_file(&counts, job->files[i], job, e);
	if (!rc && (pairs_resize(&t, 1 << 12) || start_alphabet(&t, id_of) || start_words(&t, &counts, id_of) ||
		    count_pairs(&t) || learn(&t, tokens, job->min_count ? job->min_count : 2)))
		rc = err_nomem(e);
	if (!rc && out->tokens.n < tokens)
		log_warn("tokenizer: the text gave only %zu of the %zu tokens asked for", out->tokens.n, tokens);
	map_release(&counts);
	trainer_release(&t);
	return rc;
}

/* See tok.h. Special tokens get the ids after the learned ones. */
int tok_train(const char *dir, const struct tok_train *job, struct err *e)
{
	struct train_result r = { .arena = ARENA_INIT };
	size_t specials = 0;
	int rc;

	while (job->specials && job->specials[specials])
		specials++;
	if (job->vocab < 0 || (size_t)job->vocab < 256 + specials)
		return err_set(e, ERR_RANGE,
			       "a vocabulary of %d tokens is too small: it must hold 256 bytes and %zu special tokens",
			       job->vocab, specials);
	if (job->digits != 1 && job->digits != 3)
		return err_set(e, ERR_RANGE, "the longest run of digits must be 1 or 3, not %d", job->digits);
	rc = run(&r, job, (size_t)job->vocab - specials, e);
	if (!rc)
		rc = tok_train_write(dir, job, &r, e);
	vec_free(&r.tokens);
	vec_free(&r.merges);
	arena_release(&r.arena);
	return rc;
}
