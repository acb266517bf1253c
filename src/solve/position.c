/* Index expressions: construction, simplification by range, replacement of variables. element.h is the
 * manual. Every constructor returns the unique expression in normal form: terms in a fixed order,
 * equal terms added up, c * d * (x / d) + c * (x % d) joined to c * x. */
#include "base/hash.h"
#include "solve/element_impl.h"

/* A sum under construction. */
struct sum {
	int64_t c0;
	int n;
	struct ix_term t[IX_TERMS];
};

/* Whether two terms differ in their factors at most. */
static int same_atom(const struct ix_term *a, const struct ix_term *b)
{
	return a->kind == b->kind && a->var == b->var && a->by == b->by && a->of == b->of && a->value == b->value;
}

static int number_order(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* Terms are ordered by their form, and by their numbers only where the forms are alike. So the order does not
 * depend on addresses, and a kernel for other sizes has the same text with other numbers. */
static int ix_order(const struct ix *a, const struct ix *b, int numbers);

/* Larger elements than this are ordered by their hash: a walk over all of them would take too long. */
enum { ORDERED_SIZE = 256 };

static int sx_order(const struct sx *a, const struct sx *b, int numbers)
{
	int o = number_order(a->op, b->op);

	if (a == b)
		return 0;
	o = o ? o : number_order(a->size, b->size);
	o = o ? o : number_order(a->value, b->value);
	if (!o && a->size > ORDERED_SIZE)
		return number_order((int64_t)a->hash, (int64_t)b->hash);
	if (!o && numbers && a->num != b->num)
		o = a->num < b->num ? -1 : 1;
	if (!o && a->at && b->at)
		o = ix_order(a->at, b->at, numbers);
	for (int i = 0; i < SX_ARGS && !o && a->a[i] && b->a[i]; i++)
		o = sx_order(a->a[i], b->a[i], numbers);
	return o;
}

static int atom_order(const struct ix_term *a, const struct ix_term *b, int numbers)
{
	int o = number_order(a->kind, b->kind);

	o = o ? o : number_order(a->var, b->var);
	if (!o && a->of && b->of)
		o = ix_order(a->of, b->of, numbers);
	if (!o && a->value && b->value)
		o = sx_order(a->value, b->value, numbers);
	return o || !numbers || a->kind == IX_VAR ? o : number_order(a->by, b->by);
}

static int ix_order(const struct ix *a, const struct ix *b, int numbers)
{
	int o = number_order(a->n, b->n);

	if (a == b)
		return 0;
	for (int i = 0; i < a->n && !o; i++) {
		o = atom_order(&a->t[i], &b->t[i], numbers);
		o = o || !numbers ? o : number_order(a->t[i].c, b->t[i].c);
	}
	return o || !numbers ? o : number_order(a->c0, b->c0);
}

static int term_order(const struct ix_term *a, const struct ix_term *b)
{
	int o = atom_order(a, b, 0);

	return o ? o : atom_order(a, b, 1);
}

static void sum_drop(struct sum *s, int i)
{
	memmove(&s->t[i], &s->t[i + 1], (size_t)(s->n - i - 1) * sizeof s->t[0]);
	s->n--;
}

/* Adds one term at its place in the order. More than IX_TERMS terms end the attempt. */
static void sum_term(struct expr_pool *p, struct sum *s, struct ix_term t)
{
	int i = 0;

	if (!t.c)
		return;
	while (i < s->n && term_order(&s->t[i], &t) < 0)
		i++;
	if (i < s->n && same_atom(&s->t[i], &t)) {
		s->t[i].c += t.c;
		if (!s->t[i].c)
			sum_drop(s, i);
		return;
	}
	if (s->n == IX_TERMS)
		expr_give_up(p);
	memmove(&s->t[i + 1], &s->t[i], (size_t)(s->n - i) * sizeof s->t[0]);
	s->t[i] = t;
	s->n++;
}

static void sum_ix(struct expr_pool *p, struct sum *s, const struct ix *a, int64_t c)
{
	s->c0 += a->c0 * c;
	for (int i = 0; i < a->n; i++) {
		struct ix_term t = a->t[i];

		t.c *= c;
		sum_term(p, s, t);
	}
}

/* Whether `q` is x / (a * by) for the m = (x / a) % by, or x / by for the m = x % by. */
static int is_quotient_of(const struct ix_term *q, const struct ix_term *m)
{
	const struct ix *in = m->of;

	if (q->kind != IX_DIV || q->c != m->c * m->by)
		return 0;
	if (q->of == in && q->by == m->by)
		return 1;
	return in->n == 1 && !in->c0 && in->t[0].c == 1 && in->t[0].kind == IX_DIV && in->t[0].of == q->of &&
		q->by == in->t[0].by * m->by;
}

/* c * (x % d) and c * d * (x / d) together are c * x. Returns 1 if a pair was joined. */
static int sum_join(struct expr_pool *p, struct sum *s)
{
	for (int i = 0; i < s->n; i++)
		for (int k = 0; s->t[i].kind == IX_MOD && k < s->n; k++)
			if (is_quotient_of(&s->t[k], &s->t[i])) {
				struct ix_term m = s->t[i];

				sum_drop(s, MAX(i, k));
				sum_drop(s, MIN(i, k));
				sum_ix(p, s, m.of, m.c);
				return 1;
			}
	return 0;
}

/* The smallest and largest value of a term without its factor. */
static void atom_range(const struct ix_term *t, int64_t *lo, int64_t *hi)
{
	*lo = 0;
	*hi = t->by - 1;
	if (t->kind == IX_DIV) {
		*lo = t->of->lo >= 0 ? t->of->lo / t->by : -((-t->of->lo + t->by - 1) / t->by);
		*hi = t->of->hi >= 0 ? t->of->hi / t->by : -((-t->of->hi + t->by - 1) / t->by);
	} else if (t->kind == IX_VALUE) {
		*lo = t->of ? t->of->c0 : 0;
		*hi = t->by;
	} else if (t->kind == IX_WITHIN) {
		*lo = MAX(*lo, t->of->lo);
		*hi = MIN(*hi, t->of->hi);
	} else if (t->kind == IX_MOD) {
		*hi = MIN(*hi, t->of->lo >= 0 ? t->of->hi : *hi);
	}
}

/* The unique expression of a finished sum. */
static const struct ix *sum_done(struct expr_pool *p, struct sum *s)
{
	struct ix *x;

	while (!p->apart && sum_join(p, s))
		;
	x = arena_zalloc(&p->arena, sizeof *x + (size_t)s->n * sizeof x->t[0]);
	x->c0 = x->lo = x->hi = s->c0;
	x->n = s->n;
	x->hash = hash_xxh64(&s->c0, sizeof s->c0, 11);
	for (int i = 0; i < s->n; i++) {
		const struct ix_term *t = &s->t[i];
		int64_t lo, hi;
		uint64_t key[6] = { x->hash, (uint64_t)t->c, (uint64_t)t->kind << 32 | (unsigned)t->var,
				    (uint64_t)t->by, t->of ? t->of->hash : 0, t->value ? t->value->hash : 0 };

		x->t[i] = *t;
		x->hash = hash_xxh64(key, sizeof key, 12);
		atom_range(t, &lo, &hi);
		x->lo += t->c > 0 ? t->c * lo : t->c * hi;
		x->hi += t->c > 0 ? t->c * hi : t->c * lo;
	}
	return expr_unique_ix(p, x);
}

const struct ix *ix_num(struct expr_pool *p, int64_t c)
{
	struct sum s = { .c0 = c };

	return sum_done(p, &s);
}

static const struct ix *one_term(struct expr_pool *p, struct ix_term t)
{
	struct sum s = { .c0 = 0 };

	sum_term(p, &s, t);
	return sum_done(p, &s);
}

const struct ix *ix_var(struct expr_pool *p, int var, int64_t size)
{
	struct ix_term t = { .c = 1, .kind = IX_VAR, .var = var, .by = size };

	return size <= 1 ? ix_num(p, 0) : one_term(p, t);
}

const struct ix *ix_within(struct expr_pool *p, const struct ix *a, int64_t by)
{
	if (a->lo >= 0 && a->hi < by)
		return a;
	return one_term(p, (struct ix_term){ .c = 1, .kind = IX_WITHIN, .by = by, .of = a });
}

/* `of` holds the lower bound as a constant, `by` the upper one. */
const struct ix *ix_value(struct expr_pool *p, const struct sx *v, int64_t lo, int64_t hi)
{
	return one_term(p, (struct ix_term){ .c = 1, .kind = IX_VALUE, .by = hi, .of = ix_num(p, lo), .value = v });
}

/* c * (x % a) and c * a * (x / a % b) together are c * (x % (a * b)). Returns 1 if a pair was joined. */
static int join_digits(struct expr_pool *p, struct sum *s)
{
	for (int i = 0; i < s->n; i++)
		for (int k = 0; s->t[i].kind == IX_MOD && k < s->n; k++) {
			struct ix_term m = s->t[i], q = s->t[k];

			if (q.kind != IX_MOD || q.c != m.c * m.by || q.of != ix_div(p, m.of, m.by))
				continue;
			sum_drop(s, MAX(i, k));
			sum_drop(s, MIN(i, k));
			sum_ix(p, s, ix_mod(p, m.of, m.by * q.by), m.c);
			return 1;
		}
	return 0;
}

static void sum_address(struct expr_pool *p, struct sum *s, const struct ix *a, int64_t c, struct ix_parts *parts)
{
	if (parts && parts->n < IX_PARTS && a->c0)
		parts->c[parts->n++] = a->c0 * c;
	else
		s->c0 += a->c0 * c;
	for (int i = 0; i < a->n; i++) {
		struct ix_term t = a->t[i];

		t.c *= c;
		if (t.kind == IX_WITHIN)
			sum_address(p, s, t.of, t.c, parts);
		else
			sum_term(p, s, t);
	}
}

const struct ix *ix_address(struct expr_pool *p, const struct ix *a, struct ix_parts *parts)
{
	struct sum s = { .c0 = 0 };

	parts->n = 0;
	sum_address(p, &s, a, 1, p->any_size ? parts : NULL);
	while (!p->apart && join_digits(p, &s))
		;
	return sum_done(p, &s);
}

const struct ix *ix_add(struct expr_pool *p, const struct ix *a, const struct ix *b)
{
	struct sum s = { .c0 = 0 };

	sum_ix(p, &s, a, 1);
	sum_ix(p, &s, b, 1);
	return sum_done(p, &s);
}

const struct ix *ix_addc(struct expr_pool *p, const struct ix *a, int64_t c)
{
	return c ? ix_add(p, a, ix_num(p, c)) : a;
}

const struct ix *ix_mul(struct expr_pool *p, const struct ix *a, int64_t c)
{
	struct sum s = { .c0 = 0 };

	if (c == 1)
		return a;
	if (c)
		sum_ix(p, &s, a, c);
	return sum_done(p, &s);
}

static int64_t gcd(int64_t a, int64_t b)
{
	a = a < 0 ? -a : a;
	while (b) {
		int64_t r = a % b;

		a = b;
		b = r < 0 ? -r : r;
	}
	return a;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* Splits a into whole * by + rest, with the constant of the rest in [0, by). An empty tensor has sizes of zero
 * and no elements to find a position for: its module is not solved. */
static void split(struct expr_pool *p, const struct ix *a, int64_t by, struct sum *whole, struct sum *rest)
{
	if (by < 1)
		longjmp(*p->arena.trap, 1);
	*whole = (struct sum){ .c0 = floor_div(a->c0, by) };
	*rest = (struct sum){ .c0 = a->c0 - whole->c0 * by };
	for (int i = 0; i < a->n; i++) {
		struct ix_term t = a->t[i];

		if (t.c % by == 0) {
			t.c /= by;
			sum_term(p, whole, t);
		} else {
			sum_term(p, rest, t);
		}
	}
}

/* The greatest number that divides all factors of `a` and `by`. */
static int64_t common(const struct ix *a, int64_t by)
{
	int64_t g = by;

	for (int i = 0; i < a->n; i++)
		g = gcd(a->t[i].c, g);
	return g;
}

/* a / g for a g that divides every factor; the constant is rounded down. */
static const struct ix *shrink(struct expr_pool *p, const struct ix *a, int64_t g)
{
	struct sum s = { .c0 = floor_div(a->c0, g) };

	for (int i = 0; i < a->n; i++) {
		struct ix_term t = a->t[i];

		t.c /= g;
		sum_term(p, &s, t);
	}
	return sum_done(p, &s);
}

/* A quotient of a single term may go into the term: (x / a) / b and (x % m) / b. */
static const struct ix *div_atom(struct expr_pool *p, const struct ix *a, int64_t by)
{
	const struct ix_term *t = &a->t[0];

	if (a->n != 1 || a->c0 || t->c != 1)
		return NULL;
	if (t->kind == IX_DIV)
		return ix_div(p, t->of, t->by * by);
	if (t->kind == IX_MOD && t->by % by == 0)
		return ix_mod(p, ix_div(p, t->of, by), t->by / by);
	return NULL;
}

/* (c * x + y) / (c * m) is x / m if 0 <= y < c. NULL: the rule does not apply. */
static const struct ix *div_tail(struct expr_pool *p, const struct ix *a, int64_t by)
{
	for (int i = 0; i < a->n; i++) {
		int64_t c = a->t[i].c;
		struct sum head, tail;
		const struct ix *y;

		if (c <= 1 || c >= by || by % c)
			continue;
		split(p, a, c, &head, &tail);
		y = sum_done(p, &tail);
		if (y->lo >= 0 && y->hi < c)
			return ix_div(p, sum_done(p, &head), by / c);
	}
	return NULL;
}

/* Splits a into by * whole + rest. The rest is not negative if `a` is not, because Triton rounds quotients towards
 * zero: 1023 - x is 3 * 256 + (255 - x) with x up to 1023, and the rest becomes 1023 - x again. */
static const struct ix *split_rest(struct expr_pool *p, const struct ix *a, int64_t by, struct sum *whole)
{
	struct sum rest;
	const struct ix *r;
	int64_t more;

	split(p, a, by, whole, &rest);
	r = sum_done(p, &rest);
	if (a->lo < 0 || r->lo >= 0)
		return r;
	more = (-r->lo + by - 1) / by;
	whole->c0 -= more;
	return ix_addc(p, r, more * by);
}

const struct ix *ix_div(struct expr_pool *p, const struct ix *a, int64_t by)
{
	struct sum whole;
	const struct ix *r, *in;
	int64_t g;

	if (by == 1)
		return a;
	r = split_rest(p, a, by, &whole);
	if (r->lo >= 0 && r->hi < by)
		return sum_done(p, &whole);
	g = common(r, by);
	if (g > 1) {
		in = ix_div(p, shrink(p, r, g), by / g);
	} else {
		in = div_atom(p, r, by);
		if (!in)
			in = div_tail(p, r, by);
		if (!in)
			in = one_term(p, (struct ix_term){ .c = 1, .kind = IX_DIV, .by = by, .of = r });
	}
	return ix_add(p, sum_done(p, &whole), in);
}

const struct ix *ix_mod(struct expr_pool *p, const struct ix *a, int64_t by)
{
	struct sum whole;
	const struct ix *r;
	int64_t g;

	if (by == 1)
		return ix_num(p, 0);
	r = split_rest(p, a, by, &whole);
	if (r->lo >= 0 && r->hi < by)
		return r;
	g = common(r, by);
	if (g > 1)
		return ix_addc(p, ix_mul(p, ix_mod(p, shrink(p, r, g), by / g), g), r->c0 % g);
	if (r->n == 1 && !r->c0 && r->t[0].c == 1 && r->t[0].kind == IX_MOD && r->t[0].by % by == 0)
		return ix_mod(p, r->t[0].of, by);
	return one_term(p, (struct ix_term){ .c = 1, .kind = IX_MOD, .by = by, .of = r });
}

/* One term with its variables replaced, without the factor. */
static const struct ix *replace_atom(struct expr_pool *p, const struct ix_term *t, const struct ix *const *to)
{
	struct sx_rewrite r = { .to = to };

	switch (t->kind) {
	case IX_VAR:
		return to[t->var];
	case IX_DIV:
		return ix_div(p, ix_replace(p, t->of, to), t->by);
	case IX_MOD:
		return ix_mod(p, ix_replace(p, t->of, to), t->by);
	case IX_WITHIN:
		return ix_within(p, ix_replace(p, t->of, to), t->by);
	case IX_VALUE:
		break;
	}
	return ix_value(p, sx_rebuild(p, t->value, &r), t->of->c0, t->by);
}

const struct ix *ix_replace(struct expr_pool *p, const struct ix *a, const struct ix *const *to)
{
	struct sum s = { .c0 = a->c0 };

	for (int i = 0; i < a->n; i++)
		sum_ix(p, &s, replace_atom(p, &a->t[i], to), a->t[i].c);
	return sum_done(p, &s);
}

uint64_t ix_vars(const struct ix *a)
{
	uint64_t m = 0;

	for (int i = 0; i < a->n; i++)
		m |= a->t[i].kind == IX_VAR ? (uint64_t)1 << a->t[i].var : a->t[i].kind == IX_VALUE ?
			sx_vars(a->t[i].value) : ix_vars(a->t[i].of);
	return m;
}

static int has_promise(const struct ix *a);

/* Whether an element relies on a promise of ix_within: min(i + 1, 3) does where i may be outside. */
static int relies_on_promise(const struct sx *x)
{
	int found = x->at && has_promise(x->at);

	for (int i = 0; i < SX_ARGS && x->a[i] && !found; i++)
		found = relies_on_promise(x->a[i]);
	return found;
}

static int has_promise(const struct ix *a)
{
	int found = 0;

	for (int i = 0; i < a->n && !found; i++)
		found = a->t[i].kind == IX_WITHIN || (a->t[i].value && relies_on_promise(a->t[i].value)) ||
			(a->t[i].kind != IX_VALUE && a->t[i].of && has_promise(a->t[i].of));
	return found;
}

/* The range of one term without its factor. */
static void term_bounds(const struct ix_term *t, int64_t *lo, int64_t *hi)
{
	if (t->kind == IX_VAR || t->kind == IX_VALUE) {
		atom_range(t, lo, hi);
		if (t->kind == IX_VALUE && relies_on_promise(t->value))
			*lo = INT32_MIN;
		return;
	}
	ix_bounds(t->of, lo, hi);
	if (t->kind == IX_DIV) {
		*lo = floor_div(*lo, t->by);
		*hi = floor_div(*hi, t->by);
	} else if (t->kind == IX_MOD) {
		*lo = *lo < 0 ? 1 - t->by : 0;
		*hi = t->by - 1;
	}
}

void ix_bounds(const struct ix *a, int64_t *lo, int64_t *hi)
{
	*lo = *hi = a->c0;
	for (int i = 0; i < a->n; i++) {
		int64_t x, y, c = a->t[i].c;

		term_bounds(&a->t[i], &x, &y);
		*lo += c > 0 ? c * x : c * y;
		*hi += c > 0 ? c * y : c * x;
	}
}
