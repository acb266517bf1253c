/* Static rules: see rules.h.
 *
 * Owns the rules about single nodes (one walk of the tree), about the model's class, and the
 * refusals for what the call graph finds (call_graph.c). Invariant: everything not listed as
 * allowed is refused, and the first refusal ends the check. */
#include "verify/rules/rules.h"

#include <stdio.h>

#include "base/mem.h"
#include "verify/rules/bound.h"
#include "verify/rules/call_graph.h"

static const struct {
	const char *name, *text;
} rules[] = {
#define RULE(id, text) { #id, text },
#include "verify/config/rule.def"
#undef RULE
};

const char *rule_name(enum rule r) { return rules[r].name; }
const char *rule_text(enum rule r) { return rules[r].text; }

/* For --without-rule. A rule is named as in rule.def. */
int rule_by_name(struct str name)
{
	for (int i = 0; i < RULES; i++)
		if (str_is(name, rules[i].name))
			return i;
	return -1;
}

/* State of the walk over the tree. */
struct walk {
	const struct rules_options *o;
	struct diag *d;
	const struct py_module *m;
	const struct bound_scope *scope;     /* functions around the current node; NULL: none */
};

/* Tells whether a rule is switched on. */
static int on(const struct walk *w, enum rule r)
{
	return !(w->o->off >> r & 1);
}

/* Records the refusal of a node. Returns 1, so that callers can return it. */
static int refuse(struct walk *w, enum reason why, const struct py_node *n, const char *fmt, ...) PRINTF_LIKE(4, 5);

static int refuse(struct walk *w, enum reason why, const struct py_node *n, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_set(w->d, why, n->line, n->col + 1, "%s", text);
	return 1;
}

/* Tells whether a text is in a NULL-terminated list. */
static int in_list(struct str s, const char *const *list)
{
	for (; *list; list++)
		if (str_is(s, *list))
			return 1;
	return 0;
}

/* --- rules about single nodes ------------------------------------------------------------ */

/* Modules that hold or combine values, and modules that candidates often import and seldom use. In
 * our interpreter none reaches files, processes, threads or the clock: the use of a name that would
 * ends the program (interp/import.def). */
static const char *const good_imports[] = {
	"torch", "triton", "math", "typing", "collections", "collections.abc", "dataclasses", "functools",
	"itertools", "numbers", "operator",
	"einops", "numpy", "__future__", "abc", "copy", "enum", "typing_extensions", "warnings",
	"contextlib", "logging", "random",
	"os", "os.path", "sys", "time", "datetime", "re", "gc", "json", "string", "types", "textwrap", "pprint",
	"bisect", "heapq", "statistics", "fractions", "decimal", "struct", "cmath", "argparse", NULL
};

/* Builtins that run text as code, reach files, or look into objects and frames. A candidate that
 * names one is refused even if the interpreter does not have it. */
static const char *const bad_names[] = {
	"eval", "exec", "compile", "open", "__import__", "globals", "locals", "vars", "dir", "id", "input",
	"memoryview",
	"breakpoint", "exit", "quit", "delattr", "object", "type", "__builtins__", "__loader__",
	"__spec__", "classmethod", NULL
};

/* Dunder names that are allowed: what classes need, and what a module says about itself. */
static const char *const good_dunders[] = { "__init__", "__class__", "__all__", "__version__", "__author__", NULL };

/* The same for attributes, x.__version__, and for methods that a class may define. */
static const char *const good_attributes[] = { "__init__", "__version__", NULL };
static const char *const good_methods[] = { "__init__", "__call__", NULL };

/* Tells whether a name has the form __x__. */
static int is_dunder(struct str s)
{
	return s.n > 4 && str_starts(s, "__") && str_ends(s, "__");
}

/* Any submodule of torch and triton may be imported; the host reports the ones that it does not
 * have. */
static int is_library(struct str module)
{
	return str_starts(module, "torch.") || str_starts(module, "triton.");
}

