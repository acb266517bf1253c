/* Kinds of numbers that follow from a launch: see value_kinds.h.
 *
 * One pass over the kernel. A register that is assigned once is known if all its operands are: as a
 * range from the smallest to the largest value it can have. Doubles hold integers and floats:
 * integers beyond 2^53 are no sizes. */
#include "tile/code/value_kinds.h"

#include <math.h>

#include "base/mem.h"
#include "tile/code/ir.h"

enum kind {
	/* of a number that is known exactly; SMALL is below 2^-8 */
	KIND_NEGATIVE = 1, KIND_ZERO, KIND_ONE, KIND_SMALL, KIND_OTHER,
	/* a comparison can hold, can fail */
	KIND_HOLDS, KIND_FAILS,
	/* a minimum or maximum can be its first operand, its second */
	KIND_FIRST, KIND_SECOND,
	/* a quotient can be above 0, a remainder can differ from the dividend */
	KIND_COUNTS,
	/* the smaller summand of a float sum has no effect, has one */
	KIND_ABSORBED, KIND_ADDED,
	/* the value does not fit its type */
	KIND_TOO_LARGE
};

/* The range of values of a register. */
struct span {
	int known, sized;             /* sized: it depends on the launch, not only on constants */
	double lo, hi;
};

/* One pass over a kernel. */
struct kinds {
	const struct tile_code *code;
	const struct tile_launch *l;
	struct span *at;              /* by register */
	int *writes;                  /* by register: number of instructions that assign it */
	/* by register: it is converted to a float or decides a branch, so it is more than an address */
	char *counted;
	int index, asked;             /* the current instruction; asked: its result is counted */
	/* its result is one number of the instance, not of a lane: program numbers are divided to
	 * find the tile of an instance, and a group of tiles beyond the first is another kind */
	int of_program;
	void (*tell)(void *ctx, int index, int kind);
	void *ctx;
};

static const struct span unknown = { .known = 0 };

/* The range of one value; infinities and NaN are unknown. */
static struct span exactly(double v, int sized)
{
	return (struct span){ .known = isfinite(v), .sized = sized, .lo = v, .hi = v };
}

/* A range of one value. */
static int is_exact(struct span s)
{
	return s.known && s.lo == s.hi;
}

/* Reports a kind of the current instruction. */
static void tell(const struct kinds *k, enum kind kind)
{
	k->tell(k->ctx, k->index, (int)kind);
}

/* --- what two numbers make --------------------------------------------------------------------- */

/* The range of a product: the extremes of the four products of the bounds. */
static struct span around(double a, double b, double c, double d)
{
	return (struct span){ .known = 1, .lo = fmin(fmin(a, b), fmin(c, d)), .hi = fmax(fmax(a, b), fmax(c, d)) };
}

/* An integer quotient, rounded towards zero, of a divisor that is always positive. */
static struct span quotient(const struct kinds *k, struct span a, struct span b)
{
	struct span s = { .known = b.lo > 0.0, .lo = trunc(a.lo / (a.lo < 0.0 ? b.lo : b.hi)),
			  .hi = trunc(a.hi / (a.hi < 0.0 ? b.hi : b.lo)) };

	if (s.known && !is_exact(s) && s.hi >= 1.0 && (k->asked || k->of_program))
		tell(k, KIND_COUNTS);
	return s;
}

/* An integer remainder of a dividend that is never negative. `a % b` with a always below b is a
 * itself. */
static struct span remainder_of(const struct kinds *k, struct span a, struct span b)
{
	if (b.lo <= 0.0 || a.lo < 0.0)
		return unknown;
	if (is_exact(a) && is_exact(b))
		return exactly(fmod(a.lo, b.lo), 1);
	if (a.hi < b.lo)
		return (struct span){ .known = 1, .lo = a.lo, .hi = a.hi };
	if (k->asked || k->of_program)
		tell(k, KIND_COUNTS);
	return (struct span){ .known = 1, .lo = 0.0, .hi = fmin(a.hi, b.hi - 1.0) };
}

/* Bitwise operations and shifts of two known integers. */
static struct span bits_of(enum tile_op op, int64_t a, int64_t b)
{
	int shifts = b >= 0 && b < 63;

