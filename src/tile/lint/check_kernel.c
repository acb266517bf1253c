/* Checks a kernel for which no launch is known. Its types are only guessed, so an error may come
 * from a wrong guess. Therefore other types are tried, one parameter at a time, as long as the
 * error moves down the kernel. Example: `*fp32` fails at line 3 where the value is used as an
 * index; `*i64` fails at line 9, so it is kept and the search continues. */
#include "tile/lint/check_kernel.h"

#include "tile/front/compile.h"

/* Compilations in one search. A kernel of 20 parameters has about 150 single changes. */
enum { MOST_TRIES = 300 };

/* Compiles under the current guess. Code that the machine cannot run counts as compiled. */
static int compile_one(struct tile_engine *g, const struct check_launch *c, struct diag *d, struct err *e)
{
	struct compile_watch w = { .types = c->types };
	struct tile_code *code;
	struct diag unsupported;
	int rc = compile_kernel(g, &c->l, &w, &code, d, &unsupported, e);
	tile_code_free(code);
	return rc;
}

/* A search for the call at a position, and for names in its arguments that are no globals. */
struct call_scan { const struct tile_fn *fn; int line, col, found, unknown; };

/* A parameter or a local name has no global value. */
static void find_unknown(void *ctx, struct py_node *n)
{
	struct call_scan *s = ctx;
	const struct py_list *args = &s->fn->def->u.FunctionDef.args->u.arguments.args;
	struct tile_val v;

	if (n->kind == PY_Name && !s->fn->lookup(s->fn->lookup_ctx, n->u.Name.id, &v))
		s->unknown = 1;
	for (size_t i = 0; n->kind == PY_Name && i < args->n; i++)
		s->unknown |= str_eq(args->v[i]->u.arg.arg, n->u.Name.id);
	py_children(n, find_unknown, ctx);
}

static void find_call_at(void *ctx, struct py_node *n)
{
	struct call_scan *s = ctx;

	if (n->kind == PY_Call && n->line == s->line && n->col + 1 == s->col) {
		s->found = 1;
		for (size_t i = 0; i < n->u.Call.args.n; i++)
			find_unknown(s, n->u.Call.args.v[i]);
		for (size_t i = 0; i < n->u.Call.keywords.n; i++)
			find_unknown(s, n->u.Call.keywords.v[i]);
	}
	py_children(n, find_call_at, ctx);
}

/* Whether the error is that of a call whose arguments are all written in the file: tl.arange(0, 100)
 * is wrong under any types. */
static int is_written_out(const struct tile_fn *fn, const struct diag *d)
{
	struct call_scan s = { .fn = fn, .line = d->line, .col = d->col };

	py_children(fn->def, find_call_at, &s);
	return s.found && !s.unknown;
}

/* Whether no other type of an argument would avoid the error. */
static int is_certain(const struct tile_fn *fn, const struct diag *d)
{
	static const enum reason certain[] = {
		REASON_unknown_tl_name, REASON_non_constexpr_global, REASON_unsupported_syntax,
		REASON_tensor_index, REASON_bad_argument, REASON_unused_result, REASON_recursive_call,
		REASON_bad_parameter, REASON_bad_return,
	};
	/* A function of torch may have a value that is known when the kernel is compiled. */
	if (d->reason == REASON_non_constexpr_global && strstr(d->text, "Unsupported function referenced: torch."))
		return 0;
	for (size_t i = 0; i < COUNT_OF(certain); i++)
		if (certain[i] == d->reason)
			return 1;
	if (is_written_out(fn, d))
		return 1;
	/* A name that is assigned in some branch may be defined under other constants. */
	return d->reason == REASON_undefined_name && !strstr(d->hint, "assigned");
}

/* Whether a line is inside an `if`, whose other side may be taken under other constants. */
struct if_scan { int line, inside; };

/* The last line below a node. */
static void last_line(void *ctx, struct py_node *n)
{
	int *last = ctx;
	*last = MAX(*last, n->line);
	py_children(n, last_line, ctx);
}

