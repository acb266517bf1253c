/* The estimates of resource.h: one walk over verified tile code; nothing runs.
 *
 * Invariant: an estimate is never above what Triton's compiler uses, so that a refusal is
 * certain. */
#include "tile/estimate/resource.h"

/* --- where values come from ------------------------------------------------------------------------ */

/* For each instruction the innermost loop around it (0: none), for each register the instruction
 * that writes it first. */
struct walk {
	const struct tile_code *code;
	const struct tile_func *f;
	int *loop;
	int *maker;                 /* by register; -1: an argument */
	/* By loop: 1 + its num_stages, as TOP_LOOP has it; 0: not pipelined (a `while`, or an outer loop). */
	int *stages;
	unsigned char *branch;      /* by instruction: it is inside an if of its loop */
};

static int walk_init(struct walk *w, const struct tile_code *code)
{
	struct { int loop, branch; } *stack;
	int n, loops, depth;

	*w = (struct walk){ .code = code, .f = &code->funcs[0] };
	n = w->f->n_insns;
	loops = 0;
	depth = 0;
	w->loop = mem_array((size_t)n + 1, sizeof *w->loop);
	w->maker = mem_array((size_t)code->n_regs + 1, sizeof *w->maker);
	stack = mem_array((size_t)n + 1, sizeof *stack);
	w->stages = mem_array((size_t)n + 2, sizeof *w->stages);
	w->branch = mem_array((size_t)n + 1, 1);
	if (!w->loop || !w->maker || !w->stages || !w->branch || !stack) {
		mem_free(stack);
		return -1;
	}
	memset(w->maker, -1, (size_t)code->n_regs * sizeof *w->maker);
	/* Finds the innermost loop of each instruction, and whether an if inside that loop contains it.
	 * Triton pipelines only innermost loops (an outer one loses its stages here) and no load in an if. */
	for (int i = 0, now = 0, branch = 0; i < n; i++) {
		const struct tile_insn *in = &w->f->insns[i];
		if (in->op == TOP_BLOCK || in->op == TOP_LOOP || in->op == TOP_IF) {
			stack[depth].loop = now;
			stack[depth++].branch = branch;
			branch |= in->op == TOP_IF;
			if (in->op == TOP_LOOP) {
				w->stages[now] = 0;
				now = ++loops;
				w->stages[now] = in->attr[0];
				branch = 0;
			}
		} else if (in->op == TOP_END && depth) {
			now = stack[--depth].loop;
			branch = stack[depth].branch;
		}
		w->loop[i] = now;
		w->branch[i] = (unsigned char)branch;
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
	mem_free(w->stages);
	mem_free(w->branch);
}

/* The load that an operand comes from, through conversions and transpositions; -1: it comes from
 * something else. */
static int load_behind(const struct walk *w, tile_reg r)
{
	for (int steps = 0; steps < 16; steps++) {
		int i = w->maker[r];
		const struct tile_insn *in;

		if (i < 0)
			return -1;
		in = &w->f->insns[i];
		switch (in->op) {
		case TOP_LOAD: return i;
		case TOP_CAST: case TOP_BITCAST: case TOP_PERMUTE: case TOP_RESHAPE: case TOP_MOV:
			r = tile_src(in, 0); break;
		default: return -1;
		}
	}
	return -1;
}

static int64_t bytes_of(const struct tile_code *code, tile_reg r)
{
	return tile_numel(code->regs[r]) * tile_elem_size(code->regs[r]);
}

/* Whether the dot goes to Hopper's asynchronous matrix units. They take tiles of 64 rows by
 * groups of four warps, and no fp32 that must stay fp32. */
static int is_async(const struct walk *w, const struct tile_insn *dot, const struct tile_launch *l, int capability)
{
	struct tile_type a = w->code->regs[tile_src(dot, 0)], d = w->code->regs[tile_dst(dot, 0)];
	if (capability < 90 || l->num_warps % 4 || d.ndim != 2 || d.shape[0] % 64 || d.shape[1] % 8 || a.dt == DT_F64)
		return 0;
	return a.dt != DT_F32 || dot->attr[0] != TILE_PREC_IEEE;
}

/* Buffers for what the loop loads for the dot at `at`: one for each stage in flight, without the
 * stage in use. The asynchronous units also read the stage in use from its buffer. num_stages=3
 * takes 2 buffers, on the asynchronous units 3. */
static int buffers_of(const struct walk *w, int at, const struct tile_launch *l, int capability)
{
	int own = w->stages[w->loop[at]], stages = own > 1 ? own - 1 : l->num_stages;
	const struct tile_insn *dot = &w->f->insns[at];
	if (!own || w->branch[at])
		return 1;
	return MAX(is_async(w, dot, l, capability) ? stages : stages - 1, 1);
}

/* Shared memory of operands. Looping: buffers of a pipelined loop. Lasting: loaded before the
 * loop and kept. Passing: needed until the dot only, so that others may reuse the memory.
 * Operands that are computed stay in registers where possible and count nothing, so that a
 * refusal is certain. */
struct needs { int64_t looping, lasting, passing; };

/* Each load counts once, even if several dots use it. */
static void add_operand(const struct walk *w, int at, tile_reg r, int buffers, unsigned char *counted, struct needs *n)
{
	int load = load_behind(w, r);
	int64_t bytes;
	int same_loop, pipelined;

	if (load < 0 || counted[load])
		return;
	counted[load] = 1;
	bytes = bytes_of(w->code, tile_dst(&w->f->insns[load], 0));
	same_loop = w->loop[load] == w->loop[at];
	pipelined = same_loop && w->loop[at] && w->stages[w->loop[at]] && !w->branch[load] && !w->branch[at];
	if (pipelined)
		n->looping += buffers * bytes;
	else if (same_loop)
		n->passing += bytes;
	else
		n->lasting += bytes;
}

/* Pipelined loops contain no other loops. They run one after another and reuse the same memory. */
static int64_t shared_bytes(const struct walk *w, const struct tile_launch *l, int capability)
{
	unsigned char *counted = mem_zalloc((size_t)w->f->n_insns + 1);
	struct needs all = { 0, 0, 0 };
	int64_t here = 0;

	for (int i = 0, loop = 0; counted && i < w->f->n_insns; i++) {
		const struct tile_insn *in = &w->f->insns[i];
		struct needs one = { 0, 0, 0 };
		int buffers;

		if (in->op != TOP_DOT && in->op != TOP_DOT_SCALED)
			continue;
		buffers = buffers_of(w, i, l, capability);
		add_operand(w, i, tile_src(in, 0), buffers, counted, &one);
		add_operand(w, i, tile_src(in, 1), buffers, counted, &one);
		here = one.looping + (w->loop[i] == loop ? here : 0);
		loop = w->loop[i];
		all.looping = MAX(all.looping, here);
		all.lasting += one.lasting;
		all.passing = MAX(all.passing, one.passing);
	}
	mem_free(counted);
	return all.looping + all.lasting + all.passing;
}

/* Warps along a dimension of a tile as Triton lays it out: threads first, then warps, along the
 * last dimension as far as it goes. The other warps lie along the dimension before it. */
static int64_t warps_along(struct tile_type t, int axis, int64_t warps)
{
	int last = t.ndim - 1;
	int64_t along_last = MAX(1, MIN(warps, t.shape[last] / 32));
	return axis == last ? along_last : axis == last - 1 ? MAX(1, MIN(warps / along_last, t.shape[axis])) : 1;
}

/* --- scans: warps pass on their partial results through shared memory ------------------------------- */

/* How a value changes along the last dimension of its tile: not at all, by one from lane to lane, or in a way that is
 * not known. */
enum along { ALONG_CONSTANT, ALONG_BY_ONE, ALONG_UNKNOWN };

static enum along along_last(const struct walk *w, tile_reg r, int steps)
{
	const struct tile_insn *in = w->maker[r] >= 0 ? &w->f->insns[w->maker[r]] : NULL;
	struct tile_type t = w->code->regs[r];
	enum along a, b;

	if (!t.ndim || t.shape[t.ndim - 1] == 1)
		return ALONG_CONSTANT;
	if (!in || steps == 0)
		return ALONG_UNKNOWN;
	switch (in->op) {
	case TOP_ARANGE: return t.ndim == 1 ? ALONG_BY_ONE : ALONG_UNKNOWN;
	case TOP_CONST: case TOP_SPLAT: return ALONG_CONSTANT;
	case TOP_EXPAND_DIMS: case TOP_BROADCAST: case TOP_CAST: case TOP_MOV:
		return along_last(w, tile_src(in, 0), steps - 1);
	case TOP_ADD: case TOP_ADDPTR: case TOP_MUL:
		a = along_last(w, tile_src(in, 0), steps - 1);
		b = along_last(w, tile_src(in, 1), steps - 1);
		/* a sum of two changing values, or a product with one, changes by another step */
		return (in->op == TOP_MUL ? a || b : a && b) ? ALONG_UNKNOWN : MAX(a, b);
	default: return ALONG_UNKNOWN;
	}
}

/* Whether Triton knows that every pointer is aligned to 16 bytes and every integer is a multiple of 16 (or 1). */
static int all_aligned(const struct tile_launch *l)
{
	for (size_t i = 0; i < l->n_args; i++) {
		const struct tile_val *a = &l->args[i];

		if ((a->kind == TILE_V_INT && !a->is_constexpr && a->i % 16 && a->i != 1) ||
		    (a->kind == TILE_V_TENSOR && a->t.offset * dtype_size(a->t.dt) % 16))
			return 0;
	}
	return 1;
}

/* The load that an elementwise value is made of, through first operands; NULL: there is another origin. */
static const struct tile_insn *loaded_as(const struct walk *w, tile_reg r)
{
	for (int steps = 0; steps < 16 && w->maker[r] >= 0; steps++) {
		const struct tile_insn *in = &w->f->insns[w->maker[r]];

		if (in->op == TOP_LOAD)
			return in;
		if (in->n_src < 1 || !(tile_op_info((enum tile_op)in->op)->flags & TOF_L) ||
		    !tile_same_shape(w->code->regs[r], w->code->regs[tile_src(in, 0)]))
			return NULL;
		r = tile_src(in, 0);
	}
	return NULL;
}

/* The scratch of a scan over a tile of two dimensions in the layout of a contiguous load: each thread has v lanes of a
 * row, 32 threads lie along the row first, then warps. Warps that share the scanned axis exchange one element for each
 * thread's part: 128 x 512 fp32 along axis 0 with 8 warps has 2 warps there and takes 262144 bytes. */
static int64_t scan_bytes(const struct walk *w, const struct tile_insn *in, const struct tile_launch *l)
{
	struct tile_type t = w->code->regs[tile_src(in, 0)];
	const struct tile_insn *load = loaded_as(w, tile_src(in, 0));
	int64_t m, n, v, row_threads, threads, row_warps, warps;

	if (t.ndim != 2 || !load || !all_aligned(l) || along_last(w, tile_src(load, 0), 16) != ALONG_BY_ONE)
		return 0;
	m = t.shape[0];
	n = t.shape[1];
	v = MIN(16 / dtype_size((enum dtype)w->code->regs[tile_dst(load, 0)].dt), n);
	v = MAX(MIN(v, m * n / (32 * (int64_t)l->num_warps)), 1);
	row_threads = MIN(32, n / v);
	threads = MIN(32 / row_threads, m);
	row_warps = MIN((int64_t)l->num_warps, MAX(n / (v * row_threads), 1));
	warps = MIN(l->num_warps / row_warps, MAX(m / threads, 1));
	if (in->imm == 0)
		return warps > 1 ? bytes_of(w->code, tile_src(in, 0)) / threads : 0;
	return row_warps > 1 ? bytes_of(w->code, tile_src(in, 0)) / (v * row_threads) : 0;
}

/* Shared memory in which warps exchange partial results of a reduction, lanes of a sort, or a
 * transposed tile on its way to memory. */
static int64_t exchange_bytes(const struct walk *w, const struct tile_insn *in, int64_t warps)
{
	tile_reg r;
	struct tile_type t;
	int64_t bytes;

	if (in->op != TOP_REDUCE && in->op != TOP_SORT && in->op != TOP_TOPK && in->op != TOP_STORE)
		return 0;
	r = tile_src(in, in->op == TOP_STORE);
	t = w->code->regs[r];
	bytes = bytes_of(w->code, r);
	if (in->op == TOP_REDUCE && t.ndim)
		return bytes / t.shape[in->imm] * (t.ndim == 1 ? warps : warps_along(t, (int)in->imm, warps));
	if (in->op == TOP_SORT || in->op == TOP_TOPK)
		return bytes;
	if (in->op == TOP_STORE && w->maker[r] >= 0 && w->f->insns[w->maker[r]].op == TOP_PERMUTE)
		return bytes;
	return 0;
}

static int64_t most_exchanged(const struct walk *w, const struct tile_launch *l)
{
	int64_t most = 0;
	for (int i = 0; i < w->f->n_insns && l->num_warps > 1; i++) {
		const struct tile_insn *in = &w->f->insns[i];
		int64_t bytes = in->op == TOP_SCAN ? scan_bytes(w, in, l) : exchange_bytes(w, in, l->num_warps);

		most = MAX(most, bytes);
	}
	return most;
}

/* Tiles that a loop carries from iteration to iteration are live in all of it: an accumulator of
 * 128 x 128 fp32 takes 65536 bytes, 128 registers for each of 128 threads. */
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
		out->shared_bytes = MAX(shared_bytes(&w, l, capability), most_exchanged(&w, l));
		out->register_bytes = register_bytes(&w);
		out->registers = (int)MIN(out->register_bytes / 4 / (32 * (int64_t)MAX(l->num_warps, 1)), INT32_MAX);
	}
	walk_release(&w);
}

