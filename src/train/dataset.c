/* Training data: rows of JSON become token sequences with a weight for each token. dataset.h is the
 * manual. Weight 0 means that the token is read but not trained (the prompt), 1 that it is
 * trained. */
#include "train/dataset.h"

#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"

/* The state while rows are added to a dataset. */
struct dataset_rows {
	struct dataset *d;
	const struct tok *t;
	struct tok_enc *x;
	struct tok_ids ids;
	int max_length;
	size_t start;                /* of the sequence being built */
	struct err *e;
};

/* Appends one token to the sequence being built. */
static int add_token(struct dataset_rows *b, int32_t id, float weight)
{
	return vec_push(&b->d->tokens, id) || vec_push(&b->d->weights, weight) ? err_nomem(b->e) : 0;
}

/* Encodes a piece of text with one weight for all its tokens. */
static int add_text(struct dataset_rows *b, struct str text, float weight)
{
	b->ids.n = 0;
	if (tok_encode(b->x, text, 0, &b->ids, b->e))
		return -1;
	for (size_t i = 0; i < b->ids.n; i++)
		if (add_token(b, b->ids.v[i], weight))
			return -1;
	return 0;
}

/* Ends the sequence. It is cut to the maximum length, and dropped if no token of it is trained. The
 * first token has no prediction, so its weight does not count. */
static int end_seq(struct dataset_rows *b)
{
	struct dataset *d = b->d;
	struct dataset_seq s = { .at = b->start, .n = (int)MIN(d->tokens.n - b->start, (size_t)b->max_length) };
	int trained = 0;

	d->cut += d->tokens.n - b->start > (size_t)b->max_length;
	d->tokens.n = d->weights.n = b->start + (size_t)s.n;
	for (int i = 1; i < s.n && !trained; i++)
		trained = d->weights.v[b->start + (size_t)i] != 0.0f;
	if (!trained) {
		d->empty++;
		d->tokens.n = d->weights.n = b->start;
		return 0;
	}
	b->start += (size_t)s.n;
	return vec_push(&d->seqs, s) ? err_nomem(b->e) : 0;
}

/* Appends the end token, which is trained: the model must learn to stop. */
static int add_eos(struct dataset_rows *b)
{
	return tok_eos(b->t) >= 0 ? add_token(b, tok_eos(b->t), 1.0f) : 0;
}

/* A prompt and a completion, each tokenised by itself, then the end token. */
static int add_pair(struct dataset_rows *b, struct str prompt, struct str completion)
{
	return add_text(b, prompt, 0.0f) || add_text(b, completion, 1.0f) || add_eos(b) ? -1 : end_seq(b);
}

/* --- conversations ------------------------------------------------------------------------ */

/* Writes one message of a conversation as JSON. */
static int message(struct jw *w, const char *role, struct str content)
{
	jw_begin(w, '{');
	jw_key(w, "role");
	jw_cstr(w, role);
	jw_key(w, "content");
	jw_str(w, content);
	jw_end(w, '}');
	return 0;
}

/* Renders the prompt of one question in the model's chat template. A model without a template gets
 * only the user's text. */
int dataset_chat_prompt(const struct tok *t, struct str system, struct str user, struct buf *out, struct err *e)
{
	struct buf text = BUF_INIT;
	struct jw w = { .out = &text };
	struct json *j;
	int rc;

	if (!tok_has_template(t)) {
		buf_addstr(out, user);
		return buf_check(out, e);
	}
	jw_begin(&w, '[');
	if (system.n)
		message(&w, "system", system);
	message(&w, "user", user);
	jw_end(&w, ']');
	j = json_parse(buf_str(&text), e);
	buf_release(&text);
	if (!j)
		return -1;
	rc = tok_render_chat(t, &(struct tok_chat){ .messages = j, .add_generation_prompt = 1 }, out, e);
	json_free(j);
	return rc;
}

