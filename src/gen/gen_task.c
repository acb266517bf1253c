/* The task as PyTorch source, as people write them: Model, constants of the module, get_inputs,
 * get_init_inputs. The same composition is written in many ways; the plan's style decides. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gen/impl.h"

/* --- words ------------------------------------------------------------------------------- */

enum { NOUN, SHORT };

static const char *const words[GEN_OPS][2] = {
#define WORDS(op, noun, short) [GEN_OP_##op] = { noun, short },
#include "gen/gen_words.def"
#undef WORDS
};

/* What the step is called: as people do, or by its own name. */
static void words_of(const struct gen_emit *em, const struct gen_step *s, int form, struct buf *out)
{
	const char *text = gen_style(em, 124, 10, 0) ? words[s->op][form] : NULL;

	for (const char *c = text ? text : gen_op(s->op)->name; *c; c++)
		if (*c == '$')
			buf_addf(out, "%d", s->nd), c++;
		else
			buf_addc(out, *c == '_' && !text ? ' ' : *c);
}

/* What is said of step i. In some tasks words cannot be trusted: they are of another operator, or of anything, so that only the
 * lines that compute tell what is computed. */
static void tell(const struct gen_emit *em, int i, int form, struct buf *out)
{
	struct gen_step s = em->p->step[i];
	unsigned how = gen_style(em, 143, 2, 1) ? 0 : gen_choice(em->p, 7000 + (unsigned)i, 8);

	if (how == 7 || how == 6) {
		gen_remark(em->p, 7100 + 16 * (unsigned)i, out);
		return;
	}
	if (how == 5) {
		s.op = (enum gen_op_id)gen_choice(em->p, 7020 + (unsigned)i, GEN_OPS);
		s.nd = s.nd ? s.nd : 2;
	}
	words_of(em, &s, form, out);
}

/* Whether the words on the whole chain leave step i out. */
static int is_left_out(const struct gen_emit *em, int i)
{
	return gen_style(em, 144, 3, 1) == 0 && gen_choice(em->p, 7040 + (unsigned)i, 3) == 0;
}

static void chain_words(const struct gen_emit *em, struct buf *out)
{
	static const char *const before[] = { "", "", "", "a ", "applies ", "followed by ", "then ", "the " };
	int loose = gen_style(em, 145, 3, 1) == 0, n = 0;

	for (int i = 0; i < em->p->n; i++) {
		if (is_left_out(em, i))
			continue;
		buf_adds(out, !n++ ? "" : i == em->p->n - 1 ? " and " : ", ");
		buf_adds(out, loose ? before[gen_choice(em->p, 7060 + (unsigned)i, COUNT_OF(before))] : "");
		tell(em, i, NOUN, out);
	}
}

static void class_doc(const struct gen_emit *em, struct buf *out)
{
	static const char *const openings[] = { "Model that performs ", "Simple model that performs ", "A model that applies ", "Performs ", "Computes " };

	buf_adds(out, "    \"\"\"\n    ");
	if (em->p->n > 1 && gen_style(em, 103, 4, 1) == 0) {
		buf_adds(out, "Model that performs a series of operations:\n");
		for (int i = 0, n = 0; i < em->p->n; i++)
			if (!is_left_out(em, i)) {
				buf_addf(out, "    %d. ", ++n);
				tell(em, i, NOUN, out);
				buf_addc(out, '\n');
			}
	} else {
		buf_adds(out, openings[gen_style(em, 104, COUNT_OF(openings), 0)]);
		chain_words(em, out);
		buf_adds(out, ".\n");
	}
	if (em->args && gen_args_in_class(em)) {
		buf_addc(out, '\n');
		gen_args_doc(em, "    ", out);
	}
	buf_adds(out, "    \"\"\"\n");
}

static void shape_words(const char (*sym)[GEN_NAME], int rank, struct buf *out)
{
	buf_adds(out, " of shape (");
	for (int i = 0; i < rank; i++)
		buf_addf(out, "%s%s", i ? ", " : "", sym[i]);
	buf_adds(out, rank == 1 ? ",)" : ")");
}

