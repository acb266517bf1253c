/* torch.library: the part that needs the syntax tree. PyTorch reads a schema from the
 * annotations of a function; the rest is Python code (prelude/torch/library.py).
 *
 * An annotation becomes a text: "Tensor", "int?" (or None), "float[]" (a list), "int[]?",
 * "Tensor?[]". Results are "()" for None, the text of one annotation, or "(Tensor, Tensor)". */
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/object.h"
#include "interp/state.h"

/* "Tensor" of torch.Tensor or Tensor; NULL for any other expression. */
static struct str last_part(const struct py_node *n)
{
	return n->kind == PY_Name ? n->u.Name.id : n->kind == PY_Attribute ? n->u.Attribute.attr :
		(struct str){ .p = NULL };
}

/* The constant None. */
static int is_none(const struct py_node *n)
{
	return n->kind == PY_Constant && n->u.Constant.value.kind == PY_C_NONE;
}

/* Is the name in the NULL-terminated list? */
static int is_one_of(struct str name, const char *const *list)
{
	for (; *list; list++)
		if (str_is(name, *list))
			return 1;
	return 0;
}

/* Appends the text of a type that is neither a list nor optional. Returns 0 if PyTorch has no
 * such type. An annotation in quotes counts by its last part. */
static int add_base(struct buf *out, const struct py_node *n)
{
	static const char *const bases[] = { "Tensor", "int", "float", "bool", "str", "dtype", "device",
					     "Number", NULL };
	struct str name = last_part(n);

	if (!name.p && n->kind == PY_Constant && n->u.Constant.value.kind == PY_C_STR) {
		name = n->u.Constant.value.s;
		while (str_find(name, STR(".")) >= 0)
			str_cut(&name, '.');
	}
	if (!name.p || !is_one_of(name, bases))
		return 0;
	buf_addstr(out, name);
	return 1;
}

/* Appends the text of any annotation: X | None, Optional[X], List[X], list[X], Sequence[X],
 * or a base. Returns 0 if it has none. At most two levels of nesting exist in PyTorch. */
static int add_type(struct buf *out, const struct py_node *n, int depth)
{
	static const char *const lists[] = { "List", "list", "Sequence", NULL };
	const struct py_node *inner = NULL;
	const char *mark = "?";

	if (n->kind == PY_BinOp && n->u.BinOp.op == PY_OP_BitOr) {
		inner = is_none(n->u.BinOp.right) ? n->u.BinOp.left :
			is_none(n->u.BinOp.left) ? n->u.BinOp.right : NULL;
	} else if (n->kind == PY_Subscript) {
		struct str of = last_part(n->u.Subscript.value);

		mark = of.p && is_one_of(of, lists) ? "[]" : "?";
		inner = of.p && (str_is(of, "Optional") || *mark == '[') ? n->u.Subscript.slice : NULL;
	} else {
		return add_base(out, n);
	}
	if (!inner || depth > 2 || !add_type(out, inner, depth + 1))
		return 0;
	buf_adds(out, mark);
	return 1;
}

/* Is the text a parameter type that PyTorch knows? Lists are limited; any base may be
 * optional. */
static int is_known(struct str type)
{
	static const char *const lists[] = { "Tensor[]", "Tensor?[]", "int[]", "int[]?", "float[]",
					     "float[]?", "bool[]", "bool[]?", "Number[]", NULL };
	ptrdiff_t at = str_find(type, STR("["));

	if (at >= 0)
		return is_one_of(type, lists);
	at = str_find(type, STR("?"));
	return at < 0 || (size_t)at + 1 == type.n;
}

/* Parameters of the function in slot 0; NULL after an error. */
static const struct py_arguments *arguments_of(struct bind *b)
{
	struct val fn = b->a[0];

	if (fn.kind != V_FUNC || fn.u.fn->node->kind != PY_FunctionDef) {
		bind_unsupported(b, "torch.library of an object that is not a function");
		return NULL;
	}
	return &fn.u.fn->node->u.FunctionDef.args->u.arguments;
}

/* Appends (name, type, keyword only, (default,) or ()) to the list b->out. */
static int add_parameter(struct bind *b, const struct py_node *arg, int keyword, struct val given)
{
	struct buf type = BUF_INIT;
	struct val v[4] = { { .kind = V_NONE }, { .kind = V_NONE }, val_bool(keyword) }, row;
	int rc = 0;

	if (!arg->u.arg.annotation)
		return bind_raise(b, EXC_ValueError,
				  "infer_schema(func): Parameter %.*s must have a type annotation.",
				  STR_ARG(arg->u.arg.arg));
	if (!add_type(&type, arg->u.arg.annotation, 0) || !is_known(buf_str(&type)))
		rc = bind_raise(b, EXC_ValueError,
				"infer_schema(func): Parameter %.*s has an unsupported type.", STR_ARG(arg->u.arg.arg));
	if (!rc)
		rc = val_str(b->h, arg->u.arg.arg, &v[0]) || val_str(b->h, buf_str(&type), &v[1]) ||
		     val_tuple(b->h, &given, given.kind != V_UNSET, &v[3]) || val_tuple(b->h, v, 4, &row) ||
		     list_append(b->h, b->out, row);
	buf_release(&type);
	return rc ? -1 : 0;
}

