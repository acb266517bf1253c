/* Element expressions and the pool of unique expressions: see element.h. */
#include <math.h>

#include "solve/element_impl.h"

#include "base/hash.h"

static const struct { const char *text; int arity, is_bool; } op_info[SX_OPS] = {
#define SAME 0
#define BOOL 1
#define EXPR_OP(id, n, type, triton) [SX_##id] = { .text = triton, .arity = n, .is_bool = type },
#include "solve/element_op.def"
#undef EXPR_OP
#undef BOOL
#undef SAME
};

const char *sx_op_text(enum sx_op op) { return op_info[op].text; }

/* --- the pool ----------------------------------------------------------------------- */

void expr_pool_init(struct expr_pool *p, jmp_buf *trap)
{
	*p = (struct expr_pool){ .arena = { .trap = trap, .limit = (size_t)1 << 28 } };
}

void expr_pool_release(struct expr_pool *p)
{
	mem_free(p->ixs.slot);
	mem_free(p->sxs.slot);
	arena_release(&p->arena);
}

_Noreturn void expr_give_up(struct expr_pool *p)
{
	if (!p->arena.trap)
		BUG("an expression pool without a trap");
	longjmp(*p->arena.trap, 1);
}

/* Grows a table of unique expressions. Both kinds begin with their hash. */
static void grow(struct expr_pool *p, const void ***slot, size_t n, size_t *cap)
{
	size_t bigger = *cap ? 2 * *cap : 256;
	const void **old = *slot, **now;

	if (2 * (n + 1) <= *cap)
		return;
	now = mem_array(bigger, sizeof *now);
	if (!now)
		expr_give_up(p);
	for (size_t i = 0; i < *cap; i++)
		if (old[i]) {
			size_t k = (size_t)(*(const uint64_t *)old[i]) & (bigger - 1);

			while (now[k])
				k = (k + 1) & (bigger - 1);
			now[k] = old[i];
		}
	mem_free(old);
	*slot = now;
	*cap = bigger;
}

static int same_ix(const struct ix *a, const struct ix *b)
{
	if (a->hash != b->hash || a->c0 != b->c0 || a->n != b->n)
		return 0;
	for (int i = 0; i < a->n; i++)
		if (a->t[i].c != b->t[i].c || a->t[i].kind != b->t[i].kind || a->t[i].var != b->t[i].var ||
		    a->t[i].by != b->t[i].by || a->t[i].of != b->t[i].of || a->t[i].value != b->t[i].value)
			return 0;
	return 1;
}

const struct ix *expr_unique_ix(struct expr_pool *p, const struct ix *x)
{
	size_t k;

	grow(p, &p->ixs.slot, p->ixs.n, &p->ixs.cap);
	for (k = (size_t)x->hash & (p->ixs.cap - 1); p->ixs.slot[k]; k = (k + 1) & (p->ixs.cap - 1))
		if (same_ix(p->ixs.slot[k], x))
			return p->ixs.slot[k];
	p->ixs.slot[k] = x;
	p->ixs.n++;
	return x;
}

static int same_sx(const struct sx *a, const struct sx *b)
{
	return a->hash == b->hash && a->op == b->op && a->dt == b->dt && a->value == b->value && a->at == b->at &&
		!memcmp(&a->num, &b->num, sizeof a->num) && a->a[0] == b->a[0] && a->a[1] == b->a[1] &&
		a->a[2] == b->a[2];
}

const struct sx *expr_unique_sx(struct expr_pool *p, const struct sx *x)
{
	size_t k;

	grow(p, &p->sxs.slot, p->sxs.n, &p->sxs.cap);
	for (k = (size_t)x->hash & (p->sxs.cap - 1); p->sxs.slot[k]; k = (k + 1) & (p->sxs.cap - 1))
		if (same_sx(p->sxs.slot[k], x))
			return p->sxs.slot[k];
	p->sxs.slot[k] = x;
	p->sxs.n++;
	return x;
}

/* The unique copy of an expression whose other fields are set. */
static const struct sx *make(struct expr_pool *p, const struct sx *like)
{
	struct sx *x = arena_alloc(&p->arena, sizeof *x);
	uint64_t key[8] = { (uint64_t)like->op << 32 | (unsigned)like->dt, (uint64_t)(unsigned)like->value,
			    like->at ? like->at->hash : 1 };

	*x = *like;
	memcpy(&key[3], &like->num, sizeof like->num);
	x->size = like->op == SX_NUM || like->op == SX_INDEX ? 0 : 1;
	for (int i = 0; i < SX_ARGS; i++) {
		key[4 + i] = like->a[i] ? like->a[i]->hash : 0;
		x->size += like->a[i] ? like->a[i]->size : 0;
	}
	x->hash = hash_xxh64(key, sizeof key, 13);
	return expr_unique_sx(p, x);
}

/* --- construction -------------------------------------------------------------------- */

enum dtype sx_dtype(enum dtype dt)
{
	if (dt == DT_BOOL || dt == DT_F64 || dt == DT_I64)
		return dt;
	return dtype_is_float(dt) ? DT_F32 : DT_I32;
}

