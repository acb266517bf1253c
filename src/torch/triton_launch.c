/* Kernel launches: kernel[grid](args) by Triton's rules, from a JITFunction of the prelude to
 * a struct tile_launch.
 *
 * Arguments bind to the kernel's signature with Triton's messages; keywords that are no
 * parameter must be launch options. Values of the host become tile_val, which borrow texts
 * and items from host objects. The host holds these until the launch ends. Compiling and
 * running is the business of host->o.launch. */
#include <stdio.h>

#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/import.h"
#include "interp/object.h"
#include "interp/operator.h"
#include "interp/ptrmap.h"
#include "interp/scope.h"
#include "interp/solid.h"
#include "interp/state.h"
#include "tile/estimate/resource.h"

/* A jit function as the tile engine sees it; lives as long as the host. */
struct jit {
	struct tile_fn fn;
	struct host *h;
	struct func_obj *f;             /* the Python function; the host keeps it alive */
	struct str *no_specialize;      /* parameters that do_not_specialize names */
};

enum { LAUNCH_PARAMS = 128 };           /* most parameters of a kernel */

/* Launch options of Triton. The first three have an effect here, MAXNREG is checked, the
 * others are accepted and ignored. Options up to MAXNREG are integers. */
enum { MAXNREG = 3 };
static const char *const options[] = {
	"num_warps", "num_stages", "num_ctas", "maxnreg", "cluster_dims", "enable_fp_fusion",
	"launch_cooperative_grid", "launch_pdl",
	"debug", "sanitize_overflow", "extern_libs", "supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes",
	"default_dot_input_precision", "allowed_dot_input_precisions", "max_num_imprecise_acc_default",
	"backend_name", "arch",
	"instrumentation_mode", "ir_override", "ptx_options", "ptx_version", "warp_size",
};
/* Options that Triton no longer has; its message names the replacement. */
static const struct { const char *name, *what; } former[] = { { "device_type", "target" },
							      { "device", "device" }, { "stream", "stream" } };

/* --- values for the tile engine ---------------------------------------------------------------------- */

static struct jit *jit_of(struct host *h, struct val kernel);

/* Is "triton.language.X" a dtype: float32, bfloat16, int8, uint64, void, ...? */
static int is_tl_dtype(struct str dotted)
{
	static const char *const names[] = { "float", "bfloat16", "int", "uint", "void" };
	struct str name = dotted;
	for (size_t i = 0; i < dotted.n; i++)
		if (dotted.p[i] == '.')
			name = (struct str){ .p = dotted.p + i + 1, .n = dotted.n - i - 1 };
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (str_starts(name, names[i]) &&
		    (i == 1 || i == 4 ||
		    (name.n > strlen(names[i]) && name.p[strlen(names[i])] >= '0' &&
		    name.p[strlen(names[i])] <= '9')))
			return 1;
	return 0;
}

/* The part of a dotted name after the last dot. */
static struct str last_part(struct str dotted)
{
	struct str name = dotted;
	for (size_t i = 0; i < dotted.n; i++)
		if (dotted.p[i] == '.')
			name = (struct str){ .p = dotted.p + i + 1, .n = dotted.n - i - 1 };
	return name;
}

static int to_tile(struct host *h, struct val v, struct tile_val *out, int depth);

/* A launch keeps the memory of its arguments, even if the tensor objects are freed meanwhile. */
static int tensor_to_tile(struct host *h, const struct tensor *t, struct tile_val *out)
{
	if (vec_push(&h->torch.launched, *t))
		return host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
	tensor_retain(t);
	out->t = *t;
	return 0;
}

/* Releases the tensors of a launch, whether it succeeded or not. */
static void end_launch(struct host *h)
{
	while (h->torch.launched.n)
		tensor_release(&h->torch.launched.v[--h->torch.launched.n]);
	h->torch.launching = 0;
}

/* The items of a tuple, converted; they live in the launch arena. The length is read again in
 * the loop because converting an item may run code of the program. */
