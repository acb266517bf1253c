/* Requests to the model and their answers: see completion.h.
 *
 * The JSON fields are those of OpenAI's interface; clients depend on their names and order. This
 * file does not sample: completion_service.c does. */
#include "serve/completion.h"

#include <stdio.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"

enum { MAX_TOKENS = 512, TOKENS_MOST = 1 << 20 };     /* default and largest number of tokens in an answer */

/* --- reading -------------------------------------------------------------------------------------- */

/* Reads a number between lo and hi. A missing field or null gives `otherwise`. */
static int read_number(const struct json *j, const char *key, double lo, double hi, double otherwise,
		       double *out, struct err *e)
{
	const struct json *v = json_get(j, key);
	int number = v && (json_kind(v) == JSON_INT || json_kind(v) == JSON_REAL);

	*out = number ? json_real(v, otherwise) : otherwise;
	if (v && json_kind(v) != JSON_NULL && (!number || *out < lo || *out > hi))
		return err_set(e, ERR_USAGE, "'%s' must be a number from %g to %g", key, lo, hi);
	return 0;
}

/* Adds a stop string. Empty ones are ignored. */
static int add_stop(struct completion *s, size_t *n, struct str text, struct err *e)
{
	if (!text.n)
		return 0;
	if (*n == COMPLETION_STOPS_MOST)
		return err_set(e, ERR_USAGE, "more than %d stop strings", COMPLETION_STOPS_MOST);
	s->stop_text[*n] = mem_strndup(text.p, text.n);
	if (!s->stop_text[*n])
		return err_nomem(e);
	s->stops[*n] = s->stop_text[*n];
	++*n;
	return 0;
}

/* Reads "stop", which is a string or a list of strings. */
static int read_stops(struct completion *s, const struct json *stop, struct err *e)
{
	size_t n = 0;
	int rc = 0;

	if (stop && json_kind(stop) == JSON_STRING)
		rc = add_stop(s, &n, json_str(stop, ""), e);
	for (size_t i = 0; stop && json_kind(stop) == JSON_ARRAY && i < json_count(stop) && !rc; i++)
		rc = add_stop(s, &n, json_str(json_at(stop, i), ""), e);
	s->r.stop_strings = s->stops;
	return rc;
}

/* Reads the options of sampling. Chat clients send max_completion_tokens, older ones max_tokens. */
static int read_sampling(struct completion *s, const struct json *j, struct err *e)
{
	double n, most, temperature, top_p, top_k, seed;
	const char *limit = json_get(j, "max_completion_tokens") ? "max_completion_tokens" : "max_tokens";

	if (read_number(j, "n", 1, COMPLETION_SAMPLES_MOST, 1, &n, e) ||
	    read_number(j, limit, 1, TOKENS_MOST, MAX_TOKENS, &most, e) ||
	    read_number(j, "temperature", 0, 100, 1, &temperature, e) ||
	    read_number(j, "top_p", 0, 1, 1, &top_p, e) || read_number(j, "top_k", 0, 1e9, 0, &top_k, e) ||
	    read_number(j, "seed", -9e15, 9e15, (double)(time(NULL) % 1000003), &seed, e))
		return -1;
	s->r.n = s->left = (int)n;
	s->r.max_new_tokens = (int)most;
	s->r.sample = (struct sample_opts){ .temperature = (float)temperature, .top_p = (float)top_p,
					    .top_k = (int)top_k };
	s->r.seed = (uint64_t)(int64_t)seed;
	s->stream = json_bool(json_get(j, "stream"), 0);
	s->usage = json_bool(json_get(json_get(j, "stream_options"), "include_usage"), 0);
	s->logprobs = s->chat ? json_bool(json_get(j, "logprobs"), 0) : json_get(j, "logprobs") &&
		json_kind(json_get(j, "logprobs")) == JSON_INT;
	return read_stops(s, json_get(j, "stop"), e);
}

