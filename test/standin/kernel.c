/* Kernels of the stand-in driver: a request of candidate/kernel_request.h, compiled by our own front
 * end and run on the tile machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "standin.h"
#include "tile/tile.h"

enum { FUNCTIONS = 64, ARGS = 128, ITEMS = 64 };

struct function {
	struct standin_kernel *k;
	struct tile_fn fn;
	struct py_module module;
	int parsed;
	const struct json *globals;
};

struct standin_kernel {
	struct json *json;
	struct function f[FUNCTIONS];
	int n;
	char name[128];
	struct tile_engine *engine;
	struct tile_val items[ITEMS];   /* of tuples */
	int n_items;
};

/* A value of the request. */
static int read_value(struct standin_kernel *k, const struct json *j, struct tile_val *v)
{
	const struct json *x;
	double f;

	*v = (struct tile_val){ .kind = TILE_V_NONE, .is_constexpr = json_bool(json_get(j, "constexpr"), 0) };
	if ((x = json_get(j, "int")))
		v->kind = TILE_V_INT, v->i = json_int(x, 0);
	else if ((x = json_get(j, "bool")))
		v->kind = TILE_V_BOOL, v->i = json_bool(x, 0);
	else if ((x = json_get(j, "float")))
		v->kind = TILE_V_FLOAT, f = strtod(json_str(x, "0").p, NULL), v->f = f;
	else if ((x = json_get(j, "str")))
		v->kind = TILE_V_STR, v->s = json_str(x, "");
	else if ((x = json_get(j, "dtype")))
		v->kind = TILE_V_DTYPE, v->s = json_str(x, "");
	else if ((x = json_get(j, "module")))
		v->kind = TILE_V_MODULE, v->s = json_str(x, "");
	else if ((x = json_get(j, "member")))
		v->kind = TILE_V_BUILTIN, v->s = json_str(x, "");
	else if ((x = json_get(j, "function")))
		v->kind = TILE_V_FN, v->fn = &k->f[json_int(x, 0)].fn;
	else if ((x = json_get(j, "tuple"))) {
		int at = k->n_items, n = (int)json_count(x);

		if (at + n > ITEMS)
			return -1;
		k->n_items += n;
		for (int i = 0; i < n; i++)
			if (read_value(k, json_at(x, (size_t)i), &k->items[at + i]))
				return -1;
		v->kind = TILE_V_TUPLE, v->items = &k->items[at], v->n = (size_t)n;
	}
	return 0;
}

static int lookup(void *ctx, struct str name, struct tile_val *out)
{
	struct function *f = ctx;
	const char *key;

	for (size_t i = 0; i < json_count(f->globals); i++) {
		const struct json *j = json_member(f->globals, i, &key);

		if (str_is(name, key))
			return !read_value(f->k, j, out);
	}
	return 0;
}

static int read_function(struct standin_kernel *k, const struct json *j)
{
	struct function *f = &k->f[k->n];
	struct err e = ERR_INIT;

	if (py_parse(&f->module, json_str(json_get(j, "source"), ""), "kernel", 0, &e))
		return -1;
	f->parsed = 1;
	f->k = k;
	f->globals = json_get(j, "globals");
	f->fn = (struct tile_fn){ .name = json_str(json_get(j, "name"), ""), .id = tile_fn_id(),
				  .def = f->module.root->u.Module.body.v[0], .module = &f->module, .lookup = lookup,
				  .lookup_ctx = f, .noinline = json_bool(json_get(j, "noinline"), 0) };
	k->n++;
	return 0;
}

struct standin_kernel *standin_kernel_new(const char *request)
{
	struct standin_kernel *k = calloc(1, sizeof *k);
	struct err e = ERR_INIT;
	const struct json *list;
	int rc;

	k->json = json_parse(str_of(request), &e);
	list = json_get(k->json, "functions");
	rc = !k->json || !json_count(list) || json_count(list) > FUNCTIONS;
	for (size_t i = 0; i < json_count(list) && !rc; i++)
		rc = read_function(k, json_at(list, i));
	k->engine = rc ? NULL : tile_engine_new(&(struct tile_options){ .triton_version = 306, .capability = 90 }, &e);
	if (!k->engine) {
		standin_kernel_free(k);
		return NULL;
	}
	snprintf(k->name, sizeof k->name, "%.*s", STR_ARG(k->f[0].fn.name));
	return k;
}

