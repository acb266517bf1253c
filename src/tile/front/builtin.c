/* Owns the table of builtins: parsing of signatures, lookup, binding of arguments with Python's
 * rules and messages, and the conversions of single arguments to C values. Does not own the
 * functions: builtin_core.c, builtin_math.c, builtin_tile.c and builtin_py.c do. */
#include "tile/front/builtin.h"

#include <stdio.h>

/* The module names of builtin.def in full. */
#define MODULE_tl "triton.language"
#define MODULE_math "triton.language.math"
#define MODULE_py "builtins"
#define MODULE_tensor "tensor"
#define MODULE_dtype "dtype"
#define MODULE_desc "desc"
#define MODULE_triton "triton"
#define MODULE_cuda "triton.language.extra.cuda"
#define MODULE_info "triton.language.target_info"
#define MODULE_lib "lib"

/* The rows of builtin.def; params are filled in by lang_builtin_init. */
static const struct builtin rows[] = {
#define BUILTIN(mod, nm, function, sig, fl) \
	{ .module = MODULE_##mod, .name = #nm, .signature = sig, .fn = bi_##function, .flags = fl },
#include "tile/front/builtin.def"
#undef BUILTIN
};

/* A function or parameter that version.def does not list exists in every version. */
int lang_in_version(int version, struct str function, struct str parameter)
{
	static const struct { const char *function, *parameter; int since, until; } differs[] = {
#define VERSION(f, p, first, last) { #f, p, first, last },
#include "tile/front/version.def"
#undef VERSION
	};
	for (size_t i = 0; i < COUNT_OF(differs); i++)
		if (str_is(function, differs[i].function) && str_is(parameter, differs[i].parameter))
			return version >= differs[i].since && (!differs[i].until || version <= differs[i].until);
	return 1;
}

/* A default as Python writes it. `?` leaves the parameter UNBOUND, so that the function can tell an
 * absent argument from None. */
static struct lang_val default_value(struct str s)
{
	int64_t i;

	if (str_is(s, "?"))
		return (struct lang_val){ .kind = LANG_UNBOUND };
	if (str_is(s, "None"))
		return lang_none();
	if (str_is(s, "True") || str_is(s, "False"))
		return lang_bool(str_is(s, "True"));
	if (str_is(s, "float32"))
		return lang_type(ty_sc(SC_FP32));
	if (str_is(s, "()"))
		return lang_tuple(NULL, 0);
	if (s.p[0] == '\'')
		return lang_str((struct str){ s.p + 1, s.n - 2 });
	i = 0;
	str_to_i64(s, &i);
	return lang_int(i);
}

/* Reads "pointer, mask=None, *rest, pack=1". Parameters after a star are keyword-only. */
static int parse_signature(struct arena *a, struct builtin *b)
{
	size_t commas = 0;
	struct str rest;
	int after_star;

	for (const char *p = b->signature; *p; p++)
		commas += *p == ',';
	b->params = arena_array(a, commas + 1, sizeof *b->params);
	if (!b->params)
		return -1;
	rest = str_of(b->signature);
	after_star = 0;
	while (rest.n) {
		struct str part = str_trim(str_cut(&rest, ','));
		struct builtin_param *p = &b->params[b->n_params++];
		struct str name;

		/* Python: f(*rest, pack=1) takes pack by name only. */
		p->keyword_only = after_star;
		if (part.p[0] == '*') {
			p->star = 1;
			after_star = 1;
			part.p++, part.n--;
		}
		name = str_cut(&part, '=');
		p->name = name;
		p->required = !part.n && !p->star;
		if (part.n)
			p->value = default_value(part);
	}
	return 0;
}

/* Adds a name under which a row is found. */
static int index_name(struct builtin_table *t, const char *module, const char *name, size_t i)
{
	char key[128];
	int n = snprintf(key, sizeof key, "%s.%s", module, name);
	struct map_entry *e = map_put(&t->by_name, (struct str){ key, (size_t)n });
	if (!e)
		return -1;
	e->val.i64 = (int64_t)i + 1;
	return 0;
}

/* A row is found under its module and, by its flags, as a method and in triton.language.math. */
int lang_builtin_init(struct builtin_table *t, struct err *e)
{
	*t = (struct builtin_table){ .n = COUNT_OF(rows) };
	t->v = arena_array(&t->mem, t->n, sizeof *t->v);
	if (!t->v)
		return err_nomem(e);
	for (size_t i = 0; i < t->n; i++) {
		struct builtin *b = &t->v[i];
		*b = rows[i];
		if (parse_signature(&t->mem, b) || index_name(t, b->module, b->name, i)
		    || ((b->flags & BF_METHOD) && index_name(t, MODULE_tensor, b->name, i))
		    || ((b->flags & BF_MATH) && index_name(t, MODULE_math, b->name, i)))
			return err_nomem(e);
	}
	return 0;
}

void lang_builtin_release(struct builtin_table *t)
{
	map_release(&t->by_name);
	arena_release(&t->mem);
}

/* A name that is too long for the key is not in the table. */
const struct builtin *lang_builtin_get(const struct builtin_table *t, const char *module, struct str name)
{
	char key[128];
	int n = str_dotted(key, sizeof key, str_of(module), name);
	const struct map_entry *e;

	if (n < 0)
		return NULL;
	e = map_get(&t->by_name, (struct str){ key, (size_t)n });
	return e ? &t->v[e->val.i64 - 1] : NULL;
}

const struct builtin *lang_builtin_method(const struct builtin_table *t, struct str name)
{
	return lang_builtin_get(t, MODULE_tensor, name);
}

/* --- binding ---------------------------------------------------------------------------------- */

/* The index of a keyword's parameter, -1 if this version of Triton does not have it. */
static int param_index(const struct front *f, const struct builtin *b, struct str name)
{
	for (size_t i = 0; i < b->n_params; i++)
		if (!b->params[i].star && str_eq(b->params[i].name, name))
			return lang_in_version(f->version, str_of(b->name), name) ? (int)i : -1;
	return -1;
}

/* Positional arguments in order; a star parameter takes the rest as a tuple. */
static void bind_positional(struct front *f, const struct builtin *b, const struct front_args *args,
			    struct lang_val *out)
{
	size_t p = 0;
	for (size_t i = 0; i < args->n; i++, p++) {
		if (p < b->n_params && b->params[p].star) {
			out[p] = lang_tuple(args->v + i, args->n - i);
			return;
		}
		if (p >= b->n_params || b->params[p].keyword_only)
			front_fail(f, REASON_bad_argument,
				   "%s() takes %zu positional arguments but %zu were given",
				   b->name, b->n_params, args->n);
		out[p] = args->v[i];
	}
}

/* `keepdim` is what PyTorch calls keep_dims: models confuse them often enough for a hint. */
static void bind_keywords(struct front *f, const struct builtin *b, const struct front_args *args, struct lang_val *out)
{
	for (size_t i = 0; i < args->n_kw; i++) {
		int p = param_index(f, b, args->names[i]);
		if (p < 0 && str_is(args->names[i], "keepdim") && param_index(f, b, STR("keep_dims")) >= 0)
			front_fail_hint(f, REASON_bad_argument, "the parameter is called keep_dims",
					"%s() got an unexpected keyword argument 'keepdim'", b->name);
		if (p < 0)
			front_fail(f, REASON_bad_argument, "%s() got an unexpected keyword argument '%.*s'",
				   b->name, STR_ARG(args->names[i]));
		if (out[p].kind != LANG_UNBOUND)
			front_fail(f, REASON_bad_argument, "%s() got multiple values for argument '%.*s'",
				   b->name, STR_ARG(args->names[i]));
		out[p] = args->kw[i];
	}
}

/* Binds the arguments and fills in defaults. */
struct lang_val lang_builtin_call(struct front *f, const struct builtin *b, const struct front_args *args)
{
	struct lang_val out[16] = { 0 };
	BUG_ON(b->n_params > COUNT_OF(out));
	bind_positional(f, b, args, out);
	bind_keywords(f, b, args, out);
	for (size_t i = 0; i < b->n_params; i++) {
		if (out[i].kind != LANG_UNBOUND)
			continue;
		if (b->params[i].required)
			front_fail(f, REASON_bad_argument,
				   "%s() missing 1 required positional argument: '%.*s'",
				   b->name, STR_ARG(b->params[i].name));
		out[i] = b->params[i].star ? lang_tuple(NULL, 0) : b->params[i].value;
	}
	return b->fn(f, b, out);
}

/* --- readers of arguments ------------------------------------------------------------------ */

/* The message is Python's: Triton accesses x.type without a check. */
struct tv arg_tensor(struct front *f, const struct lang_val *v)
{
	if (v->kind != LANG_TENSOR)
		front_fail(f, REASON_bad_types, "'%s' object has no attribute 'type'",
			   v->wrapped && v->kind != LANG_NONE ? "constexpr" : lang_type_name(v));
	return tv_of(v);
}

/* A compile-time integer; `what` names the parameter in messages. */
int64_t arg_int(struct front *f, const struct lang_val *v, const char *what)
{
	if (v->kind == LANG_TENSOR)
		front_fail(f, REASON_not_constexpr, "%s must be known at compile time, got a tensor of type %s",
			   what, front_ty(f, v->u.t.ty));
	if (!lang_is_int(v))
		front_fail(f, REASON_bad_value, "%s must be an integer, not %s", what, front_str(f, v));
	return (int64_t)v->u.i;
}

/* A type; Triton accesses x.scalar without a check. */
const struct ty *arg_dtype(struct front *f, const struct lang_val *v)
{
	if (v->kind == LANG_TYPE)
		return v->u.ty;
	front_fail(f, REASON_bad_dtype, "'%s' object has no attribute 'scalar'", lang_type_name(v));
}

/* A string option; None counts as empty. */
struct str arg_str(struct front *f, const struct lang_val *v, const char *what)
{
	if (v->kind == LANG_NONE)
		return STR("");
	if (v->kind != LANG_STR)
		front_fail(f, REASON_bad_value, "%s %s not supported", what, front_str(f, v));
	return v->u.s;
}

/* A jit function: the combine function of a reduction. */
const struct tile_fn *arg_fn(struct front *f, const struct lang_val *v)
{
	if (v->kind == LANG_FN)
		return v->u.fn;
	if (v->kind == LANG_METHOD && v->u.m->fn)
		return v->u.m->fn;
	front_fail(f, REASON_bad_argument, "a @triton.jit function is needed here, not %s", front_str(f, v));
}

/* Dimensions must be constants. They are clipped to 32 bits: no larger tile exists. */
static int shape_elements(struct front *f, struct lang_tuple t, int64_t shape[TY_MAX_RANK])
{
	if (t.n > TY_MAX_RANK)
		front_fail(f, REASON_unsupported, "this engine does not support a tile of %zu dimensions", t.n);
	for (size_t i = 0; i < t.n; i++) {
		pyint d;

		if (!lang_is_int(&t.v[i]))
			front_fail_hint(f, REASON_not_constexpr,
					"the sizes of a tile must be tl.constexpr parameters or constants",
					"Shape element %zu must have type `constexpr[int]`, got "
					"`constexpr[<class '%s'>]", i, lang_type_name(&t.v[i]));
		d = t.v[i].u.i;
		shape[i] = d > INT32_MAX ? INT32_MAX : d < INT32_MIN ? INT32_MIN : (int64_t)d;
	}
	return (int)t.n;
}

/* shape=(16, 32). */
int arg_shape(struct front *f, const struct lang_val *v, int64_t shape[TY_MAX_RANK])
{
	if (v->kind != LANG_TUPLE)
		front_fail_hint(f, REASON_bad_shape, "a shape is a tuple: (BLOCK,)",
				"'%s' object is not iterable", lang_type_name(v));
	return shape_elements(f, v->u.tup, shape);
}

/* x.reshape(16, 32) and x.reshape((16, 32)) are the same call. */
int arg_dims(struct front *f, const struct lang_val *star, int64_t dims[TY_MAX_RANK])
{
	struct lang_tuple t = star->u.tup;
	if (t.n == 1 && t.v[0].kind == LANG_TUPLE)
		t = t.v[0].u.tup;
	return shape_elements(f, t, dims);
}
