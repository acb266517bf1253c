/* Walks through instances of a launch without memory: see probe.h.
 *
 * The machine's own instructions compute integers and addresses. This file decides what is left
 * out, which iterations of a loop are walked and with which weight, and what is counted. */
#include "tile/estimate/probe.h"

#include "base/mem.h"
#include "tile/machine/execute.h"
#include "tile/estimate/gpu.h"
#include "tile/estimate/probe_memory.h"
#include "tile/estimate/resource.h"

/* Limits of a walk: lanes computed for one launch, iterations of a `while`, instances, and
 * iterations up to which a loop is walked whole. */
enum { LANES_MOST = 1 << 18, ITERATIONS_MOST = 32, PROGRAMS_WALKED = 3, LOOP_WHOLE = 4 };

/* One walk under way. Arrays are owned. */
struct walk {
	struct machine *m;
	const struct tile_code *code;
	const struct decoded_code *kernel;
	struct probe *p;
	struct probe_cache cache;
	double weight;              /* number of executions that the current one represents */
	int64_t lanes;              /* lanes computed so far */
	int iterations;             /* backward jumps made by loops without bounds */
	int piped;                  /* the loop around is pipelined: its loads are issued ahead */
	struct axis_info *axis;     /* by register */
	uint8_t *repeat;            /* by register: how often each lane of a vector is computed */
	/* by register: the dimension along which its load took neighbours, or -1 without a load */
	int8_t *fast;
};

/* --- vectors along one side of a tile ------------------------------------------------------------------ */

/* How often each lane of a vector is computed once it has become a side of a tile. Threads lie
 * along the last dimension first, then warps along the one before. The vector is computed by each
 * thread that holds some of its rows (32 times), or by each warp. */
static uint8_t repeats(struct tile_type tile, int64_t axis, int warps)
{
	return (uint8_t)(tile.ndim != 2 ? 1 : axis == 1 ? 32 : MIN(warps, 32));
}

/* Goes backwards, so that what a vector is computed from is repeated as often. Loads are made
 * once. */
static void find_repeats(struct walk *w)
{
	const struct tile_func *f = &w->code->funcs[0];

	for (int i = f->n_insns - 1; i >= 0; i--) {
		const struct tile_insn *in = &f->insns[i];
		uint8_t times;

		if (in->n_dst != 1 || in->op == TOP_LOAD)
			continue;
		times = in->op == TOP_EXPAND_DIMS ? repeats(w->code->regs[tile_dst(in, 0)], in->imm,
							    w->p->warps) : w->repeat[tile_dst(in, 0)];
		for (int k = 0; k < in->n_src; k++)
			if (w->code->regs[tile_src(in, k)].ndim == 1)
				w->repeat[tile_src(in, k)] = MAX(w->repeat[tile_src(in, k)], times);
	}
}

/* --- counting ------------------------------------------------------------------------------------------- */

/* Lanes of a register, at least one for each thread: all threads compute a scalar. */
static double lanes_of(const struct walk *w, tile_reg r)
{
	return (double)MAX(tile_numel(w->code->regs[r]) * MAX(w->repeat[r], 1), 32 * (int64_t)w->p->warps);
}

static int is_float(const struct walk *w, tile_reg r)
{
	return !w->code->regs[r].ptr && dtype_is_float((enum dtype)w->code->regs[r].dt);
}

/* Functions that compile to many instructions rather than to one of the special unit. */
static int is_heavy(enum tile_op op)
{
	switch (op) {
	case TOP_SQRT: case TOP_RSQRT: case TOP_RCP: case TOP_EXP: case TOP_EXP2: case TOP_LOG:
		case TOP_LOG2: case TOP_SIN: case TOP_COS:
		return 0;
	default:
		return 1;
	}
}

/* Adds an elementwise operation to its counter, by the type of its operand. */
static void count_arith(struct walk *w, const struct tile_insn *in)
{
	struct probe_ops *o = &w->p->ops;
	tile_reg r = tile_src(in, in->op == TOP_SELECT ? 1 : 0);
	double n = w->weight * lanes_of(w, in->n_dst ? tile_dst(in, 0) : r);
	enum dtype dt = (enum dtype)w->code->regs[r].dt;
	int divides = in->op == TOP_DIV || in->op == TOP_REM;

	if (tile_op_info(in->op)->cost == TOC_SPECIAL)
		*(is_heavy(in->op) ? &o->heavy : &o->special) += n;
	else if (!is_float(w, r))
		*(divides ? &o->int_divided : &o->integer) += n;
	else if (divides)
		o->divided += n;
	else
		*(dt == DT_F64 ? &o->f64 : dt == DT_F32 ? &o->f32 : &o->f16) += n;
}

