/* JSON: Jansson behind a thin layer, and a streaming writer.
 *
 * Reading gives a tree of `struct json` owned by its root: free the root, borrow the rest.
 * Errors carry line and column. Hostile input (depth, size, duplicate keys, bad UTF-8, NaN)
 * is refused with a message, never a crash. Integers beyond 64 bits are read as reals. Lookup
 * by key and by index is O(1). */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct json;

enum { JSON_DEPTH_MOST = 500 };   /* deeper nesting is refused by reader and writer */

enum json_kind { JSON_NULL, JSON_BOOL, JSON_INT, JSON_REAL, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json *json_parse(struct str text, struct err *e);          /* NULL on error */
struct json *json_parse_file(const char *path, struct err *e);
void json_free(struct json *root);

enum json_kind json_kind(const struct json *j);
const struct json *json_get(const struct json *object, const char *key);   /* NULL: absent */
size_t json_count(const struct json *j);                          /* of an array or object */
const struct json *json_at(const struct json *array, size_t i);
/* The i-th member of an object in file order; `key` is borrowed, "" if i is too large. */
const struct json *json_member(const struct json *object, size_t i, const char **key);

/* Values of a node; a wrong kind gives the default. */
struct str json_str(const struct json *j, const char *otherwise);
int64_t json_int(const struct json *j, int64_t otherwise);        /* reals that are whole too */
/* Integers too. Declared like this because Jansson has a function of the same name. */
__attribute__((visibility("hidden"))) double json_real(const struct json *j, double otherwise);
int json_bool(const struct json *j, int otherwise);

/* Required members: -1 with a message naming key and expected kind. */
int json_need_str(const struct json *object, const char *key, struct str *out, struct err *e);
int json_need_int(const struct json *object, const char *key, int64_t *out, struct err *e);
int json_need_real(const struct json *object, const char *key, double *out, struct err *e);

/* --- writing ------------------------------------------------------------------------ */

/* Appends JSON to a buffer. Commas are the writer's business:
 *     struct jw w = { .out = &b };
 *     jw_begin(&w, '{'); jw_key(&w, "id"); jw_str(&w, s); jw_end(&w, '}');               */
struct jw {
	struct buf *out;
	int depth;
	int indent;               /* spaces a level; 0: one line */
	unsigned char has[64];    /* a bit a level: has a member already */
	int after_key;
};

void jw_begin(struct jw *w, char bracket);    /* '{' or '[' */
void jw_end(struct jw *w, char bracket);      /* '}' or ']' */
void jw_key(struct jw *w, const char *key);
void jw_keystr(struct jw *w, struct str key);
void jw_str(struct jw *w, struct str s);      /* invalid UTF-8 becomes U+FFFD */
void jw_cstr(struct jw *w, const char *s);    /* NULL: null */
void jw_int(struct jw *w, int64_t v);
void jw_real(struct jw *w, double v);         /* shortest that reads back; NaN and Inf: null */
void jw_bool(struct jw *w, int v);
void jw_null(struct jw *w);
void jw_json(struct jw *w, const struct json *j);   /* a whole tree */
void jw_raw(struct jw *w, struct str json_text);    /* already JSON */

#endif
