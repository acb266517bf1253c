/* Reading JSON: see json.h. Jansson parses; its tree is then indexed by our own nodes, so that
 * members are found by position and by key in constant time. Strings stay Jansson's. Invariant:
 * both trees live in the arena of the root and are freed with it. */
#include "base/json.h"

/* Jansson's header uses some of our names for its own things: it is read with those renamed. */
#define json_real jansson_real
#define JSON_OBJECT JANSSON_OBJECT
#define JSON_ARRAY JANSSON_ARRAY
#define JSON_STRING JANSSON_STRING
#define JSON_REAL JANSSON_REAL
#define JSON_NULL JANSSON_NULL
#include <jansson.h>
#undef json_real
#undef JSON_OBJECT
#undef JSON_ARRAY
#undef JSON_STRING
#undef JSON_REAL
#undef JSON_NULL

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <sys/random.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"

enum { SMALL = 8 };               /* objects up to this size are searched one by one */

/* One node: a view of a Jansson value, with its children in the order of the text. */
struct json {
	const json_t *value;      /* kind and contents */
	const char *key;          /* if the parent is an object; borrowed from Jansson */
	struct json *child;       /* [n] */
	size_t n;                 /* children */
	uint32_t *slot;           /* [slots], index + 1, 0 empty; NULL for small objects */
	size_t slots;             /* a power of two */
};

struct root {
	struct json node;         /* first: a root is its node */
	struct arena arena;       /* of our nodes and of Jansson's tree */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static size_t hash_seed;          /* set once; so that nobody can prepare colliding keys */

/* Jansson does not survive a failed allocation: it continues with truncated tokens, or asserts. So
 * it allocates from the arena of the root that is being parsed, and a failed allocation leaves
 * Jansson by longjmp (arena.trap). */
static _Thread_local struct arena *jansson_heap;

static void *jansson_alloc(size_t n)
{
	return arena_alloc(jansson_heap, n);
}

/* Memory is freed with the arena. */
static void jansson_free(void *p)
{
	(void)p;                 /* goes with the arena */
}

/* The seed of the hash is random, so that nobody can prepare keys that collide. GRND_NONBLOCK:
 * early in the boot there may be no entropy yet, and the clock is good enough then. */
static void set_up(void)
{
	if (getrandom(&hash_seed, sizeof hash_seed, GRND_NONBLOCK) != sizeof hash_seed)
		hash_seed = (size_t)clock_wall_us();
	hash_seed |= 1;           /* 0 would ask Jansson for a seed of its own */
	json_object_seed(hash_seed);
	json_set_alloc_funcs(jansson_alloc, jansson_free);
}

/* --- the index ----------------------------------------------------------------------- */

static size_t hash_key(const char *key)
{
	return hash_xxh64(key, strlen(key), hash_seed);
}

/* Open addressing with at most half of the slots in use. Objects of up to SMALL members are
 * searched one by one, which is faster. */
static int index_keys(struct arena *a, struct json *j)
{
	size_t slots = 16;

	if (j->n <= SMALL)
		return 0;
	while (slots < j->n * 2)
		slots *= 2;
	j->slot = arena_array(a, slots, sizeof *j->slot);
	if (!j->slot)
		return -1;
	j->slots = slots;
	for (size_t i = 0; i < j->n; i++) {
		size_t at = hash_key(j->child[i].key);

		while (j->slot[at & (slots - 1)])   /* the next free slot */
			at++;
		j->slot[at & (slots - 1)] = (uint32_t)i + 1;
	}
	return 0;
}

static int build(struct arena *a, struct json *j, int depth, struct err *e);

static int build_array(struct arena *a, struct json *j, int depth, struct err *e)
{
	for (size_t i = 0; i < j->n; i++) {
		j->child[i].value = json_array_get(j->value, i);
		if (build(a, &j->child[i], depth + 1, e))
			return -1;
	}
	return 0;
}

/* Jansson iterates in the order of insertion, which is the order of the text. */
static int build_object(struct arena *a, struct json *j, int depth, struct err *e)
{
	json_t *object = (json_t *)j->value;
	void *it = json_object_iter(object);

	for (size_t i = 0; i < j->n; i++, it = json_object_iter_next(object, it)) {
		j->child[i].key = json_object_iter_key(it);
		j->child[i].value = json_object_iter_value(it);
		if (build(a, &j->child[i], depth + 1, e))
			return -1;
	}
	return index_keys(a, j) ? err_nomem(e) : 0;
}

/* The recursion is limited by JSON_DEPTH_MOST: a hostile file must not overflow the stack. */
static int build(struct arena *a, struct json *j, int depth, struct err *e)
{
	int is_array = json_typeof(j->value) == JANSSON_ARRAY;

	if (!is_array && json_typeof(j->value) != JANSSON_OBJECT)
		return 0;
	if (depth >= JSON_DEPTH_MOST)
		return err_set(e, ERR_RANGE, "JSON nested deeper than %d levels", JSON_DEPTH_MOST);
	j->n = is_array ? json_array_size(j->value) : json_object_size(j->value);
	if (j->n == 0)
		return 0;
	if (j->n > UINT32_MAX - 1 || !(j->child = arena_array(a, j->n, sizeof *j->child)))
		return err_nomem(e);
	return is_array ? build_array(a, j, depth, e) : build_object(a, j, depth, e);
}

/* --- parsing ------------------------------------------------------------------------- */

/* Jansson refuses integers beyond 64 bits, but Hugging Face configurations contain them (1e30
 * written as digits). This copies the text and appends ".0" to long integers outside strings, so
 * that they are read as reals. */
static struct str widen_integers(struct str text)
{
	enum { DIGITS = 18 };     /* always fits; so at most two bytes are added for every 19 */
	char *out = arena_alloc(jansson_heap, text.n + text.n / 8 + 2);
	size_t n = 0;
	int in_string = 0;

