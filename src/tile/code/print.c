/* Writes tile code as text, which parse_text.c reads back to the same code. A register's type is
 * written where the register is first mentioned. */
#include "tile/tile.h"

#include <math.h>

#include "tile/code/ir.h"
#include "tile/code/parse_text.h"

const char *const tile_round_names[] = { "rn", "rz", "rd", "ru", NULL };

struct code_printer {
	const struct tile_code *code;
	struct buf *out;
	unsigned char *seen;        /* registers whose type was written; NULL: write always */
};

/* Escapes every byte that is not printable ASCII, so that any source text survives the round trip. */
static void print_quoted(struct buf *out, struct str s)
{
	buf_addc(out, '"');
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c == '"' || c == '\\' || c < 32 || c > 126)
			buf_addf(out, "\\x%02x", c);
		else
			buf_addc(out, (char)c);
	}
	buf_addc(out, '"');
}

/* "%12:fp32[64]" at the first mention, "%12" afterwards. */
static void print_reg(struct code_printer *p, tile_reg r)
{
	buf_addf(p->out, "%%%u", r);
	if (p->seen && p->seen[r])
		return;
	if (p->seen)
		p->seen[r] = 1;
	buf_addc(p->out, ':');
	tile_type_print(p->code->regs[r], p->out);
}

static void print_regs(struct code_printer *p, const tile_reg *r, int n)
{
	for (int i = 0; i < n; i++) {
		buf_adds(p->out, i ? ", " : "");
		print_reg(p, r[i]);
	}
}

/* A location in the kernel itself, not inlined: it is written as "@line:col" and needs no `loc`
 * line. */
static int plain_loc(const struct tile_code *c, const struct tile_loc *l)
{
	return l->parent < 0 && str_eq(l->fn, c->name);
}

/* Writes the `loc` lines: all locations that are not plain, and those plain ones that are parents. */
static void print_locs(struct code_printer *p)
{
	for (int i = 0; i < p->code->n_locs; i++) {
		const struct tile_loc *l = &p->code->locs[i];
		if (plain_loc(p->code, l) && i)
			continue;
		buf_addf(p->out, "loc %d %d:%d %d ", i, l->line, l->col, l->parent);
		print_quoted(p->out, l->fn);
		buf_addc(p->out, '\n');
	}
	/* A parent may be a plain location; its children need it. */
	for (int i = 0; i < p->code->n_locs; i++) {
		int parent = p->code->locs[i].parent;
		if (parent > 0 && plain_loc(p->code, &p->code->locs[parent]))
			buf_addf(p->out, "loc %d %d:%d -1 \"%.*s\"\n", parent, p->code->locs[parent].line,
				 p->code->locs[parent].col,
				STR_ARG(p->code->name));
	}
}

/* Writes the attributes that differ from their defaults. Floats are written in hexadecimal, which
 * is exact. */
static void print_attrs(struct code_printer *p, const struct tile_insn *in)
{
	int last = TILE_ATTRS;
	const struct tile_loc *l;

	if (in->imm)
		buf_addf(p->out, " imm=%lld", (long long)in->imm);
	if (in->fimm != 0 || signbit(in->fimm))
		buf_addf(p->out, " f=%a", in->fimm);
	while (last && !in->attr[last - 1])
		last--;
	for (int i = 0; i < last; i++)
		buf_addf(p->out, "%s%d", i ? "," : " attr=", in->attr[i]);
	if (in->rounding)
		buf_addf(p->out, " round=%s", tile_round_names[in->rounding]);
	if (in->text.n) {
		buf_adds(p->out, " text=");
		print_quoted(p->out, in->text);
	}
	l = &p->code->locs[in->loc];
	if (plain_loc(p->code, l)) {
		if (l->line)
			buf_addf(p->out, " @%d:%d", l->line, l->col);
	} else {
		buf_addf(p->out, " @#%d", in->loc);
	}
}

/* The indentation of an instruction; updates the nesting depth. */
static int indent_of(const struct tile_insn *in, int *depth)
{
	if (in->op == TOP_END)
		return --*depth;
	if (in->op == TOP_ELSE)
		return *depth - 1;
	if (in->op == TOP_IF || in->op == TOP_BLOCK || in->op == TOP_LOOP)
		return (*depth)++;
	return *depth;
}

/* Function 0 is the kernel: it has neither a `func` line nor results. */
static void print_func(struct code_printer *p, int index)
{
	const struct tile_func *f = &p->code->funcs[index];
	int depth = 1;
	if (index) {
		buf_addf(p->out, "func %d ", index);
		print_quoted(p->out, f->name);
		buf_adds(p->out, " (");
		print_regs(p, f->params, f->n_params);
		buf_adds(p->out, ")\n");
	}
	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		int indent = indent_of(in, &depth);
		buf_pad(p->out, ' ', (size_t)MAX(indent, 0) * 2);
		print_regs(p, in->r, in->n_dst);
		buf_addf(p->out, "%s%s", in->n_dst ? " = " : "", tile_op_info(in->op)->name);
		if (in->n_src)
			buf_addc(p->out, ' ');
		print_regs(p, in->r + in->n_dst, in->n_src);
		print_attrs(p, in);
		buf_addc(p->out, '\n');
	}
	if (index) {
		buf_adds(p->out, "results ");
		print_regs(p, f->results, f->n_results);
		buf_addc(p->out, '\n');
	}
}

static void print_param(struct code_printer *p, const struct tile_param *q)
{
	buf_adds(p->out, "param ");
	print_reg(p, q->reg);
	buf_addc(p->out, ' ');
	print_quoted(p->out, q->name);
	buf_addf(p->out, " %d", q->arg);
	for (int i = 0; i < q->n_path; i++)
		buf_addf(p->out, ".%d", q->path[i]);
	if (q->part)
		buf_addf(p->out, " %s %d", q->part == TILE_PART_SHAPE ? "shape" : "stride", q->dim);
	buf_addc(p->out, '\n');
}

/* Parameters, then functions, then the body that calls them. */
void tile_print(const struct tile_code *code, struct buf *out)
{
	struct code_printer p = { .code = code, .out = out, .seen = mem_zalloc((size_t)code->n_regs + 1) };
	buf_adds(out, "kernel ");
	print_quoted(out, code->name);
	buf_addc(out, '\n');
	print_locs(&p);
	for (int i = 0; i < code->n_params; i++)
		print_param(&p, &code->params[i]);
	for (int i = 1; i < code->n_funcs; i++)
		print_func(&p, i);
	buf_adds(out, "body\n");
	print_func(&p, 0);
	mem_free(p.seen);
}
