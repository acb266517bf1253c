/* One PTX instruction as tile code. Example: "mad.lo.s32 $0, $1, 3, 4" is found in inline_asm.def and
 * becomes a multiplication and an addition of tiles. A comparison (setp) and a conversion (cvt) have
 * functions of their own, because their modifiers choose the operation. */
#include <ctype.h>
#include <math.h>

#include "tile/front/inline_asm.h"

enum ptx_form { PTX_COPY, PTX_PLAIN, PTX_MAD, PTX_SHIFT, PTX_ROUGH, PTX_SELECT };

static const struct ptx_type types[] = {
#define PTX_TYPE(name, kind, sc) { name, kind, SC_##sc },
#include "tile/front/inline_asm.def"
#undef PTX_TYPE
};

struct ptx_row { const char *name, *modifiers, *types; enum ptx_form form; enum tile_op op; int n; };

static const struct ptx_row rows[] = {
#define PTX(name, modifiers, types, form, op, n) { name, modifiers, types, PTX_##form, TOP_##op, n },
#include "tile/front/inline_asm.def"
#undef PTX
};

static const struct ptx_cmp { const char *name; char kind; enum tile_op op; int negated; } compares[] = {
#define PTX_CMP(name, kind, op, negated) { name, kind, TOP_##op, negated },
#include "tile/front/inline_asm.def"
#undef PTX_CMP
};

/* Records why the instruction is not translated. */
int ptx_refuse(struct ptx *p, const char *why)
{
	front_unsupported(p->f, "this engine does not support the inline assembly \"%.*s\": %s", STR_ARG(p->insn), why);
	return 1;
}

/* Whether a list of words separated by spaces holds the word; "-" means the empty word. */
static int listed(const char *list, struct str word)
{
	struct str rest = str_of(list);

	if (!word.n)
		word = STR("-");
	while (rest.n)
		if (str_eq(str_cut(&rest, ' '), word))
			return 1;
	return 0;
}

/* The type of a suffix; NULL if the name is unknown. */
const struct ptx_type *ptx_find_type(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (str_is(name, types[i].name))
			return &types[i];
	return NULL;
}

/* The front-end type of a value. */
static const struct ty *tile_of(struct ptx *p, enum sc sc)
{
	return ty_with(p->f->a, p->shape, ty_sc(sc));
}

/* Cuts the part after the last dot: of "rn.ftz.f32" returns "f32" and leaves "rn.ftz". */
static struct str cut_last(struct str *s)
{
	struct str last = *s;

	for (size_t i = s->n; i-- > 0;)
		if (s->p[i] == '.') {
			last = (struct str){ s->p + i + 1, s->n - i - 1 };
			s->n = i;
			return last;
		}
	s->n = 0;
	return last;
}

/* --- operands ------------------------------------------------------------------------------ */

/* Digits of a base, all of `s`. Nonzero if another character occurs or 64 bits are too few. */
static int parse_digits(struct str s, unsigned base, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		unsigned d = (unsigned)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);

		if (!isxdigit(c) || d >= base || *out > (UINT64_MAX - d) / base)
			return 1;
		*out = *out * base + d;
	}
	return !s.n;
}

/* An integer in decimal, 0x and octal form; nonzero if it is none or the width cannot hold it. */
static int parse_int(struct str s, int bits, int64_t *out)
{
	int negative = s.n && s.p[0] == '-';
	unsigned base = 10;
	uint64_t v, most = UINT64_MAX >> (64 - bits);

	if (negative)
		s = (struct str){ s.p + 1, s.n - 1 };
	if (str_starts(s, "0x") || str_starts(s, "0X")) {
		base = 16;
		s = (struct str){ s.p + 2, s.n - 2 };
	} else if (s.n > 1 && s.p[0] == '0') {
		base = 8;
	}
	if (base != 16 && str_ends(s, "U"))
		s.n--;
	if (parse_digits(s, base, &v) || v > most || (negative && v > most / 2 + 1))
		return 1;
	*out = (int64_t)(negative ? 0 - v : v);
	return 0;
}

/* A float in PTX's form: 0f and 8, or 0d and 16 hexadecimal digits. Returns the width, 0: none. */
static int parse_hex_float(struct str s, uint64_t *bits)
{
	int width = s.n == 10 && (s.p[1] | 0x20) == 'f' ? 32 : s.n == 18 && (s.p[1] | 0x20) == 'd' ? 64 : 0;

	if (!width || s.p[0] != '0' || parse_digits((struct str){ s.p + 2, s.n - 2 }, 16, bits))
		return 0;
	return width;
}

