/* Random tile programs with loops, branches, loads and stores, against a lane-by-lane reference:
 * whatever short forms, shared slots, moved and fused instructions the machine uses, memory
 * must end up the same, in both modes. */
#include "tile_rig.h"

#include "base/rng.h"

enum { LANES = 64, VARS = 6, TEMPS = 40, TENSOR = 256, TENSORS = 3, MOST = 400, ROUNDS = 3000 };

/* Classes of registers: i32 and bool, each as 64 and as 8 x 8, and scalar i32. */
enum class { FLAT, SQUARE, FLAT_BOOL, SQUARE_BOOL, SCALAR, CLASSES };

enum kind { ASSIGN, CONST, ARANGE, COPY, LOAD, STORE, LOOP, BRANCH, TRANS, RESHAPE, SPLAT, CHAIN };

struct st {
	enum kind kind;
	enum tile_op op;
	int dst, src[3];            /* variables; dst and sources of one class unless the op says otherwise */
	int64_t imm;
	int tensor, masked, xored;
	int to, plain;              /* CHAIN: where it goes; without the operation */
	int64_t to_imm;
	int body, n_body;           /* statements of a loop or branch, by index */
	int other, n_other;
};

struct program {
	struct rng g;
	struct st st[MOST];
	int n;
	enum class of[VARS * CLASSES + 4];
	int vars;
};

/* --- making one ------------------------------------------------------------------------ */

static int pick(struct program *p, enum class c) { return (int)c * VARS + (int)rng_below(&p->g, VARS); }
static enum class bool_of(enum class c) { return c == FLAT ? FLAT_BOOL : SQUARE_BOOL; }

static int block(struct program *p, int depth, int count, int *first);

static int arithmetic(struct program *p, struct st *s)
{
	static const enum tile_op ops[] = {
		TOP_ADD, TOP_SUB, TOP_MUL, TOP_AND, TOP_XOR, TOP_OR, TOP_MAX, TOP_MIN, TOP_LT, TOP_GE, TOP_EQ, TOP_SELECT, TOP_REM, TOP_DIV,
	};
	enum class c = (enum class)rng_below(&p->g, 2);
	s->kind = ASSIGN;
	s->op = ops[rng_below(&p->g, COUNT_OF(ops))];
	for (int k = 0; k < 3; k++)
		s->src[k] = pick(p, c);
	s->dst = pick(p, c);
	if (s->op == TOP_LT || s->op == TOP_GE || s->op == TOP_EQ)
		s->dst = pick(p, bool_of(c));
	if (s->op == TOP_SELECT)
		s->src[0] = pick(p, bool_of(c));
	if (rng_below(&p->g, 6) == 0) {
		s->op = rng_below(&p->g, 2) ? TOP_AND : TOP_XOR;
		for (int k = 0; k < 3; k++)
			s->src[k] = pick(p, bool_of(c));
		s->dst = pick(p, bool_of(c));
	}
	return 0;
}

static void memory(struct program *p, struct st *s)
{
	s->kind = rng_below(&p->g, 2) ? LOAD : STORE;
	s->tensor = (int)rng_below(&p->g, TENSORS);
	s->imm = (int64_t)rng_below(&p->g, TENSOR - LANES + 1);
	s->xored = rng_below(&p->g, 3) == 0 ? (int)rng_below(&p->g, 64) : 0;
	s->masked = (int)rng_below(&p->g, 2);
	s->dst = pick(p, FLAT);
	s->src[0] = pick(p, FLAT_BOOL);
	s->src[1] = pick(p, FLAT);
}

/* tensor[imm..] op variable into to[to_imm..], by registers nobody else sees. */
static void chain(struct program *p, struct st *s)
{
	static const enum tile_op ops[] = { TOP_ADD, TOP_SUB, TOP_XOR, TOP_MAX };
	memory(p, s);
	s->kind = CHAIN;
	s->op = ops[rng_below(&p->g, COUNT_OF(ops))];
	s->to = rng_below(&p->g, 2) ? s->tensor : (int)rng_below(&p->g, TENSORS);
	s->to_imm = s->imm + rng_between(&p->g, -9, 9);
	s->to_imm = s->to_imm < 0 ? 0 : s->to_imm > TENSOR - LANES ? TENSOR - LANES : s->to_imm;
	s->plain = rng_below(&p->g, 4) == 0;
}

