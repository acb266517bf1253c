/* tl.inline_asm_elementwise: PTX text becomes tile code. Example, with x in %5 of fp32[64]:
 *
 *     tl.inline_asm_elementwise("max.f32 $0, $1, 0f00000000;", "=f,f", [x], tl.float32, True, 1)
 *
 *     %6:fp32[64] = const 0
 *     %7:fp32[64] = max %5, %6
 *
 * The text has no control flow, so a PTX register is a name for the value that was written last. A
 * register of the constraints holds bits: an operand is reinterpreted as the type of the instruction.
 * Instructions that inline_asm.def lacks, and text that ptxas refuses (a register of another kind,
 * `.reg` outside braces), are recorded as unsupported, with the instruction in the message. */
#include <ctype.h>

#include "tile/front/inline_asm.h"

enum { MOST_REGS = 256 };

/* --- the text -------------------------------------------------------------------------------- */

/* Whether a register may have the name. Names such as %r1 are the compiler's: one that is declared again
 * would hide the register of an operand. */
static int is_reg_name(struct str s)
{
	size_t start = s.n && s.p[0] == '%';

	for (size_t i = start; i < s.n; i++)
		if (!isalpha((unsigned char)s.p[i]) && s.p[i] != '_' && (i == start || !isdigit((unsigned char)s.p[i])))
			return 0;
	return s.n > start && !(start && isdigit((unsigned char)s.p[s.n - 1]));
}

/* Adds a register. */
static int add_reg(struct ptx *p, struct str name, const struct ptx_type *t)
{
	if (p->n_reg == p->n_operands + MOST_REGS)
		return ptx_refuse(p, "there are too many registers");
	if (!is_reg_name(name))
		return ptx_refuse(p, "a register cannot have that name");
	for (size_t i = 0; i < p->n_reg; i++)
		if (str_eq(p->reg[i].name, name))
			return ptx_refuse(p, "the register is declared twice");
	p->reg[p->n_reg++] = (struct ptx_reg){ .name = name, .kind = t->kind, .bits = ty_bits(ty_sc(t->sc)) };
	return 0;
}

/* `.reg .f32 a, b<3>;` declares a, b0, b1 and b2. Outside braces a second copy of the text, which
 * Triton makes for each element of a thread, would declare them again. */
static int declare(struct ptx *p, struct str s)
{
	struct str type = str_trim(s), rest;
	const struct ptx_type *t;

	if (!p->in_braces)
		return ptx_refuse(p, "registers are declared outside braces");
	rest = type;
	type.n = 0;
	while (type.n < rest.n && !strchr(" \t\r\n", rest.p[type.n]))
		type.n++;
	rest = (struct str){ rest.p + type.n, rest.n - type.n };
	t = type.n && type.p[0] == '.' ? ptx_find_type((struct str){ type.p + 1, type.n - 1 }) : NULL;
	if (!t)
		return ptx_refuse(p, "the type of the registers is unknown");
	if (str_ends(rest, ","))
		return ptx_refuse(p, "a name is missing");
	while (rest.n) {
		struct str count = str_trim(str_cut(&rest, ',')), base = str_cut(&count, '<');
		int64_t n = 0;

		if (!base.n || (count.n && !str_ends(count, ">")))
			return ptx_refuse(p, "the declaration is not understood");
		count = str_cut(&count, '>');
		if (count.n && (str_to_i64(count, &n) || n < 1 || n > MOST_REGS))
			return ptx_refuse(p, "the declaration is not understood");
		if (!count.n && add_reg(p, base, t))
			return 1;
		for (int64_t i = 0; i < n; i++)
			if (add_reg(p, str_of(arena_printf(p->f->a, "%.*s%d", STR_ARG(base), (int)i)), t))
				return 1;
	}
	return 0;
}

/* Takes the braces at the start of a statement off. */
static int take_braces(struct ptx *p, struct str *s)
{
	for (;;) {
		*s = str_trim(*s);
		if (!s->n || (s->p[0] != '{' && s->p[0] != '}'))
			return 0;
		p->insn = *s;
		if ((s->p[0] == '{') == p->in_braces)
			return ptx_refuse(p, "the braces are nested");
		p->in_braces = !p->in_braces;
		if (!p->in_braces)
			p->n_reg = p->n_operands;
		*s = (struct str){ s->p + 1, s->n - 1 };
	}
}

