/* Pre-tokenizers as tokenizer.json describes them: a list of stages. Each stage cuts the pieces of
 * the stage before. Owns the description and the general cutter over PCRE2. */
#include <stdio.h>

#include "base/json.h"
#include "base/uni.h"
#include "tok/tok_impl.h"

/* The pattern of GPT-2, which ByteLevel uses with use_regex. */
static const char gpt2_pattern[] =
	"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/* --- patterns ------------------------------------------------------------------------------ */

/* Translates Oniguruma's dialect to PCRE2's. \s must be Unicode's White_Space (PCRE2's differs
 * by U+180E), and \uHHHH is \x{HHHH}. */
static void translate(struct str pattern, struct buf *out)
{
	static const char space[] = "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}"
				    "\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}";
	int in_class = 0;

	for (size_t i = 0; i < pattern.n; i++) {
		char c = pattern.p[i], d = i + 1 < pattern.n ? pattern.p[i + 1] : 0;

		if (c == '\\' && d == 's')
			buf_addf(out, in_class ? "%s" : "[%s]", space);
		else if (c == '\\' && d == 'S' && !in_class)
			buf_addf(out, "[^%s]", space);
		else if (c == '\\' && d == 'u' && i + 6 <= pattern.n)
			buf_addf(out, "\\x{%.4s}", pattern.p + i + 2);
		else if (c == '\\' && d)
			buf_add(out, pattern.p + i, 2);
		else
			buf_addc(out, c);
		if (c == '\\')
			i += d == 'u' && i + 6 <= pattern.n ? 5 : 1;
		else if (c == '[' && !in_class)
			in_class = 1;
		else if (c == ']')
			in_class = 0;
	}
}

/* PCRE2 allocates through mem_alloc, so that memory tests reach it. */
static void *re_alloc(PCRE2_SIZE n, void *ctx)
{
	(void)ctx;
	return mem_alloc(n);
}

static void re_free(void *p, void *ctx)
{
	(void)ctx;
	mem_free(p);
}

/* Scratch of a match; NULL if memory ran out. */
pcre2_match_data *re_match_data(void)
{
	pcre2_general_context *g = pcre2_general_context_create(re_alloc, re_free, NULL);
	pcre2_match_data *md = g ? pcre2_match_data_create(1, g) : NULL;

	pcre2_general_context_free(g);
	return md;
}

/* See tok_impl.h. Compiled to machine code where PCRE2 can. */
pcre2_code *re_compile(struct str pattern, int *code)
{
	pcre2_general_context *g = pcre2_general_context_create(re_alloc, re_free, NULL);
	pcre2_compile_context *c = g ? pcre2_compile_context_create(g) : NULL;
	pcre2_code *re = NULL;
	PCRE2_SIZE at;

	*code = PCRE2_ERROR_NOMEMORY;
	if (c)
		re = pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n,
				   PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, code, &at, c);
	if (re)
		pcre2_jit_compile(re, PCRE2_JIT_COMPLETE);   /* slower without, not wrong */
	pcre2_compile_context_free(c);
	pcre2_general_context_free(g);
	return re;
}

/* Translates and compiles the pattern of a stage. */
static int compile(struct pre_stage *s, struct str pattern, struct err *e)
{
	enum { NO_HEAP = 121 };        /* PCRE2's "failed to allocate heap memory" */
	struct buf b = BUF_INIT;
	char text[128] = "";
	int code;

	translate(pattern, &b);
	if (buf_check(&b, e)) {
		buf_release(&b);
		return -1;
	}
	s->re = re_compile(buf_str(&b), &code);
	buf_release(&b);
	if (s->re)
		return 0;
	if (code == PCRE2_ERROR_NOMEMORY || code == NO_HEAP)
		return err_nomem(e);
	pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof text);
	return err_set(e, ERR_UNSUPPORTED, "pre-tokenizer pattern '%.*s': %s", STR_ARG(pattern), text);
}

/* Is it the pattern that pre_llm_next implements? Returns the longest run of digits, or 0. The
 * pattern matches every text completely, so only the behaviour "Isolated" is implemented. */
static int known_digits(struct str pattern)
{
	char known[256];

	snprintf(known, sizeof known, pre_llm_pattern, "");
	if (str_is(pattern, known))
		return 1;
	snprintf(known, sizeof known, pre_llm_pattern, "{1,3}");
	return str_is(pattern, known) ? 3 : 0;
}

/* --- parsing -------------------------------------------------------------------------------- */

