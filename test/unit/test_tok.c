/* The tokenizer without its oracle: laws that must hold for any text, and small goldens. (That
 * ids equal Hugging Face's is test/agree/agree_tok.py.) */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/uni.h"
#include "tok/tok_impl.h"

static char folder[] = "/tmp/test_tok_XXXXXX";
static const char *const specials[] = { "<|end|>", "<|start|>", NULL };

static const char sample[] =
	"import torch\n\nclass Model(nn.Module):\n    def forward(self, x):\n        return x * 2 + 10245\n"
	"The quick brown fox doesn't jump; it's \xC3\xA9t\xC3\xA9, \xE4\xB8\xAD\xE6\x96\x87 \xF0\x9F\x98\x80!\n";

static const char *path(const char *name)
{
	static char p[256];

	snprintf(p, sizeof p, "%s/%s", folder, name);
	return p;
}

static int train(const char *dir, int digits, struct err *e)
{
	char text[256], out[256];
	const char *files[] = { text };

	snprintf(text, sizeof text, "%s/text", folder);
	snprintf(out, sizeof out, "%s/%s", folder, dir);
	return tok_train(out, &(struct tok_train){ .files = files, .nfiles = 1, .vocab = 400, .specials = specials, .digits = digits }, e);
}

static int set_up(void **state)
{
	struct err e = ERR_INIT;
	struct buf text = BUF_INIT;
	int rc;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	for (int i = 0; i < 20; i++)
		buf_adds(&text, sample);
	rc = file_replace(path("text"), buf_str(&text), &e) || train("one", 1, &e) || train("three", 3, &e);
	buf_release(&text);
	return rc;
}

static int tear_down(void **state)
{
	(void)state;
	return file_remove_tree(folder, NULL);
}

static struct tok *open_tok(const char *name, struct tok_enc **x)
{
	struct err e = ERR_INIT;
	struct tok *t = tok_open(path(name), &e);

	if (!t)
		fail_msg("%s", e.text);
	*x = tok_enc_new(t, &e);
	assert_non_null(*x);
	return t;
}

