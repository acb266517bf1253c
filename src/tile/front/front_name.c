/* Names and attributes: what an identifier or a dotted name means inside a kernel. An identifier is
 * looked up among the local variables, then the globals of the host, then Python's builtins.
 * Examples:
 *
 *     x                  the register or constant that the variable x holds
 *     tl.load            module triton.language, then the row `load` of builtin.def: a LANG_BUILTIN
 *     x.shape[0]         a constexpr from the type of x; no instruction
 *
 * Does not own calls: a name that denotes a function gives a LANG_FN or LANG_BUILTIN. */
#include <math.h>
#include <stdio.h>

#include "tile/front/builtin_lib.h"
#include "tile/front/engine.h"

/* Identifiers are interned by the parser, so they compare by address. */
int front_slot(struct front_frame *fr, const char *id)
{
	for (size_t i = 0; i < fr->n_names; i++)
		if (fr->names[i] == id)
			return (int)i;
	return -1;
}

/* Every assigned name has a slot: front_scan_names saw it. */
void front_set(struct front *f, struct str id, struct lang_val v)
{
	struct front_frame *fr = f->frame;
	int slot = front_slot(fr, id.p);
	BUG_ON(slot < 0);
	fr->vars[slot] = v;
	fr->defs[slot] = 1;
}

/* --- modules --------------------------------------------------------------------------------- */

/* A function without a row in builtin.def: libdevice and Python's math are called by name. */
static struct lang_val named_builtin(struct front *f, const char *module, struct str name)
{
	struct builtin *b = arena_zalloc(f->a, sizeof *b);
	*b = (struct builtin){ .module = module, .name = arena_strndup(f->a, name.p, name.n) };
	return (struct lang_val){ .kind = LANG_BUILTIN, .u.b = b };
}

static struct lang_val of_builtin(const struct builtin *b)
{
	return (struct lang_val){ .kind = LANG_BUILTIN, .u.b = b };
}

static struct lang_val of_fn(const struct tile_fn *fn)
{
	return (struct lang_val){ .kind = LANG_FN, .u.fn = fn };
}

static struct lang_val unbound(void) { return (struct lang_val){ .kind = LANG_UNBOUND }; }

/* An attribute of triton.language. `core`: also the functions that only triton.language.core
 * offers. */
static struct lang_val language_attr(struct front *f, struct str attr, int core)
{
	static const char *const modules[] = { "math", "extra", "core", "standard", "random", "target_info" };
	static const char *const classes[] = {
		"tensor", "tuple", "dtype", "slice", "const", "constexpr_type", "tuple_type",
		"tensor_descriptor", "tensor_descriptor_type", "base_value", "base_type" };
	const struct builtin *b = lang_builtin_get(&f->g->builtins, "triton.language", attr);
	const struct tile_fn *fn;
	int sc;

	if (!b && core)
		b = lang_builtin_get(&f->g->builtins, "lib", attr);
	if (b)
		return of_builtin(b);
	sc = sc_by_module(attr);
	if (sc >= 0)
		return lang_type(ty_sc((enum sc)sc));
	fn = lang_library_get(f->g, attr, 1);
	if (fn)
		return of_fn(fn);
	for (size_t i = 0; i < COUNT_OF(modules); i++)
		if (str_is(attr, modules[i]))
			return lang_module(str_of(arena_printf(f->a, "triton.language.%s", modules[i])));
	for (size_t i = 0; i < COUNT_OF(classes); i++)
		if (str_is(attr, classes[i]))
			return (struct lang_val){ .kind = LANG_CLASS, .u.s = str_of(classes[i]) };
	if (str_is(attr, "PropagateNan"))
		return lang_module(STR("triton.language.PropagateNan"));
	if (str_is(attr, "TRITON_MAX_TENSOR_NUMEL"))
		return lang_raw(lang_int(TY_MAX_NUMEL));
	if (str_is(attr, "pi32_t"))
		return lang_type(ty_ptr(f->a, ty_sc(SC_INT32), 0));
	return unbound();
}

/* An attribute of triton.language.extra and its submodules. */
static struct lang_val extra_attr(struct front *f, struct str module, struct str attr)
{
	const struct builtin *b;

