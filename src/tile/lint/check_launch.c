/* Imagined launches: arguments from a written signature, or guessed from use.
 *
 * A guess need not be the author's launch; it must be types under which a sound kernel compiles. A
 * parameter through which the kernel loads or stores is a pointer. A parameter that is compared or
 * added to offsets is i32. A name that looks like a scale or an epsilon is fp32. */
#include "tile/lint/check_kernel.h"

#include <ctype.h>
#include <stdio.h>

#include "tile/front/compile.h"

static size_t n_params(const struct tile_fn *fn)
{
	return fn->def->u.FunctionDef.args->u.arguments.args.n;
}

static struct str param_name(const struct tile_fn *fn, size_t i)
{
	return fn->def->u.FunctionDef.args->u.arguments.args.v[i]->u.arg.arg;
}

/* A launch of one instance with Triton's default options. OTHER marks an argument without a value. */
static int launch_init(struct check_launch *c, const struct tile_fn *fn, struct err *e)
{
	size_t n = n_params(fn);
	*c = (struct check_launch){ 0 };
	c->args = arena_array(&c->mem, n + 1, sizeof *c->args);
	c->types = arena_array(&c->mem, n + 1, sizeof *c->types);
	if (!c->args || !c->types)
		return err_nomem(e);
	c->l = (struct tile_launch){ .fn = fn, .args = c->args, .n_args = n, .grid = { 1, 1, 1 },
				     .num_warps = 4, .num_stages = 3, .num_ctas = 1 };
	for (size_t i = 0; i < n; i++)
		c->args[i].kind = TILE_V_OTHER;
	return 0;
}

void check_launch_release(struct check_launch *c)
{
	arena_release(&c->mem);
}

/* --- written signatures ------------------------------------------------------------------------------ */

/* Makes argument i a run-time value of the given type. Its value 2 is not the constant 1. */
static int set_type(struct check_launch *c, size_t i, struct str text)
{
	int ptr = str_starts(text, "*");
	struct str elem = text;
	int sc;

	if (ptr)
		elem.p++, elem.n--;
	if (ptr && str_starts(elem, "k"))
		elem.p++, elem.n--;
	sc = sc_by_sig(elem);
	if (sc <= SC_VOID)
		return -1;
	/* The type overrides the value, which only has to be an integer. */
	c->types[i] = arena_strndup(&c->mem, text.p, text.n);
	c->args[i] = (struct tile_val){ .kind = TILE_V_INT, .i = 2 };
	return 0;
}

/* Makes argument i a constexpr: a literal, a dtype or a jit function of the module. */
static int set_constant(struct check_launch *c, const struct check_env *env, size_t i, struct str v)
{
	int64_t n;
	double d;
	struct tile_val *a = &c->args[i];
	if (str_is(v, "None"))
		*a = (struct tile_val){ .kind = TILE_V_NONE };
	else if (str_is(v, "True") || str_is(v, "False"))
		*a = (struct tile_val){ .kind = TILE_V_BOOL, .i = str_is(v, "True") };
	else if (!str_to_i64(v, &n))
		*a = (struct tile_val){ .kind = TILE_V_INT, .i = n };
	else if (!str_to_f64(v, &d))
		*a = (struct tile_val){ .kind = TILE_V_FLOAT, .f = d };
	else if (v.n >= 2 && (v.p[0] == '\'' || v.p[0] == '"'))
		*a = (struct tile_val){ .kind = TILE_V_STR, .s = { v.p + 1, v.n - 2 } };
	else if (str_starts(v, "tl.") && sc_by_module((struct str){ v.p + 3, v.n - 3 }) >= 0)
		*a = (struct tile_val){ .kind = TILE_V_DTYPE, .s = { v.p + 3, v.n - 3 } };
	else if (check_env_fn(env, v))
		*a = (struct tile_val){ .kind = TILE_V_FN, .fn = check_env_fn(env, v) };
	else
		return -1;
	a->is_constexpr = 1;
	return 0;
}

/* Cuts at the next comma outside brackets and quotes. */
static struct str cut_item(struct str *s)
{
	int depth = 0;
	char quote = 0;
	struct str all;

	for (size_t i = 0; i < s->n; i++) {
		char ch = s->p[i];
		if (quote) {
			quote = ch == quote ? 0 : quote;
		} else if (ch == '\'' || ch == '"') {
			quote = ch;
		} else if (ch == '(' || ch == '[') {
			depth++;
		} else if (ch == ')' || ch == ']') {
			depth--;
		} else if (ch == ',' && !depth) {
			struct str item = { s->p, i };
			s->p += i + 1, s->n -= i + 1;
			return item;
		}
	}
	all = *s;
	s->p += s->n, s->n = 0;
	return all;
}

