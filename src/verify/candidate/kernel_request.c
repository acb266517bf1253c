/* Kernels as requests to a compiler: see kernel_request.h.
 *
 * Owns the choice of what leaves this program. Invariant: a request holds no object of the host,
 * only texts and numbers, so that equal kernels of different candidates give equal requests. */
#include "verify/candidate/kernel_request.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "tile/front/compile.h"

/* Functions of a request, and names that one of them uses. */
enum { FUNCTIONS_MOST = 64, NAMES_MOST = 256 };

/* --- arguments ------------------------------------------------------------------------------ */

/* An integer is 32 bits wide if it fits. The integer 1 becomes a constant, as in Triton. */
static void int_form(const struct spec_param *p, int64_t v, struct kernel_param_form *out)
{
	out->constant = v == 1 && !p->no_specialize && !p->type[0];
	out->divisible = !p->no_specialize && v % 16 == 0;
	snprintf(out->type, sizeof out->type, "%s", v >= INT32_MIN && v <= INT32_MAX ? "i32" : "i64");
}

/* A tensor is a pointer. Every allocation of the runner is aligned, so the offset of the view
 * decides whether the pointer is divisible by 16. */
static void tensor_form(const struct spec_param *p, const struct tensor *t, struct kernel_param_form *out)
{
	out->divisible = !p->no_specialize && t->offset * dtype_size(t->dt) % 16 == 0;
	snprintf(out->type, sizeof out->type, "*%s%s", p->is_const ? "k" : "", dtype_info(t->dt)->triton);
}

int kernel_param_form(const struct tile_launch *l, size_t i, struct kernel_param_form *out,
		      char why[KERNEL_REQUEST_WHY])
{
	const struct tile_val *v = &l->args[i];
	struct spec_param p;

	spec_param(l->fn, i, &p);
	*out = (struct kernel_param_form){ .constant = p.is_constexpr || v->is_constexpr };
	if (out->constant)
		return 0;
	switch (v->kind) {
	case TILE_V_NONE: case TILE_V_STR: case TILE_V_DTYPE: case TILE_V_FN: out->constant = 1; return 0;
	case TILE_V_BOOL: snprintf(out->type, sizeof out->type, "u1"); break;
	case TILE_V_INT: int_form(&p, v->i, out); break;
	case TILE_V_FLOAT: snprintf(out->type, sizeof out->type, "fp32"); break;
	case TILE_V_TENSOR: tensor_form(&p, &v->t, out); break;
	default:
		snprintf(why, KERNEL_REQUEST_WHY, "parameter '%.*s' of kernel '%.*s' is a tuple, a tensor descriptor "
			 "or an object", STR_ARG(p.name), STR_ARG(l->fn->name));
		return 1;
	}
	/* An annotation overrules the type that the value has. */
	if (p.type[0])
		snprintf(out->type, sizeof out->type, "%s", p.type);
	return 0;
}

/* --- values of names ------------------------------------------------------------------------ */

/* The request while it is written. Functions are numbered in the order in which they are met. */
struct request {
	struct jw *w;
	const struct tile_fn *fn[FUNCTIONS_MOST];
	int n;
	char *why;
};

/* The number of a function in the request; -1: there are too many. */
static int function_number(struct request *r, const struct tile_fn *fn)
{
	for (int i = 0; i < r->n; i++)
		if (r->fn[i] == fn)
			return i;
	if (r->n == FUNCTIONS_MOST)
		return -1;
	r->fn[r->n] = fn;
	return r->n++;
}

/* A float as text that reads back to the same bits; infinities and NaN have names. */
static void put_float(struct jw *w, double v)
{
	char text[40];

	snprintf(text, sizeof text, isnan(v) ? "nan" : isinf(v) ? (v < 0 ? "-inf" : "inf") : "%.17g", v);
	jw_key(w, "float"), jw_cstr(w, text);
}

static int put_value(struct request *r, const struct tile_val *v);

/* The items of a tuple, in order. */
static int put_items(struct request *r, const struct tile_val *v)
{
	int rc = 0;

	jw_key(r->w, "tuple");
	jw_begin(r->w, '[');
	for (size_t i = 0; i < v->n && !rc; i++)
		rc = put_value(r, &v->items[i]);
	jw_end(r->w, ']');
	return rc;
}

/* Writes {kind: value}. Returns 1 for an object that a kernel cannot use. */
static int put_value(struct request *r, const struct tile_val *v)
{
	struct jw *w = r->w;
	int rc = 0, number;

	jw_begin(w, '{');
	if (v->is_constexpr)
		jw_key(w, "constexpr"), jw_bool(w, 1);
	switch (v->kind) {
	case TILE_V_NONE: jw_key(w, "none"), jw_bool(w, 1); break;
	case TILE_V_BOOL: jw_key(w, "bool"), jw_bool(w, v->i != 0); break;
	case TILE_V_INT: jw_key(w, "int"), jw_int(w, v->i); break;
	case TILE_V_FLOAT: put_float(w, v->f); break;
	case TILE_V_STR: jw_key(w, "str"), jw_str(w, v->s); break;
	case TILE_V_DTYPE: jw_key(w, "dtype"), jw_str(w, v->s); break;
	case TILE_V_MODULE: jw_key(w, "module"), jw_str(w, v->s); break;
	case TILE_V_BUILTIN: jw_key(w, "member"), jw_str(w, v->s); break;
	case TILE_V_TUPLE: rc = put_items(r, v); break;
	case TILE_V_FN:
		number = function_number(r, v->fn);
		jw_key(w, "function"), jw_int(w, number);
		rc = number < 0;
		break;
	default: rc = 1; break;
	}
	jw_end(w, '}');
	return rc;
}

