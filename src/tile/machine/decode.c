/* Prepares verified code for the machine: how each instruction is executed, where jumps go and
 * what an instruction costs. decode_slot.c assigns slots, decode_role.c moves work out of the
 * kernel, replay_dependence.c finds what depends on memory.
 *
 * Invariant: decoding never changes what a kernel computes; it only moves work. */
#include "tile/machine/decode.h"

#include "tile/machine/decode_role.h"
#include "tile/machine/decode_slot.h"
#include "tile/machine/machine.h"
#include "tile/machine/math_table.h"
#include "tile/machine/replay.h"
#include "tile/machine/checked_launches.h"
#include "tile/code/dot_scaled.h"
#include "tile/code/unroll.h"

/* --- how each rule is executed ----------------------------------------------------------- */

#define RULE_CTL NULL
#define RULE_NULLARY exec_nullary
#define RULE_ARANGE exec_arange
#define RULE_PROGRAM exec_program
#define RULE_MOV exec_mov
#define RULE_SPLAT exec_splat
#define RULE_BROADCAST exec_broadcast
#define RULE_EXPAND exec_expand
#define RULE_RESHAPE exec_reshape
#define RULE_PERMUTE exec_permute
#define RULE_JOIN exec_join
#define RULE_SPLIT exec_split
#define RULE_CAT exec_cat
#define RULE_SAME_SHAPE exec_flip
#define RULE_GATHER exec_gather
#define RULE_HISTOGRAM exec_histogram
#define RULE_SORT exec_sort
#define RULE_TOPK exec_topk
#define RULE_CAST exec_cast
#define RULE_BITCAST exec_bitcast
#define RULE_ARITH1 exec_elem1
#define RULE_ARITH2 exec_elem2
#define RULE_ARITH3 exec_elem3
#define RULE_INT1 exec_elem1
#define RULE_INT2 exec_elem2
#define RULE_INT3 exec_elem3
#define RULE_FLOAT1 exec_elem1
#define RULE_FLOAT2 exec_elem2
#define RULE_FLOAT3 exec_elem3
#define RULE_FLOAT4 exec_norm4d
#define RULE_SELECT exec_select
#define RULE_COMPARE exec_elem2
#define RULE_FLOAT_TO_INT exec_float_to_int
#define RULE_FLOAT_INT exec_elem2
#define RULE_INT_FLOAT exec_elem2
#define RULE_BITS64 exec_elem1
#define RULE_HILO exec_elem2
#define RULE_INT_COUNT exec_elem1
#define RULE_SAD exec_elem3
#define RULE_ADDPTR exec_addptr
#define RULE_LOAD exec_load
#define RULE_STORE exec_store
#define RULE_ATOMIC exec_atomic
#define RULE_CAS exec_cas
#define RULE_ALIGNED exec_aligned
#define RULE_BARRIER exec_barrier
#define RULE_HINT exec_hint
#define RULE_ASSUME exec_assume
#define RULE_DOT exec_dot
#define RULE_DOT_SCALED exec_dot_scaled
#define RULE_REDUCE exec_reduce
#define RULE_SCAN exec_scan
#define RULE_MAP exec_map
#define RULE_ASSERT exec_assert
#define RULE_PRINT exec_print

static exec_fn *const exec_table[TILE_OPS] = {
#define TILEOP(id, name, rule, d, smin, smax, cost, flags) [TOP_##id] = RULE_##rule,
#include "tile/code/tileop.def"
#undef TILEOP
};

/* Floats that kernels compute in fp32 and round after each operation. */
static int is_narrow(struct tile_type t)
{
	return !t.ptr && dtype_is_float(t.dt) && t.dt != DT_F32 && t.dt != DT_F64;
}

/* --- kernels ------------------------------------------------------------------------- */

/* The elementwise operation that a builtin reduction or scan applies to two lanes. */
static const enum tile_op combine_op[TILE_COMBINES] = {
	[TILE_SUM] = TOP_ADD, [TILE_PROD] = TOP_MUL, [TILE_MAX] = TOP_MAX, [TILE_MIN] = TOP_MIN,
	[TILE_MAX_NAN] = TOP_MAX_NAN,
	[TILE_MIN_NAN] = TOP_MIN_NAN, [TILE_AND] = TOP_AND, [TILE_OR] = TOP_OR, [TILE_XOR] = TOP_XOR,
};

static int needs_kernel(exec_fn *f)
{
	return f == exec_elem1 || f == exec_elem2 || f == exec_elem3 || f == exec_float_to_int;
}

/* The type that picks the kernel: of the first operand, or of the second for jn(n, x) and yn(n,
 * x), whose first is the order. Pointers count as int64. */
