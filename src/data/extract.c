/* Extraction of code from a model's answer: see extract.h. */
#include "data/extract.h"

#include "base/mem.h"

struct block {
	size_t begin, end;       /* the code */
	size_t outer;            /* where its opening fence line starts */
	int closed;
};

/* The line that starts at `at`, without its newline; *next is where the next one starts. */
static struct str line_at(struct str s, size_t at, size_t *next)
{
	const char *nl = memchr(s.p + at, '\n', s.n - at);
	size_t end = nl ? (size_t)(nl - s.p) : s.n;

	*next = nl ? end + 1 : s.n;
	return (struct str){ .p = s.p + at, .n = end - at };
}

/* Length of the fence a line opens or closes with, 0 if none; *tag is what follows it. */
static size_t fence_of(struct str line, char *mark, struct str *tag)
{
	size_t n = 0;

	while (line.n && (*line.p == ' ' || *line.p == '\t'))
		line.p++, line.n--;
	if (!line.n || (*line.p != '`' && *line.p != '~'))
		return 0;
	*mark = *line.p;
	while (n < line.n && line.p[n] == *mark)
		n++;
	*tag = str_trim((struct str){ .p = line.p + n, .n = line.n - n });
	return n >= 3 ? n : 0;
}

/* The first fenced block at or after `at`; 0 when there is none. */
static int next_block(struct str s, size_t at, struct block *b)
{
	size_t open = 0, next;
	char mark = 0, m = 0;
	struct str tag;

	for (; at < s.n; at = next) {
		struct str line = line_at(s, at, &next);
		size_t n = fence_of(line, &m, &tag);

		if (!open && n) {
			*b = (struct block){ .begin = next, .end = s.n, .outer = at };
			open = n;
			mark = m;
		} else if (open && n >= open && m == mark && tag.n == 0) {
			b->end = at;
			b->closed = 1;
			return 1;
		}
	}
	return open != 0;
}

/* Does `word` stand at the start of some line (after blanks)? */
static int defines(struct str code, const char *word)
{
	size_t next;

	for (size_t at = 0; at < code.n; at = next) {
		struct str line = line_at(code, at, &next);

		if (str_starts(str_trim(line), word))
			return 1;
	}
	return 0;
}

static int rank_of(struct str code)
{
	if (defines(code, "class ModelNew"))
		return 3;
	if (defines(code, "class ") || defines(code, "@triton.jit") || defines(code, "@jit"))
		return 2;
	return 1;
}

/* Cut at the first mark that a chat template may have left behind. */
static size_t before_residue(struct str s)
{
	static const char *const marks[] = { "<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>",
					     "<|end_of_text|>", "<|start_header_id|>", "</s>" };
	size_t n = s.n;

	for (size_t i = 0; i < COUNT_OF(marks); i++) {
		ptrdiff_t at = str_find((struct str){ .p = s.p, .n = n }, str_of(marks[i]));

		if (at >= 0)
			n = (size_t)at;
	}
	return n;
}

/* Where the answer proper begins: after the last closed <think> block. */
static size_t after_thinking(struct str s)
{
	size_t at = 0;

	for (;;) {
		struct str rest = { .p = s.p + at, .n = s.n - at };
		ptrdiff_t end = str_find(rest, STR("</think>"));

		if (end < 0)
			return at;
		at += (size_t)end + 8;
	}
}

static int looks_like_python(struct str line)
{
	static const char *const starts[] = { "import ", "from ", "class ", "def ", "@triton", "@", "\"\"\"" };

	for (size_t i = 0; i < COUNT_OF(starts); i++)
		if (str_starts(line, starts[i]))
			return 1;
	return 0;
}

/* Without fences: from the first line that looks like Python to the end. */
static int bare_code(struct str s, size_t from, struct block *b)
{
	size_t next;

	for (size_t at = from; at < s.n; at = next) {
		struct str line = line_at(s, at, &next);

		if (!looks_like_python(line))
			continue;
		*b = (struct block){ .begin = at, .end = s.n, .outer = at };
		return rank_of((struct str){ .p = s.p + at, .n = s.n - at }) > 1;
	}
	return 0;
}

static void add_unix(struct buf *out, struct str code)
{
	for (size_t i = 0; i < code.n; i++)
		if (code.p[i] != '\r' || (i + 1 < code.n && code.p[i + 1] != '\n'))
			buf_addc(out, code.p[i]);
}

int extract_code(struct str answer, struct extract *x, struct buf *out, struct err *e)
{
	struct block best = { .begin = 0 }, b;
	int best_rank = 0;
	size_t from;

	*x = (struct extract){ .how = EXTRACT_NONE };
	answer.n = before_residue(answer);
	from = after_thinking(answer);
	for (size_t at = from; next_block(answer, at, &b); at = b.end + 1) {
		int rank = rank_of((struct str){ .p = answer.p + b.begin, .n = b.end - b.begin });

		x->blocks++;
		if (rank >= best_rank) {
			best_rank = rank;
			best = b;
		}
		if (!b.closed)
			break;
		line_at(answer, b.end, &b.end);
		b.end--;
	}
	if (best_rank)
		x->how = best.closed ? EXTRACT_FENCE : EXTRACT_OPEN_FENCE;
	else if (bare_code(answer, from, &best))
		x->how = EXTRACT_BARE;
	x->plan_end = x->how ? best.outer : answer.n;
	x->code_begin = x->how ? best.begin : answer.n;
	x->code_end = x->how ? best.end : answer.n;
	add_unix(out, (struct str){ .p = answer.p + x->code_begin, .n = x->code_end - x->code_begin });
	return buf_check(out, e);
}

void extract_classes(const struct extract *x, const size_t *token_end, size_t n, unsigned char *classes)
{
	for (size_t i = 0; i < n; i++)
		classes[i] = x->how != EXTRACT_NONE && token_end[i] > x->plan_end ? EXTRACT_CODE : EXTRACT_PLAN;
}