	if (str_is(module, "triton.language.extra")) {
		if (str_is(attr, "cuda") || str_is(attr, "libdevice") || str_is(attr, "hip"))
			return lang_module(str_of(arena_printf(f->a, "triton.language.extra.%.*s", STR_ARG(attr))));
		return unbound();
	}
	if (str_ends(module, ".libdevice"))
		return lang_libdevice_exists(attr) ? named_builtin(f, "libdevice", attr) : unbound();
	if (str_is(module, "triton.language.extra.cuda") && str_is(attr, "libdevice"))
		return lang_module(STR("triton.language.extra.libdevice"));
	b = lang_builtin_get(&f->g->builtins, "triton.language.extra.cuda", attr);
	return b ? of_builtin(b) : unbound();
}

/* An attribute of Python's math module, which works on constants only. */
static struct lang_val python_math_attr(struct front *f, struct str attr)
{
	static const struct { const char *name; double v; } constants[] = {
		{ "pi", M_PI }, { "e", M_E }, { "inf", INFINITY }, { "nan", NAN }, { "tau", 2 * M_PI },
	};
	for (size_t i = 0; i < COUNT_OF(constants); i++)
		if (str_is(attr, constants[i].name))
			return lang_raw(lang_float(constants[i].v));
	return front_math_known(attr) ? named_builtin(f, "math", attr) : unbound();
}

/* An attribute of the package triton. Most of it is host code: LANG_OTHER fails only when it is
 * called. */
static struct lang_val triton_attr(struct front *f, struct str attr)
{
	const struct builtin *b;

	if (str_is(attr, "language"))
		return lang_module(STR("triton.language"));
	b = lang_builtin_get(&f->g->builtins, "triton", attr);
	if (b)
		return of_builtin(b);
	return (struct lang_val){ .kind = LANG_OTHER, .u.s = str_of(arena_printf(f->a, "triton.%.*s", STR_ARG(attr))) };
}

/* Returns an attribute of a module, or LANG_UNBOUND if the module has no such attribute. */
static struct lang_val module_attr(struct front *f, struct str module, struct str attr)
{
	struct str dotted;
	const struct tile_fn *fn;
	struct tile_val g;

	/* Functions of later versions do not exist yet. */
	if (str_starts(module, "triton.language") && !lang_in_version(f->version, attr, STR("")))
		return unbound();
	if (str_is(module, "triton.language"))
		return language_attr(f, attr, f->version >= 307 && str_is(attr, "to_tensor"));
	if (str_is(module, "triton.language.core"))
		return language_attr(f, attr, 1);
	if (str_is(module, "triton.language.standard") || str_is(module, "triton.language.random")) {
		const struct builtin *b;

		fn = lang_library_get(f->g, attr, 0);
		b = fn ? NULL : lang_builtin_get(&f->g->builtins, "lib", attr);
		return fn ? of_fn(fn) : b ? of_builtin(b) : unbound();
	}
	if (str_is(module, "triton.language.math")) {
		const struct builtin *b = lang_builtin_get(&f->g->builtins, "triton.language.math", attr);
		return b ? of_builtin(b) : unbound();
	}
	if (str_is(module, "triton.language.target_info")) {
		const struct builtin *b = lang_builtin_get(&f->g->builtins, "triton.language.target_info", attr);
		return b ? of_builtin(b) : unbound();
	}
	if (str_is(module, "triton.language.PropagateNan"))
		return str_is(attr, "ALL") || str_is(attr, "NONE") ?
			(struct lang_val){ .kind = LANG_CLASS, .u.s = attr } : unbound();
	if (str_starts(module, "triton.language.extra"))
		return extra_attr(f, module, attr);
	if (str_is(module, "triton"))
		return triton_attr(f, attr);
	if (str_is(module, "math"))
		return python_math_attr(f, attr);
	/* A module that only the host knows (the helpers of PyTorch's inductor): the host is asked for the
	 * dotted name. */
	dotted = str_of(arena_printf(f->a, "%.*s.%.*s", STR_ARG(module), STR_ARG(attr)));
	fn = f->frame->fn;
	if (fn->lookup && fn->lookup(fn->lookup_ctx, dotted, &g) && g.kind != TILE_V_OTHER)
		return front_from_host(f, &g);
	return (struct lang_val){ .kind = LANG_OTHER, .u.s = dotted };
}

