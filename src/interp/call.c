/* Calls: making functions, evaluating arguments, binding them to parameters, running bodies.
 * The messages are CPython's.
 *
 * Ownership: arguments are borrowed from the caller, whose temporaries hold them. A frame's slots
 * hold their own references. The result is a temporary of the caller: call_function drains
 * everything else that the body made.
 *
 * A generator function is not suspended at `yield`. Its body runs to the end, the yielded values
 * are collected in a list, and the caller iterates over that list. An endless generator runs out
 * of fuel. */
#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/import.h"
#include "interp/iter.h"
#include "interp/object.h"
#include "interp/scope.h"
#include "interp/state.h"

/* --- making functions ------------------------------------------------------------------------ */

/* Evaluates default values once, when `def` runs. A missing keyword-only default is V_UNSET. */
static int eval_defaults(struct host *h, struct host_frame *f, const struct py_list *l, struct val **out, size_t *n)
{
	struct val *v;

	if (!l->n)
		return 0;
	v = host_alloc(h, l->n * sizeof *v);
	if (!v)
		return -1;
	*out = v;
	*n = l->n;
	for (size_t i = 0; i < l->n; i++) {
		struct val x = { .kind = V_UNSET };
		if (l->v[i] && eval_expr(h, f, l->v[i], &x))
			return -1;
		val_assign(h, &v[i], x);
	}
	return 0;
}

/* Takes a reference to each cell that the function uses from enclosing functions. */
static int capture_cells(struct host *h, struct host_frame *f, struct func_obj *fn)
{
	struct scope *s = fn->scope;
	if (!s->n_free)
		return 0;
	fn->cells = host_alloc(h, (size_t)s->n_free * sizeof *fn->cells);
	if (!fn->cells)
		return -1;
	fn->n_cells = (size_t)s->n_free;
	for (int i = 0; i < s->n_free; i++) {
		const struct capture *c = &s->captures[i];
		val_assign(h, &fn->cells[i], c->from_free ? f->cells[c->index] : f->slots[c->index]);
	}
	return 0;
}

/* __qualname__: "Net.forward" in a class, "f.<locals>.g" in a function. */
static struct str_obj *qualified(struct host *h, struct host_frame *f, struct str_obj *name)
{
	int in_class = f->scope && f->scope->kind == SCOPE_CLASS;
	struct str outer;
	struct val v;

	if (!in_class && !f->fn)
		return name;
	outer = in_class ? f->scope->node->u.ClassDef.name :
		(struct str){ .p = f->fn->qualname->p, .n = f->fn->qualname->n };
	return val_joined(h, outer, in_class ? STR(".") : STR(".<locals>."),
			  (struct str){ .p = name->p, .n = name->n }, &v) ? NULL : v.u.s;
}

/* `def` or `lambda`: a function object with its defaults and captured cells. */
int make_function(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	int lambda = n->kind == PY_Lambda;
	const struct py_arguments *a = lambda ? &n->u.Lambda.args->u.arguments : &n->u.FunctionDef.args->u.arguments;
	struct scope *s = scope_of(f->unit, n);
	struct str_obj *name, *qual;
	struct func_obj *fn;

	if (!s)
		return host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
	name = lambda ? host_intern(h, STR("<lambda>")) : host_ident(h, n->u.FunctionDef.name);
	qual = name ? qualified(h, f, name) : NULL;
	fn = qual ? host_obj(h, V_FUNC, sizeof *fn, NULL) : NULL;
	if (!fn)
		return -1;
	fn->node = n;
	fn->scope = s;
	fn->unit = f->unit;
	fn->mod = f->mod;
	fn->name = name;
	fn->qualname = qual;
	val_keep(val_of_str(name));
	val_keep(val_of_str(qual));
	val_assign(h, &fn->class_cell, f->class_cell);
	if (eval_defaults(h, f, &a->defaults, &fn->defaults, &fn->n_defaults) ||
	    eval_defaults(h, f, &a->kw_defaults, &fn->kw_defaults, &fn->n_kw) || capture_cells(h, f, fn))
		return -1;
	*out = val_obj(&fn->h);
	return 0;
}

/* --- binding arguments ------------------------------------------------------------------------ */

/* The parameters of a def or lambda. */
static const struct py_arguments *args_of(const struct func_obj *fn)
{
	return fn->node->kind == PY_Lambda ? &fn->node->u.Lambda.args->u.arguments :
		&fn->node->u.FunctionDef.args->u.arguments;
}

