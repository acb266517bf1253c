/* Any bytes as the body of a request: for samples (/v1/completions, /v1/chat/completions), for verdicts (/v1/verify), for
 * diagnostics (/v1/check). What is taken is whole: a prompt within the vocabulary, candidates with a task, texts of the
 * lengths that are named. From the root of the tree: the tokenizer is the base model's. */
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "base/opt.h"
#include "serve/verify_service_impl.h"
#include "serve/check_service.h"
#include "serve/completion.h"
#include "tok/tok.h"
#include "verify/pool/verdict_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_speech(struct str body, int chat, const struct tok *t)
{
	struct err e = ERR_INIT;
	struct completion *s = completion_read(body, chat, t, &e);

	BUG_ON(!s && e.code == ERR_NONE);
	if (!s)
		return;
	BUG_ON(s->r.n < 1 || s->r.prompt_n < 1 || !s->choice);
	for (int i = 0; i < s->r.prompt_n; i++)
		BUG_ON(s->r.prompt[i] < 0 || s->r.prompt[i] >= tok_count(t));
	completion_free(s);
}

/* The options outlive the request, as those of a lane do. */
static void read_candidates(struct str body, const struct judge_args *own)
{
	struct verify_request r;
	struct judge_options o;
	struct judge_pool_options p;
	struct err e = ERR_INIT;
	int rc = verify_request_read(&r, body, own, &e), usable = !rc && !judge_args_options(&r.args, &o, &p, &e);
	char key[65];

	BUG_ON(rc && e.code == ERR_NONE);
	for (size_t i = 0; i < r.n; i++)
		BUG_ON(!r.items[i]->id || strlen(r.items[i]->task) != r.items[i]->task_n || !r.items[i]->candidate);
	verify_request_release(&r);
	if (usable)
		verdict_key(&o, STR("task"), STR("candidate"), key);
}

static void read_check(struct str body)
{
	struct check_request r;
	struct buf texts = BUF_INIT;
	struct err e = ERR_INIT;

	if (check_request_read(&r, &texts, body, &e))
		BUG_ON(e.code == ERR_NONE);
	else
		BUG_ON((size_t)r.source + r.task != texts.n);
	buf_release(&texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct tok *t;
	static struct judge_args own;
	struct str body = { .p = (const char *)data, .n = n };
	struct err e = ERR_INIT;

	log_set_level(LOG_OFF);
	if (!t) {
		struct opt_parsed p;

		t = tok_open("models/base", &e);
		BUG_ON(!t || opt_parse(judge_args_table, &own, 0, NULL, &p, &e));
		opt_release(&p);
	}
	read_speech(body, 0, t);
	read_speech(body, 1, t);
	read_candidates(body, &own);
	read_check(body);
	return 0;
}