/* Reads the prompt: text into `text`, or token ids, if the client sends them, into s->prompt. */
static int read_prompt(struct completion *s, const struct json *j, const struct tok *t, struct buf *text, struct err *e)
{
	const struct json *p = json_get(j, s->chat ? "messages" : "prompt");

	if (!p)
		return err_set(e, ERR_USAGE, "'%s' is missing", s->chat ? "messages" : "prompt");
	if (s->chat && (json_kind(p) != JSON_ARRAY || !json_count(p)))
		return err_set(e, ERR_USAGE, "'messages' must be a list of messages that is not empty");
	if (s->chat && !tok_has_template(t))
		return err_set(e, ERR_USAGE, "this model has no chat template; use /v1/completions");
	if (s->chat)
		return tok_render_chat(t, &(struct tok_chat){ .messages = p, .tools = json_get(j, "tools"),
							      .add_generation_prompt = 1 }, text, e);
	if (json_kind(p) == JSON_ARRAY && json_count(p) == 1 && json_kind(json_at(p, 0)) == JSON_STRING)
		p = json_at(p, 0);
	for (size_t i = 0; json_kind(p) == JSON_ARRAY && i < json_count(p); i++) {
		int64_t id = json_int(json_at(p, i), -1);

		if (id < 0 || id >= tok_count(t))
			return err_set(e, ERR_USAGE, "'prompt' must be one string or a list of token ids");
		if (vec_push(&s->prompt, (int32_t)id))
			return err_nomem(e);
	}
	buf_addstr(text, json_str(p, ""));
	return 0;
}

/* Encodes the prompt. A chat template writes its own special tokens, so none are added to it. */
static int read_tokens(struct completion *s, const struct json *j, const struct tok *t, struct err *e)
{
	struct buf text = BUF_INIT;
	struct tok_enc *x = tok_enc_new(t, e);
	int rc = x ? read_prompt(s, j, t, &text, e) : -1;

	if (!rc && text.n)
		rc = tok_encode(x, buf_str(&text), s->chat ? 0 : TOK_ADD_SPECIAL, &s->prompt, e);
	if (!rc && !s->prompt.n)
		rc = err_set(e, ERR_USAGE, "the prompt is empty");
	s->r.prompt = s->prompt.v;
	s->r.prompt_n = (int)s->prompt.n;
	tok_enc_free(x);
	buf_release(&text);
	return rc;
}

/* The id has the time and a serial number, so that ids of one server never repeat. */
struct completion *completion_read(struct str body, int chat, const struct tok *t, struct err *e)
{
	struct json *j = json_parse(body, e);
	struct completion *s = j ? mem_zalloc(sizeof *s) : NULL;
	static _Atomic uint64_t serial;
	int rc = -1;

	if (s) {
		s->chat = chat;
		s->created = time(NULL);
		snprintf(s->id, sizeof s->id, "%s-%llx-%llu", chat ? "chatcmpl" : "cmpl",
			 (unsigned long long)s->created, (unsigned long long)serial++);
		rc = json_kind(j) != JSON_OBJECT ? err_set(e, ERR_USAGE, "the body must be a JSON object") :
			read_sampling(s, j, e) || read_tokens(s, j, t, e) ? -1 : 0;
		if (!rc && !(s->choice = mem_array((size_t)s->r.n, sizeof *s->choice)))
			rc = err_nomem(e);
		s->r.nstop_tokens = tok_stops(t, &s->r.stop_tokens);
		s->r.ctx = s;
	}
	json_free(j);
	if (!rc)
		return s;
	if (s)
		completion_free(s);
	return NULL;
}

/* Frees the request with its samples. The connection belongs to httpd. */
void completion_free(struct completion *s)
{
	for (int i = 0; s->choice && i < s->r.n; i++) {
		buf_release(&s->choice[i].text);
		mem_free(s->choice[i].tokens);
		mem_free(s->choice[i].logprobs);
	}
	for (size_t i = 0; i < COMPLETION_STOPS_MOST; i++)
		mem_free(s->stop_text[i]);
	mem_free(s->choice);
	vec_free(&s->prompt);
	mem_free(s);
}

/* --- answering -------------------------------------------------------------------------------------- */

