/* Encoding and decoding. Owns the way of a text through the parts: added tokens, normaliser,
 * words, merges. Invariant: the word cache never changes a result, only its cost. */
#include "tok/tok.h"

#include "base/hash.h"
#include "base/uni.h"
#include "base/utf8.h"
#include "tok/tok_impl.h"

/* --- words and their cache ------------------------------------------------------------------ */

/* The cache has 2^16 entries for words of at most 15 bytes that give at most 3 ids. */
enum { CACHE_BITS = 16, CACHE_IDS = 3, CACHE_WORD = 15 };

/* A word of at most 15 bytes, padded with zeros, its length in the last byte, and its ids. */
struct cached {
	uint64_t key[2];
	int32_t n;                   /* number of ids; 0: empty entry */
	int32_t id[CACHE_IDS];
};

/* An encoder: scratch memory and the cache. One per thread. */
struct tok_enc {
	const struct tok *t;
	struct bpe_work work;
	struct cached *cache;
	struct pre_pieces pieces, spare; /* pieces of the text; spare of pre_cut */
	pcre2_match_data *md;
	struct buf lossy, nfc, prefixed; /* the text made valid, normalised, with a space in front */
};

/* NULL if memory ran out. The tokenizer must outlive the encoder. */
struct tok_enc *tok_enc_new(const struct tok *t, struct err *e)
{
	struct tok_enc *x = mem_zalloc(sizeof *x);

	if (!x)
		goto fail;
	x->t = t;
	x->cache = mem_array((size_t)1 << CACHE_BITS, sizeof *x->cache);
	x->md = re_match_data();
	if (x->cache && x->md)
		return x;
fail:
	tok_enc_free(x);
	err_nomem(e);
	return NULL;
}

/* Accepts NULL and a half-built encoder. */
void tok_enc_free(struct tok_enc *x)
{
	if (!x)
		return;
	bpe_work_release(&x->work);
	mem_free(x->cache);
	pcre2_match_data_free(x->md);
	vec_free(&x->pieces);
	vec_free(&x->spare);
	buf_release(&x->lossy);
	buf_release(&x->nfc);
	buf_release(&x->prefixed);
	mem_free(x);
}

/* The cache key of the n < 16 bytes at p; `room` bytes may be read there. With 16 readable
 * bytes the key is two loads and a mask. */
static void load_key(uint64_t key[2], const unsigned char *p, size_t n, size_t room)
{
	unsigned char b[16] = { 0 };

	if (room >= 16) {
		memcpy(key, p, 16);
		if (n < 8) {
			key[0] &= ((uint64_t)1 << 8 * n) - 1;
			key[1] = 0;
		} else {
			key[1] &= ((uint64_t)1 << 8 * (n - 8)) - 1;
		}
	} else {
		memcpy(b, p, n);
		memcpy(key, b, 16);
	}
	key[1] |= (uint64_t)n << 56;
}

/* Appends the ids of a word, from the cache if it is there. A word has two entries; a new word
 * moves the older one to the second. */