/* "(1, 2)": a tuple of at most 16 constants. */
static int set_tuple(struct check_launch *c, const struct check_env *env, size_t i, struct str v, struct err *e)
{
	struct str body = { v.p + 1, v.n - 2 };
	struct check_launch inner = *c;
	struct tile_val *items = arena_array(&c->mem, 16, sizeof *items);
	size_t n = 0;
	if (!items)
		return err_nomem(e);
	inner.args = items;
	while (str_trim(body).n && n < 16) {
		struct str item = str_trim(cut_item(&body));
		if (set_constant(&inner, env, n, item))
			return err_set(e, ERR_FORMAT, "'%.*s' is not a constant", STR_ARG(item));
		items[n].is_constexpr = 0;
		n++;
	}
	/* The copy may have grown the arena. */
	c->mem = inner.mem;
	c->args[i] = (struct tile_val){ .kind = TILE_V_TUPLE, .items = items, .n = n, .is_constexpr = 1 };
	return 0;
}

/* Uses the default of parameter i, if it is a literal or a dtype. */
static int set_default(struct check_launch *c, const struct check_env *env, const struct tile_fn *fn, size_t i)
{
	const struct py_arguments *a = &fn->def->u.FunctionDef.args->u.arguments;
	size_t first = a->args.n - a->defaults.n;
	struct spec_param p;
	struct str text;
	struct buf b = BUF_INIT;

	if (i < first)
		return -1;
	py_print(a->defaults.v[i - first], &b);
	text = str_trim(buf_str(&b));
	/* The text outlives the buffer: a string constant refers to it. */
	text.p = arena_strndup(&c->mem, text.p, text.n);
	buf_release(&b);
	if (!text.p || set_constant(c, env, i, text))
		return -1;
	spec_param(fn, i, &p);
	c->args[i].is_constexpr = p.is_constexpr;
	return 0;
}

/* A value is a tuple, a type or a constant; parameters that are not named use their defaults. */
int check_launch_parse(struct check_launch *c, const struct check_env *env, const struct tile_fn *fn,
		       struct str sig, struct err *e)
{
	size_t n;
	struct str rest;

	if (launch_init(c, fn, e))
		return -1;
	n = n_params(fn);
	rest = sig;
	while (str_trim(rest).n) {
		struct str value = cut_item(&rest), name = str_trim(str_cut(&value, '='));
		size_t i = 0;
		value = str_trim(value);
		/* The parameter is found by name: the order does not matter. */
		while (i < n && !str_eq(param_name(fn, i), name))
			i++;
		if (i == n)
			return err_set(e, ERR_FORMAT, "%.*s has no parameter '%.*s'", STR_ARG(fn->name), STR_ARG(name));
		if (value.n > 1 && value.p[0] == '(') {
			if (set_tuple(c, env, i, value, e))
				return -1;
		} else if (set_type(c, i, value) && set_constant(c, env, i, value)) {
			return err_set(e, ERR_FORMAT, "'%.*s' is neither a type nor a constant", STR_ARG(value));
		}
	}
	for (size_t i = 0; i < n; i++)
		if (c->args[i].kind == TILE_V_OTHER && set_default(c, env, fn, i))
			return err_set(e, ERR_FORMAT, "the signature does not name parameter '%.*s'",
				       STR_ARG(param_name(fn, i)));
	return 0;
}

/* The comments are on the lines directly above the decorators. They count from the lowest. */
struct str check_signature_comment(const struct check_env *env, const struct tile_fn *fn, size_t index)
{
	int line = fn->def->line;
	const struct py_list *dec = &fn->def->u.FunctionDef.decorator_list;
	size_t seen;

	if (dec->n && dec->v[0]->line < line)
		line = dec->v[0]->line;
	seen = 0;
	for (int l = line - 1; l > 0; l--) {
		struct str text = str_trim(py_line(env->module, l));
		struct str body;

		if (!str_starts(text, "#"))
			break;
		body = str_trim((struct str){ text.p + 1, text.n - 1 });
		/* Several signatures are several launches to check. */
		if (str_starts(body, "signature:") && seen++ == index)
			return str_trim((struct str){ body.p + 10, body.n - 10 });
	}
	return STR("");
}