static struct tile_type kernel_type(const struct tile_code *c, const struct tile_insn *in)
{
	struct tile_type t = c->regs[tile_src(in, in->op == TOP_JN || in->op == TOP_YN ? 1 : 0)];
	if (t.ptr)
		t = (struct tile_type){ .dt = DT_I64 };
	return t;
}

/* Finds the elementwise kernel, also for reductions and scans with a builtin combiner. Argmax,
 * argmin and custom functions have none. Returns -1 if the operation is not defined for the type. */
static int pick_kernel(const struct tile_code *c, const struct tile_insn *in, struct decoded_insn *p)
{
	enum dtype dt;
	struct tile_type t;
	enum tile_op op;
	int folded;

	if (in->op == TOP_SELECT) {
		p->kernel = tile_kernel_select(tile_elem_size(c->regs[tile_dst(in, 0)]));
		return 0;
	}
	op = in->op;
	folded = in->op == TOP_REDUCE || in->op == TOP_SCAN;
	if (folded) {
		if (in->attr[0] == TILE_CUSTOM || (in->attr[0] >= TILE_ARGMAX && in->attr[0] <= TILE_ARGMIN_FAST))
			return 0;
		op = combine_op[in->attr[0]];
	} else if (!needs_kernel(p->exec)) {
		return 0;
	}
	t = kernel_type(c, in);
	p->narrow = (uint8_t)is_narrow(t);
	p->spread = p->exec == exec_elem3 || (p->exec == exec_elem2 && (in->op == TOP_JN || in->op == TOP_YN));
	dt = p->narrow ? DT_F32 : (enum dtype)t.dt;
	p->kernel = in->rounding && dtype_is_float(dt) ?
		tile_kernel_rounded(op, dt, (enum tile_round)in->rounding) : tile_kernel_for(op, dt);
	return p->kernel ? 0 : -1;
}

/* --- cost ------------------------------------------------------------------------- */

#define COUNTER(field) (uint8_t)(offsetof(struct tile_cost, field) / sizeof(int64_t))

/* Returns the counter of tile_cost that an arithmetic operation belongs to. */
static uint8_t arith_counter(struct tile_type t, enum tile_op_cost k)
{
	if (k == TOC_SPECIAL)
		return COUNTER(ops_special);
	if (t.ptr || !dtype_is_float(t.dt))
		return COUNTER(ops_int);
	return t.dt == DT_F64 ? COUNTER(ops_f64) : t.dt == DT_F32 ? COUNTER(ops_f32) : COUNTER(ops_f16);
}

/* Operations of a matrix product: 2 * M * N * K, times the number of products of the emulated
 * precisions. tf32x3 takes 3 products, bf16x6 takes 6. [64, 32] x [32, 64] in fp16 is 262144. */
static void dot_cost(const struct tile_code *c, const struct tile_insn *in, struct decoded_insn *p)
{
	struct tile_type a = c->regs[tile_src(in, 0)], d = c->regs[tile_dst(in, 0)];
	int64_t k = a.shape[a.ndim - 1], terms[] = { 1, 1, 3, 3, 6 };
	if (in->op == TOP_DOT_SCALED) {
		struct dot_scaled s;
		tile_dot_scaled_shape(c, in, &s);
		k = s.K;
		p->counter = COUNTER(dot_f8);
	} else if (!dtype_is_float(a.dt)) {
		p->counter = COUNTER(dot_int8);
	} else if (a.dt == DT_F64) {
		p->counter = COUNTER(dot_f64);
	} else if (a.dt == DT_F32) {
		p->counter = in->attr[0] == TILE_PREC_IEEE ? COUNTER(dot_f32) : COUNTER(dot_tf32);
		k *= terms[in->attr[0]];
	} else {
		p->counter = dtype_size(a.dt) == 1 ? COUNTER(dot_f8) : COUNTER(dot_f16);
	}
	p->lanes = (int32_t)MIN(2 * k * tile_numel(d), INT32_MAX);
}

/* Fuel and cost counters. A tile of 4096 lanes takes 5 units of fuel; a product takes one more
 * for each 16384 operations. */
static void set_cost(const struct tile_code *c, const struct tile_insn *in, struct decoded_insn *p)
{
	enum tile_op_cost k = tile_op_info(in->op)->cost;
	int64_t lanes = 1;
	for (int i = 0; i < in->n_dst + in->n_src; i++)
		lanes = MAX(lanes, tile_numel(c->regs[in->r[i]]));
	p->counter = 0xff;
	p->lanes = (int32_t)lanes;
	p->fuel = (int32_t)(1 + (lanes >> 10));
	if (k == TOC_DOT) {
		dot_cost(c, in, p);
		p->fuel = 1 + (p->lanes >> 14);
	} else if ((k == TOC_ARITH || k == TOC_SPECIAL) && in->n_src) {
		p->counter = arith_counter(c->regs[tile_src(in, in->op == TOP_SELECT ? 1 : 0)], k);
	}
}

