/* Values and the main loop of the tile machine.
 *
 * This file owns the seven forms of a value (machine.h), the text of faults, fuel, and control
 * flow. The operations themselves are in the exec_ files.
 *
 * Invariant: mval_dense leaves the value of every lane unchanged; only the layout differs. */
#include "tile/machine/machine.h"

#include <stdarg.h>
#include <stdio.h>

#include "tile/machine/check.h"
#include "tile/machine/exec_lanes.h"
#include "tile/machine/known_memory.h"
#include "tile/machine/replay.h"

/* --- values ------------------------------------------------------------------------- */

/* Pointers are 64-bit integers here. */
int64_t mval_int(const struct mval *v)
{
	return v->ptr ? v->u.i : dtype_load_int((enum dtype)v->dt, &v->u);
}

void mval_set_int(struct mval *v, int64_t x)
{
	v->kind = MVAL_UNIFORM;
	v->u.i = 0;
	if (v->ptr)
		v->u.i = x;
	else
		dtype_store_int((enum dtype)v->dt, &v->u, x);
}

/* The range of DENSE lanes is computed once and kept in `span` until the register is written
 * again. */
int mval_range(struct mval *v, int64_t *lo, int64_t *hi)
{
	if (v->kind == MVAL_DENSE && v->dt == DT_I32 && !v->ptr) {
		if (!v->ranged)
			SIMD_PICK(lanes_range32)(v->data, v->n, &v->span.lo, &v->span.hi);
		v->ranged = 1;
		*lo = v->span.lo;
		*hi = v->span.hi;
		return 0;
	}
	if (v->kind == MVAL_UNIFORM) {
		*lo = *hi = mval_int(v);
		return 0;
	}
	if (v->kind != MVAL_AFFINE)
		return -1;
	*lo = *hi = v->u.i;
	for (int d = 0; d < v->ndim; d++) {
		int64_t reach = v->stride[d] * (v->shape[d] - 1);
		*(reach < 0 ? lo : hi) += reach;
	}
	return 0;
}

/* n copies of one element. */
static void fill(void *data, const void *elem, int esize, size_t n)
{
#define FILL(T) do { T x, *o = data; memcpy(&x, elem, sizeof x); for (size_t i = 0; i < n; i++) o[i] = x; } while (0)
	switch (esize) {
	case 1: memset(data, *(const unsigned char *)elem, n); break;
	case 2: FILL(uint16_t); break;
	case 4: FILL(uint32_t); break;
	default: FILL(uint64_t);
	}
#undef FILL
}

/* n elements base, base + step, ... Sums wrap in the width of the element, as the type does. */
static void ramp(void *data, int64_t base, int64_t step, int esize, size_t n)
{
#define RAMP(T, U) do { T *o = data; U b = (U)base, s = (U)step; for (size_t i = 0; i < n; i++) o[i] = \
			(T)(b + (U)i * s); } while (0)
	switch (esize) {
	case 1: RAMP(uint8_t, uint32_t); break;
	case 2: RAMP(uint16_t, uint32_t); break;
	case 4: RAMP(uint32_t, uint32_t); break;
	default: RAMP(uint64_t, uint64_t);
	}
#undef RAMP
}

/* Advances `index` to the next row of the last dimension. Returns 0 after the last row. */
static int next_row(const struct mval *v, int32_t *index)
{
	for (int d = v->ndim - 2; d >= 0; d--) {
		if (++index[d] < v->shape[d])
			return 1;
		index[d] = 0;
	}
	return 0;
}

/* Writes AFFINE lanes out. { base = 7, stride = { 100, 1 } } of shape [2, 3] becomes 7 8 9 107
 * 108 109. */
static void write_affine(struct mval *v)
{
	int32_t index[TILE_DIMS] = { 0 };
	int last = v->ndim - 1;
	size_t row = (size_t)v->shape[last];
	char *out = v->data;
	do {
		int64_t base = v->u.i;
		for (int d = 0; d < last; d++)
			base += index[d] * v->stride[d];
		ramp(out, base, v->stride[last], v->esize, row);
		out += row * v->esize;
	} while (next_row(v, index));
}

/* Writes BOX lanes out: ones inside the box, zeros outside. */
static void write_box(struct mval *v)
{
	int32_t index[TILE_DIMS] = { 0 };
	int last = v->ndim - 1;
	size_t row = (size_t)v->shape[last];
	unsigned char *out = v->data;
	int32_t lo = v->box.lo[last], hi = v->box.hi[last];
	do {
		int on = lo < hi;
		for (int d = 0; d < last; d++)
			on &= index[d] >= v->box.lo[d] && index[d] < v->box.hi[d];
		memset(out, 0, row);
		if (on)
			memset(out + lo, 1, (size_t)(hi - lo));
		out += row;
	} while (next_row(v, index));
}

