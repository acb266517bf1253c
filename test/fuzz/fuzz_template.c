/* A chat template from anywhere over a fixed conversation: text or an error, within limits. */
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "jinja/jinja.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void variables(struct jinja *j, void *ctx)
{
	j->fuel = 200000;                       /* a fuzzer wants answers soon */
	j->arena.limit = (size_t)1 << 26;
	jinja_set(j, STR("messages"), jv_from_json(j, ctx));
	jinja_set(j, STR("bos_token"), JV(JV_STR, s, STR("<s>")));
	jinja_set(j, STR("add_generation_prompt"), JV(JV_BOOL, i, 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct err e = ERR_INIT;
	struct json *messages = json_parse(STR("[{\"role\": \"user\", \"content\": \"h\\u00e9 <think>x</think>\\n\"},"
					       "{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{\"function\": {\"name\": \"f\", \"arguments\": {\"a\": 1.5}}}]}]"), &e);
	struct buf out = BUF_INIT;

	BUG_ON(!messages);
	if (jinja_render((struct str){ .p = (const char *)data, .n = n }, variables, messages, &out, &e))
		BUG_ON(e.code == ERR_NONE);
	json_free(messages);
	buf_release(&out);
	return 0;
}
