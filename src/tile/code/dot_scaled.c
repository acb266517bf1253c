/* Owns the shape rules of dot_scaled. Does not own its arithmetic: machine/exec_dot.c does. */
#include "tile/code/dot_scaled.h"

/* An e2m1 operand packs two 4-bit elements in a byte, along K or along its other dimension (attr[3]
 * and attr[4]). Example: A of int8[128x32] packed along K is a 128 by 64 matrix; scales of
 * int8[128x2] give groups of 32 elements. */
int tile_dot_scaled_shape(const struct tile_code *code, const struct tile_insn *in, struct dot_scaled *out)
{
	struct tile_type a = code->regs[tile_src(in, 0)], b = code->regs[tile_src(in, 1)],
		d = code->regs[tile_dst(in, 0)];
	struct dot_scaled s = { .a_scale = -1, .b_scale = -1 };
	int next, a4, b4;

	if (a.ndim != 2 || b.ndim != 2 || d.ndim != 2 || a.ptr || b.ptr)
		return -1;
	for (int k = 0; k < 2; k++) {
		struct tile_type t = k ? b : a;
		int fmt = in->attr[k];
		if (fmt < TILE_FMT_E2M1 || fmt > TILE_FMT_FP16 ||
		    dtype_size(t.dt) != (fmt >= TILE_FMT_BF16 ? 2 : 1) || t.dt == DT_BOOL)
			return -1;
	}
	a4 = in->attr[0] == TILE_FMT_E2M1;
	b4 = in->attr[1] == TILE_FMT_E2M1;
	s.M = a.shape[0] * (a4 && !in->attr[3] ? 2 : 1);
	s.K = a.shape[1] * (a4 && in->attr[3] ? 2 : 1);
	s.N = b.shape[1] * (b4 && !in->attr[4] ? 2 : 1);
	if (s.M != d.shape[0] || s.N != d.shape[1] || s.K != b.shape[0] * (b4 && in->attr[4] ? 2 : 1))
		return -1;
	/* Sources 0 to 2 are the operands and the accumulator; the scales follow, that of A first. */
	next = 3;
	for (int k = 0; k < 2; k++) {
		struct tile_type t;

		if (!(in->attr[2] >> k & 1))
			continue;
		t = code->regs[tile_src(in, next)];
		if (t.ndim != 2 || t.ptr || dtype_size(t.dt) != 1 || t.dt == DT_BOOL ||
		    t.shape[0] != (k ? s.N : s.M) || t.shape[1] > s.K)
			return -1;
		*(k ? &s.b_scale : &s.a_scale) = next++;
		*(k ? &s.b_group : &s.a_group) = s.K / t.shape[1];
	}
	if (out)
		*out = s;
	return 0;
}
