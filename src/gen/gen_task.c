/* The task as PyTorch source, as people write them: Model, constants of the module, get_inputs,
 * get_init_inputs. The same composition is written in many ways; the plan's style decides. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gen/impl.h"

/* How the text is written; `plain` where the task is. */
static unsigned style(const struct gen_emit *em, unsigned what, unsigned n, unsigned plain)
{
	return em->p->plain ? plain : gen_choice(em->p, what, n);
}

static int typed(const struct gen_emit *em)
{
	return style(em, 101, 3, 1) == 0;
}

static int has_text(const struct gen_emit *em, const char *name)
{
	for (int i = 0; i < em->inputs; i++) {
		if (strstr(em->input[i].bound, name))
			return 1;
		for (int k = 0; k < em->input[i].shape.rank; k++)
			if (strstr(em->input[i].sym[k], name))
				return 1;
	}
	for (int i = 0; i < em->params; i++)
		if (strstr(em->param[i].value, name))
			return 1;
	return 0;
}

/* The first of the last arguments whose presets are their values; em->params: get_init_inputs gives all. */
static int first_as_preset(const struct gen_emit *em)
{
	int at = em->params;

	while (at && em->param[at - 1].preset[0] && !strcmp(em->param[at - 1].preset, em->param[at - 1].value))
		at--;
	return style(em, 126, 4, 1) ? at : em->params;
}

/* The last arguments of __init__ may have defaults, which get_init_inputs then leaves out: those that are plain numbers
 * and stand nowhere else. The first of them; em->params: none. */
static int first_default(const struct gen_emit *em)
{
	int at = em->params, most = style(em, 123, 4, 3) == 0 ? 1 + (int)style(em, 125, 3, 0) : 0;

	if (at && em->param[at - 1].preset[0])
		return first_as_preset(em);
	for (int i = em->params - 1; i >= 0 && most; i--) {
		const struct gen_param *p = &em->param[i];

		if (!p->init)
			continue;
		if (p->value[strspn(p->value, "-0123456789.e")] || has_text(em, p->name))
			break;
		at = i, most--;
	}
	return at;
}

static const char *type_of(const struct gen_param *p)
{
	return p->value[0] == '(' ? "tuple" : strchr("TF", p->value[0]) ? "bool" : p->value[0] == 'N' ? "int" :
	       strchr(p->value, '.') || strchr(p->value, 'e') ? "float" : "int";
}

static void write_init_args(const struct gen_emit *em, int hints, struct buf *out)
{
	int defaults = first_default(em);

	for (int i = 0; i < em->params; i++) {
		const struct gen_param *p = &em->param[i];

		if (!p->init)
			continue;
		buf_addf(out, ", %s", p->name);
		if (hints)
			buf_addf(out, ": %s", type_of(p));
		if (i >= defaults || p->preset[0])
			buf_addf(out, hints ? " = %s" : "=%s", p->preset[0] ? p->preset : p->value);
	}
}

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
	const char *text = style(em, 124, 10, 0) ? words[s->op][form] : NULL;

	for (const char *c = text ? text : gen_op(s->op)->name; *c; c++)
		if (*c == '$')
			buf_addf(out, "%d", s->nd), c++;
		else
			buf_addc(out, *c == '_' && !text ? ' ' : *c);
}

static void chain_words(const struct gen_emit *em, struct buf *out)
{
	for (int i = 0; i < em->p->n; i++) {
		buf_adds(out, !i ? "" : i == em->p->n - 1 ? " and " : ", ");
		words_of(em, &em->p->step[i], NOUN, out);
	}
}

static int has_init_params(const struct gen_emit *em)
{
	for (int i = 0; i < em->params; i++)
		if (em->param[i].init)
			return 1;
	return 0;
}

/* Whether the class's docstring names the arguments, or that of __init__. */
static int args_in_class(const struct gen_emit *em)
{
	return style(em, 130, em->p->level == 1 ? 3 : 8, 1) == 0;
}