static void random_text(struct rng *r, struct buf *b)
{
	static const char *const parts[] = { " ", "  ", "\n", "\r\n", "\t", "a", "Word", "don't", "'LL", "'\xC5\xBF", "123456", "+=", "()",
		"\xC3\xA9", "e\xCC\x81", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80", "\xC2\xA0", "\xE3\x80\x80", "\xFF", "\xE2\x82", "<|end|>", "<|", "\xD9\xA3", "\xE1\xA0\x8E" };
	size_t n = rng_below(r, 40);

	for (size_t i = 0; i < n; i++)
		buf_adds(b, parts[rng_below(r, COUNT_OF(parts))]);
}

static void test_round_trip(void **state)
{
	struct tok_enc *x;
	struct tok *t = open_tok("one", &x);
	struct rng r;
	struct err e = ERR_INIT;

	(void)state;
	rng_init(&r, 1, "test_tok");
	for (int i = 0; i < 2000; i++) {
		struct buf text = BUF_INIT, want = BUF_INIT, clean = BUF_INIT, got = BUF_INIT, streamed = BUF_INIT;
		struct tok_ids ids = TOK_IDS_INIT;
		struct tok_stream s = { .t = t };

		random_text(&r, &text);
		uni_lossy(buf_str(&text), &clean);
		uni_nfc(buf_str(&clean), &want);
		assert_int_equal(tok_encode(x, buf_str(&text), 0, &ids, &e), 0);
		tok_decode(t, ids.v, ids.n, 0, &got);
		assert_string_equal(buf_cstr(&got), buf_cstr(&want));
		for (size_t k = 0; k < ids.n; k++)
			tok_stream_add(&s, ids.v[k], &streamed);
		tok_stream_end(&s, &streamed);
		assert_string_equal(buf_cstr(&streamed), buf_cstr(&want));
		vec_free(&ids);
		buf_release(&text), buf_release(&want), buf_release(&clean), buf_release(&got), buf_release(&streamed);
	}
	tok_enc_free(x);
	tok_free(t);
}

/* The same tokenizer with its pattern written differently goes through PCRE2. */
static void test_fast_path_is_the_pattern(void **state)
{
	static const char *const names[] = { "one", "three" };

	(void)state;
	for (size_t k = 0; k < COUNT_OF(names); k++) {
		struct tok_enc *fast, *slow;
		struct tok *t = open_tok(names[k], &fast), *u;
		struct buf file = BUF_INIT, changed = BUF_INIT;
		struct err e = ERR_INIT;
		char name[32];
		ptrdiff_t at;
		struct rng r;

		snprintf(name, sizeof name, "%s/tokenizer.json", names[k]);
		assert_int_equal(file_read(path(name), 0, &file, &e), 0);
		at = str_find(buf_str(&file), STR("\"(?i:'s"));
		assert_true(at > 0);
		buf_add(&changed, file.p, (size_t)at + 1);
		buf_adds(&changed, "(?:)");
		buf_adds(&changed, file.p + at + 1);
		u = tok_parse(buf_str(&changed), &e);
		assert_non_null(u);
		slow = tok_enc_new(u, &e);
		rng_init(&r, 2, "test_tok");
		for (int i = 0; i < 3000; i++) {
			struct buf text = BUF_INIT;
			struct tok_ids a = TOK_IDS_INIT, b = TOK_IDS_INIT;

			random_text(&r, &text);
			assert_int_equal(tok_encode(fast, buf_str(&text), 0, &a, &e), 0);
			assert_int_equal(tok_encode(slow, buf_str(&text), 0, &b, &e), 0);
			if (a.n != b.n || (a.n && memcmp(a.v, b.v, a.n * sizeof *a.v)))
				fail_msg("cut differently: '%s'", buf_cstr(&text));
			vec_free(&a);
			vec_free(&b);
			buf_release(&text);
		}
		tok_enc_free(fast), tok_enc_free(slow);
		tok_free(t), tok_free(u);
		buf_release(&file), buf_release(&changed);
	}
}

static void test_special_tokens(void **state)
{
	struct tok_enc *x;
	struct tok *t = open_tok("one", &x);
	struct tok_ids a = TOK_IDS_INIT, b = TOK_IDS_INIT;
	const int32_t *stops;
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(tok_encode(x, STR("<|start|>x<|end|>"), 0, &a, &e), 0);
	assert_int_equal(a.n, 3);
	assert_int_equal(a.v[0], tok_find(t, STR("<|start|>")));
	assert_true(tok_is_special(t, a.v[2]));
	assert_int_equal(a.v[2], tok_eos(t));
	assert_int_equal(tok_stops(t, &stops), 1);
	assert_int_equal(stops[0], tok_eos(t));
	tok_decode(t, a.v, a.n, 1, &text);
	assert_string_equal(buf_cstr(&text), "x");
	assert_int_equal(tok_encode(x, STR("<|start|>x<|end|>"), TOK_PLAIN, &b, &e), 0);
	assert_true(b.n > 3);
	for (size_t i = 0; i < b.n; i++)
		assert_false(tok_is_special(t, b.v[i]));
	vec_free(&a);
	vec_free(&b);
	buf_release(&text);
	tok_enc_free(x);
	tok_free(t);
}

/* The definition, word for word: join the pair of lowest rank, the leftmost of equals. */
static size_t reference_merge(const struct bpe *b, int32_t *sym, size_t n)
{
	for (;;) {
		uint64_t best = BPE_NO_MERGE;
		size_t at = 0;

		for (size_t i = 0; i + 1 < n; i++)
			if (bpe_pair(b, sym[i], sym[i + 1]) < best) {
				best = bpe_pair(b, sym[i], sym[i + 1]);
				at = i;
			}
		if (best == BPE_NO_MERGE)
			return n;
		sym[at] = (int32_t)(uint32_t)best;
		memmove(sym + at + 1, sym + at + 2, (n - at - 2) * sizeof *sym);
		n--;
	}
}

/* Short words are merged by scanning, long ones with a heap: both are the definition. */
static void test_merges(void **state)
{
	struct bpe b = { .unk = BPE_NONE };
	struct bpe_work work = { .cap = 0 };
	struct err e = ERR_INIT;
	struct rng r;

	(void)state;
	rng_init(&r, 3, "test_tok");
	assert_int_equal(bpe_init(&b, 200, &e), 0);
	for (int i = 0; i < 256; i++)
		b.first[i][0] = i, b.first[i][1] = BPE_NONE;
	for (int i = 0; i < 200; i++)      /* over four letters and what they make */
		bpe_add(&b, (int32_t)rng_below(&r, 4 + (uint64_t)i / 3), (int32_t)rng_below(&r, 4 + (uint64_t)i / 3),
			(uint32_t)rng_below(&r, 1000) * 200 + (uint32_t)i, 4 + i / 3);
	for (int i = 0; i < 500; i++) {
		unsigned char word[400];
		int32_t want[400];
		size_t n = 1 + rng_below(&r, 400), k;
		struct tok_ids got = TOK_IDS_INIT;

		for (k = 0; k < n; k++)
			want[k] = word[k] = (unsigned char)rng_below(&r, 4);
		assert_int_equal(bpe_word(&b, &work, word, n, &got), 0);
		k = reference_merge(&b, want, n);
		assert_int_equal(got.n, k);
		assert_memory_equal(got.v, want, k * sizeof *want);
		vec_free(&got);
	}
	bpe_work_release(&work);
	bpe_release(&b);
}

static void test_nfc(void **state)
{
	static const struct { const char *from, *to; } cases[] = {
		{ "e\xCC\x81", "\xC3\xA9" },                                  /* e + acute */
		{ "a\xCC\x81\xCC\xA3", "\xE1\xBA\xA1\xCC\x81" },              /* marks reordered, one joined */
		{ "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", "\xEA\xB0\x81" },   /* Hangul */
		{ "\xE2\x84\xAB", "\xC3\x85" },                               /* angstrom sign */
		{ "\xE0\xA5\x98", "\xE0\xA4\x95\xE0\xA4\xBC" },               /* excluded from composition */
		{ "\xCC\x81x", "\xCC\x81x" }, { "plain", "plain" }, { "", "" },
		{ "\xEF\xA4\x80", "\xE8\xB1\x88" },                           /* compatibility ideograph */
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf b = BUF_INIT;

		uni_nfc(str_of(cases[i].from), &b);
		assert_string_equal(buf_cstr(&b), cases[i].to);
		buf_release(&b);
	}
}

static void test_refused_files(void **state)
{
	static const struct { const char *json, *why; } cases[] = {
		{ "{}", "only BPE" },
		{ "{\"model\": {\"type\": \"Unigram\", \"vocab\": {}}}", "Unigram" },
		{ "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": -1}}}", "no valid id" },
		{ "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 99999999999}}}", "no valid id" },
		{ "{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": [\"a b\"]}}", "not in the vocabulary" },
		{ "{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": [\"a\"]}}", "not a pair" },
		{ "{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": [], \"dropout\": 0.5}}", "dropout" },
		{ "{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": []}, \"pre_tokenizer\": {\"type\": \"Metaspace\"}}", "Metaspace" },
		{ "{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": []}, \"normalizer\": {\"type\": \"NFKD\"}, \"pre_tokenizer\": {\"type\": \"ByteLevel\"}}", "NFKD" },
		{ "{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": []}, \"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"(\"}, \"behavior\": \"Isolated\"}}", "pattern '('" },
		{ "{\"model\": {\"vocab\": {\"a\": 0}, \"merges\": []}, \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": []}}", "byte-level" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct err e = ERR_INIT;

		assert_null(tok_parse(str_of(cases[i].json), &e));
		assert_contains(e.text, cases[i].why);
	}
}