static int tuple_to_tile(struct host *h, const struct seq_obj *s, struct tile_val *out, int depth)
{
	/* a tuple may occur in another many times, and counts each time */
	enum { ITEM_STEPS = 8 };
	struct tile_val *items;
	size_t n = s->n;

	if (host_burn(h, (int64_t)n * ITEM_STEPS))
		return -1;
	items = arena_array(&h->torch.launch_arena, n + 1, sizeof *items);
	if (!items)
		return host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
	for (size_t i = 0; i < n; i++)
		if (i >= s->n || to_tile(h, s->v[i], &items[i], depth + 1))
			return h->fail.fatal ? -1 : host_fatal(h, REASON_unsupported,
							       "a list that changes while a kernel is launched");
	out->kind = TILE_V_TUPLE;
	out->items = items;
	out->n = n;
	return 0;
}

/* tl.constexpr(x), a jit function, a tensor descriptor, or an object that no kernel can use
 * (TILE_V_OTHER, which the compiler reports if it is used). */
static int object_to_tile(struct host *h, struct val v, struct tile_val *out, int depth)
{
	struct val inner;
	if (host_deep(h))
		return -1;
	if (val_isinstance(h, v, "triton.language.constexpr")) {
		if (host_getattr(h, v, "value", &inner) <= 0 || to_tile(h, inner, out, depth + 1))
			return h->fail.fatal ? -1 : 0;
		out->is_constexpr = 1;
		return 0;
	}
	if (val_isinstance(h, v, "triton.JITFunction") || val_isinstance(h, v, "triton.Autotuner") ||
	    val_isinstance(h, v, "triton.Heuristics")) {
		struct jit *j = jit_of(h, v);
		if (!j)
			return -1;
		out->kind = TILE_V_FN;
		out->fn = &j->fn;
		return 0;
	}
	if (val_isinstance(h, v, "triton.tools.tensor_descriptor.TensorDescriptor")) {
		struct val base, block;
		if (host_getattr(h, v, "base", &base) <= 0 || host_getattr(h, v, "block_shape", &block) <= 0 ||
		    base.kind != V_TENSOR ||
		    (block.kind != V_LIST && block.kind != V_TUPLE))
			return h->fail.fatal ? -1 : host_raise(h, EXC_TypeError, "malformed TensorDescriptor");
		if (tuple_to_tile(h, block.u.seq, out, depth))
			return -1;
		out->kind = TILE_V_DESC;
		return tensor_to_tile(h, &base.u.t->t, out);
	}
	out->kind = TILE_V_OTHER;
	out->s = str_of(val_type_name(h, v));
	return 0;
}

/* The class itself, after "from triton.language import constexpr". */
static int is_constexpr_class(const struct class_obj *c)
{
	return c->mod && !strcmp(c->mod->name->p, "triton.language") && !strcmp(c->name->p, "constexpr");
}

/* The compiler knows modules by their own names, not by aliases such as "tl". */
static struct str module_name(const struct module_obj *m)
{
	const struct str_obj *name = m->of ? m->of->name : m->name;

	return (struct str){ .p = name->p, .n = name->n };
}

/* A value of the host as a value for the kernel compiler. Returns 0, or -1 if the host
 * failed. Nested tuples are followed to a depth of 8. */