/* The text, statement by statement. */
static int translate(struct ptx *p, struct str text)
{
	while (text.n) {
		int ends = memchr(text.p, ';', text.n) != NULL;
		struct str s = str_cut(&text, ';');

		if (take_braces(p, &s))
			return 1;
		p->insn = s;
		if (ends == (s.n == 0))
			return ptx_refuse(p, ends ? "a statement is empty" : "no semicolon ends it");
		if (str_starts(s, ".reg") ? declare(p, (struct str){ s.p + 4, s.n - 4 }) : s.n && ptx_instruction(p, s))
			return 1;
	}
	return p->in_braces ? ptx_refuse(p, "a brace is not closed") : 0;
}

/* The text without comments, in the arena. */
static struct str without_comments(struct front *f, struct str s)
{
	char *out = arena_array(f->a, s.n + 1, 1);
	size_t n = 0;

	for (size_t i = 0; i < s.n;) {
		int line = s.n - i > 1 && s.p[i] == '/' && s.p[i + 1] == '/';
		int block = s.n - i > 1 && s.p[i] == '/' && s.p[i + 1] == '*';
		struct str rest = { s.p + i, s.n - i };
		ptrdiff_t end = line ? str_find(rest, STR("\n")) : block ? str_find(rest, STR("*/")) : -1;

		if (!line && !block) {
			out[n++] = s.p[i++];
			continue;
		}
		out[n++] = ' ';
		if (block && end < 0)           /* the mark of the comment remains and is refused as an instruction */
			out[n++] = '/';
		i = end < 0 ? s.n : i + (size_t)end + (block ? 2 : 1);
	}
	return (struct str){ out, n };
}

/* --- the call -------------------------------------------------------------------------------- */

/* The width of the register that a letter asks for; 0: unknown. */
static int constraint_bits(char letter)
{
	switch (letter) {
	case 'h':
		return 16;
	case 'r': case 'f':
		return 32;
	case 'l': case 'd':
		return 64;
	default:
		return 0;
	}
}

/* One register for each constraint, outputs first: "=r" or "=&f", then "r", "f", "h", "l", "d". */
static int bind(struct ptx *p, const struct inline_asm *c)
{
	struct str rest = c->constraints;

	p->insn = rest;
	for (size_t i = 0; i < c->n_out + c->n_in; i++) {
		struct str s = str_trim(str_cut(&rest, ','));
		const struct ty *t = i < c->n_out ? c->out[i] : ty_scalar(c->in[i - c->n_out].ty);
		struct ptx_reg *r = &p->reg[i];
		int is_out = str_starts(s, "=");

		*r = (struct ptx_reg){ .name = str_of(arena_printf(p->f->a, "$%zu", i)), .kind = 'b' };
		r->bits = constraint_bits(s.n ? s.p[s.n - 1] : 0);
		if (is_out != (i < c->n_out) || s.n != 1u + (unsigned)is_out + (unsigned)str_starts(s, "=&"))
			return ptx_refuse(p, "the constraints do not fit the arguments and results");
		if (!r->bits || r->bits != ty_bits(t) || ty_is_ptr(t))
			return ptx_refuse(p, "a constraint does not have the width of its value");
		r->input = r->written = !is_out;
		if (r->input)
			r->v = c->in[i - c->n_out];
	}
	p->n_reg = p->n_operands = c->n_out + c->n_in;
	if (rest.n || str_ends(c->constraints, ","))
		return ptx_refuse(p, "there are more constraints than arguments and results");
	return 0;
}

int inline_asm(struct front *f, const struct inline_asm *c, struct tv *result)
{
	struct ptx p = { .f = f, .shape = c->shape, .insn = STR("pack") };

	p.reg = arena_array(f->a, c->n_out + c->n_in + MOST_REGS, sizeof *p.reg);
	if (c->pack != 1)
		return ptx_refuse(&p, "only one element at a time is supported");
	if (bind(&p, c) || translate(&p, without_comments(f, c->text)))
		return 1;
	for (size_t i = 0; i < c->n_out; i++) {
		if (!p.reg[i].written)
			return ptx_refuse(&p, "a result is not written");
		result[i] = sem_bitcast(f, p.reg[i].v, c->out[i]);
	}
	return 0;
}