/* Refuses imports of modules that are not on the list, relative imports and `import *`. */
static int check_import(struct walk *w, const struct py_node *n)
{
	if (n->kind == PY_ImportFrom) {
		if (str_is(n->u.ImportFrom.names.v[0]->u.alias.name, "*"))
			return refuse(w, REASON_unsupported, n,
				      "import * is not supported; import the names that you use");
		if (n->u.ImportFrom.level || (!in_list(n->u.ImportFrom.module, good_imports) &&
					      !is_library(n->u.ImportFrom.module)))
			return refuse(w, REASON_import_error, n, "import from '%.*s' is not allowed",
				      STR_ARG(n->u.ImportFrom.module));
		return 0;
	}
	for (size_t i = 0; i < n->u.Import.names.n; i++) {
		struct str name = n->u.Import.names.v[i]->u.alias.name;

		if (!in_list(name, good_imports) && !is_library(name))
			return refuse(w, REASON_import_error, n, "import of '%.*s' is not allowed", STR_ARG(name));
	}
	return 0;
}

/* Tells whether an import of the module binds the name. */
static int is_imported(const struct py_module *m, struct str name)
{
	const struct py_list *body = &m->root->u.Module.body;

	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *s = body->v[i];
		const struct py_list *names = s->kind == PY_Import ? &s->u.Import.names :
			s->kind == PY_ImportFrom ? &s->u.ImportFrom.names : NULL;

		for (size_t k = 0; names && k < names->n; k++)
			if (str_eq(py_alias_name(&names->v[k]->u.alias), name))
				return 1;
	}
	return 0;
}

/* Tells whether a node assigns to an attribute of an imported module, such as torch.jit = x, which
 * would change the module for everyone. Assignments to torch.backends are allowed: torchenv.c
 * tracks them at run time. */
static int is_setting(struct walk *w, const struct py_node *n)
{
	char path[80];

	if (n->kind != PY_Attribute || n->u.Attribute.ctx != PY_STORE)
		return 0;
	if (call_graph_dotted(n, path, sizeof path) && !strncmp(path, "torch.backends.", 15))
		return 0;
	while (n->kind == PY_Attribute)
		n = n->u.Attribute.value;
	return n->kind == PY_Name && is_imported(w->m, n->u.Name.id);
}

/* Tells whether a name means a builtin that candidates must not use. A variable of the same name is
 * allowed. */
static int is_builtin(const struct walk *w, const struct py_node *n)
{
	struct str id = n->u.Name.id;

	if (is_dunder(id))
		return !in_list(id, good_dunders);
	return in_list(id, bad_names) && n->u.Name.ctx == PY_LOAD && !bound_name(w->scope, id);
}

/* Tells whether Python would rename the name inside a class: __x becomes _Class__x. The host does
 * so for attributes only. */
static int is_private(struct str s)
{
	return s.n > 2 && str_starts(s, "__") && !str_ends(s, "__");
}

/* Returns the name that a node binds without being an expression, such as `import a as b`; empty:
 * none. */
static struct str bound_by(const struct py_node *n)
{
	switch (n->kind) {
	case PY_alias: return n->u.alias.asname;
	case PY_ExceptHandler: return n->u.ExceptHandler.name;
	case PY_arg: return n->u.arg.arg;
	case PY_ClassDef: return n->u.ClassDef.name;
	default: return (struct str){ .n = 0 };
	}
}

/* Refuses names that reach outside of the candidate: builtins of introspection, dunder names and
 * attributes, private names, and changes of imported modules. */
static int check_name(struct walk *w, const struct py_node *n)
{
	struct str bound = bound_by(n);

	if (is_dunder(bound) && !in_list(bound, good_dunders))
		return refuse(w, REASON_forbidden_name, n, "name '%.*s' is not allowed", STR_ARG(bound));
	if (n->kind == PY_Name && is_private(n->u.Name.id))
		return refuse(w, REASON_unsupported, n, "the private name '%.*s' is not supported",
			      STR_ARG(n->u.Name.id));
	if (is_setting(w, n))
		return refuse(w, REASON_forbidden_name, n, "attribute '%.*s' of an imported module must not be set",
			      STR_ARG(n->u.Attribute.attr));
	if (n->kind == PY_Name && is_builtin(w, n))
		return refuse(w, REASON_forbidden_name, n, "name '%.*s' is not allowed", STR_ARG(n->u.Name.id));
	if (n->kind == PY_Attribute && is_dunder(n->u.Attribute.attr) && !in_list(n->u.Attribute.attr, good_attributes))
		return refuse(w, REASON_forbidden_name, n, "attribute '%.*s' is not allowed",
			      STR_ARG(n->u.Attribute.attr));
	if (n->kind == PY_FunctionDef && is_dunder(n->u.FunctionDef.name) &&
	    !in_list(n->u.FunctionDef.name, good_methods))
		return refuse(w, REASON_forbidden_name, n, "method '%.*s' is not allowed",
			      STR_ARG(n->u.FunctionDef.name));
	return 0;
}