	for (size_t i = 0; i < text.n;) {
		size_t end = i + 1;
		int whole = !in_string && isdigit((unsigned char)text.p[i]), number = whole;

		if (in_string && text.p[i] == '\\' && end < text.n)
			end++;
		else if (text.p[i] == '"')
			in_string = !in_string;
		for (; number && end < text.n && text.p[end] && strchr("0123456789.eE+-", text.p[end]); end++)
			whole &= isdigit((unsigned char)text.p[end]) != 0;
		memcpy(out + n, text.p + i, end - i);
		n += end - i;
		if (whole && end - i > DIGITS) {
			memcpy(out + n, ".0", 2);
			n += 2;
		}
		i = end;
	}
	return (struct str){ .p = out, .n = n };
}

/* The copy is made only if the first attempt fails, because almost no file needs it. */
static json_t *load(struct str text, json_error_t *je)
{
	/* A string may hold NUL; a key may not. */
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL;
	json_t *tree = json_loadb(text.p, text.n, flags, je);

	if (tree || json_error_code(je) != json_error_numeric_overflow)
		return tree;
	text = widen_integers(text);
	return json_loadb(text.p, text.n, flags, je);
}

/* Jansson quotes the input ("... near 'token'"). Control characters of the quote are replaced, so
 * that the message stays on one line. */
static int parse_error(const json_error_t *je, struct err *e)
{
	char text[sizeof je->text];
	size_t n = 0;

	for (const char *p = je->text; *p; p++)
		text[n++] = (unsigned char)*p < ' ' ? ' ' : *p;
	text[n] = 0;
	return err_set_at(e, ERR_FORMAT, je->line > 0 ? je->line : 1, je->column > 0 ? je->column : 1,
			  "JSON: line %d column %d: %s", je->line > 0 ? je->line : 1,
			  je->column > 0 ? je->column : 1, text);
}

/* Parses and indexes into the arena of the root. Returns 0 on success, -1 with *e set. */
static int fill(struct root *r, struct str text, struct err *e)
{
	json_error_t je = { .line = 0 };
	jmp_buf trap;
	int rc = -1;

	jansson_heap = &r->arena;
	r->arena.trap = &trap;
	if (setjmp(trap)) {
		err_nomem(e);
	} else {
		r->node.value = load(text, &je);
		if (!r->node.value)
			parse_error(&je, e);
		else
			rc = build(&r->arena, &r->node, 0, e);
	}
	jansson_heap = NULL;
	r->arena.trap = NULL;
	return rc;
}

/* The root holds the arena of the tree, so it is the only allocation on the heap. */
struct json *json_parse(struct str text, struct err *e)
{
	struct root *r = mem_zalloc(sizeof *r);

	pthread_once(&once, set_up);
	if (!r) {
		err_nomem(e);
		return NULL;
	}
	if (fill(r, text, e)) {
		json_free(&r->node);
		return NULL;
	}
	return &r->node;
}

/* Errors name the file in front of line and column. */
struct json *json_parse_file(const char *path, struct err *e)
{
	struct file_map m;
	struct json *j;