/* --- poison ------------------------------------------------------------------------- */

/* Elementwise operations carry poison lane by lane. All others set it in their exec function. */
static uint8_t poison_rule_of(const struct tile_code *c, const struct tile_insn *in)
{
	int flags = tile_op_info(in->op)->flags;
	struct tile_type t;

	if (in->op == TOP_CONST || in->op == TOP_UNDEF || in->op == TOP_MOV)
		return POISON_OWN;
	if (in->op == TOP_ADDPTR)
		return POISON_LANES;
	if (!(flags & TOF_L))
		return POISON_OWN;
	t = c->regs[tile_dst(in, 0)];
	if (in->op == TOP_SELECT)
		return POISON_SELECT;
	if (t.dt == DT_BOOL && (in->op == TOP_AND || in->op == TOP_OR))
		return in->op == TOP_AND ? POISON_AND : POISON_OR;
	if ((in->op == TOP_DIV || in->op == TOP_REM) && !dtype_is_float(t.dt) && t.dt != DT_BOOL)
		return POISON_INT_DIV;
	return POISON_LANES;
}

/* --- barriers ------------------------------------------------------------------------- */

/* Whether any instruction of the function reads register r. */
static int is_read(const struct tile_func *f, tile_reg r)
{
	for (int i = 0; i < f->n_insns; i++)
		for (int k = 0; k < f->insns[i].n_src; k++)
			if (tile_src(&f->insns[i], k) == r)
				return 1;
	return 0;
}

/* Returns when Triton's compiler emits a barrier of the block: for values that cross warps,
 * products through shared memory, and the result of a scalar atomic on its way from one thread to
 * all. A reduction of at most 32 lanes stays within one warp. */
static uint8_t barrier_of(const struct tile_code *c, const struct tile_func *f, const struct tile_insn *in)
{
	switch (in->op) {
	case TOP_BARRIER: case TOP_DOT: case TOP_DOT_SCALED: case TOP_HISTOGRAM:
		return SYNC_ALWAYS;
	case TOP_REDUCE: case TOP_SCAN: {
		struct tile_type t = c->regs[tile_src(in, 0)];
		return (t.ndim == 1 ? t.shape[0] : tile_numel(t)) > 32 ? SYNC_WARPS : SYNC_NONE;
	}
	case TOP_SORT: case TOP_TOPK: case TOP_GATHER:
		return tile_numel(c->regs[tile_src(in, 0)]) > 32 ? SYNC_WARPS : SYNC_NONE;
	case TOP_CAS:
		return c->regs[tile_src(in, 0)].ndim ? SYNC_NONE : SYNC_AROUND;
	case TOP_ATOMIC:
		return c->regs[tile_src(in, 0)].ndim || !is_read(f, tile_dst(in, 0)) ? SYNC_NONE : SYNC_ALWAYS;
	default:
		return SYNC_NONE;
	}
}

/* --- jumps ------------------------------------------------------------------------- */

/* Nested constructs; the verifier allows 200. */
enum { MAX_NEST = 256 };

/* Index just past the construct that begins at `open`; *other gets the index of its else, or -1. */
static int match_end(const struct tile_func *f, int open, int *other)
{
	int depth = 0;
	*other = -1;
	for (int i = open + 1; i < f->n_insns; i++) {
		switch (f->insns[i].op) {
		case TOP_IF: case TOP_LOOP: case TOP_BLOCK: depth++; break;
		case TOP_ELSE:
			if (!depth)
				*other = i;
			break;
		case TOP_END:
			if (!depth--)
				return i + 1;
		}
	}
	return f->n_insns;
}

/* Resolves structured control flow to instruction indices. A branch to a loop goes to its first
 * instruction (continue), a branch to a block goes past its end (break). `imm` counts enclosing
 * constructs from the innermost, as in WebAssembly. */
