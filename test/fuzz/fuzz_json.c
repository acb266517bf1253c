/* JSON from anywhere: what is read, written and read again gives the same text. */
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct err e = ERR_INIT;
	struct json *j = json_parse((struct str){ .p = (const char *)data, .n = n }, &e), *again;
	struct buf a = BUF_INIT, b = BUF_INIT;
	struct jw wa = { .out = &a }, wb = { .out = &b, .indent = 0 };

	BUG_ON(!j && e.code == ERR_NONE);
	if (!j)
		return 0;
	jw_json(&wa, j);
	again = json_parse(buf_str(&a), &e);
	if (!again)
		BUG("what was written is refused: %s", e.text);
	jw_json(&wb, again);
	BUG_ON(!str_eq(buf_str(&a), buf_str(&b)));
	json_free(j);
	json_free(again);
	buf_release(&a);
	buf_release(&b);
	return 0;
}