/* Reductions, scans and sorts: every lane takes part, and warps wait for each other. */
static void count_whole(struct walk *w, const struct tile_insn *in)
{
	w->p->ops.reduced += w->weight * in->n_src * lanes_of(w, tile_src(in, 0));
	w->p->syncs += w->weight;
}

static double *dot_kind(struct probe_dots *d, enum dtype dt, int precision)
{
	if (!dtype_is_float(dt))
		return &d->int8;
	if (dt == DT_F64)
		return &d->f64;
	if (dt == DT_F32)
		return precision == TILE_PREC_IEEE ? &d->f32 : &d->tf32;
	return dtype_size(dt) == 1 ? &d->f8 : &d->f16;
}

/* Adds a product to its counter. The largest product's shape decides how well tensor cores are
 * used. */
static void count_dot(struct walk *w, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct probe_dots *d = &w->p->dots;
	struct tile_type a = w->code->regs[tile_src(in, 0)], c = w->code->regs[tile_dst(in, 0)];
	int m = c.shape[c.ndim - 2], n = c.shape[c.ndim - 1], k = a.shape[a.ndim - 1];

	*(in->op == TOP_DOT_SCALED ? &d->f8 : dot_kind(d, (enum dtype)a.dt, in->attr[0])) += w->weight * p->lanes;
	d->count += w->weight;
	d->transposed += w->weight * p->lanes * ((w->fast[tile_src(in, 0)] == a.ndim - 2) +
					     (w->fast[tile_src(in, 1)] == c.ndim - 1));
	if ((double)m * n * k > (double)d->m * d->n * d->k) {
		d->m = m;
		d->n = n;
		d->k = k;
	}
}

/* --- one instruction ------------------------------------------------------------------------------------- */

/* Sets the results of an instruction that depends on contents: comparisons are true, the rest is
 * zero. */
static void leave_out(struct walk *w, const struct tile_insn *in)
{
	int holds = in->op >= TOP_EQ && in->op <= TOP_GE;

	for (int k = 0; k < in->n_dst; k++) {
		struct mval *v = mval_dst(w->m, in, k);

		mval_clear_poison(v);
		v->kind = MVAL_UNIFORM;
		v->data = v->home;
		v->u.i = 0;
		v->u.raw[0] = (unsigned char)holds;
	}
}

/* Whether a result depends on contents: floats do, and all values computed from floats. */
static int hangs_on_contents(const struct walk *w, const struct tile_insn *in)
{
	for (int k = 0; k < in->n_dst; k++)
		if (is_float(w, tile_dst(in, k)))
			return 1;
	switch (in->op) {
	case TOP_REDUCE: case TOP_SCAN: case TOP_SORT: case TOP_TOPK: case TOP_HISTOGRAM: case TOP_GATHER: case TOP_MAP:
		return 1;
	}
	return in->n_dst && in->n_src && is_float(w, tile_src(in, in->op == TOP_SELECT)) &&
		!w->code->regs[tile_dst(in, 0)].ptr;
}

/* Counts a load, store or atomic by its addresses and mask; the loaded value is left out. */
static void walk_memory(struct walk *w, const struct tile_insn *in)
{
	enum probe_access kind = in->op == TOP_LOAD ? PROBE_LOAD : in->op == TOP_STORE ? PROBE_STORE : PROBE_ATOMIC;
	int at = kind == PROBE_LOAD ? 1 : 2, fast;
	struct probe_target t = { .kind = kind, .ptr = mval_src(w->m, in, 0), .axis = &w->axis[tile_src(in, 0)],
				  .weight = w->weight };

	t.mask = in->op != TOP_CAS && in->n_src > at ? mval_src(w->m, in, at) : NULL;
	fast = probe_access(w->p, &w->cache, w->m, &t);
	leave_out(w, in);
	if (in->n_dst)
		w->fast[tile_dst(in, 0)] = (int8_t)fast;
}

/* Carries the contiguous dimension of a loaded tile through operations that only rename its
 * lanes. After a transposition dimension 1 is dimension 0. */
static void pass_fast(struct walk *w, const struct tile_insn *in)
{
	int8_t from = in->n_dst == 1 && in->n_src ? w->fast[tile_src(in, 0)] : -1;

	if (in->n_dst != 1)
		return;
	if (in->op == TOP_PERMUTE && from >= 0)
		for (int k = 0; k < w->code->regs[tile_dst(in, 0)].ndim; k++)
			if (in->attr[k] == from) {
				w->fast[tile_dst(in, 0)] = (int8_t)k;
				return;
			}
	w->fast[tile_dst(in, 0)] = in->op == TOP_MOV || in->op == TOP_CAST || in->op == TOP_BITCAST ? from : -1;
}

