/* The verifier: nesting, ownership of registers by functions, assignment before use. Does not own
 * the typing rules of the operations: verifier_rule.c has them.
 *
 * Invariant: code that passes cannot make the machine read an unset register, jump outside its
 * function, or run an operation on types that it does not implement. */
#include "tile/code/verifier.h"

/* Limits that keep the memory of the verifier small. Real kernels stay far below both. */
enum { MAX_NEST = 200, MAX_REGS = 1 << 18 };

/* The set of registers that are assigned on every path to a point, one bit each. Code after a `br`
 * or `ret` is unreachable: its set contains every register. */
typedef uint64_t *regset;

/* A construct that is open at the current instruction. */
struct nest {
	uint16_t op;                /* BLOCK, LOOP, IF, or ELSE for the second branch of an IF */
	regset entry;               /* the set where the construct begins */
	regset exit;                /* intersection of the sets of all jumps to its end */
};

/* The state of the walk over one function after another. */
struct verifier {
	const struct tile_code *code;
	const struct tile_func *fn;
	int fn_index;
	struct err *e;
	size_t words;               /* 64-bit words in a regset */
	regset now;                 /* the set at the current instruction */
	int *owner;                 /* by register: the function that uses it, or -1 */
	struct nest *stack;
	int depth;
	struct arena mem;
};

/* Reports an error at an instruction; `in` is NULL for errors of the whole function. */
static int fail(struct verifier *v, const struct tile_insn *in, const char *what)
{
	const struct tile_loc *l = in && in->loc >= 0 && in->loc < v->code->n_locs ? &v->code->locs[in->loc] : NULL;
	return err_set_at(v->e, ERR_STATE, l ? l->line : 0, l ? l->col : 0,
			  "tile code of '%.*s', function %d, instruction %d (%s): %s",
		STR_ARG(v->code->name), v->fn_index, in ? (int)(in - v->fn->insns) : -1,
		in && in->op < TILE_OPS ? tile_op_info(in->op)->name : "?", what);
}

static void set_fill(struct verifier *v, regset s) { memset(s, 0xff, v->words * 8); }
static void set_copy(struct verifier *v, regset d, regset s) { memcpy(d, s, v->words * 8); }
/* The intersection: where two paths join, a register counts as assigned only if both paths assign
 * it. */
static void set_meet(struct verifier *v, regset d, regset s)
{
	for (size_t i = 0; i < v->words; i++)
		d[i] &= s[i];
}

/* Checks that a register exists and that no other function uses it. */
static int own(struct verifier *v, const struct tile_insn *in, tile_reg r)
{
	if (r >= (tile_reg)v->code->n_regs)
		return fail(v, in, "no such register");
	if (v->owner[r] >= 0 && v->owner[r] != v->fn_index)
		return fail(v, in, "a register of another function");
	v->owner[r] = v->fn_index;
	return 0;
}

/* Sources must be assigned. A result may be one of the sources only where the machine can work in
 * place: elementwise operations, addptr, and the accumulator of a dot. */
static int check_uses(struct verifier *v, const struct tile_insn *in)
{
	for (int k = 0; k < in->n_src; k++) {
		tile_reg r = tile_src(in, k);
		if (own(v, in, r))
			return -1;
		if (!(v->now[r / 64] >> (r % 64) & 1))
			return fail(v, in, "a register is used before it is assigned");
	}
	for (int k = 0; k < in->n_dst; k++) {
		tile_reg r = tile_dst(in, k);
		if (own(v, in, r))
			return -1;
		for (int j = 0; j < k; j++)
			if (tile_dst(in, j) == r)
				return fail(v, in, "two results in one register");
		if (!(tile_op_info(in->op)->flags & TOF_L) && in->op != TOP_ADDPTR)
			for (int j = 0; j < in->n_src; j++)
				if (tile_src(in, j) == r && !(in->op == TOP_DOT && j == 2))
					return fail(v, in, "a result that is also a source");
	}
	return 0;
}