static int to_tile(struct host *h, struct val v, struct tile_val *out, int depth)
{
	*out = (struct tile_val){ .kind = TILE_V_NONE };
	switch (v.kind) {
	case V_NONE: return 0;
	case V_BOOL: case V_INT: out->kind = v.kind == V_BOOL ? TILE_V_BOOL : TILE_V_INT; out->i = v.u.i; return 0;
	case V_FLOAT: out->kind = TILE_V_FLOAT; out->f = v.u.f; return 0;
	case V_STR: out->kind = TILE_V_STR; out->s = val_text(v); return 0;
	case V_TENSOR:
		solid_launch(h, v.u.t);
		out->kind = TILE_V_TENSOR;
		return tensor_to_tile(h, &v.u.t->t, out);
	case V_MODULE:
		out->kind = TILE_V_MODULE;
		out->s = module_name(v.u.mod);
		return 0;
	case V_TL:
		out->kind = is_tl_dtype(val_text(v)) ? TILE_V_DTYPE : TILE_V_BUILTIN;
		out->s = out->kind == TILE_V_DTYPE ? last_part(val_text(v)) : val_text(v);
		return 0;
	case V_TUPLE:
		if (depth < 8)
			return tuple_to_tile(h, v.u.seq, out, depth);
		break;
	case V_OBJECT: return object_to_tile(h, v, out, depth);
	case V_CLASS:
		if (is_constexpr_class(v.u.c)) {
			out->kind = TILE_V_BUILTIN;
			out->s = STR("triton.language.constexpr");
			return 0;
		}
		break;
	case V_BUILTIN:
		if (str_starts(str_of(v.u.b->row->name), "triton.")) {
			out->kind = TILE_V_BUILTIN;
			out->s = str_of(v.u.b->row->name);
			return 0;
		}
		break;
	default: break;
	}
	out->kind = TILE_V_OTHER;
	out->s = str_of(val_type_name(h, v));
	return 0;
}

/* A name in the body of a kernel: a variable of the enclosing function, or a global. `name`
 * may be dotted, for a member of a module that only the host knows. Returns 1 if it exists. */
static int lookup(void *ctx, struct str name, struct tile_val *out)
{
	struct jit *j = ctx;
	struct host *h = j->h;
	struct func_obj *f = j->f;
	const struct var *var = scope_find(f->scope, name.p);
	struct val v = { .kind = V_UNSET };

	/* A variable of an enclosing function is in a cell of the closure. */
	if (var && var->kind == VAR_FREE && (size_t)var->index < f->n_cells)
		v = CELL_VALUE(f->cells[var->index]);
	/* a member of a module that only the host knows */
	if (v.kind == V_UNSET && memchr(name.p, '.', name.n)) {
		/* The module is the part before the last dot, the member is the part after it. */
		size_t dot = name.n;
		struct val m;
		struct str_obj *member;

		while (name.p[--dot] != '.')
			;
		member = host_intern(h, (struct str){ .p = name.p + dot + 1, .n = name.n - dot - 1 });
		if (!member || import_module(h, (struct str){ .p = name.p, .n = dot }, &m) || m.kind != V_MODULE ||
		    module_attr(h, m.u.mod, member, &v) <= 0) {
			if (!h->fail.fatal)
				host_exc_clear(h);
			return 0;
		}
	}
	if (v.kind == V_UNSET) {
		struct str_obj *s = host_intern(h, name);
		struct val *g = s ? attrs_get(f->mod->h.attrs, s) : NULL;
		if (g)
			v = *g;
		else if (!s || !f->mod->lazy || module_attr(h, f->mod, s, &v) <= 0)
			return 0;
	}
	/* The value is held until the launch ends: texts and items are borrowed from it. */
	return to_tile(h, host_hold(h, v), out, 0) ? 0 : 1;
}

/* --- jit functions ---------------------------------------------------------------------------------------- */

/* do_not_specialize of a JITFunction, by index or by name. */
static int find_no_specialize(struct host *h, struct jit *j, struct val obj)
{
	struct val list;
	const struct py_arguments *a;

	if (host_getattr(h, obj, "do_not_specialize", &list) <= 0 || (list.kind != V_LIST && list.kind != V_TUPLE))
		return h->fail.fatal ? -1 : 0;
	a = &j->f->node->u.FunctionDef.args->u.arguments;
	j->no_specialize = arena_array(&h->torch.jit_arena, list.u.seq->n + 1, sizeof *j->no_specialize);
	if (!j->no_specialize)
		return host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
	for (size_t i = 0; i < list.u.seq->n; i++) {
		struct val v = list.u.seq->v[i];
		for (size_t k = 0; k < a->args.n; k++)
			if ((v.kind == V_INT && v.u.i == (int64_t)k) ||
			    (v.kind == V_STR && str_eq(val_text(v), a->args.v[k]->u.arg.arg)))
				j->no_specialize[j->fn.n_no_specialize++] = a->args.v[k]->u.arg.arg;
	}
	j->fn.no_specialize = j->no_specialize;
	return 0;
}