static void forward_doc(const struct gen_emit *em, struct buf *out)
{
	const char *type = gen_style(em, 131, 4, 1) ? " (torch.Tensor)" : "";
	int shapes = gen_style(em, 106, 2, 0) != 0;

	buf_adds(out, "        \"\"\"\n");
	if (gen_style(em, 105, 2, 0)) {
		buf_adds(out, "        Applies ");
		chain_words(em, out);
		buf_adds(out, " to the input.\n\n");
	}
	buf_adds(out, "        Args:\n");
	for (int i = 0; i < em->inputs; i++) {
		const struct gen_input *in = &em->input[gen_input_at(em, i)];
		int number = in->fill == GEN_FILL_NUMBER;

		buf_addf(out, "            %s%s: %s", in->name, number && *type ? " (float)" : type, number ? "A number" : "Input tensor");
		if (shapes && !number)
			shape_words(in->sym, in->shape.rank, out);
		buf_adds(out, ".\n");
	}
	buf_addf(out, "%s        Returns:\n            %sOutput tensor", gen_style(em, 132, 2, 0) ? "\n" : "", *type ? "torch.Tensor: " : "");
	if (shapes)
		shape_words(em->sym[em->p->n], em->p->step[em->p->n - 1].shape.rank, out);
	buf_adds(out, ".\n        \"\"\"\n");
}

/* --- forward ------------------------------------------------------------------------------- */

/* What forward calls the value on its way. */
static const char *work_name(const struct gen_emit *em)
{
	static const char *const names[] = { "x", "x", "x", "x", "x", "x", "out", "y", "result" };
	const char *name = names[gen_style(em, 137, COUNT_OF(names), 0)];

	for (int i = 1; i < em->inputs; i++)
		if (!strcmp(em->input[i].name, name))
			return "x";
	return em->p->step[0].op == GEN_OP_keep ? "x" : name;
}

static int names_each(const struct gen_emit *em)
{
	return gen_style(em, 148, 8, 1) == 0;
}

/* What forward calls the value behind step i: mostly one name all the way, now and then one for each step. */
static const char *value_name(const struct gen_emit *em, int i, char *out, size_t n)
{
	static const char *const stems[] = { "x", "h", "t", "out" };

	while (i >= 0 && em->p->step[i].op == GEN_OP_keep)
		i--;
	if (i < 0)
		snprintf(out, n, "%s", em->input[0].name);
	else if (!names_each(em))
		snprintf(out, n, "%s", work_name(em));
	else if (gen_style(em, 149, 2, 0))
		snprintf(out, n, "%s%d", stems[gen_style(em, 150, COUNT_OF(stems), 0)], i + 1);
	else
		snprintf(out, n, "x_%s%.0d", gen_op(em->p->step[i].op)->name, i && em->p->step[i - 1].op == em->p->step[i].op ? i : 0);
	return out;
}

/* Whether a value is kept by not being overwritten: no line is needed. */
static int is_kept_by_name(const struct gen_emit *em, int i)
{
	return em->p->step[i].op == GEN_OP_keep && i > 0 && names_each(em);
}

/* What forward calls the operand of step i that is no input: a parameter, or the value that was kept. */
static const char *kept_name(const struct gen_emit *em, int i, char *out, size_t n)
{
	int keep = i;

	while (gen_op(em->p->step[i].op)->family == GEN_KEPT && keep > 0 && em->p->step[keep].op != GEN_OP_keep)
		keep--;
	if (keep < i && is_kept_by_name(em, keep))
		return value_name(em, keep - 1, out, n);
	snprintf(out, n, "%s", em->name[i].vec);
	return out;
}

