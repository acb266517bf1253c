/* Loops that run once and more: see trip_count.h.
 *
 * One pass over the kernel for each of the two program instances. A register is known while it
 * holds an integer that follows from the launch and the program id only. Registers that a loop or a
 * branch assigns are unknown inside it and after it, until they are assigned again. */
#include "tile/code/trip_count.h"

#include "base/mem.h"
#include "tile/code/ir.h"

/* The value of a register, if it is known. */
struct number {
	int known;
	int64_t v;
};

/* One pass over the kernel. */
struct reading {
	const struct tile_code *code;
	const struct tile_func *f;
	const struct tile_launch *l;
	int last;                      /* whether this pass is for the last program instance */
	struct number *at;             /* by register */
	int loops;                     /* number of loops met so far */
	unsigned char *trips;  /* by loop: 0, 1 or 2 iterations, the larger of the two instances */
};

/* --- values ------------------------------------------------------------------------------------ */

/* Integer arguments are known; tensors, tuples and descriptors are not. */
static void enter_params(struct reading *r)
{
	const struct tile_launch *l = r->l;

	for (int i = 0; i < r->code->n_params; i++) {
		const struct tile_param *p = &r->code->params[i];

		if (p->n_path || p->part != TILE_PART_VALUE || p->arg < 0 || (size_t)p->arg >= l->n_args ||
		    l->args[p->arg].kind != TILE_V_INT)
			continue;
		r->at[p->reg] = (struct number){ .known = 1, .v = l->args[p->arg].i };
	}
}

/* The result of an operation on two known integers. An overflow or a division by zero is unknown. */
static struct number computed(enum tile_op op, int64_t a, int64_t b)
{
	struct number n = { .known = 1 };

	switch (op) {
	case TOP_ADD: n.known = !__builtin_add_overflow(a, b, &n.v); break;
	case TOP_SUB: n.known = !__builtin_sub_overflow(a, b, &n.v); break;
	case TOP_MUL: n.known = !__builtin_mul_overflow(a, b, &n.v); break;
	case TOP_MAX: n.v = MAX(a, b); break;
	case TOP_MIN: n.v = MIN(a, b); break;
	case TOP_DIV: case TOP_REM:
		n.known = b > 0;
		if (n.known)
			n.v = op == TOP_DIV ? a / b : a % b;
		break;
	default: n.known = 0;
	}
	return n;
}

/* The result of an instruction, if it is a scalar integer that follows from known values. */
static struct number value_of(const struct reading *r, const struct tile_insn *in)
{
	struct tile_type t = r->code->regs[tile_dst(in, 0)];
	struct number none = { .known = 0 }, a, b;

	if (t.ndim || t.ptr || dtype_is_float((enum dtype)t.dt))
		return none;
	if (in->op == TOP_CONST)
		return (struct number){ .known = 1, .v = in->imm };
	if (in->op == TOP_NUM_PROGRAMS)
		return (struct number){ .known = 1, .v = r->l->grid[in->imm] };
	if (in->op == TOP_PROGRAM_ID)
		return (struct number){ .known = 1, .v = r->last ? r->l->grid[in->imm] - 1 : 0 };
	a = in->n_src ? r->at[tile_src(in, 0)] : none;
	if (in->op == TOP_MOV || in->op == TOP_CAST)
		return a;
	b = in->n_src == 2 ? r->at[tile_src(in, 1)] : none;
	return a.known && b.known ? computed((enum tile_op)in->op, a.v, b.v) : none;
}

/* --- control ----------------------------------------------------------------------------------- */

static int opens(const struct tile_insn *in)
{
	return in->op == TOP_IF || in->op == TOP_LOOP || in->op == TOP_BLOCK;
}

/* The index of the `end` of the construct that opens at `open`. */
static int end_of(const struct tile_func *f, int open)
{
	int depth = 0;

	for (int i = open + 1; i < f->n_insns; i++) {
		depth += opens(&f->insns[i]);
		if (f->insns[i].op == TOP_END && !depth--)
			return i;
	}
	return f->n_insns;
}

/* Marks everything that the instructions [from, to) assign as unknown. */
static void forget(struct reading *r, int from, int to)
{
	for (int i = from; i < to; i++)
		for (int k = 0; k < r->f->insns[i].n_dst; k++)
			r->at[tile_dst(&r->f->insns[i], k)].known = 0;
}

/* The step of a loop counter: the last assignment to the counter must be counter + step. */
static struct number step_of(const struct reading *r, int from, int to, tile_reg counter)
{
	tile_reg made = counter;

