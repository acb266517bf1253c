/* Calls: builtins, methods, and jit functions. A jit function is inlined into its caller under the
 * types of its arguments: `y = scale(x, 2)` compiles the body of scale in a new frame whose
 * variables are x and the constant 2. An early return becomes a branch to the end of a block around
 * the body:
 *
 *     def f(x):                      block
 *         if x > 0:                    if %c
 *             return x                   mov %r, %x; br 1
 *                                      end
 *         return -x                    %t = sub %zero, %x; mov %r, %t
 *                                    end                     the result is %r
 *
 * Owns frames and `return`. */
#include "tile/front/builtin_lib.h"
#include "tile/front/engine.h"
#include "tile/front/front_flow.h"

/* --- frames -------------------------------------------------------------------------------------- */

/* The parameter list of a function. */
static const struct py_arguments *params_of(const struct tile_fn *fn)
{
	return &fn->def->u.FunctionDef.args->u.arguments;
}

/* One slot for each parameter and for each name that the body assigns anywhere. */
void front_frame_init(struct front *f, struct front_frame *fr, const struct tile_fn *fn)
{
	const struct py_arguments *p;
	const struct py_list *lists[3];

	/* A frame of the library reports its errors at the call. */
	*fr = (struct front_frame){ .up = f->frame, .fn = fn, .cur = fn->def, .block_depth = -1, .loc = -1,
				    .in_prelude = lang_is_library(f->g, fn) };
	p = params_of(fn);
	lists[0] = &p->posonlyargs;
	lists[1] = &p->args;
	lists[2] = &p->kwonlyargs;
	for (int k = 0; k < 3; k++)
		for (size_t i = 0; i < lists[k]->n; i++)
			front_add_name(f, fr, lists[k]->v[i]->u.arg.arg);
	if (p->vararg)
		front_add_name(f, fr, p->vararg->u.arg.arg);
	front_scan_names(f, fr, &fn->def->u.FunctionDef.body);
	fr->vars = arena_array(f->a, fr->n_names + 1, sizeof *fr->vars);
	fr->defs = arena_zalloc(f->a, fr->n_names + 1);
}

/* `int | float` is a union of types to Python: its sides are visited like any annotation. */
static void front_annotation(struct front *f, const struct py_node *n)
{
	if (n->kind != PY_BinOp || n->u.BinOp.op != PY_OP_BitOr) {
		front_expr(f, n);
		return;
	}
	front_annotation(f, n->u.BinOp.left);
	front_annotation(f, n->u.BinOp.right);
}

/* Triton visits annotations like any expression of the function, before its body: `x: bool` fails
 * because kernels have no name `bool`. */
void front_signature(struct front *f)
{
	struct front_frame *fr = f->frame;
	const struct py_arguments *p = params_of(fr->fn);
	for (size_t i = 0; i < p->args.n && !fr->in_prelude; i++) {
		const struct py_node *a = p->args.v[i];
		fr->cur = a;
		if (a->u.arg.annotation)
			front_annotation(f, a->u.arg.annotation);
	}
	fr->cur = fr->fn->def;
}

/* --- return -------------------------------------------------------------------------------------- */

/* The value that a return gives: constants become tensors. */
static struct lang_val decayed(struct front *f, struct lang_val v)
{
	if (v.kind == LANG_TUPLE) {
		struct lang_val *items = arena_array(f->a, v.u.tup.n + 1, sizeof *items);
		struct lang_val t;

		for (size_t i = 0; i < v.u.tup.n; i++)
			items[i] = decayed(f, v.u.tup.v[i]);
		t = lang_tuple(items, v.u.tup.n);
		t.u.tup.fields = v.u.tup.fields;
		return t;
	}
	if (lang_is_number(&v) || v.wrapped)
		return lang_of(sem_to_tensor(f, v));
	return v;
}