/* Spreads ROW or COLUMN over the whole slot, where its elements already lie. Rows go from first
 * to last. The element of a COLUMN's row i lies behind rows 0 to i - 1, so it is still there when
 * row i needs it: shape [4, 8] keeps row 0's element at index 28, which only row 3 overwrites. */
static void write_rows(struct mval *v)
{
	size_t row = (size_t)v->shape[1] * v->esize;
	char *out = v->data;
	const char *from = v->kind == MVAL_ROW ? out : mval_column(v);
	for (int32_t i = 0; i < v->shape[0]; i++, out += row) {
		unsigned char element[8];
		if (v->kind == MVAL_ROW) {
			if (i)
				memcpy(out, from, row);
			continue;
		}
		memcpy(element, from + (size_t)i * v->esize, v->esize);
		fill(out, element, v->esize, (size_t)v->shape[1]);
	}
	v->kind = MVAL_DENSE;
}

/* Replaces 32-bit counts by 64-bit addresses in the same slot. Blocks go from the end, so that no
 * count is overwritten before it is read: address 7 takes the bytes of counts 14 and 15. */
static void write_near(struct mval *v)
{
	enum { BLOCK = 64 };
	int64_t *out = v->data;
	int32_t offset[BLOCK];

	for (int64_t n = v->n; n > 0; n -= BLOCK) {
		int64_t from = MAX(n - BLOCK, 0);

		memcpy(offset, (const int32_t *)v->data + from, (size_t)(n - from) * sizeof *offset);
		SIMD_PICK(lanes_offset32)(out + from, NULL, v->u.i, offset, dtype_size((enum dtype)v->dt), n - from);
	}
	v->kind = MVAL_DENSE;
}

void *mval_dense(struct mval *v)
{
	if (v->kind == MVAL_DENSE || v->written || v->home == &v->u)
		return v->data;
	if (v->kind == MVAL_ROW || v->kind == MVAL_COLUMN) {
		write_rows(v);
		return v->data;
	}
	if (v->kind == MVAL_NEAR) {
		write_near(v);
		return v->data;
	}
	if (v->kind == MVAL_UNIFORM)
		fill(v->data, &v->u, v->esize, (size_t)v->n);
	else if (v->kind == MVAL_AFFINE)
		write_affine(v);
	else
		write_box(v);
	v->written = 1;
	return v->data;
}

/* ROW, COLUMN and NEAR are written out first, because their layout depends on the slot. */
void mval_copy(struct mval *dst, struct mval *src)
{
	if (src->kind > MVAL_DENSE)
		mval_dense(src);
	dst->kind = src->kind;
	dst->u = src->u;
	dst->prov = src->prov;
	if (src->kind == MVAL_AFFINE)
		memcpy(dst->stride, src->stride, sizeof dst->stride);
	else if (src->kind == MVAL_BOX)
		dst->box = src->box;
	else if (src->kind == MVAL_DENSE && dst->data != src->data)
		memcpy(dst->data, src->data, (size_t)src->n * src->esize);
}

/* --- faults ------------------------------------------------------------------------- */

/* The first fault of a machine stays; diag_set ignores later ones. */
static int set_fault(struct machine *m, int32_t loc, enum reason r, const char *text)
{
	const struct tile_loc *l = &m->code->locs[loc];

	diag_set(m->fault, r, l->line, l->col, "%s", text);
	snprintf(m->fault->kernel, sizeof m->fault->kernel, "%.*s", STR_ARG(m->code->name));
	return -1;
}

/* Room for "in program instance (...)" and a hint behind a text of TEXT_MOST bytes. */
enum { TEXT_MOST = 400, MESSAGE_MOST = 600 };

static int fault_in_instance(struct machine *m, int32_t loc, enum reason r, const char *text, const char *hint)
{
	char message[MESSAGE_MOST];

	snprintf(message, sizeof message, "%s in program instance (%lld,%lld,%lld)%s%s", text, (long long)m->pid[0],
		 (long long)m->pid[1], (long long)m->pid[2], hint ? "; " : "", hint ? hint : "");
	return set_fault(m, loc, r, message);
}

int fault_at(struct machine *m, int32_t loc, enum reason r, const char *fmt, ...)
{
	char text[TEXT_MOST];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return fault_in_instance(m, loc, r, text, NULL);
}

int fault_hint(struct machine *m, int32_t loc, enum reason r, const char *hint, const char *fmt, ...)
{
	char text[TEXT_MOST];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return fault_in_instance(m, loc, r, text, hint);
}

int fault_text(struct machine *m, int32_t loc, enum reason r, const char *fmt, ...)
{
	char text[MESSAGE_MOST];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return set_fault(m, loc, r, text);
}

/* --- the loop ----------------------------------------------------------------------- */

/* Operations that a thread takes from the shared pool at once, so that threads rarely meet there. */
enum { FUEL_CHUNK = 1 << 14 };