/* The treatment of a stage's matches, by its name in the file. */
static const struct { const char *name; enum pre_behavior behavior; } behaviors[] = {
	{ "Isolated", PRE_ISOLATED },
	{ "Removed", PRE_REMOVED },
	{ "MergedWithPrevious", PRE_MERGED_PREV },
	{ "MergedWithNext", PRE_MERGED_NEXT },
	{ "Contiguous", PRE_CONTIGUOUS },
};

/* Appends a stage; NULL if there are too many. */
static struct pre_stage *new_stage(struct pre *p, struct err *e)
{
	if (p->n == PRE_STAGES) {
		err_set(e, ERR_UNSUPPORTED, "more than %d pre-tokenizers are not supported", PRE_STAGES);
		return NULL;
	}
	p->stage[p->n] = (struct pre_stage){ .kind = PRE_REGEX };
	return &p->stage[p->n++];
}

/* A pattern that matches the text literally. */
static void quote_pattern(struct str text, struct buf *out)
{
	for (size_t i = 0; i < text.n; i++) {
		if (strchr("\\^$.[|()?*+{}#-]", text.p[i]) && text.p[i])
			buf_addc(out, '\\');
		buf_addc(out, text.p[i]);
	}
}

/* A Split stage: by a regular expression or a literal string. */
static int parse_split(struct pre *p, const struct json *j, struct err *e)
{
	const struct json *pattern = json_get(j, "pattern");
	struct str name = json_str(json_get(j, "behavior"), ""), text;
	struct pre_stage *s = new_stage(p, e);
	struct buf quoted = BUF_INIT;
	size_t i = 0;
	int rc;

	if (!s)
		return -1;
	while (i < COUNT_OF(behaviors) && !str_is(name, behaviors[i].name))
		i++;
	if (i == COUNT_OF(behaviors))
		return err_set(e, ERR_UNSUPPORTED, "pre-tokenizer behavior '%.*s' is not supported", STR_ARG(name));
	s->behavior = behaviors[i].behavior;
	s->invert = json_bool(json_get(j, "invert"), 0);
	if (!pattern || json_kind(pattern) != JSON_OBJECT)
		return err_set(e, ERR_FORMAT, "pre-tokenizer Split has no pattern");
	if (json_get(pattern, "String")) {
		quote_pattern(json_str(json_get(pattern, "String"), ""), &quoted);
		rc = compile(s, buf_str(&quoted), e);
		buf_release(&quoted);
		return rc;
	}
	if (json_need_str(pattern, "Regex", &text, e))
		return -1;
	s->digits = s->behavior == PRE_ISOLATED && !s->invert ? known_digits(text) : 0;
	if (s->digits) {
		s->kind = PRE_LLM;
		return 0;
	}
	return compile(s, text, e);
}

/* ByteLevel ends the list. Its own pattern is one more stage. */
static int parse_byte_level(struct pre *p, const struct json *j, struct err *e)
{
	struct pre_stage *s;

	p->byte_level = 1;
	p->prefix_space = json_bool(json_get(j, "add_prefix_space"), 1);
	if (!json_bool(json_get(j, "use_regex"), 1))
		return 0;
	s = new_stage(p, e);
	return s ? compile(s, str_of(gpt2_pattern), e) : -1;
}

/* Digits one by one, or in runs. */
static int parse_digits(struct pre *p, const struct json *j, struct err *e)
{
	struct pre_stage *s = new_stage(p, e);

	if (!s)
		return -1;
	s->behavior = json_bool(json_get(j, "individual_digits"), 0) ? PRE_ISOLATED : PRE_CONTIGUOUS;
	return compile(s, STR("\\p{N}"), e);
}

/* See tok_impl.h. A Sequence calls itself for each member. */
int pre_parse(struct pre *p, const struct json *j, struct err *e)
{
	struct str type = json_str(j ? json_get(j, "type") : NULL, "");

	if (p->byte_level)
		return err_set(e, ERR_UNSUPPORTED, "a pre-tokenizer after ByteLevel is not supported");
	if (str_is(type, "Sequence")) {
		const struct json *list = json_get(j, "pretokenizers");

		for (size_t i = 0; list && i < json_count(list); i++)
			if (pre_parse(p, json_at(list, i), e))
				return -1;
		return 0;
	}
	if (str_is(type, "Split"))
		return parse_split(p, j, e);
	if (str_is(type, "ByteLevel"))
		return parse_byte_level(p, j, e);
	if (str_is(type, "Digits"))
		return parse_digits(p, j, e);
	return err_set(e, ERR_UNSUPPORTED, "pre-tokenizer '%.*s' is not supported", STR_ARG(type));
}

void pre_release(struct pre *p)
{
	for (int i = 0; i < p->n; i++)
		pcre2_code_free(p->stage[i].re);
}

/* --- cutting -------------------------------------------------------------------------------- */