const struct sx *sx_num(struct expr_pool *p, double v, enum dtype dt)
{
	return make(p, &(struct sx){ .op = SX_NUM, .dt = sx_dtype(dt), .num = v });
}

const struct sx *sx_index(struct expr_pool *p, const struct ix *at)
{
	if (!at->n)
		return sx_num(p, (double)at->c0, DT_I32);
	return make(p, &(struct sx){ .op = SX_INDEX, .dt = DT_I32, .at = at });
}

const struct sx *sx_load(struct expr_pool *p, int value, enum dtype dt, const struct ix *at,
			 const struct sx *mask, double otherwise)
{
	return make(p, &(struct sx){ .op = SX_LOAD, .dt = sx_dtype(dt), .value = value, .at = at, .a = { mask },
				     .num = mask ? otherwise : 0.0 });
}

int sx_is_whole(double v, int64_t *n)
{
	if (!(fabs(v) < 9e18) || v != trunc(v))
		return 0;
	*n = (int64_t)v;
	return 1;
}

const struct sx *sx_cast(struct expr_pool *p, const struct sx *a, enum dtype dt)
{
	enum dtype to = sx_dtype(dt);
	int64_t whole;

	if (a->dt == to)
		return a;
	if (a->op == SX_NUM && (dtype_is_float(to) || sx_is_whole(a->num, &whole)))
		return sx_num(p, to == DT_BOOL ? a->num != 0.0 : a->num, to);
	return make(p, &(struct sx){ .op = SX_CAST, .dt = to, .a = { a } });
}

static int is_num(const struct sx *a, double v)
{
	return a->op == SX_NUM && a->num == v;
}

const struct sx *sx_op1(struct expr_pool *p, enum sx_op op, const struct sx *a)
{
	if (op == SX_NEG && a->op == SX_NUM)
		return sx_num(p, -a->num, a->dt);
	return make(p, &(struct sx){ .op = op, .dt = a->dt, .a = { a } });
}

/* Arithmetic on two numbers. Returns 0 if the operator is not folded. */
static int fold(enum sx_op op, double a, double b, double *r)
{
	*r = op == SX_ADD ? a + b : op == SX_SUB ? a - b : op == SX_MUL ? a * b : a;
	return op == SX_ADD || op == SX_SUB || op == SX_MUL;
}

/* Compares an index with a number by its range: 1 always, 0 never, -1 unknown. */
static int compare_range(enum sx_op op, const struct ix *at, double v)
{
	double lo = (double)at->lo, hi = (double)at->hi;

	switch (op) {
	case SX_LT:
		return hi < v ? 1 : lo >= v ? 0 : -1;
	case SX_LE:
		return hi <= v ? 1 : lo > v ? 0 : -1;
	case SX_GT:
		return lo > v ? 1 : hi <= v ? 0 : -1;
	case SX_GE:
		return lo >= v ? 1 : hi < v ? 0 : -1;
	case SX_EQ:
		return lo > v || hi < v ? 0 : lo == v && hi == v ? 1 : -1;
	case SX_NE:
		return lo > v || hi < v ? 1 : lo == v && hi == v ? 0 : -1;
	default:
		return -1;
	}
}

/* An operand as an index: one already, or a whole number. */
static const struct ix *as_index(struct expr_pool *p, const struct sx *a)
{
	int64_t n;

	if (a->dt != DT_I32)
		return NULL;
	return a->op == SX_INDEX ? a->at : a->op == SX_NUM && sx_is_whole(a->num, &n) ? ix_num(p, n) : NULL;
}

/* A binary operator whose operands are indices stays an index. */
static const struct sx *index_op2(struct expr_pool *p, enum sx_op op, const struct sx *a, const struct sx *b)
{
	const struct ix *x = as_index(p, a), *y = as_index(p, b);

	if (!x || !y)
		return NULL;
	if (op == SX_ADD)
		return sx_index(p, ix_add(p, x, y));
	if (op == SX_SUB)
		return sx_index(p, ix_add(p, x, ix_mul(p, y, -1)));
	if (op == SX_MUL && (!x->n || !y->n))
		return sx_index(p, x->n ? ix_mul(p, x, y->c0) : ix_mul(p, y, x->c0));
	return NULL;
}

