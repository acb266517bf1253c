/* What test/agree/agree_tok.py drives: the tokenizer on files, results as raw numbers.
 *
 *   tok_tool encode TOKENIZER FLAGS < text > int32 ids    (a text per NUL-terminated string)
 *   tok_tool decode TOKENIZER SKIP < int32 ids > text      (-1 ends an id list; int32 length before each text)
 *   tok_tool chat DIR < {"messages": [...], "tools", "extra", "add_generation_prompt"} lines
 *   tok_tool train DIR VOCAB DIGITS SPECIAL... -- FILE...                                    */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "tok/tok.h"

static int read_stdin(struct buf *in, struct err *e)
{
	return file_read("/dev/stdin", 0, in, e);
}

/* CPU time, so that a busy machine changes little. */
static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int do_encode(const struct tok *t, unsigned flags, struct err *e)
{
	struct tok_enc *x = tok_enc_new(t, e);
	struct tok_ids ids = TOK_IDS_INIT;
	struct buf in = BUF_INIT;
	const int32_t end = -1;
	int64_t ns = 0;
	int rc = !x || read_stdin(&in, e) ? -1 : 0;

	for (struct str rest = buf_str(&in); rest.n && !rc;) {
		struct str text = str_cut(&rest, 0);
		int64_t start = cpu_ns();

		ids.n = 0;
		rc = tok_encode(x, text, flags, &ids, e);
		ns += cpu_ns() - start;
		fwrite(ids.v, sizeof *ids.v, ids.n, stdout);
		fwrite(&end, sizeof end, 1, stdout);
	}
	fprintf(stderr, "%.3f MB/s\n", (double)in.n * 1e3 / (double)(ns ? ns : 1));
	tok_enc_free(x);
	buf_release(&in);
	vec_free(&ids);
	return rc;
}

/* Decodes each list at once and token by token; they must agree. */
static int do_decode(const struct tok *t, int skip, struct err *e)
{
	struct buf in = BUF_INIT, all = BUF_INIT, parts = BUF_INIT;
	const int32_t *id;
	size_t n, from = 0;
	int32_t size;

	if (read_stdin(&in, e))
		return -1;
	id = (const int32_t *)in.p;
	n = in.n / 4;
	for (size_t i = 0; i < n; i++) {
		struct tok_stream s = { .t = t, .skip_special = skip };

		if (id[i] >= 0)
			continue;
		buf_clear(&all);
		buf_clear(&parts);
		tok_decode(t, id + from, i - from, skip, &all);
		for (; from < i; from++)
			tok_stream_add(&s, id[from], &parts);
		tok_stream_end(&s, &parts);
		from = i + 1;
		if (!str_eq(buf_str(&all), buf_str(&parts)))
			return err_set(e, ERR_STATE, "streaming and whole decode differ");
		size = (int32_t)all.n;
		fwrite(&size, sizeof size, 1, stdout);
		fwrite(buf_cstr(&all), 1, all.n, stdout);
	}
	buf_release(&in);
	buf_release(&all);
	buf_release(&parts);
	return 0;
}

static int do_chat(const struct tok *t, struct err *e)
{
	struct line_reader r;
	struct str line;
	int rc, bad = lines_open(&r, "-", e);

	while (!bad && (rc = lines_next(&r, &line, e)) > 0) {
		struct json *j = json_parse(line, e);
		struct buf out = BUF_INIT;
		struct err why = ERR_INIT;
		struct tok_chat c;
		struct buf quoted = BUF_INIT;
		struct jw w;

		if (!j)
			return -1;
		c = (struct tok_chat){ .messages = json_get(j, "messages"), .tools = json_get(j, "tools"),
				      .extra = json_get(j, "extra"),
				      .add_generation_prompt = json_bool(json_get(j, "add_generation_prompt"), 0) };
		w = (struct jw){ .out = &quoted };

		jw_begin(&w, '{');
		if (tok_render_chat(t, &c, &out, &why)) {
			jw_key(&w, "error");
			jw_cstr(&w, why.text);
		} else {
			jw_key(&w, "text");
			jw_str(&w, buf_str(&out));
		}
		jw_end(&w, '}');
		puts(buf_cstr(&quoted));
		buf_release(&quoted);
		buf_release(&out);
		json_free(j);
	}
	lines_close(&r);
	return bad;
}

static int do_train(int argc, char **argv, struct err *e)
{
	const char *specials[64] = { NULL };
	int i = 5, n = 0;
	struct tok_train job = { .vocab = atoi(argv[3]), .digits = atoi(argv[4]), .specials = specials };

	for (; i < argc && strcmp(argv[i], "--") && n < 63; i++)
		specials[n++] = argv[i];
	job.files = (const char *const *)argv + i + 1;
	job.nfiles = (size_t)(argc - i - 1);
	return tok_train(argv[2], &job, e);
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct tok *t = NULL;
	int rc = -1;

	if (argc > 5 && !strcmp(argv[1], "train"))
		rc = do_train(argc, argv, &e);
	else if (argc < 3)
		err_set(&e, ERR_USAGE, "see the head of tok_tool.c");
	else if ((t = tok_open(argv[2], &e)))
		rc = !strcmp(argv[1], "encode") ? do_encode(t, (unsigned)atoi(argv[3]), &e) :
			!strcmp(argv[1], "decode") ? do_decode(t, atoi(argv[3]), &e) :
			!strcmp(argv[1], "chat") ? do_chat(t, &e) : err_set(&e, ERR_USAGE, "%s?", argv[1]);
	tok_free(t);
	if (rc)
		fprintf(stderr, "tok_tool: %s\n", e.text);
	return rc ? 2 : 0;
}