static void call_vars(const struct gen_emit *em, int i, const char *from, struct gen_vars *v)
{
	const struct gen_step *s = &em->p->step[i];
	const struct gen_names *n = &em->name[i];
	const char *second = n->input[0];
	char kept[GEN_NAME];

	gen_vars_init(v);
	gen_set(v, "x", "%s", from);
	for (int c = 0; c < 2; c++)
		gen_set(v, c ? "1" : "0", "%s%s", n->attr[c][0] ? "self." : "", n->attr[c][0] ? n->attr[c] : s->c[c]);
	gen_set(v, "v", "%s%s", gen_op(s->op)->family == GEN_KEPT || second[0] ? "" : "self.", second[0] ? second : kept_name(em, i, kept, sizeof kept));
	gen_set(v, "y", "%s", second);
	gen_set(v, "z", "%s", n->input[1]);
	gen_set(v, "a", "%s", n->axis);
	gen_set(v, "k", "%s", s->keepdim ? ", keepdim=True" : gen_op(s->op)->family == GEN_REDUCE && gen_style(em, 110, 6, 1) == 0 ? ", keepdim=False" : "");
	gen_set(v, "w", "%s", n->window);
	gen_set(v, "b", "%s", s->axis == s->in.rank - 1 ? "1, -1" : s->in.rank == 3 ? "1, -1, 1" : s->in.rank == 4 ? "1, -1, 1, 1" : "1, -1, 1, 1, 1");
	gen_set(v, "dd", "%dd", s->nd ? s->nd : 1);
	gen_set(v, "1s", "%s", s->nd < 2 || gen_choice(em->p, 44, 2) ? "1" : s->nd == 2 ? "(1, 1)" : "(1, 1, 1)");
	gen_set(v, "e", "torch.einsum(\"%s\", %s, %s)", s->in.rank == 3 ? "bij,jk->bik" : s->in.rank == 4 ? "bijl,lk->bijk" : "ij,jk->ik", from, second);
}

const char *gen_form(const struct gen_step *s)
{
	const char *form = gen_op(s->op)->torch[s->form];

	return form + (form[0] == '%');
}

/* Forms of max and min that give a pair take one axis; a scalar needs no view. */
const char *gen_spelling(const struct gen_step *s)
{
	const char *const *forms = gen_op(s->op)->torch, *form = gen_form(s);
	int pair = strstr(form, "[0]") || strstr(form, ".values");

	return (pair && s->axis_end - s->axis > 1) || (s->axis < 0 && strstr(form, ".view(")) ? forms[0] : form;
}

/* The last line of the expression goes to its place, those before it stand above, as far in. */
static void write_expr(const char *to, struct buf *expr, struct buf *out)
{
	const char *line = buf_cstr(expr), *end;

	for (; (end = strchr(line, '\n'))[1]; line = end + 1) {
		buf_pad(out, ' ', strspn(to, " "));
		buf_add(out, line, (size_t)(end + 1 - line));
	}
	buf_addf(out, "%s%s", to, line);
}

/* Rows that go through a module of images become images of one line, and rows again behind it. */
static const char *widened(const struct gen_step *s, int before)
{
	int pool = gen_op(s->op)->family == GEN_POOL, norm = s->op == GEN_OP_instance_norm;

	if (s->in.rank != 2 || !(pool || norm))
		return "";
	if (norm && s->nd == 2)
		return before ? ".unsqueeze(1).unsqueeze(1)" : ".squeeze(1).squeeze(1)";
	return before ? ".unsqueeze(1)" : ".squeeze(1)";
}

/* A pool over all of space whose sides of one element go. */
static int is_squeezed(const struct gen_step *s)
{
	return (s->op == GEN_OP_global_avg_pool || s->op == GEN_OP_global_max_pool) && !s->keepdim;
}

static const char *squeezed(const struct gen_emit *em, const struct gen_step *s)
{
	static const char *const by_side[] = { "", ".squeeze(-1)", ".squeeze(-1).squeeze(-1)", ".squeeze(-1).squeeze(-1).squeeze(-1)" };

	return gen_style(em, 146, 3, 0) ? by_side[s->nd] : ".flatten(1)";
}

/* The sides of one element go in the same line, or in one of their own. */
static void squeeze(const struct gen_emit *em, const struct gen_step *s, const char *from, struct buf *expr)
{
	struct buf line = BUF_INIT;

	if (names_each(em) || gen_style(em, 153, 2, 0) == 0) {
		expr->n--;
		buf_addf(expr, "%s\n", squeezed(em, s));
		return;
	}
	buf_addf(&line, "%s = %s%s%s\n", from, buf_cstr(expr), from, squeezed(em, s));
	buf_clear(expr);
	buf_addstr(expr, buf_str(&line));
	buf_release(&line);
}