	switch (op) {
	case TOP_AND: return exactly((double)(a & b), 1);
	case TOP_OR: return exactly((double)(a | b), 1);
	case TOP_XOR: return exactly((double)(a ^ b), 1);
	case TOP_SHL: return shifts ? exactly((double)a * (double)(1LL << b), 1) : unknown;
	case TOP_SHR: return shifts ? exactly((double)(a >> b), 1) : unknown;
	default: return unknown;
	}
}

/* The minimum or maximum. min(n, 1024) tells FIRST for n = 100 and SECOND for n = 4096. */
static struct span smaller(const struct kinds *k, struct span a, struct span b, int max)
{
	int asked = k->asked || (is_exact(a) && is_exact(b));

	if (asked && (max ? a.hi > b.lo : a.lo < b.hi))
		tell(k, KIND_FIRST);
	if (asked && (max ? b.hi > a.lo : b.lo < a.hi))
		tell(k, KIND_SECOND);
	return (struct span){ .known = 1,
			      .lo = max ? fmax(a.lo, b.lo) : fmin(a.lo, b.lo),
			      .hi = max ? fmax(a.hi, b.hi) : fmin(a.hi, b.hi) };
}

/* Adding a number below 2^-12 of the other hardly changes a float: sum + eps is another kind at
 * large sums. */
static void tell_sum(const struct kinds *k, struct span a, struct span b)
{
	double more = fmax(fabs(a.lo), fabs(b.lo)), less = fmin(fabs(a.lo), fabs(b.lo));

	if (is_exact(a) && is_exact(b))
		tell(k, less < 0x1p-12 * more ? KIND_ABSORBED : KIND_ADDED);
}

/* The result of an operation with two known operands. */
static struct span two(const struct kinds *k, enum tile_op op, struct span a, struct span b, int is_float)
{
	switch (op) {
	case TOP_ADD: case TOP_SUB:
		if (is_float)
			tell_sum(k, a, b);
		return op == TOP_ADD ? (struct span){ .known = 1, .lo = a.lo + b.lo, .hi = a.hi + b.hi } :
			(struct span){ .known = 1, .lo = a.lo - b.hi, .hi = a.hi - b.lo };
	case TOP_MUL: return around(a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi);
	case TOP_MIN: case TOP_MIN_NAN: return smaller(k, a, b, 0);
	case TOP_MAX: case TOP_MAX_NAN: return smaller(k, a, b, 1);
	case TOP_DIV:
		if (!is_float)
			return quotient(k, a, b);
		return is_exact(a) && is_exact(b) ? exactly(a.lo / b.lo, 1) : unknown;
	case TOP_REM: return remainder_of(k, a, b);
	case TOP_POW: return is_exact(a) && is_exact(b) ? exactly(pow(a.lo, b.lo), 1) : unknown;
	default: return is_exact(a) && is_exact(b) && !is_float ? bits_of(op, (int64_t)a.lo, (int64_t)b.lo) : unknown;
	}
}

/* --- what one number makes ----------------------------------------------------------------------- */

/* A function of one float; NaN for the functions that are not listed, which makes the result
 * unknown. */
static double function_of(enum tile_op op, double x)
{
	switch (op) {
	case TOP_FLOOR: return floor(x);
	case TOP_CEIL: return ceil(x);
	case TOP_TRUNC: return trunc(x);
	case TOP_RINT: return rint(x);
	case TOP_ROUND: return round(x);
	case TOP_SQRT: return sqrt(x);
	case TOP_RSQRT: return 1.0 / sqrt(x);
	case TOP_RCP: return 1.0 / x;
	case TOP_EXP: return exp(x);
	case TOP_EXP2: return exp2(x);
	case TOP_LOG: return log(x);
	case TOP_LOG2: return log2(x);
	case TOP_TANH: return tanh(x);
	case TOP_ERF: return erf(x);
	case TOP_SATURATE: return fmin(fmax(x, 0.0), 1.0);
	case TOP_ABS: return fabs(x);
	case TOP_NEG: return -x;
	default: return NAN;
	}
}

/* The result of an operation with one known operand. */
static struct span one(enum tile_op op, struct span a, int is_float)
{
	switch (op) {
	case TOP_MOV: case TOP_SPLAT: case TOP_BROADCAST: case TOP_EXPAND_DIMS: case TOP_RESHAPE: case TOP_PERMUTE:
		return a;
	case TOP_CAST:
		if (!is_float)
			return (struct span){ .known = 1, .lo = trunc(a.lo), .hi = trunc(a.hi) };
		return a;
	default:
		return is_exact(a) ? exactly(function_of(op, a.lo), 1) : unknown;
	}
}