	if (file_map_open(&m, path, e))
		return NULL;
	j = json_parse((struct str){ .p = m.p, .n = m.n }, e);
	if (!j)
		err_wrap(e, "'%s'", path);
	file_map_close(&m);
	return j;
}

void json_free(struct json *root)
{
	struct root *r = (struct root *)root;

	if (!r)
		return;
	arena_release(&r->arena);
	mem_free(r);
}

/* --- access -------------------------------------------------------------------------- */

static const char *const kind_name[] = {
	[JSON_NULL] = "null", [JSON_BOOL] = "a boolean", [JSON_INT] = "an integer", [JSON_REAL] = "a number",
	[JSON_STRING] = "a string", [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
};

/* A missing value (NULL) reads as null, so lookups can be chained without a test each. */
enum json_kind json_kind(const struct json *j)
{
	static const enum json_kind kind[] = {
		[JANSSON_OBJECT] = JSON_OBJECT, [JANSSON_ARRAY] = JSON_ARRAY, [JANSSON_STRING] = JSON_STRING,
		[JSON_INTEGER] = JSON_INT, [JANSSON_REAL] = JSON_REAL, [JSON_TRUE] = JSON_BOOL,
		[JSON_FALSE] = JSON_BOOL, [JANSSON_NULL] = JSON_NULL,
	};

	return j ? kind[json_typeof(j->value)] : JSON_NULL;
}

/* The probe ends at an empty slot; there always is one, because at most half are in use. */
const struct json *json_get(const struct json *j, const char *key)
{
	if (json_kind(j) != JSON_OBJECT)
		return NULL;
	if (!j->slot) {
		for (size_t i = 0; i < j->n; i++)
			if (!strcmp(j->child[i].key, key))
				return &j->child[i];
		return NULL;
	}
	for (size_t at = hash_key(key);; at++) {
		uint32_t s = j->slot[at & (j->slots - 1)];

		if (!s)
			return NULL;
		if (!strcmp(j->child[s - 1].key, key))
			return &j->child[s - 1];
	}
}

size_t json_count(const struct json *j)
{
	return j ? j->n : 0;
}

const struct json *json_at(const struct json *j, size_t i)
{
	return json_kind(j) == JSON_ARRAY && i < j->n ? &j->child[i] : NULL;
}

const struct json *json_member(const struct json *j, size_t i, const char **key)
{
	int here = json_kind(j) == JSON_OBJECT && i < j->n;

	if (key)
		*key = here ? j->child[i].key : "";
	return here ? &j->child[i] : NULL;
}

struct str json_str(const struct json *j, const char *otherwise)
{
	if (json_kind(j) != JSON_STRING)
		return otherwise ? str_of(otherwise) : (struct str){ .p = NULL };
	return (struct str){ .p = json_string_value(j->value), .n = json_string_length(j->value) };
}

/* A real with a whole value counts as an integer: 3.0 is 3. Values beyond 64 bits give
 * `otherwise`. */
int64_t json_int(const struct json *j, int64_t otherwise)
{
	enum json_kind k = json_kind(j);
	double v;

	if (k == JSON_INT)
		return json_integer_value(j->value);
	if (k != JSON_REAL)
		return otherwise;
	v = json_real_value(j->value);
	return v == floor(v) && v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (int64_t)v : otherwise;
}

double json_real(const struct json *j, double otherwise)
{
	enum json_kind k = json_kind(j);

	return k == JSON_REAL ? json_real_value(j->value) :
	       k == JSON_INT ? (double)json_integer_value(j->value) : otherwise;
}

int json_bool(const struct json *j, int otherwise)
{
	return json_kind(j) == JSON_BOOL ? json_typeof(j->value) == JSON_TRUE : otherwise;
}

/* --- required members ---------------------------------------------------------------- */

/* Names the key, the expected kind and the found one. */
static int wrong(const char *key, enum json_kind want, const struct json *got, struct err *e)
{
	if (!got)
		return err_set(e, ERR_FORMAT, "key '%s' is missing; expected %s", key, kind_name[want]);
	return err_set(e, ERR_FORMAT, "key '%s': expected %s, found %s", key, kind_name[want],
		       kind_name[json_kind(got)]);
}

int json_need_str(const struct json *object, const char *key, struct str *out, struct err *e)
{
	const struct json *j = json_get(object, key);

	if (json_kind(j) != JSON_STRING)
		return wrong(key, JSON_STRING, j, e);
	*out = json_str(j, "");
	return 0;
}

/* Two different defaults tell a missing integer from any value that it could have. */
int json_need_int(const struct json *object, const char *key, int64_t *out, struct err *e)
{
	const struct json *j = json_get(object, key);
	int64_t a = json_int(j, 0), b = json_int(j, 1);

	if (a != b)               /* the two defaults show: no whole number of 64 bits */
		return wrong(key, JSON_INT, j, e);
	*out = a;
	return 0;
}

int json_need_real(const struct json *object, const char *key, double *out, struct err *e)
{
	const struct json *j = json_get(object, key);

	if (json_kind(j) != JSON_REAL && json_kind(j) != JSON_INT)
		return wrong(key, JSON_REAL, j, e);
	*out = json_real(j, 0);
	return 0;
}
