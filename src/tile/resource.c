/* Owns the estimates of resource.h: one walk over verified tile code, nothing is run. */
#include "tile/resource.h"

/* --- where values come from ------------------------------------------------------------------------ */

/* For each instruction the innermost loop it is in (0: none), and for each register the
 * instruction that makes it first. */
struct walk {
	const struct tile_code *code;
	const struct tile_func *f;
	int *loop;
	int *maker;                 /* -1: an argument */
};

static int walk_init(struct walk *w, const struct tile_code *code)
{
	*w = (struct walk){ .code = code, .f = &code->funcs[0] };
	int n = w->f->n_insns, loops = 0, depth = 0;
	w->loop = mem_array((size_t)n + 1, sizeof *w->loop);
	w->maker = mem_array((size_t)code->n_regs + 1, sizeof *w->maker);
	int *stack = mem_array((size_t)n + 1, sizeof *stack);
	if (!w->loop || !w->maker || !stack) {
		mem_free(stack);
		return -1;
	}
	memset(w->maker, -1, (size_t)code->n_regs * sizeof *w->maker);
	for (int i = 0, now = 0; i < n; i++) {
		const struct tile_insn *in = &w->f->insns[i];
		if (in->op == TOP_BLOCK || in->op == TOP_LOOP || in->op == TOP_IF) {
			stack[depth++] = now;
			if (in->op == TOP_LOOP)
				now = ++loops;
		} else if (in->op == TOP_END && depth) {
			now = stack[--depth];
		}
		w->loop[i] = now;
		for (int k = 0; k < in->n_dst; k++)
			if (w->maker[tile_dst(in, k)] < 0)
				w->maker[tile_dst(in, k)] = i;
	}
	mem_free(stack);
	return 0;
}

static void walk_release(struct walk *w)
{
	mem_free(w->loop);
	mem_free(w->maker);
}

/* The load behind an operand, through conversions and transpositions; -1: something else. */
static int load_behind(const struct walk *w, tile_reg r)
{
	for (int steps = 0; steps < 16; steps++) {
		int i = w->maker[r];
		if (i < 0)
			return -1;
		const struct tile_insn *in = &w->f->insns[i];
		switch (in->op) {
		case TOP_LOAD: return i;
		case TOP_CAST: case TOP_BITCAST: case TOP_PERMUTE: case TOP_RESHAPE: case TOP_MOV: r = tile_src(in, 0); break;
		default: return -1;
		}
	}
	return -1;
}

static int64_t bytes_of(const struct tile_code *code, tile_reg r)
{
	return tile_numel(code->regs[r]) * tile_elem_size(code->regs[r]);
}

/* One operand of a dot: what it adds, unless it was counted before. What is loaded in the loop
 * is there once for each buffer, what is loaded before it once; what is computed stays in
 * registers where it can and adds nothing, so that a refusal is certain. */
static int64_t operand_bytes(const struct walk *w, int at, tile_reg r, int buffers, unsigned char *counted)
{
	int load = load_behind(w, r);
	if (load < 0 || counted[load])
		return 0;
	counted[load] = 1;
	int64_t bytes = bytes_of(w->code, tile_dst(&w->f->insns[load], 0));
	return w->loop[load] && w->loop[load] == w->loop[at] ? buffers * bytes : bytes;
}

static int64_t shared_bytes(const struct walk *w, int stages, int capability)
{
	/* Hopper's asynchronous matrix units read a buffer while the next is filled */
	int buffers = capability >= 90 ? MAX(stages, 1) : MAX(stages - 1, 1);
	unsigned char *counted = mem_zalloc((size_t)w->f->n_insns + 1);
	int64_t total = 0;
	for (int i = 0; counted && i < w->f->n_insns; i++) {
		const struct tile_insn *in = &w->f->insns[i];
		if (in->op != TOP_DOT && in->op != TOP_DOT_SCALED)
			continue;
		total += operand_bytes(w, i, tile_src(in, 0), buffers, counted);
		total += operand_bytes(w, i, tile_src(in, 1), buffers, counted);
	}
	mem_free(counted);
	return total;
}