/* All returns of a function must have the same type; the first one decides. */
static void check_return_type(struct front *f, const struct lang_val *v)
{
	struct front_frame *fr = f->frame;
	int is_void = v->kind == LANG_NONE;
	if (!fr->has_ret) {
		fr->has_ret = 1;
		fr->ret_void = is_void;
		fr->ret = *v;
		return;
	}
	if (fr->ret_void != is_void || (!is_void && !flow_same_type(&fr->ret, v)))
		front_fail_hint(f, REASON_bad_return, "every return of a function must give the same type",
				"TypeError('Inconsistent return types: %s and %s')",
				fr->ret_void ? "void" : flow_type_str(f, &fr->ret),
				is_void ? "void" : flow_type_str(f, v));
}

/* Leaves the function from inside a branch: ends the kernel, or moves the value into the registers
 * of the result and branches to the end of the inlined block. */
static void leave_early(struct front *f, const struct lang_val *v)
{
	struct front_frame *fr = f->frame;
	if (!fr->up) {
		emit_insn(f, TOP_RET, 0, NULL, 0, NULL);
		return;
	}
	if (!fr->ret_void) {
		/* The first early return creates the registers of the result; later ones move into
		 * them. */
		if (!fr->ret_regs)
			fr->ret = flow_copy(f, v);
		else
			flow_assign(f, &fr->ret, v);
		fr->ret_regs = 1;
	}
	if (fr->block_depth >= 0)
		emit_br(f, f->depth - fr->block_depth);
}

/* Compiles a return. Inside a run-time branch it leaves the function by a jump. Outside, it ends
 * the compilation of the body: its value becomes the result without a move. */
void front_return(struct front *f, const struct py_node *n)
{
	struct front_frame *fr = f->frame;
	/* `return None` gives a constexpr, which decays to a tensor and fails; a bare `return` does not. */
	struct lang_val v = n->u.Return.value ? decayed(f, front_expr(f, n->u.Return.value)) : lang_raw(lang_none());
	if (v.kind != LANG_NONE && !flow_is_triton(&v))
		front_fail(f, REASON_bad_return, "AssertionError: a %s cannot be returned", lang_type_name(&v));
	check_return_type(f, &v);
	if (!fr->up && v.kind != LANG_NONE)
		/* A kernel has no caller to return a value to. */
		front_late(f, REASON_bad_return, "store the value",
			   "kernel functions do not support return with operands");
	if (fr->loops)
		front_fail_hint(f, REASON_bad_return, "Triton cannot leave a loop early",
				"AssertionError('We use SCF, so the loop body should only have one block')");
	/* Inside a branch: move the value into the registers of the result and jump. */
	if (fr->regions) {
		leave_early(f, &v);
	} else if (!fr->returned) {
		if (fr->ret_regs)
			flow_assign(f, &fr->ret, &v);
		else
			fr->ret = v;
		fr->returned = 1;
		if (!fr->up)
			emit_insn(f, TOP_RET, 0, NULL, 0, NULL);
	}
	f->mute++;      /* the code after it is unreachable; the end of the region resets it */
}

/* A function may end without a return where another path returned a value: the result is undefined
 * then. */
static void fall_off(struct front *f)
{
	struct front_frame *fr = f->frame;
	size_t n;
	struct part *p;

	if (fr->returned || !fr->ret_regs)
		return;
	n = flow_count(f, &fr->ret);
	p = arena_array(f->a, n + 1, sizeof *p);
	flow_parts(f, &fr->ret, p);
	for (size_t i = 0; i < n; i++)
		emit_mov(f, p[i].reg, emit(f, TOP_UNDEF, p[i].ty, 0).id);
}

/* --- jit functions --------------------------------------------------------------------------------- */

/* Returns the index of the parameter with this name, or -1. */
static int param_slot(const struct py_arguments *p, struct str name)
{
	for (size_t i = 0; i < p->args.n; i++)
		if (str_eq(p->args.v[i]->u.arg.arg, name))
			return (int)i;
	return -1;
}

