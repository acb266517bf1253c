/* Owns the static view of a module's top level: a small evaluator of imports and constants. Later
 * bindings of a name win, as they would by the time a kernel is launched. Example: `BLOCK =
 * tl.constexpr(2 * 64)` binds the constexpr integer 128; `model = load()` binds an object that a
 * kernel cannot use. */
#include "tile/lint/check_kernel.h"

#include <math.h>

#include "tile/front/compile.h"

/* An object that a kernel cannot use; the text describes it in messages. */
static struct tile_val other(const char *what)
{
	return (struct tile_val){ .kind = TILE_V_OTHER, .s = str_of(what) };
}

/* The binding of a name, searched from the newest. */
static struct check_name *find(const struct check_env *env, struct str name)
{
	for (size_t i = env->n; i-- > 0;)
		if (str_eq(env->names[i].name, name))
			return &env->names[i];
	return NULL;
}

/* Binds a name, or replaces its value. */
static void bind(struct check_env *env, struct str name, struct tile_val v)
{
	struct check_name *old = find(env, name);
	if (old) {
		old->v = v;
		return;
	}
	if (env->n == env->cap) {
		size_t cap = env->cap ? 2 * env->cap : 64;
		struct check_name *names = arena_array(&env->mem, cap, sizeof *names);
		for (size_t i = 0; i < env->n; i++)
			names[i] = env->names[i];
		env->names = names;
		env->cap = cap;
	}
	env->names[env->n++] = (struct check_name){ .name = name, .v = v };
}

/* The top level of another module; NULL: it is not in the source tree. */
static const struct check_env *imported(const struct check_env *env, struct str module, int level)
{
	return env->importer ? env->importer->get(env->importer->ctx, env, module, level) : NULL;
}

/* The lookup function of jit functions. A dotted name is a member of another module of the source
 * tree. */
static int lookup(void *ctx, struct str name, struct tile_val *out)
{
	const struct check_env *env = ctx;
	const struct check_name *n = find(env, name);
	size_t dot = name.n;
	const struct check_env *other_env;

	if (n)
		*out = n->v;
	while (!n && dot && name.p[dot - 1] != '.')
		dot--;
	/* A plain name that is not bound is not found; a dotted one leads to another module. */
	if (n || !dot)
		return n != NULL;
	/* The name of the member is the part after the last dot. */
	other_env = imported(env, (struct str){ name.p, dot - 1 }, 0);
	n = other_env ? find(other_env, (struct str){ name.p + dot, name.n - dot }) : NULL;
	if (n)
		*out = n->v;
	return n != NULL;
}

/* --- expressions ------------------------------------------------------------------------------------ */

static struct tile_val eval(struct check_env *env, const struct py_node *n);

/* A literal. Bytes, complex numbers and ellipses are no values of kernels. */
static struct tile_val eval_constant(const struct py_const *c)
{
	switch (c->kind) {
	case PY_C_NONE: return (struct tile_val){ .kind = TILE_V_NONE };
	case PY_C_TRUE: case PY_C_FALSE: return (struct tile_val){ .kind = TILE_V_BOOL, .i = c->kind == PY_C_TRUE };
	case PY_C_INT: return (struct tile_val){ .kind = TILE_V_INT, .i = c->i };
	case PY_C_FLOAT: return (struct tile_val){ .kind = TILE_V_FLOAT, .f = c->f };
	case PY_C_STR: return (struct tile_val){ .kind = TILE_V_STR, .s = c->s };
	default: return other("constant");
	}
}

/* "a.b" in the arena. */
static struct str dotted(struct check_env *env, struct str a, struct str b)
{
	return str_of(arena_printf(&env->mem, "%.*s.%.*s", STR_ARG(a), STR_ARG(b)));
}

/* Modules that are known without a source tree. */
static int is_module_path(struct str s)
{
	static const char *const known[] = {
		"triton", "triton.language", "triton.language.math", "triton.language.extra",
		"triton.language.extra.libdevice", "triton.language.extra.cuda",
		"triton.language.extra.cuda.libdevice", "triton.language.core", "triton.language.standard",
		"triton.language.random", "triton.language.target_info", "math", "torch", "torch.nn",
		"torch.nn.functional", "numpy", "os", "sys" };
	for (size_t i = 0; i < COUNT_OF(known); i++)
		if (str_is(s, known[i]))
			return 1;
	return 0;
}

