/* Specialisation: the type that each argument of a launch has inside the kernel, and which
 * arguments become constants (runtime/jit.py, specialize.cc). An integer equal to 1 and None are
 * constants unless the kernel says otherwise; a Python float is fp32; annotations overrule the
 * value. Example: kernel[grid](x, 1, 4096, BLOCK=64) has a register for the pointer x and one for
 * 4096, and constants for 1 and 64. */
#include <stdio.h>

#include "base/hash.h"
#include "tile/front/compile.h"

/* --- annotations -------------------------------------------------------------------------------- */

/* The last component of an annotation: "constexpr" of tl.constexpr, "int32" of tl.int32, or its
 * string. */
static struct str annotation_text(const struct py_node *a)
{
	if (!a)
		return STR("");
	if (a->kind == PY_Constant && a->u.Constant.value.kind == PY_C_STR)
		return a->u.Constant.value.s;
	if (a->kind == PY_Name)
		return a->u.Name.id;
	if (a->kind == PY_Attribute)
		return a->u.Attribute.attr;
	return STR("");
}

/* Reduces "*fp32", "fp32*", "const *fp32" and "tl.int32" to one spelling; empty if it is no type. */
static void canonical_type(struct str s, char *out, size_t size)
{
	int ptr = 0, is_const = 0;
	int sc;

	s = str_trim(s);
	out[0] = 0;
	if (str_starts(s, "const ")) {
		is_const = 1;
		s = str_trim((struct str){ s.p + 5, s.n - 5 });
	}
	if (str_ends(s, "*")) {
		ptr = 1;
		s = str_trim((struct str){ s.p, s.n - 1 });
	} else if (str_starts(s, "*")) {
		ptr = 1;
		s = str_trim((struct str){ s.p + 1, s.n - 1 });
		if (str_starts(s, "k"))
			is_const = 1, s.p++, s.n--;
	}
	if (str_starts(s, "tl."))
		s.p += 3, s.n -= 3;
	sc = sc_by_alias(s);
	if (sc > SC_VOID)
		snprintf(out, size, "%s%s%s", ptr ? "*" : "", is_const ? "k" : "",
			 sc == SC_INT1 ? "u1" : sc_table[sc].sig);
}

/* Triton looks for the word "constexpr" in the annotation, and so does this. */
void spec_param(const struct tile_fn *fn, size_t i, struct spec_param *out)
{
	const struct py_node *arg = fn->def->u.FunctionDef.args->u.arguments.args.v[i];
	struct str text = annotation_text(arg->u.arg.annotation);
	*out = (struct spec_param){ .name = arg->u.arg.arg };
	out->is_constexpr = str_find(text, STR("constexpr")) >= 0;
	if (!out->is_constexpr) {
		canonical_type(text, out->type, sizeof out->type);
		out->is_const = str_find(text, STR("const")) >= 0 || str_starts(str_of(out->type), "*k");
	}
	for (size_t k = 0; k < fn->n_no_specialize; k++)
		out->no_specialize |= str_eq(fn->no_specialize[k], out->name);
}

/* --- values to types ------------------------------------------------------------------------------ */

/* The argument that is being bound. `at` says where in the launch a register gets its value from. */
struct binding { struct front *f; const struct spec_param *p; struct tile_param at; };

/* A register for the current argument, of type t. */
static struct lang_val new_param(struct binding *b, const struct ty *t)
{
	struct front *f = b->f;
	struct tile_type m;
	tile_reg r;

	f->frame->cur = f->frame->fn->def;
	sem_check_fp8(f, ty_is_ptr(t) ? t->elem : t);
	m = emit_type(f, t);
	r = f->mute ? 0 : tile_build_param(f->b, m, &b->at);
	return lang_of((struct tv){ t, r });
}

/* The type that an annotation demands, from its canonical spelling. */
static const struct ty *forced_type(struct front *f, const char *s)
{
	int is_const;

	if (s[0] != '*')
		return ty_sc((enum sc)sc_by_sig(str_of(s)));
	is_const = s[1] == 'k';
	return ty_ptr(f->a, ty_sc((enum sc)sc_by_sig(str_of(s + 1 + is_const))), is_const);
}

/* A tensor is a pointer to its elements. */
static const struct ty *tensor_type(struct binding *b, const struct tile_val *v)
{
	int sc = sc_by_sig(str_of(dtype_info(v->t.dt)->triton));
	BUG_ON(sc < 0);
	return ty_ptr(b->f->a, ty_sc((enum sc)sc), b->p->is_const);
}

static struct lang_val value_param(struct binding *b, const struct tile_val *v);