static void test_training_is_deterministic(void **state)
{
	struct buf a = BUF_INIT, b = BUF_INIT;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(train("again", 1, &e), 0);
	assert_int_equal(file_read(path("one/tokenizer.json"), 0, &a, &e), 0);
	assert_int_equal(file_read(path("again/tokenizer.json"), 0, &b, &e), 0);
	assert_true(str_eq(buf_str(&a), buf_str(&b)));
	assert_int_equal(tok_train(path("bad"), &(struct tok_train){ .vocab = 100, .digits = 1 }, &e), -1);
	assert_contains(e.text, "too small");
	buf_release(&a);
	buf_release(&b);
}

/* Pieces of code: a number that stands alone is the same tokens behind a blank, a bracket and a line break; the
 * digit of a name may be in a token with the name. */
static void test_numbers_stand_alone(void **state)
{
	const char *files[] = { path("text") }, *texts[] = { " 10245", "(10245", "\n10245" };
	char text[256], out[256];
	struct tok_ids first = TOK_IDS_INIT;
	struct err e = ERR_INIT;
	struct tok_enc *x;
	struct tok *t;

	(void)state;
	snprintf(text, sizeof text, "%s", path("text"));
	snprintf(out, sizeof out, "%s", path("code"));
	files[0] = text;
	assert_int_equal(tok_train(out, &(struct tok_train){ .files = files, .nfiles = 1, .vocab = 400, .specials = specials,
							     .digits = 1, .pieces = TOK_CODE }, &e), 0);
	t = tok_open(out, &e);
	assert_non_null(t);
	x = tok_enc_new(t, &e);
	assert_non_null(x);
	for (int i = 0; i < 3; i++) {
		struct tok_ids got = TOK_IDS_INIT;

		assert_int_equal(tok_encode(x, str_of(texts[i]), TOK_PLAIN, &got, &e), 0);
		if (!i) {
			first = got;
			continue;
		}
		assert_true(got.n == first.n && got.n >= 2);
		assert_memory_equal(got.v + 1, first.v + 1, (first.n - 1) * sizeof *first.v);
		mem_free(got.v);
	}
	mem_free(first.v);
	tok_enc_free(x);
	tok_free(t);
}