/* Looks for an `if` statement or expression that covers the line. */
static void find_if(void *ctx, struct py_node *n)
{
	struct if_scan *s = ctx;
	int last = n->line;
	if (n->kind == PY_If || n->kind == PY_IfExp)
		py_children(n, last_line, &last);
	s->inside |= last > n->line && s->line > n->line && s->line <= last;
	py_children(n, find_if, ctx);
}

/* Whether the error is in a branch, or in a function of another file. */
static int may_be_avoided(const struct tile_fn *fn, const struct diag *d)
{
	struct if_scan s = { .line = d->line };
	int last = fn->def->line;
	py_children(fn->def, last_line, &last);
	if (d->line < fn->def->line || d->line > last)
		return 1;
	py_children(fn->def, find_if, &s);
	return s.inside;
}

/* Types to try for a run-time argument, the most likely first. */
static const char *const other_types[] = { "*i64", "*i32", "*fp16", "*i8", "fp32", "i32", "*fp32", NULL };

/* Values to try for a constexpr argument. */
static const struct tile_val other_constants[] = {
	{ .kind = TILE_V_BOOL, .i = 0, .is_constexpr = 1 }, { .kind = TILE_V_INT, .i = 2, .is_constexpr = 1 },
	{ .kind = TILE_V_NONE, .is_constexpr = 1 }, { .kind = TILE_V_INT, .i = 64, .is_constexpr = 1 },
	{ .kind = TILE_V_BOOL, .i = 1, .is_constexpr = 1 }, { .kind = TILE_V_INT, .i = 4, .is_constexpr = 1 },
	{ .kind = TILE_V_DTYPE, .s = { .p = "float32", .n = 7 }, .is_constexpr = 1 },
	{ .kind = TILE_V_FLOAT, .f = 0.5, .is_constexpr = 1 },
};

/* The search for better guesses. best: the diagnostic that got furthest down the kernel. */
struct search { struct tile_engine *g; struct check_launch *c; struct diag best; int tries; struct err *e; };

/* Compiles under the current guess. Returns 1 if the guess is kept because it compiles or fails
 * further down, 0 if it is not, -1 on our own failure. */
static int try_guess(struct search *s)
{
	struct diag d = { 0 };
	int rc;

	s->tries++;
	rc = compile_one(s->g, s->c, &d, s->e);
	if (rc < 0)
		return -1;
	/* An error further down means that the guess satisfied everything above it. */
	if (rc && d.line <= s->best.line)
		return 0;
	s->best = d;
	return 1;
}

/* Tries other types for parameter i. An annotation leaves no choice. */
static int try_types(struct search *s, size_t i)
{
	const char *was = s->c->types[i];
	struct spec_param p;
	spec_param(s->c->l.fn, i, &p);
	if (p.type[0])
		return 0;
	for (size_t k = 0; other_types[k] && s->tries < MOST_TRIES; k++) {
		int rc;

		s->c->types[i] = other_types[k];
		rc = try_guess(s);
		if (rc)
			return rc;
	}
	/* No type helped: the old one comes back. */
	s->c->types[i] = was;
	return 0;
}

/* Tries other values for constexpr i. */
static int try_constants(struct search *s, size_t i)
{
	struct tile_val was = s->c->args[i];
	for (size_t k = 0; k < COUNT_OF(other_constants) && s->tries < MOST_TRIES; k++) {
		int rc;

		s->c->args[i] = other_constants[k];
		rc = try_guess(s);
		if (rc)
			return rc;
	}
	s->c->args[i] = was;
	return 0;
}

/* Changes one parameter at a time until the kernel compiles, its error is certain, or no change
 * helps. Returns 0 if it compiles, 1 if not, -1 on our own failure. */
static int climb(struct search *s)
{
	int better = 1;
	while (better > 0 && s->best.reason != REASON_ok && (!is_certain(s->c->l.fn, &s->best) ||
							     may_be_avoided(s->c->l.fn, &s->best))) {
		better = 0;
		for (size_t i = 0; i < s->c->l.n_args && !better && s->tries < MOST_TRIES; i++)
			better = s->c->types[i] ? try_types(s, i) : try_constants(s, i);
	}
	return better < 0 ? -1 : s->best.reason != REASON_ok;
}