/* Binds arguments to parameters by Python's rules. A parameter whose default applies stays UNBOUND.
 * `rest` gets the values of *args. */
static void bind(struct front *f, const struct tile_fn *fn, const struct front_args *args,
		 struct lang_val *out, struct lang_val *rest)
{
	const struct py_arguments *p = params_of(fn);
	int from_kernel = lang_is_library(f->g, fn) && !f->frame->in_prelude;
	size_t first_default;

	/* Positional arguments first, then keywords, then the check that nothing is missing. */
	if (p->posonlyargs.n || p->kwonlyargs.n)
		front_fail(f, REASON_unsupported,
			   "a kernel cannot call a function with positional-only or keyword-only parameters");
	if (p->vararg && f->version < 308)
		front_fail_hint(f, REASON_unsupported_syntax, "pass a tuple",
				"AttributeError(\"'tuple' object has no attribute 'type'\")");
	if (args->n > p->args.n && !p->vararg)
		front_fail(f, REASON_bad_argument,
			   "TypeError('%.*s() takes %zu positional arguments but %zu were given')",
			   STR_ARG(fn->name), p->args.n, args->n);
	for (size_t i = 0; i < args->n && i < p->args.n; i++)
		out[i] = args->v[i];
	*rest = args->n > p->args.n ? lang_tuple(args->v + p->args.n, args->n - p->args.n) : lang_tuple(NULL, 0);
	for (size_t i = 0; i < args->n_kw; i++) {
		int slot = !from_kernel || lang_in_version(f->version, fn->name, args->names[i]) ?
			param_slot(p, args->names[i]) : -1;
		if (slot < 0 && str_is(args->names[i], "keepdim") && param_slot(p, STR("keep_dims")) >= 0)
			front_fail_hint(f, REASON_bad_argument, "the parameter is called keep_dims",
					"TypeError(\"%.*s() got an unexpected keyword argument 'keepdim'\")",
					STR_ARG(fn->name));
		if (slot < 0)
			front_fail(f, REASON_bad_argument,
				   "TypeError(\"%.*s() got an unexpected keyword argument '%.*s'\")",
				   STR_ARG(fn->name), STR_ARG(args->names[i]));
		if (out[slot].kind != LANG_UNBOUND)
			front_fail(f, REASON_bad_argument,
				   "TypeError(\"%.*s() got multiple values for argument '%.*s'\")",
				   STR_ARG(fn->name), STR_ARG(args->names[i]));
		out[slot] = args->kw[i];
	}
	first_default = p->args.n - p->defaults.n;
	for (size_t i = 0; i < first_default; i++)
		if (out[i].kind == LANG_UNBOUND)
			front_fail(f, REASON_bad_argument,
				   "TypeError(\"%.*s() missing 1 required positional argument: '%.*s'\")",
				   STR_ARG(fn->name),
				   STR_ARG(p->args.v[i]->u.arg.arg));
}

/* Defaults are evaluated by the host, so they may name any global. */
static void fill_defaults(struct front *f, struct front_frame *fr, size_t n, struct lang_val *out)
{
	const struct py_arguments *p = params_of(fr->fn);
	size_t first = p->args.n - p->defaults.n;
	fr->in_default = 1;
	for (size_t i = first; i < n; i++)
		if (out[i].kind == LANG_UNBOUND)
			out[i] = front_expr(f, p->defaults.v[i - first]);
	fr->in_default = 0;
}

/* An argument as the callee sees it: numbers, None and types become constexprs. Objects without a
 * Triton type cannot be passed. */
static struct lang_val as_argument(struct front *f, struct lang_val v)
{
	int passable;