void standin_kernel_free(struct standin_kernel *k)
{
	tile_engine_free(k->engine);
	for (int i = 0; i < FUNCTIONS; i++)
		if (k->f[i].parsed)
			py_release(&k->f[i].module);
	json_free(k->json);
	free(k);
}

const char *standin_kernel_name(const struct standin_kernel *k) { return k->name; }

/* A pointer becomes a tensor that reaches to the end of its allocation. */
static int read_pointer(struct str type, void *param, struct tile_val *v, struct err *e)
{
	int konst = type.n > 2 && type.p[1] == 'k';
	int dt = dtype_by_triton((struct str){ .p = type.p + 1 + konst, .n = type.n - 1 - (size_t)konst });
	char *at = *(char **)param, *end = standin_end_of(at);
	int64_t n;

	if (dt < 0 || !end)
		return -1;
	v->kind = TILE_V_TENSOR;
	n = (end - at) / dtype_size((enum dtype)dt);
	return tensor_borrow(&v->t, (enum dtype)dt, 1, &n, at, (size_t)(end - at), e);
}

static int read_arg(struct standin_kernel *k, const struct json *row, void ***params, struct tile_val *v, struct err *e)
{
	struct str type = json_str(json_at(row, 1), "");
	int dt = str_is(type, "u1") ? DT_BOOL : dtype_by_triton(type);

	*v = (struct tile_val){ .kind = TILE_V_INT };
	if (str_is(type, "constexpr")) {
		if (read_value(k, json_at(row, 2), v))
			return -1;
		v->is_constexpr = 1;
		return 0;
	}
	if (type.p[0] == '*')
		return read_pointer(type, *(*params)++, v, e);
	if (dt < 0)
		return -1;
	v->kind = dt == DT_BOOL ? TILE_V_BOOL : dtype_is_float((enum dtype)dt) ? TILE_V_FLOAT : TILE_V_INT;
	if (v->kind == TILE_V_FLOAT)
		v->f = dtype_load((enum dtype)dt, *(*params)++);
	else
		v->i = dtype_load_int((enum dtype)dt, *(*params)++);
	return 0;
}

int standin_kernel_run(struct standin_kernel *k, const struct cu_launch *config, void **params)
{
	const struct json *signature = json_get(k->json, "signature");
	int ctas = (int)json_int(json_get(k->json, "num_ctas"), 1), rc = 0;
	struct tile_val args[ARGS];
	struct tile_launch l = { .fn = &k->f[0].fn, .args = args, .n_args = json_count(signature),
				 .grid = { config->grid[0] / (unsigned)ctas, config->grid[1], config->grid[2] },
				 .num_warps = (int)json_int(json_get(k->json, "num_warps"), 4),
				 .num_stages = (int)json_int(json_get(k->json, "num_stages"), 3), .num_ctas = ctas };
	struct tile_run_options o = { .mode = TILE_FAST, .zero_off = 1 };
	const struct tile_code *code;
	struct err e = ERR_INIT;
	struct diag d = { .reason = REASON_ok };

	if (l.n_args > ARGS || config->block[0] != 32u * (unsigned)l.num_warps)
		return 1;
	k->n_items = 0;
	for (size_t i = 0; i < l.n_args && !rc; i++)
		rc = read_arg(k, json_at(signature, i), &params, &args[i], &e);
	rc = rc || tile_compile(k->engine, &l, &code, &d, &e) || tile_run(k->engine, code, &l, &o, NULL, &d, &e);
	if (rc)
		fprintf(stderr, "stand-in driver: kernel %s: %s%s\n", k->name, d.text, e.text);
	for (size_t i = 0; i < l.n_args; i++)
		if (args[i].kind == TILE_V_TENSOR)
			tensor_release(&args[i].t);
	return rc;
}

char *standin_kernel_pointer(const struct standin_kernel *k, void **params)
{
	const struct json *signature = json_get(k->json, "signature");

	for (size_t i = 0; i < json_count(signature); i++) {
		struct str type = json_str(json_at(json_at(signature, i), 1), "");

		if (type.p[0] == '*')
			return *(char **)*params;
		params += !str_is(type, "constexpr");
	}
	return NULL;
}
