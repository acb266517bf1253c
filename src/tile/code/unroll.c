/* Unrolls short loops. A loop over the taps of a filter computes the same offsets and masks in
 * every iteration of the loop over channels around it. Unrolled, each iteration has its own
 * registers and a constant index, so build_opt.h can move them in front of the outer loop.
 *
 * A `for` of the front end is
 *
 *     i = const lo .. block .. loop; c = ge i, hi; br_if c 1; BODY; i = add i, step; br 0; end; end
 *
 * Invariant: each iteration does the same work in the same order. Only registers that are written
 * once are renamed, and registers that only carry a value from one iteration to the next. */
#include "tile/code/unroll.h"

#include "tile/code/build_opt.h"

/* Limits: trip count of a loop, instructions after unrolling, bytes of additional registers. */
enum { TRIPS_MOST = 16, INSNS_MOST = 512, BYTES_MOST = 1 << 17 };

struct insns { struct tile_insn *v; size_t n, cap; };

struct unrolling {
	struct tile_code *c;
	struct insns code, next;    /* the kernel so far, and the copy that is being written */
	struct { struct tile_type *v; size_t n, cap; } regs;
	/* by register: number of writes, index of the last instruction that writes it */
	int32_t *writes, *maker;
	tile_reg *name;               /* by register: its name in the current iteration */
	size_t known;                 /* capacity of these three arrays, in registers */
};

/* A loop that may be unrolled: instructions [open, end), its body [body, stop), its index register
 * and the values of the index: lo, lo + step, and so on. */
struct loop {
	int open, end, body, stop;
	tile_reg index;
	int64_t lo, step, trips;
};

/* Grows the arrays by register. Their contents are lost: count_writes fills them again. */
static int make_room(struct unrolling *u)
{
	if (u->known >= u->regs.n)
		return 0;
	mem_free(u->writes);
	mem_free(u->maker);
	mem_free(u->name);
	u->known = 2 * u->regs.n;
	u->writes = mem_array(u->known, sizeof *u->writes);
	u->maker = mem_array(u->known, sizeof *u->maker);
	u->name = mem_array(u->known, sizeof *u->name);
	return u->writes && u->maker && u->name ? 0 : -1;
}

/* Fills `writes` and `maker` for the current code. A parameter counts as one write. */
static int count_writes(struct unrolling *u)
{
	if (make_room(u))
		return -1;
	memset(u->writes, 0, u->regs.n * sizeof *u->writes);
	memset(u->maker, -1, u->regs.n * sizeof *u->maker);
	for (size_t i = 0; i < u->code.n; i++)
		for (int k = 0; k < u->code.v[i].n_dst; k++) {
			u->writes[tile_dst(&u->code.v[i], k)]++;
			u->maker[tile_dst(&u->code.v[i], k)] = (int32_t)i;
		}
	for (int i = 0; i < u->c->n_params; i++)
		u->writes[u->c->params[i].reg]++;
	return 0;
}

/* --- which loops ------------------------------------------------------------------------------------------- */

/* Whether r holds one integer constant throughout. */
static int is_constant(const struct unrolling *u, tile_reg r, int64_t *value)
{
	const struct tile_insn *in = u->maker[r] < 0 ? NULL : &u->code.v[u->maker[r]];

	if (!in || u->writes[r] != 1 || in->op != TOP_CONST || dtype_is_float((enum dtype)u->regs.v[r].dt))
		return 0;
	*value = in->imm;
	return 1;
}

/* Finds the first value of the index. The index must be written exactly twice: in front of the loop
 * and at its end. */
static int find_start(const struct unrolling *u, struct loop *l)
{
	int at = l->open;

	if (u->writes[l->index] != 2)
		return 0;
	while (--at >= 0) {
		const struct tile_insn *in = &u->code.v[at];

		if (!in->n_dst || tile_dst(in, 0) != l->index)
			continue;
		l->lo = in->imm;
		return in->op == TOP_CONST;
	}
	return 0;
}

/* Whether the body can be repeated: no branch leaves it, it contains no loop, and `trips` copies
 * stay within the limits. */