/* An attribute of a known module: a submodule, a function of triton, or a constant of math. */
static struct tile_val module_member(struct check_env *env, struct str module, struct str attr)
{
	struct str path = dotted(env, module, attr);
	if (is_module_path(path))
		return (struct tile_val){ .kind = TILE_V_MODULE, .s = path };
	if (str_starts(module, "triton"))
		return (struct tile_val){ .kind = TILE_V_BUILTIN, .s = path };
	if (str_is(module, "math") && (str_is(attr, "pi") || str_is(attr, "e") || str_is(attr, "inf")))
		return (struct tile_val){ .kind = TILE_V_FLOAT,
					  .f = str_is(attr, "pi") ? M_PI : str_is(attr, "e") ? M_E : INFINITY };
	return other(path.p);
}

/* The last component of a dotted name. */
static struct str path_last(struct str dotted_name)
{
	size_t at = dotted_name.n;
	while (at && dotted_name.p[at - 1] != '.')
		at--;
	return (struct str){ dotted_name.p + at, dotted_name.n - at };
}

static double number_of(const struct tile_val *v)
{
	return v->kind == TILE_V_FLOAT ? v->f : (double)v->i;
}

/* max(...), min(...), int(x), float(x), abs(x) and functions of math, on numbers. */
static struct tile_val eval_number(struct check_env *env, const struct py_Call *c, struct str fn)
{
	static const struct { const char *name; double (*fn)(double); int gives_int; } table[] = {
		{ "float", NULL, 0 }, { "int", trunc, 1 }, { "abs", fabs, 0 }, { "math.sqrt", sqrt, 0 },
		{ "math.log", log, 0 }, { "math.log2", log2, 0 },
		{ "math.exp", exp, 0 }, { "math.ceil", ceil, 1 }, { "math.floor", floor, 1 },
	};
	struct tile_val best = other("object");
	int most = str_is(fn, "max") ? 1 : str_is(fn, "min") ? -1 : 0;
	for (size_t i = 0; i < c->args.n; i++) {
		struct tile_val v = eval(env, c->args.v[i]);
		if ((v.kind != TILE_V_INT && v.kind != TILE_V_FLOAT) || (i && !most))
			return other("object");
		if (!i || (number_of(&v) - number_of(&best)) * most > 0)
			best = v;
	}
	if (most || best.kind == TILE_V_OTHER)
		return best;
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		double x = number_of(&best);
		if (!str_is(fn, table[i].name))
			continue;
		x = table[i].fn ? table[i].fn(x) : x;
		if (table[i].gives_int || (best.kind == TILE_V_INT && str_is(fn, "abs")))
			return fabs(x) < 9e15 ? (struct tile_val){ .kind = TILE_V_INT, .i = (int64_t)x } : other("int");
		return (struct tile_val){ .kind = TILE_V_FLOAT, .f = x };
	}
	return other("object");
}

/* The calls that give a constant: tl.constexpr(x), tl.pointer_type(t), tl.dtype(name), float("inf")
 * and functions of numbers. */
static struct tile_val eval_call(struct check_env *env, const struct py_Call *c)
{
	struct tile_val fn = eval(env, c->func);
	if (c->args.n == 1 && fn.kind == TILE_V_BUILTIN && str_is(fn.s, "triton.language.constexpr")) {
		struct tile_val v = eval(env, c->args.v[0]);
		v.is_constexpr = 1;
		return v;
	}
	if (c->args.n == 1 && fn.kind == TILE_V_BUILTIN && str_is(fn.s, "triton.language.pointer_type")) {
		struct tile_val v = eval(env, c->args.v[0]);
		struct str name = v.kind == TILE_V_BUILTIN ? path_last(v.s) : STR("");
		int sc = sc_by_module(name);
		if (sc > SC_VOID)
			return (struct tile_val){ .kind = TILE_V_DTYPE,
						  .s = str_of(arena_printf(&env->mem, "*%s", sc_table[sc].sig)) };
	}
	if (c->args.n == 1 && fn.kind == TILE_V_BUILTIN && str_is(fn.s, "triton.language.dtype")) {
		struct tile_val v = eval(env, c->args.v[0]);
		if (v.kind == TILE_V_STR && sc_by_name(v.s) > SC_VOID)
			return (struct tile_val){ .kind = TILE_V_DTYPE, .s = str_of(sc_table[sc_by_name(v.s)].module) };
	}
	if (c->args.n == 1 && c->func->kind == PY_Name && str_is(c->func->u.Name.id, "float")) {
		struct tile_val v = eval(env, c->args.v[0]);
		if (v.kind == TILE_V_STR && str_is(v.s, "inf"))
			return (struct tile_val){ .kind = TILE_V_FLOAT, .f = INFINITY };
		if (v.kind == TILE_V_STR && str_is(v.s, "-inf"))
			return (struct tile_val){ .kind = TILE_V_FLOAT, .f = -INFINITY };
	}
	return c->func->kind == PY_Name ? eval_number(env, c, c->func->u.Name.id)
		: fn.kind == TILE_V_OTHER ? eval_number(env, c, fn.s) : other("object");
}