/* --- guesses ------------------------------------------------------------------------------------------- */

/* The use of a parameter in the body, directly or through local names for sums with it. */
struct use {
	unsigned char pointer;      /* loads or stores go through it */
	unsigned char index;  /* values loaded through it are part of an address or bound a loop */
};

/* A local name: the parameter whose address it is computed from, and the one that it was loaded
 * through; -1: none. */
struct alias { struct str name; int address, loaded; };

/* All parameters and local names of a kernel. Names beyond 256 are ignored: a guess may be worse
 * then. */
struct uses {
	const struct tile_fn *fn;
	struct use *of;
	struct { struct alias v[256]; size_t n; } names;
};

static int param_index(const struct tile_fn *fn, struct str name)
{
	for (size_t i = 0; i < n_params(fn); i++)
		if (str_eq(param_name(fn, i), name))
			return (int)i;
	return -1;
}

/* The record of a local name; NULL: it is not assigned. */
static struct alias *alias_of(struct uses *u, struct str name)
{
	for (size_t i = 0; i < u->names.n; i++)
		if (str_eq(u->names.v[i].name, name))
			return &u->names.v[i];
	return NULL;
}

/* Returns the parameter that the leftmost name of a sum refers to, or -1. That name is the pointer:
 * x_ptr + row * stride + cols. */
static int address_param(struct uses *u, const struct py_node *n)
{
	const struct alias *a;

	while (n->kind == PY_BinOp && (n->u.BinOp.op == PY_OP_Add || n->u.BinOp.op == PY_OP_Sub))
		n = n->u.BinOp.left;
	if (n->kind == PY_Call && n->u.Call.args.n && n->u.Call.func->kind == PY_Attribute)
		return address_param(u, n->u.Call.args.v[0]);    /* tl.multiple_of(p, 16), tl.make_block_ptr(p, ...) */
	if (n->kind == PY_Call && n->u.Call.func->kind == PY_Attribute)
		return address_param(u, n->u.Call.func->u.Attribute.value);     /* p.to(...) */
	if (n->kind != PY_Name)
		return -1;
	a = alias_of(u, n->u.Name.id);
	return a && a->address >= 0 ? a->address : param_index(u->fn, n->u.Name.id);
}

/* A call whose first argument is an address. */
static int is_access(const struct py_node *n)
{
	struct str f;

	if (n->kind != PY_Call || n->u.Call.func->kind != PY_Attribute || !n->u.Call.args.n)
		return 0;
	f = n->u.Call.func->u.Attribute.attr;
	return str_is(f, "load") || str_is(f, "store") || str_starts(f, "atomic_") ||
		str_is(f, "make_block_ptr") || str_is(f, "make_tensor_descriptor");
}

/* The load that a value comes from: tl.load(...) or tl.load(...).to(t). NULL: none. */
static const struct py_node *load_of(const struct py_node *n)
{
	while (n->kind == PY_Call && n->u.Call.func->kind == PY_Attribute) {
		if (str_is(n->u.Call.func->u.Attribute.attr, "load"))
			return n->u.Call.args.n ? n : NULL;
		n = n->u.Call.func->u.Attribute.value;
	}
	return NULL;
}

/* Every name in the expression that was loaded holds integers. */
static void mark_integers(void *ctx, struct py_node *n)
{
	struct uses *u = ctx;
	const struct py_node *load = load_of(n);
	const struct alias *a = n->kind == PY_Name ? alias_of(u, n->u.Name.id) : NULL;
	int i = load ? address_param(u, load->u.Call.args.v[0]) : a ? a->loaded : -1;
	if (i >= 0)
		u->of[i].index = 1;
	if (!load)
		py_children(n, mark_integers, ctx);
}

/* The pointer of an address, and the integers that are added to it. */
static void mark_address(struct uses *u, struct py_node *n)
{
	int i = address_param(u, n);
	if (i >= 0)
		u->of[i].pointer = 1;
	for (; n->kind == PY_BinOp && (n->u.BinOp.op == PY_OP_Add || n->u.BinOp.op == PY_OP_Sub); n = n->u.BinOp.left)
		mark_integers(u, n->u.BinOp.right);
}