const struct sx *sx_op2(struct expr_pool *p, enum sx_op op, const struct sx *a, const struct sx *b)
{
	const struct sx *index = index_op2(p, op, a, b);
	double r;
	int known = a->op == SX_INDEX && b->op == SX_NUM ? compare_range(op, a->at, b->num) :
		a->op == SX_NUM && b->op == SX_NUM ? compare_range(op, ix_num(p, 0), b->num - a->num) : -1;

	if (index)
		return index;
	if (op == SX_FMOD && !dtype_is_float(a->dt))     /* Triton's % of integers is that of C */
		op = SX_IMOD;
	if (known >= 0)
		return sx_num(p, known, DT_BOOL);
	if (a->op == SX_NUM && b->op == SX_NUM && a->dt != DT_BOOL && fold(op, a->num, b->num, &r))
		return sx_num(p, r, a->dt);
	if ((op == SX_ADD && is_num(a, 0.0)) || (op == SX_MUL && is_num(a, 1.0)))
		return b;
	if (((op == SX_ADD || op == SX_SUB) && is_num(b, 0.0)) || ((op == SX_MUL || op == SX_DIV) && is_num(b, 1.0)))
		return a;
	if (op == SX_AND && a->dt == DT_BOOL && (is_num(a, 1.0) || is_num(b, 0.0)))
		return b;
	if (op == SX_AND && a->dt == DT_BOOL && (is_num(b, 1.0) || is_num(a, 0.0)))
		return a;
	return make(p, &(struct sx){ .op = op, .dt = op_info[op].is_bool ? DT_BOOL : a->dt, .a = { a, b } });
}

const struct sx *sx_where(struct expr_pool *p, const struct sx *c, const struct sx *a, const struct sx *b)
{
	if (!c || is_num(c, 1.0) || a == b)
		return a;
	if (is_num(c, 0.0))
		return b;
	return make(p, &(struct sx){ .op = SX_WHERE, .dt = a->dt, .a = { c, a, b } });
}

const struct sx *sx_both(struct expr_pool *p, const struct sx *a, const struct sx *b)
{
	if (!a || is_num(a, 1.0))
		a = b;
	else if (b && !is_num(b, 1.0) && a != b)
		a = sx_op2(p, SX_AND, a, b);
	return a && is_num(a, 1.0) ? NULL : a;
}

const struct sx *sx_inside(struct expr_pool *p, const struct ix *at, int64_t lo, int64_t hi)
{
	const struct sx *i = sx_index(p, at);

	if (!at->n)
		return at->c0 >= lo && at->c0 < hi ? NULL : sx_num(p, 0.0, DT_BOOL);
	return sx_both(p, sx_op2(p, SX_GE, i, sx_num(p, (double)lo, DT_I32)),
		       sx_op2(p, p->any_size && at->lo < lo && at->hi > lo ? SX_BELOW : SX_LT, i,
			      sx_num(p, (double)hi, DT_I32)));
}

/* --- walks ---------------------------------------------------------------------------- */

uint64_t sx_vars(const struct sx *a)
{
	uint64_t m = a->at ? ix_vars(a->at) : 0;

	for (int i = 0; i < SX_ARGS; i++)
		m |= a->a[i] ? sx_vars(a->a[i]) : 0;
	return m;
}

/* A load in its new place. */
static const struct sx *rebuild_load(struct expr_pool *p, const struct sx *a, const struct sx_rewrite *r)
{
	const struct ix *at = ix_replace(p, a->at, r->to);
	const struct sx *mask = a->a[0] ? sx_rebuild(p, a->a[0], r) : NULL, *got = NULL;

	if (mask && is_num(mask, 1.0))
		mask = NULL;
	if (mask && is_num(mask, 0.0))
		return sx_num(p, a->num, a->dt);
	if (r->load)
		got = r->load(r->ctx, a, at, mask);
	return got ? got : sx_load(p, a->value, a->dt, at, mask, a->num);
}

const struct sx *sx_rebuild(struct expr_pool *p, const struct sx *a, const struct sx_rewrite *r)
{
	const struct sx *b[SX_ARGS] = { NULL };

	if (a->op == SX_NUM)
		return a;
	if (a->op == SX_INDEX)
		return sx_index(p, ix_replace(p, a->at, r->to));
	if (a->op == SX_LOAD)
		return rebuild_load(p, a, r);
	for (int i = 0; i < SX_ARGS && a->a[i]; i++)
		b[i] = sx_rebuild(p, a->a[i], r);
	if (a->op == SX_CAST)
		return sx_cast(p, b[0], a->dt);
	if (a->op == SX_WHERE)
		return sx_where(p, b[0], b[1], b[2]);
	return b[1] ? sx_op2(p, a->op, b[0], b[1]) : sx_op1(p, a->op, b[0]);
}

/* The loads inside an index. */
static int ix_loads(const struct ix *a, int (*fn)(void *ctx, const struct sx *load), void *ctx)
{
	int rc = 0;

	for (int i = 0; i < a->n && !rc; i++)
		rc = a->t[i].kind == IX_VALUE ? sx_loads(a->t[i].value, fn, ctx) :
			a->t[i].of ? ix_loads(a->t[i].of, fn, ctx) : 0;
	return rc;
}

int sx_loads(const struct sx *a, int (*fn)(void *ctx, const struct sx *load), void *ctx)
{
	int rc = a->at ? ix_loads(a->at, fn, ctx) : 0;

	for (int i = 0; i < SX_ARGS && a->a[i] && !rc; i++)
		rc = sx_loads(a->a[i], fn, ctx);
	return rc ? rc : a->op == SX_LOAD ? fn(ctx, a) : 0;
}
