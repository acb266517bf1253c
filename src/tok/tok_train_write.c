/* Writes a learned vocabulary as Hugging Face reads it: tokenizer.json and
 * tokenizer_config.json. The order of keys is that of Hugging Face's own files. */
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "tok/tok_impl.h"
#include "tok/tok_train.h"

/* The bytes of a token in the printable alphabet. */
static void printable(const struct tok_alphabet *a, struct str bytes, struct buf *out)
{
	char u[4];

	buf_clear(out);
	for (size_t i = 0; i < bytes.n; i++)
		buf_add(out, u, utf8_encode(a->cp[(unsigned char)bytes.p[i]], u));
}

/* One member of a JSON object. */
static void add_flag(struct jw *w, const char *key, int value)
{
	jw_key(w, key);
	jw_bool(w, value);
}

static void add_null(struct jw *w, const char *key)
{
	jw_key(w, key);
	jw_null(w);
}

static void add_text(struct jw *w, const char *key, const char *value)
{
	jw_key(w, key);
	jw_cstr(w, value);
}

/* The fields of a special token, the same in both files. */
static void special_fields(struct jw *w, const char *content)
{
	add_text(w, "content", content);
	add_flag(w, "single_word", 0);
	add_flag(w, "lstrip", 0);
	add_flag(w, "rstrip", 0);
	add_flag(w, "normalized", 0);
	add_flag(w, "special", 1);
}