/* Records what a local name is computed from. */
static void note_assignment(struct uses *u, const struct py_node *target, struct py_node *value)
{
	int i;
	struct alias *a;
	const struct py_node *load;

	if (target->kind != PY_Name)
		return;
	a = alias_of(u, target->u.Name.id);
	load = load_of(value);
	if (!a && u->names.n == COUNT_OF(u->names.v))
		return;
	if (!a) {
		a = &u->names.v[u->names.n++];
		*a = (struct alias){ .name = target->u.Name.id, .address = -1, .loaded = -1 };
	}
	/* A loaded value is no address; a sum with a pointer in it is. */
	i = load ? -1 : address_param(u, value);
	a->address = a->address >= 0 ? a->address : i;
	a->loaded = a->loaded >= 0 || !load ? a->loaded : address_param(u, load->u.Call.args.v[0]);
	/* A name that holds a pointer is a pointer: the values added to it are offsets. */
	if (i >= 0 && u->of[i].pointer)
		mark_address(u, value);
}

/* Visits every statement: accesses, assignments and loops. */
static void mark_uses(void *ctx, struct py_node *n)
{
	struct uses *u = ctx;
	if (is_access(n))
		mark_address(u, n->u.Call.args.v[0]);
	if (n->kind == PY_Assign && n->u.Assign.targets.n == 1)
		note_assignment(u, n->u.Assign.targets.v[0], n->u.Assign.value);
	if (n->kind == PY_For)
		mark_integers(u, n->u.For.iter);
	py_children(n, mark_uses, ctx);
}

/* Whether the name contains one of the words, in any case. */
static int contains_word(struct str name, const char *const *words)
{
	char low[64];
	size_t n = MIN(name.n, sizeof low - 1);
	for (size_t i = 0; i < n; i++)
		/* Names in kernels are upper or lower case: BLOCK_M, block_m. */
		low[i] = (char)tolower((unsigned char)name.p[i]);
	for (; *words; words++)
		if (str_find((struct str){ low, n }, str_of(*words)) >= 0)
			return 1;
	return 0;
}

/* A constexpr by its name: a dtype, a flag, or a tile size that keeps tl.dot legal. */
static struct tile_val guess_constant(struct str name)
{
	static const char *const flags[] = { "has_", "is_", "use_", "with_", "_flag", "enable", "even",
					     "causal", NULL };
	static const char *const types[] = { "dtype", "_type", NULL };
	static const char *const tiles[] = { "block_m", "block_n", "block_k", "_m", "_n", "_k", "_d", NULL };
	static const char *const blocks[] = { "block", "size", "tile", "width", "num", NULL };
	int64_t v;

	if (contains_word(name, types))
		return (struct tile_val){ .kind = TILE_V_DTYPE, .s = STR("float32"), .is_constexpr = 1 };
	if (contains_word(name, flags))
		return (struct tile_val){ .kind = TILE_V_BOOL, .i = 1, .is_constexpr = 1 };
	v = contains_word(name, tiles) ? 32 : contains_word(name, blocks) ? 128 : 16;
	return (struct tile_val){ .kind = TILE_V_INT, .i = v, .is_constexpr = 1 };
}

/* Annotations and defaults come first, then the use of a parameter, then its name. */
int check_launch_infer(struct check_launch *c, const struct check_env *env, const struct tile_fn *fn, struct err *e)
{
	static const char *const floats[] = { "eps", "alpha", "beta", "scale", "slope", "lambda", "gamma_",
					      "momentum", "prob", "negative", NULL };
	size_t n;
	struct uses *u;

	if (launch_init(c, fn, e))
		return -1;
	n = n_params(fn);
	u = arena_zalloc(&c->mem, sizeof *u);
	if (!u || !(u->of = arena_array(&c->mem, n + 1, sizeof *u->of)))
		return err_nomem(e);
	u->fn = fn;
	/* Three passes: a name may be used as an address after the statement that computes it. */
	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < fn->def->u.FunctionDef.body.n; i++)
			mark_uses(u, fn->def->u.FunctionDef.body.v[i]);
	for (size_t i = 0; i < n; i++) {
		struct spec_param p;
		spec_param(fn, i, &p);
		if (p.is_constexpr) {
			if (set_default(c, env, fn, i) || c->args[i].kind == TILE_V_NONE)
				c->args[i] = guess_constant(p.name);
		} else if (p.type[0]) {
			set_type(c, i, str_of(p.type));
		} else if (u->of[i].pointer || str_ends(p.name, "_ptr") || str_ends(p.name, "_ptrs")) {
			set_type(c, i, u->of[i].index ? STR("*i32") : STR("*fp32"));
		} else {
			set_type(c, i, contains_word(p.name, floats) ? STR("fp32") : STR("i32"));
		}
	}
	return 0;
}