/* The interface's word for the reason why a sample ended. */
static const char *finish_word(enum infer_finish f)
{
	return f == INFER_LENGTH ? "length" : f == INFER_REFUSED ? "content_filter" : "stop";
}

/* Writes the fields that every answer and every chunk starts with. */
static void write_head(struct jw *w, const struct completion *s, int piece)
{
	jw_key(w, "id"), jw_cstr(w, s->id);
	jw_key(w, "object"), jw_cstr(w, !s->chat ? "text_completion" : piece ? "chat.completion.chunk" :
				     "chat.completion");
	jw_key(w, "created"), jw_int(w, s->created);
	jw_key(w, "model"), jw_cstr(w, s->model);
}

/* Writes one token with its log-probability. A token may be a part of a character, so its bytes are
 * listed too. */
static void write_token(struct jw *w, const struct tok *t, int32_t id, float logprob)
{
	struct buf text = BUF_INIT;

	tok_decode(t, &id, 1, 0, &text);
	jw_begin(w, '{');
	jw_key(w, "token"), jw_str(w, buf_str(&text));
	jw_key(w, "logprob"), jw_real(w, (double)logprob);
	jw_key(w, "bytes"), jw_begin(w, '[');
	for (size_t i = 0; i < tok_bytes(t, id).n; i++)
		jw_int(w, (unsigned char)tok_bytes(t, id).p[i]);
	jw_end(w, ']');
	jw_key(w, "top_logprobs"), jw_begin(w, '['), jw_end(w, ']');
	jw_end(w, '}');
	buf_release(&text);
}

/* Chat answers list an object for each token; the older interface has a list of numbers and one of
 * texts. */
static void write_logprobs(struct jw *w, const struct completion *s, const struct completion_choice *c,
			   const struct tok *t)
{
	jw_key(w, "logprobs");
	if (!s->logprobs || !c) {
		jw_null(w);
		return;
	}
	jw_begin(w, '{');
	jw_key(w, s->chat ? "content" : "token_logprobs"), jw_begin(w, '[');
	for (int i = 0; i < c->n; i++)
		if (s->chat)
			write_token(w, t, c->tokens[i], c->logprobs[i]);
		else
			jw_real(w, (double)c->logprobs[i]);
	jw_end(w, ']');
	if (!s->chat) {
		jw_key(w, "tokens"), jw_begin(w, '[');
		for (int i = 0; i < c->n; i++)
			jw_str(w, tok_bytes(t, c->tokens[i]));
		jw_end(w, ']');
	}
	jw_end(w, '}');
}

/* Writes the text of a sample: a message, a delta of a stream, or a plain text. */
static void write_text(struct jw *w, const struct completion *s, int piece, struct str text)
{
	if (!s->chat) {
		jw_key(w, "text"), jw_str(w, text);
		return;
	}
	jw_key(w, piece ? "delta" : "message"), jw_begin(w, '{');
	if (!piece)
		jw_key(w, "role"), jw_cstr(w, "assistant");
	jw_key(w, "content"), jw_str(w, text);
	jw_end(w, '}');
}

/* Writes the numbers of tokens. */
static void write_usage(struct jw *w, const struct completion *s)
{
	int64_t drawn = 0;

	for (int i = 0; i < s->r.n; i++)
		drawn += s->choice[i].n;
	jw_key(w, "usage"), jw_begin(w, '{');
	jw_key(w, "prompt_tokens"), jw_int(w, s->r.prompt_n);
	jw_key(w, "completion_tokens"), jw_int(w, drawn);
	jw_key(w, "total_tokens"), jw_int(w, s->r.prompt_n + drawn);
	jw_end(w, '}');
}