/* The i-th parameter, counted through positional-only, positional and keyword-only ones. */
static struct str param_name(const struct py_arguments *a, size_t i)
{
	if (i < a->posonlyargs.n)
		return a->posonlyargs.v[i]->u.arg.arg;
	i -= a->posonlyargs.n;
	if (i < a->args.n)
		return a->args.v[i]->u.arg.arg;
	return a->kwonlyargs.v[i - a->args.n]->u.arg.arg;
}

/* Refuses f(a=1) for `def f(a, /)`, naming all such arguments as CPython does: "f() got some
 * positional-only arguments passed as keyword arguments: 'a, b'". */
static int positional_only(struct host *h, struct func_obj *fn, const struct call_args *args)
{
	const struct py_arguments *a = args_of(fn);
	struct buf names = BUF_INIT;
	int any;

	for (size_t i = 0; i < a->posonlyargs.n; i++)
		for (size_t k = 0; k < args->n_kw; k++)
			if (str_eq(param_name(a, i), val_text(args->kw_names[k])))
				buf_addf(&names, "%s%s", names.n ? ", " : "", args->kw_names[k].u.s->p);
	any = names.n > 0;
	if (any)
		host_raise(h, EXC_TypeError,
			   "%s() got some positional-only arguments passed as keyword arguments: '%s'",
			   fn->qualname->p, buf_cstr(&names));
	buf_release(&names);
	return any ? -1 : 0;
}

/* Stores one keyword argument in its slot, or in **kwargs if no parameter has the name. A
 * positional-only name may go to **kwargs too. */
static int bind_keyword(struct host *h, struct func_obj *fn, struct val *slots, struct val name,
			struct val v, struct val kwargs)
{
	const struct py_arguments *a = args_of(fn);
	size_t n = a->posonlyargs.n + a->args.n + a->kwonlyargs.n;
	for (size_t i = a->posonlyargs.n; i < n; i++) {
		if (!str_eq(param_name(a, i), val_text(name)))
			continue;
		if (slots[i].kind != V_UNSET)
			return host_raise(h, EXC_TypeError, "%s() got multiple values for argument '%s'",
					  fn->qualname->p, name.u.s->p);
		val_assign(h, &slots[i], v);
		return 0;
	}
	if (kwargs.kind == V_DICT)
		return dict_set(h, kwargs, name, v);
	return host_raise(h, EXC_TypeError, "%s() got an unexpected keyword argument '%s'", fn->qualname->p,
			  name.u.s->p);
}

/* "f() missing 2 required positional arguments: 'a' and 'b'". */
static int missing_args(struct host *h, struct func_obj *fn, const struct val *slots, size_t from,
			size_t to, const char *what)
{
	const struct py_arguments *a = args_of(fn);
	struct buf b = BUF_INIT;
	size_t n = 0, k = 0;
	for (size_t i = from; i < to; i++)
		n += slots[i].kind == V_UNSET;
	for (size_t i = from; i < to; i++) {
		if (slots[i].kind != V_UNSET)
			continue;
		if (k++)
			buf_adds(&b, k < n ? ", " : n > 2 ? ", and " : " and ");
		buf_addf(&b, "'%.*s'", STR_ARG(param_name(a, i)));
	}
	host_raise(h, EXC_TypeError, "%s() missing %zu required %s argument%s: %s", fn->qualname->p, n,
		   what, n == 1 ? "" : "s", buf_cstr(&b));
	buf_release(&b);
	return -1;
}

/* TypeError for too many positional arguments: "f() takes from 1 to 2 positional arguments but
 * 3 were given" if some have defaults. */
static int too_many(struct host *h, struct func_obj *fn, size_t want, size_t got)
{
	size_t least = want - MIN(want, fn->n_defaults);
	if (least < want)
		return host_raise(h, EXC_TypeError, "%s() takes from %zu to %zu positional arguments but %zu %s given",
				  fn->qualname->p, least, want, got, got == 1 ? "was" : "were");
	return host_raise(h, EXC_TypeError, "%s() takes %zu positional argument%s but %zu %s given", fn->qualname->p,
			  want, want == 1 ? "" : "s", got, got == 1 ? "was" : "were");
}

/* Gives open slots their defaults and reports those that have none, positional ones first as
 * CPython does. */