/* The jit function behind a JITFunction, or behind an autotuner or heuristics around one
 * (they have it as .fn). Made once per function and host. */
static struct jit *jit_of(struct host *h, struct val kernel)
{
	struct val fn = kernel, inner;
	struct val no;
	struct jit *j;

	/* Follow .fn through autotuner and heuristics to the function itself; a cycle ends
	 * after 8. */
	for (int hops = 0; fn.kind == V_OBJECT && hops < 8; hops++) {
		if (host_getattr(h, fn, "fn", &inner) <= 0)
			break;
		kernel = fn;
		fn = inner;
	}
	if (fn.kind != V_FUNC || fn.u.fn->node->kind != PY_FunctionDef) {
		if (!h->fail.fatal)
			host_raise(h, EXC_TypeError, "@triton.jit needs a function");
		return NULL;
	}
	j = ptr_map_get(&h->torch.jits, fn.u.o);
	if (j)
		return j;
	j = arena_zalloc(&h->torch.jit_arena, sizeof *j);
	if (!j || ptr_map_put(&h->torch.jits, fn.u.o, j)) {
		host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
		return NULL;
	}
	/* The key of the map is the address of the function, which must stay alive. */
	val_keep(fn);
	j->h = h;
	j->f = fn.u.fn;
	j->fn = (struct tile_fn){ .name = { .p = fn.u.fn->name->p, .n = fn.u.fn->name->n },
				  .id = tile_fn_id(), .def = fn.u.fn->node,
				  .module = fn.u.fn->unit->ast, .lookup = lookup, .lookup_ctx = j };
	if (host_getattr(h, kernel, "noinline", &no) > 0)
		j->fn.noinline = val_truth(h, no) > 0;
	return find_no_specialize(h, j, kernel) ? NULL : j;
}

/* --- binding ------------------------------------------------------------------------------------------------ */

/* One launch while its arguments are bound. */
struct triton_call {
	struct host *h;
	struct jit *j;
	struct val vals[LAUNCH_PARAMS]; /* by parameter; V_UNSET: not bound yet */
	size_t n;
	struct tile_launch l;
};

/* Name of parameter i: positional only, ordinary, keyword only. */
static struct str kernel_param(const struct py_arguments *a, size_t i)
{
	if (i < a->posonlyargs.n)
		return a->posonlyargs.v[i]->u.arg.arg;
	i -= a->posonlyargs.n;
	return i < a->args.n ? a->args.v[i]->u.arg.arg : a->kwonlyargs.v[i - a->args.n]->u.arg.arg;
}

/* A keyword that is no parameter: a launch option, or Triton's KeyError. */
static int bind_option(struct triton_call *x, struct val name, struct val v)
{
	struct str s = val_text(name);
	int64_t i;
	for (size_t k = 0; k < COUNT_OF(options); k++) {
		if (!str_is(s, options[k]))
			continue;
		if (k > MAXNREG || v.kind == V_NONE)
			return 0;
		if (val_as_int(x->h, v, &i))
			return -1;
		if (k == MAXNREG) {
			x->l.no_registers = i < 1;
			return 0;
		}
		*(k == 0 ? &x->l.num_warps : k == 1 ? &x->l.num_stages : &x->l.num_ctas) =
			(int)MAX(MIN(i, 1 << 20), -1);
		return 0;
	}
	for (size_t k = 0; k < COUNT_OF(former); k++)
		if (str_is(s, former[k].name))
			return host_raise(x->h, EXC_AssertionError,
					  "%s option is deprecated; current %s will be used",
					  former[k].name, former[k].what);
	return host_raise(x->h, EXC_KeyError, "Keyword argument %s was specified but unrecognised", name.u.s->p);
}

/* A keyword: a parameter, else an option. dynamic_func is the name that Triton's generated
 * binder has in messages. */