/* Arithmetic on numbers; an overflow gives an unknown integer. */
static struct tile_val eval_binary(enum py_op op, struct tile_val a, struct tile_val b)
{
	int ints = a.kind == TILE_V_INT && b.kind == TILE_V_INT;
	double x = a.kind == TILE_V_INT ? (double)a.i : a.f, y = b.kind == TILE_V_INT ? (double)b.i : b.f, r;
	int64_t i;

	if ((a.kind != TILE_V_INT && a.kind != TILE_V_FLOAT) || (b.kind != TILE_V_INT && b.kind != TILE_V_FLOAT))
		return other("object");
	i = 0;
	switch (op) {
	case PY_OP_Add: r = x + y; if (ints && ck_add64(a.i, b.i, &i)) return other("int"); break;
	case PY_OP_Sub: r = x - y; if (ints && ck_sub64(a.i, b.i, &i)) return other("int"); break;
	case PY_OP_Mult: r = x * y; if (ints && ck_mul64(a.i, b.i, &i)) return other("int"); break;
	case PY_OP_Div: if (y == 0) return other("object"); ints = 0; r = x / y; break;
	case PY_OP_Pow: r = pow(x, y); if (ints && (fabs(r) > 9e15 || b.i < 0)) return other("int");
		i = ints ? (int64_t)r : 0; break;
	case PY_OP_LShift:
		r = 0;
		if (!ints || b.i < 0 || b.i > 61 || a.i < 0 || a.i > (INT64_MAX >> b.i))
			return other("int");
		i = a.i << b.i;
		break;
	case PY_OP_RShift: r = 0; if (!ints || b.i < 0 || b.i > 62) return other("int"); i = a.i >> b.i; break;
	case PY_OP_FloorDiv: r = 0; if (!ints || b.i <= 0 || a.i < 0) return other("int"); i = a.i / b.i; break;
	case PY_OP_Mod: r = 0; if (!ints || b.i <= 0 || a.i < 0) return other("int"); i = a.i % b.i; break;
	default: return other("object");
	}
	if (ints)
		return (struct tile_val){ .kind = TILE_V_INT, .i = i };
	return (struct tile_val){ .kind = TILE_V_FLOAT, .f = r };
}

/* Elements that a kernel cannot use stay in the tuple. */
static struct tile_val eval_tuple(struct check_env *env, const struct py_list *l)
{
	struct tile_val *items = arena_array(&env->mem, l->n + 1, sizeof *items);
	for (size_t i = 0; i < l->n; i++)
		items[i] = eval(env, l->v[i]);
	return (struct tile_val){ .kind = TILE_V_TUPLE, .items = items, .n = l->n };
}

/* The value of an expression, or an unusable object. */
static struct tile_val eval(struct check_env *env, const struct py_node *n)
{
	struct tile_val v;
	switch (n->kind) {
	case PY_Constant: return eval_constant(&n->u.Constant.value);
	case PY_Name: return lookup(env, n->u.Name.id, &v) ? v : other("object");
	case PY_Attribute:
		v = eval(env, n->u.Attribute.value);
		return v.kind == TILE_V_MODULE ? module_member(env, v.s, n->u.Attribute.attr) : other("object");
	case PY_Call: return eval_call(env, &n->u.Call);
	/* `a if cond else b` gives a, as `if` statements use their body: where every package is installed */
	case PY_IfExp: return eval(env, n->u.IfExp.body);
	case PY_Tuple: return eval_tuple(env, &n->u.Tuple.elts);
	case PY_UnaryOp:
		v = eval(env, n->u.UnaryOp.operand);
		if (n->u.UnaryOp.op != PY_OP_USub || (v.kind != TILE_V_INT && v.kind != TILE_V_FLOAT))
			return other("object");
		/* The smallest integer has no negative; no kernel uses it. */
		v.i = v.kind == TILE_V_INT && v.i != INT64_MIN ? -v.i : v.i;
		v.f = -v.f;
		return v;
	case PY_BinOp: return eval_binary(n->u.BinOp.op, eval(env, n->u.BinOp.left), eval(env, n->u.BinOp.right));
	default: return other("object");
	}
}

