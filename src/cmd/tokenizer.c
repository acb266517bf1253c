/* tritonrl tokenizer: learns a byte-level BPE vocabulary for a new model and writes it in Hugging
 * Face's form. tok/tok.h owns the training; this file collects the text and adds a chat
 * template. */
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "tok/tok.h"

struct args {
	struct opt_list data;
	const char *out;
	int pieces;                   /* enum tok_pieces */
	int64_t vocab;                 /* tokens, special ones included */
};

static const struct opt opts[] = {
	OPT_LIST(struct args, data, "data", "FILE", 0,
		 "JSON lines with a field text; may be repeated"),
	OPT_INT(struct args, vocab, "vocab", 300, 1 << 20, 2048,
		"maximum vocabulary size, special tokens included"),
	OPT_ENUM(struct args, pieces, "pieces", TOK_PIECES, "words",
		 "words: a token lies within a word (split as Qwen2 does); lines: a token may span a line, for "
		 "models of one narrow language; code: the same, with numbers as tokens of their own"),
	OPT_STR(struct args, out, "out", "DIR", NULL,
		"output folder for tokenizer.json and tokenizer_config.json"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "",
	.about = "Learn a byte-level BPE vocabulary with a chat template, in Hugging Face's form. "
		 "The same data gives the same files.",
	.opts = opts,
};

/* The template of models that are trained from random weights: <|role|>, the message, <|end|>. */
static const char chat_template[] =
	"{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}<|end|>\n{% endfor %}"
	"{% if add_generation_prompt %}<|assistant|>\n{% endif %}";

/* Concatenates the field `text` of all rows of all files. */
static int gather(const struct args *a, struct buf *text, struct err *e)
{
	struct line_reader r;
	struct str line, piece;
	int rc = 0;

	for (size_t i = 0; i < a->data.n && !rc; i++) {
		if (lines_open(&r, a->data.v[i], e))
			return -1;
		while ((rc = lines_next(&r, &line, e)) > 0) {
			struct json *row = json_parse(line, e);

			rc = row ? json_need_str(row, "text", &piece, e) : -1;
			if (!rc)
				buf_addstr(text, piece);
			json_free(row);
			if (rc) {
				err_wrap(e, "'%s' line %lld", a->data.v[i], (long long)r.number);
				break;
			}
		}
		lines_close(&r);
	}
	return rc ? -1 : buf_check(text, e);
}

/* The trainer reads files, so the text is written to a temporary corpus.txt in the output
 * folder. */
static int run(const struct args *a, struct err *e)
{
	static const char *const specials[] = { "<|end|>", "<|user|>", "<|assistant|>", "<|system|>", NULL };
	struct buf text = BUF_INIT, path = BUF_INIT;
	int rc = -1;

	if (!a->data.n || !a->out)
		return err_set(e, ERR_USAGE, "say --data FILE and --out DIR");
	if (!gather(a, &text, e) && !file_mkdirs(a->out, e) && path_join(&path, a->out, "corpus.txt") &&
	    !file_replace(path.p, buf_str(&text), e)) {
		const char *file = path.p;
		struct tok_train job = { .files = &file, .nfiles = 1, .vocab = (int32_t)a->vocab,
					 .specials = specials, .digits = 1,
					 .pieces = (enum tok_pieces)a->pieces,
					 .chat_template = chat_template };

		rc = tok_train(a->out, &job, e);
		file_remove_tree(path.p, NULL);   /* the corpus is not part of the result */
	}
	buf_release(&text);
	buf_release(&path);
	return rc;
}

int cmd_tokenizer(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	rc = run(&a, &e);
	opt_release(&p);
	return rc ? cmd_fail("tokenizer", &e) : CMD_OK;
}