static int add_word(struct tok_enc *x, const unsigned char *p, size_t n, size_t room, struct tok_ids *out)
{
	uint64_t key[2], h;
	struct cached *c, *second;
	size_t before = out->n;

	if (n > CACHE_WORD)
		return bpe_word(&x->t->bpe, &x->work, p, n, out);
	load_key(key, p, n, room);
	h = (key[0] ^ key[1] * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
	/* A word may be in entry i or in entry i ^ 1. */
	c = &x->cache[h >> (64 - CACHE_BITS)];
	if (c->key[0] != key[0] || c->key[1] != key[1] || !c->n) {
		second = &x->cache[(h >> (64 - CACHE_BITS)) ^ 1];
		if (second->key[0] == key[0] && second->key[1] == key[1] && second->n) {
			c = second;
		} else {
			if (bpe_word(&x->t->bpe, &x->work, p, n, out))
				return -1;
			n = out->n - before;
			if (n && n <= CACHE_IDS) {
				*second = *c;
				*c = (struct cached){ .key = { key[0], key[1] }, .n = (int32_t)n };
				memcpy(c->id, out->v + before, n * sizeof *c->id);
			}
			return 0;
		}
	}
	if (out->cap - out->n < CACHE_IDS && vec_grow(out, CACHE_IDS))
		return -1;
	memcpy(out->v + out->n, c->id, sizeof c->id);
	out->n += (size_t)c->n;
	return 0;
}

/* --- text between added tokens --------------------------------------------------------------- */

/* The common case: one stage with the pattern of Qwen2 and Llama 3. Words go straight to the
 * cache. */
static int encode_fast(struct tok_enc *x, struct str text, struct tok_ids *out, struct err *e)
{
	const unsigned char *p = (const unsigned char *)text.p;
	int digits = x->t->pre.stage[0].digits;

	for (size_t i = 0, end; i < text.n; i = end) {
		end = pre_llm_next(p, text.n, i, digits);
		if (add_word(x, p + i, end - i, text.n - i, out))
			return err_nomem(e);
	}
	return 0;
}

/* The general case: cut first, then encode each piece. */
static int encode_pieces(struct tok_enc *x, struct str text, struct tok_ids *out, struct err *e)
{
	if (pre_cut(&x->t->pre, text, &x->pieces, &x->spare, x->md, e))
		return -1;
	for (size_t i = 0; i < x->pieces.n; i++) {
		struct pre_piece w = x->pieces.v[i];

		if (add_word(x, (const unsigned char *)text.p + w.a, w.b - w.a, text.n - w.a, out))
			return err_nomem(e);
	}
	return 0;
}

/* Encodes text without added tokens. */
static int encode_words(struct tok_enc *x, struct str text, struct tok_ids *out, struct err *e)
{
	const struct pre *pre = &x->t->pre;

	if (!text.n)
		return 0;
	if (pre->prefix_space && text.p[0] != ' ') {
		buf_clear(&x->prefixed);
		buf_addc(&x->prefixed, ' ');
		buf_addstr(&x->prefixed, text);
		if (buf_check(&x->prefixed, e))
			return -1;
		text = buf_str(&x->prefixed);
	}
	if (pre->n == 1 && pre->stage[0].kind == PRE_LLM)
		return encode_fast(x, text, out, e);
	return encode_pieces(x, text, out, e);
}

/* Encodes the text between added tokens. */
typedef int rest_fn(struct tok_enc *x, struct str text, int plain, struct tok_ids *out, struct err *e);

/* Cuts `text` at the tokens of `set` and gives the text between them to `rest`. */
static int encode_around(struct tok_enc *x, const struct added_set *set, struct str text, int plain,
			 rest_fn *rest, struct tok_ids *out, struct err *e)
{
	size_t from = 0, scan = 0;
	struct added_match m;
	int found;

	while ((found = added_next(set, text, from, &scan, plain, &m)) > 0) {
		struct str gap = { .p = text.p + from, .n = m.a > from ? m.a - from : 0 };

		if (rest(x, gap, plain, out, e))
			return -1;
		if (vec_push(out, set->tokens[m.token].id))
			return err_nomem(e);
		from = m.b;
	}
	if (found < 0)
		return err_nomem(e);
	return rest(x, (struct str){ .p = text.p + from, .n = text.n - from }, plain, out, e);
}

/* The last step: text without any added token. */
static int rest_words(struct tok_enc *x, struct str text, int plain, struct tok_ids *out, struct err *e)
{
	(void)plain;
	return encode_words(x, text, out, e);
}

/* Normalises and looks for the tokens that match normalised text. */
static int rest_normalized(struct tok_enc *x, struct str text, int plain, struct tok_ids *out, struct err *e)
{
	if (x->t->nfc && uni_scan(text) & UNI_MAYBE_NOT_NFC) {
		buf_clear(&x->nfc);
		uni_nfc(text, &x->nfc);
		if (buf_check(&x->nfc, e))
			return -1;
		text = buf_str(&x->nfc);
	}
	return encode_around(x, &x->t->normalized, text, plain, rest_words, out, e);
}

/* Appends all of `more`. */
static int add_ids(struct tok_ids *out, const struct tok_ids *more, struct err *e)
{
	if (vec_grow(out, more->n))
		return err_nomem(e);
	if (more->n)
		memcpy(out->v + out->n, more->v, more->n * sizeof *more->v);
	out->n += more->n;
	return 0;
}

/* Invalid bytes become U+FFFD first; then raw tokens, normalised tokens, words. */
int tok_encode(struct tok_enc *x, struct str text, unsigned flags, struct tok_ids *out, struct err *e)
{
	if (uni_scan(text) & UNI_HAS_INVALID) {
		buf_clear(&x->lossy);
		uni_lossy(text, &x->lossy);
		if (buf_check(&x->lossy, e))
			return -1;
		text = buf_str(&x->lossy);
	}
	if (flags & TOK_ADD_SPECIAL && add_ids(out, &x->t->before, e))
		return -1;
	if (encode_around(x, &x->t->raw, text, (flags & TOK_PLAIN) != 0, rest_normalized, out, e))
		return -1;
	return flags & TOK_ADD_SPECIAL ? add_ids(out, &x->t->after, e) : 0;
}

/* --- decoding -------------------------------------------------------------------------------- */

struct str tok_bytes(const struct tok *t, int32_t id)
{
	return id >= 0 && id < t->count ? t->bytes[id] : STR("");
}

int tok_is_special(const struct tok *t, int32_t id)
{
	return id >= 0 && id < t->count && t->flags[id] & TOKF_SPECIAL;
}

/* The number of bytes at the end of p[0..n) that further bytes could complete to a character. */
static size_t incomplete_tail(const unsigned char *p, size_t n)
{
	for (size_t k = 1; k <= 3 && k <= n; k++) {
		unsigned char c = p[n - k];
		uint32_t cp;
		int bad;

		if (c < 0x80)
			return 0;
		if (c < 0xC0)
			continue;
		/* The lead byte: the bytes after it may still become a character if all of
		 * them fit. */
		return c >= 0xC2 && c <= 0xF4 && utf8_decode((const char *)p + n - k, k, &cp, &bad) == k && bad ? k : 0;
	}
	return 0;
}

/* Bytes of an incomplete character are held back until the next token. */
void tok_stream_add(struct tok_stream *s, int32_t id, struct buf *out)
{
	struct str b = tok_bytes(s->t, id);
	struct buf raw = BUF_INIT;

	if (s->skip_special && tok_is_special(s->t, id))
		return;
	if (!s->n && !(uni_scan(b) & UNI_HAS_INVALID)) {
		buf_addstr(out, b);
		return;
	}
	buf_add(&raw, s->held, s->n);
	buf_addstr(&raw, b);
	s->n = incomplete_tail((const unsigned char *)buf_cstr(&raw), raw.n);
	uni_lossy((struct str){ .p = buf_cstr(&raw), .n = raw.n - s->n }, out);
	memcpy(s->held, buf_cstr(&raw) + raw.n - s->n, s->n);
	out->failed |= raw.failed;
	buf_release(&raw);
}

/* Bytes that never became a character are shown as U+FFFD. */
void tok_stream_end(struct tok_stream *s, struct buf *out)
{
	uni_lossy((struct str){ .p = (const char *)s->held, .n = s->n }, out);
	s->n = 0;
}

/* Joins the bytes first: one character may be spread over several tokens. */
void tok_decode(const struct tok *t, const int32_t *ids, size_t n, int skip_special, struct buf *out)
{
	struct buf raw = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		if (!skip_special || !tok_is_special(t, ids[i]))
			buf_addstr(&raw, tok_bytes(t, ids[i]));
	if (uni_scan(buf_str(&raw)) & UNI_HAS_INVALID)
		uni_lossy(buf_str(&raw), out);
	else
		buf_addstr(out, buf_str(&raw));
	out->failed |= raw.failed;
	buf_release(&raw);
}

/* --- facts about a tokenizer ------------------------------------------------------------------- */

int32_t tok_count(const struct tok *t) { return t->count; }
int32_t tok_eos(const struct tok *t) { return t->names.eos; }

/* Returns the id of the token with this text in the file, or -1. */
int32_t tok_find(const struct tok *t, struct str token)
{
	const struct map_entry *m = map_get(&t->by_text, token);

	return m ? (int32_t)m->val.i64 : -1;
}

size_t tok_stops(const struct tok *t, const int32_t **ids)
{
	*ids = t->names.stops.v;
	return t->names.stops.n;
}
