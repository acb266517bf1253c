/* Choosing instances of a launch: see pick.h. */
#include "verify/candidate/pick.h"

#include "base/rng.h"
#include "tile/machine/decode.h"
#include "tile/code/ir.h"

/* The instruction before `before` that writes the register; NULL: none does. */
static const struct tile_insn *writer_of(const struct tile_func *f, int before, tile_reg r)
{
	for (int i = before - 1; i >= 0; i--)
		for (int k = 0; k < f->insns[i].n_dst; k++)
			if (tile_dst(&f->insns[i], k) == r)
				return &f->insns[i];
	return NULL;
}

/* Is the register an integer constant in all lanes? Splats, broadcasts and casts are looked
 * through. */
static int is_constant(const struct tile_code *c, int before, tile_reg r, int64_t *value)
{
	const struct tile_func *f = &c->funcs[0];
	const struct tile_insn *in = writer_of(f, before, r);

	while (in && (in->op == TOP_SPLAT || in->op == TOP_BROADCAST || in->op == TOP_EXPAND_DIMS ||
		      in->op == TOP_CAST))
		in = writer_of(f, (int)(in - f->insns), tile_src(in, 0));
	if (!in || in->op != TOP_CONST || dtype_is_float((enum dtype)c->regs[tile_dst(in, 0)].dt))
		return 0;
	*value = in->imm;
	return 1;
}

int pick_index(const int64_t *v, int n, int64_t program)
{
	for (int i = 0; i < n; i++)
		if (v[i] == program)
			return i;
	return -1;
}

/* Is the instance among n? */
static int is_among(const int64_t *v, int n, int64_t program)
{
	return pick_index(v, n, program) >= 0;
}

/* Instances that constants of the kernel point to. */
struct named { const int64_t *grid; int64_t *v; int n; };

/* Adds an instance of the grid once. Instance 0 is picked anyway. */
static void add_program(struct named *p, int64_t program)
{
	if (!is_among(p->v, p->n, program) && p->n < PICK_NAMED && program > 0 && program < p->grid[0] *
	    p->grid[1] * p->grid[2])
		p->v[p->n++] = program;
}

/* Adds the instance of that number, and the first ones that have it along the second and third
 * axis. */
static void add_along_axes(struct named *p, int64_t number)
{
	add_program(p, number);
	if (number < p->grid[1])
		add_program(p, number * p->grid[0]);
	if (number < p->grid[2])
		add_program(p, number * p->grid[0] * p->grid[1]);
}

/* Some operations map different numbers to one result (remainder, division, and, min). Returns the
 * distance from the operation's constant to the first number that maps to an earlier result, or -1
 * for any other operation. */
static int folds_after(enum tile_op op)
{
	return op == TOP_DIV || op == TOP_REM ? 0 : op == TOP_AND || op == TOP_MIN ? 1 : -1;
}

/* Finds instances at which the kernel may change its behaviour. A constant that integers are
 * compared with may be the number of an instance, or an offset in an instance's tile: 4096 with
 * tiles of 64 lanes points to instance 64. After a division the quotient changes at the constant,
 * and the remainder is largest just before it. So the first number that folds onto an earlier one
 * is picked, and the one before it. */
static int name_programs(const struct tile_code *c, const int64_t *grid, int64_t *v)
{
	const struct tile_func *f = &c->funcs[0];
	struct named p = { .grid = grid, .v = v };

	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		int compared = in->op >= TOP_EQ && in->op <= TOP_GE, folds = folds_after(in->op);
		int64_t value, lanes;

		if (!compared && folds < 0)
			continue;
		lanes = tile_numel(c->regs[tile_dst(in, 0)]);
		for (int k = folds == 0; k < 2; k++) {
			if (!is_constant(c, i, tile_src(in, k), &value) || value <= 0 || value == INT64_MAX)
				continue;
			if (compared)
				add_program(&p, value / lanes);
			else
				add_along_axes(&p, (value + folds) / lanes);
			if (folds >= 0)
				add_along_axes(&p, (value + folds - 1) / lanes);
		}
	}
	return p.n;
}

/* Picks the fixed instances, then the drawn ones, then those that constants point to, each once. */
int pick_programs(uint64_t seed, const struct tile_code *code, const struct tile_launch *l, int64_t v[PICK_MOST])
{
	int64_t all = l->grid[0] * l->grid[1] * l->grid[2], wanted[PICK_MOST] = { 0, all - 1, l->grid[0] - 1 };
	int n = 0, n_wanted = 3 + PICK_DRAWN;
	struct rng r;

	/* The label is part of the seed: another text would pick other instances. */
	rng_init(&r, seed, "programs at own sizes");
	for (int i = 0; i < PICK_DRAWN; i++)
		wanted[3 + i] = (int64_t)rng_below(&r, (uint64_t)all);
	n_wanted += name_programs(code, l->grid, wanted + n_wanted);
	for (int i = 0; i < n_wanted; i++)
		if (!is_among(v, n, wanted[i]))
			v[n++] = wanted[i];
	return n;
}
