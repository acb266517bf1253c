/* Reads tile code from text, line by line. Owns only the syntax: tile_build_finish verifies the
 * code. Each read_* function consumes its part of the current line and returns 0, or -1 with *e
 * set. */
#include "tile/code/parse_text.h"

#include <stdio.h>

#include "tile/code/build.h"

/* MAX_OPERANDS: registers on one side of an instruction. MAX_LABEL: the largest number of a
 * register. */
enum { MAX_OPERANDS = 64, MAX_LABEL = 1 << 18 };

/* The state of one parse. */
struct reader {
	struct tile_builder b;
	struct str line;            /* the rest of the current line */
	struct str kernel;
	int number;                 /* of the current line, from 1, for messages */
	struct err *e;
	struct map labels;          /* "%12" -> register, "#3" -> loc */
	int in_func;                /* between `func` and `results` */
};

/* Reports a syntax error with the number of the line and its next 40 characters. */
static int bad(struct reader *r, const char *what)
{
	return err_set_at(r->e, ERR_FORMAT, r->number, 0, "tile code, line %d: %s near '%.*s'", r->number, what,
		(int)MIN(r->line.n, (size_t)40), r->line.p);
}

static void skip_space(struct reader *r)
{
	while (r->line.n && (*r->line.p == ' ' || *r->line.p == '\t'))
		r->line.p++, r->line.n--;
}

/* Consumes s if the rest of the line starts with it, after spaces. Returns whether it did. */
static int accept(struct reader *r, const char *s)
{
	skip_space(r);
	if (!str_starts(r->line, s))
		return 0;
	r->line.p += strlen(s);
	r->line.n -= strlen(s);
	return 1;
}

/* Characters of names, numbers and types: "fp32[64]", "-1", "0x1p-3", "program_id". */
static int is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '.' || c == '-' || c == '+' || c == '*' || c == '[' || c == ']';
}

/* Consumes the longest word, which may be empty. */
static struct str word(struct reader *r)
{
	struct str w;

	skip_space(r);
	w = (struct str){ .p = r->line.p, .n = 0 };
	while (r->line.n && is_word(*r->line.p))
		r->line.p++, r->line.n--, w.n++;
	return w;
}

