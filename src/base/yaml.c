/* YAML by libyaml's event parser: see yaml.h. Open collections are an array of `struct level`, so
 * that hostile nesting uses no stack. Invariant: all nodes and texts live in the caller's arena. */
#include "base/yaml.h"

/* libyaml shares our prefix but none of our names. */
#include <yaml.h>

enum { DEPTH_MOST = 64, KEYS_MOST = 4096 };   /* a configuration is small */

/* An open mapping or sequence. */
struct level {
	struct yaml *node;           /* the collection */
	struct str key;              /* of the value that follows */
	int has_key;
};

struct reader {
	struct arena *a;             /* the caller's */
	struct level level[DEPTH_MOST];   /* innermost last */
	int depth;                   /* levels in use */
	struct yaml *root;
	int documents;               /* more than one is refused */
};

static int fail_at(const yaml_mark_t *m, const char *what, struct err *e)
{
	int line = (int)m->line + 1, column = (int)m->column + 1;

	return err_set_at(e, ERR_FORMAT, line, column, "YAML: line %d column %d: %s", line, column, what);
}

/* libyaml's own message and position; memory is told apart because it is not the user's fault. */
static int parser_error(const yaml_parser_t *p, struct err *e)
{
	if (p->error == YAML_MEMORY_ERROR)
		return err_nomem(e);
	return fail_at(&p->problem_mark, p->problem ? p->problem : "unreadable", e);
}

/* A key that occurs twice is an error: the user expects one of the two values, and we cannot know
 * which. */
static int take_key(struct reader *r, struct level *l, const yaml_event_t *ev, struct err *e)
{
	const char *text = (const char *)ev->data.scalar.value;
	size_t n = ev->data.scalar.length;
	char *copy;

	if (memchr(text, 0, n))
		return fail_at(&ev->start_mark, "a key with a NUL byte", e);
	if (l->node->n >= KEYS_MOST)
		return fail_at(&ev->start_mark, "more than 4096 keys in a mapping", e);
	if (yaml_get(l->node, text))
		return err_set_at(e, ERR_FORMAT, (int)ev->start_mark.line + 1, (int)ev->start_mark.column + 1,
				  "YAML: line %zu: key '%s' stands here for the second time",
				  ev->start_mark.line + 1, text);
	copy = arena_strndup(r->a, text, n);
	if (!copy)
		return err_nomem(e);
	l->key = (struct str){ .p = copy, .n = n };
	l->has_key = 1;
	return 0;
}

/* Appends a node to the open collection, with the pending key if it is a mapping. */
static int add_node(struct reader *r, const yaml_event_t *ev, enum yaml_kind kind, struct yaml **out, struct err *e)
{
	struct level *l = r->depth ? &r->level[r->depth - 1] : NULL;
	struct yaml *y = arena_zalloc(r->a, sizeof *y);

	if (!y)
		return err_nomem(e);
	y->kind = kind;
	y->line = (int)ev->start_mark.line + 1;
	y->column = (int)ev->start_mark.column + 1;
	*out = y;
	if (!l) {
		r->root = y;
		return 0;
	}
	if (l->node->kind == YAML_MAPPING) {
		if (!l->has_key)
			return fail_at(&ev->start_mark, "a key must be a plain word", e);
		y->key = l->key;
		l->has_key = 0;
	}
	if (l->node->last)
		l->node->last->next = y;
	else
		l->node->child = y;
	l->node->last = y;
	l->node->n++;
	return 0;
}

/* In a mapping, scalars alternate between keys and values. */
static int on_scalar(struct reader *r, const yaml_event_t *ev, struct err *e)
{
	struct level *l = r->depth ? &r->level[r->depth - 1] : NULL;
	const char *text = (const char *)ev->data.scalar.value;
	struct yaml *y;
	char *copy;

	if (l && l->node->kind == YAML_MAPPING && !l->has_key)
		return take_key(r, l, ev, e);
	if (add_node(r, ev, YAML_SCALAR, &y, e))
		return -1;
	if (memchr(text, 0, ev->data.scalar.length))
		return fail_at(&ev->start_mark, "a value with a NUL byte", e);
	copy = arena_strndup(r->a, text, ev->data.scalar.length);
	if (!copy)
		return err_nomem(e);
	y->text = (struct str){ .p = copy, .n = ev->data.scalar.length };
	y->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return 0;
}

