/* A tokenizer.json and a text from anywhere, a NUL between them; without a NUL all is text for
 * a byte tokenizer with a few merges. Ids are in range and decoding gives valid UTF-8. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/uni.h"
#include "tok/tok.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char small[] =
	"{\"normalizer\": {\"type\": \"NFC\"}, \"added_tokens\": [{\"id\": 9, \"content\": \"<x>\", \"special\": true, \"lstrip\": true, \"rstrip\": true}],"
	"\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": {\"Regex\": "
	"\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"},"
	"\"behavior\": \"Isolated\"}, {\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": false}]},"
	"\"model\": {\"type\": \"BPE\", \"unk_token\": \"b\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2, \"aba\": 3, \"\xC4\xA0\": 4, \"\xC4\xA0"
	"a\": 5}, \"merges\": [\"a b\", \"ab a\", \"\xC4\xA0 a\"]}}";

static void check(const struct tok *t, struct tok_enc *x, struct str text)
{
	struct err e = ERR_INIT;
	struct tok_ids ids = TOK_IDS_INIT;
	struct buf all = BUF_INIT, parts = BUF_INIT;
	struct tok_stream s = { .t = t };

	if (x && !tok_encode(x, text, TOK_ADD_SPECIAL, &ids, &e)) {
		for (size_t i = 0; i < ids.n; i++) {
			BUG_ON(ids.v[i] < 0 || ids.v[i] >= tok_count(t));
			tok_stream_add(&s, ids.v[i], &parts);
		}
		tok_stream_end(&s, &parts);
		tok_decode(t, ids.v, ids.n, 0, &all);
		BUG_ON(!str_eq(buf_str(&all), buf_str(&parts)));
		BUG_ON(uni_scan(buf_str(&all)) & UNI_HAS_INVALID);
	}
	vec_free(&ids);
	buf_release(&all);
	buf_release(&parts);
}

/* The byte tokenizer is made once. */
static void check_small(struct str text)
{
	static struct tok *t;
	static struct tok_enc *x;
	struct err e = ERR_INIT;

	if (!t) {
		t = tok_parse(str_of(small), &e);
		x = t ? tok_enc_new(t, &e) : NULL;
		BUG_ON(!x);
	}
	check(t, x, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *nul = n ? memchr(data, 0, n) : NULL;
	size_t head = nul ? (size_t)(nul - data) : 0;
	struct err e = ERR_INIT;
	struct tok_enc *x;
	struct tok *t;

	log_set_level(LOG_OFF);
	if (!nul) {
		check_small((struct str){ .p = (const char *)data, .n = n });
		return 0;
	}
	t = tok_parse((struct str){ .p = (const char *)data, .n = head }, &e);
	BUG_ON(!t && e.code == ERR_NONE);
	x = t ? tok_enc_new(t, &e) : NULL;
	if (x)
		check(t, x, (struct str){ .p = (const char *)nul + 1, .n = n - head - 1 });
	tok_enc_free(x);
	tok_free(t);
	return 0;
}
