/* The walk over a kernel's code with values in closed form: see slice_walk.h.
 *
 * Only registers that an address, a mask or a branch depends on are evaluated. A branch adds its condition to
 * the path of the accesses inside it. A loop is not repeated: its counter and the pointers that it advances
 * are linear in the number of the iteration, which becomes a variable. */
#include "tile/slice/slice_walk.h"

#include <stdio.h>
#include <string.h>

#include "tile/slice/form_op.h"
#include "tile/slice/slice_class.h"

/* The cost of an instruction, in instances. */
enum { STEP_COST = 64 };

/* --- the slice ---------------------------------------------------------------------------- */

static int is_access(const struct tile_insn *in)
{
	return in->op == TOP_LOAD || in->op == TOP_STORE || in->op == TOP_ATOMIC || in->op == TOP_CAS;
}

/* Operands that say where an access goes: the pointer and the mask. */
static int is_where(const struct tile_insn *in, int k)
{
	return is_access(in) && (!k || (k == (in->op == TOP_LOAD ? 1 : 2) && in->op != TOP_CAS));
}

/* Repeats until nothing changes: loops carry values back. */
void slice_find_needed(const struct tile_code *code, const uint8_t *marked, uint8_t *needed)
{
	const struct tile_func *f = &code->funcs[0];

	for (int i = 0; i < f->n_insns; i++)
		if (marked[i])
			needed[tile_dst(&f->insns[i], 0)] = 1;
	for (int more = 1; more;) {
		more = 0;
		for (int i = f->n_insns - 1; i >= 0; i--) {
			const struct tile_insn *in = &f->insns[i];
			int made = tile_op_info((enum tile_op)in->op)->flags & TOF_C;

			for (int d = 0; d < in->n_dst; d++)
				made |= needed[tile_dst(in, d)];
			made = made && !is_access(in);
			for (int k = 0; k < in->n_src; k++)
				if ((made || is_where(in, k)) && !needed[tile_src(in, k)])
					more = needed[tile_src(in, k)] = 1;
		}
	}
}

/* --- answers ------------------------------------------------------------------------------ */

static void note_answer(enum slice_answer *to, enum slice_answer why)
{
	*to = MAX(*to, why);
}