/* Tells whether a `with` item only says how or where torch computes, such as torch.no_grad(). */
static int guard_is_known(const struct py_node *item)
{
	static const char *const guards[] = { "torch.no_grad", "torch.inference_mode", "torch.cuda.device",
					      "torch.enable_grad",
					      "torch.cuda._DeviceGuard", "torch.cuda.device_of",
					      "torch.set_grad_enabled", "torch.autocast",
					      "torch.amp.autocast", "torch.cuda.amp.autocast", "autocast",
					      "nullcontext", "contextlib.nullcontext",
					      /* marks for a profiler */
					      "torch.profiler.record_function", "record_function",
					      "torch.autograd.profiler.record_function", "profiler.record_function",
					      "torch.cuda.nvtx.range", "nvtx.range", NULL };
	const struct py_node *call = item->u.withitem.context_expr;
	char path[80];

	if (call->kind != PY_Call || !call_graph_dotted(call->u.Call.func, path, sizeof path))
		return 0;
	return in_list(str_of(path), guards);
}

/* Tells whether a string contains half of a surrogate pair, which UTF-8 cannot represent. */
static int has_surrogate(const struct py_node *n)
{
	struct str s = n->u.Constant.value.s;

	for (size_t i = 0; n->u.Constant.value.kind == PY_C_STR && i + 1 < s.n; i++)
		if ((unsigned char)s.p[i] == 0xed && (unsigned char)s.p[i + 1] >= 0xa0)
			return 1;
	return 0;
}

/* Refuses statements that could hide control flow from the judge or keep state between calls. */
static int check_syntax(struct walk *w, const struct py_node *n)
{
	switch (n->kind) {
	case PY_TryStar: case PY_AsyncFunctionDef: case PY_AsyncFor: case PY_AsyncWith: case PY_Await:
		case PY_Yield: case PY_YieldFrom:
	case PY_Global: case PY_Nonlocal:
		return refuse(w, REASON_forbidden_syntax, n, "%s is not allowed in a candidate",
			      py_kind_info(n->kind)->name);
	case PY_Constant:
		return !has_surrogate(n) ? 0 : refuse(w, REASON_unsupported, n,
						      "a string with half of a surrogate pair is not supported");
	case PY_With:
		for (size_t i = 0; i < n->u.With.items.n; i++)
			if (!guard_is_known(n->u.With.items.v[i]))
				return refuse(w, REASON_forbidden_syntax, n,
					      "this with statement is not allowed in a candidate");
		return 0;
	default:
		return 0;
	}
}

/* Limits that leave no room for stored answers: elements of a literal, bytes of a constant, bytes
 * of source. */
enum { TABLE_MOST = 64, STRING_MOST = 4096, SOURCE_MOST = 256 << 10 };

/* Refuses large tables and constants. A list of calls, such as autotune configurations, is
 * allowed. */
static int check_size(struct walk *w, const struct py_node *n)
{
	const struct py_list *items = n->kind == PY_List ? &n->u.List.elts : n->kind == PY_Tuple ? &n->u.Tuple.elts :
		n->kind == PY_Dict ? &n->u.Dict.values : n->kind == PY_Set ? &n->u.Set.elts : NULL;

	if (items && items->n > TABLE_MOST && items->v[0] && items->v[0]->kind != PY_Call)
		return refuse(w, REASON_hard_coded, n, "a table of %zu constants is not allowed (at most %d)",
			      items->n, TABLE_MOST);
	if (n->kind == PY_Constant &&
	    (n->u.Constant.value.kind == PY_C_STR || n->u.Constant.value.kind == PY_C_BYTES ||
	     n->u.Constant.value.kind == PY_C_BIGINT) &&
	    n->u.Constant.value.s.n > STRING_MOST)
		return refuse(w, REASON_hard_coded, n, "a constant of %zu bytes is not allowed (at most %d)",
			      n->u.Constant.value.s.n, STRING_MOST);
	return 0;
}

static void check_node(void *ctx, struct py_node *n);

/* Checks each node of a list. Optional parts are NULL. */
static void check_list(struct walk *w, const struct py_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i])
			check_node(w, l->v[i]);
}

