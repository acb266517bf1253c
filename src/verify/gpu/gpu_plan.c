/* Parsing launch plans: see gpu_plan.h. */
#include "verify/gpu/gpu_plan.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "interp/bind.h"
#include "torch/prelude.h"

/* Bytes that one plan may ask for: more than any GPU has. */
#define MEMORY_MOST ((int64_t)1 << 40)

static int bad(struct err *e, const char *what)
{
	return err_set(e, ERR_FORMAT, "the launch plan is malformed: %s", what);
}

int64_t launch_view_numel(const struct launch_view *v)
{
	int64_t n = 1;

	for (int i = 0; i < v->ndim; i++)
		n *= v->shape[i];
	return n;
}

int launch_view_is_dense(const struct launch_view *v)
{
	int64_t step = 1;

	for (int i = v->ndim - 1; i >= 0; i--) {
		if (v->shape[i] != 1 && v->stride[i] != step)
			return 0;
		step *= v->shape[i];
	}
	return 1;
}

/* --- storages ------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads pairs of hexadecimal digits into memory of their own. */
static int read_hex(struct str text, unsigned char **out, size_t *n, struct err *e)
{
	*n = text.n / 2;
	*out = mem_alloc(*n + 1);
	if (!*out)
		return err_nomem(e);
	for (size_t i = 0; i < *n; i++) {
		int high = hex_digit(text.p[2 * i]), low = hex_digit(text.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return bad(e, "contents");
		(*out)[i] = (unsigned char)(high * 16 + low);
	}
	return text.n % 2 ? bad(e, "contents") : 0;
}

static int read_memory(const struct json *j, struct launch_memory *m, struct err *e)
{
	static const char *const names[] = { "empty", "input", "weight", "operator", "value", "bytes" };
	struct str from = json_str(json_get(j, "from"), "");
	size_t k = 0;
	int dt;

	while (k < COUNT_OF(names) && !str_is(from, names[k]))
		k++;
	m->bytes = json_int(json_get(j, "bytes"), -1);
	if (k == COUNT_OF(names) || m->bytes < 0 || m->bytes > MEMORY_MOST)
		return bad(e, "a storage");
	m->from = (enum launch_from)k;
	m->name = json_str(json_get(j, "name"), "");
	m->transposed = json_bool(json_get(j, "transposed"), 0);
	dt = dtype_by_torch(json_str(json_get(j, "dtype"), "float32"));
	if (dt < 0)
		return bad(e, "the dtype of a weight");
	m->dt = (enum dtype)dt;
	if (m->from < LAUNCH_VALUE)
		return 0;
	if (read_hex(json_str(json_get(j, "hex"), ""), &m->data, &m->data_n, e))
		return -1;
	if (m->from == LAUNCH_BYTES ? (int64_t)m->data_n != m->bytes : !m->data_n || m->data_n > 8 ||
	    (m->data_n & (m->data_n - 1)) || m->bytes % (int64_t)m->data_n)
		return bad(e, "contents");
	return 0;
}

static int read_memories(struct gpu_plan *p, const struct json *list, struct err *e)
{
	size_t n = json_count(list);

	if (n > LAUNCH_STORAGES)
		return bad(e, "storages");
	p->memory = mem_array(n + 1, sizeof *p->memory);
	if (!p->memory)
		return err_nomem(e);
	for (p->n_memory = 0; p->n_memory < (int)n; p->bytes += p->memory[p->n_memory++].bytes)
		if (read_memory(json_at(list, (size_t)p->n_memory), &p->memory[p->n_memory], e)) {
			p->n_memory++;
			return -1;
		}
	return p->bytes > MEMORY_MOST ? bad(e, "too much memory") : 0;
}

/* --- steps ---------------------------------------------------------------------------------- */

/* Does a view stay inside its storage? Every product and sum is checked. */
static int view_fits(const struct gpu_plan *p, const struct launch_view *v)
{
	int64_t low = v->offset, high, size = dtype_size(v->dt), n = 1;

	if (v->storage < 0 || v->storage >= p->n_memory || v->offset < 0 || v->offset % size)
		return 0;
	high = v->offset;
	for (int i = 0; i < v->ndim; i++) {
		int64_t reach;

		if (v->shape[i] < 0 || ck_mul64(n, v->shape[i], &n))
			return 0;
		if (!v->shape[i])
			return 1;
		if (ck_mul64(v->shape[i] - 1, v->stride[i], &reach) || ck_mul64(reach, size, &reach) ||
		    ck_add64(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
			return 0;
	}
	return low >= 0 && high <= p->memory[v->storage].bytes - size;
}

static int read_sizes(const struct json *j, int64_t *out, int n)
{
	if ((int)json_count(j) != n)
		return -1;
	for (int i = 0; i < n; i++)
		out[i] = json_int(json_at(j, (size_t)i), INT64_MIN);
	return 0;
}

static int read_view(const struct gpu_plan *p, const struct json *j, struct launch_view *v, struct err *e)
{
	int dt = dtype_by_torch(json_str(json_get(j, "dtype"), ""));
	size_t ndim = json_count(json_get(j, "shape"));

	if (dt < 0 || ndim > TENSOR_DIMS)
		return bad(e, "a view");
	*v = (struct launch_view){ .storage = (int)json_int(json_get(j, "storage"), -1), .dt = (enum dtype)dt,
				 .offset = json_int(json_get(j, "offset"), -1), .ndim = (int)ndim };
	if (read_sizes(json_get(j, "shape"), v->shape, v->ndim) ||
	    read_sizes(json_get(j, "stride"), v->stride, v->ndim) || !view_fits(p, v))
		return bad(e, "a view leaves its storage");
	return 0;
}

/* The width of a type of the signature; 0: unknown. */
static int type_bytes(struct str type)
{
	int dt;

	if (type.n && type.p[0] == '*')
		return 8;
	if (str_is(type, "u1") || str_is(type, "i1"))
		return 1;
	dt = dtype_by_triton(type);
	return dt < 0 ? 0 : dtype_size((enum dtype)dt);
}

/* Stores a number as the type has it. */
static int read_number(struct str type, struct str text, struct launch_arg *a)
{
	int dt = str_is(type, "u1") || str_is(type, "i1") ? DT_BOOL : dtype_by_triton(type);
	int64_t i;
	double f;

	if (dt < 0)
		return -1;
	if (!str_to_i64(text, &i) && !dtype_is_float((enum dtype)dt)) {
		dtype_store_int((enum dtype)dt, a->number, i);
		return 0;
	}
	if (str_is(text, "nan") || str_is(text, "inf") || str_is(text, "-inf"))
		f = text.p[0] == 'n' ? (double)NAN : text.p[0] == '-' ? -INFINITY : INFINITY;
	else if (str_to_f64(text, &f))
		return -1;
	dtype_store((enum dtype)dt, a->number, f);
	return 0;
}

static int read_arg(const struct gpu_plan *p, const struct json *j, struct launch_arg *a, struct err *e)
{
	struct str type = json_str(json_at(j, 0), "");

	*a = (struct launch_arg){ .storage = -1, .bytes = type_bytes(type) };
	if (!a->bytes)
		return bad(e, "the type of an argument");
	if (type.p[0] != '*')
		return read_number(type, json_str(json_at(j, 1), ""), a) ? bad(e, "a number") : 0;
	a->storage = (int)json_int(json_at(j, 1), -1);
	a->offset = json_int(json_at(j, 2), -1);
	if (a->storage < 0 || a->storage >= p->n_memory || a->offset < 0 || a->offset > p->memory[a->storage].bytes)
		return bad(e, "an argument points outside of its storage");
	return 0;
}

static int read_launch(const struct gpu_plan *p, const struct json *j, struct launch_step *s, struct err *e)
{
	const struct json *args = json_get(j, "args");
	size_t n = json_count(args);

	s->kernel = (int)json_int(json_get(j, "kernel"), -1);
	if (s->kernel < 0 || s->kernel >= p->n_kernels || n > LAUNCH_ARGS ||
	    read_sizes(json_get(j, "grid"), s->grid, 3))
		return bad(e, "a launch");
	for (int i = 0; i < 3; i++)
		if (s->grid[i] < 1 || s->grid[i] > (i ? 65535 : INT32_MAX))
			return bad(e, "a grid");
	s->args = mem_array(n + 1, sizeof *s->args);
	if (!s->args)
		return err_nomem(e);
	for (s->n_args = 0; s->n_args < (int)n; s->n_args++)
		if (read_arg(p, json_at(args, (size_t)s->n_args), &s->args[s->n_args], e))
			return -1;
	return 0;
}

/* Is it an operator of our own engine that makes or changes tensors? Nothing else of PyTorch is
 * called by a name from a plan. */
static int is_operator(struct str name)
{
	const unsigned kinds = BIND_COMPUTE | BIND_COPY | BIND_INPLACE | BIND_ALLOC;

	for (size_t t = 0; str_starts(name, "torch.") && t < torch_library.n_tables; t++)
		for (const struct bind_row *r = torch_library.tables[t]; r->name; r++)
			if (str_is(name, r->name))
				return (r->flags & kinds) && !(r->flags & (BIND_RANDOM | BIND_INTERNAL));
	return 0;
}

/* Checks the views among the arguments of an operator. */
static int check_operands(const struct gpu_plan *p, const struct json *j, int depth, struct err *e)
{
	const struct json *view = json_get(j, "view");
	struct launch_view v;
	int rc = view ? read_view(p, view, &v, e) : 0, object = json_kind(j) == JSON_OBJECT;

	if (depth > 8)
		return bad(e, "the arguments of an operator");
	for (size_t i = 0; !view && i < json_count(j) && !rc; i++)
		rc = check_operands(p, object ? json_member(j, i, NULL) : json_at(j, i), depth + 1, e);
	return rc;
}

static int read_operator(struct gpu_plan *p, const struct json *j, struct launch_step *s, struct err *e)
{
	const struct json *out = json_get(j, "out");
	struct launch_view v;

	*s = (struct launch_step){ .kernel = -1, .is_operator = 1 };
	p->n_operators++;
	if (!is_operator(json_str(json_get(j, "operator"), "")))
		return bad(e, "an operator that is not known");
	for (size_t i = 0; i < json_count(out); i++)
		if (read_view(p, json_at(out, i), &v, e))
			return -1;
	return check_operands(p, json_get(j, "args"), 0, e) || check_operands(p, json_get(j, "kwargs"), 0, e) ? -1 : 0;
}

static int read_step(struct gpu_plan *p, const struct json *j, struct launch_step *s, struct err *e)
{
	const struct json *copy = json_get(j, "copy");

	if (json_get(j, "operator"))
		return read_operator(p, j, s, e);
	if (!copy)
		return read_launch(p, j, s, e);
	s->kernel = -1;
	if (read_view(p, json_at(copy, 0), &s->to, e) || read_view(p, json_at(copy, 1), &s->from, e))
		return -1;
	return launch_view_numel(&s->to) == launch_view_numel(&s->from) && s->to.ndim == s->from.ndim ? 0 :
		bad(e, "a copy");
}

static int read_steps(struct gpu_plan *p, const struct json *list, struct err *e)
{
	size_t n = json_count(list);

	if (n > LAUNCH_STEPS)
		return bad(e, "steps");
	p->steps = mem_array(n + 1, sizeof *p->steps);
	if (!p->steps)
		return err_nomem(e);
	for (size_t i = 0; i < n; i++) {
		p->n_steps++;
		if (read_step(p, json_at(list, i), &p->steps[i], e))
			return -1;
	}
	return 0;
}

/* --- all of it ------------------------------------------------------------------------------ */

static int read_kernels(struct gpu_plan *p, const struct json *list, struct err *e)
{
	size_t n = json_count(list);

	if (n > LAUNCH_KERNELS)
		return bad(e, "kernels");
	p->requests = mem_array(n + 1, sizeof *p->requests);
	if (!p->requests)
		return err_nomem(e);
	for (; p->n_kernels < (int)n; p->n_kernels++) {
		struct jw w = { .out = &p->requests[p->n_kernels] };

		jw_json(&w, json_at(list, (size_t)p->n_kernels));
		if (buf_check(w.out, e))
			return -1;
	}
	return 0;
}

static int read_results(struct gpu_plan *p, const struct json *list, struct err *e)
{
	size_t n = json_count(list);

	if (n > LAUNCH_RESULTS)
		return bad(e, "results");
	p->results = mem_array(n + 1, sizeof *p->results);
	if (!p->results)
		return err_nomem(e);
	for (; p->n_results < (int)n; p->n_results++)
		if (read_view(p, json_at(list, (size_t)p->n_results), &p->results[p->n_results], e))
			return -1;
	return 0;
}

int gpu_plan_parse(struct gpu_plan *p, struct str text, struct err *e)
{
	*p = (struct gpu_plan){ .json = json_parse(text, e) };
	if (!p->json)
		return -1;
	p->unavailable = json_str(json_get(p->json, "unavailable"), "");
	if (p->unavailable.n)
		return 0;
	return read_kernels(p, json_get(p->json, "kernels"), e) || read_memories(p, json_get(p->json, "storages"), e) ||
	       read_steps(p, json_get(p->json, "steps"), e) ||
	       read_results(p, json_get(p->json, "results"), e) ? -1 : 0;
}

void gpu_plan_release(struct gpu_plan *p)
{
	for (int i = 0; p->requests && i <= p->n_kernels; i++)
		buf_release(&p->requests[i]);
	for (int i = 0; p->memory && i < p->n_memory; i++)
		mem_free(p->memory[i].data);
	for (int i = 0; p->steps && i < p->n_steps; i++)
		mem_free(p->steps[i].args);
	mem_free(p->requests);
	mem_free(p->memory);
	mem_free(p->steps);
	mem_free(p->results);
	json_free(p->json);
	*p = (struct gpu_plan){ .json = NULL };
}