/* --- functions ------------------------------------------------------------------------------ */

/* The names that a function reads, each once. */
struct names {
	struct str v[NAMES_MOST];
	int n, too_many;
};

static void add_name(void *ctx, struct py_node *n)
{
	struct names *out = ctx;

	if (n->kind == PY_Name) {
		for (int i = 0; i < out->n; i++)
			if (str_eq(out->v[i], n->u.Name.id))
				return;
		if (out->n == NAMES_MOST)
			out->too_many = 1;
		else
			out->v[out->n++] = n->u.Name.id;
	}
	py_children(n, add_name, ctx);
}

/* Writes the globals of a function: every name of its text that our engine can resolve. A name that
 * is also a variable of the function does no harm: Triton looks for variables first. Objects that
 * no kernel can use are left out; using one is an error in Triton as it is here. */
static int put_globals(struct request *r, const struct tile_fn *fn)
{
	struct names names = { .n = 0 };
	struct tile_val v;
	int rc = 0;

	add_name(&names, (struct py_node *)fn->def);
	jw_key(r->w, "globals");
	jw_begin(r->w, '{');
	for (int i = 0; i < names.n && !rc; i++) {
		if (!fn->lookup(fn->lookup_ctx, names.v[i], &v) || v.kind == TILE_V_OTHER || v.kind == TILE_V_TENSOR ||
		    v.kind == TILE_V_DESC)
			continue;
		jw_keystr(r->w, names.v[i]);
		rc = put_value(r, &v);
	}
	jw_end(r->w, '}');
	return rc || names.too_many;
}

/* The definition without its decorators. A node is never copied whole, because its memory ends with
 * the fields of its kind. */
static void print_function(const struct py_node *def, struct buf *out)
{
	struct py_node bare;

	memset(&bare, 0, sizeof bare);
	memcpy(&bare, def, offsetof(struct py_node, u));
	bare.u.FunctionDef = def->u.FunctionDef;
	bare.u.FunctionDef.decorator_list = (struct py_list){ .n = 0 };
	py_print(&bare, out);
}

static int put_function(struct request *r, const struct tile_fn *fn)
{
	struct buf source = BUF_INIT;
	int rc;

	print_function(fn->def, &source);
	jw_begin(r->w, '{');
	jw_key(r->w, "name"), jw_str(r->w, fn->name);
	jw_key(r->w, "source"), jw_str(r->w, buf_str(&source));
	jw_key(r->w, "noinline"), jw_bool(r->w, fn->noinline);
	rc = put_globals(r, fn);
	jw_end(r->w, '}');
	rc |= source.failed;
	buf_release(&source);
	if (rc)
		snprintf(r->why, KERNEL_REQUEST_WHY, "kernel '%.*s' uses too many names or functions",
			 STR_ARG(fn->name));
	return rc;
}

/* One entry for each parameter: [name, type], and for constants [name, "constexpr", value]. */
static int put_signature(struct request *r, const struct tile_launch *l)
{
	int rc = 0;

	jw_key(r->w, "signature");
	jw_begin(r->w, '[');
	for (size_t i = 0; i < l->n_args && !rc; i++) {
		struct kernel_param_form form;
		struct spec_param p;

		spec_param(l->fn, i, &p);
		rc = kernel_param_form(l, i, &form, r->why);
		jw_begin(r->w, '[');
		jw_str(r->w, p.name);
		jw_cstr(r->w, form.constant ? "constexpr" : form.type);
		if (!rc && form.constant)
			rc = put_value(r, &l->args[i]);
		else if (form.divisible)
			jw_int(r->w, 16);
		jw_end(r->w, ']');
	}
	jw_end(r->w, ']');
	return rc;
}

/* Functions are written while they are found: put_function adds those that its text names. */
int kernel_request(const struct tile_launch *l, struct buf *out, char why[KERNEL_REQUEST_WHY])
{
	struct jw w = { .out = out };
	struct request r = { .w = &w, .fn = { l->fn }, .n = 1, .why = why };
	int rc;

	why[0] = 0;
	jw_begin(&w, '{');
	jw_key(&w, "num_warps"), jw_int(&w, l->num_warps);
	jw_key(&w, "num_stages"), jw_int(&w, l->num_stages);
	jw_key(&w, "num_ctas"), jw_int(&w, l->num_ctas);
	rc = put_signature(&r, l);
	jw_key(&w, "functions");
	jw_begin(&w, '[');
	for (int i = 0; i < r.n && !rc; i++)
		rc = put_function(&r, r.fn[i]);
	jw_end(&w, ']');
	jw_end(&w, '}');
	if (rc && !why[0])
		snprintf(why, KERNEL_REQUEST_WHY, "kernel '%.*s' takes a constant that cannot be written down",
			 STR_ARG(l->fn->name));
	return rc ? 1 : 0;
}
