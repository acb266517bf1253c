/* From tokenizer.json to a tokenizer. Owns the checks on the file. Invariant: after tok_parse
 * every id in the tables is below `count`, and every merge names tokens that exist. Settings of
 * the file that would change results and are not implemented are errors. */
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/uni.h"
#include "base/utf8.h"
#include "tok/tok_impl.h"

enum { TOK_ID_MAX = 1 << 24 }; /* a limit against broken files */

/* --- the byte alphabet ------------------------------------------------------------------------
 *
 * GPT-2's alphabet: each byte is written as one printable character. Printable bytes of Latin-1
 * represent themselves, the other 68 become the code points from 256 on: a space is U+0120. */

/* Fills both directions of the table. */
void alphabet_init(struct tok_alphabet *a)
{
	int extra = 0;

	memset(a->byte, 0xFF, sizeof a->byte);
	for (int b = 0; b < 256; b++) {
		int printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;

		a->cp[b] = (uint16_t)(printable ? b : 256 + extra++);
		a->byte[a->cp[b]] = (int16_t)b;
	}
}

/* See tok_impl.h. On failure nothing is appended. */
int alphabet_decode(const struct tok_alphabet *a, struct str text, struct buf *out)
{
	size_t start = out->n;

	for (size_t i = 0; i < text.n;) {
		uint32_t cp;
		size_t k = utf8_decode(text.p + i, text.n - i, &cp, NULL);

		if (cp >= COUNT_OF(a->byte) || a->byte[cp] < 0) {
			out->n = start;
			return -1;
		}
		buf_addc(out, (char)a->byte[cp]);
		i += k;
	}
	return 0;
}

/* --- vocabulary ------------------------------------------------------------------------------- */

/* Enters a token under its text and stores the bytes it represents. A text outside of the alphabet
 * (an added token) represents itself. `work` is scratch memory. */
static int put_token(struct tok *t, struct str text, int64_t id, struct buf *work, struct err *e)
{
	struct map_entry *m;
	struct str b;

	if (id < 0 || id >= t->count)
		return err_set(e, ERR_FORMAT, "token '%.*s' has the id %lld, which is out of range",
			       STR_ARG(text), (long long)id);
	m = map_put(&t->by_text, text);
	buf_clear(work);
	b = alphabet_decode(&t->alphabet, text, work) ? text : buf_str(work);
	t->bytes[id] = (struct str){ .p = arena_strndup(&t->arena, b.p, b.n), .n = b.n };
	if (!m || !t->bytes[id].p || work->failed)
		return err_nomem(e);
	m->val.i64 = id;
	t->flags[id] |= TOKF_EXISTS;
	return 0;
}

/* Sets t->count to the highest id of the file plus one, and allocates the tables by id. */
static int count_ids(struct tok *t, const struct json *vocab, const struct json *added, struct err *e)
{
	int64_t top = -1, id;

	for (size_t i = 0; i < json_count(vocab); i++) {
		const char *key;

		id = json_int(json_member(vocab, i, &key), -1);
		if (id < 0 || id >= TOK_ID_MAX)
			return err_set(e, ERR_FORMAT, "token '%s' has no valid id", key);
		top = MAX(top, id);
	}
	for (size_t i = 0; added && i < json_count(added); i++) {
		if (json_need_int(json_at(added, i), "id", &id, e))
			return err_wrap(e, "added token %zu", i);
		if (id < 0 || id >= TOK_ID_MAX)
			return err_set(e, ERR_FORMAT,
				       "added token %zu has the id %lld, which is out of range", i, (long long)id);
		top = MAX(top, id);
	}
	t->count = (int32_t)(top + 1);
	t->bytes = arena_array(&t->arena, (size_t)t->count + 1, sizeof *t->bytes);
	t->flags = arena_array(&t->arena, (size_t)t->count + 1, sizeof *t->flags);
	if (!t->bytes || !t->flags)
		return err_nomem(e);
	for (int32_t i = 0; i < t->count; i++)
		t->bytes[i] = STR("");
	return 0;
}

/* Enters all tokens of the vocabulary. */
static int parse_vocab(struct tok *t, const struct json *vocab, struct err *e)
{
	struct buf work = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < json_count(vocab) && !rc; i++) {
		const char *key;
		int64_t id = json_int(json_member(vocab, i, &key), -1);

		rc = put_token(t, str_of(key), id, &work, e);
	}
	buf_release(&work);
	return rc;
}

/* --- merges ------------------------------------------------------------------------------------ */