/* Models often invent functions of tl; the hint names the real one. */
struct lang_val front_module_attr(struct front *f, struct str module, struct str attr)
{
	struct lang_val v = module_attr(f, module, attr);
	if (v.kind == LANG_UNBOUND)
		front_fail_hint(f, REASON_unknown_tl_name, lang_builtin_hint(attr),
				"module '%.*s' has no attribute '%.*s'", STR_ARG(module), STR_ARG(attr));
	return v;
}

/* --- identifiers ------------------------------------------------------------------------------ */

/* Elements are converted one by one. */
static struct lang_val tuple_from_host(struct front *f, const struct tile_val *v)
{
	struct lang_val *items = arena_array(f->a, v->n ? v->n : 1, sizeof *items);
	for (size_t i = 0; i < v->n; i++)
		items[i] = front_from_host(f, &v->items[i]);
	return lang_tuple(items, v->n);
}

/* A type from its name in a signature: "fp32", "*fp16", "*kfp32" (a pointer to constant data). */
static struct lang_val type_from_host(struct front *f, struct str s)
{
	int sc;

	if (s.n && s.p[0] == '*') {
		int is_const = s.n > 1 && s.p[1] == 'k';
		struct lang_val elem = type_from_host(f, (struct str){ s.p + 1 + is_const,
								       s.n - 1 - (size_t)is_const });
		return elem.kind == LANG_TYPE ? lang_type(ty_ptr(f->a, elem.u.ty, is_const)) : elem;
	}
	sc = sc_by_alias(s);
	if (sc < 0)
		return (struct lang_val){ .kind = LANG_OTHER, .u.s = s };
	return lang_type(ty_sc((enum sc)sc));
}

/* A function of triton.language that the host imported by name: `from triton.language import
 * load`. */
static struct lang_val builtin_from_host(struct front *f, struct str dotted)
{
	size_t dot = dotted.n;
	while (dot && dotted.p[dot - 1] != '.')
		dot--;
	if (!dot)
		return (struct lang_val){ .kind = LANG_OTHER, .u.s = dotted };
	return front_module_attr(f, (struct str){ dotted.p, dot - 1 }, (struct str){ dotted.p + dot, dotted.n - dot });
}

/* Numbers of the host become constants; anything a kernel cannot use becomes LANG_OTHER. */
struct lang_val front_from_host(struct front *f, const struct tile_val *v)
{
	struct lang_val r;
	switch (v->kind) {
	case TILE_V_NONE: r = lang_none(); break;
	case TILE_V_BOOL: r = lang_bool(v->i != 0); break;
	case TILE_V_INT: r = lang_int(v->i); break;
	case TILE_V_FLOAT: r = lang_float(v->f); break;
	case TILE_V_STR: r = lang_str(v->s); break;
	case TILE_V_DTYPE: r = type_from_host(f, v->s); break;
	case TILE_V_FN: r = of_fn(v->fn); break;
	case TILE_V_MODULE: r = lang_module(v->s); break;
	case TILE_V_BUILTIN: r = builtin_from_host(f, v->s); break;
	case TILE_V_TUPLE: r = tuple_from_host(f, v); break;
	default: r = (struct lang_val){ .kind = LANG_OTHER, .u.s = v->s.n ? v->s : STR("object") };
	}
	r.wrapped = v->is_constexpr != 0;
	return r;
}

/* Whether a kernel may use a global of this kind. Numbers, strings and tuples must be constexpr. */
static int global_is_free(const struct tile_val *v)
{
	switch (v->kind) {
	case TILE_V_NONE: case TILE_V_DTYPE: case TILE_V_FN: case TILE_V_MODULE: case TILE_V_BUILTIN: return 1;
	default: return v->is_constexpr;
	}
}

/* A hint for a name that is not defined. */
static const char *builtin_name_hint(struct front *f, struct str id)
{
	static const char *const python[] = { "abs", "sum", "pow", "round", "bool", "str", "any", "all",
					      "zip", "enumerate", "sorted", "map" };
	if (front_slot(f->frame, id.p) >= 0)
		return "it is assigned only inside a branch or loop, or later: give it a value of the same type before";
	for (size_t i = 0; i < COUNT_OF(python); i++)
		if (str_is(id, python[i]))
			return i < 2 ? "Python's builtins do not work on tensors: use tl.abs, tl.sum" :
				"this Python builtin does not exist inside a kernel";
	return NULL;
}