/* Tiles that a loop moves into again are alive in all of it. */
static int64_t register_bytes(const struct walk *w)
{
	int64_t carried = 0, largest = 0;
	for (int i = 0; i < w->f->n_insns; i++) {
		const struct tile_insn *in = &w->f->insns[i];
		for (int k = 0; k < in->n_dst; k++) {
			tile_reg r = tile_dst(in, k);
			int64_t bytes = bytes_of(w->code, r);
			if (in->op == TOP_MOV && w->loop[i] && w->maker[r] < i && !w->loop[MAX(w->maker[r], 0)])
				carried += bytes;
			else
				largest = MAX(largest, bytes);
		}
	}
	return carried + largest;
}

void resource_estimate(const struct tile_code *code, const struct tile_launch *l, int capability, struct resources *out)
{
	struct walk w;
	*out = (struct resources){ 0 };
	if (!walk_init(&w, code)) {
		out->shared_bytes = shared_bytes(&w, l->num_stages, capability);
		out->register_bytes = register_bytes(&w);
		out->registers = (int)MIN(out->register_bytes / 4 / (32 * (int64_t)MAX(l->num_warps, 1)), INT32_MAX);
	}
	walk_release(&w);
}

/* --- launches ---------------------------------------------------------------------------------------- */

static int check_grid(const struct tile_launch *l, struct diag *d)
{
	static const int64_t most[3] = { 2147483647, 65535, 65535 };
	for (int i = 0; i < 3; i++)
		if (l->grid[i] < 0 || l->grid[i] > most[i])
			return diag_set(d, REASON_bad_grid, l->line, l->col, "the grid has %lld programs along axis %d; CUDA allows 0 to %lld",
					(long long)l->grid[i], i, (long long)most[i]);
	return 0;
}

static int check_warps(const struct tile_launch *l, struct diag *d)
{
	int n = l->num_warps;
	if (n < 1 || (n & (n - 1)))
		return diag_set(d, REASON_bad_grid, l->line, l->col, "num_warps must be a power of 2, not %d", n);
	if (n > 32)
		return diag_set(d, REASON_out_of_resources, l->line, l->col, "out of resource: threads, Required: %d, Hardware limit: 1024.", 32 * n);
	return 0;
}

/* Does the back end give up on the operation when a program is spread over several blocks? */
static int needs_one_block(const struct tile_code *code, const struct tile_insn *in)
{
	return in->op == TOP_SCAN || in->op == TOP_SORT || in->op == TOP_TOPK || (in->op == TOP_REDUCE && code->regs[tile_src(in, 0)].ndim == 1);
}

static int check_ctas(const struct tile_code *code, const struct tile_launch *l, const struct tile_gpu *gpu, struct diag *d)
{
	int n = l->num_ctas;
	if (n == 1)
		return 0;
	if (n < 1 || (n & (n - 1)) || n > 16)
		return diag_set(d, REASON_bad_grid, l->line, l->col, "num_ctas must be a power of 2 up to 16, not %d", n);
	if (gpu->capability < 90)
		return diag_set(d, REASON_bad_grid, l->line, l->col, "num_ctas > 1 needs a GPU of capability 9.0");
	for (int i = 0; i < code->funcs[0].n_insns; i++)
		if (needs_one_block(code, &code->funcs[0].insns[i]))
			return diag_set(d, REASON_bad_grid, l->line, l->col, "num_ctas = %d: Triton does not compile a %s over several blocks", n,
					tile_op_info(code->funcs[0].insns[i].op)->name);
	return 0;
}