static int body_is_plain(const struct unrolling *u, const struct loop *l)
{
	int64_t depth = 0, bytes = 0;

	for (int i = l->body; i < l->stop; i++) {
		const struct tile_insn *in = &u->code.v[i];

		if (in->op == TOP_LOOP || in->op == TOP_RET ||
		    ((in->op == TOP_BR || in->op == TOP_BR_IF) && in->imm >= depth))
			return 0;
		depth += (in->op == TOP_IF || in->op == TOP_BLOCK) - (in->op == TOP_END);
		for (int k = 0; k < in->n_dst; k++)
			bytes += tile_numel(u->regs.v[tile_dst(in, k)]) * tile_elem_size(u->regs.v[tile_dst(in, k)]);
	}
	return l->trips * (l->stop - l->body + 1) <= INSNS_MOST && l->trips * bytes <= BYTES_MOST;
}

/* The index after the `end` of the construct that opens at `open`. */
static int find_end(const struct unrolling *u, int open)
{
	int depth = 0, i = open;

	do {
		int op = u->code.v[i].op;

		depth += (op == TOP_LOOP || op == TOP_IF || op == TOP_BLOCK) - (op == TOP_END);
		i++;
	} while (depth);
	return i;
}

/* Whether the loop at `open` has the form of a `for` with a small constant trip count. Example:
 * range(0, 9, 2) has (9 - 0 - 1) / 2 + 1 = 5 iterations. */
static int read_loop(const struct unrolling *u, int open, struct loop *l)
{
	const struct tile_insn *v = u->code.v, *test = &v[open + 1], *leave = &v[open + 2], *add, *again;
	int64_t hi;

	*l = (struct loop){ .open = open, .end = find_end(u, open), .body = open + 3 };
	l->stop = l->end - 3;
	if (l->stop <= l->body || (size_t)l->end >= u->code.n || v[l->end].op != TOP_END)
		return 0;
	add = &v[l->stop];
	again = &v[l->stop + 1];
	if (test->op != TOP_GE || leave->op != TOP_BR_IF || leave->imm != 1 ||
	    tile_src(leave, 0) != tile_dst(test, 0) || add->op != TOP_ADD ||
	    again->op != TOP_BR || again->imm)
		return 0;
	l->index = tile_src(test, 0);
	if (tile_dst(add, 0) != l->index || tile_src(add, 0) != l->index || u->regs.v[l->index].ndim ||
	    u->regs.v[l->index].ptr)
		return 0;
	if (!is_constant(u, tile_src(test, 1), &hi) || !is_constant(u, tile_src(add, 1), &l->step) || !find_start(u, l))
		return 0;
	if (l->step < 1 || l->lo < INT32_MIN || hi > INT32_MAX || hi <= l->lo ||
	    (hi - l->lo - 1) / l->step >= TRIPS_MOST)
		return 0;
	l->trips = (hi - l->lo - 1) / l->step + 1;
	return body_is_plain(u, l);
}

/* --- writing out ---------------------------------------------------------------------------------------------- */

/* A new register of the same type as `like`. */
static int new_reg(struct unrolling *u, tile_reg like, tile_reg *out)
{
	struct tile_type t = u->regs.v[like];

	*out = (tile_reg)u->regs.n;
	return vec_push(&u->regs, t) ? -1 : 0;
}

/* Appends the instruction with the register names of this iteration. */
static int copy_insn(struct unrolling *u, const struct tile_insn *in)
{
	struct tile_insn copy = *in;
	int n = in->n_dst + in->n_src;

	copy.r = arena_array(&u->c->mem, (size_t)n + 1, sizeof *copy.r);
	for (int k = 0; copy.r && k < n; k++)
		copy.r[k] = u->name[in->r[k]];
	return !copy.r || vec_push(&u->next, copy) ? -1 : 0;
}

/* Appends `to = const value`, at the source location of `like`. */
static int set_index(struct unrolling *u, const struct tile_insn *like, tile_reg to, int64_t value)
{
	struct tile_insn set = { .op = TOP_CONST, .n_dst = 1, .loc = like->loc, .imm = value };

	set.r = arena_array(&u->c->mem, 1, sizeof *set.r);
	if (set.r)
		set.r[0] = to;
	return !set.r || vec_push(&u->next, set) ? -1 : 0;
}