/* Renders what follows an answer in the conversation: the end of the assistant's turn, the user's
 * next message, the start of the next answer. The template is rendered with a marker as the answer,
 * and the text after the marker is taken. So the tokens that the model drew for the real answer are
 * never encoded again. */
int dataset_chat_reply(const struct tok *t, struct str user, struct buf *out, struct err *e)
{
	static const char mark[] = "the answer stands here";
	struct buf text = BUF_INIT, all = BUF_INIT;
	struct jw w = { .out = &text };
	struct json *j;
	ptrdiff_t at = -1;
	int rc = 0;

	if (!tok_has_template(t)) {
		buf_addf(out, "\n%.*s", STR_ARG(user));
		return buf_check(out, e);
	}
	jw_begin(&w, '[');
	message(&w, "user", STR("?"));
	message(&w, "assistant", str_of(mark));
	message(&w, "user", user);
	jw_end(&w, ']');
	j = json_parse(buf_str(&text), e);
	rc = !j || tok_render_chat(t, &(struct tok_chat){ .messages = j, .add_generation_prompt = 1 },
				   &all, e) ? -1 : 0;
	if (!rc && (at = str_find(buf_str(&all), str_of(mark))) < 0)
		rc = err_set(e, ERR_FORMAT,
			     "the chat template leaves out the assistant's answer, so a second turn is impossible");
	if (!rc)
		buf_add(out, all.p + at + sizeof mark - 1, all.n - (size_t)at - (sizeof mark - 1));
	json_free(j);
	buf_release(&text);
	buf_release(&all);
	return rc ? rc : buf_check(out, e);
}

/* Renders the first n messages; `prompt` appends the start of an assistant's turn. */
static int render_first(struct dataset_rows *b, const struct json *messages, size_t n, int prompt, struct buf *out)
{
	struct buf text = BUF_INIT;
	struct jw w = { .out = &text };
	struct json *part;
	int rc;

	jw_begin(&w, '[');
	for (size_t i = 0; i < n; i++)
		jw_json(&w, json_at(messages, i));
	jw_end(&w, ']');
	part = json_parse(buf_str(&text), b->e);
	buf_release(&text);
	if (!part)
		return -1;
	buf_clear(out);
	rc = tok_render_chat(b->t, &(struct tok_chat){ .messages = part, .add_generation_prompt = prompt }, out, b->e);
	json_free(part);
	return rc;
}

/* Adds the assistant's message i: the text before it with weight 0, its own text with weight 1. The
 * template is rendered up to and with the message; if the second text does not begin with the
 * first, the template changes earlier turns, and no token could be given its weight. */
static int add_turn(struct dataset_rows *b, const struct json *messages, size_t i, struct buf *before,
		    struct buf *after, size_t *done)
{
	int assistant = str_is(json_str(json_get(json_at(messages, i), "role"), ""), "assistant");

	if (!assistant)
		return 0;
	if (render_first(b, messages, i, 1, before) || render_first(b, messages, i + 1, 0, after))
		return -1;
	if (before->n < *done || after->n < before->n || memcmp(before->p, after->p, before->n))
		return err_set(b->e, ERR_FORMAT, "the chat template changes earlier text when a turn is added");
	if (add_text(b, (struct str){ .p = before->p + *done, .n = before->n - *done }, 0.0f) ||
	    add_text(b, (struct str){ .p = after->p + before->n, .n = after->n - before->n }, 1.0f))
		return -1;
	*done = after->n;
	return 0;
}

/* A conversation: the assistant's text in each of its turns is trained. */
static int add_messages(struct dataset_rows *b, const struct json *messages)
{
	struct buf before = BUF_INIT, after = BUF_INIT;
	size_t done = 0;
	int rc = 0;

	if (!tok_has_template(b->t))
		rc = err_set(b->e, ERR_FORMAT, "rows of messages need a tokenizer with a chat template");
	for (size_t i = 0; i < json_count(messages) && !rc; i++)
		rc = add_turn(b, messages, i, &before, &after, &done);
	buf_release(&before);
	buf_release(&after);
	return rc ? rc : end_seq(b);
}

