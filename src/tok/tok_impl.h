/* Internals of a tokenizer, for the files of this folder only. */
#ifndef TOK_TOK_IMPL_H
#define TOK_TOK_IMPL_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/mem.h"
#include "base/str.h"
#include "tok/tok.h"

/* --- the byte alphabet: each byte as one printable character (as in GPT-2) ------------------ */

struct tok_alphabet {
	uint16_t cp[256];            /* code point of each byte, below 324 */
	int16_t byte[324];           /* byte of each code point, or -1 */
};
void alphabet_init(struct tok_alphabet *a);
/* Appends the bytes that `text` represents. Returns nonzero if a character is not in the alphabet;
 * then `out` is unchanged. */
int alphabet_decode(const struct tok_alphabet *a, struct str text, struct buf *out);

/* --- merges ----------------------------------------------------------------------------- */

enum { BPE_NONE = -1 };

/* The merge table: a hash table from pairs of ids to rank and result. */
struct bpe {
	uint64_t *key;               /* left << 32 | right; BPE_EMPTY: free slot */
	uint64_t *value;             /* rank << 32 | id of the joined token */
	size_t mask;                 /* number of slots - 1 */
	int shift;                   /* 64 - log2 of the number of slots */
	int32_t first[256][2];       /* symbols a byte starts as; BPE_NONE: unused */
	int32_t unk;                 /* unknown token; BPE_NONE: unknown bytes are dropped */
	unsigned char is_unk[256];   /* bytes that have no symbol */
	int fuse_unk, ignore_merges;
	struct map whole;            /* bytes of a token -> id, for ignore_merges */
};
int bpe_init(struct bpe *b, size_t merges, struct err *e);
void bpe_release(struct bpe *b);
void bpe_add(struct bpe *b, int32_t left, int32_t right, uint32_t rank, int32_t id);
uint64_t bpe_pair(const struct bpe *b, int32_t left, int32_t right);   /* BPE_NO_MERGE: none */
#define BPE_NO_MERGE UINT64_MAX

/* Scratch memory of bpe_word, kept between words. */
struct bpe_work {
	int32_t *sym, *prev, *next;
	uint64_t *pair;
	size_t cap;
	struct { uint64_t *v; size_t n, cap; } heap;
};
void bpe_work_release(struct bpe_work *w);
/* Appends the ids of one word: symbols joined in order of rank, leftmost first. Returns -1 when out
 * of memory. */
int bpe_word(const struct bpe *b, struct bpe_work *w, const unsigned char *p, size_t n, struct tok_ids *out);

/* --- cutting text into words -------------------------------------------------------------- */

enum pre_kind { PRE_LLM, PRE_REGEX };
enum pre_behavior { PRE_ISOLATED, PRE_REMOVED, PRE_MERGED_PREV, PRE_MERGED_NEXT, PRE_CONTIGUOUS };

/* One pre-tokenizer. */
struct pre_stage {
	enum pre_kind kind;
	int digits;                  /* PRE_LLM: longest run of digits */
	enum pre_behavior behavior;
	int invert;                  /* the text between matches counts as match */
	pcre2_code *re;              /* PRE_REGEX: the compiled pattern */
};

enum { PRE_STAGES = 8 };

struct pre {
	struct pre_stage stage[PRE_STAGES];
	int n;
	int prefix_space;            /* of ByteLevel, which is always last */
	int byte_level;              /* ByteLevel was seen */
};

/* NULL if memory ran out, or (with PCRE2's code in *code) if the pattern is wrong. */
pcre2_code *re_compile(struct str pattern, int *code);
pcre2_match_data *re_match_data(void);

struct json;
int pre_parse(struct pre *p, const struct json *j, struct err *e);
void pre_release(struct pre *p);
/* The end of the word that starts at `at`, by the pattern of Qwen2 and Llama 3. */
size_t pre_llm_next(const unsigned char *p, size_t n, size_t at, int digits);
extern const char pre_llm_pattern[];         /* %s: repeat of the digits */

struct pre_piece { size_t a, b; };
struct pre_pieces { struct pre_piece *v; size_t n, cap; };
/* Cuts `text` by all stages. The pieces are in out->v. */
int pre_cut(const struct pre *p, struct str text, struct pre_pieces *out, struct pre_pieces *work,
	    pcre2_match_data *md, struct err *e);

/* --- tokens found before anything else ---------------------------------------------------- */

/* An added token, with the fields of tokenizer.json. */
struct added {
	int32_t id;
	struct str content;
	unsigned char single_word, lstrip, rstrip, normalized, special; /* flags */
};

/* A trie over token texts: leftmost match first, then longest. */
struct added_node { int32_t child, next, id; unsigned char byte; };   /* id: tokens[id], or -1 */
struct added_set {
	struct { struct added_node *v; size_t n, cap; } nodes;
	int32_t root[256];                       /* first node by byte, or -1 */
	unsigned char starts[4];                 /* bytes that tokens start with */
	int nstarts;                             /* above 4: starts is incomplete */
	const struct added *tokens;
};
void added_set_init(struct added_set *s, const struct added *tokens);
int added_set_add(struct added_set *s, struct str text, int32_t index);
void added_set_release(struct added_set *s);
struct added_match { size_t a, b; int32_t token; };   /* token: index in tokens */
/* The next match at or after `from`. a..b includes the white space that the token swallows, but
 * never begins before `from`. Returns 1 if found, 0 if no match is left, -1 if memory ran out. With
 * `plain` special tokens are passed over. */
int added_next(const struct added_set *s, struct str text, size_t from, size_t *scan, int plain,
	       struct added_match *m);

/* --- the whole ---------------------------------------------------------------------------- */

enum { TOKF_EXISTS = 1, TOKF_ADDED = 2, TOKF_SPECIAL = 4 };

struct tok_names { int32_t bos, eos, pad; struct tok_ids stops; }; /* -1: none */

struct tok {
	struct arena arena;
	struct tok_alphabet alphabet;
	int32_t count;                           /* highest id + 1 */
	struct str *bytes;                       /* by id */
	unsigned char *flags;                    /* by id, TOKF_* */
	struct map by_text;                      /* text as in the file to id */
	struct { struct added *v; size_t n, cap; } added;
	struct added_set raw, normalized;        /* searched before and after the normaliser */
	int nfc;                                 /* the normaliser is NFC */
	struct pre pre;
	struct bpe bpe;
	struct tok_ids before, after;            /* ids that the post-processor adds */
	struct tok_names names;
	char *chat_template;                     /* or NULL */
	char *bos_text, *eos_text;
};

/* Loads tokenizer_config.json and its neighbours, if they exist. */
int tok_load_config(struct tok *t, const char *dir, struct err *e);

#endif
