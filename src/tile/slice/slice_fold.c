/* Folding the lanes of a tile: see slice_fold.h. */
#include "tile/slice/slice_fold.h"

#include "base/mem.h"

/* More than one dimension, or an unknown one. */
enum { MANY_DIMS = 0xff };

/* The dimensions of the result that follow the ranges of `lanes` lanes, as bits. */
static uint8_t dims_of(const struct tile_code *code, const struct tile_insn *in, const uint8_t *dims, int64_t lanes)
{
	struct tile_type to = code->regs[tile_dst(in, 0)];
	unsigned all = 0, moved = 0;

	for (int k = 0; k < in->n_src; k++)
		all |= dims[tile_src(in, k)];
	switch (in->op) {
	case TOP_ARANGE: return to.shape[0] == lanes;
	case TOP_EXPAND_DIMS:
		moved = all & ((1u << in->imm) - 1);
		return (uint8_t)(moved | (all & ~moved) << 1);
	case TOP_PERMUTE:
		for (int d = 0; d < to.ndim; d++)
			moved |= (all >> in->attr[d] & 1) << d;
		return (uint8_t)moved;
	case TOP_RESHAPE: return all ? MANY_DIMS : 0;
	default: return (uint8_t)all;
	}
}

static int becomes_float(const struct tile_code *code, const struct tile_insn *in)
{
	return in->op == TOP_CAST && dtype_is_float((enum dtype)code->regs[tile_dst(in, 0)].dt);
}

static int is_one(uint8_t dims)
{
	return !(dims & (dims - 1));
}

/* Follows the ranges through the kernel. Loops carry values back, so it repeats until nothing changes. Returns whether
 * each tile has them along one dimension at most and a quotient or a float depends on them. */
static int suits(const struct tile_code *code, const uint8_t *needed, uint8_t *dims, int64_t lanes)
{
	const struct tile_func *f = &code->funcs[0];
	int divides = 0;

	for (int more = 1; more;) {
		more = 0;
		for (int i = 0; i < f->n_insns; i++) {
			const struct tile_insn *in = &f->insns[i];
			tile_reg to = in->n_dst == 1 ? tile_dst(in, 0) : 0;
			uint8_t now;

			if (in->n_dst != 1 || !needed[to])
				continue;
			now = dims[to] | dims_of(code, in, dims, lanes);
			if (!is_one(now))
				return 0;
			more |= now != dims[to];
			dims[to] = now;
			divides |= now && (in->op == TOP_DIV || in->op == TOP_REM || becomes_float(code, in));
		}
	}
	return divides;
}

int64_t slice_fold_find(const struct tile_code *code, const uint8_t *needed, uint8_t *folded)
{
	const struct tile_func *f = &code->funcs[0];
	uint8_t *dims = mem_alloc((size_t)code->n_regs + 1);
	int64_t lanes = dims ? 0 : -1;

	for (int i = 0; i < f->n_insns && !lanes; i++) {
		const struct tile_insn *in = &f->insns[i];

		if (in->op != TOP_ARANGE || !needed[tile_dst(in, 0)])
			continue;
		memset(dims, 0, (size_t)code->n_regs + 1);
		if (suits(code, needed, dims, code->regs[tile_dst(in, 0)].shape[0]))
			lanes = code->regs[tile_dst(in, 0)].shape[0];
	}
	for (int i = 0; i < f->n_insns && lanes > 0; i++)
		folded[i] = f->insns[i].op == TOP_ARANGE &&
			code->regs[tile_dst(&f->insns[i], 0)].shape[0] == lanes;
	mem_free(dims);
	return lanes;
}