/* --- instructions ---------------------------------------------------------------------------------- */

/* Tells whether a comparison of the ranges a and b can hold and whether it can fail. */
static void compare(const struct kinds *k, enum tile_op op, struct span a, struct span b)
{
	int below = a.lo < b.hi, above = a.hi > b.lo, apart = a.hi < b.lo || b.hi < a.lo,
		same = is_exact(a) && is_exact(b) && a.lo == b.lo;
	int holds, fails;

	switch (op) {
	case TOP_LT: holds = below; fails = a.hi >= b.lo; break;
	case TOP_LE: holds = a.lo <= b.hi; fails = above; break;
	case TOP_GT: holds = above; fails = a.lo <= b.hi; break;
	case TOP_GE: holds = a.hi >= b.lo; fails = below; break;
	default:
		holds = op == TOP_EQ ? !apart : !same;
		fails = op == TOP_EQ ? !same : !apart;
	}
	if (holds)
		tell(k, KIND_HOLDS);
	if (fails)
		tell(k, KIND_FAILS);
}

static int is_compare(const struct tile_insn *in)
{
	return in->op >= TOP_EQ && in->op <= TOP_GE && in->n_src == 2;
}

/* The value from which on a number does not fit the type. Unsigned types count as signed. */
static double most_of(enum dtype dt)
{
	int bits = 8 * (int)dtype_size(dt);

	return dtype_is_float(dt) ? INFINITY : dt == DT_BOOL ? 1.0 : ldexp(1.0, bits - 1);
}

/* Tells the kind of a value that is known exactly. The value 1 differs from larger ones only where
 * it is a factor: a counted integer or a float. */
static void tell_number(const struct kinds *k, struct span s, int is_float)
{
	if (is_exact(s))
		tell(k, s.lo < 0.0 ? KIND_NEGATIVE
		     : s.lo == 0.0 ? KIND_ZERO
		     : !k->asked && !is_float ? KIND_OTHER
		     : s.lo == 1.0 ? KIND_ONE
		     : s.lo < 0x1p-8 ? KIND_SMALL : KIND_OTHER);
}

/* Whether the result of an instruction has a kind of its own. Sums and products of values that are
 * not negative have none, and neither have operations that only move a value. */
static int has_kind(const struct tile_insn *in, struct span a, struct span b, int is_float)
{
	switch (in->op) {
	case TOP_ADD: case TOP_MUL: return is_float || a.lo < 0.0 || b.lo < 0.0;
	case TOP_CAST: return is_float;
	case TOP_MOV: case TOP_SPLAT: case TOP_BROADCAST: case TOP_EXPAND_DIMS: case TOP_RESHAPE:
		case TOP_PERMUTE: return 0;
	default: return 1;
	}
}

/* The range of a result that is computed from operands, and its kind if it depends on the launch. */
static struct span made_of(const struct kinds *k, const struct tile_insn *in, enum dtype dt)
{
	int is_float = dtype_is_float(dt);
	struct span a = in->n_src ? k->at[tile_src(in, 0)] : unknown,
		b = in->n_src > 1 ? k->at[tile_src(in, 1)] : unknown, s;

	if (in->n_src < 1 || in->n_src > 2 || !a.known || (in->n_src == 2 && !b.known))
		return unknown;
	if (is_compare(in)) {
		/* A comparison of constants is the same at every size: it tells nothing. */
		if ((a.sized || b.sized) && (k->asked || (is_exact(a) && is_exact(b))))
			compare(k, (enum tile_op)in->op, a, b);
		return unknown;
	}
	s = in->n_src == 2 ? two(k, (enum tile_op)in->op, a, b, is_float) : one((enum tile_op)in->op, a, is_float);
	s.sized = a.sized || b.sized;
	if (!s.known || !isfinite(s.lo) || !isfinite(s.hi))
		return unknown;
	if (s.hi >= most_of(dt) || s.lo < -most_of(dt)) {
		tell(k, KIND_TOO_LARGE);
		return unknown;
	}
	if (s.sized && has_kind(in, a, b, is_float))
		tell_number(k, s, is_float);
	return s;
}