/* Whether the text is a decimal number with a point or an exponent, which PTX asks of a float. */
static int parse_decimal_float(struct str s, double *out)
{
	int marked = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (!strchr("+-.eE0123456789", s.p[i]))
			return 0;
		marked |= s.p[i] == '.' || (s.p[i] | 0x20) == 'e';
	}
	return marked && !str_to_f64(s, out);
}

/* A number as an operand of the type. Halves have no literals in PTX. */
static int immediate(struct ptx *p, struct str s, const struct ptx_type *t, struct tv *out)
{
	const struct ty *ty = tile_of(p, t->sc);
	int bits = ty_bits(ty_sc(t->sc)), width;
	uint64_t u = 0;
	int64_t i;
	double d;

	width = parse_hex_float(s, &u);
	if (width == bits && (t->kind == 'f' || t->kind == 'b')) {
		struct tv v = emit_int(p->f, tile_of(p, bits == 32 ? SC_UINT32 : SC_UINT64), (int64_t)u);
		*out = sem_bitcast(p->f, v, ty_sc(t->sc));
		return 0;
	}
	if (!width && t->kind == 'f' && bits >= 32 && parse_decimal_float(s, &d)) {
		d = bits == 32 ? (double)(float)d : d;
		*out = emit_float(p->f, ty, d);
		return isfinite(d) ? 0 : ptx_refuse(p, "a number does not have the type of the instruction");
	}
	if (!width && (t->kind == 'i' || t->kind == 'b') && !parse_int(s, bits, &i)) {
		struct lang_val v = lang_int(i);
		*out = emit_int(p->f, ty, sem_int_bits(&v, ty_sc(t->sc)));
		return 0;
	}
	return ptx_refuse(p, "a number does not have the type of the instruction");
}

/* The register of that name, if it has the width of the type and its kind; else NULL. */
static struct ptx_reg *find_reg(struct ptx *p, struct str name, const struct ptx_type *t)
{
	for (size_t i = p->n_reg; i-- > 0;) {
		struct ptx_reg *r = &p->reg[i];

		if (!str_eq(r->name, name))
			continue;
		if (r->bits == ty_bits(ty_sc(t->sc)) && (r->kind == t->kind || r->kind == 'b' || t->kind == 'b'))
			return r;
		ptx_refuse(p, "a register does not have the type of the instruction");
		return NULL;
	}
	ptx_refuse(p, "an operand is neither a number nor a declared register");
	return NULL;
}

/* Operand i as a value of the type. */
static int source(struct ptx *p, size_t i, const struct ptx_type *t, struct tv *out)
{
	struct str s = p->arg[i];
	struct ptx_reg *r;

	if (s.n && strchr("+-0123456789", s.p[0]))
		return immediate(p, s, t, out);
	r = find_reg(p, s, t);
	if (!r)
		return 1;
	if (!r->written)
		return ptx_refuse(p, "it reads a register that no instruction has written");
	*out = sem_bitcast(p->f, r->v, ty_sc(t->sc));
	return 0;
}

/* Writes operand 0. */
static int assign(struct ptx *p, const struct ptx_type *t, struct tv v)
{
	struct ptx_reg *r = find_reg(p, p->arg[0], t);

	if (!r)
		return 1;
	if (r->input)
		return ptx_refuse(p, "it writes an input");
	r->v = v;
	r->written = 1;
	return 0;
}

/* --- instructions -------------------------------------------------------------------------- */

/* PTX clamps the amount to the width; tile code leaves that case open. */
static struct tv shift(struct ptx *p, enum tile_op op, struct tv x, struct tv amount)
{
	const struct ty *t = ty_scalar(x.ty);
	struct tv most = emit_int(p->f, amount.ty, ty_bits(t) - 1), cut, y, inside;

	cut = emit(p->f, TOP_MIN, amount.ty, 2, amount.id, most.id);
	cut = sem_cast(p->f, cut, t);
	y = emit(p->f, op, x.ty, 2, x.id, cut.id);
	if (ty_is_signed(t))
		return y;
	inside = emit(p->f, TOP_LE, tile_of(p, SC_INT1), 2, amount.id, most.id);
	return emit(p->f, TOP_SELECT, x.ty, 3, inside.id, y.id, emit_int(p->f, x.ty, 0).id);
}

