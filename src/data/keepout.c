/* Tasks kept out of training, by hashes of their composition and sizes: keepout.h has the rule. */
#include "data/keepout.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "data/difficulty.h"
#include "data/module.h"
#include "data/taskset.h"
#include "py/ast.h"

static const uint64_t builtin[] = {
#define KEEPOUT(hash) hash,
#include "data/keepout.def"
#undef KEEPOUT
};

/* Numbers below the first are constants of operators rather than sizes; the most that are
 * compared. */
enum { SIZE_LEAST = 16, SIZES_MOST = 64 };

/* --- sizes -------------------------------------------------------------------------------- */

/* The distinct sizes of a task. */
struct sizes { int64_t v[SIZES_MOST]; size_t n; };

/* Adds a size once. Numbers below SIZE_LEAST are ignored: a 3 is rather a kernel width than a
 * size. */
static void add_size(struct sizes *s, int64_t v)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i] == v)
			return;
	if (v >= SIZE_LEAST && s->n < SIZES_MOST)
		s->v[s->n++] = v;
}

/* The value of a product of integers; -1: it is none. */
static int64_t folded(const struct py_node *n)
{
	int64_t a, b, out;

	if (n->kind == PY_Constant && n->u.Constant.value.kind == PY_C_INT)
		return n->u.Constant.value.i;
	if (n->kind != PY_BinOp || n->u.BinOp.op != PY_OP_Mult)
		return -1;
	a = folded(n->u.BinOp.left), b = folded(n->u.BinOp.right);
	return a < 0 || b < 0 || ck_mul64(a, b, &out) ? -1 : out;
}

/* Every integer below a node, products as one. */
static void collect(void *ctx, struct py_node *n)
{
	int64_t v = folded(n);

	if (v >= 0)
		add_size(ctx, v);
	else
		py_children(n, collect, ctx);
}

/* Orders sizes, so that their order in the text does not matter. */
static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Adds the numbers that __init__ has as defaults. */
static void default_sizes(const struct py_module *m, struct sizes *s)
{
	const struct py_node *class = module_class(m, STR("Model")), *init = class ?
		module_method(m, class, STR("__init__")) : NULL;
	const struct py_node *args = init ? init->u.FunctionDef.args : NULL;

	for (size_t i = 0; args && i < args->u.arguments.defaults.n; i++)
		collect(s, args->u.arguments.defaults.v[i]);
}

/* Collects the sizes of a task: module constants, numbers in get_inputs and get_init_inputs,
 * defaults. */
static void sizes_of(const struct py_module *m, struct sizes *s)
{
	const struct py_list *body = &m->root->u.Module.body;

	for (size_t i = 0; i < body->n; i++) {
		struct py_node *n = body->v[i];

		if (n->kind == PY_Assign)
			collect(s, n->u.Assign.value);
		else if (n->kind == PY_FunctionDef && (str_is(n->u.FunctionDef.name, "get_inputs") ||
						       str_is(n->u.FunctionDef.name, "get_init_inputs")))
			py_children(n, collect, s);
	}
	default_sizes(m, s);
	qsort(s->v, s->n, sizeof *s->v, by_value);
}

/* --- hashes ------------------------------------------------------------------------------- */

/* Hashes a task's computation, without its sizes and with them. Returns -1 if it does not parse. */
int keepout_hash(struct str task, struct keepout_hash *h)
{
	struct py_module m;
	struct difficulty d;
	struct sizes s = { .n = 0 };

	if (py_parse(&m, task, "", 0, NULL))
		return -1;
	difficulty_of(&m, STR("Model"), &d);
	sizes_of(&m, &s);
	py_release(&m);
	h->composition = hash_xxh64(&d.computes, sizeof d.computes, 1);
	h->sized = hash_xxh64(s.v, s.n * sizeof *s.v, d.computes);
	h->several = d.level > 1;
	return 0;
}

/* A hash as the key of a map. */
static struct str key(const uint64_t *hash)
{
	return (struct str){ .p = (const char *)hash, .n = sizeof *hash };
}

/* The hash that identifies a task. A task of several operators is identified by its composition. A
 * single operator would match every task that uses it, so its sizes count as well. */
static uint64_t telling(const struct keepout_hash *h)
{
	return h->several ? h->composition : h->sized;
}

/* Begins with the hashes that are compiled in: KernelBench's tasks. */
int keepout_init(struct keepout *k, struct err *e)
{
	*k = (struct keepout){ .hashes = { .n = 0 } };
	for (size_t i = 0; i < COUNT_OF(builtin); i++)
		if (!map_put(&k->hashes, key(&builtin[i])))
			return err_nomem(e);
	return 0;
}

/* Keeps the tasks of a file or folder out of training. A given level decides whether a task counts
 * as several operators; without one the task's own text does. */
int keepout_add(struct keepout *k, const char *path, struct err *e)
{
	struct taskset t;
	struct keepout_hash h;
	int rc = 0;

	if (taskset_open(&t, path, e))
		return -1;
	for (size_t i = 0; !rc && i < t.rows.n; i++) {
		uint64_t hash;

		if (keepout_hash(str_of(t.rows.v[i].source), &h)) {
			log_warn("'%s' of '%s' does not parse and is not kept out", t.rows.v[i].id, path);
			continue;
		}
		if (t.rows.v[i].level)
			h.several = t.rows.v[i].level > 1;
		hash = telling(&h);
		if (!map_put(&k->hashes, key(&hash)))
			rc = err_nomem(e);
	}
	taskset_close(&t);
	return rc;
}

void keepout_release(struct keepout *k)
{
	map_release(&k->hashes);
}

/* Is the task kept out? One that does not parse is, too. */
int keepout_has(const struct keepout *k, struct str task)
{
	struct keepout_hash h;

	return keepout_hash(task, &h) || map_get(&k->hashes, key(&h.composition)) || map_get(&k->hashes, key(&h.sized));
}

/* Orders hashes for printing. */
static int by_hash(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Writes the hashes of a folder as rows of keepout.def, sorted so that the file does not change
 * when the folder's order does. */
int keepout_print(const char *path, struct buf *out, struct err *e)
{
	struct keepout k = { .hashes = { .n = 0 } };
	struct { uint64_t *v; size_t n, cap; } all = { .v = NULL };
	int rc = keepout_add(&k, path, e);

	for (size_t i = 0; !rc && i < k.hashes.n; i++) {
		uint64_t hash;

		memcpy(&hash, k.hashes.e[i].key.p, sizeof hash);
		rc = vec_push(&all, hash) ? err_nomem(e) : 0;
	}
	if (all.n)
		qsort(all.v, all.n, sizeof *all.v, by_hash);
	for (size_t i = 0; i < all.n; i++)
		buf_addf(out, "KEEPOUT(0x%016llx)\n", (unsigned long long)all.v[i]);
	vec_free(&all);
	keepout_release(&k);
	return rc;
}