/* --- statements ----------------------------------------------------------------------------------------- */

/* `import a.b` binds a, `import a.b as c` binds the submodule. */
static void import_module(struct check_env *env, const struct py_Import *im)
{
	for (size_t i = 0; i < im->names.n; i++) {
		const struct py_alias *a = &im->names.v[i]->u.alias;
		struct str path = a->name, head = path;
		if (a->asname.p) {
			bind(env, a->asname, (struct tile_val){ .kind = TILE_V_MODULE, .s = path });
			continue;
		}
		head = str_cut(&(struct str){ path.p, path.n }, '.');
		bind(env, head, (struct tile_val){ .kind = TILE_V_MODULE, .s = head });
	}
}

/* Packages pass Triton on under its usual names, behind conditions that this evaluator cannot
 * decide. */
static struct tile_val by_custom(struct str name)
{
	static const struct { const char *name, *module; } customs[] = {
		{ "tl", "triton.language" }, { "triton", "triton" }, { "libdevice", "triton.language.extra.libdevice" },
		{ "tldevice", "triton.language.extra.libdevice" },
	};
	for (size_t i = 0; i < COUNT_OF(customs); i++)
		if (str_is(name, customs[i].name))
			return (struct tile_val){ .kind = TILE_V_MODULE, .s = str_of(customs[i].module) };
	return other("imported object");
}

/* The value of `from module import name`: a name of a module in the source tree, a submodule, or a
 * member of a known module. */
static struct tile_val from_module(struct check_env *env, struct str module, int level, struct str name)
{
	struct tile_val custom;
	struct str below;
	const struct check_env *there;
	const struct check_name *n;

	/* triton itself needs no source tree. */
	if (!level && str_starts(module, "triton"))
		return module_member(env, module, name);
	there = imported(env, module, level);
	n = there ? find(there, name) : NULL;
	if (n && n->v.kind != TILE_V_OTHER)
		return n->v;
	/* `from package import module` names a file of the package. */
	below = module.n ? dotted(env, module, name) : name;
	if (!n && there && !level && imported(env, below, 0))
		return (struct tile_val){ .kind = TILE_V_MODULE, .s = below };
	custom = by_custom(name);
	if (custom.kind != TILE_V_OTHER || level || there)
		return custom;
	return module_member(env, module, name);
}

/* `from a import b as c` binds c. */
static void import_from(struct check_env *env, const struct py_ImportFrom *im)
{
	for (size_t i = 0; i < im->names.n; i++) {
		const struct py_alias *a = &im->names.v[i]->u.alias;
		struct str name = a->asname.p ? a->asname : a->name;
		bind(env, name, from_module(env, im->module.p ? im->module : STR(""), im->level, a->name));
	}
}

/* The decorator @triton.jit, as a name or a call; NULL: not a jit function. */
static const struct py_node *jit_decorator(struct check_env *env, const struct py_list *decorators)
{
	for (size_t i = 0; i < decorators->n; i++) {
		const struct py_node *d = decorators->v[i], *f = d->kind == PY_Call ? d->u.Call.func : d;
		struct tile_val v = eval(env, f);
		if (v.kind == TILE_V_BUILTIN && (str_is(v.s, "triton.jit") || str_is(v.s, "triton.runtime.jit.jit")))
			return d;
	}
	return NULL;
}

/* The options of @triton.jit(noinline=..., do_not_specialize=[...]); parameters are named or
 * counted. */