/* A name inside a library function: another library function, or anything of triton.language. */
static struct lang_val library_name(struct front *f, struct str id)
{
	const struct tile_fn *fn = lang_library_get(f->g, id, 0);
	return fn ? of_fn(fn) : language_attr(f, id, 1);
}

/* Messages are Triton's, with its spelling. */
struct lang_val front_name(struct front *f, struct str id)
{
	struct front_frame *fr = f->frame;
	int slot = front_slot(fr, id.p);
	const struct builtin *b;
	struct tile_val g;

	if (slot >= 0 && fr->vars[slot].kind != LANG_UNBOUND)
		return fr->vars[slot];
	/* Library functions do not see the user's globals. */
	if (fr->in_prelude) {
		struct lang_val v = library_name(f, id);
		if (v.kind != LANG_UNBOUND)
			return v;
	} else if (fr->fn->lookup && fr->fn->lookup(fr->fn->lookup_ctx, id, &g)) {
		/* Python's own builtins are free even if the module defines the name again. */
		if (global_is_free(&g) || fr->in_default || lang_builtin_get(&f->g->builtins, "builtins", id))
			return front_from_host(f, &g);
		front_fail_hint(f, REASON_non_constexpr_global,
				"pass it as a tl.constexpr parameter, or define it as tl.constexpr(value)",
				"NameError('Cannot access global variable %.*s from within @jit\\'ed function. "
				"Triton kernels can only access global variables that are "
				"instanstiated as constexpr (`x = triton.language.constexpr(42)`).')",
				STR_ARG(id));
	}
	b = lang_builtin_get(&f->g->builtins, "builtins", id);
	if (b)
		return of_builtin(b);
	front_fail_hint(f, REASON_undefined_name, builtin_name_hint(f, id), "NameError('%.*s is not defined')",
			STR_ARG(id));
}

/* --- attributes of values --------------------------------------------------------------------- */

/* The shape of a type as a tuple of integers; `wrapped`: of constexprs. */
static struct lang_val dims_tuple(struct front *f, const struct ty *t, int wrapped)
{
	struct lang_val *v = arena_array(f->a, (size_t)t->rank + 1, sizeof *v);
	for (int i = 0; i < t->rank; i++) {
		v[i] = lang_int(t->shape[i]);
		v[i].wrapped = (unsigned char)wrapped;
	}
	return lang_tuple(v, (size_t)t->rank);
}

/* A method: the function and its first argument. */
static struct lang_val bound(struct front *f, struct lang_val self, const struct builtin *b, const struct tile_fn *fn)
{
	struct lang_method *m = arena_zalloc(f->a, sizeof *m);
	*m = (struct lang_method){ .self = self, .b = b, .fn = fn };
	return (struct lang_val){ .kind = LANG_METHOD, .u.m = m };
}

/* Properties of a tensor, then builtins that are methods, then library functions that are methods. */
static struct lang_val tensor_attr(struct front *f, struct lang_val self, struct str attr)
{
	const struct ty *t = self.u.t.ty;
	const struct tile_fn *fn;
	const struct builtin *b;

	if (str_is(attr, "dtype"))
		return lang_type(ty_scalar(t));
	if (str_is(attr, "shape"))
		return dims_tuple(f, t, 1);
	if (str_is(attr, "type"))
		return lang_type(t);
	if (str_is(attr, "numel"))
		return lang_int(t->numel);
	if (str_is(attr, "T")) {
		static const int64_t swap[2] = { 1, 0 };
		return lang_of(sem_permute(f, tv_of(&self), 2, swap));
	}
	/* The library may call methods that this version does not offer to kernels. */
	if (!f->frame->in_prelude && !lang_in_version(f->version, attr, STR("")))
		return unbound();
	b = lang_builtin_method(&f->g->builtins, attr);
	if (b)
		return bound(f, self, b, NULL);
	fn = lang_library_method(attr) ? lang_library_get(f->g, attr, 1) : NULL;
	return fn ? bound(f, self, NULL, fn) : unbound();
}