/* Takes the next portion of fuel. A kernel without a limit gets fuel that never ends. */
static int refuel(struct machine *m, const struct tile_insn *in)
{
	int64_t want, left;

	if (!m->fuel_pool) {
		m->fuel = INT64_MAX;
		return 0;
	}
	/* m->fuel is negative here: the debt is paid first. The pool may go below zero by one portion. */
	want = FUEL_CHUNK - m->fuel;
	left = __atomic_sub_fetch(m->fuel_pool, want, __ATOMIC_RELAXED);
	if (left < -want)
		return fault_hint(m, in->loc, REASON_kernel_timeout, "does a loop never end?",
				  "the kernel exceeded its limit of operations");
	m->fuel += want;
	return 0;
}

/* The condition of a branch, which must not be poison. */
static int truth(struct machine *m, const struct tile_insn *in, int *yes)
{
	const struct mval *c = mval_src(m, in, 0);
	if (m->check && c->poison)
		return poison_fault(m, in->loc, c, 0, "a branch");
	*yes = c->u.raw[0] != 0;
	return 0;
}

/* One control instruction: the next program counter, or -1 after a fault. */
static int control(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p, int pc)
{
	int yes = 1;
	if (in->n_src && truth(m, in, &yes))
		return -1;
	switch (in->op) {
	case TOP_IF: return yes ? pc + 1 : p->jump;
	case TOP_BR_IF: return yes ? p->jump : pc + 1;
	case TOP_ELSE: case TOP_BR: case TOP_RET: return p->jump;
	}
	return pc + 1;
}

/* Control flow has no exec function: decode.c resolved its jumps. An instruction's result is
 * renewed before it runs; sources that are the same register must not rely on `written` or
 * `ranged`. */
int machine_exec(struct machine *m, int func)
{
	const struct decoded_insn *first = m->decoded->funcs[func].v, *end = first + m->decoded->funcs[func].n;
	int64_t *counters = (int64_t *)&m->cost;
	for (const struct decoded_insn *p = first; p < end;) {
		const struct tile_insn *in = p->in;
		m->fuel -= p->fuel;
		if (m->fuel < 0 && refuel(m, in))
			return -1;
		if (!p->exec) {
			int pc = control(m, in, p, (int)(p - first));
			if (pc < 0)
				return -1;
			p = first + pc;
			continue;
		}
		if (p->counter != 0xff)
			counters[p->counter] += p->lanes;
		if (in->n_dst)
			mval_renew(mval_dst(m, in, 0));
		for (int k = 1; k < in->n_dst; k++)
			mval_renew(mval_dst(m, in, k));
		if (m->record && p->replayed)
			replay_record_insn(m, p, (int)(p - first));
		if (m->check ? check_exec(m, in, p) : p->exec(m, in, p))
			return -1;
		if (m->sampled)
			known_test(m, in);
		p++;
	}
	return 0;
}

/* Results of the prologue stay in their slots for all instances of the machine. */
int machine_prologue(struct machine *m)
{
	for (int i = 0; i < m->decoded->prologue.n; i++) {
		const struct decoded_insn *p = &m->decoded->prologue.v[i];
		if (m->check ? check_exec(m, p->in, p) : p->exec(m, p->in, p))
			return -1;
		if (m->sampled)
			known_test(m, p->in);
	}
	return 0;
}

/* --- functions ------------------------------------------------------------------------ */

/* Copies one argument of a combine function into its register. */
static void bind_param(struct mval *v, unsigned char *arg, int n)
{
	mval_clear_poison(v);
	mval_renew(v);
	v->kind = n == 1 ? MVAL_UNIFORM : MVAL_DENSE;
	if (n == 1)
		memcpy(&v->u, arg, v->esize);
	else
		memcpy(v->data, arg, (size_t)n * v->esize);
}

/* The registers of the function take the number of lanes of the call; all of them are
 * one-dimensional. */
int call_func(struct machine *m, const struct tile_insn *in, int func, int n, unsigned char *const *args,
	      unsigned char *const *results)
{
	const struct tile_func *f = &m->code->funcs[func];
	(void)in;
	for (int i = m->decoded->first_reg[func]; i < m->decoded->last_reg[func]; i++) {
		struct mval *v = &m->vals[m->decoded->func_regs[i]];
		v->n = n;
		v->shape[0] = n;
	}
	for (int i = 0; i < f->n_params; i++)
		bind_param(&m->vals[f->params[i]], args[i], n);
	if (machine_exec(m, func))
		return -1;
	for (int i = 0; i < f->n_results; i++) {
		struct mval *v = &m->vals[f->results[i]];
		memcpy(results[i], n == 1 ? (void *)mval_lanes(v) : mval_dense(v), (size_t)n * v->esize);
	}
	return 0;
}
