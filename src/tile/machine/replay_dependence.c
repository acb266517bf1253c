/* Finds what of a kernel depends on the contents of memory.
 *
 * A register does if any instruction that writes it does, wherever that instruction stands. This
 * is enough because branches that depend on contents rule a replay out (forbids). */
#include "tile/machine/replay.h"

#include "tile/machine/decode_role.h"

static int is_memory(int op)
{
	return op == TOP_LOAD || op == TOP_STORE;
}

static int is_atomic(int op)
{
	return op == TOP_ATOMIC || op == TOP_CAS;
}

/* Operands that say where an access goes: the pointer and the mask. */
static int is_where(const struct tile_insn *in, int k)
{
	int mask = in->op == TOP_LOAD ? 1 : in->op == TOP_CAS ? -1 : 2;
	return (is_memory(in->op) || is_atomic(in->op)) && (k == 0 || k == mask);
}

/* Whether the result of an instruction depends on contents: it reads memory, or a source that
 * does. */
static int of_contents(const struct tile_insn *in, const uint8_t *roles)
{
	int any = in->op == TOP_LOAD || in->op == TOP_UNDEF || is_atomic(in->op);
	for (int k = 0; k < in->n_src; k++)
		any |= roles[tile_src(in, k)] == REPLAY_CONTENTS;
	return any;
}

/* Marks registers until nothing changes: loops carry contents back. */
static void spread(const struct tile_func *f, uint8_t *roles)
{
	for (int more = 1; more;) {
		more = 0;
		for (int i = 0; i < f->n_insns; i++) {
			const struct tile_insn *in = &f->insns[i];
			if (!in->n_dst || !of_contents(in, roles))
				continue;
			for (int k = 0; k < in->n_dst; k++) {
				more |= roles[tile_dst(in, k)] != REPLAY_CONTENTS;
				roles[tile_dst(in, k)] = REPLAY_CONTENTS;
			}
		}
	}
}

/* Whether the instruction makes a pointer from an integer, or tests an address. Addresses differ
 * from run to run. */
static int depends_on_address(const struct tile_code *c, const struct tile_insn *in)
{
	int casts = in->op == TOP_CAST || in->op == TOP_BITCAST, hints = in->op == TOP_HINT || in->op == TOP_ALIGNED;
	int ptr = in->n_src && c->regs[tile_src(in, 0)].ptr;
	return tile_looks_at_address(c, in) || (casts && !ptr && c->regs[tile_dst(in, 0)].ptr) || (hints && ptr);
}

/* Whether a replay cannot do this instruction: a branch, an address or a mask that depends on
 * contents; effects other than stores; faults that only contents decide. */
static int forbids(const struct tile_code *c, const struct tile_insn *in, const uint8_t *roles)
{
	int flags = tile_op_info(in->op)->flags, bad = 0;
	switch (in->op) {
	case TOP_ATOMIC: case TOP_CAS: case TOP_PRINT:
		return 1;
	case TOP_CONST: case TOP_UNDEF:
		return c->regs[tile_dst(in, 0)].ptr;
	}
	for (int k = 0; k < in->n_src; k++) {
		int contents = roles[tile_src(in, k)] == REPLAY_CONTENTS;
		if (is_where(in, k) || (flags & TOF_C) || (in->op != TOP_STORE && in->op != TOP_MAP && (flags & TOF_S)))
			bad |= contents;
		/* A recorded value is kept without its tensor, so it must not be a pointer. */
		else if (c->regs[tile_src(in, k)].ptr)
			bad |= of_contents(in, roles) || is_memory(in->op);
	}
	return bad || depends_on_address(c, in);
}

static int may_replay(const struct tile_code *c, const struct tile_decoded *decoded, const uint8_t *roles)
{
	const struct tile_func *f = &c->funcs[0];
	for (int i = 0; i < c->n_funcs; i++)
		if (decoded->divergent[i])
			return 0;
	for (int i = 0; i < f->n_insns; i++)
		if (forbids(c, &f->insns[i], roles))
			return 0;
	return 1;
}

/* Whether a branch, an address or a mask depends on contents. If so, the kernel is checked in every
 * run (checked_launches.h). */
static int goes_by_contents(const struct tile_func *f, const uint8_t *roles)
{
	int any = 0;
	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		for (int k = 0; k < in->n_src; k++)
			any |= (is_where(in, k) || tile_op_info(in->op)->flags & TOF_C) &&
				roles[tile_src(in, k)] == REPLAY_CONTENTS;
	}
	return any;
}

/* Finds the registers that do not depend on contents and hold their value from the beginning of
 * every instance to its end. */
static void find_kept(const struct tile_code *c, const int *role, uint8_t *roles)
{
	const struct tile_func *f = &c->funcs[0];
	for (int i = 0; i < c->n_params; i++)
		if (roles[c->params[i].reg] == REPLAY_FIXED)
			roles[c->params[i].reg] = REPLAY_KEPT;
	for (int i = 0; i < f->n_insns; i++)
		for (int k = 0; k < f->insns[i].n_dst; k++) {
			uint8_t *r = &roles[tile_dst(&f->insns[i], k)];
			if (*r != REPLAY_CONTENTS)
				*r = role[i] == ROLE_PROLOGUE ? REPLAY_KEPT : REPLAY_FIXED;
		}
}

/* Counts reads (out) and writes of each register up to 2. */
static void find_passed_on(const struct tile_func *f, uint8_t *out, uint8_t *writes)
{
	enum { MANY = 2 };
	for (int i = 0; i < f->n_insns; i++) {
		for (int k = 0; k < f->insns[i].n_dst; k++)
			writes[tile_dst(&f->insns[i], k)] = (uint8_t)MIN(writes[tile_dst(&f->insns[i], k)] + 1, MANY);
		for (int k = 0; k < f->insns[i].n_src; k++)
			out[tile_src(&f->insns[i], k)] = (uint8_t)MIN(out[tile_src(&f->insns[i], k)] + 1, MANY);
	}
}

int replay_dependence(struct tile_code *c, struct tile_decoded *decoded, struct decoded_insn *p, const int *role,
		struct err *e)
{
	const struct tile_func *f = &c->funcs[0];
	uint8_t *roles = arena_array(&c->mem, (size_t)c->n_regs + 1, 1), *writes = arena_array(&c->mem,
			(size_t)c->n_regs + 1, 1);
	decoded->passed_on = arena_array(&c->mem, (size_t)c->n_regs + 1, 1);
	if (!roles || !writes || !decoded->passed_on)
		return err_nomem(e);
	decoded->replay_roles = roles;
	find_passed_on(f, decoded->passed_on, writes);
	for (int i = 0; i < c->n_regs; i++)
		decoded->passed_on[i] = decoded->passed_on[i] == 1 && writes[i] == 1;
	spread(f, roles);
	decoded->replayable = may_replay(c, decoded, roles);
	decoded->by_contents = goes_by_contents(f, roles);
	find_kept(c, role, roles);
	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		p[i].replayed = in->op == TOP_STORE || (in->n_dst && roles[tile_dst(in, 0)] == REPLAY_CONTENTS);
	}
	return 0;
}
