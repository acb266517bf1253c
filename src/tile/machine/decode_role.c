/* Moves work out of the kernel. Operations that do not depend on the program instance run once per
 * machine. An operation whose only reader is a store is done by that store, straight into memory.
 *
 * y = x * 2; tl.store(p, y) becomes one fused store: the product's result goes to the tensor's
 * memory without a stop in a slot. */
#include "tile/machine/decode_role.h"

#include "tile/machine/machine.h"

/* By register: how many instructions read and write it. Parameters count as one write. */
struct counts {
	int32_t *reads, *writes;
};

static void count(const struct tile_code *c, struct counts *n)
{
	const struct tile_func *f = &c->funcs[0];
	for (int i = 0; i < f->n_insns; i++) {
		for (int k = 0; k < f->insns[i].n_dst; k++)
			n->writes[tile_dst(&f->insns[i], k)]++;
		for (int k = 0; k < f->insns[i].n_src; k++)
			n->reads[tile_src(&f->insns[i], k)]++;
	}
	for (int i = 0; i < c->n_params; i++)
		n->writes[c->params[i].reg]++;
}

/* Finds instructions whose result is the same in every instance: pure, one write, and all sources
 * fixed. tl.arange(0, 128) is fixed; pid * 128 is not. Goes in code order, so that an instruction
 * sees the fixed registers before it. */
static void find_fixed(const struct tile_code *c, const struct counts *n, unsigned char *fixed, int *role)
{
	const struct tile_func *f = &c->funcs[0];
	for (int i = 0; i < c->n_params; i++)
		fixed[c->params[i].reg] = n->writes[c->params[i].reg] == 1;
	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		int ok = tile_op_is_pure(in->op) && in->op != TOP_PROGRAM_ID && in->n_dst == 1 &&
			n->writes[tile_dst(in, 0)] == 1;
		for (int k = 0; ok && k < in->n_src; k++)
			ok = fixed[tile_src(in, k)];
		if (!ok)
			continue;
		fixed[tile_dst(in, 0)] = 1;
		role[i] = ROLE_PROLOGUE;
	}
}

/* Whether `by` overwrites a source of `of`. */
static int writes_any_source(const struct tile_insn *by, const struct tile_insn *of)
{
	for (int k = 0; k < by->n_dst; k++)
		for (int j = 0; j < of->n_src; j++)
			if (tile_dst(by, k) == tile_src(of, j))
				return 1;
	return 0;
}

/* The elementwise instruction that computes the value of the store at `at`, if it can wait until
 * the store. It can if the store is the only reader, and between the two nothing branches, has an
 * effect, or overwrites a source. Returns its index, or -1. */
static int find_maker(const struct tile_code *c, const struct decoded_insn *p, const struct counts *n, int at)
{
	const struct tile_func *f = &c->funcs[0];
	tile_reg v = tile_src(&f->insns[at], 1);
	if (n->reads[v] != 1 || n->writes[v] != 1 || !c->regs[v].ndim || c->regs[v].dt == DT_BOOL)
		return -1;
	for (int i = at - 1; i >= 0; i--) {
		const struct tile_insn *in = &f->insns[i];
		int plain;

		if (in->n_dst != 1 || tile_dst(in, 0) != v)
			continue;
		plain = (p[i].exec == exec_elem1 || p[i].exec == exec_elem2 || p[i].exec == exec_select) &&
			!p[i].narrow;
		for (int j = i + 1; plain && j < at; j++)
			plain = !(tile_op_info(f->insns[j].op)->flags & (TOF_C | TOF_S)) &&
				!writes_any_source(&f->insns[j], in);
		return plain ? i : -1;
	}
	return -1;
}

int decode_roles(const struct tile_code *c, const struct decoded_insn *p, int *role, struct err *e)
{
	const struct tile_func *f = &c->funcs[0];
	struct arena tmp = ARENA_INIT;
	size_t nr = (size_t)c->n_regs + 1;
	struct counts n = { .reads = arena_array(&tmp, nr, sizeof *n.reads), .writes = arena_array(&tmp,
			nr, sizeof *n.writes) };
	unsigned char *fixed = arena_array(&tmp, nr, 1);
	int rc = 0;
	if (!n.reads || !n.writes || !fixed) {
		rc = err_nomem(e);
		goto out;
	}
	for (int i = 0; i < f->n_insns; i++)
		role[i] = ROLE_KEEP;
	count(c, &n);
	find_fixed(c, &n, fixed, role);
	for (int i = 0; i < f->n_insns; i++) {
		int made = f->insns[i].op == TOP_STORE ? find_maker(c, p, &n, i) : -1;
		if (made >= 0 && role[made] == ROLE_KEEP)
			role[made] = i;
	}
out:
	arena_release(&tmp);
	return rc;
}

int decode_may_borrow(const struct tile_code *c, int at, int first, int last)
{
	const struct tile_func *f = &c->funcs[0];
	struct tile_type t = c->regs[tile_dst(&f->insns[at], 0)];
	if (first != at || !t.ndim || t.dt == DT_BOOL)
		return 0;
	/* A second assignment to the register would overwrite the tensor. */
	for (int i = 0; i < f->n_insns; i++)
		for (int k = 0; k < f->insns[i].n_dst; k++)
			if (i != at && tile_dst(&f->insns[i], k) == tile_dst(&f->insns[at], 0))
				return 0;
	/* A fused store may overwrite exactly what it reads; any other effect in the lifetime forbids it. */
	for (int i = at + 1; i <= last && i < f->n_insns; i++)
		if ((tile_op_info(f->insns[i].op)->flags & TOF_S) && !(i == last && f->insns[i].op == TOP_STORE))
			return 0;
	return 1;
}
