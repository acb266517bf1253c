/* Extraction of code from a model's answer.
 *
 * The one rule: a block is the text between fences of three or more backticks or tildes, with
 * any language tag or none; prose may follow the closing fence on its line. An unclosed fence runs to
 * the end. If the text holds the prompt too (a transcript), only the last turn of the assistant counts.
 * Blocks inside a closed
 * <think>...</think> do not count. The last block that defines ModelNew wins; without one, the last
 * block that defines any class or @triton.jit function; otherwise the answer from its first
 * line that looks like Python to the first fence. If the block with ModelNew has no kernel and others have, the
 * code was given in pieces: all blocks of Python are joined in order. Code that is indented
 * with its fence is moved left. In a <think> that was never closed only whole blocks count: an
 * open block there was not finished. Chat residue (such as <|im_end|>) is cut off, Windows
 * newlines become '\n'. */
#ifndef DATA_EXTRACT_H
#define DATA_EXTRACT_H

#include "base/err.h"
#include "base/str.h"

enum extract_how { EXTRACT_NONE, EXTRACT_FENCE, EXTRACT_OPEN_FENCE, EXTRACT_BARE };

struct extract {
	enum extract_how how;
	size_t plan_end;             /* answer[0, plan_end) is reasoning and prose before the code */
	size_t code_begin, code_end; /* bytes of the answer that became the code */
	int blocks;                  /* fenced blocks seen */
};

/* Appends the code to `out`, or nothing if the answer has none (x->how is EXTRACT_NONE then).
 * Returns -1 if memory ended. */
int extract_code(struct str answer, struct extract *x, struct buf *out, struct err *e);

/* Token classes of an answer: given the end offset of each token in bytes, classes[i] becomes
 * EXTRACT_PLAN for tokens before the code and EXTRACT_CODE for the rest. */
enum extract_class { EXTRACT_PLAN, EXTRACT_CODE,
		     EXTRACT_GIVEN /* not the model's: what was said to it between two answers */ };
void extract_classes(const struct extract *x, const size_t *token_end, size_t n, unsigned char *classes);

#endif