/* A descriptor that the kernel makes lives in memory that the host must be able to give. */
static int check_allocator(const struct tile_code *code, const struct tile_launch *l, const struct tile_gpu *gpu, struct diag *d)
{
	int makes = 0;
	for (int i = 0; i < code->funcs[0].n_insns; i++)
		makes |= code->funcs[0].insns[i].op == TOP_ALIGNED;
	if (!makes || l->allocator || gpu->capability < 90)
		return 0;
	diag_set(d, REASON_block_pointer, l->line, l->col, "Kernel requires a runtime memory allocation, but no allocator was set. "
		 "Use triton.set_allocator to specify an allocator.");
	diag_hint(d, "tl.make_tensor_descriptor needs it; host-side TensorDescriptor arguments do not");
	return 1;
}

int resource_check(const struct tile_code *code, const struct tile_launch *l, const struct tile_gpu *gpu, struct diag *d)
{
	struct resources r;
	if (check_grid(l, d) || check_warps(l, d) || check_ctas(code, l, gpu, d) || check_allocator(code, l, gpu, d))
		return 1;
	resource_estimate(code, l, gpu->capability, &r);
	if (r.shared_bytes <= gpu->shared_bytes)
		return 0;
	diag_set(d, REASON_out_of_resources, l->line, l->col, "out of resource: shared memory, Required: %lld, Hardware limit: %lld. "
		 "Reducing block sizes or `num_stages` may help.", (long long)r.shared_bytes, (long long)gpu->shared_bytes);
	diag_hint(d, "smaller tiles, or num_stages=%d", MAX(l->num_stages - 1, 1));
	return 1;
}

int resource_left_out(const struct diag *d)
{
	return d->reason == REASON_out_of_resources || d->reason == REASON_static_assert;
}

/* --- arguments that are touched ------------------------------------------------------------------------ */

struct origin { uint64_t bit[2]; };

static int merge(struct origin *into, const struct origin *from)
{
	uint64_t a = into->bit[0] | from->bit[0], b = into->bit[1] | from->bit[1];
	int changed = a != into->bit[0] || b != into->bit[1];
	into->bit[0] = a, into->bit[1] = b;
	return changed;
}

/* Pointers flow from sources to results of any instruction that has pointer results. */
static int spread(const struct tile_code *code, struct origin *o)
{
	int changed = 0;
	const struct tile_func *f = &code->funcs[0];
	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		for (int k = 0; k < in->n_dst; k++)
			for (int s = 0; code->regs[tile_dst(in, k)].ptr && s < in->n_src; s++)
				if (tile_src(in, s) != TILE_NO_REG)
					changed |= merge(&o[tile_dst(in, k)], &o[tile_src(in, s)]);
	}
	return changed;
}

int resource_touched(const struct tile_code *code, struct touched *out, struct err *e)
{
	*out = (struct touched){ .read = { 0 } };
	struct origin *o = mem_array((size_t)code->n_regs + 1, sizeof *o);
	if (!o)
		return err_nomem(e);
	for (int i = 0; i < code->n_params; i++)
		if (code->params[i].arg < 128)
			o[code->params[i].reg].bit[code->params[i].arg / 64] |= 1ull << (code->params[i].arg % 64);
	while (spread(code, o))
		;
	/* What other functions do with pointers they are given is not followed: they may do it with any. */
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
	int loops = 0, depth = 0;
	unsigned char is_loop[256];         /* by construct around the instruction */
	const struct tile_func *f = &code->funcs[0];
	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		if (in->op == TOP_BLOCK || in->op == TOP_LOOP || in->op == TOP_IF) {
			is_loop[depth % 256] = in->op == TOP_LOOP;
			loops += in->op == TOP_LOOP;
			depth++;
		} else if (in->op == TOP_END) {
			depth--;
			loops -= is_loop[depth % 256];
		}
		int reads = in->op == TOP_LOAD || in->op == TOP_ATOMIC || in->op == TOP_CAS;
		int writes = in->op == TOP_STORE || in->op == TOP_ATOMIC || in->op == TOP_CAS;
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