void gen_forward_line(const struct gen_emit *em, int i, const char *from, const char *to, struct buf *out)
{
	const struct gen_step *s = &em->p->step[i];
	const struct gen_names *n = &em->name[i];
	struct gen_vars v;
	struct buf expr = BUF_INIT;
	const char *wider = widened(s, 1);

	if (n->module[0]) {
		buf_addf(&expr, "self.%s(%s%s", n->module, from, wider);
		for (int k = 0; k < 2 && n->input[k][0]; k++)
			buf_addf(&expr, ", %s", n->input[k]);
		buf_addf(&expr, ")%s\n", widened(s, 0));
	} else {
		char x[2 * GEN_NAME];

		snprintf(x, sizeof x, "%.40s%s", from, wider);
		call_vars(em, i, x, &v);
		gen_text(&expr, gen_spelling(s), &v);
		if (*wider)
			expr.n--, buf_addf(&expr, "%s\n", widened(s, 0));
	}
	if (is_squeezed(s))
		squeeze(em, s, from, &expr);
	write_expr(to, &expr, out);
	buf_release(&expr);
}

/* Comments on the steps: none, above the line, behind it. */
enum { COMMENTS_NONE, COMMENTS_ABOVE, COMMENTS_BEHIND };

static int comments(const struct gen_emit *em)
{
	unsigned s = gen_style(em, 111, 8, 7);

	return s > 3 || (em->p->n < 2 && gen_style(em, 147, 3, 1)) ? COMMENTS_NONE : s & 1 ? COMMENTS_ABOVE : COMMENTS_BEHIND;
}

/* Words behind the line, two blanks off or in a column; or blanks alone. */
static void write_line_end(const struct gen_emit *em, int i, size_t begun, struct buf *out)
{
	unsigned where = gen_style(em, 151, 4, 0);

	if (comments(em) == COMMENTS_BEHIND && gen_choice(em->p, 200 + (unsigned)i, 3)) {
		out->n--;
		if (where == 3)
			buf_pad(out, ' ', out->n - begun < 50 ? 50 - (out->n - begun) : 1);
		buf_adds(out, where == 2 ? " # " : "  # ");
		tell(em, i, SHORT, out);
		buf_addc(out, '\n');
	} else if (gen_style(em, 152, 5, 1) == 0 && gen_choice(em->p, 7080 + (unsigned)i, 2)) {
		out->n--;
		buf_adds(out, gen_choice(em->p, 7080 + (unsigned)i, 6) == 5 ? "  \n" : " \n");
	}
}

static void write_line(const struct gen_emit *em, int i, int last, const char *indent, struct buf *out)
{
	const struct gen_step *s = &em->p->step[i];
	char to[2 * GEN_NAME], from[GEN_NAME], name[GEN_NAME];
	size_t begun;

	if (comments(em) == COMMENTS_ABOVE) {
		buf_addf(out, "%s# ", indent);
		tell(em, i, SHORT, out);
		buf_addc(out, '\n');
	}
	if (is_kept_by_name(em, i))
		return;
	begun = out->n;
	value_name(em, i - 1, from, sizeof from);
	if (s->op == GEN_OP_keep)
		snprintf(to, sizeof to, "%s%s = ", indent, em->name[i].vec);
	else
		snprintf(to, sizeof to, "%s%s%s", indent, last ? "return" : value_name(em, i, name, sizeof name), last ? " " : " = ");
	gen_forward_line(em, i, from, to, out);
	write_line_end(em, i, begun, out);
}

static void write_lines(const struct gen_emit *em, const char *indent, struct buf *out)
{
	int direct = em->p->n == 1 ? gen_style(em, 112, 4, 1) != 0 : gen_style(em, 112, 6, 1) == 0;
	char name[GEN_NAME];

	for (int i = 0; i < em->p->n; i++)
		write_line(em, i, direct && i == em->p->n - 1, indent, out);
	if (!direct)
		buf_addf(out, "%sreturn %s\n", indent, value_name(em, em->p->n - 1, name, sizeof name));
}