static int fill_defaults(struct host *h, struct func_obj *fn, struct val *slots)
{
	const struct py_arguments *a = args_of(fn);
	size_t n_pos = a->posonlyargs.n + a->args.n;
	for (size_t i = n_pos - fn->n_defaults; i < n_pos; i++)
		if (slots[i].kind == V_UNSET)
			val_assign(h, &slots[i], fn->defaults[i - (n_pos - fn->n_defaults)]);
	for (size_t i = 0; i < n_pos; i++)
		if (slots[i].kind == V_UNSET)
			return missing_args(h, fn, slots, 0, n_pos, "positional");
	for (size_t i = 0; i < a->kwonlyargs.n; i++)
		if (slots[n_pos + i].kind == V_UNSET && i < fn->n_kw)
			val_assign(h, &slots[n_pos + i], fn->kw_defaults[i]);
	for (size_t i = 0; i < a->kwonlyargs.n; i++)
		if (slots[n_pos + i].kind == V_UNSET)
			return missing_args(h, fn, slots, n_pos, n_pos + a->kwonlyargs.n, "keyword-only");
	return 0;
}

/* Fills the parameter slots of a call. Their order is that of scope.c: positional,
 * keyword-only, *args, **kwargs. */
static int bind_args(struct host *h, struct func_obj *fn, const struct call_args *args, struct val *slots)
{
	const struct py_arguments *a = args_of(fn);
	size_t n_pos = a->posonlyargs.n + a->args.n, at = n_pos + a->kwonlyargs.n;
	struct val extra, kwargs = { .kind = V_UNSET };
	for (size_t i = 0; i < MIN(args->n, n_pos); i++)
		val_assign(h, &slots[i], args->a[i]);
	if (a->vararg) {
		size_t n = args->n > n_pos ? args->n - n_pos : 0;
		if (val_tuple(h, n ? args->a + n_pos : NULL, n, &extra))
			return -1;
		val_assign(h, &slots[at++], extra);
	} else if (args->n > n_pos) {
		return too_many(h, fn, n_pos, args->n);
	}
	if (a->kwarg) {
		if (val_dict(h, &kwargs))
			return -1;
		val_assign(h, &slots[at], kwargs);
	}
	if (a->posonlyargs.n && !a->kwarg && args->n_kw && positional_only(h, fn, args))
		return -1;
	for (size_t i = 0; i < args->n_kw; i++)
		if (bind_keyword(h, fn, slots, args->kw_names[i], args->kw_vals[i], kwargs))
			return -1;
	return fill_defaults(h, fn, slots);
}

/* --- running ------------------------------------------------------------------------------------ */

/* Variables that closures share live in cells. A parameter among them is moved from its slot
 * into a new cell. */
static int make_cells(struct host *h, const struct scope *s, struct val *slots)
{
	for (size_t i = 0; i <= s->mask; i++) {
		struct val cell, unset, *slot;

		if (!s->vars[i].id || s->vars[i].kind != VAR_CELL)
			continue;
		unset = (struct val){ .kind = V_UNSET };
		slot = &slots[s->vars[i].index];
		if (val_pair(h, V_CELL, *slot, unset, &cell))
			return -1;
		val_assign(h, slot, cell);
	}
	return 0;
}

/* Evaluates a lambda, or runs the statements of a function. See the head about generators. */
static int run_body(struct host *h, struct host_frame *f, struct func_obj *fn, struct val *out)
{
	enum flow w;

	if (fn->node->kind == PY_Lambda)
		return eval_expr(h, f, fn->node->u.Lambda.body, out);
	if (fn->node->kind == PY_AsyncFunctionDef)
		return host_fatal(h, REASON_unsupported, "async functions are not supported");
	if (fn->scope->is_generator && val_list(h, NULL, 0, &f->yields))
		return -1;
	w = exec_block(h, f, &fn->node->u.FunctionDef.body);
	if (w == FLOW_FAIL)
		return -1;
	if (fn->scope->is_generator)
		return host_iter(h, f->yields, out);
	*out = w == FLOW_RETURN ? f->ret : val_none();
	return 0;
}

