/* Three passes over each function:
 *
 *   1. `t = op ..; ...; mov acc, t` becomes `acc = op ..` where nothing between reads or writes acc:
 *      accumulators are then updated in place instead of being copied in each iteration.
 *   2. Operations without an effect whose results are never read are removed.
 *   3. Operations in a loop whose operands do not change in it move in front of the loop.
 *
 * The code was verified before and is verified again after. */
#include "tile/code/build_opt.h"

/* How often each register is read and written. A parameter counts as one write, a result as one
 * read. */
struct uses {
	int32_t *reads, *writes;    /* per register, over all functions */
};

/* Whether the operation and all registers exist. The passes index arrays by both. */
static int in_range(const struct tile_code *c, const struct tile_insn *in)
{
	if (in->op >= TILE_OPS)
		return 0;
	for (int k = 0; k < in->n_dst + in->n_src; k++)
		if (in->r[k] >= (tile_reg)c->n_regs)
			return 0;
	return 1;
}

/* Returns -1 if some register does not exist; the caller then leaves the code to the verifier. */
static int count_uses(const struct tile_code *c, struct uses *u)
{
	for (int f = 0; f < c->n_funcs; f++) {
		const struct tile_func *fn = &c->funcs[f];
		for (int i = 0; i < fn->n_insns; i++) {
			if (!in_range(c, &fn->insns[i]))
				return -1;
			for (int k = 0; k < fn->insns[i].n_dst; k++)
				u->writes[tile_dst(&fn->insns[i], k)]++;
			for (int k = 0; k < fn->insns[i].n_src; k++)
				u->reads[tile_src(&fn->insns[i], k)]++;
		}
		for (int k = 0; k < fn->n_params; k++) {
			if (fn->params[k] >= (tile_reg)c->n_regs)
				return -1;
			u->writes[fn->params[k]]++;
		}
		for (int k = 0; k < fn->n_results; k++) {
			if (fn->results[k] >= (tile_reg)c->n_regs)
				return -1;
			u->reads[fn->results[k]]++;
		}
	}
	for (int i = 0; i < c->n_params; i++)
		u->writes[c->params[i].reg]++;
	return 0;
}

static int mentions(const struct tile_insn *in, tile_reg r)
{
	for (int k = 0; k < in->n_dst + in->n_src; k++)
		if (in->r[k] == r)
			return 1;
	return 0;
}

/* Whether `in` may write its result over its source `r`. Elementwise operations may: lane i of the
 * result needs lane i of the sources only. A dot may write over its accumulator, its third source. */
static int in_place(const struct tile_insn *in, tile_reg r)
{
	if ((tile_op_info(in->op)->flags & TOF_L) || in->op == TOP_ADDPTR)
		return 1;
	for (int k = 0; k < in->n_src; k++)
		if (tile_src(in, k) == r && !(in->op == TOP_DOT && k == 2))
			return 0;
	return 1;
}

/* The index of the instruction that computes t, if `mov acc, t` at index `at` can be folded into
 * it, else -1. Control flow between the two prevents it, and so does any use of acc or t. */
static int maker_of(const struct tile_func *f, int at, tile_reg t, tile_reg acc)
{
	for (int i = at - 1; i >= 0; i--) {
		const struct tile_insn *in = &f->insns[i];
		if (tile_op_info(in->op)->flags & TOF_C)
			return -1;
		if (in->n_dst == 1 && tile_dst(in, 0) == t)
			return in_place(in, acc) ? i : -1;
		if (mentions(in, acc) || mentions(in, t))
			return -1;
	}
	return -1;
}

/* Pass 1. The front end emits `t = add acc, x; mov acc, t` for `acc += x`; this leaves `acc = add
 * acc, x`. */
