/* The tree as data: kinds and fields, walking, comparison. Everything comes from ast.def, so a
 * new kind of node needs no code here. */
#include "py/ast.h"

/* --- tables ------------------------------------------------------------------------------ */

/* A field that holds nodes; OTHER is one that does not. child_fields redefines OTHER as
 * nothing. */
#define CHILD(f, k) { .name = #f, .kind = k, .offset = offsetof(T, f) },
#define OTHER(f, k) CHILD(f, k)
#define F_NODE(f) CHILD(f, PY_F_NODE)
#define F_OPT(f) CHILD(f, PY_F_OPT)
#define F_LIST(f) CHILD(f, PY_F_LIST)
#define F_LISTO(f) CHILD(f, PY_F_LISTO)
#define F_ID(f) OTHER(f, PY_F_ID)
#define F_IDO(f) OTHER(f, PY_F_IDO)
#define F_IDS(f) OTHER(f, PY_F_IDS)
#define F_INT(f) OTHER(f, PY_F_INT)
#define F_OP(f) OTHER(f, PY_F_OP)
#define F_OPS(f) OTHER(f, PY_F_OPS)
#define F_CTX(f) OTHER(f, PY_F_CTX)
#define F_CONST(f) OTHER(f, PY_F_CONST)

/* Kind, fields and category of a node. One block per kind, so that T names the struct whose
 * fields are listed. */
const struct py_kind_info *py_kind_info(enum py_kind kind)
{
	switch (kind) {
#define PY_NODE(node, cat, list) \
	case PY_##node: { \
		typedef struct py_##node T __attribute__((unused)); \
		static const struct py_field fields[] = { list { .name = NULL } }; \
		static const struct py_kind_info info = { .name = #node, .fields = fields, \
							  .n = COUNT_OF(fields) - 1, .category = PY_IN_##cat }; \
		return &info; \
	}
#include "py/ast.def"
#undef PY_NODE
	default:
		BUG("node kind %d", (int)kind);
	}
}

/* Name and source text of each operator. */
static const struct { const char *name, *text; } ops[PY_OPS] = {
#define PY_OP(op, str, cat) [PY_OP_##op] = { .name = #op, .text = str },
#include "py/op.def"
#undef PY_OP
};

const char *py_op_name(enum py_op op) { return ops[op].name; }
const char *py_op_text(enum py_op op) { return ops[op].text; }

/* --- walking ------------------------------------------------------------------------------ */

/* The fields that hold nodes, ended by one without a name. Most nodes have none, so walking is
 * cheap. */
static const struct py_field *child_fields(enum py_kind kind)
{
	switch (kind) {
#undef OTHER
#define OTHER(f, k)
#define PY_NODE(node, cat, list) \
	case PY_##node: { \
		typedef struct py_##node T __attribute__((unused)); \
		static const struct py_field fields[] = { list { .name = NULL } }; \
		return fields; \
	}
#include "py/ast.def"
#undef PY_NODE
	default:
		BUG("node kind %d", (int)kind);
	}
}

/* A list may hold NULL elements, which are skipped. */
void py_children(const struct py_node *n, void (*fn)(void *ctx, struct py_node *child), void *ctx)
{
	for (const struct py_field *f = child_fields(n->kind); f->name; f++) {
		const char *at = (const char *)&n->u + f->offset;

		if (f->kind == PY_F_NODE || f->kind == PY_F_OPT) {
			struct py_node *child = *(struct py_node *const *)at;

			if (child)
				fn(ctx, child);
		} else {
			const struct py_list *l = (const struct py_list *)at;

			for (size_t k = 0; k < l->n; k++)
				if (l->v[k])
					fn(ctx, l->v[k]);
		}
	}
}

/* The bound name: `import a.b` binds a, `import a.b as c` binds c. */
struct str py_alias_name(const struct py_alias *a)
{
	struct str whole = a->asname.n ? a->asname : a->name;

	return str_cut(&whole, '.');
}

/* --- comparison ---------------------------------------------------------------------------- */

/* Compares floats by their bits: 0.0 and -0.0 differ, NaN equals itself. */
static int const_equal(const struct py_const *a, const struct py_const *b)
{
	if (a->kind != b->kind)
		return 0;
	switch (a->kind) {
	case PY_C_INT: return a->i == b->i;
	case PY_C_FLOAT:
	case PY_C_IMAG: return !memcmp(&a->f, &b->f, sizeof a->f);
	case PY_C_BIGINT:
	case PY_C_STR:
	case PY_C_BYTES: return str_eq(a->s, b->s);
	default: return 1;
	}
}

/* An absent identifier (.p NULL) differs from an empty one. */
static int id_equal(const struct str *a, const struct str *b)
{
	return !a->p == !b->p && str_eq(*a, *b);
}

static int list_equal(const struct py_list *a, const struct py_list *b)
{
	if (a->n != b->n)
		return 0;
	for (size_t i = 0; i < a->n; i++)
		if (!py_equal(a->v[i], b->v[i]))
			return 0;
	return 1;
}

static int ids_equal(const struct py_ids *a, const struct py_ids *b)
{
	if (a->n != b->n)
		return 0;
	for (size_t i = 0; i < a->n; i++)
		if (!str_eq(a->v[i], b->v[i]))
			return 0;
	return 1;
}

/* Compares one field of two nodes of the same kind. */
static int field_equal(enum py_field_kind kind, const void *a, const void *b)
{
	const struct py_oplist *oa = a, *ob = b;

	switch (kind) {
	case PY_F_NODE:
	case PY_F_OPT: return py_equal(*(struct py_node *const *)a, *(struct py_node *const *)b);
	case PY_F_LIST:
	case PY_F_LISTO: return list_equal(a, b);
	case PY_F_ID:
	case PY_F_IDO: return id_equal(a, b);
	case PY_F_IDS: return ids_equal(a, b);
	case PY_F_INT: return *(const int *)a == *(const int *)b;
	case PY_F_OP: return *(const enum py_op *)a == *(const enum py_op *)b;
	case PY_F_OPS: return oa->n == ob->n && !memcmp(oa->v, ob->v, oa->n * sizeof *oa->v);
	case PY_F_CTX: return *(const enum py_ctx *)a == *(const enum py_ctx *)b;
	case PY_F_CONST: return const_equal(a, b);
	}
	BUG("field kind %d", (int)kind);
}

/* Both may be NULL. Recursion is safe: py_parse limits the depth of trees. */
int py_equal(const struct py_node *a, const struct py_node *b)
{
	const struct py_kind_info *info;

	if (!a || !b)
		return a == b;
	if (a->kind != b->kind)
		return 0;
	info = py_kind_info(a->kind);
	for (size_t i = 0; i < info->n; i++)
		if (!field_equal(info->fields[i].kind, (const char *)&a->u + info->fields[i].offset,
				 (const char *)&b->u + info->fields[i].offset))
			return 0;
	return 1;
}