/* A loaded vector reaches the threads of a tile through shared memory. */
static void count_expand(struct walk *w, const struct tile_insn *in)
{
	w->fast[tile_dst(in, 0)] = -1;
	if (w->fast[tile_src(in, 0)] >= 0 && w->p->warps > 1 && w->code->regs[tile_src(in, 0)].ndim == 1)
		w->p->converts += w->weight;
}

/* Counts and executes one instruction. Returns -1 if the machine faults. */
static int walk_one(struct walk *w, const struct decoded_insn *p)
{
	const struct tile_insn *in = p->in;

	if (p->maker && walk_one(w, p->maker))
		return -1;
	for (int k = 0; k < in->n_dst; k++)
		mval_renew(mval_dst(w->m, in, k));
	w->lanes += in->n_dst || in->n_src ? tile_numel(w->code->regs[in->n_dst ? tile_dst(in, 0) :
								      tile_src(in, 0)]) : 0;
	if (in->op != TOP_EXPAND_DIMS)
		pass_fast(w, in);
	switch (in->op) {
	case TOP_LOAD: case TOP_STORE: case TOP_ATOMIC: case TOP_CAS:
		walk_memory(w, in);
		axis_step(w->m, in, w->axis);
		return 0;
	case TOP_DOT: case TOP_DOT_SCALED:
		count_dot(w, in, p);
		leave_out(w, in);
		return 0;
	case TOP_REDUCE: case TOP_SCAN: case TOP_SORT: case TOP_TOPK: case TOP_HISTOGRAM: case TOP_MAP: case TOP_GATHER:
		count_whole(w, in);
		break;
	case TOP_EXPAND_DIMS:
		count_expand(w, in);
		break;
	default:
		if (in->n_src && (tile_op_info(in->op)->cost == TOC_ARITH || tile_op_info(in->op)->cost == TOC_SPECIAL))
			count_arith(w, in);
	}
	if (hangs_on_contents(w, in))
		leave_out(w, in);
	else if (in->n_dst && p->exec(w->m, in, p))
		return -1;
	axis_step(w->m, in, w->axis);
	return 0;
}

/* --- control ------------------------------------------------------------------------------------------------ */

static int walk_to(struct walk *w, int pc, int stop);

/* A loop with a counter: a comparison with its end, the jump out, the body, the jump back. */
struct bounds {
	struct mval *counter;
	int64_t start, step, iterations; /* first value, increment, trip count */
	int body, back;             /* index of the first instruction, and of the jump back */
	int after;                  /* index of the instruction after the loop */
};

/* Index of the end that closes the construct at `open`. */
static int end_of(const struct decoded_code *c, int open)
{
	int depth = 0;

	for (int i = open + 1; i < c->n; i++) {
		enum tile_op op = c->v[i].in->op;

		depth += op == TOP_IF || op == TOP_LOOP || op == TOP_BLOCK;
		if (op == TOP_END && !depth--)
			return i;
	}
	return c->n;
}

/* The increment of the counter: the instruction that writes the counter in an iteration must be
 * counter + step. Returns -1 if it is another one. */
static int step_of(const struct walk *w, const struct bounds *b, tile_reg counter, int64_t *step)
{
	tile_reg made = counter;

	for (int i = b->back - 1; i >= b->body; i--) {
		const struct tile_insn *in = w->kernel->v[i].in;

		if (in->n_dst != 1 || tile_dst(in, 0) != made)
			continue;
		if (in->op == TOP_MOV) {
			made = tile_src(in, 0);
			continue;
		}
		if (in->op != TOP_ADD || tile_src(in, 0) != counter || w->m->vals[tile_src(in, 1)].kind != MVAL_UNIFORM)
			return -1;
		*step = mval_int(&w->m->vals[tile_src(in, 1)]);
		return 0;
	}
	return -1;
}

/* The comparison that a loop begins with: a `for` has counter >= end, a `while` the negation of
 * its condition. *leave is the index of the jump out. */
static const struct tile_insn *find_test(const struct walk *w, int pc, int *leave)
{
	const struct decoded_insn *v = w->kernel->v;
	int i = pc + 1;

	if (i + 2 >= w->kernel->n || !v[i].exec || v[i].in->n_src != 2)
		return NULL;
	*leave = i + 1 + (v[i + 1].in->op == TOP_NOT);
	if (v[*leave].in->op != TOP_BR_IF)
		return NULL;
	if (*leave == i + 1)
		return v[i].in->op == TOP_GE ? v[i].in : NULL;
	return v[i].in->op == TOP_LT || v[i].in->op == TOP_LE ? v[i].in : NULL;
}