	for (int i = to - 1; i > from; i--) {
		const struct tile_insn *in = &r->f->insns[i];

		if (in->n_dst != 1 || tile_dst(in, 0) != made)
			continue;
		if (in->op != TOP_MOV)
			return in->op == TOP_ADD && tile_src(in, 0) == counter ? r->at[tile_src(in, 1)] :
				(struct number){ .known = 0 };
		made = tile_src(in, 0);
	}
	return (struct number){ .known = 0 };
}

/* The trip count, at most 2, from the comparison at the head of the loop. `counter >= end` leaves a
 * `for`; `while` has the negation of `counter < end`. For range(0, 4096, 256) the first iteration
 * is 0 < 4096, the second is 256 < 4096: 2. Registers have their values in front of the loop,
 * except its constants. */
static int trip_count_of(struct reading *r, int loop, int end)
{
	const struct tile_insn *test = NULL;
	struct number start, stop, step;

	for (int i = loop + 1; i < end && r->f->insns[i].op != TOP_BR_IF && !opens(&r->f->insns[i]); i++)
		if (r->f->insns[i].op >= TOP_EQ && r->f->insns[i].op <= TOP_GE && r->f->insns[i].n_src == 2)
			test = &r->f->insns[i];
	if (!test || (test->op != TOP_GE && test->op != TOP_LT && test->op != TOP_LE))
		return 0;
	start = r->at[tile_src(test, 0)];
	stop = r->at[tile_src(test, 1)];
	step = step_of(r, loop, end, tile_src(test, 0));
	/* A negative start or a bound near 2^31 could wrap around: unknown. */
	if (!start.known || !stop.known || !step.known || step.v <= 0 || stop.v >= INT32_MAX ||
	    start.v < 0 || step.v >= INT32_MAX)
		return 0;
	stop.v += test->op == TOP_LE;
	return (start.v < stop.v) + (start.v + step.v < stop.v);
}

/* Constants in a loop body have the same value in every iteration. */
static void take_constants(struct reading *r, int from, int to)
{
	for (int i = from; i < to; i++)
		if (r->f->insns[i].op == TOP_CONST)
			r->at[tile_dst(&r->f->insns[i], 0)] = value_of(r, &r->f->insns[i]);
}

/* Walks the instructions [from, to). The body of a loop is walked with everything that it assigns
 * unknown, because only the first iteration is in the state before the loop. */
static void read_to(struct reading *r, int from, int to)
{
	for (int i = from; i < to; i++) {
		const struct tile_insn *in = &r->f->insns[i];
		int end = opens(in) ? MIN(end_of(r->f, i), to) : i;

		if (in->op == TOP_LOOP) {
			unsigned char *trips = &r->trips[r->loops++];

			/* Constants inside the loop may be its step or its bound. */
			take_constants(r, i, end);
			*trips = (unsigned char)MAX(*trips, trip_count_of(r, i, end));
			forget(r, i, end);
		}
		if (opens(in)) {
			read_to(r, i + 1, end);
			forget(r, i, end);
			i = end;
		} else if (in->n_dst == 1) {
			r->at[tile_dst(in, 0)] = value_of(r, in);
		} else {
			forget(r, i, i + 1);
		}
	}
}

/* One pass for the first instance (last = 0) or the last one. */
static void read_program(struct reading *r, int last)
{
	r->last = last;
	r->loops = 0;
	memset(r->at, 0, ((size_t)r->code->n_regs + 1) * sizeof *r->at);
	enter_params(r);
	read_to(r, 0, r->f->n_insns);
}

/* A loop counts as running if it runs in either of the two instances. */
int tile_trip_counts(const struct tile_code *code, const struct tile_launch *l,
		     void (*more)(void *ctx, int loop), void *ctx, struct err *e)
{
	struct reading r = { .code = code, .f = &code->funcs[0], .l = l };

	r.at = mem_zalloc(((size_t)code->n_regs + 1) * sizeof *r.at);
	r.trips = mem_zalloc((size_t)r.f->n_insns + 1);
	if (r.at && r.trips) {
		read_program(&r, 0);
		read_program(&r, 1);
		for (int i = 0; i < r.loops; i++)
			for (int k = 0; k < r.trips[i]; k++)
				more(ctx, 2 * i + k);
	}
	mem_free(r.at);
	mem_free(r.trips);
	return r.at && r.trips ? 0 : err_nomem(e);
}