/* --- rows --------------------------------------------------------------------------------- */

/* One row in any of the three forms: messages, text, or prompt and completion. */
static int add_row(struct dataset_rows *b, const struct json *row)
{
	const struct json *m = json_get(row, "messages"), *text = json_get(row, "text");
	struct str prompt, completion;

	if (m && json_kind(m) == JSON_ARRAY)
		return add_messages(b, m);
	if (text && json_kind(text) == JSON_STRING)
		return add_text(b, json_str(text, ""), 1.0f) || add_eos(b) ? -1 : end_seq(b);
	if (json_need_str(row, "prompt", &prompt, b->e) || json_need_str(row, "completion", &completion, b->e))
		return -1;
	return add_pair(b, prompt, completion);
}

struct dataset_rows *dataset_rows_new(struct dataset *d, const struct tok *t, int max_length, struct err *e)
{
	struct dataset_rows *b = mem_zalloc(sizeof *b);

	if (!b) {
		err_nomem(e);
		return NULL;
	}
	*b = (struct dataset_rows){ .d = d, .t = t, .x = tok_enc_new(t, e), .max_length = max_length,
				    .start = d->tokens.n };
	if (!b->x) {
		mem_free(b);
		return NULL;
	}
	return b;
}

void dataset_rows_into(struct dataset_rows *b, struct dataset *d)
{
	b->d = d;
	b->start = d->tokens.n;
}

int dataset_rows_add(struct dataset_rows *b, struct str json, struct err *e)
{
	struct json *row = json_parse(json, e);
	int rc;

	b->e = e;
	rc = row ? add_row(b, row) : -1;
	json_free(row);
	return rc;
}

void dataset_rows_free(struct dataset_rows *b)
{
	if (!b)
		return;
	tok_enc_free(b->x);
	mem_free(b->ids.v);
	mem_free(b);
}

/* Adds all rows of a JSON lines file; an error names file and line. */
static int load_lines(struct dataset_rows *b, struct line_reader *r, const char *path, struct err *e)
{
	struct str line;
	int rc;

	while ((rc = lines_next(r, &line, e)) > 0)
		if (str_trim(line).n && dataset_rows_add(b, line, e)) {
			err_wrap(e, "'%s' line %lld", path, (long long)r->number);
			return -1;
		}
	return rc;
}

int dataset_load(struct dataset *d, const struct tok *t, const char *path, int max_length, struct err *e)
{
	struct dataset_rows *b = dataset_rows_new(d, t, max_length, e);
	struct line_reader r;
	int rc = b ? lines_open(&r, path, e) : -1;

	if (!rc) {
		rc = load_lines(b, &r, path, e);
		lines_close(&r);
	}
	dataset_rows_free(b);
	return rc;
}

void dataset_clear(struct dataset *d)
{
	d->tokens.n = d->weights.n = d->seqs.n = 0;
}

void dataset_release(struct dataset *d)
{
	vec_free(&d->tokens);
	vec_free(&d->weights);
	vec_free(&d->seqs);
}

/* The order of sequences in an epoch: a function of the seed and the epoch's number only, so that a
 * resumed run sees the same order. */
int dataset_order(const struct dataset *d, uint64_t seed, int64_t epoch, int shuffle, uint32_t *order)
{
	struct rng r;
	char stream[40];

	for (size_t i = 0; i < d->seqs.n; i++)
		order[i] = (uint32_t)i;
	if (!shuffle)
		return 0;
	snprintf(stream, sizeof stream, "epoch-%lld", (long long)epoch);
	rng_init(&r, seed, stream);
	rng_shuffle(&r, order, d->seqs.n, sizeof *order);
	return 0;
}