/* Each element of a tuple is bound like an argument; `path` says how to find it. */
static struct lang_val tuple_param(struct binding *b, const struct tile_val *v)
{
	struct front *f = b->f;
	struct lang_val *items = arena_array(f->a, v->n + 1, sizeof *items);
	int depth = b->at.n_path;
	if (depth >= (int)COUNT_OF(b->at.path))
		front_fail(f, REASON_unsupported, "this engine does not support tuples nested more than %d deep",
			   (int)COUNT_OF(b->at.path));
	for (size_t i = 0; i < v->n; i++) {
		b->at.path[depth] = (int)i;
		b->at.n_path = depth + 1;
		items[i] = value_param(b, &v->items[i]);
	}
	b->at.n_path = depth;
	return lang_tuple(items, v->n);
}

/* A descriptor made on the host: a base pointer, then shape and strides from the launch. */
static struct lang_val desc_param(struct binding *b, const struct tile_val *v)
{
	struct front *f = b->f;
	int64_t shape[TY_MAX_RANK];
	int rank = (int)v->n;
	struct lang_desc *d;
	struct lang_val *dims, base;
	int sc;
	const struct ty *block;
	struct block_ptr p;

	if (rank < 1 || rank > TILE_DIMS || rank != v->t.ndim)
		front_fail(f, REASON_block_pointer, "the tensor of a descriptor has %d dimensions, its block has %d",
			   v->t.ndim, rank);
	for (int i = 0; i < rank; i++)
		shape[i] = v->items[i].i;
	sc = sc_by_sig(str_of(dtype_info(v->t.dt)->triton));
	block = sem_block_ty(f, ty_sc((enum sc)sc), rank, shape);
	p = (struct block_ptr){ .ty = ty_ptr(f->a, block, 0), .pad = TILE_PAD_ZERO, .is_desc = 1 };
	base = new_param(b, ty_ptr(f->a, block->elem, 0));
	p.base = (tile_reg)base.u.t.id;
	dims = arena_array(f->a, 2 * (size_t)rank, sizeof *dims);
	/* Shape and strides are parameters of their own, so that the compiled kernel works for every size. */
	for (int i = 0; i < 2 * rank; i++) {
		tile_reg r;

		b->at.part = i < rank ? TILE_PART_SHAPE : TILE_PART_STRIDE;
		b->at.dim = i % rank;
		dims[i] = new_param(b, ty_sc(i < rank ? SC_INT32 : SC_INT64));
		r = (tile_reg)dims[i].u.t.id;
		if (i < rank)
			p.shape[i] = sem_cast(f, (struct tv){ ty_sc(SC_INT32), r }, ty_sc(SC_INT64)).id;
		else
			p.stride[i - rank] = r;
	}
	b->at.part = TILE_PART_VALUE;
	if (vec_push(&f->block_ptrs, p))
		front_fail(f, REASON_out_of_memory, "out of memory");
	d = arena_zalloc(f->a, sizeof *d);
	*d = (struct lang_desc){ .id = (int)f->block_ptrs.n - 1, .block = block, .shape = dims,
				 .strides = dims + rank };
	return (struct lang_val){ .kind = LANG_DESC, .u.desc = d };
}

/* Triton makes the integer 1 a constant: strides of 1 are common and simplify addresses. */
static struct lang_val int_param(struct binding *b, const struct tile_val *v)
{
	if (v->i == 1 && !b->p->no_specialize && !b->p->type[0])
		return lang_int(1);
	return new_param(b, ty_sc(v->i >= INT32_MIN && v->i <= INT32_MAX ? SC_INT32 : SC_INT64));
}

/* Binds one value: a constant, or a register of the type that the value has. */
static struct lang_val value_param(struct binding *b, const struct tile_val *v)
{
	struct front *f = b->f;
	if (v->is_constexpr || b->p->is_constexpr) {
		struct lang_val c = front_from_host(f, v);
		if (c.kind == LANG_OTHER && v->kind == TILE_V_TENSOR)
			front_fail(f, REASON_bad_parameter, "%.*s is a tl.constexpr, but a tensor was passed",
				   STR_ARG(b->p->name));
		c.wrapped = 1;
		return c;
	}
	/* An annotation decides the type, except of None and of tuples. */
	if (b->p->type[0] && !b->at.n_path && v->kind != TILE_V_NONE && v->kind != TILE_V_TUPLE)
		return new_param(b, forced_type(f, b->p->type));
	switch (v->kind) {
	case TILE_V_NONE: return lang_none();
	case TILE_V_BOOL: return new_param(b, ty_sc(SC_INT1));
	case TILE_V_INT: return int_param(b, v);
	case TILE_V_FLOAT: return new_param(b, ty_sc(SC_FP32));
	case TILE_V_TENSOR: return new_param(b, tensor_type(b, v));
	case TILE_V_DESC: return desc_param(b, v);
	case TILE_V_TUPLE: return tuple_param(b, v);
	case TILE_V_FN: {
		struct lang_val c = front_from_host(f, v);
		c.wrapped = 1;
		return c;
	}
	default:
		front_fail_hint(f, REASON_bad_parameter, "annotate the parameter with tl.constexpr",
				"failed to specialize argument of type: %s (parameter '%.*s')",
				v->kind == TILE_V_STR ? "str" : v->kind == TILE_V_DTYPE ? "dtype" : "object",
				STR_ARG(b->p->name));
	}
}