/* Rounds fp32 to 11 significant bits, halves upwards in magnitude. */
static struct tv rough(struct ptx *p, struct tv x)
{
	struct tv bits = sem_bitcast(p->f, x, ty_sc(SC_UINT32));

	bits = emit(p->f, TOP_ADD, bits.ty, 2, bits.id, emit_int(p->f, bits.ty, 0x1000).id);
	bits = emit(p->f, TOP_AND, bits.ty, 2, bits.id, emit_int(p->f, bits.ty, 0xffffe000).id);
	return sem_bitcast(p->f, bits, ty_sc(SC_FP32));
}

/* The value of a row for its sources. */
static struct tv apply(struct ptx *p, const struct ptx_row *row, const struct ty *ty, const struct tv *x)
{
	struct front *f = p->f;
	struct tv y;

	switch (row->form) {
	case PTX_COPY:
		return x[0];
	case PTX_MAD:
		y = emit(f, row->op, ty, 2, x[0].id, x[1].id);
		return emit(f, TOP_ADD, ty, 2, y.id, x[2].id);
	case PTX_SHIFT:
		return shift(p, row->op, x[0], x[1]);
	case PTX_ROUGH:
		return rough(p, emit(f, row->op, ty, 1, x[0].id));
	case PTX_SELECT:
		return emit(f, row->op, ty, 3, x[2].id, x[0].id, x[1].id);
	case PTX_PLAIN:
		break;
	}
	if (row->n == 1)
		return emit(f, row->op, ty, 1, x[0].id);
	if (row->n == 2)
		return emit(f, row->op, ty, 2, x[0].id, x[1].id);
	return emit(f, row->op, ty, 3, x[0].id, x[1].id, x[2].id);
}

/* An instruction of the table. */
static int run_row(struct ptx *p, const struct ptx_row *row, const struct ptx_type *t)
{
	struct tv x[3];

	if (p->n_args != (size_t)row->n + 1)
		return ptx_refuse(p, "another number of operands is expected");
	for (int i = 0; i < row->n; i++) {
		const struct ptx_type *want = t;

		if (row->form == PTX_SHIFT && i == 1)
			want = ptx_find_type(STR("u32"));
		if (row->form == PTX_SELECT && i == 2)
			want = ptx_find_type(STR("pred"));
		if (source(p, (size_t)i + 1, want, &x[i]))
			return 1;
	}
	return assign(p, t, apply(p, row, tile_of(p, t->sc), x));
}

/* Whether the comparison exists for the type. Bits are compared for equality only. */
static int compares_type(const struct ptx_cmp *c, const struct ptx_type *t)
{
	if (t->kind == 'b')
		return c->kind != 'f' && (c->op == TOP_EQ || c->op == TOP_NE);
	return c->kind == 'b' || c->kind == t->kind;
}

/* setp.lt.f32 p, a, b. `ne` of floats is false for NaN: it is "less or greater". */
static int run_setp(struct ptx *p, struct str modifiers, const struct ptx_type *t)
{
	const struct ty *pred = tile_of(p, SC_INT1);
	struct str name = str_cut(&modifiers, '.');
	struct tv x[2], y, z;

	if (modifiers.n && !(str_is(modifiers, "ftz") && t->sc == SC_FP32))
		return ptx_refuse(p, "the modifier is unknown");
	if (p->n_args != 3 || source(p, 1, t, &x[0]) || source(p, 2, t, &x[1]))
		return p->n_args != 3 ? ptx_refuse(p, "another number of operands is expected") : 1;
	if (str_is(name, "ne") && t->kind == 'f') {
		y = emit(p->f, TOP_LT, pred, 2, x[0].id, x[1].id);
		z = emit(p->f, TOP_GT, pred, 2, x[0].id, x[1].id);
		return assign(p, ptx_find_type(STR("pred")), emit(p->f, TOP_OR, pred, 2, y.id, z.id));
	}
	for (size_t i = 0; i < COUNT_OF(compares); i++) {
		const struct ptx_cmp *c = &compares[i];

		if (!str_is(name, c->name) || !compares_type(c, t))
			continue;
		y = emit(p->f, c->op, pred, 2, x[0].id, x[1].id);
		if (c->negated)
			y = emit(p->f, TOP_NOT, pred, 1, y.id);
		return assign(p, ptx_find_type(STR("pred")), y);
	}
	return ptx_refuse(p, "the comparison is unknown");
}