static const char *arg_words(const struct gen_param *p)
{
	static const struct { const char *begin, *words; } args[] = {
#define ARG(b, w) { .begin = b, .words = w },
#include "gen/gen_args.def"
#undef ARG
	};
	size_t i = 0;

	if (p->value[0] == '(' && strstr(p->name, "_shape"))
		return "Shape of the parameter";
	while (strncmp(p->name, args[i].begin, strlen(args[i].begin)))
		i++;
	return args[i].words;
}

/* The arguments of __init__ one to a line, with their types and defaults or without. */
static void args_doc(const struct gen_emit *em, const char *indent, struct buf *out)
{
	int types = style(em, 127, 3, 0) != 0, defaults = first_default(em);

	buf_addf(out, "%s%s:\n", indent, style(em, 128, 5, 1) ? "Args" : "Parameters");
	for (int i = 0; i < em->params; i++) {
		const struct gen_param *p = &em->param[i];
		int preset = i >= defaults || p->preset[0];

		if (!p->init)
			continue;
		buf_addf(out, "%s    %s", indent, p->name);
		if (types)
			buf_addf(out, " (%s%s)", type_of(p), preset ? ", optional" : "");
		buf_addf(out, ": %s.", arg_words(p));
		if (preset)
			buf_addf(out, " Defaults to %s.", p->preset[0] ? p->preset : p->value);
		buf_addc(out, '\n');
	}
}

static void init_doc(const struct gen_emit *em, struct buf *out)
{
	buf_addf(out, "        \"\"\"\n        %s\n\n", style(em, 129, 2, 0) ? "Initializes the model." : "Sets up the layers.");
	args_doc(em, "        ", out);
	buf_adds(out, "        \"\"\"\n");
}