/* `types`, where given, overrides the type of an argument (tests). */
void spec_bind(struct front *f, const struct tile_launch *l, const char *const *types)
{
	const struct py_arguments *a = &l->fn->def->u.FunctionDef.args->u.arguments;
	struct front_frame *fr = f->frame;
	if (l->n_args != a->args.n || a->vararg || a->kwonlyargs.n || a->kwarg || a->posonlyargs.n)
		front_fail(f, REASON_bad_parameter,
			   "the kernel takes %zu parameters, the launch has %zu arguments", a->args.n, l->n_args);
	for (size_t i = 0; i < l->n_args; i++) {
		struct spec_param p;
		struct binding b;
		int slot;

		spec_param(l->fn, i, &p);
		fr->cur = a->args.v[i];
		if (p.is_constexpr && p.no_specialize)
			front_fail(f, REASON_bad_parameter,
				   "%.*s marked as constexpr and listed in "
				   "do_not_specialize/do_not_specialize_on_alignment. "
				   "Remove constexpr designation to skip specialization.", STR_ARG(p.name));
		if (types && types[i]) {
			/* A test names types that no value expresses, such as u32. */
			snprintf(p.type, sizeof p.type, "%s", types[i]);
			p.is_constexpr = 0;
		}
		b = (struct binding){ .f = f, .p = &p, .at = { .name = p.name, .arg = (int)i } };
		/* Parameters are the first variables of the kernel. */
		slot = front_slot(fr, p.name.p);
		fr->vars[slot] = value_param(&b, &l->args[i]);
		fr->defs[slot] = 1;
	}
	fr->cur = l->fn->def;
}

/* --- the cache key ---------------------------------------------------------------------------------- */

/* Appends the part of a value that the specialisation depends on, in binary: printing numbers would
 * cost more than the lookup. Only this process reads the key. */
static void key_value(const struct tile_val *v, int constant, struct buf *out)
{
	int fixed = constant || v->is_constexpr;

	buf_addc(out, (char)v->kind);
	buf_addc(out, fixed ? 'c' : 'v');
	switch (v->kind) {
	case TILE_V_TENSOR: buf_addc(out, (char)v->t.dt); break;
	case TILE_V_DESC:
		buf_addc(out, (char)v->t.dt);
		buf_addc(out, (char)v->t.ndim);
		break;
	case TILE_V_FN:
		buf_add(out, &v->fn, sizeof v->fn);
		buf_add(out, &v->fn->id, sizeof v->fn->id);
		break;
	case TILE_V_STR: case TILE_V_DTYPE: case TILE_V_MODULE: case TILE_V_BUILTIN: case TILE_V_OTHER:
		buf_add(out, &v->s.n, sizeof v->s.n);
		buf_addstr(out, v->s);
		break;
	case TILE_V_INT:
		if (fixed)
			buf_add(out, &v->i, sizeof v->i);
		else
			buf_addc(out, v->i == 1 ? '1' : v->i >= INT32_MIN && v->i <= INT32_MAX ? 'i' : 'l');
		break;
	case TILE_V_BOOL: buf_addc(out, fixed && v->i ? 1 : 0); break;
	case TILE_V_FLOAT:
		if (fixed)
			buf_add(out, &v->f, sizeof v->f);
		break;
	default: break;
	}
	for (size_t i = 0; i < v->n && (v->kind == TILE_V_TUPLE || v->kind == TILE_V_DESC); i++)
		key_value(&v->items[i], constant || v->kind == TILE_V_DESC, out);
	buf_addc(out, ';');
}

/* Numbers from 1 on. Any thread may call it. */
uint64_t tile_fn_id(void)
{
	static _Atomic uint64_t last;

	return ++last;
}

/* The function, its source, the launch options that change the code, and the arguments. */
void spec_key(const struct tile_launch *l, struct buf *out)
{
	const struct py_arguments *a = &l->fn->def->u.FunctionDef.args->u.arguments;
	/* An address may be used again after a source was freed, so the key contains a hash of the text. */
	uint64_t text = hash_xxh64(l->fn->module->source.p, l->fn->module->source.n, 0);
	buf_add(out, &l->fn, sizeof l->fn);
	buf_add(out, &l->fn->id, sizeof l->fn->id);
	buf_add(out, &l->fn->def, sizeof l->fn->def);
	buf_add(out, &text, sizeof text);
	buf_add(out, &l->num_warps, sizeof l->num_warps);
	buf_add(out, &l->num_stages, sizeof l->num_stages);
	for (size_t i = 0; i < l->n_args; i++) {
		struct spec_param p = { 0 };
		if (i < a->args.n)
			spec_param(l->fn, i, &p);
		key_value(&l->args[i], p.is_constexpr, out);
	}
}