/* The operation that rounds a float to an integer by a modifier; -1: none. */
static int integer_rounding(struct str modifier)
{
	static const struct { const char *name; enum tile_op op; } known[] = {
		{ "rni", TOP_RINT }, { "rzi", TOP_TRUNC }, { "rmi", TOP_FLOOR }, { "rpi", TOP_CEIL },
	};

	for (size_t i = 0; i < COUNT_OF(known); i++)
		if (str_is(modifier, known[i].name))
			return (int)known[i].op;
	return -1;
}

/* Whether cvt.modifier.to.from is one of PTX's conversions that tile code computes alike. */
static int convertible(struct str modifier, const struct ptx_type *to, const struct ptx_type *from)
{
	int a = ty_bits(ty_sc(from->sc)), b = ty_bits(ty_sc(to->sc));
	int whole = integer_rounding(modifier) >= 0;

	if (from->kind == 'i')
		return to->kind == 'i' ? !modifier.n : to->kind == 'f' && to->sc != SC_BF16 && str_is(modifier, "rn");
	if (from->kind != 'f')
		return 0;
	if (to->kind == 'i')            /* NaN gives 0 for these only */
		return whole && b == 32 && (from->sc == SC_FP32 || from->sc == SC_FP16);
	if (to->kind != 'f')
		return 0;
	if (to->sc == from->sc)
		return to->sc == SC_FP32 && (whole || !modifier.n);
	return a < b ? !modifier.n : a > b && str_is(modifier, "rn") && !(to->sc == SC_BF16 && a == 64);
}

/* cvt.rn.f16.f32 d, a. */
static int run_cvt(struct ptx *p, struct str modifiers, const struct ptx_type *from)
{
	const struct ptx_type *to = ptx_find_type(cut_last(&modifiers));
	struct tv x;
	int op;

	if (to && (to->sc == SC_FP32 || from->sc == SC_FP32)) {
		struct str rest = modifiers;

		if (str_is(cut_last(&rest), "ftz"))
			modifiers = rest;
	}
	if (!to || !convertible(modifiers, to, from) || p->n_args != 2)
		return ptx_refuse(p, "the conversion is unknown");
	if (source(p, 1, from, &x))
		return 1;
	op = integer_rounding(modifiers);
	if (op >= 0)
		x = emit(p->f, (enum tile_op)op, x.ty, 1, x.id);
	return assign(p, to, sem_cast(p->f, x, ty_sc(to->sc)));
}

/* Splits "d, a, b" into p->arg. */
static int split_operands(struct ptx *p, struct str rest)
{
	if (str_ends(rest, ","))
		return ptx_refuse(p, "an operand is missing");
	for (p->n_args = 0; rest.n; p->n_args++) {
		if (p->n_args == PTX_MOST_OPERANDS)
			return ptx_refuse(p, "it has too many operands");
		p->arg[p->n_args] = str_trim(str_cut(&rest, ','));
	}
	return 0;
}

/* One instruction: its name with modifiers and type, then its operands. */
int ptx_instruction(struct ptx *p, struct str s)
{
	struct str name = s, modifiers, root;
	const struct ptx_type *t;

	name.n = 0;
	while (name.n < s.n && !strchr(" \t\r\n", s.p[name.n]))
		name.n++;
	if (split_operands(p, str_trim((struct str){ s.p + name.n, s.n - name.n })))
		return 1;
	modifiers = name;
	root = str_cut(&modifiers, '.');
	if (str_find(name, STR("..")) >= 0)
		return ptx_refuse(p, "the instruction is unknown");
	t = ptx_find_type(cut_last(&modifiers));
	if (t && str_is(root, "setp") && t->kind != 'p')
		return run_setp(p, modifiers, t);
	if (t && str_is(root, "cvt"))
		return run_cvt(p, modifiers, t);
	for (size_t i = 0; t && i < COUNT_OF(rows); i++) {
		const struct ptx_row *row = &rows[i];

		if (str_is(root, row->name) && listed(row->modifiers, modifiers) && listed(row->types, str_of(t->name)))
			return run_row(p, row, t);
	}
	return ptx_refuse(p, "the instruction is unknown");
}