static void statement(struct program *p, int depth)
{
	struct st *s = &p->st[p->n++];
	int which = (int)rng_below(&p->g, 20);
	*s = (struct st){ .n_body = 0 };
	if (which < 8) {
		arithmetic(p, s);
	} else if (which < 10) {
		memory(p, s);
	} else if (which < 12) {
		chain(p, s);
	} else if (which == 12) {
		*s = (struct st){ .kind = CONST, .dst = pick(p, (enum class)rng_below(&p->g, CLASSES)), .imm = rng_between(&p->g, -100, 100) };
	} else if (which == 13) {
		*s = (struct st){ .kind = ARANGE, .dst = pick(p, FLAT), .imm = rng_between(&p->g, -100, 100) };
	} else if (which == 14) {
		enum class c = (enum class)rng_below(&p->g, CLASSES);
		*s = (struct st){ .kind = COPY, .dst = pick(p, c), .src = { pick(p, c) } };
	} else if (which == 15) {
		enum class c = rng_below(&p->g, 2) ? SQUARE : SQUARE_BOOL;
		*s = (struct st){ .kind = TRANS, .dst = pick(p, c), .src = { pick(p, c) } };
	} else if (which == 16) {
		int b = (int)rng_below(&p->g, 2) * 2, way = (int)rng_below(&p->g, 2);
		*s = (struct st){ .kind = RESHAPE, .dst = pick(p, (enum class)(b + way)), .src = { pick(p, (enum class)(b + 1 - way)) } };
	} else if (which == 17 || depth == 2) {
		*s = (struct st){ .kind = SPLAT, .dst = pick(p, (enum class)rng_below(&p->g, 2)), .src = { pick(p, SCALAR) } };
	} else {
		int at = p->n - 1, loop = which == 18;
		int first, n;

		s->kind = loop ? LOOP : BRANCH;
		s->imm = loop ? (int64_t)rng_below(&p->g, 4) : 0;
		s->src[0] = pick(p, SCALAR);
		n = block(p, depth + 1, 1 + (int)rng_below(&p->g, 5), &first);
		p->st[at].body = first, p->st[at].n_body = n;
		if (!loop) {
			n = block(p, depth + 1, (int)rng_below(&p->g, 4), &first);
			p->st[at].other = first, p->st[at].n_other = n;
		}
	}
}

/* Statements of a block lie one after another, each followed by its own blocks; n_body counts
 * all of them, the reader skips. */
static int block(struct program *p, int depth, int count, int *first)
{
	*first = p->n;
	for (int i = 0; i < count && p->n < MOST - 40; i++)
		statement(p, depth);
	return p->n - *first;
}

/* --- the reference ------------------------------------------------------------------------ */

struct state {
	int32_t v[VARS * CLASSES][LANES];
	int32_t mem[TENSORS][TENSOR];
};

static int32_t compute(enum tile_op op, int is_bool, int32_t a, int32_t b, int32_t c)
{
	switch (op) {
	case TOP_ADD: return (int32_t)((uint32_t)a + (uint32_t)b);
	case TOP_SUB: return (int32_t)((uint32_t)a - (uint32_t)b);
	case TOP_MUL: return (int32_t)((uint32_t)a * (uint32_t)b);
	case TOP_AND: return a & b;
	case TOP_OR: return a | b;
	case TOP_XOR: return is_bool ? (a ^ b) & 1 : a ^ b;
	case TOP_MAX: return a > b ? a : b;
	case TOP_MIN: return a < b ? a : b;
	case TOP_LT: return a < b;
	case TOP_GE: return a >= b;
	case TOP_EQ: return a == b;
	case TOP_DIV: return b == 0 ? -1 : b == -1 ? (int32_t)(0 - (uint32_t)a) : a / b;
	case TOP_REM: return b == 0 ? a : b == -1 ? 0 : a % b;
	default: return a ? b : c;
	}
}

static void run_block(const struct program *p, struct state *x, int first, int n);

static void run_statement(const struct program *p, struct state *x, const struct st *s)
{
	int32_t out[LANES];
	const int32_t *a = x->v[s->src[0]], *b = x->v[s->src[1]], *c = x->v[s->src[2]];
	int cls = s->dst / VARS, is_bool = cls == FLAT_BOOL || cls == SQUARE_BOOL;
	for (int i = 0; i < LANES; i++) {
		int at = (int)((i ^ s->xored) + s->imm);
		switch (s->kind) {
		case ASSIGN: out[i] = compute(s->op, is_bool, a[i], b[i], c[i]); break;
		case CONST: out[i] = is_bool ? s->imm != 0 : (int32_t)s->imm; break;
		case ARANGE: out[i] = (int32_t)s->imm + i; break;
		case COPY: case RESHAPE: out[i] = a[i]; break;
		case TRANS: out[i] = a[i % 8 * 8 + i / 8]; break;
		case SPLAT: out[i] = a[0]; break;
		case LOAD: out[i] = !s->masked || a[i] ? x->mem[s->tensor][at] : b[i]; break;
		case STORE:
			if (!s->masked || a[i])
				x->mem[s->tensor][at] = b[i];
			break;
		default: break;
		}
	}
	if (s->kind == CHAIN) {
		for (int i = 0; i < LANES; i++) {
			int32_t t = x->mem[s->tensor][(i ^ s->xored) + s->imm];
			out[i] = s->plain ? t : compute(s->op, 0, t, b[i], 0);
		}
		for (int i = 0; i < LANES; i++)
			if (!s->masked || a[i])
				x->mem[s->to][i + s->to_imm] = out[i];
	} else if (s->kind == LOOP) {
		for (int64_t k = 0; k < s->imm; k++)
			run_block(p, x, s->body, s->n_body);
	} else if (s->kind == BRANCH) {
		if (a[0] > 0)
			run_block(p, x, s->body, s->n_body);
		else
			run_block(p, x, s->other, s->n_other);
	} else if (s->kind != STORE) {
		memcpy(x->v[s->dst], out, sizeof out);
	}
}

