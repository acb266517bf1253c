/* Repair turns: the conversation that a further turn is asked with, and the join of its answer to
 * the sample. turn.h is the manual. */
#include "rl/turn.h"

#include "base/mem.h"
#include "data/extract.h"
#include "train/dataset.h"

/* The chat template may end an answer with a stop token that the model has drawn already. Returns 1
 * if the reply begins with that token: the caller skips it, so that the token does not appear
 * twice. */
static size_t drawn_before(const struct tok *t, const struct rolled *s, const struct tok_ids *reply)
{
	const int32_t *stops;
	size_t n = tok_stops(t, &stops);

	for (size_t i = 0; i < n; i++)
		if (reply->n && s->n > s->prompt_n && reply->v[0] == stops[i] && s->tokens[s->n - 1] == stops[i])
			return 1;
	return 0;
}

int turn_prompt(struct tok_enc *x, const struct tok *t, const struct rolled *s, struct tok_ids *out, struct err *e)
{
	struct buf user = BUF_INIT, text = BUF_INIT;
	struct tok_ids reply = TOK_IDS_INIT;
	size_t from, all;
	int rc;

	verdict_feedback(&s->verdict, &user);
	prompt_repair(&user);
	rc = dataset_chat_reply(t, buf_str(&user), &text, e) || tok_encode(x, buf_str(&text), 0, &reply, e) ? -1 : 0;
	if (!rc) {
		from = drawn_before(t, s, &reply);
		all = (size_t)s->n + reply.n - from;
		if (vec_grow(out, all)) {
			rc = err_nomem(e);
		} else {
			memcpy(out->v, s->tokens, (size_t)s->n * sizeof *out->v);
			memcpy(out->v + s->n, reply.v + from, (reply.n - from) * sizeof *out->v);
			out->n = all;
		}
	}
	vec_free(&reply);
	buf_release(&user);
	buf_release(&text);
	return rc;
}

/* Extends log-probabilities and classes over the new turn: earlier answers keep theirs, tokens of
 * the judge's feedback are EXTRACT_GIVEN and are not trained, then those of the new answer
 * follow. */
static int join_marks(struct rolled *s, struct rolled *next, struct err *e)
{
	size_t old = (size_t)(s->n - s->prompt_n), given = (size_t)(next->prompt_n - s->n),
		fresh = (size_t)(next->n - next->prompt_n);
	float *logprobs = mem_resize(s->logprobs, (old + given + fresh + 1) * sizeof *logprobs);
	unsigned char *classes;

	if (!logprobs)
		return err_nomem(e);
	s->logprobs = logprobs;
	classes = mem_resize(s->classes, old + given + fresh + 1);
	if (!classes)
		return err_nomem(e);
	s->classes = classes;
	memset(logprobs + old, 0, given * sizeof *logprobs);
	memset(classes + old, EXTRACT_GIVEN, given);
	memcpy(logprobs + old + given, next->logprobs, fresh * sizeof *logprobs);
	memcpy(classes + old + given, next->classes, fresh);
	return 0;
}

int turn_join(struct rolled *s, struct rolled *next, struct err *e)
{
	BUG_ON(next->prompt_n < s->n);
	if (join_marks(s, next, e))
		return -1;
	mem_free(s->tokens);
	mem_free(s->answer);
	mem_free(s->code);
	s->tokens = next->tokens;
	s->answer = next->answer;
	s->code = next->code;
	next->tokens = NULL;
	next->answer = next->code = NULL;
	s->n = next->n;
	s->finish = next->finish;
	s->judged = next->judged;
	s->verdict = next->verdict;
	s->turns++;
	return 0;
}