/* Properties and methods of a dtype, a pointer type or a block type. */
static struct lang_val type_attr(struct front *f, struct lang_val self, struct str attr)
{
	const struct ty *t = self.u.ty;
	const struct builtin *b = lang_builtin_get(&f->g->builtins, "dtype", attr);
	if (b)
		return bound(f, self, b, NULL);
	if (str_is(attr, "element_ty") && t->kind != TY_SCALAR)
		return lang_type(t->elem);
	if (str_is(attr, "scalar"))
		return lang_type(ty_scalar(t));
	if (str_is(attr, "name")) {
		struct lang_val bare = lang_type(t);
		return lang_raw(lang_str(str_of(front_str(f, &bare))));
	}
	if (t->kind == TY_BLOCK) {
		if (str_is(attr, "shape"))
			return dims_tuple(f, t, 0);
		if (str_is(attr, "numel"))
			return lang_raw(lang_int(t->numel));
		return unbound();
	}
	if (t->kind == TY_PTR)
		return str_is(attr, "address_space") ? lang_raw(lang_int(1)) : unbound();
	if (str_is(attr, "primitive_bitwidth"))
		return lang_raw(lang_int(ty_bits(t)));
	if (str_is(attr, "itemsize"))
		return lang_raw(lang_int(ty_bits(t) / 8));
	if (str_is(attr, "int_bitwidth") && ty_is_int(t))
		return lang_raw(lang_int(ty_bits(t)));
	if (str_is(attr, "fp_mantissa_width") && ty_is_float(t))
		return lang_raw(lang_int(sc_table[t->sc].mantissa));
	return unbound();
}

/* Properties and methods of a tensor descriptor. */
static struct lang_val desc_attr(struct front *f, struct lang_val self, struct str attr)
{
	const struct lang_desc *d = self.u.desc;
	const struct builtin *b;

	if (str_is(attr, "block_shape"))
		return dims_tuple(f, d->block, 0);
	if (str_is(attr, "dtype"))
		return lang_type(d->block->elem);
	if (str_is(attr, "block_type") || str_is(attr, "type"))
		return lang_type(d->block);
	if (str_is(attr, "shape") || str_is(attr, "strides"))
		return lang_tuple(attr.n == 5 ? d->shape : d->strides, (size_t)d->block->rank);
	b = lang_builtin_get(&f->g->builtins, "desc", attr);
	return b ? bound(f, self, b, NULL) : unbound();
}

/* A field of a named tuple. */
static struct lang_val tuple_attr(const struct lang_val *self, struct str attr)
{
	for (size_t i = 0; self->u.tup.fields && i < self->u.tup.n; i++)
		if (str_eq(self->u.tup.fields[i], attr))
			return self->u.tup.v[i];
	return unbound();
}

/* Returns the attribute of any value, or LANG_UNBOUND if the value has no such attribute. `.value`
 * unwraps a constexpr. */
static struct lang_val any_attr(struct front *f, struct lang_val self, struct str attr)
{
	if (self.wrapped && str_is(attr, "value"))
		return lang_raw(self);
	switch (self.kind) {
	case LANG_TENSOR: return tensor_attr(f, self, attr);
	case LANG_TYPE: return type_attr(f, self, attr);
	case LANG_DESC: return desc_attr(f, self, attr);
	case LANG_TUPLE: return tuple_attr(&self, attr);
	case LANG_MODULE: return module_attr(f, self.u.s, attr);
	case LANG_OTHER:
		return (struct lang_val) {
			.kind = LANG_OTHER,
			.u.s = str_of(arena_printf(f->a, "%.*s.%.*s", STR_ARG(self.u.s), STR_ARG(attr))),
		};
	default: return unbound();
	}
}

int front_has_attr(struct front *f, struct lang_val self, struct str attr)
{
	return any_attr(f, self, attr).kind != LANG_UNBOUND;
}

/* A missing attribute of a module has another message than one of a value. */
struct lang_val front_attr(struct front *f, struct lang_val self, struct str attr)
{
	struct lang_val v;

	if (self.kind == LANG_MODULE)
		return front_module_attr(f, self.u.s, attr);
	v = any_attr(f, self, attr);
	if (v.kind == LANG_UNBOUND)
		front_fail_hint(f, REASON_unknown_attribute, lang_builtin_hint(attr),
				"AttributeError(\"'%s' object has no attribute '%.*s'\")",
				lang_type_name(&self), STR_ARG(attr));
	return v;
}