static void set_jumps(const struct tile_func *f, struct decoded_insn *p)
{
	struct { int open, end; } stack[MAX_NEST];
	int depth = 0, other;
	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		switch (in->op) {
		case TOP_IF: case TOP_LOOP: case TOP_BLOCK:
			stack[depth].open = i;
			stack[depth].end = match_end(f, i, &other);
			p[i].jump = other >= 0 ? other + 1 : stack[depth].end;
			depth++;
			break;
		case TOP_ELSE: p[i].jump = stack[depth - 1].end; break;
		case TOP_END: depth--; break;
		case TOP_BR: case TOP_BR_IF: {
			int k = depth - 1 - (int)in->imm;
			/* Continue a loop, or leave a block. */
			p[i].jump = f->insns[stack[k].open].op == TOP_LOOP ? stack[k].open + 1 : stack[k].end;
			break;
		}
		case TOP_RET: p[i].jump = f->n_insns; break;
		}
	}
}

/* --- integers that reach an address -------------------------------------------------------- */

/* Operations whose integer sources can end up in an address. */
static int passes_address(enum tile_op op)
{
	switch (op) {
	case TOP_ADD: case TOP_SUB: case TOP_MUL: case TOP_SHL: case TOP_DIV: case TOP_REM: case TOP_MOV:
		case TOP_SPLAT:
	case TOP_BROADCAST: case TOP_EXPAND_DIMS: case TOP_RESHAPE: case TOP_PERMUTE: case TOP_CAST:
		case TOP_MAX: case TOP_MIN:
	case TOP_SELECT:
		return 1;
	default:
		return 0;
	}
}

/* Marks the sources from `first` on. Returns 1 if one of them was new. */
static int mark_sources(const struct tile_insn *in, uint8_t *addr, int first)
{
	int more = 0;
	for (int k = first; k < in->n_src; k++) {
		more |= !addr[tile_src(in, k)];
		addr[tile_src(in, k)] = 1;
	}
	return more;
}

/* Marks int32 sums and products that reach an address, walking backwards from every addptr until
 * nothing changes (loops carry offsets back). offs = pid * BLOCK + arange is watched; an int32
 * counter that is only printed is not. */
static void set_watch(const struct tile_code *c, struct decoded_insn *p, uint8_t *addr)
{
	const struct tile_func *f = &c->funcs[0];
	for (int more = 1; more;) {
		more = 0;
		for (int i = f->n_insns - 1; i >= 0; i--) {
			const struct tile_insn *in = &f->insns[i];
			if (in->op == TOP_ADDPTR)
				more |= mark_sources(in, addr, 1);
			else if (in->n_dst == 1 && addr[tile_dst(in, 0)] && passes_address(in->op))
				more |= mark_sources(in, addr, in->op == TOP_SELECT);
		}
	}
	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		if (in->op != TOP_ADD && in->op != TOP_SUB && in->op != TOP_MUL && in->op != TOP_SHL)
			continue;
		p[i].watch = addr[tile_dst(in, 0)] && c->regs[tile_dst(in, 0)].dt == DT_I32;
	}
}

/* --- functions ------------------------------------------------------------------------ */

/* Finds the most lanes that each combine or map function is called with, and the room for its
 * arrays. */
static void size_calls(const struct tile_code *c, struct tile_decoded *decoded)
{
	const struct tile_func *f = &c->funcs[0];
	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		int calls = in->op == TOP_MAP || ((in->op == TOP_REDUCE || in->op == TOP_SCAN) &&
						  in->attr[0] == TILE_CUSTOM);
		int64_t levels, n;
		int operands;

		if (!calls)
			continue;
		n = tile_numel(c->regs[tile_src(in, 0)]);
		operands = in->op == TOP_MAP ? in->n_src + in->n_dst : in->n_src;
		decoded->func_lanes[in->attr[1]] = (int32_t)MAX(decoded->func_lanes[in->attr[1]], n);
		/* Scans keep every level of the recursion: 3 halves, 3 quarters, ... and the tile. */
		levels = in->op == TOP_SCAN ? 5 : 3;
		decoded->combine_bytes = MAX(decoded->combine_bytes, operands * (levels * n * 8 + 64 * 80));
	}
}

/* Functions with control flow: lanes may take different paths, so each lane runs separately. */
static void find_divergent(const struct tile_code *c, struct tile_decoded *decoded)
{
	for (int f = 1; f < c->n_funcs; f++)
		for (int i = 0; i < c->funcs[f].n_insns; i++)
			decoded->divergent[f] |= (tile_op_info(c->funcs[f].insns[i].op)->flags & TOF_C) != 0;
}