/* Whether the chain is written as a function that the module calls: only one that needs nothing of the module. */
static int as_function(const struct gen_emit *em)
{
	for (int i = 0; i < em->p->n; i++) {
		const struct gen_names *n = &em->name[i];

		if (n->module[0] || n->ctor[0] || n->konst[0][0] || n->konst[1][0] || strstr(n->axis, "self.") || strstr(n->window, "self."))
			return 0;
	}
	return gen_style(em, 121, 4, 1) == 0;
}

static const char *function_name(const struct gen_emit *em)
{
	static const char *const names[] = { "module_fn", "fn", "compute", "reference" };

	return names[gen_style(em, 122, COUNT_OF(names), 0)];
}

static void write_args(const struct gen_emit *em, const char *before, int hints, struct buf *out)
{
	for (int i = 0; i < em->inputs; i++) {
		const struct gen_input *in = &em->input[gen_input_at(em, i)];

		buf_addf(out, "%s%s%s", i ? ", " : before, in->name, !hints ? "" : in->fill == GEN_FILL_NUMBER ? ": float" : ": torch.Tensor");
	}
}

static void write_function(const struct gen_emit *em, struct buf *out)
{
	buf_addf(out, "def %s(", function_name(em));
	write_args(em, "", gen_typed(em), out);
	buf_addf(out, ")%s:\n", gen_typed(em) ? " -> torch.Tensor" : "");
	write_lines(em, "    ", out);
	buf_addc(out, '\n');
}

static void write_forward(const struct gen_emit *em, struct buf *out)
{
	buf_addf(out, "%s\n    def forward(self", gen_style(em, 136, 4, 1) ? "" : "    ");
	write_args(em, ", ", gen_typed(em), out);
	buf_addf(out, ")%s:\n", gen_typed(em) ? " -> torch.Tensor" : "");
	if (gen_style(em, 113, 3, 1) == 0)
		forward_doc(em, out);
	if (as_function(em)) {
		buf_addf(out, "        return %s(", function_name(em));
		write_args(em, "", 0, out);
		buf_adds(out, ")\n");
	} else {
		write_lines(em, "        ", out);
	}
}

/* --- constants and inputs -------------------------------------------------------------------- */

/* Whether sizes stand as numbers where they are used, as KernelBook's collected modules have them: small ones, for the
 * judge makes only sizes smaller that have a name. */
enum { NUMBERS_MOST = 1 << 14 };

static int numbers_in_place(const struct gen_emit *em)
{
	for (int i = 0; i < em->params; i++)
		if (em->param[i].init && strpbrk(em->param[i].value, "abcdfghijklmnopqrstuvwxyz_"))     /* all but the e of 1e-5 */
			return 0;
	for (int i = 0; i < em->inputs; i++)
		if (em->input[i].fill == GEN_FILL_CLASSES || gen_numel(&em->input[i].shape) > NUMBERS_MOST)
			return 0;
	return gen_style(em, 120, 8, 1) == 0;
}

/* Whether the shape behind the batch is one constant, a tuple: for inputs of two dimensions whose second stands nowhere else. */
static int rest_as_tuple(const struct gen_emit *em)
{
	if (em->p->level > 1 || em->p->plain || em->p->input.rank != 2 || em->params < 2 || em->param[1].init || gen_choice(em->p, 135, 4))
		return 0;
	for (int i = 0; i < em->inputs; i++)
		if (em->input[i].shape.rank != 2 || em->input[i].bound[0] || !strcmp(em->input[i].sym[0], em->param[1].name) ||
		    strcmp(em->input[i].sym[1], em->param[1].name))
			return 0;
	for (int i = 2; i < em->params; i++)
		if (strstr(em->param[i].value, em->param[1].name))
			return 0;
	return 1;
}

/* How many constants from i on are the sides of an image, and no arguments. */
static int sides_from(const struct gen_emit *em, int i)
{
	static const char *const names[] = { "depth", "height", "width", "D", "H", "W", "input_height", "input_width" };
	int n = 0;

	for (size_t k = 0; k < COUNT_OF(names) && i + n < em->params && !em->param[i + n].init; k++)
		if (!strcmp(em->param[i + n].name, names[k]))
			n++;
	return n;
}