/* The two parts of a merge, written as "a b" or ["a", "b"]. */
static int merge_parts(const struct json *j, struct str *a, struct str *b)
{
	if (json_kind(j) == JSON_STRING) {
		*b = json_str(j, "");
		if (!memchr(b->p, ' ', b->n))
			return -1;
		*a = str_cut(b, ' ');
		return 0;
	}
	if (json_kind(j) != JSON_ARRAY || json_count(j) != 2)
		return -1;
	*a = json_str(json_at(j, 0), "");
	*b = json_str(json_at(j, 1), "");
	return 0;
}

/* Fills the merge table. The rank of a merge is its index in the file. */
static int parse_merges(struct tok *t, const struct json *merges, struct err *e)
{
	struct buf joined = BUF_INIT;
	size_t n = merges ? json_count(merges) : 0;
	int rc = bpe_init(&t->bpe, n, e);

	for (size_t i = 0; i < n && !rc; i++) {
		struct str a, b;
		int32_t left, right, id;

		if (merge_parts(json_at(merges, i), &a, &b)) {
			rc = err_set(e, ERR_FORMAT, "merge %zu is not a pair of tokens", i);
			break;
		}
		buf_clear(&joined);
		buf_addstr(&joined, a);
		buf_addstr(&joined, b);
		left = tok_find(t, a);
		right = tok_find(t, b);
		id = tok_find(t, buf_str(&joined));
		if (joined.failed)
			rc = err_nomem(e);
		else if (left < 0 || right < 0 || id < 0)
			rc = err_set(e, ERR_FORMAT,
				     "merge %zu ('%.*s' '%.*s') names a token that is not in the vocabulary",
				     i, STR_ARG(a), STR_ARG(b));
		else
			bpe_add(&t->bpe, left, right, (uint32_t)i, id);
	}
	buf_release(&joined);
	return rc;
}

/* The token "<0xE2>" of a byte, or -1. */
static int32_t fallback_token(const struct tok *t, char byte)
{
	char name[8];

	snprintf(name, sizeof name, "<0x%02X>", (unsigned char)byte);
	return tok_find(t, str_of(name));
}

/* The symbols that each byte starts as: its own token, with byte_fallback the tokens of its
 * character's UTF-8 bytes, else unknown. */
static void first_symbols(struct tok *t, int byte_fallback)
{
	for (int b = 0; b < 256; b++) {
		char u[4];
		size_t n = utf8_encode(t->alphabet.cp[b], u);
		int32_t *first = t->bpe.first[b], own = tok_find(t, (struct str){ .p = u, .n = n });

		first[0] = own;
		first[1] = BPE_NONE;
		if (own < 0 && byte_fallback) {
			first[0] = fallback_token(t, u[0]);
			first[1] = n == 2 ? fallback_token(t, u[1]) : BPE_NONE;
			if (n == 2 && first[1] < 0)      /* both or none */
				first[0] = BPE_NONE;
		}
		t->bpe.is_unk[b] = first[0] < 0;
	}
}

/* The table of all tokens by their bytes, for ignore_merges. */
static int whole_words(struct tok *t, struct err *e)
{
	struct buf work = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < t->by_text.n && !rc; i++) {
		const struct map_entry *v = &t->by_text.e[i];
		struct map_entry *m;

		buf_clear(&work);
		if (alphabet_decode(&t->alphabet, v->key, &work))
			continue;
		if (work.failed || !(m = map_put(&t->bpe.whole, buf_str(&work))))
			rc = err_nomem(e);
		else
			m->val.i64 = v->val.i64;
	}
	buf_release(&work);
	return rc;
}

/* Does the file give the setting a value that matters? null, "" and 0.0 do not. */
static int is_set(const struct json *j)
{
	return j && json_kind(j) != JSON_NULL && !(json_kind(j) == JSON_STRING && !json_str(j, "").n) &&
		!(json_kind(j) == JSON_REAL && json_real(j, 0) == 0);
}

/* The "model" object: vocabulary, merges and options. */
static int parse_model(struct tok *t, const struct json *model, struct err *e)
{
	static const char *const refused[] = { "dropout", "continuing_subword_prefix", "end_of_word_suffix" };
	const struct json *vocab = json_get(model, "vocab"), *unk = json_get(model, "unk_token");

	for (size_t i = 0; i < COUNT_OF(refused); i++)
		if (is_set(json_get(model, refused[i])))
			return err_set(e, ERR_UNSUPPORTED, "tokenizers with '%s' are not supported", refused[i]);
	if (parse_vocab(t, vocab, e) || parse_merges(t, json_get(model, "merges"), e))
		return -1;
	t->bpe.unk = unk && json_kind(unk) == JSON_STRING ? tok_find(t, json_str(unk, "")) : BPE_NONE;
	t->bpe.fuse_unk = json_bool(json_get(model, "fuse_unk"), 0);
	t->bpe.ignore_merges = json_bool(json_get(model, "ignore_merges"), 0);
	first_symbols(t, json_bool(json_get(model, "byte_fallback"), 0));
	return t->bpe.ignore_merges ? whole_words(t, e) : 0;
}

