/* Tokenizers: Hugging Face tokenizer.json with byte-level BPE (Qwen2, Qwen3, Llama 3).
 *
 * A `struct tok` is immutable once opened and may be shared by threads. Encoding needs a `struct
 * tok_enc`, one per thread: scratch memory and a cache of words. Neither affects the result. Ids
 * are those that Hugging Face `tokenizers` gives for the same file and text. Ill-formed UTF-8
 * counts as U+FFFD.
 *
 *     struct tok *t = tok_open("models/base", &e);
 *     struct tok_enc *x = tok_enc_new(t, &e);
 *     struct tok_ids ids = TOK_IDS_INIT;
 *     tok_encode(x, STR("hello"), TOK_ADD_SPECIAL, &ids, &e); */
#ifndef TOK_TOK_H
#define TOK_TOK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct tok;
struct tok_enc;

struct tok_ids {
	int32_t *v;
	size_t n, cap;
};
#define TOK_IDS_INIT { .v = NULL }

/* Opens a tokenizer.json, or a folder with one and perhaps tokenizer_config.json,
 * generation_config.json and chat_template.jinja. NULL on error. */
struct tok *tok_open(const char *path, struct err *e);
/* Makes a tokenizer from the text of a tokenizer.json, without the other files of its folder. */
struct tok *tok_parse(struct str json, struct err *e);
void tok_free(struct tok *t);

int32_t tok_count(const struct tok *t);                    /* every id is below this */
int32_t tok_find(const struct tok *t, struct str token);   /* id of a token's text; -1: none */
/* The bytes that a token represents; "" for an id that does not exist. */
struct str tok_bytes(const struct tok *t, int32_t id);
int tok_is_special(const struct tok *t, int32_t id);
/* From tokenizer_config.json; -1: none. */
int32_t tok_eos(const struct tok *t);
/* Every id that ends an answer: eos, the list of generation_config.json, and the end-of-turn
 * tokens of known model families. Borrowed. */
size_t tok_stops(const struct tok *t, const int32_t **ids);

enum tok_flags {
	TOK_ADD_SPECIAL = 1,   /* add the post-processor's tokens (Llama 3's begin of text) */
	TOK_PLAIN = 2,         /* special tokens in the text are ordinary text */
};

struct tok_enc *tok_enc_new(const struct tok *t, struct err *e);
void tok_enc_free(struct tok_enc *x);
/* Appends the ids of `text` to `out`. */
int tok_encode(struct tok_enc *x, struct str text, unsigned flags, struct tok_ids *out, struct err *e);

/* Appends the text of ids; ill-formed UTF-8 becomes U+FFFD. */
void tok_decode(const struct tok *t, const int32_t *ids, size_t n, int skip_special, struct buf *out);

/* Decoding token by token: appends the text that is certain and holds back at most three bytes
 * of an incomplete character. All pieces together are what tok_decode gives. */
struct tok_stream {
	const struct tok *t;
	int skip_special;
	unsigned char held[4]; /* bytes of an incomplete character */
	size_t n; /* number of held bytes */
};
void tok_stream_add(struct tok_stream *s, int32_t id, struct buf *out);
void tok_stream_end(struct tok_stream *s, struct buf *out);

/* --- chat ----------------------------------------------------------------------------- */

struct json;
struct tok_chat {
	const struct json *messages;   /* a list of {"role", "content", ...} */
	const struct json *tools;      /* or NULL */
	const struct json *extra;      /* object of further template variables, or NULL */
	int add_generation_prompt;     /* end with the start of the model's answer */
};

int tok_has_template(const struct tok *t);
/* Appends the conversation in the form of the model's own template. */
int tok_render_chat(const struct tok *t, const struct tok_chat *c, struct buf *out, struct err *e);

/* --- training ------------------------------------------------------------------------- */

/* The pieces of a text that no token crosses. WORDS: words, as Qwen2 splits them. LINES: lines, so that a token
 * may be a whole line. CODE: lines without numbers, and numbers: 16384 is the same piece behind a blank and
 * behind a bracket. The 2 of x2 belongs to its name. */
enum tok_pieces { TOK_WORDS, TOK_LINES, TOK_CODE };
#define TOK_PIECES "words|lines|code"     /* in the order of the enum */

struct tok_train {
	const char *const *files;      /* text to learn from */
	size_t nfiles;
	int32_t vocab;                 /* all tokens, special ones included; at least 256 + specials */
	const char *const *specials;   /* NULL-terminated; last ids; the first is eos and pad */
	int digits;                    /* longest run of digits in a piece: 1 (Qwen) or 3 (Llama 3) */
	enum tok_pieces pieces;
	const char *chat_template;     /* or NULL */
	int64_t min_count;             /* rarer pairs are not merged; 0: 2 */
};

/* Learns a byte-level BPE and writes tokenizer.json and tokenizer_config.json into `dir`.
 * The same input gives the same files, byte for byte. */
int tok_train(const char *dir, const struct tok_train *job, struct err *e);

#endif