/* Checks a function's body with the function as the innermost scope. */
static void check_body(struct walk *w, const struct py_node *n, const struct py_list *body)
{
	struct bound_scope s = { .up = w->scope, .node = n };

	w->scope = &s;
	check_list(w, body);
	w->scope = s.up;
}

/* Checks a function. Decorators, defaults and annotations belong to the surrounding scope. */
static void check_function(struct walk *w, struct py_node *n)
{
	check_list(w, &n->u.FunctionDef.decorator_list);
	py_children(n->u.FunctionDef.args, check_node, w);
	if (n->u.FunctionDef.returns)
		check_node(w, n->u.FunctionDef.returns);
	check_body(w, n, &n->u.FunctionDef.body);
}

/* Checks a comprehension. Its first iterable belongs to the surrounding scope: in [id for id in
 * id(x)] the last `id` is the builtin. */
static void check_comprehension(struct walk *w, struct py_node *n, const struct py_list *generators)
{
	struct bound_scope s = { .up = w->scope, .node = n };

	check_node(w, generators->v[0]->u.comprehension.iter);
	w->scope = &s;
	for (size_t i = 0; i < generators->n; i++) {
		const struct py_comprehension *g = &generators->v[i]->u.comprehension;

		check_node(w, g->target);
		check_list(w, &g->ifs);
		if (i)
			check_node(w, g->iter);
	}
	check_node(w, n->kind == PY_DictComp ? n->u.DictComp.key : n->u.ListComp.elt);
	if (n->kind == PY_DictComp)
		check_node(w, n->u.DictComp.value);
	w->scope = s.up;
}

/* Tells whether a node is this string literal. */
static int is_text(const struct py_node *n, const char *text)
{
	return n->kind == PY_Constant && n->u.Constant.value.kind == PY_C_STR && str_is(n->u.Constant.value.s, text);
}

/* Recognises __name__ == "__main__", which is false wherever a candidate is imported. Any other use
 * of __name__ could tell who imports the candidate, and is refused. */
static int is_main_test(const struct py_node *n)
{
	const struct py_node *left = n->u.Compare.left;

	return n->u.Compare.comparators.n == 1 && left->kind == PY_Name && str_is(left->u.Name.id, "__name__") &&
	       is_text(n->u.Compare.comparators.v[0], "__main__");
}

/* Recognises `if __name__ == "__main__":`, whose body never runs when the candidate is imported. So
 * nothing in it is checked. */
static int is_main_block(const struct py_node *n)
{
	const struct py_node *test = n->kind == PY_If ? n->u.If.test : NULL;

	return test && test->kind == PY_Compare && is_main_test(test) && test->u.Compare.ops.v[0] == PY_OP_Eq;
}

/* Checks the children of a node, each in the right scope. */
static void check_inside(struct walk *w, struct py_node *n)
{
	struct py_list one;

	if (is_main_block(n)) {
		check_list(w, &n->u.If.orelse);
		return;
	}
	switch (n->kind) {
	case PY_Compare:
		if (!is_main_test(n))
			py_children(n, check_node, w);
		return;
	case PY_FunctionDef: case PY_AsyncFunctionDef: check_function(w, n); return;
	case PY_Lambda:
		py_children(n->u.Lambda.args, check_node, w);
		one = (struct py_list){ .v = &n->u.Lambda.body, .n = 1 };
		check_body(w, n, &one);
		return;
	case PY_ListComp: check_comprehension(w, n, &n->u.ListComp.generators); return;
	case PY_SetComp: check_comprehension(w, n, &n->u.SetComp.generators); return;
	case PY_DictComp: check_comprehension(w, n, &n->u.DictComp.generators); return;
	case PY_GeneratorExp: check_comprehension(w, n, &n->u.GeneratorExp.generators); return;
	default: py_children(n, check_node, w);
	}
}

/* Applies the rules about single nodes to a node and everything below it. Stops after the first
 * refusal. */
static void check_node(void *ctx, struct py_node *n)
{
	struct walk *w = ctx;

	if (w->d->reason != REASON_ok)
		return;
	if (on(w, RULE_size))
		check_size(w, n);
	if (on(w, RULE_imports) && (n->kind == PY_Import || n->kind == PY_ImportFrom))
		check_import(w, n);
	if (on(w, RULE_names))
		check_name(w, n);
	if (on(w, RULE_syntax))
		check_syntax(w, n);
	check_inside(w, n);
}

/* --- rules about classes ------------------------------------------------------------------ */