	if (v.kind == LANG_TENSOR || v.kind == LANG_DESC)
		return v;
	/* Triton asks each element of a tuple for its type; a bare number has none. */
	for (size_t i = 0; v.kind == LANG_TUPLE && !v.wrapped && i < v.u.tup.n; i++)
		if (lang_is_number(&v.u.tup.v[i]) && !v.u.tup.v[i].wrapped)
			front_fail(f, REASON_bad_types,
				   "AttributeError(\"'%s' object has no attribute 'type'\")",
				   lang_type_name(&v.u.tup.v[i]));
	if (v.kind == LANG_TUPLE)
		return v;
	passable = v.wrapped || lang_is_number(&v) || v.kind == LANG_NONE || v.kind == LANG_TYPE ||
		       v.kind == LANG_FN || v.kind == LANG_SLICE || v.kind == LANG_RANGE;
	if (!passable)
		front_fail_hint(f, REASON_bad_types, "pass a @triton.jit function, or the value",
				"AttributeError(\"'%s' object has no attribute 'type'\")",
				lang_type_name(&v));
	v.wrapped = 1;
	return v;
}

/* Triton passes only scalars to a function that is marked noinline. */
static void check_noinline(struct front *f, const struct tile_fn *fn, size_t n, const struct lang_val *v)
{
	for (size_t i = 0; fn->noinline && i < n; i++)
		if (v[i].kind == LANG_TENSOR && ty_is_block(v[i].u.t.ty) && v[i].u.t.ty->numel != 1)
			front_fail(f, REASON_bad_types,
				   "Function %.*s is marked noinline, but was called with non-scalar argument %.*s:%s",
				   STR_ARG(fn->name),
				   STR_ARG(params_of(fn)->args.v[i]->u.arg.arg), front_str(f, &v[i]));
}

/* Triton fails on a call with the argument types of a call that is still being compiled. */
static void check_recursion(struct front *f, const struct tile_fn *fn, size_t n, const struct lang_val *v)
{
	for (const struct front_frame *fr = f->frame; fr; fr = fr->up) {
		size_t same;

		if (fr->fn != fn || fr->n_args != n)
			continue;
		same = 0;
		while (same < n && flow_same_type(&v[same], &fr->args[same]))
			same++;
		if (same == n)
			front_fail_hint(f, REASON_recursive_call, "write a loop",
					"KeyError('%.*s'): a jit function cannot call itself", STR_ARG(fn->name));
	}
	if (f->calls >= FRONT_MAX_DEPTH)
		front_fail(f, REASON_recursive_call, "RecursionError('maximum recursion depth exceeded')");
}

/* Compiles the body with its parameters bound and gives its result. A block surrounds the body only
 * if a return inside a branch needs one to leave. */
static struct lang_val run_body(struct front *f, struct front_frame *fr)
{
	const struct py_list *body = &fr->fn->def->u.FunctionDef.body;
	int mute = f->mute, unsupported = f->unsupported, block = 0;
	for (size_t i = 0; i < body->n && !block; i++)
		/* A return as the last statement needs no block: nothing follows it. */
		block = body->v[i]->kind != PY_Return &&
			front_has_return(&(struct py_list){ .v = body->v + i, .n = 1 });
	if (block) {
		emit_block(f);
		fr->block_depth = f->depth;
	}
	front_block(f, body);
	fall_off(f);
	f->mute = mute + (f->unsupported && !unsupported);
	if (fr->block_depth >= 0)
		emit_end(f);
	return fr->has_ret && !fr->ret_void ? fr->ret : lang_raw(lang_none());
}

/* Defaults are evaluated in the frame of the callee, arguments in that of the caller. */
struct lang_val front_call_fn(struct front *f, const struct tile_fn *fn, const struct front_args *args)
{
	const struct py_arguments *p = params_of(fn);
	struct lang_val *v = arena_array(f->a, p->args.n + 1, sizeof *v), rest;
	struct lang_val r;
	struct front_frame *caller, fr;