static int size_of(const struct st *s) { return 1 + s->n_body + s->n_other; }

static void run_block(const struct program *p, struct state *x, int first, int n)
{
	for (int i = first; i < first + n; i += size_of(&p->st[i]))
		run_statement(p, x, &p->st[i]);
}

/* --- tile code ------------------------------------------------------------------------- */

struct maker {
	struct rig *r;
	const struct program *p;
	tile_reg var[VARS * CLASSES], tensor[TENSORS];
};

static struct tile_type type_of(int var)
{
	static const int32_t flat[] = { 64 }, square[] = { 8, 8 };
	switch ((enum class)(var / VARS)) {
	case FLAT: return tile_shaped(tile_scalar(DT_I32), 1, flat);
	case SQUARE: return tile_shaped(tile_scalar(DT_I32), 2, square);
	case FLAT_BOOL: return tile_shaped(tile_scalar(DT_BOOL), 1, flat);
	case SQUARE_BOOL: return tile_shaped(tile_scalar(DT_BOOL), 2, square);
	default: return tile_scalar(DT_I32);
	}
}

static void make_block(struct maker *m, int first, int n);

static tile_reg make_address(struct maker *m, const struct st *s)
{
	struct tile_builder *b = &m->r->b;
	struct tile_type t = type_of(0), pt = tile_shaped(tile_pointer(DT_I32), 1, t.shape);
	tile_reg i = tile_build_imm(b, TOP_ARANGE, t, 0, 0);
	if (s->xored)
		i = tile_build(b, TOP_XOR, t, 2, i, tile_build_int(b, t, s->xored));
	i = tile_build(b, TOP_ADD, t, 2, i, tile_build_int(b, t, s->imm));
	return tile_build(b, TOP_ADDPTR, pt, 2, tile_build(b, TOP_SPLAT, pt, 1, m->tensor[s->tensor]), i);
}

/* Lanes meet in memory all the time here: what is under test is that they do it in order. */
static void make_barrier(struct maker *m)
{
	if (m->r->o.mode == TILE_CHECKED)
		tile_build_do(&m->r->b, TOP_BARRIER, 0);
}

static void make_chain(struct maker *m, const struct st *s)
{
	struct tile_builder *b = &m->r->b;
	struct st to = { .tensor = s->to, .imm = s->to_imm };
	tile_reg t = tile_build(b, TOP_LOAD, type_of(0), 1, make_address(m, s));
	tile_reg at;

	make_barrier(m);
	if (!s->plain)
		t = tile_build(b, s->op, type_of(0), 2, t, m->var[s->src[1]]);
	at = make_address(m, &to);
	if (s->masked)
		tile_build_do(b, TOP_STORE, 3, at, t, m->var[s->src[0]]);
	else
		tile_build_do(b, TOP_STORE, 2, at, t);
}

static void make_loop(struct maker *m, const struct st *s)
{
	struct tile_builder *b = &m->r->b;
	struct tile_type i32 = tile_scalar(DT_I32);
	tile_reg k = tile_build_reg(b, i32);
	tile_build_mov(b, k, tile_build_int(b, i32, 0));
	tile_build_block(b);
	tile_build_loop(b);
	tile_build_br_if(b, tile_build(b, TOP_GE, tile_scalar(DT_BOOL), 2, k, tile_build_int(b, i32, s->imm)), 1);
	make_block(m, s->body, s->n_body);
	tile_build_mov(b, k, tile_build(b, TOP_ADD, i32, 2, k, tile_build_int(b, i32, 1)));
	tile_build_br(b, 0);
	tile_build_end(b);
	tile_build_end(b);
}

static void make_branch(struct maker *m, const struct st *s)
{
	struct tile_builder *b = &m->r->b;
	tile_reg zero = tile_build_int(b, tile_scalar(DT_I32), 0);
	tile_build_if(b, tile_build(b, TOP_GT, tile_scalar(DT_BOOL), 2, m->var[s->src[0]], zero));
	make_block(m, s->body, s->n_body);
	tile_build_else(b);
	make_block(m, s->other, s->n_other);
	tile_build_end(b);
}