/* The range of the result of any instruction with one result. */
static struct span value_of(const struct kinds *k, const struct tile_insn *in)
{
	struct tile_type t = k->code->regs[tile_dst(in, 0)];
	enum dtype dt = (enum dtype)t.dt;

	if (t.ptr)
		return unknown;
	switch (in->op) {
	case TOP_CONST: return exactly(dtype_is_float(dt) ? in->fimm : (double)in->imm, 0);
	case TOP_ARANGE:
		return (struct span){ .known = 1, .lo = (double)in->imm, .hi = (double)(in->imm + tile_numel(t) - 1) };
	case TOP_PROGRAM_ID: return (struct span){ .known = 1, .sized = 1, .hi = (double)(k->l->grid[in->imm] - 1) };
	case TOP_NUM_PROGRAMS: return exactly((double)k->l->grid[in->imm], 1);
	default: return made_of(k, in, dt);
	}
}

/* Integer arguments are known exactly; they are the sizes of the launch. */
static void enter_params(struct kinds *k)
{
	for (int i = 0; i < k->code->n_params; i++) {
		const struct tile_param *p = &k->code->params[i];

		if (p->n_path || p->part != TILE_PART_VALUE || p->arg < 0 || (size_t)p->arg >= k->l->n_args ||
		    k->l->args[p->arg].kind != TILE_V_INT)
			continue;
		k->at[p->reg] = exactly((double)k->l->args[p->arg].i, 1);
	}
}

/* Whether the first source is the condition of a branch or of a choice between two values. */
static int decides(const struct kinds *k, const struct tile_insn *in)
{
	return in->op == TOP_IF || in->op == TOP_BR_IF || (in->op == TOP_SELECT && !k->code->regs[tile_dst(in, 0)].ptr);
}

/* Marks the registers that are converted to a float or decide a branch, and everything they are
 * computed from. Numbers that only choose the tile of an instance or mask off lanes are not
 * marked. */
static void find_counted(struct kinds *k, const struct tile_func *f)
{
	for (int i = f->n_insns - 1; i >= 0; i--) {
		const struct tile_insn *in = &f->insns[i];
		struct tile_type t = in->n_dst == 1 ? k->code->regs[tile_dst(in, 0)] : (struct tile_type){ .ptr = 1 };
		int made = !t.ptr && (dtype_is_float((enum dtype)t.dt) ? in->op == TOP_CAST :
				      k->counted[tile_dst(in, 0)]);

		for (int s = 0; s < (made ? in->n_src : decides(k, in)); s++)
			k->counted[tile_src(in, s)] = 1;
	}
}

/* A register that several instructions assign stays unknown: its value depends on the path. */
static void read_code(struct kinds *k)
{
	const struct tile_func *f = &k->code->funcs[0];

	find_counted(k, f);
	for (int i = 0; i < f->n_insns; i++)
		for (int d = 0; d < f->insns[i].n_dst; d++)
			k->writes[tile_dst(&f->insns[i], d)]++;
	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];

		k->index = i;
		k->asked = in->n_dst == 1 && k->counted[tile_dst(in, 0)];
		k->of_program = in->n_dst == 1 && !k->code->regs[tile_dst(in, 0)].ndim;
		if (in->n_dst == 1 && k->writes[tile_dst(in, 0)] == 1)
			k->at[tile_dst(in, 0)] = value_of(k, in);
	}
}

int tile_value_kinds(const struct tile_code *code, const struct tile_launch *l,
		     void (*fn)(void *ctx, int index, int kind), void *ctx, struct err *e)
{
	struct kinds k = { .code = code, .l = l, .tell = fn, .ctx = ctx };
	int rc = 0;

	k.at = mem_array((size_t)code->n_regs + 1, sizeof *k.at);
	k.writes = mem_array((size_t)code->n_regs + 1, sizeof *k.writes);
	k.counted = mem_array((size_t)code->n_regs + 1, 1);
	if (!k.at || !k.writes || !k.counted) {
		rc = err_nomem(e);
	} else {
		enter_params(&k);
		read_code(&k);
	}
	mem_free(k.at);
	mem_free(k.writes);
	mem_free(k.counted);
	return rc;
}