/* Sends one event of a stream: text of a sample, or its end. */
static void send_chunk(struct completion *s, int sample, struct str text, const struct completion_choice *end,
		       const struct tok *t)
{
	struct buf out = BUF_INIT;
	struct jw w = { .out = &out };

	buf_adds(&out, "data: ");
	jw_begin(&w, '{');
	write_head(&w, s, 1);
	jw_key(&w, "choices"), jw_begin(&w, '['), jw_begin(&w, '{');
	jw_key(&w, "index"), jw_int(&w, sample);
	write_text(&w, s, 1, text);
	write_logprobs(&w, s, end, t);
	jw_key(&w, "finish_reason"), jw_cstr(&w, end ? finish_word(end->finish) : NULL);
	jw_end(&w, '}'), jw_end(&w, ']');
	jw_end(&w, '}');
	buf_adds(&out, "\n\n");
	httpd_add(s->call, buf_str(&out));
	buf_release(&out);
}

/* A stream's head is sent at once, so that the client knows that its request was accepted. */
void completion_begin(struct completion *s)
{
	if (s->stream)
		httpd_begin(s->call, "text/event-stream");
}

/* Only a stream sends text before the sample is complete. */
void completion_piece(struct completion *s, int sample, struct str text)
{
	if (s->stream)
		send_chunk(s, sample, text, NULL, NULL);
}

/* Ends a stream, with a last event for the numbers of tokens if they were requested. */
static void end_stream(struct completion *s)
{
	struct buf out = BUF_INIT;
	struct jw w = { .out = &out };

	if (s->usage) {
		buf_adds(&out, "data: ");
		jw_begin(&w, '{');
		write_head(&w, s, 1);
		jw_key(&w, "choices"), jw_begin(&w, '['), jw_end(&w, ']');
		write_usage(&w, s);
		jw_end(&w, '}');
		buf_adds(&out, "\n\n");
	}
	buf_adds(&out, "data: [DONE]\n\n");
	httpd_add(s->call, buf_str(&out));
	httpd_end(s->call);
	buf_release(&out);
}

/* Sends the answer of a request without streaming. */
static void answer_whole(struct completion *s, const struct tok *t)
{
	struct buf out = BUF_INIT;
	struct jw w = { .out = &out };

	jw_begin(&w, '{');
	write_head(&w, s, 0);
	jw_key(&w, "choices"), jw_begin(&w, '[');
	for (int i = 0; i < s->r.n; i++) {
		jw_begin(&w, '{');
		jw_key(&w, "index"), jw_int(&w, i);
		write_text(&w, s, 0, buf_str(&s->choice[i].text));
		write_logprobs(&w, s, &s->choice[i], t);
		jw_key(&w, "finish_reason"), jw_cstr(&w, finish_word(s->choice[i].finish));
		jw_end(&w, '}');
	}
	jw_end(&w, ']');
	write_usage(&w, s);
	jw_end(&w, '}');
	buf_addc(&out, '\n');
	httpd_reply(s->call, 200, "application/json", buf_str(&out), NULL);
	buf_release(&out);
}

/* Copies a sample's result, which the sampler reuses. */
static int keep_choice(struct completion_choice *c, const struct infer_result *r)
{
	c->finish = r->finish;
	c->n = r->n;
	c->done = 1;
	buf_addstr(&c->text, r->text);
	c->tokens = mem_array((size_t)r->n + 1, sizeof *c->tokens);
	c->logprobs = mem_array((size_t)r->n + 1, sizeof *c->logprobs);
	if (!c->tokens || !c->logprobs)
		return -1;
	if (r->n) {
		memcpy(c->tokens, r->tokens, (size_t)r->n * sizeof *c->tokens);
		memcpy(c->logprobs, r->logprobs, (size_t)r->n * sizeof *c->logprobs);
	}
	return 0;
}

/* Called for each sample. A result that cannot be copied for lack of memory is answered without its
 * tokens. */
void completion_done(struct completion *s, const struct infer_result *r, const struct tok *t)
{
	struct completion_choice *c = &s->choice[r->sample];

	if (keep_choice(c, r))
		c->n = 0;
	if (s->stream)
		send_chunk(s, r->sample, STR(""), c, t);
	if (--s->left)
		return;
	if (s->stream)
		end_stream(s);
	else if (r->finish == INFER_REFUSED)
		httpd_error(s->call, 400, "the prompt of %d tokens is too long for this server", s->r.prompt_n);
	else
		answer_whole(s, t);
	completion_free(s);
}