static int bind_keyword(struct triton_call *x, const struct py_arguments *a, struct val name,
			struct val v)
{
	for (size_t i = 0; i < x->n; i++) {
		if (!str_eq(kernel_param(a, i), val_text(name)))
			continue;
		if (x->vals[i].kind != V_UNSET)
			return host_raise(x->h, EXC_TypeError,
					  "dynamic_func() got multiple values for argument '%s'", name.u.s->p);
		x->vals[i] = v;
		return 0;
	}
	return bind_option(x, name, v);
}

/* Fills in defaults; reports all missing arguments at once, as Python does: 'a', 'b', and
 * 'c'. */
static int bind_defaults(struct triton_call *x, const struct py_arguments *a)
{
	const struct func_obj *f = x->j->f;
	size_t n_pos = a->posonlyargs.n + a->args.n, missing = 0, shown = 0;
	struct buf names = BUF_INIT;
	for (size_t i = 0; i < x->n; i++) {
		if (x->vals[i].kind != V_UNSET)
			continue;
		if (i < n_pos && i + f->n_defaults >= n_pos)
			x->vals[i] = f->defaults[i + f->n_defaults - n_pos];
		else if (i >= n_pos && i - n_pos < f->n_kw && f->kw_defaults[i - n_pos].kind != V_UNSET)
			x->vals[i] = f->kw_defaults[i - n_pos];
		else
			missing++;
	}
	if (!missing)
		return 0;
	for (size_t i = 0; i < x->n; i++)
		if (x->vals[i].kind == V_UNSET) {
			if (shown++)
				buf_adds(&names, shown < missing ? ", " : missing > 2 ? ", and " : " and ");
			buf_addf(&names, "'%.*s'", STR_ARG(kernel_param(a, i)));
		}
	host_raise(x->h, EXC_TypeError, "dynamic_func() missing %zu required positional argument%s: %s",
		   missing, missing == 1 ? "" : "s", buf_cstr(&names));
	buf_release(&names);
	return -1;
}

/* Positional arguments, keywords, defaults. */
static int bind_all(struct triton_call *x, struct val args, struct val kwargs)
{
	const struct py_arguments *a = &x->j->f->node->u.FunctionDef.args->u.arguments;
	x->n = a->posonlyargs.n + a->args.n + a->kwonlyargs.n;
	if (a->vararg || a->kwarg)
		return host_fatal(x->h, REASON_unsupported, "a kernel with *args or **kwargs");
	if (x->n > LAUNCH_PARAMS)
		return host_fatal(x->h, REASON_unsupported, "a kernel of more than %d parameters", LAUNCH_PARAMS);
	if (args.u.seq->n > a->posonlyargs.n + a->args.n)
		return host_raise(x->h, EXC_TypeError,
				  "dynamic_func() takes %zu positional arguments but %zu were given",
				  a->posonlyargs.n + a->args.n, args.u.seq->n);
	for (size_t i = 0; i < args.u.seq->n; i++)
		x->vals[i] = args.u.seq->v[i];
	for (size_t i = 0; i < kwargs.u.d->n; i++)
		if (kwargs.u.d->e[i].key.kind == V_STR && bind_keyword(x, a, kwargs.u.d->e[i].key,
								       kwargs.u.d->e[i].val))
			return -1;
	return bind_defaults(x, a);
}

/* --- the grid -------------------------------------------------------------------------------------------------- */

/* The grid: a tuple of one to three integers, or a function of the bound arguments that
 * returns one. Missing dimensions are 1. */
