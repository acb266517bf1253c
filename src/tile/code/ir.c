/* Types and tables of tile code. Owns the facts that follow from tileop.def and the text form of
 * types. Does not own instructions: the builder makes them, the verifier checks them. */
#include "tile/code/ir.h"

static const struct tile_op_info op_table[TILE_OPS] = {
#define TILEOP(id, text, rule, dst, smin, smax, klass, fl) \
	[TOP_##id] = { .name = text, .n_dst = dst, .src_min = smin, .src_max = smax, .cost = TOC_##klass, \
		       .flags = TOF_##fl },
#include "tile/code/tileop.def"
#undef TILEOP
};

const struct tile_op_info *tile_op_info(enum tile_op op)
{
	return &op_table[op];
}

/* Elementwise operations are pure, and so are the cheap moves listed here. Operations on whole
 * tiles (dot, sort, reduce) are not listed: they stay where the kernel has them. */
int tile_op_is_pure(enum tile_op op)
{
	switch (op) {
	case TOP_ARANGE: case TOP_NUM_PROGRAMS: case TOP_PROGRAM_ID: case TOP_SPLAT: case TOP_BROADCAST:
	case TOP_EXPAND_DIMS: case TOP_RESHAPE: case TOP_PERMUTE: case TOP_ADDPTR:
		return 1;
	default:
		return (op_table[op].flags & TOF_L) != 0;
	}
}

static int is_comparison(int op)
{
	return op == TOP_EQ || op == TOP_NE || op == TOP_LT || op == TOP_LE || op == TOP_GT || op == TOP_GE;
}

/* A kernel that does this may behave differently when its tensors lie elsewhere, so it is not
 * replayed. */
int tile_looks_at_address(const struct tile_code *code, const struct tile_insn *in)
{
	if (in->op == TOP_CAST || in->op == TOP_BITCAST)
		return code->regs[tile_src(in, 0)].ptr && !code->regs[tile_dst(in, 0)].ptr;
	return is_comparison(in->op) && code->regs[tile_src(in, 0)].ptr;
}

int tile_op_by_name(struct str name)
{
	for (int i = 0; i < TILE_OPS; i++)
		if (str_is(name, op_table[i].name))
			return i;
	return -1;
}

struct tile_type tile_scalar(enum dtype dt)
{
	return (struct tile_type){ .dt = (uint8_t)dt };
}

struct tile_type tile_pointer(enum dtype dt)
{
	return (struct tile_type){ .dt = (uint8_t)dt, .ptr = 1 };
}

/* A tile of the given element, which is a scalar or a pointer. */
struct tile_type tile_shaped(struct tile_type element, int ndim, const int32_t *shape)
{
	struct tile_type t = { .dt = element.dt, .ptr = element.ptr, .ndim = (uint8_t)ndim };
	for (int i = 0; i < ndim && i < TILE_DIMS; i++)
		t.shape[i] = shape[i];
	return t;
}

int tile_same_shape(struct tile_type a, struct tile_type b)
{
	if (a.ndim != b.ndim)
		return 0;
	for (int i = 0; i < a.ndim; i++)
		if (a.shape[i] != b.shape[i])
			return 0;
	return 1;
}

int tile_type_eq(struct tile_type a, struct tile_type b)
{
	return a.dt == b.dt && a.ptr == b.ptr && tile_same_shape(a, b);
}

int64_t tile_numel(struct tile_type t)
{
	int64_t n = 1;
	for (int i = 0; i < t.ndim; i++)
		n *= t.shape[i];
	return n;
}

int tile_elem_size(struct tile_type t)
{
	return t.ptr ? 8 : dtype_size(t.dt);
}

/* Writes "fp32", "*fp16[16x32]". */
void tile_type_print(struct tile_type t, struct buf *out)
{
	buf_addf(out, "%s%s", t.ptr ? "*" : "", dtype_info(t.dt)->triton);
	for (int i = 0; i < t.ndim; i++)
		buf_addf(out, "%c%d", i ? 'x' : '[', t.shape[i]);
	if (t.ndim)
		buf_addc(out, ']');
}

/* Reads the dimensions "16x32]" of "fp32[16x32]": powers of two whose product is a legal tile. */
static int parse_dims(struct str s, struct tile_type *t)
{
	int64_t numel = 1;
	if (!s.n || s.p[s.n - 1] != ']')
		return -1;
	s.n--;
	while (s.n || !t->ndim) {
		int64_t v;
		if (t->ndim == TILE_DIMS || str_to_i64(str_cut(&s, 'x'), &v))
			return -1;
		if (v < 1 || v > TILE_MAX_NUMEL || (v & (v - 1)) || (numel *= v) > TILE_MAX_NUMEL)
			return -1;
		t->shape[t->ndim++] = (int32_t)v;
	}
	return 0;
}

/* Reads what tile_type_print writes; the dtype has Triton's signature name. */
int tile_type_parse(struct str s, struct tile_type *out)
{
	struct tile_type t = { .ptr = 0 };
	struct str rest, name;
	int dt;

	if (s.n && *s.p == '*') {
		t.ptr = 1;
		s.p++, s.n--;
	}
	rest = s;
	name = str_cut(&rest, '[');
	dt = dtype_by_triton(name);
	if (dt < 0)
		return -1;
	t.dt = (uint8_t)dt;
	if (name.n < s.n && parse_dims(rest, &t))
		return -1;
	*out = t;
	return 0;
}

/* Everything of the code lives in its arena, the decoded form included. */
void tile_code_free(struct tile_code *code)
{
	if (!code)
		return;
	arena_release(&code->mem);
	mem_free(code);
}