static tile_reg make_value(struct maker *m, const struct st *s)
{
	struct tile_builder *b = &m->r->b;
	struct tile_type t = type_of(s->dst);
	tile_reg x = m->var[s->src[0]], y = m->var[s->src[1]], z = m->var[s->src[2]], r;
	switch (s->kind) {
	case ASSIGN: return tile_build(b, s->op, t, s->op == TOP_SELECT ? 3 : 2, x, y, z);
	case CONST: return tile_build_int(b, t, s->imm);
	case ARANGE: return tile_build_imm(b, TOP_ARANGE, t, s->imm, 0);
	case RESHAPE: return tile_build(b, TOP_RESHAPE, t, 1, x);
	case SPLAT: return tile_build(b, TOP_SPLAT, t, 1, x);
	case LOAD: return s->masked ? tile_build(b, TOP_LOAD, t, 3, make_address(m, s), x, y) : tile_build(b, TOP_LOAD, t, 1, make_address(m, s));
	case TRANS:
		r = tile_build(b, TOP_PERMUTE, t, 1, x);
		tile_build_last(b)->attr[0] = 1;
		return r;
	default: return x;
	}
}

static void make_block(struct maker *m, int first, int n)
{
	for (int i = first; i < first + n; i += size_of(&m->p->st[i])) {
		const struct st *s = &m->p->st[i];
		tile_reg x = m->var[s->src[0]], y = m->var[s->src[1]];
		if (s->kind == LOAD || s->kind == STORE || s->kind == CHAIN)
			make_barrier(m);
		if (s->kind == LOOP)
			make_loop(m, s);
		else if (s->kind == BRANCH)
			make_branch(m, s);
		else if (s->kind == CHAIN)
			make_chain(m, s);
		else if (s->kind == STORE && s->masked)
			tile_build_do(&m->r->b, TOP_STORE, 3, make_address(m, s), y, x);
		else if (s->kind == STORE)
			tile_build_do(&m->r->b, TOP_STORE, 2, make_address(m, s), y);
		else
			tile_build_mov(&m->r->b, m->var[s->dst], make_value(m, s));
	}
}

static void one_program(uint64_t seed, enum tile_mode mode)
{
	static struct program p;
	static struct state x;
	struct rig r;
	struct maker m = { .r = &r, .p = &p };
	int32_t *mem[TENSORS];
	int first, rc, n;

	p.n = 0;
	rng_init(&p.g, seed, "random tile programs");
	n = block(&p, 0, 25, &first);
	memset(&x, 0, sizeof x);
	rig_open(&r);
	r.o.mode = mode;
	for (int i = 0; i < TENSORS; i++)
		m.tensor[i] = rig_tensor(&r, DT_I32, TENSOR, (void **)&mem[i]);
	for (int i = 0; i < VARS * CLASSES; i++) {
		m.var[i] = tile_build_reg(&r.b, type_of(i));
		tile_build_mov(&r.b, m.var[i], tile_build_int(&r.b, type_of(i), 0));
	}
	make_block(&m, first, n);
	for (int i = 0; i < TENSORS; i++)
		for (int k = 0; k < TENSOR; k++)
			x.mem[i][k] = mem[i][k] = (i + 1) * 1000 + k;
	run_block(&p, &x, first, n);
	assert_int_equal(rig_finish(&r), 0);
	rc = rig_execute(&r);
	/* Checked mode stops where a division by zero matters; the reference goes on. */
	if (!(rc == 1 && mode == TILE_CHECKED && r.d.reason == REASON_division_by_zero)) {
		if (rc)
			fail_msg("seed %llu: rc %d %s%s", (unsigned long long)seed, rc, r.e.text, r.d.text);
		for (int i = 0; i < TENSORS; i++)
			for (int k = 0; k < TENSOR; k++)
				if (mem[i][k] != x.mem[i][k])
					fail_msg("seed %llu, mode %d: tensor %d[%d] is %d, not %d", (unsigned long long)seed, mode, i, k, mem[i][k], x.mem[i][k]);
	}
	rig_close(&r);
}

static void test_fast(void **state)
{
	(void)state;
	for (uint64_t s = 0; s < ROUNDS; s++)
		one_program(s, TILE_FAST);
}

static void test_checked(void **state)
{
	(void)state;
	for (uint64_t s = 0; s < ROUNDS; s++)
		one_program(s, TILE_CHECKED);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_fast), cmocka_unit_test(test_checked) };
	/* test_tile_random SEED: one program, for looking into a failure; FROM TO: a range. */
	for (uint64_t s = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, end = argc > 2 ? strtoull(argv[2], NULL, 10) : s + 1; argc > 1 && s < end; s++) {
		one_program(s, TILE_FAST);
		one_program(s, TILE_CHECKED);
	}
	return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
