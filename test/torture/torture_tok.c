/* Torture of what reads and writes models' files: safetensors, tokenizers, chat templates. */
#include "torture.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "tensor/safetensors.h"
#include "tok/tok.h"

static const char *in(const char *name)
{
	static char path[4][128];
	static int turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof *path, "%s/%s", torture_dir(), name);
	return p;
}

/* --- safetensors ------------------------------------------------------------------------- */

static const float numbers[6] = { 1, 2, 3, 4, 5, 6 };
static const struct st_entry entries[] = {
	{ .name = "b", .dt = DT_F32, .ndim = 2, .shape = { 2, 3 }, .data = numbers },
	{ .name = "a", .dt = DT_I64, .ndim = 1, .shape = { 2 }, .data = numbers },
};

static int check_tensors(const char *path, struct err *e)
{
	struct st_file *f = st_open(path, e);

	if (!f)
		return -1;
	TORTURE_NEED(st_count(f) == 2 && !memcmp(st_find(f, "b")->data, numbers, sizeof numbers));
	st_close(f);
	return 0;
}

static int work_file(struct err *e)
{
	if (st_write_file(in("x.safetensors"), &(struct st_write){ .entries = entries, .n = 2 }, e))
		return -1;
	return check_tensors(in("x.safetensors"), e);
}

static int work_shards(struct err *e)
{
	if (st_write_folder(in("shards"), &(struct st_write){ .entries = entries, .n = 2, .shard_bytes = 8 }, e))
		return -1;
	return check_tensors(in("shards"), e);
}

/* A file that was whole stays whole when the next one cannot be written. */
static int work_keeps_the_old(struct err *e)
{
	int rc = st_write_file(in("kept.safetensors"), &(struct st_write){ .entries = entries, .n = 2 }, e);
	struct err why = ERR_INIT;

	if (file_exists(in("kept.safetensors")) && check_tensors(in("kept.safetensors"), &why) && !rc)
		rc = err_set(e, why.code, "%s", why.text);
	TORTURE_NEED(why.code != ERR_FORMAT);
	return rc;
}

/* --- tokenizers --------------------------------------------------------------------------- */

static const char *const specials[] = { "<|end|>", NULL };

static int work_train(struct err *e)
{
	const char *files[] = { in("text") };

	if (file_replace(files[0], STR("the cat the dog the cow, caf\xC3\xA9 cafe\xCC\x81 12345 the end the end"), e))
		return -1;
	return tok_train(in("tok"), &(struct tok_train){ .files = files, .nfiles = 1, .vocab = 264, .specials = specials, .digits = 1,
		.chat_template = "{% set x = 'a' ~ messages[0].role %}{% for m in messages %}{{ m.content|upper|trim ~ x }}{% endfor %}" }, e);
}

static int work_encode(struct err *e)
{
	struct tok *t = tok_open(in("tok"), e);
	struct tok_enc *x = t ? tok_enc_new(t, e) : NULL;
	struct tok_ids ids = TOK_IDS_INIT;
	struct buf text = BUF_INIT;
	int rc = !x || tok_encode(x, STR("the cafe\xCC\x81<|end|> cat\xFF"), 0, &ids, e);

	if (!rc) {
		tok_decode(t, ids.v, ids.n, 1, &text);
		rc = buf_check(&text, e);
		if (!rc)
			TORTURE_NEED(!strcmp(text.p, "the caf\xC3\xA9 cat\xEF\xBF\xBD"));
	}
	vec_free(&ids);
	buf_release(&text);
	tok_enc_free(x);
	tok_free(t);
	return rc ? -1 : 0;
}

static const char general[] =
	"{\"added_tokens\": [{\"id\": 5, \"content\": \"cat\", \"single_word\": true, \"normalized\": true}], \"normalizer\": {\"type\": \"NFC\"},"
	"\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": true}, \"model\": {\"type\": \"BPE\", \"ignore_merges\": true,"
	"\"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2, \"\xC4\xA0\": 3, \"\xC4\xA0""ab\": 4}, \"merges\": [\"a b\", \"\xC4\xA0 ab\"]}}";

static int work_patterns(struct err *e)
{
	struct tok *t = tok_parse(str_of(general), e);
	struct tok_enc *x = t ? tok_enc_new(t, e) : NULL;
	struct tok_ids ids = TOK_IDS_INIT;
	int rc = !x || tok_encode(x, STR("ab cat scat"), 0, &ids, e) ? -1 : 0;

	if (!rc)
		TORTURE_NEED(ids.n == 5 && ids.v[0] == 4 && ids.v[1] == 3 && ids.v[2] == 5);
	vec_free(&ids);
	tok_enc_free(x);
	tok_free(t);
	return rc;
}

static int work_chat(struct err *e)
{
	struct tok *t = tok_open(in("tok"), e);
	struct json *messages = t ? json_parse(STR("[{\"role\": \"user\", \"content\": \" hi \"}, {\"role\": \"x\", \"content\": \"ho\"}]"), e) : NULL;
	struct buf b = BUF_INIT;
	int rc = !messages || tok_render_chat(t, &(struct tok_chat){ .messages = messages }, &b, e) ? -1 : 0;

	if (!rc)
		TORTURE_NEED(!strcmp(b.p, "HIauserHOauser"));
	buf_release(&b);
	json_free(messages);
	tok_free(t);
	return rc;
}

int main(void)
{
	static const struct torture_case cases[] = {
		{ .name = "safetensors file", .work = work_file },
		{ .name = "safetensors shards", .work = work_shards },
		{ .name = "the old file stays", .work = work_keeps_the_old },
		{ .name = "tokenizer training", .work = work_train },
		{ .name = "tokenizer", .work = work_encode },
		{ .name = "tokenizer patterns", .work = work_patterns },
		{ .name = "chat template", .work = work_chat },
	};

	log_set_level(LOG_OFF);
	return torture_main(cases, COUNT_OF(cases));
}