static void fold_movs(struct tile_code *c, struct tile_func *f, struct uses *u, unsigned char *dead)
{
	for (int i = 0; i < f->n_insns; i++) {
		struct tile_insn *in = &f->insns[i];
		int made;
		tile_reg acc, t;

		if (in->op != TOP_MOV || in->n_dst != 1 || in->n_src != 1)
			continue;
		acc = tile_dst(in, 0);
		t = tile_src(in, 0);
		if (acc == t || u->reads[t] != 1 || u->writes[t] != 1 || !tile_type_eq(c->regs[acc], c->regs[t]))
			continue;
		made = maker_of(f, i, t, acc);
		if (made < 0 || dead[made])
			continue;
		f->insns[made].r[0] = acc;
		dead[i] = 1;
	}
}

/* Whether the operation may be dropped if nothing reads its result. A load may not: it can fault. */
static int is_pure(const struct tile_insn *in)
{
	return in->n_dst && !(tile_op_info(in->op)->flags & (TOF_C | TOF_S)) && in->op != TOP_LOAD;
}

/* Pass 2, backwards, so that a chain of unused operations is removed in one pass. */
static void drop_unused(struct tile_func *f, struct uses *u, unsigned char *dead)
{
	for (int i = f->n_insns - 1; i >= 0; i--) {
		struct tile_insn *in = &f->insns[i];
		int read = 0;
		if (dead[i] || !is_pure(in))
			continue;
		for (int k = 0; k < in->n_dst; k++)
			read |= u->reads[tile_dst(in, k)] != 0;
		if (read)
			continue;
		for (int k = 0; k < in->n_src; k++)
			u->reads[tile_src(in, k)]--;
		dead[i] = 1;
	}
}

/* Removes the instructions that are marked dead. */
static void compact(struct tile_func *f, const unsigned char *dead)
{
	int n = 0;
	for (int i = 0; i < f->n_insns; i++)
		if (!dead[i])
			f->insns[n++] = f->insns[i];
	f->n_insns = n;
}

/* --- loops ------------------------------------------------------------------------- */

/* The index after the `end` of the construct that opens at `open`. */
static int loop_end(const struct tile_func *f, int open)
{
	int depth = 0, i = open;
	do {
		int op = f->insns[i].op;
		depth += (op == TOP_LOOP || op == TOP_IF || op == TOP_BLOCK) - (op == TOP_END);
		i++;
	} while (depth && i < f->n_insns);
	return i;
}

/* Whether an instruction may move in front of its loop: pure, assigned once, and no source is
 * written in the loop. `inside` marks the registers that the loop writes; a moved instruction
 * unmarks its result. */
static int may_leave(const struct tile_insn *in, const struct uses *u, const unsigned char *inside)
{
	if (!tile_op_is_pure(in->op) || in->n_dst != 1 || u->writes[tile_dst(in, 0)] != 1 || in->op == TOP_MOV)
		return 0;
	for (int k = 0; k < in->n_src; k++)
		if (inside[tile_src(in, k)])
			return 0;
	return 1;
}

/* Moves the invariant instructions of the loop at `open` in front of it and keeps the order of both
 * parts. `room` holds the instructions that stay. `left` is the nesting depth at which a `br` or
 * `ret` made the rest unreachable: unreachable code may read registers that nothing assigns, so it
 * must not move. */
static void empty_loop(struct tile_func *f, int open, const struct uses *u, unsigned char *inside,
		       int n_regs, struct tile_insn *room)
{
	int end = loop_end(f, open), moved = 0, kept = 0, depth = 0, left = -1;
	memset(inside, 0, (size_t)n_regs);
	for (int i = open; i < end; i++)
		for (int k = 0; k < f->insns[i].n_dst; k++)
			inside[tile_dst(&f->insns[i], k)] = 1;
	for (int i = open; i < end; i++) {
		struct tile_insn *in = &f->insns[i];
		depth += in->op == TOP_LOOP || in->op == TOP_IF || in->op == TOP_BLOCK;
		if ((in->op == TOP_END || in->op == TOP_ELSE) && depth == left)
			left = -1;
		depth -= in->op == TOP_END;
		if ((in->op == TOP_BR || in->op == TOP_RET) && left < 0)
			left = depth;
		if (left >= 0 || !may_leave(in, u, inside)) {
			room[kept++] = *in;
			continue;
		}
		inside[tile_dst(in, 0)] = 0;
		f->insns[open + moved++] = *in;         /* open + moved <= i: nothing unread is overwritten */
	}
	memcpy(f->insns + open + moved, room, (size_t)kept * sizeof *room);
}

