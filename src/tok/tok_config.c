/* The other files in the folder of tokenizer.json: the tokens that begin, end and pad a text, and
 * the chat template. */
#include "base/file.h"
#include "base/json.h"
#include "tok/tok_impl.h"

/* Opens DIR/NAME if it exists. Returns 1 with *out, 0 if it is absent, -1 if it is broken. */
static int open_beside(const char *dir, const char *name, struct json **out, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = 0;

	*out = NULL;
	if (!path_join(&path, dir, name))
		rc = err_nomem(e);
	else if (file_exists(path.p))
		rc = (*out = json_parse_file(path.p, e)) ? 1 : -1;
	buf_release(&path);
	if (rc == 1 && json_kind(*out) != JSON_OBJECT) {
		json_free(*out);
		*out = NULL;
		return err_set(e, ERR_FORMAT, "'%s/%s' is not an object", dir, name);
	}
	return rc;
}

/* "<s>" or {"content": "<s>"}; .p NULL: not given. */
static struct str token_text(const struct json *config, const char *key)
{
	const struct json *j = json_get(config, key);

	if (j && json_kind(j) == JSON_OBJECT)
		j = json_get(j, "content");
	return j && json_kind(j) == JSON_STRING ? json_str(j, "") : (struct str){ .p = NULL };
}

/* Stores the id and (if asked for) the text of a named token. */
static int name_token(struct tok *t, const struct json *config, const char *key, int32_t *id, char **text,
		      struct err *e)
{
	struct str s = token_text(config, key);

	if (!s.p)
		return 0;
	*id = tok_find(t, s);
	if (text && !(*text = mem_strndup(s.p, s.n)))
		return err_nomem(e);
	return 0;
}

/* The template: a string, or the entry "default" of a list of {name, template}. A file
 * chat_template.jinja has been loaded before and wins. */
static int take_template(struct tok *t, const struct json *config, struct err *e)
{
	const struct json *j = json_get(config, "chat_template");
	struct str s;

	for (size_t i = 0; j && json_kind(j) == JSON_ARRAY && i < json_count(j); i++)
		if (str_is(json_str(json_get(json_at(j, i), "name"), ""), "default")) {
			j = json_get(json_at(j, i), "template");
			break;
		}
	if (!j || json_kind(j) != JSON_STRING || t->chat_template)
		return 0;
	s = json_str(j, "");
	t->chat_template = mem_strndup(s.p, s.n);
	return t->chat_template ? 0 : err_nomem(e);
}

/* DIR/chat_template.jinja, if it exists. */
static int load_jinja(struct tok *t, const char *dir, struct err *e)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int rc = 0;

	if (!path_join(&path, dir, "chat_template.jinja"))
		rc = err_nomem(e);
	else if (file_exists(path.p))
		rc = file_read(path.p, 1 << 24, &text, e) || !(t->chat_template = buf_take(&text)) ? -1 : 0;
	buf_release(&path);
	buf_release(&text);
	return rc;
}

/* Adds an id once; ids out of range are ignored. */
static int add_stop(struct tok *t, int64_t id, struct err *e)
{
	if (id < 0 || id >= t->count)
		return 0;
	for (size_t i = 0; i < t->names.stops.n; i++)
		if (t->names.stops.v[i] == id)
			return 0;
	return vec_push(&t->names.stops, (int32_t)id) ? err_nomem(e) : 0;
}

/* The ids that end an answer: those of generation_config.json. Without them: eos, and the
 * end-of-turn tokens of the known model families. */
static int pick_stops(struct tok *t, const struct json *generation, struct err *e)
{
	static const char *const turns[] = { "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>" };
	const struct json *j = generation ? json_get(generation, "eos_token_id") : NULL;

	if (j && json_kind(j) == JSON_INT)
		return add_stop(t, json_int(j, -1), e);
	for (size_t i = 0; j && json_kind(j) == JSON_ARRAY && i < json_count(j); i++)
		if (add_stop(t, json_int(json_at(j, i), -1), e))
			return -1;
	if (t->names.stops.n)
		return 0;
	if (add_stop(t, t->names.eos, e))
		return -1;
	for (size_t i = 0; i < COUNT_OF(turns); i++) {
		int32_t id = tok_find(t, str_of(turns[i]));

		if (tok_is_special(t, id) && add_stop(t, id, e))
			return -1;
	}
	return 0;
}

/* See tok_impl.h. None of the files is required. */
int tok_load_config(struct tok *t, const char *dir, struct err *e)
{
	struct json *config = NULL, *generation = NULL;
	int rc = -1;

	if (load_jinja(t, dir, e) || open_beside(dir, "tokenizer_config.json", &config, e) < 0 ||
	    open_beside(dir, "generation_config.json", &generation, e) < 0)
		goto out;
	if (config && (name_token(t, config, "bos_token", &t->names.bos, &t->bos_text, e) ||
		       name_token(t, config, "eos_token", &t->names.eos, &t->eos_text, e) ||
		       name_token(t, config, "pad_token", &t->names.pad, NULL, e) || take_template(t, config, e)))
		goto out;
	rc = pick_stops(t, generation, e);
out:
	json_free(config);
	json_free(generation);
	return rc;
}