/* Gives new names to the registers that the body writes once, and to its index. */
static int name_iteration(struct unrolling *u, const struct loop *l, size_t n_regs)
{
	for (size_t r = 0; r < n_regs; r++)
		u->name[r] = (tile_reg)r;
	for (int i = l->body; i < l->stop; i++)
		for (int k = 0; k < u->code.v[i].n_dst; k++) {
			tile_reg r = tile_dst(&u->code.v[i], k);

			if (u->writes[r] == 1 && new_reg(u, r, &u->name[r]))
				return -1;
		}
	return new_reg(u, l->index, &u->name[l->index]);
}

/* Replaces the loop by `trips` copies of its body. The index keeps the value that the loop left it
 * with. */
static int write_out(struct unrolling *u, const struct loop *l)
{
	size_t n_regs = u->regs.n;
	struct insns was;
	int rc = 0;

	u->next.n = 0;
	for (int i = 0; i < l->open && !rc; i++)
		rc = vec_push(&u->next, u->code.v[i]) ? -1 : 0;
	for (int64_t k = 0; k < l->trips && !rc; k++) {
		rc = name_iteration(u, l, n_regs) ||
			set_index(u, &u->code.v[l->open], u->name[l->index], l->lo + k * l->step) ? -1 : 0;
		for (int i = l->body; i < l->stop && !rc; i++)
			rc = copy_insn(u, &u->code.v[i]);
	}
	if (!rc)
		/* After the loop the index has the first value that it did not run with. */
		rc = set_index(u, &u->code.v[l->open], l->index, l->lo + l->trips * l->step);
	for (size_t i = (size_t)l->end; i < u->code.n && !rc; i++)
		rc = vec_push(&u->next, u->code.v[i]) ? -1 : 0;
	was = u->code;
	u->code = u->next;
	u->next = was;
	return rc;
}

/* Unrolls inner loops first: the loop around them may then have a plain body. Returns 0 and sets
 * *any, or -1 when memory runs out. */
static int write_out_all(struct unrolling *u, int *any)
{
	*any = 0;
	for (int i = (int)u->code.n - 1; i >= 0; i--) {
		struct loop l;

		if (u->code.v[i].op != TOP_LOOP)
			continue;
		if (count_writes(u))
			return -1;
		if (!read_loop(u, i, &l))
			continue;
		*any = 1;
		if (write_out(u, &l))
			return -1;
	}
	return 0;
}

/* --- cleaning up ------------------------------------------------------------------------------------------------- */

/* Removes each block that no branch leaves: its `block` and `end` only hinder later passes. The
 * matching `end` is marked with the illegal operation TILE_OPS and dropped when the loop reaches
 * it. */
static void open_blocks(struct unrolling *u)
{
	size_t n = 0;

	for (size_t i = 0; i < u->code.n; i++) {
		size_t end = i;

		if (u->code.v[i].op == TOP_BLOCK) {
			end = (size_t)find_end(u, (int)i) - 1;
			for (size_t k = i + 1; k < end; k++)
				if (u->code.v[k].op == TOP_BR || u->code.v[k].op == TOP_BR_IF)
					end = i;
		}
		if (end > i)
			u->code.v[end].op = TILE_OPS;       /* dropped when it is reached */
		else if (u->code.v[i].op != TILE_OPS)
			u->code.v[n++] = u->code.v[i];
	}
	u->code.n = n;
}

static int mentions(const struct tile_insn *in, tile_reg r)
{
	for (int k = 0; k < in->n_dst + in->n_src; k++)
		if (in->r[k] == r)
			return 1;
	return 0;
}

static int is_param(const struct tile_code *c, tile_reg r)
{
	for (int i = 0; i < c->n_params; i++)
		if (c->params[i].reg == r)
			return 1;
	return 0;
}

static int is_mov(const struct tile_insn *in, tile_reg to, tile_reg from)
{
	return in->op == TOP_MOV && tile_dst(in, 0) == to && tile_src(in, 0) == from;
}

/* For `mov a, b` at index `at`: the index of the next `mov b, a`, if b is not used and control does
 * not branch in between; else 0. */