/* The special tokens; `first` is the id of the first. */
static void added_tokens(struct jw *w, const struct tok_train *job, size_t first)
{
	jw_key(w, "added_tokens");
	jw_begin(w, '[');
	for (size_t i = 0; job->specials && job->specials[i]; i++) {
		jw_begin(w, '{');
		jw_key(w, "id");
		jw_int(w, (int64_t)(first + i));
		special_fields(w, job->specials[i]);
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

/* The ByteLevel object, used as pre-tokenizer, post-processor and decoder. */
static void byte_level(struct jw *w)
{
	add_text(w, "type", "ByteLevel");
	add_flag(w, "add_prefix_space", 0);
	add_flag(w, "trim_offsets", 0);
	add_flag(w, "use_regex", 0);
}

/* A character of a piece of code that is no number of its own. */
#define CODE "(?:[^\\n0-9]|(?<=[A-Za-z0-9_])[0-9])"

/* A Split by the pattern used in training, then ByteLevel. */
static void pre_tokenizer(struct jw *w, const struct tok_train *job)
{
	char pattern[256];

	if (job->pieces == TOK_LINES)
		snprintf(pattern, sizeof pattern, "[^\\n]*\\n|[^\\n]+");
	else if (job->pieces == TOK_CODE)
		snprintf(pattern, sizeof pattern, "(?<![A-Za-z0-9_])[0-9]+|" CODE "*\\n|" CODE "+");
	else
		snprintf(pattern, sizeof pattern, pre_llm_pattern, job->digits == 3 ? "{1,3}" : "");
	jw_key(w, "pre_tokenizer");
	jw_begin(w, '{');
	add_text(w, "type", "Sequence");
	jw_key(w, "pretokenizers");
	jw_begin(w, '[');
	jw_begin(w, '{');
	add_text(w, "type", "Split");
	jw_key(w, "pattern");
	jw_begin(w, '{');
	add_text(w, "Regex", pattern);
	jw_end(w, '}');
	add_text(w, "behavior", "Isolated");
	add_flag(w, "invert", 0);
	jw_end(w, '}');
	jw_begin(w, '{');
	byte_level(w);
	jw_end(w, '}');
	jw_end(w, ']');
	jw_end(w, '}');
}

/* Vocabulary and merges. */
static void model(struct jw *w, const struct tok_alphabet *a, const struct train_result *r)
{
	struct buf text = BUF_INIT;

	jw_key(w, "model");
	jw_begin(w, '{');
	add_text(w, "type", "BPE");
	add_null(w, "dropout");
	add_null(w, "unk_token");
	add_text(w, "continuing_subword_prefix", "");
	add_text(w, "end_of_word_suffix", "");
	add_flag(w, "fuse_unk", 0);
	add_flag(w, "byte_fallback", 0);
	add_flag(w, "ignore_merges", 0);
	jw_key(w, "vocab");
	jw_begin(w, '{');
	for (size_t i = 0; i < r->tokens.n; i++) {
		printable(a, r->tokens.v[i], &text);
		jw_keystr(w, buf_str(&text));
		jw_int(w, (int64_t)i);
	}
	jw_end(w, '}');
	jw_key(w, "merges");
	jw_begin(w, '[');
	for (size_t i = 0; i < r->merges.n; i++) {
		jw_begin(w, '[');
		printable(a, r->tokens.v[r->merges.v[i].a], &text);
		jw_str(w, buf_str(&text));
		printable(a, r->tokens.v[r->merges.v[i].b], &text);
		jw_str(w, buf_str(&text));
		jw_end(w, ']');
	}
	jw_end(w, ']');
	jw_end(w, '}');
	w->out->failed |= text.failed;
	buf_release(&text);
}

/* The whole tokenizer.json. */
static void tokenizer_json(struct jw *w, const struct tok_train *job, const struct train_result *r)
{
	struct tok_alphabet a;

	alphabet_init(&a);
	jw_begin(w, '{');
	add_text(w, "version", "1.0");
	add_null(w, "truncation");
	add_null(w, "padding");
	added_tokens(w, job, r->tokens.n);
	jw_key(w, "normalizer");
	jw_begin(w, '{');
	add_text(w, "type", "NFC");
	jw_end(w, '}');
	pre_tokenizer(w, job);
	jw_key(w, "post_processor");
	jw_begin(w, '{');
	byte_level(w);
	jw_end(w, '}');
	jw_key(w, "decoder");
	jw_begin(w, '{');
	byte_level(w);
	jw_end(w, '}');
	model(w, &a, r);
	jw_end(w, '}');
}

/* tokenizer_config.json. The first special token is end of text and padding. */
static void config_json(struct jw *w, const struct tok_train *job, size_t first)
{
	const char *end = job->specials ? job->specials[0] : NULL;
	char id[24];

	jw_begin(w, '{');
	jw_key(w, "added_tokens_decoder");
	jw_begin(w, '{');
	for (size_t i = 0; end && job->specials[i]; i++) {
		snprintf(id, sizeof id, "%zu", first + i);
		jw_key(w, id);
		jw_begin(w, '{');
		special_fields(w, job->specials[i]);
		jw_end(w, '}');
	}
	jw_end(w, '}');
	add_null(w, "bos_token");
	add_text(w, "eos_token", end);
	add_text(w, "pad_token", end);
	if (job->chat_template)
		add_text(w, "chat_template", job->chat_template);
	add_flag(w, "clean_up_tokenization_spaces", 0);
	add_text(w, "tokenizer_class", "PreTrainedTokenizerFast");
	jw_end(w, '}');
}

/* Writes DIR/NAME atomically and releases `text`. */
static int put_file(const char *dir, const char *name, struct buf *text, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc;

	buf_addc(text, '\n');
	rc = !path_join(&path, dir, name) ? err_nomem(e) : buf_check(text, e) ? -1 :
		file_replace(path.p, buf_str(text), e);
	buf_release(&path);
	buf_release(text);
	return rc;
}

/* Writes both files into `dir`, which is made if needed. */
int tok_train_write(const char *dir, const struct tok_train *job, const struct train_result *r, struct err *e)
{
	struct buf tokenizer = BUF_INIT, config = BUF_INIT;
	struct jw a = { .out = &tokenizer, .indent = 2 }, b = { .out = &config, .indent = 2 };
	int rc;

	if (file_mkdirs(dir, e))
		return -1;
	tokenizer_json(&a, job, r);
	config_json(&b, job, r->tokens.n);
	rc = put_file(dir, "tokenizer.json", &tokenizer, e) || put_file(dir, "tokenizer_config.json", &config, e);
	buf_release(&tokenizer);
	buf_release(&config);
	return rc ? -1 : 0;
}