/* Compiles under the inferred types, and searches for better ones if the error may be the guess's
 * fault. */
static int check_guessed(struct tile_engine *g, const struct check_env *env, const struct tile_fn *fn,
			 struct diag *d, struct err *e)
{
	struct check_launch c;
	int rc = check_launch_infer(&c, env, fn, e);
	if (!rc)
		rc = compile_one(g, &c, d, e);
	if (rc == 1 && (!is_certain(fn, d) || may_be_avoided(fn, d))) {
		/* The first diagnostic is the one to improve on. */
		struct search s = { .g = g, .c = &c, .best = *d, .e = e };
		rc = climb(&s);
		*d = s.best;
	}
	check_launch_release(&c);
	return rc;
}

/* Signature comments are tried in order; the first refusal ends the check. */
int check_kernel_inferred(struct tile_engine *g, const struct check_env *env, const struct tile_fn *fn,
			  struct diag *d, int *unsure,
			  struct err *e)
{
	int rc = 0;
	*unsure = 0;
	if (!check_signature_comment(env, fn, 0).n) {
		rc = check_guessed(g, env, fn, d, e);
		*unsure = rc > 0 && (!is_certain(fn, d) || may_be_avoided(fn, d) || strstr(d->text, "imported object"));
		return rc;
	}
	for (size_t i = 0; !rc; i++) {
		struct str sig = check_signature_comment(env, fn, i);
		struct check_launch c;
		if (!sig.n)
			break;
		rc = check_launch_parse(&c, env, fn, sig, e);
		if (!rc)
			rc = compile_one(g, &c, d, e);
		check_launch_release(&c);
	}
	return rc;
}

int check_kernel_launched(struct tile_engine *g, const struct tile_launch *l, struct diag *d, struct err *e)
{
	struct compile_watch w = { .types = NULL };
	struct tile_code *code;
	struct diag unsupported;
	int rc = compile_kernel(g, l, &w, &code, d, &unsupported, e);

	tile_code_free(code);
	return rc;
}

/* A search for the name of a function in the bodies of others. */
struct helper_scan { struct str name; int found; };

static void find_call(void *ctx, struct py_node *n)
{
	struct helper_scan *s = ctx;
	if (n->kind == PY_Name && n->u.Name.ctx == PY_LOAD && str_eq(n->u.Name.id, s->name))
		s->found = 1;
	if (!s->found)
		py_children(n, find_call, ctx);
}

/* A function that returns a value is called by others, not launched. */
static void find_value_return(void *ctx, struct py_node *n)
{
	const struct py_node *v = n->kind == PY_Return ? n->u.Return.value : NULL;

	if (v && !(v->kind == PY_Constant && v->u.Constant.value.kind == PY_C_NONE))
		*(int *)ctx = 1;
	py_children(n, find_value_return, ctx);
}

/* Searches for name[grid]: a launch by the host. */
static void find_subscript(void *ctx, struct py_node *n)
{
	struct helper_scan *s = ctx;

	if (n->kind == PY_Subscript && n->u.Subscript.value->kind == PY_Name &&
	    str_eq(n->u.Subscript.value->u.Name.id, s->name))
		s->found = 1;
	if (!s->found)
		py_children(n, find_subscript, ctx);
}

/* A kernel is launched by the host and never named by another jit function. */
enum check_role check_role(const struct check_env *env, const struct tile_fn *fn)
{
	struct helper_scan s = { .name = fn->name };
	int returns = 0;

	for (size_t i = 0; i < env->n_fns && !s.found; i++)
		for (size_t k = 0; &env->fns[i] != fn && k < env->fns[i].def->u.FunctionDef.body.n && !s.found; k++)
			find_call(&s, env->fns[i].def->u.FunctionDef.body.v[k]);
	if (s.found)
		return CHECK_HELPER;
	for (size_t i = 0; i < fn->def->u.FunctionDef.body.n; i++)
		find_value_return(&returns, fn->def->u.FunctionDef.body.v[i]);
	find_subscript(&s, env->module->root);
	return returns && !s.found ? CHECK_LIBRARY : CHECK_KERNEL;
}