/* Several constants in one line: "depth, height, width = 8, 16, 16", or "height = width = 16". */
static void write_sides(const struct gen_param *p, int n, struct buf *out)
{
	int same = n == 2 && !strcmp(p[0].value, p[1].value);

	for (int i = 0; i < n; i++)
		buf_addf(out, "%s%s", i ? (same ? " = " : ", ") : "", p[i].name);
	for (int i = same ? n - 1 : 0; i < n; i++)
		buf_addf(out, "%s%s", i && !same ? ", " : " = ", p[i].value);
	buf_addc(out, '\n');
}

/* A constant's line: the sign of equality may stand in a column, a remark above it or behind. */
static void write_constant(const struct gen_emit *em, int i, struct buf *out)
{
	const struct gen_param *p = &em->param[i];
	unsigned remark = gen_style(em, 141, 12, 1) || gen_choice(em->p, 680 + (unsigned)i, 4) ? 0 : 1 + gen_choice(em->p, 142, 2);
	struct buf text = BUF_INIT;
	int blanks = gen_style(em, 134, 8, 1) == 0 && i % 2, column = gen_style(em, 140, 12, 1) == 0;
	size_t n = strlen(p->label);

	gen_remark(em->p, 6000 + 16 * (unsigned)i, &text);
	if (remark == 1)
		buf_addf(out, "# %s\n", buf_cstr(&text));
	buf_adds(out, p->name);
	buf_pad(out, ' ', column && n < 14 ? 14 - n : 0);
	buf_addf(out, " = %s%s", p->value, blanks ? "  " : "");
	buf_addf(out, "%s%s\n", remark == 2 ? "  # " : "", remark == 2 ? buf_cstr(&text) : "");
	buf_release(&text);
}

static void write_constants(const struct gen_emit *em, struct buf *out)
{
	int sides = gen_style(em, 116, 3, 1) == 0, count;
	static const char *const notes[] = { "# Test code\n", "# === Test config ===\n", "# Example sizes\n", "# Sizes and settings\n", "\n# hyperparameters\n" };

	if (gen_style(em, 114, 4, 1) == 0)
		buf_adds(out, notes[gen_style(em, 115, COUNT_OF(notes), 0)]);
	for (int i = 0; i < em->params; i++) {
		const struct gen_param *p = &em->param[i];

		if ((p->init && !p->given) || p->in_place)
			continue;
		count = sides ? sides_from(em, i) : 0;
		if (count > 1) {
			write_sides(p, count, out);
			i += count - 1;
		} else if (rest_as_tuple(em) && i == 1) {
			buf_addf(out, "input_shape = (%s,)\n", p->value);
		} else {
			write_constant(em, i, out);
		}
	}
}

static void input_shape(const struct gen_emit *em, const struct gen_input *in, struct buf *out)
{
	for (int i = 0; i < in->shape.rank; i++)
		if (numbers_in_place(em))
			buf_addf(out, "%s%lld", i ? ", " : "", (long long)in->shape.d[i]);
		else if (i == 1 && rest_as_tuple(em))
			buf_adds(out, ", *input_shape");
		else
			buf_addf(out, "%s%s", i ? ", " : "", in->sym[i]);
}

static const char *maker(const struct gen_emit *em, int i)
{
	return (i ? gen_style(em, 117, 2, 1) : (unsigned)em->p->signed_input) ? "randn" : "rand";
}

static void input_expr(const struct gen_emit *em, int i, struct buf *out)
{
	const struct gen_input *in = &em->input[i];
	struct buf shape = BUF_INIT;

	input_shape(em, in, &shape);
	if (in->fill == GEN_FILL_NUMBER)
		buf_adds(out, in->bound);
	else if (in->fill == GEN_FILL_CLASSES)
		buf_addf(out, "torch.randint(0, %s, (%s,))", in->bound, buf_cstr(&shape));
	else if (in->fill == GEN_FILL_MASK)
		buf_addf(out, "torch.randint(0, 2, (%s)).bool()", buf_cstr(&shape));
	else if (in->fill == GEN_FILL_SIGNS)
		buf_addf(out, "torch.randint(0, 2, (%s%s)).float() * 2 - 1", buf_cstr(&shape), in->shape.rank == 1 ? "," : "");
	else if (in->fill == GEN_FILL_ROWS_OF_ONE)
		buf_addf(out, "torch.rand(%s).softmax(dim=-1)", buf_cstr(&shape));
	else if (in->fill == GEN_FILL_NEAR_ONE)
		buf_addf(out, "torch.rand(%s) * 0.02 + 0.99", buf_cstr(&shape));
	else
		buf_addf(out, numbers_in_place(em) ? "torch.%s([%s])" : "torch.%s(%s)", maker(em, i), buf_cstr(&shape));
	buf_release(&shape);
}