/* Decodes every instruction of a function, in the order of the code. */
static int decode_func(struct tile_code *c, struct tile_decoded *decoded, int index, struct err *e)
{
	const struct tile_func *f = &c->funcs[index];
	struct decoded_insn *p = arena_array(&c->mem, (size_t)f->n_insns + 1, sizeof *p);
	if (!p)
		return err_nomem(e);
	decoded->funcs[index] = (struct decoded_code){ .v = p, .n = f->n_insns };
	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		p[i].in = in;
		p[i].exec = exec_table[in->op];
		if (pick_kernel(c, in, &p[i]))
			return err_set(e, ERR_STATE, "tile code of '%.*s': %s is not defined for %s",
				       STR_ARG(c->name), tile_op_info(in->op)->name,
				dtype_info(c->regs[tile_src(in, 0)].dt)->triton);
		set_cost(c, in, &p[i]);
		p[i].poison = poison_rule_of(c, in);
		p[i].sync = barrier_of(c, f, in);
		decoded->has_atomics |= in->op == TOP_ATOMIC || in->op == TOP_CAS;
		decoded->has_prints |= in->op == TOP_PRINT;
	}
	set_jumps(f, p);
	return 0;
}

/* Takes the instructions that decode_roles moved elsewhere out of the kernel. Jumps still go to the
 * same instructions: new_index maps an old index to the next kept one. If instruction 1 of 0 1 2 3
 * is in the prologue, new_index is 0 1 1 2. */
static int gather_kernel(struct tile_code *c, struct tile_decoded *decoded, const int *role, struct err *e)
{
	struct decoded_code *code = &decoded->funcs[0];
	struct decoded_insn *old = code->v;
	int n = code->n, kept = 0;
	struct decoded_insn *now = arena_array(&c->mem, (size_t)n + 1, sizeof *now),
		*pro = arena_array(&c->mem, (size_t)n + 1, sizeof *pro);
	int *new_index = arena_array(&c->mem, (size_t)n + 2, sizeof *new_index);
	if (!now || !pro || !new_index)
		return err_nomem(e);
	for (int i = 0; i < n; i++) {
		new_index[i] = kept;
		kept += role[i] == ROLE_KEEP;
	}
	new_index[n] = kept;
	decoded->prologue = (struct decoded_code){ .v = pro };
	for (int i = 0; i < n; i++) {
		if (role[i] == ROLE_PROLOGUE) {
			pro[decoded->prologue.n++] = old[i];
		} else if (role[i] == ROLE_KEEP) {
			now[new_index[i]] = old[i];
			now[new_index[i]].jump = new_index[MIN(old[i].jump, n)];
		} else {
			old[role[i]].maker = &old[i];
			old[role[i]].exec = exec_store_fused;
		}
	}
	*code = (struct decoded_code){ .v = now, .n = kept };
	return 0;
}

/* The order matters: roles need decoded instructions, slots need roles, and gather_kernel comes
 * last because the others count in indices of the original code. */
static int decode_code(struct tile_code *c, struct err *e)
{
	struct tile_decoded *decoded = arena_zalloc(&c->mem, sizeof *decoded);
	size_t nf = (size_t)c->n_funcs, nr = (size_t)c->n_regs + 1;
	uint8_t *addr = arena_array(&c->mem, nr, 1);
	int *role = arena_array(&c->mem, (size_t)c->funcs[0].n_insns + 1, sizeof *role);
	if (!decoded || !addr || !role)
		return err_nomem(e);
	decoded->funcs = arena_array(&c->mem, nf, sizeof *decoded->funcs);
	decoded->func_lanes = arena_array(&c->mem, nf, sizeof *decoded->func_lanes);
	decoded->divergent = arena_array(&c->mem, nf, sizeof *decoded->divergent);
	decoded->first_reg = arena_array(&c->mem, nf, sizeof *decoded->first_reg);
	decoded->last_reg = arena_array(&c->mem, nf, sizeof *decoded->last_reg);
	if (!decoded->funcs || !decoded->func_lanes || !decoded->divergent || !decoded->first_reg || !decoded->last_reg)
		return err_nomem(e);
	for (int f = 0; f < c->n_funcs; f++)
		if (decode_func(c, decoded, f, e))
			return -1;
	decoded->mark = checked_code_hash(c);
	set_watch(c, decoded->funcs[0].v, addr);
	size_calls(c, decoded);
	find_divergent(c, decoded);
	if (decode_roles(c, decoded->funcs[0].v, role, e) || decode_slots(c, decoded, role, e) ||
	    replay_dependence(c, decoded, decoded->funcs[0].v, role, e) || gather_kernel(c, decoded, role, e))
		return -1;
	c->decoded = decoded;
	return 0;
}

/* Decoding works on unrolled loops; the code keeps its own functions for printing and analysis. */
int tile_decode(struct tile_code *c, struct err *e)
{
	struct tile_func *own = c->funcs;
	int rc = tile_unroll(c, e) || decode_code(c, e) ? -1 : 0;

	c->funcs = own;
	return rc;
}