/* A line of 100,000 characters, more than the stack of PCRE2's machine code holds, is encoded like any other. */
static void test_long_line(void **state)
{
	struct tok_ids ids = TOK_IDS_INIT;
	struct buf text = BUF_INIT, back = BUF_INIT;
	struct err e = ERR_INIT;
	struct tok_enc *x;
	struct tok *t;

	(void)state;
	t = open_tok("code", &x);       /* made by test_numbers_stand_alone: its pattern takes whole lines */
	for (int i = 0; i < 10000; i++)
		buf_adds(&text, "return x2;");
	buf_adds(&text, "\n");
	if (tok_encode(x, buf_str(&text), TOK_PLAIN, &ids, &e))
		fail_msg("%s", e.text);
	tok_decode(t, ids.v, ids.n, 0, &back);
	assert_true(str_eq(buf_str(&text), buf_str(&back)));
	mem_free(ids.v);
	buf_release(&text);
	buf_release(&back);
	tok_enc_free(x);
	tok_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_fast_path_is_the_pattern),
		cmocka_unit_test(test_special_tokens),
		cmocka_unit_test(test_merges),
		cmocka_unit_test(test_nfc),
		cmocka_unit_test(test_refused_files),
		cmocka_unit_test(test_training_is_deterministic),
		cmocka_unit_test(test_numbers_stand_alone),
		cmocka_unit_test(test_long_line),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