/* --- launches ---------------------------------------------------------------------------------------- */

/* CUDA's limits of a grid. */
static int check_grid(const struct tile_launch *l, struct diag *d)
{
	static const int64_t most[3] = { 2147483647, 65535, 65535 };
	for (int i = 0; i < 3; i++)
		if (l->grid[i] < 0 || l->grid[i] > most[i])
			return diag_set(d, REASON_bad_grid, l->line, l->col,
					"the grid has %lld program instances along axis %d; CUDA allows 0 to %lld",
					(long long)l->grid[i], i, (long long)most[i]);
	return 0;
}

static int check_warps(const struct tile_launch *l, struct diag *d)
{
	int n = l->num_warps;
	if (n < 1 || (n & (n - 1)))
		return diag_set(d, REASON_bad_grid, l->line, l->col, "num_warps must be a power of 2, not %d", n);
	if (n > 32)
		return diag_set(d, REASON_out_of_resources, l->line, l->col,
				"out of resource: threads, Required: %d, Hardware limit: 1024.", 32 * n);
	return 0;
}

/* Whether Triton's back end fails on the operation when an instance is spread over several
 * blocks. */
static int needs_one_block(const struct tile_code *code, const struct tile_insn *in)
{
	return in->op == TOP_SCAN || in->op == TOP_SORT || in->op == TOP_TOPK ||
		(in->op == TOP_REDUCE && code->regs[tile_src(in, 0)].ndim == 1);
}

