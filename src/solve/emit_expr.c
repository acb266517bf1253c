/* Expressions as Triton text: see emit_impl.h. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "solve/emit_impl.h"

/* Texts longer than this get a name of their own. Every number counts as NUMBER_LENGTH, so that solutions for
 * other sizes have the same names. */
enum { LONG_TEXT = 64, NUMBER_LENGTH = 2 };

void emitter_line(struct emitter *pr, int level, const char *fmt, ...)
{
	va_list ap;

	buf_pad(&pr->level[level], ' ', (size_t)(pr->indent + 4 * level));
	va_start(ap, fmt);
	buf_vaddf(&pr->level[level], fmt, ap);
	va_end(ap);
	buf_addc(&pr->level[level], '\n');
}

const char *emitter_name(struct emitter *pr, const char *word)
{
	return arena_printf(pr->a, "%s%d", word, pr->n_names++);
}

void emitter_leave(struct emitter *pr)
{
	size_t n = 0;

	for (size_t i = 0; i < pr->names.n; i++)
		if (!pr->names.v[i].level)
			pr->names.v[n++] = pr->names.v[i];
	pr->names.n = n;
}

static struct spelled *find(struct spelled *v, size_t n, const void *of)
{
	for (size_t i = n; i-- > 0;)
		if (v[i].of == of)
			return &v[i];
	return NULL;
}

static void remember(struct emitter *pr, const void *of, const char *name, int level)
{
	if (vec_push(&pr->names, ((struct spelled){ .of = of, .name = name, .level = level })))
		longjmp(*pr->a->trap, 1);
}

void emitter_count(struct emitter *pr, const struct sx *x)
{
	struct spelled *c;

	if (x->op == SX_NUM || x->op == SX_INDEX)
		return;
	c = find(pr->counts.v, pr->counts.n, x);
	if (c) {
		c->level++;
		return;
	}
	if (vec_push(&pr->counts, ((struct spelled){ .of = x, .level = 1 })))
		longjmp(*pr->a->trap, 1);
	for (int i = 0; i < SX_ARGS && x->a[i]; i++)
		emitter_count(pr, x->a[i]);
}

const char *emit_in(struct emitter *pr, struct text t, enum tight tight)
{
	return t.tight < tight ? arena_printf(pr->a, "(%s)", t.s) : t.s;
}

/* --- numbers and types ------------------------------------------------------------------------- */

const char *emit_dtype(enum dtype dt)
{
	switch (dt) {
	case DT_BOOL:
		return "tl.int1";
	case DT_I64:
		return "tl.int64";
	case DT_F32:
		return "tl.float32";
	case DT_F64:
		return "tl.float64";
	case DT_F16:
		return "tl.float16";
	case DT_BF16:
		return "tl.bfloat16";
	default:
		return "tl.int32";
	}
}

/* A long decimal as a readable quotient: 0.1 / 36.0 instead of 0.002777777777777778, a momentum over a number
 * of elements. NULL: the number is none. */
static const char *quotient(struct emitter *pr, double v)
{
	static const double tops[] = { 0.1, 1.0, 0.01, 0.2, 0.3, 0.5, 0.05, 0.9, 0.99, 0.001 };

	for (size_t i = 0; i < COUNT_OF(tops); i++) {
		double by = nearbyint(tops[i] / v);

		if (fabs(by) >= 2.0 && fabs(by) < 1e9 && (float)(tops[i] / by) == (float)v)
			return arena_printf(pr->a, "(%g / %.1f)", tops[i], by);
	}
	return NULL;
}

