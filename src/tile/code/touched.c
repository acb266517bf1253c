/* Finds the tensors that a kernel reads and writes. The analysis follows pointers from the
 * parameters through the registers of the kernel and does not run it. */
#include "tile/code/touched.h"

/* The arguments that a pointer may point into, one bit each. All bits set: it may point anywhere. */
struct origin { uint64_t bit[2]; };

static const struct origin anywhere = { { UINT64_MAX, UINT64_MAX } };

/* Adds the origins `from`. Returns whether `into` changed. */
static int merge(struct origin *into, const struct origin *from)
{
	uint64_t a = into->bit[0] | from->bit[0], b = into->bit[1] | from->bit[1];
	int changed = a != into->bit[0] || b != into->bit[1];
	into->bit[0] = a, into->bit[1] = b;
	return changed;
}

/* Whether a pointer result comes from memory or from integers, so that no argument is its origin. */
static int is_made(const struct tile_code *code, const struct tile_insn *in)
{
	for (int s = 0; in->op != TOP_LOAD && s < in->n_src; s++)
		if (tile_src(in, s) != TILE_NO_REG && code->regs[tile_src(in, s)].ptr)
			return 0;
	return 1;
}

/* One pass of the data flow: each pointer result gets the origins of all pointer sources. A
 * loop-carried pointer needs several passes; the caller repeats until nothing changes. */
static int spread(const struct tile_code *code, struct origin *o)
{
	int changed = 0;
	const struct tile_func *f = &code->funcs[0];
	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		for (int k = 0; k < in->n_dst; k++) {
			if (!code->regs[tile_dst(in, k)].ptr)
				continue;
			if (is_made(code, in))
				changed |= merge(&o[tile_dst(in, k)], &anywhere);
			for (int s = 0; s < in->n_src; s++)
				if (tile_src(in, s) != TILE_NO_REG)
					changed |= merge(&o[tile_dst(in, k)], &o[tile_src(in, s)]);
		}
	}
	return changed;
}

/* First the origins of all pointers, then one pass over the loads, stores and atomics of the
 * kernel. */
int resource_touched(const struct tile_code *code, struct touched *out, struct err *e)
{
	int loops, depth;
	struct origin *o;
	unsigned char is_loop[256];
	const struct tile_func *f;

	*out = (struct touched){ .read = { 0 } };
	o = mem_array((size_t)code->n_regs + 1, sizeof *o);
	if (!o)
		return err_nomem(e);
	for (int i = 0; i < code->n_params; i++)
		if (code->params[i].arg < TOUCHED_MOST)
			o[code->params[i].reg].bit[code->params[i].arg / 64] |= 1ull << (code->params[i].arg % 64);
	while (spread(code, o))
		;
	/* Pointers are not followed into combine and map functions: an access there may touch any tensor. */
	for (int n = 1; n < code->n_funcs; n++)
		for (int i = 0; i < code->funcs[n].n_insns; i++) {
			enum tile_op op = code->funcs[n].insns[i].op;
			if (op == TOP_LOAD || op == TOP_ATOMIC || op == TOP_CAS)
				memset(out->read, 0xff, sizeof out->read);
			if (op == TOP_STORE || op == TOP_ATOMIC || op == TOP_CAS) {
				memset(out->written, 0xff, sizeof out->written);
				memset(out->again, 0xff, sizeof out->again);
			}
		}
	/* `loops` counts the loops around the current instruction. */
	loops = 0;
	depth = 0;
	/* is_loop: for each enclosing construct, whether it is a loop; depths above 255 wrap around. */
	f = &code->funcs[0];
	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		int reads, writes;

		if (in->op == TOP_BLOCK || in->op == TOP_LOOP || in->op == TOP_IF) {
			is_loop[depth % 256] = in->op == TOP_LOOP;
			loops += in->op == TOP_LOOP;
			depth++;
		} else if (in->op == TOP_END) {
			depth--;
			loops -= is_loop[depth % 256];
		}
		/* An atomic reads and writes. */
		reads = in->op == TOP_LOAD || in->op == TOP_ATOMIC || in->op == TOP_CAS;
		writes = in->op == TOP_STORE || in->op == TOP_ATOMIC || in->op == TOP_CAS;
		for (int k = 0; k < 2; k++) {
			uint64_t through = reads || writes ? o[tile_src(in, 0)].bit[k] : 0;
			out->read[k] |= reads ? through : 0;
			out->again[k] |= !writes ? 0 : loops ? through : through & out->written[k];
			out->written[k] |= writes ? through : 0;
		}
	}
	mem_free(o);
	return 0;
}