/* Pass 3. Inner loops first, so that an instruction that leaves one may leave the next one too. */
static void empty_loops(struct tile_func *f, const struct uses *u, unsigned char *inside, int n_regs,
			struct tile_insn *room)
{
	for (int i = f->n_insns - 1; i >= 0; i--)
		if (f->insns[i].op == TOP_LOOP)
			empty_loop(f, i, u, inside, n_regs, room);
}

/* After unrolling: operations of an inner loop may have become invariant. */
int tile_build_hoist(const struct tile_code *c, struct tile_func *f, struct err *e)
{
	struct arena tmp = ARENA_INIT;
	struct uses u = {
		.reads = arena_array(&tmp, (size_t)c->n_regs + 1, sizeof *u.reads),
		.writes = arena_array(&tmp, (size_t)c->n_regs + 1, sizeof *u.writes),
	};
	struct tile_insn *room = arena_array(&tmp, (size_t)f->n_insns + 1, sizeof *room);
	unsigned char *inside = arena_array(&tmp, (size_t)c->n_regs + 1, 1),
		*dead = arena_array(&tmp, (size_t)f->n_insns + 1, 1);
	int rc = u.reads && u.writes && room && inside && dead ? 0 : err_nomem(e);

	if (!rc && !count_uses(c, &u)) {
		drop_unused(f, &u, dead);
		compact(f, dead);
		empty_loops(f, &u, inside, c->n_regs, room);
	}
	arena_release(&tmp);
	return rc;
}

/* Runs the three passes over every function. */
int tile_build_optimise(struct tile_code *c, struct err *e)
{
	struct arena tmp = ARENA_INIT;
	struct uses u = {
		.reads = arena_array(&tmp, (size_t)c->n_regs + 1, sizeof *u.reads),
		.writes = arena_array(&tmp, (size_t)c->n_regs + 1, sizeof *u.writes),
	};
	int rc = 0;
	if (!u.reads || !u.writes)
		rc = err_nomem(e);
	for (int f = 0; !rc && f < c->n_funcs; f++) {
		unsigned char *dead = arena_array(&tmp, (size_t)c->funcs[f].n_insns + 1, 1);
		struct tile_insn *room;
		unsigned char *inside;

		if (!dead) {
			rc = err_nomem(e);
			break;
		}
		memset(u.reads, 0, (size_t)c->n_regs * sizeof *u.reads);
		memset(u.writes, 0, (size_t)c->n_regs * sizeof *u.writes);
		if (count_uses(c, &u))
			break;
		fold_movs(c, &c->funcs[f], &u, dead);
		memset(u.reads, 0, (size_t)c->n_regs * sizeof *u.reads);
		memset(u.writes, 0, (size_t)c->n_regs * sizeof *u.writes);
		compact(&c->funcs[f], dead);
		memset(dead, 0, (size_t)c->funcs[f].n_insns);
		if (count_uses(c, &u))
			break;
		/* Counted again, because folding has removed reads. */
		drop_unused(&c->funcs[f], &u, dead);
		compact(&c->funcs[f], dead);
		room = arena_array(&tmp, (size_t)c->funcs[f].n_insns + 1, sizeof *room);
		inside = arena_array(&tmp, (size_t)c->n_regs + 1, 1);
		if (!room || !inside)
			rc = err_nomem(e);
		else
			empty_loops(&c->funcs[f], &u, inside, c->n_regs, room);
	}
	arena_release(&tmp);
	return rc;
}