/* The shortest decimal that reads back as the same number. */
const char *emit_num(struct emitter *pr, double v, enum dtype dt)
{
	enum { LONG = 10 };
	const char *short_one;
	char text[40];
	int64_t n;

	if (!dtype_is_float(dt) && !sx_is_whole(trunc(v), &n))
		longjmp(*pr->a->trap, 1);
	if (!dtype_is_float(dt))
		return arena_printf(pr->a, "%lld", (long long)n);
	if (isnan(v))
		return "float(\"nan\")";
	if (isinf(v))
		return v > 0 ? "float(\"inf\")" : "float(\"-inf\")";
	if (fabs(v) < 1e15 && sx_is_whole(v, &n))
		return arena_printf(pr->a, "%.1f", v);
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	short_one = strlen(text) > LONG && dt != DT_F64 ? quotient(pr, v) : NULL;
	if (short_one)
		return short_one;
	return arena_printf(pr->a, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

/* --- indices ------------------------------------------------------------------------------------- */

static int vars_level(const struct emitter *pr, uint64_t vars)
{
	int level = 0;

	for (int i = 0; i < GRAPH_VARS; i++)
		if (vars >> i & 1)
			level = MAX(level, pr->var_level[i]);
	return level;
}

int emit_level(const struct emitter *pr, const struct sx *x)
{
	return vars_level(pr, sx_vars(x));
}

/* A quotient or remainder gets a name when it is first used. */
static const char *emit_atom(struct emitter *pr, const struct ix_term *t)
{
	const struct ix *key;
	struct spelled *known;
	const char *in, *name;
	int level;

	if (t->kind == IX_VAR)
		return pr->var[t->var];
	if (t->kind == IX_WITHIN)
		return emit_in(pr, emit_ix(pr, t->of), TIGHT_PRODUCT);
	if (t->kind == IX_VALUE)
		return emit_in(pr, emit_sx(pr, t->value), TIGHT_PRODUCT);
	key = t->kind == IX_DIV ? ix_div(pr->p, t->of, t->by) : ix_mod(pr->p, t->of, t->by);
	known = find(pr->names.v, pr->names.n, key);
	if (known)
		return known->name;
	in = emit_in(pr, emit_ix(pr, t->of), TIGHT_PRODUCT);
	level = vars_level(pr, ix_vars(t->of));
	name = emitter_name(pr, "i");
	emitter_line(pr, level, "%s = %s %s %lld", name, in, t->kind == IX_DIV ? "//" : "%", (long long)t->by);
	remember(pr, key, name, level);
	return name;
}

struct text emit_ix(struct emitter *pr, const struct ix *x)
{
	struct text t = { .s = NULL, .tight = TIGHT_SUM };
	const char *sign, *atom, *term;

	if (x->n == 1 && !x->c0 && x->t[0].c == 1)
		return (struct text){ .s = emit_atom(pr, &x->t[0]), .tight = x->t[0].kind == IX_WITHIN ||
				      x->t[0].kind == IX_VALUE ? TIGHT_PRODUCT : TIGHT_ATOM };
	for (int i = 0; i < x->n; i++) {
		int64_t c = x->t[i].c;

		atom = emit_atom(pr, &x->t[i]);
		sign = c < 0 ? "-" : "+";
		c = c < 0 ? -c : c;
		term = c == 1 ? atom : arena_printf(pr->a, "%s * %lld", atom, (long long)c);
		t.s = t.s ? arena_printf(pr->a, "%s %s %s", t.s, sign, term) :
			arena_printf(pr->a, "%s%s", *sign == '-' ? "-" : "", term);
	}
	if (!t.s)
		return (struct text){ .s = arena_printf(pr->a, "%lld", (long long)x->c0), .tight = TIGHT_ATOM };
	if (x->c0)
		t.s = arena_printf(pr->a, "%s %s %lld", t.s, x->c0 < 0 ? "-" : "+",
				   (long long)(x->c0 < 0 ? -x->c0 : x->c0));
	return t;
}

/* --- elements ---------------------------------------------------------------------------------------- */

const char *emit_pointer(struct emitter *pr, int value)
{
	int i;

	for (i = 0; i < pr->to->n_args; i++)
		if (pr->to->arg[i] == value)
			break;
	if (i == EMIT_ARGS)
		longjmp(*pr->a->trap, 1);
	if (i == pr->to->n_args)
		pr->to->arg[pr->to->n_args++] = value;
	return arena_printf(pr->a, "%s_ptr", emit_value_name(pr->cut, value));
}

const char *emit_mask(struct emitter *pr, uint64_t vars, const struct sx *more)
{
	const char *m = NULL;

	for (int i = 0; i < GRAPH_VARS; i++)
		if (vars >> i & 1 && pr->mask[i])
			m = m ? arena_printf(pr->a, "%s & %s", m, pr->mask[i]) : pr->mask[i];
	if (more) {
		const char *s = emit_in(pr, emit_sx(pr, more), TIGHT_AND);

		m = m ? arena_printf(pr->a, "%s & %s", m, s) : s;
	}
	return m;
}

/* A narrow element is converted to what kernels compute in. */
static const char *widened(struct emitter *pr, const char *s, enum dtype memory, enum dtype to)
{
	return memory == to ? s : arena_printf(pr->a, "%s.to(%s)", s, emit_dtype(to));
}

/* An address as text, and the expression that it is; constants that stay apart end it. */
static const char *address_text(struct emitter *pr, const struct ix *at, const struct ix **is)
{
	struct ix_parts parts;
	const char *s;

	*is = ix_address(pr->p, at, &parts);
	s = emit_in(pr, emit_ix(pr, *is), TIGHT_SUM);
	for (int i = 0; i < parts.n; i++)
		s = arena_printf(pr->a, "%s %c %lld", s, parts.c[i] < 0 ? '-' : '+',
				 (long long)(parts.c[i] < 0 ? -parts.c[i] : parts.c[i]));
	return s;
}

static const char *emit_load(struct emitter *pr, const struct sx *x)
{
	const struct value *v = graph_value(pr->g, x->value);
	const struct ix *address;
	uint64_t vars = sx_vars(x);
	const char *at, *mask, *ptr;

	for (int i = 0; i < pr->k->n_passes; i++)
		if (pr->k->pass[i].value == x->value && pr->reduced[i])
			return pr->reduced[i];
	at = address_text(pr, x->at, &address);
	mask = emit_mask(pr, vars, x->a[0]);
	ptr = emit_pointer(pr, x->value);
	at = strcmp(at, "0") ? arena_printf(pr->a, "%s + %s", ptr, at) : ptr;
	/* A mask that varies over the tile needs addresses that do. */
	for (int i = 0; x->a[0] && i < GRAPH_VARS; i++)
		if (pr->tile & sx_vars(x->a[0]) & ~ix_vars(address) & (uint64_t)1 << i)
			at = arena_printf(pr->a, "%s + %s * 0", at, pr->var[i]);
	if (mask)
		at = arena_printf(pr->a, "tl.load(%s, mask=%s, other=%s)", at, mask,
				  emit_num(pr, x->num, v->dt));
	else
		at = arena_printf(pr->a, "tl.load(%s)", at);
	return widened(pr, at, v->dt, x->dt);
}

static enum tight op_tight(enum sx_op op)
{
	switch (op) {
	case SX_LT: case SX_BELOW: case SX_LE: case SX_GT: case SX_GE: case SX_EQ: case SX_NE:
		return TIGHT_COMPARE;
	case SX_OR:
		return TIGHT_OR;
	case SX_XOR:
		return TIGHT_XOR;
	case SX_AND:
		return TIGHT_AND;
	case SX_ADD: case SX_SUB:
		return TIGHT_SUM;
	case SX_MUL: case SX_DIV: case SX_IDIV: case SX_IMOD:
		return TIGHT_PRODUCT;
	case SX_NEG: case SX_NOT:
		return TIGHT_UNARY;
	default:
		return TIGHT_ATOM;
	}
}

/* An operator with its operands in place of $0, $1, $2. */
static struct text emit_op(struct emitter *pr, const struct sx *x)
{
	struct text t = { .tight = op_tight(x->op) };
	const char *from = sx_op_text(x->op), *arg[SX_ARGS] = { NULL };
	struct buf b = BUF_INIT;

	for (int i = 0; i < SX_ARGS && x->a[i]; i++) {
		int inside_call = t.tight == TIGHT_ATOM, right = i > 0 && x->op != SX_ADD && x->op != SX_MUL;

		arg[i] = emit_in(pr, emit_sx(pr, x->a[i]), inside_call ? 0 : t.tight == TIGHT_COMPARE ? TIGHT_OR :
				  t.tight + (right || t.tight == TIGHT_UNARY));
	}
	for (; *from; from++) {
		if (*from == '$')
			buf_adds(&b, arg[*++from - '0']);
		else
			buf_addc(&b, *from);
	}
	t.s = b.failed ? NULL : arena_strndup(pr->a, b.p, b.n);
	buf_release(&b);
	if (!t.s)
		longjmp(*pr->a->trap, 1);
	return t;
}

static int is_long(const char *s)
{
	int n = 0;

	for (; *s; n++)
		if (isdigit((unsigned char)*s)) {
			while (isdigit((unsigned char)*s) || *s == '.')
				s++;
			n += NUMBER_LENGTH - 1;
		} else {
			s++;
		}
	return n >= LONG_TEXT;
}

struct text emit_sx(struct emitter *pr, const struct sx *x)
{
	struct spelled *known = find(pr->names.v, pr->names.n, x), *count;
	struct text t;
	const char *name;
	int level;

	if (known)
		return (struct text){ .s = known->name, .tight = TIGHT_ATOM };
	if (x->op == SX_NUM)
		return (struct text){ .s = emit_num(pr, x->num, x->dt),
				      .tight = x->num < 0 ? TIGHT_UNARY : TIGHT_ATOM };
	if (x->op == SX_INDEX)
		return emit_ix(pr, x->at);
	if (x->op == SX_LOAD)
		t = (struct text){ .s = emit_load(pr, x), .tight = TIGHT_ATOM };
	else if (x->op == SX_CAST)
		t = (struct text){ .s = arena_printf(pr->a, "%s.to(%s)", emit_in(pr, emit_sx(pr, x->a[0]), TIGHT_ATOM),
						     emit_dtype(x->dt)), .tight = TIGHT_ATOM };
	else
		t = emit_op(pr, x);
	count = find(pr->counts.v, pr->counts.n, x);
	if (!(count && count->level > 1) && !is_long(t.s) && (x->op != SX_LOAD || !strstr(t.s, "tl.load")))
		return t;
	if (x->op == SX_LOAD && !strstr(t.s, "tl.load"))
		return t;
	level = emit_level(pr, x);
	name = emitter_name(pr, x->op == SX_LOAD ? "x" : "t");
	emitter_line(pr, level, "%s = %s", name, t.s);
	remember(pr, x, name, level);
	return (struct text){ .s = name, .tight = TIGHT_ATOM };
}

void emit_store(struct emitter *pr, const struct pass *s, const struct ix *at, const char *value, int level)
{
	const struct ix *address;
	const char *where = address_text(pr, at, &address);
	const char *mask = emit_mask(pr, ix_vars(at), s->only);
	const struct value *v = graph_value(pr->g, s->value);
	const char *ptr = emit_pointer(pr, v->into >= 0 ? v->into : s->value);

	/* One element for a tile of one: the address is a tile as well. */
	if (pr->s.kind == SCHED_FLAT && !s->only && !(ix_vars(at) & 1))
		where = strcmp(where, "0") ? arena_printf(pr->a, "%s + offs", where) : "offs";

	emitter_line(pr, level, "tl.store(%s%s%s, %s%s%s)", ptr, strcmp(where, "0") ? " + " : "",
		     strcmp(where, "0") ? where : "", value, mask ? ", mask=" : "", mask ? mask : "");
}

void flatten_vars(struct emitter *pr, int first, int n, const int64_t *size, int flat, const struct ix **to)
{
	int64_t all = 1, inner = 1;

	to[GRAPH_INSTANCE] = ix_var(pr->p, GRAPH_INSTANCE, INT32_MAX);
	for (int i = 0; i < n; i++)
		all *= size[i];
	for (int i = n; i-- > 0;) {
		to[first + i] = ix_mod(pr->p, ix_div(pr->p, ix_var(pr->p, flat, all), inner), size[i]);
		inner *= size[i];
	}
}