static void class_doc(const struct gen_emit *em, struct buf *out)
{
	static const char *const openings[] = { "Model that performs ", "Simple model that performs ", "A model that applies ", "Performs ", "Computes " };

	buf_adds(out, "    \"\"\"\n    ");
	if (em->p->n > 1 && style(em, 103, 4, 1) == 0) {
		buf_adds(out, "Model that performs a series of operations:\n");
		for (int i = 0; i < em->p->n; i++) {
			buf_addf(out, "    %d. ", i + 1);
			words_of(em, &em->p->step[i], NOUN, out);
			buf_addc(out, '\n');
		}
	} else {
		buf_adds(out, openings[style(em, 104, COUNT_OF(openings), 0)]);
		chain_words(em, out);
		buf_adds(out, ".\n");
	}
	if (has_init_params(em) && args_in_class(em)) {
		buf_addc(out, '\n');
		args_doc(em, "    ", out);
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
	const char *type = style(em, 131, 4, 1) ? " (torch.Tensor)" : "";
	int shapes = style(em, 106, 2, 0) != 0;

	buf_adds(out, "        \"\"\"\n");
	if (style(em, 105, 2, 0)) {
		buf_adds(out, "        Applies ");
		chain_words(em, out);
		buf_adds(out, " to the input.\n\n");
	}
	buf_adds(out, "        Args:\n");
	for (int i = 0; i < em->inputs; i++) {
		buf_addf(out, "            %s%s: Input tensor", em->input[i].name, type);
		if (shapes)
			shape_words(em->input[i].sym, em->input[i].shape.rank, out);
		buf_adds(out, ".\n");
	}
	buf_addf(out, "%s        Returns:\n            %sOutput tensor", style(em, 132, 2, 0) ? "\n" : "", *type ? "torch.Tensor: " : "");
	if (shapes)
		shape_words(em->sym[em->p->n], em->p->step[em->p->n - 1].shape.rank, out);
	buf_adds(out, ".\n        \"\"\"\n");
}

/* --- class ------------------------------------------------------------------------------- */

static void write_attributes(const struct gen_emit *em, int i, int all, struct buf *out)
{
	const struct gen_names *n = &em->name[i];

	for (int c = 0; c < 2; c++)
		if (n->konst[c][0] && (all || n->konst_attr[c]))
			buf_addf(out, "        self.%s = %s\n", n->konst[c], n->konst[c]);
	if (!strncmp(n->axis, "self.", 5) && (!n->module[0] || all))
		buf_addf(out, "        %s = %s\n", n->axis, n->axis + 5);
}

static int is_attribute(const struct gen_emit *em, const char *name)
{
	for (int i = 0; i < em->p->n; i++) {
		const struct gen_names *n = &em->name[i];

		if (!strcmp(n->module, name) || !strcmp(n->vec, name) || !strcmp(n->konst[0], name) || !strcmp(n->konst[1], name) ||
		    (!strncmp(n->axis, "self.", 5) && !strcmp(n->axis + 5, name)))
			return 1;
	}
	return 0;
}

/* People keep arguments as attributes that nothing reads. */
static void write_unread(const struct gen_emit *em, struct buf *out)
{
	for (int i = 0; i < em->params; i++)
		if (em->param[i].init && !is_attribute(em, em->param[i].name))
			buf_addf(out, "        self.%s = %s\n", em->param[i].name, em->param[i].name);
}

void gen_write_init(const struct gen_emit *em, const char *class, int doc, struct buf *out)
{
	int task = !strcmp(class, "Model"), first = style(em, 107, 2, 0);

	buf_addf(out, "class %s(nn.Module):\n", class);
	if (doc && style(em, 102, 10, 9) < 7)
		class_doc(em, out);
	buf_adds(out, "    def __init__(self");
	write_init_args(em, task && typed(em), out);
	buf_adds(out, "):\n");
	if (doc && has_init_params(em) && !args_in_class(em) && style(em, 108, 5, 1) == 0)
		init_doc(em, out);
	buf_addf(out, "        super(%s).__init__()\n", style(em, 109, 4, 1) ? (task ? "Model, self" : "ModelNew, self") : "");
	if (task && style(em, 133, 7, 1) == 0)
		write_unread(em, out);
	for (int i = 0; i < em->p->n; i++) {
		const struct gen_names *n = &em->name[i];

		if (first)
			write_attributes(em, i, !task, out);
		if (n->ctor[0])
			buf_addf(out, "        self.%s = %s\n", n->module[0] ? n->module : n->vec, n->ctor);
		if (!first)
			write_attributes(em, i, !task, out);
	}
}

/* --- forward ------------------------------------------------------------------------------- */

static void call_vars(const struct gen_emit *em, int i, const char *from, struct gen_vars *v)
{
	const struct gen_step *s = &em->p->step[i];
	const struct gen_names *n = &em->name[i];
	const char *second = n->input[0];

	gen_vars_init(v);
	gen_set(v, "x", "%s", from);
	for (int c = 0; c < 2; c++)
		gen_set(v, c ? "1" : "0", "%s%s", n->konst[c][0] ? "self." : "", n->konst[c][0] ? n->konst[c] : s->c[c]);
	gen_set(v, "v", "%s%s", gen_op(s->op)->family == GEN_KEPT || second[0] ? "" : "self.", second[0] ? second : n->vec);
	gen_set(v, "y", "%s", second);
	gen_set(v, "z", "%s", n->input[1]);
	gen_set(v, "a", "%s", n->axis);
	gen_set(v, "k", "%s", s->keepdim ? ", keepdim=True" : gen_op(s->op)->family == GEN_REDUCE && style(em, 110, 6, 1) == 0 ? ", keepdim=False" : "");
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

void gen_forward_line(const struct gen_emit *em, int i, const char *from, const char *to, struct buf *out)
{
	const struct gen_step *s = &em->p->step[i];
	const struct gen_names *n = &em->name[i];
	struct gen_vars v;
	struct buf expr = BUF_INIT;
	int rows = gen_op(s->op)->family == GEN_POOL && s->in.rank == 2;

	if (n->module[0]) {
		buf_addf(&expr, "self.%s(%s%s", n->module, from, rows ? ".unsqueeze(1)" : "");
		for (int k = 0; k < 2 && n->input[k][0]; k++)
			buf_addf(&expr, ", %s", n->input[k]);
		buf_addf(&expr, ")%s\n", rows ? ".squeeze(1)" : "");
	} else {
		char x[GEN_NAME + 16];

		snprintf(x, sizeof x, "%s%s", from, rows ? ".unsqueeze(1)" : "");
		call_vars(em, i, x, &v);
		gen_text(&expr, gen_spelling(s), &v);
		if (rows)
			expr.n--, buf_adds(&expr, ".squeeze(1)\n");
	}
	write_expr(to, &expr, out);
	buf_release(&expr);
}

/* Comments on the steps: none, above the line, behind it. */
enum { COMMENTS_NONE, COMMENTS_ABOVE, COMMENTS_BEHIND };

static int comments(const struct gen_emit *em)
{
	unsigned s = style(em, 111, 8, 7);

	return em->p->n < 2 || s > 2 ? COMMENTS_NONE : s ? COMMENTS_ABOVE : COMMENTS_BEHIND;
}

/* What forward calls the value on its way. */
static const char *work_name(const struct gen_emit *em)
{
	static const char *const names[] = { "x", "x", "x", "x", "x", "x", "out", "y", "result" };
	const char *name = names[style(em, 137, COUNT_OF(names), 0)];

	for (int i = 1; i < em->inputs; i++)
		if (!strcmp(em->input[i].name, name))
			return "x";
	return em->p->step[0].op == GEN_OP_keep ? "x" : name;
}

static void write_line(const struct gen_emit *em, int i, int last, const char *indent, struct buf *out)
{
	const struct gen_step *s = &em->p->step[i];
	char to[GEN_NAME + 24];
	const char *from = em->input[0].name, *work = work_name(em);

	if (comments(em) == COMMENTS_ABOVE) {
		buf_addf(out, "%s# ", indent);
		words_of(em, s, SHORT, out);
		buf_addc(out, '\n');
	}
	if (s->op == GEN_OP_keep)
		snprintf(to, sizeof to, "%s%s = ", indent, em->name[i].vec);
	else
		snprintf(to, sizeof to, "%s%s%s", indent, last ? "return" : work, last ? " " : " = ");
	gen_forward_line(em, i, i ? work : from, to, out);
	if (comments(em) == COMMENTS_BEHIND && gen_choice(em->p, 200 + (unsigned)i, 3)) {
		out->n--;
		buf_adds(out, "  # ");
		words_of(em, s, SHORT, out);
		buf_addc(out, '\n');
	}
}

static void write_lines(const struct gen_emit *em, const char *indent, struct buf *out)
{
	int direct = em->p->n == 1 ? style(em, 112, 4, 1) != 0 : style(em, 112, 6, 1) == 0;

	for (int i = 0; i < em->p->n; i++)
		write_line(em, i, direct && i == em->p->n - 1, indent, out);
	if (!direct)
		buf_addf(out, "%sreturn %s\n", indent, work_name(em));
}

/* Whether the chain is written as a function that the module calls: only one that needs nothing of the module. */
static int as_function(const struct gen_emit *em)
{
	for (int i = 0; i < em->p->n; i++) {
		const struct gen_names *n = &em->name[i];

		if (n->module[0] || n->ctor[0] || n->konst[0][0] || n->konst[1][0] || strstr(n->axis, "self.") || strstr(n->window, "self."))
			return 0;
	}
	return style(em, 121, 4, 1) == 0;
}

static const char *function_name(const struct gen_emit *em)
{
	static const char *const names[] = { "module_fn", "fn", "compute", "reference" };

	return names[style(em, 122, COUNT_OF(names), 0)];
}

static void write_args(const struct gen_emit *em, const char *before, const char *hint, struct buf *out)
{
	for (int i = 0; i < em->inputs; i++)
		buf_addf(out, "%s%s%s", i ? ", " : before, em->input[i].name, hint);
}

static void write_function(const struct gen_emit *em, struct buf *out)
{
	buf_addf(out, "def %s(", function_name(em));
	write_args(em, "", typed(em) ? ": torch.Tensor" : "", out);
	buf_addf(out, ")%s:\n", typed(em) ? " -> torch.Tensor" : "");
	write_lines(em, "    ", out);
	buf_addc(out, '\n');
}

static void write_forward(const struct gen_emit *em, struct buf *out)
{
	buf_addf(out, "%s\n    def forward(self", style(em, 136, 4, 1) ? "" : "    ");
	write_args(em, ", ", typed(em) ? ": torch.Tensor" : "", out);
	buf_addf(out, ")%s:\n", typed(em) ? " -> torch.Tensor" : "");
	if (style(em, 113, 3, 1) == 0)
		forward_doc(em, out);
	if (as_function(em)) {
		buf_addf(out, "        return %s(", function_name(em));
		write_args(em, "", "", out);
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
	return style(em, 120, 8, 1) == 0;
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

static void write_constants(const struct gen_emit *em, struct buf *out)
{
	int defaults = first_default(em), sides = style(em, 116, 3, 1) == 0, blanks = style(em, 134, 8, 1) == 0;
	static const char *const notes[] = { "# Test code\n", "# === Test config ===\n", "# Example sizes\n" };

	if (style(em, 114, 4, 1) == 0)
		buf_adds(out, notes[style(em, 115, COUNT_OF(notes), 0)]);
	for (int i = 0; i < em->params; i++) {
		const struct gen_param *p = &em->param[i];

		if (p->init && i >= defaults)
			continue;
		if (sides && sides_from(em, i) > 1) {
			write_sides(p, sides_from(em, i), out);
			i += sides_from(em, i) - 1;
		} else if (rest_as_tuple(em) && i == 1) {
			buf_addf(out, "input_shape = (%s,)\n", p->value);
		} else {
			buf_addf(out, "%s = %s%s\n", p->name, p->value, blanks && i % 2 ? "  " : "");
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
	return (i ? style(em, 117, 2, 1) : (unsigned)em->p->signed_input) ? "randn" : "rand";
}

static void input_expr(const struct gen_emit *em, int i, struct buf *out)
{
	const struct gen_input *in = &em->input[i];
	struct buf shape = BUF_INIT;

	input_shape(em, in, &shape);
	if (in->fill == GEN_FILL_CLASSES)
		buf_addf(out, "torch.randint(0, %s, (%s,))", in->bound, buf_cstr(&shape));
	else if (in->fill == GEN_FILL_MASK)
		buf_addf(out, "torch.randint(0, 2, (%s)).bool()", buf_cstr(&shape));
	else if (in->fill == GEN_FILL_SIGNS)
		buf_addf(out, "torch.randint(0, 2, (%s)).float() * 2 - 1", buf_cstr(&shape));
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
	return style(em, 118, 5, 4) < 2;
}

static void write_get_inputs(const struct gen_emit *em, struct buf *out)
{
	int named = named_inputs(em);

	buf_adds(out, "\ndef get_inputs():\n");
	for (int i = 0; named && i < em->inputs; i++) {
		buf_addf(out, "    %s = ", em->input[i].name);
		input_expr(em, i, out);
		buf_addc(out, '\n');
		input_change(&em->input[i], out);
	}
	buf_adds(out, "    return [");
	for (int i = 0; i < em->inputs; i++) {
		buf_adds(out, i ? ", " : "");
		if (named)
			buf_adds(out, em->input[i].name);
		else
			input_expr(em, i, out);
	}
	buf_adds(out, "]\n");
}

static void write_get_init_inputs(const struct gen_emit *em, struct buf *out)
{
	int n = 0, defaults = first_default(em);

	buf_adds(out, "\ndef get_init_inputs():\n    return [");
	for (int i = 0; i < defaults; i++)
		if (em->param[i].init)
			buf_addf(out, "%s%s", n++ ? ", " : "", numbers_in_place(em) ? em->param[i].value : em->param[i].name);
	buf_adds(out, "]");
	if (!n && style(em, 119, 2, 0))
		buf_adds(out, style(em, 139, 2, 0) ? "  # the model takes no arguments" : "  # Nothing to initialize with");
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

	buf_adds(out, in_place ? "import torch\nfrom torch import nn\n" : "import torch\nimport torch.nn as nn\n");
	if (gen_uses(em, "math."))
		buf_adds(out, "import math\n");
	if (gen_uses(em, "F.") || style(em, 100, 12, 1) == 0)
		buf_adds(out, "import torch.nn.functional as F\n");
	buf_addc(out, '\n');
	if (as_function(em))
		write_function(em, out);
	gen_write_init(em, "Model", 1, out);
	write_forward(em, out);
	if (!in_place) {
		buf_addc(out, '\n');
		write_constants(em, out);
	}
	write_get_inputs(em, out);
	write_get_init_inputs(em, out);
	if (style(em, 138, 2, 0))
		out->n--;
}