/* The depth is limited because the levels are a fixed array. */
static int on_open(struct reader *r, const yaml_event_t *ev, enum yaml_kind kind, struct err *e)
{
	struct yaml *y;

	if (r->depth == DEPTH_MOST)
		return fail_at(&ev->start_mark, "nested too deeply", e);
	if (add_node(r, ev, kind, &y, e))
		return -1;
	r->level[r->depth++] = (struct level){ .node = y };
	return 0;
}

/* Aliases are refused: a small file can expand to gigabytes ("billion laughs"). */
static int on_event(struct reader *r, const yaml_event_t *ev, struct err *e)
{
	switch (ev->type) {
	case YAML_SCALAR_EVENT: return on_scalar(r, ev, e);
	case YAML_SEQUENCE_START_EVENT: return on_open(r, ev, YAML_SEQUENCE, e);
	case YAML_MAPPING_START_EVENT: return on_open(r, ev, YAML_MAPPING, e);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		r->depth--;
		return 0;
	case YAML_ALIAS_EVENT: return fail_at(&ev->start_mark, "aliases are not understood here", e);
	case YAML_DOCUMENT_START_EVENT:
		return r->documents++ ? fail_at(&ev->start_mark, "more than one document", e) : 0;
	default: return 0;
	}
}

/* libyaml owns the event; its texts are copied before it is deleted. */
static int read_all(yaml_parser_t *p, struct reader *r, struct err *e)
{
	for (int ended = 0; !ended;) {
		yaml_event_t ev;
		int rc;

		if (!yaml_parser_parse(p, &ev))
			return parser_error(p, e);
		ended = ev.type == YAML_STREAM_END_EVENT;
		rc = on_event(r, &ev, e);
		yaml_event_delete(&ev);
		if (rc)
			return -1;
	}
	return 0;
}

/* An empty file is an empty mapping. */
struct yaml *yaml_parse(struct str text, struct arena *a, struct err *e)
{
	struct reader r = { .a = a };
	yaml_parser_t p;
	int rc;

	if (!yaml_parser_initialize(&p)) {
		err_nomem(e);
		return NULL;
	}
	yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&p, (const unsigned char *)text.p, text.n);
	rc = read_all(&p, &r, e);
	yaml_parser_delete(&p);
	if (rc)
		return NULL;
	if (!r.root || yaml_is_null(r.root)) {
		r.root = arena_zalloc(a, sizeof *r.root);
		if (!r.root) {
			err_nomem(e);
			return NULL;
		}
		*r.root = (struct yaml){ .kind = YAML_MAPPING, .line = 1, .column = 1 };
	}
	return r.root;
}

const struct yaml *yaml_get(const struct yaml *mapping, const char *key)
{
	for (const struct yaml *y = mapping->kind == YAML_MAPPING ? mapping->child : NULL; y; y = y->next)
		if (str_is(y->key, key))
			return y;
	return NULL;
}

static int is_one_of(struct str s, const char *const *words)
{
	for (; *words; words++)
		if (str_is(s, *words))
			return 1;
	return 0;
}

/* A quoted "null" is a text. */
int yaml_is_null(const struct yaml *y)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL", NULL };

	return y->kind == YAML_SCALAR && !y->quoted && is_one_of(y->text, words);
}

/* Also accepts "yes" and "on", which users of YAML 1.1 write. Returns -1 for any other word. */
int yaml_bool(const struct yaml *y, int *out)
{
	static const char *const yes[] = { "true", "True", "TRUE", "yes", "on", NULL };
	static const char *const no[] = { "false", "False", "FALSE", "no", "off", NULL };

	if (y->kind != YAML_SCALAR)
		return -1;
	*out = is_one_of(y->text, yes);
	return *out || is_one_of(y->text, no) ? 0 : -1;
}
