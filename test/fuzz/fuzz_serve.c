/* Any bytes as the body of a request for samples: /v1/completions and /v1/chat/completions. What is taken has a prompt within
 * the vocabulary and as many choices as were asked for. From the root of the tree: the tokenizer is the base model's. */
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "serve/speech.h"
#include "tok/tok.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(const struct speech *s, const struct tok *t)
{
	BUG_ON(s->r.n < 1 || s->r.prompt_n < 1 || !s->choice);
	for (int i = 0; i < s->r.prompt_n; i++)
		BUG_ON(s->r.prompt[i] < 0 || s->r.prompt[i] >= tok_count(t));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct tok *t;
	struct err e = ERR_INIT;

	log_set_level(LOG_OFF);
	if (!t)
		t = tok_open("models/base", &e);
	BUG_ON(!t);
	for (int chat = 0; chat < 2; chat++) {
		struct speech *s = speech_read((struct str){ .p = (const char *)data, .n = n }, chat, t, &e);

		if (s) {
			check(s, t);
			speech_free(s);
		} else {
			BUG_ON(e.code == ERR_NONE);
		}
		err_clear(&e);
	}
	return 0;
}