/* Appends the piece a..b unless it is empty. */
static int push(struct pre_pieces *out, size_t a, size_t b)
{
	return a < b ? vec_push(out, ((struct pre_piece){ .a = a, .b = b })) : 0;
}

/* Adds a stretch a..b that matched (or did not) by the stage's behaviour. *last is 1 if the stretch
 * before it matched, 0 if not, -1 for the first stretch. Pieces before `first` belong to other
 * texts. */
static int add_stretch(const struct pre_stage *s, struct pre_pieces *out, size_t first, size_t a, size_t b,
		       int match, int *last)
{
	struct pre_piece *prev = out->n > first ? &out->v[out->n - 1] : NULL;
	int was = *last;

	if (a >= b)
		return 0;
	*last = match;
	switch (s->behavior) {
	case PRE_REMOVED:
		return match ? 0 : push(out, a, b);
	case PRE_MERGED_PREV:
		if (match && was == 0 && prev)
			return prev->b = b, 0;
		break;
	case PRE_MERGED_NEXT:
		if (!match && was == 1 && prev)
			return prev->b = b, 0;
		break;
	case PRE_CONTIGUOUS:
		if (was == match && prev)
			return prev->b = b, 0;
		break;
	case PRE_ISOLATED:
		break;
	}
	return push(out, a, b);
}

/* The next match of a stage's pattern from `at`. PCRE2's machine code has 32 KiB of stack: a repeated group that
 * takes a line of some thousand characters needs more, and is matched again without machine code, on the heap. */
static int match_from(const struct pre_stage *s, struct str text, size_t at, pcre2_match_data *md)
{
	int rc = pcre2_match(s->re, (PCRE2_SPTR)text.p, text.n, at, PCRE2_NO_UTF_CHECK, md, NULL);

	if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
		rc = pcre2_match(s->re, (PCRE2_SPTR)text.p, text.n, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, md, NULL);
	return rc;
}

/* Cuts one piece by the pattern of a stage. `base` is its offset in the whole text. */
static int cut_regex(const struct pre_stage *s, struct str text, size_t base, struct pre_pieces *out,
		     pcre2_match_data *md, struct err *e)
{
	const PCRE2_SIZE *o = pcre2_get_ovector_pointer(md);
	size_t at = 0, done = 0, first = out->n;
	int last = -1, bad = 0;

	while (at <= text.n && !bad) {
		int rc = match_from(s, text, at, md);

		if (rc == PCRE2_ERROR_NOMATCH)
			break;
		if (rc == PCRE2_ERROR_NOMEMORY)
			return err_nomem(e);
		if (rc < 0)
			return err_set(e, ERR_UNSUPPORTED,
				       "the pre-tokenizer pattern failed on the text (PCRE2 error %d)", rc);
		bad = add_stretch(s, out, first, base + done, base + o[0], s->invert, &last) ||
			add_stretch(s, out, first, base + o[0], base + o[1], !s->invert, &last);
		done = o[1];
		at = o[1];
		if (o[1] == o[0]) {                  /* an empty match: advance by one character */
			size_t k = 1;

			if (at < text.n)
				uni_at((const unsigned char *)text.p + at, &k);
			at += k;
		}
	}
	if (!bad)
		bad = add_stretch(s, out, first, base + done, base + text.n, s->invert, &last);
	return bad ? err_nomem(e) : 0;
}

/* Cuts one piece by the hand-written cutter. */
static int cut_llm(const struct pre_stage *s, struct str text, size_t base, struct pre_pieces *out)
{
	for (size_t i = 0, end; i < text.n; i = end) {
		end = pre_llm_next((const unsigned char *)text.p, text.n, i, s->digits);
		if (push(out, base + i, base + end))
			return -1;
	}
	return 0;
}

/* Applies all stages. The pieces of one stage are the input of the next; `out` and `work` swap. */
int pre_cut(const struct pre *p, struct str text, struct pre_pieces *out, struct pre_pieces *work,
	    pcre2_match_data *md, struct err *e)
{
	out->n = 0;
	if (push(out, 0, text.n))
		return err_nomem(e);
	for (int k = 0; k < p->n; k++) {
		const struct pre_stage *s = &p->stage[k];
		struct pre_pieces swap = *out;

		*out = *work;
		*work = swap;
		out->n = 0;
		for (size_t i = 0; i < work->n; i++) {
			struct str piece = { .p = text.p + work->v[i].a, .n = work->v[i].b - work->v[i].a };

			if (s->kind == PRE_LLM ? (cut_llm(s, piece, work->v[i].a, out) ? err_nomem(e) : 0) :
			    cut_regex(s, piece, work->v[i].a, out, md, e))
				return -1;
		}
	}
	return 0;
}