static int check_ctas(const struct tile_code *code, const struct tile_launch *l, const struct tile_gpu *gpu,
		      struct diag *d)
{
	int n = l->num_ctas;
	if (n == 1)
		return 0;
	if (n < 1 || (n & (n - 1)) || n > 16)
		return diag_set(d, REASON_bad_grid, l->line, l->col,
				"num_ctas must be a power of 2 up to 16, not %d", n);
	if (gpu->capability < 90)
		return diag_set(d, REASON_bad_grid, l->line, l->col, "num_ctas > 1 needs a GPU of capability 9.0");
	for (int i = 0; i < code->funcs[0].n_insns; i++)
		if (needs_one_block(code, &code->funcs[0].insns[i]))
			return diag_set(d, REASON_bad_grid, l->line, l->col,
					"num_ctas = %d: Triton does not compile a %s over several blocks", n,
					tile_op_info(code->funcs[0].insns[i].op)->name);
	return 0;
}

/* A maxnreg that is too small or too large is adjusted by the assembler; 0 is an error in PTX. */
static int check_registers(const struct tile_launch *l, struct diag *d)
{
	return l->no_registers && diag_set(d, REASON_out_of_resources, l->line, l->col,
					   "PTXAS error: Positive non-zero value expected for maxnreg");
}