static void input_change(const struct gen_input *in, struct buf *out)
{
	if (in->fill == GEN_FILL_TRIU || in->fill == GEN_FILL_TRIL)
		buf_addf(out, "    %s = torch.%s(%s)\n", in->name, in->fill == GEN_FILL_TRIU ? "triu" : "tril", in->name);
	else if (in->fill == GEN_FILL_SYMMETRIC)
		buf_addf(out, "    %s = (%s + %s.T) / 2\n", in->name, in->name, in->name);
}

static int named_inputs(const struct gen_emit *em)
{
	for (int i = 0; i < em->inputs; i++)
		if (em->input[i].fill >= GEN_FILL_TRIU && em->input[i].fill <= GEN_FILL_SYMMETRIC)
			return 1;
	return gen_style(em, 118, 5, 4) < 2;
}

static void write_get_inputs(const struct gen_emit *em, struct buf *out)
{
	int named = named_inputs(em);

	buf_adds(out, "\ndef get_inputs():\n");
	for (int k = 0; named && k < em->inputs; k++) {
		int i = gen_input_at(em, k);

		buf_addf(out, "    %s = ", em->input[i].name);
		input_expr(em, i, out);
		buf_addc(out, '\n');
		input_change(&em->input[i], out);
	}
	buf_adds(out, "    return [");
	for (int k = 0; k < em->inputs; k++) {
		int i = gen_input_at(em, k);

		buf_adds(out, k ? ", " : "");
		if (named)
			buf_adds(out, em->input[i].name);
		else
			input_expr(em, i, out);
	}
	buf_adds(out, "]\n");
}

static void write_get_init_inputs(const struct gen_emit *em, struct buf *out)
{
	int n = 0;

	buf_adds(out, "\ndef get_init_inputs():\n    return [");
	for (int i = 0; i < em->args; i++) {
		const struct gen_param *p = &em->param[em->arg[i]];

		if (p->given)
			buf_addf(out, "%s%s", n++ ? ", " : "", p->in_place || numbers_in_place(em) ? p->value : p->name);
	}
	buf_adds(out, "]");
	if (!n && gen_style(em, 119, 2, 0))
		buf_adds(out, gen_style(em, 139, 2, 0) ? "  # the model takes no arguments" : "  # Nothing to initialize with");
	buf_addc(out, '\n');
}

int gen_uses(const struct gen_emit *em, const char *word)
{
	for (int i = 0; i < em->p->n; i++)
		if (!em->name[i].module[0] && strstr(gen_spelling(&em->p->step[i]), word))
			return 1;
	return 0;
}

void gen_write_task(const struct gen_emit *em, struct buf *out)
{
	int in_place = numbers_in_place(em);
	struct buf below = BUF_INIT;

	buf_adds(out, in_place ? "import torch\nfrom torch import nn\n" : "import torch\nimport torch.nn as nn\n");
	if (gen_uses(em, "math."))
		buf_adds(out, "import math\n");
	if (gen_uses(em, "F.") || gen_style(em, 100, 12, 1) == 0)
		buf_adds(out, "import torch.nn.functional as F\n");
	buf_addc(out, '\n');
	if (as_function(em))
		write_function(em, out);
	buf_adds(out, "class Model(nn.Module):\n");
	if (gen_style(em, 102, 10, 9) < 7)
		class_doc(em, out);
	gen_write_init(em, "Model", 1, out);
	write_forward(em, out);
	if (!in_place) {
		buf_addc(&below, '\n');
		write_constants(em, &below);
	}
	write_get_inputs(em, &below);
	write_get_init_inputs(em, &below);
	gen_rename(em, GEN_CONSTANTS, buf_cstr(&below), out);
	buf_release(&below);
	if (gen_style(em, 138, 2, 0))
		out->n--;
}