static size_t find_return(const struct unrolling *u, size_t at, tile_reg a, tile_reg b)
{
	for (size_t i = at + 1; i < u->code.n; i++) {
		const struct tile_insn *in = &u->code.v[i];

		if (is_mov(in, b, a))
			return i;
		if ((tile_op_info(in->op)->flags & TOF_C) || mentions(in, b))
			return 0;
	}
	return 0;
}

/* Replaces register a by b in an instruction, in a new operand array: copies share the old one. */
static int rename_in(struct unrolling *u, struct tile_insn *in, tile_reg a, tile_reg b)
{
	int n = in->n_dst + in->n_src;
	tile_reg *r = arena_array(&u->c->mem, (size_t)n + 1, sizeof *r);

	for (int k = 0; r && k < n; k++)
		r[k] = in->r[k] == a ? b : in->r[k];
	in->r = r;
	return r ? 0 : -1;
}

/* `mov a, b; work on a; mov b, a` becomes `work on b; mov a, b`. Unrolled iterations pass their
 * sums on like that, and nothing reads the last a, so the remaining mov is removed later. */
static int stay_in_place(struct unrolling *u)
{
	struct insns was = u->code;
	int rc = 0;

	u->next.n = 0;
	for (size_t i = 0; i < u->code.n && !rc; i++) {
		const struct tile_insn *in = &u->code.v[i];
		tile_reg a = in->op == TOP_MOV ? tile_dst(in, 0) : 0, b = in->op == TOP_MOV ? tile_src(in, 0) : 0;
		size_t back = a == b || is_param(u->c, b) ? 0 : find_return(u, i, a, b);

		for (size_t k = i + 1; k <= back && !rc; k++)
			if (mentions(&u->code.v[k], a))
				rc = rename_in(u, &u->code.v[k], a, b);
		if (back && !rc)
			u->code.v[back].r[0] = a;
		else if (!rc)
			rc = vec_push(&u->next, *in) ? -1 : 0;
	}
	u->code = u->next;
	u->next = was;
	return rc;
}

static int has_loops(const struct tile_func *f)
{
	for (int i = 0; i < f->n_insns; i++)
		if (f->insns[i].op == TOP_LOOP)
			return 1;
	return 0;
}

/* Makes the unrolled copy the functions of the code. tile_decode restores the original afterwards. */
static int install(struct unrolling *u)
{
	struct tile_code *c = u->c;
	struct tile_func *funcs = arena_array(&c->mem, (size_t)c->n_funcs, sizeof *funcs);
	struct tile_insn *insns = arena_array(&c->mem, u->code.n + 1, sizeof *insns);
	struct tile_type *regs = arena_array(&c->mem, u->regs.n + 1, sizeof *regs);

	if (!funcs || !insns || !regs)
		return -1;
	memcpy(funcs, c->funcs, (size_t)c->n_funcs * sizeof *funcs);
	memcpy(insns, u->code.v, u->code.n * sizeof *insns);
	memcpy(regs, u->regs.v, u->regs.n * sizeof *regs);
	funcs[0].insns = insns;
	funcs[0].n_insns = (int)u->code.n;
	c->funcs = funcs;
	c->regs = regs;
	c->n_regs = (int)u->regs.n;
	return 0;
}

/* Without loops nothing is copied. After unrolling, single blocks and moves are cleaned up before
 * hoisting. */
int tile_unroll(struct tile_code *c, struct err *e)
{
	struct unrolling u = { .c = c };
	int any = 0, rc = 0;

	if (!has_loops(&c->funcs[0]))
		return 0;
	for (int i = 0; i < c->funcs[0].n_insns && !rc; i++)
		rc = vec_push(&u.code, c->funcs[0].insns[i]) ? -1 : 0;
	for (int r = 0; r < c->n_regs && !rc; r++)
		rc = vec_push(&u.regs, c->regs[r]) ? -1 : 0;
	if (!rc)
		rc = write_out_all(&u, &any);
	if (!rc && any) {
		open_blocks(&u);
		rc = stay_in_place(&u) || install(&u) ? -1 : 0;
	}
	vec_free(&u.code);
	vec_free(&u.next);
	vec_free(&u.regs);
	mem_free(u.writes);
	mem_free(u.maker);
	mem_free(u.name);
	return rc ? err_nomem(e) : any ? tile_build_hoist(c, &c->funcs[0], e) : 0;
}