static void jit_options(struct check_env *env, struct tile_fn *fn, const struct py_node *decorator)
{
	if (decorator->kind != PY_Call)
		return;
	for (size_t i = 0; i < decorator->u.Call.keywords.n; i++) {
		const struct py_keyword *k = &decorator->u.Call.keywords.v[i]->u.keyword;
		const struct py_list *l, *args;
		struct str *names;
		size_t n;

		/* Other options of jit do not change what a kernel may contain. */
		if (str_is(k->arg, "noinline"))
			fn->noinline = k->value->kind == PY_Constant && k->value->u.Constant.value.kind == PY_C_TRUE;
		if (!str_is(k->arg, "do_not_specialize") || (k->value->kind != PY_List && k->value->kind != PY_Tuple))
			continue;
		/* Each entry names a parameter or counts it from 0. */
		l = k->value->kind == PY_List ? &k->value->u.List.elts : &k->value->u.Tuple.elts;
		names = arena_array(&env->mem, l->n + 1, sizeof *names);
		n = 0;
		args = &fn->def->u.FunctionDef.args->u.arguments.args;
		for (size_t j = 0; j < l->n; j++) {
			const struct py_const *c;

			if (l->v[j]->kind != PY_Constant)
				continue;
			c = &l->v[j]->u.Constant.value;
			if (c->kind == PY_C_STR)
				names[n++] = c->s;
			else if (c->kind == PY_C_INT && c->i >= 0 && (size_t)c->i < args->n)
				names[n++] = args->v[c->i]->u.arg.arg;
		}
		fn->no_specialize = names;
		fn->n_no_specialize = n;
	}
}

/* A jit function becomes a tile_fn; any other function is an object that a kernel cannot use. */
static void define(struct check_env *env, const struct py_node *n)
{
	const struct py_FunctionDef *def = &n->u.FunctionDef;
	const struct py_node *jit = jit_decorator(env, &def->decorator_list);
	struct tile_fn *fn;

	if (!jit) {
		bind(env, def->name, other("function"));
		return;
	}
	fn = &env->fns[env->n_fns++];
	*fn = (struct tile_fn){ .name = def->name, .def = n, .module = env->module, .lookup = lookup,
				.lookup_ctx = env };
	jit_options(env, fn, jit);
	bind(env, def->name, (struct tile_val){ .kind = TILE_V_FN, .fn = fn });
}

/* Executes statements. Both sides of an `if` are executed, the body last, so that its bindings win;
 * of a `try` only the body. */
static void run(struct check_env *env, const struct py_list *body)
{
	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *n = body->v[i];
		switch (n->kind) {
		case PY_Import: import_module(env, &n->u.Import); break;
		case PY_ImportFrom: import_from(env, &n->u.ImportFrom); break;
		case PY_FunctionDef: define(env, n); break;
		case PY_ClassDef: bind(env, n->u.ClassDef.name, other("class")); break;
		case PY_Assign:
			if (n->u.Assign.targets.n == 1 && n->u.Assign.targets.v[0]->kind == PY_Name)
				bind(env, n->u.Assign.targets.v[0]->u.Name.id, eval(env, n->u.Assign.value));
			break;
		case PY_AnnAssign:
			if (n->u.AnnAssign.target->kind == PY_Name && n->u.AnnAssign.value)
				bind(env, n->u.AnnAssign.target->u.Name.id, eval(env, n->u.AnnAssign.value));
			break;
		case PY_If: run(env, &n->u.If.orelse); run(env, &n->u.If.body); break;
		case PY_Try: run(env, &n->u.Try.body); break;
		case PY_With: run(env, &n->u.With.body); break;
		default: break;
		}
	}
}

/* An upper bound for the array of jit functions, which must not move. */
static void count_functions(void *ctx, struct py_node *n)
{
	if (n->kind == PY_FunctionDef)
		++*(size_t *)ctx;
	py_children(n, count_functions, ctx);
}

/* Failed arena allocations leave by longjmp. */
int check_env_init(struct check_env *env, const struct py_module *m, const struct check_importer *importer,
		   struct err *e)
{
	size_t n;
	jmp_buf trap;

	*env = (struct check_env){ .module = m, .importer = importer };
	n = 0;
	if (setjmp(trap)) {
		env->mem.trap = NULL;
		check_env_release(env);
		return err_nomem(e);
	}
	env->mem.trap = &trap;
	py_children(m->root, count_functions, &n);
	env->fns = arena_array(&env->mem, n + 1, sizeof *env->fns);
	run(env, &m->root->u.Module.body);
	env->mem.trap = NULL;
	return 0;
}

void check_env_release(struct check_env *env)
{
	arena_release(&env->mem);
}

const struct tile_fn *check_env_fn(const struct check_env *env, struct str name)
{
	const struct check_name *n = find(env, name);
	return n && n->v.kind == TILE_V_FN ? n->v.fn : NULL;
}