/* Adds the results of an instruction to the set. */
static void assign(struct verifier *v, const struct tile_insn *in)
{
	for (int k = 0; k < in->n_dst; k++)
		v->now[tile_dst(in, k) / 64] |= (uint64_t)1 << (tile_dst(in, k) % 64);
}

/* Checks what holds for every operation: operand counts, location, rounding mode, and that combine
 * and map functions contain only elementwise operations and control flow. */
static int check_counts(struct verifier *v, const struct tile_insn *in)
{
	const struct tile_op_info *info;

	if (in->op >= TILE_OPS)
		return fail(v, in, "no such operation");
	info = tile_op_info(in->op);
	if ((info->n_dst >= 0 && in->n_dst != info->n_dst) || in->n_src < info->src_min ||
	    (info->src_max >= 0 && in->n_src > info->src_max))
		return fail(v, in, "wrong number of operands");
	if (in->loc < 0 || in->loc >= v->code->n_locs)
		return fail(v, in, "no such source location");
	if (in->rounding > TILE_RU || (in->rounding && !(info->flags & TOF_R)))
		return fail(v, in, "a rounding mode that the operation does not know");
	if (v->fn_index && !(info->flags & (TOF_L | TOF_C)))
		return fail(v, in, "not allowed in a combine or map function");
	return 0;
}

/* Enters a block, loop or if. */
static int push(struct verifier *v, const struct tile_insn *in)
{
	struct nest *f;

	if (v->depth == MAX_NEST)
		return fail(v, in, "nested too deeply");
	f = &v->stack[v->depth++];
	f->op = in->op;
	f->entry = arena_alloc(&v->mem, v->words * 8);
	f->exit = arena_alloc(&v->mem, v->words * 8);
	if (!f->entry || !f->exit)
		return err_nomem(v->e);
	set_copy(v, f->entry, v->now);
	set_fill(v, f->exit);
	return 0;
}

/* The first branch of an if jumps to the end; the second starts with the set at the condition. */
static int do_else(struct verifier *v, const struct tile_insn *in)
{
	struct nest *f = v->depth ? &v->stack[v->depth - 1] : NULL;
	if (!f || f->op != TOP_IF)
		return fail(v, in, "else without if");
	set_meet(v, f->exit, v->now);
	set_copy(v, v->now, f->entry);
	f->op = TOP_ELSE;
	return 0;
}

/* Leaves a construct: after it, a register is assigned if every path to its end assigns it. */
static int do_end(struct verifier *v, const struct tile_insn *in)
{
	struct nest *f;

	if (!v->depth)
		return fail(v, in, "end of nothing");
	f = &v->stack[--v->depth];
	if (f->op == TOP_IF)                    /* no else: the condition may skip the whole body */
		set_meet(v, f->exit, f->entry);
	if (f->op != TOP_LOOP)                  /* branches to a loop go to its start */
		set_meet(v, v->now, f->exit);
	return 0;
}

/* A branch joins the end of the construct it leaves. After an unconditional branch nothing is
 * reachable. */
static int do_branch(struct verifier *v, const struct tile_insn *in)
{
	if (in->imm < 0 || in->imm >= v->depth)
		return fail(v, in, "branch to nowhere");
	set_meet(v, v->stack[v->depth - 1 - in->imm].exit, v->now);
	if (in->op == TOP_BR)
		set_fill(v, v->now);
	return 0;
}

/* The results of a function must be assigned wherever it returns. */
static int check_results(struct verifier *v, const struct tile_insn *in)
{
	for (int i = 0; i < v->fn->n_results; i++) {
		tile_reg r = v->fn->results[i];
		if (own(v, in, r))
			return -1;
		if (!(v->now[r / 64] >> (r % 64) & 1))
			return fail(v, in, "a result is not assigned on every path");
	}
	return 0;
}