/* Finds start, step and trip count. range(0, 4096, 64) has a trip count of 64. Returns -1 if the
 * loop has no such counter; it is then walked iteration by iteration. */
static int find_bounds(const struct walk *w, int pc, struct bounds *b)
{
	int leave;
	const struct tile_insn *test = find_test(w, pc, &leave);
	int64_t end;
	uint64_t apart;

	if (!test || is_float(w, tile_src(test, 0)))
		return -1;
	b->counter = mval_src(w->m, test, 0);
	b->start = mval_int(b->counter);
	end = mval_int(mval_src(w->m, test, 1));
	end += test->op == TOP_LE && end < INT64_MAX;
	b->body = leave + 1;
	b->back = end_of(w->kernel, pc) - 1;
	b->after = w->kernel->v[leave].jump;
	if (b->back < b->body || step_of(w, b, tile_src(test, 0), &b->step) || b->step <= 0)
		return -1;
	/* The candidate chose the numbers: their difference may not fit an int64_t. */
	apart = end > b->start ? (uint64_t)end - (uint64_t)b->start : 0;
	b->iterations = apart ? (int64_t)MIN((apart - 1) / (uint64_t)b->step + 1, (uint64_t)INT64_MAX) : 0;
	return 0;
}

/* Whether instructions [from, to) include the operation `op` outside of inner loops. */
static int has_op(const struct decoded_code *c, int from, int to, enum tile_op op)
{
	for (int i = from; i < to; i++) {
		if (c->v[i].in->op == op)
			return 1;
		if (c->v[i].in->op == TOP_LOOP)
			i = end_of(c, i);
	}
	return 0;
}

/* Picks the iterations to walk and the number of iterations that each represents. A loop of up to 4
 * iterations is walked whole. A longer loop is walked at two iterations in the middle and at the
 * last one. The second iteration in the middle finds in the caches the lines that the first one
 * left there. 64 iterations become 31, 32 (weight 62) and 63. If enough lanes were computed
 * already, one iteration in the middle represents all. */
static int pick_iterations(const struct walk *w, int64_t iterations, int64_t *at, double *weight)
{
	int64_t mid = iterations / 2 - 1;

	if (w->lanes > LANES_MOST) {
		at[0] = iterations / 2;
		weight[0] = (double)iterations;
		return 1;
	}
	if (iterations <= LOOP_WHOLE) {
		for (int i = 0; i < iterations; i++) {
			at[i] = i;
			weight[i] = 1;
		}
		return (int)iterations;
	}
	at[0] = mid, at[1] = mid + 1, at[2] = iterations - 1;
	weight[0] = 1, weight[1] = (double)(iterations - 2), weight[2] = 1;
	return 3;
}

/* Walks a loop with a counter at the picked iterations. Returns the next instruction. */
static int walk_loop(struct walk *w, int pc)
{
	struct bounds b;
	int64_t at[LOOP_WHOLE];
	double weight[LOOP_WHOLE], around = w->weight;
	int n, next = -1, piped = w->piped;

	if (find_bounds(w, pc, &b))
		return pc + 1;
	n = pick_iterations(w, b.iterations, at, weight);
	/* Triton pipelines a `for` with a dot, or one that asks for it; never a `while`. */
	w->piped = (w->kernel->v[pc].in->attr[0] && has_op(w->kernel, b.body, b.back, TOP_DOT) &&
		    w->p->stages > 1) || w->kernel->v[pc].in->attr[0] > 2;
	for (int i = 0; i < n; i++) {
		mval_set_int(b.counter, (int64_t)((uint64_t)b.start + (uint64_t)at[i] * (uint64_t)b.step));
		w->weight = around * weight[i];
		if (has_op(w->kernel, b.body, b.back, TOP_LOAD))
			*(w->piped ? &w->p->piped_waits : &w->p->load_waits) += w->weight;
		next = walk_to(w, b.body, b.back);
		if (next != b.back)
			break;
	}
	w->weight = around;
	w->piped = piped;
	return n && next != b.back ? next : b.after;
}