int64_t slice_add_most(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Whether an access through `memory` may reach parameter i. */
static int may_reach(const struct slice_walk *w, int memory, int i)
{
	return (memory < 0 || i == memory) && w->memory[i].st && !w->quiet;
}

/* Only attempt 1 counts bytes, because it sees each access once. */
void slice_unknown(struct slice_walk *w, int memory, int store, struct slice_open open)
{
	for (int i = 0; i < w->code->n_params; i++) {
		struct walk_memory *m = &w->memory[i];

		if (!may_reach(w, memory, i))
			continue;
		note_answer(store ? &m->writes : &m->reads, open.why);
		m->rounded |= store && open.rounded;
		if (w->by_pid && store) {
			m->open_write = slice_add_most(m->open_write, open.most);
			m->open_each = slice_add_most(m->open_each, open.each);
		} else if (w->by_pid) {
			m->open_read = slice_add_most(m->open_read, open.most);
		}
	}
}

void slice_unknown_all(struct slice_walk *w)
{
	struct slice_open any = { .why = SLICE_UNDECIDED, .most = INT64_MAX, .each = INT64_MAX };

	slice_unknown(w, -1, 0, any);
	slice_unknown(w, -1, 1, any);
}

void slice_fault(struct slice_walk *w, const struct tile_insn *in, int memory, int64_t instance, int64_t at)
{
	const struct walk_memory *m = &w->memory[memory];
	const struct tile_loc *loc = in->loc >= 0 ? &w->code->locs[in->loc] : &(struct tile_loc){ .line = 0 };
	int64_t size = dtype_size((enum dtype)w->code->regs[tile_src(in, 0)].dt), off = at - m->view;
	char who[64] = "";

	if (instance >= 0)
		snprintf(who, sizeof who, " in program instance %lld", (long long)instance);
	w->faulted = 1;
	diag_set(w->d, REASON_out_of_bounds, loc->line, loc->col, "%s out of bounds at full size: %.*s[%lld]%s",
		 in->op == TOP_LOAD ? "load" : in->op == TOP_STORE ? "store" : "atomic", STR_ARG(m->name),
		 (long long)(off / size - (off % size < 0)), who);
	diag_hint(w->d, "%.*s has indices %lld to %lld; is a mask missing?", STR_ARG(m->name),
		  (long long)(-m->view / size), (long long)(((int64_t)m->st->bytes - m->view) / size - 1));
	snprintf(w->d->kernel, sizeof w->d->kernel, "%.*s", STR_ARG(w->code->name));
}

/* --- control flow ------------------------------------------------------------------------- */

static int walk(struct slice_walk *w, int from, int to);

static int opens(const struct tile_insn *in)
{
	return in->op == TOP_IF || in->op == TOP_LOOP || in->op == TOP_BLOCK;
}

/* The index of the `end` (or, with `other`, of an `else` before it) of the construct that opens at `open`. */
static int end_of(const struct tile_func *f, int open, int other)
{
	int depth = 0;

	for (int i = open + 1; i < f->n_insns; i++) {
		depth += opens(&f->insns[i]);
		if (other && !depth && f->insns[i].op == TOP_ELSE)
			return i;
		if (f->insns[i].op == TOP_END && !depth--)
			return i;
	}
	return f->n_insns;
}

/* The path inside a branch. */
struct path {
	struct form cond;
	enum slice_answer answer;
};

static struct path enter(struct slice_walk *w, const struct form *cond)
{
	struct path was = { .cond = w->path, .answer = w->path_answer };
	struct form both = form_and(&w->b, &w->path, cond);

	if (both.kind == FORM_BOOL)
		w->path = both;
	else
		note_answer(&w->path_answer, both.why == FORM_CONTENTS ? SLICE_CONTENTS : SLICE_UNDECIDED);
	return was;
}

static void leave(struct slice_walk *w, struct path was)
{
	w->path = was.cond;
	w->path_answer = was.answer;
}

/* The instances on the current path return. They must be known. */
static int walk_ret(struct slice_walk *w)
{
	if (w->dry)
		return 0;
	if (w->path_answer != SLICE_DECIDED || !form_is_plain_bool(&w->path)) {
		w->gave_up = 1;
		return 0;
	}
	if (!w->gone)
		w->gone = arena_zalloc(&w->mem, (size_t)w->b.n * sizeof *w->gone);
	if (!w->gone)
		return err_nomem(w->e);
	for (int i = 0; i < w->b.n; i++)
		w->gone[i] |= form_holds(&w->path, i);
	return 0;
}

/* Copies of the needed registers that the instructions [from, to) assign. */
struct saved {
	int n;
	tile_reg *reg;
	struct form *form;
};

static int save(struct slice_walk *w, int from, int to, struct saved *s)
{
	const struct tile_func *f = &w->code->funcs[0];
	uint8_t *seen = arena_zalloc(&w->mem, (size_t)w->code->n_regs + 1);

	s->n = 0;
	s->reg = arena_array(&w->mem, (size_t)(to - from) + 1, sizeof *s->reg);
	s->form = arena_array(&w->mem, (size_t)(to - from) + 1, sizeof *s->form);
	if (!seen || !s->reg || !s->form)
		return err_nomem(w->e);
	for (int i = from; i < to; i++)
		for (int d = 0; d < f->insns[i].n_dst && f->insns[i].n_dst == 1; d++) {
			tile_reg r = tile_dst(&f->insns[i], d);

			if (!w->needed[r] || seen[r])
				continue;
			seen[r] = 1;
			s->reg[s->n] = r;
			s->form[s->n++] = w->reg[r];
		}
	return 0;
}

/* Exchanges the registers with the copies. */
static void swap(struct slice_walk *w, struct saved *s)
{
	for (int i = 0; i < s->n; i++) {
		struct form now = w->reg[s->reg[i]];

		w->reg[s->reg[i]] = s->form[i];
		s->form[i] = now;
	}
}

/* Both sides are evaluated, each under its condition; registers get the value of the side that was taken. */
static int walk_if(struct slice_walk *w, int at, int end)
{
	const struct tile_func *f = &w->code->funcs[0];
	struct form cond = w->reg[tile_src(&f->insns[at], 0)], not = form_not(&w->b, &cond);
	int other = end_of(f, at, 1), rc;
	struct saved s;
	struct path was;

	if (save(w, at, end, &s))
		return -1;
	was = enter(w, &cond);
	rc = walk(w, at + 1, other);
	leave(w, was);
	swap(w, &s);
	was = enter(w, &not);
	rc = rc || other == end ? rc : walk(w, other + 1, end);
	leave(w, was);
	for (int i = 0; i < s.n; i++)
		w->reg[s.reg[i]] = form_select(&w->b, &cond, &s.form[i], &w->reg[s.reg[i]]);
	return rc;
}

/* --- loops -------------------------------------------------------------------------------- */

/* A loop whose head is `... br_if c 1` and whose last instruction jumps back. */
struct loop {
	int at, head, end;          /* indices of `loop`, of the br_if, of its `end` */
	int var;
	struct saved first;         /* registers before the loop */
	struct form *step;          /* by register of `first`: what an iteration adds; NONE: not linear */
	int64_t *trips;
};

/* Finds the head. Returns 1 if the loop has another shape. */
static int find_head(const struct tile_func *f, struct loop *l)
{
	int i = l->at + 1;

	while (i < l->end && !(tile_op_info((enum tile_op)f->insns[i].op)->flags & TOF_C))
		i++;
	l->head = i;
	return i >= l->end || f->insns[i].op != TOP_BR_IF || f->insns[i].imm != 1 ||
		f->insns[l->end - 1].op != TOP_BR || f->insns[l->end - 1].imm != 0;
}

/* The iterations of each instance. The loop continues while base + by * t < 0. Returns 1 if that has no form. */
static int count_trips(struct slice_walk *w, struct loop *l)
{
	struct form go = form_not(&w->b, &w->reg[tile_src(&w->code->funcs[0].insns[l->head], 0)]), rest;
	const struct form *x = go.cond;
	int64_t most = 0, by;

	if (go.kind != FORM_BOOL || go.n_conds != 1 || x->loose)
		return 1;
	rest = *x;
	by = rest.coef[l->var];
	rest.coef[l->var] = 0;
	l->trips = arena_alloc(&w->mem, (size_t)w->b.n * sizeof *l->trips);
	if (!l->trips || !form_is_plain(&rest))
		return l->trips ? 1 : err_nomem(w->e);
	for (int i = 0; i < w->b.n; i++) {
		int64_t base = form_base(x, i);

		if (base < 0 && by <= 0)
			return 1;
		l->trips[i] = base < 0 ? (-base + by - 1) / by : 0;
		most = MAX(most, l->trips[i]);
	}
	w->b.extent[l->var] = most;
	w->trips[w->depth] = l->trips;
	return 0;
}

/* Puts the values of iteration t into the registers: first + step * t. */
static void set_iteration(struct slice_walk *w, const struct loop *l)
{
	for (int i = 0; i < l->first.n; i++) {
		struct form *r = &w->reg[l->first.reg[i]];
		int64_t step;

		*r = l->first.form[i];
		if (r->kind == FORM_NONE)
			continue;
		if (l->step[i].kind == FORM_NONE)
			*r = l->step[i];
		else if (form_is_number(&l->step[i], &step))
			r->coef[l->var] += step;
		form_lanes(&w->b, w->code->regs[l->first.reg[i]]);
		if (!w->code->regs[l->first.reg[i]].ptr)
			*r = form_wrap(&w->b, r, (enum dtype)w->code->regs[l->first.reg[i]].dt);
	}
}

/* Compares what an iteration made of the registers with what it should. Registers that are not linear lose their
 * form. Returns how many did. */
static int check_steps(struct slice_walk *w, struct loop *l, int guess)
{
	int lost = 0;

	for (int i = 0; i < l->first.n; i++) {
		const struct form *now = &w->reg[l->first.reg[i]];
		struct form was = l->first.form[i], step;
		int64_t v = 0;

		if (was.kind == FORM_NONE || (!guess && l->step[i].kind == FORM_NONE))
			continue;
		if (!guess && form_is_number(&l->step[i], &v))
			was.coef[l->var] += v;
		step = now->kind == FORM_INT && was.kind == FORM_INT && now->memory == was.memory ?
			form_add(&w->b, now, &was, -1) : form_none(now->kind == FORM_NONE ? now->why : FORM_UNDECIDED);
		step.memory = -1;
		if (form_same(&w->b, now, &was))
			step = form_const(&w->b, 0);
		if (step.kind == FORM_INT && step.many && form_is_plain(&step)) {
			struct form one = step;

			one.many = 0;
			step = form_same(&w->b, &one, &step) ? one : step;
		}
		if (guess && form_is_number(&step, &v)) {
			l->step[i] = step;
		} else if (guess || !form_is_number(&step, &v) || v != l->step[i].base[0]) {
			l->step[i] = form_none(step.kind == FORM_NONE ? step.why : FORM_UNDECIDED);
			lost++;
		}
	}
	return lost;
}

/* Evaluates the body without recording accesses. */
static int rehearse(struct slice_walk *w, const struct loop *l)
{
	int dry = w->dry, rc;

	w->dry = 1;
	rc = walk(w, l->at + 1, l->head);
	rc = rc ? rc : walk(w, l->head + 1, l->end - 1);
	w->dry = dry;
	return rc;
}

/* Finds the steps: guessed from the first iteration, then confirmed for any iteration. */
static int find_steps(struct slice_walk *w, struct loop *l)
{
	int rc = rehearse(w, l);

	if (rc)
		return rc;
	check_steps(w, l, 1);
	for (int lost = 1; lost && !rc;) {
		set_iteration(w, l);
		rc = walk(w, l->at + 1, l->head);
		if (!rc && count_trips(w, l)) {
			w->b.extent[l->var] = 1;
			w->trips[w->depth] = NULL;
		}
		set_iteration(w, l);
		w->depth++;
		rc = rc ? rc : rehearse(w, l);
		w->depth--;
		lost = rc ? 0 : check_steps(w, l, 0);
	}
	return rc;
}

/* The values after the loop: those of iteration number `trips`. Registers that an iteration only sets have none. */
static void finish(struct slice_walk *w, const struct loop *l)
{
	for (int i = 0; i < l->first.n; i++) {
		struct form *r = &w->reg[l->first.reg[i]], trips = { .kind = FORM_INT, .memory = -1, .many = 1,
								      .base = l->trips };
		int64_t step;

		if (l->first.form[i].kind == FORM_NONE || !form_is_number(&l->step[i], &step)) {
			*r = form_none(l->step[i].kind == FORM_NONE ? l->step[i].why : FORM_UNDECIDED);
			continue;
		}
		*r = form_add(&w->b, &l->first.form[i], &trips, step);
		r->memory = l->first.form[i].memory;
	}
}

/* All accesses of a loop whose iterations are not known are not decided. */
static int walk_unknown(struct slice_walk *w, struct loop *l, const struct form *exit)
{
	enum slice_answer was = w->path_answer;
	int rc;

	note_answer(&w->path_answer, exit->kind == FORM_NONE && exit->why == FORM_CONTENTS ? SLICE_CONTENTS :
		    SLICE_UNDECIDED);
	w->b.extent[l->var] = 1;
	w->trips[w->depth] = NULL;
	w->depth++;
	rc = walk(w, l->head + 1, l->end - 1);
	w->depth--;
	w->path_answer = was;
	for (int i = 0; i < l->first.n; i++)
		w->reg[l->first.reg[i]] = form_none(exit->kind == FORM_NONE ? exit->why : FORM_UNDECIDED);
	return rc;
}

/* The loop as a whole, with the number of the iteration as a variable. */
static int walk_linear(struct slice_walk *w, struct loop *l)
{
	int rc;

	l->step = arena_array(&w->mem, (size_t)l->first.n + 1, sizeof *l->step);
	if (!l->step)
		return err_nomem(w->e);
	for (int i = 0; i < l->first.n; i++)
		l->step[i] = form_none(FORM_UNDECIDED);
	w->b.extent[l->var] = 1;
	w->trips[w->depth] = NULL;
	rc = find_steps(w, l);
	if (rc)
		return rc;
	set_iteration(w, l);
	rc = walk(w, l->at + 1, l->head);
	if (!rc && count_trips(w, l))
		return walk_unknown(w, l, &w->reg[tile_src(&w->code->funcs[0].insns[l->head], 0)]);
	w->depth++;
	rc = rc ? rc : walk(w, l->head + 1, l->end - 1);
	w->depth--;
	finish(w, l);
	w->b.extent[l->var] = 1;
	return rc;
}

/* Moves the values of the registers that the loop assigns out of the arena, so that it can be used again for the
 * next iteration, and back. Each iteration computes its bools again, and a bound is not kept: its variable is used
 * again. */
static int recycle(struct slice_walk *w, const struct saved *s, struct arena_mark mark)
{
	size_t each = (size_t)w->b.n * sizeof (int64_t);
	char *out = mem_array((size_t)s->n + 1, each);

	if (!out)
		return err_nomem(w->e);
	for (int i = 0; i < s->n; i++) {
		struct form *f = &w->reg[s->reg[i]];

		if (f->kind == FORM_BOOL || f->loose || form_has_quotients(f))
			*f = form_none(FORM_UNDECIDED);
		if (f->kind != FORM_NONE)
			memcpy(out + (size_t)i * each, f->kind == FORM_INT ? (const void *)f->base : f->f,
			       f->many ? each : sizeof (int64_t));
	}
	arena_reset(&w->mem, mark);
	for (int i = 0; i < s->n; i++) {
		struct form *f = &w->reg[s->reg[i]];
		size_t bytes = f->many ? each : sizeof (int64_t);
		void *to = f->kind == FORM_NONE ? NULL : arena_alloc(&w->mem, bytes);

		if (to)
			memcpy(to, out + (size_t)i * each, bytes);
		else
			*f = form_none(f->kind == FORM_NONE ? f->why : FORM_UNDECIDED);
		f->base = f->kind == FORM_INT ? to : NULL;
		f->f = f->kind == FORM_FLOAT ? to : NULL;
	}
	mem_free(out);
	return 0;
}

/* One iteration, for the instances that have not left the loop. Returns 1 after the last one. */
static int walk_iteration(struct slice_walk *w, struct loop *l)
{
	struct form stay, exit;
	struct saved before;
	struct path was;
	int rc = walk(w, l->at + 1, l->head), always;

	exit = w->reg[tile_src(&w->code->funcs[0].insns[l->head], 0)];
	stay = form_not(&w->b, &exit);
	if (rc || stay.kind != FORM_BOOL || !form_is_plain_bool(&stay)) {
		w->gave_up |= !rc && exit.kind != FORM_NONE;
		return rc ? rc : exit.kind == FORM_NONE ? walk_unknown(w, l, &exit) + 1 : 1;
	}
	always = form_always(&w->b, &stay);
	if (!always)
		return 1;
	if (always < 0 && save(w, l->at, l->end, &before))
		return -1;
	was = enter(w, &stay);
	rc = walk(w, l->head + 1, l->end - 1);
	leave(w, was);
	for (int i = 0; always < 0 && i < before.n; i++)
		w->reg[before.reg[i]] = form_select(&w->b, &stay, &w->reg[before.reg[i]], &before.form[i]);
	return rc;
}

/* The loop iteration by iteration: its values need not be linear. */
static int walk_iterations(struct slice_walk *w, struct loop *l)
{
	int rc = 0, n_loose = w->b.n_loose;

	l->var = FORM_LOOP + FORM_LOOPS - 1;
	while (!rc && !w->gave_up && !w->faulted) {
		struct arena_mark mark = arena_mark(&w->mem);

		w->b.n_loose = n_loose;
		rc = walk_iteration(w, l);
		if (!rc)
			rc = recycle(w, &l->first, mark);
	}
	return MIN(rc, 0);
}

static int walk_loop(struct slice_walk *w, int at, int end)
{
	struct loop l = { .at = at, .end = end, .var = FORM_LOOP + w->depth };

	if (w->depth == FORM_LOOPS || find_head(&w->code->funcs[0], &l)) {
		w->gave_up = 1;
		return 0;
	}
	if (save(w, at, end, &l.first))
		return -1;
	return w->iterate ? walk_iterations(w, &l) : walk_linear(w, &l);
}

/* --- instructions ------------------------------------------------------------------------- */

/* A program id is a variable, or a number in each instance. */
static struct form program_id(struct slice_walk *w, int axis)
{
	struct form r = form_const(&w->b, 0);
	const int64_t *grid = w->l->grid;
	int64_t *v;

	if (r.kind == FORM_NONE || w->by_pid) {
		r.coef[FORM_PID + axis] = 1;
		return r;
	}
	v = arena_alloc(&w->mem, (size_t)w->b.n * sizeof *v);
	if (!v)
		return form_none(FORM_UNDECIDED);
	for (int i = 0; i < w->b.n; i++) {
		int64_t at = (w->first + i) / w->lanes;

		v[i] = axis == 0 ? at % grid[0] : axis == 1 ? at / grid[0] % grid[1] : at / grid[0] / grid[1];
	}
	r.base = v;
	r.many = 1;
	return r;
}

/* A range whose lanes are instances: a number in each of them. */
static struct form folded_range(struct slice_walk *w, int64_t start)
{
	struct form r = form_const(&w->b, 0);
	int64_t *v = arena_alloc(&w->mem, (size_t)w->b.n * sizeof *v);

	if (!v)
		return form_none(FORM_UNDECIDED);
	for (int i = 0; i < w->b.n; i++)
		v[i] = start + (w->first + i) % w->lanes;
	r.base = v;
	r.many = 1;
	return r;
}

/* The first result of an instruction. Operations with many operands have no form. */
static struct form result_of(struct slice_walk *w, const struct tile_insn *in)
{
	struct form src[4], none = form_none(FORM_UNDECIDED);

	for (int k = 0; k < in->n_src; k++) {
		const struct form *f = &w->reg[tile_src(in, k)];

		if (f->kind == FORM_NONE)
			none.why = (uint8_t)MIN(none.why, f->why);
		if (k < (int)COUNT_OF(src))
			src[k] = *f;
	}
	return in->n_src > COUNT_OF(src) ? none : form_op(&w->b, w->code, in, src);
}

/* Adds the answers of a marked instruction to the signatures, or finds out whether they differ at all. */
static void note_class(struct slice_walk *w, const struct tile_insn *in)
{
	const struct form *f = &w->reg[tile_dst(in, 0)];

	if (w->dry || !w->marked[in - w->code->funcs[0].insns])
		return;
	form_lanes(&w->b, w->code->regs[tile_dst(in, 0)]);
	if (w->signature)
		class_note(&w->b, f, w->signature);
	else
		w->differs |= class_differs(f);
}

/* Evaluates an instruction that is no control flow. */
static int walk_plain(struct slice_walk *w, const struct tile_insn *in)
{
	if (is_access(in)) {
		for (int d = 0; d < in->n_dst; d++)
			w->reg[tile_dst(in, d)] = form_none(FORM_CONTENTS);
		return slice_access(w, in);
	}
	if (!in->n_dst || !w->needed[tile_dst(in, 0)]) {
		for (int d = 1; d < in->n_dst; d++)
			w->reg[tile_dst(in, d)] = form_none(FORM_UNDECIDED);
		return 0;
	}
	if (in->op == TOP_PROGRAM_ID) {
		w->reg[tile_dst(in, 0)] = program_id(w, (int)in->imm);
		return 0;
	}
	if (in->op == TOP_NUM_PROGRAMS) {
		w->reg[tile_dst(in, 0)] = form_const(&w->b, w->l->grid[in->imm]);
		return 0;
	}
	w->reg[tile_dst(in, 0)] = w->lanes > 1 && w->folded[in - w->code->funcs[0].insns] ?
		folded_range(w, in->imm) : result_of(w, in);
	note_class(w, in);
	for (int d = 1; d < in->n_dst; d++)
		w->reg[tile_dst(in, d)] = form_none(FORM_UNDECIDED);
	return 0;
}

/* The instructions [from, to). */
static int walk(struct slice_walk *w, int from, int to)
{
	const struct tile_func *f = &w->code->funcs[0];
	int rc = 0;

	for (int i = from; i < to && !rc && !w->gave_up && !w->faulted; i++) {
		const struct tile_insn *in = &f->insns[i];
		int end = opens(in) ? MIN(end_of(f, i, 0), to) : i;

		w->fuel -= w->b.n + STEP_COST;
		w->gave_up |= w->fuel < 0;

		switch (in->op) {
		case TOP_BLOCK: rc = walk(w, i + 1, end); break;
		case TOP_IF: rc = walk_if(w, i, end); break;
		case TOP_LOOP: rc = walk_loop(w, i, end); break;
		case TOP_RET: rc = walk_ret(w); break;
		case TOP_BR: case TOP_BR_IF: w->gave_up = 1; break;
		default: rc = walk_plain(w, in);
		}
		i = end;
	}
	return rc;
}

/* Sets a register to an argument: a pointer to its memory, or a number. */
static struct form param_form(struct slice_walk *w, int i)
{
	const struct tile_param *p = &w->code->params[i];
	struct tile_type t = w->code->regs[p->reg];
	const struct tile_val *a = slice_argument(w->l, p);
	unsigned char raw[8] = { 0 };
	struct form r;

	if (!a)
		return form_none(FORM_UNDECIDED);
	if (w->memory[i].st) {
		r = form_const(&w->b, w->memory[i].view);
		r.memory = (int16_t)i;
		return r;
	}
	if (p->part != TILE_PART_VALUE)
		return form_const(&w->b, p->part == TILE_PART_SHAPE ? a->t.shape[p->dim] : a->t.stride[p->dim]);
	if (t.ptr || (a->kind != TILE_V_INT && a->kind != TILE_V_BOOL && a->kind != TILE_V_FLOAT))
		return form_none(FORM_UNDECIDED);
	if (dtype_is_float((enum dtype)t.dt)) {
		dtype_store((enum dtype)t.dt, raw, a->kind == TILE_V_FLOAT ? a->f : (double)a->i);
		return form_const_float(&w->b, dtype_load((enum dtype)t.dt, raw));
	}
	return t.dt == DT_BOOL ? form_bool(&w->b, &a->i, 0) : form_const(&w->b, a->i);
}

/* Every register begins without a value, parameters with theirs. */
static void slice_params(struct slice_walk *w)
{
	for (int i = 0; i < w->code->n_regs; i++)
		w->reg[i] = form_none(FORM_UNDECIDED);
	for (int i = 0; i < w->code->n_params; i++)
		w->reg[w->code->params[i].reg] = param_form(w, i);
}

int slice_batch(struct slice_walk *w)
{
	struct form none = { .kind = FORM_BOOL, .memory = -1 };
	int rc;

	w->path = none;
	w->path_answer = SLICE_DECIDED;
	w->gone = NULL;
	w->depth = w->dry = w->gave_up = w->faulted = 0;
	w->b.n_loose = 0;
	for (int k = 0; k < FORM_VARS; k++)
		w->b.extent[k] = k >= FORM_PID && k < FORM_LOOSE && w->by_pid ? w->l->grid[k - FORM_PID] : 1;
	slice_params(w);
	rc = walk(w, 0, w->code->funcs[0].n_insns);
	if (!rc && w->gave_up)
		slice_unknown_all(w);
	return rc ? rc : w->faulted;
}