	bind(f, fn, args, v, &rest);
	front_frame_init(f, &fr, fn);
	if (!f->mute) {
		emit_here(f);
		fr.loc = f->b->at;
	}
	caller = f->frame;
	f->frame = &fr;
	fill_defaults(f, &fr, p->args.n, v);
	f->frame = caller;
	for (size_t i = 0; i < p->args.n; i++)
		v[i] = as_argument(f, v[i]);
	check_noinline(f, fn, p->args.n, v);
	check_recursion(f, fn, p->args.n, v);
	/* The parameters become the first variables of the new frame. */
	fr.args = v;
	fr.n_args = p->args.n;
	for (size_t i = 0; i < p->args.n; i++) {
		int slot = front_slot(&fr, p->args.v[i]->u.arg.arg.p);
		fr.vars[slot] = v[i];
		fr.defs[slot] = 1;
	}
	if (p->vararg)
		fr.vars[front_slot(&fr, p->vararg->u.arg.arg.p)] = rest;
	/* From here to the end of the body, names are those of the callee. */
	f->calls++;
	f->frame = &fr;
	front_signature(f);
	r = run_body(f, &fr);
	f->frame = caller;
	f->calls--;
	return r;
}

struct lang_val front_call_with(struct front *f, const struct tile_fn *fn, size_t n, const struct lang_val *v)
{
	struct front_args args = { .v = (struct lang_val *)v, .n = n };
	return front_call_fn(f, fn, &args);
}

/* --- anything that is called -------------------------------------------------------------------------- */

/* A method call: the bound value becomes the first argument. */
static struct lang_val call_with_self(struct front *f, const struct lang_method *m, const struct front_args *args)
{
	struct front_args all = *args;
	all.n = args->n + 1;
	all.v = arena_array(f->a, all.n, sizeof *all.v);
	all.v[0] = m->self;
	memcpy(all.v + 1, args->v, args->n * sizeof *all.v);
	return m->fn ? front_call_fn(f, m->fn, &all) : lang_builtin_call(f, m->b, &all);
}

/* Dispatches by the kind of the called value. */
struct lang_val front_call(struct front *f, struct lang_val fn, const struct front_args *args, int unused)
{
	(void)unused;
	switch (fn.kind) {
	case LANG_FN:
		return front_call_fn(f, fn.u.fn, args);
	case LANG_METHOD:
		return call_with_self(f, fn.u.m, args);
	case LANG_BUILTIN:
		if (fn.u.b->fn)
			return lang_builtin_call(f, fn.u.b, args);
		if (!strcmp(fn.u.b->module, "math"))
			return front_math(f, str_of(fn.u.b->name), args);
		return lang_libdevice_call(f, str_of(fn.u.b->name), args);
	case LANG_CLASS:
		if (str_is(fn.u.s, "dtype") && args->n == 1 && args->v[0].kind == LANG_STR &&
		    sc_by_name(args->v[0].u.s) >= 0)
			return lang_type(ty_sc((enum sc)sc_by_name(args->v[0].u.s)));
		if (str_is(fn.u.s, "tuple") && args->n == 1 && args->v[0].kind == LANG_TUPLE)
			return args->v[0];
		front_fail(f, REASON_unsupported_syntax, "a kernel cannot create a %.*s", STR_ARG(fn.u.s));
	case LANG_TYPE:
		front_fail_hint(f, REASON_bad_types,
				"convert with x.to(dtype), or make a constant with tl.full",
				"TypeError(\"'dtype' object is not callable\")");
	case LANG_OTHER: case LANG_MODULE:
		front_fail_hint(f, REASON_non_constexpr_global,
				"a kernel can call triton.language and @triton.jit functions only",
				"RuntimeError('Unsupported function referenced: %.*s')", STR_ARG(fn.u.s));
	default:
		front_fail(f, REASON_bad_types, "TypeError(\"'%s' object is not callable\")", lang_type_name(&fn));
	}
}

/* The kernel's frame was made and bound by the caller. */
void front_kernel(struct front *f)
{
	front_block(f, &f->frame->fn->def->u.FunctionDef.body);
}