/* A tensor descriptor that the kernel itself makes needs memory from the host's allocator. */
static int check_allocator(const struct tile_code *code, const struct tile_launch *l,
			   const struct tile_gpu *gpu, struct diag *d)
{
	int makes = 0;
	for (int i = 0; i < code->funcs[0].n_insns; i++)
		makes |= code->funcs[0].insns[i].op == TOP_ALIGNED;
	if (!makes || l->allocator || gpu->capability < 90)
		return 0;
	diag_set(d, REASON_block_pointer, l->line, l->col,
		 "Kernel requires a runtime memory allocation, but no allocator was set. "
		 "Use triton.set_allocator to specify an allocator.");
	diag_hint(d, "tl.make_tensor_descriptor needs it; host-side TensorDescriptor arguments do not");
	return 1;
}

int resource_check(const struct tile_code *code, const struct tile_launch *l, const struct tile_gpu *gpu,
		   struct diag *d)
{
	struct resources r;
	if (check_grid(l, d) || check_warps(l, d) || check_ctas(code, l, gpu, d) || check_registers(l, d) ||
	    check_allocator(code, l, gpu, d))
		return 1;
	resource_estimate(code, l, gpu->capability, &r);
	if (r.shared_bytes <= gpu->shared_bytes)
		return 0;
	diag_set(d, REASON_out_of_resources, l->line, l->col,
		 "out of resource: shared memory, Required: %lld, Hardware limit: %lld. "
		 "Reducing block sizes or `num_stages` may help.", (long long)r.shared_bytes,
		 (long long)gpu->shared_bytes);
	diag_hint(d, "smaller tiles, or num_stages=%d", MAX(l->num_stages - 1, 1));
	return 1;
}

/* Whether a bool only decides when a loop ends. */
static int ends_loop(const struct tile_func *f, tile_reg r)
{
	for (int i = 0; i < f->n_insns; i++)
		if (f->insns[i].op == TOP_BR_IF && tile_src(&f->insns[i], 0) == r)
			return 1;
	return 0;
}

int resource_tests(const struct tile_code *code)
{
	const struct tile_func *f = &code->funcs[0];

	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		struct tile_type t = in->op >= TOP_EQ && in->op <= TOP_GE ? code->regs[tile_src(in, 0)] :
			(struct tile_type){ .ndim = 1 };

		if (!t.ndim && !t.ptr && !dtype_is_float((enum dtype)t.dt) && !ends_loop(f, tile_dst(in, 0)))
			return 1;
	}
	return 0;
}

int resource_left_out(const struct diag *d)
{
	return d->reason == REASON_out_of_resources || d->reason == REASON_static_assert;
}