/* Returns the instruction after one of control flow, -1 after too many iterations of a `while`. */
static int walk_control(struct walk *w, int pc)
{
	const struct decoded_insn *p = &w->kernel->v[pc];
	int yes = !p->in->n_src || mval_src(w->m, p->in, 0)->u.raw[0];
	int next;

	switch (p->in->op) {
	case TOP_LOOP: return walk_loop(w, pc);
	case TOP_IF: return yes ? pc + 1 : p->jump;
	case TOP_BR_IF: next = yes ? p->jump : pc + 1; break;
	case TOP_ELSE: case TOP_BR: case TOP_RET: next = p->jump; break;
	default: return pc + 1;
	}
	return next <= pc && ++w->iterations > ITERATIONS_MOST ? -1 : next;
}

/* Walks until an instruction at or behind `stop` is next. Returns its index, or -1 if it went astray. */
static int walk_to(struct walk *w, int pc, int stop)
{
	while (pc >= 0 && pc < stop) {
		const struct decoded_insn *p = &w->kernel->v[pc];

		if (!p->exec)
			pc = walk_control(w, pc);
		else
			pc = walk_one(w, p) ? -1 : pc + 1;
	}
	return pc;
}

/* --- instances --------------------------------------------------------------------------------------------- */

/* Records the compiler's knowledge about the arguments. */
static void enter_params(struct walk *w)
{
	for (int i = 0; i < w->code->n_params; i++) {
		tile_reg r = w->code->params[i].reg;
		struct tile_type t = w->code->regs[r];

		axis_param(&w->axis[r], t.ptr, is_float(w, r) ? 1 : mval_int(&w->m->vals[r]),
			   dtype_size((enum dtype)t.dt));
	}
}

/* Walks one instance from its prologue to its end. */
static void walk_program(struct walk *w, struct bare_machine *b, int64_t id)
{
	bare_machine_enter(b, id);
	enter_params(w);
	memset(w->fast, -1, (size_t)w->code->n_regs);
	probe_cache_next(&w->cache);
	w->iterations = 0;
	w->piped = 0;
	for (int i = 0; i < w->m->decoded->prologue.n; i++)
		if (walk_one(w, &w->m->decoded->prologue.v[i]))
			return;
	if (has_op(w->kernel, 0, w->kernel->n, TOP_LOAD))
		w->p->load_waits += w->weight;
	walk_to(w, 0, w->kernel->n);
}

static void describe_params(struct probe *p, const struct tile_code *code, const struct bare_machine *b)
{
	p->n_params = MIN(code->n_params, PROBE_PARAMS);
	for (int i = 0; i < p->n_params; i++)
		if (b->allocs[i].base)
			p->param[i] = (struct probe_param){ .bytes = (double)b->allocs[i].bytes };
}

static int walk_open(struct walk *w, struct bare_machine *b, const struct tile_launch *l, struct err *e)
{
	size_t n = (size_t)w->code->n_regs + 1;

	if (bare_machine_open(b, w->code, l, e) || probe_cache_init(&w->cache, e))
		return -1;
	w->m = b->m;
	w->axis = mem_array(n, sizeof *w->axis);
	w->fast = mem_array(n, sizeof *w->fast);
	w->repeat = mem_array(n, sizeof *w->repeat);
	return w->axis && w->fast && w->repeat ? 0 : err_nomem(e);
}

static void walk_close(struct walk *w, struct bare_machine *b)
{
	probe_cache_release(&w->cache);
	mem_free(w->axis);
	mem_free(w->fast);
	mem_free(w->repeat);
	bare_machine_close(b);
}

int probe_launch(const struct tile_code *code, const struct tile_launch *l, int capability, struct probe *out,
		 struct err *e)
{
	struct walk w = { .code = code, .kernel = &code->decoded->funcs[0], .p = out };
	struct resources need;
	struct bare_machine b;
	int64_t programs = l->grid[0] * l->grid[1] * l->grid[2], n = MIN(programs, PROGRAMS_WALKED);
	int rc;

	*out = (struct probe){ .programs = (double)programs, .warps = MAX(l->num_warps, 1), .stages = l->num_stages };
	resource_estimate(code, l, capability, &need);
	out->shared_bytes = (double)need.shared_bytes;
	out->registers = need.registers;
	rc = walk_open(&w, &b, l, e);
	if (!rc) {
		w.weight = n ? 1.0 / (double)n : 0.0;
		describe_params(out, code, &b);
		find_repeats(&w);
		/* Three instances spread over the grid, since the work may grow with the instance's number:
		 * 2, 6 and 10 of 12. */
		for (int64_t i = 0; i < n; i++)
			walk_program(&w, &b, (int64_t)((double)programs * (double)(2 * i + 1) / (double)(2 * n)));
	}
	walk_close(&w, &b);
	return rc;
}
