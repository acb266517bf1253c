/* Conversations in the form of a model's own chat template (Jinja). */
#include "base/json.h"
#include "jinja/jinja.h"
#include "tok/tok_impl.h"

int tok_has_template(const struct tok *t)
{
	return t->chat_template != NULL;
}

struct chat_vars { /* context of set_variables */
	const struct tok *t;
	const struct tok_chat *c;
};

/* Sets a template variable to a token's text, if the tokenizer names one. */
static void set_token(struct jinja *j, const char *name, const char *text)
{
	if (text)
		jinja_set(j, str_of(name), jv_str(j, str_of(text)));
}

/* The variables that transformers gives to a template. */
static void set_variables(struct jinja *j, void *ctx)
{
	const struct chat_vars *v = ctx;

	set_token(j, "bos_token", v->t->bos_text);
	set_token(j, "eos_token", v->t->eos_text);
	jinja_set(j, STR("messages"), jv_from_json(j, v->c->messages));
	jinja_set(j, STR("tools"), jv_from_json(j, v->c->tools));
	jinja_set(j, STR("documents"), JV_NIL);
	jinja_set(j, STR("add_generation_prompt"), JV(JV_BOOL, i, v->c->add_generation_prompt != 0));
	for (size_t i = 0; v->c->extra && i < json_count(v->c->extra); i++) {
		const char *key;
		const struct json *m = json_member(v->c->extra, i, &key);

		jinja_set(j, jv_str(j, str_of(key)).s, jv_from_json(j, m));
	}
}

/* See tok.h. */
int tok_render_chat(const struct tok *t, const struct tok_chat *c, struct buf *out, struct err *e)
{
	struct chat_vars v = { .t = t, .c = c };

	if (!t->chat_template)
		return err_set(e, ERR_STATE, "this tokenizer has no chat template");
	return jinja_render(str_of(t->chat_template), set_variables, &v, out, e) ?
		err_wrap(e, "chat template") : buf_check(out, e);
}