static int grid_of(struct triton_call *x, struct val grid)
{
	struct host *h = x->h;
	const struct py_arguments *a = &x->j->f->node->u.FunctionDef.args->u.arguments;
	struct val bound, item;
	int64_t n;
	/* Triton asserts that a grid is given; its assertion has no text. */
	if (grid.kind == V_NONE)
		return host_raise(h, EXC_AssertionError, "%s", "");
	if (grid.kind == V_FUNC || grid.kind == V_METHOD || grid.kind == V_BUILTIN ||
	    (grid.kind == V_OBJECT && has_special(h, grid, NM___call__))) {
		if (val_dict(h, &bound))
			return -1;
		for (size_t i = 0; i < x->n; i++) {
			struct str_obj *s = host_ident(h, kernel_param(a, i));
			if (!s || attrs_set(h, bound.u.d, s, x->vals[i]))
				return -1;
		}
		/* The grid function gets a dict of all arguments by name, as Triton's META. */
		if (host_call1(h, grid, bound, &grid))
			return -1;
	}
	if (host_len(h, grid, &n))
		return -1;
	if (n < 1 || n > 3)
		return host_raise(h, n < 1 ? EXC_IndexError : EXC_ValueError,
				  n < 1 ? "tuple index out of range" : "grid must have at most 3 dimensions");
	for (int i = 0; i < 3; i++) {
		x->l.grid[i] = 1;
		if (i >= n)
			continue;
		if (item_get(h, grid, val_int(i), &item))
			return -1;
		if (item.kind == V_FLOAT)
			return host_raise(h, EXC_TypeError, "'float' object cannot be interpreted as an integer");
		if (val_as_int(h, item, &x->l.grid[i]))
			return -1;
	}
	return 0;
}

/* --- running ---------------------------------------------------------------------------------------------------- */

/* Triton refuses CPU tensors; empty ones have no pointer and pass. */
static int check_pointers(struct triton_call *x)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->vals[i].kind == V_TENSOR && x->vals[i].u.t->device != HOST_CUDA &&
		    tensor_numel(&x->vals[i].u.t->t))
			return host_raise(x->h, EXC_ValueError,
					  "Pointer argument (at %zu) cannot be accessed from Triton (cpu tensor?)", i);
	return 0;
}

/* Notes the launch for the judge: kernel, grid, options, and the storages of its tensors. */
static int record(struct triton_call *x)
{
	struct host_launch r = { .kernel = x->j->fn.name, .line = x->l.line, .col = x->l.col,
				 .num_warps = x->l.num_warps, .num_stages = x->l.num_stages };
	memcpy(r.grid, x->l.grid, sizeof r.grid);
	for (size_t i = 0; i < x->n && r.n_storages < (int)COUNT_OF(r.storages); i++)
		if (x->vals[i].kind == V_TENSOR)
			r.storages[r.n_storages++] = x->vals[i].u.t->t.st->id;
	if (x->h->did.launches.n >= 1000000)
		return host_fatal(x->h, REASON_out_of_fuel, "more than a million kernel launches");
	return vec_push(&x->h->did.launches, r) ? host_fatal(x->h, REASON_out_of_memory,
							     "the machine is out of memory") : 0;
}

/* Runs the launch through the host's callback. Returns 0 if it ran (or nobody runs launches),
 * 1 if it only compiled and exceeds the GPU's resources, so that an autotuner leaves the
 * configuration out, -1 on failure. */
static int execute(struct triton_call *x)
{
	struct host *h = x->h;
	struct diag d = { .reason = REASON_ok };
	struct err e = ERR_INIT;
	int rc;

	if (!h->o.launch)
		return 0;
	rc = h->o.launch(h->o.launch_ctx, &x->l, &d, &e);
	if (!rc)
		return 0;
	/* Triton's autotuner skips configurations that exceed the GPU's resources. */
	if (rc > 0 && x->l.compile_only && resource_left_out(&d))
		return 1;
	/* rc < 0 is a failure of ours (e), rc > 0 one of the candidate (d). Neither can be
	 * caught by the program. */
	h->fail.fatal = 1;
	if (rc < 0) {
		h->fail.failed = 1;
		h->fail.err = e;
	} else {
		h->fail.diag = d;
	}
	return -1;
}

/* Binds everything and converts the arguments to `args`, which has room for LAUNCH_PARAMS. A
 * grid function or a __len__ of the program may try to launch within a launch; that is
 * refused. The caller calls end_launch in every case. */
