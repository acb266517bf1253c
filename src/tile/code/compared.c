/* Finds the constants that a kernel compares floating values with: see compared.h.
 *
 * One pass over the instructions is enough, because a constant is assigned before it is used. A
 * register that is assigned twice is no constant. A comparison of x - 0.5, of 2 * x or of the bits
 * of x counts as one of x: the constant is traced back to x. */
#include "tile/code/compared.h"

#include <math.h>

/* The facts about a register. */
struct known {
	int assigned;                 /* how often */
	const struct tile_insn *by;   /* the last instruction that assigned it; NULL: a parameter */
	int is_constant;
	double v;                     /* of a constant; an integer is exact up to 2^53 */
	int bits_of;                  /* it holds the bits of floats of this dtype: 1 + enum dtype; or 0 */
};

/* Does the instruction only move the values of its source to other lanes or another type? */
static int only_moves(enum tile_op op)
{
	switch (op) {
	case TOP_MOV: case TOP_SPLAT: case TOP_BROADCAST: case TOP_EXPAND_DIMS: case TOP_RESHAPE: case TOP_CAST:
		return 1;
	default:
		return 0;
	}
}

/* The facts about the result of an instruction. */
static struct known result_of(const struct tile_code *code, const struct tile_insn *in, const struct known *k)
{
	struct known to = { .assigned = k[tile_dst(in, 0)].assigned + 1, .by = in };
	struct tile_type t = code->regs[tile_dst(in, 0)];

	if (in->op == TOP_CONST && !t.ptr) {
		to.is_constant = 1;
		to.v = dtype_is_float((enum dtype)t.dt) ? in->fimm : (double)in->imm;
	} else if (only_moves((enum tile_op)in->op)) {
		to.is_constant = k[tile_src(in, 0)].is_constant;
		to.v = k[tile_src(in, 0)].v;
		to.bits_of = in->op == TOP_CAST ? 0 : k[tile_src(in, 0)].bits_of;
	} else if (in->op == TOP_BITCAST) {
		struct tile_type from = code->regs[tile_src(in, 0)];

		to.bits_of = !from.ptr && dtype_is_float((enum dtype)from.dt) ? 1 + from.dt : 0;
	} else if (in->op == TOP_NEG) {
		to.is_constant = k[tile_src(in, 0)].is_constant;
		to.v = -k[tile_src(in, 0)].v;
	}
	to.is_constant &= to.assigned == 1;
	return to;
}

/* Adds a constant, once. */
static void add(struct compared *c, double v, int equal)
{
	if (!isfinite(v) || (!equal && (v == 0.0 || fabs(v) == 1.0)))
		return;
	for (int i = 0; i < c->n; i++)
		if (c->v[i] == v)
			return;
	if (c->n < COMPARED_MOST)
		c->v[c->n++] = v;
}

/* Steps that a constant is traced back. */
enum { DEPTH_MOST = 12 };

/* The values of x at which the instruction, a function of x and at most one constant `with`, gives
 * v: one, or two. `is_first`: x is the first source. Returns how many. */
static int invert(enum tile_op op, double v, double with, int is_first, double out[2])
{
	out[1] = v;
	switch (op) {
	case TOP_ADD: out[0] = v - with; return 1;
	case TOP_SUB: out[0] = is_first ? v + with : with - v; return 1;
	case TOP_MUL: out[0] = v / with; return 1;
	case TOP_DIV: out[0] = is_first ? v * with : with / v; return 1;
	case TOP_NEG: out[0] = -v; return 1;
	case TOP_ABS: out[0] = -v; return 2;
	default: out[0] = v; return only_moves(op);
	}
}

/* Traces a constant that is compared with a register back to the value that the register was
 * computed from. */
static void trace(struct compared *c, const struct tile_code *code, const struct known *k, tile_reg r, double v,
		  int equal, int depth)
{
	const struct tile_insn *in = k[r].assigned == 1 && depth < DEPTH_MOST ? k[r].by : NULL;
	int x = in && in->n_src == 2 && k[tile_src(in, 0)].is_constant, n = 0;
	int one = in && (in->n_src == 1 || (in->n_src == 2 && k[tile_src(in, !x)].is_constant));
	double from[2];

	if (one && dtype_is_float((enum dtype)code->regs[tile_src(in, x)].dt))
		n = invert((enum tile_op)in->op, v, in->n_src == 2 ? k[tile_src(in, !x)].v : 0.0, !x, from);
	if (!n)
		add(c, v, equal);
	for (int i = 0; i < n; i++)
		trace(c, code, k, tile_src(in, x), from[i], equal, depth + 1);
}

/* Looks at a comparison with the source number `constant`, if it is one. */
static void look(struct compared *c, const struct tile_code *code, const struct tile_insn *in, const struct known *k,
		 int constant)
{
	tile_reg of = tile_src(in, constant), value = tile_src(in, !constant);
	struct tile_type t = code->regs[value];
	int equal = in->op == TOP_EQ || in->op == TOP_NE;
	uint64_t cell;

	if (!k[of].is_constant || k[value].is_constant || t.ptr)
		return;
	if (dtype_is_float((enum dtype)t.dt)) {
		trace(c, code, k, value, k[of].v, equal, 0);
	} else if (k[value].bits_of) {
		cell = (uint64_t)(int64_t)k[of].v;
		add(c, dtype_load((enum dtype)(k[value].bits_of - 1), &cell), equal);
	}
}

/* All functions share the registers of the code. */
int compared_add(struct compared *c, const struct tile_code *code, struct err *e)
{
	struct known *k = mem_zalloc(((size_t)code->n_regs + 1) * sizeof *k);

	if (!k)
		return err_nomem(e);
	for (int f = 0; f < code->n_funcs; f++)
		for (int i = 0; i < code->funcs[f].n_insns; i++) {
			const struct tile_insn *in = &code->funcs[f].insns[i];

			if (in->op >= TOP_EQ && in->op <= TOP_GE) {
				look(c, code, in, k, 0);
				look(c, code, in, k, 1);
			}
			if (in->n_dst == 1)
				k[tile_dst(in, 0)] = result_of(code, in, k);
		}
	mem_free(k);
	return 0;
}