/* Tells whether a class has nn.Module as its only base, without keywords such as metaclass. */
static int base_is_module(const struct py_node *cls)
{
	char path[80];

	return cls->u.ClassDef.bases.n == 1 && cls->u.ClassDef.keywords.n == 0 &&
	       call_graph_dotted(cls->u.ClassDef.bases.v[0], path, sizeof path) &&
	       (!strcmp(path, "nn.Module") || !strcmp(path, "torch.nn.Module") || !strcmp(path, "Module"));
}

/* The least and the largest number of positional arguments that a function accepts, self
 * included. */
static void arity(const struct py_node *fn, size_t *least, size_t *most)
{
	const struct py_arguments *a = &fn->u.FunctionDef.args->u.arguments;

	*most = a->vararg ? SIZE_MAX : a->posonlyargs.n + a->args.n;
	*least = a->posonlyargs.n + a->args.n - a->defaults.n;
}

/* Refuses a method that does not accept the number of arguments that the reference's accepts. */
static int same_arity(struct walk *w, const struct py_node *mine, const struct py_node *ref, const char *what)
{
	size_t lo, hi, rlo, rhi;

	arity(mine, &lo, &hi);
	arity(ref, &rlo, &rhi);
	if (lo > rhi || hi < rlo)
		return refuse(w, REASON_wrong_signature, mine,
			      "%s takes %zu arguments, but the reference's takes %zu", what, lo, rlo);
	return 0;
}

/* Checks the class ModelNew: a plain nn.Module with forward, and methods with the reference's
 * signatures. */
static int check_model(struct walk *w, const struct py_module *task)
{
	const struct py_node *cls = call_graph_class(w->m, w->o->class_name), *ref = task ?
		call_graph_class(task, "Model") : NULL;
	const struct py_node *forward = cls ? call_graph_method(cls, "forward") : NULL, *init, *ref_fn;

	if (!cls || !forward)
		return refuse(w, REASON_no_model_new, cls ? cls : w->m->root,
			      cls ? "class %s has no forward method" : "the candidate has no class %s",
			      w->o->class_name);
	if (!base_is_module(cls) || cls->u.ClassDef.decorator_list.n)
		return refuse(w, REASON_no_model_new, cls, "class %s must be a plain subclass of nn.Module",
			      w->o->class_name);
	if (!ref)
		return 0;
	init = call_graph_method(cls, "__init__");
	if (init && (ref_fn = call_graph_method(ref, "__init__")) && same_arity(w, init, ref_fn, "__init__"))
		return 1;
	return (ref_fn = call_graph_method(ref, "forward")) ? same_arity(w, forward, ref_fn, "forward") : 0;
}

/* --- rules about what forward reaches ----------------------------------------------------- */

/* A candidate needs a kernel that forward may launch. Whether it is launched really shows when it
 * runs. */
static int check_kernel(struct walk *w, const struct call_graph *r)
{
	if (!r->jit_functions)
		return refuse(w, REASON_no_kernel, w->m->root, "the candidate has no @triton.jit kernel");
	if (!r->launches)
		return refuse(w, REASON_kernel_not_launched, w->m->root,
			      "no kernel is launched in forward or in what it calls");
	return 0;
}

/* The cheap rules come first: the size, then one walk of the tree. The call graph is built last,
 * for candidates that passed them. The reference as its own candidate (identity) is the user's
 * code, to which no rule applies. */
int rules_check(const struct py_module *candidate, const struct py_module *task,
		const struct rules_options *o, struct diag *d)
{
	struct walk w = { .o = o, .d = d, .m = candidate };
	struct call_graph r;

	if (o->identity)
		return 0;
	if (on(&w, RULE_size) && candidate->source.n > SOURCE_MOST)
		return refuse(&w, REASON_hard_coded, candidate->root,
			      "a source of %zu bytes is not allowed (at most %d)",
			      candidate->source.n, SOURCE_MOST);
	check_node(&w, candidate->root);
	if (d->reason != REASON_ok)
		return 1;
	if (on(&w, RULE_model) && check_model(&w, task))
		return 1;
	call_graph_from(&r, candidate, o->class_name);
	if (on(&w, RULE_kernel) && check_kernel(&w, &r))
		return 1;
	if (on(&w, RULE_state) && r.state.node)
		return refuse(&w, REASON_state_kept, r.state.node, "%s", r.state.text);
	return 0;
}