/* Consumes an integer in [lo, hi]. */
static int number(struct reader *r, int64_t lo, int64_t hi, int64_t *out)
{
	if (str_to_i64(word(r), out) || *out < lo || *out > hi)
		return bad(r, "a number expected");
	return 0;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Consumes a quoted text; `\xNN` is the only escape, as print_quoted writes it. The text lives in
 * the arena of the code. */
static int quoted(struct reader *r, struct str *out)
{
	struct arena *mem = tile_build_arena(&r->b);
	char *p;

	if (!accept(r, "\""))
		return bad(r, "a quoted text expected");
	p = mem ? arena_alloc(mem, r->line.n + 1) : NULL;
	if (!p)
		return err_nomem(r->e);
	*out = (struct str){ .p = p, .n = 0 };
	for (; r->line.n && *r->line.p != '"'; r->line.p++, r->line.n--) {
		char c = *r->line.p;
		if (c == '\\') {
			int h = r->line.n > 3 && r->line.p[1] == 'x' ? hex_digit(r->line.p[2]) : -1;
			int l = h < 0 ? -1 : hex_digit(r->line.p[3]);
			if (l < 0)
				return bad(r, "\\xNN expected");
			c = (char)(h * 16 + l);
			r->line.p += 3, r->line.n -= 3;
		}
		p[out->n++] = c;
	}
	return accept(r, "\"") ? 0 : bad(r, "the text does not end");
}

/* Consumes "%12" or "%12:fp32[64]". The form with a type creates the register and may occur once. */
static int read_reg(struct reader *r, tile_reg *out)
{
	struct tile_type t;
	struct map_entry *m;
	struct str key;
	int64_t label;

	skip_space(r);
	key = (struct str){ .p = r->line.p };
	if (!accept(r, "%") || number(r, 0, MAX_LABEL, &label))
		return bad(r, "a register expected");
	key.n = (size_t)(r->line.p - key.p);
	m = map_get(&r->labels, key);
	if (!accept(r, ":")) {
		if (!m)
			return bad(r, "an unknown register");
		*out = (tile_reg)m->val.i64;
		return 0;
	}
	if (m)
		return bad(r, "a register has its type twice");
	if (tile_type_parse(word(r), &t))
		return bad(r, "not a type");
	*out = tile_build_reg(&r->b, t);
	m = map_put(&r->labels, key);
	if (!m)
		return err_nomem(r->e);
	m->val.i64 = *out;
	return 0;
}

/* Consumes registers separated by commas; an empty list is allowed. */
static int reg_list(struct reader *r, tile_reg *v, int *n)
{
	*n = 0;
	skip_space(r);
	while (r->line.n && *r->line.p == '%') {
		if (*n == MAX_OPERANDS)
			return bad(r, "too many operands");
		if (read_reg(r, &v[(*n)++]))
			return -1;
		if (!accept(r, ","))
			return 0;
		skip_space(r);
	}
	return 0;
}

/* Consumes the source location after '@': "#3" refers to a `loc` line, "12:4" is line and column. */
static int read_loc(struct reader *r, int32_t *out)
{
	int64_t a, b;
	if (accept(r, "#")) {
		struct str key = { .p = r->line.p - 1 };
		struct map_entry *m;

		if (number(r, 0, INT32_MAX, &a))
			return -1;
		key.n = (size_t)(r->line.p - key.p);
		m = map_get(&r->labels, key);
		if (!m)
			return bad(r, "an unknown source location");
		*out = (int32_t)m->val.i64;
		return 0;
	}
	if (number(r, 0, INT32_MAX, &a) || !accept(r, ":") || number(r, 0, INT32_MAX, &b))
		return bad(r, "line:column expected");
	*out = tile_build_loc(&r->b, (int)a, (int)b, -1, r->kernel);
	return 0;
}

static int read_rounding(struct reader *r, struct tile_insn *in)
{
	struct str name = word(r);
	for (int i = 0; tile_round_names[i]; i++)
		if (str_is(name, tile_round_names[i])) {
			in->rounding = (uint8_t)i;
			return 0;
		}
	return bad(r, "no such rounding");
}

/* Consumes one attribute of an instruction. */
static int read_attr(struct reader *r, struct tile_insn *in)
{
	int64_t v;
	if (accept(r, "imm="))
		return number(r, INT64_MIN, INT64_MAX, &in->imm);
	if (accept(r, "f="))
		return str_to_f64(word(r), &in->fimm) ? bad(r, "a number expected") : 0;
	if (accept(r, "round="))
		return read_rounding(r, in);
	if (accept(r, "text="))
		return quoted(r, &in->text);
	if (accept(r, "@"))
		return read_loc(r, &in->loc);
	if (!accept(r, "attr="))
		return bad(r, "an attribute expected");
	for (int i = 0; i < TILE_ATTRS; i++) {
		if (number(r, INT32_MIN, INT32_MAX, &v))
			return -1;
		in->attr[i] = (int32_t)v;
		if (!accept(r, ","))
			return 0;
	}
	return bad(r, "too many attributes");
}

/* Consumes "results = operation sources attributes". */
static int read_insn(struct reader *r)
{
	tile_reg regs[2 * MAX_OPERANDS];
	int n_dst, n_src, op;
	struct tile_insn *in;

	if (reg_list(r, regs, &n_dst))
		return -1;
	if (n_dst && !accept(r, "="))
		return bad(r, "'=' expected");
	op = tile_op_by_name(word(r));
	if (op < 0)
		return bad(r, "no such operation");
	if (reg_list(r, regs + n_dst, &n_src))
		return -1;
	in = tile_build_insn(&r->b, (enum tile_op)op, n_dst, regs, n_src, regs + n_dst);
	in->loc = 0;
	for (;;) {
		skip_space(r);
		if (!r->line.n)
			return 0;
		if (read_attr(r, in))
			return -1;
	}
}

/* Consumes the rest of `param %0:*fp32 "x" 0`: register, name and argument index. "2.0.1" is a path
 * into nested tuples; "shape 0" and "stride 0" select a field of a tensor descriptor. */
static int read_param(struct reader *r)
{
	struct tile_param p = { .n_path = 0 };
	struct tile_type t;
	int64_t v;
	tile_reg reg;
	struct map_entry *m;
	struct str where, key;

	skip_space(r);
	key = (struct str){ .p = r->line.p };
	if (!accept(r, "%") || number(r, 0, MAX_LABEL, &v))
		return bad(r, "a register expected");
	key.n = (size_t)(r->line.p - key.p);
	if (!accept(r, ":") || tile_type_parse(word(r), &t) || map_get(&r->labels, key))
		return bad(r, "a new register with its type expected");
	if (quoted(r, &p.name))
		return -1;
	where = word(r);
	if (str_to_i64(str_cut(&where, '.'), &v) || v < 0 || v > 4096)
		return bad(r, "an argument index expected");
	p.arg = (int)v;
	while (where.n) {
		if (p.n_path == 3 || str_to_i64(str_cut(&where, '.'), &v) || v < 0 || v > 4096)
			return bad(r, "a path into tuples expected");
		p.path[p.n_path++] = (int)v;
	}
	p.part = accept(r, "shape") ? TILE_PART_SHAPE : accept(r, "stride") ? TILE_PART_STRIDE : TILE_PART_VALUE;
	if (p.part && (number(r, 0, TILE_DIMS - 1, &v) || (p.dim = (int)v, 0)))
		return -1;
	reg = tile_build_param(&r->b, t, &p);
	m = map_put(&r->labels, key);
	if (!m)
		return err_nomem(r->e);
	m->val.i64 = reg;
	return 0;
}

/* Consumes the rest of `loc 3 12:4 1 "name"`: number, line, column, number of the parent,
 * function. */
static int read_loc_row(struct reader *r)
{
	int64_t line, col, parent;
	struct str fn, key = word(r);
	struct str name;
	char up[32], text[32] = "#";
	int n;
	struct map_entry *m;
	int32_t loc;

	if (!key.n || key.p[-1] != ' ')
		return bad(r, "a location number expected");
	if (number(r, 0, INT32_MAX, &line) || !accept(r, ":") || number(r, 0, INT32_MAX, &col) ||
	    number(r, -1, INT32_MAX, &parent) || quoted(r, &fn))
		return -1;
	memcpy(text + 1, key.p, MIN(key.n, sizeof text - 1));
	name = (struct str){ .p = text, .n = 1 + MIN(key.n, sizeof text - 1) };
	/* A parent must be declared before its child. Otherwise the child has no parent, and reports lose
	 * one line of the call stack. */
	n = snprintf(up, sizeof up, "#%lld", (long long)parent);
	m = map_get(&r->labels, (struct str){ .p = up, .n = (size_t)n });
	loc = tile_build_loc(&r->b, (int)line, (int)col, m ? (int32_t)m->val.i64 : -1, fn);
	m = map_put(&r->labels, name);
	if (!m)
		return err_nomem(r->e);
	m->val.i64 = loc;
	return 0;
}

/* Consumes the rest of `func 1 "name" (%4:fp32, %5:fp32)` and makes this function the current one. */
static int read_func(struct reader *r)
{
	int64_t index;
	struct str name;
	tile_reg params[MAX_OPERANDS];
	struct tile_type types[MAX_OPERANDS];
	struct str labels[MAX_OPERANDS];
	int n = 0;
	if (r->in_func || number(r, 1, 4096, &index) || quoted(r, &name) || !accept(r, "("))
		return bad(r, "func N \"name\" (parameters) expected");
	while (!accept(r, ")")) {
		int64_t label;
		skip_space(r);
		labels[n].p = r->line.p;
		if (n == MAX_OPERANDS - 1 || !accept(r, "%") || number(r, 0, MAX_LABEL, &label))
			return bad(r, "a parameter expected");
		labels[n].n = (size_t)(r->line.p - labels[n].p);
		if (!accept(r, ":") || tile_type_parse(word(r), &types[n]))
			return bad(r, "the parameter's type expected");
		n++;
		accept(r, ",");
	}
	if (tile_build_func_begin(&r->b, name, n, types, params) != index && !r->b.failed)
		return bad(r, "functions are numbered from 1 in order");
	for (int i = 0; i < n; i++) {
		/* The parameters' names are known in the body of the function. */
		struct map_entry *m = map_put(&r->labels, labels[i]);
		if (!m)
			return err_nomem(r->e);
		m->val.i64 = params[i];
	}
	r->in_func = 1;
	return 0;
}

/* Consumes the rest of `results %6`, which ends a function. */
static int read_results(struct reader *r)
{
	tile_reg regs[MAX_OPERANDS];
	int n;
	if (!r->in_func || reg_list(r, regs, &n))
		return bad(r, "results outside a function");
	tile_build_func_end(&r->b, n, regs);
	r->in_func = 0;
	return 0;
}

/* Dispatches by the first word; a line without a known word is an instruction. */
static int read_line(struct reader *r)
{
	skip_space(r);
	if (!r->line.n || *r->line.p == '#')
		return 0;
	if (accept(r, "kernel "))
		return quoted(r, &r->kernel) ? -1
			: (r->b.code->name = r->kernel,
			   r->b.locs.n ? (void)(r->b.locs.v[0].fn = r->kernel) : (void)0, 0);
	if (accept(r, "param "))
		return read_param(r);
	if (accept(r, "loc "))
		return read_loc_row(r);
	if (accept(r, "func "))
		return read_func(r);
	if (accept(r, "results"))
		return read_results(r);
	if (str_is(str_trim(r->line), "body"))
		return 0;
	return read_insn(r);
}

/* Reads all lines, then hands the builder's code over. */
int tile_parse_text(struct str text, struct tile_code **code, struct err *e)
{
	struct reader r = { .e = e, .labels = MAP_INIT };
	int rc = 0;
	tile_build_init(&r.b, STR(""));
	if (r.b.failed)
		rc = err_nomem(e);
	while (text.n && !rc) {
		r.line = str_trim(str_cut(&text, '\n'));
		r.number++;
		rc = read_line(&r);
	}
	if (!rc && r.in_func)
		rc = bad(&r, "a function without results");
	if (!rc)
		rc = tile_build_finish(&r.b, code, e);
	else
		tile_build_release(&r.b);
	map_release(&r.labels);
	return rc;
}