/* torch.library._parameters(fn): the parameters as a list of tuples. */
static int l_parameters(struct bind *b)
{
	const struct py_arguments *a = arguments_of(b);
	const struct func_obj *f = b->a[0].u.fn;
	struct val none = { .kind = V_UNSET };
	int rc;

	if (!a)
		return -1;
	if (a->posonlyargs.n || a->vararg || a->kwarg)
		return bind_raise(b, EXC_ValueError,
				  "infer_schema(func): We do not support positional-only args, varargs, or varkwargs.");
	rc = val_list(b->h, NULL, 0, &b->out);
	for (size_t i = 0; i < a->args.n && !rc; i++) {
		/* Defaults belong to the last parameters. */
		size_t left = a->args.n - i;

		rc = add_parameter(b, a->args.v[i], 0,
				   left <= f->n_defaults ? f->defaults[f->n_defaults - left] : none);
	}
	for (size_t i = 0; i < a->kwonlyargs.n && !rc; i++)
		rc = add_parameter(b, a->kwonlyargs.v[i], 1, i < f->n_kw ? f->kw_defaults[i] : none);
	return rc;
}

/* Appends the text of one result; fewer types than for parameters. */
static int add_result(struct buf *out, const struct py_node *n)
{
	static const char *const results[] = { "Tensor", "Tensor[]", "int", "float", "bool", "Number", NULL };
	size_t from = out->n;

	return add_type(out, n, 0) && is_one_of((struct str){ .p = out->p + from, .n = out->n - from }, results);
}

/* Appends the text of the return annotation. */
static int add_results(struct buf *out, const struct py_node *n)
{
	struct str of = n->kind == PY_Subscript ? last_part(n->u.Subscript.value) : (struct str){ .p = NULL };
	const struct py_node *inner;
	size_t k;

	if (is_none(n)) {
		buf_adds(out, "()");
		return 1;
	}
	if (!of.p || (!str_is(of, "Tuple") && !str_is(of, "tuple")))
		return add_result(out, n);
	inner = n->u.Subscript.slice;
	/* Tuple[X] has one element, Tuple[X, Y] a tuple node with two. */
	k = inner->kind == PY_Tuple ? inner->u.Tuple.elts.n : 1;
	buf_addc(out, '(');
	for (size_t i = 0; i < k; i++) {
		buf_adds(out, i ? ", " : "");
		if (!add_result(out, inner->kind == PY_Tuple ? inner->u.Tuple.elts.v[i] : inner))
			return 0;
	}
	buf_addc(out, ')');
	return 1;
}

/* torch.library._results(fn): the text of the results. */
static int l_results(struct bind *b)
{
	const struct py_node *fn;
	struct buf out = BUF_INIT;
	int rc;

	if (!arguments_of(b))
		return -1;
	fn = b->a[0].u.fn->node;
	if (!fn->u.FunctionDef.returns)
		return bind_raise(b, EXC_ValueError,
				  "infer_schema(func): No return type annotation was provided. Please add one.");
	rc = add_results(&out, fn->u.FunctionDef.returns) ? val_str(b->h, buf_str(&out), &b->out) :
		bind_raise(b, EXC_ValueError, "infer_schema(func): Return has an unsupported type.");
	buf_release(&out);
	return rc;
}

/* torch.library._shares(a, b): do two tensors lie in the same storage? */
static int l_shares(struct bind *b)
{
	struct tensor *x, *y;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &y))
		return bind_fail(b);
	b->out = val_bool(x->st == y->st);
	return 0;
}

/* torch.library._missing(what): lets Python code of the prelude refuse a feature. An operator of torch
 * computes, whether this engine has it or not. */
static int l_missing(struct bind *b)
{
	struct str what;

	if (bind_string(b, 0, &what) || (str_starts(what, "torch.ops.") && host_may_compute(b->h, what.p)))
		return -1;
	return bind_unsupported(b, "%.*s", STR_ARG(what));
}

/* torch.library._varies(what): lets Python code of the prelude refuse what differs between machines. */
static int l_varies(struct bind *b)
{
	struct str what;

	if (bind_string(b, 0, &what))
		return -1;
	return b->h->o.may_vary ? 0 : host_fatal(b->h, REASON_unstable,
						 "%.*s varies between machines and may not be used", STR_ARG(what));
}

/* torch.library._only_printed(what): a text that differs from PyTorch's. print may show it; a
 * judged program may not read it. */
static int l_only_printed(struct bind *b)
{
	struct str what;

	if (bind_string(b, 0, &what))
		return -1;
	return b->h->did.printing || b->h->o.may_vary ? 0 : bind_unsupported(b, "%.*s", STR_ARG(what));
}

const struct bind_row torch_library_rows[] = {
	{ "torch.library._parameters", "fn", l_parameters, BIND_INTERNAL },
	{ "torch.library._results", "fn", l_results, BIND_INTERNAL },
	{ "torch.library._shares", "a: torch.Tensor, b: torch.Tensor", l_shares, BIND_INTERNAL | BIND_ANY_DEVICE },
	{ "torch.library._only_printed", "what: str", l_only_printed, BIND_INTERNAL },
	{ "torch.library._missing", "what: str", l_missing, BIND_INTERNAL },
	{ "torch.library._varies", "what: str", l_varies, BIND_INTERNAL },
	{ NULL, NULL, NULL, 0 }
};