/* Control flow: the condition is a scalar bool; each operation updates the nesting and the set. */
static int control(struct verifier *v, const struct tile_insn *in)
{
	if (in->n_src) {
		struct tile_type t = v->code->regs[tile_src(in, 0)];
		if (!tile_type_eq(t, tile_scalar(DT_BOOL)))
			return fail(v, in, "the condition is not a scalar i1");
	}
	switch (in->op) {
	case TOP_IF: case TOP_BLOCK: case TOP_LOOP: return push(v, in);
	case TOP_ELSE: return do_else(v, in);
	case TOP_END: return do_end(v, in);
	case TOP_BR: case TOP_BR_IF: return do_branch(v, in);
	}
	if (check_results(v, in))               /* RET */
		return -1;
	set_fill(v, v->now);
	return 0;
}

/* Parameters are scalars, and those of combine and map functions are no pointers. */
static int check_params(struct verifier *v)
{
	int n = v->fn_index ? v->fn->n_params : v->code->n_params;
	for (int i = 0; i < n; i++) {
		tile_reg r = v->fn_index ? v->fn->params[i] : v->code->params[i].reg;
		struct tile_type t;

		if (own(v, NULL, r))
			return -1;
		t = v->code->regs[r];
		if (t.ndim || (v->fn_index && t.ptr))
			return fail(v, NULL, "a parameter that is not a scalar");
		v->now[r / 64] |= (uint64_t)1 << (r % 64);
	}
	return 0;
}

/* Checks one function. */
static int verify_func(struct verifier *v, int index)
{
	v->fn_index = index;
	v->fn = &v->code->funcs[index];
	v->depth = 0;
	memset(v->now, 0, v->words * 8);
	if (check_params(v))
		return -1;
	for (int i = 0; i < v->fn->n_insns; i++) {
		const struct tile_insn *in = &v->fn->insns[i];
		const char *wrong;

		if (check_counts(v, in) || check_uses(v, in))
			return -1;
		if (tile_op_info(in->op)->flags & TOF_C) {
			if (control(v, in))
				return -1;
			continue;
		}
		wrong = tile_verify_rule(v->code, in);
		if (wrong)
			return fail(v, in, wrong);
		assign(v, in);
	}
	if (v->depth)
		return fail(v, NULL, "a construct is not ended");
	return check_results(v, NULL);
}

/* Dimensions are powers of two and the tile is not too large: the machine allocates by these
 * numbers. */
static int check_type(struct tile_type t)
{
	int64_t numel = 1;
	if (t.dt >= DTYPES || t.ptr > 1 || t.ndim > TILE_DIMS)
		return -1;
	for (int i = 0; i < t.ndim; i++) {
		if (t.shape[i] < 1 || (t.shape[i] & (t.shape[i] - 1)) || (numel *= t.shape[i]) > TILE_MAX_NUMEL)
			return -1;
	}
	return 0;
}

/* The kernel is checked last, so that a register it shares with a function is reported in the
 * kernel. */
int tile_verify(const struct tile_code *code, struct err *e)
{
	struct verifier v = { .code = code, .e = e, .mem = ARENA_INIT };
	int rc = -1;
	if (code->n_regs > MAX_REGS)
		return err_set(e, ERR_RANGE, "tile code of '%.*s' has %d registers", STR_ARG(code->name), code->n_regs);
	for (int i = 0; i < code->n_regs; i++)
		if (check_type(code->regs[i]))
			return err_set(e, ERR_STATE, "tile code of '%.*s': register %d has no legal type",
				       STR_ARG(code->name), i);
	v.words = ((size_t)code->n_regs + 63) / 64 + 1;
	v.now = arena_zalloc(&v.mem, v.words * 8);
	v.owner = arena_array(&v.mem, (size_t)code->n_regs + 1, sizeof *v.owner);
	v.stack = arena_array(&v.mem, MAX_NEST, sizeof *v.stack);
	if (!v.now || !v.owner || !v.stack) {
		err_nomem(e);
		goto out;
	}
	for (int i = 0; i < code->n_regs; i++)
		v.owner[i] = -1;
	for (int f = code->n_funcs - 1; f >= 0; f--)
		if (verify_func(&v, f))
			goto out;
	rc = 0;
out:
	arena_release(&v.mem);
	return rc;
}