/* Calls a function of the program or of the prelude. Small frames are on the C stack. */
int call_function(struct host *h, struct func_obj *fn, const struct call_args *args, struct val *out)
{
	struct scope *s = fn->scope;
	struct val small[16] = { { .kind = V_UNSET } }, *slots = small, result = { .kind = V_UNSET };
	size_t n = (size_t)s->n_slots, mark = temps_mark(h);
	struct host_frame f;
	int rc;

	if (h->torch.launching && !fn->mod->trusted) /* it could change other arguments */
		return host_fatal(h, REASON_unsupported,
				  "program code that runs during a kernel launch is not supported");
	if (host_enter(h))
		return -1;
	if (n > COUNT_OF(small) && !(slots = host_alloc(h, n * sizeof *slots))) {
		host_leave(h);
		return -1;
	}
	/* The running code may rebind the last name of its own function. */
	host_hold(h, val_obj(&fn->h));
	f = (struct host_frame){ .up = h->frame, .scope = s, .unit = fn->unit, .mod = fn->mod, .slots = slots,
			   .cells = fn->cells, .fn = fn, .class_cell = fn->class_cell };
	rc = bind_args(h, fn, args, slots);
	h->frame = &f;
	if (!rc)
		rc = make_cells(h, s, slots) || run_body(h, &f, fn, &result) ? -1 : 0;
	h->frame = f.up;
	host_leave(h);
	/* The result stays; everything else that the body made goes. */
	result = temps_drain_to(h, mark, result);
	val_drop(h, f.ret);
	for (size_t i = 0; i < n; i++)
		val_drop(h, slots[i]);
	if (slots != small)
		host_release(h, slots, n * sizeof *slots);
	*out = result;
	return rc;
}

/* Calls any value: function, built-in, class, bound method, or an object with __call__. */
int host_callv(struct host *h, struct val fn, const struct call_args *args, struct val *out)
{
	struct val with_self[17], *a = with_self;
	int rc;
	struct call_args all;
	size_t n;

	if (host_deep(h))
		return -1;
	switch (fn.kind) {
	case V_FUNC: return call_function(h, fn.u.fn, args, out);
	case V_BUILTIN: return builtin_call(h, fn.u.b, args, out);
	case V_CLASS: return call_class(h, fn.u.c, args, out);
	case V_STATICMETHOD: return host_callv(h, fn.u.m->self, args, out);
	case V_METHOD: break;
	default: {
		struct val *call = V_IS_HEAP(fn) ? class_lookup(h, val_class(h, fn), h->nm[NM___call__], NULL) : NULL;
		struct val bound;
		if (h->fail.fatal || h->fail.failed)
			return -1;
		if (!call)
			return host_raise(h, EXC_TypeError, "'%s' object is not callable", val_type_name(h, fn));
		if (val_pair(h, V_METHOD, fn, *call, &bound))
			return -1;
		return host_callv(h, bound, args, out);
	}
	}
	/* A bound method: self goes in front. Short argument lists are copied on the C stack. */
	n = args->n + 1;
	if (n > COUNT_OF(with_self) && !(a = host_alloc(h, n * sizeof *a)))
		return -1;
	a[0] = fn.u.m->self;
	if (args->n)
		memcpy(a + 1, args->a, args->n * sizeof *a);
	all = *args;
	all.a = a;
	all.n = n;
	rc = host_callv(h, fn.u.m->fn, &all, out);
	if (a != with_self)
		host_release(h, a, n * sizeof *a);
	return rc;
}

/* fn(a). */
int host_call1(struct host *h, struct val fn, struct val a, struct val *out)
{
	struct call_args args = { .a = &a, .n = 1 };
	return host_callv(h, fn, &args, out);
}

/* self.name(*a). */
int host_call_method(struct host *h, struct val self, struct str_obj *name, const struct val *a, size_t n,
		     struct val *out)
{
	struct val m;
	struct call_args args = { .a = a, .n = n };
	return attr_load(h, self, name, &m) ? -1 : host_callv(h, m, &args, out);
}

/* --- call expressions ------------------------------------------------------------------------------ */

/* The evaluated arguments of one call. `args` points into the arrays of the struct, or into
 * Python lists (temporaries) if there are more than 12 arguments or stars. */
struct arg_list {
	struct val pos[12], kw[12], names[12];
	struct call_args args;
};

/* f(1, *v, 2): collects all positional arguments in one list. */
static int spread_positional(struct host *h, struct host_frame *f, const struct py_list *l, struct arg_list *al)
{
	struct val list, v;
	if (val_list(h, NULL, 0, &list))
		return -1;
	for (size_t i = 0; i < l->n; i++) {
		int star = l->v[i]->kind == PY_Starred;
		if (eval_expr(h, f, star ? l->v[i]->u.Starred.value : l->v[i], &v))
			return -1;
		f->node = l->v[i];
		if (star ? list_extend(h, list, v) : list_append(h, list, v))
			return -1;
	}
	al->args.a = list.u.seq->v;
	al->args.n = list.u.seq->n;
	return 0;
}