/* --- added tokens -------------------------------------------------------------------------------- */

/* The added tokens. If the vocabulary has the text already, its id counts. */
static int parse_added(struct tok *t, const struct json *list, struct err *e)
{
	struct buf work = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; list && i < json_count(list) && !rc; i++) {
		const struct json *j = json_at(list, i);
		struct str content;
		int64_t id = -1;
		struct added a = {
			.single_word = (unsigned char)json_bool(json_get(j, "single_word"), 0),
			.lstrip = (unsigned char)json_bool(json_get(j, "lstrip"), 0),
			.rstrip = (unsigned char)json_bool(json_get(j, "rstrip"), 0),
			.normalized = (unsigned char)json_bool(json_get(j, "normalized"), 0),
			.special = (unsigned char)json_bool(json_get(j, "special"), 0),
		};

		if (json_need_str(j, "content", &content, e) || json_need_int(j, "id", &id, e)) {
			rc = err_wrap(e, "added token %zu", i);
			break;
		}
		a.id = tok_find(t, content);         /* the id of the vocabulary wins */
		a.content = (struct str){ .p = arena_strndup(&t->arena, content.p, content.n), .n = content.n };
		if (a.id < 0) {
			a.id = (int32_t)id;
			rc = put_token(t, content, id, &work, e);
		}
		if (!rc && (!a.content.p || vec_push(&t->added, a)))
			rc = err_nomem(e);
		if (!rc)
			t->flags[a.id] |= (unsigned char)(TOKF_ADDED | (a.special ? TOKF_SPECIAL : 0));
	}
	buf_release(&work);
	return rc;
}

/* Two sets: tokens found in the raw text, and tokens found after normalisation, whose texts are
 * normalised as well. */
static int build_added_sets(struct tok *t, struct err *e)
{
	struct buf norm = BUF_INIT;
	int rc = 0;

	added_set_init(&t->raw, t->added.v);
	added_set_init(&t->normalized, t->added.v);
	for (size_t i = 0; i < t->added.n && !rc; i++) {
		const struct added *a = &t->added.v[i];
		struct str text = a->content;

		if (a->normalized && t->nfc) {
			buf_clear(&norm);
			uni_nfc(text, &norm);
			text = buf_str(&norm);
		}
		rc = norm.failed || added_set_add(a->normalized ? &t->normalized : &t->raw, text, (int32_t)i) ?
			err_nomem(e) : 0;
	}
	buf_release(&norm);
	return rc;
}

/* --- normaliser, post-processor ------------------------------------------------------------------- */

/* Nothing, NFC, or a sequence of these. */
static int parse_normalizer(struct tok *t, const struct json *j, struct err *e)
{
	struct str type;

	if (!j || json_kind(j) == JSON_NULL)
		return 0;
	type = json_str(json_get(j, "type"), "");
	if (str_is(type, "Sequence")) {
		const struct json *list = json_get(j, "normalizers");

		for (size_t i = 0; list && i < json_count(list); i++)
			if (parse_normalizer(t, json_at(list, i), e))
				return -1;
		return 0;
	}
	if (!str_is(type, "NFC"))
		return err_set(e, ERR_UNSUPPORTED, "normalizer '%.*s' is not supported", STR_ARG(type));
	t->nfc = 1;
	return 0;
}

/* The tokens that the post-processor adds, in front of the text and after it:
 * [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}, ...] */
static int parse_template(struct tok *t, const struct json *j, struct err *e)
{
	const struct json *single = json_get(j, "single"), *specials = json_get(j, "special_tokens");
	struct tok_ids *side = &t->before;

	for (size_t i = 0; single && i < json_count(single); i++) {
		const struct json *item = json_at(single, i), *special = json_get(item, "SpecialToken"), *ids;
		struct str name = json_str(special ? json_get(special, "id") : NULL, "");
		char key[256];

		if (json_get(item, "Sequence")) {
			side = &t->after;
			continue;
		}
		snprintf(key, sizeof key, "%.*s", STR_ARG(name));
		ids = specials ? json_get(specials, key) : NULL;
		ids = ids ? json_get(ids, "ids") : NULL;
		if (!ids)
			return err_set(e, ERR_FORMAT, "post-processor: no ids for special token '%s'", key);
		for (size_t k = 0; k < json_count(ids); k++) {
			int64_t id = json_int(json_at(ids, k), -1);

			if (id < 0 || id >= t->count)
				return err_set(e, ERR_FORMAT,
					       "post-processor: id of special token '%s' is out of range", key);
			if (vec_push(side, (int32_t)id))
				return err_nomem(e);
		}
	}
	return 0;
}