static int ready(struct bind *b, struct triton_call *x, struct tile_val *args)
{
	int w;

	*x = (struct triton_call){ .h = b->h, .l = { .num_warps = 4, .num_stages = 3, .num_ctas = 1,
						     .allocator = b->h->torch.allocator } };
	if (!(x->j = jit_of(b->h, b->a[0])) || bind_all(x, b->a[1], b->a[3]) || grid_of(x, b->a[2]))
		return -1;
	/* Triton's own check: a warp count is a power of two. */
	w = x->l.num_warps;
	if (w <= 0 || (w & (w - 1)))
		return bind_raise(b, EXC_AssertionError, "num_warps must be a power of 2");
	for (int i = 0; i < 3; i++)
		if (x->l.grid[i] < 0 || x->l.grid[i] > INT32_MAX)
			return bind_raise(b, x->l.grid[i] < 0 ? EXC_ValueError : EXC_OverflowError,
					  "signed integer is %s",
					  x->l.grid[i] < 0 ? "less than minimum" : "greater than maximum");
	if (b->h->torch.launching)
		return bind_unsupported(b, "a kernel launch within another kernel launch");
	b->h->torch.launching = 1;
	arena_clear(&b->h->torch.launch_arena);
	for (size_t i = 0; i < x->n; i++)
		if (to_tile(b->h, x->vals[i], &args[i], 0))
			return -1;
	host_position(b->h, &x->l.line, &x->l.col);
	x->l.fn = &x->j->fn;
	x->l.args = args;
	x->l.n_args = x->n;
	return 0;
}

/* _run(kernel, args, grid, kwargs) for JITFunction.run of the prelude. An empty grid runs
 * nothing but is recorded. */
static int run(struct bind *b)
{
	struct triton_call x;
	struct tile_val args[LAUNCH_PARAMS];
	int empty;

	if (ready(b, &x, args))
		return -1;
	empty = !x.l.grid[0] || !x.l.grid[1] || !x.l.grid[2];
	if (record(&x) || (!empty && check_pointers(&x)))
		return -1;
	return empty ? 0 : execute(&x);
}

/* run(), and the end of the launch in every case. */
static int t_run(struct bind *b)
{
	int rc = run(b);

	end_launch(b->h);
	return rc;
}

/* Compiles without running; the answer is whether the configuration fits. */
static int fits(struct bind *b)
{
	struct triton_call x;
	struct tile_val args[LAUNCH_PARAMS];
	int rc;

	if (ready(b, &x, args) || check_pointers(&x))
		return -1;
	x.l.compile_only = 1;
	rc = execute(&x);
	b->out = val_bool(!rc);
	return MIN(rc, 0);
}

/* _fits(kernel, args, grid, kwargs): does the kernel compile, and does the GPU have enough
 * resources for it? */
static int t_fits(struct bind *b)
{
	int rc = fits(b);

	end_launch(b->h);
	return rc;
}

/* _arg_names(kernel): the names of all parameters. */
static int t_arg_names(struct bind *b)
{
	struct jit *j = jit_of(b->h, b->a[0]);
	const struct py_arguments *a;

	if (!j || val_list(b->h, NULL, 0, &b->out))
		return -1;
	a = &j->f->node->u.FunctionDef.args->u.arguments;
	for (size_t i = 0; i < a->posonlyargs.n + a->args.n + a->kwonlyargs.n; i++) {
		struct str_obj *s = host_ident(b->h, kernel_param(a, i));
		if (!s || list_append(b->h, b->out, val_of_str(s)))
			return -1;
	}
	return 0;
}

/* triton.set_allocator: kernels that need global scratch memory require one. */
static int t_set_allocator(struct bind *b)
{
	b->h->torch.allocator = b->a[0].kind != V_NONE;
	return 0;
}

/* All internal: JITFunction, Autotuner and Heuristics of prelude/triton/__init__.py call
 * them. */
const struct bind_row triton_rows[] = {
	{ "triton._run", "kernel, args: tuple, grid, kwargs: dict", t_run, BIND_INTERNAL },
	{ "triton._fits", "kernel, args: tuple, grid, kwargs: dict", t_fits, BIND_INTERNAL },
	{ "triton._set_allocator", "allocator", t_set_allocator, BIND_INTERNAL },
	{ "triton._arg_names", "kernel", t_arg_names, BIND_INTERNAL },
	{ NULL, NULL, NULL, 0 }
};