/* The common case keeps up to 12 arguments on the C stack. */
static int eval_positional(struct host *h, struct host_frame *f, const struct py_list *l, struct arg_list *al)
{
	int star = l->n > COUNT_OF(al->pos);
	for (size_t i = 0; i < l->n && !star; i++)
		star = l->v[i]->kind == PY_Starred;
	if (star)
		return spread_positional(h, f, l, al);
	for (size_t i = 0; i < l->n; i++)
		if (eval_expr(h, f, l->v[i], &al->pos[i]))
			return -1;
	al->args.a = al->pos;
	al->args.n = l->n;
	return 0;
}

/* f(a=1, **d): collects all keywords in one dictionary, which keeps their order. A name given
 * twice is refused. */
static int spread_keywords(struct host *h, struct host_frame *f, const struct py_list *l, struct arg_list *al)
{
	struct val all, v, old, names, vals;
	if (val_dict(h, &all) || val_list(h, NULL, 0, &names) || val_list(h, NULL, 0, &vals))
		return -1;
	for (size_t i = 0; i < l->n; i++) {
		const struct py_keyword *k = &l->v[i]->u.keyword;
		if (eval_expr(h, f, k->value, &v))
			return -1;
		f->node = l->v[i];
		if (k->arg.p) {
			struct str_obj *s = host_ident(h, k->arg);
			if (!s || dict_set(h, all, val_of_str(s), v))
				return -1;
			continue;
		}
		if (v.kind != V_DICT)
			return host_raise(h, EXC_TypeError, "argument after ** must be a mapping, not %s",
					  val_type_name(h, v));
		for (size_t at = 0;;) {
			struct dict_entry *e = dict_next(v.u.d, &at);
			int dup;

			if (!e)
				break;
			if (e->key.kind != V_STR)
				return host_raise(h, EXC_TypeError, "keywords must be strings");
			dup = dict_get(h, all, e->key, &old);
			if (dup)
				return dup < 0 ? -1 :
					host_raise(h, EXC_TypeError, "got multiple values for keyword argument '%s'",
						   e->key.u.s->p);
			if (dict_set(h, all, e->key, e->val))
				return -1;
		}
	}
	for (size_t at = 0;;) {
		struct dict_entry *e = dict_next(all.u.d, &at);
		if (!e)
			break;
		if (list_append(h, names, e->key) || list_append(h, vals, e->val))
			return -1;
	}
	al->args.kw_names = names.u.seq->v;
	al->args.kw_vals = vals.u.seq->v;
	al->args.n_kw = names.u.seq->n;
	return 0;
}

/* Keywords without **: names and values side by side. */
static int eval_keywords(struct host *h, struct host_frame *f, const struct py_list *l, struct arg_list *al)
{
	int star = l->n > COUNT_OF(al->kw);
	for (size_t i = 0; i < l->n && !star; i++)
		star = !l->v[i]->u.keyword.arg.p;
	if (star)
		return spread_keywords(h, f, l, al);
	for (size_t i = 0; i < l->n; i++) {
		struct str_obj *s = host_ident(h, l->v[i]->u.keyword.arg);
		if (!s || eval_expr(h, f, l->v[i]->u.keyword.value, &al->kw[i]))
			return -1;
		al->names[i] = val_of_str(s);
	}
	al->args.kw_names = al->names;
	al->args.kw_vals = al->kw;
	al->args.n_kw = l->n;
	return 0;
}

/* A call expression. The callee is evaluated first, then positional arguments, then keywords:
 * the order of CPython. Temporaries of the arguments are dropped when the call is over. */
int eval_call(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct arg_list al = { .args = { .n = 0 } };
	struct val fn, r;
	size_t mark = temps_mark(h);
	if (eval_expr(h, f, n->u.Call.func, &fn) || eval_positional(h, f, &n->u.Call.args, &al) ||
	    eval_keywords(h, f, &n->u.Call.keywords, &al))
		return -1;
	f->node = n;
	if (host_callv(h, fn, &al.args, &r))
		return -1;
	*out = temps_drain_to(h, mark, r);
	return 0;
}