/* TemplateProcessing adds tokens; ByteLevel only affects offsets, which are not offered here. */
static int parse_post(struct tok *t, const struct json *j, struct err *e)
{
	struct str type;

	if (!j || json_kind(j) == JSON_NULL)
		return 0;
	type = json_str(json_get(j, "type"), "");
	if (str_is(type, "Sequence")) {
		const struct json *list = json_get(j, "processors");

		for (size_t i = 0; list && i < json_count(list); i++)
			if (parse_post(t, json_at(list, i), e))
				return -1;
		return 0;
	}
	if (str_is(type, "TemplateProcessing"))
		return parse_template(t, j, e);
	return str_is(type, "ByteLevel") ? 0 :
		err_set(e, ERR_UNSUPPORTED, "post-processor '%.*s' is not supported", STR_ARG(type));
}

/* --- the whole ------------------------------------------------------------------------------------- */

/* The whole file. The order matters: added tokens need the vocabulary, their sets the
 * normaliser. */
static int parse_root(struct tok *t, const struct json *root, struct err *e)
{
	const struct json *model = json_kind(root) == JSON_OBJECT ? json_get(root, "model") : NULL;
	const struct json *vocab = model && json_kind(model) == JSON_OBJECT ? json_get(model, "vocab") : NULL;
	const struct json *added = json_get(root, "added_tokens"), *pre = json_get(root, "pre_tokenizer");
	struct str type = json_str(model ? json_get(model, "type") : NULL, "BPE");

	if (!vocab || json_kind(vocab) != JSON_OBJECT || !str_is(type, "BPE"))
		return err_set(e, ERR_UNSUPPORTED,
			       "only BPE tokenizers are supported (\"model\" has type '%.*s')", STR_ARG(type));
	if (is_set(json_get(root, "truncation")))
		log_warn("tokenizer: the truncation setting of the file is ignored");
	if (count_ids(t, vocab, added, e) || parse_model(t, model, e) || parse_added(t, added, e) ||
	    parse_normalizer(t, json_get(root, "normalizer"), e) || build_added_sets(t, e) ||
	    pre_parse(&t->pre, pre, e) || parse_post(t, json_get(root, "post_processor"), e))
		return -1;
	return t->pre.byte_level ? 0 : err_set(e, ERR_UNSUPPORTED, "only byte-level tokenizers are supported");
}

/* See tok.h. NULL on error. */
struct tok *tok_parse(struct str text, struct err *e)
{
	struct tok *t = mem_zalloc(sizeof *t);
	struct json *root = NULL;

	if (!t) {
		err_nomem(e);
		return NULL;
	}
	t->names = (struct tok_names){ .bos = -1, .eos = -1, .pad = -1 };
	alphabet_init(&t->alphabet);
	root = json_parse(text, e);
	if (!root || parse_root(t, root, e)) {
		tok_free(t);
		t = NULL;
	}
	json_free(root);
	return t;
}

/* A file, or a folder with its configuration files. */
struct tok *tok_open(const char *path, struct err *e)
{
	struct buf file = BUF_INIT, text = BUF_INIT;
	int dir = file_is_dir(path);
	struct tok *t = NULL;

	if (dir)
		path_join(&file, path, "tokenizer.json");
	else
		buf_adds(&file, path);
	if (!buf_check(&file, e) && !file_read(file.p, 0, &text, e)) {
		t = tok_parse(buf_str(&text), e);
		if (!t)
			err_wrap(e, "'%s'", file.p);
	}
	if (t && dir && tok_load_config(t, path, e)) {
		tok_free(t);
		t = NULL;
	}
	buf_release(&file);
	buf_release(&text);
	return t;
}

/* Everything with an id lives in the arena; the rest is freed one by one. */
void tok_free(struct tok *t)
{
	if (!t)
		return;
	bpe_release(&t->bpe);
	pre_release(&t->pre);
	added_set_release(&t->raw);
	added_set_release(&t->normalized);
	vec_free(&t->added);
	vec_free(&t->before);
	vec_free(&t->after);
	vec_free(&t->names.stops);
	map_release(&t->by_text);
	mem_free(t->chat_template);
	mem_free(t->bos_text);
	mem_free(t->eos_text);
	arena_release(&t->arena);
	mem_free(t);
}
