/* Conversations as a model's own template writes them. */
#include "tok/impl.h"

int tok_has_template(const struct tok *t)
{
	return t->chat_template != NULL;
}

int tok_render_chat(const struct tok *t, const struct tok_chat *c, struct buf *out, struct err *e)
{
	(void)t, (void)c, (void)out;
	return err_set(e, ERR_STATE, "this tokenizer has no chat template");
}
