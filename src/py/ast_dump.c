/* ast.dump(tree, include_attributes=True) of CPython 3.11. Fields come in the order of the
 * table; optional fields that are None are left out. */
#include "py/ast.h"
#include "py/repr.h"

/* Kinds that have no position in CPython's grammar. */
static int has_position(enum py_kind kind)
{
	return kind != PY_Module && kind != PY_comprehension && kind != PY_arguments &&
		kind != PY_withitem && kind != PY_match_case;
}

/* A NULL element is None: the key of ** in a dictionary. */
static void add_list(const struct py_list *l, struct buf *out)
{
	buf_addc(out, '[');
	for (size_t i = 0; i < l->n; i++) {
		if (i)
			buf_adds(out, ", ");
		if (l->v[i])
			py_dump(l->v[i], out);
		else
			buf_adds(out, "None");
	}
	buf_addc(out, ']');
}

static void add_ids(const struct py_ids *l, struct buf *out)
{
	buf_addc(out, '[');
	for (size_t i = 0; i < l->n; i++) {
		if (i)
			buf_adds(out, ", ");
		py_repr_str(l->v[i], out);
	}
	buf_addc(out, ']');
}

static void add_ops(const struct py_oplist *l, struct buf *out)
{
	buf_addc(out, '[');
	for (size_t i = 0; i < l->n; i++)
		buf_addf(out, "%s%s()", i ? ", " : "", py_op_name(l->v[i]));
	buf_addc(out, ']');
}

/* Is the field an optional one without a value? */
static int is_absent(enum py_field_kind kind, const void *at)
{
	if (kind == PY_F_OPT)
		return !*(struct py_node *const *)at;
	return kind == PY_F_IDO && !((const struct str *)at)->p;
}

/* Writes the value of one field by its kind. */
static void add_value(enum py_field_kind kind, const void *at, struct buf *out)
{
	static const char *const contexts[] = { "Load()", "Store()", "Del()" };

	switch (kind) {
	case PY_F_NODE:
	case PY_F_OPT: py_dump(*(struct py_node *const *)at, out); break;
	case PY_F_LIST:
	case PY_F_LISTO: add_list(at, out); break;
	case PY_F_ID:
	case PY_F_IDO: py_repr_str(*(const struct str *)at, out); break;
	case PY_F_IDS: add_ids(at, out); break;
	case PY_F_INT: buf_addf(out, "%d", *(const int *)at); break;
	case PY_F_OP: buf_addf(out, "%s()", py_op_name(*(const enum py_op *)at)); break;
	case PY_F_OPS: add_ops(at, out); break;
	case PY_F_CTX: buf_adds(out, contexts[*(const enum py_ctx *)at]); break;
	case PY_F_CONST: py_repr_const(at, out); break;
	}
}

/* Writes Kind(field=value, ..., lineno=1, ...). */
void py_dump(const struct py_node *n, struct buf *out)
{
	const struct py_kind_info *info = py_kind_info(n->kind);
	const char *sep = "";

	buf_addf(out, "%s(", info->name);
	for (size_t i = 0; i < info->n; i++) {
		const void *at = (const char *)&n->u + info->fields[i].offset;

		if (is_absent(info->fields[i].kind, at))
			continue;
		buf_addf(out, "%s%s=", sep, info->fields[i].name);
		add_value(info->fields[i].kind, at, out);
		sep = ", ";
	}
	if (n->kind == PY_Module)
		buf_addf(out, "%stype_ignores=[]", sep);
	if (has_position(n->kind))
		buf_addf(out, "%slineno=%d, col_offset=%d, end_lineno=%d, end_col_offset=%d", sep,
			 n->line, n->col, n->end_line, n->end_col);
	buf_addc(out, ')');
}
