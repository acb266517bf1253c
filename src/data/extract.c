/* Extraction of code from a model's answer: extract.h has the rules. The answer may hold several
 * blocks, thinking, a copy of the task, and marks of the chat template. */
#include "data/extract.h"

#include "base/mem.h"

/* One fenced block of the answer, as byte offsets. */
struct block {
	size_t begin, end;       /* the code */
	size_t outer;            /* start of the opening fence line */
	size_t indent;           /* blanks before the fence */
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

/* The number of blanks and tabs that a line begins with. */
static size_t blanks_of(struct str line)
{
	size_t n = 0;

	while (n < line.n && (line.p[n] == ' ' || line.p[n] == '\t'))
		n++;
	return n;
}

/* Length of the fence that opens or closes a line, 0 if there is no fence; *tag is the rest of the
 * line. */
static size_t fence_of(struct str line, char *mark, struct str *tag)
{
	size_t n = 0, blanks = blanks_of(line);

	line.p += blanks;
	line.n -= blanks;
	if (!line.n || (*line.p != '`' && *line.p != '~'))
		return 0;
	*mark = *line.p;
	while (n < line.n && line.p[n] == *mark)
		n++;
	*tag = str_trim((struct str){ .p = line.p + n, .n = line.n - n });
	return n >= 3 ? n : 0;
}

/* Is the text after a fence inside a block prose? Then the fence closes the block: "``` This kernel is
 * faster". A single word such as "python" opens a block inside a docstring, which is code. */
static int is_prose(struct str tag)
{
	return tag.n && (memchr(tag.p, ' ', tag.n) || strchr(".,:;!?)", tag.p[tag.n - 1]));
}

/* Length of the fence that ends a line of code ("return x```"), or 0. */
static size_t fence_behind(struct str line, char mark)
{
	size_t n = 0;

	line = str_trim(line);
	while (n < line.n && line.p[line.n - 1 - n] == mark)
		n++;
	return n >= 3 ? n : 0;
}

/* The first fenced block at or after `at`; 0 if there is no further one. A block without a closing
 * line ends at the first fence that ends a line of code, else with the text. */
static int next_block(struct str s, size_t at, struct block *b)
{
	size_t open = 0, behind = 0, next;
	char mark = 0, m = 0;
	struct str tag;

	for (; at < s.n; at = next) {
		struct str line = line_at(s, at, &next);
		size_t n = fence_of(line, &m, &tag);

		if (!open && n) {
			*b = (struct block){ .begin = next, .end = s.n, .outer = at, .indent = blanks_of(line) };
			open = n;
			mark = m;
		} else if (open && n >= open && m == mark &&
			   (!tag.n || (is_prose(tag) && blanks_of(line) <= b->indent))) {
			b->end = at;
			b->closed = 1;
			return 1;
		} else if (open && !n && !behind && fence_behind(line, mark) >= open) {
			struct str code = str_trim(line);

			behind = (size_t)(code.p - s.p) + code.n - fence_behind(line, mark);
		}
	}
	if (behind) {
		b->end = behind;
		b->closed = 1;
	}
	return open != 0;
}

/* Does some line begin with `word`, after blanks? */
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

/* Does the code define a Triton kernel? */
static int has_kernel(struct str code)
{
	return defines(code, "@triton.jit") || defines(code, "@jit");
}

/* How likely the block is the answer: 3 with class ModelNew, 2 with another class or a kernel,
 * else 1. */
static int rank_of(struct str code)
{
	if (defines(code, "class ModelNew"))
		return 3;
	return defines(code, "class ") || has_kernel(code) ? 2 : 1;
}

/* The offset of the model's answer in a text that also holds the prompt: after the last mark with the
 * role of the assistant. If the text before its first mark holds code, the model answered there, and
 * the marks after it are residue. */
static size_t after_prompt(struct str s, size_t residue)
{
	static const char *const turns[] = { "<|im_start|>assistant", "<|start_header_id|>assistant<|end_header_id|>",
					     "<|assistant|>", "<start_of_turn>model", "[/INST]" };
	struct block b = { .end = 0 };
	size_t from = 0;

	if (next_block((struct str){ .p = s.p, .n = residue }, 0, &b) || defines((struct str){ .p = s.p, .n = residue },
										 "class ModelNew"))
		return 0;
	for (size_t i = 0; i < COUNT_OF(turns); i++)
		for (;;) {
			struct str rest = { .p = s.p + from, .n = s.n - from };
			ptrdiff_t at = str_find(rest, str_of(turns[i]));

			if (at < 0 || !str_trim((struct str){ .p = rest.p + at + strlen(turns[i]),
							       .n = rest.n - (size_t)at - strlen(turns[i]) }).n)
				break;
			from += (size_t)at + strlen(turns[i]);
		}
	return from;
}

/* Cuts at the first mark that a chat template may have left in the text. */
static size_t before_residue(struct str s)
{
	static const char *const marks[] = { "<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>",
					     "<|end_of_text|>", "<|start_header_id|>", "</s>", "<|assistant|>",
					     "<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]" };
	size_t n = s.n;

	for (size_t i = 0; i < COUNT_OF(marks); i++) {
		ptrdiff_t at = str_find((struct str){ .p = s.p, .n = n }, str_of(marks[i]));

		if (at >= 0)
			n = (size_t)at;
	}
	return n;
}

/* The offset of the answer proper: after the last closed <think> block. */
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

/* Does the line begin as a statement of a Python file does? */
static int looks_like_python(struct str line)
{
	static const char *const starts[] = { "import ", "from ", "class ", "def ", "@triton", "@", "\"\"\"" };

	for (size_t i = 0; i < COUNT_OF(starts); i++)
		if (str_starts(line, starts[i]))
			return 1;
	return 0;
}

/* Code without an opening fence: from the first line that looks like Python to the first fence, or to the
 * end. The prompt may have ended with the opening fence, so that an answer has the closing one only. */
static int bare_code(struct str s, size_t from, struct block *b)
{
	struct block fenced;
	size_t end = next_block(s, from, &fenced) ? fenced.outer : s.n, next;

	for (size_t at = from; at < end; at = next) {
		struct str line = line_at(s, at, &next);

		if (!looks_like_python(line))
			continue;
		*b = (struct block){ .begin = at, .end = end, .outer = at };
		return rank_of((struct str){ .p = s.p + at, .n = end - at }) > 1;
	}
	return 0;
}

/* The text of a block. */
static struct str code_of(struct str s, const struct block *b)
{
	return (struct str){ .p = s.p + b->begin, .n = b->end - b->begin };
}

/* How many blanks every line of the block can lose: the fence's own indentation, unless a line has
 * fewer. */
static size_t margin_of(struct str code, size_t indent)
{
	size_t next;

	for (size_t at = 0; at < code.n && indent; at = next) {
		struct str line = line_at(code, at, &next);

		if (str_trim(line).n)
			indent = MIN(indent, blanks_of(line));
	}
	return indent;
}

/* A block's code, without the blanks that its fence has too, and without '\r' at ends of lines. */
static void add_code(struct buf *out, struct str s, const struct block *b)
{
	struct str code = code_of(s, b);
	size_t next, margin = margin_of(code, b->indent);

	for (size_t at = 0; at < code.n; at = next) {
		struct str line = line_at(code, at, &next);
		size_t cut = MIN(blanks_of(line), margin);
		int ended = next > at + line.n;

		if (line.n > cut && line.p[line.n - 1] == '\r')
			line.n--;
		buf_add(out, line.p + cut, line.n - cut);
		if (ended)
			buf_addc(out, '\n');
	}
}

/* Moves to the block after `b`, or to the first one. */
static int step_block(struct str s, size_t from, struct block *b)
{
	size_t next = from;

	if (b->end && !b->closed)
		return 0;
	if (b->end)
		line_at(s, b->end, &next);
	return next_block(s, next, b);
}

/* Is this one of the pieces that the code was given in? Not the task again, not another
 * ModelNew. */
static int is_piece(struct str code)
{
	struct str first = str_trim(code);

	return looks_like_python(first) && !defines(code, "class ModelNew") && !defines(code, "class Model(");
}

/* The block with ModelNew has no kernel, and some piece has. */
static int in_pieces(struct str s, size_t from, const struct block *best)
{
	struct block b = { .end = 0 };

	if (has_kernel(code_of(s, best)))
		return 0;
	while (step_block(s, from, &b))
		if (is_piece(code_of(s, &b)) && has_kernel(code_of(s, &b)))
			return 1;
	return 0;
}

/* Joins the pieces; x receives the beginning of the first and the end of the last. */
static void add_pieces(struct str s, size_t from, const struct block *best, struct extract *x, struct buf *out)
{
	struct block b = { .end = 0 };
	int first = 1;

	while (step_block(s, from, &b)) {
		if (b.begin != best->begin && !is_piece(code_of(s, &b)))
			continue;
		add_code(out, s, &b);
		if (out->n && out->p[out->n - 1] != '\n')
			buf_addc(out, '\n');
		if (first) {
			x->plan_end = b.outer;
			x->code_begin = b.begin;
		}
		x->code_end = b.end;
		first = 0;
	}
}

/* Finds the last block of the highest rank and returns that rank, or 0 if there is no block.
 * Without `open` only closed blocks count. */
static int best_block(struct str s, size_t from, int open, struct extract *x, struct block *best)
{
	struct block b = { .end = 0 };
	int best_rank = 0;

	while (step_block(s, from, &b)) {
		int rank = rank_of(code_of(s, &b));

		x->blocks++;
		if (rank >= best_rank && (b.closed || open)) {
			best_rank = rank;
			*best = b;
		}
	}
	return best_rank;
}

/* Finds the candidate's code in an answer: the best fenced block after the model's thinking, else
 * code without an opening fence, if no block holds a class or a kernel. An open fence counts only if
 * the thinking has ended, because a model that ran out of tokens while thinking has not answered. */
int extract_code(struct str answer, struct extract *x, struct buf *out, struct err *e)
{
	struct block best = { .begin = 0 }, bare;
	size_t from;
	int thinking, rank;

	*x = (struct extract){ .how = EXTRACT_NONE };
	from = after_prompt(answer, before_residue(answer));
	answer.n = from + before_residue((struct str){ .p = answer.p + from, .n = answer.n - from });
	from += after_thinking((struct str){ .p = answer.p + from, .n = answer.n - from });
	thinking = str_find((struct str){ .p = answer.p + from, .n = answer.n - from }, STR("<think>")) >= 0;
	rank = best_block(answer, from, !thinking, x, &best);
	if (rank)
		x->how = best.closed ? EXTRACT_FENCE : EXTRACT_OPEN_FENCE;
	if (rank <= 1 && !thinking && bare_code(answer, from, &bare)) {
		x->how = EXTRACT_BARE;
		best = bare;
	}
	x->plan_end = x->how ? best.outer : answer.n;
	x->code_begin = x->how ? best.begin : answer.n;
	x->code_end = x->how ? best.end : answer.n;
	if (rank == 3 && in_pieces(answer, from, &best))
		add_pieces(answer, from, &best, x, out);
	else if (x->how)
		add_code(out, answer, &best);
	return buf_check(out, e);
}

/* Marks each token as plan or code by the offset of its end, so that a loss can weight the two
 * differently. The fence line itself counts as code. */
void extract_classes(const struct extract *x, const size_t *token_end, size_t n, unsigned char *classes)
{
	for (size_t i = 0; i < n; i++)
		classes[i] = x->how != EXTRACT_NONE && token_end[i] > x->plan_end ? EXTRACT_CODE : EXTRACT_PLAN;
}
